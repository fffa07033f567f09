// The impulse of two bodies that meet at one point, for any collision matrix K: rigid bodies, articulated ones
// (knTree_CollisionMatrix), or one of each.
//
//   u   velocity of B relative to A at the point      j   impulse on B, A takes -j
//   n   unit normal from A to B, u.n < 0: approaching  K   du = K j; the sum of the two bodies' shares
//   e   restitution                                   mu  friction
//
//   knImpact_Solve       in one step: sticks or slips (Guendelman et al. 2003, sections 5 and 8)
//   knImpact_Integrate   followed through the hit: sliding may slow down, stop, turn round or start again
//                        (Mirtich 1996, section 3), with energetic restitution (Stronge 1990)
#pragma once

#include "knuckle/vecmath.h"

KN_BEGIN_C

typedef enum knImpactKind {
	KN_IMPACT_NONE, // not approaching, or nothing can move
	KN_IMPACT_STICK,
	KN_IMPACT_SLIP,
} knImpactKind;

typedef struct knImpact {
	knMat33 K;
	knVec3 u, n;
	double e, mu;
} knImpact;

// A rigid body's share of K: 1/m - [r] I^-1 [r], r from its centre of mass to the point.
KN_API knMat33 knImpact_Share(double invMass, const knMat33* invInertia, knVec3 r);

// The impulse on B, -1 <= e <= 1 (contact processing takes a part of the approach away with e < 0). After it
// u.n = -e u.n, sliding has stopped (stick) or |j_t| = mu j_n against it (slip), and the kinetic energy has not
// grown. `kind` may not be NULL.
KN_API knVec3 knImpact_Solve(const knImpact* impact, knImpactKind* kind);

typedef struct knImpactCourse {
	int steps;         // of the integration
	bool stuck;        // sliding had ended when the bodies parted
	bool complete;     // false: given up before the restitution was through
	double normalWork; // J, done by the normal impulse: negative
} knImpactCourse;

// The impulse on B, 0 <= e <= 1. The kinetic energy does not grow and the impulse lies in the friction cone. `course`
// may be NULL.
KN_API knVec3 knImpact_Integrate(const knImpact* impact, knImpactCourse* course);

KN_END_C
