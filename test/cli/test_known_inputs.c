// Inputs that once went wrong, by name; each ends with an answer.
#include "cli/cli_test.h"

// clang's sanitizer found offsets to null pointers in a step of nothing.
static void nothing_at_all_runs(void** state) {
	(void)state;
	writeText("empty_scene.xml", "<mujoco/>");
	for (int i = 0; i < 2; ++i) {
		Ran ran = runTool(i == 0 ? "run empty_scene.xml --steps 2 --stepper velocity"
								 : "run empty_scene.xml --steps 2 --stepper impulse");
		assert_int_equal(ran.status, 0);
		freeRan(&ran);
	}
}

// Debug builds once stopped at an assertion of the universal joint.
static void an_absurd_velocity_ends_with_a_status(void** state) {
	(void)state;
	static const char* const speeds[] = { "3.9e16 0 0 0 0 0", "0 0 0 3.9e16 0 0", "0 0 0 1e150 0 0",
										  "1e300 0 0 1e300 0 0" };
	static const char* const steppers[] = { "velocity", "impulse", "reduced" };
	for (int i = 0; i < 4; ++i) {
		char text[1024], line[128];
		snprintf(text, sizeof text,
				 "<mujoco><worldbody><geom type='plane' size='0 0 1'/><body name='a' pos='0 0 1'><freejoint/>"
				 "<geom type='box' size='.1 .1 .1'/><body name='b' pos='0 0 .5'><joint axis='1 0 0'/><joint "
				 "axis='0 0 1'/>"
				 "<geom type='box' size='.1 .1 .1'/></body></body></worldbody>"
				 "<keyframe><key name='k' qpos='0 0 1 1 0 0 0 0 0' qvel='%s 1 1'/></keyframe></mujoco>",
				 speeds[i]);
		writeText("absurd.xml", text);
		for (int s = 0; s < 3; ++s) {
			snprintf(line, sizeof line, "run absurd.xml --keyframe k --steps 5 --stepper %s", steppers[s]);
			Ran ran = runTool(line);
			if (ran.status != 0 && ran.status != 1) {
				fail_msg("%s with qvel %s: status %d\n%.2000s", steppers[s], speeds[i], ran.status, ran.err);
			}
			freeRan(&ran);
		}
	}
}

// Hundreds of boxes in one place were simulated at a second a step without a word.
static void boxes_in_one_place_are_told(void** state) {
	(void)state;
	enum { BOXES = 60 };
	static char text[BOXES * 96 + 256];
	size_t n = (size_t)snprintf(text, sizeof text, "<mujoco><worldbody>");
	for (int i = 0; i < BOXES; ++i) {
		n += (size_t)snprintf(text + n, sizeof text - n,
							  "<body name='b%d'><freejoint/><geom type='box' size='.1 .1 .1'/></body>\n", i);
	}
	snprintf(text + n, sizeof text - n, "</worldbody></mujoco>");
	writeText("crowd.xml", text);
	Ran ran = runTool("info crowd.xml");
	assert_int_equal(ran.status, 0);
	assert_non_null(strstr(ran.out, "1770 pairs of shapes overlap at the start, 59 for each body"));
	freeRan(&ran);
	ran = runTool("run crowd.xml --steps 1");
	assert_non_null(strstr(ran.err, "1770 pairs of shapes overlap at the start"));
	freeRan(&ran);
}

// A file that names no stepper: reduced if it has joints, and can; sensors are columns; meshes collide as asked.
static void a_robot_runs_as_it_is(void** state) {
	(void)state;
	writeText(
		"robot.xml",
		"<mujoco><worldbody><body name='a'><joint name='j' axis='0 1 0'/><geom type='box' size='.1 .1 .1' "
		"pos='.3 0 0'/><site name='s' pos='.3 0 0'/></body></worldbody><sensor><jointpos name='q' "
		"joint='j'/><framepos name='p' objtype='site' objname='s'/></sensor></mujoco>");
	Ran ran = runTool("run robot.xml --steps 3 --sensors read.csv --set meshes=exact --json -");
	assert_int_equal(ran.status, 0);
	assert_non_null(strstr(ran.out, "\"stepper\": \"reduced\""));
	freeRan(&ran);
	char* text = readWhole("read.csv");
	assert_non_null(text);
	assert_int_equal(strncmp(text, "time,q,p.0,p.1,p.2\n0,0,0.2999", 29), 0);
	int lines = 0;
	for (const char* c = text; *c != '\0'; ++c) {
		lines += *c == '\n' ? 1 : 0;
	}
	assert_int_equal(lines, 5);
	free(text);
	ran = runTool("run robot.xml --steps 3 --set meshes=round");
	assert_int_equal(ran.status, 2);
	freeRan(&ran);
	ran = runTool("info robot.xml");
	assert_non_null(strstr(ran.out, "  a  (hinge 'j' on world)"));
	freeRan(&ran);
	// armature on a joint that closes a loop
	writeText("looped.xml",
			  "<mujoco><worldbody><body name='a'><joint name='j'/><geom size='.1'/></body><body name='b' "
			  "pos='1 0 0'>"
			  "<joint name='k'/><geom size='.1'/></body></worldbody><custom><text name='knuckle.loop.l' "
			  "data=\"slider "
			  "parent='a' child='b' anchor='0.5 0 0' axis='1 0 0' armature=0.1\"/></custom></mujoco>");
	ran = runTool("run looped.xml --steps 3 --json -");
	assert_int_equal(ran.status, 0);
	assert_non_null(strstr(ran.out, "\"stepper\": \"velocity\""));
	freeRan(&ran);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_at_all_runs),
		cmocka_unit_test(an_absurd_velocity_ends_with_a_status),
		cmocka_unit_test(boxes_in_one_place_are_told),
		cmocka_unit_test(a_robot_runs_as_it_is),
	};
	if (!haveTool() || enterFolder("cli_known") != 0) {
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
