// A convex geometry or a plane as a target: closed forms, for spheres, capsules and boxes here, for the others by
// geom/convex.h.
#include "collide/sdf_target.h"

#include "geom/convex.h"

#define AGAINST 0.3 // cosine up to which a surface still looks against a sample

static knClosest closestRound(knVec3 core, double radius, knVec3 p) {
	knVec3 away = knSub(p, core);
	double length = knLength(away);
	knVec3 normal = length > 0.0 ? knScale(1.0 / length, away) : knV3(0.0, 0.0, 1.0);
	return (knClosest){ knMulAdd(core, radius, normal), normal, length - radius };
}

static knClosest faceOfBox(knVec3 half, knVec3 p, int axis, double side) {
	knClosest closest = { .point = p, .normal = knZero3() };
	knSetComponent(&closest.point, axis, side * knComponent(half, axis));
	knSetComponent(&closest.normal, axis, side);
	closest.distance = side * knComponent(p, axis) - knComponent(half, axis);
	return closest;
}

static knClosest closestOnBox(knVec3 half, knVec3 p) {
	knVec3 clamped = knMin3(knMax3(p, knNeg(half)), half);
	knVec3 away = knSub(p, clamped);
	double length = knLength(away);
	if (length > 0.0) {
		return (knClosest){ clamped, knScale(1.0 / length, away), length };
	}
	knVec3 depth = knSub(half, knAbs3(p));
	int axis = depth.x <= depth.y ? (depth.x <= depth.z ? 0 : 2) : (depth.y <= depth.z ? 1 : 2);
	return faceOfBox(half, p, axis, knComponent(p, axis) < 0.0 ? -1.0 : 1.0);
}

static knClosest closestOn(const knGeom* geom, knVec3 p) {
	knVec3 size = geom->size;
	switch (geom->kind) {
	case KN_GEOM_SPHERE:
		return closestRound(knZero3(), size.x, p);
	case KN_GEOM_CAPSULE:
		return closestRound(knV3(0.0, 0.0, knClamp(p.z, -size.y, size.y)), size.x, p);
	case KN_GEOM_BOX:
		return closestOnBox(size, p);
	case KN_GEOM_CYLINDER:
		return knCylinder_Closest(size.x, size.y, p);
	case KN_GEOM_ELLIPSOID:
		return knEllipsoid_Closest(size, p);
	case KN_GEOM_HULL:
		return knHull_Closest(geom->hull, p);
	default: // the plane
		return (knClosest){ knV3(p.x, p.y, 0.0), knV3(0.0, 0.0, 1.0), p.z };
	}
}

static void offerFace(knClosest face, knVec3 facing, double slack, knClosest* best) {
	bool usable = knDot(face.normal, facing) < 0.0 && face.distance <= 0.0;
	if (usable && face.distance > best->distance + slack) {
		*best = face;
	}
}

// The nearest face that looks against the sample, of the kinds that have faces.
static bool closestFacing(const knGeom* geom, knVec3 p, knVec3 facing, knClosest* best) {
	knVec3 size = geom->size;
	*best = (knClosest){ .distance = -INFINITY };
	if (geom->kind == KN_GEOM_BOX) {
		for (int k = 0; k < 6; ++k) {
			offerFace(faceOfBox(size, p, k / 2, k % 2 ? 1.0 : -1.0), facing, 0.0, best);
		}
	} else if (geom->kind == KN_GEOM_CYLINDER) {
		for (int k = -1; k <= 1; k += 2) {
			knClosest cap = { knV3(p.x, p.y, k * size.y), knV3(0.0, 0.0, k), k * p.z - size.y };
			offerFace(cap, facing, 0.0, best);
		}
		offerFace(closestRound(knV3(0.0, 0.0, p.z), size.x, knV3(p.x, p.y, p.z)), facing, 0.0, best);
	} else if (geom->kind == KN_GEOM_HULL) {
		for (int f = 0; f < geom->hull->faceCount; ++f) {
			const knHullFace* face = &geom->hull->faces[f];
			double distance = knDot(face->normal, p) - face->offset;
			knClosest plane = { knMulAdd(p, -distance, face->normal), face->normal, distance };
			offerFace(plane, facing, 0.0, best);
		}
	}
	return knIsFinite(best->distance);
}

static knSeen probe(const knSdfTarget* target, knVec3 point, int nearby) {
	(void)nearby;
	knClosest closest = closestOn(target->geom, point);
	return (knSeen){ closest.distance, closest.normal, closest.distance, { .triangle = -1 } };
}

static bool touch(const knSdfTarget* target, knVec3 point, knVec3 facing, const knSeen* seen, knTouch* out) {
	(void)seen; // closed forms are as quick
	knClosest closest = closestOn(target->geom, point);
	if (closest.distance >= target->margin) {
		return false;
	}
	bool against = target->flat || knDot(closest.normal, facing) < AGAINST;
	knClosest facingOne;
	if (!against && closest.distance < target->slack) {
		against = closestFacing(target->geom, point, facing, &facingOne);
		closest = against ? facingOne : closest;
	}
	*out = (knTouch){ closest.point, closest.normal, closest.distance, -1 };
	return against || closest.distance < 0.0;
}

static double bound(const knSdfTarget* target, knVec3 point) {
	return knGeom_Distance(target->geom, point);
}

knSdfTarget knSdfTarget_Convex(const knGeom* geom, double margin, double otherSize) {
	bool flat = geom->kind == KN_GEOM_PLANE;
	knAabb box = flat ? (knAabb){ knZero3(), knZero3() } : knGeom_Aabb(geom, knIdentityF());
	double smaller = flat ? otherSize : knMin(knDistance(box.lower, box.upper), otherSize);
	return (knSdfTarget){
		.geom = geom,
		.margin = margin,
		.near = margin,
		.exact = INFINITY,
		.slack = 1e-3 * smaller,
		.detail = INFINITY, // the distance is convex along an edge
		.flat = flat,
		.probe = probe,
		.touch = touch,
		.bound = bound,
		.mayReach = knSdfTarget_MayReach,
	};
}
