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

// A long snake wound around its beam: friction of sixteen turns is more than the method of multipliers can follow, and interior
// points take over, in parts of a step. It gained 1e8 J when the step that always has a solution began with the multipliers of
// the one that had diverged, and sank in by millimetres as long as that step was needed.
static void test_a_wound_snake_gains_nothing(void** state) {
	(void)state;
	Built built = BUILD("snake", "dofs", "500");
	useReduced(&built);
	double brought = energyOf(&built);
	for (int i = 0; i < 10; ++i) {
		stepBuilt(&built, 1, NULL);
		brought += knWorld_Report(built.world)->work;
		assert_true(energyOf(&built) <= brought + 1e-9 * knAbs(brought));
		assert_true(knWorld_Report(built.world)->jointRung <= 1);
	}
	knPenetration penetration;
	assert_ok(knWorld_MeasurePenetration(built.world, &penetration, NULL));
	assert_true(penetration.max < 3e-4);
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

// 60 boxes that fly at each other, some of them hinged in pairs, and all collide at once: what they do to each other keeps
// their momentum, puts no energy in, and stays inside the friction cones.
static void test_a_cluster_keeps_its_momentum(void** state) {
	(void)state;
	enum { SIDE = 4, COUNT = SIDE * SIDE * SIDE };
	knScene* scene = newScene(noGravity);
	knBodyId boxes[COUNT];
	const double half = 0.1, mu = 0.4;
	for (int i = 0; i < COUNT; ++i) {
		knVec3 at = knV3(0.22 * (i % SIDE) - 0.33, 0.22 * (i / SIDE % SIDE) - 0.33,
						 0.22 * (i / (SIDE * SIDE)) - 0.33 + 0.003 * (i % 5));
		boxes[i] = newBox(scene, at, knV3(half, half, half), material(mu, 0.0));
		knScene_EditBody(scene, boxes[i])->velocity = knAdd(knScale(-4.0, at), knV3(0.1 * (i % 7), 0.0, 0.5));
		if (i % SIDE == 1) {
			knVec3 middle = knV3(at.x - 0.11, at.y, at.z);
			knJointDef hinge =
				jointAt(scene, KN_JOINT_HINGE, boxes[i - 1], boxes[i], middle, knV3(0.0, 0.0, 1.0));
			newJoint(scene, &hinge);
		}
	}
	knWorldDef def = knWorldDef_Default();
	def.stepper = "reduced";
	knWorld* world = newWorldWith(scene, &def);
	knMeasures first = knWorld_Measure(world), before = first;
	int most = 0;
	for (int i = 0; i < 30; ++i) {
		run(world, 1, 0.01);
		knMeasures now = knWorld_Measure(world);
		assert_near3(now.momentum, first.momentum, 1e-11 * first.momentum.z);
		assert_true(now.kinetic <= before.kinetic * (1.0 + 1e-9));
		before = now;
		int count;
		const knContact* contacts = knWorld_Contacts(world, &count);
		most = count > most ? count : most;
		for (int k = 0; k < count; ++k) {
			double normal = knDot(contacts[k].impulse, contacts[k].point.normal);
			knVec3 along = knMulAdd(contacts[k].impulse, -normal, contacts[k].point.normal);
			assert_true(knLength(along) <= mu * knAbs(normal) * (1.0 + 1e-6) + 1e-9);
		}
	}
	assert_true(most > 100);
	knWorld_Destroy(world);
}

// 75 boxes dropped in three layers come to rest on each other: the ground carries their weight, and nothing is deep.
static void test_a_heap_comes_to_rest(void** state) {
	(void)state;
	enum { SIDE = 5, LAYERS = 3, COUNT = SIDE * SIDE * LAYERS };
	knScene* scene = newScene(earth);
	newGround(scene, material(0.5, 0.0));
	knBodyId boxes[COUNT];
	for (int i = 0; i < COUNT; ++i) {
		int layer = i / (SIDE * SIDE), column = i % (SIDE * SIDE);
		double step = 0.21 - 0.03 * layer; // upper layers lie across lower ones
		knVec3 at =
			knV3(step * (column % SIDE), step * (column / SIDE), 0.15 + 0.25 * layer + 0.004 * (i % 3));
		boxes[i] = newBox(scene, at, knV3(0.08, 0.08, 0.1), material(0.5, 0.0));
	}
	knWorldDef def = knWorldDef_Default();
	def.stepper = "reduced";
	knWorld* world = newWorldWith(scene, &def);
	run(world, 150, 0.01);
	double weight = 0.0, carried = 0.0;
	for (int i = 0; i < COUNT; ++i) {
		weight += 9.81 * knModel_BodyMass(knWorld_Model(world), boxes[i]).mass;
	}
	int count;
	const knContact* contacts = knWorld_Contacts(world, &count);
	for (int k = 0; k < count; ++k) {
		bool ground = KN_ID_IS_NULL(contacts[k].bodyA) || contacts[k].bodyA.index1 == KN_WORLD_BODY.index1;
		carried += ground ? knAbs(contacts[k].impulse.z) / 0.01 : 0.0;
	}
	knPenetration penetration;
	assert_ok(knWorld_MeasurePenetration(world, &penetration, NULL));
	assert_true(penetration.max < 2e-4);
	assert_near(carried, weight, 1e-3 * weight);
	assert_true(knWorld_Measure(world).kinetic < 1e-6);
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overlaps_come_out_at_rest),
		cmocka_unit_test(test_a_wound_snake_gains_nothing),
		cmocka_unit_test(test_a_cluster_keeps_its_momentum),
		cmocka_unit_test(test_a_heap_comes_to_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
