// The joints of a step that are solved at once: islands of joints that nothing touches (joint_island.h), and islands that mix
// joints and contacts (mixed_step.h). A stepper takes them out of everything else:
//
//   knJointStep_Find     which joints and bodies; `solved` keeps them out of the stepper's rows
//   (recall)             the stepper writes last step's impulses into `lambda`
//   knJointStep_Mix      islands with contacts; those that it refuses stay with the stepper
//   knJointStep_Solve    the others, from the state at the start of the step
//   (memory)             the stepper keeps `lambda` for the next step
//   knJointStep_Store    the state at the end of the step, whatever the stepper did to these bodies meanwhile
#pragma once

#include "core/log.h"
#include "dynamics/islands.h"
#include "dynamics/joint_island.h"
#include "dynamics/joint_rows.h"
#include "dynamics/mixed_step.h"
#include "knuckle/stepper.h"

#define KN_JOINT_STEP_ROWS KN_EQUATIONS_MAX_ROWS // numbers of `lambda` for each joint

typedef struct knJointStepInput {
	const knModel* model;
	const knState* state;
	double h;
	knJointIslands* islands; // the world's cache
	const knSweepChunk* chunks;
	int chunkCount;
	const double* invMass; // [bodyCount]
	const uint8_t* asleep; // [bodyCount] 1: takes no part; NULL: all are awake. Read by knJointStep_Solve
	knTasks tasks;
	const knLog* log;
	knArena* arena;
} knJointStepInput;

typedef struct knJointStep {
	knJointStepInput in;
	// knJointStep_Find; NULL without joints
	uint8_t* solved; // [joints] 1: solved here
	uint8_t* taken;  // [bodyCount] 1: moved here
	int count;       // islands that nothing touches
	knGroupOrder order;
	int* joints; // [order.first[count]] indices, by island
	// knJointStep_Solve
	double* lambda;          // [joints][KN_JOINT_STEP_ROWS] N s; in: of the last step, scaled to this one
	knJointIsland** islands; // [count] NULL: asleep
	// knJointStep_Mix
	knJointIsland** clear; // [clearCount] islands with contacts that have turned out not to touch
	int clearCount;
	uint8_t* mixed;    // [bodyCount] 1: of an island with contacts that is solved; NULL: none is
	knFrame* pose;     // [bodyCount] at the end of the step, of these
	knTwist* velocity; // the same
	knTwist* impulses; // [joints] N s, on the child at its anchor
} knJointStep;

typedef struct knJointMixInput {
	const knIslands* islands;
	knContactRows* contacts;   // points are filled; those of islands that are solved get their impulses
	const double* restitution; // [contacts->pointCount]
	const uint8_t*
		left; // [bodyCount] 1: it stays with the stepper, and with it the island whose joints hold it
} knJointMixInput;

// False: no memory.
bool knJointStep_Find(knJointStep* step, const knJointStepInput* input);
// Adds to the report. False: no memory.
bool knJointStep_Mix(knJointStep* step, const knJointMixInput* input, knStepReport* report);
// The same for islands that nothing touches.
bool knJointStep_Solve(knJointStep* step, knStepReport* report);

// Memories as knJointMemory, sorted by joint, parts from KN_PART_SOLVED on: read before the solve, `scale` to this step;
// written after it, merged into `count` memories of other joints that stand at the beginning.
void knJointStep_Recall(knJointStep* step, const knJointMemory* memory, int count, double scale);
int knJointStep_MemoryCount(const knJointStep* step);
void knJointStep_Remember(const knJointStep* step, knJointMemory* memory, int count);

void knJointStep_Store(const knJointStep* step, knState* state);
