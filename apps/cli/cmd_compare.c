// knuckle compare: the same scene under several steppers, side by side. A column for each; of the rows `jitter` is the largest
// horizontal displacement of any body at 0.8 s (frame 80 of Erleben 2007, section 5.2). For roof-tower, what the cannon ball
// does 10, 20, 30 and 40 frames after it appeared (the paper's frames 110 to 140): how many bricks moved, how many of them on
// the far side, and, with --figures, the wall unrolled; and what the paper says of its two methods. Beside our
// steppers stand other engines where they are installed (bench/peers): ode, bullet, each also with :best settings.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_page.h"
#include "options.h"
#include "output_file.h"
#include "peers/peer_world.h"
#include "plot.h"
#include "processor_clock.h"
#include "run_report.h"
#include "world/world_internal.h"

#define MAX_RUNS 8
#define JITTER_TIME 0.8
#define SHAKING_TIME 0.7
#define SHOTS 4
#define SHOT_FRAMES 10 // between looks, and until the first
#define MOVED 0.05     // m
#define CLASSES 4
#define BRICK_ANGLE 18.0 // degrees, of the tower's bricks
#define BRICK_HEIGHT 0.25

enum {
	OPTION_STEPPERS,
	OPTION_DT,
	OPTION_TIME,
	OPTION_STEPS,
	OPTION_THREADS,
	OPTION_SEED,
	OPTION_SET,
	OPTION_JSON,
	OPTION_FIGURES,
	OPTION_OUT
};

static const cliOption options[] = {
	{ "--steppers", "A,B",
	  "which (all that this build has and the scene names); velocity:paper is the published scheme; ode, "
	  "bullet, ode:best, bullet:best: other engines, where installed" },
	{ "--dt", "S", "time step (the scene's)" },
	{ "--time", "S", "simulated time (the scene's)" },
	{ "--steps", "N", "number of steps instead" },
	{ "--threads", "N", "threads (1)" },
	{ "--seed", "N", "of scenes with random parts (1)" },
	{ "--set", "NAME=VALUE", "parameter or setting of every run" },
	{ "--json", "FILE|-", "the measures of all runs" },
	{ "--figures", "FOLDER",
	  "plots as SVG: joint error, penetration, energy, contacts, displacement, time per step" },
	{ "--out", "FILE.html", "a report: table, plots, and the replays side by side on one clock" },
	{ NULL, NULL, NULL },
};

typedef struct Compare {
	cliSceneRequest request;
	const char* json;     // NULL: none
	const char* figures;  // NULL: none
	const char* out;      // NULL: none
	cliTempFolder folder; // for the report's parts
	int runCount;
	char names[MAX_RUNS][48]; // "velocity", "velocity:paper"
} Compare;

// What is plotted over time.
typedef enum Curve {
	CURVE_TIME,
	CURVE_STEP_MS,
	CURVE_ENERGY,
	CURVE_DISPLACEMENT,
	CURVE_JOINT,
	CURVE_PENETRATION,
	CURVE_CONTACTS,
	CURVE_COUNT
} Curve;

// What a run leaves behind beside its measures.
typedef struct Shot {
	int moved;  // bricks, farther than MOVED from where they were when the ball appeared
	int behind; // of these, those on the side away from the ball: a crack leaves them alone
	double farthest;
} Shot;

typedef struct Run {
	const char* name;
	int number; // of the column
	bool ran;
	const char* failure;
	char why[256];
	cliMeasures measures;
	double jitter;  // m; NAN: the run was too short
	int startCount; // bodies that were there at the start
	int64_t seen, capacity;
	double* curves[CURVE_COUNT]; // one array, `capacity` each

	// roof-tower
	double blockTime; // s, the last at which it was not there
	double
		shaking; // m/s, the fastest brick between SHAKING_TIME after the block came and the shot; NAN: too short
	int64_t shotStep; // when the ball was first seen; -1: not yet
	int bodyCount;
	knVec3* places; // at that time
	Shot shots[SHOTS];
	const char* figures;
} Run;

// --- watching --------------------------------------------------------------------------------------------------

static double horizontalDisplacement(const knWorld* world) {
	const knModel* model = knWorld_Model(world);
	double largest = 0.0;
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		knBodyId body = knModel_BodyAt(model, i);
		knVec3 moved =
			knSub(knWorld_BodyFrame(world, body).p, knScene_GetBody(knModel_Scene(model), body)->frame.p);
		largest = knMax(largest, sqrt(moved.x * moved.x + moved.y * moved.y));
	}
	return largest;
}

// Of the bodies that were there at the start; what a script drops on them moves anyway.
static double startersDisplacement(const Run* run, const knWorld* world) {
	const knModel* model = knWorld_Model(world);
	double largest = 0.0;
	for (int i = 0; i < run->startCount; ++i) {
		knBodyId body = knModel_BodyAt(model, i);
		knVec3 place = knScene_GetBody(knModel_Scene(model), body)->frame.p;
		largest = knMax(largest, knDistance(knWorld_BodyFrame(world, body).p, place));
	}
	return largest;
}

// The wall unrolled: bricks by angle (that of the ball is in the middle) and height, in classes of displacement.
static void drawCrack(const Run* run, const knWorld* world, int frames) {
	static const char* const classes[CLASSES] = { "under 1 mm", "1 mm to 1 cm", "1 cm to 10 cm",
												  "10 cm and more" };
	static const uint32_t colors[CLASSES] = { 0xc9ced4, 0xe0b050, 0xd0662e, 0xa01818 };
	const knModel* model = knWorld_Model(world);
	int bricks = run->bodyCount - 2, counts[CLASSES] = { 0 };
	double* memory = calloc(2 * CLASSES * (size_t)(bricks > 0 ? bricks : 1), sizeof(double));
	if (memory == NULL || run->figures == NULL || bricks <= 0) {
		free(memory);
		return;
	}
	for (int i = 0; i < bricks; ++i) {
		knVec3 place = run->places[i];
		double moved = knDistance(place, knWorld_BodyFrame(world, knModel_BodyAt(model, i)).p);
		int class = moved < 1e-3 ? 0 : moved < 1e-2 ? 1 : moved < 0.1 ? 2 : 3;
		memory[class * bricks + counts[class]] = knAtan2(place.y, -place.x) * 180.0 / KN_PI;
		memory[(CLASSES + class) * bricks + counts[class]] = place.z;
		counts[class] += 1;
	}
	char title[96], name[96];
	snprintf(title, sizeof(title), "%s, %d frames after the shot", run->name, frames);
	knPlot plot = { .title = title,
					.xLabel = "angle from the ball, degrees",
					.yLabel = "height, m",
					.dotWidth = 0.9 * BRICK_ANGLE,
					.dotHeight = 0.9 * BRICK_HEIGHT };
	for (int c = 0; c < CLASSES; ++c) {
		knPlot_Add(&plot, KN_PLOT_DOTS, classes[c], &memory[c * bricks], &memory[(CLASSES + c) * bricks],
				   counts[c]);
		plot.series[c].color = colors[c];
	}
	snprintf(name, sizeof(name), "crack_%s_%d", run->name, frames);
	for (char* c = name; *c != '\0'; ++c) {
		*c = *c == ':' ? '_' : *c;
	}
	(void)knPlot_Write(&plot, run->figures, name);
	free(memory);
}

// The block has landed, the ball has not come: what moves now, shakes.
static void watchShaking(Run* run, const knWorld* world) {
	const knModel* model = knWorld_Model(world);
	bool landed = !KN_ID_IS_NULL(knScene_FindBody(knModel_Scene(model), "block"));
	if (!landed || run->shotStep >= 0) {
		run->blockTime = landed ? run->blockTime : knWorld_Time(world);
		return;
	}
	if (knWorld_Time(world) > run->blockTime + SHAKING_TIME) {
		double fastest = 0.0;
		for (int i = 0; i < knModel_BodyCount(model) - 1; ++i) { // the block came last
			fastest = knMax(fastest, knLength(knWorld_BodyVelocity(world, knModel_BodyAt(model, i))));
		}
		run->shaking = isnan(run->shaking) ? fastest : knMax(run->shaking, fastest);
	}
}

static void watchShot(Run* run, const knWorld* world, int64_t step) {
	const knModel* model = knWorld_Model(world);
	int count = knModel_BodyCount(model);
	if (run->shotStep < 0) {
		if (KN_ID_IS_NULL(knScene_FindBody(knModel_Scene(model), "ball"))) {
			return;
		}
		// the first look at the ball comes one step after it appeared
		run->shotStep = step - 1;
		run->bodyCount = count;
		run->places = calloc((size_t)count, sizeof(knVec3));
		for (int i = 0; run->places != NULL && i < count; ++i) {
			run->places[i] = knWorld_BodyFrame(world, knModel_BodyAt(model, i)).p;
		}
	}
	int64_t since = step - run->shotStep;
	if (run->places == NULL || since % SHOT_FRAMES != 0 || since == 0 || since > SHOTS * SHOT_FRAMES) {
		return;
	}
	Shot* shot = &run->shots[since / SHOT_FRAMES - 1];
	for (int i = 0; i < run->bodyCount - 2; ++i) { // the block and the ball came last
		double moved = knDistance(run->places[i], knWorld_BodyFrame(world, knModel_BodyAt(model, i)).p);
		shot->moved += moved > MOVED;
		shot->behind += moved > MOVED && run->places[i].x > 0.0; // the ball comes from -x
		shot->farthest = knMax(shot->farthest, moved);
	}
	drawCrack(run, world, (int)since);
}

static void watch(knWorld* world, int64_t step, void* context) {
	Run* run = context;
	run->startCount = step == 0 ? knModel_BodyCount(knWorld_Model(world)) : run->startCount;
	double dt = knScene_GetDef(knModel_Scene(knWorld_Model(world)))->dt;
	if (knAbs(knWorld_Time(world) - JITTER_TIME) < 0.5 * dt) {
		run->jitter = horizontalDisplacement(world);
	}
	if (run->seen < run->capacity) {
		const knStepReport* report = knWorld_Report(world);
		const double values[CURVE_COUNT] = {
			[CURVE_TIME] = knWorld_Time(world),
			[CURVE_STEP_MS] = step > 0 ? 1e3 * report->stepTime : NAN,
			[CURVE_ENERGY] = cliTotalEnergy(world),
			[CURVE_DISPLACEMENT] = startersDisplacement(run, world),
			[CURVE_JOINT] = run->measures.jointErrorFinal,
			[CURVE_PENETRATION] = run->measures.penetrationFinal,
			[CURVE_CONTACTS] = step > 0 ? report->contacts : NAN,
		};
		for (int c = 0; c < CURVE_COUNT; ++c) {
			run->curves[c][run->seen] = values[c];
		}
		run->seen += 1;
	}
	const char* scene = knScene_GetDef(knModel_Scene(knWorld_Model(world)))->name;
	if (scene != NULL && strcmp(scene, "roof-tower") == 0) {
		watchShot(run, world, step);
		watchShaking(run, world);
	}
}

// --- running ---------------------------------------------------------------------------------------------------

static bool beginRun(Run* run, const char* name, int number, int64_t steps, const char* figures) {
	*run = (Run){
		.name = name, .number = number, .jitter = NAN, .shaking = NAN, .shotStep = -1, .figures = figures
	};
	cliMeasures_Begin(&run->measures);
	run->capacity = steps + 1 < (1 << 20) ? steps + 1 : 1 << 20;
	double* memory = calloc(CURVE_COUNT * (size_t)run->capacity, sizeof(double));
	for (int c = 0; c < CURVE_COUNT && memory != NULL; ++c) {
		run->curves[c] = memory + c * run->capacity;
	}
	return memory != NULL;
}

static void endRun(Run* run) {
	cliMeasures_Free(&run->measures);
	free(run->curves[0]);
	free(run->places);
}

static knStatus stepPeer(void* context, double dt, knError* error) {
	return knPeerWorld_Step(context, dt, error);
}

typedef enum Variant { PLAIN, PAPER, BEST, UNKNOWN } Variant;

// "velocity:paper" into a stepper and a variant.
static Variant splitName(const char* name, char* stepper, size_t capacity) {
	const char* colon = strchr(name, ':');
	snprintf(stepper, capacity, "%.*s", (int)(colon != NULL ? (size_t)(colon - name) : strlen(name)), name);
	return colon == NULL                  ? PLAIN
		   : strcmp(colon, ":paper") == 0 ? PAPER
		   : strcmp(colon, ":best") == 0  ? BEST
										  : UNKNOWN;
}

static void fail(Run* run, const knError* error) {
	const char* element = error->element;
	snprintf(run->why, sizeof(run->why), "%.90s%s%.160s", element, element[0] != '\0' ? ": " : "",
			 error->message);
	run->failure = run->why;
}

// The replay of a run for the report. False after a complaint.
static bool openReplay(const Compare* compare, const cliScene* scene, knWorld* world, int number,
					   cliPlan* plan) {
	char path[600];
	knError error = { 0 };
	if (compare->out == NULL) {
		return true;
	}
	cliComparePage_RunPath(&compare->folder, number, path, sizeof(path));
	plan->recordings[0] =
		(cliRecording){ .page = cliPage_Open(path, scene, world, &error), .fps = CLI_WATCHED_FPS };
	plan->recordingCount = plan->recordings[0].page != NULL;
	if (plan->recordingCount == 0) {
		cliFailWith(CLI_BAD_INPUT, &error);
	}
	return plan->recordingCount == 1;
}

static int simulate(const Compare* compare, const cliScene* scene, knWorld* world, knPeerWorld* peer,
					Run* run, knJson* json) {
	cliPlan plan = { .scene = scene,
					 .world = world,
					 .measure = true,
					 .label = run->name,
					 .watch = watch,
					 .watchContext = run,
					 .step = peer != NULL ? stepPeer : NULL,
					 .stepContext = peer };
	knError error = { 0 };
	if (!openReplay(compare, scene, world, run->number, &plan)) {
		return CLI_BAD_INPUT;
	}
	if (cliSimulate(&plan, &run->measures, &error) != KN_OK) {
		fail(run, &error);
	}
	run->ran = true;
	cliPage* replay = plan.recordings[0].page;
	if (replay != NULL && cliPage_Close(replay, scene, world, &run->measures, &error) != KN_OK) {
		return cliFailWith(CLI_BAD_INPUT, &error);
	}
	cliResult result = { .source = compare->request.source,
						 .scene = scene,
						 .world = world,
						 .threads = compare->request.threads,
						 .measures = &run->measures,
						 .failure = run->failure };
	cliResult_WriteJson(&result, json);
	return CLI_DONE;
}

static int simulatePeer(const Compare* compare, const cliScene* scene, knWorld* world, const char* name,
						bool best, Run* run, knJson* json) {
	knError error = { 0 };
	knPeerWorld* peer = knPeerWorld_Open(name, best, world, &error);
	if (peer == NULL) {
		fail(run, &error);
		return CLI_DONE;
	}
	int status = simulate(compare, scene, world, peer, run, json);
	knPeerWorld_Close(peer);
	return status;
}

// On one thread the processor's time counts: other work on the machine disturbs it less.
static double processorClock(void* context) {
	(void)context;
	return processorSeconds();
}

// A stepper that cannot express the scene keeps its column, which says so.
static int runOne(const Compare* compare, int number, Run* run, knJson* json) {
	const char* name = compare->names[number];
	char stepper[32];
	Variant variant = splitName(name, stepper, sizeof(stepper));
	bool peer = knPeer_IsName(stepper);
	cliSceneRequest request = compare->request;
	const char* names[MAX_RUNS];
	for (int i = 0; i < compare->runCount; ++i) {
		names[i] = compare->names[i];
	}
	request.stepper = peer ? NULL : stepper;
	request.compared = names;
	request.comparedCount = compare->runCount;
	if (variant == PAPER && !cliSceneRequest_AddSet(&request, "scheme=paper")) {
		return CLI_USAGE;
	}
	cliScene scene;
	int status = cliScene_Open(&scene, &request);
	if (status != CLI_DONE) {
		return status;
	}
	if (!beginRun(run, name, number, scene.steps, compare->figures)) {
		cliScene_Close(&scene);
		return cliFail(CLI_FAILED, "out of memory");
	}
	cliWorld world;
	status = cliWorld_Open(&world, scene.scene, peer ? "velocity" : stepper, compare->request.threads);
	if (status == CLI_DONE) {
		world.world->clock = compare->request.threads == 1 ? processorClock : world.world->clock;
		status = peer ? simulatePeer(compare, &scene, world.world, stepper, variant == BEST, run, json)
					  : simulate(compare, &scene, world.world, NULL, run, json);
		cliWorld_Close(&world);
	} else {
		run->failure = "refused";
		status = CLI_DONE;
	}
	cliScene_Close(&scene);
	return status;
}

// --- the table -------------------------------------------------------------------------------------------------

typedef double CellFn(const Run* run, int which);

static double perStep(const Run* run, double sum) {
	return run->measures.steps > 0 ? sum / (double)run->measures.steps : 0.0;
}

static double cellOf(const Run* run, int which) {
	const cliMeasures* m = &run->measures;
	switch (which) {
	case 0:
		return (double)m->steps;
	case 1:
		return perStep(run, m->queriesSum);
	case 2:
		return perStep(run, m->iterationsSum);
	case 3:
		return 1e3 * perStep(run, m->stepTimeSum);
	case 4:
		return 1e3 * cliMeasures_StepTime(m, 1.0);
	case 5:
		return perStep(run, m->contactsSum);
	case 6:
		return m->penetrationMax;
	case 7:
		return m->penetrationFinal;
	case 8:
		return m->jointErrorMax;
	case 9:
		return m->angleErrorMax;
	case 10:
		return m->energyFinal - m->energyInitial - m->added;
	case 11:
		return m->gainMax;
	case 12:
		return m->kineticFinal;
	case 13:
		return m->displacementMax;
	default:
		return run->jitter;
	}
}

// One row of the table, of numbers or of what is not one: on the terminal, or in the report.
typedef void RowFn(FILE* out, const char* label, const double* values, int count);

static void printValues(FILE* out, const char* label, const double* values, int count) {
	(void)out;
	printf("%-28s", label);
	for (int i = 0; i < count; ++i) {
		if (isnan(values[i])) {
			printf(" %16s", "-");
		} else {
			printf(" %16.5g", values[i]);
		}
	}
	puts("");
}

// Where rows go.
typedef struct Table {
	RowFn* row;
	FILE* out;
	const Run* runs;
	int count;
} Table;

static void addRow(const Table* table, const char* label, CellFn* fn, int which) {
	double values[MAX_RUNS];
	for (int i = 0; i < table->count; ++i) {
		values[i] = table->runs[i].ran ? fn(&table->runs[i], which) : NAN;
	}
	table->row(table->out, label, values, table->count);
}

static double shakingOf(const Run* run, int which) {
	(void)which;
	return run->shaking;
}

static double movedAt(const Run* run, int shot) {
	return run->shotStep >= 0 ? (double)run->shots[shot].moved : NAN;
}

static double behindAt(const Run* run, int shot) {
	return run->shotStep >= 0 ? (double)run->shots[shot].behind : NAN;
}

static double farthestAt(const Run* run, int shot) {
	return run->shotStep >= 0 ? run->shots[shot].farthest : NAN;
}

// By its name: a run that ended early may not have all.
static void addCheck(const Table* table, const char* name) {
	double values[MAX_RUNS];
	for (int i = 0; i < table->count; ++i) {
		const knSceneChecks* checks = &table->runs[i].measures.checks;
		values[i] = NAN;
		for (int c = 0; c < checks->count; ++c) {
			values[i] = strcmp(checks->names[c], name) == 0 ? checks->values[c] : values[i];
		}
	}
	table->row(table->out, name, values, table->count);
}

// The run that came farthest has every row.
static const Run* longestRun(const Run* runs, int count) {
	const Run* longest = &runs[0];
	for (int i = 1; i < count; ++i) {
		longest = runs[i].measures.steps > longest->measures.steps ? &runs[i] : longest;
	}
	return longest;
}

static void addRows(const Table* table) {
	static const char* const labels[] = { "steps",
										  "queries per step",
										  "sweeps per step",
										  "ms per step, mean",
										  "ms per step, worst",
										  "contacts",
										  "penetration, worst, m",
										  "penetration, last, m",
										  "joint error, worst, m",
										  "joint angle, worst, rad",
										  "energy, last - first, J",
										  "energy, largest gain, J",
										  "kinetic, last, J",
										  "displacement, worst, m",
										  "jitter at 0.8 s, m" };
	for (int r = 0; r < (int)(sizeof(labels) / sizeof(labels[0])); ++r) {
		addRow(table, labels[r], cellOf, r);
	}
	const Run* longest = longestRun(table->runs, table->count);
	for (int c = 0; c < longest->measures.checks.count; ++c) {
		addCheck(table, longest->measures.checks.names[c]);
	}
	if (!isnan(longest->shaking)) {
		addRow(table, "shaking, fastest brick, m/s", shakingOf, 0);
	}
	for (int s = 0; s < SHOTS && longest->shotStep >= 0; ++s) {
		char label[64];
		snprintf(label, sizeof(label), "moved > 5 cm, shot + %d", (s + 1) * SHOT_FRAMES);
		addRow(table, label, movedAt, s);
		snprintf(label, sizeof(label), "moved behind, shot + %d", (s + 1) * SHOT_FRAMES);
		addRow(table, label, behindAt, s);
		snprintf(label, sizeof(label), "farthest, shot + %d, m", (s + 1) * SHOT_FRAMES);
		addRow(table, label, farthestAt, s);
	}
}

static void printTable(const Compare* compare, const Run* runs) {
	int count = compare->runCount;
	printf("%-28s", compare->request.source);
	for (int i = 0; i < count; ++i) {
		printf(" %16s", runs[i].name);
	}
	puts("");
	const Table table = { printValues, stdout, runs, count };
	addRows(&table);
	const Run* longest = longestRun(runs, count);
	for (int i = 0; i < count; ++i) {
		if (runs[i].failure != NULL) {
			printf("%s: %s\n", runs[i].name, runs[i].failure);
		}
	}
	if (longest->shotStep >= 0) {
		puts("Erleben 2007, section 5, velocity | impulse method: queries per step 2 | 15; at frame 80 still "
			 "| shaking;\n"
			 "frames 110 to 140 a crack | a random look; frame at 1.7 GHz at most 250 ms (falling-roof) | 5 "
			 "to 7 minutes\n"
			 "(500 to 1000 bodies, Guendelman et al. 2003)");
	}
}

// --- plots and the report ----------------------------------------------------------------------------------------

typedef struct Figure {
	Curve curve;
	const char *name, *what, *unit;
	bool logarithmic;
} Figure;

static const Figure figures[] = {
	{ CURVE_JOINT, "compare_joints", "worst joint error", "m", true },
	{ CURVE_PENETRATION, "compare_penetration", "deepest penetration", "m", true },
	{ CURVE_ENERGY, "compare_energy", "energy", "J", false },
	{ CURVE_CONTACTS, "compare_contacts", "contact points", "", false },
	{ CURVE_DISPLACEMENT, "compare_displacement", "largest displacement of a body", "m", true },
	{ CURVE_STEP_MS, "compare_time", "time of a step", "ms", true },
};

#define FIGURE_COUNT ((int)(sizeof(figures) / sizeof(figures[0])))

// Whether a curve has anything but zeros.
static bool isWorthPlotting(const Compare* compare, const Run* runs, Curve curve) {
	for (int i = 0; i < compare->runCount; ++i) {
		for (int64_t k = 0; k < runs[i].seen; ++k) {
			if (!isnan(runs[i].curves[curve][k]) && runs[i].curves[curve][k] != 0.0) {
				return true;
			}
		}
	}
	return false;
}

// Those worth it; `names`, if not NULL, gets their names. Returns their number, -1 after a complaint.
static int writeFigures(const Compare* compare, const Run* runs, const char* folder, const char** names) {
	int written = 0;
	for (int f = 0; f < FIGURE_COUNT; ++f) {
		const Figure* figure = &figures[f];
		char title[128];
		snprintf(title, sizeof(title), "%.60s: %s", compare->request.source, figure->what);
		knPlot plot = {
			.title = title, .xLabel = "time, s", .yLabel = figure->unit, .logY = figure->logarithmic
		};
		if (!isWorthPlotting(compare, runs, figure->curve)) {
			continue;
		}
		for (int i = 0; i < compare->runCount; ++i) {
			const Run* run = &runs[i];
			knPlot_Add(&plot, KN_PLOT_LINE, run->name, run->curves[CURVE_TIME], run->curves[figure->curve],
					   (int)run->seen);
		}
		if (!knPlot_Write(&plot, folder, figure->name)) {
			return -1;
		}
		if (names != NULL) {
			names[written] = figure->name;
		}
		written += 1;
	}
	return written;
}

static void writeRows(FILE* out, const void* context) {
	Table table = *(const Table*)context;
	table.out = out;
	addRows(&table);
	for (int i = 0; i < table.count; ++i) {
		if (table.runs[i].failure != NULL) {
			char note[400];
			snprintf(note, sizeof(note), "%s: %s", table.runs[i].name, table.runs[i].failure);
			cliComparePage_Note(out, note);
		}
	}
}

static bool writeReport(const Compare* compare, const Run* runs) {
	const char *plots[FIGURE_COUNT], *names[MAX_RUNS];
	int plotCount = writeFigures(compare, runs, compare->folder.path, plots);
	for (int i = 0; i < compare->runCount; ++i) {
		names[i] = compare->names[i];
	}
	const Table table = { cliComparePage_Row, NULL, runs, compare->runCount };
	const char* slash = strrchr(compare->request.source, '/');
	const cliComparePage page = { .title = slash != NULL ? slash + 1 : compare->request.source,
								  .plots = plots,
								  .plotCount = plotCount,
								  .runs = names,
								  .runCount = compare->runCount,
								  .rows = writeRows,
								  .context = &table };
	return plotCount >= 0 && cliComparePage_Write(&page, &compare->folder, compare->out);
}

// --- the command -----------------------------------------------------------------------------------------------

static bool addStepper(Compare* compare, const char* name, size_t length) {
	char stepper[32];
	if (compare->runCount == MAX_RUNS || length >= sizeof(compare->names[0])) {
		cliFail(CLI_USAGE, "--steppers takes at most %d names", MAX_RUNS);
		return false;
	}
	char* copy = compare->names[compare->runCount++];
	snprintf(copy, sizeof(compare->names[0]), "%.*s", (int)length, name);
	Variant variant = splitName(copy, stepper, sizeof(stepper));
	bool peer = knPeer_IsName(stepper);
	if (variant != PLAIN && variant != (peer ? BEST : PAPER)) {
		cliFail(CLI_USAGE, "'%s': after a colon comes %s", copy,
				peer ? "'best', the settings that hold piles best" : "'paper', the published scheme");
		return false;
	}
	knError error = { 0 };
	if (peer && knPeer_Check(stepper, &error) != KN_OK) {
		cliFailWith(CLI_USAGE, &error);
		return false;
	}
	return peer || cliCheckStepper(stepper);
}

static bool addSteppers(Compare* compare, const char* list) {
	compare->runCount = 0;
	for (const char* name = list;; ++name) {
		size_t length = strcspn(name, ",");
		if (!addStepper(compare, name, length)) {
			return false;
		}
		name += length;
		if (*name == '\0') {
			return true;
		}
	}
}

static bool setOption(Compare* compare, int option, const char* value) {
	switch (option) {
	case OPTION_STEPPERS:
		return addSteppers(compare, value);
	case OPTION_JSON:
		compare->json = value;
		return true;
	case OPTION_FIGURES:
		compare->figures = value;
		return true;
	case OPTION_OUT:
		compare->out = value;
		return cliHasExtension(value, ".html") ||
			   (cliFail(CLI_USAGE, "--out takes a FILE.html, not '%s'", value), false);
	default:
		return cliSceneRequest_SetOption(&compare->request, options[option].name, value);
	}
}

// Those of the scene that this build has; of a file, all.
static void chooseSteppers(Compare* compare) {
	const knSceneEntry* entry = knCatalogue_Find(compare->request.source, NULL);
	for (int i = 0; knStepper_Name(i) != NULL && compare->runCount < MAX_RUNS; ++i) {
		if (entry == NULL || strstr(entry->steppers, knStepper_Name(i)) != NULL) {
			snprintf(compare->names[compare->runCount++], sizeof(compare->names[0]), "%s", knStepper_Name(i));
		}
	}
}

// An exit status, or -1 to go on.
static int readOptions(Compare* compare, const cliCommand* command, int argc, char** argv) {
	cliReader reader = cliReader_Begin(command, argc, argv);
	const char* value;
	int option;
	while ((option = cliReader_Next(&reader, &value)) != CLI_END) {
		if (option == CLI_HELPED) {
			return CLI_DONE;
		}
		if (option == CLI_OPERAND && compare->request.source != NULL) {
			return cliFail(CLI_USAGE, "one scene at a time: '%s' or '%s'?", compare->request.source, value);
		}
		if (option == CLI_OPERAND) {
			compare->request.source = value;
		} else if (option == CLI_REFUSED || !setOption(compare, option, value)) {
			return CLI_USAGE;
		}
	}
	if (compare->request.source == NULL) {
		return cliFail(CLI_USAGE,
					   "compare what? 'knuckle compare SCENE|FILE'; 'knuckle scenes' lists the scenes");
	}
	if (compare->request.time >= 0.0 && compare->request.steps >= 0) {
		return cliFail(CLI_USAGE, "give either --time or --steps");
	}
	if (compare->runCount == 0) {
		chooseSteppers(compare);
	}
	return -1;
}

static int writeJson(const Compare* compare, const knJson* json) {
	if (json->failed) {
		return cliFail(CLI_FAILED, "out of memory while writing JSON");
	}
	if (strcmp(compare->json, "-") == 0) {
		fputs(json->text, stdout);
		return CLI_DONE;
	}
	cliOutputFile file;
	if (!cliOutputFile_Open(&file, compare->json)) {
		return CLI_BAD_INPUT;
	}
	fputs(json->text, file.stream);
	return cliOutputFile_Commit(&file) ? CLI_DONE : CLI_BAD_INPUT;
}

static int report(const Compare* compare, const Run* runs, const knJson* json) {
	int status = CLI_DONE;
	if (compare->json == NULL || strcmp(compare->json, "-") != 0) {
		printTable(compare, runs);
	}
	if (compare->figures != NULL && writeFigures(compare, runs, compare->figures, NULL) < 0) {
		status = CLI_BAD_INPUT;
	}
	if (compare->out != NULL && !writeReport(compare, runs)) {
		status = CLI_BAD_INPUT;
	}
	if (compare->json != NULL) {
		int written = writeJson(compare, json);
		status = status != CLI_DONE ? status : written;
	}
	return status;
}

static int compareCommand(const cliCommand* command, int argc, char** argv) {
	Compare compare = { .request = cliSceneRequest_Default() };
	int status = readOptions(&compare, command, argc, argv);
	if (status >= 0) {
		return status;
	}
	if (compare.json != NULL && strcmp(compare.json, "-") != 0 && !cliCanWrite(compare.json)) {
		return CLI_BAD_INPUT;
	}
	if (compare.out != NULL && (!cliCanWrite(compare.out) || !cliTempFolder_Make(&compare.folder))) {
		return CLI_BAD_INPUT;
	}
	knAllocator allocator = knAllocator_Default();
	knJson json;
	knJson_Init(&json, &allocator);
	knJson_BeginArray(&json, NULL);
	Run runs[MAX_RUNS] = { { 0 } };
	for (int i = 0; i < compare.runCount && status <= CLI_DONE; ++i) {
		status = runOne(&compare, i, &runs[i], &json);
	}
	knJson_EndArray(&json);
	if (status <= CLI_DONE) {
		status = report(&compare, runs, &json);
	}
	for (int i = 0; i < MAX_RUNS; ++i) {
		endRun(&runs[i]);
	}
	knJson_Free(&json);
	cliTempFolder_Remove(&compare.folder);
	return status;
}

const cliCommand cliCompareCommand = {
	.name = "compare",
	.operands = "SCENE|FILE",
	.summary = "the same scene under several steppers, side by side",
	.options = options,
	.notes = "examples:\n"
			 "  knuckle compare tower --steppers velocity,velocity:paper --time 2\n"
			 "  knuckle compare roof-tower --figures .\n"
			 "  knuckle compare robot.xml --time 2 --out robot.html\n"
			 "  knuckle compare box-stack --steppers velocity,ode,bullet --time 4\n",
	.run = compareCommand,
};
