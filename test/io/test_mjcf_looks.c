// Textures, materials and lights of an MJCF file, as MuJoCo means them; nothing of it refuses a model.
#include "mjcf_test.h"

static const char robot[] =
	"<mujoco><default><material shininess='0.2'/><light castshadow='false'/>"
	"<default class='shiny'><material reflectance='0.4'/></default></default>"
	"<asset><texture name='fields' type='2d' builtin='checker' rgb1='1 0 0' rgb2='0 0 1' width='300' "
	"height='200' mark='edge' markrgb='1 1 1'/>"
	"<texture type='skybox' builtin='gradient'/>"
	"<material name='floor' class='shiny' texture='fields' texrepeat='5 6' texuniform='true' specular='0.1'/>"
	"<material name='lamp' emission='2' rgba='0 1 0 0.5'/>"
	"<material name='layered'><layer role='normal' texture='nowhere'/><layer role='rgb' texture='fields'/>"
	"</material></asset>"
	"<visual><headlight diffuse='.6 .5 .4'/></visual>"
	"<worldbody><light name='sun' directional='true' pos='0 0 3' dir='0 -2 0' diffuse='1 1 1'/>"
	"<geom name='ground' type='plane' material='floor'/>"
	"<body name='arm' pos='0 0 1'><joint name='j' axis='0 1 0'/><geom name='g' size='0.1' material='lamp'/>"
	"<body pos='1 0 0' euler='0 90 0'><light pos='0 0 1' dir='0 0 1' cutoff='60' castshadow='true'/></body>"
	"</body></worldbody></mujoco>";

static void test_materials(void** state) {
	(void)state;
	knScene* scene = load(robot);
	assert_int_equal(knScene_TextureCount(scene), 2);
	const knTextureDef* fields = knScene_GetTexture(scene, 1);
	assert_string_equal(fields->name, "fields");
	assert_int_equal(fields->kind, KN_TEXTURE_FLAT);
	assert_int_equal(fields->pattern, KN_PATTERN_CHECKER);
	assert_int_equal(fields->mark, KN_MARK_EDGE);
	assert_int_equal(fields->color1, 0xff0000);
	assert_int_equal(fields->color2, 0x0000ff);
	assert_int_equal(fields->markColor, 0xffffff);
	assert_int_equal(fields->width, 300);
	assert_int_equal(knScene_GetTexture(scene, 2)->kind, KN_TEXTURE_SKYBOX);
	assert_int_equal(knScene_GetTexture(scene, 2)->pattern, KN_PATTERN_GRADIENT);

	const knMaterialDef* floor = knScene_GetMaterial(scene, shapeDef(scene, "ground")->material);
	assert_string_equal(floor->name, "floor");
	assert_int_equal(floor->texture, 1);
	assert_true(floor->repeat[0] == 5.0 && floor->repeat[1] == 6.0 && floor->uniform);
	assert_true(floor->shininess == 0.2 && floor->reflectance == 0.4 && floor->specular == 0.1);
	assert_true(floor->metallic == -1.0);
	const knMaterialDef* lamp = knScene_GetMaterial(scene, shapeDef(scene, "g")->material);
	assert_true(lamp->emission == 2.0 && lamp->texture == 0);
	assert_int_equal(lamp->color, 0x8000ff00);
	assert_int_equal(shapeDef(scene, "g")->color, 0x8000ff00);
	assert_int_equal(knScene_GetMaterial(scene, 3)->texture, 1);
	knScene_Destroy(scene);
}

// A light on a welded body shines from the body that it is part of, in its axes.
static void test_lights(void** state) {
	(void)state;
	knScene* scene = load(robot);
	assert_int_equal(knScene_LightCount(scene), 3);
	const knLightDef* sun = knScene_GetLight(scene, 1);
	assert_string_equal(sun->name, "sun");
	assert_int_equal(sun->kind, KN_LIGHT_DIRECTIONAL);
	assert_near3(sun->direction, knV3(0.0, -1.0, 0.0), 0.0);
	assert_false(sun->castsShadow);
	assert_true(KN_ID_IS_NULL(sun->body) && sun->diffuse[0] == 1.0 && sun->specular[0] == 0.3);
	const knLightDef* spot = knScene_GetLight(scene, 2);
	assert_int_equal(spot->kind, KN_LIGHT_SPOT);
	assert_true(KN_ID_EQUALS(spot->body, knScene_FindBody(scene, "arm")));
	assert_near3(spot->position, knV3(2.0, 0.0, 0.0), 1e-15);
	assert_near3(spot->direction, knV3(1.0, 0.0, 0.0), 1e-15);
	assert_true(spot->castsShadow && spot->cutoff == 60.0);
	const knLightDef* head = knScene_GetLight(scene, 3);
	assert_int_equal(head->kind, KN_LIGHT_HEAD);
	assert_true(head->diffuse[0] == 0.6 && head->ambient[0] == 0.1);
	knScene_Destroy(scene);

	scene = load("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>");
	assert_int_equal(knScene_LightCount(scene), 0);
	knScene_Destroy(scene);
}

static void test_nothing_of_it_refuses(void** state) {
	(void)state;
	knLoadReport report = { 0 };
	knScene* scene =
		loadKey("<mujoco><asset><texture file='../gone.png' type='2d'/><texture name='t' builtin='flat'/>"
				"<texture name='t' builtin='flat'/><material name='m' texture='nowhere' glitter='3'/></asset>"
				"<worldbody><light dir='0 0 0' color='3'/><geom size='1' material='m'/></worldbody></mujoco>",
				NULL, &report);
	assert_true(reported(&report, "texture 'nowhere' is not in the file"));
	assert_true(reported(&report, "glitter"));
	assert_int_equal(knLoadReport_Count(&report, KN_LOAD_OMITTED), 0);
	assert_int_equal(knScene_GetTexture(scene, 1)->pattern, KN_PATTERN_NONE);
	assert_near3(knScene_GetLight(scene, 1)->direction, knV3(0.0, 0.0, -1.0), 0.0);
	knLoadReport_Free(&report);
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_materials),
		cmocka_unit_test(test_lights),
		cmocka_unit_test(test_nothing_of_it_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
