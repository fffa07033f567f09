// Constraint rows in matrix-free form: what every complementarity solver of the maximal steppers sees. A row
// couples two 6-blocks (bodies, but the solver does not know) and satisfies, with u the block velocities:
//
//   w = J u + bias + gamma lambda,   lambda = lo => w >= 0,  lambda = hi => w <= 0,  lo < lambda < hi => w = 0
//
// Friction rows name their normal row p: lo = -mu lambda_p, hi = +mu lambda_p, taken anew at every visit. Those of a joint's
// axis name a load instead, other rows k of the same two blocks: hi = least + share |sum lambda_k direction_k|, likewise.
//
//   J   1 x 12 (block a, block b)        T = W J^T 12 x 1        D = J T + gamma
#pragma once

#include "core/arena.h"
#include "knuckle/vecmath.h"

#define KN_ROW_NO_NORMAL (-1)

typedef struct knRow {
	int a, b;       // blocks; block 0 may be the immovable world
	knTwist Ja, Jb; // angular before linear
	knTwist Ta, Tb; // W J^T, zero for immovable blocks
	double D;       // J T + gamma; 0: nothing can move, the row is skipped
	double invD;    // 1/D, or 0 where D is 0; the solver writes it
	double bias;    // added to J u: bounce, error feedback, motor speed (with minus)
	double gamma;   // softness (springs, constraint force mixing)
	double lo, hi;  // impulse bounds
	double mu;      // friction rows
	int normal;     // index of the normal row, or KN_ROW_NO_NORMAL
	int group;      // what it is a part of (a joint): neighbours of one group are solved together
	int load;       // 1 + index into the loads of knRows; 0: none
	double lambda;  // impulse; in: warm start, out: solution
} knRow;

enum { KN_LOAD_ROWS = 6 };

// What bounds a row, and holds its blocks: rows that a push along it would break, so that they answer at once.
typedef struct knRowLoad {
	double least, share;
	int first, count; // rows
	knVec3 direction[KN_LOAD_ROWS];
	double answer[KN_LOAD_ROWS]; // their impulses, by one of the row; knPgs_Begin
	knTwist Ta, Tb;              // the row's, with the answer; knPgs_Begin
	double invD;                 // likewise
} knRowLoad;

typedef struct knRows {
	knRow* items;
	int count, capacity;
	int blockCount;
	knRowLoad* loads; // NULL: no row has one
	int loadCount, loadCapacity;
} knRows;
