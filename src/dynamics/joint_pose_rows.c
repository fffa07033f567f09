// A row r of a joint acts along the axes of its parent's joint frame, at the child's joint origin (the anchor). In world axes
// (a, l), with arms r_p, r_c from the centres to the anchor,
//
//   J = [ -(a + r_p x l), -l, (a + r_c x l), l ]
//
// Parent and child get opposite wrenches at one common point, so that momentum is kept to round-off.

#include "dynamics/joint_pose_rows.h"

static void setWrench(double* to, double sign, knTwist world, knVec3 arm) {
	knVec3 moment = knAdd(world.ang, knCross(arm, world.lin));
	to[0] = sign * moment.x;
	to[1] = sign * moment.y;
	to[2] = sign * moment.z;
	to[3] = sign * world.lin.x;
	to[4] = sign * world.lin.y;
	to[5] = sign * world.lin.z;
}

// The frames of a joint at the poses at hand.
typedef struct Place {
	knQuat axes;   // the parent's joint frame in the world
	knVec3 rP, rC; // from the centres to the anchor
} Place;

static void setRow(knPoseRow* to, const Place* place, knTwist along, double error) {
	knTwist world = knRotateT(place->axes, along);
	setWrench(to->row.a, -1.0, world, place->rP);
	setWrench(to->row.b, 1.0, world, place->rC);
	to->error = error;
	to->limit = false;
	to->part = 0;
}

int knJointPoseRows_List(const knJoint* joint, knFrame poseParent, knFrame poseChild, const double* q,
						 double margin, knPoseRow rows[KN_POSE_ROWS]) {
	const knJointOps* ops = knJointOps_Get(joint->kind);
	knVec3 anchor = knPoint(poseChild, joint->frameChild.p);
	Place place = { .axes = knMulQ(poseParent.q, joint->frameParent.q),
					.rP = knSub(anchor, poseParent.p),
					.rC = knSub(anchor, poseChild.p) };
	knFrame J = knJoint_Frame(joint, poseParent, poseChild);

	// locked directions
	knTwist locked[6];
	int count = ops->lockedRows(joint, J, locked);
	knTwist error = knJoint_ErrorTwist(J, ops->projectState(joint, J));
	for (int i = 0; i < count; ++i) {
		setRow(&rows[i], &place, locked[i], knDotT(locked[i], error));
	}

	// limits, at the coordinates of this pose
	double now[KN_JOINT_MAX_Q];
	ops->coordinates(joint, J, q, now);
	knJointLimit limits[KN_JOINT_MAX_LIMITS];
	int limitCount = knJoint_Limits(joint, J, now, margin, limits);
	for (int i = 0; i < limitCount; ++i) {
		setRow(&rows[count], &place, limits[i].row, limits[i].distance);
		rows[count].limit = true;
		rows[count++].part = 3 * (limits[i].axis + 2) + limits[i].side + 1;
	}
	return count;
}

double knJointPoseRows_Worst(const knPoseRow* rows, int count) {
	double worst = 0.0;
	for (int i = 0; i < count; ++i) {
		worst = knMax(worst, rows[i].limit ? -rows[i].error : knAbs(rows[i].error));
	}
	return worst;
}
