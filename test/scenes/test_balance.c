// Levers and planks: the answers that a page of mechanics gives.
#include "scene_test.h"

static void test_plate_masses(void** state) {
	(void)state;
	Built plate = BUILD("plate", "ratio", "250");
	assert_near(massOf(&plate, "plate"), 1000.0 * 2.0 * 0.8 * 0.05, 1e-9);
	assert_near(massOf(&plate, "block"), 250.0 * 80.0, 1e-6);
	assert_near(massOf(&plate, "pillar1"), 1000.0 * 0.2 * 0.8 * 0.5, 1e-9);
	assert_near3(centerOf(&plate, "block"), knV3(0.0, 0.0, 0.5 + 0.05 + 0.3), 1e-12);
	destroy(&plate);
}

// A rigid plank with both cubes glued on turns about the fulcrum's top;
// the real thing, whose cubes may shift, is close to it.
static void test_see_saw_tips_as_on_paper(void** state) {
	(void)state;
	Built seeSaw = build("see-saw", NULL);
	assert_near(massOf(&seeSaw, "heavy"), 5.0 * massOf(&seeSaw, "light"), 1e-9);
	double plank = massOf(&seeSaw, "plank"), light = massOf(&seeSaw, "light"),
		   heavy = massOf(&seeSaw, "heavy");
	double inertia =
		plank * (4.0 * 4.0 + 0.05 * 0.05) / 12.0 + (light + heavy) * (1.6 * 1.6 + 0.4 * 0.4 / 6.0);
	double acceleration = (heavy - light) * 9.81 * 1.6 / inertia;
	knSceneChecks checks = { 0 };
	stepBuilt(&seeSaw, 60, &checks);
	double expected = sqrt(2.0 * 0.2 / acceleration);
	assert_near(checkOf(&checks, "tip_time"), expected, 0.1 * expected);
	assert_true(checkOf(&checks, "turned") > 0.2); // towards the heavy cube
	knSceneChecks_Free(&checks);
	destroy(&seeSaw);
}

static void test_equal_see_saw_does_not_tip(void** state) {
	(void)state;
	Built seeSaw = BUILD("see-saw", "ratio", "1");
	knSceneChecks checks = { 0 };
	stepBuilt(&seeSaw, 100, &checks);
	assert_near(checkOf(&checks, "turned"), 0.0, 1e-3);
	for (int i = 0; i < checks.count; ++i) {
		assert_string_not_equal(checks.names[i], "tip_time");
	}
	knSceneChecks_Free(&checks);
	destroy(&seeSaw);
}

static void test_cantilever_balance(void** state) {
	(void)state;
	Built cantilever = build("cantilever", NULL);
	assert_near(massOf(&cantilever, "counterweight"), 2.0 * massOf(&cantilever, "plank"), 1e-9);
	// moments about the edge x = 0: the counterweight wins, without it the plank falls
	assert_near(centerOf(&cantilever, "plank").x, 0.2, 1e-12);
	assert_near(centerOf(&cantilever, "counterweight").x, -0.5, 1e-12);
	knSceneChecks checks = { 0 };
	stepBuilt(&cantilever, 100, &checks);
	assert_true(knWorld_Measure(cantilever.world).displacement < 0.05);
	knSceneChecks_Free(&checks);
	destroy(&cantilever);
	Built twin = BUILD("cantilever", "twin", "4");
	stepBuilt(&twin, 100, NULL);
	assert_true(knWorld_Measure(twin.world).displacement > 0.3);
	destroy(&twin);
}

static void test_pillars_have_one_height(void** state) {
	(void)state;
	Built pillars = build("unequal-pillars", NULL);
	assert_near(centerOf(&pillars, "three2").z + 0.25, centerOf(&pillars, "five4").z + 0.15, 1e-12);
	assert_near(centerOf(&pillars, "plank").z - 0.05, 1.5, 1e-12);
	destroy(&pillars);
}

// Pulled by friction from above and below alone: the cube under four others is stopped after 0.34 m.
static void test_struck_stack_is_braked_from_both_sides(void** state) {
	(void)state;
	Built stack = build("struck-stack", NULL);
	assert_near3(knWorld_BodyVelocity(stack.world, knScene_FindBody(stack.scene, "box0")),
				 knV3(6.0, 0.0, 0.0), 0.0);
	knSceneChecks checks = { 0 };
	stepBuilt(&stack, 150, &checks);
	double alone = 36.0 / (2.0 * 0.6 * 9.81); // 3.06 m
	assert_true(checkOf(&checks, "slid") > 0.05 * alone);
	assert_true(checkOf(&checks, "slid") < 0.2 * alone);
	knSceneChecks_Free(&checks);
	destroy(&stack);
}

static void test_sled_keeps_momentum(void** state) {
	(void)state;
	Built sled = build("sled", NULL);
	knSceneChecks checks = { 0 };
	stepBuilt(&sled, 200, &checks);
	assert_near(checkOf(&checks, "momentum"), 1.0, 0.01);
	assert_near(checkOf(&checks, "slip"), 0.0, 1e-6);
	// both go on with the common speed
	double common = 2.0 * massOf(&sled, "block") / (massOf(&sled, "block") + massOf(&sled, "sled"));
	assert_near(knWorld_BodyVelocity(sled.world, knScene_FindBody(sled.scene, "sled")).x, common,
				0.01 * common);
	knSceneChecks_Free(&checks);
	destroy(&sled);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plate_masses),
		cmocka_unit_test(test_see_saw_tips_as_on_paper),
		cmocka_unit_test(test_equal_see_saw_does_not_tip),
		cmocka_unit_test(test_cantilever_balance),
		cmocka_unit_test(test_pillars_have_one_height),
		cmocka_unit_test(test_struck_stack_is_braked_from_both_sides),
		cmocka_unit_test(test_sled_keeps_momentum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
