// All joints of an island at once: the equality part of a phase's problem solved as a whole, so that chains, loops and nets
// need not wait for sweeps to carry a change from joint to joint (no part of the published method).
//
//   K x = -b,   K = B^T W B,   u <- u + W B x
//
// B are the locked rows of all joints at the poses of the phase, W the inverse masses; b is what is wrong with the
// rates: the velocity itself (arrival), or error/h of the predicted joint frames (dynamics, correction), which is
// not linear in u and taken anew for each of a few rounds. Trees are solved by conjugate gradients (joint_linear.c), loops
// by a factorisation over bodies (joint_direct.c).
#include "core/dense.h"
#include "core/tasks.h"
#include "steppers/impulse/joint_direct.h"

#define FINE 1e-9           // m or rad: what is left to the correction between contacts
#define CLOSED 1e-11        // m or rad: a correction that finds no more is the last
#define NEARLY 1e-4         // of the shortest arm: large islands are content with that
#define CORRECTION_ROUNDS 8 // at most
#define ARC_ENERGY 0.002    // of the kinetic energy; and, where it is more,
#define ARC_TURN 2.0        // times what a turn about a fixed pin takes,
#define ARC_MOST 0.01       // but of the kinetic energy no more
#define REACH 14            // iterations of a round at most,
#define SHORT_REACH 40      // and of small islands, which may be long loops with any ratio of masses
#define AGAIN_REACH 6       // between contacts
#define SMALL 64            // joints
#define GOOD 1e-5           // of the first residual
#define QUIET 1e-24         // (m/s)^2 a joint: not worth an iteration

// What a round is for.
typedef enum Round {
	ROUND_RATES, // velocities, or in the correction errors, alone
	ROUND_ARCS,  // dynamics: the bodies' arcs as well
	ROUND_AGAIN, // the same between contacts, with the rows and factors of before
} Round;

// --- what is wrong ---------------------------------------------------------------------------------------

// World axes of the phase.
static knTwist wrongRate(knArticulationSolve* solve, int i, Round round) {
	const knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = knJointBlock_Get(solve, i);
	const knFrame poseP = solve->input.state->pose[entry->parent],
				  poseC = solve->input.state->pose[entry->child];
	if (solve->phase == KN_ARTICULATION_CORRECTION) {
		return knRotateT(block->axes, block->error);
	}
	if (solve->phase == KN_ARTICULATION_DYNAMICS && round != ROUND_RATES &&
		!knJointSteady_ByRates(solve, i)) {
		const double h = solve->input.h;
		knFrame endP = knMovePose(poseP, solve->u[entry->parent], h);
		knFrame endC = knMovePose(poseC, solve->u[entry->child], h);
		knTwist change = knSubT(knSolveJoint_ErrorAt(entry, endP, endC), entry->error);
		return knRotateT(block->axes, knScaleT(1.0 / h, change));
	}
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	knTwist wrong = knJoint_WrongRate(entry->joint, block->J, block->axes, knJointPair_Rate(&pair));
	return solve->phase == KN_ARTICULATION_DYNAMICS && round != ROUND_RATES ? knAddT(wrong, entry->curve)
																			: wrong;
}

// The right-hand side of one joint; returns its largest component.
static double findWrong(knArticulationSolve* solve, int i, Round round, double* square) {
	const knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = knJointBlock_Get(solve, i);
	knJointSteady_Release(solve, i);
	knTwist wrong = wrongRate(solve, i, round);
	double worst = 0.0;
	for (int k = 0; k < block->all; ++k) {
		double b = knJointBlock_Wrong(block, k, wrong);
		if (k >= block->count) {
			knVec3 spin = knSub(solve->u[entry->child].ang, solve->u[entry->parent].ang);
			b = knDot(block->rows[k].ang, knMulAdd(spin, block->softness[k], entry->couple));
		}
		solve->settle[0][i].v[k] = 0.0;
		solve->settle[1][i].v[k] = -b;
		worst = knMax(worst, knAbs(b));
		*square += b * b;
	}
	return worst;
}

void knSettle_FindAgain(knArticulationSolve* solve, int i) {
	double square = 0.0;
	findWrong(solve, i, ROUND_AGAIN, &square);
}

void knSettle_Push(knArticulationSolve* solve, int i, double share) {
	knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = &solve->blocks[i];
	double x[KN_BLOCK_ROWS];
	for (int k = 0; k < block->all; ++k) {
		x[k] = share * solve->settle[0][i].v[k];
	}
	knTwist wrench = knSettle_WrenchOf(block, x), locked = wrench;
	for (int k = block->count; k < block->all; ++k) {
		entry->couple = knMulAdd(entry->couple, x[k], block->rows[k].ang);
		locked.ang = knMulAdd(locked.ang, -x[k], block->rows[k].ang);
	}
	knJointPair pair = knSettle_PairOn(solve, i, solve->u);
	knSolveJoint_Push(solve, entry, &pair, wrench, knZero3(), locked);
}

static void soften(const knSettleIsland* island, double factor) {
	for (int n = 0; n < island->count; ++n) {
		knJointBlock* block = &island->solve->blocks[island->entries[n]];
		for (int k = 0; k < block->count; ++k) {
			block->softness[k] *= factor;
		}
	}
}

// How much of the bodies' arcs to follow. The impulses for it put in 1/2 x^T K x at first, what the arrival takes out
// again: what is not followed is lost. Near a singular pose, such as a net drawn flat, they grow beyond measure, so they
// are kept to a share of the island's kinetic energy. A body that turns about a pin by 2 a in the step takes the share
// tan^2 a of its own, and so does one that another carries round.
static double shareOfArcs(const knSettleIsland* island) {
	knArticulationSolve* solve = island->solve;
	const double half = 0.5 * solve->input.h;
	double put = 0.0, kinetic = 0.0, turning = 0.0;
	for (int n = 0; n < island->count; ++n) {
		const int i = island->entries[n];
		const knSolveJoint* entry = &solve->joints[i];
		for (int k = 0; k < solve->blocks[i].count; ++k) {
			put += 0.5 * solve->settle[0][i].v[k] * solve->settle[4][i].v[k];
		}
		const double own = solve->kinetic[entry->child] / solve->jointsOfBody[entry->child] +
						   solve->kinetic[entry->parent] / solve->jointsOfBody[entry->parent];
		kinetic += own;
		turning +=
			half * half * own *
			knMax(knLengthSquared(solve->u[entry->child].ang), knLengthSquared(solve->u[entry->parent].ang));
	}
	const double most = knClamp(ARC_TURN * turning, ARC_ENERGY * kinetic, ARC_MOST * kinetic);
	return put > most ? sqrt(most / put) : 1.0;
}

// Loops by a factorisation over bodies, trees by conjugate gradients, whose preconditioner is exact there.
static void solveLinear(const knSettleIsland* island, Round round) {
	knArticulationSolve* solve = island->solve;
	uint8_t* stale = &solve->stale[island->index];
	if (knJointDirect_Has(solve->direct, island->index)) {
		*stale = *stale != 0 && !knJointDirect_Factor(solve->direct, island);
		if (*stale == 0) {
			knJointDirect_Solve(solve->direct, island);
		}
		return;
	}
	if (*stale != 0) {
		knPreconditioner_Factor(solve, island->begin, island->begin + island->count);
		*stale = 0;
	}
	const int reach = island->count <= SMALL ? SHORT_REACH : REACH;
	knSettle_SolveLinear(island, round == ROUND_AGAIN ? AGAIN_REACH : reach, GOOD);
}

// m: how far the joints of the island are from their bodies' centres, at least. Immovable bodies do not count.
static double shortestArm(const knSettleIsland* island) {
	const knArticulationSolve* solve = island->solve;
	double shortest = (double)INFINITY;
	for (int n = 0; n < island->count; ++n) {
		const knSolveJoint* entry = &solve->joints[island->entries[n]];
		const knJointBlock* block = &solve->blocks[island->entries[n]];
		double square = knMax(solve->invMass[entry->parent] > 0.0 ? knLengthSquared(block->rP) : 0.0,
							  solve->invMass[entry->child] > 0.0 ? knLengthSquared(block->rC) : 0.0);
		shortest = square > 0.0 ? knMin(shortest, square) : shortest;
	}
	return sqrt(shortest);
}

// Large islands need not be closed to the last digit.
static bool isNearlyClosed(const knSettleIsland* island, double worst) {
	return island->solve->phase == KN_ARTICULATION_CORRECTION && island->count > SMALL &&
		   worst < NEARLY * knMin(shortestArm(island), 1.0);
}

// One round, with couples for the forces at hand if it is fresh: what was wrong before.
static double settleIsland(const knSettleIsland* island, Round round, bool fresh) {
	knArticulationSolve* solve = island->solve;
	const bool arcs = round == ROUND_ARCS;
	double worst = 0.0, square = 0.0, share = 1.0;
	if (solve->phase == KN_ARTICULATION_DYNAMICS && fresh) {
		knJointSteady_Rows(solve, island->entries, island->count);
	}
	for (int n = 0; n < island->count; ++n) {
		worst = knMax(worst, findWrong(solve, island->entries[n], round, &square));
		if (arcs) {
			solve->settle[4][island->entries[n]] = solve->settle[1][island->entries[n]]; // shareOfArcs
		}
	}
	if (solve->phase == KN_ARTICULATION_CORRECTION) {
		solve->shifted[island->index] = 0;
		if (!knJointCorrection_Helped(solve, island->index, square)) {
			for (int n = 0; n < island->count; ++n) {
				findWrong(solve, island->entries[n], round, &square);
			}
		}
		if (solve->stale[island->index] != 0) {
			soften(island, knJointCorrection_Soften(solve, island->index));
		}
	}
	if (isNearlyClosed(island, worst) || (round == ROUND_AGAIN && solve->input.h * worst < FINE)) {
		return 0.0;
	}
	if (worst * worst > QUIET) {
		solve->shifted[island->index] = 1;
		solveLinear(island, round);
		share = arcs ? shareOfArcs(island) : 1.0;
		for (int n = 0; n < island->count; ++n) {
			knSettle_Push(solve, island->entries[n], share);
		}
	}
	for (int n = 0; arcs && island->count > 1 && n < island->count; ++n) {
		// from now on the arcs are those of the start, in the share that was found safe
		knSolveJoint* entry = &solve->joints[island->entries[n]];
		entry->byRates = true;
		entry->curve = knScaleT(share, entry->curve);
	}
	return worst;
}

static knSettleIsland islandAt(knArticulationSolve* solve, int index) {
	const int begin = solve->islandBegin[index];
	return (knSettleIsland){ solve, solve->islandJoint + begin, begin, solve->islandBegin[index + 1] - begin,
							 index };
}

void knArticulationSolve_Answer(knArticulationSolve* solve, int index, knTwist* change) {
	const knSettleIsland island = islandAt(solve, index);
	for (int n = 0; n < island.count; ++n) {
		const int i = island.entries[n];
		const knJointBlock* block = knJointBlock_Get(solve, i);
		knJointPair pair = knSettle_PairOn(solve, i, change);
		knTwist rate = knJointPair_Rate(&pair);
		for (int k = 0; k < block->all; ++k) {
			solve->settle[0][i].v[k] = 0.0;
			solve->settle[1][i].v[k] = -knDotT(block->rows[k], rate);
		}
	}
	solveLinear(&island, ROUND_RATES);
	for (int n = 0; n < island.count; ++n) {
		const int i = island.entries[n];
		knJointPair pair = knSettle_PairOn(solve, i, change);
		knJointPair_Push(&pair, knSettle_WrenchOf(&solve->blocks[i], solve->settle[0][i].v));
	}
}

double knSettle_Island(knArticulationSolve* solve, int index) {
	knSettleIsland island = islandAt(solve, index);
	return settleIsland(&island, ROUND_AGAIN, false);
}

// Between contacts a joint with limits or motors is also solved by itself.
static double visitIsland(knArticulationSolve* solve, int island) {
	const int begin = solve->islandBegin[island], end = solve->islandBegin[island + 1];
	const bool backwards = solve->preSweeps % 2 == 0;
	double worst = 0.0;
	for (int n = begin; n < end; ++n) {
		const int i = solve->islandJoint[backwards ? begin + end - 1 - n : n];
		if (solve->joints[i].boundCount > 0) {
			worst = knMax(worst, knPreStabilize_Joint(solve, i, 1.0) / solve->input.h);
		}
	}
	return worst;
}

typedef struct SettleTask {
	knArticulationSolve* solve;
	Round round;
} SettleTask;

static void settleIslands(int first, int last, int worker, void* argument) {
	(void)worker;
	const SettleTask* task = argument;
	knArticulationSolve* solve = task->solve;
	for (int k = first; k < last; ++k) {
		if (task->round == ROUND_AGAIN && solve->pressed[k] != 0) {
			solve->islandWorst[k] = 0.0; // joint_contact.c minds it
			continue;
		}
		if (task->round == ROUND_AGAIN) {
			if (knSettle_IsLone(solve, k)) {
				continue; // done
			}
			solve->islandWorst[k] = visitIsland(solve, k);
		}
		knSettleIsland island = islandAt(solve, k);
		const bool fresh =
			task->round != ROUND_AGAIN || (!knJointDirect_Has(solve->direct, k) && island.count <= SMALL);
		double worst = settleIsland(&island, task->round, fresh);
		solve->islandWorst[k] = task->round == ROUND_AGAIN ? knMax(worst, solve->islandWorst[k]) : worst;
	}
}

static double settleOnce(knArticulationSolve* solve, Round round) {
	SettleTask task = { solve, round };
	knJointBlocks_Make(solve);
	if (round == ROUND_AGAIN) {
		(void)knPreStabilize_Lone(solve, 1.0); // its worst is among those of all islands
	}
	knTasks_For(&solve->input.tasks, solve->islandCount, 1, settleIslands, &task);
	double worst = 0.0;
	for (int k = 0; k < solve->islandCount; ++k) {
		worst = knMax(worst, solve->islandWorst[k]);
	}
	return worst;
}

// Kinetic energy of each body as it is now.
static void weighBodies(knArticulationSolve* solve) {
	const knModel* model = solve->input.model;
	for (int b = 0; b < model->bodyCount; ++b) {
		solve->kinetic[b] = 0.0;
		if (solve->bodyIsland[b] >= 0) {
			knVec3 spin = knInvRotate(solve->input.state->pose[b].q, solve->u[b].ang);
			solve->kinetic[b] = 0.5 * model->mass[b] * knLengthSquared(solve->u[b].lin) +
								0.5 * knDot(spin, knMulMV(&model->inertiaLocal[b], spin));
		}
	}
}

static double correct(knArticulationSolve* solve) {
	double first = 0.0, worst = 1.0;
	for (int round = 0; round < CORRECTION_ROUNDS && worst > CLOSED; ++round) {
		worst = settleOnce(solve, ROUND_RATES);
		first = round == 0 ? worst : first;
		knJointCorrection_Shift(solve);
	}
	// the last round is judged as well
	knJointCorrection_Judge(solve);
	return first;
}

double knArticulationSolve_Settle(knArticulationSolve* solve) {
	if (solve->phase == KN_ARTICULATION_CORRECTION) {
		return solve->velocitiesOnly ? 0.0 : correct(solve);
	}
	double first = settleOnce(solve, ROUND_RATES);
	for (int i = 0; i < solve->jointCount; ++i) {
		solve->joints[i].recalled = knZero3();
	}
	if (solve->phase == KN_ARTICULATION_DYNAMICS && !solve->velocitiesOnly) {
		weighBodies(solve);
		settleOnce(solve, ROUND_ARCS);
		solve->settled = true;
	}
	return first;
}

double knArticulationSolve_SettleAgain(knArticulationSolve* solve) {
	return solve->settled ? settleOnce(solve, ROUND_AGAIN) : knArticulationSolve_Settle(solve);
}

// Islands with closed loops, over immovable bodies as well.
static bool reserveDirect(knArticulationSolve* solve, knArena* arena) {
	uint8_t* looped = solve->looped = KN_SCRATCH_ZERO(arena, uint8_t, solve->islandCount);
	int* bodies = KN_SCRATCH_ZERO(arena, int, solve->islandCount);
	solve->direct = KN_SCRATCH_ZERO(arena, knJointDirect, 1);
	if (arena->failed) {
		return false;
	}
	for (int b = 0; b < solve->input.model->bodyCount; ++b) {
		if (solve->bodyIsland[b] >= 0) {
			bodies[solve->bodyIsland[b]] += 1;
		}
	}
	for (int k = 0; k < solve->islandCount; ++k) {
		bool hung = false;
		solve->exact[k] = 1;
		for (int n = solve->islandBegin[k]; n < solve->islandBegin[k + 1]; ++n) {
			const knSolveJoint* entry = &solve->joints[solve->islandJoint[n]];
			solve->exact[k] = solve->exact[k] != 0 && entry->boundCount == 0;
			hung = hung || !(solve->invMass[entry->parent] > 0.0) || !(solve->invMass[entry->child] > 0.0);
		}
		looped[k] = solve->islandBegin[k + 1] - solve->islandBegin[k] > (hung ? bodies[k] : bodies[k] - 1);
	}
	if (!knJointDirect_Build(solve->direct, solve, looped, arena)) {
		return false;
	}
	for (int k = 0; k < solve->islandCount; ++k) {
		solve->exact[k] = solve->exact[k] != 0 && knJointDirect_Has(solve->direct, k);
	}
	for (int b = 0; b < solve->input.model->bodyCount; ++b) {
		const int island = solve->bodyIsland[b];
		solve->strung[b] = island >= 0 && solve->jointsOfBody[b] > 1 && solve->pinned[b] == 0 &&
						   knJointDirect_Has(solve->direct, island);
	}
	return true;
}

static void countJoints(knArticulationSolve* solve) {
	for (int i = 0; i < solve->jointCount; ++i) {
		const knSolveJoint* entry = &solve->joints[i];
		solve->jointsOfBody[entry->parent] += 1;
		solve->jointsOfBody[entry->child] += 1;
		solve->pinned[entry->parent] |= !(solve->invMass[entry->child] > 0.0);
		solve->pinned[entry->child] |= !(solve->invMass[entry->parent] > 0.0);
	}
}

bool knArticulationSolve_ReserveSettle(knArticulationSolve* solve, knArena* arena) {
	for (int k = 0; k < 5; ++k) {
		solve->settle[k] = KN_SCRATCH_ZERO(arena, struct knSettleVector, solve->jointCount);
	}
	solve->kinetic = KN_SCRATCH_ZERO(arena, double, solve->input.model->bodyCount);
	solve->jointsOfBody = KN_SCRATCH_ZERO(arena, int, solve->input.model->bodyCount);
	solve->pinned = KN_SCRATCH_ZERO(arena, uint8_t, solve->input.model->bodyCount);
	solve->strung = KN_SCRATCH_ZERO(arena, uint8_t, solve->input.model->bodyCount);
	solve->change = KN_SCRATCH_ZERO(arena, knTwist, solve->input.model->bodyCount);
	if (arena->failed) {
		return false;
	}
	countJoints(solve);
	return reserveDirect(solve, arena) && knPreconditioner_Reserve(solve, arena);
}
