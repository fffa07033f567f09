// What both steppers in maximal coordinates do with what moves far in a step.

#include "world/fixture.h"

static knWorld* maximalWorld(knScene* scene, int stepper) {
	knWorldDef def = knWorldDef_Default();
	def.stepper = stepper == 0 ? "velocity" : "impulse";
	return newWorldWith(scene, &def);
}

// Plates that fall together come no closer to each other until the lowest one lands, and are then run into within the
// same step: none gets into another.
static void test_plates_that_fall_together_land_on_each_other(void** state) {
	(void)state;
	for (int stepper = 0; stepper < 2; ++stepper) {
		knScene* scene = newScene(earth);
		newGround(scene, material(0.6, 0.0));
		knBodyId plates[4];
		for (int i = 0; i < 4; ++i) {
			plates[i] =
				newBox(scene, knV3(0.0, 0.0, 0.3 + 0.06 * i), knV3(0.2, 0.2, 0.01), material(0.6, 0.0));
			knScene_EditBody(scene, plates[i])->velocity = knV3(0.0, 0.0, -8.0);
		}
		knWorld* world = maximalWorld(scene, stepper);
		for (int i = 0; i < 60; ++i) {
			run(world, 1, 1.0 / 60.0);
			knPenetration penetration;
			knError error = { 0 };
			assert_ok(knWorld_MeasurePenetration(world, &penetration, &error));
			assert_true(penetration.max < 1e-3);
		}
		for (int i = 0; i < 4; ++i) {
			assert_near3(knWorld_BodyCenter(world, plates[i]), knV3(0.0, 0.0, 0.01 + 0.02 * i), 1e-3);
		}
		knWorld_Destroy(world);
	}
}

// A box flies over the edge of a table, a centimetre above it and a third of its size a step: nothing touches it.
static void test_what_flies_past_an_edge_is_not_touched(void** state) {
	(void)state;
	for (int n = 0; n < 16; ++n) {
		knScene* scene = newScene(noGravity);
		knBodyDef table = knBodyDef_Default();
		table.kind = KN_BODY_FIXED;
		knShapeDef shape = material(0.5, 0.5);
		assert_false(
			KN_ID_IS_NULL(knScene_AddBox(scene, newBody(scene, &table), knV3(0.5, 0.5, 0.5), &shape, NULL)));
		const knVec3 velocity = knV3(8.0, 0.3, 0.0);
		knBodyId box =
			newBox(scene, knV3(-1.5 + 0.02 * n, 0.0, 0.71), knV3(0.2, 0.2, 0.2), material(0.5, 0.5));
		knScene_EditBody(scene, box)->velocity = velocity;
		knWorld* world = maximalWorld(scene, n % 2);
		run(world, 20, 1.0 / 60.0);
		assert_near3(knWorld_BodyVelocity(world, box), velocity, 1e-12);
		assert_near3(knWorld_BodyAngularVelocity(world, box), knZero3(), 1e-12);
		knWorld_Destroy(world);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plates_that_fall_together_land_on_each_other),
		cmocka_unit_test(test_what_flies_past_an_edge_is_not_touched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
