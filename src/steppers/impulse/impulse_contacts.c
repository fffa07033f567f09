// The contacts of a step: one query with margins that cover the motion, points with their collision matrices, and
// at the end what each of them carried.
//
// A pair is looked for within half an envelope of each body plus the way each can go with or without this step's
// forces. A pair that moves far in the step, compared with its size, is looked at again where the bodies will be:
// faces extended in thought beyond their edges would stop what flies past.

#include "collide/pair.h"
#include "core/tasks.h"
#include "dynamics/collision_input.h"
#include "steppers/impulse/impulse_memory.h"
#include "steppers/impulse/impulse_step.h"

#define POINT_GRAIN 64
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

// --- points ----------------------------------------------------------------------------------------------

double knImpulseStep_Envelope(const knImpulseStep* step, int a, int b) {
	double envelopeA = knCollisionEnvelope(step->model, a), envelopeB = knCollisionEnvelope(step->model, b);
	bool movesA = step->model->invMass[a] > 0.0, movesB = step->model->invMass[b] > 0.0;
	if (movesA && movesB) {
		return knMin(envelopeA, envelopeB);
	}
	return movesA ? envelopeA : envelopeB;
}

// The stepper's view of a point of the list.
static void takePoint(const knImpulseStep* step, int i) {
	const knSweepPoint* from = &step->list.points[i];
	knImpulsePoint* p = &step->points[i];
	p->n = from->n;
	p->t1 = from->t1;
	p->t2 = from->t2;
	p->rA = from->rA;
	p->rB = from->rB;
	p->gap = from->depth;
	p->target = from->bias < KN_ROW_OUT_OF_REACH ? -from->bias : -(double)INFINITY;
	p->mu = from->mu;
	p->jn = from->lambda[0];
	p->j1 = from->lambda[1];
	p->j2 = from->lambda[2];
	if (p->turn >= 0) {
		step->turns[p->turn].g = from->rolling;
	}
}

static void takePoints(int begin, int end, int worker, void* argument) {
	(void)worker;
	const knImpulseStep* step = argument;
	for (int i = begin; i < end; ++i) {
		takePoint(step, i);
	}
}

void knImpulseContacts_Take(knImpulseStep* step) {
	knTasks_For(&step->context->tasks, step->pointCount, POINT_GRAIN, takePoints, step);
}

// The arm of rolling friction, m: the larger of the two.
static double rollingArm(const knImpulseStep* step, const knImpulsePair* pair) {
	const knModelShape* shapes = step->model->shapes;
	double own = knMax(shapes[pair->shapeA].rollingFriction, shapes[pair->shapeB].rollingFriction);
	return step->input.rolling >= 0.0 ? step->input.rolling : own;
}

static knImpulsePair makePair(const knImpulseStep* step, const knStepContact* contact) {
	const knModel* model = step->model;
	const knModelShape *a = &model->shapes[contact->shapeA], *b = &model->shapes[contact->shapeB];
	return (knImpulsePair){ .shapeA = contact->shapeA,
							.shapeB = contact->shapeB,
							.a = a->body,
							.b = b->body,
							.first = step->pointCount,
							.e = knCombine_Apply(model->restitutionCombine, a->restitution, b->restitution) };
}

// Pairs and points in the order of the list.
static void listPairs(knImpulseStep* step) {
	knImpulsePair* pair = NULL;
	double arm = 0.0;
	for (int i = 0; i < step->list.pointCount; ++i) {
		int k = step->list.anchors[i].contact;
		const knStepContact* contact = &step->list.contacts[k];
		if (pair == NULL || pair->shapeA != contact->shapeA || pair->shapeB != contact->shapeB) {
			pair = &step->pairs[step->pairCount++];
			*pair = makePair(step, contact);
			arm = rollingArm(step, pair);
		}
		int turn = arm > 0.0 ? step->turnCount++ : -1;
		if (turn >= 0) {
			step->turns[turn] = (knImpulseTurn){ .arm = arm };
		}
		step->points[step->pointCount++] =
			(knImpulsePoint){ .a = pair->a, .b = pair->b, .contact = k, .turn = turn };
		pair->count += 1;
	}
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
static double fastestAt(const knImpulseStep* step, const knImpulsePoint* p) {
	const knVec3 v = knImpulsePoint_Velocity(p, step->blocks.u);
	const knVec3 blowA = knSub(step->input.struck[p->a], step->blocks.u[p->a].lin);
	const knVec3 blowB = knSub(step->input.struck[p->b], step->blocks.u[p->b].lin);
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
		const knImpulsePoint* p = &step->points[k];
		open = open && p->gap > 0.5 * knCollisionEnvelope(step->model, movesA ? pair->a : pair->b);
		way = knMax(way, step->h * fastestAt(step, p));
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
			takePoint(step, k);
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

knStatus knImpulseContacts_Find(knImpulseStep* step) {
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
	knImpulseMemory memory = knImpulseMemory_Get(step->state);
	step->input.impulseScale = memory.dt > 0.0 ? step->h / memory.dt : 0.0;
	if (!knContactRows_List(&step->list, &step->input, &set, knImpulseMemory_Contacts(step->state),
							memory.contactCount, arena)) {
		return knImpulseStep_OutOfMemory(step);
	}
	step->points = KN_SCRATCH(arena, knImpulsePoint, step->list.pointCount);
	step->turns = KN_SCRATCH(arena, knImpulseTurn, step->list.pointCount);
	step->pairs = KN_SCRATCH(arena, knImpulsePair, set.pairCount);
	if (arena->failed) {
		return knImpulseStep_OutOfMemory(step);
	}
	knContactRows_Fill(&step->list, &step->input, knImpulseMemory_Contacts(step->state));
	listPairs(step);
	knImpulseContacts_Take(step);
	return KN_OK;
}

// --- the end of the step ---------------------------------------------------------------------------------

knStatus knImpulseContacts_Reserve(knImpulseStep* step) {
	bool done =
		knImpulseMemory_Resize(step->state, step->model, step->h, step->pointCount, step->context->allocator);
	return done ? KN_OK : knImpulseStep_OutOfMemory(step);
}

double knImpulseContacts_Collect(knImpulseStep* step) {
	knContactSweep_HandOver(step);
	knContactRows_Collect(&step->list, &step->input, knImpulseMemory_Contacts(step->state));
	for (int i = 0; step->bounces != NULL && i < step->pointCount; ++i) {
		knVec3* impulse = &step->list.contacts[step->points[i].contact].impulse;
		*impulse = knAdd(*impulse, step->bounces[i].impulse);
	}
	step->context->contacts = step->list.contacts;
	step->context->contactCount = step->list.count;
	return knContactRows_KinematicWork(&step->list, step->model, step->blocks.u);
}
