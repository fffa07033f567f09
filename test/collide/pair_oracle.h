// An independent signed distance of two convex geometries, by brute force, and the facts that every contact
// obeys.
//
// Each geometry is a core (point, segment or box: 1, 2 or 8 points) and a radius. The cores' signed distance
// is that of the origin to the convex hull of all differences of their points. The hull is found without any
// cleverness: a plane through three of the points that has all others on one side carries a face.
//   origin inside    depth = smallest distance to such a plane
//   origin outside   distance = smallest distance to a triangle in such a plane
// A ball about the middle that lies inside the hull rules most planes out at once.
#pragma once

#include "knuckle/collide.h"
#include "support/kn_test.h"

static inline int oracleCore(const knGeom* geom, knFrame frame, knVec3 points[8], double* radius) {
	knVec3 size = knGeom_Size(geom);
	*radius = 0.0;
	switch (knGeom_Kind(geom)) {
	case KN_GEOM_SPHERE:
		*radius = size.x;
		points[0] = frame.p;
		return 1;
	case KN_GEOM_CAPSULE:
		*radius = size.x;
		points[0] = knPoint(frame, knV3(0.0, 0.0, -size.y));
		points[1] = knPoint(frame, knV3(0.0, 0.0, size.y));
		return 2;
	default:
		for (int i = 0; i < 8; ++i) {
			knVec3 corner =
				knV3(i & 1 ? size.x : -size.x, i & 2 ? size.y : -size.y, i & 4 ? size.z : -size.z);
			points[i] = knPoint(frame, corner);
		}
		return 8;
	}
}

static inline double oracleToSegment(knVec3 a, knVec3 b) {
	knVec3 d = knSub(b, a);
	double dd = knDot(d, d);
	double t = dd > 0.0 ? knClamp(-knDot(a, d) / dd, 0.0, 1.0) : 0.0;
	return knLength(knMulAdd(a, t, d));
}

// Distance of the origin to a triangle.
static inline double oracleToTriangle(knVec3 a, knVec3 b, knVec3 c) {
	knVec3 n = knCross(knSub(b, a), knSub(c, a));
	double nn = knDot(n, n), side = fmax(knDistance(a, b), knDistance(a, c));
	// of a needle only the edges count: its plane is lost in rounding
	if (nn > 1e-18 * side * side * side * side && knDot(knCross(a, b), n) >= 0.0 &&
		knDot(knCross(b, c), n) >= 0.0 && knDot(knCross(c, a), n) >= 0.0) {
		return fabs(knDot(a, n)) / sqrt(nn);
	}
	return fmin(oracleToSegment(a, b), fmin(oracleToSegment(b, c), oracleToSegment(c, a)));
}

// Signed distance of the origin to the hull of points, with a ball of radius `ball` about their mean inside.
static inline double oracleHull(const knVec3* points, int count, double scale, double ball) {
	double depth = INFINITY, distance = INFINITY;
	knVec3 middle = knZero3();
	for (int i = 0; i < count; ++i) {
		middle = knMulAdd(middle, 1.0 / count, points[i]);
	}
	bool outside = count <= 4; // of two segments: the hull is flat
	for (int i = 0; i < count; ++i) {
		for (int j = i + 1; j < count; ++j) {
			for (int k = j + 1; k < count; ++k) {
				knVec3 n = knCross(knSub(points[j], points[i]), knSub(points[k], points[i]));
				double length = knLength(n);
				double height0 = knDot(n, knSub(middle, points[i]));
				if (length < 1e-10 * scale * scale || fabs(height0) < 0.99 * ball * length) {
					continue;
				}
				n = knScale(1.0 / length, n);
				double offset = knDot(n, points[i]), below = 0.0, above = 0.0;
				for (int m = 0; m < count && (below > -1e-10 * scale || above < 1e-10 * scale); ++m) {
					double height = knDot(n, points[m]) - offset;
					below = fmin(below, height);
					above = fmax(above, height);
				}
				if (below <= -1e-10 * scale && above >= 1e-10 * scale) {
					continue;
				}
				// outward: the hull lies below n x = offset, or above it
				double inside = above < 1e-10 * scale ? offset : -offset;
				outside = outside || inside < 0.0;
				depth = fmin(depth, inside);
				distance = fmin(distance, oracleToTriangle(points[i], points[j], points[k]));
			}
		}
	}
	// all on one line: no plane at all
	for (int i = 0; i < count && isinf(depth); ++i) {
		for (int j = 0; j < i; ++j) {
			outside = true;
			distance = fmin(distance, oracleToSegment(points[i], points[j]));
		}
	}
	return outside ? distance : -depth;
}

// Radius of a ball inside the core.
static inline double oracleBall(const knGeom* geom) {
	knVec3 size = knGeom_Size(geom);
	return knGeom_Kind(geom) == KN_GEOM_BOX ? fmin(size.x, fmin(size.y, size.z)) : 0.0;
}

static inline double oracleDistance(const knGeom* a, knFrame frameA, const knGeom* b, knFrame frameB) {
	knVec3 coreA[8], coreB[8], difference[64];
	double radiusA, radiusB, scale = 0.0, sum;
	int countA = oracleCore(a, frameA, coreA, &radiusA), countB = oracleCore(b, frameB, coreB, &radiusB);
	sum = radiusA + radiusB;
	int count = 0;
	for (int i = 0; i < countA; ++i) {
		for (int j = 0; j < countB; ++j) {
			difference[count] = knSub(coreB[j], coreA[i]);
			scale = fmax(scale, knDistance(difference[0], difference[count]));
			++count;
		}
	}
	if (count <= 2) {
		return oracleToSegment(difference[0], difference[count - 1]) - sum;
	}
	return oracleHull(difference, count, scale, oracleBall(a) + oracleBall(b)) - sum;
}

static inline double oracleSize(const knGeom* geom) {
	knVec3 size = knGeom_Size(geom);
	return knGeom_Kind(geom) == KN_GEOM_BOX ? knLength(size) : size.x + size.y;
}

static inline double deepestOf(const knContactPoint* points, int count) {
	double deepest = INFINITY;
	for (int i = 0; i < count; ++i) {
		deepest = fmin(deepest, points[i].separation);
	}
	return deepest;
}

// What holds for every contact: unit normal, witnesses on the surfaces, separation between them, margin,
// names.
static inline void assertContacts(const knGeom* a, knFrame frameA, const knGeom* b, knFrame frameB,
								  double margin, const knContactPoint* points, int count) {
	double size = knGeom_Kind(b) == KN_GEOM_PLANE ? oracleSize(a) : fmax(oracleSize(a), oracleSize(b));
	assert_in_range(count, 0, KN_PAIR_MAX_POINTS);
	for (int i = 0; i < count; ++i) {
		const knContactPoint* p = &points[i];
		assert_near(knLength(p->normal), 1.0, 1e-12);
		assert_near(knDot(knSub(p->pointB, p->pointA), p->normal), p->separation, 1e-11 * size);
		assert_true(p->separation < margin);
		assert_near(knGeom_Distance(a, knInvPoint(frameA, p->pointA)), 0.0, 1e-10 * size);
		assert_near(knGeom_Distance(b, knInvPoint(frameB, p->pointB)), 0.0, 1e-10 * size);
		for (int j = 0; j < i; ++j) {
			assert_true(points[j].feature != p->feature);
		}
	}
}

// The same contacts, whatever their order.
static inline void assertSameContacts(const knContactPoint* first, int firstCount,
									  const knContactPoint* second, int secondCount, double tolerance) {
	assert_int_equal(firstCount, secondCount);
	for (int i = 0; i < firstCount; ++i) {
		double best = INFINITY;
		for (int j = 0; j < secondCount; ++j) {
			double off = knDistance(first[i].pointA, second[j].pointA) +
						 knDistance(first[i].pointB, second[j].pointB) +
						 knDistance(first[i].normal, second[j].normal) * tolerance / 1e-6;
			best = fmin(best, off);
		}
		assert_near(best, 0.0, tolerance);
	}
}

// Contacts with A and B exchanged are the mirrored ones.
static inline void assertSwapped(const knGeom* a, knFrame frameA, const knGeom* b, knFrame frameB,
								 double margin, const knContactPoint* points, int count, double tolerance) {
	knContactPoint swapped[KN_PAIR_MAX_POINTS];
	int swappedCount = knCollide_Pair(b, frameB, a, frameA, margin, swapped, KN_PAIR_MAX_POINTS);
	for (int i = 0; i < swappedCount; ++i) {
		knVec3 onA = swapped[i].pointB;
		swapped[i].pointB = swapped[i].pointA;
		swapped[i].pointA = onA;
		swapped[i].normal = knNeg(swapped[i].normal);
	}
	assertSameContacts(points, count, swapped, swappedCount, tolerance);
}

// Contacts of both moved together are the moved ones.
static inline void assertCarried(const knGeom* a, knFrame frameA, const knGeom* b, knFrame frameB,
								 double margin, knFrame motion, const knContactPoint* points, int count,
								 double tolerance) {
	knContactPoint moved[KN_PAIR_MAX_POINTS];
	int movedCount = knCollide_Pair(a, knMulF(motion, frameA), b, knMulF(motion, frameB), margin, moved,
									KN_PAIR_MAX_POINTS);
	for (int i = 0; i < movedCount; ++i) {
		moved[i].pointA = knInvPoint(motion, moved[i].pointA);
		moved[i].pointB = knInvPoint(motion, moved[i].pointB);
		moved[i].normal = knInvRotate(motion.q, moved[i].normal);
	}
	assertSameContacts(points, count, moved, movedCount, tolerance);
}
