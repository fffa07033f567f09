// Rows of a joint that obey a law: coordinates with limits, friction, springs and motors, and the cones and twists of ball
// joints. A row is a twist in world axes at the child's anchor; joint_equations.h tells the method.

#include "dynamics/joint_equations_internal.h"

#include "model/control.h"
#include "model/joint_math.h"
#include "model/joint_parts.h"

bool knJointAxes_HasLaw(const knJoint* joint, const knJointState* state, int axis) {
	const knJointAxis* parts = &joint->axis[axis];
	const bool simple = joint->nq == joint->nv;
	return knJointAxis_HasFriction(parts) || knAxisRow_HasSpring(joint, state, axis) ||
		   knAxisRow_HasDrive(state, axis) || knJointState_IsPushed(state) || (parts->limited && simple) ||
		   state->motorMode[axis] != KN_MOTOR_OFF;
}

// --- coordinates -------------------------------------------------------------------------------------------

static knFrame poseOf(const knEquationBody* body, bool atEnd) {
	return atEnd ? knMakeFrame(body->x1, body->q1) : knMakeFrame(body->x, body->q);
}

// Inverse of the right Jacobian of the exponential map, transposed, times e: the gradient of e . log as a turn in the
// child's axes.
static knVec3 logGradient(knVec3 log, knVec3 e) {
	const double square = knLengthSquared(log);
	double c = 1.0 / 12.0 + square / 720.0;
	if (square > 1e-4) {
		double angle = sqrt(square), sine, cosine;
		knSinCos(0.5 * angle, &sine, &cosine);
		c = (1.0 - 0.5 * angle * cosine / sine) / square;
	}
	// (1 + [log]/2 + c [log]^2)^T e
	const knVec3 cross = knCross(log, e);
	return knAdd(knMulAdd(e, -0.5, cross), knScale(c, knCross(log, cross)));
}

// The gradient of knJoint_AxisPosition, child joint frame's axes at the child's anchor, of kinds that are turned by a quaternion.
static knTwist positionGradient(knFrame J, int axis) {
	knVec3 e = knZero3();
	knSetComponent(&e, axis % 3, 1.0);
	if (axis < 3) {
		return knMakeTwist(logGradient(knQuat_Log(J.q), e), knZero3());
	}
	return knMakeTwist(knCross(e, knInvRotate(J.q, J.p)), e);
}

// What a joint looks like at one end of the span.
typedef struct Look {
	knFrame J;
	knQuat axes; // of the parent's joint frame
	bool have;   // coordinate rows
	knTwist along[6];
	int limitCount; // of a ball
	knJointLimit limits[KN_JOINT_MAX_LIMITS];
} Look;

// A user's joint may lock directions that have a part along an axis.
static void takeOutLocked(const knJoint* joint, knFrame J, knTwist along[6]) {
	knTwist locked[6];
	const int count = knJointOps_Get(joint->kind)->lockedRows(joint, J, locked);
	for (int i = 0; i < 6; ++i) {
		for (int k = 0; k < count; ++k) {
			along[i] = knMulAddT(along[i], -knDotT(locked[k], along[i]), locked[k]);
		}
	}
}

static Look lookAt(const knEquationJoint* joint, const knEquationBody* bodies, bool atEnd, double* q) {
	const knJoint* j = joint->joint;
	const knFrame poseP = poseOf(&bodies[joint->parent], atEnd), poseC = poseOf(&bodies[joint->child], atEnd);
	Look look = { .J = knJoint_Frame(j, poseP, poseC), .axes = knMulQ(poseP.q, j->frameParent.q) };
	if (atEnd) {
		knJointOps_Get(j->kind)->coordinates(j, look.J, joint->q, q);
	}
	bool limited = false;
	for (int i = 0; i < joint->axisCount; ++i) {
		look.have = look.have || joint->axes[i].axis >= 0;
		limited = limited || joint->axes[i].axis < 0;
	}
	if (look.have) {
		knJoint_CoordinateRows(j, look.J, q, look.along);
	}
	if (look.have && j->kind == KN_JOINT_CUSTOM) {
		takeOutLocked(j, look.J, look.along);
	}
	if (limited) {
		look.limitCount = knJoint_Limits(j, look.J, q, (double)INFINITY, look.limits);
	}
	return look;
}

// The row of an axis in world axes, and its coordinate's value.
static knTwist axisRow(const knEquationJoint* joint, const knEquationAxis* axis, const Look* look,
					   const double* q, double* value) {
	if (axis->axis >= 0) {
		*value = knJoint_AxisPosition(joint->joint, q, axis->axis);
		if (joint->joint->nq != joint->joint->nv && !axis->quasi) {
			return knRotateT(knMulQ(look->axes, look->J.q), positionGradient(look->J, axis->axis));
		}
		return knRotateT(look->axes, look->along[axis->axis]);
	}
	for (int i = 0; i < look->limitCount; ++i) {
		if (look->limits[i].axis == axis->axis && (axis->axis == -1 || look->limits[i].side == axis->side)) {
			*value = look->limits[i].distance;
			return knRotateT(look->axes, look->limits[i].row);
		}
	}
	*value = 1.0; // no direction, so no limit: far from it
	return knZeroTwist();
}

// --- the start of a span -------------------------------------------------------------------------------------

static double inverseMassOf(const knEquationBody* body, knTwist row) {
	if (body->mass <= 0.0) {
		return 0.0;
	}
	const knVec3 a = knTMulMV(&body->R, row.ang);
	return knDot(a, knMulMV(&body->invInertia, a)) + knLengthSquared(row.lin) / body->mass;
}

static void setMotor(const knEquationJoint* joint, knEquationAxis* axis, double h) {
	const int i = axis->axis;
	const double target = joint->state->motorTarget[i], most = joint->state->motorMaxForce[i];
	knJointLaw* law = &axis->law;
	switch (joint->state->motorMode[i]) {
	case KN_MOTOR_VELOCITY:
		law->motor = true;
		law->motorTarget = h * target;
		law->motorBound = h * most;
		break;
	case KN_MOTOR_POSITION:
		law->motor = true;
		law->motorTarget =
			h * knServo_Speed(target - axis->value - joint->joint->axis[i].rest, most, axis->inverseMass, h);
		law->motorBound = h * most;
		break;
	case KN_MOTOR_FORCE:
		law->constant += h * target;
		break;
	default:
		break;
	}
}

// 1/kg, of the row with the armature that turns with it.
static double movedMass(const knEquationAxis* axis) {
	return axis->inverseMass / (1.0 + axis->inverseMass * axis->armature);
}

// Springs faster than the step are read nearer to its end, so that they come to rest (docs/methods/joints.md).
static double springTheta(double stiffness, double inverseMass, double h) {
	const double square = h * h * stiffness * inverseMass;
	return square > 1.0 ? 1.0 - 0.5 / square : 0.5;
}

// Armature and what actuators, tendons and couplings do to the axis in this step.
static void setDrive(const knEquationJoint* joint, knEquationAxis* axis, const knSpan* span) {
	const knAxisDrive* drive = axis->drive;
	knJointLaw* law = &axis->law;
	const double h = span->h;
	// the rate at the end is (d/h - (1 - theta) rate)/theta
	law->carried = axis->armature * axis->rate / span->theta;
	law->inertia = axis->armature / (span->theta * h);
	if (drive != NULL) {
		law->constant += h * knAxisDrive_Push(drive);
	}
	if (drive != NULL && (drive->stiffness > 0.0 || drive->damping > 0.0)) {
		const double x = axis->value + joint->joint->axis[axis->axis].rest;
		law->drive = h * (drive->force - drive->stiffness * x);
		law->driveSlope =
			h * drive->stiffness * springTheta(drive->stiffness, movedMass(axis), h) + drive->damping;
		law->driveLower = h * drive->lower;
		law->driveUpper = h * drive->upper;
	}
}

static void setLaw(const knEquationJoint* joint, knEquationAxis* axis, const knSpan* span) {
	const double h = span->h;
	axis->law = knJointLaw_Free();
	axis->bearing = axis->friction = 0.0;
	if (axis->axis < 0) {
		axis->law.lower = -knMax(axis->value, 0.0);
		return;
	}
	const knJointAxis* parts = &joint->joint->axis[axis->axis];
	knJointLaw* law = &axis->law;
	axis->armature = parts->armature + (axis->drive != NULL ? axis->drive->inertia : 0.0);
	law->offset = axis->value;
	law->stiffness = h * parts->stiffness;
	law->theta = springTheta(parts->stiffness, movedMass(axis), h);
	law->damping = parts->damping;
	axis->friction = law->friction = h * parts->friction;
	axis->bearing = parts->bearing;
	if (parts->limited && joint->joint->nq == joint->joint->nv) {
		const double position = axis->value + parts->rest;
		law->lower = -knMax(position - parts->lower, 0.0);
		law->upper = knMax(parts->upper - position, 0.0);
		if (parts->lower == parts->upper) {
			law->lower = law->upper = parts->upper - position;
		}
	}
	setDrive(joint, axis, span);
	setMotor(joint, axis, h);
}
void knJointAxes_Begin(knEquationJoint* joint, const knEquationBody* bodies, const knSpan* span) {
	const knEquationBody *P = &bodies[joint->parent], *C = &bodies[joint->child];
	const Look look = lookAt(joint, bodies, false, joint->q);
	for (int i = 0; i < joint->axisCount; ++i) {
		knEquationAxis* axis = &joint->axes[i];
		axis->quasi = axis->axis >= 0 && joint->joint->nq != joint->joint->nv &&
					  joint->joint->axis[axis->axis].stiffness <= 0.0;
		axis->start = axisRow(joint, axis, &look, joint->q, &axis->value);
		knTwist onP, onC;
		knSetRow(axis->start, joint->sP, joint->rC, &onP, &onC);
		axis->inverseMass = inverseMassOf(P, onP) + inverseMassOf(C, onC);
		axis->rate = knDot(onP.ang, knMulMV(&P->R, P->W)) + knDot(onP.lin, P->v) +
					 knDot(onC.ang, knMulMV(&C->R, C->W)) + knDot(onC.lin, C->v);
		setLaw(joint, axis, span);
	}
}
// --- at the iterate ---------------------------------------------------------------------------------------

// N s that loads the bearing of an axis: the force of the locked rows, across a shaft.
static double bearingLoad(const knEquationJoint* joint, knQuat axes, knTwist along) {
	knVec3 force = knZero3();
	for (int i = 0; i < joint->locked; ++i) {
		force = knMulAdd(force, joint->rows[i].lambda, joint->rows[i].meanC.lin);
	}
	return knLength(knJoint_BearingLoad(joint->joint, along, knInvRotate(axes, force)));
}

// The mean row gives the exact change of the coordinate when it is corrected along the relative motion.
static void correctMean(const knEquationJoint* joint, knEquationRow* row, const knEquationBody* P,
						const knEquationBody* C, const knJointEnds* e, double h, double change) {
	const double by = row->moved;
	const double scale = joint->length * joint->length;
	const knVec3 turn = knScale(h, knSub(C->w, P->w));
	const knVec3 slide =
		knScale(h, knSub(knAdd(C->u, knCross(C->w, e->mC)), knAdd(P->u, knCross(P->w, e->mS))));
	const double square = scale * knLengthSquared(turn) + knLengthSquared(slide);
	if (square <= 1e-8 * scale) {
		return; // what is left is of the third order in the motion
	}
	const double share = (change - by) / square;
	knTwist onP, onC;
	knSetRow(knMakeTwist(knScale(share * scale, turn), knScale(share, slide)), e->mS, e->mC, &onP, &onC);
	row->meanP = knAddT(row->meanP, onP);
	row->meanC = knAddT(row->meanC, onC);
	row->moved = change;
}

// The branch stays what it is; its impulse may have changed with the load of a bearing.
static void followBranch(knEquationAxis* axis, double d) {
	knJointBranch* branch = &axis->branch;
	if (!branch->held && axis->bearing > 0.0) {
		branch->lambda = knJointLaw_Beside(&axis->law, d, 1);
		branch->d = d;
	}
}

// The row's equation on its branch.
static void setEquation(knEquationRow* row, const knEquationAxis* axis, double h) {
	const knJointBranch* branch = &axis->branch;
	const double slope = -branch->slope, away = row->gap - branch->d;
	if (branch->held) {
		row->weight = 1.0;
		row->compliance = 0.0;
		row->residual = away / h;
	} else if (slope * h * axis->inverseMass > 1.0) {
		row->weight = 1.0;
		row->compliance = 1.0 / (h * slope);
		row->residual = away / h + row->compliance * (row->lambda - branch->lambda);
	} else {
		row->weight = h * slope;
		row->compliance = 1.0;
		row->residual = slope * away + row->lambda - branch->lambda;
	}
}

void knJointAxes_Evaluate(knEquationJoint* joint, const knEquationBody* bodies, const knJointEnds* e,
						  const knSpan* span) {
	const knEquationBody *P = &bodies[joint->parent], *C = &bodies[joint->child];
	const Look look = lookAt(joint, bodies, true, joint->q1);
	for (int i = 0; i < joint->axisCount; ++i) {
		knEquationAxis* axis = &joint->axes[i];
		knEquationRow* row = &joint->rows[joint->locked + i];
		double value;
		const knTwist end = axisRow(joint, axis, &look, joint->q1, &value);
		knSetRow(knMixT(axis->start, end, span->arms), e->mS, e->mC, &row->meanP, &row->meanC);
		knSetRow(end, e->sP, e->rC, &row->endP, &row->endC);
		row->moved = span->h * (knDot(row->meanP.ang, P->w) + knDot(row->meanP.lin, P->u) +
								knDot(row->meanC.ang, C->w) + knDot(row->meanC.lin, C->u));
		row->gap = axis->quasi ? row->moved : value - axis->value;
		if (axis->law.stiffness > 0.0) {
			// what stores energy has to give exactly that
			correctMean(joint, row, P, C, e, span->h, row->gap);
		}
		if (axis->bearing > 0.0) {
			axis->law.friction =
				axis->friction + axis->bearing * bearingLoad(joint, look.axes, look.along[axis->axis]);
		}
		const double rho = span->h * axis->inverseMass;
		if (span->frozen && rho > 0.0) {
			followBranch(axis, row->gap);
		} else if (rho > 0.0) {
			axis->branch = knJointLaw_Branch(&axis->law, row->gap - rho * row->lambda, rho);
		} else {
			axis->branch = (knJointBranch){ .d = 0.0, .lambda = 0.0 };
		}
		setEquation(row, axis, span->h);
	}
}
// --- after the step ------------------------------------------------------------------------------------------

// Mean rules leave errors of the end velocity that flip their sign from step to step (v' = 2u - v): a row that held its
// coordinate, or would have stopped it within the step, takes them out as far as its bounds allow.
static void settleAxis(knEquationAxis* axis, double lambda, double d, double h) {
	const knJointLaw* law = &axis->law;
	const bool atLower = axis->branch.held && axis->branch.d == law->lower;
	const bool atUpper = axis->branch.held && axis->branch.d == law->upper;
	axis->settles = true;
	axis->isMotor = axis->keepsRate = false;
	axis->wanted = axis->softness = 0.0;
	axis->lower = -(double)INFINITY;
	axis->upper = (double)INFINITY;
	if (atLower || atUpper) {
		// what the limit carries, apart from the other parts, may be taken back but not more
		const double others = knJointLaw_Beside(law, axis->branch.d, atLower ? 1 : -1);
		axis->lower = atLower ? -knMax(lambda - others, 0.0) : axis->lower;
		axis->upper = atUpper ? knMax(others - lambda, 0.0) : axis->upper;
		if (atLower && atUpper) {
			axis->lower = -(double)INFINITY;
			axis->upper = (double)INFINITY;
		}
	} else if (law->motor && law->motorBound > 0.0) {
		const double share = knJointLaw_MotorShare(law, d, lambda) - law->constant - knJointLaw_Drive(law, d);
		axis->isMotor = true;
		axis->wanted = law->motorTarget / h;
		axis->lower = -law->motorBound - share;
		axis->upper = law->motorBound - share;
	} else if (law->friction > 0.0) {
		const double share = knClamp(lambda - knJointLaw_Smooth(law, d), -law->friction, law->friction);
		axis->lower = -law->friction - share;
		axis->upper = law->friction - share;
	} else {
		const knAxisDrive* drive = axis->drive;
		const double inverseMass = movedMass(axis);
		const double stiffness = law->stiffness + (drive != NULL ? h * drive->stiffness : 0.0);
		const double damping = law->damping + (drive != NULL ? drive->damping : 0.0);
		const double kappa = knMax(0.0, 0.25 * (h * stiffness * inverseMass - 1.0)) +
							 knMax(0.0, 0.5 * h * damping * inverseMass - 1.0);
		axis->keepsRate = kappa == 0.0 && axis->armature > 0.0;
		axis->settles = kappa > 0.0 || axis->keepsRate;
		axis->softness = kappa > 0.0 ? inverseMass / kappa : (axis->keepsRate ? 1.0 / axis->armature : 0.0);
	}
}

void knEquationJoint_Settle(knEquationJoint* joint, double h) {
	for (int i = 0; i < joint->axisCount; ++i) {
		const knEquationRow* row = &joint->rows[joint->locked + i];
		settleAxis(&joint->axes[i], row->lambda, row->gap, h);
	}
}
