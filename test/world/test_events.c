// Contacts, begin and end events, sensors, joints that give way.
#include "world/fixture.h"

#define DT 0.01

static bool samePair(knTouchEvent event, knShapeId a, knShapeId b) {
	return (KN_ID_EQUALS(event.shapeA, a) && KN_ID_EQUALS(event.shapeB, b)) ||
		   (KN_ID_EQUALS(event.shapeA, b) && KN_ID_EQUALS(event.shapeB, a));
}

// A ball falls on the ground, stays (no further events), is lifted (one end), and falls again.
static void test_begin_and_end_once(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knShapeId ground = newGround(scene, material(0.6, 0.0));
	knBodyId body = newBox(scene, knV3(0.0, 0.0, 1.0), knV3(0.5, 0.4, 0.3), material(0.6, 0.0));
	knShapeId box = knScene_ShapeAt(scene, 1);
	knWorld* world = newWorld(scene);
	int begins = 0, ends = 0, count, touchStep = 0;
	for (int i = 0; i < 300; ++i) {
		run(world, 1, DT);
		const knTouchEvent* events = knWorld_BeginEvents(world, &count);
		if (count > 0) {
			assert_int_equal(count, 1);
			assert_true(samePair(events[0], ground, box) && !events[0].sensor);
			touchStep = i;
		}
		begins += count;
		knWorld_EndEvents(world, &count);
		ends += count;
	}
	assert_int_equal(begins, 1);
	assert_int_equal(ends, 0);
	// 0.7 m take sqrt(2 * 0.7 / 9.81) = 0.378 s
	assert_true(touchStep >= 35 && touchStep <= 39);

	assert_ok(knWorld_SetBodyFrame(world, body, knMakeFrame(knV3(0.0, 0.0, 2.0), knIdentityQ())));
	run(world, 1, DT);
	const knTouchEvent* events = knWorld_EndEvents(world, &count);
	assert_int_equal(count, 1);
	assert_true(samePair(events[0], ground, box));
	run(world, 1, DT);
	knWorld_EndEvents(world, &count);
	assert_int_equal(count, 0);
	knWorld_Destroy(world);
}

// A box that starts a hair's breadth above the ground lands on it: it touches, once and for all.
static void test_carried_is_touching(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	newBox(scene, knV3(0.0, 0.0, 0.50005), knV3(0.5, 0.5, 0.5), material(0.6, 0.0));
	knWorld* world = newWorld(scene);
	int begins = 0, ends = 0, count;
	for (int i = 0; i < 100; ++i) {
		run(world, 1, DT);
		knWorld_BeginEvents(world, &count);
		begins += count;
		knWorld_EndEvents(world, &count);
		ends += count;
	}
	assert_int_equal(begins, 1);
	assert_int_equal(ends, 0);
	const knContact* contacts = knWorld_Contacts(world, &count);
	assert_true(count > 0);
	assert_near(contacts[0].point.separation, 0.0, 1e-9);
	knWorld_Destroy(world);
}

// Contacts name shapes and bodies, and their impulses stop the body.
static void test_contacts_carry_impulses(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	knBodyId left = newBall(scene, knV3(-1.0, 0.0, 0.0), 0.5, knV3(4.0, 0.0, 0.0), material(0.0, 1.0));
	knBodyId right = newBall(scene, knV3(1.0, 0.0, 0.0), 0.5, knZero3(), material(0.0, 1.0));
	knWorld* world = newWorld(scene);
	double mass = knModel_BodyMass(knWorld_Model(world), left).mass;
	knVec3 sum = knZero3();
	for (int i = 0; i < 60; ++i) {
		run(world, 1, DT);
		int count;
		const knContact* contacts = knWorld_Contacts(world, &count);
		for (int k = 0; k < count; ++k) {
			assert_true(KN_ID_EQUALS(contacts[k].bodyA, left) && KN_ID_EQUALS(contacts[k].bodyB, right));
			assert_near3(contacts[k].point.normal, knV3(1.0, 0.0, 0.0), 1e-12);
			sum = knAdd(sum, contacts[k].impulse);
		}
	}
	// equal masses, full restitution: the balls exchange their velocities
	assert_near3(sum, knV3(4.0 * mass, 0.0, 0.0), 1e-9);
	assert_near3(knWorld_BodyVelocity(world, left), knZero3(), 1e-12);
	assert_near3(knWorld_BodyVelocity(world, right), knV3(4.0, 0.0, 0.0), 1e-12);
	knWorld_Destroy(world);
}

// A ball flies through a sensor undisturbed; one begin, one end, no contact.
static void test_sensor(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	newBall(scene, knV3(-2.0, 0.0, 0.0), 0.2, knV3(5.0, 0.0, 0.0), material(0.5, 0.0));
	knShapeDef gate = knShapeDef_Default();
	gate.sensor = true;
	knError error = { 0 };
	assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, KN_WORLD_BODY, knV3(0.1, 1.0, 1.0), &gate, &error)));
	knWorld* world = newWorld(scene);
	int begins = 0, ends = 0, count;
	for (int i = 0; i < 100; ++i) {
		run(world, 1, DT);
		const knTouchEvent* events = knWorld_BeginEvents(world, &count);
		begins += count;
		assert_true(count == 0 || events[0].sensor);
		knWorld_EndEvents(world, &count);
		ends += count;
		knWorld_Contacts(world, &count);
		assert_int_equal(count, 0);
		assert_int_equal(knWorld_Report(world)->contacts, 0);
	}
	assert_int_equal(begins, 1);
	assert_int_equal(ends, 1);
	knBodyId ball = knModel_BodyAt(knWorld_Model(world), 0);
	assert_near3(knWorld_BodyCenter(world, ball), knV3(3.0, 0.0, 0.0), 1e-12);
	knWorld_Destroy(world);
}

// Switching a shape off ends its touches; switching it on again begins them anew.
static void test_disabled_shape(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knShapeId ground = newGround(scene, material(0.6, 0.0));
	knBodyId box = newBox(scene, knV3(0.0, 0.0, 0.3), knV3(0.3, 0.3, 0.3), material(0.6, 0.0));
	knWorld* world = newWorld(scene);
	run(world, 5, DT);
	assert_ok(knWorld_SetShapeEnabled(world, ground, false));
	run(world, 1, DT);
	int count;
	knWorld_EndEvents(world, &count);
	assert_int_equal(count, 1);
	run(world, 9, DT);
	assert_near(knWorld_BodyVelocity(world, box).z, -9.81 * 10 * DT, 1e-9);
	knWorld_Destroy(world);
}

// --- joints that give way --------------------------------------------------------------------------------

// A weight on a joint that carries 1.5 times it: holds at rest, gives way when the weight doubles.
static void test_overload_releases(void** state) {
	(void)state;
	for (int attached = 0; attached < 2; ++attached) {
		knScene* scene = newScene(earth);
		knScene_Def(scene)->jointCapacity = 1;
		knBodyId weight =
			newMass(scene, knMakeFrame(knV3(0.0, 0.0, -1.0), knIdentityQ()), 2.0, knV3(0.1, 0.1, 0.1));
		knJointDef def = jointAt(scene, KN_JOINT_BALL, KN_WORLD_BODY, weight, knZero3(), knV3(1.0, 0.0, 0.0));
		def.maxForce = 1.5 * 2.0 * 9.81;
		knJointId joint = { 0 };
		if (!attached) {
			joint = newJoint(scene, &def);
		}
		knWorld* world = newWorld(scene);
		if (attached) {
			joint = knWorld_Attach(world, &def, NULL);
			assert_false(KN_ID_IS_NULL(joint));
		}
		int count;
		for (int i = 0; i < 100; ++i) {
			run(world, 1, DT);
			knWorld_JointEvents(world, &count);
			assert_int_equal(count, 0);
		}
		assert_ok(knWorld_AddForce(world, weight, knV3(0.0, 0.0, -2.0 * 9.81)));
		run(world, 1, DT);
		const knJointEvent* events = knWorld_JointEvents(world, &count);
		assert_int_equal(count, 1);
		assert_true(KN_ID_EQUALS(events[0].joint, joint));
		assert_near(events[0].force, 2.0 * 2.0 * 9.81, 1e-2);
		assert_true(knWorld_HasJoint(world, joint) == !attached);
		assert_true(attached || !knWorld_JointEnabled(world, joint));

		// it falls freely from then on
		double start = knWorld_BodyVelocity(world, weight).z;
		run(world, 10, DT);
		assert_near(knWorld_BodyVelocity(world, weight).z, start - 9.81 * 10 * DT, 1e-9);
		knWorld_JointEvents(world, &count);
		assert_int_equal(count, 0);
		knWorld_Destroy(world);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begin_and_end_once),      cmocka_unit_test(test_carried_is_touching),
		cmocka_unit_test(test_contacts_carry_impulses), cmocka_unit_test(test_sensor),
		cmocka_unit_test(test_disabled_shape),          cmocka_unit_test(test_overload_releases),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
