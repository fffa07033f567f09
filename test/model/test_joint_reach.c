// Reach cones: soundness, inside and outside, room and its rate, the closest frame within them; twist limits that differ
// from corner to corner.
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
		knVec3 turned[KN_REACH_MAX]; // clockwise
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

// --- twist limits of the corners -------------------------------------------------------------------------

// Random ranges at x and at the corners.
static knJoint twistedCone(int which, knTestRandom* random) {
	knJoint joint = coneOf(which);
	joint.twistLimited = joint.reachTwisted = true;
	joint.twistLower = testUniform(random, -0.8, 0.0);
	joint.twistUpper = joint.twistLower + testUniform(random, 0.1, 1.5);
	for (int i = 0; i < joint.reachCount; ++i) {
		joint.reachLower[i] = testUniform(random, -0.8, 0.3);
		joint.reachUpper[i] = joint.reachLower[i] + testUniform(random, 0.0, 1.5);
	}
	return joint;
}

// A direction inside the triangle of side i, by weights of x and its two corners.
static knVec3 insideOf(const knJoint* joint, int i, const double w[3]) {
	const knVec3 a = joint->reach[i], b = joint->reach[(i + 1) % joint->reachCount];
	return knNormalize(knAdd(knScale(w[0], knV3(1.0, 0.0, 0.0)), knAdd(knScale(w[1], a), knScale(w[2], b))));
}

// Given values at x and at the corners; along sides and in triangles linear in the weights; beyond a side as on it.
static void test_twist_range_interpolates(void** state) {
	(void)state;
	knTestRandom random = { 6 };
	for (int n = 0; n < 60; ++n) {
		const knJoint joint = twistedCone(n % CONES, &random);
		knTwistRange at = knReachCone_TwistRange(&joint, knV3(1.0, 0.0, 0.0));
		assert_near(at.lower, joint.twistLower, 1e-14);
		assert_near(at.upper, joint.twistUpper, 1e-14);
		for (int i = 0; i < joint.reachCount; ++i) {
			const int next = (i + 1) % joint.reachCount;
			at = knReachCone_TwistRange(&joint, joint.reach[i]);
			assert_near(at.lower, joint.reachLower[i], 1e-12);
			assert_near(at.upper, joint.reachUpper[i], 1e-12);
			for (int inside = 0; inside < 2; ++inside) {
				double w[3] = { inside ? testUniform(&random, 0.0, 1.0) : 0.0, testUniform(&random, 0.0, 1.0),
								0.0 };
				w[2] = testUniform(&random, 0.01, 1.0);
				const double sum = w[0] + w[1] + w[2];
				at = knReachCone_TwistRange(&joint, insideOf(&joint, i, w));
				assert_near(
					at.lower,
					(w[0] * joint.twistLower + w[1] * joint.reachLower[i] + w[2] * joint.reachLower[next]) /
						sum,
					1e-12);
				assert_near(
					at.upper,
					(w[0] * joint.twistUpper + w[1] * joint.reachUpper[i] + w[2] * joint.reachUpper[next]) /
						sum,
					1e-12);
				assert_true(at.lower <= at.upper);
				w[0] = -0.2 * w[1];
				at = knReachCone_TwistRange(&joint, insideOf(&joint, i, w));
				assert_near(at.lower,
							(w[1] * joint.reachLower[i] + w[2] * joint.reachLower[next]) / (w[1] + w[2]),
							1e-12);
			}
		}
	}
}

// A small turn anywhere changes the range by little.
static void test_twist_range_is_continuous(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	for (int n = 0; n < 3000; ++n) {
		const knJoint joint = twistedCone(n % CONES, &random);
		const int side = testInt(&random, joint.reachCount);
		// half of them across a ray of the fan or across a side
		const double w[3] = { testUniform(&random, 0.0, 1.0), 1.0,
							  n % 4 == 0 ? 0.0 : testUniform(&random, 0.0, 1.0) };
		const double onSide[3] = { 0.0, w[0], w[2] };
		const knVec3 d = insideOf(&joint, side, n % 4 == 1 ? onSide : w);
		const knVec3 e = knRotate(knQuat_Exp(testVec3(&random, 1e-9)), d);
		const knTwistRange here = knReachCone_TwistRange(&joint, d),
						   there = knReachCone_TwistRange(&joint, e);
		assert_near(here.lower, there.lower, 1e-6);
		assert_near(here.upper, there.upper, 1e-6);
	}
}

// Corners with the joint's own range are a joint with a constant one.
static void test_equal_twist_ranges_are_one(void** state) {
	(void)state;
	knTestRandom random = { 8 };
	for (int n = 0; n < 200; ++n) {
		knJoint plain = coneOf(n % CONES), twisted;
		plain.twistLimited = true;
		plain.twistLower = -0.4;
		plain.twistUpper = n % 5 == 0 ? -0.4 : 0.7;
		twisted = plain;
		twisted.reachTwisted = true;
		for (int i = 0; i < plain.reachCount; ++i) {
			twisted.reachLower[i] = plain.twistLower;
			twisted.reachUpper[i] = plain.twistUpper;
		}
		const knFrame J = knMakeFrame(knZero3(), testQuat(&random));
		knJointLimit a[KN_JOINT_MAX_LIMITS], b[KN_JOINT_MAX_LIMITS];
		const int count = knJoint_Limits(&plain, J, NULL, 10.0, a);
		assert_int_equal(knJoint_Limits(&twisted, J, NULL, 10.0, b), count);
		for (int k = 0; k < count; ++k) {
			assert_int_equal(a[k].axis, b[k].axis);
			assert_near(a[k].distance, b[k].distance, 1e-12);
			assert_near3(a[k].row.ang, b[k].row.ang, 1e-12);
		}
		const knQuat p = knJoint_ProjectLimits(&plain, J, NULL).q,
					 t = knJoint_ProjectLimits(&twisted, J, NULL).q;
		assert_near(knAbs(knDotQ(t, J.q)), knAbs(knDotQ(p, J.q)), 1e-12);
	}
}

// Rows of all limits against central differences of their rooms.
static void test_twisted_rows_are_rates(void** state) {
	(void)state;
	knTestRandom random = { 9 };
	const double h = 1e-6;
	int compared = 0;
	for (int n = 0; n < 1000; ++n) {
		const knJoint joint = twistedCone(n % CONES, &random);
		const knFrame J = knMakeFrame(knZero3(), testQuat(&random));
		const knVec3 w = testVec3(&random, 1.0);
		knJointLimit limits[KN_JOINT_MAX_LIMITS], more[KN_JOINT_MAX_LIMITS], less[KN_JOINT_MAX_LIMITS];
		const knFrame after = knMakeFrame(knZero3(), knMulQ(knQuat_Exp(knScale(h, w)), J.q));
		const knFrame before = knMakeFrame(knZero3(), knMulQ(knQuat_Exp(knScale(-h, w)), J.q));
		assert_int_equal(knJoint_Limits(&joint, J, NULL, 10.0, limits), 3);
		assert_int_equal(knJoint_Limits(&joint, after, NULL, 10.0, more), 3);
		assert_int_equal(knJoint_Limits(&joint, before, NULL, 10.0, less), 3);
		const double size = 1.0 + knLength(limits[1].row.ang);
		for (int k = 0; k < 3; ++k) {
			const double rate = 0.5 * (more[k].distance - less[k].distance) / h;
			// a kink where the triangle changes, a jump where the turn does; near the far pole all is steep
			const double bend = more[k].distance - 2.0 * limits[k].distance + less[k].distance;
			if (knAbs(bend) < 1e-9 && size < 20.0) {
				assert_near(rate, knDot(limits[k].row.ang, w), 2e-5 * size * size);
				compared += 1;
			}
		}
	}
	assert_true(compared > 2500);
}

// Within the limits, and never worse than the best of a dense scan over directions and of random frames nearby.
static void test_twisted_projection_is_closest(void** state) {
	(void)state;
	knTestRandom random = { 10 };
	for (int n = 0; n < 150; ++n) {
		const knJoint joint = twistedCone(n % CONES, &random);
		// anywhere, and a little outside
		knFrame J = knMakeFrame(knZero3(), testQuat(&random));
		if (n % 2 == 0) {
			const knQuat allowed = knJoint_ProjectLimits(&joint, J, NULL).q;
			J.q = knMulQ(knQuat_Exp(testVec3(&random, 0.02)), allowed);
		}
		const knFrame allowed = knJoint_ProjectLimits(&joint, J, NULL);
		assert_near(knDotQ(allowed.q, allowed.q), 1.0, 1e-12);
		knJointLimit limits[KN_JOINT_MAX_LIMITS];
		const int count = knJoint_Limits(&joint, allowed, NULL, 10.0, limits);
		for (int k = 0; k < count; ++k) {
			assert_true(limits[k].distance > -1e-9);
		}
		const double like = knAbs(knDotQ(allowed.q, J.q));
		for (int i = 0; i < joint.reachCount; ++i) {
			for (int a = 0; a <= 20; ++a) {
				for (int b = 0; a + b <= 20; ++b) {
					const double w[3] = { 20.0 - a - b, a, b };
					const knVec3 d = insideOf(&joint, i, w);
					const knTwistRange range = knReachCone_TwistRange(&joint, d);
					const knQuat swing = knQuat_Between(knV3(1.0, 0.0, 0.0), d);
					for (int t = 0; t <= 10; ++t) {
						const double tau = range.lower + 0.1 * t * (range.upper - range.lower);
						const knQuat q = knMulQ(swing, knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), tau));
						assert_true(knAbs(knDotQ(q, J.q)) <= like + 1e-9);
					}
				}
			}
		}
		for (int m = 0; m < 1000; ++m) {
			const knQuat small = knQuat_Exp(testVec3(&random, 0.02));
			const knFrame other = knMakeFrame(knZero3(), knMulQ(small, allowed.q));
			bool within = true;
			const int found = knJoint_Limits(&joint, other, NULL, 10.0, limits);
			for (int k = 0; k < found; ++k) {
				within = within && limits[k].distance >= 0.0;
			}
			assert_true(!within || knAbs(knDotQ(other.q, J.q)) <= like + 1e-9);
		}
		// what is within stays
		const knFrame again = knJoint_ProjectLimits(&joint, allowed, NULL);
		assert_near(knAbs(knDotQ(again.q, allowed.q)), 1.0, 1e-14);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_soundness),
		cmocka_unit_test(test_room_is_the_distance_to_the_boundary),
		cmocka_unit_test(test_row_is_the_rate_of_room),
		cmocka_unit_test(test_projection_is_closest),
		cmocka_unit_test(test_twist_range_interpolates),
		cmocka_unit_test(test_twist_range_is_continuous),
		cmocka_unit_test(test_equal_twist_ranges_are_one),
		cmocka_unit_test(test_twisted_rows_are_rates),
		cmocka_unit_test(test_twisted_projection_is_closest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
