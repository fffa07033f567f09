// Assembling, factoring and solving of body_matrix.c, compiled once for every machine and once for each of the wider ones.
// Vectors run along the rows of blocks and never mix lanes, so all give the bits of plain loops.
//
//   V_k,i = D_k^-1 U_k,i        U_i,j -= V_k,i^T U_k,j
//
// Of diagonal blocks only the upper halves are good, so that what multiplies a row of L is a row as well.
#pragma once

#include "solve/body_matrix.h"

#define N 6
#define AREA 36
#define PANEL 12 // rows that are added at once

typedef double Two __attribute__((vector_size(16), aligned(16), may_alias));
typedef double Four __attribute__((vector_size(32), aligned(16), may_alias));

// what is forced into one another keeps its numbers in registers
#define INLINE static inline __attribute__((always_inline))

// --- rows of six -----------------------------------------------------------------------------------------

// Four and two.
typedef struct Row {
	Four low;
	Two high;
} Row;

INLINE Row loadRow(const double* from) {
	return (Row){ *(const Four*)from, *(const Two*)(from + 4) };
}

INLINE void storeRow(double* to, Row row) {
	*(Four*)to = row.low;
	*(Two*)(to + 4) = row.high;
}

INLINE Row scaleRow(double x, Row row) {
	return (Row){ x * row.low, x * row.high };
}

// a - x row
INLINE Row subtractRow(Row a, double x, Row row) {
	return (Row){ a.low - x * row.low, a.high - x * row.high };
}

// --- products of blocks ----------------------------------------------------------------------------------

// C -= sum a_k b_k^T, a and b rows of six. All of C stays in registers meanwhile. (Plus is minus with -a or -b: the same bits.)
// Where C is a diagonal block, only what is right of the diagonal is needed.
#if defined(__AVX__)

// Two rows of C are three vectors, the middle one of which belongs to both; of an upper half rows 2 and 3 have their last four
// numbers and rows 4 and 5 their last two, in one vector.
typedef struct Sum {
	Four part[9];
} Sum;

INLINE Four spread(double x) {
	return (Four){ x, x, x, x };
}

// The first half of a, the second of b.
INLINE Four join(Four a, Four b) {
	return __builtin_shufflevector(a, b, 0, 1, 6, 7);
}

INLINE void loadSum(Sum* sum, const double* C, bool upper) {
	const Four* c = (const Four*)C;
#pragma GCC unroll 3
	for (int i = 0; i < 3; ++i) {
		sum->part[i] = c[i];
	}
	if (upper) {
		const Two last = *(const Two*)(C + 4 * N + 4), end = *(const Two*)(C + 5 * N + 4);
		sum->part[3] = *(const Four*)(C + 2 * N + 2);
		sum->part[4] = *(const Four*)(C + 3 * N + 2);
		sum->part[5] = __builtin_shufflevector(last, end, 0, 1, 2, 3);
		return;
	}
#pragma GCC unroll 6
	for (int i = 3; i < 9; ++i) {
		sum->part[i] = c[i];
	}
}

INLINE void storeSum(const Sum* sum, double* C, bool upper) {
	Four* c = (Four*)C;
#pragma GCC unroll 3
	for (int i = 0; i < 3; ++i) {
		c[i] = sum->part[i];
	}
	if (upper) {
		*(Four*)(C + 2 * N + 2) = sum->part[3];
		*(Four*)(C + 3 * N + 2) = sum->part[4];
		*(Two*)(C + 4 * N + 4) = __builtin_shufflevector(sum->part[5], sum->part[5], 0, 1);
		*(Two*)(C + 5 * N + 4) = __builtin_shufflevector(sum->part[5], sum->part[5], 2, 3);
		return;
	}
#pragma GCC unroll 6
	for (int i = 3; i < 9; ++i) {
		c[i] = sum->part[i];
	}
}

INLINE void subtractOuter(Sum* sum, const double* a, const double* b, bool upper) {
	const Four first = *(const Four*)b, last = *(const Four*)(b + 2);
	const Four middle = __builtin_shufflevector(last, first, 2, 3, 4, 5);
	const Four a0 = spread(a[0]), a1 = spread(a[1]), a2 = spread(a[2]), a3 = spread(a[3]), a4 = spread(a[4]),
			   a5 = spread(a[5]);
	sum->part[0] -= a0 * first;
	sum->part[1] -= join(a0, a1) * middle;
	sum->part[2] -= a1 * last;
	if (upper) {
		sum->part[3] -= a2 * last;
		sum->part[4] -= a3 * last;
		sum->part[5] -= join(a4, a5) * __builtin_shufflevector(last, last, 2, 3, 2, 3);
	} else {
		sum->part[3] -= a2 * first;
		sum->part[4] -= join(a2, a3) * middle;
		sum->part[5] -= a3 * last;
		sum->part[6] -= a4 * first;
		sum->part[7] -= join(a4, a5) * middle;
		sum->part[8] -= a5 * last;
	}
}

#else

typedef struct Sum {
	Two part[N][3];
} Sum;

INLINE void loadSum(Sum* sum, const double* C, bool upper) {
#pragma GCC unroll 6
	for (int r = 0; r < N; ++r) {
#pragma GCC unroll 3
		for (int c = 0; c < 3; ++c) {
			if (!upper || 2 * c + 1 >= r) {
				sum->part[r][c] = ((const Two*)(C + N * r))[c];
			}
		}
	}
}

INLINE void storeSum(const Sum* sum, double* C, bool upper) {
#pragma GCC unroll 6
	for (int r = 0; r < N; ++r) {
#pragma GCC unroll 3
		for (int c = 0; c < 3; ++c) {
			if (!upper || 2 * c + 1 >= r) {
				((Two*)(C + N * r))[c] = sum->part[r][c];
			}
		}
	}
}

INLINE void subtractOuter(Sum* sum, const double* a, const double* b, bool upper) {
	const Two* row = (const Two*)b;
#pragma GCC unroll 6
	for (int r = 0; r < N; ++r) {
#pragma GCC unroll 3
		for (int c = 0; c < 3; ++c) {
			if (!upper || 2 * c + 1 >= r) {
				sum->part[r][c] -= a[r] * row[c];
			}
		}
	}
}

#endif

// C -= V^T U
INLINE void subtractProduct(const Row V[N], const double* restrict U, double* restrict C, bool upper) {
	Sum sum;
	loadSum(&sum, C, upper);
#pragma GCC unroll 6
	for (int k = 0; k < N; ++k) {
		subtractOuter(&sum, (const double*)&V[k], U + N * k, upper);
	}
	storeSum(&sum, C, upper);
}

// --- assembling ------------------------------------------------------------------------------------------

// Rows of six, somewhere.
typedef const double* const* Rows;

INLINE void addProducts(Rows a, Rows b, int count, double* C, bool upper) {
	Sum sum;
	loadSum(&sum, C, upper);
	for (int k = 0; k < count; ++k) {
		subtractOuter(&sum, a[k], b[k], upper);
	}
	storeSum(&sum, C, upper);
}

static void addPanel(const knBodyPlace* place, const knBodyRow* const* rows, const double* weights,
					 int count) {
	Row scaledA[PANEL], scaledB[PANEL];
	const double *a[PANEL], *b[PANEL], *wa[PANEL], *wb[PANEL];
	for (int k = 0; k < count; ++k) {
		a[k] = rows[k]->a;
		b[k] = rows[k]->b;
		scaledA[k] = scaleRow(-weights[k], loadRow(a[k]));
		scaledB[k] = scaleRow(-weights[k], loadRow(b[k]));
		wa[k] = (const double*)&scaledA[k];
		wb[k] = (const double*)&scaledB[k];
	}
	if (place->da != NULL) {
		addProducts(a, wa, count, place->da, true);
	}
	if (place->db != NULL) {
		addProducts(b, wb, count, place->db, true);
	}
	if (place->ab != NULL) {
		addProducts(place->swapped ? wb : wa, place->swapped ? a : b, count, place->ab, false);
	}
}

INLINE void addProduct(const double* a, const double* b, double* C, bool upper) {
	Sum sum;
	loadSum(&sum, C, upper);
	subtractOuter(&sum, a, b, upper);
	storeSum(&sum, C, upper);
}

static void addRow(const knBodyPlace* place, const knBodyRow* row, double weight) {
	const Row scaledA = scaleRow(-weight, loadRow(row->a)), scaledB = scaleRow(-weight, loadRow(row->b));
	const double *wa = (const double*)&scaledA, *wb = (const double*)&scaledB;
	if (place->da != NULL) {
		addProduct(row->a, wa, place->da, true);
	}
	if (place->db != NULL) {
		addProduct(row->b, wb, place->db, true);
	}
	if (place->ab != NULL) {
		addProduct(place->swapped ? wb : wa, place->swapped ? row->a : row->b, place->ab, false);
	}
}

static void addRows(const knBodyPlace* place, const knBodyRow* const* rows, const double* weights,
					int count) {
	for (int k = 0; k < count; k += PANEL) {
		addPanel(place, rows + k, weights + k, count - k < PANEL ? count - k : PANEL);
	}
}

static void clearBlocks(double* blocks, int count) {
	const Four none = { 0.0 };
	Four* at = (Four*)blocks;
	for (int i = 0; i < count; ++i, at += AREA / 4) {
#pragma GCC unroll 9
		for (int c = 0; c < AREA / 4; ++c) {
			at[c] = none;
		}
	}
}

// --- factoring -------------------------------------------------------------------------------------------

// D = L E L^T in place: L^T above the diagonal, 1/E on it. An explicit inverse would lose the digits of soft directions
// beside stiff ones.
static inline bool factorBlock(double* restrict D) {
	Row row[N];
#pragma GCC unroll 6
	for (int r = 0; r < N; ++r) {
		row[r] = loadRow(D + N * r);
	}
#pragma GCC unroll 6
	for (int k = 0; k < N; ++k) {
		const Row whole = row[k];
		const double *at = (const double*)&whole, pivot = at[k];
		if (!(pivot > 0.0)) {
			return false;
		}
		const double inverse = 1.0 / pivot;
		const Row scaled = scaleRow(inverse, whole);
#pragma GCC unroll 6
		for (int r = k + 1; r < N; ++r) {
			row[r] = subtractRow(row[r], at[r], scaled);
		}
		storeRow(D + N * k, scaled);
		D[N * k + k] = inverse;
	}
	return true;
}

// V = D^-1 U, all columns at once. Unrolled, so that the rows stay in registers.
static inline void solveBlock(const double* restrict D, const double* restrict U, Row V[N]) {
	Row v[N];
#pragma GCC unroll 6
	for (int r = 0; r < N; ++r) {
		v[r] = loadRow(U + N * r);
#pragma GCC unroll 6
		for (int k = 0; k < r; ++k) {
			v[r] = subtractRow(v[r], D[N * k + r], v[k]);
		}
	}
#pragma GCC unroll 6
	for (int r = N - 1; r >= 0; --r) {
		v[r] = scaleRow(D[N * r + r], v[r]);
#pragma GCC unroll 6
		for (int k = r + 1; k < N; ++k) {
			v[r] = subtractRow(v[r], D[N * r + k], v[k]);
		}
		V[r] = v[r];
	}
}

static bool factorBlocks(knBodyMatrix* m) {
	int at = 0;
	for (int k = 0; k < m->count; ++k) {
		double* D = m->diagonal + (ptrdiff_t)AREA * k;
		if (!factorBlock(D)) {
			return false;
		}
		const int begin = m->first[k], end = m->first[k + 1];
		for (int e = begin; e < end; ++e) {
			// U_e is replaced by V_e when the blocks after it have been served
			double* U = m->below + (ptrdiff_t)AREA * e;
			Row V[N];
			solveBlock(D, U, V);
			subtractProduct(V, U, m->diagonal + (ptrdiff_t)AREA * m->rows[e], true);
			at += 1;
			for (int f = e + 1; f < end; ++f, ++at) {
				subtractProduct(V, m->below + (ptrdiff_t)AREA * f,
								m->below + (ptrdiff_t)AREA * m->targets[at], false);
			}
#pragma GCC unroll 6
			for (int r = 0; r < N; ++r) {
				storeRow(U + N * r, V[r]);
			}
		}
	}
	return true;
}

// --- solving ---------------------------------------------------------------------------------------------

static inline void solveVector(const double* D, double* y) {
#pragma GCC unroll 6
	for (int r = 1; r < N; ++r) {
#pragma GCC unroll 6
		for (int k = 0; k < r; ++k) {
			y[r] -= D[N * k + r] * y[k];
		}
	}
#pragma GCC unroll 6
	for (int r = N - 1; r >= 0; --r) {
		y[r] *= D[N * r + r];
#pragma GCC unroll 6
		for (int k = r + 1; k < N; ++k) {
			y[r] -= D[N * r + k] * y[k];
		}
	}
}

// y -= sum V x over the blocks of a step, each row's product by sums over even and over odd places.
#if defined(__AVX__)

// What two rows of V give with x, each as sums over even and over odd places. Their numbers are three vectors, the middle one of
// which belongs to both.
INLINE Four rateSums(const double* V, Four first, Four middle, Four last) {
	const Four* v = (const Four*)V;
	const Four p0 = v[0] * first, p1 = v[1] * middle, p2 = v[2] * last;
	return __builtin_shufflevector(p0, p1, 0, 1, 6, 7) + __builtin_shufflevector(p0, p2, 2, 3, 4, 5) +
		   __builtin_shufflevector(p1, p2, 0, 1, 6, 7);
}

INLINE void subtractRates(const knBodyMatrix* m, int k, const double* x, double* y) {
	Four upper = { y[0], y[2], y[1], y[3] };
	Two lower = { y[4], y[5] };
	for (int e = m->first[k]; e < m->first[k + 1]; ++e) {
		const double *V = m->below + (ptrdiff_t)AREA * e, *at = x + (ptrdiff_t)N * m->rows[e];
		const Four first = *(const Four*)at, last = *(const Four*)(at + 2);
		const Four middle = __builtin_shufflevector(last, first, 2, 3, 4, 5);
		const Four s = rateSums(V, first, middle, last), t = rateSums(V + 2 * N, first, middle, last);
		const Four u = rateSums(V + 4 * N, first, middle, last);
		upper -= __builtin_shufflevector(s, t, 0, 4, 2, 6) + __builtin_shufflevector(s, t, 1, 5, 3, 7);
		lower -= __builtin_shufflevector(u, u, 0, 2) + __builtin_shufflevector(u, u, 1, 3);
	}
	*(Four*)y = __builtin_shufflevector(upper, upper, 0, 2, 1, 3);
	*(Two*)(y + 4) = lower;
}

#else

INLINE void subtractRates(const knBodyMatrix* m, int k, const double* x, double* y) {
	for (int e = m->first[k]; e < m->first[k + 1]; ++e) {
		const Two* v = (const Two*)(m->below + (ptrdiff_t)AREA * e);
		const Two *at = (const Two*)(x + (ptrdiff_t)N * m->rows[e]), x0 = at[0], x1 = at[1], x2 = at[2];
#pragma GCC unroll 6
		for (int r = 0; r < N; ++r) {
			const Two sum = v[3 * r] * x0 + v[3 * r + 1] * x1 + v[3 * r + 2] * x2;
			y[r] -= sum[0] + sum[1];
		}
	}
}

#endif

static void solveBlocks(const knBodyMatrix* m, double* x) {
	for (int k = 0; k < m->count; ++k) {
		const double* y = x + (ptrdiff_t)N * k;
		for (int e = m->first[k]; e < m->first[k + 1]; ++e) {
			const double* V = m->below + (ptrdiff_t)AREA * e;
			double* out = x + (ptrdiff_t)N * m->rows[e];
			Row sum = loadRow(out);
#pragma GCC unroll 6
			for (int r = 0; r < N; ++r) {
				sum = subtractRow(sum, y[r], loadRow(V + N * r));
			}
			storeRow(out, sum);
		}
	}
	for (int k = m->count - 1; k >= 0; --k) {
		double* y = x + (ptrdiff_t)N * k;
		solveVector(m->diagonal + (ptrdiff_t)AREA * k, y);
		subtractRates(m, k, x, y);
	}
}

#define KN_BODY_KERNEL(name)                                                                                 \
	{ name, clearBlocks, addRow, addRows, factorBlocks, solveBlocks }
