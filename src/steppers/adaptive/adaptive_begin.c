// Beginning and end of a step: the hybrid body with what users changed, poses and velocities of links written out.
//
// What users change of bodies releases everything for a step: all joints move, and the region update at the end of the step
// decides what may stop again. So an impulse on a link in the middle of a segment acts on the link, not on the segment.
// Joints that were switched on or off make another forest: the hybrid body is built anew.
#include "steppers/adaptive/adaptive_step.h"

#include <string.h>

knStatus knAdaptive_OutOfMemory(const knAdaptiveStep* step) {
	return knError_Set(step->context->error, KN_NO_MEMORY, "step", "there is no memory for this step");
}

// All joints move, links as the state has them.
static bool release(knAdaptiveStep* step) {
	knHybridForest* hybrid = &step->hybrid;
	const knState* state = step->context->state;
	for (int k = 0; k < hybrid->header->frontCount; ++k) {
		// what is cut off comes to the end of the list
		int root = hybrid->fronts[k];
		while (!knHybridForest_IsLeaf(&hybrid->nodes[hybrid->segments[root].node])) {
			knHybridForest_Split(hybrid, hybrid->segments[root].node);
		}
		hybrid->segments[root].pose = state->pose[root];
		hybrid->segments[root].velocity = state->velocity[root];
	}
	return knHybridForest_ListFronts(hybrid, step->context->arena);
}

static int countEnabled(const knModel* model, const knState* state) {
	int count = 0;
	for (int j = 0; j < model->jointCount; ++j) {
		count += state->joint[j].enabled != 0;
	}
	return count;
}

knStatus knAdaptive_Begin(knAdaptiveStep* step) {
	knStepContext* context = step->context;
	knState* state = context->state;
	if (state->header->attachedCount > 0) {
		return knError_Set(context->error, KN_UNSUPPORTED, "joint",
						   "a joint was attached at run time, which the adaptive stepper does not take; "
						   "the reduced, velocity and impulse steppers do");
	}
	bool known = knHybridForest_Open(&step->hybrid, state, context->model), done = true;
	step->changed = !known || step->hybrid.header->edits != state->header->edits;
	if (!known ||
		(step->changed && step->hybrid.header->enabledCount != countEnabled(context->model, state))) {
		done = knHybridForest_Build(&step->hybrid, state, context->model, context->allocator, context->arena);
	} else if (step->changed) {
		done = release(step);
	}
	step->hybrid.header->edits = state->header->edits;
	return done ? KN_OK : knAdaptive_OutOfMemory(step);
}

void knAdaptive_WriteCoordinates(knAdaptiveStep* step) {
	const knWeldedWorld* world = &step->world;
	knState* state = step->context->state;
	for (int k = 0; k < world->model.jointCount; ++k) {
		const knJoint *from = &world->model.joints[k], *to = &step->context->model->joints[world->jointOf[k]];
		memcpy(&state->q[to->qOffset], &world->state.q[from->qOffset], sizeof(double) * (size_t)to->nq);
		memcpy(&state->v[to->vOffset], &world->state.v[from->vOffset], sizeof(double) * (size_t)to->nv);
	}
}

void knAdaptive_WriteLinks(knAdaptiveStep* step) {
	const knHybridForest* hybrid = &step->hybrid;
	knState* state = step->context->state;
	for (int k = 0; k < hybrid->header->frontCount; ++k) {
		int root = hybrid->fronts[k];
		const knSegment* segment = &hybrid->segments[root];
		knHybridForest_PlaceLinks(hybrid, root, segment->pose, segment->velocity, state->pose,
								  state->velocity);
	}
}
