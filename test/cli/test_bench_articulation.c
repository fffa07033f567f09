// knuckle bench articulation: plots that are there, and numbers that agree with each other and with what joints do.
#include "cli_test.h"

#include <math.h>

// The value of a row of articulation.csv: "part,scene,setting,quantity,". NAN if there is none.
static double valueOf(const char* table, const char* row) {
	const char* found = strstr(table, row);
	return found != NULL ? strtod(found + strlen(row), NULL) : NAN;
}

static bool isPlot(const char* path) {
	char* text = readWhole(path);
	bool plot = text != NULL && strncmp(text, "<svg", 4) == 0 && strstr(text, "</svg>") != NULL;
	free(text);
	return plot;
}

// A chain that falls: pre-stabilization closes joints, and the published one does so the better the more it sweeps.
static void test_errors(void** state) {
	(void)state;
	Ran ran = runTool("bench articulation-errors pendulum --steps 25 --out .");
	assert_int_equal(ran.status, 0);
	assert_true(isPlot("joint_error_pendulum.svg"));
	assert_true(isPlot("joint_sweeps_pendulum.svg"));
	char* table = readWhole("articulation.csv");
	assert_non_null(table);
	double ours = valueOf(table, "error,pendulum,default 9,worst,");
	double few = valueOf(table, "error,pendulum,published 5,worst,");
	double many = valueOf(table, "error,pendulum,published 15,worst,");
	double drift = valueOf(table, "error,pendulum,no pre-stabilization 9,worst,");
	double rms = valueOf(table, "error,pendulum,published 5,rms,");
	assert_true(ours < 1e-9);
	assert_true(ours < many && many < few);
	assert_true(drift > 1e3 * ours);
	assert_true(rms > 0.0 && rms < few);
	assert_near(valueOf(table, "error,pendulum,default 9,steps,"), 25.0, 0.0);
	free(table);
	freeRan(&ran);
}

// Figure 10 of Weinstein et al. 2006.
static void test_push(void** state) {
	(void)state;
	Ran ran = runTool("bench articulation-errors push-through --out push.csv");
	assert_int_equal(ran.status, 0);
	char* table = readWhole("push.csv");
	assert_non_null(table);
	assert_near(valueOf(table, "push,push-through,method=pre,passed,"), 0.0, 0.0);
	assert_near(valueOf(table, "push,push-through,method=post,passed,"), 1.0, 0.0);
	assert_null(strstr(table, "error,"));
	free(table);
	freeRan(&ran);
}

// The parts of a step are all of it; a bridge spends some of it on joints.
static void test_shares(void** state) {
	(void)state;
	Ran ran = runTool("bench articulation-times bridge --steps 4 --out .");
	assert_int_equal(ran.status, 0);
	assert_true(isPlot("articulation_share.svg"));
	char* table = readWhole("articulation.csv");
	assert_non_null(table);
	double collision = valueOf(table, "share,bridge,,collision,"),
		   contacts = valueOf(table, "share,bridge,,contacts,");
	double joints = valueOf(table, "share,bridge,,joints,"), rest = valueOf(table, "share,bridge,,rest,");
	assert_true(collision >= 0.0 && contacts >= 0.0 && rest >= 0.0);
	assert_true(joints > 0.0);
	assert_near(collision + contacts + joints + rest, 100.0, 1e-6);
	free(table);
	freeRan(&ran);
}

// The exponent is the slope of what the table says, in the legend as in the table.
static void test_growth(void** state) {
	(void)state;
	Ran ran = runTool("bench articulation-times wall --steps 2 --out .");
	assert_int_equal(ran.status, 0);
	char* table = readWhole("articulation.csv");
	assert_non_null(table);
	double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
	int count = 0;
	for (const char* at = table; (at = strstr(at, "growth,wall,")) != NULL; at += 1) {
		const char* quantity = strchr(at + strlen("growth,wall,"), ',');
		if (strncmp(quantity, ",contacts,", 10) != 0) {
			continue;
		}
		const char* ms = strstr(quantity, ",ms,");
		assert_non_null(ms);
		double x = log(strtod(quantity + 10, NULL)), y = log(strtod(ms + 4, NULL));
		count += 1;
		sx += x;
		sy += y;
		sxx += x * x;
		sxy += x * y;
	}
	assert_int_equal(count, 4);
	double exponent = valueOf(table, "exponent,wall,contacts,exponent,");
	assert_near(exponent, (count * sxy - sx * sy) / (count * sxx - sx * sx), 1e-5);
	char legend[32];
	snprintf(legend, sizeof(legend), "wall %.2f", exponent);
	assert_true(isPlot("articulation_bodies.svg"));
	char* plot = readWhole("articulation_contacts.svg");
	assert_non_null(plot);
	assert_non_null(strstr(plot, legend));
	free(plot);
	free(table);
	freeRan(&ran);
}

static void test_refusals(void** state) {
	(void)state;
	static const char* const lines[] = {
		"bench articulation nosuchscene",
		"bench lcp wall",
		"bench lcp --steps 3",
		"bench wall articulation",
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); ++i) {
		Ran ran = runTool(lines[i]);
		assert_int_equal(ran.status, 2);
		assert_string_equal(ran.out, "");
		assert_true(strlen(ran.err) > 10);
		freeRan(&ran);
	}
	Ran ran = runTool("bench articulation-errors push-through --out nowhere/push.csv");
	assert_int_equal(ran.status, 3);
	freeRan(&ran);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors), cmocka_unit_test(test_push),     cmocka_unit_test(test_shares),
		cmocka_unit_test(test_growth), cmocka_unit_test(test_refusals),
	};
	return enterFolder("cli_bench_articulation") == 0 ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
