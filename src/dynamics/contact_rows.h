// Contacts as rows: one normal and two friction rows a point (and three more where bodies resist rolling),
// warm-started from what the same features carried in the step before.
#pragma once

#include "core/arena.h"
#include "dynamics/row_input.h"
#include "dynamics/step_contact.h"
#include "solve/sweep.h"

#define KN_ROW_OUT_OF_REACH 1e30 // m/s or m, bias or depth of a point that takes no part
#define KN_BOUNCE_STEPS 2.0      // an approach that gravity makes in so many steps does not bounce
#define KN_REST_GAP 0.02         // of the envelope: a smaller gap closes slowly and counts as none

// What a contact carried, kept in the stepper's part of the state and sorted by the first three fields.
typedef struct knContactMemory {
	int32_t shapeA, shapeB;
	uint64_t feature;
	double normal;   // N s
	knVec3 friction; // N s on B, world axes: tangents may turn between steps
	knVec3 place;    // of the point on the pair's anchor body, from its centre in its axes
	knVec3 rolling;  // N m s on B, of rolling resistance
} knContactMemory;

// A part of what a contact carried, as in its memory.
typedef struct knCarried {
	double normal;
	knVec3 friction;
} knCarried;

// Where a point sits on its two bodies, from their centres in world axes at the start of the step.
typedef struct knContactAnchor {
	knVec3 onA, onB;
	int32_t bodyA, bodyB;
	int32_t contact;    // index into the step's contacts
	int32_t remembered; // index into the memory, -1: new

	knCarried inherited; // from points of the pair that are gone. knContactRows_List
} knContactAnchor;

// The contacts of a step, in the arena.
typedef struct knContactRows {
	knStepContact* contacts; // sorted by (shapeA, shapeB, feature); impulses by knContactRows_Collect
	int count;

	// contacts that have rows (no sensors, something can move), in the same order
	knSweepPoint* points;     // knContactRows_Fill; lambda by the solver
	knContactAnchor* anchors; // knContactRows_List
	int pointCount;
	knSweepChunk* chunks; // stages are the caller's
	int chunkCount;
	int rowCount;
	uint8_t* bereft; // [bodyCount] 1: a contact that carried something is gone
} knContactRows;

// Lists the contacts and finds each one's memory. False when the arena has no memory.
bool knContactRows_List(knContactRows* list, const knRowInput* input, const knContactSet* set,
						const knContactMemory* memory, int memoryCount, knArena* arena);
// Fills the points.
void knContactRows_Fill(const knContactRows* list, const knRowInput* input, const knContactMemory* memory);
// After the solve, before bodies move: writes the contacts' impulses and, for the next step, one memory a point.
void knContactRows_Collect(knContactRows* list, const knRowInput* input, knContactMemory* memory);
// Of a point of the list.
double knContactRows_Restitution(const knContactRows* list, const knRowInput* input, int point);
// m, of a pair of bodies: that of the smaller one that moves.
double knContactRows_Envelope(const knModel* model, int a, int b);
// J, what kinematic bodies put in through the contacts.
double knContactRows_KinematicWork(const knContactRows* list, const knModel* model, const knTwist* u);
// The separations at present, by the points' places on their bodies. `start` holds the poses of the time at
// which the contacts were found.
void knContactRows_Depths(knContactRows* list, const knFrame* start, const knFrame* now, int bodyCount,
						  knQuat* turns, const knTasks* tasks);
// The same of one point.
double knContactRows_Depth(const knContactRows* list, const knFrame* start, const knFrame* now, int point);
