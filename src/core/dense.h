// Small dense linear algebra, row-major, n up to a few dozen: LDL^T for symmetric, LU with partial pivoting
// for general systems, and the orthonormal range of a small matrix. No allocation.
#pragma once

#include <stdbool.h>

// A = L D L^T in place (strict lower: L, diagonal: D). False if a pivot is zero or not finite (A is then
// spoilt).
bool knDense_FactorLdl(double* A, int n);
// Solves with the factors of knDense_FactorLdl, x in place of b.
void knDense_SolveLdl(const double* factors, int n, double* b);

// A = P L U in place. False if singular to working precision.
bool knDense_FactorLu(double* A, int n, int* pivots);
void knDense_SolveLu(const double* factors, int n, const int* pivots, double* b);

// Orthonormal basis of the column space of the n x m matrix A (columns of length n stored one after another),
// by pivoted modified Gram-Schmidt, twice. Columns shorter than `tolerance` times the longest (or 1, if
// that is more) count as zero. Returns the rank; basis has room for min(n, m) columns of length n.
int knDense_Range(const double* columns, int n, int m, double tolerance, double* basis);
