// What a step of the impulse stepper costs (joint_bench.h), 9 sweeps, in processor time.
//
//   articulation_share       the parts of a step: collision, contacts, joints with the contacts that are solved with them, the
//                            rest; and the same moment with every joint disabled
//   articulation_bodies,     ms a step of scenes at four sizes, against bodies and against contacts, with the exponents of
//   articulation_contacts    least squares
//
// Sizes must be compared in the same stage: what is built standing, from its 20th step on; what falls freely, from the start;
// a heap, from when its kinetic energy has come down to 2 % of the largest so far; the silo, whose bodies go on sinking, at 2.5 s.
// There the state is saved, the following steps are run three times, each counts with its least time, and the median of the
// steps is what a step costs.
#include <math.h>
#include <stdlib.h>

#include "joint_bench.h"

#define SIZES 4
#define MAX_WINDOW 200
#define RUNS 3
#define SETTLED 0.02 // of the largest kinetic energy
#define STANDING_STEPS 20

typedef enum Stage { STANDS, FALLS, LIES, AT } Stage;

// A moment of a scene, and how many steps of it are timed.
typedef struct Moment {
	Stage stage;
	double latest; // s, LIES: begins then at the latest; AT: begins then
	int window;    // steps
} Moment;

typedef struct Cost {
	int bodies;
	double from;                        // s, beginning of the stage
	double contacts, sweeps;            // means
	double median;                      // ms a step
	double step, collide, solve, joint; // ms a step, means
} Cost;

#define MAX_SETS 12

// Nine sweeps, what a scene has of its own (NULL for none), and what the user wants, ending with NULL.
static void listSets(const knJointBench* bench, const char* first, const char* second,
					 const char* sets[MAX_SETS]) {
	int count = 0;
	sets[count++] = "sweeps=9";
	const char* own[2] = { first, second };
	for (int i = 0; i < 2; ++i) {
		if (own[i] != NULL) {
			sets[count++] = own[i];
		}
	}
	for (int i = 0; i < bench->options->setCount && count < MAX_SETS - 1; ++i) {
		sets[count++] = bench->options->sets[i];
	}
	sets[count] = NULL;
}

// --- one measurement -------------------------------------------------------------------------------------------

// Steps until the stage begins. False when a step failed.
static bool reach(const knJointBench* bench, knSceneRun* run, const Moment* moment, cliProgress* progress,
				  int64_t done) {
	knWorld* world = run->world.world;
	int most = moment->stage == FALLS    ? 0
			   : moment->stage == STANDS ? STANDING_STEPS
										 : (int)ceil(moment->latest / run->scene.dt);
	most = knJointBench_Steps(bench, most);
	double largest = 0.0;
	for (int i = 0; i < most; ++i) {
		double kinetic = moment->stage == LIES ? knWorld_Measure(world).kinetic : 0.0;
		largest = fmax(largest, kinetic);
		if (largest > 0.0 && kinetic < SETTLED * largest) {
			return true;
		}
		if (!knSceneRun_Step(run)) {
			return false;
		}
		cliProgress_Update(progress, done + 50 * (int64_t)i / most);
	}
	return true;
}

static int compareNumbers(const void* a, const void* b) {
	double x = *(const double*)a, y = *(const double*)b;
	return (x > y) - (x < y);
}

typedef struct Times {
	double step[MAX_WINDOW], collide[MAX_WINDOW], solve[MAX_WINDOW],
		joint[MAX_WINDOW]; // ms, the least so far
} Times;

static void keepLeast(Times* times, int k, bool first, const knStepReport* report) {
	if (first || 1e3 * report->stepTime < times->step[k]) {
		times->step[k] = 1e3 * report->stepTime;
		times->collide[k] = 1e3 * report->collideTime;
		times->solve[k] = 1e3 * report->solveTime;
		times->joint[k] = 1e3 * report->jointTime;
	}
}

static void sumUp(Times* times, int count, Cost* cost) {
	for (int k = 0; k < count; ++k) {
		cost->step += times->step[k] / count;
		cost->collide += times->collide[k] / count;
		cost->solve += times->solve[k] / count;
		cost->joint += times->joint[k] / count;
	}
	qsort(times->step, (size_t)count, sizeof(double), compareNumbers);
	cost->median = count > 0 ? times->step[count / 2] : NAN;
}

// The steps that follow, several times over, from the same state.
static bool timeWindow(knSceneRun* run, int window, Cost* cost) {
	static Times times;
	knWorld* world = run->world.world;
	size_t size = knWorld_StateSize(world);
	void* state = malloc(size);
	knError error = { 0 };
	bool ok = state != NULL && knWorld_Save(world, state, size) == KN_OK;
	*cost = (Cost){ .bodies = knModel_BodyCount(run->world.model), .from = knWorld_Time(world) };
	for (int r = 0; r < RUNS && ok; ++r) {
		ok = r == 0 || knWorld_Restore(world, state, size, &error) == KN_OK;
		for (int k = 0; k < window && ok; ++k) {
			ok = knSceneRun_Step(run);
			keepLeast(&times, k, r == 0, knWorld_Report(world));
			cost->contacts += (double)knWorld_Report(world)->contacts / (RUNS * window);
			cost->sweeps += (double)knWorld_Report(world)->iterations / (RUNS * window);
		}
	}
	// for whoever goes on from here
	ok = ok && knWorld_Restore(world, state, size, &error) == KN_OK;
	free(state);
	if (ok) {
		sumUp(&times, window, cost);
	}
	return ok;
}

static int windowOf(const knJointBench* bench, const Moment* moment) {
	int window = bench->options->full ? 4 * moment->window : moment->window;
	return knJointBench_Steps(bench, window < MAX_WINDOW ? window : MAX_WINDOW);
}

// `loose`: also the same moment without joints; NULL: not.
static int timeMoment(const knJointBench* bench, const char* scene, const char* const* sets,
					  const Moment* moment, Cost* cost, Cost* loose, cliProgress* progress, int64_t done) {
	knSceneRun run;
	int status = knSceneRun_Open(&run, scene, sets, "impulse", 0.0, bench->options->threads);
	if (status != CLI_DONE) {
		return status;
	}
	int window = windowOf(bench, moment);
	bool ok = reach(bench, &run, moment, progress, done) && timeWindow(&run, window, cost);
	if (ok && loose != NULL) {
		for (int i = 0; i < knModel_JointCount(run.world.model); ++i) {
			(void)knWorld_SetJointEnabled(run.world.world, knModel_JointAt(run.world.model, i), false);
		}
		ok = timeWindow(&run, window, loose);
	}
	knSceneRun_Close(&run);
	return ok ? CLI_DONE : cliFail(CLI_FAILED, "'%s' could not be timed", scene);
}

// --- what joints cost ------------------------------------------------------------------------------------------

static const struct Sharing {
	const char *label, *scene;
	const char* sets[3];
	Moment moment;
} sharing[] = {
	{ "magnets", "magnets", { NULL }, { LIES, 1.5, 20 } },
	{ "net", "net", { NULL }, { LIES, 1.2, 20 } },
	{ "bridge", "bridge", { NULL }, { LIES, 1.2, 40 } },
	{ "tank", "tank", { NULL }, { STANDS, 0.0, 40 } },
	{ "ragdolls", "ragdolls", { "count=10", NULL }, { LIES, 2.5, 20 } },
	{ "rings (capsules)", "rings", { "rings=40", "mesh=0", NULL }, { LIES, 2.0, 20 } },
	{ "rings (meshes)", "rings", { "rings=40", NULL }, { LIES, 2.0, 10 } },
	{ "skeletons", "skeletons", { "count=2", NULL }, { LIES, 2.0, 10 } },
};

#define SHARING_COUNT ((int)(sizeof(sharing) / sizeof(sharing[0])))
#define PARTS 4

static void printShare(const knJointBench* bench, const char* label, const Cost* cost, const Cost* loose,
					   const double parts[PARTS]) {
	static const char* const quantities[PARTS] = { "collision", "contacts", "joints", "rest" };
	printf("%-16s %5d bodies %6.0f contacts %9.3f ms a step: collision %2.0f%%, contacts %2.0f%%, joints "
		   "%2.0f%%, "
		   "rest %2.0f%%; %9.3f ms without joints\n",
		   label, cost->bodies, cost->contacts, cost->step, parts[0], parts[1], parts[2], parts[3],
		   loose->step);
	fflush(stdout);
	for (int p = 0; p < PARTS; ++p) {
		knJointBench_Record(bench, "share", label, "", quantities[p], parts[p]);
	}
	knJointBench_Record(bench, "share", label, "", "bodies", cost->bodies);
	knJointBench_Record(bench, "share", label, "", "contacts of the scene", cost->contacts);
	knJointBench_Record(bench, "share", label, "", "ms", cost->step);
	knJointBench_Record(bench, "share", label, "", "ms without joints", loose->step);
}

static int benchShares(const knJointBench* bench) {
	static const char* const names[PARTS] = { "collision", "contacts", "joints", "rest" };
	const char* labels[SHARING_COUNT];
	double shares[PARTS][SHARING_COUNT];
	int count = 0;
	for (int i = 0; i < SHARING_COUNT; ++i) {
		const struct Sharing* s = &sharing[i];
		if (!knJointBench_Wants(bench, s->scene)) {
			continue;
		}
		const char* sets[MAX_SETS];
		listSets(bench, s->sets[0], s->sets[0] != NULL ? s->sets[1] : NULL, sets);
		Cost cost, loose;
		cliProgress progress = cliProgress_Begin(s->label, 100);
		int status = timeMoment(bench, s->scene, sets, &s->moment, &cost, &loose, &progress, 0);
		cliProgress_End(&progress);
		if (status != CLI_DONE) {
			return status;
		}
		double all = fmax(cost.step, 1e-9) / 100.0;
		double parts[PARTS] = { cost.collide / all, (cost.solve - cost.joint) / all, cost.joint / all,
								(cost.step - cost.collide - cost.solve) / all };
		printShare(bench, s->label, &cost, &loose, parts);
		labels[count] = s->label;
		for (int p = 0; p < PARTS; ++p) {
			shares[p][count] = parts[p];
		}
		count += 1;
	}
	knPlot plot = {
		.title = "parts of a step", .xLabel = "% of its time", .bars = labels, .barCount = count
	};
	for (int p = 0; p < PARTS && count > 0; ++p) {
		knPlot_Add(&plot, KN_PLOT_BARS, names[p], NULL, shares[p], count);
	}
	return knJointBench_Plot(bench, &plot, "articulation_share");
}

// --- growth ----------------------------------------------------------------------------------------------------

// Scenes of which one number makes more: of bodies, of joints, of contacts.
static const struct Family {
	const char *label, *scene, *param;
	int sizes[SIZES];
	const char* more; // a setting, or NULL
	Moment moment;
} families[] = {
	{ "tower", "tower", "layers", { 10, 20, 40, 80 }, NULL, { STANDS, 0.0, 40 } },
	{ "wall", "wall", "bricks", { 100, 200, 400, 800 }, NULL, { STANDS, 0.0, 40 } },
	{ "pyramid", "pyramid", "base", { 10, 15, 22, 32 }, NULL, { STANDS, 0.0, 40 } },
	{ "silo", "silo", "objects", { 400, 800, 1600, 3200 }, NULL, { AT, 2.5, 20 } },
	{ "heavy-chain", "heavy-chain", "links", { 50, 100, 200, 400 }, NULL, { FALLS, 0.0, 60 } },
	{ "magnets", "magnets", "letters", { 50, 100, 200, 400 }, NULL, { LIES, 2.5, 20 } },
	{ "net", "net", "boxes", { 9, 18, 36, 72 }, NULL, { LIES, 1.3, 20 } },
	{ "ragdolls", "ragdolls", "count", { 5, 10, 20, 40 }, NULL, { LIES, 3.0, 20 } },
	{ "rings (capsules)", "rings", "rings", { 40, 80, 160, 320 }, "mesh=0", { LIES, 2.0, 20 } },
	{ "rings (meshes)", "rings", "rings", { 50, 70, 100, 140 }, NULL, { LIES, 2.0, 10 } },
	{ "skeletons", "skeletons", "count", { 3, 5, 8, 12 }, NULL, { LIES, 2.0, 10 } },
};

#define FAMILY_COUNT ((int)(sizeof(families) / sizeof(families[0])))

typedef struct Growth {
	double bodies[SIZES], contacts[SIZES], ms[SIZES];
	char byBodies[48], byContacts[48]; // of the legends
} Growth;

// Slope of log y over log x by least squares.
static double exponentOf(const double* x, const double* y) {
	double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
	for (int i = 0; i < SIZES; ++i) {
		double a = log(x[i]), b = log(y[i]);
		sx += a;
		sy += b;
		sxx += a * a;
		sxy += a * b;
	}
	return (SIZES * sxy - sx * sy) / (SIZES * sxx - sx * sx);
}

static int timeSizes(const knJointBench* bench, const struct Family* family, cliProgress* progress,
					 Growth* growth) {
	for (int i = 0; i < SIZES; ++i) {
		char set[64];
		snprintf(set, sizeof(set), "%s=%d", family->param, family->sizes[i]);
		const char* sets[MAX_SETS];
		listSets(bench, set, family->more, sets);
		Cost cost;
		int status =
			timeMoment(bench, family->scene, sets, &family->moment, &cost, NULL, progress, 100 * (int64_t)i);
		if (status != CLI_DONE) {
			return status;
		}
		growth->bodies[i] = cost.bodies;
		growth->contacts[i] = cost.contacts;
		growth->ms[i] = fmax(cost.median, 1e-6);
		printf("%-16s %-12s %6d bodies %8.0f contacts %5.1f sweeps %10.3f ms a step (median of %d from %.2f "
			   "s)\n",
			   family->label, set, cost.bodies, cost.contacts, cost.sweeps, growth->ms[i],
			   windowOf(bench, &family->moment), cost.from);
		fflush(stdout);
		knJointBench_Record(bench, "growth", family->label, set, "bodies", cost.bodies);
		knJointBench_Record(bench, "growth", family->label, set, "contacts", cost.contacts);
		knJointBench_Record(bench, "growth", family->label, set, "sweeps", cost.sweeps);
		knJointBench_Record(bench, "growth", family->label, set, "ms", growth->ms[i]);
		knJointBench_Record(bench, "growth", family->label, set, "from", cost.from);
	}
	return CLI_DONE;
}

// A number that hardly changes says nothing about the cost against it.
static void fit(const knJointBench* bench, const struct Family* family, const char* quantity, const double* x,
				const double* ms, char* legend, size_t capacity, knPlot* plot) {
	if (!(x[0] > 0.0) || x[SIZES - 1] < 2.0 * x[0]) {
		return;
	}
	double exponent = exponentOf(x, ms);
	snprintf(legend, capacity, "%s %.2f", family->label, exponent);
	printf("%-16s exponent of the cost against %s %.2f\n", family->label, quantity, exponent);
	knJointBench_Record(bench, "exponent", family->label, quantity, "exponent", exponent);
	knPlot_Add(plot, KN_PLOT_MARKED, legend, x, ms, SIZES);
	// a scene has its colour in both plots
	plot->series[plot->seriesCount - 1].color = knPlot_Color((int)(family - families));
}

static int benchGrowth(const knJointBench* bench) {
	static Growth growth[FAMILY_COUNT];
	knPlot bodies = { .title = "time of a step against bodies (beside the names: exponents)",
					  .xLabel = "bodies",
					  .yLabel = "ms",
					  .logX = true,
					  .logY = true };
	knPlot contacts = bodies;
	contacts.title = "time of a step against contact points (beside the names: exponents)";
	contacts.xLabel = "contact points";
	for (int f = 0; f < FAMILY_COUNT; ++f) {
		const struct Family* family = &families[f];
		Growth* g = &growth[f];
		if (!knJointBench_Wants(bench, family->scene)) {
			continue;
		}
		cliProgress progress = cliProgress_Begin(family->label, 100 * SIZES);
		int status = timeSizes(bench, family, &progress, g);
		cliProgress_End(&progress);
		if (status != CLI_DONE) {
			return status;
		}
		fit(bench, family, "bodies", g->bodies, g->ms, g->byBodies, sizeof(g->byBodies), &bodies);
		fit(bench, family, "contacts", g->contacts, g->ms, g->byContacts, sizeof(g->byContacts), &contacts);
	}
	int status = knJointBench_Plot(bench, &bodies, "articulation_bodies");
	return status == CLI_DONE ? knJointBench_Plot(bench, &contacts, "articulation_contacts") : status;
}

int knJointCosts_Run(const knJointBench* bench) {
	int status = benchShares(bench);
	return status == CLI_DONE ? benchGrowth(bench) : status;
}
