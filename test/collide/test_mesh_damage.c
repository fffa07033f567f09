// Damaged meshes of all sizes: each is refused with a sentence, or collides without a hang, a crash or a number that is
// not finite.
#include "support/kn_test.h"
#include "support/mesh_shapes.h"

#include "geom/geom.h"
#include "geom/sdf.h"

enum {
	WHOLE,
	TWICE,     // triangles again
	COLLAPSED, // a vertex on its neighbour: triangles without area
	TURNED,    // some triangles the other way round
	OPEN,      // a triangle missing
	NOT_A_NUMBER,
	OUT_OF_RANGE,
	FLAT,
	IN_LINE,
	ONE_PLACE,
	FINS, // a third triangle on an edge
	SOUP, // triangles at random
	DAMAGES
};

static knTestMesh makeDamaged(int damage, knTestRandom* random) {
	knTestMesh torus = testMeshTorus(1.0, 0.3, 8, 6);
	knTestMesh mesh = testMeshNew(torus.vertexCount, torus.triangleCount + 2);
	mesh.triangleCount = torus.triangleCount;
	memcpy(mesh.vertices, torus.vertices, (size_t)torus.vertexCount * sizeof(knVec3));
	memcpy(mesh.triangles, torus.triangles, (size_t)torus.triangleCount * sizeof(knTriangle));
	testMeshFree(&torus);
	int some = testInt(random, mesh.triangleCount);
	knTriangle* triangle = &mesh.triangles[some];
	for (int i = 0; i < mesh.vertexCount; ++i) {
		knVec3* v = &mesh.vertices[i];
		v->z = damage == FLAT || damage == IN_LINE ? 0.0 : v->z;
		v->y = damage == IN_LINE ? 0.0 : v->y;
		*v = damage == ONE_PLACE ? knZero3() : *v;
	}
	switch (damage) {
	case TWICE:
		mesh.triangles[mesh.triangleCount++] = *triangle;
		mesh.triangles[mesh.triangleCount++] = *triangle;
		break;
	case COLLAPSED:
		mesh.vertices[triangle->b] = mesh.vertices[triangle->a];
		break;
	case TURNED:
		for (int t = some; t < mesh.triangleCount; t += 7) {
			int a = mesh.triangles[t].a;
			mesh.triangles[t].a = mesh.triangles[t].b;
			mesh.triangles[t].b = a;
		}
		break;
	case OPEN:
		*triangle = mesh.triangles[--mesh.triangleCount];
		break;
	case NOT_A_NUMBER:
		mesh.vertices[triangle->a].y = NAN;
		break;
	case OUT_OF_RANGE:
		triangle->c = mesh.vertexCount + testInt(random, 3);
		break;
	case FINS:
		mesh.triangles[mesh.triangleCount++] =
			(knTriangle){ triangle->a, triangle->b, testInt(random, mesh.vertexCount) };
		break;
	case SOUP:
		for (int t = 0; t < mesh.triangleCount; ++t) {
			mesh.triangles[t] =
				(knTriangle){ testInt(random, mesh.vertexCount), testInt(random, mesh.vertexCount),
							  testInt(random, mesh.vertexCount) };
		}
		break;
	default:
		break;
	}
	return mesh;
}

static void collide(const knGeom* mesh, const knGeom* other, double scale, knTestRandom* random) {
	for (int i = 0; i < 20; ++i) {
		knFrame a = testFrame(random, 0.0), b = testFrame(random, 1.3 * scale);
		knContactPoint points[64];
		int count = knCollide_Pair(mesh, a, other, b, 0.01 * scale, points, 64);
		assert_in_range(count, 0, 64);
		for (int k = 0; k < count; ++k) {
			assert_true(knIsFinite(points[k].separation) && knIsFinite3(points[k].pointA) &&
						knIsFinite3(points[k].pointB));
			assert_near(knLength(points[k].normal), 1.0, 1e-6);
		}
	}
}

static void use(const knGeom* geom, double scale, knTestRandom* random) {
	for (int i = 0; i < 50; ++i) {
		knVec3 point = testVec3(random, 1.5 * scale);
		assert_true(knIsFinite(knGeom_Distance(geom, point)));
		if (geom->mesh->field != NULL) {
			knSdfSample sample = knSdf_Sample(geom->mesh, point);
			assert_true(knIsFinite(sample.distance) && knIsFinite3(sample.normal));
		}
	}
	knTestMesh box = testMeshBox(knV3(0.4 * scale, 0.3 * scale, 0.2 * scale));
	knMeshDef def = testMeshDef(&box);
	knGeom* others[] = { knGeom_Sphere(0.3 * scale, NULL, NULL),
						 knGeom_Box(knV3(0.4 * scale, 0.3 * scale, 0.2 * scale), NULL, NULL),
						 knGeom_Mesh(&def, NULL, NULL) };
	for (int i = 0; i < 3; ++i) {
		assert_non_null(others[i]);
		collide(geom, others[i], scale, random);
		knGeom_Release(others[i]);
	}
	testMeshFree(&box);
}

static void test_damage_is_refused_or_handled(void** state) {
	(void)state;
	knTestRandom random = { 77 };
	int refused[2][DAMAGES] = { { 0 } };
	const double scales[] = { 1e-4, 1e-2, 1.0, 1e2, 1e4 };
	for (int damage = 0; damage < DAMAGES; ++damage) {
		for (int k = 0; k < 5; ++k) {
			knTestMesh mesh = makeDamaged(damage, &random);
			for (int i = 0; i < mesh.vertexCount; ++i) {
				mesh.vertices[i] = knScale(scales[k], mesh.vertices[i]);
			}
			for (int solid = 0; solid < 2; ++solid) {
				knMeshDef def = testMeshDef(&mesh);
				def.solid = solid != 0;
				knError error = { 0 };
				knGeom* geom = knGeom_Mesh(&def, NULL, &error);
				if (geom == NULL) {
					assert_true(error.status != KN_OK && strlen(error.message) > 20);
					refused[solid][damage] += 1;
				} else {
					use(geom, scales[k], &random);
				}
				knGeom_Release(geom);
			}
			testMeshFree(&mesh);
		}
	}
	// the size of a mesh does not decide
	for (int damage = 0; damage < DAMAGES; ++damage) {
		bool byChance = damage == SOUP || damage == FINS;
		assert_true(byChance || refused[1][damage] % 5 == 0);
		assert_true(byChance || refused[0][damage] % 5 == 0);
	}
	assert_int_equal(refused[1][WHOLE] + refused[1][TURNED] + refused[1][COLLAPSED], 0);
	assert_int_equal(refused[1][OPEN] + refused[1][FLAT] + refused[1][IN_LINE] + refused[1][ONE_PLACE], 20);
	assert_int_equal(refused[0][OPEN] + refused[0][FLAT], 0); // a surface need not close
	assert_int_equal(refused[0][NOT_A_NUMBER] + refused[0][OUT_OF_RANGE] + refused[0][IN_LINE], 15);
	assert_int_equal(refused[1][NOT_A_NUMBER] + refused[1][OUT_OF_RANGE], 10);
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_damage_is_refused_or_handled) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
