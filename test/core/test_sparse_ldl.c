// Block-sparse factorisation: against dense elimination, no fill on trees, saddle points, redundant rows.
#include "core/sparse_ldl.h"

#include "core/dense.h"
#include "support/kn_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BLOCKS 40
#define MAX_SIZE (MAX_BLOCKS * 6)

static uint64_t seed = 3;

static double uniform(double lower, double upper) {
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return lower + (upper - lower) * ((double)(seed >> 11) * 0x1p-53);
}

static int below(int limit) {
	return (int)uniform(0.0, (double)limit);
}

typedef struct System {
	int blockCount, size;
	int sizes[MAX_BLOCKS], offsets[MAX_BLOCKS + 1];
	int entryCount;
	knSparseEntry entries[4 * MAX_BLOCKS];
	double dense[MAX_SIZE * MAX_SIZE];
} System;

static void layOut(System* system, int blocks) {
	memset(system, 0, sizeof(*system));
	system->blockCount = blocks;
	for (int i = 0; i < blocks; ++i) {
		system->sizes[i] = 1 + below(6);
		system->offsets[i + 1] = system->offsets[i] + system->sizes[i];
	}
	system->size = system->offsets[blocks];
}

static double* at(System* system, int blockRow, int i, int blockColumn, int j) {
	return &system->dense[(system->offsets[blockRow] + i) * system->size + system->offsets[blockColumn] + j];
}

// Random numbers in the block (a, b) and its mirror image; a diagonal that makes the matrix definite.
static void fillPair(System* system, int a, int b, bool symmetric) {
	for (int i = 0; i < system->sizes[a]; ++i) {
		for (int j = 0; j < system->sizes[b]; ++j) {
			double value = uniform(-1.0, 1.0);
			*at(system, a, i, b, j) = value;
			*at(system, b, j, a, i) = symmetric ? value : uniform(-1.0, 1.0);
		}
	}
	system->entries[system->entryCount++] = (knSparseEntry){ a, b };
}

static void fillDiagonals(System* system, bool symmetric) {
	for (int b = 0; b < system->blockCount; ++b) {
		for (int i = 0; i < system->sizes[b]; ++i) {
			for (int j = 0; j < system->sizes[b]; ++j) {
				*at(system, b, i, b, j) = uniform(-1.0, 1.0);
				if (symmetric && j < i) {
					*at(system, b, i, b, j) = *at(system, b, j, b, i);
				}
			}
		}
	}
	for (int i = 0; i < system->size; ++i) {
		double sum = 0.0;
		for (int j = 0; j < system->size; ++j) {
			sum += fabs(system->dense[i * system->size + j]);
		}
		system->dense[i * system->size + i] = sum + uniform(0.1, 1.0);
	}
}

static bool inPlace; // LU in the matrix's own memory

static knSparse* build(System* system, bool symmetric, const unsigned char* late) {
	knSparseDef def = { .blockCount = system->blockCount,
						.sizes = system->sizes,
						.late = late,
						.entryCount = system->entryCount,
						.entries = system->entries,
						.symmetric = symmetric,
						.inPlace = inPlace };
	knSparse* sparse = knSparse_Create(&def);
	assert_non_null(sparse);
	for (int e = -system->blockCount; e < 2 * system->entryCount; ++e) {
		knSparseEntry entry = e < 0 ? (knSparseEntry){ e + system->blockCount, e + system->blockCount }
									: system->entries[e / 2];
		int row = e >= 0 && e % 2 == 1 ? entry.column : entry.row;
		int column = e >= 0 && e % 2 == 1 ? entry.row : entry.column;
		bool transposed;
		double* block = knSparse_Block(sparse, row, column, &transposed);
		assert_non_null(block);
		for (int i = 0; i < system->sizes[row]; ++i) {
			for (int j = 0; j < system->sizes[column]; ++j) {
				block[transposed ? j * system->sizes[row] + i : i * system->sizes[column] + j] =
					*at(system, row, i, column, j);
			}
		}
	}
	return sparse;
}

static void checkAgainstDense(System* system, knSparse* sparse, double tolerance) {
	static double factors[MAX_SIZE * MAX_SIZE];
	double b[MAX_SIZE], x[MAX_SIZE], expected[MAX_SIZE];
	int pivots[MAX_SIZE];
	for (int i = 0; i < system->size; ++i) {
		b[i] = expected[i] = uniform(-1.0, 1.0);
	}
	memcpy(factors, system->dense, sizeof(double) * (size_t)(system->size * system->size));
	assert_true(knDense_FactorLu(factors, system->size, pivots));
	knDense_SolveLu(factors, system->size, pivots, expected);
	knSparseReport report = knSparse_Factor(sparse);
	assert_true(report.finite);
	assert_int_equal(report.dropped, 0);
	memcpy(x, b, sizeof(x));
	report = knSparse_Solve(sparse, x, x, 1);
	double scale = 1.0;
	for (int i = 0; i < system->size; ++i) {
		scale = fmax(scale, fabs(expected[i]));
	}
	for (int i = 0; i < system->size; ++i) {
		assert_true(fabs(x[i] - expected[i]) <= tolerance * scale);
	}
	assert_true(report.residual < 1e-11);
}

static void trees_and_loops_match_dense_elimination(void** state) {
	(void)state;
	static System system;
	for (int trial = 0; trial < 300; ++trial) {
		bool symmetric = trial % 2 == 0;
		int blocks = 1 + below(25), loops = trial % 3 == 0 ? 0 : below(blocks);
		layOut(&system, blocks);
		for (int i = 1; i < blocks; ++i) {
			fillPair(&system, i, below(i), symmetric);
		}
		for (int k = 0; k < loops && blocks > 1; ++k) {
			int a = 1 + below(blocks - 1);
			int b = below(a);
			bool there = false;
			for (int e = 0; e < system.entryCount; ++e) {
				there = there || (system.entries[e].row == a && system.entries[e].column == b);
			}
			if (!there) {
				fillPair(&system, a, b, symmetric);
			}
		}
		fillDiagonals(&system, symmetric);
		inPlace = trial % 4 == 1;
		knSparse* sparse = build(&system, symmetric, NULL);
		inPlace = false;
		if (loops == 0) {
			assert_int_equal(knSparse_FillBlocks(sparse), 0);
		}
		checkAgainstDense(&system, sparse, 1e-11);
		knSparse_Destroy(sparse);
	}
}

// Bodies (definite) and joints (zero diagonal) of a tree: indefinite, factored without fill.
static void saddle_points_of_trees_have_no_fill(void** state) {
	(void)state;
	static System system;
	unsigned char late[MAX_BLOCKS];
	for (int trial = 0; trial < 200; ++trial) {
		int bodies = 2 + below(15);
		layOut(&system, 2 * bodies - 1);
		for (int i = 0; i < system.blockCount; ++i) {
			late[i] = i >= bodies;
			system.sizes[i] = i < bodies ? 6 : 1 + below(5);
			system.offsets[i + 1] = system.offsets[i] + system.sizes[i];
		}
		system.size = system.offsets[system.blockCount];
		for (int b = 0; b < bodies; ++b) {
			for (int i = 0; i < 6; ++i) {
				*at(&system, b, i, b, i) = uniform(0.5, 2.0);
			}
		}
		for (int j = bodies; j < system.blockCount; ++j) {
			int child = j - bodies + 1;
			fillPair(&system, j, child, true);
			fillPair(&system, j, below(child), true);
		}
		knSparse* sparse = build(&system, true, late);
		assert_int_equal(knSparse_FillBlocks(sparse), 0);
		checkAgainstDense(&system, sparse, 1e-9);
		knSparse_Destroy(sparse);
	}
}

// Rows of the velocity of a point at r on a body: u + w x r.
static void fillPoint(System* system, int joint, int body, double sign) {
	double x = uniform(-1.0, 1.0), y = uniform(-1.0, 1.0), z = uniform(-1.0, 1.0);
	double rows[3][6] = { { 0, z, -y, 1, 0, 0 }, { -z, 0, x, 0, 1, 0 }, { y, -x, 0, 0, 0, 1 } };
	for (int i = 0; i < 3; ++i) {
		for (int j = 0; j < 6; ++j) {
			*at(system, joint, i, body, j) = *at(system, body, j, joint, i) = sign * rows[i][j];
		}
	}
	system->entries[system->entryCount++] = (knSparseEntry){ joint, body };
}

// A chain of bodies held at both ends. Two points of one body can only be held because the next body gives way: on that
// body alone their rows depend on each other. So the joint that closes the loop waits for all the others.
static void loops_wait_for_their_trees(void** state) {
	(void)state;
	static System system;
	unsigned char late[MAX_BLOCKS];
	for (int trial = 0; trial < 200; ++trial) {
		int bodies = 2 + below(15);
		layOut(&system, 2 * bodies + 1);
		for (int i = 0; i < system.blockCount; ++i) {
			late[i] = i < bodies ? 0 : i < 2 * bodies ? KN_SPARSE_LATE : KN_SPARSE_LAST;
			system.sizes[i] = i < bodies ? 6 : 3;
			system.offsets[i + 1] = system.offsets[i] + system.sizes[i];
		}
		system.size = system.offsets[system.blockCount];
		for (int b = 0; b < bodies; ++b) {
			for (int i = 0; i < 6; ++i) {
				*at(&system, b, i, b, i) = uniform(0.5, 2.0);
			}
			fillPoint(&system, bodies + b, b, 1.0);
			fillPoint(&system, bodies + b + 1, b, -1.0);
		}
		knSparse* sparse = build(&system, true, late);
		assert_int_equal(knSparse_BlockOrder(sparse, system.blockCount - 1), 2 * bodies);
		checkAgainstDense(&system, sparse, 1e-8);
		knSparse_Destroy(sparse);
	}
}

// The same constraint twice: consistent, so solvable, though the matrix is singular.
static void redundant_rows_are_dropped(void** state) {
	(void)state;
	for (int trial = 0; trial < 100; ++trial) {
		knSparseDef def = { .blockCount = 3,
							.sizes = (int[]){ 6, 3, 3 },
							.late = (unsigned char[]){ 0, 1, 1 },
							.entryCount = 2,
							.entries = (knSparseEntry[]){ { 1, 0 }, { 2, 0 } },
							.symmetric = true };
		knSparse* sparse = knSparse_Create(&def);
		bool transposed;
		double* M = knSparse_Block(sparse, 0, 0, &transposed);
		for (int i = 0; i < 6; ++i) {
			M[i * 7] = uniform(0.5, 2.0);
		}
		double* G1 = knSparse_Block(sparse, 1, 0, &transposed);
		assert_false(transposed);
		double* G2 = knSparse_Block(sparse, 2, 0, &transposed);
		double right[3] = { 1.0, -0.5, 0.25 };
		for (int i = 0; i < 18; ++i) {
			G1[i] = G2[i] = uniform(-1.0, 1.0);
		}
		double b[12] = { 0 }, x[12];
		for (int i = 0; i < 6; ++i) {
			b[i] = uniform(-1.0, 1.0);
		}
		for (int i = 0; i < 3; ++i) {
			b[6 + i] = b[9 + i] = right[i];
		}
		knSparseReport report = knSparse_Factor(sparse);
		assert_int_equal(report.dropped, 3);
		report = knSparse_Solve(sparse, b, x, 2);
		assert_true(report.residual < 1e-10);
		knSparse_Destroy(sparse);
	}
}

static void long_chains_cost_in_proportion(void** state) {
	(void)state;
	enum { N = 5000 };
	int* sizes = malloc(sizeof(int) * N);
	knSparseEntry* entries = malloc(sizeof(knSparseEntry) * N);
	double* b = malloc(sizeof(double) * N);
	for (int i = 0; i < N; ++i) {
		sizes[i] = 1;
		entries[i] = (knSparseEntry){ i, i > 0 ? i - 1 : 0 };
		b[i] = i == N - 1 ? (double)(N + 1) : 0.0;
	}
	knSparseDef def = {
		.blockCount = N, .sizes = sizes, .entryCount = N, .entries = entries, .symmetric = true
	};
	knSparse* sparse = knSparse_Create(&def);
	assert_int_equal(knSparse_FillBlocks(sparse), 0);
	bool transposed;
	for (int i = 0; i < N; ++i) {
		*knSparse_Block(sparse, i, i, &transposed) = 2.0;
		if (i > 0) {
			*knSparse_Block(sparse, i, i - 1, &transposed) = -1.0;
		}
	}
	knSparse_Factor(sparse);
	knSparse_Solve(sparse, b, b, 2);
	for (int i = 0; i < N; ++i) {
		assert_true(fabs(b[i] - (double)(i + 1)) < 1e-6);
	}
	knSparse_Destroy(sparse);
	free(sizes);
	free(entries);
	free(b);
}

static void nonsense_is_refused(void** state) {
	(void)state;
	knSparseDef def = { .blockCount = 1, .sizes = (int[]){ 99 } };
	assert_null(knSparse_Create(&def));
	def = (knSparseDef){
		.blockCount = 1, .sizes = (int[]){ 1 }, .entryCount = 1, .entries = (knSparseEntry[]){ { 0, 4 } }
	};
	assert_null(knSparse_Create(&def));
	def = (knSparseDef){ .blockCount = 1, .sizes = (int[]){ 1 } };
	knSparse* sparse = knSparse_Create(&def);
	bool transposed;
	*knSparse_Block(sparse, 0, 0, &transposed) = NAN;
	assert_false(knSparse_Factor(sparse).finite);
	knSparse_Destroy(sparse);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_and_loops_match_dense_elimination),
		cmocka_unit_test(saddle_points_of_trees_have_no_fill),
		cmocka_unit_test(loops_wait_for_their_trees),
		cmocka_unit_test(redundant_rows_are_dropped),
		cmocka_unit_test(long_chains_cost_in_proportion),
		cmocka_unit_test(nonsense_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
