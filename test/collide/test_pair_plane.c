// Plane against cylinder, ellipsoid and hull.
#include "support/kn_test.h"
#include "support/convex_oracle.h"

static int collide(const knGeom* geom, knFrame frame, double margin, knContactPoint* points) {
	knGeom* plane = knGeom_Plane(NULL, NULL);
	int count = knCollide_Pair(plane, knIdentityF(), geom, frame, margin, points, KN_PAIR_MAX_POINTS);
	knGeom_Release(plane);
	return count;
}

// The deepest contact is the lowest point, whatever the pose; every other one lies on both surfaces.
static void test_lowest_point_is_the_deepest_contact(void** state) {
	(void)state;
	OracleRandom random = { 1 };
	const knGeomKind kinds[] = { KN_GEOM_CYLINDER, KN_GEOM_ELLIPSOID, KN_GEOM_HULL };
	for (int n = 0; n < 6000; ++n) {
		OracleShape shape = oracleShape(kinds[n % 3], 1.0, &random);
		knFrame frame = knMakeFrame(knV3(1.0, 2.0, oracleUniform(&random, -0.5, 0.5)), oracleQuat(&random));
		knVec3 down = knInvRotate(frame.q, knV3(0.0, 0.0, -1.0));
		double lowest = knPoint(frame, oracleSupport(&shape, down)).z, deepest = INFINITY;
		knContactPoint points[KN_PAIR_MAX_POINTS];
		int count = collide(shape.geom, frame, 0.2, points);
		assert_int_equal(count > 0, lowest < 0.2);
		for (int i = 0; i < count; ++i) {
			deepest = fmin(deepest, points[i].separation);
			assert_near3(points[i].normal, knV3(0.0, 0.0, 1.0), 1e-12);
			assert_near(points[i].pointA.z, 0.0, 1e-12);
			assert_near(points[i].pointB.z, points[i].separation, 1e-12);
			assert_near(oracleOffSurface(&shape, knInvPoint(frame, points[i].pointB)), 0.0, 1e-9);
		}
		if (count > 0) {
			assert_near(deepest, lowest, 2e-7 * shape.reach);
		}
		knGeom_Release(shape.geom);
	}
}

static void test_a_cylinder_stands_on_four_points_and_lies_on_two(void** state) {
	(void)state;
	knGeom* can = knGeom_Cylinder(0.4, 0.5, NULL, NULL);
	knTestRandom random = { 2 };
	uint64_t names[2][KN_PAIR_MAX_POINTS] = { { 0 } };
	for (int step = 0; step < 500; ++step) {
		for (int lying = 0; lying < 2; ++lying) {
			knQuat turn = knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), lying ? 0.5 * KN_PI : 0.0);
			knFrame frame = knMakeFrame(knAdd(knV3(0.0, 0.0, lying ? 0.4 : 0.5), testVec3(&random, 1e-9)),
										knMulQ(knQuat_Exp(testVec3(&random, 1e-9)), turn));
			knContactPoint points[KN_PAIR_MAX_POINTS];
			int count = collide(can, frame, 0.01, points);
			assert_int_equal(count, lying ? 2 : 4);
			for (int i = 0; i < count; ++i) {
				assert_near(points[i].separation, 0.0, 1e-8);
				assert_true(step == 0 || points[i].feature == names[lying][i]);
				names[lying][i] = points[i].feature;
			}
			double spread = knDistance(points[0].pointA, points[count == 4 ? 2 : 1].pointA);
			assert_near(spread, lying ? 1.0 : 0.8, 1e-6);
		}
	}
	knGeom_Release(can);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lowest_point_is_the_deepest_contact),
		cmocka_unit_test(test_a_cylinder_stands_on_four_points_and_lies_on_two),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
