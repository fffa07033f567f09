// Edges, normals and samples of a mesh.
//
// Edges come from the triangles' sides, sorted by the two vertices; where more than two triangles meet, sides
// that run opposite ways are paired in order. An edge sticks out if the one triangle falls below the plane of
// the other, seen from the front, by more than FLAT radians; a vertex is a sample if one of its edges is.
#include <string.h>

#include "core/sort.h"
#include "geom/mesh.h"

#define FLAT 1e-5 // radians

// --- edges -----------------------------------------------------------------------------------------------

static void addEdge(knMesh* mesh, int forward, int backward) {
	int first = forward >= 0 ? forward : backward;
	const knTriangle* t = &mesh->triangles[first / 3];
	int a = knTriangle_Corner(t, first % 3), b = knTriangle_Corner(t, (first % 3 + 1) % 3);
	int edge = mesh->edgeCount++;
	mesh->edges[edge] = (knMeshEdge){ a < b ? a : b, a < b ? b : a, first / 3, -1 };
	mesh->triangleEdges[first / 3][first % 3] = edge;
	if (forward >= 0 && backward >= 0) {
		mesh->edges[edge].right = backward / 3;
		mesh->triangleEdges[backward / 3][backward % 3] = edge;
	}
}

// The next side of a group, from `*at`, that runs forward (from the smaller vertex) or backward; -1: none.
static int nextSide(const knMesh* mesh, const knKeyed* sides, int end, bool forward, int* at) {
	for (; *at < end; ++*at) {
		int side = (int)sides[*at].value;
		const knTriangle* t = &mesh->triangles[side / 3];
		bool runs = knTriangle_Corner(t, side % 3) < knTriangle_Corner(t, (side % 3 + 1) % 3);
		if (runs == forward) {
			++*at;
			return side;
		}
	}
	return -1;
}

bool knMesh_FindEdges(knMesh* mesh) {
	int count = 3 * mesh->triangleCount;
	knArena arena;
	knArena_Init(&arena, &mesh->allocator);
	knKeyed* sides = KN_SCRATCH(&arena, knKeyed, count);
	mesh->edges = knAllocArray(&mesh->allocator, (size_t)count, sizeof(knMeshEdge));
	mesh->triangleEdges = knAllocArray(&mesh->allocator, (size_t)count, sizeof(int));
	bool ok = sides != NULL && mesh->edges != NULL && mesh->triangleEdges != NULL;
	for (int i = 0; ok && i < count; ++i) {
		const knTriangle* t = &mesh->triangles[i / 3];
		int a = knTriangle_Corner(t, i % 3), b = knTriangle_Corner(t, (i % 3 + 1) % 3);
		sides[i] = (knKeyed){ (uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a), (uint32_t)i };
	}
	ok = ok && knSort_Keys(sides, count, &arena);
	for (int first = 0, end; ok && first < count; first = end) {
		for (end = first + 1; end < count && sides[end].key == sides[first].key; ++end) {
		}
		int forward = first, backward = first;
		for (int left = end - first; left > 0;) {
			int f = nextSide(mesh, sides, end, true, &forward);
			int b = nextSide(mesh, sides, end, false, &backward);
			left -= (f >= 0) + (b >= 0);
			addEdge(mesh, f, b);
		}
	}
	knArena_Free(&arena);
	return ok;
}

// --- normals ---------------------------------------------------------------------------------------------

// The angle at corner k.
static double angleAt(const knVec3 corners[3], int k) {
	knVec3 u = knSub(corners[(k + 1) % 3], corners[k]), v = knSub(corners[(k + 2) % 3], corners[k]);
	return knAtan2(knLength(knCross(u, v)), knDot(u, v));
}

// Triangles without area lie between their neighbours; chains of them need several rounds.
static void findFlatNormals(knMesh* mesh) {
	for (int round = 0; round < 4; ++round) {
		for (int t = mesh->faceCount; t < mesh->triangleCount; ++t) {
			knVec3 sum = knZero3();
			for (int k = 0; k < 3; ++k) {
				const knMeshEdge* e = &mesh->edges[mesh->triangleEdges[t][k]];
				int other = e->left == t ? e->right : e->left;
				sum = other >= 0 ? knAdd(sum, mesh->faceNormals[other]) : sum;
			}
			mesh->faceNormals[t] = knNormalize(sum);
		}
	}
}

// About the middle of the longest side if the rest fits, else about the centroid; slightly too large.
static knMeshBall ballOf(const knVec3 corners[3]) {
	knVec3 center = knScale(1.0 / 3.0, knAdd(corners[0], knAdd(corners[1], corners[2])));
	knMeshBall best = { center, 0.0 };
	for (int k = 0; k < 3; ++k) {
		best.radius = knMax(best.radius, knDistance(corners[k], center));
	}
	for (int k = 0; k < 3; ++k) {
		knVec3 middle = knLerp(corners[k], corners[(k + 1) % 3], 0.5);
		double radius = knDistance(middle, corners[k]);
		if (knDistance(middle, corners[(k + 2) % 3]) <= radius && radius < best.radius) {
			best = (knMeshBall){ middle, radius };
		}
	}
	best.radius *= 1.0 + 1e-12;
	return best;
}

bool knMesh_FindNormals(knMesh* mesh) {
	mesh->faceNormals = knAllocArray(&mesh->allocator, (size_t)mesh->triangleCount, sizeof(knVec3));
	mesh->vertexNormals = knAllocArray(&mesh->allocator, (size_t)mesh->vertexCount, sizeof(knVec3));
	mesh->balls = knAllocArray(&mesh->allocator, (size_t)mesh->triangleCount, sizeof(knMeshBall));
	if (mesh->faceNormals == NULL || mesh->vertexNormals == NULL || mesh->balls == NULL) {
		return false;
	}
	double lengths = 0.0;
	for (int t = 0; t < mesh->triangleCount; ++t) {
		knVec3 p[3];
		knMesh_Corners(mesh, t, p);
		knVec3 normal = knNormalize(knCross(knSub(p[1], p[0]), knSub(p[2], p[0])));
		mesh->faceNormals[t] = t < mesh->faceCount ? normal : knZero3();
		mesh->balls[t] = ballOf(p);
	}
	findFlatNormals(mesh);
	memset(mesh->vertexNormals, 0, (size_t)mesh->vertexCount * sizeof(knVec3));
	for (int t = 0; t < mesh->triangleCount; ++t) {
		knVec3 p[3];
		knMesh_Corners(mesh, t, p);
		for (int k = 0; k < 3; ++k) {
			knVec3* sum = &mesh->vertexNormals[knTriangle_Corner(&mesh->triangles[t], k)];
			*sum = knMulAdd(*sum, angleAt(p, k), mesh->faceNormals[t]);
			lengths += knDistance(p[k], p[(k + 1) % 3]);
		}
	}
	mesh->meanEdge = lengths / (3.0 * mesh->triangleCount);
	for (int i = 0; i < mesh->vertexCount; ++i) {
		mesh->vertexNormals[i] = knNormalize(mesh->vertexNormals[i]);
	}
	return true;
}

// --- samples ---------------------------------------------------------------------------------------------

// The corner of a triangle that is neither end of an edge.
static knVec3 cornerBeyond(const knMesh* mesh, int triangle, const knMeshEdge* edge) {
	const knTriangle* t = &mesh->triangles[triangle];
	int c = t->a != edge->a && t->a != edge->b ? t->a : (t->b != edge->a && t->b != edge->b ? t->b : t->c);
	return mesh->vertices[c];
}

// Triangles that only keep the topology count as flat: what sticks out there has an edge with an area beside it
// as well, or is at least a sample by its vertices.
static bool sticksOut(const knMesh* mesh, const knMeshEdge* edge) {
	if (edge->right < 0) {
		return true;
	}
	if (edge->left >= mesh->faceCount || edge->right >= mesh->faceCount) {
		knVec3 left = mesh->faceNormals[edge->left], right = mesh->faceNormals[edge->right];
		return knLength(knCross(left, right)) > FLAT;
	}
	knVec3 beyond = knSub(cornerBeyond(mesh, edge->right, edge), mesh->vertices[edge->a]);
	knVec3 left = mesh->faceNormals[edge->left], right = mesh->faceNormals[edge->right];
	bool folded = knDot(left, right) < 0.0; // also a blade, whose two sides are one
	bool bent = knLength(knCross(left, right)) > FLAT || folded;
	return bent && (knDot(left, beyond) < 0.0 || knDot(left, right) < -1.0 + FLAT);
}

// Marks edges and vertices, and gives each to the first triangle that has it.
bool knMesh_FindSamples(knMesh* mesh) {
	uint8_t* wanted = knAllocZero(&mesh->allocator, (size_t)mesh->vertexCount);
	mesh->edgeConvex = knAllocZero(&mesh->allocator, (size_t)mesh->edgeCount);
	mesh->samples = knAllocZero(&mesh->allocator, (size_t)mesh->triangleCount);
	bool ok = wanted != NULL && mesh->edgeConvex != NULL && mesh->samples != NULL;
	for (int e = 0; ok && e < mesh->edgeCount; ++e) {
		const knMeshEdge* edge = &mesh->edges[e];
		mesh->edgeConvex[e] = sticksOut(mesh, edge);
		if (mesh->edgeConvex[e]) {
			wanted[edge->a] = wanted[edge->b] = 1;
		}
	}
	for (int t = 0; ok && t < mesh->faceCount; ++t) {
		for (int k = 0; k < 3; ++k) {
			uint8_t* vertex = &wanted[knTriangle_Corner(&mesh->triangles[t], k)];
			int e = mesh->triangleEdges[t][k];
			const knMeshEdge* edge = &mesh->edges[e];
			bool owner = edge->left == t || edge->left >= mesh->faceCount;
			mesh->samples[t] |= (knMeshSamples)(*vertex << k);
			mesh->samples[t] |= (knMeshSamples)((mesh->edgeConvex[e] && owner) << (3 + k));
			*vertex = 0;
		}
	}
	knFree(&mesh->allocator, wanted, (size_t)mesh->vertexCount);
	return ok;
}
