// Geoms and masses: sizes, places, materials, filters and mass properties against closed forms and MuJoCo's rules.
#include "mjcf_test.h"

#define WORLD(content) "<mujoco><worldbody>" content "</worldbody></mujoco>"
#define FREE(content) WORLD("<body name='b'><freejoint/>" content "</body>")

static void test_sizes(void** state) {
	(void)state;
	knScene* scene = load(WORLD("<geom name='s' size='0.5'/>"
								"<geom name='c' type='capsule' size='0.1 0.3'/>"
								"<geom name='b' type='box' size='1 2 3' pos='1 1 1'/>"
								"<geom name='y' type='cylinder' size='0.2 0.4'/>"
								"<geom name='e' type='ellipsoid' size='0.2 0.4 0.7'/>"
								"<geom name='p' type='plane' size='0 0 1' pos='0 0 -1'/>"));
	const struct {
		const char* name;
		knGeomKind kind;
		knVec3 size;
	} expected[] = {
		{ "s", KN_GEOM_SPHERE, { 0.5, 0.0, 0.0 } },    { "c", KN_GEOM_CAPSULE, { 0.1, 0.3, 0.0 } },
		{ "b", KN_GEOM_BOX, { 1.0, 2.0, 3.0 } },       { "y", KN_GEOM_CYLINDER, { 0.2, 0.4, 0.0 } },
		{ "e", KN_GEOM_ELLIPSOID, { 0.2, 0.4, 0.7 } }, { "p", KN_GEOM_PLANE, { 0.0, 0.0, 0.0 } }
	};
	for (int i = 0; i < 6; ++i) {
		const knGeom* geom = knScene_GetShapeGeom(scene, shapeNamed(scene, expected[i].name));
		assert_int_equal(knGeom_Kind(geom), expected[i].kind);
		assert_near3(knGeom_Size(geom), expected[i].size, 0.0);
	}
	assert_near3(shapeDef(scene, "b")->frame.p, knV3(1.0, 1.0, 1.0), 0.0);
	knScene_Destroy(scene);
}

// A capsule between two points has its two ends there; a box too, and is square across.
static void test_fromto(void** state) {
	(void)state;
	knScene* scene = load(WORLD("<geom name='c' type='capsule' size='0.1' fromto='1 2 3 1 5 7'/>"
								"<geom name='b' type='box' size='0.2' fromto='0 0 0 3 0 0'/>"));
	const knShapeDef* capsule = shapeDef(scene, "c");
	const knVec3 size = knGeom_Size(knScene_GetShapeGeom(scene, shapeNamed(scene, "c")));
	assert_near(size.y, 2.5, 1e-15);
	// MuJoCo's z axis points to the first point
	assert_near3(knPoint(capsule->frame, knV3(0.0, 0.0, size.y)), knV3(1.0, 2.0, 3.0), 1e-14);
	assert_near3(knPoint(capsule->frame, knV3(0.0, 0.0, -size.y)), knV3(1.0, 5.0, 7.0), 1e-14);
	assert_near3(knGeom_Size(knScene_GetShapeGeom(scene, shapeNamed(scene, "b"))), knV3(0.2, 0.2, 1.5),
				 1e-15);
	assert_near3(shapeDef(scene, "b")->frame.p, knV3(1.5, 0.0, 0.0), 1e-15);
	knScene_Destroy(scene);
}

// Four spellings of one rotation: by 120 degrees about (1 1 1), which carries x to y, y to z and z to x.
static void test_orientations(void** state) {
	(void)state;
	knScene* scene = load("<mujoco><compiler eulerseq='XYZ'/><worldbody>"
						  "<geom name='quat' size='1' quat='2 2 2 2'/>"
						  "<geom name='axisangle' size='1' axisangle='3 3 3 120'/>"
						  "<geom name='euler' size='1' euler='90 0 90'/>"
						  "<geom name='xyaxes' size='1' xyaxes='0 2 0 0 1 1'/>"
						  "</worldbody></mujoco>");
	static const char* const names[] = { "quat", "axisangle", "euler", "xyaxes" };
	for (int i = 0; i < 4; ++i) {
		const knQuat q = shapeDef(scene, names[i])->frame.q;
		assert_near3(knRotate(q, knV3(1.0, 0.0, 0.0)), knV3(0.0, 1.0, 0.0), 1e-15);
		assert_near3(knRotate(q, knV3(0.0, 1.0, 0.0)), knV3(0.0, 0.0, 1.0), 1e-15);
	}
	knScene_Destroy(scene);

	// lower case letters turn about moving axes: R = Rx(90) Ry(90); zaxis turns z by the shortest way
	scene = load("<mujoco><compiler angle='radian'/><worldbody>"
				 "<geom name='euler' size='1' euler='1.5707963267948966 1.5707963267948966 0'/>"
				 "<geom name='zaxis' size='1' zaxis='0 -3 0'/></worldbody></mujoco>");
	const knQuat q = shapeDef(scene, "euler")->frame.q;
	// Rx(90): y -> z, z -> -y; Ry(90) first in the body: z -> x, x -> -z
	assert_near3(knRotate(q, knV3(0.0, 0.0, 1.0)), knV3(1.0, 0.0, 0.0), 1e-15);
	assert_near3(knRotate(q, knV3(1.0, 0.0, 0.0)), knV3(0.0, 1.0, 0.0), 1e-15);
	assert_near3(knRotate(shapeDef(scene, "zaxis")->frame.q, knV3(0.0, 0.0, 1.0)), knV3(0.0, -1.0, 0.0),
				 1e-15);
	assert_near3(knRotate(shapeDef(scene, "zaxis")->frame.q, knV3(1.0, 0.0, 0.0)), knV3(1.0, 0.0, 0.0),
				 1e-15);
	knScene_Destroy(scene);
}

static void test_mass_by_density_and_by_mass(void** state) {
	(void)state;
	// a box of 1 x 2 x 3 m: m (b^2 + c^2) / 12 about each axis
	knScene* scene = load(FREE("<geom type='box' size='0.5 1 1.5' density='500'/>"));
	knMassProps mass = massOf(scene, "b");
	assert_near(mass.mass, 3000.0, 1e-9);
	assert_near(mass.inertia.cx.x, 3000.0 * (4.0 + 9.0) / 12.0, 1e-8);
	assert_near(mass.inertia.cz.z, 3000.0 * (1.0 + 4.0) / 12.0, 1e-8);
	knScene_Destroy(scene);

	scene = load(FREE("<geom type='box' size='0.5 1 1.5' mass='6' density='9'/>"));
	mass = massOf(scene, "b");
	assert_true(mass.mass == 6.0);
	assert_near(mass.inertia.cy.y, 6.0 * (1.0 + 9.0) / 12.0, 1e-14);
	knScene_Destroy(scene);
}

// A dumbbell: masses m at +-d give the parallel-axis inertia 2 (2/5 m r^2 + m d^2) across and 2 (2/5 m r^2) along.
static void test_mass_of_several_geoms(void** state) {
	(void)state;
	knScene* scene =
		load(FREE("<geom size='0.1' mass='2' pos='1 0 0'/><geom size='0.1' mass='2' pos='-1 0 0'/>"
				  "<geom size='5' mass='0'/>"));
	const knMassProps mass = massOf(scene, "b");
	assert_true(mass.mass == 4.0);
	assert_near3(mass.center, knZero3(), 1e-15);
	assert_near(mass.inertia.cx.x, 2.0 * 0.4 * 2.0 * 0.01, 1e-15);
	assert_near(mass.inertia.cy.y, 2.0 * (0.4 * 2.0 * 0.01 + 2.0), 1e-14);
	knScene_Destroy(scene);
}

// A part without a joint adds its mass where it is: 1 kg at the origin and 3 kg at x = 4 have their centre at x = 3.
static void test_mass_of_welded_parts(void** state) {
	(void)state;
	knScene* scene = load(FREE("<geom size='0.1' mass='1'/>"
							   "<body pos='2 0 0' euler='0 0 90'><body pos='0 -2 0'>"
							   "<inertial pos='0 0 0' mass='3' diaginertia='1 2 2.5'/></body></body>"));
	const knMassProps mass = massOf(scene, "b");
	assert_true(mass.mass == 4.0);
	assert_near3(mass.center, knV3(3.0, 0.0, 0.0), 1e-14);
	// the part's x axis is the body's y: 2.5 about z stays, plus 1 x 9 + 3 x 1
	assert_near(mass.inertia.cz.z, 2.5 + 0.4 * 0.01 + 12.0, 1e-13);
	assert_near(mass.inertia.cx.x, 2.0 + 0.4 * 0.01, 1e-13);
	knScene_Destroy(scene);
}

static void test_inertial(void** state) {
	(void)state;
	knScene* scene = load(FREE("<inertial pos='0.1 0.2 0.3' mass='7' diaginertia='1 2 2.5' euler='0 0 90'/>"
							   "<geom size='1'/>"));
	knMassProps mass = massOf(scene, "b");
	assert_true(mass.mass == 7.0);
	assert_near3(mass.center, knV3(0.1, 0.2, 0.3), 0.0);
	assert_near(mass.inertia.cx.x, 2.0, 1e-15);
	assert_near(mass.inertia.cy.y, 1.0, 1e-15);
	knScene_Destroy(scene);

	// M11 M22 M33 M12 M13 M23
	scene = load(FREE("<inertial pos='0 0 0' mass='7' fullinertia='3 4 5 0.1 0.2 0.3'/>"));
	mass = massOf(scene, "b");
	assert_near3(mass.inertia.cx, knV3(3.0, 0.1, 0.2), 0.0);
	assert_near3(mass.inertia.cy, knV3(0.1, 4.0, 0.3), 0.0);
	assert_near3(mass.inertia.cz, knV3(0.2, 0.3, 5.0), 0.0);
	knScene_Destroy(scene);
}

static void test_inertia_from_geom(void** state) {
	(void)state;
	const char* body =
		"<worldbody><body name='b'><freejoint/><inertial pos='0 0 0' mass='7' diaginertia='1 1 1'/>"
		"<geom size='1' mass='2'/><geom size='1' mass='3' group='4'/></body></worldbody></mujoco>";
	const struct {
		const char* compiler;
		double mass;
	} expected[] = { { "<mujoco>", 7.0 },
					 { "<mujoco><compiler inertiafromgeom='auto'/>", 7.0 },
					 { "<mujoco><compiler inertiafromgeom='false'/>", 7.0 },
					 { "<mujoco><compiler inertiafromgeom='true'/>", 5.0 },
					 { "<mujoco><compiler inertiafromgeom='true' inertiagrouprange='1 5'/>", 3.0 } };
	for (int i = 0; i < 5; ++i) {
		char text[512];
		snprintf(text, sizeof text, "%s%s", expected[i].compiler, body);
		knScene* scene = load(text);
		assert_true(massOf(scene, "b").mass == expected[i].mass);
		knScene_Destroy(scene);
	}
}

static void test_materials(void** state) {
	(void)state;
	knScene* scene =
		load(WORLD("<geom name='plain' size='1'/>"
				   "<geom name='rough' size='1' friction='0.3 0.01' rgba='1 0.5 0 0.2'/>"
				   "<geom name='solid' size='1' rgba='1 0.5 0'/>"
				   "<geom name='smooth' size='1' condim='1' friction='0.3'/>"
				   "<geom name='rolling' size='1' condim='6' friction='0.3 0.01 0.002' rgba='0 0 0 1'/>"));
	assert_true(shapeDef(scene, "plain")->friction == 1.0);
	assert_true(shapeDef(scene, "plain")->color == 0);
	assert_true(shapeDef(scene, "rough")->friction == 0.3);
	assert_true(shapeDef(scene, "rough")->rollingFriction == 0.0);
	// four fifths transparent
	assert_true(shapeDef(scene, "rough")->color == 0xccff8000);
	assert_true(shapeDef(scene, "solid")->color == 0xff8000);
	assert_true(shapeDef(scene, "smooth")->friction == 0.0);
	assert_true(shapeDef(scene, "rolling")->rollingFriction == 0.002);
	assert_true(shapeDef(scene, "rolling")->color != 0);
	knScene_Destroy(scene);
}

// MuJoCo's rule over all pairs of random bit sets, against the filters.
static void test_filters_follow_mujocos_rule(void** state) {
	(void)state;
	enum { COUNT = 60 };
	knTestRandom random = { 7 };
	int contype[COUNT], conaffinity[COUNT];
	char text[COUNT * 64 + 128] = "<mujoco><worldbody>";
	for (int i = 0; i < COUNT; ++i) {
		contype[i] = testInt(&random, 16) & testInt(&random, 16);
		conaffinity[i] = testInt(&random, 16) & testInt(&random, 16);
		sprintf(text + strlen(text), "<geom size='1' contype='%d' conaffinity='%d'/>", contype[i],
				conaffinity[i]);
	}
	strcat(text, "</worldbody></mujoco>");
	knScene* scene = load(text);
	for (int i = 0; i < COUNT; ++i) {
		for (int j = 0; j < COUNT; ++j) {
			const bool rule = (contype[i] & conaffinity[j]) != 0 || (contype[j] & conaffinity[i]) != 0;
			assert_int_equal(knFilter_Allows(knScene_GetShape(scene, knScene_ShapeAt(scene, i))->filter,
											 knScene_GetShape(scene, knScene_ShapeAt(scene, j))->filter),
							 rule);
		}
	}
	knScene_Destroy(scene);
}

// A file without contype and conaffinity has the default filter, so that shapes added later meet its shapes.
static void test_plain_filter(void** state) {
	(void)state;
	knScene* scene = load(WORLD("<geom name='g' size='1'/>"));
	const knFilter filter = shapeDef(scene, "g")->filter, plain = knFilter_Default();
	assert_true(filter.category == plain.category && filter.mask == plain.mask &&
				filter.group == plain.group);
	knScene_Destroy(scene);
}

// A mesh that touches nothing and weighs nothing only shows: it is left out, and reported.
static void test_visual_meshes_are_left_out(void** state) {
	(void)state;
	knLoadReport report;
	knScene* scene =
		loadKey(FREE("<geom size='1'/><geom type='mesh' mesh='m' contype='0' conaffinity='0' mass='0'/>"),
				NULL, &report);
	assert_int_equal(knScene_ShapeSlots(scene), 1);
	assert_true(reported(&report, "type mesh that only shows is not shown"));
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_fromto),
		cmocka_unit_test(test_orientations),
		cmocka_unit_test(test_mass_by_density_and_by_mass),
		cmocka_unit_test(test_mass_of_several_geoms),
		cmocka_unit_test(test_mass_of_welded_parts),
		cmocka_unit_test(test_inertial),
		cmocka_unit_test(test_inertia_from_geom),
		cmocka_unit_test(test_materials),
		cmocka_unit_test(test_filters_follow_mujocos_rule),
		cmocka_unit_test(test_plain_filter),
		cmocka_unit_test(test_visual_meshes_are_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
