// Making and destroying worlds. A world is allocated whole or not at all: every failure path ends in
// knWorld_Destroy, which takes a world in any stage of making.

#include "world/world_internal.h"

#include <string.h>

#include "core/log.h"
#include "dynamics/collision_input.h"

knWorldDef knWorldDef_Default(void) {
	return (knWorldDef){ 0 };
}

knStatus knWorld_FirstQuery(knWorld* world, const knModel* model, const knState* state, knCollider* collider,
							knError* error) {
	knCollideInput input;
	knContactSet contacts;
	knArena_Clear(&world->arena);
	if (!knCollisionInput_Make(&input, model, state, NULL, &world->tasks, &world->arena)) {
		return knError_Set(error, KN_NO_MEMORY, "world", "there is no memory for the first collision query");
	}
	return knCollide(collider, &input, &contacts, error);
}

static const knStepperOps* findStepper(const char* name, knError* error) {
	const knStepperOps* ops = knStepperOps_Find(name);
	if (ops == NULL) {
		char known[160] = "";
		for (int i = 0; knStepperOps_At(i) != NULL; ++i) {
			strncat(known, i > 0 ? ", " : "", sizeof(known) - strlen(known) - 1);
			strncat(known, knStepperOps_At(i)->name, sizeof(known) - strlen(known) - 1);
		}
		knError_Set(error, KN_UNSUPPORTED, "stepper", "there is no stepper '%s' in this build; there is: %s",
					name != NULL ? name : "", known);
	}
	return ops;
}

knWorld* knWorld_MakeShell(const knModel* model, const knWorldDef* def, const knStepperOps* ops,
						   knError* error) {
	knAllocator allocator = def->allocator != NULL ? *def->allocator : knAllocator_Default();
	knWorld* world = knAllocZero(&allocator, sizeof(*world));
	if (world == NULL) {
		knError_Set(error, KN_NO_MEMORY, "world", "there is no memory for a world");
		return NULL;
	}
	world->allocator = allocator;
	world->ops = ops;
	world->settings = def->settings != NULL ? *def->settings : knScene_GetDef(knModel_Scene(model))->settings;
	world->tasks = def->tasks;
	world->log = def->log;
	world->clock = def->clock;
	world->clockContext = def->clockContext;
	world->forceFn = def->forceFn;
	world->forceContext = def->forceContext;
	world->convergenceFn = def->convergenceFn;
	world->convergenceContext = def->convergenceContext;
	knArena_Init(&world->arena, &world->allocator);
	knModel_Retain(model);
	world->model = model;
	world->islands = knJointIslands_Create(&world->allocator);
	if (world->islands == NULL) {
		knError_Set(error, KN_NO_MEMORY, "world", "there is no memory for a world");
		knWorld_Destroy(world);
		return NULL;
	}
	return world;
}

// The state in the model's initial pose, and a collider.
static knStatus makeParts(knWorld* world, knError* error) {
	const knModel* model = world->model;
	knStatus status = world->ops->check != NULL ? world->ops->check(model, &world->settings, error) : KN_OK;
	if (status != KN_OK) {
		return status;
	}
	size_t privateSize = world->ops->privateSize(model, &world->settings);
	if (!knState_Create(&world->state, model, world->ops->name, privateSize, &world->allocator)) {
		return knError_Set(error, KN_NO_MEMORY, "world", "there is no memory for the state of %d bodies",
						   model->bodyCount);
	}
	world->collider = knModel_CreateCollider(model, &world->allocator, error);
	return world->collider != NULL ? knWorld_FirstQuery(world, model, &world->state, world->collider, error)
								   : KN_NO_MEMORY;
}

// Settings that are said but have no effect.
static void noteUnread(const knWorld* world) {
	const char* stepper = world->ops->name;
	for (int i = 0; knSettings_Name(i) != NULL; ++i) {
		char value[32];
		knError cause = { 0 };
		if (knSettings_Get(&world->settings, i, value, sizeof(value)) &&
			knSettings_CheckRead(knSettings_Name(i), stepper, world->settings.scheme, &cause) != KN_OK) {
			knLog_Write(&world->log, KN_LOG_WARNING, "%s=%s has no effect: %s", knSettings_Name(i), value,
						cause.message);
		}
	}
	if (world->settings.sleep > 0 && !world->ops->sleeps) {
		knLog_Write(&world->log, KN_LOG_WARNING,
					"sleep=1: the %s stepper of this version keeps every body awake", stepper);
	}
}

knWorld* knWorld_Create(const knModel* model, const knWorldDef* def, knError* error) {
	KN_ASSERT(model != NULL);
	if (model == NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, "world", "the model is missing");
		return NULL;
	}
	const knWorldDef plain = knWorldDef_Default();
	def = def != NULL ? def : &plain;
	const char* name = def->stepper != NULL ? def->stepper : knScene_GetDef(knModel_Scene(model))->stepper;
	const knStepperOps* ops = findStepper(name, error);
	knWorld* world = ops != NULL ? knWorld_MakeShell(model, def, ops, error) : NULL;
	if (world == NULL) {
		return NULL;
	}
	if (makeParts(world, error) != KN_OK) {
		knWorld_Destroy(world);
		return NULL;
	}
	noteUnread(world);
	return world;
}

void knWorld_Destroy(knWorld* world) {
	if (world == NULL) {
		return;
	}
	knAllocator allocator = world->allocator;
	KN_ARRAY_FREE(&allocator, &world->contacts);
	KN_ARRAY_FREE(&allocator, &world->beginEvents);
	KN_ARRAY_FREE(&allocator, &world->endEvents);
	KN_ARRAY_FREE(&allocator, &world->jointEvents);
	KN_ARRAY_FREE(&allocator, &world->bodyContacts);
	KN_ARRAY_FREE(&allocator, &world->aliases);
	knWorld_FreeQueries(world);
	knState_Destroy(&world->state, &allocator);
	knState_Destroy(&world->backup, &allocator);
	knCollider_Destroy(world->collider);
	knArena_Free(&world->arena);
	knJointIslands_Destroy(world->islands);
	knModel_Release(world->model);
	knFree(&allocator, world, sizeof(*world));
}
