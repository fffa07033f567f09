// 6D spatial algebra in Featherstone's convention (angular before linear).
//
//   X(E, r): A -> B, E rotates A axes to B axes, r = origin of B in A
//   motion  m_B = X m_A,       force f_A = X^T f_B,      inertia I_A = X^T I_B X
//   I = | Ic - m[c][c]   m[c] |      power f.m, momentum I v, f = I a + v x* I v
//       | -m[c]          m 1  |
//
// A transform is kept as the frame of B in A: {p = r, q} with E = R(q)^T.
#pragma once

#include "knuckle/vecmath.h"

// Rigid-body inertia about the origin of its frame: mass, m c, and the 3x3 at the origin.
typedef struct knInertia {
	double mass;
	knVec3 mc;      // mass times centre
	knMat33 origin; // about the frame's origin
} knInertia;

// A general symmetric 6x6 (articulated inertia): [ang-ang, ang-lin; ang-lin^T, lin-lin].
typedef struct knInertia6 {
	knMat33 aa, al, ll;
} knInertia6;

knTwist knMotionToFrame(knFrame B, knTwist m);   // A -> B
knTwist knMotionFromFrame(knFrame B, knTwist m); // B -> A
knTwist knForceToFrame(knFrame B, knTwist f);    // A -> B
knTwist knForceFromFrame(knFrame B, knTwist f);  // B -> A
knTwist knCrossMotion(knTwist v, knTwist m);     // v x m
knTwist knCrossForce(knTwist v, knTwist f);      // v x* f

knInertia knInertia_Make(double mass, knVec3 center, const knMat33* aboutCenter);
knTwist knInertia_Mul(const knInertia* inertia, knTwist v);
knInertia6 knInertia_Full(const knInertia* inertia);
knTwist knInertia6_Mul(const knInertia6* inertia, knTwist v);
knInertia6 knInertia6_Add(const knInertia6* a, const knInertia6* b);
knInertia6 knInertia6_FromFrame(knFrame B, const knInertia6* inB); // X^T I X
