// One run from start to end (simulate.h).
#include "simulate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interrupt.h"
#include "progress.h"

#define PENETRATION_EVERY 10

// --- the world -----------------------------------------------------------------------------------------------

static void printLog(knLogLevel level, const char* message, void* context) {
	(void)context;
	fprintf(stderr, "knuckle: %s: %s\n", level >= KN_LOG_ERROR ? "error" : "warning", message);
}

static int openWorld(cliWorld* world, const knScene* scene, const char* stepper, int threads) {
	knError error = { 0 };
	world->model = knModel_Create(scene, &error);
	if (world->model == NULL) {
		return cliFailWith(CLI_BAD_INPUT, &error);
	}
	knWorldDef def = knWorldDef_Default();
	def.stepper = stepper;
	def.clock = cliClock;
	def.log.fn = printLog;
	def.log.threshold = KN_LOG_WARNING;
	if (threads > 1) {
		world->pool = knTaskPool_Create(threads, NULL, &error);
		if (world->pool == NULL) {
			return cliFailWith(CLI_FAILED, &error);
		}
		def.tasks = knTaskPool_Tasks(world->pool);
	}
	world->world = knWorld_Create(world->model, &def, &error);
	return world->world != NULL ? CLI_DONE : cliFailWith(CLI_BAD_INPUT, &error);
}

int cliWorld_Open(cliWorld* world, const knScene* scene, const char* stepper, int threads) {
	memset(world, 0, sizeof(*world));
	int status = openWorld(world, scene, stepper, threads);
	if (status != CLI_DONE) {
		cliWorld_Close(world);
	}
	return status;
}

void cliWorld_Close(cliWorld* world) {
	if (world->world != NULL) {
		knWorld_Destroy(world->world);
	}
	if (world->pool != NULL) {
		knTaskPool_Destroy(world->pool);
	}
	if (world->model != NULL) {
		knModel_Release(world->model);
	}
	memset(world, 0, sizeof(*world));
}

// --- the run -------------------------------------------------------------------------------------------------

// With fps, the first step at or after each frame time; never between steps.
static bool isFrame(double dt, double fps, int64_t step) {
	if (fps <= 0.0 || step == 0) {
		return true;
	}
	double frames = dt * fps, tolerance = 1e-9;
	return floor((double)step * frames + tolerance) > floor((double)(step - 1) * frames + tolerance);
}

static knStatus record(const cliPlan* plan, int64_t step, knError* error) {
	for (int i = 0; i < plan->recordingCount; ++i) {
		const cliRecording* recording = &plan->recordings[i];
		if (!isFrame(plan->scene->dt, recording->fps, step)) {
			continue;
		}
		knStatus status = recording->page != NULL ? cliPage_Write(recording->page, plan->world, error)
												  : knRecorder_Write(recording->recorder, plan->world, error);
		if (status != KN_OK) {
			return status;
		}
	}
	return KN_OK;
}

// What was measured goes to the plots of pages.
static knStatus plot(const cliPlan* plan, const cliMeasures* measures, unsigned what, knError* error) {
	for (int i = 0; i < plan->recordingCount && measures->finite; ++i) {
		cliPage* page = plan->recordings[i].page;
		knStatus status = page != NULL ? cliPage_Plot(page, plan->world, measures, what, error) : KN_OK;
		if (status != KN_OK) {
			return status;
		}
	}
	return KN_OK;
}

// Measures, facts and frames of the state after `step` steps.
static knStatus look(const cliPlan* plan, int64_t step, cliMeasures* measures, knError* error) {
	const cliScene* scene = plan->scene;
	int64_t everyState = plan->measureEvery > 0 ? plan->measureEvery : 1;
	int64_t everyPenetration = plan->measureEvery > 0 ? plan->measureEvery : PENETRATION_EVERY;
	bool last = step == scene->steps;
	unsigned measured = 0;
	if (plan->measure && (last || step % everyState == 0)) {
		cliMeasures_AddState(measures, plan->world);
		measured |= CLI_PLOT_STATE;
	}
	if (plan->measure && measures->finite && (last || step % everyPenetration == 0)) {
		knStatus status = cliMeasures_AddPenetration(measures, plan->world, error);
		if (status != KN_OK) {
			return status;
		}
		measured |= CLI_PLOT_PENETRATION;
	}
	if (!measures->finite) {
		return knError_Set(error, KN_DIVERGED, NULL, "the state is no longer finite");
	}
	if (plan->measure && scene->entry != NULL && scene->entry->observe != NULL) {
		scene->entry->observe(plan->world, &scene->args, &measures->checks);
	}
	if (plan->watch != NULL) {
		plan->watch(plan->world, step, plan->watchContext);
	}
	knStatus status = plot(plan, measures, measured, error);
	return status == KN_OK ? record(plan, step, error) : status;
}

static void runScript(const cliPlan* plan, cliMeasures* measures) {
	const knSceneEntry* entry = plan->scene->entry;
#ifdef KN_HAVE_MJCF
	if (plan->scene->motion != NULL) {
		knSetMotion_Apply(plan->scene->motion, plan->world, plan->scene->dt);
	}
#endif
	if (entry == NULL || entry->script == NULL) {
		return;
	}
	double before = plan->measure ? cliTotalEnergy(plan->world) : 0.0;
	entry->script(plan->world, &plan->scene->args);
	if (plan->measure) {
		cliMeasures_AddScript(measures, plan->world, before);
	}
}

knStatus cliSimulate(const cliPlan* plan, cliMeasures* measures, knError* error) {
	const cliScene* scene = plan->scene;
	cliProgress progress = cliProgress_Begin(plan->label, scene->steps);
	knStatus status = look(plan, 0, measures, error);
	for (int64_t step = 1; step <= scene->steps && status == KN_OK; ++step) {
		runScript(plan, measures);
		if (plan->control != NULL) {
			cliControl_Apply(plan->control, plan->world);
		}
		cliInterrupt_BeginStep();
		status = plan->step != NULL ? plan->step(plan->stepContext, scene->dt, error)
									: knWorld_Step(plan->world, scene->dt, error);
		cliInterrupt_EndStep();
		if (status == KN_OK && !cliMeasures_AddStep(measures, knWorld_Report(plan->world))) {
			status = knError_Set(error, KN_NO_MEMORY, NULL, "out of memory");
		}
		if (status == KN_OK) {
			status = look(plan, step, measures, error);
		}
		if (status == KN_OK && plan->cancelled != NULL && plan->cancelled()) {
			status = knError_Set(error, KN_CANCELLED, NULL, "interrupted");
		}
		cliProgress_Update(&progress, step);
	}
	cliProgress_End(&progress);
	// a step that neither ran out of something nor failed to write met numbers that it could not use
	bool ranOut = status == KN_NO_MEMORY || status == KN_LIMIT || status == KN_IO || status == KN_CANCELLED;
	measures->finite = measures->finite && (status == KN_OK || ranOut);
	cliMeasures_Finish(measures, plan->world);
	return status;
}
