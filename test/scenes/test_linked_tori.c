// Linked tori: `linked` is a matter of topology, and a short chain hangs without passing through itself.
#include "scene_test.h"

static double linkedAfterMoving(knVec3 shift, double turn) {
	Built tori = BUILD("linked-tori", "tori", "2", "triangles", "400");
	knBodyId lower = knModel_BodyAt(tori.model, 1);
	knFrame frame = knWorld_BodyFrame(tori.world, lower);
	frame.p = knAdd(frame.p, shift);
	frame.q = knMulQ(knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), turn), frame.q);
	assert_ok(knWorld_SetBodyFrame(tori.world, lower, frame));
	knSceneChecks checks = { 0 };
	tori.args.entry->observe(tori.world, &tori.args, &checks);
	double linked = checkOf(&checks, "linked");
	knSceneChecks_Free(&checks);
	destroy(&tori);
	return linked;
}

// The tubes' middles are 0.5 m from their centres, which start 0.799 m apart.
static void test_linked(void** state) {
	(void)state;
	assert_near(linkedAfterMoving(knZero3(), 0.0), 1.0, 0.0);
	assert_near(linkedAfterMoving(knZero3(), 1.0), 1.0, 0.0);
	assert_near(linkedAfterMoving(knV3(0.0, 0.0, 0.3), 0.0), 1.0, 0.0);
	assert_near(linkedAfterMoving(knV3(0.0, 0.0, -0.3), 0.0), 0.0, 0.0); // below, outside
	assert_near(linkedAfterMoving(knV3(1.2, 0.0, 0.4), 0.0), 0.0, 0.0);  // beside
	assert_near(linkedAfterMoving(knV3(0.0, 0.0, 0.799), 0.0), 0.0,
				0.0); // concentric: twice through, or not at all
}

static void test_short_chain_hangs(void** state) {
	(void)state;
	Built tori = BUILD("linked-tori", "tori", "6", "triangles", "400");
	for (int i = 0; i < 150; ++i) {
		assert_ok(knWorld_Step(tori.world, 0.01, NULL));
	}
	knSceneChecks checks = { 0 };
	tori.args.entry->observe(tori.world, &tori.args, &checks);
	assert_near(checkOf(&checks, "linked"), 5.0, 0.0);
	knSceneChecks_Free(&checks);
	// it hangs: hardly lower than it began, and slow
	knBodyId last = knModel_BodyAt(tori.model, 5);
	assert_near(knWorld_BodyCenter(tori.world, last).z, 0.799, 0.05);
	assert_true(knLength(knWorld_BodyVelocity(tori.world, last)) < 0.2);
	destroy(&tori);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linked),
		cmocka_unit_test(test_short_chain_hangs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
