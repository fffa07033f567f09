// Keyframes: poses and velocities by forward kinematics, against hand computation, MuJoCo's conventions, and finite
// differences of the pose itself.
#include "mjcf_test.h"

// A planar double pendulum: x1 = l sin a, z1 = -l cos a and so on, with axis -y so that angles count from -z to x.
static void test_double_pendulum(void** state) {
	(void)state;
	knScene* scene =
		loadKey("<mujoco><default><joint axis='0 -1 0'/></default><worldbody>"
				"<body name='a'><joint/><geom size='0.1' pos='0 0 -1'/>"
				" <body name='b' pos='0 0 -2'><joint/><geom size='0.1' pos='0 0 -1'/></body></body>"
				"</worldbody><keyframe><key name='k' qpos='0.3 0.5' qvel='2 -3'/></keyframe></mujoco>",
				"k", NULL);
	const double a = 0.3, b = 0.8, ad = 2.0, bd = -1.0;
	const knBodyDef* first = bodyNamed(scene, "a");
	const knBodyDef* second = bodyNamed(scene, "b");
	assert_near3(second->frame.p, knV3(2.0 * sin(a), 0.0, -2.0 * cos(a)), 1e-15);
	// velocities of the centres of mass, which hang 1 m below each body's origin
	assert_near3(first->velocity, knV3(ad * cos(a), 0.0, ad * sin(a)), 1e-14);
	assert_near3(first->angularVelocity, knV3(0.0, -ad, 0.0), 1e-15);
	assert_near3(second->velocity,
				 knV3(2.0 * ad * cos(a) + bd * cos(b), 0.0, 2.0 * ad * sin(a) + bd * sin(b)), 1e-14);
	assert_near3(second->angularVelocity, knV3(0.0, -bd, 0.0), 1e-15);
	knScene_Destroy(scene);
}

// A free joint: qpos is position and quaternion (any length), qvel the velocity of the body's origin in world axes and
// the angular velocity in the body's axes. The centre of mass is at (1 0 0) of a body turned by 90 degrees about z.
static void test_free_joint(void** state) {
	(void)state;
	knScene* scene = loadKey(
		"<mujoco><worldbody><body name='b' pos='9 9 9'><freejoint/><geom size='0.1' pos='1 0 0'/></body>"
		"</worldbody><keyframe><key name='k' qpos='1 2 3 2 0 0 2' qvel='10 20 30 0 0 5'/></keyframe>"
		"</mujoco>",
		"k", NULL);
	const knBodyDef* body = bodyNamed(scene, "b");
	const double half = 0.70710678118654752;
	assert_near3(body->frame.p, knV3(1.0, 2.0, 3.0), 0.0);
	assert_same_rotation(body->frame.q, knQ(half, 0.0, 0.0, half), 1e-15);
	assert_near3(body->angularVelocity, knV3(0.0, 0.0, 5.0), 1e-14);
	// the centre is at (1 3 3): v + w x (0 1 0) = (10 - 5, 20, 30)
	assert_near3(body->velocity, knV3(5.0, 20.0, 30.0), 1e-14);
	knScene_Destroy(scene);

	// angular velocity about the body's own x, which points along the world's y
	scene = loadKey("<mujoco><worldbody><body name='b'><freejoint/><geom size='0.1'/></body></worldbody>"
					"<keyframe><key name='k' qpos='0 0 0 1 0 0 1' qvel='0 0 0 3 0 0'/></keyframe></mujoco>",
					"k", NULL);
	assert_near3(bodyNamed(scene, "b")->angularVelocity, knV3(0.0, 3.0, 0.0), 1e-14);
	knScene_Destroy(scene);
}

// A ball joint at (0 0 1) of the body; its velocity is in the axes of the child.
static void test_ball(void** state) {
	(void)state;
	knScene* scene =
		loadKey("<mujoco><worldbody><body name='b'><joint type='ball' pos='0 0 1'/><geom size='0.1'/></body>"
				"</worldbody><keyframe><key name='k' qpos='1 1 0 0' qvel='0 0 4'/></keyframe></mujoco>",
				"k", NULL);
	const knBodyDef* body = bodyNamed(scene, "b");
	// Rx(90) about the anchor: the body's origin, 1 below it, goes to the anchor plus Rx(90)(0 0 -1) = (0 1 0)
	assert_near3(body->frame.p, knV3(0.0, 1.0, 1.0), 1e-15);
	// the child's z axis is -y in the world
	assert_near3(body->angularVelocity, knV3(0.0, -4.0, 0.0), 1e-14);
	// w x r = (0 -4 0) x (0 1 0) = 0
	assert_near3(body->velocity, knZero3(), 1e-14);
	knScene_Destroy(scene);
}

static const char* const machine =
	"<mujoco><compiler angle='radian'/><worldbody>"
	"<body name='base' pos='1 2 3' euler='0.1 0.2 0.3'><freejoint/><geom size='0.2' pos='0.1 0 0.3'/>"
	" <body name='arm' pos='0 0.5 0' euler='0.4 0 0'><joint axis='1 2 3' pos='0.1 0.2 0.3' ref='0.2'/>"
	"  <geom size='0.1' pos='0 0 0.4'/>"
	"  <body pos='0 0 0.2' euler='0 0 1'><geom size='0.1'/>"
	"   <body name='slider' pos='0.3 0 0'><joint type='slide' axis='0 3 4' ref='-0.1'/><geom size='0.1' "
	"pos='0 1 0'/>"
	"    <body name='hand' pos='0 0 1'><joint type='ball' pos='0 0.2 0'/><geom size='0.1' pos='0.3 0 0'/>"
	"     <body name='cross' pos='1 0 0'><joint axis='1 0 0' pos='0 0 0.1'/><joint axis='0 1 0' pos='0 0 "
	"0.1'/>"
	"      <geom size='0.1' pos='0 0.2 0.2'/></body>"
	"    </body>"
	"   </body>"
	"  </body>"
	" </body>"
	"</body>"
	"</worldbody><keyframe><key name='k' qpos='%s' qvel='%s'/></keyframe></mujoco>";

enum { NQ = 7 + 1 + 1 + 4 + 2, NV = 6 + 1 + 1 + 3 + 2 };

// q moved by h v: angles and lengths add, quaternions turn by exp(h w) in the body's axes.
static void integrate(const double* q, const double* v, double h, double* out) {
	knQuat base = knMulQ(knQ(q[3], q[4], q[5], q[6]), knQuat_Exp(knScale(h, knV3(v[3], v[4], v[5]))));
	knQuat hand = knMulQ(knQ(q[9], q[10], q[11], q[12]), knQuat_Exp(knScale(h, knV3(v[8], v[9], v[10]))));
	const double moved[NQ] = { q[0] + h * v[0], q[1] + h * v[1],   q[2] + h * v[2],  base.w, base.x, base.y,
							   base.z,          q[7] + h * v[6],   q[8] + h * v[7],  hand.w, hand.x, hand.y,
							   hand.z,          q[13] + h * v[11], q[14] + h * v[12] };
	memcpy(out, moved, sizeof moved);
}

static knScene* loadMachine(const double* q, const double* v) {
	char qpos[NQ * 32] = "", qvel[NV * 32] = "", text[4096];
	for (int i = 0; i < NQ; ++i) {
		sprintf(qpos + strlen(qpos), "%.17g ", q[i]);
	}
	for (int i = 0; i < NV; ++i) {
		sprintf(qvel + strlen(qvel), "%.17g ", v[i]);
	}
	snprintf(text, sizeof text, machine, qpos, qvel);
	return loadKey(text, "k", NULL);
}

// Every body's velocity is the derivative of its pose along q(t): central differences of the centre of mass and of
// the rotation, for a machine with every kind of joint.
static void test_velocities_are_the_derivative_of_poses(void** state) {
	(void)state;
	static const char* const names[] = { "base", "arm", "slider", "hand", "cross" };
	knTestRandom random = { 11 };
	const double h = 1e-5;
	for (int round = 0; round < 5; ++round) {
		double q[NQ], v[NV], before[NQ], after[NQ];
		for (int i = 0; i < NQ; ++i) {
			q[i] = testUniform(&random, -1.0, 1.0);
		}
		const knQuat base = testQuat(&random), hand = testQuat(&random);
		memcpy(q + 3, &base, sizeof base);
		memcpy(q + 9, &hand, sizeof hand);
		for (int i = 0; i < NV; ++i) {
			v[i] = testUniform(&random, -1.0, 1.0);
		}
		integrate(q, v, -h, before);
		integrate(q, v, h, after);
		knScene* now = loadMachine(q, v);
		knScene* past = loadMachine(before, v);
		knScene* future = loadMachine(after, v);
		for (int i = 0; i < 5; ++i) {
			const knVec3 center = massOf(now, names[i]).center;
			const knBodyDef* a = bodyNamed(past, names[i]);
			const knBodyDef* b = bodyNamed(future, names[i]);
			const knVec3 velocity =
				knScale(0.5 / h, knSub(knPoint(b->frame, center), knPoint(a->frame, center)));
			const knVec3 angular = knScale(0.5 / h, knQuat_Log(knMulQ(b->frame.q, knConj(a->frame.q))));
			assert_near3(bodyNamed(now, names[i])->velocity, velocity, 1e-8);
			assert_near3(bodyNamed(now, names[i])->angularVelocity, angular, 1e-8);
		}
		knScene_Destroy(now);
		knScene_Destroy(past);
		knScene_Destroy(future);
	}
}

// A quaternion of no length in a keyframe is no rotation, as in MuJoCo, and is reported.
static void test_keyframe_without_rotation(void** state) {
	(void)state;
	knLoadReport report;
	knScene* scene =
		loadKey("<mujoco><worldbody><body name='a' quat='0 1 0 0'><freejoint/><geom size='0.1'/></body>"
				"<body name='b'><joint type='ball'/><geom size='0.1'/></body></worldbody>"
				"<keyframe><key name='k' qpos='1 2 3 0 0 0 0 0 0 0 0'/></keyframe></mujoco>",
				"k", &report);
	assert_near3(bodyNamed(scene, "a")->frame.p, knV3(1.0, 2.0, 3.0), 0.0);
	assert_near(bodyNamed(scene, "a")->frame.q.w, 1.0, 0.0);
	assert_near(bodyNamed(scene, "b")->frame.q.w, 1.0, 0.0);
	assert_true(reported(&report, "no length"));
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
}

// In the reference pose (qpos0) a keyframe changes nothing.
static void test_reference_keyframe(void** state) {
	(void)state;
	const knQuat base = knMulQ(knMulQ(knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.1),
									  knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), 0.2)),
							   knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), 0.3));
	const double q[NQ] = { 1.0,  2.0, 3.0, base.w, base.x, base.y, base.z, 0.2,
						   -0.1, 1.0, 0.0, 0.0,    0.0,    0.0,    0.0 };
	const double v[NV] = { 0.0 };
	knScene* key = loadMachine(q, v);
	char text[4096];
	// the key is not chosen, so that its numbers do not matter
	snprintf(text, sizeof text, machine, "1 1 1 0 1 0 0 1 1 0 1 0 0 1 1", "1 1 1 1 1 1 1 1 1 1 1 1 1");
	knScene* plain = load(text);
	for (int i = 0; i < knScene_BodySlots(plain); ++i) {
		const knBodyDef* a = knScene_GetBody(plain, knScene_BodyAt(plain, i));
		const knBodyDef* b = bodyNamed(key, a->name);
		assert_near3(a->frame.p, b->frame.p, 1e-14);
		assert_same_rotation(a->frame.q, b->frame.q, 1e-14);
		assert_near3(a->velocity, knZero3(), 0.0);
	}
	knScene_Destroy(key);
	knScene_Destroy(plain);
}

// Joint coordinates of the world are MuJoCo's qpos, and its velocities qvel.
static void test_world_agrees_with_the_keyframe(void** state) {
	(void)state;
	knScene* scene = loadKey(
		"<mujoco><worldbody><body pos='0 0 1'><joint name='h' axis='0 1 1' ref='30'/><geom size='0.1' pos='1 "
		"0 0'/>"
		"<body pos='1 0 0'><joint name='s' type='slide' axis='1 1 0'/><geom size='0.1'/></body></body>"
		"</worldbody><keyframe><key name='k' qpos='1.2 0.4' qvel='-2 3'/></keyframe></mujoco>",
		"k", NULL);
	knModel* model = compile(scene);
	knWorld* world = knWorld_Create(model, NULL, NULL);
	double q[7], v[6];
	knWorld_JointCoordinates(world, knScene_FindJoint(scene, "h"), q);
	knWorld_JointVelocities(world, knScene_FindJoint(scene, "h"), v);
	assert_near(q[0], 1.2, 1e-14);
	assert_near(v[0], -2.0, 1e-14);
	knWorld_JointCoordinates(world, knScene_FindJoint(scene, "s"), q);
	knWorld_JointVelocities(world, knScene_FindJoint(scene, "s"), v);
	assert_near(q[0], 0.4, 1e-14);
	assert_near(v[0], 3.0, 1e-14);
	knWorld_Destroy(world);
	knModel_Release(model);
	knScene_Destroy(scene);
}

// knuckle.keyframe chooses the start; the caller's choice comes first.
static void test_choice_of_keyframe(void** state) {
	(void)state;
	static const char text[] =
		"<mujoco><worldbody><body name='b'><joint type='slide' axis='1 0 0'/><geom size='1'/></body>"
		"</worldbody><keyframe><key name='one' qpos='1'/><key name='two' qpos='2' time='3'/>"
		"</keyframe><custom><text name='knuckle.keyframe' data='one'/></custom></mujoco>";
	knLoadReport report;
	knScene* scene = load(text);
	assert_near(bodyNamed(scene, "b")->frame.p.x, 1.0, 0.0);
	knScene_Destroy(scene);
	scene = loadKey(text, "two", &report);
	assert_near(bodyNamed(scene, "b")->frame.p.x, 2.0, 0.0);
	assert_true(reported(&report, "<key> time ignored"));
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_double_pendulum),
		cmocka_unit_test(test_free_joint),
		cmocka_unit_test(test_ball),
		cmocka_unit_test(test_velocities_are_the_derivative_of_poses),
		cmocka_unit_test(test_reference_keyframe),
		cmocka_unit_test(test_world_agrees_with_the_keyframe),
		cmocka_unit_test(test_choice_of_keyframe),
		cmocka_unit_test(test_keyframe_without_rotation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
