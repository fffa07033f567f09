// The convex hull as a geometry: bounds, mass, distance and support over the tables of convex.h.
//
// Support: from a vertex known to be extreme in one of 26 directions, uphill from neighbour to neighbour; on
// a convex body the top of such a walk is the top of all. Few vertices are simply scanned.
#include "geom/convex.h"

#define FEW_VERTICES 24

knGeom* knGeom_Hull(const knVec3* points, int count, const knAllocator* allocator, knError* error) {
	knGeom* geom = knGeom_New(KN_GEOM_HULL, knZero3(), allocator, error);
	if (geom == NULL) {
		return NULL;
	}
	geom->hull = knHull_Build(points, count, &geom->allocator, error);
	if (geom->hull == NULL) {
		knGeom_Release(geom);
		return NULL;
	}
	return geom;
}

static void destroy(knGeom* geom) {
	knHull_Destroy(geom->hull, &geom->allocator);
}

static int scan(const knHull* hull, knVec3 direction) {
	int best = 0;
	double reach = knDot(hull->vertices[0], direction);
	for (int i = 1; i < hull->vertexCount; ++i) {
		double along = knDot(hull->vertices[i], direction);
		if (along > reach) {
			reach = along;
			best = i;
		}
	}
	return best;
}

// Which of the 26 directions is about this one.
static int startFor(knVec3 direction) {
	knVec3 size = knAbs3(direction);
	double small = 0.4 * knMax(size.x, knMax(size.y, size.z));
	int x = size.x <= small ? 1 : (direction.x > 0.0 ? 2 : 0),
		y = size.y <= small ? 1 : (direction.y > 0.0 ? 2 : 0);
	int z = size.z <= small ? 1 : (direction.z > 0.0 ? 2 : 0), index = x + 3 * y + 9 * z;
	return index < 13 ? index : index - 1;
}

int knHull_Support(const knHull* hull, knVec3 direction) {
	if (hull->vertexCount <= FEW_VERTICES) {
		return scan(hull, direction);
	}
	int best = hull->starts[startFor(direction)];
	double reach = knDot(hull->vertices[best], direction);
	for (int from = -1; from != best;) {
		from = best;
		for (int k = hull->firstNeighbor[from]; k < hull->firstNeighbor[from + 1]; ++k) {
			double along = knDot(hull->vertices[hull->neighbors[k]], direction);
			if (along > reach) {
				reach = along;
				best = hull->neighbors[k];
			}
		}
	}
	return best;
}

static knMassProps massProps(const knGeom* geom, double density) {
	knMassProps props = geom->hull->props;
	props.mass *= density;
	props.inertia = knScaleM(density, &props.inertia);
	return props;
}

static knAabb aabb(const knGeom* geom, knFrame frame) {
	const knHull* hull = geom->hull;
	knMat33 R = knQuat_ToMat33(frame.q);
	knVec3 rows[3] = { knV3(R.cx.x, R.cy.x, R.cz.x), knV3(R.cx.y, R.cy.y, R.cz.y),
					   knV3(R.cx.z, R.cy.z, R.cz.z) };
	knAabb box = { frame.p, frame.p };
	for (int k = 0; k < 3; ++k) {
		double upper = knDot(rows[k], hull->vertices[knHull_Support(hull, rows[k])]);
		double lower = knDot(rows[k], hull->vertices[knHull_Support(hull, knNeg(rows[k]))]);
		knSetComponent(&box.upper, k, knComponent(frame.p, k) + upper);
		knSetComponent(&box.lower, k, knComponent(frame.p, k) + lower);
	}
	return box;
}

// The point of a face closest to p, which lies above the face's plane: its foot, or on the edges it is beyond.
static knVec3 closestOnFace(const knHull* hull, const knHullFace* face, knVec3 p, double height) {
	knVec3 best = knMulAdd(p, -height, face->normal);
	double bestSquare = INFINITY;
	for (int k = 0; k < face->count; ++k) {
		knVec3 a = hull->vertices[hull->loops[face->first + k]];
		knVec3 b = hull->vertices[hull->loops[face->first + (k + 1 < face->count ? k + 1 : 0)]];
		knVec3 along = knSub(b, a), to = knSub(p, a);
		if (knDot(knCross(along, face->normal), to) <= 0.0) {
			continue; // on the inner side of this edge
		}
		double t = knClamp(knDot(to, along) / knLengthSquared(along), 0.0, 1.0);
		knVec3 foot = knMulAdd(a, t, along);
		double square = knLengthSquared(knSub(p, foot));
		if (square < bestSquare) {
			bestSquare = square;
			best = foot;
		}
	}
	return best;
}

knClosest knHull_Closest(const knHull* hull, knVec3 p) {
	knClosest inside = { .distance = -INFINITY }, outside = { .distance = INFINITY };
	for (int f = 0; f < hull->faceCount; ++f) {
		const knHullFace* face = &hull->faces[f];
		double height = knDot(face->normal, p) - face->offset;
		if (height > inside.distance) {
			inside = (knClosest){ knMulAdd(p, -height, face->normal), face->normal, height };
		}
		if (height <= 0.0 || height >= outside.distance) {
			continue;
		}
		knVec3 point = closestOnFace(hull, face, p, height);
		double length = knDistance(p, point);
		if (length < outside.distance) {
			outside = (knClosest){ point, knScale(1.0 / length, knSub(p, point)), length };
		}
	}
	return inside.distance > 0.0 ? outside : inside;
}

static double distance(const knGeom* geom, knVec3 pointLocal) {
	return knHull_Closest(geom->hull, pointLocal).distance;
}

static const knVec3* vertices(const knGeom* geom, int* count) {
	*count = geom->hull->vertexCount;
	return geom->hull->vertices;
}

static const knTriangle* triangles(const knGeom* geom, int* count) {
	*count = geom->hull->triangleCount;
	return geom->hull->triangles;
}

const knGeomOps knGeomOps_Hull = {
	.name = "hull",
	.destroy = destroy,
	.massProps = massProps,
	.aabb = aabb,
	.distance = distance,
	.vertices = vertices,
	.triangles = triangles,
};
