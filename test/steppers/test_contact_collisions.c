// Bounces of the impulse stepper, before the forces.
#define BOUNCE_STEPPER "impulse"
#include "bounce_facts.h"

// Chained boxes fall on a bouncy ground, flat and aslant: they never have more energy than at first.
static void test_chain_gains_nothing(void** state) {
	(void)state;
	for (int k = 0; k < 2; ++k) {
		knScene* scene = newScene(earth);
		newGround(scene, material(0.3, 0.0));
		knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), 0.7 * k);
		knVec3 along = knRotate(turn, knV3(0.4, 0.0, 0.0));
		knBodyId last = KN_WORLD_BODY;
		for (int i = 0; i < 6; ++i) {
			knVec3 at = knMulAdd(knV3(0.0, 0.0, 3.0), i, along);
			knBodyId link = newBox(scene, at, knV3(0.18, 0.06, 0.06), material(0.3, 0.8));
			knScene_EditBody(scene, link)->frame.q = turn;
			if (i > 0) {
				knJointDef ball =
					jointAt(scene, KN_JOINT_BALL, last, link, knMulAdd(at, -0.5, along), knV3(0.0, 1.0, 0.0));
				newJoint(scene, &ball);
			}
			last = link;
		}
		knWorld* world = bounceWorld(scene);
		double first = energyOf(world);
		for (int n = 0; n < 300; ++n) {
			run(world, 1, DT);
			assert_true(energyOf(world) <= first * (1.0 + 1e-12));
		}
		knWorld_Destroy(world);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = { BOUNCE_FACTS, cmocka_unit_test(test_chain_gains_nothing) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
