// The exact distance of two separate boxes.
//
// The shortest line between two separate polytopes ends in a vertex of one of them or joins two edges. So:
// each vertex of B against A, each vertex of A against B, then the edge pairs that can beat those. With a gap
// along any direction, a vertex or an edge whose highest point lies `drop` below A's top (seen along it), or above
// B's bottom, has at least the distance gap + dropA + dropB, which puts most out of the question at once. And a line as
// short as the gap along its own direction is shortest: then no edges need be tried. Neither if that gap is larger
// than the margin.
#include "collide/box_pair.h"
#include "collide/segment.h"

static double corner(const double* half, int axis, int bits) {
	return bits >> axis & 1 ? half[axis] : -half[axis];
}

static knVec3 cornerOf(const double* half, int bits) {
	return knV3(corner(half, 0, bits), corner(half, 1, bits), corner(half, 2, bits));
}

// How far features of a box lie below its top: by so much for each axis on which they are on the other side.
typedef struct Slant {
	double cost[3];
	int top; // bits of the highest corner
} Slant;

// `up` is the direction to the other box, in the frame of this one.
static Slant makeSlant(const double* half, knVec3 up) {
	return (Slant){ { 2.0 * half[0] * knAbs(up.x), 2.0 * half[1] * knAbs(up.y), 2.0 * half[2] * knAbs(up.z) },
					(up.x > 0.0) + 2 * (up.y > 0.0) + 4 * (up.z > 0.0) };
}

// Of a corner; or of an edge by either of its corners, without its own axis in the `mask` of those that count.
static double dropOf(const Slant* slant, int bits, int mask) {
	int lower = (bits ^ slant->top) & mask;
	return (lower & 1 ? slant->cost[0] : 0.0) + (lower & 2 ? slant->cost[1] : 0.0) +
		   (lower & 4 ? slant->cost[2] : 0.0);
}

static knVec3 closestOnBox(const double* half, knVec3 point) {
	return knV3(knClamp(point.x, -half[0], half[0]), knClamp(point.y, -half[1], half[1]),
				knClamp(point.z, -half[2], half[2]));
}

// A rival must be shorter by more than rounding, so that of equal ones the first stays.
static void offer(knBoxLine* best, knVec3 onA, knVec3 onB) {
	double distance = knDistance(onA, onB);
	if (distance < best->distance * (1.0 - 1e-12)) {
		*best = (knBoxLine){ onA, onB, distance };
	}
}

static void offerVertexB(const knBoxPair* p, int bits, knBoxLine* best) {
	knVec3 vertex = knBoxPair_FromB(p, cornerOf(p->b, bits));
	offer(best, closestOnBox(p->a, vertex), vertex);
}

static void offerVertexA(const knBoxPair* p, int bits, knBoxLine* best) {
	knVec3 vertex = cornerOf(p->a, bits);
	knVec3 local = knBoxPair_ToB(p, knSub(vertex, knV3(p->t[0], p->t[1], p->t[2])));
	offer(best, vertex, knBoxPair_FromB(p, closestOnBox(p->b, local)));
}

// The highest corners tell how far the others need to be looked at.
static void offerVertices(const knBoxPair* p, knVec3 normal, double gap, knBoxLine* best) {
	Slant slantA = makeSlant(p->a, normal), slantB = makeSlant(p->b, knNeg(knBoxPair_ToB(p, normal)));
	knBoxLine first = { .distance = INFINITY };
	offerVertexB(p, slantB.top, &first);
	offerVertexA(p, slantA.top, &first);
	double reach = first.distance * (1.0 + 1e-9) - gap;
	for (int bits = 0; bits < 8; ++bits) {
		if (dropOf(&slantB, bits, 7) <= reach) {
			offerVertexB(p, bits, best);
		}
	}
	for (int bits = 0; bits < 8; ++bits) {
		if (dropOf(&slantA, bits, 7) <= reach) {
			offerVertexA(p, bits, best);
		}
	}
}

// An edge of a box, in its frame: along `axis`, from the corner `bits`.
static knSegment edgeOf(const double* half, int axis, int bits) {
	knSegment edge = { cornerOf(half, bits), knZero3() };
	knSetComponent(&edge.center, axis, 0.0);
	knSetComponent(&edge.half, axis, half[axis]);
	return edge;
}

// The corner at which edge e, 4 along each axis, begins.
static int edgeBits(int e) {
	int axis = e / 4, second = axis < 2 ? axis + 1 : 0, third = axis > 0 ? axis - 1 : 2;
	return (e & 1) << second | (e >> 1 & 1) << third;
}

static void offerEdges(const knBoxPair* p, knVec3 normal, double gap, knBoxLine* best) {
	Slant slantA = makeSlant(p->a, normal), slantB = makeSlant(p->b, knNeg(knBoxPair_ToB(p, normal)));
	for (int f = 0; f < 12; ++f) {
		int axisB = f / 4, bitsB = edgeBits(f);
		double heightB = gap + dropOf(&slantB, bitsB, 7 ^ 1 << axisB);
		if (heightB >= best->distance) {
			continue;
		}
		knSegment local = edgeOf(p->b, axisB, bitsB);
		knSegment segment = { knBoxPair_FromB(p, local.center),
							  knScale(p->b[axisB], knBoxPair_AxisB(p, axisB)) };
		for (int e = 0; e < 12; ++e) {
			int bitsA = edgeBits(e);
			if (heightB + dropOf(&slantA, bitsA, 7 ^ 1 << e / 4) >= best->distance) {
				continue;
			}
			knSegment edge = edgeOf(p->a, e / 4, bitsA);
			double s, t;
			knSegment_Closest(&edge, &segment, &s, &t);
			offer(best, knSegment_At(&edge, s), knSegment_At(&segment, t));
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
	offerVertices(pair, normal, gap, &best);
	knVec3 direction = knScale(1.0 / best.distance, knSub(best.onB, best.onA));
	double own = gapAlong(pair, direction);
	if (own < best.distance - 1e-12 * pair->size && own < pair->margin) {
		best.distance = knMin(best.distance, pair->margin);
		offerEdges(pair, own > gap ? direction : normal, own > gap ? own : gap, &best);
	}
	return best;
}
