// Elimination over the forest (forest.h): the inner loops, built once for every machine (forest_system.c) and once for those
// with AVX2 (forest_avx.c). Both give the same bits.
//
//   from the leaves   W = R^T A + G,  U = A S,  D = W S + B         A, U, W seen from the parent:
//                     to the parent: A - U D^-1 W, and what its turning does to the mean arm under the pull
//   from the leaves   x = D^-1 (tau - R . P);  to the parent: P + U x
//   from the roots    y = x - D^-1 W dX_p,  dX = shift(dX_p) + S y
#pragma once

#include "articulated/forest.h"
#include "core/dense.h"

#include <string.h>

typedef struct knForestKernel {
	bool (*factor)(knForestSystem* system);
	void (*solve)(const knForestSystem* system, const knTreeForce* push, const double* tau, double* y,
				  knTreeMotion* motions);
} knForestKernel;

#if defined(KN_AVX_KERNEL)
extern const knForestKernel knForestKernelAvx;
#endif

// --- elimination -----------------------------------------------------------------------------------------

// M [r] by columns.
KN_LANES_INLINE knLanes33 timesSkew(const knLanes33* M, knLanes r) {
	knLanes rx = knLanes_X(r), ry = knLanes_Y(r), rz = knLanes_Z(r);
	return (knLanes33){ M->y * rz - M->z * ry, M->z * rx - M->x * rz, M->x * ry - M->y * rx };
}

KN_LANES_INLINE void addCrossed(knLanes33* a, knLanes r, const knLanes33* b) {
	a->x += knLanes_Cross(r, b->x);
	a->y += knLanes_Cross(r, b->y);
	a->z += knLanes_Cross(r, b->z);
}

KN_LANES_INLINE void subtractMat(knLanes33* a, const knLanes33* b) {
	a->x -= b->x;
	a->y -= b->y;
	a->z -= b->z;
}

// v M as a vector.
KN_LANES_INLINE knLanes rowTimes(knLanes v, const knLanes33* M) {
	knLanes33 t = knLanes_Transpose(M);
	return knLanes_Mul(&t, v);
}

KN_LANES_INLINE void removeOuter(knLanes33* M, knLanes u, knLanes w) {
	M->x -= u * knLanes_X(w);
	M->y -= u * knLanes_Y(w);
	M->z -= u * knLanes_Z(w);
}

KN_LANES_INLINE double power(const knTreeMotion* w, const knTreeMotion* s) {
	return knLanes_Dot(w->ang, s->ang) + knLanes_Dot(w->lin, s->lin);
}

KN_LANES_INLINE knTreeForce timesColumn(const knForestBlock* A, const knTreeMotion* S) {
	return (knTreeForce){ knLanes_Mul(&A->aa, S->ang) + knLanes_Mul(&A->al, S->lin),
						  knLanes_Mul(&A->la, S->ang) + knLanes_Mul(&A->ll, S->lin) };
}

KN_LANES_INLINE knTreeMotion rowOf(const knTreeForce* R, const knForestBlock* A) {
	return (knTreeMotion){ rowTimes(R->n, &A->aa) + rowTimes(R->f, &A->la),
						   rowTimes(R->n, &A->al) + rowTimes(R->f, &A->ll) };
}

// A matrix of up to 6 x 6 in place; false if it is singular.
static bool invert(double* D, int n) {
	double factors[KN_JOINT_MAX_V * KN_JOINT_MAX_V];
	int pivots[KN_JOINT_MAX_V];
	memcpy(factors, D, (size_t)(n * n) * sizeof(double));
	if (!knDense_FactorLu(factors, n, pivots)) {
		return false;
	}
	for (int c = 0; c < n; ++c) {
		double unit[KN_JOINT_MAX_V] = { 0.0 };
		unit[c] = 1.0;
		knDense_SolveLu(factors, n, pivots, unit);
		for (int r = 0; r < n; ++r) {
			D[r * n + c] = unit[r];
		}
	}
	return true;
}

// U and W of a link's columns at its own centre, and the inverse of D.
static bool eliminate(knForestSystem* system, int i) {
	const knForestLink* link = &system->forest->links[i];
	const knForestBlock* A = &system->block[i];
	int n = link->nv, first = link->vOffset;
	for (int k = first; k < first + n; ++k) {
		system->U[k] = timesColumn(A, &system->S[k]);
		system->W[k] = rowOf(&system->R[k], A);
		if (system->G != NULL) {
			system->W[k].ang += system->G[k];
		}
	}
	double* D = &system->D[link->bOffset];
	for (int k = 0; k < n; ++k) {
		for (int l = 0; l < n; ++l) {
			double own = system->B != NULL ? system->B[link->bOffset + k * n + l] : 0.0;
			D[k * n + l] = own + power(&system->W[first + k], &system->S[first + l]);
		}
	}
	if (n == 1) {
		bool sound = D[0] != 0.0 && knIsFinite(D[0]);
		D[0] = 1.0 / D[0];
		return sound;
	}
	return n == 0 || invert(D, n);
}

static void solveJoint(const knForestSystem* system, const knForestLink* link, double* x) {
	const double* D = &system->D[link->bOffset];
	int n = link->nv;
	if (n == 1) {
		x[0] *= D[0];
		return;
	}
	double b[KN_JOINT_MAX_V];
	for (int k = 0; k < n; ++k) {
		b[k] = x[k];
	}
	for (int k = 0; k < n; ++k) {
		x[k] = 0.0;
		for (int l = 0; l < n; ++l) {
			x[k] += D[k * n + l] * b[l];
		}
	}
}

// Columns of a block over the motion of a link's parent instead of the link's own.
KN_LANES_INLINE void seenFromParent(knForestBlock* A, knLanes end) {
	knLanes33 shifted = timesSkew(&A->al, end);
	subtractMat(&A->aa, &shifted);
	shifted = timesSkew(&A->ll, end);
	subtractMat(&A->la, &shifted);
}

// Rows of a block as forces at the parent's centre.
KN_LANES_INLINE void givenToParent(knForestBlock* A, knLanes mean) {
	addCrossed(&A->aa, mean, &A->la);
	addCrossed(&A->al, mean, &A->ll);
}

KN_LANES_INLINE void addBlock(knForestBlock* to, const knForestBlock* A) {
	knLanes_AddMat(&to->aa, &A->aa);
	knLanes_AddMat(&to->al, &A->al);
	knLanes_AddMat(&to->la, &A->la);
	knLanes_AddMat(&to->ll, &A->ll);
}

KN_LANES_INLINE void removeProduct(knForestBlock* A, const knTreeForce* u, const knTreeMotion* w) {
	removeOuter(&A->aa, u->n, w->ang);
	removeOuter(&A->al, u->n, w->lin);
	removeOuter(&A->la, u->f, w->ang);
	removeOuter(&A->ll, u->f, w->lin);
}

// u D^-1, u the n forces of a link's columns.
static void timesInverse(const knForestSystem* system, int i, const knTreeForce* u, knTreeForce* out) {
	const knForestLink* link = &system->forest->links[i];
	const double* D = &system->D[link->bOffset];
	for (int l = 0; l < link->nv; ++l) {
		out[l] = (knTreeForce){ knLanes_All(0.0), knLanes_All(0.0) };
		for (int k = 0; k < link->nv; ++k) {
			out[l].n += u[k].n * D[k * link->nv + l];
			out[l].f += u[k].f * D[k * link->nv + l];
		}
	}
}

// What a link leaves to its parent's block. `with`: of its coupling to that parent; NULL: none.
static void leaveShare(knForestSystem* system, int i, const knForestPair* with) {
	const knForestLink* link = &system->forest->links[i];
	knForestBlock A = system->block[i], *P = &system->block[link->parent];
	knLanes end = system->end[i], mean = system->mean[i];
	int n = link->nv, first = link->vOffset;
	for (int k = first; k < first + n; ++k) {
		knTreeForce* U = &system->U[k];
		U->n += knLanes_Cross(mean, U->f);
		if (system->pull != NULL) {
			// half of the joint's own displacement moves the mean arm
			U->n += 0.5 * knLanes_Cross(system->S[k].lin, system->pull[i]);
		}
		system->W[k].ang += knLanes_Cross(end, system->W[k].lin);
	}
	seenFromParent(&A, end);
	givenToParent(&A, mean);
	if (with != NULL) {
		bool second = with->link[0] != i;
		knForestBlock own = with->block[second], other = with->block[!second]; // over p's motion, over i's
		for (int k = first; k < first + n; ++k) {
			knTreeForce u = timesColumn(&other, &system->S[k]);
			knTreeMotion w = rowOf(&system->R[k], &own);
			system->U[k].n += u.n, system->U[k].f += u.f;
			system->W[k].ang += w.ang, system->W[k].lin += w.lin;
		}
		givenToParent(&own, mean);
		seenFromParent(&other, end);
		addBlock(&A, &own);
		addBlock(&A, &other);
	}
	knTreeForce u[KN_JOINT_MAX_V];
	timesInverse(system, i, &system->U[first], u);
	for (int l = 0; l < n; ++l) {
		removeProduct(&A, &u[l], &system->W[first + l]);
	}
	addBlock(P, &A);
	if (system->pull != NULL) {
		// half of (turn x end arm) x pull = half of [pull][end] turn
		knVec3 f = knLanes_ToVec(system->pull[i]), r = knLanes_ToVec(end);
		knMat33 a = knSkew(f), b = knSkew(r), ab = knMulMM(&a, &b);
		ab = knScaleM(0.5, &ab);
		knLanes33 add = knLanes_FromMat(&ab);
		knLanes_AddMat(&P->aa, &add);
	}
}

#include "articulated/coupled_kernel.h"

static bool factorSystem(knForestSystem* system) {
	if (system->couplings != NULL && system->couplings->rowPairs > 0) {
		return factorCoupled(system);
	}
	bool sound = true;
	for (int i = system->forest->count - 1; i >= 0; --i) {
		sound = eliminate(system, i) && sound;
		if (system->forest->links[i].parent >= 0) {
			leaveShare(system, i, NULL);
		}
	}
	return sound;
}

// --- solution --------------------------------------------------------------------------------------------

// x of link i from what is gathered there, and what it leaves to its parent.
static void solveInwards(const knForestSystem* system, int i, const double* tau, double* y) {
	const knForestLink* link = &system->forest->links[i];
	knTreeForce* P = system->gathered;
	double* x = y + link->vOffset;
	for (int k = 0; k < link->nv; ++k) {
		const knTreeForce* R = &system->R[link->vOffset + k];
		x[k] = (tau != NULL ? tau[link->vOffset + k] : 0.0) - knLanes_Dot(R->n, P[i].n) -
			   knLanes_Dot(R->f, P[i].f);
	}
	solveJoint(system, link, x);
	if (link->parent >= 0) {
		knTreeForce* parent = &P[link->parent];
		parent->n += P[i].n + knLanes_Cross(system->mean[i], P[i].f);
		parent->f += P[i].f;
		for (int k = 0; k < link->nv; ++k) {
			parent->n += system->U[link->vOffset + k].n * x[k];
			parent->f += system->U[link->vOffset + k].f * x[k];
		}
	}
}

// y and the motion of link i after its parent's; `change` [nv]: what links coupled to it ask for.
static void solveOutwards(const knForestSystem* system, int i, double* change, double* y,
						  knTreeMotion* motions) {
	const knForestLink* link = &system->forest->links[i];
	knTreeMotion motion = { knLanes_All(0.0), knLanes_All(0.0) };
	double* own = y + link->vOffset;
	if (link->parent >= 0) {
		const knTreeMotion* parent = &motions[link->parent];
		for (int k = 0; k < link->nv; ++k) {
			change[k] += power(&system->W[link->vOffset + k], parent);
		}
		motion = knTreeMotion_Shift(parent, system->end[i]);
	}
	solveJoint(system, link, change);
	for (int k = 0; k < link->nv; ++k) {
		own[k] -= change[k];
		const knTreeMotion* S = &system->S[link->vOffset + k];
		motion.ang += S->ang * own[k];
		motion.lin += S->lin * own[k];
	}
	motions[i] = motion;
}

static void solveCoupled(const knForestSystem* system, const double* tau, double* y, knTreeMotion* motions) {
	const knForestCouplings* couplings = system->couplings;
	int count = system->forest->count;
	for (int step = 0; step < count; ++step) {
		int i = couplings->order[step];
		int v = system->forest->links[i].vOffset, n = system->forest->links[i].nv;
		solveInwards(system, i, tau, y);
		const knForestEnd* end = &couplings->ends[couplings->firstNumber[step]];
		for (int a = couplings->firstEnd[step]; a < couplings->firstEnd[step + 1]; ++a) {
			knTreeForce* P = &system->gathered[couplings->endLink[a]];
			for (int k = 0; k < n; ++k, ++end) {
				P->n += end->u.n * y[v + k];
				P->f += end->u.f * y[v + k];
			}
		}
	}
	for (int step = count - 1; step >= 0; --step) {
		int i = couplings->order[step], n = system->forest->links[i].nv;
		double change[KN_JOINT_MAX_V] = { 0.0 };
		const knForestEnd* end = &couplings->ends[couplings->firstNumber[step]];
		for (int a = couplings->firstEnd[step]; a < couplings->firstEnd[step + 1]; ++a) {
			for (int k = 0; k < n; ++k, ++end) {
				change[k] += power(&end->w, &motions[couplings->endLink[a]]);
			}
		}
		solveOutwards(system, i, change, y, motions);
	}
}

static void solveSystem(const knForestSystem* system, const knTreeForce* push, const double* tau, double* y,
						knTreeMotion* motions) {
	const knForest* forest = system->forest;
	knTreeForce* P = system->gathered;
	for (int i = 0; i < forest->count; ++i) {
		P[i] = push != NULL ? (knTreeForce){ -push[i].n, -push[i].f }
							: (knTreeForce){ knLanes_All(0.0), knLanes_All(0.0) };
	}
	if (system->couplings != NULL && system->couplings->rowPairs > 0) {
		solveCoupled(system, tau, y, motions);
		return;
	}
	for (int i = forest->count - 1; i >= 0; --i) {
		solveInwards(system, i, tau, y);
	}
	for (int i = 0; i < forest->count; ++i) {
		double change[KN_JOINT_MAX_V] = { 0.0 };
		solveOutwards(system, i, change, y, motions);
	}
}
