// Reach cones: the directions that a limb can reach, as a polygon on the unit sphere (Wilhelms and Van Gelder 2001).
//
//   p_0 .. p_n-1   corners, anticlockwise about x; side i is the arc from p_i to p_i+1, shorter than half a turn
//   d              the child's x axis in the parent joint frame
//
// The fan of triangles (x, p_i, p_i+1) covers the cone, which so need not be convex: d is inside if it is in the triangle
// of its sector, d . (p_i x p_i+1) >= 0. With w the child's angular velocity, d' = w x d, so a room that grows along the
// tangent m grows by w . (d x m).
#include "model/joint_reach.h"

#define NARROW 1e-9      // two corners, or a corner and x, that are no closer to one line than this
#define ON_BOUNDARY 1e-9 // rad: the closest point gives no direction any more
#define SAMPLES 16       // of a side, before the search
#define SEARCHES 60

static const knVec3 middle = { 1.0, 0.0, 0.0 };

static double angleBetween(knVec3 a, knVec3 b) {
	return knAtan2(knLength(knCross(a, b)), knDot(a, b));
}

bool knReachCone_IsSound(const knVec3* corners, int count) {
	double around = 0.0;
	if (count < 3 || count > KN_REACH_MOST) {
		return false;
	}
	for (int i = 0; i < count; ++i) {
		const knVec3 a = corners[i], b = corners[(i + 1) % count];
		if (!knIsFinite3(a) || knAbs(knLength(a) - 1.0) > 1e-9 || !(knDot(middle, knCross(a, b)) > NARROW)) {
			return false;
		}
		around += knAtan2(a.y * b.z - a.z * b.y, a.y * b.y + a.z * b.z);
	}
	return around < 3.0 * KN_PI; // once around, not twice
}

static bool isInside(const knJoint* joint, knVec3 d) {
	for (int i = 0; i < joint->reachCount; ++i) {
		const knVec3 a = joint->reach[i], b = joint->reach[(i + 1) % joint->reachCount];
		if (knDot(d, knCross(middle, a)) >= 0.0 && knDot(d, knCross(b, middle)) >= 0.0) {
			return knDot(d, knCross(a, b)) >= 0.0;
		}
	}
	return false;
}

static knVec3 closestOnSide(knVec3 a, knVec3 b, knVec3 d) {
	const knVec3 n = knNormalize(knCross(a, b));
	const knVec3 flat = knMulAdd(d, -knDot(d, n), n);
	if (knLength(flat) > NARROW && knDot(n, knCross(a, flat)) >= 0.0 && knDot(n, knCross(flat, b)) >= 0.0) {
		return knNormalize(flat);
	}
	return knDot(a, d) >= knDot(b, d) ? a : b;
}

static knVec3 closest(const knJoint* joint, knVec3 d, int* side) {
	knVec3 best = joint->reach[0];
	double most = -2.0;
	for (int i = 0; i < joint->reachCount; ++i) {
		const knVec3 c = closestOnSide(joint->reach[i], joint->reach[(i + 1) % joint->reachCount], d);
		if (knDot(c, d) > most) {
			most = knDot(c, d);
			best = c;
			*side = i;
		}
	}
	return best;
}

knVec3 knReachCone_ClosestOnSide(const knJoint* joint, int side, knVec3 d) {
	return closestOnSide(joint->reach[side], joint->reach[(side + 1) % joint->reachCount], d);
}

knVec3 knReachCone_Closest(const knJoint* joint, knVec3 d) {
	int side = 0;
	return closest(joint, d, &side);
}

double knReachCone_Room(const knJoint* joint, knVec3 d, knVec3* inward) {
	int side = 0;
	const knVec3 c = closest(joint, d, &side);
	const double angle = angleBetween(d, c), room = isInside(joint, d) ? angle : -angle;
	knVec3 towards = knMulAdd(c, -knDot(c, d), d);
	if (angle < ON_BOUNDARY) {
		// across the side
		towards = knCross(joint->reach[side], joint->reach[(side + 1) % joint->reachCount]);
		*inward = knNormalize(knMulAdd(towards, -knDot(towards, d), d));
	} else {
		*inward = knScale(room > 0.0 ? -1.0 : 1.0, knNormalize(towards));
	}
	return room;
}

// The swing, without a turn about x, that takes x to a direction.
static knQuat swingTo(knVec3 d) {
	return knNormalizeQ(knQ(1.0 + d.x, 0.0, -d.z, d.y));
}

static double likeness(knVec3 a, knVec3 b, double t, knQuat swing) {
	return knAbs(knDotQ(swingTo(knNormalize(knLerp(a, b, t))), swing));
}

// The best t of a side: samples, then thirds between the neighbours of the best of them.
static double bestOnSide(knVec3 a, knVec3 b, knQuat swing) {
	int best = 0;
	double most = -1.0;
	for (int k = 0; k <= SAMPLES; ++k) {
		const double like = likeness(a, b, (double)k / SAMPLES, swing);
		best = like > most ? k : best;
		most = knMax(most, like);
	}
	double lower = knMax((best - 1.0) / SAMPLES, 0.0), upper = knMin((best + 1.0) / SAMPLES, 1.0);
	for (int k = 0; k < SEARCHES; ++k) {
		const double third = (upper - lower) / 3.0;
		if (likeness(a, b, lower + third, swing) < likeness(a, b, upper - third, swing)) {
			lower += third;
		} else {
			upper -= third;
		}
	}
	return 0.5 * (lower + upper);
}

knQuat knReachCone_ClosestSwing(const knJoint* joint, knQuat swing) {
	knQuat best = knIdentityQ();
	double most = -1.0;
	for (int i = 0; i < joint->reachCount; ++i) {
		const knVec3 a = joint->reach[i], b = joint->reach[(i + 1) % joint->reachCount];
		const double t = bestOnSide(a, b, swing), like = likeness(a, b, t, swing);
		if (like > most) {
			most = like;
			best = swingTo(knNormalize(knLerp(a, b, t)));
		}
	}
	return knDotQ(best, swing) < 0.0 ? knNegQ(best) : best;
}
