// The impulse stepper in maximal coordinates: collision and contact by impulses at points, with a contact graph
// (Guendelman et al. 2003), joints by pre- and post-stabilization (Weinstein et al. 2006). stepImpulse at the end is
// the method on one page, its phases numbered as there.

#include "steppers/stepper_ops.h"

#include "dynamics/joint_rows.h"
#include "steppers/impulse/impulse_memory.h"
#include "steppers/impulse/impulse_step.h"

#define DEFAULT_SWEEPS 10
#define SETTLED 1e-6 // of g h: sweeps that change speeds by less are done

knStatus knImpulseStep_OutOfMemory(const knImpulseStep* step) {
	return knError_Set(step->context->error, KN_NO_MEMORY, "step", "there is no memory for this step");
}

knFrame knImpulseStep_Predict(const knImpulseStep* step, int body, knTwist u) {
	return knMovePose(step->state->pose[body], u, step->h);
}

int knImpulseStep_TestPair(knImpulseStep* step, const knImpulsePair* pair, knFrame poseA, knFrame poseB,
						   double margin, knContactPoint* points) {
	const knModelShape *a = &step->model->shapes[pair->shapeA], *b = &step->model->shapes[pair->shapeB];
	int count = knCollide_Pair(a->geom, knMulF(poseA, a->local), b->geom, knMulF(poseB, b->local), margin,
							   points, KN_IMPULSE_PAIR_POINTS);
	step->pairTests += 1;
	return count < KN_IMPULSE_PAIR_POINTS ? count : KN_IMPULSE_PAIR_POINTS;
}

// Velocities with this step's forces, and what the forces added.
static knStatus applyForces(knImpulseStep* step) {
	knStepContext* context = step->context;
	if (!knBlocks_Begin(&step->blocks, step->model, step->state, step->h, &context->tasks, context->arena)) {
		return knImpulseStep_OutOfMemory(step);
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		step->force[b] = knSubT(step->blocks.u[b], step->state->velocity[b]);
	}
	return KN_OK;
}

static knStatus begin(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	step->force = KN_SCRATCH(arena, knTwist, bodyCount);
	step->push = KN_SCRATCH_ZERO(arena, knTwist, bodyCount);
	step->share = KN_SCRATCH(arena, int, bodyCount);
	step->steady = KN_SCRATCH(arena, bool, bodyCount);
	step->forecast = KN_SCRATCH(arena, knTwist, bodyCount);
	step->margins = KN_SCRATCH(arena, double, bodyCount);
	if (arena->failed) {
		return knImpulseStep_OutOfMemory(step);
	}
	step->input = (knRowInput){ .model = step->model,
								.state = step->state,
								.blocks = &step->blocks,
								.tasks = step->context->tasks,
								.rolling = step->context->settings->rolling };
	return applyForces(step);
}

// Contact impulses of the default scheme.
static knStatus contact(knImpulseStep* step) {
	const knSettings* settings = step->context->settings;
	int sweeps = settings->sweeps >= 0 ? settings->sweeps : DEFAULT_SWEEPS;
	double settled = SETTLED * step->h * knLength(step->state->header->gravity);
	knContactSweep_WarmStart(step);
	if (settings->shock != 0 && !knShockLoad_Run(step)) {
		return knImpulseStep_OutOfMemory(step);
	}
	knContactSweep_SetMasses(step);
	double change = settled + 1.0;
	for (int k = 0; k < sweeps && change > settled; ++k) {
		change = 0.0;
		for (int level = 0; level < step->graph.levelCount; ++level) {
			change = knMax(change, knContactSweep_Level(step, level));
		}
		step->context->report->iterations += 1;
	}
	return KN_OK;
}

static knStatus stepImpulse(knStepContext* context, double h) {
	knImpulseStep step = { .context = context, .model = context->model, .state = context->state, .h = h };
	step.paper = context->settings->scheme == KN_SCHEME_PAPER;
	knStatus status = begin(&step);
	if (status == KN_OK) {
		status = knImpulseContacts_Find(&step);
	}
	double start = knStepContext_Now(context);

	// 1 collisions
	if (status == KN_OK) {
		for (int b = 0; b < step.model->bodyCount; ++b) {
			step.blocks.u[b] = step.state->velocity[b];
		}
		knContactCollisions_Run(&step);
		for (int b = 0; b < step.model->bodyCount; ++b) {
			step.state->velocity[b] = step.blocks.u[b];
		}
		status = applyForces(&step);
	}
	if (status == KN_OK) {
		knJointRows_ApplyForces(step.model, &step.blocks, step.state);
		status = knContactLevels_Build(&step);
	}
	if (status == KN_OK) {
		status = contact(&step);
	}
	if (status == KN_OK) {
		knContactPush_Run(&step);
		step.blocks.push = step.push;
		double work = knBlocks_DriveWork(&step.blocks, step.state);
		status = knImpulseContacts_Collect(&step, &work);
		context->report->work = work;
		context->report->contacts = step.pointCount;
		context->report->rows = 3 * step.pointCount;
	}
	if (status == KN_OK) {
		knBlocks_End(&step.blocks, step.model, &context->tasks, step.state);
		knState_UpdateCoordinates(step.state, step.model);
	}
	context->report->solveTime += knStepContext_Now(context) - start;
	return status;
}

static knStatus checkImpulse(const knModel* model, const knSettings* settings, knError* error) {
	(void)model;
	if (settings->articulation == KN_ARTICULATION_DIRECT) {
		return knError_Set(
			error, KN_UNSUPPORTED, "articulation=direct",
			"the impulse stepper does not solve all joints at once yet; use articulation=sweep");
	}
	return KN_OK;
}

static size_t privateSize(const knModel* model, const knSettings* settings) {
	(void)settings;
	// a first guess that most scenes stay below: four points a body
	return knImpulseMemory_Size(4 * model->bodyCount);
}

const knStepperOps knImpulseStepper = {
	.name = "impulse",
	.help =
		"maximal coordinates; impulses at contact points with a contact graph, joints by pre-stabilization",
	.check = checkImpulse,
	.privateSize = privateSize,
	.step = stepImpulse,
	.migrate = knImpulseMemory_Migrate,
};
