// The pair grid as a whole, and compounds against a loop over their parts.
#include "collide/random_world.h"

enum { MOST = 4000 };

static uint64_t featureOf(int childA, int childB, uint64_t own) {
	return (uint64_t)childA << 44 | (uint64_t)childB << 24 | own;
}

// Shapes that reach 0.5 up and down, a capsule 1; NULL for kinds that are tested elsewhere.
static knGeom* makeKind(knGeomKind kind) {
	switch (kind) {
	case KN_GEOM_SPHERE:
		return knGeom_Sphere(0.5, NULL, NULL);
	case KN_GEOM_CAPSULE:
		return knGeom_Capsule(0.5, 0.5, NULL, NULL);
	case KN_GEOM_BOX:
		return knGeom_Box(knV3(0.5, 0.5, 0.5), NULL, NULL);
	case KN_GEOM_PLANE:
		return knGeom_Plane(NULL, NULL);
	case KN_GEOM_CYLINDER:
		return knGeom_Cylinder(0.5, 0.5, NULL, NULL);
	case KN_GEOM_ELLIPSOID:
		return knGeom_Ellipsoid(knV3(0.6, 0.7, 0.5), NULL, NULL);
	case KN_GEOM_HULL: {
		const knVec3 prism[] = { { 0.5, 0.5, -0.5 }, { 0.5, -0.5, -0.5 }, { -0.5, 0.0, -0.5 },
								 { 0.5, 0.5, 0.5 },  { 0.5, -0.5, 0.5 },  { -0.5, 0.0, 0.5 } };
		return knGeom_Hull(prism, 6, NULL, NULL);
	}
	case KN_GEOM_COMPOUND: {
		knGeom* box = knGeom_Box(knV3(0.5, 0.5, 0.5), NULL, NULL);
		knGeomChild child = { box, knIdentityF() };
		knGeom* compound = knGeom_Compound(&child, 1, NULL, NULL);
		knGeom_Release(box);
		return compound;
	}
	default:
		return NULL;
	}
}

// Every kind touches every other in either order, with the normal from A to B; only planes ignore each other.
static void theGridIsFull(void** state) {
	(void)state;
	for (int i = 0; i < KN_GEOM_KIND_COUNT; ++i) {
		for (int j = 0; j < KN_GEOM_KIND_COUNT; ++j) {
			knGeom *a = makeKind((knGeomKind)i), *b = makeKind((knGeomKind)j);
			if (a == NULL || b == NULL) {
				knGeom_Release(a);
				knGeom_Release(b);
				continue;
			}
			// B 0.1 deep in A, above it; planes face the other
			knVec3 size = knV3(0.5, 1.0, 0.5);
			double reachA = i == KN_GEOM_PLANE ? 0.0 : (i == KN_GEOM_CAPSULE ? size.y : size.x);
			double reachB = j == KN_GEOM_PLANE ? 0.0 : (j == KN_GEOM_CAPSULE ? size.y : size.x);
			knFrame frameB = knMakeFrame(knV3(0.1, 0.05, reachA + reachB - 0.1), knIdentityQ());
			if (j == KN_GEOM_PLANE) {
				frameB.q = knQ(0.0, 1.0, 0.0, 0.0); // its normal points down, at A
			}
			knContactPoint points[KN_PAIR_MAX_POINTS];
			int count = knCollide_Pair(a, knIdentityF(), b, frameB, 0.0, points, KN_PAIR_MAX_POINTS);
			bool planes = i == KN_GEOM_PLANE && j == KN_GEOM_PLANE;
			assert_int_equal(count > 0, !planes);
			for (int k = 0; k < count; ++k) {
				assert_true(points[k].normal.z > 0.9);
				assert_true(points[k].separation < 0.0 && points[k].separation > -0.11);
			}
			knGeom_Release(a);
			knGeom_Release(b);
		}
	}
}

static knGeom* randomCompound(knTestRandom* random, int count) {
	knGeomChild children[64] = { 0 };
	for (int i = 0; i < count; ++i) {
		children[i].geom = worldConvex(random);
		children[i].frame = testFrame(random, 2.0);
	}
	knGeom* compound = knGeom_Compound(children, count, NULL, NULL);
	for (int i = 0; i < count; ++i) {
		knGeom_Release(children[i].geom);
	}
	return compound;
}

static int partCount(const knGeom* geom) {
	return knGeom_Kind(geom) == KN_GEOM_COMPOUND ? knGeom_ChildCount(geom) : 1;
}

static knGeomChild part(const knGeom* geom, int index) {
	return knGeom_Kind(geom) == KN_GEOM_COMPOUND ? knGeom_Child(geom, index)
												 : (knGeomChild){ geom, knIdentityF() };
}

static const knContactPoint* findFeature(const knContactPoint* points, int count, uint64_t feature) {
	for (int i = 0; i < count; ++i) {
		if (points[i].feature == feature) {
			return &points[i];
		}
	}
	return NULL;
}

// Every contact of every pair of parts is there, bit for bit, under its own name, and no other.
static int assertParts(const knGeom* a, knFrame frameA, const knGeom* b, knFrame frameB, double margin) {
	static knContactPoint points[MOST];
	int count = knCollide_Pair(a, frameA, b, frameB, margin, points, MOST), expected = 0;
	assert_true(count <= MOST);
	for (int i = 0; i < partCount(a); ++i) {
		for (int j = 0; j < partCount(b); ++j) {
			knGeomChild partA = part(a, i), partB = part(b, j);
			knContactPoint own[KN_PAIR_MAX_POINTS];
			knFrame placedA = partA.geom == a ? frameA : knMulF(frameA, partA.frame);
			knFrame placedB = partB.geom == b ? frameB : knMulF(frameB, partB.frame);
			int ownCount =
				knCollide_Pair(partA.geom, placedA, partB.geom, placedB, margin, own, KN_PAIR_MAX_POINTS);
			expected += ownCount;
			for (int k = 0; k < ownCount; ++k) {
				const knContactPoint* found = findFeature(points, count, featureOf(i, j, own[k].feature));
				assert_non_null(found);
				own[k].feature = found->feature;
				assert_memory_equal(found, &own[k], sizeof(knContactPoint));
			}
		}
	}
	assert_int_equal(count, expected);
	return count;
}

static void compoundsCollideWithAllTheirParts(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	knGeom* plane = knGeom_Plane(NULL, NULL);
	int contacts = 0;
	for (int n = 0; n < 300; ++n) {
		knGeom* a = randomCompound(&random, 1 + testInt(&random, 40));
		knGeom* b = n % 4 == 0   ? worldConvex(&random)
					: n % 4 == 1 ? plane
								 : randomCompound(&random, 1 + testInt(&random, 40));
		knFrame frameA = testFrame(&random, 1.0), frameB = testFrame(&random, 2.0);
		double margin = testUniform(&random, 0.0, 0.3);
		contacts += assertParts(a, frameA, b, frameB, margin);
		contacts += assertParts(b, frameB, a, frameA, margin);
		knGeom_Release(a);
		if (b != plane) {
			knGeom_Release(b);
		}
	}
	assert_true(contacts > 5000);
	knGeom_Release(plane);
}

static void onlyTheCapacityIsWritten(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	knGeom *a = randomCompound(&random, 30), *b = randomCompound(&random, 30);
	knContactPoint all[MOST], some[8];
	int count = knCollide_Pair(a, knIdentityF(), b, knIdentityF(), 0.0, all, MOST);
	assert_true(count > 20);
	memset(some, 0x5a, sizeof(some));
	knContactPoint untouched = some[7];
	assert_int_equal(knCollide_Pair(a, knIdentityF(), b, knIdentityF(), 0.0, some, 7), count);
	assert_memory_equal(some, all, 7 * sizeof(knContactPoint));
	assert_memory_equal(&some[7], &untouched, sizeof(knContactPoint));
	assert_int_equal(knCollide_Pair(a, knIdentityF(), b, knIdentityF(), 0.0, NULL, 0), count);
	// a face contact cut short as well
	knGeom* box = knGeom_Box(knV3(1.0, 1.0, 1.0), NULL, NULL);
	knFrame above = knMakeFrame(knV3(0.0, 0.0, 1.99), knIdentityQ());
	assert_int_equal(knCollide_Pair(box, knIdentityF(), box, above, 0.0, some, 2), 4);
	knGeom_Release(box);
	knGeom_Release(a);
	knGeom_Release(b);
}

// Poses that are not finite are the caller's to refuse; here they must only do no harm.
static void notFinitePosesDoNoHarm(void** state) {
	(void)state;
	const knFrame bad[] = {
		{ { NAN, 0.0, 0.0 }, { 1.0, 0.0, 0.0, 0.0 } }, { { 0.0, INFINITY, 0.0 }, { 1.0, 0.0, 0.0, 0.0 } },
		{ { 0.0, 0.0, 0.0 }, { NAN, 0.0, 0.0, 0.0 } }, { { 1e300, 1e300, -1e300 }, { 1.0, 0.0, 0.0, 0.0 } },
		{ { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0, 0.0 } },
	};
	for (int n = 0; n < (int)(sizeof(bad) / sizeof(bad[0])); ++n) {
		for (int i = 0; i < KN_GEOM_KIND_COUNT; ++i) {
			for (int j = 0; j < KN_GEOM_KIND_COUNT; ++j) {
				knGeom *a = makeKind((knGeomKind)i), *b = makeKind((knGeomKind)j);
				if (a == NULL || b == NULL) {
					knGeom_Release(a);
					knGeom_Release(b);
					continue;
				}
				knContactPoint points[KN_PAIR_MAX_POINTS];
				int count = knCollide_Pair(a, knIdentityF(), b, bad[n], 0.1, points, KN_PAIR_MAX_POINTS);
				assert_in_range(count, 0, KN_PAIR_MAX_POINTS);
				count = knCollide_Pair(a, bad[n], b, knIdentityF(), 0.1, points, KN_PAIR_MAX_POINTS);
				assert_in_range(count, 0, KN_PAIR_MAX_POINTS);
				knGeom_Release(a);
				knGeom_Release(b);
			}
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(theGridIsFull),
		cmocka_unit_test(compoundsCollideWithAllTheirParts),
		cmocka_unit_test(onlyTheCapacityIsWritten),
		cmocka_unit_test(notFinitePosesDoNoHarm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
