// Every kind of joint, both sides: projections against brute-force scans, motion subspaces against finite
// differences, and the two sides against each other.
#include "model/joint_cases.h"

#include "model/joint_parts.h"

#define FOR_EACH_KIND(joint, ops)                                                                            \
	for (int kn_k = 0; kn_k < TEST_KIND_COUNT; ++kn_k)                                                       \
		for (knJoint joint = testJoint(testKinds[kn_k]), *kn_once = &joint; kn_once != NULL; kn_once = NULL) \
			for (const knJointOps* ops = knJointOps_Get(joint.kind); ops != NULL; ops = NULL)

// No allowed frame is closer than the projected one, neither in position nor in rotation.
static void test_projection_is_closest(void** unused) {
	(void)unused;
	knTestRandom random = { 1 };
	FOR_EACH_KIND(joint, ops) {
		for (int trial = 0; trial < 60; ++trial) {
			knFrame J = testFrame(&random, 2.0);
			knFrame best = ops->projectState(&joint, J);
			double bestDot = fabs(knDotQ(best.q, J.q)), bestDistance = knDistance(best.p, J.p);
			double q[7], at[7] = { 0 };
			ops->coordinates(&joint, J, at, at);
			for (int scan = 0; scan < 600; ++scan) {
				// all over the allowed set, and close around the answer
				testCoordinates(&joint, &random, q);
				if (scan % 2 == 0) {
					double qd[6];
					memcpy(q, at, sizeof(q));
					testVelocities(&joint, &random, qd);
					ops->integrate(&joint, q, qd, scan % 4 == 0 ? 0.1 : 0.003);
				}
				knFrame other = ops->transform(&joint, q);
				assert_true(fabs(knDotQ(other.q, J.q)) <= bestDot + 1e-12);
				assert_true(knDistance(other.p, J.p) >= bestDistance - 1e-12);
			}
		}
	}
}

static void test_projection_is_idempotent(void** unused) {
	(void)unused;
	knTestRandom random = { 2 };
	FOR_EACH_KIND(joint, ops) {
		for (int trial = 0; trial < 200; ++trial) {
			knFrame once = ops->projectState(&joint, testFrame(&random, 2.0));
			knFrame twice = ops->projectState(&joint, once);
			assert_near3(twice.p, once.p, 1e-15);
			assert_near(testAngleBetween(twice.q, once.q), 0.0, 1e-14);
			assert_near(knDotQ(once.q, once.q), 1.0, 1e-14);
		}
	}
}

// The two sides know the same set of allowed frames.
static void test_coordinates_describe_the_projection(void** unused) {
	(void)unused;
	knTestRandom random = { 3 };
	FOR_EACH_KIND(joint, ops) {
		for (int trial = 0; trial < 200; ++trial) {
			knFrame J = testFrame(&random, 2.0);
			double q[7], previous[7];
			testCoordinates(&joint, &random, previous);
			ops->coordinates(&joint, J, previous, q);
			knFrame projected = ops->projectState(&joint, J), described = ops->transform(&joint, q);
			assert_near3(described.p, projected.p, 1e-14);
			assert_near(testAngleBetween(described.q, projected.q), 0.0, 1e-13);
		}
	}
}

static void test_coordinates_invert_transform(void** unused) {
	(void)unused;
	knTestRandom random = { 4 };
	FOR_EACH_KIND(joint, ops) {
		for (int trial = 0; trial < 200; ++trial) {
			double q[7], back[7];
			testCoordinates(&joint, &random, q);
			ops->coordinates(&joint, ops->transform(&joint, q), q, back);
			for (int i = 0; i < ops->nq; ++i) {
				assert_near(back[i], q[i], 1e-14);
			}
		}
	}
}

static void test_locked_rows_complement_the_subspace(void** unused) {
	(void)unused;
	knTestRandom random = { 5 };
	FOR_EACH_KIND(joint, ops) {
		for (int trial = 0; trial < 100; ++trial) {
			double q[7];
			knTwist rows[6], S[6];
			testCoordinates(&joint, &random, q);
			knFrame J = ops->transform(&joint, q);
			int locked = ops->lockedRows(&joint, J, rows);
			ops->subspace(&joint, q, S);
			assert_int_equal(locked + ops->nv, 6);
			for (int i = 0; i < locked; ++i) {
				for (int k = 0; k < locked; ++k) {
					assert_near(knDotT(rows[i], rows[k]), i == k ? 1.0 : 0.0, 1e-14);
				}
				for (int k = 0; k < ops->nv; ++k) {
					assert_near(knDotT(rows[i], knRotateT(J.q, S[k])), 0.0, 1e-14);
				}
			}
		}
	}
}

// Also far from any allowed state, where the universal joint's two axes may coincide.
static void test_locked_rows_are_orthonormal_anywhere(void** unused) {
	(void)unused;
	knTestRandom random = { 6 };
	FOR_EACH_KIND(joint, ops) {
		for (int trial = 0; trial < 100; ++trial) {
			knFrame J = testFrame(&random, 2.0);
			J.q = trial == 0 ? knQuat_Between(knV3(0, 0, 1), knV3(1, 0, 0)) : J.q;
			knTwist rows[6];
			int locked = ops->lockedRows(&joint, J, rows);
			assert_int_equal(locked, 6 - ops->nv);
			for (int i = 0; i < locked; ++i) {
				for (int k = 0; k < locked; ++k) {
					assert_near(knDotT(rows[i], rows[k]), i == k ? 1.0 : 0.0, 1e-13);
				}
			}
		}
	}
}

// A random state and velocity, and the coordinates h before and after it to first order.
static void randomMotion(const knJoint* joint, knTestRandom* random, double h, double q[7], double qd[6],
						 double before[7], double after[7]) {
	double rate[7];
	testCoordinates(joint, random, q);
	testVelocities(joint, random, qd);
	testCoordinateRate(joint, q, qd, rate);
	for (int i = 0; i < knJointOps_Get(joint->kind)->nq; ++i) {
		before[i] = q[i] - h * rate[i];
		after[i] = q[i] + h * rate[i];
	}
}

static void test_subspace_is_the_derivative_of_transform(void** unused) {
	(void)unused;
	knTestRandom random = { 7 };
	const double h = 1e-5;
	FOR_EACH_KIND(joint, ops) {
		for (int trial = 0; trial < 50; ++trial) {
			double q[7], qd[6], before[7], after[7];
			randomMotion(&joint, &random, h, q, qd, before, after);
			knTwist S[6];
			ops->subspace(&joint, q, S);
			knTwist V = knRotateT(ops->transform(&joint, q).q, testSumColumns(S, qd, ops->nv));
			knTwist measured =
				testFrameRate(ops->transform(&joint, before), ops->transform(&joint, after), 2.0 * h);
			assert_near(testTwistLength(knSubT(V, measured)), 0.0, 1e-8);
		}
	}
}

static void test_subspace_rate_is_its_derivative(void** unused) {
	(void)unused;
	knTestRandom random = { 8 };
	const double h = 1e-5;
	FOR_EACH_KIND(joint, ops) {
		for (int trial = 0; trial < 50; ++trial) {
			double q[7], qd[6], before[7], after[7];
			randomMotion(&joint, &random, h, q, qd, before, after);
			knTwist S0[6], S1[6];
			ops->subspace(&joint, before, S0);
			ops->subspace(&joint, after, S1);
			knTwist difference = knSubT(testSumColumns(S1, qd, ops->nv), testSumColumns(S0, qd, ops->nv));
			knTwist expected = knScaleT(0.5 / h, difference);
			assert_near(testTwistLength(knSubT(ops->subspaceRate(&joint, q, qd), expected)), 0.0, 1e-8);
		}
	}
}

static void test_integrate_moves_with_the_given_velocity(void** unused) {
	(void)unused;
	knTestRandom random = { 9 };
	const double h = 1e-5;
	FOR_EACH_KIND(joint, ops) {
		for (int trial = 0; trial < 50; ++trial) {
			double q[7], qd[6], before[7], after[7];
			testCoordinates(&joint, &random, q);
			testVelocities(&joint, &random, qd);
			memcpy(before, q, sizeof(q));
			memcpy(after, q, sizeof(q));
			ops->integrate(&joint, before, qd, -h);
			ops->integrate(&joint, after, qd, h);
			knTwist S[6];
			ops->subspace(&joint, q, S);
			knTwist V = knRotateT(ops->transform(&joint, q).q, testSumColumns(S, qd, ops->nv));
			knTwist measured =
				testFrameRate(ops->transform(&joint, before), ops->transform(&joint, after), 2.0 * h);
			assert_near(testTwistLength(knSubT(V, measured)), 0.0, 1e-8);
		}
	}
}

// Turning at constant angular velocity, one large step equals many small ones.
static void test_ball_integrates_exactly(void** unused) {
	(void)unused;
	knTestRandom random = { 10 };
	knJoint joint = testJoint(KN_JOINT_BALL);
	const knJointOps* ops = knJointOps_Get(KN_JOINT_BALL);
	double one[7], many[7], qd[6];
	testCoordinates(&joint, &random, one);
	testVelocities(&joint, &random, qd);
	memcpy(many, one, sizeof(one));
	ops->integrate(&joint, one, qd, 1.0);
	for (int i = 0; i < 100; ++i) {
		ops->integrate(&joint, many, qd, 0.01);
	}
	for (int i = 0; i < 4; ++i) {
		assert_near(many[i], one[i], 1e-13);
	}
}

static void test_coordinate_rows_give_velocities(void** unused) {
	(void)unused;
	knTestRandom random = { 11 };
	FOR_EACH_KIND(joint, ops) {
		for (int trial = 0; trial < 50; ++trial) {
			double q[7], qd[6], found[6];
			testCoordinates(&joint, &random, q);
			testVelocities(&joint, &random, qd);
			knTwist S[6], rows[6];
			ops->subspace(&joint, q, S);
			knFrame J = ops->transform(&joint, q);
			knTwist V = knRotateT(J.q, testSumColumns(S, qd, ops->nv));
			knJoint_CoordinateRows(&joint, J, q, rows);
			knJoint_Velocities(&joint, J, q, V, found);
			for (int i = 0; i < ops->nv; ++i) {
				assert_near(knDotT(rows[i], V), qd[i], 1e-13);
				assert_near(found[i], qd[i], 1e-13);
			}
			// a disturbance along locked directions leaves them alone
			knTwist locked[6];
			int count = ops->lockedRows(&joint, J, locked);
			for (int i = 0; i < count; ++i) {
				V = knMulAddT(V, testUniform(&random, -1.0, 1.0), locked[i]);
			}
			knJoint_Velocities(&joint, J, q, V, found);
			for (int i = 0; i < ops->nv; ++i) {
				assert_near(found[i], qd[i], 1e-13);
			}
		}
	}
}

static void test_project_velocity_removes_locked_motion_only(void** unused) {
	(void)unused;
	knTestRandom random = { 12 };
	FOR_EACH_KIND(joint, ops) {
		for (int trial = 0; trial < 50; ++trial) {
			double q[7], qd[6];
			testCoordinates(&joint, &random, q);
			testVelocities(&joint, &random, qd);
			knTwist S[6];
			ops->subspace(&joint, q, S);
			knFrame J = ops->transform(&joint, q);
			knTwist allowed = knRotateT(J.q, testSumColumns(S, qd, ops->nv));
			assert_near(testTwistLength(knSubT(knJoint_ProjectVelocity(&joint, J, allowed), allowed)), 0.0,
						1e-14);

			// the rest is orthogonal to every allowed motion: the projection is the closest one
			knTwist V = knMakeTwist(testVec3(&random, 1.0), testVec3(&random, 1.0));
			knTwist removed = knSubT(V, knJoint_ProjectVelocity(&joint, J, V));
			for (int i = 0; i < ops->nv; ++i) {
				assert_near(knDotT(removed, knRotateT(J.q, S[i])), 0.0, 1e-14);
			}
		}
	}
}

// Several revolutions in steps of less than half a turn, there and back.
static void test_angles_count_turns(void** unused) {
	(void)unused;
	const struct {
		knJointKind kind;
		int axis;
	} cases[] = {
		{ KN_JOINT_HINGE, 0 },    { KN_JOINT_UNIVERSAL, 0 }, { KN_JOINT_UNIVERSAL, 1 },
		{ KN_JOINT_CYLINDER, 1 }, { KN_JOINT_PLANAR, 2 },
	};
	for (int c = 0; c < (int)(sizeof(cases) / sizeof(cases[0])); ++c) {
		knJoint joint = testJoint(cases[c].kind);
		const knJointOps* ops = knJointOps_Get(joint.kind);
		double wanted[7] = { 0.3, -0.4, 0.2 }, q[7];
		knJoint_NeutralCoordinates(&joint, q);
		for (int step = 0; step <= 36; ++step) {
			wanted[cases[c].axis] = 2.5 * (step <= 12 ? step : 24 - step);
			ops->coordinates(&joint, ops->transform(&joint, wanted), q, q);
			for (int i = 0; i < ops->nq; ++i) {
				assert_near(q[i], wanted[i], 1e-13);
			}
		}
	}
}

static void test_quaternion_coordinates_keep_their_sign(void** unused) {
	(void)unused;
	knJoint joint = testJoint(KN_JOINT_BALL);
	const knJointOps* ops = knJointOps_Get(KN_JOINT_BALL);
	double q[7], before[7];
	knJoint_NeutralCoordinates(&joint, q);
	// two revolutions: the pose's quaternion may flip at will, the coordinates move in small steps
	for (int step = 1; step <= 40; ++step) {
		memcpy(before, q, sizeof(q));
		knQuat turn = knQuat_FromAxisAngle(knV3(0.6, 0.0, 0.8), 0.1 * KN_PI * step);
		knFrame J = knMakeFrame(knZero3(), step % 3 == 0 ? knNegQ(turn) : turn);
		ops->coordinates(&joint, J, q, q);
		for (int i = 0; i < 4; ++i) {
			assert_true(fabs(q[i] - before[i]) < 0.17);
		}
	}
}

static void test_relative_twist_is_the_frames_rate(void** unused) {
	(void)unused;
	knTestRandom random = { 13 };
	const double h = 1e-5;
	for (int trial = 0; trial < 100; ++trial) {
		knJoint joint = testJoint(KN_JOINT_FREE);
		joint.frameParent = testFrame(&random, 1.0);
		joint.frameChild = testFrame(&random, 1.0);
		knFrame pose[2] = { testFrame(&random, 2.0), testFrame(&random, 2.0) };
		knTwist vel[2];
		knFrame at[2][2];
		for (int b = 0; b < 2; ++b) {
			vel[b] = knMakeTwist(testVec3(&random, 2.0), testVec3(&random, 2.0));
			for (int side = 0; side < 2; ++side) {
				double t = side == 0 ? -h : h;
				at[side][b] = knMakeFrame(knMulAdd(pose[b].p, t, vel[b].lin),
										  knMulQ(knQuat_Exp(knScale(t, vel[b].ang)), pose[b].q));
			}
		}
		knTwist V = knJoint_RelativeTwist(&joint, pose[0], vel[0], pose[1], vel[1]);
		knTwist measured = testFrameRate(knJoint_Frame(&joint, at[0][0], at[0][1]),
										 knJoint_Frame(&joint, at[1][0], at[1][1]), 2.0 * h);
		assert_near(testTwistLength(knSubT(V, measured)), 0.0, 1e-7);
	}
}

static void test_joint_frame_closes(void** unused) {
	(void)unused;
	knTestRandom random = { 14 };
	knJoint joint = testJoint(KN_JOINT_FIXED);
	joint.frameParent = testFrame(&random, 1.0);
	joint.frameChild = testFrame(&random, 1.0);
	knFrame parent = testFrame(&random, 2.0), wanted = testFrame(&random, 1.0);
	// W_p P J = W_c C
	knFrame child = knMulF(knMulF(knMulF(parent, joint.frameParent), wanted), knInvF(joint.frameChild));
	knFrame J = knJoint_Frame(&joint, parent, child);
	assert_near3(J.p, wanted.p, 1e-14);
	assert_near(testAngleBetween(J.q, wanted.q), 0.0, 1e-14);
}

// Applied to the allowed frame, the error twist gives J again.
static void test_error_twist_leads_back(void** unused) {
	(void)unused;
	knTestRandom random = { 15 };
	for (int trial = 0; trial < 50; ++trial) {
		knFrame J = testFrame(&random, 1.0), allowed = testFrame(&random, 1.0);
		knTwist e = knJoint_ErrorTwist(J, allowed);
		assert_near3(knAdd(allowed.p, e.lin), J.p, 1e-15);
		assert_near(testAngleBetween(knMulQ(knQuat_Exp(e.ang), allowed.q), J.q), 0.0, 1e-13);
	}
}

static void test_half_turn_swing_has_no_hinge_angle(void** unused) {
	(void)unused;
	knJoint joint = testJoint(KN_JOINT_HINGE);
	const knJointOps* ops = knJointOps_Get(KN_JOINT_HINGE);
	knFrame J = knMakeFrame(knZero3(), knQ(0.0, 0.0, 1.0, 0.0));
	knFrame projected = ops->projectState(&joint, J);
	assert_near(testAngleBetween(projected.q, knIdentityQ()), 0.0, 0.0);
	double q[1] = { 2.0 * KN_PI };
	ops->coordinates(&joint, J, q, q);
	assert_near(q[0], 2.0 * KN_PI, 1e-15);
}

static void test_neutral_coordinates_are_those_of_identity(void** unused) {
	(void)unused;
	FOR_EACH_KIND(joint, ops) {
		double q[7];
		knJoint_NeutralCoordinates(&joint, q);
		knFrame J = ops->transform(&joint, q);
		assert_near3(J.p, knZero3(), 0.0);
		assert_near(J.q.w, 1.0, 0.0);
	}
}

static void test_names_and_synonyms(void** unused) {
	(void)unused;
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		assert_int_equal(knJointKind_Find(knJointKind_Name((knJointKind)kind)), kind);
	}
	assert_int_equal(knJointKind_Find("point"), KN_JOINT_BALL);
	assert_int_equal(knJointKind_Find("spherical"), KN_JOINT_BALL);
	assert_int_equal(knJointKind_Find("twist"), KN_JOINT_HINGE);
	assert_int_equal(knJointKind_Find("revolute"), KN_JOINT_HINGE);
	assert_int_equal(knJointKind_Find("prismatic"), KN_JOINT_SLIDER);
	assert_int_equal(knJointKind_Find("rigid"), KN_JOINT_FIXED);
	assert_int_equal(knJointKind_Find("pris"), KN_JOINT_KIND_COUNT);
	assert_int_equal(knJointKind_Find(""), KN_JOINT_KIND_COUNT);
	assert_int_equal(knJointKind_Find("twist revolute"), KN_JOINT_KIND_COUNT);
	assert_int_equal(knJointKind_Find(NULL), KN_JOINT_KIND_COUNT);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_projection_is_closest),
		cmocka_unit_test(test_projection_is_idempotent),
		cmocka_unit_test(test_coordinates_describe_the_projection),
		cmocka_unit_test(test_coordinates_invert_transform),
		cmocka_unit_test(test_locked_rows_complement_the_subspace),
		cmocka_unit_test(test_locked_rows_are_orthonormal_anywhere),
		cmocka_unit_test(test_subspace_is_the_derivative_of_transform),
		cmocka_unit_test(test_subspace_rate_is_its_derivative),
		cmocka_unit_test(test_integrate_moves_with_the_given_velocity),
		cmocka_unit_test(test_ball_integrates_exactly),
		cmocka_unit_test(test_coordinate_rows_give_velocities),
		cmocka_unit_test(test_project_velocity_removes_locked_motion_only),
		cmocka_unit_test(test_angles_count_turns),
		cmocka_unit_test(test_quaternion_coordinates_keep_their_sign),
		cmocka_unit_test(test_relative_twist_is_the_frames_rate),
		cmocka_unit_test(test_joint_frame_closes),
		cmocka_unit_test(test_error_twist_leads_back),
		cmocka_unit_test(test_half_turn_swing_has_no_hinge_angle),
		cmocka_unit_test(test_neutral_coordinates_are_those_of_identity),
		cmocka_unit_test(test_names_and_synonyms),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
