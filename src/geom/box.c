// The box: size holds its half extents.
#include "geom/geom.h"

knGeom* knGeom_Box(knVec3 halfExtents, const knAllocator* allocator, knError* error) {
	if (knGeom_CheckSize(KN_GEOM_BOX, "half extent x", halfExtents.x, error) != KN_OK ||
		knGeom_CheckSize(KN_GEOM_BOX, "half extent y", halfExtents.y, error) != KN_OK ||
		knGeom_CheckSize(KN_GEOM_BOX, "half extent z", halfExtents.z, error) != KN_OK) {
		return NULL;
	}
	return knGeom_New(KN_GEOM_BOX, halfExtents, allocator, error);
}

static knMassProps massProps(const knGeom* geom, double density) {
	knVec3 h = geom->size;
	double mass = density * 8.0 * h.x * h.y * h.z;
	double third = mass / 3.0;
	knMassProps props = { mass, knZero3(),
						  knDiagonal33(third * (h.y * h.y + h.z * h.z), third * (h.z * h.z + h.x * h.x),
									   third * (h.x * h.x + h.y * h.y)) };
	return props;
}

static knAabb aabb(const knGeom* geom, knFrame frame) {
	knAabb local = { knNeg(geom->size), geom->size };
	return knAabb_Transform(local, frame);
}

static double distance(const knGeom* geom, knVec3 pointLocal) {
	knVec3 q = knSub(knAbs3(pointLocal), geom->size);
	double inside = knMax(q.x, knMax(q.y, q.z));
	return inside > 0.0 ? knLength(knMax3(q, knZero3())) : inside;
}

const knGeomOps knGeomOps_Box = {
	.name = "box",
	.massProps = massProps,
	.aabb = aabb,
	.distance = distance,
};
