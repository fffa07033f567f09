// The inner loops for wide machines give the bits of the plain ones.
#include "articulated/tree.h"
#include "tree_test.h"

typedef struct Results {
	double qdd[MAX_V], tau[MAX_V], dv[MAX_V], H[MAX_V * MAX_V], inverse[144];
	knMat33 K;
} Results;

static void compute(Tree* t, Results* r) {
	memset(r, 0, sizeof(*r));
	knTree_ForwardDynamics(t->tree, t->work, t->q, t->v, t->tau, t->forces, gravity, r->qdd);
	knTree_InverseDynamics(t->tree, t->work, t->q, t->v, r->qdd, t->forces, gravity, r->tau);
	knTree_MassMatrix(t->tree, t->work, t->q, r->H);
	knTree_PrepareImpulses(t->tree, t->work, t->q);
	knTreePoint points[2] = { { 0, knV3(0.1, 0.2, 0.3) }, { t->count - 1, knV3(-0.4, 0.5, 0.6) } };
	knTreeImpulse hit = { t->count - 1, points[1].point, knV3(1.0, 2.0, 3.0), knV3(0.1, 0.2, 0.3) };
	r->K = knTree_CollisionMatrix(t->tree, t->work, t->count - 1, -1, points[1].point);
	knTree_OperationalInverse(t->tree, t->work, points, 2, r->inverse);
	knTree_Respond(t->tree, t->work, &hit, 1, t->tau, r->dv);
}

static void kernels_give_the_same_bits(void** state) {
	(void)state;
	static Results plain, best;
	print_message("kernel: %s\n", knTreeKernel_Best()->name);
	for (int trial = 0; trial < 1000; ++trial) {
		Tree t;
		makeTree(&t, 1 + trial % MAX_LINKS, trial % 3 == 0, trial % 4 == 0);
		t.tree->kernel = &knTreeKernelPlain;
		compute(&t, &plain);
		t.tree->kernel = knTreeKernel_Best();
		compute(&t, &best);
		assert_memory_equal(&plain, &best, sizeof(plain));
		freeTree(&t);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_give_the_same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
