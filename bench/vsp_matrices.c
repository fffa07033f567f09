// Matrices of contact problems (vsp_matrices.h).
//
//   A          J W J^T, three rows a contact point
//   A + gamma  damped (constraint force mixing); gamma is given as a share of A's mean diagonal
//   T          -(L + D)^-1 U: what a sweep of Gauss-Seidel multiplies the error by
//   theta      1/2 sum H^2, H = min(lambda - lo, max(lambda - hi, w)), rows scaled by 1/sqrt(diagonal)
#include "vsp_matrices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact_problem.h"
#include "plot.h"
#include "scene_run.h"
#include "spectrum.h"

#define H 0.01
#define STACK 25
#define SWEEPS 1000       // of the plot
#define LAST_SWEEPS 20000 // of solutions, unless
#define SOLVED 1e-16      // theta has fallen by this
#define ZERO_EIGENVALUE 1e-10

// A dense copy of a scene's first contact problem.
typedef struct Dense {
	int n;
	double *A, *b, *mu; // mu: of the friction rows; 0 marks a normal row
	double meanDiagonal;
	knContactProblem problem;
} Dense;

static void closeDense(Dense* dense) {
	free(dense->A);
	knContactProblem_Close(&dense->problem);
}

static int openDense(Dense* dense, const char* scene, const char* const* sets) {
	memset(dense, 0, sizeof(*dense));
	knSceneRun run;
	int status = knSceneRun_Open(&run, scene, sets, "velocity", H, 1);
	if (status != CLI_DONE) {
		return status;
	}
	bool opened = knContactProblem_Open(&dense->problem, run.world.world, H);
	knSceneRun_Close(&run);
	int n = opened ? knContactProblem_Rows(&dense->problem) : 0;
	dense->A = calloc((size_t)n * (size_t)n + 2 * (size_t)n + 1, sizeof(double));
	if (!opened || dense->A == NULL) {
		closeDense(dense);
		return cliFail(CLI_FAILED, "no contact problem of '%s': out of memory", scene);
	}
	dense->n = n;
	dense->b = dense->A + (size_t)n * (size_t)n;
	dense->mu = dense->b + n;
	knContactProblem_Matrix(&dense->problem, dense->A);
	knContactProblem_Right(&dense->problem, dense->b);
	for (int i = 0; i < n; ++i) {
		dense->mu[i] = i % 3 == 0 ? 0.0 : dense->problem.points[i / 3].mu;
		dense->meanDiagonal += dense->A[i * n + i] / n;
	}
	return CLI_DONE;
}

// --- damping ---------------------------------------------------------------------------------------------------

static double residual(const Dense* dense, double gamma, const double* lambda, int i) {
	const double* row = &dense->A[(size_t)i * (size_t)dense->n];
	double w = dense->b[i] + gamma * lambda[i];
	for (int k = 0; k < dense->n; ++k) {
		w += row[k] * lambda[k];
	}
	return w;
}

static void bounds(const Dense* dense, const double* lambda, int i, double* low, double* high) {
	*low = i % 3 == 0 ? 0.0 : -dense->mu[i] * lambda[i - i % 3];
	*high = i % 3 == 0 ? INFINITY : -*low;
}

static double merit(const Dense* dense, double gamma, const double* lambda) {
	double theta = 0.0;
	for (int i = 0; i < dense->n; ++i) {
		double low, high, scale = sqrt(dense->A[i * dense->n + i] + gamma);
		bounds(dense, lambda, i, &low, &high);
		double w = residual(dense, gamma, lambda, i) / scale;
		double h = fmin((lambda[i] - low) * scale, fmax((lambda[i] - high) * scale, w));
		theta += 0.5 * h * h;
	}
	return theta;
}

static void sweep(const Dense* dense, double gamma, double* lambda) {
	for (int i = 0; i < dense->n; ++i) {
		double low, high, diagonal = dense->A[i * dense->n + i] + gamma;
		bounds(dense, lambda, i, &low, &high);
		double next = lambda[i] - residual(dense, gamma, lambda, i) / diagonal;
		lambda[i] = next < low ? low : next > high ? high : next;
	}
}

// From nothing to a solution; theta [SWEEPS] gets the beginning of the way. Returns the last merit.
static double solve(const Dense* dense, double gamma, double* lambda, double* theta) {
	memset(lambda, 0, sizeof(double) * (size_t)dense->n);
	double now = 0.0;
	for (int k = 0; k < LAST_SWEEPS; ++k) {
		sweep(dense, gamma, lambda);
		if (k < SWEEPS || k % 100 == 99) {
			now = merit(dense, gamma, lambda);
		}
		if (k < SWEEPS) {
			theta[k] = now > SOLVED * theta[0] ? now : NAN;
		} else if (now < SOLVED * theta[0]) {
			break;
		}
	}
	return now;
}

// The normal impulse of each interface: the sum over its points. Boxes are numbered from below.
static void interfaceImpulses(const Dense* dense, const double* lambda, double impulses[STACK]) {
	memset(impulses, 0, STACK * sizeof(double));
	for (int i = 0; i < dense->problem.chunkCount; ++i) {
		const knSweepChunk* chunk = &dense->problem.chunks[i];
		int upper = chunk->a > chunk->b ? chunk->a : chunk->b;
		for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
			impulses[upper - 1] += lambda[3 * k];
		}
	}
}

static int plotDamping(const knBenchOptions* options, const Dense* dense, double* lambda) {
	static const double shares[] = { 0.0, 1e-3, 1e-2, 1e-1 };
	static const char* const names[] = { "not damped", "gamma 0.001", "gamma 0.01", "gamma 0.1" };
	static double theta[4][SWEEPS], impulses[5][STACK];
	knPlot slopes = { .title = "25 boxes, damped: theta of the damped problem",
					  .xLabel = "sweeps",
					  .yLabel = "theta",
					  .logY = true };
	knPlot solutions = { .title = "25 boxes: normal impulses of the solutions",
						 .xLabel = "interface, from below",
						 .yLabel = "N s" };
	for (int i = 0; i < STACK; ++i) {
		impulses[4][i] = 1000.0 * 9.81 * H * (STACK - i);
	}
	knPlot_Add(&solutions, KN_PLOT_LINE, "weight above", NULL, impulses[4], STACK);
	for (int m = 0; m < 4; ++m) {
		double last = solve(dense, shares[m] * dense->meanDiagonal, lambda, theta[m]);
		interfaceImpulses(dense, lambda, impulses[m]);
		printf(
			"box-stack 25, %s: theta %.1e after %d sweeps, %.1e at the end; lowest interface %.1f%% of the "
			"weight\n",
			names[m], isnan(theta[m][SWEEPS - 1]) ? last : theta[m][SWEEPS - 1], SWEEPS, last,
			100.0 * impulses[m][0] / impulses[4][0]);
		knPlot_Add(&slopes, KN_PLOT_LINE, names[m], NULL, theta[m], SWEEPS);
		knPlot_Add(&solutions, KN_PLOT_LINE, names[m], NULL, impulses[m], STACK);
	}
	return options->path == NULL || (knPlot_Write(&slopes, options->path, "theta_damping") &&
									 knPlot_Write(&solutions, options->path, "lambda"))
			   ? CLI_DONE
			   : CLI_BAD_INPUT;
}

static int runDamping(const knBenchOptions* options) {
	static const char* const sets[] = { "boxes=25", NULL };
	Dense dense;
	int status = openDense(&dense, "box-stack", sets);
	if (status != CLI_DONE) {
		return status;
	}
	double* lambda = calloc((size_t)dense.n + 1, sizeof(double));
	status = lambda != NULL ? plotDamping(options, &dense, lambda) : cliFail(CLI_FAILED, "out of memory");
	free(lambda);
	closeDense(&dense);
	return status;
}

// --- sparsity and eigenvalues ----------------------------------------------------------------------------------

typedef struct Configuration {
	const char *title, *file, *scene;
	const char* sets[3];
	double damping; // share of the mean diagonal; such a one has no picture of its own
} Configuration;

static const Configuration configurations[] = {
	{ "27 balls", "ball_grid", "ball-grid", { "n=3", NULL }, 0.0 },
	{ "20 bricks", "wall", "wall", { "bricks=20", NULL }, 0.0 },
	{ "10 boxes", "box_stack", "box-stack", { "boxes=10", NULL }, 0.0 },
	{ "10 boxes, damped", NULL, "box-stack", { "boxes=10", NULL }, 0.01 },
};

#define CONFIGURATION_COUNT ((int)(sizeof(configurations) / sizeof(configurations[0])))

// Of one matrix, against their place in order over their number.
typedef struct Spectrum {
	int n;
	double *place, *ofA, *ofT; // one array; A's over its mean diagonal, T's magnitudes
} Spectrum;

static bool plotSparsity(const knBenchOptions* options, const Configuration* configuration,
						 const Dense* dense) {
	size_t n = (size_t)dense->n, size = n * n;
	double *columns = malloc(2 * sizeof(double) * (size + 1)), *rows = columns + size;
	if (columns == NULL) {
		return false;
	}
	int count = 0;
	for (size_t i = 0; i < size; ++i) {
		if (fabs(dense->A[i]) > 1e-12 * dense->meanDiagonal) {
			size_t line = i / n;
			columns[count] = (double)(i - line * n);
			rows[count] = (double)line;
			++count;
		}
	}
	printf("A of %s: %d rows, %.1f%% of the entries are not zero\n", configuration->title, dense->n,
		   100.0 * count / (double)size);
	char title[64], file[64];
	snprintf(title, sizeof(title), "A = J W J^T of %s", configuration->title);
	snprintf(file, sizeof(file), "matrix_A_%s", configuration->file);
	knPlot plot = { .title = title, .xLabel = "column", .yLabel = "row", .equal = true, .downward = true };
	knPlot_Add(&plot, KN_PLOT_DOTS, NULL, columns, rows, count);
	bool ok = options->path == NULL || knPlot_Write(&plot, options->path, file);
	free(columns);
	return ok;
}

static void sortAscending(double* values, int count) {
	for (int i = 1; i < count; ++i) {
		double value = values[i];
		int k = i;
		for (; k > 0 && values[k - 1] > value; --k) {
			values[k] = values[k - 1];
		}
		values[k] = value;
	}
}

static void report(const Configuration* configuration, const Spectrum* spectrum) {
	int zero = 0, one = 0;
	double radius = 0.0;
	for (int i = 0; i < spectrum->n; ++i) {
		zero += spectrum->ofA[i] < ZERO_EIGENVALUE;
		one += spectrum->ofT[i] > 1.0 - ZERO_EIGENVALUE;
		radius = spectrum->ofT[i] < 1.0 - ZERO_EIGENVALUE ? fmax(radius, spectrum->ofT[i]) : radius;
	}
	printf("%s: of %d eigenvalues of A %d are zero; of T %d are 1, the next %.6f\n", configuration->title,
		   spectrum->n, zero, one, radius);
}

static int analyse(const Configuration* configuration, Dense* dense, Spectrum* spectrum) {
	int n = dense->n;
	size_t size = (size_t)n * (size_t)n;
	double *T = malloc(sizeof(double) * (size + (size_t)n)), *imaginary = T + size;
	spectrum->n = n;
	spectrum->place = calloc(3 * (size_t)n + 1, sizeof(double));
	if (T == NULL || spectrum->place == NULL) {
		free(T);
		return cliFail(CLI_FAILED, "out of memory");
	}
	spectrum->ofA = spectrum->place + n;
	spectrum->ofT = spectrum->ofA + n;
	for (int i = 0; i < n; ++i) {
		dense->A[i * n + i] += configuration->damping * dense->meanDiagonal;
	}
	knContactProblem_GaussSeidel(dense->A, n, T);
	bool found = knSpectrum_General(T, n, spectrum->ofT, imaginary);
	knSpectrum_Symmetric(dense->A, n, spectrum->ofA);
	for (int i = 0; i < n; ++i) {
		spectrum->place[i] = (i + 0.5) / n;
		spectrum->ofA[i] /= dense->meanDiagonal;
		spectrum->ofT[i] = sqrt(spectrum->ofT[i] * spectrum->ofT[i] + imaginary[i] * imaginary[i]);
	}
	sortAscending(spectrum->ofT, n);
	free(T);
	return found ? CLI_DONE : cliFail(CLI_FAILED, "the eigenvalues of T did not converge");
}

static int runOne(const knBenchOptions* options, const Configuration* configuration, Spectrum* spectrum) {
	Dense dense;
	int status = openDense(&dense, configuration->scene, configuration->sets);
	if (status != CLI_DONE) {
		return status;
	}
	if (configuration->file != NULL && !plotSparsity(options, configuration, &dense)) {
		status = CLI_BAD_INPUT;
	}
	status = status == CLI_DONE ? analyse(configuration, &dense, spectrum) : status;
	if (status == CLI_DONE) {
		report(configuration, spectrum);
	}
	closeDense(&dense);
	return status;
}

static int runSpectra(const knBenchOptions* options) {
	Spectrum spectra[CONFIGURATION_COUNT] = { { 0 } };
	knPlot a = { .title = "eigenvalues of A",
				 .xLabel = "place in order, of all",
				 .yLabel = "over the mean diagonal" };
	knPlot t = { .title = "eigenvalues of T = -(L + D)^-1 U, magnitudes",
				 .xLabel = "place in order, of all",
				 .yLabel = "magnitude" };
	int status = CLI_DONE;
	for (int i = 0; i < CONFIGURATION_COUNT && status == CLI_DONE; ++i) {
		status = runOne(options, &configurations[i], &spectra[i]);
		const Spectrum* spectrum = &spectra[i];
		knPlot_Add(&a, KN_PLOT_DOTS, configurations[i].title, spectrum->place, spectrum->ofA, spectrum->n);
		knPlot_Add(&t, KN_PLOT_DOTS, configurations[i].title, spectrum->place, spectrum->ofT, spectrum->n);
	}
	if (status == CLI_DONE && options->path != NULL &&
		!(knPlot_Write(&a, options->path, "eigenvalues_A") &&
		  knPlot_Write(&t, options->path, "eigenvalues_T"))) {
		status = CLI_BAD_INPUT;
	}
	for (int i = 0; i < CONFIGURATION_COUNT; ++i) {
		free(spectra[i].place);
	}
	return status;
}

int knVspMatrices_Run(const knBenchOptions* options) {
	int status = runSpectra(options);
	return status == CLI_DONE ? runDamping(options) : status;
}
