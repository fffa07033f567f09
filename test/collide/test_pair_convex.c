// Convex pairs without a closed form: exactness over all cells, symmetry, manifolds, names and degenerate poses.
#include "collide/convex_grid.h"

static void test_a_sample_of_all_cells_agrees_with_the_search(void** state) {
	(void)state;
	assertGridAgrees(120, 5);
}

// Exchanging the two mirrors the result.
static void test_exchanging_the_shapes_mirrors_the_contacts(void** state) {
	(void)state;
	OracleRandom random = { 3 };
	for (int n = 0; n < 4000; ++n) {
		int i = 1 + n % 5, j = 3 + n / 5 % 3;
		OraclePair pair = oracleRandomPair(gridKinds[i], gridKinds[j], &random);
		knContactPoint first[KN_PAIR_MAX_POINTS], second[KN_PAIR_MAX_POINTS];
		double margin = 0.3 * pair.size, deepest[2] = { INFINITY, INFINITY };
		int count = knCollide_Pair(pair.a.geom, pair.frameA, pair.b.geom, pair.frameB, margin, first,
								   KN_PAIR_MAX_POINTS);
		int other = knCollide_Pair(pair.b.geom, pair.frameB, pair.a.geom, pair.frameA, margin, second,
								   KN_PAIR_MAX_POINTS);
		for (int k = 0; k < count; ++k) {
			deepest[0] = fmin(deepest[0], first[k].separation);
		}
		for (int k = 0; k < other; ++k) {
			deepest[1] = fmin(deepest[1], second[k].separation);
		}
		if (deepest[0] < 0.29 * pair.size || deepest[1] < 0.29 * pair.size) {
			assert_near(deepest[0], deepest[1], 1e-6 * pair.size);
		}
		oracleRelease(&pair);
	}
}

// --- manifolds -------------------------------------------------------------------------------------------------

typedef struct Resting {
	knGeom *a, *b;
	knFrame frameB;
	int count;     // of contacts
	double spread; // least distance between the farthest two
} Resting;

static knGeom* cubeHull(double half) {
	knVec3 corners[8];
	for (int i = 0; i < 8; ++i) {
		corners[i] = knScale(half, knV3(i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0));
	}
	return knGeom_Hull(corners, 8, NULL, NULL);
}

// Shapes at rest above each other, touching by `gap`: full manifolds of equal separation and normal that keep their
// names when shaken by 1e-9.
static void test_resting_shapes_have_full_and_steady_manifolds(void** state) {
	(void)state;
	knQuat up = knIdentityQ(), lying = knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.5 * KN_PI);
	knGeom *floor = knGeom_Box(knV3(3.0, 3.0, 0.5), NULL, NULL), *cube = cubeHull(0.5);
	knGeom *can = knGeom_Cylinder(0.4, 0.5, NULL, NULL), *table = knGeom_Cylinder(2.0, 0.5, NULL, NULL);
	knGeom *pill = knGeom_Capsule(0.2, 0.6, NULL, NULL), *box = knGeom_Box(knV3(0.3, 0.4, 0.5), NULL, NULL);
	const Resting cases[] = {
		{ floor, can, { { 0.3, 0.2, 1.0 }, up }, 4, 0.75 },     // standing on a box
		{ floor, can, { { 0.3, 0.2, 0.9 }, lying }, 2, 0.99 },  // lying on a box
		{ table, can, { { 0.3, 0.2, 1.0 }, up }, 4, 0.75 },     // standing on a cylinder
		{ table, can, { { 0.3, 0.2, 0.9 }, lying }, 2, 0.99 },  // lying on a cylinder
		{ can, can, { { 0.0, 0.0, 1.0 }, up }, 4, 0.75 },       // column of cylinders
		{ floor, cube, { { 0.1, 0.1, 1.0 }, up }, 4, 1.41 },    // hull on a box
		{ cube, cube, { { 0.0, 0.0, 1.0 }, up }, 4, 1.41 },     // hull on a hull
		{ cube, cube, { { 0.3, 0.2, 1.0 }, up }, 4, 1.0 },      // bridging
		{ table, cube, { { 0.1, 0.1, 1.0 }, up }, 4, 1.41 },    // hull on a cylinder
		{ table, box, { { 0.1, 0.1, 1.0 }, up }, 4, 0.99 },     // box on a cylinder
		{ table, pill, { { 0.1, 0.1, 0.7 }, lying }, 2, 1.19 }, // capsule on a cylinder
		{ cube, pill, { { 0.0, 0.0, 0.7 }, lying }, 2, 0.99 },  // capsule on a hull
	};
	for (int n = 0; n < (int)(sizeof(cases) / sizeof(cases[0])); ++n) {
		const Resting* c = &cases[n];
		for (int g = 0; g < 3; ++g) {
			double gap = (g - 1) * 1e-4;
			knContactPoint first[KN_PAIR_MAX_POINTS], points[KN_PAIR_MAX_POINTS];
			knFrame above = c->frameB;
			above.p.z += gap;
			int count = knCollide_Pair(c->a, knIdentityF(), c->b, above, 0.01, first, KN_PAIR_MAX_POINTS);
			assert_int_equal(count, c->count);
			double spread = 0.0;
			for (int i = 0; i < count; ++i) {
				assert_near(first[i].separation, gap, 1e-10);
				assert_near3(first[i].normal, knV3(0.0, 0.0, 1.0), 1e-9);
				for (int j = 0; j < i; ++j) {
					spread = fmax(spread, knDistance(first[i].pointA, first[j].pointA));
					assert_true(first[i].feature != first[j].feature);
				}
			}
			assert_true(spread >= c->spread);
			knTestRandom random = { 6 };
			for (int step = 0; step < 50; ++step) {
				knFrame shaken = knMakeFrame(knAdd(above.p, testVec3(&random, 1e-9)),
											 knMulQ(knQuat_Exp(testVec3(&random, 1e-9)), above.q));
				count = knCollide_Pair(c->a, knIdentityF(), c->b, shaken, 0.01, points, KN_PAIR_MAX_POINTS);
				assert_int_equal(count, c->count);
				for (int i = 0; i < count; ++i) {
					assert_true(points[i].feature == first[i].feature);
					assert_near3(points[i].pointA, first[i].pointA, 1e-5);
				}
			}
		}
	}
	knGeom* all[] = { floor, cube, can, table, pill, box };
	for (int k = 0; k < 6; ++k) {
		knGeom_Release(all[k]);
	}
}

// A contact between nearly flat faces is exact all the same: the deepest point has the distance, and all its
// companions lie in the overlap with the same normal.
static void test_tilted_faces_keep_an_exact_deepest_point(void** state) {
	(void)state;
	OracleRandom random = { 9 };
	OracleNode* heap = malloc(ORACLE_NODES * sizeof(OracleNode));
	int wide = 0;
	for (int n = 0; n < 1500; ++n) {
		const knGeomKind flat[] = { KN_GEOM_BOX, KN_GEOM_CYLINDER, KN_GEOM_HULL };
		OraclePair pair = oracleRandomPair(flat[n % 3], flat[n / 3 % 3], &random);
		knQuat tilt = knQuat_Exp(knScale(oracleLog(&random, -7.0, -2.0), oracleUnit(&random)));
		double height =
			knGeom_Aabb(pair.a.geom, knIdentityF()).upper.z - knGeom_Aabb(pair.b.geom, knIdentityF()).lower.z;
		knVec3 aside = knScale(
			0.5 * pair.size, knV3(oracleUniform(&random, -1.0, 1.0), oracleUniform(&random, -1.0, 1.0), 0.0));
		aside.z = height + pair.size * oracleUniform(&random, -1e-3, 1e-3);
		pair.frameB = knMulF(pair.frameA, knMakeFrame(aside, tilt));
		OracleErrors errors = oracleCompare(&pair, heap);
		assert_true(errors.distance <= 1e-6 && errors.normal <= 1e-3 && errors.witness <= 1e-6);
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = knCollide_Pair(pair.a.geom, pair.frameA, pair.b.geom, pair.frameB, 0.05 * pair.size,
								   points, KN_PAIR_MAX_POINTS);
		for (int i = 1; i < count; ++i) {
			assert_near3(points[i].normal, points[0].normal, 0.0);
		}
		wide += count >= 3;
		oracleRelease(&pair);
	}
	assert_true(wide > 300);
	free(heap);
}

// --- degenerate poses --------------------------------------------------------------------------------------------

// One shape inside itself, exactly: the depth is that of the independent search.
static void test_concentric_shapes_have_a_depth(void** state) {
	(void)state;
	OracleRandom random = { 12 };
	OracleNode* heap = malloc(ORACLE_NODES * sizeof(OracleNode));
	for (int n = 0; n < 600; ++n) {
		OraclePair pair = oracleRandomPair(gridKinds[n % 6], gridKinds[n / 6 % 6], &random);
		pair.frameB = n % 2 == 0 ? pair.frameA : knMakeFrame(pair.frameA.p, pair.frameB.q);
		OracleErrors errors = oracleCompare(&pair, heap);
		assert_false(errors.missing);
		assert_true(errors.distance <= 1e-6 && errors.witness <= 1e-6);
		oracleRelease(&pair);
	}
	free(heap);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sample_of_all_cells_agrees_with_the_search),
		cmocka_unit_test(test_exchanging_the_shapes_mirrors_the_contacts),
		cmocka_unit_test(test_resting_shapes_have_full_and_steady_manifolds),
		cmocka_unit_test(test_tilted_faces_keep_an_exact_deepest_point),
		cmocka_unit_test(test_concentric_shapes_have_a_depth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
