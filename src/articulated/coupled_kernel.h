// Elimination over the forest with couplings (forest.h), part of forest_kernel.h.
//
// Blocks C between two links outside the trees are eliminated with the trees. Where link i goes, with w = R^T C_ij and
// u = C_ji S for every link j that is coupled to it, its couplings become those of its parent and of the j's among each other:
//
//   C_pj = shift(C_ij) - U D^-1 w_j,  C_jp = C_ji shift - u_j D^-1 W,  C_jk -= u_j D^-1 w_k          (C_jj: A_j)
//
// The order, and the place of every block that this writes to, are planned once for a pattern (coupling.c).
#pragma once

#include "articulated/forest_blocks.h"

// Block of the first-named link's force over the other's motion.
KN_LANES_INLINE knForestBlock* blockAt(const knForestCouplings* couplings, int32_t place) {
	return &couplings->pairs[place >> 1].block[place & 1];
}

// A -= sum over n of u w^T, the block kept in registers.
KN_LANES_INLINE void removeProducts(knForestBlock* A, int n, const knTreeForce* u, const knForestEnd* w) {
	knForestBlock B = *A;
	for (int l = 0; l < n; ++l) {
		removeProduct(&B, &u[l], &w[l].w);
	}
	*A = B;
}

// u and w of the links that link i is coupled to.
static inline void readEnds(knForestSystem* system, int i, int step) {
	const knForestLink* link = &system->forest->links[i];
	knForestCouplings* couplings = system->couplings;
	knForestEnd* end = &couplings->ends[couplings->firstNumber[step]];
	for (int a = couplings->firstEnd[step]; a < couplings->firstEnd[step + 1]; ++a) {
		const knForestBlock* own = blockAt(couplings, couplings->endPlace[a]);
		const knForestBlock* other = blockAt(couplings, couplings->endPlace[a] ^ 1);
		for (int k = 0; k < link->nv; ++k, ++end) {
			end->u = timesColumn(other, &system->S[link->vOffset + k]);
			end->w = rowOf(&system->R[link->vOffset + k], own);
		}
	}
}

// Couplings of a link go over to its parent.
static inline void passToParent(knForestSystem* system, int i, int step) {
	const knForestLink* link = &system->forest->links[i];
	knForestCouplings* couplings = system->couplings;
	int n = link->nv, first = link->vOffset;
	knTreeForce U[KN_JOINT_MAX_V], u[KN_JOINT_MAX_V], mine[KN_JOINT_MAX_V];
	timesInverse(system, i, &system->U[first], U);
	const knForestEnd* end = &couplings->ends[couplings->firstNumber[step]];
	for (int a = couplings->firstEnd[step]; a < couplings->firstEnd[step + 1]; ++a, end += n) {
		knForestBlock own = *blockAt(couplings, couplings->endPlace[a]);
		knForestBlock other = *blockAt(couplings, couplings->endPlace[a] ^ 1);
		givenToParent(&own, system->mean[i]);
		seenFromParent(&other, system->end[i]);
		for (int l = 0; l < n; ++l) {
			mine[l] = end[l].u;
			removeProduct(&own, &U[l], &end[l].w);
		}
		timesInverse(system, i, mine, u);
		for (int l = 0; l < n; ++l) {
			removeProduct(&other, &u[l], &system->W[first + l]);
		}
		addBlock(blockAt(couplings, couplings->parentPlace[a]), &own);
		addBlock(blockAt(couplings, couplings->parentPlace[a] ^ 1), &other);
	}
}

// What a link that goes leaves between those coupled to it.
static inline void joinNeighbours(knForestSystem* system, int i, int step) {
	knForestCouplings* couplings = system->couplings;
	int n = system->forest->links[i].nv, from = couplings->firstEnd[step];
	int count = couplings->firstEnd[step + 1] - from;
	const knForestEnd* ends = &couplings->ends[couplings->firstNumber[step]];
	const int32_t* place = &couplings->joinPlace[couplings->firstJoin[step]];
	for (int a = 0; a < count; ++a) {
		knTreeForce mine[KN_JOINT_MAX_V], u[KN_JOINT_MAX_V];
		for (int l = 0; l < n; ++l) {
			mine[l] = ends[a * n + l].u;
		}
		timesInverse(system, i, mine, u);
		removeProducts(&system->block[couplings->endLink[from + a]], n, u, &ends[a * n]);
		for (int b = 0; b < count; ++b) {
			if (b != a) {
				removeProducts(blockAt(couplings, *place++), n, u, &ends[b * n]);
			}
		}
	}
}

static inline bool factorCoupled(knForestSystem* system) {
	knForestCouplings* couplings = system->couplings;
	bool sound = true;
	for (int step = 0; step < system->forest->count; ++step) {
		int i = couplings->order[step];
		const knForestLink* link = &system->forest->links[i];
		sound = eliminate(system, i) && sound;
		readEnds(system, i, step);
		if (link->parent >= 0) {
			int pair = couplings->withParent[step];
			leaveShare(system, i, pair >= 0 ? &couplings->pairs[pair] : NULL);
			passToParent(system, i, step);
		}
		joinNeighbours(system, i, step);
	}
	return sound;
}
