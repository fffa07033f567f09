// Rings: closed hexagons of radius 0.5 m; `linked` is a matter of topology.
#include "scene_test.h"

static void test_ring_is_a_hexagon(void** state) {
	(void)state;
	Built rings = BUILD("rings", "rings", "1", "mesh", "0");
	for (int i = 0; i < 6; ++i) {
		const knJointDef* def = knScene_GetJoint(rings.scene, knModel_JointAt(rings.model, i));
		assert_int_equal(def->kind, KN_JOINT_BALL);
	}
	knVec3 middle = knZero3();
	for (int i = 0; i < 6; ++i) {
		middle = knMulAdd(middle, 1.0 / 6.0, knWorld_BodyCenter(rings.world, knModel_BodyAt(rings.model, i)));
	}
	for (int i = 0; i < 6; ++i) {
		knVec3 center = knWorld_BodyCenter(rings.world, knModel_BodyAt(rings.model, i));
		assert_near(knDistance(center, middle), 0.5 * knCos(KN_PI / 6.0), 1e-9);
	}
	destroy(&rings);
}

// Above the pole's top it is not yet linked; lowered over the pole it is; beside the pole it is not.
static void test_linked(void** state) {
	(void)state;
	static const struct {
		double x, z, linked;
	} cases[] = { { 0.0, 0.0, 0.0 }, { 0.0, -2.0, 1.0 }, { 1.0, -2.0, 0.0 }, { 2.0, -2.0, 1.0 } };
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); ++c) {
		Built rings = BUILD("rings", "rings", "1", "mesh", "0");
		for (int i = 0; i < 6; ++i) {
			knBodyId body = knModel_BodyAt(rings.model, i);
			knFrame frame = knWorld_BodyFrame(rings.world, body);
			frame.p = knAdd(frame.p, knV3(cases[c].x, 0.0, cases[c].z));
			assert_ok(knWorld_SetBodyFrame(rings.world, body, frame));
		}
		knSceneChecks checks = { 0 };
		rings.args.entry->observe(rings.world, &rings.args, &checks);
		assert_near(checkOf(&checks, "linked"), cases[c].linked, 0.0);
		destroy(&rings);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_is_a_hexagon),
		cmocka_unit_test(test_linked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
