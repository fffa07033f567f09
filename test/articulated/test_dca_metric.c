// The metric of accelerations, known from the assembly tree before any acceleration is, is their sum of squares; the
// choice by priority takes it apart joint by joint.
#include "articulated/dca.h"

#include "long_tree.h"

static const knVec3 gravity = { 0.3, -0.2, -9.81 };

static double squares(const LongTree* t, const double* qdd, const double* weights, int begin, int end) {
	double sum = 0.0;
	for (int i = begin; i < end && i < t->nv; ++i) {
		sum += (weights != NULL ? weights[i] : 1.0) * qdd[i] * qdd[i];
	}
	return sum;
}

// Sum over the joints of a part, joint by joint.
static double partSquares(const LongTree* t, const knAssembly* assembly, int node, const double* qdd,
						  const double* weights) {
	double sum = 0.0;
	int first = assembly->first[node];
	for (int k = first; k < first + assembly->nodes[node].joints; ++k) {
		int offset = knTree_VelocityOffset(t->tree, assembly->order[k]);
		sum +=
			squares(t, qdd, weights, offset, offset + knTree_LinkVelocityCount(t->tree, assembly->order[k]));
	}
	return sum;
}

typedef struct Metric {
	LongTree t;
	knTreeDca* dca;
	knDcaMetric metric;
	double* weights;
} Metric;

static void openMetric(Metric* m, const LongTreeOptions* options, bool weighted) {
	makeLongTree(&m->t, options);
	m->dca = knTreeDca_Create(m->t.tree, NULL, NULL);
	assert_true(knDcaMetric_Init(&m->metric, m->dca, NULL));
	m->weights = calloc((size_t)m->t.nv, sizeof(double));
	for (int i = 0; i < m->t.nv; ++i) {
		m->weights[i] = weighted ? longUniform(0.1, 2.0) : 1.0;
	}
	LongTree* t = &m->t;
	knTree_ForwardDynamics(t->tree, t->work, t->q, t->v, t->tau, t->forces, gravity, t->check);
	knTreeDca_Assemble(m->dca, t->work, t->q, t->v, t->tau, t->forces, gravity, NULL);
	knDcaMetric_Assemble(&m->metric, t->work, t->tau, weighted ? m->weights : NULL);
}

static void closeMetric(Metric* m) {
	knDcaMetric_Free(&m->metric);
	knTreeDca_Destroy(m->dca);
	freeLongTree(&m->t);
	free(m->weights);
}

static const int sizes[] = { 1, 2, 5, 30, 200, 1000 };

static LongTreeOptions optionsOf(int trial) {
	return (LongTreeOptions){ .count = sizes[trial % 6],
							  .branching = trial % 4 == 3 ? 0 : 1 + 3 * (trial % 4),
							  .anyKind = trial % 2,
							  .floating = trial % 3 == 0,
							  .pose = trial % 5 == 0   ? STRAIGHT
									  : trial % 5 == 1 ? CURLED
													   : ANY,
							  .speed = 0.5 };
}

static void the_root_knows_the_sum(void** state) {
	(void)state;
	double worst = 0.0;
	for (int trial = 0; trial < 60; ++trial) {
		Metric m;
		LongTreeOptions options = optionsOf(trial);
		openMetric(&m, &options, trial % 2);
		double expected = squares(&m.t, m.t.check, m.weights, 0, m.t.nv);
		double value = knDcaMetric_Value(&m.metric, m.dca->assembly->root, NULL);
		worst = fmax(worst, fabs(value - expected) / expected);
		closeMetric(&m);
	}
	print_message("metric of the whole body: %.1e\n", worst);
	assert_true(worst < 1e-6);
}

// At every node: the metric under the forces of the true motion is the sum over its joints.
static void every_part_knows_its_sum(void** state) {
	(void)state;
	double worst = 0.0;
	for (int trial = 0; trial < 60; ++trial) {
		Metric m;
		LongTreeOptions options = optionsOf(trial);
		openMetric(&m, &options, trial % 2);
		const knAssembly* assembly = m.dca->assembly;
		double all = squares(&m.t, m.t.check, m.weights, 0, m.t.nv);
		for (int k = m.t.count - 1; k >= 0; --k) {
			int node = assembly->order[k];
			double value = knDcaMetric_Value(&m.metric, node, m.dca->nodes[node].force);
			double expected = partSquares(&m.t, assembly, node, m.t.check, m.weights);
			// parts that hardly move beside others that do are as exact as those
			worst = fmax(worst, fabs(value - expected) / fmax(expected, 1e-3 * all));
			knTreeDca_Substitute(m.dca, m.t.work, node, m.t.tau, m.t.qdd);
		}
		closeMetric(&m);
	}
	print_message("metric of all parts: %.1e\n", worst);
	assert_true(worst < 1e-6);
}

static void a_choice_leaves_the_rest(void** state) {
	(void)state;
	for (int trial = 1; trial < 60; ++trial) {
		Metric m;
		LongTreeOptions options = optionsOf(trial);
		openMetric(&m, &options, false);
		LongTree* t = &m.t;
		int* joints = calloc((size_t)t->count, sizeof(int));
		bool* chosen = calloc((size_t)t->count, sizeof(bool));
		int most = 1 + t->count / 3;
		double left, all = squares(t, t->check, NULL, 0, t->nv), rest = all;
		int count = knDcaMetric_Select(&m.metric, t->work, t->tau, NULL, most, 0.0, joints, t->qdd, &left);
		assert_int_equal(count, most);
		for (int k = 0; k < count; ++k) {
			int parent = m.dca->assembly->nodes[joints[k]].parent,
				n = knTree_VelocityOffset(t->tree, joints[k]);
			int end = n + knTree_LinkVelocityCount(t->tree, joints[k]);
			assert_true(parent < 0 || chosen[parent]);
			chosen[joints[k]] = true;
			rest -= squares(t, t->check, NULL, n, end);
			for (int i = n; i < end; ++i) {
				assert_true(fabs(t->qdd[i] - t->check[i]) < 1e-7 * largestOf(t->check, t->nv));
			}
		}
		assert_true(fabs(left - rest) < 1e-6 * all);
		// a threshold: no more is left out than allowed, and one joint less would not do
		count =
			knDcaMetric_Select(&m.metric, t->work, t->tau, NULL, t->count, 0.1 * all, joints, t->qdd, &left);
		assert_true(left <= 0.1 * all);
		int offset = knTree_VelocityOffset(t->tree, joints[count - 1]);
		assert_true(left + squares(t, t->check, NULL, offset,
								   offset + knTree_LinkVelocityCount(t->tree, joints[count - 1])) >=
					0.1 * all * (1.0 - 1e-6));
		free(joints);
		free(chosen);
		closeMetric(&m);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_root_knows_the_sum),
		cmocka_unit_test(every_part_knows_its_sum),
		cmocka_unit_test(a_choice_leaves_the_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
