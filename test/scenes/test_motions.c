// The scenes of plain motion start as their closed forms say: energies, steady rolling, rates, loads.
#include "scene_test.h"

// Sticks start clear, one higher than the other by 0.45 m, all with the same mass; capsules, hulls and meshes too.
static void test_sticks(void** state) {
	(void)state;
	static const char* const shapes[] = { "box", "capsule", "hull", "mesh" };
	for (int k = 0; k < 4; ++k) {
		Built sticks = BUILD("sticks", "n", "30", "width", "0.05", "shape", shapes[k]);
		assert_true(penetrationOf(&sticks) == 0.0);
		assert_near(centerOf(&sticks, "stick7").z - centerOf(&sticks, "stick6").z, 0.45, 1e-9);
		assert_near(centerOf(&sticks, "stick0").z, 1.0, 1e-9);
		assert_near(massOf(&sticks, "stick29"), massOf(&sticks, "stick0"), 1e-9);
		if (k != 1) {
			assert_near(massOf(&sticks, "stick0"), 1000.0 * 0.05 * 0.05, 1e-6);
		}
		destroy(&sticks);
	}
}

// Steady rolling: the point that touches is at rest, and the torque of its reaction is the change of the angular momentum as
// the whole motion goes round the vertical.
static void test_disk_rolls_steadily(void** state) {
	(void)state;
	static const char* const tilts[] = { "0.1", "0.4", "1.2" };
	for (int k = 0; k < 3; ++k) {
		Built disk = BUILD("disk", "tilt", tilts[k]);
		knBodyId body = knScene_FindBody(disk.scene, "disk");
		knFrame frame = knWorld_BodyFrame(disk.world, body);
		knVec3 w = knWorld_BodyAngularVelocity(disk.world, body), up = knV3(0.0, 0.0, 1.0);
		knVec3 low = knPoint(frame, knV3(0.0, -0.1, -0.001)); // the lowest point of its rim
		assert_near(low.z, 0.0, 1e-12);
		assert_near3(knWorld_PointVelocity(disk.world, body, low), knZero3(), 1e-9);

		knMassProps mass = knModel_BodyMass(disk.model, body);
		knVec3 spin = knRotate(frame.q, knMulMV(&mass.inertia, knInvRotate(frame.q, w)));
		knVec3 axis = knRotate(frame.q, up), turning = knCross(w, axis), across = knCross(up, axis);
		double rate = knDot(turning, across) / knLengthSquared(across);
		knVec3 torque = knCross(knSub(low, frame.p), knV3(0.0, 0.0, mass.mass * 9.81));
		assert_near3(knScale(rate, knCross(up, spin)), torque, 1e-9 * knLength(torque));
		destroy(&disk);
	}
}

// The crank starts at speed with closed joints, and stays so in the first step.
static void test_crank(void** state) {
	(void)state;
	Built crank = build("crank", NULL);
	knVec3 pin = knV3(0.3, 0.0, 1.0), end = knV3(1.3, 0.0, 1.0);
	knBodyId arm = knScene_FindBody(crank.scene, "crank"), rod = knScene_FindBody(crank.scene, "rod");
	assert_near3(knWorld_PointVelocity(crank.world, arm, knV3(0.0, 0.0, 1.0)), knZero3(), 1e-12);
	assert_near3(knWorld_PointVelocity(crank.world, rod, pin), knWorld_PointVelocity(crank.world, arm, pin),
				 1e-12);
	assert_near3(knWorld_PointVelocity(crank.world, rod, end), knZero3(), 1e-12);
	knSceneChecks checks = { 0 };
	stepBuilt(&crank, 1, &checks);
	assert_near(checkOf(&checks, "phase"), 0.0, 1e-3);
	destroy(&crank);
}

// Heavy : light is the share of e^(mu pi R/(R + r)); the rope weighs 0.01 kg a link.
static void test_capstan(void** state) {
	(void)state;
	Built capstan = BUILD("capstan", "friction", "0.4", "share", "0.5");
	double limit = exp(0.4 * KN_PI * 0.5 / 0.51);
	assert_near(massOf(&capstan, "heavy"), 100.0, 1e-9);
	assert_near(massOf(&capstan, "heavy") / massOf(&capstan, "light"), 0.5 * limit, 1e-9);
	assert_near(massOf(&capstan, "link20"), 0.01, 1e-12);
	destroy(&capstan);
}

// The gas is at rest as a whole in no direction, closed in on all sides, and starts clear.
static void test_gas_and_spring(void** state) {
	(void)state;
	Built gas = build("gas", NULL);
	for (int i = 0; i < 27; ++i) {
		knVec3 at = knWorld_BodyCenter(gas.world, knModel_BodyAt(gas.model, i));
		assert_true(knAbs(at.x) < 0.5 && knAbs(at.y) < 0.5 && knAbs(at.z) < 0.5);
	}
	assert_true(penetrationOf(&gas) == 0.0 && knWorld_Measure(gas.world).kinetic > 1.0);
	destroy(&gas);

	Built spring = BUILD("spring", "rate", "7");
	knSceneChecks checks = { 0 };
	stepBuilt(&spring, 0, &checks);
	assert_near(checkOf(&checks, "amplitude"), 1.0, 1e-12);
	assert_near(checkOf(&checks, "position"), 0.1, 1e-12);
	assert_near(massOf(&spring, "block"), 1.0, 1e-12);
	destroy(&spring);
}

// Chain over pegs: axes alternate, the chain starts clear of the twelve pegs.
static void test_chain_pegs(void** state) {
	(void)state;
	Built chain = build("chain-pegs", NULL);
	assert_int_equal(knScene_ShapeSlots(chain.scene), 12 + 200);
	knFrame first = knWorld_JointFrame(chain.world, knModel_JointAt(chain.model, 0));
	assert_near3(first.p, knZero3(), 1e-12);
	for (int i = 1; i < 200; ++i) {
		const knJointDef* a = knScene_GetJoint(chain.scene, knModel_JointAt(chain.model, i - 1));
		const knJointDef* b = knScene_GetJoint(chain.scene, knModel_JointAt(chain.model, i));
		knQuat turnA = knScene_GetBody(chain.scene, a->child)->frame.q,
			   turnB = knScene_GetBody(chain.scene, b->child)->frame.q;
		knVec3 x = knV3(1.0, 0.0, 0.0), axisA = knRotate(turnA, knRotate(a->frameChild.q, x));
		assert_near(knDot(axisA, knRotate(turnB, knRotate(b->frameChild.q, x))), 0.0, 1e-12);
	}
	assert_true(penetrationOf(&chain) == 0.0);
	destroy(&chain);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sticks),         cmocka_unit_test(test_disk_rolls_steadily),
		cmocka_unit_test(test_crank),          cmocka_unit_test(test_capstan),
		cmocka_unit_test(test_gas_and_spring), cmocka_unit_test(test_chain_pegs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
