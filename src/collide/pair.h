// The narrow phase inside the library: one function per pair of kinds, in a grid (pair.c).
//
// A pair function writes at most KN_PAIR_MAX_POINTS contacts of two convex geometries, or KN_MESH_MAX_POINTS if
// there is a mesh or height field, with the conventions of knuckle/collide.h and `feature` below 2^24 for what
// compounds can hold (they fill the higher bits), and returns how many. It keeps only points with separation <
// margin. It allocates nothing, remembers nothing and may run on any
// thread.
#pragma once

#include "geom/geom.h"
#include "knuckle/collide.h"

#define KN_PAIR_WAYS 4

typedef struct knPairInput {
	const knGeom* geomA;
	const knGeom* geomB;
	knFrame frameA, frameB;
	double margin;
	// pairs with meshes: if there are ways of B as seen from A, only what they and the turns bring within `near` counts
	double near;
	bool apart;      // no motion brings the two together
	bool looksAhead; // gaps that are far from touching need not be exact
	bool
		anyWillDo; // only whether there is a contact is asked: pairs with meshes stop at the first that they find
	double slide; // m, how far the two may go past each other; with looksAhead only
	double tilt;  // rad, how far they may turn; with looksAhead only
	int wayCount;
	knVec3 ways[KN_PAIR_WAYS];
	knVec3 turns[2], centers[2]; // rotation vectors of A and B, and about what, in the world
} knPairInput;

// Without ways. The record is long and most pairs have none: what belongs to them is not written, and nothing is
// copied.
static inline void knPairInput_Set(knPairInput* in, const knGeom* geomA, knFrame frameA, const knGeom* geomB,
								   knFrame frameB, double margin) {
	in->geomA = geomA;
	in->geomB = geomB;
	in->frameA = frameA;
	in->frameB = frameB;
	in->margin = in->near = margin;
	in->apart = in->looksAhead = in->anyWillDo = false;
	in->wayCount = 0;
}

static inline knPairInput knPairInput_Make(const knGeom* geomA, knFrame frameA, const knGeom* geomB,
										   knFrame frameB, double margin) {
	knPairInput in = { 0 };
	knPairInput_Set(&in, geomA, frameA, geomB, frameB, margin);
	return in;
}

typedef int knPairFn(const knPairInput* in, knContactPoint* points);

knPairFn knPair_SphereSphere, knPair_SphereCapsule, knPair_SphereBox, knPair_SpherePlane;
knPairFn knPair_CapsuleCapsule, knPair_CapsuleBox, knPair_CapsulePlane;
knPairFn knPair_BoxBox, knPair_BoxPlane;
knPairFn knPair_SphereCylinder, knPair_SphereEllipsoid, knPair_PlaneConvex, knPair_ConvexConvex;

// A mesh or height field with anything but a compound; the mesh is B unless both are.
knPairFn knPair_Mesh;

#define KN_MESH_MAX_POINTS 64

// Points that a pair of these kinds (no compounds) may have.
static inline int knPair_MaxPoints(knGeomKind kindA, knGeomKind kindB) {
	bool mesh = kindA == KN_GEOM_MESH || kindB == KN_GEOM_MESH || kindA == KN_GEOM_HEIGHT_FIELD ||
				kindB == KN_GEOM_HEIGHT_FIELD;
	return mesh ? KN_MESH_MAX_POINTS : KN_PAIR_MAX_POINTS;
}

// Looks up the grid; either order of kinds, no compounds.
int knPair_Convex(const knPairInput* in, knContactPoint* points);

// --- compounds ---

static inline bool knPairInput_HasParts(const knPairInput* in) {
	return in->geomA->kind == KN_GEOM_COMPOUND || in->geomB->kind == KN_GEOM_COMPOUND;
}

// Where a part's partner can be: below a plane, or in a box.
typedef struct knRegion {
	bool isPlane;
	knAabb box;
	knVec3 normal;
	double offset;
} knRegion;

// Walks the pairs of parts of two geometries that may be close; a geometry that is no compound is its only
// part.
typedef struct knPartWalk {
	const knPairInput* in;
	int childA, childB; // the present pair, written by knPartWalk_Next
	knRegion ofB;       // B in A's frame
	knRegion ofPartA;   // A's present part in B's frame
	int cursorA, cursorB;
	bool started; // a part of A is present
} knPartWalk;

knPartWalk knPartWalk_Start(const knPairInput* in);
// False at the end.
bool knPartWalk_Next(knPartWalk* walk);
// The contacts of the present pair of parts, with full features.
int knPair_Parts(const knPairInput* in, int childA, int childB, knContactPoint* points);

// Whether the two have a contact within the margin: as knCollide_Pair > 0, sooner, and for meshes as exact as their fields are.
bool knPair_Touches(const knGeom* geomA, knFrame frameA, const knGeom* geomB, knFrame frameB, double margin);

// Bits of a feature: part of A (20), part of B (20), the pair function's own (24).
static inline uint64_t knFeature(int childA, int childB, uint64_t own) {
	return (uint64_t)childA << 44 | (uint64_t)childB << 24 | own;
}

// --- for pair functions ---

// The same two with their names exchanged, and what a pair function found for them named back.
knPairInput knPairInput_Swap(const knPairInput* in);
void knContact_Swap(knContactPoint* points, int count);

// Two spheres at centers `a` and `b` (or the closest points of two cores): the contact along `normal`.
static inline knContactPoint knContact_Cores(knVec3 a, double radiusA, knVec3 b, double radiusB,
											 knVec3 normal) {
	knContactPoint point;
	point.pointA = knMulAdd(a, radiusA, normal);
	point.pointB = knMulAdd(b, -radiusB, normal);
	point.normal = normal;
	point.separation = knDot(knSub(b, a), normal) - (radiusA + radiusB);
	point.feature = 0;
	return point;
}
