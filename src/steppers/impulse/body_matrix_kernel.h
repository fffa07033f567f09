// The factorisation of body_matrix.c, compiled once for every machine and once for those with AVX. Vectors run along the
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
static inline void subtractFrom(Row* to, double x, const double* row) {
	to->low -= x * *(const Four*)row;
	to->high -= x * *(const Two*)(row + 4);
}

static inline void storeRow(double* to, const Row* row) {
	*(Four*)to = row->low;
	*(Two*)(to + 4) = row->high;
}

// V = D^-1 U, all columns at once
static inline void solveBlock(const double* restrict D, const double* restrict U, double* restrict V) {
	for (int r = 0; r < N; ++r) {
		Row row = { *(const Four*)(U + N * r), *(const Two*)(U + N * r + 4) };
		for (int k = 0; k < r; ++k) {
			subtractFrom(&row, D[N * r + k], V + N * k);
		}
		storeRow(V + N * r, &row);
	}
	for (int r = N - 1; r >= 0; --r) {
		Row row = { D[N * r + r] * *(const Four*)(V + N * r), D[N * r + r] * *(const Two*)(V + N * r + 4) };
		for (int k = r + 1; k < N; ++k) {
			subtractFrom(&row, D[N * k + r], V + N * k);
		}
		storeRow(V + N * r, &row);
	}
}

// C -= A^T B, two rows of C at a time: twelve neighbours, the middle four of which belong to both.
static inline void subtractProduct(const double* restrict A, const double* restrict B, double* restrict C) {
	for (int r = 0; r < N; r += 2) {
		Four* c = (Four*)(C + N * r);
		Four c0 = c[0], c1 = c[1], c2 = c[2];
		for (int k = 0; k < N; ++k) {
			const Four first = *(const Four*)(B + N * k), last = *(const Four*)(B + N * k + 2);
			const double x = A[N * k + r], y = A[N * k + r + 1];
			c0 -= x * first;
			c1 -= (Four){ x, x, y, y } * (Four){ last[2], last[3], first[0], first[1] };
			c2 -= y * last;
		}
		c[0] = c0;
		c[1] = c1;
		c[2] = c2;
	}
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
