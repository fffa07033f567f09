// libknuckle_io: scene files, mesh files and replay pages. The only part of Knuckle with dependencies (expat; a build
// without it has no knMjcf and knUrdf functions; assimp, which adds formats of mesh files).
#pragma once

#include "knuckle/record.h"
#include "knuckle/articulated.h"
#include "knuckle/scene.h"

KN_BEGIN_C

// How much it matters that a loader did not follow a file.
typedef enum knLoadSeverity {
	KN_LOAD_NOTE,        // nothing that moves is different
	KN_LOAD_APPROXIMATE, // the motion differs a little
	KN_LOAD_OMITTED,     // the motion is another: an error unless the loader was told to be lenient
} knLoadSeverity;

// What a loader did not follow, so that nothing is dropped silently: one line each, "12:3: <flexcomp> left out".
typedef struct knLoadReport {
	int count;
	char (*lines)[160];
	knLoadSeverity* severities; // [count]
} knLoadReport;

KN_API int knLoadReport_Count(const knLoadReport* report, knLoadSeverity severity);

// How meshes collide.
typedef enum knMeshUse {
	KN_MESHES_USUAL, // as the format means: URDF's as they are, MJCF's as their hulls
	KN_MESHES_EXACT, // as they are, if they are closed
	KN_MESHES_HULL,  // as their convex hulls
} knMeshUse;

typedef struct knMjcfOptions {
	const char* keyframe; // NULL: what the file's knuckle.keyframe names, else the initial pose
	const knAllocator* allocator;
	bool lenient; // load what is understood, even if the motion will be another
	bool looks;   // also what only shows: visual meshes, which may be large
	knMeshUse meshes;
} knMjcfOptions;

// Reads an MJCF file (docs/mjcf.md lists what is understood). `report` may be NULL; release it with knLoadReport_Free.
KN_API knScene* knMjcf_Load(const char* path, const knMjcfOptions* options, knLoadReport* report,
							knError* error);
KN_API knScene* knMjcf_LoadMemory(const char* text, size_t size, const char* name,
								  const knMjcfOptions* options, knLoadReport* report, knError* error);
KN_API void knLoadReport_Free(knLoadReport* report);

// Writes a scene as MJCF. KN_UNSUPPORTED, naming the thing, for what MJCF and knuckle.* cannot express.
KN_API knStatus knMjcf_Save(const knScene* scene, const char* path, knError* error);

// --- URDF ------------------------------------------------------------------------------------------------

// Whether the root link of a robot is fixed to the world.
typedef enum knUrdfBase {
	KN_URDF_BASE_AUTO,  // if it has no mass, or is called "world"
	KN_URDF_BASE_FIXED, // always
	KN_URDF_BASE_FREE,  // never, except a link called "world"
} knUrdfBase;

// Zeroed: the defaults.
typedef struct knUrdfOptions {
	const knAllocator* allocator;
	knUrdfBase base;
	knMeshUse meshes;
} knUrdfOptions;

// Reads a URDF file (docs/urdf.md). `report` may be NULL; release it with knLoadReport_Free. From memory, meshes that
// collide cannot be found, and are an error.
KN_API knScene* knUrdf_Load(const char* path, const knUrdfOptions* options, knLoadReport* report,
							knError* error);
KN_API knScene* knUrdf_LoadMemory(const char* text, size_t size, const char* name,
								  const knUrdfOptions* options, knLoadReport* report, knError* error);

// --- mesh files (docs/formats.md) -------------------------------------------------------------------------

// Most materials of a mesh.
#define KN_MESH_MATERIALS_MAX 4096

typedef struct knMeshUv {
	double u, v;
} knMeshUv;

typedef struct knMeshMaterial {
	char name[64];
	uint32_t color; // 0xRRGGBB, 0: not known
} knMeshMaterial;

// What a mesh file holds, as it says it: knGeom_Mesh checks and repairs, knGeom_Hull takes the vertices. There is at least
// one vertex; there may be no triangle. Faces of more than three corners are cut into fans.
typedef struct knMeshFile {
	int vertexCount;
	knVec3* vertices; // finite
	int triangleCount;
	knTriangle* triangles; // of vertices that are there
	knVec3* normals;       // [3 triangleCount] of the corners; NULL: none
	knMeshUv* uvs;         // [3 triangleCount] of the corners; NULL: none
	int materialCount;
	knMeshMaterial* materials;
	int* triangleMaterial; // [triangleCount], -1: none; NULL: the mesh has no materials
	knAllocator allocator;
} knMeshFile;

// Reads .obj (and colours from its .mtl), .stl (text or binary) and MuJoCo's .msh; other formats where assimp was found
// when Knuckle was built. `allocator` may be NULL. On an error nothing is left to release, and the error names the file
// with the line, or the byte, that is wrong.
KN_API knStatus knMeshFile_Load(const char* path, const knAllocator* allocator, knMeshFile* file,
								knError* error);
// The ending of `name` tells the format.
KN_API knStatus knMeshFile_LoadMemory(const void* bytes, size_t size, const char* name,
									  const knAllocator* allocator, knMeshFile* file, knError* error);
KN_API void knMeshFile_Free(knMeshFile* file);
// Scales (negative: mirrors, and turns the triangles round), then moves.
KN_API void knMeshFile_Transform(knMeshFile* file, knVec3 scale, knFrame frame);
// A def of a solid for knGeom_Mesh and knScene_AddMesh; valid as long as `file`.
KN_API knMeshDef knMeshFile_MeshDef(const knMeshFile* file);

// --- animated sets (docs/formats.md) -----------------------------------------------------------------------

// What moves in a set.
typedef struct knSetMotion knSetMotion;

// A scene from a .glb or .gltf: what the file's first animation moves becomes kinematic bodies, all else that has a mesh fixed ones,
// which collide as they are; y up becomes z up. Needs assimp. The scene is the caller's to add to; before each step,
// knSetMotion_Apply makes the kinematic bodies of its world follow the animation. `report` and `allocator` may be NULL.
KN_API knScene* knSet_Load(const char* path, const knAllocator* allocator, knSetMotion** motion,
						   knLoadReport* report, knError* error);
// Velocities that take the bodies to where the animation has them after a step of h.
KN_API void knSetMotion_Apply(const knSetMotion* motion, knWorld* world, double h);
// The time of the last key, s; after it nothing moves.
KN_API double knSetMotion_Duration(const knSetMotion* motion);
KN_API void knSetMotion_Free(knSetMotion* motion);

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
