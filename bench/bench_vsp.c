// knuckle bench vsp: the figures of Erleben 2007 remade. With --out FOLDER each becomes an SVG there; tables are printed.
//
//   theta_*      merit theta against sweeps on the first contact problem of a scene: Gauss-Seidel, with constraint force mixing,
//                over-relaxation, Jacobi
//   matrix_A, eigenvalues_A, eigenvalues_T   of a small stack: sparsity, and the spectra of A and of the Gauss-Seidel iteration
//   lambda       normal impulses of a stack after 100 sweeps, damped and not, against the weights that they should carry
//   time_contacts_*   time of collision and of the solver against the number of contacts, over a run
//   frames       time of each step, scene by scene
//   sawtooth     potential energy of a cow that stands, for several time steps; of two cows of the pile
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "contact_problem.h"
#include "plot.h"
#include "scene_run.h"
#include "spectrum.h"

#define H 0.01
#define MAX_SWEEPS 1000
#define MAX_STEPS 1000

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
	knPlot plot = { .title = scene, .xLabel = "sweeps", .yLabel = "theta", .logY = true };
	printf("%-12s %6d points  theta after %d sweeps:", scene, problem.pointCount, sweeps);
	for (int m = 0; m < METHOD_COUNT && status == CLI_DONE; ++m) {
		memset(theta[m], 0, sizeof(theta[m]));
		if (!solve(&problem, &methods[m], sweeps, theta[m])) {
			status = cliFail(CLI_FAILED, "out of memory");
		}
		// a solver that diverges leaves the page
		for (int i = 0; i < sweeps; ++i) {
			theta[m][i] = theta[m][i] < 1e6 * theta[0][0] ? theta[m][i] : NAN;
		}
		printf("  %s %.1e", methods[m].name, theta[m][sweeps - 1]);
		knPlot_Add(&plot, KN_PLOT_LINE, methods[m].name, NULL, theta[m], sweeps);
	}
	puts("");
	knContactProblem_Close(&problem);
	return status == CLI_DONE && !writePlot(options, &plot, file) ? CLI_BAD_INPUT : status;
}

// --- matrices --------------------------------------------------------------------------------------------------

static bool plotSparsity(const knBenchOptions* options, const double* A, int n) {
	double* places = malloc(2 * sizeof(double) * (size_t)n * (size_t)n);
	if (places == NULL) {
		return false;
	}
	double *columns = places, *rows = places + (size_t)n * (size_t)n, largest = 0.0;
	for (int i = 0; i < n * n; ++i) {
		largest = fmax(largest, fabs(A[i]));
	}
	int count = 0;
	for (int i = 0; i < n * n; ++i) {
		if (fabs(A[i]) > 1e-12 * largest) {
			columns[count] = i % n;
			rows[count] = i / n;
			++count;
		}
	}
	printf("A of box-stack 5: %d rows, %.1f%% of the entries are not zero\n", n,
		   100.0 * count / ((double)n * n));
	knPlot plot = { .title = "A = J W J^T of five boxes",
					.xLabel = "column",
					.yLabel = "row",
					.equal = true,
					.downward = true };
	knPlot_Add(&plot, KN_PLOT_DOTS, NULL, columns, rows, count);
	bool ok = writePlot(options, &plot, "matrix_A");
	free(places);
	return ok;
}

static bool plotSpectra(const knBenchOptions* options, double* A, double* T, double* values, int n) {
	double *real = values, *imaginary = values + n, *symmetric = values + 2 * n, circle[2][181], radius = 0.0;
	knContactProblem_GaussSeidel(A, n, T);
	if (!knSpectrum_General(T, n, real, imaginary)) {
		cliFail(CLI_FAILED, "the eigenvalues of T did not converge");
		return false;
	}
	knSpectrum_Symmetric(A, n, symmetric);
	int zero = 0;
	for (int i = 0; i < n; ++i) {
		zero += symmetric[i] < 1e-12 * symmetric[n - 1];
		double size = sqrt(real[i] * real[i] + imaginary[i] * imaginary[i]);
		radius = size < 1.0 - 1e-9 ? fmax(radius, size) : radius;
	}
	printf("  eigenvalues of A: %d of %d are zero, largest %.3g 1/kg; of T: largest below 1 is %.6f\n", zero,
		   n, symmetric[n - 1], radius);
	for (int i = 0; i <= 180; ++i) {
		circle[0][i] = cos(2.0 * KN_PI * i / 180.0);
		circle[1][i] = sin(2.0 * KN_PI * i / 180.0);
	}
	knPlot a = { .title = "eigenvalues of A, five boxes", .xLabel = "index", .yLabel = "1/kg" };
	knPlot_Add(&a, KN_PLOT_DOTS, NULL, NULL, symmetric, n);
	knPlot t = { .title = "eigenvalues of T = -(L + D)^-1 U, five boxes",
				 .xLabel = "real",
				 .yLabel = "imaginary",
				 .equal = true };
	knPlot_Add(&t, KN_PLOT_LINE, "unit circle", circle[0], circle[1], 181);
	knPlot_Add(&t, KN_PLOT_DOTS, "eigenvalues", real, imaginary, n);
	return writePlot(options, &a, "eigenvalues_A") && writePlot(options, &t, "eigenvalues_T");
}

static int benchMatrices(const knBenchOptions* options) {
	static const char* const sets[] = { "boxes=5", NULL };
	knContactProblem problem;
	int status = openProblem(&problem, "box-stack", sets);
	if (status != CLI_DONE) {
		return status;
	}
	int n = knContactProblem_Rows(&problem);
	double* A = calloc(2 * (size_t)n * (size_t)n + 3 * (size_t)n, sizeof(double));
	if (A == NULL) {
		knContactProblem_Close(&problem);
		return cliFail(CLI_FAILED, "out of memory");
	}
	knContactProblem_Matrix(&problem, A);
	double* T = A + (size_t)n * (size_t)n;
	bool ok = plotSparsity(options, A, n) && plotSpectra(options, A, T, T + (size_t)n * (size_t)n, n);
	free(A);
	knContactProblem_Close(&problem);
	return ok ? CLI_DONE : CLI_BAD_INPUT;
}

// --- lambda ----------------------------------------------------------------------------------------------------

#define STACK 25

// The normal impulse of each interface: the sum over its points. Interfaces in order of height.
static void interfaceImpulses(const knContactProblem* problem, double impulses[STACK]) {
	memset(impulses, 0, STACK * sizeof(double));
	for (int i = 0; i < problem->chunkCount; ++i) {
		const knSweepChunk* chunk = &problem->chunks[i];
		int upper = chunk->a > chunk->b ? chunk->a : chunk->b; // boxes are numbered from below
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			impulses[upper - 1] += problem->points[k].lambda[0];
		}
	}
}

static int benchLambda(const knBenchOptions* options) {
	static const char* const sets[] = { "boxes=25", NULL };
	static const int chosen[] = { 0, 1, 2 };
	static double impulses[4][STACK];
	knContactProblem problem;
	int status = openProblem(&problem, "box-stack", sets);
	if (status != CLI_DONE) {
		return status;
	}
	knPlot plot = { .title = "normal impulses of 25 boxes after 100 sweeps",
					.xLabel = "interface, from below",
					.yLabel = "N s" };
	for (int i = 0; i < STACK; ++i) {
		impulses[3][i] = 1000.0 * 9.81 * H * (STACK - i);
	}
	knPlot_Add(&plot, KN_PLOT_LINE, "weight above", NULL, impulses[3], STACK);
	for (int m = 0; m < 3; ++m) {
		if (!solve(&problem, &methods[chosen[m]], 100, NULL)) {
			status = cliFail(CLI_FAILED, "out of memory");
			break;
		}
		interfaceImpulses(&problem, impulses[m]);
		printf("lambda of the lowest interface after 100 sweeps, %s: %.1f%% of the weight\n",
			   methods[chosen[m]].name, 100.0 * impulses[m][0] / impulses[3][0]);
		knPlot_Add(&plot, KN_PLOT_LINE, methods[chosen[m]].name, NULL, impulses[m], STACK);
	}
	knContactProblem_Close(&problem);
	return status == CLI_DONE && !writePlot(options, &plot, "lambda") ? CLI_BAD_INPUT : status;
}

// --- times -----------------------------------------------------------------------------------------------------

typedef struct Series {
	int count;
	double contacts[MAX_STEPS], collide[MAX_STEPS], solve[MAX_STEPS], total[MAX_STEPS]; // per step; ms
} Series;

static int timeScene(const knBenchOptions* options, const char* scene, const char* const* sets, int steps,
					 Series* series) {
	knSceneRun run;
	int status = knSceneRun_Open(&run, scene, sets, "velocity", 0.0, options->threads);
	series->count = 0;
	if (status != CLI_DONE) {
		return status;
	}
	for (int i = 0; i < steps && i < MAX_STEPS && knSceneRun_Step(&run); ++i) {
		const knStepReport* report = knWorld_Report(run.world.world);
		series->contacts[i] = report->contacts;
		series->collide[i] = 1e3 * report->collideTime;
		series->solve[i] = 1e3 * report->solveTime;
		series->total[i] = 1e3 * report->stepTime;
		series->count = i + 1;
	}
	knSceneRun_Close(&run);
	return CLI_DONE;
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

static int benchTimes(const knBenchOptions* options) {
	static const char* const scenes[] = { "silo", "letters", "falling-roof", "cow-pile" };
	static Series series[4];
	knPlot collide = { .title = "collision time against contacts", .xLabel = "contacts", .yLabel = "ms" };
	knPlot dynamics = { .title = "solver time against contacts", .xLabel = "contacts", .yLabel = "ms" };
	static const char* const some[] = { "objects=1000", NULL };
	static const char* const few[] = { "cows=32", NULL };
	int steps = options->full ? MAX_STEPS : 300;
	for (int i = 0; i < 4; ++i) {
		const char* const* sets = options->full ? NULL : i == 0 ? some : i == 3 ? few : NULL;
		int status = timeScene(options, scenes[i], sets, steps, &series[i]);
		if (status != CLI_DONE) {
			return status;
		}
		double collideSlope, solveSlope;
		double collideFit = lineFit(series[i].contacts, series[i].collide, series[i].count, &collideSlope);
		double solveFit = lineFit(series[i].contacts, series[i].solve, series[i].count, &solveSlope);
		printf("%-12s collision %.3f us per contact (R2 %.3f), solver %.3f us per contact (R2 %.3f)\n",
			   scenes[i], 1e3 * collideSlope, collideFit, 1e3 * solveSlope, solveFit);
		knPlot_Add(&collide, KN_PLOT_DOTS, scenes[i], series[i].contacts, series[i].collide, series[i].count);
		knPlot_Add(&dynamics, KN_PLOT_DOTS, scenes[i], series[i].contacts, series[i].solve, series[i].count);
	}
	return writePlot(options, &collide, "time_contacts_collide") &&
				   writePlot(options, &dynamics, "time_contacts_solve")
			   ? CLI_DONE
			   : CLI_BAD_INPUT;
}

static int benchFrames(const knBenchOptions* options) {
	static const struct {
		const char* name;
		double paper; // s, worst frame in the paper; 0: not given
	} scenes[] = { { "box-stack", 0.0 }, { "wall", 0.0 },          { "tower", 0.0 },
				   { "ball-grid", 0.0 }, { "falling-roof", 0.25 }, { "roof-tower", 0.0 },
				   { "letters", 0.18 },  { "silo", 1.1 },          { "cow-pile", 1.2 } };
	enum { COUNT = sizeof(scenes) / sizeof(scenes[0]) };
	static Series series[COUNT];
	static const char* const few[] = { "cows=32", NULL };
	knPlot plot = { .title = "time of each step", .xLabel = "step", .yLabel = "ms", .logY = true };
	int steps = options->full ? 500 : 100;
	for (int i = 0; i < COUNT; ++i) {
		const char* const* sets = !options->full && strcmp(scenes[i].name, "cow-pile") == 0 ? few : NULL;
		int status = timeScene(options, scenes[i].name, sets, steps, &series[i]);
		if (status != CLI_DONE) {
			return status;
		}
		double worst = 0.0, mean = 0.0;
		for (int k = 0; k < series[i].count; ++k) {
			worst = fmax(worst, series[i].total[k]);
			mean += series[i].total[k] / series[i].count;
		}
		printf("%-12s worst frame %9.3f ms, mean %9.3f ms", scenes[i].name, worst, mean);
		if (scenes[i].paper > 0.0) {
			printf(" (paper, 1.7 GHz: %.0f ms)", 1e3 * scenes[i].paper);
		}
		puts("");
		knPlot_Add(&plot, KN_PLOT_LINE, scenes[i].name, NULL, series[i].total, series[i].count);
	}
	return writePlot(options, &plot, "frames") ? CLI_DONE : CLI_BAD_INPUT;
}

// --- saw-tooth -------------------------------------------------------------------------------------------------

#define SAMPLES 1001

// Potential energy of one cow, relative to its first value.
static int followCow(const knBenchOptions* options, const char* const* sets, double dt, int cow, double time,
					 double* at, double* energy, int* count) {
	knSceneRun run;
	int status = knSceneRun_Open(&run, "cow-pile", sets, "velocity", dt, options->threads);
	*count = 0;
	if (status != CLI_DONE) {
		return status;
	}
	knBodyId body = knModel_BodyAt(run.world.model, cow);
	double weight = 9.81 * knModel_BodyMass(run.world.model, body).mass, first = 0.0;
	int stride = (int)(time / dt / (SAMPLES - 1)) + 1;
	for (int i = 0; i * dt <= time && *count < SAMPLES; ++i) {
		double height = knWorld_BodyCenter(run.world.world, body).z;
		first = i == 0 ? height : first;
		if (i % stride == 0) {
			at[*count] = knWorld_Time(run.world.world);
			energy[*count] = weight * (height - first);
			*count += 1;
		}
		if (!knSceneRun_Step(&run)) {
			break;
		}
	}
	knSceneRun_Close(&run);
	return CLI_DONE;
}

static int benchSawtooth(const knBenchOptions* options) {
	static const double steps[] = { 0.01, 0.005, 0.001 };
	static const char* const names[] = { "dt = 0.01 s", "dt = 0.005 s", "dt = 0.001 s" };
	static const char* const one[] = { "cows=1", "drop=0", NULL };
	static double at[5][SAMPLES], energy[5][SAMPLES];
	int counts[5];
	knPlot single = { .title = "a cow that stands: potential energy", .xLabel = "time, s", .yLabel = "J" };
	for (int i = 0; i < 3; ++i) {
		int status = followCow(options, one, steps[i], 0, 2.0, at[i], energy[i], &counts[i]);
		if (status != CLI_DONE) {
			return status;
		}
		double low = 0.0, high = 0.0;
		for (int k = 0; k < counts[i]; ++k) {
			low = fmin(low, energy[i][k]);
			high = fmax(high, energy[i][k]);
		}
		printf("one cow, %s: potential energy between %.3g and %.3g J\n", names[i], low, high);
		knPlot_Add(&single, KN_PLOT_LINE, names[i], at[i], energy[i], counts[i]);
	}
	static const char* const some[] = { "cows=16", NULL };
	static const char* const all[] = { "cows=250", NULL };
	knPlot pile = { .title = "two cows of the pile: potential energy", .xLabel = "time, s", .yLabel = "J" };
	for (int i = 0; i < 2; ++i) {
		int cow = i == 0 ? 5 : 10;
		int status = followCow(options, options->full ? all : some, H, cow, options->full ? 10.0 : 4.0,
							   at[3 + i], energy[3 + i], &counts[3 + i]);
		if (status != CLI_DONE) {
			return status;
		}
		knPlot_Add(&pile, KN_PLOT_LINE, i == 0 ? "cow 5" : "cow 10", at[3 + i], energy[3 + i], counts[3 + i]);
	}
	return writePlot(options, &single, "sawtooth_one") && writePlot(options, &pile, "sawtooth_pile")
			   ? CLI_DONE
			   : CLI_BAD_INPUT;
}

// --- the suite -------------------------------------------------------------------------------------------------

static int runVsp(const knBenchOptions* options) {
	static const char* const layers[] = { "layers=16", NULL };
	int status = benchTheta(options, "ball-grid", NULL, "theta_ball_grid");
	status = status == CLI_DONE ? benchTheta(options, "wall", NULL, "theta_wall") : status;
	status = status == CLI_DONE ? benchTheta(options, "tower", layers, "theta_tower") : status;
	status = status == CLI_DONE ? benchTheta(options, "box-stack", NULL, "theta_box_stack") : status;
	status = status == CLI_DONE ? benchMatrices(options) : status;
	status = status == CLI_DONE ? benchLambda(options) : status;
	status = status == CLI_DONE ? benchTimes(options) : status;
	status = status == CLI_DONE ? benchFrames(options) : status;
	return status == CLI_DONE ? benchSawtooth(options) : status;
}

const knBenchSuite knVspBench = {
	.name = "vsp",
	.summary = "the figures of Erleben 2007: convergence, spectra, costs",
	.run = runVsp,
};
