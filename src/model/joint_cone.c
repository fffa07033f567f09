// Swing and twist of a ball joint, and the elliptic cone that limits the swing.
//
//   q = swing twist,  twist about x by tau,  swing about u = (0, u_y, u_z) by phi,  swing vector b = phi u
//   x_c = q[x] = cos phi x + sin phi m,  m = u x x = (0, u_z, -u_y)
//   allowed: (b_y / A)^2 + (b_z / B)^2 <= 1,  A = coneY, B = coneZ
//
// Rates, from d/dt x_c = w x x_c:  phi' = u . w,  u' = psi' (-m),  psi' = w_x - cot phi (m . w), so
//   b' = u (u . w) + phi cot phi m (m . w) - phi m w_x
#include "model/joint_cone.h"
#include "model/joint_math.h"

knSwing knSwing_Split(knQuat q) {
	double w = sqrt(q.w * q.w + q.x * q.x), v = sqrt(q.y * q.y + q.z * q.z);
	knSwing swing = { .angle = 2.0 * knAtan2(v, w), .uy = 1.0, .uz = 0.0 };

	// x_c gives the direction of u; at phi = 0 and pi it has none
	double xcy = q.x * q.y + q.w * q.z, xcz = q.x * q.z - q.w * q.y;
	double length = sqrt(xcy * xcy + xcz * xcz);
	if (length > 0.0) {
		swing.uy = -xcz / length;
		swing.uz = xcy / length;
	}
	swing.twist = knNearestTurn(knAngleOfHalf(q.w, q.x), 0.0);
	return swing;
}

knVec3 knSwing_RateRow(const knSwing* swing, double y, double z) {
	double s, c;
	knSinCos(swing->angle, &s, &c);
	double phiCot = s > 1e-9 ? swing->angle * c / s : (c > 0.0 ? 1.0 : 0.0);
	double along = y * swing->uy + z * swing->uz;
	double my = swing->uz, mz = -swing->uy;
	double across = y * my + z * mz;
	return knV3(-swing->angle * across, along * swing->uy + phiCot * across * my,
				along * swing->uz + phiCot * across * mz);
}

double knCone_RoomBound(double coneY, double coneZ, const knSwing* swing) {
	double y = swing->angle * swing->uy / coneY, z = swing->angle * swing->uz / coneZ;
	// scaling the ellipse down to the point moves every boundary point by at least this much
	return (1.0 - sqrt(y * y + z * z)) * knMin(coneY, coneZ);
}

// Closest point (x0, x1) of the ellipse (x0/e0)^2 + (x1/e1)^2 = 1, e0 >= e1 > 0, to (y0, y1) in the first
// quadrant. A closest point obeys x_i = e_i^2 y_i / (t + e_i^2) for the root t > -e1^2 of sum (e_i y_i / (t +
// e_i^2))^2 = 1; the sum falls with t, so bisection finds it. The unknown is s = t / e1^2 + 1, which stays
// exact near the short axis.
static void closestOnEllipse(double e0, double e1, double y0, double y1, double* x0, double* x1) {
	double ratio = e0 / e1, beyond = ratio * ratio - 1.0;
	double z0 = ratio * y0 / e1, z1 = y1 / e1;
	if (z1 == 0.0) {
		// on the long axis: between the two centres of curvature the closest point is off the axis
		double c = z0 < beyond ? z0 / beyond : 1.0;
		*x0 = e0 * c;
		*x1 = e1 * sqrt(1.0 - c * c);
		return;
	}
	double lower = z1, upper = sqrt(z0 * z0 + z1 * z1);
	for (int i = 0; i < 200 && upper - lower > 1e-16 * upper; ++i) {
		double s = 0.5 * (lower + upper);
		double a = z0 / (s + beyond), b = z1 / s;
		if (a * a + b * b > 1.0) {
			lower = s;
		} else {
			upper = s;
		}
	}
	*x0 = e0 * z0 / (upper + beyond);
	*x1 = y1 / upper;
}

double knCone_Room(double coneY, double coneZ, const knSwing* swing, double* normalY, double* normalZ) {
	if (coneY == coneZ) {
		*normalY = swing->uy;
		*normalZ = swing->uz;
		return coneY - swing->angle;
	}
	double by = swing->angle * swing->uy, bz = swing->angle * swing->uz;
	double y, z;
	if (coneY > coneZ) {
		closestOnEllipse(coneY, coneZ, knAbs(by), knAbs(bz), &y, &z);
	} else {
		closestOnEllipse(coneZ, coneY, knAbs(bz), knAbs(by), &z, &y);
	}
	y = by < 0.0 ? -y : y;
	z = bz < 0.0 ? -z : z;
	double ny = y / (coneY * coneY), nz = z / (coneZ * coneZ);
	double scale = 1.0 / sqrt(ny * ny + nz * nz);
	*normalY = scale * ny;
	*normalZ = scale * nz;
	double distance = sqrt((by - y) * (by - y) + (bz - z) * (bz - z));
	double inY = by / coneY, inZ = bz / coneZ;
	return inY * inY + inZ * inZ > 1.0 ? -distance : distance;
}

// The boundary point g(psi) at b = (A cos psi, B sin psi); returns d/dpsi of r . g.
static double boundary(double A, double B, double k, const double r[3], double psi, double g[3]) {
	double s, c, sinK, cosK;
	knSinCos(psi, &s, &c);
	double by = A * c, bz = B * s, dy = -A * s, dz = B * c;
	double phi = sqrt(by * by + bz * bz), rate = (by * dy + bz * dz) / phi;
	double uy = by / phi, uz = bz / phi;
	double duy = (dy - uy * rate) / phi, duz = (dz - uz * rate) / phi;
	knSinCos(k * phi, &sinK, &cosK);
	g[0] = cosK;
	g[1] = sinK * uy;
	g[2] = sinK * uz;
	return -r[0] * k * rate * sinK + r[1] * (k * rate * cosK * uy + sinK * duy) +
		   r[2] * (k * rate * cosK * uz + sinK * duz);
}

void knCone_Closest(double coneY, double coneZ, double k, const double r[3], double g[3]) {
	// by symmetry the closest point lies in r's quadrant; there r . g has one maximum, so bisect on the slope
	const double mirrored[3] = { r[0], knAbs(r[1]), knAbs(r[2]) };
	double lower = 0.0, upper = 0.5 * KN_PI;
	for (int i = 0; i < 54; ++i) {
		double psi = 0.5 * (lower + upper);
		if (boundary(coneY, coneZ, k, mirrored, psi, g) > 0.0) {
			lower = psi;
		} else {
			upper = psi;
		}
	}
	boundary(coneY, coneZ, k, mirrored, 0.5 * (lower + upper), g);
	g[1] = r[1] < 0.0 ? -g[1] : g[1];
	g[2] = r[2] < 0.0 ? -g[2] : g[2];
}
