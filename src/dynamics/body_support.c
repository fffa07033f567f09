// One body on immovable supports: a linear complementarity problem in its normal impulses,
//
//   j >= 0,  w + A j >= 0,  j (w + A j) = 0        A_ik = n_i . K_ik n_k,  w = speed of separation - target
//
// solved by block principal pivoting (Judice and Pires 1994): every index that violates its sign changes sides at
// once, and if that does not help for a while, only the last one does, which always ends. Four points or more on a face
// make A singular; a trace of softness shares the load out evenly over them, and more of it where the supports move
// apart from each other.

#include "dynamics/body_support.h"

#include "core/dense.h"

#define LEAST_SOFTNESS 1e-8 // of A's diagonal
#define MOST_SOFTNESS 1e-2
#define DISAGREEMENT 10.0 // softness by spread of speeds over speed to be stopped
#define ROUNDS 60
#define PATIENCE 4 // rounds without progress before single pivots
#define TINY 1e-7  // of the fastest approach and the largest impulse: what the softness leaves of the digits
#define SWEEPS 30  // where pivoting finds no end

// +1 if the body is B, on which impulses are counted.
static double sideOf(const knSupports* supports, int k) {
	return supports->points[k].b == supports->body ? 1.0 : -1.0;
}

static knVec3 armOf(const knSupports* supports, int k) {
	const knSupportPoint* p = &supports->points[k];
	return p->b == supports->body ? p->point->rB : p->point->rA;
}

void knSupports_Push(const knSupports* supports, const knStepBodies* blocks, int k, knVec3 impulse,
					 knTwist* u) {
	knVec3 j = knScale(sideOf(supports, k), impulse);
	u->lin = knMulAdd(u->lin, blocks->invMass[supports->body], j);
	u->ang = knAdd(u->ang, knMulMV(&blocks->invInertia[supports->body], knCross(armOf(supports, k), j)));
}

static void build(knSupports* supports, const knStepBodies* blocks, const knTwist* u) {
	int n = supports->count;
	double invMass = blocks->invMass[supports->body];
	const knMat33* invInertia = &blocks->invInertia[supports->body];
	for (int i = 0; i < n; ++i) {
		const knSupportPoint* at = &supports->points[i];
		const knSweepPoint* p = at->point;
		knVec3 along = supports->along[i] = knScale(sideOf(supports, i), p->n);
		supports->moment[i] = knCross(armOf(supports, i), along);
		knVec3 turned = knMulMV(invInertia, supports->moment[i]);
		supports->w[i] = knDot(p->n, knSupportPoint_Velocity(at, u)) + p->bias;
		for (int k = 0; k <= i; ++k) {
			double a = invMass * knDot(along, supports->along[k]) + knDot(turned, supports->moment[k]);
			supports->A[i * n + k] = supports->A[k * n + i] = a;
		}
	}
}

// Where supports disagree about their speeds, the load must not jump to the highest of them.
static void soften(knSupports* supports) {
	double fastest = 0.0;
	for (int i = 0; i < supports->count; ++i) {
		fastest = knMax(fastest, -supports->w[i]);
	}
	double softness = fastest > 0.0 ? DISAGREEMENT * supports->spread / fastest : 0.0;
	softness = knClamp(softness, LEAST_SOFTNESS, MOST_SOFTNESS);
	for (int i = 0; i < supports->count; ++i) {
		supports->A[i * supports->count + i] *= 1.0 + softness;
	}
}

// Impulses of the free indices, the others zero; false if the factorization fails.
static bool solveFree(knSupports* supports) {
	int n = supports->count, m = 0;
	for (int i = 0; i < n; ++i) {
		supports->j[i] = 0.0;
		if (supports->isFree[i]) {
			supports->free[m++] = i;
		}
	}
	for (int i = 0; i < m; ++i) {
		supports->x[i] = -supports->w[supports->free[i]];
		for (int k = 0; k < m; ++k) {
			supports->factor[i * m + k] = supports->A[supports->free[i] * n + supports->free[k]];
		}
	}
	if (m > 0 && !knDense_FactorLdl(supports->factor, m)) {
		return false;
	}
	if (m > 0) {
		knDense_SolveLdl(supports->factor, m, supports->x);
	}
	for (int i = 0; i < m; ++i) {
		supports->j[supports->free[i]] = supports->x[i];
	}
	return true;
}

static double speedOf(const knSupports* supports, int i) {
	double w = supports->w[i];
	for (int k = 0; k < supports->count; ++k) {
		w += supports->A[i * supports->count + k] * supports->j[k];
	}
	return w;
}

// One round: returns how many indices violated their sign, and changes all of them, or the last.
static int pivot(knSupports* supports, bool single, double speed) {
	bool wrong[KN_SUPPORT_POINTS];
	int count = 0, last = 0;
	double largest = 0.0;
	for (int i = 0; i < supports->count; ++i) {
		largest = knMax(largest, knAbs(supports->j[i]));
	}
	for (int i = 0; i < supports->count; ++i) {
		wrong[i] =
			supports->isFree[i] ? supports->j[i] < -TINY * largest : speedOf(supports, i) < -TINY * speed;
		count += wrong[i];
		last = wrong[i] ? i : last;
	}
	for (int i = 0; i < supports->count && count > 0; ++i) {
		if (wrong[i] && (!single || i == last)) {
			supports->isFree[i] = !supports->isFree[i];
		}
	}
	return count;
}

static bool pivotAll(knSupports* supports) {
	double speed = 0.0;
	for (int i = 0; i < supports->count; ++i) {
		supports->isFree[i] = supports->w[i] < 0.0;
		speed = knMax(speed, -supports->w[i]);
	}
	int fewest = supports->count + 1, patience = PATIENCE;
	for (int round = 0; round < ROUNDS && solveFree(supports); ++round) {
		int wrong = pivot(supports, patience <= 0, speed);
		if (wrong == 0) {
			return true;
		}
		patience = wrong < fewest ? PATIENCE : patience - 1;
		fewest = wrong < fewest ? wrong : fewest;
	}
	return false;
}

void knSupports_Solve(knSupports* supports, const knStepBodies* blocks, const knTwist* u) {
	build(supports, blocks, u);
	soften(supports);
	bool found = pivotAll(supports);
	for (int i = 0; i < supports->count; ++i) {
		supports->j[i] = found && supports->j[i] > 0.0 ? supports->j[i] : 0.0;
	}
	for (int sweep = 0; !found && sweep < SWEEPS; ++sweep) {
		for (int i = 0; i < supports->count; ++i) {
			double j = supports->j[i] - speedOf(supports, i) / supports->A[i * supports->count + i];
			supports->j[i] = j > 0.0 ? j : 0.0;
		}
	}
}
