// What the collider is asked: margins, run-time exclusions, switched-off shapes.
#include "world/fixture.h"

#include "dynamics/collision_input.h"

typedef struct Setup {
	knModel* model;
	knState state;
	knArena arena;
	knAllocator allocator;
} Setup;

static Setup newSetup(void) {
	Setup setup = { .allocator = knAllocator_Default() };
	knScene* scene = newScene(noGravity);
	knScene_Def(scene)->jointCapacity = 4;
	newGround(scene, material(0.5, 0.0));
	newBall(scene, knV3(0.0, 0.0, 1.0), 0.1, knV3(3.0, 4.0, 0.0), material(0.5, 0.0));
	newBall(scene, knV3(2.0, 0.0, 1.0), 0.5, knZero3(), material(0.5, 0.0));
	newBall(scene, knV3(4.0, 0.0, 1.0), 0.5, knZero3(), material(0.5, 0.0));
	setup.model = knModel_Create(scene, NULL);
	knScene_Destroy(scene);
	assert_non_null(setup.model);
	assert_true(knState_Create(&setup.state, setup.model, "test", 0, &setup.allocator));
	knArena_Init(&setup.arena, &setup.allocator);
	return setup;
}

static void freeSetup(Setup* setup) {
	knState_Destroy(&setup->state, &setup->allocator);
	knArena_Free(&setup->arena);
	knModel_Release(setup->model);
}

// 1 % of the size, at most 5 mm; margins are half of it and the way of the step, spin included.
static void test_margins(void** state) {
	(void)state;
	Setup setup = newSetup();
	knTasks tasks = { 0 };
	setup.state.velocity[1].ang = knV3(0.0, 0.0, 10.0);
	knBlocks blocks;
	assert_true(knBlocks_Begin(&blocks, setup.model, &setup.state, 0.01, &tasks, &setup.arena));
	assert_near(knCollisionEnvelope(setup.model, 1), 0.002, 1e-15);
	assert_near(knCollisionEnvelope(setup.model, 2), 0.005, 1e-15);
	const double* margins = knCollisionInput_Margins(setup.model, &blocks, true, knZero3(), &setup.arena);
	assert_non_null(margins);
	assert_near(margins[1], 0.001 + 0.01 * (5.0 + 10.0 * 0.1), 1e-12);
	assert_near(margins[2], 0.0025, 1e-15);

	// the same ways as seen by one who moves: two bodies still see each other as far as they can come closer
	knVec3 drift = knV3(0.5, 0.0, -3.0);
	const double* seen = knCollisionInput_Margins(setup.model, &blocks, true, drift, &setup.arena);
	assert_near(seen[2], 0.0025 + 0.01 * knLength(drift), 1e-15);
	for (int b = 1; b < setup.model->bodyCount; ++b) {
		double apart =
			knDistance(blocks.u[b].lin, blocks.u[2].lin) + knLength(blocks.u[b].ang) * setup.model->radius[b];
		assert_true(seen[b] + seen[2] >=
					0.5 * knCollisionEnvelope(setup.model, b) + 0.0025 + 0.01 * apart - 1e-15);
	}

	// what is not finite asks for nothing that is not
	blocks.u[2].lin.x = (double)INFINITY;
	blocks.u[3].lin.x = (double)NAN;
	margins = knCollisionInput_Margins(setup.model, &blocks, true, knZero3(), &setup.arena);
	assert_true(knIsFinite(margins[2]) && knIsFinite(margins[3]));
	freeSetup(&setup);
}

// Attached joints exclude their pairs, sorted, each as (smaller, larger), unless they say `collide`.
static void test_exclusions(void** state) {
	(void)state;
	Setup setup = newSetup();
	knCollideInput input;
	assert_true(knCollisionInput_Make(&input, setup.model, &setup.state, NULL, NULL, &setup.arena));
	assert_int_equal(input.excludedCount, 0);
	const int ends[4][2] = { { 3, 2 }, { 1, 3 }, { 2, 1 }, { 0, 1 } };
	for (int k = 0; k < 4; ++k) {
		setup.state.attached[k] = (knJoint){ .parent = ends[k][0], .child = ends[k][1], .collide = k == 2 };
		setup.state.joint[setup.model->jointCount + k].inUse = 1;
		setup.state.header->attachedCount += 1;
	}
	assert_true(knCollisionInput_Make(&input, setup.model, &setup.state, NULL, NULL, &setup.arena));
	const knFramePair expected[3] = { { 0, 1 }, { 1, 3 }, { 2, 3 } };
	assert_int_equal(input.excludedCount, 3);
	assert_memory_equal(input.excluded, expected, sizeof(expected));
	freeSetup(&setup);
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_margins), cmocka_unit_test(test_exclusions) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
