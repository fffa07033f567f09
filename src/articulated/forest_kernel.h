// Elimination over the forest (forest.h): the inner loops, built once for every machine (forest_system.c) and once for those
// with AVX2 (forest_avx.c). Both give the same bits.
//
//   from the leaves   W = R^T A + G,  U = A S,  D = W S + B         A, U, W seen from the parent:
//                     to the parent: A - U D^-1 W, and what its turning does to the mean arm under the pull
//   from the leaves   x = D^-1 (tau - R . P);  to the parent: P + U x
//   from the roots    y = x - D^-1 W dX_p,  dX = shift(dX_p) + S y
#pragma once

#include "articulated/coupled_kernel.h"

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
