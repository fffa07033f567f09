// Questions about geometries and worlds that change nothing: closest points, rays, casts of shapes, overlaps.
//
// All of it may run on any number of threads at once, as long as nobody changes the world meanwhile: nothing is
// allocated, cached or written but the caller's results. A world answers for the poses that it has now, before the
// first step and after every edit. Results do not depend on threads or on earlier questions; where several answers
// are equally near, the shape that was made first is taken.
#pragma once

#include "knuckle/collide.h"
#include "knuckle/id.h"
#include "knuckle/world.h"

KN_BEGIN_C

// --- two geometries --------------------------------------------------------------------------------------

typedef struct knClosestPoints {
	knVec3 pointA, pointB; // on the surfaces
	knVec3 normal;         // unit, from A to B
	double distance;       // signed: along the normal from A to B, negative when they overlap
	int childA, childB;    // of compounds, else 0
} knClosestPoints;

// Any two kinds but two planes. False, and a distance of INFINITY, if they are `maxDistance` (may be INFINITY) or
// farther apart. The depth of overlapping convex shapes is the least translation that parts them; with meshes it is
// that of the deepest contact; the distance to a mesh that is not solid counts to its triangles.
KN_API bool knGeom_ClosestPoints(const knGeom* geomA, knFrame frameA, const knGeom* geomB, knFrame frameB,
								 double maxDistance, knClosestPoints* result);

typedef struct knGeomHit {
	double fraction; // of the way, 0 to 1
	knVec3 point;    // on the geometry that was hit
	knVec3 normal;   // unit, outward there; against the way if it starts inside
	int child;       // of a compound, else 0
} knGeomHit;

// The first point of a geometry on the way from `origin` to origin + translation. What starts inside a solid hits it
// at once. Meshes that are not solid are hit from both sides.
KN_API bool knGeom_RayCast(const knGeom* geom, knFrame frame, knVec3 origin, knVec3 translation,
						   knGeomHit* hit);

// A geometry on its way: its frame's origin goes along `translation` while it turns about that origin by the rotation
// vector `rotation` (axis times angle, also several turns).
typedef struct knShapeCast {
	const knGeom* geom; // no plane
	knFrame frame;
	knVec3 translation;
	knVec3 rotation;
} knShapeCast;

// Where a moving geometry first touches another that stands. At once if they overlap at the start; not if it moves
// away from what it touches.
KN_API bool knGeom_Cast(const knShapeCast* cast, const knGeom* geom, knFrame frame, knGeomHit* hit);

// --- worlds ----------------------------------------------------------------------------------------------

typedef struct knQueryFilter {
	knFilter filter; // of the question; who answers is as with shapes (knFilter_Allows)
	bool sensors;    // sensors answer too; false
	knBodyId except; // its shapes do not answer; null: none
} knQueryFilter;

KN_API knQueryFilter knQueryFilter_Default(void);

typedef struct knWorldHit {
	knShapeId shape;
	knBodyId body;
	double fraction; // of the way; 0 for knWorld_Nearest
	double distance; // signed; knWorld_Nearest only
	knVec3 point;    // on the shape
	knVec3 normal;   // unit, outward there
	int child;
} knWorldHit;

// `filter` may be NULL: the default. Shapes that are not enabled do not answer.

// The first hit along a ray.
KN_API bool knWorld_RayCast(const knWorld* world, knVec3 origin, knVec3 translation,
							const knQueryFilter* filter, knWorldHit* hit);
// The first hit of every shape along a ray, nearest first. Returns how many there are; the nearest `capacity` of them
// are written.
KN_API int knWorld_RayCastAll(const knWorld* world, knVec3 origin, knVec3 translation,
							  const knQueryFilter* filter, knWorldHit* hits, int capacity);
// The first shape that a moving geometry touches.
KN_API bool knWorld_Cast(const knWorld* world, const knShapeCast* cast, const knQueryFilter* filter,
						 knWorldHit* hit);
// Shapes that overlap a geometry or whose bounds overlap a box, in the order in which they were made. Returns how many
// there are; the first `capacity` of them are written.
KN_API int knWorld_Overlap(const knWorld* world, const knGeom* geom, knFrame frame,
						   const knQueryFilter* filter, knShapeId* shapes, int capacity);
KN_API int knWorld_OverlapBox(const knWorld* world, knAabb box, const knQueryFilter* filter,
							  knShapeId* shapes, int capacity);
// The shape nearest to a geometry, nearer than maxDistance.
KN_API bool knWorld_Nearest(const knWorld* world, const knGeom* geom, knFrame frame, double maxDistance,
							const knQueryFilter* filter, knWorldHit* hit);
// Closest points of two shapes of the world, where they are.
KN_API bool knWorld_ClosestPoints(const knWorld* world, knShapeId shapeA, knShapeId shapeB,
								  double maxDistance, knClosestPoints* result);

// Sorts the world's shapes into a tree, with which questions cost the logarithm of their number; without it they look
// at every shape's bounds. The tree serves until the world changes. Answers are the same either way.
KN_API knStatus knWorld_PrepareQueries(knWorld* world, knError* error);

KN_END_C
