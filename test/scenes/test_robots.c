// Robots and mechanisms against statics: weights, lever rule, friction, limits, and what servos hold.
#include "scene_test.h"

static void stepper(Built* built, const char* name) {
	knError error = { 0 };
	knWorldDef def = knWorldDef_Default();
	def.stepper = name;
	knWorld_Destroy(built->world);
	built->world = knWorld_Create(built->model, &def, &error);
	if (built->world == NULL) {
		fail_msg("%s", error.message);
	}
}

static double angleOf(const Built* built, const char* joint) {
	double q[7];
	knWorld_JointCoordinates(built->world, knScene_FindJoint(built->scene, joint), q);
	return q[0];
}

static void test_humanoid_has_38_degrees_of_freedom(void** state) {
	(void)state;
	Built figure = build("humanoid", NULL);
	int freedom = 6;
	double mass = 0.0;
	for (int i = 0; i < knModel_JointCount(figure.model); ++i) {
		knJointKind kind = knScene_GetJoint(figure.scene, knModel_JointAt(figure.model, i))->kind;
		freedom += kind == KN_JOINT_BALL ? 3 : kind == KN_JOINT_UNIVERSAL ? 2 : 1;
	}
	for (int i = 0; i < knModel_BodyCount(figure.model); ++i) {
		mass += knModel_BodyMass(figure.model, knModel_BodyAt(figure.model, i)).mass;
	}
	assert_int_equal(freedom, 38);
	assert_true(mass > 60.0 && mass < 100.0);
	destroy(&figure);
}

static void test_humanoid_stands_by_its_servos(void** state) {
	(void)state;
	Built figure = BUILD("humanoid", "stand", "1");
	stepper(&figure, "impulse");
	figure.args.time = 2.0;
	knSceneChecks checks = { 0 };
	stepBuilt(&figure, 200, &checks);
	assert_near(checkOf(&checks, "pelvis"), 1.0, 1e-3);
	assert_near(checkOf(&checks, "support"), 1.0, 1e-6);
	assert_true(checkOf(&checks, "rest_speed") < 1e-3 && checkOf(&checks, "rest_spin") < 1e-2);
	knSceneChecks_Free(&checks);
	destroy(&figure);
}

// Pushed at the chest, it gives way and comes back: 15 N s give its 82 kg about 0.2 m/s.
static void test_humanoid_servos_are_alive(void** state) {
	(void)state;
	Built figure = BUILD("humanoid", "stand", "1");
	stepper(&figure, "impulse");
	stepBuilt(&figure, 20, NULL);
	knBodyId chest = knScene_FindBody(figure.scene, "0_chest");
	knVec3 before = knWorld_BodyCenter(figure.world, chest);
	assert_ok(knWorld_ApplyImpulse(figure.world, chest, knV3(-15.0, 0.0, 0.0), before));
	stepBuilt(&figure, 10, NULL);
	double leaned = knDistance(knWorld_BodyCenter(figure.world, chest), before);
	stepBuilt(&figure, 150, NULL);
	assert_true(leaned > 3e-3);
	assert_true(knDistance(knWorld_BodyCenter(figure.world, chest), before) < 0.5 * leaned);
	destroy(&figure);
}

static void test_humanoid_topples_or_falls(void** state) {
	(void)state;
	for (int i = 0; i < 2; ++i) {
		Built figure = i == 0 ? BUILD("humanoid", "stand", "1", "twin", "4") : build("humanoid", NULL);
		stepper(&figure, "impulse");
		knSceneChecks checks = { 0 };
		stepBuilt(&figure, 250, &checks);
		assert_true(checkOf(&checks, "pelvis") < 0.5);
		knSceneChecks_Free(&checks);
		destroy(&figure);
	}
}

// Held out level, then swung: the servos hold the weight, the stack falls, its foot is pushed.
static void test_arm_strikes_and_pushes(void** state) {
	(void)state;
	Built arm = build("arm", NULL);
	stepper(&arm, "impulse");
	knSceneChecks checks = { 0 };
	stepBuilt(&arm, 30, &checks);
	for (int i = 0; i < 7; ++i) {
		char name[16];
		snprintf(name, sizeof(name), "joint%d", i);
		assert_near(angleOf(&arm, name), 0.0, 0.1); // a loose arm would hang by 0.6
	}
	stepBuilt(&arm, 270, &checks);
	assert_true(checkOf(&checks, "first_contact") > 0.5 && checkOf(&checks, "first_contact") < 0.9);
	assert_true(checkOf(&checks, "fallen") >= 3.0);
	stepBuilt(&arm, 400, &checks);
	assert_true(checkOf(&checks, "slid") > 0.1);
	assert_near(angleOf(&arm, "joint0"), 1.3 + 0.6, 0.1);
	knSceneChecks_Free(&checks);
	destroy(&arm);
}

// mu = 0.6 needs m g/(2 mu) = 4.09 N of each pad to hold 0.5 kg.
static void test_gripper_holds_above_the_need(void** state) {
	(void)state;
	static const char* const squeeze[] = { "10", "4.5", "3.5" };
	for (int i = 0; i < 3; ++i) {
		Built grip = BUILD("gripper", "squeeze", squeeze[i]);
		stepper(&grip, "reduced");
		knSceneChecks checks = { 0 };
		stepBuilt(&grip, 25, &checks);
		// falls with g - 2 mu N/m
		double fall = 0.5 * (9.81 - 2.0 * 0.6 * 3.5 / 0.5) * 0.25 * 0.25;
		assert_near(checkOf(&checks, "slid"), i < 2 ? 0.0 : fall, i < 2 ? 1e-4 : 0.1 * fall);
		assert_true(knWorld_Measure(grip.world).jointError < 1e-6);
		knSceneChecks_Free(&checks);
		destroy(&grip);
	}
}

static void test_gripper_presses_as_told(void** state) {
	(void)state;
	Built grip = BUILD("gripper", "squeeze", "8");
	stepper(&grip, "impulse");
	knSceneChecks checks = { 0 };
	stepBuilt(&grip, 50, &checks);
	assert_near(checkOf(&checks, "press"), 8.0, 0.1);
	knSceneChecks_Free(&checks);
	destroy(&grip);
}

// At 3 rad/s it reaches 1.9 rad at 0.633 s on an upright hinge, and stays there; a tilted hinge lets it fall shut.
static void test_door_stops_at_its_limits(void** state) {
	(void)state;
	Built upright = BUILD("door", "tilt", "0"), tilted = build("door", NULL);
	knSceneChecks checks = { 0 };
	stepBuilt(&upright, 200, &checks);
	assert_near(checkOf(&checks, "stop_time"), 1.9 / 3.0, 0.011);
	assert_near(checkOf(&checks, "angle"), 1.9, 1e-4);
	assert_near(checkOf(&checks, "handle"), -0.6, 1e-4);
	knSceneChecks_Free(&checks);
	checks = (knSceneChecks){ 0 };
	stepBuilt(&tilted, 600, &checks);
	assert_near(checkOf(&checks, "widest"), 1.9, 1e-3);
	assert_near(checkOf(&checks, "angle"), 0.0, 0.02);
	assert_true(checkOf(&checks, "beyond") < 1e-3);
	knSceneChecks_Free(&checks);
	destroy(&upright);
	destroy(&tilted);
}

// Lever rule about the other foot, with the places of contact that the ground has.
static void test_two_contacts_share_the_weight(void** state) {
	(void)state;
	Built bent = build("two-contacts", NULL);
	stepper(&bent, "impulse");
	bent.args.time = 3.0;
	knSceneChecks checks = { 0 };
	stepBuilt(&bent, 300, &checks);
	knMeasures measures = knWorld_Measure(bent.world);
	int count = 0;
	const knContact* contacts = knWorld_Contacts(bent.world, &count);
	double left = 0.0, right = 0.0;
	for (int i = 0; i < count; ++i) {
		double x = contacts[i].point.pointB.x;
		left = knMin(left, x);
		right = knMax(right, x);
	}
	double expected = (right - measures.center.x) / (right - left);
	assert_true(expected > 0.55);
	assert_near(checkOf(&checks, "first_share"), expected, 1e-3);
	assert_near(checkOf(&checks, "last_share"), 1.0 - expected, 1e-3);
	assert_near(checkOf(&checks, "support"), 1.0, 1e-4);
	assert_true(checkOf(&checks, "rest_speed") < 1e-3);
	knSceneChecks_Free(&checks);
	destroy(&bent);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_humanoid_has_38_degrees_of_freedom),
		cmocka_unit_test(test_humanoid_stands_by_its_servos),
		cmocka_unit_test(test_humanoid_servos_are_alive),
		cmocka_unit_test(test_humanoid_topples_or_falls),
		cmocka_unit_test(test_arm_strikes_and_pushes),
		cmocka_unit_test(test_gripper_holds_above_the_need),
		cmocka_unit_test(test_gripper_presses_as_told),
		cmocka_unit_test(test_door_stops_at_its_limits),
		cmocka_unit_test(test_two_contacts_share_the_weight),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
