// Capsule against box, with the exact signed distance.
//
// All in the box's frame, between the core segment and the box; the radius is subtracted at the end.
//   core outside   the shortest line from core to box (segment.c) gives distance and normal
//   core inside    the least translation that takes the core out of the box: the largest of the (negative)
//                  separations over the 3 face normals and the 3 crosses of the core with the box's edges
// Against a face the capsule gets two contacts, at the ends of the stretch of core above that face, and so
// against anything nearly flat on it: then beside the exact contact and along its normal.
#include "collide/capsule.h"
#include "collide/pair.h"

#define TOUCHING 1e-9  // sizes: closer cores have no direction between closest points
#define ROUNDING 1e-13 // and so for the larger of the two
#define DEEPEST 1e-7   // sizes: the exact contact is added if it is deeper than the stretch's ends by more
#define BIAS 1e-7      // sizes by which an edge must beat a face
#define NEAR_COSINE 0.99

typedef struct CapsuleBox {
	const knPairInput* in;
	knSegment core; // in the box's frame
	double radius;
	knVec3 half;
	double size; // of the smaller of the two
} CapsuleBox;

// Features: face (6) and end of the stretch; place on the core (3) and region of the box (27); edge (3 x 4
// corners).
enum { FEATURE_FACE = 0, FEATURE_CLOSEST = 32, FEATURE_EDGE = 128 };

// One contact from points and the outward normal in the box's frame; returns whether it is within the margin.
static bool addContact(const CapsuleBox* c, knVec3 onCapsule, knVec3 onBox, knVec3 outward, int feature,
					   knContactPoint* point) {
	point->pointA = knPoint(c->in->frameB, onCapsule);
	point->pointB = knPoint(c->in->frameB, onBox);
	point->normal = knNeg(knRotate(c->in->frameB.q, outward));
	point->separation = knDot(knSub(onCapsule, onBox), outward);
	point->feature = (uint64_t)feature;
	return point->separation < c->in->margin;
}

// The contacts of the core's stretch above one face, along a normal near the face's; *deepest is the smallest
// separation found.
static int faceContacts(const CapsuleBox* c, int axis, knVec3 outward, knContactPoint* points,
						double* deepest) {
	double limit = knComponent(c->half, axis), sign = knComponent(outward, axis) < 0.0 ? -1.0 : 1.0;
	*deepest = INFINITY;

	double t[2] = { -1.0, 1.0 };
	int side = (axis + 1) % 3, other = (axis + 2) % 3;
	if (!knSegment_Clip(&c->core, side, knComponent(c->half, side), &t[0], &t[1]) ||
		!knSegment_Clip(&c->core, other, knComponent(c->half, other), &t[0], &t[1])) {
		return 0;
	}
	// a short or upright stretch is one contact, at its lower end
	double length = knLength(c->core.half), rise = sign * knComponent(c->core.half, axis);
	bool single = (t[1] - t[0]) * length < 1e-4 * c->size || knAbs(rise) > 0.999 * length;
	int count = 0;
	for (int end = 0; end < 2; ++end) {
		if (single && end == (rise > 0.0 ? 1 : 0)) {
			continue;
		}
		knVec3 onCapsule = knCapsule_Surface(&c->core, c->radius, t[end], knNeg(outward));
		knVec3 onBox = knMax3(knNeg(c->half), knMin3(c->half, onCapsule));
		knSetComponent(&onBox, axis, sign * limit);
		int feature = FEATURE_FACE + 4 * axis + (sign > 0.0 ? 2 : 0) + end;
		if (addContact(c, onCapsule, onBox, outward, feature, &points[count])) {
			*deepest = knMin(*deepest, points[count++].separation);
		}
	}
	return count;
}

typedef struct Exact {
	knVec3 onCapsule, onBox, outward; // in the box's frame
	int feature;
} Exact;

// The exact contact, and the stretch above a face nearly square to its normal.
static int exactContacts(const CapsuleBox* c, const Exact* exact, knContactPoint* points) {
	knVec3 size = knAbs3(exact->outward);
	int axis = size.x > size.y ? (size.x > size.z ? 0 : 2) : (size.y > size.z ? 1 : 2), count = 0;
	double deepest = INFINITY, separation = knDot(knSub(exact->onCapsule, exact->onBox), exact->outward);
	if (knComponent(size, axis) > NEAR_COSINE) {
		count = faceContacts(c, axis, exact->outward, points, &deepest);
	}
	if (deepest <= separation + DEEPEST * c->size) {
		return count;
	}
	return count +
		   addContact(c, exact->onCapsule, exact->onBox, exact->outward, exact->feature, &points[count]);
}

// --- core outside ---

// -1, 0 or 1 per axis for where a closest point lies on the box, as one number below 27.
static int regionOf(knVec3 delta) {
	int x = delta.x > 0.0 ? 2 : (delta.x < 0.0 ? 0 : 1), y = delta.y > 0.0 ? 2 : (delta.y < 0.0 ? 0 : 1);
	int z = delta.z > 0.0 ? 2 : (delta.z < 0.0 ? 0 : 1);
	return x + 3 * y + 9 * z;
}

static int coreOutside(const CapsuleBox* c, double t, knVec3 onBox, double distance, knContactPoint* points) {
	knVec3 onCore = knSegment_At(&c->core, t);
	knVec3 delta = knSub(onCore, onBox);
	knVec3 outward = knScale(1.0 / distance, delta);

	knVec3 onCapsule = knMulAdd(onCore, -c->radius, outward);
	int place = t <= -1.0 ? 0 : (t >= 1.0 ? 2 : 1);
	Exact exact = { onCapsule, onBox, outward, FEATURE_CLOSEST + 32 * place + regionOf(delta) };
	return exactContacts(c, &exact, points);
}

// --- core inside ---

typedef struct Axis {
	double separation; // of the core: <= 0
	knVec3 outward;    // from box to core
	int index;
} Axis;

// The face whose plane the core leaves first; equal ones: the first.
static Axis bestFace(const CapsuleBox* c) {
	Axis best = { .separation = -INFINITY };
	for (int i = 0; i < 3; ++i) {
		double center = knComponent(c->core.center, i);
		double separation = knAbs(center) - knComponent(c->half, i) - knAbs(knComponent(c->core.half, i));
		if (separation > best.separation + 1e-9 * c->size) {
			best.separation = separation;
			best.outward = knZero3();
			knSetComponent(&best.outward, i, center < 0.0 ? -1.0 : 1.0);
			best.index = i;
		}
	}
	return best;
}

// The best axis across the core and one of the box's edge directions.
static Axis bestEdge(const CapsuleBox* c) {
	Axis best = { .separation = -INFINITY };
	knVec3 u = knNormalize(c->core.half);
	knVec3 crosses[3] = { knV3(0.0, -u.z, u.y), knV3(u.z, 0.0, -u.x), knV3(-u.y, u.x, 0.0) };
	for (int i = 0; i < 3; ++i) {
		double length = knLength(crosses[i]);
		if (length < 1e-6) {
			continue; // parallel: the faces decide
		}
		knVec3 m = knScale(1.0 / length, crosses[i]);
		double center = knDot(c->core.center, m);
		double separation = knAbs(center) - knDot(c->half, knAbs3(m));
		if (separation > best.separation) {
			best = (Axis){ separation, center < 0.0 ? knNeg(m) : m, i };
		}
	}
	return best;
}

// The contact between the core and the box edge along axis `edge->index` that `outward` points at.
static int edgeContact(const CapsuleBox* c, const Axis* edge, knContactPoint* points) {
	knSegment side = { knZero3(), knZero3() };
	int corner = 0;
	for (int i = 0; i < 3; ++i) {
		double h = knComponent(c->half, i);
		bool positive = knComponent(edge->outward, i) > 0.0;
		knSetComponent(i == edge->index ? &side.half : &side.center, i,
					   i == edge->index || positive ? h : -h);
		corner += i != edge->index && positive ? 1 << i : 0;
	}
	double t[2];
	knSegment_Closest(&c->core, &side, &t[0], &t[1]);
	knVec3 onCapsule = knMulAdd(knSegment_At(&c->core, t[0]), -c->radius, edge->outward);
	knVec3 onBox = knSegment_At(&side, t[1]);
	Exact exact = { onCapsule, onBox, edge->outward, FEATURE_EDGE + 8 * edge->index + corner };
	return exactContacts(c, &exact, points);
}

static int coreInside(const CapsuleBox* c, knContactPoint* points) {
	Axis face = bestFace(c), edge = bestEdge(c);
	if (edge.separation <= face.separation + BIAS * c->size) {
		double deepest;
		int count = faceContacts(c, face.index, face.outward, points, &deepest);
		if (deepest <= face.separation - c->radius + 2.0 * BIAS * c->size) {
			return count;
		}
	}
	return edgeContact(c, &edge, points);
}

int knPair_CapsuleBox(const knPairInput* in, knContactPoint* points) {
	CapsuleBox c = { .in = in, .radius = in->geomA->size.x, .half = in->geomB->size };
	double halfLength = in->geomA->size.y;
	c.core = knSegment_OfCapsule(knInvMulF(in->frameB, in->frameA), halfLength);
	double reachA = c.radius + halfLength, reachB = knLength(c.half);
	c.size = knMin(reachA, reachB);

	double t = knSegment_ClosestToBox(&c.core, c.half);
	knVec3 onCore = knSegment_At(&c.core, t);
	knVec3 onBox = knMax3(knNeg(c.half), knMin3(c.half, onCore));
	double distance = knDistance(onCore, onBox);
	if (distance - c.radius >= in->margin) {
		return 0;
	}
	double touching = TOUCHING * c.size + ROUNDING * knMax(reachA, reachB);
	return distance > touching ? coreOutside(&c, t, onBox, distance, points) : coreInside(&c, points);
}
