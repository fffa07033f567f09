// Complementarity problems with bounds, dense, and the solvers for them: small libraries of their own, usable
// without a world.
//
//   w = A x + b,  lo <= x <= hi:   x_i = lo_i => w_i >= 0,   x_i = hi_i => w_i <= 0,   between: w_i = 0
//
// A plain LCP has lo = 0 and hi = infinity; an equality row has no bounds at all. A friction row i names its
// normal row n and has the bounds +-mu_i x_n, which move with the solution.
//
// One residual judges every solver: H_i = min(x_i - lo_i, max(x_i - hi_i, w_i)), zero exactly at a solution;
// theta = H.H/2 is the merit. Rows are scaled by 1/sqrt(A_ii) in both. A semidefinite problem without friction also
// minimises x.Ax/2 + b.x between its bounds: that is what sweeps go down on, while theta may rise for a moment.
//
//   solver        A                        what it gives
//   Dantzig       symmetric semidefinite   exact, about one pivot an unknown
//   Lemke         any (copositive-plus: guaranteed)  exact, or a ray
//   Newton        any                      exact near a solution, a few dense factorisations
//   Nncg          symmetric semidefinite   accurate, iterative
//   GaussSeidel   symmetric semidefinite   any-time; relaxation other than 1: SOR
//   Jacobi        symmetric semidefinite   any-time, parallel in principle, slower
#pragma once

#include "knuckle/base.h"

KN_BEGIN_C

typedef struct knLcp {
	int n;
	const double* A;   // n x n, row-major
	const double* b;   // [n]
	const double* lo;  // [n], may be -infinity; NULL: 0
	const double* hi;  // [n], may be +infinity; NULL: infinity
	const int* normal; // [n] the normal row of a friction row, -1: none; NULL: no friction
	const double* mu;  // [n] of friction rows, >= 0
} knLcp;

typedef enum knLcpStatus {
	KN_LCP_SOLVED,     // the residual is within the tolerance
	KN_LCP_LIMIT,      // ran out of iterations; x is the best so far
	KN_LCP_STOPPED,    // the stop function asked for it; x is the best so far
	KN_LCP_INFEASIBLE, // no solution (Lemke: none was found along its ray)
	KN_LCP_BAD,        // not a problem: sizes, bounds, numbers that are not finite
	KN_LCP_NO_MEMORY,
} knLcpStatus;

KN_API const char* knLcpStatus_Name(knLcpStatus status);

// Asked once an iteration; true ends the solve with the best x so far.
typedef bool knLcpStopFn(int iteration, double residual, void* context);

typedef struct knLcpOptions {
	int maxIterations; // pivots, sweeps or Newton steps; 0: the solver's own choice
	double tolerance;  // of the largest |H_i|, relative to the largest scaled |b_i|; 1e-10
	double
		relaxation; // 0: Gauss-Seidel 1, Jacobi one that converges; else the SOR factor in (0, 2), the damping
	bool warm;      // start from the x given; else from zero (clamped to the bounds)
	knLcpStopFn* stop; // NULL: never
	void* stopContext;
	// of iterative solvers, [historyCapacity] each; NULL: not wanted
	double* history;    // theta of the best x after each iteration: of what a stop there would return
	double* objectives; // x.Ax/2 + b.x of each iteration itself, which Gauss-Seidel and Jacobi sweeps lower
	int historyCapacity;
	const knAllocator* allocator; // NULL: default
} knLcpOptions;

KN_API knLcpOptions knLcpOptions_Default(void);

typedef struct knLcpResult {
	knLcpStatus status;
	int iterations;
	double residual; // largest |H_i|, rows scaled
	double theta;
	int row; // KN_LCP_INFEASIBLE, KN_LCP_BAD: the row at fault; -1: none in particular
} knLcpResult;

// x [n] in (if warm) and out; w [n] out, may be NULL. `options` may be NULL.
KN_API knLcpResult knLcp_Dantzig(const knLcp* lcp, const knLcpOptions* options, double* x, double* w);
KN_API knLcpResult knLcp_Lemke(const knLcp* lcp, const knLcpOptions* options, double* x, double* w);
KN_API knLcpResult knLcp_Newton(const knLcp* lcp, const knLcpOptions* options, double* x, double* w);
KN_API knLcpResult knLcp_Nncg(const knLcp* lcp, const knLcpOptions* options, double* x, double* w);
KN_API knLcpResult knLcp_GaussSeidel(const knLcp* lcp, const knLcpOptions* options, double* x, double* w);
KN_API knLcpResult knLcp_Jacobi(const knLcp* lcp, const knLcpOptions* options, double* x, double* w);

// w = A x + b, the largest |H_i| and theta at x. `w` may be NULL.
KN_API double knLcp_Residual(const knLcp* lcp, const double* x, double* w, double* theta);

KN_END_C
