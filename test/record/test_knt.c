// .knt recordings, taken apart byte by byte as docs/formats.md says, without the library's reader.
#include "record_test.h"

#include "core/hash.h"

static uint32_t get32(const uint8_t* at) {
	uint32_t value;
	memcpy(&value, at, sizeof(value));
	return value;
}

static uint64_t get64(const uint8_t* at) {
	uint64_t value;
	memcpy(&value, at, sizeof(value));
	return value;
}

// Checks the chunk's head and sum, and its type; returns its payload and moves on.
static const uint8_t* nextChunk(const uint8_t** at, const char* type, uint64_t size) {
	const uint8_t* head = *at;
	assert_memory_equal(head, type, 4);
	assert_int_equal(get32(head + 4), 0);
	if (size != 0) {
		assert_int_equal(get64(head + 8), size);
	}
	size = get64(head + 8);
	uint64_t sum = knHash_Bytes(knHash_Bytes(KN_HASH_SEED, head, 16), head + 24, size);
	assert_true(get64(head + 16) == sum);
	*at = head + 24 + size;
	return head + 24;
}

static void assertText(const uint8_t** at, const char* text) {
	assert_int_equal(get32(*at), strlen(text));
	assert_memory_equal(*at + 4, text, strlen(text));
	*at += 4 + strlen(text);
}

static void assertCast(const uint8_t* at, const knSceneSnapshot* cast) {
	assert_int_equal(get32(at), cast->bodyCount);
	assert_int_equal(get32(at + 4), cast->shapeCount);
	at += 8;
	assertText(&at, cast->scene);
	assertText(&at, cast->stepper);
	for (int b = 0; b < cast->bodyCount; ++b) {
		const knTrajectoryBody* body = &cast->bodies[b];
		assert_int_equal(get32(at), body->kind);
		assert_int_equal(get32(at + 4), body->color);
		assert_memory_equal(at + 8, &body->mass, 8);
		assert_int_equal(get32(at + 16), body->firstShape);
		assert_int_equal(get32(at + 20), body->shapeCount);
		at += 24;
		assertText(&at, body->name);
	}
	for (int s = 0; s < cast->shapeCount; ++s) {
		const knTrajectoryShape* shape = &cast->shapes[s];
		assert_int_equal(get32(at), shape->kind);
		assert_int_equal(get32(at + 4), shape->color);
		assert_memory_equal(at + 8, &shape->size, 24);
		assert_memory_equal(at + 32, &shape->frame, 56);
		assert_int_equal((int32_t)get32(at + 88), shape->mesh);
		at += 92;
		assertText(&at, shape->name);
	}
}

static void assertMesh(const uint8_t* at, const knTrajectoryMesh* mesh) {
	size_t vertexBytes = 12 * (size_t)mesh->vertexCount;
	assert_int_equal(get32(at), mesh->vertexCount);
	assert_int_equal(get32(at + 4), mesh->triangleCount);
	assert_memory_equal(at + 8, mesh->vertices, vertexBytes);
	assert_memory_equal(at + 8 + vertexBytes, mesh->triangles, 12 * (size_t)mesh->triangleCount);
}

static void bytesAreAsDocumented(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.knt");
	knSceneSnapshot cast = testCast("last", &allocator);
	testRecord(&knKntWriter, path.text, &cast, 5, 11, &allocator);

	knTestFile file = testRead(path.text);
	assert_memory_equal(file.bytes, "\x8bKNT\r\n\x1a\n\x03\0\0\0\0\0\0\0", 16);
	const uint8_t* at = file.bytes + 16;
	assertMesh(nextChunk(&at, "MESH", 8 + 12 * (4 + 4)), &testMeshes[0]);
	assertMesh(nextChunk(&at, "MESH", 8 + 12 * (3 + 1)), &testMeshes[1]);
	assertCast(nextChunk(&at, "META", 0), &cast);
	knTestRandom random = { 11 };
	for (int f = 0; f < 5; ++f) {
		knBodyState bodies[TEST_BODIES];
		testStates(&random, bodies, TEST_BODIES);
		double time = 0.1 * f;
		const uint8_t* payload = nextChunk(&at, "FRAM", 16 + 104 * TEST_BODIES);
		assert_memory_equal(payload, &time, 8);
		assert_int_equal(get64(payload + 8), f);
		assert_memory_equal(payload + 16, bodies, sizeof(bodies));
	}
	assert_int_equal(get64(nextChunk(&at, "END ", 8)), 5);
	assert_int_equal(at - file.bytes, file.size);
	free(file.bytes);
	knSceneSnapshot_Free(&cast);
	remove(path.text);
}

// A cast that changed is written before the first frame that needs it; one that only has a new number is not.
static void changedCastIsWrittenOnce(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.knt");
	knSceneSnapshot first = testCast("last", &allocator), same = testCast("last", &allocator),
					other = testCast("another", &allocator);
	// the second mesh comes into use with the cast that changed, and stays known
	first.meshCount = same.meshCount = 1;
	for (int s = 0; s < TEST_SHAPES; ++s) {
		first.shapes[s].mesh = same.shapes[s].mesh = first.shapes[s].mesh > 0 ? 0 : first.shapes[s].mesh;
	}
	const knSceneSnapshot* casts[] = { &first, &first, &same, &other, &other, &first };
	const int numbers[] = { 0, 0, 1, 2, 2, 3 };
	void* writer = knKntWriter.open(path.text, KN_OUTPUT_IN_PLACE, &first, &allocator, NULL);
	assert_non_null(writer);
	knTestRandom random = { 1 };
	knBodyState bodies[TEST_BODIES];
	testStates(&random, bodies, TEST_BODIES);
	for (int f = 0; f < 6; ++f) {
		knCastFrame frame = { casts[f], numbers[f], 0.0, 0, bodies, NULL };
		assert_ok(knKntWriter.write(writer, &frame, NULL));
	}
	assert_ok(knKntWriter.close(writer, NULL));

	knTestFile file = testRead(path.text);
	const uint8_t* at = file.bytes + 16;
	assertMesh(nextChunk(&at, "MESH", 0), &testMeshes[0]);
	assertCast(nextChunk(&at, "META", 0), &first);
	nextChunk(&at, "FRAM", 0);
	nextChunk(&at, "FRAM", 0);
	nextChunk(&at, "FRAM", 0);
	assertMesh(nextChunk(&at, "MESH", 0), &testMeshes[1]);
	assertCast(nextChunk(&at, "META", 0), &other);
	nextChunk(&at, "FRAM", 0);
	nextChunk(&at, "FRAM", 0);
	assertCast(nextChunk(&at, "META", 0), &first);
	nextChunk(&at, "FRAM", 0);
	assert_int_equal(get64(nextChunk(&at, "END ", 8)), 6);
	assert_int_equal(at - file.bytes, file.size);
	free(file.bytes);
	knSceneSnapshot_Free(&first);
	knSceneSnapshot_Free(&same);
	knSceneSnapshot_Free(&other);
	remove(path.text);
}

// Whatever became of the process: a frame that was written is in the file.
static void framesAreInTheFileAtOnce(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.knt");
	knSceneSnapshot cast = testCast("last", &allocator);
	void* writer = knKntWriter.open(path.text, KN_OUTPUT_IN_PLACE, &cast, &allocator, NULL);
	assert_non_null(writer);
	knTestFile begun = testRead(path.text);
	knTestRandom random = { 3 };
	knBodyState bodies[TEST_BODIES];
	for (int f = 0; f < 3; ++f) {
		testStates(&random, bodies, TEST_BODIES);
		knCastFrame frame = { &cast, 0, 0.0, 0, bodies, NULL };
		assert_ok(knKntWriter.write(writer, &frame, NULL));
		knTestFile file = testRead(path.text);
		assert_int_equal(file.size, begun.size + (size_t)(f + 1) * (24 + 16 + 104 * TEST_BODIES));
		assert_memory_equal(file.bytes + file.size - sizeof(bodies), bodies, sizeof(bodies));
		free(file.bytes);
	}
	knKntWriter.abandon(writer);
	assert_true(testExists(path.text));
	free(begun.bytes);
	knSceneSnapshot_Free(&cast);
	remove(path.text);
}

static void fullDiskIsReported(void** state) {
	(void)state;
	if (!testExists("/dev/full")) {
		skip();
	}
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knTestPath path = testPath("a.knt");
	knSceneSnapshot cast = testCast("last", &allocator);
	assert_int_equal(symlink("/dev/full", path.text), 0);
	knError error = { 0 };
	assert_null(knKntWriter.open(path.text, KN_OUTPUT_IN_PLACE, &cast, &allocator, &error));
	assert_int_equal(error.status, KN_IO);
	assert_string_equal(error.file, path.text);
	assert_non_null(strstr(error.message, strerror(ENOSPC)));
	knSceneSnapshot_Free(&cast);
	assert_int_equal(memory.live, 0);
	remove(path.text);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytesAreAsDocumented),
		cmocka_unit_test(changedCastIsWrittenOnce),
		cmocka_unit_test(framesAreInTheFileAtOnce),
		cmocka_unit_test(fullDiskIsReported),
	};
	return cmocka_run_group_tests(tests, testFolderMake, testFolderRemove);
}
