// What the phases of the velocity stepper hand on. Everything is made for one step and lives in its arena;
// each field names who writes it. The two schemes, step_velocity.c and paper/step_paper.c, are lists of these phases.
#pragma once

#include "steppers/maximal/maximal_step.h"

// The global solves. Groups differ in the sweeps that they need and can afford: few contacts cost little.
typedef enum knGlobalStage {
	KN_STAGE_LARGE,
	KN_STAGE_SMALL,
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
	bool warmStart;
	bool conjugate;        // sweeps of the global solve go on in the direction of those before
	knSweepOptions solver; // sweeps are set for each solve
} knVelocityOptions;

typedef struct knVelocityStep {
	knMaximalStep m; // its stages are knGlobalStage
	knVelocityOptions options;
	knSweepSet global; // likewise. knVelocity_BuildRows
} knVelocityStep;

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
// What the phases read of the options.
void knVelocity_BeginStep(knVelocityStep* step);

// --- velocity_rows.c -------------------------------------------------------------------------------------

// Joint rows, contact points, groups, bounces and the set of the global solve.
knStatus knVelocity_BuildRows(knVelocityStep* step);
// Its parts: which bodies belong together, and in which stage; points and rows ready to be swept. False: no memory.
bool knVelocity_FindGroups(knVelocityStep* step);
bool knVelocity_BuildGlobalSet(knVelocityStep* step);
// Points and masses of a stage taken anew.
void knVelocity_LoadStage(knVelocityStep* step, int stage);
// Projected Gauss-Seidel over all groups, all masses true.
knStatus knVelocity_SolveGlobal(knVelocityStep* step);
// Contacts at the end of the step and their rows, for a last correction.
knStatus knVelocity_FindAgain(knVelocityStep* step);
// Projection error correction, layer by layer where something is deep, and of the whole world.
knStatus knVelocity_CorrectLayers(knVelocityStep* step);
knStatus knVelocity_CorrectGlobal(knVelocityStep* step);

// --- velocity_sleep.c ------------------------------------------------------------------------------------

// Which groups sleep through this step: they take no part in solve and motion, and keep their impulses.
bool knVelocity_FindSleepers(knVelocityStep* step);
// Bodies that sleep stand still, whatever impulses they start with.
void knVelocity_QuietSleepers(knVelocityStep* step);
// How long each body has been at rest; groups that have been long enough stop.
void knVelocity_RecordRest(knVelocityStep* step);

// --- velocity_shock.c ------------------------------------------------------------------------------------

// What arrives without bouncing; what the points carried acts on u; the loads of piles. After knMaximal_BuildLevels.
knStatus knVelocity_BeginLoads(knVelocityStep* step);
// Tall and narrow groups that the sweeps have left unfinished, solved at once.
knStatus knVelocity_SolveColumns(knVelocityStep* step);
// Velocities layer by layer: sweeps that continue the impulses of the global solve.
knStatus knVelocity_ContinueLayers(knVelocityStep* step);
