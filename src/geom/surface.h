// Drawn surfaces without a knGeom: recordings know kinds, sizes and triangles only.
#pragma once

#include "core/alloc.h"
#include "knuckle/collide.h"

// Triangles as they stand in a geometry or in a recording.
typedef struct knTriangles {
	int vertexCount;
	const knVec3* vertices;
	int triangleCount;
	const knTriangle* triangles;
} knTriangles;

// Faces that meet at a smaller angle are drawn as one curved surface.
#define KN_CREASE_MESH 0.6  // rad, about 35 degrees
#define KN_CREASE_HULL 1e-3 // rad: only the triangles of one flat face

// Room for so many vertices and triangles; KN_NO_MEMORY (and `surface` all zeros) when there is none.
knStatus knSurface_Create(knSurface* surface, int vertexCount, int triangleCount,
						  const knAllocator* allocator, knError* error);
// Sphere, capsule, box, plane, cylinder or ellipsoid, with `size` as of knGeom_Size and `tolerance` as of
// knGeom_Surface.
knStatus knSurface_OfPrimitive(knGeomKind kind, knVec3 size, double tolerance, const knAllocator* allocator,
							   knSurface* surface, knError* error);
// Triangles with normals. Those without an area are left out.
knStatus knSurface_OfTriangles(const knTriangles* triangles, double crease, const knAllocator* allocator,
							   knSurface* surface, knError* error);
// Which crease a kind made of triangles has.
double knSurface_Crease(knGeomKind kind);
