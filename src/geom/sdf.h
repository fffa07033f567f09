// The signed distance field of a solid mesh: value and gradient at a point in a few dozen operations.
//
// A grid of cubic tiles covers the mesh; each tile is the root of an octree whose leaves are of three kinds:
//
//   list      the triangles among which the closest to any point of the leaf is: exact
//   tangent   distance and normal at the leaf's centre, no surface inside: phi = d + n.(x - c), within the
//             tolerance (or a share of the distance, far away)
//   tree      too many triangles for a list (fans, slivers): the mesh's own tree is asked: exact
//
// Leaves that the surface crosses are never tangents, so the sign is right at every point; and a coarse mesh is
// all lists. Outside of the grid the mesh's tree is asked.
#pragma once

#include "geom/mesh.h"

enum { KN_SDF_INNER = -1, KN_SDF_TANGENT = -2, KN_SDF_TREE = -3 };

typedef struct knSdfNode {
	int32_t first; // inner: of its 8 children; list: into `lists`; tangent: into `tangents`
	int32_t count; // triangles of a list, or a KN_SDF_ kind
} knSdfNode;

typedef struct knSdfTangent {
	float distance;
	float normal[3];
} knSdfTangent;

struct knSdf {
	knAllocator allocator;
	double tolerance;
	knVec3 lower; // corner of the grid
	double tile;  // side of a tile
	int counts[3];
	int tileCount, nodeCount, listCount, tangentCount;
	knSdfNode* nodes; // the tiles' roots come first
	int32_t* lists;
	knSdfTangent* tangents;
};

// Gives a solid mesh its field: from the cache, or built (and put there).
knStatus knSdf_Make(knMesh* mesh, const knMeshDef* def, knError* error);
void knSdf_Destroy(knSdf* field);

typedef struct knSdfSample {
	double distance; // signed
	knVec3 normal;   // unit, outward
	bool exact;
	knMeshHit hit; // where it is exact
} knSdfSample;

knSdfSample knSdf_Sample(const knMesh* mesh, knVec3 point);
// The mesh's signed distance is at least this at the point; cheap far from the surface.
double knSdf_LowerBound(const knMesh* mesh, knVec3 point);

// --- sdf_build.c, sdf_cache.c ---

// `field` is zeroed but for the allocator and the tolerance; on failure destroy it.
knStatus knSdf_Build(knSdf* field, const knMesh* mesh, const knMeshDef* def, knError* error);
// What a field depends on.
uint64_t knSdf_Key(const knMesh* mesh, double tolerance);
// True if the field was found, whole and undamaged.
bool knSdf_Read(knSdf* field, const knMesh* mesh, const char* folder);
// Best effort: a field that cannot be kept is built again next time.
void knSdf_Write(const knSdf* field, const knMesh* mesh, const char* folder);
