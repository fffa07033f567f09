// Block LU in the matrix's own memory, on the order and pattern of sparse_order.c, for matrices whose pivot blocks are
// regular. Step k, D the present diagonal block, i and j the steps below it:
//
//   D <- D^-1      L_ik = A_ik D^-1      A_ij -= L_ik A_kj
//
// Blocks are small; those of one size throughout (3: ball joints, 5 and 6: hinges without and with parts) have kernels
// with constant bounds. All sums run in one order, so that kernels give equal bits.

#include "core/sparse_internal.h"

#include <math.h>
#include <string.h>

#include "knuckle/vecmath.h"

#define MAX KN_SPARSE_MAX_BLOCK

// --- kernels -----------------------------------------------------------------------------------------------

// C (a x c) -= A (a x b) B (b x c); inlined with constant sizes by its callers.
static inline __attribute__((always_inline)) void
subtractMatrix(double* restrict C, const double* restrict A, const double* restrict B, int a, int b, int c) {
	for (int i = 0; i < a; ++i) {
		for (int j = 0; j < c; ++j) {
			double sum = A[i * b] * B[j];
			for (int k = 1; k < b; ++k) {
				sum += A[i * b + k] * B[k * c + j];
			}
			C[i * c + j] -= sum;
		}
	}
}

static inline __attribute__((always_inline)) void
multiplyMatrix(double* restrict C, const double* restrict A, const double* restrict B, int a, int b, int c) {
	for (int i = 0; i < a; ++i) {
		for (int j = 0; j < c; ++j) {
			double sum = A[i * b] * B[j];
			for (int k = 1; k < b; ++k) {
				sum += A[i * b + k] * B[k * c + j];
			}
			C[i * c + j] = sum;
		}
	}
}

static void subtractProduct(double* C, const double* A, const double* B, int a, int b, int c) {
	if (a == b && b == c) {
		switch (a) {
		case 3:
			subtractMatrix(C, A, B, 3, 3, 3);
			return;
		case 5:
			subtractMatrix(C, A, B, 5, 5, 5);
			return;
		case 6:
			subtractMatrix(C, A, B, 6, 6, 6);
			return;
		default:
			break;
		}
	}
	subtractMatrix(C, A, B, a, b, c);
}

// A <- A D, A is a x n.
static void multiplyRight(double* A, const double* D, int a, int n) {
	double copy[MAX * MAX];
	memcpy(copy, A, sizeof(double) * (size_t)(a * n));
	if (a == n && n == 3) {
		multiplyMatrix(A, copy, D, 3, 3, 3);
	} else if (a == n && n == 6) {
		multiplyMatrix(A, copy, D, 6, 6, 6);
	} else {
		multiplyMatrix(A, copy, D, a, n, n);
	}
}

static inline __attribute__((always_inline)) void subtractVector(double* y, const double* A, const double* x,
																 int a, int b) {
	for (int i = 0; i < a; ++i) {
		double sum = A[i * b] * x[0];
		for (int k = 1; k < b; ++k) {
			sum += A[i * b + k] * x[k];
		}
		y[i] -= sum;
	}
}

static void subtractFromVector(double* y, const double* A, const double* x, int a, int b) {
	if (a == 3 && b == 3) {
		subtractVector(y, A, x, 3, 3);
	} else {
		subtractVector(y, A, x, a, b);
	}
}

// --- pivot blocks --------------------------------------------------------------------------------------------

// Cofactors.
static bool invertThree(double* A) {
	const double c0 = A[4] * A[8] - A[5] * A[7], c1 = A[5] * A[6] - A[3] * A[8],
				 c2 = A[3] * A[7] - A[4] * A[6];
	const double determinant = A[0] * c0 + A[1] * c1 + A[2] * c2;
	const double s = 1.0 / determinant;
	const double B[9] = { s * c0, s * (A[2] * A[7] - A[1] * A[8]), s * (A[1] * A[5] - A[2] * A[4]),
						  s * c1, s * (A[0] * A[8] - A[2] * A[6]), s * (A[2] * A[3] - A[0] * A[5]),
						  s * c2, s * (A[1] * A[6] - A[0] * A[7]), s * (A[0] * A[4] - A[1] * A[3]) };
	memcpy(A, B, sizeof(B));
	return determinant != 0.0 && knIsFinite(s);
}

static void swapRows(double* A, int n, int i, int k) {
	for (int j = 0; j < n; ++j) {
		double held = A[i * n + j];
		A[i * n + j] = A[k * n + j];
		A[k * n + j] = held;
	}
}

// Gauss-Jordan in place with the largest entry of the column as pivot.
static bool invert(double* A, int n) {
	int swapped[MAX];
	for (int c = 0; c < n; ++c) {
		int best = c;
		for (int r = c + 1; r < n; ++r) {
			best = knAbs(A[r * n + c]) > knAbs(A[best * n + c]) ? r : best;
		}
		const double pivot = A[best * n + c];
		if (pivot == 0.0 || !knIsFinite(pivot)) {
			return false;
		}
		swapped[c] = best;
		if (best != c) {
			swapRows(A, n, best, c);
		}
		const double inverse = 1.0 / pivot;
		A[c * n + c] = 1.0;
		for (int j = 0; j < n; ++j) {
			A[c * n + j] *= inverse;
		}
		for (int r = 0; r < n; ++r) {
			const double factor = A[r * n + c];
			if (r == c || factor == 0.0) {
				continue;
			}
			A[r * n + c] = 0.0;
			for (int j = 0; j < n; ++j) {
				A[r * n + j] -= factor * A[c * n + j];
			}
		}
	}
	// rows were exchanged, so columns of the inverse are, in the opposite order
	for (int c = n - 1; c >= 0; --c) {
		for (int r = 0; swapped[c] != c && r < n; ++r) {
			double held = A[r * n + c];
			A[r * n + c] = A[r * n + swapped[c]];
			A[r * n + swapped[c]] = held;
		}
	}
	return true;
}

static bool invertPivot(double* A, int n) {
	return n == 3 ? invertThree(A) : (n == 0 || invert(A, n));
}

// --- factor and solve ------------------------------------------------------------------------------------------

bool knSparseLu_Factor(knSparse* s) {
	const knSparseOrder* order = &s->order;
	double* values = s->matrix;
	for (int k = 0; k < order->count; ++k) {
		const int n = s->sizes[k], begin = order->first[k], end = order->first[k + 1];
		double* D = values + s->diagonal[k];
		if (!invertPivot(D, n)) {
			return false;
		}
		if (n == 0) {
			continue;
		}
		for (int a = begin; a < end; ++a) {
			multiplyRight(values + s->places[a].lower, D, s->sizes[order->rows[a]], n);
		}
		int at = s->firstTarget[k];
		for (int a = begin; a < end; ++a) {
			const int i = order->rows[a], ni = s->sizes[i];
			const double *La = values + s->places[a].lower, *Ua = values + s->places[a].upper;
			for (int b = begin; b < a; ++b, ++at) {
				const int nj = s->sizes[order->rows[b]];
				subtractProduct(values + s->targets[at], La, values + s->places[b].upper, ni, n, nj);
				subtractProduct(values + s->targetsUp[at], values + s->places[b].lower, Ua, nj, n, ni);
			}
			subtractProduct(values + s->targets[at++], La, Ua, ni, n, ni);
		}
	}
	return true;
}

void knSparseLu_Solve(const knSparse* s, double* x) {
	const knSparseOrder* order = &s->order;
	const double* values = s->matrix;
	for (int k = 0; k < order->count; ++k) {
		const double* mine = x + s->offsets[order->order[k]];
		for (int a = order->first[k]; s->sizes[k] > 0 && a < order->first[k + 1]; ++a) {
			const int i = order->rows[a];
			subtractFromVector(x + s->offsets[order->order[i]], values + s->places[a].lower, mine,
							   s->sizes[i], s->sizes[k]);
		}
	}
	for (int k = order->count - 1; k >= 0; --k) {
		double* mine = x + s->offsets[order->order[k]];
		const int n = s->sizes[k];
		for (int a = order->first[k]; a < order->first[k + 1]; ++a) {
			const int i = order->rows[a];
			if (s->sizes[i] > 0) {
				subtractFromVector(mine, values + s->places[a].upper, x + s->offsets[order->order[i]], n,
								   s->sizes[i]);
			}
		}
		double y[MAX];
		memcpy(y, mine, sizeof(double) * (size_t)n);
		for (int i = 0; i < n; ++i) {
			double sum = 0.0;
			for (int j = 0; j < n; ++j) {
				sum += values[s->diagonal[k] + i * n + j] * y[j];
			}
			mine[i] = sum;
		}
	}
}
