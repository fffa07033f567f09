// Cores of geometries, and pairs of them.
#include "collide/convex_support.h"

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

knCore knCore_Triangle(const knVec3 corners[3]) {
	knCore core = { .kind = KN_GEOM_MESH, .corners = corners };
	core.middle = knScale(1.0 / 3.0, knAdd(knAdd(corners[0], corners[1]), corners[2]));
	for (int k = 0; k < 3; ++k) {
		core.reach = knMax(core.reach, knDistance(core.middle, corners[k]));
	}
	return core;
}

knCorePair knCorePair_Of(const knCore* a, const knCore* b, knFrame relative, double margin) {
	knCorePair p = { .a = *a, .b = *b, .t = relative.p };
	p.R = knQuat_ToMat33(relative.q);
	p.between = knSub(knAdd(p.t, knMulMV(&p.R, b->middle)), a->middle);
	p.size = knMin(a->reach, b->reach);
	p.scale = knMax(knMax(a->reach, b->reach), knLength(relative.p));
	p.scale = knMax(p.scale, knMax(knLength(a->middle), knLength(b->middle)));
	p.margin = margin + (a->radius + b->radius);
	return p;
}

knCorePair knCorePair_Make(const knPairInput* in) {
	knCore a = knCore_Of(in->geomA), b = knCore_Of(in->geomB);
	return knCorePair_Of(&a, &b, knInvMulF(in->frameA, in->frameB), in->margin);
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
