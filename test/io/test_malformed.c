// Malformed inputs, 500 and more: each is refused with a sentence that names the file and the line, or the byte, in bounded
// memory, and all memory comes back.
#include "support/malformed.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "knuckle/io.h"
#include "support/scratch.h"

#define MEMORY_MOST ((size_t)64 << 20) // bytes that reading one of these small files may hold at once

typedef struct Guard {
	size_t live, most;
} Guard;

static void* guardAllocate(size_t size, void* context) {
	Guard* guard = context;
	if (guard->live + size > MEMORY_MOST) {
		return NULL;
	}
	guard->live += size;
	guard->most = guard->live > guard->most ? guard->live : guard->most;
	return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void guardRelease(void* memory, size_t size, void* context) {
	Guard* guard = context;
	guard->live -= memory != NULL ? size : 0;
	free(memory);
}

static const char* endingOf(const char* name) {
	const char* dot = strrchr(name, '.');
	return dot != NULL ? dot + 1 : "";
}

// KN_OK: it was taken.
static knStatus tryFile(const char* path, const knAllocator* allocator, knError* error) {
	const char* ending = endingOf(path);
	knScene* scene = NULL;
	if (strcmp(ending, "xml") == 0) {
		const knMjcfOptions options = { .allocator = allocator };
		scene = knMjcf_Load(path, &options, NULL, error);
	} else if (strcmp(ending, "urdf") == 0) {
		const knUrdfOptions options = { .allocator = allocator };
		scene = knUrdf_Load(path, &options, NULL, error);
	} else if (strcmp(ending, "json") == 0) {
		knTreeFile file;
		const knStatus status = knTreeFile_Load(path, &file, error);
		knTreeFile_Free(&file);
		return status;
	} else {
		knMeshFile file;
		const knStatus status = knMeshFile_Load(path, allocator, &file, error);
		knMeshFile_Free(&file);
		return status;
	}
	if (scene == NULL) {
		return error->status;
	}
	// a mistake that only the compile can see is one too
	knModel* model = knModel_Create(scene, error);
	knScene_Destroy(scene);
	if (model != NULL) {
		knModel_Release(model);
	}
	return model != NULL ? KN_OK : error->status;
}

static void checkRefused(const char* path, const char* content) {
	Guard guard = { 0 };
	const knAllocator allocator = { guardAllocate, guardRelease, &guard };
	knError error = { .status = KN_OK };
	const knStatus status = tryFile(path, &allocator, &error);
	char line[1024];
	knError_Format(&error, line, sizeof line);
	if (status == KN_OK) {
		fail_msg("%s was taken:\n%.1500s", path, content);
	}
	if (status == KN_NO_MEMORY) {
		fail_msg("%s asked for too much memory", path);
	}
	const bool placed = error.line > 0 || strstr(error.message, "byte") != NULL || error.status == KN_IO;
	if (strstr(error.file, path) == NULL || !placed || error.message[0] == '\0') {
		fail_msg("%s: no place in '%s'; the file:\n%.1500s", path, line, content);
	}
	assert_int_equal(guard.live, 0);
}

static void test_made_by_rule(void** state) {
	(void)state;
	MalformedList list = malformedMake();
	assert_true(list.count >= 500);
	for (int i = 0; i < list.count; ++i) {
		const Malformed* item = &list.items[i];
		FILE* file = fopen(item->name, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(item->bytes, 1, item->size, file), item->size);
		assert_int_equal(fclose(file), 0);
		checkRefused(item->name, item->bytes);
		remove(item->name);
	}
	malformedFree(&list);
}

// The good texts are good, so that what is refused above is refused for its mistake.
static void test_the_good_ones_are_taken(void** state) {
	(void)state;
	knError error = { .status = KN_OK };
	knScene* scene =
		knMjcf_LoadMemory(malformedGoodMjcf, strlen(malformedGoodMjcf), "good.xml", NULL, NULL, &error);
	if (scene == NULL) {
		fail_msg("%d: %s", error.line, error.message);
	}
	knScene_Destroy(scene);
	scene = knUrdf_LoadMemory(malformedGoodUrdf, strlen(malformedGoodUrdf), "good.urdf", NULL, NULL, &error);
	if (scene == NULL) {
		fail_msg("%d: %s", error.line, error.message);
	}
	knScene_Destroy(scene);
}

static void test_made_by_hand(void** state) {
	(void)state;
	char folder[1024], path[2048];
	snprintf(folder, sizeof folder, "%s/test/io/corpus", getenv("KN_SOURCE_DIR"));
	DIR* dir = opendir(folder);
	assert_non_null(dir);
	int count = 0;
	for (struct dirent* entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
		// files whose names begin with an underscore are parts of others
		if (entry->d_name[0] == '.' || entry->d_name[0] == '_') {
			continue;
		}
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		knError error = { .status = KN_OK };
		if (tryFile(path, NULL, &error) == KN_OK) {
			fail_msg("%s was taken", entry->d_name);
		}
		// a mesh or an included file may be the one that is wrong
		assert_non_null(strstr(error.file, "corpus/"));
		assert_true(error.message[0] != '\0');
		count += 1;
	}
	closedir(dir);
	assert_true(count >= 30);
}

// What a file names must be a file: a pipe would block, a device never end, a folder is none.
static void test_what_is_no_file(void** state) {
	(void)state;
	static const char* const names[] = { "pipe", "zero", "folder" };
	static const char* const texts[] = {
		"<mujoco>\n<include file='%s'/></mujoco>",
		"<mujoco>\n<asset><model name='m' file='%s'/></asset><worldbody><attach model='m' prefix='p'/>"
		"</worldbody></mujoco>",
		"<mujoco>\n<asset><mesh name='m' file='%s.stl'/></asset><worldbody><geom type='mesh' mesh='m'/>"
		"</worldbody></mujoco>",
		"<mujoco>\n<asset><mesh name='m' file='%s.obj'/></asset><worldbody><geom type='mesh' mesh='m'/>"
		"</worldbody></mujoco>",
		"<mujoco>\n<asset><hfield name='m' file='%s' size='1 1 1 1'/></asset><worldbody>"
		"<geom type='hfield' hfield='m'/></worldbody></mujoco>",
		"<robot name='r'>\n<link name='a'><collision><geometry><mesh filename='%s.stl'/></geometry>"
		"</collision></link></robot>",
	};
	static const char* const endings[] = { "", ".stl", ".obj" };
	for (int e = 0; e < 3; ++e) {
		char path[64];
		snprintf(path, sizeof path, "pipe%s", endings[e]);
		assert_int_equal(mkfifo(path, 0600), 0);
		snprintf(path, sizeof path, "zero%s", endings[e]);
		assert_int_equal(symlink("/dev/zero", path), 0);
		snprintf(path, sizeof path, "folder%s", endings[e]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	for (size_t t = 0; t < sizeof texts / sizeof *texts; ++t) {
		for (int n = 0; n < 3; ++n) {
			char text[512];
			const char* path = texts[t][1] == 'm' ? "names.xml" : "names.urdf";
			snprintf(text, sizeof text, texts[t], names[n]);
			FILE* file = fopen(path, "wb");
			assert_non_null(file);
			fputs(text, file);
			fclose(file);
			checkRefused(path, text);
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_good_ones_are_taken),
		cmocka_unit_test(test_made_by_rule),
		cmocka_unit_test(test_made_by_hand),
		cmocka_unit_test(test_what_is_no_file),
	};
	return cmocka_run_group_tests(tests, enterScratch, leaveScratch);
}
