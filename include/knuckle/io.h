// libknuckle_io: scene files. The only part of Knuckle with dependencies (expat).
#pragma once

#include "knuckle/scene.h"

KN_BEGIN_C

// What a loader did not understand, so that nothing is dropped silently: one line each, "12:3: <tendon> ignored".
typedef struct knLoadReport {
	int count;
	char (*lines)[160];
} knLoadReport;

typedef struct knMjcfOptions {
	const char* keyframe; // NULL: what the file's knuckle.keyframe names, else the initial pose
	const knAllocator* allocator;
} knMjcfOptions;

// Reads an MJCF file (docs/mjcf.md lists what is understood). `report` may be NULL; release it with knLoadReport_Free.
KN_API knScene* knMjcf_Load(const char* path, const knMjcfOptions* options, knLoadReport* report,
							knError* error);
KN_API knScene* knMjcf_LoadMemory(const char* text, size_t size, const char* name,
								  const knMjcfOptions* options, knLoadReport* report, knError* error);
KN_API void knLoadReport_Free(knLoadReport* report);

// Writes a scene as MJCF. KN_UNSUPPORTED, naming the thing, for what MJCF and knuckle.* cannot express.
KN_API knStatus knMjcf_Save(const knScene* scene, const char* path, knError* error);

KN_END_C
