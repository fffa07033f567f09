// All joints of an island at once: the equality part of a phase's problem solved by conjugate gradients, so that chains,
// loops and nets need not wait for sweeps to carry a change from joint to joint (no part of the published method).
//
//   K x = -b,   K = B^T W B,   u <- u + W B x
//
// B are the locked rows of all joints at the poses of the phase, W the inverse masses; b is what is wrong with the
// rates: the velocity itself (arrival), or error/h of the predicted joint frames (dynamics, correction), which is
// not linear in u and taken anew for each of a few rounds. K is never formed: a product is one pass that pushes
// bodies along B x and one that reads the rates. The preconditioner is the joints' own blocks. Over-constrained loops leave K
// singular but b in its range, which conjugate gradients do not mind. An island is one task: sums have one order.
#include "core/dense.h"
#include "core/tasks.h"
#include "steppers/impulse/articulation_internal.h"

#define CLOSED 1e-11        // m or rad: a correction that finds no more is the last
#define CORRECTION_ROUNDS 3 // at most
#define ROUNDS 2            // of the nonlinear phases
#define REACH 300           // iterations of a round at most
#define GOOD 1e-9           // of the first residual
#define QUIET 1e-24         // (m/s)^2 a joint: not worth an iteration

// Impulses and rates along the rows of one joint.
struct knSettleVector {
	double v[KN_BLOCK_ROWS];
};

typedef struct Island {
	knArticulationSolve* solve;
	const int* entries;
	int count;
} Island;

static knJointPair pairOn(const knArticulationSolve* solve, int i, knTwist* velocities) {
	const knJointBlock* block = &solve->blocks[i];
	knJointPair pair = knJointPair_Make(solve, &solve->joints[i], block->rP, block->rC);
	pair.uP = &velocities[solve->joints[i].parent];
	pair.uC = &velocities[solve->joints[i].child];
	return pair;
}

static knTwist wrenchOf(const knJointBlock* block, const double* x) {
	knTwist wrench = knZeroTwist();
	for (int k = 0; k < block->all; ++k) {
		wrench = knMulAddT(wrench, x[k], block->rows[k]);
	}
	return wrench;
}

static double dot(const Island* island, const struct knSettleVector* a, const struct knSettleVector* b) {
	double sum = 0.0;
	for (int n = 0; n < island->count; ++n) {
		const int i = island->entries[n];
		for (int k = 0; k < island->solve->blocks[i].all; ++k) {
			sum += a[i].v[k] * b[i].v[k];
		}
	}
	return sum;
}

// q = K p
static void multiply(const Island* island, const struct knSettleVector* p, struct knSettleVector* q) {
	knArticulationSolve* solve = island->solve;
	for (int n = 0; n < island->count; ++n) {
		const knSolveJoint* entry = &solve->joints[island->entries[n]];
		const int bodies[2] = { entry->parent, entry->child };
		for (int k = 0; k < 2; ++k) {
			if (solve->invMass[bodies[k]] > 0.0) {
				solve->change[bodies[k]] = knZeroTwist();
			}
		}
	}
	for (int n = 0; n < island->count; ++n) {
		const int i = island->entries[n];
		knJointPair pair = pairOn(solve, i, solve->change);
		knJointPair_Push(&pair, wrenchOf(&solve->blocks[i], p[i].v));
	}
	for (int n = 0; n < island->count; ++n) {
		const int i = island->entries[n];
		const knJointBlock* block = &solve->blocks[i];
		knJointPair pair = pairOn(solve, i, solve->change);
		knTwist rate = knJointPair_Rate(&pair);
		for (int k = 0; k < block->all; ++k) {
			q[i].v[k] = knDotT(block->rows[k], rate) + (k < block->count ? 0.0 : block->softness * p[i].v[k]);
		}
	}
}

// z = M^-1 r with the joints' own blocks
static void precondition(const Island* island, const struct knSettleVector* r, struct knSettleVector* z) {
	for (int n = 0; n < island->count; ++n) {
		const int i = island->entries[n];
		const knJointBlock* block = &island->solve->blocks[i];
		z[i] = r[i];
		knDense_SolveLdl(block->all > block->count ? block->whole : block->factor, block->all, z[i].v);
	}
}

// a += s b
static void addScaled(const Island* island, struct knSettleVector* a, double s,
					  const struct knSettleVector* b) {
	for (int n = 0; n < island->count; ++n) {
		const int i = island->entries[n];
		for (int k = 0; k < island->solve->blocks[i].all; ++k) {
			a[i].v[k] += s * b[i].v[k];
		}
	}
}

// Conjugate gradients from x = 0; r holds -b and is used up.
static void solveLinear(const Island* island) {
	knArticulationSolve* solve = island->solve;
	struct knSettleVector *x = solve->settle[0], *r = solve->settle[1], *p = solve->settle[2];
	struct knSettleVector* z = solve->settle[3];
	precondition(island, r, z);
	for (int n = 0; n < island->count; ++n) {
		p[island->entries[n]] = z[island->entries[n]];
	}
	double rz = dot(island, r, z);
	const double goal = GOOD * GOOD * rz;
	for (int k = 0; k < REACH && rz > goal && dot(island, r, r) > QUIET * island->count; ++k) {
		struct knSettleVector* q = z; // the product takes the place of z, which is made anew from r
		multiply(island, p, q);
		double pq = dot(island, p, q);
		if (!(pq > 0.0)) {
			break;
		}
		addScaled(island, x, rz / pq, p);
		addScaled(island, r, -rz / pq, q);
		precondition(island, r, z);
		double next = dot(island, r, z), ratio = next / rz;
		for (int n = 0; n < island->count; ++n) {
			const int i = island->entries[n];
			for (int m = 0; m < solve->blocks[i].all; ++m) {
				p[i].v[m] = z[i].v[m] + ratio * p[i].v[m];
			}
		}
		rz = next;
	}
}

// --- what is wrong ---------------------------------------------------------------------------------------

// World axes of the phase.
static knTwist wrongRate(knArticulationSolve* solve, int i) {
	const knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = knJointBlock_Get(solve, i);
	const knFrame poseP = solve->input.state->pose[entry->parent],
				  poseC = solve->input.state->pose[entry->child];
	if (solve->phase == KN_ARTICULATION_CORRECTION) {
		return knRotateT(block->axes, knSolveJoint_ErrorAt(entry, poseP, poseC));
	}
	if (solve->phase == KN_ARTICULATION_DYNAMICS && !knJointSteady_ByRates(solve, i)) {
		const double h = solve->input.h;
		knFrame endP = knMovePose(poseP, solve->u[entry->parent], h);
		knFrame endC = knMovePose(poseC, solve->u[entry->child], h);
		knTwist change = knSubT(knSolveJoint_ErrorAt(entry, endP, endC), entry->error);
		return knRotateT(block->axes, knScaleT(1.0 / h, change));
	}
	knJointPair pair = knJointPair_Make(solve, entry, block->rP, block->rC);
	knTwist wrong = knJoint_WrongRate(entry->joint, block->J, block->axes, knJointPair_Rate(&pair));
	return solve->phase == KN_ARTICULATION_DYNAMICS ? knAddT(wrong, entry->curve) : wrong;
}

// The right-hand side of one joint; returns its largest component.
static double findWrong(knArticulationSolve* solve, int i) {
	const knSolveJoint* entry = &solve->joints[i];
	if (solve->phase == KN_ARTICULATION_DYNAMICS) {
		knJointSteady_Rows(solve, i);
	}
	const knJointBlock* block = knJointBlock_Get(solve, i);
	knTwist wrong = wrongRate(solve, i);
	double worst = 0.0;
	for (int k = 0; k < block->all; ++k) {
		double b = knDotT(block->rows[k], wrong);
		if (k >= block->count) {
			knVec3 spin = knSub(solve->u[entry->child].ang, solve->u[entry->parent].ang);
			b = knDot(block->rows[k].ang, knMulAdd(spin, block->softness, entry->couple));
		}
		solve->settle[0][i].v[k] = 0.0;
		solve->settle[1][i].v[k] = -b;
		worst = knMax(worst, knAbs(b));
	}
	return worst;
}

static void push(knArticulationSolve* solve, int i) {
	knSolveJoint* entry = &solve->joints[i];
	const knJointBlock* block = &solve->blocks[i];
	const double* x = solve->settle[0][i].v;
	knTwist wrench = wrenchOf(block, x), locked = wrench;
	for (int k = block->count; k < block->all; ++k) {
		entry->couple = knMulAdd(entry->couple, x[k], block->rows[k].ang);
		locked.ang = knMulAdd(locked.ang, -x[k], block->rows[k].ang);
	}
	knJointPair pair = pairOn(solve, i, solve->u);
	knSolveJoint_Push(solve, entry, &pair, wrench, knZero3(), locked);
}

// One round: what was wrong before.
static double settleIsland(const Island* island) {
	knArticulationSolve* solve = island->solve;
	double worst = 0.0;
	for (int n = 0; n < island->count; ++n) {
		worst = knMax(worst, findWrong(solve, island->entries[n]));
	}
	if (worst * worst > QUIET) {
		solveLinear(island);
		for (int n = 0; n < island->count; ++n) {
			push(solve, island->entries[n]);
		}
	}
	for (int n = 0; n < island->count && solve->phase == KN_ARTICULATION_CORRECTION; ++n) {
		if (solve->joints[island->entries[n]].boundCount > 0) {
			knJointBounds_Pass(solve, island->entries[n], false);
		}
	}
	return worst;
}

static void settleIslands(int first, int last, int worker, void* argument) {
	(void)worker;
	knArticulationSolve* solve = argument;
	for (int k = first; k < last; ++k) {
		Island island = { solve, solve->islandJoint + solve->islandBegin[k],
						  solve->islandBegin[k + 1] - solve->islandBegin[k] };
		solve->islandWorst[k] = settleIsland(&island);
	}
}

static double settleOnce(knArticulationSolve* solve) {
	knTasks_For(&solve->input.tasks, solve->islandCount, 1, settleIslands, solve);
	double worst = 0.0;
	for (int k = 0; k < solve->islandCount; ++k) {
		worst = knMax(worst, solve->islandWorst[k]);
	}
	return worst;
}

double knArticulationSolve_Settle(knArticulationSolve* solve) {
	double first = 0.0, worst = 1.0;
	const bool correct = solve->phase == KN_ARTICULATION_CORRECTION;
	const int rounds = correct ? CORRECTION_ROUNDS : (solve->phase == KN_ARTICULATION_DYNAMICS ? ROUNDS : 1);
	for (int round = 0; round < rounds && worst > (correct ? CLOSED : 0.0); ++round) {
		worst = settleOnce(solve);
		first = round == 0 ? worst : first;
		if (correct) {
			knJointCorrection_Shift(solve);
		}
	}
	return first;
}

void knArticulationSolve_ReserveSettle(knArticulationSolve* solve, knArena* arena) {
	for (int k = 0; k < 4; ++k) {
		solve->settle[k] = KN_SCRATCH(arena, struct knSettleVector, solve->jointCount);
	}
	solve->change = KN_SCRATCH_ZERO(arena, knTwist, solve->input.model->bodyCount);
}
