// Layers, and what they are for: what the global solve begins with, and shock propagation after it.

#include "dynamics/shock_propagation.h"
#include "steppers/velocity/velocity_step.h"

knStatus knVelocity_BuildLayers(knVelocityStep* step, knLayersFn* build) {
	const knStepContext* context = step->context;
	knArena* arena = context->arena;
	knLayerInput input = { .bodyCount = step->blocks.count,
						   .invMass = step->blocks.invMass,
						   .poses = step->start,
						   .gravity = context->state->header->gravity,
						   .chunks = step->contacts.chunks,
						   .chunkCount = step->contacts.chunkCount,
						   .points = step->contacts.points,
						   .islands = &step->islands,
						   .tasks = &context->tasks };
	return build(&step->layers, &input, arena) && !arena->failed ? KN_OK : knVelocity_OutOfMemory(step);
}

knStatus knVelocity_BeginLoads(knVelocityStep* step) {
	const knStepContext* context = step->context;
	int32_t* level = KN_SCRATCH(context->arena, int32_t, step->blocks.count);
	step->change = KN_SCRATCH_ZERO(context->arena, double, step->blocks.count);
	if (context->arena->failed) {
		return knVelocity_OutOfMemory(step);
	}
	for (int b = 0; b < step->blocks.count; ++b) {
		bool floats = step->layers.height[b] == 0 && step->blocks.invMass[b] > 0.0;
		level[b] = floats ? -1 : step->layers.height[b];
	}
	step->known = (knContactGroups){ .model = context->model,
									 .state = context->state,
									 .blocks = &step->blocks,
									 .contacts = &step->contacts,
									 .islands = &step->islands,
									 .level = level,
									 .levelCount = step->layers.count + 1,
									 .tasks = &context->tasks,
									 .change = step->change,
									 .arena = context->arena };
	bool begun =
		knContactGroups_WarmStart(&step->known) && (!step->options.shock || knShockLoad_Run(&step->known));
	for (int stage = 0; begun && stage < KN_STAGE_COUNT; ++stage) {
		knVelocity_LoadStage(step, stage);
	}
	return begun ? KN_OK : knVelocity_OutOfMemory(step);
}

knStatus knVelocity_ContinueLayers(knVelocityStep* step) {
	knTwist* before = KN_SCRATCH(step->context->arena, knTwist, step->blocks.count);
	if (before == NULL) {
		return knVelocity_OutOfMemory(step);
	}
	for (int b = 0; b < step->blocks.count; ++b) {
		before[b] = step->blocks.u[b];
	}
	knShockPropagation shock = { .groups = &step->known,
								 .friction = step->options.friction,
								 .chosenSweeps = step->options.layerSweeps };
	if (!knShockPropagation_Run(&shock)) {
		return knVelocity_OutOfMemory(step);
	}
	knTimeStep_AddChanges(&step->time, before);
	step->context->report->iterations += shock.sweeps;
	return KN_OK;
}
