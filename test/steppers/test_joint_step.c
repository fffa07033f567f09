// Joints solved at once (articulation=direct): light links that swing a load of ten thousand times their mass at 1/60 s, and
// the same chain laid over a ball.
#include "world/fixture.h"

#define H (1.0 / 60.0)
#define LINKS 8
#define LINK 0.25 // m

static knWorld* newChain(const char* stepper, double load, bool ball) {
	knScene* scene = newScene(earth);
	knShapeDef shape = material(0.5, 0.0);
	knBodyId before = KN_WORLD_BODY;
	for (int i = 0; i < LINKS; ++i) {
		const double mass = i == LINKS - 1 ? load : 1.0, inertia = mass * LINK * LINK / 12.0;
		knBodyDef def = knBodyDef_Default();
		def.frame.p = knV3((i + 0.5) * LINK, 0.0, 0.0);
		def.hasMass = true;
		def.mass = (knMassProps){ .mass = mass, .inertia = knDiagonal33(0.1 * inertia, inertia, inertia) };
		knBodyId link = newBody(scene, &def);
		knShapeDef massless = shape;
		massless.density = 1.0;
		knScene_AddBox(scene, link, knV3(0.4 * LINK, 0.03, 0.03), &massless, NULL);
		knJointDef joint = knJointDef_Default(KN_JOINT_BALL);
		knJointDef_At(&joint, scene, before, link, knV3(i * LINK, 0.0, 0.0), knV3(1.0, 0.0, 0.0), NULL);
		knScene_AddJoint(scene, &joint, NULL);
		before = link;
	}
	if (ball) {
		knBodyDef def = knBodyDef_Default();
		def.kind = KN_BODY_FIXED;
		def.frame.p = knV3(1.0, 0.0, -0.6);
		knScene_AddSphere(scene, newBody(scene, &def), 0.4, &shape, NULL);
	}
	knModel* model = knModel_Create(scene, NULL);
	knSettings settings = knSettings_Default();
	settings.articulation = KN_ARTICULATION_DIRECT;
	knWorldDef def = knWorldDef_Default();
	def.stepper = stepper;
	def.settings = &settings;
	knError error = { 0 };
	knWorld* world = knWorld_Create(model, &def, &error);
	if (world == NULL) {
		failWith(&error);
	}
	knModel_Release(model);
	knScene_Destroy(scene);
	return world;
}

typedef struct Run {
	double gap;       // m, the worst
	double gain, end; // J, of the energy against the start
} Run;

static Run runChain(knWorld* world, int steps) {
	Run run = { 0.0, 0.0, 0.0 };
	const knMeasures first = knWorld_Measure(world);
	const double start = first.kinetic + first.potential;
	for (int k = 0; k < steps; ++k) {
		assert_int_equal(knWorld_Step(world, H, NULL), KN_OK);
		const knMeasures now = knWorld_Measure(world);
		run.gap = knMax(run.gap, now.jointError);
		run.end = now.kinetic + now.potential - start;
		run.gain = knMax(run.gain, run.end);
	}
	knWorld_Destroy(world);
	return run;
}

static void test_a_heavy_load_swings(void** state) {
	(void)state;
	const char* const steppers[] = { "velocity", "impulse" };
	for (int i = 0; i < 2; ++i) {
		const double fall = 10000.0 * 9.81 * LINKS * LINK;
		const Run run = runChain(newChain(steppers[i], 10000.0, false), 240);
		assert_true(run.gap <= 1e-9);
		assert_true(run.gain <= 1e-6 * fall);
		assert_true(run.end >= -0.01 * fall);
	}
}

// Joints and contacts in one problem.
static void test_a_chain_lies_over_a_ball(void** state) {
	(void)state;
	const double fall = (LINKS - 1 + 5.0) * 9.81 * LINKS * LINK;
	const Run run = runChain(newChain("velocity", 5.0, true), 240);
	assert_true(run.gap <= 1e-5);
	assert_true(run.gain <= 1e-3 * fall);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_heavy_load_swings),
		cmocka_unit_test(test_a_chain_lies_over_a_ball),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
