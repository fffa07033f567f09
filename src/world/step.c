// One step of a world, on one page. On any failure the state of before comes back: the backup is a copy of
// the flat state block, so that restoring it is exchanging two pointers; or, of steppers that touch little of a large
// world, a journal of what they overwrote.

#include "world/world_internal.h"

#include "model/control.h"

// Takes memory only when the block has grown since the last step.
static bool backUp(knWorld* world) {
	const knAllocator* allocator = &world->allocator;
	return world->backup.block == NULL
			   ? knState_Copy(&world->backup, &world->state, world->model, allocator)
			   : knState_Assign(&world->backup, &world->state, world->model, &world->tasks, allocator);
}

// Probes read what was before the step.
static bool begin(knWorld* world) {
	const knStepperOps* ops = world->ops;
	if (ops->journals != NULL && knScene_ProbeCount(world->model->scene) == 0 &&
		ops->journals(world->model, &world->state)) {
		knJournal_Start(&world->journal, &world->state, &world->arena);
		return true;
	}
	world->journal = (knJournal){ 0 };
	return backUp(world);
}

bool knWorld_TakeCopy(knWorld* world) {
	if (!world->stepping || !world->journal.on) {
		return true;
	}
	if (world->journal.failed || !backUp(world)) {
		return false;
	}
	knJournal_Undo(&world->journal, &world->backup);
	world->journal.on = false;
	return true;
}

static void restoreBackup(knWorld* world) {
	if (world->journal.on) {
		knJournal_Undo(&world->journal, &world->state);
		return;
	}
	knState failed = world->state;
	world->state = world->backup;
	world->backup = failed;
}

static knStatus advance(knWorld* world, double dt, knError* error) {
	// gather forces: what users added since the last step, and what their function adds now
	if (world->forceFn != NULL) {
		world->forceFn(world, dt, world->forceContext);
	}
	if (world->journal.failed) {
		return knError_Set(error, KN_NO_MEMORY, "step", "there is no memory for this step");
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
		.journal = &world->journal,
		.report = &world->report,
		.error = error,
	};
	knStatus status = world->ops->step(&context, dt);
	if (status == KN_OK) {
		status = knWorld_CheckDivergence(world, &context, error);
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
	knState_ClearForces(&world->state);
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
	if (!begin(world)) {
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
