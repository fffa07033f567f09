// Bodies that move so far in a step that looking at its start and its end is not enough.
//
// A body is fast in a step if its def says so and it moves by more than a part of its thickness, or, marked or not,
// if it goes farther than its own size and no joint holds it. Fast bodies are followed along their way instead of
// being looked for ahead of it: a stepper
//
//   1 asks which bodies are fast, once velocities with forces are known             knFastBodies_Find
//   2 gives them margins without a look ahead, and leaves only what touches them    knFastBodies_Margins, _Filter
//   3 solves as ever, and then moves all bodies                                      knFastBodies_Move
//
// knFastBodies_Move lets every fast body fly until the first thing it meets, resolves that impact where and when it
// happens (restitution, friction, both bodies' momentum), and lets it fly on, to the end of the step. What was hit
// follows its new velocity at once if nothing else holds it; what stands in contacts or joints ends the step as
// planned, with the new velocity, and the body that hit it goes along with it. So nothing is passed through, and what
// flies past is not touched. Without fast bodies all of it is one comparison a body.
#pragma once

#include "dynamics/contact_rows.h"
#include "dynamics/step_contact.h"

typedef struct knFastBodies {
	int count;        // of fast bodies; 0: what follows is not there
	uint8_t* isFast;  // [bodyCount] 1: fast, 2: fast and held by joints
	uint8_t* jointed; // [bodyCount]

	// impacts during the step, in order of time; knFastBodies_Move
	knStepContact* hits;
	int hitCount;
} knFastBodies;

// By the velocities blocks->u; may be called again when they have changed, and then adds bodies. False: no memory.
bool knFastBodies_Find(knFastBodies* fast, const knModel* model, const knState* state, const knBlocks* blocks,
					   knArena* arena);
// Fast bodies without joints are not looked ahead for.
void knFastBodies_Margins(const knFastBodies* fast, const knModel* model, double* margins);
// Takes out of a set the points of fast bodies that do not touch yet. False: no memory.
bool knFastBodies_Filter(const knFastBodies* fast, const knModel* model, knContactSet* set, knArena* arena);

typedef struct knFastMoveInput {
	const knModel* model;
	knState* state;
	const knBlocks* blocks;
	knCollider* collider;          // as of a query at the present poses
	const knContactRows* contacts; // of the solve: who is held
	knTasks tasks;
	knArena* arena;
} knFastMoveInput;

// Moves all bodies to the end of the step (knBlocks_End), fast ones along their ways. False: no memory.
bool knFastBodies_Move(knFastBodies* fast, const knFastMoveInput* in);
// Adds the impacts to a step's contacts, which stay sorted. False: no memory.
bool knFastBodies_Publish(const knFastBodies* fast, knStepContact** contacts, int* count, knArena* arena);

// m, at which two bodies count as touching when fast ones are followed.
double knFastBodies_Skin(const knModel* model, int bodyA, int bodyB);
