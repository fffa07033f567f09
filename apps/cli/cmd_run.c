// knuckle run: simulates a scene or file, shows a summary, writes recordings and measures.
//
// Everything that can be refused (options, scene, stepper, output files) is refused before the first step. A run that
// fails or is interrupted (Ctrl-C, SIGTERM) on the way still closes its recordings properly: they hold the frames until
// there.
#include <stdio.h>
#include <string.h>

#include "interrupt.h"
#include "options.h"
#include "output_file.h"
#include "run_report.h"
#include "sensor_file.h"

enum {
	OPTION_STEPPER,
	OPTION_DT,
	OPTION_TIME,
	OPTION_STEPS,
	OPTION_THREADS,
	OPTION_SEED,
	OPTION_SET,
	OPTION_KEYFRAME,
	OPTION_LENIENT,
	OPTION_SENSORS,
	OPTION_CONTROL,
	OPTION_OUT,
	OPTION_FPS,
	OPTION_MEASURE_EVERY,
	OPTION_JSON,
};

static const cliOption options[] = {
	{ "--stepper", "NAME", "the method (default: what the scene names)" },
	{ "--dt", "S", "time step (default: the scene's)" },
	{ "--time", "S", "simulated time (default: the scene's; 5 for files)" },
	{ "--steps", "N", "number of steps, instead of --time" },
	{ "--threads", "N", "threads (1); results do not depend on it" },
	{ "--seed", "N", "seed of random scenes (1)" },
	{ "--set", "NAME=VALUE", "scene parameter, gravity=x,y,z, friction=M, restitution=E or stepper setting" },
	{ "--keyframe", "NAME", "start from this keyframe of an MJCF file" },
	{ "--lenient", NULL, "run what is understood of a file, even if it will move otherwise" },
	{ "--sensors", "FILE.csv", "what the sensors of a file read, at every step: time,NAME,NAME..." },
	{ "--control", "FILE.csv", "values for actuators over time: time,NAME,NAME... (docs/cli.md)" },
	{ "--out", "FILE", "record to FILE.html (a page that plays it), .glb, .csv or .knt; may repeat" },
	{ "--fps", "N", "record N steps per second of simulated time (default: 60 to .html and .glb, else all)" },
	{ "--measure-every", "K", "measure every K steps (default: 1, penetration 10)" },
	{ "--json", "FILE|-", "write the measures as JSON; - is standard output, and then nothing else is" },
	{ NULL, NULL, NULL },
};

typedef struct RunOptions {
	cliSceneRequest request;
	int64_t measureEvery;
	double fps;
	int outCount;
	const char* outs[CLI_MAX_OUTPUTS];
	const char* json;    // NULL: none
	const char* control; // NULL: none
	const char* sensors; // NULL: none
} RunOptions;

// --- reading the options ---------------------------------------------------------------------------------------

static bool isPage(const char* path) {
	return cliHasExtension(path, ".html");
}

// What is watched has frames at the pace of a screen; what is analysed has every step.
static bool isWatched(const char* path) {
	return isPage(path) || cliHasExtension(path, ".glb");
}

static bool addOut(RunOptions* run, const char* path) {
	bool known = isWatched(path) || cliHasExtension(path, ".csv") || cliHasExtension(path, ".knt");
	if (!known) {
		cliFail(CLI_USAGE, "cannot write '%s': a recording ends in .html, .glb, .csv or .knt", path);
		return false;
	}
	if (run->outCount == CLI_MAX_OUTPUTS) {
		cliFail(CLI_USAGE, "more than %d times --out", CLI_MAX_OUTPUTS);
		return false;
	}
	run->outs[run->outCount++] = path;
	run->request.looks = run->request.looks || isWatched(path);
	return true;
}

static bool setOption(RunOptions* run, int option, const char* value) {
	switch (option) {
	case OPTION_SENSORS:
		run->sensors = value;
		return true;
	case OPTION_CONTROL:
		run->control = value;
		return true;
	case OPTION_OUT:
		return addOut(run, value);
	case OPTION_FPS:
		return cliParseNumber("--fps", value, 1e-6, 1e9, "a positive number of frames per second", &run->fps);
	case OPTION_MEASURE_EVERY:
		return cliParseWhole("--measure-every", value, 1.0, CLI_MAX_STEPS, &run->measureEvery);
	case OPTION_JSON:
		run->json = value;
		return true;
	default:
		return cliSceneRequest_SetOption(&run->request, options[option].name, value);
	}
}

// Every output has its own file.
static bool checkOutputs(const RunOptions* run) {
	for (int i = 0; i < run->outCount; ++i) {
		bool twice = run->json != NULL && strcmp(run->json, run->outs[i]) == 0;
		for (int j = 0; j < i; ++j) {
			twice = twice || strcmp(run->outs[j], run->outs[i]) == 0;
		}
		if (twice) {
			cliFail(CLI_USAGE, "'%s' is named twice as an output", run->outs[i]);
			return false;
		}
	}
	return true;
}

// An exit status, or -1 to go on.
static int readOptions(RunOptions* run, const cliCommand* command, int argc, char** argv) {
	cliReader reader = cliReader_Begin(command, argc, argv);
	const char* value;
	int option;
	run->request = cliSceneRequest_Default();
	while ((option = cliReader_Next(&reader, &value)) != CLI_END) {
		if (option == CLI_HELPED) {
			return CLI_DONE;
		}
		if (option == CLI_REFUSED) {
			return CLI_USAGE;
		}
		if (option == CLI_OPERAND && run->request.source != NULL) {
			return cliFail(CLI_USAGE, "one scene at a time: '%s' or '%s'?", run->request.source, value);
		}
		if (option == CLI_OPERAND) {
			run->request.source = value;
		} else if (!setOption(run, option, value)) {
			return CLI_USAGE;
		}
	}
	if (run->request.source == NULL) {
		return cliFail(CLI_USAGE, "run what? 'knuckle run SCENE|FILE'; 'knuckle scenes' lists the scenes");
	}
	if (run->request.time >= 0.0 && run->request.steps >= 0) {
		return cliFail(CLI_USAGE, "give either --time or --steps");
	}
	return checkOutputs(run) ? -1 : CLI_USAGE;
}

// --- outputs ---------------------------------------------------------------------------------------------------

typedef struct Outputs {
	cliRecording recordings[CLI_MAX_OUTPUTS]; // in the order of RunOptions.outs
	bool jsonFile;
	cliOutputFile json;
} Outputs;

// Undoes openOutputs before anything was recorded.
static void dropOutputs(Outputs* outputs, const RunOptions* run) {
	for (int i = 0; i < run->outCount; ++i) {
		cliRecording* recording = &outputs->recordings[i];
		cliPage_Abandon(recording->page);
		if (recording->recorder == NULL) {
			continue;
		}
		knRecorder_Abandon(recording->recorder);
		if (cliHasExtension(run->outs[i], ".knt")) {
			remove(run->outs[i]); // written in place, it would stay
		}
	}
	if (outputs->jsonFile) {
		cliOutputFile_Abandon(&outputs->json);
	}
}

static bool canWriteAll(const RunOptions* run) {
	for (int i = 0; i < run->outCount; ++i) {
		if (!cliCanWrite(run->outs[i])) {
			return false;
		}
	}
	return run->json == NULL || strcmp(run->json, "-") == 0 || cliCanWrite(run->json);
}

static bool openRecording(cliRecording* recording, const char* path, const RunOptions* run,
						  const cliScene* scene, knWorld* world) {
	knError error = { 0 };
	recording->fps = run->fps > 0.0 || !isWatched(path) ? run->fps : CLI_WATCHED_FPS;
	if (isPage(path)) {
		recording->page = cliPage_Open(path, scene, world, &error);
	} else {
		recording->recorder = knRecorder_Open(path, world, NULL, &error);
	}
	if (recording->page == NULL && recording->recorder == NULL) {
		cliFailWith(CLI_BAD_INPUT, &error);
		return false;
	}
	return true;
}

// Files that are replaced only when complete come first, so that a refusal leaves older ones as they were.
static int openOutputs(Outputs* outputs, const RunOptions* run, const cliScene* scene, knWorld* world) {
	if (!canWriteAll(run)) {
		return CLI_BAD_INPUT;
	}
	if (run->json != NULL && strcmp(run->json, "-") != 0) {
		outputs->jsonFile = cliOutputFile_Open(&outputs->json, run->json);
		if (!outputs->jsonFile) {
			return CLI_BAD_INPUT;
		}
	}
	for (int pass = 0; pass < 2; ++pass) {
		for (int i = 0; i < run->outCount; ++i) {
			if (cliHasExtension(run->outs[i], ".knt") != (pass == 1)) {
				continue;
			}
			if (!openRecording(&outputs->recordings[i], run->outs[i], run, scene, world)) {
				dropOutputs(outputs, run);
				return CLI_BAD_INPUT;
			}
		}
	}
	return CLI_DONE;
}

// A recording that broke earlier has been complained about.
static int closeRecordings(Outputs* outputs, const RunOptions* run, const cliResult* result,
						   knStatus stepped) {
	int status = CLI_DONE;
	for (int i = 0; i < run->outCount; ++i) {
		const cliRecording* recording = &outputs->recordings[i];
		knError error = { 0 };
		knStatus closed = recording->page != NULL ? cliPage_Close(recording->page, result->scene,
																  result->world, result->measures, &error)
												  : knRecorder_Close(recording->recorder, &error);
		if (closed != KN_OK && stepped != KN_IO) {
			status = cliFailWith(CLI_BAD_INPUT, &error);
		}
	}
	return status;
}

static int writeJson(Outputs* outputs, const cliResult* result) {
	knAllocator allocator = knAllocator_Default();
	knJson json;
	knJson_Init(&json, &allocator);
	cliResult_WriteJson(result, &json);
	int status = CLI_DONE;
	FILE* stream = outputs->jsonFile ? outputs->json.stream : stdout;
	if (json.failed) {
		cliOutputFile_Abandon(&outputs->json);
		status = cliFail(CLI_FAILED, "out of memory while writing JSON");
	} else {
		fputs(json.text, stream);
		if (outputs->jsonFile) {
			status = cliOutputFile_Commit(&outputs->json) ? CLI_DONE : CLI_BAD_INPUT;
		}
	}
	knJson_Free(&json);
	return status;
}

// --- the command -----------------------------------------------------------------------------------------------

static void printOutputs(const RunOptions* run, const cliResult* result) {
	for (int i = 0; i < run->outCount; ++i) {
		printf("  wrote            %s%s\n", run->outs[i],
			   result->failure == NULL ? ""
			   : cliInterrupted()      ? " (up to the interruption)"
									   : " (up to the failure)");
	}
	if (run->json != NULL) {
		printf("  wrote            %s\n", run->json);
	}
}

// A run on its way: what its report needs.
typedef struct Running {
	const RunOptions* run;
	const cliScene* scene;
	knWorld* world;
	cliControl* control;
	cliSensors* sensors;
	Outputs* outputs;
	cliMeasures measures;
} Running;

// Closes the outputs and reports.
static int finishRun(Running* running, knStatus stepped, const knError* error) {
	const RunOptions* run = running->run;
	char why[sizeof(knError) + 64];
	knError_Format(error, why, sizeof(why));
	cliResult result = { .source = run->request.source,
						 .scene = running->scene,
						 .world = running->world,
						 .threads = run->request.threads,
						 .measures = &running->measures,
						 .failure = stepped != KN_OK ? why : NULL };
	int status = closeRecordings(running->outputs, run, &result, stepped);
	if (run->json != NULL) {
		int written = writeJson(running->outputs, &result);
		status = status != CLI_DONE ? status : written;
	}
	if (run->json == NULL || strcmp(run->json, "-") != 0) {
		cliResult_Print(&result);
		if (status == CLI_DONE && stepped != KN_IO) {
			printOutputs(run, &result);
		}
	}
	if (stepped != KN_OK) {
		status = stepped == KN_IO          ? CLI_BAD_INPUT
				 : stepped == KN_CANCELLED ? cliInterrupt_ExitStatus()
										   : CLI_FAILED;
		cliFail(status, "%s: stopped after %lld of %lld steps, at %g s: %s", run->request.source,
				(long long)running->measures.steps, (long long)running->scene->steps,
				knWorld_Time(running->world), why);
	}
	return status;
}

// In place of a step that does not end after an interruption (cliInterrupt_FinishWith).
static int finishWithoutStep(void* context) {
	Running* running = context;
	knError error = { 0 };
	knError_Set(&error, KN_CANCELLED, NULL, "interrupted");
	int status = finishRun(running, KN_CANCELLED, &error);
	(void)cliSensors_Close(running->sensors);
	return status;
}

// Simulates and reports; the outputs are open.
static int runOpened(Running* running) {
	const RunOptions* run = running->run;
	cliPlan plan = { .scene = running->scene,
					 .world = running->world,
					 .measure = true,
					 .measureEvery = run->measureEvery,
					 .recordingCount = run->outCount,
					 .cancelled = cliInterrupted,
					 .control = run->control != NULL ? running->control : NULL,
					 .watch = run->sensors != NULL ? cliSensors_Write : NULL,
					 .watchContext = running->sensors,
					 .label = run->request.source };
	memcpy(plan.recordings, running->outputs->recordings, sizeof(plan.recordings));
	cliMeasures_Begin(&running->measures);
	knError error = { 0 };
	cliInterrupt_FinishWith(finishWithoutStep, running);
	knStatus stepped = cliSimulate(&plan, &running->measures, &error);
	int status = finishRun(running, stepped, &error);
	cliMeasures_Free(&running->measures);
	return status;
}

static int runCommand(const cliCommand* command, int argc, char** argv) {
	RunOptions run = { 0 };
	int status = readOptions(&run, command, argc, argv);
	if (status >= 0) {
		return status;
	}
	cliScene scene;
	status = cliScene_Open(&scene, &run.request);
	if (status != CLI_DONE) {
		return status;
	}
	cliWorld world;
	status = cliWorld_Open(&world, scene.scene, run.request.stepper, run.request.threads);
	if (status == CLI_DONE) {
		Outputs outputs = { 0 };
		cliInterrupt_Catch();
		cliControl control = { 0 };
		status = run.control != NULL ? cliControl_Open(&control, run.control, scene.scene) : CLI_DONE;
		cliSensors sensors = { 0 };
		if (status == CLI_DONE && run.sensors != NULL) {
			status = cliSensors_Open(&sensors, run.sensors, scene.scene);
		}
		if (status == CLI_DONE) {
			status = openOutputs(&outputs, &run, &scene, world.world);
		}
		if (status == CLI_DONE) {
			Running running = { .run = &run,
								.scene = &scene,
								.world = world.world,
								.control = &control,
								.sensors = &sensors,
								.outputs = &outputs };
			status = runOpened(&running);
		}
		const int written = cliSensors_Close(&sensors);
		status = status == CLI_DONE ? written : status;
		cliControl_Close(&control);
		cliWorld_Close(&world);
	}
	cliScene_Close(&scene);
	return status;
}

const cliCommand cliRunCommand = {
	.name = "run",
	.operands = "SCENE|FILE",
	.summary = "simulate a scene of the catalogue or an MJCF file",
	.options = options,
	.notes = "examples:\n"
			 "  knuckle run box-stack\n"
			 "  knuckle run tower --set layers=16 --time 5 --out tower.html\n"
			 "  knuckle run slope --set angle=35 --set friction=0.5 --json -\n",
	.run = runCommand,
};
