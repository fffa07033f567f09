// knCollide: every close pair of a collider's shapes.
//
// Candidates are the listed pairs whose exact boxes (with margins) overlap, and the pairs of a plane with a
// shape whose box reaches it; both in order, merged.
#include "collide/collider.h"
#include "core/tasks.h"

#define PAIRS_PER_TASK 256

static bool isExcluded(const knCollider* c, const knCollideInput* input, knPairKey key) {
	return input->excludedCount > 0 && knCollideInput_Excludes(input, c->shapes[knPairKey_A(key)].frame,
															   c->shapes[knPairKey_B(key)].frame);
}

// Adds the pairs of one plane with the shapes of one tree that reach it.
static knStatus findAbovePlane(knCollider* c, int plane, int t) {
	knHalfSpace space = knHalfSpace_Make(c->worlds[plane], c->margins[c->shapes[plane].frame]);
	for (int i = 0; i < c->trees[t].itemCount; ++i) {
		int shape = c->treeShapes[t][i];
		if (!c->active[shape] || !knHalfSpace_Meets(&space, &c->boxes[shape]) ||
			!knBroadPhase_MayTouch(c, plane, shape)) {
			continue;
		}
		if (c->fresh.count >= c->pairLimit) {
			return KN_LIMIT;
		}
		if (!KN_ARRAY_PUSH(&c->allocator, &c->fresh, knPairKey_Make(plane, shape))) {
			return KN_NO_MEMORY;
		}
	}
	return KN_OK;
}

// Pairs of planes with what reaches them, sorted, into c->fresh.
static knStatus findPlanePairs(knCollider* c) {
	c->fresh.count = 0;
	for (int k = 0; k < c->planeCount; ++k) {
		int plane = c->planes[k];
		if (!c->active[plane]) {
			continue;
		}
		knStatus status = findAbovePlane(c, plane, KN_TREE_MOVING);
		if (status == KN_OK && c->frameMoves[c->shapes[plane].frame]) {
			status = findAbovePlane(c, plane, KN_TREE_FIXED);
		}
		if (status != KN_OK) {
			return status;
		}
	}
	return knBroadPhase_SortKeys(c, &c->fresh) ? KN_OK : KN_NO_MEMORY;
}

typedef struct NearJob {
	knCollider* collider;
	const knCollideInput* input;
} NearJob;

// Which listed pairs have exact boxes that overlap.
static void testBoxes(int begin, int end, int worker, void* argument) {
	(void)worker;
	const NearJob* job = argument;
	knCollider* c = job->collider;
	for (int i = begin; i < end; ++i) {
		knPairKey key = c->pairs.items[i];
		c->near.items[i] = knAabb_Overlap(c->boxes[knPairKey_A(key)], c->boxes[knPairKey_B(key)]) &&
						   !isExcluded(c, job->input, key);
	}
}

static knStatus mergeCandidates(knCollider* c, const knCollideInput* input) {
	NearJob job = { c, input };
	if (!KN_ARRAY_RESERVE(&c->allocator, &c->near, c->pairs.count) ||
		!KN_ARRAY_RESERVE(&c->allocator, &c->candidates, c->pairs.count + c->fresh.count)) {
		return KN_NO_MEMORY;
	}
	knTasks_For(&input->tasks, c->pairs.count, PAIRS_PER_TASK, testBoxes, &job);
	c->candidates.count = 0;
	int plane = 0, listed = 0;
	while (plane < c->fresh.count || listed < c->pairs.count) {
		bool takePlane = listed >= c->pairs.count ||
						 (plane < c->fresh.count && c->fresh.items[plane] < c->pairs.items[listed]);
		knPairKey key = takePlane ? c->fresh.items[plane] : c->pairs.items[listed];
		bool near = takePlane ? !isExcluded(c, input, key) : c->near.items[listed];
		plane += takePlane;
		listed += !takePlane;
		if (near && c->candidates.count >= c->pairLimit) {
			return KN_LIMIT;
		}
		c->candidates.items[c->candidates.count] = key;
		c->candidates.count += near;
	}
	return KN_OK;
}

static knStatus findCandidates(knCollider* c, const knCollideInput* input, knError* error) {
	knStatus status = findPlanePairs(c);
	if (status == KN_OK) {
		status = mergeCandidates(c, input);
	}
	if (status == KN_LIMIT) {
		return knBroadPhase_TooMany(c, error);
	}
	return status == KN_OK ? KN_OK
						   : knError_Set(error, status, "collider", "out of memory for pairs of shapes");
}

knStatus knCollide(knCollider* collider, const knCollideInput* input, knContactSet* contacts,
				   knError* error) {
	knStatus status = knPoses_CheckInput(collider, input, contacts, error);
	if (status == KN_OK) {
		*contacts = (knContactSet){ 0 };
		status = knPoses_Update(collider, input, error);
	}
	if (status == KN_OK) {
		knBroadPhase_Refresh(collider);
		status = knBroadPhase_Pairs(collider, &input->tasks, error);
	}
	if (status == KN_OK) {
		status = findCandidates(collider, input, error);
	}
	if (status == KN_OK) {
		knMovedFrame none = { .frame = -1 };
		status = knNarrow_Run(collider, input, &none, contacts, error);
	}
	return status;
}
