// Stepper settings by name.
#include "support/kn_test.h"

#include "knuckle/stepper.h"

static void test_values_arrive(void** unused) {
	(void)unused;
	knSettings s = knSettings_Default();
	assert_ok(knSettings_Set(&s, "scheme", "paper", NULL));
	assert_ok(knSettings_Set(&s, "articulation", "sweep", NULL));
	assert_ok(knSettings_Set(&s, "shock", "1", NULL));
	assert_ok(knSettings_Set(&s, "sleep", "1", NULL));
	assert_ok(knSettings_Set(&s, "sweeps", "37", NULL));
	assert_ok(knSettings_Set(&s, "rolling", "0.125", NULL));
	assert_ok(knSettings_Set(&s, "integrator", "embedded", NULL));
	assert_ok(knSettings_Set(&s, "active", "12", NULL));
	assert_ok(knSettings_Set(&s, "threshold", "1e-3", NULL));
	assert_ok(knSettings_Set(&s, "budget", "2.5", NULL));
	assert_ok(knSettings_Set(&s, "update", "4", NULL));
	assert_int_equal(s.scheme, KN_SCHEME_PAPER);
	assert_int_equal(s.articulation, KN_ARTICULATION_SWEEP);
	assert_int_equal(s.shock, 1);
	assert_int_equal(s.sleep, 1);
	assert_int_equal(s.sweeps, 37);
	assert_near(s.rolling, 0.125, 0.0);
	assert_int_equal(s.integrator, 2);
	assert_int_equal(s.active, 12);
	assert_near(s.threshold, 1e-3, 0.0);
	assert_near(s.budget, 2.5, 0.0);
	assert_int_equal(s.update, 4);
	assert_ok(knSettings_Set(&s, "friction_model", "box", NULL));
	assert_ok(knSettings_Set(&s, "solver", "jacobi", NULL));
	assert_ok(knSettings_Set(&s, "relaxation", "1.5", NULL));
	assert_ok(knSettings_Set(&s, "mixing", "0.25", NULL));
	assert_ok(knSettings_Set(&s, "layer_sweeps", "9", NULL));
	assert_ok(knSettings_Set(&s, "stop_theta", "1e-10", NULL));
	assert_int_equal(s.frictionModel, KN_FRICTION_BOX);
	assert_int_equal(s.solver, KN_RELAXATION_JACOBI);
	assert_near(s.relaxation, 1.5, 0.0);
	assert_near(s.mixing, 0.25, 0.0);
	assert_int_equal(s.layerSweeps, 9);
	assert_near(s.stopTheta, 1e-10, 0.0);
	assert_ok(knSettings_Set(&s, "scheme", "default", NULL));
	assert_int_equal(s.scheme, KN_SCHEME_DEFAULT);
}

static void test_bad_values_are_refused_and_change_nothing(void** unused) {
	(void)unused;
	const char* const cases[][2] = {
		{ "scheme", "papers" }, { "scheme", "" },           { "shock", "3" },        { "sweeps", "0" },
		{ "sweeps", "100001" }, { "sweeps", "1.5" },        { "sweeps", "many" },    { "sweeps", "-1" },
		{ "rolling", "-1" },    { "rolling", "nan" },       { "rolling", "1e999" },  { "update", "0" },
		{ "active", "-3" },     { "integrator", "euler2" }, { "threshold", "0.1x" }, { "articulation", "1" },
	};
	for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); ++i) {
		knSettings before = knSettings_Default(), s = before;
		knError error;
		assert_int_equal(knSettings_Set(&s, cases[i][0], cases[i][1], &error), KN_BAD_DATA);
		assert_int_equal(error.status, KN_BAD_DATA);
		assert_string_equal(error.element, cases[i][0]);
		assert_true(strlen(error.message) > 8);
		assert_memory_equal(&s, &before, sizeof(s));
	}
}

static void test_unknown_names_get_a_hint(void** unused) {
	(void)unused;
	knSettings s = knSettings_Default();
	knError error;
	assert_int_equal(knSettings_Set(&s, "sweps", "3", &error), KN_BAD_ARGUMENT);
	assert_non_null(strstr(error.message, "sweeps"));
	assert_int_equal(knSettings_Set(&s, "xyzzy", "3", &error), KN_BAD_ARGUMENT);
	assert_null(strstr(error.message, "did you mean"));
}

static void test_every_setting_has_a_name_and_help(void** unused) {
	(void)unused;
	int count = 0;
	while (knSettings_Name(count) != NULL) {
		assert_true(strlen(knSettings_Help(count)) > 5);
		// a name that is listed is one that can be set
		knSettings s = knSettings_Default();
		assert_int_equal(knSettings_Set(&s, knSettings_Name(count), "?", NULL), KN_BAD_DATA);
		count += 1;
	}
	assert_int_equal(count, 29);
	assert_null(knSettings_Help(count));
	assert_null(knSettings_Name(-1));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_arrive),
		cmocka_unit_test(test_bad_values_are_refused_and_change_nothing),
		cmocka_unit_test(test_unknown_names_get_a_hint),
		cmocka_unit_test(test_every_setting_has_a_name_and_help),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
