// A random collision world and what a plain loop over all its pairs finds.
#pragma once

#include "knuckle/collide.h"
#include "support/kn_test.h"

enum { WORLD_FRAMES = 48, WORLD_SHAPES = 64, WORLD_EXCLUDED = 12, WORLD_MOST_POINTS = 40000 };

typedef struct RandomWorld {
	knTestRandom random;
	double spread;
	knCollideShape shapes[WORLD_SHAPES]; // some frames carry several, some none
	bool frameMoves[WORLD_FRAMES];
	knFramePair excluded[WORLD_EXCLUDED];
	knColliderDef def;

	// one call's input
	knFrame frames[WORLD_FRAMES];
	knVec3 velocities[WORLD_FRAMES];
	double margins[WORLD_FRAMES];
	uint8_t active[WORLD_SHAPES];
	knFramePair callExcluded[2];
	knCollideInput input;
} RandomWorld;

static inline knGeom* worldConvex(knTestRandom* random) {
	double a = testUniform(random, 0.2, 0.6), b = testUniform(random, 0.2, 0.6);
	switch (testInt(random, 3)) {
	case 0:
		return knGeom_Sphere(a, NULL, NULL);
	case 1:
		return knGeom_Capsule(a, b, NULL, NULL);
	default:
		return knGeom_Box(knV3(a, b, testUniform(random, 0.2, 0.6)), NULL, NULL);
	}
}

static inline knGeom* worldGeom(knTestRandom* random) {
	if (testInt(random, 5) != 0) {
		return worldConvex(random);
	}
	knGeomChild children[6] = { 0 };
	int count = 1 + testInt(random, 6);
	for (int i = 0; i < count; ++i) {
		children[i].geom = worldConvex(random);
		children[i].frame = testFrame(random, 0.6);
	}
	knGeom* compound = knGeom_Compound(children, count, NULL, NULL);
	for (int i = 0; i < count; ++i) {
		knGeom_Release(children[i].geom);
	}
	return compound;
}

static inline knFilter worldFilter(knTestRandom* random) {
	knFilter filter = knFilter_Default();
	switch (testInt(random, 6)) {
	case 0:
		filter.category = 2;
		filter.mask = ~UINT64_C(2);
		break;
	case 1:
		filter.group = testInt(random, 2) ? 3 : -3;
		break;
	default:
		break;
	}
	return filter;
}

static inline void worldPlace(RandomWorld* world, int frame) {
	world->frames[frame] = testFrame(&world->random, world->spread);
	world->velocities[frame] = testVec3(&world->random, 0.1);
}

// Frames 0 and 1 are fixed and carry planes; about a third of the others is fixed too.
static inline void worldCreate(RandomWorld* world, uint64_t seed, double spread) {
	memset(world, 0, sizeof(*world));
	world->random.state = seed;
	world->spread = spread;
	for (int f = 0; f < WORLD_FRAMES; ++f) {
		world->frameMoves[f] = f > 1 && testInt(&world->random, 3) != 0;
		worldPlace(world, f);
		world->margins[f] = testUniform(&world->random, 0.0, 0.1);
	}
	for (int i = 0; i < WORLD_SHAPES; ++i) {
		bool plane = i == 5 || i == 40;
		knCollideShape* shape = &world->shapes[i];
		shape->geom = plane ? knGeom_Plane(NULL, NULL) : worldGeom(&world->random);
		shape->frame = plane ? i == 40 : testInt(&world->random, WORLD_FRAMES);
		shape->local = testFrame(&world->random, 0.5);
		shape->filter = worldFilter(&world->random);
		world->active[i] = 1;
	}
	for (int i = 0; i < WORLD_EXCLUDED; ++i) {
		int a = testInt(&world->random, WORLD_FRAMES);
		world->excluded[i] = (knFramePair){ a, testInt(&world->random, WORLD_FRAMES) };
	}
	world->def = (knColliderDef){ .frameCount = WORLD_FRAMES,
								  .frameMoves = world->frameMoves,
								  .shapeCount = WORLD_SHAPES,
								  .shapes = world->shapes,
								  .excludedCount = WORLD_EXCLUDED,
								  .excluded = world->excluded };
	world->callExcluded[0] = (knFramePair){ 3, 9 };
	world->callExcluded[1] = (knFramePair){ 3, 17 };
	world->input = (knCollideInput){ .frames = world->frames,
									 .margins = world->margins,
									 .shapeActive = world->active,
									 .excluded = world->callExcluded,
									 .excludedCount = 2 };
}

static inline void worldDestroy(RandomWorld* world) {
	for (int i = 0; i < WORLD_SHAPES; ++i) {
		knGeom_Release(world->shapes[i].geom);
	}
}

// Small motions, now and then a jump, a switch, another margin, a fixed frame that is moved all the same.
static inline void worldStep(RandomWorld* world) {
	knTestRandom* random = &world->random;
	for (int f = 0; f < WORLD_FRAMES; ++f) {
		if (world->frameMoves[f] && testInt(random, 4) != 0) {
			knVec3 p = knAdd(world->frames[f].p, world->velocities[f]);
			knQuat q = knMulQ(knQuat_Exp(testVec3(random, 0.1)), world->frames[f].q);
			world->frames[f] = knMakeFrame(p, knNormalizeQ(q));
		}
	}
	if (testInt(random, 3) == 0) {
		worldPlace(world, 2 + testInt(random, WORLD_FRAMES - 2));
	}
	if (testInt(random, 3) == 0) {
		int i = testInt(random, WORLD_SHAPES);
		world->active[i] = !world->active[i];
	}
	if (testInt(random, 5) == 0) {
		world->margins[testInt(random, WORLD_FRAMES)] = testUniform(random, 0.0, 0.2);
	}
	world->callExcluded[1].b = 10 + testInt(random, 30);
	world->input.excludedCount = testInt(random, 3);
}

// --- the plain loop ---

static inline bool worldExcludes(const knFramePair* pairs, int count, int a, int b) {
	for (int i = 0; i < count; ++i) {
		if ((pairs[i].a == a && pairs[i].b == b) || (pairs[i].a == b && pairs[i].b == a)) {
			return true;
		}
	}
	return false;
}

static inline bool worldMayTouch(const RandomWorld* world, int i, int j) {
	const knCollideShape *a = &world->shapes[i], *b = &world->shapes[j];
	return world->active[i] && world->active[j] && a->frame != b->frame &&
		   (world->frameMoves[a->frame] || world->frameMoves[b->frame]) &&
		   knFilter_Allows(a->filter, b->filter) &&
		   !worldExcludes(world->excluded, WORLD_EXCLUDED, a->frame, b->frame) &&
		   !worldExcludes(world->callExcluded, world->input.excludedCount, a->frame, b->frame);
}

// Asserts that `set` holds, bit for bit, the contacts of every pair in order; `onlyFrame` >= 0 picks its
// pairs.
static inline int worldAssertSet(const RandomWorld* world, const knFrame* frames, int onlyFrame,
								 const knContactSet* set) {
	static knContactPoint points[WORLD_MOST_POINTS];
	int pair = 0, total = 0;
	for (int i = 0; i < WORLD_SHAPES; ++i) {
		for (int j = i + 1; j < WORLD_SHAPES; ++j) {
			const knCollideShape *a = &world->shapes[i], *b = &world->shapes[j];
			if (!worldMayTouch(world, i, j) ||
				(onlyFrame >= 0 && a->frame != onlyFrame && b->frame != onlyFrame)) {
				continue;
			}
			knFrame frameA = knMulF(frames[a->frame], a->local), frameB = knMulF(frames[b->frame], b->local);
			int count = knCollide_Pair(a->geom, frameA, b->geom, frameB,
									   world->margins[a->frame] + world->margins[b->frame], points,
									   WORLD_MOST_POINTS);
			if (count == 0) {
				continue;
			}
			assert_true(pair < set->pairCount);
			const knContactPair* found = &set->pairs[pair++];
			assert_int_equal(found->shapeA, i);
			assert_int_equal(found->shapeB, j);
			assert_int_equal(found->frameA, a->frame);
			assert_int_equal(found->frameB, b->frame);
			assert_int_equal(found->first, total);
			assert_int_equal(found->count, count);
			assert_memory_equal(&set->points[total], points, (size_t)count * sizeof(knContactPoint));
			total += count;
		}
	}
	assert_int_equal(set->pairCount, pair);
	assert_int_equal(set->pointCount, total);
	assert_true(set->candidateCount >= pair);
	return pair;
}

static inline void assertSameSet(const knContactSet* a, const knContactSet* b) {
	assert_int_equal(a->candidateCount, b->candidateCount);
	assert_int_equal(a->pairCount, b->pairCount);
	assert_int_equal(a->pointCount, b->pointCount);
	if (a->pairCount > 0) {
		assert_memory_equal(a->pairs, b->pairs, (size_t)a->pairCount * sizeof(knContactPair));
		assert_memory_equal(a->points, b->points, (size_t)a->pointCount * sizeof(knContactPoint));
	}
}
