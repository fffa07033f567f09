// Features near a direction, and their overlaps.
//
//   face and face   the corners of the one are clipped by the sides of the other (planes along n)
//   face and edge   the same with an edge's two ends
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
	int count = face->count < KN_FEATURE_MOST ? face->count : KN_FEATURE_MOST;
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
		if (keepHere && kept < KN_OVERLAP_MOST) {
			to[kept++] = from[k];
		}
		if (keepHere != keepThere && k < last && kept < KN_OVERLAP_MOST) {
			to[kept++] = knLerp(from[k], next, knClamp(here / (here - there), 0.0, 1.0));
		}
	}
	return kept;
}

// The part of `subject` above `face`; `out` is the face's side: n for A's, -n for B's. Returns how many points.
static int clipBy(const knCoreFeature* subject, const knCoreFeature* face, knVec3 out, double slack,
				  knVec3 points[KN_OVERLAP_MOST]) {
	knVec3 buffer[KN_OVERLAP_MOST];
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
	// the edge, or else B's face, is clipped by the other's face
	bool clipA = a->count == 2;
	const knCoreFeature* face = clipA ? b : a;
	knVec3* own = clipA ? overlap->a : overlap->b;
	knVec3* other = clipA ? overlap->b : overlap->a;
	overlap->count = clipBy(clipA ? a : b, face, clipA ? knNeg(n) : n, CLIP_SLACK * size, own);
	double steep = 1.0 / knDot(n, face->normal);
	for (int k = 0; k < overlap->count; ++k) {
		double height = knDot(knSub(own[k], face->points[0]), face->normal) * steep;
		other[k] = knMulAdd(own[k], -height, n);
	}
}
