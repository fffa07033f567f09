// One step of an island with joints and contacts: all joints, limits, motors, springs, normals and friction discs in one problem,
// on the mean velocities of the step (joint_equations.h). Rows that measure are the rows that push, so that joints do no work
// and contacts only negative work; momenta are exact.
//
//   1 joints that are torn, or newly attached, are closed without velocities       mixed_positions.h
//   2 what arrives in this step is stopped, or bounces, with the start velocities  mixed_velocities.h
//   3 rounds: residuals at the iterate, the convex problem of island_newton.h, until the equations of the step hold
//   4 what the mean rule leaves at the end is taken out                            mixed_velocities.h
//   5 overlaps are pushed out without velocities                                   mixed_positions.h
//
// A step whose rounds do not converge is taken in halves. One that still does not is refused: nothing is changed.
#pragma once

#include "dynamics/joint_equations.h"
#include "dynamics/mixed_islands.h"

#define KN_MIXED_JOINT_ROWS KN_EQUATIONS_MAX_ROWS // numbers kept for each joint

typedef struct knMixedStepInput {
	const knModel* model;
	const knState* state; // at the start of the step
	const knMixedIslands* islands;
	const double* restitution; // [contacts->pointCount]; NULL: nothing bounces
	double h;
	knContactRows* contacts; // lambda of the points: warm start, then result, N s
	double* lambda;          // [joints][KN_MIXED_JOINT_ROWS] of joints' rows: the same

	// out, [bodyCount], [joints]: written for the island's bodies and joints
	knFrame* pose;
	knTwist* velocity;
	knTwist* reactions; // N s, on the child at its anchor
} knMixedStepInput;

typedef struct knMixedStepResult {
	bool solved;
	int rounds; // of all sub-steps
	int factorizations;
	int subSteps; // 1: the whole step at once
	double gap;   // m, worst of what the joints' rows leave
	double taken; // J, by landing and settling
	double work;  // J, put in by motors, users' forces and kinematic bodies
} knMixedStepResult;

// False: no memory. Without `solved` the contacts' impulses are those of before.
bool knMixedStep_Run(const knMixedStepInput* input, knMixedIsland* island, knMixedStepResult* result,
					 knArena* arena);
