// knuckle.* values: each does what docs/mjcf.md says, to the thing it names and to no other.
#include "mjcf_test.h"

#define MODEL(custom)                                                                                        \
	"<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>"                                      \
	"<body name='a'><freejoint/><geom name='ga' size='1'/></body>"                                           \
	"<body name='b' pos='0 0 5'><joint name='jb' type='ball'/><geom name='gb' size='1' pos='1 0 0'/></body>" \
	"<body name='c' pos='0 0 9'><geom name='gc' size='1'/></body>"                                           \
	"</worldbody><custom>" custom "</custom></mujoco>"

static void test_scene_values(void** state) {
	(void)state;
	knScene* scene = load(MODEL("<text name='knuckle.stepper' data='impulse'/>"
								"<numeric name='knuckle.dt' data='0.04'/>"
								"<numeric name='knuckle.joint_capacity' data='12'/>"
								"<text name='knuckle.combine.friction' data='geometric'/>"
								"<text name='knuckle.combine.restitution' data='multiply'/>"
								"<numeric name='knuckle.set.sweeps' data='33'/>"
								"<text name='knuckle.set.scheme' data='paper'/>"));
	const knSceneDef* def = knScene_GetDef(scene);
	assert_string_equal(def->stepper, "impulse");
	assert_true(def->dt == 0.04);
	assert_int_equal(def->jointCapacity, 12);
	assert_int_equal(def->frictionCombine, KN_COMBINE_GEOMETRIC);
	assert_int_equal(def->restitutionCombine, KN_COMBINE_MULTIPLY);
	assert_int_equal(def->settings.sweeps, 33);
	assert_int_equal(def->settings.scheme, KN_SCHEME_PAPER);
	knScene_Destroy(scene);
}

// What is said of one geom wins over what is said of all, in whichever order.
static void test_materials(void** state) {
	(void)state;
	knScene* scene = load(MODEL("<numeric name='knuckle.restitution.ga' data='0.7'/>"
								"<numeric name='knuckle.restitution' data='0.5'/>"
								"<numeric name='knuckle.friction' data='0.2'/>"
								"<numeric name='knuckle.friction.gb' data='0.3'/>"
								"<numeric name='knuckle.rolling.gb' data='0.01'/>"));
	assert_true(shapeDef(scene, "ga")->restitution == 0.7);
	assert_true(shapeDef(scene, "gb")->restitution == 0.5);
	assert_true(shapeDef(scene, "floor")->restitution == 0.5);
	assert_true(shapeDef(scene, "ga")->friction == 0.2);
	assert_true(shapeDef(scene, "gb")->friction == 0.3);
	assert_true(shapeDef(scene, "ga")->rollingFriction == 0.0);
	assert_true(shapeDef(scene, "gb")->rollingFriction == 0.01);
	knScene_Destroy(scene);
}

// A sensor weighs nothing.
static void test_sensor_and_filter(void** state) {
	(void)state;
	knScene* scene =
		load("<mujoco><worldbody><body name='a'><freejoint/><geom size='0.1' density='1000'/>"
			 "<geom name='zone' size='5' density='1000'/></body></worldbody><custom>"
			 "<numeric name='knuckle.sensor.zone' data='1'/>"
			 "<text name='knuckle.filter.zone' data='0x10 0xffffffffffffffff -3'/></custom></mujoco>");
	const knShapeDef* zone = shapeDef(scene, "zone");
	assert_true(zone->sensor);
	assert_true(zone->filter.category == 0x10 && zone->filter.mask == UINT64_MAX && zone->filter.group == -3);
	assert_near(massOf(scene, "a").mass, 1000.0 * 4.0 / 3.0 * KN_PI * 0.001, 1e-12);
	knScene_Destroy(scene);
}

static void test_body_values(void** state) {
	(void)state;
	knScene* scene = load(MODEL("<numeric name='knuckle.gravity_scale.a' data='0.25'/>"
								"<numeric name='knuckle.damping.a' data='0.1 0.2'/>"
								"<numeric name='knuckle.fast.a' data='1'/>"
								"<text name='knuckle.color.a' data='0xff8001'/>"
								"<numeric name='knuckle.frame.a' data='1 2 3 0 1 0 0'/>"
								"<numeric name='knuckle.velocity.b' data='1 2 3 4 5 6'/>"));
	const knBodyDef* a = bodyNamed(scene, "a");
	assert_true(a->gravityScale == 0.25 && a->linearDamping == 0.1 && a->angularDamping == 0.2 && a->fast);
	assert_true(a->color == 0xff8001);
	assert_near3(a->frame.p, knV3(1.0, 2.0, 3.0), 0.0);
	assert_true(a->frame.q.x == 1.0);
	// of the centre of mass, whatever the body's origin does
	assert_near3(bodyNamed(scene, "b")->velocity, knV3(1.0, 2.0, 3.0), 0.0);
	assert_near3(bodyNamed(scene, "b")->angularVelocity, knV3(4.0, 5.0, 6.0), 0.0);
	assert_true(bodyNamed(scene, "b")->gravityScale == 1.0);
	knScene_Destroy(scene);
}

// Exact frames and velocities belong to the start that the file shows; a keyframe is another start.
static void test_keyframe_wins_over_frame_and_velocity(void** state) {
	(void)state;
	knScene* scene =
		loadKey("<mujoco><worldbody><body name='a'><freejoint/><geom size='1'/></body></worldbody>"
				"<keyframe><key name='k' qpos='7 0 0 1 0 0 0'/></keyframe>"
				"<custom><numeric name='knuckle.frame.a' data='1 2 3 1 0 0 0'/>"
				"<numeric name='knuckle.velocity.a' data='1 2 3 4 5 6'/></custom></mujoco>",
				"k", NULL);
	assert_near3(bodyNamed(scene, "a")->frame.p, knV3(7.0, 0.0, 0.0), 0.0);
	assert_near3(bodyNamed(scene, "a")->velocity, knZero3(), 0.0);
	knScene_Destroy(scene);
}

// A body turning about its centre of mass; what hangs on it starts with it: a point at distance r moves with w x r.
static void test_kinematic(void** state) {
	(void)state;
	knScene* scene =
		load("<mujoco><worldbody><body name='table'><geom type='box' size='1 1 0.1' pos='1 0 0'/>"
			 "<body name='cup' pos='3 0 0'><joint axis='0 0 1'/><geom size='0.1'/></body>"
			 "<body name='mark' pos='0 0 1'><geom name='mark' size='0.1' mass='0'/></body></body></worldbody>"
			 "<custom><numeric name='knuckle.kinematic.table' data='0 0 4 0 0 2'/></custom></mujoco>");
	const knBodyDef* table = bodyNamed(scene, "table");
	assert_int_equal(table->kind, KN_BODY_KINEMATIC);
	assert_near3(table->velocity, knV3(0.0, 0.0, 4.0), 0.0);
	assert_near3(table->angularVelocity, knV3(0.0, 0.0, 2.0), 0.0);
	// the cup is 2 m from the table's centre
	assert_near3(bodyNamed(scene, "cup")->velocity, knV3(0.0, 4.0, 4.0), 1e-14);
	assert_near3(bodyNamed(scene, "cup")->angularVelocity, knV3(0.0, 0.0, 2.0), 1e-14);
	assert_true(KN_ID_EQUALS(knScene_GetShapeBody(scene, shapeNamed(scene, "mark")),
							 knScene_FindBody(scene, "table")));
	knScene_Destroy(scene);
}

static void test_cone_limits(void** state) {
	(void)state;
	knScene* scene = load(MODEL("<numeric name='knuckle.limit.jb' data='0.5 0.6 -0.1 0.2'/>"));
	const knJointDef* joint = jointNamed(scene, "jb");
	assert_true(joint->coneLimited && joint->coneY == 0.5 && joint->coneZ == 0.6);
	assert_true(joint->twistLimited && joint->twistLower == -0.1 && joint->twistUpper == 0.2);
	knScene_Destroy(scene);
	scene = load(MODEL("<numeric name='knuckle.limit.jb' data='0.5 0.6'/>"));
	assert_true(jointNamed(scene, "jb")->coneLimited && !jointNamed(scene, "jb")->twistLimited);
	knScene_Destroy(scene);
}

static void test_order(void** state) {
	(void)state;
	knScene* scene = load(MODEL("<text name='knuckle.loop.l' data='ball parent=a child=b'/>"
								"<text name='knuckle.order.bodies' data='2 0 1'/>"
								"<text name='knuckle.order.geoms' data='3 2 1 0'/>"
								"<text name='knuckle.order.joints' data='1 0'/>"));
	static const char* const bodies[] = { "c", "a", "b" };
	static const char* const shapes[] = { "gc", "gb", "ga", "floor" };
	static const char* const joints[] = { "l", "jb" };
	for (int i = 0; i < 3; ++i) {
		assert_string_equal(knScene_GetBody(scene, knScene_BodyAt(scene, i))->name, bodies[i]);
	}
	for (int i = 0; i < 4; ++i) {
		assert_string_equal(knScene_GetShape(scene, knScene_ShapeAt(scene, i))->name, shapes[i]);
	}
	for (int i = 0; i < 2; ++i) {
		assert_string_equal(knScene_GetJoint(scene, knScene_JointAt(scene, i))->name, joints[i]);
	}
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scene_values),
		cmocka_unit_test(test_materials),
		cmocka_unit_test(test_sensor_and_filter),
		cmocka_unit_test(test_body_values),
		cmocka_unit_test(test_keyframe_wins_over_frame_and_velocity),
		cmocka_unit_test(test_kinematic),
		cmocka_unit_test(test_cone_limits),
		cmocka_unit_test(test_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
