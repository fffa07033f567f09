// One step of a world, on one page. On any failure the state of before comes back: the backup is a copy of
// the flat state block, so that restoring it is exchanging two pointers.

#include "world/world_internal.h"

#include "model/control.h"

#include <string.h>

// Takes memory only when the block has grown since the last step.
static bool backUp(knWorld* world) {
	const knAllocator* allocator = &world->allocator;
	return world->backup.block == NULL
			   ? knState_Copy(&world->backup, &world->state, world->model, allocator)
			   : knState_Assign(&world->backup, &world->state, world->model, &world->tasks, allocator);
}

static void restoreBackup(knWorld* world) {
	knState failed = world->state;
	world->state = world->backup;
	world->backup = failed;
}

static knStatus advance(knWorld* world, double dt, knError* error) {
	// gather forces: what users added since the last step, and what their function adds now
	if (world->forceFn != NULL) {
		world->forceFn(world, dt, world->forceContext);
	}
	knControl_Apply(world->model, &world->state, dt);

	knWorld_WatchStep(world);

	// the method
	knStepContext context = {
		.model = world->model,
		.settings = &world->settings,
		.state = &world->state,
		.collider = world->collider,
		.islands = world->islands,
		.arena = &world->arena,
		.tasks = world->tasks,
		.log = &world->log,
		.allocator = &world->allocator,
		.clock = world->clock,
		.clockContext = world->clockContext,
		.convergenceFn = world->convergenceFn,
		.convergenceContext = world->convergenceContext,
		.report = &world->report,
		.error = error,
	};
	knStatus status = world->ops->step(&context, dt);
	if (status == KN_OK) {
		status = knWorld_CheckDivergence(world, error);
	}

	// events and read-out
	if (status == KN_OK) {
		status = knWorld_Publish(world, &context);
	}
	return status;
}

static void finish(knWorld* world, double dt) {
	knControl_Advance(world->model, &world->state, dt);
	world->state.header->time += dt;
	world->state.header->step += 1;
	memset(world->state.force, 0, sizeof(*world->state.force) * (size_t)world->model->bodyCount);
}

knStatus knWorld_Step(knWorld* world, double dt, knError* error) {
	if (!(dt > 0.0) || !knIsFinite(dt)) {
		return knError_Set(error, KN_BAD_ARGUMENT, "dt",
						   "the time step is %g; it must be positive and finite", dt);
	}
	if (world->stepping) {
		return knError_Set(error, KN_BAD_ARGUMENT, "world", "a force function may not step its own world");
	}
	double start = world->clock != NULL ? world->clock(world->clockContext) : 0.0;
	world->report = (knStepReport){ .status = KN_OK, .active = -1 };
	knWorld_ClearReadout(world);
	knArena_Clear(&world->arena);
	if (!backUp(world)) {
		world->report.status = KN_NO_MEMORY;
		return knError_Set(error, KN_NO_MEMORY, "step", "there is no memory for a copy of the state");
	}
	world->stepping = true;
	knStatus status = advance(world, dt, error);
	world->stepping = false;
	if (status == KN_OK) {
		finish(world, dt);
	} else {
		restoreBackup(world);
		knWorld_ClearReadout(world);
	}
	world->report.status = status;
	world->report.arenaBytes = world->arena.highWater;
	world->report.stepTime = world->clock != NULL ? world->clock(world->clockContext) - start : 0.0;
	return status;
}

const knStepReport* knWorld_Report(const knWorld* world) {
	return &world->report;
}
