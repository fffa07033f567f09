// What <flag>, <option> and keyframes switch off or move.
#include "mjcf_test.h"

#define MODEL(options)                                                                                       \
	"<mujoco>" options                                                                                       \
	"<worldbody><geom name='floor' type='plane' size='0 0 1'/><body name='a' pos='0 0 1'><joint name='j' "   \
	"range='-10 10' damping='2' stiffness='3' frictionloss='4'/><geom name='g' size='0.1'/></body>"          \
	"<body name='m' mocap='true' pos='1 2 3'><geom size='0.1'/></body></worldbody>"                          \
	"<actuator><motor name='u' joint='j' ctrlrange='-1 1'/></actuator>"                                      \
	"<equality><weld name='w' body1='a'/></equality>"                                                        \
	"<keyframe><key name='k' mpos='4 5 6' mquat='0 1 0 0'/></keyframe></mujoco>"

static const knJointDef* hinge(const knScene* scene) {
	return knScene_GetJoint(scene, knScene_FindJoint(scene, "j"));
}

static bool touches(const knScene* scene, const char* name) {
	return knFilter_Allows(shapeDef(scene, name)->filter, shapeDef(scene, "floor")->filter);
}

static void test_nothing_is_off(void** state) {
	(void)state;
	knScene* scene = load(MODEL(""));
	const knJointAxis* axis = &hinge(scene)->axis[0];
	assert_true(axis->limited && touches(scene, "g"));
	assert_near(axis->damping, 2.0, 0.0);
	assert_near(axis->stiffness, 3.0, 0.0);
	assert_near(axis->friction, 4.0, 0.0);
	assert_int_equal(knScene_ActuatorCount(scene), 1);
	assert_true(knScene_GetJoint(scene, knScene_FindJoint(scene, "w"))->enabled);
	knScene_Destroy(scene);
}

static void test_flags(void** state) {
	(void)state;
	knScene* scene = load(MODEL("<option><flag contact='disable' spring='disable' limit='disable' "
								"actuation='disable'/></option>"));
	const knJointAxis* axis = &hinge(scene)->axis[0];
	assert_true(!axis->limited && !touches(scene, "g"));
	assert_near(axis->damping, 2.0, 0.0);
	assert_near(axis->stiffness, 0.0, 0.0);
	assert_int_equal(knScene_ActuatorCount(scene), 0);
	knScene_Destroy(scene);

	scene = load(MODEL("<option><flag constraint='disable' passive='disable' clampctrl='disable' "
					   "gravity='disable'/></option>"));
	axis = &hinge(scene)->axis[0];
	assert_true(!axis->limited && !touches(scene, "g"));
	assert_near(axis->damping + axis->stiffness + axis->friction, 0.0, 0.0);
	assert_false(knScene_GetActuator(scene, 0)->controlLimited);
	const knJointId weld = knScene_FindJoint(scene, "w");
	assert_true(KN_ID_IS_NULL(weld) || !knScene_GetJoint(scene, weld)->enabled);
	assert_near(knLength(knScene_GetDef(scene)->gravity), 0.0, 0.0);
	knScene_Destroy(scene);
}

static void test_mocap_in_a_keyframe(void** state) {
	(void)state;
	knScene* scene = loadKey(MODEL(""), "k", NULL);
	const knBodyDef* body = bodyNamed(scene, "m");
	assert_near3(body->frame.p, knV3(4.0, 5.0, 6.0), 0.0);
	assert_near(body->frame.q.x, 1.0, 0.0);
	knScene_Destroy(scene);
	scene = load(MODEL(""));
	assert_near3(bodyNamed(scene, "m")->frame.p, knV3(1.0, 2.0, 3.0), 0.0);
	knScene_Destroy(scene);
}

// From which side the page looks: what visual says, else the first camera of the world; mistakes in them are nobody's business.
static void test_view(void** state) {
	(void)state;
	knScene* scene = load(MODEL(""));
	assert_near(knScene_GetDef(scene)->view.zoom, 0.0, 0.0);
	knScene_Destroy(scene);

	// MuJoCo's eye at azimuth 90 looks along +y, from below the horizon upwards if the elevation is positive
	scene = load(MODEL("<visual><global azimuth='90' elevation='-20' fovy='3'/><map znear='0.1'/></visual>"
					   "<worldbody><camera xyaxes='0 1 0 0 0 1'/></worldbody>"));
	const knViewDef* view = &knScene_GetDef(scene)->view;
	assert_near(cos(view->azimuth * KN_PI / 180.0), 0.0, 1e-12);
	assert_near(sin(view->azimuth * KN_PI / 180.0), -1.0, 1e-12);
	assert_near(view->elevation, 20.0, 0.0);
	knScene_Destroy(scene);

	// one that hangs on a body, or follows something, is not it; this one looks along -x
	scene = load(MODEL("<worldbody><camera mode='targetbody' target='a'/><camera quat='0 0 0 nan'/>"
					   "<camera pos='2 0 1' xyaxes='0 1 0 0 0 1'/></worldbody>"));
	view = &knScene_GetDef(scene)->view;
	assert_near(view->azimuth, 0.0, 1e-9);
	assert_near(view->elevation, 0.0, 1e-9);
	assert_near(view->zoom, 1.0, 0.0);
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_off),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_mocap_in_a_keyframe),
		cmocka_unit_test(test_view),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
