// Closest points, rays and casts of geometries, against closed forms, marching and brute force.
#include "support/kn_test.h"
#include "support/mesh_shapes.h"

#include "collide/time_of_impact.h"
#include "geom/mesh.h"
#include "knuckle/query.h"

enum { SPHERE, CAPSULE, BOX, CYLINDER, ELLIPSOID, HULL, MESH_BOX, TORUS, COMPOUND, HEIGHTS, PLANE, KINDS };

typedef struct Set {
	knGeom* geoms[KINDS];
	knTestMesh torus;
} Set;

static knGeom* meshOf(const knTestMesh* mesh) {
	knMeshDef def = testMeshDef(mesh);
	return knGeom_Mesh(&def, NULL, NULL);
}

static int makeSet(void** state) {
	static Set set;
	knTestRandom random = { 5 };
	knVec3 points[20];
	for (int i = 0; i < 20; ++i) {
		points[i] = knScale(0.4, testUnit3(&random));
	}
	knTestMesh box = testMeshBox(knV3(0.3, 0.2, 0.4));
	set.torus = testMeshTorus(0.5, 0.15, 24, 12);
	set.geoms[SPHERE] = knGeom_Sphere(0.3, NULL, NULL);
	set.geoms[CAPSULE] = knGeom_Capsule(0.15, 0.3, NULL, NULL);
	set.geoms[BOX] = knGeom_Box(knV3(0.3, 0.2, 0.4), NULL, NULL);
	set.geoms[CYLINDER] = knGeom_Cylinder(0.25, 0.3, NULL, NULL);
	set.geoms[ELLIPSOID] = knGeom_Ellipsoid(knV3(0.2, 0.3, 0.45), NULL, NULL);
	set.geoms[HULL] = knGeom_Hull(points, 20, NULL, NULL);
	set.geoms[MESH_BOX] = meshOf(&box);
	set.geoms[TORUS] = meshOf(&set.torus);
	knGeomChild children[3] = { { set.geoms[SPHERE], knMakeFrame(knV3(0.5, 0.0, 0.0), knIdentityQ()) },
								{ set.geoms[BOX], knMakeFrame(knV3(-0.4, 0.1, 0.0), testQuat(&random)) },
								{ set.geoms[MESH_BOX],
								  knMakeFrame(knV3(0.0, 0.0, 0.7), testQuat(&random)) } };
	set.geoms[COMPOUND] = knGeom_Compound(children, 3, NULL, NULL);
	double heights[64];
	for (int i = 0; i < 64; ++i) {
		heights[i] = testUniform(&random, -0.1, 0.1);
	}
	knHeightFieldDef field = { .columns = 8, .rows = 8, .cellX = 0.5, .cellY = 0.5, .heights = heights };
	set.geoms[HEIGHTS] = knGeom_HeightField(&field, NULL, NULL);
	set.geoms[PLANE] = knGeom_Plane(NULL, NULL);
	testMeshFree(&box);
	for (int i = 0; i < KINDS; ++i) {
		assert_non_null(set.geoms[i]);
	}
	*state = &set;
	return 0;
}

static int freeSet(void** state) {
	Set* set = *state;
	for (int i = 0; i < KINDS; ++i) {
		knGeom_Release(set->geoms[i]);
	}
	testMeshFree(&set->torus);
	return 0;
}

// --- closest points ------------------------------------------------------------------------------------------

static void checkWitness(const knClosestPoints* c, const knGeom* a, knFrame fa, const knGeom* b, knFrame fb) {
	assert_near(knLength(c->normal), 1.0, 1e-9);
	assert_near(knDot(knSub(c->pointB, c->pointA), c->normal), c->distance, 2e-6);
	assert_near(knGeom_Distance(a, knInvPoint(fa, c->pointA)), 0.0, 2e-6);
	assert_near(knGeom_Distance(b, knInvPoint(fb, c->pointB)), 0.0, 2e-6);
}

// For a pair that is apart: points of either surface are nowhere nearer to the other, by many random ones; and
// exchanging the two changes nothing.
static void test_closest_points_of_all_kinds(void** state) {
	const Set* set = *state;
	knTestRandom random = { 11 };
	for (int trial = 0; trial < 1000; ++trial) {
		int i = testInt(&random, KINDS), j = testInt(&random, KINDS);
		if ((i == PLANE && j == PLANE) || (i >= HEIGHTS && j >= HEIGHTS)) {
			continue;
		}
		const knGeom *a = set->geoms[i], *b = set->geoms[j];
		knFrame fa = testFrame(&random, 0.5), fb = testFrame(&random, 2.0);
		knClosestPoints ab, ba;
		bool found = knGeom_ClosestPoints(a, fa, b, fb, INFINITY, &ab);
		assert_true(found);
		assert_true(knGeom_ClosestPoints(b, fb, a, fa, INFINITY, &ba));
		assert_true((ab.distance < -1e-6) == (ba.distance < -1e-6));
		if (ab.distance < 1e-3) {
			continue;
		}
		assert_near(ab.distance, ba.distance, 2e-6);
		checkWitness(&ab, a, fa, b, fb);
		// the limit is a limit
		assert_false(knGeom_ClosestPoints(a, fa, b, fb, ab.distance - 1e-6, &ba));
		assert_true(knGeom_ClosestPoints(a, fa, b, fb, ab.distance + 1e-6, &ba));
		assert_near(ba.distance, ab.distance, 2e-6);
	}
}

// A box made of triangles is as far from everything as the box.
static void test_mesh_is_as_far_as_its_solid(void** state) {
	const Set* set = *state;
	knTestRandom random = { 12 };
	for (int trial = 0; trial < 2000; ++trial) {
		const knGeom* other = set->geoms[testInt(&random, HULL + 1)];
		knFrame fa = testFrame(&random, 0.3), fb = testFrame(&random, 1.2);
		knClosestPoints solid, mesh;
		knGeom_ClosestPoints(set->geoms[BOX], fa, other, fb, INFINITY, &solid);
		knGeom_ClosestPoints(set->geoms[MESH_BOX], fa, other, fb, INFINITY, &mesh);
		if (solid.distance > 0.0) {
			assert_near(mesh.distance, solid.distance, 1e-6);
		} else if (solid.distance < -1e-3) {
			assert_true(mesh.distance < 0.0);
		}
	}
}

// A ball and a torus of triangles: by all triangles, one by one.
static void test_mesh_against_brute_force(void** state) {
	const Set* set = *state;
	knTestRandom random = { 13 };
	for (int trial = 0; trial < 300; ++trial) {
		knVec3 p = testVec3(&random, 1.0);
		double least = INFINITY;
		for (int t = 0; t < set->torus.triangleCount; ++t) {
			knTriangle k = set->torus.triangles[t];
			int feature;
			knVec3 q = knTriangle_Closest(set->torus.vertices[k.a], set->torus.vertices[k.b],
										  set->torus.vertices[k.c], p, &feature);
			least = knMin(least, knDistance(p, q));
		}
		if (knGeom_Distance(set->geoms[TORUS], p) < 0.31) {
			continue;
		}
		knClosestPoints c;
		knFrame at = knMakeFrame(p, testQuat(&random));
		assert_true(knGeom_ClosestPoints(set->geoms[TORUS], knIdentityF(), set->geoms[SPHERE], at, 10.0, &c));
		assert_near(c.distance, least - 0.3, 1e-9);
	}
}

static void test_compound_is_its_children(void** state) {
	const Set* set = *state;
	knTestRandom random = { 14 };
	for (int trial = 0; trial < 500; ++trial) {
		knFrame fa = testFrame(&random, 1.0), fb = testFrame(&random, 2.0);
		const knGeom* other = set->geoms[testInt(&random, HULL + 1)];
		double least = INFINITY;
		for (int k = 0; k < 3; ++k) {
			knGeomChild child = knGeom_Child(set->geoms[COMPOUND], k);
			knClosestPoints c;
			knGeom_ClosestPoints(child.geom, knMulF(fa, child.frame), other, fb, INFINITY, &c);
			least = knMin(least, c.distance);
		}
		knClosestPoints all;
		knGeom_ClosestPoints(set->geoms[COMPOUND], fa, other, fb, INFINITY, &all);
		assert_near(all.distance, least, 1e-9);
	}
}

// --- rays ------------------------------------------------------------------------------------------------------

// Marches along a ray by the geometry's own distance; INFINITY: no hit. Grazing rays are left open (NAN).
static double march(const knGeom* geom, knFrame frame, knVec3 o, knVec3 d) {
	double x = 0.0, length = knLength(d);
	for (int i = 0; i < 20000; ++i) {
		double distance = knGeom_Distance(geom, knInvPoint(frame, knMulAdd(o, x, d)));
		if (distance < 1e-8) {
			return x;
		}
		x += distance / length;
		if (x > 1.0) {
			return INFINITY;
		}
	}
	return NAN;
}

static void test_rays_against_marching(void** state) {
	const Set* set = *state;
	knTestRandom random = { 21 };
	int hits = 0;
	for (int trial = 0; trial < 4000; ++trial) {
		const knGeom* geom = set->geoms[testInt(&random, KINDS)];
		knFrame frame = testFrame(&random, 0.3);
		knVec3 o = testVec3(&random, 1.5), d = knSub(testVec3(&random, 0.4), o);
		d = knScale(testUniform(&random, 0.5, 2.0), d);
		double expected = march(geom, frame, o, d);
		knGeomHit hit;
		bool found = knGeom_RayCast(geom, frame, o, d, &hit);
		if (isnan(expected)) {
			continue;
		}
		if (!isinf(expected) != found) {
			// a ray that only grazes may be seen either way
			double nearest = found ? fabs(knGeom_Distance(geom, knInvPoint(frame, hit.point))) : 1e-8;
			assert_true(nearest < 1e-6);
			continue;
		}
		hits += found;
		if (found) {
			assert_near(hit.fraction * knLength(d), expected * knLength(d), 1e-5);
			assert_near(knLength(hit.normal), 1.0, 1e-9);
			assert_true(knDot(hit.normal, d) <= 1e-9);
		}
	}
	assert_true(hits > 1000);
}

static void test_ray_facts(void** state) {
	const Set* set = *state;
	knGeomHit hit;
	knFrame at = knMakeFrame(knV3(2.0, 0.0, 0.0), knIdentityQ());
	// a ball of 0.3 at 2 along 4
	assert_true(knGeom_RayCast(set->geoms[SPHERE], at, knZero3(), knV3(4.0, 0.0, 0.0), &hit));
	assert_near(hit.fraction, 1.7 / 4.0, 1e-15);
	assert_near3(hit.normal, knV3(-1.0, 0.0, 0.0), 1e-12);
	// too short, past it, from inside, not a number
	assert_false(knGeom_RayCast(set->geoms[SPHERE], at, knZero3(), knV3(1.69, 0.0, 0.0), &hit));
	assert_false(knGeom_RayCast(set->geoms[SPHERE], at, knV3(0.0, 0.31, 0.0), knV3(4.0, 0.0, 0.0), &hit));
	assert_true(knGeom_RayCast(set->geoms[SPHERE], at, at.p, knV3(4.0, 0.0, 0.0), &hit));
	assert_near(hit.fraction, 0.0, 0.0);
	assert_near3(hit.normal, knV3(-1.0, 0.0, 0.0), 0.0);
	assert_false(knGeom_RayCast(set->geoms[SPHERE], at, knZero3(), knV3(NAN, 0.0, 0.0), &hit));
	// down on a plane
	assert_true(
		knGeom_RayCast(set->geoms[PLANE], knIdentityF(), knV3(0.0, 0.0, 2.0), knV3(1.0, 0.0, -8.0), &hit));
	assert_near(hit.fraction, 0.25, 1e-15);
	assert_near3(hit.point, knV3(0.25, 0.0, 0.0), 1e-15);
	// exactly through the common edge of two triangles
	assert_true(
		knGeom_RayCast(set->geoms[MESH_BOX], knIdentityF(), knV3(0.0, 0.0, 2.0), knV3(0.0, 0.0, -4.0), &hit));
	assert_near(hit.fraction, 1.6 / 4.0, 1e-12);
}

// --- casts -----------------------------------------------------------------------------------------------------

// Where the moving geometry is apart all the way, up to where it touches.
static void test_casts_against_sampling(void** state) {
	const Set* set = *state;
	knTestRandom random = { 31 };
	int hits = 0, misses = 0;
	for (int trial = 0; trial < 200; ++trial) {
		const knGeom* moving = set->geoms[testInt(&random, COMPOUND + 1)];
		const knGeom* target = set->geoms[testInt(&random, KINDS)];
		knFrame frame = testFrame(&random, 0.3);
		knVec3 from = knScale(testUniform(&random, 1.0, 4.0), testUnit3(&random));
		if (target == set->geoms[HEIGHTS]) {
			// only its upper side is a surface
			knVec3 above = knV3(testUniform(&random, -1.0, 1.0), 0.0, testUniform(&random, 1.5, 3.0));
			from = knPoint(frame, above);
		}
		knShapeCast cast = { .geom = moving, .frame = knMakeFrame(from, testQuat(&random)) };
		cast.translation = knScale(testUniform(&random, 0.5, 2.0), knSub(testVec3(&random, 1.5), from));
		cast.rotation = testInt(&random, 2) == 0 ? knZero3() : testVec3(&random, 4.0);
		knGeomHit hit;
		bool found = knGeom_Cast(&cast, target, frame, &hit);
		knClosestPoints c;
		knMoving way = { moving, cast.frame, cast.frame.p, knMakeTwist(cast.rotation, cast.translation) };
		double until = found ? hit.fraction : 1.0;
		if (found && hit.fraction == 0.0) {
			assert_true(knGeom_ClosestPoints(moving, cast.frame, target, frame, 1e-6, &c));
			continue;
		}
		for (int k = 0; k < 100; ++k) {
			double x = until * k / 100.0;
			bool near = knGeom_ClosestPoints(moving, knMoving_At(&way, x), target, frame, 0.0, &c);
			if (near && !(c.distance > -1e-3)) { // it may be nudged into what it hugs by 1 % of its thickness
				fail_msg("kinds %d and %d overlap by %g at %g of %g", (int)knGeom_Kind(moving),
						 (int)knGeom_Kind(target), c.distance, x, until);
			}
		}
		if (found) {
			hits += 1;
			knGeom_ClosestPoints(moving, knMoving_At(&way, hit.fraction), target, frame, INFINITY, &c);
			assert_true(c.distance < 1e-5 && c.distance > -5e-3);
			assert_near(knGeom_Distance(target, knInvPoint(frame, hit.point)), 0.0, 5e-3);
		} else {
			misses += 1;
		}
	}
	assert_true(hits > 50 && misses > 10);
}

// A thin rod that turns into a wall, and a ball that falls on a plane: known times.
static void test_cast_facts(void** state) {
	const Set* set = *state;
	knGeom* rod = knGeom_Capsule(0.01, 1.0, NULL, NULL);
	knGeomHit hit;
	// along x (the capsule's z turned to x), turns about z; the wall's surface is y = 0.6
	knFrame wall = knMakeFrame(knV3(0.0, 0.6, 0.0), knQuat_Exp(knV3(0.5 * KN_PI, 0.0, 0.0)));
	knShapeCast cast = { .geom = rod,
						 .frame = knMakeFrame(knZero3(), knQuat_Exp(knV3(0.0, 0.5 * KN_PI, 0.0))) };
	cast.rotation = knV3(0.0, 0.0, 5.0 * KN_PI); // two and a half turns
	assert_true(knGeom_Cast(&cast, set->geoms[PLANE], wall, &hit));
	assert_near(hit.fraction * 5.0 * KN_PI, asin(0.59), 1e-6);
	assert_near3(hit.normal, knV3(0.0, -1.0, 0.0), 1e-9);
	// out of reach it may turn for ever
	wall.p.y = 1.02;
	assert_false(knGeom_Cast(&cast, set->geoms[PLANE], wall, &hit));

	cast =
		(knShapeCast){ .geom = set->geoms[SPHERE], .frame = knMakeFrame(knV3(0.0, 0.0, 2.0), knIdentityQ()) };
	cast.translation = knV3(3.0, 0.0, -4.0);
	assert_true(knGeom_Cast(&cast, set->geoms[PLANE], knIdentityF(), &hit));
	assert_near(hit.fraction, 1.7 / 4.0, 1e-7);
	// from touching away: nothing
	cast.frame.p.z = 0.3 + 1e-9;
	cast.translation = knV3(0.0, 0.0, 1.0);
	assert_false(knGeom_Cast(&cast, set->geoms[PLANE], knIdentityF(), &hit));
	knGeom_Release(rod);
}

// --- scales and nonsense -----------------------------------------------------------------------------------------

static knGeom* scaled(int kind, double scale) {
	switch (kind) {
	case SPHERE:
		return knGeom_Sphere(0.3 * scale, NULL, NULL);
	case CAPSULE:
		return knGeom_Capsule(0.15 * scale, 0.3 * scale, NULL, NULL);
	case BOX:
		return knGeom_Box(knScale(scale, knV3(0.3, 0.2, 0.4)), NULL, NULL);
	case CYLINDER:
		return knGeom_Cylinder(0.25 * scale, 0.3 * scale, NULL, NULL);
	default:
		return knGeom_Ellipsoid(knScale(scale, knV3(0.2, 0.3, 0.45)), NULL, NULL);
	}
}

static knFrame scaledFrame(knFrame frame, double scale) {
	frame.p = knScale(scale, frame.p);
	return frame;
}

// From 0.1 mm to 10 km: the answers scale with the question.
static void test_scales(void** state) {
	(void)state;
	const double scales[2] = { 1e-4, 1e4 };
	knTestRandom random = { 51 };
	for (int trial = 0; trial < 400; ++trial) {
		int i = testInt(&random, ELLIPSOID + 1), j = testInt(&random, ELLIPSOID + 1);
		knFrame fa = testFrame(&random, 0.4), fb = testFrame(&random, 1.5);
		knVec3 o = testVec3(&random, 2.0), d = knSub(testVec3(&random, 0.5), o);
		knGeom *a = scaled(i, 1.0), *b = scaled(j, 1.0);
		knClosestPoints plain, other;
		knGeomHit ray, cast, hit;
		knShapeCast way = {
			.geom = a, .frame = knMakeFrame(o, fa.q), .translation = d, .rotation = testVec3(&random, 1.0)
		};
		assert_true(knGeom_ClosestPoints(a, fa, b, fb, INFINITY, &plain));
		bool hasRay = knGeom_RayCast(b, fb, o, d, &ray), hasCast = knGeom_Cast(&way, b, fb, &cast);
		for (int s = 0; s < 2; ++s) {
			double scale = scales[s];
			knGeom *bigA = scaled(i, scale), *bigB = scaled(j, scale);
			knFrame at = scaledFrame(fb, scale);
			assert_true(knGeom_ClosestPoints(bigA, scaledFrame(fa, scale), bigB, at, INFINITY, &other));
			assert_near(other.distance / scale, plain.distance, 1e-6);
			if (knGeom_RayCast(bigB, at, knScale(scale, o), knScale(scale, d), &hit) && hasRay) {
				assert_near(hit.fraction, ray.fraction, 1e-6);
			}
			knShapeCast bigWay = { .geom = bigA,
								   .frame = scaledFrame(way.frame, scale),
								   .translation = knScale(scale, d),
								   .rotation = way.rotation };
			if (knGeom_Cast(&bigWay, bigB, at, &hit) && hasCast) {
				assert_near(hit.fraction, cast.fraction, 1e-2); // hugging ones are nudged
			}
			knGeom_Release(bigA);
			knGeom_Release(bigB);
		}
		knGeom_Release(a);
		knGeom_Release(b);
	}
}

// Poses and ways that are not finite, ways of no length: refused or answered, never a hang.
static void test_nonsense(void** state) {
	const Set* set = *state;
	const double bad[3] = { NAN, INFINITY, -INFINITY };
	knClosestPoints closest;
	knGeomHit hit;
	for (int i = 0; i < KINDS; ++i) {
		for (int k = 0; k < 3; ++k) {
			knFrame broken = knMakeFrame(knV3(bad[k], 0.0, 0.0), knIdentityQ());
			assert_false(
				knGeom_ClosestPoints(set->geoms[i], broken, set->geoms[BOX], knIdentityF(), 1.0, &closest));
			assert_false(knGeom_RayCast(set->geoms[i], knIdentityF(), broken.p, knV3(0.0, 0.0, 1.0), &hit));
			knShapeCast cast = { .geom = set->geoms[i], .frame = knIdentityF(), .translation = broken.p };
			assert_false(knGeom_Cast(&cast, set->geoms[BOX], knIdentityF(), &hit));
		}
		assert_false(knGeom_ClosestPoints(set->geoms[i], knIdentityF(), set->geoms[BOX], knIdentityF(), NAN,
										  &closest));
		// no way at all: a point and a geometry that stand
		knVec3 above = knV3(0.0, 0.0, 5.0);
		assert_false(knGeom_RayCast(set->geoms[i], knIdentityF(), above, knZero3(), &hit));
		knShapeCast still = { .geom = set->geoms[SPHERE], .frame = knMakeFrame(above, knIdentityQ()) };
		assert_false(knGeom_Cast(&still, set->geoms[i], knIdentityF(), &hit));
		still.rotation = knV3(0.0, 0.0, 1.0);
		assert_false(knGeom_Cast(&still, set->geoms[i], knIdentityF(), &hit));
	}
	// two planes have no distance
	assert_false(knGeom_ClosestPoints(set->geoms[PLANE], knIdentityF(), set->geoms[PLANE], knIdentityF(), 1.0,
									  &closest));
}

// --- motion along chains -----------------------------------------------------------------------------------------

// A chain of hinges about random axes: no point of a link is ever faster than its bound.
static void test_chain_bounds(void** state) {
	(void)state;
	knTestRandom random = { 41 };
	for (int trial = 0; trial < 300; ++trial) {
		enum { LINKS = 6 };
		knChainLink links[LINKS];
		double turns[LINKS], origins[LINKS], points[LINKS];
		knVec3 velocity = knZero3(), omega = knZero3();
		knVec3 atVelocity[LINKS], atOmega[LINKS];
		for (int k = 0; k < LINKS; ++k) {
			knVec3 step = testVec3(&random, 1.0), spin = testVec3(&random, 3.0),
				   slide = testVec3(&random, 0.5);
			links[k] = (knChainLink){ .parent = k - 1,
									  .reach = 0.7,
									  .arm = knLength(step),
									  .turn = knLength(spin),
									  .slide = knLength(slide) };
			velocity = knAdd(velocity, knAdd(knCross(omega, step), slide));
			omega = knAdd(omega, spin);
			atVelocity[k] = velocity;
			atOmega[k] = omega;
		}
		knChain_SpeedBounds(links, LINKS, turns, origins, points);
		double tightest = INFINITY;
		for (int k = 0; k < LINKS; ++k) {
			for (int i = 0; i < 20; ++i) {
				knVec3 arm = knScale(0.7, testUnit3(&random));
				double speed = knLength(knAdd(atVelocity[k], knCross(atOmega[k], arm)));
				assert_true(speed <= points[k] * (1.0 + 1e-12));
				tightest = knMin(tightest, points[k] / speed);
			}
			assert_true(knLength(atOmega[k]) <= turns[k] * (1.0 + 1e-12));
		}
		assert_true(tightest < 4.0); // and it says something
	}
	// one hinge: the bound is met
	knChainLink hinge = { .parent = -1, .reach = 2.0, .turn = 3.0 };
	double turn, start, point;
	knChain_SpeedBounds(&hinge, 1, &turn, &start, &point);
	assert_near(point, 6.0, 0.0);
	assert_near(turn, 3.0, 0.0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closest_points_of_all_kinds),
		cmocka_unit_test(test_mesh_is_as_far_as_its_solid),
		cmocka_unit_test(test_mesh_against_brute_force),
		cmocka_unit_test(test_compound_is_its_children),
		cmocka_unit_test(test_rays_against_marching),
		cmocka_unit_test(test_ray_facts),
		cmocka_unit_test(test_casts_against_sampling),
		cmocka_unit_test(test_cast_facts),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_chain_bounds),
	};
	return cmocka_run_group_tests(tests, makeSet, freeSet);
}
