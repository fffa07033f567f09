// Box against box and plane.
#include "collide/pair_oracle.h"

typedef struct Pose {
	knGeom *a, *b;
	knFrame frameA, frameB;
	double size;
} Pose;

// Cubes, rods and plates.
static knVec3 randomExtents(knTestRandom* random) {
	double x = testUniform(random, 0.2, 1.0), y = testUniform(random, 0.2, 1.0),
		   z = testUniform(random, 0.2, 1.0);
	return knV3(x * x * x, y * y * y, z * z * z);
}

// Two random boxes, `scale` metres large and about as far apart; every fourth pair is nearly aligned.
static Pose randomPose(knTestRandom* random, double scale) {
	Pose pose;
	knVec3 a = randomExtents(random), b = randomExtents(random);
	pose.a = knGeom_Box(knScale(scale, a), NULL, NULL);
	pose.b = knGeom_Box(knScale(scale, b), NULL, NULL);
	pose.frameA = testFrame(random, 3.0 * scale);
	knQuat turn = testQuat(random);
	if (testInt(random, 4) == 0) {
		double tilt = testUniform(random, 0.0, 1.0);
		turn = knQuat_Exp(knScale(0.2 * tilt * tilt, testUnit3(random)));
	}
	double apart = testUniform(random, 0.0, 0.9) * scale * (knLength(a) + knLength(b));
	knFrame relative = knMakeFrame(knScale(apart, testUnit3(random)), turn);
	pose.frameB = knMulF(pose.frameA, relative);
	pose.size = scale * fmin(knLength(a), knLength(b));
	return pose;
}

static void release(Pose* pose) {
	knGeom_Release(pose->a);
	knGeom_Release(pose->b);
}

static int collide(const Pose* pose, double margin, knContactPoint points[KN_PAIR_MAX_POINTS]) {
	return knCollide_Pair(pose->a, pose->frameA, pose->b, pose->frameB, margin, points, KN_PAIR_MAX_POINTS);
}

// --- distances ---

static void separationIsTheDistanceOfSeparateBoxes(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	const double scales[] = { 1.0, 1e-4, 1e4 };
	int separate = 0;
	for (int n = 0; n < 300; ++n) {
		Pose pose = randomPose(&random, scales[n % 3]);
		double exact = oracleDistance(pose.a, pose.frameA, pose.b, pose.frameB);
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = collide(&pose, 10.0 * scales[n % 3], points);
		assert_true(count > 0);
		assertContacts(pose.a, pose.frameA, pose.b, pose.frameB, 10.0 * scales[n % 3], points, count);
		if (exact > 0.0) {
			assert_near(deepestOf(points, count), exact, 3e-7 * pose.size);
			separate += 1;
		}
		release(&pose);
	}
	assert_true(separate > 50);
}

static void depthIsTheLeastTranslationOfPenetratingBoxes(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	int penetrating = 0, exactOnes = 0;
	for (int n = 0; n < 300; ++n) {
		Pose pose = randomPose(&random, 1.0);
		double exact = oracleDistance(pose.a, pose.frameA, pose.b, pose.frameB);
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = collide(&pose, 0.0, points);
		assert_int_equal(count > 0, exact < 0.0);
		assertContacts(pose.a, pose.frameA, pose.b, pose.frameB, 0.0, points, count);
		if (count > 0) {
			double deepest = deepestOf(points, count);
			assert_near(deepest, exact, 3e-7 * pose.size);
			penetrating += 1;
			exactOnes += fabs(deepest - exact) < 1e-9;
			// moved out along the normal the boxes no longer overlap
			knFrame out = pose.frameB;
			out.p = knMulAdd(out.p, -deepest + 1e-9, points[0].normal);
			assert_true(oracleDistance(pose.a, pose.frameA, pose.b, out) > -1e-6 * pose.size);
		}
		release(&pose);
	}
	assert_true(penetrating > 100);
	assert_true(exactOnes > 0.9 * penetrating);
}

static void nothingBeyondTheMargin(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	for (int n = 0; n < 100; ++n) {
		Pose pose = randomPose(&random, 1.0);
		double exact = oracleDistance(pose.a, pose.frameA, pose.b, pose.frameB);
		knContactPoint points[KN_PAIR_MAX_POINTS];
		if (exact > 1e-3) {
			assert_int_equal(collide(&pose, exact * (1.0 - 1e-6), points), 0);
			assert_true(collide(&pose, exact * (1.0 + 2e-4), points) > 0);
		}
		release(&pose);
	}
}

// --- symmetries ---

static void exchangingTheBoxesMirrorsTheContacts(void** state) {
	(void)state;
	knTestRandom random = { 4 };
	for (int n = 0; n < 2000; ++n) {
		Pose pose = randomPose(&random, 1.0);
		double margin = testInt(&random, 2) == 0 ? 0.0 : 0.3;
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = collide(&pose, margin, points);
		assertSwapped(pose.a, pose.frameA, pose.b, pose.frameB, margin, points, count, 1e-9);
		release(&pose);
	}
}

static void movingBothBoxesMovesTheContacts(void** state) {
	(void)state;
	knTestRandom random = { 5 };
	for (int n = 0; n < 2000; ++n) {
		Pose pose = randomPose(&random, 1.0);
		knFrame motion = testFrame(&random, 10.0);
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = collide(&pose, 0.2, points);
		assertCarried(pose.a, pose.frameA, pose.b, pose.frameB, 0.2, motion, points, count, 1e-9);
		release(&pose);
	}
}

// --- resting ---

static void cubeOnCubeHasFourCorners(void** state) {
	(void)state;
	knGeom* cube = knGeom_Box(knV3(0.5, 0.5, 0.5), NULL, NULL);
	for (int n = 0; n < 3; ++n) {
		double gap = n == 0 ? -0.001 : (n == 1 ? 0.0 : 0.001);
		knFrame frameA = knIdentityF(), frameB = knMakeFrame(knV3(0.0, 0.0, 1.0 + gap), knIdentityQ());
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(cube, frameA, cube, frameB, 0.01, points, KN_PAIR_MAX_POINTS);
		assert_int_equal(count, 4);
		int corners = 0;
		for (int i = 0; i < 4; ++i) {
			assert_near(points[i].separation, gap, 1e-12);
			assert_near3(points[i].normal, knV3(0.0, 0.0, 1.0), 1e-12);
			assert_near(points[i].pointA.z, 0.5, 1e-12);
			assert_near(points[i].pointB.z, 0.5 + gap, 1e-12);
			assert_near(fabs(points[i].pointA.x), 0.5, 1e-12);
			assert_near(fabs(points[i].pointA.y), 0.5, 1e-12);
			corners |= 1 << ((points[i].pointA.x > 0.0) + 2 * (points[i].pointA.y > 0.0));
		}
		assert_int_equal(corners, 15);
	}
	knGeom_Release(cube);
}

// A cube turned by 45 degrees on another meets it in an octagon; four of its corners, well spread, remain.
static void turnedCubeKeepsAWideBase(void** state) {
	(void)state;
	knGeom* cube = knGeom_Box(knV3(0.5, 0.5, 0.5), NULL, NULL);
	knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), KN_PI / 4.0);
	knContactPoint points[KN_PAIR_MAX_POINTS];
	int count = knCollide_Pair(cube, knIdentityF(), cube, knMakeFrame(knV3(0.0, 0.0, 0.999), turn), 0.01,
							   points, KN_PAIR_MAX_POINTS);
	assert_int_equal(count, 4);
	knVec3 center = knZero3();
	for (int i = 0; i < 4; ++i) {
		center = knMulAdd(center, 0.25, points[i].pointA);
	}
	assert_near(center.x, 0.0, 0.15);
	assert_near(center.y, 0.0, 0.15);
	// area of the quadrilateral: at least half of the octagon's 2 (sqrt 2 - 1)
	knVec3 diagonal1 = knSub(points[2].pointA, points[0].pointA),
		   diagonal2 = knSub(points[3].pointA, points[1].pointA);
	assert_true(0.5 * knLength(knCross(diagonal1, diagonal2)) > (sqrt(2.0) - 1.0));
	knGeom_Release(cube);
}

typedef struct Resting {
	knVec3 halfA, halfB;
	knFrame frameB;
} Resting;

// Shaking by 1e-9 must not change which features touch, nor how they are named.
static void restingContactsKeepTheirNames(void** state) {
	(void)state;
	const Resting cases[] = {
		{ { 0.5, 0.5, 0.5 }, { 0.5, 0.5, 0.5 }, { { 0.0, 0.0, 1.0 }, { 1.0, 0.0, 0.0, 0.0 } } },
		{ { 0.5, 0.5, 0.5 }, { 0.5, 0.5, 0.5 }, { { 0.0, 0.0, 0.9999 }, { 1.0, 0.0, 0.0, 0.0 } } },
		{ { 0.5, 0.5, 0.5 }, { 0.5, 0.5, 0.5 }, { { 0.2, 0.0, 1.001 }, { 1.0, 0.0, 0.0, 0.0 } } },
		{ { 5.0, 5.0, 0.5 },
		  { 0.5, 0.5, 0.5 },
		  { { 0.7, -0.3, 1.0 }, { 0.9238795325112867, 0.0, 0.0, 0.3826834323650898 } } },
		{ { 0.5, 0.5, 0.5 },
		  { 0.5, 0.5, 0.5 },
		  { { 0.0, 0.0, 0.9999 }, { 0.9238795325112867, 0.0, 0.0, 0.3826834323650898 } } },
		{ { 0.5, 0.2, 0.1 }, { 0.5, 0.2, 0.1 }, { { 0.25, 0.0, 0.2 }, { 1.0, 0.0, 0.0, 0.0 } } },
	};
	for (int n = 0; n < (int)(sizeof(cases) / sizeof(cases[0])); ++n) {
		knTestRandom random = { 6 };
		knGeom* a = knGeom_Box(cases[n].halfA, NULL, NULL);
		knGeom* b = knGeom_Box(cases[n].halfB, NULL, NULL);
		knContactPoint first[KN_PAIR_MAX_POINTS], points[KN_PAIR_MAX_POINTS];
		int firstCount =
			knCollide_Pair(a, knIdentityF(), b, cases[n].frameB, 0.01, first, KN_PAIR_MAX_POINTS);
		assert_int_equal(firstCount, 4);
		for (int step = 0; step < 1000; ++step) {
			knFrame shakenA = knMakeFrame(testVec3(&random, 1e-9), knQuat_Exp(testVec3(&random, 1e-9)));
			knFrame shake = knMakeFrame(testVec3(&random, 1e-9), knQuat_Exp(testVec3(&random, 1e-9)));
			knFrame shakenB =
				knMakeFrame(knAdd(cases[n].frameB.p, shake.p), knMulQ(shake.q, cases[n].frameB.q));
			int count = knCollide_Pair(a, shakenA, b, shakenB, 0.01, points, KN_PAIR_MAX_POINTS);
			assert_int_equal(count, 4);
			for (int i = 0; i < 4; ++i) {
				assert_true(points[i].feature == first[i].feature);
				assert_near3(points[i].pointA, first[i].pointA, 1e-6);
			}
		}
		knGeom_Release(a);
		knGeom_Release(b);
	}
}

// Aligned boxes and bricks in bond that settle: shaken by up to a hundredth of a millimetre, and when aligned by a
// millimetre, what cuts what changes all the time, the names do not.
static void settlingContactsKeepTheirNames(void** state) {
	(void)state;
	knGeom* cube = knGeom_Box(knV3(0.5, 0.5, 0.5), NULL, NULL);
	const double offsets[] = { 0.0, 0.3 };
	for (int n = 0; n < 4; ++n) {
		knTestRandom random = { 16 };
		double shake = n < 2 ? 1e-5 : 1e-3;
		knContactPoint before[KN_PAIR_MAX_POINTS], points[KN_PAIR_MAX_POINTS];
		int renamed = 0, beforeCount = 0;
		for (int step = 0; step < 2000; ++step) {
			knVec3 place = knAdd(knV3(offsets[n % 2], 0.0, 1.0 - shake), testVec3(&random, shake));
			knFrame frame = knMakeFrame(place, knQuat_Exp(testVec3(&random, shake)));
			int count = knCollide_Pair(cube, knIdentityF(), cube, frame, 0.01, points, KN_PAIR_MAX_POINTS);
			assert_int_equal(count, 4);
			for (int i = 0; i < count && step > 0; ++i) {
				bool known = false;
				for (int j = 0; j < beforeCount; ++j) {
					known = known || before[j].feature == points[i].feature;
				}
				renamed += !known;
			}
			memcpy(before, points, sizeof(points));
			beforeCount = count;
		}
		assert_in_range(renamed, 0, 8); // of 8000
	}
	knGeom_Release(cube);
}

// --- single features ---

static void crossedPrismsTouchAtTheirEdges(void** state) {
	(void)state;
	knGeom* prism = knGeom_Box(knV3(2.0, 0.1, 0.1), NULL, NULL);
	knQuat onEdge = knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), KN_PI / 4.0);
	knQuat across = knMulQ(knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), 1.0), onEdge);
	double reach = 0.1 * sqrt(2.0);
	for (int n = 0; n < 2; ++n) {
		double gap = n == 0 ? -0.01 : 0.01;
		knContactPoint points[KN_PAIR_MAX_POINTS];
		knFrame frameA = knMakeFrame(knZero3(), onEdge),
				frameB = knMakeFrame(knV3(0.3, 0.0, 2.0 * reach + gap), across);
		int count = knCollide_Pair(prism, frameA, prism, frameB, 0.02, points, KN_PAIR_MAX_POINTS);
		assert_int_equal(count, 1);
		assert_near(points[0].separation, gap, 1e-12);
		assert_near3(points[0].normal, knV3(0.0, 0.0, 1.0), 1e-12);
		// in the crossing of the two edges, seen from above
		assert_near3(points[0].pointA, knV3(0.3, 0.0, reach), 1e-9);
		assert_near3(points[0].pointB, knV3(0.3, 0.0, reach + gap), 1e-9);
	}
	knGeom_Release(prism);
}

static void cornerToCornerIsTheDistanceOfTheCorners(void** state) {
	(void)state;
	knGeom* cube = knGeom_Box(knV3(0.5, 0.5, 0.5), NULL, NULL);
	knVec3 gap = knV3(0.01, 0.02, 0.02);
	knContactPoint points[KN_PAIR_MAX_POINTS];
	int count =
		knCollide_Pair(cube, knIdentityF(), cube, knMakeFrame(knAdd(knV3(1.0, 1.0, 1.0), gap), knIdentityQ()),
					   0.1, points, KN_PAIR_MAX_POINTS);
	assert_int_equal(count, 1);
	assert_near(points[0].separation, 0.03, 1e-12);
	assert_near3(points[0].pointA, knV3(0.5, 0.5, 0.5), 1e-12);
	assert_near3(points[0].pointB, knAdd(knV3(0.5, 0.5, 0.5), gap), 1e-12);
	knGeom_Release(cube);
}

static void concentricBoxesSeparateAlongTheirThinnestSide(void** state) {
	(void)state;
	knGeom* a = knGeom_Box(knV3(1.0, 2.0, 3.0), NULL, NULL);
	knGeom* b = knGeom_Box(knV3(0.5, 0.5, 0.25), NULL, NULL);
	knContactPoint points[KN_PAIR_MAX_POINTS];
	int count = knCollide_Pair(a, knIdentityF(), b, knIdentityF(), 0.0, points, KN_PAIR_MAX_POINTS);
	assert_int_equal(count, 4);
	assert_near(points[0].separation, -1.5, 1e-12);
	assert_near(fabs(points[0].normal.x), 1.0, 1e-12);
	knGeom_Release(a);
	knGeom_Release(b);
}

// A grain of a tenth of a millimetre on a floor of kilometres.
static void sizesMayDifferByEightOrders(void** state) {
	(void)state;
	knTestRandom random = { 9 };
	knGeom* floor = knGeom_Box(knV3(1e4, 1e4, 1.0), NULL, NULL);
	knGeom* grain = knGeom_Box(knV3(1e-4, 1e-4, 1e-4), NULL, NULL);
	for (int n = 0; n < 500; ++n) {
		double gap = testUniform(&random, -1e-5, 1e-5);
		// flat, and then on a corner
		knQuat turn = n % 2 == 0 ? knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), testUniform(&random, 0.0, 3.0))
								 : testQuat(&random);
		knMat33 R = knQuat_ToMat33(turn);
		double reach = 1e-4 * (fabs(R.cx.z) + fabs(R.cy.z) + fabs(R.cz.z));
		knFrame frame =
			knMakeFrame(knV3(testUniform(&random, -5e3, 5e3), testUniform(&random, -5e3, 5e3), 0.0), turn);
		frame.p.z = 1.0 + reach + gap;
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(floor, knIdentityF(), grain, frame, 2e-5, points, KN_PAIR_MAX_POINTS);
		assert_int_equal(n % 2 == 0 ? count == 4 : count >= 1, true);
		assert_near(deepestOf(points, count), gap, 1e-11);
		assert_near3(points[0].normal, knV3(0.0, 0.0, 1.0), 1e-12);
		for (int i = 0; i < count; ++i) {
			assert_near(points[i].pointA.z, 1.0, 1e-11);
			assert_near(knGeom_Distance(grain, knInvPoint(frame, points[i].pointB)), 0.0, 1e-11);
		}
	}
	knGeom_Release(floor);
	knGeom_Release(grain);
}

// --- plane ---

static void cornersMeetThePlane(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	knGeom* plane = knGeom_Plane(NULL, NULL);
	for (int n = 0; n < 1000; ++n) {
		knGeom* box = knGeom_Box(randomExtents(&random), NULL, NULL);
		knFrame ground = testFrame(&random, 5.0);
		knFrame relative = knMakeFrame(testVec3(&random, 1.0), testQuat(&random));
		knFrame frame = knMulF(ground, relative);
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(box, frame, plane, ground, 0.1, points, KN_PAIR_MAX_POINTS);
		assertContacts(box, frame, plane, ground, 0.1, points, count);
		// the lowest corner by brute force
		knVec3 corners[8];
		double radius, lowest = INFINITY;
		oracleCore(box, relative, corners, &radius);
		for (int i = 0; i < 8; ++i) {
			lowest = fmin(lowest, corners[i].z);
		}
		assert_int_equal(count > 0, lowest < 0.1);
		if (count > 0) {
			assert_near(deepestOf(points, count), lowest, 1e-12);
			assert_near3(points[0].normal, knNeg(knRotate(ground.q, knV3(0.0, 0.0, 1.0))), 1e-12);
		}
		assertSwapped(box, frame, plane, ground, 0.1, points, count, 1e-12);
		knGeom_Release(box);
	}
	knGeom_Release(plane);
}

static void boxStandsOnThePlaneWithFourCorners(void** state) {
	(void)state;
	knTestRandom random = { 8 };
	knGeom* plane = knGeom_Plane(NULL, NULL);
	knGeom* box = knGeom_Box(knV3(0.5, 0.4, 0.3), NULL, NULL);
	uint64_t names[4] = { 0 };
	for (int step = 0; step < 1000; ++step) {
		knFrame frame = knMakeFrame(knAdd(knV3(1.0, 2.0, 0.2999), testVec3(&random, 1e-9)),
									knQuat_Exp(testVec3(&random, 1e-9)));
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(box, frame, plane, knIdentityF(), 1.0, points, KN_PAIR_MAX_POINTS);
		assert_int_equal(count, 4);
		for (int i = 0; i < 4; ++i) {
			assert_near(points[i].separation, -1e-4, 1e-8);
			assert_true(step == 0 || points[i].feature == names[i]);
			names[i] = points[i].feature;
		}
	}
	knGeom_Release(box);
	knGeom_Release(plane);
}

// A corner that touches a wall within rounding, on either side: nothing, or a contact as deep as that.
static void cornersThatJustTouchAreNotDeep(void** state) {
	(void)state;
	knTestRandom random = { 77 };
	Pose pose = { .a = knGeom_Box(knV3(0.25, 5.0, 6.0), NULL, NULL), .frameA = knIdentityF() };
	knVec3 half = knV3(0.243, 0.224, 0.174);
	pose.b = knGeom_Box(half, NULL, NULL);
	int found = 0;
	for (int n = 0; n < 4000; ++n) {
		knQuat turn = testQuat(&random);
		knVec3 inside = knInvRotate(turn, knV3(1.0, 0.0, 0.0));
		double reach = half.x * knAbs(inside.x) + half.y * knAbs(inside.y) + half.z * knAbs(inside.z);
		knVec3 at =
			knV3(0.25 + reach + testUniform(&random, -2e-16, 2e-16), testUniform(&random, -4.0, 4.0), -5.4);
		pose.frameB = knMakeFrame(at, turn);
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = collide(&pose, 0.0, points);
		found += count > 0;
		assert_true(count == 0 || deepestOf(points, count) > -1e-12);
	}
	assert_true(found > 100);
	release(&pose);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(separationIsTheDistanceOfSeparateBoxes),
		cmocka_unit_test(depthIsTheLeastTranslationOfPenetratingBoxes),
		cmocka_unit_test(nothingBeyondTheMargin),
		cmocka_unit_test(exchangingTheBoxesMirrorsTheContacts),
		cmocka_unit_test(movingBothBoxesMovesTheContacts),
		cmocka_unit_test(cornersThatJustTouchAreNotDeep),
		cmocka_unit_test(cubeOnCubeHasFourCorners),
		cmocka_unit_test(turnedCubeKeepsAWideBase),
		cmocka_unit_test(restingContactsKeepTheirNames),
		cmocka_unit_test(settlingContactsKeepTheirNames),
		cmocka_unit_test(crossedPrismsTouchAtTheirEdges),
		cmocka_unit_test(cornerToCornerIsTheDistanceOfTheCorners),
		cmocka_unit_test(concentricBoxesSeparateAlongTheirThinnestSide),
		cmocka_unit_test(sizesMayDifferByEightOrders),
		cmocka_unit_test(cornersMeetThePlane),
		cmocka_unit_test(boxStandsOnThePlaneWithFourCorners),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
