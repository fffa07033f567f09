// Capsule against capsule and plane.
#include "collide/pair_oracle.h"

static knGeom* randomCapsule(knTestRandom* random, double scale) {
	return knGeom_Capsule(scale * testUniform(random, 0.05, 0.5), scale * testUniform(random, 0.1, 1.0), NULL,
						  NULL);
}

static void randomPosesAgreeWithBruteForce(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	const double scales[] = { 1.0, 1e-4, 1e4 };
	int inside = 0, two = 0;
	for (int n = 0; n < 6000; ++n) {
		double scale = scales[n % 3];
		knGeom *a = randomCapsule(&random, scale), *b = randomCapsule(&random, scale);
		knFrame frameA = testFrame(&random, 2.0 * scale);
		knFrame relative = testFrame(&random, 0.8 * scale);
		if (testInt(&random, 3) == 0) { // nearly parallel
			double tilt = testUniform(&random, 0.0, 1.0);
			relative.q = knQuat_Exp(knScale(0.2 * tilt * tilt * tilt, testUnit3(&random)));
		}
		knFrame frameB = knMulF(frameA, relative);
		double exact = oracleDistance(a, frameA, b, frameB), margin = 0.3 * scale;
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(a, frameA, b, frameB, margin, points, KN_PAIR_MAX_POINTS);
		assert_int_equal(count > 0, exact < margin);
		assertContacts(a, frameA, b, frameB, margin, points, count);
		if (count > 0) {
			assert_near(deepestOf(points, count), exact, 1.01e-6 * scale);
			inside += exact < 0.0;
			two += count == 2;
			// where nearly parallel cores are closest is known less well than how close they are
			knFrame motion = testFrame(&random, 3.0 * scale);
			assertSwapped(a, frameA, b, frameB, margin, points, count, 1e-5 * scale);
			assertCarried(a, frameA, b, frameB, margin, motion, points, count, 1e-5 * scale);
		}
		knGeom_Release(a);
		knGeom_Release(b);
	}
	assert_true(inside > 500 && two > 100);
}

static void parallelCapsulesTouchAtBothEndsOfTheirOverlap(void** state) {
	(void)state;
	knGeom* a = knGeom_Capsule(0.2, 1.0, NULL, NULL);
	knGeom* b = knGeom_Capsule(0.1, 0.75, NULL, NULL);
	knFrame frameB = knMakeFrame(knV3(0.31, 0.0, 0.5), knIdentityQ());
	for (int turned = 0; turned < 2; ++turned) {
		frameB.q =
			turned ? knQ(0.0, 1.0, 0.0, 0.0) : knIdentityQ(); // the other way round is the same capsule
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(a, knIdentityF(), b, frameB, 0.05, points, KN_PAIR_MAX_POINTS);
		assert_int_equal(count, 2);
		assert_near3(points[0].pointA, knV3(0.2, 0.0, -0.25), 1e-12);
		assert_near3(points[1].pointA, knV3(0.2, 0.0, 1.0), 1e-12);
		for (int i = 0; i < 2; ++i) {
			assert_near(points[i].separation, 0.01, 1e-12);
			assert_near3(points[i].normal, knV3(1.0, 0.0, 0.0), 1e-12);
			assert_near3(points[i].pointB, knAdd(points[i].pointA, knV3(0.01, 0.0, 0.0)), 1e-12);
		}
	}
	knGeom_Release(a);
	knGeom_Release(b);
}

static void restingCapsuleKeepsItsNames(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	knGeom* capsule = knGeom_Capsule(0.2, 1.0, NULL, NULL);
	for (int step = 0; step < 1000; ++step) {
		knFrame frameB = knMakeFrame(knAdd(knV3(0.3999, 0.0, 0.3), testVec3(&random, 1e-9)),
									 knQuat_Exp(testVec3(&random, 1e-9)));
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(capsule, knIdentityF(), capsule, frameB, 0.01, points, KN_PAIR_MAX_POINTS);
		assert_int_equal(count, 2);
		assert_near(points[0].pointA.z, -0.7, 1e-6);
		assert_near(points[1].pointA.z, 1.0, 1e-6);
		assert_true(points[0].feature == 1 && points[1].feature == 2);
	}
	knGeom_Release(capsule);
}

static void crossingAxesSeparateAcrossBoth(void** state) {
	(void)state;
	knGeom* capsule = knGeom_Capsule(0.2, 1.0, NULL, NULL);
	knFrame across = knMakeFrame(knZero3(), knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), KN_PI / 2.0));
	knContactPoint points[KN_PAIR_MAX_POINTS];
	int count = knCollide_Pair(capsule, knIdentityF(), capsule, across, 0.0, points, KN_PAIR_MAX_POINTS);
	assert_int_equal(count, 1);
	assert_near(fabs(points[0].normal.x), 1.0, 1e-12);
	assert_near(points[0].separation, -0.4, 1e-12);
	assertContacts(capsule, knIdentityF(), capsule, across, 0.0, points, count);
	// the same place and direction: any way across the axis
	count = knCollide_Pair(capsule, knIdentityF(), capsule, knIdentityF(), 0.0, points, KN_PAIR_MAX_POINTS);
	assert_int_equal(count, 2);
	assert_near(points[0].normal.z, 0.0, 1e-12);
	assert_near(points[0].separation, -0.4, 1e-12);
	knGeom_Release(capsule);
}

// --- plane ---

static void capsuleMeetsThePlaneAtItsEnds(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	knGeom* plane = knGeom_Plane(NULL, NULL);
	for (int n = 0; n < 2000; ++n) {
		knGeom* capsule = randomCapsule(&random, 1.0);
		knVec3 size = knGeom_Size(capsule);
		knFrame ground = testFrame(&random, 3.0), relative = testFrame(&random, 0.8);
		knFrame frame = knMulF(ground, relative);
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(capsule, frame, plane, ground, 0.1, points, KN_PAIR_MAX_POINTS);
		double lowest = relative.p.z - fabs(knRotate(relative.q, knV3(0.0, 0.0, size.y)).z) - size.x;
		assert_int_equal(count > 0, lowest < 0.1);
		assertContacts(capsule, frame, plane, ground, 0.1, points, count);
		if (count > 0) {
			assert_near(deepestOf(points, count), lowest, 1e-12);
			assertSwapped(capsule, frame, plane, ground, 0.1, points, count, 1e-12);
		}
		knGeom_Release(capsule);
	}
	knGeom_Release(plane);
}

static void lyingCapsuleHasTwoContactsAndAStandingOneHasOne(void** state) {
	(void)state;
	knGeom* plane = knGeom_Plane(NULL, NULL);
	knGeom* capsule = knGeom_Capsule(0.2, 1.0, NULL, NULL);
	knContactPoint points[KN_PAIR_MAX_POINTS];
	knFrame lying = knMakeFrame(knV3(0.0, 0.0, 0.19), knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), KN_PI / 2.0));
	assert_int_equal(knCollide_Pair(capsule, lying, plane, knIdentityF(), 0.0, points, 4), 2);
	assert_near3(points[0].pointA, knV3(-1.0, 0.0, -0.01), 1e-12);
	assert_near3(points[1].pointA, knV3(1.0, 0.0, -0.01), 1e-12);
	knFrame standing = knMakeFrame(knV3(0.0, 0.0, 1.19), knIdentityQ());
	assert_int_equal(knCollide_Pair(capsule, standing, plane, knIdentityF(), 10.0, points, 4), 1);
	assert_near3(points[0].pointA, knV3(0.0, 0.0, -0.01), 1e-12);
	knGeom_Release(plane);
	knGeom_Release(capsule);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(randomPosesAgreeWithBruteForce),
		cmocka_unit_test(parallelCapsulesTouchAtBothEndsOfTheirOverlap),
		cmocka_unit_test(restingCapsuleKeepsItsNames),
		cmocka_unit_test(crossingAxesSeparateAcrossBoth),
		cmocka_unit_test(capsuleMeetsThePlaneAtItsEnds),
		cmocka_unit_test(lyingCapsuleHasTwoContactsAndAStandingOneHasOne),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
