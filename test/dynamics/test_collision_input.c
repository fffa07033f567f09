// What the collider is asked: run-time exclusions, switched-off shapes.
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
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_exclusions) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
