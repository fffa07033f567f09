// knuckle compare: one column and one JSON object for each stepper, each equal to what `run` reports.
#include "cli_test.h"

#include "catalogue.h"

static void test_table(void** state) {
	(void)state;
	Ran ran = runTool("compare box-stack --steppers velocity,velocity:paper --set small=1 --steps 85");
	assert_int_equal(ran.status, 0);
	assert_non_null(strstr(ran.out, "velocity:paper"));
	assert_non_null(strstr(ran.out, "jitter at 0.8 s"));
	assert_non_null(strstr(ran.out, "layer_force_min"));
	freeRan(&ran);
}

// The same scene, the same stepper: the same hash as a run of its own.
static void test_json_agrees_with_run(void** state) {
	(void)state;
	Ran both = runTool("compare wall --steppers velocity,velocity:paper --set small=1 --steps 20 --json -");
	Ran one = runTool("run wall --set small=1 --steps 20 --json -");
	Ran two = runTool("run wall --set small=1 --set scheme=paper --steps 20 --json -");
	assert_int_equal(both.status, 0);
	assert_true(jsonValid(both.out));
	char expected[17], found[17];
	jsonTextAt(one.out, "hash", expected, sizeof(expected));
	jsonTextAt(both.out, "0.hash", found, sizeof(found));
	assert_string_equal(found, expected);
	jsonTextAt(two.out, "hash", expected, sizeof(expected));
	jsonTextAt(both.out, "1.hash", found, sizeof(found));
	assert_string_equal(found, expected);
	assert_near(jsonNumberAt(both.out, "1.queries_per_step"), 2.0, 0.0); // as published
	freeRan(&both);
	freeRan(&one);
	freeRan(&two);
}

// Plots are files of their own that begin as SVG does.
static void test_figures(void** state) {
	(void)state;
	Ran ran = runTool(
		"compare roof-tower --steppers velocity --set small=1 --set layers=2 --steps 215 --figures .");
	assert_int_equal(ran.status, 0);
	static const char* const names[] = { "compare_time.svg", "compare_energy.svg", "compare_displacement.svg",
										 "crack_velocity_10.svg" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
		char begin[5] = "";
		FILE* file = fopen(names[i], "r");
		assert_non_null(file);
		assert_int_equal(fread(begin, 1, 4, file), 4);
		fclose(file);
		assert_string_equal(begin, "<svg");
	}
	assert_non_null(strstr(ran.out, "moved > 5 cm, shot + 10"));
	assert_non_null(strstr(ran.out, "moved behind, shot + 10"));
	assert_non_null(strstr(ran.out, "queries per step 2 | 15")); // what the paper says
	freeRan(&ran);
}

static void test_refusals(void** state) {
	(void)state;
	static const char* const lines[] = {
		"compare",
		"compare wall tower",
		"compare nosuchscene",
		"compare wall --steppers nosuch",
		"compare wall --steppers velocity:fast",
		"compare wall --steppers velocity,",
		"compare wall --time 1 --steps 2",
		"compare wall --out report.txt",
		"compare wall --set bricks=none",
		"compare wall --steppers velocity,impulse --set newton=damped",
		"compare wall --steppers velocity,velocity:paper --set joint_sweeps=3",
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); ++i) {
		Ran ran = runTool(lines[i]);
		assert_int_equal(ran.status, 2);
		assert_string_equal(ran.out, "");
		assert_true(strlen(ran.err) > 10);
		freeRan(&ran);
	}
}

// One of the steppers reads it; the other runs as without it.
static void test_a_setting_of_one_stepper(void** state) {
	(void)state;
	Ran set =
		runTool("compare wall --steppers impulse,velocity:paper --set small=1 --set weighting=0.5 --steps 5 "
				"--json -");
	Ran plain = runTool("compare wall --steppers impulse,velocity:paper --set small=1 --steps 5 --json -");
	assert_int_equal(set.status, 0);
	assert_int_equal(plain.status, 0);
	const char *a = set.out, *b = plain.out;
	for (int run = 0; run < 2; ++run) {
		a = strstr(a + 1, "\"hash\"");
		b = strstr(b + 1, "\"hash\"");
		assert_non_null(a);
		assert_non_null(b);
		assert_int_equal(strncmp(a, b, 24) == 0, run == 0);
	}
	assert_non_null(strstr(set.err, "weighting=0.5 has no effect: impulse does not read it"));
	freeRan(&set);
	freeRan(&plain);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),    cmocka_unit_test(test_json_agrees_with_run),
		cmocka_unit_test(test_figures),  cmocka_unit_test(test_a_setting_of_one_stepper),
		cmocka_unit_test(test_refusals),
	};
	return enterFolder("cli_compare") == 0 ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
