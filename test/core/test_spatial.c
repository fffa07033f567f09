// Spatial algebra: power does not depend on the frame, cross products obey their identities, and moved
// inertias agree with inertias computed anew in the other frame and with point masses.
#include "support/kn_test.h"

#include "core/spatial.h"

static knTwist randomTwist(knTestRandom* random, double size) {
	knVec3 ang = testVec3(random, size);
	return knMakeTwist(ang, testVec3(random, size));
}

static double sizeT(knTwist t) {
	return knLength(t.ang) + knLength(t.lin);
}

#define assert_nearT(actual, expected, tolerance)                                                            \
	do {                                                                                                     \
		knTwist kn_ta = (actual), kn_te = (expected);                                                        \
		assert_near3(kn_ta.ang, kn_te.ang, (tolerance));                                                     \
		assert_near3(kn_ta.lin, kn_te.lin, (tolerance));                                                     \
	} while (0)

static knMat33 randomInertia(knTestRandom* random) {
	double a = testUniform(random, 0.5, 2.0), b = testUniform(random, 0.5, 2.0);
	knMat33 principal =
		knDiagonal33(a, b, fabs(a - b) + testUniform(random, 0.1, 0.9) * (a + b - fabs(a - b)));
	return knRotateTensor(testQuat(random), &principal);
}

static void motion_transform_is_the_velocity_of_a_rigid_body(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int i = 0; i < 2000; ++i) {
		knFrame B = testFrame(&random, 3.0);
		knTwist m = randomTwist(&random, 2.0);
		knTwist inB = knMotionToFrame(B, m);
		// the point at the origin of B moves with v + w x r, seen in B's axes
		assert_near3(knRotate(B.q, inB.lin), knAdd(m.lin, knCross(m.ang, B.p)), 1e-13);
		assert_near3(knRotate(B.q, inB.ang), m.ang, 1e-13);
		assert_nearT(knMotionFromFrame(B, inB), m, 1e-13);
	}
}

static void force_transform_keeps_moment_about_every_point(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	for (int i = 0; i < 2000; ++i) {
		knFrame B = testFrame(&random, 3.0);
		knTwist f = randomTwist(&random, 2.0);
		knTwist inB = knForceToFrame(B, f);
		assert_nearT(knForceFromFrame(B, inB), f, 1e-13);
		// moment about a point p, computed in A and in B
		knVec3 p = testVec3(&random, 3.0), pB = knInvPoint(B, p);
		knVec3 momentA = knSub(f.ang, knCross(p, f.lin));
		knVec3 momentB = knSub(inB.ang, knCross(pB, inB.lin));
		assert_near3(knRotate(B.q, momentB), momentA, 1e-12);
	}
}

static void power_is_invariant(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	for (int i = 0; i < 2000; ++i) {
		knFrame B = testFrame(&random, 3.0);
		knTwist m = randomTwist(&random, 2.0), f = randomTwist(&random, 2.0);
		assert_near(knDotT(knForceToFrame(B, f), knMotionToFrame(B, m)), knDotT(f, m), 1e-12);
		assert_near(knDotT(knForceFromFrame(B, f), knMotionFromFrame(B, m)), knDotT(f, m), 1e-12);
	}
}

static void transforms_compose(void** state) {
	(void)state;
	knTestRandom random = { 4 };
	for (int i = 0; i < 2000; ++i) {
		knFrame B = testFrame(&random, 2.0), C = testFrame(&random, 2.0);
		knTwist m = randomTwist(&random, 2.0);
		assert_nearT(knMotionToFrame(knMulF(B, C), m), knMotionToFrame(C, knMotionToFrame(B, m)), 1e-12);
		assert_nearT(knForceToFrame(knMulF(B, C), m), knForceToFrame(C, knForceToFrame(B, m)), 1e-12);
		assert_nearT(knMotionToFrame(knInvF(B), m), knMotionFromFrame(B, m), 1e-12);
	}
}

static void cross_product_identities(void** state) {
	(void)state;
	knTestRandom random = { 5 };
	for (int i = 0; i < 2000; ++i) {
		knTwist u = randomTwist(&random, 2.0), v = randomTwist(&random, 2.0), m = randomTwist(&random, 2.0);
		knTwist f = randomTwist(&random, 2.0);
		assert_nearT(knAddT(knCrossMotion(u, v), knCrossMotion(v, u)), knZeroTwist(), 1e-13);
		// x* is minus the transpose of x
		assert_near(knDotT(knCrossForce(v, f), m), -knDotT(f, knCrossMotion(v, m)), 1e-12);
		// Jacobi
		knTwist sum =
			knAddT(knCrossMotion(u, knCrossMotion(v, m)),
				   knAddT(knCrossMotion(v, knCrossMotion(m, u)), knCrossMotion(m, knCrossMotion(u, v))));
		assert_nearT(sum, knZeroTwist(), 1e-12);
		// products commute with transforms
		knFrame B = testFrame(&random, 2.0);
		assert_nearT(knMotionToFrame(B, knCrossMotion(v, m)),
					 knCrossMotion(knMotionToFrame(B, v), knMotionToFrame(B, m)), 1e-11);
		assert_nearT(knForceToFrame(B, knCrossForce(v, f)),
					 knCrossForce(knMotionToFrame(B, v), knForceToFrame(B, f)), 1e-11);
	}
}

// d/dt of a vector fixed in a frame that moves with v is v x it: compared with a finite difference.
static void cross_product_is_the_rate_of_change(void** state) {
	(void)state;
	knTestRandom random = { 6 };
	for (int i = 0; i < 200; ++i) {
		knFrame B = testFrame(&random, 1.0);
		knTwist v = randomTwist(&random, 1.0), fixedInB = randomTwist(&random, 1.0);
		const double h = 1e-5;
		knTwist moved[2];
		for (int side = 0; side < 2; ++side) {
			double t = side == 0 ? -h : h;
			knQuat turn = knQuat_Exp(knScale(t, v.ang));
			// to second order in t, the frame moved by the twist v
			knVec3 velocity = knAdd(v.lin, knCross(v.ang, B.p));
			knVec3 p = knAdd(B.p, knMulAdd(knScale(t, velocity), 0.5 * t * t, knCross(v.ang, velocity)));
			moved[side] = knMotionFromFrame(knMakeFrame(p, knMulQ(turn, B.q)), fixedInB);
		}
		knTwist rate = knScaleT(0.5 / h, knSubT(moved[1], moved[0]));
		assert_nearT(rate, knCrossMotion(v, knMotionFromFrame(B, fixedInB)), 1e-8);
	}
}

// Momentum and energy of a body against the sums over the point masses that make it up.
static void inertia_of_point_masses(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	for (int trial = 0; trial < 300; ++trial) {
		enum { POINTS = 7 };
		knVec3 points[POINTS];
		double masses[POINTS], mass = 0.0;
		knVec3 center = knZero3();
		for (int k = 0; k < POINTS; ++k) {
			points[k] = testVec3(&random, 2.0);
			masses[k] = testUniform(&random, 0.1, 1.0);
			mass += masses[k];
			center = knMulAdd(center, masses[k], points[k]);
		}
		center = knScale(1.0 / mass, center);
		knMat33 aboutCenter = knDiagonal33(0.0, 0.0, 0.0);
		for (int k = 0; k < POINTS; ++k) {
			knMat33 s = knSkew(knSub(points[k], center)), st = knTranspose33(&s);
			knMat33 term = knMulMM(&st, &s);
			term = knScaleM(masses[k], &term);
			aboutCenter = knAddMM(&aboutCenter, &term);
		}

		knInertia inertia = knInertia_Make(mass, center, &aboutCenter);
		knInertia6 full = knInertia_Full(&inertia);
		knTwist v = randomTwist(&random, 2.0);
		knTwist momentum = knZeroTwist();
		double energy = 0.0;
		for (int k = 0; k < POINTS; ++k) {
			knVec3 velocity = knAdd(v.lin, knCross(v.ang, points[k]));
			momentum.lin = knMulAdd(momentum.lin, masses[k], velocity);
			momentum.ang = knMulAdd(momentum.ang, masses[k], knCross(points[k], velocity));
			energy += 0.5 * masses[k] * knLengthSquared(velocity);
		}
		assert_nearT(knInertia_Mul(&inertia, v), momentum, 1e-11);
		assert_nearT(knInertia6_Mul(&full, v), momentum, 1e-11);
		assert_near(0.5 * knDotT(v, knInertia_Mul(&inertia, v)), energy, 1e-11);
	}
}

static void moved_inertia_equals_recomputed(void** state) {
	(void)state;
	knTestRandom random = { 8 };
	for (int i = 0; i < 1000; ++i) {
		double mass = testUniform(&random, 0.5, 3.0);
		knVec3 center = testVec3(&random, 1.0);
		knMat33 aboutCenter = randomInertia(&random);
		knFrame B = testFrame(&random, 2.0);
		knInertia inB = knInertia_Make(mass, center, &aboutCenter);
		knInertia6 fullB = knInertia_Full(&inB), moved = knInertia6_FromFrame(B, &fullB);

		// the same body described in A from the start
		knMat33 turned = knRotateTensor(B.q, &aboutCenter);
		knInertia inA = knInertia_Make(mass, knPoint(B, center), &turned);
		knTwist v = randomTwist(&random, 1.0);
		assert_nearT(knInertia6_Mul(&moved, v), knInertia_Mul(&inA, v), 1e-11);
	}
}

static knInertia6 randomInertia6(knTestRandom* random) {
	knVec3 cx = testVec3(random, 1.0), cy = testVec3(random, 1.0), cz = testVec3(random, 1.0);
	knInertia6 inertia = { randomInertia(random), knMakeMat33(cx, cy, cz), randomInertia(random) };
	return inertia;
}

// For a general symmetric 6x6 the definition X^T I X itself, applied to a vector.
static void moved_general_inertia_is_its_definition(void** state) {
	(void)state;
	knTestRandom random = { 9 };
	for (int i = 0; i < 1000; ++i) {
		knInertia6 inB = randomInertia6(&random), other = randomInertia6(&random);
		knFrame B = testFrame(&random, 2.0);
		knInertia6 inA = knInertia6_FromFrame(B, &inB);
		knTwist v = randomTwist(&random, 1.0), w = randomTwist(&random, 1.0);
		knTwist expected = knForceFromFrame(B, knInertia6_Mul(&inB, knMotionToFrame(B, v)));
		assert_nearT(knInertia6_Mul(&inA, v), expected, 1e-11);
		// symmetric, exactly on the blocks that must be
		assert_near(knDotT(w, knInertia6_Mul(&inA, v)), knDotT(v, knInertia6_Mul(&inA, w)), 1e-11);
		assert_true(inA.aa.cx.y == inA.aa.cy.x && inA.aa.cx.z == inA.aa.cz.x && inA.aa.cy.z == inA.aa.cz.y);
		assert_true(inA.ll.cx.y == inA.ll.cy.x && inA.ll.cx.z == inA.ll.cz.x && inA.ll.cy.z == inA.ll.cz.y);
		// sums act as sums
		knInertia6 sum = knInertia6_Add(&inB, &other);
		knTwist both = knAddT(knInertia6_Mul(&inB, v), knInertia6_Mul(&other, v));
		assert_true(sizeT(knSubT(knInertia6_Mul(&sum, v), both)) < 1e-13);
	}
}

// f = I a + v x* I v for a free body: Newton's and Euler's equations at its centre.
static void equation_of_motion_at_the_centre(void** state) {
	(void)state;
	knTestRandom random = { 10 };
	for (int i = 0; i < 500; ++i) {
		double mass = testUniform(&random, 0.5, 3.0);
		knMat33 about = randomInertia(&random);
		knInertia inertia = knInertia_Make(mass, knZero3(), &about);
		knTwist v = randomTwist(&random, 2.0);
		knTwist bias = knCrossForce(v, knInertia_Mul(&inertia, v));
		assert_near3(bias.ang, knCross(v.ang, knMulMV(&about, v.ang)), 1e-12);
		assert_near3(bias.lin, knScale(mass, knCross(v.ang, v.lin)), 1e-12);
		// gyroscopic forces do no work
		assert_near(knDotT(v, bias), 0.0, 1e-11);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(motion_transform_is_the_velocity_of_a_rigid_body),
		cmocka_unit_test(force_transform_keeps_moment_about_every_point),
		cmocka_unit_test(power_is_invariant),
		cmocka_unit_test(transforms_compose),
		cmocka_unit_test(cross_product_identities),
		cmocka_unit_test(cross_product_is_the_rate_of_change),
		cmocka_unit_test(inertia_of_point_masses),
		cmocka_unit_test(moved_inertia_equals_recomputed),
		cmocka_unit_test(moved_general_inertia_is_its_definition),
		cmocka_unit_test(equation_of_motion_at_the_centre),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
