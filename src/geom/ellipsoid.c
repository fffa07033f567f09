// The ellipsoid: size holds its radii e.
//
// The surface point x closest to p has p - x along the surface's normal, x_i = r_i p_i / (tau + r_i - 1) with
// r_i = (e_i / e_min)^2, where tau > 0 is the root of
//
//   S(tau) = sum (r_i z_i / (tau + r_i - 1))^2 = 1,     z_i = |p_i| / e_i     (Eberly 2013)
//
// 1 / sqrt(S) grows and is concave, so Newton's method on it climbs to the root from any start below: no
// safeguards, a handful of steps. Counting from the pole at tau = 0 keeps the digits of points near the
// smallest axis' plane. In that plane and near the middle there is no root: then tau = 0 and the component
// along the smallest axis is what the surface leaves for it.
#include "geom/convex.h"

#define MOST_STEPS 60

knGeom* knGeom_Ellipsoid(knVec3 radii, const knAllocator* allocator, knError* error) {
	if (knGeom_CheckSize(KN_GEOM_ELLIPSOID, "radius x", radii.x, error) != KN_OK ||
		knGeom_CheckSize(KN_GEOM_ELLIPSOID, "radius y", radii.y, error) != KN_OK ||
		knGeom_CheckSize(KN_GEOM_ELLIPSOID, "radius z", radii.z, error) != KN_OK) {
		return NULL;
	}
	return knGeom_New(KN_GEOM_ELLIPSOID, radii, allocator, error);
}

static knMassProps massProps(const knGeom* geom, double density) {
	knVec3 e = geom->size;
	double mass = density * (4.0 / 3.0) * KN_PI * e.x * e.y * e.z;
	double fifth = 0.2 * mass;
	knMassProps props = { mass, knZero3(),
						  knDiagonal33(fifth * (e.y * e.y + e.z * e.z), fifth * (e.z * e.z + e.x * e.x),
									   fifth * (e.x * e.x + e.y * e.y)) };
	return props;
}

static knAabb aabb(const knGeom* geom, knFrame frame) {
	knMat33 R = knQuat_ToMat33(frame.q);
	knVec3 x = knScale(geom->size.x, R.cx), y = knScale(geom->size.y, R.cy), z = knScale(geom->size.z, R.cz);
	knVec3 reach = knV3(sqrt(x.x * x.x + y.x * y.x + z.x * z.x), sqrt(x.y * x.y + y.y * y.y + z.y * z.y),
						sqrt(x.z * x.z + y.z * y.z + z.z * z.z));
	knAabb box = { knSub(frame.p, reach), knAdd(frame.p, reach) };
	return box;
}

// The root tau, or 0 if there is none above it.
static double findRoot(const double r[3], const double z[3]) {
	double tau = 0.0;
	for (int i = 0; i < 3; ++i) {
		tau = knMax(tau, r[i] * z[i] - (r[i] - 1.0)); // where the term alone is 1
	}
	if (tau == 0.0) {
		// nothing along the smallest axis: the others decide whether the root lies above the pole
		double S = 0.0;
		for (int i = 0; i < 3; ++i) {
			double x = r[i] > 1.0 ? r[i] * z[i] / (r[i] - 1.0) : 0.0;
			S += x * x;
		}
		if (S <= 1.0) {
			return 0.0;
		}
	}
	for (int step = 0; step < MOST_STEPS; ++step) {
		double S = 0.0, slope = 0.0; // slope = -dS/dtau / 2
		for (int i = 0; i < 3; ++i) {
			double below = tau + (r[i] - 1.0);
			double x = below > 0.0 ? r[i] * z[i] / below : 0.0;
			S += x * x;
			slope += below > 0.0 ? x * x / below : 0.0;
		}
		double gain = (sqrt(S) - 1.0) * S / slope; // Newton on 1 / sqrt(S)
		if (!(gain > 1e-16 * tau)) {
			break;
		}
		tau += gain;
	}
	return tau;
}

knClosest knEllipsoid_Closest(knVec3 radii, knVec3 p) {
	const double e[3] = { radii.x, radii.y, radii.z }, q[3] = { p.x, p.y, p.z };
	int least = e[1] < e[0] ? 1 : 0;
	least = e[2] < e[least] ? 2 : least;
	double r[3], z[3], x[3], inside = -1.0;
	for (int i = 0; i < 3; ++i) {
		r[i] = i == least ? 1.0 : (e[i] / e[least]) * (e[i] / e[least]);
		z[i] = knAbs(q[i]) / e[i];
		inside += z[i] * z[i];
	}
	double tau = findRoot(r, z), rest = 1.0;
	for (int i = 0; i < 3; ++i) {
		double below = tau + (r[i] - 1.0);
		x[i] = below > 0.0 ? r[i] * q[i] / below : 0.0;
		rest -= x[i] / e[i] * (x[i] / e[i]);
	}
	if (tau == 0.0) {
		x[least] = e[least] * sqrt(knMax(rest, 0.0));
	}
	knClosest result = { .point = knV3(x[0], x[1], x[2]) };
	// the gradient x_i / e_i^2, times the smallest radius
	knVec3 gradient = knV3(x[0] / e[0] * (e[least] / e[0]), x[1] / e[1] * (e[least] / e[1]),
						   x[2] / e[2] * (e[least] / e[2]));
	result.normal = knNormalize(gradient);
	result.distance = knDistance(p, result.point) * (inside < 0.0 ? -1.0 : 1.0);
	return result;
}

static double distance(const knGeom* geom, knVec3 pointLocal) {
	return knEllipsoid_Closest(geom->size, pointLocal).distance;
}

const knGeomOps knGeomOps_Ellipsoid = {
	.name = "ellipsoid",
	.massProps = massProps,
	.aabb = aabb,
	.distance = distance,
};
