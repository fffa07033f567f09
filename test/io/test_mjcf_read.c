// Sections, defaults, the body tree: what a file says is what the scene holds. Depth and size have no limit that a
// scene would meet.
#include "mjcf_test.h"

static void test_options(void** state) {
	(void)state;
	knScene* scene = load("<mujoco model='m'><option timestep='0.005' gravity='1 2 3'/></mujoco>");
	const knSceneDef* def = knScene_GetDef(scene);
	assert_string_equal(def->name, "m");
	assert_true(def->dt == 0.005);
	assert_near3(def->gravity, knV3(1.0, 2.0, 3.0), 0.0);
	assert_int_equal(def->frictionCombine, KN_COMBINE_MAX);
	knScene_Destroy(scene);
}

// An empty model has MuJoCo's own time step and gravity, and is named after its file.
static void test_defaults_of_an_empty_model(void** state) {
	(void)state;
	knScene* scene = load("<mujoco/>");
	const knSceneDef* def = knScene_GetDef(scene);
	assert_string_equal(def->name, "test");
	assert_true(def->dt == 0.002);
	assert_near3(def->gravity, knV3(0.0, 0.0, -9.81), 0.0);
	assert_int_equal(knScene_BodySlots(scene), 0);
	knScene_Destroy(scene);
}

static const char* const classes = "<mujoco>"
								   " <worldbody>"
								   "  <geom name='plain' size='1'/>"
								   "  <body name='a' childclass='outer'>"
								   "   <geom name='of_outer' size='1'/>"
								   "   <geom name='of_inner' class='inner' size='1'/>"
								   "   <body><geom name='inherits' size='1'/></body>"
								   "   <body childclass='inner'><geom name='other' size='1'/><geom "
								   "name='own' friction='0.9' size='1'/></body>"
								   "  </body>"
								   " </worldbody>"
								   // defaults may come after what uses them
								   " <default>"
								   "  <geom friction='0.1' density='10'/>"
								   "  <default class='outer'>"
								   "   <geom friction='0.2'/>"
								   "   <default class='inner'><geom density='30'/></default>"
								   "  </default>"
								   " </default>"
								   "</mujoco>";

static void test_classes(void** state) {
	(void)state;
	const struct {
		const char* name;
		double friction, density;
	} expected[] = { { "plain", 0.1, 10 },    { "of_outer", 0.2, 10 }, { "of_inner", 0.2, 30 },
					 { "inherits", 0.2, 10 }, { "other", 0.2, 30 },    { "own", 0.9, 30 } };
	knScene* scene = load(classes);
	for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
		const knShapeDef* def = shapeDef(scene, expected[i].name);
		assert_true(def->friction == expected[i].friction);
		assert_true(def->density == expected[i].density);
	}
	knScene_Destroy(scene);
}

// An orientation in the element replaces the class's, in whichever spelling.
static void test_orientation_replaces_the_class(void** state) {
	(void)state;
	knScene* scene = load("<mujoco><default><geom euler='90 0 0' size='1 1 1' type='box'/></default>"
						  "<worldbody><geom name='a'/><geom name='b' quat='1 0 0 0'/></worldbody></mujoco>");
	const double half = 0.70710678118654752;
	assert_same_rotation(shapeDef(scene, "a")->frame.q, knQ(half, half, 0.0, 0.0), 1e-15);
	assert_same_rotation(shapeDef(scene, "b")->frame.q, knIdentityQ(), 0.0);
	knScene_Destroy(scene);
}

static const char* const tree =
	"<mujoco>"
	" <worldbody>"
	"  <geom name='ground' type='plane' size='1 1 1'/>"
	"  <body name='fixed' pos='1 0 0'><geom size='1'/>"
	"   <body name='also_fixed' pos='0 2 0'><geom size='1'/>"
	"    <body name='swings' pos='0 0 3'><joint name='hinge'/><geom name='bob' size='0.1'/>"
	"     <body name='rider' pos='0 0 1' euler='0 0 90'><geom name='riding' size='0.1' pos='1 0 0'/>"
	"      <body name='next' pos='0 1 0'><joint name='last' pos='0 0 0.5'/><geom size='0.1'/></body>"
	"     </body>"
	"    </body>"
	"   </body>"
	"  </body>"
	"  <body name='flies' pos='0 0 9'><freejoint/><geom size='1'/></body>"
	"  <body name='led' mocap='true'><geom size='1'/><body name='carried'><geom name='on' "
	"size='1'/></body></body>"
	" </worldbody>"
	"</mujoco>";

static void test_kinds_of_bodies(void** state) {
	(void)state;
	knLoadReport report;
	knScene* scene = loadKey(tree, NULL, &report);
	assert_int_equal(bodyNamed(scene, "fixed")->kind, KN_BODY_FIXED);
	assert_int_equal(bodyNamed(scene, "also_fixed")->kind, KN_BODY_FIXED);
	assert_int_equal(bodyNamed(scene, "swings")->kind, KN_BODY_DYNAMIC);
	assert_int_equal(bodyNamed(scene, "flies")->kind, KN_BODY_DYNAMIC);
	assert_int_equal(bodyNamed(scene, "led")->kind, KN_BODY_KINEMATIC);
	assert_near3(bodyNamed(scene, "also_fixed")->frame.p, knV3(1.0, 2.0, 0.0), 0.0);
	assert_near3(bodyNamed(scene, "swings")->frame.p, knV3(1.0, 2.0, 3.0), 0.0);
	assert_true(KN_ID_IS_NULL(knScene_GetShapeBody(scene, shapeNamed(scene, "ground"))));

	// parts: a body without a joint under one that moves, or is led
	assert_true(KN_ID_IS_NULL(knScene_FindBody(scene, "rider")));
	assert_true(KN_ID_IS_NULL(knScene_FindBody(scene, "carried")));
	assert_true(reported(&report, "'rider' has no joint: part of body 'swings'"));
	assert_true(KN_ID_EQUALS(knScene_GetShapeBody(scene, shapeNamed(scene, "riding")),
							 knScene_FindBody(scene, "swings")));
	assert_true(
		KN_ID_EQUALS(knScene_GetShapeBody(scene, shapeNamed(scene, "on")), knScene_FindBody(scene, "led")));
	assert_near3(shapeDef(scene, "riding")->frame.p, knV3(0.0, 1.0, 1.0), 1e-15);
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
}

// The joint below a part belongs to what the part belongs to; every joint is closed where the scene starts.
static void test_joints_of_the_tree(void** state) {
	(void)state;
	knScene* scene = load(tree);
	const knJointDef* hinge = jointNamed(scene, "hinge");
	const knJointDef* last = jointNamed(scene, "last");
	assert_true(KN_ID_EQUALS(hinge->parent, knScene_FindBody(scene, "also_fixed")));
	assert_true(KN_ID_EQUALS(last->parent, knScene_FindBody(scene, "swings")));
	assert_true(KN_ID_EQUALS(last->child, knScene_FindBody(scene, "next")));
	assert_near3(jointFrame(scene, hinge).p, knZero3(), 1e-15);
	assert_near3(jointFrame(scene, last).p, knZero3(), 1e-15);
	assert_same_rotation(jointFrame(scene, last).q, knIdentityQ(), 1e-15);
	// in the world: (1 2 3) + (0 0 1) + R_z(90)(0 1 0) + (0 0 0.5)
	assert_near3(knPoint(bodyNamed(scene, "next")->frame, last->frameChild.p), knV3(0.0, 2.0, 4.5), 1e-15);

	// MuJoCo: parent and child never touch, unless the parent stands still
	assert_true(hinge->collide);
	assert_false(last->collide);
	knScene_Destroy(scene);
}

static void test_exclusions(void** state) {
	(void)state;
	knScene* scene =
		load("<mujoco><worldbody>"
			 "<body name='a'><freejoint/><geom size='1'/></body>"
			 "<body name='b'><freejoint/><geom size='1'/></body></worldbody>"
			 "<contact><exclude body1='a' body2='b'/><exclude body1='b' body2='world'/></contact></mujoco>");
	knBodyId a, b;
	assert_int_equal(knScene_ExcludedCount(scene), 2);
	knScene_GetExcluded(scene, 0, &a, &b);
	assert_true(KN_ID_EQUALS(a, knScene_FindBody(scene, "a")) &&
				KN_ID_EQUALS(b, knScene_FindBody(scene, "b")));
	knScene_GetExcluded(scene, 1, &a, &b);
	assert_true(KN_ID_EQUALS(a, knScene_FindBody(scene, "b")) ||
				KN_ID_EQUALS(b, knScene_FindBody(scene, "b")));
	assert_true(KN_ID_IS_NULL(a) || KN_ID_IS_NULL(b));
	knScene_Destroy(scene);
}

// Bodies and joints without a name get one that no other has, also when a later one is called "body0".
static void test_unnamed_things_get_free_names(void** state) {
	(void)state;
	knScene* scene =
		load("<mujoco><worldbody>"
			 "<body><joint/><geom size='1'/></body><body name='body0'><joint name='joint0'/><geom size='1'/>"
			 "</body></worldbody></mujoco>");
	assert_int_equal(knScene_BodySlots(scene), 2);
	assert_int_equal(knScene_JointSlots(scene), 2);
	assert_true(knScene_FindBody(scene, "body0").index1 == 2);
	assert_true(knScene_FindJoint(scene, "joint0").index1 == 2);
	knScene_Destroy(scene);
}

// What is not understood is named, once, with its place and how often.
static void test_report(void** state) {
	(void)state;
	knLoadReport report;
	knScene* scene = loadKey("<mujoco>\n"
							 "<option integrator='RK4'/>\n"
							 "<asset><mesh name='m'/><mesh name='n'/><material name='m'/></asset>\n"
							 "<worldbody>words\n"
							 "<light/><site/>\n"
							 " <site name='s'/><geom size='1' solref='0.1 1' group='3' material='m'/>\n"
							 "<geom size='1' solref='0.1 1'/></worldbody>\n"
							 "<custom><numeric name='mine' data='1'/></custom>\n"
							 "</mujoco>",
							 NULL, &report);
	assert_true(reported(&report, "text between elements ignored"));
	assert_true(reported(&report, "6:18: <geom> solref not followed (and 1 more)"));
	assert_true(reported(&report, "8:9: <numeric> 'mine' ignored"));
	// purely visual, the solver's own, or not used
	assert_false(reported(&report, "material"));
	assert_false(reported(&report, "<mesh>"));
	assert_false(reported(&report, "integrator"));
	assert_int_equal(report.count, 3);
	// what changes the motion comes first
	assert_int_equal(report.severities[0], KN_LOAD_APPROXIMATE);
	assert_int_equal(knLoadReport_Count(&report, KN_LOAD_NOTE), 2);
	knLoadReport_Free(&report);
	assert_int_equal(report.count, 0);
	assert_null(report.lines);
	knScene_Destroy(scene);
}

// --- size ---

// `count` bodies, nested or beside each other, each 1 cm from the last and on a hinge.
static char* manyBodies(int count, bool nested) {
	static const char head[] = "<mujoco><worldbody>", foot[] = "</worldbody></mujoco>";
	char one[128];
	const size_t size = sizeof head + sizeof foot + (size_t)count * sizeof one;
	char* text = malloc(size);
	size_t at = (size_t)sprintf(text, "%s", head);
	for (int i = 0; i < count; ++i) {
		at += (size_t)sprintf(
			text + at, "<body name='b%d' pos='%s 0 0'><joint name='j%d' axis='0 1 0'/><geom size='0.1'/>%s",
			i, nested ? "0.01" : "1", i, nested ? "" : "</body>");
	}
	for (int i = 0; nested && i < count; ++i) {
		at += (size_t)sprintf(text + at, "</body>");
	}
	sprintf(text + at, "%s", foot);
	return text;
}

static void test_100000_nested_bodies(void** state) {
	(void)state;
	const int count = 100000;
	char* text = manyBodies(count, true);
	knScene* scene = load(text);
	free(text);
	assert_int_equal(knScene_BodySlots(scene), count);
	assert_int_equal(knScene_JointSlots(scene), count);
	assert_near(bodyNamed(scene, "b99999")->frame.p.x, 0.01 * count, 1e-6);
	assert_true(KN_ID_EQUALS(jointNamed(scene, "j99999")->parent, knScene_FindBody(scene, "b99998")));
	knScene_Destroy(scene);
}

static void test_100000_bodies_side_by_side(void** state) {
	(void)state;
	const int count = 100000;
	char* text = manyBodies(count, false);
	knScene* scene = load(text);
	free(text);
	assert_int_equal(knScene_BodySlots(scene), count);
	assert_true(KN_ID_IS_NULL(jointNamed(scene, "j99999")->parent));
	assert_near3(bodyNamed(scene, "b77777")->frame.p, knV3(1.0, 0.0, 0.0), 0.0);
	knScene_Destroy(scene);
}

static void test_files(void** state) {
	(void)state;
	char path[512];
	static const char* const names[] = { "models/pendulum.xml", "models/stack.xml", "models/four_bar.xml",
										 "models/arm.xml" };
	for (int i = 0; i < 4; ++i) {
		knError error = { .status = KN_OK };
		knScene* scene = knMjcf_Load(repositoryPath(names[i], path, sizeof path), NULL, NULL, &error);
		if (scene == NULL) {
			char line[1024];
			fail_msg("%s", knError_Format(&error, line, sizeof line));
		}
		knModel_Release(compile(scene));
		knScene_Destroy(scene);
	}
	knError error = { .status = KN_OK };
	assert_null(knMjcf_Load("/no/such/file.xml", NULL, NULL, &error));
	assert_int_equal(error.status, KN_IO);
	assert_string_equal(error.file, "/no/such/file.xml");
	assert_null(knMjcf_Load("/", NULL, NULL, &error));
	assert_int_equal(error.status, KN_IO);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_defaults_of_an_empty_model),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_orientation_replaces_the_class),
		cmocka_unit_test(test_kinds_of_bodies),
		cmocka_unit_test(test_joints_of_the_tree),
		cmocka_unit_test(test_exclusions),
		cmocka_unit_test(test_unnamed_things_get_free_names),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_100000_nested_bodies),
		cmocka_unit_test(test_100000_bodies_side_by_side),
		cmocka_unit_test(test_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
