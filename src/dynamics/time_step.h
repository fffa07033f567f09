// The step of bodies whose rows see mean velocities (KN_WEIGHT_MEAN): contacts at mean arms, landings before the step, what the
// mean rule leaves over after it, and the guard of the energy. A stepper brings the solver; islands with joints, whose bodies
// have the weight KN_WEIGHT_END, are left alone.
//
//   knTimeStep_Bounce    before forces: what bounces, when it meets (time_bounce.c)
//   knTimeStep_Land      before forces: what arrives without bouncing, with the velocities of the start
//   knTimeStep_Aim       u by the impulses that the points carry; arms and answers of what turns
//   (solve)              and again, while bodies turn
//   knTimeStep_Finish    impulses of bodies, exact velocities, the guard
//   (bodies move)
//   knTimeStep_Settle    loaded contacts: the error of the velocities that flips its sign from step to step
#pragma once

#include "dynamics/contact_geometry.h"
#include "dynamics/islands.h"

// A solver of contact points over stages. Points and blocks are those of the time step.
typedef struct knTimeSolver {
	int stageCount;
	int roughStage; // whose groups are too large to be finished; -1: none
	void* context;
	// Takes the points and the blocks' answers of a stage anew. False: no memory.
	bool (*load)(void* context, int stage);
	double (*error)(void* context, int stage); // m/s, that it leaves in velocities of contacts
	// Changes u and the points' impulses from what was loaded; u does not hold the effect of these yet if `fresh`.
	bool (*solve)(void* context, int stage, knTwist* u);
} knTimeSolver;

typedef struct knTimeStep {
	// in
	const knModel* model;
	knState* state;
	knStepBodies* blocks;
	knContactRows* contacts;
	const knIslands* islands;
	const int32_t* stageOf;        // [bodyCount] -1: does not move, or sleeps
	const knFrame* start;          // [bodyCount] poses at which the contacts were found
	const uint8_t* ignored;        // [bodyCount] 1: has left its contacts in the step; NULL: none
	const knContactMemory* memory; // of the step before, read by knTimeStep_Begin
	knTimeSolver solver;
	knArena* arena;

	// knTimeStep_Begin
	knFrame* end;          // [bodyCount] poses at the end, of stages in which something turns
	knVec3* turn;          // [bodyCount] rad, the same
	uint8_t* turning;      // [bodyCount] 1: its arms change in the step
	uint8_t* symmetric;    // [bodyCount] 1: a ball, whose arms never change
	uint8_t* loadedBefore; // [pointCount] 1: it carried load in the step before
	uint8_t* bounced;      // [pointCount] 1: it bounced in this step. knTimeStep_Bounce
	knVec3* extra;         // [pointCount] N s on B, of landings and of what is left over
	knTwist* work;         // [bodyCount] scratch
	knSweepPoint* kept;    // [pointCount] scratch
	double* sums;          // [bodyCount] scratch, by island
	double* tolerance;     // the same
	uint8_t* acts;         // [bodyCount] 1: the island lands, or settles
	bool renewed;          // points have moved with their bodies. knTimeStep_Bounce
	bool failed;           // the solver had no memory
	int guarded;           // islands whose impulses were scaled back. knTimeStep_Finish
} knTimeStep;

// [bodyCount] the weights of bodies: joints see velocities at the end of the step; what touches bodies with joints is found
// later. NULL: no memory.
double* knTimeStep_ChooseWeights(const knModel* model, const knState* state, knArena* arena);
// False: no memory.
bool knTimeStep_Begin(knTimeStep* step);
// Velocities of the state change, poses of what bounced at a time of its own as well; these bodies begin their step again.
bool knTimeStep_Bounce(knTimeStep* step);
// The same for what does not bounce, velocities alone. The solver is ready.
bool knTimeStep_Land(knTimeStep* step);
// True: something turns in the stage, so that points or answers have changed; they are loaded.
bool knTimeStep_Aim(knTimeStep* step, int stage);
// Impulses of the bodies, from those of the points, and their exact velocities.
void knTimeStep_SumImpulses(knTimeStep* step);
// Adds what changed u from `before` to the impulses of the bodies.
void knTimeStep_AddChanges(knTimeStep* step, const knTwist* before);
// The guard; after it velocities and impulses are those of the step.
void knTimeStep_Finish(knTimeStep* step);
// At the end of the step. Separations of points on what has turned, for corrections; what leaves after a bounce is far.
void knTimeStep_Depths(const knTimeStep* step);
// Velocities of what is loaded.
bool knTimeStep_Settle(knTimeStep* step);
// Adds what landings and settling gave to the contacts' impulses. J, the work of kinematic bodies in it.
double knTimeStep_AddExtra(const knTimeStep* step);
