// Capsule against box: the exact signed distance, outside and inside.
#include "collide/pair_oracle.h"

typedef struct Pose {
	knGeom *capsule, *box;
	knFrame frameA, frameB;
} Pose;

// Thin capsules reach deep into the box with their cores; every third is nearly parallel to an axis of the
// box.
static Pose randomPose(knTestRandom* random, double scale) {
	Pose pose;
	double radius = testUniform(random, 0.02, 0.5), length = testUniform(random, 0.1, 1.5);
	pose.capsule = knGeom_Capsule(scale * radius, scale * length, NULL, NULL);
	knVec3 half =
		knV3(testUniform(random, 0.2, 1.0), testUniform(random, 0.2, 1.0), testUniform(random, 0.2, 1.0));
	pose.box = knGeom_Box(knScale(scale, half), NULL, NULL);
	pose.frameB = testFrame(random, 2.0 * scale);
	knFrame relative = testFrame(random, 1.6 * scale);
	if (testInt(random, 3) == 0) {
		double tilt = testUniform(random, 0.0, 1.0);
		relative.q = knQuat_Exp(knScale(0.2 * tilt * tilt * tilt, testUnit3(random)));
	}
	pose.frameA = knMulF(pose.frameB, relative);
	return pose;
}

static void release(Pose* pose) {
	knGeom_Release(pose->capsule);
	knGeom_Release(pose->box);
}

static void separationIsTheSignedDistance(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	const double scales[] = { 1.0, 1e-4, 1e4 };
	int outside = 0, shallow = 0, deep = 0, exactOnes = 0, inside = 0;
	for (int n = 0; n < 6000; ++n) {
		double scale = scales[n % 3], margin = 0.3 * scale;
		Pose pose = randomPose(&random, scale);
		double exact = oracleDistance(pose.capsule, pose.frameA, pose.box, pose.frameB);
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(pose.capsule, pose.frameA, pose.box, pose.frameB, margin, points, 4);
		assertContacts(pose.capsule, pose.frameA, pose.box, pose.frameB, margin, points, count);
		assert_int_equal(count > 0, exact < margin);
		if (count > 0) {
			double deepest = deepestOf(points, count), radius = knGeom_Size(pose.capsule).x;
			if (exact > -radius) { // the core is outside
				assert_near(deepest, exact, 1.01e-5 * scale);
			} else {
				double size = fmin(oracleSize(pose.capsule), oracleSize(pose.box));
				assert_near(deepest, exact, 1.01e-3 * size);
				inside += 1;
				exactOnes += fabs(deepest - exact) < 1e-9 * scale;
			}
			outside += exact > 0.0;
			shallow += exact < 0.0 && exact > -radius;
			deep += exact < -radius;
			knFrame out = pose.frameB;
			out.p = knMulAdd(out.p, -deepest, points[0].normal);
			assert_true(oracleDistance(pose.capsule, pose.frameA, pose.box, out) > -1.01e-3 * scale);
		}
		release(&pose);
	}
	assert_true(outside > 300 && shallow > 300 && deep > 300);
	assert_true(exactOnes > 0.95 * inside);
}

static void symmetriesHold(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	for (int n = 0; n < 3000; ++n) {
		Pose pose = randomPose(&random, 1.0);
		knFrame motion = testFrame(&random, 5.0);
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(pose.capsule, pose.frameA, pose.box, pose.frameB, 0.2, points, 4);
		assertSwapped(pose.capsule, pose.frameA, pose.box, pose.frameB, 0.2, points, count, 1e-12);
		assertCarried(pose.capsule, pose.frameA, pose.box, pose.frameB, 0.2, motion, points, count, 1e-9);
		release(&pose);
	}
}

// Lying on a box that is shorter than the capsule: contacts at the box's edges.
static void lyingCapsuleHasTwoContacts(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	knGeom* capsule = knGeom_Capsule(0.2, 1.0, NULL, NULL);
	knGeom* box = knGeom_Box(knV3(0.5, 0.5, 0.5), NULL, NULL);
	knQuat lying = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), KN_PI / 2.0);
	uint64_t names[2] = { 0, 0 };
	for (int step = 0; step < 1000; ++step) {
		double gap = step % 2 == 0 ? -0.001 : 0.001;
		knFrame shake = knMakeFrame(testVec3(&random, 1e-9), knQuat_Exp(testVec3(&random, 1e-9)));
		knFrame frameA = knMulF(shake, knMakeFrame(knV3(0.1, 0.0, 0.7 + gap), lying));
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(capsule, frameA, box, knIdentityF(), 0.01, points, 4);
		assert_int_equal(count, 2);
		for (int i = 0; i < 2; ++i) {
			assert_near(points[i].separation, gap, 1e-7);
			assert_near(fabs(points[i].pointB.x), 0.5, 1e-7);
			assert_near3(points[i].normal, knV3(0.0, 0.0, -1.0), 1e-7);
			assert_true(step == 0 || points[i].feature == names[i]);
			names[i] = points[i].feature;
		}
	}
	knGeom_Release(capsule);
	knGeom_Release(box);
}

static void capsuleThroughABoxLeavesTheShortestWay(void** state) {
	(void)state;
	knGeom* capsule = knGeom_Capsule(0.1, 3.0, NULL, NULL);
	knGeom* box = knGeom_Box(knV3(0.5, 1.0, 1.0), NULL, NULL);
	knContactPoint points[KN_PAIR_MAX_POINTS];
	// along z at x = 0.3: out through x = 0.5
	knFrame frameA = knMakeFrame(knV3(0.3, 0.0, 0.0), knIdentityQ());
	int count = knCollide_Pair(capsule, frameA, box, knIdentityF(), 0.0, points, 4);
	assert_int_equal(count, 2);
	for (int i = 0; i < 2; ++i) {
		assert_near(points[i].separation, -0.3, 1e-12);
		assert_near3(points[i].normal, knV3(-1.0, 0.0, 0.0), 1e-12);
		assert_near(fabs(points[i].pointB.z), 1.0, 1e-12);
	}
	knGeom_Release(capsule);
	knGeom_Release(box);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(separationIsTheSignedDistance),
		cmocka_unit_test(symmetriesHold),
		cmocka_unit_test(lyingCapsuleHasTwoContacts),
		cmocka_unit_test(capsuleThroughABoxLeavesTheShortestWay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
