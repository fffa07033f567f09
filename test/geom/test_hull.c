// Convex hulls: quickhull and its tables, against the definition of a hull, closed forms and qhull.
#include "geom/convex.h"
#include "support/kn_test.h"

enum { MOST_POINTS = 100000 };

static knVec3 points[MOST_POINTS];

typedef enum Cloud { BALL, SPHERE, CUBE, GRID, PRISM, THIN, LONG, TWICE, CLOUDS } Cloud;

// Fills `points` with a cloud about the origin, of size about 1.
static void makeCloud(Cloud cloud, int count, knTestRandom* random) {
	for (int i = 0; i < count; ++i) {
		knVec3 p = testUnit3(random);
		double angle = testUniform(random, 0.0, 2.0 * KN_PI);
		switch (cloud) {
		case BALL:
			p = knScale(cbrt(testUniform(random, 0.0, 1.0)), p);
			break;
		case CUBE:
			p = testVec3(random, 1.0);
			break;
		case GRID:
			p = knV3(0.25 * testInt(random, 9) - 1.0, 0.25 * testInt(random, 9) - 1.0,
					 0.25 * testInt(random, 9) - 1.0);
			break;
		case PRISM:
			p = knV3(cos(angle), sin(angle), testInt(random, 2) ? 1.0 : -1.0);
			break;
		case THIN:
			p.z *= 1e-4;
			break;
		case LONG:
			p.x *= 1e-4;
			p.y *= 1e-4;
			break;
		case TWICE:
			p = i % 2 == 1 ? points[i - 1] : p;
			break;
		default:
			break;
		}
		points[i] = p;
	}
}

static double sizeOf(const knVec3* p, int count) {
	knVec3 lower = p[0], upper = p[0];
	for (int i = 1; i < count; ++i) {
		lower = knMin3(lower, p[i]);
		upper = knMax3(upper, p[i]);
	}
	knVec3 extent = knSub(upper, lower);
	return fmax(extent.x, fmax(extent.y, extent.z));
}

// What makes a hull: every point is below every face, every vertex is one of the points, the faces close a surface
// and are flat, convex polygons.
static void assertHull(const knHull* hull, const knVec3* p, int count) {
	double size = sizeOf(p, count);
	assert_int_equal(hull->vertexCount + hull->faceCount - hull->loopCount / 2, 2);
	assert_int_equal(hull->triangleCount, hull->loopCount - 2 * hull->faceCount);
	for (int f = 0; f < hull->faceCount; ++f) {
		const knHullFace* face = &hull->faces[f];
		assert_true(face->count >= 3);
		assert_near(knLength(face->normal), 1.0, 1e-12);
		int stride = (int)((int64_t)hull->faceCount * count / 20000000) + 1;
		for (int i = f % stride; i < count; i += stride) {
			assert_true(knDot(face->normal, p[i]) <= face->offset + 4e-9 * size);
		}
		for (int k = 0; k < face->count; ++k) {
			knVec3 a = hull->vertices[hull->loops[face->first + k]];
			assert_near(knDot(face->normal, a), face->offset, 4e-9 * size);
		}
	}
	// an edge and its twin separate two faces
	for (int v = 0; v < hull->vertexCount; ++v) {
		assert_true(hull->firstNeighbor[v + 1] - hull->firstNeighbor[v] >= 3);
		for (int k = hull->firstNeighbor[v]; k < hull->firstNeighbor[v + 1]; ++k) {
			int other = hull->neighbors[k], twins = 0;
			for (int m = hull->firstNeighbor[other]; m < hull->firstNeighbor[other + 1]; ++m) {
				twins += hull->neighbors[m] == v && hull->leftFaces[m] != hull->leftFaces[k];
			}
			assert_int_equal(twins, 1);
		}
	}
}

static void test_clouds_have_hulls(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	const double scales[] = { 1.0, 1e-4, 1e4 };
	for (int n = 0; n < 240; ++n) {
		int count = 8 + testInt(&random, n % 10 == 0 ? 2000 : 100);
		makeCloud((Cloud)(n % CLOUDS), count, &random);
		knVec3 middle = testVec3(&random, 2.0 * scales[n % 3]);
		for (int i = 0; i < count; ++i) {
			points[i] = knAdd(middle, knScale(scales[n % 3], points[i]));
		}
		knError error = { 0 };
		knGeom* geom = knGeom_Hull(points, count, NULL, &error);
		if (geom == NULL) {
			fail_msg("cloud %d of %d points: %s", n % CLOUDS, count, error.message);
		}
		assertHull(geom->hull, points, count);
		knGeom_Release(geom);
	}
}

static void test_many_points_do_not_take_for_ever(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	const Cloud clouds[] = { SPHERE, CUBE, GRID, THIN };
	for (int n = 0; n < 4; ++n) {
		makeCloud(clouds[n], MOST_POINTS, &random);
		knGeom* geom = knGeom_Hull(points, MOST_POINTS, NULL, NULL);
		assert_non_null(geom);
		assertHull(geom->hull, points, MOST_POINTS);
		if (clouds[n] == GRID) {
			assert_int_equal(geom->hull->vertexCount, 8);
			assert_int_equal(geom->hull->faceCount, 6);
		}
		knGeom_Release(geom);
	}
}

// A box of points inside, on its faces, edges and corners is a box.
static void test_coplanar_triangles_become_polygons(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	makeCloud(GRID, 3000, &random);
	for (int i = 0; i < 8; ++i) {
		points[i] = knV3(i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0);
	}
	knFrame frame = testFrame(&random, 1.0);
	for (int i = 0; i < 3000; ++i) {
		points[i] = knPoint(frame, knMulComponents(knV3(1.0, 2.0, 3.0), points[i]));
	}
	knGeom* geom = knGeom_Hull(points, 3000, NULL, NULL);
	assert_int_equal(geom->hull->vertexCount, 8);
	assert_int_equal(geom->hull->faceCount, 6);
	knMassProps props = knGeom_MassProps(geom, 2.0);
	knMat33 inertia = knDiagonal33(96.0 / 3.0 * 13.0, 96.0 / 3.0 * 10.0, 96.0 / 3.0 * 5.0);
	inertia = knRotateTensor(frame.q, &inertia);
	assert_near(props.mass, 96.0, 1e-9);
	assert_near3(props.center, frame.p, 1e-9);
	assert_near3(props.inertia.cx, inertia.cx, 1e-8);
	assert_near3(props.inertia.cy, inertia.cy, 1e-8);
	assert_near3(props.inertia.cz, inertia.cz, 1e-8);
	int count;
	assert_non_null(knGeom_Vertices(geom, &count));
	assert_int_equal(count, 8);
	assert_non_null(knGeom_Triangles(geom, &count));
	assert_int_equal(count, 12);
	knGeom_Release(geom);
}

static void test_flat_points_and_others_are_refused(void** state) {
	(void)state;
	knTestRandom random = { 4 };
	knVec3 p[50];
	for (int kind = 0; kind < 6; ++kind) {
		int count = 50;
		for (int i = 0; i < 50; ++i) {
			p[i] = testVec3(&random, 1.0);
			p[i] = kind == 0 ? knV3(p[i].x, p[i].y, 0.3 * p[i].x - 0.2 * p[i].y + 1.0) : p[i]; // a plane
			p[i] = kind == 1 ? knScale(p[i].x, knV3(1.0, 2.0, 3.0)) : p[i];                    // a line
			p[i] = kind == 2 ? knV3(1.0, 2.0, 3.0) : p[i];                                     // a place
		}
		if (kind == 3) {
			p[17].y = NAN;
		} else if (kind == 4) {
			p[49].z = INFINITY;
		} else if (kind == 5) {
			count = 3;
		}
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		knError error = { 0 };
		assert_null(knGeom_Hull(p, count, &allocator, &error));
		assert_int_equal(error.status, KN_BAD_DATA);
		assert_true(strlen(error.message) > 20);
		assert_int_equal(memory.live, 0);
	}
	assert_null(knGeom_Hull(NULL, 10, NULL, NULL));
}

static void test_every_allocation_may_fail(void** state) {
	(void)state;
	knTestRandom random = { 5 };
	makeCloud(BALL, 100, &random);
	for (int failAfter = 0; failAfter < 400; ++failAfter) {
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		memory.failAfter = failAfter;
		knError error = { 0 };
		knGeom* geom = knGeom_Hull(points, 100, &allocator, &error);
		if (geom != NULL) {
			assert_true(failAfter > 5);
			knGeom_Release(geom);
			assert_int_equal(memory.live, 0);
			return;
		}
		assert_int_equal(error.status, KN_NO_MEMORY);
		assert_int_equal(memory.live, 0);
	}
	fail();
}

// The support climbs to the same height as a scan; distance: the farthest that any direction separates, outside, and
// the nearest face inside.
static void test_support_and_distance(void** state) {
	(void)state;
	knTestRandom random = { 6 };
	for (int n = 0; n < 40; ++n) {
		int count = 20 + testInt(&random, 300);
		makeCloud((Cloud)(n % CLOUDS), count, &random);
		knGeom* geom = knGeom_Hull(points, count, NULL, NULL);
		for (int k = 0; k < 200; ++k) {
			knVec3 d = testUnit3(&random);
			double best = -INFINITY;
			for (int i = 0; i < count; ++i) {
				best = fmax(best, knDot(points[i], d));
			}
			assert_near(knDot(geom->hull->vertices[knHull_Support(geom->hull, d)], d), best, 4e-9);

			// a point straight above a face, and one beside it
			knVec3 p = testVec3(&random, 1.5);
			knClosest closest = knHull_Closest(geom->hull, p);
			assert_near(knDistance(p, closest.point), fabs(closest.distance), 1e-12);
			double outward = -INFINITY; // of the hull along the line to p
			for (int i = 0; i < count; ++i) {
				outward = fmax(outward, knDot(knSub(points[i], closest.point), closest.normal));
			}
			assert_near(outward, 0.0, 1e-8); // the closest point supports: no point of the hull is nearer
		}
		knGeom_Release(geom);
	}
}

// --- qhull -------------------------------------------------------------------------------------------------------

// Volume and number of extreme points by qhull; false if it is not installed.
static bool askQhull(int count, double* volume, int* vertices) {
	FILE* file = fopen("points.txt", "w");
	assert_non_null(file);
	fprintf(file, "3\n%d\n", count);
	for (int i = 0; i < count; ++i) {
		fprintf(file, "%.17g %.17g %.17g\n", points[i].x, points[i].y, points[i].z);
	}
	fclose(file);
	FILE* pipe = popen("qconvex Fx FS < points.txt 2>/dev/null", "r");
	double area;
	bool ok = pipe != NULL && fscanf(pipe, "%d", vertices) == 1;
	for (int i = 0; ok && i < *vertices; ++i) {
		ok = fscanf(pipe, "%*d") == 0;
	}
	ok = ok && fscanf(pipe, "%*d %*d %lf %lf", &area, volume) == 2;
	if (pipe != NULL) {
		pclose(pipe);
	}
	return ok;
}

static void test_qhull_agrees(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	const Cloud clouds[] = { BALL, SPHERE, CUBE, GRID, TWICE };
	for (int n = 0; n < 25; ++n) {
		int count = 20 + testInt(&random, 1000);
		makeCloud(clouds[n % 5], count, &random);
		double volume;
		int vertices;
		if (!askQhull(count, &volume, &vertices)) {
			print_message("skipped: qconvex is not installed (Debian package qhull-bin)\n");
			skip();
		}
		knGeom* geom = knGeom_Hull(points, count, NULL, NULL);
		assert_int_equal(geom->hull->vertexCount, vertices);
		assert_near(knGeom_MassProps(geom, 1.0).mass, volume, 1e-9 * volume);
		knGeom_Release(geom);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clouds_have_hulls),
		cmocka_unit_test(test_many_points_do_not_take_for_ever),
		cmocka_unit_test(test_coplanar_triangles_become_polygons),
		cmocka_unit_test(test_flat_points_and_others_are_refused),
		cmocka_unit_test(test_every_allocation_may_fail),
		cmocka_unit_test(test_support_and_distance),
		cmocka_unit_test(test_qhull_agrees),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
