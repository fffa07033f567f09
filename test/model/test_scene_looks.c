// Textures, materials and lights of a scene: checked, copied, cloned, sent as bytes; no motion depends on them.
#include "support/kn_test.h"

#include "knuckle/knuckle.h"

static knScene* ballOnFloor(bool dressed) {
	knError error = { .status = KN_OK };
	knSceneDef def = knSceneDef_Default();
	knScene* scene = knScene_Create(&def, NULL, &error);
	knShapeDef shape = knShapeDef_Default();
	if (dressed) {
		char picture[] = "\x89PNG and more";
		knTextureDef texture = knTextureDef_Default();
		texture.name = "wood";
		texture.pattern = KN_PATTERN_NONE;
		texture.picture = picture;
		texture.pictureSize = sizeof picture;
		knMaterialDef material = knMaterialDef_Default();
		material.texture = knScene_AddTexture(scene, &texture, &error);
		material.shininess = 0.9;
		assert_int_equal(material.texture, 1);
		picture[0] = 'x'; // the scene has its own
		shape.material = knScene_AddMaterial(scene, &material, &error);
		assert_int_equal(shape.material, 1);
	}
	knScene_AddPlane(scene, KN_WORLD_BODY, &shape, &error);
	knBodyDef body = knBodyDef_Default();
	body.frame.p.z = 1.0;
	knBodyId ball = knScene_AddBody(scene, &body, &error);
	assert_false(KN_ID_IS_NULL(knScene_AddSphere(scene, ball, 0.3, &shape, &error)));
	if (dressed) {
		knLightDef light = knLightDef_Default(KN_LIGHT_SPOT);
		light.body = ball;
		light.direction = knV3(0.0, 3.0, 4.0);
		assert_int_equal(knScene_AddLight(scene, &light, &error), 1);
		light = knLightDef_Default(KN_LIGHT_HEAD);
		assert_int_equal(knScene_AddLight(scene, &light, &error), 2);
	}
	return scene;
}

static void checkDressed(const knScene* scene) {
	assert_int_equal(knScene_TextureCount(scene), 1);
	assert_string_equal(knScene_GetTexture(scene, 1)->name, "wood");
	assert_memory_equal(knScene_GetTexture(scene, 1)->picture, "\x89PNG and more", 13);
	assert_int_equal(knScene_MaterialCount(scene), 1);
	assert_true(knScene_GetMaterial(scene, 1)->shininess == 0.9);
	assert_int_equal(knScene_GetMaterial(scene, 1)->texture, 1);
	assert_int_equal(knScene_LightCount(scene), 2);
	assert_near3(knScene_GetLight(scene, 1)->direction, knV3(0.0, 0.6, 0.8), 1e-15);
	assert_false(KN_ID_IS_NULL(knScene_GetLight(scene, 1)->body));
	assert_int_equal(knScene_GetLight(scene, 2)->kind, KN_LIGHT_HEAD);
	assert_null(knScene_GetLight(scene, 0));
	assert_null(knScene_GetLight(scene, 3));
	for (int i = 0; i < knScene_ShapeSlots(scene); ++i) {
		assert_int_equal(knScene_GetShape(scene, knScene_ShapeAt(scene, i))->material, 1);
	}
}

static void test_looks_are_kept(void** state) {
	(void)state;
	knError error = { .status = KN_OK };
	knScene* scene = ballOnFloor(true);
	checkDressed(scene);
	knScene* clone = knScene_Clone(scene, &error);
	assert_non_null(clone);
	knScene_Destroy(scene);
	checkDressed(clone);
	void* bytes;
	size_t size;
	assert_int_equal(knScene_ToBytes(clone, NULL, &bytes, &size, &error), KN_OK);
	knScene* back = knScene_FromBytes(bytes, size, NULL, &error);
	assert_non_null(back);
	checkDressed(back);
	// a light goes with its body
	assert_int_equal(knScene_RemoveBody(back, knScene_GetLight(back, 1)->body, &error), KN_OK);
	assert_int_equal(knScene_LightCount(back), 1);
	assert_int_equal(knScene_GetLight(back, 1)->kind, KN_LIGHT_HEAD);
	knAllocator allocator = knAllocator_Default();
	allocator.release(bytes, size, allocator.context);
	knScene_Destroy(back);
	knScene_Destroy(clone);
}

static uint64_t hashAfterFall(knScene* scene) {
	knError error = { .status = KN_OK };
	knModel* model = knModel_Create(scene, &error);
	assert_non_null(model);
	knWorldDef def = knWorldDef_Default();
	knWorld* world = knWorld_Create(model, &def, &error);
	for (int i = 0; i < 80; ++i) {
		assert_int_equal(knWorld_Step(world, 0.01, &error), KN_OK);
	}
	const uint64_t hash = knWorld_Hash(world);
	knWorld_Destroy(world);
	knModel_Release(model);
	knScene_Destroy(scene);
	return hash;
}

static void test_looks_move_nothing(void** state) {
	(void)state;
	assert_true(hashAfterFall(ballOnFloor(true)) == hashAfterFall(ballOnFloor(false)));
}

// Each refused with a sentence, and nothing added.
static void test_what_makes_no_sense(void** state) {
	(void)state;
	knError error = { .status = KN_OK };
	knScene* scene = ballOnFloor(true);
	knTextureDef texture = knTextureDef_Default();
	texture.width = -1;
	assert_int_equal(knScene_AddTexture(scene, &texture, &error), 0);
	assert_int_equal(error.status, KN_BAD_DATA);
	knMaterialDef material = knMaterialDef_Default();
	material.texture = 2;
	assert_int_equal(knScene_AddMaterial(scene, &material, &error), 0);
	material = knMaterialDef_Default();
	material.emission = NAN;
	assert_int_equal(knScene_AddMaterial(scene, &material, &error), 0);
	knLightDef light = knLightDef_Default(KN_LIGHT_SPOT);
	light.direction = knZero3();
	assert_int_equal(knScene_AddLight(scene, &light, &error), 0);
	light = knLightDef_Default(KN_LIGHT_SPOT);
	light.body = (knBodyId){ 77, 1 };
	assert_int_equal(knScene_AddLight(scene, &light, &error), 0);
	knShapeDef shape = knShapeDef_Default();
	shape.material = 2;
	assert_true(KN_ID_IS_NULL(knScene_AddSphere(scene, KN_WORLD_BODY, 1.0, &shape, &error)));
	checkDressed(scene);
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks_are_kept),
		cmocka_unit_test(test_looks_move_nothing),
		cmocka_unit_test(test_what_makes_no_sense),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
