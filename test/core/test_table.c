// Hash tables against a plain array with linear search, over long random sequences of set, get and remove.
#include "support/kn_test.h"

#include "core/table.h"

enum { KEYS = 300 };

static void keys_against_brute_force(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knTable table;
	knTable_Init(&table, &allocator);
	knTestRandom random = { 1 };
	uint64_t keys[KEYS];
	int expected[KEYS];
	for (int i = 0; i < KEYS; ++i) {
		// small, large and close keys, zero and the largest among them
		keys[i] = i % 3 == 0 ? (uint64_t)i : (i % 3 == 1 ? ~(uint64_t)i + 1 : testNext(&random));
		expected[i] = -1;
	}
	int count = 0;
	for (int step = 0; step < 100000; ++step) {
		int i = testInt(&random, KEYS);
		int action = testInt(&random, step % 20000 < 10000 ? 3 : 5);
		if (action < 2) {
			int value = testInt(&random, 1000);
			assert_true(knTable_Set(&table, keys[i], value));
			count += expected[i] < 0;
			expected[i] = value;
		} else {
			assert_true(knTable_Remove(&table, keys[i]) == (expected[i] >= 0));
			count -= expected[i] >= 0;
			expected[i] = -1;
		}
		assert_int_equal(table.count, count);
		int look = testInt(&random, KEYS);
		assert_int_equal(knTable_Get(&table, keys[look]), expected[look]);
	}
	for (int i = 0; i < KEYS; ++i) {
		assert_int_equal(knTable_Get(&table, keys[i]), expected[i]);
	}
	knTable_Clear(&table);
	for (int i = 0; i < KEYS; ++i) {
		assert_int_equal(knTable_Get(&table, keys[i]), -1);
	}
	knTable_Free(&table);
	assert_int_equal(memory.live, 0);
}

static void reserve_and_clear_keep_memory(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knTable table;
	knTable_Init(&table, &allocator);
	assert_int_equal(knTable_Get(&table, 5), -1);
	assert_false(knTable_Remove(&table, 5));
	assert_true(knTable_Reserve(&table, 1000));
	int calls = memory.calls;
	for (int round = 0; round < 5; ++round) {
		for (int i = 0; i < 1000; ++i) {
			assert_true(knTable_Set(&table, (uint64_t)i << 32, i));
		}
		assert_int_equal(table.count, 1000);
		knTable_Clear(&table);
		assert_int_equal(table.count, 0);
	}
	assert_int_equal(memory.calls, calls);
	knTable_Free(&table);
	assert_int_equal(memory.live, 0);
}

static void key_table_out_of_memory(void** state) {
	(void)state;
	for (int failAfter = 0; failAfter < 6; ++failAfter) {
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		memory.failAfter = failAfter;
		knTable table;
		knTable_Init(&table, &allocator);
		int set = 0;
		while (set < 1000 && knTable_Set(&table, (uint64_t)set, set)) {
			++set;
		}
		assert_true(set < 1000);
		// what was there is there
		assert_int_equal(table.count, set);
		for (int i = 0; i < 1000; ++i) {
			assert_int_equal(knTable_Get(&table, (uint64_t)i), i < set ? i : -1);
		}
		knTable_Free(&table);
		assert_int_equal(memory.live, 0);
	}
}

static void nameOf(int i, char* name) {
	// lengths around the hash's word size, and the empty name
	snprintf(name, 32, "%.*s%d", i % 20, "body_of_a_long_name_", i);
	if (i == 0) {
		name[0] = '\0';
	}
}

static void names_against_brute_force(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knNameTable table;
	knNameTable_Init(&table, &allocator);
	assert_int_equal(knNameTable_Get(&table, "a"), -1);
	assert_false(knNameTable_Remove(&table, "a"));
	knTestRandom random = { 2 };
	int expected[KEYS];
	memset(expected, 0xFF, sizeof expected);
	int count = 0;
	for (int step = 0; step < 30000; ++step) {
		int i = testInt(&random, KEYS);
		char name[32];
		nameOf(i, name);
		if (testInt(&random, step % 8000 < 4000 ? 3 : 5) < 2) {
			count += expected[i] < 0;
			expected[i] = testInt(&random, 1000);
			assert_true(knNameTable_Set(&table, name, expected[i]));
			name[0] = '#'; // the table has its own copy
		} else {
			assert_true(knNameTable_Remove(&table, name) == (expected[i] >= 0));
			count -= expected[i] >= 0;
			expected[i] = -1;
		}
		assert_int_equal(table.count, count);
	}
	for (int i = 0; i < KEYS; ++i) {
		char name[32];
		nameOf(i, name);
		assert_int_equal(knNameTable_Get(&table, name), expected[i]);
	}
	knNameTable_Free(&table);
	assert_int_equal(memory.live, 0);
}

static void name_table_out_of_memory(void** state) {
	(void)state;
	for (int failAfter = 0; failAfter < 40; ++failAfter) {
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		memory.failAfter = failAfter;
		knNameTable table;
		knNameTable_Init(&table, &allocator);
		char name[32];
		int set = 0;
		for (; set < 100; ++set) {
			nameOf(set, name);
			if (!knNameTable_Set(&table, name, set)) {
				break;
			}
		}
		assert_int_equal(table.count, set);
		for (int i = 0; i < 100; ++i) {
			nameOf(i, name);
			assert_int_equal(knNameTable_Get(&table, name), i < set ? i : -1);
		}
		knNameTable_Free(&table);
		assert_int_equal(memory.live, 0);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_against_brute_force), cmocka_unit_test(reserve_and_clear_keep_memory),
		cmocka_unit_test(key_table_out_of_memory),  cmocka_unit_test(names_against_brute_force),
		cmocka_unit_test(name_table_out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
