// Contacts of segments: found between links, told between segments.
//
// The collider knows links; those that may meet something (weld_search.c) are placed by their segments, with the reach of
// their own motion. Pairs within a segment are none. Shapes keep their indices; those that touch get their segment and
// their place on it.
#include "steppers/adaptive/weld_search.h"

#include "dynamics/collision_input.h"

#include <string.h>

static bool takeLinks(knAdaptiveStep* step) {
	int bodies = step->context->model->bodyCount;
	if (step->linkPoses == NULL) {
		step->linkPoses = KN_SCRATCH(step->context->arena, knFrame, bodies);
		step->linkVelocities = KN_SCRATCH(step->context->arena, knTwist, bodies);
	}
	return !step->context->arena->failed;
}

// All bodies by the poses of the welded world, with the velocities u of its bodies.
static void placeLinks(knAdaptiveStep* step, const knState* welded, const knTwist* u) {
	for (int k = 0; k < step->world.model.bodyCount; ++k) {
		int body = step->world.bodyOf[k];
		if (step->hybrid.links[body].rank >= 0) {
			knHybridForest_PlaceLinks(&step->hybrid, body, welded->pose[k], u[k], step->linkPoses,
									  step->linkVelocities);
		} else {
			step->linkPoses[body] = welded->pose[k];
			step->linkVelocities[body] = u[k];
		}
	}
}

static int weldShape(knAdaptiveStep* step, int index) {
	const knModelShape* from = &step->context->model->shapes[index];
	knModelShape* to = &step->world.model.shapes[index];
	*to = *from;
	if (step->hybrid.links[from->body].rank < 0) {
		to->body = step->hybrid.links[from->body].slot;
		return to->body;
	}
	int root;
	knFrame inSegment = knAdaptive_InSegment(step, from->body, &root);
	to->local = knMulF(inSegment, from->local);
	to->body = step->hybrid.links[root].slot;
	return to->body;
}

static bool isScripted(const knAdaptiveStep* step, int slot) {
	knTwist v = step->world.state.velocity[slot];
	return step->world.model.bodyKind[slot] == KN_BODY_KINEMATIC &&
		   (knLengthSquared(v.lin) > 0.0 || knLengthSquared(v.ang) > 0.0);
}

static void notePressed(knAdaptiveStep* step, int link, int slot, int other) {
	bool welded = step->hybrid.links[link].rank >= 0 && step->world.model.bodyKind[slot] == KN_BODY_FIXED;
	if (welded && isScripted(step, other)) {
		step->pressed[step->pressedCount++] = link;
	}
}

// Pairs of shapes of two welded bodies, told between these.
static knStatus weldPairs(knAdaptiveStep* step, const knContactSet* found, knContactSet* set) {
	knContactPair* pairs = KN_SCRATCH(step->context->arena, knContactPair, found->pairCount);
	step->pressed = KN_SCRATCH(step->context->arena, int, 2 * found->pairCount);
	step->pressedCount = 0;
	if (step->context->arena->failed) {
		return knAdaptive_OutOfMemory(step);
	}
	const knModelShape* shapes = step->context->model->shapes;
	*set = *found;
	set->pairs = pairs;
	set->pairCount = 0;
	for (int k = 0; k < found->pairCount; ++k) {
		knContactPair pair = found->pairs[k];
		pair.frameA = weldShape(step, pair.shapeA);
		pair.frameB = weldShape(step, pair.shapeB);
		if (pair.frameA != pair.frameB) {
			pairs[set->pairCount++] = pair;
			notePressed(step, shapes[pair.shapeA].body, pair.frameA, pair.frameB);
			notePressed(step, shapes[pair.shapeB].body, pair.frameB, pair.frameA);
		}
	}
	return KN_OK;
}

// One look for contacts.
typedef struct Look {
	knStepBodies blocks;
	knSearchMargins reach;
	knCollideInput input;
	knVec3 fall;
	knContactSet found;
} Look;

static bool openLook(knAdaptiveStep* step, const knStepContext* inner, double h, Look* look) {
	const knModel* model = step->context->model;
	look->blocks = (knStepBodies){
		.count = model->bodyCount, .h = h, .invMass = model->invMass, .u = step->linkVelocities
	};
	look->fall = knScale(h, inner->state->header->gravity);
	bool made = knSearchMargins_Begin(&look->reach, model, h, look->fall, step->context->arena) &&
				knCollisionInput_Make(&look->input, model, step->context->state, NULL, &inner->tasks,
									  step->context->arena);
	look->input.frames = step->linkPoses;
	look->input.margins = look->reach.margins;
	look->input.motions = look->reach.motions;
	return made;
}

// All shapes: for meshes, which are asked again where they may be struck, and for a collider that knows nothing yet.
static knStatus lookAtAll(knAdaptiveStep* step, knStepContext* inner, const knTwist* u, Look* look) {
	const knModel* model = step->context->model;
	placeLinks(step, inner->state, u);
	for (int b = 0; b < model->bodyCount; ++b) {
		knSearchMargins_Set(&look->reach, model, &look->blocks, b);
	}
	return knSearchMargins_Collide(&look->reach, model, inner->collider, &look->input, &look->found,
								   step->context->arena, inner->error);
}

// Bodies that are no links: the collider's trees follow them before links are looked for.
static knStatus moveOthers(knAdaptiveStep* step, knStepContext* inner, const knTwist* u, Look* look) {
	const knHybridForest* hybrid = &step->hybrid;
	for (int k = 0; k < hybrid->header->otherCount; ++k) {
		int body = hybrid->others[k];
		step->linkPoses[body] = inner->state->pose[k];
		step->linkVelocities[body] = u[k];
		knSearchMargins_Set(&look->reach, step->context->model, &look->blocks, body);
	}
	return knCollider_MoveFrames(inner->collider, &look->input, hybrid->others, hybrid->header->otherCount,
								 inner->error);
}

static knStatus moveLinks(knAdaptiveStep* step, knStepContext* inner, const knTwist* u,
						  const knWeldSearch* search, Look* look) {
	const knHybridForest* hybrid = &step->hybrid;
	for (int k = 0; k < search->linkCount; ++k) {
		int body = search->links[k];
		knLinkPath path;
		int root = knHybridForest_FindLink(hybrid, body, &path), slot = hybrid->links[root].slot;
		knHybridForest_PlaceLink(hybrid, root, &path, inner->state->pose[slot], u[slot],
								 &step->linkPoses[body], &step->linkVelocities[body]);
		knSearchMargins_Set(&look->reach, step->context->model, &look->blocks, body);
	}
	return knCollider_MoveFrames(inner->collider, &look->input, search->links, search->linkCount,
								 inner->error);
}

static knStatus lookAround(knAdaptiveStep* step, knStepContext* inner, const knTwist* u, Look* look) {
	knWeldSearch search;
	knStatus status = moveOthers(step, inner, u, look);
	if (status == KN_OK && !knWeldSearch_Run(&search, step, inner->state, u, look->blocks.h, look->fall)) {
		status = knAdaptive_OutOfMemory(step);
	}
	KN_THEN(status, moveLinks(step, inner, u, &search, look));
	KN_THEN(status, knCollide_Listed(inner->collider, &look->input, search.pairs, search.pairCount,
									 &look->found, inner->error));
	return status;
}

knStatus knAdaptive_FindContacts(knStepContext* inner, const knTwist* u, double h, knContactSet* set) {
	knAdaptiveStep* step = inner->findData;
	Look look;
	if (!takeLinks(step) || !openLook(step, inner, h, &look)) {
		return knAdaptive_OutOfMemory(step);
	}
	bool all = inner->collider->anyMesh || !knCollider_KnowsAll(inner->collider);
	knStatus status = all ? lookAtAll(step, inner, u, &look) : lookAround(step, inner, u, &look);
	KN_THEN(status, weldPairs(step, &look.found, set));
	if (status == KN_OK && !knWeldPatches_Reduce(step, set)) {
		status = knAdaptive_OutOfMemory(step);
	}
	return status;
}
