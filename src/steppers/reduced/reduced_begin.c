// Beginning and end of a step: coordinates from the stepper's memory, users' edits of bodies read back into them, poses
// and velocities written out.
//
// Poses follow from coordinates by one piece of code (knForest_Place), so that a body that nobody touched has, bit by bit,
// the pose that its coordinates give. One that differs was moved: its joint's coordinates and those of its children are
// read off the poses, leaving out what joints do not allow. Velocities that differ were changed by impulses or set: the
// coordinates' are then those nearest to the bodies' in the metric of the masses, which is what impulses do to a tree.
#include "steppers/reduced/reduced_step.h"

#include <string.h>

knStatus knReduced_OutOfMemory(const knReducedStep* step) {
	return knError_Set(step->context->error, KN_NO_MEMORY, "step", "there is no memory for this step");
}

static bool sameFrame(knFrame a, knFrame b) {
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static bool sameTwist(knTwist a, knTwist b) {
	return a.ang.x == b.ang.x && a.ang.y == b.ang.y && a.ang.z == b.ang.z && a.lin.x == b.lin.x &&
		   a.lin.y == b.lin.y && a.lin.z == b.lin.z;
}

// Joints that were off once close loops from then on: what they hold may have come apart.
static const bool* findBarred(knReducedStep* step) {
	const knModel* model = step->context->model;
	knState* state = step->context->state;
	bool* barred = KN_SCRATCH(step->context->arena, bool, model->jointCount + 1);
	uint8_t* remembered = knReducedMemory_Barred(state);
	for (int j = 0; barred != NULL && j < model->jointCount; ++j) {
		remembered[j] = remembered[j] || !state->joint[j].enabled;
		barred[j] = remembered[j] != 0;
	}
	return barred;
}

bool knReduced_TakeLinks(knReducedStep* step) {
	knArena* arena = step->context->arena;
	int count = step->forest.count, nv = step->forest.nv, nq = step->forest.nq;
	step->q0 = KN_SCRATCH(arena, double, nq);
	step->v0 = KN_SCRATCH(arena, double, nv);
	step->q = KN_SCRATCH(arena, double, nq);
	step->v = KN_SCRATCH(arena, double, nv);
	step->columns0 = KN_SCRATCH(arena, knTreeMotion, nv);
	step->columns = KN_SCRATCH(arena, knTreeMotion, nv);
	step->c0 = KN_SCRATCH(arena, knLanes, count);
	step->c = KN_SCRATCH(arena, knLanes, count);
	step->arm0 = KN_SCRATCH(arena, knLanes, count);
	step->armEnd = KN_SCRATCH(arena, knLanes, count);
	step->armMean = KN_SCRATCH(arena, knLanes, count);
	step->rows = KN_SCRATCH(arena, knTreeForce, nv);
	step->turning = KN_SCRATCH(arena, knLanes, nv);
	step->reaction = KN_SCRATCH_ZERO(arena, knTwist, count);
	step->reactionSum = KN_SCRATCH_ZERO(arena, knTwist, count);
	return !arena->failed;
}

static bool takeRoom(knReducedStep* step) {
	knArena* arena = step->context->arena;
	const knModel* model = step->context->model;
	int bodies = model->bodyCount;
	step->kOwn = KN_SCRATCH_ZERO(arena, double, step->forest.nv);
	step->start = KN_SCRATCH(arena, knFrame, bodies);
	step->pose = KN_SCRATCH(arena, knFrame, bodies);
	step->before = KN_SCRATCH(arena, knTwist, bodies);
	step->now = KN_SCRATCH_ZERO(arena, knTwist, bodies);
	step->wanted = KN_SCRATCH(arena, knTwist, bodies);
	step->mean = KN_SCRATCH_ZERO(arena, knTwist, bodies);
	step->after = KN_SCRATCH_ZERO(arena, knTwist, bodies);
	for (int b = 0; b < bodies && !arena->failed; ++b) {
		if (model->bodyKind[b] == KN_BODY_KINEMATIC) {
			step->now[b] = step->context->state->velocity[b];
		}
	}
	return knReduced_TakeLinks(step) && !arena->failed;
}

void knReduced_PlaceKinematics(knReducedStep* step, double from, double length) {
	const knModel* model = step->context->model;
	const knState* state = step->context->state;
	for (int b = 0; b < model->bodyCount; ++b) {
		if (model->bodyKind[b] == KN_BODY_KINEMATIC) {
			step->start[b] = knMovePose(state->pose[b], state->velocity[b], from);
			step->pose[b] = knMovePose(state->pose[b], state->velocity[b], from + length);
		}
	}
}

// Coordinates as remembered, or those from which turns are counted; true if they are the link's own.
static bool recallLink(knReducedStep* step, int i, double* q, double* v) {
	const knForestLink* link = &step->forest.links[i];
	const knState* state = step->context->state;
	const knLinkMemory* memory = &knReducedMemory_Links(state)[link->body];
	bool known = memory->via == link->joint;
	knForest_NeutralLink(&step->forest, i, q);
	if (!known && link->joint >= 0 && link->nq == link->nv) {
		// the state counts turns too
		const knJoint* joint = &step->context->model->joints[link->joint];
		for (int k = 0; k < link->nq; ++k) {
			q[link->qOffset + k] = (link->reversed ? -1.0 : 1.0) * state->q[joint->qOffset + k];
		}
	}
	for (int k = 0; k < link->nq && known; ++k) {
		q[link->qOffset + k] = memory->q[k];
	}
	for (int k = 0; k < link->nv; ++k) {
		v[link->vOffset + k] = known ? memory->v[k] : 0.0;
	}
	return known;
}

// Coordinates and poses at the start.
static bool readPoses(knReducedStep* step) {
	const knForest* forest = &step->forest;
	const knState* state = step->context->state;
	int bodies = step->context->model->bodyCount;
	bool* moved = KN_SCRATCH_ZERO(step->context->arena, bool, bodies);
	if (moved == NULL) {
		return false;
	}
	for (int i = 0; i < forest->count; ++i) {
		moved[forest->links[i].body] = !recallLink(step, i, step->q0, step->v0);
	}
	memcpy(step->start, state->pose, (size_t)bodies * sizeof(knFrame));
	knForest_Place(forest, step->q0, step->start);
	bool any = false;
	for (int i = 0; i < forest->count; ++i) {
		int body = forest->links[i].body;
		moved[body] = moved[body] || !sameFrame(step->start[body], state->pose[body]);
		any = any || moved[body];
	}
	for (int i = 0; i < forest->count && any; ++i) {
		const knForestLink* link = &forest->links[i];
		if (moved[link->body] || moved[link->parentBody]) {
			knForest_ReadLink(forest, i, state->pose, step->q0);
		}
	}
	if (any) {
		memcpy(step->start, state->pose, (size_t)bodies * sizeof(knFrame));
		knForest_Place(forest, step->q0, step->start);
	}
	knForest_Columns(forest, step->q0, step->start, step->columns0, step->c0);
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		step->arm0[i] = knLanes_FromVec(knSub(step->start[link->body].p, step->start[link->parentBody].p));
	}
	return true;
}

// Velocities that users changed, of whole trees.
static bool readVelocities(knReducedStep* step) {
	const knForest* forest = &step->forest;
	const knState* state = step->context->state;
	knArena* arena = step->context->arena;
	int bodies = step->context->model->bodyCount;
	memcpy(step->before, state->velocity, (size_t)bodies * sizeof(knTwist));
	knForest_Velocities(forest, step->columns0, step->start, step->v0, step->before);
	int* root = KN_SCRATCH(arena, int, forest->count);
	bool* changed = KN_SCRATCH_ZERO(arena, bool, forest->count);
	double* v = KN_SCRATCH(arena, double, forest->nv);
	if (arena->failed) {
		return false;
	}
	bool any = false;
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		root[i] = link->parent >= 0 ? root[link->parent] : i;
		if (!sameTwist(step->before[link->body], state->velocity[link->body])) {
			changed[root[i]] = any = true;
		}
	}
	if (!any) {
		return true;
	}
	if (!knReduced_ReadVelocities(step, state->velocity, v)) {
		return false;
	}
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		for (int k = link->vOffset; k < link->vOffset + link->nv && changed[root[i]]; ++k) {
			step->v0[k] = v[k];
		}
	}
	knForest_Velocities(forest, step->columns0, step->start, step->v0, step->before);
	return true;
}

knStatus knReduced_Begin(knReducedStep* step) {
	knStepContext* context = step->context;
	knState* state = context->state;
	const knReducedMemory* memory = knReducedMemory_Get(state, context->model);
	if (!knReducedMemory_Resize(state, context->model, memory->dt, memory->contactCount,
								memory->jointRowCount, context->allocator)) {
		return knReduced_OutOfMemory(step);
	}
	const bool* barred = findBarred(step);
	if (barred == NULL || !knForest_Build(&step->forest, context->model, state, barred, context->arena) ||
		!takeRoom(step) || !readPoses(step) || !readVelocities(step)) {
		// with memory left, the velocities cannot be told as those of joints
		return context->arena->failed
				   ? knReduced_OutOfMemory(step)
				   : knError_Set(context->error, KN_DIVERGED, "step", "velocities beyond all measure");
	}
	// the collider and contact lists read the state; kinematic bodies are scripted
	memcpy(state->pose, step->start, (size_t)context->model->bodyCount * sizeof(knFrame));
	memcpy(step->pose, step->start, (size_t)context->model->bodyCount * sizeof(knFrame));
	for (int b = 0; b < context->model->bodyCount; ++b) {
		if (context->model->bodyKind[b] == KN_BODY_KINEMATIC) {
			step->pose[b] = knMovePose(step->start[b], state->velocity[b], step->h);
			step->mean[b] = step->after[b] = state->velocity[b];
		} else if (step->forest.linkOf[b] < 0) {
			step->before[b] = knZeroTwist();
		}
	}
	return KN_OK;
}

knStatus knReduced_End(knReducedStep* step) {
	const knForest* forest = &step->forest;
	knState* state = step->context->state;
	int bodies = step->context->model->bodyCount;
	knForest_Place(forest, step->q, step->pose);
	knForest_Columns(forest, step->q, step->pose, step->columns, step->c);
	for (int b = 0; b < bodies; ++b) {
		if (forest->linkOf[b] >= 0 || step->context->model->bodyKind[b] == KN_BODY_KINEMATIC) {
			state->pose[b] = step->pose[b];
		}
	}
	// once more from what is now in the state: the next step will do the same and compare
	knForest_Place(forest, step->q, state->pose);
	knForest_Velocities(forest, step->columns, state->pose, step->v, state->velocity);
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		knLinkMemory* memory = &knReducedMemory_Links(state)[link->body];
		memory->via = link->joint;
		for (int k = 0; k < link->nq; ++k) {
			memory->q[k] = step->q[link->qOffset + k];
		}
		for (int k = 0; k < link->nv; ++k) {
			memory->v[k] = step->v[link->vOffset + k];
		}
	}
	return KN_OK;
}
