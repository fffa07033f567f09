// What every kind of joint can do, built on the table.
#include "core/dense.h"
#include "model/joint_math.h"

knFrame knJoint_Frame(const knJoint* joint, knFrame poseParent, knFrame poseChild) {
	return knInvMulF(knMulF(poseParent, joint->frameParent), knMulF(poseChild, joint->frameChild));
}

knTwist knJoint_RelativeTwist(const knJoint* joint, knFrame poseParent, knTwist velParent, knFrame poseChild,
							  knTwist velChild) {
	// both bodies' material points at the child's joint origin
	knVec3 armChild = knRotate(poseChild.q, joint->frameChild.p);
	knVec3 armParent = knAdd(knSub(poseChild.p, poseParent.p), armChild);
	knVec3 ofChild = knAdd(velChild.lin, knCross(velChild.ang, armChild));
	knVec3 ofParent = knAdd(velParent.lin, knCross(velParent.ang, armParent));
	knTwist world = knMakeTwist(knSub(velChild.ang, velParent.ang), knSub(ofChild, ofParent));
	return knInvRotateT(knMulQ(poseParent.q, joint->frameParent.q), world);
}

knTwist knJoint_ProjectVelocity(const knJoint* joint, knFrame J, knTwist V) {
	if (joint->kind == KN_JOINT_CUSTOM) {
		return joint->custom.projectVelocity(J, V, joint->custom.context);
	}
	knTwist rows[6];
	int count = knJointOps_Get(joint->kind)->lockedRows(joint, J, rows);
	for (int i = 0; i < count; ++i) {
		V = knMulAddT(V, -knDotT(rows[i], V), rows[i]);
	}
	return V;
}

knTwist knJoint_ErrorTwist(knFrame J, knFrame allowed) {
	return knMakeTwist(knQuat_Log(knMulQ(J.q, knConj(allowed.q))), knSub(J.p, allowed.p));
}

// The products of a joint's directions; true: they are orthonormal, to the last digit.
static bool findGram(const knTwist* S, int n, double* gram) {
	bool orthonormal = true;
	for (int i = 0; i < n; ++i) {
		for (int k = 0; k <= i; ++k) {
			gram[n * i + k] = gram[n * k + i] = knDotT(S[i], S[k]);
			orthonormal = orthonormal && gram[n * i + k] == (i == k ? 1.0 : 0.0);
		}
	}
	return orthonormal;
}

void knJoint_CoordinateRows(const knJoint* joint, knFrame J, const double* q, knTwist rows[6]) {
	const knJointOps* ops = knJointOps_Get(joint->kind);
	const int n = ops->nv;
	knTwist S[6];
	ops->subspace(joint, q, S);

	// columns of S (S^T S)^-1, in the parent's axes
	double gram[36];
	const bool orthonormal = findGram(S, n, gram);
	bool regular = orthonormal || knDense_FactorLdl(gram, n);
	// directions depend on each other only where coordinates are no numbers: after an absurd velocity, for which the step
	// ends with KN_DIVERGED
	KN_ASSERT(regular || !knIsFinite(q[0] + q[n - 1]));
	for (int i = 0; i < n; ++i) {
		double weight[6] = { 0.0 };
		weight[i] = 1.0;
		knTwist row = S[i];
		if (regular && !orthonormal) {
			knDense_SolveLdl(gram, n, weight);
			row = knZeroTwist();
			for (int k = 0; k < n; ++k) {
				row = knMulAddT(row, weight[k], S[k]);
			}
		}
		rows[i] = knRotateT(J.q, row);
	}
}

void knJoint_Velocities(const knJoint* joint, knFrame J, const double* q, knTwist V, double* qd) {
	knTwist rows[6];
	knJoint_CoordinateRows(joint, J, q, rows);
	for (int i = 0; i < knJointOps_Get(joint->kind)->nv; ++i) {
		qd[i] = knDotT(rows[i], V);
	}
}

void knJoint_NeutralCoordinates(const knJoint* joint, double* q) {
	const knJointOps* ops = knJointOps_Get(joint->kind);
	double previous[KN_JOINT_MAX_Q] = { 0.0 };
	ops->coordinates(joint, knIdentityF(), previous, q);
}

knTwist knJoint_NoSubspaceRate(const knJoint* joint, const double* q, const double* qd) {
	(void)joint, (void)q, (void)qd;
	return knZeroTwist();
}

void knJoint_IntegrateSum(const knJoint* joint, double* q, const double* qd, double h) {
	for (int i = 0; i < knJointOps_Get(joint->kind)->nq; ++i) {
		q[i] += h * qd[i];
	}
}
