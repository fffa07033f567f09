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

typedef struct knSubspace {
	const knSweepChunk* chunks;
	const int32_t* list; // [listCount] the chunks that take part, whole groups
	int listCount;
	knSweepPoint* points;
	const knSweepBlocks* blocks;
	const int32_t* group; // [blocks->count] of blocks that touch, by the lowest of them
} knSubspace;

// Changes u and the impulses of the points of all groups whose residual falls; those of other groups stay. `left`
// [blocks->count], by group: what is left of it, m2/s2 of the group's mass. False: no memory.
bool knSubspace_Solve(const knSubspace* problem, knTwist* u, double* left, knArena* arena);
