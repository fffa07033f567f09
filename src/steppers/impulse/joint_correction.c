// The correction phase: gaps that are left after the move are closed by shifting bodies, at the end poses, without
// giving them the velocities to it. (Weinstein et al. 2006, section VI, last paragraph, save velocities before an extra
// sweep over the joints and put them back after the move; here the sweep itself comes after the move.)
//
// A joint shifts its two bodies by +-s/m along with turns, so the centre of mass stays. Bodies keep v and, in their own
// axes, w: no kinetic energy comes in. Angular momentum does, G = sum s x (v_c - v_p) + sum (L' - L); an island that
// hangs on nothing gives it back by a rigid turn of the whole, the way that takes the least energy: dw = -I^-1 G, I its
// inertia about its centre.
//
// Loops that cannot close, or a net drawn flat, have no such shift: a round that leaves an island with more error than
// before is taken back, and the next one is softer (Levenberg), so that it does what can be done. Limits that are broken, at
// first or by a round, are held: they count as locked from then on, so that all are met at once.
#include "core/tasks.h"
#include "steppers/impulse/articulation_internal.h"

#define BODY_GRAIN 256
#define SOFTER 1000.0

typedef struct knIslandBalance {
	bool hung; // on an immovable body, which takes the momentum
	double mass;
	knVec3 center;
	knMat33 inertia;
	knVec3 gained; // then: the turn that gives it back
	double square; // of the errors before the last round
	double soften; // of the locked rows' softness
	int held;      // limits, when that round began
	bool tried;
} knIslandBalance;

bool knJointCorrection_Reserve(knArticulationSolve* solve, knArena* arena) {
	solve->shift = KN_SCRATCH_ZERO(arena, knTwist, solve->input.model->bodyCount);
	solve->spin = KN_SCRATCH_ZERO(arena, knVec3, solve->input.model->bodyCount);
	solve->startTurn = KN_SCRATCH_ZERO(arena, knQuat, solve->input.model->bodyCount);
	solve->balance = KN_SCRATCH_ZERO(arena, knIslandBalance, solve->islandCount);
	solve->lastPose = KN_SCRATCH_ZERO(arena, knFrame, solve->input.model->bodyCount);
	return !arena->failed;
}

// --- begin and shift -------------------------------------------------------------------------------------

static void beginBodies(int begin, int end, int worker, void* argument) {
	(void)worker;
	knArticulationSolve* solve = argument;
	const knState* state = solve->input.state;
	for (int b = begin; b < end; ++b) {
		solve->shift[b] = knZeroTwist();
		if (solve->bodyIsland[b] >= 0) {
			solve->spin[b] = knInvRotate(state->pose[b].q, state->velocity[b].ang);
			solve->startTurn[b] = state->pose[b].q;
		}
	}
}

void knJointCorrection_Begin(knArticulationSolve* solve) {
	for (int k = 0; k < solve->islandCount; ++k) {
		solve->balance[k] = (knIslandBalance){ .soften = 1.0 };
	}
	for (int k = 0; k < solve->boundCount; ++k) {
		solve->bounds[k].held = false;
	}
	knTasks_For(&solve->input.tasks, solve->input.model->bodyCount, BODY_GRAIN, beginBodies, solve);
}

static void shiftBodies(int begin, int end, int worker, void* argument) {
	(void)worker;
	knArticulationSolve* solve = argument;
	for (int b = begin; b < end; ++b) {
		if (solve->bodyIsland[b] >= 0 && solve->shifted[solve->bodyIsland[b]] != 0) {
			solve->lastPose[b] = solve->input.state->pose[b];
			solve->input.state->pose[b] = knMovePose(solve->input.state->pose[b], solve->shift[b], 1.0);
			solve->shift[b] = knZeroTwist();
		}
	}
	knArticulationSolve_TakeBodies(solve, begin, end, solve->shifted);
}

void knJointCorrection_Shift(knArticulationSolve* solve) {
	knTasks_For(&solve->input.tasks, solve->input.model->bodyCount, BODY_GRAIN, shiftBodies, solve);
	for (int k = 0; k < solve->islandCount; ++k) {
		if (solve->shifted[k] != 0) {
			knArticulationSolve_ForgetBlocks(solve, k);
		}
	}
}

// Poses and shifts of an island as they were before the last round.
static void takeBack(knArticulationSolve* solve, int island) {
	for (int n = solve->islandBegin[island]; n < solve->islandBegin[island + 1]; ++n) {
		knSolveJoint* entry = &solve->joints[solve->islandJoint[n]];
		const int bodies[2] = { entry->parent, entry->child };
		entry->shift = entry->lastShift;
		for (int k = 0; k < 2; ++k) {
			if (solve->bodyIsland[bodies[k]] >= 0) {
				solve->input.state->pose[bodies[k]] = solve->lastPose[bodies[k]];
				knArticulationSolve_TakeBodies(solve, bodies[k], bodies[k] + 1, NULL);
			}
		}
	}
	knArticulationSolve_ForgetBlocks(solve, island);
}

static int countHeld(const knArticulationSolve* solve, int island) {
	int count = 0;
	for (int n = solve->islandBegin[island]; n < solve->islandBegin[island + 1]; ++n) {
		const knSolveJoint* entry = &solve->joints[solve->islandJoint[n]];
		for (int k = 0; k < entry->boundCount; ++k) {
			count += solve->bounds[entry->boundBegin + k].held;
		}
	}
	return count;
}

// A round that broke more limits is tried again with those held, any other one softer.
bool knJointCorrection_Helped(knArticulationSolve* solve, int island, double square) {
	knIslandBalance* balance = &solve->balance[island];
	if (balance->tried && !(square <= balance->square)) {
		const int held = countHeld(solve, island);
		takeBack(solve, island);
		balance->soften *= held > balance->held ? 1.0 : SOFTER;
		balance->held = held;
		return false;
	}
	for (int n = solve->islandBegin[island]; n < solve->islandBegin[island + 1]; ++n) {
		solve->joints[solve->islandJoint[n]].lastShift = solve->joints[solve->islandJoint[n]].shift;
	}
	balance->square = square;
	balance->held = countHeld(solve, island);
	balance->tried = true;
	return true;
}

double knJointCorrection_Soften(const knArticulationSolve* solve, int island) {
	return solve->balance[island].soften;
}

static void judgeIslands(int first, int last, int worker, void* argument) {
	(void)worker;
	knArticulationSolve* solve = argument;
	for (int k = first; k < last; ++k) {
		double square = 0.0;
		if (solve->shifted[k] == 0) {
			continue;
		}
		for (int n = solve->islandBegin[k]; n < solve->islandBegin[k + 1]; ++n) {
			const int i = solve->islandJoint[n];
			const knJointBlock* block = knJointBlock_Get(solve, i);
			knTwist error = knRotateT(block->axes, block->error);
			for (int r = 0; r < block->count; ++r) {
				double b = knJointBlock_Wrong(block, r, error);
				square += b * b;
			}
		}
		knJointCorrection_Helped(solve, k, square);
	}
}

void knJointCorrection_Judge(knArticulationSolve* solve) {
	knJointBlocks_Make(solve);
	knTasks_For(&solve->input.tasks, solve->islandCount, 1, judgeIslands, solve);
}

// --- end -------------------------------------------------------------------------------------------------

static void addJoints(knArticulationSolve* solve) {
	const knTwist* v = solve->input.state->velocity;
	for (int i = 0; i < solve->jointCount; ++i) {
		const knSolveJoint* entry = &solve->joints[i];
		const int of[2] = { solve->bodyIsland[entry->parent], solve->bodyIsland[entry->child] };
		knIslandBalance* balance = &solve->balance[of[1] >= 0 ? of[1] : of[0]];
		if (of[0] < 0 || of[1] < 0) {
			balance->hung = true;
		} else {
			knVec3 apart = knSub(v[entry->child].lin, v[entry->parent].lin);
			balance->gained = knAdd(balance->gained, knCross(entry->shift, apart));
		}
	}
}

static void addBodies(knArticulationSolve* solve) {
	const knModel* model = solve->input.model;
	const knFrame* pose = solve->input.state->pose;
	for (int b = 0; b < model->bodyCount; ++b) {
		if (solve->bodyIsland[b] >= 0) {
			knIslandBalance* balance = &solve->balance[solve->bodyIsland[b]];
			balance->mass += model->mass[b];
			balance->center = knMulAdd(balance->center, model->mass[b], pose[b].p);
		}
	}
	for (int k = 0; k < solve->islandCount; ++k) {
		solve->balance[k].center = knScale(1.0 / solve->balance[k].mass, solve->balance[k].center);
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		if (solve->bodyIsland[b] >= 0) {
			knIslandBalance* balance = &solve->balance[solve->bodyIsland[b]];
			knMat33 own = solve->inertia[b];
			knMat33 arm = knSkew(knSub(pose[b].p, balance->center));
			knMat33 square = knMulMM(&arm, &arm), orbit = knScaleM(-model->mass[b], &square);
			own = knAddMM(&own, &orbit);
			balance->inertia = knAddMM(&balance->inertia, &own);
			knVec3 L = knMulMV(&model->inertiaLocal[b], solve->spin[b]);
			knVec3 change = knSub(knRotate(pose[b].q, L), knRotate(solve->startTurn[b], L));
			balance->gained = knAdd(balance->gained, change);
		}
	}
}

static void endBodies(int begin, int end, int worker, void* argument) {
	(void)worker;
	knArticulationSolve* solve = argument;
	knState* state = solve->input.state;
	for (int b = begin; b < end; ++b) {
		if (solve->bodyIsland[b] >= 0) {
			const knIslandBalance* balance = &solve->balance[solve->bodyIsland[b]];
			knVec3 arm = knSub(state->pose[b].p, balance->center);
			state->velocity[b].ang = knAdd(knRotate(state->pose[b].q, solve->spin[b]), balance->gained);
			state->velocity[b].lin = knAdd(state->velocity[b].lin, knCross(balance->gained, arm));
		}
	}
}

// Blocks that hold limits, and softened ones, are the correction's own.
static void forgetBlocks(knArticulationSolve* solve) {
	for (int k = 0; k < solve->islandCount; ++k) {
		bool own = solve->balance[k].soften != 1.0;
		for (int n = solve->islandBegin[k]; n < solve->islandBegin[k + 1]; ++n) {
			const knJointBlock* block = &solve->blocks[solve->islandJoint[n]];
			own = own || (block->ready && block->count > block->free);
		}
		if (own) {
			knArticulationSolve_ForgetBlocks(solve, k);
		}
	}
}

void knJointCorrection_End(knArticulationSolve* solve) {
	forgetBlocks(solve);
	addJoints(solve);
	addBodies(solve);
	for (int k = 0; k < solve->islandCount; ++k) {
		knIslandBalance* balance = &solve->balance[k];
		knMat33 inverse = knInverse33(&balance->inertia);
		balance->gained = balance->hung ? knZero3() : knNeg(knMulMV(&inverse, balance->gained));
	}
	knTasks_For(&solve->input.tasks, solve->input.model->bodyCount, BODY_GRAIN, endBodies, solve);
}
