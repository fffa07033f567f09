// The convex problem of an island: at the solution the nodes are in balance and every impulse is what its law says.
#include "support/kn_test.h"

#include "solve/island_newton.h"

#define NODES 12
#define EDGES 24
#define ROWS (5 * EDGES)

typedef struct Island {
	knAllocator allocator;
	knArena arena;
	knIslandProblem problem;
	knIslandEntry entries[EDGES];
	knIslandRow rows[ROWS];
} Island;

static void randomRow(knIslandRow* row, knTestRandom* random, double soft) {
	memset(row, 0, sizeof(*row));
	for (int c = 0; c < 6; ++c) {
		row->row.a[c] = testUniform(random, -1.0, 1.0);
		row->row.b[c] = testUniform(random, -1.0, 1.0);
	}
	row->rate = testUniform(random, -1.0, 1.0);
	row->soft = soft;
}

// Two locked rows, then a normal with a disc, for every edge. The first node is joined to something immovable.
static void makeIsland(Island* island, uint64_t seed, double lockedSoft, double contactSoft) {
	knTestRandom random = { seed };
	memset(island, 0, sizeof(*island));
	island->allocator = knAllocator_Default();
	knArena_Init(&island->arena, &island->allocator);
	int bodies[NODES], stepOf[NODES];
	knBodyEdge edges[EDGES];
	for (int i = 0; i < NODES; ++i) {
		bodies[i] = i;
	}
	for (int e = 0; e < EDGES; ++e) {
		int a = e < NODES ? e : testInt(&random, NODES),
			b = e < NODES ? (e + 1) % NODES : testInt(&random, NODES);
		edges[e] = (knBodyEdge){ a, b == a ? (a + 1) % NODES : b };
	}
	knIslandProblem* problem = &island->problem;
	assert_true(knBodyMatrix_Build(&problem->matrix, bodies, NODES, edges, EDGES, stepOf, &island->arena));
	assert_true(knIslandProblem_Reserve(problem, &island->arena));
	for (int s = 0; s < NODES; ++s) {
		double m = testUniform(&random, 0.5, 20.0);
		for (int c = 0; c < 6; ++c) {
			problem->H[36 * s + 7 * c] = c < 3 ? 0.1 * m : m;
			problem->gradient[6 * s + c] = testUniform(&random, -1.0, 1.0);
		}
	}
	for (int e = 0; e < EDGES; ++e) {
		int a = e == 0 ? -1 : stepOf[edges[e].a], b = stepOf[edges[e].b];
		island->entries[e] = (knIslandEntry){
			.a = a, .b = b, .block = knBodyMatrix_BlockOf(&problem->matrix, a, b), .first = 5 * e, .count = 5
		};
		knIslandRow* row = &island->rows[5 * e];
		for (int k = 0; k < 5; ++k) {
			randomRow(&row[k], &random, k < 2 ? lockedSoft : contactSoft);
		}
		row[0].law = row[1].law = KN_LAW_FREE;
		row[2].law = KN_LAW_RANGE;
		row[2].hi = (double)INFINITY;
		row[3].law = row[4].law = KN_LAW_DISC;
		row[3].hi = e % 3 == 0 ? 0.0 : testUniform(&random, 0.0, 0.5);
	}
	problem->entries = island->entries;
	problem->entryCount = EDGES;
	problem->rows = island->rows;
	problem->iterationLimit = 60;
	problem->discTolerance = 1e-9;
	problem->secantIterations = 3;
	problem->discPatience = 60;
}

// The largest impulse that a node lacks, and the largest violation of a law.
static void measure(const Island* island, double* unbalanced, double* unlawful) {
	const knIslandProblem* problem = &island->problem;
	double left[6 * NODES];
	for (int s = 0; s < NODES; ++s) {
		for (int c = 0; c < 6; ++c) {
			int i = 6 * s + c;
			left[i] = problem->gradient[i] + problem->H[36 * s + 7 * c] * problem->d[i];
		}
	}
	*unbalanced = *unlawful = 0.0;
	for (int e = 0; e < EDGES; ++e) {
		const knIslandEntry* entry = &island->entries[e];
		const knIslandRow* row = &island->rows[5 * e];
		double y[5];
		for (int k = 0; k < 5; ++k) {
			double r = row[k].rate + knIslandRow_Rate(entry, &row[k].row, problem->d);
			y[k] = row[k].lambda - r / row[k].soft;
			knIslandRow_Push(entry, &row[k].row, -row[k].change, left);
		}
		y[2] = knRowLaw_Range(y[2], row[2].lo, row[2].hi);
		knRowLaw_Disc(row[3].hi, &y[3], &y[4]);
		for (int k = 0; k < 5; ++k) {
			*unlawful = knMax(*unlawful, knAbs(y[k] - row[k].lambda - row[k].change) * row[k].soft);
		}
	}
	for (int i = 0; i < 6 * NODES; ++i) {
		*unbalanced = knMax(*unbalanced, knAbs(left[i]));
	}
}

static void test_solution_balances_and_obeys_the_laws(void** state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 40; ++seed) {
		Island island;
		makeIsland(&island, seed, 1e-6, 1e-3);
		assert_int_equal(knIslandProblem_Solve(&island.problem), KN_ISLAND_SOLVED);
		double unbalanced, unlawful;
		measure(&island, &unbalanced, &unlawful);
		assert_true(unbalanced < 1e-7);
		assert_true(unlawful < 1e-9);
		knArena_Free(&island.arena);
	}
}

// Rounds with impulses kept drive locked rows to zero although each of them is soft.
static void test_rounds_remove_the_softness(void** state) {
	(void)state;
	Island island;
	makeIsland(&island, 7, 1e-3, 1e-2);
	knIslandProblem* problem = &island.problem;
	double worst = 1.0;
	// locked rows that contradict each other cannot all hold: one a edge of the ring is kept
	for (int e = 0; e < EDGES; ++e) {
		island.rows[5 * e + 1].law = KN_LAW_RANGE;
	}
	for (int round = 0; round < 60; ++round) {
		assert_int_equal(knIslandProblem_Solve(problem), KN_ISLAND_SOLVED);
		worst = 0.0;
		double next[6 * NODES] = { 0 };
		for (int s = 0; s < NODES; ++s) {
			for (int c = 0; c < 6; ++c) {
				int i = 6 * s + c;
				next[i] = problem->gradient[i] + problem->H[36 * s + 7 * c] * problem->d[i];
			}
		}
		for (int e = 0; e < EDGES; ++e) {
			for (int k = 5 * e; k < 5 * e + 5; ++k) {
				knIslandRow* row = &island.rows[k];
				row->rate += knIslandRow_Rate(&island.entries[e], &row->row, problem->d);
				knIslandRow_Push(&island.entries[e], &row->row, -row->change, next);
				row->lambda += row->change;
				worst = row->law == KN_LAW_FREE ? knMax(worst, knAbs(row->rate)) : worst;
			}
		}
		memcpy(problem->gradient, next, sizeof(next));
	}
	assert_true(worst < 1e-8);
	knArena_Free(&island.arena);
}

// Rounds of the same matrix: nothing is factored anew while no row changes its branch, and the answer is the same.
static void test_a_kept_matrix_gives_the_same(void** state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 40; ++seed) {
		Island island;
		double d[6 * NODES];
		makeIsland(&island, seed, 1e-6, 1e-3);
		for (int e = 0; e < EDGES; ++e) {
			island.rows[5 * e + 3].hi = 0.0; // no friction: rims follow the wish and change with it
		}
		assert_int_equal(knIslandProblem_Solve(&island.problem), KN_ISLAND_SOLVED);
		memcpy(d, island.problem.d, sizeof(d));
		const int factorizations = island.problem.factorizations;
		island.problem.kept = true;
		assert_int_equal(knIslandProblem_Solve(&island.problem), KN_ISLAND_SOLVED);
		assert_true(island.problem.factorizations <= factorizations);
		for (int i = 0; i < 6 * NODES; ++i) {
			assert_near(island.problem.d[i], d[i], 1e-9);
		}
		knArena_Free(&island.arena);
	}
}

// What is nearly solved ends sooner, at nearly the same velocities, and impulses follow from these by the laws.
static void test_nearly_solved_ends_sooner(void** state) {
	(void)state;
	int exact = 0, near = 0;
	for (uint64_t seed = 1; seed <= 40; ++seed) {
		Island island;
		double unbalanced, unlawful, d[6 * NODES], away = 0.0, size = 0.0;
		makeIsland(&island, seed, 1e-6, 1e-3);
		assert_int_equal(knIslandProblem_Solve(&island.problem), KN_ISLAND_SOLVED);
		exact += island.problem.iterations;
		memcpy(d, island.problem.d, sizeof(d));
		for (int i = 0; i < 6 * NODES; ++i) {
			size = knMax(size, knAbs(d[i]));
		}
		island.problem.nearEnough = 1e-3 * size;
		assert_int_equal(knIslandProblem_Solve(&island.problem), KN_ISLAND_SOLVED);
		near += island.problem.iterations;
		measure(&island, &unbalanced, &unlawful);
		for (int i = 0; i < 6 * NODES; ++i) {
			away = knMax(away, knAbs(island.problem.d[i] - d[i]));
		}
		assert_true(away < 1e-2 * size);
		assert_true(unlawful < 1e-9);
		knArena_Free(&island.arena);
	}
	assert_true(near < exact);
}

static void test_too_few_iterations_are_told(void** state) {
	(void)state;
	Island island;
	makeIsland(&island, 3, 1e-6, 1e-3);
	island.problem.iterationLimit = 1;
	assert_int_equal(knIslandProblem_Solve(&island.problem), KN_ISLAND_UNFINISHED);
	island.problem.H[0] = -1e9;
	island.problem.iterationLimit = 60;
	assert_int_equal(knIslandProblem_Solve(&island.problem), KN_ISLAND_SINGULAR);
	assert_true(island.problem.d[0] == 0.0 && island.rows[0].change == 0.0);
	knArena_Free(&island.arena);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_solution_balances_and_obeys_the_laws),
		cmocka_unit_test(test_rounds_remove_the_softness),
		cmocka_unit_test(test_a_kept_matrix_gives_the_same),
		cmocka_unit_test(test_nearly_solved_ends_sooner),
		cmocka_unit_test(test_too_few_iterations_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
