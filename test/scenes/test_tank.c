// The tank: the sheet's parts, a loop of pins that fits the gears, and joints that come and go with nearness alone.
#include "scene_test.h"

static int attachedCount(const knWorld* world) {
	int count = 0;
	for (int i = 0; i < knWorld_AttachedSlots(world); ++i) {
		count += !KN_ID_IS_NULL(knWorld_AttachedAt(world, i));
	}
	return count;
}

static void test_parts(void** state) {
	(void)state;
	Built tank = build("tank", NULL);
	assert_int_equal(knModel_BodyCount(tank.model), 1 + 1 + 1 + 6 + 68);
	assert_int_equal(knModel_JointCount(tank.model), 1 + 1 + 6 + 68);
	// links are 0.2 m from pin to pin, all around
	for (int side = 0; side < 2; ++side) {
		for (int k = 0; k < 34; ++k) {
			char a[32], b[32];
			snprintf(a, sizeof(a), "link_%s%d", side == 0 ? "left" : "right", k);
			snprintf(b, sizeof(b), "link_%s%d", side == 0 ? "left" : "right", (k + 1) % 34);
			knFrame fa = knWorld_BodyFrame(tank.world, knScene_FindBody(tank.scene, a));
			knFrame fb = knWorld_BodyFrame(tank.world, knScene_FindBody(tank.scene, b));
			assert_near3(knPoint(fa, knV3(0.1, 0.0, 0.0)), knPoint(fb, knV3(-0.1, 0.0, 0.0)), 1e-12);
		}
	}
	destroy(&tank);
}

// Seven pins lie in slots of each outer gear; all but two at both ends are held, exactly closed.
static void test_first_attachments(void** state) {
	(void)state;
	Built tank = build("tank", NULL);
	tank.args.entry->script(tank.world, &tank.args);
	assert_int_equal(attachedCount(tank.world), 4 * 3);
	assert_true(knWorld_Measure(tank.world).jointError < 1e-12);
	// once more: nothing moved, nothing changes
	tank.args.entry->script(tank.world, &tank.args);
	assert_int_equal(attachedCount(tank.world), 4 * 3);
	// the gears gone, every link is let go
	for (int side = 0; side < 2; ++side) {
		for (int gear = 0; gear < 3; gear += 2) {
			char name[32];
			snprintf(name, sizeof(name), "gear_%s%d", side == 0 ? "left" : "right", gear);
			knBodyId body = knScene_FindBody(tank.scene, name);
			knFrame frame = knWorld_BodyFrame(tank.world, body);
			frame.p.z += 5.0;
			assert_ok(knWorld_SetBodyFrame(tank.world, body, frame));
		}
	}
	tank.args.entry->script(tank.world, &tank.args);
	assert_int_equal(attachedCount(tank.world), 0);
	destroy(&tank);
}

// The script holds no memory: a restored world goes on as the first did.
static void test_restored_tank_goes_on(void** state) {
	(void)state;
	Built a = build("tank", NULL), b = build("tank", NULL);
	stepBuilt(&a, 20, NULL);
	size_t size = knWorld_StateSize(a.world);
	void* memory = malloc(size);
	assert_ok(knWorld_Save(a.world, memory, size));
	assert_ok(knWorld_Restore(b.world, memory, size, NULL));
	free(memory);
	stepBuilt(&a, 20, NULL);
	stepBuilt(&b, 20, NULL);
	assert_true(knWorld_Hash(a.world) == knWorld_Hash(b.world));
	destroy(&a);
	destroy(&b);
}

// Treads that hold the ground carry the hull ahead by the gears' turn times their radius, within a tenth.
static void test_drives_ahead(void** state) {
	(void)state;
	Built tank = build("tank", NULL);
	knSceneChecks checks = { 0 };
	stepBuilt(&tank, 90, &checks);
	double r = 0.1 / knSin(KN_PI / 12.0), turned = 3.0 * (1.5 - 0.25); // 1.5 s, the first half second a ramp
	assert_near(checkOf(&checks, "travelled"), r * turned, 0.1 * r * turned);
	assert_near(checkOf(&checks, "turned"), 0.0, 0.1);
	destroy(&tank);
}

// Treads opposed: the tank turns where it is, the treads stay on their gears, and all joints closed while links are taken and let go.
static void test_turns_in_place(void** state) {
	(void)state;
	Built tank = BUILD("tank", "drive", "turn");
	tank.world = impulseWorld(&tank);
	knSceneChecks checks = { 0 };
	double worst = 0.0;
	for (int i = 0; i < 120; ++i) {
		stepBuilt(&tank, 1, &checks);
		worst = knMax(worst, knWorld_Measure(tank.world).jointError);
	}
	assert_true(checkOf(&checks, "turned") > 0.5);
	assert_true(checkOf(&checks, "travelled") < 0.5);
	assert_true(checkOf(&checks, "link_offset") < 0.5);
	assert_true(checkOf(&checks, "attached") >= 12.0);
	assert_true(worst < 1e-9);
	destroy(&tank);
}

// In free fall, with nothing but itself to push against: as the treads start, the hull turns the other way, and angular
// momentum stays zero.
static void test_hull_turns_against_treads(void** state) {
	(void)state;
	Built tank = BUILD("tank", "drive", "straight");
	tank.world = impulseWorld(&tank);
	knBodyId hull = knScene_FindBody(tank.scene, "hull");
	for (int i = 0; i < knModel_BodyCount(tank.model); ++i) {
		// away from the ground
		knBodyId body = knModel_BodyAt(tank.model, i);
		knFrame frame = knWorld_BodyFrame(tank.world, body);
		frame.p.z += 10.0;
		assert_ok(knWorld_SetBodyFrame(tank.world, body, frame));
	}
	double lowest = 0.0;
	for (int i = 0; i < 60; ++i) {
		stepBuilt(&tank, 1, NULL);
		lowest = knMin(lowest, knWorld_BodyAngularVelocity(tank.world, hull).y);
		assert_true(knLength(knWorld_Measure(tank.world).angularMomentum) < 1e-8);
	}
	// the treads' links alone weigh more than a third of the tank
	assert_true(lowest < -0.1);
	destroy(&tank);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_first_attachments),
		cmocka_unit_test(test_restored_tank_goes_on),
		cmocka_unit_test(test_drives_ahead),
		cmocka_unit_test(test_turns_in_place),
		cmocka_unit_test(test_hull_turns_against_treads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
