// The inclined plane: its slope and size, friction, balls in range, and what counts as outside.
#include "scene_test.h"

static knShapeId findShape(const Built* built, const char* name) {
	for (int i = 0; i < knScene_ShapeSlots(built->scene); ++i) {
		knShapeId shape = knScene_ShapeAt(built->scene, i);
		const char* found = knScene_GetShape(built->scene, shape)->name;
		if (found != NULL && strcmp(found, name) == 0) {
			return shape;
		}
	}
	fail_msg("no shape '%s'", name);
	return (knShapeId){ 0, 0 };
}

static void test_plane(void** state) {
	(void)state;
	Built letters = build("letters", NULL);
	knShapeId plane = findShape(&letters, "plane");
	const knShapeDef* def = knScene_GetShape(letters.scene, plane);
	knVec3 up = knRotate(def->frame.q, knV3(0.0, 0.0, 1.0));
	knAabb box = knGeom_Aabb(knScene_GetShapeGeom(letters.scene, plane), knIdentityF());
	assert_near(knAcos(up.z), 20.0 * KN_PI / 180.0, 1e-12);
	assert_near3(box.lower, knV3(-15.0, -8.0, -0.4), 1e-12); // the letters are 0.4 m deep
	assert_near3(box.upper, knV3(15.0, 8.0, 0.0), 1e-12);
	// its lower edge lies on the floor
	knVec3 edge = knPoint(def->frame, knV3(box.upper.x, 0.0, 0.0));
	assert_near(edge.z, 0.0, 1e-9);
	for (int i = 0; i < knScene_ShapeSlots(letters.scene); ++i) {
		assert_near(knScene_GetShape(letters.scene, knScene_ShapeAt(letters.scene, i))->friction, 0.5, 0.0);
	}
	assert_int_equal(knModel_BodyCount(letters.model), 1000);
	destroy(&letters);
}

static void test_balls_start_inside(void** state) {
	(void)state;
	Built letters = BUILD("letters", "rolling", "0.02");
	knSceneChecks checks = { 0 };
	letters.args.entry->observe(letters.world, &letters.args, &checks);
	assert_near(checkOf(&checks, "outside"), 0.0, 0.0);
	for (int i = 0; i < 1000; ++i) {
		char name[16];
		snprintf(name, sizeof(name), "ball%d", i);
		double volume = massOf(&letters, name) / 1000.0, radius = cbrt(volume * 3.0 / (4.0 * KN_PI));
		assert_true(radius > 0.0999 && radius < 0.3001);
	}
	// under the plane, beside it, below the floor
	static const knVec3 places[] = { { -14.0, 0.0, 1.0 }, { -1.0, 9.0, 1.0 }, { 5.0, 0.0, -1.0 } };
	for (int i = 0; i < 3; ++i) {
		knBodyId ball = knModel_BodyAt(letters.model, i);
		assert_ok(knWorld_SetBodyFrame(letters.world, ball, knMakeFrame(places[i], knIdentityQ())));
	}
	letters.args.entry->observe(letters.world, &letters.args, &checks);
	assert_near(checkOf(&checks, "outside"), 3.0, 0.0);
	destroy(&letters);
}

// Of a ball in the foot of the middle letter, and one beside it: the first lies in the groove, the second on the plane.
static void test_letters_are_engraved(void** state) {
	(void)state;
	Built letters = BUILD("letters", "balls", "2", "rolling", "0.05");
	knFrame plane = knScene_GetShape(letters.scene, findShape(&letters, "plane"))->frame;
	// the C of KNUCKLE: its foot is half a letter, 3.3 m, below the middle; between it and the lower edge is nothing
	const double down[2] = { 3.3, 6.0 };
	for (int i = 0; i < 2; ++i) {
		knFrame frame = knMakeFrame(knPoint(plane, knV3(down[i], 0.0, 0.35)), knIdentityQ());
		assert_ok(knWorld_SetBodyFrame(letters.world, knModel_BodyAt(letters.model, i), frame));
	}
	knSceneChecks checks = { 0 };
	stepBuilt(&letters, 100, &checks);
	assert_near(checkOf(&checks, "caught"), 1.0, 0.0);
	assert_near(checkOf(&checks, "outside"), 0.0, 0.0);
	assert_true(knInvPoint(plane, knWorld_BodyCenter(letters.world, knModel_BodyAt(letters.model, 0))).z <
				-0.09);
	destroy(&letters);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plane),
		cmocka_unit_test(test_balls_start_inside),
		cmocka_unit_test(test_letters_are_engraved),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
