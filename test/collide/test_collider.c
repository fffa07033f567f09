// Creating colliders: refusals, memory, references; who meets whom.
#include "collide/random_world.h"

static void badDefinitionsAreRefused(void** state) {
	(void)state;
	knGeom* sphere = knGeom_Sphere(1.0, NULL, NULL);
	knCollideShape good = { sphere, 0, knIdentityF(), knFilter_Default() };
	knCollideShape noGeom = good, noFrame = good, badFrame = good;
	noGeom.geom = NULL;
	noFrame.frame = 2;
	badFrame.local.q = knQ(0.0, 0.0, 0.0, 0.0);
	knCollideShape* shapes[] = { &noGeom, &noFrame, &badFrame };
	for (int n = 0; n < 3; ++n) {
		knError error = { 0 };
		knColliderDef def = { .frameCount = 2, .shapeCount = 1, .shapes = shapes[n] };
		assert_null(knCollider_Create(&def, &error));
		assert_int_equal(error.status, n < 2 ? KN_BAD_ARGUMENT : KN_BAD_DATA);
		assert_non_null(strstr(error.element, "shape 0"));
	}
	knFramePair lost = { 0, 5 };
	knColliderDef def = {
		.frameCount = 2, .shapeCount = 1, .shapes = &good, .excludedCount = 1, .excluded = &lost
	};
	assert_null(knCollider_Create(&def, NULL));
	knGeom_Release(sphere);
}

static void anEmptyColliderFindsNothing(void** state) {
	(void)state;
	knColliderDef def = { 0 };
	knCollider* collider = knCollider_Create(&def, NULL);
	assert_non_null(collider);
	knCollideInput input = { 0 };
	knContactSet set;
	assert_ok(knCollide(collider, &input, &set, NULL));
	assert_int_equal(set.pairCount, 0);
	knCollider_Destroy(collider);
	knCollider_Destroy(NULL);
}

static void failedMemoryLeavesNothing(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	RandomWorld world;
	worldCreate(&world, 1, 3.0);
	world.def.allocator = &allocator;
	knCollider* collider = NULL;
	int failures = 0;
	for (int allowed = 0; collider == NULL; ++allowed, ++failures) {
		knError error = { 0 };
		memory.calls = 0;
		memory.failAfter = allowed;
		collider = knCollider_Create(&world.def, &error);
		if (collider == NULL) {
			assert_int_equal(error.status, KN_NO_MEMORY);
			assert_int_equal(memory.live, 0);
		}
	}
	assert_true(failures > 10);
	knCollider_Destroy(collider);
	assert_int_equal(memory.live, 0);
	worldDestroy(&world); // the geometries were still held
}

static void geometriesAreRetained(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knGeom* sphere = knGeom_Sphere(1.0, &allocator, NULL);
	knCollideShape shape = { sphere, 0, knIdentityF(), knFilter_Default() };
	knColliderDef def = { .frameCount = 1, .shapeCount = 1, .shapes = &shape };
	knCollider* collider = knCollider_Create(&def, NULL);
	knGeom_Release(sphere);
	assert_true(memory.live > 0);
	knCollider_Destroy(collider);
	assert_int_equal(memory.live, 0);
}

// --- who meets whom ---

typedef struct Meeting {
	knFilter a, b;
	bool movesA, movesB, excluded, excludedNow, sameFrame;
	bool meets;
} Meeting;

// Two overlapping spheres.
static bool doMeet(const Meeting* m) {
	knGeom* sphere = knGeom_Sphere(1.0, NULL, NULL);
	knCollideShape shapes[2] = { { sphere, 0, knIdentityF(), m->a },
								 { sphere, !m->sameFrame, knIdentityF(), m->b } };
	bool moves[2] = { m->movesA, m->movesB };
	knFramePair pair = { 1, 0 }, callPair = { 0, 1 };
	knColliderDef def = { .frameCount = 2,
						  .frameMoves = moves,
						  .shapeCount = 2,
						  .shapes = shapes,
						  .excludedCount = m->excluded,
						  .excluded = &pair };
	knCollider* collider = knCollider_Create(&def, NULL);
	knFrame frames[2] = { knIdentityF(), knMakeFrame(knV3(1.0, 0.0, 0.0), knIdentityQ()) };
	knCollideInput input = { .frames = frames, .excluded = &callPair, .excludedCount = m->excludedNow };
	knContactSet set, body;
	assert_ok(knCollide(collider, &input, &set, NULL));
	assert_ok(knCollide_Body(collider, &input, 0, frames[0], &body, NULL));
	assert_int_equal(body.pairCount, set.pairCount);
	int pairCount = set.pairCount;
	knCollider_Destroy(collider);
	knGeom_Release(sphere);
	return pairCount == 1;
}

static void filtersAndFramesDecideWhoMeets(void** state) {
	(void)state;
	knFilter any = knFilter_Default(), two = { 2, 2, 0 }, one = { 1, 1, 0 }, oneSeesTwo = { 1, 2, 0 };
	knFilter friends = { 2, 2, 7 }, foes = { 1, UINT64_MAX, -7 }, others = { 1, UINT64_MAX, -8 };
	const Meeting cases[] = {
		{ any, any, true, true, false, false, false, true },
		{ any, any, true, false, false, false, false, true },
		{ any, any, false, false, false, false, false, false }, // neither moves
		{ any, any, true, true, true, false, false, false },
		{ any, any, true, true, false, true, false, false },
		{ any, any, true, true, false, false, true, false }, // on one frame
		{ one, two, true, true, false, false, false, false },
		{ oneSeesTwo, two, true, true, false, false, false, false }, // only one agrees
		{ friends, friends, true, true, false, false, false, true },
		{ friends, (knFilter){ 1, 1, 7 }, true, true, false, false, false,
		  true }, // the group overrules the masks
		{ foes, foes, true, true, false, false, false, false },
		{ foes, others, true, true, false, false, false, true }, // different groups: masks decide
	};
	for (int n = 0; n < (int)(sizeof(cases) / sizeof(cases[0])); ++n) {
		assert_int_equal(doMeet(&cases[n]), cases[n].meets);
		Meeting swapped = cases[n];
		swapped.a = cases[n].b;
		swapped.b = cases[n].a;
		assert_int_equal(doMeet(&swapped), cases[n].meets);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(badDefinitionsAreRefused),       cmocka_unit_test(anEmptyColliderFindsNothing),
		cmocka_unit_test(failedMemoryLeavesNothing),      cmocka_unit_test(geometriesAreRetained),
		cmocka_unit_test(filtersAndFramesDecideWhoMeets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
