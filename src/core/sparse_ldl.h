// Block-sparse factorisation of matrices with a symmetric pattern: LDL^T for symmetric ones, LU (same pattern,
// no pivoting between blocks) for the others.
//
//   knSparse_Create   once per pattern: elimination order (least degree), fill, storage
//   knSparse_Clear, knSparse_Block   write the matrix, block by block
//   knSparse_Factor   numeric; may be repeated for new numbers without allocating
//   knSparse_Solve    with iterative refinement
//
// Blocks are dense, row-major, of any size up to KN_SPARSE_MAX_BLOCK. A tree is factored without fill. A block
// whose diagonal is zero by itself (a constraint's multiplier) is marked KN_SPARSE_LATE: it is eliminated only after
// one of its neighbours, when its diagonal has become regular. That holds for trees; a constraint that closes a loop
// may depend on those eliminated so far until the whole loop is, so it is marked KN_SPARSE_LAST. Pivots that vanish
// against the size of their row are dropped: their unknown becomes zero and is counted, so that a redundant but
// consistent system is solved.
//
// A matrix that is written anew before every factorisation, and whose pivot blocks are regular, is factored in its own
// memory (`inPlace`): LU without dropped pivots and without refinement, several times as fast.
#pragma once

#include "core/alloc.h"

#define KN_SPARSE_MAX_BLOCK 12

enum { KN_SPARSE_LATE = 1, KN_SPARSE_LAST = 2 };

typedef struct knSparseEntry {
	int row, column; // blocks; either triangle, the diagonal is there anyway, duplicates are harmless
} knSparseEntry;

typedef struct knSparseDef {
	int blockCount;
	const int* sizes;          // [blockCount]
	const unsigned char* late; // [blockCount] 0 or one of the above; NULL: 0
	int entryCount;
	const knSparseEntry* entries;
	bool symmetric; // LDL^T; else LU
	bool inPlace;   // LU: the factor takes the place of the matrix; pivot blocks must be regular
	const knAllocator* allocator;
} knSparseDef;

typedef struct knSparse knSparse;

// NULL when out of memory or when sizes or entries make no sense.
knSparse* knSparse_Create(const knSparseDef* def);
void knSparse_Destroy(knSparse* sparse);

int knSparse_Size(const knSparse* sparse);              // scalar unknowns
int knSparse_Offset(const knSparse* sparse, int block); // of a block's unknowns in vectors
int knSparse_FillBlocks(const knSparse* sparse);        // blocks of the factor that the matrix does not have
int knSparse_BlockOrder(const knSparse* sparse, int step); // the block eliminated in this step

void knSparse_Clear(knSparse* sparse);
// The matrix block (row, column), sizes[row] x sizes[column], row-major. For a symmetric matrix the blocks
// (i, j) and (j, i) are one: *transposed then says that the block stored is (column, row). NULL if the pattern
// has no such block.
double* knSparse_Block(knSparse* sparse, int row, int column, bool* transposed);

typedef struct knSparseReport {
	int dropped;     // pivots that vanished
	bool finite;     // false: the matrix holds numbers that are not finite, the factor is of no use
	double residual; // of the last solve: largest |b - A x| over the largest |b|
} knSparseReport;

knSparseReport knSparse_Factor(knSparse* sparse);
// x may be b. `refinements` steps of iterative refinement (0, 1 or 2 suffice).
knSparseReport knSparse_Solve(knSparse* sparse, const double* b, double* x, int refinements);
