// Log lines: formatted, filtered by level, cut when too long, silent without a callback.
#include "support/kn_test.h"

#include "core/log.h"

typedef struct Heard {
	int count;
	knLogLevel level;
	char line[1024];
} Heard;

static void listen(knLogLevel level, const char* message, void* context) {
	Heard* heard = context;
	heard->count += 1;
	heard->level = level;
	snprintf(heard->line, sizeof heard->line, "%s", message);
}

static void lines_reach_the_callback(void** state) {
	(void)state;
	Heard heard = { 0 };
	knLog log = { listen, &heard, KN_LOG_INFO };
	knLog_Write(&log, KN_LOG_WARNING, "%d bodies, %s", 3, "one asleep");
	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.level, KN_LOG_WARNING);
	assert_string_equal(heard.line, "3 bodies, one asleep");
	knLog_Write(&log, KN_LOG_DEBUG, "below the threshold");
	assert_int_equal(heard.count, 1);
	knLog_Write(&log, KN_LOG_INFO, "at the threshold");
	assert_int_equal(heard.count, 2);
}

static void long_lines_are_cut(void** state) {
	(void)state;
	Heard heard = { 0 };
	knLog log = { listen, &heard, KN_LOG_DEBUG };
	knLog_Write(&log, KN_LOG_ERROR, "%2000d", 1);
	assert_true(strlen(heard.line) > 200 && strlen(heard.line) < 1000);
}

static void silent_without_callback(void** state) {
	(void)state;
	knLog log = { 0 };
	knLog_Write(&log, KN_LOG_ERROR, "nobody listens");
	knLog_Write(NULL, KN_LOG_ERROR, "nobody listens");
	assert_null(log.fn);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_reach_the_callback),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(silent_without_callback),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
