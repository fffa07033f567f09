// Limits and springs, for every kind of joint.
//
// Kinds whose velocities are the derivatives of their coordinates (nq = nv) are limited coordinate by
// coordinate, with the coordinate's row (joint.h): d/dt room = row . V_P for allowed velocities, + for a
// lower and - for an upper bound. A ball joint is limited by an elliptic or a reach cone and by its twist tau about x;
// d/dt tau = (x + x_c) . w / (1 + x . x_c). Where the limits of tau depend on x_c, their rates are subtracted.
//
// "Closest" for rotations means the largest |dot| of quaternions, as in the joints' projections.
#include "model/joint_cone.h"
#include "model/joint_math.h"
#include "model/joint_parts.h"
#include "model/joint_reach.h"

// beyond this a state counts as outside, so that a projected one counts as inside
#define LIMIT_SLACK 1e-12

static bool hasSimpleCoordinates(const knJoint* joint) {
	return knJointOps_Get(joint->kind)->nq == knJointOps_Get(joint->kind)->nv;
}

void knJoint_InitialCoordinates(const knJoint* joint, knFrame J, double* q) {
	const knJointOps* ops = knJointOps_Get(joint->kind);
	double neutral[KN_JOINT_MAX_Q];
	knJoint_NeutralCoordinates(joint, neutral);
	ops->coordinates(joint, J, neutral, q);
	if (!hasSimpleCoordinates(joint)) {
		return;
	}
	knTwist S[6];
	ops->subspace(joint, q, S);
	for (int i = 0; i < ops->nv; ++i) {
		bool isAngle = knLengthSquared(S[i].ang) > 0.5;
		if (joint->axis[i].limited && isAngle) {
			q[i] = knTurnNearLimits(q[i], joint->axis[i].lower, joint->axis[i].upper);
		}
	}
}

// --- limits as rows --------------------------------------------------------------------------------------

static int addLimit(knJointLimit* limits, int count, knTwist row, double distance, int axis, int side) {
	limits[count] = (knJointLimit){ .row = row, .distance = distance, .axis = axis, .side = side };
	return count + 1;
}

// Lower and upper bound of one quantity with the rows of its rate as seen from them.
static int addBounds(knJointLimit* limits, int count, const knTwist rate[2], const double room[2], bool equal,
					 double margin, int axis) {
	if (equal || room[0] < margin) {
		count = addLimit(limits, count, rate[0], room[0], axis, -1);
	}
	if (equal || room[1] < margin) {
		count = addLimit(limits, count, knScaleT(-1.0, rate[1]), room[1], axis, 1);
	}
	return count;
}

// What the twist may be where the child's x axis points along d.
static knTwistRange twistRange(const knJoint* joint, knVec3 d) {
	if (joint->reachTwisted) {
		return knReachCone_TwistRange(joint, d);
	}
	return (knTwistRange){ .lower = joint->twistLower, .upper = joint->twistUpper };
}

static int ballLimits(const knJoint* joint, knFrame J, double margin, knJointLimit* limits) {
	int count = 0;
	if (!joint->coneLimited && joint->reachCount == 0 && !joint->twistLimited) {
		return 0;
	}
	knSwing swing = knSwing_Split(J.q);
	if (joint->coneLimited && knCone_RoomBound(joint->coneY, joint->coneZ, &swing) < margin) {
		double y, z;
		double room = knCone_Room(joint->coneY, joint->coneZ, &swing, &y, &z);
		if (room < margin) {
			knVec3 outward = knSwing_RateRow(&swing, y, z);
			count = addLimit(limits, count, knMakeTwist(knNeg(outward), knZero3()), room, -1, 0);
		}
	}

	if (joint->reachCount > 0) {
		const knVec3 d = knRotate(J.q, knV3(1.0, 0.0, 0.0));
		knVec3 inward;
		const double room = knReachCone_Room(joint, d, &inward);
		if (room < margin) {
			count = addLimit(limits, count, knMakeTwist(knCross(d, inward), knZero3()), room, -1, 0);
		}
	}

	// the twist has no meaning where the child's x axis points against the parent's
	double cosine = J.q.w * J.q.w + J.q.x * J.q.x;
	if (joint->twistLimited && cosine > 1e-12) {
		knVec3 xc = knRotate(J.q, knV3(1.0, 0.0, 0.0));
		knTwistRange range = twistRange(joint, xc);
		knTwist rate = knMakeTwist(knV3(1.0, xc.y / (2.0 * cosine), xc.z / (2.0 * cosine)), knZero3());
		knTwist rates[2] = { rate, rate };
		if (joint->reachTwisted) {
			rates[0].ang = knSub(rate.ang, knCross(xc, range.slopeLower));
			rates[1].ang = knSub(rate.ang, knCross(xc, range.slopeUpper));
		}
		double tau = knTurnNearLimits(swing.twist, range.lower, range.upper);
		const double room[2] = { tau - range.lower, range.upper - tau };
		count = addBounds(limits, count, rates, room, range.lower == range.upper, margin, -2);
	}
	return count;
}

int knJoint_Limits(const knJoint* joint, knFrame J, const double* q, double margin,
				   knJointLimit limits[KN_JOINT_MAX_LIMITS]) {
	if (joint->kind == KN_JOINT_BALL) {
		return ballLimits(joint, J, margin, limits);
	}
	const int n = hasSimpleCoordinates(joint) ? knJointOps_Get(joint->kind)->nv : 0;
	bool haveRows = false;
	knTwist rows[6];
	int count = 0;
	for (int i = 0; i < n; ++i) {
		const knJointAxis* axis = &joint->axis[i];
		if (!axis->limited) {
			continue;
		}
		if (!haveRows) {
			knJoint_CoordinateRows(joint, J, q, rows);
			haveRows = true;
		}
		const double room[2] = { q[i] - axis->lower, axis->upper - q[i] };
		const knTwist rates[2] = { rows[i], rows[i] };
		count = addBounds(limits, count, rates, room, axis->lower == axis->upper, margin, i);
	}
	return count;
}

// --- the closest frame within the limits -----------------------------------------------------------------

static bool withinCone(const knJoint* joint, knQuat q) {
	if (joint->reachCount > 0) {
		knVec3 inward;
		return knReachCone_Room(joint, knRotate(q, knV3(1.0, 0.0, 0.0)), &inward) >= -LIMIT_SLACK;
	}
	knSwing swing = knSwing_Split(q);
	return !joint->coneLimited || knCone_RoomBound(joint->coneY, joint->coneZ, &swing) >= -LIMIT_SLACK;
}

// Room of the twist in its range, negative outside.
static double twistRoom(const knJoint* joint, knQuat q) {
	knTwistRange range = twistRange(joint, knRotate(q, knV3(1.0, 0.0, 0.0)));
	double tau = knTurnNearLimits(knSwing_Split(q).twist, range.lower, range.upper);
	return knMin(tau - range.lower, range.upper - tau);
}

static bool withinTwist(const knJoint* joint, knQuat q) {
	return !joint->twistLimited || twistRoom(joint, q) >= -LIMIT_SLACK;
}

// Cone alone: the smallest turn that brings the child's x axis to the closest direction on the boundary.
static knQuat closestOnCone(const knJoint* joint, knQuat q) {
	knVec3 xc = knRotate(q, knV3(1.0, 0.0, 0.0));
	if (joint->reachCount > 0) {
		return knMulQ(knQuat_Between(xc, knReachCone_Closest(joint, xc)), q);
	}
	const double r[3] = { xc.x, -xc.z, xc.y };
	double g[3];
	knCone_Closest(joint->coneY, joint->coneZ, 1.0, r, g);
	return knMulQ(knQuat_Between(xc, knV3(g[0], g[2], -g[1])), q);
}

// Given twist: the swing s that maximises s twist . q is q twist^-1 without its x part.
static knQuat swingAtTwist(knQuat q, knQuat twist) {
	knQuat s = knMulQ(q, knConj(twist));
	double n = sqrt(s.w * s.w + s.y * s.y + s.z * s.z);
	double scale = n > 0.0 ? (s.w < 0.0 ? -1.0 / n : 1.0 / n) : 0.0;
	return n > 0.0 ? knQ(scale * s.w, 0.0, scale * s.y, scale * s.z) : knIdentityQ();
}

static knQuat closestAtTwist(const knJoint* joint, knQuat q, double tau) {
	knQuat twist = knTurnAboutX(tau);
	knQuat swing = swingAtTwist(q, twist);
	if (!withinCone(joint, swing) && joint->reachCount > 0) {
		swing = knReachCone_ClosestSwing(joint, swing);
	} else if (!withinCone(joint, swing)) {
		const double r[3] = { swing.w, swing.y, swing.z };
		double g[3];
		knCone_Closest(joint->coneY, joint->coneZ, 0.5, r, g);
		swing = knQ(g[0], 0.0, g[1], g[2]);
	}
	return knMulQ(swing, twist);
}

static knQuat closer(knQuat a, knQuat b, knQuat q) {
	return knAbs(knDotQ(a, q)) > knAbs(knDotQ(b, q)) ? a : b;
}

// Closest on the cone with the twist left out, if that happens to be allowed; else at one end of the twist, or, as a reach
// cone need not be convex, on another side of it.
static knQuat projectBall(const knJoint* joint, knQuat q) {
	bool inCone = withinCone(joint, q);
	if (inCone && withinTwist(joint, q)) {
		return q;
	}
	if (!inCone) {
		knQuat onCone = closestOnCone(joint, q);
		if (withinTwist(joint, onCone)) {
			return onCone;
		}
	}
	if (joint->reachTwisted) {
		return knReachCone_ClosestTwisted(joint, q);
	}
	knQuat lower = closestAtTwist(joint, q, joint->twistLower);
	knQuat upper = closestAtTwist(joint, q, joint->twistUpper);
	knQuat best = closer(lower, upper, q);
	for (int i = 0; !inCone && i < joint->reachCount; ++i) {
		knVec3 xc = knRotate(q, knV3(1.0, 0.0, 0.0));
		knQuat onSide = knMulQ(knQuat_Between(xc, knReachCone_ClosestOnSide(joint, i, xc)), q);
		best = withinTwist(joint, onSide) ? closer(onSide, best, q) : best;
	}
	return best;
}

static double clampAxis(const knJointAxis* axis, double value) {
	return axis->limited ? knClamp(value, axis->lower, axis->upper) : value;
}

// The angle in (-2 pi, 2 pi] of a universal joint that is best when the other one is held.
static double bestOther(knQuat q, int held, double angle) {
	double s, c;
	knSinCos(0.5 * angle, &s, &c);
	double cosine = held == 0 ? c * q.w + s * q.x : c * q.w + s * q.z;
	double sine = held == 0 ? c * q.z - s * q.y : c * q.x - s * q.y;
	return knAngleOfHalf(cosine, sine);
}

// A universal joint's two angles are not independent off the allowed set: with a limit exceeded the closest
// frame lies on an edge of the box of limits, with the other angle at its best. Where turns are counted,
// angles stay in their turn and beyond one end the other is out of the question.
static void clampUniversal(const knJoint* joint, knQuat q, bool counted, double angles[2]) {
	double best = -1.0;
	const double start[2] = { angles[0], angles[1] };
	for (int edge = 0; edge < 4; ++edge) {
		const int held = edge / 2, free = 1 - held;
		const knJointAxis *heldAxis = &joint->axis[held], *freeAxis = &joint->axis[free];
		double bound = edge % 2 == 0 ? heldAxis->lower : heldAxis->upper;
		bool farSide = edge % 2 == 0 ? start[held] > heldAxis->upper : start[held] < heldAxis->lower;
		if (!heldAxis->limited || (counted && farSide)) {
			continue;
		}
		double other = bestOther(q, held, bound);
		if (counted || !freeAxis->limited) {
			other = knNearestTurn(other, start[free]);
		} else {
			other = knTurnNearLimits(other, freeAxis->lower, freeAxis->upper);
		}
		double candidate[2];
		candidate[held] = bound;
		candidate[free] = clampAxis(freeAxis, other);
		double dot = knAbs(knDotQ(knMulQ(knTurnAboutX(candidate[0]), knTurnAboutZ(candidate[1])), q));
		if (dot > best) {
			best = dot;
			angles[0] = candidate[0];
			angles[1] = candidate[1];
		}
	}
}

knFrame knJoint_ProjectLimits(const knJoint* joint, knFrame J, const double* q) {
	const knJointOps* ops = knJointOps_Get(joint->kind);
	if (joint->kind == KN_JOINT_BALL) {
		return knMakeFrame(knZero3(), projectBall(joint, J.q));
	}
	double c[KN_JOINT_MAX_Q];
	bool outside = false;
	if (hasSimpleCoordinates(joint)) {
		if (q != NULL) {
			ops->coordinates(joint, J, q, c);
		} else {
			knJoint_InitialCoordinates(joint, J, c);
		}
		for (int i = 0; i < ops->nv; ++i) {
			outside = outside || clampAxis(&joint->axis[i], c[i]) != c[i];
		}
	}
	if (!outside) {
		return ops->projectState(joint, J);
	}
	if (joint->kind == KN_JOINT_UNIVERSAL) {
		clampUniversal(joint, J.q, q != NULL, c);
	} else {
		for (int i = 0; i < ops->nv; ++i) {
			c[i] = clampAxis(&joint->axis[i], c[i]);
		}
	}
	return ops->transform(joint, c);
}

// --- friction --------------------------------------------------------------------------------------------

bool knJointAxis_HasFriction(const knJointAxis* axis) {
	return axis->friction > 0.0 || axis->bearing > 0.0;
}

knVec3 knJoint_BearingLoad(const knJoint* joint, knTwist along, knVec3 force) {
	const knJointKind kind = joint->kind;
	if (kind != KN_JOINT_HINGE && kind != KN_JOINT_UNIVERSAL && kind != KN_JOINT_CYLINDER) {
		return force; // what slides has no locked direction along its way
	}
	const knVec3 shaft = knLengthSquared(along.ang) > 0.5 ? along.ang : along.lin;
	return knMulAdd(force, -knDot(force, shaft), shaft);
}

// --- springs ---------------------------------------------------------------------------------------------

double knJoint_AxisPosition(const knJoint* joint, const double* q, int axis) {
	KN_ASSERT(axis >= 0 && axis < knJointOps_Get(joint->kind)->nv);
	double rest = joint->axis[axis].rest;
	if (hasSimpleCoordinates(joint)) {
		return q[axis] - rest;
	}
	knFrame J = knJointOps_Get(joint->kind)->transform(joint, q);
	knVec3 position = axis < 3 ? knQuat_Log(J.q) : knInvRotate(J.q, J.p);
	return knComponent(position, axis % 3) - rest;
}

double knJoint_SpringEnergy(const knJoint* joint, const double* q) {
	double energy = 0.0;
	for (int i = 0; i < knJointOps_Get(joint->kind)->nv; ++i) {
		if (joint->axis[i].stiffness > 0.0) {
			double x = knJoint_AxisPosition(joint, q, i);
			energy += 0.5 * joint->axis[i].stiffness * x * x;
		}
	}
	return energy;
}
