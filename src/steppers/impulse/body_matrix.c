// Block LDL^T over bodies, right-looking, without pivoting: the matrices are positive definite. The order is one of
// least degree (core/sparse_order.h), so that trees do not fill and loops fill little.
//
//   V_k,i = D_k^-1 U_k,i        U_i,j -= U_k,i^T V_k,j        U_k,i: the block (i, k) below the diagonal, transposed
//
// Blocks are kept transposed because then the innermost loop runs over neighbouring numbers.
#include "steppers/impulse/body_matrix_kernel.h"

#include <string.h>

#include "core/sparse_order.h"

static void* arenaAllocate(size_t size, void* context) {
	return knArena_Take(context, size);
}

static void arenaRelease(void* memory, size_t size, void* context) {
	(void)memory;
	(void)size;
	(void)context;
}

// --- pattern ---------------------------------------------------------------------------------------------

// Index of row `row` of step `step`, -1: not there.
static int findRow(const knBodyMatrix* m, int step, int row) {
	int lower = m->first[step], upper = m->first[step + 1];
	while (lower < upper) {
		int middle = lower + (upper - lower) / 2;
		if (m->rows[middle] < row) {
			lower = middle + 1;
		} else {
			upper = middle;
		}
	}
	return lower < m->first[step + 1] && m->rows[lower] == row ? lower : -1;
}

static void findTargets(knBodyMatrix* m) {
	int at = 0;
	for (int k = 0; k < m->count; ++k) {
		for (int e = m->first[k]; e < m->first[k + 1]; ++e) {
			const int i = m->rows[e];
			m->targets[at++] = -1 - i;
			for (int f = e + 1; f < m->first[k + 1]; ++f) {
				m->targets[at++] = findRow(m, i, m->rows[f]);
			}
		}
	}
}

static int64_t countProducts(const knBodyMatrix* m) {
	int64_t total = 0;
	for (int k = 0; k < m->count; ++k) {
		int64_t rows = m->first[k + 1] - m->first[k];
		total += rows * (rows + 1) / 2;
	}
	return total;
}

bool knBodyMatrix_Build(knBodyMatrix* m, const int* bodies, int count, const knBodyEdge* edges, int edgeCount,
						int* stepOf, knArena* arena) {
	knSparseEntry* entries = KN_SCRATCH(arena, knSparseEntry, edgeCount);
	int* sizes = KN_SCRATCH(arena, int, count);
	*m = (knBodyMatrix){ .count = count, .bodies = KN_SCRATCH(arena, int, count) };
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < count; ++i) {
		sizes[i] = N;
		stepOf[bodies[i]] = i;
	}
	for (int e = 0; e < edgeCount; ++e) {
		entries[e] = (knSparseEntry){ stepOf[edges[e].a], stepOf[edges[e].b] };
	}
	knAllocator allocator = { .allocate = arenaAllocate, .release = arenaRelease, .context = arena };
	knSparseDef def = {
		.blockCount = count, .sizes = sizes, .entryCount = edgeCount, .entries = entries, .symmetric = true
	};
	knSparseOrder order;
	if (!knSparseOrder_Create(&order, &def, &allocator)) {
		return false;
	}
	for (int k = 0; k < count; ++k) {
		m->bodies[k] = bodies[order.order[k]];
		stepOf[m->bodies[k]] = k;
	}
	m->first = order.first;
	m->rows = order.rows;
	m->products = countProducts(m);
	m->below = KN_SCRATCH(arena, double, AREA* order.rowCount);
	m->diagonal = KN_SCRATCH(arena, double, AREA* count);
	m->targets = m->products < INT32_MAX ? KN_SCRATCH(arena, int, (int)m->products) : NULL;
	if (arena->failed || m->targets == NULL) {
		return false;
	}
	findTargets(m);
	return true;
}

void knBodyMatrix_Clear(knBodyMatrix* m) {
	memset(m->below, 0, sizeof(double) * AREA * (size_t)m->first[m->count]);
	memset(m->diagonal, 0, sizeof(double) * AREA * (size_t)m->count);
}

double* knBodyMatrix_Block(const knBodyMatrix* m, int a, int b, bool* swapped) {
	*swapped = a > b;
	const int at = a < b ? findRow(m, a, b) : findRow(m, b, a);
	return at >= 0 ? m->below + (ptrdiff_t)AREA * at : NULL;
}

// --- numbers ---------------------------------------------------------------------------------------------

// --- rows of a block, two numbers at a time: lanes never mix, so the bits are those of plain loops ---

static inline Two both(double x) {
	return (Two){ x, x };
}

static inline Two* rowOf(double* block, int r) {
	return (Two*)(block + N * r);
}

static inline const Two* rowIn(const double* block, int r) {
	return (const Two*)(block + N * r);
}

bool knBodyMatrix_FactorPlain(knBodyMatrix* m) {
	return factorBlocks(m);
}

bool knBodyMatrix_Factor(knBodyMatrix* m) {
#if defined(KN_AVX_KERNEL)
	if (__builtin_cpu_supports("avx")) {
		return knBodyMatrix_FactorAvx(m);
	}
#endif
	return knBodyMatrix_FactorPlain(m);
}

void knBodyMatrix_SolvePlain(const knBodyMatrix* m, double* x) {
	solveBlocks(m, x);
}

void knBodyMatrix_Solve(const knBodyMatrix* m, double* x) {
#if defined(KN_AVX_KERNEL)
	if (__builtin_cpu_supports("avx")) {
		knBodyMatrix_SolveAvx(m, x);
		return;
	}
#endif
	knBodyMatrix_SolvePlain(m, x);
}

// Of a product of a vector with itself only what is below the diagonal is ever read.
void knBodyMatrix_AddOuter(double* block, double weight, const double* left, const double* right) {
	const Two *in = rowIn(right, 0), r0 = in[0], r1 = in[1], r2 = in[2];
	const bool whole = left != right;
#pragma GCC unroll 6
	for (int r = 0; r < N; ++r) {
		Two* row = rowOf(block, r);
		const Two x = both(weight * left[r]);
		row[0] += x * r0;
		if (r >= 2 || whole) {
			row[1] += x * r1;
		}
		if (r >= 4 || whole) {
			row[2] += x * r2;
		}
	}
}
