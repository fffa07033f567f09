// The reduced stepper: joint coordinates (docs/methods/reduced.md).
//
//   1 the forest of links and their coordinates; what users changed      reduced_begin.c
//     in the first step loops that are open close                        reduced_closing.c
//   2 contacts, limits, motors, springs, loops as rows                    reduced_rows.c, reduced_pairs.c
//   3 islands of trees, one after the other, in parts where need be        reduced_islands.c, reduced_parts.c
//     a what arrives stops or bounces, before forces                      reduced_velocity.c
//     b the implicit step with all rows                                   reduced_motion.c, reduced_solve.c
//     c velocities at the end pose: joints, loaded contacts               reduced_velocity.c
//     islands at rest sleep through the step                              reduced_sleep.c
//   4 coordinates, poses, memory                                          reduced_begin.c, reduced_rows.c
//
// scheme=paper and explicit integrators have a step of their own: paper/step_paper.c.
#include "steppers/reduced/paper/step_paper.h"
#include "steppers/reduced/reduced_step.h"

// Runs the next phase unless one has failed.
#define THEN(status, phase)                                                                                  \
	do {                                                                                                     \
		if ((status) == KN_OK) {                                                                             \
			(status) = (phase);                                                                              \
		}                                                                                                    \
	} while (0)

static bool sleeps(const knReducedStep* world, const knReducedIslands* islands, int k) {
	int link = islands->links[islands->linkFirst[k]];
	return knReduced_IsAsleep(world, world->forest.links[link].body);
}

static knStatus stepIslands(knReducedStep* world, knReducedIslands* islands) {
	bool done = knReduced_FindIslands(islands, world) && knReduced_FindSleepers(world, islands);
	for (int k = 0; done && k < islands->count; ++k) {
		if (sleeps(world, islands, k)) {
			knReduced_KeepIsland(islands, k, world);
			continue;
		}
		knReducedStep* island = &islands->steps[k];
		done = knReduced_OpenIsland(islands, world, k, island) && knReduced_StepIsland(island);
		if (done) {
			knReduced_CloseIsland(islands, island, k, world);
		}
	}
	return done && !world->context->arena->failed ? KN_OK : knReduced_OutOfMemory(world);
}

static knStatus stepDefault(knStepContext* context, double h) {
	knReducedStep step = { .context = context, .h = h };
	knReducedIslands islands;
	knStatus status = knReduced_Begin(&step);
	THEN(status, knReduced_Assemble(&step));
	THEN(status, knReduced_FindContacts(&step));
	THEN(status, knReduced_BuildAxes(&step));
	THEN(status, knReduced_BuildPairs(&step));
	THEN(status, stepIslands(&step, &islands));
	THEN(status, knReduced_Collect(&step));
	THEN(status, knReduced_End(&step));
	if (status == KN_OK) {
		knReduced_RecordRest(&step, &islands);
	}
	return status;
}

static knStatus stepReduced(knStepContext* context, double h) {
	double start = knStepContext_Now(context);
	// the inner step of another stepper is the default one
	const bool paper = context->findContacts == NULL && knPaper_IsChosen(context->settings);
	knStatus status = paper ? knPaper_Step(context, h, false) : stepDefault(context, h);
	if (status == KN_OK) {
		knState_UpdateCoordinates(context->state, context->model);
	}
	context->report->solveTime += knStepContext_Now(context) - start - context->report->collideTime;
	return status;
}

static knStatus checkReduced(const knModel* model, const knSettings* settings, knError* error) {
	knStatus status = knPaper_Check(settings, error);
	return status == KN_OK ? knReduced_CheckLoops(model, settings, error) : status;
}

static size_t privateSize(const knModel* model, const knSettings* settings) {
	(void)settings;
	return knReducedMemory_Size(model->bodyCount, model->jointCount, 4 * model->bodyCount,
								6 * (model->jointCount + model->jointCapacity));
}

const knStepperOps knReducedStepper = {
	.name = "reduced",
	.help = "joint coordinates; implicit step over the trees, contacts as articulated inertia, real friction",
	.sleeps = true,
	.check = checkReduced,
	.privateSize = privateSize,
	.step = stepReduced,
	.migrate = knReducedMemory_Migrate,
};
