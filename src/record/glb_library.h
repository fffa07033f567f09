// What a .glb draws with: geometries, materials, and meshes (a geometry in a material), each once however many bodies use
// them.
#pragma once

#include "core/table.h"
#include "record/glb_data.h"
#include "record/writer.h"

typedef struct knGlbGeometry {
	knGeomKind kind;
	int positions, normals, indices; // accessors; positions -1: nothing to draw
	int coordinates;                 // of its picture, whose corners no triangles share; -1: none
	double radius;                   // of its vertices about the origin, before scaling
} knGlbGeometry;

typedef struct knGlbMaterial {
	uint32_t color; // 0xRRGGBB
	bool twoSided;
	int look; // -1: plain
} knGlbMaterial;

typedef struct knGlbMesh {
	int geometry, material;
} knGlbMesh;

typedef struct knGlbLibrary {
	knAllocator allocator;
	KN_ARRAY(knGlbGeometry) geometries;
	KN_ARRAY(knGlbMaterial) materials;
	KN_ARRAY(knGlbMesh) meshes;
	knTable byKind;     // kind and mesh of the recording -> geometry
	knTable capsules;   // bits of half length / radius -> geometry
	knTable pictured;   // geometry, look and stretching -> geometry with coordinates
	knTable materialOf; // colour, sides and look -> material
	knTable meshOf;     // geometry and material -> mesh
	int capsuleCount;
	const knLookList* looks; // of the casts
} knGlbLibrary;

// A shape as it is drawn: a mesh, stretched.
typedef struct knGlbDrawn {
	int mesh; // -1: nothing to draw
	knVec3 scale;
	double radius; // of the smallest ball about the shape's origin; infinite for a plane
} knGlbDrawn;

void knGlbLibrary_Init(knGlbLibrary* library, const knAllocator* allocator);
void knGlbLibrary_Free(knGlbLibrary* library);
// Geometry new to the library goes to `data`.
knStatus knGlbLibrary_Draw(knGlbLibrary* library, knGlbData* data, const knSceneSnapshot* cast,
						   const knTrajectoryShape* shape, uint32_t color, knGlbDrawn* drawn);
// Pictures of the looks go to `data`, once all shapes are drawn.
knStatus knGlbLibrary_AddPictures(const knGlbLibrary* library, knGlbData* data);
// "meshes", "materials", "textures" and "images".
void knGlbLibrary_WriteJson(const knGlbLibrary* library, const knGlbData* data, knJson* json);
