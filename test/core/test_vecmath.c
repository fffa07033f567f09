// Vector algebra against identities: rotations compose, exponential and logarithm undo each other, tensors
// keep what a change of axes must not change.
#include "support/kn_test.h"

static double distanceM(const knMat33* a, const knMat33* b) {
	return knDistance(a->cx, b->cx) + knDistance(a->cy, b->cy) + knDistance(a->cz, b->cz);
}

static double distanceQ(knQuat a, knQuat b) {
	knQuat d = knQ(a.w - b.w, a.x - b.x, a.y - b.y, a.z - b.z);
	return sqrt(knDotQ(d, d));
}

static knMat33 randomMat33(knTestRandom* random, double size) {
	knVec3 cx = testVec3(random, size), cy = testVec3(random, size);
	return knMakeMat33(cx, cy, testVec3(random, size));
}

static knMat33 randomSymmetric33(knTestRandom* random, double size) {
	knMat33 m = randomMat33(random, size);
	knMat33 t = knTranspose33(&m);
	return knAddMM(&m, &t);
}

static double trace(const knMat33* m) {
	return m->cx.x + m->cy.y + m->cz.z;
}

static void rotation_composition(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int i = 0; i < 2000; ++i) {
		knQuat a = testQuat(&random), b = testQuat(&random);
		knVec3 v = testVec3(&random, 10.0), w = testVec3(&random, 10.0);
		assert_near3(knRotate(knMulQ(a, b), v), knRotate(a, knRotate(b, v)), 1e-13);
		assert_near3(knInvRotate(a, knRotate(a, v)), v, 1e-13);
		assert_near(knDot(knRotate(a, v), knRotate(a, w)), knDot(v, w), 1e-12);
		assert_near3(knRotate(a, knCross(v, w)), knCross(knRotate(a, v), knRotate(a, w)), 1e-12);

		// the same rotation as a matrix
		knMat33 A = knQuat_ToMat33(a), B = knQuat_ToMat33(b), AB = knMulMM(&A, &B);
		knMat33 ofProduct = knQuat_ToMat33(knMulQ(a, b));
		assert_near3(knMulMV(&A, v), knRotate(a, v), 1e-13);
		assert_near3(knTMulMV(&A, v), knInvRotate(a, v), 1e-13);
		assert_near(distanceM(&AB, &ofProduct), 0.0, 1e-14);
		assert_near(knDeterminant33(&A), 1.0, 1e-14);
	}
}

static void axis_angle(void** state) {
	(void)state;
	// a quarter turn about z takes x to y: the sense of rotation
	knQuat q = knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), KN_PI / 2.0);
	assert_near3(knRotate(q, knV3(1.0, 0.0, 0.0)), knV3(0.0, 1.0, 0.0), 1e-15);

	// Rodrigues' formula
	knTestRandom random = { 2 };
	for (int i = 0; i < 2000; ++i) {
		knVec3 n = testUnit3(&random), v = testVec3(&random, 1.0);
		double angle = testUniform(&random, -10.0, 10.0);
		knVec3 along = knScale(knDot(n, v), n);
		knVec3 across = knSub(v, along);
		knVec3 turned = knAdd(along, knAdd(knScale(cos(angle), across), knScale(sin(angle), knCross(n, v))));
		assert_near3(knRotate(knQuat_FromAxisAngle(n, angle), v), turned, 1e-14);
		assert_near(distanceQ(knQuat_FromAxisAngle(n, angle), knQuat_Exp(knScale(angle, n))), 0.0, 3e-15);
	}
}

static void matrix_to_quaternion(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	for (int i = 0; i < 4000; ++i) {
		knQuat q = testQuat(&random);
		if (i % 2 == 1) {
			// half turns: w = 0, where the trace does not help
			knVec3 n =
				i % 3 == 0 ? knV3(i % 4 == 1 ? 1.0 : 0.0, i % 4 == 1 ? 0.0 : 1.0, 0.0) : testUnit3(&random);
			q = knQ(0.0, n.x, n.y, n.z);
		}
		knMat33 m = knQuat_ToMat33(q);
		knQuat back = knQuat_FromMat33(&m);
		assert_near(fabs(knDotQ(q, back)), 1.0, 1e-15);
		knMat33 again = knQuat_ToMat33(back);
		assert_near(distanceM(&m, &again), 0.0, 1e-14);
	}
}

static void exp_log_round_trip(void** state) {
	(void)state;
	knTestRandom random = { 4 };
	for (int i = 0; i < 20000; ++i) {
		// angles of every size up to pi, also next to the switch between series and functions
		double angle =
			i % 2 ? testUniform(&random, 0.0, 3.14159) : ldexp(testUniform(&random, 1.0, 2.0), -(i % 300));
		angle = angle > 3.14159 ? 0.01 + 1e-6 * testUniform(&random, -1.0, 1.0) : angle;
		knVec3 w = knScale(angle, testUnit3(&random));
		knQuat q = knQuat_Exp(w);
		assert_near(knDotQ(q, q), 1.0, 1e-15);
		assert_near3(knQuat_Log(q), w, 4e-15 * angle);
		// -q is the same rotation
		assert_near3(knQuat_Log(knNegQ(q)), w, 4e-15 * angle);
	}
}

static void exp_log_corners(void** state) {
	(void)state;
	assert_near(distanceQ(knQuat_Exp(knZero3()), knIdentityQ()), 0.0, 0.0);
	assert_near3(knQuat_Log(knIdentityQ()), knZero3(), 0.0);
	assert_near3(knQuat_Log(knQ(-1.0, 0.0, 0.0, 0.0)), knZero3(), 0.0);
	assert_near3(knQuat_Log(knQ(0.0, 0.0, 0.0, 0.0)), knZero3(), 0.0);
	assert_near3(knQuat_Log(knQ(0.0, 0.0, 1.0, 0.0)), knV3(0.0, KN_PI, 0.0), 1e-15);
	// close to a half turn the vector may flip, the rotation may not
	knTestRandom random = { 5 };
	for (int i = 0; i < 2000; ++i) {
		knVec3 n = testUnit3(&random);
		double beyond = ldexp(testUniform(&random, -1.0, 1.0), -(i % 60));
		knQuat q = knQuat_FromAxisAngle(n, KN_PI + beyond);
		knVec3 w = knQuat_Log(q);
		assert_true(knLength(w) <= KN_PI + 1e-15);
		assert_near(fabs(knDotQ(knQuat_Exp(w), q)), 1.0, 1e-15);
	}
	// a rotation not quite of unit length gives the same vector
	knVec3 w = knV3(0.3, -0.2, 0.1);
	knQuat q = knQuat_Exp(w);
	assert_near3(knQuat_Log(knQ(1.5 * q.w, 1.5 * q.x, 1.5 * q.y, 1.5 * q.z)), w, 1e-15);
}

static void shortest_rotation_between(void** state) {
	(void)state;
	knTestRandom random = { 6 };
	for (int i = 0; i < 20000; ++i) {
		knVec3 from = testUnit3(&random), to = testUnit3(&random);
		if (i % 4 == 1) {
			to = knNormalize(knMulAdd(from, ldexp(1.0, -(i % 70)), to));
		} else if (i % 4 == 2) {
			to = knNormalize(knMulAdd(knNeg(from), ldexp(1.0, -(i % 70)), to));
		} else if (i % 4 == 3) {
			to = i % 8 == 3 ? knNeg(from) : from;
		}
		knQuat q = knQuat_Between(from, to);
		assert_near(knDotQ(q, q), 1.0, 2e-15);
		assert_near3(knRotate(q, from), to, 4e-15);
		// shortest: its angle is the angle between the vectors
		double angle = atan2(knLength(knCross(from, to)), knDot(from, to));
		assert_near(knLength(knQuat_Log(q)), angle, 1e-7);
	}
}

static void any_orthogonal(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	for (int i = 0; i < 5000; ++i) {
		knVec3 n = testUnit3(&random);
		if (i % 2) {
			// beside each of the six axes, and on them
			n = knZero3();
			knSetComponent(&n, i % 3, i % 4 == 1 ? 1.0 : -1.0);
			n = knNormalize(knMulAdd(n, i % 5 == 0 ? 0.0 : ldexp(1.0, -(i % 60)), testUnit3(&random)));
		}
		knVec3 t = knAnyOrthogonal(n);
		assert_near(knDot(n, t), 0.0, 1e-15);
		assert_near(knLength(t), 1.0, 1e-15);
	}
	// continuous away from -z
	for (int i = 0; i < 5000; ++i) {
		knVec3 n = testUnit3(&random);
		knVec3 near = knNormalize(knMulAdd(n, 1e-6, testUnit3(&random)));
		if (n.z > -0.8) {
			assert_near3(knAnyOrthogonal(n), knAnyOrthogonal(near), 2e-5);
		}
	}
}

static void frames(void** state) {
	(void)state;
	knTestRandom random = { 8 };
	for (int i = 0; i < 2000; ++i) {
		knFrame a = testFrame(&random, 5.0), b = testFrame(&random, 5.0);
		knVec3 x = testVec3(&random, 5.0);
		assert_near3(knPoint(knMulF(a, b), x), knPoint(a, knPoint(b, x)), 1e-13);
		assert_near3(knInvPoint(a, knPoint(a, x)), x, 1e-13);
		assert_near3(knPoint(knInvF(a), x), knInvPoint(a, x), 1e-13);
		knFrame unit = knMulF(a, knInvF(a));
		assert_near3(unit.p, knZero3(), 1e-13);
		assert_near(distanceQ(unit.q, knIdentityQ()), 0.0, 1e-14);
		knFrame difference = knInvMulF(a, b), expected = knMulF(knInvF(a), b);
		assert_near3(difference.p, expected.p, 1e-13);
		assert_near(distanceQ(difference.q, expected.q), 0.0, 1e-15);
	}
}

static void inverse_and_skew(void** state) {
	(void)state;
	knTestRandom random = { 9 };
	knMat33 one = knDiagonal33(1.0, 1.0, 1.0);
	for (int i = 0; i < 2000; ++i) {
		knMat33 m = randomMat33(&random, 1.0);
		double determinant = knDeterminant33(&m);
		if (fabs(determinant) > 0.01) {
			knMat33 inverse = knInverse33(&m);
			knMat33 left = knMulMM(&inverse, &m), right = knMulMM(&m, &inverse);
			assert_near(distanceM(&left, &one) + distanceM(&right, &one), 0.0, 1e-11);
			assert_near(knDeterminant33(&inverse) * determinant, 1.0, 1e-10);
		}
		knVec3 v = testVec3(&random, 3.0), w = testVec3(&random, 3.0);
		knMat33 skew = knSkew(v);
		assert_near3(knMulMV(&skew, w), knCross(v, w), 0.0);
		assert_near3(knTMulMV(&skew, w), knCross(w, v), 1e-14);
	}
	knMat33 singular = knMakeMat33(knV3(1.0, 2.0, 3.0), knV3(2.0, 4.0, 6.0), knV3(0.0, 0.0, 1.0));
	knMat33 none = knInverse33(&singular), zero = knDiagonal33(0.0, 0.0, 0.0);
	assert_near(distanceM(&none, &zero), 0.0, 0.0);
}

static void rotated_tensor(void** state) {
	(void)state;
	knTestRandom random = { 10 };
	for (int i = 0; i < 2000; ++i) {
		knMat33 m = randomSymmetric33(&random, 2.0);
		knQuat q = testQuat(&random);
		knMat33 turned = knRotateTensor(q, &m), transposed = knTranspose33(&turned);
		assert_near(trace(&turned), trace(&m), 1e-13);
		assert_near(knDeterminant33(&turned), knDeterminant33(&m), 1e-12);
		assert_near(distanceM(&turned, &transposed), 0.0, 1e-13);
		// turning the argument and the result is the same as turning the tensor
		knVec3 v = testVec3(&random, 1.0);
		assert_near3(knMulMV(&turned, v), knRotate(q, knMulMV(&m, knInvRotate(q, v))), 1e-13);
	}
}

static void checkDiagonalization(const knMat33* m, double size) {
	knVec3 values;
	knQuat q = knDiagonalize33(m, &values);
	assert_true(values.x <= values.y && values.y <= values.z);
	assert_near(knDotQ(q, q), 1.0, 1e-15);
	knMat33 diagonal = knDiagonal33(values.x, values.y, values.z);
	knMat33 rebuilt = knRotateTensor(q, &diagonal);
	assert_near(distanceM(&rebuilt, m), 0.0, 2e-14 * size);
}

static void diagonalization(void** state) {
	(void)state;
	knTestRandom random = { 11 };
	for (int i = 0; i < 3000; ++i) {
		double size = ldexp(1.0, testInt(&random, 200) - 100);
		knMat33 m = randomSymmetric33(&random, size);
		checkDiagonalization(&m, 4.0 * size);
		// equal and almost equal values
		double d = testUniform(&random, 0.5, 2.0);
		knMat33 equal = knDiagonal33(d, i % 3 ? d : 1.0, d * (1.0 + ldexp(1.0, -(i % 60))));
		equal = knRotateTensor(testQuat(&random), &equal);
		knMat33 t = knTranspose33(&equal);
		equal = knAddMM(&equal, &t);
		checkDiagonalization(&equal, 8.0);
	}
	// every order of the diagonal, and what is diagonal already stays
	const double orders[6][3] = {
		{ 1, 2, 3 }, { 1, 3, 2 }, { 2, 1, 3 }, { 2, 3, 1 }, { 3, 1, 2 }, { 3, 2, 1 }
	};
	for (int i = 0; i < 6; ++i) {
		knMat33 m = knDiagonal33(orders[i][0], orders[i][1], orders[i][2]);
		checkDiagonalization(&m, 1.0);
		knVec3 values;
		knDiagonalize33(&m, &values);
		assert_near3(values, knV3(1.0, 2.0, 3.0), 0.0);
	}
	knMat33 zero = knDiagonal33(0.0, 0.0, 0.0);
	checkDiagonalization(&zero, 1.0);
	knMat33 ascending = knDiagonal33(1.0, 1.0, 2.0);
	knVec3 values;
	assert_near(distanceQ(knDiagonalize33(&ascending, &values), knIdentityQ()), 0.0, 0.0);
}

// Values far apart in size: the small ones keep their place and are accurate to the size of the largest.
static void diagonalization_graded(void** state) {
	(void)state;
	knTestRandom random = { 12 };
	for (int i = 0; i < 500; ++i) {
		knMat33 m = knDiagonal33(1e-8, 1.0, 1e8);
		m = knRotateTensor(testQuat(&random), &m);
		knVec3 values;
		knDiagonalize33(&m, &values);
		assert_near(values.x, 1e-8, 1e-6);
		assert_near(values.y, 1.0, 1e-6);
		assert_near(values.z, 1e8, 1e-6);
	}
}

static void boxes(void** state) {
	(void)state;
	knTestRandom random = { 13 };
	for (int i = 0; i < 2000; ++i) {
		knVec3 p = testVec3(&random, 1.0), q = testVec3(&random, 1.0), r = testVec3(&random, 1.0);
		knAabb a = { knMin3(p, q), knMax3(p, q) }, b = { knMin3(q, r), knMax3(q, r) };
		knAabb both = knAabb_Union(a, b);
		assert_true(knAabb_Overlap(a, b)); // they share q
		assert_true(knAabb_Contains(both, a) && knAabb_Contains(both, b));
		assert_true(knAabb_Contains(knAabb_Grow(a, 0.1), a) && !knAabb_Contains(a, knAabb_Grow(a, 0.1)));
		knVec3 away = knV3(a.upper.x - a.lower.x + 0.01, 0.0, 0.0);
		knAabb moved = { knAdd(a.lower, away), knAdd(a.upper, away) };
		assert_false(knAabb_Overlap(a, moved) || knAabb_Overlap(moved, a));
		assert_true(knAabb_Overlap(knAabb_Grow(a, 0.02), moved));
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rotation_composition),
		cmocka_unit_test(axis_angle),
		cmocka_unit_test(matrix_to_quaternion),
		cmocka_unit_test(exp_log_round_trip),
		cmocka_unit_test(exp_log_corners),
		cmocka_unit_test(shortest_rotation_between),
		cmocka_unit_test(any_orthogonal),
		cmocka_unit_test(frames),
		cmocka_unit_test(inverse_and_skew),
		cmocka_unit_test(rotated_tensor),
		cmocka_unit_test(diagonalization),
		cmocka_unit_test(diagonalization_graded),
		cmocka_unit_test(boxes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
