// Bodies as 6-blocks for one step: forces in, mean velocities out to the rows, poses and velocities back.
//
//   knStepBodies_Begin   u = velocities with forces, ready for the solver
//   (rows, solver)   u changes by constraint impulses
//   knStepBodies_End     poses move by h u, velocities follow
//
// A body's weight says what its rows see (integrate.c):
//
//   KN_WEIGHT_MEAN  u is the mean velocity of the step, displacement / h, and answers an impulse with half of the inverse
//                   mass. Momenta at the end follow from the impulses, which the stepper sums up: `impulse`
//   KN_WEIGHT_END   u is the velocity at the end, as in the published schemes; its angular part is the mean one
#pragma once

#include "core/arena.h"
#include "model/state.h"
#include "solve/rows.h"

enum { KN_TURN_EXP, KN_TURN_CAYLEY, KN_TURN_UNSOLVED };
#define KN_WEIGHT_MEAN 0.5
#define KN_WEIGHT_END 1.0

// One entry a body, index 0 is the world. Lives in the step's arena.
typedef struct knStepBodies {
	int count;
	double h;        // s
	double* weight;  // KN_WEIGHT_MEAN or KN_WEIGHT_END. knStepBodies_Begin, knStepBodies_Restart
	double* invMass; // times the weight: what u answers. 0: immovable. knStepBodies_Begin
	knMat33*
		invInertia; // the same, world axes at the start pose, zero if immovable. knStepBodies_Begin, knStepBodies_Aim
	knTwist* u; // velocities of the step. knStepBodies_Begin, knStepBodies_Drive, solver

	// written by knStepBodies_Begin and knStepBodies_Drive
	knTwist* free;    // u without constraint impulses
	knVec3* momentum; // angular, at the end of the step without constraints
	knTwist* drive;   // impulses of user forces and force motors, about the centre

	// of bodies of weight KN_WEIGHT_MEAN
	knTwist* impulse; // moment about the centre and impulse of all constraints in the step. The stepper
	uint8_t* cayley;  // which map the turn is of. knStepBodies_Aim

	const knTwist* push; // moves poses only, added to u by knStepBodies_End; NULL: none. stepper
	uint8_t* steadied;   // 1: knJointRows_Steady made it sluggish
} knStepBodies;

// `weights` [bodyCount], NULL: KN_WEIGHT_END for all. False when the arena has no memory.
bool knStepBodies_Begin(knStepBodies* blocks, const knModel* model, const knState* state, double h,
						const double* weights, const knTasks* tasks, knArena* arena);
// The same again for a body whose velocity at the start, or whose weight, has changed; without what it was driven by
// beside the state's forces.
void knStepBodies_Restart(knStepBodies* blocks, const knModel* model, const knState* state, int body,
						  double weight);
// u of a body of weight KN_WEIGHT_MEAN by its impulse: exact where it turns. False: there is no such
// turn, and u is the linear answer.
bool knStepBodies_Aim(knStepBodies* blocks, const knModel* model, const knState* state, int body);
// rad: what a body turns in the step at most, its impulse being given.
double knStepBodies_Turn(const knStepBodies* blocks, int body);
// Adds an impulse (moment about the centre, linear) before the solve, and counts it as driven.
void knStepBodies_Drive(knStepBodies* blocks, int body, knTwist impulse);
// Moves the state to the end of the step.
void knStepBodies_End(const knStepBodies* blocks, const knModel* model, const knTasks* tasks, knState* state);

// A centre-of-mass pose moved by constant velocity for h (exponential map).
knFrame knMovePose(knFrame pose, knTwist u, double h);
// The pose of a body at the end of the step by its u.
knFrame knStepBodies_EndPose(const knStepBodies* blocks, const knState* state, int body);
// The velocity of its centre at the end, and its angular momentum.
knVec3 knStepBodies_EndVelocity(const knStepBodies* blocks, const knModel* model, const knState* state,
								int body);
knVec3 knStepBodies_EndMomentum(const knStepBodies* blocks, const knModel* model, const knState* state,
								int body);

// J, what forces and force motors did, by the mean of the velocities before and after: exactly their share of
// the change of kinetic energy. To be called before knStepBodies_End.
double knStepBodies_DriveWork(const knStepBodies* blocks, const knState* state);
// J, what kinematic bodies put in through the rows that hold them.
double knStepBodies_KinematicWork(const knStepBodies* blocks, const knModel* model, const knRows* rows);

// Completes a row whose blocks and J are set: T = W J^T and D = J T + gamma.
void knStepBodies_FinishRow(const knStepBodies* blocks, knRow* row);
