// Control, compiled: actuators, tendons and couplings with dense indices, and the drives that they make of them.
//
// A drive is one axis of a joint that something here pushes. Before each step knControl_Apply turns controls and the present
// state into numbers per drive, which steppers treat like the axis's own spring; they know nothing of actuators.
#pragma once

#include "model/state.h"

// Of a drive, for one step: over the step the axis at x with velocity v (v0 before) feels
//   pull - inertia (v - v0)/h                               always
//   clamp(force - stiffness x - damping v, lower, upper)    the actuators
struct knAxisDrive {
	double pull;
	double inertia; // kg m2 or kg
	double force, stiffness, damping;
	double lower, upper;
};

// Turns controls into drives and forces on bodies, for a step of h. Writes state->drive, joint[].driven, and adds to force.
void knControl_Apply(const knModel* model, knState* state, double h);
// Activations after a step of h.
void knControl_Advance(const knModel* model, knState* state, double h);
// Length and rate of a tendon, of what an actuator drives; its force by its law, clamped.
double knControl_TendonLength(const knModel* model, const knState* state, int tendon, double* rate);
double knControl_Length(const knModel* model, const knState* state, int actuator, double* rate);
double knControl_Force(const knModel* model, const knState* state, int actuator);

// The drive of an axis in this step, NULL if it has none.
const knAxisDrive* knState_Drive(const knState* state, const knModel* model, int joint, int axis);

// --- what steppers make of an axis ------------------------------------------------------------------------

// A soft row: rate + gamma lambda + bias = 0, lambda (an impulse) clamped.
typedef struct knAxisRow {
	double gamma, bias, lo, hi;
} knAxisRow;

// Spring, damping, armature and what a drive adds of inertia, as one row without bounds, taken implicitly. The drive's own
// push is in it: applied to a light body before the solve, it would make velocities that the solve must cancel again.
bool knAxisRow_HasSpring(const knJoint* joint, const knJointState* state, int axis);
knAxisRow knAxisRow_Spring(const knJoint* joint, const knAxisDrive* drive, const double* q, double rate,
						   int axis, double h);
// The actuators' row; what does not resist is a force that knAxisDrive_Push tells.
bool knAxisRow_HasDrive(const knJointState* state, int axis);
knAxisRow knAxisRow_Drive(const knJoint* joint, const knAxisDrive* drive, const double* q, int axis,
						  double h);
// The force of a drive that is the same whatever the axis does in the step; to be applied as a force where the axis has no
// spring row.
double knAxisDrive_Push(const knAxisDrive* drive);
// m/s or rad/s at which a servo approaches a target `way` off: a share of the way per step, and no faster than it can brake with
// a part of its force; inverseMass is the axis' response. What hangs on the two bodies brakes less.
double knServo_Speed(double way, double maxForce, double inverseMass, double h);
bool knAxisRow_IsForce(const knJoint* joint, const knJointState* state, int axis);
// Some axis of the joint has a drive that pushes so.
bool knJointState_IsPushed(const knJointState* state);
