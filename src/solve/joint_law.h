// The law of one degree of freedom of a joint: which impulse lambda belongs to a change d of its coordinate over the step.
//
//   lambda = constant - stiffness (offset + theta d) - damping d        force motor, spring, damper
//            + carried - inertia d                                     armature: a motor's own momentum
//            + clamp(drive - driveSlope d, driveLower, driveUpper)     actuators
//            - friction sign(d)                                        any value between at d = 0
//            - motorBound sign(d - motorTarget)                        any value between at d = motorTarget
//            + anything >= 0 at d = lower, anything <= 0 at d = upper   limits
//
// The sum is a graph that never rises, made of straight pieces and vertical jumps, so that one row a coordinate carries
// limit, friction, spring and motor together. Newton's method takes the branch nearest to its present (d, lambda).
#pragma once

#include <stdbool.h>

typedef struct knJointLaw {
	double constant;               // N s (turns: N m s)
	double stiffness;              // h k, N s/m
	double offset;                 // m, displacement from the spring's rest at the start of the step
	double theta;                  // where in the step the spring is read: 1/2 the mean, 1 the end
	double damping;                // N s/m
	double carried;                // N s
	double inertia;                // kg/s
	double drive, driveSlope;      // N s, N s/m
	double driveLower, driveUpper; // N s
	double friction;               // N s, bound
	bool motor;                    // holds d = motorTarget
	double motorTarget;            // m
	double motorBound;             // N s
	double lower, upper;           // m, bounds of d; infinite: none
} knJointLaw;

// The branch at a point of the graph: d is held, or lambda follows d.
typedef struct knJointBranch {
	bool held;
	double d;      // held: its value; else where `lambda` is read
	double lambda; // on the graph at d
	double slope;  // not positive: d lambda / d d; held: 0
} knJointBranch;

// Nothing acts.
knJointLaw knJointLaw_Free(void);
// The point (d, lambda) of the graph with d - rho lambda = z, and its branch; rho > 0 in m/(N s).
knJointBranch knJointLaw_Branch(const knJointLaw* law, double z, double rho);
// Of an impulse on the graph at d, what motors and actuators give.
double knJointLaw_MotorShare(const knJointLaw* law, double d, double lambda);
// Actuators at d.
double knJointLaw_Drive(const knJointLaw* law, double d);
// All that has one value at d: force motor, actuators, spring, damper, armature.
double knJointLaw_Smooth(const knJointLaw* law, double d);
// The impulse just left (side -1) or right (side 1) of d, limits apart.
double knJointLaw_Beside(const knJointLaw* law, double d, int side);
