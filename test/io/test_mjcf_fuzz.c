// Damaged files: whatever happens to the bytes of a model, the reader either refuses it with a place and a sentence or
// gives a scene that can be written and read again; and no memory is lost. The files of other people's robots that
// KN_REFERENCE_DATA names are read too.
#include "mjcf_test.h"

#include <dirent.h>

static const char* const models[] = { "models/pendulum.xml", "models/stack.xml", "models/four_bar.xml",
									  "models/arm.xml" };

// One of everything that the models do not show.
static const char rich[] =
	"<mujoco><compiler angle='radian' eulerseq='XYZ' inertiafromgeom='auto'/><option timestep='0.01' "
	"gravity='0 0 -9'/>"
	"<default><geom friction='0.5'/><default class='c'><joint damping='1'/></default></default>"
	"<worldbody><geom type='plane' size='1 1 1'/><body name='a' xyaxes='1 0 0 0 1 0'><freejoint/>"
	"<geom name='p' size='0.1' contype='2' conaffinity='3'/><geom name='q' type='box' size='0.1 0.2 0.3' "
	"pos='1 0 0'/>"
	"<body name='s' pos='0 0 1'><joint name='x' type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0' "
	"range='-1 1'/>"
	"<joint axis='0 0 1' ref='0.2'/><geom size='0.1' mass='2'/></body></body>"
	"<body name='u' axisangle='0 1 0 1' childclass='c'><joint name='h' axis='1 0 0'/><joint axis='0 1 0'/>"
	"<inertial pos='0 0 0' mass='1' fullinertia='1 1 1 0 0 0'/></body>"
	"<body name='k' mocap='true'><geom size='0.2'/></body></worldbody>"
	"<contact><exclude body1='a' body2='u'/></contact>"
	"<equality><weld name='w' body1='a' body2='u' relpose='1 0 0 1 0 0 0'/></equality>"
	"<keyframe><key name='one' qpos='0 0 1 1 0 0 0 0.1 0.2 0.3 0.4 0.5' qvel='0 0 0 0 0 1 0 0 1 1 "
	"0'/></keyframe>"
	"<custom><numeric name='knuckle.kinematic.k' data='0 0 1 0 0 0'/><text name='knuckle.stepper' "
	"data='velocity'/>"
	"<numeric name='knuckle.set.sweeps' data='20'/><numeric name='knuckle.restitution' data='0.5'/>"
	"<text name='knuckle.filter.q' data='0x3 0xff 1'/><text name='knuckle.compound.pq' data=\"parts='p q'\"/>"
	"<text name='knuckle.loop.l' data=\"ball parent='a' child='k' anchor='1 2 3' cone='1 1' motor1='velocity "
	"1 2'\"/>"
	"<text name='knuckle.order.bodies' data='3 2 1 0'/></custom></mujoco>";

static const char* const words[] = { "nan", "1e308", "-1",       "0",       "'",        "\"",       "<",
									 "/>",  ">",     "body",     "<geom/>", "<joint/>", "knuckle.", "&amp;",
									 "&x;", "\xff",  "\xc3\xa4", " ",       "1 1 1",    "world",    "</body>",
									 "=",   "--",    "]]>",      "<!--",    "0x1",      "''" };
enum { WORDS = sizeof words / sizeof *words, LARGEST = 1 << 16 };

// One change: a byte, a word put in, a piece cut out, doubled or moved, or the end lost.
static size_t damage(knTestRandom* random, char* text, size_t size) {
	const size_t at = (size_t)testInt(random, (int)size + 1);
	const size_t left = size - at;
	const size_t piece = left > 0 ? (size_t)testInt(random, (int)(left < 40 ? left : 40)) : 0;
	const char* word = words[testInt(random, WORDS)];
	switch (testInt(random, 6)) {
	case 0:
		if (left > 0) {
			text[at] = (char)testInt(random, 256);
		}
		return size;
	case 1:
		memmove(text + at, text + at + piece, left - piece);
		return size - piece;
	case 2:
		if (size + piece < LARGEST) {
			memmove(text + at + piece, text + at, left);
			return size + piece;
		}
		return size;
	case 3:
		return testInt(random, 8) == 0 ? at : size;
	default: // a word in place of a piece
		if (size - piece + strlen(word) < LARGEST) {
			memmove(text + at + strlen(word), text + at + piece, left - piece);
			memcpy(text + at, word, strlen(word));
			return size - piece + strlen(word);
		}
		return size;
	}
}

static void checkRefusal(const knError* error) {
	assert_true(error->status == KN_BAD_DATA || error->status == KN_UNSUPPORTED || error->status == KN_LIMIT);
	assert_true(error->line >= 1 && error->column >= 1);
	assert_true(strlen(error->message) > 5);
	assert_string_equal(error->file, "damaged.xml");
}

// A scene that was read can be written and read again, if its names are ones that XML can carry.
static void checkScene(const knScene* scene) {
	knError error = { .status = KN_OK };
	const knStatus status = knMjcf_Save(scene, "damaged_out.xml", &error);
	if (status != KN_OK) {
		assert_int_equal(status, KN_UNSUPPORTED);
		return;
	}
	knScene* back = knMjcf_Load("damaged_out.xml", NULL, NULL, &error);
	if (back == NULL) {
		char line[1024];
		fail_msg("%s", knError_Format(&error, line, sizeof line));
	}
	assert_int_equal(knScene_BodySlots(back), knScene_BodySlots(scene));
	assert_int_equal(knScene_JointSlots(back), knScene_JointSlots(scene));
	knScene_Destroy(back);
	remove("damaged_out.xml");
}

static void fuzz(const char* original, size_t size, uint64_t seed, int rounds) {
	static char text[LARGEST];
	knTestRandom random = { seed };
	knTestMemory memory;
	const knAllocator allocator = testAllocator(&memory);
	knMjcfOptions options = { .keyframe = NULL, .allocator = &allocator };
	int loaded = 0, refused = 0;
	for (int i = 0; i < rounds; ++i) {
		memcpy(text, original, size);
		size_t length = size;
		for (int changes = 1 + testInt(&random, 4); changes > 0; --changes) {
			length = damage(&random, text, length);
		}
		knError error = { .status = KN_OK };
		knLoadReport report;
		options.lenient = i % 2 == 0;
		knScene* scene = knMjcf_LoadMemory(text, length, "damaged.xml", &options, &report, &error);
		if (scene == NULL) {
			checkRefusal(&error);
			++refused;
		} else {
			if (loaded % 8 == 0) {
				checkScene(scene);
			}
			knModel* model = knModel_Create(scene, &error);
			knModel_Release(model);
			++loaded;
		}
		knScene_Destroy(scene);
		knLoadReport_Free(&report);
		assert_int_equal(memory.live, 0);
	}
	// both happen, so that both are tested
	assert_true(loaded > rounds / 50 && refused > rounds / 50);
}

static void test_damaged_models(void** state) {
	(void)state;
	static char text[LARGEST];
	for (int i = 0; i < 4; ++i) {
		char path[512];
		FILE* file = fopen(repositoryPath(models[i], path, sizeof path), "rb");
		assert_non_null(file);
		const size_t size = fread(text, 1, sizeof text, file);
		fclose(file);
		fuzz(text, size, 100 + (uint64_t)i, 1500);
	}
}

static void test_damaged_rich_model(void** state) {
	(void)state;
	knScene* scene = loadKey(rich, "one", NULL);
	checkScene(scene);
	knScene_Destroy(scene);
	fuzz(rich, sizeof rich - 1, 7, 3000);
}

// Robots as other people write them: read, or refused with a reason that names what is missing.
static void test_reference_models(void** state) {
	(void)state;
	const char* data = getenv("KN_REFERENCE_DATA");
	char path[1024], folder[512];
	snprintf(folder, sizeof folder, "%.400s/models", data != NULL ? data : "");
	DIR* robots = data != NULL ? opendir(folder) : NULL;
	if (robots == NULL) {
		print_message("skipped: KN_REFERENCE_DATA names no folder with models\n");
		skip();
	}
	int count = 0;
	for (const struct dirent* robot; (robot = readdir(robots)) != NULL;) {
		char inside[900];
		snprintf(inside, sizeof inside, "%s/%s", folder, robot->d_name);
		DIR* files = robot->d_name[0] != '.' ? opendir(inside) : NULL;
		for (const struct dirent* file; files != NULL && (file = readdir(files)) != NULL;) {
			const size_t length = strlen(file->d_name);
			if (length < 4 || strcmp(file->d_name + length - 4, ".xml") != 0) {
				continue;
			}
			knError error = { .status = KN_OK };
			knLoadReport report;
			snprintf(path, sizeof path, "%.700s/%.200s", inside, file->d_name);
			knScene* scene = knMjcf_Load(path, NULL, &report, &error);
			assert_true(scene != NULL || error.status == KN_UNSUPPORTED);
			knScene_Destroy(scene);
			knLoadReport_Free(&report);
			++count;
		}
		if (files != NULL) {
			closedir(files);
		}
	}
	closedir(robots);
	assert_true(count > 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged_models),
		cmocka_unit_test(test_damaged_rich_model),
		cmocka_unit_test(test_reference_models),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
