// Joints of the impulse stepper (Weinstein et al. 2006): impulses, found before bodies move, that close every
// joint at the end of the step (pre-stabilization), and linear projections of the velocities (post-stabilization).
//
// One solve lives for one step, in the arena, and knows which velocities it acts on by its phase:
//
//   knArticulationSolve_Begin                              active joints, order, warm starts
//   Enter(KN_ARTICULATION_COLLISION)  state->velocity      at the start poses; locked directions and limits only
//   Enter(KN_ARTICULATION_DYNAMICS)   blocks->u            at the start poses, after knStepBodies_Begin and
//                                                          knJointRows_ApplyForces; last step's impulses are applied
//   Enter(KN_ARTICULATION_CORRECTION) poses                default scheme, after knStepBodies_End: Settle closes what gaps are
//                                                          left, without giving bodies the velocities to it
//   Enter(KN_ARTICULATION_ARRIVAL)    state->velocity      after knStepBodies_End (and correction)
//   knArticulationSolve_Finish                             reactions, memory for the next step, work of motors
//
// Pre-stabilization belongs to the dynamics phase, post-stabilization to all but the correction. Impulses are equal and opposite at a
// point common to both bodies, plus opposite couples, always with the bodies' true masses: shock propagation may
// freeze bodies for contacts, joints never see it. A caller that wants to keep the velocities of before an extra
// joints-only sweep saves blocks->u and puts it back itself.
#pragma once

#include "core/arena.h"
#include "dynamics/joint_step.h"
#include "knuckle/stepper.h"

typedef enum knArticulationPhase {
	KN_ARTICULATION_COLLISION,
	KN_ARTICULATION_DYNAMICS,
	KN_ARTICULATION_CORRECTION,
	KN_ARTICULATION_ARRIVAL,
} knArticulationPhase;

// What one joint remembers from step to step, in the stepper's part of the state: one entry for each joint index,
// knArticulationMemory_Count of them, all zero at first. Plain data.
typedef struct knArticulationMemory {
	knTwist impulse; // of the locked directions, on the child at its joint origin, parent joint frame's axes
	knVec3 late;     // the force of the arrival phase likewise
	double motor[6], friction[6];      // by axis
	double dt;                         // of the step it comes from; 0: nothing remembered
	uint64_t owner;                    // generation of an attached joint: a slot's next owner starts cold
	double solved[KN_JOINT_STEP_ROWS]; // rows of joints that are solved at once
} knArticulationMemory;

int knArticulationMemory_Count(const knModel* model);

typedef struct knArticulationSolve knArticulationSolve;

typedef struct knArticulationInput {
	const knModel* model;
	knState* state;
	knStepBodies* blocks; // filled by the time of KN_ARTICULATION_DYNAMICS
	const knSettings* settings;
	double h;
	knTasks tasks;
	const uint8_t* solved;        // [joints] 1: solved elsewhere, takes no part; NULL: none
	knArticulationMemory* memory; // read at the start, written by Finish; NULL: none
} knArticulationInput;

// NULL when the arena has no memory.
knArticulationSolve* knArticulationSolve_Begin(const knArticulationInput* input, knArena* arena);
void knArticulationSolve_Enter(knArticulationSolve* solve, knArticulationPhase phase);
// Adds to the joints' reactions (cleared by knJointRows_ApplyForces), by which the world releases joints, and writes
// memory; returns the work of motors (J).
double knArticulationSolve_Finish(knArticulationSolve* solve);

// Active joints: pairs of body indices, in the order of joint indices.
int knArticulationSolve_JointCount(const knArticulationSolve* solve);
// Joint index of entry i, 0 <= i < count.
int knArticulationSolve_JointAt(const knArticulationSolve* solve, int i);

// The island of joints that a body belongs to; -1: none. And how many joints it has.
int knArticulationSolve_IslandOf(const knArticulationSolve* solve, int body);
int knArticulationSolve_JointsOf(const knArticulationSolve* solve, int body);
// Collision phase, default scheme: takes out of a change of velocities what the joints of an island do not allow, without
// counting an impulse.
void knArticulationSolve_Answer(knArticulationSolve* solve, int island, knTwist* change);

// One sweep over all joints, forwards and backwards by turns. epsilon in (0, 1]: share of each joint's error that
// the sweep removes; the published scheme ramps it up to 1, the default one gains nothing from less than 1.
// Returns the worst error found on the way (m, angles times 1 m): zero means nothing was left to do.
double knPreStabilize_Sweep(knArticulationSolve* solve, double epsilon);
// The same for entry i alone; returns its error before.
double knPreStabilize_Joint(knArticulationSolve* solve, int i, double epsilon);

// Default scheme: all joints of an island at once, in any phase (bounds apart, which sweeps mind). Returns the worst rate that was wrong before (m/s).
double knArticulationSolve_Settle(knArticulationSolve* solve);

// Projects the velocities of the present phase onto those that the joints allow, with motors and friction in the
// dynamics and arrival phases. Returns the worst constrained velocity found on the way (m/s).
double knPostStabilize_Sweep(knArticulationSolve* solve, double epsilon);
double knPostStabilize_Joint(knArticulationSolve* solve, int i, double epsilon);
