// SLIDER (prismatic), SLIDER2, SLIDER3: slides along the first one, two or three axes, no turn.
//
//   q = displacements along x (y, z)          qd = their rates
//   S = (0; x), (0; y), (0; z)                the two frames' axes agree
#include "model/joint_math.h"

static int slideCount(const knJoint* joint) {
	return joint->kind == KN_JOINT_SLIDER ? 1 : (joint->kind == KN_JOINT_SLIDER2 ? 2 : 3);
}

static knFrame projectState(const knJoint* joint, knFrame J) {
	int count = slideCount(joint);
	knVec3 p = knV3(J.p.x, count > 1 ? J.p.y : 0.0, count > 2 ? J.p.z : 0.0);
	return knMakeFrame(p, knIdentityQ());
}

static int lockedRows(const knJoint* joint, knFrame J, knTwist rows[6]) {
	(void)J;
	unsigned locked = KN_ROW_LIN << slideCount(joint) & KN_ROW_LIN;
	return knAxisRows(KN_ROW_ANG | locked, rows);
}

static void coordinates(const knJoint* joint, knFrame J, const double* previous, double* q) {
	(void)previous;
	for (int i = 0; i < slideCount(joint); ++i) {
		q[i] = knComponent(J.p, i);
	}
}

static knFrame transform(const knJoint* joint, const double* q) {
	knFrame J = knIdentityF();
	for (int i = 0; i < slideCount(joint); ++i) {
		knSetComponent(&J.p, i, q[i]);
	}
	return J;
}

static void subspace(const knJoint* joint, const double* q, knTwist* S) {
	(void)q;
	for (int i = 0; i < slideCount(joint); ++i) {
		S[i] = knUnitTwist(3 + i);
	}
}

// The three differ in their number of slides alone.
#define SLIDER_OPS(title, otherNames, count)                                                                 \
	{                                                                                                        \
		.name = (title), .synonyms = (otherNames), .nq = (count), .nv = (count),                             \
		.projectState = projectState, .lockedRows = lockedRows, .coordinates = coordinates,                  \
		.transform = transform, .subspace = subspace, .subspaceRate = knJoint_NoSubspaceRate,                \
		.integrate = knJoint_IntegrateSum,                                                                   \
	}

const knJointOps knJointOps_Slider = SLIDER_OPS("slider", "prismatic slide", 1);
const knJointOps knJointOps_Slider2 = SLIDER_OPS("slider2", "prismatic2", 2);
const knJointOps knJointOps_Slider3 = SLIDER_OPS("slider3", "prismatic3", 3);
