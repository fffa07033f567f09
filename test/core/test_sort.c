// Sorting: ordered, stable (equal keys keep their order), a permutation, and both methods agree.
#include "support/kn_test.h"

#include "core/sort.h"

enum { MOST = 5000 };

static bool lessKey(const void* a, const void* b, void* context) {
	(void)context;
	return ((const knKeyed*)a)->key < ((const knKeyed*)b)->key;
}

// Values are positions before sorting: sorted, stable and a permutation in one check.
static void checkSorted(const knKeyed* items, int count, const uint64_t* keys) {
	static bool seen[MOST];
	memset(seen, 0, sizeof seen);
	for (int i = 0; i < count; ++i) {
		assert_true(items[i].value < (uint32_t)count && !seen[items[i].value]);
		seen[items[i].value] = true;
		assert_true(items[i].key == keys[items[i].value]);
		if (i > 0) {
			assert_true(items[i - 1].key < items[i].key ||
						(items[i - 1].key == items[i].key && items[i - 1].value < items[i].value));
		}
	}
}

static uint64_t someKey(knTestRandom* random, int kind) {
	switch (kind) {
	case 0:
		return testNext(random);
	case 1:
		return (uint64_t)testInt(random, 10); // many equals
	case 2:
		return (uint64_t)testInt(random, 4) << 62 | (uint64_t)testInt(random, 4)
														<< 24; // constant bytes between
	case 3:
		return UINT64_MAX - (uint64_t)testInt(random, 100000);
	default:
		return 42;
	}
}

static void keys_and_merge_agree(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knArena scratch;
	knArena_Init(&scratch, &allocator);
	knTestRandom random = { 1 };
	static knKeyed radix[MOST], merged[MOST];
	static uint64_t keys[MOST];
	const int counts[] = { 0, 1, 2, 3, 31, 32, 33, 100, 1023, 1024, 1025, MOST };
	for (int c = 0; c < (int)(sizeof counts / sizeof *counts); ++c) {
		for (int kind = 0; kind < 5; ++kind) {
			for (int i = 0; i < counts[c]; ++i) {
				keys[i] = someKey(&random, kind);
				radix[i] = merged[i] = (knKeyed){ keys[i], (uint32_t)i };
			}
			knArena_Clear(&scratch);
			assert_true(knSort_Keys(radix, counts[c], &scratch));
			assert_true(knSort_Merge(merged, counts[c], sizeof *merged, lessKey, NULL, &scratch));
			checkSorted(radix, counts[c], keys);
			checkSorted(merged, counts[c], keys);
		}
	}
	knArena_Free(&scratch);
}

typedef struct Triple {
	char bytes[3];
} Triple;

static bool lessFirst(const void* a, const void* b, void* context) {
	*(int*)context += 1;
	return ((const Triple*)a)->bytes[0] < ((const Triple*)b)->bytes[0];
}

static void merge_of_odd_sizes(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knArena scratch;
	knArena_Init(&scratch, &allocator);
	knTestRandom random = { 2 };
	Triple items[100];
	for (int i = 0; i < 100; ++i) {
		items[i] = (Triple){ { (char)testInt(&random, 5), (char)i, (char)(2 * i % 128) } };
	}
	int comparisons = 0;
	assert_true(knSort_Merge(items, 100, sizeof(Triple), lessFirst, &comparisons, &scratch));
	for (int i = 0; i < 100; ++i) {
		assert_int_equal(items[i].bytes[2], 2 * items[i].bytes[1] % 128);
		if (i > 0) {
			assert_true(
				items[i - 1].bytes[0] < items[i].bytes[0] ||
				(items[i - 1].bytes[0] == items[i].bytes[0] && items[i - 1].bytes[1] < items[i].bytes[1]));
		}
	}
	assert_true(comparisons <= 100 * 7); // n log2 n
	knArena_Free(&scratch);
}

static void out_of_memory(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	memory.failAfter = 0;
	knArena scratch;
	knArena_Init(&scratch, &allocator);
	knKeyed items[100];
	for (int i = 0; i < 100; ++i) {
		items[i] = (knKeyed){ (uint64_t)(100 - i), (uint32_t)i };
	}
	assert_false(knSort_Keys(items, 100, &scratch));
	assert_false(knSort_Merge(items, 100, sizeof *items, lessKey, NULL, &scratch));
	for (int i = 0; i < 100; ++i) {
		assert_true(items[i].value == (uint32_t)i);
	}
	knArena_Free(&scratch);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_and_merge_agree),
		cmocka_unit_test(merge_of_odd_sizes),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
