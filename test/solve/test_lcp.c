// The dense complementarity solvers: problems with known answers, agreement of independent methods on random
// ones, hard cases from the literature, and what ends a solve early.
#include "knuckle/lcp.h"

#include "support/kn_test.h"

#include <math.h>
#include <string.h>

#define MAX_N 40

typedef knLcpResult SolveFn(const knLcp* lcp, const knLcpOptions* options, double* x, double* w);

static const struct Solver {
	const char* name;
	SolveFn* solve;
} exactSolvers[] = {
	{ "dantzig", knLcp_Dantzig },
	{ "lemke", knLcp_Lemke },
	{ "newton", knLcp_Newton },
	{ "nncg", knLcp_Nncg },
};

// --- random problems -------------------------------------------------------------------------------------

typedef struct Problem {
	int n;
	double A[MAX_N * MAX_N], b[MAX_N], lo[MAX_N], hi[MAX_N];
	knLcp lcp;
} Problem;

static uint64_t seed = 1;

static double uniform(double lower, double upper) {
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return lower + (upper - lower) * ((double)(seed >> 11) * 0x1p-53);
}

// A = B B^T of the given rank, and b such that a known x (with w complementary) solves it.
static void makeProblem(Problem* problem, int n, int rank, bool boxed) {
	double B[MAX_N][MAX_N], x[MAX_N];
	problem->n = n;
	for (int i = 0; i < n; ++i) {
		for (int k = 0; k < rank; ++k) {
			B[i][k] = uniform(-1.0, 1.0);
		}
		problem->lo[i] = boxed ? -uniform(0.0, 1.0) : 0.0;
		problem->hi[i] = boxed ? uniform(0.0, 1.0) : INFINITY;
		if (boxed && uniform(0.0, 1.0) < 0.2) {
			problem->lo[i] = -INFINITY;
			problem->hi[i] = INFINITY;
		}
	}
	for (int i = 0; i < n; ++i) {
		for (int j = 0; j < n; ++j) {
			double sum = 0.0;
			for (int k = 0; k < rank; ++k) {
				sum += B[i][k] * B[j][k];
			}
			problem->A[i * n + j] = sum;
		}
	}
	for (int i = 0; i < n; ++i) {
		double choice = uniform(0.0, 1.0);
		bool free = !(problem->lo[i] > -INFINITY);
		double slack = uniform(0.0, 1.0);
		if (free || choice < 0.4) {
			double lower = free ? -1.0 : problem->lo[i], upper = free || !boxed ? 1.0 : problem->hi[i];
			x[i] = uniform(lower, upper);
			slack = 0.0;
		} else if (choice < 0.7 || !boxed) {
			x[i] = problem->lo[i];
		} else {
			x[i] = problem->hi[i];
			slack = -slack;
		}
		problem->b[i] = slack;
	}
	for (int i = 0; i < n; ++i) {
		for (int j = 0; j < n; ++j) {
			problem->b[i] -= problem->A[i * n + j] * x[j];
		}
	}
	problem->lcp = (knLcp){ .n = n, .A = problem->A, .b = problem->b };
	if (boxed) {
		problem->lcp.lo = problem->lo;
		problem->lcp.hi = problem->hi;
	}
}

static double largest(const double* v, int n) {
	double result = 0.0;
	for (int i = 0; i < n; ++i) {
		result = fmax(result, fabs(v[i]));
	}
	return result;
}

static double difference(const double* a, const double* b, int n) {
	double result = 0.0;
	for (int i = 0; i < n; ++i) {
		result = fmax(result, fabs(a[i] - b[i]));
	}
	return result;
}

// All exact solvers agree in w (so in A x), which is unique where x is not.
static void checkAgreement(bool boxed, int trials) {
	double worst = 0.0;
	for (int trial = 0; trial < trials; ++trial) {
		Problem problem;
		int n = 1 + (int)uniform(0.0, 24.0);
		int rank = uniform(0.0, 1.0) < 0.5 ? n : 1 + (int)uniform(0.0, (double)n);
		makeProblem(&problem, n, rank, boxed);
		knLcpOptions options = knLcpOptions_Default();
		options.tolerance = 1e-12;
		options.maxIterations = 200000;
		double first[MAX_N];
		for (int k = 0; k < 4; ++k) {
			double x[MAX_N] = { 0 }, w[MAX_N];
			knLcpResult result = exactSolvers[k].solve(&problem.lcp, &options, x, w);
			double scale = fmax(largest(problem.b, n), 1.0);
			double residual = knLcp_Residual(&problem.lcp, x, NULL, NULL);
			if (!(residual <= 1e-9 * scale)) {
				print_error("trial %d n %d rank %d %s: %s residual %g iterations %d\n", trial, n, rank,
							exactSolvers[k].name, knLcpStatus_Name(result.status), residual,
							result.iterations);
			}
			assert_true(residual <= 1e-9 * scale);
			if (k == 0) {
				memcpy(first, w, sizeof(first));
			} else {
				double apart = difference(first, w, n) / scale;
				worst = fmax(worst, apart);
				if (!(apart <= 1e-9)) {
					print_error("trial %d n %d rank %d %s: %s residual %g iterations %d, apart %g\n", trial,
								n, rank, exactSolvers[k].name, knLcpStatus_Name(result.status), residual,
								result.iterations, apart);
				}
				assert_true(apart <= 1e-9);
			}
		}
	}
	print_message("largest difference in A x: %.2g\n", worst);
}

static void random_semidefinite_problems_agree(void** state) {
	(void)state;
	checkAgreement(false, 10000);
}

static void random_boxed_problems_agree(void** state) {
	(void)state;
	checkAgreement(true, 5000);
}

// --- known answers ---------------------------------------------------------------------------------------

static void checkKnown(int n, const double* A, const double* b, const double* answer) {
	SolveFn* solvers[] = { knLcp_Dantzig, knLcp_Lemke,       knLcp_Newton,
						   knLcp_Nncg,    knLcp_GaussSeidel, knLcp_Jacobi };
	bool symmetric = true;
	for (int i = 0; i < n; ++i) {
		for (int j = 0; j < n; ++j) {
			symmetric = symmetric && A[i * n + j] == A[j * n + i];
		}
	}
	for (int k = 0; k < 6; ++k) {
		if (!symmetric && solvers[k] != knLcp_Lemke && solvers[k] != knLcp_Newton) {
			continue;
		}
		knLcp lcp = { .n = n, .A = A, .b = b };
		double x[MAX_N] = { 0 };
		knLcpResult result = solvers[k](&lcp, NULL, x, NULL);
		assert_int_equal(result.status, KN_LCP_SOLVED);
		assert_true(difference(x, answer, n) < 1e-8);
	}
}

static void small_problems_have_their_answers(void** state) {
	(void)state;
	checkKnown(2, (double[]){ 2, 1, 1, 2 }, (double[]){ -5, -6 }, (double[]){ 4.0 / 3.0, 7.0 / 3.0 });
	checkKnown(2, (double[]){ 1, 0, 0, 1 }, (double[]){ -1, 2 }, (double[]){ 1, 0 });
	checkKnown(1, (double[]){ 1 }, (double[]){ 0 }, (double[]){ 0 });
	// Murty's exponential family: least-index rules need 2^n pivots
	checkKnown(3, (double[]){ 1, 0, 0, 2, 1, 0, 2, 2, 1 }, (double[]){ -8, -12, -14 }, (double[]){ 8, 0, 0 });
}

// A stack of equal boxes, each contact a row: lambda_k is the weight above.
static void a_stack_carries_its_weight(void** state) {
	(void)state;
	enum { N = 25 };
	double A[N * N] = { 0 }, b[N] = { 0 }, answer[N];
	for (int k = 0; k < N; ++k) {
		A[k * N + k] = k == 0 ? 1.0 : 2.0;
		if (k + 1 < N) {
			A[k * N + k + 1] = A[(k + 1) * N + k] = -1.0;
		}
		b[k] = k == 0 ? -1.0 : 0.0;
		answer[k] = N - k;
	}
	for (int k = 0; k < 4; ++k) {
		double x[N] = { 0 };
		knLcp lcp = { .n = N, .A = A, .b = b };
		knLcpOptions options = knLcpOptions_Default();
		options.tolerance = 1e-13;
		exactSolvers[k].solve(&lcp, &options, x, NULL);
		assert_true(difference(x, answer, N) < 1e-8);
	}
}

// Every one of the 3^n states is tried: the solvers find the one that holds.
static void small_boxed_problems_match_enumeration(void** state) {
	(void)state;
	for (int trial = 0; trial < 200; ++trial) {
		Problem problem;
		makeProblem(&problem, 3, 3, true);
		double w[3];
		int found = 0;
		for (int code = 0; code < 27 && found == 0; ++code) {
			double x[3] = { 0 };
			int place[3] = { code % 3, code / 3 % 3, code / 9 }, freeCount = 0, freeRows[3];
			bool possible = true;
			for (int i = 0; i < 3; ++i) {
				x[i] = place[i] == 0 ? problem.lo[i] : problem.hi[i];
				possible = possible && (place[i] == 2 || fabs(x[i]) < INFINITY);
				if (place[i] == 2) {
					x[i] = 0.0;
					freeRows[freeCount++] = i;
				}
			}
			if (!possible) {
				continue;
			}
			// Gauss-Seidel without bounds, to the end: another method than any solver's
			for (int sweep = 0; sweep < 20000 && freeCount > 0; ++sweep) {
				for (int k = 0; k < freeCount; ++k) {
					int i = freeRows[k];
					double r = problem.b[i];
					for (int j = 0; j < 3; ++j) {
						r += problem.A[i * 3 + j] * x[j];
					}
					x[i] -= r / problem.A[i * 3 + i];
				}
			}
			if (knLcp_Residual(&problem.lcp, x, w, NULL) < 1e-9) {
				++found;
			}
		}
		if (found == 0) {
			continue; // too badly conditioned for the plain iteration
		}
		for (int k = 0; k < 4; ++k) {
			double x[3] = { 0 }, mine[3];
			exactSolvers[k].solve(&problem.lcp, NULL, x, mine);
			assert_true(difference(w, mine, 3) < 1e-6);
		}
	}
}

// --- Gauss-Seidel ----------------------------------------------------------------------------------------

// On ten thousand problems: every sweep lowers the objective, the best so far only gets better, and it arrives.
static void gauss_seidel_descends_and_arrives(void** state) {
	(void)state;
	enum { SWEEPS = 10000 };
	static double history[SWEEPS], objectives[SWEEPS];
	int most = 0;
	for (int trial = 0; trial < 10000; ++trial) {
		Problem problem;
		int n = 1 + (int)uniform(0.0, 24.0);
		int rank = uniform(0.0, 1.0) < 0.5 ? n : 1 + (int)uniform(0.0, (double)n);
		makeProblem(&problem, n, rank, trial % 2 == 0);
		double x[MAX_N] = { 0 }, theta;
		knLcpOptions options = knLcpOptions_Default();
		options.maxIterations = SWEEPS;
		options.tolerance = 1e-8;
		options.history = history;
		options.objectives = objectives;
		options.historyCapacity = SWEEPS;
		knLcpResult result = knLcp_GaussSeidel(&problem.lcp, &options, x, NULL);
		double before = 0.0; // of the objective at x = 0
		for (int k = 0; k < result.iterations; ++k) {
			assert_true(objectives[k] <= before + 1e-13 * (1.0 + fabs(before)));
			assert_true(k == 0 || history[k] <= history[k - 1]);
			before = objectives[k];
		}
		knLcp_Residual(&problem.lcp, x, NULL, &theta);
		assert_true(result.iterations == 0 ||
					fabs(theta - history[result.iterations - 1]) <= 1e-9 * (theta + 1e-9));
		assert_true(theta <= 1e-5);
		for (int k = 0; k < result.iterations && history[k] > 1e-5; ++k) {
			most = k + 2 > most ? k + 2 : most;
		}
	}
	print_message("theta is below 1e-5 after %d sweeps at most\n", most);
}

static void relaxed_sweeps_and_jacobi_arrive_too(void** state) {
	(void)state;
	for (int trial = 0; trial < 100; ++trial) {
		Problem problem;
		makeProblem(&problem, 12, 12, true);
		double plain[MAX_N], wPlain[MAX_N], x[MAX_N], w[MAX_N];
		knLcpOptions options = knLcpOptions_Default();
		knLcp_Dantzig(&problem.lcp, &options, plain, wPlain);
		options.maxIterations = 300000;
		options.tolerance = 1e-9;
		options.relaxation = 1.3;
		knLcp_GaussSeidel(&problem.lcp, &options, x, w);
		assert_true(difference(w, wPlain, 12) < 1e-6);
		options.relaxation = 0.0;
		knLcpResult result = knLcp_Jacobi(&problem.lcp, &options, x, w);
		assert_true(result.theta < 1e-8);
	}
}

// --- friction --------------------------------------------------------------------------------------------

// A block on a plane pushed sideways: sticks up to mu N, slides with mu N beyond.
static void friction_sticks_and_slips(void** state) {
	(void)state;
	double A[9] = { 2, 0.3, 0, 0.3, 1, 0, 0, 0, 1 }, mu[3] = { 0, 0.5, 0.5 };
	int normal[3] = { -1, 0, 0 };
	for (int push = 0; push < 20; ++push) {
		double b[3] = { -2.0, 0.2 * push - 2.0, 0.1 };
		knLcp lcp = { .n = 3, .A = A, .b = b, .normal = normal, .mu = mu };
		double first[3], w[3];
		assert_int_equal(knLcp_Lemke(&lcp, NULL, first, w).status, KN_LCP_SOLVED);
		double bound = 0.5 * first[0];
		assert_true(fabs(first[1]) <= bound + 1e-9);
		// sliding opposes: at the bound the remaining velocity points against the friction
		assert_true(fabs(w[1]) < 1e-8 || (w[1] > 0.0) == (first[1] < 0.0));
		SolveFn* others[] = { knLcp_Dantzig, knLcp_Newton, knLcp_GaussSeidel, knLcp_Nncg };
		for (int k = 0; k < 4; ++k) {
			double x[3] = { 0 };
			assert_int_equal(others[k](&lcp, NULL, x, NULL).status, KN_LCP_SOLVED);
			assert_true(difference(x, first, 3) < 1e-7);
		}
	}
}

// --- trouble ---------------------------------------------------------------------------------------------

static void infeasible_problems_are_called_so(void** state) {
	(void)state;
	SolveFn* solvers[] = { knLcp_Dantzig, knLcp_Lemke, knLcp_GaussSeidel, knLcp_Nncg, knLcp_Newton };
	double x[4] = { 0 };
	for (int k = 0; k < 5; ++k) {
		// a row that cannot act
		knLcp lone = { .n = 1, .A = (double[]){ 0 }, .b = (double[]){ -1 } };
		assert_int_equal(solvers[k](&lone, NULL, x, NULL).status, KN_LCP_INFEASIBLE);
	}
	// squeezed between two walls: pushing one way is pulling the other
	knLcp squeezed = { .n = 2, .A = (double[]){ 1, -1, -1, 1 }, .b = (double[]){ -1, -1 } };
	assert_int_equal(knLcp_Dantzig(&squeezed, NULL, x, NULL).status, KN_LCP_INFEASIBLE);
	assert_int_equal(knLcp_Lemke(&squeezed, NULL, x, NULL).status, KN_LCP_INFEASIBLE);
	assert_int_not_equal(knLcp_GaussSeidel(&squeezed, NULL, x, NULL).status, KN_LCP_SOLVED);
	// not copositive: Lemke meets a ray
	knLcp ray = { .n = 2, .A = (double[]){ 0, -1, -1, 0 }, .b = (double[]){ -1, -1 } };
	assert_int_equal(knLcp_Lemke(&ray, NULL, x, NULL).status, KN_LCP_INFEASIBLE);
}

// Ties everywhere: a box on four corners of equal load, many times over, and zero right sides.
static void degenerate_problems_end(void** state) {
	(void)state;
	enum { N = 16 };
	double A[N * N], b[N], x[N] = { 0 }, w[N];
	for (int i = 0; i < N; ++i) {
		for (int j = 0; j < N; ++j) {
			double cornerX = (i & 1) == (j & 1) ? 0.5 : -0.5, cornerY = (i & 2) == (j & 2) ? 0.5 : -0.5;
			A[i * N + j] = 1.0 + cornerX + cornerY;
		}
		b[i] = -1.0;
	}
	knLcp lcp = { .n = N, .A = A, .b = b };
	for (int k = 0; k < 4; ++k) {
		assert_int_equal(exactSolvers[k].solve(&lcp, NULL, x, w).status, KN_LCP_SOLVED);
		double sum = 0.0;
		for (int i = 0; i < N; ++i) {
			sum += x[i];
			assert_true(fabs(w[i]) < 1e-8);
		}
		assert_true(fabs(sum - 1.0) < 1e-8);
	}
	// the cycling example of Kostreva (1979) for Murty-like rules: a P-matrix, so solvable
	double P[9] = { 1, 2, 0, 0, 1, 2, 2, 0, 1 }, q[3] = { -1, -1, -1 };
	knLcp cycling = { .n = 3, .A = P, .b = q };
	assert_int_equal(knLcp_Lemke(&cycling, NULL, x, w).status, KN_LCP_SOLVED);
	assert_true(fabs(x[0] - 1.0 / 3.0) < 1e-9 && fabs(x[1] - 1.0 / 3.0) < 1e-9);
}

// Families on which pivoting rules need exponentially many steps (Murty 1978, Fathi 1979), and a cyclic P-matrix on
// which plain Newton steps go round for ever (Ben Gharbia and Gilbert 2012).
static void hard_families_are_solved(void** state) {
	(void)state;
	for (int n = 2; n <= 16; ++n) {
		double L[MAX_N * MAX_N] = { 0 }, F[MAX_N * MAX_N], b[MAX_N];
		double x[MAX_N], w[MAX_N], first[MAX_N] = { 0 };
		double weight = 0.0;
		for (int i = 0; i < n; ++i) {
			weight += ldexp(1.0, n - i);
			b[i] = -weight;
			L[i * n + i] = 1.0;
			for (int j = 0; j < i; ++j) {
				L[i * n + j] = 2.0;
			}
		}
		for (int i = 0; i < n; ++i) {
			for (int j = 0; j < n; ++j) {
				F[i * n + j] = 0.0;
				for (int k = 0; k < n; ++k) {
					F[i * n + j] += L[i * n + k] * L[j * n + k];
				}
			}
		}
		// Murty's is solved by x = (2^n, 0, ..., 0); Lemke's method may end at its limit there
		knLcp murty = { .n = n, .A = L, .b = b }, fathi = { .n = n, .A = F, .b = b };
		knLcpStatus lemke = knLcp_Lemke(&murty, NULL, x, w).status;
		assert_true(lemke == KN_LCP_SOLVED || (lemke == KN_LCP_LIMIT && n > 8));
		assert_int_equal(knLcp_Newton(&murty, NULL, x, w).status, KN_LCP_SOLVED);
		assert_true(fabs(x[0] - ldexp(1.0, n)) < 1e-9 * x[0] && fabs(x[n - 1]) < 1e-9);
		for (int k = 0; k < 4; ++k) {
			memset(x, 0, sizeof(x));
			assert_int_equal(exactSolvers[k].solve(&fathi, NULL, x, w).status, KN_LCP_SOLVED);
			memcpy(k == 0 ? first : w, w, sizeof(w));
			assert_true(difference(w, first, n) < 1e-7 * largest(b, n));
		}
	}
	double cyclic[9] = { 1, 0, 2, 2, 1, 0, 0, 2, 1 }, ones[3] = { 1, 1, 1 };
	knLcp round = { .n = 3, .A = cyclic, .b = ones };
	for (int start = 0; start < 8; ++start) {
		double x[3] = { start & 1 ? -1.0 : 5.0, start & 2 ? -1.0 : 5.0, start & 4 ? -1.0 : 5.0 };
		knLcpOptions options = knLcpOptions_Default();
		options.warm = true;
		assert_int_equal(knLcp_Newton(&round, &options, x, NULL).status, KN_LCP_SOLVED);
		assert_true(fabs(x[0]) + fabs(x[1]) + fabs(x[2]) < 1e-9);
	}
}

static void bad_problems_are_named(void** state) {
	(void)state;
	double x[2] = { 0 }, A[4] = { 1, 0, 0, 1 }, b[2] = { 0, NAN }, lo[2] = { 0, 2 }, hi[2] = { 1, 1 };
	knLcp notFinite = { .n = 2, .A = A, .b = b };
	knLcpResult result = knLcp_Dantzig(&notFinite, NULL, x, NULL);
	assert_int_equal(result.status, KN_LCP_BAD);
	assert_int_equal(result.row, 1);
	b[1] = 0.0;
	knLcp crossed = { .n = 2, .A = A, .b = b, .lo = lo, .hi = hi };
	result = knLcp_Lemke(&crossed, NULL, x, NULL);
	assert_int_equal(result.status, KN_LCP_BAD);
	assert_int_equal(result.row, 1);
}

static bool stopAtThree(int iteration, double residual, void* context) {
	*(double*)context = residual;
	return iteration >= 3;
}

static void a_stopped_solve_returns_the_best_so_far(void** state) {
	(void)state;
	Problem problem;
	makeProblem(&problem, 20, 20, false);
	double x[MAX_N] = { 0 }, last = 0.0, history[8];
	knLcpOptions options = knLcpOptions_Default();
	options.stop = stopAtThree;
	options.stopContext = &last;
	options.history = history;
	options.historyCapacity = 8;
	knLcpResult result = knLcp_GaussSeidel(&problem.lcp, &options, x, NULL);
	assert_int_equal(result.status, KN_LCP_STOPPED);
	assert_int_equal(result.iterations, 3);
	assert_true(result.residual <= last * (1.0 + 1e-12));
	double theta;
	knLcp_Residual(&problem.lcp, x, NULL, &theta);
	assert_true(theta <= fmax(fmax(history[0], history[1]), history[2]));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_problems_have_their_answers),
		cmocka_unit_test(random_semidefinite_problems_agree),
		cmocka_unit_test(random_boxed_problems_agree),
		cmocka_unit_test(a_stack_carries_its_weight),
		cmocka_unit_test(small_boxed_problems_match_enumeration),
		cmocka_unit_test(gauss_seidel_descends_and_arrives),
		cmocka_unit_test(relaxed_sweeps_and_jacobi_arrive_too),
		cmocka_unit_test(friction_sticks_and_slips),
		cmocka_unit_test(infeasible_problems_are_called_so),
		cmocka_unit_test(degenerate_problems_end),
		cmocka_unit_test(hard_families_are_solved),
		cmocka_unit_test(bad_problems_are_named),
		cmocka_unit_test(a_stopped_solve_returns_the_best_so_far),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
