// Convex geometries as supports: the farthest point in a direction is all that GJK and EPA know of a shape.
//
// A shape is a *core* and a radius about it: point (sphere), segment (capsule), or the shape itself. A pair of
// cores lives in A's frame. With C = {b - a} and a unit normal n from A to B,
//
//   s(n) = min over C of c.n      separation along n; the largest over all n is the signed distance
#pragma once

#include "collide/pair.h"
#include "geom/convex.h"

typedef struct knCore {
	knGeomKind kind; // KN_GEOM_MESH: one triangle of a mesh
	knVec3 size;     // of the geometry
	const knHull* hull;
	const knVec3* corners; // [3] of a triangle
	double radius;         // about the core
	knVec3 middle;
	double reach; // of the shape from its middle: the unit of tolerances
	bool curved;  // the core is no polytope
} knCore;

typedef struct knCorePair {
	knCore a, b;
	knMat33 R;      // B's axes in A's frame
	knVec3 t;       // B's origin
	knVec3 between; // from A's middle to B's
	double size;    // reach of the smaller: the unit of results
	double scale;   // reach of the larger, or their distance: the unit of rounding
	double margin;  // of the cores
} knCorePair;

// A point of C and the two points that it is the difference of.
typedef struct knCorner {
	knVec3 w, a, b;
} knCorner;

// A direction, the separation along it, and points of the cores about where they are closest.
typedef struct knAxis {
	knVec3 n;
	double s;
	knVec3 a, b;
} knAxis;

knCore knCore_Of(const knGeom* geom);
// `corners` must outlive the core.
knCore knCore_Triangle(const knVec3 corners[3]);
// B at `relative` in A's frame.
knCorePair knCorePair_Of(const knCore* a, const knCore* b, knFrame relative, double margin);
knCorePair knCorePair_Make(const knPairInput* in);
// The core's surface point closest to p, in its own frame (for points and segments: the core's point).
knVec3 knCore_Closest(const knCore* core, knVec3 p);

static inline knVec3 knCore_CylinderSupport(knVec3 size, knVec3 d) {
	double rho = sqrt(d.x * d.x + d.y * d.y), z = d.z < 0.0 ? -size.y : size.y;
	return rho > 0.0 ? knV3(size.x * d.x / rho, size.x * d.y / rho, z) : knV3(size.x, 0.0, z);
}

static inline knVec3 knCore_EllipsoidSupport(knVec3 e, knVec3 d) {
	knVec3 scaled = knMulComponents(e, d);
	double length = knLength(scaled);
	return length > 0.0 ? knScale(1.0 / length, knMulComponents(e, scaled)) : knV3(e.x, 0.0, 0.0);
}

static inline knVec3 knCore_TriangleSupport(const knVec3 corners[3], knVec3 d) {
	double a = knDot(corners[0], d), b = knDot(corners[1], d), c = knDot(corners[2], d);
	return a >= b ? (a >= c ? corners[0] : corners[2]) : (b >= c ? corners[1] : corners[2]);
}

// The core's farthest point along d, in its own frame.
static inline knVec3 knCore_Support(const knCore* core, knVec3 d) {
	knVec3 size = core->size;
	switch (core->kind) {
	case KN_GEOM_CAPSULE:
		return knV3(0.0, 0.0, d.z < 0.0 ? -size.y : size.y);
	case KN_GEOM_BOX:
		return knV3(d.x < 0.0 ? -size.x : size.x, d.y < 0.0 ? -size.y : size.y, d.z < 0.0 ? -size.z : size.z);
	case KN_GEOM_CYLINDER:
		return knCore_CylinderSupport(size, d);
	case KN_GEOM_ELLIPSOID:
		return knCore_EllipsoidSupport(size, d);
	case KN_GEOM_HULL:
		return core->hull->vertices[knHull_Support(core->hull, d)];
	case KN_GEOM_MESH:
		return knCore_TriangleSupport(core->corners, d);
	default:
		return knZero3();
	}
}

static inline knVec3 knCorePair_SupportB(const knCorePair* p, knVec3 d) {
	return knAdd(p->t, knMulMV(&p->R, knCore_Support(&p->b, knTMulMV(&p->R, d))));
}

// The point of C farthest against n.
static inline knCorner knCorePair_Support(const knCorePair* p, knVec3 n) {
	knCorner corner;
	corner.a = knCore_Support(&p->a, n);
	corner.b = knCorePair_SupportB(p, knNeg(n));
	corner.w = knSub(corner.b, corner.a);
	return corner;
}

typedef enum knGjkResult { KN_GJK_APART, KN_GJK_NEAR, KN_GJK_OVERLAP } knGjkResult;

// APART: farther than the margin. NEAR: *axis is the shortest line, to rounding for polytopes and to 1e-4
// sizes for curved cores. OVERLAP: the cores touch or overlap.
knGjkResult knGjk_Distance(const knCorePair* p, knAxis* axis);
// The axis of least translation of cores that touch or overlap; at least one of them is solid.
void knEpa_Depth(const knCorePair* p, knAxis* axis);
// Improves a direction to the nearest local maximum of s, to rounding. `off` is about how far it may be off, in
// radians: kinks within that are tried.
void knAxis_Polish(const knCorePair* p, double off, knAxis* axis);
