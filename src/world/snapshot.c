// Snapshots and clones. The state block holds all that later results depend on, so a copy of it is the
// snapshot; everything else (collider caches, arena, read-out) is rebuilt or empty.

#include "world/world_internal.h"

#include <string.h>

size_t knWorld_StateSize(const knWorld* world) {
	return (size_t)world->state.header->size;
}

knStatus knWorld_Save(const knWorld* world, void* memory, size_t size) {
	KN_ASSERT(memory != NULL && size >= knWorld_StateSize(world));
	if (memory == NULL || size < knWorld_StateSize(world)) {
		return KN_BAD_ARGUMENT;
	}
	memcpy(memory, world->state.block, knWorld_StateSize(world));
	return KN_OK;
}

knStatus knWorld_Restore(knWorld* world, const void* memory, size_t size, knError* error) {
	KN_ASSERT(memory != NULL && !world->stepping);
	if (memory == NULL || world->stepping) {
		return knError_Set(error, KN_BAD_ARGUMENT, "world", "a snapshot can be restored only between steps");
	}
	knStatus status = knState_Restore(&world->state, world->model, memory, size, &world->allocator, error);
	if (status == KN_OK) {
		knWorld_ClearReadout(world);
	}
	return status;
}

uint64_t knWorld_Hash(knWorld* world) {
	knWorld_SyncPoses(world);
	return knState_Hash(&world->state, world->model);
}

knWorld* knWorld_Clone(const knWorld* world, knError* error) {
	knWorldDef def = {
		.stepper = world->ops->name,
		.settings = &world->settings,
		.allocator = &world->allocator,
		.tasks = world->tasks,
		.log = world->log,
		.clock = world->clock,
		.clockContext = world->clockContext,
		.forceFn = world->forceFn,
		.forceContext = world->forceContext,
		.convergenceFn = world->convergenceFn,
		.convergenceContext = world->convergenceContext,
	};
	knWorld* clone = knWorld_MakeShell(world->model, &def, world->ops, error);
	if (clone == NULL) {
		return NULL;
	}
	clone->collider = knModel_CreateCollider(clone->model, &clone->allocator, error);
	if (clone->collider == NULL) {
		knWorld_Destroy(clone);
		return NULL;
	}
	if (!knState_Copy(&clone->state, &world->state, world->model, &clone->allocator) ||
		!KN_ARRAY_RESERVE(&clone->allocator, &clone->aliases, world->aliases.count)) {
		knError_Set(error, KN_NO_MEMORY, "world", "there is no memory for a copy of the world");
		knWorld_Destroy(clone);
		return NULL;
	}
	for (int i = 0; i < world->aliases.count; ++i) {
		clone->aliases.items[clone->aliases.count++] = world->aliases.items[i];
	}
	return clone;
}
