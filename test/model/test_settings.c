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
	assert_int_equal(s.reduced.integrator, 2);
	assert_int_equal(s.adaptive.active, 12);
	assert_near(s.adaptive.threshold, 1e-3, 0.0);
	assert_near(s.adaptive.budget, 2.5, 0.0);
	assert_int_equal(s.adaptive.update, 4);
	assert_ok(knSettings_Set(&s, "friction_model", "box", NULL));
	assert_ok(knSettings_Set(&s, "solver", "jacobi", NULL));
	assert_ok(knSettings_Set(&s, "relaxation", "1.5", NULL));
	assert_ok(knSettings_Set(&s, "mixing", "0.25", NULL));
	assert_ok(knSettings_Set(&s, "layer_sweeps", "9", NULL));
	assert_ok(knSettings_Set(&s, "stop_theta", "1e-10", NULL));
	assert_int_equal(s.velocity.frictionModel, KN_FRICTION_BOX);
	assert_int_equal(s.study.solver, KN_RELAXATION_JACOBI);
	assert_near(s.study.relaxation, 1.5, 0.0);
	assert_near(s.study.mixing, 0.25, 0.0);
	assert_int_equal(s.velocity.layerSweeps, 9);
	assert_near(s.study.stopTheta, 1e-10, 0.0);
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
	assert_int_equal(count, 37);
	assert_null(knSettings_Help(count));
	assert_null(knSettings_Name(-1));
}

// What Get prints, Set takes back; defaults print as nothing.
static void test_values_come_back(void** unused) {
	(void)unused;
	static const char* const said[][2] = { { "scheme", "paper" },     { "sweeps", "37" },
										   { "sleep", "1" },          { "rolling", "0.1" },
										   { "newton", "golden" },    { "threshold", "1e-3" },
										   { "integrator", "euler" }, { "shock", "0" } };
	const int count = (int)(sizeof(said) / sizeof(said[0]));
	knSettings s = knSettings_Default(), back = s;
	for (int i = 0; i < count; ++i) {
		assert_ok(knSettings_Set(&s, said[i][0], said[i][1], NULL));
	}
	int found = 0;
	for (int i = 0; knSettings_Name(i) != NULL; ++i) {
		char text[32];
		if (knSettings_Get(&s, i, text, sizeof(text))) {
			assert_ok(knSettings_Set(&back, knSettings_Name(i), text, NULL));
			found += 1;
		} else {
			assert_string_equal(text, "");
		}
	}
	assert_int_equal(found, count);
	assert_memory_equal(&s, &back, sizeof(s));
}

static void test_readers(void** unused) {
	(void)unused;
	knError error = { 0 };
	assert_ok(knSettings_CheckRead("sweeps", "velocity", KN_SCHEME_DEFAULT, &error));
	assert_ok(knSettings_CheckRead("sweeps", "impulse", KN_SCHEME_PAPER, &error));
	assert_ok(knSettings_CheckRead("weighting", "velocity", KN_SCHEME_PAPER, &error));
	assert_ok(knSettings_CheckRead("sleep", "any", KN_SCHEME_DEFAULT, &error));
	assert_int_equal(knSettings_CheckRead("swep", "velocity", KN_SCHEME_DEFAULT, &error), KN_BAD_ARGUMENT);
	assert_int_equal(knSettings_CheckRead("weighting", "velocity", KN_SCHEME_DEFAULT, &error),
					 KN_UNSUPPORTED);
	assert_string_equal(error.message,
						"velocity with scheme=default does not read it; it is a setting of velocity "
						"with scheme=paper");
	assert_int_equal(knSettings_CheckRead("articulation", "reduced", KN_SCHEME_DEFAULT, &error),
					 KN_UNSUPPORTED);
	assert_string_equal(error.message,
						"reduced does not read it; it is a setting of velocity with scheme=default "
						"and impulse with scheme=default");
	// a name that begins like a reader's is another
	assert_int_equal(knSettings_CheckRead("sweeps", "veloc", KN_SCHEME_DEFAULT, &error), KN_UNSUPPORTED);
	assert_int_equal(knSettings_CheckRead("sweeps", "velocity2", KN_SCHEME_DEFAULT, &error), KN_UNSUPPORTED);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_arrive),
		cmocka_unit_test(test_bad_values_are_refused_and_change_nothing),
		cmocka_unit_test(test_unknown_names_get_a_hint),
		cmocka_unit_test(test_every_setting_has_a_name_and_help),
		cmocka_unit_test(test_values_come_back),
		cmocka_unit_test(test_readers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
