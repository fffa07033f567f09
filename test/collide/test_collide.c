// knCollide against a loop over all pairs, over many steps; independence of threads and of the past; memory.
#include "collide/random_world.h"

static void stepsAgreeWithAllPairs(void** state) {
	(void)state;
	int pairs = 0;
	for (int n = 0; n < 6; ++n) {
		RandomWorld world;
		worldCreate(&world, 1 + (uint64_t)n, n < 3 ? 3.0 : 7.0);
		knCollider* collider = knCollider_Create(&world.def, NULL);
		assert_non_null(collider);
		for (int step = 0; step < 100; ++step) {
			knContactSet set;
			assert_ok(knCollide(collider, &world.input, &set, NULL));
			pairs += worldAssertSet(&world, world.frames, -1, &set);
			worldStep(&world);
		}
		knCollider_Destroy(collider);
		worldDestroy(&world);
	}
	assert_true(pairs > 10000);
}

static void anOldColliderAnswersLikeAFreshOne(void** state) {
	(void)state;
	RandomWorld world;
	worldCreate(&world, 11, 4.0);
	knCollider* old = knCollider_Create(&world.def, NULL);
	for (int step = 0; step < 300; ++step) {
		knContactSet first, second;
		assert_ok(knCollide(old, &world.input, &first, NULL));
		if (step % 10 == 0) {
			knCollider* fresh = knCollider_Create(&world.def, NULL);
			assert_ok(knCollide(fresh, &world.input, &second, NULL));
			assertSameSet(&first, &second);
			knCollider_Destroy(fresh);
		}
		worldStep(&world);
	}
	knCollider_Destroy(old);
	worldDestroy(&world);
}

static void threadsDoNotMatter(void** state) {
	(void)state;
	RandomWorld world;
	worldCreate(&world, 12, 3.0);
	knCollider* colliders[3];
	knTaskPool* pools[3];
	for (int k = 0; k < 3; ++k) {
		colliders[k] = knCollider_Create(&world.def, NULL);
		pools[k] = knTaskPool_Create(k + 1, NULL, NULL);
		assert_non_null(pools[k]);
	}
	for (int step = 0; step < 100; ++step) {
		knContactSet sets[3];
		for (int k = 0; k < 3; ++k) {
			world.input.tasks = knTaskPool_Tasks(pools[k]);
			assert_ok(knCollide(colliders[k], &world.input, &sets[k], NULL));
		}
		assertSameSet(&sets[0], &sets[1]);
		assertSameSet(&sets[0], &sets[2]);
		worldStep(&world);
	}
	for (int k = 0; k < 3; ++k) {
		knCollider_Destroy(colliders[k]);
		knTaskPool_Destroy(pools[k]);
	}
	worldDestroy(&world);
}

// Many bodies on a floor, enough for several tasks and blocks of the narrow phase.
static void aBigPileIsTheSameForOneAndTwoThreads(void** state) {
	(void)state;
	enum { COUNT = 6000 };
	knTestRandom random = { 13 };
	knGeom* cube = knGeom_Box(knV3(0.5, 0.5, 0.5), NULL, NULL);
	knGeom* plane = knGeom_Plane(NULL, NULL);
	knCollideShape* shapes = calloc(COUNT + 1, sizeof(*shapes));
	knFrame* frames = calloc(COUNT + 1, sizeof(*frames));
	double* margins = calloc(COUNT + 1, sizeof(*margins));
	for (int i = 0; i <= COUNT; ++i) {
		shapes[i] = (knCollideShape){ i < COUNT ? cube : plane, i, knIdentityF(), knFilter_Default() };
		margins[i] = 0.01;
		knVec3 grid = knV3(i % 20, i / 20 % 20, 0.5 + i / 400);
		frames[i] =
			i < COUNT ? knMakeFrame(knAdd(grid, testVec3(&random, 0.02)), knIdentityQ()) : knIdentityF();
	}
	knColliderDef def = { .frameCount = COUNT + 1, .shapeCount = COUNT + 1, .shapes = shapes };
	knTaskPool* pool = knTaskPool_Create(2, NULL, NULL);
	knCollider *one = knCollider_Create(&def, NULL), *two = knCollider_Create(&def, NULL);
	for (int step = 0; step < 4; ++step) {
		knCollideInput input = { .frames = frames, .margins = margins };
		knContactSet first, second;
		assert_ok(knCollide(one, &input, &first, NULL));
		input.tasks = knTaskPool_Tasks(pool);
		assert_ok(knCollide(two, &input, &second, NULL));
		assertSameSet(&first, &second);
		assert_true(first.pairCount > COUNT);
		for (int i = 0; i < COUNT; ++i) {
			frames[i].p = knAdd(frames[i].p, testVec3(&random, 0.1));
		}
	}
	knCollider_Destroy(one);
	knCollider_Destroy(two);
	knTaskPool_Destroy(pool);
	knGeom_Release(cube);
	knGeom_Release(plane);
	free(shapes);
	free(frames);
	free(margins);
}

// --- memory ---

static void warmCallsDoNotAllocate(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	RandomWorld world;
	worldCreate(&world, 14, 3.0);
	world.def.allocator = &allocator;
	knCollider* collider = knCollider_Create(&world.def, NULL);
	// the same 50 steps again and again: the last time everything has its size
	RandomWorld start = world;
	int calls = 0;
	for (int pass = 0; pass < 4; ++pass) {
		world = start;
		calls = memory.calls;
		for (int step = 0; step < 50; ++step) {
			knContactSet set;
			assert_ok(knCollide(collider, &world.input, &set, NULL));
			assert_ok(knCollide_Body(collider, &world.input, 7, world.frames[8], &set, NULL));
			worldStep(&world);
		}
	}
	assert_int_equal(memory.calls, calls);
	knCollider_Destroy(collider);
	assert_int_equal(memory.live, 0);
	worldDestroy(&world);
}

// Wherever memory runs out, the call says so, and the next one with memory answers rightly.
static void failedMemoryIsReportedAndForgotten(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	RandomWorld world;
	worldCreate(&world, 15, 2.0);
	world.def.allocator = &allocator;
	knCollider* collider = knCollider_Create(&world.def, NULL);
	knStatus status = KN_NO_MEMORY;
	int failures = 0;
	for (int allowed = 0; status != KN_OK; ++allowed, ++failures) {
		knContactSet set;
		knError error = { 0 };
		memory.calls = 0;
		memory.failAfter = allowed;
		status = knCollide(collider, &world.input, &set, &error);
		if (status != KN_OK) {
			assert_int_equal(status, KN_NO_MEMORY);
			assert_int_equal(error.status, KN_NO_MEMORY);
			assert_int_equal(set.pairCount, 0);
		} else {
			worldAssertSet(&world, world.frames, -1, &set);
		}
	}
	assert_true(failures > 5);
	memory.failAfter = -1;
	knCollider_Destroy(collider);
	assert_int_equal(memory.live, 0);
	worldDestroy(&world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stepsAgreeWithAllPairs), cmocka_unit_test(anOldColliderAnswersLikeAFreshOne),
		cmocka_unit_test(threadsDoNotMatter),     cmocka_unit_test(aBigPileIsTheSameForOneAndTwoThreads),
		cmocka_unit_test(warmCallsDoNotAllocate), cmocka_unit_test(failedMemoryIsReportedAndForgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
