// Geometries: creation and its refusals, references, bounds and distances.
#include "knuckle/collide.h"
#include "support/kn_test.h"

// --- creation ---

static void sizesAreKept(void** state) {
	(void)state;
	knGeom* sphere = knGeom_Sphere(2.0, NULL, NULL);
	knGeom* capsule = knGeom_Capsule(0.5, 3.0, NULL, NULL);
	knGeom* box = knGeom_Box(knV3(1.0, 2.0, 3.0), NULL, NULL);
	knGeom* plane = knGeom_Plane(NULL, NULL);
	assert_near3(knGeom_Size(sphere), knV3(2.0, 0.0, 0.0), 0.0);
	assert_near3(knGeom_Size(capsule), knV3(0.5, 3.0, 0.0), 0.0);
	assert_near3(knGeom_Size(box), knV3(1.0, 2.0, 3.0), 0.0);
	assert_near3(knGeom_Size(plane), knZero3(), 0.0);
	assert_int_equal(knGeom_Kind(sphere), KN_GEOM_SPHERE);
	assert_int_equal(knGeom_Kind(capsule), KN_GEOM_CAPSULE);
	assert_int_equal(knGeom_Kind(box), KN_GEOM_BOX);
	assert_int_equal(knGeom_Kind(plane), KN_GEOM_PLANE);
	assert_int_equal(knGeom_ChildCount(box), 0);
	assert_string_equal(knGeomKind_Name(KN_GEOM_CAPSULE), "capsule");
	knGeom_Release(sphere);
	knGeom_Release(capsule);
	knGeom_Release(box);
	knGeom_Release(plane);
}

static void badSizesAreRefusedWithASentence(void** state) {
	(void)state;
	const double bad[] = { 0.0, -1.0, NAN, INFINITY, -INFINITY, 1e10, 1e-200 };
	for (int n = 0; n < (int)(sizeof(bad) / sizeof(bad[0])); ++n) {
		for (int place = 0; place < 6; ++place) {
			double size[6] = { 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 };
			size[place] = bad[n];
			knError error = { 0 };
			knGeom* geom = place == 0  ? knGeom_Sphere(size[0], NULL, &error)
						   : place < 3 ? knGeom_Capsule(size[1], size[2], NULL, &error)
									   : knGeom_Box(knV3(size[3], size[4], size[5]), NULL, &error);
			assert_null(geom);
			assert_int_equal(error.status, KN_BAD_DATA);
			assert_true(strlen(error.message) > 10);
			assert_true(strlen(error.element) > 0);
		}
	}
	assert_null(knGeom_Sphere(-1.0, NULL, NULL)); // the error may be NULL
}

static void memoryReturnsWithTheLastReference(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knGeom* box = knGeom_Box(knV3(1.0, 1.0, 1.0), &allocator, NULL);
	knGeom_Retain(box);
	knGeom_Release(box);
	assert_true(memory.live > 0);
	assert_int_equal(knGeom_Kind(box), KN_GEOM_BOX);
	knGeom_Release(box);
	assert_int_equal(memory.live, 0);
	knGeom_Release(NULL);

	memory.failAfter = memory.calls;
	knError error = { 0 };
	assert_null(knGeom_Sphere(1.0, &allocator, &error));
	assert_int_equal(error.status, KN_NO_MEMORY);
	assert_int_equal(memory.live, 0);
}

// --- bounds and distances ---

static knGeom* randomGeom(knTestRandom* random) {
	double a = testUniform(random, 0.2, 1.0), b = testUniform(random, 0.2, 1.0);
	switch (testInt(random, 3)) {
	case 0:
		return knGeom_Sphere(a, NULL, NULL);
	case 1:
		return knGeom_Capsule(a, b, NULL, NULL);
	default:
		return knGeom_Box(knV3(a, b, testUniform(random, 0.2, 1.0)), NULL, NULL);
	}
}

// How far a geometry reaches in a direction: from very far away, its distance is how far its tip is.
static double reachOf(const knGeom* geom, knFrame frame, knVec3 direction) {
	double far = 1e7;
	knVec3 point = knMulAdd(frame.p, far, direction);
	return knDot(frame.p, direction) + far - knGeom_Distance(geom, knInvPoint(frame, point));
}

static void boundsAreTight(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int n = 0; n < 1000; ++n) {
		knGeom* geom = randomGeom(&random);
		knFrame frame = testFrame(&random, 3.0);
		knAabb box = knGeom_Aabb(geom, frame);
		for (int k = 0; k < 3; ++k) {
			knVec3 axis = knZero3();
			knSetComponent(&axis, k, 1.0);
			assert_near(knComponent(box.upper, k), reachOf(geom, frame, axis), 1e-6);
			assert_near(-knComponent(box.lower, k), reachOf(geom, frame, knNeg(axis)), 1e-6);
		}
		knGeom_Release(geom);
	}
}

static void boundsOfKnownPoses(void** state) {
	(void)state;
	knGeom* box = knGeom_Box(knV3(1.0, 2.0, 3.0), NULL, NULL);
	knGeom* capsule = knGeom_Capsule(0.5, 2.0, NULL, NULL);
	knGeom* plane = knGeom_Plane(NULL, NULL);
	knFrame turned =
		knMakeFrame(knV3(10.0, 0.0, 0.0), knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), KN_PI / 4.0));
	knAabb bounds = knGeom_Aabb(box, turned);
	assert_near3(bounds.upper, knV3(10.0 + 3.0 / sqrt(2.0), 3.0 / sqrt(2.0), 3.0), 1e-12);
	turned.q = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), KN_PI / 6.0);
	bounds = knGeom_Aabb(capsule, turned);
	assert_near3(bounds.upper, knV3(11.5, 0.5, sqrt(3.0) + 0.5), 1e-12);
	assert_near3(bounds.lower, knV3(8.5, -0.5, -sqrt(3.0) - 0.5), 1e-12);
	bounds = knGeom_Aabb(plane, turned);
	assert_true(bounds.lower.x == -INFINITY && bounds.upper.z == INFINITY);
	knGeom_Release(box);
	knGeom_Release(capsule);
	knGeom_Release(plane);
}

// A distance function: slope at most 1 between any two points, and exactly 1 towards the surface.
static void distancesAreDistances(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	for (int n = 0; n < 2000; ++n) {
		knGeom* geom = randomGeom(&random);
		knVec3 p = testVec3(&random, 2.5), q = testVec3(&random, 2.5);
		double distance = knGeom_Distance(geom, p);
		assert_true(fabs(distance - knGeom_Distance(geom, q)) <= knDistance(p, q) + 1e-12);
		// walk along the gradient onto the surface
		knVec3 gradient;
		double step = 1e-6;
		gradient.x = knGeom_Distance(geom, knV3(p.x + step, p.y, p.z)) -
					 knGeom_Distance(geom, knV3(p.x - step, p.y, p.z));
		gradient.y = knGeom_Distance(geom, knV3(p.x, p.y + step, p.z)) -
					 knGeom_Distance(geom, knV3(p.x, p.y - step, p.z));
		gradient.z = knGeom_Distance(geom, knV3(p.x, p.y, p.z + step)) -
					 knGeom_Distance(geom, knV3(p.x, p.y, p.z - step));
		knVec3 foot = knMulAdd(p, -distance / (2.0 * step), gradient);
		assert_near(knGeom_Distance(geom, foot), 0.0, 1e-5);
		knGeom_Release(geom);
	}
	knGeom* plane = knGeom_Plane(NULL, NULL);
	assert_near(knGeom_Distance(plane, knV3(5.0, 6.0, -2.0)), -2.0, 0.0);
	knGeom_Release(plane);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizesAreKept),
		cmocka_unit_test(badSizesAreRefusedWithASentence),
		cmocka_unit_test(memoryReturnsWithTheLastReference),
		cmocka_unit_test(boundsAreTight),
		cmocka_unit_test(boundsOfKnownPoses),
		cmocka_unit_test(distancesAreDistances),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
