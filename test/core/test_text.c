// Text: numbers read back as they were written, everything that is not exactly one number is refused, and
// suggestions are those a reader would make.
#include "support/kn_test.h"

#include "core/text.h"

#include <limits.h>
#include <locale.h>

static void doubles_read(void** state) {
	(void)state;
	const struct {
		const char* text;
		double value;
	} good[] = {
		{ "0", 0.0 },          { "-0.0", 0.0 },
		{ "1", 1.0 },          { "+2", 2.0 },
		{ ".5", 0.5 },         { "5.", 5.0 },
		{ "-1.5e3", -1500.0 }, { "1E-2", 0.01 },
		{ " 7 ", 7.0 },        { "\t3\r\n", 3.0 },
		{ "0.1", 0.1 },        { "1e308", 1e308 },
		{ "5e-324", 5e-324 },  { "1e-400", 0.0 },
		{ "007", 7.0 },        { "9007199254740993", 9007199254740992.0 },
	};
	for (int i = 0; i < (int)(sizeof good / sizeof *good); ++i) {
		double value = -99.0;
		assert_true(knText_ParseDouble(good[i].text, &value));
		assert_true(value == good[i].value);
	}
	const char* bad[] = { "",    " ",     "x",    "1x",       "1 2",   "1,5",    "0x10",
						  "inf", "nan",   "-inf", "infinity", "1e",    "1e+",    ".",
						  "-",   "+-1",   "--1",  "1e5.5",    "1e999", "-1e999", "1..2",
						  "e5",  "0x1p3", "1f",   "1.5d0",    "NaN",   "1\v\v2", "- 1" };
	for (int i = 0; i < (int)(sizeof bad / sizeof *bad); ++i) {
		double value = -99.0;
		if (knText_ParseDouble(bad[i], &value) || value != -99.0) {
			fail_msg("'%s' was read as %g", bad[i], value);
		}
	}
	double value;
	assert_false(knText_ParseDouble(NULL, &value));
}

static void long_numbers(void** state) {
	(void)state;
	char text[1200];
	double value = 0.0;
	// 399 characters: one and zeros is 1e398, which is no finite double; with a dot it is one
	memset(text, '0', sizeof text);
	text[0] = '1';
	text[399] = '\0';
	assert_false(knText_ParseDouble(text, &value));
	text[1] = '.';
	assert_true(knText_ParseDouble(text, &value));
	assert_true(value == 1.0);
	text[399] = '0';
	text[1199] = '\0';
	assert_false(knText_ParseDouble(text, &value));
}

static void integers_read(void** state) {
	(void)state;
	const struct {
		const char* text;
		int value;
	} good[] = { { "0", 0 },
				 { "-0", 0 },
				 { "42", 42 },
				 { "+7", 7 },
				 { " -13 ", -13 },
				 { "0010", 10 },
				 { "2147483647", INT_MAX },
				 { "-2147483648", INT_MIN } };
	for (int i = 0; i < (int)(sizeof good / sizeof *good); ++i) {
		int value = -99;
		assert_true(knText_ParseInt(good[i].text, &value));
		assert_int_equal(value, good[i].value);
	}
	const char* bad[] = {
		"", " ", "-", "1.0", "1e3", "2147483648", "-2147483649", "99999999999999999999", "0x1", "1 2", "a"
	};
	for (int i = 0; i < (int)(sizeof bad / sizeof *bad); ++i) {
		int value = -99;
		assert_false(knText_ParseInt(bad[i], &value));
		assert_int_equal(value, -99);
	}
}

static void written_doubles_read_back(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	char text[32];
	double back;
	for (int i = 0; i < 20000; ++i) {
		double value = ldexp(testUniform(&random, -1.0, 1.0), testInt(&random, 2090) - 1066);
		assert_true(knText_ParseDouble(knText_FormatDouble(value, text, sizeof text), &back));
		assert_true(back == value);
		// decimal numbers of few digits come back as they were typed
		value = (testInt(&random, 2000001) - 1000000) / 1000.0;
		char typed[32];
		snprintf(typed, sizeof typed, "%.6g", value);
		assert_true(knText_ParseDouble(typed, &back));
		assert_string_equal(knText_FormatDouble(back, text, sizeof text), typed);
	}
	assert_string_equal(knText_FormatDouble(0.1, text, sizeof text), "0.1");
	assert_string_equal(knText_FormatDouble(-1e-7, text, sizeof text), "-1e-07");
	// no finite number, no number
	assert_false(knText_ParseDouble(knText_FormatDouble(NAN, text, sizeof text), &back));
	assert_false(knText_ParseDouble(knText_FormatDouble(-INFINITY, text, sizeof text), &back));
}

static void decimal_signs_become_dots(void** state) {
	(void)state;
	const char* pairs[][2] = { { "1,5", "1.5" },
							   { "-2.5e+10", "-2.5e+10" },
							   { "1e-05", "1e-05" },
							   { "0\xD9\xAB"
								 "25",
								 "0.25" },
							   { "17", "17" } };
	for (int i = 0; i < 5; ++i) {
		char text[32];
		snprintf(text, sizeof text, "%s", pairs[i][0]);
		knText_UseDot(text);
		assert_string_equal(text, pairs[i][1]);
	}
}

static void comma_locale(void** state) {
	(void)state;
	if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL && setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL) {
		print_message("skipped: no locale with a decimal comma here\n");
		skip();
	}
	double value = 0.0;
	char text[32];
	bool dot = knText_ParseDouble("-2.25e1", &value), comma = knText_ParseDouble("2,25", &value);
	knText_FormatDouble(0.1, text, sizeof text);
	setlocale(LC_NUMERIC, "C");
	assert_true(dot && !comma);
	assert_true(value == -22.5);
	assert_string_equal(text, "0.1");
}

static void suggestions(void** state) {
	(void)state;
	const char* names[] = { "box-stack", "wall",     "tower",       "ball-grid",
							"pyramid",   "pendulum", "heavy-chain", "x" };
	const struct {
		const char* word;
		const char* closest;
	} cases[] = {
		{ "towr", "tower" },
		{ "tower", "tower" },
		{ "otwer", "tower" },
		{ "towerr", "tower" },
		{ "tovver", "tower" },
		{ "boxstack", "box-stack" },
		{ "pyarmid", "pyramid" },
		{ "pendulm", "pendulum" },
		{ "heavychian", "heavy-chain" },
		{ "wal", "wall" },
		{ "qqqqqq", NULL },
		{ "", NULL },
		{ "q", NULL },
		{ "cathedral", NULL },
	};
	for (int i = 0; i < (int)(sizeof cases / sizeof *cases); ++i) {
		const char* closest = knText_Closest(cases[i].word, names, 8);
		if (cases[i].closest == NULL) {
			assert_null(closest);
		} else {
			assert_non_null(closest);
			assert_string_equal(closest, cases[i].closest);
		}
	}
	assert_null(knText_Closest("tower", names, 0));
	assert_null(knText_Closest(NULL, names, 8));
	char longWord[500];
	memset(longWord, 'a', sizeof longWord);
	longWord[499] = '\0';
	assert_null(knText_Closest(longWord, names, 8));
	const char* longName[] = { longWord };
	assert_null(knText_Closest("tower", longName, 1));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(doubles_read),
		cmocka_unit_test(long_numbers),
		cmocka_unit_test(integers_read),
		cmocka_unit_test(written_doubles_read_back),
		cmocka_unit_test(decimal_signs_become_dots),
		cmocka_unit_test(comma_locale),
		cmocka_unit_test(suggestions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
