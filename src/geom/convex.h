// Convex geometries in their own frames: closest surface points, and the tables behind a hull.
//
// A hull's faces are polygons: coplanar triangles are merged, vertices inside an edge are dropped. Each edge
// stands twice in the tables, once from either end.
#pragma once

#include "geom/geom.h"

// The surface point closest to a point, the unit outward normal towards the point (outside) or of the surface
// (inside), and the signed distance.
typedef struct knClosest {
	knVec3 point;
	knVec3 normal;
	double distance;
} knClosest;

knClosest knCylinder_Closest(double radius, double halfLength, knVec3 p);
// Exact to rounding, also inside and on planes of symmetry (where the first of two mirrored points is taken).
knClosest knEllipsoid_Closest(knVec3 radii, knVec3 p);

typedef struct knHullFace {
	knVec3 normal;    // unit, outward
	double offset;    // the hull lies in normal.x <= offset
	int first, count; // its vertices in knHull.loops, counter-clockwise seen from outside
} knHullFace;

#define KN_HULL_STARTS 26 // directions with a known support vertex: (-1, 0, 1)^3 without the middle

struct knHull {
	int vertexCount, faceCount, loopCount, triangleCount;
	knVec3* vertices;      // [vertexCount]
	knHullFace* faces;     // [faceCount]
	int* loops;            // [loopCount] vertices of all faces
	int* firstNeighbor;    // [vertexCount + 1] into neighbors
	int* neighbors;        // [loopCount] vertices that share an edge
	int* leftFaces;        // [loopCount] the face that runs along the edge from the vertex to this neighbour
	knTriangle* triangles; // [triangleCount] faces as fans
	int starts[KN_HULL_STARTS];
	double radius;     // of the smallest sphere about `center` that holds it
	knVec3 center;     // of mass
	knMassProps props; // of unit density
};

// Builds the hull of `points`; NULL and `error` if they span no solid.
knHull* knHull_Build(const knVec3* points, int count, const knAllocator* allocator, knError* error);
void knHull_Destroy(knHull* hull, const knAllocator* allocator);
// The vertex farthest along `direction`.
int knHull_Support(const knHull* hull, knVec3 direction);
knClosest knHull_Closest(const knHull* hull, knVec3 p);
