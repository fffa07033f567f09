// Sets that grow together, against reachability by plain flooding.
#include "support/kn_test.h"

#include "core/sets.h"

#define COUNT 40

// The lowest index that i reaches over the connections, by flooding until nothing changes.
static void flood(const int (*links)[2], int linkCount, int32_t* lowest) {
	for (int i = 0; i < COUNT; ++i) {
		lowest[i] = i;
	}
	for (bool changed = true; changed;) {
		changed = false;
		for (int k = 0; k < linkCount; ++k) {
			int a = links[k][0], b = links[k][1];
			if (lowest[a] != lowest[b]) {
				lowest[a] = lowest[b] = lowest[a] < lowest[b] ? lowest[a] : lowest[b];
				changed = true;
			}
		}
	}
}

static void names_are_the_lowest_members(void** state) {
	(void)state;
	uint32_t seed = 7;
	for (int round = 0; round < 200; ++round) {
		int links[30][2], linkCount = round % 30;
		int32_t lead[COUNT], lowest[COUNT];
		for (int i = 0; i < COUNT; ++i) {
			lead[i] = i;
		}
		int sets = COUNT;
		for (int k = 0; k < linkCount; ++k) {
			for (int side = 0; side < 2; ++side) {
				seed = 1664525u * seed + 1013904223u;
				links[k][side] = (int)(seed >> 16) % COUNT;
			}
			sets -= knSets_Unite(lead, links[k][0], links[k][1]);
		}
		flood(links, linkCount, lowest);
		int leaders = 0;
		for (int i = 0; i < COUNT; ++i) {
			assert_int_equal(knSets_Find(lead, i), lowest[i]);
			leaders += lowest[i] == i;
		}
		assert_int_equal(sets, leaders);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_the_lowest_members),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
