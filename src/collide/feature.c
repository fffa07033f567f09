// Features near a direction, and their overlaps.
//
//   face and face   the corners of the one are clipped by the sides of the other (planes along n)
//   face and edge   the same with an edge's two ends
//   cap and other   a cylinder's cap is a disc: the stretches of the other's edges within the circle, and the
//                   points of the rim above the other
//   edge and edge   nearly parallel: both ends of the stretch side by side
// A clipped point is carried along n to the other feature, so that the points of a pair lie straight above
// each other, each on its own surface.
#include "collide/feature.h"

#define NEAR_FACE 0.99  // cosine: about 8 degrees
#define NEAR_EDGE 0.1   // sine: about 6 degrees
#define CLIP_SLACK 1e-7 // sizes: a point this far outside a side is not cut off
#define PARALLEL 0.1    // sine between edges that may lie side by side ...
#define SIDEWAYS 0.01   // ... if they part by less than this many sizes
#define CAP_CORNERS 8   // rim points that stand for a cylinder's cap
#define HALF_ROOT 0.70710678118654752440

static void addPoint(knCoreFeature* f, knVec3 point, int name) {
	f->points[f->count] = point;
	f->names[f->count++] = name;
}

// Corners of a box are named by the signs of their coordinates.
static knVec3 boxCorner(knVec3 half, int bits) {
	return knV3(bits & 1 ? half.x : -half.x, bits & 2 ? half.y : -half.y, bits & 4 ? half.z : -half.z);
}

static void boxFeature(knVec3 half, knVec3 d, knFeatureLimit limit, knCoreFeature* f) {
	knVec3 size = knAbs3(d);
	int bits = (d.x > 0.0) + 2 * (d.y > 0.0) + 4 * (d.z > 0.0);
	int most = size.y > size.x ? 1 : 0, least = size.y < size.x ? 1 : 0;
	most = size.z > knComponent(size, most) ? 2 : most;
	least = size.z < knComponent(size, least) ? 2 : least;
	if (limit == KN_FEATURE_FACE && knComponent(size, most) > NEAR_FACE) {
		int u = 1 << (most + 1) % 3, v = 1 << (most + 2) % 3, fixed = bits & (1 << most);
		f->normal = knZero3();
		knSetComponent(&f->normal, most, fixed ? 1.0 : -1.0);
		const int around[4] = { 0, fixed ? u : v, u | v, fixed ? v : u };
		for (int k = 0; k < 4; ++k) {
			addPoint(f, boxCorner(half, fixed | around[k]), fixed | around[k]);
		}
	} else if (knComponent(size, least) < NEAR_EDGE) {
		int low = bits & ~(1 << least), high = bits | 1 << least;
		addPoint(f, boxCorner(half, low), low);
		addPoint(f, boxCorner(half, high), high);
	} else {
		addPoint(f, boxCorner(half, bits), bits);
	}
}

// A face's corners; of many, evenly spread ones.
static void hullFace(const knHull* hull, int index, knCoreFeature* f) {
	const knHullFace* face = &hull->faces[index];
	int count = face->count < KN_FEATURE_MAX ? face->count : KN_FEATURE_MAX;
	f->normal = face->normal;
	for (int k = 0; k < count; ++k) {
		int vertex = hull->loops[face->first + (int)((int64_t)k * face->count / count)];
		addPoint(f, hull->vertices[vertex], vertex);
	}
}

static void hullFeature(const knHull* hull, knVec3 d, knFeatureLimit limit, knCoreFeature* f) {
	int v = knHull_Support(hull, d), bestFace = -1, bestEdge = -1;
	double cosine = NEAR_FACE, sine = NEAR_EDGE;
	for (int k = hull->firstNeighbor[v]; k < hull->firstNeighbor[v + 1]; ++k) {
		double along = knDot(hull->faces[hull->leftFaces[k]].normal, d);
		if (along > cosine) {
			cosine = along;
			bestFace = hull->leftFaces[k];
		}
		knVec3 edge = knSub(hull->vertices[hull->neighbors[k]], hull->vertices[v]);
		double drop = knAbs(knDot(edge, d)) / knLength(edge);
		if (drop < sine) {
			sine = drop;
			bestEdge = hull->neighbors[k];
		}
	}
	if (limit == KN_FEATURE_FACE && bestFace >= 0) {
		hullFace(hull, bestFace, f);
		return;
	}
	addPoint(f, hull->vertices[v], v);
	if (bestEdge >= 0) {
		addPoint(f, hull->vertices[bestEdge], bestEdge);
	}
}

// Rim points stay with the body, so that resting contacts keep their names.
static void cylinderCap(knVec3 size, double up, knCoreFeature* f) {
	static const double around[CAP_CORNERS][2] = { { 1.0, 0.0 },  { HALF_ROOT, HALF_ROOT },
												   { 0.0, 1.0 },  { -HALF_ROOT, HALF_ROOT },
												   { -1.0, 0.0 }, { -HALF_ROOT, -HALF_ROOT },
												   { 0.0, -1.0 }, { HALF_ROOT, -HALF_ROOT } };
	f->normal = knV3(0.0, 0.0, up);
	f->center = knV3(0.0, 0.0, up * size.y);
	f->radius = size.x;
	for (int k = 0; k < CAP_CORNERS; ++k) {
		int corner = up > 0.0 ? k : CAP_CORNERS - 1 - k;
		knVec3 point = knV3(size.x * around[corner][0], size.x * around[corner][1], up * size.y);
		addPoint(f, point, 8 + 2 * corner + (up > 0.0));
	}
}

static void cylinderFeature(knVec3 size, knVec3 d, knFeatureLimit limit, knCoreFeature* f) {
	double rho = sqrt(d.x * d.x + d.y * d.y), up = d.z < 0.0 ? -1.0 : 1.0;
	if (limit == KN_FEATURE_FACE && knAbs(d.z) > NEAR_FACE) {
		cylinderCap(size, up, f);
		return;
	}
	double scale = rho > 0.0 ? size.x / rho : 0.0;
	knVec3 radial = knV3(scale * d.x, scale * d.y, 0.0);
	if (knAbs(d.z) < NEAR_EDGE) {
		addPoint(f, knV3(radial.x, radial.y, -size.y), 0);
		addPoint(f, knV3(radial.x, radial.y, size.y), 1);
	} else {
		addPoint(f, knV3(radial.x, radial.y, up * size.y), up > 0.0);
	}
}

knCoreFeature knCore_Feature(const knCore* core, knVec3 d, knFeatureLimit limit) {
	knCoreFeature f;
	f.count = 0;
	f.radius = 0.0;
	switch (core->kind) {
	case KN_GEOM_BOX:
		boxFeature(core->size, d, limit, &f);
		break;
	case KN_GEOM_HULL:
		hullFeature(core->hull, d, limit, &f);
		break;
	case KN_GEOM_CYLINDER:
		cylinderFeature(core->size, d, limit, &f);
		break;
	case KN_GEOM_CAPSULE:
		if (knAbs(d.z) < NEAR_EDGE) {
			addPoint(&f, knV3(0.0, 0.0, -core->size.y), 0);
			addPoint(&f, knV3(0.0, 0.0, core->size.y), 1);
		} else {
			addPoint(&f, knCore_Support(core, d), d.z > 0.0);
		}
		break;
	default:
		addPoint(&f, knCore_Support(core, d), 0);
		break;
	}
	return f;
}

knCoreFeature knCorePair_FeatureB(const knCorePair* p, knVec3 d, knFeatureLimit limit) {
	knCoreFeature f = knCore_Feature(&p->b, knTMulMV(&p->R, d), limit);
	for (int k = 0; k < f.count; ++k) {
		f.points[k] = knAdd(p->t, knMulMV(&p->R, f.points[k]));
	}
	if (f.count > 2) {
		f.normal = knMulMV(&p->R, f.normal);
	}
	if (f.radius > 0.0) {
		f.center = knAdd(p->t, knMulMV(&p->R, f.center));
	}
	return f;
}

// --- overlaps ----------------------------------------------------------------------------------------------

// Cuts off what lies on the outer side, inward.x < offset, of a closed polygon (or of an edge's two ends).
static int cut(const knVec3* from, int count, knVec3 inward, double offset, double slack, knVec3* to) {
	int kept = 0, last = count == 2 ? 1 : count;
	for (int k = 0; k < count; ++k) {
		knVec3 next = from[k + 1 < count ? k + 1 : 0];
		double here = knDot(inward, from[k]) - offset, there = knDot(inward, next) - offset;
		bool keepHere = here >= -slack, keepThere = there >= -slack;
		if (keepHere && kept < KN_OVERLAP_MAX) {
			to[kept++] = from[k];
		}
		if (keepHere != keepThere && k < last && kept < KN_OVERLAP_MAX) {
			to[kept++] = knLerp(from[k], next, knClamp(here / (here - there), 0.0, 1.0));
		}
	}
	return kept;
}

// The part of `subject` above `face`; `out` is the face's side: n for A's, -n for B's. Returns how many points.
static int clipBy(const knCoreFeature* subject, const knCoreFeature* face, knVec3 out, double slack,
				  knVec3 points[KN_OVERLAP_MAX]) {
	knVec3 buffer[KN_OVERLAP_MAX];
	int count = subject->count;
	for (int k = 0; k < count; ++k) {
		points[k] = subject->points[k];
	}
	for (int k = 0; k < face->count && count > 0; ++k) {
		knVec3 start = face->points[k], end = face->points[k + 1 < face->count ? k + 1 : 0];
		knVec3 inward = knNormalize(knCross(out, knSub(end, start)));
		count = cut(points, count, inward, knDot(inward, start), slack, buffer);
		for (int m = 0; m < count; ++m) {
			points[m] = buffer[m];
		}
	}
	return count;
}

// Two edges side by side: the ends of the common stretch along the mean of their directions.
static void overlapEdges(const knCoreFeature* a, const knCoreFeature* b, knVec3 n, double size,
						 knOverlap* overlap) {
	knVec3 da = knSub(a->points[1], a->points[0]), db = knSub(b->points[1], b->points[0]);
	double lengthA = knLength(da), lengthB = knLength(db);
	knVec3 ua = knScale(1.0 / lengthA, da), ub = knScale(1.0 / lengthB, db);
	knVec3 axis = knNormalize(knDot(ua, ub) > 0.0 ? knAdd(ua, ub) : knSub(ua, ub));
	double sine = knLength(knCross(ua, ub));
	double xa = knDot(a->points[0], axis), xb = knDot(b->points[0], axis);
	double ra = knDot(da, axis), rb = knDot(db, axis);
	double lower = knMax(knMin(xa, xa + ra), knMin(xb, xb + rb));
	double upper = knMin(knMax(xa, xa + ra), knMax(xb, xb + rb));
	if (sine > PARALLEL || !(upper - lower > 1e-4 * size) || (upper - lower) * sine > SIDEWAYS * size) {
		return;
	}
	for (int end = 0; end < 2; ++end) {
		double x = end == 0 ? lower : upper;
		knVec3 onA = knMulAdd(a->points[0], knClamp((x - xa) / ra, 0.0, 1.0), da);
		knVec3 onB = knMulAdd(b->points[0], knClamp((x - xb) / rb, 0.0, 1.0), db);
		knVec3 apart = knSub(onB, onA);
		if (knLength(knMulAdd(apart, -knDot(apart, n), n)) > SIDEWAYS * size) {
			continue;
		}
		overlap->a[overlap->count] = onA;
		overlap->b[overlap->count++] = onB;
	}
}

// --- caps --------------------------------------------------------------------------------------------------

// A point carried along n to the plane of a face.
static knVec3 carry(const knCoreFeature* face, knVec3 point, knVec3 n) {
	double height = knDot(knSub(point, face->points[0]), face->normal) / knDot(n, face->normal);
	return knMulAdd(point, -height, n);
}

static void addPair(knOverlap* overlap, bool ofA, knVec3 own, knVec3 other) {
	if (overlap->count < KN_OVERLAP_MAX) {
		overlap->a[overlap->count] = ofA ? own : other;
		overlap->b[overlap->count++] = ofA ? other : own;
	}
}

// The ends of the stretch of segment p0 p1 that lies above the cap; ofA: the segment is A's.
static void stretchOverCap(const knCoreFeature* cap, knVec3 p0, knVec3 p1, knVec3 n, bool ofA,
						   knOverlap* overlap) {
	knVec3 q0 = knSub(carry(cap, p0, n), cap->center), d = knSub(knSub(carry(cap, p1, n), cap->center), q0);
	double dd = knLengthSquared(d);
	if (dd == 0.0) {
		return;
	}
	// |q0 + x d| = radius, about the point closest to the middle
	double middle = -knDot(q0, d) / dd;
	double rest = cap->radius * cap->radius - knLengthSquared(knMulAdd(q0, middle, d));
	if (!(rest > 0.0)) {
		return;
	}
	double half = sqrt(rest / dd), lower = knMax(0.0, middle - half), upper = knMin(1.0, middle + half);
	if (lower > upper) {
		return;
	}
	const double ends[2] = { lower, upper };
	for (int k = 0; k < 2; ++k) {
		knVec3 own = knLerp(p0, p1, ends[k]);
		addPair(overlap, ofA, own, carry(cap, own, n));
	}
}

static bool isAbove(const knCoreFeature* face, knVec3 point, knVec3 out, double slack) {
	for (int k = 0; k < face->count; ++k) {
		knVec3 start = face->points[k], end = face->points[k + 1 < face->count ? k + 1 : 0];
		knVec3 inward = knCross(out, knSub(end, start));
		if (knDot(inward, knSub(point, start)) < -slack * knLength(inward)) {
			return false;
		}
	}
	return true;
}

// A point of a cap's plane moved onto the cap, if it is outside.
static knVec3 ontoCap(const knCoreFeature* cap, knVec3 point) {
	knVec3 q = knSub(point, cap->center);
	double reach = knLength(q);
	return reach > cap->radius ? knMulAdd(cap->center, cap->radius / reach, q) : point;
}

// The rim points of `cap` above a face or another cap; ofA: the cap is A's.
static void rimOver(const knCoreFeature* cap, const knCoreFeature* face, knVec3 n, bool ofA, double slack,
					knOverlap* overlap) {
	for (int k = 0; k < cap->count; ++k) {
		knVec3 foot = carry(face, cap->points[k], n);
		bool above = face->radius > 0.0 ? knDistance(foot, face->center) <= face->radius + slack
										: isAbove(face, foot, ofA ? knNeg(n) : n, slack);
		if (above) {
			addPair(overlap, ofA, cap->points[k], face->radius > 0.0 ? ontoCap(face, foot) : foot);
		}
	}
}

// Where the rims of two caps cross.
static void crossRims(const knCoreFeature* a, const knCoreFeature* b, knVec3 n, knOverlap* overlap) {
	knVec3 d = knSub(carry(a, b->center, n), a->center);
	double distance = knLength(d);
	double along = 0.5 * (distance + (a->radius * a->radius - b->radius * b->radius) / distance);
	double across = a->radius * a->radius - along * along;
	if (!(across > 0.0) || !(distance > 0.0)) {
		return;
	}
	knVec3 u = knScale(1.0 / distance, d), v = knCross(a->normal, u);
	for (int side = -1; side <= 1; side += 2) {
		knVec3 onA = knMulAdd(knMulAdd(a->center, along, u), side * sqrt(across), v);
		addPair(overlap, true, onA, ontoCap(b, carry(b, onA, n)));
	}
}

static void overlapCaps(const knCoreFeature* a, const knCoreFeature* b, knVec3 n, double slack,
						knOverlap* overlap) {
	bool capA = a->radius > 0.0, capB = b->radius > 0.0;
	if (capA && capB) {
		rimOver(a, b, n, true, slack, overlap);
		rimOver(b, a, n, false, slack, overlap);
		crossRims(a, b, n, overlap);
		return;
	}
	const knCoreFeature *cap = capA ? a : b, *other = capA ? b : a;
	for (int k = 0; k < (other->count > 2 ? other->count : 1); ++k) {
		knVec3 end = other->points[k + 1 < other->count ? k + 1 : 0];
		stretchOverCap(cap, other->points[k], end, n, !capA, overlap);
	}
	if (other->count > 2) {
		rimOver(cap, other, n, capA, slack, overlap);
	}
}

void knOverlap_Find(const knCoreFeature* a, const knCoreFeature* b, knVec3 n, double size,
					knOverlap* overlap) {
	overlap->count = 0;
	if (a->count < 2 || b->count < 2) {
		return;
	}
	if (a->count == 2 && b->count == 2) {
		overlapEdges(a, b, n, size, overlap);
		return;
	}
	if (a->radius > 0.0 || b->radius > 0.0) {
		overlapCaps(a, b, n, CLIP_SLACK * size, overlap);
		return;
	}
	// the edge, or else B's face, is clipped by the other's face
	bool clipA = a->count == 2;
	const knCoreFeature* face = clipA ? b : a;
	knVec3* own = clipA ? overlap->a : overlap->b;
	knVec3* other = clipA ? overlap->b : overlap->a;
	overlap->count = clipBy(clipA ? a : b, face, clipA ? knNeg(n) : n, CLIP_SLACK * size, own);
	for (int k = 0; k < overlap->count; ++k) {
		other[k] = carry(face, own[k], n);
	}
}
