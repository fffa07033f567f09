// Block LDL^T over bodies, right-looking, without pivoting: the matrices are positive definite. The order is one of
// least degree (core/sparse_order.h), so that trees do not fill and loops fill little.
//
//   V_k,i = D_k^-1 U_k,i        U_i,j -= V_k,i^T U_k,j        U_k,i: the block (i, k) below the diagonal, transposed
//
// Blocks are kept transposed because then the innermost loop runs over neighbouring numbers.
#include "solve/body_matrix_kernel.h"

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
			// both lists ascend, and that of i has all that is looked for
			for (int f = e + 1, found = m->first[i]; f < m->first[k + 1]; ++f) {
				while (m->rows[found] < m->rows[f]) {
					++found;
				}
				m->targets[at++] = found;
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

// --- numbers ---------------------------------------------------------------------------------------------

const knBodyKernel knBodyKernelPlain = KN_BODY_KERNEL("plain");

const knBodyKernel* knBodyKernel_Best(void) {
#if defined(KN_AVX_KERNEL)
	if (__builtin_cpu_supports("avx")) {
		return &knBodyKernelAvx;
	}
#endif
	return &knBodyKernelPlain;
}

void knBodyMatrix_Clear(knBodyMatrix* m) {
	const knBodyKernel* kernel = knBodyKernel_Best();
	kernel->clear(m->below, m->first[m->count]);
	kernel->clear(m->diagonal, m->count);
}

int knBodyMatrix_BlockOf(const knBodyMatrix* m, int a, int b) {
	if (a < 0 || b < 0) {
		return -1;
	}
	return a < b ? findRow(m, a, b) : findRow(m, b, a);
}

knBodyPlace knBodyPlace_At(const knBodyMatrix* m, int a, int b, int block) {
	return (knBodyPlace){ .da = a >= 0 ? m->diagonal + (ptrdiff_t)AREA * a : NULL,
						  .db = b >= 0 ? m->diagonal + (ptrdiff_t)AREA * b : NULL,
						  .ab = block >= 0 ? m->below + (ptrdiff_t)AREA * block : NULL,
						  .swapped = a > b };
}

knBodyPlace knBodyPlace_Find(const knBodyMatrix* m, int a, int b) {
	return knBodyPlace_At(m, a, b, knBodyMatrix_BlockOf(m, a, b));
}

void knBodyPlace_AddRows(const knBodyPlace* place, const knBodyRow* const* rows, const double* weights,
						 int count) {
	knBodyKernel_Best()->addRows(place, rows, weights, count);
}

void knBodyPlace_Add(const knBodyPlace* place, const knBodyRow* row, double weight) {
	knBodyKernel_Best()->addRow(place, row, weight);
}

bool knBodyMatrix_Factor(knBodyMatrix* m) {
	return knBodyKernel_Best()->factor(m);
}

void knBodyMatrix_Solve(const knBodyMatrix* m, double* x) {
	knBodyKernel_Best()->solve(m, x);
}
