// Energies against closed forms, point masses, and the one thing known about free flight: the sum stays.
#include "measure_test.h"

static void spinningBodyHasTheClosedForm(void** state) {
	(void)state;
	knScene* scene = testScene(0);
	knBodyId body = testBody(scene, KN_BODY_DYNAMIC, 3.0, knV3(0.1, 0.2, 0.3), knV3(0.5, 0.7, 0.9));
	knTestSystem system = testCompile(scene);
	// turned by 90 degrees about z the body's x axis lies along the world's y
	testPlace(&system, body, knMakeFrame(knZero3(), knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), 0.5 * KN_PI)));
	testMove(&system, body, knZero3(), knV3(0.0, 4.0, 0.0));
	assert_near(knMeasure_Kinetic(system.model, &system.state), 0.5 * 0.5 * 16.0, 1e-13);
	testMove(&system, body, knV3(1.0, -2.0, 2.0), knV3(0.0, 0.0, 2.0));
	assert_near(knMeasure_Kinetic(system.model, &system.state), 0.5 * 3.0 * 9.0 + 0.5 * 0.9 * 4.0, 1e-13);

	// a hair more speed is a hair more energy: dE = m v dv
	double before = knMeasure_Kinetic(system.model, &system.state);
	testMove(&system, body, knV3(1.0 + 1e-6, -2.0, 2.0), knV3(0.0, 0.0, 2.0));
	assert_near(knMeasure_Kinetic(system.model, &system.state) - before, 3e-6, 1e-11);
	testSystemFree(&system);
}

// Six points on the axes at +-a, +-b, +-c carry m/6 each: moments m/3 (b2 + c2) and so on.
static void kineticEnergyIsThatOfPointMasses(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	for (int round = 0; round < 20; ++round) {
		double m = testUniform(&random, 0.5, 5.0);
		knVec3 arm = knAbs3(testVec3(&random, 1.0)), center = testVec3(&random, 1.0);
		arm = knAdd(arm, knV3(0.1, 0.1, 0.1));
		knVec3 s = knMulComponents(arm, arm);
		knScene* scene = testScene(0);
		knBodyId body = testBody(scene, KN_BODY_DYNAMIC, m, center,
								 knScale(m / 3.0, knV3(s.y + s.z, s.z + s.x, s.x + s.y)));
		knTestSystem system = testCompile(scene);
		knFrame frame = testFrame(&random, 2.0);
		knVec3 v = testVec3(&random, 3.0), w = testVec3(&random, 3.0);
		testPlace(&system, body, frame);
		testMove(&system, body, v, w);
		double expected = 0.0;
		for (int k = 0; k < 6; ++k) {
			knVec3 r = knZero3();
			knSetComponent(&r, k / 2, (k % 2 == 0 ? 1.0 : -1.0) * knComponent(arm, k / 2));
			knVec3 speed = knAdd(v, knCross(w, knRotate(frame.q, r)));
			expected += 0.5 * m / 6.0 * knLengthSquared(speed);
		}
		assert_near(knMeasure_Kinetic(system.model, &system.state), expected, 1e-12 * expected);
		testSystemFree(&system);
	}
}

static void gravityCountsMassHeightAndScale(void** state) {
	(void)state;
	knScene* scene = testScene(0);
	knBodyId first = testBody(scene, KN_BODY_DYNAMIC, 3.0, knV3(0.0, 0.0, 0.5), knV3(1.0, 1.0, 1.0));
	knBodyId second = testBody(scene, KN_BODY_DYNAMIC, 2.0, knZero3(), knV3(1.0, 1.0, 1.0));
	knBodyId scripted = testBody(scene, KN_BODY_KINEMATIC, 5.0, knZero3(), knV3(1.0, 1.0, 1.0));
	knScene_EditBody(scene, second)->gravityScale = 0.25;
	knTestSystem system = testCompile(scene);
	testPlace(&system, first, knMakeFrame(knV3(7.0, 8.0, 1.5), knIdentityQ()));
	testPlace(&system, second, knMakeFrame(knV3(1.0, 0.0, 4.0), knIdentityQ()));
	testPlace(&system, scripted, knMakeFrame(knV3(0.0, 0.0, 100.0), knIdentityQ()));
	testMove(&system, scripted, knV3(0.0, 0.0, 10.0), knV3(1.0, 0.0, 0.0));
	// the centre of the first is half a metre above its origin; who has no mass counts nothing
	assert_near(knMeasure_Potential(system.model, &system.state), 9.81 * (3.0 * 2.0 + 0.25 * 2.0 * 4.0),
				1e-12);
	assert_true(knMeasure_Kinetic(system.model, &system.state) == 0.0);

	// the world's gravity may have been changed
	system.state.header->gravity = knV3(-2.0, 0.0, 0.0);
	assert_near(knMeasure_Potential(system.model, &system.state), 2.0 * (3.0 * 7.0 + 0.25 * 2.0 * 1.0),
				1e-12);
	testSystemFree(&system);
}

// Exact parabolas: what is gained in height is lost in speed.
static void energyOfFreeFlightStays(void** state) {
	(void)state;
	knTestRandom random = { 11 };
	knScene* scene = testScene(0);
	knBodyId bodies[5];
	knVec3 start[5], speed[5];
	for (int b = 0; b < 5; ++b) {
		bodies[b] = testBody(scene, KN_BODY_DYNAMIC, 1.0 + b, testVec3(&random, 1.0), knV3(1.0, 1.2, 1.4));
		start[b] = testVec3(&random, 3.0);
		speed[b] = testVec3(&random, 5.0);
	}
	knTestSystem system = testCompile(scene);
	double initial = 0.0;
	for (int k = 0; k <= 10; ++k) {
		double t = 0.2 * k;
		for (int b = 0; b < 5; ++b) {
			knVec3 p = knMulAdd(start[b], t, speed[b]);
			p.z -= 0.5 * 9.81 * t * t;
			system.state.pose[knModel_BodyIndex(system.model, bodies[b])].p = p;
			testMove(&system, bodies[b], knSub(speed[b], knV3(0.0, 0.0, 9.81 * t)), knV3(0.0, 0.0, 2.0));
		}
		knMeasures all = knMeasure_All(system.model, &system.state, NULL);
		initial = k == 0 ? all.kinetic + all.potential : initial;
		assert_near(all.kinetic + all.potential, initial, 1e-11);
	}
	testSystemFree(&system);
}

static knJointDef springDef(knJointKind kind, int axis, double stiffness, double rest) {
	knJointDef def = knJointDef_Default(kind);
	def.axis[axis].stiffness = stiffness;
	def.axis[axis].rest = rest;
	return def;
}

// The energy of one spring joint to the world with the child at `frame`.
static double springEnergy(knJointDef def, knFrame frame, bool attached) {
	knScene* scene = testScene(1);
	def.child = testBody(scene, KN_BODY_DYNAMIC, 1.0, knZero3(), knV3(1.0, 1.0, 1.0));
	if (!attached) {
		assert_false(KN_ID_IS_NULL(knScene_AddJoint(scene, &def, NULL)));
	}
	knTestSystem system = testCompile(scene);
	system.state.header->gravity = knZero3();
	if (attached) {
		testAttach(&system, 0, &def);
	}
	testPlace(&system, def.child, frame);
	double energy = knMeasure_Potential(system.model, &system.state);
	// a joint that is switched off has no spring
	system.state.joint[0].enabled = 0;
	assert_true(knMeasure_Potential(system.model, &system.state) == 0.0);
	testSystemFree(&system);
	return energy;
}

static void springsHoldHalfStiffnessTimesSquare(void** state) {
	(void)state;
	for (int attached = 0; attached < 2; ++attached) {
		knFrame turned = knMakeFrame(knZero3(), knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.9));
		assert_near(springEnergy(springDef(KN_JOINT_HINGE, 0, 40.0, 0.4), turned, attached),
					0.5 * 40.0 * 0.25, 1e-12);
		knFrame moved = knMakeFrame(knV3(-0.3, 0.0, 0.0), knIdentityQ());
		assert_near(springEnergy(springDef(KN_JOINT_SLIDER, 0, 200.0, 0.1), moved, attached),
					0.5 * 200.0 * 0.16, 1e-12);
		knFrame aside = knMakeFrame(knV3(7.0, -0.2, 0.0), knIdentityQ());
		assert_near(springEnergy(springDef(KN_JOINT_SLIDER2, 1, 50.0, 0.0), aside, attached),
					0.5 * 50.0 * 0.04, 1e-12);
		knFrame swung = knMakeFrame(knZero3(), knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), 0.6));
		assert_near(springEnergy(springDef(KN_JOINT_BALL, 1, 10.0, 0.0), swung, attached), 0.5 * 10.0 * 0.36,
					1e-12);
	}
}

static void overflowIsNotFinite(void** state) {
	(void)state;
	knScene* scene = testScene(0);
	knBodyId body = testBody(scene, KN_BODY_DYNAMIC, 1.0, knZero3(), knV3(1.0, 1.0, 1.0));
	knTestSystem system = testCompile(scene);
	testMove(&system, body, knV3(1e200, 0.0, 0.0), knZero3());
	assert_false(knMeasure_All(system.model, &system.state, NULL).finite);
	testMove(&system, body, knV3(1.0, 0.0, NAN), knZero3());
	assert_false(knMeasure_All(system.model, &system.state, NULL).finite);
	testSystemFree(&system);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spinningBodyHasTheClosedForm),
		cmocka_unit_test(kineticEnergyIsThatOfPointMasses),
		cmocka_unit_test(gravityCountsMassHeightAndScale),
		cmocka_unit_test(energyOfFreeFlightStays),
		cmocka_unit_test(springsHoldHalfStiffnessTimesSquare),
		cmocka_unit_test(overflowIsNotFinite),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
