// Contacts of segments: found between links, told between segments.
//
// The collider knows links; they are placed by their segments, with the reach of their own motion. Pairs within a segment
// are none. Shapes keep their indices; those that touch get their segment and their place on it.
#include "steppers/adaptive/adaptive_step.h"

#include "dynamics/collision_input.h"
#include "dynamics/search_margins.h"

#include <string.h>

// Links by the poses of the welded world, with the velocities u of its bodies.
static bool placeLinks(knAdaptiveStep* step, const knState* welded, const knTwist* u) {
	const knState* state = step->context->state;
	knArena* arena = step->context->arena;
	int bodies = step->context->model->bodyCount;
	if (step->linkPoses == NULL) {
		step->linkPoses = KN_SCRATCH(arena, knFrame, bodies);
		step->linkVelocities = KN_SCRATCH(arena, knTwist, bodies);
		if (arena->failed) {
			return false;
		}
		memcpy(step->linkPoses, state->pose, (size_t)bodies * sizeof(knFrame));
	}
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
	return true;
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

knStatus knAdaptive_FindContacts(knStepContext* inner, const knTwist* u, double h, knContactSet* set) {
	knAdaptiveStep* step = inner->findData;
	const knModel* model = step->context->model;
	knArena* arena = step->context->arena;
	if (!placeLinks(step, inner->state, u)) {
		return knAdaptive_OutOfMemory(step);
	}
	knStepBodies blocks = {
		.count = model->bodyCount, .h = h, .invMass = model->invMass, .u = step->linkVelocities
	};
	knSearchMargins reach;
	knCollideInput input;
	knVec3 fall = knScale(h, inner->state->header->gravity);
	if (!knSearchMargins_Make(&reach, model, &blocks, NULL, fall, true, arena) ||
		!knCollisionInput_Make(&input, model, step->context->state, NULL, &inner->tasks, arena)) {
		return knAdaptive_OutOfMemory(step);
	}
	input.frames = step->linkPoses;
	knContactSet found;
	knStatus status =
		knSearchMargins_Collide(&reach, model, inner->collider, &input, &found, arena, inner->error);
	knContactPair* pairs = KN_SCRATCH(arena, knContactPair, status == KN_OK ? found.pairCount : 0);
	if (status != KN_OK || pairs == NULL) {
		return status != KN_OK ? status : knAdaptive_OutOfMemory(step);
	}
	*set = found;
	set->pairs = pairs;
	set->pairCount = 0;
	for (int k = 0; k < found.pairCount; ++k) {
		knContactPair pair = found.pairs[k];
		pair.frameA = weldShape(step, pair.shapeA);
		pair.frameB = weldShape(step, pair.shapeB);
		if (pair.frameA != pair.frameB) {
			pairs[set->pairCount++] = pair;
		}
	}
	return KN_OK;
}
