// Shock propagation in the default scheme: the load of a pile is carried to the ground in two passes.
//
// Upwards: which velocity will every body have? Level by level, each goes on as before the forces, or is lifted by what
// it would run into below. (By the mean over its points. To let it rest on the highest alone, as in the published pass,
// makes the smallest tilt grow from level to level.)
// Downwards: which impulses bring that about? Level by level from the top, each body is brought to move with the
// forecast of its supports, which take the opposite impulse and will pass it on when their own turn comes.
//
// A pile at rest gets its exact reactions, whatever its height, and momentum is conserved, where the published pass
// forgets the reactions of what it froze. The sweeps with true masses begin from there; a pile that does not rest (a
// see-saw, a stack that is struck) is put right by them.
//
// Only normal impulses are found. Friction could balance any load with stresses of its own, and those grow from level
// to level until nothing below can hold them. body_support.c finds those of one body.

#include "core/tasks.h"
#include "dynamics/collision_input.h"
#include "steppers/impulse/impulse_step.h"
#include "steppers/impulse/body_support.h"

#define RESTING 0.01  // of g h: a slower separation is none
#define CARRIED 0.01  // of g h: a group with no faster approach carries its load already
#define TOUCHING 0.02 // of the envelope: a smaller gap is none

// The bodies that others bear, by level, and the pairs by which they are borne.
typedef struct Piles {
	int* bodies; // sorted by level
	int count;
	knGroupOrder groups; // of bodies
	int* first;          // [bodyCount + 1] into pairs
	int* pairs;          // indices
	knTwist* forecast;   // [bodyCount]
} Piles;

// 1: A lies below and bears, 2: B does, 0: neither (same level, or nothing below it stands on the ground).
static int bearer(const knImpulseStep* step, const knImpulsePair* pair) {
	if (step->islands.jointed[knImpulseStep_GroupOfBodies(step, pair->a, pair->b)]) {
		return 0; // joints carry a part of it
	}
	int levelA = step->graph.level[pair->a], levelB = step->graph.level[pair->b];
	if (levelA < levelB && step->graph.grounded[pair->a]) {
		return 1;
	}
	return levelB < levelA && step->graph.grounded[pair->b] ? 2 : 0;
}

static int borne(const knImpulsePair* pair, int bears) {
	return bears == 1 ? pair->b : pair->a;
}

// Pairs are listed level by level, so bodies get theirs, and come themselves, in that order.
static bool listPiles(const knImpulseStep* step, Piles* piles) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount;
	*piles = (Piles){ .bodies = KN_SCRATCH(arena, int, bodyCount),
					  .first = KN_SCRATCH_ZERO(arena, int, bodyCount + 1),
					  .pairs = KN_SCRATCH(arena, int, step->pairCount),
					  .forecast = KN_SCRATCH(arena, knTwist, bodyCount) };
	int* fill = KN_SCRATCH(arena, int, bodyCount);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < step->pairCount; ++i) {
		const knImpulsePair* pair = &step->pairs[step->order[i]];
		int bears = bearer(step, pair);
		if (bears != 0 && piles->first[borne(pair, bears) + 1]++ == 0) {
			piles->bodies[piles->count++] = borne(pair, bears);
		}
	}
	for (int b = 0; b < bodyCount; ++b) {
		piles->first[b + 1] += piles->first[b];
		fill[b] = piles->first[b];
	}
	for (int i = 0; i < step->pairCount; ++i) {
		const knImpulsePair* pair = &step->pairs[step->order[i]];
		int bears = bearer(step, pair);
		if (bears != 0) {
			piles->pairs[fill[borne(pair, bears)]++] = step->order[i];
		}
	}
	return true;
}

// The points that bear a body; what does not fit is left to the sweeps.
static void gather(const knImpulseStep* step, const Piles* piles, int body, knSupports* supports) {
	supports->count = 0;
	supports->body = body;
	for (int i = piles->first[body]; i < piles->first[body + 1]; ++i) {
		const knImpulsePair* pair = &step->pairs[piles->pairs[i]];
		for (int k = pair->first; k < pair->first + pair->count && supports->count < KN_SUPPORT_POINTS; ++k) {
			if (step->points[k].target > -(double)INFINITY) {
				supports->points[supports->count++] = &step->points[k];
			}
		}
	}
}

// --- upwards ---------------------------------------------------------------------------------------------

// m/s, by which a point approaches faster than it may, with velocities as forecast.
static double approachOf(const Piles* piles, const knImpulsePoint* p) {
	return p->target - knDot(p->n, knImpulsePoint_Velocity(p, piles->forecast));
}

static void forecast(const knImpulseStep* step, const Piles* piles, int group, knSupports* supports) {
	double resting = RESTING * step->h * knLength(step->state->header->gravity);
	for (int i = piles->groups.first[group]; i < piles->groups.first[group + 1]; ++i) {
		int body = piles->bodies[piles->groups.items[i]], touching = 0;
		knVec3 change = knZero3();
		gather(step, piles, body, supports);
		for (int k = 0; k < supports->count; ++k) {
			const knImpulsePoint* p = supports->points[k];
			double approach = approachOf(piles, p);
			if (approach > -resting) {
				touching += 1;
				change = knMulAdd(change, (p->b == body ? 1.0 : -1.0) * knMax(approach, 0.0), p->n);
			}
		}
		if (touching > 0) {
			piles->forecast[body].lin = knMulAdd(piles->forecast[body].lin, 1.0 / touching, change);
		}
	}
}

// --- downwards -------------------------------------------------------------------------------------------

// Friction of before stays, as far as the new normal impulse allows it.
static void load(const knImpulseStep* step, knImpulsePoint* p, double jn) {
	double dn = jn - p->jn, j1 = p->j1, j2 = p->j2;
	p->jn = jn;
	knClampDisc(&p->j1, &p->j2, p->mu * jn);
	knVec3 friction = knMulAdd(knScale(p->j1 - j1, p->t1), p->j2 - j2, p->t2);
	knImpulsePoint_Apply(step, p, knMulAdd(friction, dn, p->n));
}

static void descend(const knImpulseStep* step, const Piles* piles, int group, knSupports* supports) {
	for (int i = piles->groups.first[group + 1] - 1; i >= piles->groups.first[group]; --i) {
		int body = piles->bodies[piles->groups.items[i]];
		gather(step, piles, body, supports);
		supports->spread = 0.0;
		double touching = TOUCHING * knCollisionEnvelope(step->model, body);
		for (int k = 0; k < supports->count; ++k) {
			if (supports->points[k]->gap < touching) {
				supports->spread = knMax(supports->spread, knAbs(approachOf(piles, supports->points[k])));
			}
		}
		// the body without the impulses that are now found anew
		knTwist own = piles->forecast[body];
		piles->forecast[body] = step->blocks.u[body];
		for (int k = 0; k < supports->count; ++k) {
			knVec3 j = knScale(-supports->points[k]->jn, supports->points[k]->n);
			knSupports_Push(supports, &step->blocks, k, j, &piles->forecast[body]);
		}
		knSupports_Solve(supports, &step->blocks, piles->forecast);
		piles->forecast[body] = own;
		for (int k = 0; k < supports->count; ++k) {
			load(step, supports->points[k], supports->j[k]);
		}
	}
}

// Groups that carry their load since the last step need no pass. Those of the others are sorted by group.
static bool dropCarried(const knImpulseStep* step, Piles* piles) {
	double carried = CARRIED * step->h * knLength(step->state->header->gravity);
	knArena* arena = step->context->arena;
	double* fastest = KN_SCRATCH_ZERO(arena, double, step->model->bodyCount);
	int32_t* groupOf = KN_SCRATCH(arena, int32_t, piles->count);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < step->pointCount; ++i) {
		const knImpulsePoint* p = &step->points[i];
		double approach = p->target - knDot(p->n, knImpulsePoint_Velocity(p, step->blocks.u));
		int group = knImpulseStep_GroupOf(step, p);
		fastest[group] = knMax(fastest[group], approach);
	}
	int kept = 0;
	for (int i = 0; i < piles->count; ++i) {
		int32_t group = step->islands.group[piles->bodies[i]];
		if (fastest[group] > carried) {
			groupOf[kept] = group;
			piles->bodies[kept++] = piles->bodies[i];
		}
	}
	piles->count = kept;
	return knGroupOrder_Build(&piles->groups, groupOf, kept, step->model->bodyCount, arena);
}

typedef struct LoadTask {
	const knImpulseStep* step;
	const Piles* piles;
	knSupports* supports; // one a worker
} LoadTask;

static void loadGroups(int begin, int end, int worker, void* argument) {
	const LoadTask* task = argument;
	for (int g = begin; g < end; ++g) {
		forecast(task->step, task->piles, g, &task->supports[worker]);
		descend(task->step, task->piles, g, &task->supports[worker]);
	}
}

bool knShockLoad_Run(knImpulseStep* step) {
	const knTasks* tasks = &step->context->tasks;
	Piles piles;
	if (!listPiles(step, &piles) || !dropCarried(step, &piles)) {
		return false;
	}
	if (piles.groups.count == 0) {
		return true;
	}
	knSupports* supports = KN_SCRATCH(step->context->arena, knSupports, knTasks_WorkerCount(tasks));
	knContactDescent* descent = knContactDescent_Begin(step);
	if (supports == NULL || descent == NULL) {
		return false;
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		piles.forecast[b] = step->state->velocity[b];
	}
	LoadTask task = { step, &piles, supports };
	knTasks_For(tasks, piles.groups.count, 1, loadGroups, &task);
	knContactDescent_Take(step, descent);
	return true;
}
