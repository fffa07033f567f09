// The published scheme by the letter: how many sweeps, how far blows travel, rolling friction in the paper's unit, and the
// variants that the papers name.
#include "world/fixture.h"

#define DT 0.01
#define G 9.81

static knWorld* paperWorld(knScene* scene, const char* const* settings) {
	knSettings chosen = knSettings_Default();
	knError error = { 0 };
	chosen.scheme = KN_SCHEME_PAPER;
	for (int i = 0; settings != NULL && settings[i] != NULL; i += 2) {
		assert_ok(knSettings_Set(&chosen, settings[i], settings[i + 1], &error));
	}
	knWorldDef def = knWorldDef_Default();
	def.stepper = "impulse";
	def.settings = &chosen;
	return newWorldWith(scene, &def);
}

// --- contact -------------------------------------------------------------------------------------------------

// A ball at rest: one collision sweep finds nothing, ten contact sweeps, one shock propagation; with joints nine.
static void test_number_of_sweeps(void** state) {
	(void)state;
	for (int jointed = 0; jointed < 2; ++jointed) {
		knScene* scene = newScene(earth);
		newGround(scene, material(0.5, 0.0));
		knBodyId ball = newBall(scene, knV3(0.0, 0.0, 0.5), 0.5, knZero3(), material(0.5, 0.0));
		knBodyId other = newBall(scene, knV3(1.5, 0.0, 0.5), 0.5, knZero3(), material(0.5, 0.0));
		if (jointed) {
			knJointDef def =
				jointAt(scene, KN_JOINT_BALL, ball, other, knV3(0.75, 0.0, 0.5), knV3(1.0, 0.0, 0.0));
			newJoint(scene, &def);
		}
		knWorld* world = paperWorld(scene, NULL);
		run(world, 1, DT);
		assert_int_equal(knWorld_Report(world)->iterations, jointed ? 1 + 9 + 1 : 1 + 10 + 1);
		knWorld_Destroy(world);
	}
}

// Against the order of pairs a blow passes one ball a sweep, and there are five collision sweeps in a step: of nine balls
// five have passed it on. To the contact phase, which does not bounce, the four that are left are one.
static void test_blow_travels_five_balls_a_step(void** state) {
	(void)state;
	enum { BALLS = 9, PASSED = 5 };
	knScene* scene = newScene(noGravity);
	knBodyId balls[BALLS];
	for (int i = 0; i < BALLS; ++i) {
		const bool first = i == BALLS - 1;
		knVec3 at = knV3(i + (first ? 0.001 : 0.0), 0.0, 0.0);
		balls[i] = newBall(scene, at, 0.5, knV3(first ? -3.0 : 0.0, 0.0, 0.0), material(0.0, 1.0));
	}
	knWorld* world = paperWorld(scene, NULL);
	run(world, 1, DT);
	for (int i = 0; i < BALLS; ++i) {
		const double speed = i < BALLS - PASSED ? -3.0 / (BALLS - PASSED) : 0.0;
		assert_near(knWorld_BodyVelocity(world, balls[i]).x, speed, 1e-6);
	}
	knWorld_Destroy(world);
}

// A top on its point loses a m g dt of spin in a step, a in rad/s per N s, and none without rolling friction.
static void test_spin_of_a_top(void** state) {
	(void)state;
	const double a = 2e-4, spin = 5.0;
	for (int rough = 0; rough < 2; ++rough) {
		knScene* scene = newScene(earth);
		newGround(scene, material(0.6, 0.0));
		knShapeDef shape = material(0.6, 0.0);
		shape.rollingFriction = rough ? a : 0.0;
		knBodyId top = newBall(scene, knV3(0.0, 0.0, 0.3), 0.3, knZero3(), shape);
		knScene_EditBody(scene, top)->angularVelocity = knV3(0.0, 0.0, spin);
		knWorld* world = paperWorld(scene, NULL);
		const double mass = knModel_BodyMass(knWorld_Model(world), top).mass;
		run(world, 50, DT);
		const double lost = rough ? a * mass * G * 50 * DT : 0.0;
		assert_true(lost < 0.5 * spin);
		assert_near(knWorld_BodyAngularVelocity(world, top).z, spin - lost, 1e-6 * spin);
		knWorld_Destroy(world);
	}
}

// Levels of a stack on a lift do not depend on how the lift moves: the top of the stack is stopped by shock propagation in
// one step, upwards and downwards.
static void test_stack_on_a_lift(void** state) {
	(void)state;
	for (int k = 0; k < 2; ++k) {
		knScene* scene = newScene(earth);
		knBodyDef floor = knBodyDef_Default();
		floor.kind = KN_BODY_KINEMATIC;
		floor.frame.p = knV3(0.0, 0.0, -0.5);
		floor.velocity = knV3(0.0, 0.0, k == 0 ? 1.0 : -1.0);
		knBodyId lift = newBody(scene, &floor);
		knShapeDef smooth = material(0.0, 0.0);
		assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, lift, knV3(2.0, 2.0, 0.5), &smooth, NULL)));
		knBodyId balls[12];
		for (int i = 0; i < 12; ++i) {
			balls[i] = newBall(scene, knV3(0.0, 0.0, 0.5 + i), 0.5, floor.velocity, smooth);
		}
		knWorld* world = paperWorld(scene, NULL);
		run(world, 1, DT);
		for (int i = 0; i < 12; ++i) {
			assert_true(knWorld_BodyVelocity(world, balls[i]).z >= floor.velocity.z - 1e-11);
		}
		knWorld_Destroy(world);
	}
}

// --- joints --------------------------------------------------------------------------------------------------

static knScene* fallingChain(int links) {
	knScene* scene = newScene(earth);
	newGround(scene, material(0.5, 0.0));
	knBodyId parent = KN_WORLD_BODY;
	for (int i = 0; i < links; ++i) {
		knBodyId link =
			newBox(scene, knV3(0.2 + 0.4 * i, 0.0, 0.5), knV3(0.15, 0.05, 0.05), material(0.5, 0.0));
		knJointDef def = jointAt(scene, i % 2 == 0 ? KN_JOINT_BALL : KN_JOINT_HINGE, parent, link,
								 knV3(0.4 * i, 0.0, 0.5), knV3(0.0, 1.0, 0.0));
		newJoint(scene, &def);
		parent = link;
	}
	return scene;
}

static double worstError(const char* const* settings) {
	knWorld* world = paperWorld(fallingChain(8), settings);
	double worst = 0.0;
	for (int i = 0; i < 100; ++i) {
		run(world, 1, DT);
		worst = knMax(worst, knWorld_Measure(world).jointError);
	}
	knWorld_Destroy(world);
	return worst;
}

// All variants hold a chain that swings and falls on the ground.
static void test_variants_hold(void** state) {
	(void)state;
	static const char* const variants[][7] = {
		{ NULL },
		{ "newton", "damped", NULL },
		{ "angular", "square", NULL },
		{ "newton", "damped", "angular", "square", "ramp", "0", NULL },
		{ "shock", "0", NULL },
		{ "shock", "2", NULL },
		{ "shock", "2", "joint_sweeps", "2", "restore", "0", NULL },
		{ "joint_sweeps", "0", NULL },
		{ "restore", "0", NULL },
	};
	for (int k = 0; k < (int)(sizeof(variants) / sizeof(variants[0])); ++k) {
		assert_true(worstError(variants[k]) < 2e-2);
	}
}

// The optional sweeps over joints alone improve the joints.
static void test_joint_sweeps_close(void** state) {
	(void)state;
	static const char* const none[] = { "sweeps", "3", "joint_sweeps", "0", NULL };
	static const char* const many[] = { "sweeps", "3", "joint_sweeps", "20", NULL };
	assert_true(worstError(many) < 0.5 * worstError(none));
}

// A chain at rest whose joints are torn open by a centimetre, sideways; returns the spins of its links after one step.
enum { TORN = 6 };
static double closeTorn(const char* const* settings, double spins[TORN]) {
	knScene* scene = newScene(noGravity);
	knBodyId links[TORN], parent = KN_WORLD_BODY;
	for (int i = 0; i < TORN; ++i) {
		links[i] =
			newMass(scene, knMakeFrame(knV3(0.5 + i, 0.0, 0.0), knIdentityQ()), 1.0, knV3(0.1, 0.1, 0.1));
		knJointDef def =
			jointAt(scene, KN_JOINT_BALL, parent, links[i], knV3(i, 0.0, 0.0), knV3(1.0, 0.0, 0.0));
		def.frameChild.p = knAdd(def.frameChild.p, knV3(0.0, i % 2 == 0 ? 0.01 : -0.01, 0.0));
		newJoint(scene, &def);
		parent = links[i];
	}
	knWorld* world = paperWorld(scene, settings);
	run(world, 1, DT);
	for (int i = 0; i < TORN; ++i) {
		spins[i] = knWorld_BodyAngularVelocity(world, links[i]).z;
	}
	const double error = knWorld_Measure(world).jointError;
	knWorld_Destroy(world);
	return error;
}

// Restored velocities: the sweeps over joints alone close the chain, but do not set it turning.
static void test_restored_velocities(void** state) {
	(void)state;
	static const char* const none[] = { "sweeps", "1", "joint_sweeps", "0", NULL };
	static const char* const kept[] = { "sweeps", "1", "joint_sweeps", "20", "restore", "0", NULL };
	static const char* const restored[] = { "sweeps", "1", "joint_sweeps", "20", "restore", "1", NULL };
	double plain[TORN], turning[TORN], back[TORN];
	const double open = closeTorn(none, plain);
	assert_true(closeTorn(kept, turning) < 0.5 * open);
	assert_true(closeTorn(restored, back) < 0.5 * open);
	double byKept = 0.0, byRestored = 0.0;
	for (int i = 0; i < TORN; ++i) {
		byKept += knAbs(turning[i] - plain[i]);
		byRestored += knAbs(back[i] - plain[i]);
	}
	assert_true(byRestored < 0.3 * byKept);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number_of_sweeps),    cmocka_unit_test(test_blow_travels_five_balls_a_step),
		cmocka_unit_test(test_spin_of_a_top),       cmocka_unit_test(test_stack_on_a_lift),
		cmocka_unit_test(test_variants_hold),       cmocka_unit_test(test_joint_sweeps_close),
		cmocka_unit_test(test_restored_velocities),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
