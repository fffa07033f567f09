// Rows and the global solve.

#include "solve/pgs.h"
#include "solve/subspace.h"
#include "solve/sweep_momentum.h"
#include "steppers/velocity/velocity_step.h"

enum {
	SMALL_GROUP = KN_SUBSPACE_POINTS,
};
#define SIDE_SWEEPS 10   // of landings and settlings in large groups
#define LARGE_ERROR 10.0 // of what a body's last sweep changed: what single points may have left

// The solve in which a group takes part, by what holds it together and by its size.
static knGlobalStage stageOfGroup(const knVelocityStep* step, const int32_t* points, int32_t group) {
	if (step->m.islands.jointed[group]) {
		return KN_STAGE_JOINTED;
	}
	return points[group] <= SMALL_GROUP ? KN_STAGE_SMALL : KN_STAGE_LARGE;
}

static int32_t groupOfChunk(const knVelocityStep* step, const knSweepChunk* chunk) {
	return knSubspace_GroupOf(step->m.islands.group, chunk);
}

// Which bodies belong together, and which of the global solves each group takes part in.
bool knVelocity_FindGroups(knVelocityStep* step) {
	const knModel* model = step->m.model;
	int32_t* points = KN_SCRATCH_ZERO(step->m.context->arena, int32_t, model->bodyCount);
	if (points == NULL || !knMaximal_FindIslands(&step->m)) {
		return false;
	}
	for (int i = 0; i < step->m.contacts.chunkCount; ++i) {
		points[groupOfChunk(step, &step->m.contacts.chunks[i])] += step->m.contacts.chunks[i].count;
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		int32_t group = step->m.islands.group[b];
		step->m.stageOf[b] = group >= 0 ? (int32_t)stageOfGroup(step, points, group) : -1;
	}
	for (int i = 0; i < step->m.contacts.chunkCount; ++i) {
		knSweepChunk* chunk = &step->m.contacts.chunks[i];
		chunk->stage = step->m.stageOf[groupOfChunk(step, chunk)];
	}
	return true;
}

static knSweepBlocks sweepBlocks(const knVelocityStep* step) {
	return (knSweepBlocks){ .count = step->m.blocks.count,
							.invMass = step->m.blocks.invMass,
							.invInertia = step->m.blocks.invInertia };
}

bool knVelocity_BuildGlobalSet(knVelocityStep* step) {
	const knStepContext* context = step->m.context;
	knSweepBlocks blocks = sweepBlocks(step);
	return knSweepSet_Build(&step->global, step->m.contacts.chunks, step->m.contacts.chunkCount,
							KN_STAGE_COUNT, step->m.contacts.points, &blocks, step->options.friction,
							&context->tasks, context->arena) &&
		   knJointSweeps_AddRows(&step->m.swept, &step->global, step->m.stageOf, KN_STAGE_JOINTED);
}

void knVelocity_LoadStage(knVelocityStep* step, int stage) {
	knSweepBlocks blocks = sweepBlocks(step);
	knSweepSet_Reload(&step->global, stage, step->m.contacts.points, &blocks, &step->m.context->tasks);
}

static bool loadStage(void* context, int stage) {
	knVelocity_LoadStage(context, stage);
	return true;
}

static double errorOfStage(void* context, int stage) {
	const knVelocityStep* step = context;
	double left = sqrt(step->options.settled[stage]);
	return stage == KN_STAGE_LARGE ? LARGE_ERROR * left : left;
}

// Sweeps over one stage; the points follow. False: no memory.
static bool solveStage(void* context, int stage, knTwist* u) {
	knVelocityStep* step = context;
	knSweepOptions options = step->options.solver;
	int sweeps = step->options.sweeps[stage];
	options.sweeps = stage == KN_STAGE_LARGE && sweeps > SIDE_SWEEPS ? SIDE_SWEEPS : sweeps;
	options.settled = step->options.settled[stage];
	if (step->options.conjugate && stage != KN_STAGE_JOINTED) {
		options.momentum = knSweepMomentum_Begin(&step->global, stage, stage + 1, step->m.blocks.count,
												 step->m.islands.group, NULL, step->m.context->arena);
		if (options.momentum == NULL) {
			return false;
		}
	}
	knSweep_Velocities(&step->global, stage, &options, u);
	knSweepSet_Store(&step->global, &step->m.context->tasks, step->m.contacts.points);
	return true;
}

static bool beginTimeStep(knVelocityStep* step) {
	knTimeSolver solver = { .stageCount = KN_STAGE_JOINTED,
							.roughStage = KN_STAGE_LARGE,
							.context = step,
							.load = loadStage,
							.error = errorOfStage,
							.solve = solveStage };
	return knMaximal_BeginTime(&step->m, solver) && knTimeStep_Bounce(&step->m.time);
}

knStatus knVelocity_BuildRows(knVelocityStep* step) {
	knMaximalStep* m = &step->m;
	knContactRows_Fill(&m->contacts, &m->input, m->cold ? NULL : knStepMemory_Contacts(m->state));
	bool built = knMaximal_ListPairs(m) && knMaximal_DropPassing(m) && knVelocity_FindGroups(step) &&
				 knMaximal_WeighGroups(m) && knVelocity_FindSleepers(step) && knMaximal_SolveJoints(m) &&
				 knMaximal_BeginSwept(m) && knMaximal_BounceSwept(m) && beginTimeStep(step) &&
				 knVelocity_BuildGlobalSet(step);
	return built ? KN_OK : knMaximal_OutOfMemory(m);
}

// Hands the merits of one solve on to the user's function.
typedef struct Listener {
	const knStepContext* context;
	int solve;
} Listener;

static void tellConvergence(int sweep, double theta, void* context) {
	const Listener* listener = context;
	listener->context->convergenceFn(listener->solve, sweep, theta, listener->context->convergenceContext);
}

knStatus knVelocity_SolveGlobal(knVelocityStep* step) {
	knStepContext* context = step->m.context;
	knSweepOptions options = step->options.solver;
	Listener listener = { .context = context };
	options.stopTheta = context->settings->study.stopTheta;
	options.stopStall = context->settings->study.stopStall;
	options.fn = context->convergenceFn != NULL ? tellConvergence : NULL;
	options.context = &listener;
	knPgs_Begin(&step->m.swept.rows, step->m.blocks.u);
	knVelocity_QuietSleepers(step);
	int most = 0;
	context->report->theta = 0.0;
	for (int stage = 0; stage < KN_STAGE_COUNT; ++stage) {
		bool jointed = stage == KN_STAGE_JOINTED && step->m.swept.rows.count > 0;
		if (step->global.stages[stage].colourCount == 0 && !jointed) {
			continue;
		}
		options.sweeps = step->options.sweeps[stage];
		options.settled = step->options.settled[stage];
		options.momentum = NULL;
		if (step->options.conjugate && stage != KN_STAGE_JOINTED) {
			options.momentum = knSweepMomentum_Begin(&step->global, stage, stage + 1, step->m.blocks.count,
													 step->m.islands.group, NULL, context->arena);
			if (options.momentum == NULL) {
				return knMaximal_OutOfMemory(&step->m);
			}
		}
		bool turns = stage < step->m.time.solver.stageCount && knTimeStep_Aim(&step->m.time, stage);
		if (turns) {
			// new arms come half way
			options.sweeps = (options.sweeps + 1) / KN_TURNING_ROUNDS;
		}
		int done = knSweep_Velocities(&step->global, stage, &options, step->m.blocks.u);
		for (int round = 1; turns && round < KN_TURNING_ROUNDS; ++round) {
			knSweepSet_Store(&step->global, &context->tasks, step->m.contacts.points);
			knTimeStep_Aim(&step->m.time, stage);
			if (options.momentum != NULL) {
				options.momentum =
					knSweepMomentum_Begin(&step->global, stage, stage + 1, step->m.blocks.count,
										  step->m.islands.group, NULL, context->arena);
			}
			done += knSweep_Velocities(&step->global, stage, &options, step->m.blocks.u);
		}
		most = done > most ? done : most;
		knMaximal_NoteChanges(&step->m, stage, options.momentum);
		context->report->theta +=
			knSweep_Merit(&step->global, stage, options.unscaled, &context->tasks, step->m.blocks.u);
		listener.solve += 1;
	}
	knSweepSet_Store(&step->global, &context->tasks, step->m.contacts.points);
	context->report->iterations += most;
	return KN_OK;
}

// --- corrections -----------------------------------------------------------------------------------------

knStatus knVelocity_FindAgain(knVelocityStep* step) {
	// the contacts that carried impulses stay the step's contacts
	step->m.correction.time = NULL;
	knStatus status = knMaximal_FindContacts(&step->m, false);
	if (status != KN_OK) {
		return status;
	}
	knContactRows_Fill(&step->m.contacts, &step->m.input, NULL);
	step->m.correction.depthsKnown = false;
	if (!knVelocity_FindGroups(step)) {
		return knMaximal_OutOfMemory(&step->m);
	}
	knMaximal_LeaveSolved(&step->m);
	return knVelocity_BuildGlobalSet(step) ? KN_OK : knMaximal_OutOfMemory(&step->m);
}

knStatus knVelocity_CorrectLayers(knVelocityStep* step) {
	bool pushed = knContactCorrection_PushLevels(&step->m.correction, step->m.known.level,
												 step->m.known.levelCount, step->options.correctionSweeps);
	return pushed ? KN_OK : knMaximal_OutOfMemory(&step->m);
}

knStatus knVelocity_CorrectGlobal(knVelocityStep* step) {
	if (!knJointSweeps_Correct(&step->m.swept, &step->m.correction, &step->global, step->m.stageOf,
							   KN_STAGE_JOINTED, step->options.correctionSweeps)) {
		return knMaximal_OutOfMemory(&step->m);
	}
	step->m.context->report->iterations += step->options.correctionSweeps;
	return KN_OK;
}
