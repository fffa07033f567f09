// knuckle bench vsp: the figures of Erleben 2007 remade. With --out FOLDER each becomes an SVG there; tables are printed.
//
//   theta_*      merit theta against sweeps on the first contact problem of a scene: Gauss-Seidel, with constraint force mixing,
//                over-relaxation, Jacobi (figure 5)
//   matrix_A_*, eigenvalues_*, theta_damping, lambda   vsp_matrices.h (figures 3, 4, 6 to 8)
//   time_contacts_*   time of collision and of the solver against the number of contacts, over a run (figures 18, 19)
//   frames       time of each step, scene by scene (section 5)
//   sawtooth_*   potential energy of a cow that stands, for several time steps; of two cows of the pile (figures 29, 30)
//
// knuckle bench vsp-curves: those of them that are the same everywhere.
//
// knuckle bench vsp-times: those of them that depend on the machine. A run does the same work every time, so of several runs the
// least time of each step is what it costs when nothing else disturbs it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "contact_problem.h"
#include "plot.h"
#include "progress.h"
#include "scene_run.h"
#include "vsp_matrices.h"

#define H 0.01
#define MAX_SWEEPS 1000
#define MAX_STEPS 1000
#define RUNS 3 // of which the least time of each step counts
#define LEAST_THETA 1e-20

static bool writePlot(const knBenchOptions* options, const knPlot* plot, const char* name) {
	return options->path == NULL || knPlot_Write(plot, options->path, name);
}

// --- theta against sweeps --------------------------------------------------------------------------------------

typedef struct Method {
	const char* name;
	double mixing; // over the mean diagonal
	double omega;
	bool jacobi;
} Method;

static const Method methods[] = {
	{ "Gauss-Seidel", 0.0, 1.0, false }, { "damped 0.01", 0.01, 1.0, false },
	{ "damped 0.1", 0.1, 1.0, false },   { "SOR 1.3", 0.0, 1.3, false },
	{ "Jacobi 0.5", 0.0, 0.5, true },    { "Jacobi", 0.0, 1.0, true },
};

#define METHOD_COUNT ((int)(sizeof(methods) / sizeof(methods[0])))

static void keepTheta(int sweep, double theta, void* context) {
	double* values = context;
	values[sweep - 1] = theta;
}

// The mean of the normal rows' diagonals: the scale of the mixing.
static double meanDiagonal(const knContactProblem* problem) {
	double sum = 0.0;
	for (int i = 0; i < problem->chunkCount; ++i) {
		const knSweepChunk* chunk = &problem->chunks[i];
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			const knSweepPoint* point = &problem->points[k];
			knVec3 a = knCross(point->rA, point->n), b = knCross(point->rB, point->n);
			sum += problem->invMass[chunk->a] + knDot(a, knMulMV(&problem->invInertia[chunk->a], a)) +
				   problem->invMass[chunk->b] + knDot(b, knMulMV(&problem->invInertia[chunk->b], b));
		}
	}
	return problem->pointCount > 0 ? sum / problem->pointCount : 1.0;
}

// Solves from nothing; theta [sweeps] may be NULL. The impulses are left in the problem's points.
static bool solve(knContactProblem* problem, const Method* method, int sweeps, double* theta) {
	knArena scratch;
	knAllocator allocator = knAllocator_Default();
	knArena_Init(&scratch, &allocator);
	knTwist* u = KN_SCRATCH(&scratch, knTwist, problem->bodyCount);
	knTwist* copy = KN_SCRATCH(&scratch, knTwist, problem->bodyCount);
	knTasks tasks = { 0 };
	knSweepBlocks blocks = { .count = problem->bodyCount,
							 .invMass = problem->invMass,
							 .invInertia = problem->invInertia };
	knSweepSet set = { 0 };
	bool ok = u != NULL && copy != NULL;
	for (int i = 0; ok && i < problem->pointCount; ++i) {
		memset(problem->points[i].lambda, 0, sizeof(problem->points[i].lambda));
	}
	ok = ok && knSweepSet_Build(&set, problem->chunks, problem->chunkCount, 1, problem->points, &blocks,
								KN_SWEEP_BOX, &tasks, &scratch);
	if (ok) {
		memcpy(u, problem->u, sizeof(knTwist) * (size_t)problem->bodyCount);
		knSweepOptions sweep = {
			.sweeps = sweeps,
			.gamma = method->mixing * meanDiagonal(problem),
			.omega = method->omega,
			.jacobi = method->jacobi,
			.fn = theta != NULL ? keepTheta : NULL,
			.context = theta,
			.tasks = &tasks,
			.copy = copy,
			.blockCount = problem->bodyCount,
		};
		knSweep_Velocities(&set, 0, &sweep, u);
		knSweepSet_Store(&set, &tasks, problem->points);
	}
	knArena_Free(&scratch);
	return ok;
}

// The problem of a scene's first step.
static int openProblem(knContactProblem* problem, const char* scene, const char* const* sets) {
	knSceneRun run;
	int status = knSceneRun_Open(&run, scene, sets, "velocity", H, 1);
	if (status != CLI_DONE) {
		return status;
	}
	bool ok = knContactProblem_Open(problem, run.world.world, H);
	knSceneRun_Close(&run);
	return ok ? CLI_DONE : cliFail(CLI_FAILED, "no contact problem of '%s': out of memory", scene);
}

static int benchTheta(const knBenchOptions* options, const char* scene, const char* const* sets,
					  const char* file) {
	static double theta[METHOD_COUNT][MAX_SWEEPS];
	knContactProblem problem;
	int status = openProblem(&problem, scene, sets);
	if (status != CLI_DONE) {
		return status;
	}
	int sweeps = options->full ? MAX_SWEEPS : 200;
	char title[64];
	snprintf(title, sizeof(title), "%s, %d contact points", scene, problem.pointCount);
	knPlot plot = { .title = title, .xLabel = "sweeps", .yLabel = "theta", .logY = true };
	printf("%-12s %6d points  theta after %d sweeps:", scene, problem.pointCount, sweeps);
	for (int m = 0; m < METHOD_COUNT && status == CLI_DONE; ++m) {
		memset(theta[m], 0, sizeof(theta[m]));
		if (!solve(&problem, &methods[m], sweeps, theta[m])) {
			status = cliFail(CLI_FAILED, "out of memory");
		}
		// a solver that diverges leaves the page, one that has arrived too
		for (int i = 0; i < sweeps; ++i) {
			bool drawn = theta[m][i] < 1e6 * theta[0][0] && theta[m][i] > LEAST_THETA;
			theta[m][i] = drawn ? theta[m][i] : NAN;
		}
		printf("  %s %.1e", methods[m].name, theta[m][sweeps - 1]);
		knPlot_Add(&plot, KN_PLOT_LINE, methods[m].name, NULL, theta[m], sweeps);
	}
	puts("");
	knContactProblem_Close(&problem);
	return status == CLI_DONE && !writePlot(options, &plot, file) ? CLI_BAD_INPUT : status;
}

// --- times -----------------------------------------------------------------------------------------------------

typedef struct Series {
	int count;
	double contacts[MAX_STEPS], collide[MAX_STEPS], solve[MAX_STEPS], total[MAX_STEPS]; // per step; ms
} Series;

static void addStep(Series* series, int i, bool first, const knStepReport* report) {
	double collide = 1e3 * report->collideTime, solved = 1e3 * report->solveTime,
		   total = 1e3 * report->stepTime;
	series->contacts[i] = report->contacts;
	series->collide[i] = first ? collide : fmin(series->collide[i], collide);
	series->solve[i] = first ? solved : fmin(series->solve[i], solved);
	series->total[i] = first ? total : fmin(series->total[i], total);
	series->count = i + 1;
}

static int timeScene(const knBenchOptions* options, const char* scene, const char* const* sets, int steps,
					 Series* series) {
	steps = steps < MAX_STEPS ? steps : MAX_STEPS;
	cliProgress progress = cliProgress_Begin(scene, (int64_t)RUNS * steps);
	int status = CLI_DONE;
	series->count = 0;
	for (int r = 0; r < RUNS && status == CLI_DONE; ++r) {
		knSceneRun run;
		status = knSceneRun_Open(&run, scene, sets, "velocity", 0.0, options->threads);
		if (status != CLI_DONE) {
			break;
		}
		for (int i = 0; i < steps && knSceneRun_Step(&run); ++i) {
			addStep(series, i, r == 0, knWorld_Report(run.world.world));
			cliProgress_Update(&progress, (int64_t)r * steps + i);
		}
		knSceneRun_Close(&run);
	}
	cliProgress_End(&progress);
	return status;
}

// Least squares y = a + b x: the share of the scatter that the line explains.
static double lineFit(const double* x, const double* y, int count, double* slope) {
	double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0, syy = 0.0;
	for (int i = 0; i < count; ++i) {
		sx += x[i];
		sy += y[i];
		sxx += x[i] * x[i];
		sxy += x[i] * y[i];
		syy += y[i] * y[i];
	}
	double cxx = sxx - sx * sx / count, cxy = sxy - sx * sy / count, cyy = syy - sy * sy / count;
	*slope = cxx > 0.0 ? cxy / cxx : 0.0;
	return cxx > 0.0 && cyy > 0.0 ? cxy * cxy / (cxx * cyy) : 1.0;
}

// The paper's scenes; those with a worst frame in it are also plotted against contacts.
typedef struct TimedScene {
	const char* name;
	double paper; // s, worst frame at 1.7 GHz; 0: not given
} TimedScene;

static const TimedScene timedScenes[] = {
	{ "box-stack", 0.0 }, { "wall", 0.0 },          { "tower", 0.0 },
	{ "ball-grid", 0.0 }, { "falling-roof", 0.25 }, { "roof-tower", 0.0 },
	{ "letters", 0.18 },  { "silo", 1.1 },          { "cow-pile", 1.2 },
};

#define TIMED_COUNT ((int)(sizeof(timedScenes) / sizeof(timedScenes[0])))

static void printFrames(const TimedScene* scene, const char* label, const Series* series) {
	double worst = 0.0, mean = 0.0;
	for (int k = 0; k < series->count; ++k) {
		worst = fmax(worst, series->total[k]);
		mean += series->total[k] / series->count;
	}
	printf("%-12s worst frame %9.3f ms, mean %9.3f ms", label, worst, mean);
	if (scene->paper > 0.0) {
		printf(" (paper, 1.7 GHz: worst %.0f ms)", 1e3 * scene->paper);
	}
	puts("");
	fflush(stdout);
}

static void printSlopes(const char* label, const Series* series) {
	double collideSlope, solveSlope;
	double collideFit = lineFit(series->contacts, series->collide, series->count, &collideSlope);
	double solveFit = lineFit(series->contacts, series->solve, series->count, &solveSlope);
	printf("%-12s collision %.3f us per contact (R2 %.3f), solver %.3f us per contact (R2 %.3f)\n", label,
		   1e3 * collideSlope, collideFit, 1e3 * solveSlope, solveFit);
}

static int runTimes(const knBenchOptions* options) {
	static Series series[TIMED_COUNT];
	static const char* const few[] = { "cows=32", NULL };
	knPlot frames = { .title = "time of each step", .xLabel = "step", .yLabel = "ms", .logY = true };
	knPlot collide = { .title = "collision time against contacts",
					   .xLabel = "contacts",
					   .yLabel = "ms a step",
					   .logX = true,
					   .logY = true };
	knPlot solved = collide;
	solved.title = "solver time against contacts";
	int steps = options->full ? MAX_STEPS : 300;
	for (int i = 0; i < TIMED_COUNT; ++i) {
		const TimedScene* scene = &timedScenes[i];
		bool cows = !options->full && strcmp(scene->name, "cow-pile") == 0;
		const char* label = cows ? "cow-pile, 32" : scene->name;
		int status = timeScene(options, scene->name, cows ? few : NULL, steps, &series[i]);
		if (status != CLI_DONE) {
			return status;
		}
		printFrames(scene, label, &series[i]);
		knPlot_Add(&frames, KN_PLOT_LINE, label, NULL, series[i].total, series[i].count);
		if (scene->paper > 0.0) {
			printSlopes(label, &series[i]);
			knPlot_Add(&collide, KN_PLOT_DOTS, label, series[i].contacts, series[i].collide, series[i].count);
			knPlot_Add(&solved, KN_PLOT_DOTS, label, series[i].contacts, series[i].solve, series[i].count);
		}
	}
	return writePlot(options, &frames, "frames") && writePlot(options, &collide, "time_contacts_collide") &&
				   writePlot(options, &solved, "time_contacts_solve")
			   ? CLI_DONE
			   : CLI_BAD_INPUT;
}

// --- saw-tooth -------------------------------------------------------------------------------------------------

#define SAMPLES 1001

typedef struct Cow {
	const char* const* sets;
	double dt;
	int index;        // of the cow
	double from, to;  // s
	const char* name; // of the curve
	int count;
	double at[SAMPLES], energy[SAMPLES];
} Cow;

// Potential energy of one cow over a window of time, above the least in it.
static int followCow(const knBenchOptions* options, Cow* cow) {
	knSceneRun run;
	int status = knSceneRun_Open(&run, "cow-pile", cow->sets, "velocity", cow->dt, options->threads);
	cow->count = 0;
	if (status != CLI_DONE) {
		return status;
	}
	knBodyId body = knModel_BodyAt(run.world.model, cow->index);
	double weight = 9.81 * knModel_BodyMass(run.world.model, body).mass, least = INFINITY;
	int first = (int)round(cow->from / cow->dt), last = (int)round(cow->to / cow->dt);
	int stride = (last - first) / (SAMPLES - 1) + 1;
	cliProgress progress = cliProgress_Begin(cow->name, last);
	for (int i = 0; i <= last; ++i) {
		if (i >= first && (i - first) % stride == 0 && cow->count < SAMPLES) {
			cow->at[cow->count] = knWorld_Time(run.world.world);
			cow->energy[cow->count] = weight * knWorld_BodyCenter(run.world.world, body).z;
			least = fmin(least, cow->energy[cow->count]);
			cow->count += 1;
		}
		if (i < last && !knSceneRun_Step(&run)) {
			break;
		}
		cliProgress_Update(&progress, i);
	}
	cliProgress_End(&progress);
	double most = 0.0;
	for (int i = 0; i < cow->count; ++i) {
		cow->energy[i] -= least;
		most = fmax(most, cow->energy[i]);
	}
	printf("%s: potential energy varies by %.3g J from %g to %g s\n", cow->name, most, cow->from, cow->to);
	fflush(stdout);
	knSceneRun_Close(&run);
	return CLI_DONE;
}

static int plotCows(const knBenchOptions* options, Cow* cows, int count, const char* title,
					const char* file) {
	knPlot plot = { .title = title, .xLabel = "time, s", .yLabel = "J, above the least" };
	for (int i = 0; i < count; ++i) {
		int status = followCow(options, &cows[i]);
		if (status != CLI_DONE) {
			return status;
		}
		knPlot_Add(&plot, KN_PLOT_LINE, cows[i].name, cows[i].at, cows[i].energy, cows[i].count);
	}
	return writePlot(options, &plot, file) ? CLI_DONE : CLI_BAD_INPUT;
}

static int benchSawtooth(const knBenchOptions* options) {
	static const char* const published[] = { "cows=1", "drop=0", "scheme=paper", NULL };
	static const char* const ours[] = { "cows=1", "drop=0", NULL };
	static Cow one[] = {
		{ .sets = published, .dt = 0.01, .from = 3.0, .to = 4.0, .name = "published, 0.01" },
		{ .sets = published, .dt = 0.005, .from = 3.0, .to = 4.0, .name = "published, 0.005" },
		{ .sets = published, .dt = 0.001, .from = 3.0, .to = 4.0, .name = "published, 0.001" },
		{ .sets = ours, .dt = 0.01, .from = 3.0, .to = 4.0, .name = "default, 0.01" },
		{ .sets = ours, .dt = 0.001, .from = 3.0, .to = 4.0, .name = "default, 0.001" },
	};
	static const char* const heap[] = { "cows=16", "scheme=paper", NULL };
	static const char* const ourHeap[] = { "cows=16", NULL };
	static Cow two[] = {
		{ .sets = heap, .dt = H, .index = 5, .from = 6.0, .to = 7.0, .name = "published, cow 5" },
		{ .sets = heap, .dt = H, .index = 10, .from = 6.0, .to = 7.0, .name = "published, cow 10" },
		{ .sets = ourHeap, .dt = H, .index = 5, .from = 6.0, .to = 7.0, .name = "default, cow 5" },
		{ .sets = ourHeap, .dt = H, .index = 10, .from = 6.0, .to = 7.0, .name = "default, cow 10" },
	};
	int status = plotCows(options, one, 5, "a cow that stands: potential energy", "sawtooth_one");
	return status == CLI_DONE
			   ? plotCows(options, two, 4, "two cows of a pile: potential energy", "sawtooth_pile")
			   : status;
}

// --- the suites ------------------------------------------------------------------------------------------------

static int runCurves(const knBenchOptions* options) {
	static const char* const layers[] = { "layers=16", NULL };
	int status = benchTheta(options, "ball-grid", NULL, "theta_ball_grid");
	status = status == CLI_DONE ? benchTheta(options, "wall", NULL, "theta_wall") : status;
	status = status == CLI_DONE ? benchTheta(options, "tower", layers, "theta_tower") : status;
	status = status == CLI_DONE ? benchTheta(options, "box-stack", NULL, "theta_box_stack") : status;
	status = status == CLI_DONE ? knVspMatrices_Run(options) : status;
	return status == CLI_DONE ? benchSawtooth(options) : status;
}

static int runVsp(const knBenchOptions* options) {
	int status = runCurves(options);
	return status == CLI_DONE ? runTimes(options) : status;
}

const knBenchSuite knVspBench = {
	.name = "vsp",
	.summary = "the figures of Erleben 2007: convergence, spectra, costs",
	.run = runVsp,
};

const knBenchSuite knVspCurvesBench = {
	.name = "vsp-curves",
	.summary = "of these, the ones that are the same everywhere",
	.run = runCurves,
};

const knBenchSuite knVspTimesBench = {
	.name = "vsp-times",
	.summary = "of these, the ones that depend on the machine",
	.run = runTimes,
};
