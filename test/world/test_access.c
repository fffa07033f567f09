// Reading a world: ids, body frames, joint coordinates.
#include "world/fixture.h"

static void test_ids(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyId first = newMass(scene, knIdentityF(), 1.0, knV3(1.0, 1.0, 1.0));
	knBodyId second = newMass(scene, knIdentityF(), 1.0, knV3(1.0, 1.0, 1.0));
	assert_ok(knScene_RemoveBody(scene, first, NULL));
	knWorld* world = newWorld(scene);
	assert_true(knWorld_HasBody(world, KN_WORLD_BODY));
	assert_false(knWorld_HasBody(world, first));
	assert_true(knWorld_HasBody(world, second));
	knBodyId stranger = { 99, 1 };
	assert_false(knWorld_HasBody(world, stranger));
	const knJointId joints[3] = { { 0, 0 }, { 1, 1 }, { 0x40000001, 1 } };
	for (int i = 0; i < 3; ++i) {
		assert_false(knWorld_HasJoint(world, joints[i]));
	}
	assert_near3(knWorld_BodyCenter(world, KN_WORLD_BODY), knZero3(), 0.0);
	knWorld_Destroy(world);
}

// A body whose centre is not its origin: the frame is the authored one, the centre is where the mass is.
static void test_body_frame_and_center(void** state) {
	(void)state;
	knTestRandom random = { 9 };
	knScene* scene = newScene(noGravity);
	knBodyDef def = knBodyDef_Default();
	def.frame = testFrame(&random, 2.0);
	def.hasMass = true;
	def.mass =
		(knMassProps){ .mass = 1.0, .center = { 0.3, -0.2, 0.1 }, .inertia = knDiagonal33(1.0, 1.5, 2.0) };
	def.angularVelocity = knV3(0.0, 0.0, 2.0);
	knBodyId body = newBody(scene, &def);
	knWorld* world = newWorld(scene);
	knFrame frame = knWorld_BodyFrame(world, body);
	assert_near3(frame.p, def.frame.p, 1e-15);
	assert_near3(knWorld_BodyCenter(world, body), knPoint(def.frame, def.mass.center), 1e-15);
	// the centre of mass is the point that does not move
	knVec3 expected = knCross(def.angularVelocity, knSub(frame.p, knWorld_BodyCenter(world, body)));
	assert_near3(knWorld_PointVelocity(world, body, frame.p), expected, 1e-15);
	knVec3 center = knWorld_BodyCenter(world, body);
	run(world, 10, 0.01);
	assert_near3(knWorld_BodyCenter(world, body), center, 1e-15);
	knWorld_Destroy(world);
}

// A slider at a distance: coordinate, velocity, frame; set by hand, they follow at once.
static void test_joint_coordinates(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	knBodyId body = newMass(scene, knMakeFrame(knV3(1.0, 2.0, 3.0), knIdentityQ()), 1.0, knV3(1.0, 1.0, 1.0));
	knJointDef def =
		jointAt(scene, KN_JOINT_SLIDER, KN_WORLD_BODY, body, knV3(1.0, 2.0, 3.0), knV3(0.0, 1.0, 0.0));
	knJointId joint = newJoint(scene, &def);
	knWorld* world = newWorld(scene);
	double q[7], v[6];
	assert_int_equal(knWorld_JointCoordinates(world, joint, q), 1);
	assert_near(q[0], 0.0, 1e-15);
	assert_ok(knWorld_SetBodyFrame(world, body, knMakeFrame(knV3(1.0, 2.7, 3.0), knIdentityQ())));
	assert_ok(knWorld_SetBodyVelocity(world, body, knV3(0.0, -0.4, 0.0), knZero3()));
	knWorld_JointCoordinates(world, joint, q);
	assert_int_equal(knWorld_JointVelocities(world, joint, v), 1);
	assert_near(q[0], 0.7, 1e-15);
	assert_near(v[0], -0.4, 1e-15);
	assert_near3(knWorld_JointFrame(world, joint).p, knV3(0.7, 0.0, 0.0), 1e-15);
	run(world, 50, 0.01);
	knWorld_JointCoordinates(world, joint, q);
	assert_near(q[0], 0.5, 1e-12);
	assert_ok(knWorld_ApplyImpulse(world, body, knV3(0.0, 1.0, 0.0), knWorld_BodyCenter(world, body)));
	knWorld_JointVelocities(world, joint, v);
	assert_near(v[0], 0.6, 1e-12);
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_body_frame_and_center),
		cmocka_unit_test(test_joint_coordinates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
