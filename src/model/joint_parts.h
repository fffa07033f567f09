// Parts that any joint takes: limits, friction, damping, motors, springs. Described as what they ask of the
// joint's coordinates; steppers turn them into rows, impulses or torques.
#pragma once

#include "model/joint.h"

// A limit that is exceeded, or nearly so: the row w (parent joint frame's axes) along which w . V_P must not
// fall below zero when distance <= 0; `distance` is the room left (m or rad), negative beyond the limit.
typedef struct knJointLimit {
	knTwist row;
	double distance;
	int axis; // velocity coordinate, or -1 for the cone, -2 for twist
	int side; // -1 lower, +1 upper, 0 cone
} knJointLimit;

#define KN_JOINT_MAX_LIMITS 8

// All limits with less room than `margin`; returns how many. Equal bounds (lower == upper) give two opposed
// entries.
int knJoint_Limits(const knJoint* joint, knFrame J, const double* q, double margin,
				   knJointLimit limits[KN_JOINT_MAX_LIMITS]);

// The closest frame that also respects the limits: what joint error is measured against, and the target of
// pre-stabilization. `q` are the coordinates at J (for counted turns); may be NULL.
knFrame knJoint_ProjectLimits(const knJoint* joint, knFrame J, const double* q);

// Whether an axis has dry friction, and what of a force of the locked directions loads its bearing: of a shaft the part across
// it. `along` is the axis's coordinate row; all in the parent joint frame's axes.
bool knJointAxis_HasFriction(const knJointAxis* axis);
knVec3 knJoint_BearingLoad(const knJoint* joint, knTwist along, knVec3 force);

// Potential energy of the joint's springs at coordinates q.
double knJoint_SpringEnergy(const knJoint* joint, const double* q);
// Displacement of velocity coordinate i from the spring's rest, x - axis[i].rest (a servo adds `rest` back).
// A ball's or free joint's rotation counts as its rotation vector in the child's axes, a free joint's
// displacement in those too.
double knJoint_AxisPosition(const knJoint* joint, const double* q, int axis);
// Coordinates at J when nothing is known of earlier turns: an angle takes the turn that lies within its
// limits, or else nearest to them; without limits the one in (-pi, pi].
void knJoint_InitialCoordinates(const knJoint* joint, knFrame J, double* q);
