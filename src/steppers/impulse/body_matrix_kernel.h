// Factoring and solving of body_matrix.c, compiled once for every machine and once for those with AVX. Vectors run along the
// rows of blocks and never mix lanes, so both give the bits of plain loops.
//
//   V_k,i = D_k^-1 U_k,i        U_i,j -= U_k,i^T V_k,j
#pragma once

#include <string.h>

#include "steppers/impulse/body_matrix.h"

#define N 6
#define AREA 36

typedef double Two __attribute__((vector_size(16), aligned(16), may_alias));
typedef double Four __attribute__((vector_size(32), aligned(16), may_alias));

// D = L E L^T in place: L below the diagonal, 1/E on it. An explicit inverse would lose the digits of soft directions
// beside stiff ones.
static bool factorBlock(double* restrict D) {
	for (int k = 0; k < N; ++k) {
		double pivot = D[N * k + k], scaled[N];
		if (!(pivot > 0.0)) {
			return false;
		}
		double inverse = 1.0 / pivot;
		for (int r = k + 1; r < N; ++r) {
			scaled[r] = D[N * r + k] * inverse;
		}
		for (int r = k + 1; r < N; ++r) {
			for (int c = k + 1; c <= r; ++c) {
				D[N * r + c] -= scaled[r] * D[N * c + k];
			}
		}
		for (int r = k + 1; r < N; ++r) {
			D[N * r + k] = scaled[r];
		}
		D[N * k + k] = inverse;
	}
	return true;
}

// A row of six: four and two.
typedef struct Row {
	Four low;
	Two high;
} Row;

// to -= x row
static inline void subtractFrom(Row* to, double x, const Row* row) {
	to->low -= x * row->low;
	to->high -= x * row->high;
}

static inline Row loadRow(const double* from) {
	return (Row){ *(const Four*)from, *(const Two*)(from + 4) };
}

static inline void storeRow(double* to, const Row* row) {
	*(Four*)to = row->low;
	*(Two*)(to + 4) = row->high;
}

// V = D^-1 U, all columns at once. Unrolled, so that the rows stay in registers.
static inline void solveBlock(const double* restrict D, const double* restrict U, double* restrict V) {
	Row v[N];
#pragma GCC unroll 6
	for (int r = 0; r < N; ++r) {
		v[r] = loadRow(U + N * r);
#pragma GCC unroll 6
		for (int k = 0; k < r; ++k) {
			subtractFrom(&v[r], D[N * r + k], &v[k]);
		}
	}
#pragma GCC unroll 6
	for (int r = N - 1; r >= 0; --r) {
		v[r].low *= D[N * r + r];
		v[r].high *= D[N * r + r];
#pragma GCC unroll 6
		for (int k = r + 1; k < N; ++k) {
			subtractFrom(&v[r], D[N * k + r], &v[k]);
		}
		storeRow(V + N * r, &v[r]);
	}
}

// C -= A^T B. All of C stays in registers, two rows in three vectors, the middle one of which belongs to both.
static inline void subtractProduct(const double* restrict A, const double* restrict B, double* restrict C) {
	Four* c = (Four*)C;
	Four c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], c4 = c[4], c5 = c[5], c6 = c[6], c7 = c[7], c8 = c[8];
	for (int k = 0; k < N; ++k) {
		const double* a = A + N * k;
		const Four first = *(const Four*)(B + N * k), last = *(const Four*)(B + N * k + 2);
		const Four middle = { last[2], last[3], first[0], first[1] };
		c0 -= a[0] * first;
		c1 -= (Four){ a[0], a[0], a[1], a[1] } * middle;
		c2 -= a[1] * last;
		c3 -= a[2] * first;
		c4 -= (Four){ a[2], a[2], a[3], a[3] } * middle;
		c5 -= a[3] * last;
		c6 -= a[4] * first;
		c7 -= (Four){ a[4], a[4], a[5], a[5] } * middle;
		c8 -= a[5] * last;
	}
	c[0] = c0;
	c[1] = c1;
	c[2] = c2;
	c[3] = c3;
	c[4] = c4;
	c[5] = c5;
	c[6] = c6;
	c[7] = c7;
	c[8] = c8;
}

static inline bool factorBlocks(knBodyMatrix* m) {
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
			_Alignas(16) double V[AREA];
			solveBlock(D, U, V);
			subtractProduct(U, V, m->diagonal + (ptrdiff_t)AREA * m->rows[e]);
			at += 1;
			for (int f = e + 1; f < end; ++f, ++at) {
				// U_(i, j) -= V_(k, i)^T U_(k, j)
				subtractProduct(V, m->below + (ptrdiff_t)AREA * f,
								m->below + (ptrdiff_t)AREA * m->targets[at]);
			}
			memcpy(U, V, sizeof(V));
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
			y[r] -= D[N * r + k] * y[k];
		}
	}
#pragma GCC unroll 6
	for (int r = N - 1; r >= 0; --r) {
		y[r] *= D[N * r + r];
#pragma GCC unroll 6
		for (int k = r + 1; k < N; ++k) {
			y[r] -= D[N * k + r] * y[k];
		}
	}
}

// y_r - the row's product with `in`: sums over even and over odd places, then both. Two rows at once.
static inline void subtractRates(const double* row, const double* in, double* y) {
	Four sum = { 0.0 };
	for (int c = 0; c < N; c += 2) {
		const Four both = { row[c], row[c + 1], row[N + c], row[N + c + 1] };
		const Four with = { in[c], in[c + 1], in[c], in[c + 1] };
		sum = c == 0 ? both * with : sum + both * with;
	}
	y[0] -= sum[0] + sum[1];
	y[1] -= sum[2] + sum[3];
}

static inline void solveBlocks(const knBodyMatrix* m, double* x) {
	for (int k = 0; k < m->count; ++k) {
		const double* y = x + (ptrdiff_t)N * k;
		for (int e = m->first[k]; e < m->first[k + 1]; ++e) {
			const double* V = m->below + (ptrdiff_t)AREA * e;
			double* out = x + (ptrdiff_t)N * m->rows[e];
			Row sum = loadRow(out);
#pragma GCC unroll 6
			for (int r = 0; r < N; ++r) {
				const Row row = loadRow(V + N * r);
				subtractFrom(&sum, y[r], &row);
			}
			storeRow(out, &sum);
		}
	}
	for (int k = m->count - 1; k >= 0; --k) {
		double* y = x + (ptrdiff_t)N * k;
		solveVector(m->diagonal + (ptrdiff_t)AREA * k, y);
		for (int e = m->first[k]; e < m->first[k + 1]; ++e) {
			const double* V = m->below + (ptrdiff_t)AREA * e;
			const double* later = x + (ptrdiff_t)N * m->rows[e];
			subtractRates(V, later, y);
			subtractRates(V + 2 * N, later, y + 2);
			subtractRates(V + 4 * N, later, y + 4);
		}
	}
}
