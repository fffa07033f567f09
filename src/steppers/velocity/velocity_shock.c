// Layers, and what they are for: what the global solve begins with, and shock propagation after it.

#include "steppers/velocity/velocity_step.h"

knStatus knVelocity_BuildLayers(knVelocityStep* step, knLayersFn* build) {
	const knStepContext* context = step->m.context;
	knArena* arena = context->arena;
	knLayerInput input = { .bodyCount = step->m.blocks.count,
						   .invMass = step->m.blocks.invMass,
						   .poses = step->m.start,
						   .gravity = context->state->header->gravity,
						   .chunks = step->m.contacts.chunks,
						   .chunkCount = step->m.contacts.chunkCount,
						   .points = step->m.contacts.points,
						   .islands = &step->m.islands,
						   .tasks = &context->tasks };
	return build(&step->layers, &input, arena) && !arena->failed ? KN_OK : knMaximal_OutOfMemory(&step->m);
}

knStatus knVelocity_BeginLoads(knVelocityStep* step) {
	knMaximalStep* m = &step->m;
	int32_t* level = KN_SCRATCH(m->context->arena, int32_t, m->blocks.count);
	for (int b = 0; level != NULL && b < m->blocks.count; ++b) {
		bool floats = step->layers.height[b] == 0 && m->blocks.invMass[b] > 0.0;
		level[b] = floats ? -1 : step->layers.height[b];
	}
	bool begun = knMaximal_BeginGroups(m, level, step->layers.count + 1) &&
				 knMaximal_BeginLoads(m, step->options.shock);
	for (int stage = 0; begun && stage < KN_STAGE_COUNT; ++stage) {
		knVelocity_LoadStage(step, stage);
	}
	return begun ? KN_OK : knMaximal_OutOfMemory(m);
}

knStatus knVelocity_SolveColumns(knVelocityStep* step) {
	knMaximalStep* m = &step->m;
	bool chosen = m->context->settings->sweeps >= 0; // as many sweeps as the user says, and no more
	bool solved = knContactGroups_Find(&m->known) && (chosen || knContactColumns_Run(&m->known));
	return solved ? KN_OK : knMaximal_OutOfMemory(m);
}

knStatus knVelocity_ContinueLayers(knVelocityStep* step) {
	int sweeps;
	if (!knMaximal_PropagateShock(&step->m, step->options.friction, step->options.layerSweeps, &sweeps)) {
		return knMaximal_OutOfMemory(&step->m);
	}
	step->m.context->report->iterations += sweeps;
	return KN_OK;
}
