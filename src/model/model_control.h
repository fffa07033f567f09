// The part of the compiled model that control.h works on.
#pragma once

#include "knuckle/control.h"
#include "model/joint.h"

typedef struct knModelActuator {
	knDriven driven;
	int drive;     // joints
	int tendon;    // tendons
	int body;      // points
	knFrame frame; // relative to the centre of mass
	double gear[6], gain[3], bias[3];
	bool isMuscle;
	knMuscle muscle;
	bool controlLimited, forceLimited, activationLimited;
	double controlRange[2], forceRange[2], activationRange[2];
	knActivation activation;
	double timeConstant, fallConstant, blend, control, start;
} knModelActuator;

typedef struct knModelTendonPart {
	int drive; // fixed tendons
	double weight;
	int body;     // spatial ones
	knVec3 point; // relative to the centre of mass
	double pulley;
} knModelTendonPart;

typedef struct knModelTendon {
	bool spatial, limited;
	int first, count; // parts
	double stiffness, damping, restLower, restUpper, lower, upper;
} knModelTendon;

typedef struct knModelCoupling {
	int drive1, drive2; // drive2 < 0: none
	double ref1, ref2, coefficients[5], timeConstant;
	bool enabled;
} knModelCoupling;

// An axis that something drives.
typedef struct knModelDrive {
	int joint, axis;
	int actuators; // of it
	double mass; // kg m2 or kg: what it moves in the initial pose; for the stiffness of limits and couplings
} knModelDrive;

// How a body feels the medium: as the box with its mass and moments of inertia.
typedef struct knModelDrag {
	knQuat axes;  // of the box, in the body's
	knVec3 sides; // m
} knModelDrag;

typedef struct knModelControl {
	int actuatorCount, tendonCount, tendonPartCount, couplingCount;
	int driveCount, driveCapacity;
	knModelActuator* actuators;
	knModelTendon* tendons;
	knModelTendonPart* tendonParts;
	knModelCoupling* couplings;
	knModelDrive* drives; // sorted by joint and axis
	int* jointDrive;      // [jointCount] first drive of each joint, -1: none
	double mediumDensity, mediumViscosity;
	int dragCount;     // bodies, or 0 without a medium
	knModelDrag* drag; // [dragCount]
} knModelControl;
