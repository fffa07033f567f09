// Reach cones: soundness, inside and outside, room and its rate, the closest frame within them.
#include "joint_cases.h"

#include "model/joint_parts.h"
#include "model/joint_reach.h"

#define CONES 3

// A triangle, an arrowhead that is not convex, and a wide polygon of many corners.
static knJoint coneOf(int which) {
	static const double arrow[4][2] = { { 0.9, 0.1 }, { -0.6, 0.8 }, { -0.15, 0.0 }, { -0.6, -0.7 } };
	static const double triangle[3][2] = { { 0.7, 0.2 }, { -0.5, 0.6 }, { -0.2, -0.8 } };
	knJoint joint = testJoint(KN_JOINT_BALL);
	joint.reachCount = which == 0 ? 3 : (which == 1 ? 4 : 11);
	for (int i = 0; i < joint.reachCount; ++i) {
		const double a = 2.0 * KN_PI * i / joint.reachCount, wide = 1.3 + 0.5 * sin(3.0 * a);
		knVec3 corner = knV3(cos(wide), sin(wide) * cos(a), sin(wide) * sin(a));
		if (which < 2) {
			const double* at = which == 0 ? triangle[i] : arrow[i];
			corner = knV3(1.0, at[0], at[1]);
		}
		joint.reach[i] = knNormalize(corner);
	}
	return joint;
}

static knVec3 directionOf(knQuat q) {
	return knRotate(q, knV3(1.0, 0.0, 0.0));
}

static void test_soundness(void** state) {
	(void)state;
	for (int which = 0; which < CONES; ++which) {
		knJoint joint = coneOf(which);
		assert_true(knReachCone_IsSound(joint.reach, joint.reachCount));
		assert_false(knReachCone_IsSound(joint.reach, 2));
		knVec3 turned[KN_REACH_MOST]; // clockwise
		for (int i = 0; i < joint.reachCount; ++i) {
			turned[i] = joint.reach[joint.reachCount - 1 - i];
		}
		assert_false(knReachCone_IsSound(turned, joint.reachCount));
		joint.reach[1].y = (double)NAN;
		assert_false(knReachCone_IsSound(joint.reach, joint.reachCount));
	}
}

// The room against a scan of the boundary, and its sign against the winding of the corners seen from the direction.
static void test_room_is_the_distance_to_the_boundary(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	for (int n = 0; n < 300; ++n) {
		knJoint joint = coneOf(n % CONES);
		const knVec3 d = directionOf(testQuat(&random));
		knVec3 inward;
		const double room = knReachCone_Room(&joint, d, &inward);
		double least = 10.0, winding = 0.0;
		for (int i = 0; i < joint.reachCount; ++i) {
			const knVec3 a = joint.reach[i], b = joint.reach[(i + 1) % joint.reachCount];
			for (int k = 0; k <= 400; ++k) {
				const knVec3 c = knNormalize(knLerp(a, b, k / 400.0));
				least = knMin(least, knAtan2(knLength(knCross(c, d)), knDot(c, d)));
			}
			const knVec3 fa = knMulAdd(a, -knDot(a, d), d), fb = knMulAdd(b, -knDot(b, d), d);
			winding += knAtan2(knDot(d, knCross(fa, fb)), knDot(fa, fb));
		}
		assert_near(knAbs(room), least, 1e-3);
		// on the far side of the sphere the corners go around the other way, or not at all
		const bool inside = winding > KN_PI;
		assert_true(least < 1e-3 || (room > 0.0) == inside);
		assert_near(knLength(inward), 1.0, 1e-12);
		assert_near(knDot(inward, d), 0.0, 1e-12);
	}
}

static void test_row_is_the_rate_of_room(void** state) {
	(void)state;
	knTestRandom random = { 4 };
	const double h = 1e-6;
	int compared = 0;
	for (int n = 0; n < 400; ++n) {
		knJoint joint = coneOf(n % CONES);
		const knFrame J = knMakeFrame(knZero3(), testQuat(&random));
		const knVec3 w = testVec3(&random, 1.0);
		knJointLimit limits[KN_JOINT_MAX_LIMITS], more[KN_JOINT_MAX_LIMITS], less[KN_JOINT_MAX_LIMITS];
		const knFrame after = knMakeFrame(knZero3(), knMulQ(knQuat_Exp(knScale(h, w)), J.q));
		const knFrame before = knMakeFrame(knZero3(), knMulQ(knQuat_Exp(knScale(-h, w)), J.q));
		assert_int_equal(knJoint_Limits(&joint, J, NULL, 10.0, limits), 1);
		knJoint_Limits(&joint, after, NULL, 10.0, more);
		knJoint_Limits(&joint, before, NULL, 10.0, less);
		const double rate = 0.5 * (more[0].distance - less[0].distance) / h;
		// where the closest side changes, the room has a kink
		const double bend = more[0].distance - 2.0 * limits[0].distance + less[0].distance;
		if (knAbs(bend) < 1e-9) {
			assert_near(rate, knDot(limits[0].row.ang, w), 1e-4);
			compared += 1;
		}
	}
	assert_true(compared > 350);
}

// Never worse than random frames within the limits.
static void test_projection_is_closest(void** state) {
	(void)state;
	knTestRandom random = { 5 };
	for (int n = 0; n < 60; ++n) {
		knJoint joint = coneOf(n % CONES);
		joint.twistLimited = n % 2 == 1;
		joint.twistLower = -0.4;
		joint.twistUpper = 0.7;
		const knFrame J = knMakeFrame(knZero3(), testQuat(&random));
		const knFrame allowed = knJoint_ProjectLimits(&joint, J, NULL);
		knJointLimit limits[KN_JOINT_MAX_LIMITS];
		const int count = knJoint_Limits(&joint, allowed, NULL, 10.0, limits);
		for (int k = 0; k < count; ++k) {
			assert_true(limits[k].distance > -1e-9);
		}
		const double like = knAbs(knDotQ(allowed.q, J.q));
		for (int m = 0; m < 3000; ++m) {
			// near the projection, and anywhere
			const knQuat small = knQuat_Exp(testVec3(&random, m % 2 == 0 ? 0.1 : 3.0));
			const knFrame other = knMakeFrame(knZero3(), knMulQ(small, allowed.q));
			bool within = true;
			const int found = knJoint_Limits(&joint, other, NULL, 10.0, limits);
			for (int k = 0; k < found; ++k) {
				within = within && limits[k].distance >= 0.0;
			}
			assert_true(!within || knAbs(knDotQ(other.q, J.q)) <= like + 1e-9);
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_soundness),
		cmocka_unit_test(test_room_is_the_distance_to_the_boundary),
		cmocka_unit_test(test_row_is_the_rate_of_room),
		cmocka_unit_test(test_projection_is_closest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
