// Piles of the catalogue under the impulse stepper: they stand, and their live twins live.
#include "scene_test.h"

#define G 9.81
#define DT 0.01

// The same scene in a world of the impulse stepper.
static Built impulse(Built built) {
	knSettings settings = knSettings_Default();
	settings.sweeps = 9;
	knWorldDef def = knWorldDef_Default();
	def.stepper = "impulse";
	def.settings = &settings;
	knWorld_Destroy(built.world);
	knError error = { 0 };
	built.world = knWorld_Create(built.model, &def, &error);
	if (built.world == NULL) {
		fail_msg("%s", error.message);
	}
	return built;
}

static double displacementOf(const Built* built) {
	return knWorld_Measure(built->world).displacement;
}

// Walls and towers of several sizes stand to a micrometre, and their layers carry what is above them.
static void test_piles_stand(void** state) {
	(void)state;
	const char* const piles[5][3] = { { "tower", "layers", "12" },
									  { "tower", "per_layer", "9" },
									  { "wall", "bricks", "72" },
									  { "pyramid", "base", "9" },
									  { "box-stack", "boxes", "40" } };
	for (int i = 0; i < 5; ++i) {
		Built pile = impulse(BUILD(piles[i][0], piles[i][1], piles[i][2]));
		knSceneChecks checks = { 0 };
		pile.args.time = 1.0;
		stepBuilt(&pile, 100, &checks);
		assert_true(displacementOf(&pile) < 1e-5);
		assert_near(checkOf(&checks, "layer_force_min"), 1.0, 1e-3);
		assert_near(checkOf(&checks, "layer_force_max"), 1.0, 1e-3);
		knSceneChecks_Free(&checks);
		destroy(&pile);
	}
}

// The ground is removed at 1 s: every brick falls as one that is alone.
static void test_without_ground_bricks_fall_freely(void** state) {
	(void)state;
	Built tower = impulse(BUILD("tower", "layers", "10", "twin", "2"));
	stepBuilt(&tower, 100, NULL);
	int count = knModel_BodyCount(tower.model);
	knVec3* before = calloc((size_t)count, sizeof(knVec3));
	for (int i = 0; i < count; ++i) {
		before[i] = knWorld_BodyCenter(tower.world, knModel_BodyAt(tower.model, i));
	}
	stepBuilt(&tower, 50, NULL);
	double t = 50 * DT, fall = 0.5 * G * t * t;
	int fallen = 0;
	for (int i = 0; i < count; ++i) {
		knBodyId brick = knModel_BodyAt(tower.model, i);
		if (knScene_GetBody(tower.scene, brick)->kind != KN_BODY_DYNAMIC) {
			continue;
		}
		knVec3 moved = knSub(knWorld_BodyCenter(tower.world, brick), before[i]);
		assert_near3(moved, knV3(0.0, 0.0, -fall), 1e-6);
		++fallen;
	}
	assert_int_equal(fallen, 200);
	free(before);
	destroy(&tower);
}

// A brick that starts 1 mm above its place lands there and leaves the others where they are; a top that is shifted beyond
// its balance topples.
static void test_landing_and_toppling(void** state) {
	(void)state;
	Built landing = impulse(BUILD("tower", "layers", "10", "twin", "3"));
	stepBuilt(&landing, 100, NULL);
	assert_near(centerOf(&landing, "brick9_00").z, 9.5 * 0.25, 5e-5);
	assert_near(centerOf(&landing, "brick9_07").z, 9.5 * 0.25, 5e-5);
	assert_true(knWorld_Measure(landing.world).kinetic < 1e-6);
	destroy(&landing);
	Built toppling = impulse(BUILD("wall", "bricks", "32", "twin", "4"));
	stepBuilt(&toppling, 200, NULL);
	assert_true(displacementOf(&toppling) > 0.5);
	destroy(&toppling);
}

// 62.5 t fall on six layers: these stay where they are.
static void test_block_falls_on_a_tower(void** state) {
	(void)state;
	Built tower = impulse(BUILD("roof-tower", "layers", "6", "shot", "0"));
	knSceneChecks checks = { 0 };
	stepBuilt(&tower, 200, &checks);
	assert_true(checkOf(&checks, "brick_displacement") < 0.01);
	assert_true(checkOf(&checks, "brick_drift") < 1e-3);
	assert_true(checkOf(&checks, "block_speed") < 1e-3);
	knSceneChecks_Free(&checks);
	destroy(&tower);
}

// Letters slide down the door in its plane, and none falls through the ledge.
static void test_magnets_stay_in_their_plane(void** state) {
	(void)state;
	Built magnets = impulse(BUILD("magnets", "letters", "15"));
	knSceneChecks checks = { 0 };
	stepBuilt(&magnets, 90, &checks);
	assert_true(checkOf(&checks, "out_of_plane") < 1e-9);
	assert_true(checkOf(&checks, "tilt") < 1e-6);
	assert_near(checkOf(&checks, "outside"), 0.0, 0.0);
	assert_true(checkOf(&checks, "travelled") > 3.0);
	knSceneChecks_Free(&checks);
	destroy(&magnets);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_piles_stand),
		cmocka_unit_test(test_without_ground_bricks_fall_freely),
		cmocka_unit_test(test_landing_and_toppling),
		cmocka_unit_test(test_block_falls_on_a_tower),
		cmocka_unit_test(test_magnets_stay_in_their_plane),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
