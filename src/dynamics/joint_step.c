// Islands of joints without contact: found by union of the bodies that joints and contacts connect, solved in parallel.

#include "dynamics/joint_step.h"

#include <string.h>

#include "core/tasks.h"

#define ROWS_TURN 0.5      // rad a step
#define CLEAR_OVERLAP 1e-7 // m: points that end no deeper do not touch
#define MIXED_PRODUCTS                                                                                       \
	4000000 // block products of a factorisation, 0.2 s: denser islands are left to the stepper

// Marks, by their group, islands with reach cones: the nearest side is one row, which cannot hold a limb in a corner.
static void markReaches(const knJointStepInput* in, const int32_t* group, uint8_t* marks) {
	for (int j = 0; j < knState_JointCount(in->model); ++j) {
		const knJoint* joint = knState_Joint(in->state, in->model, j);
		if (knJointRows_TakesPart(in->model, in->state, j) && joint->reachCount > 0) {
			const int32_t a = group[joint->parent];
			marks[a >= 0 ? a : group[joint->child]] = 1;
		}
	}
}

// Likewise islands that may bounce, by their own shapes or those that do not move: blows pass from body to body one after the
// other, in a phase of the stepper, which keeps these islands whether something touches them or not. Rows do not follow what turns
// fast, which is therefore not left to them. False: no memory.
static bool markBouncing(const knJointStepInput* in, const int32_t* group, uint8_t* marks) {
	const knModel* model = in->model;
	uint8_t* fast = KN_SCRATCH_ZERO(in->arena, uint8_t, model->bodyCount);
	if (fast == NULL) {
		return false;
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		if (group[b] >= 0 && knLength(in->state->velocity[b].ang) * in->h > ROWS_TURN) {
			fast[group[b]] = 1;
		}
	}
	bool ground = false;
	for (int i = 0; i < model->shapeCount; ++i) {
		const knModelShape* shape = &model->shapes[i];
		const int32_t own = group[shape->body];
		if (shape->restitution > 0.0 && own >= 0 && !fast[own]) {
			marks[own] = 1;
		}
		ground = ground || (shape->restitution > 0.0 && in->invMass[shape->body] <= 0.0);
	}
	for (int b = 0; ground && b < model->bodyCount; ++b) {
		marks[b] |= !fast[b];
	}
	return true;
}

// Active joints that can do something; their islands, and whether anything touches these.
static bool listJoints(knJointStep* step, int* index, int32_t* groupOf, int* count) {
	const knJointStepInput* in = &step->in;
	knArena* arena = in->arena;
	const int indices = knState_JointCount(in->model), bodyCount = in->model->bodyCount;
	knJointEdge* edges = KN_SCRATCH(arena, knJointEdge, indices);
	uint8_t* touched = KN_SCRATCH_ZERO(arena, uint8_t, bodyCount);
	knIslands islands;
	if (arena->failed) {
		return false;
	}
	const int edgeCount = knJointRows_ListEdges(in->model, in->state, edges);
	if (!knIslands_Build(&islands, bodyCount, in->invMass, in->chunks, in->chunkCount, edges, edgeCount,
						 arena)) {
		return false;
	}
	for (int i = 0; i < in->chunkCount; ++i) {
		const int32_t a = islands.group[in->chunks[i].a];
		touched[a >= 0 ? a : islands.group[in->chunks[i].b]] = 1;
	}
	markReaches(in, islands.group, touched);
	if (!markBouncing(in, islands.group, touched)) {
		return false;
	}
	*count = 0;
	for (int j = 0; j < indices; ++j) {
		if (!knJointRows_TakesPart(in->model, in->state, j)) {
			continue;
		}
		const knJoint* joint = knState_Joint(in->state, in->model, j);
		const int32_t a = islands.group[joint->parent], group = a >= 0 ? a : islands.group[joint->child];
		if (!touched[group]) {
			index[*count] = j;
			groupOf[(*count)++] = group;
		}
	}
	return true;
}

bool knJointStep_Find(knJointStep* step, const knJointStepInput* input) {
	*step = (knJointStep){ .in = *input };
	knArena* arena = input->arena;
	const int indices = knState_JointCount(input->model);
	int* index = KN_SCRATCH(arena, int, indices);
	int32_t* groupOf = KN_SCRATCH(arena, int32_t, indices);
	int count = 0;
	if (arena->failed || (indices > 0 && !listJoints(step, index, groupOf, &count))) {
		return false;
	}
	if (indices == 0) {
		return true;
	}
	knJointIslands_BeginStep(input->islands);
	step->solved = KN_SCRATCH_ZERO(arena, uint8_t, indices);
	step->taken = KN_SCRATCH_ZERO(arena, uint8_t, input->model->bodyCount);
	step->joints = KN_SCRATCH(arena, int, count);
	step->lambda = KN_SCRATCH_ZERO(arena, double, indices* KN_JOINT_STEP_ROWS);
	if (arena->failed || !knGroupOrder_Build(&step->order, groupOf, count, input->model->bodyCount, arena)) {
		return false;
	}
	step->count = step->order.count;
	for (int i = 0; i < count; ++i) {
		const int j = step->joints[i] = index[step->order.items[i]];
		const knJoint* joint = knState_Joint(input->state, input->model, j);
		step->solved[j] = 1;
		step->taken[joint->parent] = input->invMass[joint->parent] > 0.0;
		step->taken[joint->child] = input->invMass[joint->child] > 0.0;
	}
	return true;
}

// --- solving -------------------------------------------------------------------------------------------------------

static bool isAsleep(const knJointStep* step, int i) {
	if (step->in.asleep == NULL) {
		return false;
	}
	const knJoint* joint = knState_Joint(step->in.state, step->in.model, step->joints[step->order.first[i]]);
	return step->in.asleep[joint->parent] || step->in.asleep[joint->child];
}

static bool makeIslands(knJointStep* step) {
	const knJointStepInput* in = &step->in;
	int* local = KN_SCRATCH(in->arena, int, in->model->bodyCount);
	step->islands = KN_SCRATCH_ZERO(in->arena, knJointIsland*, step->count);
	if (in->arena->failed) {
		return false;
	}
	for (int b = 0; b < in->model->bodyCount; ++b) {
		local[b] = -1;
	}
	for (int i = 0; i < step->count; ++i) {
		const int first = step->order.first[i], count = step->order.first[i + 1] - first;
		if (isAsleep(step, i)) {
			continue;
		}
		knJointIslandInput input = { .model = in->model,
									 .state = in->state,
									 .h = in->h,
									 .joints = step->joints + first,
									 .jointCount = count,
									 .local = local };
		step->islands[i] = knJointIsland_Make(in->islands, &input, in->arena);
		if (step->islands[i] == NULL) {
			return false;
		}
		for (int k = 0; k < count; ++k) {
			knJointIsland_Guess(step->islands[i], k,
								step->lambda + step->joints[first + k] * KN_JOINT_STEP_ROWS, 1.0);
		}
	}
	return true;
}

static void solveRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const knJointStep* step = argument;
	for (int i = begin; i < end; ++i) {
		if (step->islands[i] == NULL) {
			continue;
		}
		knJointIsland_Solve(step->islands[i]);
		for (int k = step->order.first[i]; k < step->order.first[i + 1]; ++k) {
			knJointIsland_Impulses(step->islands[i], k - step->order.first[i],
								   step->lambda + step->joints[k] * KN_JOINT_STEP_ROWS);
		}
	}
}

static const char* jointName(const knModel* model, int joint) {
	if (joint < 0 || joint >= model->jointCount) {
		return "attached";
	}
	const knJointDef* def = knScene_GetJoint(model->scene, knModel_JointId(model, joint));
	return def != NULL && def->name != NULL ? def->name : "unnamed";
}

static void addReport(const knJointStep* step, const knJointIslandReport* from, knStepReport* to) {
	to->iterations += from->iterations;
	to->jointGap = knMax(to->jointGap, from->gap);
	to->jointRung = (int)from->rung > to->jointRung ? (int)from->rung : to->jointRung;
	to->jointSubSteps += from->subSteps > 1 ? from->subSteps : 0;
	to->jointConflicts += from->conflicts;
	to->projected += from->taken;
	to->work += from->work;
	if (from->conflicts > 0) {
		knLog_Write(step->in.log, KN_LOG_INFO,
					"%d joints of an island cannot all be closed: '%s' is open by %.3g m", from->conflicts,
					jointName(step->in.model, from->worstJoint), from->gap);
	} else if (from->rung == KN_RUNG_HELD) {
		knLog_Write(step->in.log, KN_LOG_INFO, "an island of joints stood still: its step did not converge");
	}
}

bool knJointStep_Solve(knJointStep* step, knStepReport* report) {
	if (step->count == 0) {
		return true;
	}
	if (!makeIslands(step)) {
		return false;
	}
	knTasks_For(&step->in.tasks, step->count, 1, solveRange, step);
	for (int i = 0; i < step->count; ++i) {
		if (step->islands[i] != NULL) {
			addReport(step, knJointIsland_Report(step->islands[i]), report);
		}
	}
	return true;
}

// --- islands with contacts -----------------------------------------------------------------------------------------

// Bodies that stay with the stepper and have no joint: what they touch goes on without them.
static void findAlone(const knJointStep* step, const uint8_t* left, uint8_t* alone) {
	const knModel* model = step->in.model;
	memcpy(alone, left, (size_t)model->bodyCount);
	for (int j = 0; j < knState_JointCount(model); ++j) {
		if (knJointRows_TakesPart(model, step->in.state, j)) {
			const knJoint* joint = knState_Joint(step->in.state, model, j);
			alone[joint->parent] = alone[joint->child] = 0;
		}
	}
}

// Islands as they are without these bodies; where there are none, those of the stepper. False: no memory.
static bool buildIslands(const knJointStep* step, const knJointMixInput* input, const uint8_t* alone,
						 knIslands* islands) {
	const knJointStepInput* in = &step->in;
	const knContactRows* contacts = input->contacts;
	knSweepChunk* chunks = KN_SCRATCH(in->arena, knSweepChunk, contacts->chunkCount);
	knJointEdge* edges = KN_SCRATCH(in->arena, knJointEdge, knState_JointCount(in->model));
	if (in->arena->failed) {
		return false;
	}
	int count = 0;
	*islands = *input->islands;
	for (int c = 0; c < contacts->chunkCount; ++c) {
		const knSweepChunk* chunk = &contacts->chunks[c];
		if (!alone[chunk->a] && !alone[chunk->b]) {
			chunks[count++] = *chunk;
		}
	}
	if (count == contacts->chunkCount) {
		return true;
	}
	const int edgeCount = knJointRows_ListEdges(in->model, in->state, edges);
	return knIslands_Build(islands, in->model->bodyCount, in->invMass, chunks, count, edges, edgeCount,
						   in->arena);
}

// Islands with joints and contacts that may be solved here, as groups that have joints. False: no memory.
static bool chooseMixed(const knJointStep* step, const knJointMixInput* input, const uint8_t* alone,
						knIslands* chosen) {
	const int bodyCount = step->in.model->bodyCount;
	uint8_t* jointed = KN_SCRATCH_ZERO(step->in.arena, uint8_t, bodyCount);
	uint8_t* left = KN_SCRATCH_ZERO(step->in.arena, uint8_t, bodyCount);
	if (jointed == NULL || left == NULL || !buildIslands(step, input, alone, chosen) ||
		!markBouncing(&step->in, chosen->group, left)) {
		return false;
	}
	markReaches(&step->in, chosen->group, left);
	for (int pass = 0; pass < 2; ++pass) {
		for (int k = 0; k < input->contacts->pointCount; ++k) {
			const knContactAnchor* anchor = &input->contacts->anchors[k];
			const int32_t a = chosen->group[anchor->bodyA];
			const int32_t group = a >= 0 ? a : chosen->group[anchor->bodyB];
			if (alone[anchor->bodyA] || alone[anchor->bodyB]) {
				continue;
			}
			if (pass == 0) {
				jointed[group] |= chosen->jointed[group] && !left[group];
			} else if (input->contacts->points[k].arm > 0.0) {
				jointed[group] = 0; // rolling resistance has no rows there
			}
		}
	}
	for (int b = 0; b < bodyCount; ++b) {
		if (input->left[b] && chosen->group[b] >= 0) {
			jointed[chosen->group[b]] = 0;
		}
	}
	chosen->jointed = jointed;
	return true;
}

static void takeMixed(knJointStep* step, const knMixedIsland* island) {
	for (int i = 0; i < island->bodyCount; ++i) {
		step->mixed[island->bodies[i]] = step->taken[island->bodies[i]] = 1;
	}
	for (int i = 0; i < island->jointCount; ++i) {
		step->solved[island->joints[i]] = 1;
	}
}

// Whether nothing of an island carries a load yet, and all of it hangs on joints.
static bool mayBeClear(const knMixedIsland* island, const knContactRows* contacts) {
	bool clear = island->jointCount > 0;
	for (int i = 0; i < island->pointCount; ++i) {
		clear = clear && !(contacts->points[island->points[i]].lambda[0] > 0.0);
	}
	return clear;
}

// m, the deepest overlap of an island's points at the end of the step.
static double deepestOverlap(const knJointStep* step, const knMixedIsland* island,
							 const knContactRows* contacts, const knFrame* pose) {
	const knFrame* start = step->in.state->pose;
	double deepest = 0.0;
	for (int i = 0; i < island->pointCount; ++i) {
		const int k = island->points[i];
		const knContactAnchor* anchor = &contacts->anchors[k];
		const int a = anchor->bodyA, b = anchor->bodyB;
		const knVec3 onA = knRotate(pose[a].q, knInvRotate(start[a].q, anchor->onA));
		const knVec3 onB = knRotate(pose[b].q, knInvRotate(start[b].q, anchor->onB));
		const knVec3 apart = knSub(knAdd(pose[b].p, onB), knAdd(pose[a].p, onA));
		deepest = knMax(deepest, -knDot(contacts->points[k].n, apart));
	}
	return deepest;
}

// Whether Newton's answer is as good as the rounds'. A damped one does not keep the angular momentum of a free island.
static bool isGood(const knJointStep* step, const knMixedIsland* island, knJointRung rung) {
	bool hangs = false;
	for (int i = 0; i < island->jointCount; ++i) {
		const knJoint* joint = knState_Joint(step->in.state, step->in.model, island->joints[i]);
		hangs = hangs || step->in.invMass[joint->parent] <= 0.0 || step->in.invMass[joint->child] <= 0.0;
	}
	return rung <= KN_RUNG_HALVED && (hangs || rung != KN_RUNG_DAMPED);
}

// An island whose contacts are near but do not touch in this step is one of joints alone, which Newton's method solves better.
// Sets *clear; false: no memory.
static bool solveClear(knJointStep* step, const knMixedIsland* island, const knContactRows* contacts,
					   int* local, bool* clear) {
	const knJointStepInput* in = &step->in;
	*clear = false;
	if (!mayBeClear(island, contacts)) {
		return true;
	}
	knJointIslandInput input = { .model = in->model,
								 .state = in->state,
								 .h = in->h,
								 .joints = island->joints,
								 .jointCount = island->jointCount,
								 .local = local };
	knJointIsland* alone = knJointIsland_Make(in->islands, &input, in->arena);
	if (alone == NULL) {
		return false;
	}
	for (int k = 0; k < island->jointCount; ++k) {
		knJointIsland_Guess(alone, k, step->lambda + island->joints[k] * KN_JOINT_STEP_ROWS, 1.0);
	}
	const knJointIslandReport* report = knJointIsland_Solve(alone);
	*clear = isGood(step, island, report->rung) &&
			 knJointIsland_Poses(alone, step->pose) == island->bodyCount &&
			 deepestOverlap(step, island, contacts, step->pose) <= CLEAR_OVERLAP;
	if (*clear) {
		step->clear[step->clearCount++] = alone;
		for (int k = 0; k < island->jointCount; ++k) {
			knJointIsland_Impulses(alone, k, step->lambda + island->joints[k] * KN_JOINT_STEP_ROWS);
		}
	}
	return true;
}

static void addMixedReport(const knMixedStepResult* from, knStepReport* to) {
	to->iterations += from->rounds;
	to->jointGap = knMax(to->jointGap, from->gap);
	to->jointRung = (int)from->rung > to->jointRung ? (int)from->rung : to->jointRung;
	to->guarded = to->guarded || from->guarded;
	to->projected += from->taken;
	to->work += from->work;
}

bool knJointStep_Mix(knJointStep* step, const knJointMixInput* input, knStepReport* report) {
	const knJointStepInput* in = &step->in;
	knArena* arena = in->arena;
	knIslands chosen;
	knMixedIslands islands;
	if (step->solved == NULL || input->contacts->pointCount == 0) {
		return true;
	}
	uint8_t* alone = KN_SCRATCH(arena, uint8_t, in->model->bodyCount);
	if (alone == NULL) {
		return false;
	}
	findAlone(step, input->left, alone);
	if (!chooseMixed(step, input, alone, &chosen)) {
		return false;
	}
	knMixedIslandsInput list = { .model = in->model,
								 .state = in->state,
								 .islands = &chosen,
								 .contacts = input->contacts,
								 .alone = alone,
								 .rowsOfJoint = KN_MIXED_JOINT_ROWS };
	if (!knMixedIslands_Build(&islands, &list, arena)) {
		return false;
	}
	const int joints = knState_JointCount(in->model), bodyCount = in->model->bodyCount;
	step->mixed = KN_SCRATCH_ZERO(arena, uint8_t, bodyCount);
	step->pose = KN_SCRATCH(arena, knFrame, bodyCount);
	step->velocity = KN_SCRATCH(arena, knTwist, bodyCount);
	step->impulses = KN_SCRATCH(arena, knTwist, joints);
	if (arena->failed) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		step->pose[b] = in->state->pose[b];
		step->velocity[b] = in->state->velocity[b];
	}
	knMixedStepInput mixed = { .model = in->model,
							   .state = in->state,
							   .islands = &islands,
							   .restitution = input->restitution,
							   .h = in->h,
							   .contacts = input->contacts,
							   .lambda = step->lambda,
							   .pose = step->pose,
							   .velocity = step->velocity,
							   .reactions = step->impulses };
	step->clear = KN_SCRATCH(arena, knJointIsland*, islands.count);
	int* local = KN_SCRATCH(arena, int, bodyCount);
	if (arena->failed) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		local[b] = -1;
		if (in->model->bodyKind[b] == KN_BODY_KINEMATIC) {
			step->pose[b] = knMovePose(in->state->pose[b], in->state->velocity[b], in->h);
		}
	}
	for (int k = 0; k < islands.count; ++k) {
		knMixedStepResult result;
		bool clear;
		if (!solveClear(step, &islands.items[k], input->contacts, local, &clear)) {
			return false;
		}
		if (clear) {
			takeMixed(step, &islands.items[k]);
			addReport(step, knJointIsland_Report(step->clear[step->clearCount - 1]), report);
			continue;
		}
		if (islands.items[k].problem.matrix.products > MIXED_PRODUCTS) {
			continue;
		}
		if (!knMixedStep_Run(&mixed, &islands.items[k], &result, arena)) {
			return false;
		}
		takeMixed(step, &islands.items[k]);
		addMixedReport(&result, report);
	}
	return true;
}

static void storeMixed(const knJointStep* step, knState* state) {
	const knModel* model = step->in.model;
	for (int b = 0; b < model->bodyCount; ++b) {
		if (step->mixed[b]) {
			state->pose[b] = step->pose[b];
			state->velocity[b] = step->velocity[b];
		}
	}
	for (int j = 0; j < knState_JointCount(model); ++j) {
		if (step->solved[j]) {
			const knJoint* joint = knState_Joint(state, model, j);
			if (step->mixed[joint->parent] || step->mixed[joint->child]) {
				state->joint[j].reaction = knScaleT(1.0 / step->in.h, step->impulses[j]);
			}
		}
	}
}

// --- memory ----------------------------------------------------------------------------------------------------------

void knJointStep_Recall(knJointStep* step, const knJointMemory* memory, int count, double scale) {
	for (int i = 0; step->solved != NULL && i < count; ++i) {
		const knJointMemory* item = &memory[i];
		const int row = item->part - KN_PART_SOLVED;
		// a damaged snapshot may name any joint
		if (row < 0 || row >= KN_JOINT_STEP_ROWS || item->joint < 0 ||
			item->joint >= knState_JointCount(step->in.model)) {
			continue;
		}
		if (item->generation == (uint16_t)step->in.state->joint[item->joint].generation) {
			step->lambda[item->joint * KN_JOINT_STEP_ROWS + row] = scale * item->impulse;
		}
	}
}

static int rowsOf(const knJointStep* step, int joint) {
	return step->solved[joint] ? knEquationJoint_RowCount(step->in.model, step->in.state, joint) : 0;
}

int knJointStep_MemoryCount(const knJointStep* step) {
	int count = 0;
	for (int j = 0; step->solved != NULL && j < knState_JointCount(step->in.model); ++j) {
		count += rowsOf(step, j);
	}
	return count;
}

void knJointStep_Remember(const knJointStep* step, knJointMemory* memory, int count) {
	if (step->solved == NULL) {
		return;
	}
	int at = count + knJointStep_MemoryCount(step);
	for (int j = knState_JointCount(step->in.model) - 1; j >= 0; --j) {
		// from the end on, so that nothing is overwritten before it has moved
		for (; count > 0 && memory[count - 1].joint > j; --count) {
			memory[--at] = memory[count - 1];
		}
		for (int r = rowsOf(step, j) - 1; r >= 0; --r) {
			memory[--at] = (knJointMemory){ .joint = j,
											.part = (int16_t)(KN_PART_SOLVED + r),
											.generation = (uint16_t)step->in.state->joint[j].generation,
											.impulse = step->lambda[j * KN_JOINT_STEP_ROWS + r] };
		}
	}
}

void knJointStep_Store(const knJointStep* step, knState* state) {
	if (step->mixed != NULL) {
		storeMixed(step, state);
	}
	for (int i = 0; i < step->clearCount; ++i) {
		knJointIsland_Store(step->clear[i], state);
	}
	for (int i = 0; i < step->count; ++i) {
		if (step->islands[i] != NULL) {
			knJointIsland_Store(step->islands[i], state);
		}
	}
}
