// The contacts of a step: one query with margins that cover the motion, and at the end what each of them carried.
//
// A pair is looked for within half an envelope of each body plus the way each can go with or without this step's
// forces. A pair that moves far in the step, compared with its size, is looked at again where the bodies will be:
// faces extended in thought beyond their edges would stop what flies past.

#include "collide/pair.h"
#include "core/tasks.h"
#include "dynamics/collision_input.h"
#include "dynamics/step_memory.h"
#include "steppers/impulse/impulse_step.h"

#define PAIR_GRAIN 8
#define FAR_MOTION 0.1 // of the smaller body's radius: predicted poses decide whether the pair meets
#define LEAST_LOOKS 2  // along the way of such a pair
#define MOST_LOOKS 16

// --- the query -------------------------------------------------------------------------------------------

static knStatus askCollider(knImpulseStep* step, knContactSet* set) {
	knStepContext* context = step->context;
	double start = knStepContext_Now(context);
	knCollideInput input;
	knSearchMargins reach;
	if (!knSearchMargins_Make(&reach, step->model, &step->blocks, step->force, knZero3(), true,
							  context->arena) ||
		!knFastBodies_Find(&step->fast, step->model, step->state, &step->blocks, context->arena) ||
		!knCollisionInput_Make(&input, step->model, step->state, NULL, &context->tasks, context->arena)) {
		return knImpulseStep_OutOfMemory(step);
	}
	knStatus status = knFastBodies_Collide(&step->fast, step->model, &step->blocks, context->collider, &input,
										   &reach, set, context->arena, context->error);
	context->report->queries += 1;
	context->report->collideTime += knStepContext_Now(context) - start;
	// poses and margins were finite, so a body is where the collider's boxes are no longer
	return status == KN_BAD_DATA
			   ? knError_Set(context->error, KN_DIVERGED, "world", "a body is too far away to be collided")
			   : status;
}

// --- what flies past -------------------------------------------------------------------------------------

// The velocity of a body after a blow.
static knTwist afterBlow(const knImpulseStep* step, int body) {
	return knMakeTwist(step->blocks.u[body].ang, step->input.struck[body]);
}

static bool isStruck(const knImpulseStep* step, int body) {
	return knDistance(step->input.struck[body], step->blocks.u[body].lin) > 0.0;
}

// The fastest that the two may go relative to each other at a point.
static double fastestAt(const knImpulseStep* step, const knImpulsePair* pair, const knSweepPoint* p) {
	const knTwist *a = &step->blocks.u[pair->a], *b = &step->blocks.u[pair->b];
	const knVec3 v = knSub(knAdd(b->lin, knCross(b->ang, p->rB)), knAdd(a->lin, knCross(a->ang, p->rA)));
	const knVec3 blowA = knSub(step->input.struck[pair->a], step->blocks.u[pair->a].lin);
	const knVec3 blowB = knSub(step->input.struck[pair->b], step->blocks.u[pair->b].lin);
	return knMax(knLength(v), knMax(knLength(knSub(v, blowA)), knLength(knAdd(v, blowB))));
}

static bool isFar(const knImpulseStep* step, const knImpulsePair* pair) {
	const double* radius = step->model->radius;
	bool movesA = step->blocks.invMass[pair->a] > 0.0, movesB = step->blocks.invMass[pair->b] > 0.0;
	double size =
		movesA && movesB ? knMin(radius[pair->a], radius[pair->b]) : radius[movesA ? pair->a : pair->b];
	bool open = true;
	double way = 0.0;
	for (int k = pair->first; k < pair->first + pair->count; ++k) {
		const knSweepPoint* p = &step->list.points[k];
		open = open && p->depth > 0.5 * knCollisionEnvelope(step->model, movesA ? pair->a : pair->b);
		way = knMax(way, step->h * fastestAt(step, pair, p));
	}
	return open && way > FAR_MOTION * size;
}

// How often to look along the way: between two looks the pair moves by less than the thinner body is wide. (0: a body
// without a bounded shape.)
static int looksAlong(const knImpulseStep* step, const knImpulsePair* pair, double way) {
	const double thinA = step->model->thinness[pair->a], thinB = step->model->thinness[pair->b];
	const double thin = thinA > 0.0 && thinB > 0.0 ? knMin(thinA, thinB) : knMax(thinA, thinB);
	if (!(way > LEAST_LOOKS * thin)) {
		return LEAST_LOOKS;
	}
	return way < MOST_LOOKS * thin ? (int)(way / thin) + 1 : MOST_LOOKS;
}

// Do the two meet if they go on like this?
static bool meetsWith(const knImpulseStep* step, const knImpulsePair* pair, knTwist uA, knTwist uB,
					  int* tests) {
	const knModelShape *a = &step->model->shapes[pair->shapeA], *b = &step->model->shapes[pair->shapeB];
	const double margin =
		0.5 * (knCollisionEnvelope(step->model, pair->a) + knCollisionEnvelope(step->model, pair->b));
	const int looks = looksAlong(step, pair, step->h * knDistance(uA.lin, uB.lin));
	for (int look = 1; look <= looks; ++look) {
		const double t = step->h * look / looks;
		knFrame poseA = knMovePose(step->state->pose[pair->a], uA, t);
		knFrame poseB = knMovePose(step->state->pose[pair->b], uB, t);
		*tests += 1;
		if (knPair_Touches(a->geom, knMulF(poseA, a->local), b->geom, knMulF(poseB, b->local), margin)) {
			return true;
		}
	}
	return false;
}

static bool meets(const knImpulseStep* step, const knImpulsePair* pair, int* tests) {
	const knTwist uA = step->blocks.u[pair->a], uB = step->blocks.u[pair->b];
	return meetsWith(step, pair, uA, uB, tests) ||
		   (isStruck(step, pair->a) && meetsWith(step, pair, afterBlow(step, pair->a), uB, tests)) ||
		   (isStruck(step, pair->b) && meetsWith(step, pair, uA, afterBlow(step, pair->b), tests));
}

typedef struct Passing {
	knImpulseStep* step;
	int* tests; // [pairCount]
} Passing;

static void dropPassing(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Passing* passing = argument;
	const knImpulseStep* step = passing->step;
	for (int i = begin; i < end; ++i) {
		const knImpulsePair* pair = &step->pairs[i];
		passing->tests[i] = 0;
		if (!isFar(step, pair) || meets(step, pair, &passing->tests[i])) {
			continue;
		}
		for (int k = pair->first; k < pair->first + pair->count; ++k) {
			knSweepPoint* point = &step->list.points[k];
			point->bias = KN_ROW_OUT_OF_REACH;
			point->lambda[0] = point->lambda[1] = point->lambda[2] = 0.0;
			point->rolling = knZero3();
		}
	}
}

bool knImpulseContacts_DropPassing(knImpulseStep* step) {
	Passing passing = { step, KN_SCRATCH(step->context->arena, int, step->pairCount) };
	if (step->context->arena->failed) {
		return false;
	}
	knTasks_For(&step->context->tasks, step->pairCount, PAIR_GRAIN, dropPassing, &passing);
	for (int i = 0; i < step->pairCount; ++i) {
		step->pairTests += passing.tests[i];
	}
	return true;
}

// Points of the list by pairs of shapes.
static void listPairs(knImpulseStep* step) {
	knImpulsePair* pair = NULL;
	for (int k = 0; k < step->list.pointCount; ++k) {
		const knStepContact* contact = &step->list.contacts[step->list.anchors[k].contact];
		if (pair == NULL || pair->shapeA != contact->shapeA || pair->shapeB != contact->shapeB) {
			pair = &step->pairs[step->pairCount++];
			*pair = (knImpulsePair){ .shapeA = contact->shapeA,
									 .shapeB = contact->shapeB,
									 .a = step->model->shapes[contact->shapeA].body,
									 .b = step->model->shapes[contact->shapeB].body,
									 .first = k };
		}
		pair->count += 1;
	}
}

knStatus knImpulseContacts_Find(knImpulseStep* step, bool warm) {
	knArena* arena = step->context->arena;
	knContactSet set;
	knStatus status = askCollider(step, &set);
	if (status != KN_OK) {
		return status;
	}
	if (!knFastBodies_Filter(&step->fast, step->model, &step->blocks, &set, arena) ||
		!knSecondaryImpacts_Find(step, &set)) {
		return knImpulseStep_OutOfMemory(step);
	}
	const knStepMemory* memory = knStepMemory_Get(step->state);
	const knContactMemory* carried = knStepMemory_Contacts(step->state);
	step->input.impulseScale = memory->dt > 0.0 ? step->h / memory->dt : 0.0;
	step->pairs = KN_SCRATCH(arena, knImpulsePair, set.pairCount);
	if (arena->failed ||
		!knContactRows_List(&step->list, &step->input, &set, carried, memory->contactCount, arena)) {
		return knImpulseStep_OutOfMemory(step);
	}
	knContactRows_Fill(&step->list, &step->input, warm ? carried : NULL);
	listPairs(step);
	return KN_OK;
}

// --- the end of the step ---------------------------------------------------------------------------------

knStatus knImpulseContacts_Collect(knImpulseStep* step) {
	knStepContext* context = step->context;
	knState* state = step->state;
	knStepReport* report = context->report;
	const int rowMemories = knJointRows_MemoryCount(&step->swept.joints);
	if (!knStepMemory_Resize(state, step->model, step->h, step->list.pointCount,
							 rowMemories + knJointStep_MemoryCount(&step->jointStep), 0,
							 context->allocator)) {
		return knImpulseStep_OutOfMemory(step);
	}
	knContactRows_Collect(&step->list, &step->input, knStepMemory_Contacts(state));
	knJointSweeps_ReportBounces(&step->swept);
	report->work += knJointRows_Collect(&step->swept.joints, step->model, &step->blocks, &step->swept.rows,
										state, knStepMemory_Joints(state));
	knJointStep_Remember(&step->jointStep, knStepMemory_Joints(state), rowMemories);
	report->work += knStepBodies_DriveWork(&step->blocks, state) +
					knStepBodies_KinematicWork(&step->blocks, step->model, &step->swept.rows) +
					knContactRows_KinematicWork(&step->list, step->model, step->blocks.u);
	context->contacts = step->list.contacts;
	context->contactCount = step->list.count;
	report->contacts = step->list.pointCount;
	report->rows = step->swept.rows.count + step->list.rowCount;
	// pairs tested one by one count as the queries that would have tested as many
	int pairs = step->pairCount > 0 ? step->pairCount : 1;
	report->queries += (step->pairTests + pairs - 1) / pairs;
	return KN_OK;
}
