// Bodies as 6-blocks for one step: forces in, mean velocities out to the rows, poses and velocities back.
//
//   knBlocks_Begin   u = velocities after forces, ready for the solver
//   (rows, solver)   u changes by constraint impulses
//   knBlocks_End     poses move by h u, velocities follow
//
// The solver's angular velocity is the *mean* one of the step (integrate.c), not the one the state holds.
#pragma once

#include "core/arena.h"
#include "model/state.h"
#include "solve/rows.h"

// One entry a body, index 0 is the world. Lives in the step's arena.
typedef struct knBlocks {
	int count;
	double h;            // s
	double* invMass;     // 0: immovable. knBlocks_Begin
	knMat33* invInertia; // world axes at the start pose, zero if immovable. knBlocks_Begin
	knTwist* u;          // velocities of the step. knBlocks_Begin, knBlocks_Drive, solver

	// written by knBlocks_Begin and knBlocks_Drive
	knTwist* free;    // u without constraint impulses
	knVec3* momentum; // angular, at the end of the step without constraints
	knTwist* drive;   // impulses of user forces and force motors, about the centre

	const knTwist* push; // moves poses only, added to u by knBlocks_End; NULL: none. stepper
	uint8_t* steadied;   // 1: knJointRows_Steady made it sluggish
} knBlocks;

// False when the arena has no memory.
bool knBlocks_Begin(knBlocks* blocks, const knModel* model, const knState* state, double h,
					const knTasks* tasks, knArena* arena);
// Adds an impulse (moment about the centre, linear) before the solve, and counts it as driven.
void knBlocks_Drive(knBlocks* blocks, int body, knTwist impulse);
// Moves the state to the end of the step.
void knBlocks_End(const knBlocks* blocks, const knModel* model, const knTasks* tasks, knState* state);

// A centre-of-mass pose moved by constant velocity for h (exponential map).
knFrame knMovePose(knFrame pose, knTwist u, double h);

// J, what forces and force motors did, by the mean of the velocities before and after: exactly their share of
// the change of kinetic energy. To be called before knBlocks_End.
double knBlocks_DriveWork(const knBlocks* blocks, const knState* state);
// J, what kinematic bodies put in through the rows that hold them.
double knBlocks_KinematicWork(const knBlocks* blocks, const knModel* model, const knRows* rows);

// Completes a row whose blocks and J are set: T = W J^T and D = J T + gamma.
void knBlocks_FinishRow(const knBlocks* blocks, knRow* row);

// Mean angular velocity of a free body over h, body axes, from its inertia and angular momentum in body axes.
knVec3 knMeanAngularVelocity(const knMat33* inertia, const knMat33* invInertia, knVec3 momentum, double h);
