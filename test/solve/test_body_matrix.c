// The factorisation over bodies against a dense one.
#include "support/kn_test.h"

#include "core/dense.h"
#include "solve/body_matrix.h"

#define BODIES 9
#define SIZE (6 * BODIES)

static double next(uint32_t* seed) {
	*seed = 1664525u * *seed + 1013904223u;
	return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

// Adds rows of two bodies, with weights over many decades, to the block matrix and to the dense one.
static void addRows(knBodyMatrix* matrix, const int* stepOf, double* dense, knBodyEdge edge, uint32_t* seed) {
	knBodyRow rows[3];
	const knBodyRow* each[3] = { &rows[0], &rows[1], &rows[2] };
	const double weights[3] = { 1e6, 10.0, 10.0 };
	for (int k = 0; k < 3; ++k) {
		for (int c = 0; c < 12; ++c) {
			(c < 6 ? rows[k].a : rows[k].b)[c % 6] = next(seed);
		}
		const int bodies[2] = { edge.a, edge.b };
		for (int n = 0; n < 4 * 36; ++n) {
			const int i = n / 72, j = n / 36 % 2, r = n / 6 % 6, c = n % 6;
			const double *left = i == 0 ? rows[k].a : rows[k].b, *right = j == 0 ? rows[k].a : rows[k].b;
			dense[SIZE * (6 * bodies[i] + r) + 6 * bodies[j] + c] += weights[k] * left[r] * right[c];
		}
	}
	knBodyPlace place = knBodyPlace_Find(matrix, stepOf[edge.a], stepOf[edge.b]);
	assert_true(place.da != NULL && place.db != NULL && place.ab != NULL);
	knBodyPlace_AddRows(&place, each, weights, 3);
}

// The numbers that count: blocks below the diagonal, and the upper halves of those on it.
static void assertSameBlocks(const double* below, const double* diagonal, const knBodyMatrix* matrix) {
	assert_memory_equal(below, matrix->below, sizeof(double) * 36 * (size_t)matrix->first[matrix->count]);
	for (int s = 0; s < matrix->count; ++s) {
		for (int r = 0; r < 6; ++r) {
			const ptrdiff_t at = 36 * (ptrdiff_t)s + 7 * r;
			assert_memory_equal(diagonal + at, matrix->diagonal + at, sizeof(double) * (size_t)(6 - r));
		}
	}
}

// Factoring and solving for any machine and as this machine does give the same bits. The matrix stays as it is.
static void checkTwins(knBodyMatrix* matrix) {
	const size_t below = 36 * (size_t)matrix->first[matrix->count], diagonal = 36 * BODIES;
	double* start = malloc(sizeof(double) * (below + diagonal));
	double* plain = malloc(sizeof(double) * (below + diagonal));
	assert_true(start != NULL && plain != NULL);
	memcpy(start, matrix->below, sizeof(double) * below);
	memcpy(start + below, matrix->diagonal, sizeof(double) * diagonal);
	assert_true(knBodyKernelPlain.factor(matrix));
	memcpy(plain, matrix->below, sizeof(double) * below);
	memcpy(plain + below, matrix->diagonal, sizeof(double) * diagonal);
	memcpy(matrix->below, start, sizeof(double) * below);
	memcpy(matrix->diagonal, start + below, sizeof(double) * diagonal);
	assert_true(knBodyKernel_Best()->factor(matrix));
	assertSameBlocks(plain, plain + below, matrix);
	_Alignas(16) double x[2][SIZE];
	for (int c = 0; c < SIZE; ++c) {
		x[0][c] = x[1][c] = 1.0 / (1.0 + c);
	}
	knBodyKernelPlain.solve(matrix, x[0]);
	knBodyKernel_Best()->solve(matrix, x[1]);
	assert_memory_equal(x[0], x[1], sizeof(x[0]));
	memcpy(matrix->below, start, sizeof(double) * below);
	memcpy(matrix->diagonal, start + below, sizeof(double) * diagonal);
	free(start);
	free(plain);
}

static void compare(const knBodyEdge* edges, int edgeCount, uint32_t seed, int64_t* products) {
	knAllocator allocator = knAllocator_Default();
	knArena arena;
	knArena_Init(&arena, &allocator);
	int bodies[BODIES], stepOf[BODIES];
	for (int i = 0; i < BODIES; ++i) {
		bodies[i] = i;
	}
	knBodyMatrix matrix;
	assert_true(knBodyMatrix_Build(&matrix, bodies, BODIES, edges, edgeCount, stepOf, &arena));
	*products = matrix.products;
	knBodyMatrix_Clear(&matrix);
	static double dense[SIZE * SIZE];
	memset(dense, 0, sizeof(dense));
	for (int b = 0; b < BODIES; ++b) {
		for (int c = 0; c < 6; ++c) {
			matrix.diagonal[36 * stepOf[b] + 7 * c] += 1.0 + b;
			dense[(SIZE + 1) * (6 * b + c)] += 1.0 + b;
		}
	}
	for (int e = 0; e < edgeCount; ++e) {
		addRows(&matrix, stepOf, dense, edges[e], &seed);
	}
	double right[SIZE];
	_Alignas(16) double x[SIZE];
	for (int i = 0; i < SIZE; ++i) {
		right[i] = next(&seed);
	}
	for (int b = 0; b < BODIES; ++b) {
		for (int c = 0; c < 6; ++c) {
			x[6 * stepOf[b] + c] = right[6 * b + c];
		}
	}
	checkTwins(&matrix);
	assert_true(knBodyMatrix_Factor(&matrix));
	knBodyMatrix_Solve(&matrix, x);
	assert_true(knDense_FactorLdl(dense, SIZE));
	knDense_SolveLdl(dense, SIZE, right);
	for (int b = 0; b < BODIES; ++b) {
		for (int c = 0; c < 6; ++c) {
			assert_near(x[6 * stepOf[b] + c], right[6 * b + c], 1e-8);
		}
	}
	knArena_Free(&arena);
}

// A chain has one product a link, whatever the order of its bodies; closing it adds some.
static void test_chain_and_ring(void** state) {
	(void)state;
	const knBodyEdge ring[BODIES] = { { 3, 0 }, { 3, 7 }, { 1, 7 }, { 1, 5 }, { 8, 5 },
									  { 8, 2 }, { 4, 2 }, { 4, 6 }, { 6, 0 } };
	int64_t chain, closed;
	compare(ring, BODIES - 1, 7, &chain);
	compare(ring, BODIES, 11, &closed);
	assert_int_equal(chain, BODIES - 1);
	assert_true(closed > chain && closed < 4 * BODIES);
}

// Two edges between the same bodies are one block.
static void test_grid_with_double_edges(void** state) {
	(void)state;
	knBodyEdge edges[24];
	int count = 0;
	for (int i = 0; i < 3; ++i) {
		for (int j = 0; j < 2; ++j) {
			edges[count++] = (knBodyEdge){ 3 * i + j, 3 * i + j + 1 };
			edges[count++] = (knBodyEdge){ 3 * j + 3 + i, 3 * j + i };
		}
	}
	edges[count++] = (knBodyEdge){ 1, 0 };
	int64_t products;
	for (uint32_t seed = 1; seed < 20; ++seed) {
		compare(edges, count, seed, &products);
	}
}

// Many rows at once, by the kernel of this machine, give the bits of one after the other for any machine; both orders of the
// bodies, and a body that does not move.
static void test_rows_at_once(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knArena arena;
	knArena_Init(&arena, &allocator);
	const int bodies[2] = { 0, 1 }, counts[6] = { 1, 3, 5, 9, 12, 31 };
	const knBodyEdge edge = { 0, 1 };
	int stepOf[2];
	uint32_t seed = 5;
	knBodyMatrix one, all;
	assert_true(knBodyMatrix_Build(&one, bodies, 2, &edge, 1, stepOf, &arena));
	assert_true(knBodyMatrix_Build(&all, bodies, 2, &edge, 1, stepOf, &arena));
	for (int n = 0; n < 24; ++n) {
		const int count = counts[n % 6], a = n < 18 ? n / 6 % 2 : 1, b = n < 12 ? 1 - a : -1;
		knBodyRow rows[31];
		const knBodyRow* each[31];
		double weights[31];
		knBodyKernelPlain.clear(one.below, 1);
		knBodyKernelPlain.clear(one.diagonal, 2);
		knBodyMatrix_Clear(&all);
		knBodyPlace place = knBodyPlace_Find(&one, a, b);
		for (int k = 0; k < count; ++k) {
			for (int c = 0; c < 12; ++c) {
				(c < 6 ? rows[k].a : rows[k].b)[c % 6] = next(&seed);
			}
			each[k] = &rows[k];
			weights[k] = 1e3 * (1.0 + next(&seed));
			knBodyKernelPlain.addRow(&place, &rows[k], weights[k]);
		}
		place = knBodyPlace_Find(&all, a, b);
		knBodyPlace_AddRows(&place, each, weights, count);
		assertSameBlocks(one.below, one.diagonal, &all);
	}
	knArena_Free(&arena);
}

static void test_no_positive_pivot(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knArena arena;
	knArena_Init(&arena, &allocator);
	const int body = 0;
	int stepOf[1];
	knBodyMatrix matrix;
	assert_true(knBodyMatrix_Build(&matrix, &body, 1, NULL, 0, stepOf, &arena));
	knBodyMatrix_Clear(&matrix);
	assert_false(knBodyMatrix_Factor(&matrix));
	knArena_Free(&arena);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain_and_ring),
		cmocka_unit_test(test_grid_with_double_edges),
		cmocka_unit_test(test_rows_at_once),
		cmocka_unit_test(test_no_positive_pivot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
