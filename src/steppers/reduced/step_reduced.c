// The reduced stepper: joint coordinates (docs/methods/reduced.md).
//
//   1 the forest of links and their coordinates; what users changed      reduced_begin.c
//   2 contacts, limits, motors, springs, loops as rows                    reduced_rows.c, reduced_pairs.c
//   3 what arrives stops or bounces, before forces                        reduced_velocity.c
//   4 the implicit step with all rows                                     reduced_motion.c, reduced_solve.c
//   5 velocities at the end pose: joints, loaded contacts                 reduced_velocity.c
//   6 coordinates, poses, memory                                          reduced_begin.c, reduced_rows.c
#include "steppers/reduced/reduced_step.h"

#define MAX_HALVINGS 6
#define MAX_CONTACT_HALVINGS 2

// Runs the next phase unless one has failed.
#define THEN(status, phase)                                                                                  \
	do {                                                                                                     \
		if ((status) == KN_OK) {                                                                             \
			(status) = (phase);                                                                              \
		}                                                                                                    \
	} while (0)

static knStatus enough(const knReducedStep* step) {
	return step->context->arena->failed ? knReduced_OutOfMemory(step) : KN_OK;
}

// Newton's method may fail where links whip: the step is then taken in halves.
static knStatus stepDefault(knReducedStep* step, bool last) {
	knStatus status = knReduced_Begin(step);
	THEN(status, knReduced_FindContacts(step));
	THEN(status, knReduced_BuildAxes(step));
	THEN(status, knReduced_BuildPairs(step));
	bool moved = status == KN_OK && knReduced_Impact(step) && knReduced_Move(step);
	THEN(status, enough(step));
	if (status != KN_OK || (!moved && !last)) {
		return status;
	}
	step->converged = true;
	if (!moved) {
		knReduced_Rest(step);
	}
	knReduced_After(step);
	THEN(status, enough(step));
	THEN(status, knReduced_Collect(step));
	THEN(status, knReduced_End(step));
	return status;
}

// By h, in 2^depth parts where need be.
static knStatus advance(knStepContext* context, double h, int depth) {
	knReducedStep step = { .context = context, .h = h };
	knStatus status = stepDefault(&step, depth >= MAX_HALVINGS);
	// where contacts keep Newton's method busy, shorter steps do not help for long
	if (status == KN_OK && !step.converged && step.contactCount > 0 && depth >= MAX_CONTACT_HALVINGS) {
		step = (knReducedStep){ .context = context, .h = h };
		status = stepDefault(&step, true);
	}
	if (status != KN_OK || step.converged) {
		return status;
	}
	status = advance(context, 0.5 * h, depth + 1);
	THEN(status, advance(context, 0.5 * h, depth + 1));
	return status;
}

static knStatus stepReduced(knStepContext* context, double h) {
	double start = knStepContext_Now(context);
	knStatus status = advance(context, h, 0);
	if (status == KN_OK) {
		knState_UpdateCoordinates(context->state, context->model);
	}
	context->report->solveTime += knStepContext_Now(context) - start - context->report->collideTime;
	return status;
}

static knStatus checkReduced(const knModel* model, const knSettings* settings, knError* error) {
	(void)model;
	(void)settings;
	(void)error;
	return KN_OK;
}

static size_t privateSize(const knModel* model, const knSettings* settings) {
	(void)settings;
	return knReducedMemory_Size(model->bodyCount, model->jointCount, 4 * model->bodyCount,
								6 * (model->jointCount + model->jointCapacity));
}

const knStepperOps knReducedStepper = {
	.name = "reduced",
	.help = "joint coordinates; implicit step over the trees, contacts as articulated inertia, real friction",
	.sleeps = false,
	.check = checkReduced,
	.privateSize = privateSize,
	.step = stepReduced,
	.migrate = knReducedMemory_Migrate,
};
