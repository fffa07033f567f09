// The adaptive stepper: long articulated bodies at the cost of their moving part (docs/methods/adaptive.md).
//
//   1 the hybrid body: segments, and what users changed              adaptive_begin.c, hybrid_forest.c
//   2 its segments as a world of their own                           weld.c
//   3 the reduced stepper's step of that: free motion, limits,
//     drives, contacts as articulated inertia over active joints     ../reduced, weld_contacts.c
//   4 segments, coordinates, memories back                           weld.c
//   5 every few steps and after blows: which joints move from now on,
//     the others stop by internal impulses                           region.c
//   6 poses and velocities of links                                  adaptive_begin.c
//
// scheme=paper: phase 3 is the published step in joint coordinates, its accelerations by divide and conquer; phase 5 looks at
// all joints (region.c).
#include "steppers/adaptive/adaptive_step.h"

#include "articulated/spanning.h"
#include "steppers/reduced/paper/step_paper.h"

#include <stdio.h>

#define UPDATE_TIME                                                                                          \
	0.01 // s, between updates unless told; blows run on: at 0.05 s a quarter of the later ones are missed
#define BUDGET_GAIN 0.5 // share of the way to the wanted number of joints that an update goes

// Runs the next phase unless one has failed.
#define THEN(status, phase)                                                                                  \
	do {                                                                                                     \
		if ((status) == KN_OK) {                                                                             \
			(status) = (phase);                                                                              \
		}                                                                                                    \
	} while (0)

// Contacts that carry something.
static int countLoaded(const knStepContext* context) {
	int count = 0;
	for (int k = 0; k < context->contactCount; ++k) {
		count += knLengthSquared(context->contacts[k].impulse) > 0.0;
	}
	return count;
}

// Time for an update: the interval is over, or something was struck.
static bool isDue(knAdaptiveStep* step) {
	int every = step->context->settings->adaptive.update;
	bool timely = every <= 0 && step->hybrid.header->sinceUpdate + 1 >= UPDATE_TIME / step->h * (1.0 - 1e-9);
	knHybridForestHeader* header = step->hybrid.header;
	int loaded = countLoaded(step->context);
	bool struck = loaded > header->loaded;
	header->loaded = loaded;
	header->sinceUpdate += 1;
	return struck || timely || (every > 0 && header->sinceUpdate >= every);
}

// As many joints as there is time for, by what those that moved took.
static void keepBudget(knAdaptiveStep* step, double seconds) {
	double budget = 1e-3 * step->context->settings->adaptive.budget;
	knHybridForestHeader* header = step->hybrid.header;
	if (budget < 0.0 || seconds <= 0.0) {
		return;
	}
	double present = header->activeCount + 1.0, wanted = present * budget / seconds;
	header->budgetCount = (int)knClamp(present + BUDGET_GAIN * (wanted - present), 1.0, 1e9);
}

static knStatus beginRegion(knAdaptiveStep* step) {
	if (!step->changed) {
		return KN_OK;
	}
	knStatus status = knAdaptive_Project(step);
	THEN(status, knAdaptive_UpdateRegion(step));
	step->changed = false;
	return status;
}

static knStatus stepInner(knAdaptiveStep* step) {
	if (!knAdaptive_IsPaper(step)) {
		return knReducedStepper.step(&step->inner, step->h);
	}
	knStatus status = knPaper_Step(&step->inner, step->h, true);
	if (status == KN_OK) {
		knState_UpdateCoordinates(step->inner.state, step->inner.model);
	}
	return status;
}

static knStatus stepAdaptive(knStepContext* context, double h) {
	double start = knStepContext_Now(context);
	knAdaptiveStep step = { .context = context, .h = h };
	knStatus status = knAdaptive_Begin(&step);
	THEN(status, beginRegion(&step));
	context->report->active = status == KN_OK ? step.hybrid.header->activeCount : 0;
	THEN(status, knAdaptive_Weld(&step));
	THEN(status, stepInner(&step));
	THEN(status, knAdaptive_Unweld(&step));
	if (status == KN_OK) {
		knAdaptive_WriteCoordinates(&step);
	}
	if (status == KN_OK && isDue(&step)) {
		keepBudget(&step, knStepContext_Now(context) - start);
		status = knAdaptive_UpdateRegion(&step);
	}
	THEN(status, knAdaptive_WakePressed(&step));
	if (status == KN_OK && context->journal != NULL && context->journal->failed) {
		status = knAdaptive_OutOfMemory(&step);
	}
	if (status == KN_OK) {
		knAdaptive_WriteLinks(&step);
	}
	context->report->solveTime = knStepContext_Now(context) - start - context->report->collideTime;
	return status;
}

// --- what it takes -------------------------------------------------------------------------------------------------

static knStatus refuse(const knModel* model, int joint, const char* what, knError* error) {
	char element[96];
	snprintf(element, sizeof(element), "joint '%s'",
			 knScene_GetJoint(model->scene, knModel_JointId(model, joint))->name);
	return knError_Set(error, KN_UNSUPPORTED, element,
					   "%s %s, which the adaptive stepper does not take; the reduced, velocity and impulse "
					   "steppers do",
					   element, what);
}

static knStatus checkJoints(const knModel* model, knArena* arena, knError* error) {
	bool* usable = KN_SCRATCH(arena, bool, model->jointCount + 1);
	knSpanning spanning;
	for (int j = 0; usable != NULL && j < model->jointCount; ++j) {
		usable[j] = true;
	}
	if (usable == NULL || !knSpanning_Find(&spanning, model, usable, NULL, arena)) {
		return knError_Set(error, KN_NO_MEMORY, "stepper", "there is no memory for the joints' trees");
	}
	for (int j = 0; j < model->jointCount; ++j) {
		const knJoint* joint = &model->joints[j];
		bool moves = model->bodyKind[joint->parent] == KN_BODY_DYNAMIC ||
					 model->bodyKind[joint->child] == KN_BODY_DYNAMIC;
		if (joint->kind == KN_JOINT_CUSTOM) {
			return refuse(model, j, "is a custom joint", error);
		}
		if (moves && !spanning.isTree[j]) {
			return refuse(model, j, "closes a loop", error);
		}
	}
	return KN_OK;
}

static knStatus checkAdaptive(const knModel* model, const knSettings* settings, knError* error) {
	knArena arena;
	knArena_Init(&arena, &model->allocator);
	knStatus status = checkJoints(model, &arena, error);
	knArena_Free(&arena);
	return status == KN_OK && settings->scheme == KN_SCHEME_PAPER ? knPaper_Check(settings, error) : status;
}

static size_t privateSize(const knModel* model, const knSettings* settings) {
	(void)settings;
	return knHybridForest_Size(model->bodyCount, 4 * model->bodyCount, 6 * model->jointCount);
}

const knStepperOps knAdaptiveStepper = {
	.name = "adaptive",
	.help = "joint coordinates of the joints that matter: the others are frozen, and cost nothing",
	.sleeps = false,
	.check = checkAdaptive,
	.privateSize = privateSize,
	.step = stepAdaptive,
	.journals = knAdaptive_Journals,
	.sync = knAdaptive_Sync,
	.motion = knAdaptive_Motion,
	.active = knAdaptive_IsActive,
	.energy = knAdaptive_Energy,
};
