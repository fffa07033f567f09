// What users do between steps, under the reduced stepper: joints made and released while it runs, prescribed motion of a
// joint and of a point, snapshots amid contacts and loops, threads.
#include "scenes/scene_test.h"
#include "world/fixture.h"

static knWorld* worldOf(knScene* scene) {
	knWorldDef def = knWorldDef_Default();
	def.stepper = "reduced";
	return newWorldWith(scene, &def);
}

// A rod of 1 kg along x from the pin at the origin, on a hinge about y.
static knBodyId addRod(knScene* scene, knJointId* joint) {
	knBodyId rod = newMass(scene, knMakeFrame(knV3(0.5, 0.0, 0.0), knIdentityQ()), 1.0, knV3(0.01, 0.1, 0.1));
	knJointDef def = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, rod, knZero3(), knV3(0.0, 1.0, 0.0));
	*joint = newJoint(scene, &def);
	return rod;
}

// A ball joint made at run time holds a second body at the rod's tip; released, that body flies on freely.
static void test_attach_and_release(void** state) {
	(void)state;
	knError error = { 0 };
	knScene* scene = newScene(earth);
	knJointId hinge;
	knBodyId rod = addRod(scene, &hinge);
	knBodyId load =
		newMass(scene, knMakeFrame(knV3(1.0, 0.0, -0.1), knIdentityQ()), 2.0, knV3(0.1, 0.1, 0.1));
	knWorld* world = worldOf(scene);
	knJointDef def = knJointDef_Default(KN_JOINT_BALL);
	def.parent = rod;
	def.child = load;
	def.frameParent.p = knV3(0.5, 0.0, 0.0);
	def.frameChild.p = knV3(0.0, 0.0, 0.1);
	knJointId held = knWorld_Attach(world, &def, &error);
	assert_false(KN_ID_IS_NULL(held));
	double first = knWorld_Measure(world).potential;
	run(world, 50, 0.005);
	knMeasures now = knWorld_Measure(world);
	assert_true(now.jointError < 1e-9);
	assert_near(now.kinetic + now.potential, first, 1e-3 * now.kinetic);
	knVec3 at = knWorld_BodyCenter(world, load), v = knWorld_BodyVelocity(world, load);
	assert_ok(knWorld_Release(world, held));
	run(world, 40, 0.005);
	knVec3 free = knMulAdd(knMulAdd(at, 0.2, v), 0.5 * 0.04, earth);
	assert_near3(knWorld_BodyCenter(world, load), free, 1e-9);
	knWorld_Destroy(world);
}

// A motor without a bound prescribes the rate of a joint, whatever hangs on it; a change of its target each step, an
// acceleration.
static void test_prescribed_joint(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knJointId hinge;
	knBodyId rod = addRod(scene, &hinge);
	knBodyId load = newMass(scene, knMakeFrame(knV3(1.5, 0.0, 0.0), knIdentityQ()), 5.0, knV3(0.1, 0.1, 0.1));
	knJointDef next = jointAt(scene, KN_JOINT_HINGE, rod, load, knV3(1.0, 0.0, 0.0), knV3(0.0, 1.0, 0.0));
	newJoint(scene, &next);
	knWorld* world = worldOf(scene);
	const double dt = 0.005, acceleration = -3.0;
	for (int i = 1; i <= 200; ++i) {
		// the mean rate of the step
		assert_ok(knWorld_SetMotor(world, hinge, 0, KN_MOTOR_VELOCITY, acceleration * (i - 0.5) * dt, 1e6));
		run(world, 1, dt);
	}
	double q[7];
	knWorld_JointCoordinates(world, hinge, q);
	assert_near(q[0], 0.5 * acceleration, 1e-6);
	assert_true(knWorld_Measure(world).jointError < 1e-12);
	knWorld_Destroy(world);
}

// A kinematic body on a ball joint prescribes the motion of a point on a link: the tip of two rods goes round a circle.
static void test_prescribed_point(void** state) {
	(void)state;
	knError error = { 0 };
	knScene* scene = newScene(earth);
	knJointId hinge;
	knBodyId rod = addRod(scene, &hinge);
	knBodyId second =
		newMass(scene, knMakeFrame(knV3(1.0, 0.0, 0.5), knIdentityQ()), 1.0, knV3(0.1, 0.1, 0.1));
	knJointDef next = jointAt(scene, KN_JOINT_HINGE, rod, second, knV3(1.0, 0.0, 0.0), knV3(0.0, 1.0, 0.0));
	newJoint(scene, &next);
	knBodyDef hand = knBodyDef_Default();
	hand.kind = KN_BODY_KINEMATIC;
	hand.frame.p = knV3(1.0, 0.0, 1.0);
	knBodyId guide = newBody(scene, &hand);
	knWorld* world = worldOf(scene);
	knJointDef def = knJointDef_Default(KN_JOINT_BALL);
	def.parent = guide;
	def.child = second;
	def.frameChild.p = knV3(0.0, 0.0, 0.5);
	assert_false(KN_ID_IS_NULL(knWorld_Attach(world, &def, &error)));
	double worst = 0.0;
	for (int i = 0; i < 400; ++i) {
		double angle = 2.0 * KN_PI * (i + 0.5) / 400.0;
		assert_ok(knWorld_SetBodyVelocity(world, guide, knV3(-knSin(angle), 0.0, knCos(angle)), knZero3()));
		run(world, 1, 0.005);
		worst = knMax(worst, knWorld_Measure(world).jointError);
	}
	assert_true(worst < 1e-8);
	knWorld_Destroy(world);
}

static knWorld* sceneWorld(const Built* built, const knTasks* tasks) {
	knError error = { 0 };
	knWorldDef def = knWorldDef_Default();
	def.stepper = "reduced";
	if (tasks != NULL) {
		def.tasks = *tasks;
	}
	knWorld* world = knWorld_Create(built->model, &def, &error);
	assert_non_null(world);
	return world;
}

// Figures that fall on each other, and a gripper of closed loops that holds a box: clone and restore go on with equal bits,
// and so do two threads.
static void test_equal_bits(void** state) {
	(void)state;
	knError error = { 0 };
	knTaskPool* pool = knTaskPool_Create(2, NULL, &error);
	assert_non_null(pool);
	knTasks tasks = knTaskPool_Tasks(pool);
	for (int k = 0; k < 2; ++k) {
		Built built = k == 0 ? BUILD("ragdolls", "count", "2") : BUILD("gripper", NULL);
		knWorld *world = sceneWorld(&built, NULL), *other = sceneWorld(&built, &tasks);
		run(world, 45, 0.01);
		run(other, 45, 0.01);
		assert_true(knWorld_Hash(world) == knWorld_Hash(other));
		knWorld* clone = knWorld_Clone(world, NULL);
		size_t size = knWorld_StateSize(world);
		void* memory = malloc(size);
		assert_ok(knWorld_Save(world, memory, size));
		run(world, 15, 0.01);
		run(clone, 15, 0.01);
		uint64_t hash = knWorld_Hash(world);
		assert_true(hash == knWorld_Hash(clone));
		assert_ok(knWorld_Restore(world, memory, size, NULL));
		run(world, 15, 0.01);
		assert_true(hash == knWorld_Hash(world));
		free(memory);
		knWorld_Destroy(clone);
		knWorld_Destroy(other);
		knWorld_Destroy(world);
		destroy(&built);
	}
	knTaskPool_Destroy(pool);
}

// A chain whose tip is marked fast goes 2.4 m a step, and is stopped by a wall of 2 cm.
static void test_fast_links_do_not_tunnel(void** state) {
	(void)state;
	for (int k = 0; k < 2; ++k) {
		knScene* scene = newScene(noGravity);
		knBodyDef wall = knBodyDef_Default();
		wall.kind = KN_BODY_FIXED;
		wall.frame.p = knV3(5.0, 0.0, 0.0);
		knError error = { 0 };
		knShapeDef shape = material(0.3, 0.0);
		assert_false(KN_ID_IS_NULL(
			knScene_AddBox(scene, newBody(scene, &wall), knV3(0.01, 4.0, 4.0), &shape, &error)));
		knBodyId links[2];
		for (int i = 0; i < 2; ++i) {
			links[i] =
				newBall(scene, knV3(0.3 * i, 0.1, 0.0), 0.1, knV3(k == 0 ? 144.0 : 30.0, 0.0, 0.0), shape);
			knScene_EditBody(scene, links[i])->fast = true;
		}
		knJointDef joint =
			jointAt(scene, KN_JOINT_BALL, links[0], links[1], knV3(0.15, 0.1, 0.0), knV3(0.0, 0.0, 1.0));
		newJoint(scene, &joint);
		knWorld* world = worldOf(scene);
		for (int i = 0; i < 60; ++i) {
			run(world, 1, 1.0 / 60.0);
			assert_true(knWorld_BodyCenter(world, links[0]).x < 5.0);
			assert_true(knWorld_BodyCenter(world, links[1]).x < 5.0);
		}
		knWorld_Destroy(world);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attach_and_release),       cmocka_unit_test(test_prescribed_joint),
		cmocka_unit_test(test_prescribed_point),         cmocka_unit_test(test_equal_bits),
		cmocka_unit_test(test_fast_links_do_not_tunnel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
