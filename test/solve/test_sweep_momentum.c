// Sweeps in conjugate directions: faster than plain ones on a column whose solution is known, the same solution, groups
// that know nothing of each other, the same bits for any number of threads.
#include "support/kn_test.h"

#include "solve/sweep_momentum.h"

#define BOXES 12  // of a column
#define COLUMNS 2 // at most
#define BLOCKS (1 + COLUMNS * BOXES)
#define POINTS (COLUMNS * BOXES * KN_CHUNK_POINTS)
#define FALL 0.1 // m/s, what gravity gives in a step

// Columns of unit cubes of 1 kg on an immovable block 0, falling: the interface under box i carries the weight above it.
typedef struct Piles {
	double invMass[BLOCKS];
	knMat33 invInertia[BLOCKS];
	knTwist u[BLOCKS];
	int32_t group[BLOCKS];
	knSweepChunk chunks[COLUMNS * BOXES];
	knSweepPoint points[POINTS];
	int chunkCount;
	knArena arena;
	knAllocator allocator;
	knSweepSet set;
} Piles;

static void addInterface(Piles* piles, int below, int above) {
	knSweepChunk* chunk = &piles->chunks[piles->chunkCount];
	*chunk = (knSweepChunk){
		.a = below, .b = above, .first = piles->chunkCount * KN_CHUNK_POINTS, .count = KN_CHUNK_POINTS
	};
	piles->chunkCount += 1;
	for (int k = 0; k < KN_CHUNK_POINTS; ++k) {
		double x = k % 2 == 0 ? 0.5 : -0.5, y = k == 0 || k == 3 ? 0.5 : -0.5;
		piles->points[chunk->first + k] = (knSweepPoint){ .n = knV3(0.0, 0.0, 1.0),
														  .t1 = knV3(1.0, 0.0, 0.0),
														  .t2 = knV3(0.0, 1.0, 0.0),
														  .rA = knV3(x, y, below == 0 ? 0.0 : 0.5),
														  .rB = knV3(x, y, -0.5),
														  .mu = 0.6 };
	}
}

static void makePiles(Piles* piles, int columns, double secondFall) {
	memset(piles, 0, sizeof(*piles));
	piles->allocator = knAllocator_Default();
	knArena_Init(&piles->arena, &piles->allocator);
	piles->group[0] = -1;
	for (int c = 0; c < columns; ++c) {
		for (int i = 0; i < BOXES; ++i) {
			int b = 1 + c * BOXES + i;
			piles->invMass[b] = 1.0;
			piles->invInertia[b] = knDiagonal33(6.0, 6.0, 6.0);
			piles->u[b].lin.z = c == 0 ? -FALL : -secondFall;
			piles->group[b] = 1 + c * BOXES;
			addInterface(piles, i == 0 ? 0 : b - 1, b);
		}
	}
	knSweepBlocks blocks = { .count = BLOCKS, .invMass = piles->invMass, .invInertia = piles->invInertia };
	assert_true(knSweepSet_Build(&piles->set, piles->chunks, piles->chunkCount, 1, piles->points, &blocks,
								 KN_SWEEP_CONE, NULL, &piles->arena));
}

static int sweepPiles(Piles* piles, int sweeps, bool momentum, double settled, const knTasks* tasks) {
	knSweepOptions options = { .sweeps = sweeps, .omega = 1.0, .tasks = tasks, .settled = settled };
	if (momentum) {
		options.momentum =
			knSweepMomentum_Begin(&piles->set, 0, 1, BLOCKS, piles->group, NULL, &piles->arena);
		assert_non_null(options.momentum);
	}
	int done = knSweep_Velocities(&piles->set, 0, &options, piles->u);
	knSweepSet_Store(&piles->set, tasks, piles->points);
	return done;
}

// The largest error of an interface's load in a column, of the whole weight.
static double loadError(const Piles* piles, int column, double fall) {
	double worst = 0.0;
	for (int i = 0; i < BOXES; ++i) {
		double sum = 0.0;
		for (int k = 0; k < KN_CHUNK_POINTS; ++k) {
			sum += piles->points[(column * BOXES + i) * KN_CHUNK_POINTS + k].lambda[0];
		}
		worst = knMax(worst, knAbs(sum - fall * (BOXES - i)));
	}
	return worst / (fall * BOXES);
}

static void test_loads_arrive_early(void** state) {
	(void)state;
	Piles plain, conjugate;
	makePiles(&plain, 1, 0.0);
	makePiles(&conjugate, 1, 0.0);
	sweepPiles(&plain, 60, false, 0.0, NULL);
	sweepPiles(&conjugate, 60, true, 0.0, NULL);
	assert_true(loadError(&plain, 0, FALL) > 0.01);
	assert_true(loadError(&conjugate, 0, FALL) < 0.1 * loadError(&plain, 0, FALL));
	knArena_Free(&plain.arena);
	knArena_Free(&conjugate.arena);
}

static void test_the_solution_is_the_same(void** state) {
	(void)state;
	Piles piles;
	makePiles(&piles, 1, 0.0);
	int done = sweepPiles(&piles, 3000, true, 1e-12, NULL);
	assert_true(done < 3000); // it stops by itself
	assert_true(loadError(&piles, 0, FALL) < 1e-3);
	for (int b = 1; b <= BOXES; ++b) {
		assert_near3(piles.u[b].lin, knZero3(), 1e-2 * FALL);
	}
	// plain sweeps leave it where it is
	double before = piles.points[0].lambda[0];
	sweepPiles(&piles, 20, false, 0.0, NULL);
	assert_near(piles.points[0].lambda[0], before, 1e-4);
	knArena_Free(&piles.arena);
}

// The second column starts with other velocities: the first gets the same impulses as alone.
static void test_groups_know_nothing_of_each_other(void** state) {
	(void)state;
	Piles alone, both;
	makePiles(&alone, 1, 0.0);
	makePiles(&both, 2, 7.0 * FALL);
	sweepPiles(&alone, 25, true, 0.0, NULL);
	sweepPiles(&both, 25, true, 0.0, NULL);
	for (int b = 1; b <= BOXES; ++b) {
		assert_near3(both.u[b].lin, alone.u[b].lin, 1e-14);
	}
	for (int k = 0; k < BOXES * KN_CHUNK_POINTS; ++k) {
		assert_near(both.points[k].lambda[0], alone.points[k].lambda[0], 1e-13);
	}
	knArena_Free(&alone.arena);
	knArena_Free(&both.arena);
}

static void test_threads_do_not_matter(void** state) {
	(void)state;
	Piles one, many;
	makePiles(&one, 2, 3.0 * FALL);
	makePiles(&many, 2, 3.0 * FALL);
	knError error = { 0 };
	knTaskPool* pool = knTaskPool_Create(3, NULL, &error);
	assert_non_null(pool);
	knTasks tasks = knTaskPool_Tasks(pool);
	sweepPiles(&one, 25, true, 0.0, NULL);
	sweepPiles(&many, 25, true, 0.0, &tasks);
	assert_memory_equal(one.u, many.u, sizeof(one.u));
	assert_memory_equal(one.points, many.points, sizeof(one.points));
	knTaskPool_Destroy(pool);
	knArena_Free(&one.arena);
	knArena_Free(&many.arena);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads_arrive_early),
		cmocka_unit_test(test_the_solution_is_the_same),
		cmocka_unit_test(test_groups_know_nothing_of_each_other),
		cmocka_unit_test(test_threads_do_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
