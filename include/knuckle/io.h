// libknuckle_io: scene files and replay pages. The only part of Knuckle with dependencies (expat; a build without it has
// no knMjcf functions).
#pragma once

#include "knuckle/record.h"
#include "knuckle/articulated.h"
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

// --- replay pages ----------------------------------------------------------------------------------------

// A page is one HTML file that plays a run in any browser, without a network: the scene in 3D, and measures as plots.
// Frames are kept in memory until the page is closed (20 bytes a body and frame); positions are written to about
// 1/65000 of each body's travel, rotations to 4e-5 rad.
typedef struct knPage knPage;

typedef struct knPageDef {
	const char* title; // NULL: the scene's name
	const char* note;  // a few words under the title; NULL: none
	double fps;        // knPage_FromTrajectory: the frames nearest to so many a second; 0: all
	const knAllocator* allocator;
} knPageDef;

KN_API knPageDef knPageDef_Default(void);
// False when this build has no page to write into (it was made without node); knPage_Open then says KN_UNSUPPORTED.
KN_API bool knPage_Available(void);

// Begins a page. Nothing stands at `path` until knPage_Close.
KN_API knPage* knPage_Open(const char* path, knWorld* world, const knPageDef* def, knError* error);
// Appends the world's present state as a frame. Bodies may come and go between frames.
KN_API knStatus knPage_Write(knPage* page, knWorld* world, knError* error);
// A curve to plot; those with the same `plot` share one. Returns its number, -1 when out of memory. Units such as "m"
// or "J" are shown with prefixes; "" is a plain number.
KN_API int knPage_AddSeries(knPage* page, const char* plot, const char* name, const char* unit,
							knError* error);
// The next point of a curve, in order of time. Long curves are thinned, and keep their highs and lows.
KN_API knStatus knPage_AddSample(knPage* page, int series, double time, double value, knError* error);
// A line of the page's "about this run" panel.
KN_API knStatus knPage_AddFact(knPage* page, const char* label, const char* value, knError* error);
// Writes the file and releases the page. After an error no file is left.
KN_API knStatus knPage_Close(knPage* page, knError* error);
KN_API void knPage_Abandon(knPage* page);

// A page of a recorded run: its curves are what positions and velocities tell.
KN_API knStatus knPage_FromTrajectory(const knTrajectory* trajectory, const char* path, const knPageDef* def,
									  knError* error);

// --- articulated models in JSON (docs/methods/dynamics.md) -------------------------------------------------

// A tree with a state, as the files of `knuckle dynamics` describe it. Coordinates and velocities stand in Knuckle's
// order; `fileVelocity` says where each stands in the file's.
typedef struct knTreeFile {
	knTree* tree;
	knVec3 gravity;
	double* q;         // [nq]
	double* v;         // [nv]
	double* tau;       // [nv]
	knTwist* forces;   // [links] in the link's frame: moment about its origin and force
	int* fileVelocity; // [nv]
	int linkCount, nq, nv;
} knTreeFile;

KN_API knStatus knTreeFile_Load(const char* path, knTreeFile* file, knError* error);
KN_API void knTreeFile_Free(knTreeFile* file);

KN_END_C
