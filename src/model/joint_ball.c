// BALL (point, spherical): the two joint origins coincide, all turns are free.
//
//   q = quaternion (w, x, y, z) of J          qd = angular velocity relative to the parent, child axes
//   S = (1; 0)                                q <- q exp(h qd)
#include "model/joint_math.h"

static knFrame projectState(const knJoint* joint, knFrame J) {
	(void)joint;
	return knMakeFrame(knZero3(), J.q);
}

static int lockedRows(const knJoint* joint, knFrame J, knTwist rows[6]) {
	(void)joint, (void)J;
	return knAxisRows(KN_ROW_LIN, rows);
}

static void coordinates(const knJoint* joint, knFrame J, const double* previous, double* q) {
	(void)joint;
	knStoreQ(knNearestSign(J.q, knLoadQ(previous)), q);
}

static knFrame transform(const knJoint* joint, const double* q) {
	(void)joint;
	return knMakeFrame(knZero3(), knLoadQ(q));
}

static void subspace(const knJoint* joint, const double* q, knTwist* S) {
	(void)joint, (void)q;
	knAxisRows(KN_ROW_ANG, S);
}

static void integrate(const knJoint* joint, double* q, const double* qd, double h) {
	(void)joint;
	knQuat turn = knQuat_Exp(knScale(h, knV3(qd[0], qd[1], qd[2])));
	knStoreQ(knNormalizeQ(knMulQ(knLoadQ(q), turn)), q);
}

const knJointOps knJointOps_Ball = {
	.name = "ball",
	.synonyms = "point spherical",
	.nq = 4,
	.nv = 3,
	.projectState = projectState,
	.lockedRows = lockedRows,
	.coordinates = coordinates,
	.transform = transform,
	.subspace = subspace,
	.subspaceRate = knJoint_NoSubspaceRate,
	.integrate = integrate,
};
