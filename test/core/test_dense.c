// Factorisations against residuals of random systems of known solution, singular matrices refused, and the
// range of matrices of known rank.
#include "support/kn_test.h"

#include "core/dense.h"

enum { MOST = 24 };

static void multiply(const double* A, int n, const double* x, double* b) {
	for (int i = 0; i < n; ++i) {
		b[i] = 0.0;
		for (int k = 0; k < n; ++k) {
			b[i] += A[i * n + k] * x[k];
		}
	}
}

static double difference(const double* a, const double* b, int n) {
	double largest = 0.0;
	for (int i = 0; i < n; ++i) {
		largest = fmax(largest, fabs(a[i] - b[i]));
	}
	return largest;
}

static void randomMatrix(knTestRandom* random, double* A, int count) {
	for (int i = 0; i < count; ++i) {
		A[i] = testUniform(random, -1.0, 1.0);
	}
}

// G G^T + shift
static void randomPositive(knTestRandom* random, double* A, int n, double shift) {
	double G[MOST * MOST];
	randomMatrix(random, G, n * n);
	for (int i = 0; i < n; ++i) {
		for (int j = 0; j < n; ++j) {
			A[i * n + j] = i == j ? shift : 0.0;
			for (int k = 0; k < n; ++k) {
				A[i * n + j] += G[i * n + k] * G[j * n + k];
			}
		}
	}
}

static void ldl_solves_positive_definite(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	for (int trial = 0; trial < 500; ++trial) {
		int n = 1 + testInt(&random, MOST);
		double A[MOST * MOST], factors[MOST * MOST], x[MOST], b[MOST];
		randomPositive(&random, A, n, 0.1);
		randomMatrix(&random, x, n);
		multiply(A, n, x, b);
		memcpy(factors, A, sizeof A);
		assert_true(knDense_FactorLdl(factors, n));
		for (int i = 0; i < n; ++i) {
			assert_true(factors[i * n + i] > 0.0); // Sylvester: all pivots positive
		}
		knDense_SolveLdl(factors, n, b);
		assert_near(difference(x, b, n), 0.0, 1e-10);
	}
}

static void ldl_reads_the_lower_half_only(void** state) {
	(void)state;
	knTestRandom random = { 2 };
	double A[36], x[6], b[6];
	randomPositive(&random, A, 6, 1.0);
	randomMatrix(&random, x, 6);
	multiply(A, 6, x, b);
	for (int i = 0; i < 6; ++i) {
		for (int j = i + 1; j < 6; ++j) {
			A[i * 6 + j] = 1e9;
		}
	}
	assert_true(knDense_FactorLdl(A, 6));
	knDense_SolveLdl(A, 6, b);
	assert_near(difference(x, b, 6), 0.0, 1e-12);
}

// Saddle-point matrices [H, J^T; J, -e] are indefinite, yet every order of pivots works.
static void ldl_counts_signs_of_quasi_definite(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	enum { N = 9, P = 6 };
	double A[N * N] = { 0 }, H[P * P], x[N], b[N];
	randomPositive(&random, H, P, 1.0);
	for (int i = 0; i < N; ++i) {
		for (int j = 0; j <= i; ++j) {
			double value =
				i < P ? H[i * P + j] : (j < P ? testUniform(&random, -1.0, 1.0) : (i == j ? -0.5 : 0.0));
			A[i * N + j] = A[j * N + i] = value;
		}
	}
	randomMatrix(&random, x, N);
	multiply(A, N, x, b);
	assert_true(knDense_FactorLdl(A, N));
	for (int i = 0; i < N; ++i) {
		assert_true((A[i * N + i] > 0.0) == (i < P));
	}
	knDense_SolveLdl(A, N, b);
	assert_near(difference(x, b, N), 0.0, 1e-12);
}

static void ldl_refuses(void** state) {
	(void)state;
	double zero[4] = { 0.0, 0.0, 0.0, 1.0 };
	assert_false(knDense_FactorLdl(zero, 2));
	double dependent[4] = { 1.0, 2.0, 2.0, 4.0 };
	assert_false(knDense_FactorLdl(dependent, 2));
	double bad[4] = { 1.0, 0.0, 0.0, NAN };
	assert_false(knDense_FactorLdl(bad, 2));
	double infinite[1] = { INFINITY };
	assert_false(knDense_FactorLdl(infinite, 1));
}

static void lu_solves_general(void** state) {
	(void)state;
	knTestRandom random = { 4 };
	for (int trial = 0; trial < 500; ++trial) {
		int n = 1 + testInt(&random, MOST);
		double A[MOST * MOST], factors[MOST * MOST], x[MOST], b[MOST], residual[MOST];
		int pivots[MOST];
		randomMatrix(&random, A, n * n);
		// zeros on the diagonal, which only pivoting survives
		for (int i = 0; i < n && n > 1; i += 2) {
			A[i * n + i] = 0.0;
		}
		randomMatrix(&random, x, n);
		multiply(A, n, x, b);
		memcpy(factors, A, sizeof A);
		assert_true(knDense_FactorLu(factors, n, pivots));
		double solution[MOST];
		memcpy(solution, b, sizeof b);
		knDense_SolveLu(factors, n, pivots, solution);
		// backward stable: the residual is small whatever the condition
		multiply(A, n, solution, residual);
		double size = 1.0;
		for (int i = 0; i < n; ++i) {
			size = fmax(size, fabs(solution[i]));
		}
		assert_near(difference(b, residual, n), 0.0, 1e-13 * n * size);
	}
}

static void lu_and_ldl_agree(void** state) {
	(void)state;
	knTestRandom random = { 5 };
	for (int trial = 0; trial < 200; ++trial) {
		int n = 1 + testInt(&random, MOST);
		double A[MOST * MOST], B[MOST * MOST], x[MOST], y[MOST];
		int pivots[MOST];
		randomPositive(&random, A, n, 0.5);
		memcpy(B, A, sizeof A);
		randomMatrix(&random, x, n);
		memcpy(y, x, sizeof x);
		assert_true(knDense_FactorLdl(A, n) && knDense_FactorLu(B, n, pivots));
		knDense_SolveLdl(A, n, x);
		knDense_SolveLu(B, n, pivots, y);
		assert_near(difference(x, y, n), 0.0, 1e-11);
	}
}

static void lu_refuses_singular_at_any_scale(void** state) {
	(void)state;
	knTestRandom random = { 6 };
	int pivots[MOST];
	for (int trial = 0; trial < 300; ++trial) {
		int n = 2 + testInt(&random, 10);
		double A[MOST * MOST], copy[MOST * MOST];
		randomMatrix(&random, A, n * n);
		for (int i = 0; i < n; ++i) {
			A[i * n + i] += 3.0;
		}
		double rowScale[MOST];
		for (int i = 0; i < n; ++i) {
			rowScale[i] = ldexp(1.0, testInt(&random, 100) - 50);
		}
		// regular: also with badly scaled rows
		for (int i = 0; i < n * n; ++i) {
			copy[i] = A[i] * rowScale[i / n];
		}
		assert_true(knDense_FactorLu(copy, n, pivots));
		// singular: the last row is a combination of the others, up to one rounding
		for (int j = 0; j < n; ++j) {
			A[(n - 1) * n + j] = 0.0;
			for (int i = 0; i < n - 1; ++i) {
				A[(n - 1) * n + j] += (i % 3 - 1) * A[i * n + j];
			}
		}
		double scale = ldexp(1.0, testInt(&random, 400) - 200);
		for (int i = 0; i < n * n; ++i) {
			A[i] *= scale;
		}
		assert_false(knDense_FactorLu(A, n, pivots));
	}
	double bad[4] = { 1.0, NAN, 0.0, 1.0 };
	assert_false(knDense_FactorLu(bad, 2, pivots));
}

static double dotN(const double* a, const double* b, int n) {
	double sum = 0.0;
	for (int i = 0; i < n; ++i) {
		sum += a[i] * b[i];
	}
	return sum;
}

static void range_has_the_right_rank(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	for (int trial = 0; trial < 2000; ++trial) {
		int n = 1 + testInt(&random, 8), m = 1 + testInt(&random, 8);
		int rank = testInt(&random, 1 + (n < m ? n : m));
		// the product of random n x rank and rank x m factors
		double left[64], right[64], columns[64], basis[64];
		randomMatrix(&random, left, n * rank);
		randomMatrix(&random, right, rank * m);
		for (int j = 0; j < m; ++j) {
			for (int i = 0; i < n; ++i) {
				columns[j * n + i] = 0.0;
				for (int k = 0; k < rank; ++k) {
					columns[j * n + i] += left[k * n + i] * right[k * m + j];
				}
				// noise as of finite differences
				columns[j * n + i] += testUniform(&random, -1e-12, 1e-12);
			}
		}
		int found = knDense_Range(columns, n, m, 1e-9, basis);
		assert_true(found <= rank);
		// random factors are rarely so close to dependent; what is missing must then be below the tolerance
		for (int a = 0; a < found; ++a) {
			for (int b = 0; b <= a; ++b) {
				assert_near(dotN(basis + a * n, basis + b * n, n), a == b ? 1.0 : 0.0, 1e-14);
			}
		}
		for (int j = 0; j < m; ++j) {
			double rest[8];
			memcpy(rest, columns + j * n, sizeof(double) * (size_t)n);
			for (int a = 0; a < found; ++a) {
				double along = dotN(basis + a * n, columns + j * n, n);
				for (int i = 0; i < n; ++i) {
					rest[i] -= along * basis[a * n + i];
				}
			}
			double longest = 1.0;
			for (int k = 0; k < m; ++k) {
				longest = fmax(longest, sqrt(dotN(columns + k * n, columns + k * n, n)));
			}
			assert_true(sqrt(dotN(rest, rest, n)) <= 1.001e-9 * longest);
		}
	}
}

static void range_of_simple_matrices(void** state) {
	(void)state;
	double basis[36];
	const double identity[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
	assert_int_equal(knDense_Range(identity, 3, 3, 1e-9, basis), 3);
	const double zero[9] = { 0 };
	assert_int_equal(knDense_Range(zero, 3, 3, 1e-9, basis), 0);
	// short against 1 counts as zero, even when nothing longer is there
	const double noise[6] = { 1e-11, 0, 0, 0, 1e-11, 0 };
	assert_int_equal(knDense_Range(noise, 3, 2, 1e-9, basis), 0);
	// more columns than dimensions
	const double wide[8] = { 1, 1, 1, -1, 2, 3, 5, 7 };
	assert_int_equal(knDense_Range(wide, 2, 4, 1e-9, basis), 2);
	// short but independent beside a long column: kept above the tolerance, dropped below it
	const double uneven[4] = { 1e6, 0, 0, 1.0 };
	assert_int_equal(knDense_Range(uneven, 2, 2, 1e-7, basis), 2);
	assert_int_equal(knDense_Range(uneven, 2, 2, 1e-5, basis), 1);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ldl_solves_positive_definite),
		cmocka_unit_test(ldl_reads_the_lower_half_only),
		cmocka_unit_test(ldl_counts_signs_of_quasi_definite),
		cmocka_unit_test(ldl_refuses),
		cmocka_unit_test(lu_solves_general),
		cmocka_unit_test(lu_and_ldl_agree),
		cmocka_unit_test(lu_refuses_singular_at_any_scale),
		cmocka_unit_test(range_has_the_right_rank),
		cmocka_unit_test(range_of_simple_matrices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
