// knCollide_Body: the pairs of one frame placed elsewhere, whatever was asked before.
#include "collide/random_world.h"

static void movedFramesAgreeWithAllPairs(void** state) {
	(void)state;
	int pairs = 0;
	for (int n = 0; n < 4; ++n) {
		RandomWorld world;
		worldCreate(&world, 21 + (uint64_t)n, 3.0);
		knCollider* collider = knCollider_Create(&world.def, NULL);
		for (int step = 0; step < 200; ++step) {
			int frame = testInt(&world.random, WORLD_FRAMES);
			knFrame at = testInt(&world.random, 3) == 0
							 ? testFrame(&world.random, 3.0)
							 : knMulF(world.frames[frame], testFrame(&world.random, 0.01));
			knContactSet set;
			assert_ok(knCollide_Body(collider, &world.input, frame, at, &set, NULL));
			knFrame moved[WORLD_FRAMES];
			memcpy(moved, world.frames, sizeof(moved));
			moved[frame] = at;
			pairs += worldAssertSet(&world, moved, frame, &set);
			if (testInt(&world.random, 4) == 0) { // between calls of knCollide or none, first or later
				assert_ok(knCollide(collider, &world.input, &set, NULL));
				worldAssertSet(&world, world.frames, -1, &set);
			}
			worldStep(&world);
		}
		knCollider_Destroy(collider);
		worldDestroy(&world);
	}
	assert_true(pairs > 1000);
}

static void theCollidersAnswersAreNotDisturbed(void** state) {
	(void)state;
	RandomWorld world;
	worldCreate(&world, 31, 3.0);
	knCollider *asked = knCollider_Create(&world.def, NULL), *quiet = knCollider_Create(&world.def, NULL);
	for (int step = 0; step < 50; ++step) {
		knContactSet first, second;
		for (int k = 0; k < 5; ++k) {
			int frame = testInt(&world.random, WORLD_FRAMES);
			knFrame at = testFrame(&world.random, 3.0);
			assert_ok(knCollide_Body(asked, &world.input, frame, at, &first, NULL));
		}
		assert_ok(knCollide(asked, &world.input, &first, NULL));
		assert_ok(knCollide(quiet, &world.input, &second, NULL));
		assertSameSet(&first, &second);
		worldStep(&world);
	}
	knCollider_Destroy(asked);
	knCollider_Destroy(quiet);
	worldDestroy(&world);
}

static void badQuestionsAreRefused(void** state) {
	(void)state;
	RandomWorld world;
	worldCreate(&world, 32, 3.0);
	knCollider* collider = knCollider_Create(&world.def, NULL);
	knContactSet set;
	knError error = { 0 };
	assert_int_equal(knCollide_Body(collider, &world.input, WORLD_FRAMES, knIdentityF(), &set, &error),
					 KN_BAD_ARGUMENT);
	assert_int_equal(knCollide_Body(collider, &world.input, -1, knIdentityF(), &set, &error),
					 KN_BAD_ARGUMENT);
	knFrame lost = knMakeFrame(knV3(0.0, NAN, 0.0), knIdentityQ());
	assert_int_equal(knCollide_Body(collider, &world.input, 4, lost, &set, &error), KN_BAD_DATA);
	assert_non_null(strstr(error.message, "frame 4"));
	assert_ok(knCollide_Body(collider, &world.input, 4, world.frames[4], &set, &error));
	knCollider_Destroy(collider);
	worldDestroy(&world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(movedFramesAgreeWithAllPairs),
		cmocka_unit_test(theCollidersAnswersAreNotDisturbed),
		cmocka_unit_test(badQuestionsAreRefused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
