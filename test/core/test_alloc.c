// Memory: alignment, overflow, and everything given back with the size it was taken with.
#include "support/kn_test.h"

#include "core/alloc.h"

static void default_allocator_aligns(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	for (size_t size = 1; size < 5000; size = size * 3 + 1) {
		unsigned char* memory = knAlloc(&allocator, size);
		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % 64, 0);
		memset(memory, 0x5A, size);
		knFree(&allocator, memory, size);
	}
}

static void refuses_nothing_and_too_much(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	assert_null(knAlloc(&allocator, 0));
	assert_null(knAlloc(&allocator, SIZE_MAX));
	assert_null(knAlloc(&allocator, (size_t)-64));
	assert_null(knAllocArray(&allocator, SIZE_MAX / 2, 3));
	assert_null(knAllocArray(&allocator, (size_t)-1, 8));
	assert_null(knAllocArray(&allocator, 0, 8));
	assert_null(knAllocArray(&allocator, 8, 0));
	assert_int_equal(memory.calls, 0);
	knFree(&allocator, NULL, 100);
	assert_int_equal(memory.live, 0);
}

static void zeroed_memory(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	unsigned char* bytes = knAllocZero(&allocator, 1000);
	for (int i = 0; i < 1000; ++i) {
		assert_int_equal(bytes[i], 0);
	}
	assert_int_equal(memory.live, 1000);
	knFree(&allocator, bytes, 1000);
	assert_int_equal(memory.live, 0);
}

static void strings(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	char source[] = "crank";
	char* copy = knCopyString(&allocator, source);
	source[0] = 'X';
	assert_string_equal(copy, "crank");
	char* empty = knCopyString(&allocator, "");
	assert_string_equal(empty, "");
	assert_null(knCopyString(&allocator, NULL));
	knFreeString(&allocator, copy);
	knFreeString(&allocator, empty);
	knFreeString(&allocator, NULL);
	assert_int_equal(memory.live, 0);

	memory.failAfter = 0;
	assert_null(knCopyString(&allocator, "crank"));
	assert_null(knAllocZero(&allocator, 10));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_allocator_aligns),
		cmocka_unit_test(refuses_nothing_and_too_much),
		cmocka_unit_test(zeroed_memory),
		cmocka_unit_test(strings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
