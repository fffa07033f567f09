// Bad input to a call: poses and margins that are not finite, disordered lists; and the call after it.
#include "collide/random_world.h"

static void notFiniteFramesAreNamed(void** state) {
	(void)state;
	const double bad[] = { NAN, INFINITY, -INFINITY };
	RandomWorld world;
	worldCreate(&world, 1, 3.0);
	knCollider* collider = knCollider_Create(&world.def, NULL);
	for (int n = 0; n < 3 * 7; ++n) {
		knContactSet set;
		knError error = { 0 };
		int frame = 7 + n;
		knFrame saved = world.frames[frame];
		((double*)&world.frames[frame])[n % 7] = bad[n / 7];
		assert_int_equal(knCollide(collider, &world.input, &set, &error), KN_BAD_DATA);
		char name[32];
		snprintf(name, sizeof(name), "frame %d ", frame);
		assert_non_null(strstr(error.message, name));
		assert_int_equal(set.pairCount, 0);
		// the next call is not impressed
		world.frames[frame] = saved;
		assert_ok(knCollide(collider, &world.input, &set, NULL));
		worldAssertSet(&world, world.frames, -1, &set);
		worldStep(&world);
	}
	knCollider_Destroy(collider);
	worldDestroy(&world);
}

static void overflowingPosesAreRefusedToo(void** state) {
	(void)state;
	RandomWorld world;
	worldCreate(&world, 2, 3.0);
	knCollider* collider = knCollider_Create(&world.def, NULL);
	knContactSet set;
	int frame = world.shapes[0].frame;
	world.frames[frame].q = knQ(1e200, 1e200, 0.0, 0.0);
	assert_int_equal(knCollide(collider, &world.input, &set, NULL), KN_BAD_DATA);
	// very far is far, not bad
	world.frames[frame] = knMakeFrame(knV3(1e300, -1e300, 1e300), knIdentityQ());
	assert_ok(knCollide(collider, &world.input, &set, NULL));
	worldAssertSet(&world, world.frames, -1, &set);
	knCollider_Destroy(collider);
	worldDestroy(&world);
}

static void notFiniteMarginsAreNamed(void** state) {
	(void)state;
	RandomWorld world;
	worldCreate(&world, 3, 3.0);
	knCollider* collider = knCollider_Create(&world.def, NULL);
	knContactSet set;
	knError error = { 0 };
	world.margins[9] = NAN;
	assert_int_equal(knCollide(collider, &world.input, &set, &error), KN_BAD_DATA);
	assert_non_null(strstr(error.message, "frame 9 has a margin"));
	knCollider_Destroy(collider);
	worldDestroy(&world);
}

static void disorderedExclusionsAreRefused(void** state) {
	(void)state;
	RandomWorld world;
	worldCreate(&world, 4, 3.0);
	knCollider* collider = knCollider_Create(&world.def, NULL);
	const knFramePair bad[][2] = {
		{ { 3, 9 }, { 2, 5 } },
		{ { 4, 9 }, { 4, 8 } },
		{ { 9, 3 }, { 9, 10 } },
		{ { 3, 9 }, { 4, WORLD_FRAMES } },
	};
	for (int n = 0; n < 4; ++n) {
		knContactSet set;
		world.input.excluded = bad[n];
		world.input.excludedCount = 2;
		assert_int_equal(knCollide(collider, &world.input, &set, NULL), KN_BAD_ARGUMENT);
	}
	knCollider_Destroy(collider);
	worldDestroy(&world);
}

static void absentMarginsAndActivityMeanNoneAndAll(void** state) {
	(void)state;
	RandomWorld world;
	worldCreate(&world, 5, 3.0);
	knCollider* collider = knCollider_Create(&world.def, NULL);
	knContactSet set;
	world.input.margins = NULL;
	world.input.shapeActive = NULL;
	memset(world.margins, 0, sizeof(world.margins));
	assert_ok(knCollide(collider, &world.input, &set, NULL));
	assert_true(worldAssertSet(&world, world.frames, -1, &set) > 20);
	knCollider_Destroy(collider);
	worldDestroy(&world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notFiniteFramesAreNamed),
		cmocka_unit_test(overflowingPosesAreRefusedToo),
		cmocka_unit_test(notFiniteMarginsAreNamed),
		cmocka_unit_test(disorderedExclusionsAreRefused),
		cmocka_unit_test(absentMarginsAndActivityMeanNoneAndAll),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
