// Sweeps over the points of a step, and the solver of the mean time step (dynamics/time_step.h): over the levels of the contact
// graph, upwards and down again, in conjugate directions (solve/sweep_momentum.h). Its stages are groups of bodies by size:
// small ones are solved to the end, large ones as far as the sweeps go, and what is left of them is the business of columns and
// shock propagation. Points go on when the pass upwards visits them, and what the sweep has changed is squared when the pass
// downwards does: large piles do not stay in the cache for passes of their own.

#include "solve/sweep_momentum.h"
#include "steppers/impulse/impulse_step.h"

#define SMALL_SWEEPS 60 // of small groups; in the step itself unless the user sets them
// Of small groups that stand on the ground: what changes little in a sweep may be far off.
#define LEAST_SWEEPS 5
#define SIDE_SWEEPS 8       // of landings and settlings of large groups
#define CORRECTION_SWEEPS 8 // over overlaps

static double settledSpeed(const knImpulseStep* step, int part) {
	double share = part == KN_PART_SMALL ? KN_SETTLED_SMALL : KN_SETTLED_LARGE;
	return knMax(share * step->m.h * knLength(step->m.state->header->gravity), KN_SETTLED_LEAST);
}

static int sweepsOf(const knImpulseStep* step, int part) {
	bool own = step->m.context->settings->sweeps < 0 && part == KN_PART_SMALL;
	return own ? SMALL_SWEEPS : knImpulseStep_Sweeps(step);
}

// --- the set -----------------------------------------------------------------------------------------------

static int endStageOf(const knImpulseStep* step) {
	return KN_PART_MEAN_COUNT * step->m.graph.levelCount;
}

static knSweepBlocks sweepBlocks(const knImpulseStep* step) {
	return (knSweepBlocks){ .count = step->m.model->bodyCount,
							.invMass = step->m.blocks.invMass,
							.invInertia = step->m.blocks.invInertia };
}

static bool build(knImpulseStep* step) {
	const knContactRows* list = &step->m.contacts;
	knArena* arena = step->m.context->arena;
	const int levels = step->m.graph.levelCount;
	knSweepChunk* chunks = KN_SCRATCH(arena, knSweepChunk, list->chunkCount);
	step->endStage = KN_SCRATCH(arena, int32_t, step->m.model->bodyCount);
	if (arena->failed) {
		return false;
	}
	for (int c = 0; c < list->chunkCount; ++c) {
		chunks[c] = list->chunks[c];
		int a = step->m.graph.level[chunks[c].a], b = step->m.graph.level[chunks[c].b],
			part = chunks[c].stage;
		chunks[c].stage = part == KN_PART_END || part < 0 ? part : part * levels + (a > b ? a : b);
		chunks[c].stage = part == KN_PART_END ? endStageOf(step) : chunks[c].stage;
	}
	for (int b = 0; b < step->m.model->bodyCount; ++b) {
		step->endStage[b] = step->m.stageOf[b] == KN_PART_END ? endStageOf(step) : -1;
	}
	knSweepBlocks blocks = sweepBlocks(step);
	step->built = true;
	return knSweepSet_Build(&step->set, chunks, list->chunkCount, endStageOf(step) + 1, list->points, &blocks,
							KN_SWEEP_CONE, &step->m.context->tasks, arena) &&
		   knJointSweeps_AddRows(&step->m.swept, &step->set, step->endStage, endStageOf(step));
}

static void reload(knImpulseStep* step, int first, int end) {
	knSweepBlocks blocks = sweepBlocks(step);
	for (int stage = first; stage < end; ++stage) {
		knSweepSet_Reload(&step->set, stage, step->m.contacts.points, &blocks, &step->m.context->tasks);
	}
}

static bool loadPart(void* context, int part) {
	knImpulseStep* step = context;
	if (!step->built) {
		return build(step);
	}
	reload(step, part * step->m.graph.levelCount, (part + 1) * step->m.graph.levelCount);
	return true;
}

static void store(knImpulseStep* step) {
	knSweepSet_Store(&step->set, &step->m.context->tasks, step->m.contacts.points);
}

// --- the time step's solver --------------------------------------------------------------------------------

// m/s, the largest change of a body's speed in a part.
static double largestChange(const knImpulseStep* step, int part, const knTwist* before, const knTwist* u) {
	double largest = 0.0;
	for (int b = 0; b < step->m.model->bodyCount; ++b) {
		if (step->m.stageOf[b] == part) {
			knTwist change = knSubT(u[b], before[b]);
			double speed = knLength(change.lin) + step->m.model->radius[b] * knLength(change.ang);
			largest = knMax(largest, speed);
		}
	}
	return largest;
}

// Upwards and down again; m/s, the largest change of a body's speed.
static double sweepLevels(knImpulseStep* step, int part, knSweepMomentum* momentum, knTwist* before,
						  knTwist* u) {
	const knTasks* tasks = &step->m.context->tasks;
	const knMomentumPacks* packs = knSweepMomentum_Packs(momentum);
	const int first = part * step->m.graph.levelCount, end = first + step->m.graph.levelCount;
	for (int b = 0; b < step->m.model->bodyCount; ++b) {
		before[b] = u[b];
	}
	const int upwards = knSweepMomentum_FirstPass(momentum, tasks, u);
	for (int stage = first; stage < end; ++stage) {
		knSweep_Pass(&step->set, stage, packs, upwards, tasks, u);
	}
	for (int stage = end - 1; stage >= first; --stage) {
		knSweep_Pass(&step->set, stage, packs, KN_MOMENTUM_SQUARE, tasks, u);
	}
	return largestChange(step, part, before, u);
}

// Sweeps over one part; u changes with the impulses of the set. NULL when out of memory.
static knSweepMomentum* sweepPart(knImpulseStep* step, int part, int sweeps, knTwist* u) {
	const knTasks* tasks = &step->m.context->tasks;
	const int levels = step->m.graph.levelCount, bodyCount = step->m.model->bodyCount;
	double settled = settledSpeed(step, part);
	knArena* arena = step->m.context->arena;
	knTwist* before = KN_SCRATCH(arena, knTwist, bodyCount);
	knSweepMomentum* momentum =
		knSweepMomentum_Begin(&step->set, part * levels, (part + 1) * levels, bodyCount,
							  step->m.islands.group, step->m.islands.jointed, arena);
	bool done = arena->failed || momentum == NULL;
	if (done) {
		return NULL;
	}
	for (int k = 0; k < sweeps && !done; ++k) {
		double change = sweepLevels(step, part, momentum, before, u);
		settled = k == 0 ? knMax(settled, KN_SETTLED_RELATIVE * change) : settled;
		done = change <= settled && (part == KN_PART_LARGE || k + 1 >= LEAST_SWEEPS);
		step->m.context->report->iterations += part == KN_PART_LARGE;
		(void)knSweepMomentum_Look(momentum);
		if (!done && k + 1 < sweeps) {
			knSweepMomentum_GoOn(momentum, tasks, u);
		}
	}
	return momentum;
}

static bool solvePart(void* context, int part, knTwist* u) {
	knImpulseStep* step = context;
	int sweeps = part == KN_PART_LARGE ? SIDE_SWEEPS : SMALL_SWEEPS;
	if (sweepPart(step, part, sweeps, u) == NULL) {
		return false;
	}
	store(step);
	return true;
}

static double errorOfPart(void* context, int part) {
	return settledSpeed(context, part);
}

bool knContactSolve_Begin(knImpulseStep* step) {
	knTimeSolver solver = { .stageCount = KN_PART_MEAN_COUNT,
							.roughStage = KN_PART_LARGE,
							.context = step,
							.load = loadPart,
							.error = errorOfPart,
							.solve = solvePart };
	return knMaximal_BeginTime(&step->m, solver);
}

// --- the solve -----------------------------------------------------------------------------------------------

static bool isEmpty(const knImpulseStep* step, int part) {
	for (int level = 0; level < step->m.graph.levelCount; ++level) {
		if (step->set.stages[part * step->m.graph.levelCount + level].colourCount > 0) {
			return false;
		}
	}
	return true;
}

bool knContactSolve_RunEnd(knImpulseStep* step) {
	if (!step->built && !build(step)) {
		return false;
	}
	const int stage = endStageOf(step);
	reload(step, stage, stage + 1);
	knSweepOptions options = { .sweeps = knImpulseStep_Sweeps(step),
							   .omega = 1.0,
							   .tasks = &step->m.context->tasks };
	if (step->set.stages[stage].colourCount > 0 || step->m.swept.rows.count > 0) {
		step->m.context->report->iterations +=
			knSweep_Velocities(&step->set, stage, &options, step->m.blocks.u);
		knMaximal_NoteChanges(&step->m, KN_PART_END, NULL);
		store(step);
	}
	return true;
}

bool knContactSolve_Run(knImpulseStep* step) {
	for (int part = 0; part < KN_PART_MEAN_COUNT; ++part) {
		if (!loadPart(step, part)) {
			return false;
		}
		if (isEmpty(step, part)) {
			continue;
		}
		bool turns = knTimeStep_Aim(&step->m.time, part);
		int sweeps = sweepsOf(step, part);
		// new arms come half way
		const knSweepMomentum* momentum =
			sweepPart(step, part, turns ? (sweeps + 1) / KN_TURNING_ROUNDS : sweeps, step->m.blocks.u);
		for (int round = 1; turns && momentum != NULL && round < KN_TURNING_ROUNDS; ++round) {
			store(step);
			knTimeStep_Aim(&step->m.time, part);
			momentum = sweepPart(step, part, (sweeps + 1) / KN_TURNING_ROUNDS, step->m.blocks.u);
		}
		if (momentum == NULL) {
			return false;
		}
		knMaximal_NoteChanges(&step->m, part, momentum);
	}
	store(step);
	return true;
}

// --- after the move ------------------------------------------------------------------------------------------

bool knContactSolve_Correct(knImpulseStep* step) {
	return knJointSweeps_Correct(&step->m.swept, &step->m.correction, &step->set, step->endStage,
								 endStageOf(step), CORRECTION_SWEEPS);
}
