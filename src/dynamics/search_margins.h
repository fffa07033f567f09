// How far a step's contacts are looked for: each body's way in the step, and how far it may stray from that.
//
// Margins hold for all pairs: half an envelope (resting bodies keep their contacts), plus the way a body can go at its
// present velocity, so that what may touch during the step is seen before. Only the way towards each other matters, so
// all ways may be taken as seen by an observer who moves with `drift`: one who falls for the step sees bodies at rest go
// nowhere, whatever gravity has just added to their velocities. Pairs with meshes, which are costly to ask, are
// looked at by relative motion instead: cows that fall side by side do not come any closer. But a body that is stopped
// during the step is run into by those that fell along with it. So the query is made again for bodies that were found to
// be struck, as far as such a blow may change their velocities; what they run into is struck as well, and so on.
#pragma once

#include "core/arena.h"
#include "dynamics/integrate.h"
#include "model/state.h"

typedef struct knSearchMargins {
	knVec3 drift;           // m, the observer's way in the step
	double* margins;        // [bodyCount]
	knFrameMotion* motions; // [bodyCount]
	double h;               // s
	bool wantsStruck;       // blows between all bodies matter, not only those to meshes. The caller

	// [bodyCount] m/s, the velocity that a blow in this step may give a body, else its own; NULL: not wanted.
	// knSearchMargins_Collide
	knVec3* struck;
} knSearchMargins;

// By the velocities blocks->u; `drift` is the observer's velocity. Without `predict` half an envelope each. False: no memory
// in the arena.
bool knSearchMargins_Make(knSearchMargins* reach, const knModel* model, const knStepBodies* blocks,
						  knVec3 drift, bool predict, knArena* arena);

// The same for some bodies: room for all, of which only those that are set count; by the velocities blocks->u.
bool knSearchMargins_Begin(knSearchMargins* reach, const knModel* model, double h, knVec3 drift,
						   knArena* arena);
void knSearchMargins_Set(knSearchMargins* reach, const knModel* model, const knStepBodies* blocks, int body);

// Asks the collider with the reach as margins and motions of `input`; it grows where bodies are struck.
knStatus knSearchMargins_Collide(knSearchMargins* reach, const knModel* model, knCollider* collider,
								 knCollideInput* input, knContactSet* set, knArena* arena, knError* error);
