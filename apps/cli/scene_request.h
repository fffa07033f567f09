// A scene as the command line asks for it: a name of the catalogue or a file, with --set, --seed, --keyframe and the
// planned length of the run. Shared by run, info, convert and bench, so that all of them see the same scene.
#pragma once

#include "catalogue.h"
#include "cli.h"
#include "knuckle/io.h"

#define CLI_MAX_SETS 64
#define CLI_MAX_STEPS 2000000000.0
#define CLI_MAX_THREADS 256.0
#define CLI_MAX_SEED 9007199254740992.0 // 2^53

typedef struct cliSceneRequest {
	const char* source; // scene or file
	const char* sets[CLI_MAX_SETS];
	int setCount;
	const char* keyframe; // NULL: the file's own
	const char* stepper;  // NULL: the scene's
	const char* const*
		compared; // steppers of which one must read each --set, "NAME" or "NAME:paper"; NULL: `stepper`
	int comparedCount;
	const char* seed; // NULL: the scene's
	double dt;        // 0: the scene's
	double time;      // negative: not given
	int64_t steps;    // negative: not given
	int threads;
	bool lenient;   // take what is understood of a file
	bool looks;     // and what only shows
	bool ownReport; // the command tells itself what the loader reports
} cliSceneRequest;

typedef struct cliScene {
	knScene* scene;
	const knSceneEntry* entry; // NULL: from a file
	knSceneArgs args;          // if there is an entry
	knLoadReport report;       // what the file's loader ignored
	knSetMotion* motion;       // what moves in a set from a .glb; NULL: nothing
	double dt;
	int64_t steps;
} cliScene;

cliSceneRequest cliSceneRequest_Default(void);
// One more "name=value" for --set; false after a complaint.
bool cliSceneRequest_AddSet(cliSceneRequest* request, const char* text);
// Takes --stepper, --dt, --time, --steps, --threads, --seed, --set, --lenient or --keyframe; false after a complaint.
bool cliSceneRequest_SetOption(cliSceneRequest* request, const char* name, const char* value);

// Builds or loads, and applies the settings. Returns an exit status; after CLI_DONE call cliScene_Close.
int cliScene_Open(cliScene* scene, const cliSceneRequest* request);
// The same for a scene that is there already; it belongs to `scene` from now on, also after a complaint.
int cliScene_Adopt(cliScene* scene, knScene* given, const cliSceneRequest* request);
void cliScene_Close(cliScene* scene);

// False after a complaint when this build has no such stepper.
bool cliCheckStepper(const char* name);
