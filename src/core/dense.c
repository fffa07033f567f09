// Small dense linear algebra, row-major.
//
// LDL^T without pivoting, for positive definite (and quasi-definite) matrices. LU with partial pivoting,
// column by column (Crout's order), which sees every cancellation: a pivot that is no larger than the
// rounding of the terms it was summed from is noise, and the matrix singular; this verdict does not change
// when rows or columns are scaled. The range by Gram-Schmidt, each column taken against the basis twice
// ("twice is enough", Kahan).
#include "core/dense.h"

#include "core/assert.h"
#include "knuckle/vecmath.h"

// rounding of a sum of n products, with some room for what the factors had lost before
#define NOISE 0x1p-49

bool knDense_FactorLdl(double* A, int n) {
	KN_ASSERT(n >= 0);
	for (int i = 0; i < n; ++i) {
		double* row = A + i * n;
		// row[j] becomes L_ij D_j, then L_ij
		for (int j = 0; j < i; ++j) {
			const double* rowJ = A + j * n;
			double sum = row[j];
			for (int k = 0; k < j; ++k) {
				sum -= row[k] * rowJ[k];
			}
			row[j] = sum;
		}
		double pivot = row[i];
		for (int j = 0; j < i; ++j) {
			double scaled = row[j] / A[j * n + j];
			pivot -= scaled * row[j];
			row[j] = scaled;
		}
		row[i] = pivot;
		if (pivot == 0.0 || !knIsFinite(pivot)) {
			return false;
		}
	}
	return true;
}

void knDense_SolveLdl(const double* factors, int n, double* b) {
	for (int i = 0; i < n; ++i) {
		for (int k = 0; k < i; ++k) {
			b[i] -= factors[i * n + k] * b[k];
		}
	}
	for (int i = 0; i < n; ++i) {
		b[i] /= factors[i * n + i];
	}
	for (int i = n - 1; i >= 0; --i) {
		for (int k = i + 1; k < n; ++k) {
			b[i] -= factors[k * n + i] * b[k];
		}
	}
}

static void swapRows(double* A, int n, int i, int j) {
	for (int k = 0; k < n; ++k) {
		double swap = A[i * n + k];
		A[i * n + k] = A[j * n + k];
		A[j * n + k] = swap;
	}
}

bool knDense_FactorLu(double* A, int n, int* pivots) {
	KN_ASSERT(n >= 0);
	for (int column = 0; column < n; ++column) {
		int pivotRow = column;
		double largest = -1.0, largestTerms = 0.0;
		for (int i = 0; i < n; ++i) {
			// U above the diagonal, L times the pivot on and below it
			double sum = A[i * n + column];
			double terms = fabs(sum);
			int inner = i < column ? i : column;
			for (int k = 0; k < inner; ++k) {
				double product = A[i * n + k] * A[k * n + column];
				sum -= product;
				terms += fabs(product);
			}
			A[i * n + column] = sum;
			if (i >= column && !(fabs(sum) <= largest)) {
				pivotRow = i;
				largest = fabs(sum);
				largestTerms = terms;
			}
		}
		if (!(largest > n * NOISE * largestTerms) || !knIsFinite(largest)) {
			return false;
		}
		pivots[column] = pivotRow;
		if (pivotRow != column) {
			swapRows(A, n, pivotRow, column);
		}
		for (int i = column + 1; i < n; ++i) {
			A[i * n + column] /= A[column * n + column];
		}
	}
	return true;
}

void knDense_SolveLu(const double* factors, int n, const int* pivots, double* b) {
	for (int i = 0; i < n; ++i) {
		double swap = b[i];
		b[i] = b[pivots[i]];
		b[pivots[i]] = swap;
	}
	for (int i = 0; i < n; ++i) {
		for (int k = 0; k < i; ++k) {
			b[i] -= factors[i * n + k] * b[k];
		}
	}
	for (int i = n - 1; i >= 0; --i) {
		for (int k = i + 1; k < n; ++k) {
			b[i] -= factors[i * n + k] * b[k];
		}
		b[i] /= factors[i * n + i];
	}
}

static double dot(const double* a, const double* b, int n) {
	double sum = 0.0;
	for (int i = 0; i < n; ++i) {
		sum += a[i] * b[i];
	}
	return sum;
}

// What is left of `column` beside the first `rank` basis columns, into `rest`; returns its length.
static double projectOut(const double* column, int n, const double* basis, int rank, double* rest) {
	for (int i = 0; i < n; ++i) {
		rest[i] = column[i];
	}
	for (int pass = 0; pass < 2; ++pass) {
		for (int k = 0; k < rank; ++k) {
			double along = dot(basis + k * n, rest, n);
			for (int i = 0; i < n; ++i) {
				rest[i] -= along * basis[k * n + i];
			}
		}
	}
	return sqrt(dot(rest, rest, n));
}

int knDense_Range(const double* columns, int n, int m, double tolerance, double* basis) {
	double longest = 1.0;
	for (int j = 0; j < m; ++j) {
		longest = knMax(longest, sqrt(dot(columns + j * n, columns + j * n, n)));
	}

	// the next free basis column is also the scratch for its candidates
	int rankLimit = n < m ? n : m;
	for (int rank = 0; rank < rankLimit; ++rank) {
		double* next = basis + rank * n;
		int best = -1;
		double bestLength = tolerance * longest;
		for (int j = 0; j < m; ++j) {
			double length = projectOut(columns + j * n, n, basis, rank, next);
			if (length > bestLength) {
				best = j;
				bestLength = length;
			}
		}
		if (best < 0) {
			return rank;
		}
		projectOut(columns + best * n, n, basis, rank, next);
		for (int i = 0; i < n; ++i) {
			next[i] /= bestLength;
		}
	}
	return rankLimit;
}
