// Parts of joints under the articulation solve: limits, motors, servos, friction, springs; reactions; immovable bodies;
// joints made and released at run time.
#include "steppers/joint_step.h"

#define G 9.81
#define DT 0.01

// A wheel of inertia 0.5 on a hinge along z, axis parts as given.
static JointWorld wheel(const knJointAxis* axis, double spin) {
	knScene* scene = newScene(noGravity);
	knBodyId body = newMass(scene, knIdentityF(), 2.0, knV3(0.4, 0.4, 0.5));
	knScene_EditBody(scene, body)->angularVelocity = knV3(0.0, 0.0, spin);
	knJointDef def = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, body, knZero3(), knV3(0.0, 0.0, 1.0));
	def.axis[0] = *axis;
	newJoint(scene, &def);
	return newJointWorld(scene);
}

static void steps(JointWorld* w, int count) {
	for (int k = 0; k < count; ++k) {
		stepJoints(w, DT);
	}
}

static void test_velocity_motor(void** state) {
	(void)state;
	knJointAxis axis = { .motorMode = KN_MOTOR_VELOCITY, .motorTarget = 3.0, .motorMaxForce = 2.0 };
	JointWorld w = wheel(&axis, 0.0);
	steps(&w, 50);
	assert_near(w.state.velocity[1].ang.z, 2.0 / 0.5 * 0.5, 1e-9); // at full torque
	steps(&w, 100);
	assert_near(w.state.velocity[1].ang.z, 3.0, 1e-9);
	assert_near(w.work, 0.5 * 0.5 * 9.0, 1e-9);
	freeJointWorld(&w);
}

static void test_servo(void** state) {
	(void)state;
	knJointAxis axis = { .motorMode = KN_MOTOR_POSITION, .motorTarget = 1.2, .motorMaxForce = 5.0 };
	JointWorld w = wheel(&axis, 0.0);
	steps(&w, 400);
	assert_near(w.state.q[0], 1.2, 1e-4);
	assert_near(w.state.velocity[1].ang.z, 0.0, 1e-3);
	freeJointWorld(&w);
}

static void test_friction_slows_evenly_and_holds(void** state) {
	(void)state;
	knJointAxis axis = { .friction = 0.5 };
	JointWorld w = wheel(&axis, 2.0);
	steps(&w, 100);
	assert_near(w.state.velocity[1].ang.z, 2.0 - 0.5 / 0.5 * 1.0, 1e-9);
	steps(&w, 200);
	assert_near(w.state.velocity[1].ang.z, 0.0, 1e-12);
	freeJointWorld(&w);
}

static void test_damping_is_implicit(void** state) {
	(void)state;
	knJointAxis axis = { .damping = 0.8 };
	JointWorld w = wheel(&axis, 2.0);
	steps(&w, 30);
	double expected = 2.0;
	for (int k = 0; k < 30; ++k) {
		expected /= 1.0 + DT * 0.8 / 0.5;
	}
	assert_near(w.state.velocity[1].ang.z, expected, 1e-9);
	freeJointWorld(&w);
}

// A spring of any stiffness comes to rest at its rest position and never gains energy.
static void test_stiff_spring(void** state) {
	(void)state;
	knJointAxis axis = { .stiffness = 1e6, .rest = 0.4 };
	JointWorld w = wheel(&axis, 1.0);
	double most = 0.0;
	for (int k = 0; k < 300; ++k) {
		stepJoints(&w, DT);
		most = knMax(most, knAbs(w.state.velocity[1].ang.z));
	}
	assert_near(w.state.q[0], 0.4, 1e-6);
	assert_true(most < 0.4 / DT + 1.0);
	freeJointWorld(&w);
}

static void test_hinge_limit(void** state) {
	(void)state;
	knJointAxis axis = { .limited = true, .lower = -0.5, .upper = 0.5 };
	JointWorld w = wheel(&axis, 4.0);
	for (int k = 0; k < 100; ++k) {
		stepJoints(&w, DT);
		assert_true(w.state.q[0] <= 0.5 + 1e-6);
	}
	assert_near(w.state.q[0], 0.5, 1e-6);
	assert_near(w.state.velocity[1].ang.z, 0.0, 1e-6);
	freeJointWorld(&w);
}

// A rod on a ball joint is flung into the corners of a reach cone that is not convex: it leaves it by what the sweeps leave over.
static void test_reach_cone(void** state) {
	(void)state;
	for (int k = 0; k < 8; ++k) {
		knScene* scene = newScene(earth);
		knBodyId rod =
			newMass(scene, knMakeFrame(knV3(0.5, 0.0, 0.0), knIdentityQ()), 1.0, knV3(0.01, 0.08, 0.08));
		knVec3 spin = knV3(2.0, 6.0 * cos(0.8 * k), 6.0 * sin(0.8 * k));
		knScene_EditBody(scene, rod)->angularVelocity = spin;
		knScene_EditBody(scene, rod)->velocity = knCross(spin, knV3(0.5, 0.0, 0.0));
		knJointDef def = jointAt(scene, KN_JOINT_BALL, KN_WORLD_BODY, rod, knZero3(), knV3(1.0, 0.0, 0.0));
		// an arrowhead
		static const double corners[4][2] = { { 0.6, 0.0 }, { -0.4, 0.7 }, { -0.1, 0.0 }, { -0.4, -0.7 } };
		def.reachCount = 4;
		for (int i = 0; i < 4; ++i) {
			def.reach[i] = knV3(1.0, corners[i][0], corners[i][1]);
		}
		def.twistLimited = k % 2 == 1;
		def.twistLower = -0.3;
		def.twistUpper = 0.3;
		newJoint(scene, &def);
		JointWorld w = newJointWorld(scene);
		double farthest = 0.0;
		for (int n = 0; n < 200; ++n) {
			stepJoints(&w, DT);
			knJointErrors errors = knMeasure_Joints(w.model, &w.state);
			assert_true(errors.maxDistance < 1e-2);
			assert_true(errors.maxAngle < 2e-2);
			farthest = knMax(farthest, knDistance(w.state.pose[1].p, knV3(0.5, 0.0, 0.0)));
		}
		assert_true(farthest > 0.1);
		freeJointWorld(&w);
	}
}

// A kinematic body draws a load along, and the work that it puts in is what the load gains.
static void test_kinematic_parent(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	knBodyDef hand = knBodyDef_Default();
	hand.kind = KN_BODY_KINEMATIC;
	hand.velocity = knV3(0.0, 0.0, 2.0);
	knBodyId puller = newBody(scene, &hand);
	knBodyId load =
		newMass(scene, knMakeFrame(knV3(0.0, 0.0, -1.0), knIdentityQ()), 3.0, knV3(0.1, 0.1, 0.1));
	knJointDef def = jointAt(scene, KN_JOINT_BALL, puller, load, knZero3(), knV3(0.0, 0.0, 1.0));
	newJoint(scene, &def);
	JointWorld w = newJointWorld(scene);
	steps(&w, 50);
	assert_near(w.state.velocity[2].lin.z, 2.0, 1e-9);
	assert_near(w.state.pose[2].p.z, w.state.pose[1].p.z - 1.0, 1e-9);
	// the first step takes the load up to speed by an inelastic jerk: m v^2, half of which is lost
	assert_near(w.work, 3.0 * 4.0, 1e-6);
	freeJointWorld(&w);
}

// A joint between immovable bodies takes no part.
static void test_immovable_pair(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyDef fixed = knBodyDef_Default();
	fixed.kind = KN_BODY_FIXED;
	fixed.frame.p = knV3(1.0, 0.0, 0.0);
	knBodyId body = newBody(scene, &fixed);
	knJointDef def = jointAt(scene, KN_JOINT_FIXED, KN_WORLD_BODY, body, knZero3(), knV3(1.0, 0.0, 0.0));
	newJoint(scene, &def);
	JointWorld w = newJointWorld(scene);
	steps(&w, 3);
	assert_true(knState_IsFinite(&w.state, w.model));
	freeJointWorld(&w);
}

// --- in a world ------------------------------------------------------------------------------------------

// A joint made and released in every step, as between a tank's tread and gear: no memory is taken, momentum stays.
static void test_attach_and_release_every_step(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knScene* scene = newScene(noGravity);
	knScene_Def(scene)->jointCapacity = 1;
	knBodyId a = newMass(scene, knIdentityF(), 1.0, knV3(0.1, 0.1, 0.1));
	knBodyId b = newMass(scene, knMakeFrame(knV3(1.0, 0.0, 0.0), knIdentityQ()), 2.0, knV3(0.1, 0.2, 0.1));
	knScene_EditBody(scene, b)->velocity = knV3(0.0, 1.0, 0.0);
	knWorldDef def = knWorldDef_Default();
	def.stepper = "impulse";
	knSettings settings = knSettings_Default();
	settings.articulation = KN_ARTICULATION_SWEEP;
	def.settings = &settings;
	def.allocator = &allocator;
	knWorld* world = newWorldWith(scene, &def);
	knMeasures start = knWorld_Measure(world);
	int calls = 0;
	for (int k = 0; k < 40; ++k) {
		knError error = { 0 };
		knJointDef hinge = knJointDef_Default(KN_JOINT_HINGE);
		hinge.parent = a;
		hinge.child = b;
		hinge.frameChild.p = knInvPoint(knWorld_BodyFrame(world, b), knWorld_BodyCenter(world, a));
		hinge.frameChild.q = knInvMulQ(knWorld_BodyFrame(world, b).q, knWorld_BodyFrame(world, a).q);
		knJointId joint = knWorld_Attach(world, &hinge, &error);
		assert_false(KN_ID_IS_NULL(joint));
		run(world, 1, DT);
		assert_true(knWorld_MeasureJoint(world, joint).distance < 1e-9);
		assert_ok(knWorld_Release(world, joint));
		run(world, 1, DT);
		calls = k == 5 ? memory.calls : calls;
	}
	assert_int_equal(memory.calls, calls);
	knMeasures end = knWorld_Measure(world);
	assert_near3(end.momentum, start.momentum, 1e-12);
	assert_near3(end.angularMomentum, start.angularMomentum, 1e-12);
	knWorld_Destroy(world);
	assert_int_equal(memory.live, 0);
}

// Two loads hang on joints that bear 50 N: 4 kg stay, 6 kg fall, in the first step and freely from then on.
static void test_joint_gives_way(void** state) {
	(void)state;
	for (int paper = 0; paper < 2; ++paper) {
		knScene* scene = newScene(earth);
		knBodyId loads[2];
		for (int i = 0; i < 2; ++i) {
			knVec3 at = knV3(3.0 * i, 0.0, -0.5);
			loads[i] =
				newMass(scene, knMakeFrame(at, knIdentityQ()), i == 0 ? 4.0 : 6.0, knV3(0.1, 0.1, 0.1));
			knJointDef def = jointAt(scene, KN_JOINT_BALL, KN_WORLD_BODY, loads[i], knV3(3.0 * i, 0.0, 0.0),
									 knV3(0.0, 0.0, 1.0));
			def.maxForce = 50.0;
			newJoint(scene, &def);
		}
		knSettings settings = knSettings_Default();
		settings.scheme = paper ? KN_SCHEME_PAPER : KN_SCHEME_DEFAULT;
		knWorldDef def = knWorldDef_Default();
		def.stepper = "impulse";
		def.settings = &settings;
		knWorld* world = newWorldWith(scene, &def);
		run(world, 101, DT);
		assert_near(knWorld_BodyCenter(world, loads[0]).z, -0.5, 1e-6);
		// the published scheme moves by the velocity at the end of the step
		double fall = 0.5 * G * 1.0 * (1.0 + (paper ? DT : 0.0));
		assert_near(knWorld_BodyCenter(world, loads[1]).z, -0.5 - fall, 1e-6);
		knWorld_Destroy(world);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_velocity_motor),
		cmocka_unit_test(test_servo),
		cmocka_unit_test(test_friction_slows_evenly_and_holds),
		cmocka_unit_test(test_damping_is_implicit),
		cmocka_unit_test(test_stiff_spring),
		cmocka_unit_test(test_hinge_limit),
		cmocka_unit_test(test_reach_cone),
		cmocka_unit_test(test_kinematic_parent),
		cmocka_unit_test(test_immovable_pair),
		cmocka_unit_test(test_attach_and_release_every_step),
		cmocka_unit_test(test_joint_gives_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
