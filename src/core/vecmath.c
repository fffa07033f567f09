// Quaternions, rotation vectors, 3x3 matrices: what is too long to be inline. All functions are defined for
// the awkward arguments too: no rotation, half turns, opposite vectors, equal eigenvalues.
#include "knuckle/vecmath.h"

knVec3 knAnyOrthogonal(knVec3 n) {
	// the frame that turns z into n without twist (Frisvad 2012); close to -z the one that turns -z into n
	double s = n.z < -0.9 ? -1.0 : 1.0;
	double a = 1.0 / (s + n.z);
	knVec3 t = knV3(1.0 - s * n.x * n.x * a, -s * n.x * n.y * a, -s * n.x);
	// the quotient lost up to three bits; one more projection gives them back
	return knNormalize(knMulAdd(t, -knDot(n, t), n));
}

// --- quaternions -----------------------------------------------------------------------------------------

knQuat knQuat_FromAxisAngle(knVec3 axis, double angle) {
	double s, c;
	knSinCos(0.5 * angle, &s, &c);
	return knQ(c, s * axis.x, s * axis.y, s * axis.z);
}

knQuat knQuat_Between(knVec3 from, knVec3 to) {
	double c = knDot(from, to);
	knVec3 n = knCross(from, to);
	if (c >= 0.0) {
		return knNormalizeQ(knQ(1.0 + c, n.x, n.y, n.z));
	}

	// beyond a right angle: first to the opposite of `to`, a short and well-conditioned way, then half a turn
	knQuat near = knNormalizeQ(knQ(1.0 - c, -n.x, -n.y, -n.z));
	knVec3 axis = knAnyOrthogonal(to);
	double length = knLength(n);
	if (length > 1e-12) {
		knVec3 u = knScale(1.0 / length, n);
		axis = knNormalize(knMulAdd(u, -knDot(u, to), to));
	}
	return knMulQ(knQ(0.0, axis.x, axis.y, axis.z), near);
}

knQuat knQuat_Exp(knVec3 w) {
	double square = knLengthSquared(w);
	double s, c; // sin(|w|/2) / |w| and cos(|w|/2)
	if (square < 1e-4) {
		s = 0.5 + square * (-1.0 / 48.0 + square * (1.0 / 3840.0));
		c = 1.0 + square * (-1.0 / 8.0 + square * (1.0 / 384.0));
	} else {
		double angle = sqrt(square);
		knSinCos(0.5 * angle, &s, &c);
		s /= angle;
	}
	return knQ(c, s * w.x, s * w.y, s * w.z);
}

knVec3 knQuat_Log(knQuat q) {
	if (q.w < 0.0) {
		q = knNegQ(q);
	}
	knVec3 v = knVecPart(q);
	double square = knLengthSquared(v);
	double ratio; // angle / |v|
	if (square < 1e-6 * q.w * q.w) {
		// 2 atan(t) / |v| with t = |v| / w
		double t2 = square / (q.w * q.w);
		ratio = 2.0 / q.w * (1.0 + t2 * (-1.0 / 3.0 + t2 * (1.0 / 5.0)));
	} else {
		double length = sqrt(square);
		ratio = length > 0.0 ? 2.0 * knAtan2(length, q.w) / length : 0.0;
	}
	return knScale(ratio, v);
}

knMat33 knQuat_ToMat33(knQuat q) {
	double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
	double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
	double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
	return knMakeMat33(knV3(1.0 - 2.0 * (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy)),
					   knV3(2.0 * (xy - wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + wx)),
					   knV3(2.0 * (xz + wy), 2.0 * (yz - wx), 1.0 - 2.0 * (xx + yy)));
}

knQuat knQuat_FromMat33(const knMat33* m) {
	// the largest component comes from the diagonal, the others from sums and differences divided by it
	// (Shepperd)
	double xx = m->cx.x, yy = m->cy.y, zz = m->cz.z;
	double wx = m->cy.z - m->cz.y, wy = m->cz.x - m->cx.z, wz = m->cx.y - m->cy.x;
	double xy = m->cx.y + m->cy.x, xz = m->cz.x + m->cx.z, yz = m->cy.z + m->cz.y;
	if (xx + yy + zz >= 0.0) {
		return knNormalizeQ(knQ(1.0 + xx + yy + zz, wx, wy, wz));
	}
	if (xx >= yy && xx >= zz) {
		return knNormalizeQ(knQ(wx, 1.0 + xx - yy - zz, xy, xz));
	}
	if (yy >= zz) {
		return knNormalizeQ(knQ(wy, xy, 1.0 + yy - xx - zz, yz));
	}
	return knNormalizeQ(knQ(wz, xz, yz, 1.0 + zz - xx - yy));
}

// --- 3x3 matrices ----------------------------------------------------------------------------------------

knMat33 knInverse33(const knMat33* m) {
	// the rows of the inverse are these cross products over the determinant
	knVec3 rx = knCross(m->cy, m->cz), ry = knCross(m->cz, m->cx), rz = knCross(m->cx, m->cy);
	double determinant = knDot(m->cx, rx);
	if (determinant == 0.0) {
		return knDiagonal33(0.0, 0.0, 0.0);
	}
	double s = 1.0 / determinant;
	knMat33 rows = knMakeMat33(knScale(s, rx), knScale(s, ry), knScale(s, rz));
	return knTranspose33(&rows);
}

knMat33 knRotateTensor(knQuat q, const knMat33* m) {
	knMat33 R = knQuat_ToMat33(q);
	knMat33 RT = knTranspose33(&R);
	knMat33 RM = knMulMM(&R, m);
	return knMulMM(&RM, &RT);
}

// One Jacobi rotation in the plane of axes i < j: A becomes J^T A J with a zero at (i, j), V becomes V J.
static void jacobiRotate(double A[3][3], knVec3 V[3], int i, int j) {
	if (A[i][j] == 0.0) {
		return;
	}
	// the smaller root of t^2 + 2 theta t - 1 = 0 turns by at most pi/4; an infinite theta gives t = 0
	double theta = (A[j][j] - A[i][i]) / (2.0 * A[i][j]);
	double t = 1.0 / (fabs(theta) + sqrt(theta * theta + 1.0));
	t = theta < 0.0 ? -t : t;
	double c = 1.0 / sqrt(t * t + 1.0), s = t * c;

	A[i][i] -= t * A[i][j];
	A[j][j] += t * A[i][j];
	A[i][j] = A[j][i] = 0.0;
	int k = 3 - i - j;
	double ik = A[i][k], jk = A[j][k];
	A[i][k] = A[k][i] = c * ik - s * jk;
	A[j][k] = A[k][j] = s * ik + c * jk;
	knVec3 vi = V[i], vj = V[j];
	V[i] = knMulAdd(knScale(c, vi), -s, vj);
	V[j] = knMulAdd(knScale(c, vj), s, vi);
}

knQuat knDiagonalize33(const knMat33* m, knVec3* values) {
	// the symmetric part, so that round-off in the input does not favour one half
	double xy = 0.5 * (m->cx.y + m->cy.x), xz = 0.5 * (m->cx.z + m->cz.x), yz = 0.5 * (m->cy.z + m->cz.y);
	double A[3][3] = { { m->cx.x, xy, xz }, { xy, m->cy.y, yz }, { xz, yz, m->cz.z } };
	knVec3 V[3] = { knV3(1.0, 0.0, 0.0), knV3(0.0, 1.0, 0.0), knV3(0.0, 0.0, 1.0) };

	// convergence is quadratic: 3x3 takes four or five sweeps; elements far below the diagonal are dropped
	for (int sweep = 0; sweep < 16; ++sweep) {
		double off = fabs(A[0][1]) + fabs(A[0][2]) + fabs(A[1][2]);
		double all = fabs(A[0][0]) + fabs(A[1][1]) + fabs(A[2][2]);
		if (!(off > 0x1p-80 * all)) {
			break;
		}
		jacobiRotate(A, V, 0, 1);
		jacobiRotate(A, V, 0, 2);
		jacobiRotate(A, V, 1, 2);
	}

	// ascending; equal values keep their order
	double d[3] = { A[0][0], A[1][1], A[2][2] };
	static const int pairs[3][2] = { { 0, 1 }, { 1, 2 }, { 0, 1 } };
	for (int p = 0; p < 3; ++p) {
		int a = pairs[p][0], b = pairs[p][1];
		if (d[b] < d[a]) {
			double swap = d[a];
			d[a] = d[b];
			d[b] = swap;
			knVec3 swapV = V[a];
			V[a] = V[b];
			V[b] = swapV;
		}
	}
	*values = knV3(d[0], d[1], d[2]);

	// an odd number of swaps mirrors; the third axis follows from the first two
	knMat33 R = knMakeMat33(V[0], V[1], knCross(V[0], V[1]));
	return knIsFinite3(*values) ? knQuat_FromMat33(&R) : knIdentityQ();
}
