// The silo: sizes in the sheet's ranges, half of each kind, all inside and clear of each other.
#include "scene_test.h"

static void test_contents(void** state) {
	(void)state;
	Built silo = build("silo", NULL);
	int spheres = 0, boxes = 0;
	double smallest = 1.0, largest = 0.0;
	for (int i = 0; i < knScene_ShapeSlots(silo.scene); ++i) {
		knShapeId shape = knScene_ShapeAt(silo.scene, i);
		if (KN_ID_IS_NULL(knScene_GetShapeBody(silo.scene, shape))) {
			continue;
		}
		const knGeom* geom = knScene_GetShapeGeom(silo.scene, shape);
		knVec3 size = knGeom_Size(geom);
		if (knGeom_Kind(geom) == KN_GEOM_SPHERE) {
			spheres += 1;
			smallest = knMin(smallest, size.x);
			largest = knMax(largest, size.x);
		} else {
			boxes += 1;
			assert_true(knMin(size.x, knMin(size.y, size.z)) >= 0.17);
			assert_true(knMax(size.x, knMax(size.y, size.z)) <= 0.3);
		}
	}
	assert_int_equal(spheres, 1500);
	assert_int_equal(boxes, 1500);
	assert_true(smallest >= 0.2 && smallest < 0.21 && largest <= 0.35 && largest > 0.34);
	destroy(&silo);
}

static void test_outside_counts(void** state) {
	(void)state;
	Built silo = BUILD("silo", "small", "1");
	knSceneChecks checks = { 0 };
	silo.args.entry->observe(silo.world, &silo.args, &checks);
	assert_near(checkOf(&checks, "outside"), 0.0, 0.0);
	knBodyId ball = knScene_FindBody(silo.scene, "ball0"), box = knScene_FindBody(silo.scene, "box1");
	assert_ok(knWorld_SetBodyFrame(silo.world, ball, knMakeFrame(knV3(0.0, 5.5, 1.0), knIdentityQ())));
	assert_ok(knWorld_SetBodyFrame(silo.world, box, knMakeFrame(knV3(0.0, 0.0, -1.0), knIdentityQ())));
	silo.args.entry->observe(silo.world, &silo.args, &checks);
	assert_near(checkOf(&checks, "outside"), 2.0, 0.0);
	destroy(&silo);
}

// rest_speed and rest_spin look at the last second only.
static void test_rest_is_of_the_last_second(void** state) {
	(void)state;
	Built silo = BUILD("silo", "objects", "1");
	silo.args.time = 1.5;
	knSceneChecks checks = { 0 };
	stepBuilt(&silo, 40, &checks);
	for (int i = 0; i < checks.count; ++i) {
		assert_string_not_equal(checks.names[i], "rest_speed");
	}
	stepBuilt(&silo, 15, &checks);
	assert_true(checkOf(&checks, "rest_speed") >= 0.0);
	destroy(&silo);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_outside_counts),
		cmocka_unit_test(test_rest_is_of_the_last_second),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
