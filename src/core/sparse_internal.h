// What the two halves of the numeric factorisation share: sparse_ldl.c (creation, access, careful pivots) and sparse_lu.c
// (in place, regular pivots).
#pragma once

#include "core/sparse_order.h"

// A block below the diagonal, and in LU its mirror image above.
typedef struct knSparsePlace {
	int lower, upper; // offsets into the values; symmetric: upper is unused
} knSparsePlace;

struct knSparse {
	knAllocator allocator;
	knSparseOrder order;
	bool symmetric;
	bool inPlace;          // `factor` is `matrix`
	int size;              // scalar unknowns
	int* sizes;            // [count] by step
	int* offsets;          // [count + 1] by block: into vectors
	int* diagonal;         // [count] by step: into values
	knSparsePlace* places; // [order.rowCount]
	int* targets;   // where updates go: for each step, for each pair of rows i >= j, the offset of A_ij
	int* targetsUp; // LU: of A_ji; for i == j unused
	int targetCount;
	int* firstTarget; // [count + 1]
	int valueCount;
	double* matrix; // as written
	double* factor; // L, U and D^-1 in its diagonal blocks
	double* reach;  // [size] largest number that went into each diagonal entry
	double *work, *rest;
	bool factored;
};

// sparse_lu.c: factors the matrix in its own memory. False: a pivot block is singular or not finite.
bool knSparseLu_Factor(knSparse* sparse);
// x <- A^-1 x with that factor.
void knSparseLu_Solve(const knSparse* sparse, double* x);
