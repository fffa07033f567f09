// Writers: one per format. A writer sees a cast (who is in the recording) and frames (where they are), and
// knows neither models nor files it is fed from: recorder.c feeds it a running world, trajectory.c a file
// read back. So the two give the same bytes.
//
// Adding a format: one file, one line here, one line in recorder.c.
#pragma once

#include "core/array.h"
#include "core/table.h"
#include "record/looks.h"
#include "record/output.h"
#include "record/recorder.h"

// Bodies (without the world) and their shapes, in the order of recordings. Shapes stand in the order of their
// bodies; those of the world body come first, before bodies[0].firstShape.
typedef struct knSceneSnapshot {
	const char* scene;
	const char* stepper;
	knViewDef view; // not part of a .knt
	int bodyCount;
	knTrajectoryBody* bodies;
	int shapeCount;
	knTrajectoryShape* shapes;
	// what knTrajectoryShape.mesh counts in: of the whole recording, in the order of their first use. A later
	// cast has the same and perhaps more. Belong to whoever made the cast, and may move between frames.
	int meshCount;
	const knTrajectoryMesh* meshes;
	// what knTrajectoryShape.look counts in, likewise of the whole recording; NULL: none has one
	const knLookList* looks;

	// one block holds bodies, shapes, then text
	knAllocator allocator;
	void* block;
	size_t blockSize;
	char* text; // where the next text goes
} knSceneSnapshot;

typedef struct knCastFrame {
	const knSceneSnapshot* cast;
	int castIndex; // counts the changes of the cast, from 0
	double time;
	uint64_t step;
	const knBodyState* bodies; // [cast->bodyCount]
	const uint8_t* active; // [cast->bodyCount] 1: moves by itself, 0: frozen; NULL: the stepper freezes none
} knCastFrame;

struct knWriterOps {
	const char* extension; // ".csv"
	knOutputMode live;     // how a running world is recorded; a conversion is always staged
	// `cast` is the one at the start, number 0. Nothing is left behind when it fails.
	void* (*open)(const char* path, knOutputMode mode, const knSceneSnapshot* cast,
				  const knAllocator* allocator, knError* error);
	knStatus (*write)(void* self, const knCastFrame* frame, knError* error);
	knStatus (*close)(void* self, knError* error); // always releases
	void (*abandon)(void* self);
};

extern const knWriterOps knCsvWriter;
extern const knWriterOps knKntWriter;
extern const knWriterOps knGlbWriter;

// A frame of a file read back, as a writer sees it.
knCastFrame knTrajectory_CastFrame(const knTrajectory* trajectory, int frame);

// By the path's extension (any case); NULL and KN_UNSUPPORTED listing the known ones.
const knWriterOps* knWriterOps_ForPath(const char* path, knError* error);

// Meshes of a recording, each content once.
typedef struct knMeshList {
	knAllocator allocator;
	KN_ARRAY(knTrajectoryMesh) items;
	knTable byContent;             // hash of a mesh -> its index
	knTable byGeom;                // address of a geometry -> its mesh
	KN_ARRAY(const knGeom*) geoms; // whose addresses byGeom holds; retained
} knMeshList;

void knMeshList_Init(knMeshList* list, const knAllocator* allocator);
void knMeshList_Free(knMeshList* list);
// A mesh with room for so many vertices and triangles, which the caller fills in; false when out of memory.
bool knMesh_Create(knTrajectoryMesh* mesh, int vertexCount, int triangleCount, const knAllocator* allocator);
void knMesh_Free(knTrajectoryMesh* mesh, const knAllocator* allocator);
// Appends a mesh and owns it from then on; false (and still the caller's) when out of memory.
bool knMeshList_Append(knMeshList* list, const knTrajectoryMesh* mesh);
// Index of the mesh of a geometry made of triangles, appended if no other has the same content; -1 when out of
// memory.
int knMeshList_OfGeom(knMeshList* list, const knGeom* geom);

// An empty cast with room for so many bodies, shapes (all cleared, without meshes) and bytes of text, zeros at the ends
// included. False when out of memory.
bool knSceneSnapshot_Create(knSceneSnapshot* cast, int bodyCount, int shapeCount, size_t textBytes,
							const knAllocator* allocator);
// Copies `length` bytes into the cast, within the room it was made with, and ends them with a zero.
const char* knSceneSnapshot_AddText(knSceneSnapshot* cast, const void* bytes, size_t length);
// The cast of a model: compounds as their children, sensors left out; its meshes are added to `meshes`, its materials to
// `looks`. False when out of memory.
bool knSceneSnapshot_FromModel(knSceneSnapshot* cast, const knRecordView* view, knMeshList* meshes,
							   knLookList* looks, const knAllocator* allocator);
// Also for a cast that is all zeros.
void knSceneSnapshot_Free(knSceneSnapshot* cast);
