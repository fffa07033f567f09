// Key frames: which poses of a track an animation needs.
#pragma once

#include "knuckle/vecmath.h"

// A pose as a .glb holds it.
typedef struct knGlbPose {
	float position[3];
	int16_t rotation[4]; // x, y, z, w; 32767 is 1
} knGlbPose;

typedef struct knGlbCurve {
	int count;
	const knGlbPose* poses; // [count]
	const float* times;     // [count], increasing
} knGlbCurve;

// `near` is the pose before, or NULL: of the two quaternions of a rotation the nearer one is taken.
knGlbPose knGlbPose_Make(knVec3 position, knQuat rotation, const knGlbPose* near);
knQuat knGlbPose_Rotation(const knGlbPose* pose);

// Indices of the poses to keep, in `keys` [count], and how many: the others follow from them by linear
// interpolation (of rotations also by slerp) within `tolerance`, m or rad. 0 if it never moves at all; what moves by
// less than the tolerance still ends where it ended.
int knGlbCurve_PositionKeys(const knGlbCurve* curve, double tolerance, int* keys);
int knGlbCurve_RotationKeys(const knGlbCurve* curve, double tolerance, int* keys);
