// One run from start to end: script, step, measure, observe, record. Used by run and bench.
#pragma once

#include "control_file.h"
#include "page_output.h"
#include "run_measures.h"
#include "scene_request.h"

#define CLI_MAX_OUTPUTS 16

// A recording in progress: of a recorder, or of a page.
typedef struct cliRecording {
	knRecorder* recorder;
	cliPage* page;
	double fps; // 0: every step is recorded
} cliRecording;

typedef void cliWatchFn(knWorld* world, int64_t step, void* context);

// One step by somebody else than the world itself, as knWorld_Step does it.
typedef knStatus cliStepFn(void* context, double dt, knError* error);

typedef struct cliPlan {
	const cliScene* scene;
	knWorld* world;
	bool measure;         // false: time only (bench)
	int64_t measureEvery; // 0: poses every step, penetration every 10th
	int recordingCount;
	cliRecording recordings[CLI_MAX_OUTPUTS];
	bool (*cancelled)(void); // asked after each step, true ends the run (KN_CANCELLED); NULL: never
	const char* label;       // of the progress bar
	cliWatchFn* watch;       // sees the start and the state after every step; NULL: nobody does
	void* watchContext;
	cliControl* control; // values for actuators over time; NULL: none
	cliStepFn* step;     // NULL: knWorld_Step
	void* stepContext;
} cliPlan;

// Model, threads and world of a scene.
typedef struct cliWorld {
	knModel* model;
	knTaskPool* pool; // NULL: one thread
	knWorld* world;
} cliWorld;

// Returns an exit status; after CLI_DONE call cliWorld_Close.
int cliWorld_Open(cliWorld* world, const knScene* scene, const char* stepper, int threads);
void cliWorld_Close(cliWorld* world);

// The planned steps. KN_OK, or why the run ended early; `measures` then holds what was until there.
knStatus cliSimulate(const cliPlan* plan, cliMeasures* measures, knError* error);
