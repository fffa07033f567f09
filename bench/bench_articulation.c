// knuckle bench articulation: the impulse stepper and its joints (Guendelman et al. 2003, Weinstein et al. 2006). Scenes named
// after the suite restrict it to them; --steps N makes every run that short. With --out FOLDER curves become SVGs there and
// numbers FOLDER/articulation.csv; with --out FILE.csv the numbers go there alone.
//
//   articulation-errors   joint error over time and against sweeps; before and after (joint_errors.c)
//   articulation-times    what joints cost, and how cost grows with bodies and contacts (joint_costs.c)
//   articulation          both
#include <string.h>

#include "joint_bench.h"

bool knJointBench_Wants(const knJointBench* bench, const char* scene) {
	const knBenchOptions* options = bench->options;
	bool wanted = options->sceneCount == 0;
	for (int i = 0; i < options->sceneCount; ++i) {
		wanted = wanted || strcmp(options->scenes[i], scene) == 0;
	}
	return wanted;
}

int knJointBench_Steps(const knJointBench* bench, int steps) {
	int most = bench->options->steps;
	return most > 0 && most < steps ? most : steps;
}

void knJointBench_Record(const knJointBench* bench, const char* part, const char* scene, const char* setting,
						 const char* quantity, double value) {
	if (bench->table.stream != NULL) {
		fprintf(bench->table.stream, "%s,%s,%s,%s,%.9g\n", part, scene, setting, quantity, value);
	}
}

int knJointBench_Plot(const knJointBench* bench, const knPlot* plot, const char* name) {
	if (bench->folder == NULL || plot->seriesCount == 0) {
		return CLI_DONE;
	}
	return knPlot_Write(plot, bench->folder, name) ? CLI_DONE : CLI_BAD_INPUT;
}

// --- the suites ------------------------------------------------------------------------------------------------

static bool openTable(knJointBench* bench, const char* path) {
	char inFolder[1024];
	if (bench->folder != NULL) {
		snprintf(inFolder, sizeof(inFolder), "%s/articulation.csv", bench->folder);
		path = inFolder;
	}
	if (!cliCanWrite(path) || !cliOutputFile_Open(&bench->table, path)) {
		return false;
	}
	fputs("part,scene,setting,quantity,value\n", bench->table.stream);
	return true;
}

static int runParts(const knBenchOptions* options, bool errors, bool costs) {
	const char* path = options->path;
	size_t length = path != NULL ? strlen(path) : 0;
	bool csv = length > 4 && strcmp(path + length - 4, ".csv") == 0;
	knJointBench bench = { .options = options, .folder = csv ? NULL : path };
	if (!cliCheckStepper("impulse")) {
		return CLI_USAGE;
	}
	if (path != NULL && !openTable(&bench, path)) {
		return CLI_BAD_INPUT;
	}
	int status = errors ? knJointErrors_Run(&bench) : CLI_DONE;
	status = status == CLI_DONE && costs ? knJointCosts_Run(&bench) : status;
	if (bench.table.stream != NULL && status != CLI_DONE) {
		cliOutputFile_Abandon(&bench.table);
	} else if (bench.table.stream != NULL && !cliOutputFile_Commit(&bench.table)) {
		status = CLI_BAD_INPUT;
	}
	return status;
}

static int runAll(const knBenchOptions* options) {
	return runParts(options, true, true);
}

static int runErrors(const knBenchOptions* options) {
	return runParts(options, true, false);
}

static int runCosts(const knBenchOptions* options) {
	return runParts(options, false, true);
}

const knBenchSuite knArticulationBench = {
	.name = "articulation",
	.summary = "the impulse stepper's joints: error against sweeps, share of the cost, growth",
	.takesScenes = true,
	.run = runAll,
};

const knBenchSuite knArticulationErrorsBench = {
	.name = "articulation-errors",
	.summary = "of these, the ones that are the same everywhere",
	.takesScenes = true,
	.run = runErrors,
};

const knBenchSuite knArticulationTimesBench = {
	.name = "articulation-times",
	.summary = "of these, the ones that depend on the machine",
	.takesScenes = true,
	.takesSets = true,
	.run = runCosts,
};
