// Capsule against capsule and plane.
//
// One contact lies along the shortest line between the two cores. Nearly parallel capsules touch along a
// line; they get a second contact so that one can lie on the other: the two ends of the stretch where the
// cores run side by side, with the same normal.
#include "collide/capsule.h"
#include "collide/pair.h"

#define SAME_POINT 1e-13    // cores closer than this fraction of the sizes cross
#define NEARLY_PARALLEL 0.1 // sine of the angle between cores that may get two contacts ...
#define TWO_POINTS                                                                                           \
	0.01 // ... if they are farther apart, and spread less sideways, than this fraction of the radius

knVec3 knCapsule_Surface(const knSegment* core, double radius, double t, knVec3 direction) {
	knVec3 at = knSegment_At(core, t);
	double length = knLength(core->half);
	knVec3 axis = knScale(1.0 / length, core->half);
	double along = knDot(direction, axis);
	double end = 1.0 - 1e-9; // clipping may miss an end by rounding
	if ((t >= end && along >= 0.0) || (t <= -end && along <= 0.0)) {
		return knMulAdd(at, radius, direction); // on the end cap
	}
	return knMulAdd(at, radius, knNormalize(knMulAdd(direction, -along, axis)));
}

// --- capsule and capsule ---

// The direction of a short line from A's core to B's, which has lost digits, or of none: it stands square on a core
// that it meets inside; on two that cross, along their cross product.
static knVec3 squareNormal(const knSegment cores[2], const double t[2], knVec3 line) {
	knVec3 u[2] = { knNormalize(cores[0].half), knNormalize(cores[1].half) }, cross = knCross(u[0], u[1]);
	bool inside[2] = { knAbs(t[0]) < 1.0, knAbs(t[1]) < 1.0 };
	double sine = knLength(cross), length = knLength(line);
	bool crossing = (inside[0] && inside[1] && sine > 1e-6) || (length == 0.0 && sine > 1e-9);
	knVec3 normal = line;
	if (crossing) {
		knVec3 towards = length > 0.0 ? line : knSub(cores[1].center, cores[0].center);
		length = 1.0;
		normal = knScale((knDot(cross, towards) < 0.0 ? -1.0 : 1.0) / sine, cross);
	}
	// the longer core comes last, because it counts most
	int longer = knLengthSquared(cores[0].half) < knLengthSquared(cores[1].half);
	for (int turn = 0; turn < 2; ++turn) {
		int k = turn == 0 ? 1 - longer : longer;
		double along = knDot(normal, u[k]);
		bool beyond = (k == 0 ? t[0] : -t[1]) * along >= 0.0; // the line leaves an end outwards
		normal = crossing || inside[k] || !beyond ? knMulAdd(normal, -along, u[k]) : normal;
	}
	double rest = knLength(normal);
	return rest > 0.1 * length ? knScale(1.0 / rest, normal) : knAnyOrthogonal(u[0]);
}

static bool makeContact(const knSegment cores[2], const double radii[2], const double t[2], knVec3 normal,
						double margin, knContactPoint* point) {
	point->pointA = knCapsule_Surface(&cores[0], radii[0], t[0], normal);
	point->pointB = knCapsule_Surface(&cores[1], radii[1], t[1], knNeg(normal));
	point->normal = normal;
	point->separation = knDot(knSub(point->pointB, point->pointA), normal);
	return point->separation < margin;
}

// The two ends of the stretch where the cores run side by side, measured along the mean of their directions,
// so that exchanging the capsules changes nothing. No contacts if they do not.
static int sideBySide(const knSegment cores[2], const double radii[2], knVec3 normal, double margin,
					  knContactPoint* points) {
	knVec3 u = knNormalize(cores[0].half), v = knNormalize(cores[1].half);
	knVec3 turn = knCross(u, v);
	if (knLength(turn) > NEARLY_PARALLEL) {
		return 0;
	}
	knVec3 axis = knNormalize(knDot(u, v) > 0.0 ? knAdd(u, v) : knSub(u, v));
	knVec3 middle = knLerp(cores[0].center, cores[1].center, 0.5);
	double lower = -INFINITY, upper = INFINITY, centers[2], reaches[2];
	for (int k = 0; k < 2; ++k) {
		centers[k] = knDot(knSub(cores[k].center, middle), axis);
		reaches[k] = knDot(cores[k].half, axis);
		lower = knMax(lower, centers[k] - knAbs(reaches[k]));
		upper = knMin(upper, centers[k] + knAbs(reaches[k]));
	}
	double least = TWO_POINTS * knMin(radii[0], radii[1]);
	if (upper - lower <= least || knAbs(knDot(turn, normal)) * (upper - lower) > least) {
		return 0;
	}
	int count = 0;
	for (int end = 0; end < 2; ++end) {
		double x = end == 0 ? lower : upper, t[2];
		for (int k = 0; k < 2; ++k) {
			t[k] = knClamp((x - centers[k]) / reaches[k], -1.0, 1.0);
		}
		if (makeContact(cores, radii, t, normal, margin, &points[count])) {
			points[count++].feature = 1 + (uint64_t)end;
		}
	}
	return count;
}

int knPair_CapsuleCapsule(const knPairInput* in, knContactPoint* points) {
	knSegment cores[2] = { knSegment_OfCapsule(in->frameA, in->geomA->size.y),
						   knSegment_OfCapsule(in->frameB, in->geomB->size.y) };
	double radii[2] = { in->geomA->size.x, in->geomB->size.x };
	double t[2];
	knSegment_Closest(&cores[0], &cores[1], &t[0], &t[1]);
	knVec3 a = knSegment_At(&cores[0], t[0]), b = knSegment_At(&cores[1], t[1]);
	double distance = knDistance(a, b), sum = radii[0] + radii[1];
	if (distance - sum >= in->margin) {
		return 0;
	}
	double lengths = in->geomA->size.y + in->geomB->size.y;
	knVec3 line = distance > SAME_POINT * (sum + lengths) ? knSub(b, a) : knZero3();
	knVec3 normal =
		distance < 1e-3 * lengths ? squareNormal(cores, t, line) : knScale(1.0 / distance, knSub(b, a));

	int count = sideBySide(cores, radii, normal, in->margin, points);
	double best = INFINITY;
	for (int i = 0; i < count; ++i) {
		best = knMin(best, points[i].separation);
	}
	double size = knMin(radii[0] + in->geomA->size.y, radii[1] + in->geomB->size.y);
	if (knAbs(best - (distance - sum)) <= 1e-7 * size) {
		return count;
	}
	points[0] = knContact_Cores(a, radii[0], b, radii[1], normal);
	return points[0].separation < in->margin;
}

// --- capsule and plane ---

int knPair_CapsulePlane(const knPairInput* in, knContactPoint* points) {
	double radius = in->geomA->size.x;
	knSegment core = knSegment_OfCapsule(in->frameA, in->geomA->size.y);
	knVec3 up = knRotate(in->frameB.q, knV3(0.0, 0.0, 1.0));
	bool upright = knAbs(knDot(core.half, up)) > 0.999 * in->geomA->size.y; // its upper end touches nothing
	int count = 0;
	for (int end = 0; end < 2; ++end) {
		double t = end == 0 ? -1.0 : 1.0;
		if (upright && t * knDot(core.half, up) > 0.0) {
			continue;
		}
		knContactPoint* point = &points[count];
		point->pointA = knCapsule_Surface(&core, radius, t, knNeg(up));
		point->separation = knDot(knSub(point->pointA, in->frameB.p), up);
		point->pointB = knMulAdd(point->pointA, -point->separation, up);
		point->normal = knNeg(up);
		point->feature = (uint64_t)end;
		count += point->separation < in->margin;
	}
	return count;
}
