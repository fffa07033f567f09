// Every scene of the catalogue through the tool: JSON with all keys of the contract, finite, the same hash twice and for
// one and two threads.
#include "cli_test.h"

#include "catalogue.h"

static const char* const numbers[] = {
	"format",
	"dt",
	"steps",
	"threads",
	"bodies",
	"joints",
	"dofs",
	"contacts.max",
	"contacts.mean",
	"queries_per_step",
	"iterations",
	"sleeping",
	"guarded",
	"joint_solver.gap",
	"joint_solver.rung",
	"joint_solver.substeps",
	"joint_solver.conflicts",
	"joint_solver.projected",
	"ms_per_step.mean",
	"ms_per_step.median",
	"ms_per_step.p99",
	"ms_per_step.collide",
	"ms_per_step.solve",
	"ms_per_step.joints",
	"joint_error.max",
	"joint_error.final",
	"joint_error.mean",
	"joint_angle_error.max",
	"joint_angle_error.final",
	"penetration.max",
	"penetration.final",
	"penetration.mean",
	"energy.initial",
	"energy.final",
	"energy.max_gain",
	"kinetic.final",
	"kinetic.max",
	"momentum.linear_drift",
	"momentum.angular_drift",
	"displacement.max",
};

static void checkKeys(const char* json, const char* scene, int steps) {
	char text[64];
	assert_true(jsonValid(json));
	assert_int_equal(json[0], '{');
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
		assert_true(isfinite(jsonNumberAt(json, numbers[i])));
	}
	assert_near(jsonNumberAt(json, "format"), 1.0, 0.0);
	assert_near(jsonNumberAt(json, "steps"), steps, 0.0);
	jsonTextAt(json, "scene", text, sizeof(text));
	assert_string_equal(text, scene);
	jsonTextAt(json, "stepper", text, sizeof(text));
	const knSceneEntry* entry = knCatalogue_Find(scene, NULL);
	assert_true(entry != NULL && strstr(entry->steppers, text) != NULL);
	jsonTextAt(json, "scheme", text, sizeof(text));
	assert_string_equal(text, "default");
	assert_non_null(jsonFind(json, "build"));
	assert_int_equal(jsonFind(json, "checks")[0], '{');
	assert_int_equal(strncmp(jsonFind(json, "finite"), "true", 4), 0);
	jsonTextAt(json, "hash", text, sizeof(text));
	assert_int_equal(strlen(text), 16);
	assert_int_equal(strspn(text, "0123456789abcdef"), 16);
}

// Runs a scene and keeps its hash.
static void runScene(const char* scene, const char* more, int steps, char hash[17]) {
	char line[256];
	snprintf(line, sizeof(line), "run %s --steps %d --json - %s", scene, steps, more);
	Ran ran = runTool(line);
	if (ran.status != 0) {
		fail_msg("knuckle %s: exit status %d: %s", line, ran.status, ran.err);
	}
	assert_string_equal(ran.err, "");
	checkKeys(ran.out, scene, steps);
	jsonTextAt(ran.out, "hash", hash, 17);
	freeRan(&ran);
}

static void test_every_scene(void** state) {
	(void)state;
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		char hash[17];
		// meshes are made coarse or few where they would take long
		knSceneArgs args = knSceneArgs_Default(knCatalogue_At(i));
		const char* less = knSceneArgs_Has(&args, "triangles") ? "--set triangles=200"
						   : knSceneArgs_Has(&args, "cows")    ? "--set cows=20"
															   : "";
		runScene(knCatalogue_At(i)->name, less, 1, hash);
	}
}

static void test_every_small_scene(void** state) {
	(void)state;
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		char one[17], two[17];
		const char* scene = knCatalogue_At(i)->name;
		runScene(scene, "--set small=1 --threads 1", 30, one);
		runScene(scene, "--set small=1 --threads 2", 30, two);
		assert_string_equal(one, two);
	}
}

static void test_every_twin(void** state) {
	(void)state;
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		const knSceneEntry* entry = knCatalogue_At(i);
		for (int twin = 2; twin <= 5 && entry->twins; ++twin) {
			char more[64], hash[17];
			snprintf(more, sizeof(more), "--set small=1 --set twin=%d", twin);
			runScene(entry->name, more, 10, hash);
		}
	}
}

static void test_list(void** state) {
	(void)state;
	Ran text = runTool("scenes"), json = runTool("scenes --json");
	assert_int_equal(text.status, 0);
	assert_int_equal(json.status, 0);
	assert_true(jsonValid(json.out));
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		const knSceneEntry* entry = knCatalogue_At(i);
		char path[64], name[64];
		assert_non_null(strstr(text.out, entry->name));
		snprintf(path, sizeof(path), "%d.name", i);
		jsonTextAt(json.out, path, name, sizeof(name));
		assert_string_equal(name, entry->name);
	}
	assert_near(jsonNumberAt(json.out, "1.bodies"), 205.0, 0.0); // wall
	freeRan(&text);
	freeRan(&json);
}

// The page of scenes names every scene, every parameter and every fact.
static void test_documented(void** state) {
	(void)state;
	char path[512];
	snprintf(path, sizeof(path), "%s/docs/scenes.md", getenv("KN_SOURCE_DIR"));
	char* page = readWhole(path);
	assert_non_null(page);
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		const knSceneEntry* entry = knCatalogue_At(i);
		char text[64];
		snprintf(text, sizeof(text), "| `%s`", entry->name);
		const char* line = strstr(page, text);
		if (line == NULL) {
			fail_msg("docs/scenes.md has no line for %s", entry->name);
		}
		for (int k = 0; k < KN_SCENE_MAX_PARAMS && entry->params[k].name != NULL; ++k) {
			snprintf(text, sizeof(text), "`%s=", entry->params[k].name);
			const char* found = strstr(line, text);
			if (found == NULL || found > strchr(line, '\n')) {
				fail_msg("docs/scenes.md does not tell of %s of %s", entry->params[k].name, entry->name);
			}
		}
	}
	free(page);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_scene), cmocka_unit_test(test_every_small_scene),
		cmocka_unit_test(test_every_twin),  cmocka_unit_test(test_list),
		cmocka_unit_test(test_documented),
	};
	if (!haveTool()) {
		return 0;
	}
	return enterFolder("cli_scenes") == 0 ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
