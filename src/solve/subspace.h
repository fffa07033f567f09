// Contacts that sweeps leave unfinished, solved at once: projected Gauss-Seidel with subspace minimisation
// (Silcowitz-Hansen et al. 2010). Sweeps carry news by one body a sweep or so, and in a column of a hundred bodies that
// is not enough. But they find out soon which points press and which of these stick. In that subspace the
// complementarity problem is a linear system,
//
//   J u' + bias = 0   for normals with lambda_n > 0 and for friction inside its cone
//
// solved directly (direct_rows.h). What leaves its bounds is put back on them and stays there in the next round.
#pragma once

#include "core/arena.h"
#include "solve/sweep.h"

#define KN_SUBSPACE_POINTS 512 // of one group: more would take too long

typedef struct knSubspace {
	const knSweepChunk* chunks;
	int chunkCount;
	knSweepPoint* points;
	const knSweepBlocks* blocks;
	const int32_t* group;  // [blocks->count] of blocks that touch, by the lowest of them; -1: does not move
	const uint8_t* wanted; // [blocks->count] by group: 1: to be solved
	double enough;         // m2/s2 of a group's mass: with less left of it, a group is done
} knSubspace;

// The group of a chunk.
static inline int32_t knSubspace_GroupOf(const int32_t* group, const knSweepChunk* chunk) {
	return group[chunk->a] >= 0 ? group[chunk->a] : group[chunk->b];
}

// Changes u and the impulses of the points of the groups wanted, one by one, where their residual falls. `left`
// [blocks->count], of these groups: what is left of it, m2/s2 of the group's mass. False: no memory.
bool knSubspace_Solve(const knSubspace* problem, knTwist* u, double* left, knArena* arena);
