// Forces, contacts, rows and the global solve: phases 1 and 2.

#include "dynamics/collision_input.h"
#include "solve/pgs.h"
#include "solve/subspace.h"
#include "solve/sweep_momentum.h"
#include "steppers/velocity/velocity_step.h"

#define TINY_GROUP 32 // contact points
#define SMALL_GROUP KN_SUBSPACE_POINTS
#define TURNING_ROUNDS 2 // of groups in which bodies turn: arms and answers anew
#define SIDE_SWEEPS 10   // of landings and settlings in large groups
#define LARGE_ERROR 10.0 // of what a body's last sweep changed: what single points may have left

knStatus knVelocity_OutOfMemory(const knVelocityStep* step) {
	return knError_Set(step->context->error, KN_NO_MEMORY, "step", "there is no memory for this step");
}

knStatus knVelocity_ApplyForces(knVelocityStep* step, double span) {
	knStepContext* context = step->context;
	knArena* arena = context->arena;
	int count = context->model->bodyCount;
	if (!knStepBodies_Begin(&step->blocks, context->model, context->state, span, step->weights,
							&context->tasks, arena)) {
		return knVelocity_OutOfMemory(step);
	}
	knJointRows_ApplyForces(context->model, &step->blocks, context->state);
	const knStepMemory* memory = knStepMemory_Get(context->state);
	double last = memory->dt;
	if (step->options.directJoints &&
		!knJointRows_Steady(context->model, context->state, knStepMemory_Joints(context->state),
							memory->jointCount, last, &step->blocks, arena)) {
		return knVelocity_OutOfMemory(step);
	}
	step->input = (knRowInput){ .model = context->model,
								.state = context->state,
								.blocks = &step->blocks,
								.tasks = context->tasks,
								.impulseScale = last > 0.0 ? step->h / last : 0.0,
								.rolling = context->settings->rolling,
								.bounceRows = step->options.bounceRows,
								.alignTangents = step->options.alignTangents };
	if (step->start == NULL) {
		step->start = KN_SCRATCH(arena, knFrame, count);
		step->solveSet = KN_SCRATCH(arena, int32_t, count);
		step->correction = (knContactCorrection){ .model = context->model,
												  .state = context->state,
												  .blocks = &step->blocks,
												  .contacts = &step->contacts,
												  .islands = &step->islands,
												  .start = step->start,
												  .fast = &step->fast,
												  .tasks = context->tasks,
												  .arena = arena,
												  .p = KN_SCRATCH(arena, knTwist, count),
												  .turns = KN_SCRATCH(arena, knQuat, count) };
		step->options.solver.blockCount = count;
		step->options.solver.copy = KN_SCRATCH(arena, knTwist, step->options.solver.jacobi ? count : 0);
	}
	return arena->failed ? knVelocity_OutOfMemory(step) : KN_OK;
}

knStatus knVelocity_FindContacts(knVelocityStep* step, bool predict) {
	knStepContext* context = step->context;
	knState* state = context->state;
	double start = knStepContext_Now(context);
	step->lookedAhead = predict;
	if (!knFastBodies_Find(&step->fast, context->model, state, &step->blocks, context->arena)) {
		return knVelocity_OutOfMemory(step);
	}
	// the ways of fast bodies cross the boxes of others, which have to cover where those go in the world
	knVec3 fall = step->fast.count > 0 ? knZero3() : knScale(step->blocks.h, state->header->gravity);
	knSearchMargins reach;
	knCollideInput input;
	if (!knSearchMargins_Make(&reach, context->model, &step->blocks, NULL, fall, predict, context->arena) ||
		!knCollisionInput_Make(&input, context->model, state, NULL, &context->tasks, context->arena)) {
		return knVelocity_OutOfMemory(step);
	}
	knContactSet set;
	knStatus status = knFastBodies_Collide(&step->fast, context->model, &step->blocks, context->collider,
										   &input, &reach, &set, context->arena, context->error);
	context->report->queries += 1;
	context->report->collideTime += knStepContext_Now(context) - start;
	if (status == KN_BAD_DATA) {
		// poses and margins were finite, so a body is where the collider's boxes are no longer
		return knError_Set(context->error, KN_DIVERGED, "world", "a body is too far away to be collided");
	}
	if (status != KN_OK) {
		return status;
	}
	for (int b = 0; b < context->model->bodyCount; ++b) {
		step->start[b] = state->pose[b];
	}
	bool listed = knFastBodies_Filter(&step->fast, context->model, &step->blocks, &set, context->arena) &&
				  knContactRows_List(&step->contacts, &step->input, &set, knStepMemory_Contacts(state),
									 knStepMemory_Get(state)->contactCount, context->arena);
	return listed ? KN_OK : knVelocity_OutOfMemory(step);
}

bool knVelocity_ReserveRows(knVelocityStep* step) {
	const knStepContext* context = step->context;
	const knStepMemory* memory = knStepMemory_Get(context->state);
	step->swept = (knJointSweeps){ .input = &step->input,
								   .contacts = &step->contacts,
								   .islands = &step->islands,
								   .memory = knStepMemory_Joints(context->state),
								   .memoryCount = step->options.warmStart ? memory->jointCount : 0,
								   .direct = step->options.directJoints,
								   .state = context->state,
								   .arena = context->arena };
	return knJointSweeps_Reserve(&step->swept);
}

// The solve in which a group takes part, by what holds it together and by its size.
static knGlobalStage stageOfGroup(const knVelocityStep* step, const int32_t* points, int32_t group) {
	if (step->islands.jointed[group]) {
		return KN_STAGE_JOINTED;
	}
	if (points[group] <= TINY_GROUP) {
		return KN_STAGE_TINY;
	}
	return points[group] <= SMALL_GROUP ? KN_STAGE_SMALL : KN_STAGE_LARGE;
}

static int32_t groupOfChunk(const knVelocityStep* step, const knSweepChunk* chunk) {
	return knSubspace_GroupOf(step->islands.group, chunk);
}

// Groups with joints see velocities at the end of the step, and so do those with a body that is followed along its way: it
// flies on with the velocity that its contacts leave, and is to keep its angular momentum where it is stopped.
static bool weighGroups(knVelocityStep* step) {
	const knModel* model = step->context->model;
	uint8_t* whole = KN_SCRATCH_ZERO(step->context->arena, uint8_t, model->bodyCount);
	for (int b = 0; whole != NULL && b < model->bodyCount; ++b) {
		int32_t group = step->islands.group[b];
		if (group >= 0) {
			bool flies = step->fast.count > 0 && step->fast.kind[b] != KN_FAST_NOT;
			whole[group] |= step->islands.jointed[group] || (flies && step->islands.linked[group]);
		}
	}
	for (int b = 0; whole != NULL && b < model->bodyCount; ++b) {
		int32_t group = step->islands.group[b];
		if (group >= 0 && whole[group] && step->blocks.weight[b] < KN_WEIGHT_END) {
			knStepBodies_Restart(&step->blocks, model, step->context->state, b, KN_WEIGHT_END);
		}
	}
	return whole != NULL;
}

// Which bodies belong together, and which of the global solves each group takes part in.
bool knVelocity_FindGroups(knVelocityStep* step) {
	const knModel* model = step->context->model;
	knArena* arena = step->context->arena;
	knJointEdge* edges = KN_SCRATCH(arena, knJointEdge, knState_JointCount(model));
	int32_t* points = KN_SCRATCH_ZERO(arena, int32_t, model->bodyCount);
	if (arena->failed) {
		return false;
	}
	int edgeCount = knJointRows_ListEdges(model, step->context->state, edges);
	if (!knIslands_Build(&step->islands, model->bodyCount, step->blocks.invMass, step->contacts.chunks,
						 step->contacts.chunkCount, edges, edgeCount, arena)) {
		return false;
	}
	for (int i = 0; i < step->contacts.chunkCount; ++i) {
		points[groupOfChunk(step, &step->contacts.chunks[i])] += step->contacts.chunks[i].count;
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		int32_t group = step->islands.group[b];
		step->solveSet[b] = group >= 0 ? (int32_t)stageOfGroup(step, points, group) : -1;
	}
	for (int i = 0; i < step->contacts.chunkCount; ++i) {
		knSweepChunk* chunk = &step->contacts.chunks[i];
		chunk->stage = step->solveSet[groupOfChunk(step, chunk)];
	}
	return true;
}

static knSweepBlocks sweepBlocks(const knVelocityStep* step) {
	return (knSweepBlocks){ .count = step->blocks.count,
							.invMass = step->blocks.invMass,
							.invInertia = step->blocks.invInertia };
}

bool knVelocity_BuildGlobalSet(knVelocityStep* step) {
	const knStepContext* context = step->context;
	knSweepBlocks blocks = sweepBlocks(step);
	return knSweepSet_Build(&step->global, step->contacts.chunks, step->contacts.chunkCount, KN_STAGE_COUNT,
							step->contacts.points, &blocks, step->options.friction, &context->tasks,
							context->arena) &&
		   knJointSweeps_AddRows(&step->swept, &step->global, step->solveSet, KN_STAGE_JOINTED);
}

void knVelocity_LoadStage(knVelocityStep* step, int stage) {
	knSweepBlocks blocks = sweepBlocks(step);
	knSweepSet_Reload(&step->global, stage, step->contacts.points, &blocks, &step->context->tasks);
}

static bool loadStage(void* context, int stage) {
	knVelocity_LoadStage(context, stage);
	return true;
}

static double errorOfStage(void* context, int stage) {
	const knVelocityStep* step = context;
	double left = sqrt(step->options.settled[stage]);
	return stage == KN_STAGE_LARGE ? LARGE_ERROR * left : left;
}

// Sweeps over one stage; the points follow. False: no memory.
static bool solveStage(void* context, int stage, knTwist* u) {
	knVelocityStep* step = context;
	knSweepOptions options = step->options.solver;
	int sweeps = step->options.sweeps[stage];
	options.sweeps = stage == KN_STAGE_LARGE && sweeps > SIDE_SWEEPS ? SIDE_SWEEPS : sweeps;
	options.settled = step->options.settled[stage];
	if (step->options.conjugate && stage != KN_STAGE_JOINTED) {
		options.momentum = knSweepMomentum_Begin(&step->global, stage, stage + 1, step->blocks.count,
												 step->islands.group, NULL, step->context->arena);
		if (options.momentum == NULL) {
			return false;
		}
	}
	knSweep_Velocities(&step->global, stage, &options, u);
	knSweepSet_Store(&step->global, &step->context->tasks, step->contacts.points);
	return true;
}

static bool beginTimeStep(knVelocityStep* step) {
	step->time = (knTimeStep){ .model = step->context->model,
							   .state = step->context->state,
							   .blocks = &step->blocks,
							   .contacts = &step->contacts,
							   .islands = &step->islands,
							   .stageOf = step->solveSet,
							   .start = step->start,
							   .memory = knStepMemory_Contacts(step->context->state),
							   .solver = { .stageCount = KN_STAGE_JOINTED,
										   .roughStage = KN_STAGE_LARGE,
										   .context = step,
										   .load = loadStage,
										   .error = errorOfStage,
										   .solve = solveStage },
							   .arena = step->context->arena };
	step->correction.time = &step->time;
	return knTimeStep_Begin(&step->time) && knTimeStep_Bounce(&step->time);
}

// Islands of joints that nothing touches are solved at once and leave the rest of the step.
static bool findJointIslands(knVelocityStep* step) {
	const knStepContext* context = step->context;
	const knState* state = context->state;
	if (!step->options.solveJoints) {
		return true;
	}
	knJointStepInput input = { .model = context->model,
							   .state = state,
							   .h = step->h,
							   .islands = context->islands,
							   .chunks = step->contacts.chunks,
							   .chunkCount = step->contacts.chunkCount,
							   .invMass = step->blocks.invMass,
							   .tasks = context->tasks,
							   .log = context->log,
							   .arena = context->arena };
	if (!knJointStep_Find(&step->jointStep, &input)) {
		return false;
	}
	step->input.solved = step->jointStep.solved;
	const knStepMemory* memory = knStepMemory_Get(state);
	knJointStep_Recall(&step->jointStep, knStepMemory_Joints(state),
					   step->options.warmStart ? memory->jointCount : 0, step->input.impulseScale);
	for (int b = 0; step->jointStep.taken != NULL && b < context->model->bodyCount; ++b) {
		if (step->jointStep.taken[b]) {
			step->blocks.drive[b] = knZeroTwist(); // counted there
		}
	}
	return true;
}

// Bodies and points that are solved elsewhere take no part in the stages.
static void leaveMixed(knVelocityStep* step) {
	const uint8_t* mixed = step->jointStep.mixed;
	for (int b = 0; mixed != NULL && b < step->blocks.count; ++b) {
		if (mixed[b]) {
			step->solveSet[b] = -1;
			step->blocks.drive[b] = knZeroTwist(); // counted there
		}
	}
	for (int i = 0; mixed != NULL && i < step->contacts.chunkCount; ++i) {
		knSweepChunk* chunk = &step->contacts.chunks[i];
		chunk->stage = mixed[chunk->a] || mixed[chunk->b] ? -1 : chunk->stage;
	}
}

// Islands with joints and contacts.
static bool mixIslands(knVelocityStep* step) {
	knArena* arena = step->context->arena;
	if (step->jointStep.solved == NULL || step->contacts.pointCount == 0) {
		return true;
	}
	double start = knStepContext_Now(step->context);
	double* restitution = KN_SCRATCH(arena, double, step->contacts.pointCount);
	uint8_t* left = KN_SCRATCH_ZERO(arena, uint8_t, step->blocks.count);
	if (arena->failed) {
		return false;
	}
	for (int k = 0; k < step->contacts.pointCount; ++k) {
		restitution[k] = knContactRows_Restitution(&step->contacts, &step->input, k);
	}
	for (int b = 0; b < step->blocks.count; ++b) {
		left[b] = (step->asleep != NULL && step->asleep[b]) ||
				  (step->fast.count > 0 && step->fast.kind[b] != KN_FAST_NOT);
	}
	knJointMixInput input = {
		.islands = &step->islands, .contacts = &step->contacts, .restitution = restitution, .left = left
	};
	bool mixed = knJointStep_Mix(&step->jointStep, &input, step->context->report);
	leaveMixed(step);
	step->context->report->jointTime += knStepContext_Now(step->context) - start;
	return mixed;
}

static bool solveJointIslands(knVelocityStep* step) {
	step->jointStep.in.asleep = step->asleep;
	double start = knStepContext_Now(step->context);
	bool solved = knJointStep_Solve(&step->jointStep, step->context->report);
	step->context->report->jointTime += knStepContext_Now(step->context) - start;
	return solved;
}

knStatus knVelocity_BuildRows(knVelocityStep* step) {
	knState* state = step->context->state;
	bool warm = step->options.warmStart;
	if (!knVelocity_ReserveRows(step) || !findJointIslands(step)) {
		return knVelocity_OutOfMemory(step);
	}
	knContactRows_Fill(&step->contacts, &step->input, warm ? knStepMemory_Contacts(state) : NULL);
	if (!knVelocity_FindGroups(step) || !weighGroups(step) || !knVelocity_FindSleepers(step) ||
		!mixIslands(step)) {
		return knVelocity_OutOfMemory(step);
	}
	int rounds = 0;
	bool built = knJointSweeps_Begin(&step->swept) && solveJointIslands(step) &&
				 knJointSweeps_Bounce(&step->swept, &rounds) && beginTimeStep(step) &&
				 knVelocity_BuildGlobalSet(step) && knTimeStep_Land(&step->time);
	step->context->report->iterations += rounds;
	return built ? KN_OK : knVelocity_OutOfMemory(step);
}

// Hands the merits of one solve on to the user's function.
typedef struct Listener {
	const knStepContext* context;
	int solve;
} Listener;

static void tellConvergence(int sweep, double theta, void* context) {
	const Listener* listener = context;
	listener->context->convergenceFn(listener->solve, sweep, theta, listener->context->convergenceContext);
}

static void noteChanges(const knVelocityStep* step, int stage, const knSweepMomentum* momentum) {
	for (int b = 0; b < step->blocks.count; ++b) {
		if (step->change != NULL && step->islands.group[b] == b && step->solveSet[b] == stage) {
			step->change[b] = momentum != NULL ? knSweepMomentum_Change(momentum, b) : (double)INFINITY;
		}
	}
}

knStatus knVelocity_SolveGlobal(knVelocityStep* step) {
	knStepContext* context = step->context;
	knSweepOptions options = step->options.solver;
	Listener listener = { .context = context };
	options.stopTheta = context->settings->study.stopTheta;
	options.stopStall = context->settings->study.stopStall;
	options.fn = context->convergenceFn != NULL ? tellConvergence : NULL;
	options.context = &listener;
	knPgs_Begin(&step->swept.rows, step->blocks.u);
	knVelocity_QuietSleepers(step);
	int most = 0;
	context->report->theta = 0.0;
	for (int stage = 0; stage < KN_STAGE_COUNT; ++stage) {
		bool jointed = stage == KN_STAGE_JOINTED && step->swept.rows.count > 0;
		if (step->global.stages[stage].colourCount == 0 && !jointed) {
			continue;
		}
		options.sweeps = step->options.sweeps[stage];
		options.settled = step->options.settled[stage];
		options.momentum = NULL;
		if (step->options.conjugate && stage != KN_STAGE_JOINTED) {
			options.momentum = knSweepMomentum_Begin(&step->global, stage, stage + 1, step->blocks.count,
													 step->islands.group, NULL, context->arena);
			if (options.momentum == NULL) {
				return knVelocity_OutOfMemory(step);
			}
		}
		bool turns = stage < step->time.solver.stageCount && knTimeStep_Aim(&step->time, stage);
		if (turns) {
			// new arms come half way
			options.sweeps = (options.sweeps + 1) / TURNING_ROUNDS;
		}
		int done = knSweep_Velocities(&step->global, stage, &options, step->blocks.u);
		for (int round = 1; turns && round < TURNING_ROUNDS; ++round) {
			knSweepSet_Store(&step->global, &context->tasks, step->contacts.points);
			knTimeStep_Aim(&step->time, stage);
			if (options.momentum != NULL) {
				options.momentum = knSweepMomentum_Begin(&step->global, stage, stage + 1, step->blocks.count,
														 step->islands.group, NULL, context->arena);
			}
			done += knSweep_Velocities(&step->global, stage, &options, step->blocks.u);
		}
		most = done > most ? done : most;
		noteChanges(step, stage, options.momentum);
		context->report->theta +=
			knSweep_Merit(&step->global, stage, options.unscaled, &context->tasks, step->blocks.u);
		listener.solve += 1;
	}
	knSweepSet_Store(&step->global, &context->tasks, step->contacts.points);
	context->report->iterations += most;
	context->report->rows = step->swept.rows.count + step->contacts.rowCount;
	context->report->contacts = step->contacts.pointCount;
	return KN_OK;
}

knStatus knVelocity_SolveColumns(knVelocityStep* step) {
	bool chosen = step->context->settings->sweeps >= 0; // as many sweeps as the user says, and no more
	bool solved = knContactGroups_Find(&step->known) && (chosen || knContactColumns_Run(&step->known));
	return solved ? KN_OK : knVelocity_OutOfMemory(step);
}

knStatus knVelocity_Finish(knVelocityStep* step) {
	knTimeStep_Finish(&step->time);
	step->context->report->guarded |= step->time.guarded > 0;
	return step->context->arena->failed ? knVelocity_OutOfMemory(step) : KN_OK;
}

knStatus knVelocity_Settle(knVelocityStep* step) {
	step->time.ignored = step->fast.kind;
	if (!knTimeStep_Settle(&step->time)) {
		return knVelocity_OutOfMemory(step);
	}
	// what landed or settled is a part of what contacts carried
	step->context->report->work += knTimeStep_AddExtra(&step->time);
	return KN_OK;
}

knStatus knVelocity_FindAgain(knVelocityStep* step) {
	// the contacts that carried impulses stay the step's contacts
	step->correction.time = NULL;
	knStatus status = knVelocity_FindContacts(step, false);
	if (status != KN_OK) {
		return status;
	}
	knContactRows_Fill(&step->contacts, &step->input, NULL);
	step->correction.depthsKnown = false;
	if (!knVelocity_FindGroups(step)) {
		return knVelocity_OutOfMemory(step);
	}
	leaveMixed(step);
	return knVelocity_BuildGlobalSet(step) ? KN_OK : knVelocity_OutOfMemory(step);
}

knStatus knVelocity_Collect(knVelocityStep* step) {
	knStepContext* context = step->context;
	knState* state = context->state;
	int rowMemories = knJointRows_MemoryCount(&step->swept.joints);
	int jointMemories = rowMemories + knJointStep_MemoryCount(&step->jointStep);
	if (!knStepMemory_Resize(state, context->model, step->h, step->contacts.pointCount, jointMemories,
							 step->asleep != NULL ? context->model->bodyCount : 0, context->allocator)) {
		return knVelocity_OutOfMemory(step);
	}
	knContactRows_Collect(&step->contacts, &step->input, knStepMemory_Contacts(state));
	knJointSweeps_ReportBounces(&step->swept);
	double work = knJointRows_Collect(&step->swept.joints, context->model, &step->blocks, &step->swept.rows,
									  state, knStepMemory_Joints(state));
	knJointStep_Remember(&step->jointStep, knStepMemory_Joints(state), rowMemories);
	work += knStepBodies_DriveWork(&step->blocks, state);
	work += knStepBodies_KinematicWork(&step->blocks, context->model, &step->swept.rows);
	work += knContactRows_KinematicWork(&step->contacts, context->model, step->blocks.u);
	context->report->work += work;
	context->contacts = step->contacts.contacts;
	context->contactCount = step->contacts.count;
	return KN_OK;
}
