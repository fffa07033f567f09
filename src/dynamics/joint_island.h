// One step of an island: bodies that joints connect, without contact, solved all at once (docs/methods/joints.md).
//
//   knJointIslands_Create      a cache of elimination orders, kept from step to step; it never changes a result
//   knJointIslands_BeginStep
//   knJointIsland_Make         bodies, joints and memory of one island, in the arena
//   knJointIsland_Solve        Newton's method, its fall-backs, the projection of velocities; islands in parallel
//   knJointIsland_Store        poses, velocities, coordinates and reactions into the state
//
// Newton's method finds the joint impulses with which every joint is closed at the END of the step (joint_equations.h).
// A step that does not converge is never taken: the ladder below is gone down instead.
#pragma once

#include "core/arena.h"
#include "dynamics/joint_equations.h"

typedef enum knJointRung {
	KN_RUNG_NEWTON,      // full steps
	KN_RUNG_DAMPED,      // theta = 0.6
	KN_RUNG_LINE_SEARCH, // theta = 1/2, the residual falls
	KN_RUNG_HALVED,      // two halves of the step
	KN_RUNG_START_ROWS, // rows and arms of the start of the step, velocities of its end: damped, open gaps are closed afterwards
	KN_RUNG_CONFLICT, // the joints contradict each other: least squares, at rest
	KN_RUNG_HELD,     // nothing helped: the island stands still in this part of the step
} knJointRung;

typedef struct knJointIslandReport {
	knJointRung rung; // the lowest that was used
	int iterations;   // of Newton's method, all attempts
	int subSteps;     // 1: the whole step at once
	int factorings;
	int conflicts;  // joints left open by more than the tolerance
	int worstJoint; // the widest of them, -1: none
	double gap;     // m, worst that is left (angles times an arm)
	double taken;   // J, by projections of velocities
	double work;    // J, put in by motors, forces and kinematic bodies
} knJointIslandReport;

typedef struct knJointIslands knJointIslands;
typedef struct knJointIsland knJointIsland;

// NULL when out of memory.
knJointIslands* knJointIslands_Create(const knAllocator* allocator);
void knJointIslands_Destroy(knJointIslands* islands);
void knJointIslands_BeginStep(knJointIslands* islands);

typedef struct knJointIslandInput {
	const knModel* model;
	const knState* state;
	double h;
	const int* joints; // active ones, ascending
	int jointCount;
	int* local; // [bodyCount] scratch, -1 throughout; so again afterwards
} knJointIslandInput;

// NULL when out of memory.
knJointIsland* knJointIsland_Make(knJointIslands* islands, const knJointIslandInput* input, knArena* arena);
// Impulses of the rows of the island's joint `k` in the last step, as a guess: knJointIsland_Impulses of then, times the
// ratio of the steps.
void knJointIsland_Guess(knJointIsland* island, int k, const double* lambda, double scale);
const knJointIslandReport* knJointIsland_Solve(knJointIsland* island);
const knJointIslandReport* knJointIsland_Report(const knJointIsland* island);
void knJointIsland_Impulses(const knJointIsland* island, int k, double* lambda);
// Poses at the end of the step of the bodies that yield, [bodyCount]; returns how many these are.
int knJointIsland_Poses(const knJointIsland* island, knFrame* pose);
void knJointIsland_Store(const knJointIsland* island, knState* state);
