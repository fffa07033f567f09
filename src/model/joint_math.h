// Small pieces that several joints share: counted turns, rotations about one axis, rows along the axes.
#pragma once

#include "model/joint.h"

// Components of a twist as bits: angular x, y, z, then linear x, y, z.
#define KN_ROW_ANG_X 1u
#define KN_ROW_ANG_Y 2u
#define KN_ROW_ANG_Z 4u
#define KN_ROW_LIN_X 8u
#define KN_ROW_LIN_Y 16u
#define KN_ROW_LIN_Z 32u
#define KN_ROW_ANG 7u
#define KN_ROW_LIN 56u

// A rotation whose part about the wanted axis is smaller than this (as cos^2 + sin^2 of the half angle) has
// none.
#define KN_NO_TURN 1e-24

// Unit twist along component 0..5.
static inline knTwist knUnitTwist(int component) {
	knTwist t = knZeroTwist();
	knSetComponent(component < 3 ? &t.ang : &t.lin, component % 3, 1.0);
	return t;
}

// Unit rows along the components in `mask`; returns their number.
static inline int knAxisRows(unsigned mask, knTwist rows[6]) {
	int count = 0;
	for (int i = 0; i < 6; ++i) {
		if (mask >> i & 1u) {
			rows[count++] = knUnitTwist(i);
		}
	}
	return count;
}

// angle + 2 pi k, as near to `previous` as possible.
static inline double knNearestTurn(double angle, double previous) {
	return angle + 2.0 * KN_PI * floor((previous - angle) / (2.0 * KN_PI) + 0.5);
}

// The turn of an angle that lies within [lower, upper], or else the one nearest to it.
static inline double knTurnNearLimits(double angle, double lower, double upper) {
	const double turn = 2.0 * KN_PI;
	if (angle < lower) {
		double above = angle - turn * floor((angle - lower) / turn); // the first that is not below
		double below = above - turn;
		return above <= upper || above - upper < lower - below ? above : below;
	}
	if (angle > upper) {
		double below = angle + turn * floor((upper - angle) / turn);
		double above = below + turn;
		return below >= lower || lower - below < above - upper ? below : above;
	}
	return angle;
}

// Angle in (-2 pi, 2 pi] of the half-angle pair (cosine, sine); 0 where there is no turn.
static inline double knAngleOfHalf(double cosine, double sine) {
	return cosine * cosine + sine * sine < KN_NO_TURN ? 0.0 : 2.0 * knAtan2(sine, cosine);
}

// The closest rotation about x, respectively z; the identity where all are equally close.
static inline knQuat knTwistAboutX(knQuat q) {
	double n = q.w * q.w + q.x * q.x;
	if (n < KN_NO_TURN) {
		return knIdentityQ();
	}
	double s = 1.0 / sqrt(n);
	return knQ(s * q.w, s * q.x, 0.0, 0.0);
}

static inline knQuat knTwistAboutZ(knQuat q) {
	double n = q.w * q.w + q.z * q.z;
	if (n < KN_NO_TURN) {
		return knIdentityQ();
	}
	double s = 1.0 / sqrt(n);
	return knQ(s * q.w, 0.0, 0.0, s * q.z);
}

static inline knQuat knTurnAboutX(double angle) {
	double s, c;
	knSinCos(0.5 * angle, &s, &c);
	return knQ(c, s, 0.0, 0.0);
}

static inline knQuat knTurnAboutZ(double angle) {
	double s, c;
	knSinCos(0.5 * angle, &s, &c);
	return knQ(c, 0.0, 0.0, s);
}

// Quaternions as coordinates (w, x, y, z).
static inline knQuat knLoadQ(const double* q) {
	return knQ(q[0], q[1], q[2], q[3]);
}

static inline void knStoreQ(knQuat value, double* q) {
	q[0] = value.w;
	q[1] = value.x;
	q[2] = value.y;
	q[3] = value.z;
}

// q or -q, whichever is nearer to the previous one: coordinates stay continuous through half turns.
static inline knQuat knNearestSign(knQuat q, knQuat previous) {
	return knDotQ(q, previous) < 0.0 ? knNegQ(q) : q;
}

// S does not depend on q.
knTwist knJoint_NoSubspaceRate(const knJoint* joint, const double* q, const double* qd);
// q += h qd, for joints whose velocities are the derivatives of their coordinates.
void knJoint_IntegrateSum(const knJoint* joint, double* q, const double* qd, double h);

// The rows of the table (joint_table.c).
extern const knJointOps knJointOps_Ball, knJointOps_Hinge, knJointOps_Slider, knJointOps_Slider2,
	knJointOps_Slider3, knJointOps_Universal, knJointOps_Cylinder, knJointOps_Planar, knJointOps_Free,
	knJointOps_Fixed, knJointOps_Custom;
