// Analytic derivatives of random trees against central differences, every kind of joint among them.
#include "tree_test.h"

#define TREES 1000
#define STEP 1e-5

static double byQ[MAX_V * MAX_V], byV[MAX_V * MAX_V], byTau[MAX_V * MAX_V], factors[MAX_V * MAX_V];

// qdd or tau with coordinate k of q or v moved by h.
static void evaluate(Tree* t, bool inverse, const double* given, int k, bool moveQ, double h, double* out) {
	double q[7 * MAX_LINKS], v[MAX_V], step[MAX_V] = { 0 };
	memcpy(q, t->q, sizeof(q));
	memcpy(v, t->v, sizeof(v));
	if (moveQ) {
		step[k] = 1.0;
		knTree_Integrate(t->tree, q, step, h);
	} else {
		v[k] += h;
	}
	if (inverse) {
		knTree_InverseDynamics(t->tree, t->work, q, v, given, t->forces, gravity, out);
	} else {
		knTree_ForwardDynamics(t->tree, t->work, q, v, given, t->forces, gravity, out);
	}
}

// Central differences, extrapolated once: the error is of fourth order in the step.
static void difference4(Tree* t, bool inverse, const double* given, int k, bool moveQ, double* out) {
	double ends[4][MAX_V];
	const double steps[4] = { -STEP * 64.0, -STEP * 32.0, STEP * 32.0, STEP * 64.0 };
	for (int s = 0; s < 4; ++s) {
		evaluate(t, inverse, given, k, moveQ, steps[s], ends[s]);
	}
	for (int i = 0; i < t->nv; ++i) {
		double wide = (ends[3][i] - ends[0][i]) / (steps[3] - steps[0]);
		double narrow = (ends[2][i] - ends[1][i]) / (steps[2] - steps[1]);
		out[i] = (4.0 * narrow - wide) / 3.0;
	}
}

static double worstColumn(Tree* t, bool inverse, const double* given, bool moveQ, const double* matrix) {
	double size = fmax(largest(matrix, t->nv * t->nv), 1.0), most = 0.0;
	for (int k = 0; k < t->nv; ++k) {
		double column[MAX_V];
		difference4(t, inverse, given, k, moveQ, column);
		for (int i = 0; i < t->nv; ++i) {
			most = fmax(most, fabs(column[i] - matrix[i * t->nv + k]) / size);
		}
	}
	return most;
}

static void derivatives_match_differences(void** state) {
	(void)state;
	double worstInverse = 0.0, worstForward = 0.0;
	for (int trial = 0; trial < TREES; ++trial) {
		Tree t;
		double qdd[MAX_V];
		makeTree(&t, 1 + trial % 12, trial % 3 == 0, trial % 4 == 0);
		if (trial % 5 == 0) {
			knTreeWork_SetBase(t.work, randomFrame(), (knTwist){ randomVector(), randomVector() });
		}
		knTreeDerivatives out = { qdd, byQ, byV, byTau, factors };
		assert_true(
			knTree_ForwardDynamicsDerivatives(t.tree, t.work, t.q, t.v, t.tau, t.forces, gravity, &out));
		worstForward = fmax(worstForward, worstColumn(&t, false, t.tau, true, byQ));
		worstForward = fmax(worstForward, worstColumn(&t, false, t.tau, false, byV));
		double given[MAX_V];
		for (int i = 0; i < t.nv; ++i) {
			given[i] = uniform(-2.0, 2.0);
		}
		knTree_InverseDynamicsDerivatives(t.tree, t.work, t.q, t.v, given, t.forces, gravity, byQ, byV);
		worstInverse = fmax(worstInverse, worstColumn(&t, true, given, true, byQ));
		worstInverse = fmax(worstInverse, worstColumn(&t, true, given, false, byV));
		freeTree(&t);
	}
	print_message("%d trees; worst: inverse %.2g, forward %.2g\n", TREES, worstInverse, worstForward);
	assert_true(worstInverse < 1e-7);
	assert_true(worstForward < 1e-6);
}

// byTau is H^-1, so it is symmetric and undoes H.
static void derivatives_by_torques_are_the_inverse_mass_matrix(void** state) {
	(void)state;
	static double H[MAX_V * MAX_V];
	for (int trial = 0; trial < 100; ++trial) {
		Tree t;
		double qdd[MAX_V], direct[MAX_V];
		makeTree(&t, 1 + trial % MAX_LINKS, trial % 3 == 0, false);
		knTreeDerivatives out = { qdd, byQ, byV, byTau, factors };
		assert_true(knTree_ForwardDynamicsDerivatives(t.tree, t.work, t.q, t.v, t.tau, NULL, gravity, &out));
		knTree_ForwardDynamics(t.tree, t.work, t.q, t.v, t.tau, NULL, gravity, direct);
		assert_memory_equal(qdd, direct, (size_t)t.nv * sizeof(double));
		knTree_MassMatrix(t.tree, t.work, t.q, H);
		double size = largest(byTau, t.nv * t.nv) * largest(H, t.nv * t.nv);
		for (int i = 0; i < t.nv; ++i) {
			for (int j = 0; j < t.nv; ++j) {
				double sum = i == j ? -1.0 : 0.0;
				for (int k = 0; k < t.nv; ++k) {
					sum += H[i * t.nv + k] * byTau[k * t.nv + j];
				}
				assert_true(fabs(sum) < 1e-12 * fmax(size, 1.0));
			}
		}
		freeTree(&t);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(derivatives_match_differences),
		cmocka_unit_test(derivatives_by_torques_are_the_inverse_mass_matrix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
