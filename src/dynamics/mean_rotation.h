// The rotation of a rigid body over a step, by the mean angular velocity w that is conjugate to the change of its
// angular momentum: with an angular impulse T in the step,
//
//   R' = exp(h w) R,   L' = L + T,   E' - E = w . T   exactly, whatever h and the inertia.
#pragma once

#include "knuckle/vecmath.h"

// The mean of exp(s phi) r over s in 0..1: exp(phi) r - r = phi x knArcMean(r, phi).
knVec3 knArcMean(knVec3 r, knVec3 phi);

// The rotation of a step: that of an angle, or of twice its half tangent (Cayley), which turns slower.
typedef struct knMeanTurn {
	knVec3 w;    // rad/s, body axes of the start; the same in those of the end
	bool cayley; // the exponential map had no solution
} knMeanTurn;

// From the angular momentum at the start and the angular impulse, both in body axes of the start. The search begins at
// `guess`.
knMeanTurn knMeanTurn_Find(const knMat33* inertia, const knMat33* invInertia, knVec3 momentum, knVec3 impulse,
						   double h, knVec3 guess);
// The rotation by h w; w in the axes in which the result is wanted.
knQuat knMeanTurn_Quat(knVec3 w, double h, bool cayley);

// Mean angular velocity of a free body over h, body axes, from its inertia and angular momentum in body axes. A fast spin
// is followed in substeps.
knVec3 knMeanAngularVelocity(const knMat33* inertia, const knMat33* invInertia, knVec3 momentum, double h);

// Whether the inertia is the same about all axes.
bool knIsIsotropic(const knMat33* inertia);
