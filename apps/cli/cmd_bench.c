// knuckle bench: how long a step takes. Each scene of the catalogue at its default size, or, with 'scaling', families of
// scenes at four sizes each with the exponent of growth: cost ~ bodies^exponent, the least-squares slope of log(ms per
// step) over log(bodies). The state hash stands beside the speed, so that figures of different results are not compared.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "options.h"
#include "output_file.h"
#include "simulate.h"

#define SIZES 4
#define DEFAULT_STEPS 200

enum { OPTION_STEPS, OPTION_THREADS, OPTION_STEPPER, OPTION_SET, OPTION_OUT, OPTION_FULL, OPTION_PEERS };

static const cliOption options[] = {
	{ "--steps", "N", "steps of each run (200; of a suite that can be restricted: its own choice)" },
	{ "--threads", "N", "threads (1)" },
	{ "--stepper", "NAME", "the method (default: what each scene names)" },
	{ "--set", "NAME=VALUE", "parameter or setting of every run" },
	{ "--out", "FILE.csv|FOLDER", "also write the table as CSV; a suite's plots go to a folder" },
	{ "--full", NULL, "the long form of a suite" },
	{ "--peers", NULL, "compare with other libraries where a suite knows some and they are installed" },
	{ NULL, NULL, NULL },
};

// Scenes that grow with one parameter.
static const struct Family {
	const char* scene;
	const char* param;
	int sizes[SIZES];
} families[] = {
	{ "box-stack", "boxes", { 10, 20, 40, 80 } },     { "wall", "bricks", { 50, 200, 800, 1800 } },
	{ "tower", "layers", { 5, 10, 20, 40 } },         { "ball-grid", "n", { 4, 6, 8, 10 } },
	{ "pyramid", "base", { 10, 20, 30, 40 } },        { "pendulum", "links", { 25, 50, 100, 200 } },
	{ "heavy-chain", "links", { 25, 50, 100, 200 } }, { "dominoes", "count", { 25, 50, 100, 200 } },
};

#define FAMILY_COUNT ((int)(sizeof(families) / sizeof(families[0])))

typedef struct Bench {
	cliSceneRequest request; // what all runs share
	bool full, peers;
	const char* outPath; // NULL: none
	cliOutputFile out;
	int nameCount;
	const char* names[64];
} Bench;

typedef struct Row {
	int bodies, joints;
	int64_t steps;
	double mean, median, p99, contacts; // ms, ms, ms, per step
	uint64_t hash;
} Row;

// --- one run ---------------------------------------------------------------------------------------------------

static int runOne(const Bench* bench, const char* name, const char* set, Row* row) {
	cliSceneRequest request = bench->request;
	request.source = name;
	if (set != NULL && !cliSceneRequest_AddSet(&request, set)) {
		return CLI_USAGE;
	}
	cliScene scene;
	int status = cliScene_Open(&scene, &request);
	if (status != CLI_DONE) {
		return status;
	}
	cliWorld world;
	status = cliWorld_Open(&world, scene.scene, request.stepper, bench->request.threads);
	if (status == CLI_DONE) {
		cliPlan plan = { .scene = &scene, .world = world.world, .label = name };
		cliMeasures measures;
		cliMeasures_Begin(&measures);
		knError error = { 0 };
		if (cliSimulate(&plan, &measures, &error) != KN_OK) {
			status = cliFailWith(CLI_FAILED, &error);
		}
		double steps = measures.steps > 0 ? (double)measures.steps : 1.0;
		*row = (Row){ knModel_BodyCount(world.model),
					  knModel_JointCount(world.model),
					  measures.steps,
					  1e3 * measures.stepTimeSum / steps,
					  1e3 * cliMeasures_StepTime(&measures, 0.5),
					  1e3 * cliMeasures_StepTime(&measures, 0.99),
					  measures.contactsSum / steps,
					  measures.hash };
		cliMeasures_Free(&measures);
		cliWorld_Close(&world);
	}
	cliScene_Close(&scene);
	return status;
}

static void printHead(Bench* bench) {
	printf("%-12s %-14s %6s %7s %10s %10s %10s %9s %11s  %s\n", "scene", "parameter", "bodies", "joints",
		   "ms/step", "median", "p99", "contacts", "us/contact", "hash");
	if (bench->outPath != NULL) {
		fputs("scene,parameter,bodies,joints,steps,threads,ms_mean,ms_median,ms_p99,contacts,us_per_contact,"
			  "hash\n",
			  bench->out.stream);
	}
}

static void printRow(Bench* bench, const char* name, const char* set, const Row* row) {
	double perContact = row->contacts > 0.0 ? 1e3 * row->mean / row->contacts : 0.0;
	printf("%-12s %-14s %6d %7d %10.4f %10.4f %10.4f %9.1f %11.4f  %016" PRIx64 "\n", name,
		   set != NULL ? set : "", row->bodies, row->joints, row->mean, row->median, row->p99, row->contacts,
		   perContact, row->hash);
	fflush(stdout);
	if (bench->outPath != NULL) {
		fprintf(bench->out.stream, "%s,%s,%d,%d,%lld,%d,%.6f,%.6f,%.6f,%.3f,%.6f,%016" PRIx64 "\n", name,
				set != NULL ? set : "", row->bodies, row->joints, (long long)row->steps,
				bench->request.threads, row->mean, row->median, row->p99, row->contacts, perContact,
				row->hash);
	}
}

// --- suites ----------------------------------------------------------------------------------------------------

static int benchScenes(Bench* bench) {
	int count = bench->nameCount > 0 ? bench->nameCount : knCatalogue_Count();
	for (int i = 0; i < count; ++i) {
		const char* name = bench->nameCount > 0 ? bench->names[i] : knCatalogue_At(i)->name;
		Row row;
		int status = runOne(bench, name, NULL, &row);
		if (status != CLI_DONE) {
			return status;
		}
		printRow(bench, name, NULL, &row);
	}
	return CLI_DONE;
}

static double growth(const Row rows[SIZES]) {
	double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
	for (int i = 0; i < SIZES; ++i) {
		double x = log((double)rows[i].bodies), y = log(knMax(rows[i].median, 1e-9));
		sx += x;
		sy += y;
		sxx += x * x;
		sxy += x * y;
	}
	return (SIZES * sxy - sx * sy) / (SIZES * sxx - sx * sx);
}

static int benchScaling(Bench* bench) {
	double exponents[FAMILY_COUNT];
	for (int f = 0; f < FAMILY_COUNT; ++f) {
		Row rows[SIZES];
		for (int i = 0; i < SIZES; ++i) {
			char set[64];
			snprintf(set, sizeof(set), "%s=%d", families[f].param, families[f].sizes[i]);
			int status = runOne(bench, families[f].scene, set, &rows[i]);
			if (status != CLI_DONE) {
				return status;
			}
			printRow(bench, families[f].scene, set, &rows[i]);
		}
		exponents[f] = growth(rows);
	}
	puts("\ngrowth of the median step with the number of bodies (1: linear)");
	for (int f = 0; f < FAMILY_COUNT; ++f) {
		printf("  %-12s %.2f\n", families[f].scene, exponents[f]);
	}
	return CLI_DONE;
}

// --- the command -----------------------------------------------------------------------------------------------

static bool setOption(Bench* bench, int option, const char* value) {
	switch (option) {
	case OPTION_STEPS:
		return cliParseWhole("--steps", value, 1.0, CLI_MAX_STEPS, &bench->request.steps);
	case OPTION_OUT:
		bench->outPath = value;
		return true;
	case OPTION_FULL:
		bench->full = true;
		return true;
	case OPTION_PEERS:
		bench->peers = true;
		return true;
	default:
		return cliSceneRequest_SetOption(&bench->request, options[option].name, value);
	}
}

static int checkSuite(const Bench* bench, const knBenchSuite* suite) {
	if (!suite->takesScenes && (bench->nameCount > 1 || bench->request.steps >= 0)) {
		return cliFail(CLI_USAGE, "the suite '%s' takes neither scenes nor --steps", suite->name);
	}
	if (!suite->takesSets && bench->request.setCount > 0) {
		return cliFail(CLI_USAGE, "the suite '%s' takes no --set", suite->name);
	}
	for (int i = 1; i < bench->nameCount; ++i) {
		knError error = { 0 };
		if (knCatalogue_Find(bench->names[i], &error) == NULL) {
			return cliFailWith(CLI_USAGE, &error);
		}
	}
	return -1;
}

// An exit status, or -1 to go on.
static int readOptions(Bench* bench, const cliCommand* command, int argc, char** argv) {
	cliReader reader = cliReader_Begin(command, argc, argv);
	const char* value;
	int option;
	while ((option = cliReader_Next(&reader, &value)) != CLI_END) {
		if (option == CLI_HELPED) {
			return CLI_DONE;
		}
		if (option == CLI_OPERAND && bench->nameCount == 64) {
			return cliFail(CLI_USAGE, "more than 64 scenes");
		}
		if (option == CLI_OPERAND) {
			bench->names[bench->nameCount++] = value;
		} else if (option == CLI_REFUSED || !setOption(bench, option, value)) {
			return CLI_USAGE;
		}
	}
	const knBenchSuite* suite = bench->nameCount > 0 ? knBenchSuite_Find(bench->names[0]) : NULL;
	if (suite != NULL) {
		return checkSuite(bench, suite);
	}
	if (bench->full || bench->peers) {
		return cliFail(CLI_USAGE, "--full and --peers go with a suite; knuckle bench --help lists them");
	}
	for (int i = 0; i < bench->nameCount; ++i) {
		knError error = { 0 };
		bool scaling = strcmp(bench->names[i], "scaling") == 0;
		if (scaling && bench->nameCount > 1) {
			return cliFail(CLI_USAGE, "'scaling' runs its own scenes; name no others beside it");
		}
		if (!scaling && strchr(bench->names[i], '.') == NULL &&
			knCatalogue_Find(bench->names[i], &error) == NULL) {
			return cliFailWith(CLI_USAGE, &error);
		}
	}
	return -1;
}

static int benchCommand(const cliCommand* command, int argc, char** argv) {
	Bench bench = { .request = cliSceneRequest_Default() };
	int status = readOptions(&bench, command, argc, argv);
	if (status >= 0) {
		return status;
	}
	const knBenchSuite* suite = bench.nameCount > 0 ? knBenchSuite_Find(bench.names[0]) : NULL;
	if (suite != NULL) {
		knBenchOptions suiteOptions = { .full = bench.full,
										.peers = bench.peers,
										.threads = bench.request.threads,
										.path = bench.outPath,
										.steps = bench.request.steps > 0 ? (int)bench.request.steps : 0,
										.sceneCount = bench.nameCount - 1,
										.scenes = &bench.names[1],
										.setCount = bench.request.setCount,
										.sets = bench.request.sets };
		return suite->run(&suiteOptions);
	}
	bench.request.steps = bench.request.steps >= 0 ? bench.request.steps : DEFAULT_STEPS;
	if (bench.outPath != NULL &&
		(!cliCanWrite(bench.outPath) || !cliOutputFile_Open(&bench.out, bench.outPath))) {
		return CLI_BAD_INPUT;
	}
	printHead(&bench);
	bool scaling = bench.nameCount == 1 && strcmp(bench.names[0], "scaling") == 0;
	status = scaling ? benchScaling(&bench) : benchScenes(&bench);
	if (bench.outPath != NULL && status != CLI_DONE) {
		cliOutputFile_Abandon(&bench.out);
	} else if (bench.outPath != NULL && !cliOutputFile_Commit(&bench.out)) {
		status = CLI_BAD_INPUT;
	}
	return status;
}

const cliCommand cliBenchCommand = {
	.name = "bench",
	.operands = "[NAME...]",
	.summary = "time scenes of the catalogue; 'bench scaling' grows them",
	.options = options,
	.notes = "examples:\n"
			 "  knuckle bench wall tower --out bench.csv\n"
			 "  knuckle bench scaling --steps 50\n"
			 "  knuckle bench articulation net bridge --out FOLDER\n",
	.run = benchCommand,
};
