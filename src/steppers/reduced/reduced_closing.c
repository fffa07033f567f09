// Loops that start open: those that no pose closes are refused before the first step, the others close in it.
//
// From the initial pose, loops are closed by Newton steps in the metric of the masses, of poses alone. A gap that does not
// vanish and does not fall any more either is as small as it gets there: then the joint whose gap is the largest is named.
#include "steppers/reduced/reduced_step.h"

#include <stdio.h>

#define CLOSED 1e-6      // m or rad, a gap that does not count
#define SHUT 1e-11       // the same, where closing ends
#define ROUNDED 1e-4     // the same, that rounded numbers of a file may leave where loops repeat each other
#define MOST_MOTIONS 200 // of poses; loops that still close after them are taken
#define STALLED 30       // motions, by the last of which
#define FALLING 0.999    // the gap is still more than this share of what it was: it stays

// The largest gap of loop joints, and the joint (of the step's numbers).
static double worstGap(knReducedStep* step, int* joint) {
	double worst = 0.0;
	knReduced_PlacePairs(step, step->start, step->start);
	for (int k = 0; k < step->pairCount; ++k) {
		const knReducedPairRow* row = &step->pairs[k];
		if (row->locked && knAbs(row->error) > worst) {
			worst = knAbs(row->error);
			*joint = row->joint;
		}
	}
	return worst;
}

static knStatus refuse(const knModel* model, int joint, double gap, knError* error) {
	char element[96];
	snprintf(element, sizeof(element), "joint '%s'",
			 knScene_GetJoint(model->scene, knModel_JointId(model, joint))->name);
	return knError_Set(
		error, KN_UNSUPPORTED, element,
		"%s closes a loop that no pose of its bodies closes: %.3g (m, rad) stay open, which the "
		"reduced stepper does not take; the velocity and impulse steppers do",
		element, gap);
}

static knStatus closeLoops(knReducedStep* step, knError* error) {
	int joint = -1;
	double least = worstGap(step, &joint), before = least;
	for (int k = 0, since = 0; k < MOST_MOTIONS && least > CLOSED; ++k, ++since) {
		if (!knReduced_CloseLoops(step)) {
			return knReduced_OutOfMemory(step);
		}
		least = knMin(least, worstGap(step, &joint));
		if (since == STALLED) {
			if (least > FALLING * before && least <= ROUNDED) {
				return KN_OK;
			}
			if (least > FALLING * before) {
				return refuse(step->context->model, joint, least, error);
			}
			before = least;
			since = 0;
		}
	}
	return KN_OK;
}

knStatus knReduced_Assemble(knReducedStep* step) {
	const knReducedMemory* memory = knReducedMemory_Get(step->context->state, step->context->model);
	if (memory->dt != 0.0 || step->forest.loopCount == 0) {
		return KN_OK;
	}
	double h = step->h;
	int joint = -1;
	knStatus status = knReduced_BuildPairs(step);
	step->h = 1.0;
	bool open = status == KN_OK && worstGap(step, &joint) > CLOSED;
	for (int k = 0; k < MOST_MOTIONS && open; ++k) {
		if (!knReduced_CloseLoops(step)) {
			return knReduced_OutOfMemory(step);
		}
		open = worstGap(step, &joint) > SHUT;
	}
	step->h = h;
	step->pairCount = step->crossCount = 0;
	for (int i = 0; i < step->forest.count && status == KN_OK; ++i) {
		int body = step->forest.links[i].body;
		const knModel* model = step->context->model;
		knState* state = step->context->state;
		knVec3 way = knSub(step->start[body].p, state->pose[body].p);
		step->work -= model->mass[body] * model->gravityScale[body] * knDot(state->header->gravity, way);
		state->pose[body] = step->start[body];
	}
	knForest_Velocities(&step->forest, step->columns0, step->start, step->v0, step->before);
	return status;
}

static knStatus checkState(const knModel* model, knState* state, const knSettings* settings, knArena* arena,
						   knError* error) {
	knStepReport report = { 0 };
	knStepContext context = { .model = model,
							  .settings = settings,
							  .state = state,
							  .arena = arena,
							  .allocator = &model->allocator,
							  .report = &report,
							  .error = error };
	knReducedStep step = { .context = &context, .h = 1.0 };
	knStatus status = knReduced_Begin(&step);
	status = status == KN_OK && step.forest.loopCount > 0 ? knReduced_BuildPairs(&step) : status;
	return status == KN_OK && step.forest.loopCount > 0 ? closeLoops(&step, error) : status;
}

knStatus knReduced_CheckLoops(const knModel* model, const knSettings* settings, knError* error) {
	knArena arena;
	knState state;
	if (model->jointCount == 0) {
		return KN_OK;
	}
	if (!knState_Create(&state, model, "reduced", 0, &model->allocator)) {
		return knError_Set(error, KN_NO_MEMORY, "reduced", "there is no memory to look at the loops");
	}
	knArena_Init(&arena, &model->allocator);
	knStatus status = checkState(model, &state, settings, &arena, error);
	knArena_Free(&arena);
	knState_Destroy(&state, &model->allocator);
	// velocities beyond all measure are no matter of loops; the first step tells
	return status == KN_DIVERGED ? KN_OK : status;
}
