// Asking a world what a body would touch elsewhere, without moving it.

#include "world/world_internal.h"

#include "dynamics/collision_input.h"

const knContact* knWorld_CollideBody(knWorld* world, knBodyId body, knFrame at, double margin, int* count) {
	*count = 0;
	world->bodyContacts.count = 0;
	int b = knWorld_BodyIndex(world, body);
	KN_ASSERT(b >= 0);
	if (b < 0 || !knIsFiniteF(at) || !(margin >= 0.0)) {
		return NULL;
	}
	if (!world->stepping) {
		knArena_Clear(&world->arena);
	}
	double* margins = KN_SCRATCH_ZERO(&world->arena, double, world->model->bodyCount);
	knCollideInput input;
	if (margins == NULL ||
		!knCollisionInput_Make(&input, world->model, &world->state, margins, &world->tasks, &world->arena)) {
		return NULL;
	}
	margins[b] = margin;
	knFrame pose = knMulF(at, knMakeFrame(world->model->centerLocal[b], knIdentityQ()));
	knContactSet set;
	if (knCollide_Body(world->collider, &input, b, pose, &set, NULL) != KN_OK ||
		!KN_ARRAY_RESERVE(&world->allocator, &world->bodyContacts, set.pointCount)) {
		return NULL;
	}
	for (int p = 0; p < set.pairCount; ++p) {
		const knContactPair* pair = &set.pairs[p];
		for (int k = 0; k < pair->count; ++k) {
			knStepContact contact = { .shapeA = pair->shapeA,
									  .shapeB = pair->shapeB,
									  .point = set.points[pair->first + k] };
			world->bodyContacts.items[world->bodyContacts.count++] = knWorld_MakeContact(world, &contact);
		}
	}
	*count = world->bodyContacts.count;
	return world->bodyContacts.items;
}
