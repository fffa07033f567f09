// Two geometries as convex pieces: which pair of pieces is nearest, in space or in time.
//
// A piece is a convex geometry, a child of a compound or a triangle of a mesh. Both trees are descended together,
// nearest boxes first. In time, a pair of pieces at distance d along n does not meet before their approach along n and
// what turning adds to it (turning.h) have used up d, because the plane between them holds that long; the smallest of
// these times over all pairs is one in which surely nothing meets, and conservative advancement (time_of_impact.h) goes on from
// there. Boxes of the trees are bounded in the same way, so that only a few pairs are looked at however fast they turn.
#pragma once

#include "collide/pair.h"

// How a pair moves at the moment that is looked at, world axes.
typedef struct knPairMotion {
	knTwist velocityA, velocityB; // about the centres
	knVec3 centerA, centerB;
	double reachA, reachB; // m, knGeom_TurningReach
	double skin;           // m, so close counts as touching
	double idle;           // m/s, a slower approach of what touches is none
	double nudge; // m, by which what touches but does not approach may move before it is looked at again
} knPairMotion;

typedef struct knNearest {
	knVec3 pointA, pointB;
	knVec3 normal;      // unit, from A to B
	double distance;    // negative: depth
	int childA, childB; // of compounds, else 0
} knNearest;

// The closest points of two geometries nearer than in->margin, and how deep they overlap. False: farther.
bool knConvexPairs_Nearest(const knPairInput* in, knNearest* nearest);

// A time, at most `limit`, before which the geometries do not meet if they go on as they move now; `nearest` is the
// pair of pieces that limits it (distance INFINITY: none). 0: these touch and approach. in->margin is not read.
// `looks` grows by the pairs of boxes that were looked at, which is what it costs.
double knConvexPairs_Soonest(const knPairInput* in, const knPairMotion* motion, double limit,
							 knNearest* nearest, int* looks);

// m, no point of the geometry's core (of a compound's children, radii included) is farther from `center`: by how much
// turning about it can move the surface. 0 for a plane.
double knGeom_TurningReach(const knGeom* geom, knFrame frame, knVec3 center);
// m, the smallest half width of the thinnest part: what moves by less cannot get through it.
double knGeom_Thinness(const knGeom* geom);
