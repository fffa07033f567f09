// Measures: what users, tests and benchmarks trust. Computed from poses and the model alone, by code that shares
// nothing with the solvers' caches; penetration by a fresh exact query.
#pragma once

#include "knuckle/world.h"

KN_BEGIN_C

typedef struct knJointError {
	double distance; // m, from the joint frame's origin to the closest allowed one, limits included
	double angle;    // rad, likewise for the rotation
} knJointError;

typedef struct knMeasures {
	double jointError;      // m, worst enabled joint
	double jointErrorMean;  // m, mean over enabled joints
	double jointAngleError; // rad, worst enabled joint
	double kinetic;         // J, moving bodies
	double potential;       // J, gravity (zero at the origin) and joint springs
	knVec3 momentum;        // kg m/s, dynamic bodies
	knVec3 angularMomentum; // kg m2/s, dynamic bodies, about their common centre of mass
	knVec3 center;          // m, their centre of mass
	double displacement;    // m, largest distance of a moving body's centre from where it started
	bool finite;
} knMeasures;

KN_API knMeasures knWorld_Measure(knWorld* world);
KN_API knJointError knWorld_MeasureJoint(knWorld* world, knJointId joint);

typedef struct knPenetration {
	double max;               // m, deepest overlap of any pair of solid shapes that may touch, 0 if none
	double mean;              // m, mean over overlapping pairs
	int pairs;                // overlapping pairs
	knShapeId shapeA, shapeB; // the deepest pair
} knPenetration;

KN_API knStatus knWorld_MeasurePenetration(knWorld* world, knPenetration* penetration, knError* error);

KN_END_C
