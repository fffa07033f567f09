// What a scene refuses. Every case is tried twice: when added, and edited in place before the model is
// compiled.
#include "support/kn_test.h"

#include "knuckle/scene.h"
#include "model/scene_internal.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

// --- bodies ----------------------------------------------------------------------------------------------

static void spoilPosition(knBodyDef* def) {
	def->frame.p.y = nan("");
}
static void spoilRotation(knBodyDef* def) {
	def->frame.q.x = nan("");
}
static void zeroRotation(knBodyDef* def) {
	def->frame.q = knQ(0, 0, 0, 0);
}
static void longRotation(knBodyDef* def) {
	def->frame.q = knQ(2, 0, 0, 0);
}
static void slightlyLongRotation(knBodyDef* def) {
	def->frame.q = knQ(1.00001, 0, 0, 0);
}
static void spoilVelocity(knBodyDef* def) {
	def->velocity.z = INFINITY;
}
static void spoilSpin(knBodyDef* def) {
	def->angularVelocity.x = nan("");
}
static void spoilGravityScale(knBodyDef* def) {
	def->gravityScale = nan("");
}
static void negativeDamping(knBodyDef* def) {
	def->linearDamping = -0.1;
}
static void spoilAngularDamping(knBodyDef* def) {
	def->angularDamping = nan("");
}
static void unknownKind(knBodyDef* def) {
	def->kind = (knBodyKind)7;
}
static void negativeMass(knBodyDef* def) {
	def->mass.mass = -1.0;
}
static void zeroMass(knBodyDef* def) {
	def->mass.mass = 0.0;
}
static void spoilMass(knBodyDef* def) {
	def->mass.mass = nan("");
}
static void spoilCenter(knBodyDef* def) {
	def->mass.center.x = INFINITY;
}
static void spoilInertia(knBodyDef* def) {
	def->mass.inertia.cz.z = nan("");
}
static void indefiniteInertia(knBodyDef* def) {
	def->mass.inertia = knMakeMat33(knV3(1, 2, 0), knV3(2, 1, 0), knV3(0, 0, 1));
}
static void zeroInertia(knBodyDef* def) {
	def->mass.inertia = knDiagonal33(0.0, 1.0, 1.0);
}
static void skewInertia(knBodyDef* def) {
	def->mass.inertia = knMakeMat33(knV3(1, 0.1, 0), knV3(0, 1, 0), knV3(0, 0, 1));
}
static void triangleInertia(knBodyDef* def) {
	def->mass.inertia = knDiagonal33(1.0, 1.0, 2.1);
}

static knBodyDef goodBody(void) {
	knBodyDef def = knBodyDef_Default();
	def.name = "crank";
	def.hasMass = true;
	def.mass.mass = 2.0;
	def.mass.inertia = knDiagonal33(1.0, 1.0, 2.0); // a flat ring: just allowed
	return def;
}

static void test_bad_bodies(void** unused) {
	(void)unused;
	void (*const spoil[])(knBodyDef*) = {
		spoilPosition, spoilRotation,     zeroRotation,      longRotation,    slightlyLongRotation,
		spoilVelocity, spoilSpin,         spoilGravityScale, negativeDamping, spoilAngularDamping,
		unknownKind,   negativeMass,      zeroMass,          spoilMass,       spoilCenter,
		spoilInertia,  indefiniteInertia, zeroInertia,       skewInertia,     triangleInertia,
	};
	for (int i = 0; i < COUNT(spoil); ++i) {
		knScene* scene = knScene_Create(NULL, NULL, NULL);
		knBodyDef bad = goodBody(), good = goodBody();
		knError error = { 0 };
		spoil[i](&bad);
		assert_true(KN_ID_IS_NULL(knScene_AddBody(scene, &bad, &error)));
		assert_int_equal(error.status, KN_BAD_DATA);
		assert_string_equal(error.element, "body 'crank'");
		assert_true(strlen(error.message) > 10);
		assert_int_equal(knScene_BodySlots(scene), 0);

		knBodyId body = knScene_AddBody(scene, &good, &error);
		assert_false(KN_ID_IS_NULL(body));
		knModel* model = knModel_Create(scene, &error);
		assert_non_null(model);
		knModel_Release(model);
		spoil[i](knScene_EditBody(scene, body));
		memset(&error, 0, sizeof(error));
		assert_null(knModel_Create(scene, &error));
		assert_int_equal(error.status, KN_BAD_DATA);
		assert_string_equal(error.element, "body 'crank'");
		knScene_Destroy(scene);
	}
}

static void test_message_says_what_is_wrong(void** unused) {
	(void)unused;
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyDef def = goodBody();
	def.mass.mass = -1.0;
	knError error;
	knScene_AddBody(scene, &def, &error);
	char text[600];
	assert_non_null(strstr(knError_Format(&error, text, sizeof(text)), "body 'crank'"));
	assert_non_null(strstr(text, "-1"));
	assert_non_null(strstr(text, "positive"));
	knScene_Destroy(scene);
}

// A quaternion that lost a few digits (a text file) is made unit; a unit one is not touched.
static void test_rounded_rotations_become_unit(void** unused) {
	(void)unused;
	knTestRandom random = { 1 };
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	for (int trial = 0; trial < 50; ++trial) {
		knBodyDef def = knBodyDef_Default();
		knQuat unit = testQuat(&random);
		def.frame.q = knQ(1.0000005 * unit.w, 1.0000005 * unit.x, 1.0000005 * unit.y, 1.0000005 * unit.z);
		knQuat stored = knScene_GetBody(scene, knScene_AddBody(scene, &def, NULL))->frame.q;
		assert_near(knDotQ(stored, stored), 1.0, 1e-15);
		def.frame.q = stored;
		knQuat again = knScene_GetBody(scene, knScene_AddBody(scene, &def, NULL))->frame.q;
		assert_memory_equal(&again, &stored, sizeof(stored));
	}
	knScene_Destroy(scene);
}

static void test_dynamic_bodies_need_mass(void** unused) {
	(void)unused;
	knError error = { 0 };
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyDef def = knBodyDef_Default();
	def.name = "ghost";
	knBodyId body = knScene_AddBody(scene, &def, NULL);
	assert_null(knModel_Create(scene, &error));
	assert_int_equal(error.status, KN_BAD_DATA);
	assert_string_equal(error.element, "body 'ghost'");
	// a sensor weighs nothing
	knShapeDef sensor = knShapeDef_Default();
	sensor.sensor = true;
	knScene_AddSphere(scene, body, 1.0, &sensor, NULL);
	assert_null(knModel_Create(scene, &error));
	// bodies that are not moved by forces need none
	knScene_EditBody(scene, body)->kind = KN_BODY_KINEMATIC;
	knModel* model = knModel_Create(scene, &error);
	assert_non_null(model);
	knModel_Release(model);
	knScene_EditBody(scene, body)->kind = KN_BODY_DYNAMIC;
	knScene_AddSphere(scene, body, 1.0, NULL, NULL);
	model = knModel_Create(scene, &error);
	assert_non_null(model);
	knModel_Release(model);
	knScene_Destroy(scene);
}

// --- shapes ----------------------------------------------------------------------------------------------

static void spoilShapeFrame(knShapeDef* def) {
	def->frame.p.x = nan("");
}
static void longShapeRotation(knShapeDef* def) {
	def->frame.q = knQ(0.5, 0, 0, 0);
}
static void negativeFriction(knShapeDef* def) {
	def->friction = -0.1;
}
static void negativeRestitution(knShapeDef* def) {
	def->restitution = -0.1;
}
static void bouncyRestitution(knShapeDef* def) {
	def->restitution = 1.01;
}
static void zeroDensity(knShapeDef* def) {
	def->density = 0.0;
}
static void spoilDensity(knShapeDef* def) {
	def->density = nan("");
}
static void negativeRolling(knShapeDef* def) {
	def->rollingFriction = -1.0;
}

static void test_bad_shapes(void** unused) {
	(void)unused;
	void (*const spoil[])(knShapeDef*) = { spoilShapeFrame,     longShapeRotation, negativeFriction,
										   negativeRestitution, bouncyRestitution, zeroDensity,
										   spoilDensity,        negativeRolling };
	for (int i = 0; i < COUNT(spoil); ++i) {
		knScene* scene = knScene_Create(NULL, NULL, NULL);
		knBodyDef def = goodBody();
		knBodyId body = knScene_AddBody(scene, &def, NULL);
		knShapeDef bad = knShapeDef_Default();
		spoil[i](&bad);
		knError error = { 0 };
		assert_true(KN_ID_IS_NULL(knScene_AddSphere(scene, body, 1.0, &bad, &error)));
		assert_int_equal(error.status, KN_BAD_DATA);
		assert_non_null(strstr(error.element, "body 'crank'"));
		knShapeId shape = knScene_AddSphere(scene, body, 1.0, NULL, &error);
		spoil[i](knScene_EditShape(scene, shape));
		memset(&error, 0, sizeof(error));
		assert_null(knModel_Create(scene, &error));
		assert_int_equal(error.status, KN_BAD_DATA);
		assert_non_null(strstr(error.element, "body 'crank'"));
		knScene_Destroy(scene);
	}
}

static void test_planes_do_not_move(void** unused) {
	(void)unused;
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyDef def = goodBody();
	knBodyId dynamic = knScene_AddBody(scene, &def, NULL);
	knError error = { 0 };
	assert_true(KN_ID_IS_NULL(knScene_AddPlane(scene, dynamic, NULL, &error)));
	assert_int_equal(error.status, KN_BAD_DATA);
	assert_non_null(strstr(error.element, "body 'crank'"));
	assert_false(KN_ID_IS_NULL(knScene_AddPlane(scene, KN_WORLD_BODY, NULL, NULL)));
	def.name = "table";
	def.kind = KN_BODY_FIXED;
	knBodyId table = knScene_AddBody(scene, &def, NULL);
	assert_false(KN_ID_IS_NULL(knScene_AddPlane(scene, table, NULL, NULL)));
	knScene_EditBody(scene, table)->kind = KN_BODY_DYNAMIC;
	assert_null(knModel_Create(scene, &error));
	assert_non_null(strstr(error.element, "body 'table'"));
	knScene_Destroy(scene);
}

static void test_stale_bodies_carry_no_shapes(void** unused) {
	(void)unused;
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyDef def = goodBody();
	knBodyId body = knScene_AddBody(scene, &def, NULL), unknown = { 77, 1 };
	assert_ok(knScene_RemoveBody(scene, body, NULL));
	knError error = { 0 };
	assert_true(KN_ID_IS_NULL(knScene_AddSphere(scene, body, 1.0, NULL, &error)));
	assert_int_equal(error.status, KN_BAD_ARGUMENT);
	assert_true(KN_ID_IS_NULL(knScene_AddSphere(scene, unknown, 1.0, NULL, &error)));
	assert_int_equal(knScene_ExcludePair(scene, body, KN_WORLD_BODY, NULL), KN_BAD_ARGUMENT);
	assert_int_equal(knScene_ExcludePair(scene, KN_WORLD_BODY, KN_WORLD_BODY, NULL), KN_BAD_DATA);
	// the geometry itself refuses bad sizes
	assert_true(KN_ID_IS_NULL(knScene_AddBox(scene, KN_WORLD_BODY, knV3(1, 0, 1), NULL, &error)));
	assert_int_equal(error.status, KN_BAD_DATA);
	knScene_Destroy(scene);
}

// --- joints ----------------------------------------------------------------------------------------------

static knFrame someState(knFrame joint, void* context) {
	(void)context;
	return joint;
}

static void selfJoint(knJointDef* def) {
	def->parent = def->child;
}
static void worldJoint(knJointDef* def) {
	def->parent = def->child = KN_WORLD_BODY;
}
static void unknownParent(knJointDef* def) {
	def->parent = (knBodyId){ 99, 1 };
}
static void staleChild(knJointDef* def) {
	def->child.generation += 1;
}
static void unknownJointKind(knJointDef* def) {
	def->kind = KN_JOINT_KIND_COUNT;
}
static void spoilFrameParent(knJointDef* def) {
	def->frameParent.p.z = nan("");
}
static void zeroFrameChild(knJointDef* def) {
	def->frameChild.q = knQ(0, 0, 0, 0);
}
static void crossedLimits(knJointDef* def) {
	def->axis[0].limited = true;
	def->axis[0].lower = 1.0;
	def->axis[0].upper = 0.5;
}
static void spoilLimits(knJointDef* def) {
	def->axis[0].limited = true;
	def->axis[0].lower = nan("");
}
static void negativeJointFriction(knJointDef* def) {
	def->axis[0].friction = -1.0;
}
static void negativeBearing(knJointDef* def) {
	def->axis[0].bearing = -0.01;
}
static void spoilBearing(knJointDef* def) {
	def->axis[0].bearing = nan("");
}
static void negativeJointDamping(knJointDef* def) {
	def->axis[0].damping = -1.0;
}
static void negativeStiffness(knJointDef* def) {
	def->axis[0].stiffness = -1.0;
}
static void negativeMotorForce(knJointDef* def) {
	def->axis[0].motorMaxForce = -1.0;
}
static void spoilMotorTarget(knJointDef* def) {
	def->axis[0].motorTarget = nan("");
}
static void unknownMotor(knJointDef* def) {
	def->axis[0].motorMode = (knMotorMode)9;
}
static void spoilRest(knJointDef* def) {
	def->axis[0].rest = INFINITY;
}
static void negativeMaxForce(knJointDef* def) {
	def->maxForce = -1.0;
}
static void customWithoutFunctions(knJointDef* def) {
	def->kind = KN_JOINT_CUSTOM;
}
static void customWithOneFunction(knJointDef* def) {
	def->kind = KN_JOINT_CUSTOM;
	def->custom.projectState = someState;
}
static void ballAxisLimit(knJointDef* def) {
	def->kind = KN_JOINT_BALL;
	def->axis[1].limited = true;
}
static void freeLimit(knJointDef* def) {
	def->kind = KN_JOINT_FREE;
	def->axis[4].limited = true;
}
static void closedCone(knJointDef* def) {
	def->kind = KN_JOINT_BALL;
	def->coneLimited = true;
	def->coneY = 0.0;
}
static void wideCone(knJointDef* def) {
	def->kind = KN_JOINT_BALL;
	def->coneLimited = true;
	def->coneZ = 3.2;
}
static void crossedTwist(knJointDef* def) {
	def->kind = KN_JOINT_BALL;
	def->twistLimited = true;
	def->twistLower = 0.2;
	def->twistUpper = 0.1;
}

// A sound reach cone of three corners, with twist limits, that the others spoil.
static void reachTwist(knJointDef* def) {
	def->kind = KN_JOINT_BALL;
	def->reachCount = 3;
	for (int i = 0; i < 3; ++i) {
		def->reach[i] = knV3(1.0, cos(2.1 * i), sin(2.1 * i));
	}
	def->twistLimited = true;
	def->twistLower = -0.1;
	def->twistUpper = 0.1;
	def->reachTwist[1] = (knReachTwist){ true, -0.2, 0.2 };
}
static void crossedReachTwist(knJointDef* def) {
	reachTwist(def);
	def->reachTwist[2] = (knReachTwist){ true, 0.3, 0.2 };
}
static void spoilReachTwist(knJointDef* def) {
	reachTwist(def);
	def->reachTwist[1].upper = nan("");
}
static void endlessReachTwist(knJointDef* def) {
	reachTwist(def);
	def->reachTwist[1].lower = -(double)INFINITY;
}
static void reachTwistAlone(knJointDef* def) {
	reachTwist(def);
	def->twistLimited = false;
}

static void test_bad_joints(void** unused) {
	(void)unused;
	void (*const spoil[])(knJointDef*) = {
		selfJoint,
		worldJoint,
		unknownParent,
		staleChild,
		unknownJointKind,
		spoilFrameParent,
		zeroFrameChild,
		crossedLimits,
		spoilLimits,
		negativeJointFriction,
		negativeBearing,
		spoilBearing,
		negativeJointDamping,
		negativeStiffness,
		negativeMotorForce,
		spoilMotorTarget,
		unknownMotor,
		spoilRest,
		negativeMaxForce,
		customWithoutFunctions,
		customWithOneFunction,
		ballAxisLimit,
		freeLimit,
		closedCone,
		wideCone,
		crossedTwist,
		crossedReachTwist,
		spoilReachTwist,
		endlessReachTwist,
		reachTwistAlone,
	};
	for (int i = 0; i < COUNT(spoil); ++i) {
		knScene* scene = knScene_Create(NULL, NULL, NULL);
		knBodyDef body = goodBody();
		knJointDef good = knJointDef_Default(KN_JOINT_HINGE);
		good.name = "knee";
		good.parent = knScene_AddBody(scene, &body, NULL);
		body.name = "rod";
		good.child = knScene_AddBody(scene, &body, NULL);
		knJointDef bad = good;
		spoil[i](&bad);
		knError error = { 0 };
		assert_true(KN_ID_IS_NULL(knScene_AddJoint(scene, &bad, &error)));
		assert_int_equal(error.status, KN_BAD_DATA);
		assert_string_equal(error.element, "joint 'knee'");
		assert_true(strlen(error.message) > 10);

		knJointId joint = knScene_AddJoint(scene, &good, &error);
		assert_false(KN_ID_IS_NULL(joint));
		knModel* model = knModel_Create(scene, &error);
		assert_non_null(model);
		knModel_Release(model);
		spoil[i](knScene_EditJoint(scene, joint));
		memset(&error, 0, sizeof(error));
		assert_null(knModel_Create(scene, &error));
		assert_int_equal(error.status, KN_BAD_DATA);
		assert_string_equal(error.element, "joint 'knee'");
		knScene_Destroy(scene);
	}
}

static void test_self_joint_names_the_body(void** unused) {
	(void)unused;
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyDef body = goodBody();
	knJointDef def = knJointDef_Default(KN_JOINT_BALL);
	def.parent = def.child = knScene_AddBody(scene, &body, NULL);
	knError error;
	knScene_AddJoint(scene, &def, &error);
	assert_non_null(strstr(error.message, "'crank'"));
	knScene_Destroy(scene);
}

static void test_equal_limits_and_unused_numbers_are_fine(void** unused) {
	(void)unused;
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyDef body = goodBody();
	knJointDef def = knJointDef_Default(KN_JOINT_SLIDER);
	def.child = knScene_AddBody(scene, &body, NULL);
	def.axis[0].limited = true;
	def.axis[0].lower = def.axis[0].upper = 0.25;
	def.axis[3].friction = -1.0; // a slider has one axis
	assert_false(KN_ID_IS_NULL(knScene_AddJoint(scene, &def, NULL)));
	def.axis[0].limited = false;
	def.axis[0].lower = -INFINITY;
	def.axis[0].upper = INFINITY;
	assert_false(KN_ID_IS_NULL(knScene_AddJoint(scene, &def, NULL)));
	knScene_Destroy(scene);
}

// --- scene -----------------------------------------------------------------------------------------------

static void test_bad_scene_defs(void** unused) {
	(void)unused;
	for (int i = 0; i < 7; ++i) {
		knSceneDef def = knSceneDef_Default();
		knStatus expected = KN_BAD_DATA;
		switch (i) {
		case 0:
			def.gravity.x = nan("");
			break;
		case 1:
			def.dt = 0.0;
			break;
		case 2:
			def.dt = nan("");
			break;
		case 3:
			def.frictionCombine = (knCombine)8;
			break;
		case 5:
			def.view.zoom = -1.0;
			break;
		case 4:
			def.jointCapacity = -1;
			break;
		default:
			def.jointCapacity = (1 << 24) + 1;
			expected = KN_LIMIT;
			break;
		}
		knError error = { 0 };
		assert_null(knScene_Create(&def, NULL, &error));
		assert_int_equal(error.status, expected);
		// and when edited later
		knScene* scene = knScene_Create(NULL, NULL, NULL);
		def.name = knScene_Def(scene)->name;
		def.stepper = knScene_Def(scene)->stepper;
		*knScene_Def(scene) = def;
		memset(&error, 0, sizeof(error));
		assert_null(knModel_Create(scene, &error));
		assert_int_equal(error.status, expected);
		knScene_Destroy(scene);
	}
}

// The count is checked before anything is touched, so pretending to be full is enough.
static void test_absurd_counts(void** unused) {
	(void)unused;
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyDef body = goodBody();
	knJointDef joint = knJointDef_Default(KN_JOINT_HINGE);
	knGeom* ball = knGeom_Sphere(1.0, NULL, NULL);
	joint.child = knScene_AddBody(scene, &body, NULL);
	knError error[3] = { 0 };
	scene->joints.count = KN_SCENE_MAX;
	assert_true(KN_ID_IS_NULL(knScene_AddJoint(scene, &joint, &error[0])));
	scene->joints.count = 0;
	scene->shapes.count = KN_SCENE_MAX;
	assert_true(KN_ID_IS_NULL(knScene_AddShape(scene, KN_WORLD_BODY, ball, NULL, &error[1])));
	scene->shapes.count = 0;
	scene->bodies.count = KN_SCENE_MAX;
	assert_true(KN_ID_IS_NULL(knScene_AddBody(scene, &body, &error[2])));
	scene->bodies.count = 1;
	for (int i = 0; i < 3; ++i) {
		assert_int_equal(error[i].status, KN_LIMIT);
	}
	knGeom_Release(ball);
	knScene_Destroy(scene);
}

// Names edited in place clash when the model takes them.
static void test_edited_names_are_checked(void** unused) {
	(void)unused;
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyDef def = goodBody();
	knScene_AddBody(scene, &def, NULL);
	def.name = "rod";
	knBodyId rod = knScene_AddBody(scene, &def, NULL);
	knScene_EditBody(scene, rod)->name = "piston";
	knModel* model = knModel_Create(scene, NULL);
	assert_false(KN_ID_IS_NULL(knScene_FindBody(knModel_Scene(model), "piston")));
	assert_true(KN_ID_IS_NULL(knScene_FindBody(knModel_Scene(model), "rod")));
	knModel_Release(model);
	knScene_EditBody(scene, rod)->name = "crank";
	knError error = { 0 };
	assert_null(knModel_Create(scene, &error));
	assert_int_equal(error.status, KN_BAD_DATA);
	assert_string_equal(error.element, "body 'crank'");
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_bodies),
		cmocka_unit_test(test_message_says_what_is_wrong),
		cmocka_unit_test(test_rounded_rotations_become_unit),
		cmocka_unit_test(test_dynamic_bodies_need_mass),
		cmocka_unit_test(test_bad_shapes),
		cmocka_unit_test(test_planes_do_not_move),
		cmocka_unit_test(test_stale_bodies_carry_no_shapes),
		cmocka_unit_test(test_bad_joints),
		cmocka_unit_test(test_self_joint_names_the_body),
		cmocka_unit_test(test_equal_limits_and_unused_numbers_are_fine),
		cmocka_unit_test(test_bad_scene_defs),
		cmocka_unit_test(test_absurd_counts),
		cmocka_unit_test(test_edited_names_are_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
