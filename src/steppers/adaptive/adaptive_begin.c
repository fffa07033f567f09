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

void knAdaptive_KeepJoint(const knAdaptiveStep* step, int index) {
	const knJoint* joint = &step->context->model->joints[index];
	const knState* state = step->context->state;
	const knHybridForest* hybrid = &step->hybrid;
	knHybridForest_Keep(hybrid, &state->joint[index], sizeof(knJointState));
	knHybridForest_Keep(hybrid, &state->q[joint->qOffset], sizeof(double) * (size_t)joint->nq);
	knHybridForest_Keep(hybrid, &state->v[joint->vOffset], sizeof(double) * (size_t)joint->nv);
}

static void keepBody(const knAdaptiveStep* step, int body) {
	const knState* state = step->context->state;
	knHybridForest_Keep(&step->hybrid, &state->pose[body], sizeof(knFrame));
	knHybridForest_Keep(&step->hybrid, &state->velocity[body], sizeof(knTwist));
}

// What the step will write, but for what its region update changes.
static void keepSegments(const knAdaptiveStep* step) {
	const knHybridForest* hybrid = &step->hybrid;
	const knHybridForestHeader* header = hybrid->header;
	knHybridForest_Keep(hybrid, header, sizeof(*header));
	knHybridForest_Keep(hybrid, hybrid->fronts, sizeof(int32_t) * (size_t)header->frontCount);
	knHybridForest_Keep(hybrid, hybrid->contacts, sizeof(knContactMemory) * (size_t)header->contactCount);
	knHybridForest_Keep(hybrid, hybrid->joints, sizeof(knJointMemory) * (size_t)header->jointRowCount);
	for (int k = 0; k < header->frontCount; ++k) {
		int root = hybrid->fronts[k];
		keepBody(step, root);
		knHybridForest_Keep(hybrid, &hybrid->segments[root], sizeof(knSegment));
		knHybridForest_Keep(hybrid, &hybrid->memory[root], sizeof(knLinkMemory));
		if (hybrid->links[root].joint >= 0) {
			knAdaptive_KeepJoint(step, hybrid->links[root].joint);
		}
	}
	for (int k = 0; k < header->otherCount; ++k) {
		if (step->context->model->bodyKind[hybrid->others[k]] != KN_BODY_FIXED) {
			keepBody(step, hybrid->others[k]);
		}
	}
}

// The bodies by which the world sees whether the step went well, and where they are now.
static bool listWritten(knAdaptiveStep* step) {
	knStepContext* context = step->context;
	const knHybridForest* hybrid = &step->hybrid;
	int most = hybrid->header->frontCount + hybrid->header->otherCount, count = 0;
	int* bodies = KN_SCRATCH(context->arena, int, most);
	knVec3* at = KN_SCRATCH(context->arena, knVec3, most);
	if (context->arena->failed) {
		return false;
	}
	for (int k = 0; k < hybrid->header->frontCount; ++k) {
		at[count] = knHybridForest_RootPose(hybrid, hybrid->fronts[k]).p;
		bodies[count++] = hybrid->fronts[k];
	}
	for (int k = 0; k < hybrid->header->otherCount; ++k) {
		at[count] = context->state->pose[hybrid->others[k]].p;
		bodies[count++] = hybrid->others[k];
	}
	context->written = bodies;
	context->writtenAt = at;
	context->writtenCount = count;
	return true;
}

// A step that leaves stale what nobody asks for. False: no memory.
static bool beginLazy(knAdaptiveStep* step) {
	step->lazy = true;
	step->hybrid.journal = step->context->journal;
	keepSegments(step);
	return listWritten(step) && !step->context->journal->failed;
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
	if (done && !step->changed && context->journal != NULL && context->journal->on) {
		done = beginLazy(step);
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

// Bodies that were roots when the step began.
static void writeListed(knAdaptiveStep* step) {
	const knStepContext* context = step->context;
	for (int k = 0; k < context->writtenCount; ++k) {
		int body = context->written[k];
		if (step->hybrid.links[body].rank >= 0) {
			knHybridForest_LinkMotion(&step->hybrid, body, &context->state->pose[body],
									  &context->state->velocity[body]);
		}
	}
}

void knAdaptive_WriteLinks(knAdaptiveStep* step) {
	const knHybridForest* hybrid = &step->hybrid;
	knState* state = step->context->state;
	hybrid->header->stale = step->lazy;
	if (step->lazy) {
		writeListed(step);
		return;
	}
	for (int k = 0; k < hybrid->header->frontCount; ++k) {
		int root = hybrid->fronts[k];
		const knSegment* segment = &hybrid->segments[root];
		knHybridForest_PlaceLinks(hybrid, root, segment->pose, segment->velocity, state->pose,
								  state->velocity);
	}
}
