// Shapes near a place, by the trees of a collider's last query.
#include "collide/tree_query.h"

bool knCollider_Nearby(const knCollider* c, const knAabb* box, bool (*push)(int shape, void* context),
					   void* context) {
	for (int t = 0; t < KN_TREE_COUNT; ++t) {
		int cursor = 0;
		for (int item; (item = knBvh_Next(&c->trees[t], box, &cursor)) >= 0;) {
			int shape = c->treeShapes[t][item];
			if (c->active[shape] && knAabb_Overlap(c->boxes[shape], *box) && !push(shape, context)) {
				return false;
			}
		}
	}
	for (int k = 0; k < c->planeCount; ++k) {
		int plane = c->planes[k];
		knHalfSpace space = knHalfSpace_Make(c->worlds[plane], c->margins[c->shapes[plane].frame]);
		if (c->active[plane] && knHalfSpace_Meets(&space, box) && !push(plane, context)) {
			return false;
		}
	}
	return true;
}

bool knCollider_MayTouch(const knCollider* c, const knCollideInput* input, int shapeA, int shapeB) {
	return c->active[shapeA] && c->active[shapeB] && knBroadPhase_MayTouch(c, shapeA, shapeB) &&
		   !knCollideInput_Excludes(input, c->shapes[shapeA].frame, c->shapes[shapeB].frame);
}
