// The exact distance of two separate boxes.
//
// The shortest line between two separate polytopes ends in a vertex of one of them or joins two edges. So: each
// vertex of B against A, each vertex of A against B, then the edge pairs that can beat those. With the separation
// `gap` along `normal`, an edge whose highest point lies `drop` below A's top (seen along the normal), or above B's
// bottom, has at least the distance gap + dropA + dropB.
#include "collide/box_pair.h"
#include "collide/segment.h"

enum { FEATURE_VERTEX_B = 0, FEATURE_VERTEX_A = 8 * 27, FEATURE_EDGES = 16 * 27 };

static double corner(const double* half, int axis, int bits) {
	return bits >> axis & 1 ? half[axis] : -half[axis];
}

static knVec3 cornerOf(const double* half, int bits) {
	return knV3(corner(half, 0, bits), corner(half, 1, bits), corner(half, 2, bits));
}

static knVec3 axisB(const knBoxPair* p, int j) {
	return knV3(p->R[0][j], p->R[1][j], p->R[2][j]);
}

static knVec3 fromB(const knBoxPair* p, knVec3 x) {
	knVec3 sum = knMulAdd(knV3(p->t[0], p->t[1], p->t[2]), x.x, axisB(p, 0));
	return knMulAdd(knMulAdd(sum, x.y, axisB(p, 1)), x.z, axisB(p, 2));
}

static knVec3 toB(const knBoxPair* p, knVec3 x) {
	knVec3 d = knSub(x, knV3(p->t[0], p->t[1], p->t[2]));
	return knV3(knDot(d, axisB(p, 0)), knDot(d, axisB(p, 1)), knDot(d, axisB(p, 2)));
}

// The closest point of the box |x| <= half, and the region where it lies: -1, 0, 1 per axis as a number below 27.
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
		knVec3 vertex = fromB(p, cornerOf(p->b, bits));
		knVec3 onA = closestOnBox(p->a, vertex, &region);
		offer(best, onA, vertex, FEATURE_VERTEX_B + 27 * bits + region);
	}
	for (int bits = 0; bits < 8; ++bits) {
		knVec3 vertex = cornerOf(p->a, bits);
		knVec3 onB = closestOnBox(p->b, toB(p, vertex), &region);
		offer(best, vertex, fromB(p, onB), FEATURE_VERTEX_A + 27 * bits + region);
	}
}

typedef struct Edge {
	knSegment segment; // in A's frame
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
	knVec3 down = knV3(-knDot(normal, axisB(p, 0)), -knDot(normal, axisB(p, 1)), -knDot(normal, axisB(p, 2)));
	Edge edgesA[12], edgesB[12];
	makeEdges(p->a, normal, edgesA);
	makeEdges(p->b, down, edgesB);
	for (int f = 0; f < 12; ++f) {
		if (gap + edgesB[f].drop >= best->distance) {
			continue;
		}
		knVec3 center = fromB(p, edgesB[f].segment.center);
		int axis = f / 4;
		knSegment segment = { center, knScale(p->b[axis], axisB(p, axis)) };
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

knBoxLine knBoxPair_Closest(const knBoxPair* pair, knVec3 normal, double gap) {
	knBoxLine best = { .distance = INFINITY };
	offerVertices(pair, &best);
	offerEdges(pair, normal, gap, &best);
	return best;
}
