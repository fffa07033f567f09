// Meshes: what is accepted, mended or refused, and exact mass and distance.
#include "support/kn_test.h"
#include "support/mesh_shapes.h"

#include "geom/geom.h"
#include "geom/mesh.h"

static knGeom* makeWith(const knTestMesh* shape, bool solid, knError* error) {
	knMeshDef def = testMeshDef(shape);
	def.solid = solid;
	return knGeom_Mesh(&def, NULL, error);
}

static knGeom* make(const knTestMesh* shape) {
	knError error = { 0 };
	knGeom* geom = makeWith(shape, true, &error);
	if (geom == NULL) {
		fail_msg("%s", error.message);
	}
	return geom;
}

static void refuse(const knTestMesh* shape, bool solid, const char* word) {
	knError error = { 0 };
	assert_null(makeWith(shape, solid, &error));
	assert_int_equal(error.status, KN_BAD_DATA);
	if (strstr(error.message, word) == NULL) {
		fail_msg("'%s' is not in: %s", word, error.message);
	}
}

// --- mass ------------------------------------------------------------------------------------------------

static void assertSameMass(knMassProps a, knMassProps b, double tolerance) {
	assert_near(a.mass, b.mass, tolerance * b.mass);
	assert_near3(a.center, b.center, tolerance);
	assert_near3(a.inertia.cx, b.inertia.cx, tolerance * b.mass);
	assert_near3(a.inertia.cy, b.inertia.cy, tolerance * b.mass);
	assert_near3(a.inertia.cz, b.inertia.cz, tolerance * b.mass);
}

static void test_box_mass_is_exact(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	knGeom* box = knGeom_Box(knV3(0.5, 0.3, 0.2), NULL, NULL);
	for (int i = 0; i < 20; ++i) {
		knFrame frame = testFrame(&random, 3.0);
		knTestMesh shape = testMeshBox(knV3(0.5, 0.3, 0.2));
		for (int v = 0; v < shape.vertexCount; ++v) {
			shape.vertices[v] = knPoint(frame, shape.vertices[v]);
		}
		knGeom* geom = make(&shape);
		knMassProps own = knGeom_MassProps(box, 700.0);
		assertSameMass(knGeom_MassProps(geom, 700.0), knMassProps_Transform(&own, frame), 1e-12);
		knGeom_Release(geom);
		testMeshFree(&shape);
	}
	knGeom_Release(box);
}

// A fine torus comes close to 2 pi^2 R r^2 and its known moments, with an error that falls by four.
static void test_torus_mass_converges(void** state) {
	(void)state;
	double R = 1.0, r = 0.3, errors[2];
	for (int k = 0; k < 2; ++k) {
		knTestMesh shape = testMeshTorus(R, r, 40 << k, 20 << k);
		knMassProps props = knMesh_Mass(shape.vertices, shape.triangles, shape.triangleCount);
		double mass = 2.0 * KN_PI * KN_PI * R * r * r;
		errors[k] = knAbs(props.mass / mass - 1.0);
		assert_near(props.inertia.cz.z / props.mass, R * R + 0.75 * r * r, 0.03);
		assert_near3(props.center, knZero3(), 1e-12);
		testMeshFree(&shape);
	}
	assert_near(errors[0] / errors[1], 4.0, 0.2);
}

// --- mending ---------------------------------------------------------------------------------------------

// Triangles that share no vertices, with some of no area: welded into the same solid.
static void test_soup_is_welded(void** state) {
	(void)state;
	knTestMesh box = testMeshBox(knV3(0.5, 0.5, 0.5)), soup = testMeshNew(36, 14);
	for (int t = 0; t < 12; ++t) {
		for (int k = 0; k < 3; ++k) {
			soup.vertices[3 * t + k] = box.vertices[knTriangle_Corner(&box.triangles[t], k)];
		}
		soup.triangles[t] = (knTriangle){ 3 * t, 3 * t + 1, 3 * t + 2 };
	}
	soup.triangles[12] = (knTriangle){ 0, 0, 1 };
	soup.triangles[13] = (knTriangle){ 5, 7, 7 };
	knGeom* geom = make(&soup);
	int vertices, triangles;
	knGeom_Vertices(geom, &vertices);
	knGeom_Triangles(geom, &triangles);
	assert_int_equal(vertices, 8);
	assert_int_equal(triangles, 12);
	assert_near(knGeom_MassProps(geom, 1.0).mass, 1.0, 1e-12);
	knGeom_Release(geom);
	testMeshFree(&box);
	testMeshFree(&soup);
}

static void test_inverted_mesh_is_turned(void** state) {
	(void)state;
	knTestRandom random = { 6 };
	for (int trial = 0; trial < 20; ++trial) {
		knTestMesh shape = testMeshTorus(1.0, 0.3, 12, 8);
		for (int t = 0; t < shape.triangleCount; ++t) {
			// all of them, or any of them
			if (trial == 0 || testInt(&random, 2) == 0) {
				int b = shape.triangles[t].b;
				shape.triangles[t].b = shape.triangles[t].c;
				shape.triangles[t].c = b;
			}
		}
		knGeom* geom = make(&shape);
		assert_true(knGeom_MassProps(geom, 1.0).mass > 0.4);
		assert_true(knGeom_Distance(geom, knV3(1.0, 0.0, 0.0)) < -0.2);
		assert_true(knGeom_Distance(geom, knZero3()) > 0.6);
		knGeom_Release(geom);
		testMeshFree(&shape);
	}
}

// A cavity keeps its orientation: a consistent mesh is only turned as a whole.
static void test_cavity_is_kept(void** state) {
	(void)state;
	for (int inverted = 0; inverted < 2; ++inverted) {
		knTestMesh outer = testMeshBox(knV3(1.0, 1.0, 1.0)), inner = testMeshBox(knV3(0.5, 0.5, 0.5));
		knTestMesh both = testMeshNew(16, 24);
		for (int i = 0; i < 8; ++i) {
			both.vertices[i] = outer.vertices[i];
			both.vertices[8 + i] = inner.vertices[i];
		}
		for (int t = 0; t < 12; ++t) {
			knTriangle in = inner.triangles[t], out = outer.triangles[t];
			both.triangles[t] = inverted ? (knTriangle){ out.a, out.c, out.b } : out;
			both.triangles[12 + t] = inverted ? (knTriangle){ in.a + 8, in.b + 8, in.c + 8 }
											  : (knTriangle){ in.a + 8, in.c + 8, in.b + 8 };
		}
		knGeom* geom = make(&both);
		assert_near(knGeom_MassProps(geom, 1.0).mass, 7.0, 1e-12);
		assert_near(knGeom_Distance(geom, knZero3()), 0.5, 1e-12);
		assert_near(knGeom_Distance(geom, knV3(0.75, 0.1, 0.1)), -0.25, 1e-12);
		knGeom_Release(geom);
		testMeshFree(&outer);
		testMeshFree(&inner);
		testMeshFree(&both);
	}
}

// A vertex in the middle of an edge with a triangle of no area to close the gap: signs stay right all round.
static void test_triangle_without_area_closes_a_crack(void** state) {
	(void)state;
	// the edge from 4 to 5 of the cube gets vertex 8 on one side only
	knTestMesh box = testMeshBox(knV3(0.5, 0.5, 0.5)), shape = testMeshNew(9, 14);
	memcpy(shape.vertices, box.vertices, 8 * sizeof(knVec3));
	shape.vertices[8] = knLerp(box.vertices[4], box.vertices[5], 0.3);
	int count = 0, cut = 0;
	for (int t = 0; t < 12; ++t) {
		knTriangle triangle = box.triangles[t];
		bool split = false;
		for (int k = 0; k < 3 && cut == 0; ++k) {
			int a = knTriangle_Corner(&triangle, k), b = knTriangle_Corner(&triangle, (k + 1) % 3);
			int c = knTriangle_Corner(&triangle, (k + 2) % 3);
			if ((a == 4 && b == 5) || (a == 5 && b == 4)) {
				shape.triangles[count++] = (knTriangle){ a, 8, c };
				shape.triangles[count++] = (knTriangle){ 8, b, c };
				shape.triangles[count++] = (knTriangle){ a, b, 8 }; // in line
				cut = split = true;
				break;
			}
		}
		if (!split) {
			shape.triangles[count++] = triangle;
		}
	}
	shape.triangleCount = count;
	assert_int_equal(count, 14);
	knGeom *geom = make(&shape), *exact = knGeom_Box(knV3(0.5, 0.5, 0.5), NULL, NULL);
	knTestRandom random = { 8 };
	for (int i = 0; i < 2000; ++i) {
		knVec3 p = testVec3(&random, 0.8);
		assert_near(knGeom_Distance(geom, p), knGeom_Distance(exact, p), 1e-12);
	}
	knGeom_Release(geom);
	knGeom_Release(exact);
	testMeshFree(&box);
	testMeshFree(&shape);
}

// Two boxes that share an edge: four triangles there, and still a solid.
static void test_parts_may_touch_along_an_edge(void** state) {
	(void)state;
	knTestMesh box = testMeshBox(knV3(0.5, 0.5, 0.5)), both = testMeshNew(16, 24);
	for (int i = 0; i < 8; ++i) {
		both.vertices[i] = box.vertices[i];
		both.vertices[8 + i] = knAdd(box.vertices[i], knV3(1.0, 1.0, 0.0));
	}
	for (int t = 0; t < 12; ++t) {
		both.triangles[t] = box.triangles[t];
		both.triangles[12 + t] =
			(knTriangle){ box.triangles[t].a + 8, box.triangles[t].b + 8, box.triangles[t].c + 8 };
	}
	knGeom *geom = make(&both), *single = knGeom_Box(knV3(0.5, 0.5, 0.5), NULL, NULL);
	assert_int_equal(geom->mesh->vertexCount, 14);
	knTestRandom random = { 8 };
	for (int i = 0; i < 2000; ++i) {
		knVec3 p = knAdd(testVec3(&random, 1.3), knV3(0.5, 0.5, 0.0));
		double exact =
			knMin(knGeom_Distance(single, p), knGeom_Distance(single, knSub(p, knV3(1.0, 1.0, 0.0))));
		assert_near(knGeom_Distance(geom, p), exact, 1e-12);
	}
	knGeom_Release(geom);
	knGeom_Release(single);
	testMeshFree(&box);
	testMeshFree(&both);
}

// --- refusing --------------------------------------------------------------------------------------------

static void test_bad_meshes_are_refused(void** state) {
	(void)state;
	knTestMesh box = testMeshBox(knV3(0.5, 0.5, 0.5));
	// a hole: named, counted and placed
	box.triangleCount = 11;
	refuse(&box, true, "3 of its edges");
	refuse(&box, true, "from (0.5, -0.5, -0.5) to (0.5, -0.5, 0.5)");
	box.triangleCount = 12;
	// not finite, out of range, far too large
	knVec3 kept = box.vertices[3];
	const double bad[] = { NAN, INFINITY, 1e300 };
	for (int i = 0; i < 3; ++i) {
		box.vertices[3].y = bad[i];
		refuse(&box, true, "vertex 3");
		refuse(&box, false, "vertex 3");
	}
	box.vertices[3] = kept;
	knTriangle good = box.triangles[5];
	box.triangles[5].b = 8;
	refuse(&box, true, "names vertex 8 of 8");
	box.triangles[5].b = -1;
	refuse(&box, false, "names vertex -1");
	box.triangles[5] = good;
	// nothing but points and lines
	for (int i = 0; i < 8; ++i) {
		box.vertices[i] = knV3(i, 2.0 * i, 0.0);
	}
	refuse(&box, false, "area");
	testMeshFree(&box);

	// a sheet with two sides has no volume
	knTestMesh sheet = testMeshNew(3, 2);
	sheet.vertices[0] = knV3(0.0, 0.0, 0.0);
	sheet.vertices[1] = knV3(1.0, 0.0, 0.0);
	sheet.vertices[2] = knV3(0.0, 1.0, 0.0);
	sheet.triangles[0] = (knTriangle){ 0, 1, 2 };
	sheet.triangles[1] = (knTriangle){ 0, 2, 1 };
	refuse(&sheet, true, "no volume");
	sheet.triangles[1] = (knTriangle){ 0, 1, 2 };
	refuse(&sheet, true, "no ");
	testMeshFree(&sheet);
}

// A Klein bottle as a grid with one side glued upside down: closed, but without an inside.
static void test_one_sided_mesh_is_refused(void** state) {
	(void)state;
	knTestMesh shape = testMeshTorus(1.0, 0.3, 8, 6);
	for (int t = 0; t < shape.triangleCount; ++t) {
		int* corners[3] = { &shape.triangles[t].a, &shape.triangles[t].b, &shape.triangles[t].c };
		bool last = t / 2 / 6 == 7;
		for (int k = 0; k < 3; ++k) {
			if (last && *corners[k] / 6 == 0) {
				*corners[k] = (6 - *corners[k] % 6) % 6; // the seam, mirrored
			}
		}
	}
	refuse(&shape, true, "agree");
	testMeshFree(&shape);
}

// --- distance --------------------------------------------------------------------------------------------

static void test_distance_and_scale(void** state) {
	(void)state;
	const double scales[] = { 1e-4, 1.0, 1e4 };
	for (int s = 0; s < 3; ++s) {
		knTestMesh shape = testMeshBox(knScale(scales[s], knV3(0.5, 0.3, 0.2)));
		knGeom* geom = make(&shape);
		knGeom* box = knGeom_Box(knScale(scales[s], knV3(0.5, 0.3, 0.2)), NULL, NULL);
		knTestRandom random = { 2 };
		for (int i = 0; i < 1000; ++i) {
			knVec3 p = testVec3(&random, scales[s]);
			assert_near(knGeom_Distance(geom, p), knGeom_Distance(box, p), 1e-12 * scales[s]);
		}
		knGeom_Release(geom);
		knGeom_Release(box);
		testMeshFree(&shape);
	}
}

// Running out of memory at any allocation leaves nothing behind.
static void test_memory_may_run_out(void** state) {
	(void)state;
	knTestMesh shape = testMeshTorus(1.0, 0.3, 10, 6);
	knMeshDef def = testMeshDef(&shape);
	bool made = false;
	for (int limit = 0; !made; limit += limit < 60 ? 1 : 37) {
		knTestMemory memory = { .failAfter = limit };
		knAllocator allocator = testAllocator(&memory);
		knError error = { 0 };
		knGeom* geom = knGeom_Mesh(&def, &allocator, &error);
		made = geom != NULL;
		assert_true(made || error.status == KN_NO_MEMORY);
		knGeom_Release(geom);
		assert_int_equal(memory.live, 0);
	}
	testMeshFree(&shape);
}

static void test_height_field_is_checked(void** state) {
	(void)state;
	double heights[6] = { 0.0, 1.0, 2.0, 0.0, 1.0, 2.0 };
	knHeightFieldDef def = { 3, 2, 0.5, 1.0, heights };
	knError error = { 0 };
	knGeom* field = knGeom_HeightField(&def, NULL, &error);
	assert_non_null(field);
	knAabb box = knGeom_Aabb(field, knIdentityF());
	assert_near3(box.lower, knV3(-0.5, -0.5, 0.0), 1e-15);
	assert_near3(box.upper, knV3(0.5, 0.5, 2.0), 1e-15);
	assert_true(knGeom_Distance(field, knV3(0.0, 0.0, 1.5)) > 0.0);
	assert_true(knGeom_Distance(field, knV3(0.0, 0.0, 0.5)) < 0.0);
	knGeom_Release(field);
	heights[4] = NAN;
	assert_null(knGeom_HeightField(&def, NULL, &error));
	assert_non_null(strstr(error.message, "(1, 1)"));
	heights[4] = 0.0;
	def.rows = 1;
	assert_null(knGeom_HeightField(&def, NULL, &error));
	def.rows = 2;
	def.cellX = 0.0;
	assert_null(knGeom_HeightField(&def, NULL, &error));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_box_mass_is_exact),
		cmocka_unit_test(test_torus_mass_converges),
		cmocka_unit_test(test_soup_is_welded),
		cmocka_unit_test(test_inverted_mesh_is_turned),
		cmocka_unit_test(test_cavity_is_kept),
		cmocka_unit_test(test_triangle_without_area_closes_a_crack),
		cmocka_unit_test(test_parts_may_touch_along_an_edge),
		cmocka_unit_test(test_bad_meshes_are_refused),
		cmocka_unit_test(test_one_sided_mesh_is_refused),
		cmocka_unit_test(test_distance_and_scale),
		cmocka_unit_test(test_memory_may_run_out),
		cmocka_unit_test(test_height_field_is_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
