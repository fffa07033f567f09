// The binary half of a .glb: accessors, the typed arrays that glTF speaks in, and the bytes behind them.
#pragma once

#include "core/json.h"
#include "record/bytes.h"
#include "record/output.h"

// One buffer view each; what lies in one has one use.
typedef enum knGlbView {
	KN_GLB_VERTICES,
	KN_GLB_INDICES,
	KN_GLB_TIMES,
	KN_GLB_TRANSLATIONS,
	KN_GLB_ROTATIONS,
	KN_GLB_SCALES,
	KN_GLB_COORDINATES,
	KN_GLB_PICTURES, // the last one: a view for each
	KN_GLB_VIEW_COUNT,
} knGlbView;

typedef enum knGlbType {
	KN_GLB_FLOAT,  // 4 bytes
	KN_GLB_VECTOR, // 3 floats
	KN_GLB_PAIR,   // 2 floats
	KN_GLB_INDEX16,
	KN_GLB_INDEX32,
	KN_GLB_QUATERNION16, // 4 shorts, 32767 is 1; x, y, z, w
} knGlbType;

typedef struct knGlbAccessor {
	knGlbView view;
	knGlbType type;
	int offset; // in the view
	int count;
	bool bounded; // `lower` and `upper` are written, too
	float lower[3], upper[3];
} knGlbAccessor;

typedef struct knGlbData {
	knAllocator allocator;
	knBytes views[KN_GLB_VIEW_COUNT];
	KN_ARRAY(knGlbAccessor) accessors;
	KN_ARRAY(int) pictures; // bytes of each
} knGlbData;

void knGlbData_Free(knGlbData* data);
// An accessor with room for `count` elements, which the caller writes (little endian) to *bytes; its index, or -1
// when out of memory.
int knGlbData_Add(knGlbData* data, knGlbView view, knGlbType type, int count, uint8_t** bytes);
// A picture's file, padded; its index, or -1 when out of memory.
int knGlbData_AddPicture(knGlbData* data, const uint8_t* bytes, int size);
// The index of a picture's buffer view in the file.
int knGlbData_PictureView(const knGlbData* data, int picture);
// Takes the least and largest components of an accessor of floats or vectors.
void knGlbData_Bound(knGlbData* data, int accessor);
// "accessors", "bufferViews", "buffers"; those that would be empty are left out, as glTF demands.
void knGlbData_WriteJson(const knGlbData* data, knJson* json);
// The whole file: head, JSON, bytes. KN_LIMIT beyond what the format can hold.
knStatus knGlbData_WriteFile(const knGlbData* data, const knJson* json, knOutput* output, knError* error);
