// Triangle meshes inside the library: what knGeom_Mesh and knGeom_HeightField make, and how it is asked.
//
// A mesh is *solid* (closed, oriented, with an inside) or a *surface* whose front is where its triangles run
// counter-clockwise. Its sign at a point is that of the angle-weighted pseudonormal of the closest feature
// (Baerentzen and Aanaes 2005), which is right wherever that feature is a face, an edge or a vertex.
//
// Contacts are looked for at *samples*: vertices and edges that stick out. Flat and hollow ones touch nothing
// that the partner's own samples do not touch, and testing them would make bumps in a flat floor.
#pragma once

#include "geom/bvh.h"
#include "knuckle/collide.h"

typedef struct knMesh knMesh;
typedef struct knSdf knSdf;

typedef struct knMeshEdge {
	int a, b;        // vertices, a < b
	int left, right; // triangles; right -1: the surface ends here
} knMeshEdge;

// Holds a triangle: a quick reason to pass it over.
typedef struct knMeshBall {
	knVec3 center;
	double radius;
} knMeshBall;

// What a triangle looks after when a tree walk meets it, so that each sample is met once: bit k for corner k,
// bit 3 + k for the edge from corner k to the next.
typedef uint8_t knMeshSamples;

#define KN_MESH_TREE_WIDTH 4
#define KN_MESH_TREE_NONE INT32_MAX

typedef struct knMeshTreeNode {
	float lower[3][KN_MESH_TREE_WIDTH], upper[3][KN_MESH_TREE_WIDTH]; // about the tree's middle
	int32_t children[KN_MESH_TREE_WIDTH]; // a node, ~triangle, or KN_MESH_TREE_NONE
} knMeshTreeNode;

typedef struct knMeshTree {
	knVec3 middle;
	int count, capacity;
	knMeshTreeNode* nodes;
} knMeshTree;

struct knMesh {
	knAllocator allocator;
	bool solid;
	bool unbounded; // a height field: solid below, however deep
	int vertexCount, triangleCount, edgeCount;
	int faceCount; // triangles with an area; they come first, the rest only keeps the topology
	knVec3* vertices;
	knTriangle* triangles;
	knMeshEdge* edges;       // sorted by (a, b)
	int (*triangleEdges)[3]; // edge from corner k to the next
	knVec3* faceNormals;     // unit; of a triangle without area, its neighbours' sum
	knMeshBall* balls;       // [triangleCount]
	knVec3* vertexNormals;   // unit, angle weighted; zero for a vertex without triangles
	knMeshSamples* samples;  // [triangleCount]
	uint8_t* edgeConvex;     // [edgeCount] sticks out, or is open
	knAabb bounds;
	double size;        // diagonal of the bounds
	double meanEdge;    // m
	knMassProps unit;   // at density 1; zero for a surface
	knBvh tree;         // over the faces
	double* nodeRadii;  // [tree.nodeCount] of balls about the boxes' centres that hold the faces below
	knMeshTree closest; // the same, for closest points
	knSdf* field;       // solids only
};

// --- mesh_check.c ---

// Copies, welds, checks, orients. `mesh` is zeroed but for the allocator; on failure destroy it.
knStatus knMesh_Load(knMesh* mesh, const knMeshDef* def, knError* error);

// --- mesh_topology.c ---

// Edges, normals and samples of a mesh whose triangles are final. False when out of memory.
bool knMesh_FindEdges(knMesh* mesh);
bool knMesh_FindNormals(knMesh* mesh);
bool knMesh_FindSamples(knMesh* mesh);

// --- mesh_mass.c ---

// Exact integrals over the polyhedron at density 1 (Mirtich's divergence theorem, triangle by triangle).
knMassProps knMesh_Mass(const knVec3* vertices, const knTriangle* triangles, int count);
double knMesh_Volume(const knVec3* vertices, const knTriangle* triangles, int count);

// --- mesh.c ---

bool knMesh_BuildTree(knMesh* mesh);
void knMesh_Destroy(knMesh* mesh);

// --- mesh_tree.c ---

// Room for the tree; false when out of memory.
bool knMeshTree_Create(knMesh* mesh);
void knMeshTree_Destroy(knMesh* mesh);
// From the mesh's tree of boxes.
void knMeshTree_Build(knMesh* mesh);

// --- mesh_closest.c ---

// Where the closest point of a triangle lies: 0..2 corner, 3..5 edge from corner k - 3, 6 inside.
enum { KN_TRIANGLE_EDGE = 3, KN_TRIANGLE_FACE = 6 };

knVec3 knTriangle_Closest(knVec3 a, knVec3 b, knVec3 c, knVec3 point, int* feature);

typedef struct knMeshHit {
	int triangle; // -1: none
	int feature;
	knVec3 point;
	double distance, squared;
} knMeshHit;

// Nothing found yet that is closer than `radius`.
static inline knMeshHit knMeshHit_None(double radius) {
	knMeshHit none = { .triangle = -1, .distance = radius, .squared = radius * radius };
	return none;
}

// The closest point of the mesh within `radius` (INFINITY allowed).
knMeshHit knMesh_Closest(const knMesh* mesh, knVec3 point, double radius);
// How far a search may miss the closest point: by `near`, and by `share` of the distance beyond `band`.
typedef struct knMeshRough {
	double near, band, share;
} knMeshRough;

static inline double knMeshRough_Error(const knMeshRough* rough, double distance) {
	return rough->near + rough->share * knMax(0.0, distance - rough->band);
}

// The same, found sooner if the triangle is close to it (-1: none is known); with `rough` it may be another that is
// hardly farther.
knMeshHit knMesh_ClosestFrom(const knMesh* mesh, knVec3 point, double radius, int triangle,
							 const knMeshRough* rough);
// The same among triangles that lie before the point and look against `facing`: those by which something
// that looks along `facing` would leave.
knMeshHit knMesh_ClosestFacing(const knMesh* mesh, knVec3 point, knVec3 facing, double radius);
// A triangle as a candidate for the closest.
void knMesh_Offer(const knMesh* mesh, int triangle, knVec3 point, knMeshHit* best);
// The pseudonormal of the hit's feature (not of unit length).
knVec3 knMesh_PseudoNormal(const knMesh* mesh, const knMeshHit* hit);
// Signed distance and the outward unit normal there.
double knMesh_Signed(const knMesh* mesh, const knMeshHit* hit, knVec3 point, knVec3* normal);

static inline void knMesh_Corners(const knMesh* mesh, int triangle, knVec3 corners[3]) {
	const knTriangle* t = &mesh->triangles[triangle];
	corners[0] = mesh->vertices[t->a];
	corners[1] = mesh->vertices[t->b];
	corners[2] = mesh->vertices[t->c];
}

static inline int knTriangle_Corner(const knTriangle* t, int k) {
	return k == 0 ? t->a : (k == 1 ? t->b : t->c);
}
