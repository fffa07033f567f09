// How far a step's contacts are looked for: each body's way in the step, and how far it may stray from that.
//
// Margins hold for all pairs: half an envelope (resting bodies keep their contacts), plus the way a body can go at its
// present velocity, so that what may touch during the step is seen before. Pairs with meshes, which are costly to ask, are
// looked at by relative motion instead: cows that fall side by side do not come any closer. But a body that is stopped
// during the step is run into by those that fell along with it. So the query is made again for bodies that were found to
// be struck, as far as such a blow may change their velocities; what they run into is struck as well, and so on.
#pragma once

#include "core/arena.h"
#include "dynamics/integrate.h"
#include "model/state.h"

typedef struct knReach {
	double* margins;        // [bodyCount]
	knFrameMotion* motions; // [bodyCount]
} knReach;

// By the velocities blocks->u and, if `force` is not NULL, also by those with `force` added. Without `predict` half an
// envelope each. False: no memory in the arena.
bool knReach_Make(knReach* reach, const knModel* model, const knBlocks* blocks, const knTwist* force,
				  bool predict, knArena* arena);

// Asks the collider with the reach as margins and motions of `input`; it grows where bodies are struck.
knStatus knReach_Collide(knReach* reach, const knModel* model, knCollider* collider, knCollideInput* input,
						 knContactSet* set, knArena* arena, knError* error);
