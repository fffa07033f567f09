// Sleeping: a group whose bodies have all been at rest for a while takes no part in solve and motion. It must never show:
// bodies stop only when they are slower than anybody sees, contacts keep reporting what they carry, and everything that
// could move a body wakes its whole group in the same step.
//
//   a body     pushed by a force, given a velocity, placed elsewhere, robbed of a contact that carried something
//   a group    touched by a body that is awake (it then is one group with it), by a new contact point, touched by or joined
//              to a body that is none of any group and moves or was moved, or overlapping by more than 1e-4 m
//   the world  gravity, joints (made, released, enabled, driven), controls or shapes (enabled) changed; bodies added or removed
//
// What the world's part is compared with is a hash, kept in the state with the rest times.
#pragma once

#include "dynamics/contact_rows.h"
#include "model/state.h"

// How long a body has been at rest, and where.
typedef struct knRestMemory {
	double still; // s
	knFrame pose;
} knRestMemory;

typedef struct knSleepInput {
	const knModel* model;
	const knState* state;
	const knContactRows* contacts; // filled
	const int32_t* group;          // [bodyCount] numbers below bodyCount; -1 for bodies that do not move
	const knRestMemory* rest;      // [bodyCount] of the step before; NULL: none
	uint64_t signature;            // of that step: knSleep_Signature
} knSleepInput;

typedef struct knSleep {
	uint8_t* asleep; // [bodyCount] 1: sleeps through this step; NULL without sleeping
	double* still;   // [bodyCount] s at rest before the step
	int count;       // of bodies asleep
} knSleep;

// Of everything whose change may matter to any body.
uint64_t knSleep_Signature(const knModel* model, const knState* state);
// False: no memory.
bool knSleep_Find(knSleep* sleep, const knSleepInput* input, knArena* arena);
// After the step, h: how long each body has been at rest. Bodies asleep are where they were at the start; groups that have
// been at rest for long enough stop. Writes rest [bodyCount]; sleep->asleep is used up.
void knSleep_Record(knSleep* sleep, const knModel* model, knState* state, const int32_t* group,
					const knFrame* start, double h, knRestMemory* rest);
