// Groups of bodies, and things sorted by them.
#include "support/kn_test.h"

#include "core/alloc.h"
#include "dynamics/islands.h"

// Bodies 0 (immovable) to 7: 1-2 and 5-3 touch, 3-4 are jointed, 6 hangs on 0, 7 is alone. What does not move connects nothing.
static void test_groups(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knArena arena;
	knArena_Init(&arena, &allocator);
	const double invMass[8] = { 0, 1, 1, 1, 1, 1, 1, 1 };
	const knSweepChunk chunks[3] = { { .a = 2, .b = 1 }, { .a = 0, .b = 1 }, { .a = 5, .b = 3 } };
	const knJointEdge joints[2] = { { 3, 4 }, { 0, 6 } };
	knIslands islands;
	assert_true(knIslands_Build(&islands, 8, invMass, chunks, 3, joints, 2, &arena));
	const int32_t group[8] = { -1, 1, 1, 3, 3, 3, 6, 7 };
	const uint8_t anchored[8] = { 0, 1, 0, 0, 0, 0, 1, 0 }, jointed[8] = { 0, 0, 0, 1, 0, 0, 1, 0 };
	const uint8_t hung[8] = { 0, 0, 0, 0, 0, 0, 1, 0 };
	for (int b = 0; b < 8; ++b) {
		assert_int_equal(islands.group[b], group[b]);
		assert_int_equal(islands.anchored[b], anchored[b]);
		assert_int_equal(islands.jointed[b], jointed[b]);
		assert_int_equal(islands.hung[b], hung[b]);
	}
	assert_int_equal(islands.assembly[5], 5);
	assert_int_equal(islands.assembly[4], 3);
	knArena_Free(&arena);
}

// Each thing once, those of a group together and in their order.
static void test_order(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knArena arena;
	knArena_Init(&arena, &allocator);
	const int32_t groupOf[9] = { 4, 1, 4, 0, 1, 1, 4, 0, 6 };
	knGroupOrder order;
	assert_true(knGroupOrder_Build(&order, groupOf, 9, 7, &arena));
	const int first[5] = { 0, 3, 6, 8, 9 }, items[9] = { 0, 2, 6, 1, 4, 5, 3, 7, 8 };
	assert_int_equal(order.count, 4);
	assert_memory_equal(order.first, first, sizeof(first));
	assert_memory_equal(order.items, items, sizeof(items));
	assert_true(knGroupOrder_Build(&order, groupOf, 0, 7, &arena));
	assert_int_equal(order.count, 0);
	knArena_Free(&arena);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
