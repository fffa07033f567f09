// The reach cone of a ball joint: a polygon on the unit sphere that the child's x axis may not leave (joint_reach.c).
#pragma once

#include "model/joint.h"

// Are these the corners, unit vectors, of a reach cone? They go once around x, anticlockwise seen from its tip, and every
// side is seen from x.
bool knReachCone_IsSound(const knVec3* corners, int count);
// rad, from a direction to the closest one on the boundary, negative outside; `inward` is the unit tangent at d along which
// the room grows.
double knReachCone_Room(const knJoint* joint, knVec3 d, knVec3* inward);
// The direction on the boundary, or on one side of it, that is closest to d.
knVec3 knReachCone_Closest(const knJoint* joint, knVec3 d);
knVec3 knReachCone_ClosestOnSide(const knJoint* joint, int side, knVec3 d);
// Twist limits at a direction, of joints whose corners have their own; beyond the boundary they are those of the side that the
// way from x to d crosses. The slopes are tangents at d, by which the limits grow.
typedef struct knTwistRange {
	double lower, upper;
	knVec3 slopeLower, slopeUpper;
} knTwistRange;
knTwistRange knReachCone_TwistRange(const knJoint* joint, knVec3 d);
// For these joints, the closest rotation within cone and twist limits to one that is outside.
knQuat knReachCone_ClosestTwisted(const knJoint* joint, knQuat q);
// The swing to a direction on the boundary that is closest to a given swing as a quaternion.
knQuat knReachCone_ClosestSwing(const knJoint* joint, knQuat swing);
