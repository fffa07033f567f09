// What the phases of one step of the impulse method hand on to each other; nothing outlives the step.
//
//   forces      blocks.u = velocities with this step's forces, `force` what these added
//   contacts    `list`, `pairs`: one query with margins that cover the step's motion
//   levels      `graph`
//   contact     blocks.u and the list's points change by impulses
#pragma once

#include "dynamics/contact_graph.h"
#include "dynamics/contact_groups.h"
#include "dynamics/fast_bodies.h"
#include "dynamics/joint_step.h"
#include "dynamics/joint_sweeps.h"
#include "steppers/stepper_ops.h"

// The points of two shapes.
typedef struct knImpulsePair {
	int shapeA, shapeB;
	int a, b;         // bodies
	int first, count; // points of the list
} knImpulsePair;

// What is solved together in the default scheme, by group of bodies. The first two take the mean time step
// (dynamics/time_step.h), whose stages they are.
typedef enum knImpulsePart {
	KN_PART_SMALL, // few enough points to be solved to the end
	KN_PART_LARGE,
	KN_PART_END, // with joints, or with bodies that are followed along their way: velocities at the end of the step
	KN_PART_MEAN_COUNT = KN_PART_END,
} knImpulsePart;

typedef struct knImpulseStep {
	knStepContext* context;
	const knModel* model;
	knState* state;
	double h;

	knStepBodies blocks;
	double* weights; // [bodyCount] of blocks; NULL: KN_WEIGHT_END. The scheme
	knFrame* start;  // [bodyCount] poses at which the contacts were found. knImpulseStep_Begin
	knTwist* force;  // [bodyCount] what forces add to blocks.u

	knRowInput input;
	knContactRows list;
	knFastBodies fast; // knImpulseContacts_Find and the end of the step
	knImpulsePair* pairs;
	int pairCount;
	int pairTests; // pairs of shapes that were tested one by one
	knContactGraph graph;

	// default scheme
	knIslands islands;
	int32_t* partOf;   // [bodyCount] knImpulsePart, -1: does not move. knImpulseStep_Prepare
	int32_t* endStage; // [bodyCount] the stage of KN_PART_END for its bodies, else -1. knContactSolve_Build
	knTimeStep time;   // of KN_PART_SMALL and KN_PART_LARGE
	knSweepSet set;    // all points: a stage a level of these, part after part, then one of KN_PART_END
	bool built;        // the set is
	double* change;    // [bodyCount] by group, m2/s2, of the last sweep
	knContactGroups known; // groups of bodies in contact. knImpulseStep_BeginGroups
	knJointStep jointStep; // islands with joints that are solved at once
	knJointSweeps swept;   // the others
} knImpulseStep;

// Sweeps over contacts in this step.
int knImpulseStep_Sweeps(const knImpulseStep* step);
// Room, and velocities with this step's forces.
knStatus knImpulseStep_Begin(knImpulseStep* step);
knStatus knImpulseStep_ApplyForces(knImpulseStep* step);
// All that the default scheme knows before it collides: contacts, joints, groups.
knStatus knImpulseStep_Prepare(knImpulseStep* step);
// Groups of bodies in contact, with the levels of the graph. False when out of memory.
bool knImpulseStep_BeginGroups(knImpulseStep* step);
// Levels from the ground up, what is below frozen, after the sweeps. False when out of memory.
bool knImpulseStep_PropagateShock(knImpulseStep* step);
// Moves bodies to the end of the step.
knStatus knImpulseStep_Move(knImpulseStep* step);
// The velocity of a body before forces.
static inline knTwist knImpulseStep_OldVelocity(const knImpulseStep* step, int body) {
	return knSubT(step->blocks.u[body], step->force[body]);
}
// Reports the time since `start` as the joints'.
static inline void knImpulseStep_CountJointTime(knImpulseStep* step, double start) {
	step->context->report->jointTime += knStepContext_Now(step->context) - start;
}
knStatus knImpulseStep_OutOfMemory(const knImpulseStep* step);
// The group of bodies in contact to which a pair, or a chunk, of two bodies belongs.
static inline int knImpulseStep_GroupOf(const knImpulseStep* step, int a, int b) {
	int group = step->islands.group[a];
	return group >= 0 ? group : step->islands.group[b];
}

// --- contacts (impulse_contacts.c) ---

// Asks the collider once, lists contacts, points and pairs; with `warm`, recalls what they carried.
knStatus knImpulseContacts_Find(knImpulseStep* step, bool warm);
// Leaves out pairs that fly past each other. False when out of memory.
bool knImpulseContacts_DropPassing(knImpulseStep* step);
// secondary_impacts.c: who is struck hard in this step, into input.struck. False when out of memory.
bool knSecondaryImpacts_Find(knImpulseStep* step, const knContactSet* set);
// Before bodies move: contacts get their impulses, and the memory for the next step; counts. Out of memory or KN_OK.
knStatus knImpulseContacts_Collect(knImpulseStep* step);

// contact_levels.c: the contact graph of the points.
knStatus knContactLevels_Build(knImpulseStep* step);

// contact_solve.c: sweeps over all points, and the solver of the mean time step.
// Begins the time step, once contacts are listed and before their memories go. False when out of memory, also below.
bool knContactSolve_Begin(knImpulseStep* step);
// KN_PART_END: sweeps over points and rows of joints.
bool knContactSolve_RunEnd(knImpulseStep* step);
// The others: sweeps over the levels, while bodies turn with new arms.
bool knContactSolve_Run(knImpulseStep* step);
// After the move: velocities of what is loaded, overlaps, joints that are apart.
bool knContactSolve_Settle(knImpulseStep* step);
