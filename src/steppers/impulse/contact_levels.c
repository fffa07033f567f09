// Levels of the contact graph for a step, and the pairs sorted by level.
//
// A body rests on another if, moved alone with its new velocity while the other goes on with its old one, it runs
// into it (Guendelman et al. 2003, 8.1). Going on with the old velocity, instead of staying, keeps the order of a
// stack that moves as a whole. This is asked of the contact points, to first order; an overlap that
// is already there says nothing about who supports whom and is left out of it, and so is a speed at which two bodies
// meet, which would make each rest on the other: the forces must push a body onto its support. (The published scheme
// asks the collider, one body moved at a time.)

#include "core/tasks.h"
#include "steppers/impulse/impulse_step.h"

#define PAIR_GRAIN 32
#define LEAST_LEAN 0.02 // a support must take at least this share of the push of this step's forces

static knTwist oldVelocity(const knImpulseStep* step, int body) {
	return knImpulseStep_OldVelocity(step, body);
}

// m, by which a point closes when A and B move with the given velocities; negative: they run into each other.
static double closing(const knImpulseStep* step, const knImpulsePoint* p, knTwist uA, knTwist uB) {
	knVec3 vA = knAdd(uA.lin, knCross(uA.ang, p->rA)), vB = knAdd(uB.lin, knCross(uB.ang, p->rB));
	return knMax(p->gap, 0.0) + step->h * knDot(p->n, knSub(vB, vA));
}

// The forces of this step push `body` along `direction`, by more than a trace.
static bool leans(const knImpulseStep* step, int body, knVec3 r, knVec3 direction) {
	const knTwist* force = &step->force[body];
	double along = knDot(direction, knAdd(force->lin, knCross(force->ang, r)));
	return along > LEAST_LEAN * knLength(force->lin);
}

// Which of a pair bears the other.
enum { A_BEARS_B = 1, B_BEARS_A = 2 };

typedef struct LookTask {
	const knImpulseStep* step;
	uint8_t* bears; // [pairCount]
} LookTask;

static void lookAtPairs(int begin, int end, int worker, void* argument) {
	(void)worker;
	const LookTask* task = argument;
	const knImpulseStep* step = task->step;
	for (int i = begin; i < end; ++i) {
		const knImpulsePair* pair = &step->pairs[i];
		bool aOnB = false, bOnA = false;
		for (int k = pair->first; k < pair->first + pair->count; ++k) {
			const knImpulsePoint* p = &step->points[k];
			knTwist uA = step->blocks.u[p->a], uB = step->blocks.u[p->b];
			bOnA = bOnA || (leans(step, p->b, p->rB, knNeg(p->n)) &&
							closing(step, p, oldVelocity(step, p->a), uB) < 0.0);
			aOnB = aOnB ||
				   (leans(step, p->a, p->rA, p->n) && closing(step, p, uA, oldVelocity(step, p->b)) < 0.0);
		}
		task->bears[i] = (uint8_t)((bOnA ? A_BEARS_B : 0) | (aOnB ? B_BEARS_A : 0));
	}
}

static bool addEdges(knImpulseStep* step, knSupportEdges* edges) {
	LookTask task = { step, KN_SCRATCH(step->context->arena, uint8_t, step->pairCount) };
	if (step->context->arena->failed) {
		return false;
	}
	knTasks_For(&step->context->tasks, step->pairCount, PAIR_GRAIN, lookAtPairs, &task);
	for (int i = 0; i < step->pairCount; ++i) {
		const knImpulsePair* pair = &step->pairs[i];
		if ((task.bears[i] & A_BEARS_B) != 0) {
			knSupportEdges_Add(edges, pair->a, pair->b);
		}
		if ((task.bears[i] & B_BEARS_A) != 0) {
			knSupportEdges_Add(edges, pair->b, pair->a);
		}
	}
	return true;
}

static bool sortPairs(knImpulseStep* step) {
	knArena* arena = step->context->arena;
	int levels = step->graph.levelCount;
	step->order = KN_SCRATCH(arena, int, step->pairCount);
	step->levelFirst = KN_SCRATCH_ZERO(arena, int, levels + 1);
	int* fill = KN_SCRATCH(arena, int, levels + 1);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < step->pairCount; ++i) {
		knImpulsePair* pair = &step->pairs[i];
		int a = step->graph.level[pair->a], b = step->graph.level[pair->b];
		pair->level = a > b ? a : b;
		step->levelFirst[pair->level + 1] += 1;
	}
	for (int l = 0; l < levels; ++l) {
		step->levelFirst[l + 1] += step->levelFirst[l];
		fill[l] = step->levelFirst[l];
	}
	for (int i = 0; i < step->pairCount; ++i) {
		step->order[fill[step->pairs[i].level]++] = i;
	}
	return true;
}

knStatus knContactLevels_BuildFrom(knImpulseStep* step, const knSupportEdges* edges) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	bool* anchored = KN_SCRATCH(arena, bool, bodyCount);
	if (arena->failed) {
		return knImpulseStep_OutOfMemory(step);
	}
	for (int b = 0; b < bodyCount; ++b) {
		anchored[b] = step->blocks.invMass[b] == 0.0;
	}
	bool built = knContactGraph_Build(&step->graph, bodyCount, anchored, edges->items, edges->count, arena) &&
				 sortPairs(step);
	return built ? KN_OK : knImpulseStep_OutOfMemory(step);
}

knStatus knContactLevels_Build(knImpulseStep* step) {
	knSupportEdges edges = { .items = KN_SCRATCH(step->context->arena, knSupport, 2 * step->pairCount) };
	if (step->context->arena->failed || !addEdges(step, &edges)) {
		return knImpulseStep_OutOfMemory(step);
	}
	return knContactLevels_BuildFrom(step, &edges);
}
