// Key frames: whatever was left out follows from what was kept, by either kind of interpolation.
#include "record/glb_keys.h"
#include "support/kn_test.h"

#define MAX 2000

typedef struct Motion {
	knGlbPose poses[MAX];
	float times[MAX];
	int keys[MAX];
	knGlbCurve curve;
} Motion;

static Motion motion;

static void addPose(knVec3 position, knQuat rotation, double time) {
	int k = motion.curve.count++;
	motion.poses[k] = knGlbPose_Make(position, rotation, k > 0 ? &motion.poses[k - 1] : NULL);
	motion.times[k] = (float)time;
	motion.curve.poses = motion.poses;
	motion.curve.times = motion.times;
}

static knVec3 positionAt(int k) {
	const float* p = motion.poses[k].position;
	return knV3((double)p[0], (double)p[1], (double)p[2]);
}

static double fraction(int a, int b, int k) {
	return ((double)motion.times[k] - (double)motion.times[a]) /
		   ((double)motion.times[b] - (double)motion.times[a]);
}

static void assertKeys(int count) {
	assert_true(count >= 2);
	assert_int_equal(motion.keys[0], 0);
	assert_int_equal(motion.keys[count - 1], motion.curve.count - 1);
}

static void assertPositions(int count, double tolerance) {
	assertKeys(count);
	for (int n = 0; n + 1 < count; ++n) {
		int a = motion.keys[n], b = motion.keys[n + 1];
		assert_true(b > a);
		for (int k = a; k <= b; ++k) {
			knVec3 guess = knLerp(positionAt(a), positionAt(b), fraction(a, b, k));
			assert_true(knDistance(guess, positionAt(k)) <= tolerance * (1.0 + 1e-9));
		}
	}
}

static void assertRotations(int count, double tolerance) {
	assertKeys(count);
	for (int n = 0; n + 1 < count; ++n) {
		int a = motion.keys[n], b = motion.keys[n + 1];
		knQuat qa = knGlbPose_Rotation(&motion.poses[a]), qb = knGlbPose_Rotation(&motion.poses[b]);
		assert_true(knDotQ(qa, qb) >= 0.0);
		for (int k = a; k <= b; ++k) {
			double s = fraction(a, b, k);
			knQuat exact = knGlbPose_Rotation(&motion.poses[k]);
			knQuat slerp = knMulQ(qa, knQuat_Exp(knScale(s, knQuat_Log(knInvMulQ(qa, qb)))));
			knQuat lerp = knNormalizeQ(knQ((1.0 - s) * qa.w + s * qb.w, (1.0 - s) * qa.x + s * qb.x,
										   (1.0 - s) * qa.y + s * qb.y, (1.0 - s) * qa.z + s * qb.z));
			assert_true(knLength(knQuat_Log(knInvMulQ(exact, slerp))) < 1.6 * tolerance);
			assert_true(knLength(knQuat_Log(knInvMulQ(exact, lerp))) < 1.1 * tolerance);
		}
	}
}

// Pieces of rest, of even motion, of flight and of noise, with uneven times.
static void makeMotion(uint64_t seed, int count) {
	knTestRandom random = { seed };
	motion.curve.count = 0;
	double time = 0.0;
	knVec3 p = knZero3(), v = knZero3(), w = knZero3();
	knQuat q = testQuat(&random);
	for (int k = 0; k < count; ++k) {
		addPose(p, q, time);
		double dt = testUniform(&random, 0.005, 0.02);
		if (testInt(&random, 40) == 0) {
			v = testInt(&random, 2) == 0 ? knZero3() : testVec3(&random, 2.0);
			w = testInt(&random, 2) == 0 ? knZero3()
										 : testVec3(&random, testInt(&random, 3) == 0 ? 60.0 : 3.0);
		}
		if (testInt(&random, 5) == 0 && k > count / 2) {
			v = knAdd(v, testVec3(&random, 0.5));
		}
		p = knMulAdd(p, dt, v);
		q = knNormalizeQ(knMulQ(knQuat_Exp(knScale(dt, w)), q));
		time += dt;
	}
}

static void everyPoseFollowsFromTheKeys(void** state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 10; ++seed) {
		makeMotion(seed, MAX);
		assertPositions(knGlbCurve_PositionKeys(&motion.curve, 1e-4, motion.keys), 1e-4);
		int count = knGlbCurve_RotationKeys(&motion.curve, 1e-4, motion.keys);
		assertRotations(count, 1e-4);
		assert_true(count < MAX);
	}
	makeMotion(3, 2);
	addPose(knV3(9.0, 0.0, 0.0), testQuat(&(knTestRandom){ 2 }), 100.0);
	assertPositions(knGlbCurve_PositionKeys(&motion.curve, 1e-9, motion.keys), 1e-9);
}

// Rest needs nothing, next to nothing and even motion two keys; tolerances count.
static void simpleMotionNeedsFewKeys(void** state) {
	(void)state;
	motion.curve.count = 0;
	for (int k = 0; k < MAX; ++k) {
		addPose(knV3(1.0, 2.0, 3.0 + 1e-6 * (k % 2)), knIdentityQ(), 0.01 * k);
	}
	assert_int_equal(knGlbCurve_PositionKeys(&motion.curve, 1e-5, motion.keys), 2);
	assert_int_equal(knGlbCurve_RotationKeys(&motion.curve, 1e-5, motion.keys), 0);
	assert_true(knGlbCurve_PositionKeys(&motion.curve, 1e-8, motion.keys) > MAX / 2);

	motion.curve.count = 0;
	for (int k = 0; k < MAX; ++k) {
		addPose(knV3(0.25 * k, 0.0, 1.0), knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), 0.001 * k), 0.01 * k);
	}
	assert_int_equal(knGlbCurve_PositionKeys(&motion.curve, 1e-3, motion.keys), 2);
	int count = knGlbCurve_RotationKeys(&motion.curve, 1e-4, motion.keys);
	assertRotations(count, 1e-4);
	assert_true(count < 30);

	motion.curve.count = 1;
	assert_int_equal(knGlbCurve_PositionKeys(&motion.curve, 1e-5, motion.keys), 0);
}

// A rotation goes to 16 bits and back within 6e-5 rad, and q and -q are one.
static void rotationsSurviveSixteenBits(void** state) {
	(void)state;
	knTestRandom random = { 5 };
	knGlbPose before = knGlbPose_Make(knZero3(), knIdentityQ(), NULL);
	for (int k = 0; k < 2000; ++k) {
		knQuat q = testQuat(&random);
		knGlbPose pose = knGlbPose_Make(knZero3(), q, &before);
		knGlbPose other = knGlbPose_Make(knZero3(), knNegQ(q), &before);
		assert_true(knLength(knQuat_Log(knInvMulQ(q, knGlbPose_Rotation(&pose)))) < 6.2e-5);
		assert_memory_equal(pose.rotation, other.rotation, sizeof(pose.rotation));
		assert_true(knDotQ(knGlbPose_Rotation(&pose), knGlbPose_Rotation(&before)) > -1e-4);
		before = pose;
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everyPoseFollowsFromTheKeys),
		cmocka_unit_test(simpleMotionNeedsFewKeys),
		cmocka_unit_test(rotationsSurviveSixteenBits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
