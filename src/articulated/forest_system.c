// Elimination over the forest (forest.h).
//
//   from the leaves   W = R^T A + G,  U = A S,  D = W S + B         A, U, W seen from the parent:
//                     to the parent: A - U D^-1 W, and what its turning does to the mean arm under the pull
//   from the leaves   x = D^-1 (tau - R . P);  to the parent: P + U x
//   from the roots    y = x - D^-1 W dX_p,  dX = shift(dX_p) + S y
#include "articulated/forest.h"

#include "core/dense.h"

bool knForestSystem_Make(knForestSystem* system, const knForest* forest, knArena* arena) {
	*system = (knForestSystem){ .forest = forest };
	system->block = KN_SCRATCH(arena, knForestBlock, forest->count);
	system->U = KN_SCRATCH(arena, knTreeForce, forest->nv);
	system->W = KN_SCRATCH(arena, knTreeMotion, forest->nv);
	system->D = KN_SCRATCH(arena, double, forest->bCount);
	system->pivots = KN_SCRATCH(arena, int, forest->nv);
	system->gathered = KN_SCRATCH(arena, knTreeForce, forest->count);
	return !arena->failed;
}

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

static double power(const knTreeMotion* w, const knTreeMotion* s) {
	return knLanes_Dot(w->ang, s->ang) + knLanes_Dot(w->lin, s->lin);
}

// U and W of a link's columns at its own centre, and D with its factors.
static bool eliminate(knForestSystem* system, int i) {
	const knForestLink* link = &system->forest->links[i];
	const knForestBlock* A = &system->block[i];
	int n = link->nv, first = link->vOffset;
	for (int k = first; k < first + n; ++k) {
		const knTreeMotion* S = &system->S[k];
		const knTreeForce* R = &system->R[k];
		system->U[k] = (knTreeForce){ knLanes_Mul(&A->aa, S->ang) + knLanes_Mul(&A->al, S->lin),
									  knLanes_Mul(&A->la, S->ang) + knLanes_Mul(&A->ll, S->lin) };
		system->W[k] = (knTreeMotion){ rowTimes(R->n, &A->aa) + rowTimes(R->f, &A->la),
									   rowTimes(R->n, &A->al) + rowTimes(R->f, &A->ll) };
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
	return n == 0 || knDense_FactorLu(D, n, &system->pivots[first]);
}

static void solveJoint(const knForestSystem* system, const knForestLink* link, double* x) {
	if (link->nv == 1) {
		x[0] *= system->D[link->bOffset];
	} else if (link->nv > 1) {
		knDense_SolveLu(&system->D[link->bOffset], link->nv, &system->pivots[link->vOffset], x);
	}
}

// What a link leaves to its parent's block.
static void leaveShare(knForestSystem* system, int i) {
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
	// columns to the parent's motion, then rows to its centre
	knLanes33 shifted = timesSkew(&A.al, end);
	subtractMat(&A.aa, &shifted);
	shifted = timesSkew(&A.ll, end);
	subtractMat(&A.la, &shifted);
	addCrossed(&A.aa, mean, &A.la);
	addCrossed(&A.al, mean, &A.ll);
	for (int l = 0; l < n; ++l) {
		double column[KN_JOINT_MAX_V] = { 0.0 };
		column[l] = 1.0;
		solveJoint(system, link, column); // a column of D^-1
		knTreeForce sum = { knLanes_All(0.0), knLanes_All(0.0) };
		for (int k = 0; k < n; ++k) {
			sum.n += system->U[first + k].n * column[k];
			sum.f += system->U[first + k].f * column[k];
		}
		const knTreeMotion* W = &system->W[first + l];
		removeOuter(&A.aa, sum.n, W->ang);
		removeOuter(&A.al, sum.n, W->lin);
		removeOuter(&A.la, sum.f, W->ang);
		removeOuter(&A.ll, sum.f, W->lin);
	}
	knLanes_AddMat(&P->aa, &A.aa);
	knLanes_AddMat(&P->al, &A.al);
	knLanes_AddMat(&P->la, &A.la);
	knLanes_AddMat(&P->ll, &A.ll);
	if (system->pull != NULL) {
		// half of (turn x end arm) x pull = half of [pull][end] turn
		knVec3 f = knLanes_ToVec(system->pull[i]), r = knLanes_ToVec(end);
		knMat33 a = knSkew(f), b = knSkew(r), ab = knMulMM(&a, &b);
		ab = knScaleM(0.5, &ab);
		knLanes33 add = knLanes_FromMat(&ab);
		knLanes_AddMat(&P->aa, &add);
	}
}

bool knForestSystem_Factor(knForestSystem* system) {
	bool sound = true;
	for (int i = system->forest->count - 1; i >= 0; --i) {
		sound = eliminate(system, i) && sound;
		if (system->forest->links[i].parent >= 0) {
			leaveShare(system, i);
		}
	}
	return sound;
}

void knForestSystem_Solve(const knForestSystem* system, const knTreeForce* push, const double* tau, double* y,
						  knTreeMotion* motions) {
	const knForest* forest = system->forest;
	knTreeForce* P = system->gathered;
	for (int i = 0; i < forest->count; ++i) {
		P[i] = push != NULL ? (knTreeForce){ -push[i].n, -push[i].f }
							: (knTreeForce){ knLanes_All(0.0), knLanes_All(0.0) };
	}
	for (int i = forest->count - 1; i >= 0; --i) {
		const knForestLink* link = &forest->links[i];
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
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		knTreeMotion motion = { knLanes_All(0.0), knLanes_All(0.0) };
		double* own = y + link->vOffset;
		if (link->parent >= 0) {
			const knTreeMotion* parent = &motions[link->parent];
			double change[KN_JOINT_MAX_V];
			for (int k = 0; k < link->nv; ++k) {
				change[k] = power(&system->W[link->vOffset + k], parent);
			}
			solveJoint(system, link, change);
			for (int k = 0; k < link->nv; ++k) {
				own[k] -= change[k];
			}
			motion = knTreeMotion_Shift(parent, system->end[i]);
		}
		for (int k = 0; k < link->nv; ++k) {
			const knTreeMotion* S = &system->S[link->vOffset + k];
			motion.ang += S->ang * own[k];
			motion.lin += S->lin * own[k];
		}
		motions[i] = motion;
	}
}

// --- mobilities ------------------------------------------------------------------------------------------

// The link's own motion after its parent's: (1 - S D^-1 W) shift.
static knTreeMotion follow(const knForestSystem* system, int i, const knTreeMotion* parent) {
	const knForestLink* link = &system->forest->links[i];
	double change[KN_JOINT_MAX_V];
	for (int k = 0; k < link->nv; ++k) {
		change[k] = power(&system->W[link->vOffset + k], parent);
	}
	solveJoint(system, link, change);
	knTreeMotion motion = knTreeMotion_Shift(parent, system->end[i]);
	for (int k = 0; k < link->nv; ++k) {
		motion.ang -= system->S[link->vOffset + k].ang * change[k];
		motion.lin -= system->S[link->vOffset + k].lin * change[k];
	}
	return motion;
}

static void toNumbers(const knTreeMotion* motion, double* numbers) {
	for (int k = 0; k < 3; ++k) {
		numbers[k] = motion->ang[k];
		numbers[3 + k] = motion->lin[k];
	}
}

// M_i = Y M_p Y^T + S D^-1 S^T, Y the 6 x 6 of `follow`.
void knForestSystem_Mobilities(const knForestSystem* system, double* mobilities) {
	for (int i = 0; i < system->forest->count; ++i) {
		const knForestLink* link = &system->forest->links[i];
		double* M = mobilities + 36 * i;
		for (int k = 0; k < 36; ++k) {
			M[k] = 0.0;
		}
		if (link->parent >= 0) {
			const double* P = mobilities + 36 * link->parent;
			double half[36]; // rows: Y times the columns of P
			for (int c = 0; c < 6; ++c) {
				knTreeMotion column = { knLanes_Make(P[c], P[6 + c], P[12 + c]),
										knLanes_Make(P[18 + c], P[24 + c], P[30 + c]) };
				column = follow(system, i, &column);
				toNumbers(&column, half + 6 * c);
			}
			for (int r = 0; r < 6; ++r) {
				// P is symmetric: half holds (Y P)^T, and Y (Y P)^T is wanted
				knTreeMotion column = { knLanes_Make(half[r], half[6 + r], half[12 + r]),
										knLanes_Make(half[18 + r], half[24 + r], half[30 + r]) };
				column = follow(system, i, &column);
				toNumbers(&column, M + 6 * r);
			}
		}
		for (int l = 0; l < link->nv; ++l) {
			double unit[KN_JOINT_MAX_V] = { 0.0 }, S[6], sum[6] = { 0.0 };
			unit[l] = 1.0;
			solveJoint(system, link, unit);
			for (int k = 0; k < link->nv; ++k) {
				double column[6];
				toNumbers(&system->S[link->vOffset + k], column);
				for (int r = 0; r < 6; ++r) {
					sum[r] += unit[k] * column[r];
				}
			}
			toNumbers(&system->S[link->vOffset + l], S);
			for (int r = 0; r < 6; ++r) {
				for (int c = 0; c < 6; ++c) {
					M[6 * r + c] += sum[r] * S[c];
				}
			}
		}
	}
}
