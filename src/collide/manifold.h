// Choosing at most four of the points of a face contact.
#pragma once

#include "knuckle/collide.h"

typedef struct knManifoldPoint {
	double u, v;       // in the plane of contact
	double separation; // across it
} knManifoldPoint;

// Keeps the deepest point, the farthest from it, the one that spans the largest triangle with them and the
// one that adds most area to that; leaves out points that are closer to those than 1e-4 `size`. Writes
// indices in ascending order and returns how many. Choices between equals do not change when points shake by
// less than 1e-8 `size`.
int knManifold_Reduce(const knManifoldPoint* points, int count, double size, int chosen[KN_PAIR_MAX_POINTS]);
