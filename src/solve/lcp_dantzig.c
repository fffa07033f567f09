// Dantzig's method in the incremental form of Baraff (1994), for symmetric semidefinite A and bounds.
//
// Rows are treated one after another. Row d drives its x_d so that w_d goes to zero; the rows already treated
// keep their conditions: those between their bounds (set C) keep w = 0 by moving along, the others (L at lo,
// H at hi) keep x. Each event on the way moves one row between the sets.
//
//   dx_C = -A_CC^-1 A_Cd dx_d        A_CC = R R^T, grown and shrunk row by row
//
// Redundant rows: a row that depends on C cannot change w_d; x_d then moves along a null vector of A until a
// row of C meets its bound. If none does, the problem has no solution. Ties go to the smallest index.
// Friction rows get their bounds from the normals of the solution before, until the two agree.
#include <math.h>

#include "knuckle/vecmath.h"
#include "solve/lcp_work.h"

#define DEPENDENT 1e-11 // Schur complement of a row that depends on others; the diagonal is 1
#define NOISE 1e-9      // w of a dependent row, relative to b, that is only the rounding of the others
#define FRESH_AFTER 50  // pivots after which the factor is made anew
#define RESTARTS 3
#define FRICTION_ROUNDS 200

// D: between its bounds and w = 0, but dependent on C, so that it keeps its x.
enum { SET_NONE, SET_C, SET_D, SET_L, SET_H };

typedef struct Dantzig {
	knLcpWork* work;
	int n;
	double size;     // of b
	double *lo, *hi; // fixed bounds of this round
	double* b;       // the right side, disturbed after a restart
	double *x, *w, *dx, *dw;
	unsigned char* set;
	int* order; // C in the order of the factor
	int count;  // of C
	double* R;  // lower triangle, rows of length n
	double* column;
	int pivots, sinceFresh;
} Dantzig;

typedef struct Event {
	double t;
	int row;
	int set; // where the row goes
} Event;

// --- the factor ------------------------------------------------------------------------------------------

static void solveLower(const Dantzig* s, int count, double* v) {
	for (int i = 0; i < count; ++i) {
		const double* row = s->R + (size_t)i * s->n;
		double value = v[i];
		for (int j = 0; j < i; ++j) {
			value -= row[j] * v[j];
		}
		v[i] = value / row[i];
	}
}

static void solveUpper(const Dantzig* s, double* v) {
	for (int i = s->count - 1; i >= 0; --i) {
		double value = v[i] / s->R[(size_t)i * s->n + i];
		v[i] = value;
		for (int j = 0; j < i; ++j) {
			v[j] -= s->R[(size_t)i * s->n + j] * value;
		}
	}
}

// R^-1 A_Ci in s->column; returns the Schur complement of row i.
static double reduceColumn(Dantzig* s, int i) {
	const double* row = s->work->A + (size_t)i * s->n;
	for (int k = 0; k < s->count; ++k) {
		s->column[k] = row[s->order[k]];
	}
	solveLower(s, s->count, s->column);
	double rest = row[i];
	for (int k = 0; k < s->count; ++k) {
		rest -= s->column[k] * s->column[k];
	}
	return rest;
}

// Adds row i to C; false if it depends on C.
static bool appendRow(Dantzig* s, int i) {
	double rest = reduceColumn(s, i);
	if (rest <= DEPENDENT) {
		return false;
	}
	double* row = s->R + (size_t)s->count * s->n;
	for (int k = 0; k < s->count; ++k) {
		row[k] = s->column[k];
	}
	row[s->count] = sqrt(rest);
	s->order[s->count++] = i;
	s->set[i] = SET_C;
	return true;
}

// Takes row i out of C: its row of R goes, Givens rotations clear what then stands above the diagonal.
static void removeRow(Dantzig* s, int i) {
	int at = 0, n = s->n;
	while (s->order[at] != i) {
		++at;
	}
	for (int k = at; k + 1 < s->count; ++k) {
		s->order[k] = s->order[k + 1];
		for (int j = 0; j <= k + 1; ++j) {
			s->R[(size_t)k * n + j] = s->R[(size_t)(k + 1) * n + j];
		}
	}
	s->count -= 1;
	for (int k = at; k < s->count; ++k) {
		double* pivotRow = s->R + (size_t)k * n;
		double a = pivotRow[k], c = pivotRow[k + 1], length = sqrt(a * a + c * c);
		double cosine = a / length, sine = c / length;
		for (int r = k; r < s->count; ++r) {
			double* row = s->R + (size_t)r * n;
			double left = row[k], right = row[k + 1];
			row[k] = cosine * left + sine * right;
			row[k + 1] = cosine * right - sine * left;
		}
	}
}

static void refreshFactor(Dantzig* s) {
	int count = s->count;
	s->count = 0;
	s->sinceFresh = 0;
	for (int k = 0; k < count; ++k) {
		int i = s->order[k];
		if (!appendRow(s, i)) {
			s->set[i] = SET_D;
		}
	}
}

// Adds row i to C, or to D if it depends on C.
static void settleRow(Dantzig* s, int i) {
	if (!appendRow(s, i)) {
		s->set[i] = SET_D;
	}
}

// A row left C: one that depended on it may now be needed there.
static void recallDependents(Dantzig* s) {
	for (int i = 0; i < s->n; ++i) {
		if (s->set[i] == SET_D) {
			appendRow(s, i);
		}
	}
}

// --- one row ---------------------------------------------------------------------------------------------

static void multiply(const Dantzig* s, const double* v, const double* start, double* out) {
	for (int i = 0; i < s->n; ++i) {
		const double* row = s->work->A + (size_t)i * s->n;
		double value = start != NULL ? start[i] : 0.0;
		for (int j = 0; j < s->n; ++j) {
			value += row[j] * v[j];
		}
		out[i] = value;
	}
}

// The movement when x_d moves by `sign` and C keeps w = 0. Returns whether w_d moves with it.
static bool findDirection(Dantzig* s, int d, double sign) {
	bool moves = reduceColumn(s, d) > DEPENDENT;
	solveUpper(s, s->column);
	for (int i = 0; i < s->n; ++i) {
		s->dx[i] = 0.0;
	}
	for (int k = 0; k < s->count; ++k) {
		s->dx[s->order[k]] = -sign * s->column[k];
	}
	s->dx[d] = sign;
	multiply(s, s->dx, NULL, s->dw);
	return moves;
}

static void offer(Event* event, double t, int row, int set) {
	t = t > 0.0 ? t : 0.0;
	if (t < event->t || (t == event->t && row < event->row)) {
		*event = (Event){ t, row, set };
	}
}

// Which condition is met first when moving along the direction.
static Event findEvent(const Dantzig* s, int d, bool moves) {
	const double tiny = 1e-12;
	Event event = { INFINITY, s->n, SET_NONE };
	if (moves) {
		offer(&event, -s->w[d] / s->dw[d], d, SET_C);
	}
	double bound = s->dx[d] > 0.0 ? s->hi[d] : s->lo[d];
	if (knIsFinite(bound)) {
		offer(&event, (bound - s->x[d]) / s->dx[d], d, s->dx[d] > 0.0 ? SET_H : SET_L);
	}
	for (int i = 0; i < s->n; ++i) {
		if (i == d || s->set[i] == SET_NONE || s->set[i] == SET_D) {
			continue;
		}
		if (s->set[i] == SET_C) {
			double limit = s->dx[i] > 0.0 ? s->hi[i] : s->lo[i];
			if (knAbs(s->dx[i]) > tiny && knIsFinite(limit)) {
				offer(&event, (limit - s->x[i]) / s->dx[i], i, s->dx[i] > 0.0 ? SET_H : SET_L);
			}
		} else if (s->lo[i] < s->hi[i] && (s->set[i] == SET_L ? s->dw[i] < -tiny : s->dw[i] > tiny)) {
			offer(&event, -s->w[i] / s->dw[i], i, SET_C);
		}
	}
	return event;
}

static void takeStep(Dantzig* s, const Event* event) {
	for (int i = 0; i < s->n; ++i) {
		s->x[i] += event->t * s->dx[i];
		s->w[i] += event->t * s->dw[i];
	}
	int i = event->row;
	if (event->set == SET_C) {
		settleRow(s, i);
		s->w[i] = 0.0;
		return;
	}
	bool left = s->set[i] == SET_C;
	if (left) {
		removeRow(s, i);
	}
	s->set[i] = (unsigned char)event->set;
	s->x[i] = event->set == SET_H ? s->hi[i] : s->lo[i];
	if (left) {
		recallDependents(s);
	}
}

// Settles row d. SOLVED, INFEASIBLE, or LIMIT after too many pivots.
static knLcpStatus driveRow(Dantzig* s, int d, int pivotLimit) {
	double tolerance = knMax(0.01 * s->work->limit, 1e-14 * s->size);
	if (s->x[d] <= s->lo[d] && s->w[d] >= -tolerance) {
		s->set[d] = SET_L;
		return KN_LCP_SOLVED;
	}
	if (s->x[d] >= s->hi[d] && s->w[d] <= tolerance) {
		s->set[d] = SET_H;
		return KN_LCP_SOLVED;
	}
	for (;;) {
		if (knAbs(s->w[d]) <= tolerance) {
			settleRow(s, d);
			return KN_LCP_SOLVED;
		}
		bool moves = findDirection(s, d, s->w[d] < 0.0 ? 1.0 : -1.0);
		if (!moves && knAbs(s->w[d]) <= NOISE * s->size) {
			s->set[d] = SET_D;
			return KN_LCP_SOLVED;
		}
		Event event = findEvent(s, d, moves);
		if (!knIsFinite(event.t)) {
			return KN_LCP_INFEASIBLE;
		}
		takeStep(s, &event);
		if (event.row == d) {
			return KN_LCP_SOLVED;
		}
		if (++s->pivots > pivotLimit) {
			return KN_LCP_LIMIT;
		}
		if (++s->sinceFresh >= FRESH_AFTER) {
			refreshFactor(s);
			multiply(s, s->x, s->b, s->w);
		}
	}
}

// --- the whole -------------------------------------------------------------------------------------------

// Equality rows first (they never leave C), then those that were between their bounds at the start, then the
// rest.
static int rankOf(const Dantzig* s, int i) {
	if (!knIsFinite(s->lo[i]) && !knIsFinite(s->hi[i])) {
		return 0;
	}
	return s->x[i] > s->lo[i] && s->x[i] < s->hi[i] ? 1 : 2;
}

static knLcpStatus runRound(Dantzig* s, int pivotLimit, int* row) {
	s->count = 0;
	s->sinceFresh = 0;
	for (int i = 0; i < s->n; ++i) {
		s->set[i] = SET_NONE;
		s->x[i] = knMin(knMax(0.0, s->lo[i]), s->hi[i]);
	}
	multiply(s, s->x, s->b, s->w);
	for (int rank = 0; rank < 3; ++rank) {
		for (int d = 0; d < s->n; ++d) {
			if (s->set[d] != SET_NONE || rankOf(s, d) != rank) {
				continue;
			}
			knLcpStatus status = driveRow(s, d, pivotLimit);
			if (status != KN_LCP_SOLVED) {
				*row = d;
				return status;
			}
		}
	}
	return KN_LCP_SOLVED;
}

// A small, always equal disturbance that breaks ties.
static void disturb(Dantzig* s, int round) {
	uint64_t random = 0x9E3779B97F4A7C15u * (uint64_t)(round + 1);
	for (int i = 0; i < s->n; ++i) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		double unit = (double)(random >> 11) * 0x1p-53;
		s->b[i] = s->work->b[i] + (round > 0 ? 0.01 * s->work->limit * unit : 0.0);
	}
}

static knLcpStatus solveBoxed(Dantzig* s, int* row) {
	int most = s->work->options.maxIterations > 0 ? s->work->options.maxIterations : 100 * (s->n + 1);
	knLcpStatus status = KN_LCP_LIMIT;
	for (int round = 0; round < RESTARTS && status == KN_LCP_LIMIT; ++round) {
		disturb(s, round);
		status = runRound(s, s->pivots + most, row);
	}
	return status;
}

static bool takeMemory(Dantzig* s) {
	knArena* arena = &s->work->arena;
	int n = s->n;
	s->lo = KN_SCRATCH(arena, double, n);
	s->hi = KN_SCRATCH(arena, double, n);
	s->b = KN_SCRATCH(arena, double, n);
	s->x = s->work->x;
	s->w = KN_SCRATCH(arena, double, n);
	s->dx = KN_SCRATCH(arena, double, n);
	s->dw = KN_SCRATCH(arena, double, n);
	s->set = KN_SCRATCH(arena, unsigned char, n);
	s->order = KN_SCRATCH(arena, int, n);
	s->R = KN_SCRATCH(arena, double, (size_t)n* n);
	s->column = KN_SCRATCH(arena, double, n);
	return !arena->failed;
}

static bool hasFriction(const knLcpWork* work) {
	for (int i = 0; i < work->n; ++i) {
		if (work->normal[i] >= 0) {
			return true;
		}
	}
	return false;
}

static void runDantzig(knLcpWork* work) {
	Dantzig solve = { .work = work, .n = work->n, .size = work->limit / work->options.tolerance };
	Dantzig* s = &solve;
	if (!takeMemory(s)) {
		work->result.status = KN_LCP_NO_MEMORY;
		return;
	}
	int rounds = hasFriction(work) ? FRICTION_ROUNDS : 1;
	for (int i = 0; i < s->n; ++i) {
		s->x[i] = work->options.warm ? s->x[i] : 0.0;
	}
	for (int round = 0; round < rounds; ++round) {
		for (int i = 0; i < s->n; ++i) {
			knLcpWork_Bounds(work, i, s->x, &s->lo[i], &s->hi[i]);
		}
		int row = -1;
		knLcpStatus status = solveBoxed(s, &row);
		work->result.iterations = s->pivots;
		bool goOn = knLcpWork_Judge(work, s->x);
		if (!goOn) {
			return;
		}
		if (status != KN_LCP_SOLVED) {
			work->result.status = status;
			work->result.row = row;
			return;
		}
	}
}

knLcpResult knLcp_Dantzig(const knLcp* lcp, const knLcpOptions* options, double* x, double* w) {
	knLcpWork work;
	if (knLcpWork_Begin(&work, lcp, options, x)) {
		if (work.result.status != KN_LCP_SOLVED) {
			runDantzig(&work);
		}
		if (work.result.status != KN_LCP_NO_MEMORY) {
			knLcpWork_Polish(&work); // also what rounding has made to look infeasible
		}
	}
	return knLcpWork_End(&work, x, w);
}
