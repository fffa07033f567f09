// Cylinders: refusals, bounds, mass and distance.
#include "knuckle/collide.h"
#include "support/kn_test.h"

static void test_bad_sizes_are_refused(void** state) {
	(void)state;
	const double bad[] = { 0.0, -1.0, NAN, INFINITY, 1e10, 1e-200 };
	for (int n = 0; n < (int)(sizeof(bad) / sizeof(bad[0])); ++n) {
		knError error = { 0 };
		assert_null(knGeom_Cylinder(bad[n], 1.0, NULL, &error));
		assert_int_equal(error.status, KN_BAD_DATA);
		assert_non_null(strstr(error.message, "radius"));
		assert_null(knGeom_Cylinder(1.0, bad[n], NULL, &error));
		assert_non_null(strstr(error.message, "half length"));
	}
	knGeom* cylinder = knGeom_Cylinder(0.5, 2.0, NULL, NULL);
	assert_int_equal(knGeom_Kind(cylinder), KN_GEOM_CYLINDER);
	assert_string_equal(knGeomKind_Name(KN_GEOM_CYLINDER), "cylinder");
	assert_near3(knGeom_Size(cylinder), knV3(0.5, 2.0, 0.0), 0.0);
	knGeom_Release(cylinder);
}

// Bounds against the farthest of many points on the two rims.
static void test_bounds_are_tight(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int n = 0; n < 100; ++n) {
		double radius = testUniform(&random, 0.1, 1.0), half = testUniform(&random, 0.1, 1.0);
		knGeom* cylinder = knGeom_Cylinder(radius, half, NULL, NULL);
		knFrame frame = testFrame(&random, 3.0);
		knAabb box = knGeom_Aabb(cylinder, frame);
		knVec3 lower = knV3(1e9, 1e9, 1e9), upper = knNeg(lower);
		for (int k = 0; k < 4000; ++k) {
			double angle = 2.0 * KN_PI * (k / 2) / 2000;
			knVec3 p =
				knPoint(frame, knV3(radius * cos(angle), radius * sin(angle), k % 2 == 0 ? half : -half));
			lower = knMin3(lower, p);
			upper = knMax3(upper, p);
		}
		assert_near3(box.lower, lower, 1e-5);
		assert_near3(box.upper, upper, 1e-5);
		knGeom_Release(cylinder);
	}
}

// Mass properties against sums over thin slices, each a disc.
static void test_mass_is_that_of_its_slices(void** state) {
	(void)state;
	double radius = 0.3, half = 0.7, density = 800.0;
	knGeom* cylinder = knGeom_Cylinder(radius, half, NULL, NULL);
	knMassProps props = knGeom_MassProps(cylinder, density);
	double mass = 0.0, along = 0.0, across = 0.0;
	int slices = 2000;
	for (int k = 0; k < slices; ++k) {
		double z = -half + (k + 0.5) * 2.0 * half / slices;
		double m = density * KN_PI * radius * radius * 2.0 * half / slices;
		mass += m;
		along += 0.5 * m * radius * radius;
		across += m * (0.25 * radius * radius + z * z);
	}
	assert_near(props.mass, mass, 1e-9 * mass);
	assert_near(props.inertia.cz.z, along, 1e-9 * along);
	assert_near(props.inertia.cx.x, across, 1e-6 * across);
	assert_near(props.inertia.cy.y, across, 1e-6 * across);
	assert_near3(props.center, knZero3(), 0.0);
	knGeom_Release(cylinder);
}

// In the half plane through the axis the cylinder is a rectangle: brute force over its border.
static void test_distance_is_that_of_its_profile(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	for (int n = 0; n < 200; ++n) {
		double radius = testUniform(&random, 0.1, 1.0), half = testUniform(&random, 0.1, 1.0);
		knGeom* cylinder = knGeom_Cylinder(radius, half, NULL, NULL);
		knVec3 p = testVec3(&random, 1.5);
		double rho = hypot(p.x, p.y), best = INFINITY;
		for (int k = 0; k <= 4000; ++k) {
			double x = radius * k / 4000.0, z = -half + 2.0 * half * k / 4000.0;
			best = fmin(best, fmin(hypot(rho - x, p.z - half), hypot(rho - x, p.z + half)));
			best = fmin(best, hypot(rho - radius, p.z - z));
		}
		bool inside = rho < radius && fabs(p.z) < half;
		assert_near(knGeom_Distance(cylinder, p), inside ? -best : best, 1e-3);
		knGeom_Release(cylinder);
	}
	knGeom* cylinder = knGeom_Cylinder(1.0, 2.0, NULL, NULL);
	assert_near(knGeom_Distance(cylinder, knV3(4.0, 0.0, 6.0)), 5.0, 1e-15);
	assert_near(knGeom_Distance(cylinder, knZero3()), -1.0, 0.0);
	assert_near(knGeom_Distance(cylinder, knV3(0.0, 0.5, 1.9)), -0.1, 1e-15);
	knGeom_Release(cylinder);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_sizes_are_refused),
		cmocka_unit_test(test_bounds_are_tight),
		cmocka_unit_test(test_mass_is_that_of_its_slices),
		cmocka_unit_test(test_distance_is_that_of_its_profile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
