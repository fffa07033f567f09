// Triangle meshes made by formula, for tests and benchmarks: any number of triangles, shapes with known answers.
#pragma once

#include <stdlib.h>

#include "knuckle/collide.h"

typedef struct knTestMesh {
	int vertexCount, triangleCount;
	knVec3* vertices;
	knTriangle* triangles;
} knTestMesh;

static inline knTestMesh testMeshNew(int vertexCount, int triangleCount) {
	knTestMesh mesh = { vertexCount, triangleCount, malloc((size_t)vertexCount * sizeof(knVec3)),
						malloc((size_t)triangleCount * sizeof(knTriangle)) };
	if (mesh.vertices == NULL || mesh.triangles == NULL) {
		abort();
	}
	return mesh;
}

static inline void testMeshFree(knTestMesh* mesh) {
	free(mesh->vertices);
	free(mesh->triangles);
}

static inline knMeshDef testMeshDef(const knTestMesh* mesh) {
	knMeshDef def = knMeshDef_Default();
	def.vertices = mesh->vertices;
	def.vertexCount = mesh->vertexCount;
	def.triangles = mesh->triangles;
	def.triangleCount = mesh->triangleCount;
	return def;
}

// Twelve triangles about the origin.
static inline knTestMesh testMeshBox(knVec3 half) {
	static const int quads[6][4] = { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 },
									 { 2, 6, 7, 3 }, { 0, 4, 6, 2 }, { 1, 3, 7, 5 } };
	knTestMesh mesh = testMeshNew(8, 12);
	for (int i = 0; i < 8; ++i) {
		mesh.vertices[i] = knV3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
	}
	for (int q = 0; q < 6; ++q) {
		mesh.triangles[2 * q] = (knTriangle){ quads[q][0], quads[q][1], quads[q][2] };
		mesh.triangles[2 * q + 1] = (knTriangle){ quads[q][0], quads[q][2], quads[q][3] };
	}
	return mesh;
}

// A ring about z: `around` x `across` vertices, twice as many triangles.
static inline knTestMesh testMeshTorus(double ring, double tube, int around, int across) {
	knTestMesh mesh = testMeshNew(around * across, 2 * around * across);
	for (int i = 0, t = 0; i < around; ++i) {
		double u = 2.0 * KN_PI * i / around;
		for (int j = 0; j < across; ++j) {
			double v = 2.0 * KN_PI * j / across, r = ring + tube * knCos(v);
			mesh.vertices[i * across + j] = knV3(r * knCos(u), r * knSin(u), tube * knSin(v));
			int a = i * across + j, b = (i + 1) % around * across + j;
			int c = (i + 1) % around * across + (j + 1) % across, d = i * across + (j + 1) % across;
			mesh.triangles[t++] = (knTriangle){ a, b, c };
			mesh.triangles[t++] = (knTriangle){ a, c, d };
		}
	}
	return mesh;
}

// A sphere of radius 1 with `bumps` waves of height `height` on it: a cube of n x n squares a side, blown up.
static inline knTestMesh testMeshBumpySphere(int n, double height, double bumps) {
	knTestMesh mesh = testMeshNew(6 * (n + 1) * (n + 1), 12 * n * n);
	int v = 0, t = 0;
	for (int face = 0; face < 6; ++face) {
		int axis = face / 2, first = v;
		double side = face % 2 ? 1.0 : -1.0;
		for (int j = 0; j <= n; ++j) {
			for (int i = 0; i <= n; ++i) {
				double x = 2.0 * i / n - 1.0, y = 2.0 * j / n - 1.0;
				knVec3 p = axis == 0 ? knV3(side, x, y) : (axis == 1 ? knV3(x, side, y) : knV3(x, y, side));
				p = knNormalize(p);
				double wave = knSin(bumps * p.x) * knSin(bumps * p.y + 1.0) * knSin(bumps * p.z + 2.0);
				mesh.vertices[v++] = knScale(1.0 + height * wave, p);
			}
		}
		for (int j = 0; j < n; ++j) {
			for (int i = 0; i < n; ++i) {
				int a = first + j * (n + 1) + i, b = a + 1, c = a + n + 2, d = a + n + 1;
				knVec3 normal = knCross(knSub(mesh.vertices[b], mesh.vertices[a]),
										knSub(mesh.vertices[d], mesh.vertices[a]));
				bool out = knDot(normal, mesh.vertices[a]) > 0.0;
				mesh.triangles[t++] = out ? (knTriangle){ a, b, c } : (knTriangle){ a, c, b };
				mesh.triangles[t++] = out ? (knTriangle){ a, c, d } : (knTriangle){ a, d, c };
			}
		}
	}
	return mesh;
}

// A square of side 2 half in the plane z = 0, its front up: n x n cells whose inner points are shaken.
static inline knTestMesh testMeshFloor(double half, int n, uint64_t seed) {
	knTestMesh mesh = testMeshNew((n + 1) * (n + 1), 2 * n * n);
	uint64_t state = seed;
	for (int i = 0; i < (n + 1) * (n + 1); ++i) {
		double shake[2];
		for (int k = 0; k < 2; ++k) {
			state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			shake[k] = ((double)(state >> 11) * 0x1p-53 - 0.5) * 0.45;
		}
		int x = i % (n + 1), y = i / (n + 1);
		bool inner = x > 0 && x < n && y > 0 && y < n;
		mesh.vertices[i] = knV3(half * (2.0 * (x + (inner ? shake[0] : 0.0)) / n - 1.0),
								half * (2.0 * (y + (inner ? shake[1] : 0.0)) / n - 1.0), 0.0);
	}
	for (int i = 0; i < n * n; ++i) {
		int a = i / n * (n + 1) + i % n;
		mesh.triangles[2 * i] = (knTriangle){ a, a + 1, a + n + 2 };
		mesh.triangles[2 * i + 1] = (knTriangle){ a, a + n + 2, a + n + 1 };
	}
	return mesh;
}
