// The published step of the reduced stepper and its integrators: energies, orders, impacts, resting contact, loops.
#include "scenes/scene_test.h"

static knWorld* makeWorld(const knModel* model, const char* scheme, const char* integrator) {
	knError error = { 0 };
	knSettings settings = knSettings_Default();
	assert_ok(knSettings_Set(&settings, "scheme", scheme, &error));
	assert_ok(knSettings_Set(&settings, "integrator", integrator, &error));
	assert_ok(knSettings_Set(&settings, "tolerance", "1e-12", &error));
	knWorldDef def = knWorldDef_Default();
	def.stepper = "reduced";
	def.settings = &settings;
	knWorld* world = knWorld_Create(model, &def, &error);
	assert_non_null(world);
	return world;
}

static void run(knWorld* world, double dt, int steps) {
	knError error = { 0 };
	for (int i = 0; i < steps; ++i) {
		assert_ok(knWorld_Step(world, dt, &error));
	}
}

static double energyOf(knWorld* world) {
	knMeasures measures = knWorld_Measure(world);
	return measures.kinetic + measures.potential;
}

// Of three rods, before they could touch.
static double energyError(const Built* built, const char* integrator, double dt, int steps) {
	knWorld* world = makeWorld(built->model, "default", integrator);
	double start = energyOf(world);
	run(world, dt, steps);
	double error = fabs(energyOf(world) - start) / (9.81 * 4.5);
	knWorld_Destroy(world);
	return error;
}

static void energies_are_kept(void** state) {
	(void)state;
	Built built = BUILD("pendulum", "links", "3");
	assert_true(energyError(&built, "rk4", 0.004, 200) < 1e-6);
	assert_true(energyError(&built, "embedded", 0.01, 80) < 1e-7);
	double euler = energyError(&built, "euler", 0.004, 200), finer = energyError(&built, "euler", 0.002, 400);
	assert_true(finer < euler / 1.7);
	destroy(&built);
}

// The last rod's centre under another integrator, against the embedded pair.
static double wayOff(const Built* built, const char* integrator, double dt, int steps) {
	knVec3 p[2];
	for (int k = 0; k < 2; ++k) {
		knWorld* world = makeWorld(built->model, "default", k == 0 ? integrator : "embedded");
		run(world, dt, steps);
		p[k] = knWorld_BodyFrame(world, knScene_FindBody(built->scene, "link1")).p;
		knWorld_Destroy(world);
	}
	return knLength(knSub(p[0], p[1]));
}

static void rk4_is_of_fourth_order(void** state) {
	(void)state;
	Built built = BUILD("pendulum", "links", "2");
	double coarse = wayOff(&built, "rk4", 0.005, 240), fine = wayOff(&built, "rk4", 0.0025, 480);
	print_message("rk4: %.3g, %.3g\n", coarse, fine);
	assert_true(fine < coarse / 12.0);
	assert_true(fine < 1e-8);
	destroy(&built);
}

static void the_implicit_step_agrees_with_second_order(void** state) {
	(void)state;
	Built built = BUILD("pendulum", "links", "2");
	double coarse = wayOff(&built, "implicit", 0.008, 100), fine = wayOff(&built, "implicit", 0.004, 200);
	print_message("double pendulum: %.3g, %.3g\n", coarse, fine);
	assert_true(fine < coarse / 3.5);
	destroy(&built);
}

static void a_block_rests_on_a_slope(void** state) {
	(void)state;
	Built built = BUILD("slope", NULL);
	knWorld* world = makeWorld(built.model, "paper", "rk4");
	double before = energyOf(world);
	run(world, 0.01, 300);
	assert_true(knWorld_Measure(world).displacement < 1e-9);
	assert_true(fabs(energyOf(world) - before) < 1e-9);
	knWorld_Destroy(world);
	destroy(&built);
}

static void loops_stay_closed(void** state) {
	(void)state;
	const char* names[] = { "four-bar", "bricard" };
	for (int k = 0; k < 2; ++k) {
		Built built = BUILD(names[k], NULL);
		knWorld* world = makeWorld(built.model, "paper", "rk4");
		double start = energyOf(world);
		run(world, 0.004, 250);
		assert_true(knWorld_Measure(world).jointError < 1e-10);
		assert_true(fabs(energyOf(world) - start) < 1e-5 * fabs(start));
		knWorld_Destroy(world);
		destroy(&built);
	}
}

static void the_implicit_integrator_is_not_published(void** state) {
	(void)state;
	Built built = BUILD("pendulum", NULL);
	knError error = { 0 };
	knSettings settings = knSettings_Default();
	settings.scheme = KN_SCHEME_PAPER;
	settings.reduced.integrator = 3;
	knWorldDef def = knWorldDef_Default();
	def.stepper = "reduced";
	def.settings = &settings;
	assert_null(knWorld_Create(built.model, &def, &error));
	assert_int_equal(error.status, KN_UNSUPPORTED);
	destroy(&built);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energies_are_kept),
		cmocka_unit_test(rk4_is_of_fourth_order),
		cmocka_unit_test(the_implicit_step_agrees_with_second_order),
		cmocka_unit_test(a_block_rests_on_a_slope),
		cmocka_unit_test(loops_stay_closed),
		cmocka_unit_test(the_implicit_integrator_is_not_published),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
