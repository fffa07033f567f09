// Robots: files in files, frames, meshes, actuators, tendons, sensors and couplings from MJCF into the scene.
#include "mjcf_test.h"

#include <sys/stat.h>
#include <unistd.h>

// --- files in files --------------------------------------------------------------------------------------------

static void writeFile(const char* path, const char* text) {
	FILE* file = fopen(path, "wb");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static knScene* loadFiles(const char* const* names, const char* const* texts, int count, knError* error) {
	char folder[] = "/tmp/knuckle_mjcf_XXXXXX", path[256];
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < count; ++i) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		writeFile(path, texts[i]);
	}
	snprintf(path, sizeof path, "%s/%s", folder, names[0]);
	knScene* scene = knMjcf_Load(path, NULL, NULL, error);
	for (int i = 0; i < count; ++i) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
	return scene;
}

// An included file stands where it is included: in the root, in a body, and with defaults for all.
static void test_include(void** state) {
	(void)state;
	const char* names[] = { "main.xml", "robot.xml", "parts.xml" };
	const char* texts[] = {
		"<mujoco><include file='robot.xml'/><worldbody><geom type='plane' size='1 1 "
		"1'/></worldbody></mujoco>",
		"<mujoco><default><geom size='0.2'/></default><worldbody><body name='a'><freejoint/>"
		"<include file='parts.xml'/></body></worldbody></mujoco>",
		"<mujocoinclude><geom name='g'/><body name='b' pos='1 0 0'><joint/><geom "
		"name='h'/></body></mujocoinclude>"
	};
	knError error = { .status = KN_OK };
	knScene* scene = loadFiles(names, texts, 3, &error);
	assert_non_null(scene);
	assert_near(knGeom_Size(knScene_GetShapeGeom(scene, shapeNamed(scene, "h"))).x, 0.2, 0.0);
	assert_near3(bodyNamed(scene, "b")->frame.p, knV3(1.0, 0.0, 0.0), 0.0);
	knScene_Destroy(scene);

	// a mistake names the file that it is in; a cycle ends
	texts[2] = "<x>\n<geom size='-1'/></x>";
	assert_null(loadFiles(names, texts, 3, &error));
	assert_non_null(strstr(error.file, "parts.xml"));
	assert_int_equal(error.line, 2);
	texts[2] = "<x><include file='robot.xml'/></x>";
	assert_null(loadFiles(names, texts, 3, &error));
	assert_non_null(strstr(error.message, "includes itself"));
}

// An attached model keeps its own angles and classes, and its names get a prefix.
static void test_attach(void** state) {
	(void)state;
	const char* names[] = { "main.xml", "arm.xml" };
	const char* texts[] = {
		"<mujoco><compiler angle='degree'/><asset><model name='m' file='arm.xml'/></asset>"
		"<worldbody><frame pos='0 0 2'><attach model='m' body='root' prefix='l_'/></frame>"
		"<frame pos='0 5 2'><attach model='m' body='root' prefix='r_'/></frame></worldbody></mujoco>",
		"<mujoco><compiler angle='radian'/><default><geom size='0.3'/></default><worldbody>"
		"<body name='other'><geom/></body>"
		"<body name='root' pos='1 0 0'><joint name='j' range='-1 1'/><geom name='g'/></body></worldbody>"
		"<actuator><motor name='m' joint='j'/></actuator><keyframe><key qpos='1'/></keyframe></mujoco>"
	};
	knError error = { .status = KN_OK };
	knScene* scene = loadFiles(names, texts, 2, &error);
	assert_non_null(scene);
	assert_near3(bodyNamed(scene, "l_root")->frame.p, knV3(1.0, 0.0, 2.0), 0.0);
	assert_near3(bodyNamed(scene, "r_root")->frame.p, knV3(1.0, 5.0, 2.0), 0.0);
	assert_near(jointNamed(scene, "r_j")->axis[0].upper, 1.0, 0.0);
	assert_near(knGeom_Size(knScene_GetShapeGeom(scene, shapeNamed(scene, "l_g"))).x, 0.3, 0.0);
	assert_int_equal(knScene_FindActuator(scene, "r_m"), 1);
	assert_true(KN_ID_IS_NULL(knScene_FindBody(scene, "l_other")));
	knScene_Destroy(scene);
}

// In a <replicate> each copy of an attached model has names, classes and references of its own.
static void test_attach_in_replicate(void** state) {
	(void)state;
	const char* names[] = { "main.xml", "arm.xml" };
	const char* texts[] = {
		"<mujoco><asset><model name='m' file='arm.xml'/></asset><worldbody>"
		"<replicate count='3' offset='0 2 0' sep='-'><attach model='m' body='root' prefix='r_'/></replicate>"
		"</worldbody></mujoco>",
		"<mujoco><default><geom size='0.3'/><default class='big'><geom size='0.5'/></default></default>"
		"<worldbody><body name='root' pos='1 0 0'><joint name='j'/><geom name='g'/>"
		"<geom name='h' class='big'/></body></worldbody>"
		"<actuator><motor name='m' joint='j'/></actuator></mujoco>"
	};
	knError error = { .status = KN_OK };
	knScene* scene = loadFiles(names, texts, 2, &error);
	assert_non_null(scene);
	assert_near3(bodyNamed(scene, "r_root-2")->frame.p, knV3(1.0, 4.0, 0.0), 1e-15);
	assert_near(knGeom_Size(knScene_GetShapeGeom(scene, shapeNamed(scene, "r_g-1"))).x, 0.3, 0.0);
	assert_near(knGeom_Size(knScene_GetShapeGeom(scene, shapeNamed(scene, "r_h-2"))).x, 0.5, 0.0);
	for (int i = 0; i < 3; ++i) {
		char actuator[8], joint[8];
		snprintf(actuator, sizeof actuator, "r_m-%d", i);
		snprintf(joint, sizeof joint, "r_j-%d", i);
		const int index = knScene_FindActuator(scene, actuator);
		assert_true(index >= 0);
		assert_true(KN_ID_EQUALS(knScene_GetActuator(scene, index)->joint, knScene_FindJoint(scene, joint)));
	}
	knScene_Destroy(scene);
}

// What has no name gets one that nothing later in the file has.
static void test_names_made_up_are_free(void** state) {
	(void)state;
	knScene* scene =
		load("<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>"
			 "<tendon><fixed><joint joint='j' coef='1'/></fixed>"
			 "<fixed name='tendon0'><joint joint='j' coef='2'/></fixed></tendon>"
			 "<actuator><motor joint='j'/><motor name='actuator0' joint='j' gear='3'/></actuator>"
			 "</mujoco>");
	assert_int_equal(knScene_FindTendon(scene, "tendon0"), 1);
	assert_int_equal(knScene_FindActuator(scene, "actuator0"), 1);
	knScene_Destroy(scene);
}

// --- frames ----------------------------------------------------------------------------------------------------

static void test_frame(void** state) {
	(void)state;
	knScene* scene =
		load("<mujoco><default><default class='c'><geom size='0.2'/></default></default><worldbody>"
			 "<frame pos='1 0 0' euler='0 0 90' childclass='c'><frame pos='1 0 0'>"
			 "<body name='a' pos='0 0 1'><joint name='j'/><geom name='g'/>"
			 "<frame euler='90 0 0'><geom name='h' pos='0 1 0'/></frame></body></frame></frame>"
			 "</worldbody></mujoco>");
	assert_near3(bodyNamed(scene, "a")->frame.p, knV3(1.0, 1.0, 1.0), 1e-15);
	assert_near3(shapeDef(scene, "h")->frame.p, knV3(0.0, 0.0, 1.0), 1e-15);
	assert_near(knGeom_Size(knScene_GetShapeGeom(scene, shapeNamed(scene, "g"))).x, 0.2, 0.0);
	knScene_Destroy(scene);
}

// --- meshes ----------------------------------------------------------------------------------------------------

#define CUBE                                                                                                 \
	"vertex='-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1' face='0 2 1 0 3 2 4 5 6 4 6 7 0 "  \
	"1 5 0 5 4 "                                                                                             \
	"2 3 7 2 7 6 1 2 6 1 6 5 0 4 7 0 7 3'"

// A cube of side 2, scaled to 2 x 4 x 6: the hull collides, mass and inertia are a box's; fitted primitives are it.
static void test_mesh(void** state) {
	(void)state;
	knScene* scene = load(
		"<mujoco><asset><mesh name='m' scale='1 2 3' " CUBE "/></asset><worldbody>"
		"<body name='a'><freejoint/><geom name='g' type='mesh' mesh='m' pos='1 0 0' density='10'/></body>"
		"<body name='b'><freejoint/><geom name='box' type='box' mesh='m' density='10'/></body>"
		"<body name='c'><freejoint/><geom type='mesh' mesh='m' contype='0' conaffinity='0' mass='5'/></body>"
		"</worldbody></mujoco>");
	const knMassProps mass = massOf(scene, "a"), box = massOf(scene, "b");
	assert_near(mass.mass, 480.0, 1e-9);
	assert_near3(mass.center, knV3(1.0, 0.0, 0.0), 1e-12);
	assert_near(mass.inertia.cx.x, 480.0 / 12.0 * (16.0 + 36.0), 1e-8);
	assert_near(mass.inertia.cz.z, 480.0 / 12.0 * (4.0 + 16.0), 1e-8);
	assert_near(box.inertia.cy.y, mass.inertia.cy.y, 1e-8);
	assert_int_equal(knGeom_Kind(knScene_GetShapeGeom(scene, shapeNamed(scene, "g"))), KN_GEOM_HULL);
	assert_int_equal(knGeom_Kind(knScene_GetShapeGeom(scene, shapeNamed(scene, "box"))), KN_GEOM_BOX);
	assert_near(massOf(scene, "c").mass, 5.0, 1e-12);
	knScene_Destroy(scene);
}

// A mesh that only shows is read when looks are wanted; what collides in group 3 is then hidden. One that is missing is a note.
static void test_looks(void** state) {
	(void)state;
	static const char text[] =
		"<mujoco><asset><mesh name='m' " CUBE "/><mesh name='gone' file='gone.stl'/></asset><worldbody>"
		"<body><freejoint/><geom name='seen' type='mesh' mesh='m' contype='0' conaffinity='0' mass='0'/>"
		"<geom name='felt' size='1' group='3'/><geom type='mesh' mesh='gone' contype='0' conaffinity='0' "
		"mass='0'/></body>"
		"<body><freejoint/><geom name='bare' size='1' group='3'/></body></worldbody></mujoco>";
	const knMjcfOptions options = { .looks = true };
	knLoadReport report;
	knError error = { .status = KN_OK };
	knScene* scene = knMjcf_LoadMemory(text, strlen(text), "t.xml", &options, &report, &error);
	assert_non_null(scene);
	assert_int_equal(shapeDef(scene, "seen")->role, KN_SHAPE_LOOKS);
	assert_int_equal(shapeDef(scene, "felt")->role, KN_SHAPE_HIDDEN);
	assert_int_equal(shapeDef(scene, "bare")->role, KN_SHAPE_WHOLE);
	assert_true(reported(&report, "mesh 'gone' cannot be read"));
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
	scene = load(text);
	assert_int_equal(knScene_ShapeSlots(scene), 2);
	knScene_Destroy(scene);

	// one that also gives its body mass is shown, and weighs the same
	static const char heavy[] =
		"<mujoco><asset><mesh name='m' " CUBE "/></asset><worldbody><body name='b'><freejoint/>"
		"<geom name='seen' type='mesh' mesh='m' contype='0' conaffinity='0' density='3'/>"
		"<geom name='felt' size='1' group='3' mass='0'/></body></worldbody></mujoco>";
	scene = knMjcf_LoadMemory(heavy, strlen(heavy), "t.xml", &options, NULL, &error);
	assert_non_null(scene);
	assert_int_equal(shapeDef(scene, "seen")->role, KN_SHAPE_LOOKS);
	assert_int_equal(shapeDef(scene, "felt")->role, KN_SHAPE_HIDDEN);
	knScene* blind = load(heavy);
	assert_near(bodyNamed(scene, "b")->mass.mass, bodyNamed(blind, "b")->mass.mass, 0.0);
	knScene_Destroy(blind);
	knScene_Destroy(scene);
}

// --- several joints --------------------------------------------------------------------------------------------

// Three hinges that are no joint of the vocabulary: bodies between them, the coordinates as written.
static void test_split(void** state) {
	(void)state;
	knScene* scene = loadKey(
		"<mujoco><worldbody><body name='a'><joint name='x' axis='1 0 0'/>"
		"<joint name='y' axis='0.6 0.8 0'/><joint name='z' axis='0 0 1'/><geom size='1'/></body></worldbody>"
		"<keyframe><key name='k' qpos='0.3 -0.2 0.5'/></keyframe></mujoco>",
		"k", NULL);
	knQuat q = knMulQ(knMulQ(knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.3),
							 knQuat_FromAxisAngle(knV3(0.6, 0.8, 0.0), -0.2)),
					  knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), 0.5));
	assert_same_rotation(bodyNamed(scene, "a")->frame.q, q, 1e-14);
	assert_int_equal(knScene_BodySlots(scene), 2); // y and z are one universal joint
	assert_int_equal(knScene_JointSlots(scene), 2);
	knModel* model = compile(scene);
	assert_int_equal(knModel_DofCount(model), 3);
	knModel_Release(model);
	knScene_Destroy(scene);
}

// --- control ---------------------------------------------------------------------------------------------------

static const char* const arm =
	"<mujoco><compiler angle='radian'/><default><position kp='30'/>"
	"<default class='d'><position kp='7' kv='2' forcerange='-3 3'/></default></default><worldbody>"
	"<body name='a'><joint name='j' axis='0 1 0' range='-2 1' armature='0.5' actuatorfrcrange='-4 4'/>"
	"<inertial mass='2' pos='0 0 -1' diaginertia='1 1 1'/><site name='s' pos='0 0 -1'/>"
	"<body name='b' pos='0 0 -1'><joint name='k' axis='0 1 0'/>"
	"<inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/><site name='t'/></body></body></worldbody>"
	"<tendon><fixed name='f'><joint joint='j' coef='2'/><joint joint='k' coef='-1'/></fixed>"
	"<spatial name='l'><site site='s'/><site site='t'/></spatial></tendon>"
	"<actuator><position name='p' joint='j' inheritrange='1'/><position name='q' class='d' joint='k'/>"
	"<general name='g' tendon='f' gear='3' gainprm='2' biastype='affine' biasprm='1 -2 -3'/>"
	"<velocity name='v' joint='j' kv='4'/><damper name='d' joint='k' kv='5' ctrlrange='0 1'/>"
	"<intvelocity name='i' joint='k' kp='6' actrange='-1 1'/><motor name='m' site='t' gear='1 2 3 4 5 6'/>"
	"<position name='r' joint='j' kp='9' dampratio='1'/></actuator>"
	"<equality><joint joint1='j' joint2='k' polycoef='0.1 2 0 0 0'/></equality>"
	"<sensor><jointpos name='jp' joint='j'/><framepos name='fp' objtype='site' objname='t'/><rangefinder "
	"site='s'/></sensor>"
	"<keyframe><key name='home' qpos='0.2 0.3' ctrl='1 2 3 4 5 6 7 8'/></keyframe></mujoco>";

static const knActuatorDef* actuator(const knScene* scene, const char* name) {
	return knScene_GetActuator(scene, knScene_FindActuator(scene, name));
}

static void test_actuators(void** state) {
	(void)state;
	knLoadReport report;
	knScene* scene = loadKey(arm, "home", &report);
	const knJointAxis* axis = &jointNamed(scene, "j")->axis[0];
	assert_near(axis->armature, 0.5, 0.0);
	assert_true(axis->driveLimited);
	assert_near(axis->driveUpper, 4.0, 0.0);
	const knActuatorDef* p = actuator(scene, "p");
	assert_near(p->gain[0], 30.0, 0.0);
	assert_near(p->bias[1], -30.0, 0.0);
	assert_true(p->controlLimited);
	assert_near(p->controlRange[0], -2.0, 1e-15);
	assert_near(p->control, 1.0, 0.0);
	const knActuatorDef* q = actuator(scene, "q");
	assert_near(q->bias[1], -7.0, 0.0);
	assert_near(q->bias[2], -2.0, 0.0);
	assert_near(q->forceRange[0], -3.0, 0.0);
	const knActuatorDef* g = actuator(scene, "g");
	assert_int_equal(g->driven, KN_DRIVEN_TENDON);
	assert_near(g->gear[0], 3.0, 0.0);
	assert_near(g->bias[2], -3.0, 0.0);
	assert_near(actuator(scene, "v")->bias[2], -4.0, 0.0);
	assert_near(actuator(scene, "d")->gain[2], -5.0, 0.0);
	assert_int_equal(actuator(scene, "i")->activation, KN_ACTIVATION_INTEGRATOR);
	assert_int_equal(actuator(scene, "m")->driven, KN_DRIVEN_POINT);
	assert_near(actuator(scene, "m")->gear[5], 6.0, 0.0);
	// dampratio 1: kv = 2 sqrt(kp M), M = 0.5 + (1 + 2) + (1 + 1)
	assert_near(actuator(scene, "r")->bias[2], -2.0 * sqrt(9.0 * 5.5), 1e-12);
	assert_true(reported(&report, "<rangefinder> (sensor) ignored"));
	assert_int_equal(knScene_ProbeCount(scene), 2);
	assert_int_equal(knScene_CouplingCount(scene), 1);

	// lengths in the start pose: 2 q1 - q2, and the two sites, which coincide
	knModel* model = compile(scene);
	knWorldDef def = knWorldDef_Default();
	knWorld* world = knWorld_Create(model, &def, NULL);
	assert_near(knWorld_TendonLength(world, 0, NULL), 2.0 * 0.2 - 0.3, 1e-12);
	assert_near(knWorld_TendonLength(world, 1, NULL), 0.0, 1e-12);
	double values[4];
	assert_int_equal(knWorld_ReadProbe(world, knScene_FindProbe(scene, "jp"), values), 1);
	assert_near(values[0], 0.2, 1e-12);
	knWorld_Destroy(world);
	knModel_Release(model);
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
}

// <pair> lets two geoms meet whose bits do not, and no others.
static void test_pairs(void** state) {
	(void)state;
	knScene* scene = load(
		"<mujoco><default><geom contype='0' conaffinity='0' size='1'/></default><worldbody>"
		"<geom name='floor'/><body name='x'><freejoint/><geom name='a'/><geom name='b'/></body></worldbody>"
		"<contact><pair geom1='floor' geom2='a'/></contact></mujoco>");
	const knFilter floor = shapeDef(scene, "floor")->filter, a = shapeDef(scene, "a")->filter;
	const knFilter b = shapeDef(scene, "b")->filter;
	assert_true((floor.category & a.mask) != 0 && (a.category & floor.mask) != 0);
	assert_true((floor.category & b.mask) == 0 && (a.category & b.mask) == 0 && (a.category & a.mask) == 0);
	knScene_Destroy(scene);
}

// A prism over an L, of the squares [0,2]x[0,1] and [0,1]x[1,2], one high: not convex. `exact` is the sum of its two boxes;
// `legacy` counts the tetrahedra from the middle of the surface as positive, whatever side of a face it is on.
static const double prism[12][3] = { { 0, 0, 0 }, { 2, 0, 0 }, { 2, 1, 0 }, { 1, 1, 0 },
									 { 1, 2, 0 }, { 0, 2, 0 }, { 0, 0, 1 }, { 2, 0, 1 },
									 { 2, 1, 1 }, { 1, 1, 1 }, { 1, 2, 1 }, { 0, 2, 1 } };
static const int prismFaces[20][3] = { { 0, 3, 1 },  { 1, 3, 2 },  { 0, 5, 3 },   { 5, 4, 3 }, { 6, 7, 9 },
									   { 7, 8, 9 },  { 6, 9, 11 }, { 11, 9, 10 }, { 0, 1, 7 }, { 0, 7, 6 },
									   { 1, 2, 8 },  { 1, 8, 7 },  { 2, 3, 9 },   { 2, 9, 8 }, { 3, 4, 10 },
									   { 3, 10, 9 }, { 4, 5, 11 }, { 4, 11, 10 }, { 5, 0, 6 }, { 5, 6, 11 } };

static knVec3 prismPoint(int face, int corner) {
	const double* p = prism[prismFaces[face][corner]];
	return knV3(p[0], p[1], p[2]);
}

static knMassProps prismMass(const char* inertia) {
	char text[1600];
	size_t n =
		(size_t)snprintf(text, sizeof text, "<mujoco><asset><mesh name='m' inertia='%s' vertex='", inertia);
	for (int i = 0; i < 36; ++i) {
		n += (size_t)snprintf(text + n, sizeof text - n, "%g ", prism[i / 3][i % 3]);
	}
	n += (size_t)snprintf(text + n, sizeof text - n, "' face='");
	for (int i = 0; i < 60; ++i) {
		n += (size_t)snprintf(text + n, sizeof text - n, "%d ", prismFaces[i / 3][i % 3]);
	}
	snprintf(
		text + n, sizeof text - n,
		"'/></asset><worldbody><body name='b'><freejoint/><geom type='mesh' mesh='m' density='10'/></body>"
		"</worldbody></mujoco>");
	knScene* scene = load(text);
	const knMassProps mass = massOf(scene, "b");
	knScene_Destroy(scene);
	return mass;
}

static void test_masses_of_a_mesh_that_is_not_convex(void** state) {
	(void)state;
	const knMassProps exact = prismMass("exact");
	assert_near(exact.mass, 30.0, 1e-13);
	assert_near3(exact.center, knV3(5.0 / 6.0, 5.0 / 6.0, 0.5), 1e-14);
	// two boxes about the common middle: m (a^2 + b^2)/12 + m d^2
	const double across = 20.0 * (1.0 + 1.0) / 12.0 + 20.0 / 9.0 + 10.0 * 2.0 / 12.0 + 10.0 * 4.0 / 9.0;
	assert_near(exact.inertia.cx.x, across, 1e-12);

	knVec3 middle = knZero3();
	double area = 0.0, volume = 0.0, signedVolume = 0.0;
	for (int f = 0; f < 20; ++f) {
		const knVec3 a = prismPoint(f, 0), b = prismPoint(f, 1), c = prismPoint(f, 2);
		const double own = 0.5 * knLength(knCross(knSub(b, a), knSub(c, a)));
		middle = knMulAdd(middle, own / 3.0, knAdd(a, knAdd(b, c)));
		area += own;
	}
	middle = knScale(1.0 / area, middle);
	knVec3 center = knZero3();
	for (int f = 0; f < 20; ++f) {
		const knVec3 a = prismPoint(f, 0), b = prismPoint(f, 1), c = prismPoint(f, 2);
		const double own = knDot(knSub(a, middle), knCross(knSub(b, middle), knSub(c, middle))) / 6.0;
		signedVolume += own;
		volume += fabs(own);
		center = knMulAdd(center, 0.25 * fabs(own), knAdd(middle, knAdd(a, knAdd(b, c))));
	}
	assert_near(signedVolume, 3.0, 1e-14);
	const knMassProps legacy = prismMass("legacy");
	assert_near(legacy.mass, 10.0 * volume, 1e-12);
	assert_near3(legacy.center, knScale(1.0 / volume, center), 1e-14);
}

// --- copies ----------------------------------------------------------------------------------------------------

// Copy i is turned by i euler, and stands an offset along the axes of the copy before further; names take a suffix.
static void test_replicate(void** state) {
	(void)state;
	knScene* scene = load(
		"<mujoco><worldbody><replicate count='12' offset='1 0 0' euler='0 0 90' sep='-'>"
		"<replicate count='2' offset='0 0 0.5'><body name='b' pos='0.25 0 0'><joint name='j' axis='1 0 0'/>"
		"<geom name='g' size='0.1'/></body></replicate></replicate></worldbody></mujoco>");
	assert_int_equal(knScene_JointSlots(scene), 24);
	const knVec3 first = bodyNamed(scene, "b0-00")->frame.p, second = bodyNamed(scene, "b1-00")->frame.p;
	assert_near3(first, knV3(0.25, 0.0, 0.0), 1e-15);
	assert_near3(second, knV3(0.25, 0.0, 0.5), 1e-15);
	// turned a quarter: (1, 0, 0) and 0.25 along y; then (1, 1, 0) and 0.25 back along x; the fifth is where the first is
	assert_near3(bodyNamed(scene, "b0-01")->frame.p, knV3(1.0, 0.25, 0.0), 1e-14);
	assert_near3(bodyNamed(scene, "b1-02")->frame.p, knV3(0.75, 1.0, 0.5), 1e-14);
	assert_near3(bodyNamed(scene, "b0-04")->frame.p, first, 1e-14);
	assert_non_null(jointNamed(scene, "j1-11"));
	knScene_Destroy(scene);
}

// --- what is idle, what is a plugin ------------------------------------------------------------------------------

// What pulls in proportion to a control that is 0 is no reason to refuse a model; with another control it is. It has a place
// among the controls of a keyframe all the same.
static void test_idle_adhesion(void** state) {
	(void)state;
	static const char text[] =
		"<mujoco><worldbody><body name='b'><joint name='j'/><geom size='0.1'/></body></worldbody><actuator>"
		"<adhesion name='a' body='b' ctrlrange='0 1' gain='2'/><motor name='m' joint='j'/></actuator>"
		"<keyframe><key name='idle' ctrl='0 3'/><key name='sticks' ctrl='0.5 3'/></keyframe></mujoco>";
	knLoadReport report;
	knScene* scene = loadKey(text, "idle", &report);
	assert_true(reported(&report, "<adhesion> not followed"));
	assert_near(knScene_GetActuator(scene, knScene_FindActuator(scene, "m"))->control, 3.0, 0.0);
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
	knError error = { .status = KN_OK };
	const knMjcfOptions options = { .keyframe = "sticks" };
	assert_null(knMjcf_LoadMemory(text, strlen(text), "f", &options, NULL, &error));
	assert_int_equal(error.status, KN_UNSUPPORTED);
}

static void test_pid_plugin(void** state) {
	(void)state;
	knLoadReport report;
	knScene* scene = loadKey(
		"<mujoco><extension><plugin plugin='mujoco.pid'><instance name='i'><config key='kp' "
		"value='3'/><config "
		"key='kd' value='0.2'/><config key='ki' value='1'/></instance></plugin></extension><worldbody><body "
		"name='b'><joint name='j'/><geom size='0.1'/></body></worldbody><actuator><plugin name='a' joint='j' "
		"plugin='mujoco.pid' instance='i' forcerange='-1 1'/><plugin name='c' joint='j' plugin='mujoco.pid'>"
		"<config key='kp' value='7'/></plugin></actuator></mujoco>",
		NULL, &report);
	const knActuatorDef* def = knScene_GetActuator(scene, knScene_FindActuator(scene, "a"));
	assert_near(def->gain[0], 3.0, 0.0);
	assert_near(def->bias[1], -3.0, 0.0);
	assert_near(def->bias[2], -0.2, 0.0);
	assert_true(def->forceLimited);
	assert_near(knScene_GetActuator(scene, knScene_FindActuator(scene, "c"))->gain[0], 7.0, 0.0);
	assert_true(reported(&report, "without the integral"));
	knLoadReport_Free(&report);
	knScene_Destroy(scene);

	// muscles whose length or force MuJoCo looks for with simulations of its own; another plugin is not known
	static const char* const others[] = {
		"<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><actuator><muscle "
		"joint='j' "
		"force='3'/></actuator></mujoco>",
		"<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><actuator><muscle "
		"joint='j' "
		"lengthrange='0 1'/></actuator></mujoco>",
		"<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><actuator><plugin "
		"joint='j' "
		"plugin='mujoco.elasticity'/></actuator></mujoco>",
	};
	for (int i = 0; i < 3; ++i) {
		knError error = { .status = KN_OK };
		assert_null(knMjcf_LoadMemory(others[i], strlen(others[i]), "f", NULL, NULL, &error));
		assert_int_equal(error.status, KN_UNSUPPORTED);
	}
}

// <muscle>, and <general> of a class with a <muscle>: numbers that are not written are the class's, then the usual ones.
static void test_muscles(void** state) {
	(void)state;
	static const char text[] =
		"<mujoco><compiler angle='radian'/><default><default class='m'><muscle ctrlrange='0 1' "
		"timeconst='0.02 0.05' "
		"lmax='1.7'/></default></default><worldbody><body><joint name='j' range='-1 2'/><geom "
		"size='0.1'/></body>"
		"</worldbody><actuator><general name='g' class='m' joint='j' lengthrange='0.1 0.4' gainprm='0.7 1.1 "
		"30' "
		"biasprm='0.7 1.1 30'/><muscle name='a' class='m' joint='j' gear='-2' force='5' vmax='2'/></actuator>"
		"<keyframe><key name='k' ctrl='1 0.5' act='0.25 0.5'/></keyframe></mujoco>";
	knLoadReport report = { .count = 0 };
	knScene* scene = loadKey(text, "k", &report);
	assert_non_null(scene);
	const knActuatorDef* g = knScene_GetActuator(scene, 0);
	assert_true(g->isMuscle && g->controlLimited);
	assert_int_equal(g->activation, KN_ACTIVATION_MUSCLE);
	assert_near(g->timeConstant, 0.02, 0.0);
	assert_near(g->fallConstant, 0.05, 0.0);
	assert_near(g->start, 0.25, 0.0);
	assert_near(g->muscle.rangeLeast, 0.7, 0.0);
	assert_near(g->muscle.force, 30.0, 0.0);
	assert_near(g->muscle.lengthLeast, 0.5, 0.0);
	assert_near(g->muscle.lengthMost, 1.7, 0.0);
	assert_near(g->muscle.longest, 0.4, 0.0);
	const knActuatorDef* a = knScene_GetActuator(scene, 1);
	assert_true(a->isMuscle);
	assert_near(a->muscle.shortest, -4.0, 0.0);
	assert_near(a->muscle.longest, 2.0, 0.0);
	assert_near(a->muscle.speed, 2.0, 0.0);
	assert_near(a->muscle.lengthMost, 1.7, 0.0);
	assert_true(reported(&report, "at the joint's limits"));
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
}

// Of numbers of which an element writes fewer than there may be, the rest are its class's, as in MuJoCo.
static void test_numbers_beyond_those_written(void** state) {
	(void)state;
	static const char text[] =
		"<mujoco><default><geom size='0.1 0.2 0.3'/><default class='c'><geom size='0.5 0.6'/>"
		"<general biastype='affine' biasprm='1 -2 -3'/></default></default><worldbody><body><joint name='j'/>"
		"<geom name='b' type='box' size='0.4'/><geom name='c' type='box' class='c'/></body></worldbody>"
		"<actuator><general class='c' joint='j' biasprm='7'/></actuator></mujoco>";
	knScene* scene = loadKey(text, NULL, NULL);
	assert_non_null(scene);
	assert_near3(knGeom_Size(knScene_GetShapeGeom(scene, shapeNamed(scene, "b"))), knV3(0.4, 0.2, 0.3), 0.0);
	assert_near3(knGeom_Size(knScene_GetShapeGeom(scene, shapeNamed(scene, "c"))), knV3(0.5, 0.6, 0.3), 0.0);
	const knActuatorDef* def = knScene_GetActuator(scene, 0);
	assert_near(def->bias[0], 7.0, 0.0);
	assert_near(def->bias[2], -3.0, 0.0);
	knScene_Destroy(scene);
}

// Of several things of one kind that are left out, each is left out, not only the first.
static void test_all_of_a_kind_are_left_out(void** state) {
	(void)state;
	static const char text[] =
		"<mujoco><worldbody><body><joint name='j' type='hinge'/><geom size='1'/><body><joint name='b' "
		"type='ball'/><geom size='1'/></body></body></worldbody><actuator>"
		"<general joint='j' dyntype='user'/><general joint='j' dyntype='user'/><general joint='j' "
		"gaintype='user'/>"
		"<motor joint='b'/><motor joint='b'/><motor name='m' joint='j'/></actuator></mujoco>";
	const knMjcfOptions options = { .lenient = true };
	knError error = { .status = KN_OK };
	knLoadReport report;
	knScene* scene = knMjcf_LoadMemory(text, strlen(text), "f", &options, &report, &error);
	if (scene == NULL) {
		fail_msg("%s", error.message);
	}
	assert_int_equal(knScene_ActuatorCount(scene), 1);
	assert_int_equal(knScene_FindActuator(scene, "m"), 0);
	assert_true(reported(&report, "(and 2 more)"));
	assert_true(reported(&report, "(and 1 more)"));
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
}

// A path in an included file that leads out of the model's folder is meant from that file, if it stays inside so.
static void test_paths_from_included_files(void** state) {
	(void)state;
	char folder[] = "/tmp/knuckle_mjcf_XXXXXX", path[300];
	assert_non_null(mkdtemp(folder));
	static const char* const folders[] = { "parts", "parts/list", "parts/shapes" };
	static const char* const names[] = { "main.xml", "parts/list/list.xml", "parts/shapes/s.obj" };
	static const char* const texts[] = {
		"<mujoco><include file='parts/list/list.xml'/><worldbody><body name='b'><freejoint/><geom "
		"type='mesh' "
		"mesh='s'/></body></worldbody></mujoco>",
		"<mujoco><asset><mesh name='s' file='../shapes/s.obj'/></asset></mujoco>",
		"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
	};
	for (int i = 0; i < 3; ++i) {
		snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	for (int i = 0; i < 3; ++i) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		writeFile(path, texts[i]);
	}
	snprintf(path, sizeof path, "%s/main.xml", folder);
	knError error = { .status = KN_OK };
	knScene* scene = knMjcf_Load(path, NULL, NULL, &error);
	assert_non_null(scene);
	assert_near(massOf(scene, "b").mass, 1000.0 / 6.0, 1e-9);
	knScene_Destroy(scene);

	// out of the model's folder from there too
	snprintf(path, sizeof path, "%s/parts/list/list.xml", folder);
	writeFile(path, "<mujoco><asset><mesh name='s' file='../../../s.obj'/></asset></mujoco>");
	snprintf(path, sizeof path, "%s/main.xml", folder);
	assert_null(knMjcf_Load(path, NULL, NULL, &error));
	for (int i = 2; i >= 0; --i) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	for (int i = 2; i >= 0; --i) {
		snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
		rmdir(path);
	}
	rmdir(folder);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replicate),
		cmocka_unit_test(test_masses_of_a_mesh_that_is_not_convex),
		cmocka_unit_test(test_idle_adhesion),
		cmocka_unit_test(test_pid_plugin),
		cmocka_unit_test(test_paths_from_included_files),
		cmocka_unit_test(test_include),
		cmocka_unit_test(test_attach),
		cmocka_unit_test(test_attach_in_replicate),
		cmocka_unit_test(test_names_made_up_are_free),
		cmocka_unit_test(test_frame),
		cmocka_unit_test(test_mesh),
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_actuators),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_muscles),
		cmocka_unit_test(test_numbers_beyond_those_written),
		cmocka_unit_test(test_all_of_a_kind_are_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
