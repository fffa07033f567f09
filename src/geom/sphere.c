// The sphere: size.x is its radius.
#include "geom/geom.h"

knGeom* knGeom_Sphere(double radius, const knAllocator* allocator, knError* error) {
	if (knGeom_CheckSize(KN_GEOM_SPHERE, "radius", radius, error) != KN_OK) {
		return NULL;
	}
	return knGeom_New(KN_GEOM_SPHERE, knV3(radius, 0.0, 0.0), allocator, error);
}

static knMassProps massProps(const knGeom* geom, double density) {
	double r = geom->size.x;
	double mass = density * (4.0 / 3.0) * KN_PI * r * r * r;
	double moment = 0.4 * mass * r * r;
	knMassProps props = { mass, knZero3(), knDiagonal33(moment, moment, moment) };
	return props;
}

static knAabb aabb(const knGeom* geom, knFrame frame) {
	knAabb center = { frame.p, frame.p };
	return knAabb_Grow(center, geom->size.x);
}

static double distance(const knGeom* geom, knVec3 pointLocal) {
	return knLength(pointLocal) - geom->size.x;
}

const knGeomOps knGeomOps_Sphere = {
	.name = "sphere",
	.massProps = massProps,
	.aabb = aabb,
	.distance = distance,
};
