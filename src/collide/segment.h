// Distances of segments, the cores of capsules and edges of boxes.
//
// A segment is center + t half, -1 <= t <= 1.
#pragma once

#include "knuckle/vecmath.h"

typedef struct knSegment {
	knVec3 center, half;
} knSegment;

static inline knVec3 knSegment_At(const knSegment* segment, double t) {
	return knMulAdd(segment->center, t, segment->half);
}

// The core of a capsule.
static inline knSegment knSegment_OfCapsule(knFrame frame, double halfLength) {
	knSegment segment = { frame.p, knRotate(frame.q, knV3(0.0, 0.0, halfLength)) };
	return segment;
}

// Parameter of the point of `segment` closest to `point`.
double knSegment_Project(const knSegment* segment, knVec3 point);

// Closest points of two segments, as parameters. Of parallel ones, a pair amid the overlap.
void knSegment_Closest(const knSegment* a, const knSegment* b, double* ta, double* tb);

// The parameter where a segment is closest to the box |x| <= h (in the box's frame), amid equal ones.
double knSegment_ClosestToBox(const knSegment* segment, knVec3 h);

// The stretch of `segment` where |x_k| <= limit, intersected with [*t0, *t1]; false when nothing is left.
bool knSegment_Clip(const knSegment* segment, int axis, double limit, double* t0, double* t1);
