// The equations of motion of one body over a span of time, with their derivative. joint_equations.h tells the method.

#include "dynamics/joint_equations.h"

knEquationBody knEquationBody_Make(const knModel* model, const knState* state, int b) {
	const knTwist velocity = state->velocity[b], force = state->force[b];
	knEquationBody body = { .mass = model->mass[b],
							.inertia = model->inertiaLocal[b],
							.invInertia = model->invInertiaLocal[b],
							.x = state->pose[b].p,
							.q = state->pose[b].q,
							.v = velocity.lin };
	if (body.mass > 0.0) {
		const knQuat q = body.q;
		body.center =
			knMulAdd(knScale(model->gravityScale[b], state->header->gravity), model->invMass[b], force.lin);
		body.torque = force.ang;
		body.force = force;
		body.dampingLin = model->linearDamping[b];
		body.dampingAng = model->angularDamping[b];
		body.L = knRotate(q, knMulMV(&body.inertia, knInvRotate(q, velocity.ang)));
	} else {
		body.w = model->bodyKind[b] == KN_BODY_KINEMATIC ? velocity.ang : knZero3();
		body.u = model->bodyKind[b] == KN_BODY_KINEMATIC ? velocity.lin : knZero3();
		body.v = body.u;
		body.moves = model->bodyKind[b] == KN_BODY_KINEMATIC;
		body.byExp = true;
	}
	return body;
}

// (1 - e)/(1 + e) for e = exp(-x): what is taken from the mean so that exp(-x) is left at the end. By the continued fraction of
// the hyperbolic tangent of x/2, which is exact to round-off for x < 2; more damping than that stops the body all the same.
static double decayShare(double x) {
	const double y = 0.5 * x, s = y * y;
	if (x > 8.0) {
		return 1.0;
	}
	return y / (1.0 + s / (3.0 + s / (5.0 + s / (7.0 + s / (9.0 + s / (11.0 + s / 13.0))))));
}

void knEquationBody_Begin(knEquationBody* body, double h) {
	body->R = knQuat_ToMat33(body->q);
	if (body->mass <= 0.0) {
		body->W = knZero3();
		return;
	}
	body->W = knMulMV(&body->invInertia, knTMulMV(&body->R, body->L));
	body->keepLin = body->dampingLin > 0.0 ? decayShare(h * body->dampingLin) : 0.0;
	body->keepAng = body->dampingAng > 0.0 ? decayShare(h * body->dampingAng) : 0.0;
	body->u = body->v;
	body->w = knMulMV(&body->R, body->W);
}

// T of the Cayley map: (1 + [phi]/2)/(1 + phi^2/4).
static knMat33 cayleySlope(knVec3 phi) {
	const double s = 1.0 / (1.0 + 0.25 * knLengthSquared(phi));
	const knVec3 a = knScale(0.5 * s, phi);
	return knMakeMat33(knV3(s, a.z, -a.y), knV3(-a.z, s, a.x), knV3(a.y, -a.x, s));
}

// T of the exponential map.
static knMat33 expSlope(knVec3 phi) {
	double square = knLengthSquared(phi);
	double c1 = 0.5 - square / 24.0, c2 = 1.0 / 6.0 - square / 120.0;
	if (square > 1e-6) {
		double angle = sqrt(square), sine, cosine;
		knSinCos(angle, &sine, &cosine);
		c1 = (1.0 - cosine) / square;
		c2 = (angle - sine) / (square * angle);
	}
	knMat33 A = knSkew(phi), AA = knMulMM(&A, &A);
	knMat33 first = knScaleM(c1, &A), second = knScaleM(c2, &AA), one = knDiagonal33(1.0, 1.0, 1.0);
	first = knAddMM(&first, &second);
	return knAddMM(&one, &first);
}

void knEquationBody_Move(knEquationBody* body, const knSpan* span) {
	const knVec3 phi = knScale(span->h, body->w);
	body->x1 = knMulAdd(body->x, span->h, body->u);
	if (body->byExp) {
		body->q1 = knMulQ(knQuat_Exp(phi), body->q);
	} else {
		const double s = 1.0 / sqrt(1.0 + 0.25 * knLengthSquared(phi));
		body->q1 = knMulQ(knQ(s, 0.5 * s * phi.x, 0.5 * s * phi.y, 0.5 * s * phi.z), body->q);
	}
	body->R1 = knQuat_ToMat33(body->q1);
	if (body->mass <= 0.0) {
		return;
	}
	const double rest = 1.0 - span->theta, scale = 1.0 / span->theta;
	const knVec3 W = knTMulMV(&body->R, body->w);
	const knVec3 W1 = knScale(scale, knMulAdd(W, -rest, body->W));
	body->T = body->byExp ? expSlope(phi) : cayleySlope(phi);
	body->v1 = knScale(scale, knMulAdd(body->u, -rest, body->v));
	body->L1 = knMulMV(&body->R1, knMulMV(&body->inertia, W1));
}

void knEquationBody_Residual(knEquationBody* body, const knSpan* span) {
	const double m = body->mass;
	if (m <= 0.0) {
		return;
	}
	const knVec3 change =
		knSub(knScale(1.0 + body->keepLin, body->v1), knScale(1.0 - body->keepLin, body->v));
	body->restLin = knScale(m, knMulAdd(change, -span->h, body->center));
	body->restAng = knSub(knScale(1.0 + body->keepAng, body->L1), knScale(1.0 - body->keepAng, body->L));
	body->restAng = knMulAdd(body->restAng, -span->h, body->torque);
}

bool knEquationBody_Respond(knEquationBody* body, const knSpan* span) {
	const double scale = (1.0 + body->keepAng) / span->theta;
	// R' D R^T
	const knMat33 back = knTranspose33(&body->R);
	knMat33 A = knMulMM(&body->inertia, &back);
	A = knMulMM(&body->R1, &A);
	A = knScaleM(scale, &A);
	// h ((1 + keep) [L'] + arms stiffness) T
	knMat33 turned = knSkew(knScale(1.0 + body->keepAng, body->L1));
	const knMat33 stiff = knScaleM(span->arms, &body->stiffness);
	turned = knAddMM(&turned, &stiff);
	turned = knMulMM(&turned, &body->T);
	turned = knScaleM(-span->h, &turned);
	A = knAddMM(&A, &turned);
	body->inverseAng = knInverse33(&A);
	body->inverseLin = span->theta / ((1.0 + body->keepLin) * body->mass);
	return knIsFinite(body->inverseAng.cx.x + body->inverseAng.cy.y + body->inverseAng.cz.z) &&
		   knDeterminant33(&A) != 0.0;
}
