// Pushing and driving: impulses, poses, what is refused, joints attached, released, enabled and disabled.
#include "world/fixture.h"

#define DT 0.01

typedef struct Two {
	knWorld* world;
	knBodyId left, right; // balls of radius 0.5 and mass m at x = -1 and 1
	double mass;
} Two;

static Two newTwo(knVec3 gravity, int jointCapacity, const knAllocator* allocator) {
	knScene* scene = newScene(gravity);
	knScene_Def(scene)->jointCapacity = jointCapacity;
	Two two = { 0 };
	two.left = newBall(scene, knV3(-1.0, 0.0, 0.0), 0.5, knZero3(), material(0.5, 0.0));
	two.right = newBall(scene, knV3(1.0, 0.0, 0.0), 0.5, knZero3(), material(0.5, 0.0));
	knWorldDef def = knWorldDef_Default();
	def.allocator = allocator;
	two.world = newWorldWith(scene, &def);
	two.mass = knModel_BodyMass(knWorld_Model(two.world), two.left).mass;
	return two;
}

// --- impulses, poses, refusals ---------------------------------------------------------------------------

static void test_impulses(void** state) {
	(void)state;
	Two two = newTwo(noGravity, 0, NULL);
	knVec3 impulse = knV3(0.0, 0.0, 2.0 * two.mass), point = knV3(1.5, 0.0, 0.0);
	assert_ok(knWorld_ApplyImpulse(two.world, two.right, impulse, point));
	assert_near3(knWorld_BodyVelocity(two.world, two.right), knV3(0.0, 0.0, 2.0), 1e-14);
	// L = r x p, I = 2/5 m r^2
	knVec3 omega = knScale(1.0 / (0.4 * two.mass * 0.25), knCross(knV3(0.5, 0.0, 0.0), impulse));
	assert_near3(knWorld_BodyAngularVelocity(two.world, two.right), omega, 1e-12);
	knVec3 edge = knAdd(knV3(0.0, 0.0, 2.0), knCross(omega, knV3(0.5, 0.0, 0.0)));
	assert_near3(knWorld_PointVelocity(two.world, two.right, point), edge, 1e-12);
	assert_ok(knWorld_ApplyAngularImpulse(two.world, two.right, knScale(-0.4 * two.mass * 0.25, omega)));
	assert_near3(knWorld_BodyAngularVelocity(two.world, two.right), knZero3(), 1e-12);
	knWorld_Destroy(two.world);
}

static void test_set_frame_and_velocity(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	knBodyDef def = knBodyDef_Default();
	def.hasMass = true;
	def.mass =
		(knMassProps){ .mass = 1.0, .center = { 0.5, 0.0, 0.0 }, .inertia = knDiagonal33(1.0, 1.0, 1.0) };
	knBodyId body = newBody(scene, &def);
	knWorld* world = newWorld(scene);
	knFrame frame =
		knMakeFrame(knV3(1.0, 2.0, 3.0), knQ(2.0, 0.0, 0.0, 2.0)); // a quarter turn about z, not unit
	assert_ok(knWorld_SetBodyFrame(world, body, frame));
	assert_near3(knWorld_BodyFrame(world, body).p, frame.p, 1e-15);
	assert_near3(knWorld_BodyCenter(world, body), knV3(1.0, 2.5, 3.0), 1e-15);
	assert_near(knDotQ(knWorld_BodyFrame(world, body).q, knWorld_BodyFrame(world, body).q), 1.0, 1e-15);
	assert_ok(knWorld_SetBodyVelocity(world, body, knV3(1.0, 0.0, 0.0), knV3(0.0, 0.0, 2.0)));
	run(world, 1, DT);
	assert_near3(knWorld_BodyCenter(world, body), knV3(1.01, 2.5, 3.0), 1e-15);
	knWorld_Destroy(world);
}

static void test_nonsense_is_refused(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyId body = newMass(scene, knIdentityF(), 1.0, knV3(1.0, 1.0, 1.0));
	knBodyDef fixedDef = knBodyDef_Default();
	fixedDef.kind = KN_BODY_FIXED;
	knBodyId fixed = newBody(scene, &fixedDef);
	knJointDef hinge = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, body, knZero3(), knV3(0.0, 0.0, 1.0));
	knJointId joint = newJoint(scene, &hinge);
	knWorld* world = newWorld(scene);
	uint64_t hash = knWorld_Hash(world);
	knVec3 nan = knV3((double)NAN, 0.0, 0.0), fine = knV3(1.0, 0.0, 0.0);
	assert_int_equal(knWorld_AddForce(world, body, nan), KN_BAD_DATA);
	assert_int_equal(knWorld_AddForceAt(world, body, fine, nan), KN_BAD_DATA);
	assert_int_equal(knWorld_AddTorque(world, body, nan), KN_BAD_DATA);
	assert_int_equal(knWorld_ApplyImpulse(world, body, nan, fine), KN_BAD_DATA);
	assert_int_equal(knWorld_ApplyAngularImpulse(world, body, nan), KN_BAD_DATA);
	assert_int_equal(knWorld_SetBodyVelocity(world, body, fine, nan), KN_BAD_DATA);
	assert_int_equal(knWorld_SetBodyFrame(world, body, knMakeFrame(nan, knIdentityQ())), KN_BAD_DATA);
	assert_int_equal(knWorld_SetBodyFrame(world, body, knMakeFrame(fine, knQ(0.0, 0.0, 0.0, 0.0))),
					 KN_BAD_DATA);
	assert_int_equal(knWorld_SetGravity(world, nan), KN_BAD_DATA);
	assert_int_equal(knWorld_SetMotor(world, joint, 0, KN_MOTOR_VELOCITY, (double)NAN, 1.0), KN_BAD_DATA);
	assert_int_equal(knWorld_SetMotor(world, joint, 0, KN_MOTOR_VELOCITY, 1.0, -1.0), KN_BAD_DATA);
	assert_int_equal(knWorld_SetBodyFrame(world, fixed, knIdentityF()), KN_UNSUPPORTED);
	assert_int_equal(knWorld_SetBodyVelocity(world, fixed, fine, fine), KN_UNSUPPORTED);
	assert_true(knWorld_Hash(world) == hash);
	run(world, 1, DT);
	knWorld_Destroy(world);
}

// --- attaching -------------------------------------------------------------------------------------------

static knJointDef linkDef(const Two* two, knJointKind kind) {
	knJointDef def = knJointDef_Default(kind);
	def.parent = two->left;
	def.child = two->right;
	def.frameParent.p = knV3(1.0, 0.0, 0.0);
	def.frameChild.p = knV3(-1.0, 0.0, 0.0);
	return def;
}

// A rigid link makes one body of two; released, each goes on with what it has.
static void test_attach_and_release(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	Two two = newTwo(noGravity, 2, &allocator);
	run(two.world, 2, DT);
	knJointDef def = linkDef(&two, KN_JOINT_FIXED);
	int calls = memory.calls;
	knJointId joint = knWorld_Attach(two.world, &def, NULL);
	assert_false(KN_ID_IS_NULL(joint));
	assert_int_equal(memory.calls, calls);
	assert_true(knWorld_HasJoint(two.world, joint) && knWorld_JointEnabled(two.world, joint));
	assert_ok(knWorld_SetBodyVelocity(two.world, two.right, knV3(2.0, 0.0, 0.0), knZero3()));
	run(two.world, 20, DT);
	assert_near3(knWorld_BodyVelocity(two.world, two.left), knV3(1.0, 0.0, 0.0), 1e-9);
	assert_near3(knWorld_BodyVelocity(two.world, two.right), knV3(1.0, 0.0, 0.0), 1e-9);

	assert_ok(knWorld_Release(two.world, joint));
	assert_false(knWorld_HasJoint(two.world, joint));
	assert_ok(knWorld_SetBodyVelocity(two.world, two.right, knV3(3.0, 0.0, 0.0), knZero3()));
	run(two.world, 5, DT);
	assert_near3(knWorld_BodyVelocity(two.world, two.left), knV3(1.0, 0.0, 0.0), 1e-9);

	// the slot's next owner has another id
	knJointId next = knWorld_Attach(two.world, &def, NULL);
	assert_false(KN_ID_EQUALS(next, joint));
	assert_false(knWorld_HasJoint(two.world, joint));
	knWorld_Destroy(two.world);
	assert_true(memory.live == 0);
}

// Attached joints are found again by slot, with the bodies that they hold.
static void test_attached_joints_are_listed(void** state) {
	(void)state;
	Two two = newTwo(noGravity, 2, NULL);
	knJointDef def = linkDef(&two, KN_JOINT_FIXED);
	knBodyId parent, child;
	assert_int_equal(knWorld_AttachedSlots(two.world), 2);
	assert_true(KN_ID_IS_NULL(knWorld_AttachedAt(two.world, 0)));
	knJointId joint = knWorld_Attach(two.world, &def, NULL);
	assert_true(KN_ID_EQUALS(knWorld_AttachedAt(two.world, 0), joint));
	assert_true(KN_ID_IS_NULL(knWorld_AttachedAt(two.world, 1)) &&
				KN_ID_IS_NULL(knWorld_AttachedAt(two.world, 7)));
	knWorld_JointBodies(two.world, joint, &parent, &child);
	assert_true(KN_ID_EQUALS(parent, two.left) && KN_ID_EQUALS(child, two.right));
	assert_ok(knWorld_Release(two.world, joint));
	assert_true(KN_ID_IS_NULL(knWorld_AttachedAt(two.world, 0)));
	knWorld_JointBodies(two.world, joint, &parent, &child);
	assert_true(KN_ID_IS_NULL(parent) && KN_ID_IS_NULL(child));
	knWorld_Destroy(two.world);
}

static void test_enable_and_disable(void** state) {
	(void)state;
	Two two = newTwo(noGravity, 1, NULL);
	knJointDef def = linkDef(&two, KN_JOINT_BALL);
	def.enabled = false;
	knJointId joint = knWorld_Attach(two.world, &def, NULL);
	assert_false(knWorld_JointEnabled(two.world, joint));
	assert_ok(knWorld_SetBodyVelocity(two.world, two.right, knV3(0.5, 0.0, 0.0), knZero3()));
	run(two.world, 5, DT);
	assert_near3(knWorld_BodyVelocity(two.world, two.left), knZero3(), 0.0);
	assert_ok(knWorld_SetJointEnabled(two.world, joint, true));
	run(two.world, 100, DT);
	knVec3 relative =
		knSub(knWorld_BodyVelocity(two.world, two.right), knWorld_BodyVelocity(two.world, two.left));
	assert_true(knLength(relative) < 1e-6);
	assert_true(knLength(knWorld_JointFrame(two.world, joint).p) < 1e-6);
	knWorld_Destroy(two.world);
}

// Joined bodies pass through each other unless the joint says otherwise; released ones touch again.
static void test_joined_bodies_do_not_collide(void** state) {
	(void)state;
	for (int collide = 0; collide < 2; ++collide) {
		Two two = newTwo(noGravity, 1, NULL);
		knJointDef def = linkDef(&two, KN_JOINT_FREE);
		def.collide = collide;
		knJointId joint = knWorld_Attach(two.world, &def, NULL);
		assert_ok(knWorld_SetBodyVelocity(two.world, two.right, knV3(-3.0, 0.0, 0.0), knZero3()));
		int count, touches = 0;
		for (int i = 0; i < 50; ++i) {
			run(two.world, 1, DT);
			knWorld_Contacts(two.world, &count);
			touches += count;
		}
		assert_true((touches > 0) == (collide != 0));
		// a blow between joined bodies ends within the tolerance of their problem: a hundredth of what it was, in each step
		assert_near3(knWorld_BodyVelocity(two.world, two.left), knV3(collide ? -1.5 : 0.0, 0.0, 0.0), 1e-6);
		if (!collide) {
			assert_ok(knWorld_SetJointEnabled(two.world, joint, false));
			run(two.world, 1, DT);
			knWorld_Contacts(two.world, &count);
			assert_int_equal(count, 0);
			assert_ok(knWorld_Release(two.world, joint));
			run(two.world, 1, DT);
			knWorld_Contacts(two.world, &count);
			assert_true(count > 0);
		}
		knWorld_Destroy(two.world);
	}
}

// Beyond the capacity the world makes room by itself and loses nothing.
static void test_attach_beyond_capacity(void** state) {
	(void)state;
	Two two = newTwo(noGravity, 1, NULL);
	knJointDef def = linkDef(&two, KN_JOINT_FREE);
	knJointId joints[20];
	for (int i = 0; i < 20; ++i) {
		joints[i] = knWorld_Attach(two.world, &def, NULL);
		assert_false(KN_ID_IS_NULL(joints[i]));
		run(two.world, 1, DT);
	}
	for (int i = 0; i < 20; ++i) {
		assert_true(knWorld_HasJoint(two.world, joints[i]));
		for (int k = 0; k < i; ++k) {
			assert_false(KN_ID_EQUALS(joints[i], joints[k]));
		}
	}
	assert_true(knWorld_StepCount(two.world) == 20);
	knWorld_Destroy(two.world);
}

static void test_bad_attachment_is_refused(void** state) {
	(void)state;
	Two two = newTwo(noGravity, 1, NULL);
	knJointDef def = linkDef(&two, KN_JOINT_HINGE);
	def.child = def.parent;
	knError error = { 0 };
	assert_true(KN_ID_IS_NULL(knWorld_Attach(two.world, &def, &error)));
	assert_true(error.status == KN_BAD_DATA && strlen(error.message) > 0);
	run(two.world, 1, DT);
	knWorld_Destroy(two.world);
}

// Disabling an authored joint drops the weight; enabling it catches the weight again.
static void test_authored_joint_toggles(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyId weight =
		newMass(scene, knMakeFrame(knV3(0.0, 0.0, -1.0), knIdentityQ()), 1.0, knV3(0.1, 0.1, 0.1));
	knJointDef def =
		jointAt(scene, KN_JOINT_SLIDER, KN_WORLD_BODY, weight, knV3(0.0, 0.0, -1.0), knV3(1.0, 0.0, 0.0));
	knJointId joint = newJoint(scene, &def);
	knWorld* world = newWorld(scene);
	run(world, 50, DT);
	assert_near(knWorld_BodyCenter(world, weight).z, -1.0, 1e-9);
	assert_near(knWorld_JointReaction(world, joint).lin.z, 9.81, 1e-6);
	assert_ok(knWorld_Release(world, joint));
	assert_true(knWorld_HasJoint(world, joint) && !knWorld_JointEnabled(world, joint));
	run(world, 10, DT);
	assert_near(knWorld_BodyVelocity(world, weight).z, -0.981, 1e-9);
	assert_near3(knWorld_JointReaction(world, joint).lin, knZero3(), 0.0);
	assert_ok(knWorld_SetJointEnabled(world, joint, true));
	run(world, 100, DT);
	assert_near(knWorld_BodyCenter(world, weight).z, -1.0, 1e-4);
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_impulses),
		cmocka_unit_test(test_set_frame_and_velocity),
		cmocka_unit_test(test_nonsense_is_refused),
		cmocka_unit_test(test_attach_and_release),
		cmocka_unit_test(test_attached_joints_are_listed),
		cmocka_unit_test(test_enable_and_disable),
		cmocka_unit_test(test_joined_bodies_do_not_collide),
		cmocka_unit_test(test_attach_beyond_capacity),
		cmocka_unit_test(test_bad_attachment_is_refused),
		cmocka_unit_test(test_authored_joint_toggles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
