// The contact graph: pyramids, arches, circles and random graphs against brute force.
#include "support/kn_test.h"

#include "dynamics/contact_graph.h"

typedef struct Built {
	knAllocator allocator;
	knArena arena;
	knContactGraph graph;
} Built;

static Built build(int bodyCount, const bool* anchored, const knSupport* edges, int edgeCount) {
	Built b = { .allocator = knAllocator_Default() };
	knArena_Init(&b.arena, &b.allocator);
	assert_true(knContactGraph_Build(&b.graph, bodyCount, anchored, edges, edgeCount, &b.arena));
	return b;
}

// Ground 0; bodies 1, 2 on it, 3 on both, and 4 on 3 and, with one foot, on the ground.
static void test_pyramid(void** state) {
	(void)state;
	const bool anchored[6] = { true };
	const knSupport edges[] = { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 }, { 3, 4 }, { 0, 4 } };
	Built b = build(6, anchored, edges, 6);
	const int expected[6] = { 0, 1, 1, 2, 3, 0 };
	for (int i = 0; i < 6; ++i) {
		assert_int_equal(b.graph.level[i], expected[i]);
		assert_int_equal(b.graph.grounded[i], i < 5);
	}
	assert_int_equal(b.graph.levelCount, 4);
	assert_int_equal(b.graph.componentCount, 6);
	knArena_Free(&b.arena);
}

// The stones of an arch lean on each other: one component on its two feet, and what stands on it comes above.
static void test_arch_is_one_component(void** state) {
	(void)state;
	const bool anchored[7] = { true };
	const knSupport edges[] = { { 0, 1 }, { 0, 5 }, { 1, 2 }, { 2, 3 }, { 3, 2 },
								{ 5, 4 }, { 4, 3 }, { 3, 4 }, { 3, 6 } };
	Built b = build(7, anchored, edges, 9);
	assert_int_equal(b.graph.component[2], b.graph.component[3]);
	assert_int_equal(b.graph.component[3], b.graph.component[4]);
	assert_int_equal(b.graph.level[1], 1);
	assert_int_equal(b.graph.level[5], 1);
	assert_int_equal(b.graph.level[3], 2);
	assert_int_equal(b.graph.level[6], 3);
	knArena_Free(&b.arena);
}

// Nothing supports what does not move, and a pile in the air is not grounded.
static void test_anchors_and_floaters(void** state) {
	(void)state;
	const bool anchored[5] = { true, false, false, false, true };
	const knSupport edges[] = { { 1, 0 }, { 1, 4 }, { 4, 1 }, { 2, 3 } };
	Built b = build(5, anchored, edges, 4);
	assert_int_equal(b.graph.level[0], 0);
	assert_int_equal(b.graph.level[4], 0);
	assert_int_equal(b.graph.level[1], 1);
	assert_true(b.graph.grounded[1]);
	assert_int_equal(b.graph.level[3], 1);
	assert_false(b.graph.grounded[2]);
	assert_false(b.graph.grounded[3]);
	knArena_Free(&b.arena);
}

#define SIZE 12

// Two bodies share a component if and only if each can be reached from the other, and across components every edge
// climbs by the longest chain.
static void test_random_graphs(void** state) {
	(void)state;
	knTestRandom random = { 11 };
	for (int round = 0; round < 300; ++round) {
		bool anchored[SIZE] = { false }, reach[SIZE][SIZE] = { { false } };
		knSupport edges[40];
		int edgeCount = testInt(&random, 40);
		anchored[0] = true;
		for (int i = 0; i < SIZE; ++i) {
			reach[i][i] = true;
		}
		for (int i = 0; i < edgeCount; ++i) {
			edges[i] = (knSupport){ testInt(&random, SIZE), 1 + testInt(&random, SIZE - 1) };
			reach[edges[i].lower][edges[i].upper] = true;
		}
		for (int k = 0; k < SIZE; ++k) {
			for (int i = 0; i < SIZE * SIZE; ++i) {
				int from = i / SIZE, to = i % SIZE;
				reach[from][to] = reach[from][to] || (reach[from][k] && reach[k][to]);
			}
		}
		Built b = build(SIZE, anchored, edges, edgeCount);
		int level[SIZE] = { 0 };
		for (int pass = 0; pass < SIZE; ++pass) {
			for (int i = 0; i < edgeCount; ++i) {
				int from = edges[i].lower, to = edges[i].upper;
				for (int m = 0; m < SIZE; ++m) {
					bool same = reach[to][m] && reach[m][to];
					bool apart = !(reach[to][from] && reach[from][to]);
					if (same && apart && level[m] < level[from] + 1) {
						level[m] = level[from] + 1;
					}
				}
			}
			for (int i = 0; i < SIZE * SIZE; ++i) {
				int from = i / SIZE, to = i % SIZE;
				if (reach[from][to] && reach[to][from] && level[to] < level[from]) {
					level[to] = level[from];
				}
			}
		}
		for (int i = 0; i < SIZE; ++i) {
			assert_int_equal(b.graph.level[i], level[i]);
			assert_int_equal(b.graph.grounded[i], reach[0][i]);
			for (int k = 0; k < SIZE; ++k) {
				assert_int_equal(b.graph.component[i] == b.graph.component[k], reach[i][k] && reach[k][i]);
			}
		}
		knArena_Free(&b.arena);
	}
}

// A column of a hundred thousand: no recursion.
static void test_tall_column(void** state) {
	(void)state;
	const int count = 100000;
	bool* anchored = calloc((size_t)count, sizeof(*anchored));
	knSupport* edges = calloc((size_t)count, sizeof(*edges));
	assert_true(anchored != NULL && edges != NULL);
	anchored[0] = true;
	for (int i = 0; i + 1 < count; ++i) {
		edges[i] = (knSupport){ i, i + 1 };
	}
	Built b = build(count, anchored, edges, count - 1);
	assert_int_equal(b.graph.levelCount, count);
	assert_int_equal(b.graph.level[count - 1], count - 1);
	knArena_Free(&b.arena);
	free(anchored);
	free(edges);
}

static void test_empty(void** state) {
	(void)state;
	Built b = build(0, NULL, NULL, 0);
	assert_int_equal(b.graph.levelCount, 0);
	knArena_Free(&b.arena);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pyramid),
		cmocka_unit_test(test_arch_is_one_component),
		cmocka_unit_test(test_anchors_and_floaters),
		cmocka_unit_test(test_random_graphs),
		cmocka_unit_test(test_tall_column),
		cmocka_unit_test(test_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
