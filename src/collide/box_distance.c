// The exact distance of two separate boxes.
//
// The shortest line between two separate polytopes ends in a vertex of one of them or joins two edges. So:
// each vertex of B against A, each vertex of A against B, then the edge pairs that can beat those. With a gap
// along any direction, an edge whose highest point lies `drop` below A's top (seen along it), or above B's
// bottom, has at least the distance gap + dropA + dropB. And a line as short as the gap along its own
// direction is shortest: then no edges need be tried.
#include "collide/box_pair.h"
#include "collide/segment.h"

enum { FEATURE_VERTEX_B = 0, FEATURE_VERTEX_A = 8 * 27, FEATURE_EDGES = 16 * 27 };

static double corner(const double* half, int axis, int bits) {
	return bits >> axis & 1 ? half[axis] : -half[axis];
}

static knVec3 cornerOf(const double* half, int bits) {
	return knV3(corner(half, 0, bits), corner(half, 1, bits), corner(half, 2, bits));
}

// The closest point of the box |x| <= half, and the region where it lies: -1, 0, 1 per axis as a number below
// 27.
static knVec3 closestOnBox(const double* half, knVec3 point, int* region) {
	knVec3 result = point;
	*region = 0;
	for (int i = 2; i >= 0; --i) {
		double x = knComponent(point, i);
		int side = x > half[i] ? 2 : (x < -half[i] ? 0 : 1);
		*region = 3 * *region + side;
		knSetComponent(&result, i, side == 2 ? half[i] : (side == 0 ? -half[i] : x));
	}
	return result;
}

// A rival must be shorter by more than rounding, so that equal ones keep their first name.
static void offer(knBoxLine* best, knVec3 onA, knVec3 onB, int feature) {
	double distance = knDistance(onA, onB);
	if (distance < best->distance * (1.0 - 1e-12)) {
		*best = (knBoxLine){ onA, onB, distance, feature };
	}
}

static void offerVertices(const knBoxPair* p, knBoxLine* best) {
	int region;
	for (int bits = 0; bits < 8; ++bits) {
		knVec3 vertex = knBoxPair_FromB(p, cornerOf(p->b, bits));
		knVec3 onA = closestOnBox(p->a, vertex, &region);
		offer(best, onA, vertex, FEATURE_VERTEX_B + 27 * bits + region);
	}
	for (int bits = 0; bits < 8; ++bits) {
		knVec3 vertex = cornerOf(p->a, bits);
		knVec3 local = knBoxPair_ToB(p, knSub(vertex, knV3(p->t[0], p->t[1], p->t[2])));
		knVec3 onB = closestOnBox(p->b, local, &region);
		offer(best, vertex, knBoxPair_FromB(p, onB), FEATURE_VERTEX_A + 27 * bits + region);
	}
}

typedef struct Edge {
	knSegment segment; // in its box's frame
	double drop;
} Edge;

// The 12 edges of a box in its own frame: 4 along each axis. `up` is the direction to the other box.
static void makeEdges(const double* half, knVec3 up, Edge edges[12]) {
	double top = half[0] * knAbs(up.x) + half[1] * knAbs(up.y) + half[2] * knAbs(up.z);
	for (int e = 0; e < 12; ++e) {
		int axis = e / 4, bits = e % 4, second = (axis + 1) % 3, third = (axis + 2) % 3;
		knSegment* s = &edges[e].segment;
		s->center = s->half = knZero3();
		knSetComponent(&s->half, axis, half[axis]);
		knSetComponent(&s->center, second, bits & 1 ? half[second] : -half[second]);
		knSetComponent(&s->center, third, bits & 2 ? half[third] : -half[third]);
		edges[e].drop = top - knDot(s->center, up) - knAbs(knDot(s->half, up));
	}
}

static void offerEdges(const knBoxPair* p, knVec3 normal, double gap, knBoxLine* best) {
	Edge edgesA[12], edgesB[12];
	makeEdges(p->a, normal, edgesA);
	makeEdges(p->b, knNeg(knBoxPair_ToB(p, normal)), edgesB);
	for (int f = 0; f < 12; ++f) {
		if (gap + edgesB[f].drop >= best->distance) {
			continue;
		}
		int axis = f / 4;
		knSegment segment = { knBoxPair_FromB(p, edgesB[f].segment.center),
							  knScale(p->b[axis], knBoxPair_AxisB(p, axis)) };
		for (int e = 0; e < 12; ++e) {
			if (gap + edgesA[e].drop + edgesB[f].drop >= best->distance) {
				continue;
			}
			double s, t;
			knSegment_Closest(&edgesA[e].segment, &segment, &s, &t);
			offer(best, knSegment_At(&edgesA[e].segment, s), knSegment_At(&segment, t),
				  FEATURE_EDGES + 12 * e + f);
		}
	}
}

// Separation of the boxes along a unit vector from A towards B.
static double gapAlong(const knBoxPair* p, knVec3 n) {
	double reachA = p->a[0] * knAbs(n.x) + p->a[1] * knAbs(n.y) + p->a[2] * knAbs(n.z);
	knVec3 inB = knBoxPair_ToB(p, n);
	double reachB = p->b[0] * knAbs(inB.x) + p->b[1] * knAbs(inB.y) + p->b[2] * knAbs(inB.z);
	return knDot(n, knV3(p->t[0], p->t[1], p->t[2])) - (reachA + reachB);
}

knBoxLine knBoxPair_Closest(const knBoxPair* pair, knVec3 normal, double gap) {
	knBoxLine best = { .distance = INFINITY };
	offerVertices(pair, &best);
	knVec3 direction = knScale(1.0 / best.distance, knSub(best.onB, best.onA));
	double own = gapAlong(pair, direction);
	if (own < best.distance - 1e-12 * pair->size) {
		offerEdges(pair, own > gap ? direction : normal, own > gap ? own : gap, &best);
	}
	return best;
}
