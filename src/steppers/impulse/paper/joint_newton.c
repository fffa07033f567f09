// Pre-stabilization equations of one joint and Newton's method on them (joint_newton.h has the symbols).
#include "steppers/impulse/paper/joint_newton.h"

#define NEWTON_LIMIT 20
#define GOLDEN_INTERVAL 1e-4
#define GOLDEN_LIMIT 100
#define MOST_TURN 1.5707963267948966 // rad: an impulse that turns a body farther in the step closes no joint

// --- one body under an impulse ---------------------------------------------------------------------------

void knNewtonMotion_Turn(double angle2, double* c1, double* c2, double* sinHalf, double* cosHalf) {
	if (angle2 > KN_NEWTON_SMALL) {
		double angle = sqrt(angle2);
		knSinCos(0.5 * angle, sinHalf, cosHalf);
		// 1 - cos = 2 sin^2(half), sin = 2 sin(half) cos(half)
		*c1 = 2.0 * *sinHalf * *sinHalf / angle2;
		*c2 = (angle - 2.0 * *sinHalf * *cosHalf) / (angle2 * angle);
		*sinHalf /= angle;
	} else {
		*c1 = 0.5 - angle2 / 24.0;
		*c2 = 1.0 / 6.0 - angle2 / 120.0;
		*sinHalf = 0.5 - angle2 / 48.0 * (1.0 - angle2 / 80.0);
		*cosHalf = 1.0 - angle2 / 8.0 * (1.0 - angle2 / 48.0);
	}
}

knNewtonMotion knNewtonMotion_Make(knVec3 x, knTwist u, double h) {
	knNewtonMotion motion = { .center = knMulAdd(x, h, u.lin), .phi = knScale(h, u.ang) };
	double sinHalf, cosHalf;
	knNewtonMotion_Turn(knLengthSquared(motion.phi), &motion.c1, &motion.c2, &sinHalf, &cosHalf);
	motion.turn = knQ(cosHalf, sinHalf * motion.phi.x, sinHalf * motion.phi.y, sinHalf * motion.phi.z);
	return motion;
}

// sign +1 child, -1 parent; the impulse is the child's
static knNewtonMotion move(const knNewtonBody* body, double h, double sign, knTwist impulse) {
	knVec3 torque = knAdd(impulse.ang, knCross(body->lever, impulse.lin));
	knVec3 v = knMulAdd(body->u.lin, sign * body->invMass, impulse.lin);
	knVec3 w = knMulAdd(body->u.ang, sign, knMulMV(&body->invInertia, torque));
	return knNewtonMotion_Make(body->x, knMakeTwist(w, v), h);
}

// A(phi) d
static knVec3 timesJacobian(const knNewtonMotion* motion, knVec3 d) {
	knVec3 once = knCross(motion->phi, d), twice = knCross(motion->phi, once);
	return knMulAdd(knMulAdd(d, motion->c1, once), motion->c2, twice);
}

// How the body's end pose moves with an impulse on it: (A h I^-1 (g + r x j), h j/m).
static knTwist response(const knNewtonBody* body, const knNewtonMotion* motion, double h, knTwist impulse) {
	knVec3 torque = knAdd(impulse.ang, knCross(body->lever, impulse.lin));
	knVec3 spin = knScale(h, knMulMV(&body->invInertia, torque));
	return knMakeTwist(timesJacobian(motion, spin), knScale(h * body->invMass, impulse.lin));
}

static knTwist coupleOf(knVec3 g) {
	return knMakeTwist(g, knZero3());
}

static knTwist unitCouple(int i) {
	return coupleOf(knV3(i == 0, i == 1, i == 2));
}

static knQuat halfTurn(knVec3 theta, knQuat q) {
	return knMulQ(knQ(0.0, 0.5 * theta.x, 0.5 * theta.y, 0.5 * theta.z), q);
}

static knQuat addQ(knQuat a, double s, knQuat b) {
	return knQ(a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

// --- the equations ---------------------------------------------------------------------------------------

void knJointNewton_SameCover(knJointNewton* newton) {
	if (knDotQ(newton->parent.Q, newton->child.Q) < 0.0) {
		newton->parent.Q = knNegQ(newton->parent.Q);
	}
}

knVec3 knJointNewton_Linear(const knJointNewton* newton, knVec3 j, knMat33* derivative) {
	const knNewtonBody *p = &newton->parent, *c = &newton->child;
	const knTwist y = knMakeTwist(knZero3(), j);
	knNewtonMotion mp = move(p, newton->h, -1.0, y), mc = move(c, newton->h, 1.0, y);
	knVec3 armP = knRotate(mp.turn, p->arm), armC = knRotate(mc.turn, c->arm);
	if (derivative != NULL) {
		knVec3* columns[3] = { &derivative->cx, &derivative->cy, &derivative->cz };
		for (int i = 0; i < 3; ++i) {
			knTwist unit = knMakeTwist(knZero3(), knV3(i == 0, i == 1, i == 2));
			knTwist dp = response(p, &mp, newton->h, unit), dc = response(c, &mc, newton->h, unit);
			// the parent's impulse is opposite, and its term is subtracted: both enter with one sign
			*columns[i] = knAdd(knAdd(dc.lin, knCross(dc.ang, armC)), knAdd(dp.lin, knCross(dp.ang, armP)));
		}
	}
	return knSub(knAdd(mc.center, armC), knAdd(mp.center, armP));
}

knQuat knJointNewton_Angular(const knJointNewton* newton, knVec3 g, knQuat derivative[3]) {
	const knNewtonBody *p = &newton->parent, *c = &newton->child;
	knNewtonMotion mp = move(p, newton->h, -1.0, coupleOf(g)), mc = move(c, newton->h, 1.0, coupleOf(g));
	knQuat endP = knMulQ(mp.turn, p->Q), endC = knMulQ(mc.turn, c->Q);
	for (int i = 0; derivative != NULL && i < 3; ++i) {
		knVec3 dp = response(p, &mp, newton->h, unitCouple(i)).ang;
		knVec3 dc = response(c, &mc, newton->h, unitCouple(i)).ang;
		derivative[i] = addQ(halfTurn(dc, endC), 1.0, halfTurn(dp, endP));
	}
	return addQ(endC, -1.0, endP);
}

// e of the turn E from the parent's target to the child, and how it changes when the two turn by dc and dp.
static knVec3 smallAngle(knQuat E) {
	return knScale(E.w < 0.0 ? -2.0 : 2.0, knVecPart(E));
}

static knVec3 smallAngleChange(knQuat E, knVec3 dc, knVec3 dp) {
	knVec3 e = knVecPart(E);
	knVec3 change = knMulAdd(knCross(knAdd(dc, dp), e), E.w, knSub(dc, dp));
	return knScale(E.w < 0.0 ? -1.0 : 1.0, change);
}

knVec3 knJointNewton_AngularSquare(const knJointNewton* newton, knVec3 g, knMat33* derivative) {
	knTwist along[3], changes[3];
	for (int i = 0; i < 3; ++i) {
		along[i] = unitCouple(i);
	}
	knTwist F = knJointNewton_Coupled(newton, coupleOf(g), along, derivative != NULL ? 3 : 0, changes);
	if (derivative != NULL) {
		*derivative = knMakeMat33(changes[0].ang, changes[1].ang, changes[2].ang);
	}
	return F.ang;
}

knTwist knJointNewton_Residual(const knJointNewton* newton, const knNewtonMotion* mp,
							   const knNewtonMotion* mc) {
	const knNewtonBody *p = &newton->parent, *c = &newton->child;
	knVec3 pointP = knAdd(mp->center, knRotate(mp->turn, p->arm));
	knVec3 pointC = knAdd(mc->center, knRotate(mc->turn, c->arm));
	knQuat E = knMulQ(knMulQ(mc->turn, c->Q), knConj(knMulQ(mp->turn, p->Q)));
	return knMakeTwist(smallAngle(E), knSub(pointC, pointP));
}

void knJointNewton_Changes(const knJointNewton* newton, const knNewtonMotion* mp, const knNewtonMotion* mc,
						   const knTwist* along, int count, knTwist* changes) {
	const knNewtonBody *p = &newton->parent, *c = &newton->child;
	knVec3 armP = knRotate(mp->turn, p->arm), armC = knRotate(mc->turn, c->arm);
	knQuat E = knMulQ(knMulQ(mc->turn, c->Q), knConj(knMulQ(mp->turn, p->Q)));
	for (int i = 0; i < count; ++i) {
		knTwist dp = response(p, mp, newton->h, along[i]), dc = response(c, mc, newton->h, along[i]);
		// the parent's impulse is opposite, and its term is subtracted: both enter with one sign
		knVec3 lin = knAdd(knAdd(dc.lin, knCross(dc.ang, armC)), knAdd(dp.lin, knCross(dp.ang, armP)));
		changes[i] = knMakeTwist(smallAngleChange(E, dc.ang, knNeg(dp.ang)), lin);
	}
}

knTwist knJointNewton_Coupled(const knJointNewton* newton, knTwist y, const knTwist* along, int count,
							  knTwist* changes) {
	knNewtonMotion mp = move(&newton->parent, newton->h, -1.0, y);
	knNewtonMotion mc = move(&newton->child, newton->h, 1.0, y);
	knJointNewton_Changes(newton, &mp, &mc, along, count, changes);
	return knJointNewton_Residual(newton, &mp, &mc);
}

// --- the published solve ---------------------------------------------------------------------------------

double knGoldenSection(double (*value)(double s, const void* context), const void* context, double interval) {
	const double ratio = 0.61803398874989485;
	double a = 0.0, b = 1.0, left = 1.0 - ratio, right = ratio;
	double atLeft = value(left, context), atRight = value(right, context);

	// the value need not have one minimum only: the best of all points seen is the answer
	double best = 1.0, least = value(1.0, context), atZero = value(0.0, context);
	if (atZero < least) {
		best = 0.0;
		least = atZero;
	}
	for (int i = 0; i < GOLDEN_LIMIT && b - a > interval; ++i) {
		bool keepLeft = atLeft < atRight;
		if (keepLeft ? atLeft < least : atRight < least) {
			best = keepLeft ? left : right;
			least = keepLeft ? atLeft : atRight;
		}
		if (keepLeft) {
			b = right;
			right = left;
			atRight = atLeft;
			left = b - ratio * (b - a);
			atLeft = value(left, context);
		} else {
			a = left;
			left = right;
			atLeft = atRight;
			right = a + ratio * (b - a);
			atRight = value(right, context);
		}
	}
	return best;
}

typedef struct Search {
	const knJointNewton* newton;
	knNewtonEquation equation;
	knVec3 at, step;
} Search;

static bool turnsTooFar(const knNewtonBody* body, double h, double sign, knTwist impulse) {
	const double most = knMax(MOST_TURN, h * knLength(body->u.ang));
	return knLengthSquared(move(body, h, sign, impulse).phi) > most * most * (1.0 + 1e-12);
}

static double residual(const knJointNewton* newton, knNewtonEquation equation, knVec3 y) {
	const knTwist impulse = equation == KN_NEWTON_LINEAR ? knMakeTwist(knZero3(), y) : coupleOf(y);
	if (turnsTooFar(&newton->parent, newton->h, -1.0, impulse) ||
		turnsTooFar(&newton->child, newton->h, 1.0, impulse)) {
		return (double)INFINITY;
	}
	if (equation == KN_NEWTON_LINEAR) {
		return knLength(knJointNewton_Linear(newton, y, NULL));
	}
	if (equation == KN_NEWTON_ANGULAR_SQUARE) {
		return knLength(knJointNewton_AngularSquare(newton, y, NULL));
	}
	knQuat f = knJointNewton_Angular(newton, y, NULL);
	return sqrt(knDotQ(f, f));
}

static double residualAlong(double s, const void* context) {
	const Search* search = context;
	return residual(search->newton, search->equation, knMulAdd(search->at, s, search->step));
}

// Newton's direction at y: a square system, or the normal equations of 4 x 3; false if singular.
static bool direction(const knJointNewton* newton, knNewtonEquation equation, knVec3 y, knVec3* step) {
	knMat33 slope;
	knVec3 right;
	if (equation == KN_NEWTON_ANGULAR) {
		knQuat F[3], f = knJointNewton_Angular(newton, y, F);
		knVec3 columns[3];
		for (int i = 0; i < 3; ++i) {
			columns[i] = knV3(knDotQ(F[0], F[i]), knDotQ(F[1], F[i]), knDotQ(F[2], F[i]));
		}
		slope = knMakeMat33(columns[0], columns[1], columns[2]);
		right = knV3(knDotQ(F[0], f), knDotQ(F[1], f), knDotQ(F[2], f));
	} else {
		right = equation == KN_NEWTON_LINEAR ? knJointNewton_Linear(newton, y, &slope)
											 : knJointNewton_AngularSquare(newton, y, &slope);
	}
	double size = knLength(slope.cx) * knLength(slope.cy) * knLength(slope.cz);
	if (!(knAbs(knDeterminant33(&slope)) > 1e-14 * size)) {
		return false;
	}
	knMat33 inverse = knInverse33(&slope);
	*step = knNeg(knMulMV(&inverse, right));
	return true;
}

knNewtonResult knJointNewton_Solve(const knJointNewton* newton, knNewtonEquation equation, knNewtonStep step,
								   double epsilon, double tolerance) {
	Search search = { .newton = newton, .equation = equation, .at = knZero3() };
	double before = residual(newton, equation, search.at);
	knNewtonResult result = { .impulse = knZero3(), .before = before, .after = before };
	const double goal = knMax((1.0 - epsilon) * before, tolerance);
	while (result.after > goal && result.iterations < NEWTON_LIMIT &&
		   direction(newton, equation, search.at, &search.step)) {
		double s =
			step == KN_NEWTON_DAMPED ? epsilon : knGoldenSection(residualAlong, &search, GOLDEN_INTERVAL);
		double after = residualAlong(s, &search);
		if (!(after < result.after)) {
			break;
		}
		search.at = knMulAdd(search.at, s, search.step);
		result.after = after;
		result.iterations += 1;
	}
	result.impulse = search.at;
	return result;
}
