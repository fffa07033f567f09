// What falls on the towers: when, where, how heavy, and that the facts count what they say.
#include "scene_test.h"

static void test_block_and_ball_appear(void** state) {
	(void)state;
	Built tower = BUILD("roof-tower", "layers", "8");
	double ballMass = 7800.0 * 4.0 / 3.0 * KN_PI * 0.125;
	for (int i = 0; i <= 200; ++i) {
		int before = knModel_BodyCount(knWorld_Model(tower.world));
		tower.args.entry->script(tower.world, &tower.args);
		const knModel* model = knWorld_Model(tower.world);
		int after = knModel_BodyCount(model);
		assert_int_equal(after - before, i == 50 || i == 200 ? 1 : 0);
		if (i == 50) {
			knBodyId block = knScene_FindBody(knModel_Scene(model), "block");
			assert_near(knModel_BodyMass(model, block).mass, 62500.0, 1e-6);
			assert_near3(knWorld_BodyCenter(tower.world, block), knV3(0.0, 0.0, 8 * 0.25 + 0.5 + 0.5), 1e-12);
			assert_near3(knWorld_BodyVelocity(tower.world, block), knZero3(), 0.0);
		}
		if (i == 200) {
			knBodyId ball = knScene_FindBody(knModel_Scene(model), "ball");
			assert_near(knModel_BodyMass(model, ball).mass, ballMass, 1e-6);
			assert_near3(knWorld_BodyVelocity(tower.world, ball), knV3(30.0, 0.0, 0.0), 0.0);
			assert_near(knWorld_BodyCenter(tower.world, ball).z, 1.0, 1e-12);
			assert_true(knWorld_BodyCenter(tower.world, ball).x < -(1.72 + 0.125 + 0.5));
		}
		assert_ok(knWorld_Step(tower.world, 0.01, NULL));
	}
	destroy(&tower);
}

// Eight layers without gravity (high enough for the ball to start clear of the ground): nothing presses, so the block
// keeps its height until the ball arrives.
static void test_facts_without_gravity(void** state) {
	(void)state;
	Built tower = BUILD("roof-tower", "layers", "8");
	assert_ok(knWorld_SetGravity(tower.world, knZero3()));
	knSceneChecks checks = { 0 };
	stepBuilt(&tower, 201, &checks);
	assert_near(checkOf(&checks, "brick_displacement"), 0.0, 1e-9);
	assert_near(checkOf(&checks, "brick_drift"), 0.0, 1e-9);
	assert_near(checkOf(&checks, "block_speed"), 0.0, 1e-12);
	assert_near(checkOf(&checks, "block_rise"), 0.0, 1e-12);
	knSceneChecks_Free(&checks);
	destroy(&tower);
}

static void test_no_shot(void** state) {
	(void)state;
	Built tower = BUILD("roof-tower", "layers", "1", "shot", "0");
	stepBuilt(&tower, 210, NULL);
	assert_int_equal(knModel_BodyCount(knWorld_Model(tower.world)), 21);
	destroy(&tower);
}

// Appearing bodies take the friction that the run has set for all shapes.
static void test_appearing_bodies_share_the_material(void** state) {
	(void)state;
	Built tower = BUILD("roof-tower", "layers", "1");
	knScene_EditShape(tower.scene, knScene_ShapeAt(tower.scene, 0))->friction = 0.25;
	Built other = tower;
	other.model = knModel_Create(tower.scene, NULL);
	knWorldDef def = knWorldDef_Default();
	other.world = knWorld_Create(other.model, &def, NULL);
	assert_non_null(other.world);
	stepBuilt(&other, 60, NULL);
	const knScene* scene = knModel_Scene(knWorld_Model(other.world));
	knShapeId last = knScene_ShapeAt(scene, knScene_ShapeSlots(scene) - 1);
	assert_true(KN_ID_EQUALS(knScene_GetShapeBody(scene, last), knScene_FindBody(scene, "block")));
	assert_near(knScene_GetShape(scene, last)->friction, 0.25, 0.0);
	knWorld_Destroy(other.world);
	knModel_Release(other.model);
	destroy(&tower);
}

static void test_roof_covers_the_tower(void** state) {
	(void)state;
	Built roof = build("falling-roof", NULL);
	// half a metre above the top, and wider than the tower's outer edge on all sides
	assert_near(centerOf(&roof, "plank0_0").z - 0.06, 32 * 0.25 + 0.5, 1e-12);
	assert_true(centerOf(&roof, "plank0_0").y < -1.845 && centerOf(&roof, "plank0_9").y > 1.845);
	assert_true(centerOf(&roof, "plank1_0").x < -1.845 && centerOf(&roof, "plank1_9").x > 1.845);
	destroy(&roof);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_block_and_ball_appear),
		cmocka_unit_test(test_facts_without_gravity),
		cmocka_unit_test(test_no_shot),
		cmocka_unit_test(test_appearing_bodies_share_the_material),
		cmocka_unit_test(test_roof_covers_the_tower),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
