// A user's black-box joint: locked rows found by probing equal those known from geometry or from a built-in
// joint.
#include "model/joint_cases.h"

// --- a point of the child confined to a sphere about the parent's joint origin ---

static knFrame sphereState(knFrame joint, void* context) {
	double radius = *(const double*)context;
	knVec3 n = knNormalize(joint.p);
	joint.p = knScale(radius, knLengthSquared(n) > 0.0 ? n : knV3(1, 0, 0));
	return joint;
}

static knTwist sphereVelocity(knFrame joint, knTwist velocity, void* context) {
	(void)context;
	knVec3 n = knNormalize(joint.p);
	velocity.lin = knMulAdd(velocity.lin, -knDot(n, velocity.lin), n);
	return velocity;
}

// --- a hinge about x, as a user would write it ---

static knFrame hingeState(knFrame joint, void* context) {
	(void)context;
	return knMakeFrame(knZero3(), knNormalizeQ(knQ(joint.q.w, joint.q.x, 0.0, 0.0)));
}

static knTwist hingeVelocity(knFrame joint, knTwist velocity, void* context) {
	(void)joint, (void)context;
	return knMakeTwist(knV3(velocity.ang.x, 0.0, 0.0), knZero3());
}

// --- a screw: turning advances; the projection is oblique (it keeps the turn), not orthogonal ---

static knTwist screwVelocity(knFrame joint, knTwist velocity, void* context) {
	(void)joint;
	double pitch = *(const double*)context;
	return knMakeTwist(knV3(velocity.ang.x, 0.0, 0.0), knV3(pitch * velocity.ang.x, 0.0, 0.0));
}

static knTwist brokenVelocity(knFrame joint, knTwist velocity, void* context) {
	(void)joint, (void)context;
	velocity.lin = knV3(nan(""), nan(""), nan(""));
	return velocity;
}

static void test_point_on_sphere_locks_the_radius(void** unused) {
	(void)unused;
	knTestRandom random = { 1 };
	double radius = 1.5;
	knCustomJoint custom = { sphereState, sphereVelocity, &radius };
	for (int trial = 0; trial < 50; ++trial) {
		knFrame J = sphereState(testFrame(&random, 2.0), &radius);
		knTwist rows[6];
		assert_int_equal(knJoint_ProbeLockedRows(&custom, J, rows), 1);
		assert_near3(rows[0].ang, knZero3(), 1e-12);
		assert_near(fabs(knDot(rows[0].lin, knNormalize(J.p))), 1.0, 1e-12);
	}
}

// Removing from each of A's rows its part along B leaves nothing.
static void assertSameSpan(const knTwist* a, const knTwist* b, int count) {
	for (int i = 0; i < count; ++i) {
		knTwist rest = a[i];
		for (int k = 0; k < count; ++k) {
			rest = knMulAddT(rest, -knDotT(a[i], b[k]), b[k]);
		}
		assert_near(testTwistLength(rest), 0.0, 1e-12);
	}
}

static void test_users_hinge_equals_the_built_in_one(void** unused) {
	(void)unused;
	knTestRandom random = { 2 };
	knJoint user = testJoint(KN_JOINT_CUSTOM), builtIn = testJoint(KN_JOINT_HINGE);
	user.custom = (knCustomJoint){ hingeState, hingeVelocity, NULL };
	const knJointOps *a = knJointOps_Get(KN_JOINT_CUSTOM), *b = knJointOps_Get(KN_JOINT_HINGE);
	for (int trial = 0; trial < 50; ++trial) {
		knFrame J = testFrame(&random, 1.0);
		knTwist rowsA[6], rowsB[6];
		assert_int_equal(a->lockedRows(&user, J, rowsA), 5);
		assert_int_equal(b->lockedRows(&builtIn, J, rowsB), 5);
		assertSameSpan(rowsA, rowsB, 5);
		for (int i = 0; i < 5; ++i) {
			for (int k = 0; k < 5; ++k) {
				assert_near(knDotT(rowsA[i], rowsA[k]), i == k ? 1.0 : 0.0, 1e-13);
			}
		}
		knFrame projectedA = a->projectState(&user, J), projectedB = b->projectState(&builtIn, J);
		assert_near(testAngleBetween(projectedA.q, projectedB.q), 0.0, 1e-14);
		assert_near3(projectedA.p, projectedB.p, 0.0);
		knTwist V = knMakeTwist(testVec3(&random, 1.0), testVec3(&random, 1.0));
		knTwist difference =
			knSubT(knJoint_ProjectVelocity(&user, J, V), knJoint_ProjectVelocity(&builtIn, J, V));
		assert_near(testTwistLength(difference), 0.0, 1e-15);
	}
}

// The rows must annihilate what the projection lets through, also when it is not an orthogonal one.
static void test_oblique_projection(void** unused) {
	(void)unused;
	double pitch = 0.3;
	knCustomJoint custom = { hingeState, screwVelocity, &pitch };
	knTwist rows[6];
	assert_int_equal(knJoint_ProbeLockedRows(&custom, knIdentityF(), rows), 5);
	knTwist screw = knMakeTwist(knV3(1, 0, 0), knV3(pitch, 0, 0));
	for (int i = 0; i < 5; ++i) {
		assert_near(knDotT(rows[i], screw), 0.0, 1e-14);
	}
}

static void test_nonsense_locks_nothing(void** unused) {
	(void)unused;
	knCustomJoint custom = { hingeState, brokenVelocity, NULL };
	knTwist rows[6];
	assert_int_equal(knJoint_ProbeLockedRows(&custom, knIdentityF(), rows), 0);
}

// Its motion-subspace side is that of a free joint.
static void test_coordinates_are_those_of_a_free_joint(void** unused) {
	(void)unused;
	knTestRandom random = { 3 };
	double radius = 1.0, q[7], previous[7] = { 0, 0, 0, 1, 0, 0, 0 };
	knJoint joint = testJoint(KN_JOINT_CUSTOM);
	joint.custom = (knCustomJoint){ sphereState, sphereVelocity, &radius };
	const knJointOps* ops = knJointOps_Get(KN_JOINT_CUSTOM);
	knFrame J = testFrame(&random, 2.0);
	ops->coordinates(&joint, J, previous, q);
	knFrame back = ops->transform(&joint, q);
	assert_near3(back.p, J.p, 0.0);
	assert_near(testAngleBetween(back.q, J.q), 0.0, 1e-15);
	knTwist V = knMakeTwist(testVec3(&random, 1.0), testVec3(&random, 1.0)), S[6];
	double qd[6];
	knJoint_Velocities(&joint, J, q, V, qd);
	ops->subspace(&joint, q, S);
	assert_near(testTwistLength(knSubT(knRotateT(J.q, testSumColumns(S, qd, 6)), V)), 0.0, 1e-14);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_point_on_sphere_locks_the_radius),
		cmocka_unit_test(test_users_hinge_equals_the_built_in_one),
		cmocka_unit_test(test_oblique_projection),
		cmocka_unit_test(test_nonsense_locks_nothing),
		cmocka_unit_test(test_coordinates_are_those_of_a_free_joint),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
