// What the two files of a mixed step share: mixed_rounds.c (equations and rounds) and mixed_step.c (phases, fall-back).
#pragma once

#include "dynamics/mixed_step.h"
#include "dynamics/mixed_velocities.h"

#define KN_RIM_TOLERANCE 1e-3   // of a disc's radius: an impulse so near to it slides
#define KN_LOOSE_TOLERANCE 1e-5 // m: a step that is wrong by more may gain energy

// A contact point over a step.
typedef struct knMixedPoint {
	int index;     // in the list of contacts
	int a, b;      // local bodies
	knVec3 lA, lB; // where the surfaces' points are, body axes
	knVec3 n, t1, t2;
	double mu, gap; // gap at the start of the step
	double radius;  // N s, of the disc
	double lambda[3];

	// at the iterate
	knVec3 rA, rB;     // mean arms
	knVec3 endA, endB; // arms at the end
	double rate[3];    // m/s
	double error;      // m, by how much it misses its laws
	double softness;   // of its rows' own response
} knMixedPoint;

typedef struct knMixedRun {
	const knMixedStepInput* in;
	knMixedIsland* island;
	knSpan span;
	knEquationBody* bodies; // those of the island, then those that do not move
	int total;
	int32_t* local; // [bodyCount] index in bodies; -1: none
	knEquationJoint* joints;
	knMixedPoint* points;
	knPointTask* tasks; // [contacts->pointCount]
	uint8_t* redundant; // [jointCount] 1: in a loop whose rows may depend on each other
	knMixedStepResult* result;
	knArena* arena;
	double left;           // m, the worst error of the last attempt
	knIslandStatus status; // of the last round
	bool arrives;          // something meets in this step: velocities at its end
	bool firm;             // points are firm from the first round on
	bool failed;           // no memory
} knMixedRun;

// Bodies, joints and points, from the input's poses and velocities. False: no memory.
bool knMixedRun_Make(knMixedRun* run);
// The start of a step at the bodies' present state; theta: 1/2 mean velocities, 1 those of the end.
void knMixedRun_Begin(knMixedRun* run, double h, double theta);
// Rounds until the equations hold; false: they do not. The iterate is the best that was met.
bool knMixedRun_Converge(knMixedRun* run);
// The step with rows, arms and inertias of its start and velocities at its end, which always has a solution. False: no solution by
// round-off.
bool knMixedRun_TakeStartRows(knMixedRun* run, double h);
// kg m2 by body of the model: what the loads of the last round raise the island's inertias by, as their arms turn.
void knMixedRun_Stiffen(const knMixedRun* run, knMat33* stiffness);
// After all: gives a free island the angular momentum back that it has lost since the start of the step.
void knMixedRun_RestoreSpin(knMixedRun* run);
// Velocities of the bodies and all impulses, to go back to.
int knMixedRun_StoreSize(const knMixedRun* run);
void knMixedRun_Copy(knMixedRun* run, double* store, bool back);

static inline void knMixed_SetSix(double* to, knTwist from) {
	to[0] = from.ang.x;
	to[1] = from.ang.y;
	to[2] = from.ang.z;
	to[3] = from.lin.x;
	to[4] = from.lin.y;
	to[5] = from.lin.z;
}
