// What the two steppers in maximal coordinates do alike: forces, contacts, islands, joints, the frame of the mean time step, and
// the end of the step. Each brings its own order of sweeps and its own solver of the stages (dynamics/time_step.h). Everything is
// made for one step and lives in its arena; each field names who writes it.
#pragma once

#include "dynamics/contact_correction.h"
#include "dynamics/contact_graph.h"
#include "dynamics/contact_groups.h"
#include "dynamics/fast_bodies.h"
#include "dynamics/joint_step.h"
#include "dynamics/joint_sweeps.h"
#include "dynamics/shock_propagation.h"
#include "dynamics/sleep.h"
#include "dynamics/step_memory.h"
#include "dynamics/time_step.h"
#include "steppers/stepper_ops.h"

enum { KN_DEFAULT_SWEEPS = 30 }; // of large groups, and of those with joints
enum { KN_TURNING_ROUNDS = 2 };  // of groups in which bodies turn: arms and answers anew

// The points of two shapes.
typedef struct knShapePair {
	int shapeA, shapeB;
	int a, b;         // bodies
	int first, count; // points of the contacts
} knShapePair;

typedef struct knMaximalStep {
	knStepContext* context;
	const knModel* model;
	knState* state;
	double h;        // s, the whole step
	double* weights; // [bodyCount] of blocks; NULL: KN_WEIGHT_END. The scheme
	bool direct;     // islands with joints are solved at once, apart. The scheme
	bool cold;       // nothing begins with the impulses of the last step. The scheme

	// knMaximal_ApplyForces
	knStepBodies blocks;
	knRowInput input;
	knFrame* start; // poses at the time of the last query
	knContactCorrection correction;

	// knMaximal_FindContacts
	knContactRows contacts;
	bool lookedAhead;  // contacts are also those to come
	knFastBodies fast; // and knMaximal_Move
	knShapePair* pairs;
	int pairCount;
	int pairTests; // pairs of shapes that were tested one by one

	knIslands islands; // knMaximal_FindIslands
	uint8_t* whole; // [bodyCount] by group, 1: sees velocities at the end of the step. knMaximal_WeighGroups
	int32_t*
		stageOf;   // [bodyCount] where its group is solved, -1: elsewhere, or it does not move. The stepper
	knSleep sleep; // the stepper
	const uint8_t* asleep; // [bodyCount] of it: 1: sleeps through this step; NULL without sleeping
	knJointStep jointStep; // islands with joints that are solved at once. knMaximal_SolveJoints
	knJointSweeps swept;   // joints that have rows. knMaximal_BeginSwept
	knTimeStep time;       // of the other islands. knMaximal_BeginTime

	knContactGraph graph;  // who rests on whom. knMaximal_BuildLevels
	double* change;        // [bodyCount] by group, m2/s2, of the last sweep. The stepper
	knContactGroups known; // groups of bodies in contact. knMaximal_BeginGroups
} knMaximalStep;

knStatus knMaximal_OutOfMemory(const knMaximalStep* step);
// Reports the time since `start` as the joints'.
void knMaximal_CountJointTime(const knMaximalStep* step, double start);
// The group of bodies in contact to which a pair, or a chunk, of two bodies belongs.
static inline int knMaximal_GroupOf(const knMaximalStep* step, int a, int b) {
	int group = step->islands.group[a];
	return group >= 0 ? group : step->islands.group[b];
}
// What the forces of the step add to a velocity.
static inline knTwist knMaximal_Force(const knMaximalStep* step, int body) {
	return knSubT(step->blocks.free[body], step->state->velocity[body]);
}

// Velocities with forces over a span of time.
knStatus knMaximal_ApplyForces(knMaximalStep* step, double span);
// Asks the collider and lists the contacts; `predict`: also those to come during the step.
knStatus knMaximal_FindContacts(knMaximalStep* step, bool predict);
// maximal_passing.c: points by pairs of shapes; those of pairs that fly past each other are put out of reach. The points are filled.
// False: no memory, also below.
bool knMaximal_ListPairs(knMaximalStep* step);
bool knMaximal_DropPassing(knMaximalStep* step);
bool knMaximal_FindIslands(knMaximalStep* step);
// Which groups see velocities at the end of the step; their bodies have the weight.
bool knMaximal_WeighGroups(knMaximalStep* step);
// Islands with joints, alone or with contacts, leave the rest of the step. Stages and sleepers are known.
bool knMaximal_SolveJoints(knMaximalStep* step);
// Bodies and points that are solved there belong to no stage.
void knMaximal_LeaveSolved(const knMaximalStep* step);
// Rows of the joints that are left, and bounces of their islands. Room alone for those who fill them later.
bool knMaximal_ReserveSwept(knMaximalStep* step);
bool knMaximal_BeginSwept(knMaximalStep* step);
bool knMaximal_BounceSwept(knMaximalStep* step);
bool knMaximal_BeginTime(knMaximalStep* step, knTimeSolver solver);
// maximal_levels.c: the contact graph of the points.
knStatus knMaximal_BuildLevels(knMaximalStep* step);
// Groups of bodies in contact, with the levels of the graph.
bool knMaximal_BeginGroups(knMaximalStep* step);
// What the points carried acts on u; the loads of piles.
bool knMaximal_BeginLoads(knMaximalStep* step, bool shock);
// After the sweeps of a stage: what the last one changed; NULL: not known.
void knMaximal_NoteChanges(const knMaximalStep* step, int stage, const knSweepMomentum* momentum);
// Levels from the ground up, what is below frozen. *sweeps: how many were made.
bool knMaximal_PropagateShock(knMaximalStep* step, knSweepFriction friction, int chosenSweeps, int* sweeps);
// The guard of the energy, and velocities as they end.
knStatus knMaximal_Finish(knMaximalStep* step);
// Before bodies move: contacts get their impulses, and the memory for the next step.
knStatus knMaximal_Collect(knMaximalStep* step);
knStatus knMaximal_Move(knMaximalStep* step);
// After the move: velocity errors of what is loaded.
knStatus knMaximal_Settle(knMaximalStep* step);
