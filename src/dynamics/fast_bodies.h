// Bodies that move so far in a step that looking at its start and its end is not enough.
//
// A body is fast in a step if its def says so and it moves by more than a part of its thickness, or, marked or not,
// if it goes farther than its own size and no joint holds it. Fast bodies are followed along their way instead of
// being looked for ahead of it: a stepper
//
//   1 asks which bodies are fast, once velocities with forces are known             knFastBodies_Find
//   2 asks the collider, giving them margins without a look ahead                    knFastBodies_Collide
//   3 leaves only what touches them                                                  knFastBodies_Filter
//   4 solves as ever, and then moves all bodies                                      knFastBodies_Move
//
// knFastBodies_Move lets every fast body fly until the first thing it meets, resolves that impact where and when it
// happens (restitution, friction, both bodies' momentum), and lets it fly on, to the end of the step. What was hit
// follows its new velocity at once if nothing else holds it; what stands in contacts or joints ends the step as
// planned, with the new velocity, and the body that hit it goes along with it. So nothing is passed through, and what
// flies past is not touched. Pairs that move together, as in a falling heap, are left to the solve: only a pair whose
// relative way in the step is longer than the smaller body is a fast one. And a body that is not marked and has more
// than a few movable ones on its way, as in a pouring heap, is left to the solve too: there, many bodies meet many at
// once, and one impact after the other is neither cheap nor right. Such a body is followed only past what does not
// move. Without fast bodies all of it is one comparison a body.
#pragma once

#include "dynamics/contact_rows.h"
#include "dynamics/search_margins.h"
#include "dynamics/step_contact.h"

// Crowded: followed only past what does not move.
enum { KN_FAST_NOT, KN_FAST_FREE, KN_FAST_JOINTED, KN_FAST_CROWDED };

typedef struct knFastBodies {
	int count;             // of bodies that are followed; 0 at first: what follows is not there
	uint8_t* kind;         // [bodyCount]
	uint8_t* jointed;      // [bodyCount]
	knSearchMargins ahead; // with a look ahead; knFastBodies_Collide

	// impacts during the step, in order of time; knFastBodies_Move
	knStepContact* hits;
	int hitCount;

	// what it took; knFastBodies_Move
	int64_t rounds; // of the search for meetings
	int64_t looks;  // at pairs of boxes
} knFastBodies;

// By the velocities blocks->u; may be called again when they have changed, and then adds bodies. False: no memory.
bool knFastBodies_Find(knFastBodies* fast, const knModel* model, const knState* state,
					   const knStepBodies* blocks, knArena* arena);
// Asks the collider for a step's contacts. Fast bodies without joints are not looked ahead for, beyond what pairs that
// move together need; those that turn out to fly in crowds are, and then the query is made again.
knStatus knFastBodies_Collide(knFastBodies* fast, const knModel* model, const knStepBodies* blocks,
							  knCollider* collider, knCollideInput* input, knSearchMargins* reach,
							  knContactSet* set, knArena* arena, knError* error);
// Takes out of a set the points of fast pairs that do not touch yet. False: no memory.
bool knFastBodies_Filter(const knFastBodies* fast, const knModel* model, const knStepBodies* blocks,
						 knContactSet* set, knArena* arena);

typedef struct knFastMoveInput {
	const knModel* model;
	knState* state;
	const knStepBodies* blocks;
	knCollider* collider;          // as of a query at the present poses
	bool lookedAhead;              // its margins cover the step's motion
	const knContactRows* contacts; // of the solve: who is held
	knTasks tasks;
	knArena* arena;
} knFastMoveInput;

// Moves all bodies to the end of the step (knStepBodies_End), fast ones along their ways. False: no memory.
bool knFastBodies_Move(knFastBodies* fast, const knFastMoveInput* in);
// Adds the impacts to a step's contacts, which stay sorted. False: no memory.
bool knFastBodies_Publish(const knFastBodies* fast, knStepContact** contacts, int* count, knArena* arena);

// Whether two bodies that move like this go farther relative to each other in the step than the smaller is wide.
bool knFastBodies_IsFastPair(const knModel* model, int bodyA, int bodyB, knVec3 velocityA, knVec3 velocityB,
							 double h);
// Whether a body is followed past everything in this step.
static inline bool knFastBodies_Follows(const knFastBodies* fast, int body) {
	return fast->kind != NULL && (fast->kind[body] == KN_FAST_FREE || fast->kind[body] == KN_FAST_JOINTED);
}

// m, at which two bodies count as touching when fast ones are followed.
double knFastBodies_Skin(const knModel* model, int bodyA, int bodyB);
