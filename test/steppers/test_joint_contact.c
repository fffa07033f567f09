// Joints and contacts together under the impulse stepper, against statics and conservation laws.
#include "world/fixture.h"

#define DT 0.01
#define G 9.81

static knWorld* impulseWorld(knScene* scene) {
	knSettings settings = knSettings_Default();
	settings.sweeps = 9;
	knWorldDef def = knWorldDef_Default();
	def.stepper = "impulse";
	def.settings = &settings;
	return newWorldWith(scene, &def);
}

static double deepest(knWorld* world) {
	knPenetration penetration;
	knError error = { 0 };
	assert_ok(knWorld_MeasurePenetration(world, &penetration, &error));
	return penetration.max;
}

static void addBall(knScene* scene, knBodyId parent, knBodyId child, knVec3 anchor) {
	knJointDef def = jointAt(scene, KN_JOINT_BALL, parent, child, anchor, knV3(1.0, 0.0, 0.0));
	newJoint(scene, &def);
}

// A rope bridge of twelve planks between two walls, sagging, and a load of two hundred times a plank's mass: it stops the load,
// holds together, and in the end the walls carry the weight of all.
static void test_heavy_load_on_light_planks(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knShapeDef light = material(0.6, 0.0), heavy = material(0.6, 0.0);
	light.density = 50.0;
	heavy.density = 5000.0;
	knBodyId previous = KN_WORLD_BODY, first = KN_WORLD_BODY;
	const double sides[2] = { -0.4, 0.4 };
	double z = 0.0;
	knVec3 joint = knV3(-6.0 * 0.5 * knCos(0.25), 0.0, 3.0);
	for (int i = 0; i < 12; ++i) {
		double slope = 0.5 * (i - 5.5) / 5.5;
		knVec3 along = knV3(knCos(slope), 0.0, knSin(slope)), middle = knMulAdd(joint, 0.25, along);
		knBodyDef def = knBodyDef_Default();
		def.frame = knMakeFrame(middle, knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), -slope));
		knBodyId plank = newBody(scene, &def);
		knError error = { 0 };
		assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, plank, knV3(0.23, 0.5, 0.04), &light, &error)));
		for (int k = 0; k < 2; ++k) {
			addBall(scene, previous, plank, knAdd(joint, knV3(0.0, sides[k], 0.0)));
		}
		joint = knMulAdd(joint, 0.5, along);
		first = i == 0 ? plank : first;
		previous = plank;
		z = knMin(z == 0.0 ? middle.z : z, middle.z);
	}
	for (int k = 0; k < 2; ++k) {
		addBall(scene, previous, KN_WORLD_BODY, knAdd(joint, knV3(0.0, sides[k], 0.0)));
	}
	knBodyId load = newBox(scene, knV3(0.0, 0.0, z + 0.8), knV3(0.3, 0.3, 0.3), heavy);
	knWorld* world = impulseWorld(scene);
	const knModel* model = knWorld_Model(world);
	assert_true(knModel_BodyMass(model, load).mass > 200.0 * knModel_BodyMass(model, first).mass);
	double total = 0.0, worst = 0.0;
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		total += knModel_BodyMass(model, knModel_BodyAt(model, i)).mass;
	}
	for (int i = 0; i < 500; ++i) {
		run(world, 1, DT);
		worst = knMax(worst, knWorld_Measure(world).jointError);
		assert_true(i % 10 != 0 || deepest(world) < 0.01);
	}
	assert_true(worst < 1e-6);
	assert_true(deepest(world) < 1e-3);
	assert_true(knWorld_BodyCenter(world, load).z > z);
	// the walls' joints are the first two and the last two; reactions act on the child. Joints do not damp: the mean of a second
	double carried = 0.0;
	const int joints = knModel_JointCount(model), looks = 100;
	for (int n = 0; n < looks; ++n) {
		run(world, 1, DT);
		for (int i = 0; i < 2; ++i) {
			carried += knWorld_JointReaction(world, knModel_JointAt(model, i)).lin.z / looks;
			carried -= knWorld_JointReaction(world, knModel_JointAt(model, joints - 1 - i)).lin.z / looks;
		}
	}
	assert_near(carried, total * G, 0.01 * total * G);
	knWorld_Destroy(world);
}

// A pebble that goes farther than its own size in a step is followed by the stepper. The chain that it rolls along is solved as
// one problem all the same: its joints stay closed.
static void test_a_fast_pebble_leaves_a_chain_closed(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.5, 0.0));
	knBodyId previous = KN_WORLD_BODY;
	for (int i = 0; i < 8; ++i) {
		knBodyId link =
			newBox(scene, knV3(0.4 * i, 0.0, 0.3 + 0.02 * i), knV3(0.18, 0.1, 0.1), material(0.5, 0.0));
		if (i > 0) {
			addBall(scene, previous, link, knV3(0.4 * i - 0.2, 0.0, 0.29 + 0.02 * i));
		}
		previous = link;
	}
	for (int i = 0; i < 6; ++i) {
		newBall(scene, knV3(0.1 + 0.4 * i, 0.0, 0.412 + 0.02 * i), 0.01, knV3(4.0, 0.0, 0.0),
				material(0.5, 0.0));
	}
	knWorld* world = impulseWorld(scene);
	double worst = 0.0;
	for (int i = 0; i < 60; ++i) {
		run(world, 1, DT);
		worst = knMax(worst, knWorld_Measure(world).jointError);
	}
	assert_true(worst < 1e-9);
	knWorld_Destroy(world);
}

// A motor of given torque presses a lever on the ground: force times arm is torque and weight together.
static void test_motor_presses(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.0, 0.0));
	knBodyId lever = newBox(scene, knV3(1.0, 0.0, 0.5), knV3(1.0, 0.05, 0.05), material(0.0, 0.0));
	knBodyId foot = newBall(scene, knV3(2.0, 0.0, 0.25), 0.25, knZero3(), material(0.0, 0.0));
	knJointDef hinge =
		jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, lever, knV3(0.0, 0.0, 0.5), knV3(0.0, 1.0, 0.0));
	hinge.axis[0].motorMode = KN_MOTOR_VELOCITY;
	hinge.axis[0].motorTarget = 5.0;
	hinge.axis[0].motorMaxForce = 400.0;
	newJoint(scene, &hinge);
	addBall(scene, lever, foot, knV3(2.0, 0.0, 0.5));
	knWorld* world = impulseWorld(scene);
	const knModel* model = knWorld_Model(world);
	double weights =
		G * (knModel_BodyMass(model, lever).mass * 1.0 + knModel_BodyMass(model, foot).mass * 2.0);
	run(world, 50, DT);
	int count;
	const knContact* contacts = knWorld_Contacts(world, &count);
	double pressed = 0.0;
	for (int i = 0; i < count; ++i) {
		pressed += knAbs(contacts[i].impulse.z) / DT;
	}
	assert_near(pressed, (400.0 + weights) / 2.0, 1e-3 * pressed);
	assert_true(knLength(knWorld_BodyVelocity(world, foot)) < 1e-4);
	knWorld_Destroy(world);
}

// A chain of blocks on a slope: friction above the slope's holds it, below lets it slide like one block.
static void test_chain_on_a_slope(void** state) {
	(void)state;
	for (int k = 0; k < 2; ++k) {
		double angle = 0.4, mu = k == 0 ? 1.5 * knSin(angle) / knCos(angle) : 0.2;
		knScene* scene = newScene(knV3(G * knSin(angle), 0.0, -G * knCos(angle)));
		newGround(scene, material(mu, 0.0));
		knBodyId blocks[5];
		for (int i = 0; i < 5; ++i) {
			blocks[i] = newBox(scene, knV3(0.5 * i, 0.0, 0.1), knV3(0.2, 0.2, 0.1), material(mu, 0.0));
			if (i > 0) {
				addBall(scene, blocks[i - 1], blocks[i], knV3(0.5 * i - 0.25, 0.0, 0.1));
			}
		}
		knWorld* world = impulseWorld(scene);
		run(world, 100, DT);
		double a = k == 0 ? 0.0 : G * (knSin(angle) - mu * knCos(angle));
		for (int i = 0; i < 5; ++i) {
			knVec3 v = knWorld_BodyVelocity(world, blocks[i]);
			assert_near(v.x, a, 1e-3);
			assert_near(v.z, 0.0, 1e-6);
		}
		knWorld_Destroy(world);
	}
}

// What happens between bodies alone leaves linear and angular momentum as they are.
static void test_momentum(void** state) {
	(void)state;
	knScene* scene = newScene(knZero3());
	knBodyId links[6];
	for (int i = 0; i < 6; ++i) {
		links[i] = newBox(scene, knV3(0.5 * i, 0.0, 0.0), knV3(0.22, 0.1, 0.1), material(0.5, 0.0));
		if (i > 0) {
			addBall(scene, links[i - 1], links[i], knV3(0.5 * i - 0.25, 0.0, 0.0));
		}
	}
	newBall(scene, knV3(1.0, 0.1, 0.7), 0.3, knV3(0.0, 0.3, -6.0), material(0.5, 0.0));
	newBall(scene, knV3(2.3, -0.1, -0.9), 0.3, knV3(0.2, 0.0, 5.0), material(0.5, 0.0));
	knWorld* world = impulseWorld(scene);
	knMeasures start = knWorld_Measure(world);
	bool met = false;
	for (int i = 0; i < 100; ++i) {
		run(world, 1, DT);
		knMeasures now = knWorld_Measure(world);
		int count;
		(void)knWorld_Contacts(world, &count);
		met = met || count > 0;
		assert_near3(now.momentum, start.momentum, 1e-12 * 600.0);
		assert_near3(now.angularMomentum, start.angularMomentum, 1e-12 * 600.0);
		assert_true(now.kinetic < start.kinetic * (1.0 + 1e-3));
		assert_true(now.jointError < 1e-8);
	}
	assert_true(met);
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heavy_load_on_light_planks),
		cmocka_unit_test(test_a_fast_pebble_leaves_a_chain_closed),
		cmocka_unit_test(test_motor_presses),
		cmocka_unit_test(test_chain_on_a_slope),
		cmocka_unit_test(test_momentum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
