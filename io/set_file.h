// The inside of the readers of animated sets: what a file says of nodes, meshes and keys.
#pragma once

#include "core/arena.h"
#include "core/array.h"
#include "import_report.h"

#define KN_SET_NODES_MAX (1 << 20)
#define KN_SET_KEYS_MAX (1 << 24)

// A value from a time on, s: a position or a scale (x, y, z), or a rotation (w, x, y, z).
typedef struct knSetKey {
	double time;
	double value[4];
} knSetKey;

typedef struct knSetTrack {
	int first, count; // of keys; none: the node's own value
} knSetTrack;

// Parents come before their children.
typedef struct knSetNode {
	int parent; // -1: none
	const char* name;
	knVec3 position, scale;
	knQuat rotation;
	bool animated;
	knSetTrack positions, rotations, scales;
	int mover;     // the nearest animated node from here up, -1: none. animated_set.c
	knBodyId body; // of a mover; null: none
} knSetNode;

// A mesh where a node puts it, in the node's own axes.
typedef struct knSetMesh {
	int node;
	int firstVertex, vertexCount, firstTriangle, triangleCount; // triangles count from the first vertex
	uint32_t color;                                             // 0: not known
} knSetMesh;

struct knSetMotion {
	knAllocator allocator;
	KN_ARRAY(knSetNode) nodes;
	KN_ARRAY(knSetKey) keys;
};

typedef struct knSetReader {
	knAllocator allocator;
	const char* name; // of the file, for errors
	knError error;
	knImportReport report;
	struct knSetMotion* motion;
	KN_ARRAY(knSetMesh) meshes;
	KN_ARRAY(knVec3) vertices;
	KN_ARRAY(knTriangle) triangles;
} knSetReader;

bool knSetReader_Fail(knSetReader* reader, knStatus status, const char* format, ...) KN_PRINTF(3, 4);
bool knSetReader_NoMemory(knSetReader* reader);

#ifdef KN_HAVE_ASSIMP
bool knSetAssimp_Read(knSetReader* reader);
#endif
