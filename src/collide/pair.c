// The pair grid, compounds, and knCollide_Pair.
//
// Only the upper triangle is written; the lower is the same with A and B exchanged. A new convex kind adds a
// row and a column:
//
//              sphere       capsule          box          plane         cylinder         ellipsoid         hull
//   sphere   SphereSphere  SphereCapsule  SphereBox    SpherePlane   SphereCylinder   SphereEllipsoid  ConvexConvex
//   capsule                CapsuleCapsule CapsuleBox   CapsulePlane  ConvexConvex     ConvexConvex     ConvexConvex
//   box                                   BoxBox       BoxPlane      ConvexConvex     ConvexConvex     ConvexConvex
//   plane                                              (never)       PlaneConvex      PlaneConvex      PlaneConvex
//   cylinder                                                         ConvexConvex     ConvexConvex     ConvexConvex
//   ellipsoid                                                                         ConvexConvex     ConvexConvex
//   hull                                                                                               ConvexConvex
//
// Meshes and height fields meet every kind, and each other, in knPair_Mesh. A compound has no row: its parts
// meet the other's parts, as many as their trees let through.
#include "collide/pair.h"

static knPairFn* const grid[KN_GEOM_KIND_COUNT][KN_GEOM_KIND_COUNT] = {
	[KN_GEOM_SPHERE] = { [KN_GEOM_SPHERE] = knPair_SphereSphere,
						 [KN_GEOM_CAPSULE] = knPair_SphereCapsule,
						 [KN_GEOM_BOX] = knPair_SphereBox,
						 [KN_GEOM_PLANE] = knPair_SpherePlane,
						 [KN_GEOM_CYLINDER] = knPair_SphereCylinder,
						 [KN_GEOM_ELLIPSOID] = knPair_SphereEllipsoid,
						 [KN_GEOM_HULL] = knPair_ConvexConvex },
	[KN_GEOM_CAPSULE] = { [KN_GEOM_CAPSULE] = knPair_CapsuleCapsule,
						  [KN_GEOM_BOX] = knPair_CapsuleBox,
						  [KN_GEOM_PLANE] = knPair_CapsulePlane,
						  [KN_GEOM_CYLINDER] = knPair_ConvexConvex,
						  [KN_GEOM_ELLIPSOID] = knPair_ConvexConvex,
						  [KN_GEOM_HULL] = knPair_ConvexConvex },
	[KN_GEOM_BOX] = { [KN_GEOM_BOX] = knPair_BoxBox,
					  [KN_GEOM_PLANE] = knPair_BoxPlane,
					  [KN_GEOM_CYLINDER] = knPair_ConvexConvex,
					  [KN_GEOM_ELLIPSOID] = knPair_ConvexConvex,
					  [KN_GEOM_HULL] = knPair_ConvexConvex },
	[KN_GEOM_PLANE] = { [KN_GEOM_CYLINDER] = knPair_PlaneConvex,
						[KN_GEOM_ELLIPSOID] = knPair_PlaneConvex,
						[KN_GEOM_HULL] = knPair_PlaneConvex },
	[KN_GEOM_CYLINDER] = { [KN_GEOM_CYLINDER] = knPair_ConvexConvex,
						   [KN_GEOM_ELLIPSOID] = knPair_ConvexConvex,
						   [KN_GEOM_HULL] = knPair_ConvexConvex },
	[KN_GEOM_ELLIPSOID] = { [KN_GEOM_ELLIPSOID] = knPair_ConvexConvex, [KN_GEOM_HULL] = knPair_ConvexConvex },
	[KN_GEOM_HULL] = { [KN_GEOM_HULL] = knPair_ConvexConvex },
};

knPairInput knPairInput_Swap(const knPairInput* in) {
	knPairInput swapped;
	knPairInput_Set(&swapped, in->geomB, in->frameB, in->geomA, in->frameA, in->margin);
	swapped.near = in->near;
	swapped.anyWillDo = in->anyWillDo;
	swapped.looksAhead = in->looksAhead;
	if (in->looksAhead) {
		swapped.slide = in->slide;
		swapped.tilt = in->tilt;
	}
	swapped.wayCount = in->wayCount;
	for (int i = 0; i < 2 && in->wayCount > 0; ++i) {
		swapped.turns[i] = in->turns[1 - i];
		swapped.centers[i] = in->centers[1 - i];
	}
	for (int i = 0; i < in->wayCount; ++i) {
		swapped.ways[i] = knNeg(in->ways[i]);
	}
	return swapped;
}

void knContact_Swap(knContactPoint* points, int count) {
	for (int i = 0; i < count; ++i) {
		knVec3 onA = points[i].pointA;
		points[i].pointA = points[i].pointB;
		points[i].pointB = onA;
		points[i].normal = knNeg(points[i].normal);
	}
}

int knPair_Convex(const knPairInput* in, knContactPoint* points) {
	knGeomKind kindA = in->geomA->kind, kindB = in->geomB->kind;
	if (kindA <= kindB) {
		if (kindB == KN_GEOM_MESH || kindB == KN_GEOM_HEIGHT_FIELD) {
			return knPair_Mesh(in, points);
		}
		knPairFn* fn = grid[kindA][kindB];
		return fn != NULL ? fn(in, points) : 0;
	}
	knPairInput swapped = knPairInput_Swap(in);
	int count = knPair_Convex(&swapped, points);
	knContact_Swap(points, count);
	return count;
}

// --- compounds -------------------------------------------------------------------------------------------

static knRegion regionOf(const knGeom* geom, knFrame frame, double margin) {
	if (knGeomOps_Get(geom->kind)->infinite) {
		knVec3 normal = knRotate(frame.q, knV3(0.0, 0.0, 1.0));
		return (knRegion){ .isPlane = true, .normal = normal, .offset = knDot(normal, frame.p) + margin };
	}
	return (knRegion){ .box = knAabb_Grow(knGeom_Aabb(geom, frame), margin) };
}

static int nextPart(const knGeom* geom, const knRegion* region, int* cursor) {
	return region->isPlane ? knBvh_NextBelow(&geom->tree, region->normal, region->offset, cursor)
						   : knBvh_Next(&geom->tree, &region->box, cursor);
}

knPartWalk knPartWalk_Start(const knPairInput* in) {
	knPartWalk walk = { .in = in };
	if (in->geomA->kind == KN_GEOM_COMPOUND) {
		walk.ofB = regionOf(in->geomB, knInvMulF(in->frameA, in->frameB), in->margin);
	}
	return walk;
}

// The next part of A; false at the end.
static bool nextPartA(knPartWalk* walk) {
	const knPairInput* in = walk->in;
	const knGeom* geom = in->geomA;
	knFrame frame = in->frameA;
	if (geom->kind == KN_GEOM_COMPOUND) {
		walk->childA = nextPart(geom, &walk->ofB, &walk->cursorA);
		if (walk->childA < 0) {
			return false;
		}
		frame = knMulF(frame, geom->children[walk->childA].frame);
		geom = geom->children[walk->childA].geom;
	} else if (walk->cursorA++ > 0) {
		return false;
	}
	if (in->geomB->kind == KN_GEOM_COMPOUND) {
		walk->ofPartA = regionOf(geom, knInvMulF(in->frameB, frame), in->margin);
	}
	walk->cursorB = 0;
	return true;
}

bool knPartWalk_Next(knPartWalk* walk) {
	const knGeom* geomB = walk->in->geomB;
	for (;;) {
		if (!walk->started && !nextPartA(walk)) {
			return false;
		}
		walk->started = geomB->kind == KN_GEOM_COMPOUND;
		if (!walk->started) {
			return true; // B's only part is 0
		}
		walk->childB = nextPart(geomB, &walk->ofPartA, &walk->cursorB);
		if (walk->childB >= 0) {
			return true;
		}
		walk->started = false;
	}
}

int knPair_Parts(const knPairInput* in, int childA, int childB, knContactPoint* points) {
	if (!knPairInput_HasParts(in)) {
		return knPair_Convex(in, points);
	}
	knPairInput parts = *in;
	if (in->geomA->kind == KN_GEOM_COMPOUND) {
		const knGeomChild* child = &in->geomA->children[childA];
		parts.geomA = child->geom;
		parts.frameA = knMulF(in->frameA, child->frame);
	}
	if (in->geomB->kind == KN_GEOM_COMPOUND) {
		const knGeomChild* child = &in->geomB->children[childB];
		parts.geomB = child->geom;
		parts.frameB = knMulF(in->frameB, child->frame);
	}
	int count = knPair_Convex(&parts, points);
	for (int i = 0; i < count; ++i) {
		points[i].feature = knFeature(childA, childB, points[i].feature);
	}
	return count;
}

int knCollide_Pair(const knGeom* geomA, knFrame frameA, const knGeom* geomB, knFrame frameB, double margin,
				   knContactPoint* points, int capacity) {
	KN_ASSERT(geomA != NULL && geomB != NULL && (points != NULL || capacity <= 0));
	if (geomA == NULL || geomB == NULL || (points == NULL && capacity > 0)) {
		return 0;
	}
	knPairInput in = knPairInput_Make(geomA, frameA, geomB, frameB, margin);
	knPartWalk walk = knPartWalk_Start(&in);
	int total = 0;
	while (knPartWalk_Next(&walk)) {
		knContactPoint found[KN_MESH_MAX_POINTS];
		int count = knPair_Parts(&in, walk.childA, walk.childB, found);
		for (int i = 0; i < count; ++i, ++total) {
			if (total < capacity) {
				points[total] = found[i];
			}
		}
	}
	return total;
}

bool knPair_Touches(const knGeom* geomA, knFrame frameA, const knGeom* geomB, knFrame frameB, double margin) {
	knPairInput in = knPairInput_Make(geomA, frameA, geomB, frameB, margin);
	in.anyWillDo = in.looksAhead = true;
	in.slide = in.tilt = INFINITY;
	knPartWalk walk = knPartWalk_Start(&in);
	while (knPartWalk_Next(&walk)) {
		knContactPoint found[KN_MESH_MAX_POINTS];
		if (knPair_Parts(&in, walk.childA, walk.childB, found) > 0) {
			return true;
		}
	}
	return false;
}
