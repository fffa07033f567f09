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
// Children are retained; a compound may not hold a plane or another compound.
KN_API knGeom* knGeom_Compound(const knGeomChild* children, int count, const knAllocator* allocator,
							   knError* error);
KN_API void knGeom_Retain(const knGeom* geom);
KN_API void knGeom_Release(const knGeom* geom);

KN_API knGeomKind knGeom_Kind(const knGeom* geom);
KN_API const char* knGeomKind_Name(knGeomKind kind);
// Sphere: {r,0,0}; capsule: {r, halfLength, 0}; box: half extents; others zero.
KN_API knVec3 knGeom_Size(const knGeom* geom);
KN_API int knGeom_ChildCount(const knGeom* geom);
KN_API knGeomChild knGeom_Child(const knGeom* geom, int index);
// Zero mass for a plane. A compound sums its children (overlaps count twice).
KN_API knMassProps knGeom_MassProps(const knGeom* geom, double density);
KN_API knAabb knGeom_Aabb(const knGeom* geom, knFrame frame);
// Signed distance of a point in the geometry's frame, negative inside; exact (a bound inside a compound).
KN_API double knGeom_Distance(const knGeom* geom, knVec3 pointLocal);

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

#define KN_PAIR_MAX_POINTS 4 // of a pair of convex geometries

// Contacts of two geometries closer than `margin`, at most `capacity`. Returns how many there are (which may be
// more than `capacity` for compounds; only `capacity` are written).
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

typedef struct knCollideInput {
	const knFrame* frames;      // [frameCount]
	const double* margins;      // [frameCount] a pair is reported closer than the sum of its two; NULL: 0
	const uint8_t* shapeActive; // [shapeCount] 0: takes no part; NULL: all do
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
