// Closest points of segments with points, segments and boxes.
//
// Segment to segment: with unit directions u, v and w between the centres, the lines are closest where
//   s = w.(u - (u.v) v) / |u - (u.v) v|^2
// which loses less to rounding for nearly parallel lines than the usual 1 - (u.v)^2; then clamp, project,
// clamp.
//
// Segment to box: the squared distance is convex along the segment, and its slope is linear between the
// parameters where the segment crosses a face plane; so the root of the slope lies between two of at most
// eight knots.
#include "collide/segment.h"

#define PARALLEL 1e-12 // squared sine below which two directions count as parallel

double knSegment_Project(const knSegment* segment, knVec3 point) {
	double along = knDot(knSub(point, segment->center), segment->half);
	double squared = knLengthSquared(segment->half);
	return squared > 0.0 ? knClamp(along / squared, -1.0, 1.0) : 0.0;
}

// In lengths along the unit directions: the overlap's middle on A of two parallel segments, or the nearest
// end.
static double middleOfOverlap(double lengthA, double centerB, double lengthB) {
	double lower = knMax(-lengthA, centerB - lengthB), upper = knMin(lengthA, centerB + lengthB);
	return knClamp(0.5 * (lower + upper), -lengthA, lengthA);
}

void knSegment_Closest(const knSegment* a, const knSegment* b, double* ta, double* tb) {
	double lengthA = knLength(a->half), lengthB = knLength(b->half);
	knVec3 u = knScale(1.0 / lengthA, a->half), v = knScale(1.0 / lengthB, b->half);
	knVec3 w = knSub(b->center, a->center);
	double cosine = knDot(u, v);
	knVec3 across = knMulAdd(u, -cosine, v);
	double squared = knLengthSquared(across);

	double s = squared > PARALLEL ? knClamp(knDot(w, across) / squared, -lengthA, lengthA)
								  : middleOfOverlap(lengthA, knDot(w, u), lengthB);
	double t = cosine * s - knDot(w, v);
	if (knAbs(t) > lengthB) {
		t = knClamp(t, -lengthB, lengthB);
		s = knClamp(knDot(w, u) + cosine * t, -lengthA, lengthA);
	}
	*ta = s / lengthA;
	*tb = t / lengthB;
}

// --- segment and box ---

// How far x lies beyond [-h, h].
static double excess(double x, double h) {
	return x > h ? x - h : (x < -h ? x + h : 0.0);
}

// Half the slope of the squared distance at parameter t.
static double slopeAt(const knSegment* segment, knVec3 h, double t) {
	knVec3 p = knSegment_At(segment, t);
	return excess(p.x, h.x) * segment->half.x + excess(p.y, h.y) * segment->half.y +
		   excess(p.z, h.z) * segment->half.z;
}

// Parameters where the slope bends, ascending, with both ends. Returns how many (2 to 8).
static int makeKnots(const knSegment* segment, knVec3 h, double* knots) {
	int count = 0;
	knots[count++] = -1.0;
	for (int axis = 0; axis < 3; ++axis) {
		double c = knComponent(segment->center, axis), d = knComponent(segment->half, axis);
		double limit = knComponent(h, axis);
		for (int side = -1; side <= 1; side += 2) {
			double t = (side * limit - c) / d; // not finite for d = 0: then no crossing
			if (!(t > -1.0 && t < 1.0)) {
				continue;
			}
			int place = count++;
			for (; knots[place - 1] > t; --place) {
				knots[place] = knots[place - 1];
			}
			knots[place] = t;
		}
	}
	knots[count++] = 1.0;
	return count;
}

double knSegment_ClosestToBox(const knSegment* segment, knVec3 h) {
	double knots[8], slopes[8];
	int count = makeKnots(segment, h, knots);
	for (int i = 0; i < count; ++i) {
		slopes[i] = slopeAt(segment, h, knots[i]);
	}
	if (slopes[0] > 0.0 || slopes[count - 1] < 0.0) {
		return slopes[0] > 0.0 ? -1.0 : 1.0;
	}
	// the slope is zero from `first` to `last`, which are equal unless the distance stays the same for a
	// stretch
	int i = 0;
	while (slopes[i] < 0.0) {
		++i;
	}
	double first = knots[i];
	if (i > 0 && slopes[i] > 0.0) {
		first = knots[i - 1] - slopes[i - 1] * (knots[i] - knots[i - 1]) / (slopes[i] - slopes[i - 1]);
	}
	int j = count - 1;
	while (slopes[j] > 0.0) {
		--j;
	}
	double last = slopes[j] < 0.0 ? first : knots[j];
	return 0.5 * (first + last);
}

bool knSegment_Clip(const knSegment* segment, int axis, double limit, double* t0, double* t1) {
	double c = knComponent(segment->center, axis), d = knComponent(segment->half, axis);
	if (d == 0.0) {
		return knAbs(c) <= limit;
	}
	double enter = (-limit - c) / d, leave = (limit - c) / d;
	if (d < 0.0) {
		double swap = enter;
		enter = leave;
		leave = swap;
	}
	*t0 = knMax(*t0, enter);
	*t1 = knMin(*t1, leave);
	return *t0 <= *t1;
}
