// Divide and conquer gives the accelerations of articulated bodies: on chains and trees of any joints, for any number of
// threads the same bits.
#include "articulated/dca.h"

#include "long_tree.h"

static const knVec3 gravity = { 0.3, -0.2, -9.81 };

// --- the assembly tree -------------------------------------------------------------------------------------

static int log2Ceiling(int n) {
	int result = 0;
	while (1 << result < n) {
		++result;
	}
	return result;
}

static void chains_are_halved(void** state) {
	(void)state;
	const int sizes[] = { 1, 2, 3, 7, 64, 200, 1000 };
	for (int s = 0; s < 7; ++s) {
		LongTree t;
		makeLongTree(&t, &(LongTreeOptions){ .count = sizes[s] });
		knAssembly* assembly = knAssembly_Create(t.tree, NULL, NULL, NULL);
		assert_int_equal(assembly->depth, log2Ceiling(sizes[s] + 1));
		for (int i = 0; i < assembly->nodeCount; ++i) {
			assert_true(assembly->nodes[i].handleCount <= 2);
		}
		knAssembly_Destroy(assembly);
		freeLongTree(&t);
	}
}

// Every link is in exactly one part of every node above it, parts come before what they make.
static void checkAssembly(const knAssembly* assembly) {
	int n = assembly->count;
	bool* done = calloc((size_t)assembly->nodeCount, sizeof(bool));
	for (int i = n; i < assembly->nodeCount; ++i) {
		done[i] = true;
	}
	for (int k = 0; k < n; ++k) {
		int node = assembly->order[k];
		const knAssemblyNode* own = &assembly->nodes[node];
		const knAssemblyNode *A = &assembly->nodes[own->left], *B = &assembly->nodes[own->right];
		assert_true(done[own->left] && done[own->right] && !done[node]);
		assert_int_equal(own->joints, A->joints + B->joints + 1);
		assert_int_equal(own->links, A->links + B->links);
		assert_int_equal(own->joints, k + 1 - assembly->first[node]);
		assert_int_equal(B->top, node);
		assert_int_equal(A->top, own->top);
		assert_int_equal(A->parent, node);
		done[node] = true;
	}
	assert_int_equal(assembly->nodes[assembly->root].joints, n);
	assert_int_equal(assembly->nodes[assembly->root].handleCount, 0);
	free(done);
}

static void trees_are_split_evenly(void** state) {
	(void)state;
	for (int trial = 0; trial < 60; ++trial) {
		LongTree t;
		int count = 1 + trial * trial / 4;
		makeLongTree(&t,
					 &(LongTreeOptions){ .count = count, .branching = trial % 12, .floating = trial % 2 });
		for (int pairs = 0; pairs < 2; ++pairs) {
			knAssembly* assembly =
				knAssembly_Create(t.tree, &(knAssemblyOptions){ .pairs = pairs }, NULL, NULL);
			checkAssembly(assembly);
			// free joints and three handles cost a few levels, pairs one for each
			int even = log2Ceiling(count + 1);
			assert_true(assembly->depth <= (pairs ? 2 : 1) * (2 * even + 2));
			knAssembly_Destroy(assembly);
		}
		freeLongTree(&t);
	}
}

// A link with many children: its joints are taken one after the other.
static void stars_are_taken_apart(void** state) {
	(void)state;
	enum { RAYS = 200 };
	static knTreeLink links[RAYS + 1];
	for (int i = 0; i <= RAYS; ++i) {
		links[i] = rodLink(&(LongTreeOptions){ 0 }, i);
		links[i].parent = i == 0 ? -1 : 0;
	}
	knTree* tree = knTree_Create(links, RAYS + 1, NULL, NULL);
	knAssembly* assembly = knAssembly_Create(tree, NULL, NULL, NULL);
	checkAssembly(assembly);
	for (int i = 0; i < assembly->nodeCount; ++i) {
		assert_true(assembly->nodes[i].handleCount <= 1);
	}
	knAssembly_Destroy(assembly);
	knTree_Destroy(tree);
}

// --- forward dynamics --------------------------------------------------------------------------------------

// Largest torque that inverse dynamics finds missing, relative to the largest applied.
static double missingTorque(LongTree* t, knTreeDca* dca, int refinements) {
	knTreeDca_ForwardDynamics(dca, t->work, t->q, t->v, t->tau, t->forces, gravity, refinements, NULL,
							  t->qdd);
	knTree_InverseDynamics(t->tree, t->work, t->q, t->v, t->qdd, t->forces, gravity, t->check);
	return distanceOf(t->check, t->tau, t->nv) / largestOf(t->tau, t->nv);
}

// How well the measure knows itself: torques of the same accelerations with everything turned about, likewise relative.
static double noiseOfMeasure(LongTree* t, const double* qdd) {
	double* torques = calloc((size_t)t->nv, sizeof(double));
	double noise = 0.0;
	knTree_InverseDynamics(t->tree, t->work, t->q, t->v, qdd, NULL, gravity, torques);
	for (int k = 1; k <= 3; ++k) {
		knQuat turn = knQuat_FromAxisAngle(knNormalize(knV3(1.0, k, 0.5)), 0.7 * k);
		knTreeWork_SetBase(t->work, knMakeFrame(knZero3(), turn), knZeroTwist());
		knTree_InverseDynamics(t->tree, t->work, t->q, t->v, qdd, NULL, knRotate(turn, gravity), t->check);
		noise = fmax(noise, distanceOf(t->check, torques, t->nv) / largestOf(t->tau, t->nv));
	}
	knTreeWork_SetBase(t->work, knIdentityF(), knZeroTwist());
	free(torques);
	return noise;
}

static void checkDynamics(const LongTreeOptions* options, const char* name) {
	LongTree t;
	makeLongTree(&t, options);
	knTreeDca* dca = knTreeDca_Create(t.tree, NULL, NULL);
	assert_non_null(dca);
	double plain = missingTorque(&t, dca, 0), refined = missingTorque(&t, dca, 1);
	double noise = noiseOfMeasure(&t, t.qdd);
	knTree_ForwardDynamics(t.tree, t.work, t.q, t.v, t.tau, t.forces, gravity, t.check);
	double against = distanceOf(t.qdd, t.check, t.nv) / largestOf(t.check, t.nv);
	knTree_InverseDynamics(t.tree, t.work, t.q, t.v, t.check, t.forces, gravity, t.qdd);
	double aba = distanceOf(t.qdd, t.tau, t.nv) / largestOf(t.tau, t.nv);
	print_message(
		"%-10s %5d links: missing torque %.1e, refined %.1e (articulated bodies %.1e, measure %.1e); "
		"accelerations differ by %.1e\n",
		name, t.count, plain, refined, aba, noise, against);
	assert_true(refined < fmax(1e-7, 2.0 * noise));
	assert_true(against < 1e-8);
	knTreeDca_Destroy(dca);
	freeLongTree(&t);
}

static void chains_accelerate_as_articulated_bodies(void** state) {
	(void)state;
	const int sizes[] = { 1, 2, 10, 50, 200, 1000 };
	for (int s = 0; s < 6; ++s) {
		checkDynamics(&(LongTreeOptions){ .count = sizes[s], .pose = STRAIGHT, .speed = 0.1 }, "straight");
		checkDynamics(&(LongTreeOptions){ .count = sizes[s], .pose = CURLED, .speed = 1.0 }, "curled");
		checkDynamics(&(LongTreeOptions){ .count = sizes[s], .pose = ANY, .speed = 1.0, .floating = true },
					  "floating");
		checkDynamics(&(LongTreeOptions){ .count = sizes[s], .pose = ANY, .speed = 1.0, .anyKind = true },
					  "any joints");
	}
}

static void trees_accelerate_as_articulated_bodies(void** state) {
	(void)state;
	const int sizes[] = { 3, 20, 100, 400, 1000 };
	for (int s = 0; s < 5; ++s) {
		for (int branching = 2; branching <= 50; branching *= 5) {
			bool floating = branching == 10;
			LongTreeOptions options = { .count = sizes[s],
										.branching = branching,
										.anyKind = true,
										.floating = floating,
										.pose = ANY,
										.speed = 1.0 };
			checkDynamics(&options, "tree");
			options.pose = STRAIGHT;
			options.anyKind = false;
			checkDynamics(&options, "tree");
		}
	}
}

static void threads_change_no_bit(void** state) {
	(void)state;
	LongTree t;
	makeLongTree(
		&t, &(LongTreeOptions){ .count = 900, .branching = 3, .anyKind = true, .pose = ANY, .speed = 1.0 });
	knTreeDca* dca = knTreeDca_Create(t.tree, NULL, NULL);
	knTreeDca_ForwardDynamics(dca, t.work, t.q, t.v, t.tau, t.forces, gravity, 1, NULL, t.qdd);
	for (int threads = 2; threads <= 4; ++threads) {
		knTaskPool* pool = knTaskPool_Create(threads, NULL, NULL);
		knTasks tasks = knTaskPool_Tasks(pool);
		knTreeDca_ForwardDynamics(dca, t.work, t.q, t.v, t.tau, t.forces, gravity, 1, &tasks, t.check);
		assert_memory_equal(t.qdd, t.check, (size_t)t.nv * sizeof(double));
		knTaskPool_Destroy(pool);
	}
	knTreeDca_Destroy(dca);
	freeLongTree(&t);
}

static void a_moving_base_is_felt(void** state) {
	(void)state;
	LongTree t;
	makeLongTree(
		&t, &(LongTreeOptions){ .count = 60, .branching = 2, .anyKind = true, .pose = ANY, .speed = 1.0 });
	knFrame frame = knMakeFrame(knV3(1.0, 2.0, 3.0), knQuat_Exp(knV3(0.4, 0.5, 0.6)));
	knTreeWork_SetBase(t.work, frame, (knTwist){ knV3(1.0, -2.0, 0.5), knV3(3.0, 1.0, -1.0) });
	knTreeDca* dca = knTreeDca_Create(t.tree, NULL, NULL);
	assert_true(missingTorque(&t, dca, 1) < 1e-9);
	knTreeDca_Destroy(dca);
	freeLongTree(&t);
}

static void an_empty_tree_has_nothing_to_do(void** state) {
	(void)state;
	knTree* tree = knTree_Create(NULL, 0, NULL, NULL);
	knTreeWork* work = knTreeWork_Create(tree, NULL, NULL);
	knTreeDca* dca = knTreeDca_Create(tree, NULL, NULL);
	assert_non_null(dca);
	assert_int_equal(knTreeDca_Depth(dca), 0);
	knTreeDca_ForwardDynamics(dca, work, NULL, NULL, NULL, NULL, gravity, 1, NULL, NULL);
	knTreeDca_Destroy(dca);
	knTreeWork_Destroy(work);
	knTree_Destroy(tree);
}

// What is left to one thread, and the larger share of two that take parts in turn: of 5000 joints two threads could be 1.9
// times as fast.
static void parts_are_shared_evenly(void** state) {
	(void)state;
	const LongTreeOptions bodies[] = { { .count = 5000 }, { .count = 5000, .branching = 4 } };
	for (int b = 0; b < 2; ++b) {
		LongTree t;
		makeLongTree(&t, &bodies[b]);
		knTreeDca* dca = knTreeDca_Create(t.tree, NULL, NULL);
		assert_non_null(dca);
		int share[2] = { 0, 0 }, largest = 0;
		for (int k = 0; k < dca->taskCount; ++k) {
			int joints = dca->assembly->nodes[dca->taskNodes[k]].joints;
			share[share[1] < share[0]] += joints;
			largest = joints > largest ? joints : largest;
		}
		assert_int_equal(share[0] + share[1] + dca->topCount, 5000);
		double alone = dca->topCount + (share[0] > share[1] ? share[0] : share[1]);
		print_message("%d parts of at most %d joints, %d above them: %.2f times\n", dca->taskCount, largest,
					  dca->topCount, 5000.0 / alone);
		assert_true(5000.0 / alone > 1.9);
		knTreeDca_Destroy(dca);
		freeLongTree(&t);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_shared_evenly),
		cmocka_unit_test(chains_are_halved),
		cmocka_unit_test(trees_are_split_evenly),
		cmocka_unit_test(stars_are_taken_apart),
		cmocka_unit_test(chains_accelerate_as_articulated_bodies),
		cmocka_unit_test(trees_accelerate_as_articulated_bodies),
		cmocka_unit_test(threads_change_no_bit),
		cmocka_unit_test(a_moving_base_is_felt),
		cmocka_unit_test(an_empty_tree_has_nothing_to_do),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
