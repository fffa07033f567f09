// Lemke's method with the lexicographic rule, for any matrix.
//
// The bounded problem is first written as a plain one, F = M y + q, y >= 0, F >= 0, y.F = 0:
//
//   lo finite            x = lo + y             F = w
//   only hi finite       x = hi - y             F = -w
//   no bounds            x = y - y'             F = w, F' = -w
//   lo and hi finite     x = lo + y             F = w + z,  F' = hi - lo - y  with z the second unknown
//   friction             x = y - mu x_n         F = w + z,  F' = 2 mu x_n - y
//
// Pivoting: basis F, unknowns y and an artificial z0 that lifts every row; the row that z0 enters is the most
// negative; afterwards the complement of what left enters, until z0 leaves (solved) or no row bounds it (a
// ray: for copositive-plus M the problem has no solution). Ties are broken by comparing whole rows of the
// basis inverse, so that no basis comes twice.
#include <math.h>

#include "knuckle/vecmath.h"
#include "solve/lcp_work.h"

#define PIVOT_TOLERANCE 1e-11
#define TIE 1e-12

typedef struct Lemke {
	knLcpWork* work;
	int n; // rows of the bounded problem
	int m; // of the plain one

	// x = T y + c,  F = P w + E y + e
	double* T; // n x m
	double* c;
	int* own;       // [m] the bounded row whose w stands in F, -1: none
	double* ofSign; // [m] and its sign
	double* E;      // m x m
	double* e;

	// rows [F-columns m | y-columns m | z0 | right side], basis[r] the column of row r's variable
	int width;
	double* tableau;
	int* basis;
} Lemke;

// --- the plain problem -----------------------------------------------------------------------------------

static int unknownsOf(const knLcpWork* work, int i) {
	bool low = knIsFinite(work->lo[i]), high = knIsFinite(work->hi[i]);
	return work->normal[i] >= 0 || low == high ? 2 : 1;
}

static void setW(Lemke* s, int j, int row, double sign) {
	s->own[j] = row;
	s->ofSign[j] = sign;
}

static double* entry(double* matrix, int row, int column, int width) {
	return matrix + (size_t)row * width + column;
}

// Unknowns j and, where there are two, j + 1 stand for row i.
static void describeRow(Lemke* s, int i, int j) {
	const knLcpWork* work = s->work;
	double lo = work->lo[i], hi = work->hi[i];
	bool low = knIsFinite(lo), high = knIsFinite(hi);
	*entry(s->T, i, j, s->m) = 1.0;
	setW(s, j, i, 1.0);
	if (work->normal[i] >= 0 || (low && high)) {
		*entry(s->E, j, j + 1, s->m) = 1.0;
		*entry(s->E, j + 1, j, s->m) = -1.0;
		s->c[i] = work->normal[i] >= 0 ? 0.0 : lo;
		s->e[j + 1] = work->normal[i] >= 0 ? 0.0 : hi - lo;
	} else if (low) {
		s->c[i] = lo;
	} else if (high) {
		s->c[i] = hi;
		*entry(s->T, i, j, s->m) = -1.0;
		setW(s, j, i, -1.0);
	} else {
		*entry(s->T, i, j + 1, s->m) = -1.0;
		setW(s, j + 1, i, -1.0);
	}
}

// x_i = y - mu x_n and F' = 2 mu x_n - y, with x_n as it has been written.
static void coupleFriction(Lemke* s, int i, int j) {
	int p = s->work->normal[i];
	double mu = s->work->mu[i];
	for (int k = 0; k < s->m; ++k) {
		double t = *entry(s->T, p, k, s->m);
		*entry(s->T, i, k, s->m) -= mu * t;
		*entry(s->E, j + 1, k, s->m) += 2.0 * mu * t;
	}
	s->c[i] -= mu * s->c[p];
	s->e[j + 1] += 2.0 * mu * s->c[p];
}

static void describe(Lemke* s) {
	for (int j = 0; j < s->m; ++j) {
		s->own[j] = -1;
	}
	for (int i = 0, j = 0; i < s->n; j += unknownsOf(s->work, i), ++i) {
		describeRow(s, i, j);
	}
	for (int i = 0, j = 0; i < s->n; j += unknownsOf(s->work, i), ++i) {
		if (s->work->normal[i] >= 0) {
			coupleFriction(s, i, j);
		}
	}
}

// M = P A T + E and q = P (A c + b) + e go into the tableau: F - M y - 1 z0 = q.
static void fillTableau(Lemke* s, double* AT) {
	const knLcpWork* work = s->work;
	int n = s->n, m = s->m;
	for (int i = 0; i < n; ++i) {
		for (int k = 0; k < m; ++k) {
			double sum = 0.0;
			for (int j = 0; j < n; ++j) {
				sum += work->A[(size_t)i * n + j] * s->T[(size_t)j * m + k];
			}
			AT[(size_t)i * m + k] = sum;
		}
	}
	for (int r = 0; r < m; ++r) {
		double* row = s->tableau + (size_t)r * s->width;
		int i = s->own[r];
		double q = s->e[r];
		for (int k = 0; k < m; ++k) {
			double M = s->E[(size_t)r * m + k] + (i >= 0 ? s->ofSign[r] * AT[(size_t)i * m + k] : 0.0);
			row[k] = k == r ? 1.0 : 0.0;
			row[m + k] = -M;
		}
		if (i >= 0) {
			double value = work->b[i];
			for (int j = 0; j < n; ++j) {
				value += work->A[(size_t)i * n + j] * s->c[j];
			}
			q += s->ofSign[r] * value;
		}
		row[2 * m] = -1.0;
		row[2 * m + 1] = q;
		s->basis[r] = r;
	}
}

// --- pivoting --------------------------------------------------------------------------------------------

static double* rowOf(const Lemke* s, int r) {
	return s->tableau + (size_t)r * s->width;
}

// Columns in the order in which rows are compared: the right side, then the basis inverse.
static double compared(const Lemke* s, int r, int k) {
	return k == 0 ? rowOf(s, r)[s->width - 1] : rowOf(s, r)[k - 1];
}

// Whether row a, over its pivot, comes before row b.
static bool comesBefore(const Lemke* s, int a, int b, int column) {
	double pivotA = rowOf(s, a)[column], pivotB = rowOf(s, b)[column];
	for (int k = 0; k <= s->m; ++k) {
		double left = compared(s, a, k) / pivotA, right = compared(s, b, k) / pivotB;
		if (knAbs(left - right) > TIE * (knAbs(left) + knAbs(right) + 1.0)) {
			return left < right;
		}
	}
	return a < b;
}

// The row that bounds the entering column; -1: none does. The row of z0 wins a tie of the right sides.
static int ratioTest(const Lemke* s, int column) {
	int best = -1;
	double size = 0.0;
	for (int r = 0; r < s->m; ++r) {
		size = knMax(size, knAbs(rowOf(s, r)[column]));
	}
	for (int r = 0; r < s->m; ++r) {
		if (rowOf(s, r)[column] > PIVOT_TOLERANCE * knMax(size, 1.0) &&
			(best < 0 || comesBefore(s, r, best, column))) {
			best = r;
		}
	}
	for (int r = 0; r < s->m && best >= 0; ++r) {
		double pivot = rowOf(s, r)[column];
		if (s->basis[r] == 2 * s->m && pivot > PIVOT_TOLERANCE * knMax(size, 1.0)) {
			double mine = compared(s, r, 0) / pivot, least = compared(s, best, 0) / rowOf(s, best)[column];
			best = mine <= least + TIE * (knAbs(mine) + knAbs(least) + 1.0) ? r : best;
		}
	}
	return best;
}

static void pivot(Lemke* s, int r, int column) {
	double* row = rowOf(s, r);
	double inverse = 1.0 / row[column];
	for (int k = 0; k < s->width; ++k) {
		row[k] *= inverse;
	}
	row[column] = 1.0;
	for (int i = 0; i < s->m; ++i) {
		double* other = rowOf(s, i);
		double factor = other[column];
		if (i == r || factor == 0.0) {
			continue;
		}
		for (int k = 0; k < s->width; ++k) {
			other[k] -= factor * row[k];
		}
		other[column] = 0.0;
	}
	s->basis[r] = column;
}

// The row where z0 enters: the lexicographically least of those with the most negative right side.
static int firstRow(const Lemke* s) {
	int best = 0;
	for (int r = 1; r < s->m; ++r) {
		double mine = compared(s, r, 0), least = compared(s, best, 0);
		// rows of the identity compare as -e_r: the later row is less
		best = mine <= least ? r : best;
	}
	return best;
}

static knLcpStatus runPivots(Lemke* s) {
	knLcpWork* work = s->work;
	int most = work->options.maxIterations > 0 ? work->options.maxIterations : 200 * (s->m + 1);
	int r = firstRow(s), z0 = 2 * s->m;
	if (s->m == 0 || compared(s, r, 0) >= 0.0) {
		return KN_LCP_SOLVED;
	}
	int entering = z0;
	for (;;) {
		int leaving = s->basis[r];
		pivot(s, r, entering);
		work->result.iterations += 1;
		if (leaving == z0) {
			return KN_LCP_SOLVED;
		}
		if (work->result.iterations >= most) {
			return KN_LCP_LIMIT;
		}
		entering = leaving < s->m ? leaving + s->m : leaving - s->m;
		r = ratioTest(s, entering);
		if (r < 0) {
			return KN_LCP_INFEASIBLE;
		}
	}
}

// --- the whole -------------------------------------------------------------------------------------------

static void readSolution(const Lemke* s, double* y, double* x) {
	for (int j = 0; j < s->m; ++j) {
		y[j] = 0.0;
	}
	for (int r = 0; r < s->m; ++r) {
		int column = s->basis[r];
		if (column >= s->m && column < 2 * s->m) {
			y[column - s->m] = knMax(rowOf(s, r)[s->width - 1], 0.0);
		}
	}
	for (int i = 0; i < s->n; ++i) {
		x[i] = s->c[i];
		for (int j = 0; j < s->m; ++j) {
			x[i] += s->T[(size_t)i * s->m + j] * y[j];
		}
	}
}

static void runLemke(knLcpWork* work) {
	Lemke solve = { .work = work, .n = work->n };
	Lemke* s = &solve;
	for (int i = 0; i < s->n; ++i) {
		s->m += unknownsOf(work, i);
	}
	size_t n = (size_t)s->n, m = (size_t)s->m;
	s->width = 2 * s->m + 2;
	knArena* arena = &work->arena;
	s->T = KN_SCRATCH_ZERO(arena, double, n* m);
	s->c = KN_SCRATCH_ZERO(arena, double, n);
	s->own = KN_SCRATCH(arena, int, m);
	s->ofSign = KN_SCRATCH_ZERO(arena, double, m);
	s->E = KN_SCRATCH_ZERO(arena, double, m* m);
	s->e = KN_SCRATCH_ZERO(arena, double, m);
	s->tableau = KN_SCRATCH_ZERO(arena, double, m*(size_t)s->width);
	s->basis = KN_SCRATCH(arena, int, m);
	double* AT = KN_SCRATCH(arena, double, n* m);
	double* y = KN_SCRATCH(arena, double, m);
	if (arena->failed) {
		work->result.status = KN_LCP_NO_MEMORY;
		return;
	}
	describe(s);
	fillTableau(s, AT);
	knLcpStatus status = runPivots(s);
	readSolution(s, y, work->x);
	if (knLcpWork_Judge(work, work->x)) {
		work->result.status = status == KN_LCP_SOLVED ? KN_LCP_LIMIT : status;
	}
}

knLcpResult knLcp_Lemke(const knLcp* lcp, const knLcpOptions* options, double* x, double* w) {
	knLcpWork work;
	if (knLcpWork_Begin(&work, lcp, options, x)) {
		if (work.result.status != KN_LCP_SOLVED) {
			runLemke(&work);
		}
		if (work.result.status != KN_LCP_NO_MEMORY) {
			knLcpWork_Polish(&work); // also what rounding has made to look infeasible
		}
	}
	return knLcpWork_End(&work, x, w);
}
