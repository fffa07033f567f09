// Elimination over the forest (forest.h): the inner loops, built once for every machine (forest_system.c) and once for those
// with AVX2 (forest_avx.c). Both give the same bits.
//
//   from the leaves   W = R^T A + G,  U = A S,  D = W S + B         A, U, W seen from the parent:
//                     to the parent: A - U D^-1 W, and what its turning does to the mean arm under the pull
//   from the leaves   x = D^-1 (tau - R . P);  to the parent: P + U x
//   from the roots    y = x - D^-1 W dX_p,  dX = shift(dX_p) + S y
//
// Blocks C between two links outside the trees (couplings) go the same way. Where link i is eliminated, with w = R^T C_ij and
// u = C_ji S for every link j that is coupled to it, its couplings become those of its parent and of the j's among each other:
//
//   C_pj = shift(C_ij) - U D^-1 w_j,  C_jp = C_ji shift - u_j D^-1 W,  C_jk -= u_j D^-1 w_k          (C_jj: A_j)
//
// A link goes after its children, of those that may go the least coupled one first.
#pragma once

#include "articulated/forest.h"
#include "core/dense.h"

#include <string.h>

#define NONE (-1)

typedef struct knForestKernel {
	bool (*factor)(knForestSystem* system);
	void (*solve)(const knForestSystem* system, const knTreeForce* push, const double* tau, double* y,
				  knTreeMotion* motions);
} knForestKernel;

#if defined(KN_AVX_KERNEL)
extern const knForestKernel knForestKernelAvx;
#endif

// --- pairs -----------------------------------------------------------------------------------------------

// The next pair of link i after this one.
static int nextPair(const knForestSystem* system, int pair, int i) {
	return system->pairs[pair].next[system->pairs[pair].link[0] == i ? 0 : 1];
}

static int otherLink(const knForestPair* pair, int i) {
	return pair->link[pair->link[0] == i ? 1 : 0];
}

static bool growPairs(knForestSystem* system) {
	knForestPair* more = KN_SCRATCH(system->arena, knForestPair, 2 * system->pairCapacity);
	if (more == NULL) {
		return false;
	}
	memcpy(more, system->pairs, (size_t)system->pairCount * sizeof(*more));
	system->pairs = more;
	system->pairCapacity *= 2;
	return true;
}

static int addPair(knForestSystem* system, int a, int b) {
	if (system->pairCount == system->pairCapacity && !growPairs(system)) {
		return NONE;
	}
	static const knForestBlock empty;
	int index = system->pairCount++;
	knForestPair* pair = &system->pairs[index];
	pair->link[0] = a, pair->link[1] = b;
	pair->next[0] = system->firstPair[a], pair->next[1] = system->firstPair[b];
	pair->block[0] = pair->block[1] = empty;
	system->firstPair[a] = system->firstPair[b] = index;
	system->degree[a] += 1;
	system->degree[b] += 1;
	return index;
}

static bool isEliminated(const knForestSystem* system, int i) {
	return system->degree[i] < 0;
}

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

static double power(const knTreeMotion* w, const knTreeMotion* s) {
	return knLanes_Dot(w->ang, s->ang) + knLanes_Dot(w->lin, s->lin);
}

static knTreeForce timesColumn(const knForestBlock* A, const knTreeMotion* S) {
	return (knTreeForce){ knLanes_Mul(&A->aa, S->ang) + knLanes_Mul(&A->al, S->lin),
						  knLanes_Mul(&A->la, S->ang) + knLanes_Mul(&A->ll, S->lin) };
}

static knTreeMotion rowOf(const knTreeForce* R, const knForestBlock* A) {
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
static void seenFromParent(knForestBlock* A, knLanes end) {
	knLanes33 shifted = timesSkew(&A->al, end);
	subtractMat(&A->aa, &shifted);
	shifted = timesSkew(&A->ll, end);
	subtractMat(&A->la, &shifted);
}

// Rows of a block as forces at the parent's centre.
static void givenToParent(knForestBlock* A, knLanes mean) {
	addCrossed(&A->aa, mean, &A->la);
	addCrossed(&A->al, mean, &A->ll);
}

static void addBlock(knForestBlock* to, const knForestBlock* A) {
	knLanes_AddMat(&to->aa, &A->aa);
	knLanes_AddMat(&to->al, &A->al);
	knLanes_AddMat(&to->la, &A->la);
	knLanes_AddMat(&to->ll, &A->ll);
}

static void removeProduct(knForestBlock* A, const knTreeForce* u, const knTreeMotion* w) {
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

// --- elimination with couplings --------------------------------------------------------------------------

// The ends of a link's couplings at its elimination: kept for solutions. False: no memory.
static bool listEnds(knForestSystem* system, int i, int* firstEnd, int* endCount) {
	const knForestLink* link = &system->forest->links[i];
	int need = system->degree[i] * link->nv;
	if (*firstEnd + need > system->endCapacity) {
		int capacity = 2 * (system->endCapacity + need);
		knForestEnd* more = KN_SCRATCH(system->arena, knForestEnd, capacity);
		if (more == NULL) {
			return false;
		}
		memcpy(more, system->ends, (size_t)*firstEnd * sizeof(*more));
		system->ends = more;
		system->endCapacity = capacity;
	}
	int count = 0;
	for (int p = system->firstPair[i]; p != NONE; p = nextPair(system, p, i)) {
		const knForestPair* pair = &system->pairs[p];
		int j = otherLink(pair, i);
		if (isEliminated(system, j) || j == link->parent) {
			continue;
		}
		bool second = pair->link[0] != i;
		for (int k = 0; k < link->nv; ++k) {
			knForestEnd* end = &system->ends[*firstEnd + count * link->nv + k];
			end->link = j;
			end->u = timesColumn(&pair->block[!second], &system->S[link->vOffset + k]);
			end->w = rowOf(&system->R[link->vOffset + k], &pair->block[second]);
		}
		count += 1;
	}
	*endCount = count;
	return true;
}

// The pairs of link j by the other link, in `found`; those with links that are gone are forgotten.
static void markPairs(knForestSystem* system, int j, bool on) {
	int* last = &system->firstPair[j];
	for (int p = *last; p != NONE; p = *last) {
		knForestPair* pair = &system->pairs[p];
		int other = otherLink(pair, j);
		if (isEliminated(system, other)) {
			*last = nextPair(system, p, j);
			continue;
		}
		system->found[other] = on ? p : NONE;
		last = &pair->next[pair->link[0] == j ? 0 : 1];
	}
}

// The block of j's force over k's motion; pairs of j are marked. NULL: no memory.
static knForestBlock* blockBetween(knForestSystem* system, int j, int k) {
	if (j == k) {
		return &system->block[j];
	}
	if (system->found[k] == NONE) {
		system->found[k] = addPair(system, j, k);
		if (system->found[k] == NONE) {
			return NULL;
		}
	}
	knForestPair* pair = &system->pairs[system->found[k]];
	return &pair->block[pair->link[0] == j ? 0 : 1];
}

// Couplings of a link go over to its parent.
static bool passToParent(knForestSystem* system, int i, const knForestEnd* ends, int count) {
	const knForestLink* link = &system->forest->links[i];
	int n = link->nv, first = link->vOffset, parent = link->parent;
	knTreeForce u[KN_JOINT_MAX_V], v[KN_JOINT_MAX_V];
	timesInverse(system, i, &system->U[first], u);
	markPairs(system, parent, true);
	bool done = true;
	for (int p = system->firstPair[i]; p != NONE && done; p = nextPair(system, p, i)) {
		int j = otherLink(&system->pairs[p], i);
		if (isEliminated(system, j) || j == parent) {
			continue;
		}
		bool second = system->pairs[p].link[0] != i;
		knForestBlock own = system->pairs[p].block[second], other = system->pairs[p].block[!second];
		givenToParent(&own, system->mean[i]);
		seenFromParent(&other, system->end[i]);
		knForestBlock* to = blockBetween(system, parent, j);
		if (to == NULL) {
			done = false;
			break;
		}
		knForestBlock* from =
			&system->pairs[system->found[j]].block[to == system->pairs[system->found[j]].block];
		const knForestEnd* end = ends;
		while (n > 0 && end->link != j) {
			KN_ASSERT(end < ends + n * count);
			end += n;
		}
		knTreeForce mine[KN_JOINT_MAX_V];
		for (int l = 0; l < n; ++l) {
			mine[l] = end[l].u;
			removeProduct(&own, &u[l], &end[l].w);
		}
		timesInverse(system, i, mine, v);
		for (int l = 0; l < n; ++l) {
			removeProduct(&other, &v[l], &system->W[first + l]);
		}
		addBlock(to, &own);
		addBlock(from, &other);
	}
	markPairs(system, parent, false);
	return done;
}

// What a link that goes leaves between those coupled to it.
static bool joinNeighbours(knForestSystem* system, int i, const knForestEnd* ends, int count) {
	int n = system->forest->links[i].nv;
	for (int a = 0; a < count; ++a) {
		int j = ends[a * n].link;
		knTreeForce mine[KN_JOINT_MAX_V], u[KN_JOINT_MAX_V];
		for (int l = 0; l < n; ++l) {
			mine[l] = ends[a * n + l].u;
		}
		timesInverse(system, i, mine, u);
		markPairs(system, j, true);
		for (int b = 0; b < count; ++b) {
			knForestBlock* A = blockBetween(system, j, ends[b * n].link);
			if (A == NULL) {
				return false;
			}
			for (int l = 0; l < n; ++l) {
				removeProduct(A, &u[l], &ends[b * n + l].w);
			}
		}
		markPairs(system, j, false);
	}
	return true;
}

// Takes link i, whose children are gone, out of the system.
static bool eliminateCoupled(knForestSystem* system, int i, int step) {
	const knForestLink* link = &system->forest->links[i];
	bool sound = eliminate(system, i);
	int first = system->firstEnd[step], count = 0;
	if (!listEnds(system, i, &first, &count)) {
		return false;
	}
	system->order[step] = i;
	system->firstEnd[step + 1] = first + count * link->nv;
	if (link->parent >= 0) {
		const knForestPair* with = NULL;
		for (int p = system->firstPair[i]; p != NONE; p = nextPair(system, p, i)) {
			with = otherLink(&system->pairs[p], i) == link->parent ? &system->pairs[p] : with;
		}
		leaveShare(system, i, with);
		sound = (count == 0 || passToParent(system, i, &system->ends[first], count)) && sound;
	}
	sound = (link->nv == 0 || joinNeighbours(system, i, &system->ends[first], count)) && sound;
	for (int p = system->firstPair[i]; p != NONE; p = nextPair(system, p, i)) {
		int j = otherLink(&system->pairs[p], i);
		system->degree[j] -= !isEliminated(system, j);
	}
	system->degree[i] = -1;
	return sound;
}

// Leaves first, the least coupled of them first; of equals the last.
static bool factorCoupled(knForestSystem* system) {
	const knForest* forest = system->forest;
	int *leaves = system->leaves, *children = system->children, leafCount = 0;
	bool sound = true;
	for (int i = 0; i < forest->count; ++i) {
		children[i] = 0;
	}
	for (int i = 0; i < forest->count; ++i) {
		if (forest->links[i].parent >= 0) {
			children[forest->links[i].parent] += 1;
		}
	}
	for (int i = 0; i < forest->count; ++i) {
		if (children[i] == 0) {
			leaves[leafCount++] = i;
		}
	}
	system->firstEnd[0] = 0;
	for (int step = 0; step < forest->count && !system->arena->failed; ++step) {
		int best = 0;
		for (int k = 1; k < leafCount; ++k) {
			int a = leaves[k], b = leaves[best];
			bool better =
				system->degree[a] != system->degree[b] ? system->degree[a] < system->degree[b] : a > b;
			best = better ? k : best;
		}
		int i = leaves[best], parent = forest->links[i].parent;
		leaves[best] = leaves[--leafCount];
		sound = eliminateCoupled(system, i, step) && sound;
		if (parent >= 0 && --children[parent] == 0) {
			leaves[leafCount++] = parent;
		}
	}
	return sound && !system->arena->failed;
}

static bool factorSystem(knForestSystem* system) {
	if (system->pairCount > 0) {
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

// y and the motion of link i after its parent's and those of links coupled to it; `ends` [n nv].
static void solveOutwards(const knForestSystem* system, int i, const knForestEnd* ends, int endCount,
						  double* y, knTreeMotion* motions) {
	const knForestLink* link = &system->forest->links[i];
	knTreeMotion motion = { knLanes_All(0.0), knLanes_All(0.0) };
	double *own = y + link->vOffset, change[KN_JOINT_MAX_V] = { 0.0 };
	if (link->parent >= 0) {
		const knTreeMotion* parent = &motions[link->parent];
		for (int k = 0; k < link->nv; ++k) {
			change[k] = power(&system->W[link->vOffset + k], parent);
		}
		motion = knTreeMotion_Shift(parent, system->end[i]);
	}
	for (int a = 0; a < endCount; a += link->nv) {
		for (int k = 0; k < link->nv; ++k) {
			change[k] += power(&ends[a + k].w, &motions[ends[a + k].link]);
		}
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
	int count = system->forest->count;
	for (int step = 0; step < count; ++step) {
		int i = system->order[step], v = system->forest->links[i].vOffset, n = system->forest->links[i].nv;
		solveInwards(system, i, tau, y);
		for (int a = system->firstEnd[step]; a < system->firstEnd[step + 1]; a += n) {
			knTreeForce* P = &system->gathered[system->ends[a].link];
			for (int k = 0; k < n; ++k) {
				P->n += system->ends[a + k].u.n * y[v + k];
				P->f += system->ends[a + k].u.f * y[v + k];
			}
		}
	}
	for (int step = count - 1; step >= 0; --step) {
		int first = system->firstEnd[step], last = system->firstEnd[step + 1];
		solveOutwards(system, system->order[step], &system->ends[first], last - first, y, motions);
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
	if (system->pairCount > 0) {
		solveCoupled(system, tau, y, motions);
		return;
	}
	for (int i = forest->count - 1; i >= 0; --i) {
		solveInwards(system, i, tau, y);
	}
	for (int i = 0; i < forest->count; ++i) {
		solveOutwards(system, i, NULL, 0, y, motions);
	}
}
