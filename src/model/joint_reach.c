// Reach cones: the directions that a limb can reach, as a polygon on the unit sphere (Wilhelms and Van Gelder 2001).
//
//   p_0 .. p_n-1   corners, anticlockwise about x; side i is the arc from p_i to p_i+1, shorter than half a turn
//   d              the child's x axis in the parent joint frame
//
// The fan of triangles (x, p_i, p_i+1) covers the cone, which so need not be convex: d is inside if it is in the triangle
// of its sector, d . (p_i x p_i+1) >= 0. With w the child's angular velocity, d' = w x d, so a room that grows along the
// tangent m grows by w . (d x m).
//
// Twist limits are given at x and at the corners. In a triangle d = alpha x + beta p_i + gamma p_i+1, and the limits there are
// the means with these weights: continuous, and along a side those of its two corners. The closest rotation within them is
// sought triangle by triangle: in beta and gamma, with the twist at its best for each (Gauss-Newton).
#include "model/joint_math.h"
#include "model/joint_reach.h"

#define NARROW 1e-9      // two corners, or a corner and x, that are no closer to one line than this
#define ON_BOUNDARY 1e-9 // rad: the closest point gives no direction any more
#define SAMPLES 16       // of a side, before the search
#define SEARCHES 60
#define GRID 4          // divisions of a triangle's sides, before the search
#define NEWTON_MOST 60  // steps
#define STEP_DONE 1e-13 // of a side
#define DIFFERENCE 1e-5 // of a side, for derivatives

static const knVec3 middle = { 1.0, 0.0, 0.0 };

static double angleBetween(knVec3 a, knVec3 b) {
	return knAtan2(knLength(knCross(a, b)), knDot(a, b));
}

bool knReachCone_IsSound(const knVec3* corners, int count) {
	double around = 0.0;
	if (count < 3 || count > KN_REACH_MAX) {
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

// --- twist limits of the corners -------------------------------------------------------------------------

// A triangle of the fan: its weights of a direction are the products with `dual`.
typedef struct Triangle {
	knVec3 a, b;
	knVec3 dual[3];            // of x, a, b
	double lower[3], upper[3]; // likewise
} Triangle;

static Triangle triangleAt(const knJoint* joint, int side) {
	const int next = (side + 1) % joint->reachCount;
	const knVec3 a = joint->reach[side], b = joint->reach[next];
	const double scale = 1.0 / knDot(middle, knCross(a, b));
	return (Triangle){
		.a = a,
		.b = b,
		.dual = { knScale(scale, knCross(a, b)), knScale(scale, knCross(b, middle)),
				  knScale(scale, knCross(middle, a)) },
		.lower = { joint->twistLower, joint->reachLower[side], joint->reachLower[next] },
		.upper = { joint->twistUpper, joint->reachUpper[side], joint->reachUpper[next] },
	};
}

// The triangle in whose sector a direction is.
static int sectorOf(const knJoint* joint, knVec3 d) {
	int best = 0;
	double most = -(double)INFINITY;
	for (int i = 0; i < joint->reachCount; ++i) {
		const Triangle triangle = triangleAt(joint, i);
		const double least = knMin(knDot(triangle.dual[1], d), knDot(triangle.dual[2], d));
		best = least > most ? i : best;
		most = knMax(most, least);
	}
	return best;
}

// The weighted mean of values at x, a and b, and its slope at d; beyond the side of a and b without x.
static double interpolate(const Triangle* triangle, const double values[3], knVec3 d, knVec3* slope) {
	const int first = knDot(triangle->dual[0], d) < 0.0 ? 1 : 0;
	double sum = 0.0, total = 0.0;
	*slope = knZero3();
	for (int i = first; i < 3; ++i) {
		const double weight = knMax(knDot(triangle->dual[i], d), 0.0);
		sum += weight * values[i];
		total += weight;
	}
	if (!(total > 0.0)) {
		return values[0]; // against x, where no direction is nearer than another
	}
	const double mean = sum / total;
	for (int i = first; i < 3; ++i) {
		*slope = knMulAdd(*slope, (values[i] - mean) / total, triangle->dual[i]);
	}
	*slope = knMulAdd(*slope, -knDot(*slope, d), d);
	return mean;
}

knTwistRange knReachCone_TwistRange(const knJoint* joint, knVec3 d) {
	const Triangle triangle = triangleAt(joint, sectorOf(joint, d));
	knTwistRange range;
	range.lower = interpolate(&triangle, triangle.lower, d, &range.slopeLower);
	range.upper = interpolate(&triangle, triangle.upper, d, &range.slopeUpper);
	return range;
}

// --- the closest rotation --------------------------------------------------------------------------------

// The rotation at the weights w of a and b that is closest to q; `apart` is the sine of half the angle between the two, as
// a vector.
static knQuat closestAt(const Triangle* triangle, const double w[2], knQuat q, double apart[3]) {
	const double rest = 1.0 - w[0] - w[1];
	const double lower = rest * triangle->lower[0] + w[0] * triangle->lower[1] + w[1] * triangle->lower[2];
	const double upper = rest * triangle->upper[0] + w[0] * triangle->upper[1] + w[1] * triangle->upper[2];
	const knVec3 d = knMulAdd(knMulAdd(knScale(rest, middle), w[0], triangle->a), w[1], triangle->b);
	const knQuat swing = swingTo(knNormalize(d)), r = knMulQ(knConj(swing), q);
	const double tau = knTurnNearLimits(knAngleOfHalf(r.w, r.x), lower, upper);
	const knQuat twist = knTurnAboutX(knClamp(tau, lower, upper));
	apart[0] = twist.w * r.x - twist.x * r.w;
	apart[1] = r.y;
	apart[2] = r.z;
	return knMulQ(swing, twist);
}

static double dot3(const double a[3], const double b[3]) {
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double distanceAt(const Triangle* triangle, const double w[2], knQuat q) {
	double apart[3];
	closestAt(triangle, w, q, apart);
	return dot3(apart, apart);
}

// The quadratic 1/2 p.Hp + g.p, H = (h0, h1; h1, h2), along the way from w over the triangle of weights: its least point.
typedef struct Model {
	double h[3], g[2];
} Model;

static double modelAt(const Model* m, double x, double y) {
	return 0.5 * (m->h[0] * x * x + 2.0 * m->h[1] * x * y + m->h[2] * y * y) + m->g[0] * x + m->g[1] * y;
}

static void leastOfModel(const Model* m, const double w[2], double p[2]) {
	static const double corner[4][2] = { { 0.0, 0.0 }, { 1.0, 0.0 }, { 0.0, 1.0 }, { 0.0, 0.0 } };
	const double det = m->h[0] * m->h[2] - m->h[1] * m->h[1];
	p[0] = (m->h[1] * m->g[1] - m->h[2] * m->g[0]) / det;
	p[1] = (m->h[1] * m->g[0] - m->h[0] * m->g[1]) / det;
	if (det > 0.0 && w[0] + p[0] >= 0.0 && w[1] + p[1] >= 0.0 && w[0] + p[0] + w[1] + p[1] <= 1.0) {
		return;
	}
	double least = (double)INFINITY;
	for (int i = 0; i < 3; ++i) {
		const double fx = corner[i][0] - w[0], fy = corner[i][1] - w[1];
		const double dx = corner[i + 1][0] - corner[i][0], dy = corner[i + 1][1] - corner[i][1];
		const double curve = m->h[0] * dx * dx + 2.0 * m->h[1] * dx * dy + m->h[2] * dy * dy;
		const double slope =
			dx * (m->h[0] * fx + m->h[1] * fy + m->g[0]) + dy * (m->h[1] * fx + m->h[2] * fy + m->g[1]);
		const double t = curve > 0.0 ? knClamp(-slope / curve, 0.0, 1.0) : (slope > 0.0 ? 0.0 : 1.0);
		const double value = modelAt(m, fx + t * dx, fy + t * dy);
		if (value < least) {
			least = value;
			p[0] = fx + t * dx;
			p[1] = fy + t * dy;
		}
	}
}

static Model modelOf(const Triangle* triangle, const double w[2], knQuat q) {
	double here[3], slope[2][3];
	closestAt(triangle, w, q, here);
	for (int k = 0; k < 2; ++k) {
		double more[2] = { w[0], w[1] }, less[2] = { w[0], w[1] }, after[3], before[3];
		more[k] += DIFFERENCE;
		less[k] -= DIFFERENCE;
		closestAt(triangle, more, q, after);
		closestAt(triangle, less, q, before);
		for (int i = 0; i < 3; ++i) {
			slope[k][i] = (after[i] - before[i]) / (2.0 * DIFFERENCE);
		}
	}
	Model m = { .h = { dot3(slope[0], slope[0]), dot3(slope[0], slope[1]), dot3(slope[1], slope[1]) },
				.g = { dot3(slope[0], here), dot3(slope[1], here) } };
	const double soft = 1e-12 * (m.h[0] + m.h[2]);
	m.h[0] += soft;
	m.h[2] += soft;
	return m;
}

// From w downhill within the triangle; returns the square of the distance reached.
static double descend(const Triangle* triangle, knQuat q, double w[2]) {
	double distance = distanceAt(triangle, w, q);
	for (int step = 0; step < NEWTON_MOST; ++step) {
		const Model m = modelOf(triangle, w, q);
		double p[2], share = 1.0;
		leastOfModel(&m, w, p);
		for (;; share *= 0.5) {
			if (!(share * knMax(knAbs(p[0]), knAbs(p[1])) > STEP_DONE)) {
				return distance;
			}
			const double next[2] = { w[0] + share * p[0], w[1] + share * p[1] };
			const double there = distanceAt(triangle, next, q);
			if (there < distance) {
				distance = there;
				w[0] = next[0];
				w[1] = next[1];
				break;
			}
		}
	}
	return distance;
}

// The square of the sine of half the angle by which q must be turned at least to bring x into the triangle.
static double leastTurn(const Triangle* triangle, knVec3 d) {
	if (knDot(triangle->dual[0], d) >= 0.0 && knDot(triangle->dual[1], d) >= 0.0 &&
		knDot(triangle->dual[2], d) >= 0.0) {
		return 0.0;
	}
	const double far = knLengthSquared(knSub(d, closestOnSide(triangle->a, triangle->b, d)));
	const double left = knLengthSquared(knSub(d, closestOnSide(middle, triangle->a, d)));
	const double right = knLengthSquared(knSub(d, closestOnSide(triangle->b, middle, d)));
	return 0.25 * knMin(far, knMin(left, right));
}

// The best of a triangle's grid and of where d itself is in it.
static void startOf(const Triangle* triangle, knVec3 d, knQuat q, double w[2]) {
	const double beta = knMax(knDot(triangle->dual[1], d), 0.0),
				 gamma = knMax(knDot(triangle->dual[2], d), 0.0);
	const double total = knMax(knDot(triangle->dual[0], d), 0.0) + beta + gamma;
	w[0] = total > 0.0 ? beta / total : 0.0;
	w[1] = total > 0.0 ? gamma / total : 0.0;
	double least = distanceAt(triangle, w, q);
	for (int i = 0; i <= GRID; ++i) {
		for (int k = 0; i + k <= GRID; ++k) {
			const double at[2] = { (double)i / GRID, (double)k / GRID };
			const double distance = distanceAt(triangle, at, q);
			if (distance < least) {
				least = distance;
				w[0] = at[0];
				w[1] = at[1];
			}
		}
	}
}

knQuat knReachCone_ClosestTwisted(const knJoint* joint, knQuat q) {
	const knVec3 d = knRotate(q, middle);
	const int first = sectorOf(joint, d);
	double least = 2.0;
	knQuat best = knIdentityQ();
	for (int i = 0; i < joint->reachCount; ++i) {
		const Triangle triangle = triangleAt(joint, (first + i) % joint->reachCount);
		if (leastTurn(&triangle, d) >= least) {
			continue;
		}
		double w[2], apart[3];
		startOf(&triangle, d, q, w);
		const double distance = descend(&triangle, q, w);
		if (distance < least) {
			least = distance;
			best = closestAt(&triangle, w, q, apart);
		}
	}
	return knDotQ(best, q) < 0.0 ? knNegQ(best) : best;
}
