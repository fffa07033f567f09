// Shock propagation: piles stand still and carry their load, and everything that should move does.
//
// Stillness is easy to fake, so each standing scene has live twins: it slides, falls, lands, topples and feels an
// accelerated ground as mechanics says. The published scheme stands beside the default one where they differ.
#include <stdio.h>

#include "scenes/scene_test.h"

#define G 9.81
#define DT 0.01

// The world once more with other settings or another step; the time of the run is that of the scene's facts.
static void restart(Built* built, const knSettings* settings, double dt) {
	knError error = { 0 };
	knWorldDef def = knWorldDef_Default();
	def.settings = settings;
	knWorld_Destroy(built->world);
	knModel_Release(built->model);
	knScene_Def(built->scene)->dt = dt;
	built->model = knModel_Create(built->scene, &error);
	assert_non_null(built->model);
	built->world = knWorld_Create(built->model, &def, &error);
	assert_non_null(built->world);
}

static knSettings paper(void) {
	knSettings settings = knSettings_Default();
	settings.scheme = KN_SCHEME_PAPER;
	return settings;
}

static double displacementOf(const Built* built) {
	return knWorld_Measure(built->world).displacement;
}

// --- standing --------------------------------------------------------------------------------------------

typedef struct Standing {
	const char* scene;
	const char* sets[7];
	double most;  // m, displacement
	double force; // relative error of the layer forces over the last second
} Standing;

static const Standing standing[] = {
	{ "box-stack", { "boxes", "5" }, 1e-5, 0.02 },
	{ "box-stack", { "boxes", "25" }, 1e-5, 0.02 },
	{ "wall", { "bricks", "40" }, 1e-5, 0.02 },
	{ "tower", { "layers", "8" }, 1e-5, 0.02 },
	{ "pyramid", { "base", "8" }, 1e-5, 0.02 },
	{ "ball-grid", { "n", "4", "walls", "1", "pitch", "1" }, 1e-5, 0.02 },
	{ "cantilever", { NULL }, 1e-4, 0.02 },
	{ "unequal-pillars", { NULL }, 1e-4, 0.02 },
	{ "card-house", { NULL }, 5e-3, 0.02 },
	{ "plate", { NULL }, 1e-5, 0.01 },
	{ "arch", { NULL }, 1e-3, 0.02 },
};
#define STANDING_COUNT (sizeof(standing) / sizeof(standing[0]))

// The scene with one more setting.
static Built buildTwin(const Standing* one, const char* name, const char* value) {
	const char* sets[10] = { NULL };
	int count = 0;
	for (; one->sets[count] != NULL; ++count) {
		sets[count] = one->sets[count];
	}
	sets[count] = name;
	sets[count + 1] = value;
	return build(one->scene, sets);
}

static void test_piles_stand_and_carry(void** state) {
	(void)state;
	for (size_t i = 0; i < STANDING_COUNT; ++i) {
		Built pile = buildTwin(&standing[i], NULL, NULL);
		pile.args.time = 3.0;
		knSceneChecks checks = { 0 };
		double penetration = 0.0;
		for (int k = 0; k < 20; ++k) {
			stepBuilt(&pile, 10, NULL);
			penetration = knMax(penetration, penetrationOf(&pile));
		}
		stepBuilt(&pile, 100, &checks);
		if (displacementOf(&pile) > standing[i].most || penetration > 1e-5) {
			fail_msg("%s: moved %g m, overlaps %g m", standing[i].scene, displacementOf(&pile), penetration);
		}
		assert_near(checkOf(&checks, "layer_force_min"), 1.0, standing[i].force);
		assert_near(checkOf(&checks, "layer_force_max"), 1.0, standing[i].force);
		knSceneChecks_Free(&checks);
		destroy(&pile);
	}
}

// Without its ground every body of the pile falls as if it were alone: g t (t + dt)/2.
static void test_piles_fall_freely(void** state) {
	(void)state;
	for (size_t i = 0; i < STANDING_COUNT; ++i) {
		Built pile = buildTwin(&standing[i], "twin", "2");
		stepBuilt(&pile, 100, NULL);
		knVec3 before[512];
		int count = knModel_BodyCount(pile.model);
		assert_true(count <= 512);
		for (int b = 0; b < count; ++b) {
			before[b] = knWorld_BodyCenter(pile.world, knModel_BodyAt(pile.model, b));
		}
		stepBuilt(&pile, 50, NULL);
		for (int b = 0; b < count; ++b) {
			knVec3 expected = knSub(before[b], knV3(0.0, 0.0, 0.5 * G * 0.5 * 0.5));
			assert_near3(knWorld_BodyCenter(pile.world, knModel_BodyAt(pile.model, b)), expected, 1e-6);
		}
		destroy(&pile);
	}
}

// A body that starts 1 mm high lands: afterwards the pile is as high as ever and nothing moves.
static void test_raised_bodies_land(void** state) {
	(void)state;
	for (size_t i = 0; i < STANDING_COUNT; ++i) {
		Built plain = buildTwin(&standing[i], NULL, NULL), pile = buildTwin(&standing[i], "twin", "3");
		stepBuilt(&pile, 100, NULL);
		for (int b = 0; b < knModel_BodyCount(pile.model); ++b) {
			knBodyId body = knModel_BodyAt(pile.model, b);
			double height = knWorld_BodyCenter(plain.world, knModel_BodyAt(plain.model, b)).z;
			// the arch and the leaning cards settle as what was raised comes down on them
			bool leans =
				strcmp(standing[i].scene, "arch") == 0 || strcmp(standing[i].scene, "card-house") == 0;
			double slack = leans ? 1e-3 : 1e-4;
			assert_near(knWorld_BodyCenter(pile.world, body).z, height, slack);
			assert_true(knLength(knWorld_BodyVelocity(pile.world, body)) < 1e-4);
		}
		destroy(&plain);
		destroy(&pile);
	}
}

static void test_shifted_piles_topple(void** state) {
	(void)state;
	for (size_t i = 0; i < STANDING_COUNT; ++i) {
		Built pile = buildTwin(&standing[i], "twin", "4");
		stepBuilt(&pile, 150, NULL);
		if (displacementOf(&pile) < 0.05) {
			fail_msg("%s: moved only %g m", standing[i].scene, displacementOf(&pile));
		}
		destroy(&pile);
	}
}

static void test_accelerated_piles_press_harder(void** state) {
	(void)state;
	for (size_t i = 0; i < STANDING_COUNT; ++i) {
		Built pile = buildTwin(&standing[i], "twin", "5");
		pile.args.time = 2.0;
		knSceneChecks checks = { 0 };
		stepBuilt(&pile, 200, &checks);
		double expected = (G + 2.0) / G;
		assert_near(checkOf(&checks, "layer_force_min"), expected, 0.02 * expected);
		assert_near(checkOf(&checks, "layer_force_max"), expected, 0.02 * expected);
		knSceneChecks_Free(&checks);
		destroy(&pile);
	}
}

// One layer on a slope of 0.9 and 1.1 of the friction angle: holds; slides by g (sin - mu cos).
static void test_one_layer_on_a_slope(void** state) {
	(void)state;
	static const Standing layers[] = {
		{ "box-stack", { "boxes", "1" }, 0.0, 0.0 },
		{ "wall", { "bricks", "20" }, 0.0, 0.0 },
		{ "tower", { "layers", "1" }, 0.0, 0.0 },
		{ "pyramid", { "base", "1" }, 0.0, 0.0 },
	};
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); ++i) {
		for (int steep = 0; steep < 2; ++steep) {
			double angle = (steep ? 1.1 : 0.9) * knAtan2(0.6, 1.0);
			Built layer = buildTwin(&layers[i], NULL, NULL);
			knScene_Def(layer.scene)->gravity = knV3(G * knSin(angle), 0.0, -G * knCos(angle));
			restart(&layer, NULL, DT);
			stepBuilt(&layer, 100, NULL);
			double expected = steep ? G * (knSin(angle) - 0.6 * knCos(angle)) : 0.0;
			for (int b = 0; b < knModel_BodyCount(layer.model); ++b) {
				knVec3 v = knWorld_BodyVelocity(layer.world, knModel_BodyAt(layer.model, b));
				assert_near(v.x, expected, steep ? 0.02 * expected : 1e-4);
			}
			assert_true(steep || displacementOf(&layer) < 1e-5);
			destroy(&layer);
		}
	}
}

// --- both schemes ----------------------------------------------------------------------------------------

// The published step carries the share 0.01 of a load, the default all of it.
static void test_schemes_side_by_side(void** state) {
	(void)state;
	knSettings published = paper();
	double force[2], slid[2], turned[2];
	for (int scheme = 0; scheme < 2; ++scheme) {
		const knSettings* settings = scheme == 0 ? NULL : &published;
		Built plate = build("plate", NULL), stack = build("struck-stack", NULL);
		Built seeSaw = build("see-saw", NULL);
		restart(&plate, settings, DT);
		restart(&stack, settings, DT);
		restart(&seeSaw, settings, DT);
		plate.args.time = 4.0;
		knSceneChecks ofPlate = { 0 }, ofStack = { 0 }, ofSeeSaw = { 0 };
		stepBuilt(&plate, 400, &ofPlate);
		stepBuilt(&stack, 200, &ofStack);
		stepBuilt(&seeSaw, 40, &ofSeeSaw);
		force[scheme] = checkOf(&ofPlate, "layer_force_min");
		slid[scheme] = checkOf(&ofStack, "slid");
		turned[scheme] = checkOf(&ofSeeSaw, "turned");
		knSceneChecks_Free(&ofPlate);
		knSceneChecks_Free(&ofStack);
		knSceneChecks_Free(&ofSeeSaw);
		destroy(&plate);
		destroy(&stack);
		destroy(&seeSaw);
	}
	assert_near(force[0], 1.0, 0.01);
	assert_true(force[1] < 0.1);
	assert_near(slid[0], 0.34, 0.15 * 0.34);
	assert_true(slid[1] > 2.0);
	assert_true(turned[0] > 0.2);
	assert_true(turned[1] < 0.01);
}

// Balls on a lattice of 0.8 of their diameter: layers take the overlap out within six steps, sweeps alone do not.
static void test_layers_resolve_severe_overlap(void** state) {
	(void)state;
	knSettings without = knSettings_Default();
	without.shock = 0;
	Built grid = BUILD("ball-grid", "n", "4");
	stepBuilt(&grid, 6, NULL);
	assert_true(penetrationOf(&grid) < 1e-4);
	restart(&grid, &without, DT);
	stepBuilt(&grid, 6, NULL);
	assert_true(penetrationOf(&grid) > 1e-3);
	destroy(&grid);
}

// --- real motion is not damped ---------------------------------------------------------------------------

// The scene's facts at the usual step and at a tenth of it.
static void compareWithSmallSteps(const char* scene, const char* const* sets, const char* fact, double time,
								  double slack) {
	double value[2];
	for (int fine = 0; fine < 2; ++fine) {
		Built built = build(scene, sets);
		double dt = fine ? 0.1 * DT : DT;
		restart(&built, NULL, dt);
		knSceneChecks checks = { 0 };
		stepBuilt(&built, (int)(time / dt + 0.5), &checks);
		value[fine] = checkOf(&checks, fact);
		knSceneChecks_Free(&checks);
		destroy(&built);
	}
	if (knAbs(value[0] - value[1]) > slack * knAbs(value[1])) {
		fail_msg("%s: %s is %g, with small steps %g", scene, fact, value[0], value[1]);
	}
}

static void test_motion_agrees_with_small_steps(void** state) {
	(void)state;
	const char* const steep[] = { "angle", "40", NULL };
	compareWithSmallSteps("slope", steep, "slid", 1.0, 0.02);
	compareWithSmallSteps("see-saw", NULL, "turned", 0.5, 0.06);
	compareWithSmallSteps("struck-stack", NULL, "slid", 1.5, 0.10);
}

// When the last of eight dominoes has fallen, s.
static double fallTime(double dt) {
	Built dominoes = BUILD("dominoes", "count", "8");
	restart(&dominoes, NULL, dt);
	knSceneChecks checks = { 0 };
	int steps = 0;
	stepBuilt(&dominoes, 1, &checks);
	for (; checkOf(&checks, "fallen") < 8.0 && steps * dt < 5.0; ++steps) {
		stepBuilt(&dominoes, 1, &checks);
	}
	knSceneChecks_Free(&checks);
	destroy(&dominoes);
	return steps * dt;
}

static void test_dominoes_fall_in_time(void** state) {
	(void)state;
	double reference = fallTime(0.1 * DT);
	assert_true(reference < 4.0);
	assert_near(fallTime(DT), reference, 0.05 * reference);
}

// A tall box 0.1 rad beyond its balance turns about its edge like a physical pendulum upside down: friction is enough to
// hold the edge, so energy gives its angular velocity.
static void test_box_topples(void** state) {
	(void)state;
	double value[2];
	for (int fine = 0; fine < 2; ++fine) {
		Built pile = BUILD("box-stack", "boxes", "1", "twin", "0");
		knBodyDef* body = knScene_EditBody(pile.scene, knScene_FindBody(pile.scene, "box0"));
		double lean = 0.25 * KN_PI + 0.1;
		body->frame.q = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), lean);
		body->frame.p.z = sqrt(0.5) * knCos(0.1);
		restart(&pile, NULL, fine ? 0.1 * DT : DT);
		stepBuilt(&pile, fine ? 400 : 40, NULL);
		value[fine] = knWorld_BodyAngularVelocity(pile.world, knScene_FindBody(pile.scene, "box0")).y;
		knVec3 center = knWorld_BodyCenter(pile.world, knScene_FindBody(pile.scene, "box0"));
		double drop = body->frame.p.z - center.z;
		double inertia = 1000.0 * (1.0 / 6.0 + 0.5); // about the edge
		assert_near(value[fine], sqrt(2.0 * 1000.0 * G * drop / inertia), 0.02 * value[fine]);
		destroy(&pile);
	}
	assert_true(value[1] > 0.5);
	assert_near(value[0], value[1], 0.05 * value[1]);
}

// Degrees by which a ball of the cradle hangs off, positive to the side of the first.
static double swingOf(const Built* cradle, int ball) {
	char name[16];
	snprintf(name, sizeof(name), "ball%d", ball);
	knBodyId body = knScene_FindBody(cradle->scene, name);
	knVec3 down = knRotate(knWorld_BodyFrame(cradle->world, body).q, knV3(0.0, 0.0, -1.0));
	return knAtan2(-down.x, -down.z) * 180.0 / KN_PI;
}

// As many balls swing out on the other side as were lifted, as far as those; all others hang. A second after its release a
// pendulum of 1 m is at its other end, at usual and at small steps.
static void test_cradle_passes_the_blow(void** state) {
	(void)state;
	const char* const lifted[] = { "1", "2", "4" };
	for (int k = 0; k < 6; ++k) {
		Built cradle = BUILD("cradle", "lifted", lifted[k % 3]);
		double dt = k >= 3 ? 0.1 * DT : DT;
		int count = lifted[k % 3][0] - '0';
		restart(&cradle, NULL, dt);
		knMeasures before = knWorld_Measure(cradle.world);
		stepBuilt(&cradle, (int)(1.0 / dt + 0.5), NULL);
		for (int i = 0; i < 5; ++i) {
			assert_near(swingOf(&cradle, i), i >= 5 - count ? -30.0 : 0.0, 0.5);
		}
		knMeasures after = knWorld_Measure(cradle.world);
		double change = after.kinetic + after.potential - before.kinetic - before.potential;
		double energy = count * massOf(&cradle, "ball0") * G * (1.0 - knCos(KN_PI / 6.0));
		assert_true(knAbs(change) < 0.005 * energy);
		stepBuilt(&cradle, (int)(1.0 / dt + 0.5), NULL);
		assert_near(swingOf(&cradle, 0), 30.0, 1.0);
		destroy(&cradle);
	}
}

// --- rolling resistance in piles -------------------------------------------------------------------------

// Balls and boxes in a bin: without resistance some balls roll on, with an arm of a millimetre everything rests.
static void test_resisting_pile_comes_to_rest(void** state) {
	(void)state;
	knSettings settings = knSettings_Default();
	settings.rolling = 1e-3;
	Built silo = BUILD("silo", "objects", "60");
	restart(&silo, &settings, DT);
	silo.args.time = 9.0;
	knSceneChecks checks = { 0 };
	stepBuilt(&silo, 900, &checks);
	assert_true(checkOf(&checks, "rest_speed") < 1e-3);
	assert_true(checkOf(&checks, "rest_spin") < 1e-2);
	assert_near(checkOf(&checks, "outside"), 0.0, 0.0);
	assert_true(penetrationOf(&silo) < 1e-4);
	knSceneChecks_Free(&checks);
	destroy(&silo);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_piles_stand_and_carry),
		cmocka_unit_test(test_piles_fall_freely),
		cmocka_unit_test(test_raised_bodies_land),
		cmocka_unit_test(test_shifted_piles_topple),
		cmocka_unit_test(test_accelerated_piles_press_harder),
		cmocka_unit_test(test_one_layer_on_a_slope),
		cmocka_unit_test(test_schemes_side_by_side),
		cmocka_unit_test(test_layers_resolve_severe_overlap),
		cmocka_unit_test(test_motion_agrees_with_small_steps),
		cmocka_unit_test(test_dominoes_fall_in_time),
		cmocka_unit_test(test_box_topples),
		cmocka_unit_test(test_cradle_passes_the_blow),
		cmocka_unit_test(test_resisting_pile_comes_to_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
