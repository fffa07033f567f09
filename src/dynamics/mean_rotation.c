// The mean angular velocity of a step. In body axes of the start, Pi the angular momentum and tau the impulse,
//
//   D w = ( Pi + exp(-h w) (Pi + tau) ) / 2                                                      D the inertia
//
// This is W' = 2 w - W for the angular velocities W of start and end. Turning about w leaves w as it is, so the energy
// (W . D W)/2 changes by w . tau exactly, and with tau = 0 not at all: then it is the implicit midpoint in body axes. A
// steady spin about a principal axis turns by h w exactly at any h w. Newton's method,
//
//   F = D w - (Pi + after)/2,   after = exp(-h w)(Pi + tau),   dF = D - (h/2) [after] Jl(-h w)
//
// with Jl the left Jacobian of exp, needs three iterations for turns below half a radian and may fail beyond 1.5. The same
// equation with Cayley's rotation, cay(a) = (1 + [a]/2)(1 - [a]/2)^-1, keeps all the laws and is always solved; but it turns
// by 2 atan(h w/2).

#include "dynamics/mean_rotation.h"

#define NEWTON_ITERATIONS 16
#define SUBSTEP_TURN 1.0 // rad; beyond it Newton may miss the solution of the midpoint equation
#define SUBSTEP_LIMIT 64
#define LARGEST_TURN 6.0   // rad, of a solution; a full turn more would be another one
#define ROUND_OFF 4e-16    // relative
#define NEARLY_ROUND 1e-12 // relative, what a badly conditioned inertia may leave
#define ISOTROPIC 1e-14    // relative, of the inertia
#define SERIES_ANGLE2 1e-6 // rad2, below it the series is exact

bool knIsIsotropic(const knMat33* m) {
	double off = knAbs(m->cx.y) + knAbs(m->cx.z) + knAbs(m->cy.z);
	double spread = knAbs(m->cx.x - m->cy.y) + knAbs(m->cx.x - m->cz.z);
	return off + spread <= ISOTROPIC * m->cx.x;
}

// (1 - cos t)/t^2 and (t - sin t)/t^3.
static void arcCoefficients(double angle2, double* c1, double* c2) {
	*c1 = 0.5 - angle2 / 24.0;
	*c2 = 1.0 / 6.0 - angle2 / 120.0;
	if (angle2 > SERIES_ANGLE2) {
		double angle = sqrt(angle2), sine, cosine;
		knSinCos(angle, &sine, &cosine);
		*c1 = (1.0 - cosine) / angle2;
		*c2 = (angle - sine) / (angle2 * angle);
	}
}

knVec3 knArcMean(knVec3 r, knVec3 phi) {
	double c1, c2;
	arcCoefficients(knLengthSquared(phi), &c1, &c2);
	knVec3 across = knCross(phi, r);
	return knMulAdd(knMulAdd(r, c1, across), c2, knCross(phi, across));
}

// d exp(a + e) = exp(Jl e) exp(a) to first order, and the same for cay.
static knMat33 leftJacobian(knVec3 a, bool cayley) {
	double c1, c2;
	knMat33 A = knSkew(a), one = knDiagonal33(1.0, 1.0, 1.0);
	if (cayley) {
		double f = 1.0 / (1.0 + 0.25 * knLengthSquared(a));
		knMat33 first = knScaleM(0.5 * f, &A);
		one = knScaleM(f, &one);
		return knAddMM(&one, &first);
	}
	arcCoefficients(knLengthSquared(a), &c1, &c2);
	knMat33 AA = knMulMM(&A, &A);
	knMat33 first = knScaleM(c1, &A), second = knScaleM(c2, &AA);
	knMat33 sum = knAddMM(&first, &second);
	return knAddMM(&one, &sum);
}

knQuat knMeanTurn_Quat(knVec3 w, double h, bool cayley) {
	knVec3 a = knScale(h, w);
	return cayley ? knNormalizeQ((knQuat){ 1.0, 0.5 * a.x, 0.5 * a.y, 0.5 * a.z }) : knQuat_Exp(a);
}

// False if it gets nowhere.
static bool solveMean(const knMat33* inertia, knVec3 Pi, knVec3 tau, double h, bool cayley, knVec3* w) {
	knVec3 end = knAdd(Pi, tau);
	double scale = knLength(Pi) + knLength(end), error = 0.0;
	for (int i = 0; i < NEWTON_ITERATIONS; ++i) {
		knVec3 turn = knScale(-h, *w);
		knVec3 after = knRotate(knMeanTurn_Quat(*w, -h, cayley), end);
		knVec3 F = knMulAdd(knMulMV(inertia, *w), -0.5, knAdd(Pi, after));
		error = knLength(F);
		if (error <= ROUND_OFF * scale) {
			break;
		}
		knMat33 slope = leftJacobian(turn, cayley), skew = knSkew(after);
		skew = knMulMM(&skew, &slope);
		skew = knScaleM(-0.5 * h, &skew);
		knMat33 K = knAddMM(inertia, &skew), inverse = knInverse33(&K);
		*w = knSub(*w, knMulMV(&inverse, F));
	}
	return error <= NEARLY_ROUND * scale && h * knLength(*w) < LARGEST_TURN;
}

knMeanTurn knMeanTurn_Find(const knMat33* inertia, const knMat33* invInertia, knVec3 momentum, knVec3 impulse,
						   double h, knVec3 guess) {
	knVec3 half = knMulMV(invInertia, knMulAdd(momentum, 0.5, impulse));
	if (knIsIsotropic(inertia)) {
		return (knMeanTurn){ half, false };
	}
	knMeanTurn turn = { guess, false };
	if (solveMean(inertia, momentum, impulse, h, false, &turn.w)) {
		return turn;
	}
	// from where it began, from the start of the step, from the middle
	knVec3 starts[3] = { guess, knMulMV(invInertia, momentum), half };
	turn.cayley = true;
	for (int i = 0; i < 3; ++i) {
		turn.w = starts[i];
		if (solveMean(inertia, momentum, impulse, h, true, &turn.w)) {
			return turn;
		}
	}
	turn.w = knV3((double)NAN, (double)NAN, (double)NAN);
	return turn;
}

// A fast spin is followed in substeps; the result is the velocity that makes the same rotation in one go,
// with as many full turns as the substeps made.
static knVec3 followSubsteps(const knMat33* inertia, const knMat33* invInertia, knVec3 momentum, double h,
							 int count) {
	knQuat R = knIdentityQ();
	knVec3 sum = knZero3();
	double part = h / count;
	for (int i = 0; i < count; ++i) {
		knVec3 start = knMulMV(invInertia, momentum), w = start;
		w = solveMean(inertia, momentum, knZero3(), part, false, &w) ? w : start;
		knQuat turn = knQuat_Exp(knScale(part, w));
		R = knMulQ(R, turn);
		momentum = knInvRotate(turn, momentum);
		sum = knMulAdd(sum, part, w);
	}
	knVec3 turn = knQuat_Log(R);
	double angle = knLength(turn);
	knVec3 axis = knNormalize(angle > 1e-9 ? turn : sum);
	double turns = floor((knDot(axis, sum) - angle) / (2.0 * KN_PI) + 0.5);
	return knScale((angle + 2.0 * KN_PI * turns) / h, axis);
}

knVec3 knMeanAngularVelocity(const knMat33* inertia, const knMat33* invInertia, knVec3 momentum, double h) {
	knVec3 start = knMulMV(invInertia, momentum);
	double turn = h * knLength(start);
	if (knIsIsotropic(inertia) || turn == 0.0) {
		return start;
	}
	knVec3 w = start;
	if (turn < SUBSTEP_TURN && solveMean(inertia, momentum, knZero3(), h, false, &w)) {
		return w;
	}
	// what spins even faster turns about its present axis; its momentum is exact all the same
	int count = turn < SUBSTEP_TURN * (SUBSTEP_LIMIT - 2) ? 2 + (int)(turn / SUBSTEP_TURN) : 0;
	return count > 0 ? followSubsteps(inertia, invInertia, momentum, h, count) : start;
}
