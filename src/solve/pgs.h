// Projected Gauss-Seidel over rows (Erleben 2007, section 3), matrix-free.
#pragma once

#include "solve/rows.h"

typedef struct knPgsResult {
	int sweeps;
	double theta; // merit after the last sweep: 1/2 sum H_i^2, rows scaled by 1/sqrt(D)
} knPgsResult;

// Runs `sweeps` sweeps in row order. u [blockCount] holds the velocities before; on return those after, and
// every row's lambda. Warm-start lambdas are applied first.
knPgsResult knPgs_Solve(knRows* rows, int sweeps, knTwist* u);
// The parts of it, for solvers that have more than rows. Reciprocals of the diagonals, and what the warm start
// does to the velocities.
void knPgs_Begin(knRows* rows, knTwist* u);
// One visit to each row named in `order`.
void knPgs_Visit(knRows* rows, const int32_t* order, int count, knTwist* u);
double knPgs_MeritOf(const knRows* rows, const int32_t* order, int count, bool unscaled, const knTwist* u);
// The merit alone: theta of the present lambdas at velocities u.
double knPgs_Merit(const knRows* rows, const knTwist* u);
