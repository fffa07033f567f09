// Sphere against sphere, capsule, box, plane, cylinder and ellipsoid.
//
// All in closed form: the closest point of the other core to the sphere's centre. Where the centre lies on
// the other core (concentric spheres, centre on a capsule's axis, centre inside a box) there is no direction
// to it; then the normal is +z, some direction across the axis, or that of the nearest face.
#include "collide/pair.h"
#include "collide/segment.h"
#include "geom/convex.h"

#define SAME_POINT 1e-13 // cores closer than this fraction of the radii count as touching

// The contact of a sphere at `a` with the closest core point `b`; `fallback` is the normal if they coincide.
static int touch(const knPairInput* in, knVec3 a, knVec3 b, knVec3 fallback, knContactPoint* point) {
	double radiusA = in->geomA->size.x, radiusB = in->geomB->size.x;
	knVec3 delta = knSub(b, a);
	double length = knLength(delta);
	if (length - (radiusA + radiusB) >= in->margin) {
		return 0;
	}
	bool same = length <= SAME_POINT * (radiusA + radiusB);
	*point = knContact_Cores(a, radiusA, b, radiusB, same ? fallback : knScale(1.0 / length, delta));
	return point->separation < in->margin;
}

int knPair_SphereSphere(const knPairInput* in, knContactPoint* points) {
	return touch(in, in->frameA.p, in->frameB.p, knV3(0.0, 0.0, 1.0), points);
}

int knPair_SphereCapsule(const knPairInput* in, knContactPoint* points) {
	knSegment core = knSegment_OfCapsule(in->frameB, in->geomB->size.y);
	knVec3 closest = knSegment_At(&core, knSegment_Project(&core, in->frameA.p));
	return touch(in, in->frameA.p, closest, knRotate(in->frameB.q, knV3(1.0, 0.0, 0.0)), points);
}

// The face of a box that a point inside is closest to, as the outward normal; equal ones: the first.
static knVec3 nearestFace(knVec3 center, knVec3 half, double* depth) {
	knVec3 gap = knSub(half, knAbs3(center));
	double slack = 1e-9 * knMin(half.x, knMin(half.y, half.z));
	int axis = gap.y < gap.x - slack ? 1 : 0;
	axis = gap.z < knComponent(gap, axis) - slack ? 2 : axis;
	*depth = knComponent(gap, axis);
	knVec3 outward = knZero3();
	knSetComponent(&outward, axis, knComponent(center, axis) < 0.0 ? -1.0 : 1.0);
	return outward;
}

int knPair_SphereBox(const knPairInput* in, knContactPoint* points) {
	double radius = in->geomA->size.x;
	knVec3 half = in->geomB->size;
	knVec3 center = knInvPoint(in->frameB, in->frameA.p); // in the box's frame from here
	knVec3 closest = knMax3(knNeg(half), knMin3(half, center));
	knVec3 delta = knSub(center, closest);
	double distance = knLength(delta);
	if (distance - radius >= in->margin) {
		return 0;
	}
	knVec3 outward;
	if (distance > SAME_POINT * (radius + knMax(half.x, knMax(half.y, half.z)))) {
		outward = knScale(1.0 / distance, delta);
	} else {
		double depth;
		outward = nearestFace(center, half, &depth);
		closest = knMulAdd(center, depth, outward);
	}
	knVec3 onBox = knPoint(in->frameB, closest);
	points[0] = knContact_Cores(in->frameA.p, radius, onBox, 0.0, knNeg(knRotate(in->frameB.q, outward)));
	return points[0].separation < in->margin;
}

int knPair_SpherePlane(const knPairInput* in, knContactPoint* points) {
	knVec3 up = knRotate(in->frameB.q, knV3(0.0, 0.0, 1.0));
	knVec3 center = in->frameA.p;
	double height = knDot(knSub(center, in->frameB.p), up);
	points[0] = knContact_Cores(center, in->geomA->size.x, knMulAdd(center, -height, up), 0.0, knNeg(up));
	return points[0].separation < in->margin;
}

// The contact with the surface point that is closest to the centre, given in B's frame.
static int touchClosest(const knPairInput* in, const knClosest* closest, knContactPoint* point) {
	double radius = in->geomA->size.x;
	point->normal = knNeg(knRotate(in->frameB.q, closest->normal));
	point->pointA = knMulAdd(in->frameA.p, radius, point->normal);
	point->pointB = knPoint(in->frameB, closest->point);
	point->separation = closest->distance - radius;
	point->feature = 0;
	return point->separation < in->margin;
}

int knPair_SphereCylinder(const knPairInput* in, knContactPoint* points) {
	knVec3 center = knInvPoint(in->frameB, in->frameA.p);
	knClosest closest = knCylinder_Closest(in->geomB->size.x, in->geomB->size.y, center);
	return touchClosest(in, &closest, points);
}

int knPair_SphereEllipsoid(const knPairInput* in, knContactPoint* points) {
	knVec3 center = knInvPoint(in->frameB, in->frameA.p);
	knClosest closest = knEllipsoid_Closest(in->geomB->size, center);
	return touchClosest(in, &closest, points);
}
