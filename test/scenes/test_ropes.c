// Long bodies of hinges: how they are built, and what is known of their motion without simulating it.
#include "scene_test.h"

static void stepper(Built* built, const char* name) {
	knError error = { 0 };
	knWorldDef def = knWorldDef_Default();
	def.stepper = name;
	knWorld_Destroy(built->world);
	built->world = knWorld_Create(built->model, &def, &error);
	if (built->world == NULL) {
		fail_msg("%s", error.message);
	}
}

static knVec3 axisOf(const Built* built, int joint) {
	const knJointDef* def = knScene_GetJoint(built->scene, knModel_JointAt(built->model, joint));
	knFrame child = knWorld_BodyFrame(built->world, def->child);
	return knRotate(knMulQ(child.q, def->frameChild.q), knV3(1.0, 0.0, 0.0));
}

// Neighbouring hinges turn about perpendicular axes, both perpendicular to a straight rope.
static void test_hinges_alternate(void** state) {
	(void)state;
	Built pegs = build("pegs", NULL);
	assert_int_equal(knModel_JointCount(pegs.model), 200);
	for (int i = 0; i < 200; ++i) {
		assert_near(fabs(knDot(axisOf(&pegs, i), knV3(0.0, i % 2 == 0 ? 1.0 : 0.0, i % 2 == 0 ? 0.0 : 1.0))),
					1.0, 1e-12);
	}
	assert_near(knDistance(centerOf(&pegs, "link0"), centerOf(&pegs, "link199")), 199 * 0.1, 1e-9);
	destroy(&pegs);
}

// Another seed puts the pegs elsewhere; all within the pendulum's reach.
static void test_pegs_are_seeded(void** state) {
	(void)state;
	Built a = build("pegs", NULL), b = BUILD("pegs", "seed", "2");
	int pegs = 0, moved = 0;
	for (int i = 0; i < knScene_ShapeSlots(a.scene); ++i) {
		knShapeId shape = knScene_ShapeAt(a.scene, i);
		if (KN_ID_IS_NULL(knScene_GetShapeBody(a.scene, shape))) {
			knVec3 at = knScene_GetShape(a.scene, shape)->frame.p;
			knVec3 other = knScene_GetShape(b.scene, knScene_ShapeAt(b.scene, i))->frame.p;
			pegs += 1;
			moved += knDistance(at, other) > 1e-3;
			assert_true(knDistance(at, knV3(0.0, 0.0, 21.0)) < 20.0);
		}
	}
	assert_int_equal(pegs, 24);
	assert_true(moved > 20);
	destroy(&a);
	destroy(&b);
}

// Until something touches it, the tip of a chain released horizontally falls freely.
static void test_pegs_fall_until_hit(void** state) {
	(void)state;
	Built pegs = build("pegs", NULL);
	stepper(&pegs, "velocity");
	knVec3 before = centerOf(&pegs, "link199");
	knSceneChecks checks = { 0 };
	stepBuilt(&pegs, 30, &checks);
	assert_near(before.z - centerOf(&pegs, "link199").z, 0.5 * 9.81 * 0.3 * 0.3, 0.02);
	assert_near(checkOf(&checks, "hit"), 0.0, 0.0);
	stepBuilt(&pegs, 60, &checks);
	assert_true(checkOf(&checks, "hit") >= 1.0);
	assert_true(checkOf(&checks, "first_contact") > 0.3 && checkOf(&checks, "first_contact") <= 0.9);
	knSceneChecks_Free(&checks);
	destroy(&pegs);
}

// The needle goes as told, and the whole thread after it, through the holes and not beside them.
static void test_thread_goes_through_the_holes(void** state) {
	(void)state;
	Built thread = BUILD("threading", "small", "1");
	stepper(&thread, "impulse");
	knSceneChecks checks = { 0 };
	stepBuilt(&thread, 100, &checks);
	assert_near(checkOf(&checks, "left"), 0.0, 0.0);
	stepBuilt(&thread, 100, &checks);
	assert_near(checkOf(&checks, "travelled"), 2.0 * (2.0 - 0.5), 0.05);
	stepBuilt(&thread, 100, &checks);
	assert_near(checkOf(&checks, "holes_left"), 2.0, 0.0);
	assert_near(checkOf(&checks, "left"), 1.0, 0.0);
	assert_near(checkOf(&checks, "outside"), 0.0, 0.0);
	knSceneChecks_Free(&checks);
	destroy(&thread);
}

// The lowest coil hangs 0.3 m high: it falls freely on the ground, and the rest on it.
static void test_rope_falls_into_a_heap(void** state) {
	(void)state;
	Built pile = BUILD("rope-pile", "small", "1");
	stepper(&pile, "velocity");
	knSceneChecks checks = { 0 };
	stepBuilt(&pile, 100, &checks);
	assert_near(checkOf(&checks, "first_contact"), sqrt(2.0 * (0.3 - 0.015) / 9.81), 0.02);
	assert_near(checkOf(&checks, "outside"), 0.0, 0.0);
	assert_true(checkOf(&checks, "height") < 0.1);
	knSceneChecks_Free(&checks);
	destroy(&pile);
}

// Two methods agree when the ropes meet.
static void test_ropes_meet(void** state) {
	(void)state;
	double met[2];
	for (int i = 0; i < 2; ++i) {
		Built ropes = BUILD("two-ropes", "small", "1");
		stepper(&ropes, i == 0 ? "velocity" : "reduced");
		knSceneChecks checks = { 0 };
		stepBuilt(&ropes, 70, &checks);
		met[i] = checkOf(&checks, "first_contact");
		knSceneChecks_Free(&checks);
		destroy(&ropes);
	}
	assert_near(met[0], met[1], 0.05 * met[1]);
}

// A hump is longer than the way under it: the first that has run through has carried the whole snake ahead. With its
// drives off it stays.
static void test_snake_travels(void** state) {
	(void)state;
	for (int driven = 0; driven < 2; ++driven) {
		Built snake = BUILD("snake", "dofs", "60", "start", "dropped", "drive", driven == 1 ? "1" : "0");
		stepper(&snake, "impulse");
		knSceneChecks checks = { 0 };
		stepBuilt(&snake, 480, &checks);
		double travelled = checkOf(&checks, "travelled");
		// h^2 pi^2/(4 B) to second order
		double excess = 0.7 * 0.7 * KN_PI * KN_PI / (4.0 * 2.4);
		assert_near(travelled, driven == 1 ? excess : 0.0, driven == 1 ? 0.3 * excess : 0.01);
		assert_near(checkOf(&checks, "first_contact"), sqrt(2.0 * 0.5 / 9.81), 0.02);
		knSceneChecks_Free(&checks);
		destroy(&snake);
	}
}

// Wound around the beam every link touches it, to a tenth of a millimetre.
static void test_snake_wraps_the_beam(void** state) {
	(void)state;
	Built snake = build("snake", NULL);
	double turned = 0.0;
	knVec3 before = knZero3();
	for (int i = 0; i < 500; ++i) {
		char name[16];
		snprintf(name, sizeof(name), "link%d", i);
		knVec3 at = knSub(centerOf(&snake, name), knV3(0.0, 0.0, 4.0));
		at.x = 0.0;
		assert_near(knLength(at), 1.0 + 0.025, 2e-4);
		turned += i > 0 ? knAtan2(knLength(knCross(before, at)), knDot(before, at)) : 0.0;
		before = at;
	}
	assert_true(turned > 6.0 * 2.0 * KN_PI);
	destroy(&snake);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hinges_alternate),       cmocka_unit_test(test_pegs_are_seeded),
		cmocka_unit_test(test_pegs_fall_until_hit),    cmocka_unit_test(test_thread_goes_through_the_holes),
		cmocka_unit_test(test_rope_falls_into_a_heap), cmocka_unit_test(test_ropes_meet),
		cmocka_unit_test(test_snake_travels),          cmocka_unit_test(test_snake_wraps_the_beam),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
