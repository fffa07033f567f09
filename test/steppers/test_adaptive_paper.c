// scheme=paper of the adaptive stepper: divide and conquer over the segments, explicit integration, joints chosen by the metrics of
// the released body.
#include "steppers/chain_scene.h"

static knWorld* paperWith(knScene* scene, const char* stepper, int active, double threshold) {
	knSettings settings = knSettings_Default();
	settings.scheme = KN_SCHEME_PAPER;
	settings.adaptive.active = active;
	settings.adaptive.threshold = threshold;
	knWorldDef def = { .stepper = stepper, .settings = &settings };
	return newWorldWith(scene, &def);
}

static double farthestApart(const knWorld* a, const knWorld* b, const knBodyId* bodies, int count) {
	double worst = 0.0;
	for (int i = 0; i < count; ++i) {
		worst =
			knMax(worst, knDistance(knWorld_BodyFrame(a, bodies[i]).p, knWorld_BodyFrame(b, bodies[i]).p));
	}
	return worst;
}

// All joints moving, the motion is that of the reduced stepper's published scheme: only its accelerations are found in another
// way. A swing, and a fall on the ground.
static void test_fully_active_is_reduced(void** state) {
	(void)state;
	for (int fall = 0; fall < 2; ++fall) {
		knBodyId bodies[12];
		ChainDef def = { .count = 12,
						 .start = { 0.0, 0.0, 0.1 },
						 .gravity = earth,
						 .held = fall == 0,
						 .shapes = fall == 1,
						 .ground = fall == 1,
						 .damping = 1e-3 };
		knWorld* full = paperWith(newChain(&def, bodies), "adaptive", -1, -1.0);
		knWorld* plain = paperWith(newChain(&def, bodies), "reduced", -1, -1.0);
		run(full, fall == 0 ? 100 : 40, 0.005);
		run(plain, fall == 0 ? 100 : 40, 0.005);
		assert_int_equal(knWorld_Report(full)->active, fall == 0 ? 12 : 11);
		assert_true(farthestApart(full, plain, bodies, 12) < 1e-9);
		knWorld_Destroy(full);
		knWorld_Destroy(plain);
	}
}

// A free chain that tumbles without weight: joints stop by internal impulses, so momenta stay and energy never rises, but for
// the error of the integrator, which is of the fourth order in coordinates of joints.
static void test_freezing_keeps_momentum(void** state) {
	(void)state;
	double drift[2];
	for (int k = 0; k < 2; ++k) {
		double dt = k == 0 ? 0.002 : 0.001;
		knBodyId bodies[32];
		ChainDef def = { .count = 32, .gravity = noGravity, .spin = 1.0 };
		knWorld* world = paperWith(newChain(&def, bodies), "adaptive", 10, -1.0);
		run(world, 1, dt);
		knMeasures start = knWorld_Measure(world);
		double last = start.kinetic;
		for (int i = 0; i < 100 * (k + 1); ++i) {
			run(world, 1, dt);
			knMeasures now = knWorld_Measure(world);
			assert_true(knWorld_Report(world)->active <= 10);
			assert_true(now.kinetic <= last * (1.0 + 1e-6));
			assert_true(now.jointError < 1e-12);
			last = now.kinetic;
		}
		knMeasures end = knWorld_Measure(world);
		drift[k] = knDistance(end.momentum, start.momentum) / knLength(start.momentum);
		assert_true(knDistance(end.angularMomentum, start.angularMomentum) <
					1e-4 * knLength(start.angularMomentum));
		knWorld_Destroy(world);
	}
	assert_true(drift[0] < 1e-5 && drift[1] < drift[0] / 8.0);
}

// With the threshold going to 0 the motion goes to the full one.
static void test_threshold_converges(void** state) {
	(void)state;
	enum { COUNT = 16 };
	static const double thresholds[] = { 100.0, 1.0, 0.0 };
	knBodyId bodies[COUNT];
	ChainDef def = { .count = COUNT, .gravity = earth, .held = true };
	knWorld* full = paperWith(newChain(&def, bodies), "adaptive", -1, -1.0);
	run(full, 100, 0.002);
	double error[3];
	for (int k = 0; k < 3; ++k) {
		knWorld* world = paperWith(newChain(&def, bodies), "adaptive", -1, thresholds[k]);
		run(world, 100, 0.002);
		error[k] = farthestApart(full, world, bodies, COUNT);
		knWorld_Destroy(world);
	}
	assert_true(error[0] > error[1] && error[1] < 0.05 * error[0] && error[2] < 1e-9);
	knWorld_Destroy(full);
}

// A chain at rest whose last link is pushed: what moves is there, with the joints above it in the assembly tree, two a level.
static void test_what_is_pushed_moves(void** state) {
	(void)state;
	enum { COUNT = 64, ACTIVE = 12 };
	for (int scheme = 0; scheme < 2; ++scheme) {
		knBodyId bodies[COUNT];
		ChainDef def = { .count = COUNT, .gravity = noGravity, .held = true };
		knScene* scene = newChain(&def, bodies);
		knWorld* world = scheme == 0 ? worldWith(scene, "adaptive", ACTIVE, -1.0)
									 : paperWith(scene, "adaptive", ACTIVE, -1.0);
		for (int i = 0; i < 60; ++i) {
			assert_ok(knWorld_AddForce(world, bodies[COUNT - 1], knV3(0.0, 0.01, 0.01)));
			run(world, 1, 0.001);
		}
		int late = 0;
		for (int i = COUNT * 7 / 8; i < COUNT; ++i) {
			late += knWorld_BodyActive(world, bodies[i]);
		}
		assert_true(late >= 2 && (scheme == 0 || late >= ACTIVE / 2));
		knWorld_Destroy(world);
	}
}

static void test_implicit_is_refused(void** state) {
	(void)state;
	knBodyId bodies[2];
	ChainDef def = { .count = 2, .gravity = earth, .held = true };
	knSettings settings = knSettings_Default();
	knError error = { 0 };
	assert_ok(knSettings_Set(&settings, "scheme", "paper", &error));
	assert_ok(knSettings_Set(&settings, "integrator", "implicit", &error));
	knScene* scene = newChain(&def, bodies);
	knModel* model = knModel_Create(scene, &error);
	knWorldDef worldDef = { .stepper = "adaptive", .settings = &settings };
	assert_null(knWorld_Create(model, &worldDef, &error));
	assert_int_equal(error.status, KN_UNSUPPORTED);
	knModel_Release(model);
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fully_active_is_reduced), cmocka_unit_test(test_freezing_keeps_momentum),
		cmocka_unit_test(test_threshold_converges),     cmocka_unit_test(test_what_is_pushed_moves),
		cmocka_unit_test(test_implicit_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
