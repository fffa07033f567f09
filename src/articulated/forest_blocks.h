// What elimination over the forest (forest.h) does with one link: blocks seen from the parent, columns, and what is left to
// the parent. Part of forest_kernel.h, for trees alone, and of coupled_kernel.h, for trees that are coupled.
#pragma once

#include "articulated/forest.h"
#include "core/dense.h"

#include <string.h>

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
static inline bool invert(double* D, int n) {
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
static inline bool eliminate(knForestSystem* system, int i) {
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

static inline void solveJoint(const knForestSystem* system, const knForestLink* link, double* x) {
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
static inline void timesInverse(const knForestSystem* system, int i, const knTreeForce* u, knTreeForce* out) {
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
static inline void leaveShare(knForestSystem* system, int i, const knForestPair* with) {
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
