// The impulse stepper in maximal coordinates: collision and contact by impulses at points over a contact graph
// (Guendelman et al. 2003), joints by pre- and post-stabilization (Weinstein et al. 2006). stepDefault at the end is
// the method on one page, its phases numbered as in the second paper; paper/step_paper.c is that of the publications.
//
// Forces act between collisions and contact, so that what rests does not bounce on its own weight. Poses are only
// predicted, until phase 6 moves them.

#include "steppers/stepper_ops.h"

#include "dynamics/joint_rows.h"
#include "dynamics/shock_propagation.h"
#include "steppers/impulse/impulse_memory.h"
#include "steppers/impulse/impulse_step.h"
#include "steppers/impulse/joint_contact.h"
#include "steppers/impulse/paper/step_paper.h"

#define DEFAULT_SWEEPS 30
#define SETTLED 1e-7      // of g h: sweeps that change speeds by less are done (KN_PART_END)
#define GOOD 1e-2         // of g h: rates of joints and contacts that are solved together
#define CLOSED 1e-10      // m: joints with smaller errors are closed
#define SMALL_POINTS 96   // groups of so few contact points are solved to the end
#define EXCHANGES 5       // between contact and joints' velocities in a sweep
#define VELOCITY_SWEEPS 5 // of post-stabilization

knStatus knImpulseStep_OutOfMemory(const knImpulseStep* step) {
	return knError_Set(step->context->error, KN_NO_MEMORY, "step", "there is no memory for this step");
}

knFrame knImpulseStep_Predict(const knImpulseStep* step, int body, knTwist u) {
	return knMovePose(step->state->pose[body], u, step->h);
}

double knImpulseStep_Product(const knImpulseStep* step, int body, knTwist u, knTwist v) {
	knQuat q = step->state->pose[body].q;
	knVec3 L = knMulMV(&step->model->inertiaLocal[body], knInvRotate(q, v.ang));
	return step->model->mass[body] * knDot(u.lin, v.lin) + knDot(knInvRotate(q, u.ang), L);
}

int knImpulseStep_TestPair(knImpulseStep* step, const knImpulsePair* pair, knFrame poseA, knFrame poseB,
						   double margin, knContactPoint* points) {
	const knModelShape *a = &step->model->shapes[pair->shapeA], *b = &step->model->shapes[pair->shapeB];
	int count = knCollide_Pair(a->geom, knMulF(poseA, a->local), b->geom, knMulF(poseB, b->local), margin,
							   points, KN_IMPULSE_PAIR_POINTS);
	step->pairTests += 1;
	return count < KN_IMPULSE_PAIR_POINTS ? count : KN_IMPULSE_PAIR_POINTS;
}

int knImpulseStep_Sweeps(const knImpulseStep* step) {
	int sweeps = step->context->settings->sweeps;
	return sweeps >= 0 ? sweeps : DEFAULT_SWEEPS;
}

// --- the parts of a step -----------------------------------------------------------------------------------

// Velocities with this step's forces, and what the forces added.
knStatus knImpulseStep_ApplyForces(knImpulseStep* step) {
	knStepContext* context = step->context;
	if (!knStepBodies_Begin(&step->blocks, step->model, step->state, step->h, step->weights, &context->tasks,
							context->arena)) {
		return knImpulseStep_OutOfMemory(step);
	}
	knJointRows_ApplyForces(step->model, &step->blocks, step->state);
	for (int b = 0; step->jointStep.taken != NULL && b < step->model->bodyCount; ++b) {
		if (step->jointStep.taken[b]) {
			step->blocks.drive[b] = knZeroTwist(); // counted there
		}
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		step->force[b] = knSubT(step->blocks.u[b], step->state->velocity[b]);
	}
	return KN_OK;
}

static bool anyJoint(const knImpulseStep* step) {
	for (int j = 0; j < knState_JointCount(step->model); ++j) {
		if (knState_JointActive(step->state, step->model, j)) {
			return true;
		}
	}
	return false;
}

static void recallSolved(knImpulseStep* step) {
	const knArticulationMemory* memory = knImpulseMemory_Joints(step->state);
	for (int j = 0; step->jointStep.solved != NULL && j < knState_JointCount(step->model); ++j) {
		const bool own = memory[j].dt > 0.0 && memory[j].owner == step->state->joint[j].generation;
		for (int r = 0; own && r < KN_JOINT_STEP_ROWS; ++r) {
			step->jointStep.lambda[j * KN_JOINT_STEP_ROWS + r] = step->h / memory[j].dt * memory[j].solved[r];
		}
	}
}

static bool findIslands(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	knJointEdge* edges = KN_SCRATCH(arena, knJointEdge, knState_JointCount(step->model));
	int count = !arena->failed ? knJointRows_ListEdges(step->model, step->state, edges) : 0;
	return !arena->failed && knIslands_Build(&step->islands, step->model->bodyCount, step->blocks.invMass,
											 step->list.chunks, step->list.chunkCount, edges, count, arena);
}

// Points of islands that are solved with their joints take no part in the sweeps; what they carry is kept for the end.
static bool leaveMixed(knImpulseStep* step) {
	const uint8_t* mixed = step->jointStep.mixed;
	if (mixed == NULL) {
		return true;
	}
	step->carried = KN_SCRATCH_ZERO(step->context->arena, knVec3, step->pointCount);
	for (int k = 0; step->carried != NULL && k < step->pointCount; ++k) {
		knImpulsePoint* p = &step->points[k];
		if (mixed[p->a] || mixed[p->b]) {
			knSweepPoint* row = &step->list.points[k];
			step->carried[k] = knV3(row->lambda[0], row->lambda[1], row->lambda[2]);
			row->lambda[0] = row->lambda[1] = row->lambda[2] = 0.0;
			row->bias = KN_ROW_OUT_OF_REACH;
			p->jn = p->j1 = p->j2 = 0.0;
			p->target = -(double)INFINITY;
		}
	}
	return step->carried != NULL;
}

// Islands with joints and contacts. False: no memory.
static bool mixIslands(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	double* restitution = KN_SCRATCH(arena, double, step->pointCount);
	uint8_t* left = KN_SCRATCH_ZERO(arena, uint8_t, step->model->bodyCount);
	if (arena->failed || !findIslands(step)) {
		return false;
	}
	for (int i = 0; i < step->pairCount; ++i) {
		const knImpulsePair* pair = &step->pairs[i];
		for (int k = pair->first; k < pair->first + pair->count; ++k) {
			restitution[k] = pair->e;
		}
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		left[b] = step->fast.count > 0 && step->fast.kind[b] != KN_FAST_NOT;
	}
	knJointMixInput input = {
		.islands = &step->islands, .contacts = &step->list, .restitution = restitution, .left = left
	};
	return knJointStep_Mix(&step->jointStep, &input, step->context->report) && leaveMixed(step);
}

// What the points of these islands carried.
static void takeCarried(knImpulseStep* step) {
	const uint8_t* mixed = step->jointStep.mixed;
	for (int k = 0; mixed != NULL && k < step->pointCount; ++k) {
		knImpulsePoint* p = &step->points[k];
		if (mixed[p->a] || mixed[p->b]) {
			p->jn = step->carried[k].x;
			p->j1 = step->carried[k].y;
			p->j2 = step->carried[k].z;
		}
	}
}

// Islands with joints are solved at once and leave the rest of the step.
static knStatus solveJointIslands(knImpulseStep* step) {
	const knStepContext* context = step->context;
	if (context->settings->articulation != KN_ARTICULATION_DIRECT) {
		return KN_OK;
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
	if (!knJointStep_Find(&step->jointStep, &input)) {
		return knImpulseStep_OutOfMemory(step);
	}
	recallSolved(step);
	if (!mixIslands(step) || !knJointStep_Solve(&step->jointStep, context->report)) {
		return knImpulseStep_OutOfMemory(step);
	}
	knImpulseStep_CountJointTime(step, start);
	return step->jointStep.taken != NULL ? knImpulseStep_ApplyForces(step) : KN_OK;
}

// The end of the step for them, and what they carried.
static void storeJointIslands(knImpulseStep* step) {
	knArticulationMemory* memory = knImpulseMemory_Joints(step->state);
	knJointStep_Store(&step->jointStep, step->state);
	for (int j = 0; step->jointStep.solved != NULL && j < knState_JointCount(step->model); ++j) {
		if (step->jointStep.solved[j]) {
			const knJoint* joint = knState_Joint(step->state, step->model, j);
			const knQuat axes = knMulQ(step->state->pose[joint->parent].q, joint->frameParent.q);
			memory[j] = (knArticulationMemory){
				.impulse = knInvRotateT(axes, knScaleT(step->h, step->state->joint[j].reaction)),
				.dt = step->h,
				.owner = step->state->joint[j].generation,
			};
			for (int r = 0; r < KN_JOINT_STEP_ROWS; ++r) {
				memory[j].solved[r] = step->jointStep.lambda[j * KN_JOINT_STEP_ROWS + r];
			}
		}
	}
}

knStatus knImpulseStep_BeginJoints(knImpulseStep* step) {
	if (!anyJoint(step)) {
		return KN_OK;
	}
	double start = knStepContext_Now(step->context);
	knArticulationInput input = { .model = step->model,
								  .state = step->state,
								  .blocks = &step->blocks,
								  .settings = step->context->settings,
								  .h = step->h,
								  .tasks = step->context->tasks,
								  .solved = step->jointStep.solved,
								  .memory = knImpulseMemory_Joints(step->state) };
	knArticulationSolve* solve = knArticulationSolve_Begin(&input, step->context->arena);
	if (solve == NULL) {
		return knImpulseStep_OutOfMemory(step);
	}
	step->joints = knArticulationSolve_JointCount(solve) > 0 ? solve : NULL;
	knImpulseStep_CountJointTime(step, start);
	return KN_OK;
}

// How each group of bodies is solved: by its size, or with velocities at the end of the step.
static bool findParts(knImpulseStep* step) {
	const int bodyCount = step->model->bodyCount;
	const int32_t* group = step->islands.group;
	int32_t* points = KN_SCRATCH_ZERO(step->context->arena, int32_t, bodyCount);
	uint8_t* whole = KN_SCRATCH_ZERO(step->context->arena, uint8_t, bodyCount);
	if (step->context->arena->failed) {
		return false;
	}
	for (int i = 0; i < step->pointCount; ++i) {
		points[knImpulseStep_GroupOf(step, &step->points[i])] += 1;
	}
	for (int b = 0; b < bodyCount; ++b) {
		if (group[b] >= 0) {
			bool flies = knFastBodies_Follows(&step->fast, b);
			whole[group[b]] |=
				step->islands.jointed[group[b]] || (flies && step->islands.linked[group[b]] != 0);
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
		chunk->stage = step->partOf[knImpulseStep_GroupOfBodies(step, chunk->a, chunk->b)];
	}
	return true;
}

static bool listGroups(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	int32_t* groupOf = KN_SCRATCH(arena, int32_t, step->pairCount);
	for (int i = 0; !arena->failed && i < step->pairCount; ++i) {
		groupOf[i] = knImpulseStep_GroupOfBodies(step, step->pairs[i].a, step->pairs[i].b);
	}
	return !arena->failed &&
		   knGroupOrder_Build(&step->groups, groupOf, step->pairCount, step->model->bodyCount, arena);
}

knStatus knImpulseStep_Begin(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	step->force = KN_SCRATCH(arena, knTwist, bodyCount);
	step->push = KN_SCRATCH_ZERO(arena, knTwist, bodyCount);
	step->start = KN_SCRATCH(arena, knFrame, bodyCount);
	step->partOf = KN_SCRATCH_ZERO(arena, int32_t, bodyCount);
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

// Contacts at the start poses, for velocities with and without this step's forces; joints, groups.
knStatus knImpulseStep_Prepare(knImpulseStep* step) {
	step->weights = knTimeStep_ChooseWeights(step->model, step->state, step->context->arena);
	if (step->weights == NULL) {
		return knImpulseStep_OutOfMemory(step);
	}
	knStatus status = knImpulseStep_Begin(step);
	KN_THEN(status, knImpulseContacts_Find(step));
	if (status == KN_OK && !(knImpulseContacts_DropPassing(step) && knContactSolve_Begin(step))) {
		status = knImpulseStep_OutOfMemory(step);
	}
	KN_THEN(status, knImpulseContacts_Reserve(step));
	KN_THEN(status, solveJointIslands(step));
	KN_THEN(status, knImpulseStep_BeginJoints(step));
	if (status == KN_OK && !(findIslands(step) && findParts(step) && listGroups(step))) {
		status = knImpulseStep_OutOfMemory(step);
	}
	return status;
}

// Velocities that the joints allow: all at once, then sweeps, which also mind limits, motors and friction.
static void postStabilize(knImpulseStep* step) {
	if (step->joints == NULL) {
		return;
	}
	double start = knStepContext_Now(step->context);
	knArticulationSolve_Settle(step->joints);
	for (int k = 0; k < VELOCITY_SWEEPS; ++k) {
		knPostStabilize_Sweep(step->joints, 1.0);
	}
	knImpulseStep_CountJointTime(step, start);
}

// Collisions see the velocities from before the forces.
static knStatus collide(knImpulseStep* step) {
	bool bounced = false;
	if (!knContactCollisions_Run(step, &bounced)) {
		return knImpulseStep_OutOfMemory(step);
	}
	if (bounced) {
		postStabilize(step);
		knStatus status = knImpulseStep_ApplyForces(step);
		if (status != KN_OK) {
			return status;
		}
		knContactCollisions_Hold(step);
	}
	return knContactSolve_Bounce(step) ? KN_OK : knImpulseStep_OutOfMemory(step);
}

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

// What the sweeps begin with: the impulses of the last step, velocities that the joints allow, the loads of piles. False when
// out of memory.
static bool beginContact(knImpulseStep* step, knJointContacts** pressed, knContactNncg** momentum) {
	step->change = KN_SCRATCH_ZERO(step->context->arena, double, step->model->bodyCount);
	if (step->change == NULL || !knImpulseStep_BeginGroups(step) || !knTimeStep_Land(&step->time) ||
		!knContactGroups_WarmStart(&step->known)) {
		return false;
	}
	knContactSweep_TakeOver(step);
	double start = knStepContext_Now(step->context);
	if (step->joints != NULL && !knJointContacts_Begin(step, pressed)) {
		return false;
	}
	knImpulseStep_CountJointTime(step, start);
	postStabilize(step);
	if (step->context->settings->shock != 0) {
		if (!knShockLoad_Run(&step->known)) {
			return false;
		}
		knContactSweep_TakeOver(step);
	}
	*momentum = knContactSweep_Begin(step)
					? knContactNncg_Begin(step, &step->set, KN_PART_END, 0, step->set.stageCount)
					: NULL;
	return *momentum != NULL;
}

// A light link that carries a heavy load needs contact and joints to pass it on many times; within a sweep they do so
// by the joints' velocities, which cost little, before pre-stabilization closes the joints.
static void runSweeps(knImpulseStep* step, knJointContacts* pressed, knContactNncg* momentum) {
	const int sweeps = knImpulseStep_Sweeps(step);
	const double weight = step->h * knLength(step->state->header->gravity), settled = SETTLED * weight;
	bool done = false, together = pressed != NULL; // something is left of what is solved with joints
	for (int k = 0; k < sweeps && !done; ++k) {
		double error = 0.0, change = knContactSweep_Run(step, momentum);
		for (int i = 0; step->joints != NULL && i < EXCHANGES && change > settled; ++i) {
			double start = knStepContext_Now(step->context);
			knPostStabilize_Sweep(step->joints, 1.0);
			knImpulseStep_CountJointTime(step, start);
			change = knContactSweep_Run(step, momentum);
		}
		double start = knStepContext_Now(step->context);
		together = together && knJointContacts_Round(pressed, GOOD * weight);
		if (step->joints != NULL) {
			error = knMax(error, knPreStabilize_Sweep(step->joints, 1.0));
		}
		knImpulseStep_CountJointTime(step, start);
		step->context->report->iterations += 1;
		done = change <= settled && error <= CLOSED && !together;
		if (!done && k + 1 < sweeps) {
			knContactNncg_After(momentum, step->blocks.u);
		}
	}
	knContactNncg_End(momentum);
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (step->partOf[b] == KN_PART_END && step->islands.group[b] == b) {
			step->change[b] = knContactNncg_LastChange(momentum, b);
		}
	}
	knContactSweep_Store(step, &step->set);
}

bool knImpulseStep_PropagateShock(knImpulseStep* step) {
	knShockPropagation shock = { .groups = &step->known, .friction = KN_SWEEP_CONE, .chosenSweeps = -1 };
	return knShockPropagation_Run(&shock);
}

static bool anyAtEnd(const knImpulseStep* step) {
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (step->partOf[b] == KN_PART_END) {
			return true;
		}
	}
	return false;
}

// What sweeps leave over: columns at once, then levels from the ground up.
static bool propagate(knImpulseStep* step) {
	if (step->context->settings->shock == 0) {
		knContactSolve_Sum(step);
		return true;
	}
	knTwist* before = KN_SCRATCH(step->context->arena, knTwist, step->model->bodyCount);
	if (before == NULL || !knContactGroups_Find(&step->known) || !knContactColumns_Run(&step->known)) {
		return false;
	}
	if (step->known.solved) {
		knContactSweep_TakeOver(step);
	}
	knContactSolve_Sum(step);
	for (int b = 0; b < step->model->bodyCount; ++b) {
		before[b] = step->blocks.u[b];
	}
	if (!knImpulseStep_PropagateShock(step)) {
		return false;
	}
	knTimeStep_AddChanges(&step->time, before);
	return true;
}

// Contact and joints: impulses accumulated over sweeps.
static knStatus contact(knImpulseStep* step) {
	knJointContacts* pressed = NULL;
	knContactNncg* momentum = NULL;
	if (!beginContact(step, &pressed, &momentum)) {
		return knImpulseStep_OutOfMemory(step);
	}
	if (anyAtEnd(step)) {
		runSweeps(step, pressed, momentum);
	}
	if (!knContactSolve_Run(step) || !propagate(step) || !knContactPush_Run(step)) {
		return knImpulseStep_OutOfMemory(step);
	}
	double start = knStepContext_Now(step->context);
	if (pressed != NULL) {
		knJointContacts_Push(pressed, GOOD * step->h * knLength(step->state->header->gravity));
	}
	knImpulseStep_CountJointTime(step, start);
	knContactPush_ReturnSpin(step);
	knContactCollisions_Land(step);
	step->blocks.push = step->push;
	return knContactSolve_Finish(step) ? KN_OK : knImpulseStep_OutOfMemory(step);
}

// What the step did, before bodies move.
static void report(knImpulseStep* step) {
	takeCarried(step);
	knStepReport* report = step->context->report;
	report->work += knStepBodies_DriveWork(&step->blocks, step->state) + knImpulseContacts_Collect(step);
	report->contacts = step->pointCount;
	report->rows = 3 * step->pointCount;
	// pairs tested one by one count as the queries that would have tested as many
	int pairs = step->pairCount > 0 ? step->pairCount : 1;
	report->queries += (int)((step->pairTests + pairs - 1) / pairs);
}

knStatus knImpulseStep_Move(knImpulseStep* step) {
	knStepContext* context = step->context;
	report(step);
	knFastMoveInput in = { .model = step->model,
						   .state = step->state,
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

// Gaps that are left in joints are closed at the end poses, then their velocities; velocities of loaded contacts.
static knStatus arrive(knImpulseStep* step) {
	knStepContext* context = step->context;
	if (step->joints != NULL) {
		double start = knStepContext_Now(context);
		knArticulationSolve_Enter(step->joints, KN_ARTICULATION_CORRECTION);
		knArticulationSolve_Settle(step->joints);
		knImpulseStep_CountJointTime(step, start);
		knArticulationSolve_Enter(step->joints, KN_ARTICULATION_ARRIVAL);
		postStabilize(step);
		context->report->work += knArticulationSolve_Finish(step->joints);
	}
	if (!knContactSolve_Settle(step)) {
		return knImpulseStep_OutOfMemory(step);
	}
	storeJointIslands(step);
	return KN_OK;
}

static knStatus stepDefault(knImpulseStep* step) {
	knStatus status = knImpulseStep_Prepare(step);

	// 1 collisions; 2 forces; after each the joints' velocities
	KN_THEN(status, collide(step));
	if (status == KN_OK && step->joints != NULL) {
		knArticulationSolve_Enter(step->joints, KN_ARTICULATION_DYNAMICS);
	}

	// 3 contact graph, contact and joints; 4 shock propagation; 5 joints alone
	KN_THEN(status, knContactLevels_Build(step));
	KN_THEN(status, contact(step));

	// 6 to 8 bodies move, then the joints' velocities again
	KN_THEN(status, knImpulseStep_Move(step));
	KN_THEN(status, arrive(step));
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
	// a first guess that most scenes stay below: four points a body
	return knImpulseMemory_Size(knArticulationMemory_Count(model), 4 * model->bodyCount);
}

const knStepperOps knImpulseStepper = {
	.name = "impulse",
	.help =
		"maximal coordinates; impulses at contact points over a contact graph, joints by pre-stabilization",
	.check = checkImpulse,
	.privateSize = privateSize,
	.step = stepImpulse,
	.migrate = knImpulseMemory_Migrate,
};
