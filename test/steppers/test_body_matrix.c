// The factorisation over bodies against a dense one.
#include "support/kn_test.h"

#include "core/dense.h"
#include "steppers/impulse/body_matrix.h"

#define BODIES 9
#define SIZE (6 * BODIES)

static double next(uint32_t* seed) {
	*seed = 1664525u * *seed + 1013904223u;
	return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

// Adds rows of two bodies, with weights over many decades, to the block matrix and to the dense one.
static void addRows(knBodyMatrix* matrix, const int* stepOf, double* dense, knBodyEdge edge, uint32_t* seed) {
	for (int k = 0; k < 3; ++k) {
		_Alignas(16) double rows[2][6];
		double weight = k == 0 ? 1e6 : 10.0;
		for (int c = 0; c < 12; ++c) {
			rows[c / 6][c % 6] = next(seed);
		}
		const int bodies[2] = { edge.a, edge.b };
		for (int i = 0; i < 2; ++i) {
			const int s = stepOf[bodies[i]];
			knBodyMatrix_AddOuter(matrix->diagonal + (ptrdiff_t)36 * s, weight, rows[i], rows[i]);
			for (int j = 0; j < 2; ++j) {
				for (int c = 0; c < 36; ++c) {
					dense[SIZE * (6 * bodies[i] + c / 6) + 6 * bodies[j] + c % 6] +=
						weight * rows[i][c / 6] * rows[j][c % 6];
				}
			}
		}
		bool swapped;
		double* block = knBodyMatrix_Block(matrix, stepOf[edge.a], stepOf[edge.b], &swapped);
		assert_non_null(block);
		knBodyMatrix_AddOuter(block, weight, rows[swapped ? 1 : 0], rows[swapped ? 0 : 1]);
	}
}

// Factoring and solving for any machine and as this machine does give the same bits. The matrix stays as it is.
static void checkTwins(knBodyMatrix* matrix) {
	const size_t below = sizeof(double) * 36 * (size_t)matrix->first[matrix->count],
				 diagonal = sizeof(double) * 36 * BODIES;
	double* start = malloc(below + diagonal);
	double* plain = malloc(below + diagonal);
	assert_true(start != NULL && plain != NULL);
	memcpy(start, matrix->below, below);
	memcpy((char*)start + below, matrix->diagonal, diagonal);
	assert_true(knBodyMatrix_FactorPlain(matrix));
	memcpy(plain, matrix->below, below);
	memcpy((char*)plain + below, matrix->diagonal, diagonal);
	memcpy(matrix->below, start, below);
	memcpy(matrix->diagonal, (char*)start + below, diagonal);
	assert_true(knBodyMatrix_Factor(matrix));
	assert_memory_equal(matrix->below, plain, below);
	assert_memory_equal(matrix->diagonal, (char*)plain + below, diagonal);
	_Alignas(16) double x[2][SIZE];
	for (int c = 0; c < SIZE; ++c) {
		x[0][c] = x[1][c] = 1.0 / (1.0 + c);
	}
	knBodyMatrix_SolvePlain(matrix, x[0]);
	knBodyMatrix_Solve(matrix, x[1]);
	assert_memory_equal(x[0], x[1], sizeof(x[0]));
	memcpy(matrix->below, start, below);
	memcpy(matrix->diagonal, (char*)start + below, diagonal);
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
		cmocka_unit_test(test_no_positive_pivot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
