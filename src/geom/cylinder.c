// The cylinder: all points within size.x (the radius) of the z axis and within size.y (the half length) of
// z = 0.
#include "geom/convex.h"

knGeom* knGeom_Cylinder(double radius, double halfLength, const knAllocator* allocator, knError* error) {
	if (knGeom_CheckSize(KN_GEOM_CYLINDER, "radius", radius, error) != KN_OK ||
		knGeom_CheckSize(KN_GEOM_CYLINDER, "half length", halfLength, error) != KN_OK) {
		return NULL;
	}
	return knGeom_New(KN_GEOM_CYLINDER, knV3(radius, halfLength, 0.0), allocator, error);
}

static knMassProps massProps(const knGeom* geom, double density) {
	double r = geom->size.x, h = geom->size.y;
	double mass = density * KN_PI * r * r * 2.0 * h;
	double across = mass * (0.25 * r * r + h * h / 3.0);
	knMassProps props = { mass, knZero3(), knDiagonal33(across, across, 0.5 * mass * r * r) };
	return props;
}

static knAabb aabb(const knGeom* geom, knFrame frame) {
	double r = geom->size.x, h = geom->size.y;
	knVec3 axis = knRotate(frame.q, knV3(0.0, 0.0, 1.0));
	// a disc across the axis reaches r sin(angle) along a coordinate
	knVec3 sine = knV3(sqrt(axis.y * axis.y + axis.z * axis.z), sqrt(axis.z * axis.z + axis.x * axis.x),
					   sqrt(axis.x * axis.x + axis.y * axis.y));
	knVec3 reach = knMulAdd(knScale(h, knAbs3(axis)), r, sine);
	knAabb box = { knSub(frame.p, reach), knAdd(frame.p, reach) };
	return box;
}

knClosest knCylinder_Closest(double radius, double halfLength, knVec3 p) {
	double rho = sqrt(p.x * p.x + p.y * p.y);
	knVec3 radial = rho > 0.0 ? knV3(p.x / rho, p.y / rho, 0.0) : knV3(1.0, 0.0, 0.0);
	double up = p.z < 0.0 ? -1.0 : 1.0;
	double aside = rho - radius, above = knAbs(p.z) - halfLength;
	knClosest result;
	if (aside > 0.0 && above > 0.0) { // the rim
		result.distance = sqrt(aside * aside + above * above);
		result.normal = knScale(1.0 / result.distance, knV3(aside * radial.x, aside * radial.y, up * above));
		result.point = knV3(radius * radial.x, radius * radial.y, up * halfLength);
	} else if (aside > above) { // the side
		result.distance = aside;
		result.normal = radial;
		result.point = knV3(radius * radial.x, radius * radial.y, p.z);
	} else {
		result.distance = above;
		result.normal = knV3(0.0, 0.0, up);
		result.point = knV3(p.x, p.y, up * halfLength);
	}
	return result;
}

static double distance(const knGeom* geom, knVec3 pointLocal) {
	return knCylinder_Closest(geom->size.x, geom->size.y, pointLocal).distance;
}

const knGeomOps knGeomOps_Cylinder = {
	.name = "cylinder",
	.massProps = massProps,
	.aabb = aabb,
	.distance = distance,
};
