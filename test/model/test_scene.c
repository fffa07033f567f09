// Authoring: ids and generations, names, clones, removal, frames of joints, and running out of memory.
#include "support/kn_test.h"

#include "knuckle/scene.h"

static knScene* newScene(const knAllocator* allocator) {
	knScene* scene = knScene_Create(NULL, allocator, NULL);
	assert_non_null(scene);
	return scene;
}

static knBodyId addBody(knScene* scene, const char* name) {
	knBodyDef def = knBodyDef_Default();
	def.name = name;
	knBodyId body = knScene_AddBody(scene, &def, NULL);
	assert_false(KN_ID_IS_NULL(body));
	return body;
}

static knJointId addHinge(knScene* scene, knBodyId parent, knBodyId child, const char* name) {
	knJointDef def = knJointDef_Default(KN_JOINT_HINGE);
	def.name = name;
	def.parent = parent;
	def.child = child;
	knJointId joint = knScene_AddJoint(scene, &def, NULL);
	assert_false(KN_ID_IS_NULL(joint));
	return joint;
}

static void test_ids_count_generations(void** unused) {
	(void)unused;
	knScene* scene = newScene(NULL);
	knBodyId a = addBody(scene, "a"), b = addBody(scene, "b");
	assert_int_equal(a.index1, 1);
	assert_int_equal(a.generation, 1);
	assert_int_equal(b.index1, 2);
	assert_ok(knScene_RemoveBody(scene, a, NULL));
	assert_null(knScene_GetBody(scene, a));
	assert_true(KN_ID_IS_NULL(knScene_BodyAt(scene, 0)));
	assert_int_equal(knScene_RemoveBody(scene, a, NULL), KN_BAD_ARGUMENT);

	// the slot is used again, the old id stays dead, the name is free
	knBodyId c = addBody(scene, "a");
	assert_int_equal(c.index1, 1);
	assert_int_equal(c.generation, 2);
	assert_null(knScene_GetBody(scene, a));
	assert_string_equal(knScene_GetBody(scene, c)->name, "a");
	assert_int_equal(knScene_BodySlots(scene), 2);
	knScene_Destroy(scene);
}

static void test_everything_is_copied(void** unused) {
	(void)unused;
	char name[] = "crank";
	knSceneDef sceneDef = knSceneDef_Default();
	sceneDef.name = name;
	knScene* scene = knScene_Create(&sceneDef, NULL, NULL);
	knBodyDef def = knBodyDef_Default();
	def.name = name;
	knBodyId body = knScene_AddBody(scene, &def, NULL);
	knShapeDef shape = knShapeDef_Default();
	shape.name = name;
	knShapeId ball = knScene_AddSphere(scene, body, 0.5, &shape, NULL);
	memset(name, 'x', 5);
	assert_string_equal(knScene_GetDef(scene)->name, "crank");
	assert_string_equal(knScene_GetBody(scene, body)->name, "crank");
	assert_string_equal(knScene_GetShape(scene, ball)->name, "crank");
	assert_true(KN_ID_EQUALS(knScene_FindBody(scene, "crank"), body));
	assert_true(KN_ID_EQUALS(knScene_GetShapeBody(scene, ball), body));
	assert_int_equal(knGeom_Kind(knScene_GetShapeGeom(scene, ball)), KN_GEOM_SPHERE);
	knScene_Destroy(scene);
}

static void test_names_are_unique(void** unused) {
	(void)unused;
	knScene* scene = newScene(NULL);
	addBody(scene, "body1"); // slot 0 takes the default name of slot 1
	knBodyId second = addBody(scene, NULL), third = addBody(scene, NULL);
	assert_string_not_equal(knScene_GetBody(scene, second)->name, "body1");
	assert_string_equal(knScene_GetBody(scene, third)->name, "body2");
	assert_true(KN_ID_EQUALS(knScene_FindBody(scene, knScene_GetBody(scene, second)->name), second));
	knBodyDef def = knBodyDef_Default();
	def.name = "body1";
	knError error;
	assert_true(KN_ID_IS_NULL(knScene_AddBody(scene, &def, &error)));
	assert_int_equal(error.status, KN_BAD_DATA);
	assert_string_equal(error.element, "body 'body1'");
	assert_true(KN_ID_IS_NULL(knScene_FindBody(scene, "nobody")));
	assert_true(KN_ID_IS_NULL(knScene_FindBody(scene, NULL)));
	// joints have a name space of their own
	knJointId joint = addHinge(scene, second, third, "body1");
	assert_true(KN_ID_EQUALS(knScene_FindJoint(scene, "body1"), joint));
	knScene_Destroy(scene);
}

static void test_removing_a_body_takes_what_hangs_on_it(void** unused) {
	(void)unused;
	knScene* scene = newScene(NULL);
	knBodyId a = addBody(scene, "a"), b = addBody(scene, "b"), c = addBody(scene, "c");
	knShapeId onA = knScene_AddSphere(scene, a, 1.0, NULL, NULL);
	knShapeId onB = knScene_AddSphere(scene, b, 1.0, NULL, NULL);
	knJointId ab = addHinge(scene, a, b, "ab"), bc = addHinge(scene, b, c, "bc");
	knJointId worldA = addHinge(scene, KN_WORLD_BODY, a, "wa");
	assert_ok(knScene_ExcludePair(scene, a, c, NULL));
	assert_ok(knScene_ExcludePair(scene, b, c, NULL));
	assert_ok(knScene_RemoveBody(scene, a, NULL));
	assert_null(knScene_GetShape(scene, onA));
	assert_non_null(knScene_GetShape(scene, onB));
	assert_null(knScene_GetJoint(scene, ab));
	assert_null(knScene_GetJoint(scene, worldA));
	assert_non_null(knScene_GetJoint(scene, bc));
	assert_int_equal(knScene_ExcludedCount(scene), 1);
	knBodyId p, q;
	knScene_GetExcluded(scene, 0, &p, &q);
	assert_true(KN_ID_EQUALS(p, b) && KN_ID_EQUALS(q, c));
	assert_ok(knScene_RemoveJoint(scene, bc, NULL));
	assert_int_equal(knScene_RemoveJoint(scene, bc, NULL), KN_BAD_ARGUMENT);
	knScene_Destroy(scene);
}

static void test_clone_is_deep_but_shares_geometry(void** unused) {
	(void)unused;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knScene* scene = newScene(&allocator);
	knBodyId a = addBody(scene, "a"), b = addBody(scene, "b");
	knShapeId ball = knScene_AddSphere(scene, a, 1.0, NULL, NULL);
	knJointId ab = addHinge(scene, a, b, NULL);
	knBodyId gone = addBody(scene, "gone");
	assert_ok(knScene_RemoveBody(scene, gone, NULL));
	knScene* clone = knScene_Clone(scene, NULL);
	assert_ptr_equal(knScene_GetShapeGeom(clone, ball), knScene_GetShapeGeom(scene, ball));
	assert_ptr_not_equal(knScene_GetBody(clone, a)->name, knScene_GetBody(scene, a)->name);
	knScene_EditBody(clone, a)->velocity.x = 7.0;
	assert_near(knScene_GetBody(scene, a)->velocity.x, 0.0, 0.0);

	// what is added next gets the same id in both
	knBodyId here = addBody(scene, "new"), there = addBody(clone, "new");
	assert_true(KN_ID_EQUALS(here, there));
	assert_int_equal(here.generation, 2);
	knScene_Destroy(scene);
	assert_string_equal(knScene_GetBody(clone, b)->name, "b");
	assert_non_null(knScene_GetJoint(clone, ab));
	assert_true(KN_ID_EQUALS(knScene_FindBody(clone, "new"), there));
	assert_int_equal(knGeom_Kind(knScene_GetShapeGeom(clone, ball)), KN_GEOM_SPHERE);
	knScene_Destroy(clone);
	assert_int_equal(memory.live, 0);
}

static void test_set_name_and_stepper(void** unused) {
	(void)unused;
	knScene* scene = newScene(NULL);
	assert_ok(knScene_SetName(scene, "bridge", NULL));
	assert_ok(knScene_SetStepper(scene, "impulse", NULL));
	assert_string_equal(knScene_GetDef(scene)->name, "bridge");
	assert_string_equal(knScene_Def(scene)->stepper, "impulse");
	knScene_Destroy(scene);
}

// The joint placed at world anchor and axis is closed, with x (planar: z) along the axis in both bodies.
static void test_joint_at_closes(void** unused) {
	(void)unused;
	knTestRandom random = { 1 };
	knScene* scene = newScene(NULL);
	knBodyDef def = knBodyDef_Default();
	def.frame = testFrame(&random, 3.0);
	knBodyId a = knScene_AddBody(scene, &def, NULL);
	knFrame frameA = def.frame;
	def.frame = testFrame(&random, 3.0);
	knBodyId b = knScene_AddBody(scene, &def, NULL);
	for (int trial = 0; trial < 40; ++trial) {
		knJointKind kind = (knJointKind)(trial % KN_JOINT_KIND_COUNT);
		knJointDef joint = knJointDef_Default(kind);
		knVec3 anchor = testVec3(&random, 2.0);
		knVec3 axis = trial < 2 ? knV3(trial == 0 ? -2.0 : 2.0, 0, 0) : testVec3(&random, 1.0);
		knBodyId parent = trial % 3 == 0 ? KN_WORLD_BODY : a;
		assert_ok(knJointDef_At(&joint, scene, parent, b, anchor, axis, NULL));
		knFrame P = knMulF(trial % 3 == 0 ? knIdentityF() : frameA, joint.frameParent);
		knFrame C = knMulF(def.frame, joint.frameChild);
		assert_near3(P.p, anchor, 1e-14);
		assert_near3(C.p, anchor, 1e-14);
		assert_near(fabs(knDotQ(P.q, C.q)), 1.0, 1e-14);
		knVec3 along = kind == KN_JOINT_PLANAR ? knV3(0, 0, 1) : knV3(1, 0, 0);
		assert_near3(knRotate(P.q, along), knNormalize(axis), 1e-14);
		assert_true(KN_ID_EQUALS(joint.parent, parent) && KN_ID_EQUALS(joint.child, b));
	}
	knJointDef joint = knJointDef_Default(KN_JOINT_HINGE);
	assert_int_equal(knJointDef_At(&joint, scene, a, b, knZero3(), knZero3(), NULL), KN_BAD_DATA);
	assert_int_equal(knJointDef_At(&joint, scene, a, b, knV3(nan(""), 0, 0), knV3(1, 0, 0), NULL),
					 KN_BAD_DATA);
	knBodyId stale = { 9, 1 };
	assert_int_equal(knJointDef_At(&joint, scene, stale, b, knZero3(), knV3(1, 0, 0), NULL), KN_BAD_ARGUMENT);
	knScene_Destroy(scene);
}

static knScene* buildSmall(const knAllocator* allocator, knError* error) {
	knScene* scene = knScene_Create(NULL, allocator, error);
	if (scene == NULL) {
		return NULL;
	}
	knBodyDef def = knBodyDef_Default();
	def.name = "first";
	knBodyId a = knScene_AddBody(scene, &def, error);
	def.name = NULL;
	knBodyId b = KN_ID_IS_NULL(a) ? a : knScene_AddBody(scene, &def, error);
	knShapeDef shapeDef = knShapeDef_Default();
	shapeDef.name = "skin";
	bool fine =
		!KN_ID_IS_NULL(b) && !KN_ID_IS_NULL(knScene_AddBox(scene, a, knV3(1, 1, 1), &shapeDef, error));
	knJointDef joint = knJointDef_Default(KN_JOINT_BALL);
	joint.parent = a;
	joint.child = b;
	fine = fine && !KN_ID_IS_NULL(knScene_AddJoint(scene, &joint, error)) &&
		   knScene_ExcludePair(scene, KN_WORLD_BODY, b, error) == KN_OK;
	knScene* clone = fine ? knScene_Clone(scene, error) : NULL;
	knScene_Destroy(scene);
	return clone;
}

// Every allocation fails once; each time the error says so and nothing is left behind.
static void test_no_leak_when_memory_runs_out(void** unused) {
	(void)unused;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	bool done = false;
	int failures = 0;
	for (int failAfter = 0; !done; ++failAfter) {
		memory.calls = 0;
		memory.failAfter = failAfter;
		knError error = { 0 };
		knScene* scene = buildSmall(&allocator, &error);
		done = scene != NULL;
		if (!done) {
			failures += 1;
			assert_int_equal(error.status, KN_NO_MEMORY);
		}
		knScene_Destroy(scene);
		assert_int_equal(memory.live, 0);
	}
	assert_true(failures > 10);
}

// Adding is linear: this takes a fraction of a second, or minutes if it were quadratic.
static void test_many_bodies(void** unused) {
	(void)unused;
	knScene* scene = newScene(NULL);
	knBodyDef def = knBodyDef_Default();
	knBodyId last = { 0, 0 };
	for (int i = 0; i < 100000; ++i) {
		knBodyId body = knScene_AddBody(scene, &def, NULL);
		assert_false(KN_ID_IS_NULL(body));
		if (!KN_ID_IS_NULL(last) && i % 10 == 0) {
			addHinge(scene, last, body, NULL);
		}
		last = body;
	}
	assert_true(KN_ID_EQUALS(knScene_FindBody(scene, "body99999"), last));
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_count_generations),
		cmocka_unit_test(test_everything_is_copied),
		cmocka_unit_test(test_names_are_unique),
		cmocka_unit_test(test_removing_a_body_takes_what_hangs_on_it),
		cmocka_unit_test(test_clone_is_deep_but_shares_geometry),
		cmocka_unit_test(test_set_name_and_stepper),
		cmocka_unit_test(test_joint_at_closes),
		cmocka_unit_test(test_no_leak_when_memory_runs_out),
		cmocka_unit_test(test_many_bodies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
