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
#include "dynamics/body_support.h"
#include "dynamics/collision_input.h"
#include "dynamics/contact_groups.h"

#define RESTING                                                                                              \
	0.01 // of g h: a slower separation is none, and a group with no faster approach carries its load already

// The bodies that others bear, by level, and the chunks by which they are borne.
typedef struct Piles {
	int* bodies; // sorted by level
	int count;
	knGroupOrder groups; // of bodies
	int* first;          // [bodyCount + 1] into chunks
	int* chunks;         // indices
	knTwist* forecast;   // [bodyCount]
} Piles;

static double weightSpeed(const knContactGroups* in) {
	return in->blocks->h * knLength(in->state->header->gravity);
}

// The upper body of a chunk, borne by the other; -1: same level, or nothing below it stands on the ground.
static int32_t borne(const knContactGroups* in, const knSweepChunk* chunk) {
	if (chunk->stage < 0 || in->islands->jointed[knContactGroups_Of(in, chunk)]) {
		return -1; // takes no part; or joints carry a part of it
	}
	int levelA = in->level[chunk->a], levelB = in->level[chunk->b];
	if (levelA >= 0 && levelA < levelB) {
		return chunk->b;
	}
	return levelB >= 0 && levelB < levelA ? chunk->a : -1;
}

// Bodies by level, a counting sort.
static bool listBodies(const knContactGroups* in, Piles* piles) {
	const int bodyCount = in->blocks->count;
	int* first = KN_SCRATCH_ZERO(in->arena, int, in->levelCount + 2);
	if (first == NULL) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		if (piles->first[b + 1] > piles->first[b]) {
			first[in->level[b] + 2] += 1;
			piles->count += 1;
		}
	}
	for (int l = 0; l < in->levelCount; ++l) {
		first[l + 1] += first[l];
	}
	for (int b = 0; b < bodyCount; ++b) {
		if (piles->first[b + 1] > piles->first[b]) {
			piles->bodies[first[in->level[b] + 1]++] = b;
		}
	}
	return true;
}

static bool listPiles(const knContactGroups* in, Piles* piles) {
	knArena* arena = in->arena;
	const int bodyCount = in->blocks->count, chunkCount = in->contacts->chunkCount;
	*piles = (Piles){ .bodies = KN_SCRATCH(arena, int, bodyCount),
					  .first = KN_SCRATCH_ZERO(arena, int, bodyCount + 1),
					  .chunks = KN_SCRATCH(arena, int, chunkCount),
					  .forecast = KN_SCRATCH(arena, knTwist, bodyCount) };
	int* fill = KN_SCRATCH(arena, int, bodyCount);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < chunkCount; ++i) {
		int32_t body = borne(in, &in->contacts->chunks[i]);
		piles->first[body + 1] += body >= 0;
	}
	for (int b = 0; b < bodyCount; ++b) {
		piles->first[b + 1] += piles->first[b];
		fill[b] = piles->first[b];
	}
	for (int i = 0; i < chunkCount; ++i) {
		int32_t body = borne(in, &in->contacts->chunks[i]);
		if (body >= 0) {
			piles->chunks[fill[body]++] = i;
		}
	}
	return listBodies(in, piles);
}

// The points that bear a body; what does not fit is left to the sweeps.
static void gather(const knContactGroups* in, const Piles* piles, int body, knSupports* supports) {
	supports->count = 0;
	supports->body = body;
	for (int i = piles->first[body]; i < piles->first[body + 1]; ++i) {
		const knSweepChunk* chunk = &in->contacts->chunks[piles->chunks[i]];
		for (int k = chunk->first; k < chunk->first + chunk->count && supports->count < KN_SUPPORT_POINTS;
			 ++k) {
			knSweepPoint* p = &in->contacts->points[k];
			if (p->bias < KN_ROW_OUT_OF_REACH) {
				supports->points[supports->count++] = (knSupportPoint){ p, chunk->a, chunk->b };
			}
		}
	}
}

// --- upwards ---------------------------------------------------------------------------------------------

// m/s, by which a point approaches faster than it may, with velocities as forecast.
static double approachOf(const Piles* piles, const knSupportPoint* p) {
	return -p->point->bias - knDot(p->point->n, knSupportPoint_Velocity(p, piles->forecast));
}

static void forecast(const knContactGroups* in, const Piles* piles, int group, knSupports* supports) {
	double resting = RESTING * weightSpeed(in);
	for (int i = piles->groups.first[group]; i < piles->groups.first[group + 1]; ++i) {
		int body = piles->bodies[piles->groups.items[i]], touching = 0;
		knVec3 change = knZero3();
		gather(in, piles, body, supports);
		for (int k = 0; k < supports->count; ++k) {
			const knSupportPoint* p = &supports->points[k];
			double approach = approachOf(piles, p);
			if (approach > -resting) {
				touching += 1;
				change = knMulAdd(change, (p->b == body ? 1.0 : -1.0) * knMax(approach, 0.0), p->point->n);
			}
		}
		if (touching > 0) {
			piles->forecast[body].lin = knMulAdd(piles->forecast[body].lin, 1.0 / touching, change);
		}
	}
}

// --- downwards -------------------------------------------------------------------------------------------

// An impulse on B, at a point; immovable bodies are not written to: groups on the same one are solved at the same time.
static void push(const knStepBodies* blocks, const knSupportPoint* at, knVec3 j) {
	const knSweepPoint* p = at->point;
	if (blocks->invMass[at->a] > 0.0) {
		knTwist* u = &blocks->u[at->a];
		u->lin = knMulAdd(u->lin, -blocks->invMass[at->a], j);
		u->ang = knSub(u->ang, knMulMV(&blocks->invInertia[at->a], knCross(p->rA, j)));
	}
	if (blocks->invMass[at->b] > 0.0) {
		knTwist* u = &blocks->u[at->b];
		u->lin = knMulAdd(u->lin, blocks->invMass[at->b], j);
		u->ang = knAdd(u->ang, knMulMV(&blocks->invInertia[at->b], knCross(p->rB, j)));
	}
}

// Friction of before stays, as far as the new normal impulse allows it.
static void load(const knContactGroups* in, const knSupportPoint* at, double jn) {
	knSweepPoint* p = at->point;
	double dn = jn - p->lambda[0], j1 = p->lambda[1], j2 = p->lambda[2];
	double rubs = sqrt(j1 * j1 + j2 * j2), limit = p->mu * jn;
	double share = rubs > limit ? limit / rubs : 1.0;
	p->lambda[0] = jn;
	p->lambda[1] = share * j1;
	p->lambda[2] = share * j2;
	knVec3 friction = knMulAdd(knScale(p->lambda[1] - j1, p->t1), p->lambda[2] - j2, p->t2);
	push(in->blocks, at, knMulAdd(friction, dn, p->n));
}

static void descend(const knContactGroups* in, const Piles* piles, int group, knSupports* supports) {
	for (int i = piles->groups.first[group + 1] - 1; i >= piles->groups.first[group]; --i) {
		int body = piles->bodies[piles->groups.items[i]];
		gather(in, piles, body, supports);
		supports->spread = 0.0;
		double touching = KN_REST_GAP * knCollisionEnvelope(in->model, body);
		for (int k = 0; k < supports->count; ++k) {
			if (supports->points[k].point->depth < touching) {
				supports->spread = knMax(supports->spread, knAbs(approachOf(piles, &supports->points[k])));
			}
		}
		// the body without the impulses that are now found anew
		knTwist own = piles->forecast[body];
		piles->forecast[body] = in->blocks->u[body];
		for (int k = 0; k < supports->count; ++k) {
			const knSweepPoint* p = supports->points[k].point;
			knVec3 j = knScale(-p->lambda[0], p->n);
			knSupports_Push(supports, in->blocks, k, j, &piles->forecast[body]);
		}
		knSupports_Solve(supports, in->blocks, piles->forecast);
		piles->forecast[body] = own;
		for (int k = 0; k < supports->count; ++k) {
			load(in, &supports->points[k], supports->j[k]);
		}
	}
}

// Groups that carry their load since the last step need no pass. Those of the others are sorted by group.
static bool dropCarried(const knContactGroups* in, Piles* piles) {
	double carried = RESTING * weightSpeed(in);
	double* fastest = KN_SCRATCH_ZERO(in->arena, double, in->blocks->count);
	int32_t* groupOf = KN_SCRATCH(in->arena, int32_t, piles->count);
	if (in->arena->failed) {
		return false;
	}
	for (int i = 0; i < in->contacts->chunkCount; ++i) {
		const knSweepChunk* chunk = &in->contacts->chunks[i];
		int32_t group = knContactGroups_Of(in, chunk);
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			const knSupportPoint at = { &in->contacts->points[k], chunk->a, chunk->b };
			double approach =
				-at.point->bias - knDot(at.point->n, knSupportPoint_Velocity(&at, in->blocks->u));
			fastest[group] = knMax(fastest[group], approach);
		}
	}
	int kept = 0;
	for (int i = 0; i < piles->count; ++i) {
		int32_t group = in->islands->group[piles->bodies[i]];
		if (fastest[group] > carried) {
			groupOf[kept] = group;
			piles->bodies[kept++] = piles->bodies[i];
		}
	}
	piles->count = kept;
	return knGroupOrder_Build(&piles->groups, groupOf, kept, in->blocks->count, in->arena);
}

typedef struct LoadTask {
	const knContactGroups* in;
	const Piles* piles;
	knSupports* supports; // one a worker
} LoadTask;

static void loadGroups(int begin, int end, int worker, void* argument) {
	const LoadTask* task = argument;
	for (int g = begin; g < end; ++g) {
		forecast(task->in, task->piles, g, &task->supports[worker]);
		descend(task->in, task->piles, g, &task->supports[worker]);
	}
}

bool knShockLoad_Run(const knContactGroups* in) {
	Piles piles;
	if (!listPiles(in, &piles) || !dropCarried(in, &piles)) {
		return false;
	}
	if (piles.groups.count == 0) {
		return true;
	}
	knSupports* supports = KN_SCRATCH(in->arena, knSupports, knTasks_WorkerCount(in->tasks));
	knContactDescent* descent = knContactDescent_Begin(in);
	if (supports == NULL || descent == NULL) {
		return false;
	}
	for (int b = 0; b < in->blocks->count; ++b) {
		piles.forecast[b] = in->state->velocity[b];
	}
	LoadTask task = { in, &piles, supports };
	knTasks_For(in->tasks, piles.groups.count, 1, loadGroups, &task);
	knContactDescent_Take(in, descent);
	return true;
}
