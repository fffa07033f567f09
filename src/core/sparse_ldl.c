// Block-sparse LDL^T and LU, right-looking, on the order and pattern of sparse_order.c.
//
// Step k, with D = the present diagonal block and i, j the steps below it:
//
//   L_ik = A_ik D^-1        A_ij -= L_ik A_kj        (symmetric: A_kj = A_jk^T, only i >= j)
//
// D^-1 is held explicitly; blocks are small. It is found by Gauss-Jordan elimination: symmetric with the
// largest remaining diagonal as pivot, otherwise with the largest remaining entry. A pivot that is nothing but
// the rounding of what was summed into its row is dropped: its row and column of D^-1 are zero.
#include "core/sparse_ldl.h"

#include <math.h>
#include <string.h>

#include "core/sparse_internal.h"
#include "knuckle/vecmath.h"

#define MAX KN_SPARSE_MAX_BLOCK
#define VANISHED 1e-13 // pivot over the largest number that went into it

// --- creation --------------------------------------------------------------------------------------------

static int rowSize(const knSparse* s, int step) {
	return s->sizes[step];
}

// Index into order.rows of row `row` in column `column`, -1: not there.
static int findRow(const knSparseOrder* order, int column, int row) {
	int lower = order->first[column], upper = order->first[column + 1];
	while (lower < upper) {
		int middle = lower + (upper - lower) / 2;
		if (order->rows[middle] < row) {
			lower = middle + 1;
		} else {
			upper = middle;
		}
	}
	return lower < order->first[column + 1] && order->rows[lower] == row ? lower : -1;
}

static void placeBlocks(knSparse* s, const knSparseDef* def) {
	int at = 0;
	for (int i = 0; i < def->blockCount; ++i) {
		s->offsets[i] = at;
		at += def->sizes[i];
		s->sizes[s->order.step[i]] = def->sizes[i];
	}
	s->offsets[def->blockCount] = s->size = at;
	int values = 0;
	for (int k = 0; k < s->order.count; ++k) {
		s->diagonal[k] = values;
		values += s->sizes[k] * s->sizes[k];
		for (int e = s->order.first[k]; e < s->order.first[k + 1]; ++e) {
			int area = s->sizes[s->order.rows[e]] * s->sizes[k];
			s->places[e].lower = values;
			values += area;
			s->places[e].upper = values;
			values += s->symmetric ? 0 : area;
		}
	}
	s->valueCount = values;
}

static void findTargets(knSparse* s) {
	const knSparseOrder* order = &s->order;
	int at = 0;
	for (int k = 0; k < order->count; ++k) {
		for (int a = order->first[k]; a < order->first[k + 1]; ++a) {
			for (int b = order->first[k]; b <= a; ++b, ++at) {
				int i = order->rows[a], j = order->rows[b];
				if (i == j) {
					s->targets[at] = s->targetsUp[at] = s->diagonal[i];
				} else {
					const knSparsePlace* place = &s->places[findRow(order, j, i)];
					s->targets[at] = place->lower;
					s->targetsUp[at] = place->upper;
				}
			}
		}
	}
}

// Counts the pairs of rows of all steps; -1 when there are too many to index.
static int countTargets(knSparse* s) {
	int64_t total = 0;
	for (int k = 0; k < s->order.count; ++k) {
		int64_t rows = s->order.first[k + 1] - s->order.first[k];
		s->firstTarget[k] = (int)total;
		total += rows * (rows + 1) / 2;
		if (total > INT32_MAX / 2) {
			return -1;
		}
	}
	s->firstTarget[s->order.count] = (int)total;
	return (int)total;
}

static bool takeIndexMemory(knSparse* s) {
	size_t n = (size_t)s->order.count;
	s->sizes = knAllocArray(&s->allocator, n + 1, sizeof(int));
	s->offsets = knAllocArray(&s->allocator, n + 1, sizeof(int));
	s->diagonal = knAllocArray(&s->allocator, n + 1, sizeof(int));
	s->firstTarget = knAllocArray(&s->allocator, n + 1, sizeof(int));
	s->places = knAllocArray(&s->allocator, (size_t)s->order.rowCount + 1, sizeof(knSparsePlace));
	return s->sizes != NULL && s->offsets != NULL && s->diagonal != NULL && s->firstTarget != NULL &&
		   s->places != NULL;
}

static bool takeValueMemory(knSparse* s) {
	size_t targets = (size_t)s->targetCount + 1, size = (size_t)s->size + 1,
		   values = (size_t)s->valueCount + 1;
	s->targets = knAllocArray(&s->allocator, targets, sizeof(int));
	s->targetsUp = knAllocArray(&s->allocator, targets, sizeof(int));
	s->matrix = knAllocZero(&s->allocator, values * sizeof(double));
	s->factor = s->inPlace ? s->matrix : knAllocZero(&s->allocator, values * sizeof(double));
	s->reach = knAllocZero(&s->allocator, size * sizeof(double));
	s->work = knAllocZero(&s->allocator, size * sizeof(double));
	s->rest = knAllocZero(&s->allocator, size * sizeof(double));
	return s->targets != NULL && s->targetsUp != NULL && s->matrix != NULL && s->factor != NULL &&
		   s->reach != NULL && s->work != NULL && s->rest != NULL;
}

static bool sizesMakeSense(const knSparseDef* def) {
	for (int i = 0; i < def->blockCount; ++i) {
		if (def->sizes[i] < 0 || def->sizes[i] > MAX) {
			return false;
		}
	}
	return def->blockCount >= 0 && !(def->inPlace && def->symmetric);
}

knSparse* knSparse_Create(const knSparseDef* def) {
	knAllocator allocator = def->allocator != NULL ? *def->allocator : knAllocator_Default();
	knSparse* s = sizesMakeSense(def) ? knAllocZero(&allocator, sizeof(knSparse)) : NULL;
	if (s == NULL) {
		return NULL;
	}
	s->allocator = allocator;
	s->symmetric = def->symmetric;
	s->inPlace = def->inPlace;
	bool done = knSparseOrder_Create(&s->order, def, &s->allocator) && takeIndexMemory(s);
	if (done) {
		placeBlocks(s, def);
		int targets = countTargets(s);
		s->targetCount = targets > 0 ? targets : 0;
		done = targets >= 0 && takeValueMemory(s);
	}
	if (!done) {
		knSparse_Destroy(s);
		return NULL;
	}
	findTargets(s);
	return s;
}

void knSparse_Destroy(knSparse* s) {
	if (s == NULL) {
		return;
	}
	knAllocator allocator = s->allocator;
	size_t n = (size_t)s->order.count + 1, targets = (size_t)s->targetCount + 1, size = (size_t)s->size + 1;
	size_t values = (size_t)s->valueCount + 1;
	knFree(&allocator, s->places, ((size_t)s->order.rowCount + 1) * sizeof(knSparsePlace));
	knFree(&allocator, s->sizes, n * sizeof(int));
	knFree(&allocator, s->offsets, n * sizeof(int));
	knFree(&allocator, s->diagonal, n * sizeof(int));
	knFree(&allocator, s->firstTarget, n * sizeof(int));
	knFree(&allocator, s->targets, targets * sizeof(int));
	knFree(&allocator, s->targetsUp, targets * sizeof(int));
	knFree(&allocator, s->matrix, values * sizeof(double));
	if (!s->inPlace) {
		knFree(&allocator, s->factor, values * sizeof(double));
	}
	knFree(&allocator, s->reach, size * sizeof(double));
	knFree(&allocator, s->work, size * sizeof(double));
	knFree(&allocator, s->rest, size * sizeof(double));
	knSparseOrder_Destroy(&s->order, &allocator);
	knFree(&allocator, s, sizeof(knSparse));
}

// --- access ----------------------------------------------------------------------------------------------

int knSparse_Size(const knSparse* s) {
	return s->size;
}

int knSparse_Offset(const knSparse* s, int block) {
	return s->offsets[block];
}

int knSparse_FillBlocks(const knSparse* s) {
	return s->order.fill;
}

int knSparse_BlockOrder(const knSparse* s, int step) {
	return s->order.order[step];
}

void knSparse_Clear(knSparse* s) {
	memset(s->matrix, 0, (size_t)s->valueCount * sizeof(double));
	s->factored = false;
}

double* knSparse_Block(knSparse* s, int row, int column, bool* transposed) {
	int i = s->order.step[row], k = s->order.step[column];
	*transposed = false;
	if (i == k) {
		return s->matrix + s->diagonal[i];
	}
	int e = i > k ? findRow(&s->order, k, i) : findRow(&s->order, i, k);
	if (e < 0) {
		return NULL;
	}
	if (i > k || !s->symmetric) {
		return s->matrix + (i > k ? s->places[e].lower : s->places[e].upper);
	}
	*transposed = true;
	return s->matrix + s->places[e].lower;
}

// --- the pivot block ---------------------------------------------------------------------------------------

// The largest remaining pivot: on the diagonal, or anywhere. False if all have vanished.
static bool choosePivot(const double* A, int n, bool symmetric, const bool* usedRow, const bool* usedColumn,
						const double* reach, int* row, int* column) {
	double best = 0.0;
	for (int i = 0; i < n; ++i) {
		for (int j = symmetric ? i : 0; j < (symmetric ? i + 1 : n); ++j) {
			double size = knAbs(A[i * n + j]);
			if (!usedRow[i] && !usedColumn[j] && size > VANISHED * reach[i] && size > best) {
				best = size;
				*row = i;
				*column = j;
			}
		}
	}
	return best > 0.0;
}

// A <- A^-1 in place by Gauss-Jordan exchanges; what is dropped becomes a zero row and column. `reach` holds
// the size of what went into each row. Returns the number dropped.
static int invertBlock(double* A, int n, bool symmetric, double* reach) {
	bool usedRow[MAX] = { false }, usedColumn[MAX] = { false };
	int columnOf[MAX], taken = 0;
	double B[MAX * MAX];
	for (; taken < n; ++taken) {
		int r = 0, c = 0;
		if (!choosePivot(A, n, symmetric, usedRow, usedColumn, reach, &r, &c)) {
			break;
		}
		usedRow[r] = usedColumn[c] = true;
		columnOf[r] = c;
		double inverse = 1.0 / A[r * n + c];
		for (int i = 0; i < n; ++i) {
			double factor = A[i * n + c] * inverse;
			for (int j = 0; i != r && j < n; ++j) {
				if (j != c) {
					double part = factor * A[r * n + j];
					A[i * n + j] -= part;
					reach[i] =
						!usedRow[i] && (i == j || !symmetric) ? knMax(reach[i], knAbs(part)) : reach[i];
				}
			}
			if (i != r) {
				A[i * n + c] = -factor;
			}
		}
		for (int j = 0; j < n; ++j) {
			A[r * n + j] = j == c ? inverse : A[r * n + j] * inverse;
		}
	}
	// entry (r, c) of the exchanged table maps y_c... to x_r...: read the inverse off it
	memset(B, 0, sizeof(B));
	for (int r = 0; r < n; ++r) {
		for (int r2 = 0; r2 < n && usedRow[r]; ++r2) {
			if (usedRow[r2]) {
				B[columnOf[r] * n + r2] = A[r * n + columnOf[r2]];
			}
		}
	}
	memcpy(A, B, (size_t)n * (size_t)n * sizeof(double));
	return n - taken;
}

// --- factoring -------------------------------------------------------------------------------------------

// out (a x c) = X (a x b) times Y, which is b x c or, transposed, c x b.
static void multiply(const double* X, const double* Y, bool transposed, int a, int b, int c, double* out) {
	for (int i = 0; i < a; ++i) {
		for (int j = 0; j < c; ++j) {
			double sum = 0.0;
			for (int k = 0; k < b; ++k) {
				sum += X[i * b + k] * (transposed ? Y[j * b + k] : Y[k * c + j]);
			}
			out[i * c + j] = sum;
		}
	}
}

static void subtract(double* target, const double* part, int count) {
	for (int k = 0; k < count; ++k) {
		target[k] -= part[k];
	}
}

static void noteReach(knSparse* s, int step, const double* part) {
	int n = s->sizes[step];
	double* reach = s->reach + s->offsets[s->order.order[step]];
	for (int i = 0; i < n; ++i) {
		for (int j = s->symmetric ? i : 0; j < (s->symmetric ? i + 1 : n); ++j) {
			reach[i] = knMax(reach[i], knAbs(part[i * n + j]));
		}
	}
}

// Rows below the pivot take their share of it.
static void updateBelow(knSparse* s, int k) {
	const knSparseOrder* order = &s->order;
	int nk = s->sizes[k], at = s->firstTarget[k];
	double L[MAX * MAX], part[MAX * MAX];
	for (int a = order->first[k]; a < order->first[k + 1]; ++a) {
		int i = order->rows[a], ni = rowSize(s, i);
		multiply(s->factor + s->places[a].lower, s->factor + s->diagonal[k], false, ni, nk, nk, L);
		for (int b = order->first[k]; b <= a; ++b, ++at) {
			int j = order->rows[b], nj = rowSize(s, j);
			const knSparsePlace* other = &s->places[b];
			const double* right = s->factor + (s->symmetric ? other->lower : other->upper);
			multiply(L, right, s->symmetric, ni, nk, nj, part);
			subtract(s->factor + s->targets[at], part, ni * nj);
			if (i == j) {
				noteReach(s, i, part);
			} else if (!s->symmetric) {
				// A_ji -= A_jk D^-1 A_ki
				double Lj[MAX * MAX];
				multiply(s->factor + other->lower, s->factor + s->diagonal[k], false, nj, nk, nk, Lj);
				multiply(Lj, s->factor + s->places[a].upper, false, nj, nk, ni, part);
				subtract(s->factor + s->targetsUp[at], part, ni * nj);
			}
		}
	}
}

// A_ik becomes L_ik once all updates of the step have read it.
static void scaleBelow(knSparse* s, int k) {
	const knSparseOrder* order = &s->order;
	int nk = s->sizes[k];
	double L[MAX * MAX];
	for (int a = order->first[k]; a < order->first[k + 1]; ++a) {
		int ni = rowSize(s, order->rows[a]);
		double* block = s->factor + s->places[a].lower;
		multiply(block, s->factor + s->diagonal[k], false, ni, nk, nk, L);
		memcpy(block, L, (size_t)ni * (size_t)nk * sizeof(double));
	}
}

knSparseReport knSparse_Factor(knSparse* s) {
	knSparseReport report = { .finite = true };
	if (s->inPlace) {
		s->factored = report.finite = knSparseLu_Factor(s);
		return report;
	}
	memcpy(s->factor, s->matrix, (size_t)s->valueCount * sizeof(double));
	memset(s->reach, 0, (size_t)s->size * sizeof(double));
	for (int k = 0; k < s->order.count; ++k) {
		noteReach(s, k, s->factor + s->diagonal[k]);
	}
	for (int k = 0; k < s->order.count; ++k) {
		double* D = s->factor + s->diagonal[k];
		int n = s->sizes[k];
		for (int i = 0; i < n * n; ++i) {
			report.finite = report.finite && knIsFinite(D[i]);
		}
		report.dropped += invertBlock(D, n, s->symmetric, s->reach + s->offsets[s->order.order[k]]);
		updateBelow(s, k);
		scaleBelow(s, k);
	}
	s->factored = report.finite;
	return report;
}

// --- solving ---------------------------------------------------------------------------------------------

static double* part(const knSparse* s, double* v, int step) {
	return v + s->offsets[s->order.order[step]];
}

// y -= B x, or its transpose: B is rows x columns.
static void subtractProduct(const double* B, bool transposed, int rows, int columns, const double* x,
							double* y) {
	for (int i = 0; i < rows; ++i) {
		for (int j = 0; j < columns; ++j) {
			if (transposed) {
				y[j] -= B[i * columns + j] * x[i];
			} else {
				y[i] -= B[i * columns + j] * x[j];
			}
		}
	}
}

static void applyDiagonal(const knSparse* s, int k, double* v) {
	double y[MAX];
	int n = s->sizes[k];
	multiply(s->factor + s->diagonal[k], v, false, n, n, 1, y);
	memcpy(v, y, (size_t)n * sizeof(double));
}

// v <- (L D U)^-1 v
static void substitute(const knSparse* s, double* v) {
	const knSparseOrder* order = &s->order;
	for (int k = 0; k < order->count; ++k) {
		for (int a = order->first[k]; a < order->first[k + 1]; ++a) {
			int i = order->rows[a];
			subtractProduct(s->factor + s->places[a].lower, false, rowSize(s, i), s->sizes[k], part(s, v, k),
							part(s, v, i));
		}
	}
	for (int k = order->count - 1; k >= 0; --k) {
		double* mine = part(s, v, k);
		if (s->symmetric) {
			applyDiagonal(s, k, mine);
		}
		for (int a = order->first[k]; a < order->first[k + 1]; ++a) {
			int i = order->rows[a];
			if (s->symmetric) {
				subtractProduct(s->factor + s->places[a].lower, true, rowSize(s, i), s->sizes[k],
								part(s, v, i), mine);
			} else {
				subtractProduct(s->factor + s->places[a].upper, false, s->sizes[k], rowSize(s, i),
								part(s, v, i), mine);
			}
		}
		if (!s->symmetric) {
			applyDiagonal(s, k, mine);
		}
	}
}

// rest = b - A x; returns its largest entry.
static double residual(knSparse* s, const double* b, double* x) {
	const knSparseOrder* order = &s->order;
	memcpy(s->rest, b, (size_t)s->size * sizeof(double));
	for (int k = 0; k < order->count; ++k) {
		int n = s->sizes[k];
		subtractProduct(s->matrix + s->diagonal[k], false, n, n, part(s, x, k), part(s, s->rest, k));
		for (int a = order->first[k]; a < order->first[k + 1]; ++a) {
			int i = order->rows[a], ni = rowSize(s, i);
			const knSparsePlace* place = &s->places[a];
			subtractProduct(s->matrix + place->lower, false, ni, n, part(s, x, k), part(s, s->rest, i));
			if (s->symmetric) {
				subtractProduct(s->matrix + place->lower, true, ni, n, part(s, x, i), part(s, s->rest, k));
			} else {
				subtractProduct(s->matrix + place->upper, false, n, ni, part(s, x, i), part(s, s->rest, k));
			}
		}
	}
	double worst = 0.0;
	for (int i = 0; i < s->size; ++i) {
		worst = knMax(worst, knAbs(s->rest[i]));
	}
	return worst;
}

knSparseReport knSparse_Solve(knSparse* s, const double* b, double* x, int refinements) {
	knSparseReport report = { .finite = s->factored };
	KN_ASSERT(s->factored);
	if (!s->factored) {
		return report;
	}
	if (s->inPlace) {
		memmove(x, b, (size_t)s->size * sizeof(double));
		knSparseLu_Solve(s, x);
		return report;
	}
	double size = 0.0;
	for (int i = 0; i < s->size; ++i) {
		s->work[i] = b[i];
		size = knMax(size, knAbs(b[i]));
	}
	double* right = s->work; // b, which x may overwrite
	memmove(x, b, (size_t)s->size * sizeof(double));
	substitute(s, x);
	double worst = residual(s, right, x);
	for (int step = 0; step < refinements && worst > 0.0; ++step) {
		substitute(s, s->rest);
		for (int i = 0; i < s->size; ++i) {
			x[i] += s->rest[i];
		}
		worst = residual(s, right, x);
	}
	report.residual = size > 0.0 ? worst / size : worst;
	return report;
}
