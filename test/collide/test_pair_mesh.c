// Meshes against everything: known answers, agreement with closed forms, with a brute-force triangle test, and
// what must not be missed.
#include "support/kn_test.h"
#include "support/mesh_shapes.h"

#include "collide/pair.h"
#include "geom/mesh.h"
#include "geom/geom.h"

#define MOST 64

static knGeom* makeMesh(const knTestMesh* shape, bool solid) {
	knMeshDef def = testMeshDef(shape);
	def.solid = solid;
	knError error = { 0 };
	knGeom* geom = knGeom_Mesh(&def, NULL, &error);
	if (geom == NULL) {
		fail_msg("%s", error.message);
	}
	return geom;
}

static knGeom* boxMesh(knVec3 half) {
	knTestMesh shape = testMeshBox(half);
	knGeom* geom = makeMesh(&shape, true);
	testMeshFree(&shape);
	return geom;
}

static knFrame at(double x, double y, double z) {
	return knMakeFrame(knV3(x, y, z), knIdentityQ());
}

static double deepestOf(const knContactPoint* points, int count) {
	double deepest = INFINITY;
	for (int i = 0; i < count; ++i) {
		deepest = knMin(deepest, points[i].separation);
	}
	return deepest;
}

// Bounds of the contacts in x and y.
static knAabb spreadOf(const knContactPoint* points, int count) {
	knAabb box = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
	for (int i = 0; i < count; ++i) {
		box.lower = knMin3(box.lower, points[i].pointA);
		box.upper = knMax3(box.upper, points[i].pointA);
	}
	return box;
}

// What every contact must satisfy: the definition of separation, unit normals, different features.
static void checkPoints(const knContactPoint* points, int count, double margin) {
	assert_in_range(count, 0, MOST);
	for (int i = 0; i < count; ++i) {
		const knContactPoint* p = &points[i];
		assert_near(knLength(p->normal), 1.0, 1e-9);
		assert_near(knDot(knSub(p->pointB, p->pointA), p->normal), p->separation, 1e-12);
		assert_true(p->separation < margin);
		for (int k = 0; k < i; ++k) {
			assert_true(points[k].feature != p->feature);
		}
	}
}

// --- flat on flat ----------------------------------------------------------------------------------------

// A cube of triangles flush on an equal one: carried by all four corners, straight up, not pushed off sideways.
static void test_flush_cubes_carry_each_other(void** state) {
	(void)state;
	knGeom* cube = boxMesh(knV3(0.5, 0.5, 0.5));
	const double heights[] = { 0.999, 1.0, 1.001 }, shifts[] = { 0.0, 1e-12, -1e-12, 1e-5 };
	for (int h = 0; h < 3; ++h) {
		for (int s = 0; s < 4; ++s) {
			knContactPoint points[MOST];
			int count = knCollide_Pair(cube, at(0.0, 0.0, 0.0), cube, at(shifts[s], 0.0, heights[h]), 0.01,
									   points, MOST);
			checkPoints(points, count, 0.01);
			int up = 0;
			for (int i = 0; i < count; ++i) {
				up += points[i].normal.z > 0.999 && knAbs(points[i].separation - (heights[h] - 1.0)) < 1e-7;
			}
			assert_true(up >= 4);
			knAabb spread = spreadOf(points, count);
			assert_near(spread.upper.x - spread.lower.x, 1.0, 1e-3);
			assert_near(spread.upper.y - spread.lower.y, 1.0, 1e-3);
			assert_near(deepestOf(points, count), heights[h] - 1.0, 1e-7);
		}
	}
	knGeom_Release(cube);
}

// Two bars across each other have no vertex inside the other: edges must find the square where they overlap.
static void test_crossed_bars_touch_in_a_square(void** state) {
	(void)state;
	knGeom* bar = boxMesh(knV3(2.0, 0.1, 0.1));
	knFrame across =
		knMakeFrame(knV3(0.0, 0.0, 0.199), knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), 0.5 * KN_PI));
	knContactPoint points[MOST];
	int count = knCollide_Pair(bar, knIdentityF(), bar, across, 0.005, points, MOST);
	checkPoints(points, count, 0.005);
	assert_true(count >= 4);
	for (int i = 0; i < count; ++i) {
		assert_near(points[i].normal.z, 1.0, 1e-6);
		assert_near(points[i].separation, -0.001, 1e-9);
	}
	knAabb spread = spreadOf(points, count);
	assert_near(spread.upper.x - spread.lower.x, 0.2, 2e-3);
	assert_near(spread.upper.y - spread.lower.y, 0.2, 2e-3);
	knGeom_Release(bar);
}

// Two sharp ridges that cross: one contact along their common normal, apart or overlapping.
static void test_crossed_ridges_touch_edge_to_edge(void** state) {
	(void)state;
	knGeom* bar = boxMesh(knV3(2.0, 0.1, 0.1));
	double ridge = 0.1 * sqrt(2.0);
	knQuat tilt = knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.25 * KN_PI);
	const double gaps[] = { 0.01, -0.01, -0.001 };
	for (int g = 0; g < 3; ++g) {
		for (int turn = 0; turn < 5; ++turn) {
			knQuat about = knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), 0.3 + 0.5 * turn);
			knFrame above = knMakeFrame(knV3(0.3, 0.2, 2.0 * ridge + gaps[g]), knMulQ(about, tilt));
			knContactPoint points[MOST];
			int count = knCollide_Pair(bar, knMakeFrame(knZero3(), tilt), bar, above, 0.02, points, MOST);
			checkPoints(points, count, 0.02);
			assert_true(count >= 1);
			assert_near(deepestOf(points, count), gaps[g], 1e-4);
			for (int i = 0; i < count; ++i) {
				assert_near(points[i].normal.z, 1.0, 1e-3);
			}
		}
	}
	knGeom_Release(bar);
}

// One long edge over two ridges, and over a comb of many: touched everywhere at once, each place by its own name.
static void test_long_edge_touches_every_ridge(void** state) {
	(void)state;
	enum { RIDGES = 7 };
	knQuat tilt = knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.25 * KN_PI);
	knTestMesh one = testMeshBox(knV3(0.4, 0.05, 0.05)), comb = testMeshNew(8 * RIDGES, 12 * RIDGES);
	for (int r = 0; r < RIDGES; ++r) {
		for (int i = 0; i < 8; ++i) {
			comb.vertices[8 * r + i] = knAdd(knRotate(tilt, one.vertices[i]), knV3(0.0, 0.5 * r - 1.5, 0.0));
		}
		for (int t = 0; t < 12; ++t) {
			knTriangle triangle = one.triangles[t];
			comb.triangles[12 * r + t] =
				(knTriangle){ triangle.a + 8 * r, triangle.b + 8 * r, triangle.c + 8 * r };
		}
	}
	knGeom *ridges = makeMesh(&comb, true), *bar = boxMesh(knV3(2.0, 0.1, 0.1));
	knQuat along = knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), 0.5 * KN_PI);
	double touching = (0.05 + 0.1) * sqrt(2.0);
	const double gaps[] = { 0.004, -0.004 };
	for (int g = 0; g < 2; ++g) {
		knFrame frame = knMakeFrame(knV3(0.05, 0.0, touching + gaps[g]), knMulQ(along, tilt));
		knContactPoint points[MOST];
		int count = knCollide_Pair(ridges, knIdentityF(), bar, frame, 0.01, points, MOST);
		checkPoints(points, count, 0.01);
		bool found[RIDGES] = { false };
		for (int i = 0; i < count; ++i) {
			int r = (int)((points[i].pointA.y + 1.75) / 0.5);
			assert_in_range(r, 0, RIDGES - 1);
			assert_near(points[i].separation, gaps[g], 1e-4);
			found[r] = true;
		}
		for (int r = 0; r < RIDGES; ++r) {
			assert_true(found[r] || (r > 0 && r < RIDGES - 1)); // the outermost carry
		}
	}
	knGeom_Release(ridges);
	knGeom_Release(bar);
	testMeshFree(&one);
	testMeshFree(&comb);
}

// --- against closed forms --------------------------------------------------------------------------------

// Separate geometries: the distance of a box made of triangles is that of the box.
static void test_box_mesh_agrees_with_box(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	knVec3 half = knV3(0.4, 0.3, 0.2);
	knGeom *mesh = boxMesh(half), *box = knGeom_Box(half, NULL, NULL);
	knVec3 corners[12];
	for (int i = 0; i < 12; ++i) {
		corners[i] = testVec3(&random, 0.3);
	}
	knGeom* others[] = { knGeom_Sphere(0.2, NULL, NULL),
						 knGeom_Capsule(0.1, 0.3, NULL, NULL),
						 knGeom_Box(knV3(0.3, 0.2, 0.1), NULL, NULL),
						 knGeom_Cylinder(0.2, 0.15, NULL, NULL),
						 knGeom_Ellipsoid(knV3(0.3, 0.2, 0.15), NULL, NULL),
						 knGeom_Hull(corners, 12, NULL, NULL),
						 knGeom_Plane(NULL, NULL) };
	int compared = 0;
	for (int k = 0; k < 7; ++k) {
		for (int i = 0; i < 400; ++i) {
			knFrame frameA = testFrame(&random, 0.4), frameB = testFrame(&random, 0.4);
			knContactPoint own[MOST], exact[4];
			int count = knCollide_Pair(mesh, frameA, others[k], frameB, 0.05, own, MOST);
			int exactCount = knCollide_Pair(box, frameA, others[k], frameB, 0.05, exact, 4);
			checkPoints(own, count, 0.05);
			double depth = deepestOf(exact, exactCount);
			if (depth > 0.0) {
				assert_int_equal(count > 0, exactCount > 0);
			}
			if (exactCount > 0 && depth > 1e-6) {
				assert_near(deepestOf(own, count), depth, 1e-3 * 0.3);
				compared += 1;
			} else if (depth < -1e-3) {
				assert_true(count > 0 && deepestOf(own, count) < 0.0);
			}
		}
		knGeom_Release(others[k]);
	}
	assert_true(compared > 100);
	knGeom_Release(mesh);
	knGeom_Release(box);
}

// --- linked rings against a brute-force test -------------------------------------------------------------

static bool separates(knVec3 axis, const knVec3 a[3], const knVec3 b[3]) {
	double lowerA = INFINITY, upperA = -INFINITY, lowerB = INFINITY, upperB = -INFINITY;
	for (int i = 0; i < 3; ++i) {
		double x = knDot(axis, a[i]), y = knDot(axis, b[i]);
		lowerA = knMin(lowerA, x);
		upperA = knMax(upperA, x);
		lowerB = knMin(lowerB, y);
		upperB = knMax(upperB, y);
	}
	return lowerA > upperB || lowerB > upperA;
}

// Separating axes of two triangles that are not coplanar.
static bool trianglesMeet(const knVec3 a[3], const knVec3 b[3]) {
	knVec3 edgesA[3], edgesB[3];
	for (int i = 0; i < 3; ++i) {
		edgesA[i] = knSub(a[(i + 1) % 3], a[i]);
		edgesB[i] = knSub(b[(i + 1) % 3], b[i]);
	}
	if (separates(knCross(edgesA[0], edgesA[1]), a, b) || separates(knCross(edgesB[0], edgesB[1]), a, b)) {
		return false;
	}
	for (int i = 0; i < 9; ++i) {
		if (separates(knCross(edgesA[i / 3], edgesB[i % 3]), a, b)) {
			return false;
		}
	}
	return true;
}

// Every pair of triangles that meet must have a penetrating contact close by; the meeting triangles of one region
// are chained by their places.
static int countMissed(const knMesh* mesh, knFrame frameB, const knContactPoint* points, int count,
					   double near, int* meeting) {
	int missed = 0;
	*meeting = 0;
	for (int t = 0; t < mesh->faceCount; ++t) {
		knVec3 b[3];
		knMesh_Corners(mesh, t, b);
		knAabb box = knAabb_Empty();
		for (int k = 0; k < 3; ++k) {
			b[k] = knPoint(frameB, b[k]);
			box.lower = knMin3(box.lower, b[k]);
			box.upper = knMax3(box.upper, b[k]);
		}
		int cursor = 0;
		for (int s; (s = knBvh_Next(&mesh->tree, &box, &cursor)) >= 0;) {
			knVec3 a[3];
			knMesh_Corners(mesh, s, a);
			if (!trianglesMeet(a, b)) {
				continue;
			}
			*meeting += 1;
			bool found = false;
			for (int i = 0; i < count && !found; ++i) {
				found = points[i].separation < 0.0 && knDistance(points[i].pointA, a[0]) < near;
			}
			missed += !found;
		}
	}
	return missed;
}

static void test_linked_tori_touch_on_all_sides(void** state) {
	(void)state;
	knTestMesh shape = testMeshTorus(1.0, 0.25, 316, 79);
	assert_in_range(shape.triangleCount, 49000, 51000);
	knGeom* torus = makeMesh(&shape, true);
	int poses = 0;
	for (int side = 0; side < 12; ++side) {
		// the second ring runs through the first, pressed outwards, inwards and across in turn
		double angle = 2.0 * KN_PI * side / 12, depth = 0.002 + 0.002 * (side % 3);
		knVec3 out = knV3(knCos(angle), knSin(angle), 0.0);
		knQuat upright = knMulQ(knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), angle),
								knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.5 * KN_PI));
		// the upright ring's inner side against the first ring's inner side: centres 2 tubes apart from 1 + 1
		double apart = 2.0 * 1.0 - 2.0 * 0.25 - (side % 2 ? 0.0 : 1.0) + (side % 2 ? depth : 0.0);
		apart = side % 2 ? apart : 0.5 - depth;
		knFrame frameB = knMakeFrame(knScale(apart, out), upright);
		knContactPoint points[MOST];
		int count = knCollide_Pair(torus, knIdentityF(), torus, frameB, 0.001, points, MOST);
		checkPoints(points, count, 0.001);
		int meeting;
		int missed = countMissed(torus->mesh, frameB, points, count, 0.15, &meeting);
		assert_true(meeting > 0 && count > 0);
		assert_int_equal(missed, 0);
		poses += 1;
	}
	// free: the rings run through each other's middle and touch nowhere
	knFrame inside = knMakeFrame(knV3(1.0, 0.0, 0.0), knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.5 * KN_PI));
	knContactPoint points[MOST];
	assert_int_equal(knCollide_Pair(torus, knIdentityF(), torus, inside, 0.1, points, MOST), 0);
	assert_int_equal(poses, 12);
	knGeom_Release(torus);
	testMeshFree(&shape);
}

// --- surfaces and height fields --------------------------------------------------------------------------

// On a flat floor of many triangles a box has the contacts that it has on a plane: none at inner edges.
static void test_flat_floor_is_a_plane(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	knTestMesh shape = testMeshFloor(5.0, 40, 5);
	knGeom *floor = makeMesh(&shape, false), *box = knGeom_Box(knV3(0.5, 0.4, 0.3), NULL, NULL);
	for (int i = 0; i < 200; ++i) {
		knFrame frame =
			knMakeFrame(testVec3(&random, 3.0),
						knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), testUniform(&random, 0.0, 6.0)));
		frame.p.z = 0.3 + testUniform(&random, -0.01, 0.01);
		knContactPoint points[MOST];
		int count = knCollide_Pair(box, frame, floor, knIdentityF(), 0.02, points, MOST);
		checkPoints(points, count, 0.02);
		assert_int_equal(count, 4);
		for (int k = 0; k < count; ++k) {
			assert_near3(points[k].normal, knV3(0.0, 0.0, -1.0), 1e-12);
			assert_near(points[k].separation, frame.p.z - 0.3, 1e-12);
		}
	}
	knGeom_Release(floor);
	knGeom_Release(box);
	testMeshFree(&shape);
}

static void test_round_shapes_rest_on_a_height_field(void** state) {
	(void)state;
	knTestRandom random = { 4 };
	double heights[33 * 33];
	for (int i = 0; i < 33 * 33; ++i) {
		heights[i] = 0.2 * (i % 33); // a slope: z = 0.4 (x + 8) for cells of 0.5
	}
	knHeightFieldDef def = { 33, 33, 0.5, 0.5, heights };
	knGeom* field = knGeom_HeightField(&def, NULL, NULL);
	assert_non_null(field);
	knVec3 up = knNormalize(knV3(-0.4, 0.0, 1.0));
	knGeom* shapes[] = { knGeom_Sphere(0.3, NULL, NULL), knGeom_Capsule(0.2, 0.3, NULL, NULL),
						 knGeom_Cylinder(0.3, 0.2, NULL, NULL),
						 knGeom_Ellipsoid(knV3(0.4, 0.3, 0.2), NULL, NULL),
						 knGeom_Box(knV3(0.2, 0.3, 0.1), NULL, NULL) };
	for (int k = 0; k < 5; ++k) {
		for (int i = 0; i < 100; ++i) {
			knFrame frame = knMakeFrame(testVec3(&random, 3.0), testQuat(&random));
			frame.p.z = 0.4 * (frame.p.x + 8.0) + testUniform(&random, 0.2, 0.5);
			knGeom* plane = knGeom_Plane(NULL, NULL);
			knFrame slope = knMakeFrame(knV3(-8.0, 0.0, 0.0), knQuat_Between(knV3(0.0, 0.0, 1.0), up));
			knContactPoint own[MOST], exact[4];
			int count = knCollide_Pair(shapes[k], frame, field, knIdentityF(), 0.05, own, MOST);
			int expected = knCollide_Pair(shapes[k], frame, plane, slope, 0.05, exact, 4);
			checkPoints(own, count, 0.05);
			assert_int_equal(count > 0, expected > 0);
			if (count > 0) {
				assert_near(deepestOf(own, count), deepestOf(exact, expected), 1e-9);
				assert_near3(own[0].normal, knNeg(up), 1e-9);
			}
			knGeom_Release(plane);
		}
		knGeom_Release(shapes[k]);
	}
	knGeom_Release(field);
}

// A ball beside the floor's border falls past it.
static void test_nothing_holds_beside_the_border(void** state) {
	(void)state;
	knTestMesh shape = testMeshFloor(1.0, 4, 5);
	knGeom *floor = makeMesh(&shape, false), *ball = knGeom_Sphere(0.1, NULL, NULL);
	knGeom* box = knGeom_Box(knV3(0.1, 0.1, 0.1), NULL, NULL);
	knContactPoint points[MOST];
	for (int i = 0; i < 20; ++i) {
		knFrame frame = at(1.15, 0.3, 0.5 - 0.05 * i);
		assert_int_equal(knCollide_Pair(ball, frame, floor, knIdentityF(), 0.01, points, MOST), 0);
		assert_int_equal(knCollide_Pair(box, frame, floor, knIdentityF(), 0.01, points, MOST), 0);
	}
	knGeom_Release(floor);
	knGeom_Release(ball);
	knGeom_Release(box);
	testMeshFree(&shape);
}

// --- thin parts, swapping, compounds ---------------------------------------------------------------------

// A sphere on a thin plate meets its upper face alone, and is pushed back the way it came.
static void test_thin_plate_has_one_side(void** state) {
	(void)state;
	knGeom *plate = boxMesh(knV3(1.0, 1.0, 0.002)), *ball = knGeom_Sphere(0.5, NULL, NULL);
	knContactPoint points[MOST];
	int count = knCollide_Pair(plate, knIdentityF(), ball, at(0.1, 0.2, 0.5), 0.01, points, MOST);
	checkPoints(points, count, 0.01);
	assert_true(count >= 1);
	assert_near(deepestOf(points, count), -0.002, 1e-9);
	for (int i = 0; i < count; ++i) {
		assert_true(points[i].normal.z > 0.9);
	}
	knGeom_Release(plate);
	knGeom_Release(ball);
}

static void test_swapping_turns_contacts_round(void** state) {
	(void)state;
	knTestRandom random = { 12 };
	knGeom *mesh = boxMesh(knV3(0.4, 0.3, 0.2)), *box = knGeom_Box(knV3(0.3, 0.2, 0.1), NULL, NULL);
	for (int i = 0; i < 100; ++i) {
		knFrame frameA = testFrame(&random, 0.3), frameB = testFrame(&random, 0.3);
		knContactPoint points[MOST], swapped[MOST];
		int count = knCollide_Pair(mesh, frameA, box, frameB, 0.05, points, MOST);
		int other = knCollide_Pair(box, frameB, mesh, frameA, 0.05, swapped, MOST);
		assert_int_equal(count, other);
		for (int k = 0; k < count; ++k) {
			assert_near3(points[k].pointA, swapped[k].pointB, 0.0);
			assert_near3(points[k].normal, knNeg(swapped[k].normal), 0.0);
			assert_true(points[k].feature == swapped[k].feature);
		}
	}
	knGeom_Release(mesh);
	knGeom_Release(box);
}

// Asking only whether two touch stops early, with the same answer but for the field's tolerance: meshes, convex shapes,
// surfaces, compounds.
static void test_touching_is_having_contacts(void** state) {
	(void)state;
	knTestRandom random = { 13 };
	knTestMesh shape = testMeshTorus(0.3, 0.08, 24, 12);
	knGeom *torus = makeMesh(&shape, true), *surface = makeMesh(&shape, false);
	knGeomChild parts[2] = { { torus, at(0.2, 0.0, 0.0) }, { torus, at(-0.2, 0.0, 0.0) } };
	knGeom* geoms[] = { torus, surface, knGeom_Compound(parts, 2, NULL, NULL),
						knGeom_Capsule(0.1, 0.2, NULL, NULL), knGeom_Box(knV3(0.2, 0.1, 0.1), NULL, NULL) };
	int touching = 0, apart = 0;
	for (int i = 0; i < 600; ++i) {
		const knGeom *a = geoms[i % 3], *b = geoms[i / 3 % 5];
		knFrame frameA = testFrame(&random, 0.4), frameB = testFrame(&random, 0.4);
		double margin = testUniform(&random, 0.0, 0.02);
		knContactPoint points[MOST];
		double tolerance = 2e-3 * torus->mesh->size;
		bool surely = knCollide_Pair(a, frameA, b, frameB, margin - tolerance, points, MOST) > 0;
		bool perhaps = knCollide_Pair(a, frameA, b, frameB, margin + tolerance, points, MOST) > 0;
		bool found = knPair_Touches(a, frameA, b, frameB, margin);
		assert_true(found || !surely);
		assert_true(perhaps || !found);
		touching += surely;
		apart += !perhaps;
	}
	assert_true(touching > 100 && apart > 100);
	for (int i = 0; i < 5; ++i) {
		knGeom_Release(geoms[i]);
	}
	testMeshFree(&shape);
}

static void test_compounds_hold_meshes(void** state) {
	(void)state;
	knGeom *mesh = boxMesh(knV3(0.5, 0.5, 0.5)), *plane = knGeom_Plane(NULL, NULL);
	knGeomChild children[2] = { { mesh, at(-1.0, 0.0, 0.0) }, { mesh, at(1.0, 0.0, 0.0) } };
	knGeom* pair = knGeom_Compound(children, 2, NULL, NULL);
	assert_non_null(pair);
	assert_near(knGeom_MassProps(pair, 2.0).mass, 4.0, 1e-12);
	knContactPoint points[MOST];
	int count = knCollide_Pair(pair, at(0.0, 0.0, 0.499), plane, knIdentityF(), 0.01, points, MOST);
	checkPoints(points, count, 0.01);
	assert_int_equal(count, 8);
	knGeom_Release(pair);
	knGeom_Release(mesh);
	knGeom_Release(plane);
}

// Bug: a ball on a height field was culled by what stood on the stack, and differed from build to build.
static void test_swapping_keeps_how_far_the_two_move(void** state) {
	(void)state;
	knGeom *mesh = boxMesh(knV3(0.5, 0.5, 0.5)), *ball = knGeom_Sphere(0.3, NULL, NULL);
	knPairInput in = knPairInput_Make(mesh, knIdentityF(), ball, at(0.0, 0.0, 0.79), 0.05);
	in.looksAhead = in.anyWillDo = true;
	in.slide = 0.125;
	in.tilt = 0.25;
	knPairInput swapped = knPairInput_Swap(&in);
	assert_ptr_equal(swapped.geomA, ball);
	assert_true(swapped.looksAhead && swapped.anyWillDo);
	assert_near(swapped.slide, in.slide, 0.0);
	assert_near(swapped.tilt, in.tilt, 0.0);
	knGeom_Release(mesh);
	knGeom_Release(ball);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flush_cubes_carry_each_other),
		cmocka_unit_test(test_crossed_bars_touch_in_a_square),
		cmocka_unit_test(test_crossed_ridges_touch_edge_to_edge),
		cmocka_unit_test(test_long_edge_touches_every_ridge),
		cmocka_unit_test(test_box_mesh_agrees_with_box),
		cmocka_unit_test(test_linked_tori_touch_on_all_sides),
		cmocka_unit_test(test_flat_floor_is_a_plane),
		cmocka_unit_test(test_round_shapes_rest_on_a_height_field),
		cmocka_unit_test(test_nothing_holds_beside_the_border),
		cmocka_unit_test(test_thin_plate_has_one_side),
		cmocka_unit_test(test_swapping_turns_contacts_round),
		cmocka_unit_test(test_swapping_keeps_how_far_the_two_move),
		cmocka_unit_test(test_touching_is_having_contacts),
		cmocka_unit_test(test_compounds_hold_meshes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
