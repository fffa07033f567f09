// Joints as published (Weinstein et al. 2006): impulses, found before bodies move, that close every joint at the end of the
// step (pre-stabilization), and linear projections of the velocities (post-stabilization), joint by joint.
//
// One solve lives for one step, in the arena, and knows which velocities it acts on by its phase:
//
//   knArticulationSolve_Begin                              active joints
//   Enter(KN_ARTICULATION_COLLISION)  state->velocity      at the start poses; locked directions and limits only
//   Enter(KN_ARTICULATION_DYNAMICS)   blocks->u            at the start poses, after knStepBodies_Begin and
//                                                          knJointRows_ApplyForces
//   Enter(KN_ARTICULATION_ARRIVAL)    state->velocity      after knStepBodies_End
//   knArticulationSolve_Finish                             reactions, work of motors
//
// Pre-stabilization belongs to the dynamics phase, post-stabilization to all. Impulses are equal and opposite at a
// point common to both bodies, plus opposite couples, always with the bodies' true masses: shock propagation may
// freeze bodies for contacts, joints never see it. A caller that wants to keep the velocities of before an extra
// joints-only sweep saves blocks->u and puts it back itself.
#pragma once

#include "core/arena.h"
#include "dynamics/joint_rows.h"
#include "knuckle/stepper.h"

typedef enum knArticulationPhase {
	KN_ARTICULATION_COLLISION,
	KN_ARTICULATION_DYNAMICS,
	KN_ARTICULATION_ARRIVAL,
} knArticulationPhase;

typedef struct knArticulationSolve knArticulationSolve;

typedef struct knArticulationInput {
	const knModel* model;
	knState* state;
	knStepBodies* blocks; // filled by the time of KN_ARTICULATION_DYNAMICS
	const knSettings* settings;
	double h;
} knArticulationInput;

// NULL when the arena has no memory.
knArticulationSolve* knArticulationSolve_Begin(const knArticulationInput* input, knArena* arena);
void knArticulationSolve_Enter(knArticulationSolve* solve, knArticulationPhase phase);
// Adds to the joints' reactions (cleared by knJointRows_ApplyForces), by which the world releases joints; returns the work of
// motors (J).
double knArticulationSolve_Finish(knArticulationSolve* solve);

// Active joints, in the order of joint indices.
int knArticulationSolve_JointCount(const knArticulationSolve* solve);
// Joint index of entry i, 0 <= i < count.
int knArticulationSolve_JointAt(const knArticulationSolve* solve, int i);

// Closes entry i at the end of the step. epsilon in (0, 1]: share of its error that this removes; the published scheme ramps it up
// to 1. Returns the error before (m, angles times 1 m).
double knPreStabilize_Joint(knArticulationSolve* solve, int i, double epsilon);
// Projects the velocities of the present phase onto those that the joints allow, with motors and friction in the
// dynamics and arrival phases.
void knPostStabilize_Sweep(knArticulationSolve* solve, double epsilon);
