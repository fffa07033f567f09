// The impulse of a collision with friction, found by following it through time (Mirtich 1996, section 3), with
// energetic restitution (Stronge 1990): sliding may slow down, stop, turn round or start again during the hit.
#pragma once

#include "dynamics/impact.h"

typedef struct knImpactCourse {
	int steps;         // of the integration
	bool stuck;        // sliding had ended when the bodies parted
	bool complete;     // false: given up before the restitution was through
	double normalWork; // J, done by the normal impulse: negative
} knImpactCourse;

// The impulse on B (conventions of impact.h, 0 <= e <= 1). The kinetic energy does not grow and the impulse lies in the
// friction cone. `course` may be NULL.
knVec3 knImpact_Integrate(const knImpact* impact, knImpactCourse* course);
