// The equations of pre-stabilization for one joint, and their exact derivatives (Weinstein et al. 2006, section IV
// and appendix).
//
// A joint is closed at the end of the step if W_c' C = W_p' P J* with W' = {x + h v, exp(h w) q}. Unknown is the
// impulse on the child (the parent gets the opposite), a linear one j at the application point and a couple g:
//
//   phi_b = h (w_b +- I_b^-1 (r_b x j + g))         + child, - parent          R_b = exp(phi_b)
//   f(j)  = x_c + h (v_c + j/m_c) + R_c a_c - x_p - h (v_p - j/m_p) - R_p a_p                      3 equations
//   f(g)  = exp(phi_c) Q_c - exp(phi_p) Q_p                                                        4 equations
//   e(g)  = 2 sgn(E_0) vec(E),  E = exp(phi_c) Q_c conj(exp(phi_p) Q_p)        3 equations, a small angle's vector
//
// Two arms a body: `arm` a is turned with it, `lever` r makes the torque; they differ while the joint is open.
// Derivatives use A(phi), the left Jacobian of the exponential map: d(R a) = (A dphi) x R a, d(exp(phi) Q) = 1/2 (0,
// A dphi) exp(phi) Q. They are the paper's half-angle expressions without a division by the angle.
#pragma once

#include "knuckle/vecmath.h"

#define KN_NEWTON_SMALL 1e-6 // rad^2: up to there the turn is a series

typedef struct knNewtonBody {
	knVec3 x; // centre at the start of the step
	knTwist u;
	double invMass;
	knMat33 invInertia; // world axes at the start
	knVec3 arm;         // a: centre to the articulation point at the start, target included on the parent
	knVec3 lever;       // r: centre to the application point
	knQuat Q;           // the joint frame's orientation at the start, target included on the parent
} knNewtonBody;

// The two Q lie in the same half of the double cover (knJointNewton_SameCover), else the angular equations aim at
// a full turn.
typedef struct knJointNewton {
	double h;
	knNewtonBody parent, child;
} knJointNewton;

void knJointNewton_SameCover(knJointNewton* newton);

// Where a body goes under an impulse, and what its left Jacobian is made of.
typedef struct knNewtonMotion {
	knVec3 center; // at the end
	knVec3 phi;
	knQuat turn;   // exp(phi)
	double c1, c2; // A = 1 + c1 [phi] + c2 [phi]^2
} knNewtonMotion;

// c1, c2 and the turn's cosine and sine (over the angle) of half the angle.
void knNewtonMotion_Turn(double angle2, double* c1, double* c2, double* sinHalf, double* cosHalf);
// With u alone; the sum of impulses is the caller's business.
knNewtonMotion knNewtonMotion_Make(knVec3 x, knTwist u, double h);
// (e, f) for given motions of both bodies, and its changes along impulses d_0 .. d_n-1 on the child.
knTwist knJointNewton_Residual(const knJointNewton* newton, const knNewtonMotion* parent,
							   const knNewtonMotion* child);
void knJointNewton_Changes(const knJointNewton* newton, const knNewtonMotion* parent,
						   const knNewtonMotion* child, const knTwist* along, int count, knTwist* changes);

// f(j) and df/dj (NULL: not wanted).
knVec3 knJointNewton_Linear(const knJointNewton* newton, knVec3 j, knMat33* derivative);
// f(g) as a quaternion and its three columns.
knQuat knJointNewton_Angular(const knJointNewton* newton, knVec3 g, knQuat derivative[3]);
// e(g) and de/dg.
knVec3 knJointNewton_AngularSquare(const knJointNewton* newton, knVec3 g, knMat33* derivative);
// (e, f) at impulse y = (g, j), and its change along the impulses d_0 .. d_n-1: the columns of dF/dy D.
knTwist knJointNewton_Coupled(const knJointNewton* newton, knTwist y, const knTwist* along, int count,
							  knTwist* changes);

// The published solves, from j = 0: damped Newton until |f| <= max((1 - epsilon) |f(0)|, tolerance).
typedef enum knNewtonStep {
	KN_NEWTON_GOLDEN, // golden-section search along the Newton direction
	KN_NEWTON_DAMPED, // j + epsilon dj
} knNewtonStep;

typedef enum knNewtonEquation {
	KN_NEWTON_LINEAR,
	KN_NEWTON_ANGULAR,
	KN_NEWTON_ANGULAR_SQUARE
} knNewtonEquation;

typedef struct knNewtonResult {
	knVec3 impulse;
	double before, after; // |f|
	int iterations;
} knNewtonResult;

knNewtonResult knJointNewton_Solve(const knJointNewton* newton, knNewtonEquation equation, knNewtonStep step,
								   double epsilon, double tolerance);
// The s in [0, 1] of least value(s), among all that a golden-section search looks at and both ends.
double knGoldenSection(double (*value)(double s, const void* context), const void* context, double interval);
