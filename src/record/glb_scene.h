// The nodes and the animation of a .glb, from the tracks that its writer gathered.
#pragma once

#include "record/glb_keys.h"
#include "record/glb_library.h"

// A shape of a track.
typedef struct knGlbPart {
	knGlbDrawn drawn;
	knFrame frame; // in the body
	char* name;
} knGlbPart;

// A body, or the world's own shapes, from the frame in which it appears to the one in which it is gone.
typedef struct knGlbTrack {
	char* name;
	int partCount;
	knGlbPart* parts;
	double radius; // of a ball about its origin that holds its parts, planes left out
	int body;      // in the present cast; KN_GLB_WORLD or KN_GLB_GONE
	int firstFrame, frameCount;
	KN_ARRAY(knGlbPose) poses; // [frameCount]; of the world none
} knGlbTrack;

#define KN_GLB_WORLD (-1)
#define KN_GLB_GONE (-2)

typedef struct knGlbScene {
	knAllocator allocator;
	char* name;
	KN_ARRAY(knGlbTrack) tracks;
	KN_ARRAY(float) times; // of the frames, s since the first
	knAabb bounds;         // of all positions
	knGlbData data;
	knGlbLibrary library;
} knGlbScene;

void knGlbScene_Init(knGlbScene* scene, const knAllocator* allocator);
void knGlbScene_Free(knGlbScene* scene);
void knGlbTrack_Free(knGlbTrack* track, const knAllocator* allocator);
// Adds the animation's numbers to the data and writes everything; releases poses on the way.
knStatus knGlbScene_Write(knGlbScene* scene, knOutput* output, knError* error);
