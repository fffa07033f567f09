// FIXED (rigid, weld): the two joint frames coincide. No coordinates.
#include "model/joint_math.h"

static knFrame projectState(const knJoint* joint, knFrame J) {
	(void)joint, (void)J;
	return knIdentityF();
}

static int lockedRows(const knJoint* joint, knFrame J, knTwist rows[6]) {
	(void)joint, (void)J;
	return knAxisRows(KN_ROW_ANG | KN_ROW_LIN, rows);
}

static void coordinates(const knJoint* joint, knFrame J, const double* previous, double* q) {
	(void)joint, (void)J, (void)previous, (void)q;
}

static knFrame transform(const knJoint* joint, const double* q) {
	(void)joint, (void)q;
	return knIdentityF();
}

static void subspace(const knJoint* joint, const double* q, knTwist* S) {
	(void)joint, (void)q, (void)S;
}

const knJointOps knJointOps_Fixed = {
	.name = "fixed",
	.synonyms = "rigid weld",
	.nq = 0,
	.nv = 0,
	.projectState = projectState,
	.lockedRows = lockedRows,
	.coordinates = coordinates,
	.transform = transform,
	.subspace = subspace,
	.subspaceRate = knJoint_NoSubspaceRate,
	.integrate = knJoint_IntegrateSum,
};
