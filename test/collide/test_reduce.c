// Reduction of many contacts: the deepest and the support polygon stay, in any number, within the limit.
#include "support/kn_test.h"

#include "collide/reduce.h"

static knContactPoint pointAt(knVec3 place, knVec3 normal, double separation, uint64_t feature) {
	return (knContactPoint){ place, knMulAdd(place, separation, normal), normal, separation, feature };
}

// A square of points on one plane: its four corners and the deepest point stay.
static void test_corners_and_deepest_stay(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int trial = 0; trial < 50; ++trial) {
		knFrame frame = testFrame(&random, 1.0);
		knReducer reducer;
		knReducer_Init(&reducer, 2.0);
		knVec3 normal = knRotate(frame.q, knV3(0.0, 0.0, 1.0));
		int deepest = testInt(&random, 21 * 21);
		for (int i = 0; i < 21 * 21; ++i) {
			knVec3 local = knV3(0.05 * (i % 21) - 0.5, 0.05 * (i / 21) - 0.5, 0.0);
			knContactPoint point =
				pointAt(knPoint(frame, local), normal, i == deepest ? -0.02 : -0.01, (uint64_t)i);
			knReducer_Add(&reducer, &point);
		}
		knContactPoint kept[KN_MESH_MAX_POINTS];
		int count = knReducer_Finish(&reducer, kept);
		assert_in_range(count, 5, 24);
		bool found = false;
		int corners = 0;
		for (int i = 0; i < count; ++i) {
			int f = (int)kept[i].feature;
			found = found || f == deepest;
			corners += f == 0 || f == 20 || f == 420 || f == 440;
		}
		assert_true(found);
		assert_true(corners >= 4 || deepest == 0 || deepest == 20 || deepest == 420 || deepest == 440);
	}
}

// A round bottom over a plane: the lowest points stay, not only those around them that hardly come near. Without them
// a body that came to rest on three of its vertices would lose them, sink, find them again and tremble.
static void test_lowest_of_a_round_bottom_stay(void** state) {
	(void)state;
	knReducer reducer;
	knReducer_Init(&reducer, 2.0);
	for (int i = 0; i < 41 * 41; ++i) {
		double x = 0.01 * (i % 41) - 0.2, y = 0.01 * (i / 41) - 0.2;
		double gap = x * x + y * y;
		knContactPoint point = pointAt(knV3(x, y, 0.0), knV3(0.0, 0.0, 1.0), gap, (uint64_t)i);
		knReducer_Add(&reducer, &point);
	}
	knContactPoint kept[KN_MESH_MAX_POINTS];
	int count = knReducer_Finish(&reducer, kept), low = 0;
	for (int i = 0; i < count; ++i) {
		low += kept[i].separation < 2.5e-4; // the middle and its eight neighbours
	}
	assert_int_equal(low, 9);
	assert_true(count <= 25);
}

// However many and however wild: never more than the limit, no feature twice, the deepest of all among them.
static void test_limit_holds(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	knReducer reducer;
	knReducer_Init(&reducer, 0.5);
	double deepest = INFINITY;
	for (int i = 0; i < 5000; ++i) {
		double separation = testUniform(&random, -0.1, 0.1);
		knVec3 place = testVec3(&random, 1.0);
		knContactPoint point = pointAt(place, testUnit3(&random), separation, (uint64_t)i);
		knReducer_Add(&reducer, &point);
		deepest = knMin(deepest, separation);
	}
	knContactPoint kept[KN_MESH_MAX_POINTS];
	int count = knReducer_Finish(&reducer, kept);
	assert_in_range(count, KN_REDUCE_CLUSTERS, KN_MESH_MAX_POINTS);
	double least = INFINITY;
	for (int i = 0; i < count; ++i) {
		least = knMin(least, kept[i].separation);
		for (int k = 0; k < i; ++k) {
			assert_true(kept[k].feature != kept[i].feature);
		}
	}
	assert_near(least, deepest, 1e-6);
}

// What touches goes before what is only near, even if that lies farther out.
static void test_touching_points_go_before_near_ones(void** state) {
	(void)state;
	knReducer reducer;
	knReducer_Init(&reducer, 2.0);
	knVec3 up = knV3(0.0, 0.0, 1.0);
	for (int i = 0; i < 64; ++i) {
		double angle = 2.0 * KN_PI * i / 64;
		bool near = i % 2;
		double radius = near ? 0.5 : 0.45;
		knVec3 place = knV3(radius * knCos(angle), radius * knSin(angle), 0.0);
		knContactPoint point = pointAt(place, up, near ? 0.05 : 0.0, (uint64_t)i);
		knReducer_Add(&reducer, &point);
	}
	knContactPoint kept[KN_MESH_MAX_POINTS];
	int count = knReducer_Finish(&reducer, kept);
	assert_true(count >= 8);
	for (int i = 0; i < count; ++i) {
		assert_true(kept[i].separation == 0.0);
	}
}

// Ahead of a motion, every gap that is left out stays open: whatever small turn and slide brings the contacts that are
// kept no deeper than before, none that was left out gets below them.
static void test_gaps_left_out_stay_open(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	const double tilt = 0.05, slide = 0.002;
	int dropped = 0;
	for (int trial = 0; trial < 30; ++trial) {
		double radius = testUniform(&random, 0.02, 0.5);
		knReducer reducer;
		knReducer_Init(&reducer, 0.5);
		knReducer_SetMotion(&reducer, slide, tilt, trial % 2);
		knContactPoint all[400], kept[KN_MESH_MAX_POINTS];
		for (int i = 0; i < 400; ++i) {
			knVec3 across = knV3(testUniform(&random, -0.03, 0.03), testUniform(&random, -0.03, 0.03), 0.0);
			double rise = 0.5 * knLengthSquared(across) / radius;
			knVec3 normal = knNormalize(knMulAdd(knV3(0.0, 0.0, 1.0), 1.0 / radius, across));
			all[i] = pointAt(across, normal, rise, (uint64_t)i);
			knReducer_Add(&reducer, &all[i]);
		}
		int count = knReducer_Finish(&reducer, kept);
		// turn about the deepest and slide: what was left out is not below the lowest of what was kept
		for (int way = 0; way < 8; ++way) {
			knVec3 turn = knScale(0.5 * tilt, knV3(knCos(way), knSin(way), 0.0));
			knVec3 go = knScale(0.5 * slide, knV3(knSin(2.0 * way), knCos(2.0 * way), 0.0));
			double leastKept = INFINITY, least = INFINITY;
			for (int i = 0; i < 400; ++i) {
				knVec3 moved = knAdd(go, knCross(turn, all[i].pointA));
				double gap = all[i].separation + knDot(all[i].normal, moved);
				least = knMin(least, gap);
			}
			for (int i = 0; i < count; ++i) {
				knVec3 moved = knAdd(go, knCross(turn, kept[i].pointA));
				leastKept = knMin(leastKept, kept[i].separation + knDot(kept[i].normal, moved));
			}
			assert_true(least > leastKept - 0.1 * (tilt * 0.06 + slide));
		}
		dropped += 400 - count;
		assert_true(count <= (trial % 2 ? 16 : 30));
	}
	assert_true(dropped > 0);
}

// Ahead of a motion a flat patch keeps its corners, and two patches that look different ways both stay.
static void test_patches_keep_their_corners_ahead(void** state) {
	(void)state;
	knReducer reducer;
	knReducer_Init(&reducer, 1.0);
	knReducer_SetMotion(&reducer, 1e-3, 0.05, true);
	for (int i = 0; i < 2 * 11 * 11; ++i) {
		double x = 0.02 * (i % 11) - 0.1, y = 0.02 * (i / 11 % 11) - 0.1;
		knVec3 floor = knV3(x, y, 0.0), wall = knV3(0.2, y, 0.2 + x);
		bool onFloor = i < 11 * 11;
		knContactPoint point = pointAt(onFloor ? floor : wall, onFloor ? knV3(0, 0, 1) : knV3(-1, 0, 0),
									   onFloor ? 0.0 : 2e-3, (uint64_t)i);
		knReducer_Add(&reducer, &point);
	}
	knContactPoint kept[KN_MESH_MAX_POINTS];
	int count = knReducer_Finish(&reducer, kept), corners = 0;
	for (int i = 0; i < count; ++i) {
		int cell = (int)kept[i].feature % 121;
		corners += cell == 0 || cell == 10 || cell == 110 || cell == 120;
	}
	assert_int_equal(corners, 8);
	assert_true(count <= 22);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corners_and_deepest_stay),
		cmocka_unit_test(test_lowest_of_a_round_bottom_stay),
		cmocka_unit_test(test_limit_holds),
		cmocka_unit_test(test_touching_points_go_before_near_ones),
		cmocka_unit_test(test_gaps_left_out_stay_open),
		cmocka_unit_test(test_patches_keep_their_corners_ahead),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
