// One body on immovable supports: the normal impulses that keep it from going into them.
#pragma once

#include "dynamics/integrate.h"
#include "solve/sweep.h"

enum {
	KN_SUPPORT_POINTS = 128, // of one body at most
};

// A contact point at which something bears the body.
typedef struct knSupportPoint {
	knSweepPoint* point;
	int32_t a, b;
} knSupportPoint;

typedef struct knSupports {
	int body;
	int count;
	knSupportPoint points[KN_SUPPORT_POINTS];
	double j[KN_SUPPORT_POINTS]; // N s along the points' normals, on B. knSupports_Solve

	double spread; // m/s, by which the supports disagree about how the body should move. caller

	// scratch of knSupports_Solve
	double A[KN_SUPPORT_POINTS * KN_SUPPORT_POINTS];
	double factor[KN_SUPPORT_POINTS * KN_SUPPORT_POINTS];
	knVec3 along[KN_SUPPORT_POINTS], moment[KN_SUPPORT_POINTS]; // of a unit impulse on the body
	double w[KN_SUPPORT_POINTS], x[KN_SUPPORT_POINTS];
	int free[KN_SUPPORT_POINTS];
	bool isFree[KN_SUPPORT_POINTS];
} knSupports;

// The velocity of B relative to A at a point.
static inline knVec3 knSupportPoint_Velocity(const knSupportPoint* p, const knTwist* u) {
	knVec3 vA = knAdd(u[p->a].lin, knCross(u[p->a].ang, p->point->rA));
	knVec3 vB = knAdd(u[p->b].lin, knCross(u[p->b].ang, p->point->rB));
	return knSub(vB, vA);
}
// The impulses for velocities u [bodyCount] of the body and of its supports, which do not change.
void knSupports_Solve(knSupports* supports, const knStepBodies* blocks, const knTwist* u);
// Changes the body's velocity by an impulse (on B, as the points have it) at point k.
void knSupports_Push(const knSupports* supports, const knStepBodies* blocks, int k, knVec3 impulse,
					 knTwist* u);
