// The arena: pieces never overlap, a warm round takes no memory, counters count, and failure is said once and
// heals.
#include "support/kn_test.h"

#include "core/arena.h"

enum { PIECES = 400 };

// Takes `count` pieces of the sizes that `seed` gives and fills each with its own byte; true if all are
// intact.
static bool takeAndCheck(knArena* arena, uint64_t seed, int count, size_t* total) {
	knTestRandom random = { seed };
	unsigned char* pieces[PIECES];
	size_t sizes[PIECES];
	for (int i = 0; i < count; ++i) {
		sizes[i] = (size_t)testInt(&random, i % 10 == 0 ? 20000 : 500);
		pieces[i] = knArena_Take(arena, sizes[i]);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % 64, 0);
		memset(pieces[i], i & 255, sizes[i]);
		*total += sizes[i];
	}
	for (int i = 0; i < count; ++i) {
		for (size_t k = 0; k < sizes[i]; ++k) {
			if (pieces[i][k] != (i & 255)) {
				return false;
			}
		}
	}
	return true;
}

static void pieces_do_not_overlap(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knArena arena;
	knArena_Init(&arena, &allocator);
	assert_int_equal(memory.calls, 0);
	for (uint64_t round = 1; round <= 5; ++round) {
		size_t total = 0;
		assert_true(takeAndCheck(&arena, round, PIECES, &total));
		// what was asked for, each piece rounded up by less than 64 bytes (or to 64, for none)
		assert_true(arena.used >= total && arena.used <= total + 64 * PIECES);
		knArena_Clear(&arena);
		assert_int_equal(arena.used, 0);
	}
	knArena_Free(&arena);
	assert_int_equal(memory.live, 0);
}

static void warm_rounds_do_not_allocate(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knArena arena;
	knArena_Init(&arena, &allocator);
	size_t total = 0;
	takeAndCheck(&arena, 7, PIECES, &total);
	assert_true(memory.calls > 1); // it did grow by a chain
	knArena_Clear(&arena);
	int warm = memory.calls;
	size_t highWater = arena.highWater;
	for (int round = 0; round < 10; ++round) {
		takeAndCheck(&arena, 7, PIECES, &total);
		knArena_Clear(&arena);
	}
	assert_int_equal(memory.calls, warm);
	assert_int_equal(arena.highWater, highWater);
	knArena_Free(&arena);
	assert_int_equal(memory.live, 0);
}

static void high_water_is_the_largest_use(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knArena arena;
	knArena_Init(&arena, &allocator);
	const size_t rounds[] = { 6400, 640000, 64, 12800 };
	size_t largest = 0;
	for (int i = 0; i < 4; ++i) {
		knArena_Take(&arena, rounds[i] / 2);
		knArena_Take(&arena, rounds[i] / 2);
		largest = arena.used > largest ? arena.used : largest;
		assert_int_equal(arena.highWater, largest);
		knArena_Clear(&arena);
	}
	assert_int_equal(largest, 640000);
	knArena_Free(&arena);
}

static void zero_bytes_and_zeroed_bytes(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knArena arena;
	knArena_Init(&arena, &allocator);
	assert_non_null(knArena_Take(&arena, 0));
	assert_non_null(knArena_TakeZero(&arena, 0));
	int* dirty = KN_SCRATCH(&arena, int, 100);
	memset(dirty, 0xFF, 100 * sizeof *dirty);
	knArena_Clear(&arena);
	for (int round = 0; round < 3; ++round) {
		const int* clean = KN_SCRATCH_ZERO(&arena, int, 100);
		for (int i = 0; i < 100; ++i) {
			assert_int_equal(clean[i], 0);
		}
	}
	knArena_Free(&arena);
}

static void failure_is_noted_until_the_next_clear(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knArena arena;
	knArena_Init(&arena, &allocator);
	assert_non_null(knArena_Take(&arena, 1000));
	assert_false(arena.failed);
	memory.failAfter = memory.calls;
	size_t used = arena.used;
	assert_null(knArena_Take(&arena, 10 * 1000 * 1000));
	assert_true(arena.failed);
	assert_int_equal(arena.used, used);
	// small ones still fit, but the step as a whole has failed
	assert_non_null(knArena_Take(&arena, 1000));
	assert_true(arena.failed);
	knArena_Clear(&arena);
	assert_false(arena.failed);

	// no size overflows; a negative count is one of them
	memory.failAfter = -1;
	assert_null(knArena_Take(&arena, SIZE_MAX));
	assert_null(knArena_Take(&arena, SIZE_MAX - 70));
	assert_null(KN_SCRATCH(&arena, double, -5));
	assert_null(knArena_TakeZero(&arena, SIZE_MAX));
	knArena_Free(&arena);
	assert_int_equal(memory.live, 0);
}

// Whichever allocation fails, also the one of the merge, nothing leaks and the next round works.
static void every_allocation_may_fail(void** state) {
	(void)state;
	for (int failAfter = 0; failAfter < 8; ++failAfter) {
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		memory.failAfter = failAfter;
		knArena arena;
		knArena_Init(&arena, &allocator);
		for (int round = 0; round < 3; ++round) {
			bool complete = true;
			for (int i = 0; i < 40; ++i) {
				unsigned char* piece = knArena_Take(&arena, 9000);
				complete = complete && piece != NULL;
				if (piece != NULL) {
					memset(piece, 1, 9000);
				}
			}
			assert_true(complete == !arena.failed);
			knArena_Clear(&arena);
		}
		memory.failAfter = -1;
		size_t total = 0;
		assert_true(takeAndCheck(&arena, 3, 50, &total));
		assert_false(arena.failed);
		knArena_Free(&arena);
		assert_int_equal(memory.live, 0);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_do_not_overlap),
		cmocka_unit_test(warm_rounds_do_not_allocate),
		cmocka_unit_test(high_water_is_the_largest_use),
		cmocka_unit_test(zero_bytes_and_zeroed_bytes),
		cmocka_unit_test(failure_is_noted_until_the_next_clear),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
