// The velocity stepper: velocity-based complementarity in maximal coordinates with shock propagation (Erleben
// 2007). stepDefault is the method on one page:
//
//   u' = u + W (J^T lambda + h f),   w = J u' + bias,   lo <= lambda <= hi complementary to w
//
// The published scheme (paper/step_paper.c) divides the time of a step between a global solve and a layered one. This
// one gives the global solve all of the time, so that every interface carries its load, and lets the layers take out
// what few sweeps leave over.

#include "steppers/stepper_ops.h"

#include "steppers/velocity/paper/step_paper.h"
#include "steppers/velocity/velocity_step.h"

#define LEAST_SWEEPS 10 // of groups without joints; the others are the most
#define SETTLED 2e-5    // of the speed that gravity gives in a step: a sweep that changes less is the last
#define DEFAULT_SMALL_SWEEPS 100
#define DEFAULT_CORRECTION_SWEEPS 5

// The stepper's own choice unless the user has one.
static int chosen(int setting, int own) {
	return setting >= 0 ? setting : own;
}

static double chosenNumber(double setting, double own) {
	return setting >= 0.0 ? setting : own;
}

knVelocityOptions knVelocity_Options(const knStepContext* context, const knVelocityChoices* own) {
	const knSettings* settings = context->settings;
	const int friction = chosen(settings->velocity.frictionModel, own->friction);
	const int relaxation = chosen(settings->study.solver, own->relaxation);
	knVelocityOptions options = {
		.layerSweeps = chosen(settings->velocity.layerSweeps, own->layerSweeps),
		.correctionSweeps = chosen(settings->velocity.correctionSweeps, DEFAULT_CORRECTION_SWEEPS),
		.shock = settings->shock != 0,
		.queries = chosen(settings->velocity.queries, own->queries),
		.friction = friction == KN_FRICTION_CONE ? KN_SWEEP_CONE : KN_SWEEP_BOX,
		.alignTangents = friction == KN_FRICTION_ALIGNED,
		.warmStart = chosen(settings->velocity.warmStart, own->warmStart) != 0,
		.conjugate = relaxation == KN_RELAXATION_CONJUGATE,
		.solver = { .gamma = chosenNumber(settings->study.mixing, 0.0),
					.omega = chosenNumber(settings->study.relaxation, 1.0),
					.jacobi = relaxation == KN_RELAXATION_JACOBI,
					.unscaled = settings->study.scaling == 0,
					.tasks = &context->tasks },
	};
	for (int stage = 0; stage < KN_STAGE_COUNT; ++stage) {
		options.sweeps[stage] = chosen(settings->sweeps, own->sweeps[stage]);
	}
	return options;
}

void knVelocity_BeginStep(knVelocityStep* step) {
	step->m.cold = !step->options.warmStart;
	step->m.input.alignTangents = step->options.alignTangents;
	step->options.solver.blockCount = step->m.model->bodyCount;
	step->options.solver.copy = KN_SCRATCH(step->m.context->arena, knTwist,
										   step->options.solver.jacobi ? step->m.model->bodyCount : 0);
}

// Sweeps end early where one changes little, unless the user says how many.
static knVelocityOptions defaultOptions(const knStepContext* context, double h) {
	static const knVelocityChoices own = {
		.sweeps = { KN_DEFAULT_SWEEPS, DEFAULT_SMALL_SWEEPS, KN_DEFAULT_SWEEPS },
		.layerSweeps = -1,
		.queries = 1,
		.friction = KN_FRICTION_CONE,
		.relaxation = KN_RELAXATION_CONJUGATE,
		.warmStart = true,
	};
	const knSettings* settings = context->settings;
	knVelocityOptions options = knVelocity_Options(context, &own);
	double fall = knLengthSquared(context->state->header->gravity) * h * h;
	options.solver.leastSweeps = LEAST_SWEEPS;
	options.solver.relative = KN_SETTLED_RELATIVE * KN_SETTLED_RELATIVE;
	for (int stage = 0; stage < KN_STAGE_COUNT && settings->sweeps < 0; ++stage) {
		double share = stage == KN_STAGE_LARGE ? SETTLED : KN_SETTLED_SMALL;
		options.settled[stage] = knMax(share * share * fall, KN_SETTLED_LEAST * KN_SETTLED_LEAST);
	}
	return options;
}

static knStatus stepDefault(knVelocityStep* step) {
	knMaximalStep* m = &step->m;
	step->options = defaultOptions(m->context, m->h);
	knVelocity_BeginStep(step);
	m->direct = m->context->settings->articulation != KN_ARTICULATION_SWEEP;
	m->weights = knTimeStep_ChooseWeights(m->model, m->state, m->context->arena);
	if (m->weights == NULL) {
		return knMaximal_OutOfMemory(m);
	}

	// 1 contacts at t, and those to come (the forces decide how far to look)
	knStatus status = knMaximal_ApplyForces(m, m->h);
	KN_THEN(status, knMaximal_FindContacts(m, true));

	// 2 what bounces, then dynamics(h): rows of the whole world, all masses true, from the impulses of the step before
	KN_THEN(status, knVelocity_BuildRows(step));
	KN_THEN(status, knMaximal_BuildLevels(m));
	KN_THEN(status, knVelocity_BeginLoads(step));
	KN_THEN(status, knVelocity_SolveGlobal(step));
	if (step->options.shock) {
		KN_THEN(status, knVelocity_SolveColumns(step));
	}
	if (status == KN_OK) {
		knTimeStep_SumImpulses(&m->time);
	}

	// 3 layers from the ground up, what is below frozen: sweeps that continue those impulses, without time
	if (step->options.shock) {
		KN_THEN(status, knVelocity_ContinueLayers(step));
	}
	KN_THEN(status, knMaximal_Finish(m));
	KN_THEN(status, knMaximal_Collect(m));

	// 4 move all bodies by h; correction() layer by layer where something is deep
	KN_THEN(status, knMaximal_Move(m));
	KN_THEN(status, knMaximal_Settle(m));
	if (step->options.shock) {
		KN_THEN(status, knVelocity_CorrectLayers(step));
	}

	// 5 correction() of the whole world; the old contacts serve, their depths are measured anew
	if (step->options.queries > 1) {
		KN_THEN(status, knVelocity_FindAgain(step));
	}
	KN_THEN(status, knVelocity_CorrectGlobal(step));
	return status;
}

static knStatus stepVelocity(knStepContext* context, double h) {
	knVelocityStep step = {
		.m = { .context = context, .model = context->model, .state = context->state, .h = h }
	};
	double start = knStepContext_Now(context);
	bool paper = context->settings->scheme == KN_SCHEME_PAPER;
	knStatus status = paper ? knVelocityPaper_Step(&step) : stepDefault(&step);
	if (status == KN_OK) {
		knJointStep_Store(&step.m.jointStep, context->state);
		knVelocity_RecordRest(&step);
		knState_UpdateCoordinates(context->state, context->model);
	}
	context->report->solveTime += knStepContext_Now(context) - start - context->report->collideTime;
	return status;
}

static size_t privateSize(const knModel* model, const knSettings* settings) {
	// a first guess that most scenes stay below: four points a body, six numbers a joint
	return knStepMemory_Size(4 * model->bodyCount, 6 * (model->jointCount + model->jointCapacity),
							 settings->sleep > 0 ? model->bodyCount : 0);
}

const knStepperOps knVelocityStepper = {
	.name = "velocity",
	.help =
		"maximal coordinates; joints and contacts as one complementarity problem, projected Gauss-Seidel, "
		"shock propagation",
	.sleeps = true,
	.privateSize = privateSize,
	.step = stepVelocity,
	.migrate = knStepMemory_Migrate,
};
