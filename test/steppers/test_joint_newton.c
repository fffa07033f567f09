// The equations of pre-stabilization against central differences, and Newton's method on them.
#include "support/kn_test.h"

#include "steppers/impulse/paper/joint_newton.h"

#define STEP 1e-6

static knNewtonBody randomBody(knTestRandom* random, bool fixed) {
	knNewtonBody body = { .x = testVec3(random, 2.0), .arm = testVec3(random, 0.7), .Q = testQuat(random) };
	body.u = knMakeTwist(testVec3(random, 4.0), testVec3(random, 3.0));
	if (!fixed) {
		knMat33 inertia = knDiagonal33(testUniform(random, 0.05, 2.0), testUniform(random, 0.05, 2.0),
									   testUniform(random, 0.05, 2.0));
		inertia = knRotateTensor(testQuat(random), &inertia);
		body.invMass = testUniform(random, 0.2, 2.0);
		body.invInertia = knInverse33(&inertia);
	}
	return body;
}

// Open: the articulation points are far apart. Closed: they coincide, and both levers are the arms.
static knJointNewton randomNewton(knTestRandom* random, bool open, bool fixedParent) {
	knJointNewton newton = { .h = testUniform(random, 0.005, 0.05) };
	newton.parent = randomBody(random, fixedParent);
	newton.child = randomBody(random, false);
	if (!open) {
		newton.child.x = knSub(knAdd(newton.parent.x, newton.parent.arm), newton.child.arm);
		newton.child.Q = newton.parent.Q;
	}
	knVec3 gap = knSub(knAdd(newton.child.x, newton.child.arm), knAdd(newton.parent.x, newton.parent.arm));
	newton.parent.lever = knMulAdd(newton.parent.arm, 0.5, gap);
	newton.child.lever = knMulAdd(newton.child.arm, -0.5, gap);
	knJointNewton_SameCover(&newton);
	return newton;
}

static knVec3 axis(int i) {
	return knV3(i == 0, i == 1, i == 2);
}

static knVec3 column(const knMat33* m, int i) {
	return i == 0 ? m->cx : (i == 1 ? m->cy : m->cz);
}

static void test_derivatives(void** state) {
	(void)state;
	knTestRandom random = { 11 };
	for (int n = 0; n < 200; ++n) {
		knJointNewton newton = randomNewton(&random, n % 2 == 0, n % 5 == 0);
		knVec3 y = testVec3(&random, 1.0);
		knMat33 linear, square;
		knQuat angular[3];
		knJointNewton_Linear(&newton, y, &linear);
		knJointNewton_Angular(&newton, y, angular);
		knJointNewton_AngularSquare(&newton, y, &square);
		for (int i = 0; i < 3; ++i) {
			knVec3 more = knMulAdd(y, STEP, axis(i)), less = knMulAdd(y, -STEP, axis(i));
			double size = knLength(column(&linear, i));
			knVec3 by = knScale(0.5 / STEP, knSub(knJointNewton_Linear(&newton, more, NULL),
												  knJointNewton_Linear(&newton, less, NULL)));
			assert_near3(column(&linear, i), by, 1e-8 * size + 1e-9);
			by = knScale(0.5 / STEP, knSub(knJointNewton_AngularSquare(&newton, more, NULL),
										   knJointNewton_AngularSquare(&newton, less, NULL)));
			assert_near3(column(&square, i), by, 1e-8 * knLength(column(&square, i)) + 1e-9);
			knQuat a = knJointNewton_Angular(&newton, more, NULL),
				   b = knJointNewton_Angular(&newton, less, NULL);
			knQuat off =
				knQ(angular[i].w - 0.5 * (a.w - b.w) / STEP, angular[i].x - 0.5 * (a.x - b.x) / STEP,
					angular[i].y - 0.5 * (a.y - b.y) / STEP, angular[i].z - 0.5 * (a.z - b.z) / STEP);
			assert_near(sqrt(knDotQ(off, off)), 0.0, 1e-8 * sqrt(knDotQ(angular[i], angular[i])) + 1e-9);
		}
	}
}

static void test_coupled_derivative(void** state) {
	(void)state;
	knTestRandom random = { 12 };
	for (int n = 0; n < 200; ++n) {
		knJointNewton newton = randomNewton(&random, n % 2 == 0, n % 5 == 0);
		knTwist y = knMakeTwist(testVec3(&random, 0.3), testVec3(&random, 0.5)), along[6], changes[6];
		for (int i = 0; i < 6; ++i) {
			along[i] = i < 3 ? knMakeTwist(axis(i), knZero3()) : knMakeTwist(knZero3(), axis(i - 3));
		}
		knJointNewton_Coupled(&newton, y, along, 6, changes);
		for (int i = 0; i < 6; ++i) {
			knTwist more = knJointNewton_Coupled(&newton, knMulAddT(y, STEP, along[i]), NULL, 0, NULL);
			knTwist less = knJointNewton_Coupled(&newton, knMulAddT(y, -STEP, along[i]), NULL, 0, NULL);
			knTwist by = knScaleT(0.5 / STEP, knSubT(more, less));
			assert_near3(changes[i].ang, by.ang, 1e-8 * knLength(by.ang) + 1e-9);
			assert_near3(changes[i].lin, by.lin, 1e-8 * knLength(by.lin) + 1e-9);
		}
	}
}

// Taking one arm for both is the mistake that the paper's single letter invites: far from closed it is no derivative.
static void test_two_arms(void** state) {
	(void)state;
	knTestRandom random = { 13 };
	int wrong = 0;
	for (int n = 0; n < 50; ++n) {
		knJointNewton newton = randomNewton(&random, true, false), one = newton;
		one.parent.arm = one.parent.lever;
		one.child.arm = one.child.lever;
		knMat33 right, other;
		knJointNewton_Linear(&newton, knZero3(), &right);
		knJointNewton_Linear(&one, knZero3(), &other);
		wrong += knDistance(right.cx, other.cx) > 0.1 * knLength(right.cx);
	}
	assert_true(wrong > 25);
}

// The paper's cover: with opposite signs the difference of quaternions aims at a full turn.
static void test_same_cover(void** state) {
	(void)state;
	knTestRandom random = { 14 };
	for (int n = 0; n < 100; ++n) {
		knJointNewton newton = randomNewton(&random, true, false), flipped = newton;
		flipped.child.Q = knNegQ(flipped.child.Q);
		knJointNewton_SameCover(&flipped);
		assert_true(knDotQ(flipped.child.Q, flipped.parent.Q) >= 0.0);
		knNewtonResult a = knJointNewton_Solve(&newton, KN_NEWTON_ANGULAR, KN_NEWTON_GOLDEN, 1.0, 1e-12);
		knNewtonResult b = knJointNewton_Solve(&flipped, KN_NEWTON_ANGULAR, KN_NEWTON_GOLDEN, 1.0, 1e-12);
		assert_near3(a.impulse, b.impulse, 1e-10);
	}
}

// Joints a little open, as a step finds them: both line searches close them; the ramp stops at its share.
static void test_solve(void** state) {
	(void)state;
	knTestRandom random = { 15 };
	for (int n = 0; n < 100; ++n) {
		knJointNewton newton = randomNewton(&random, false, n % 3 == 0);
		newton.h = 0.02;
		const knNewtonEquation equations[3] = { KN_NEWTON_LINEAR, KN_NEWTON_ANGULAR,
												KN_NEWTON_ANGULAR_SQUARE };
		for (int e = 0; e < 3; ++e) {
			knNewtonResult full = knJointNewton_Solve(&newton, equations[e], KN_NEWTON_GOLDEN, 1.0, 1e-10);
			assert_true(full.after <= 1e-10 && full.iterations <= 8);
			knNewtonResult damped = knJointNewton_Solve(&newton, equations[e], KN_NEWTON_DAMPED, 1.0, 1e-10);
			assert_true(damped.after <= 1e-10);
			assert_near3(damped.impulse, full.impulse, 1e-6 * (1.0 + knLength(full.impulse)));
			knNewtonResult part = knJointNewton_Solve(&newton, equations[e], KN_NEWTON_DAMPED, 0.25, 1e-10);
			assert_true(part.after <= 0.75 * part.before + 1e-10 && part.after > 0.3 * part.before);
		}
	}
}

static double parabola(double s, const void* context) {
	double at = *(const double*)context;
	return (s - at) * (s - at);
}

static void test_golden_section(void** state) {
	(void)state;
	for (int n = 0; n <= 20; ++n) {
		double at = -0.5 + 0.1 * n;
		assert_near(knGoldenSection(parabola, &at, 1e-6), knClamp(at, 0.0, 1.0), 1e-6);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derivatives), cmocka_unit_test(test_coupled_derivative),
		cmocka_unit_test(test_two_arms),    cmocka_unit_test(test_same_cover),
		cmocka_unit_test(test_solve),       cmocka_unit_test(test_golden_section),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
