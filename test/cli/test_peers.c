// knuckle compare with other engines: what ODE and Bullet make of scenes whose motion is known, so that the translation
// of bodies, materials, joints and scripts is right. Skipped where they were not built in.
#include "cli_test.h"

#define ENGINES 4

static const char* const engines[ENGINES] = { "ode", "ode:best", "bullet", "bullet:best" };

static bool tryEngine(const char* engine) {
	char line[128];
	snprintf(line, sizeof(line), "compare box-stack --set boxes=1 --steps 1 --steppers %s", engine);
	Ran ran = runTool(line);
	bool found = ran.status == 0;
	if (!found) {
		print_message("%s is not part of this build: skipped\n", engine);
		assert_int_equal(ran.status, 2);
		// the refusal says what to install
		assert_non_null(strstr(ran.err, engine[0] == 'o' ? "libode-dev" : "libbullet-dev"));
	}
	freeRan(&ran);
	return found;
}

// Asked once.
static bool has(int engine) {
	static bool asked[ENGINES], found[ENGINES];
	found[engine] = asked[engine] ? found[engine] : tryEngine(engines[engine]);
	asked[engine] = true;
	return found[engine];
}

// Runs it beside the velocity stepper for each engine that there is: 0 is ours, 1 the peer's.
static int eachEngine(const char* scene, void (*check)(const char* engine, const char* json)) {
	int done = 0;
	for (int i = 0; i < ENGINES; ++i) {
		if (has(i)) {
			char line[256];
			snprintf(line, sizeof(line), "compare %s --steppers velocity,%s --json -", scene, engines[i]);
			Ran ran = runTool(line);
			assert_int_equal(ran.status, 0);
			assert_true(jsonValid(ran.out));
			check(engines[i], ran.out);
			freeRan(&ran);
			++done;
		}
	}
	return done;
}

static void skipUnless(int done) {
	if (done == 0) {
		skip();
	}
}

// --- motion ------------------------------------------------------------------------------------------------------

// Semi-implicit Euler in n parts of a step falls g t (t + dt/n) / 2.
static void checkFall(const char* engine, const char* json) {
	double parts = jsonNumberAt(json, "1.queries_per_step");
	assert_true(parts == (strchr(engine, ':') == NULL ? 1.0 : engine[0] == 'o' ? 4.0 : 8.0));
	assert_near(jsonNumberAt(json, "1.displacement.max"), 0.5 * 9.81 * (1.0 + 0.01 / parts), 1e-4);
	assert_near(jsonNumberAt(json, "1.momentum.linear_drift"), jsonNumberAt(json, "0.momentum.linear_drift"),
				1e-3 * jsonNumberAt(json, "0.momentum.linear_drift"));
}

static void test_free_fall(void** state) {
	(void)state;
	writeText("fall.xml", "<mujoco><option timestep='0.01'/><worldbody><body pos='0 0 50'><freejoint/>"
						  "<geom type='box' size='.1 .2 .3'/></body></worldbody></mujoco>");
	skipUnless(eachEngine("fall.xml --time 1", checkFall));
}

// The ground and each box carry what lies above.
static void checkStack(const char* engine, const char* json) {
	(void)engine;
	assert_near(jsonNumberAt(json, "1.checks.layer_force_min"), 1.0, 0.02);
	assert_near(jsonNumberAt(json, "1.checks.layer_force_max"), 1.0, 0.02);
	assert_true(jsonNumberAt(json, "1.displacement.max") < 0.01);
	assert_true(jsonNumberAt(json, "1.penetration.max") < 0.01);
	assert_true(jsonNumberAt(json, "1.contacts.mean") > 8.0);
}

static void test_stack_carries_its_weight(void** state) {
	(void)state;
	skipUnless(eachEngine("box-stack --set boxes=3 --time 3", checkStack));
}

// Above the angle of friction a box slides as g (sin - mu cos) says, so materials are those of the scene (with a
// friction of 0.35 or 0.45 it would come 28% farther, or less far). Bullet in small parts is 6% short.
static void checkSlide(const char* engine, const char* json) {
	(void)engine;
	double expected = jsonNumberAt(json, "0.displacement.max");
	assert_true(expected > 0.3);
	assert_near(jsonNumberAt(json, "1.displacement.max"), expected, 0.08 * expected);
}

static void test_friction(void** state) {
	(void)state;
	skipUnless(eachEngine("slope --set angle=30 --set friction=0.4 --time 1", checkSlide));
}

// A pendulum and a chain, from rest to where they move fastest: two independent methods agree.
static void checkSwing(const char* engine, const char* json) {
	(void)engine;
	double expected = jsonNumberAt(json, "0.kinetic.max");
	assert_true(expected > 0.0);
	assert_near(jsonNumberAt(json, "1.kinetic.max"), expected, 0.05 * expected);
	assert_true(jsonNumberAt(json, "1.joint_error.max") < 0.02);
	assert_true(jsonNumberAt(json, "1.joint_angle_error.max") < 0.05);
}

static void test_hinge(void** state) {
	(void)state;
	skipUnless(eachEngine("pendulum --set links=1 --time 1", checkSwing));
}

static void test_ball_joints(void** state) {
	(void)state;
	skipUnless(eachEngine("heavy-chain --set links=5 --set ratio=1 --time 0.5", checkSwing));
}

// --- scripts, refusals -------------------------------------------------------------------------------------------

// The block and the ball come, in time and with their speed.
static void checkScript(const char* engine, const char* json) {
	(void)engine;
	assert_near(jsonNumberAt(json, "1.bodies"), 42.0, 0.0);
	double ours = jsonNumberAt(json, "0.energy.added");
	assert_near(jsonNumberAt(json, "1.energy.added"), ours, 1e-6 * ours);
	assert_near(jsonNumberAt(json, "1.time"), jsonNumberAt(json, "0.time"), 1e-12);
}

static void test_scripts(void** state) {
	(void)state;
	skipUnless(eachEngine("roof-tower --set layers=2 --steps 205", checkScript));
}

// A run may be repeated.
static void test_same_again(void** state) {
	(void)state;
	int done = 0;
	for (int i = 0; i < ENGINES; ++i) {
		if (has(i)) {
			char line[128], first[17], second[17];
			snprintf(line, sizeof(line), "compare wall --set small=1 --steps 30 --json - --steppers %s,%s",
					 engines[i], engines[i]);
			Ran ran = runTool(line);
			jsonTextAt(ran.out, "0.hash", first, sizeof(first));
			jsonTextAt(ran.out, "1.hash", second, sizeof(second));
			assert_string_equal(first, second);
			freeRan(&ran);
			++done;
		}
	}
	skipUnless(done);
}

static void test_refusals(void** state) {
	(void)state;
	Ran ran = runTool("compare wall --steppers ode:paper");
	assert_int_equal(ran.status, 2);
	freeRan(&ran);
	if (!has(0)) {
		skip();
	}
	// what an engine is not given, is said; the other column is there
	static const char* const scenes[][2] = { { "cow-pile --set small=1 --set cows=1", "shape" },
											 { "joints", "joint '" } };
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); ++i) {
		char line[128];
		snprintf(line, sizeof(line), "compare %s --steppers velocity,ode --steps 2", scenes[i][0]);
		ran = runTool(line);
		assert_int_equal(ran.status, 0);
		assert_non_null(strstr(ran.out, "ode: "));
		assert_non_null(strstr(strstr(ran.out, "ode: "), scenes[i][1]));
		freeRan(&ran);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_free_fall),   cmocka_unit_test(test_stack_carries_its_weight),
		cmocka_unit_test(test_friction),    cmocka_unit_test(test_hinge),
		cmocka_unit_test(test_ball_joints), cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_same_again),  cmocka_unit_test(test_refusals),
	};
	return enterFolder("cli_peers") == 0 ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
