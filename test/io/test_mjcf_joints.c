// Joints: kinds, frames, limits and coordinates. The facts: at the reference pose a joint is closed and its coordinates
// are MuJoCo's ref; in a keyframe they are its qpos; and its axes move the body as MuJoCo's joints do.
#include "mjcf_test.h"

#define BODY(joints)                                                                                         \
	"<body name='b' pos='1 2 3' euler='10 20 30'>" joints "<geom type='box' size='1 2 3'/></body>"
#define MODEL(joints) "<mujoco><worldbody>" BODY(joints) "</worldbody></mujoco>"

// Coordinates of a joint as its world starts.
static int coordinates(const knScene* scene, const char* joint, double q[7]) {
	knModel* model = compile(scene);
	knError error = { .status = KN_OK };
	knWorld* world = knWorld_Create(model, NULL, &error);
	assert_non_null(world);
	const int count = knWorld_JointCoordinates(world, knScene_FindJoint(scene, joint), q);
	knWorld_Destroy(world);
	knModel_Release(model);
	return count;
}

static void test_hinge(void** state) {
	(void)state;
	knScene* scene =
		load(MODEL("<joint name='j' axis='0 3 4' pos='0.1 0.2 0.3' range='-90 45' damping='1' stiffness='2'"
				   " springref='10' frictionloss='3'/>"));
	const knJointDef* joint = jointNamed(scene, "j");
	assert_int_equal(joint->kind, KN_JOINT_HINGE);
	assert_true(KN_ID_IS_NULL(joint->parent));
	assert_near3(joint->frameChild.p, knV3(0.1, 0.2, 0.3), 0.0);
	assert_near3(knRotate(joint->frameChild.q, knV3(1.0, 0.0, 0.0)), knV3(0.0, 0.6, 0.8), 1e-15);
	assert_true(joint->axis[0].limited);
	assert_near(joint->axis[0].lower, -KN_PI / 2.0, 1e-15);
	assert_near(joint->axis[0].upper, KN_PI / 4.0, 1e-15);
	assert_near(joint->axis[0].rest, KN_PI / 18.0, 1e-15);
	assert_true(joint->axis[0].damping == 1.0 && joint->axis[0].stiffness == 2.0 &&
				joint->axis[0].friction == 3.0);
	assert_false(joint->loop);
	assert_true(joint->enabled);
	const knFrame J = jointFrame(scene, joint);
	assert_near3(J.p, knZero3(), 1e-15);
	assert_same_rotation(J.q, knIdentityQ(), 1e-15);
	knScene_Destroy(scene);
}

// A slide's range, ref and springref are lengths, whatever the angle unit.
static void test_slide(void** state) {
	(void)state;
	knScene* scene =
		load(MODEL("<joint name='j' type='slide' axis='0 0 2' range='-1 2' ref='0.5' springref='0.25'/>"));
	const knJointDef* joint = jointNamed(scene, "j");
	double q[7];
	assert_int_equal(joint->kind, KN_JOINT_SLIDER);
	assert_true(joint->axis[0].lower == -1.0 && joint->axis[0].upper == 2.0 && joint->axis[0].rest == 0.25);
	assert_int_equal(coordinates(scene, "j", q), 1);
	assert_near(q[0], 0.5, 1e-15);
	knScene_Destroy(scene);
}

static void test_ball_and_free(void** state) {
	(void)state;
	knLoadReport report;
	knScene* scene = loadKey(
		"<mujoco><worldbody>"
		"<body name='b'><joint name='ball' type='ball' range='0 60' damping='2'/><geom size='1'/></body>"
		"<body name='f'><joint name='free' type='free' damping='3'/><geom size='1'/></body>"
		"<body name='g'><joint type='free'/><geom size='1'/></body></worldbody></mujoco>",
		NULL, &report);
	const knJointDef* ball = jointNamed(scene, "ball");
	assert_int_equal(ball->kind, KN_JOINT_BALL);
	assert_true(ball->coneLimited && ball->twistLimited);
	assert_near(ball->coneY, KN_PI / 3.0, 1e-15);
	assert_near(ball->twistLower, -KN_PI / 3.0, 1e-15);
	assert_true(ball->axis[0].damping == 2.0 && ball->axis[2].damping == 2.0);
	assert_true(reported(&report, "range of a ball"));
	// a free joint is only a joint if something acts in it
	assert_int_equal(knScene_JointSlots(scene), 2);
	assert_int_equal(jointNamed(scene, "free")->kind, KN_JOINT_FREE);
	assert_true(jointNamed(scene, "free")->axis[5].damping == 3.0);
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
}

static void test_limited(void** state) {
	(void)state;
	const struct {
		const char* joint;
		bool limited;
	} cases[] = { { "<joint name='j' range='1 2'/>", true },
				  { "<joint name='j' range='1 2' limited='auto'/>", true },
				  { "<joint name='j' range='1 2' limited='false'/>", false },
				  { "<joint name='j'/>", false } };
	for (int i = 0; i < 4; ++i) {
		char text[256];
		snprintf(text, sizeof text, "<mujoco><worldbody><body>%s<geom size='1'/></body></worldbody></mujoco>",
				 cases[i].joint);
		knScene* scene = load(text);
		assert_int_equal(jointNamed(scene, "j")->axis[0].limited, cases[i].limited);
		knScene_Destroy(scene);
	}
}

// --- several joints in one body ---

typedef struct Several {
	const char* joints;
	knJointKind kind;
	const char* qpos; // a keyframe
	double q[3];      // what the joint's coordinates are then
} Several;

// The frame that MuJoCo's rule gives is also the frame that the joint's own coordinates give: the joint error of the
// start is nil, and the coordinates are qpos (against the axis's direction: with the sign turned).
static const Several several[] = {
	{ "<joint name='j' type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>",
	  KN_JOINT_SLIDER2,
	  "0.3 -0.4",
	  { 0.3, -0.4 } },
	{ "<joint name='j' type='slide' axis='1 0 0' ref='1'/><joint type='slide' axis='0 1 0'/>"
	  "<joint type='slide' axis='0 0 -1' ref='0.5'/>",
	  KN_JOINT_SLIDER3,
	  "0.3 -0.4 0.7",
	  { 0.3, -0.4, -0.7 } },
	{ "<joint name='j' pos='0.1 0.2 0.3' axis='0 1 0'/><joint pos='0.1 0.2 0.3' axis='0 0 1'/>",
	  KN_JOINT_UNIVERSAL,
	  "0.5 -0.7",
	  { 0.5, -0.7 } },
	{ "<joint name='j' axis='0 1 0' ref='20'/><joint axis='-1 0 0' ref='-30'/>",
	  KN_JOINT_UNIVERSAL,
	  "0.5 -0.7",
	  { 0.5, -0.7 } },
	{ "<joint name='j' type='slide' axis='0 1 0'/><joint axis='0 1 0' pos='1 0 0'/>",
	  KN_JOINT_CYLINDER,
	  "0.5 -0.7",
	  { 0.5, -0.7 } },
	{ "<joint name='j' axis='0 -1 0' pos='1 0 0' ref='15'/><joint type='slide' axis='0 1 0' ref='2'/>",
	  KN_JOINT_CYLINDER,
	  "0.5 -0.7",
	  { -0.7, -0.5 } },
	{ "<joint name='j' type='slide' axis='0 1 0'/><joint type='slide' axis='0 0 1' ref='3'/>"
	  "<joint axis='-1 0 0' pos='0 1 2' ref='25'/>",
	  KN_JOINT_PLANAR,
	  "0.3 -0.4 0.7",
	  { 0.3, -0.4, -0.7 } },
};

static void test_several_joints_in_a_body(void** state) {
	(void)state;
	for (size_t i = 0; i < sizeof several / sizeof *several; ++i) {
		const Several* row = &several[i];
		char text[1024];
		snprintf(text, sizeof text,
				 "<mujoco><worldbody><body name='b' pos='1 2 3' euler='10 20 30'>%s<geom type='box' size='1 "
				 "2 3'/></body>"
				 "</worldbody><keyframe><key name='k' qpos='%s'/></keyframe></mujoco>",
				 row->joints, row->qpos);
		knScene* scene = loadKey(text, "k", NULL);
		const knJointDef* joint = jointNamed(scene, "j");
		assert_int_equal(joint->kind, row->kind);
		double q[7];
		const int count = coordinates(scene, "j", q);
		for (int k = 0; k < count; ++k) {
			assert_near(q[k], row->q[k], 1e-14);
		}
		// closed: nothing is off in the locked directions
		knModel* model = compile(scene);
		knWorld* world = knWorld_Create(model, NULL, NULL);
		const knJointError error = knWorld_MeasureJoint(world, knScene_FindJoint(scene, "j"));
		assert_near(error.distance, 0.0, 1e-14);
		assert_near(error.angle, 0.0, 1e-14);
		knWorld_Destroy(world);
		knModel_Release(model);
		knScene_Destroy(scene);
	}
}

// Limits of an axis that points the other way turn over.
static void test_limits_of_a_turned_axis(void** state) {
	(void)state;
	knScene* scene =
		load(MODEL("<joint name='j' type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
				   "<joint type='slide' axis='0 0 -1' range='-1 3' stiffness='1' springref='2'/>"));
	const knJointAxis* axis = &jointNamed(scene, "j")->axis[2];
	assert_true(axis->limited && axis->lower == -3.0 && axis->upper == 1.0 && axis->rest == -2.0);
	knScene_Destroy(scene);
}

// A hinge that starts beyond half a turn: the joint's own count starts within it, and the limits move along.
static void test_starts_beyond_half_a_turn(void** state) {
	(void)state;
	knScene* scene =
		loadKey("<mujoco><compiler angle='radian'/><worldbody><body><joint name='j' range='3 5'/>"
				"<geom size='1'/></body></worldbody><keyframe><key name='k' qpos='4'/></keyframe></mujoco>",
				"k", NULL);
	double q[7];
	coordinates(scene, "j", q);
	assert_near(q[0], 4.0 - 2.0 * KN_PI, 1e-14);
	const knJointAxis* axis = &jointNamed(scene, "j")->axis[0];
	// the distances to the limits are as written
	assert_near(q[0] - axis->lower, 1.0, 1e-14);
	assert_near(axis->upper - q[0], 1.0, 1e-14);
	knScene_Destroy(scene);
}

// --- equalities ---

static const char* const loop =
	"<mujoco><worldbody>"
	"<body name='a' pos='1 0 0' euler='0 0 90'><joint name='ja'/><geom size='0.1'/>"
	" <body name='part' pos='1 0 0'><geom size='0.1'/></body></body>"
	"<body name='b' pos='0 3 0' euler='0 90 0'><joint name='jb'/><geom size='0.1'/></body>"
	"</worldbody><equality>"
	"<connect name='c' body1='part' body2='b' anchor='0.5 0 0'/>"
	"<connect name='off' body1='a' anchor='0 0 0' active='false'/>"
	"<weld name='w' body1='a' body2='b'/>"
	"<weld name='rel' body1='a' body2='b' relpose='1 2 3 0 1 0 0'/>"
	"<connect name='ja' body1='a' body2='b' anchor='0 0 0'/>"
	"<joint joint1='ja' joint2='jb'/><connect body1='a' body2='part' anchor='0 0 0'/>"
	"</equality></mujoco>";

static void test_equalities(void** state) {
	(void)state;
	knLoadReport report;
	knScene* scene = loadKey(loop, NULL, &report);
	const knJointDef* connect = jointNamed(scene, "c");
	assert_int_equal(connect->kind, KN_JOINT_BALL);
	assert_true(connect->loop && connect->enabled && connect->collide);
	// the part belongs to a; in a's frame the anchor is (1 0 0) + (0.5 0 0)
	assert_true(KN_ID_EQUALS(connect->parent, knScene_FindBody(scene, "a")));
	assert_near3(connect->frameParent.p, knV3(1.5, 0.0, 0.0), 1e-15);
	// in the world: (1 1.5 0); closed there
	assert_near3(knPoint(bodyNamed(scene, "b")->frame, connect->frameChild.p), knV3(1.0, 1.5, 0.0), 1e-15);
	assert_same_rotation(jointFrame(scene, connect).q, knIdentityQ(), 1e-15);

	assert_false(jointNamed(scene, "off")->enabled);
	assert_true(KN_ID_IS_NULL(jointNamed(scene, "off")->child));

	const knJointDef* weld = jointNamed(scene, "w");
	assert_int_equal(weld->kind, KN_JOINT_FIXED);
	assert_near3(jointFrame(scene, weld).p, knZero3(), 1e-15);
	assert_same_rotation(jointFrame(scene, weld).q, knIdentityQ(), 1e-15);

	const knJointDef* rel = jointNamed(scene, "rel");
	assert_near3(rel->frameParent.p, knV3(1.0, 2.0, 3.0), 0.0);
	assert_true(rel->frameParent.q.x == 1.0);

	assert_true(reported(&report, "<connect> name 'ja' dropped"));
	assert_int_equal(knScene_CouplingCount(scene), 1);
	assert_true(reported(&report, "<joint> (equality) is held softly"));
	assert_true(reported(&report, "<connect> ignored: its bodies cannot move"));
	assert_int_equal(knScene_JointSlots(scene), 7);
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
}

// The loop is closed at the reference pose, not where a keyframe starts.
static void test_equality_with_keyframe(void** state) {
	(void)state;
	knScene* scene =
		loadKey("<mujoco><worldbody><body name='a'><joint axis='0 0 1'/><geom size='1'/></body></worldbody>"
				"<equality><connect name='c' body1='a' anchor='1 0 0'/></equality>"
				"<keyframe><key name='k' qpos='1.5707963267948966'/></keyframe></mujoco>",
				"k", NULL);
	const knJointDef* connect = jointNamed(scene, "c");
	assert_near3(connect->frameChild.p, knV3(1.0, 0.0, 0.0), 0.0);
	assert_near3(knPoint(bodyNamed(scene, "a")->frame, connect->frameParent.p), knV3(0.0, 1.0, 0.0), 1e-15);
	knScene_Destroy(scene);
}

// A free joint by its short name takes nothing from classes: nothing holds its body. (Numbers of it did take from them.)
static void test_freejoint_takes_no_defaults(void** state) {
	(void)state;
	static const char text[] =
		"<mujoco><default><joint frictionloss='0.1' damping='2' armature='3' stiffness='4' springref='1' "
		"actuatorfrcrange='-1 1' range='-1 1' limited='true' ref='5'/><default class='c'><joint "
		"frictionloss='7'/></default></default><worldbody><body name='b' childclass='c'>%s"
		"<geom size='0.1'/></body></worldbody></mujoco>";
	char made[512];
	snprintf(made, sizeof made, text, "<freejoint name='f'/>");
	knScene* scene = load(made);
	assert_int_equal(knScene_JointSlots(scene), 0);
	knScene_Destroy(scene);
}

// springdamper (t, d): the joint by itself swings with the period of a spring whose inertia is what a force on it meets, here
// of a slider that carries a pendulum, at right angles: m = M - (coupling)^2/I of the reference pose.
static void test_springdamper(void** state) {
	(void)state;
	knScene* scene = load(
		"<mujoco><compiler angle='radian'/><worldbody><body><joint name='s' type='slide' axis='1 0 0' "
		"springdamper='0.1 0.5'/><inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/>"
		"<body><joint name='h' axis='0 1 0' springdamper='0.2 1' armature='0.5'/>"
		"<inertial pos='0 0 -2' mass='1' diaginertia='0.1 0.1 0.1'/></body></body></worldbody></mujoco>");
	// M = (4, -2; -2, 0.1 + 4 + 0.5): v of the pendulum's mass is x' - 2 h' along x
	const double slide = 4.0 - 4.0 / 4.6, hinge = 4.6 - 4.0 / 4.0;
	assert_near(jointNamed(scene, "s")->axis[0].stiffness, slide / (0.01 * 0.25), 1e-9);
	assert_near(jointNamed(scene, "s")->axis[0].damping, 2.0 * slide / 0.1, 1e-12);
	assert_near(jointNamed(scene, "h")->axis[0].stiffness, hinge / 0.04, 1e-9);
	assert_near(jointNamed(scene, "h")->axis[0].damping, 2.0 * hinge / 0.2, 1e-12);
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hinge),
		cmocka_unit_test(test_slide),
		cmocka_unit_test(test_ball_and_free),
		cmocka_unit_test(test_limited),
		cmocka_unit_test(test_several_joints_in_a_body),
		cmocka_unit_test(test_limits_of_a_turned_axis),
		cmocka_unit_test(test_starts_beyond_half_a_turn),
		cmocka_unit_test(test_equalities),
		cmocka_unit_test(test_equality_with_keyframe),
		cmocka_unit_test(test_freejoint_takes_no_defaults),
		cmocka_unit_test(test_springdamper),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
