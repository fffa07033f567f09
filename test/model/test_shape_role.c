// A shape's role: looks weigh nothing and touch nothing; what is hidden is solid.
#include "support/kn_test.h"

#include "knuckle/knuckle.h"

// How high a ball comes to rest that is dropped on a slab of that role, whose top is at 0, above a floor at -5 m.
static double restingHeight(knShapeRole role) {
	knError error = { .status = KN_OK };
	knSceneDef sceneDef = knSceneDef_Default();
	knScene* scene = knScene_Create(&sceneDef, NULL, &error);
	knShapeDef shape = knShapeDef_Default();
	shape.frame.p = knV3(0.0, 0.0, -5.0);
	assert_false(KN_ID_IS_NULL(knScene_AddPlane(scene, KN_WORLD_BODY, &shape, &error)));
	shape.frame.p = knV3(0.0, 0.0, -0.5);
	shape.role = role;
	assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, KN_WORLD_BODY, knV3(1.0, 1.0, 0.5), &shape, &error)));
	knBodyDef body = knBodyDef_Default();
	body.frame.p = knV3(0.0, 0.0, 0.6);
	knBodyId ball = knScene_AddBody(scene, &body, &error);
	const knShapeDef solid = knShapeDef_Default();
	assert_false(KN_ID_IS_NULL(knScene_AddSphere(scene, ball, 0.5, &solid, &error)));

	knModel* model = knModel_Create(scene, &error);
	knWorldDef def = knWorldDef_Default();
	knWorld* world = knWorld_Create(model, &def, &error);
	assert_non_null(world);
	for (int i = 0; i < 200; ++i) {
		assert_int_equal(knWorld_Step(world, 0.01, &error), KN_OK);
	}
	const double height = knWorld_BodyCenter(world, ball).z;
	knWorld_Destroy(world);
	knModel_Release(model);
	knScene_Destroy(scene);
	return height;
}

static void test_looks_stop_nobody(void** state) {
	(void)state;
	assert_near(restingHeight(KN_SHAPE_WHOLE), 0.5, 1e-3);
	assert_near(restingHeight(KN_SHAPE_HIDDEN), 0.5, 1e-3);
	assert_near(restingHeight(KN_SHAPE_LOOKS), -4.5, 1e-3);
}

// An open mesh has no inside, so it cannot collide on a body that moves; it may be its looks.
static void test_looks_weigh_nothing(void** state) {
	(void)state;
	knError error = { .status = KN_OK };
	knSceneDef sceneDef = knSceneDef_Default();
	knScene* scene = knScene_Create(&sceneDef, NULL, &error);
	knBodyDef def = knBodyDef_Default();
	knBodyId body = knScene_AddBody(scene, &def, &error);
	knShapeDef shape = knShapeDef_Default();
	assert_false(KN_ID_IS_NULL(knScene_AddCylinder(scene, body, 0.5, 1.0, &shape, &error)));
	const knVec3 vertices[3] = { { 0, 0, 0 }, { 9, 0, 0 }, { 0, 9, 0 } };
	const knTriangle triangle = { 0, 1, 2 };
	knMeshDef mesh = knMeshDef_Default();
	mesh.vertices = vertices;
	mesh.vertexCount = 3;
	mesh.triangles = &triangle;
	mesh.triangleCount = 1;
	mesh.solid = false;
	assert_true(KN_ID_IS_NULL(knScene_AddMesh(scene, body, &mesh, &shape, &error)));
	shape.role = KN_SHAPE_LOOKS;
	assert_false(KN_ID_IS_NULL(knScene_AddMesh(scene, body, &mesh, &shape, &error)));
	assert_false(KN_ID_IS_NULL(knScene_AddEllipsoid(scene, body, knV3(3, 3, 3), &shape, &error)));
	knModel* model = knModel_Create(scene, &error);
	assert_non_null(model);
	assert_near(knModel_BodyMass(model, body).mass, 1000.0 * KN_PI * 0.25 * 2.0, 1e-9 * 2000.0);
	knModel_Release(model);
	knScene_Destroy(scene);
}

// The role of a shape travels with the scene's bytes.
static void test_roles_return_from_bytes(void** state) {
	(void)state;
	knError error = { .status = KN_OK };
	knSceneDef def = knSceneDef_Default();
	knScene* scene = knScene_Create(&def, NULL, &error);
	knShapeDef shape = knShapeDef_Default();
	for (int role = KN_SHAPE_WHOLE; role <= KN_SHAPE_HIDDEN; ++role) {
		shape.role = (knShapeRole)role;
		knScene_AddSphere(scene, KN_WORLD_BODY, 1.0, &shape, &error);
	}
	void* bytes;
	size_t size;
	assert_int_equal(knScene_ToBytes(scene, NULL, &bytes, &size, &error), KN_OK);
	knScene* back = knScene_FromBytes(bytes, size, NULL, &error);
	assert_non_null(back);
	for (int i = 0; i < 3; ++i) {
		assert_int_equal(knScene_GetShape(back, knScene_ShapeAt(back, i))->role, i);
	}
	knAllocator allocator = knAllocator_Default();
	allocator.release(bytes, size, allocator.context);
	knScene_Destroy(back);
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks_stop_nobody),
		cmocka_unit_test(test_looks_weigh_nothing),
		cmocka_unit_test(test_roles_return_from_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
