// The net: bodies and lengths of the sheet, the corners' way when it is lifted.
#include "scene_test.h"

static void test_links_have_a_cell_each(void** state) {
	(void)state;
	Built net = build("net", NULL);
	int links = 0, knots = 0;
	for (int i = 0; i < knModel_BodyCount(net.model); ++i) {
		const knBodyDef* def = knScene_GetBody(net.scene, knModel_BodyAt(net.model, i));
		links += def->name[0] == 'l';
		knots += def->name[0] == 'k';
	}
	assert_int_equal(knots, 256);
	assert_int_equal(links, 480);
	assert_near(knDistance(centerOf(&net, "knot0_0"), centerOf(&net, "knot1_0")), 0.5, 1e-12);
	assert_near(knDistance(centerOf(&net, "knot7_8"), centerOf(&net, "knot7_9")), 0.5, 1e-12);
	// corners are level and fixed, the first link falls by 40 degrees, the last rises
	knVec3 corner = centerOf(&net, "knot0_0"), next = centerOf(&net, "knot1_0");
	assert_near(corner.z, centerOf(&net, "knot15_15").z, 1e-12);
	assert_near(corner.z, centerOf(&net, "knot15_0").z, 1e-12);
	assert_near(knAsin((next.z - corner.z) / 0.5), -40.0 * KN_PI / 180.0, 1e-9);
	assert_int_equal(knScene_GetBody(net.scene, knScene_FindBody(net.scene, "knot15_0"))->kind,
					 KN_BODY_FIXED);
	assert_near(massOf(&net, "box4"), 50.0, 1e-9);
	assert_near(centerOf(&net, "box4").z - 0.4 - corner.z, 0.5, 1e-12);
	destroy(&net);
}

// The corners rise by 6 m and move inwards by two fifths, evenly over 6 s, and then stay.
static void test_lift(void** state) {
	(void)state;
	Built net = BUILD("net", "lift", "1", "small", "1", "boxes", "0");
	knVec3 start = centerOf(&net, "knot0_5");
	assert_near(start.z, 0.06, 1e-12);
	stepBuilt(&net, 50, NULL);
	knVec3 expected = knAdd(start, knScale(0.5 / 6.0, knV3(-0.4 * start.x, -0.4 * start.y, 6.0)));
	assert_near3(centerOf(&net, "knot0_5"), expected, 1e-12);
	knBodyId corner = knScene_FindBody(net.scene, "knot0_5");
	assert_near(knWorld_BodyVelocity(net.world, corner).z, 1.0, 1e-12);
	assert_int_equal(knScene_GetBody(net.scene, corner)->kind, KN_BODY_KINEMATIC);
	destroy(&net);
}

static void test_outside_counts_boxes(void** state) {
	(void)state;
	Built net = BUILD("net", "small", "1");
	knSceneChecks checks = { 0 };
	net.args.entry->observe(net.world, &net.args, &checks);
	assert_near(checkOf(&checks, "outside"), 0.0, 0.0);
	knBodyId box = knScene_FindBody(net.scene, "box0");
	assert_ok(knWorld_SetBodyFrame(net.world, box, knMakeFrame(knV3(0.0, 0.0, 0.4), knIdentityQ())));
	net.args.entry->observe(net.world, &net.args, &checks);
	assert_near(checkOf(&checks, "outside"), 1.0, 0.0);
	destroy(&net);
}

// The net holds together and keeps the box above its links.
static void test_catches_a_box(void** state) {
	(void)state;
	Built net = BUILD("net", "small", "1");
	net.world = impulseWorld(&net);
	checkCarries(&net, 300, 5e-5, 0.02); // large islands are closed to 1e-4 of an arm
	// it has come to hang: the corners carry the box and the net
	assert_true(knLength(knWorld_BodyVelocity(net.world, knScene_FindBody(net.scene, "box0"))) < 0.2);
	destroy(&net);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links_have_a_cell_each),
		cmocka_unit_test(test_lift),
		cmocka_unit_test(test_outside_counts_boxes),
		cmocka_unit_test(test_catches_a_box),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
