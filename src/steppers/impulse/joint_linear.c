// The linear problem of settling: conjugate gradients over the rows of an island.
//
//   K x = -b,   K = B^T W B + softness
//
// K is never formed: a product is one pass that pushes bodies along B x and one that reads the rates. Preconditioned by
// an incomplete factorisation (joint_precondition.c). Over-constrained loops leave K singular but b in its range, which
// conjugate gradients do not mind. An island is one task: sums have one order.
#include "steppers/impulse/articulation_internal.h"

#define QUIET 1e-24 // (m/s)^2 a joint: not worth an iteration

knJointPair knSettle_PairOn(const knArticulationSolve* solve, int i, knTwist* velocities) {
	const knJointBlock* block = &solve->blocks[i];
	knJointPair pair = knJointPair_Make(solve, &solve->joints[i], block->rP, block->rC);
	pair.uP = &velocities[solve->joints[i].parent];
	pair.uC = &velocities[solve->joints[i].child];
	return pair;
}

knTwist knSettle_WrenchOf(const knJointBlock* block, const double* x) {
	knTwist wrench = knZeroTwist();
	for (int k = 0; k < block->all; ++k) {
		wrench = knMulAddT(wrench, x[k], block->rows[k]);
	}
	return wrench;
}

double knSettle_Dot(const knSettleIsland* island, const struct knSettleVector* a,
					const struct knSettleVector* b) {
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
void knSettle_Multiply(const knSettleIsland* island, const struct knSettleVector* p,
					   struct knSettleVector* q) {
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
		knJointPair pair = knSettle_PairOn(solve, i, solve->change);
		knJointPair_Push(&pair, knSettle_WrenchOf(&solve->blocks[i], p[i].v));
	}
	for (int n = 0; n < island->count; ++n) {
		const int i = island->entries[n];
		const knJointBlock* block = &solve->blocks[i];
		knJointPair pair = knSettle_PairOn(solve, i, solve->change);
		knTwist rate = knJointPair_Rate(&pair);
		for (int k = 0; k < block->all; ++k) {
			q[i].v[k] = knDotT(block->rows[k], rate) + block->softness[k] * p[i].v[k];
		}
	}
}

// z = M^-1 r
static void precondition(const knSettleIsland* island, const struct knSettleVector* r,
						 struct knSettleVector* z) {
	for (int n = 0; n < island->count; ++n) {
		z[island->entries[n]] = r[island->entries[n]];
	}
	knPreconditioner_Solve(island->solve, island->begin, island->begin + island->count, z);
}

// a += s b
static void addScaled(const knSettleIsland* island, struct knSettleVector* a, double s,
					  const struct knSettleVector* b) {
	for (int n = 0; n < island->count; ++n) {
		const int i = island->entries[n];
		for (int k = 0; k < island->solve->blocks[i].all; ++k) {
			a[i].v[k] += s * b[i].v[k];
		}
	}
}

// Conjugate gradients from x = 0; r holds -b and is used up. On trees the preconditioner is the answer.
void knSettle_SolveLinear(const knSettleIsland* island, int reach, double good) {
	knArticulationSolve* solve = island->solve;
	struct knSettleVector *x = solve->settle[0], *r = solve->settle[1], *p = solve->settle[2];
	struct knSettleVector* z = solve->settle[3];
	precondition(island, r, z);
	const bool exact = knPreconditioner_IsExact(solve, island->index);
	for (int n = 0; n < island->count; ++n) {
		(exact ? x : p)[island->entries[n]] = z[island->entries[n]];
	}
	if (exact) {
		return;
	}
	double rz = knSettle_Dot(island, r, z);
	const double goal = good * good * rz;
	for (int k = 0; k < reach && rz > goal && knSettle_Dot(island, r, r) > QUIET * island->count; ++k) {
		struct knSettleVector* q = z; // the product takes the place of z, which is made anew from r
		knSettle_Multiply(island, p, q);
		double pq = knSettle_Dot(island, p, q);
		if (!(pq > 0.0)) {
			break;
		}
		addScaled(island, x, rz / pq, p);
		addScaled(island, r, -rz / pq, q);
		precondition(island, r, z);
		double next = knSettle_Dot(island, r, z), ratio = next / rz;
		for (int n = 0; n < island->count; ++n) {
			const int i = island->entries[n];
			for (int m = 0; m < solve->blocks[i].all; ++m) {
				p[i].v[m] = z[i].v[m] + ratio * p[i].v[m];
			}
		}
		rz = next;
	}
}
