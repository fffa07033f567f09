// Recorders write a run to a file as it happens; the trajectory reader reads .knt back.
//
//   .knt  every body's pose and velocity, names, shapes and colours; versioned, each chunk checksummed; after a crash
//         readable up to the last full frame. Layout: docs/formats.md
//   .glb  an animation with meshes and colours, glTF 2.0, for Blender, browsers and engines; y is up
//   .csv  time,body,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz with 17 digits: centre of mass, world frame
#pragma once

#include "knuckle/world.h"

KN_BEGIN_C

typedef struct knRecorder knRecorder;

// The format follows the file's extension. Fails (KN_IO) when the file cannot be created.
KN_API knRecorder* knRecorder_Open(const char* path, knWorld* world, const knAllocator* allocator,
								   knError* error);
// Appends the world's present state as a frame.
KN_API knStatus knRecorder_Write(knRecorder* recorder, knWorld* world, knError* error);
// Finishes the file. On an error the status says so and no broken .csv or .glb is left behind.
KN_API knStatus knRecorder_Close(knRecorder* recorder, knError* error);
// Closes without finishing: removes an unfinished .csv or .glb; a .knt stays, readable.
KN_API void knRecorder_Abandon(knRecorder* recorder);

// --- reading a trajectory --------------------------------------------------------------------------------

typedef struct knTrajectory knTrajectory;

typedef struct knTrajectoryBody {
	const char* name;
	knBodyKind kind;
	uint32_t color;
	double mass;
	int firstShape, shapeCount;
} knTrajectoryBody;

// A geometry, placed relative to the body's centre of mass (compounds are recorded as their children).
typedef struct knTrajectoryShape {
	knGeomKind kind;
	knVec3 size; // as of knGeom_Size
	int mesh;    // of a hull, mesh or height field: which of knTrajectory_Mesh; -1 for all others
	knFrame frame;
	uint32_t color;
	int look; // its material beyond the colour, by the recording's count of them; -1: none
	const char* name;
} knTrajectoryShape;

// Triangles that shapes of one geometry share, in the geometry's own frame: stored once per file, however many
// shapes, bodies and frames use them. Valid as long as the trajectory.
typedef struct knTrajectoryMesh {
	int vertexCount;
	const float* vertices; // [3 * vertexCount] x, y, z of each
	int triangleCount;
	const knTriangle* triangles;
} knTrajectoryMesh;

// A body's state in a frame.
typedef struct knBodyState {
	knVec3 position; // centre of mass
	knQuat rotation;
	knVec3 velocity;
	knVec3 angularVelocity;
} knBodyState;

// Reads a whole file. A truncated or damaged tail is cut off and reported by knTrajectory_Damaged; a file without a
// sound header is KN_BAD_DATA.
KN_API knTrajectory* knTrajectory_Open(const char* path, const knAllocator* allocator, knError* error);
KN_API void knTrajectory_Close(knTrajectory* trajectory);
KN_API const char* knTrajectory_SceneName(const knTrajectory* trajectory);
KN_API const char* knTrajectory_StepperName(const knTrajectory* trajectory);
KN_API int knTrajectory_FrameCount(const knTrajectory* trajectory);
KN_API int knTrajectory_BodyCount(const knTrajectory* trajectory, int frame);
KN_API double knTrajectory_Time(const knTrajectory* trajectory, int frame);
KN_API const knBodyState* knTrajectory_Bodies(const knTrajectory* trajectory, int frame);
// For each body 1 if it moved by itself, 0 if it was frozen to the one that it hangs on (adaptive); NULL: the run's stepper
// freezes none.
KN_API const uint8_t* knTrajectory_Active(const knTrajectory* trajectory, int frame);
KN_API knTrajectoryBody knTrajectory_Body(const knTrajectory* trajectory, int frame, int body);
// Shapes 0 <= shape < the first body's firstShape belong to the world (the ground).
KN_API knTrajectoryShape knTrajectory_Shape(const knTrajectory* trajectory, int frame, int shape);
// Meshes 0 <= mesh < count are those of the whole file; knTrajectoryShape.mesh says which one a shape has.
KN_API int knTrajectory_MeshCount(const knTrajectory* trajectory);
KN_API knTrajectoryMesh knTrajectory_Mesh(const knTrajectory* trajectory, int mesh);
KN_API bool knTrajectory_Damaged(const knTrajectory* trajectory, knError* why);
// Writes it as .csv or .glb (or .knt again).
KN_API knStatus knTrajectory_Write(const knTrajectory* trajectory, const char* path, knError* error);

KN_END_C
