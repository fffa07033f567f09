// The bridge: the sheet's bodies, joints in the gaps, loads above the deck.
#include "scene_test.h"

static int countNamed(const Built* built, const char* prefix) {
	int count = 0;
	for (int i = 0; i < knModel_BodyCount(built->model); ++i) {
		const knBodyDef* def = knScene_GetBody(built->scene, knModel_BodyAt(built->model, i));
		count += strncmp(def->name, prefix, strlen(prefix)) == 0;
	}
	return count;
}

static void test_parts(void** state) {
	(void)state;
	Built bridge = build("bridge", NULL);
	assert_int_equal(countNamed(&bridge, "plank"), 21);
	assert_int_equal(countNamed(&bridge, "rail_left"), 21);
	assert_int_equal(countNamed(&bridge, "hanger_right"), 20);
	assert_int_equal(countNamed(&bridge, "block"), 162);
	assert_near(massOf(&bridge, "plank7"), 1000.0 * 0.96 * 2.0 * 0.1, 1e-9);
	assert_near(massOf(&bridge, "block80b"), 1000.0 * 0.4 * 0.3 * 0.2, 1e-9);
	int balls = 0, hinges = 0, deck = 0;
	for (int i = 0; i < knModel_JointCount(bridge.model); ++i) {
		const knJointDef* def = knScene_GetJoint(bridge.scene, knModel_JointAt(bridge.model, i));
		hinges += def->kind == KN_JOINT_HINGE;
		balls += def->kind == KN_JOINT_BALL;
		knBodyId a = def->parent, b = def->child;
		if (KN_ID_IS_NULL(a) || KN_ID_IS_NULL(b)) {
			continue;
		}
		if (knScene_GetBody(bridge.scene, a)->name[0] == 'p' &&
			knScene_GetBody(bridge.scene, b)->name[0] == 'p') {
			deck += 1;
			assert_near(knAbs(def->frameChild.p.y), 0.95, 1e-12);
		}
	}
	assert_int_equal(hinges, 81);
	assert_int_equal(balls, 168);
	assert_int_equal(deck, 40);
	// both ends are level, the middle hangs
	assert_near(centerOf(&bridge, "plank0").z, centerOf(&bridge, "plank20").z, 1e-9);
	assert_true(centerOf(&bridge, "plank10").z < centerOf(&bridge, "plank0").z - 1.0);
	destroy(&bridge);
}

static void test_rings_as_load(void** state) {
	(void)state;
	Built bridge = BUILD("bridge", "load", "rings", "mesh", "0");
	assert_int_equal(countNamed(&bridge, "ring"), 360);
	assert_int_equal(knModel_JointCount(bridge.model), 168 + 360);
	assert_true(penetrationOf(&bridge) < 1e-9);
	assert_true(knWorld_Measure(bridge.world).jointError < 1e-9);
	destroy(&bridge);
}

// Pairs lie scattered and turned, clear of each other whatever the seed, 1.2 to 2.4 m above the deck and between the rails.
static void test_loads_are_scattered(void** state) {
	(void)state;
	static const char* const seeds[] = { "1", "2", "3" };
	knVec3 last = knZero3();
	for (int k = 0; k < 3; ++k) {
		Built bridge = BUILD("bridge", "seed", seeds[k]);
		assert_true(penetrationOf(&bridge) < 1e-9);
		assert_true(knWorld_Measure(bridge.world).jointError < 1e-9);
		knVec3 first = centerOf(&bridge, "block0a");
		assert_true(knDistance(first, last) > 1e-3);
		last = first;
		double least = 1.0, most = -1.0;
		for (int i = 0; i < 81; ++i) {
			char name[16];
			snprintf(name, sizeof(name), "block%da", i);
			knFrame frame = knWorld_BodyFrame(bridge.world, knScene_FindBody(bridge.scene, name));
			assert_true(knAbs(frame.p.y) < 0.95);
			knVec3 along = knRotate(frame.q, knV3(1.0, 0.0, 0.0));
			least = knMin(least, along.x);
			most = knMax(most, along.x);
		}
		assert_true(least < -0.7 && most > 0.7);
		destroy(&bridge);
	}
}

// Blocks fall on it: joints stay closed, and nothing goes through.
static void test_carries_its_load(void** state) {
	(void)state;
	Built bridge = BUILD("bridge", "small", "1");
	bridge.world = impulseWorld(&bridge);
	checkCarries(&bridge, 150, 5e-5, 0.01); // large islands are closed to 1e-4 of an arm
	destroy(&bridge);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_rings_as_load),
		cmocka_unit_test(test_loads_are_scattered),
		cmocka_unit_test(test_carries_its_load),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
