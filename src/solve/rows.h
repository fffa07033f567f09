// Constraint rows in matrix-free form: what every complementarity solver of the maximal steppers sees. A row
// couples two 6-blocks (bodies, but the solver does not know) and satisfies, with u the block velocities:
//
//   w = J u + bias + gamma lambda,   lambda = lo => w >= 0,  lambda = hi => w <= 0,  lo < lambda < hi => w = 0
//
// Friction rows name their normal row p: lo = -mu lambda_p, hi = +mu lambda_p, taken anew at every visit.
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
	double lambda;  // impulse; in: warm start, out: solution
} knRow;

typedef struct knRows {
	knRow* items;
	int count, capacity;
	int blockCount;
} knRows;
