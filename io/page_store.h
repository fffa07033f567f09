// What a page will show, gathered in memory: actors with their shapes, frames, curves, facts (page_store.c), and how it
// becomes bytes (page_bytes.c) and a file (page.c).
//
// An actor is a body as the page knows it. The cast of a recording may change while it runs; a body of the new cast that
// has the name and the looks of one before is the same actor.
#pragma once

#include "core/array.h"
#include "core/table.h"
#include "record/writer.h"

typedef struct knPageActor {
	char* name;
	knBodyKind kind;
	uint32_t color;
	double mass;
	int firstShape, shapeCount; // in knPageStore.shapes
	int seen;                   // number of the last cast that has it
} knPageActor;

typedef struct knPageGeometry {
	knGeomKind kind;
	knVec3 size;
	knTrajectoryMesh mesh; // of hulls, meshes and height fields: a copy
} knPageGeometry;

typedef struct knPageShape {
	int geometry;
	uint32_t color;
	int look;      // -1: plain
	knFrame frame; // from the body's centre of mass
} knPageShape;

// A body in a frame; the rotation is packed already.
typedef struct knPagePose {
	float position[3];
	uint16_t rotation[3];
	uint8_t active; // moves by itself
} knPagePose;

typedef struct knPageCast {
	int bodyCount;
	int* actors; // of each body
} knPageCast;

typedef struct knPageFrame {
	double time;
	int cast;  // which knPageCast
	int first; // pose of its first body
} knPageFrame;

typedef struct knPagePoint {
	double time, value;
} knPagePoint;

typedef struct knPageSeries {
	char *plot, *name, *unit;
	KN_ARRAY(knPagePoint) points;
	int stride; // samples that `low` and `high` stand for when complete; 1: every sample is a point
	int held;   // samples in them so far
	knPagePoint low, high;
} knPageSeries;

typedef struct knPageFact {
	char *label, *value;
} knPageFact;

typedef struct knPageStore {
	knAllocator allocator;
	char *title, *note;           // NULL: the scene's name; none
	char *scene, *stepper;        // of the first cast
	knViewDef view;               // likewise
	const knLookList* looks;      // of whom it is fed from, who lives longer
	KN_ARRAY(knPageActor) actors; // number 0 is the world
	KN_ARRAY(knPageShape) shapes;
	KN_ARRAY(knPageGeometry) geometries;
	knTable geometryOf; // hash of a geometry -> its number
	knTable actorOf;    // hash of a body -> its actor
	KN_ARRAY(knPageCast) casts;
	int castsSeen; // also those that turned out the same
	int castIndex; // the recording's number of the last cast; -1: none yet
	KN_ARRAY(knPageFrame) frames;
	bool marked; // some stepper froze bodies
	KN_ARRAY(knPagePose) poses;
	KN_ARRAY(knPageSeries) series;
	KN_ARRAY(knPageFact) facts;
} knPageStore;

void knPageStore_Init(knPageStore* store, const knAllocator* allocator);
void knPageStore_Free(knPageStore* store);
// All return false when out of memory; the store is then only good for freeing.
bool knPageStore_AddFrame(knPageStore* store, const knCastFrame* frame);
bool knPageStore_AddFact(knPageStore* store, const char* label, const char* value);
int knPageStore_AddSeries(knPageStore* store, const char* plot, const char* name, const char* unit); // or -1
bool knPageStore_AddSample(knPageStore* store, int series, knPagePoint point);
// What is held back of thinned curves becomes points.
bool knPageStore_EndSeries(knPageStore* store);

// The three smaller components of a unit quaternion in 15 bits each, as docs/formats.md says.
void knPage_PackRotation(knQuat rotation, uint16_t packed[3]);

// The recording as the page reads it (docs/formats.md). KN_LIMIT when it would be too large for a browser.
typedef KN_ARRAY(uint8_t) knPageBytes;
knStatus knPageStore_Encode(const knPageStore* store, knPageBytes* bytes, knError* error);
