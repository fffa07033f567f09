// The articulation solve of one step: which joints take part, on which velocities.
#include "core/assert.h"
#include "steppers/impulse/paper/articulation_internal.h"

int knArticulationSolve_JointCount(const knArticulationSolve* solve) {
	return solve->jointCount;
}

int knArticulationSolve_JointAt(const knArticulationSolve* solve, int i) {
	KN_ASSERT(i >= 0 && i < solve->jointCount);
	return solve->joints[i].index;
}

// --- begin -----------------------------------------------------------------------------------------------

static bool listJoints(knArticulationSolve* solve, knArena* arena) {
	const knModel* model = solve->input.model;
	const knState* state = solve->input.state;
	const int indices = knState_JointCount(model);
	for (int j = 0; j < indices; ++j) {
		if (knJointRows_TakesPart(model, state, j)) {
			solve->jointCount += 1;
			solve->boundCount += knJointBounds_Count(knState_Joint(state, model, j), &state->joint[j]);
		}
	}
	solve->joints = KN_SCRATCH_ZERO(arena, knSolveJoint, solve->jointCount);
	solve->blocks = KN_SCRATCH(arena, knJointBlock, solve->jointCount); // made at the first visit
	solve->bounds = KN_SCRATCH_ZERO(arena, knJointBound, solve->boundCount);
	if (arena->failed) {
		return false;
	}
	int count = 0, bounds = 0;
	for (int j = 0; j < indices; ++j) {
		if (!knJointRows_TakesPart(model, state, j)) {
			continue;
		}
		const knJoint* joint = knState_Joint(state, model, j);
		knSolveJoint* entry = &solve->joints[count++];
		*entry = (knSolveJoint){ .joint = joint,
								 .ops = knJointOps_Get(joint->kind),
								 .index = j,
								 .parent = joint->parent,
								 .child = joint->child,
								 .boundBegin = bounds,
								 .boundCount = knJointBounds_Count(joint, &state->joint[j]) };
		knJointBounds_List(joint, &state->joint[j], &solve->bounds[bounds]);
		bounds += entry->boundCount;
	}
	return true;
}

// Blocks and inertias belong to the poses of the state.
static void takePoses(knArticulationSolve* solve) {
	const knModel* model = solve->input.model;
	for (int b = 0; b < model->bodyCount; ++b) {
		if (solve->invMass[b] > 0.0) {
			solve->invInertia[b] = knRotateTensor(solve->input.state->pose[b].q, &model->invInertiaLocal[b]);
		}
	}
	for (int i = 0; i < solve->jointCount; ++i) {
		solve->blocks[i].ready = false;
	}
}

knArticulationSolve* knArticulationSolve_Begin(const knArticulationInput* input, knArena* arena) {
	knArticulationSolve* solve = KN_SCRATCH_ZERO(arena, knArticulationSolve, 1);
	if (solve == NULL) {
		return NULL;
	}
	solve->input = *input;
	solve->invMass = input->model->invMass;
	solve->invInertia = KN_SCRATCH_ZERO(arena, knMat33, input->model->bodyCount);
	if (arena->failed || !listJoints(solve, arena)) {
		return NULL;
	}
	takePoses(solve);
	knArticulationSolve_Enter(solve, KN_ARTICULATION_COLLISION);
	return solve;
}

// --- phases ----------------------------------------------------------------------------------------------

void knSolveJoint_Push(const knArticulationSolve* solve, knSolveJoint* entry, const knJointPair* pair,
					   knTwist wrench, knVec3 offset) {
	(void)solve;
	knJointPair_Push(pair, wrench);
	entry->total.lin = knAdd(entry->total.lin, wrench.lin);
	entry->total.ang = knAdd(entry->total.ang, knAdd(wrench.ang, knCross(offset, wrench.lin)));
}

static void leaveDynamics(knArticulationSolve* solve, int i) {
	const knSolveJoint* entry = &solve->joints[i];
	knJointBounds_AddWork(solve, i);
	for (int k = 0; k < entry->boundCount; ++k) {
		knJointBound* bound = &solve->bounds[entry->boundBegin + k];
		if (bound->part == KN_BOUND_LIMIT) {
			bound->lambda = 0.0;
		}
	}
}

void knArticulationSolve_Enter(knArticulationSolve* solve, knArticulationPhase phase) {
	const knArticulationPhase last = solve->phase;
	solve->phase = phase;
	if (phase == KN_ARTICULATION_DYNAMICS) {
		solve->u = solve->input.blocks->u;
		for (int i = 0; i < solve->jointCount; ++i) {
			if (solve->joints[i].boundCount > 0) {
				knJointBounds_Begin(solve, i);
			}
		}
		return;
	}
	if (last == KN_ARTICULATION_DYNAMICS) {
		solve->u = solve->input.blocks->u;
		for (int i = 0; i < solve->jointCount; ++i) {
			leaveDynamics(solve, i);
		}
		takePoses(solve);
	}
	solve->u = solve->input.state->velocity;
}

// --- finish ----------------------------------------------------------------------------------------------

// What a body that moves by itself puts in through a joint: its own speed times what the joint takes from it.
static double kinematicWork(const knArticulationSolve* solve, const knSolveJoint* entry) {
	const knModel* model = solve->input.model;
	const knState* state = solve->input.state;
	knVec3 anchor = knPoint(state->pose[entry->child], entry->joint->frameChild.p);
	const int bodies[2] = { entry->parent, entry->child };
	double work = 0.0;
	for (int k = 0; k < 2; ++k) {
		const int b = bodies[k];
		if (model->bodyKind[b] == KN_BODY_KINEMATIC) {
			knVec3 arm = knSub(anchor, state->pose[b].p);
			knTwist v = state->velocity[b];
			v.lin = knAdd(v.lin, knCross(v.ang, arm));
			work += (k == 0 ? 1.0 : -1.0) * knDotT(entry->total, v);
		}
	}
	return work;
}

double knArticulationSolve_Finish(knArticulationSolve* solve) {
	KN_ASSERT(solve->phase == KN_ARTICULATION_ARRIVAL);
	double work = 0.0;
	for (int i = 0; i < solve->jointCount; ++i) {
		const knSolveJoint* entry = &solve->joints[i];
		knJointState* joint = &solve->input.state->joint[entry->index];
		joint->reaction = knMulAddT(joint->reaction, 1.0 / solve->input.h, entry->total);
		work += entry->work + kinematicWork(solve, entry);
	}
	return work;
}
