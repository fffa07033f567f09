// knuckle bench lcp: the complementarity solvers on three families of problems: microseconds, iterations and the
// residual that is left. The residual is the one of knuckle/lcp.h, relative to the largest scaled entry of b.
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "cli.h"
#include "knuckle/lcp.h"
#include "knuckle/vecmath.h"

typedef knLcpResult SolveFn(const knLcp* lcp, const knLcpOptions* options, double* x, double* w);

static const struct Solver {
	const char* name;
	SolveFn* solve;
} solvers[] = {
	{ "dantzig", knLcp_Dantzig }, { "lemke", knLcp_Lemke },     { "newton", knLcp_Newton },
	{ "nncg", knLcp_Nncg },       { "pgs", knLcp_GaussSeidel }, { "jacobi", knLcp_Jacobi },
};

#define SOLVER_COUNT ((int)(sizeof(solvers) / sizeof(solvers[0])))

typedef struct Problem {
	int n;
	double *A, *b, *mu;
	int* normal;
	knLcp lcp;
} Problem;

typedef struct Random {
	uint64_t state;
} Random;

static double uniform(Random* random) {
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return 2.0 * ((double)(random->state >> 11) * 0x1p-53) - 1.0;
}

static bool openProblem(Problem* problem, int n) {
	*problem = (Problem){ .n = n };
	problem->A = calloc((size_t)n * (size_t)n, sizeof(double));
	problem->b = calloc((size_t)n, sizeof(double));
	problem->mu = calloc((size_t)n, sizeof(double));
	problem->normal = calloc((size_t)n, sizeof(int));
	problem->lcp = (knLcp){ .n = n, .A = problem->A, .b = problem->b };
	return problem->A != NULL && problem->b != NULL && problem->mu != NULL && problem->normal != NULL;
}

static void closeProblem(Problem* problem) {
	free(problem->A);
	free(problem->b);
	free(problem->mu);
	free(problem->normal);
}

// A = B B^T + a little, half of the rows of a known solution active.
static void fillRandom(Problem* problem) {
	Random random = { 1 };
	int n = problem->n;
	double* B = calloc((size_t)n * (size_t)n, sizeof(double));
	for (int i = 0; B != NULL && i < n * n; ++i) {
		B[i] = uniform(&random);
	}
	for (int i = 0; B != NULL && i < n; ++i) {
		for (int j = 0; j < n; ++j) {
			double sum = i == j ? 0.01 * n : 0.0;
			for (int k = 0; k < n; ++k) {
				sum += B[i * n + k] * B[j * n + k];
			}
			problem->A[i * n + j] = sum;
		}
		problem->b[i] = uniform(&random);
	}
	free(B);
}

// A column of boxes on the ground, one row an interface: the badly conditioned case of stacking.
static void fillStack(Problem* problem) {
	int n = problem->n;
	for (int k = 0; k < n; ++k) {
		problem->A[k * n + k] = k == 0 ? 1.0 : 2.0;
		if (k > 0) {
			problem->A[k * n + k - 1] = problem->A[(k - 1) * n + k] = -1.0;
		}
	}
	problem->b[0] = -1.0;
}

// Point contacts with friction on one body: a normal and two tangents each, more rows than degrees of freedom.
static void fillFriction(Problem* problem) {
	static const knVec3 axes[3] = { { 0.0, 0.0, 1.0 }, { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 } };
	static const double velocities[3] = { -1.0, 0.7, 0.1 };
	Random random = { 7 };
	int n = problem->n;
	knTwist* J = calloc((size_t)n, sizeof(knTwist));
	knVec3 arm = knZero3();
	for (int i = 0; J != NULL && i < n; ++i) {
		arm = i % 3 == 0 ? knV3(uniform(&random), uniform(&random), -0.5) : arm;
		J[i] = (knTwist){ knCross(arm, axes[i % 3]), axes[i % 3] };
		problem->normal[i] = i % 3 == 0 ? -1 : i / 3 * 3;
		problem->mu[i] = 0.5;
		problem->b[i] = velocities[i % 3];
	}
	for (int i = 0; J != NULL && i < n; ++i) {
		for (int j = 0; j < n; ++j) {
			problem->A[i * n + j] = knDot(J[i].ang, J[j].ang) + knDot(J[i].lin, J[j].lin);
		}
	}
	free(J);
	problem->lcp.normal = problem->normal;
	problem->lcp.mu = problem->mu;
}

static const struct Family {
	const char* name;
	void (*fill)(Problem* problem);
	int sizes[3];
} families[] = {
	{ "random", fillRandom, { 10, 50, 200 } },
	{ "stack", fillStack, { 10, 25, 100 } },
	{ "friction", fillFriction, { 12, 48, 96 } },
};

// Repeats a solve until it has taken long enough to be timed; microseconds each.
static double timeSolve(SolveFn* solve, const Problem* problem, double* x, knLcpResult* result) {
	knLcpOptions options = knLcpOptions_Default();
	options.tolerance = 1e-8;
	int repeats = 0;
	double start = cliClock(NULL), elapsed;
	do {
		*result = solve(&problem->lcp, &options, x, NULL);
		++repeats;
		elapsed = cliClock(NULL) - start;
	} while (elapsed < 0.05 && repeats < 10000);
	return 1e6 * elapsed / repeats;
}

static int benchFamily(const struct Family* family, int n, FILE* out) {
	Problem problem;
	double* x = calloc((size_t)n, sizeof(double));
	if (!openProblem(&problem, n) || x == NULL) {
		closeProblem(&problem);
		free(x);
		return cliFail(CLI_FAILED, "out of memory");
	}
	family->fill(&problem);
	for (int k = 0; k < SOLVER_COUNT; ++k) {
		knLcpResult result;
		double us = timeSolve(solvers[k].solve, &problem, x, &result);
		printf("%-9s %5d  %-8s %12.1f us %8d %10.1e  %s\n", family->name, n, solvers[k].name, us,
			   result.iterations, result.residual, knLcpStatus_Name(result.status));
		if (out != NULL) {
			fprintf(out, "%s,%d,%s,%.3f,%d,%.3e,%s\n", family->name, n, solvers[k].name, us,
					result.iterations, result.residual, knLcpStatus_Name(result.status));
		}
	}
	closeProblem(&problem);
	free(x);
	return CLI_DONE;
}

static int run(const knBenchOptions* options) {
	FILE* out = options->path != NULL ? fopen(options->path, "w") : NULL;
	if (options->path != NULL && out == NULL) {
		return cliFail(CLI_BAD_INPUT, "cannot write '%s'", options->path);
	}
	if (out != NULL) {
		fputs("family,n,solver,us,iterations,residual,status\n", out);
	}
	printf("%-9s %5s  %-8s %15s %8s %10s\n", "family", "n", "solver", "time", "steps", "residual");
	int status = CLI_DONE;
	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]) && status == CLI_DONE; ++f) {
		for (int s = 0; s < 3 && status == CLI_DONE; ++s) {
			status = benchFamily(&families[f], families[f].sizes[s], out);
		}
	}
	if (out != NULL && fclose(out) != 0) {
		return cliFail(CLI_BAD_INPUT, "cannot write '%s'", options->path);
	}
	return status;
}

const knBenchSuite knLcpBench = {
	.name = "lcp",
	.summary = "complementarity solvers: time, iterations, residual",
	.run = run,
};
