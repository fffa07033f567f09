// knCollide for callers who know by themselves which pairs may be close: bodies whose shapes have boxes around many of
// them. Costs what is listed, whatever else the collider holds; contacts are those that knCollide finds of these pairs.
#pragma once

#include "collide/collider.h"

// Whether it knows all frames from an earlier call, so that lists of those that moved are enough.
static inline bool knCollider_KnowsAll(const knCollider* collider) {
	return collider->posed && collider->treesBuilt;
}

// Takes over where some frames are now: the trees follow. Before looking things up in them.
knStatus knCollider_MoveFrames(knCollider* collider, const knCollideInput* input, const int* frames,
							   int count, knError* error);

// Contacts of pairs, sorted, each once, whose shapes may touch (knBroadPhase_MayTouch) and whose frames are up to date.
knStatus knCollide_Listed(knCollider* collider, const knCollideInput* input, const knPairKey* pairs,
						  int count, knContactSet* contacts, knError* error);
