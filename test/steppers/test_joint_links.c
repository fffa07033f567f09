// Blocks between joints, all rows at once, against the same one after the other: equal, not only near, for any number of rows.
#include "support/kn_test.h"

#include "core/dense.h"
#include "steppers/impulse/joint_links.h"

#define MOST KN_BLOCK_ROWS
#define STRIDE KN_LINK_STRIDE

typedef struct Numbers {
	double own[MOST * MOST];                // positive definite, n x n; then its factors
	double a[MOST][MOST], b[MOST][MOST];    // rows of two later joints
	_Alignas(32) double ownT[KN_LINK_SIZE]; // the same, transposed
	_Alignas(32) double aT[KN_LINK_SIZE];
	_Alignas(32) double bT[KN_LINK_SIZE];
} Numbers;

static double next(uint32_t* seed) {
	*seed = 1664525u * *seed + 1013904223u;
	return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

static void makeNumbers(Numbers* m, int n, uint32_t seed) {
	// what is behind the rows must not matter
	for (int k = 0; k < KN_LINK_SIZE; ++k) {
		m->ownT[k] = m->aT[k] = m->bT[k] = (double)NAN;
	}
	for (int r = 0; r < MOST; ++r) {
		for (int k = 0; k < n; ++k) {
			m->aT[STRIDE * k + r] = m->a[r][k] = next(&seed);
			m->bT[STRIDE * k + r] = m->b[r][k] = next(&seed);
		}
	}
	for (int r = 0; r < n; ++r) {
		for (int c = 0; c <= r; ++c) {
			m->ownT[STRIDE * c + r] = m->own[n * r + c] = next(&seed) + (r == c ? 6.0 : 0.0);
		}
	}
}

static void checkFactors(const knLinkKernel* kernel, Numbers* m, int n) {
	_Alignas(32) double K[KN_LINK_SIZE];
	double z[2][MOST];
	assert_true(knDense_FactorLdl(m->own, n));
	kernel->factor(m->ownT, n);
	kernel->multiply(m->own, n, K);
	for (int r = 0; r < n; ++r) {
		for (int c = 0; c <= r; ++c) {
			assert_true(m->own[n * r + c] == m->ownT[STRIDE * c + r]);
			double sum = 0.0;
			for (int k = 0; k <= c; ++k) {
				const double left = k == r ? 1.0 : m->own[n * r + k],
							 right = k == c ? 1.0 : m->own[n * c + k];
				sum += left * m->own[(n + 1) * k] * right;
			}
			assert_true(sum == K[STRIDE * c + r]);
		}
		z[0][r] = z[1][r] = m->a[0][r];
	}
	knDense_SolveLdl(m->own, n, z[0]);
	kernel->solve(m->ownT, n, z[1]);
	for (int r = 0; r < n; ++r) {
		assert_true(z[0][r] == z[1][r]);
	}
}

static void checkBlocks(const knLinkKernel* kernel, const Numbers* m, int n, int rows, int columns) {
	_Alignas(32) double L[KN_LINK_SIZE], A[KN_LINK_SIZE];
	double later[MOST];
	for (int r = 0; r < rows; ++r) {
		later[r] = m->b[r][0];
		for (int c = 0; c < columns; ++c) {
			A[STRIDE * c + r] = 0.5 * r - c;
		}
	}
	kernel->divide(m->ownT, n, m->aT, rows, L);
	kernel->subtract(A, L, rows, m->bT, columns, n);
	kernel->carry(L, n, rows, m->b[0], later);
	for (int r = 0; r < rows; ++r) {
		double row[MOST], carried = m->b[r][0];
		memcpy(row, m->a[r], sizeof(row));
		knDense_SolveLdl(m->own, n, row);
		for (int k = 0; k < n; ++k) {
			assert_true(row[k] == L[STRIDE * k + r]);
			carried -= row[k] * m->b[0][k];
		}
		assert_true(later[r] == carried);
		for (int c = 0; c < columns; ++c) {
			double product = 0.0;
			for (int k = 0; k < n; ++k) {
				product += row[k] * m->b[c][k];
			}
			assert_true(A[STRIDE * c + r] == 0.5 * r - c - product);
		}
	}
}

static void test_any_number_of_rows(void** state) {
	(void)state;
	static Numbers numbers;
	const knLinkKernel* kernels[2] = { &knLinkKernelPlain, knLinkKernel_Best() };
	for (int which = 0; which < 2; ++which) {
		for (int n = 1; n <= MOST; ++n) {
			for (int rows = 1; rows <= MOST; ++rows) {
				makeNumbers(&numbers, n, (uint32_t)(100 * n + rows));
				checkFactors(kernels[which], &numbers, n);
				checkBlocks(kernels[which], &numbers, n, rows, 1 + (3 * rows + n) % MOST);
			}
		}
	}
}

// Two joints on one body, as its child and as its parent.
static void test_couple(void** state) {
	(void)state;
	static knJointBlock blocks[2];
	const knLinkKernel* kernels[2] = { &knLinkKernelPlain, knLinkKernel_Best() };
	const double invMass[3] = { 0.0, 0.7, 0.3 };
	knMat33 invInertia[3] = { { { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } },
							  { { 1.0, 0.1, 0.2 }, { 0.1, 2.0, 0.3 }, { 0.2, 0.3, 1.5 } },
							  { { 1.1, 0.0, 0.1 }, { 0.0, 0.8, 0.2 }, { 0.1, 0.2, 1.4 } } };
	knSolveJoint joints[2] = { { .parent = 0, .child = 1 }, { .parent = 1, .child = 2 } };
	knArticulationSolve solve = {
		.joints = joints, .blocks = blocks, .invMass = invMass, .invInertia = invInertia
	};
	for (int n = 0; n < 2 * MOST * MOST; ++n) {
		uint32_t seed = (uint32_t)n + 1;
		blocks[0].all = 1 + n / 2 % MOST;
		blocks[1].all = 1 + n / 2 / MOST;
		for (int i = 0; i < 2; ++i) {
			for (int k = 0; k < 6 * MOST; ++k) {
				(&blocks[i].rows[0].ang.x)[k] = next(&seed);
			}
			blocks[i].rP = knV3(next(&seed), 0.2, next(&seed));
			blocks[i].rC = knV3(0.1, next(&seed), next(&seed));
		}
		_Alignas(32) double block[KN_LINK_SIZE] = { 0.0 };
		kernels[n % 2]->couple(&solve, 0, 1, 1, block);
		for (int c = 0; c < blocks[0].all; ++c) {
			knTwist ofI = blocks[0].rows[c];
			ofI.ang = knAdd(ofI.ang, knCross(blocks[0].rC, ofI.lin));
			const knTwist answer =
				knMakeTwist(knMulMV(&invInertia[1], ofI.ang), knScale(invMass[1], ofI.lin));
			for (int r = 0; r < blocks[1].all; ++r) {
				knTwist ofJ = blocks[1].rows[r];
				ofJ.ang = knAdd(ofJ.ang, knCross(blocks[1].rP, ofJ.lin));
				assert_true(knDotT(knScaleT(-1.0, ofJ), answer) == block[STRIDE * c + r]);
			}
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_number_of_rows),
		cmocka_unit_test(test_couple),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
