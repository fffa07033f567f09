// The impulse at one point: stick if the cone allows it, else slip against the sliding, and never a gain in energy.
//
//   stick   j = K^-1 (-e u_n n - u)
//   slip    j = j_n (n - mu t),   j_n = -(1+e) u_n / (n.K(n - mu t)),   t = u_t/|u_t|
//   guard   the kinetic energy changes by b + a/2, a = j.Kj, b = j.u; where that is positive, j is shortened to the
//           length at which it is zero, or is taken without friction. In slip the denominator may come near zero or
//           change its sign through the coupling in K, so this does happen.

#include "knuckle/impact.h"

#define SINGULAR 1e-13   // of the trace cubed: a determinant that is none
#define NEGLIGIBLE 1e-10 // of the trace: a principal value that is none

knMat33 knImpact_Share(double invMass, const knMat33* invInertia, knVec3 r) {
	knMat33 skew = knSkew(r), turned = knMulMM(invInertia, &skew);
	knMat33 product = knMulMM(&skew, &turned), share = knDiagonal33(invMass, invMass, invMass);
	product = knScaleM(-1.0, &product);
	return knAddMM(&share, &product);
}

static knVec3 frictionless(const knImpact* impact, double approach) {
	double stiffness = knDot(impact->n, knMulMV(&impact->K, impact->n));
	return stiffness > 0.0 ? knScale(-(1.0 + impact->e) * approach / stiffness, impact->n) : knZero3();
}

static knVec3 slip(const knImpact* impact, double approach, knVec3 stuck) {
	knVec3 sliding = knMulAdd(impact->u, -approach, impact->n);
	double speed = knLength(sliding);
	if (!(speed > 0.0)) {
		// nothing slides yet, but sticking would need more than the cone: as much of it as there is
		double push = knDot(stuck, impact->n);
		knVec3 pull = knMulAdd(stuck, -push, impact->n);
		return knMulAdd(knScale(push, impact->n), impact->mu * push, knNormalize(pull));
	}
	knVec3 along = knMulAdd(impact->n, -impact->mu / speed, sliding);
	double stiffness = knDot(impact->n, knMulMV(&impact->K, along));
	if (!(stiffness > 0.0)) {
		return frictionless(impact, approach);
	}
	return knScale(-(1.0 + impact->e) * approach / stiffness, along);
}

static knVec3 guard(const knImpact* impact, double approach, knVec3 j) {
	double a = knDot(j, knMulMV(&impact->K, j)), b = knDot(j, impact->u);
	if (b + 0.5 * a <= 0.0) {
		return j;
	}
	return b < 0.0 ? knScale(-2.0 * b / a, j) : frictionless(impact, approach);
}

// Articulated bodies may have no way to move in some direction: then K has no inverse, and impulses along there are
// left out (the pseudo-inverse).
static knMat33 inverseOf(const knMat33* K) {
	double trace = K->cx.x + K->cy.y + K->cz.z;
	if (knDeterminant33(K) > SINGULAR * trace * trace * trace) {
		return knInverse33(K);
	}
	knVec3 values;
	knQuat axes = knDiagonalize33(K, &values);
	double least = NEGLIGIBLE * trace;
	knMat33 inverse =
		knDiagonal33(values.x > least ? 1.0 / values.x : 0.0, values.y > least ? 1.0 / values.y : 0.0,
					 values.z > least ? 1.0 / values.z : 0.0);
	return knRotateTensor(axes, &inverse);
}

knVec3 knImpact_Solve(const knImpact* impact, knImpactKind* kind) {
	double approach = knDot(impact->u, impact->n);
	*kind = KN_IMPACT_NONE;
	if (!(approach < 0.0) || !(knDot(impact->n, knMulMV(&impact->K, impact->n)) > 0.0)) {
		return knZero3();
	}
	*kind = KN_IMPACT_SLIP;
	if (impact->mu == 0.0) {
		return frictionless(impact, approach);
	}
	knMat33 inverse = inverseOf(&impact->K);
	knVec3 change = knSub(knScale(-impact->e * approach, impact->n), impact->u);
	knVec3 j = knMulMV(&inverse, change);
	double push = knDot(j, impact->n);
	knVec3 pull = knMulAdd(j, -push, impact->n);
	if (push > 0.0 && knLength(pull) <= impact->mu * push) {
		*kind = KN_IMPACT_STICK;
	} else {
		j = slip(impact, approach, j);
	}
	return guard(impact, approach, j);
}
