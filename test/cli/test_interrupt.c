// Ctrl-C and SIGTERM: a run that is interrupted finishes what it recorded, and nothing half-made stays.
#include "cli_test.h"

#include <signal.h>
#include <time.h>

#include "knuckle/record.h"

#define LONG_RUN "1000000" // steps, hours of them

// The recording grows from the first step on; a signal that came earlier would end the run without one.
static void waitForBytes(const char* recording, off_t size) {
	struct stat now = { 0 };
	for (int i = 0; i < 6000 && (stat(recording, &now) != 0 || now.st_size < size); ++i) {
		struct timespec pause = { .tv_nsec = 10000000 };
		nanosleep(&pause, NULL);
	}
	assert_true(now.st_size >= size);
}

// Builds without node have no pages.
static bool havePages(void) {
	Ran ran = runTool("run pendulum --steps 1 --out probe.html");
	bool have = ran.status == 0;
	freeRan(&ran);
	return have;
}

static int runAndSignal(int signalNumber, const char* last) {
	static const char* const old[] = { "cut.knt", "cut.csv", "cut.glb", "cut.html", "cut.json" };
	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); ++i) {
		remove(old[i]);
	}
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		redirect(STDOUT_FILENO, "tool.out");
		redirect(STDERR_FILENO, "tool.err");
		execl(getenv("KN_TOOL"), "knuckle", "run", "pendulum", "--steps", LONG_RUN, "--out", "cut.knt",
			  "--out", "cut.csv", "--out", "cut.glb", "--out", last, "--json", "cut.json", (char*)NULL);
		_exit(127);
	}
	waitForBytes("cut.knt", 20000);
	assert_int_equal(kill(child, signalNumber), 0);
	int state;
	assert_int_equal(waitpid(child, &state, 0), child);
	assert_true(WIFEXITED(state));
	return WEXITSTATUS(state);
}

// The page's last script is the recording, and it is closed.
static void checkPage(void) {
	char* page = readWhole("cut.html");
	assert_non_null(page);
	const char* recording = strstr(page, "id=\"recording\">S05SRVBMQVkC");
	assert_non_null(recording);
	assert_non_null(strstr(recording, "</html>"));
	free(page);
}

static void checkWhole(void) {
	static const char* const parts[] = { "cut.csv.part", "cut.glb.part", "cut.json.part", "cut.knt.part",
										 "cut.html.part" };
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
	bool pages = havePages();
	assert_int_equal(runAndSignal(SIGINT, pages ? "cut.html" : "again.knt"), 128 + SIGINT);
	checkWhole();
	if (pages) {
		checkPage();
	}
}

static void test_terminate_finishes_outputs(void** state) {
	(void)state;
	bool pages = havePages();
	assert_int_equal(runAndSignal(SIGTERM, pages ? "cut.html" : "again.knt"), 128 + SIGTERM);
	checkWhole();
	if (pages) {
		checkPage();
	}
}

// A step of a hundred thousand sweeps is not waited for: the frame of the start is all there is, and it is whole.
static void test_interrupt_inside_a_long_step(void** state) {
	(void)state;
	static const char* const files[] = { "long.knt", "long.csv", "long.glb", "long.json" };
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
		remove(files[i]);
	}
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		redirect(STDOUT_FILENO, "tool.out");
		redirect(STDERR_FILENO, "tool.err");
		execl(getenv("KN_TOOL"), "knuckle", "run", "pyramid", "--set", "base=100", "--set", "scheme=paper",
			  "--set", "sweeps=100000", "--out", files[0], "--out", files[1], "--out", files[2], "--json",
			  files[3], (char*)NULL);
		_exit(127);
	}
	// the recording's head says what is in the scene: the signal may come before the first frame
	waitForBytes(files[0], 20000);
	assert_int_equal(kill(child, SIGTERM), 0);
	int ended;
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_true(WIFEXITED(ended));
	assert_int_equal(WEXITSTATUS(ended), 128 + SIGTERM);
	char* json = readWhole(files[3]);
	assert_non_null(json);
	assert_true(jsonValid(json));
	assert_true(jsonNumberAt(json, "steps") == 0.0);
	assert_null(strstr(json, "\"hash\""));
	free(json);
	knError error = { 0 };
	knTrajectory* recording = knTrajectory_Open(files[0], NULL, &error);
	assert_non_null(recording);
	assert_false(knTrajectory_Damaged(recording, &error));
	assert_int_equal(knTrajectory_FrameCount(recording), 1);
	knTrajectory_Close(recording);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
		char part[32];
		snprintf(part, sizeof(part), "%s.part", files[i]);
		assert_true(exists(files[i]));
		assert_false(exists(part));
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupt_finishes_outputs),
		cmocka_unit_test(test_terminate_finishes_outputs),
		cmocka_unit_test(test_interrupt_inside_a_long_step),
	};
	if (!haveTool()) {
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
