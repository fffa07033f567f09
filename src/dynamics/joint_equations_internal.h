// What the files of a joint's equations share: joint_equations.c (locked rows) and joint_equation_axes.c (rows with a law).
#pragma once

#include "dynamics/joint_equations.h"

// The ends of a joint's vectors.
typedef struct knJointEnds {
	knVec3 rP, rC, sP; // end
	knVec3 mP, mC, mS; // mean
} knJointEnds;

// (moment, force) at an arm's end, seen from the centre.
static inline knTwist knAtCenter(knTwist t, knVec3 arm) {
	return knMakeTwist(knAdd(t.ang, knCross(arm, t.lin)), t.lin);
}

static inline void knSetRow(knTwist along, knVec3 armP, knVec3 armC, knTwist* onP, knTwist* onC) {
	*onC = knAtCenter(along, armC);
	*onP = knScaleT(-1.0, knAtCenter(along, armP));
}

static inline knVec3 knMix(knVec3 start, knVec3 end, double share) {
	return knMulAdd(knScale(1.0 - share, start), share, end);
}

static inline knTwist knMixT(knTwist start, knTwist end, double share) {
	return knMakeTwist(knMix(start.ang, end.ang, share), knMix(start.lin, end.lin, share));
}

// --- joint_equation_axes.c ---

// Whether velocity coordinate `axis` has a row.
bool knJointAxes_HasLaw(const knJoint* joint, const knJointState* state, int axis);
// Rows and laws at the start of a span.
void knJointAxes_Begin(knEquationJoint* joint, const knEquationBody* bodies, const knSpan* span);
void knJointAxes_Evaluate(knEquationJoint* joint, const knEquationBody* bodies, const knJointEnds* ends,
						  const knSpan* span);
