// FREE: no constraint; coordinates, springs and motors only.
//
//   q = (p of J, quaternion of J)             qd = relative twist (ang, lin) in child axes
//   S = 1                                     quat <- quat exp(h ang), p += h quat[lin]
#include "model/joint_free.h"
#include "model/joint_math.h"

static knFrame projectState(const knJoint* joint, knFrame J) {
	(void)joint;
	return J;
}

static int lockedRows(const knJoint* joint, knFrame J, knTwist rows[6]) {
	(void)joint, (void)J, (void)rows;
	return 0;
}

void knJointFree_Coordinates(const knJoint* joint, knFrame J, const double* previous, double* q) {
	(void)joint;
	knQuat turn = knNearestSign(J.q, knLoadQ(previous + 3));
	q[0] = J.p.x;
	q[1] = J.p.y;
	q[2] = J.p.z;
	knStoreQ(turn, q + 3);
}

knFrame knJointFree_Transform(const knJoint* joint, const double* q) {
	(void)joint;
	return knMakeFrame(knV3(q[0], q[1], q[2]), knLoadQ(q + 3));
}

void knJointFree_Subspace(const knJoint* joint, const double* q, knTwist* S) {
	(void)joint, (void)q;
	knAxisRows(KN_ROW_ANG | KN_ROW_LIN, S);
}

void knJointFree_Integrate(const knJoint* joint, double* q, const double* qd, double h) {
	(void)joint;
	knQuat turn = knLoadQ(q + 3);
	knVec3 step = knRotate(turn, knScale(h, knV3(qd[3], qd[4], qd[5])));
	q[0] += step.x;
	q[1] += step.y;
	q[2] += step.z;
	knStoreQ(knNormalizeQ(knMulQ(turn, knQuat_Exp(knScale(h, knV3(qd[0], qd[1], qd[2]))))), q + 3);
}

const knJointOps knJointOps_Free = {
	.name = "free",
	.synonyms = "floating",
	.nq = 7,
	.nv = 6,
	.projectState = projectState,
	.lockedRows = lockedRows,
	.coordinates = knJointFree_Coordinates,
	.transform = knJointFree_Transform,
	.subspace = knJointFree_Subspace,
	.subspaceRate = knJoint_NoSubspaceRate,
	.integrate = knJointFree_Integrate,
};
