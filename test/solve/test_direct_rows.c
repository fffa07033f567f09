// Rows solved at once: against sweeps, long chains with heavy ends, loops.
#include "support/kn_test.h"

#include "solve/direct_rows.h"
#include "solve/pgs.h"

#define LINKS 60

// A chain of point-like masses: three rows hold each to the one before, block 0 is the wall.
typedef struct Chain {
	knRow items[6 * LINKS];
	knRows rows;
	knTwist u[LINKS + 1];
	knArena arena;
	knAllocator allocator;
} Chain;

static void addRow(Chain* chain, int a, int b, knVec3 axis, double massA, double massB, double bias) {
	knRow* row = &chain->items[chain->rows.count++];
	*row = (knRow){ .a = a,
					.b = b,
					.Ja = knMakeTwist(knZero3(), knNeg(axis)),
					.Jb = knMakeTwist(knZero3(), axis),
					.lo = -(double)INFINITY,
					.hi = (double)INFINITY,
					.bias = bias,
					.normal = KN_ROW_NO_NORMAL };
	row->Ta = knScaleT(massA > 0.0 ? 1.0 / massA : 0.0, row->Ja);
	row->Tb = knScaleT(1.0 / massB, row->Jb);
	row->D = knDotT(row->Ja, row->Ta) + knDotT(row->Jb, row->Tb);
}

static double massOf(int link, double heavy) {
	return link == 0 ? 0.0 : (link == LINKS ? heavy : 1.0);
}

static void makeChain(Chain* chain, double heavy) {
	memset(chain, 0, sizeof(*chain));
	chain->allocator = knAllocator_Default();
	knArena_Init(&chain->arena, &chain->allocator);
	chain->rows = (knRows){ .items = chain->items, .capacity = 6 * LINKS, .blockCount = LINKS + 1 };
	const knVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
	for (int i = 1; i <= LINKS; ++i) {
		for (int c = 0; c < 3; ++c) {
			addRow(chain, i - 1, i, axes[c], massOf(i - 1, heavy), massOf(i, heavy), 0.0);
			chain->items[chain->rows.count - 1].group = i;
		}
		chain->u[i].lin.z = -0.0981;
	}
}

static void freeChain(Chain* chain) {
	knArena_Free(&chain->arena);
}

// A weight of 10,000 times a link hangs still after one solve, and each joint carries what hangs below it.
static void test_heavy_chain_hangs(void** state) {
	(void)state;
	Chain chain;
	makeChain(&chain, 10000.0);
	knDirectRows direct;
	assert_true(knDirectRows_Build(&direct, &chain.rows, &chain.arena));
	assert_int_equal(direct.count, 3 * LINKS);
	knPgs_Begin(&chain.rows, chain.u);
	knDirectRows_Solve(&direct, chain.u);
	for (int i = 1; i <= LINKS; ++i) {
		assert_near3(chain.u[i].lin, knZero3(), 1e-11);
		double below = 10000.0 + (LINKS - i);
		assert_near(chain.items[3 * (i - 1) + 2].lambda, 0.0981 * below, 1e-9 * below);
	}
	freeChain(&chain);
}

// An impulse on one link of the chain: with what the rows add no link moves against its neighbours, and the impulses that hold
// the chain are not touched.
static void test_restore_after_an_impulse(void** state) {
	(void)state;
	Chain chain;
	makeChain(&chain, 10.0);
	knDirectRows direct;
	assert_true(knDirectRows_Build(&direct, &chain.rows, &chain.arena));
	knTwist change[LINKS + 1] = { 0 };
	change[5].lin = knV3(0.3, -0.2, 0.5);
	chain.items[4].lambda = 0.7;
	knDirectRows_Restore(&direct, change);
	for (int i = 0; i < chain.rows.count; ++i) {
		const knRow* row = &chain.items[i];
		assert_near(knDotT(row->Ja, change[row->a]) + knDotT(row->Jb, change[row->b]), 0.0, 1e-13);
	}
	assert_near(chain.items[4].lambda, 0.7, 0.0);
	freeChain(&chain);
}

// Sweeps and the direct solve agree where sweeps can do it; bounded rows are left to the sweeps.
static void test_agrees_with_sweeps(void** state) {
	(void)state;
	Chain swept, solved;
	makeChain(&swept, 1.0);
	makeChain(&solved, 1.0);
	swept.rows.count = solved.rows.count = 3 * 8; // a short chain
	swept.items[5].gamma = solved.items[5].gamma = 0.3;
	swept.items[5].D += 0.3;
	solved.items[5].D += 0.3;
	solved.items[7].bias = swept.items[7].bias = 0.2;
	knPgs_Solve(&swept.rows, 5000, swept.u);
	knDirectRows direct;
	knPgs_Begin(&solved.rows, solved.u);
	assert_true(knDirectRows_Build(&direct, &solved.rows, &solved.arena));
	knDirectRows_Solve(&direct, solved.u);
	for (int i = 0; i < 24; ++i) {
		assert_near(solved.items[i].lambda, swept.items[i].lambda, 1e-9);
	}
	solved.items[3].lo = 0.0;
	assert_true(knDirectRows_Build(&direct, &solved.rows, &solved.arena));
	assert_int_equal(direct.count, 23);
	assert_false(direct.isDirect[3]);
	freeChain(&swept);
	freeChain(&solved);
}

// A ring on the wall, closed by the same row twice: more rows than freedom. All rows hold, and the two share the load.
static void test_loops_that_say_things_twice(void** state) {
	(void)state;
	Chain chain;
	makeChain(&chain, 3.0);
	chain.rows.count = 3 * 10; // links 1 to 10
	for (int twice = 0; twice < 2; ++twice) {
		addRow(&chain, 0, 10, knV3(0.0, 0.0, 1.0), 0.0, 1.0, 0.0); // closes the chain
		chain.items[30 + twice].group = 100 + twice;
	}
	knDirectRows direct;
	knPgs_Begin(&chain.rows, chain.u);
	assert_true(knDirectRows_Build(&direct, &chain.rows, &chain.arena));
	assert_int_equal(direct.count, 32);
	knDirectRows_Solve(&direct, chain.u);
	double weight = 0.0;
	for (int i = 1; i <= 10; ++i) {
		assert_near3(chain.u[i].lin, knZero3(), 1e-5);
		weight += 0.0981;
	}
	assert_near(chain.items[30].lambda, chain.items[31].lambda, 1e-9);
	assert_near(chain.items[2].lambda + 2.0 * chain.items[30].lambda, weight, 1e-4 * weight);

	// and again: what gave way is taken back
	knDirectRows_Solve(&direct, chain.u);
	for (int i = 1; i <= 10; ++i) {
		assert_near3(chain.u[i].lin, knZero3(), 1e-9);
	}
	freeChain(&chain);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heavy_chain_hangs),
		cmocka_unit_test(test_restore_after_an_impulse),
		cmocka_unit_test(test_agrees_with_sweeps),
		cmocka_unit_test(test_loops_that_say_things_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
