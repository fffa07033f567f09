// What the impulse of a row may be: the one home of bounds.
//
//   FREE    anything (locked directions of joints)
//   RANGE   [lo, hi] (normals, limits, motors, dry and bearing friction of joints)
//   DISC    two rows, |(x, y)| <= radius (Coulomb friction; its radius follows the normal impulse)
//   GRAPH   what belongs to a change of a joint's coordinate: spring, motor, friction and limits in one (joint_law.h)
//
// The law of a row is the projection of a wish onto that set; of a graph, its resolvent.
#pragma once

#include "knuckle/vecmath.h"

typedef enum knRowLaw {
	KN_LAW_FREE,
	KN_LAW_RANGE,
	KN_LAW_DISC, // the first of two neighbouring rows; the second has it too
	KN_LAW_GRAPH,
} knRowLaw;

static inline double knRowLaw_Range(double wish, double lo, double hi) {
	return knClamp(wish, lo, hi);
}

// Shortens (x, y) to the radius; returns the share that is left of it, 1: nothing was cut.
static inline double knRowLaw_Disc(double radius, double* x, double* y) {
	double square = *x * *x + *y * *y;
	if (radius > 0.0 && square <= radius * radius) {
		return 1.0;
	}
	double share = radius > 0.0 ? radius / sqrt(square) : 0.0;
	*x *= share;
	*y *= share;
	return share;
}
