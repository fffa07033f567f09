// Geometry inside the library: the record behind knGeom and the table with one row per kind of shape.
//
// A new shape is one file with a constructor and a knGeomOps row, one line in the table of geom.c, one enum
// line in knuckle/collide.h, and a row of the pair grid (collide/pair.h). Geometry never changes after
// creation, so any thread may read it; only the reference count is written, atomically.
#pragma once

#include <stdatomic.h>

#include "core/alloc.h"
#include "geom/bvh.h"
#include "knuckle/collide.h"

#define KN_GEOM_MIN_SIZE 1e-9          // metres; smaller (squares vanish) or
#define KN_GEOM_MAX_SIZE 1e9           // larger is taken for a mistake
#define KN_GEOM_MAX_CHILDREN (1 << 20) // children of a compound: 20 bits of a contact's feature
#define KN_GEOM_COVER 16               // boxes that stand for a compound when its bounds are taken
#define KN_MESH_MAX_TRIANGLES (1 << 28)
#define KN_MESH_MAX_PART (1 << 20) // triangles of a mesh in a compound: 20 bits of a contact's feature

typedef struct knHull knHull;
typedef struct knMesh knMesh;

struct knGeom {
	knGeomKind kind;
	atomic_int references; // knGeom_Retain, knGeom_Release
	knAllocator allocator;
	knVec3 size; // see knGeom_Size

	// compounds only, written by knGeom_Compound
	int childCount;
	knGeomChild* children; // retained
	knBvh tree;            // over the children, in the compound's frame
	int coverCount;
	int cover[KN_GEOM_COVER]; // nodes of the tree that together hold every child

	knHull* hull; // hulls only, written by knGeom_Hull
	knMesh* mesh; // meshes and height fields only, written by knGeom_NewMesh
};

typedef struct knGeomOps {
	const char* name;              // lower case, as in files and messages
	bool infinite;                 // no bounds: kept out of trees
	void (*destroy)(knGeom* geom); // of what the kind owns; NULL: nothing
	knMassProps (*massProps)(const knGeom* geom, double density);
	knAabb (*aabb)(const knGeom* geom, knFrame frame);
	double (*distance)(const knGeom* geom, knVec3 pointLocal);
	// kinds made of triangles (hull, mesh, height field): what knGeom_Vertices and knGeom_Triangles give; else
	// NULL
	const knVec3* (*vertices)(const knGeom* geom, int* count);
	const knTriangle* (*triangles)(const knGeom* geom, int* count);
} knGeomOps;

extern const knGeomOps knGeomOps_Sphere, knGeomOps_Capsule, knGeomOps_Box, knGeomOps_Plane,
	knGeomOps_Compound, knGeomOps_Cylinder, knGeomOps_Ellipsoid, knGeomOps_Hull, knGeomOps_Mesh,
	knGeomOps_HeightField;

const knGeomOps* knGeomOps_Get(knGeomKind kind);

// A zeroed record with one reference, or NULL and `error`.
knGeom* knGeom_New(knGeomKind kind, knVec3 size, const knAllocator* allocator, knError* error);
// A mesh or height field of these triangles, or NULL and `error`.
knGeom* knGeom_NewMesh(knGeomKind kind, const knMeshDef* def, const knAllocator* allocator, knError* error);
// A mesh that is not solid or a height field, or a compound that holds one.
bool knGeom_IsSurface(const knGeom* geom);
// KN_OK if `value` is a usable size; else an error that names the shape and the quantity.
knStatus knGeom_CheckSize(knGeomKind kind, const char* quantity, double value, knError* error);
// KN_OK if the frame is finite and its quaternion a unit one.
knStatus knGeom_CheckFrame(knFrame frame, const char* element, knError* error);

// Bounds of the box `box` of a frame's axes, seen from the frame's parent.
knAabb knAabb_Transform(knAabb box, knFrame frame);
