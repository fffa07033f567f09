// URDF: links, joints and masses become the bodies that the file describes; loops close; what is wrong is named.
#include "io/mjcf_test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "knuckle/control.h"
#include "support/scratch.h"

static knScene* loadUrdf(const char* text, const knUrdfOptions* options, knLoadReport* report) {
	knError error = { .status = KN_OK };
	knScene* scene = knUrdf_LoadMemory(text, strlen(text), "robot.urdf", options, report, &error);
	if (scene == NULL) {
		char line[1024];
		fail_msg("%s", knError_Format(&error, line, sizeof line));
	}
	return scene;
}

#define INERTIAL "<inertial><mass value='2'/><inertia ixx='.1' iyy='.1' izz='.1'/></inertial>"
#define ARM                                                                                                  \
	"<robot name='arm'><material name='red'><color rgba='1 0 0 0.6'/></material>"                            \
	"<link name='base'><visual><geometry><box size='1 2 3'/></geometry><material name='red'/></visual>"      \
	"<collision><geometry><sphere radius='.1'/></geometry></collision></link>"                               \
	"<link name='a'>" INERTIAL "<collision><origin xyz='0 0 .5'/><geometry><cylinder radius='.1' "           \
	"length='1'/></geometry></collision></link>"                                                             \
	"<link name='tip'><inertial><origin xyz='0 0 1'/><mass value='1'/><inertia ixx='.1' iyy='.1' "           \
	"izz='.1'/></inertial></link>"                                                                           \
	"<joint name='j' type='revolute'><parent link='base'/><child link='a'/><origin xyz='1 0 0' rpy='0 0 "    \
	"1.5707963267948966'/><axis xyz='0 2 0'/><limit lower='-1' upper='2' effort='7' velocity='3'/>"          \
	"<dynamics damping='.5' friction='.25'/></joint>"                                                        \
	"<joint name='f' type='fixed'><parent link='a'/><child link='tip'/><origin xyz='0 0 "                    \
	"2'/></joint></robot>"

static void test_arm(void** state) {
	(void)state;
	knLoadReport report;
	knScene* scene = loadUrdf(ARM, NULL, &report);
	// the massless root is fixed; the tip is part of 'a'
	assert_int_equal(knScene_BodySlots(scene), 2);
	assert_int_equal(bodyNamed(scene, "base")->kind, KN_BODY_FIXED);
	const knMassProps mass = massOf(scene, "a");
	assert_near(mass.mass, 3.0, 1e-12);
	assert_near3(mass.center, knV3(0.0, 0.0, 1.0), 1e-12);
	// two bodies at distance 3: reduced mass 2/3 times 9
	assert_near(mass.inertia.cx.x, 0.2 + 6.0, 1e-12);
	assert_near(mass.inertia.cz.z, 0.2, 1e-12);

	const knJointDef* joint = jointNamed(scene, "j");
	assert_int_equal(joint->kind, KN_JOINT_HINGE);
	assert_near(joint->axis[0].lower, -1.0, 0.0);
	assert_near(joint->axis[0].upper, 2.0, 0.0);
	assert_near(joint->axis[0].damping, 0.5, 0.0);
	assert_near(joint->axis[0].friction, 0.25, 0.0);
	assert_true(joint->axis[0].driveLimited && joint->axis[0].driveUpper == 7.0);
	// closed at the start, and its axis is y of a frame that is turned about z by 90 degrees
	const knFrame closed = jointFrame(scene, joint);
	assert_near3(closed.p, knV3(0, 0, 0), 1e-12);
	assert_near3(knRotate(joint->frameParent.q, knV3(1, 0, 0)), knV3(-1, 0, 0), 1e-12);
	assert_near3(bodyNamed(scene, "a")->frame.p, knV3(1, 0, 0), 1e-12);

	// what only shows weighs nothing; what collides is not drawn where there are looks
	int looks = 0, hidden = 0, whole = 0;
	for (int i = 0; i < knScene_ShapeSlots(scene); ++i) {
		const knShapeDef* def = knScene_GetShape(scene, knScene_ShapeAt(scene, i));
		looks += def->role == KN_SHAPE_LOOKS && def->color == 0x66ff0000;
		hidden += def->role == KN_SHAPE_HIDDEN;
		whole += def->role == KN_SHAPE_WHOLE;
	}
	assert_int_equal(looks, 1);
	assert_int_equal(hidden, 1);
	assert_int_equal(whole, 1);
	assert_int_equal(report.count, 1);
	assert_non_null(strstr(report.lines[0], "velocity is not enforced"));
	assert_int_equal(knLoadReport_Count(&report, KN_LOAD_NOTE), 1);
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
}

static void test_base(void** state) {
	(void)state;
	const char* text = "<robot name='r'><link name='a'>" INERTIAL "</link></robot>";
	knScene* scene = loadUrdf(text, NULL, NULL);
	assert_int_equal(bodyNamed(scene, "a")->kind, KN_BODY_DYNAMIC);
	knScene_Destroy(scene);
	const knUrdfOptions fixed = { .base = KN_URDF_BASE_FIXED };
	scene = loadUrdf(text, &fixed, NULL);
	assert_int_equal(bodyNamed(scene, "a")->kind, KN_BODY_FIXED);
	knScene_Destroy(scene);
	const char* world = "<robot name='r'><link name='world'/><link name='a'>" INERTIAL "</link>"
						"<joint name='p' type='planar'><parent link='world'/><child link='a'/><axis xyz='0 1 "
						"0'/></joint></robot>";
	scene = loadUrdf(world, NULL, NULL);
	const knJointDef* joint = jointNamed(scene, "p");
	assert_true(KN_ID_IS_NULL(joint->parent));
	assert_int_equal(joint->kind, KN_JOINT_PLANAR);
	assert_near3(knRotate(joint->frameParent.q, knV3(0, 0, 1)), knV3(0, 1, 0), 1e-12);
	knScene_Destroy(scene);
}

static double angleOf(const knWorld* world, const knScene* scene, const char* joint) {
	double q[7] = { 0.0 };
	assert_int_equal(knWorld_JointCoordinates(world, knScene_FindJoint(scene, joint), q), 1);
	return q[0];
}

// A joint that follows another with a gear of -2: after a while both have turned, in this ratio.
static void test_mimic_follows(void** state) {
	(void)state;
	const char* text =
		"<robot name='r'><link name='b'/><link name='a'>" INERTIAL "</link><link name='c'>" INERTIAL "</link>"
		"<joint name='ja' type='continuous'><parent link='b'/><child link='a'/><axis xyz='1 0 0'/></joint>"
		"<joint name='jc' type='continuous'><parent link='b'/><child link='c'/><origin xyz='1 0 0'/><axis "
		"xyz='1 0 0'/>"
		"<mimic joint='ja' multiplier='-2' offset='0.1'/></joint>"
		"<transmission name='t'><joint name='ja'/><actuator name='m'/></transmission></robot>";
	knLoadReport report;
	knScene* scene = loadUrdf(text, NULL, &report);
	assert_int_equal(report.count, 1);
	assert_non_null(strstr(report.lines[0], "<transmission>"));
	knLoadReport_Free(&report);
	assert_int_equal(knScene_CouplingCount(scene), 1);
	assert_int_equal(knScene_FindActuator(scene, "t"), 0);
	knError error = { .status = KN_OK };
	knModel* model = compile(scene);
	knWorldDef def = knWorldDef_Default();
	knWorld* world = knWorld_Create(model, &def, &error);
	assert_non_null(world);
	assert_near(angleOf(world, scene, "jc"), 0.1, 1e-12);
	assert_int_equal(knWorld_SetControl(world, 0, 0.5), KN_OK);
	for (int i = 0; i < 1000; ++i) {
		assert_int_equal(knWorld_Step(world, 0.001, &error), KN_OK);
	}
	const double a = angleOf(world, scene, "ja");
	const double c = angleOf(world, scene, "jc");
	// M = I (1 + 4): a = 0.5 torque t^2 / M; the coupling drags by an amount of first order in the step
	assert_near(a, 0.5 * 0.5 / 0.5, 0.05);
	assert_near(c, 0.1 - 2.0 * a, 0.02);
	knWorld_Destroy(world);
	knModel_Release(model);
	knScene_Destroy(scene);
}

// A four-bar: three bars in a row and a loop joint that closes it, at the start without a gap.
static void test_loop(void** state) {
	(void)state;
	const char* text =
		"<robot name='four-bar'><link name='g'/><link name='a'>" INERTIAL "</link><link name='b'>" INERTIAL
		"</link><link name='c'>" INERTIAL "</link>"
		"<joint name='ga' type='continuous'><parent link='g'/><child link='a'/><axis xyz='0 1 0'/></joint>"
		"<joint name='ab' type='continuous'><parent link='a'/><child link='b'/><origin xyz='0 0 1'/><axis "
		"xyz='0 1 0'/></joint>"
		"<joint name='gc' type='continuous'><parent link='g'/><child link='c'/><origin xyz='2 0 0'/><axis "
		"xyz='0 1 0'/></joint>"
		"<loop_joint name='bc' type='continuous'><link1 link='b' xyz='2 0 0'/><link2 link='c' xyz='0 0 "
		"1'/><axis xyz='0 1 0'/>"
		"</loop_joint></robot>";
	knScene* scene = loadUrdf(text, NULL, NULL);
	const knJointDef* joint = jointNamed(scene, "bc");
	assert_true(joint->loop);
	assert_near3(jointFrame(scene, joint).p, knV3(0, 0, 0), 1e-12);
	knModel* model = compile(scene);
	// three bars in a plane with four hinges: spatially 18 - 20, one of which moves
	assert_int_equal(knModel_JointCount(model), 4);
	knModel_Release(model);
	knScene_Destroy(scene);
}

// --- meshes ----------------------------------------------------------------------------------------------

static void writeText(const char* path, const char* text) {
	FILE* file = fopen(path, "wb");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void test_package_is_found_upwards(void** state) {
	(void)state;
	(void)mkdir("my_robot", 0777);
	(void)mkdir("my_robot/urdf", 0777);
	(void)mkdir("my_robot/meshes", 0777);
	writeText("my_robot/meshes/t.obj",
			  "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
	writeText("my_robot/urdf/r.urdf",
			  "<robot name='r'><link name='a'>"
			  "<visual><geometry><mesh filename='../meshes/t.obj'/></geometry></visual>"
			  "<visual><geometry><mesh filename='package://my_robot/meshes/gone.dae'/></geometry></visual>"
			  "<collision><geometry><mesh filename='package://my_robot/meshes/t.obj' scale='2 1 "
			  "1'/></geometry></collision>"
			  "</link><link name='b'/><joint name='f' type='floating'><parent link='b'/><child "
			  "link='a'/></joint></robot>");
	knError error = { .status = KN_OK };
	knLoadReport report;
	knScene* scene = knUrdf_Load("my_robot/urdf/r.urdf", NULL, &report, &error);
	if (scene == NULL) {
		char line[1024];
		fail_msg("%s", knError_Format(&error, line, sizeof line));
	}
	assert_int_equal(knScene_ShapeSlots(scene), 2);
	assert_near(massOf(scene, "a").mass, 2000.0, 1e-6);
	assert_int_equal(knLoadReport_Count(&report, KN_LOAD_APPROXIMATE), 1);
	assert_non_null(strstr(report.lines[0], "has no mass"));
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
}

// --- what is refused -------------------------------------------------------------------------------------

static void checkRefused(const char* text, int line, const char* words) {
	knError error = { .status = KN_OK };
	knLoadReport report;
	assert_null(knUrdf_LoadMemory(text, strlen(text), "bad.urdf", NULL, &report, &error));
	assert_int_equal(report.count, 0);
	assert_string_equal(error.file, "bad.urdf");
	if (strstr(error.message, words) == NULL || error.line != line) {
		char full[1024];
		fail_msg("'%s' does not say '%s' at line %d", knError_Format(&error, full, sizeof full), words, line);
	}
}

#define LINKS "<link name='a'/>\n<link name='b'>" INERTIAL "</link>\n"
#define JOINT(type, rest)                                                                                    \
	"<robot name='r'>\n" LINKS "<joint name='j' type='" type "'><parent link='a'/><child link='b'/>\n" rest  \
	"</joint></robot>"

static void test_refused(void** state) {
	(void)state;
	checkRefused("", 1, "malformed XML");
	checkRefused("<robot>", 1, "malformed XML");
	checkRefused("<mujoco/>", 1, "begins with <robot>");
	checkRefused("<!DOCTYPE robot [<!ENTITY a 'b'>]><robot/>", 1, "DOCTYPE");
	checkRefused("<robot name='r'/>", 1, "has no link");
	checkRefused("<robot name='r'>\n<link/></robot>", 2, "has no name");
	checkRefused("<robot name='r'><link name='a'/>\n<link name='a'/></robot>", 2, "another of that name");
	checkRefused("<robot><xacro:macro/></robot>", 1, "xacro");
	checkRefused(JOINT("bendy", ""), 4, "its type is 'bendy'");
	checkRefused(JOINT("revolute", ""), 4, "needs a <limit>");
	checkRefused(JOINT("revolute", "<limit lower='2' upper='1'/>"), 5, "lower is 2 and upper 1");
	checkRefused(JOINT("revolute", "<limit lower='nan' upper='1'/>"), 5, "not a finite number");
	checkRefused(JOINT("continuous", "<axis xyz='0 0 0'/>"), 5, "the axis is zero");
	checkRefused(JOINT("continuous", "<axis xyz='0 0'/>"), 5, "xyz has 2 numbers");
	checkRefused(JOINT("continuous", "<dynamics damping='-1'/>"), 5, "must not be negative");
	checkRefused(JOINT("continuous", "<mimic joint='zz'/>"), 5, "no joint 'zz'");
	checkRefused(JOINT("continuous", "<mimic joint='j'/>"), 5, "can follow another");
	checkRefused("<robot name='r'><link name='a'/>\n<joint name='j' type='fixed'><parent link='a'/><child "
				 "link='x'/></joint></robot>",
				 2, "no link 'x'");
	checkRefused("<robot name='r'><link name='a'/>\n<joint name='j' type='fixed'><parent link='a'/><child "
				 "link='a'/></joint></robot>",
				 1, "cycle");
	checkRefused("<robot name='r'>\n<link name='a'><inertial><mass value='-1'/></inertial></link></robot>", 2,
				 "mass is -1");
	checkRefused("<robot name='r'>\n<link name='a'><inertial><mass value='1'/></inertial></link></robot>", 2,
				 "not positive definite");
	checkRefused("<robot name='r'>\n<link name='a'>" INERTIAL
				 "<collision>\n<geometry><box size='1 1 -1'/></geometry></collision></link></robot>",
				 3, "");
	checkRefused("<robot name='r'>\n<link name='a'>" INERTIAL
				 "<collision>\n<geometry/></collision></link></robot>",
				 3, "needs a box");
	checkRefused("<robot name='r'>\n<link name='a'/><link name='b'/><joint name='j' type='continuous'>"
				 "<parent link='a'/><child link='b'/></joint></robot>",
				 2, "moves but has no mass");
}

static void test_paths_outside_are_refused(void** state) {
	(void)state;
	static const char* const names[] = { "/etc/passwd", "file:///etc/passwd", "../../../x.stl",
										 "package://a/../../x.stl", "gone.stl" };
	for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
		char text[512];
		snprintf(text, sizeof text,
				 "<robot name='r'><link name='a'>" INERTIAL
				 "<collision><geometry><mesh filename='%s'/></geometry></collision></link></robot>",
				 names[i]);
		writeText("outside.urdf", text);
		knError error = { .status = KN_OK };
		assert_null(knUrdf_Load("outside.urdf", NULL, NULL, &error));
		assert_string_equal(error.file, "outside.urdf");
		assert_int_equal(error.line, 1);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_mimic_follows),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_package_is_found_upwards),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_paths_outside_are_refused),
	};
	return cmocka_run_group_tests(tests, enterScratch, leaveScratch);
}
