// The articulation solve of one step: which joints take part, in which order, on which velocities; what they remember.
//
// Joints that share a moving body belong to one island; islands are independent, so a sweep runs them in parallel, each in
// order of joint indices, forwards and backwards by turns. Results do not depend on the number of threads.
#include "core/sets.h"
#include "core/tasks.h"
#include "steppers/impulse/joint_direct.h"
#include "steppers/impulse/joint_lanes.h"

#define BODY_GRAIN 256
#define ISLAND_GRAIN 1

int knArticulationMemory_Count(const knModel* model) {
	return knState_JointCount(model);
}

int knArticulationSolve_JointCount(const knArticulationSolve* solve) {
	return solve->jointCount;
}

int knArticulationSolve_JointAt(const knArticulationSolve* solve, int i) {
	KN_ASSERT(i >= 0 && i < solve->jointCount);
	return solve->joints[i].index;
}

int knArticulationSolve_IslandOf(const knArticulationSolve* solve, int body) {
	return solve->bodyIsland[body];
}

int knArticulationSolve_JointsOf(const knArticulationSolve* solve, int body) {
	const int island = solve->bodyIsland[body];
	return island >= 0 ? solve->islandBegin[island + 1] - solve->islandBegin[island] : 0;
}

// --- islands ---------------------------------------------------------------------------------------------

// A moving body of the joint; it has at least one.
static int moving(const knArticulationSolve* solve, const knSolveJoint* entry) {
	return solve->invMass[entry->child] > 0.0 ? entry->child : entry->parent;
}

// The smaller body leads a set, so that islands come in the order of their first joints whatever the unions were.
static bool buildIslands(knArticulationSolve* solve, knArena* arena) {
	const int bodyCount = solve->input.model->bodyCount;
	int32_t* root = KN_SCRATCH_ZERO(arena, int32_t, bodyCount);
	int* island = KN_SCRATCH_ZERO(arena, int, bodyCount);
	solve->bodyIsland = KN_SCRATCH_ZERO(arena, int, bodyCount);
	solve->islandBegin = KN_SCRATCH_ZERO(arena, int, solve->jointCount + 2);
	solve->islandJoint = KN_SCRATCH_ZERO(arena, int, solve->jointCount);
	solve->islandWorst = KN_SCRATCH_ZERO(arena, double, solve->jointCount);
	solve->stale = KN_SCRATCH_ZERO(arena, uint8_t, solve->jointCount);
	solve->shifted = KN_SCRATCH_ZERO(arena, uint8_t, solve->jointCount);
	solve->pressed = KN_SCRATCH_ZERO(arena, uint8_t, solve->jointCount);
	solve->exact = KN_SCRATCH_ZERO(arena, uint8_t, solve->jointCount);
	if (arena->failed) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		root[b] = b;
		island[b] = -1;
	}
	for (int i = 0; i < solve->jointCount; ++i) {
		const knSolveJoint* entry = &solve->joints[i];
		if (solve->invMass[entry->parent] > 0.0 && solve->invMass[entry->child] > 0.0) {
			knSets_Unite(root, entry->parent, entry->child);
		}
	}

	// count, then place (a counting sort by island, stable in the order of joints)
	int* begin = solve->islandBegin;
	for (int i = 0; i < solve->jointCount; ++i) {
		int lead = knSets_Find(root, moving(solve, &solve->joints[i]));
		if (island[lead] < 0) {
			island[lead] = solve->islandCount++;
		}
		begin[island[lead] + 2] += 1;
	}
	for (int k = 0; k < solve->islandCount; ++k) {
		begin[k + 2] += begin[k + 1];
	}
	for (int i = 0; i < solve->jointCount; ++i) {
		int lead = knSets_Find(root, moving(solve, &solve->joints[i]));
		solve->islandJoint[begin[island[lead] + 1]++] = i;
	}
	for (int b = 0; b < bodyCount; ++b) {
		solve->bodyIsland[b] = solve->invMass[b] > 0.0 ? island[knSets_Find(root, b)] : -1;
	}
	return true;
}

typedef struct SweepTask {
	knArticulationSolve* solve;
	knJointVisit* visit;
	bool backwards;
	double epsilon;
} SweepTask;

static void sweepIslands(int first, int last, int worker, void* argument) {
	(void)worker;
	const SweepTask* task = argument;
	knArticulationSolve* solve = task->solve;
	for (int k = first; k < last; ++k) {
		const int begin = solve->islandBegin[k], end = solve->islandBegin[k + 1];
		double worst = 0.0;
		for (int n = begin; n < end; ++n) {
			int i = solve->islandJoint[task->backwards ? end - 1 - (n - begin) : n];
			worst = knMax(worst, task->visit(solve, i, task->epsilon));
		}
		solve->islandWorst[k] = worst;
	}
}

double knArticulationSolve_Sweep(knArticulationSolve* solve, knJointVisit* visit, bool backwards,
								 double epsilon) {
	SweepTask task = { solve, visit, backwards, epsilon };
	knTasks_For(&solve->input.tasks, solve->islandCount, ISLAND_GRAIN, sweepIslands, &task);
	double worst = 0.0;
	for (int k = 0; k < solve->islandCount; ++k) {
		worst = knMax(worst, solve->islandWorst[k]);
	}
	return worst;
}

// --- begin -----------------------------------------------------------------------------------------------

static bool takesPart(const knArticulationInput* input, int index) {
	return knJointRows_TakesPart(input->model, input->state, index) &&
		   !(input->solved != NULL && input->solved[index]);
}

static bool listJoints(knArticulationSolve* solve, knArena* arena) {
	const knModel* model = solve->input.model;
	const knState* state = solve->input.state;
	const int indices = knState_JointCount(model);
	for (int j = 0; j < indices; ++j) {
		if (takesPart(&solve->input, j)) {
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
		if (!takesPart(&solve->input, j)) {
			continue;
		}
		const knJoint* joint = knState_Joint(state, model, j);
		knSolveJoint* entry = &solve->joints[count++];
		*entry = (knSolveJoint){ .joint = joint,
								 .ops = knJointOps_Get(joint->kind),
								 .index = j,
								 .parent = joint->parent,
								 .child = joint->child,
								 .axes = knMulQ(state->pose[joint->parent].q, joint->frameParent.q),
								 .boundBegin = bounds,
								 .boundCount = knJointBounds_Count(joint, &state->joint[j]) };
		knJointBounds_List(joint, &state->joint[j], &solve->bounds[bounds]);
		bounds += entry->boundCount;
	}
	return true;
}

// Inertias of at most four moving bodies at the poses of the state.
static void turnInertias(knArticulationSolve* solve, const int* bodies, int count) {
	const knModel* model = solve->input.model;
	const knFrame* pose[KN_JOINT_LANES];
	const knMat33 *inertia[KN_JOINT_LANES], *inverse[KN_JOINT_LANES];
	knMat33 *toInertia[KN_JOINT_LANES], *toInverse[KN_JOINT_LANES];
	for (int l = 0; l < KN_JOINT_LANES; ++l) {
		const int b = bodies[l < count ? l : 0];
		pose[l] = &solve->input.state->pose[b];
		inertia[l] = &model->inertiaLocal[b];
		inverse[l] = &model->invInertiaLocal[b];
		toInertia[l] = &solve->inertia[b];
		toInverse[l] = &solve->invInertia[b];
	}
	knJointKernel_Best()->turnTensors(pose, inertia, toInertia);
	knJointKernel_Best()->turnTensors(pose, inverse, toInverse);
}

void knArticulationSolve_TakeBodies(knArticulationSolve* solve, int begin, int end, const uint8_t* which) {
	int bodies[KN_JOINT_LANES], count = 0;
	for (int b = begin; b < end; ++b) {
		const int island = solve->bodyIsland[b];
		if (which == NULL ? solve->invMass[b] > 0.0 : island >= 0 && which[island] != 0) {
			bodies[count++] = b;
		}
		if (count == KN_JOINT_LANES || (count > 0 && b + 1 == end)) {
			turnInertias(solve, bodies, count);
			count = 0;
		}
	}
}

static void takeBodies(int begin, int end, int worker, void* argument) {
	(void)worker;
	knArticulationSolve_TakeBodies(argument, begin, end, NULL);
}

// Blocks and inertias belong to the poses of the state.
void knArticulationSolve_TakePoses(knArticulationSolve* solve) {
	knTasks_For(&solve->input.tasks, solve->input.model->bodyCount, BODY_GRAIN, takeBodies, solve);
	for (int i = 0; i < solve->jointCount; ++i) {
		solve->blocks[i].ready = false;
	}
	for (int k = 0; k < solve->islandCount; ++k) {
		solve->stale[k] = 1;
	}
}

void knArticulationSolve_ForgetBlocks(knArticulationSolve* solve, int island) {
	for (int n = solve->islandBegin[island]; n < solve->islandBegin[island + 1]; ++n) {
		solve->blocks[solve->islandJoint[n]].ready = false;
	}
	solve->stale[island] = 1;
}

knArticulationSolve* knArticulationSolve_Begin(const knArticulationInput* input, knArena* arena) {
	knArticulationSolve* solve = KN_SCRATCH_ZERO(arena, knArticulationSolve, 1);
	if (solve == NULL) {
		return NULL;
	}
	solve->input = *input;
	solve->paper = input->settings->scheme == KN_SCHEME_PAPER;
	solve->velocitiesOnly = input->settings->impulse.prestabilize == 0;
	solve->invMass = input->model->invMass;
	solve->inertia = KN_SCRATCH_ZERO(arena, knMat33, input->model->bodyCount);
	solve->invInertia = KN_SCRATCH_ZERO(arena, knMat33, input->model->bodyCount);
	if (!listJoints(solve, arena) || !buildIslands(solve, arena)) {
		return NULL;
	}
	if (!knArticulationSolve_ReserveSettle(solve, arena) || !knJointCorrection_Reserve(solve, arena)) {
		return NULL;
	}
	knArticulationSolve_TakePoses(solve);
	knArticulationSolve_Enter(solve, KN_ARTICULATION_COLLISION);
	return solve;
}

// --- what a phase begins with ----------------------------------------------------------------------------

static const knArticulationMemory* recall(const knArticulationSolve* solve, const knSolveJoint* entry) {
	if (solve->input.memory == NULL || solve->paper) {
		return NULL;
	}
	const knArticulationMemory* memory = &solve->input.memory[entry->index];
	bool own = memory->owner == solve->input.state->joint[entry->index].generation;
	return memory->dt > 0.0 && own ? memory : NULL;
}

// How much more than its rate says the error would grow with the velocities of the start: the bodies go round in arcs.
static void lookAhead(knArticulationSolve* solve, int i) {
	knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = knJointBlock_Get(solve, i);
	const knState* state = solve->input.state;
	const double h = solve->input.h;
	entry->curve = knZeroTwist();
	if (knJointBlock_TurnsFast(solve, i, state->velocity)) {
		return;
	}
	knFrame endP = knMovePose(state->pose[entry->parent], state->velocity[entry->parent], h);
	knFrame endC = knMovePose(state->pose[entry->child], state->velocity[entry->child], h);
	knTwist growth = knSubT(knSolveJoint_ErrorAt(entry, endP, endC), entry->error);
	growth = knRotateT(block->axes, knScaleT(1.0 / h, growth));
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	pair.uP = &solve->input.state->velocity[entry->parent];
	pair.uC = &solve->input.state->velocity[entry->child];
	knTwist wrong = knJoint_WrongRate(entry->joint, block->J, block->axes, knJointPair_Rate(&pair));
	entry->curve = knSubT(growth, wrong);
}

// The impulses of the last step are the first guess of this one.
static double startWarm(knArticulationSolve* solve, int i, double epsilon) {
	(void)epsilon;
	knSolveJoint* entry = &solve->joints[i];
	const knArticulationMemory* memory = recall(solve, entry);
	double scale = memory != NULL ? solve->input.h / memory->dt : 0.0;
	if (memory != NULL) {
		const knJointBlock* block = knJointBlock_Get(solve, i);
		knTwist last = knScaleT(scale, knRotateT(block->axes, memory->impulse)), wrench = knZeroTwist();
		for (int k = 0; k < block->count; ++k) {
			wrench = knMulAddT(wrench, knDotT(block->rows[k], last), block->rows[k]);
		}
		if (knJointDirect_Has(solve->direct, knSolveJoint_Island(solve, entry))) {
			// a loop may be stressed in itself: what is remembered of that would never go away
			entry->recalled = wrench.lin;
		} else {
			knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
			knSolveJoint_Push(solve, entry, &pair, wrench, knZero3(), wrench);
		}
		entry->late = knScale(scale, knRotate(block->axes, memory->late));
	}
	if (entry->boundCount > 0) {
		knJointBounds_Begin(solve, i, memory, scale);
	}
	if (!solve->paper) {
		const knJointBlock* block = knJointBlock_Get(solve, i);
		entry->error = block->error;
		entry->couple = knZero3();
		entry->byRates = false;
		lookAhead(solve, i);
	}
	return 0.0;
}

static double leaveDynamics(knArticulationSolve* solve, int i, double epsilon) {
	(void)epsilon;
	knSolveJoint* entry = &solve->joints[i];
	entry->late = knZero3();
	knJointBounds_AddWork(solve, i);
	for (int k = 0; k < entry->boundCount; ++k) {
		knJointBound* bound = &solve->bounds[entry->boundBegin + k];
		if (bound->part == KN_BOUND_LIMIT) {
			bound->lambda = 0.0;
		}
	}
	return 0.0;
}

void knSolveJoint_Push(knArticulationSolve* solve, knSolveJoint* entry, const knJointPair* pair,
					   knTwist wrench, knVec3 offset, knTwist locked) {
	knJointPair_Push(pair, wrench);
	if (solve->phase == KN_ARTICULATION_CORRECTION) {
		entry->shift = knAdd(entry->shift, wrench.lin);
		return;
	}
	entry->total.lin = knAdd(entry->total.lin, wrench.lin);
	entry->total.ang = knAdd(entry->total.ang, knAdd(wrench.ang, knCross(offset, wrench.lin)));
	if (solve->phase == KN_ARTICULATION_ARRIVAL) {
		entry->late = knAdd(entry->late, wrench.lin);
	}
	if (solve->phase == KN_ARTICULATION_DYNAMICS) {
		entry->locked.lin = knAdd(entry->locked.lin, locked.lin);
		entry->locked.ang = knAdd(entry->locked.ang, knAdd(locked.ang, knCross(offset, locked.lin)));
	}
}

// --- phases ----------------------------------------------------------------------------------------------

void knArticulationSolve_Enter(knArticulationSolve* solve, knArticulationPhase phase) {
	const knArticulationPhase last = solve->phase;
	solve->postSweeps = 0;
	solve->phase = phase;
	if (phase == KN_ARTICULATION_DYNAMICS) {
		solve->u = solve->input.blocks->u;
		knJointBlocks_Make(solve);
		knArticulationSolve_Sweep(solve, startWarm, false, 1.0);
		return;
	}
	if (last == KN_ARTICULATION_DYNAMICS) {
		solve->u = solve->input.blocks->u;
		knArticulationSolve_Sweep(solve, leaveDynamics, false, 1.0);
		knArticulationSolve_TakePoses(solve);
	}
	if (phase == KN_ARTICULATION_CORRECTION) {
		KN_ASSERT(last == KN_ARTICULATION_DYNAMICS);
		knJointCorrection_Begin(solve);
		solve->u = solve->shift;
		return;
	}
	if (last == KN_ARTICULATION_CORRECTION) {
		knJointCorrection_End(solve);
	}
	solve->u = solve->input.state->velocity;
}

// --- finish ----------------------------------------------------------------------------------------------

static void remember(const knArticulationSolve* solve, const knSolveJoint* entry, knQuat axes) {
	knArticulationMemory* memory = &solve->input.memory[entry->index];
	const knQuat end = knMulQ(solve->input.state->pose[entry->parent].q, entry->joint->frameParent.q);
	*memory = (knArticulationMemory){ .impulse = knInvRotateT(axes, entry->locked),
									  .late = knInvRotate(end, entry->late),
									  .dt = solve->input.h,
									  .owner = solve->input.state->joint[entry->index].generation };
	for (int k = 0; k < entry->boundCount; ++k) {
		const knJointBound* bound = &solve->bounds[entry->boundBegin + k];
		if (bound->part == KN_BOUND_MOTOR) {
			memory->motor[bound->axis] = bound->lambda;
		} else if (bound->part == KN_BOUND_FRICTION) {
			memory->friction[bound->axis] = bound->lambda;
		}
	}
}

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
	knState* state = solve->input.state;
	knArticulationMemory* memory = solve->input.memory;
	double work = 0.0;
	for (int j = 0; memory != NULL && j < knState_JointCount(solve->input.model); ++j) {
		memory[j].dt = 0.0;
	}
	for (int i = 0; i < solve->jointCount; ++i) {
		const knSolveJoint* entry = &solve->joints[i];
		knJointState* joint = &state->joint[entry->index];
		joint->reaction = knMulAddT(joint->reaction, 1.0 / solve->input.h, entry->total);
		work += entry->work + kinematicWork(solve, entry);
		if (memory != NULL) {
			remember(solve, entry, entry->axes);
		}
	}
	return work;
}
