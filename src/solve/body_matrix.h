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
	double* diagonal; // [count] blocks, upper halves; after factoring L^T and 1/E of L E L^T
	int64_t products; // block products of a factorisation
} knBodyMatrix;

// A row of the matrix's sum of products, J^T w J, as wrenches on its two bodies about their centres, (moment, force); zero for
// an immovable one.
typedef struct knBodyRow {
	_Alignas(16) double a[6];
	_Alignas(16) double b[6];
} knBodyRow;

// Where the rows of a pair of bodies go.
typedef struct knBodyPlace {
	double *da, *db, *ab; // NULL: immovable
	bool swapped;
} knBodyPlace;

// The pattern for `count` bodies and the edges between them, and room for numbers. `stepOf`, [all bodies], gets each
// body's step. False: no memory.
bool knBodyMatrix_Build(knBodyMatrix* matrix, const int* bodies, int count, const knBodyEdge* edges,
						int edgeCount, int* stepOf, knArena* arena);
void knBodyMatrix_Clear(knBodyMatrix* matrix);
// Of the steps of two bodies in the matrix; -1: immovable. The index of their block into `below`, -1: none, needs to be looked
// for once only.
knBodyPlace knBodyPlace_Find(const knBodyMatrix* matrix, int a, int b);
int knBodyMatrix_BlockOf(const knBodyMatrix* matrix, int a, int b);
knBodyPlace knBodyPlace_At(const knBodyMatrix* matrix, int a, int b, int block);
// Adds weight times the product of a row with itself; that of several, one after the other: all at once is faster.
void knBodyPlace_Add(const knBodyPlace* place, const knBodyRow* row, double weight);
void knBodyPlace_AddRows(const knBodyPlace* place, const knBodyRow* const* rows, const double* weights,
						 int count);
// False if a pivot is not positive.
bool knBodyMatrix_Factor(knBodyMatrix* matrix);
// x, [count][6], from the right-hand side in place.
void knBodyMatrix_Solve(const knBodyMatrix* matrix, double* x);

// to += x from, rows of six aligned to 16 bytes.
static inline void knBodyRow_AddTo(double* to, double x, const double* from) {
	typedef double Two __attribute__((vector_size(16), aligned(16), may_alias));
	Two* sum = (Two*)to;
	const Two* row = (const Two*)from;
	sum[0] += x * row[0];
	sum[1] += x * row[1];
	sum[2] += x * row[2];
}

// What the above is done by, built for several kinds of machine; all give the same bits.
typedef struct knBodyKernel {
	const char* name;
	void (*clear)(double* blocks, int count);
	void (*addRow)(const knBodyPlace* place, const knBodyRow* row, double weight);
	void (*addRows)(const knBodyPlace* place, const knBodyRow* const* rows, const double* weights, int count);
	bool (*factor)(knBodyMatrix* matrix);
	void (*solve)(const knBodyMatrix* matrix, double* x);
} knBodyKernel;

extern const knBodyKernel knBodyKernelPlain;
#if defined(KN_AVX_KERNEL)
extern const knBodyKernel knBodyKernelAvx;
#endif

// The fastest that this machine can run.
const knBodyKernel* knBodyKernel_Best(void);
