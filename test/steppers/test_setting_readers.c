// The table of settings tells the truth about steppers: what it says a stepper does not read changes no bit of a run.
#include "scenes/scene_test.h"

enum { STEPS = 10 };

// The first of some values that the setting takes.
static void setAnything(knSettings* settings, const char* name) {
	static const char* const values[] = { "0.25",  "2",          "1",         "paper",  "sweep",
										  "rk4",   "box",        "conjugate", "damped", "square",
										  "lemke", "integrated", "penalty" };
	const int count = (int)(sizeof(values) / sizeof(values[0]));
	int taken = 0;
	while (knSettings_Set(settings, name, values[taken], NULL) != KN_OK) {
		assert_true(++taken < count);
	}
}

static uint64_t hashAfter(const Built* built, const char* stepper, const knSettings* settings) {
	knError error = { 0 };
	knWorldDef def = knWorldDef_Default();
	def.stepper = stepper;
	def.settings = settings;
	knWorld* world = knWorld_Create(built->model, &def, &error);
	assert_non_null(world);
	for (int i = 0; i < STEPS; ++i) {
		assert_ok(knWorld_Step(world, 0.01, &error));
	}
	uint64_t hash = knWorld_Hash(world);
	knWorld_Destroy(world);
	return hash;
}

// How many settings the stepper does not read, each of them tried.
static int tryUnread(const Built* built, const char* stepper, knScheme scheme) {
	knSettings plain = knSettings_Default();
	plain.scheme = scheme;
	const uint64_t expected = hashAfter(built, stepper, &plain);
	int unread = 0;
	for (int i = 0; knSettings_Name(i) != NULL; ++i) {
		if (knSettings_CheckRead(knSettings_Name(i), stepper, scheme, NULL) != KN_OK) {
			knSettings settings = plain;
			setAnything(&settings, knSettings_Name(i));
			assert_true(hashAfter(built, stepper, &settings) == expected);
			unread += 1;
		}
	}
	return unread;
}

static void test_unread_settings_change_nothing(void** state) {
	(void)state;
	Built pile = BUILD("box-stack", "boxes", "3"), chain = BUILD("heavy-chain", "small", "1");
	for (int s = 0; knStepper_Name(s) != NULL; ++s) {
		for (int scheme = KN_SCHEME_DEFAULT; scheme <= KN_SCHEME_PAPER; ++scheme) {
			assert_true(tryUnread(&pile, knStepper_Name(s), (knScheme)scheme) > 0);
			assert_true(tryUnread(&chain, knStepper_Name(s), (knScheme)scheme) > 0);
		}
	}
	destroy(&pile);
	destroy(&chain);
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_unread_settings_change_nothing) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
