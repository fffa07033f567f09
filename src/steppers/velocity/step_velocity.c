// The velocity stepper: velocity-based complementarity in maximal coordinates (Erleben 2007), phases 1 to 5
// numbered as in his time step. stepVelocity at the end is the method on one page.
//
//   u' = u + W (J^T lambda + h f),   w = J u' + bias,   lo <= lambda <= hi complementary to w
//
// Joints are bilateral rows, contacts unilateral ones with a friction pyramid. The rows of the whole world are
// solved together by a fixed number of projected Gauss-Seidel sweeps, warm-started from the step before.

#include "steppers/stepper_ops.h"

#include "dynamics/collision_input.h"
#include "solve/pgs.h"
#include "steppers/velocity/velocity_memory.h"

#define DEFAULT_SWEEPS 30

// What the phases hand on; nothing outlives the step.
typedef struct Step {
	knStepContext* context;
	knBlocks blocks;
	knRowInput input;
	knContactRows contacts;
	knJointRows joints;
	knRows rows; // joints first, then contacts, so that contacts have the last word in a sweep
} Step;

static knStatus outOfMemory(const Step* step) {
	return knError_Set(step->context->error, KN_NO_MEMORY, "step", "there is no memory for this step");
}

// Forces act on all bodies; their velocities after it tell how far to look for contacts.
static knStatus applyForces(Step* step, double h) {
	knStepContext* context = step->context;
	if (!knBlocks_Begin(&step->blocks, context->model, context->state, h, &context->tasks, context->arena)) {
		return outOfMemory(step);
	}
	knJointRows_ApplyForces(context->model, &step->blocks, context->state);
	double last = knVelocityMemory_Get(context->state)->dt;
	step->input = (knRowInput){ .model = context->model,
								.state = context->state,
								.blocks = &step->blocks,
								.tasks = context->tasks,
								.impulseScale = last > 0.0 ? h / last : 0.0,
								.rolling = context->settings->rolling };
	return KN_OK;
}

static knStatus findContacts(Step* step) {
	knStepContext* context = step->context;
	double start = knStepContext_Now(context);
	double* margins = knCollisionInput_Margins(context->model, &step->blocks, context->arena);
	knCollideInput input;
	if (margins == NULL || !knCollisionInput_Make(&input, context->model, context->state, margins,
												  &context->tasks, context->arena)) {
		return outOfMemory(step);
	}
	knContactSet set;
	knStatus status = knCollide(context->collider, &input, &set, context->error);
	context->report->queries += 1;
	context->report->collideTime += knStepContext_Now(context) - start;
	if (status == KN_BAD_DATA) {
		// poses and margins were finite, so a body is where the collider's boxes are no longer
		return knError_Set(context->error, KN_DIVERGED, "world", "a body is too far away to be collided");
	}
	if (status != KN_OK) {
		return status;
	}
	bool listed =
		knContactRows_List(&step->contacts, &step->input, &set, knVelocityMemory_Contacts(context->state),
						   knVelocityMemory_Get(context->state)->contactCount, context->arena);
	return listed ? KN_OK : outOfMemory(step);
}

static knStatus buildRows(Step* step) {
	knStepContext* context = step->context;
	const knVelocityMemory* memory = knVelocityMemory_Get(context->state);
	if (!knJointRows_Reserve(&step->joints, context->model, context->state, context->arena)) {
		return outOfMemory(step);
	}
	knRows* rows = &step->rows;
	rows->capacity = step->joints.capacity + step->contacts.rowCount;
	rows->blockCount = context->model->bodyCount;
	rows->items = KN_SCRATCH(context->arena, knRow, rows->capacity);
	if (rows->items == NULL) {
		return outOfMemory(step);
	}
	knJointRows_Fill(&step->joints, &step->input, knVelocityMemory_Joints(context->state), memory->jointCount,
					 rows);
	knContactRows_Fill(&step->contacts, &step->input, knVelocityMemory_Contacts(context->state), rows->count,
					   rows);
	rows->count += step->contacts.rowCount;
	return KN_OK;
}

static void solveRows(Step* step) {
	knStepContext* context = step->context;
	int sweeps = context->settings->sweeps >= 0 ? context->settings->sweeps : DEFAULT_SWEEPS;
	knPgsResult result = knPgs_Solve(&step->rows, sweeps, step->blocks.u);
	context->report->iterations += result.sweeps;
	context->report->theta = result.theta;
	context->report->rows = step->rows.count;
	context->report->contacts = step->contacts.solidCount;
}

// Reactions, impulses and work are read off the solved rows and remembered for the next step.
static knStatus collectImpulses(Step* step) {
	knStepContext* context = step->context;
	knState* state = context->state;
	int jointMemories = knJointRows_MemoryCount(&step->joints);
	if (!knVelocityMemory_Resize(state, context->model, step->blocks.h, step->contacts.solidCount,
								 jointMemories, context->allocator)) {
		return outOfMemory(step);
	}
	knContactRows_Collect(&step->contacts, &step->input, &step->rows, step->joints.count,
						  knVelocityMemory_Contacts(state));
	double work = knJointRows_Collect(&step->joints, context->model, &step->blocks, &step->rows, state,
									  knVelocityMemory_Joints(state));
	work += knBlocks_DriveWork(&step->blocks, state);
	work += knBlocks_KinematicWork(&step->blocks, context->model, &step->rows);
	context->report->work = work;
	context->contacts = step->contacts.contacts;
	context->contactCount = step->contacts.count;
	return KN_OK;
}

static knStatus stepVelocity(knStepContext* context, double h) {
	Step step = { .context = context };

	// 1 contacts at t (and the forces, which decide how far to look)
	knStatus status = applyForces(&step, h);
	if (status == KN_OK) {
		status = findContacts(&step);
	}

	// 2 dynamics(h): rows of the whole world, all masses true
	double start = knStepContext_Now(context);
	if (status == KN_OK) {
		status = buildRows(&step);
	}
	if (status == KN_OK) {
		solveRows(&step);
	}

	// 3 shock propagation goes here: stack layers bottom-up, lower bodies frozen, sweeps that continue lambda
	if (status == KN_OK) {
		status = collectImpulses(&step);
	}

	// 4 move all bodies by h; correction() layer by layer goes here
	if (status == KN_OK) {
		knBlocks_End(&step.blocks, context->model, &context->tasks, context->state);
		knState_UpdateCoordinates(context->state, context->model);
	}

	// 5 contacts at t + h and the correction() of the whole world go here
	context->report->solveTime += knStepContext_Now(context) - start;
	return status;
}

static knStatus checkVelocity(const knModel* model, const knSettings* settings, knError* error) {
	(void)model;
	if (settings->scheme == KN_SCHEME_PAPER) {
		return knError_Set(error, KN_UNSUPPORTED, "scheme=paper",
						   "the velocity stepper does not have the published scheme yet; use scheme=default");
	}
	if (settings->shock > 0) {
		return knError_Set(error, KN_UNSUPPORTED, "shock=1",
						   "the velocity stepper does not have shock propagation yet; use shock=0");
	}
	return KN_OK;
}

static size_t privateSize(const knModel* model, const knSettings* settings) {
	(void)settings;
	// a first guess that most scenes stay below: four points a body, six numbers a joint
	return knVelocityMemory_Size(4 * model->bodyCount, 6 * (model->jointCount + model->jointCapacity));
}

const knStepperOps knVelocityStepper = {
	.name = "velocity",
	.help = "maximal coordinates; joints and contacts as one complementarity problem, projected Gauss-Seidel",
	.check = checkVelocity,
	.privateSize = privateSize,
	.step = stepVelocity,
	.migrate = knVelocityMemory_Migrate,
};
