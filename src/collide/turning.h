// How far turning can carry points along a direction: the motion bounds of conservative advancement.
//
// A point at r from the centre of a body that turns by w has along a unit vector n the height
//
//   h(t) = a + rho s cos(phi + |w| t)     a: its part along the axis, rho: its distance from the axis, s = |n x w| / |w|
//
// so that it rises, from where it is now, by no more than any of
//
//   rate t + bend t^2 / 2,   turn t,   most
//
//   rate = r . (n x w),   bend = |w| |n x w| rho,   turn = |n x w| rho,   most = a + rho s - h(0)
//
// Of several points the largest of each. Turning about n moves nothing along n; and `most` does not grow with time: what
// turns more than once sweeps a ring, and nobody has to follow its turns to know that the ring is free.
#pragma once

#include "knuckle/vecmath.h"

// A body's turning, in any axes.
typedef struct knSpin {
	knVec3 center;
	knVec3 w;
	double reach; // m, no point is farther from the centre; INFINITY: not known
	double speed; // |w|
} knSpin;

// See above; all zero: it does not turn.
typedef struct knExcursion {
	double rate; // m/s
	double turn; // m/s
	double bend; // m/s^2
	double most; // m
} knExcursion;

knSpin knSpin_Make(knVec3 center, knVec3 w, double reach);
// Seen from a frame.
knSpin knSpin_In(const knSpin* spin, knFrame frame);
// m, the farthest that a point of the box is from the axis, at most.
double knSpin_Reach(const knSpin* spin, const knAabb* box);
// Points in a box that is `reach` about the axis, and the corners of a polytope.
knExcursion knExcursion_OfBox(const knSpin* spin, const knAabb* box, double reach, knVec3 n);
knExcursion knExcursion_OfPoints(const knSpin* spin, const knVec3* points, int count, knVec3 n);
// s, for which two bodies surely do not use up the room between them along n (from A to B), if they approach
// by `approach` and turn: A's excursion along n, B's against it. INFINITY: never.
double knExcursion_Time(double room, double approach, const knExcursion* a, const knExcursion* b);
// s, until two balls meet whose radii add up to `reach` and whose centres are `apart`, if that changes by v.
double knBalls_Time(knVec3 apart, knVec3 v, double reach);
