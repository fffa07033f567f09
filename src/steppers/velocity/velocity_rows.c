// Forces, contacts, rows and the global solve: phases 1 and 2 of both schemes.

#include "dynamics/collision_input.h"
#include "solve/pgs.h"
#include "solve/subspace.h"
#include "solve/sweep_momentum.h"
#include "steppers/velocity/velocity_step.h"

#define TINY_GROUP 32 // contact points
#define SMALL_GROUP KN_SUBSPACE_POINTS
#define COLUMN_LAYERS 20 // groups of that many layers are solved at once where sweeps do not settle

knStatus knVelocity_OutOfMemory(const knVelocityStep* step) {
	return knError_Set(step->context->error, KN_NO_MEMORY, "step", "there is no memory for this step");
}

knStatus knVelocity_ApplyForces(knVelocityStep* step, double span) {
	knStepContext* context = step->context;
	knArena* arena = context->arena;
	int count = context->model->bodyCount;
	if (!knBlocks_Begin(&step->blocks, context->model, context->state, span, &context->tasks, arena)) {
		return knVelocity_OutOfMemory(step);
	}
	knJointRows_ApplyForces(context->model, &step->blocks, context->state);
	const knVelocityMemory* memory = knVelocityMemory_Get(context->state);
	double last = memory->dt;
	if (step->options.directJoints &&
		!knJointRows_Steady(context->model, context->state, knVelocityMemory_Joints(context->state),
							memory->jointCount, last, &step->blocks, arena)) {
		return knVelocity_OutOfMemory(step);
	}
	step->input = (knRowInput){ .model = context->model,
								.state = context->state,
								.blocks = &step->blocks,
								.tasks = context->tasks,
								.impulseScale = last > 0.0 ? step->h / last : 0.0,
								.rolling = context->settings->rolling,
								.bounceRows = context->settings->scheme == KN_SCHEME_PAPER,
								.alignTangents = step->options.alignTangents };
	if (step->p == NULL) {
		step->start = KN_SCRATCH(arena, knFrame, count);
		step->p = KN_SCRATCH(arena, knTwist, count);
		step->saved = KN_SCRATCH(arena, knTwist, count);
		step->turns = KN_SCRATCH(arena, knQuat, count);
		step->solveSet = KN_SCRATCH(arena, int32_t, count);
		step->options.solver.blockCount = count;
		step->options.solver.copy = KN_SCRATCH(arena, knTwist, step->options.solver.jacobi ? count : 0);
	}
	return arena->failed ? knVelocity_OutOfMemory(step) : KN_OK;
}

knStatus knVelocity_FindContacts(knVelocityStep* step, bool predict) {
	knStepContext* context = step->context;
	knState* state = context->state;
	double start = knStepContext_Now(context);
	if (!knFastBodies_Find(&step->fast, context->model, state, &step->blocks, context->arena)) {
		return knVelocity_OutOfMemory(step);
	}
	// the ways of fast bodies cross the boxes of others, which have to cover where those go in the world
	knVec3 fall = step->fast.count > 0 ? knZero3() : knScale(step->blocks.h, state->header->gravity);
	knReach reach;
	knCollideInput input;
	if (!knReach_Make(&reach, context->model, &step->blocks, NULL, fall, predict, context->arena) ||
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
				  knContactRows_List(&step->contacts, &step->input, &set, knVelocityMemory_Contacts(state),
									 knVelocityMemory_Get(state)->contactCount, context->arena);
	return listed ? KN_OK : knVelocity_OutOfMemory(step);
}

// Room for joint rows and for their errors.
static bool reserveJoints(knVelocityStep* step) {
	knStepContext* context = step->context;
	knArena* arena = context->arena;
	if (!knJointRows_Reserve(&step->joints, context->model, context->state, arena) ||
		!knJointRows_Reserve(&step->errorList, context->model, context->state, arena)) {
		return false;
	}
	step->rows = (knRows){ .items = KN_SCRATCH(arena, knRow, step->joints.capacity),
						   .capacity = step->joints.capacity,
						   .blockCount = context->model->bodyCount,
						   .loads = KN_SCRATCH(arena, knRowLoad, step->joints.loadCapacity),
						   .loadCapacity = step->joints.loadCapacity };
	step->errorRows = (knRows){ .items = KN_SCRATCH(arena, knRow, step->errorList.capacity),
								.capacity = step->errorList.capacity,
								.blockCount = context->model->bodyCount };
	return !arena->failed;
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

// Which bodies belong together, and which of the global solves each group takes part in.
static bool findGroups(knVelocityStep* step) {
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

// Bodies that nothing holds up carry no load from step to step: whatever they carried when the last of their supports
// went is not to be given back to them. Joints are another matter, they carry what turns with them.
static void forgetFloatingLoads(knVelocityStep* step) {
	for (int i = 0; i < step->contacts.chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts.chunks[i];
		int32_t group = groupOfChunk(step, chunk);
		if (step->islands.anchored[group] || step->islands.jointed[group]) {
			continue;
		}
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			knSweepPoint* point = &step->contacts.points[k];
			point->lambda[0] = point->lambda[1] = point->lambda[2] = 0.0;
			point->rolling = knZero3();
		}
	}
}

static bool buildDirectRows(knVelocityStep* step) {
	bool wanted = step->options.directJoints && step->rows.count > 0;
	return !wanted || knDirectRows_Build(&step->direct, &step->rows, step->context->arena);
}

static bool buildGlobalSet(knVelocityStep* step) {
	const knStepContext* context = step->context;
	knSweepBlocks blocks = { .count = step->blocks.count,
							 .invMass = step->blocks.invMass,
							 .invInertia = step->blocks.invInertia };
	knDirectRows* direct = step->options.directJoints && step->rows.count > 0 ? &step->direct : NULL;
	return knSweepSet_Build(&step->global, step->contacts.chunks, step->contacts.chunkCount, KN_STAGE_COUNT,
							step->contacts.points, &blocks, step->options.friction, &context->tasks,
							context->arena) &&
		   knSweepRows_Build(&step->global.joints, &step->rows, step->solveSet, KN_STAGE_COUNT, direct,
							 KN_STAGE_JOINTED, context->arena);
}

knStatus knVelocity_BuildRows(knVelocityStep* step) {
	knState* state = step->context->state;
	const knVelocityMemory* memory = knVelocityMemory_Get(state);
	bool warm = step->options.warmStart;
	if (!reserveJoints(step)) {
		return knVelocity_OutOfMemory(step);
	}
	knJointRows_Fill(&step->joints, &step->input, knVelocityMemory_Joints(state),
					 warm ? memory->jointCount : 0, &step->rows);
	knContactRows_Fill(&step->contacts, &step->input, warm ? knVelocityMemory_Contacts(state) : NULL);
	if (!findGroups(step) || !knVelocity_FindSleepers(step)) {
		return knVelocity_OutOfMemory(step);
	}
	forgetFloatingLoads(step);
	bool bounces = step->context->settings->scheme != KN_SCHEME_PAPER;
	bool built = buildDirectRows(step) && (!bounces || knVelocity_Bounce(step)) && buildGlobalSet(step);
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
		if (step->islands.group[b] == b && step->solveSet[b] == stage) {
			step->change[b] = momentum != NULL ? knSweepMomentum_Change(momentum, b) : (double)INFINITY;
		}
	}
}

knStatus knVelocity_SolveGlobal(knVelocityStep* step) {
	knStepContext* context = step->context;
	knSweepOptions options = step->options.solver;
	Listener listener = { .context = context };
	options.stopTheta = context->settings->stopTheta;
	options.stopStall = context->settings->stopStall;
	options.fn = context->convergenceFn != NULL ? tellConvergence : NULL;
	options.context = &listener;
	knPgs_Begin(&step->rows, step->blocks.u);
	knSweep_Apply(&step->global, &context->tasks, step->blocks.u);
	knVelocity_QuietSleepers(step);
	step->change = KN_SCRATCH_ZERO(context->arena, double, step->blocks.count);
	if (context->arena->failed) {
		return knVelocity_OutOfMemory(step);
	}
	int most = 0;
	context->report->theta = 0.0;
	for (int stage = 0; stage < KN_STAGE_COUNT; ++stage) {
		bool jointed = stage == KN_STAGE_JOINTED && step->rows.count > 0;
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
		int done = knSweep_Velocities(&step->global, stage, &options, step->blocks.u);
		most = done > most ? done : most;
		noteChanges(step, stage, options.momentum);
		context->report->theta +=
			knSweep_Merit(&step->global, stage, options.unscaled, &context->tasks, step->blocks.u);
		listener.solve += 1;
	}
	knSweepSet_Store(&step->global, &context->tasks, step->contacts.points);
	context->report->iterations += most;
	context->report->rows = step->rows.count + step->contacts.rowCount;
	context->report->contacts = step->contacts.pointCount;
	return KN_OK;
}

// Whether sweeps cannot do it: news would have to pass through too many layers.
static bool isColumn(const knVelocityStep* step, int32_t group) {
	double least = step->options.settled[KN_STAGE_SMALL];
	return step->solveSet[group] == KN_STAGE_SMALL && step->layers.ofGroup[group] >= COLUMN_LAYERS &&
		   least > 0.0 && step->change[group] > least;
}

knStatus knVelocity_SolveColumns(knVelocityStep* step) {
	knArena* arena = step->context->arena;
	knSweepBlocks blocks = { .count = step->blocks.count,
							 .invMass = step->blocks.invMass,
							 .invInertia = step->blocks.invInertia };
	uint8_t* wanted = KN_SCRATCH_ZERO(arena, uint8_t, step->blocks.count);
	double* left = KN_SCRATCH(arena, double, step->blocks.count);
	if (arena->failed) {
		return knVelocity_OutOfMemory(step);
	}
	bool any = false;
	for (int b = 0; b < step->blocks.count; ++b) {
		bool awake = step->asleep == NULL || !step->asleep[b];
		wanted[b] = step->islands.group[b] == b && awake && isColumn(step, b);
		any = any || wanted[b];
	}
	for (int i = 0; any && i < step->contacts.chunkCount; ++i) {
		const knSweepChunk* chunk = &step->contacts.chunks[i];
		if (step->contacts.points[chunk->first].arm > 0.0) {
			wanted[groupOfChunk(step, chunk)] = 0; // rolling resistance is left to the sweeps
		}
	}
	knSubspace problem = { .chunks = step->contacts.chunks,
						   .chunkCount = step->contacts.chunkCount,
						   .points = step->contacts.points,
						   .blocks = &blocks,
						   .group = step->islands.group,
						   .wanted = wanted };
	if (any && !knSubspace_Solve(&problem, step->blocks.u, left, arena)) {
		return knVelocity_OutOfMemory(step);
	}
	for (int b = 0; b < step->blocks.count; ++b) {
		step->change[b] = wanted[b] ? knMin(step->change[b], left[b]) : step->change[b];
	}
	return KN_OK;
}

knStatus knVelocity_FindAgain(knVelocityStep* step) {
	// the contacts that carried impulses stay the step's contacts
	knStatus status = knVelocity_FindContacts(step, false);
	if (status != KN_OK) {
		return status;
	}
	knContactRows_Fill(&step->contacts, &step->input, NULL);
	step->depthsKnown = false;
	return findGroups(step) && buildDirectRows(step) && buildGlobalSet(step) ? KN_OK
																			 : knVelocity_OutOfMemory(step);
}

knStatus knVelocity_Collect(knVelocityStep* step) {
	knStepContext* context = step->context;
	knState* state = context->state;
	int jointMemories = knJointRows_MemoryCount(&step->joints);
	if (!knVelocityMemory_Resize(state, context->model, step->h, step->contacts.pointCount, jointMemories,
								 step->asleep != NULL ? context->model->bodyCount : 0, context->allocator)) {
		return knVelocity_OutOfMemory(step);
	}
	knContactRows_Collect(&step->contacts, &step->input, knVelocityMemory_Contacts(state));
	knVelocity_ReportBounces(step);
	double work = knJointRows_Collect(&step->joints, context->model, &step->blocks, &step->rows, state,
									  knVelocityMemory_Joints(state));
	work += knBlocks_DriveWork(&step->blocks, state);
	work += knBlocks_KinematicWork(&step->blocks, context->model, &step->rows);
	work += knContactRows_KinematicWork(&step->contacts, context->model, step->blocks.u);
	context->report->work += work;
	context->contacts = step->contacts.contacts;
	context->contactCount = step->contacts.count;
	return KN_OK;
}
