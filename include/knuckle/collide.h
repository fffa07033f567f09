// Collision geometry and detection, usable without a world.
//
// knGeom is immutable, reference counted and shared by instances; it lives in its own frame. A *shape* is a
// geometry placed on a *frame* (a body's pose); the collider knows frames and shapes, nothing of bodies, joints
// or steppers, and never calls back. Three entries:
//
//   knCollide        every close pair of the collider's shapes at the given frames
//   knCollide_Pair   two geometries at given poses: a pure function
//   knCollide_Body   one frame moved elsewhere, against all the rest
//
// The contact set is the same for any number of threads: pairs sorted by (shapeA, shapeB), shapeA < shapeB.
#pragma once

#include "knuckle/id.h"
#include "knuckle/vecmath.h"

KN_BEGIN_C

// --- geometry --------------------------------------------------------------------------------------------

typedef enum knGeomKind {
	KN_GEOM_SPHERE,
	KN_GEOM_CAPSULE,
	KN_GEOM_BOX,
	KN_GEOM_PLANE,
	KN_GEOM_COMPOUND,
	KN_GEOM_CYLINDER,
	KN_GEOM_ELLIPSOID,
	KN_GEOM_HULL,
	KN_GEOM_MESH,
	KN_GEOM_HEIGHT_FIELD,
	KN_GEOM_KIND_COUNT,
} knGeomKind;

typedef struct knGeom knGeom;

// A child of a compound.
typedef struct knGeomChild {
	const knGeom* geom;
	knFrame frame;
} knGeomChild;

// Mass, centre of mass and inertia about that centre, in the geometry's or body's axes.
typedef struct knMassProps {
	double mass;
	knVec3 center;
	knMat33 inertia;
} knMassProps;

// Create with one reference; NULL and `error` on bad sizes (not finite, zero or negative). `allocator` may be NULL.
KN_API knGeom* knGeom_Sphere(double radius, const knAllocator* allocator, knError* error);
// A capsule lies along its z axis; halfLength is that of the segment between the two centres.
KN_API knGeom* knGeom_Capsule(double radius, double halfLength, const knAllocator* allocator, knError* error);
KN_API knGeom* knGeom_Box(knVec3 halfExtents, const knAllocator* allocator, knError* error);
// The half-space z <= 0; its surface is z = 0, its normal +z. Infinite: only for bodies that do not move.
KN_API knGeom* knGeom_Plane(const knAllocator* allocator, knError* error);
// A cylinder lies along its z axis, a true one: its side is curved.
KN_API knGeom* knGeom_Cylinder(double radius, double halfLength, const knAllocator* allocator,
							   knError* error);
KN_API knGeom* knGeom_Ellipsoid(knVec3 radii, const knAllocator* allocator, knError* error);
// The convex hull of points. Duplicates and points inside are dropped; points in one plane, line or place are
// refused: a solid is asked for.
KN_API knGeom* knGeom_Hull(const knVec3* points, int count, const knAllocator* allocator, knError* error);

typedef struct knTriangle {
	int32_t a, b, c; // vertices, counter-clockwise seen from outside
} knTriangle;

// Called from time to time during long work, `done` in [0, 1]; false asks to give up (KN_CANCELLED).
typedef bool knProgressFn(double done, void* context);

// A triangle mesh. A solid one is closed and has an inside: it gets a signed distance field, may be dynamic,
// and collides as it is, however nonconvex. One that is not solid is a surface for bodies that do not move; it
// holds what comes from its front. Equal vertices are welded, solids turned inside out are turned back; a solid
// that is open or has no inside is refused with a sentence that says where (docs/collision-mesh.md).
typedef struct knMeshDef {
	const knVec3* vertices;
	int vertexCount;
	const knTriangle* triangles;
	int triangleCount;
	bool solid;            // true
	double tolerance;      // m, of the field; 0: 1e-3 of the mesh's size
	const char* cachePath; // folder in which fields are kept by content; NULL: none
	knTasks tasks;         // for building the field; zeroed: one thread
	knProgressFn* progress;
	void* progressContext;
} knMeshDef;

KN_API knMeshDef knMeshDef_Default(void);
KN_API knGeom* knGeom_Mesh(const knMeshDef* def, const knAllocator* allocator, knError* error);

// Heights on a grid of columns x rows points, `cell` apart along x and y, centred on the origin; solid below.
// Only for bodies that do not move.
typedef struct knHeightFieldDef {
	int columns, rows; // points along x, along y; at least 2
	double cellX, cellY;
	const double* heights; // [rows * columns], x runs fastest
} knHeightFieldDef;

KN_API knGeom* knGeom_HeightField(const knHeightFieldDef* def, const knAllocator* allocator, knError* error);

// Children are retained; a compound may not hold a plane or another compound, and meshes of at most 2^20
// triangles.
KN_API knGeom* knGeom_Compound(const knGeomChild* children, int count, const knAllocator* allocator,
							   knError* error);
KN_API void knGeom_Retain(const knGeom* geom);
KN_API void knGeom_Release(const knGeom* geom);

KN_API knGeomKind knGeom_Kind(const knGeom* geom);
KN_API const char* knGeomKind_Name(knGeomKind kind);
// Sphere: {r,0,0}; capsule and cylinder: {r, halfLength, 0}; box: half extents; ellipsoid: radii; others zero.
KN_API knVec3 knGeom_Size(const knGeom* geom);
KN_API int knGeom_ChildCount(const knGeom* geom);
KN_API knGeomChild knGeom_Child(const knGeom* geom, int index);
// Zero mass for a plane. A compound sums its children (overlaps count twice).
KN_API knMassProps knGeom_MassProps(const knGeom* geom, double density);
KN_API knAabb knGeom_Aabb(const knGeom* geom, knFrame frame);
// Signed distance of a point in the geometry's frame, negative inside; exact (a bound inside a compound).
KN_API double knGeom_Distance(const knGeom* geom, knVec3 pointLocal);

// Triangles to draw or to export: a sphere and other curved shapes within `tolerance` (m; 0: chosen by size), a
// hull's faces, a mesh as it is, a compound's children together, a plane as a square of side KN_PLANE_DRAWN.
typedef struct knSurface {
	int vertexCount;
	knVec3* vertices;
	knVec3* normals; // one per vertex; vertices are split where the surface has an edge
	int triangleCount;
	knTriangle* triangles;
	knAllocator allocator;
} knSurface;

#define KN_PLANE_DRAWN 200.0 // m

KN_API knStatus knGeom_Surface(const knGeom* geom, double tolerance, const knAllocator* allocator,
							   knSurface* surface, knError* error);
KN_API void knSurface_Free(knSurface* surface);

// Vertices and triangles of a hull (faces as fans), mesh or height field as it collides; zero counts for others.
// Valid as long as the geometry.
KN_API const knVec3* knGeom_Vertices(const knGeom* geom, int* count);
KN_API const knTriangle* knGeom_Triangles(const knGeom* geom, int* count);

// Sum of mass properties, each already in common axes.
KN_API knMassProps knMassProps_Add(const knMassProps* a, const knMassProps* b);
// Mass properties seen from the parent of `frame`.
KN_API knMassProps knMassProps_Transform(const knMassProps* props, knFrame frame);

// --- contacts --------------------------------------------------------------------------------------------

// One contact point between geometries (or shapes) A and B.
typedef struct knContactPoint {
	knVec3 pointA;     // on A's surface
	knVec3 pointB;     // on B's surface
	knVec3 normal;     // unit, from A to B
	double separation; // dot(pointB - pointA, normal), negative when penetrating
	uint64_t feature;  // stable while the same features touch; unique within the pair
} knContactPoint;

#define KN_PAIR_MAX_POINTS 4 // of a pair of convex geometries; with a mesh or height field at most 64

// Contacts of two geometries closer than `margin`, at most `capacity`. Returns how many there are (which may be
// more than `capacity` for compounds and meshes; only `capacity` are written).
KN_API int knCollide_Pair(const knGeom* geomA, knFrame frameA, const knGeom* geomB, knFrame frameB,
						  double margin, knContactPoint* points, int capacity);

// Who meets whom. Two shapes may touch if the group rule or, without a shared group, both masks agree:
// equal nonzero groups: positive always, negative never; else (a.category & b.mask) && (b.category & a.mask).
typedef struct knFilter {
	uint64_t category;
	uint64_t mask;
	int32_t group;
} knFilter;

KN_API knFilter knFilter_Default(void);
KN_API bool knFilter_Allows(knFilter a, knFilter b);

typedef struct knCollideShape {
	const knGeom* geom; // retained by the collider
	int frame;          // index of the frame that carries it
	knFrame local;      // in that frame
	knFilter filter;
} knCollideShape;

typedef struct knFramePair {
	int a, b;
} knFramePair;

typedef struct knColliderDef {
	const knAllocator* allocator; // NULL: default
	int frameCount;
	const bool* frameMoves; // frames that never move are not tested against each other; NULL: all move
	int shapeCount;
	const knCollideShape* shapes;
	int excludedCount;
	const knFramePair* excluded; // frame pairs that never touch, in any order
	int pairLimit;               // 0: KN_PAIR_LIMIT
} knColliderDef;

// Broad-phase pairs that a collider holds at most; beyond it calls end with KN_LIMIT.
#define KN_PAIR_LIMIT (1 << 23)

typedef struct knCollider knCollider;

typedef struct knContactPair {
	int shapeA, shapeB; // shapeA < shapeB
	int frameA, frameB;
	int first, count; // its points in knContactSet.points
} knContactPair;

// Owned by the collider, valid until its next call.
typedef struct knContactSet {
	int pairCount;
	const knContactPair* pairs; // only pairs with at least one point
	int pointCount;
	const knContactPoint* points;
	int candidateCount; // broad-phase pairs that were tested
} knContactSet;

// What a frame is about to do: go along one of two ways (often the same) and turn, and stray from that by at most
// `around`. Meshes are costly to ask about places where they will not come near each other: a pair with one is reported
// only where its relative motion brings it within around + around; so frames that move together are looked at closely,
// however fast they are. Margins must cover the motion of all points.
typedef struct knFrameMotion {
	knVec3 ways[2]; // of the frame's origin
	knVec3 turn;    // rotation vector
	double around;
} knFrameMotion;

typedef struct knCollideInput {
	const knFrame* frames;        // [frameCount]
	const double* margins;        // [frameCount] a pair is reported closer than the sum of its two; NULL: 0
	const knFrameMotion* motions; // [frameCount] for pairs with a mesh; NULL: none, all of the margins count
	const uint8_t* shapeActive;   // [shapeCount] 0: takes no part; NULL: all do
	const knFramePair*
		excluded;      // further excluded frame pairs for this call (joints made at run time), sorted by
	int excludedCount; // (a, b) with a < b
	knTasks tasks;
} knCollideInput;

KN_API knCollider* knCollider_Create(const knColliderDef* def, knError* error);
KN_API void knCollider_Destroy(knCollider* collider);
KN_API knStatus knCollide(knCollider* collider, const knCollideInput* input, knContactSet* contacts,
						  knError* error);
// Contacts of `frame`, placed at `at`, with all others at input->frames. Does not disturb the caches; the set is
// valid until the collider's next call.
KN_API knStatus knCollide_Body(knCollider* collider, const knCollideInput* input, int frame, knFrame at,
							   knContactSet* contacts, knError* error);

KN_END_C
