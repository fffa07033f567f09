// The velocity stepper: velocity-based complementarity in maximal coordinates with shock propagation (Erleben
// 2007). Two schemes, each a page at the end of this file, share all their phases:
//
//   u' = u + W (J^T lambda + h f),   w = J u' + bias,   lo <= lambda <= hi complementary to w
//
// stepPaper is the published one. It divides the time of a step between a global solve (the share a) and a
// layered one, so an interface carries the share a of the weight above it. stepDefault gives the global solve all
// of the time, so that every interface carries its load, and lets the layers take out what few sweeps leave over.

#include "steppers/stepper_ops.h"

#include "steppers/velocity/velocity_step.h"

#define LEAST_SWEEPS 10    // of groups without joints; the others are the most
#define SETTLED 2e-5       // of the speed that gravity gives in a step: a sweep that changes less is the last
#define SMALL_SETTLED 1e-9 // the same in small groups
#define DEFAULT_SWEEPS 30
#define DEFAULT_SMALL_SWEEPS 100
#define DEFAULT_TINY_SWEEPS 100
#define DEFAULT_JOINT_SWEEPS 30
#define LEAST_SETTLED 1e-24 // m2/s2, without gravity
#define DEFAULT_LAYER_SWEEPS 20
#define DEFAULT_TALL_SWEEPS 50
#define DEFAULT_CORRECTION_SWEEPS 5
#define PAPER_SWEEPS 10
#define PAPER_LAYER_SWEEPS 10
#define PAPER_WEIGHTING 0.01

// The stepper's own choice unless the user has one.
static int chosen(int setting, int own) {
	return setting >= 0 ? setting : own;
}

static double chosenNumber(double setting, double own) {
	return setting >= 0.0 ? setting : own;
}

static knVelocityOptions resolveOptions(const knStepContext* context, double h) {
	const knSettings* settings = context->settings;
	bool paper = settings->scheme == KN_SCHEME_PAPER;
	int friction = chosen(settings->velocity.frictionModel, paper ? KN_FRICTION_ALIGNED : KN_FRICTION_CONE);
	knVelocityOptions options = {
		.sweeps = { DEFAULT_SWEEPS, DEFAULT_SMALL_SWEEPS, DEFAULT_TINY_SWEEPS, DEFAULT_JOINT_SWEEPS },
		.layerSweeps =
			chosen(settings->velocity.layerSweeps, paper ? PAPER_LAYER_SWEEPS : DEFAULT_LAYER_SWEEPS),
		.tallLayerSweeps = chosen(settings->velocity.layerSweeps, DEFAULT_TALL_SWEEPS),
		.correctionSweeps = chosen(settings->velocity.correctionSweeps, DEFAULT_CORRECTION_SWEEPS),
		.shock = settings->shock != 0,
		.queries = chosen(settings->velocity.queries, paper ? 2 : 1),
		.weighting = chosenNumber(settings->velocity.weighting, PAPER_WEIGHTING),
		.friction = friction == KN_FRICTION_CONE ? KN_SWEEP_CONE : KN_SWEEP_BOX,
		.alignTangents = friction == KN_FRICTION_ALIGNED,
		.warmStart = chosen(settings->velocity.warmStart, !paper) != 0,
		.conjugate =
			chosen(settings->study.solver, paper ? KN_RELAXATION_GAUSS_SEIDEL : KN_RELAXATION_CONJUGATE) ==
			KN_RELAXATION_CONJUGATE,
		.directJoints = !paper && settings->articulation != KN_ARTICULATION_SWEEP,
		.solveJoints = !paper && settings->articulation == KN_ARTICULATION_DIRECT,
		.solver = { .gamma = chosenNumber(settings->study.mixing, 0.0),
					.omega = chosenNumber(settings->study.relaxation, 1.0),
					.jacobi = settings->study.solver == KN_RELAXATION_JACOBI,
					.unscaled = settings->study.scaling == 0,
					.tasks = &context->tasks },
	};
	double fall = knLengthSquared(context->state->header->gravity) * h * h;
	options.solver.leastSweeps = LEAST_SWEEPS;
	for (int stage = 0; stage < KN_STAGE_COUNT; ++stage) {
		double share = stage == KN_STAGE_LARGE ? SETTLED : SMALL_SETTLED;
		options.settled[stage] = settings->sweeps >= 0 ? 0.0 : knMax(share * share * fall, LEAST_SETTLED);
	}
	for (int stage = 0; stage < KN_STAGE_COUNT && (paper || settings->sweeps >= 0); ++stage) {
		options.sweeps[stage] = chosen(settings->sweeps, PAPER_SWEEPS);
	}
	return options;
}

// Runs the next phase unless one has failed.
#define THEN(status, phase)                                                                                  \
	do {                                                                                                     \
		if ((status) == KN_OK) {                                                                             \
			(status) = (phase);                                                                              \
		}                                                                                                    \
	} while (0)

static knStatus stepDefault(knVelocityStep* step) {
	// 1 contacts at t, and those to come (the forces decide how far to look)
	knStatus status = knVelocity_ApplyForces(step, step->h);
	THEN(status, knVelocity_FindContacts(step, true));

	// 2 what bounces, then dynamics(h): rows of the whole world, all masses true, from the impulses of the step before
	THEN(status, knVelocity_BuildRows(step));
	THEN(status, knVelocity_SolveGlobal(step));
	if (step->options.shock) {
		THEN(status, knVelocity_BuildLayers(step));
		THEN(status, knVelocity_SolveColumns(step));
	}
	if (status == KN_OK) {
		knTimeStep_SumImpulses(&step->time);
	}

	// 3 layers from the ground up, what is below frozen: sweeps that continue those impulses, without time
	if (step->options.shock) {
		THEN(status, knVelocity_ContinueLayers(step));
	}
	THEN(status, knVelocity_Finish(step));
	THEN(status, knVelocity_Collect(step));

	// 4 move all bodies by h; correction() layer by layer
	THEN(status, knVelocity_Move(step));
	if (step->options.shock) {
		THEN(status, knVelocity_ReturnVelocities(step));
	}
	THEN(status, knVelocity_Settle(step));
	if (step->options.shock) {
		THEN(status, knVelocity_CorrectLayers(step));
	}

	// 5 correction() of the whole world; the old contacts serve, their depths are measured anew
	if (step->options.queries > 1) {
		THEN(status, knVelocity_FindAgain(step));
	}
	THEN(status, knVelocity_CorrectGlobal(step));
	return status;
}

static knStatus stepPaper(knVelocityStep* step) {
	double a = step->options.shock ? step->options.weighting : 1.0;

	// 1 contacts at t
	knStatus status = knVelocity_ApplyForces(step, a * step->h);
	THEN(status, knVelocity_FindContacts(step, false));

	// 2 dynamics(a h) on every group
	THEN(status, knVelocity_BuildRows(step));
	THEN(status, knVelocity_SolveGlobal(step));
	THEN(status, knVelocity_Collect(step));
	THEN(status, knVelocity_Move(step));

	// 3 layers from the ground up, the bottom fixed: dynamics((1 - a) h), then correction()
	if (step->options.shock) {
		THEN(status, knVelocity_BuildLayers(step));
		THEN(status, knVelocity_ApplyForces(step, (1.0 - a) * step->h));
		THEN(status, knVelocity_SolveLayers(step));
		THEN(status, knVelocity_Move(step));
		THEN(status, knVelocity_CorrectLayers(step));
	}

	// 4 contacts at t + h
	if (step->options.queries > 1) {
		THEN(status, knVelocity_FindAgain(step));
	}

	// 5 correction() on every group
	THEN(status, knVelocity_CorrectGlobal(step));
	return status;
}

static knStatus stepVelocity(knStepContext* context, double h) {
	knVelocityStep step = { .context = context, .options = resolveOptions(context, h), .h = h };
	double start = knStepContext_Now(context);
	bool paper = context->settings->scheme == KN_SCHEME_PAPER;
	knStatus status = paper ? stepPaper(&step) : stepDefault(&step);
	if (status == KN_OK) {
		knJointStep_Store(&step.jointStep, context->state);
		knVelocity_RecordRest(&step);
		knState_UpdateCoordinates(context->state, context->model);
	}
	context->report->solveTime += knStepContext_Now(context) - start - context->report->collideTime;
	return status;
}

static knStatus checkVelocity(const knModel* model, const knSettings* settings, knError* error) {
	(void)model;
	(void)settings;
	(void)error;
	return KN_OK;
}

static size_t privateSize(const knModel* model, const knSettings* settings) {
	// a first guess that most scenes stay below: four points a body, six numbers a joint
	return knVelocityMemory_Size(4 * model->bodyCount, 6 * (model->jointCount + model->jointCapacity),
								 settings->sleep > 0 ? model->bodyCount : 0);
}

const knStepperOps knVelocityStepper = {
	.name = "velocity",
	.help =
		"maximal coordinates; joints and contacts as one complementarity problem, projected Gauss-Seidel, "
		"shock propagation",
	.sleeps = true,
	.check = checkVelocity,
	.privateSize = privateSize,
	.step = stepVelocity,
	.migrate = knVelocityMemory_Migrate,
};
