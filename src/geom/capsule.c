// The capsule: all points within size.x (the radius) of a segment along z of half length size.y.
#include "geom/geom.h"

knGeom* knGeom_Capsule(double radius, double halfLength, const knAllocator* allocator, knError* error) {
	if (knGeom_CheckSize(KN_GEOM_CAPSULE, "radius", radius, error) != KN_OK ||
		knGeom_CheckSize(KN_GEOM_CAPSULE, "half length", halfLength, error) != KN_OK) {
		return NULL;
	}
	return knGeom_New(KN_GEOM_CAPSULE, knV3(radius, halfLength, 0.0), allocator, error);
}

// A cylinder of length 2h and two hemispheres; a hemisphere's centre of mass lies 3/8 r beyond the cylinder's
// end.
static knMassProps massProps(const knGeom* geom, double density) {
	double r = geom->size.x, h = geom->size.y;
	double cylinder = density * KN_PI * r * r * 2.0 * h;
	double ends = density * (4.0 / 3.0) * KN_PI * r * r * r;
	double along = cylinder * 0.5 * r * r + ends * 0.4 * r * r;
	double across = cylinder * (0.25 * r * r + h * h / 3.0) + ends * (0.4 * r * r + h * h + 0.75 * r * h);
	knMassProps props = { cylinder + ends, knZero3(), knDiagonal33(across, across, along) };
	return props;
}

static knAabb aabb(const knGeom* geom, knFrame frame) {
	knVec3 half = knRotate(frame.q, knV3(0.0, 0.0, geom->size.y));
	knVec3 reach = knAbs3(half);
	knAabb segment = { knSub(frame.p, reach), knAdd(frame.p, reach) };
	return knAabb_Grow(segment, geom->size.x);
}

static double distance(const knGeom* geom, knVec3 pointLocal) {
	double h = geom->size.y;
	pointLocal.z -= knClamp(pointLocal.z, -h, h);
	return knLength(pointLocal) - geom->size.x;
}

const knGeomOps knGeomOps_Capsule = {
	.name = "capsule",
	.massProps = massProps,
	.aabb = aabb,
	.distance = distance,
};
