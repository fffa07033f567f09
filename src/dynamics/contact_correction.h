// Overlap is taken out at the end of the step, without touching velocities. A stepper brings the set that is swept:
//
//   knContactCorrection_Measure   separations at the present poses
//   knContactCorrection_Begin     displacements are zero, the set has the separations
//   (knSweep_Correct)             displacements p that leave no overlap
//   knContactCorrection_Finish    poses move by p
#pragma once

#include "dynamics/fast_bodies.h"
#include "dynamics/time_step.h"

typedef struct knContactCorrection {
	// in
	const knModel* model;
	knState* state;
	const knStepBodies* blocks;
	knContactRows* contacts;
	const knIslands* islands;
	const knFrame* start;   // [bodyCount] poses at which the contacts were found
	const knTimeStep* time; // of the contacts; NULL: they were found after it
	const knFastBodies* fast;
	knTasks tasks;
	knArena* arena;

	knTwist* p;       // [bodyCount] displacements. The stepper's room
	knQuat* turns;    // [bodyCount] scratch. The same
	bool depthsKnown; // of the points, at the present poses
} knContactCorrection;

void knContactCorrection_Measure(knContactCorrection* correction);
// m, the separation of one point at the present poses.
double knContactCorrection_Depth(const knContactCorrection* correction, int point);
// Whether anything overlaps by more than a trace. Measured.
bool knContactCorrection_Overlaps(const knContactCorrection* correction);
void knContactCorrection_Begin(knContactCorrection* correction, knSweepSet* set);
// Level by level from the ground up, what is below frozen, where a few sweeps over all bodies would only pass the overlap on.
// Groups with joints are left out, their joints would open. `level` as in knContactGroups. False: no memory.
bool knContactCorrection_PushLevels(knContactCorrection* correction, const int32_t* level, int levelCount,
									int sweeps);
// False: no memory.
bool knContactCorrection_Finish(knContactCorrection* correction);
