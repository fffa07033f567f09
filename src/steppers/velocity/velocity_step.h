// What the phases of the velocity stepper hand on. Everything is made for one step and lives in its arena;
// each field names who writes it. The two schemes, step_velocity.c and paper/step_paper.c, are lists of these phases.
#pragma once

#include "dynamics/contact_correction.h"
#include "dynamics/contact_groups.h"
#include "dynamics/contact_rows.h"
#include "dynamics/fast_bodies.h"
#include "dynamics/islands.h"
#include "dynamics/joint_step.h"
#include "dynamics/joint_sweeps.h"
#include "dynamics/layers.h"
#include "dynamics/sleep.h"
#include "dynamics/time_step.h"
#include "steppers/stepper_ops.h"
#include "dynamics/step_memory.h"

// The global solves. Groups differ in the sweeps that they need and can afford: few contacts cost little.
typedef enum knGlobalStage {
	KN_STAGE_LARGE,
	KN_STAGE_SMALL,
	KN_STAGE_TINY,
	KN_STAGE_JOINTED, // groups with joints, of any size
	KN_STAGE_COUNT,
} knGlobalStage;

// The settings, resolved: numbers instead of "the stepper's own choice".
typedef struct knVelocityOptions {
	int sweeps[KN_STAGE_COUNT];     // of the global solves
	double settled[KN_STAGE_COUNT]; // m2/s2, of the change of a sweep, which then is the last
	int layerSweeps;                // sweeps a layer, negative: shock propagation chooses
	int correctionSweeps;           // of each correction
	bool shock;
	int queries; // collision queries a step
	knSweepFriction friction;
	bool alignTangents;
	bool bounceRows; // Newton's law of impact is part of the rows
	bool warmStart;
	bool conjugate;    // sweeps of the global solve go on in the direction of those before
	bool directJoints; // locked rows of joints are solved all at once in the global solve
	bool solveJoints;  // islands of joints, and those with contacts, are solved apart (dynamics/joint_step.h)
	knSweepOptions solver; // sweeps are set for each solve
} knVelocityOptions;

typedef struct knVelocityStep {
	knStepContext* context;
	knVelocityOptions options;
	double h;              // s, the whole step
	const double* weights; // [bodyCount] of blocks; NULL: KN_WEIGHT_END. The scheme

	// knVelocity_ApplyForces
	knStepBodies blocks;
	knRowInput input;
	knFrame* start;    // poses at the time of the last query
	int32_t* solveSet; // [bodyCount] the knGlobalStage of its group, -1: does not move. knVelocity_BuildRows

	// knVelocity_FindContacts
	knContactRows contacts;
	bool lookedAhead;  // contacts are also those to come
	knFastBodies fast; // and knVelocity_Move

	// knVelocity_BuildRows
	knJointSweeps swept; // joints that have rows
	knIslands islands;
	knSleep sleep;         // knVelocity_FindSleepers
	const uint8_t* asleep; // [bodyCount] of it: 1: sleeps through this step; NULL without sleeping
	knSweepSet global;     // its stages are knGlobalStage
	knTimeStep time;       // of islands without joints; empty in the published scheme
	knJointStep jointStep; // islands of joints alone

	// knVelocity_BuildLayers
	knLayers layers;
	knSweepSet layered;
	double* change; // [bodyCount] by group, m2/s2, of the global solve's last sweep. knVelocity_SolveGlobal
	knContactGroups known;          // groups of bodies in contact, default scheme. knVelocity_BeginLoads
	knContactCorrection correction; // knVelocity_ApplyForces
} knVelocityStep;

// How the layers of a pile are found.
typedef bool knLayersFn(knLayers* layers, const knLayerInput* input, knArena* arena);

// --- step_velocity.c -------------------------------------------------------------------------------------

// The options of a scheme where the user has none of his own: a setting below zero asks for them.
typedef struct knVelocityChoices {
	int sweeps[KN_STAGE_COUNT];
	int layerSweeps;
	int queries;
	int friction, relaxation; // values of the settings friction_model and solver
	bool warmStart;
} knVelocityChoices;
knVelocityOptions knVelocity_Options(const knStepContext* context, const knVelocityChoices* own);

// --- velocity_rows.c -------------------------------------------------------------------------------------

// Forces over a span of time; u is ready for rows.
knStatus knVelocity_ApplyForces(knVelocityStep* step, double span);
// Asks the collider; `predict`: also for what may touch during the step.
knStatus knVelocity_FindContacts(knVelocityStep* step, bool predict);
// Joint rows, contact points, groups, bounces and the set of the global solve.
knStatus knVelocity_BuildRows(knVelocityStep* step);
// Its parts: room for the rows of joints; which bodies belong together; points and rows ready to be swept.
// False: no memory.
bool knVelocity_ReserveRows(knVelocityStep* step);
bool knVelocity_FindGroups(knVelocityStep* step);
bool knVelocity_BuildGlobalSet(knVelocityStep* step);
// Points and masses of a stage taken anew.
void knVelocity_LoadStage(knVelocityStep* step, int stage);
// Projected Gauss-Seidel over all groups, all masses true.
knStatus knVelocity_SolveGlobal(knVelocityStep* step);
// Tall and narrow groups that the sweeps have left unfinished, solved at once. After knVelocity_BuildLayers.
knStatus knVelocity_SolveColumns(knVelocityStep* step);
// After all solves: what they did to bodies without joints, and the guard of their energy (default scheme).
knStatus knVelocity_Finish(knVelocityStep* step);
// After the move: velocity errors of loaded contacts (default scheme).
knStatus knVelocity_Settle(knVelocityStep* step);
// Contacts at the end of the step and their rows, for a last correction.
knStatus knVelocity_FindAgain(knVelocityStep* step);
// Impulses, reactions and memories are read off the points and rows.
knStatus knVelocity_Collect(knVelocityStep* step);
knStatus knVelocity_OutOfMemory(const knVelocityStep* step);

// --- velocity_sleep.c ------------------------------------------------------------------------------------

// Which groups sleep through this step: they take no part in solve and motion, and keep their impulses.
bool knVelocity_FindSleepers(knVelocityStep* step);
// Bodies that sleep stand still, whatever impulses they start with.
void knVelocity_QuietSleepers(knVelocityStep* step);
// How long each body has been at rest; groups that have been long enough stop.
void knVelocity_RecordRest(knVelocityStep* step);

// --- velocity_shock.c ------------------------------------------------------------------------------------

// Layers of the present contacts.
knStatus knVelocity_BuildLayers(knVelocityStep* step, knLayersFn* build);
// What the points carried acts on u; the loads of piles (default scheme).
knStatus knVelocity_BeginLoads(knVelocityStep* step);
// Velocities layer by layer: sweeps that continue the impulses of the global solve.
knStatus knVelocity_ContinueLayers(knVelocityStep* step);

// --- velocity_correct.c ----------------------------------------------------------------------------------

// Moves all bodies by the span that the forces were applied for.
knStatus knVelocity_Move(knVelocityStep* step);
// Projection error correction, layer by layer where something is deep, and of the whole world.
knStatus knVelocity_CorrectLayers(knVelocityStep* step);
knStatus knVelocity_CorrectGlobal(knVelocityStep* step);
