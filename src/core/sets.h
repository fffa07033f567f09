// Sets that grow together: union-find over the indices 0 .. n - 1, with paths halved on the way. A set is named by its
// lowest member, so the names depend on who is connected, not on the order in which that was found out.
//
//   lead[i] = i for all i;   knSets_Unite for each connection;   knSets_Find(lead, i) names the set of i
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline int32_t knSets_Find(int32_t* lead, int32_t i) {
	while (lead[i] != i) {
		lead[i] = lead[lead[i]];
		i = lead[i];
	}
	return i;
}

// False: they were in one set already.
static inline bool knSets_Unite(int32_t* lead, int32_t a, int32_t b) {
	a = knSets_Find(lead, a);
	b = knSets_Find(lead, b);
	lead[a > b ? a : b] = a > b ? b : a;
	return a != b;
}
