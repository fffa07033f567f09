// From controls to drives, once a step.
//
// An actuator's law f = (g0 + g1 l + g2 l') u + b0 + b1 l + b2 l' with l = gear q acts on its axis as
//   force = gear (g0 u + b0)    stiffness = -gear^2 (g1 u + b1)    damping = -gear^2 (g2 u + b2)
// and steppers solve it implicitly. A stiffness or damping below zero drives the axis: its force at the start of the step
// is used. Several actuators of one axis add up, their force ranges too; one that resists nothing, or that shares its axis and
// is at an end of its range, counts as a constant force.
//
// A tendon's force T acts on several axes, with weights c. It is taken at the start of the step; that the axes resist
// during the step is told by an inertia of each,
//   s |c_i| sum_j |c_j| (h^2 k + h d)      k, d: stiffness and damping of T
// With s = 1 it is the least diagonal that is never below the implicit matrix c c^T (h^2 k + h d); more than half of it is
// enough for any stiffness to be stable at any h (a change of velocity is then never answered by more than its double), and
// the less it is, the less motion across the tendon is slowed. The error is of first order in h. A coupling is a tendon whose length is its error. A spatial tendon acts on bodies, which have no such rows: its
// stiffness and damping are no larger than the bodies' own inertia allows in an explicit step.
//
// Limits of tendons and couplings are springs that let an error fade in a time constant, critically damped.
#include "model/control.h"

#include <string.h>

#include "model/joint_parts.h"
#include "model/muscle.h"

#define SERVO_GAIN 0.2     // share of its way that a servo plans to go per step
#define BRAKING_SHARE 0.25 // of its greatest deceleration that a servo plans with

#define LIMIT_TIME 0.02    // s, in which the excess of a tendon's limit fades
#define LEAST_STEPS 2.0    // that a time constant lasts at least
#define DIAGONAL_SHARE 0.6 // s above
#define EXPLICIT_SHARE 0.5 // of a body's inertia that a spatial tendon's h^2 k + h d may reach

// --- coordinates -----------------------------------------------------------------------------------------

static double driveRate(const knModel* model, const knState* state, int drive) {
	const knModelDrive* d = &model->control.drives[drive];
	return state->v[model->joints[d->joint].vOffset + d->axis];
}

static double drivePosition(const knModel* model, const knState* state, int drive) {
	const knModelDrive* d = &model->control.drives[drive];
	const knJoint* joint = &model->joints[d->joint];
	return knJoint_AxisPosition(joint, &state->q[joint->qOffset], d->axis) + joint->axis[d->axis].rest;
}

// --- spatial tendons -------------------------------------------------------------------------------------

typedef struct Segment {
	int a, b;      // bodies
	knVec3 pa, pb; // points in the world
	knVec3 along;  // unit, from a to b; zero if they coincide
	double share;  // of the length: 1/pulley
	double length, rate;
} Segment;

static knVec3 pointVelocity(const knState* state, int body, knVec3 point) {
	const knTwist v = state->velocity[body];
	return knAdd(v.lin, knCross(v.ang, knSub(point, state->pose[body].p)));
}

// The segment that ends at part i, if there is one; `divisor` is that of the present branch.
static bool segmentAt(const knModel* model, const knState* state, const knModelTendon* tendon, int i,
					  double* divisor, Segment* segment) {
	const knModelTendonPart* parts = &model->control.tendonParts[tendon->first];
	if (parts[i].pulley > 0.0) {
		*divisor = parts[i].pulley;
		return false;
	}
	if (i == 0 || parts[i - 1].pulley > 0.0) {
		return false;
	}
	segment->a = parts[i - 1].body;
	segment->b = parts[i].body;
	segment->pa = knPoint(state->pose[segment->a], parts[i - 1].point);
	segment->pb = knPoint(state->pose[segment->b], parts[i].point);
	segment->share = 1.0 / *divisor;
	const knVec3 way = knSub(segment->pb, segment->pa);
	segment->length = knLength(way);
	segment->along = segment->length > 0.0 ? knScale(1.0 / segment->length, way) : knZero3();
	segment->rate = knDot(segment->along, knSub(pointVelocity(state, segment->b, segment->pb),
												pointVelocity(state, segment->a, segment->pa)));
	return true;
}

// How fast the body's point moves along n per unit of impulse along n there.
static double mobility(const knModel* model, const knState* state, int body, knVec3 point, knVec3 n) {
	const knVec3 arm = knCross(knSub(point, state->pose[body].p), n);
	const knVec3 local = knInvRotate(state->pose[body].q, arm);
	return model->invMass[body] + knDot(local, knMulMV(&model->invInertiaLocal[body], local));
}

double knControl_TendonLength(const knModel* model, const knState* state, int index, double* rate) {
	const knModelTendon* tendon = &model->control.tendons[index];
	double length = 0.0, speed = 0.0, divisor = 1.0;
	for (int i = 0; i < tendon->count; ++i) {
		Segment segment;
		if (!tendon->spatial) {
			const knModelTendonPart* part = &model->control.tendonParts[tendon->first + i];
			length += part->weight * drivePosition(model, state, part->drive);
			speed += part->weight * driveRate(model, state, part->drive);
		} else if (segmentAt(model, state, tendon, i, &divisor, &segment)) {
			length += segment.share * segment.length;
			speed += segment.share * segment.rate;
		}
	}
	if (rate != NULL) {
		*rate = speed;
	}
	return length;
}

// The inertia along the tendon: of all that hangs on its axes, or of its bodies alone, which is less than they have.
static double tendonMass(const knModel* model, const knState* state, const knModelTendon* tendon) {
	double mobile = 0.0, divisor = 1.0;
	for (int i = 0; i < tendon->count; ++i) {
		const knModelTendonPart* part = &model->control.tendonParts[tendon->first + i];
		Segment s;
		if (!tendon->spatial) {
			mobile += part->weight * part->weight / model->control.drives[part->drive].mass;
		} else if (segmentAt(model, state, tendon, i, &divisor, &s)) {
			mobile += s.share * (mobility(model, state, s.a, s.pa, s.along) +
								 mobility(model, state, s.b, s.pb, s.along));
		}
	}
	return mobile > 0.0 ? 1.0 / mobile : 0.0;
}

static void addForceAt(knState* state, int body, knVec3 point, knVec3 force) {
	const knTwist wrench = knMakeTwist(knCross(knSub(point, state->pose[body].p), force), force);
	knState_AddForce(state, body, wrench);
}

// Force T (positive: it wants to lengthen) of a tendon, whose own stiffness and damping are k and d.
static void pushTendon(const knModel* model, knState* state, int index, double T, double resistance) {
	const knModelTendon* tendon = &model->control.tendons[index];
	const knModelTendonPart* parts = &model->control.tendonParts[tendon->first];
	double weights = 0.0, divisor = 1.0;
	for (int i = 0; i < tendon->count && !tendon->spatial; ++i) {
		weights += knAbs(parts[i].weight);
	}
	for (int i = 0; i < tendon->count; ++i) {
		Segment s;
		if (!tendon->spatial) {
			knAxisDrive* drive = &state->drive[parts[i].drive];
			drive->pull += parts[i].weight * T;
			drive->inertia += DIAGONAL_SHARE * knAbs(parts[i].weight) * weights * resistance;
		} else if (segmentAt(model, state, tendon, i, &divisor, &s)) {
			addForceAt(state, s.b, s.pb, knScale(s.share * T, s.along));
			addForceAt(state, s.a, s.pa, knScale(-s.share * T, s.along));
		}
	}
}

// --- laws ------------------------------------------------------------------------------------------------

double knControl_Length(const knModel* model, const knState* state, int index, double* rate) {
	const knModelActuator* a = &model->control.actuators[index];
	double length = 0.0, speed = 0.0;
	if (a->driven == KN_DRIVEN_JOINT) {
		length = drivePosition(model, state, a->drive);
		speed = driveRate(model, state, a->drive);
	} else if (a->driven == KN_DRIVEN_TENDON) {
		length = knControl_TendonLength(model, state, a->tendon, &speed);
	}
	*rate = a->gear[0] * speed;
	return a->gear[0] * length;
}

// The u of the law.
static double inputOf(const knModelActuator* a, const knState* state, int index) {
	if (a->activation != KN_ACTIVATION_NONE) {
		return state->activation[index];
	}
	const double control = state->control[index];
	return a->controlLimited ? knClamp(control, a->controlRange[0], a->controlRange[1]) : control;
}

static double clampForce(const knModelActuator* a, double force) {
	return a->forceLimited ? knClamp(force, a->forceRange[0], a->forceRange[1]) : force;
}

double knControl_Force(const knModel* model, const knState* state, int index) {
	const knModelActuator* a = &model->control.actuators[index];
	const double u = inputOf(a, state, index);
	double rate;
	const double length = knControl_Length(model, state, index, &rate);
	if (a->isMuscle) {
		return clampForce(a, knMuscle_Force(&a->muscle, u, length, rate));
	}
	return clampForce(a, (a->gain[0] + a->gain[1] * length + a->gain[2] * rate) * u + a->bias[0] +
							 a->bias[1] * length + a->bias[2] * rate);
}

// --- drives ----------------------------------------------------------------------------------------------

// f = force - stiffness l - damping l', of muscles about the present state.
static knForceLaw lawOf(const knModel* model, const knState* state, int index) {
	const knModelActuator* a = &model->control.actuators[index];
	const double u = inputOf(a, state, index);
	if (a->isMuscle) {
		double rate;
		const double length = knControl_Length(model, state, index, &rate);
		return knMuscle_Law(&a->muscle, u, length, rate);
	}
	return (knForceLaw){ .force = a->gain[0] * u + a->bias[0],
						 .stiffness = -(a->gain[1] * u + a->bias[1]),
						 .damping = -(a->gain[2] * u + a->bias[2]) };
}

static void driveJoint(const knModel* model, knState* state, const knModelActuator* a, int index) {
	knAxisDrive* drive = &state->drive[a->drive];
	const knForceLaw law = lawOf(model, state, index);
	const double gear = a->gear[0];
	double stiffness = gear * gear * law.stiffness;
	double damping = gear * gear * law.damping;
	double force = gear * law.force;
	if (stiffness < 0.0) {
		force -= stiffness * drivePosition(model, state, a->drive);
		stiffness = 0.0;
	}
	if (damping < 0.0) {
		force -= damping * driveRate(model, state, a->drive);
		damping = 0.0;
	}
	const double ends[2] = { gear * a->forceRange[0], gear * a->forceRange[1] };
	const double lower = a->forceLimited ? knMin(ends[0], ends[1]) : -(double)INFINITY;
	const double upper = a->forceLimited ? knMax(ends[0], ends[1]) : (double)INFINITY;
	const double now = force - stiffness * drivePosition(model, state, a->drive) -
					   damping * driveRate(model, state, a->drive);
	const bool shared = model->control.drives[a->drive].actuators > 1;
	if ((stiffness == 0.0 && damping == 0.0) || (shared && (now <= lower || now >= upper))) {
		// it cannot give way in this step: its force is what it is
		const double constant = knClamp(now, lower, upper);
		drive->force += constant;
		drive->lower += constant;
		drive->upper += constant;
		return;
	}
	drive->force += force;
	drive->stiffness += stiffness;
	drive->damping += damping;
	drive->lower += lower;
	drive->upper += upper;
}

static void driveTendon(const knModel* model, knState* state, const knModelActuator* a, int index, double h) {
	const knForceLaw law = lawOf(model, state, index);
	const double gear = a->gear[0];
	double stiffness = knMax(gear * gear * law.stiffness, 0.0);
	double damping = knMax(gear * gear * law.damping, 0.0);
	double T = gear * knControl_Force(model, state, index), rate;
	const knModelTendon* tendon = &model->control.tendons[a->tendon];
	const double resistance = h * (h * stiffness + damping);
	if (tendon->spatial && resistance > 0.0) {
		// the law at the end of the step, were the bodies alone: less than now, in the ratio of the inertias
		const double mass = tendonMass(model, state, tendon);
		knControl_TendonLength(model, state, a->tendon, &rate);
		T = (T - h * stiffness * rate) * mass / (mass + resistance);
	}
	pushTendon(model, state, a->tendon, T, resistance);
}

static void drivePoint(const knModel* model, knState* state, const knModelActuator* a, int index) {
	const double f = knControl_Force(model, state, index);
	const knFrame frame = knMulF(state->pose[a->body], a->frame);
	const knVec3 force = knScale(f, knRotate(frame.q, knV3(a->gear[0], a->gear[1], a->gear[2])));
	const knVec3 torque = knScale(f, knRotate(frame.q, knV3(a->gear[3], a->gear[4], a->gear[5])));
	addForceAt(state, a->body, frame.p, force);
	knState_AddForce(state, a->body, knMakeTwist(torque, knZero3()));
}

// Spring, damper and limits.
static void passTendon(const knModel* model, knState* state, int index, double h) {
	const knModelTendon* tendon = &model->control.tendons[index];
	if (tendon->stiffness == 0.0 && tendon->damping == 0.0 && !tendon->limited) {
		return;
	}
	double rate;
	const double length = knControl_TendonLength(model, state, index, &rate);
	const double stretched = length - knClamp(length, tendon->restLower, tendon->restUpper);
	double stiffness = stretched != 0.0 ? tendon->stiffness : 0.0, damping = tendon->damping;
	double T = -tendon->stiffness * stretched - damping * rate;
	const double mass = tendonMass(model, state, tendon);
	const double beyond = tendon->limited ? length - knClamp(length, tendon->lower, tendon->upper) : 0.0;
	if (beyond != 0.0) {
		const double time = knMax(LIMIT_TIME, LEAST_STEPS * h);
		const double k = mass / (time * time), d = 2.0 * mass / time;
		const double push = -k * beyond - d * rate;
		// a limit only pushes back
		if (push * beyond < 0.0) {
			T += push;
			stiffness += k;
			damping += d;
		}
	}
	double resistance = h * (h * stiffness + damping);
	if (tendon->spatial && resistance > EXPLICIT_SHARE * mass) {
		T *= EXPLICIT_SHARE * mass / resistance;
	}
	pushTendon(model, state, index, T, resistance);
}

static void holdCoupling(const knModel* model, knState* state, const knModelCoupling* coupling, double h) {
	const knModelDrive* drives = model->control.drives;
	const double* c = coupling->coefficients;
	double error = drivePosition(model, state, coupling->drive1) - coupling->ref1 - c[0];
	double rate = driveRate(model, state, coupling->drive1), slope = 0.0;
	if (coupling->drive2 >= 0) {
		const double x = drivePosition(model, state, coupling->drive2) - coupling->ref2;
		error -= x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
		slope = c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * 4.0 * c[4]));
		rate -= slope * driveRate(model, state, coupling->drive2);
	}
	double mobile = 1.0 / drives[coupling->drive1].mass;
	mobile += coupling->drive2 >= 0 ? slope * slope / drives[coupling->drive2].mass : 0.0;
	const double time = knMax(coupling->timeConstant, LEAST_STEPS * h), mass = 1.0 / mobile;
	const double k = mass / (time * time), d = 2.0 * mass / time;
	const double T = -k * error - d * rate, weights = 1.0 + knAbs(slope);
	const double resistance = DIAGONAL_SHARE * h * (h * k + d);
	state->drive[coupling->drive1].pull += T;
	state->drive[coupling->drive1].inertia += weights * resistance;
	if (coupling->drive2 >= 0) {
		state->drive[coupling->drive2].pull -= slope * T;
		state->drive[coupling->drive2].inertia += knAbs(slope) * weights * resistance;
	}
}

// Clamps by the joint and tells the steppers which rows there are.
static void finishDrives(const knModel* model, knState* state) {
	const knModelControl* control = &model->control;
	for (int i = 0; i < control->driveCount; ++i) {
		state->joint[control->drives[i].joint].driven = 0;
	}
	for (int i = 0; i < control->driveCount; ++i) {
		knAxisDrive* drive = &state->drive[i];
		const int axis = control->drives[i].axis;
		const knJointAxis* parts = &model->joints[control->drives[i].joint].axis[axis];
		uint16_t* driven = &state->joint[control->drives[i].joint].driven;
		if (parts->driveLimited) {
			drive->lower = knMax(drive->lower, parts->driveLower);
			drive->upper = knMin(drive->upper, parts->driveUpper);
		}
		const bool resists = drive->stiffness > 0.0 || drive->damping > 0.0;
		*driven |= (uint16_t)(drive->inertia > 0.0 ? 1u << axis : 0u);
		*driven |= (uint16_t)(resists ? 1u << (6 + axis) : 0u);
		*driven |= (uint16_t)(knAxisDrive_Push(drive) != 0.0 ? 1u << 12 : 0u);
	}
}

// --- the medium ------------------------------------------------------------------------------------------

// What resists a velocity v of inertia m with c v in a step: less than c v, so that it never turns v round.
static double resist(double c, double v, double m, double h) {
	return -c * v / (1.0 + h * c / m);
}

// MuJoCo's inertia box: a viscous sphere as wide as the box is on average, and the pressure on the box's sides, axis by axis.
static void dragBody(const knModel* model, knState* state, int body, double h) {
	const knModelControl* control = &model->control;
	const knModelDrag* drag = &control->drag[body];
	const knQuat axes = knMulQ(state->pose[body].q, drag->axes);
	const knVec3 v = knInvRotate(axes, state->velocity[body].lin),
				 w = knInvRotate(axes, state->velocity[body].ang);
	const double side[3] = { drag->sides.x, drag->sides.y, drag->sides.z };
	const double d = (side[0] + side[1] + side[2]) / 3.0, mu = control->mediumViscosity,
				 m = model->mass[body];
	knVec3 force = knZero3(), torque = knZero3();
	for (int i = 0; i < 3; ++i) {
		const double a = side[i], b = side[(i + 1) % 3], c = side[(i + 2) % 3], rho = control->mediumDensity;
		const double vi = knComponent(v, i), wi = knComponent(w, i), moment = m / 12.0 * (b * b + c * c);
		const double linear = 3.0 * KN_PI * d * mu + 0.5 * rho * b * c * knAbs(vi);
		const double angular =
			KN_PI * d * d * d * mu + rho * a * (b * b * b * b + c * c * c * c) * knAbs(wi) / 64.0;
		knSetComponent(&force, i, resist(linear, vi, m, h));
		knSetComponent(&torque, i, moment > 0.0 ? resist(angular, wi, moment, h) : 0.0);
	}
	knState_AddForce(state, body, knMakeTwist(knRotate(axes, torque), knRotate(axes, force)));
}

void knControl_Apply(const knModel* model, knState* state, double h) {
	const knModelControl* control = &model->control;
	for (int b = 1; b < control->dragCount; ++b) {
		if (model->bodyKind[b] == KN_BODY_DYNAMIC) {
			dragBody(model, state, b, h);
		}
	}
	if (control->actuatorCount + control->tendonCount + control->couplingCount == 0) {
		return;
	}
	memset(state->drive, 0, (size_t)control->driveCapacity * sizeof(knAxisDrive));
	for (int i = 0; i < control->actuatorCount; ++i) {
		const knModelActuator* a = &control->actuators[i];
		if (a->driven == KN_DRIVEN_JOINT) {
			driveJoint(model, state, a, i);
		} else if (a->driven == KN_DRIVEN_TENDON) {
			driveTendon(model, state, a, i, h);
		} else {
			drivePoint(model, state, a, i);
		}
	}
	for (int i = 0; i < control->tendonCount; ++i) {
		passTendon(model, state, i, h);
	}
	for (int i = 0; i < control->couplingCount; ++i) {
		if (control->couplings[i].enabled) {
			holdCoupling(model, state, &control->couplings[i], h);
		}
	}
	finishDrives(model, state);
}

// exp(-x) for x >= 0 by halving and Taylor's series: exact to rounding, and the same on every machine.
static double decay(double x) {
	int halvings = 0;
	for (; x > 0.125 && halvings < 40; ++halvings) {
		x *= 0.5;
	}
	double sum = 1.0, term = 1.0;
	for (int i = 1; i <= 12; ++i) {
		term *= -x / i;
		sum += term;
	}
	for (int i = 0; i < halvings; ++i) {
		sum *= sum;
	}
	return sum;
}

// x^3 (6 x^2 - 15 x + 10) from 0 to 1: level at both ends.
static double blended(double x) {
	const double t = knClamp(x, 0.0, 1.0);
	return t * t * t * (t * (6.0 * t - 15.0) + 10.0);
}

// One explicit step of a muscle's activation, which never goes beyond its target.
static double rouse(const knModelActuator* a, double control, double u, double h) {
	const double way = knClamp(control, 0.0, 1.0) - u, now = 0.5 + 1.5 * knClamp(u, 0.0, 1.0);
	const double rise = a->timeConstant * now, fall = a->fallConstant / now;
	const double share = a->blend > 0.0 ? blended(way / a->blend + 0.5) : (way > 0.0 ? 1.0 : 0.0);
	return u + way * knMin(h / (fall + (rise - fall) * share), 1.0);
}

void knControl_Advance(const knModel* model, knState* state, double h) {
	for (int i = 0; i < model->control.actuatorCount; ++i) {
		const knModelActuator* a = &model->control.actuators[i];
		if (a->activation == KN_ACTIVATION_NONE) {
			continue;
		}
		const double control = a->controlLimited
								   ? knClamp(state->control[i], a->controlRange[0], a->controlRange[1])
								   : state->control[i];
		double* u = &state->activation[i];
		if (a->activation == KN_ACTIVATION_INTEGRATOR) {
			*u += h * control;
		} else if (a->activation == KN_ACTIVATION_FILTER) {
			*u += (control - *u) * knMin(h / a->timeConstant, 1.0);
		} else if (a->activation == KN_ACTIVATION_MUSCLE) {
			*u = rouse(a, control, *u, h);
		} else {
			*u = control + (*u - control) * decay(h / a->timeConstant);
		}
		if (a->activationLimited) {
			*u = knClamp(*u, a->activationRange[0], a->activationRange[1]);
		}
	}
}

const knAxisDrive* knState_Drive(const knState* state, const knModel* model, int joint, int axis) {
	const knModelControl* control = &model->control;
	if (control->driveCount == 0 || joint >= model->jointCount || control->jointDrive[joint] < 0) {
		return NULL;
	}
	for (int i = control->jointDrive[joint]; i < control->driveCount && control->drives[i].joint == joint;
		 ++i) {
		if (control->drives[i].axis == axis) {
			return &state->drive[i];
		}
	}
	return NULL;
}

// --- rows ------------------------------------------------------------------------------------------------

bool knAxisRow_HasSpring(const knJoint* joint, const knJointState* state, int axis) {
	const knJointAxis* parts = &joint->axis[axis];
	return parts->stiffness > 0.0 || parts->damping > 0.0 || parts->armature > 0.0 ||
		   (state->driven >> axis & 1) != 0;
}

knAxisRow knAxisRow_Spring(const knJoint* joint, const knAxisDrive* drive, const double* q, double rate,
						   int axis, double h) {
	const knJointAxis* parts = &joint->axis[axis];
	const double inertia = parts->armature + (drive != NULL ? drive->inertia : 0.0);
	double resistance = h * parts->stiffness + parts->damping; // force per velocity
	knAxisRow row = { .lo = -(double)INFINITY, .hi = (double)INFINITY };
	if (inertia == 0.0 && drive == NULL) {
		row.gamma = 1.0 / (h * resistance);
		row.bias = parts->stiffness * knJoint_AxisPosition(joint, q, axis) / resistance;
		return row;
	}
	resistance += inertia / h;
	const double spring =
		parts->stiffness > 0.0 ? parts->stiffness * knJoint_AxisPosition(joint, q, axis) : 0.0;
	const double push = drive != NULL ? knAxisDrive_Push(drive) : 0.0;
	row.gamma = 1.0 / (h * resistance);
	row.bias = (spring - push - inertia * rate / h) / resistance;
	return row;
}

bool knAxisRow_HasDrive(const knJointState* state, int axis) {
	return (state->driven >> (6 + axis) & 1) != 0;
}

knAxisRow knAxisRow_Drive(const knJoint* joint, const knAxisDrive* drive, const double* q, int axis,
						  double h) {
	const double x = knJoint_AxisPosition(joint, q, axis) + joint->axis[axis].rest;
	const double resistance = h * drive->stiffness + drive->damping;
	return (knAxisRow){ .gamma = 1.0 / (h * resistance),
						.bias = (drive->stiffness * x - drive->force) / resistance,
						.lo = h * drive->lower,
						.hi = h * drive->upper };
}

bool knAxisRow_IsForce(const knJoint* joint, const knJointState* state, int axis) {
	return !knAxisRow_HasSpring(joint, state, axis);
}

double knAxisDrive_Push(const knAxisDrive* drive) {
	const bool resists = drive->stiffness > 0.0 || drive->damping > 0.0;
	return drive->pull + (resists ? 0.0 : knClamp(drive->force, drive->lower, drive->upper));
}

bool knJointState_IsPushed(const knJointState* state) {
	return (state->driven >> 12 & 1) != 0;
}

double knServo_Speed(double way, double maxForce, double inverseMass, double h) {
	if (way == 0.0) {
		return 0.0;
	}
	double speed =
		knMin(SERVO_GAIN * knAbs(way) / h, sqrt(2.0 * BRAKING_SHARE * maxForce * inverseMass * knAbs(way)));
	return way < 0.0 ? -speed : speed;
}
