// Edits of the topology between steps: what stays goes on as if nothing had happened.
#include "world/fixture.h"

#define DT 0.01

// A stack of boxes that needs its warm start to stand, and a lone one.
static knScene* stackScene(void) {
	knScene* scene = newScene(earth);
	knScene_Def(scene)->jointCapacity = 2;
	newGround(scene, material(0.6, 0.0));
	for (int i = 0; i < 5; ++i) {
		newBox(scene, knV3(0.0, 0.0, 0.5 + 1.0 * i), knV3(0.5, 0.5, 0.5), material(0.6, 0.0));
	}
	newBox(scene, knV3(6.0, 0.0, 0.5), knV3(0.5, 0.5, 0.5), material(0.6, 0.0));
	return scene;
}

static knPart ballPart(knGeom** ball) {
	*ball = knGeom_Sphere(0.3, NULL, NULL);
	assert_non_null(*ball);
	knPart part = { *ball, knShapeDef_Default() };
	return part;
}

// A body added far away does not disturb the rest by a single bit, warm starts included.
static void test_adding_leaves_the_rest_alone(void** state) {
	(void)state;
	knWorld* edited = newWorld(stackScene());
	knWorld* plain = newWorld(stackScene());
	run(edited, 60, DT);
	run(plain, 60, DT);
	knGeom* ball;
	knPart part = ballPart(&ball);
	knBodyDef def = knBodyDef_Default();
	def.name = "newcomer";
	def.frame.p = knV3(50.0, 0.0, 30.0);
	def.velocity = knV3(1.0, 0.0, 0.0);
	knBodyId added = knWorld_AddBody(edited, &def, &part, 1, NULL);
	knGeom_Release(ball);
	assert_false(KN_ID_IS_NULL(added));
	assert_true(knWorld_HasBody(edited, added) && !knWorld_HasBody(plain, added));
	assert_int_equal(knModel_BodyCount(knWorld_Model(edited)), 7);
	assert_near(knWorld_Time(edited), 0.6, 1e-12);
	run(edited, 60, DT);
	run(plain, 60, DT);
	for (int i = 0; i < 6; ++i) {
		knBodyId body = knModel_BodyAt(knWorld_Model(plain), i);
		assert_near3(knWorld_BodyCenter(edited, body), knWorld_BodyCenter(plain, body), 0.0);
		assert_near3(knWorld_BodyVelocity(edited, body), knWorld_BodyVelocity(plain, body), 0.0);
	}
	double t = 0.6;
	assert_near3(knWorld_BodyCenter(edited, added), knV3(50.0 + t, 0.0, 30.0 - 0.5 * 9.81 * t * t), 1e-12);
	knWorld_Destroy(edited);
	knWorld_Destroy(plain);
}

// Removing the lone box: the stack does not notice, the box's touch is over, its id is stale.
static void test_removing_leaves_the_rest_alone(void** state) {
	(void)state;
	knWorld* edited = newWorld(stackScene());
	knWorld* plain = newWorld(stackScene());
	run(edited, 60, DT);
	run(plain, 60, DT);
	knBodyId lone = knModel_BodyAt(knWorld_Model(plain), 5);
	assert_ok(knWorld_RemoveBody(edited, lone, NULL));
	assert_false(knWorld_HasBody(edited, lone));
	run(edited, 60, DT);
	run(plain, 60, DT);
	for (int i = 0; i < 5; ++i) {
		knBodyId body = knModel_BodyAt(knWorld_Model(plain), i);
		assert_near3(knWorld_BodyCenter(edited, body), knWorld_BodyCenter(plain, body), 0.0);
	}
	knWorld_Destroy(edited);
	knWorld_Destroy(plain);
}

// The bottom of the stack goes: all above falls, joints of the removed body go with it.
static void test_removing_a_support(void** state) {
	(void)state;
	knWorld* world = newWorld(stackScene());
	run(world, 30, DT);
	knBodyId bottom = knModel_BodyAt(knWorld_Model(world), 0),
			 second = knModel_BodyAt(knWorld_Model(world), 1);
	knBodyId third = knModel_BodyAt(knWorld_Model(world), 2),
			 fourth = knModel_BodyAt(knWorld_Model(world), 3);
	knJointDef def = knJointDef_Default(KN_JOINT_FREE);
	def.parent = bottom;
	def.child = second;
	knJointId gone = knWorld_Attach(world, &def, NULL);
	def.parent = third;
	def.child = fourth;
	def.collide = true;
	knJointId kept = knWorld_Attach(world, &def, NULL);
	assert_ok(knWorld_RemoveBody(world, bottom, NULL));
	assert_false(knWorld_HasJoint(world, gone));
	assert_true(knWorld_HasJoint(world, kept));
	double start = knWorld_BodyCenter(world, second).z;
	run(world, 20, DT);
	assert_near(knWorld_BodyCenter(world, second).z, start - 0.5 * 9.81 * 0.2 * 0.2, 1e-3);
	knWorld_Destroy(world);
}

// A refused edit says why and changes nothing.
static void test_refused_edits(void** state) {
	(void)state;
	knWorld* world = newWorld(stackScene());
	run(world, 10, DT);
	uint64_t hash = knWorld_Hash(world);
	const knModel* model = knWorld_Model(world);
	knError error = { 0 };
	knBodyDef def = knBodyDef_Default();
	def.hasMass = true;
	def.mass.mass = -1.0;
	assert_true(KN_ID_IS_NULL(knWorld_AddBody(world, &def, NULL, 0, &error)));
	assert_int_equal(error.status, KN_BAD_DATA);
	assert_true(strlen(error.message) > 0);
	assert_ptr_equal(knWorld_Model(world), model);
	assert_true(knWorld_Hash(world) == hash);
	knWorld_Destroy(world);
}

// However early memory runs out, an edit either happens or does not.
static void test_edit_out_of_memory(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knWorldDef worldDef = knWorldDef_Default();
	worldDef.allocator = &allocator;
	knWorld* world = newWorldWith(stackScene(), &worldDef);
	run(world, 30, DT);
	uint64_t hash = knWorld_Hash(world);
	knBodyDef def = knBodyDef_Default();
	def.frame.p.z = 20.0;
	def.hasMass = true;
	def.mass = (knMassProps){ .mass = 1.0, .inertia = knDiagonal33(1.0, 1.0, 1.0) };
	knBodyId body = { 0 };
	size_t live = memory.live;
	for (memory.failAfter = 0; KN_ID_IS_NULL(body); memory.failAfter += 1) {
		memory.calls = 0;
		knError error = { 0 };
		body = knWorld_AddBody(world, &def, NULL, 0, &error);
		if (KN_ID_IS_NULL(body)) {
			assert_int_equal(error.status, KN_NO_MEMORY);
			assert_true(knWorld_Hash(world) == hash);
			assert_true(memory.live == live);
		}
	}
	memory.failAfter = -1;
	run(world, 5, DT);
	knWorld_Destroy(world);
	assert_true(memory.live == 0);
}

// --- rebuild ---------------------------------------------------------------------------------------------

// Attached joints become authored ones: old ids, turns and motors go on, slots are free again.
static void test_rebuild(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	knScene_Def(scene)->jointCapacity = 1;
	knBodyDef def = knBodyDef_Default();
	def.hasMass = true;
	def.mass =
		(knMassProps){ .mass = 2.0, .center = { 0.1, 0.2, 0.3 }, .inertia = knDiagonal33(0.3, 0.4, 0.5) };
	knBodyId wheel = newBody(scene, &def);
	knWorld* world = newWorld(scene);
	knJointDef hinge = knJointDef_Default(KN_JOINT_HINGE);
	hinge.child = wheel;
	hinge.frameParent.p = hinge.frameChild.p = knV3(0.1, 0.0, 0.0);
	hinge.axis[0] = (knJointAxis){ .motorMode = KN_MOTOR_VELOCITY, .motorTarget = 1.0, .motorMaxForce = 1e3 };
	knJointId joint = knWorld_Attach(world, &hinge, NULL);
	assert_ok(knWorld_SetMotor(world, joint, 0, KN_MOTOR_VELOCITY, 8.0, 1e3));
	run(world, 200, DT);
	double before[7], after[7];
	knWorld_JointCoordinates(world, joint, before);
	assert_true(before[0] > 4.0 * KN_PI);
	knFrame frame = knWorld_JointFrame(world, joint);

	assert_ok(knWorld_Rebuild(world, NULL));
	assert_int_equal(knModel_JointCount(knWorld_Model(world)), 1);
	assert_true(knWorld_HasJoint(world, joint));
	knJointId authored = knModel_JointAt(knWorld_Model(world), 0);
	knWorld_JointCoordinates(world, joint, after);
	assert_near(after[0], before[0], 0.0);
	knWorld_JointCoordinates(world, authored, after);
	assert_near(after[0], before[0], 0.0);
	assert_near3(knWorld_JointFrame(world, joint).p, frame.p, 1e-14);
	run(world, 100, DT);
	knWorld_JointCoordinates(world, joint, after);
	assert_near(after[0], before[0] + 8.0, 0.05);

	// the slot can be used again, under another id
	knJointId other = knWorld_Attach(world, &hinge, NULL);
	assert_false(KN_ID_IS_NULL(other) || KN_ID_EQUALS(other, joint));
	assert_ok(knWorld_Release(world, other));
	assert_true(knWorld_HasJoint(world, joint) && !knWorld_HasJoint(world, other));
	knWorld* clone = knWorld_Clone(world, NULL);
	assert_non_null(clone);
	assert_true(knWorld_HasJoint(clone, joint));
	knWorld_Destroy(clone);
	assert_ok(knWorld_Rebuild(world, NULL)); // nothing to do
	knWorld_Destroy(world);
}

// What a joint was attached with is what is authored: bearing, reach cone, twist limits of its corners.
static void test_rebuild_keeps_parts(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	knScene_Def(scene)->jointCapacity = 1;
	knBodyId limb = newMass(scene, knIdentityF(), 1.0, knV3(0.1, 0.1, 0.1));
	knWorld* world = newWorld(scene);
	knJointDef ball = knJointDef_Default(KN_JOINT_BALL);
	ball.child = limb;
	ball.axis[1].bearing = 0.02;
	ball.reachCount = 3;
	for (int i = 0; i < 3; ++i) {
		ball.reach[i] = knNormalize(knV3(1.0, cos(2.1 * i), sin(2.1 * i)));
	}
	ball.twistLimited = true;
	ball.twistLower = -0.3;
	ball.twistUpper = 0.4;
	ball.reachTwist[1] = (knReachTwist){ true, -0.1, 0.2 };
	assert_false(KN_ID_IS_NULL(knWorld_Attach(world, &ball, NULL)));
	assert_ok(knWorld_Rebuild(world, NULL));
	const knModel* model = knWorld_Model(world);
	const knJointDef* authored = knScene_GetJoint(knModel_Scene(model), knModel_JointAt(model, 0));
	assert_near(authored->axis[1].bearing, 0.02, 0.0);
	assert_int_equal(authored->reachCount, 3);
	for (int i = 0; i < 3; ++i) {
		assert_near3(authored->reach[i], ball.reach[i], 1e-15);
		assert_near(authored->reachTwist[i].lower, i == 1 ? -0.1 : -0.3, 0.0);
		assert_near(authored->reachTwist[i].upper, i == 1 ? 0.2 : 0.4, 0.0);
	}
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adding_leaves_the_rest_alone),
		cmocka_unit_test(test_removing_leaves_the_rest_alone),
		cmocka_unit_test(test_removing_a_support),
		cmocka_unit_test(test_refused_edits),
		cmocka_unit_test(test_edit_out_of_memory),
		cmocka_unit_test(test_rebuild),
		cmocka_unit_test(test_rebuild_keeps_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
