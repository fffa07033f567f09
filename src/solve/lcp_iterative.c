// Any-time solvers of complementarity problems: projected Gauss-Seidel (and SOR), projected Jacobi, the
// nonsmooth nonlinear conjugate gradient method (Silcowitz et al. 2010) and the min-map Newton method.
//
// All keep the best iterate, ask the stop function once an iteration, and end when an iterate runs away: that
// is how a problem without a solution shows in an iterative method.
#include "knuckle/vecmath.h"
#include "solve/lcp_work.h"

#define DEFAULT_SWEEPS 10000
#define DEFAULT_NEWTON 200
#define RUNAWAY 1e12 // of the size of b: an iterate that grows so far has no solution to go to
#define RESCUE_SWEEPS 20
#define FINISH_STEPS 50 // of Newton's method where NNCG has not arrived
#define ARMIJO 1e-4
#define SMALLEST_STEP 0x1p-12

static int iterationLimit(const knLcpWork* work, int preset) {
	return work->options.maxIterations > 0 ? work->options.maxIterations : preset;
}

// A row that cannot act but is not satisfied, or an iterate that has run away.
static bool isHopeless(knLcpWork* work, const double* x) {
	double reach = RUNAWAY * work->limit / work->options.tolerance;
	for (int i = 0; i < work->n; ++i) {
		bool stuck = work->A[(size_t)i * work->n + i] <= 0.0 && knAbs(work->w[i]) > work->limit &&
					 knLcpWork_Clamp(work, i, x, x[i] - work->w[i]) != x[i];
		if (stuck || knAbs(x[i]) > reach) {
			work->result.status = KN_LCP_INFEASIBLE;
			work->result.row = i;
			return true;
		}
	}
	return false;
}

// Counts an iteration and judges it. True: go on.
static bool goOn(knLcpWork* work, const double* x, int limit) {
	work->result.iterations += 1;
	return knLcpWork_Judge(work, x) && !isHopeless(work, x) && work->result.iterations < limit;
}

knLcpResult knLcp_GaussSeidel(const knLcp* lcp, const knLcpOptions* options, double* x, double* w) {
	knLcpWork work;
	if (knLcpWork_Begin(&work, lcp, options, x) && work.result.status != KN_LCP_SOLVED) {
		int limit = iterationLimit(&work, DEFAULT_SWEEPS);
		double relaxation = work.options.relaxation > 0.0 ? work.options.relaxation : 1.0;
		do {
			knLcpWork_Sweep(&work, relaxation, work.x);
		} while (goOn(&work, work.x, limit));
	}
	return knLcpWork_End(&work, x, w);
}

// --- Jacobi ----------------------------------------------------------------------------------------------

// Damping below 2 over the largest eigenvalue of the scaled matrix, which its largest row sum bounds.
static double safeDamping(const knLcpWork* work) {
	double largest = 1.0;
	for (int i = 0; i < work->n; ++i) {
		double sum = 0.0;
		for (int j = 0; j < work->n; ++j) {
			sum += knAbs(work->A[(size_t)i * work->n + j]);
		}
		largest = knMax(largest, sum);
	}
	return 1.0 / largest;
}

knLcpResult knLcp_Jacobi(const knLcp* lcp, const knLcpOptions* options, double* x, double* w) {
	knLcpWork work;
	if (knLcpWork_Begin(&work, lcp, options, x) && work.result.status != KN_LCP_SOLVED) {
		int limit = iterationLimit(&work, DEFAULT_SWEEPS);
		double damping = work.options.relaxation > 0.0 ? work.options.relaxation : safeDamping(&work);
		do {
			// work.w belongs to work.x: all rows move at once, bounds follow
			for (int i = 0; i < work.n; ++i) {
				double diagonal = work.A[(size_t)i * work.n + i];
				work.x[i] -= diagonal > 0.0 ? damping * work.w[i] / diagonal : 0.0;
			}
			for (int pass = 0; pass < 2; ++pass) {
				for (int i = 0; i < work.n; ++i) {
					if ((work.normal[i] >= 0) == (pass == 1)) {
						work.x[i] = knLcpWork_Clamp(&work, i, work.x, work.x[i]);
					}
				}
			}
		} while (goOn(&work, work.x, limit));
	}
	return knLcpWork_End(&work, x, w);
}

// --- Newton ----------------------------------------------------------------------------------------------

// Moves x along d to where the merit has fallen enough; false if nowhere.
static bool lineSearch(const knLcpWork* work, const double* d, double* trial, double* w, double* x) {
	double before;
	knLcpWork_Residual(work, x, w, &before);
	for (double t = 1.0; t >= SMALLEST_STEP; t *= 0.5) {
		double theta;
		for (int i = 0; i < work->n; ++i) {
			trial[i] = x[i] + t * d[i];
		}
		knLcpWork_Residual(work, trial, w, &theta);
		if (theta <= (1.0 - 2.0 * ARMIJO * t) * before) {
			for (int i = 0; i < work->n; ++i) {
				x[i] = trial[i];
			}
			return true;
		}
	}
	return false;
}

// Newton steps from work->x. False when out of memory.
static bool runNewton(knLcpWork* work, int limit) {
	double* d = KN_SCRATCH(&work->arena, double, work->n);
	double* trial = KN_SCRATCH(&work->arena, double, work->n);
	double* spare = KN_SCRATCH(&work->arena, double, work->n);
	if (d == NULL || trial == NULL || spare == NULL) {
		return false;
	}
	knLcpWork_Sweep(work, 1.0, work->x);
	knLcpWork_Judge(work, work->x);
	do {
		// a step that gets nowhere has met a kink of the merit: sweeps find the way on
		if (!knLcpWork_NewtonStep(work, work->x, work->w, d) || !lineSearch(work, d, trial, spare, work->x)) {
			for (int i = 0; i < RESCUE_SWEEPS; ++i) {
				knLcpWork_Sweep(work, 1.0, work->x);
			}
		}
	} while (goOn(work, work->x, limit));
	return true;
}

knLcpResult knLcp_Newton(const knLcp* lcp, const knLcpOptions* options, double* x, double* w) {
	knLcpWork work;
	if (knLcpWork_Begin(&work, lcp, options, x) && work.result.status != KN_LCP_SOLVED) {
		if (runNewton(&work, iterationLimit(&work, DEFAULT_NEWTON))) {
			knLcpWork_Polish(&work); // to the last digits
		} else {
			work.result.status = KN_LCP_NO_MEMORY;
		}
	}
	return knLcpWork_End(&work, x, w);
}

// --- NNCG ------------------------------------------------------------------------------------------------

// A sweep is taken for a gradient step; its successive differences are made conjugate (Fletcher and Reeves).
// Iterates between sweeps may leave the bounds, what a sweep returns (y) does not: that is judged.
static void runNncg(knLcpWork* work, double* y, double* p, int limit) {
	int n = work->n;
	double* x = work->x;
	double last = 0.0; // |g|^2
	do {
		for (int i = 0; i < n; ++i) {
			y[i] = x[i];
		}
		knLcpWork_Sweep(work, 1.0, y);
		double size = 0.0;
		for (int i = 0; i < n; ++i) {
			size += (x[i] - y[i]) * (x[i] - y[i]);
		}
		double beta = last > 0.0 ? size / last : 0.0;
		bool restart = !(beta <= 1.0);
		for (int i = 0; i < n; ++i) {
			double g = x[i] - y[i];
			x[i] = restart ? y[i] : y[i] + beta * p[i];
			p[i] = restart ? 0.0 : beta * p[i] - g;
		}
		last = size;
	} while (goOn(work, y, limit));
}

// Sweeps may crawl on problems that are all but degenerate: Newton steps take over, from the best iterate, and if they
// stick there with the wrong rows at their bounds, from the start.
static void finishNncg(knLcpWork* work) {
	for (int start = 0; start < 2; ++start) {
		if (work->result.status != KN_LCP_LIMIT || work->bestResidual <= work->limit) {
			return;
		}
		for (int i = 0; i < work->n; ++i) {
			work->x[i] = start == 0 ? work->best[i] : knLcpWork_Clamp(work, i, work->best, 0.0);
		}
		if (!runNewton(work, work->result.iterations + FINISH_STEPS)) {
			return;
		}
		knLcpWork_Polish(work);
	}
}

knLcpResult knLcp_Nncg(const knLcp* lcp, const knLcpOptions* options, double* x, double* w) {
	knLcpWork work;
	if (knLcpWork_Begin(&work, lcp, options, x) && work.result.status != KN_LCP_SOLVED) {
		double* y = KN_SCRATCH(&work.arena, double, work.n);
		double* p = KN_SCRATCH_ZERO(&work.arena, double, work.n);
		if (y == NULL || p == NULL) {
			work.result.status = KN_LCP_NO_MEMORY;
		} else {
			runNncg(&work, y, p, iterationLimit(&work, DEFAULT_SWEEPS));
			// the sweeps have found which rows are at their bounds; the rest is a linear system
			knLcpWork_Polish(&work);
			finishNncg(&work);
		}
	}
	return knLcpWork_End(&work, x, w);
}
