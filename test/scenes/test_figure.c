// Figures: counts by kind, and that the right side is the left one in a mirror.
#include "scene_test.h"

static void test_ragdoll_joints(void** state) {
	(void)state;
	Built doll = BUILD("ragdolls", "count", "1");
	int balls = 0, hinges = 0;
	for (int i = 0; i < knModel_JointCount(doll.model); ++i) {
		const knJointDef* def = knScene_GetJoint(doll.scene, knModel_JointAt(doll.model, i));
		balls += def->kind == KN_JOINT_BALL;
		hinges += def->kind == KN_JOINT_HINGE;
	}
	assert_int_equal(knModel_BodyCount(doll.model), 21);
	assert_int_equal(balls, 12);
	assert_int_equal(hinges, 8);
	destroy(&doll);
}

static void test_sides_mirror(void** state) {
	(void)state;
	Built doll = BUILD("ragdolls", "count", "1");
	knFrame pelvis = knWorld_BodyFrame(doll.world, knScene_FindBody(doll.scene, "0_pelvis"));
	static const char* const names[] = { "clavicle", "upper_arm", "forearm", "hand",
										 "thigh",    "shin",      "foot",    "toes" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
		char left[32], right[32];
		snprintf(left, sizeof(left), "0_%s_left", names[i]);
		snprintf(right, sizeof(right), "0_%s_right", names[i]);
		knVec3 a = knInvPoint(pelvis, centerOf(&doll, left)), b = knInvPoint(pelvis, centerOf(&doll, right));
		assert_near3(b, knV3(a.x, -a.y, a.z), 1e-12);
		assert_true(a.y > 0.0);
		assert_near(massOf(&doll, left), massOf(&doll, right), 1e-12);
	}
	destroy(&doll);
}

static void test_stacked(void** state) {
	(void)state;
	Built dolls = build("ragdolls", NULL);
	assert_near(centerOf(&dolls, "13_pelvis").z - centerOf(&dolls, "12_pelvis").z, 0.6, 1e-12);
	destroy(&dolls);
}

// Every joint has the friction that is asked for, on all of its axes; by default none.
static void test_joint_friction(void** state) {
	(void)state;
	static const char* const names[] = { "ragdolls", "skeletons" };
	for (int k = 0; k < 4; ++k) {
		Built figure = BUILD(names[k % 2], "small", "1", "joint_friction", k < 2 ? "0" : "1.5");
		for (int i = 0; i < knModel_JointCount(figure.model); ++i) {
			const knJointDef* def = knScene_GetJoint(figure.scene, knModel_JointAt(figure.model, i));
			for (int axis = 0; axis < (def->kind == KN_JOINT_BALL ? 3 : 1); ++axis) {
				assert_near(def->axis[axis].friction, k < 2 ? 0.0 : 1.5, 0.0);
			}
		}
		destroy(&figure);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ragdoll_joints),
		cmocka_unit_test(test_sides_mirror),
		cmocka_unit_test(test_stacked),
		cmocka_unit_test(test_joint_friction),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
