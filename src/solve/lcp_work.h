// What the dense complementarity solvers share: the problem scaled to a unit diagonal, its residual, the best
// iterate, and the Newton step that polishes a nearly solved problem.
//
// Scaling is symmetric, A' = S A S with S = diag(1/sqrt(A_ii)), so x = S x' and w' = S w; every tolerance is
// then one of the scaled rows. Rows without a positive diagonal keep S = 1.
#pragma once

#include "core/arena.h"
#include "knuckle/lcp.h"

typedef struct knLcpWork {
	knLcpOptions options;
	knArena arena;
	const knLcp* lcp; // as given
	int n;

	// the scaled problem
	double* scale; // S
	double* A;
	double* b;
	double *lo, *hi;   // of rows that are not friction rows
	const int* normal; // -1: no friction row
	double* mu;
	double limit; // largest |H_i| that counts as solved

	// iterates, scaled
	double* x;
	double* w;
	double* best;
	double bestResidual, bestTheta;

	// room for Newton's system, taken at its first step
	double* J;
	int* pivots;
	double shift; // added to its diagonal

	knLcpResult result; // BAD or NO_MEMORY after a failed begin
} knLcpWork;

// Checks, scales, sets x to the start. False: the result says why, and knLcpWork_End must still be called.
bool knLcpWork_Begin(knLcpWork* work, const knLcp* lcp, const knLcpOptions* options, const double* x);
// Unscales the best iterate into x and w, judges it and releases everything.
knLcpResult knLcpWork_End(knLcpWork* work, double* x, double* w);

// Bounds of row i at x; a friction row's follow its normal.
void knLcpWork_Bounds(const knLcpWork* work, int i, const double* x, double* lo, double* hi);
double knLcpWork_Clamp(const knLcpWork* work, int i, const double* x, double value);
// w = A x + b, the largest |H_i| and theta.
double knLcpWork_Residual(const knLcpWork* work, const double* x, double* w, double* theta);
// Judges the iterate x (w is written): keeps it if its theta is the best, notes what is asked for. True: go on.
bool knLcpWork_Judge(knLcpWork* work, const double* x);

// One forward sweep of projected Gauss-Seidel.
void knLcpWork_Sweep(const knLcpWork* work, double relaxation, double* x);
// The step d of the min-map Newton method at (x, w). False if its system is
// singular beyond help.
bool knLcpWork_NewtonStep(knLcpWork* work, const double* x, const double* w, double* d);
// Newton steps from the best iterate as long as they improve it.
void knLcpWork_Polish(knLcpWork* work);
