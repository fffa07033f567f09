// Two boxes in the frame of the first, for the parts of the box-box test.
#pragma once

#include "collide/pair.h"

typedef struct knBoxPair {
	double a[3], b[3]; // half extents
	double R[3][3];    // R[i][j]: component i of B's axis j
	double t[3];       // B's centre
	double size;       // bounding radius of the smaller box: the unit of tolerances
	double touching;   // gaps below this are lost in rounding
	double margin;
} knBoxPair;

// B's axis j in A's frame.
static inline knVec3 knBoxPair_AxisB(const knBoxPair* p, int j) {
	return knV3(p->R[0][j], p->R[1][j], p->R[2][j]);
}

// A direction of A's frame in B's, and a point of B's frame in A's.
static inline knVec3 knBoxPair_ToB(const knBoxPair* p, knVec3 d) {
	return knV3(knDot(d, knBoxPair_AxisB(p, 0)), knDot(d, knBoxPair_AxisB(p, 1)),
				knDot(d, knBoxPair_AxisB(p, 2)));
}

static inline knVec3 knBoxPair_FromB(const knBoxPair* p, knVec3 x) {
	knVec3 sum = knMulAdd(knV3(p->t[0], p->t[1], p->t[2]), x.x, knBoxPair_AxisB(p, 0));
	return knMulAdd(knMulAdd(sum, x.y, knBoxPair_AxisB(p, 1)), x.z, knBoxPair_AxisB(p, 2));
}

// The shortest line between two boxes that do not touch, in A's frame. `normal` and `gap` are any separating
// direction (from A to B) and the separation along it; the larger the gap, the less work.
typedef struct knBoxLine {
	knVec3 onA, onB;
	double distance; // not below the pair's margin: the line is not the shortest
} knBoxLine;

knBoxLine knBoxPair_Closest(const knBoxPair* pair, knVec3 normal, double gap);
