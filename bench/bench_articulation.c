// knuckle bench articulation: the joints of the impulse stepper (Weinstein et al. 2006). With --out FOLDER the curves become SVGs.
//
//   joint_error_*    worst joint error over time with 5, 9 and 15 sweeps, with the published scheme, and without
//                    pre-stabilization
//   push             figure 10 of the paper: where the ball is after the joint is closed before, or after, bodies move
//   articulation     share of the step that joints cost: the same scene with and without its joints
//   growth           ms per step against bodies and against contacts at four sizes, with the exponents
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "plot.h"
#include "scene_run.h"

#define MAX_STEPS 1000
#define SIZES 4

typedef struct Curve {
	int count;
	double time[MAX_STEPS + 1], error[MAX_STEPS + 1];
	double worst;
	double msPerStep, contacts; // means
	int bodies;
} Curve;

// As published: joints one after the other.
static const char* const sweeping[] = { "articulation=sweep", NULL };

static bool writePlot(const knBenchOptions* options, const knPlot* plot, const char* name) {
	return options->path == NULL || knPlot_Write(plot, options->path, name);
}

// Runs a scene under the impulse stepper. A run that fails ends early; its curve ends there.
static int follow(const knBenchOptions* options, const char* scene, const char* const* sets, int steps,
				  Curve* curve) {
	knSceneRun run;
	memset(curve, 0, sizeof(*curve));
	int status = knSceneRun_Open(&run, scene, sets, "impulse", 0.0, options->threads);
	if (status != CLI_DONE) {
		return status;
	}
	curve->bodies = knModel_BodyCount(run.world.model);
	for (int i = 0; i <= steps && i <= MAX_STEPS; ++i) {
		curve->time[i] = knWorld_Time(run.world.world);
		curve->error[i] = knWorld_Measure(run.world.world).jointError;
		curve->worst = fmax(curve->worst, curve->error[i]);
		curve->count = i + 1;
		if (i == steps || !knSceneRun_Step(&run)) {
			break;
		}
		const knStepReport* report = knWorld_Report(run.world.world);
		curve->msPerStep += 1e3 * report->stepTime;
		curve->contacts += report->contacts;
	}
	if (curve->count > 1) {
		curve->msPerStep /= curve->count - 1;
		curve->contacts /= curve->count - 1;
	}
	knSceneRun_Close(&run);
	return CLI_DONE;
}

// --- joint error -------------------------------------------------------------------------------------------------

static const struct Setting {
	const char* name;
	const char* sets[4];
} settings[] = {
	{ "5 sweeps", { "articulation=sweep", "sweeps=5", NULL } },
	{ "9 sweeps", { "articulation=sweep", "sweeps=9", NULL } },
	{ "15 sweeps", { "articulation=sweep", "sweeps=15", NULL } },
	{ "published, 9", { "articulation=sweep", "sweeps=9", "scheme=paper", NULL } },
	{ "9, velocities alone", { "articulation=sweep", "sweeps=9", "prestabilize=0", NULL } },
};

#define SETTING_COUNT ((int)(sizeof(settings) / sizeof(settings[0])))

static int benchErrors(const knBenchOptions* options, const char* scene, const char* more) {
	static Curve curves[SETTING_COUNT];
	char title[96], file[96];
	snprintf(title, sizeof(title), "%s: worst joint error", scene);
	knPlot plot = { .title = title, .xLabel = "time, s", .yLabel = "m", .logY = true };
	printf("%-12s worst joint error, m:", scene);
	for (int i = 0; i < SETTING_COUNT; ++i) {
		const char* sets[8] = { NULL };
		int count = 0;
		for (; settings[i].sets[count] != NULL; ++count) {
			sets[count] = settings[i].sets[count];
		}
		sets[count] = more;
		int status = follow(options, scene, sets, options->full ? MAX_STEPS : 150, &curves[i]);
		if (status != CLI_DONE) {
			return status;
		}
		printf("  %s %.2e", settings[i].name, curves[i].worst);
		knPlot_Add(&plot, KN_PLOT_LINE, settings[i].name, curves[i].time, curves[i].error, curves[i].count);
	}
	puts("");
	snprintf(file, sizeof(file), "joint_error_%s", scene);
	return writePlot(options, &plot, file) ? CLI_DONE : CLI_BAD_INPUT;
}

// --- before and after ----------------------------------------------------------------------------------------------

static int benchPush(const knBenchOptions* options) {
	static const char* const methods[] = { "method=pre", "method=post" };
	for (int i = 0; i < 2; ++i) {
		const char* sets[] = { methods[i], sweeping[0], NULL };
		knSceneRun run;
		int status = knSceneRun_Open(&run, "push-through", sets, "impulse", 0.0, options->threads);
		if (status != CLI_DONE) {
			return status;
		}
		knSceneChecks checks = { 0 };
		for (int k = 0; k < 30 && knSceneRun_Step(&run); ++k) {
			run.scene.entry->observe(run.world.world, &run.scene.args, &checks);
		}
		printf("push-through %s:", methods[i]);
		for (int k = 0; k < checks.count; ++k) {
			printf("  %s %g", checks.names[k], checks.values[k]);
		}
		puts("");
		knSceneChecks_Free(&checks);
		knSceneRun_Close(&run);
	}
	return CLI_DONE;
}

// --- what joints cost ------------------------------------------------------------------------------------------------

// The same bodies, every joint disabled.
static int followLoose(const knBenchOptions* options, const char* scene, int steps, double* ms) {
	knSceneRun run;
	int status = knSceneRun_Open(&run, scene, sweeping, "impulse", 0.0, options->threads);
	*ms = 0.0;
	if (status != CLI_DONE) {
		return status;
	}
	for (int i = 0; i < knModel_JointCount(run.world.model); ++i) {
		(void)knWorld_SetJointEnabled(run.world.world, knModel_JointAt(run.world.model, i), false);
	}
	int done = 0;
	for (; done < steps && knSceneRun_Step(&run); ++done) {
		*ms += 1e3 * knWorld_Report(run.world.world)->stepTime;
	}
	*ms /= done > 0 ? done : 1;
	knSceneRun_Close(&run);
	return CLI_DONE;
}

static int benchShare(const knBenchOptions* options, const char* scene) {
	static Curve curve;
	double loose;
	int steps = options->full ? 500 : 60;
	int status = follow(options, scene, sweeping, steps, &curve);
	status = status == CLI_DONE ? followLoose(options, scene, steps, &loose) : status;
	if (status == CLI_DONE) {
		printf(
			"%-12s %9.3f ms per step, %9.3f ms without its joints: articulation %.0f%% (paper: about 5%%)\n",
			scene, curve.msPerStep, loose, 100.0 * (1.0 - loose / curve.msPerStep));
	}
	return status;
}

// --- growth ------------------------------------------------------------------------------------------------------------

static double slopeOf(const double* x, const double* y) {
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

// Scenes of which one number makes more: of bodies, of joints, of contacts.
static const struct Family {
	const char *scene, *param;
	int sizes[SIZES];
	const char* more; // a setting, or NULL
} families[] = {
	{ "tower", "layers", { 10, 20, 40, 80 }, NULL },
	{ "wall", "bricks", { 100, 200, 400, 800 }, NULL },
	{ "heavy-chain", "links", { 50, 100, 200, 400 }, NULL },
	{ "magnets", "letters", { 50, 100, 200, 400 }, NULL },
	{ "net", "boxes", { 9, 18, 36, 72 }, NULL },
	{ "ragdolls", "count", { 5, 10, 20, 40 }, NULL },
	{ "rings", "rings", { 40, 80, 160, 320 }, "mesh=0" },
};

#define FAMILY_COUNT ((int)(sizeof(families) / sizeof(families[0])))

typedef struct Growth {
	double bodies[SIZES], contacts[SIZES], ms[SIZES];
} Growth;

static int followFamily(const knBenchOptions* options, const struct Family* family, Growth* growth) {
	static Curve curve;
	for (int i = 0; i < SIZES; ++i) {
		char set[64];
		snprintf(set, sizeof(set), "%s=%d", family->param, family->sizes[i]);
		const char* sets[] = { set, sweeping[0], "sweeps=9", family->more, NULL };
		int status = follow(options, family->scene, sets, options->full ? 200 : 60, &curve);
		if (status != CLI_DONE) {
			return status;
		}
		growth->bodies[i] = curve.bodies;
		growth->contacts[i] = fmax(curve.contacts, 1.0);
		growth->ms[i] = fmax(curve.msPerStep, 1e-6);
		printf("%-12s %-12s %6.0f bodies %8.0f contacts %10.3f ms per step\n", family->scene, set,
			   growth->bodies[i], growth->contacts[i], growth->ms[i]);
	}
	return CLI_DONE;
}

// A number that hardly changes says nothing about the cost against it.
static bool varies(const double* x) {
	return x[SIZES - 1] > 2.0 * x[0];
}

static int benchGrowth(const knBenchOptions* options) {
	static Growth growth[FAMILY_COUNT];
	knPlot plot = {
		.title = "ms per step against bodies", .xLabel = "bodies", .yLabel = "ms", .logX = true, .logY = true
	};
	for (int f = 0; f < FAMILY_COUNT; ++f) {
		Growth* g = &growth[f];
		int status = followFamily(options, &families[f], g);
		if (status != CLI_DONE) {
			return status;
		}
		printf("  exponent of the cost");
		if (varies(g->bodies)) {
			printf(", against bodies %.2f", slopeOf(g->bodies, g->ms));
			knPlot_Add(&plot, KN_PLOT_LINE, families[f].scene, g->bodies, g->ms, SIZES);
		}
		if (varies(g->contacts)) {
			printf(", against contacts %.2f", slopeOf(g->contacts, g->ms));
		}
		puts("");
	}
	return writePlot(options, &plot, "articulation_growth") ? CLI_DONE : CLI_BAD_INPUT;
}

// --- the suite ---------------------------------------------------------------------------------------------------------

static int runArticulation(const knBenchOptions* options) {
	if (!cliCheckStepper("impulse")) {
		return CLI_USAGE;
	}
	int status = benchErrors(options, "pendulum", "links=10");
	status = status == CLI_DONE ? benchErrors(options, "net", NULL) : status;
	status = status == CLI_DONE ? benchErrors(options, "bridge", NULL) : status;
	status = status == CLI_DONE ? benchPush(options) : status;
	status = status == CLI_DONE ? benchShare(options, "ragdolls") : status;
	status = status == CLI_DONE ? benchShare(options, "net") : status;
	return status == CLI_DONE ? benchGrowth(options) : status;
}

const knBenchSuite knArticulationBench = {
	.name = "articulation",
	.summary = "the impulse stepper's joints: error against sweeps, share of the cost, growth",
	.run = runArticulation,
};
