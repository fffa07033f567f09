// The solver of the mean time step (dynamics/time_step.h): sweeps over the levels of the contact graph, upwards and down
// again, in conjugate directions. Its stages are groups of bodies by size: small ones are solved to the end, large ones as
// far as the sweeps go, and what is left of them is the business of columns and shock propagation.

#include "steppers/impulse/impulse_memory.h"
#include "steppers/impulse/impulse_step.h"

#define SMALL_SWEEPS 60 // of small groups; in the step itself unless the user sets them
#define LEAST_SWEEPS                                                                                         \
	5 // of small groups that stand on the ground: what changes little in a sweep may be far off
#define SMALL_SETTLED 1e-9  // of g h: sweeps of small groups that change speeds by less are the last
#define LARGE_SETTLED 1e-7  // the same of large ones
#define LEAST_SETTLED 1e-12 // m/s, without gravity
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

// --- the time step's interface -----------------------------------------------------------------------------

static bool buildMean(knImpulseStep* step) {
	static const int parts[KN_PART_MEAN_COUNT] = { KN_PART_SMALL, KN_PART_LARGE };
	step->meanBuilt = knContactSweep_BuildSet(step, &step->mean, parts, KN_PART_MEAN_COUNT);
	return step->meanBuilt;
}

static bool loadPart(void* context, int part) {
	knImpulseStep* step = context;
	if (!step->meanBuilt) {
		return buildMean(step);
	}
	knSweepBlocks blocks = { .count = step->model->bodyCount,
							 .invMass = step->blocks.invMass,
							 .invInertia = step->blocks.invInertia };
	for (int level = 0; level < step->graph.levelCount; ++level) {
		knSweepSet_Reload(&step->mean, part * step->graph.levelCount + level, step->list.points, &blocks,
						  &step->context->tasks);
	}
	return true;
}

// Sweeps over one part; u changes with the impulses of the set.
static knContactNncg* sweepPart(knImpulseStep* step, int part, int sweeps, knTwist* u) {
	const int levels = step->graph.levelCount;
	const double settled = settledSpeed(step, part);
	knContactNncg* momentum =
		knContactNncg_Begin(step, &step->mean, part, part * levels, (part + 1) * levels);
	bool done = momentum == NULL;
	for (int k = 0; k < sweeps && !done; ++k) {
		done = knContactNncg_Sweep(momentum, NULL, u) <= settled &&
			   (part == KN_PART_LARGE || k + 1 >= LEAST_SWEEPS);
		step->context->report->iterations += part == KN_PART_LARGE;
		if (!done && k + 1 < sweeps) {
			knContactNncg_After(momentum, u);
		}
	}
	if (momentum != NULL) {
		knContactNncg_End(momentum);
	}
	return momentum;
}

static bool solvePart(void* context, int part, knTwist* u) {
	knImpulseStep* step = context;
	int sweeps = part == KN_PART_LARGE ? SIDE_SWEEPS : SMALL_SWEEPS;
	if (sweepPart(step, part, sweeps, u) == NULL) {
		return false;
	}
	knSweepSet_Store(&step->mean, &step->context->tasks, step->list.points);
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
							   .memory = knImpulseMemory_Contacts(step->state),
							   .solver = { .stageCount = KN_PART_MEAN_COUNT,
										   .roughStage = KN_PART_LARGE,
										   .context = step,
										   .load = loadPart,
										   .error = errorOfPart,
										   .solve = solvePart },
							   .arena = step->context->arena };
	return knTimeStep_Begin(&step->time);
}

bool knContactSolve_Bounce(knImpulseStep* step) {
	if (!knTimeStep_Bounce(&step->time)) {
		return false;
	}
	if (step->time.renewed) {
		knImpulseContacts_Take(step);
	}
	return true;
}

// --- the solve -----------------------------------------------------------------------------------------------

static void noteChanges(const knImpulseStep* step, int part, const knContactNncg* momentum) {
	for (int b = 0; b < step->model->bodyCount; ++b) {
		if (step->islands.group[b] == b && step->partOf[b] == part) {
			step->change[b] = knContactNncg_LastChange(momentum, b);
		}
	}
}

static bool isEmpty(const knImpulseStep* step, int part) {
	for (int level = 0; level < step->graph.levelCount; ++level) {
		if (step->mean.stages[part * step->graph.levelCount + level].colourCount > 0) {
			return false;
		}
	}
	return true;
}

bool knContactSolve_Run(knImpulseStep* step) {
	const knTasks* tasks = &step->context->tasks;
	knContactSweep_HandOver(step);
	bool turned = false;
	for (int part = 0; part < KN_PART_MEAN_COUNT; ++part) {
		if (!loadPart(step, part)) {
			return false;
		}
		if (isEmpty(step, part)) {
			continue;
		}
		bool turns = knTimeStep_Aim(&step->time, part);
		int sweeps = sweepsOf(step, part);
		// large groups do not settle: new arms come half way
		sweeps = turns && part == KN_PART_LARGE ? (sweeps + 1) / ROUNDS : sweeps;
		const knContactNncg* momentum = sweepPart(step, part, sweeps, step->blocks.u);
		for (int round = 1; turns && momentum != NULL && round < ROUNDS; ++round) {
			knSweepSet_Store(&step->mean, tasks, step->list.points);
			knTimeStep_Aim(&step->time, part);
			momentum = sweepPart(step, part, sweeps, step->blocks.u);
		}
		if (momentum == NULL) {
			return false;
		}
		noteChanges(step, part, momentum);
		turned = turned || turns;
	}
	knSweepSet_Store(&step->mean, tasks, step->list.points);
	if (turned) {
		knImpulseContacts_Take(step);
	} else {
		knContactSweep_TakeOver(step);
	}
	return true;
}

void knContactSolve_Sum(knImpulseStep* step) {
	knTimeStep_SumImpulses(&step->time);
}

bool knContactSolve_Finish(knImpulseStep* step) {
	knTimeStep_Finish(&step->time);
	if (step->time.guarded > 0) {
		knContactSweep_TakeOver(step);
		step->context->report->guarded = true;
	}
	return !step->context->arena->failed;
}

// --- after the move ------------------------------------------------------------------------------------------

static bool correct(knImpulseStep* step) {
	knStepContext* context = step->context;
	const int bodyCount = step->model->bodyCount;
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
	if (context->arena->failed) {
		return false;
	}
	knContactCorrection_Measure(&correction);
	knContactCorrection_Begin(&correction, &step->mean);
	for (int sweep = 0; sweep < CORRECTION_SWEEPS; ++sweep) {
		for (int stage = 0; stage < step->mean.stageCount; ++stage) {
			knSweep_Correct(&step->mean, stage, 1, &context->tasks, &step->mean.joints, correction.p);
		}
	}
	return knContactCorrection_Finish(&correction);
}

bool knContactSolve_Settle(knImpulseStep* step) {
	if (!step->meanBuilt) {
		return true;
	}
	step->time.ignored = step->fast.kind;
	if (!knTimeStep_Settle(&step->time)) {
		return false;
	}
	step->context->report->work += knTimeStep_AddExtra(&step->time);
	return correct(step);
}
