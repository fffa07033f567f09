// knuckle dynamics: a model with a closed form, reference models where they are at hand, and models that are refused.
#include "cli_test.h"

#include <dirent.h>

// --- a cart with a pendulum --------------------------------------------------------------------------------

typedef struct Cart {
	const char *parent, *axis, *inertia, *mass, *placement, *q, *v, *extra;
} Cart;

static const Cart good = { .parent = "0",
						   .axis = "[0, 2, 0]",
						   .inertia = "[0.02, 0, 0, 0, 0.03, 0, 0, 0, 0.04]",
						   .mass = "0.5",
						   .placement = "[1, 0, 0, 0, 1, 0, 0, 0, 1]",
						   .q = "[0.3, 0.7]",
						   .v = "[0.2, 1.5]",
						   .extra = "" };

// A cart of 2 kg slides along x, a pendulum of 0.5 kg turns about y, its centre 0.4 m below.
static void writeCart(const char* path, const Cart* cart) {
	char text[2048];
	snprintf(text, sizeof(text),
			 "{\"nlinks\": 2, \"nq\": 2, \"nv\": 2, \"gravity\": [0, 0, -9.81], \"links\": [\n"
			 "{\"id\": 0, \"parent\": -1, \"joint\": \"prismatic\", \"axis\": [1, 0, 0], \"mass\": 2,\n"
			 " \"placement_R_rowmajor\": [1, 0, 0, 0, 1, 0, 0, 0, 1], \"placement_p\": [0, 0, 0.1],\n"
			 " \"com\": [0, 0, 0], \"inertia_com_rowmajor\": [1, 0, 0, 0, 1, 0, 0, 0, 1]},\n"
			 "{\"parent\": %s, \"joint\": \"revolute\", \"axis\": %s, \"mass\": %s,\n"
			 " \"placement_R_rowmajor\": %s, \"placement_p\": [0, 0, 0],\n"
			 " \"com\": [0, 0, -0.4], \"inertia_com_rowmajor\": %s}],\n"
			 "\"q\": %s, \"v\": %s, \"tau\": [0.1, 0.2], \"fext_link_frame\": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
			 "0.5, 0]%s}",
			 cart->parent, cart->axis, cart->mass, cart->placement, cart->inertia, cart->q, cart->v,
			 cart->extra);
	writeText(path, text);
}

static void near(double value, double expected) {
	assert_true(fabs(value - expected) < 1e-12 * (1.0 + fabs(expected)));
}

static void a_cart_with_a_pendulum(void** state) {
	(void)state;
	writeCart("cart.json", &good);
	Ran ran = runTool("dynamics cart.json");
	assert_int_equal(ran.status, 0);
	assert_true(jsonValid(ran.out));
	double M = 2.0, m = 0.5, l = 0.4, g = 9.81, I = 0.03, s = sin(0.7), c = cos(0.7), w = 1.5;
	double H[3] = { M + m, -m * l * c, I + m * l * l }, bias[2] = { m * l * s * w * w, m * g * l * s };
	near(jsonNumberAt(ran.out, "H_rowmajor.0"), H[0]);
	near(jsonNumberAt(ran.out, "H_rowmajor.1"), H[1]);
	near(jsonNumberAt(ran.out, "H_rowmajor.2"), H[1]);
	near(jsonNumberAt(ran.out, "H_rowmajor.3"), H[2]);
	near(jsonNumberAt(ran.out, "bias_C.0"), bias[0]);
	near(jsonNumberAt(ran.out, "bias_C.1"), bias[1]);
	for (int forced = 0; forced < 2; ++forced) {
		double f[2] = { 0.1 - bias[0] + forced * 1.0, 0.2 - bias[1] + forced * 0.5 };
		double det = H[0] * H[2] - H[1] * H[1];
		near(jsonNumberAt(ran.out, forced ? "qdd_fext.0" : "qdd_nofext.0"),
			 (H[2] * f[0] - H[1] * f[1]) / det);
		near(jsonNumberAt(ran.out, forced ? "qdd_fext.1" : "qdd_nofext.1"),
			 (H[0] * f[1] - H[1] * f[0]) / det);
	}
	double vx = 0.2 - l * c * w, vz = l * s * w;
	near(jsonNumberAt(ran.out, "kinetic_energy"),
		 0.5 * M * 0.04 + 0.5 * m * (vx * vx + vz * vz) + 0.5 * I * w * w);
	near(jsonNumberAt(ran.out, "potential_energy"), (M + m) * g * 0.1 - m * g * l * c);
	near(jsonNumberAt(ran.out, "link_world_pose_R9_p3.9"), 0.3);
	near(jsonNumberAt(ran.out, "link_world_pose_R9_p3.14"), s);
	near(jsonNumberAt(ran.out, "link_spatial_velocity_link_frame_lin3_ang3.10"), w);
	freeRan(&ran);
}

// Numbers may stand in another order than the links.
static void offsets_are_followed(void** state) {
	(void)state;
	Cart cart = good;
	cart.parent = "0, \"q_offset\": 0, \"v_offset\": 0";
	cart.q = "[0.7, 0.3]";
	cart.v = "[1.5, 0.2]";
	writeCart("swapped.json", &cart);
	Ran ran = runTool("dynamics swapped.json");
	assert_int_equal(ran.status, 3); // the cart still takes the first place
	assert_non_null(strstr(ran.err, "links[1].q_offset"));
	freeRan(&ran);
	char* text = readWhole("swapped.json");
	char* at = strstr(text, "\"id\": 0");
	assert_non_null(at);
	char whole[2048];
	snprintf(whole, sizeof(whole), "%.*s\"q_offset\": 1, \"v_offset\": 1%s", (int)(at - text), text, at + 7);
	writeText("swapped.json", whole);
	free(text);
	ran = runTool("dynamics swapped.json");
	assert_int_equal(ran.status, 0);
	near(jsonNumberAt(ran.out, "H_rowmajor.3"), 2.5);
	near(jsonNumberAt(ran.out, "bias_C.0"), 0.5 * 9.81 * 0.4 * sin(0.7));
	freeRan(&ran);
}

// --- refusals ----------------------------------------------------------------------------------------------

static void checkRefused(const char* path, const char* says) {
	char line[64];
	snprintf(line, sizeof(line), "dynamics %s --json out.json", path);
	Ran ran = runTool(line);
	if (ran.status != 3 || strstr(ran.err, says) == NULL) {
		print_error("%s: status %d, says '%s' instead of '%s'\n", path, ran.status, ran.err, says);
	}
	assert_int_equal(ran.status, 3);
	assert_non_null(strstr(ran.err, says));
	assert_string_equal(ran.out, "");
	assert_false(exists("out.json"));
	freeRan(&ran);
}

static void bad_models_are_named_and_refused(void** state) {
	(void)state;
	const struct Bad {
		const char* says;
		Cart cart;
	} bad[] = {
		{ "links[1] has an inertia that is not symmetric and positive",
		  { .inertia = "[0,0,0, 0,0,0, 0,0,0]" } },
		{ "links[1] has an inertia that is not", { .inertia = "[-1,0,0, 0,1,0, 0,0,1]" } },
		{ "links[1] has an inertia that is not", { .inertia = "[1,0.5,0, 0,1,0, 0,0,1]" } },
		{ "links[1] has an inertia that no body can have", { .inertia = "[1,0,0, 0,1,0, 0,0,2.5]" } },
		{ "links[1].inertia_com_rowmajor must be a list of 9", { .inertia = "[1,0,0]" } },
		{ "links[1] has mass 0", { .mass = "0" } },
		{ "links[1] has mass -1", { .mass = "-1" } },
		{ "links[1].mass is missing or no finite number", { .mass = "\"heavy\"" } },
		{ "links[1].axis has no direction", { .axis = "[0, 0, 0]" } },
		{ "links[1].axis[1] is no finite number", { .axis = "[0, NaN, 0]" } },
		{ "links[1].axis must be a list of 3", { .axis = "[1, 0]" } },
		{ "q[1] is no finite number", { .q = "[0.3, NaN]" } },
		{ "q[0] is no finite number", { .q = "[-Infinity, 1]" } },
		{ "q[0] is no finite number", { .q = "[1e999, 1]" } },
		{ "q[1] is no finite number", { .q = "[0.3, null]" } },
		{ "q must be a list of 2", { .q = "[0.3]" } },
		{ "v must be a list of 2", { .v = "[0.3, 1, 2]" } },
		{ "links[1].parent is 1", { .parent = "1" } },
		{ "links[1].parent is 7", { .parent = "7" } },
		{ "links[1].parent is -2", { .parent = "-2" } },
		{ "links[1].parent is 0.5", { .parent = "0.5" } },
		{ "links[1].id is 0", { .parent = "0, \"id\": 0" } },
		{ "links[1].v_offset is 9", { .parent = "0, \"v_offset\": 9" } },
		{ "links[1].placement_R_rowmajor is no rotation", { .placement = "[1,0,0, 0,1,0, 0,0,-1]" } },
		{ "links[1].placement_R_rowmajor is no rotation", { .placement = "[2,0,0, 0,2,0, 0,0,2]" } },
		{ "not finite", { .mass = "1e305", .v = "[1e200, 1e200]" } },
		{ "not JSON", { .extra = ", \"more\"" } },
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
		Cart cart = good;
		const char* const* changed = (const char* const*)&bad[i].cart;
		for (size_t k = 0; k < sizeof(Cart) / sizeof(char*); ++k) {
			if (changed[k] != NULL) {
				((const char**)&cart)[k] = changed[k];
			}
		}
		writeCart("bad.json", &cart);
		checkRefused("bad.json", bad[i].says);
	}
}

static void files_that_are_no_models(void** state) {
	(void)state;
	writeText("empty.json", "");
	checkRefused("empty.json", "not JSON");
	writeText("list.json", "[1, 2]");
	checkRefused("list.json", "gravity");
	writeText("none.json", "{\"gravity\": [0, 0, 0], \"links\": []}");
	checkRefused("none.json", "links must be a list of 1");
	checkRefused("missing.json", "cannot be read");
	// more links than a mass matrix can be printed for
	FILE* file = fopen("huge.json", "w");
	assert_non_null(file);
	fputs("{\"gravity\": [0, 0, 0], \"links\": [", file);
	for (int i = 0; i < 6000; ++i) {
		fprintf(file,
				"%s{\"parent\": %d, \"joint\": \"revolute\", \"axis\": [0, 0, 1], \"mass\": 1, \"com\": [0, "
				"0, 0],"
				"\"placement_R_rowmajor\": [1,0,0,0,1,0,0,0,1], \"placement_p\": [1, 0, 0],"
				"\"inertia_com_rowmajor\": [1,0,0,0,1,0,0,0,1]}",
				i > 0 ? "," : "", i - 1);
	}
	fputs("], \"q\": [0", file);
	for (int i = 1; i < 6000; ++i) {
		fputs(",0", file);
	}
	fputs("], \"v\": [0", file);
	for (int i = 1; i < 6000; ++i) {
		fputs(",0", file);
	}
	fputs("]}", file);
	fclose(file);
	checkRefused("huge.json", "6000 velocity coordinates are too many");
}

// --- reference models --------------------------------------------------------------------------------------

// The largest difference of two lists (or numbers), over the largest number of the first.
static double listDifference(const char* expected, const char* mine, const char* key) {
	const char *a = jsonFind(expected, key), *b = jsonFind(mine, key);
	assert_non_null(a);
	assert_non_null(b);
	double size = 1e-12, most = 0.0;
	bool list = *a == '[';
	a += list ? 1 : 0;
	b += *b == '[' ? 1 : 0;
	for (;;) {
		char *endA, *endB;
		double x = strtod(a, &endA), y = strtod(b, &endB);
		assert_true(endA != a && endB != b);
		size = fmax(size, fabs(x));
		most = fmax(most, fabs(x - y));
		a = jsonSkip(endA);
		b = jsonSkip(endB);
		if (!list || *a != ',') {
			return most / size;
		}
		++a;
		++b;
	}
}

static void reference_models_agree(void** state) {
	(void)state;
	const char* data = getenv("KN_REFERENCE_DATA");
	char folder[512];
	snprintf(folder, sizeof(folder), "%s/abd_reference", data != NULL ? data : ".");
	DIR* list = opendir(folder);
	if (list == NULL) {
		print_message("skipped: KN_REFERENCE_DATA names no folder with models\n");
		return;
	}
	static const struct Field {
		const char* key;
		double bar;
	} fields[] = { { "H_rowmajor", 1e-10 },
				   { "bias_C", 1e-10 },
				   { "qdd_nofext", 1e-9 },
				   { "qdd_fext", 1e-9 },
				   { "link_world_pose_R9_p3", 1e-10 },
				   { "link_spatial_velocity_link_frame_lin3_ang3", 1e-10 },
				   { "kinetic_energy", 1e-10 },
				   { "potential_energy", 1e-10 } };
	int models = 0;
	for (struct dirent* entry = readdir(list); entry != NULL; entry = readdir(list)) {
		if (strstr(entry->d_name, ".json") == NULL) {
			continue;
		}
		char path[800], line[900];
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		snprintf(line, sizeof(line), "dynamics %s", path);
		Ran ran = runTool(line);
		assert_int_equal(ran.status, 0);
		char* expected = readWhole(path);
		for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); ++k) {
			double apart = listDifference(expected, ran.out, fields[k].key);
			if (!(apart <= fields[k].bar)) {
				print_error("%s: %s is %g off\n", entry->d_name, fields[k].key, apart);
			}
			assert_true(apart <= fields[k].bar);
		}
		free(expected);
		freeRan(&ran);
		++models;
	}
	closedir(list);
	print_message("%d models agree\n", models);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cart_with_a_pendulum),           cmocka_unit_test(offsets_are_followed),
		cmocka_unit_test(bad_models_are_named_and_refused), cmocka_unit_test(files_that_are_no_models),
		cmocka_unit_test(reference_models_agree),
	};
	if (enterFolder("cli_dynamics") != 0) {
		return 1;
	}
	Ran ran = runTool("dynamics nothing.json");
	bool able = strstr(ran.err, "cannot read JSON models") == NULL;
	freeRan(&ran);
	if (!able) {
		printf("skipped: this build cannot read JSON models\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
