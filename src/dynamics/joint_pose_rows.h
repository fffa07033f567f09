// The rows of a joint at given poses of its bodies: locked directions and limits, as wrenches on the two bodies, with what is
// wrong with them. For problems over velocities or displacements at one pose.
#pragma once

#include "model/joint_parts.h"
#include "solve/body_matrix.h"

typedef struct knPoseRow {
	knBodyRow row; // on parent and child, about their centres, world axes
	double error;  // m or rad: of a locked direction; of a limit the room left, negative beyond it
	bool limit;
	int part; // of a limit: which one (axis and side), the same from pose to pose
} knPoseRow;

#define KN_POSE_ROWS (6 + KN_JOINT_MAX_LIMITS)

// Limits with less room than `margin` (m or rad); q are the joint's coordinates, by which turns are counted.
int knJointPoseRows_List(const knJoint* joint, knFrame poseParent, knFrame poseChild, const double* q,
						 double margin, knPoseRow rows[KN_POSE_ROWS]);
// m or rad, the worst error of a locked direction, and how far a limit is exceeded.
double knJointPoseRows_Worst(const knPoseRow* rows, int count);
