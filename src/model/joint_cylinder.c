// CYLINDER (cylindrical): a slide along x and a turn about x.
//
//   q = (displacement, angle), the angle counting turns        qd = their rates
//   S = (0; x), (x; 0)
#include "model/joint_math.h"

static knFrame projectState(const knJoint* joint, knFrame J) {
	(void)joint;
	return knMakeFrame(knV3(J.p.x, 0.0, 0.0), knTwistAboutX(J.q));
}

static int lockedRows(const knJoint* joint, knFrame J, knTwist rows[6]) {
	(void)joint, (void)J;
	return knAxisRows(KN_ROW_LIN_Y | KN_ROW_LIN_Z | KN_ROW_ANG_Y | KN_ROW_ANG_Z, rows);
}

static void coordinates(const knJoint* joint, knFrame J, const double* previous, double* q) {
	(void)joint;
	q[0] = J.p.x;
	q[1] = knNearestTurn(knAngleOfHalf(J.q.w, J.q.x), previous[1]);
}

static knFrame transform(const knJoint* joint, const double* q) {
	(void)joint;
	return knMakeFrame(knV3(q[0], 0.0, 0.0), knTurnAboutX(q[1]));
}

static void subspace(const knJoint* joint, const double* q, knTwist* S) {
	(void)joint, (void)q;
	S[0] = knUnitTwist(3);
	S[1] = knUnitTwist(0);
}

const knJointOps knJointOps_Cylinder = {
	.name = "cylinder",
	.synonyms = "cylindrical",
	.nq = 2,
	.nv = 2,
	.projectState = projectState,
	.lockedRows = lockedRows,
	.coordinates = coordinates,
	.transform = transform,
	.subspace = subspace,
	.subspaceRate = knJoint_NoSubspaceRate,
	.integrate = knJoint_IntegrateSum,
};
