// Limits, cone and twist against finite differences and scans; springs against work done.
#include "model/joint_cases.h"

#include "model/joint_cone.h"
#include "model/joint_parts.h"

static const knJointKind limitedKinds[] = { KN_JOINT_HINGE,   KN_JOINT_SLIDER,    KN_JOINT_SLIDER2,
											KN_JOINT_SLIDER3, KN_JOINT_UNIVERSAL, KN_JOINT_CYLINDER,
											KN_JOINT_PLANAR };
#define LIMITED_KIND_COUNT ((int)(sizeof(limitedKinds) / sizeof(limitedKinds[0])))

static void limitAxis(knJoint* joint, int axis, double lower, double upper) {
	joint->axis[axis].limited = true;
	joint->axis[axis].lower = lower;
	joint->axis[axis].upper = upper;
}

// Limited on all axes, at random.
static knJoint randomLimits(knJointKind kind, knTestRandom* random) {
	knJoint joint = testJoint(kind);
	for (int i = 0; i < joint.nv; ++i) {
		double lower = testUniform(random, -1.5, 0.5);
		limitAxis(&joint, i, lower, lower + testUniform(random, 0.0, 1.5));
	}
	return joint;
}

static knJoint randomCone(knTestRandom* random, bool twist) {
	knJoint joint = testJoint(KN_JOINT_BALL);
	joint.coneLimited = true;
	joint.coneY = testUniform(random, 0.05, 3.1);
	joint.coneZ = testInt(random, 4) == 0 ? joint.coneY : testUniform(random, 0.05, 3.1);
	joint.twistLimited = twist;
	joint.twistLower = testUniform(random, -1.5, 0.5);
	joint.twistUpper = joint.twistLower + testUniform(random, 0.1, 1.5);
	return joint;
}

// --- rows ------------------------------------------------------------------------------------------------

static void test_axis_rows_are_the_rate_of_room(void** unused) {
	(void)unused;
	knTestRandom random = { 1 };
	const double h = 1e-5;
	for (int c = 0; c < LIMITED_KIND_COUNT; ++c) {
		for (int trial = 0; trial < 30; ++trial) {
			knJoint joint = randomLimits(limitedKinds[c], &random);
			const knJointOps* ops = knJointOps_Get(joint.kind);
			double q[7], qd[6], before[7], after[7];
			testCoordinates(&joint, &random, q);
			testVelocities(&joint, &random, qd);
			memcpy(before, q, sizeof(q));
			memcpy(after, q, sizeof(q));
			ops->integrate(&joint, before, qd, -h);
			ops->integrate(&joint, after, qd, h);
			knFrame J = ops->transform(&joint, q);
			knFrame J0 = ops->transform(&joint, before), J1 = ops->transform(&joint, after);
			knTwist V = testFrameRate(J0, J1, 2.0 * h);

			knJointLimit at[8], at0[8], at1[8];
			int count = knJoint_Limits(&joint, J, q, 1e9, at);
			assert_int_equal(count, 2 * ops->nv);
			assert_int_equal(knJoint_Limits(&joint, J0, before, 1e9, at0), count);
			assert_int_equal(knJoint_Limits(&joint, J1, after, 1e9, at1), count);
			for (int i = 0; i < count; ++i) {
				double rate = (at1[i].distance - at0[i].distance) / (2.0 * h);
				assert_near(knDotT(at[i].row, V), rate, 1e-8);
				const knJointAxis* axis = &joint.axis[at[i].axis];
				double x = q[at[i].axis];
				assert_near(at[i].distance, at[i].side < 0 ? x - axis->lower : axis->upper - x, 0.0);
			}
		}
	}
}

// Cone (round and elliptic) and twist, for any rotation of the child, allowed or not.
static void test_ball_rows_are_the_rate_of_room(void** unused) {
	(void)unused;
	knTestRandom random = { 2 };
	const double h = 1e-6;
	int compared = 0;
	for (int trial = 0; trial < 400; ++trial) {
		knJoint joint = randomCone(&random, true);
		knFrame J = knMakeFrame(knZero3(), testQuat(&random));
		knVec3 w = testVec3(&random, 2.0);
		knFrame J0 = knMakeFrame(knZero3(), knMulQ(knQuat_Exp(knScale(-h, w)), J.q));
		knFrame J1 = knMakeFrame(knZero3(), knMulQ(knQuat_Exp(knScale(h, w)), J.q));
		knJointLimit at[8], at0[8], at1[8];
		int count = knJoint_Limits(&joint, J, NULL, 1e9, at);
		assert_int_equal(count, 3);
		assert_int_equal(knJoint_Limits(&joint, J0, NULL, 1e9, at0), 3);
		assert_int_equal(knJoint_Limits(&joint, J1, NULL, 1e9, at1), 3);
		for (int i = 0; i < 3; ++i) {
			double rate = (at1[i].distance - at0[i].distance) / (2.0 * h);
			double scale = testTwistLength(at[i].row);
			// not across a seam: the closest end, the twist's turn, the swing at pi
			if (scale < 20.0 && fabs(rate) < 100.0 * knLength(w)) {
				assert_near(knDotT(at[i].row, knMakeTwist(w, knZero3())), rate, 1e-5 * (1.0 + scale));
				compared += 1;
			}
		}
	}
	assert_true(compared > 1000);
}

// Round cone: room is what is left of the angle between the two x axes.
static void test_round_cone_measures_the_swing(void** unused) {
	(void)unused;
	knTestRandom random = { 3 };
	knJoint joint = testJoint(KN_JOINT_BALL);
	joint.coneLimited = true;
	joint.coneY = joint.coneZ = 0.7;
	for (int trial = 0; trial < 100; ++trial) {
		knFrame J = knMakeFrame(knZero3(), testQuat(&random));
		double swing = knAcos(knRotate(J.q, knV3(1, 0, 0)).x);
		knJointLimit limits[8];
		assert_int_equal(knJoint_Limits(&joint, J, NULL, 1e9, limits), 1);
		assert_near(limits[0].distance, 0.7 - swing, 1e-7);
		assert_int_equal(limits[0].side, 0);
		assert_int_equal(limits[0].axis, -1);
	}
}

// coneY bounds the turn about y, coneZ that about z.
static void test_cone_half_axes(void** unused) {
	(void)unused;
	knJoint joint = testJoint(KN_JOINT_BALL);
	joint.coneLimited = true;
	joint.coneY = 0.5;
	joint.coneZ = 1.2;
	knJointLimit limits[8];
	knFrame aboutY = knMakeFrame(knZero3(), knQuat_FromAxisAngle(knV3(0, 1, 0), 0.6));
	knFrame aboutZ = knMakeFrame(knZero3(), knQuat_FromAxisAngle(knV3(0, 0, 1), -1.3));
	assert_int_equal(knJoint_Limits(&joint, aboutY, NULL, 0.0, limits), 1);
	assert_near(limits[0].distance, -0.1, 1e-14);
	assert_int_equal(knJoint_Limits(&joint, aboutZ, NULL, 0.0, limits), 1);
	assert_near(limits[0].distance, -0.1, 1e-14);
	aboutZ.q = knQuat_FromAxisAngle(knV3(0, 0, 1), 1.1);
	assert_int_equal(knJoint_Limits(&joint, aboutZ, NULL, 0.0, limits), 0);
	assert_int_equal(knJoint_Limits(&joint, aboutZ, NULL, 0.2, limits), 1);
	assert_near(limits[0].distance, 0.1, 1e-14);
}

// The room in the plane of swing vectors, against a scan of the ellipse.
static void test_cone_room_is_the_distance_to_the_ellipse(void** unused) {
	(void)unused;
	knTestRandom random = { 4 };
	for (int trial = 0; trial < 200; ++trial) {
		double A = testUniform(&random, 0.05, 3.0), B = testUniform(&random, 0.05, 3.0);
		double direction = testUniform(&random, -KN_PI, KN_PI);
		// also exactly on the half axes and at the centre, where the closest point is not unique
		direction = trial % 5 == 0 ? 0.0 : (trial % 5 == 1 ? 0.5 * KN_PI : direction);
		double angle = trial % 7 == 0 ? 0.0 : testUniform(&random, 0.0, 3.0);
		knSwing swing = { angle, knCos(direction), knSin(direction), 0.0 };
		double ny, nz;
		double room = knCone_Room(A, B, &swing, &ny, &nz);
		double by = angle * swing.uy, bz = angle * swing.uz, closest = 1e9;
		for (int i = 0; i < 4000; ++i) {
			double psi = 2.0 * KN_PI * i / 4000;
			double dy = A * knCos(psi) - by, dz = B * knSin(psi) - bz;
			closest = knMin(closest, sqrt(dy * dy + dz * dz));
		}
		assert_near(fabs(room), closest, 1e-5 + 2e-3 * 2e-3 / (closest + 1e-3));
		assert_true((room < 0.0) == (by * by / (A * A) + bz * bz / (B * B) > 1.0));
		assert_true(knCone_RoomBound(A, B, &swing) <= room + 1e-12 || room < 0.0);
		// along the normal the room falls one to one: the point at the boundary lies on the ellipse
		double ey = (by + room * ny) / A, ez = (bz + room * nz) / B;
		assert_near(ey * ey + ez * ez, 1.0, 1e-9);
	}
}

// The closest point of the boundary on the sphere, for full and half angles, against a scan.
static void test_cone_closest_on_the_sphere(void** unused) {
	(void)unused;
	knTestRandom random = { 12 };
	int outside = 0;
	for (int trial = 0; trial < 400; ++trial) {
		double A = testUniform(&random, 0.02, KN_PI), B = testUniform(&random, 0.02, KN_PI);
		double k = trial % 2 == 0 ? 1.0 : 0.5, angle = testUniform(&random, 0.0, KN_PI);
		double direction = testUniform(&random, -KN_PI, KN_PI);
		double uy = knCos(direction), uz = knSin(direction);
		if (angle * angle * (uy * uy / (A * A) + uz * uz / (B * B)) <= 1.0) {
			continue;
		}
		outside += 1;
		const double r[3] = { knCos(k * angle), knSin(k * angle) * uy, knSin(k * angle) * uz };
		double g[3];
		knCone_Closest(A, B, k, r, g);
		double found = g[0] * r[0] + g[1] * r[1] + g[2] * r[2];
		for (int i = 0; i < 720; ++i) {
			double psi = 2.0 * KN_PI * i / 720, by = A * knCos(psi), bz = B * knSin(psi);
			double phi = sqrt(by * by + bz * bz);
			double other = knCos(k * phi) * r[0] + knSin(k * phi) * (by * r[1] + bz * r[2]) / phi;
			assert_true(other <= found + 1e-12);
		}
	}
	assert_true(outside > 100);
}

static void test_swing_and_twist_make_the_rotation(void** unused) {
	(void)unused;
	knTestRandom random = { 5 };
	for (int trial = 0; trial < 200; ++trial) {
		knQuat q = testQuat(&random);
		knSwing s = knSwing_Split(q);
		knQuat swing = knQuat_FromAxisAngle(knV3(0.0, s.uy, s.uz), s.angle);
		knQuat twist = knQuat_FromAxisAngle(knV3(1, 0, 0), s.twist);
		assert_near(testAngleBetween(knMulQ(swing, twist), q), 0.0, 1e-13);
		assert_true(s.angle >= 0.0 && s.angle <= KN_PI && s.twist > -KN_PI - 1e-15 &&
					s.twist <= KN_PI + 1e-15);
	}
}

static void test_margin_and_equal_bounds(void** unused) {
	(void)unused;
	knJoint joint = testJoint(KN_JOINT_SLIDER);
	knJointLimit limits[8];
	double q[1] = { 0.25 };
	knFrame J = knMakeFrame(knV3(0.25, 0, 0), knIdentityQ());
	limitAxis(&joint, 0, 0.0, 1.0);
	assert_int_equal(knJoint_Limits(&joint, J, q, 0.0, limits), 0);
	assert_int_equal(knJoint_Limits(&joint, J, q, 0.3, limits), 1);
	assert_near(limits[0].distance, 0.25, 0.0);
	assert_int_equal(limits[0].side, -1);
	// locked: both directions, whatever the margin
	limitAxis(&joint, 0, 0.5, 0.5);
	assert_int_equal(knJoint_Limits(&joint, J, q, 0.0, limits), 2);
	assert_near(limits[0].distance, -0.25, 0.0);
	assert_near(limits[1].distance, 0.25, 0.0);
	assert_near(knDotT(limits[0].row, limits[1].row), -1.0, 0.0);
	// none
	joint.axis[0].limited = false;
	assert_int_equal(knJoint_Limits(&joint, J, q, 1e9, limits), 0);
}

// A hinge limited to two and a half turns: the same pose is inside or outside, depending on the turn.
static void test_limits_beyond_a_turn(void** unused) {
	(void)unused;
	knJoint joint = testJoint(KN_JOINT_HINGE);
	limitAxis(&joint, 0, -1.0, 5.0 * KN_PI);
	const knJointOps* ops = knJointOps_Get(KN_JOINT_HINGE);
	knJointLimit limits[8];
	double inside[1] = { 4.0 * KN_PI + 2.0 }, outside[1] = { 6.0 * KN_PI - 2.0 };
	assert_int_equal(knJoint_Limits(&joint, ops->transform(&joint, inside), inside, 0.0, limits), 0);
	assert_int_equal(knJoint_Limits(&joint, ops->transform(&joint, outside), outside, 0.0, limits), 1);
	assert_near(limits[0].distance, -(KN_PI - 2.0), 1e-14);
	// and the projection goes back to the end of the counted interval
	knFrame end = knJoint_ProjectLimits(&joint, ops->transform(&joint, outside), outside);
	double bound[1] = { 5.0 * KN_PI };
	assert_near(testAngleBetween(end.q, ops->transform(&joint, bound).q), 0.0, 1e-13);
}

// --- where counting begins -------------------------------------------------------------------------------

static void test_initial_turn_lies_within_the_limits(void** unused) {
	(void)unused;
	knTestRandom random = { 6 };
	knJoint joint = testJoint(KN_JOINT_HINGE);
	const knJointOps* ops = knJointOps_Get(KN_JOINT_HINGE);
	for (int trial = 0; trial < 400; ++trial) {
		double lower = testUniform(&random, -15.0, 15.0), upper = lower + testUniform(&random, 0.0, 9.0);
		limitAxis(&joint, 0, lower, upper);
		double angle = testUniform(&random, -KN_PI, KN_PI), q[1];
		knJoint_InitialCoordinates(&joint, ops->transform(&joint, &angle), q);
		assert_near((q[0] - angle) / (2.0 * KN_PI), floor((q[0] - angle) / (2.0 * KN_PI) + 0.5), 1e-12);
		// no other turn is closer to the interval
		double excess = knMax(0.0, knMax(lower - q[0], q[0] - upper));
		for (int k = -6; k <= 6; ++k) {
			double other = angle + 2.0 * KN_PI * k;
			assert_true(excess <= knMax(0.0, knMax(lower - other, other - upper)) + 1e-12);
		}
	}
	joint.axis[0].limited = false;
	double angle = 3.0, q[1];
	knJoint_InitialCoordinates(&joint, ops->transform(&joint, &angle), q);
	assert_near(q[0], 3.0, 1e-14);
}

// --- projection ------------------------------------------------------------------------------------------

static bool respectsLimits(const knJoint* joint, knFrame J, double tolerance) {
	knJointLimit limits[8];
	double q[7] = { 0 };
	knJoint_InitialCoordinates(joint, J, q);
	int count = knJoint_Limits(joint, J, q, 0.0, limits);
	for (int i = 0; i < count; ++i) {
		if (limits[i].distance < -tolerance) {
			return false;
		}
	}
	return true;
}

// Within the limits, on the allowed set, and no sampled frame within them is closer.
static void checkProjection(const knJoint* joint, knFrame J, knTestRandom* random) {
	const knJointOps* ops = knJointOps_Get(joint->kind);
	knFrame best = knJoint_ProjectLimits(joint, J, NULL);
	assert_true(respectsLimits(joint, best, 1e-9));
	knTwist off = knJoint_ErrorTwist(best, ops->projectState(joint, best));
	assert_near(testTwistLength(off), 0.0, 1e-12);
	assert_near(knDotQ(best.q, best.q), 1.0, 1e-12);

	double bestDot = fabs(knDotQ(best.q, J.q)), bestDistance = knDistance(best.p, J.p);
	double at[7], q[7];
	knJoint_InitialCoordinates(joint, best, at);
	for (int scan = 0; scan < 400; ++scan) {
		testCoordinates(joint, random, q);
		if (scan % 4 != 0) {
			double qd[6], reach = scan % 4 == 1 ? 0.3 : (scan % 4 == 2 ? 0.03 : 0.001);
			memcpy(q, at, sizeof(q));
			testVelocities(joint, random, qd);
			ops->integrate(joint, q, qd, reach);
		}
		knFrame other = ops->transform(joint, q);
		if (respectsLimits(joint, other, 0.0)) {
			// position and rotation are limited independently
			assert_true(fabs(knDotQ(other.q, J.q)) <= bestDot + 1e-9);
			assert_true(knDistance(other.p, J.p) >= bestDistance - 1e-9);
		}
	}
}

static void test_projection_within_limits_is_closest(void** unused) {
	(void)unused;
	knTestRandom random = { 7 };
	for (int c = 0; c < LIMITED_KIND_COUNT; ++c) {
		for (int trial = 0; trial < 100; ++trial) {
			knJoint joint = randomLimits(limitedKinds[c], &random);
			checkProjection(&joint, testFrame(&random, 2.0), &random);
		}
	}
}

static void test_ball_projection_within_limits_is_closest(void** unused) {
	(void)unused;
	knTestRandom random = { 8 };
	for (int trial = 0; trial < 600; ++trial) {
		knJoint joint = randomCone(&random, trial % 3 != 0);
		joint.coneLimited = trial % 3 != 1;
		checkProjection(&joint, testFrame(&random, 2.0), &random);
	}
}

static void test_projection_leaves_what_is_within_alone(void** unused) {
	(void)unused;
	knTestRandom random = { 9 };
	int within = 0;
	for (int trial = 0; trial < 300; ++trial) {
		knJoint joint = trial % 2 == 0
							? randomCone(&random, true)
							: randomLimits(limitedKinds[testInt(&random, LIMITED_KIND_COUNT)], &random);
		const knJointOps* ops = knJointOps_Get(joint.kind);
		double q[7];
		testCoordinates(&joint, &random, q);
		for (int i = 0; i < joint.nq && trial % 2 == 1; ++i) {
			q[i] = testUniform(&random, joint.axis[i].lower, joint.axis[i].upper);
		}
		knFrame J = ops->transform(&joint, q);
		if (respectsLimits(&joint, J, 0.0)) {
			within += 1;
			knTwist moved = knJoint_ErrorTwist(knJoint_ProjectLimits(&joint, J, NULL), J);
			assert_near(testTwistLength(moved), 0.0, 1e-13);
		}
	}
	assert_true(within > 150);
}

static void test_projection_without_limits_is_the_joints(void** unused) {
	(void)unused;
	knTestRandom random = { 10 };
	for (int k = 0; k < TEST_KIND_COUNT; ++k) {
		knJoint joint = testJoint(testKinds[k]);
		knFrame J = testFrame(&random, 1.0);
		knTwist difference = knJoint_ErrorTwist(knJoint_ProjectLimits(&joint, J, NULL),
												knJointOps_Get(joint.kind)->projectState(&joint, J));
		assert_near(testTwistLength(difference), 0.0, 1e-15);
	}
}

// --- springs ---------------------------------------------------------------------------------------------

// The energy's rate is the power of the spring: k x qd, summed over axes.
static void test_spring_energy_is_the_work_done(void** unused) {
	(void)unused;
	knTestRandom random = { 11 };
	const double h = 1e-5;
	for (int k = 0; k < TEST_KIND_COUNT; ++k) {
		for (int trial = 0; trial < 30; ++trial) {
			knJoint joint = testJoint(testKinds[k]);
			const knJointOps* ops = knJointOps_Get(joint.kind);
			// rotation vectors have a potential only when the three springs are alike and rest at zero
			bool alike = ops->nq != ops->nv;
			double turning = testUniform(&random, 0.0, 5.0), sliding = testUniform(&random, 0.0, 5.0);
			for (int i = 0; i < joint.nv; ++i) {
				joint.axis[i].stiffness =
					alike ? (i < 3 ? turning : sliding) : testUniform(&random, 0.0, 5.0);
				joint.axis[i].rest = alike ? 0.0 : testUniform(&random, -1.0, 1.0);
			}
			double q[7], qd[6], before[7], after[7], power = 0.0;
			testCoordinates(&joint, &random, q);
			testVelocities(&joint, &random, qd);
			memcpy(before, q, sizeof(q));
			memcpy(after, q, sizeof(q));
			ops->integrate(&joint, before, qd, -h);
			ops->integrate(&joint, after, qd, h);
			for (int i = 0; i < joint.nv; ++i) {
				power += joint.axis[i].stiffness * knJoint_AxisPosition(&joint, q, i) * qd[i];
			}
			double rate =
				(knJoint_SpringEnergy(&joint, after) - knJoint_SpringEnergy(&joint, before)) / (2.0 * h);
			assert_near(power, rate, 1e-6);
		}
	}
}

static void test_axis_position_counts_from_rest(void** unused) {
	(void)unused;
	knJoint joint = testJoint(KN_JOINT_HINGE);
	joint.axis[0].rest = 0.25;
	joint.axis[0].stiffness = 8.0;
	double q[1] = { 7.25 };
	assert_near(knJoint_AxisPosition(&joint, q, 0), 7.0, 0.0);
	assert_near(knJoint_SpringEnergy(&joint, q), 0.5 * 8.0 * 49.0, 0.0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_axis_rows_are_the_rate_of_room),
		cmocka_unit_test(test_ball_rows_are_the_rate_of_room),
		cmocka_unit_test(test_round_cone_measures_the_swing),
		cmocka_unit_test(test_cone_half_axes),
		cmocka_unit_test(test_cone_room_is_the_distance_to_the_ellipse),
		cmocka_unit_test(test_cone_closest_on_the_sphere),
		cmocka_unit_test(test_swing_and_twist_make_the_rotation),
		cmocka_unit_test(test_margin_and_equal_bounds),
		cmocka_unit_test(test_limits_beyond_a_turn),
		cmocka_unit_test(test_initial_turn_lies_within_the_limits),
		cmocka_unit_test(test_projection_within_limits_is_closest),
		cmocka_unit_test(test_ball_projection_within_limits_is_closest),
		cmocka_unit_test(test_projection_leaves_what_is_within_alone),
		cmocka_unit_test(test_projection_without_limits_is_the_joints),
		cmocka_unit_test(test_spring_energy_is_the_work_done),
		cmocka_unit_test(test_axis_position_counts_from_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
