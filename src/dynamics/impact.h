// The impulse of two bodies that meet at one point (Guendelman et al. 2003, sections 5 and 8).
//
//   u   velocity of B relative to A at the point      j   impulse on B, A takes -j
//   n   unit normal from A to B, u.n < 0: approaching  K   du = K j, the collision matrix
//   e   restitution, -1 <= e <= 1: contact processing takes a part of the approach away with e < 0
#pragma once

#include "knuckle/vecmath.h"

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

// One body's share of K: 1/m - [r] I^-1 [r], r from its centre of mass to the point.
knMat33 knImpact_Share(double invMass, const knMat33* invInertia, knVec3 r);

// The impulse on B. After it u.n = -e u.n, sliding has stopped (stick) or |j_t| = mu j_n against it (slip), and the
// kinetic energy has not grown.
knVec3 knImpact_Solve(const knImpact* impact, knImpactKind* kind);

// What changes the relative angular velocity of two bodies by dw and leaves the velocity at their point alone: an
// angular impulse g and an impulse j at the point, both on B. K12 = sum [r]^T I^-1, K22 = sum I^-1.
void knImpact_Turn(const knMat33* K, const knMat33* K12, const knMat33* K22, knVec3 dw, knVec3* j, knVec3* g);

// The relative angular velocity after rolling and spinning friction: its parts along n and across it are each
// reduced by `reduction` (rad/s), to zero at most.
knVec3 knImpact_ReduceTurning(knVec3 w, knVec3 n, double reduction);
