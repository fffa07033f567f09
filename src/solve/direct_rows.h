// Rows without bounds (locked directions of joints, springs) solved all at once: where a chain carries a load many
// times its own mass, sweeps row by row would take thousands of visits.
//
//   A dlambda = -(J u + bias + gamma lambda),  A = J W J^T + gamma     block-sparse, one block for rows of one pair
#pragma once

#include "core/arena.h"
#include "core/sparse_ldl.h"
#include "solve/rows.h"

typedef struct knDirectRows {
	knRows* rows;
	int32_t* order;    // [count] rows in order of the unknowns
	uint8_t* isDirect; // [rows->count]
	int count;         // rows that are solved here
	knSparse* sparse;  // NULL: nothing to solve
	double *right, *change;
} knDirectRows;

// Takes the rows that have no bounds and factors their matrix; everything lives in the arena.
// Where a block has so many neighbours that the matrix would be dense, nothing is taken and sweeps must do. False: no
// memory.
bool knDirectRows_Build(knDirectRows* direct, knRows* rows, knArena* arena);
// Changes lambda and u so that all rows taken hold.
void knDirectRows_Solve(knDirectRows* direct, knTwist* u);
// What impulses do to blocks that these rows hold: u is a change of velocities, and gets what the rows add to it.
// Lambda stays as it is.
void knDirectRows_Restore(knDirectRows* direct, knTwist* u);
