// The eigenvalue solvers of the benches: against matrices whose eigenvalues are known, and against each other.
#include "support/kn_test.h"

#include "../../bench/spectrum.c"

#define N 12

static void test_second_difference(void** state) {
	(void)state;
	// 2 on the diagonal, -1 beside it: 2 - 2 cos(k pi / (n + 1))
	double A[N * N] = { 0 }, values[N];
	for (int i = 0; i < N; ++i) {
		A[i * N + i] = 2.0;
		if (i > 0) {
			A[i * N + i - 1] = A[(i - 1) * N + i] = -1.0;
		}
	}
	knSpectrum_Symmetric(A, N, values);
	for (int k = 0; k < N; ++k) {
		assert_near(values[k], 2.0 - 2.0 * knCos(KN_PI * (k + 1) / (N + 1)), 1e-12);
	}
}

static void test_circulant_has_roots_of_unity(void** state) {
	(void)state;
	double A[N * N] = { 0 }, real[N], imaginary[N];
	for (int i = 0; i < N; ++i) {
		A[i * N + (i + 1) % N] = 1.0;
	}
	assert_true(knSpectrum_General(A, N, real, imaginary));
	bool found[N] = { false };
	for (int i = 0; i < N; ++i) {
		assert_near(real[i] * real[i] + imaginary[i] * imaginary[i], 1.0, 1e-10);
		double turn = atan2(imaginary[i], real[i]) * N / (2.0 * KN_PI);
		int k = ((int)floor(turn + 0.5) + N) % N;
		assert_near(turn, floor(turn + 0.5), 1e-8);
		found[k] = true;
	}
	for (int k = 0; k < N; ++k) {
		assert_true(found[k]);
	}
}

// Sums of eigenvalues and of their squares are traces.
static void test_random_matrices(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	for (int trial = 0; trial < 20; ++trial) {
		double A[N * N], real[N], imaginary[N], trace = 0.0, square = 0.0, sum = 0.0, sumImaginary = 0.0,
												sumSquare = 0.0;
		for (int i = 0; i < N * N; ++i) {
			A[i] = testUniform(&random, -1.0, 1.0);
		}
		assert_true(knSpectrum_General(A, N, real, imaginary));
		for (int i = 0; i < N; ++i) {
			trace += A[i * N + i];
			sum += real[i];
			sumImaginary += imaginary[i];
			sumSquare += real[i] * real[i] - imaginary[i] * imaginary[i];
			for (int k = 0; k < N; ++k) {
				square += A[i * N + k] * A[k * N + i];
			}
		}
		assert_near(sum, trace, 1e-10);
		assert_near(sumImaginary, 0.0, 1e-10);
		assert_near(sumSquare, square, 1e-9);
	}
}

static void test_both_agree_on_symmetric(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	double A[N * N], real[N], imaginary[N], values[N];
	for (int i = 0; i < N; ++i) {
		for (int k = 0; k <= i; ++k) {
			A[i * N + k] = A[k * N + i] = testUniform(&random, -1.0, 1.0);
		}
	}
	assert_true(knSpectrum_General(A, N, real, imaginary));
	knSpectrum_Symmetric(A, N, values);
	sortAscending(real, N);
	for (int i = 0; i < N; ++i) {
		assert_near(real[i], values[i], 1e-10);
		assert_near(imaginary[i], 0.0, 1e-10);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_second_difference),
		cmocka_unit_test(test_circulant_has_roots_of_unity),
		cmocka_unit_test(test_random_matrices),
		cmocka_unit_test(test_both_agree_on_symmetric),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
