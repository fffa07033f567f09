// The impulse stepper in maximal coordinates: collision and contact by impulses at points over a contact graph
// (Guendelman et al. 2003), on the time step of dynamics/time_step.h. Joints are solved at once (dynamics/joint_step.h), or with
// contacts row by row. stepDefault at the end is the method on one page, its phases numbered as in Weinstein et al. (2006);
// paper/step_paper.c is that of the publications.
//
// Poses are only predicted, until phase 6 moves them.

#include "steppers/stepper_ops.h"

#include "dynamics/shock_propagation.h"
#include "dynamics/step_memory.h"
#include "solve/pgs.h"
#include "steppers/impulse/impulse_step.h"
#include "steppers/impulse/paper/step_paper.h"

#define DEFAULT_SWEEPS 30
#define SMALL_POINTS 96 // groups of so few contact points are solved to the end

knStatus knImpulseStep_OutOfMemory(const knImpulseStep* step) {
	return knError_Set(step->context->error, KN_NO_MEMORY, "step", "there is no memory for this step");
}

int knImpulseStep_Sweeps(const knImpulseStep* step) {
	int sweeps = step->context->settings->sweeps;
	return sweeps >= 0 ? sweeps : DEFAULT_SWEEPS;
}

// --- before the solve ----------------------------------------------------------------------------------------

// Velocities with this step's forces, and what the forces added.
knStatus knImpulseStep_ApplyForces(knImpulseStep* step) {
	knStepContext* context = step->context;
	if (!knStepBodies_Begin(&step->blocks, step->model, step->state, step->h, step->weights, &context->tasks,
							context->arena)) {
		return knImpulseStep_OutOfMemory(step);
	}
	knJointRows_ApplyForces(step->model, &step->blocks, step->state);
	const knStepMemory* memory = knStepMemory_Get(step->state);
	if (step->context->settings->articulation != KN_ARTICULATION_SWEEP &&
		!knJointRows_Steady(step->model, step->state, knStepMemory_Joints(step->state), memory->jointCount,
							memory->dt, &step->blocks, context->arena)) {
		return knImpulseStep_OutOfMemory(step);
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		step->force[b] = knSubT(step->blocks.u[b], step->state->velocity[b]);
	}
	return KN_OK;
}

knStatus knImpulseStep_Begin(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	step->force = KN_SCRATCH(arena, knTwist, bodyCount);
	step->start = KN_SCRATCH(arena, knFrame, bodyCount);
	if (arena->failed) {
		return knImpulseStep_OutOfMemory(step);
	}
	for (int b = 0; b < bodyCount; ++b) {
		step->start[b] = step->state->pose[b];
	}
	step->input = (knRowInput){ .model = step->model,
								.state = step->state,
								.blocks = &step->blocks,
								.tasks = step->context->tasks,
								.rolling = step->context->settings->rolling };
	return knImpulseStep_ApplyForces(step);
}

static bool findIslands(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	knJointEdge* edges = KN_SCRATCH(arena, knJointEdge, knState_JointCount(step->model));
	int count = !arena->failed ? knJointRows_ListEdges(step->model, step->state, edges) : 0;
	return !arena->failed && knIslands_Build(&step->islands, step->model->bodyCount, step->blocks.invMass,
											 step->list.chunks, step->list.chunkCount, edges, count, arena);
}

static bool isFollowed(const knImpulseStep* step, int b) {
	return step->fast.count > 0 && step->fast.kind[b] != KN_FAST_NOT;
}

// How each group of bodies is solved: by its size, or with velocities at the end of the step.
static bool findParts(knImpulseStep* step) {
	const int bodyCount = step->model->bodyCount;
	const int32_t* group = step->islands.group;
	int32_t* points = KN_SCRATCH_ZERO(step->context->arena, int32_t, bodyCount);
	uint8_t* whole = KN_SCRATCH_ZERO(step->context->arena, uint8_t, bodyCount);
	step->partOf = KN_SCRATCH(step->context->arena, int32_t, bodyCount);
	if (step->context->arena->failed) {
		return false;
	}
	for (int c = 0; c < step->list.chunkCount; ++c) {
		const knSweepChunk* chunk = &step->list.chunks[c];
		points[knImpulseStep_GroupOf(step, chunk->a, chunk->b)] += chunk->count;
	}
	for (int b = 0; b < bodyCount; ++b) {
		if (group[b] >= 0) {
			whole[group[b]] |= step->islands.jointed[group[b]] ||
							   (isFollowed(step, b) && step->islands.linked[group[b]] != 0);
		}
	}
	for (int b = 0; b < bodyCount; ++b) {
		int size = group[b] >= 0 && points[group[b]] > SMALL_POINTS ? KN_PART_LARGE : KN_PART_SMALL;
		step->partOf[b] = group[b] < 0 ? -1 : whole[group[b]] ? KN_PART_END : size;
		if (step->partOf[b] == KN_PART_END && step->weights[b] < KN_WEIGHT_END) {
			step->weights[b] = KN_WEIGHT_END;
			knStepBodies_Restart(&step->blocks, step->model, step->state, b, KN_WEIGHT_END);
			step->force[b] = knSubT(step->blocks.u[b], step->state->velocity[b]);
		}
	}
	for (int c = 0; c < step->list.chunkCount; ++c) {
		knSweepChunk* chunk = &step->list.chunks[c];
		chunk->stage = step->partOf[knImpulseStep_GroupOf(step, chunk->a, chunk->b)];
	}
	return true;
}

// --- joints --------------------------------------------------------------------------------------------------

// Bodies that are moved with their joints take no part in the rest; what drives them is counted there.
static void leaveSolved(knImpulseStep* step) {
	const uint8_t *taken = step->jointStep.taken, *mixed = step->jointStep.mixed;
	for (int b = 0; taken != NULL && b < step->model->bodyCount; ++b) {
		if (taken[b]) {
			step->blocks.drive[b] = knZeroTwist();
		}
		if (mixed != NULL && mixed[b]) {
			step->partOf[b] = -1;
		}
	}
	for (int c = 0; mixed != NULL && c < step->list.chunkCount; ++c) {
		knSweepChunk* chunk = &step->list.chunks[c];
		chunk->stage = mixed[chunk->a] || mixed[chunk->b] ? -1 : chunk->stage;
	}
}

// Islands with joints and contacts. False: no memory.
static bool mixIslands(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	double* restitution = KN_SCRATCH(arena, double, step->list.pointCount);
	uint8_t* left = KN_SCRATCH_ZERO(arena, uint8_t, step->model->bodyCount);
	if (arena->failed) {
		return false;
	}
	for (int k = 0; k < step->list.pointCount; ++k) {
		restitution[k] = knContactRows_Restitution(&step->list, &step->input, k);
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		left[b] = isFollowed(step, b);
	}
	knJointMixInput input = {
		.islands = &step->islands, .contacts = &step->list, .restitution = restitution, .left = left
	};
	return knJointStep_Mix(&step->jointStep, &input, step->context->report);
}

// Islands with joints are solved at once and leave the rest of the step. False: no memory.
static bool solveJointIslands(knImpulseStep* step) {
	const knStepContext* context = step->context;
	if (context->settings->articulation == KN_ARTICULATION_SWEEP) {
		return true;
	}
	double start = knStepContext_Now(context);
	knJointStepInput input = { .model = step->model,
							   .state = step->state,
							   .h = step->h,
							   .islands = context->islands,
							   .chunks = step->list.chunks,
							   .chunkCount = step->list.chunkCount,
							   .invMass = step->blocks.invMass,
							   .tasks = context->tasks,
							   .log = context->log,
							   .arena = context->arena };
	const knStepMemory* memory = knStepMemory_Get(step->state);
	if (!knJointStep_Find(&step->jointStep, &input)) {
		return false;
	}
	step->input.solved = step->jointStep.solved;
	knJointStep_Recall(&step->jointStep, knStepMemory_Joints(step->state), memory->jointCount,
					   step->input.impulseScale);
	if (step->jointStep.solved == NULL) {
		return true;
	}
	bool solved = mixIslands(step) && knJointStep_Solve(&step->jointStep, context->report);
	leaveSolved(step);
	knImpulseStep_CountJointTime(step, start);
	return solved;
}

static bool beginSwept(knImpulseStep* step) {
	const knStepMemory* memory = knStepMemory_Get(step->state);
	step->swept = (knJointSweeps){ .input = &step->input,
								   .contacts = &step->list,
								   .islands = &step->islands,
								   .memory = knStepMemory_Joints(step->state),
								   .memoryCount = memory->jointCount,
								   .direct = step->context->settings->articulation != KN_ARTICULATION_SWEEP,
								   .state = step->state,
								   .arena = step->context->arena };
	return knJointSweeps_Reserve(&step->swept) && knJointSweeps_Begin(&step->swept);
}

// Contacts at the start poses, for velocities with and without this step's forces; joints, groups.
knStatus knImpulseStep_Prepare(knImpulseStep* step) {
	step->weights = knTimeStep_ChooseWeights(step->model, step->state, step->context->arena);
	if (step->weights == NULL) {
		return knImpulseStep_OutOfMemory(step);
	}
	knStatus status = knImpulseStep_Begin(step);
	KN_THEN(status, knImpulseContacts_Find(step, true));
	bool prepared = status == KN_OK && knImpulseContacts_DropPassing(step) && findIslands(step) &&
					findParts(step) && solveJointIslands(step) && beginSwept(step) &&
					knContactSolve_Begin(step);
	return prepared || status != KN_OK ? status : knImpulseStep_OutOfMemory(step);
}

// --- contact -------------------------------------------------------------------------------------------------

bool knImpulseStep_BeginGroups(knImpulseStep* step) {
	int32_t* level = KN_SCRATCH(step->context->arena, int32_t, step->model->bodyCount);
	if (level == NULL) {
		return false;
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		level[b] = step->graph.grounded[b] ? step->graph.level[b] : -1;
	}
	step->known = (knContactGroups){ .model = step->model,
									 .state = step->state,
									 .blocks = &step->blocks,
									 .contacts = &step->list,
									 .islands = &step->islands,
									 .level = level,
									 .levelCount = step->graph.levelCount,
									 .tasks = &step->context->tasks,
									 .change = step->change,
									 .arena = step->context->arena };
	return true;
}

// What bounces, and what arrives without bouncing; then the sweeps begin with the impulses of the last step and the loads of
// piles. False when out of memory.
static bool beginContact(knImpulseStep* step) {
	step->change = KN_SCRATCH_ZERO(step->context->arena, double, step->model->bodyCount);
	if (step->change == NULL || !knImpulseStep_BeginGroups(step) || !knTimeStep_Land(&step->time) ||
		!knContactGroups_WarmStart(&step->known)) {
		return false;
	}
	knPgs_Begin(&step->swept.rows, step->blocks.u);
	return step->context->settings->shock == 0 || knShockLoad_Run(&step->known);
}

bool knImpulseStep_PropagateShock(knImpulseStep* step) {
	knShockPropagation shock = { .groups = &step->known, .friction = KN_SWEEP_CONE, .chosenSweeps = -1 };
	return knShockPropagation_Run(&shock);
}

// What sweeps leave over: columns at once, then levels from the ground up.
static bool propagate(knImpulseStep* step) {
	knTwist* before = KN_SCRATCH(step->context->arena, knTwist, step->model->bodyCount);
	const bool shock = step->context->settings->shock != 0;
	if (before == NULL ||
		(shock && !(knContactGroups_Find(&step->known) && knContactColumns_Run(&step->known)))) {
		return false;
	}
	knTimeStep_SumImpulses(&step->time);
	for (int b = 0; b < step->model->bodyCount; ++b) {
		before[b] = step->blocks.u[b];
	}
	if (shock && !knImpulseStep_PropagateShock(step)) {
		return false;
	}
	knTimeStep_AddChanges(&step->time, before);
	return true;
}

// Impulses accumulated over sweeps; the guard of the energy.
static knStatus contact(knImpulseStep* step) {
	if (!beginContact(step) || !knContactSolve_RunEnd(step) || !knContactSolve_Run(step) ||
		!propagate(step)) {
		return knImpulseStep_OutOfMemory(step);
	}
	knTimeStep_Finish(&step->time);
	step->context->report->guarded |= step->time.guarded > 0;
	return step->context->arena->failed ? knImpulseStep_OutOfMemory(step) : KN_OK;
}

// --- the step ------------------------------------------------------------------------------------------------

static knStatus collide(knImpulseStep* step) {
	int rounds = 0;
	bool collided = knJointSweeps_Bounce(&step->swept, &rounds) && knTimeStep_Bounce(&step->time);
	step->context->report->iterations += rounds;
	return collided ? KN_OK : knImpulseStep_OutOfMemory(step);
}

knStatus knImpulseStep_Move(knImpulseStep* step) {
	knStepContext* context = step->context;
	knFastMoveInput in = { .model = context->model,
						   .state = context->state,
						   .blocks = &step->blocks,
						   .collider = context->collider,
						   .lookedAhead = true,
						   .contacts = &step->list,
						   .tasks = context->tasks,
						   .arena = context->arena };
	bool moved = knFastBodies_Find(&step->fast, in.model, in.state, in.blocks, in.arena) &&
				 knFastBodies_Move(&step->fast, &in) &&
				 knFastBodies_Publish(&step->fast, &context->contacts, &context->contactCount, in.arena);
	return moved ? KN_OK : knImpulseStep_OutOfMemory(step);
}

static knStatus stepDefault(knImpulseStep* step) {
	// contacts, joints, groups
	knStatus status = knImpulseStep_Prepare(step);

	// 1 collisions
	KN_THEN(status, collide(step));

	// 3 contact graph, contact; 4 shock propagation
	KN_THEN(status, knContactLevels_Build(step));
	KN_THEN(status, contact(step));
	KN_THEN(status, knImpulseContacts_Collect(step));

	// 6 bodies move, then velocities of what is loaded, overlaps and joints that are apart
	KN_THEN(status, knImpulseStep_Move(step));
	if (status == KN_OK) {
		knJointSweeps_Land(&step->swept);
		status = knContactSolve_Settle(step) ? KN_OK : knImpulseStep_OutOfMemory(step);
		knJointStep_Store(&step->jointStep, step->state);
	}
	return status;
}

static knStatus stepImpulse(knStepContext* context, double h) {
	knImpulseStep step = { .context = context, .model = context->model, .state = context->state, .h = h };
	double start = knStepContext_Now(context);
	bool paper = context->settings->scheme == KN_SCHEME_PAPER;
	knStatus status = paper ? knImpulsePaper_Step(&step) : stepDefault(&step);
	if (status == KN_OK) {
		knState_UpdateCoordinates(context->state, context->model);
	}
	context->report->solveTime += knStepContext_Now(context) - start - context->report->collideTime;
	return status;
}

static knStatus checkImpulse(const knModel* model, const knSettings* settings, knError* error) {
	(void)model;
	(void)settings;
	(void)error;
	return KN_OK;
}

static size_t privateSize(const knModel* model, const knSettings* settings) {
	(void)settings;
	// a first guess that most scenes stay below: four points a body, six numbers a joint
	return knStepMemory_Size(4 * model->bodyCount, 6 * (model->jointCount + model->jointCapacity), 0);
}

const knStepperOps knImpulseStepper = {
	.name = "impulse",
	.help = "maximal coordinates; impulses at contact points over a contact graph",
	.check = checkImpulse,
	.privateSize = privateSize,
	.step = stepImpulse,
	.migrate = knStepMemory_Migrate,
};
