// Pairs that fly past each other. A pair that moves far in the step, compared with its size, is looked at again where the bodies
// will be: faces extended in thought beyond their edges would stop what flies past.

#include "collide/pair.h"
#include "core/tasks.h"
#include "dynamics/collision_input.h"
#include "steppers/maximal/maximal_step.h"

enum { PAIR_GRAIN = 8, LEAST_LOOKS = 2, MOST_LOOKS = 16 }; // looks: along the way of a pair
#define FAR_MOTION 0.1 // of the smaller body's radius: predicted poses decide whether the pair meets

bool knMaximal_ListPairs(knMaximalStep* step) {
	const knContactRows* contacts = &step->contacts;
	step->pairs = KN_SCRATCH(step->context->arena, knShapePair, contacts->pointCount);
	step->pairCount = 0;
	knShapePair* pair = NULL;
	for (int k = 0; step->pairs != NULL && k < contacts->pointCount; ++k) {
		const knStepContact* contact = &contacts->contacts[contacts->anchors[k].contact];
		if (pair == NULL || pair->shapeA != contact->shapeA || pair->shapeB != contact->shapeB) {
			pair = &step->pairs[step->pairCount++];
			*pair = (knShapePair){ .shapeA = contact->shapeA,
								   .shapeB = contact->shapeB,
								   .a = step->model->shapes[contact->shapeA].body,
								   .b = step->model->shapes[contact->shapeB].body,
								   .first = k };
		}
		pair->count += 1;
	}
	return step->pairs != NULL;
}

// The velocity of a body after a blow.
static knTwist afterBlow(const knMaximalStep* step, int body) {
	return knMakeTwist(step->blocks.u[body].ang, step->input.struck[body]);
}

static bool isStruck(const knMaximalStep* step, int body) {
	return knDistance(step->input.struck[body], step->blocks.u[body].lin) > 0.0;
}

// The fastest that the two may go relative to each other at a point.
static double fastestAt(const knMaximalStep* step, const knShapePair* pair, const knSweepPoint* p) {
	const knTwist *a = &step->blocks.u[pair->a], *b = &step->blocks.u[pair->b];
	const knVec3 v = knSub(knAdd(b->lin, knCross(b->ang, p->rB)), knAdd(a->lin, knCross(a->ang, p->rA)));
	const knVec3 blowA = knSub(step->input.struck[pair->a], step->blocks.u[pair->a].lin);
	const knVec3 blowB = knSub(step->input.struck[pair->b], step->blocks.u[pair->b].lin);
	return knMax(knLength(v), knMax(knLength(knSub(v, blowA)), knLength(knAdd(v, blowB))));
}

static bool isFar(const knMaximalStep* step, const knShapePair* pair) {
	const double* radius = step->model->radius;
	bool movesA = step->blocks.invMass[pair->a] > 0.0, movesB = step->blocks.invMass[pair->b] > 0.0;
	double size =
		movesA && movesB ? knMin(radius[pair->a], radius[pair->b]) : radius[movesA ? pair->a : pair->b];
	bool open = true;
	double way = 0.0;
	for (int k = pair->first; k < pair->first + pair->count; ++k) {
		const knSweepPoint* p = &step->contacts.points[k];
		open = open && p->depth > 0.5 * knCollisionEnvelope(step->model, movesA ? pair->a : pair->b);
		way = knMax(way, step->h * fastestAt(step, pair, p));
	}
	return open && way > FAR_MOTION * size;
}

// How often to look along the way: between two looks the pair moves by less than the thinner body is wide. (0: a body
// without a bounded shape.)
static int looksAlong(const knMaximalStep* step, const knShapePair* pair, double way) {
	const double thinA = step->model->thinness[pair->a], thinB = step->model->thinness[pair->b];
	const double thin = thinA > 0.0 && thinB > 0.0 ? knMin(thinA, thinB) : knMax(thinA, thinB);
	if (!(way > LEAST_LOOKS * thin)) {
		return LEAST_LOOKS;
	}
	return way < MOST_LOOKS * thin ? (int)(way / thin) + 1 : MOST_LOOKS;
}

// Do the two meet if they go on like this?
static bool meetsWith(const knMaximalStep* step, const knShapePair* pair, knTwist uA, knTwist uB,
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

static bool meets(const knMaximalStep* step, const knShapePair* pair, int* tests) {
	const knTwist uA = step->blocks.u[pair->a], uB = step->blocks.u[pair->b];
	return meetsWith(step, pair, uA, uB, tests) ||
		   (isStruck(step, pair->a) && meetsWith(step, pair, afterBlow(step, pair->a), uB, tests)) ||
		   (isStruck(step, pair->b) && meetsWith(step, pair, uA, afterBlow(step, pair->b), tests));
}

typedef struct Passing {
	knMaximalStep* step;
	int* tests; // [pairCount]
} Passing;

static void dropPassing(int begin, int end, int worker, void* argument) {
	(void)worker;
	const Passing* passing = argument;
	const knMaximalStep* step = passing->step;
	for (int i = begin; i < end; ++i) {
		const knShapePair* pair = &step->pairs[i];
		passing->tests[i] = 0;
		if (!isFar(step, pair) || meets(step, pair, &passing->tests[i])) {
			continue;
		}
		for (int k = pair->first; k < pair->first + pair->count; ++k) {
			knSweepPoint* point = &step->contacts.points[k];
			point->bias = KN_ROW_OUT_OF_REACH;
			point->lambda[0] = point->lambda[1] = point->lambda[2] = 0.0;
			point->rolling = knZero3();
		}
	}
}

bool knMaximal_DropPassing(knMaximalStep* step) {
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
