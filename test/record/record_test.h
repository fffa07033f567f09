// For the tests of recorders: a folder of their own that is emptied afterwards, whole files as bytes, and a
// small cast made by hand with every kind of body and shape and with names that CSV must quote.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/kn_test.h"

#include "record/writer.h"

typedef struct knTestPath {
	char text[256];
} knTestPath;

static char testFolder[128];

// Group set-up and tear-down. In memory where that is possible: thousands of small files are slow on a disk.
static inline int testFolderMake(void** state) {
	(void)state;
	const char* root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
	snprintf(testFolder, sizeof(testFolder), "%.100s/knuckle-XXXXXX", root != NULL ? root : "/tmp");
	return mkdtemp(testFolder) != NULL ? 0 : -1;
}

static inline knTestPath testPath(const char* name) {
	knTestPath path;
	snprintf(path.text, sizeof(path.text), "%.127s/%.100s", testFolder, name);
	return path;
}

// Entries of the folder, which the tests keep empty.
static inline int testFolderCount(void) {
	int count = 0;
	DIR* folder = opendir(testFolder);
	for (struct dirent* entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
		count += entry->d_name[0] != '.';
	}
	closedir(folder);
	return count;
}

static inline int testFolderRemove(void** state) {
	(void)state;
	DIR* folder = opendir(testFolder);
	for (struct dirent* entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
		if (entry->d_name[0] != '.') {
			remove(testPath(entry->d_name).text);
		}
	}
	closedir(folder);
	return rmdir(testFolder);
}

static inline bool testExists(const char* path) {
	struct stat info;
	return lstat(path, &info) == 0;
}

typedef struct knTestFile {
	uint8_t* bytes; // and a zero behind them
	size_t size;
} knTestFile;

static inline knTestFile testRead(const char* path) {
	knTestFile file = { NULL, 0 };
	FILE* input = fopen(path, "rb");
	assert_non_null(input);
	fseek(input, 0, SEEK_END);
	file.size = (size_t)ftell(input);
	rewind(input);
	file.bytes = calloc(1, file.size + 1);
	assert_int_equal(fread(file.bytes, 1, file.size, input), file.size);
	fclose(input);
	return file;
}

static inline void testWrite(const char* path, const void* bytes, size_t size) {
	FILE* output = fopen(path, "wb");
	assert_non_null(output);
	assert_int_equal(fwrite(bytes, 1, size, output), size);
	assert_int_equal(fclose(output), 0);
}

static inline void assert_same_bytes(knTestFile a, knTestFile b) {
	assert_int_equal(a.size, b.size);
	assert_memory_equal(a.bytes, b.bytes, a.size);
}

// --- a cast by hand --------------------------------------------------------------------------------------

#define TEST_BODIES 3
#define TEST_SHAPES 11
#define TEST_MESHES 2

static const float testVertices[] = {
	0.0f, 0.0f, 0.0f, 1.5f, 0.0f, 0.0f, 0.0f, 1.25f, 0.0f, 0.0f, 0.0f, 1.0f
};
static const knTriangle testTriangles[] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
// a tetrahedron, and one of its faces
static const knTrajectoryMesh testMeshes[TEST_MESHES] = { { 4, testVertices, 4, testTriangles },
														  { 3, testVertices, 1, testTriangles } };

static inline const char* testText(knSceneSnapshot* cast, const char* text) {
	return knSceneSnapshot_AddText(cast, text, strlen(text));
}

// A plane of the world; a ball; a fixed body with a box and a capsule; a moving body with all other kinds, two of
// which share a mesh.
static inline knSceneSnapshot testCast(const char* lastBody, const knAllocator* allocator) {
	knSceneSnapshot cast;
	assert_true(knSceneSnapshot_Create(&cast, TEST_BODIES, TEST_SHAPES, 512, allocator));
	cast.scene = testText(&cast, "a scene, \"quoted\"");
	cast.stepper = testText(&cast, "velocity");
	cast.meshCount = TEST_MESHES;
	cast.meshes = testMeshes;
	const char* names[TEST_BODIES] = { "ball", "comma, \"quote\"\r\nand line", lastBody };
	const int firstShape[TEST_BODIES + 1] = { 1, 2, 4, TEST_SHAPES };
	for (int b = 0; b < TEST_BODIES; ++b) {
		cast.bodies[b].name = testText(&cast, names[b]);
		cast.bodies[b].kind = b == 0 ? KN_BODY_DYNAMIC : (b == 1 ? KN_BODY_FIXED : KN_BODY_KINEMATIC);
		cast.bodies[b].color = 0x102030u + (uint32_t)b;
		cast.bodies[b].mass = b == 0 ? 1.0 / 3.0 : 0.0;
		cast.bodies[b].firstShape = firstShape[b];
		cast.bodies[b].shapeCount = firstShape[b + 1] - firstShape[b];
	}
	const knGeomKind kinds[TEST_SHAPES] = {
		KN_GEOM_PLANE,    KN_GEOM_SPHERE,    KN_GEOM_BOX,  KN_GEOM_CAPSULE, KN_GEOM_BOX,          KN_GEOM_BOX,
		KN_GEOM_CYLINDER, KN_GEOM_ELLIPSOID, KN_GEOM_HULL, KN_GEOM_MESH,    KN_GEOM_HEIGHT_FIELD,
	};
	const int meshes[TEST_SHAPES] = { -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 1 };
	const char* shapeNames[TEST_SHAPES] = {
		"ground", "", "plate", "rod", "", "", "", "", "rock", "", "hill"
	};
	knTestRandom random = { 5 };
	for (int s = 0; s < TEST_SHAPES; ++s) {
		cast.shapes[s].kind = kinds[s];
		bool sized = kinds[s] != KN_GEOM_PLANE && meshes[s] < 0;
		cast.shapes[s].size = sized ? knV3(0.1 * s, 0.2, 1.0 / 3.0) : knZero3();
		cast.shapes[s].mesh = meshes[s];
		cast.shapes[s].frame = testFrame(&random, 1.0);
		cast.shapes[s].color = (uint32_t)s;
		cast.shapes[s].name = testText(&cast, shapeNames[s]);
	}
	return cast;
}

static inline void testStates(knTestRandom* random, knBodyState* bodies, int count) {
	for (int b = 0; b < count; ++b) {
		bodies[b].position = testVec3(random, 1e3);
		bodies[b].rotation = testQuat(random);
		bodies[b].velocity = testVec3(random, 1e-3);
		bodies[b].angularVelocity = testVec3(random, 1.0);
	}
}

// Writes `frameCount` frames of the cast with random states; the same for the same seed, whatever the format.
static inline void testRecord(const knWriterOps* ops, const char* path, const knSceneSnapshot* cast,
							  int frameCount, uint64_t seed, const knAllocator* allocator) {
	knError error = { 0 };
	void* writer = ops->open(path, ops->live, cast, allocator, &error);
	if (writer == NULL) {
		fail_msg("%s: %s", path, error.message);
	}
	knTestRandom random = { seed };
	knBodyState bodies[TEST_BODIES];
	for (int f = 0; f < frameCount; ++f) {
		testStates(&random, bodies, cast->bodyCount);
		knCastFrame frame = { cast, 0, 0.1 * f, (uint64_t)f, bodies, NULL };
		assert_ok(ops->write(writer, &frame, &error));
	}
	assert_ok(ops->close(writer, &error));
}
