// Complementarity problems: checks, scaling, the residual, and what solvers share (lcp_work.h).
#include "knuckle/lcp.h"

#include <math.h>

#include "core/dense.h"
#include "knuckle/vecmath.h"
#include "solve/lcp_work.h"

#define MAX_UNKNOWNS 20000
#define POLISH_STEPS 4
#define SHIFT 1e-10 // of a unit diagonal: lets a semidefinite system be factored
#define SLIGHT_SHIFT 1e-15

const char* knLcpStatus_Name(knLcpStatus status) {
	switch (status) {
	case KN_LCP_SOLVED:
		return "solved";
	case KN_LCP_LIMIT:
		return "iteration limit";
	case KN_LCP_STOPPED:
		return "stopped";
	case KN_LCP_INFEASIBLE:
		return "infeasible";
	case KN_LCP_BAD:
		return "bad problem";
	case KN_LCP_NO_MEMORY:
		return "out of memory";
	}
	return "unknown status";
}

knLcpOptions knLcpOptions_Default(void) {
	return (knLcpOptions){ .tolerance = 1e-10 };
}

// --- the residual ----------------------------------------------------------------------------------------

static double scaleOf(const knLcp* lcp, int i) {
	double diagonal = lcp->A[(size_t)i * lcp->n + i];
	return diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 1.0;
}

static double minMap(double x, double lo, double hi, double w) {
	return knMin(x - lo, knMax(x - hi, w));
}

double knLcp_Residual(const knLcp* lcp, const double* x, double* w, double* theta) {
	double worst = 0.0, sum = 0.0;
	for (int i = 0; i < lcp->n; ++i) {
		double value = lcp->b[i];
		for (int j = 0; j < lcp->n; ++j) {
			value += lcp->A[(size_t)i * lcp->n + j] * x[j];
		}
		double lo = lcp->lo != NULL ? lcp->lo[i] : 0.0;
		double hi = lcp->hi != NULL ? lcp->hi[i] : INFINITY;
		if (lcp->normal != NULL && lcp->normal[i] >= 0) {
			hi = lcp->mu[i] * knMax(x[lcp->normal[i]], 0.0);
			lo = -hi;
		}
		double s = scaleOf(lcp, i);
		double H = minMap(x[i] / s, lo / s, hi / s, value * s);
		worst = knMax(worst, knAbs(H));
		sum += 0.5 * H * H;
		if (w != NULL) {
			w[i] = value;
		}
	}
	if (theta != NULL) {
		*theta = sum;
	}
	return worst;
}

// --- begin -----------------------------------------------------------------------------------------------

static bool isBadNumber(double value) {
	return !knIsFinite(value);
}

// The first row at fault, or -1.
static int findBadRow(const knLcp* lcp) {
	for (int i = 0; i < lcp->n; ++i) {
		double lo = lcp->lo != NULL ? lcp->lo[i] : 0.0, hi = lcp->hi != NULL ? lcp->hi[i] : INFINITY;
		bool bad = isBadNumber(lcp->b[i]) || !(lo <= hi) || lo == INFINITY || hi == -INFINITY;
		for (int j = 0; j < lcp->n && !bad; ++j) {
			bad = isBadNumber(lcp->A[(size_t)i * lcp->n + j]);
		}
		int p = lcp->normal != NULL ? lcp->normal[i] : -1;
		if (p >= 0) {
			bad = bad || p >= lcp->n || p == i || lcp->normal[p] >= 0 || lcp->mu == NULL ||
				  isBadNumber(lcp->mu[i]) || lcp->mu[i] < 0.0;
		}
		if (bad) {
			return i;
		}
	}
	return -1;
}

static bool takeMemory(knLcpWork* work) {
	int n = work->n;
	knArena* arena = &work->arena;
	work->scale = KN_SCRATCH(arena, double, n);
	work->A = KN_SCRATCH(arena, double, (size_t)n* n);
	work->b = KN_SCRATCH(arena, double, n);
	work->lo = KN_SCRATCH(arena, double, n);
	work->hi = KN_SCRATCH(arena, double, n);
	work->mu = KN_SCRATCH_ZERO(arena, double, n);
	work->x = KN_SCRATCH_ZERO(arena, double, n);
	work->w = KN_SCRATCH_ZERO(arena, double, n);
	work->best = KN_SCRATCH_ZERO(arena, double, n);
	int* normal = KN_SCRATCH(arena, int, n);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < n; ++i) {
		normal[i] = work->lcp->normal != NULL ? work->lcp->normal[i] : -1;
	}
	work->normal = normal;
	return true;
}

static void scaleProblem(knLcpWork* work) {
	const knLcp* lcp = work->lcp;
	int n = work->n;
	double size = 0.0;
	for (int i = 0; i < n; ++i) {
		work->scale[i] = scaleOf(lcp, i);
	}
	for (int i = 0; i < n; ++i) {
		double s = work->scale[i];
		for (int j = 0; j < n; ++j) {
			work->A[(size_t)i * n + j] = s * lcp->A[(size_t)i * n + j] * work->scale[j];
		}
		work->b[i] = s * lcp->b[i];
		work->lo[i] = lcp->lo != NULL ? lcp->lo[i] / s : 0.0;
		work->hi[i] = lcp->hi != NULL ? lcp->hi[i] / s : INFINITY;
		if (work->normal[i] >= 0) {
			work->mu[i] = lcp->mu[i] * work->scale[work->normal[i]] / s;
		}
		size = knMax(size, knAbs(work->b[i]));
	}
	work->limit = work->options.tolerance * (size > 0.0 ? size : 1.0);
}

bool knLcpWork_Begin(knLcpWork* work, const knLcp* lcp, const knLcpOptions* options, const double* x) {
	*work = (knLcpWork){
		.lcp = lcp, .n = lcp->n, .bestResidual = INFINITY, .bestTheta = INFINITY, .shift = SHIFT
	};
	work->options = options != NULL ? *options : knLcpOptions_Default();
	knAllocator allocator =
		work->options.allocator != NULL ? *work->options.allocator : knAllocator_Default();
	knArena_Init(&work->arena, &allocator);
	work->result = (knLcpResult){ .status = KN_LCP_BAD, .residual = INFINITY, .theta = INFINITY, .row = -1 };
	if (lcp->n < 0 || lcp->n > MAX_UNKNOWNS || !(work->options.tolerance > 0.0)) {
		return false;
	}
	work->result.row = findBadRow(lcp);
	if (work->result.row >= 0) {
		return false;
	}
	work->result.status = KN_LCP_NO_MEMORY;
	if (!takeMemory(work)) {
		return false;
	}
	work->result.status = KN_LCP_LIMIT;
	scaleProblem(work);
	// normal rows first: friction rows are clamped to what their normals carry
	for (int pass = 0; pass < 2; ++pass) {
		for (int i = 0; i < work->n; ++i) {
			if ((work->normal[i] >= 0) == (pass == 1)) {
				double start = work->options.warm && knIsFinite(x[i]) ? x[i] / work->scale[i] : 0.0;
				work->x[i] = knLcpWork_Clamp(work, i, work->x, start);
			}
		}
	}
	knLcpWork_Judge(work, work->x);
	return true;
}

knLcpResult knLcpWork_End(knLcpWork* work, double* x, double* w) {
	knLcpResult result = work->result;
	if (result.status != KN_LCP_BAD && result.status != KN_LCP_NO_MEMORY) {
		for (int i = 0; i < work->n; ++i) {
			x[i] = work->best[i] * work->scale[i];
		}
		result.residual = knLcp_Residual(work->lcp, x, w, &result.theta);
		// unscaling costs a few roundings
		if (result.residual <= 2.0 * work->limit) {
			result.status = KN_LCP_SOLVED;
			result.row = -1;
		}
	}
	knArena_Free(&work->arena);
	return result;
}

// --- iterates --------------------------------------------------------------------------------------------

void knLcpWork_Bounds(const knLcpWork* work, int i, const double* x, double* lo, double* hi) {
	*lo = work->lo[i];
	*hi = work->hi[i];
	if (work->normal[i] >= 0) {
		*hi = work->mu[i] * knMax(x[work->normal[i]], 0.0);
		*lo = -*hi;
	}
}

double knLcpWork_Clamp(const knLcpWork* work, int i, const double* x, double value) {
	double lo, hi;
	knLcpWork_Bounds(work, i, x, &lo, &hi);
	return knMin(knMax(value, lo), hi);
}

double knLcpWork_Residual(const knLcpWork* work, const double* x, double* w, double* theta) {
	double worst = 0.0, sum = 0.0;
	for (int i = 0; i < work->n; ++i) {
		const double* row = work->A + (size_t)i * work->n;
		double value = work->b[i], lo, hi;
		for (int j = 0; j < work->n; ++j) {
			value += row[j] * x[j];
		}
		w[i] = value;
		knLcpWork_Bounds(work, i, x, &lo, &hi);
		double H = minMap(x[i], lo, hi, value);
		worst = knMax(worst, knAbs(H));
		sum += 0.5 * H * H;
	}
	*theta = sum;
	return worst;
}

// x.Ax/2 + b.x, the same for the scaled problem and the one given; work->w is A x + b.
static double objectiveAt(const knLcpWork* work, const double* x) {
	double sum = 0.0;
	for (int i = 0; i < work->n; ++i) {
		sum += 0.5 * x[i] * (work->w[i] + work->b[i]);
	}
	return sum;
}

static void noteIteration(const knLcpOptions* options, int at, double theta, double objective) {
	if (options->history != NULL) {
		options->history[at] = theta;
	}
	if (options->objectives != NULL) {
		options->objectives[at] = objective;
	}
}

bool knLcpWork_Judge(knLcpWork* work, const double* x) {
	knLcpResult* result = &work->result;
	const knLcpOptions* options = &work->options;
	double theta, residual = knLcpWork_Residual(work, x, work->w, &theta);
	int done = result->iterations;
	if (theta < work->bestTheta || residual <= work->limit) {
		work->bestResidual = residual;
		work->bestTheta = theta;
		for (int i = 0; i < work->n; ++i) {
			work->best[i] = x[i];
		}
	}
	if (done > 0 && done <= options->historyCapacity) {
		noteIteration(options, done - 1, work->bestTheta, objectiveAt(work, x));
	}
	if (residual <= work->limit) {
		result->status = KN_LCP_SOLVED;
		return false;
	}
	if (options->stop != NULL && options->stop(done, residual, options->stopContext)) {
		result->status = KN_LCP_STOPPED;
		return false;
	}
	return true;
}

void knLcpWork_Sweep(const knLcpWork* work, double relaxation, double* x) {
	for (int i = 0; i < work->n; ++i) {
		const double* row = work->A + (size_t)i * work->n;
		double value = work->b[i];
		for (int j = 0; j < work->n; ++j) {
			value += row[j] * x[j];
		}
		double moved = row[i] > 0.0 ? x[i] - relaxation * value / row[i] : x[i];
		x[i] = knLcpWork_Clamp(work, i, x, moved);
	}
}

// --- Newton's step ---------------------------------------------------------------------------------------

// Row i of the generalised Jacobian of H and the right side -H_i. Rows between their bounds ask for w_i = 0,
// the others for their bound, which for a friction row moves with the normal.
static void newtonRow(const knLcpWork* work, int i, const double* x, const double* w, double* row,
					  double* d) {
	double lo, hi;
	knLcpWork_Bounds(work, i, x, &lo, &hi);
	bool atLower = x[i] - lo <= w[i], atUpper = x[i] - hi >= w[i];
	d[i] = -minMap(x[i], lo, hi, w[i]);
	for (int j = 0; j < work->n; ++j) {
		row[j] = atLower || atUpper ? 0.0 : work->A[(size_t)i * work->n + j];
	}
	if (!atLower && !atUpper) {
		row[i] += work->shift;
		return;
	}
	row[i] = 1.0;
	int p = work->normal[i];
	if (p >= 0 && x[p] >= 0.0) {
		row[p] = atLower ? work->mu[i] : -work->mu[i];
	}
}

bool knLcpWork_NewtonStep(knLcpWork* work, const double* x, const double* w, double* d) {
	int n = work->n;
	if (work->J == NULL) {
		work->J = KN_SCRATCH(&work->arena, double, (size_t)n* n);
		work->pivots = KN_SCRATCH(&work->arena, int, n);
	}
	if (work->J == NULL || work->pivots == NULL) {
		return false;
	}
	for (int i = 0; i < n; ++i) {
		newtonRow(work, i, x, w, work->J + (size_t)i * n, d);
	}
	if (!knDense_FactorLu(work->J, n, work->pivots)) {
		return false;
	}
	knDense_SolveLu(work->J, n, work->pivots, d);
	for (int i = 0; i < n; ++i) {
		if (!knIsFinite(d[i])) {
			return false;
		}
	}
	return true;
}

// One step from the best iterate; kept if it lowers the residual.
static bool polishOnce(knLcpWork* work, double shift, double* d, double* w, double* x) {
	double theta;
	knLcpWork_Residual(work, work->best, w, &theta);
	work->shift = shift;
	bool stepped = knLcpWork_NewtonStep(work, work->best, w, d);
	work->shift = SHIFT;
	if (!stepped) {
		return false;
	}
	for (int i = 0; i < work->n; ++i) {
		x[i] = work->best[i] + d[i];
	}
	double residual = knLcpWork_Residual(work, x, w, &theta);
	if (!(residual < work->bestResidual)) {
		return false;
	}
	work->bestResidual = residual;
	work->bestTheta = theta;
	for (int i = 0; i < work->n; ++i) {
		work->best[i] = x[i];
	}
	return true;
}

void knLcpWork_Polish(knLcpWork* work) {
	double* d = KN_SCRATCH(&work->arena, double, work->n);
	double* w = KN_SCRATCH(&work->arena, double, work->n);
	double* x = KN_SCRATCH(&work->arena, double, work->n);
	if (d == NULL || w == NULL || x == NULL) {
		return;
	}
	// hardly any shift gets nearly singular systems right, the usual one those that are
	bool better = true;
	for (int step = 0; better && step < POLISH_STEPS; ++step) {
		better = polishOnce(work, SLIGHT_SHIFT, d, w, x) || polishOnce(work, SHIFT, d, w, x);
	}
}
