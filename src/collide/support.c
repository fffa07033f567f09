// Cores of geometries, and pairs of them.
#include "collide/support.h"

static double reachOf(const knGeom* geom) {
	knVec3 size = geom->size;
	switch (geom->kind) {
	case KN_GEOM_SPHERE:
		return size.x;
	case KN_GEOM_CAPSULE:
		return size.x + size.y;
	case KN_GEOM_BOX:
		return knLength(size);
	case KN_GEOM_CYLINDER:
		return sqrt(size.x * size.x + size.y * size.y);
	case KN_GEOM_ELLIPSOID:
		return knMax(size.x, knMax(size.y, size.z));
	case KN_GEOM_HULL:
		return geom->hull->radius;
	default:
		return 0.0;
	}
}

knCore knCore_Of(const knGeom* geom) {
	bool round = geom->kind == KN_GEOM_SPHERE || geom->kind == KN_GEOM_CAPSULE;
	knCore core = { .kind = geom->kind, .size = geom->size, .hull = geom->hull };
	core.radius = round ? geom->size.x : 0.0;
	core.reach = reachOf(geom);
	core.middle = geom->hull != NULL ? geom->hull->center : knZero3();
	core.curved = geom->kind == KN_GEOM_CYLINDER || geom->kind == KN_GEOM_ELLIPSOID;
	return core;
}

knCorePair knCorePair_Make(const knPairInput* in) {
	knFrame relative = knInvMulF(in->frameA, in->frameB);
	knCorePair p = { .a = knCore_Of(in->geomA), .b = knCore_Of(in->geomB), .t = relative.p };
	p.R = knQuat_ToMat33(relative.q);
	p.between = knSub(knAdd(p.t, knMulMV(&p.R, p.b.middle)), p.a.middle);
	p.size = knMin(p.a.reach, p.b.reach);
	p.scale = knMax(knMax(p.a.reach, p.b.reach), knLength(relative.p));
	p.scale = knMax(p.scale, knMax(knLength(p.a.middle), knLength(p.b.middle)));
	p.margin = in->margin + (p.a.radius + p.b.radius);
	return p;
}

static knVec3 closestOnBox(knVec3 half, knVec3 p) {
	knVec3 inside = knMax3(knNeg(half), knMin3(half, p));
	knVec3 gap = knSub(half, knAbs3(inside));
	if (gap.x == 0.0 || gap.y == 0.0 || gap.z == 0.0) {
		return inside;
	}
	int axis = gap.y < gap.x ? 1 : 0;
	axis = gap.z < knComponent(gap, axis) ? 2 : axis;
	double h = knComponent(half, axis);
	knSetComponent(&inside, axis, knComponent(p, axis) < 0.0 ? -h : h);
	return inside;
}

knVec3 knCore_Closest(const knCore* core, knVec3 p) {
	switch (core->kind) {
	case KN_GEOM_CAPSULE:
		return knV3(0.0, 0.0, knClamp(p.z, -core->size.y, core->size.y));
	case KN_GEOM_BOX:
		return closestOnBox(core->size, p);
	case KN_GEOM_CYLINDER:
		return knCylinder_Closest(core->size.x, core->size.y, p).point;
	case KN_GEOM_ELLIPSOID:
		return knEllipsoid_Closest(core->size, p).point;
	case KN_GEOM_HULL:
		return knHull_Closest(core->hull, p).point;
	default:
		return knZero3();
	}
}
