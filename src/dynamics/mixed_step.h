// One step of an island with joints and contacts: all joints, limits, motors, springs, normals and friction discs in one problem,
// on the mean velocities of the step (joint_equations.h). Rows that measure are the rows that push, so that joints do no work
// and contacts only negative work; momenta are exact.
//
//   1 joints that are torn, or newly attached, are closed without velocities        mixed_positions.h
//   2 what bounces in this step does so with the start velocities                   mixed_velocities.h
//   3 rounds: residuals at the iterate, the convex problem of island_newton.h, until the equations of the step hold; on mean
//     velocities, or where something arrives on those of the end, so that it is stopped and not turned around
//   4 what the mean rule leaves of velocities at the end is taken out               mixed_velocities.h
//   5 overlaps are pushed out, then all joints closed, without velocities           mixed_positions.h
//
// Where the rounds of 3 do not converge, the rows, arms and inertias are those of the start, and the velocities those of the end
// of the step; the stiffness of the joints' loads is implicit. That problem is convex, takes energy and always has a solution;
// what it leaves open is closed by 5. Should a step that is not exact have gained energy, its velocities are scaled back.
#pragma once

#include "dynamics/joint_equations.h"
#include "dynamics/joint_island.h"
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
	bool guarded; // energy that the step had gained was taken out
	knJointRung rung;
	int rounds;
	int factorizations;
	double gap;   // m, worst of what the joints' rows leave
	double taken; // J, by landing and settling
	double work;  // J, put in by motors, users' forces and kinematic bodies
} knMixedStepResult;

// False: no memory.
bool knMixedStep_Run(const knMixedStepInput* input, knMixedIsland* island, knMixedStepResult* result,
					 knArena* arena);
