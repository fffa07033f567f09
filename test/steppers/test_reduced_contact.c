// The reduced stepper where contacts are many or hard: what a step that fails leaves behind must put no energy in.
#include "scenes/scene_test.h"
#include "world/fixture.h"

// The scene's world under the reduced stepper.
static void useReduced(Built* built) {
	knError error = { 0 };
	knWorldDef def = knWorldDef_Default();
	def.stepper = "reduced";
	knWorld_Destroy(built->world);
	built->world = knWorld_Create(built->model, &def, &error);
	assert_non_null(built->world);
}

static double energyOf(const Built* built) {
	knMeasures measures = knWorld_Measure(built->world);
	return measures.kinetic + measures.potential;
}

// A long snake wound around its beam: friction of sixteen turns is more than the implicit step can follow. It gained 1e8 J
// when the step that always has a solution began with the multipliers of the one that had diverged.
static void test_a_wound_snake_gains_nothing(void** state) {
	(void)state;
	Built built = BUILD("snake", "dofs", "500");
	useReduced(&built);
	double brought = energyOf(&built);
	for (int i = 0; i < 10; ++i) {
		stepBuilt(&built, 1, NULL);
		brought += knWorld_Report(built.world)->work;
		assert_true(energyOf(&built) <= brought + 1e-9 * knAbs(brought));
	}
	destroy(&built);
}

// A chain of two capsules that starts 2 cm deep in the ground comes out at once and stays at rest there; a capsule that
// touches the ground beside it does not stir.
static void test_overlaps_come_out_at_rest(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knShapeDef shape = knShapeDef_Default();
	knBodyDef ground = knBodyDef_Default();
	ground.kind = KN_BODY_FIXED;
	knScene_AddPlane(scene, knScene_AddBody(scene, &ground, NULL), &shape, NULL);
	knBodyId bodies[3];
	for (int i = 0; i < 3; ++i) {
		knBodyDef def = knBodyDef_Default();
		def.frame = knMakeFrame(i < 2 ? knV3(0.5 + i, 0.0, 0.08) : knV3(0.5, 1.0, 0.1),
								knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), 0.5 * KN_PI));
		bodies[i] = knScene_AddBody(scene, &def, NULL);
		knScene_AddCapsule(scene, bodies[i], 0.1, 0.35, &shape, NULL);
	}
	knJointDef hinge =
		jointAt(scene, KN_JOINT_HINGE, bodies[0], bodies[1], knV3(1.0, 0.0, 0.08), knV3(0.0, 1.0, 0.0));
	newJoint(scene, &hinge);
	knWorldDef def = knWorldDef_Default();
	def.stepper = "reduced";
	knWorld* world = newWorldWith(scene, &def);
	for (int i = 0; i < 20; ++i) {
		run(world, 1, 0.01);
		for (int b = 0; b < 2; ++b) {
			double depth = 0.1 - knWorld_BodyCenter(world, bodies[b]).z;
			assert_true(depth < 2e-4 && depth > 0.0);
		}
		assert_true(knWorld_Measure(world).kinetic < 1e-12);
		assert_near(knWorld_BodyCenter(world, bodies[2]).z, 0.1, 1e-9);
	}
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overlaps_come_out_at_rest),
		cmocka_unit_test(test_a_wound_snake_gains_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
