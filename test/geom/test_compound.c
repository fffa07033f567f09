// Compounds: refusals, references, bounds and distances against a plain loop over the children.
#include "geom/geom.h"
#include "knuckle/collide.h"
#include "support/kn_test.h"

static knGeom* randomConvex(knTestRandom* random) {
	double a = testUniform(random, 0.1, 0.5), b = testUniform(random, 0.1, 0.5);
	switch (testInt(random, 3)) {
	case 0:
		return knGeom_Sphere(a, NULL, NULL);
	case 1:
		return knGeom_Capsule(a, b, NULL, NULL);
	default:
		return knGeom_Box(knV3(a, b, testUniform(random, 0.1, 0.5)), NULL, NULL);
	}
}

static knGeom* randomCompound(knTestRandom* random, int count, double spread) {
	knGeomChild children[300] = { 0 };
	for (int i = 0; i < count; ++i) {
		knGeom* geom = randomConvex(random);
		children[i] = (knGeomChild){ geom, testFrame(random, spread) };
	}
	knGeom* compound = knGeom_Compound(children, count, NULL, NULL);
	for (int i = 0; i < count; ++i) {
		knGeom_Release(children[i].geom); // the compound holds them
	}
	return compound;
}

static void childrenAreKept(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	knGeom* sphere = knGeom_Sphere(0.3, NULL, NULL);
	knFrame frame = testFrame(&random, 1.0);
	knGeomChild children[2] = { { sphere, frame }, { sphere, knIdentityF() } };
	knGeom* compound = knGeom_Compound(children, 2, NULL, NULL);
	knGeom_Release(sphere);
	assert_int_equal(knGeom_Kind(compound), KN_GEOM_COMPOUND);
	assert_int_equal(knGeom_ChildCount(compound), 2);
	knGeomChild child = knGeom_Child(compound, 0);
	assert_near(knGeom_Size(child.geom).x, 0.3, 0.0);
	assert_memory_equal(&child.frame, &frame, sizeof(frame));
	knGeom_Release(compound);
}

static void badChildrenAreRefused(void** state) {
	(void)state;
	knGeom* sphere = knGeom_Sphere(1.0, NULL, NULL);
	knGeom* plane = knGeom_Plane(NULL, NULL);
	knGeomChild good = { sphere, knIdentityF() };
	knGeom* compound = knGeom_Compound(&good, 1, NULL, NULL);
	knGeomChild bad[] = {
		{ plane, knIdentityF() },
		{ compound, knIdentityF() },
		{ NULL, knIdentityF() },
		{ sphere, { { NAN, 0.0, 0.0 }, { 1.0, 0.0, 0.0, 0.0 } } },
		{ sphere, { { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0, 0.0 } } },
	};
	for (int n = 0; n < (int)(sizeof(bad) / sizeof(bad[0])); ++n) {
		knGeomChild children[2] = { good, bad[n] };
		knError error = { 0 };
		assert_null(knGeom_Compound(children, 2, NULL, &error));
		assert_int_equal(error.status, KN_BAD_DATA);
		assert_non_null(strstr(error.element, "child 1"));
		assert_null(knGeom_Compound(children, 2, NULL, NULL));
	}
	knError error = { 0 };
	assert_null(knGeom_Compound(NULL, 0, NULL, &error));
	assert_int_equal(error.status, KN_BAD_DATA);
	assert_null(knGeom_Compound(&good, KN_GEOM_MAX_CHILDREN + 1, NULL, &error));
	assert_int_equal(error.status, KN_LIMIT);
	knGeom_Release(compound);
	knGeom_Release(plane);
	knGeom_Release(sphere);
}

static void failedMemoryLeavesNothing(void** state) {
	(void)state;
	knTestMemory own, shared;
	knAllocator allocator = testAllocator(&own), other = testAllocator(&shared);
	knGeom* sphere = knGeom_Sphere(1.0, &other, NULL);
	knGeomChild children[3] = { { sphere, knIdentityF() },
								{ sphere, knIdentityF() },
								{ sphere, knIdentityF() } };
	knGeom* compound = NULL;
	int refused = 0;
	for (int allowed = 0; compound == NULL; ++allowed) {
		own.calls = 0;
		own.failAfter = allowed;
		knError error = { 0 };
		compound = knGeom_Compound(children, 3, &allocator, &error);
		if (compound == NULL) {
			assert_int_equal(error.status, KN_NO_MEMORY);
			assert_int_equal(own.live, 0);
			++refused;
		}
	}
	assert_true(refused >= 3);
	knGeom_Release(sphere);
	assert_true(shared.live > 0); // the compound still holds it
	knGeom_Release(compound);
	assert_int_equal(own.live, 0);
	assert_int_equal(shared.live, 0);
}

static void distanceIsTheLeastOfTheChildren(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	for (int n = 0; n < 40; ++n) {
		int count = 1 + testInt(&random, 200);
		knGeom* compound = randomCompound(&random, count, 3.0);
		for (int k = 0; k < 100; ++k) {
			knVec3 p = testVec3(&random, 5.0);
			double least = INFINITY;
			for (int i = 0; i < count; ++i) {
				knGeomChild child = knGeom_Child(compound, i);
				least = fmin(least, knGeom_Distance(child.geom, knInvPoint(child.frame, p)));
			}
			assert_near(knGeom_Distance(compound, p), least, 0.0);
		}
		knGeom_Release(compound);
	}
}

static void boundsHoldTheChildren(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	const int counts[] = { 1, 2, 5, 16, 17, 100, 300 };
	for (int n = 0; n < 70; ++n) {
		int count = counts[n % 7];
		knGeom* compound = randomCompound(&random, count, 4.0);
		knFrame frame = testFrame(&random, 10.0);
		knAabb box = knGeom_Aabb(compound, frame), all = knAabb_Empty();
		for (int i = 0; i < count; ++i) {
			knGeomChild child = knGeom_Child(compound, i);
			all = knAabb_Union(all, knGeom_Aabb(child.geom, knMulF(frame, child.frame)));
		}
		assert_true(knAabb_Contains(knAabb_Grow(box, 1e-12), all));
		if (count <= KN_GEOM_COVER) { // exact for few children, else within the size of a sixteenth's box
			assert_true(knAabb_Contains(knAabb_Grow(all, 1e-12), box));
		}
		assert_true(knAabb_Contains(knAabb_Grow(all, 4.0), box));
		knGeom_Release(compound);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(childrenAreKept),           cmocka_unit_test(badChildrenAreRefused),
		cmocka_unit_test(failedMemoryLeavesNothing), cmocka_unit_test(distanceIsTheLeastOfTheChildren),
		cmocka_unit_test(boundsHoldTheChildren),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
