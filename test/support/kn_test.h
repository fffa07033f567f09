// What every test needs: cmocka, a seeded random generator that is the same everywhere, near-comparisons that print
// both sides, and an allocator that counts.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include <cmocka.h>

#include "knuckle/base.h"
#include "knuckle/vecmath.h"

// --- random numbers (splitmix64) ---

typedef struct knTestRandom {
	uint64_t state;
} knTestRandom;

static inline uint64_t testNext(knTestRandom* random) {
	uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline double testUniform(knTestRandom* random, double lower, double upper) {
	return lower + (upper - lower) * ((double)(testNext(random) >> 11) * 0x1p-53);
}

static inline int testInt(knTestRandom* random, int count) {
	return (int)(testNext(random) % (uint64_t)count);
}

static inline knVec3 testVec3(knTestRandom* random, double size) {
	double x = testUniform(random, -size, size), y = testUniform(random, -size, size);
	return knV3(x, y, testUniform(random, -size, size));
}

static inline knVec3 testUnit3(knTestRandom* random) {
	for (;;) {
		knVec3 v = testVec3(random, 1.0);
		double length = knLength(v);
		if (length > 0.1 && length < 1.0) {
			return knScale(1.0 / length, v);
		}
	}
}

static inline knQuat testQuat(knTestRandom* random) {
	for (;;) {
		knVec3 v = testVec3(random, 1.0);
		knQuat q = knQ(testUniform(random, -1.0, 1.0), v.x, v.y, v.z);
		double n = knDotQ(q, q);
		if (n > 0.01 && n < 1.0) {
			return knNormalizeQ(q);
		}
	}
}

static inline knFrame testFrame(knTestRandom* random, double size) {
	knVec3 p = testVec3(random, size);
	return knMakeFrame(p, testQuat(random));
}

// --- comparisons ---

#define assert_near(actual, expected, tolerance)                                                             \
	do {                                                                                                     \
		double kn_a = (actual), kn_e = (expected), kn_t = (tolerance);                                       \
		if (!(fabs(kn_a - kn_e) <= kn_t)) {                                                                  \
			fail_msg("%s = %.17g, expected %.17g within %.3g (off by %.3g)", #actual, kn_a, kn_e, kn_t,      \
					 kn_a - kn_e);                                                                           \
		}                                                                                                    \
	} while (0)

#define assert_near3(actual, expected, tolerance)                                                            \
	do {                                                                                                     \
		knVec3 kn_va = (actual), kn_ve = (expected);                                                         \
		double kn_vt = (tolerance);                                                                          \
		if (!(knDistance(kn_va, kn_ve) <= kn_vt)) {                                                          \
			fail_msg("%s = (%.17g, %.17g, %.17g), expected (%.17g, %.17g, %.17g) within %.3g", #actual,      \
					 kn_va.x, kn_va.y, kn_va.z, kn_ve.x, kn_ve.y, kn_ve.z, kn_vt);                           \
		}                                                                                                    \
	} while (0)

#define assert_ok(call)                                                                                      \
	do {                                                                                                     \
		knStatus kn_status = (call);                                                                         \
		if (kn_status != KN_OK) {                                                                            \
			fail_msg("%s: %s", #call, knStatus_Name(kn_status));                                             \
		}                                                                                                    \
	} while (0)

// --- an allocator that counts ---

typedef struct knTestMemory {
	size_t live;   // bytes handed out and not returned
	int calls;     // allocations so far
	int failAfter; // allocations that succeed before all fail; negative: never fail
} knTestMemory;

static inline void* testAllocate(size_t size, void* context) {
	knTestMemory* memory = context;
	if (memory->failAfter >= 0 && memory->calls >= memory->failAfter) {
		return NULL;
	}
	void* result = aligned_alloc(64, (size + 63) / 64 * 64);
	if (result != NULL) {
		memory->live += size;
		memory->calls += 1;
	}
	return result;
}

static inline void testRelease(void* pointer, size_t size, void* context) {
	knTestMemory* memory = context;
	if (pointer != NULL) {
		memory->live -= size;
	}
	free(pointer);
}

static inline knAllocator testAllocator(knTestMemory* memory) {
	memory->live = 0;
	memory->calls = 0;
	memory->failAfter = -1;
	knAllocator allocator = { testAllocate, testRelease, memory };
	return allocator;
}
