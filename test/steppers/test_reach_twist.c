// Twist limits that differ from corner to corner of a reach cone, under every stepper.
#include "steppers/methods.h"

#include "model/joint_reach.h"

#define DT 0.01

// A rod along x on a ball joint to the world; its reach cone has four corners, that at +y comes first.
static knJointDef limb(knScene* scene, knBodyId parent, knBodyId* rod, const double upper[4]) {
	*rod = newMass(scene, knMakeFrame(knV3(0.5, 0.0, 0.0), knIdentityQ()), 1.0, knV3(0.01, 0.08, 0.08));
	knJointDef def = jointAt(scene, KN_JOINT_BALL, parent, *rod, knZero3(), knV3(1.0, 0.0, 0.0));
	// the joint's axes need not be the world's
	const knQuat turn = def.frameParent.q;
	static const double corners[4][2] = { { 0.6, 0.0 }, { 0.0, 0.7 }, { -0.5, 0.0 }, { 0.0, -0.6 } };
	def.reachCount = 4;
	for (int i = 0; i < 4; ++i) {
		def.reach[i] = knInvRotate(turn, knV3(1.0, corners[i][0], corners[i][1]));
		def.reachTwist[i] = (knReachTwist){ .own = true, .lower = -0.2 - 0.1 * i, .upper = upper[i] };
	}
	def.twistLimited = true;
	def.twistLower = -0.5;
	def.twistUpper = 0.4;
	return def;
}

// Direction, twist and limits of the world's only joint.
static knTwistRange look(knWorld* world, knBodyId rod, const knJointDef* def, knVec3* direction,
						 double* twist) {
	const knQuat parent = def->frameParent.q,
				 child = knMulQ(knWorld_BodyFrame(world, rod).q, def->frameChild.q);
	const knQuat q = knInvMulQ(parent, child);
	knJoint joint = { .kind = KN_JOINT_BALL,
					  .reachCount = 4,
					  .twistLimited = true,
					  .reachTwisted = true,
					  .twistLower = def->twistLower,
					  .twistUpper = def->twistUpper };
	for (int i = 0; i < 4; ++i) {
		joint.reach[i] = knNormalize(def->reach[i]);
		joint.reachLower[i] = def->reachTwist[i].lower;
		joint.reachUpper[i] = def->reachTwist[i].upper;
	}
	*direction = knRotate(q, knV3(1.0, 0.0, 0.0));
	*twist = 2.0 * knAtan2(q.w < 0.0 ? -q.x : q.x, q.w < 0.0 ? -q.w : q.w);
	return knReachCone_TwistRange(&joint, *direction);
}

static const double someUpper[4] = { 0.0, 0.3, 0.6, 0.1 };

// Flung about with gravity, it never leaves its limits, and meets those of the twist.
static void test_flung_limb_stays_within(void** state) {
	(void)state;
	for (int n = 0; n < 4 * METHODS; ++n) {
		const bool published = n % METHODS == PUBLISHED;
		knScene* scene = newScene(earth);
		knBodyId rod;
		knJointDef def = limb(scene, KN_WORLD_BODY, &rod, someUpper);
		const double heading = 1.6 * (n / METHODS) + 0.3;
		const knVec3 spin = knV3(n / METHODS % 2 == 0 ? 6.0 : -6.0, 5.0 * cos(heading), 5.0 * sin(heading));
		knScene_EditBody(scene, rod)->angularVelocity = spin;
		knScene_EditBody(scene, rod)->velocity = knCross(spin, knV3(0.5, 0.0, 0.0));
		knJointId joint = newJoint(scene, &def);
		knWorld* world = worldOf(scene, n % METHODS);
		double least = 1.0;
		for (int k = 0; k < 200; ++k) {
			run(world, 1, DT);
			knJointError error = knWorld_MeasureJoint(world, joint);
			assert_true(error.distance < (published ? 1e-2 : 1e-4));
			assert_true(error.angle < (published ? 2e-2 : 2e-3));
			knVec3 direction;
			double twist;
			const knTwistRange range = look(world, rod, &def, &direction, &twist);
			assert_true(twist < range.upper + 0.03 && twist > range.lower - 0.03);
			least = knMin(least, knMin(range.upper - twist, twist - range.lower));
		}
		assert_true(least < 1e-3);
		knWorld_Destroy(world);
	}
}

// Swung towards a corner where less twist is allowed, a rod at its limit is turned back; one whose limit is the same everywhere
// is not.
static void test_swing_takes_twist_back(void** state) {
	(void)state;
	for (int n = 0; n < 2 * METHODS; ++n) {
		const bool constant = n >= METHODS;
		const double upper[4] = { constant ? 0.4 : 0.0, 0.4, 0.4, 0.4 };
		knScene* scene = newScene(noGravity);
		knBodyId rod;
		knJointDef def = limb(scene, KN_WORLD_BODY, &rod, upper);
		// the rod begins at its limit
		knScene_EditBody(scene, rod)->frame.q = knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.4);
		knScene_EditBody(scene, rod)->angularVelocity = knV3(0.0, 0.0, 1.0);
		knScene_EditBody(scene, rod)->velocity = knV3(0.0, 0.5, 0.0);
		newJoint(scene, &def);
		knWorld* world = worldOf(scene, n % METHODS);
		knVec3 direction;
		double twist;
		look(world, rod, &def, &direction, &twist);
		assert_near(twist, 0.4, 1e-9);
		run(world, 45, DT);
		const knTwistRange range = look(world, rod, &def, &direction, &twist);
		assert_true(knAtan2(sqrt(direction.y * direction.y + direction.z * direction.z), direction.x) > 0.35);
		if (constant) {
			assert_near(twist, 0.4, 1e-9);
		} else {
			// not beyond the limit, nor farther than the swing's last change of it
			assert_true(range.upper < 0.15);
			assert_true(twist < range.upper + 1e-3 && twist > range.upper - 0.05);
		}
		knWorld_Destroy(world);
	}
}

// Turned about its own axis by a steady torque, with damping, it screws itself into the corner that allows the most twist.
static void test_torque_finds_the_widest_corner(void** state) {
	(void)state;
	for (int n = 0; n < 4 * METHODS; ++n) {
		const int widest = n / METHODS;
		double upper[4] = { 0.1, 0.1, 0.1, 0.1 };
		upper[widest] = 1.2;
		knScene* scene = newScene(noGravity);
		knBodyId rod;
		knJointDef def = limb(scene, KN_WORLD_BODY, &rod, upper);
		def.axis[0].motorMode = KN_MOTOR_FORCE;
		def.axis[0].motorTarget = 0.5;
		def.axis[0].damping = def.axis[1].damping = def.axis[2].damping = 0.2;
		newJoint(scene, &def);
		knWorld* world = worldOf(scene, n % METHODS);
		run(world, 1000, DT);
		knVec3 direction;
		double twist;
		look(world, rod, &def, &direction, &twist);
		assert_near3(direction, knNormalize(def.reach[widest]), 1e-2);
		assert_near(twist, 1.2, 1e-2);
		knWorld_Destroy(world);
	}
}

// A beam lies at the edge of its reach cone, twisted to its limit by a box that stands off its middle: limits and contact hold
// both, and the joint carries their weight.
static void test_limits_bear_a_load(void** state) {
	(void)state;
	for (int method = 0; method < METHODS; ++method) {
		knScene* scene = newScene(earth);
		const knShapeDef rough = material(0.9, 0.0);
		knBodyId beam = newBox(scene, knV3(1.0, 0.0, 0.0), knV3(1.0, 0.4, 0.1), rough);
		knBodyId box = newBox(scene, knV3(1.5, 0.2, 0.2), knV3(0.1, 0.1, 0.1), rough);
		knJointDef def = jointAt(scene, KN_JOINT_BALL, KN_WORLD_BODY, beam, knZero3(), knV3(1.0, 0.0, 0.0));
		const knQuat turn = def.frameParent.q;
		def.reachCount = 4;
		for (int i = 0; i < 4; ++i) {
			const double a = 0.5 * KN_PI * i + 0.25 * KN_PI;
			def.reach[i] = knInvRotate(turn, knV3(1.0, 0.2 * cos(a), 0.2 * sin(a)));
			def.reachTwist[i] = (knReachTwist){ true, -0.02 - 0.002 * i, 0.04 - 0.002 * i };
		}
		def.twistLimited = true;
		def.twistLower = -0.05;
		def.twistUpper = 0.05;
		knJointId joint = newJoint(scene, &def);
		knWorld* world = worldOf(scene, method);
		run(world, 400, DT);
		const knMeasures measures = knWorld_Measure(world);
		assert_true(knWorld_MeasureJoint(world, joint).angle < 1e-9);
		const double weight = (2.0 * 0.8 * 0.2 + 0.2 * 0.2 * 0.2) * 1000.0 * 9.81;
		assert_near(knWorld_JointReaction(world, joint).lin.z, weight,
					(method == PUBLISHED ? 2e-3 : 1e-5) * weight);
		// it may swing along the side, no more
		assert_near(knWorld_BodyCenter(world, beam).z, -0.14, 1e-4);
		assert_near(knWorld_BodyCenter(world, box).y, 0.2, method == PUBLISHED ? 0.1 : 0.01);
		assert_true(measures.kinetic < 0.01);
		knWorld_Destroy(world);
	}
}

// Two rods flung against each other's limits: both momenta stay.
static void test_momentum_stays(void** state) {
	(void)state;
	for (int method = 0; method < METHODS; ++method) {
		knScene* scene = newScene(noGravity);
		knBodyId trunk =
			newMass(scene, knMakeFrame(knV3(-0.4, 0.0, 0.0), knIdentityQ()), 3.0, knV3(0.1, 0.2, 0.3));
		knBodyId rod;
		knJointDef def = limb(scene, trunk, &rod, someUpper);
		knScene_EditBody(scene, rod)->angularVelocity = knV3(5.0, 1.0, 4.0);
		knScene_EditBody(scene, rod)->velocity = knV3(0.3, 2.0, 0.5);
		knJointId joint = newJoint(scene, &def);
		knWorld* world = worldOf(scene, method);
		knMeasures start = knWorld_Measure(world);
		run(world, 200, DT);
		knMeasures end = knWorld_Measure(world);
		assert_near3(end.momentum, start.momentum, 1e-12);
		assert_near3(end.angularMomentum, start.angularMomentum, method == PUBLISHED ? 1e-6 : 2e-12);
		assert_true(end.kinetic <= start.kinetic + 1e-9);
		assert_true(knWorld_MeasureJoint(world, joint).angle < (method == PUBLISHED ? 2e-2 : 2e-3));
		knWorld_Destroy(world);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flung_limb_stays_within),
		cmocka_unit_test(test_swing_takes_twist_back),
		cmocka_unit_test(test_torque_finds_the_widest_corner),
		cmocka_unit_test(test_limits_bear_a_load),
		cmocka_unit_test(test_momentum_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
