// The signed distance field: error, sign, bounds, the same bits for any number of threads, and its cache.
#include "support/kn_test.h"
#include "support/mesh_shapes.h"

#include "geom/geom.h"
#include "geom/sdf.h"

#define CACHE "sdf-cache-folder"

static knGeom* makeWith(const knTestMesh* shape, int threads, const char* cache) {
	knAllocator allocator = knAllocator_Default();
	knTaskPool* pool = knTaskPool_Create(threads, &allocator, NULL);
	knMeshDef def = testMeshDef(shape);
	def.tasks = knTaskPool_Tasks(pool);
	def.cachePath = cache;
	knError error = { 0 };
	knGeom* geom = knGeom_Mesh(&def, NULL, &error);
	knTaskPool_Destroy(pool);
	if (geom == NULL) {
		fail_msg("%s", error.message);
	}
	return geom;
}

static bool sameField(const knSdf* a, const knSdf* b) {
	return a->entryCount == b->entryCount && a->cellCount == b->cellCount &&
		   memcmp(a->entries, b->entries, (size_t)a->entryCount * sizeof(*a->entries)) == 0 &&
		   memcmp(a->cells, b->cells, (size_t)a->cellCount * sizeof(*a->cells)) == 0;
}

// A random point of the surface, moved along the normal by `offset`.
static knVec3 nearSurface(const knMesh* mesh, knTestRandom* random, double offset) {
	int t = testInt(random, mesh->faceCount);
	knVec3 p[3];
	knMesh_Corners(mesh, t, p);
	double u = testUniform(random, 0.0, 1.0), v = testUniform(random, 0.0, 1.0 - u);
	knVec3 at = knMulAdd(knMulAdd(p[0], u, knSub(p[1], p[0])), v, knSub(p[2], p[0]));
	return knMulAdd(at, offset, mesh->faceNormals[t]);
}

// The field against the exact search over all triangles, at all distances from 1e-9 to 1e-2 of the size.
static void checkField(const knGeom* geom, uint64_t seed, int count) {
	const knMesh* mesh = geom->mesh;
	knTestRandom random = { seed };
	for (int i = 0; i < count; ++i) {
		double scale = i % 2 ? 0.01 : 1e-9 * (1 << (i % 24));
		knVec3 point = nearSurface(mesh, &random, scale * mesh->size * testUniform(&random, -1.0, 1.0));
		knSdfSample sample = knSdf_Sample(mesh, point);
		double exact = knGeom_Distance(geom, point);
		assert_near(sample.distance, exact, 1e-3 * mesh->size);
		assert_true((sample.distance < 0.0) == (exact < 0.0));
		assert_near(knLength(sample.normal), 1.0, 1e-6);
		double bound = knSdf_LowerBound(mesh, point), below = knSdf_Below(mesh, point);
		assert_true(bound <= exact + 1e-12 * mesh->size);
		assert_true(bound <= below && below <= exact + 1e-12 * mesh->size);
	}
	// and anywhere: the sign, and a bound that can be trusted
	for (int i = 0; i < count; ++i) {
		knVec3 point = knAdd(knAabb_Center(mesh->bounds), testVec3(&random, 0.7 * mesh->size));
		double exact = knGeom_Distance(geom, point);
		assert_true((knSdf_Sample(mesh, point).distance < 0.0) == (exact < 0.0));
		assert_true(knSdf_LowerBound(mesh, point) <= exact + 1e-12 * mesh->size);
		assert_true(knSdf_Below(mesh, point) <= exact + 1e-12 * mesh->size);
	}
}

// A gear about z as a CAD program writes it: its sides in one piece, its faces as fans of long triangles.
static knTestMesh makeGear(int teeth, double thickness) {
	int n = 4 * teeth;
	knTestMesh gear = testMeshNew(2 * n + 2, 4 * n);
	for (int i = 0; i < n; ++i) {
		double angle = 2.0 * KN_PI * i / n, r = i % 4 < 2 ? 1.0 : 0.85;
		int j = (i + 1) % n;
		for (int side = 0; side < 2; ++side) {
			gear.vertices[i + side * n] =
				knV3(r * knCos(angle), r * knSin(angle), side ? thickness : -thickness);
		}
		gear.triangles[4 * i] = (knTriangle){ i, j, n + j };
		gear.triangles[4 * i + 1] = (knTriangle){ i, n + j, n + i };
		gear.triangles[4 * i + 2] = (knTriangle){ j, i, 2 * n };
		gear.triangles[4 * i + 3] = (knTriangle){ n + i, n + j, 2 * n + 1 };
	}
	gear.vertices[2 * n] = knV3(0.0, 0.0, -thickness);
	gear.vertices[2 * n + 1] = knV3(0.0, 0.0, thickness);
	return gear;
}

static void test_field_agrees_with_exact_search(void** state) {
	(void)state;
	knTestMesh shapes[] = { testMeshBumpySphere(10, 0.15, 4.0),
							testMeshTorus(1.0, 0.2, 40, 12),
							testMeshBox(knV3(1.0, 0.2, 0.01)),
							testMeshTorus(1.0, 0.2, 5, 200),
							testMeshBox(knV3(1.0, 0.5, 1e-4)),
							makeGear(40, 0.05),
							makeGear(120, 0.002) };
	for (int k = 0; k < 7; ++k) {
		knGeom* geom = makeWith(&shapes[k], 2, NULL);
		checkField(geom, 11 + (uint64_t)k, 1000);
		knGeom_Release(geom);
		testMeshFree(&shapes[k]);
	}
}

// A torus has a closed form; the mesh of it is off by the sagitta of its facets.
// One look says what the bound and the far answer say, bit for bit.
static void test_look_is_bound_and_far_answer(void** state) {
	(void)state;
	knTestMesh shape = testMeshTorus(1.0, 0.25, 64, 16);
	knGeom* geom = makeWith(&shape, 1, NULL);
	const knMesh* mesh = geom->mesh;
	knTestRandom random = { 7 };
	int known = 0;
	for (int i = 0; i < 20000; ++i) {
		knVec3 point = i % 2 ? nearSurface(mesh, &random, 0.05 * testUniform(&random, -1.0, 1.0))
							 : testVec3(&random, 2.0);
		double below, distance;
		knVec3 normal;
		bool told = knSdf_Look(mesh, point, &below, &distance, &normal);
		assert_true(below == knSdf_Below(mesh, point));
		if (told) {
			knSdfSample far = knSdf_Far(mesh, point);
			assert_true(distance == far.distance);
			assert_near3(normal, far.normal, 0.0);
			known += 1;
		}
	}
	assert_true(known > 10000);
	knGeom_Release(geom);
	testMeshFree(&shape);
}

static void test_torus_field_agrees_with_closed_form(void** state) {
	(void)state;
	double R = 1.0, r = 0.25;
	knTestMesh shape = testMeshTorus(R, r, 80, 30);
	knGeom* geom = makeWith(&shape, 1, NULL);
	knTestRandom random = { 5 };
	double sagitta = (R + r) * (1.0 - knCos(KN_PI / 80)) + r * (1.0 - knCos(KN_PI / 30));
	for (int i = 0; i < 3000; ++i) {
		knVec3 p = nearSurface(geom->mesh, &random, testUniform(&random, -0.03, 0.03));
		double ring = sqrt(p.x * p.x + p.y * p.y) - R, exact = sqrt(ring * ring + p.z * p.z) - r;
		assert_near(knSdf_Sample(geom->mesh, p).distance, exact, sagitta + 1e-3 * geom->mesh->size);
	}
	knGeom_Release(geom);
	testMeshFree(&shape);
}

static void test_threads_make_the_same_field(void** state) {
	(void)state;
	knTestMesh shape = testMeshBumpySphere(8, 0.2, 4.0);
	knGeom *one = makeWith(&shape, 1, NULL), *three = makeWith(&shape, 3, NULL);
	assert_true(sameField(one->mesh->field, three->mesh->field));
	knGeom_Release(one);
	knGeom_Release(three);
	testMeshFree(&shape);
}

static bool giveUp(double done, void* context) {
	int* calls = context;
	*calls += 1;
	return done < 0.1;
}

static void test_building_can_be_cancelled(void** state) {
	(void)state;
	knTestMesh shape = testMeshTorus(1.0, 0.3, 40, 16);
	knMeshDef def = testMeshDef(&shape);
	int calls = 0;
	def.progress = giveUp;
	def.progressContext = &calls;
	knTestMemory memory = { .failAfter = -1 };
	knAllocator allocator = testAllocator(&memory);
	knError error = { 0 };
	assert_null(knGeom_Mesh(&def, &allocator, &error));
	assert_int_equal(error.status, KN_CANCELLED);
	assert_true(calls >= 1);
	assert_int_equal(memory.live, 0);
	testMeshFree(&shape);
}

// --- cache -----------------------------------------------------------------------------------------------

static void damage(const char* path, long at) {
	FILE* file = fopen(path, "r+b");
	assert_non_null(file);
	assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
	int byte = fgetc(file);
	fseek(file, -1, SEEK_CUR);
	fputc(byte ^ 0x41, file);
	fclose(file);
}

static void test_cache_is_used_and_mended(void** state) {
	(void)state;
	char path[600];
	knTestMesh shape = testMeshTorus(1.0, 0.3, 24, 12);
	knGeom* fresh = makeWith(&shape, 1, NULL);
	uint64_t key = knSdf_Key(fresh->mesh, fresh->mesh->field->tolerance);
	snprintf(path, sizeof(path), "%s%016llx.knsdf", "./", (unsigned long long)key);
	remove(path);
	knGeom* first = makeWith(&shape, 1, ".");
	FILE* file = fopen(path, "rb");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	long size = ftell(file);
	fclose(file);

	// whole: read back; a byte anywhere damaged, or cut short: ignored and written again
	knSdf* read = calloc(1, sizeof(knSdf));
	read->allocator = knAllocator_Default();
	read->tolerance = fresh->mesh->field->tolerance;
	assert_true(knSdf_Read(read, fresh->mesh, "."));
	assert_true(sameField(read, fresh->mesh->field));
	const long places[] = { 3, 20, 100, size / 2, -1 };
	for (int i = 0; i < 5; ++i) {
		damage(path, places[i]);
		knSdf probe = { .allocator = knAllocator_Default(), .tolerance = read->tolerance };
		assert_false(knSdf_Read(&probe, fresh->mesh, "."));
		assert_null(probe.entries);
		knGeom* again = makeWith(&shape, 1, ".");
		assert_true(sameField(again->mesh->field, fresh->mesh->field));
		knGeom_Release(again);
		assert_true(knSdf_Read(&probe, fresh->mesh, "."));
		assert_true(sameField(&probe, fresh->mesh->field));
		knFree(&probe.allocator, probe.entries, 0);
		knFree(&probe.allocator, probe.cells, 0);
	}
	// another tolerance is another field; a folder that is not there is no error
	assert_true(knSdf_Key(fresh->mesh, 0.5) != key);
	knGeom* nowhere = makeWith(&shape, 1, CACHE "/not/there");
	knGeom_Release(nowhere);
	knFree(&read->allocator, read->entries, 0);
	knFree(&read->allocator, read->cells, 0);
	free(read);
	remove(path);
	knGeom_Release(fresh);
	knGeom_Release(first);
	testMeshFree(&shape);
}

// A fan of hundreds of slivers about one vertex: no explosion of cells, no wrong sign.
static void test_fans_do_not_explode(void** state) {
	(void)state;
	int n = 300;
	knTestMesh cone = testMeshNew(n + 2, 2 * n);
	for (int i = 0; i < n; ++i) {
		double angle = 2.0 * KN_PI * i / n;
		cone.vertices[i] = knV3(knCos(angle), knSin(angle), 0.0);
		cone.triangles[2 * i] = (knTriangle){ i, (i + 1) % n, n };
		cone.triangles[2 * i + 1] = (knTriangle){ (i + 1) % n, i, n + 1 };
	}
	cone.vertices[n] = knV3(0.0, 0.0, 0.5);
	cone.vertices[n + 1] = knV3(0.0, 0.0, -0.5);
	knGeom* geom = makeWith(&cone, 2, NULL);
	assert_true(geom->mesh->field->cellCount < 1000000);
	checkField(geom, 3, 2000);
	knGeom_Release(geom);
	testMeshFree(&cone);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_field_agrees_with_exact_search),
		cmocka_unit_test(test_torus_field_agrees_with_closed_form),
		cmocka_unit_test(test_look_is_bound_and_far_answer),
		cmocka_unit_test(test_threads_make_the_same_field),
		cmocka_unit_test(test_building_can_be_cancelled),
		cmocka_unit_test(test_cache_is_used_and_mended),
		cmocka_unit_test(test_fans_do_not_explode),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
