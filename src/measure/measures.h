// Measures over a model and poses (world.h is above this layer; src/world wraps these for users).
#pragma once

#include "core/arena.h"
#include "knuckle/measure.h"
#include "model/state.h"

knJointError knMeasure_Joint(const knModel* model, const knState* state, int joint);
// Everything but penetration. `initial` are the centre positions that displacement counts from; NULL: the
// model's.
knMeasures knMeasure_All(const knModel* model, const knState* state, const knVec3* initial);
// A fresh collider, no caches. Excluded pairs, disabled shapes and sensors do not count.
knStatus knMeasure_Penetration(const knModel* model, const knState* state, const knAllocator* allocator,
							   const knTasks* tasks, knPenetration* penetration, knError* error);

// --- the parts of knMeasure_All --------------------------------------------------------------------------

typedef struct knJointErrors {
	double maxDistance, meanDistance; // m
	double maxAngle;                  // rad
} knJointErrors;

typedef struct knMomentum {
	double mass;
	knVec3 center;          // zero without dynamic bodies
	knVec3 linear, angular; // angular about the centre
} knMomentum;

// Over the joints that are enabled, attached ones included.
knJointErrors knMeasure_Joints(const knModel* model, const knState* state);
double knMeasure_Kinetic(const knModel* model, const knState* state);
double knMeasure_GravityPotential(const knModel* model, const knState* state);
double knMeasure_Potential(const knModel* model, const knState* state);
knMomentum knMeasure_Momentum(const knModel* model, const knState* state);
double knMeasure_Displacement(const knModel* model, const knState* state, const knVec3* initial);

// The joint frame at the present poses, and its coordinates: fresh, but for the number of full turns, which
// poses cannot tell and which is taken from the state's coordinates.
knFrame knMeasure_JointFrame(const knState* state, const knJoint* joint, double q[KN_JOINT_MAX_Q]);

// The larger of two errors; NaN if either is, so that a broken state cannot hide behind a sound one.
static inline double knMeasure_Worse(double a, double b) {
	return a > b || a != a ? a : b;
}
