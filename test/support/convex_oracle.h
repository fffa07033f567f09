// The signed distance of two convex shapes by an independent method, random pairs to ask it about, and the
// comparison with what the library says. For the tests and for `knuckle bench collide --full`.
//
// Along a unit vector n from A to B the shapes are s(n) = n.t - hA(n) - hB(-n) apart, where the support values h
// are written down here anew (a hull's from all the points that it was made of). The signed distance is the largest
// s over the sphere, found by branch and bound over spherical triangles: with c the point of C = {b - a} where
// s(d) = c.d is attained at a triangle's middle d, s(n) <= c.n everywhere, so that within the angle rho of d
//
//   s(n) <= |c| cos(max(0, angle(c, d) - rho))
//
// and the same holds for mixtures of several such c, taken at the middle and the corners, which makes the bound
// sharp where s has a kink. The triangle with the largest bound is split until no bound exceeds the best s by more than the tolerance. That
// proves the result, whatever the shapes; only where nearly all directions are equally good does it give up, and
// then it says how large the distance could still be.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "knuckle/collide.h"

enum { ORACLE_POINTS = 40, ORACLE_NODES = 1 << 16 };

typedef struct OracleShape {
	knGeomKind kind;
	knVec3 size;
	knVec3 points[ORACLE_POINTS]; // of a hull
	int pointCount;
	double reach;
	knGeom* geom;
} OracleShape;

typedef struct OraclePair {
	OracleShape a, b; // a plane is always b
	knFrame frameA, frameB;
	double size; // reach of the smaller
} OraclePair;

// --- random pairs ------------------------------------------------------------------------------------------------

typedef struct OracleRandom {
	uint64_t state;
} OracleRandom;

static inline uint64_t oracleNext(OracleRandom* random) {
	uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline double oracleUniform(OracleRandom* random, double lower, double upper) {
	return lower + (upper - lower) * ((double)(oracleNext(random) >> 11) * 0x1p-53);
}

static inline int oracleInt(OracleRandom* random, int count) {
	return (int)(oracleNext(random) % (uint64_t)count);
}

static inline knVec3 oracleUnit(OracleRandom* random) {
	for (;;) {
		knVec3 v = { oracleUniform(random, -1.0, 1.0), 0.0, 0.0 };
		v.y = oracleUniform(random, -1.0, 1.0);
		v.z = oracleUniform(random, -1.0, 1.0);
		double length = knLength(v);
		if (length > 0.1 && length < 1.0) {
			return knScale(1.0 / length, v);
		}
	}
}

static inline knQuat oracleQuat(OracleRandom* random) {
	return knQuat_FromAxisAngle(oracleUnit(random), oracleUniform(random, 0.0, 2.0 * KN_PI));
}

// 10^x for x uniform.
static inline double oracleLog(OracleRandom* random, double lower, double upper) {
	return pow(10.0, oracleUniform(random, lower, upper));
}

// Points of a hull: a random cloud, a prism, or points about a sphere.
static inline void oracleCloud(OracleShape* shape, double scale, OracleRandom* random) {
	int type = oracleInt(random, 3);
	shape->pointCount = 5 + oracleInt(random, type == 2 ? ORACLE_POINTS - 5 : 16);
	knVec3 stretch = { oracleLog(random, -1.0, 0.0), oracleLog(random, -1.0, 0.0), 1.0 };
	if (type == 1) {
		shape->pointCount = 2 * (3 + oracleInt(random, 8));
	}
	for (int i = 0; i < shape->pointCount; ++i) {
		knVec3 p = oracleUnit(random);
		if (type == 0) {
			p = knScale(oracleUniform(random, 0.2, 1.0), p);
		} else if (type == 1) {
			double angle = 2.0 * KN_PI * (i / 2) / (shape->pointCount / 2);
			p = knV3(cos(angle), sin(angle), i % 2 == 0 ? -1.0 : 1.0);
		}
		shape->points[i] = knScale(scale, knMulComponents(stretch, p));
	}
}

static inline OracleShape oracleShape(knGeomKind kind, double scale, OracleRandom* random) {
	OracleShape shape = { .kind = kind };
	// now and then thin, long or with equal sides
	double x = oracleLog(random, -1.0, 0.0), y = oracleLog(random, -1.0, 0.0),
		   z = oracleLog(random, -1.0, 0.0);
	switch (oracleInt(random, 8)) {
	case 0:
		x *= 0.01;
		break;
	case 1:
		y *= 0.01;
		break;
	case 2:
		x = y = z;
		break;
	case 3:
		x = y;
		break;
	default:
		break;
	}
	shape.size = knScale(scale, knV3(x, y, z));
	switch (kind) {
	case KN_GEOM_SPHERE:
		shape.size = knV3(shape.size.x, 0.0, 0.0);
		shape.geom = knGeom_Sphere(shape.size.x, NULL, NULL);
		shape.reach = shape.size.x;
		break;
	case KN_GEOM_CAPSULE:
		shape.geom = knGeom_Capsule(shape.size.x, shape.size.y, NULL, NULL);
		shape.reach = shape.size.x + shape.size.y;
		break;
	case KN_GEOM_BOX:
		shape.geom = knGeom_Box(shape.size, NULL, NULL);
		shape.reach = knLength(shape.size);
		break;
	case KN_GEOM_CYLINDER:
		shape.geom = knGeom_Cylinder(shape.size.x, shape.size.y, NULL, NULL);
		shape.reach = sqrt(shape.size.x * shape.size.x + shape.size.y * shape.size.y);
		break;
	case KN_GEOM_ELLIPSOID:
		shape.geom = knGeom_Ellipsoid(shape.size, NULL, NULL);
		shape.reach = fmax(shape.size.x, fmax(shape.size.y, shape.size.z));
		break;
	case KN_GEOM_PLANE:
		shape.geom = knGeom_Plane(NULL, NULL);
		shape.reach = INFINITY;
		break;
	default:
		oracleCloud(&shape, scale, random);
		shape.geom = knGeom_Hull(shape.points, shape.pointCount, NULL, NULL);
		for (int i = 0; i < shape.pointCount; ++i) {
			shape.reach = fmax(shape.reach, knLength(shape.points[i]));
		}
		break;
	}
	return shape;
}

static inline void oracleRelease(OraclePair* pair) {
	knGeom_Release(pair->a.geom);
	knGeom_Release(pair->b.geom);
}

// --- the method --------------------------------------------------------------------------------------------------

// The point of a shape farthest along d, in its own frame.
static inline knVec3 oracleSupport(const OracleShape* shape, knVec3 d) {
	knVec3 e = shape->size;
	double length = knLength(d);
	switch (shape->kind) {
	case KN_GEOM_SPHERE:
		return knScale(e.x / length, d);
	case KN_GEOM_CAPSULE: {
		knVec3 p = knScale(e.x / length, d);
		p.z += copysign(e.y, d.z);
		return p;
	}
	case KN_GEOM_BOX:
		return knV3(copysign(e.x, d.x), copysign(e.y, d.y), copysign(e.z, d.z));
	case KN_GEOM_CYLINDER: {
		double across = hypot(d.x, d.y), scale = across > 0.0 ? e.x / across : 0.0;
		return knV3(scale * d.x, scale * d.y, copysign(e.y, d.z));
	}
	case KN_GEOM_ELLIPSOID: {
		double scale = 1.0 / sqrt(e.x * d.x * e.x * d.x + e.y * d.y * e.y * d.y + e.z * d.z * e.z * d.z);
		return knV3(scale * e.x * e.x * d.x, scale * e.y * e.y * d.y, scale * e.z * e.z * d.z);
	}
	default: {
		int best = 0;
		double reach = -INFINITY;
		for (int i = 0; i < shape->pointCount; ++i) {
			double along = knDot(shape->points[i], d);
			if (along > reach) {
				reach = along;
				best = i;
			}
		}
		return shape->points[best];
	}
	}
}

// Where the shapes are, seen from A.
typedef struct OraclePose {
	const OracleShape *a, *b;
	knMat33 R;
	knVec3 t;
} OraclePose;

static inline OraclePose oraclePose(const OraclePair* pair) {
	knFrame relative = knInvMulF(pair->frameA, pair->frameB);
	OraclePose pose = { &pair->a, &pair->b, knQuat_ToMat33(relative.q), relative.p };
	return pose;
}

// The point of C = {b - a} that is farthest against n.
static inline knVec3 oracleDifference(const OraclePose* pose, knVec3 n) {
	knVec3 b = oracleSupport(pose->b, knNeg(knTMulMV(&pose->R, n)));
	return knSub(knAdd(pose->t, knMulMV(&pose->R, b)), oracleSupport(pose->a, n));
}

static inline double oracleAlong(const OraclePose* pose, knVec3 n) {
	return knDot(oracleDifference(pose, n), n);
}

typedef struct OracleNode {
	knVec3 corners[3];
	double bound;
} OracleNode;

typedef struct OracleSearch {
	const OraclePose* pose;
	OracleNode* heap; // largest bound on top
	int count;
	knVec3 best;
	double s;
	int spent;
} OracleSearch;

static inline void oraclePush(OracleSearch* search, const OracleNode* node) {
	int at = search->count++;
	for (; at > 0 && search->heap[(at - 1) / 2].bound < node->bound; at = (at - 1) / 2) {
		search->heap[at] = search->heap[(at - 1) / 2];
	}
	search->heap[at] = *node;
}

static inline OracleNode oraclePop(OracleSearch* search) {
	OracleNode top = search->heap[0], last = search->heap[--search->count];
	int at = 0;
	for (;;) {
		int child = 2 * at + 1;
		if (child >= search->count) {
			break;
		}
		if (child + 1 < search->count && search->heap[child + 1].bound > search->heap[child].bound) {
			++child;
		}
		if (search->heap[child].bound <= last.bound) {
			break;
		}
		search->heap[at] = search->heap[child];
		at = child;
	}
	search->heap[at] = last;
	return top;
}

// The largest c.n within the angle rho of d.
static inline double oracleBound(double along, double aside, double cosRho, double sinRho) {
	double length = sqrt(along * along + aside * aside);
	return along >= length * cosRho ? length : along * cosRho + aside * sinRho;
}

// The smallest such bound over the points c_k of C and their mixtures: singles, the points of segments c_i c_j
// closest to the axis d, and the point of a triangle on that axis.
static inline double oracleBestBound(const knVec3 c[4], knVec3 d, double cosRho, double sinRho) {
	knVec3 e1 = knAnyOrthogonal(d), e2 = knCross(d, e1);
	double x[4], y[4], z[4], bound = INFINITY;
	for (int k = 0; k < 4; ++k) {
		x[k] = knDot(c[k], e1);
		y[k] = knDot(c[k], e2);
		z[k] = knDot(c[k], d);
		bound = fmin(bound, oracleBound(z[k], hypot(x[k], y[k]), cosRho, sinRho));
	}
	for (int i = 0; i < 4; ++i) {
		for (int j = 0; j < i; ++j) {
			double dx = x[j] - x[i], dy = y[j] - y[i], square = dx * dx + dy * dy;
			double t = square > 0.0 ? knClamp(-(x[i] * dx + y[i] * dy) / square, 0.0, 1.0) : 0.0;
			double aside = hypot(x[i] + t * dx, y[i] + t * dy);
			bound = fmin(bound, oracleBound(z[i] + t * (z[j] - z[i]), aside, cosRho, sinRho));
		}
		int p = (i + 1) % 4, q = (i + 2) % 4, r = (i + 3) % 4;
		double u = x[q] * y[r] - y[q] * x[r], v = x[r] * y[p] - y[r] * x[p], w = x[p] * y[q] - y[p] * x[q];
		double sum = u + v + w;
		if (u * sum > 0.0 && v * sum > 0.0 && w * sum > 0.0) {
			double along = (u * z[p] + v * z[q] + w * z[r]) / sum;
			bound = fmin(bound, along < 0.0 ? along * cosRho : along);
		}
	}
	return bound;
}

static inline knVec3 oracleLook(OracleSearch* search, knVec3 n) {
	knVec3 c = oracleDifference(search->pose, n);
	double s = knDot(c, n);
	search->spent += 1;
	if (s > search->s) {
		search->s = s;
		search->best = n;
	}
	return c;
}

// Looks at a triangle's middle and corners and keeps the triangle if it can hold something better.
static inline void oracleVisit(OracleSearch* search, knVec3 a, knVec3 b, knVec3 c, double tolerance) {
	knVec3 d = knNormalize(knAdd(a, knAdd(b, c)));
	double chord = fmax(knDistance(a, d), fmax(knDistance(b, d), knDistance(c, d)));
	double sinRho = chord * sqrt(1.0 - 0.25 * chord * chord), cosRho = 1.0 - 0.5 * chord * chord;
	knVec3 points[4] = { oracleLook(search, d) };
	double along = knDot(points[0], d), aside = knLength(knSub(points[0], knScale(along, d)));
	OracleNode node = { { a, b, c }, oracleBound(along, aside, cosRho, sinRho) };
	if (node.bound <= search->s + tolerance) {
		return;
	}
	points[1] = oracleLook(search, a);
	points[2] = oracleLook(search, b);
	points[3] = oracleLook(search, c);
	node.bound = oracleBestBound(points, d, cosRho, sinRho);
	if (node.bound > search->s + tolerance && search->count < ORACLE_NODES) {
		oraclePush(search, &node);
	}
}

typedef struct OracleResult {
	knVec3 n;
	double lower, upper; // of the signed distance
} OracleResult;

static inline OracleResult oracleFinish(OracleSearch* search, double tolerance, int budget) {
	double left = -INFINITY; // bound of what was not searched
	while (search->count > 0) {
		OracleNode node = oraclePop(search);
		if (node.bound <= search->s + tolerance) {
			break;
		}
		if (search->spent > budget || search->count + 4 > ORACLE_NODES) {
			left = node.bound;
			break;
		}
		knVec3 ab = knNormalize(knAdd(node.corners[0], node.corners[1]));
		knVec3 bc = knNormalize(knAdd(node.corners[1], node.corners[2]));
		knVec3 ca = knNormalize(knAdd(node.corners[2], node.corners[0]));
		oracleVisit(search, node.corners[0], ab, ca, tolerance);
		oracleVisit(search, node.corners[1], bc, ab, tolerance);
		oracleVisit(search, node.corners[2], ca, bc, tolerance);
		oracleVisit(search, ab, bc, ca, tolerance);
	}
	OracleResult result = { search->best, search->s, fmax(left, search->s + tolerance) };
	return result;
}

// `heap` has room for ORACLE_NODES.
static inline OracleResult oracleSearch(const OraclePose* pose, double tolerance, int budget,
										OracleNode* heap) {
	OracleSearch search = { .pose = pose, .heap = heap, .s = -INFINITY };
	// an octahedron that stands askew, so that no kink of s runs along the sides of triangles
	knMat33 axes = knQuat_ToMat33(knNormalizeQ(knQ(0.72, 0.31, -0.43, 0.17)));
	for (int octant = 0; octant < 8; ++octant) {
		oracleVisit(&search, knScale(octant & 1 ? 1.0 : -1.0, axes.cx),
					knScale(octant & 2 ? 1.0 : -1.0, axes.cy), knScale(octant & 4 ? 1.0 : -1.0, axes.cz),
					tolerance);
	}
	return oracleFinish(&search, tolerance, budget);
}

// The same within about `reach` radians of a direction.
static inline OracleResult oracleSearchNear(const OraclePose* pose, knVec3 n, double reach, double tolerance,
											OracleNode* heap) {
	OracleSearch search = { .pose = pose, .heap = heap, .s = -INFINITY };
	knVec3 e1 = knScale(reach, knAnyOrthogonal(n)), e2 = knCross(n, e1);
	knVec3 a = knNormalize(knAdd(n, e1)), b = knNormalize(knAdd(n, knMulAdd(knScale(-0.5, e1), 0.87, e2)));
	oracleVisit(&search, a, b, knNormalize(knAdd(n, knMulAdd(knScale(-0.5, e1), -0.87, e2))), tolerance);
	return oracleFinish(&search, tolerance, 6000);
}

// --- placing -----------------------------------------------------------------------------------------------------

// A random pair of kinds: every orientation or aligned ones, apart, touching, shallow, deep or with one middle.
static inline OraclePair oracleRandomPair(knGeomKind kindA, knGeomKind kindB, OracleRandom* random) {
	OraclePair pair;
	double scale = oracleInt(random, 6) == 0 ? oracleLog(random, -4.0, 4.0) : 1.0;
	double ratio = scale >= 1.0 && oracleInt(random, 6) == 0 ? oracleLog(random, -4.0, 0.0)
															 : oracleLog(random, -0.7, 0.0);
	bool exchanged = oracleInt(random, 2) == 0;
	pair.a = oracleShape(kindA, exchanged ? scale * ratio : scale, random);
	pair.b = oracleShape(kindB, exchanged ? scale : scale * ratio, random);
	pair.size = fmin(pair.a.reach, pair.b.reach);
	pair.frameA =
		knMakeFrame(knScale(scale * oracleUniform(random, 0.0, 3.0), oracleUnit(random)), oracleQuat(random));

	knQuat turn = oracleQuat(random);
	knVec3 n = oracleUnit(random);
	int aligned = oracleInt(random, 3);
	if (aligned == 0) {
		// quarter turns, exact or tilted a little
		static const double quarter[4][4] = { { 1.0, 0.0, 0.0, 0.0 },
											  { 0.70710678118654752, 0.70710678118654752, 0.0, 0.0 },
											  { 0.70710678118654752, 0.0, 0.0, 0.70710678118654752 },
											  { 0.5, 0.5, 0.5, 0.5 } };
		const double* q = quarter[oracleInt(random, 4)];
		turn = knNormalizeQ(knQ(q[0], q[1], q[2], q[3]));
		if (oracleInt(random, 2) == 0) {
			turn = knMulQ(turn, knQuat_Exp(knScale(oracleLog(random, -9.0, -1.0), oracleUnit(random))));
		}
		if (oracleInt(random, 2) == 0) {
			int axis = oracleInt(random, 3);
			n = knV3(axis == 0, axis == 1, axis == 2);
		}
	}
	knFrame relative = knMakeFrame(knZero3(), turn);
	pair.frameB = knMulF(pair.frameA, relative);
	if (kindB == KN_GEOM_PLANE) {
		n = knNeg(knRotate(turn, knV3(0.0, 0.0, 1.0)));
	}
	// along n: apart, touching, shallow, deep
	double gap = 0.0, deep = fmin(pair.a.reach, pair.b.reach);
	switch (oracleInt(random, 5)) {
	case 0:
		gap = pair.size * oracleLog(random, -3.0, 0.5);
		break;
	case 1:
		gap = pair.size * oracleLog(random, -12.0, -3.0) * (oracleInt(random, 2) == 0 ? -1.0 : 1.0);
		break;
	case 2:
		gap = -pair.size * oracleLog(random, -3.0, -1.0);
		break;
	default:
		gap = -deep * oracleUniform(random, 0.0, 2.0);
		break;
	}
	if (kindB == KN_GEOM_PLANE) {
		// the shape's lowest point, from the plane
		relative.p = knScale(gap + knDot(n, oracleSupport(&pair.a, n)), n);
	} else {
		OraclePose pose = { &pair.a, &pair.b, knQuat_ToMat33(turn), knZero3() };
		relative.p = knScale(gap - oracleAlong(&pose, n), n);
		// beside each other
		knVec3 aside = oracleUnit(random);
		aside = knSub(aside, knScale(knDot(aside, n), n));
		double width = oracleInt(random, 3) == 0 ? 0.0 : oracleUniform(random, 0.0, 1.0) * pair.size;
		relative.p = knAdd(relative.p, knScale(width, aside));
		if (oracleInt(random, 40) == 0) {
			relative.p = knZero3();
		}
	}
	pair.frameB = knMulF(pair.frameA, relative);
	return pair;
}

// --- comparing ---------------------------------------------------------------------------------------------------

// How far a point of a shape's frame is off its surface; for an ellipsoid to first order.
static inline double oracleOffSurface(const OracleShape* shape, knVec3 p) {
	knVec3 e = shape->size;
	switch (shape->kind) {
	case KN_GEOM_ELLIPSOID: {
		knVec3 q = knV3(p.x / e.x, p.y / e.y, p.z / e.z), g = knV3(q.x / e.x, q.y / e.y, q.z / e.z);
		return fabs(knDot(q, q) - 1.0) / (2.0 * knLength(g));
	}
	case KN_GEOM_CYLINDER: {
		double aside = hypot(p.x, p.y) - e.x, above = fabs(p.z) - e.y;
		return aside > 0.0 && above > 0.0 ? hypot(aside, above) : fabs(fmax(aside, above));
	}
	default:
		return fabs(knGeom_Distance(shape->geom, p));
	}
}

typedef struct OracleErrors {
	double distance; // sizes
	double normal;   // radians; 0 where the best direction is not unique
	double witness;  // sizes
	double spread;   // sizes: what the oracle itself left open
	bool missing;    // no contact at all
} OracleErrors;

// How far n is off the best direction; 0 if that is not unique: n is no worse up to rounding, or within 1e-3 of
// another one altogether that is nearly as good (contacts do not change sides for less than 2e-7 sizes).
static inline double oracleNormalError(const OraclePose* pose, knVec3 n, const OracleResult* truth,
									   double size, OracleNode* heap) {
	double angle = 2.0 * asin(fmin(1.0, 0.5 * knDistance(n, truth->n)));
	double s = oracleAlong(pose, n);
	if (angle > 0.1) {
		s = fmax(s, oracleSearchNear(pose, n, 1e-3, 1e-8 * size, heap).lower);
	}
	return (truth->lower - s) / size <= (angle > 0.1 ? 4e-7 : 2e-9) ? 0.0 : angle;
}

static inline OracleErrors oracleCompare(const OraclePair* pair, OracleNode* heap) {
	OraclePose pose = oraclePose(pair);
	double size = pair->size;
	OracleResult truth;
	if (pair->b.kind == KN_GEOM_PLANE) {
		truth.n = knNeg(pose.R.cz);
		truth.lower = knDot(truth.n, knSub(pose.t, oracleSupport(&pair->a, truth.n)));
		truth.upper = truth.lower;
	} else {
		truth = oracleSearch(&pose, 1e-8 * size, 6000, heap);
	}
	knContactPoint points[KN_PAIR_MAX_POINTS];
	double margin = fabs(truth.upper) + size;
	int count = knCollide_Pair(pair->a.geom, pair->frameA, pair->b.geom, pair->frameB, margin, points,
							   KN_PAIR_MAX_POINTS);
	OracleErrors errors = { .missing = count < 1, .spread = (truth.upper - truth.lower) / size };
	if (count < 1) {
		errors.distance = INFINITY;
		return errors;
	}
	double deepest = INFINITY;
	for (int i = 0; i < count; ++i) {
		deepest = fmin(deepest, points[i].separation);
		knVec3 onA = knInvPoint(pair->frameA, points[i].pointA),
			   onB = knInvPoint(pair->frameB, points[i].pointB);
		double between = knDot(knSub(points[i].pointB, points[i].pointA), points[i].normal);
		errors.witness = fmax(errors.witness, oracleOffSurface(&pair->a, onA) / size);
		errors.witness = fmax(errors.witness, oracleOffSurface(&pair->b, onB) / size);
		errors.witness = fmax(errors.witness, fabs(between - points[i].separation) / size);
	}
	knVec3 n = knInvRotate(pair->frameA.q, points[0].normal);
	// within the bounds; where these are far apart, as good as the best direction that is known
	double along = pair->b.kind == KN_GEOM_PLANE ? truth.lower : fmax(truth.lower, oracleAlong(&pose, n));
	errors.distance = errors.spread < 1e-6
						  ? fmax(0.0, fmax(truth.lower - deepest, deepest - truth.upper)) / size
						  : fabs(deepest - along) / size;
	errors.normal = pair->b.kind == KN_GEOM_PLANE ? knDistance(n, truth.n)
												  : oracleNormalError(&pose, n, &truth, size, heap);
	return errors;
}
