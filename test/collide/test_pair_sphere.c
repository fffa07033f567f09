// Sphere against sphere, capsule, box and plane: closed forms, random poses against brute force, degenerate
// cases.
#include "collide/pair_oracle.h"

static knGeom* randomPartner(knTestRandom* random, double scale) {
	double r = scale * testUniform(random, 0.2, 1.0), h = scale * testUniform(random, 0.2, 1.0);
	switch (testInt(random, 3)) {
	case 0:
		return knGeom_Sphere(r, NULL, NULL);
	case 1:
		return knGeom_Capsule(r, h, NULL, NULL);
	default:
		return knGeom_Box(knV3(r, h, scale * testUniform(random, 0.2, 1.0)), NULL, NULL);
	}
}

static void randomPosesAgreeWithBruteForce(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	const double scales[] = { 1.0, 1e-4, 1e4 };
	int inside = 0, outside = 0;
	for (int n = 0; n < 3000; ++n) {
		double scale = scales[n % 3];
		knGeom* sphere = knGeom_Sphere(scale * testUniform(&random, 0.1, 1.0), NULL, NULL);
		knGeom* other = randomPartner(&random, scale);
		knFrame frameA = testFrame(&random, 2.0 * scale);
		knFrame frameB = knMulF(frameA, testFrame(&random, 1.2 * scale));
		double exact = oracleDistance(sphere, frameA, other, frameB);
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(sphere, frameA, other, frameB, 0.5 * scale, points, KN_PAIR_MAX_POINTS);
		assert_int_equal(count, exact < 0.5 * scale);
		if (count == 1) {
			assertContacts(sphere, frameA, other, frameB, 0.5 * scale, points, count);
			assert_near(points[0].separation, exact, 1e-11 * scale);
			knFrame apart = frameB;
			apart.p = knMulAdd(apart.p, -points[0].separation, points[0].normal);
			assert_near(oracleDistance(sphere, frameA, other, apart), 0.0, 1e-10 * scale);
			assertSwapped(sphere, frameA, other, frameB, 0.5 * scale, points, count, 1e-12 * scale);
			inside += exact < 0.0;
			outside += exact > 0.0;
		}
		knGeom_Release(sphere);
		knGeom_Release(other);
	}
	assert_true(inside > 500 && outside > 300);
}

static void concentricSpheresSeparateUpward(void** state) {
	(void)state;
	knGeom* a = knGeom_Sphere(1.0, NULL, NULL);
	knGeom* b = knGeom_Sphere(0.5, NULL, NULL);
	knFrame frame = knMakeFrame(knV3(1.0, 2.0, 3.0), knIdentityQ());
	knContactPoint point;
	assert_int_equal(knCollide_Pair(a, frame, b, frame, 0.0, &point, 1), 1);
	assert_near3(point.normal, knV3(0.0, 0.0, 1.0), 0.0);
	assert_near(point.separation, -1.5, 1e-15);
	assertContacts(a, frame, b, frame, 0.0, &point, 1);
	knGeom_Release(a);
	knGeom_Release(b);
}

// The centre on the capsule's axis: any direction across it is right, and none along it.
static void sphereOnACapsulesAxisLeavesSideways(void** state) {
	(void)state;
	knGeom* sphere = knGeom_Sphere(0.25, NULL, NULL);
	knGeom* capsule = knGeom_Capsule(0.5, 1.0, NULL, NULL);
	knFrame frame = knMakeFrame(knZero3(), knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.7));
	knVec3 axis = knRotate(frame.q, knV3(0.0, 0.0, 1.0));
	knContactPoint point;
	knFrame at = knMakeFrame(knScale(0.3, axis), knIdentityQ());
	assert_int_equal(knCollide_Pair(sphere, at, capsule, frame, 0.0, &point, 1), 1);
	assert_near(knDot(point.normal, axis), 0.0, 1e-12);
	assert_near(point.separation, -0.75, 1e-12);
	assertContacts(sphere, at, capsule, frame, 0.0, &point, 1);
	knGeom_Release(sphere);
	knGeom_Release(capsule);
}

static void sphereInsideABoxLeavesThroughTheNearestFace(void** state) {
	(void)state;
	knGeom* sphere = knGeom_Sphere(0.1, NULL, NULL);
	knGeom* box = knGeom_Box(knV3(1.0, 2.0, 3.0), NULL, NULL);
	const struct {
		knVec3 center, outward;
		double depth;
	} cases[] = {
		{ { 0.9, 0.0, 0.0 }, { 1.0, 0.0, 0.0 }, 0.1 },   { { -0.6, 0.0, 0.0 }, { -1.0, 0.0, 0.0 }, 0.4 },
		{ { 0.0, 1.5, 0.0 }, { 0.0, 1.0, 0.0 }, 0.5 },   { { 0.2, -1.9, 0.0 }, { 0.0, -1.0, 0.0 }, 0.1 },
		{ { 0.1, 0.1, 2.99 }, { 0.0, 0.0, 1.0 }, 0.01 }, { { 0.0, 0.0, -3.0 }, { 0.0, 0.0, -1.0 }, 0.0 },
		{ { 0.0, 0.0, 0.0 }, { 1.0, 0.0, 0.0 }, 1.0 },   { { 1.0, 0.5, 0.5 }, { 1.0, 0.0, 0.0 }, 0.0 },
	};
	for (int n = 0; n < (int)(sizeof(cases) / sizeof(cases[0])); ++n) {
		knContactPoint point;
		knFrame at = knMakeFrame(cases[n].center, knIdentityQ());
		assert_int_equal(knCollide_Pair(sphere, at, box, knIdentityF(), 0.0, &point, 1), 1);
		assert_near(point.separation, -cases[n].depth - 0.1, 1e-12);
		assert_near3(point.normal, knNeg(cases[n].outward), 1e-12); // from the sphere to the box
		assertContacts(sphere, at, box, knIdentityF(), 0.0, &point, 1);
	}
	knGeom_Release(sphere);
	knGeom_Release(box);
}

static void sphereMeetsThePlaneAtItsLowestPoint(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	knGeom* plane = knGeom_Plane(NULL, NULL);
	knGeom* sphere = knGeom_Sphere(0.5, NULL, NULL);
	for (int n = 0; n < 200; ++n) {
		knFrame ground = testFrame(&random, 3.0);
		double height = testUniform(&random, -1.0, 0.9);
		knVec3 local = knV3(testUniform(&random, -3.0, 3.0), testUniform(&random, -3.0, 3.0), height);
		knFrame at = knMakeFrame(knPoint(ground, local), testQuat(&random));
		knContactPoint point;
		int count = knCollide_Pair(sphere, at, plane, ground, 0.2, &point, 1);
		assert_int_equal(count, height - 0.5 < 0.2);
		if (count == 1) {
			assertContacts(sphere, at, plane, ground, 0.2, &point, 1);
			assert_near(point.separation, height - 0.5, 1e-12);
			assert_near3(point.normal, knRotate(ground.q, knV3(0.0, 0.0, -1.0)), 1e-12);
			assertSwapped(sphere, at, plane, ground, 0.2, &point, 1, 1e-12);
		}
	}
	knGeom_Release(sphere);
	knGeom_Release(plane);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(randomPosesAgreeWithBruteForce),
		cmocka_unit_test(concentricSpheresSeparateUpward),
		cmocka_unit_test(sphereOnACapsulesAxisLeavesSideways),
		cmocka_unit_test(sphereInsideABoxLeavesThroughTheNearestFace),
		cmocka_unit_test(sphereMeetsThePlaneAtItsLowestPoint),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
