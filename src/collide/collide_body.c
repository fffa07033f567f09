// knCollide_Body: one frame placed elsewhere, against all the rest.
//
// The trees first follow the frames of the call, so that the answer never depends on earlier calls; for
// frames that did not change that is one comparison each. The pair list is left for the next knCollide.
#include "collide/collider.h"

static bool addCandidate(knCollider* c, const knCollideInput* input, int shape, int other) {
	if (!knBroadPhase_MayTouch(c, shape, other) ||
		(input->excludedCount > 0 &&
		 knCollideInput_Excludes(input, c->shapes[shape].frame, c->shapes[other].frame))) {
		return true;
	}
	return KN_ARRAY_PUSH(&c->allocator, &c->candidates, knPairKey_Make(shape, other));
}

// Partners of a plane: every shape that reaches it.
static bool findAbovePlane(knCollider* c, const knCollideInput* input, int plane, knFrame world) {
	knHalfSpace space = knHalfSpace_Make(world, c->margins[c->shapes[plane].frame]);
	for (int i = 0; i < c->shapeCount; ++i) {
		if (c->items[i] >= 0 && c->active[i] && knHalfSpace_Meets(&space, &c->boxes[i]) &&
			!addCandidate(c, input, plane, i)) {
			return false;
		}
	}
	return true;
}

// Partners of a bounded shape: in both trees, and the planes.
static bool findAround(knCollider* c, const knCollideInput* input, int shape, const knAabb* box) {
	for (int t = 0; t < KN_TREE_COUNT; ++t) {
		int cursor = 0;
		for (int item; (item = knBvh_Next(&c->trees[t], box, &cursor)) >= 0;) {
			int other = c->treeShapes[t][item];
			if (knAabb_Overlap(c->boxes[other], *box) && !addCandidate(c, input, shape, other)) {
				return false;
			}
		}
	}
	for (int k = 0; k < c->planeCount; ++k) {
		int plane = c->planes[k];
		knHalfSpace space = knHalfSpace_Make(c->worlds[plane], c->margins[c->shapes[plane].frame]);
		if (c->active[plane] && knHalfSpace_Meets(&space, box) && !addCandidate(c, input, shape, plane)) {
			return false;
		}
	}
	return true;
}

static knStatus findCandidates(knCollider* c, const knCollideInput* input, const knMovedFrame* moved,
							   knError* error) {
	int frame = moved->frame;
	c->candidates.count = 0;
	bool ok = true;
	for (int k = c->firstShape[frame]; ok && k < c->firstShape[frame + 1]; ++k) {
		int shape = c->shapesOfFrame[k];
		const knCollideShape* s = &c->shapes[shape];
		knFrame world = knMulF(moved->at, s->local);
		if (!c->active[shape]) {
			continue;
		}
		if (c->items[shape] < 0) {
			ok = findAbovePlane(c, input, shape, world);
			continue;
		}
		knAabb box = knAabb_Grow(knGeom_Aabb(s->geom, world), c->margins[frame]);
		if (!knPoses_IsFiniteBox(box)) {
			return knError_Set(error, KN_BAD_DATA, "collider", "the pose for frame %d is not finite", frame);
		}
		ok = findAround(c, input, shape, &box);
	}
	if (ok && c->candidates.count > c->pairLimit) {
		return knBroadPhase_TooMany(c, error);
	}
	ok = ok && knBroadPhase_SortKeys(c, &c->candidates);
	return ok ? KN_OK : knError_Set(error, KN_NO_MEMORY, "collider", "out of memory for pairs of shapes");
}

knStatus knCollide_Body(knCollider* collider, const knCollideInput* input, int frame, knFrame at,
						knContactSet* contacts, knError* error) {
	knStatus status = knPoses_CheckInput(collider, input, contacts, error);
	if (status != KN_OK) {
		return status;
	}
	*contacts = (knContactSet){ 0 };
	if (frame < 0 || frame >= collider->frameCount) {
		return knError_Set(error, KN_BAD_ARGUMENT, "collider", "there is no frame %d", frame);
	}
	if (!knIsFiniteF(at)) {
		return knError_Set(error, KN_BAD_DATA, "collider", "the pose for frame %d is not finite", frame);
	}
	knMovedFrame moved = { frame, at };
	status = knPoses_Update(collider, input, error);
	if (status == KN_OK) {
		knBroadPhase_Refresh(collider);
		status = findCandidates(collider, input, &moved, error);
	}
	return status == KN_OK ? knNarrow_Run(collider, input, &moved, contacts, error) : status;
}
