// The models that come with the tool are found by name from any folder.
#include "cli/cli_test.h"

static void a_model_is_found_by_name(void** state) {
	(void)state;
	static const char* const lines[] = { "info walker", "info models/walker", "info walker.xml" };
	for (int i = 0; i < 3; ++i) {
		Ran ran = runTool(lines[i]);
		assert_int_equal(ran.status, 0);
		assert_non_null(strstr(ran.out, "shaft"));
		freeRan(&ran);
	}
	// a file of that name in the folder comes first
	writeText(
		"walker.xml",
		"<mujoco><worldbody><body name='mine'><freejoint/><geom size='.1'/></body></worldbody></mujoco>");
	Ran ran = runTool("info walker.xml");
	assert_non_null(strstr(ran.out, "mine"));
	freeRan(&ran);
	remove("walker.xml");
	ran = runTool("info elsewhere/walker.xml");
	assert_int_equal(ran.status, 3);
	freeRan(&ran);
	ran = runTool("info no-such-thing");
	assert_int_equal(ran.status, 2);
	freeRan(&ran);
}

static void every_model_loads_without_a_warning(void** state) {
	(void)state;
	static const char* const names[] = { "arm",     "bricard",  "car",       "four_bar", "gripper",
										 "hand",    "humanoid", "quadruped", "snake",    "stack",
										 "stewart", "tank",     "walker" };
	for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
		char line[64];
		snprintf(line, sizeof line, "info models/%s", names[i]);
		Ran ran = runTool(line);
		if (ran.status != 0 || strstr(ran.out, "overlap") != NULL || strstr(ran.out, "is open") != NULL) {
			fail_msg("%s: status %d\n%s%s", names[i], ran.status, ran.out, ran.err);
		}
		freeRan(&ran);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_is_found_by_name),
		cmocka_unit_test(every_model_loads_without_a_warning),
	};
	if (!haveTool() || enterFolder("cli_models") != 0) {
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
