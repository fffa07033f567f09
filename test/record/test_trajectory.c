// Reading .knt files back: sound ones bit by bit; cut, flipped and hostile ones without a crash, a leak or a
// large allocation, and with every frame before the damage intact.
#include "record_test.h"

#include "record/knt.h"

#define FRAMES 4
#define FRAME_CHUNK (KN_KNT_CHUNK_SIZE + 16 + KN_KNT_BODY_SIZE * TEST_BODIES)
#define END_CHUNK (KN_KNT_CHUNK_SIZE + 8)

// --- a sound file and what it holds ----------------------------------------------------------------------

static void assertCast(const knTrajectory* trajectory, int frame, const knSceneSnapshot* cast) {
	assert_int_equal(knTrajectory_BodyCount(trajectory, frame), cast->bodyCount);
	for (int b = 0; b < cast->bodyCount; ++b) {
		knTrajectoryBody body = knTrajectory_Body(trajectory, frame, b);
		assert_string_equal(body.name, cast->bodies[b].name);
		assert_int_equal(body.kind, cast->bodies[b].kind);
		assert_int_equal(body.color, cast->bodies[b].color);
		assert_true(body.mass == cast->bodies[b].mass);
		assert_int_equal(body.firstShape, cast->bodies[b].firstShape);
		assert_int_equal(body.shapeCount, cast->bodies[b].shapeCount);
	}
	for (int s = 0; s < cast->shapeCount; ++s) {
		knTrajectoryShape shape = knTrajectory_Shape(trajectory, frame, s);
		assert_int_equal(shape.kind, cast->shapes[s].kind);
		assert_memory_equal(&shape.size, &cast->shapes[s].size, sizeof(knVec3));
		assert_memory_equal(&shape.frame, &cast->shapes[s].frame, sizeof(knFrame));
		assert_int_equal(shape.mesh, cast->shapes[s].mesh);
		assert_int_equal(shape.color, cast->shapes[s].color);
		assert_string_equal(shape.name, cast->shapes[s].name);
	}
}

static void assertMeshes(const knTrajectory* trajectory) {
	assert_int_equal(knTrajectory_MeshCount(trajectory), TEST_MESHES);
	for (int m = 0; m < TEST_MESHES; ++m) {
		knTrajectoryMesh mesh = knTrajectory_Mesh(trajectory, m);
		assert_int_equal(mesh.vertexCount, testMeshes[m].vertexCount);
		assert_int_equal(mesh.triangleCount, testMeshes[m].triangleCount);
		assert_memory_equal(mesh.vertices, testMeshes[m].vertices, 12 * (size_t)mesh.vertexCount);
		assert_memory_equal(mesh.triangles, testMeshes[m].triangles, 12 * (size_t)mesh.triangleCount);
	}
}

// The first `count` frames are those of testRecord with this seed.
static void assertFrames(const knTrajectory* trajectory, int count, uint64_t seed) {
	assert_int_equal(knTrajectory_FrameCount(trajectory), count);
	knTestRandom random = { seed };
	for (int f = 0; f < count; ++f) {
		knBodyState bodies[TEST_BODIES];
		testStates(&random, bodies, TEST_BODIES);
		assert_true(knTrajectory_Time(trajectory, f) == 0.1 * f);
		assert_memory_equal(knTrajectory_Bodies(trajectory, f), bodies, sizeof(bodies));
	}
}

static knTestFile soundFile(const char* name, int frames, uint64_t seed) {
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath(name);
	knSceneSnapshot cast = testCast("last", &allocator);
	testRecord(&knKntWriter, path.text, &cast, frames, seed, &allocator);
	knSceneSnapshot_Free(&cast);
	return testRead(path.text);
}

static void soundFileReadsBack(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knTestPath path = testPath("a.knt");
	knTestFile file = soundFile("a.knt", 30, 21);
	knError error = { 0 };
	knTrajectory* trajectory = knTrajectory_Open(path.text, &allocator, &error);
	assert_non_null(trajectory);
	assert_false(knTrajectory_Damaged(trajectory, &error));
	assert_string_equal(knTrajectory_SceneName(trajectory), "a scene, \"quoted\"");
	assert_string_equal(knTrajectory_StepperName(trajectory), "velocity");
	assertFrames(trajectory, 30, 21);
	assertMeshes(trajectory);
	knSceneSnapshot cast = testCast("last", &allocator);
	assertCast(trajectory, 0, &cast);
	assertCast(trajectory, 29, &cast);
	knSceneSnapshot_Free(&cast);
	knTrajectory_Close(trajectory);
	assert_int_equal(memory.live, 0);
	free(file.bytes);
	remove(path.text);
}

static void recordingWithoutFramesOrBodiesReadsBack(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.knt");
	for (int frames = 0; frames < 3; ++frames) {
		knSceneSnapshot cast;
		assert_true(knSceneSnapshot_Create(&cast, 0, 0, 2, &allocator));
		cast.scene = testText(&cast, "");
		cast.stepper = testText(&cast, "");
		testRecord(&knKntWriter, path.text, &cast, frames, 1, &allocator);
		knTrajectory* trajectory = knTrajectory_Open(path.text, NULL, NULL);
		assert_non_null(trajectory);
		assert_false(knTrajectory_Damaged(trajectory, NULL));
		assert_int_equal(knTrajectory_FrameCount(trajectory), frames);
		assert_string_equal(knTrajectory_SceneName(trajectory), "");
		knTrajectory_Close(trajectory);
		knSceneSnapshot_Free(&cast);
	}
	remove(path.text);
}

// Bodies come and go: each frame has the cast that was written with it.
static void changedCastReadsBack(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.knt"), copy = testPath("b.knt");
	knSceneSnapshot first = testCast("last", &allocator), other = testCast("another", &allocator), none;
	assert_true(knSceneSnapshot_Create(&none, 0, 0, 2, &allocator));
	none.scene = none.stepper = testText(&none, "");
	const knSceneSnapshot* casts[] = { &first, &other, &none, &first };
	void* writer = knKntWriter.open(path.text, KN_OUTPUT_IN_PLACE, &first, &allocator, NULL);
	assert_non_null(writer);
	knTestRandom random = { 2 };
	knBodyState bodies[4][TEST_BODIES];
	for (int f = 0; f < 4; ++f) {
		testStates(&random, bodies[f], TEST_BODIES);
		knCastFrame frame = { casts[f], f, 0.0, 0, bodies[f], NULL };
		assert_ok(knKntWriter.write(writer, &frame, NULL));
	}
	assert_ok(knKntWriter.close(writer, NULL));

	knTrajectory* trajectory = knTrajectory_Open(path.text, NULL, NULL);
	assert_non_null(trajectory);
	assert_false(knTrajectory_Damaged(trajectory, NULL));
	assert_int_equal(knTrajectory_FrameCount(trajectory), 4);
	for (int f = 0; f < 4; ++f) {
		assertCast(trajectory, f, casts[f]);
		if (casts[f]->bodyCount > 0) {
			assert_memory_equal(knTrajectory_Bodies(trajectory, f), bodies[f], sizeof(bodies[f]));
		}
	}
	assert_ok(knTrajectory_Write(trajectory, copy.text, NULL));
	knTestFile a = testRead(path.text), b = testRead(copy.text);
	assert_same_bytes(a, b);
	free(a.bytes);
	free(b.bytes);
	knTrajectory_Close(trajectory);
	knSceneSnapshot_Free(&first);
	knSceneSnapshot_Free(&other);
	knSceneSnapshot_Free(&none);
	remove(path.text);
	remove(copy.text);
}

// --- damage ----------------------------------------------------------------------------------------------

// Opens `bytes`, which are sound up to (not with) byte `damageAt` of a file of FRAMES frames made with
// `seed`: either refused, when the damage is before the end of the cast, or read up to the damage.
static void openDamaged(const uint8_t* bytes, size_t size, size_t damageAt, size_t framesAt, uint64_t seed) {
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knTestPath path = testPath("damaged.knt");
	testWrite(path.text, bytes, size);
	knError error = { 0 };
	knTrajectory* trajectory = knTrajectory_Open(path.text, &allocator, &error);
	if (damageAt < framesAt) {
		assert_null(trajectory);
		assert_true(error.status == KN_BAD_DATA || error.status == KN_UNSUPPORTED);
		assert_string_equal(error.file, path.text);
		assert_true(error.message[0] != '\0');
	} else {
		assert_non_null(trajectory);
		assert_true(knTrajectory_Damaged(trajectory, &error));
		assert_int_equal(error.status, KN_BAD_DATA);
		assert_true(error.message[0] != '\0');
		size_t whole = (damageAt - framesAt) / FRAME_CHUNK;
		assertFrames(trajectory, whole < FRAMES ? (int)whole : FRAMES, seed);
		knTrajectory_Close(trajectory);
	}
	assert_int_equal(memory.live, 0);
	remove(path.text);
}

static void fileCutAnywhereReadsUpToTheLastFullFrame(void** state) {
	(void)state;
	knTestFile file = soundFile("a.knt", FRAMES, 31);
	size_t framesAt = file.size - END_CHUNK - FRAMES * FRAME_CHUNK;
	for (size_t size = 0; size < file.size; ++size) {
		openDamaged(file.bytes, size, size, framesAt, 31);
	}
	free(file.bytes);
	remove(testPath("a.knt").text);
}

static void flippedByteIsNoticedAnywhere(void** state) {
	(void)state;
	knTestFile file = soundFile("a.knt", FRAMES, 41);
	size_t framesAt = file.size - END_CHUNK - FRAMES * FRAME_CHUNK;
	knTestRandom random = { 43 };
	for (size_t at = 0; at < file.size; ++at) {
		uint8_t flip = (uint8_t)(1 + testInt(&random, 255));
		file.bytes[at] ^= flip;
		openDamaged(file.bytes, file.size, at, framesAt, 41);
		file.bytes[at] ^= flip;
	}
	free(file.bytes);
	remove(testPath("a.knt").text);
}

static void bytesBehindTheEndAreNoticed(void** state) {
	(void)state;
	knTestFile file = soundFile("a.knt", FRAMES, 51);
	size_t framesAt = file.size - END_CHUNK - FRAMES * FRAME_CHUNK;
	// the zero behind the bytes
	openDamaged(file.bytes, file.size + 1, file.size, framesAt, 51);
	free(file.bytes);
	remove(testPath("a.knt").text);
}

// A repeated or a missing frame leaves every checksum right; the end mark tells.
static void endMarkCountsTheFrames(void** state) {
	(void)state;
	knTestFile file = soundFile("a.knt", FRAMES, 61);
	size_t framesAt = file.size - END_CHUNK - FRAMES * FRAME_CHUNK;
	uint8_t* shorter = malloc(file.size - FRAME_CHUNK);
	memcpy(shorter, file.bytes, file.size - FRAME_CHUNK - END_CHUNK);
	memcpy(shorter + file.size - FRAME_CHUNK - END_CHUNK, file.bytes + file.size - END_CHUNK, END_CHUNK);
	openDamaged(shorter, file.size - FRAME_CHUNK, file.size - FRAME_CHUNK - END_CHUNK, framesAt, 61);
	free(shorter);
	free(file.bytes);
	remove(testPath("a.knt").text);
}

// --- hostile files, whose checksums are right -------------------------------------------------------------

static void resum(uint8_t* chunk) {
	knKntChunk head = knKnt_GetChunk(chunk);
	uint64_t sum = knKnt_Checksum(chunk, chunk + KN_KNT_CHUNK_SIZE, head.size);
	memcpy(chunk + 16, &sum, 8);
}

// The first cast's chunk, behind those of the meshes.
static uint8_t* castChunk(uint8_t* bytes) {
	uint8_t* chunk = bytes + KN_KNT_HEADER_SIZE;
	for (int m = 0; m < TEST_MESHES; ++m) {
		chunk += KN_KNT_CHUNK_SIZE + knKnt_GetChunk(chunk).size;
	}
	return chunk;
}

static void refuseBytes(const uint8_t* bytes, size_t size) {
	knTestPath path = testPath("a.knt");
	testWrite(path.text, bytes, size);
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knError error = { 0 };
	assert_null(knTrajectory_Open(path.text, &allocator, &error));
	assert_int_equal(error.status, KN_BAD_DATA);
	assert_int_equal(memory.live, 0);
	remove(path.text);
}

// Overwrites bytes of the cast's payload, sets the checksum right, and expects a refusal.
static void refuseCast(size_t at, const void* bytes, size_t size) {
	knTestFile file = soundFile("a.knt", 1, 71);
	uint8_t* chunk = castChunk(file.bytes);
	memcpy(chunk + KN_KNT_CHUNK_SIZE + at, bytes, size);
	resum(chunk);
	refuseBytes(file.bytes, file.size);
	free(file.bytes);
}

static void refuseCast32(size_t at, uint32_t value) {
	refuseCast(at, &value, sizeof(value));
}

static void refuseCastDouble(size_t at, double value) {
	refuseCast(at, &value, sizeof(value));
}

// Ranges of shapes that follow each other and end rightly, but only modulo 2^32: 1 - 1, then 0 + 4.
static void refuseWrappedShapes(size_t body) {
	knTestFile file = soundFile("a.knt", 1, 72);
	uint8_t* chunk = castChunk(file.bytes);
	uint8_t* first = chunk + KN_KNT_CHUNK_SIZE + body;
	uint8_t* second = first + 28 + strlen("ball");
	const uint32_t ranges[4] = { 1, 0xffffffffu, 0, 4 };
	memcpy(first + 16, ranges, 8);
	memcpy(second + 16, ranges + 2, 8);
	resum(chunk);
	refuseBytes(file.bytes, file.size);
	free(file.bytes);
}

// Bytes that belong to nothing, in the head and behind the last shape.
static void unusedBytesAreRefused(void** state) {
	(void)state;
	knTestFile file = soundFile("a.knt", 0, 73);
	uint8_t* chunk = castChunk(file.bytes);
	chunk[4] = 1;
	resum(chunk);
	refuseBytes(file.bytes, file.size);
	chunk[4] = 0;
	// the end mark becomes a part of the cast
	uint64_t longer = knKnt_GetChunk(chunk).size + END_CHUNK;
	memcpy(chunk + 8, &longer, 8);
	resum(chunk);
	refuseBytes(file.bytes, file.size);
	free(file.bytes);
}

static void senselessCastsAreRefused(void** state) {
	(void)state;
	// counts
	refuseCast32(0, 0xffffffffu);
	refuseCast32(0, 0x7fffffffu);
	refuseCast32(0, TEST_BODIES + 1);
	refuseCast32(0, TEST_BODIES - 1);
	refuseCast32(4, 0xffffffffu);
	refuseCast32(4, TEST_SHAPES + 1);
	refuseCast32(4, TEST_SHAPES - 1);

	// lengths and bytes of texts
	size_t scene = 8, stepper = scene + 4 + strlen("a scene, \"quoted\"");
	size_t body = stepper + 4 + strlen("velocity"), name = body + 24;
	refuseCast32(scene, 0xffffffffu);
	refuseCast32(stepper, 0x80000000u);
	refuseCast32(name, 0xfffffffcu);
	refuseCast(scene + 6, "", 1);
	refuseCast(name + 5, "", 1);

	// bodies
	refuseCast32(body, KN_BODY_FIXED + 1);
	refuseCastDouble(body + 8, -1.0);
	refuseCastDouble(body + 8, NAN);
	refuseCast32(body + 16, 0);
	refuseCast32(body + 16, 0xffffffffu);
	refuseCast32(body + 16, TEST_SHAPES + 1);
	refuseCast32(body + 20, 0xffffffffu);
	refuseCast32(body + 20, TEST_SHAPES);
	refuseWrappedShapes(body);

	// shapes: the ground comes first, then the ball
	size_t ground = body;
	knAllocator allocator = knAllocator_Default();
	knSceneSnapshot cast = testCast("last", &allocator);
	for (int b = 0; b < TEST_BODIES; ++b) {
		ground += 28 + strlen(cast.bodies[b].name);
	}
	size_t ball = ground + 96 + strlen(cast.shapes[0].name);
	knSceneSnapshot_Free(&cast);
	refuseCast32(ground, KN_GEOM_COMPOUND);
	refuseCast32(ground, KN_GEOM_KIND_COUNT);
	refuseCast32(ground, KN_GEOM_HULL);
	refuseCast32(ground + 88, 0);
	refuseCast32(ground + 88, TEST_MESHES);
	refuseCast32(ground + 88, 0x80000000u);
	refuseCast32(ground, 0xffffffffu);
	refuseCastDouble(ball + 8, 0.0);
	refuseCastDouble(ball + 8, -1.0);
	refuseCastDouble(ball + 8, INFINITY);
	refuseCastDouble(ball + 32, NAN);
	const knQuat zero = { 0.0, 0.0, 0.0, 0.0 }, large = { 1e300, 0.0, 0.0, 0.0 };
	refuseCast(ball + 56, &zero, sizeof(zero));
	refuseCast(ball + 56, &large, sizeof(large));
}

static void refuseMesh32(size_t at, uint32_t value) {
	knTestFile file = soundFile("a.knt", 1, 74);
	uint8_t* chunk = file.bytes + KN_KNT_HEADER_SIZE;
	memcpy(chunk + KN_KNT_CHUNK_SIZE + at, &value, sizeof(value));
	resum(chunk);
	refuseBytes(file.bytes, file.size);
	free(file.bytes);
}

static void senselessMeshesAreRefused(void** state) {
	(void)state;
	const uint32_t counts[] = { 0, 1, 3, 5, 0x15555555u, 0x15555556u, 0x7fffffffu, 0x80000000u, 0xffffffffu };
	for (int k = 0; k < 9; ++k) {
		refuseMesh32(0, counts[k]);
		refuseMesh32(4, counts[k]);
	}
	size_t triangles = 8 + 12 * 4;
	refuseMesh32(8, 0x7f800000u);             // infinite
	refuseMesh32(triangles - 4, 0x7fc00000u); // not a number
	refuseMesh32(triangles, 4);
	refuseMesh32(triangles + 12 * 4 - 4, 0xffffffffu);
}

// Version 1 had no meshes and nothing about them in its shapes.
static void firstVersionIsStillRead(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt");
	knTestFile file = soundFile("a.knt", FRAMES, 75);
	knAllocator allocator = knAllocator_Default();
	knSceneSnapshot cast = testCast("last", &allocator);
	uint8_t* old = malloc(file.size);
	memcpy(old, file.bytes, KN_KNT_HEADER_SIZE);
	old[8] = 1;
	uint8_t* to = old + KN_KNT_HEADER_SIZE;
	const uint8_t* from = castChunk(file.bytes);
	const uint8_t* end = from + KN_KNT_CHUNK_SIZE + knKnt_GetChunk(from).size;
	uint8_t* chunk = to;

	// what stands before the shapes
	size_t size = KN_KNT_CHUNK_SIZE + 8 + 4 + strlen(cast.scene) + 4 + strlen(cast.stepper);
	for (int b = 0; b < TEST_BODIES; ++b) {
		size += 28 + strlen(cast.bodies[b].name);
	}
	memcpy(to, from, size);
	to += size;
	from += size;
	for (int s = 0; s < TEST_SHAPES; ++s, from += 96 + strlen(cast.shapes[s - 1].name)) {
		size_t text = 4 + strlen(cast.shapes[s].name);
		memcpy(to, from, 88);
		memcpy(to + 88, from + 92, text);
		// hulls, meshes and height fields become boxes
		if (cast.shapes[s].mesh >= 0) {
			const uint32_t box = KN_GEOM_BOX;
			const knVec3 cube = { 1.0, 1.0, 1.0 };
			memcpy(to, &box, 4);
			memcpy(to + 8, &cube, 24);
			cast.shapes[s].kind = KN_GEOM_BOX;
			cast.shapes[s].size = cube;
			cast.shapes[s].mesh = -1;
		}
		to += 88 + text;
	}
	assert_ptr_equal(from, end);
	uint64_t payload = (uint64_t)(to - chunk) - KN_KNT_CHUNK_SIZE;
	memcpy(chunk + 8, &payload, 8);
	resum(chunk);
	size_t rest = file.size - (size_t)(end - file.bytes);
	memcpy(to, end, rest);
	testWrite(path.text, old, (size_t)(to - old) + rest);

	knTrajectory* trajectory = knTrajectory_Open(path.text, NULL, NULL);
	assert_non_null(trajectory);
	assert_false(knTrajectory_Damaged(trajectory, NULL));
	assert_int_equal(knTrajectory_MeshCount(trajectory), 0);
	assertCast(trajectory, 0, &cast);
	assertFrames(trajectory, FRAMES, 75);
	knTrajectory_Close(trajectory);

	// a mesh does not belong in it
	file.bytes[8] = 1;
	refuseBytes(file.bytes, file.size);
	knSceneSnapshot_Free(&cast);
	free(old);
	free(file.bytes);
}

static void senselessNumbersCutTheFrames(void** state) {
	(void)state;
	const double values[] = { NAN, INFINITY, -INFINITY };
	// time, position, rotation, velocity, angular velocity of the second body
	const size_t places[] = { 0, 16 + 104, 16 + 104 + 24, 16 + 104 + 56, 16 + 104 + 80 };
	knTestFile file = soundFile("a.knt", FRAMES, 81);
	size_t framesAt = file.size - END_CHUNK - FRAMES * FRAME_CHUNK;
	uint8_t* second = file.bytes + framesAt + FRAME_CHUNK;
	for (int v = 0; v < 3; ++v) {
		for (int k = 0; k < 5; ++k) {
			double kept;
			memcpy(&kept, second + KN_KNT_CHUNK_SIZE + places[k], 8);
			memcpy(second + KN_KNT_CHUNK_SIZE + places[k], &values[v], 8);
			resum(second);
			openDamaged(file.bytes, file.size, framesAt + FRAME_CHUNK, framesAt, 81);
			memcpy(second + KN_KNT_CHUNK_SIZE + places[k], &kept, 8);
		}
	}
	free(file.bytes);
	remove(testPath("a.knt").text);
}

static void* smallAllocate(size_t size, void* context) {
	return size <= 4 << 20 ? testAllocate(size, context) : NULL;
}

// A chunk that claims to be huge costs no more memory than the file has bytes.
static void claimedSizesAreNotAllocated(void** state) {
	(void)state;
	const uint64_t sizes[] = { UINT64_MAX, UINT64_MAX - 23, UINT64_C(1) << 63, UINT64_C(1) << 40,
							   UINT64_C(1) << 31 };
	knTestPath path = testPath("a.knt");
	for (int k = 0; k < 5; ++k) {
		for (int second = 0; second < 2; ++second) {
			knTestFile file = soundFile("a.knt", 1, 91);
			size_t framesAt = file.size - END_CHUNK - FRAME_CHUNK;
			uint8_t* chunk = file.bytes + (second ? framesAt : KN_KNT_HEADER_SIZE);
			memcpy(chunk, "META", 4);
			memcpy(chunk + 8, &sizes[k], 8);
			testWrite(path.text, file.bytes, file.size);
			knTestMemory memory;
			testAllocator(&memory);
			knAllocator allocator = { smallAllocate, testRelease, &memory };
			knError error = { 0 };
			knTrajectory* trajectory = knTrajectory_Open(path.text, &allocator, &error);
			assert_int_equal(trajectory != NULL, second);
			if (second) {
				assert_true(knTrajectory_Damaged(trajectory, &error));
			}
			assert_int_equal(error.status, KN_BAD_DATA);
			knTrajectory_Close(trajectory);
			assert_int_equal(memory.live, 0);
			free(file.bytes);
		}
	}
	remove(path.text);
}

// Whatever is accepted can be walked from end to end and holds only sound numbers.
static void walk(const knTrajectory* trajectory) {
	size_t letters =
		strlen(knTrajectory_SceneName(trajectory)) + strlen(knTrajectory_StepperName(trajectory));
	for (int f = 0; f < knTrajectory_FrameCount(trajectory); ++f) {
		const knBodyState* states = knTrajectory_Bodies(trajectory, f);
		assert_true(knIsFinite(knTrajectory_Time(trajectory, f)));
		for (int b = 0; b < knTrajectory_BodyCount(trajectory, f); ++b) {
			assert_true(knIsFinite3(states[b].position) && knIsFinite3(states[b].velocity));
			assert_true(knIsFiniteQ(knNormalizeQ(states[b].rotation)));
			knTrajectoryBody body = knTrajectory_Body(trajectory, f, b);
			letters += strlen(body.name);
			for (int s = 0; s < body.shapeCount; ++s) {
				knTrajectoryShape shape = knTrajectory_Shape(trajectory, f, body.firstShape + s);
				letters += strlen(shape.name);
				assert_true(shape.kind < KN_GEOM_KIND_COUNT && knIsFiniteF(shape.frame));
				assert_true(shape.mesh < knTrajectory_MeshCount(trajectory));
			}
		}
	}
	assert_true(letters < 100000);
}

static void randomPayloadsDoNoHarm(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt"), copy = testPath("b.knt");
	knTestFile file = soundFile("a.knt", FRAMES, 101);
	uint8_t* bytes = malloc(file.size);
	knTestRandom random = { 103 };
	int accepted = 0;
	for (int round = 0; round < 3000; ++round) {
		memcpy(bytes, file.bytes, file.size);
		// a few bytes of the cast, now and then of the first frame or mesh; the sums made right
		size_t framesAt = file.size - END_CHUNK - FRAMES * FRAME_CHUNK;
		uint8_t* chunks[] = { bytes + framesAt, bytes + KN_KNT_HEADER_SIZE, castChunk(bytes),
							  castChunk(bytes) };
		uint8_t* chunk = chunks[round % 4];
		int size = (int)knKnt_GetChunk(chunk).size;
		for (int k = testInt(&random, 3); k >= 0; --k) {
			const uint8_t likely[] = { 0, 1, 0x7f, 0x80, 0xff };
			int choice = testInt(&random, 10);
			uint8_t value = choice < 5 ? likely[choice] : (uint8_t)testInt(&random, 256);
			chunk[KN_KNT_CHUNK_SIZE + testInt(&random, size)] = value;
		}
		resum(chunk);
		testWrite(path.text, bytes, file.size);
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		knTrajectory* trajectory = knTrajectory_Open(path.text, &allocator, NULL);
		if (trajectory != NULL) {
			accepted += 1;
			walk(trajectory);
			if (round % 16 == 1) {
				assert_ok(knTrajectory_Write(trajectory, copy.text, NULL));
			}
			knTrajectory_Close(trajectory);
		}
		assert_int_equal(memory.live, 0);
	}
	assert_true(accepted > 100);
	free(bytes);
	free(file.bytes);
	remove(path.text);
	remove(copy.text);
}

// --- other files -----------------------------------------------------------------------------------------

static void refuseFile(const char* path, knStatus status, const char* words) {
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knError error = { 0 };
	assert_null(knTrajectory_Open(path, &allocator, &error));
	assert_int_equal(error.status, status);
	assert_string_equal(error.file, path);
	assert_non_null(strstr(error.message, words));
	assert_int_equal(memory.live, 0);
}

static void otherFilesAreRefusedWithAReason(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt");
	refuseFile(path.text, KN_IO, strerror(ENOENT));
	refuseFile(testFolder, KN_IO, strerror(EISDIR));
	testWrite(path.text, "", 0);
	refuseFile(path.text, KN_BAD_DATA, "not a .knt");
	const char* text = "time,body,px,py,pz\n0,ball,0,0,0\n";
	testWrite(path.text, text, strlen(text));
	refuseFile(path.text, KN_BAD_DATA, "not a .knt");

	knTestFile file = soundFile("a.knt", 1, 1);
	file.bytes[8] = KN_KNT_VERSION + 1;
	testWrite(path.text, file.bytes, file.size);
	refuseFile(path.text, KN_UNSUPPORTED, "version 4");
	free(file.bytes);
	remove(path.text);
}

// --- writing again ---------------------------------------------------------------------------------------

static void convertedFilesEqualRecordedOnes(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath knt = testPath("a.knt"), kntAgain = testPath("b.knt"), csv = testPath("a.csv"),
			   csvAgain = testPath("b.CSV");
	knSceneSnapshot cast = testCast("last", &allocator);
	testRecord(&knKntWriter, knt.text, &cast, 10, 111, &allocator);
	testRecord(&knCsvWriter, csv.text, &cast, 10, 111, &allocator);
	knTrajectory* trajectory = knTrajectory_Open(knt.text, NULL, NULL);
	assert_non_null(trajectory);
	assert_ok(knTrajectory_Write(trajectory, csvAgain.text, NULL));
	assert_ok(knTrajectory_Write(trajectory, kntAgain.text, NULL));
	// also over the file it was read from
	assert_ok(knTrajectory_Write(trajectory, knt.text, NULL));
	knTrajectory_Close(trajectory);

	knTestFile recorded = testRead(csv.text), converted = testRead(csvAgain.text);
	assert_same_bytes(recorded, converted);
	knTestFile first = testRead(knt.text), second = testRead(kntAgain.text);
	assert_same_bytes(first, second);
	trajectory = knTrajectory_Open(knt.text, NULL, NULL);
	assertFrames(trajectory, 10, 111);
	knTrajectory_Close(trajectory);
	free(recorded.bytes);
	free(converted.bytes);
	free(first.bytes);
	free(second.bytes);
	knSceneSnapshot_Free(&cast);
	remove(knt.text);
	remove(kntAgain.text);
	remove(csv.text);
	remove(csvAgain.text);
}

static void damagedFileIsWrittenClean(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt"), clean = testPath("b.knt");
	knTestFile file = soundFile("a.knt", FRAMES, 121);
	testWrite(path.text, file.bytes, file.size - END_CHUNK - 1);
	knTrajectory* trajectory = knTrajectory_Open(path.text, NULL, NULL);
	assert_non_null(trajectory);
	assert_true(knTrajectory_Damaged(trajectory, NULL));
	assert_ok(knTrajectory_Write(trajectory, clean.text, NULL));
	knTrajectory_Close(trajectory);
	trajectory = knTrajectory_Open(clean.text, NULL, NULL);
	assert_non_null(trajectory);
	assert_false(knTrajectory_Damaged(trajectory, NULL));
	assertFrames(trajectory, FRAMES - 1, 121);
	knTrajectory_Close(trajectory);
	free(file.bytes);
	remove(path.text);
	remove(clean.text);
}

static void failedConversionLeavesNothing(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt"), part = testPath("b.knt.part"), target = testPath("b.knt");
	knTestFile file = soundFile("a.knt", 1, 131);
	knTrajectory* trajectory = knTrajectory_Open(path.text, NULL, NULL);
	assert_non_null(trajectory);
	knError error = { 0 };
	assert_int_equal(knTrajectory_Write(trajectory, testPath("b.txt").text, &error), KN_UNSUPPORTED);
	assert_non_null(strstr(error.message, ".csv"));
	assert_non_null(strstr(error.message, ".knt"));
	assert_int_equal(knTrajectory_Write(trajectory, testPath("no/b.csv").text, &error), KN_IO);
	if (testExists("/dev/full")) {
		assert_int_equal(symlink("/dev/full", part.text), 0);
		assert_int_equal(knTrajectory_Write(trajectory, target.text, &error), KN_IO);
		assert_non_null(strstr(error.message, strerror(ENOSPC)));
	}
	assert_int_equal(testFolderCount(), 1);
	knTrajectory_Close(trajectory);
	free(file.bytes);
	remove(path.text);
}

static void readingAndWritingSurviveAFailingAllocator(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt");
	knTestFile file = soundFile("a.knt", FRAMES, 141);
	const char* targets[] = { "b.csv", "b.knt" };
	int failures = 0;
	for (int failAfter = 0;; ++failAfter) {
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		memory.failAfter = failAfter;
		knError error = { 0 };
		knTrajectory* trajectory = knTrajectory_Open(path.text, &allocator, &error);
		if (trajectory == NULL) {
			assert_int_equal(error.status, KN_NO_MEMORY);
			assert_int_equal(memory.live, 0);
			continue;
		}
		assertFrames(trajectory, FRAMES, 141);
		bool allDone = true;
		for (int k = 0; k < 2; ++k) {
			knTestPath target = testPath(targets[k]);
			knStatus status = knTrajectory_Write(trajectory, target.text, &error);
			assert_true(status == KN_OK || status == KN_NO_MEMORY);
			assert_int_equal(testExists(target.text), status == KN_OK);
			remove(target.text);
			failures += status != KN_OK;
			allDone = allDone && status == KN_OK;
		}
		knTrajectory_Close(trajectory);
		assert_int_equal(memory.live, 0);
		assert_int_equal(testFolderCount(), 1);
		if (allDone) {
			break;
		}
	}
	assert_true(failures > 4);
	free(file.bytes);
	remove(path.text);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(soundFileReadsBack),
		cmocka_unit_test(recordingWithoutFramesOrBodiesReadsBack),
		cmocka_unit_test(changedCastReadsBack),
		cmocka_unit_test(fileCutAnywhereReadsUpToTheLastFullFrame),
		cmocka_unit_test(flippedByteIsNoticedAnywhere),
		cmocka_unit_test(bytesBehindTheEndAreNoticed),
		cmocka_unit_test(endMarkCountsTheFrames),
		cmocka_unit_test(senselessCastsAreRefused),
		cmocka_unit_test(unusedBytesAreRefused),
		cmocka_unit_test(senselessMeshesAreRefused),
		cmocka_unit_test(firstVersionIsStillRead),
		cmocka_unit_test(senselessNumbersCutTheFrames),
		cmocka_unit_test(claimedSizesAreNotAllocated),
		cmocka_unit_test(randomPayloadsDoNoHarm),
		cmocka_unit_test(otherFilesAreRefusedWithAReason),
		cmocka_unit_test(convertedFilesEqualRecordedOnes),
		cmocka_unit_test(damagedFileIsWrittenClean),
		cmocka_unit_test(failedConversionLeavesNothing),
		cmocka_unit_test(readingAndWritingSurviveAFailingAllocator),
	};
	return cmocka_run_group_tests(tests, testFolderMake, testFolderRemove);
}
