// Meshes of rods: closed, oriented, of the right topology and volume, on the surface that they stand for.
#include "blob.h"
#include "support/kn_test.h"

typedef struct Edge {
	int32_t from, to;
} Edge;

static int compareEdges(const void* a, const void* b) {
	const Edge *x = a, *y = b;
	return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

// Every directed edge occurs once, and its reverse too: closed, manifold along edges, oriented.
static void assertClosed(const knBlobMesh* mesh) {
	int count = 3 * mesh->triangleCount;
	Edge* edges = malloc(sizeof(Edge) * (size_t)count);
	for (int t = 0; t < mesh->triangleCount; ++t) {
		knTriangle v = mesh->triangles[t];
		assert_true(v.a != v.b && v.b != v.c && v.c != v.a);
		edges[3 * t] = (Edge){ v.a, v.b };
		edges[3 * t + 1] = (Edge){ v.b, v.c };
		edges[3 * t + 2] = (Edge){ v.c, v.a };
	}
	qsort(edges, (size_t)count, sizeof(Edge), compareEdges);
	for (int i = 0; i < count; ++i) {
		assert_true(i == 0 || compareEdges(&edges[i - 1], &edges[i]) != 0);
		Edge reverse = { edges[i].to, edges[i].from };
		assert_non_null(bsearch(&reverse, edges, (size_t)count, sizeof(Edge), compareEdges));
	}
	free(edges);
}

static int eulerOf(const knBlobMesh* mesh) {
	return mesh->vertexCount - 3 * mesh->triangleCount / 2 + mesh->triangleCount;
}

static double volumeOf(const knBlobMesh* mesh) {
	double volume = 0.0;
	for (int t = 0; t < mesh->triangleCount; ++t) {
		const knVec3* v = mesh->vertices;
		knTriangle q = mesh->triangles[t];
		volume += knDot(v[q.a], knCross(v[q.b], v[q.c])) / 6.0;
	}
	return volume;
}

static void test_capsule(void** state) {
	(void)state;
	knBlobPart rod = { { 0, 0, -0.2 }, { 0, 0, 0.2 }, 0.05, 0.05 };
	knBlob blob = { &rod, 1, 0.0 };
	static const int targets[] = { 200, 1340, 8000 };
	double exact = KN_PI * 0.0025 * 0.4 + 4.0 / 3.0 * KN_PI * 0.000125;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); ++i) {
		knBlobMesh mesh;
		assert_true(knBlob_Polygonise(&blob, targets[i], &mesh));
		assertClosed(&mesh);
		assert_int_equal(eulerOf(&mesh), 2);
		assert_true(mesh.triangleCount >= targets[i] && mesh.triangleCount <= targets[i] + 20);
		assert_near(volumeOf(&mesh), exact, 40.0 / targets[i] * exact);
		knBlobMesh_Free(&mesh);
	}
}

// Two crossed rods joined smoothly are one sphere-like surface; four in a square have a hole.
static void test_topology(void** state) {
	(void)state;
	knBlobPart cross[] = { { { -0.2, 0, 0 }, { 0.2, 0, 0 }, 0.05, 0.05 },
						   { { 0, -0.1, 0 }, { 0, 0.1, 0 }, 0.05, 0.04 } };
	knBlobPart square[] = { { { -0.3, -0.3, 0 }, { 0.3, -0.3, 0 }, 0.04, 0.04 },
							{ { 0.3, -0.3, 0 }, { 0.3, 0.3, 0 }, 0.04, 0.04 },
							{ { 0.3, 0.3, 0 }, { -0.3, 0.3, 0 }, 0.04, 0.04 },
							{ { -0.3, 0.3, 0 }, { -0.3, -0.3, 0 }, 0.04, 0.04 } };
	knBlob blobs[] = { { cross, 2, 0.02 }, { square, 4, 0.02 } };
	for (int i = 0; i < 2; ++i) {
		knBlobMesh mesh;
		assert_true(knBlob_Polygonise(&blobs[i], 1500, &mesh));
		assertClosed(&mesh);
		assert_int_equal(eulerOf(&mesh), i == 0 ? 2 : 0);
		for (int v = 0; v < mesh.vertexCount; ++v) {
			assert_near(knBlob_Value(&blobs[i], mesh.vertices[v]), 0.0, 0.004);
		}
		knBlobMesh_Free(&mesh);
	}
}

static void test_same_bits_again(void** state) {
	(void)state;
	knBlobPart rod = { { 0.01, 0.02, -0.2 }, { 0, 0.1, 0.2 }, 0.03, 0.05 };
	knBlob blob = { &rod, 1, 0.0 };
	knBlobMesh a, b;
	assert_true(knBlob_Polygonise(&blob, 700, &a) && knBlob_Polygonise(&blob, 700, &b));
	assert_int_equal(a.vertexCount, b.vertexCount);
	assert_memory_equal(a.vertices, b.vertices, sizeof(knVec3) * (size_t)a.vertexCount);
	assert_memory_equal(a.triangles, b.triangles, sizeof(knTriangle) * (size_t)a.triangleCount);
	knBlobMesh_Free(&a);
	knBlobMesh_Free(&b);
}

// As a solid it has the mass of its volume, and a point deep inside is as deep as the rod is thick.
static void test_geom(void** state) {
	(void)state;
	knBlobPart rod = { { 0, 0, -0.2 }, { 0, 0, 0.2 }, 0.05, 0.05 };
	knBlob blob = { &rod, 1, 0.0 };
	knError error = { 0 };
	knGeom* geom = knBlob_Geom(&blob, 2000, &error);
	if (geom == NULL) {
		fail_msg("%s", error.message);
	}
	assert_int_equal(knGeom_Kind(geom), KN_GEOM_MESH);
	double exact = 1000.0 * (KN_PI * 0.0025 * 0.4 + 4.0 / 3.0 * KN_PI * 0.000125);
	assert_near(knGeom_MassProps(geom, 1000.0).mass, exact, 0.02 * exact);
	assert_near(knGeom_Distance(geom, knZero3()), -0.05, 0.003);
	assert_near(knGeom_Distance(geom, knV3(0.3, 0, 0)), 0.25, 0.003);
	knGeom_Release(geom);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capsule),
		cmocka_unit_test(test_topology),
		cmocka_unit_test(test_same_bits_again),
		cmocka_unit_test(test_geom),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
