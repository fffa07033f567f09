// Ctrl-C and SIGTERM: a run that is interrupted finishes what it recorded, and nothing half-made stays.
#include "cli_test.h"

#include <signal.h>
#include <time.h>

#include "knuckle/record.h"

#define LONG_RUN "1000000" // steps, hours of them

// The recording grows from the first step on; a signal that came earlier would end the run without one.
static void waitForSteps(const char* recording) {
	struct stat now = { 0 };
	for (int i = 0; i < 6000 && (stat(recording, &now) != 0 || now.st_size < 20000); ++i) {
		struct timespec pause = { .tv_nsec = 10000000 };
		nanosleep(&pause, NULL);
	}
	assert_true(now.st_size >= 20000);
}

static int runAndSignal(int signalNumber) {
	remove("cut.knt");
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		redirect(STDOUT_FILENO, "tool.out");
		redirect(STDERR_FILENO, "tool.err");
		execl(getenv("KN_TOOL"), "knuckle", "run", "pendulum", "--steps", LONG_RUN, "--out", "cut.knt",
			  "--out", "cut.csv", "--out", "cut.glb", "--json", "cut.json", (char*)NULL);
		_exit(127);
	}
	waitForSteps("cut.knt");
	assert_int_equal(kill(child, signalNumber), 0);
	int state;
	assert_int_equal(waitpid(child, &state, 0), child);
	assert_true(WIFEXITED(state));
	return WEXITSTATUS(state);
}

static void checkWhole(void) {
	static const char* const parts[] = { "cut.csv.part", "cut.glb.part", "cut.json.part", "cut.knt.part" };
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
		assert_false(exists(parts[i]));
	}
	char* json = readWhole("cut.json");
	assert_non_null(json);
	assert_true(jsonValid(json));
	double steps = jsonNumberAt(json, "steps");
	assert_true(steps >= 1.0 && steps < strtod(LONG_RUN, NULL));
	assert_non_null(strstr(json, "\"error\""));
	free(json);

	// every frame is there and whole: that of the start and one a step
	knError error = { 0 };
	knTrajectory* recording = knTrajectory_Open("cut.knt", NULL, &error);
	assert_non_null(recording);
	assert_false(knTrajectory_Damaged(recording, &error));
	assert_int_equal(knTrajectory_FrameCount(recording), (int)steps + 1);
	knTrajectory_Close(recording);

	char* table = readWhole("cut.csv");
	assert_non_null(table);
	assert_int_equal(table[strlen(table) - 1], '\n');
	free(table);

	// the length in a .glb's head is that of the file
	FILE* file = fopen("cut.glb", "rb");
	assert_non_null(file);
	uint8_t head[12];
	assert_int_equal(fread(head, 1, sizeof(head), file), sizeof(head));
	fseek(file, 0, SEEK_END);
	assert_memory_equal(head, "glTF", 4);
	assert_int_equal(head[8] | head[9] << 8 | head[10] << 16 | (int64_t)head[11] << 24, ftell(file));
	fclose(file);
}

static void test_interrupt_finishes_outputs(void** state) {
	(void)state;
	assert_int_equal(runAndSignal(SIGINT), 128 + SIGINT);
	checkWhole();
}

static void test_terminate_finishes_outputs(void** state) {
	(void)state;
	assert_int_equal(runAndSignal(SIGTERM), 128 + SIGTERM);
	checkWhole();
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupt_finishes_outputs),
		cmocka_unit_test(test_terminate_finishes_outputs),
	};
	if (!haveTool()) {
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
