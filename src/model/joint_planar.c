// PLANAR (fridge magnet): slides along the parent's x and y and a turn about z.
//
//   q = (x, y, angle), the angle counting turns               qd = their rates
//   V_C = R_z(-angle)[x', y', 0] + z angle'                   S depends on the angle
#include "model/joint_math.h"

static knFrame projectState(const knJoint* joint, knFrame J) {
	(void)joint;
	return knMakeFrame(knV3(J.p.x, J.p.y, 0.0), knTwistAboutZ(J.q));
}

static int lockedRows(const knJoint* joint, knFrame J, knTwist rows[6]) {
	(void)joint, (void)J;
	return knAxisRows(KN_ROW_LIN_Z | KN_ROW_ANG_X | KN_ROW_ANG_Y, rows);
}

static void coordinates(const knJoint* joint, knFrame J, const double* previous, double* q) {
	(void)joint;
	q[0] = J.p.x;
	q[1] = J.p.y;
	q[2] = knNearestTurn(knAngleOfHalf(J.q.w, J.q.z), previous[2]);
}

static knFrame transform(const knJoint* joint, const double* q) {
	(void)joint;
	return knMakeFrame(knV3(q[0], q[1], 0.0), knTurnAboutZ(q[2]));
}

static void subspace(const knJoint* joint, const double* q, knTwist* S) {
	(void)joint;
	double s, c;
	knSinCos(q[2], &s, &c);
	S[0] = knMakeTwist(knZero3(), knV3(c, -s, 0.0));
	S[1] = knMakeTwist(knZero3(), knV3(s, c, 0.0));
	S[2] = knUnitTwist(2);
}

static knTwist subspaceRate(const knJoint* joint, const double* q, const double* qd) {
	(void)joint;
	double s, c;
	knSinCos(q[2], &s, &c);
	knVec3 rate = knAdd(knScale(qd[0], knV3(-s, -c, 0.0)), knScale(qd[1], knV3(c, -s, 0.0)));
	return knMakeTwist(knZero3(), knScale(qd[2], rate));
}

const knJointOps knJointOps_Planar = {
	.name = "planar",
	.synonyms = "magnet",
	.nq = 3,
	.nv = 3,
	.projectState = projectState,
	.lockedRows = lockedRows,
	.coordinates = coordinates,
	.transform = transform,
	.subspace = subspace,
	.subspaceRate = subspaceRate,
	.integrate = knJoint_IntegrateSum,
};
