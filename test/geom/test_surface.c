// Drawn surfaces: closed, wound outwards, with unit normals that point out of the solid, within the tolerance of the
// true surface, and of a volume that converges to the geometry's.
#include "geom/surface.h"
#include "geom/geom.h"
#include "support/kn_test.h"

// --- facts about any surface -----------------------------------------------------------------------------

// By the divergence theorem: a sixth of the sum of a . (b x c).
static double volumeOf(const knSurface* surface) {
	double sum = 0.0;
	for (int t = 0; t < surface->triangleCount; ++t) {
		knTriangle corner = surface->triangles[t];
		sum += knDot(surface->vertices[corner.a],
					 knCross(surface->vertices[corner.b], surface->vertices[corner.c]));
	}
	return sum / 6.0;
}

static bool samePlace(knVec3 a, knVec3 b) {
	return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Every edge is met once in each direction, when vertices in one place count as one.
static void assertClosed(const knSurface* surface) {
	int vertexCount = surface->vertexCount, triangleCount = surface->triangleCount;
	int* place = malloc(sizeof(int) * (size_t)vertexCount);
	for (int v = 0; v < vertexCount; ++v) {
		place[v] = v;
		for (int w = 0; w < v && place[v] == v; ++w) {
			place[v] = samePlace(surface->vertices[v], surface->vertices[w]) ? place[w] : v;
		}
	}
	int* met = calloc((size_t)vertexCount * (size_t)vertexCount, sizeof(int));
	for (int t = 0; t < triangleCount; ++t) {
		const knTriangle* corner = &surface->triangles[t];
		int at[3] = { place[corner->a], place[corner->b], place[corner->c] };
		for (int k = 0; k < 3; ++k) {
			assert_int_not_equal(at[k], at[(k + 1) % 3]);
			met[at[k] * vertexCount + at[(k + 1) % 3]] += 1;
		}
	}
	for (int v = 0; v < vertexCount; ++v) {
		for (int w = 0; w < vertexCount; ++w) {
			assert_true(met[v * vertexCount + w] <= 1);
			assert_int_equal(met[v * vertexCount + w], met[w * vertexCount + v]);
		}
	}
	free(met);
	free(place);
}

// Unit normals, on the side to which the triangle is wound.
static void assertNormals(const knSurface* surface, double leastCosine) {
	for (int v = 0; v < surface->vertexCount; ++v) {
		assert_near(knLength(surface->normals[v]), 1.0, 1e-12);
	}
	for (int t = 0; t < surface->triangleCount; ++t) {
		knTriangle corner = surface->triangles[t];
		knVec3 a = surface->vertices[corner.a], b = surface->vertices[corner.b],
			   c = surface->vertices[corner.c];
		knVec3 face = knNormalize(knCross(knSub(b, a), knSub(c, a)));
		const int32_t vertices[3] = { corner.a, corner.b, corner.c };
		for (int k = 0; k < 3; ++k) {
			assert_true(knDot(face, surface->normals[vertices[k]]) > leastCosine);
		}
	}
}

// Vertices on the surface; all points of triangles no farther than the tolerance; a step along a normal leads out.
static void assertNear(const knSurface* surface, const knGeom* geom, double tolerance, double size) {
	knTestRandom random = { 7 };
	for (int v = 0; v < surface->vertexCount; ++v) {
		knVec3 at = surface->vertices[v], n = surface->normals[v];
		assert_near(knGeom_Distance(geom, at), 0.0, 1e-12 * size);
		assert_true(knGeom_Distance(geom, knMulAdd(at, 1e-4 * size, n)) > 0.9e-4 * size);
	}
	for (int t = 0; t < surface->triangleCount; ++t) {
		knTriangle corner = surface->triangles[t];
		for (int k = 0; k < 8; ++k) {
			// the middle of the face and of an edge, then anywhere
			double u = k == 0 ? 1.0 / 3.0 : testUniform(&random, 0.0, 1.0),
				   v = k == 0 ? u : (1.0 - u) * testUniform(&random, 0.0, 1.0);
			u = k == 1 ? 0.5 : u;
			v = k == 1 ? 0.5 : v;
			knVec3 point = knMulAdd(
				knMulAdd(knScale(1.0 - u - v, surface->vertices[corner.a]), u, surface->vertices[corner.b]),
				v, surface->vertices[corner.c]);
			assert_near(knGeom_Distance(geom, point), 0.0, tolerance + 1e-12 * size);
		}
	}
}

// A step back leads in, or along another face that is not too steep.
static void assertInward(const knSurface* surface, const knGeom* geom, double size) {
	for (int v = 0; v < surface->vertexCount; ++v) {
		knVec3 inside = knMulAdd(surface->vertices[v], -1e-4 * size, surface->normals[v]);
		assert_true(knGeom_Distance(geom, inside) < 1e-12 * size);
	}
}

static knSurface surfaceOf(const knGeom* geom, double tolerance) {
	knSurface surface;
	assert_ok(knGeom_Surface(geom, tolerance, NULL, &surface, NULL));
	return surface;
}

// --- primitives ------------------------------------------------------------------------------------------

// What every solid must satisfy, at its own tolerance and at finer ones.
static void checkSolid(knGeom* geom, double radius) {
	double volume = knGeom_MassProps(geom, 1.0).mass;
	double size = pow(volume, 1.0 / 3.0), lastError = INFINITY;
	const double tolerances[] = { 0.0, 0.02 * radius, 0.005 * radius, 0.00125 * radius };
	for (int k = 0; k < 4; ++k) {
		knSurface surface = surfaceOf(geom, tolerances[k]);
		double tolerance = k == 0 ? 0.005 * radius : tolerances[k];
		assert_true(surface.triangleCount > 0 && surface.triangleCount < 20000);
		if (k < 2) {
			assertClosed(&surface);
			assertNormals(&surface, 0.9);
		}
		assertNear(&surface, geom, tolerance, size);
		assertInward(&surface, geom, size);
		double error = (volume - volumeOf(&surface)) / volume;
		assert_true(error > -1e-12);
		// curved: the error falls at least threefold with a fourth of the tolerance
		if (k >= 2) {
			assert_true(error < 1e-12 || error < lastError / 3.0);
		}
		lastError = error;
		knSurface_Free(&surface);
		assert_null(surface.vertices);
	}
	assert_true(lastError < 1e-2);
	knGeom_Release(geom);
}

static void sphereIsRound(void** state) {
	(void)state;
	checkSolid(knGeom_Sphere(1.0, NULL, NULL), 1.0);
	checkSolid(knGeom_Sphere(2e-3, NULL, NULL), 2e-3);
	checkSolid(knGeom_Sphere(350.0, NULL, NULL), 350.0);
}

static void capsuleIsRound(void** state) {
	(void)state;
	checkSolid(knGeom_Capsule(0.5, 2.0, NULL, NULL), 0.5);
	checkSolid(knGeom_Capsule(0.5, 0.01, NULL, NULL), 0.5);
}

static void cylinderIsRound(void** state) {
	(void)state;
	checkSolid(knGeom_Cylinder(0.5, 2.0, NULL, NULL), 0.5);
	checkSolid(knGeom_Cylinder(2.0, 0.05, NULL, NULL), 2.0);
}

static void ellipsoidIsRound(void** state) {
	(void)state;
	checkSolid(knGeom_Ellipsoid(knV3(0.7, 1.0, 0.8), NULL, NULL), 1.0);
}

// A hull's triangles are drawn as they are: its exact volume, flat faces.
static void hullIsFlat(void** state) {
	(void)state;
	knTestRandom random = { 11 };
	knVec3 points[60];
	for (int k = 0; k < 60; ++k) {
		points[k] = testVec3(&random, 1.0);
	}
	knGeom* hull = knGeom_Hull(points, 60, NULL, NULL);
	assert_non_null(hull);
	knSurface surface = surfaceOf(hull, 0.0);
	double volume = knGeom_MassProps(hull, 1.0).mass;
	assertClosed(&surface);
	assertNormals(&surface, 1.0 - 1e-6);
	assertNear(&surface, hull, 1e-9, 1.0);
	assert_near(volumeOf(&surface), volume, 1e-9 * volume);
	knSurface_Free(&surface);
	knGeom_Release(hull);
}

static void boxHasTwelveTriangles(void** state) {
	(void)state;
	knGeom* box = knGeom_Box(knV3(0.5, 2.0, 0.25), NULL, NULL);
	knSurface surface = surfaceOf(box, 0.0);
	assert_int_equal(surface.vertexCount, 24);
	assert_int_equal(surface.triangleCount, 12);
	assert_near(volumeOf(&surface), 2.0, 1e-14);
	assertNormals(&surface, 1.0 - 1e-12);
	knSurface_Free(&surface);
	checkSolid(box, 1.0);
}

// A plane is a square that faces up.
static void planeIsASquare(void** state) {
	(void)state;
	knGeom* plane = knGeom_Plane(NULL, NULL);
	knSurface surface = surfaceOf(plane, 0.0);
	assert_int_equal(surface.triangleCount, 2);
	assertNormals(&surface, 1.0 - 1e-12);
	assertNear(&surface, plane, 0.0, 1.0);
	for (int v = 0; v < 4; ++v) {
		assert_near(knAbs(surface.vertices[v].x), 0.5 * KN_PLANE_DRAWN, 0.0);
		assert_near(knAbs(surface.vertices[v].y), 0.5 * KN_PLANE_DRAWN, 0.0);
	}
	knSurface_Free(&surface);
	knGeom_Release(plane);
}

static knSurface primitive(knGeomKind kind, knVec3 size, double tolerance) {
	knAllocator allocator = knAllocator_Default();
	knSurface surface;
	assert_ok(knSurface_OfPrimitive(kind, size, tolerance, &allocator, &surface, NULL));
	return surface;
}

// Side and ends are apart: normals are either level or upright; the side's are radial.
static void cylinderHasEdges(void** state) {
	(void)state;
	double r = 0.5, h = 1.5, volume = KN_PI * r * r * 2.0 * h, lastError = 1.0;
	const double tolerances[] = { 0.0, 0.01 * r, 0.0025 * r };
	for (int k = 0; k < 3; ++k) {
		knSurface surface = primitive(KN_GEOM_CYLINDER, knV3(r, h, 0.0), tolerances[k]);
		assertClosed(&surface);
		assertNormals(&surface, 0.9);
		for (int v = 0; v < surface.vertexCount; ++v) {
			knVec3 at = surface.vertices[v], n = surface.normals[v];
			knVec3 level = knV3(at.x, at.y, 0.0), up = knV3(0.0, 0.0, at.z / h);
			assert_near(knAbs(at.z), h, 0.0);
			assert_near3(n, n.z != 0.0 ? up : knScale(1.0 / r, level), 1e-12);
			assert_true(knLength(level) < 1e-15 || knAbs(knLength(level) - r) < 1e-15);
		}
		double error = (volume - volumeOf(&surface)) / volume;
		assert_true(error > 0.0 && error < 0.02);
		assert_true(k < 2 || error < lastError / 3.0);
		lastError = error;
		knSurface_Free(&surface);
	}
}

// Vertices satisfy the equation of the ellipsoid, normals are its gradient.
static void ellipsoidIsSmooth(void** state) {
	(void)state;
	knVec3 r = knV3(0.3, 2.0, 0.7);
	double volume = 4.0 / 3.0 * KN_PI * r.x * r.y * r.z, lastError = 1.0;
	for (double tolerance = 0.02; tolerance > 1e-3; tolerance /= 4.0) {
		knSurface surface = primitive(KN_GEOM_ELLIPSOID, r, tolerance);
		assertClosed(&surface);
		assertNormals(&surface, 0.5);
		for (int v = 0; v < surface.vertexCount; ++v) {
			knVec3 at = surface.vertices[v];
			assert_near(at.x * at.x / (r.x * r.x) + at.y * at.y / (r.y * r.y) + at.z * at.z / (r.z * r.z),
						1.0, 1e-14);
			knVec3 gradient = knV3(at.x / (r.x * r.x), at.y / (r.y * r.y), at.z / (r.z * r.z));
			assert_near3(surface.normals[v], knNormalize(gradient), 1e-12);
		}
		double error = (volume - volumeOf(&surface)) / volume;
		assert_true(error > 0.0 && error < lastError / 3.0);
		lastError = error;
		knSurface_Free(&surface);
	}
}

// Absurd tolerances neither fail nor fill the memory.
static void tolerancesAreBounded(void** state) {
	(void)state;
	knGeom* sphere = knGeom_Sphere(1.0, NULL, NULL);
	knSurface coarse = surfaceOf(sphere, 1e9), fine = surfaceOf(sphere, 1e-300);
	assertClosed(&coarse);
	assert_true(volumeOf(&coarse) > 2.0);
	assert_true(fine.triangleCount < 300000);
	assert_near(volumeOf(&fine), 4.0 / 3.0 * KN_PI, 1e-3);
	knSurface_Free(&coarse);
	knSurface_Free(&fine);
	knSurface refused;
	assert_int_equal(knGeom_Surface(sphere, -1.0, NULL, &refused, NULL), KN_BAD_ARGUMENT);
	assert_int_equal(knGeom_Surface(sphere, NAN, NULL, &refused, NULL), KN_BAD_ARGUMENT);
	knGeom_Release(sphere);
}

// --- compounds -------------------------------------------------------------------------------------------

static void compoundIsItsChildren(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	knGeom* parts[] = { knGeom_Sphere(0.5, NULL, NULL), knGeom_Box(knV3(0.1, 0.2, 0.3), NULL, NULL),
						knGeom_Capsule(0.2, 0.4, NULL, NULL) };
	knGeomChild children[3];
	int triangleCount = 0;
	double volume = 0.0;
	for (int k = 0; k < 3; ++k) {
		children[k] = (knGeomChild){ parts[k], testFrame(&random, 2.0) };
		knSurface part = surfaceOf(parts[k], 0.001);
		triangleCount += part.triangleCount;
		volume += volumeOf(&part);
		knSurface_Free(&part);
	}
	knGeom* compound = knGeom_Compound(children, 3, NULL, NULL);
	knSurface surface = surfaceOf(compound, 0.001);
	assert_int_equal(surface.triangleCount, triangleCount);
	assert_near(volumeOf(&surface), volume, 1e-12);
	assertNormals(&surface, 0.9);
	for (int v = 0; v < surface.vertexCount; ++v) {
		// on some child, or within another
		assert_true(knGeom_Distance(compound, surface.vertices[v]) < 1e-12);
	}
	knSurface_Free(&surface);
	knGeom_Release(compound);
	for (int k = 0; k < 3; ++k) {
		knGeom_Release(parts[k]);
	}
}

// --- triangles -------------------------------------------------------------------------------------------

// A prism of n sides about z with shared vertices, its ends fans about their middle.
typedef struct Prism {
	knVec3 vertices[2 * 64 + 2];
	knTriangle triangles[4 * 64];
	knTriangles all;
} Prism;

static void makePrism(Prism* prism, int sides) {
	int south = 2 * sides, north = south + 1, next = 0;
	for (int k = 0; k < sides; ++k) {
		double angle = 2.0 * KN_PI * k / sides;
		prism->vertices[k] = knV3(knCos(angle), knSin(angle), -1.0);
		prism->vertices[sides + k] = knV3(knCos(angle), knSin(angle), 1.0);
		int after = (k + 1) % sides;
		prism->triangles[next++] = (knTriangle){ k, after, sides + after };
		prism->triangles[next++] = (knTriangle){ k, sides + after, sides + k };
		prism->triangles[next++] = (knTriangle){ south, after, k };
		prism->triangles[next++] = (knTriangle){ north, sides + k, sides + after };
	}
	prism->vertices[south] = knV3(0.0, 0.0, -1.0);
	prism->vertices[north] = knV3(0.0, 0.0, 1.0);
	prism->all = (knTriangles){ 2 * sides + 2, prism->vertices, next, prism->triangles };
}

static knSurface smoothed(const knTriangles* triangles, double crease) {
	knAllocator allocator = knAllocator_Default();
	knSurface surface;
	assert_ok(knSurface_OfTriangles(triangles, crease, &allocator, &surface, NULL));
	return surface;
}

// Sides that meet at 15 degrees are one curved surface, with an edge towards the ends.
static void creaseSeparatesEdgesFromCurves(void** state) {
	(void)state;
	Prism prism;
	const int sides = 24;
	makePrism(&prism, sides);
	knSurface surface = smoothed(&prism.all, KN_CREASE_MESH);
	assert_int_equal(surface.vertexCount, 4 * sides + 2);
	assertClosed(&surface);
	assertNormals(&surface, knCos(KN_PI / sides) - 1e-9);
	assert_near(volumeOf(&surface), sides * knSin(2.0 * KN_PI / sides), 1e-12);
	for (int v = 0; v < surface.vertexCount; ++v) {
		knVec3 at = surface.vertices[v], n = surface.normals[v];
		bool end = knAbs(n.z) > 0.5;
		assert_near3(n, end ? knV3(0.0, 0.0, at.z) : knV3(at.x, at.y, 0.0), 1e-9);
	}
	knSurface_Free(&surface);
}

// As a hull the same prism has flat sides, and the two triangles of a side share their vertices.
static void flatFacesShareTheirVertices(void** state) {
	(void)state;
	Prism prism;
	const int sides = 6;
	makePrism(&prism, sides);
	knSurface surface = smoothed(&prism.all, KN_CREASE_HULL);
	assert_int_equal(surface.vertexCount, 4 * sides + 2 * (sides + 1));
	assertClosed(&surface);
	assertNormals(&surface, 1.0 - 1e-9);
	knSurface_Free(&surface);
}

// A fine sphere made of triangles: no vertex is split, and normals are radial but for the size of a face.
static void smoothMeshStaysWhole(void** state) {
	(void)state;
	knSurface round = primitive(KN_GEOM_SPHERE, knV3(1.0, 0.0, 0.0), 0.005);
	knTriangles triangles = { round.vertexCount, round.vertices, round.triangleCount, round.triangles };
	knSurface surface = smoothed(&triangles, KN_CREASE_MESH);
	assert_int_equal(surface.vertexCount, round.vertexCount);
	assert_int_equal(surface.triangleCount, round.triangleCount);
	for (int v = 0; v < surface.vertexCount; ++v) {
		assert_near3(surface.normals[v], surface.vertices[v], 0.02);
	}
	knSurface_Free(&surface);
	knSurface_Free(&round);
}

// Triangles without an area, and vertices without a triangle, are not drawn; a fan of very many triangles costs
// no square of them.
static void degenerateTrianglesAreLeftOut(void** state) {
	(void)state;
	const knVec3 vertices[] = {
		{ 0.0, 0.0, 0.0 }, { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 2.0, 0.0, 0.0 }, { 5.0, 5.0, 5.0 }
	};
	const knTriangle list[] = { { 0, 1, 3 }, { 0, 1, 2 }, { 2, 2, 2 } };
	knTriangles triangles = { 5, vertices, 3, list };
	knSurface surface = smoothed(&triangles, KN_CREASE_MESH);
	assert_int_equal(surface.triangleCount, 1);
	assert_int_equal(surface.vertexCount, 3);
	assertNormals(&surface, 1.0 - 1e-12);
	knSurface_Free(&surface);
	triangles.triangleCount = 1;
	surface = smoothed(&triangles, KN_CREASE_MESH);
	assert_int_equal(surface.triangleCount, 0);
	assert_int_equal(surface.vertexCount, 0);
	knSurface_Free(&surface);

	enum { FAN = 200000 };
	knVec3* rim = malloc(sizeof(knVec3) * (FAN + 1));
	knTriangle* fan = malloc(sizeof(knTriangle) * FAN);
	for (int k = 0; k < FAN; ++k) {
		double angle = 2.0 * KN_PI * k / FAN;
		rim[k] = knV3(knCos(angle), knSin(angle), 0.0);
		fan[k] = (knTriangle){ k, (k + 1) % FAN, FAN };
	}
	rim[FAN] = knV3(0.0, 0.0, 1.0);
	triangles = (knTriangles){ FAN + 1, rim, FAN, fan };
	surface = smoothed(&triangles, KN_CREASE_MESH);
	assert_int_equal(surface.triangleCount, FAN);
	assertNormals(&surface, 0.9);
	knSurface_Free(&surface);
	free(rim);
	free(fan);
}

static void failingAllocatorLeavesNothing(void** state) {
	(void)state;
	Prism prism;
	makePrism(&prism, 5);
	knGeom* sphere = knGeom_Sphere(1.0, NULL, NULL);
	knGeomChild children[] = { { sphere, knIdentityF() }, { sphere, knIdentityF() } };
	knGeom* compound = knGeom_Compound(children, 2, NULL, NULL);
	for (int what = 0; what < 2; ++what) {
		knStatus status = KN_NO_MEMORY;
		int failures = 0;
		for (int failAfter = 0; status != KN_OK; ++failAfter) {
			knTestMemory memory;
			knAllocator allocator = testAllocator(&memory);
			memory.failAfter = failAfter;
			knSurface surface;
			knError error = { 0 };
			status = what == 0
						 ? knGeom_Surface(compound, 0.0, &allocator, &surface, &error)
						 : knSurface_OfTriangles(&prism.all, KN_CREASE_MESH, &allocator, &surface, &error);
			if (status == KN_OK) {
				knSurface_Free(&surface);
			} else {
				assert_int_equal(status, KN_NO_MEMORY);
				failures += 1;
			}
			assert_int_equal(memory.live, 0);
		}
		assert_true(failures > 5);
	}
	knGeom_Release(compound);
	knGeom_Release(sphere);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sphereIsRound),
		cmocka_unit_test(capsuleIsRound),
		cmocka_unit_test(cylinderIsRound),
		cmocka_unit_test(ellipsoidIsRound),
		cmocka_unit_test(hullIsFlat),
		cmocka_unit_test(boxHasTwelveTriangles),
		cmocka_unit_test(planeIsASquare),
		cmocka_unit_test(cylinderHasEdges),
		cmocka_unit_test(ellipsoidIsSmooth),
		cmocka_unit_test(tolerancesAreBounded),
		cmocka_unit_test(compoundIsItsChildren),
		cmocka_unit_test(creaseSeparatesEdgesFromCurves),
		cmocka_unit_test(flatFacesShareTheirVertices),
		cmocka_unit_test(smoothMeshStaysWhole),
		cmocka_unit_test(degenerateTrianglesAreLeftOut),
		cmocka_unit_test(failingAllocatorLeavesNothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
