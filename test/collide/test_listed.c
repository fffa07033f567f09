// knCollide_Listed: what knCollide finds of these pairs; and lists of moved frames leave the collider as it should be.
#include "collide/listed.h"
#include "collide/random_world.h"

typedef struct Lists {
	int frames[WORLD_FRAMES];
	int frameCount;
	knPairKey pairs[WORLD_SHAPES * WORLD_SHAPES / 2];
	int pairCount;
} Lists;

// The frames of numbers [first, end), in any order, and all pairs of their shapes that may touch.
static void makeLists(Lists* lists, const knCollider* collider, int first, int end) {
	lists->frameCount = lists->pairCount = 0;
	for (int f = end - 1; f >= first; --f) {
		lists->frames[lists->frameCount++] = f;
	}
	for (int a = 0; a < WORLD_SHAPES; ++a) {
		for (int b = a + 1; b < WORLD_SHAPES; ++b) {
			int frameA = collider->frameOf[a], frameB = collider->frameOf[b];
			if (frameA >= first && frameA < end && frameB >= first && frameB < end &&
				knBroadPhase_MayTouch(collider, a, b)) {
				lists->pairs[lists->pairCount++] = knPairKey_Make(a, b);
			}
		}
	}
}

static void allPairsAreThoseOfCollide(void** state) {
	(void)state;
	int points = 0;
	for (int n = 0; n < 4; ++n) {
		RandomWorld world;
		worldCreate(&world, 51 + (uint64_t)n, 3.0);
		knCollider* plain = knCollider_Create(&world.def, NULL);
		knCollider* listed = knCollider_Create(&world.def, NULL);
		knContactSet expected, found;
		assert_false(knCollider_KnowsAll(listed));
		assert_ok(knCollide(listed, &world.input, &found, NULL));
		assert_true(knCollider_KnowsAll(listed));
		for (int step = 0; step < 100; ++step) {
			worldStep(&world);
			Lists lists;
			makeLists(&lists, listed, 0, WORLD_FRAMES);
			int some = testInt(&world.random, WORLD_FRAMES);
			assert_ok(knCollide(plain, &world.input, &expected, NULL));
			assert_ok(knCollider_MoveFrames(listed, &world.input, lists.frames, some, NULL));
			assert_ok(
				knCollider_MoveFrames(listed, &world.input, lists.frames + some, WORLD_FRAMES - some, NULL));
			assert_ok(knCollide_Listed(listed, &world.input, lists.pairs, lists.pairCount, &found, NULL));
			assertSameSet(&expected, &found);
			points += found.pointCount;
		}
		knCollider_Destroy(plain);
		knCollider_Destroy(listed);
		worldDestroy(&world);
	}
	assert_true(points > 1000);
}

// Some frames only, for a while; then all again.
static void theOthersAreFoundWhereTheyAre(void** state) {
	(void)state;
	RandomWorld world;
	worldCreate(&world, 61, 3.0);
	knCollider* plain = knCollider_Create(&world.def, NULL);
	knCollider* listed = knCollider_Create(&world.def, NULL);
	knContactSet expected, found;
	assert_ok(knCollide(listed, &world.input, &found, NULL));
	for (int step = 0; step < 200; ++step) {
		worldStep(&world);
		Lists lists;
		int first = testInt(&world.random, WORLD_FRAMES),
			end = first + testInt(&world.random, WORLD_FRAMES - first);
		makeLists(&lists, listed, first, end);
		assert_ok(knCollider_MoveFrames(listed, &world.input, lists.frames, lists.frameCount, NULL));
		assert_ok(knCollide_Listed(listed, &world.input, lists.pairs, lists.pairCount, &found, NULL));
		if (testInt(&world.random, 5) == 0) {
			assert_ok(knCollide(plain, &world.input, &expected, NULL));
			assert_ok(knCollide(listed, &world.input, &found, NULL));
			assertSameSet(&expected, &found);
		}
	}
	knCollider_Destroy(plain);
	knCollider_Destroy(listed);
	worldDestroy(&world);
}

static void lostFramesAreRefused(void** state) {
	(void)state;
	RandomWorld world;
	worldCreate(&world, 62, 3.0);
	knCollider* collider = knCollider_Create(&world.def, NULL);
	knContactSet set;
	knError error = { 0 };
	assert_ok(knCollide(collider, &world.input, &set, NULL));
	const int frame = 4;
	world.frames[frame].p.y = NAN;
	assert_int_equal(knCollider_MoveFrames(collider, &world.input, &frame, 1, &error), KN_BAD_DATA);
	assert_non_null(strstr(error.message, "frame 4"));
	assert_false(knCollider_KnowsAll(collider));
	knCollider_Destroy(collider);
	worldDestroy(&world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allPairsAreThoseOfCollide),
		cmocka_unit_test(theOthersAreFoundWhereTheyAre),
		cmocka_unit_test(lostFramesAreRefused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
