// How far a step's contacts are looked for: margins, relative motion of meshes, and bodies that are stopped.
#include "support/mesh_shapes.h"
#include "world/fixture.h"

#include "dynamics/collision_input.h"
#include "dynamics/search_margins.h"

#define H 0.01

typedef struct Setup {
	knModel* model;
	knState state;
	knStepBodies blocks;
	knCollider* collider;
	knArena arena;
	knAllocator allocator;
} Setup;

static Setup newSetup(knScene* scene) {
	Setup setup = { .allocator = knAllocator_Default() };
	setup.model = knModel_Create(scene, NULL);
	knScene_Destroy(scene);
	assert_non_null(setup.model);
	assert_true(knState_Create(&setup.state, setup.model, "test", 0, &setup.allocator));
	knArena_Init(&setup.arena, &setup.allocator);
	setup.collider = knModel_CreateCollider(setup.model, &setup.allocator, NULL);
	assert_non_null(setup.collider);
	return setup;
}

static void begin(Setup* setup) {
	knTasks tasks = { 0 };
	assert_true(
		knStepBodies_Begin(&setup->blocks, setup->model, &setup->state, H, NULL, &tasks, &setup->arena));
}

static void freeSetup(Setup* setup) {
	knCollider_Destroy(setup->collider);
	knState_Destroy(&setup->state, &setup->allocator);
	knArena_Free(&setup->arena);
	knModel_Release(setup->model);
}

// Margins are half an envelope (1 % of the size, at most 5 mm) and the way of the step, spin included.
static void test_margins(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	newGround(scene, material(0.5, 0.0));
	newBall(scene, knV3(0.0, 0.0, 1.0), 0.1, knV3(3.0, 4.0, 0.0), material(0.5, 0.0));
	newBall(scene, knV3(2.0, 0.0, 1.0), 0.5, knZero3(), material(0.5, 0.0));
	newBall(scene, knV3(4.0, 0.0, 1.0), 0.5, knZero3(), material(0.5, 0.0));
	Setup setup = newSetup(scene);
	setup.state.velocity[1].ang = knV3(0.0, 0.0, 10.0);
	begin(&setup);
	assert_near(knCollisionEnvelope(setup.model, 1), 0.002, 1e-15);
	assert_near(knCollisionEnvelope(setup.model, 2), 0.005, 1e-15);
	knSearchMargins reach;
	assert_true(knSearchMargins_Make(&reach, setup.model, &setup.blocks, knZero3(), true, &setup.arena));
	assert_near(reach.margins[1], 0.001 + H * (5.0 + 10.0 * 0.1), 1e-12);
	assert_near(reach.margins[2], 0.0025, 1e-15);
	assert_near(reach.motions[1].around, 0.001, 1e-15);
	assert_near(knLength(reach.motions[1].ways[0]), H * 5.0, 1e-12);
	assert_near(knLength(reach.motions[1].turn), H * 10.0, 1e-12);

	assert_true(knSearchMargins_Make(&reach, setup.model, &setup.blocks, knZero3(), false, &setup.arena));
	assert_near(reach.margins[1], 0.001, 1e-15);

	// as seen by one who moves, two bodies still see each other as far as they can come closer
	knVec3 drift = knV3(0.5, 0.0, -3.0);
	assert_true(knSearchMargins_Make(&reach, setup.model, &setup.blocks, drift, true, &setup.arena));
	assert_near(reach.margins[2], 0.0025 + H * knLength(drift), 1e-15);
	assert_true(reach.margins[1] + reach.margins[2] >= 0.001 + 0.0025 + H * (5.0 + 10.0 * 0.1) - 1e-15);

	// what is not finite asks for nothing that is not
	setup.blocks.u[2].lin.x = (double)INFINITY;
	setup.blocks.u[3].lin.x = (double)NAN;
	assert_true(knSearchMargins_Make(&reach, setup.model, &setup.blocks, knZero3(), true, &setup.arena));
	for (int b = 2; b <= 3; ++b) {
		assert_true(knIsFinite(reach.margins[b]) && knIsFinite(reach.motions[b].around));
		assert_true(knIsFinite3(reach.motions[b].ways[0]) && knIsFinite3(reach.motions[b].turn));
	}
	freeSetup(&setup);
}

// Cubes of triangles one above the other, 3 cm apart, that fall at 20 m/s; the lowest `height` above the ground.
static knScene* fallingCubes(double height) {
	knScene* scene = newScene(noGravity);
	newGround(scene, material(0.5, 0.0));
	knTestMesh shape = testMeshBox(knV3(0.1, 0.1, 0.1));
	knMeshDef meshDef = testMeshDef(&shape);
	knGeom* cube = knGeom_Mesh(&meshDef, NULL, NULL);
	testMeshFree(&shape);
	assert_non_null(cube);
	for (int i = 0; i < 3; ++i) {
		knBodyDef body = knBodyDef_Default();
		body.frame.p = knV3(0.0, 0.0, height + 0.1 + 0.23 * i);
		body.velocity = knV3(0.0, 0.0, -20.0);
		knShapeDef def = knShapeDef_Default();
		knError error = { 0 };
		assert_false(KN_ID_IS_NULL(knScene_AddShape(scene, newBody(scene, &body), cube, &def, &error)));
	}
	knGeom_Release(cube);
	return scene;
}

static bool hasPair(const knContactSet* set, int frameA, int frameB) {
	for (int i = 0; i < set->pairCount; ++i) {
		if (set->pairs[i].frameA == frameA && set->pairs[i].frameB == frameB) {
			return true;
		}
	}
	return false;
}

static knContactSet ask(Setup* setup) {
	knSearchMargins reach;
	knCollideInput input;
	knContactSet set;
	begin(setup);
	assert_true(knSearchMargins_Make(&reach, setup->model, &setup->blocks, knZero3(), true, &setup->arena));
	assert_true(knCollisionInput_Make(&input, setup->model, &setup->state, NULL, NULL, &setup->arena));
	assert_ok(
		knSearchMargins_Collide(&reach, setup->model, setup->collider, &input, &set, &setup->arena, NULL));
	return set;
}

// What falls together has no contacts, but once the lowest is stopped the others run into it and each other.
static void test_who_is_stopped_is_run_into(void** state) {
	(void)state;
	Setup high = newSetup(fallingCubes(0.5));
	assert_int_equal(ask(&high).pairCount, 0);
	freeSetup(&high);

	Setup low = newSetup(fallingCubes(0.05));
	knContactSet set = ask(&low);
	assert_true(hasPair(&set, 0, 1));
	assert_true(hasPair(&set, 1, 2));
	assert_true(hasPair(&set, 2, 3));
	freeSetup(&low);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_margins),
		cmocka_unit_test(test_who_is_stopped_is_run_into),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
