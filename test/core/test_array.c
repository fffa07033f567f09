// Growing arrays: what was pushed stays, growth is geometric, failure leaves the array as it was.
#include "support/kn_test.h"

#include "core/array.h"

#include <limits.h>

static void pushed_items_stay(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	KN_ARRAY(int) numbers = { 0 };
	for (int i = 0; i < 10000; ++i) {
		assert_true(KN_ARRAY_PUSH(&allocator, &numbers, i * i));
	}
	assert_int_equal(numbers.count, 10000);
	for (int i = 0; i < 10000; ++i) {
		assert_int_equal(numbers.items[i], i * i);
	}
	assert_true(memory.calls <= 14); // doubling: log2 of the count
	KN_ARRAY_FREE(&allocator, &numbers);
	assert_null(numbers.items);
	assert_int_equal(memory.live, 0);
}

static void reserve_then_push_does_not_allocate(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	KN_ARRAY(double) numbers = { 0 };
	assert_true(KN_ARRAY_RESERVE(&allocator, &numbers, 0));
	assert_true(KN_ARRAY_RESERVE(&allocator, &numbers, 100));
	assert_true(numbers.capacity >= 100);
	assert_int_equal(memory.calls, 1);
	for (int i = 0; i < 100; ++i) {
		assert_true(KN_ARRAY_PUSH(&allocator, &numbers, i));
	}
	assert_int_equal(memory.calls, 1);
	KN_ARRAY_FREE(&allocator, &numbers);
	assert_int_equal(memory.live, 0);
}

static void failure_changes_nothing(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	KN_ARRAY(int) numbers = { 0 };
	for (int i = 0; i < 8; ++i) {
		assert_true(KN_ARRAY_PUSH(&allocator, &numbers, i));
	}
	memory.failAfter = memory.calls;
	int capacity = numbers.capacity;
	int* items = numbers.items;
	assert_false(KN_ARRAY_RESERVE(&allocator, &numbers, capacity + 1));
	assert_false(KN_ARRAY_RESERVE(&allocator, &numbers, INT_MAX));
	assert_true(numbers.items == items && numbers.count == 8 && numbers.capacity == capacity);
	assert_int_equal(numbers.items[7], 7);
	memory.failAfter = -1;
	KN_ARRAY_FREE(&allocator, &numbers);
	assert_int_equal(memory.live, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushed_items_stay),
		cmocka_unit_test(reserve_then_push_does_not_allocate),
		cmocka_unit_test(failure_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
