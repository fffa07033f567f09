// Moving, and the correction of overlaps (dynamics/contact_correction.h) and joint errors of the whole world.

#include "steppers/velocity/velocity_step.h"

knStatus knVelocity_Move(knVelocityStep* step) {
	knStepContext* context = step->context;
	step->correction.depthsKnown = false;
	knFastMoveInput in = { .model = context->model,
						   .state = context->state,
						   .blocks = &step->blocks,
						   .collider = context->collider,
						   .lookedAhead = step->lookedAhead,
						   .contacts = &step->contacts,
						   .tasks = context->tasks,
						   .arena = context->arena };
	bool moved = knFastBodies_Find(&step->fast, in.model, in.state, in.blocks, in.arena) &&
				 knFastBodies_Move(&step->fast, &in) &&
				 knFastBodies_Publish(&step->fast, &context->contacts, &context->contactCount, in.arena);
	knJointSweeps_Land(&step->swept);
	return moved ? KN_OK : knVelocity_OutOfMemory(step);
}

knStatus knVelocity_CorrectLayers(knVelocityStep* step) {
	bool pushed = knContactCorrection_PushLevels(&step->correction, step->known.level, step->known.levelCount,
												 step->options.correctionSweeps);
	return pushed ? KN_OK : knVelocity_OutOfMemory(step);
}

knStatus knVelocity_CorrectGlobal(knVelocityStep* step) {
	if (!knJointSweeps_Correct(&step->swept, &step->correction, &step->global, step->solveSet,
							   KN_STAGE_JOINTED, step->options.correctionSweeps)) {
		return knVelocity_OutOfMemory(step);
	}
	step->context->report->iterations += step->options.correctionSweeps;
	return KN_OK;
}
