// Contacts of listed pairs (listed.h). The exact boxes decide which of them are tested, as in knCollide.
#include "collide/listed.h"

knStatus knCollider_MoveFrames(knCollider* collider, const knCollideInput* input, const int* frames,
							   int count, knError* error) {
	knStatus status = knPoses_UpdateListed(collider, input, frames, count, error);
	if (status == KN_OK) {
		knBroadPhase_Refresh(collider);
	}
	return status;
}

static bool planeMeets(const knCollider* c, int plane, int other) {
	knHalfSpace space = knHalfSpace_Make(c->worlds[plane], c->margins[c->shapes[plane].frame]);
	return c->active[plane] && c->active[other] && c->items[other] >= 0 &&
		   knHalfSpace_Meets(&space, &c->boxes[other]);
}

static bool boxesMeet(const knCollider* c, int a, int b) {
	if (c->items[a] < 0 || c->items[b] < 0) {
		return c->items[a] < 0 ? planeMeets(c, a, b) : planeMeets(c, b, a);
	}
	return knAabb_Overlap(c->boxes[a], c->boxes[b]);
}

static knStatus listCandidates(knCollider* c, const knCollideInput* input, const knPairKey* pairs,
							   int count) {
	if (!KN_ARRAY_RESERVE(&c->allocator, &c->candidates, count)) {
		return KN_NO_MEMORY;
	}
	c->candidates.count = 0;
	for (int k = 0; k < count; ++k) {
		int a = knPairKey_A(pairs[k]), b = knPairKey_B(pairs[k]);
		KN_ASSERT(knBroadPhase_MayTouch(c, a, b) && (k == 0 || pairs[k - 1] < pairs[k]));
		if (!boxesMeet(c, a, b) ||
			(input->excludedCount > 0 && knCollideInput_Excludes(input, c->frameOf[a], c->frameOf[b]))) {
			continue;
		}
		if (c->candidates.count >= c->pairLimit) {
			return KN_LIMIT;
		}
		c->candidates.items[c->candidates.count++] = pairs[k];
	}
	return KN_OK;
}

knStatus knCollide_Listed(knCollider* collider, const knCollideInput* input, const knPairKey* pairs,
						  int count, knContactSet* contacts, knError* error) {
	*contacts = (knContactSet){ 0 };
	knStatus status = listCandidates(collider, input, pairs, count);
	if (status == KN_LIMIT) {
		return knBroadPhase_TooMany(collider, error);
	}
	if (status != KN_OK) {
		return knError_Set(error, status, "collider", "out of memory for pairs of shapes");
	}
	knMovedFrame none = { .frame = -1 };
	return knNarrow_Run(collider, input, &none, contacts, error);
}
