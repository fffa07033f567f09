// A symmetric matrix of 6 x 6 blocks over the bodies of an island, factored as L D L^T (body_matrix.c).
#pragma once

#include "core/arena.h"
#include "core/spatial.h"

typedef struct knBodyEdge {
	int a, b; // bodies
} knBodyEdge;

// Steps are unknowns in the order of elimination.
typedef struct knBodyMatrix {
	int count;   // bodies
	int* bodies; // [count] by step
	int* first;  // [count + 1] into rows
	int* rows;   // steps below each step's diagonal, ascending
	int*
		targets; // for each step and pair of rows (i, j), i <= j: the block (j, i), by index into below; -1 - i: diagonal i
	double* below;    // [first[count]] blocks [6][6]: (row, step) transposed; after factoring D^-1 times that
	double* diagonal; // [count] blocks; after factoring L and 1/E of L E L^T
	int64_t products; // block products of a factorisation
} knBodyMatrix;

// The pattern for `count` bodies and the edges between them, and room for numbers. `stepOf`, [all bodies], gets each
// body's step. False: no memory.
bool knBodyMatrix_Build(knBodyMatrix* matrix, const int* bodies, int count, const knBodyEdge* edges,
						int edgeCount, int* stepOf, knArena* arena);
void knBodyMatrix_Clear(knBodyMatrix* matrix);
// The block of two different steps; *transposed if it is stored with rows of the earlier step. NULL: not in the pattern.
double* knBodyMatrix_Block(const knBodyMatrix* matrix, int a, int b, bool* swapped);
// block += weight left right^T, vectors of six, aligned to 16 bytes as blocks are. A diagonal block is added to with left and
// right the same, and then only its lower half is good.
void knBodyMatrix_AddOuter(double* block, double weight, const double* left, const double* right);
// False if a pivot is not positive.
bool knBodyMatrix_Factor(knBodyMatrix* matrix);
// The same, for any machine, and where KN_AVX_KERNEL is defined for those with AVX; all give the same bits.
bool knBodyMatrix_FactorPlain(knBodyMatrix* matrix);
bool knBodyMatrix_FactorAvx(knBodyMatrix* matrix);
// x, [count][6], from the right-hand side in place; likewise.
void knBodyMatrix_Solve(const knBodyMatrix* matrix, double* x);
void knBodyMatrix_SolvePlain(const knBodyMatrix* matrix, double* x);
void knBodyMatrix_SolveAvx(const knBodyMatrix* matrix, double* x);
