// The card house: its cards touch and do not overlap; it is the friction that holds it.
#include "scene_test.h"

static void test_cards_touch(void** state) {
	(void)state;
	Built house = BUILD("card-house", "rows", "2");
	assert_int_equal(knModel_BodyCount(house.model), 7);
	for (int i = 0; i < 7; ++i) {
		assert_near(knModel_BodyMass(house.model, knModel_BodyAt(house.model, i)).mass, 12.0, 1e-9);
	}
	// feet stand on the ground and on the level card; pairs lean on each other
	assert_true(penetrationOf(&house) < 1e-12);
	knContactPoint points[8];
	const knScene* scene = house.scene;
	static const char* const pairs[][2] = { { "card0_0a", "card0_0b" }, { "card0_0b", "level0_0" },
											{ "card0_1a", "level0_0" }, { "level0_0", "card1_0a" },
											{ "level0_0", "card1_0b" }, { "card1_0a", "card1_0b" } };
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
		knBodyId a = knScene_FindBody(scene, pairs[i][0]), b = knScene_FindBody(scene, pairs[i][1]);
		knVec3 half = knV3(0.01, 0.3, 0.5), level = knV3(0.5, 0.3, 0.01);
		knGeom* geomA = knGeom_Box(pairs[i][0][0] == 'l' ? level : half, NULL, NULL);
		knGeom* geomB = knGeom_Box(pairs[i][1][0] == 'l' ? level : half, NULL, NULL);
		int count = knCollide_Pair(geomA, knWorld_BodyFrame(house.world, a), geomB,
								   knWorld_BodyFrame(house.world, b), 1e-6, points, 8);
		assert_true(count > 0);
		knGeom_Release(geomA);
		knGeom_Release(geomB);
	}
	destroy(&house);
}

static void test_lean(void** state) {
	(void)state;
	Built house = build("card-house", NULL);
	knBodyId card = knScene_FindBody(house.scene, "card1_1a");
	knVec3 up = knRotate(knWorld_BodyFrame(house.world, card).q, knV3(0.0, 0.0, 1.0));
	assert_near(knAcos(up.z), 15.0 * KN_PI / 180.0, 1e-12);
	assert_true(up.x > 0.0); // the left card leans to the right
	destroy(&house);
}

static void test_falls_without_friction(void** state) {
	(void)state;
	Built house = BUILD("card-house", "rows", "1");
	for (int i = 0; i < knScene_ShapeSlots(house.scene); ++i) {
		knScene_EditShape(house.scene, knScene_ShapeAt(house.scene, i))->friction = 0.1;
	}
	knModel* model = knModel_Create(house.scene, NULL);
	knWorldDef def = knWorldDef_Default();
	knWorld* world = knWorld_Create(model, &def, NULL);
	for (int i = 0; i < 100; ++i) {
		assert_ok(knWorld_Step(world, 0.01, NULL));
	}
	assert_true(knWorld_Measure(world).displacement > 0.2);
	stepBuilt(&house, 100, NULL); // tan 15 = 0.27, so the pair stands at 0.6
	assert_true(knWorld_Measure(house.world).displacement < 5e-3);
	knWorld_Destroy(world);
	knModel_Release(model);
	destroy(&house);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cards_touch),
		cmocka_unit_test(test_lean),
		cmocka_unit_test(test_falls_without_friction),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
