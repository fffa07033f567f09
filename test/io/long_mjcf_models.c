// The models that come with the tool: each runs two seconds under both maximal steppers; joints stay closed, and what stands on the
// ground stays above it.
#include "mjcf_test.h"

#include <dirent.h>

#define JOINT_GAP 2e-3 // m, of any joint while it moves

static void checkRun(const char* path, const char* stepper) {
	knError error = { .status = KN_OK };
	knScene* scene = knMjcf_Load(path, NULL, NULL, &error);
	assert_non_null(scene);
	knModel* model = compile(scene);
	knWorldDef def = knWorldDef_Default();
	def.stepper = stepper;
	knWorld* world = knWorld_Create(model, &def, &error);
	assert_non_null(world);
	const double dt = knScene_GetDef(scene)->dt;
	double gap = 0.0;
	for (int i = 0; i * dt < 2.0; ++i) {
		if (knWorld_Step(world, dt, &error) != KN_OK) {
			fail_msg("%s under %s: %s", path, stepper, error.message);
		}
		const knMeasures now = knWorld_Measure(world);
		assert_true(now.finite);
		gap = knMax(gap, now.jointError);
	}
	if (gap > JOINT_GAP) {
		fail_msg("%s under %s: a joint is open by %g m", path, stepper, gap);
	}
	for (int b = 0; b < knModel_BodyCount(model); ++b) {
		const knVec3 at = knWorld_BodyCenter(world, knModel_BodyAt(model, b));
		assert_true(at.z > -3.0 && knLength(at) < 30.0);
	}
	knWorld_Destroy(world);
	knModel_Release(model);
	knScene_Destroy(scene);
}

static void test_every_model_runs(void** state) {
	(void)state;
	char folder[512], path[1024];
	snprintf(folder, sizeof folder, "%s/models", getenv("KN_SOURCE_DIR"));
	DIR* dir = opendir(folder);
	assert_non_null(dir);
	int count = 0;
	for (struct dirent* entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
		if (strstr(entry->d_name, ".xml") != NULL) {
			snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
			checkRun(path, "velocity");
			checkRun(path, "impulse");
			count += 1;
		}
	}
	closedir(dir);
	assert_true(count >= 14);
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_model_runs) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
