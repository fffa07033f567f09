// Joint errors of the impulse stepper (joint_bench.h). Each scene runs with 3, 5, 9, 15 and 30 sweeps, as it is by default, as
// published, and without pre-stabilization (velocities alone are made to fit the joints).
//
//   joint_error_*    worst joint error over time; the paper: 5 sweeps are too few, 9 suffice, 15 look the same
//   joint_sweeps_*   its largest value and its root mean square over time, against sweeps
//   push-through     figure 10 of Weinstein et al. 2006: where the ball is when the joint is closed before, or after, bodies move
#include <math.h>
#include <string.h>

#include "joint_bench.h"

#define MAX_STEPS 1000
#define SWEEPS 5
#define SCHEMES 3

static const int sweepCounts[SWEEPS] = { 3, 5, 9, 15, 30 };

static const struct Scheme {
	const char* name;
	const char* sets[2];     // NULL: none
	uint32_t colors[SWEEPS]; // over time; 0: not drawn
} schemes[SCHEMES] = {
	{ "default", { NULL, NULL }, { 0, 0x8fbce6, 0x2f6db3, 0x12375f, 0 } },
	{ "published", { "scheme=paper", NULL }, { 0, 0xf0a59c, 0xc0443c, 0x701a14, 0 } },
	{ "no pre-stabilization", { "scheme=paper", "prestabilize=0" }, { 0, 0, 0x2e8b7c, 0, 0 } },
};

static const struct Scene {
	const char *name, *set; // NULL: none
	int steps;
} scenes[] = {
	{ "pendulum", "links=10", 150 }, { "net", NULL, 100 }, { "bridge", NULL, 100 }, { "tank", NULL, 60 },
	{ "ragdolls", "count=5", 80 },
};

#define SCENE_COUNT ((int)(sizeof(scenes) / sizeof(scenes[0])))

typedef struct Curve {
	int count;
	double time[MAX_STEPS + 1], error[MAX_STEPS + 1];
	double worst, rms;
} Curve;

// --- runs ------------------------------------------------------------------------------------------------------

// A run that fails ends early; its curve ends there.
static int follow(const knJointBench* bench, const struct Scene* scene, const char* const* sets, int steps,
				  Curve* curve) {
	knSceneRun run;
	memset(curve, 0, sizeof(*curve));
	int status = knSceneRun_Open(&run, scene->name, sets, "impulse", 0.0, bench->options->threads);
	if (status != CLI_DONE) {
		return status;
	}
	double squares = 0.0;
	for (int i = 0; i <= steps; ++i) {
		double error = knWorld_Measure(run.world.world).jointError;
		curve->time[i] = knWorld_Time(run.world.world);
		curve->error[i] = error;
		curve->worst = fmax(curve->worst, error);
		curve->count = i + 1;
		squares += error * error;
		if (i == steps || !knSceneRun_Step(&run)) {
			break;
		}
	}
	curve->rms = sqrt(squares / curve->count);
	knSceneRun_Close(&run);
	return CLI_DONE;
}

static int followSchemes(const knJointBench* bench, const struct Scene* scene,
						 Curve curves[SCHEMES][SWEEPS]) {
	int steps = knJointBench_Steps(bench, bench->options->full ? MAX_STEPS : scene->steps);
	cliProgress progress = cliProgress_Begin(scene->name, SCHEMES * SWEEPS);
	int status = CLI_DONE;
	for (int i = 0; i < SCHEMES * SWEEPS && status == CLI_DONE; ++i) {
		const struct Scheme* scheme = &schemes[i / SWEEPS];
		char sweeps[32];
		snprintf(sweeps, sizeof(sweeps), "sweeps=%d", sweepCounts[i % SWEEPS]);
		const char* sets[5] = { sweeps };
		int count = 1;
		for (int k = 0; k < 2 && scheme->sets[k] != NULL; ++k) {
			sets[count++] = scheme->sets[k];
		}
		sets[count] = scene->set;
		cliProgress_Update(&progress, i);
		status = follow(bench, scene, sets, steps, &curves[i / SWEEPS][i % SWEEPS]);
	}
	cliProgress_End(&progress);
	return status;
}

// --- what comes out --------------------------------------------------------------------------------------------

static void printErrors(const knJointBench* bench, const struct Scene* scene, Curve curves[SCHEMES][SWEEPS]) {
	for (int i = 0; i < SCHEMES; ++i) {
		printf("%-10s %-21s worst", scene->name, schemes[i].name);
		for (int k = 0; k < SWEEPS; ++k) {
			printf(" %9.2e", curves[i][k].worst);
		}
		printf("   rms");
		for (int k = 0; k < SWEEPS; ++k) {
			printf(" %9.2e", curves[i][k].rms);
		}
		puts("");
		for (int k = 0; k < SWEEPS; ++k) {
			char setting[64];
			snprintf(setting, sizeof(setting), "%s %d", schemes[i].name, sweepCounts[k]);
			knJointBench_Record(bench, "error", scene->name, setting, "worst", curves[i][k].worst);
			knJointBench_Record(bench, "error", scene->name, setting, "rms", curves[i][k].rms);
			knJointBench_Record(bench, "error", scene->name, setting, "steps", curves[i][k].count - 1);
		}
	}
	fflush(stdout);
}

static int plotTime(const knJointBench* bench, const struct Scene* scene, Curve curves[SCHEMES][SWEEPS]) {
	char title[96], file[96], names[SCHEMES * SWEEPS][48];
	snprintf(title, sizeof(title), "%s: worst joint error over time", scene->name);
	snprintf(file, sizeof(file), "joint_error_%s", scene->name);
	knPlot plot = { .title = title, .xLabel = "time, s", .yLabel = "m", .logY = true };
	for (int i = 0; i < SCHEMES * SWEEPS; ++i) {
		const struct Scheme* scheme = &schemes[i / SWEEPS];
		const Curve* curve = &curves[i / SWEEPS][i % SWEEPS];
		if (scheme->colors[i % SWEEPS] == 0) {
			continue;
		}
		snprintf(names[i], sizeof(names[i]), "%s, %d sweeps", scheme->name, sweepCounts[i % SWEEPS]);
		// what was built has no error yet
		knPlot_Add(&plot, KN_PLOT_LINE, names[i], curve->time + 1, curve->error + 1, curve->count - 1);
		plot.series[plot.seriesCount - 1].color = scheme->colors[i % SWEEPS];
	}
	return knJointBench_Plot(bench, &plot, file);
}

static int plotSweeps(const knJointBench* bench, const struct Scene* scene, Curve curves[SCHEMES][SWEEPS]) {
	char title[96], file[96], names[SCHEMES][2][48];
	double x[SWEEPS], worst[SCHEMES][SWEEPS], rms[SCHEMES][SWEEPS];
	snprintf(title, sizeof(title), "%s: joint error against sweeps", scene->name);
	snprintf(file, sizeof(file), "joint_sweeps_%s", scene->name);
	knPlot plot = { .title = title, .xLabel = "sweeps", .yLabel = "m", .logX = true, .logY = true };
	for (int i = 0; i < SCHEMES; ++i) {
		for (int k = 0; k < SWEEPS; ++k) {
			x[k] = sweepCounts[k];
			worst[i][k] = curves[i][k].worst;
			rms[i][k] = curves[i][k].rms;
		}
		snprintf(names[i][0], sizeof(names[i][0]), "%s, worst", schemes[i].name);
		snprintf(names[i][1], sizeof(names[i][1]), "%s, rms", schemes[i].name);
		knPlot_Add(&plot, KN_PLOT_MARKED, names[i][0], x, worst[i], SWEEPS);
		knPlot_Add(&plot, KN_PLOT_DASHED, names[i][1], x, rms[i], SWEEPS);
		plot.series[2 * i].color = plot.series[2 * i + 1].color = schemes[i].colors[2];
	}
	return knJointBench_Plot(bench, &plot, file);
}

static int benchErrors(const knJointBench* bench) {
	static Curve curves[SCHEMES][SWEEPS];
	puts("joint error, m, with 3, 5, 9, 15, 30 sweeps: worst over the run, and rms over time of the worst "
		 "joint");
	for (int i = 0; i < SCENE_COUNT; ++i) {
		if (!knJointBench_Wants(bench, scenes[i].name)) {
			continue;
		}
		int status = followSchemes(bench, &scenes[i], curves);
		if (status != CLI_DONE) {
			return status;
		}
		printErrors(bench, &scenes[i], curves);
		status = plotTime(bench, &scenes[i], curves);
		status = status == CLI_DONE ? plotSweeps(bench, &scenes[i], curves) : status;
		if (status != CLI_DONE) {
			return status;
		}
	}
	return CLI_DONE;
}

// --- before and after ------------------------------------------------------------------------------------------

static int benchPush(const knJointBench* bench) {
	static const char* const methods[] = { "method=pre", "method=post" };
	for (int i = 0; i < 2; ++i) {
		const char* sets[] = { methods[i], NULL };
		knSceneRun run;
		int status = knSceneRun_Open(&run, "push-through", sets, "impulse", 0.0, bench->options->threads);
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
			knJointBench_Record(bench, "push", "push-through", methods[i], checks.names[k], checks.values[k]);
		}
		puts("");
		knSceneChecks_Free(&checks);
		knSceneRun_Close(&run);
	}
	return CLI_DONE;
}

int knJointErrors_Run(const knJointBench* bench) {
	int status = benchErrors(bench);
	return status == CLI_DONE && knJointBench_Wants(bench, "push-through") ? benchPush(bench) : status;
}
