// Sweeps over the points of a step, and the solver of the mean time step (dynamics/time_step.h): over the levels of the contact
// graph, upwards and down again, in conjugate directions (solve/sweep_momentum.h). Its stages are groups of bodies by size:
// small ones are solved to the end, large ones as far as the sweeps go, and what is left of them is the business of columns and
// shock propagation. Points go on when the pass upwards visits them, and what the sweep has changed is squared when the pass
// downwards does: large piles do not stay in the cache for passes of their own.

#include "dynamics/step_memory.h"
#include "solve/sweep_momentum.h"
#include "steppers/impulse/impulse_step.h"

#define SMALL_SWEEPS 60 // of small groups; in the step itself unless the user sets them
// Of small groups that stand on the ground: what changes little in a sweep may be far off.
#define LEAST_SWEEPS 5
#define SMALL_SETTLED 1e-9  // of g h: sweeps of small groups that change speeds by less are the last
#define LARGE_SETTLED 1e-7  // the same of large ones
#define LEAST_SETTLED 1e-12 // m/s, without gravity
// Of what the first sweep changed: where things move, nothing depends on more digits.
#define RELATIVE 1e-6
#define SIDE_SWEEPS 8       // of landings and settlings of large groups
#define ROUNDS 2            // of groups in which bodies turn: arms and answers anew
#define CORRECTION_SWEEPS 8 // over overlaps

static double settledSpeed(const knImpulseStep* step, int part) {
	double share = part == KN_PART_SMALL ? SMALL_SETTLED : LARGE_SETTLED;
	return knMax(share * step->h * knLength(step->state->header->gravity), LEAST_SETTLED);
}

static int sweepsOf(const knImpulseStep* step, int part) {
	bool own = step->context->settings->sweeps < 0 && part == KN_PART_SMALL;
	return own ? SMALL_SWEEPS : knImpulseStep_Sweeps(step);
}

// --- the set -----------------------------------------------------------------------------------------------

static int endStageOf(const knImpulseStep* step) {
	return KN_PART_MEAN_COUNT * step->graph.levelCount;
}

static knSweepBlocks sweepBlocks(const knImpulseStep* step) {
	return (knSweepBlocks){ .count = step->model->bodyCount,
							.invMass = step->blocks.invMass,
							.invInertia = step->blocks.invInertia };
}

static bool build(knImpulseStep* step) {
	const knContactRows* list = &step->list;
	knArena* arena = step->context->arena;
	const int levels = step->graph.levelCount;
	knSweepChunk* chunks = KN_SCRATCH(arena, knSweepChunk, list->chunkCount);
	step->endStage = KN_SCRATCH(arena, int32_t, step->model->bodyCount);
	if (arena->failed) {
		return false;
	}
	for (int c = 0; c < list->chunkCount; ++c) {
		chunks[c] = list->chunks[c];
		int a = step->graph.level[chunks[c].a], b = step->graph.level[chunks[c].b], part = chunks[c].stage;
		chunks[c].stage = part == KN_PART_END || part < 0 ? part : part * levels + (a > b ? a : b);
		chunks[c].stage = part == KN_PART_END ? endStageOf(step) : chunks[c].stage;
	}
	for (int b = 0; b < step->model->bodyCount; ++b) {
		step->endStage[b] = step->partOf[b] == KN_PART_END ? endStageOf(step) : -1;
	}
	knSweepBlocks blocks = sweepBlocks(step);
	step->built = true;
	return knSweepSet_Build(&step->set, chunks, list->chunkCount, endStageOf(step) + 1, list->points, &blocks,
							KN_SWEEP_CONE, &step->context->tasks, arena) &&
		   knJointSweeps_AddRows(&step->swept, &step->set, step->endStage, endStageOf(step));
}

static void reload(knImpulseStep* step, int first, int end) {
	knSweepBlocks blocks = sweepBlocks(step);
	for (int stage = first; stage < end; ++stage) {
		knSweepSet_Reload(&step->set, stage, step->list.points, &blocks, &step->context->tasks);
	}
}

static bool loadPart(void* context, int part) {
	knImpulseStep* step = context;
	if (!step->built) {
		return build(step);
	}
	reload(step, part * step->graph.levelCount, (part + 1) * step->graph.levelCount);
	return true;
}

static void store(knImpulseStep* step) {
	knSweepSet_Store(&step->set, &step->context->tasks, step->list.points);
}

// --- the time step's solver --------------------------------------------------------------------------------

// m/s, the largest change of a body's speed in a part.
static double largestChange(const knImpulseStep* step, int part, const knTwist* before, const knTwist* u) {
	double largest = 0.0;
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (step->partOf[b] == part) {
			knTwist change = knSubT(u[b], before[b]);
			double speed = knLength(change.lin) + step->model->radius[b] * knLength(change.ang);
			largest = knMax(largest, speed);
		}
	}
	return largest;
}

// Upwards and down again; m/s, the largest change of a body's speed.
static double sweepLevels(knImpulseStep* step, int part, knSweepMomentum* momentum, knTwist* before,
						  knTwist* u) {
	const knTasks* tasks = &step->context->tasks;
	const knMomentumPacks* packs = knSweepMomentum_InSweeps(momentum);
	const int first = part * step->graph.levelCount, end = first + step->graph.levelCount;
	for (int b = 0; b < step->model->bodyCount; ++b) {
		before[b] = u[b];
	}
	const knMomentumPass upwards = knSweepMomentum_FirstPass(momentum, tasks, u);
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
	const knTasks* tasks = &step->context->tasks;
	const int levels = step->graph.levelCount, bodyCount = step->model->bodyCount;
	double settled = settledSpeed(step, part);
	knArena* arena = step->context->arena;
	knTwist* before = KN_SCRATCH(arena, knTwist, bodyCount);
	knSweepMomentum* momentum =
		knSweepMomentum_Begin(&step->set, part * levels, (part + 1) * levels, bodyCount, step->islands.group,
							  step->islands.jointed, arena);
	bool done = arena->failed || momentum == NULL;
	if (done) {
		return NULL;
	}
	for (int k = 0; k < sweeps && !done; ++k) {
		double change = sweepLevels(step, part, momentum, before, u);
		settled = k == 0 ? knMax(settled, RELATIVE * change) : settled;
		done = change <= settled && (part == KN_PART_LARGE || k + 1 >= LEAST_SWEEPS);
		step->context->report->iterations += part == KN_PART_LARGE;
		(void)knSweepMomentum_Look(momentum, tasks);
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
	step->time = (knTimeStep){ .model = step->model,
							   .state = step->state,
							   .blocks = &step->blocks,
							   .contacts = &step->list,
							   .islands = &step->islands,
							   .stageOf = step->partOf,
							   .start = step->start,
							   .memory = knStepMemory_Contacts(step->state),
							   .solver = { .stageCount = KN_PART_MEAN_COUNT,
										   .roughStage = KN_PART_LARGE,
										   .context = step,
										   .load = loadPart,
										   .error = errorOfPart,
										   .solve = solvePart },
							   .arena = step->context->arena };
	return knTimeStep_Begin(&step->time);
}

// --- the solve -----------------------------------------------------------------------------------------------

static void noteChanges(const knImpulseStep* step, int part, const knSweepMomentum* momentum) {
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (step->change != NULL && step->islands.group[b] == b && step->partOf[b] == part) {
			step->change[b] = momentum != NULL ? knSweepMomentum_Change(momentum, b) : (double)INFINITY;
		}
	}
}

static bool isEmpty(const knImpulseStep* step, int part) {
	for (int level = 0; level < step->graph.levelCount; ++level) {
		if (step->set.stages[part * step->graph.levelCount + level].colourCount > 0) {
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
							   .tasks = &step->context->tasks };
	if (step->set.stages[stage].colourCount > 0 || step->swept.rows.count > 0) {
		step->context->report->iterations += knSweep_Velocities(&step->set, stage, &options, step->blocks.u);
		noteChanges(step, KN_PART_END, NULL);
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
		bool turns = knTimeStep_Aim(&step->time, part);
		int sweeps = sweepsOf(step, part);
		// new arms come half way
		const knSweepMomentum* momentum =
			sweepPart(step, part, turns ? (sweeps + 1) / ROUNDS : sweeps, step->blocks.u);
		for (int round = 1; turns && momentum != NULL && round < ROUNDS; ++round) {
			store(step);
			knTimeStep_Aim(&step->time, part);
			momentum = sweepPart(step, part, (sweeps + 1) / ROUNDS, step->blocks.u);
		}
		if (momentum == NULL) {
			return false;
		}
		noteChanges(step, part, momentum);
	}
	store(step);
	return true;
}

// --- after the move ------------------------------------------------------------------------------------------

bool knContactSolve_Settle(knImpulseStep* step) {
	knStepContext* context = step->context;
	const int bodyCount = step->model->bodyCount;
	step->time.ignored = step->fast.kind;
	if (!knTimeStep_Settle(&step->time)) {
		return false;
	}
	context->report->work += knTimeStep_AddExtra(&step->time);
	knContactCorrection correction = { .model = step->model,
									   .state = step->state,
									   .blocks = &step->blocks,
									   .contacts = &step->list,
									   .islands = &step->islands,
									   .start = step->start,
									   .time = &step->time,
									   .fast = &step->fast,
									   .tasks = context->tasks,
									   .arena = context->arena,
									   .p = KN_SCRATCH(context->arena, knTwist, bodyCount),
									   .turns = KN_SCRATCH(context->arena, knQuat, bodyCount) };
	return !context->arena->failed &&
		   knJointSweeps_Correct(&step->swept, &correction, &step->set, step->endStage, endStageOf(step),
								 CORRECTION_SWEEPS);
}
