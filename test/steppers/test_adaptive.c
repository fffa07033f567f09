// The adaptive stepper: all joints moving it is the reduced one; freezing keeps momentum and never adds energy; a body at
// rest rigidifies and wakes when touched; what it does not take is refused by name.
#include "steppers/chain_scene.h"

#include <string.h>

static double farthestApart(knWorld* a, knWorld* b, const knBodyId* bodies, int count) {
	double worst = 0.0;
	for (int i = 0; i < count; ++i) {
		worst =
			knMax(worst, knDistance(knWorld_BodyFrame(a, bodies[i]).p, knWorld_BodyFrame(b, bodies[i]).p));
	}
	return worst;
}

// 100 steps of a swinging chain and of one that falls on the ground.
static void test_fully_active_is_reduced(void** state) {
	(void)state;
	for (int fall = 0; fall < 2; ++fall) {
		knBodyId bodies[30];
		ChainDef def = { .count = 30,
						 .start = { 0.0, 0.0, 0.3 },
						 .gravity = earth,
						 .held = fall == 0,
						 .shapes = fall == 1,
						 .ground = fall == 1,
						 .damping = 1e-3 };
		knWorld* full = worldWith(newChain(&def, bodies), "adaptive", -1, -1.0);
		knWorld* plain = worldWith(newChain(&def, bodies), "reduced", -1, -1.0);
		run(full, 100, 0.005);
		run(plain, 100, 0.005);
		assert_int_equal(knWorld_Report(full)->active, fall == 0 ? 30 : 29);
		assert_true(farthestApart(full, plain, bodies, 30) < 1e-9);
		knWorld_Destroy(full);
		knWorld_Destroy(plain);
	}
}

// A free chain that tumbles without weight: momenta stay, energy never rises, with ever changing regions.
static void test_freezing_keeps_momentum(void** state) {
	(void)state;
	knBodyId bodies[32];
	ChainDef def = { .count = 32, .gravity = noGravity, .spin = 1.0 };
	knWorld* world = worldWith(newChain(&def, bodies), "adaptive", 10, -1.0);
	run(world, 1, 0.005); // velocities that fit the joints
	knMeasures start = knWorld_Measure(world);
	double last = start.kinetic;
	for (int i = 0; i < 200; ++i) {
		run(world, 1, 0.005);
		knMeasures now = knWorld_Measure(world);
		assert_true(knWorld_Report(world)->active <= 10);
		assert_true(now.kinetic <= last * (1.0 + 1e-6));
		assert_true(now.jointError < 1e-12);
		last = now.kinetic;
	}
	knMeasures end = knWorld_Measure(world);
	assert_near3(end.momentum, start.momentum, 1e-10);
	assert_near3(end.angularMomentum, start.angularMomentum, 1e-9);
	knWorld_Destroy(world);
}

// What is shown does not depend on who looks: a clone and a restored snapshot go on alike, bit by bit.
static void test_region_is_part_of_the_state(void** state) {
	(void)state;
	knBodyId bodies[24];
	knError error = { 0 };
	ChainDef def = { .count = 24,
					 .start = { 0.0, 0.0, 0.5 },
					 .gravity = earth,
					 .held = true,
					 .shapes = true,
					 .ground = true };
	knWorld* world = worldWith(newChain(&def, bodies), "adaptive", 8, -1.0);
	run(world, 33, 0.005);
	knWorld* clone = knWorld_Clone(world, &error);
	assert_non_null(clone);
	run(world, 40, 0.005);
	run(clone, 40, 0.005);
	assert_true(knWorld_Hash(world) == knWorld_Hash(clone));
	knWorld_Destroy(world);
	knWorld_Destroy(clone);
}

// A chain lying on the ground comes to rest with no joint moving; pushed up at one end, it moves there again.
static void test_rest_rigidifies_and_wakes(void** state) {
	(void)state;
	knBodyId bodies[20];
	ChainDef def = { .count = 20,
					 .start = { 0.0, 0.0, 0.03 },
					 .gravity = earth,
					 .shapes = true,
					 .ground = true,
					 .damping = 1e-3 };
	knWorld* world = worldWith(newChain(&def, bodies), "adaptive", -1, 0.5);
	run(world, 300, 0.005);
	assert_int_equal(knWorld_Report(world)->active, 0);
	knVec3 before = knWorld_BodyFrame(world, bodies[19]).p, other = knWorld_BodyFrame(world, bodies[0]).p;
	run(world, 100, 0.005);
	assert_near3(knWorld_BodyFrame(world, bodies[19]).p, before, 1e-6);
	assert_ok(knWorld_ApplyImpulse(world, bodies[19], knV3(0.0, 0.0, 0.1), before));
	run(world, 10, 0.005);
	assert_true(knWorld_Report(world)->active > 0);
	assert_true(knWorld_BodyFrame(world, bodies[19]).p.z > before.z + 1e-3);
	assert_near3(knWorld_BodyFrame(world, bodies[0]).p, other, 1e-3);
	knWorld_Destroy(world);
}

// The smaller the threshold, the nearer to the fully active motion.
static void test_threshold_converges(void** state) {
	(void)state;
	knBodyId bodies[24];
	ChainDef def = { .count = 24, .gravity = earth, .held = true, .damping = 1e-3 };
	const double thresholds[] = { 300.0, 30.0, 0.0 };
	double apart[3];
	for (int k = 0; k < 3; ++k) {
		knWorld* full = worldWith(newChain(&def, bodies), "adaptive", -1, -1.0);
		knWorld* world = worldWith(newChain(&def, bodies), "adaptive", -1, thresholds[k]);
		run(full, 100, 0.002);
		run(world, 100, 0.002);
		apart[k] = farthestApart(full, world, bodies, 24);
		knWorld_Destroy(full);
		knWorld_Destroy(world);
	}
	assert_true(apart[0] > apart[1] && apart[1] >= apart[2]);
	assert_true(apart[2] < 1e-9);
}

// Links within segments touch as free ones do: nothing sinks into the ground or into the chain's other end.
static void test_frozen_links_touch(void** state) {
	(void)state;
	enum { LINKS = 64 };
	knBodyId bodies[LINKS];
	ChainDef def = { .count = LINKS,
					 .start = { 0.0, 0.0, 1.0 },
					 .gravity = earth,
					 .held = true,
					 .shapes = true,
					 .ground = true,
					 .damping = 1e-3 };
	knWorld* world = worldWith(newChain(&def, bodies), "adaptive", 8, -1.0);
	int most = 0;
	for (int i = 0; i < 60; ++i) {
		knPenetration depth;
		knError error = { 0 };
		int count;
		run(world, 5, 0.005);
		assert_ok(knWorld_MeasurePenetration(world, &depth, &error));
		assert_true(depth.max < 1e-3);
		knWorld_Contacts(world, &count);
		most = count > most ? count : most;
	}
	assert_true(most > 40);
	knWorld_Destroy(world);
}

// A frozen chain of balls slides over the ground and stops as one whose joints are fixed, though only the ends of its row of
// contacts are solved for; at rest every ball bears its own weight.
static void test_rows_of_contacts_hold_as_all_do(void** state) {
	(void)state;
	enum { LINKS = 20 };
	knBodyId bodies[LINKS];
	ChainDef def = { .count = LINKS,
					 .start = { 0.0, 0.0, 0.03 },
					 .gravity = earth,
					 .shapes = true,
					 .balls = true,
					 .ground = true,
					 .speed = 0.5 };
	knWorld* world = worldWith(newChain(&def, bodies), "adaptive", 0, -1.0);
	def.fixed = true;
	knWorld* rod = worldWith(newChain(&def, bodies), "reduced", -1, -1.0);
	for (int i = 0; i < 20; ++i) {
		run(world, 5, 0.005);
		run(rod, 5, 0.005);
		assert_true(farthestApart(world, rod, bodies, LINKS) < 1e-6);
	}
	int count;
	const knContact* contacts = knWorld_Contacts(world, &count);
	assert_int_equal(count, LINKS);
	for (int k = 0; k < count; ++k) {
		double weight = 0.1 * 9.81 * 0.005;
		assert_true(knAbs(knDot(contacts[k].impulse, contacts[k].point.normal) - weight) < 1e-5 * weight);
	}
	knWorld_Destroy(world);
	knWorld_Destroy(rod);
}

// A chain at rest with servos at all joints freezes; one that is told to turn, in the middle of a frozen part, turns.
static void test_drives_of_frozen_joints_wake_them(void** state) {
	(void)state;
	enum { LINKS = 64, DRIVEN = 37 };
	knBodyId bodies[LINKS];
	ChainDef def = { .count = LINKS, .gravity = noGravity, .held = true };
	knError error = { 0 };
	knScene* scene = newChain(&def, bodies);
	for (int i = 0; i < LINKS; ++i) {
		knActuatorDef servo = knActuatorDef_Default();
		servo.joint = knScene_JointAt(scene, i);
		servo.gain[0] = 10.0;
		servo.bias[1] = -10.0;
		servo.bias[2] = -15.0;
		assert_true(knScene_AddActuator(scene, &servo, &error) >= 0);
	}
	knWorld* world = worldWith(scene, "adaptive", 16, -1.0);
	run(world, 20, 0.005);
	assert_false(knWorld_BodyActive(world, bodies[DRIVEN]));
	assert_ok(knWorld_SetControl(world, DRIVEN, 0.3));
	run(world, 2000, 0.005);
	double angle[7];
	knWorld_JointCoordinates(world, knModel_JointAt(knWorld_Model(world), DRIVEN), angle);
	assert_true(knAbs(angle[0] - 0.3) < 0.03);
	knWorld_Destroy(world);
}

// Nothing left out is nothing left out, however small beside the rest.
static void test_no_threshold_moves_all(void** state) {
	(void)state;
	enum { LINKS = 150 };
	static knBodyId bodies[LINKS];
	ChainDef def = { .count = LINKS, .gravity = earth, .held = true, .damping = 1e-3 };
	knWorld* world = worldWith(newChain(&def, bodies), "adaptive", -1, 0.0);
	for (int i = 0; i < 60; ++i) {
		run(world, 1, 0.005);
		assert_int_equal(knWorld_Report(world)->active, LINKS);
	}
	knWorld_Destroy(world);
}

// A chain that hangs still is part of the ground; a scripted ball that runs into it pushes it aside all the same.
static void test_scripted_bodies_wake(void** state) {
	(void)state;
	knBodyId bodies[24];
	ChainDef def = {
		.count = 24, .gravity = { 9.81, 0.0, 0.0 }, .held = true, .shapes = true, .damping = 1e-3
	};
	knScene* scene = newChain(&def, bodies);
	knBodyId ball = newBall(scene, knV3(1.5, -0.6, 0.0), 0.1, knV3(0.0, 1.0, 0.0), material(0.5, 0.0));
	knScene_EditBody(scene, ball)->kind = KN_BODY_KINEMATIC;
	knWorld* world = worldWith(scene, "adaptive", 12, 0.5);
	run(world, 60, 0.005);
	assert_int_equal(knWorld_Report(world)->active, 0);
	run(world, 120, 0.005);
	assert_true(knWorld_Report(world)->active > 0);
	assert_true(knWorld_BodyCenter(world, bodies[15]).y > 0.1);
	assert_true(knWorld_BodyCenter(world, bodies[23]).y > 0.05);
	run(world, 600, 0.005);
	assert_true(knWorld_BodyCenter(world, bodies[15]).y < 3.0); // let go of
	knWorld_Destroy(world);
}

static void assertRefused(knScene* scene, const char* name) {
	knError error = { 0 };
	knModel* model = knModel_Create(scene, &error);
	assert_non_null(model);
	knScene_Destroy(scene);
	knWorldDef def = knWorldDef_Default();
	def.stepper = "adaptive";
	assert_null(knWorld_Create(model, &def, &error));
	assert_int_equal(error.status, KN_UNSUPPORTED);
	assert_non_null(strstr(error.message, name));
	assert_non_null(strstr(error.message, "reduced"));
	knModel_Release(model);
}

static void test_loops_are_refused_by_name(void** state) {
	(void)state;
	knBodyId bodies[4];
	ChainDef def = { .count = 4, .gravity = earth, .held = true };
	knScene* scene = newChain(&def, bodies);
	knJointDef loop =
		jointAt(scene, KN_JOINT_BALL, KN_WORLD_BODY, bodies[3], knV3(0.4, 0.0, 0.0), knV3(1.0, 0.0, 0.0));
	loop.name = "closing";
	loop.loop = true;
	newJoint(scene, &loop);
	assertRefused(scene, "closing");
}

static knFrame stay(knFrame joint, void* context) {
	(void)context;
	return joint;
}

static knTwist stop(knFrame joint, knTwist velocity, void* context) {
	(void)joint, (void)context;
	return velocity;
}

static void test_custom_joints_are_refused_by_name(void** state) {
	(void)state;
	knBodyId bodies[4];
	ChainDef def = { .count = 4, .gravity = earth };
	knScene* scene = newChain(&def, bodies);
	knJointDef own = knJointDef_Default(KN_JOINT_CUSTOM);
	own.name = "of one's own";
	own.child = bodies[0];
	own.custom = (knCustomJoint){ .projectState = stay, .projectVelocity = stop };
	newJoint(scene, &own);
	assertRefused(scene, "of one's own");
}

// Attached in a running world: the step says so, and nothing moves.
static void test_attached_joints_are_refused(void** state) {
	(void)state;
	knBodyId bodies[4];
	ChainDef def = { .count = 4, .gravity = earth, .held = true };
	knScene* scene = newChain(&def, bodies);
	knScene_Def(scene)->jointCapacity = 1;
	knWorld* world = worldWith(scene, "adaptive", 2, -1.0);
	run(world, 5, 0.005);
	knError error = { 0 };
	knJointDef hook = knJointDef_Default(KN_JOINT_BALL);
	hook.child = bodies[3];
	hook.frameParent.p = knWorld_BodyCenter(world, bodies[3]);
	knJointId attached = knWorld_Attach(world, &hook, &error);
	assert_false(KN_ID_IS_NULL(attached));
	uint64_t hash = knWorld_Hash(world);
	assert_int_equal(knWorld_Step(world, 0.005, &error), KN_UNSUPPORTED);
	assert_non_null(strstr(error.message, "attached"));
	assert_non_null(strstr(error.message, "reduced"));
	assert_true(knWorld_Hash(world) == hash);
	assert_ok(knWorld_Release(world, attached));
	run(world, 5, 0.005);
	knWorld_Destroy(world);
}

// However few joints may move, what hangs swings: of two hinges that go together one, if there is room for one only.
static void test_few_joints_swing(void** state) {
	(void)state;
	knBodyId bodies[24];
	ChainDef def = { .count = 24, .gravity = earth, .held = true };
	for (int active = 0; active <= 3; ++active) {
		knWorld* world = worldWith(newChain(&def, bodies), "adaptive", active, -1.0);
		run(world, 60, 0.005);
		double fallen = -knWorld_BodyCenter(world, bodies[23]).z;
		assert_true(knWorld_Report(world)->active <= active);
		assert_true(active == 0 ? knAbs(fallen) < 1e-12 : fallen > 0.3);
		knWorld_Destroy(world);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fully_active_is_reduced),
		cmocka_unit_test(test_freezing_keeps_momentum),
		cmocka_unit_test(test_region_is_part_of_the_state),
		cmocka_unit_test(test_rest_rigidifies_and_wakes),
		cmocka_unit_test(test_threshold_converges),
		cmocka_unit_test(test_loops_are_refused_by_name),
		cmocka_unit_test(test_frozen_links_touch),
		cmocka_unit_test(test_custom_joints_are_refused_by_name),
		cmocka_unit_test(test_attached_joints_are_refused),
		cmocka_unit_test(test_few_joints_swing),
		cmocka_unit_test(test_rows_of_contacts_hold_as_all_do),
		cmocka_unit_test(test_drives_of_frozen_joints_wake_them),
		cmocka_unit_test(test_no_threshold_moves_all),
		cmocka_unit_test(test_scripted_bodies_wake),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
