// Shock propagation after the sweeps (Guendelman et al. 2003, 8.3), default scheme: levels from the ground up, each swept
// while everything below counts as infinitely heavy, so that what few sweeps left over does not let a pile creep.
//
// The pass continues the impulses of the sweeps (and starts from what it added to them in the step before), so it may take
// back as well as push. Its own part is neither reported nor carried on: it is that of infinitely heavy supports. A
// support that moves would be a hammer; so a body keeps the result only if that leaves at most half of its kinetic
// energy as seen from its supports. And supports that move differently make a tilt that grows from level to level; so the
// result counts only up to the level to which it calms the pile most, as seen from its centre of mass.
// Only piles on something that does not move take part, so momentum of free bodies is
// not touched; groups with joints do not, their joints would open.

#include "steppers/impulse/impulse_memory.h"
#include "steppers/impulse/impulse_step.h"

#define SWEEPS 20
#define TALL_LEVELS 60 // higher piles get more
#define TALL_SWEEPS 50
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
	knVec3* mean;         // [bodyCount] by group, velocity of the centre of mass before
	double *gain, *least; // [bodyCount] by group, J
	int* top;             // [bodyCount] by group: the highest level that keeps the result
	knVec3* start;        // [pointCount] impulses (jn, j1, j2) with which the pass begins
} Shock;

static bool takesPart(const knImpulseStep* step, int body) {
	int group = step->islands.group[body];
	return group >= 0 && step->graph.grounded[body] && !step->islands.jointed[group];
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

// Where the sweeps of a point begin.
static void setStarts(const knImpulseStep* step, Shock* shock) {
	for (int i = 0; i < step->pointCount; ++i) {
		const knImpulsePoint* p = &step->points[i];
		knVec3 j = knV3(knMax(p->jn + p->shock.x, 0.0), p->j1 + p->shock.y, p->j2 + p->shock.z);
		knClampDisc(&j.y, &j.z, p->mu * j.x);
		shock->start[i] = j;
		double* lambda = step->list.points[i].lambda;
		lambda[0] = j.x - p->jn;
		lambda[1] = j.y - p->j1;
		lambda[2] = j.z - p->j2;
	}
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
					  .top = KN_SCRATCH(arena, int, bodyCount),
					  .start = KN_SCRATCH(arena, knVec3, step->pointCount) };
	if (arena->failed || !listBodies(step, shock)) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		shock->before[b] = step->blocks.u[b];
	}
	for (int c = 0; c < chunkCount; ++c) {
		shock->chunks[c] = step->list.chunks[c];
		shock->chunks[c].stage = levelOf(step, shock, &shock->chunks[c]);
	}
	setStarts(step, shock);
	knSweepBlocks blocks = { .count = bodyCount,
							 .invMass = step->blocks.invMass,
							 .invInertia = step->blocks.invInertia,
							 .freeStage = shock->freeLevel };
	const knTasks* tasks = &step->context->tasks;
	if (!knSweepSet_Build(&shock->set, shock->chunks, chunkCount, step->graph.levelCount, step->list.points,
						  &blocks, KN_SWEEP_CONE, tasks, arena)) {
		return false;
	}
	knSweep_Apply(&shock->set, tasks, step->blocks.u);
	for (int i = 0; i < step->pointCount; ++i) {
		double* lambda = step->list.points[i].lambda;
		lambda[0] = shock->start[i].x;
		lambda[1] = shock->start[i].y;
		lambda[2] = shock->start[i].z;
	}
	knSweepSet_Load(&shock->set, tasks, step->list.points);
	return true;
}

// --- the guard -----------------------------------------------------------------------------------------------

static void addSupport(const knImpulseStep* step, Shock* shock, int upper, int lower, knVec3 r) {
	knTwist u = step->blocks.u[lower];
	shock->support[upper].lin = knAdd(shock->support[upper].lin, knAdd(u.lin, knCross(u.ang, r)));
	shock->support[upper].ang = knAdd(shock->support[upper].ang, u.ang);
	shock->supports[upper] += 1;
}

// m/s, the velocity of each group's centre of mass, after the sweeps.
static bool findMeans(const knImpulseStep* step, Shock* shock) {
	int bodyCount = step->model->bodyCount;
	shock->mean = KN_SCRATCH_ZERO(step->context->arena, knVec3, bodyCount);
	double* mass = KN_SCRATCH_ZERO(step->context->arena, double, bodyCount);
	if (step->context->arena->failed) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		int group = step->islands.group[b];
		if (group >= 0) {
			shock->mean[group] = knMulAdd(shock->mean[group], step->model->mass[b], shock->before[b].lin);
			mass[group] += step->model->mass[b];
		}
	}
	for (int b = 0; b < bodyCount; ++b) {
		shock->mean[b] = mass[b] > 0.0 ? knScale(1.0 / mass[b], shock->mean[b]) : knZero3();
	}
	return true;
}

static void sumSupports(const knImpulseStep* step, Shock* shock, int level) {
	for (int i = step->levelFirst[level]; i < step->levelFirst[level + 1]; ++i) {
		const knImpulsePair* pair = &step->pairs[step->order[i]];
		bool freeA = shock->freeLevel[pair->a] == level, freeB = shock->freeLevel[pair->b] == level;
		for (int k = pair->first; k < pair->first + pair->count && freeA != freeB; ++k) {
			const knImpulsePoint* p = &step->points[k];
			if (freeA) {
				addSupport(step, shock, p->a, p->b, p->rB);
			} else {
				addSupport(step, shock, p->b, p->a, p->rA);
			}
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
		knTwist supports = { knZero3(), shock->mean[step->islands.group[b]] };
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
			knTwist common = { knZero3(), shock->mean[group] };
			sum[group] +=
				energyIn(step, b, step->blocks.u[b], common) - energyIn(step, b, shock->before[b], common);
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

// What the pass added, for the next step's.
static void remember(knImpulseStep* step, const Shock* shock) {
	knSweepSet_Store(&shock->set, &step->context->tasks, step->list.points);
	for (int c = 0; c < step->list.chunkCount; ++c) {
		const knSweepChunk* chunk = &shock->chunks[c];
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			knImpulsePoint* p = &step->points[k];
			const double* lambda = step->list.points[k].lambda;
			p->shock =
				chunk->stage >= 0 ? knV3(lambda[0] - p->jn, lambda[1] - p->j1, lambda[2] - p->j2) : knZero3();
		}
	}
}

bool knContactShock_Run(knImpulseStep* step) {
	Shock shock;
	if (!begin(step, &shock) || !findMeans(step, &shock)) {
		return false;
	}
	int levels = step->graph.levelCount, sweeps = levels > TALL_LEVELS ? TALL_SWEEPS : SWEEPS;
	knSweepOptions options = { .sweeps = sweeps, .omega = 1.0, .tasks = &step->context->tasks };
	for (int level = 0; level < levels; ++level) {
		knSweep_Velocities(&shock.set, level, &options, step->blocks.u);
		guard(step, &shock, level);
	}
	cutOff(step, &shock);
	remember(step, &shock);
	return true;
}
