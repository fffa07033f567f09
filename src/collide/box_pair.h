// Two boxes in the frame of the first, for the parts of the box-box test.
#pragma once

#include "collide/pair.h"

typedef struct knBoxPair {
	double a[3], b[3]; // half extents
	double R[3][3];    // R[i][j]: component i of B's axis j
	double t[3];       // B's centre
	double size;       // bounding radius of the smaller box: the unit of tolerances
	double margin;
} knBoxPair;

// The shortest line between two boxes that do not touch, in A's frame. `normal` and `gap` are any separating
// direction (from A to B) and the separation along it; the larger the gap, the less work.
typedef struct knBoxLine {
	knVec3 onA, onB;
	double distance;
	int feature; // below 2^12, which features it joins
} knBoxLine;

knBoxLine knBoxPair_Closest(const knBoxPair* pair, knVec3 normal, double gap);
