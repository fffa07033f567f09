// Making worlds: what they start with, what is refused, and that nothing is left behind when memory runs out.
#include "world/fixture.h"

static knModel* newModel(void) {
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	newBall(scene, knV3(0.0, 0.0, 2.0), 0.5, knV3(1.0, 0.0, 0.0), material(0.6, 0.0));
	knModel* model = knModel_Create(scene, NULL);
	knScene_Destroy(scene);
	assert_non_null(model);
	return model;
}

static void test_starts_as_authored(void** state) {
	(void)state;
	knModel* model = newModel();
	knWorld* world = knWorld_Create(model, NULL, NULL);
	assert_non_null(world);
	knBodyId ball = knModel_BodyAt(model, 0);
	assert_near(knWorld_Time(world), 0.0, 0.0);
	assert_true(knWorld_StepCount(world) == 0);
	assert_ptr_equal(knWorld_Model(world), model);
	assert_string_equal(knWorld_StepperName(world), "velocity");
	assert_int_equal(knWorld_Settings(world)->sweeps, -1);
	assert_near3(knWorld_BodyCenter(world, ball), knV3(0.0, 0.0, 2.0), 0.0);
	assert_near3(knWorld_BodyVelocity(world, ball), knV3(1.0, 0.0, 0.0), 0.0);
	assert_near3(knWorld_Gravity(world), earth, 0.0);
	// the world keeps the model alive
	knModel_Release(model);
	run(world, 1, 0.01);
	knWorld_Destroy(world);
	knWorld_Destroy(NULL);
}

static void test_unknown_stepper(void** state) {
	(void)state;
	knModel* model = newModel();
	knWorldDef def = knWorldDef_Default();
	def.stepper = "velocty";
	knError error = { 0 };
	assert_null(knWorld_Create(model, &def, &error));
	assert_int_equal(error.status, KN_UNSUPPORTED);
	assert_non_null(strstr(error.message, "velocty"));
	assert_non_null(strstr(error.message, "velocity"));
	knModel_Release(model);
}

// However early memory runs out, creation fails cleanly and gives everything back.
static void keepLine(knLogLevel level, const char* message, void* context) {
	assert_int_equal(level, KN_LOG_WARNING);
	snprintf(context, 160, "%s", message);
}

// A setting that a stepper takes without having it is not dropped in silence.
static void test_settings_without_effect_are_logged(void** state) {
	(void)state;
	knModel* model = newModel();
	char line[160] = "";
	knSettings settings = knSettings_Default();
	knWorldDef def = knWorldDef_Default();
	def.settings = &settings;
	def.log = (knLog){ keepLine, line, KN_LOG_WARNING };
	knWorld_Destroy(knWorld_Create(model, &def, NULL));
	assert_string_equal(line, "");
	settings.sleep = 1;
	knWorld_Destroy(knWorld_Create(model, &def, NULL));
	assert_string_equal(line, ""); // velocity has it
	def.stepper = "impulse";
	knWorld_Destroy(knWorld_Create(model, &def, NULL));
	assert_non_null(strstr(line, "sleep=1"));
	settings.sleep = 0;
	settings.velocity.queries = 2;
	knWorld_Destroy(knWorld_Create(model, &def, NULL));
	assert_string_equal(line,
						"queries=2 has no effect: impulse does not read it; it is a setting of velocity");
	knModel_Release(model);
}

static void test_out_of_memory(void** state) {
	(void)state;
	knModel* model = newModel();
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knWorldDef def = knWorldDef_Default();
	def.allocator = &allocator;
	bool made = false;
	for (int after = 0; after < 200 && !made; ++after) {
		memory.calls = 0;
		memory.failAfter = after;
		knError error = { 0 };
		knWorld* world = knWorld_Create(model, &def, &error);
		made = world != NULL;
		if (!made) {
			assert_int_equal(error.status, KN_NO_MEMORY);
		}
		knWorld_Destroy(world);
		assert_true(memory.live == 0);
	}
	assert_true(made);
	knModel_Release(model);
}

// More bodies at one place than the limit of 2^23 pairs allows: refused at creation, with a sentence.
static void test_too_many_pairs(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knError error = { 0 };
	knGeom* ball = knGeom_Sphere(0.5, NULL, &error);
	knShapeDef shape = knShapeDef_Default();
	for (int i = 0; i < 4200; ++i) {
		knBodyDef def = knBodyDef_Default();
		knBodyId body = newBody(scene, &def);
		assert_false(KN_ID_IS_NULL(knScene_AddShape(scene, body, ball, &shape, &error)));
	}
	knGeom_Release(ball);
	knModel* model = knModel_Create(scene, &error);
	assert_non_null(model);
	assert_null(knWorld_Create(model, NULL, &error));
	assert_int_equal(error.status, KN_LIMIT);
	assert_true(strlen(error.message) > 0);
	knModel_Release(model);
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starts_as_authored),
		cmocka_unit_test(test_unknown_stepper),
		cmocka_unit_test(test_settings_without_effect_are_logged),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_too_many_pairs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
