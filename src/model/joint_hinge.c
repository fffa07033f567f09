// HINGE (twist, revolute): the origins coincide, the child turns about the common x axis.
//
//   q = angle, counting turns                 qd = its rate
//   S = (x; 0)
#include "model/joint_math.h"

static knFrame projectState(const knJoint* joint, knFrame J) {
	(void)joint;
	return knMakeFrame(knZero3(), knTwistAboutX(J.q));
}

static int lockedRows(const knJoint* joint, knFrame J, knTwist rows[6]) {
	(void)joint, (void)J;
	return knAxisRows(KN_ROW_LIN | KN_ROW_ANG_Y | KN_ROW_ANG_Z, rows);
}

static void coordinates(const knJoint* joint, knFrame J, const double* previous, double* q) {
	(void)joint;
	q[0] = knNearestTurn(knAngleOfHalf(J.q.w, J.q.x), previous[0]);
}

static knFrame transform(const knJoint* joint, const double* q) {
	(void)joint;
	return knMakeFrame(knZero3(), knTurnAboutX(q[0]));
}

static void subspace(const knJoint* joint, const double* q, knTwist* S) {
	(void)joint, (void)q;
	knAxisRows(KN_ROW_ANG_X, S);
}

const knJointOps knJointOps_Hinge = {
	.name = "hinge",
	.synonyms = "twist revolute",
	.nq = 1,
	.nv = 1,
	.projectState = projectState,
	.lockedRows = lockedRows,
	.coordinates = coordinates,
	.transform = transform,
	.subspace = subspace,
	.subspaceRate = knJoint_NoSubspaceRate,
	.integrate = knJoint_IntegrateSum,
};
