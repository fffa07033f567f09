// UNIVERSAL: the origins coincide, a turn by a about the parent's x, then by b about the child's z.
//
//   q = (a, b), counting turns                V_C = R_z(-b)[x] a' + z b', so S depends on b
//   q_J = exp(a x) exp(b z) = (ca cb, sa cb, -sa sb, ca sb), c and s of half angles
//
// Projection: q_J . q is u^T M v with u = (ca, sa), v = (cb, sb), M = [w z; x -y]. It is largest for the top
// singular vectors of M: u is the top eigenvector of N = M M^T, whose angle is half that of
// (N11 - N22, 2 N12), and v = M^T u / |M^T u|.
#include "model/joint_math.h"

// (cos, sin) of half the angle of the vector (x, y), without trigonometry; the cosine is not negative.
static void halveAngle(double x, double y, double* c, double* s) {
	double r = sqrt(x * x + y * y);
	if (r == 0.0) {
		*c = 1.0;
		*s = 0.0;
	} else if (x >= 0.0) {
		*c = sqrt(0.5 * (1.0 + x / r));
		*s = 0.5 * y / r / *c;
	} else {
		double sine = sqrt(0.5 * (1.0 - x / r));
		*c = 0.5 * knAbs(y) / r / sine;
		*s = y < 0.0 ? -sine : sine;
	}
}

// Half-angle pairs of the closest allowed rotation.
static void bestFit(knQuat q, double* ca, double* sa, double* cb, double* sb) {
	double n11 = q.w * q.w + q.z * q.z, n22 = q.x * q.x + q.y * q.y, n12 = q.w * q.x - q.z * q.y;
	halveAngle(n11 - n22, 2.0 * n12, ca, sa);
	double c = *ca * q.w + *sa * q.x, s = *ca * q.z - *sa * q.y;
	double scale = 1.0 / sqrt(c * c + s * s);
	*cb = scale * c;
	*sb = scale * s;
}

static knFrame projectState(const knJoint* joint, knFrame J) {
	(void)joint;
	double ca, sa, cb, sb;
	bestFit(J.q, &ca, &sa, &cb, &sb);
	return knMakeFrame(knZero3(), knQ(ca * cb, sa * cb, -sa * sb, ca * sb));
}

static int lockedRows(const knJoint* joint, knFrame J, knTwist rows[6]) {
	const knVec3 x = { 1.0, 0.0, 0.0 }, z = { 0.0, 0.0, 1.0 };
	knVec3 locked = knCross(x, knRotate(J.q, z));
	// the two axes coincide only far from any allowed state: take the closest one's
	if (knLengthSquared(locked) < 1e-12) {
		locked = knCross(x, knRotate(projectState(joint, J).q, z));
	}
	int count = knAxisRows(KN_ROW_LIN, rows);
	rows[count] = knMakeTwist(knNormalize(locked), knZero3());
	return count + 1;
}

static void coordinates(const knJoint* joint, knFrame J, const double* previous, double* q) {
	(void)joint;
	double ca, sa, cb, sb;
	bestFit(J.q, &ca, &sa, &cb, &sb);
	q[0] = knNearestTurn(knAngleOfHalf(ca, sa), previous[0]);
	q[1] = knNearestTurn(knAngleOfHalf(cb, sb), previous[1]);
}

static knFrame transform(const knJoint* joint, const double* q) {
	(void)joint;
	return knMakeFrame(knZero3(), knMulQ(knTurnAboutX(q[0]), knTurnAboutZ(q[1])));
}

static void subspace(const knJoint* joint, const double* q, knTwist* S) {
	(void)joint;
	double s, c;
	knSinCos(q[1], &s, &c);
	S[0] = knMakeTwist(knV3(c, -s, 0.0), knZero3());
	S[1] = knUnitTwist(2);
}

static knTwist subspaceRate(const knJoint* joint, const double* q, const double* qd) {
	(void)joint;
	double s, c;
	knSinCos(q[1], &s, &c);
	return knMakeTwist(knScale(qd[0] * qd[1], knV3(-s, -c, 0.0)), knZero3());
}

const knJointOps knJointOps_Universal = {
	.name = "universal",
	.synonyms = "cardan",
	.nq = 2,
	.nv = 2,
	.projectState = projectState,
	.lockedRows = lockedRows,
	.coordinates = coordinates,
	.transform = transform,
	.subspace = subspace,
	.subspaceRate = subspaceRate,
	.integrate = knJoint_IntegrateSum,
};
