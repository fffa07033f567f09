// What all geometries share: the table of kinds, the record, its reference count, and the checks of sizes.
#include "geom/geom.h"

#include "geom/convex.h"

static const knGeomOps* const opsTable[KN_GEOM_KIND_COUNT] = {
	[KN_GEOM_SPHERE] = &knGeomOps_Sphere,
	[KN_GEOM_CAPSULE] = &knGeomOps_Capsule,
	[KN_GEOM_BOX] = &knGeomOps_Box,
	[KN_GEOM_PLANE] = &knGeomOps_Plane,
	[KN_GEOM_COMPOUND] = &knGeomOps_Compound,
	[KN_GEOM_CYLINDER] = &knGeomOps_Cylinder,
	[KN_GEOM_ELLIPSOID] = &knGeomOps_Ellipsoid,
	[KN_GEOM_HULL] = &knGeomOps_Hull,
	[KN_GEOM_MESH] = &knGeomOps_Mesh,
	[KN_GEOM_HEIGHT_FIELD] = &knGeomOps_HeightField,
};

const knGeomOps* knGeomOps_Get(knGeomKind kind) {
	KN_ASSERT((unsigned)kind < KN_GEOM_KIND_COUNT);
	return opsTable[kind];
}

const char* knGeomKind_Name(knGeomKind kind) {
	return (unsigned)kind < KN_GEOM_KIND_COUNT && opsTable[kind] != NULL ? opsTable[kind]->name : "unknown";
}

// --- life ------------------------------------------------------------------------------------------------

knGeom* knGeom_New(knGeomKind kind, knVec3 size, const knAllocator* allocator, knError* error) {
	knAllocator source = allocator != NULL ? *allocator : knAllocator_Default();
	knGeom* geom = knAllocZero(&source, sizeof(knGeom));
	if (geom == NULL) {
		knError_Set(error, KN_NO_MEMORY, knGeomKind_Name(kind), "out of memory");
		return NULL;
	}
	geom->kind = kind;
	atomic_init(&geom->references, 1);
	geom->allocator = source;
	geom->size = size;
	return geom;
}

void knGeom_Retain(const knGeom* geom) {
	if (geom != NULL) {
		atomic_fetch_add_explicit(&((knGeom*)geom)->references, 1, memory_order_relaxed);
	}
}

static void destroy(knGeom* geom) {
	knAllocator allocator = geom->allocator;
	for (int i = 0; i < geom->childCount; ++i) {
		knGeom_Release(geom->children[i].geom); // a child is never a compound: no deep recursion
	}
	knFree(&allocator, geom->children, (size_t)geom->childCount * sizeof(knGeomChild));
	knBvh_Destroy(&geom->tree, &allocator);
	if (opsTable[geom->kind]->destroy != NULL) {
		opsTable[geom->kind]->destroy(geom);
	}
	knFree(&allocator, geom, sizeof(knGeom));
}

void knGeom_Release(const knGeom* geom) {
	if (geom == NULL) {
		return;
	}
	int before = atomic_fetch_sub_explicit(&((knGeom*)geom)->references, 1, memory_order_acq_rel);
	KN_ASSERT(before > 0);
	if (before == 1) {
		destroy((knGeom*)geom);
	}
}

// --- access ----------------------------------------------------------------------------------------------

knGeomKind knGeom_Kind(const knGeom* geom) {
	return geom->kind;
}

knVec3 knGeom_Size(const knGeom* geom) {
	return geom->size;
}

int knGeom_ChildCount(const knGeom* geom) {
	return geom->childCount;
}

knGeomChild knGeom_Child(const knGeom* geom, int index) {
	KN_ASSERT(index >= 0 && index < geom->childCount);
	if (index < 0 || index >= geom->childCount) {
		return (knGeomChild){ NULL, knIdentityF() };
	}
	return geom->children[index];
}

knMassProps knGeom_MassProps(const knGeom* geom, double density) {
	return opsTable[geom->kind]->massProps(geom, density);
}

knAabb knGeom_Aabb(const knGeom* geom, knFrame frame) {
	return opsTable[geom->kind]->aabb(geom, frame);
}

double knGeom_Distance(const knGeom* geom, knVec3 pointLocal) {
	return opsTable[geom->kind]->distance(geom, pointLocal);
}

const knVec3* knGeom_Vertices(const knGeom* geom, int* count) {
	const knGeomOps* ops = opsTable[geom->kind];
	*count = 0;
	return ops->vertices != NULL ? ops->vertices(geom, count) : NULL;
}

const knTriangle* knGeom_Triangles(const knGeom* geom, int* count) {
	const knGeomOps* ops = opsTable[geom->kind];
	*count = 0;
	return ops->triangles != NULL ? ops->triangles(geom, count) : NULL;
}

// --- checks ----------------------------------------------------------------------------------------------

knStatus knGeom_CheckSize(knGeomKind kind, const char* quantity, double value, knError* error) {
	const char* name = knGeomKind_Name(kind);
	if (!knIsFinite(value)) {
		return knError_Set(error, KN_BAD_DATA, name, "the %s has %s %g; it must be finite", name, quantity,
						   value);
	}
	if (value <= 0.0) {
		return knError_Set(error, KN_BAD_DATA, name, "the %s has %s %g; it must be positive", name, quantity,
						   value);
	}
	if (value < KN_GEOM_MIN_SIZE || value > KN_GEOM_MAX_SIZE) {
		return knError_Set(error, KN_BAD_DATA, name, "the %s has %s %g; it must lie between %g and %g", name,
						   quantity, value, KN_GEOM_MIN_SIZE, KN_GEOM_MAX_SIZE);
	}
	return KN_OK;
}

knStatus knGeom_CheckFrame(knFrame frame, const char* element, knError* error) {
	if (!knIsFiniteF(frame)) {
		return knError_Set(error, KN_BAD_DATA, element, "%s has a frame that is not finite", element);
	}
	if (knAbs(knDotQ(frame.q, frame.q) - 1.0) > 1e-6) {
		return knError_Set(error, KN_BAD_DATA, element, "%s has a rotation that is not a unit quaternion",
						   element);
	}
	return KN_OK;
}

knAabb knAabb_Transform(knAabb box, knFrame frame) {
	knMat33 R = knQuat_ToMat33(frame.q);
	knVec3 half = knScale(0.5, knSub(box.upper, box.lower));
	knVec3 center = knPoint(frame, knAabb_Center(box));
	knVec3 reach = knAdd(knAdd(knScale(half.x, knAbs3(R.cx)), knScale(half.y, knAbs3(R.cy))),
						 knScale(half.z, knAbs3(R.cz)));
	knAabb result = { knSub(center, reach), knAdd(center, reach) };
	return result;
}
