// Random joints and joint states, for the tests of both sides of a joint.
#pragma once

#include "support/kn_test.h"

#include "model/joint.h"

// The kinds with both sides of their own; CUSTOM has a file to itself.
static const knJointKind testKinds[] = {
	KN_JOINT_BALL,      KN_JOINT_HINGE,    KN_JOINT_SLIDER, KN_JOINT_SLIDER2, KN_JOINT_SLIDER3,
	KN_JOINT_UNIVERSAL, KN_JOINT_CYLINDER, KN_JOINT_PLANAR, KN_JOINT_FREE,    KN_JOINT_FIXED,
};
#define TEST_KIND_COUNT ((int)(sizeof(testKinds) / sizeof(testKinds[0])))

static inline knJoint testJoint(knJointKind kind) {
	knJoint joint = { .kind = kind,
					  .child = 1,
					  .frameParent = knIdentityF(),
					  .frameChild = knIdentityF(),
					  .nq = knJointOps_Get(kind)->nq,
					  .nv = knJointOps_Get(kind)->nv };
	return joint;
}

// Coordinates of a random allowed state.
static inline void testCoordinates(const knJoint* joint, knTestRandom* random, double* q) {
	for (int i = 0; i < joint->nq; ++i) {
		q[i] = testUniform(random, -3.0, 3.0);
	}
	if (joint->kind == KN_JOINT_BALL || joint->kind == KN_JOINT_FREE) {
		knQuat turn = testQuat(random);
		double* w = q + joint->nq - 4;
		w[0] = turn.w, w[1] = turn.x, w[2] = turn.y, w[3] = turn.z;
	}
}

// dq/dt for velocities qd, written out independently of the ops.
static inline void testCoordinateRate(const knJoint* joint, const double* q, const double* qd, double* rate) {
	if (joint->kind != KN_JOINT_BALL && joint->kind != KN_JOINT_FREE) {
		memcpy(rate, qd, sizeof(double) * (size_t)joint->nv);
		return;
	}
	const double* w = q + joint->nq - 4;
	knQuat turn = knQ(w[0], w[1], w[2], w[3]);
	knQuat d = knMulQ(turn, knQ(0.0, 0.5 * qd[0], 0.5 * qd[1], 0.5 * qd[2]));
	double* out = rate + joint->nq - 4;
	out[0] = d.w, out[1] = d.x, out[2] = d.y, out[3] = d.z;
	if (joint->kind == KN_JOINT_FREE) {
		knVec3 v = knRotate(turn, knV3(qd[3], qd[4], qd[5]));
		rate[0] = v.x, rate[1] = v.y, rate[2] = v.z;
	}
}

static inline void testVelocities(const knJoint* joint, knTestRandom* random, double* qd) {
	for (int i = 0; i < joint->nv; ++i) {
		qd[i] = testUniform(random, -2.0, 2.0);
	}
}

// V_P between two frames h apart in time.
static inline knTwist testFrameRate(knFrame before, knFrame after, double h) {
	knVec3 ang = knScale(1.0 / h, knQuat_Log(knMulQ(after.q, knConj(before.q))));
	return knMakeTwist(ang, knScale(1.0 / h, knSub(after.p, before.p)));
}

static inline knTwist testSumColumns(const knTwist* S, const double* qd, int count) {
	knTwist V = knZeroTwist();
	for (int i = 0; i < count; ++i) {
		V = knMulAddT(V, qd[i], S[i]);
	}
	return V;
}

static inline double testTwistLength(knTwist t) {
	return sqrt(knDotT(t, t));
}

// Rotation between two quaternions, rad.
static inline double testAngleBetween(knQuat a, knQuat b) {
	return knLength(knQuat_Log(knMulQ(a, knConj(b))));
}
