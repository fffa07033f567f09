// The pass continues the impulses of the sweeps, so it may take back as well as push. Its own part is neither reported nor
// carried on: it is that of infinitely heavy supports. A support that moves would be a hammer; so a body keeps the
// result only if that leaves at most half of its kinetic energy as seen from its supports. And supports that move
// differently make a tilt that grows from level to level; so the result counts only up to the level to which it calms
// the pile most, as seen from the ground. What it took from a body is given back where it is more than the sweeps can
// have left over. Only piles on something that does not move take part, so the momentum of free bodies is not touched;
// groups with joints do not, their joints would open.

#include "dynamics/shock_propagation.h"

#define SWEEPS 20
#define TALL 40            // levels: above, in a group in which the last sweep of before changed more than
#define ROUGH 1e-4         // of g h, there are more sweeps, up to
#define TALLEST_SWEEPS 50  // with
#define TALLEST 80         // levels
#define ENERGY_SHARE 0.5   // kinetic energy that may be left
#define ENERGY_FLOOR 1e-10 // J/kg, below it anything goes

typedef struct Shock {
	const knContactGroups* groups;
	knSweepSet set;
	knSweepChunk* chunks;    // stages are levels
	int *order, *chunkFirst; // chunks by level
	int32_t* freeLevel;      // [bodyCount] -1: takes no part
	int* bodies;             // those that do, sorted by level
	int* first;              // [levelCount + 1] into bodies
	knTwist* before;         // [bodyCount] velocities after the sweeps
	knTwist* support;        // [bodyCount] sum of the velocities of what bears a body, at the points
	int* supports;           // [bodyCount]
	double *gain, *least;    // [bodyCount] by group, J
	int* top;                // [bodyCount] by group: the highest level that keeps the result
} Shock;

static double weightSpeed(const knContactGroups* groups) {
	return groups->blocks->h * knLength(groups->state->header->gravity);
}

// Groups in which the last sweep changed little, as where sweeps end, need no pass.
static bool takesPart(const knShockPropagation* shock, int body) {
	const knContactGroups* groups = shock->groups;
	int32_t group = groups->islands->group[body];
	double solved = KN_SETTLED_LARGE * weightSpeed(groups);
	return group >= 0 && groups->level[body] >= 0 && !groups->islands->jointed[group] &&
		   groups->facts[group].change > solved * solved;
}

// Indices by level, a counting sort: those of level l from first[l] to first[l + 1]; first has room for two more.
static void sortByLevel(const int32_t* level, int stride, int count, int levelCount, int* items, int* first) {
	for (int i = 0; i < count; ++i) {
		first[level[i * stride] + 2] += level[i * stride] >= 0;
	}
	for (int l = 0; l <= levelCount; ++l) {
		first[l + 1] += first[l];
	}
	// first[l + 1] runs from the begin to the end of level l
	for (int i = 0; i < count; ++i) {
		if (level[i * stride] >= 0) {
			items[first[level[i * stride] + 1]++] = i;
		}
	}
}

// A contact belongs to the level of its higher body. It takes no part if something floats at one of its ends.
static int levelOf(const Shock* shock, const knSweepChunk* chunk) {
	const double* invMass = shock->groups->blocks->invMass;
	int a = shock->freeLevel[chunk->a], b = shock->freeLevel[chunk->b];
	bool floats = (a < 0 && invMass[chunk->a] > 0.0) || (b < 0 && invMass[chunk->b] > 0.0);
	return floats ? -1 : a > b ? a : b;
}

static bool reserve(Shock* shock) {
	knArena* arena = shock->groups->arena;
	int bodyCount = shock->groups->blocks->count, chunkCount = shock->groups->contacts->chunkCount;
	shock->chunks = KN_SCRATCH(arena, knSweepChunk, chunkCount);
	shock->order = KN_SCRATCH(arena, int, chunkCount);
	shock->chunkFirst = KN_SCRATCH_ZERO(arena, int, shock->groups->levelCount + 2);
	shock->freeLevel = KN_SCRATCH(arena, int32_t, bodyCount);
	shock->bodies = KN_SCRATCH(arena, int, bodyCount);
	shock->first = KN_SCRATCH_ZERO(arena, int, shock->groups->levelCount + 2);
	shock->before = KN_SCRATCH(arena, knTwist, bodyCount);
	shock->support = KN_SCRATCH_ZERO(arena, knTwist, bodyCount);
	shock->supports = KN_SCRATCH_ZERO(arena, int, bodyCount);
	shock->gain = KN_SCRATCH_ZERO(arena, double, bodyCount);
	shock->least = KN_SCRATCH_ZERO(arena, double, bodyCount);
	shock->top = KN_SCRATCH(arena, int, bodyCount);
	return !arena->failed;
}

static bool begin(Shock* shock, const knShockPropagation* in) {
	const knContactGroups* groups = in->groups;
	const knStepBodies* blocks = groups->blocks;
	const int chunkCount = groups->contacts->chunkCount;
	if (!reserve(shock)) {
		return false;
	}
	for (int b = 0; b < blocks->count; ++b) {
		shock->freeLevel[b] = takesPart(in, b) ? groups->level[b] : -1;
		shock->before[b] = blocks->u[b];
	}
	sortByLevel(shock->freeLevel, 1, blocks->count, shock->groups->levelCount, shock->bodies, shock->first);
	for (int c = 0; c < chunkCount; ++c) {
		shock->chunks[c] = groups->contacts->chunks[c];
		shock->chunks[c].stage = levelOf(shock, &shock->chunks[c]);
	}
	if (chunkCount > 0) {
		sortByLevel(&shock->chunks[0].stage, (int)(sizeof(knSweepChunk) / sizeof(int32_t)), chunkCount,
					shock->groups->levelCount, shock->order, shock->chunkFirst);
	}
	knSweepBlocks sweeps = { .count = blocks->count,
							 .invMass = blocks->invMass,
							 .invInertia = blocks->invInertia,
							 .freeStage = shock->freeLevel };
	return knSweepSet_Build(&shock->set, shock->chunks, chunkCount, shock->groups->levelCount,
							groups->contacts->points, &sweeps, in->friction, groups->tasks, groups->arena);
}

// --- the guard -----------------------------------------------------------------------------------------------

static knVec3 velocityAt(knTwist u, knVec3 r) {
	return knAdd(u.lin, knCross(u.ang, r));
}

// What bears a body at a point moves with its own velocity, and nearer by as much as the point's gap lets the body come.
static void addSupport(Shock* shock, const knSweepChunk* chunk, const knSweepPoint* p, bool ofA) {
	const knTwist* u = shock->groups->blocks->u;
	int upper = ofA ? chunk->a : chunk->b, lower = ofA ? chunk->b : chunk->a;
	knVec3 apart =
		knSub(velocityAt(shock->before[chunk->b], p->rB), velocityAt(shock->before[chunk->a], p->rA));
	double approach = knMin(knDot(p->n, apart), 0.0);
	knVec3 nearer = knScale((ofA ? -1.0 : 1.0) * knMax(approach, -p->bias), p->n);
	knVec3 v = knAdd(velocityAt(u[lower], ofA ? p->rB : p->rA), nearer);
	shock->support[upper] = knAddT(shock->support[upper], knMakeTwist(u[lower].ang, v));
	shock->supports[upper] += 1;
}

static void sumSupports(Shock* shock, int level) {
	for (int i = shock->chunkFirst[level]; i < shock->chunkFirst[level + 1]; ++i) {
		const knSweepChunk* chunk = &shock->chunks[shock->order[i]];
		bool freeA = shock->freeLevel[chunk->a] == level, freeB = shock->freeLevel[chunk->b] == level;
		for (int k = chunk->first; k < chunk->first + chunk->count && freeA != freeB; ++k) {
			addSupport(shock, chunk, &shock->groups->contacts->points[k], freeA);
		}
	}
}

static double square(const knContactGroups* groups, int body, knTwist u) {
	return knContactGroups_Product(groups, body, u, u);
}

// A body that its supports would drive keeps its velocity.
static void guard(Shock* shock, int level) {
	const knContactGroups* groups = shock->groups;
	knTwist* u = groups->blocks->u;
	sumSupports(shock, level);
	for (int i = shock->first[level]; i < shock->first[level + 1]; ++i) {
		int b = shock->bodies[i];
		knTwist supports = { knZero3(), groups->facts[groups->islands->group[b]].ground };
		if (shock->supports[b] > 0) {
			supports = knScaleT(1.0 / shock->supports[b], shock->support[b]);
		}
		double before = 0.5 * square(groups, b, knSubT(shock->before[b], supports));
		double after = 0.5 * square(groups, b, knSubT(u[b], supports));
		if (after > ENERGY_SHARE * before + ENERGY_FLOOR * groups->model->mass[b]) {
			u[b] = shock->before[b];
		}
	}
}

// The levels of each group up to which the pass took most energy out of it keep the result.
static void cutOff(Shock* shock) {
	const knContactGroups* groups = shock->groups;
	const int32_t* group = groups->islands->group;
	knTwist* u = groups->blocks->u;
	for (int b = 0; b < groups->blocks->count; ++b) {
		shock->top[b] = -1;
	}
	for (int level = 0; level < shock->groups->levelCount; ++level) {
		for (int i = shock->first[level]; i < shock->first[level + 1]; ++i) {
			int b = shock->bodies[i];
			shock->gain[group[b]] +=
				knContactGroups_Energy(groups, b, u[b]) - knContactGroups_Energy(groups, b, shock->before[b]);
		}
		for (int i = shock->first[level]; i < shock->first[level + 1]; ++i) {
			int32_t g = group[shock->bodies[i]];
			if (shock->gain[g] <= shock->least[g]) {
				shock->least[g] = shock->gain[g];
				shock->top[g] = level;
			}
		}
	}
	for (int i = 0; i < shock->first[shock->groups->levelCount]; ++i) {
		int b = shock->bodies[i];
		if (shock->freeLevel[b] > shock->top[group[b]]) {
			u[b] = shock->before[b];
		}
	}
}

// What the pass took from a body was real if it is more than the sweeps can have left over, by the energy of it: a pile that
// gives way, a tower that begins to topple. Frozen supports would hold them for ever.
static void giveBack(const Shock* shock) {
	const knContactGroups* groups = shock->groups;
	knTwist* u = groups->blocks->u;
	for (int i = 0; i < shock->first[shock->groups->levelCount]; ++i) {
		int b = shock->bodies[i];
		const knGroupFacts* facts = &groups->facts[groups->islands->group[b]];
		double leftOver = knGroupFacts_LeftOver(facts) * groups->model->mass[b];
		if (square(groups, b, knSubT(shock->before[b], u[b])) > leftOver) {
			u[b] = shock->before[b];
		}
	}
}

// A blow on a tall pile leaves so much to this pass that its own errors count, and they grow with the height.
static int sweepsOf(const knContactGroups* groups) {
	double rough = ROUGH * weightSpeed(groups);
	int height = TALL;
	for (int b = 0; b < groups->blocks->count; ++b) {
		const knGroupFacts* facts = &groups->facts[b];
		bool struck =
			groups->islands->group[b] == b && !groups->islands->jointed[b] && facts->change > rough * rough;
		height = struck && facts->levels > height ? facts->levels : height;
	}
	height = height < TALLEST ? height : TALLEST;
	return SWEEPS + (TALLEST_SWEEPS - SWEEPS) * (height - TALL) / (TALLEST - TALL);
}

bool knShockPropagation_Run(knShockPropagation* in) {
	bool any = false;
	in->sweeps = 0;
	for (int b = 0; b < in->groups->blocks->count && !any; ++b) {
		any = takesPart(in, b);
	}
	if (!any) {
		return true;
	}
	Shock shock = { .groups = in->groups };
	if (!begin(&shock, in)) {
		return false;
	}
	in->sweeps = in->chosenSweeps >= 0 ? in->chosenSweeps : sweepsOf(in->groups);
	knSweepOptions options = { .sweeps = in->sweeps, .omega = 1.0, .tasks = in->groups->tasks };
	for (int level = 0; level < in->groups->levelCount; ++level) {
		knSweep_Velocities(&shock.set, level, &options, in->groups->blocks->u);
		guard(&shock, level);
	}
	cutOff(&shock);
	giveBack(&shock);
	return true;
}
