// Moving, and the correction of overlaps (dynamics/contact_correction.h) and joint errors of the whole world.

#include "solve/pgs.h"
#include "steppers/velocity/velocity_step.h"

#define NEWTON_ROUNDS 8       // of the global correction, while joints are apart
#define NEWTON_TOLERANCE 1e-6 // m or rad

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
	knVelocity_LandBounces(step);
	return moved ? KN_OK : knVelocity_OutOfMemory(step);
}

// Errors at the present poses, for the contacts of `set` (their depths are known) and for the joints.
static bool beginCorrection(knVelocityStep* step, knSweepSet* set, const int32_t* stageOf,
							knSweepRows* joints) {
	knStepContext* context = step->context;
	knContactCorrection_Begin(&step->correction, set);
	knJointRows_FillErrors(&step->errorList, &step->input, &step->errorRows);
	knPgs_Begin(&step->errorRows, step->correction.p);
	knDirectRows* direct = NULL;
	if (set == &step->global && step->options.directJoints && step->errorRows.count > 0) {
		direct = &step->direct;
		if (!knDirectRows_Build(direct, &step->errorRows, context->arena)) {
			return false;
		}
	}
	return knSweepRows_Build(joints, &step->errorRows, stageOf, set->stageCount, direct, KN_STAGE_JOINTED,
							 context->arena);
}

knStatus knVelocity_CorrectLayers(knVelocityStep* step) {
	bool pushed = knContactCorrection_PushLevels(&step->correction, step->known.level, step->known.levelCount,
												 step->options.correctionSweeps);
	return pushed ? KN_OK : knVelocity_OutOfMemory(step);
}

// The largest error of a locked row, m or rad.
static double worstJoint(const knVelocityStep* step) {
	double worst = 0.0;
	for (int i = 0; i < step->direct.count; ++i) {
		worst = knMax(worst, knAbs(step->errorRows.items[step->direct.order[i]].bias));
	}
	return worst;
}

// Joints that turned far in a step are closed by more than one linear correction.
knStatus knVelocity_CorrectGlobal(knVelocityStep* step) {
	int rounds = step->rows.count > 0 ? NEWTON_ROUNDS : 1;
	for (int round = 0; round < rounds; ++round) {
		step->direct.count = 0;
		knContactCorrection_Measure(&step->correction);
		if (!beginCorrection(step, &step->global, step->solveSet, &step->errors)) {
			return knVelocity_OutOfMemory(step);
		}
		if (round > 0 && worstJoint(step) < NEWTON_TOLERANCE) {
			break;
		}
		for (int stage = round == 0 ? 0 : KN_STAGE_JOINTED; stage < KN_STAGE_COUNT; ++stage) {
			knSweep_Correct(&step->global, stage, step->options.correctionSweeps, &step->context->tasks,
							&step->errors, step->correction.p);
		}
		if (!knContactCorrection_Finish(&step->correction)) {
			return knVelocity_OutOfMemory(step);
		}
	}
	step->context->report->iterations += step->options.correctionSweeps;
	return KN_OK;
}
