#include "steppers/maximal/maximal_step.h"

#include "dynamics/collision_input.h"
#include "solve/sweep_momentum.h"

knStatus knMaximal_OutOfMemory(const knMaximalStep* step) {
	return knError_Set(step->context->error, KN_NO_MEMORY, "step", "there is no memory for this step");
}

void knMaximal_CountJointTime(const knMaximalStep* step, double start) {
	step->context->report->jointTime += knStepContext_Now(step->context) - start;
}

// --- forces and contacts ---------------------------------------------------------------------------------------

knStatus knMaximal_ApplyForces(knMaximalStep* step, double span) {
	const knModel* model = step->model;
	knState* state = step->state;
	knArena* arena = step->context->arena;
	const knStepMemory* memory = knStepMemory_Get(state);
	if (!knStepBodies_Begin(&step->blocks, model, state, span, step->weights, &step->context->tasks, arena)) {
		return knMaximal_OutOfMemory(step);
	}
	knJointRows_ApplyForces(model, &step->blocks, state);
	if (step->direct && !knJointRows_Steady(model, state, knStepMemory_Joints(state), memory->jointCount,
											memory->dt, &step->blocks, arena)) {
		return knMaximal_OutOfMemory(step);
	}
	step->input.model = model;
	step->input.state = state;
	step->input.blocks = &step->blocks;
	step->input.tasks = step->context->tasks;
	step->input.impulseScale = memory->dt > 0.0 ? step->h / memory->dt : 0.0;
	step->input.rolling = step->context->settings->rolling;
	if (step->start == NULL) {
		step->start = KN_SCRATCH(arena, knFrame, model->bodyCount);
		step->stageOf = KN_SCRATCH(arena, int32_t, model->bodyCount);
		step->correction = (knContactCorrection){ .model = model,
												  .state = state,
												  .blocks = &step->blocks,
												  .contacts = &step->contacts,
												  .islands = &step->islands,
												  .start = step->start,
												  .fast = &step->fast,
												  .tasks = step->context->tasks,
												  .arena = arena,
												  .p = KN_SCRATCH(arena, knTwist, model->bodyCount),
												  .turns = KN_SCRATCH(arena, knQuat, model->bodyCount) };
	}
	return arena->failed ? knMaximal_OutOfMemory(step) : KN_OK;
}

static knStatus askCollider(knMaximalStep* step, bool predict, knContactSet* set) {
	knStepContext* context = step->context;
	double start = knStepContext_Now(context);
	if (!knFastBodies_Find(&step->fast, step->model, step->state, &step->blocks, context->arena)) {
		return knMaximal_OutOfMemory(step);
	}
	// the ways of fast bodies cross the boxes of others, which have to cover where those go in the world
	knVec3 fall = step->fast.count > 0 ? knZero3() : knScale(step->blocks.h, step->state->header->gravity);
	knSearchMargins reach;
	knCollideInput input;
	if (!knSearchMargins_Make(&reach, step->model, &step->blocks, fall, predict, context->arena) ||
		!knCollisionInput_Make(&input, step->model, step->state, NULL, &context->tasks, context->arena)) {
		return knMaximal_OutOfMemory(step);
	}
	reach.wantsStruck = predict;
	knStatus status = knFastBodies_Collide(&step->fast, step->model, &step->blocks, context->collider, &input,
										   &reach, set, context->arena, context->error);
	step->input.struck = reach.struck;
	context->report->queries += 1;
	context->report->collideTime += knStepContext_Now(context) - start;
	// poses and margins were finite, so a body is where the collider's boxes are no longer
	return status == KN_BAD_DATA
			   ? knError_Set(context->error, KN_DIVERGED, "world", "a body is too far away to be collided")
			   : status;
}

knStatus knMaximal_FindContacts(knMaximalStep* step, bool predict) {
	knArena* arena = step->context->arena;
	knContactSet set;
	step->lookedAhead = predict;
	knStatus status = askCollider(step, predict, &set);
	if (status != KN_OK) {
		return status;
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		step->start[b] = step->state->pose[b];
	}
	bool listed = knFastBodies_Filter(&step->fast, step->model, &step->blocks, &set, arena) &&
				  knContactRows_List(&step->contacts, &step->input, &set, knStepMemory_Contacts(step->state),
									 knStepMemory_Get(step->state)->contactCount, arena);
	return listed ? KN_OK : knMaximal_OutOfMemory(step);
}

// --- islands -----------------------------------------------------------------------------------------------------

bool knMaximal_FindIslands(knMaximalStep* step) {
	knArena* arena = step->context->arena;
	knJointEdge* edges = KN_SCRATCH(arena, knJointEdge, knState_JointCount(step->model));
	int count = !arena->failed ? knJointRows_ListEdges(step->model, step->state, edges) : 0;
	return !arena->failed &&
		   knIslands_Build(&step->islands, step->model->bodyCount, step->blocks.invMass,
						   step->contacts.chunks, step->contacts.chunkCount, edges, count, arena);
}

static bool isFollowed(const knMaximalStep* step, int b) {
	return step->fast.count > 0 && step->fast.kind[b] != KN_FAST_NOT;
}

// Groups with joints see velocities at the end of the step, and so do those with a body that is followed along its way: it
// flies on with the velocity that its contacts leave, and is to keep its angular momentum where it is stopped.
bool knMaximal_WeighGroups(knMaximalStep* step) {
	const int bodyCount = step->model->bodyCount;
	const int32_t* group = step->islands.group;
	uint8_t* whole = step->whole = KN_SCRATCH_ZERO(step->context->arena, uint8_t, bodyCount);
	for (int b = 0; whole != NULL && b < bodyCount; ++b) {
		if (group[b] >= 0) {
			whole[group[b]] |= step->islands.jointed[group[b]] ||
							   (isFollowed(step, b) && step->islands.linked[group[b]] != 0);
		}
	}
	for (int b = 0; whole != NULL && b < bodyCount; ++b) {
		if (group[b] >= 0 && whole[group[b]] && step->blocks.weight[b] < KN_WEIGHT_END) {
			knStepBodies_Restart(&step->blocks, step->model, step->state, b, KN_WEIGHT_END);
		}
	}
	return whole != NULL;
}

// --- joints --------------------------------------------------------------------------------------------------------

// Islands with joints and contacts.
static bool mixIslands(knMaximalStep* step) {
	knArena* arena = step->context->arena;
	const int bodyCount = step->model->bodyCount;
	double* restitution = KN_SCRATCH(arena, double, step->contacts.pointCount);
	uint8_t* left = KN_SCRATCH_ZERO(arena, uint8_t, bodyCount);
	if (arena->failed) {
		return false;
	}
	for (int k = 0; k < step->contacts.pointCount; ++k) {
		restitution[k] = knContactRows_Restitution(&step->contacts, &step->input, k);
	}
	for (int b = 0; b < bodyCount; ++b) {
		left[b] = (step->asleep != NULL && step->asleep[b]) || isFollowed(step, b);
	}
	knJointMixInput input = {
		.islands = &step->islands, .contacts = &step->contacts, .restitution = restitution, .left = left
	};
	return knJointStep_Mix(&step->jointStep, &input, step->context->report);
}

void knMaximal_LeaveSolved(const knMaximalStep* step) {
	const uint8_t *taken = step->jointStep.taken, *mixed = step->jointStep.mixed;
	for (int b = 0; taken != NULL && b < step->model->bodyCount; ++b) {
		if (taken[b]) {
			step->blocks.drive[b] = knZeroTwist(); // counted there
		}
		if (mixed != NULL && mixed[b]) {
			step->stageOf[b] = -1;
		}
	}
	for (int c = 0; mixed != NULL && c < step->contacts.chunkCount; ++c) {
		knSweepChunk* chunk = &step->contacts.chunks[c];
		chunk->stage = mixed[chunk->a] || mixed[chunk->b] ? -1 : chunk->stage;
	}
}

bool knMaximal_SolveJoints(knMaximalStep* step) {
	const knStepContext* context = step->context;
	if (!step->direct) {
		return true;
	}
	double start = knStepContext_Now(context);
	knJointStepInput input = { .model = step->model,
							   .state = step->state,
							   .h = step->h,
							   .islands = context->islands,
							   .chunks = step->contacts.chunks,
							   .chunkCount = step->contacts.chunkCount,
							   .invMass = step->blocks.invMass,
							   .asleep = step->asleep,
							   .tasks = context->tasks,
							   .log = context->log,
							   .arena = context->arena };
	const knStepMemory* memory = knStepMemory_Get(step->state);
	if (!knJointStep_Find(&step->jointStep, &input)) {
		return false;
	}
	step->input.solved = step->jointStep.solved;
	knJointStep_Recall(&step->jointStep, knStepMemory_Joints(step->state),
					   step->cold ? 0 : memory->jointCount, step->input.impulseScale);
	bool solved = step->jointStep.solved == NULL ||
				  (mixIslands(step) && knJointStep_Solve(&step->jointStep, context->report));
	knMaximal_LeaveSolved(step);
	knMaximal_CountJointTime(step, start);
	return solved;
}

bool knMaximal_ReserveSwept(knMaximalStep* step) {
	const knStepMemory* memory = knStepMemory_Get(step->state);
	step->swept = (knJointSweeps){ .input = &step->input,
								   .contacts = &step->contacts,
								   .islands = &step->islands,
								   .memory = knStepMemory_Joints(step->state),
								   .memoryCount = step->cold ? 0 : memory->jointCount,
								   .direct = step->direct,
								   .state = step->state,
								   .arena = step->context->arena };
	return knJointSweeps_Reserve(&step->swept);
}

bool knMaximal_BeginSwept(knMaximalStep* step) {
	return knMaximal_ReserveSwept(step) && knJointSweeps_Begin(&step->swept);
}

bool knMaximal_BounceSwept(knMaximalStep* step) {
	int rounds = 0;
	bool bounced = knJointSweeps_Bounce(&step->swept, &rounds);
	step->context->report->iterations += rounds;
	return bounced;
}

// --- the mean time step ----------------------------------------------------------------------------------------------

bool knMaximal_BeginTime(knMaximalStep* step, knTimeSolver solver) {
	step->time = (knTimeStep){ .model = step->model,
							   .state = step->state,
							   .blocks = &step->blocks,
							   .contacts = &step->contacts,
							   .islands = &step->islands,
							   .stageOf = step->stageOf,
							   .start = step->start,
							   .memory = knStepMemory_Contacts(step->state),
							   .solver = solver,
							   .arena = step->context->arena };
	step->correction.time = &step->time;
	return knTimeStep_Begin(&step->time);
}

bool knMaximal_BeginGroups(knMaximalStep* step) {
	int32_t* level = KN_SCRATCH(step->context->arena, int32_t, step->model->bodyCount);
	for (int b = 0; level != NULL && b < step->model->bodyCount; ++b) {
		level[b] = step->graph.grounded[b] ? step->graph.level[b] : -1;
	}
	step->change = KN_SCRATCH_ZERO(step->context->arena, double, step->model->bodyCount);
	step->known = (knContactGroups){ .model = step->model,
									 .state = step->state,
									 .blocks = &step->blocks,
									 .contacts = &step->contacts,
									 .islands = &step->islands,
									 .level = level,
									 .levelCount = step->graph.levelCount,
									 .tasks = &step->context->tasks,
									 .change = step->change,
									 .arena = step->context->arena };
	return level != NULL && step->change != NULL;
}

bool knMaximal_BeginLoads(knMaximalStep* step, bool shock) {
	return knContactGroups_WarmStart(&step->known) && (!shock || knShockLoad_Run(&step->known));
}

void knMaximal_NoteChanges(const knMaximalStep* step, int stage, const knSweepMomentum* momentum) {
	for (int b = 0; step->change != NULL && b < step->model->bodyCount; ++b) {
		if (step->islands.group[b] == b && step->stageOf[b] == stage) {
			step->change[b] = momentum != NULL ? knSweepMomentum_Change(momentum, b) : (double)INFINITY;
		}
	}
}

bool knMaximal_PropagateShock(knMaximalStep* step, knSweepFriction friction, int chosenSweeps, int* sweeps) {
	knTwist* before = KN_SCRATCH(step->context->arena, knTwist, step->model->bodyCount);
	for (int b = 0; before != NULL && b < step->model->bodyCount; ++b) {
		before[b] = step->blocks.u[b];
	}
	knShockPropagation shock = { .groups = &step->known, .friction = friction, .chosenSweeps = chosenSweeps };
	if (before == NULL || !knShockPropagation_Run(&shock)) {
		return false;
	}
	knTimeStep_AddChanges(&step->time, before);
	*sweeps = shock.sweeps;
	return true;
}

knStatus knMaximal_Finish(knMaximalStep* step) {
	knTimeStep_Finish(&step->time);
	step->context->report->guarded |= step->time.guarded > 0;
	return step->context->arena->failed ? knMaximal_OutOfMemory(step) : KN_OK;
}

// --- the end of the step ---------------------------------------------------------------------------------------------

knStatus knMaximal_Collect(knMaximalStep* step) {
	knStepContext* context = step->context;
	knState* state = step->state;
	knStepReport* report = context->report;
	const int rowMemories = knJointRows_MemoryCount(&step->swept.joints);
	if (!knStepMemory_Resize(state, step->model, step->h, step->contacts.pointCount,
							 rowMemories + knJointStep_MemoryCount(&step->jointStep),
							 step->asleep != NULL ? step->model->bodyCount : 0, context->allocator)) {
		return knMaximal_OutOfMemory(step);
	}
	knContactRows_Collect(&step->contacts, &step->input, knStepMemory_Contacts(state));
	knJointSweeps_ReportBounces(&step->swept);
	report->work += knJointRows_Collect(&step->swept.joints, step->model, &step->blocks, &step->swept.rows,
										state, knStepMemory_Joints(state));
	knJointStep_Remember(&step->jointStep, knStepMemory_Joints(state), rowMemories);
	report->work += knStepBodies_DriveWork(&step->blocks, state) +
					knStepBodies_KinematicWork(&step->blocks, step->model, &step->swept.rows) +
					knContactRows_KinematicWork(&step->contacts, step->model, step->blocks.u);
	context->contacts = step->contacts.contacts;
	context->contactCount = step->contacts.count;
	report->contacts = step->contacts.pointCount;
	report->rows = step->swept.rows.count + step->contacts.rowCount;
	// pairs tested one by one count as the queries that would have tested as many
	int pairs = step->pairCount > 0 ? step->pairCount : 1;
	report->queries += (step->pairTests + pairs - 1) / pairs;
	return KN_OK;
}

knStatus knMaximal_Move(knMaximalStep* step) {
	knStepContext* context = step->context;
	step->correction.depthsKnown = false;
	knFastMoveInput in = { .model = step->model,
						   .state = step->state,
						   .blocks = &step->blocks,
						   .collider = context->collider,
						   .lookedAhead = step->lookedAhead,
						   .contacts = &step->contacts,
						   .tasks = context->tasks,
						   .arena = context->arena };
	bool moved = knFastBodies_Find(&step->fast, in.model, in.state, in.blocks, in.arena) &&
				 knFastBodies_Move(&step->fast, &in) &&
				 knFastBodies_Publish(&step->fast, &context->contacts, &context->contactCount, in.arena);
	knJointSweeps_Land(&step->swept);
	return moved ? KN_OK : knMaximal_OutOfMemory(step);
}

knStatus knMaximal_Settle(knMaximalStep* step) {
	step->time.ignored = step->fast.kind;
	if (!knTimeStep_Settle(&step->time)) {
		return knMaximal_OutOfMemory(step);
	}
	// what landed or settled is a part of what contacts carried
	step->context->report->work += knTimeStep_AddExtra(&step->time);
	return KN_OK;
}
