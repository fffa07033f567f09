// Ellipsoids: bounds, mass, and the distance of a point, which must be exact everywhere.
#include "geom/convex.h"
#include "support/kn_test.h"

static void test_bad_radii_are_refused(void** state) {
	(void)state;
	for (int k = 0; k < 3; ++k) {
		knVec3 radii = knV3(1.0, 2.0, 3.0);
		knSetComponent(&radii, k, k == 1 ? NAN : -1.0);
		knError error = { 0 };
		assert_null(knGeom_Ellipsoid(radii, NULL, &error));
		assert_int_equal(error.status, KN_BAD_DATA);
		assert_non_null(strstr(error.message, "ellipsoid"));
	}
}

// A sphere stretched along its axes: bounds and mass follow by stretching.
static void test_bounds_and_mass_are_those_of_a_stretched_sphere(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int n = 0; n < 100; ++n) {
		knVec3 e = knV3(testUniform(&random, 0.1, 1.0), testUniform(&random, 0.1, 1.0),
						testUniform(&random, 0.1, 1.0));
		knGeom* geom = knGeom_Ellipsoid(e, NULL, NULL);
		knFrame frame = testFrame(&random, 2.0);
		knAabb box = knGeom_Aabb(geom, frame);
		for (int k = 0; k < 3; ++k) {
			// the highest point: stretch the direction, take the unit sphere's top, stretch back
			knVec3 axis = knZero3();
			knSetComponent(&axis, k, 1.0);
			knVec3 d = knMulComponents(e, knInvRotate(frame.q, axis));
			knVec3 top = knPoint(frame, knMulComponents(e, knNormalize(d)));
			assert_near(knComponent(box.upper, k), knComponent(top, k), 1e-12);
			assert_near(knComponent(box.lower, k), 2.0 * knComponent(frame.p, k) - knComponent(top, k),
						1e-12);
		}
		knMassProps props = knGeom_MassProps(geom, 3.0);
		assert_near(props.mass, 4.0 * KN_PI * e.x * e.y * e.z, 1e-12);
		assert_near(props.inertia.cy.y, 0.2 * props.mass * (e.x * e.x + e.z * e.z), 1e-12);
		knGeom_Release(geom);
	}
}

// Points made from a known foot: foot + t normal is |t| away, outside without limit, inside up to the smallest radius
// of curvature, e_min^2 / e_max.
static void test_distance_along_normals_is_exact(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	for (int n = 0; n < 20000; ++n) {
		double scale = pow(10.0, testUniform(&random, -4.0, 4.0));
		knVec3 e = knScale(scale, knV3(pow(10.0, testUniform(&random, -2.0, 0.0)),
									   pow(10.0, testUniform(&random, -2.0, 0.0)), 1.0));
		if (n % 5 == 0) {
			e.y = e.x; // of revolution
		}
		knVec3 u = testUnit3(&random);
		if (n % 3 == 0) {
			knSetComponent(&u, testInt(&random, 3), 0.0); // in a plane of symmetry
			u = knNormalize(u);
		}
		knVec3 foot = knMulComponents(e, u);
		knVec3 normal = knNormalize(knV3(u.x / e.x, u.y / e.y, u.z / e.z));
		double least = fmin(e.x, fmin(e.y, e.z)), most = fmax(e.x, fmax(e.y, e.z));
		double t = n % 2 == 0 ? scale * testUniform(&random, 0.0, 3.0)
							  : -least * least / most * testUniform(&random, 0.0, 0.99);
		knClosest closest = knEllipsoid_Closest(e, knMulAdd(foot, t, normal));
		assert_near(closest.distance, t, 1e-12 * most);
		assert_near(knLength(closest.normal), 1.0, 1e-12);
		// near the centre of curvature the foot itself is badly determined
		if (t >= 0.0 || t > -0.9 * least * least / most) {
			assert_near3(closest.point, foot, 1e-9 * most * most / least);
			assert_near(knDot(closest.normal, normal), 1.0, 1e-9);
		}
	}
}

// Deep inside: against a dense scan of the surface.
static void test_distance_inside_agrees_with_a_scan(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	for (int n = 0; n < 60; ++n) {
		knVec3 e = knV3(testUniform(&random, 0.2, 1.0), testUniform(&random, 0.2, 1.0),
						testUniform(&random, 0.2, 1.0));
		knVec3 p = knScale(testUniform(&random, 0.0, 0.9), knMulComponents(e, testUnit3(&random)));
		p = n == 0 ? knZero3() : p;
		if (n % 4 == 1) {
			knSetComponent(&p, testInt(&random, 3), 0.0);
		}
		double best = INFINITY;
		for (int i = 0; i <= 400; ++i) {
			for (int j = 0; j < 800; ++j) {
				double theta = KN_PI * i / 400, phi = 2.0 * KN_PI * j / 800;
				knVec3 q = knV3(e.x * sin(theta) * cos(phi), e.y * sin(theta) * sin(phi), e.z * cos(theta));
				best = fmin(best, knDistance(p, q));
			}
		}
		knClosest closest = knEllipsoid_Closest(e, p);
		assert_near(closest.distance, -best, 1e-4);
		assert_near(knDistance(p, closest.point), -closest.distance, 1e-15);
		knVec3 q = knV3(closest.point.x / e.x, closest.point.y / e.y, closest.point.z / e.z);
		assert_near(knLength(q), 1.0, 1e-12);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_radii_are_refused),
		cmocka_unit_test(test_bounds_and_mass_are_those_of_a_stretched_sphere),
		cmocka_unit_test(test_distance_along_normals_is_exact),
		cmocka_unit_test(test_distance_inside_agrees_with_a_scan),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
