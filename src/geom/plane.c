// The plane: the half-space z <= 0 of its frame. Its bounds are infinite whatever the frame.
#include "geom/geom.h"

knGeom* knGeom_Plane(const knAllocator* allocator, knError* error) {
	return knGeom_New(KN_GEOM_PLANE, knZero3(), allocator, error);
}

static knMassProps massProps(const knGeom* geom, double density) {
	(void)geom;
	(void)density;
	knMassProps none = { 0.0, knZero3(), knDiagonal33(0.0, 0.0, 0.0) };
	return none;
}

static knAabb aabb(const knGeom* geom, knFrame frame) {
	(void)geom;
	(void)frame;
	knAabb all = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
	return all;
}

static double distance(const knGeom* geom, knVec3 pointLocal) {
	(void)geom;
	return pointLocal.z;
}

const knGeomOps knGeomOps_Plane = {
	.name = "plane",
	.infinite = true,
	.massProps = massProps,
	.aabb = aabb,
	.distance = distance,
};
