// Shock propagation after the sweeps (Guendelman et al. 2003, 8.3), default scheme: levels from the ground up, each swept
// while everything below counts as infinitely heavy, so that what few sweeps left over does not let a pile creep.
//
// The pass continues the impulses of the sweeps, so it may take back as well as push. Its own part is neither reported nor
// carried on: it is that of infinitely heavy supports. A support that moves would be a hammer; so a body keeps the
// result only if that leaves at most half of its kinetic energy as seen from its supports. And supports that move
// differently make a tilt that grows from level to level; so the result counts only up to the level to which it calms
// the pile most, as seen from the ground. What it took from a body is given back where it is more than the sweeps can
// have left over. Only piles on something that does not move take part, so the momentum of free bodies is not touched;
// groups with joints do not, their joints would open.

#include "steppers/impulse/impulse_step.h"

#define SWEEPS 20
#define TALL 40           // levels: above, in a group in which the last sweep of before changed more than
#define ROUGH 1e-4        // of g h, there are more sweeps, up to
#define TALLEST_SWEEPS 50 // with
#define TALLEST 80        // levels
#define SOLVED 1e-7 // of g h: groups in which the last sweep changed less, as where sweeps end, need no pass
#define ENERGY_SHARE 0.5   // kinetic energy that may be left
#define ENERGY_FLOOR 1e-10 // J/kg, below it anything goes

typedef struct Shock {
	knSweepSet set;
	knSweepChunk* chunks;
	int32_t* freeLevel;   // [bodyCount] -1: takes no part
	int* bodies;          // those that do, sorted by level
	int* first;           // [levelCount + 1] into bodies
	knTwist* before;      // [bodyCount] velocities after the sweeps
	knTwist* support;     // [bodyCount] sum of the velocities of what bears a body, at the points
	int* supports;        // [bodyCount]
	double *gain, *least; // [bodyCount] by group, J
	int* top;             // [bodyCount] by group: the highest level that keeps the result
} Shock;

static bool takesPart(const knImpulseStep* step, int body) {
	int group = step->islands.group[body];
	double solved = SOLVED * step->h * knLength(step->state->header->gravity);
	return group >= 0 && step->graph.grounded[body] && !step->islands.jointed[group] &&
		   step->known.facts[group].change > solved * solved;
}

// Bodies by level, by counting.
static bool listBodies(const knImpulseStep* step, Shock* shock) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount, levels = step->graph.levelCount;
	shock->freeLevel = KN_SCRATCH(arena, int32_t, bodyCount);
	shock->bodies = KN_SCRATCH(arena, int, bodyCount);
	shock->first = KN_SCRATCH_ZERO(arena, int, levels + 2);
	if (arena->failed) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		shock->freeLevel[b] = takesPart(step, b) ? step->graph.level[b] : -1;
		shock->first[shock->freeLevel[b] + 2] += shock->freeLevel[b] >= 0;
	}
	for (int l = 0; l <= levels; ++l) {
		shock->first[l + 1] += shock->first[l];
	}
	// first[l + 1] runs from the begin to the end of level l
	for (int b = 0; b < bodyCount; ++b) {
		if (shock->freeLevel[b] >= 0) {
			shock->bodies[shock->first[shock->freeLevel[b] + 1]++] = b;
		}
	}
	return true;
}

// A contact belongs to the level of its higher body. It takes no part if something floats at one of its ends.
static int levelOf(const knImpulseStep* step, const Shock* shock, const knSweepChunk* chunk) {
	int a = shock->freeLevel[chunk->a], b = shock->freeLevel[chunk->b];
	bool floats =
		(a < 0 && step->blocks.invMass[chunk->a] > 0.0) || (b < 0 && step->blocks.invMass[chunk->b] > 0.0);
	return floats ? -1 : a > b ? a : b;
}

static bool begin(knImpulseStep* step, Shock* shock) {
	knArena* arena = step->context->arena;
	int bodyCount = step->model->bodyCount, chunkCount = step->list.chunkCount;
	*shock = (Shock){ .chunks = KN_SCRATCH(arena, knSweepChunk, chunkCount),
					  .before = KN_SCRATCH(arena, knTwist, bodyCount),
					  .support = KN_SCRATCH_ZERO(arena, knTwist, bodyCount),
					  .supports = KN_SCRATCH_ZERO(arena, int, bodyCount),
					  .gain = KN_SCRATCH_ZERO(arena, double, bodyCount),
					  .least = KN_SCRATCH_ZERO(arena, double, bodyCount),
					  .top = KN_SCRATCH(arena, int, bodyCount) };
	if (arena->failed || !listBodies(step, shock)) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		shock->before[b] = step->blocks.u[b];
	}
	uint8_t* tied = KN_SCRATCH_ZERO(arena, uint8_t, bodyCount); // groups with joints take no part
	for (int c = 0; c < chunkCount; ++c) {
		shock->chunks[c] = step->list.chunks[c];
		shock->chunks[c].stage = levelOf(step, shock, &shock->chunks[c]);
	}
	knSweepBlocks blocks = { .count = bodyCount,
							 .invMass = step->blocks.invMass,
							 .invInertia = step->blocks.invInertia,
							 .freeStage = shock->freeLevel,
							 .tied = tied };
	knContactSweep_HandOver(step);
	return knSweepSet_Build(&shock->set, shock->chunks, chunkCount, step->graph.levelCount, step->list.points,
							&blocks, KN_SWEEP_CONE, &step->context->tasks, arena);
}

// --- the guard -----------------------------------------------------------------------------------------------

// What bears a body at a point moves with its own velocity, and nearer by as much as the point's gap lets the body come.
static void addSupport(const knImpulseStep* step, Shock* shock, const knImpulsePoint* p, bool ofA) {
	int upper = ofA ? p->a : p->b;
	knTwist u = step->blocks.u[ofA ? p->b : p->a];
	double approach = knMin(knDot(p->n, knImpulsePoint_Velocity(p, shock->before)), 0.0);
	knVec3 nearer = knScale((ofA ? -1.0 : 1.0) * knMax(approach, p->target), p->n);
	knVec3 v = knAdd(knAdd(u.lin, knCross(u.ang, ofA ? p->rB : p->rA)), nearer);
	shock->support[upper] = knAddT(shock->support[upper], knMakeTwist(u.ang, v));
	shock->supports[upper] += 1;
}

static void sumSupports(const knImpulseStep* step, Shock* shock, int level) {
	for (int i = step->levelFirst[level]; i < step->levelFirst[level + 1]; ++i) {
		const knImpulsePair* pair = &step->pairs[step->order[i]];
		bool freeA = shock->freeLevel[pair->a] == level, freeB = shock->freeLevel[pair->b] == level;
		for (int k = pair->first; k < pair->first + pair->count && freeA != freeB; ++k) {
			addSupport(step, shock, &step->points[k], freeA);
		}
	}
}

static double energyIn(const knImpulseStep* step, int body, knTwist u, knTwist frame) {
	knTwist seen = knSubT(u, frame);
	return 0.5 * knImpulseStep_Product(step, body, seen, seen);
}

// A body that its supports would drive keeps its velocity.
static void guard(const knImpulseStep* step, Shock* shock, int level) {
	sumSupports(step, shock, level);
	for (int i = shock->first[level]; i < shock->first[level + 1]; ++i) {
		int b = shock->bodies[i];
		knTwist supports = { knZero3(), step->known.facts[step->islands.group[b]].ground };
		if (shock->supports[b] > 0) {
			supports = knScaleT(1.0 / shock->supports[b], shock->support[b]);
		}
		double before = energyIn(step, b, shock->before[b], supports);
		double after = energyIn(step, b, step->blocks.u[b], supports);
		if (after > ENERGY_SHARE * before + ENERGY_FLOOR * step->model->mass[b]) {
			step->blocks.u[b] = shock->before[b];
		}
	}
}

// The levels of each group up to which the pass took most energy out of it keep the result.
static void cutOff(const knImpulseStep* step, Shock* shock) {
	double *sum = shock->gain, *least = shock->least;
	for (int b = 0; b < step->model->bodyCount; ++b) {
		shock->top[b] = -1;
	}
	for (int level = 0; level < step->graph.levelCount; ++level) {
		for (int i = shock->first[level]; i < shock->first[level + 1]; ++i) {
			int b = shock->bodies[i], group = step->islands.group[b];
			sum[group] += knContactGroups_Energy(&step->known, b, step->blocks.u[b]) -
						  knContactGroups_Energy(&step->known, b, shock->before[b]);
		}
		for (int i = shock->first[level]; i < shock->first[level + 1]; ++i) {
			int group = step->islands.group[shock->bodies[i]];
			if (sum[group] <= least[group]) {
				least[group] = sum[group];
				shock->top[group] = level;
			}
		}
	}
	for (int i = 0; i < shock->first[step->graph.levelCount]; ++i) {
		int b = shock->bodies[i];
		if (shock->freeLevel[b] > shock->top[step->islands.group[b]]) {
			step->blocks.u[b] = shock->before[b];
		}
	}
}

// What the pass took from a body was real if it is more than the sweeps can have left over, by the energy of it: a pile that
// gives way, a tower that begins to topple. Frozen supports would hold them for ever.
static void giveBack(const knImpulseStep* step, const Shock* shock) {
	for (int i = 0; i < shock->first[step->graph.levelCount]; ++i) {
		int b = shock->bodies[i], group = step->islands.group[b];
		knTwist taken = knSubT(shock->before[b], step->blocks.u[b]);
		double leftOver = knGroupFacts_LeftOver(&step->known.facts[group]) * step->model->mass[b];
		if (knImpulseStep_Product(step, b, taken, taken) > leftOver) {
			step->blocks.u[b] = shock->before[b];
		}
	}
}

// A blow on a tall pile leaves so much to this pass that its own errors count, and they grow with the height.
static int sweepsOf(const knImpulseStep* step) {
	double rough = ROUGH * step->h * knLength(step->state->header->gravity);
	int height = TALL;
	for (int b = 0; b < step->model->bodyCount; ++b) {
		const knGroupFacts* facts = &step->known.facts[b];
		bool struck =
			step->islands.group[b] == b && !step->islands.jointed[b] && facts->change > rough * rough;
		height = struck && facts->levels > height ? facts->levels : height;
	}
	height = height < TALLEST ? height : TALLEST;
	return SWEEPS + (TALLEST_SWEEPS - SWEEPS) * (height - TALL) / (TALLEST - TALL);
}

static bool anyTakesPart(const knImpulseStep* step) {
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (takesPart(step, b)) {
			return true;
		}
	}
	return false;
}

bool knContactShock_Run(knImpulseStep* step) {
	if (!anyTakesPart(step)) {
		return true;
	}
	Shock shock;
	if (!begin(step, &shock)) {
		return false;
	}
	int levels = step->graph.levelCount;
	knSweepOptions options = { .sweeps = sweepsOf(step), .omega = 1.0, .tasks = &step->context->tasks };
	for (int level = 0; level < levels; ++level) {
		knSweep_Velocities(&shock.set, level, &options, step->blocks.u);
		guard(step, &shock, level);
	}
	cutOff(step, &shock);
	giveBack(step, &shock);
	return true;
}
