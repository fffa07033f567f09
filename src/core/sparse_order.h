// The symbolic half of the block-sparse factorisation: in which order blocks are eliminated, and which blocks
// the factor then has.
#pragma once

#include "core/sparse_ldl.h"

typedef struct knSparseOrder {
	int count;
	int* order;    // [count] block eliminated in each step
	int* step;     // [count] and the other way round
	int* first;    // [count + 1] into rows
	int* rows;     // steps below each step's diagonal, ascending
	int fill;      // of those, blocks that the matrix does not have
	int rowCount;  // entries of rows
	int allocated; // room in rows
} knSparseOrder;

// False when out of memory or when an entry names no block.
bool knSparseOrder_Create(knSparseOrder* order, const knSparseDef* def, const knAllocator* allocator);
void knSparseOrder_Destroy(knSparseOrder* order, const knAllocator* allocator);
