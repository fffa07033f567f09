// Replay pages: what a page's recording holds is read back by code of this file and compared with what went in.
#include "knuckle/io.h"
#include "knuckle/world.h"
#include "page_store.h"
#include "page_template.h"
#include "record/record_test.h"

#define FRAMES 21
#define CHANGE 8 // from this frame on there is another cast
#define HEAD 24

// --- reading a recording back ------------------------------------------------------------------------------------

static uint64_t wordAt(const uint8_t* bytes, int size) {
	uint64_t value = 0;
	for (int k = size - 1; k >= 0; --k) {
		value = value << 8 | bytes[k];
	}
	return value;
}

static double floatAt(const uint8_t* bytes) {
	uint32_t bits = (uint32_t)wordAt(bytes, 4);
	float value;
	memcpy(&value, &bits, sizeof(value));
	return (double)value;
}

static double doubleAt(const uint8_t* bytes) {
	uint64_t bits = wordAt(bytes, 8);
	double value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

typedef struct Recording {
	char* json;
	const uint8_t* data;
} Recording;

// Checks the head as the page does.
static Recording openRecording(const uint8_t* bytes, size_t size) {
	Recording recording;
	assert_true(size > HEAD);
	assert_memory_equal(bytes, "KNREPLAY", 8);
	assert_int_equal(wordAt(bytes + 8, 4), 2);
	assert_int_equal(wordAt(bytes + 16, 4), size);
	size_t jsonSize = (size_t)wordAt(bytes + 12, 4);
	assert_int_equal(jsonSize % 8, 0);
	uint32_t hash = 2166136261u;
	for (size_t i = HEAD; i < size; ++i) {
		hash = (hash ^ bytes[i]) * 16777619u;
	}
	assert_int_equal(wordAt(bytes + 20, 4), hash);
	recording.json = calloc(1, jsonSize + 1);
	memcpy(recording.json, bytes + HEAD, jsonSize);
	recording.data = bytes + HEAD + jsonSize;
	return recording;
}

// The whole number after "key": where it stands for the n-th time.
static int64_t numberOf(const Recording* recording, const char* key, int n) {
	char mark[32];
	snprintf(mark, sizeof(mark), "\"%s\":", key);
	const char* at = recording->json;
	for (int i = 0; i <= n; ++i) {
		at = strstr(at, mark);
		assert_non_null(at);
		at += strlen(mark);
	}
	return strtoll(at, NULL, 10);
}

static knQuat unpack(const uint8_t* key) {
	uint64_t packed[3] = { wordAt(key, 2), wordAt(key + 2, 2), wordAt(key + 4, 2) };
	int dropped = (int)(packed[0] >> 15 | packed[1] >> 15 << 1);
	double part[4] = { 0.0 }, rest = 1.0;
	for (int k = 0, at = 0; k < 4; ++k) {
		if (k != dropped) {
			part[k] = ((double)(packed[at++] & 0x7fff) / 16383.0 - 1.0) / sqrt(2.0);
			rest -= part[k] * part[k];
		}
	}
	part[dropped] = sqrt(rest);
	knQuat q = { .w = part[3], .x = part[0], .y = part[1], .z = part[2] };
	return q;
}

// The angle between two rotations.
static double turn(knQuat a, knQuat b) {
	double dot = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
	knQuat d = { .w = a.w - b.w, .x = a.x - b.x, .y = a.y - b.y, .z = a.z - b.z };
	knQuat s = { .w = a.w + b.w, .x = a.x + b.x, .y = a.y + b.y, .z = a.z + b.z };
	knQuat far = dot >= 0.0 ? d : s;
	return 2.0 * sqrt(far.w * far.w + far.x * far.x + far.y * far.y + far.z * far.z);
}

// --- rotations ---------------------------------------------------------------------------------------------------

static void test_packed_rotations_come_back(void** state) {
	(void)state;
	knTestRandom random = { 3 };
	double worst = 0.0;
	for (int i = 0; i < 20000; ++i) {
		knQuat rotation = testQuat(&random);
		uint16_t packed[3];
		uint8_t bytes[6];
		knPage_PackRotation(rotation, packed);
		for (int k = 0; k < 3; ++k) {
			bytes[2 * k] = (uint8_t)packed[k];
			bytes[2 * k + 1] = (uint8_t)(packed[k] >> 8);
		}
		worst = knMax(worst, turn(rotation, unpack(bytes)));
	}
	assert_true(worst < 1.2e-4);
}

static void test_no_rotation_is_exact(void** state) {
	(void)state;
	uint16_t packed[3];
	uint8_t bytes[6];
	knPage_PackRotation(knIdentityQ(), packed);
	for (int k = 0; k < 3; ++k) {
		bytes[2 * k] = (uint8_t)packed[k];
		bytes[2 * k + 1] = (uint8_t)(packed[k] >> 8);
	}
	knQuat back = unpack(bytes);
	assert_true(back.w == 1.0 && back.x == 0.0 && back.y == 0.0 && back.z == 0.0);
}

// --- frames ------------------------------------------------------------------------------------------------------

// Poses of a run: the first body far away and slow, the second at rest, the third fast.
static void poseBodies(int frame, knBodyState bodies[TEST_BODIES]) {
	knTestRandom random = { (uint64_t)frame + 11 };
	memset(bodies, 0, TEST_BODIES * sizeof(bodies[0]));
	bodies[0].position = knV3(100.0 + 0.001 * frame, -50.0, 3.0);
	bodies[1].position = knV3(1.0 / 3.0, 2.0, -7.0);
	bodies[2].position = testVec3(&random, 20.0);
	bodies[0].rotation = testQuat(&random);
	bodies[1].rotation = knIdentityQ();
	bodies[2].rotation = testQuat(&random);
}

static bool fill(knPageStore* store, const knSceneSnapshot* before, const knSceneSnapshot* after) {
	for (int f = 0; f < FRAMES; ++f) {
		knBodyState bodies[TEST_BODIES];
		poseBodies(f, bodies);
		knCastFrame frame = { .cast = f < CHANGE ? before : after,
							  .castIndex = f < CHANGE ? 0 : 1,
							  .time = 0.02 * f,
							  .bodies = bodies };
		if (!knPageStore_AddFrame(store, &frame)) {
			return false;
		}
	}
	return true;
}

// Walks the tracks in order and compares each frame of actor `actor` (not the world) with the body it was.
static const uint8_t* checkTrack(const uint8_t* track, int body, int from, int to) {
	const uint8_t* bitmap = track + 16;
	const uint8_t* key = bitmap + (FRAMES + 7) / 8;
	const uint8_t* last = NULL;
	double step = floatAt(track + 12);
	for (int f = 0; f < FRAMES; ++f) {
		knBodyState bodies[TEST_BODIES];
		poseBodies(f, bodies);
		if ((bitmap[f / 8] >> f % 8 & 1) != 0) {
			last = key;
			key += 12;
		}
		bool present = last != NULL && wordAt(last, 2) != 65535;
		assert_int_equal(present, f >= from && f < to);
		if (!present) {
			continue;
		}
		knVec3 low = knV3(floatAt(track), floatAt(track + 4), floatAt(track + 8));
		knVec3 counts =
			knV3((double)wordAt(last, 2), (double)wordAt(last + 2, 2), (double)wordAt(last + 4, 2));
		// half a count along each axis, and what a float leaves of 100 m
		assert_near3(knMulAdd(low, step, counts), bodies[body].position, 0.87 * step + 1e-5);
		assert_true(turn(unpack(last + 6), bodies[body].rotation) < 1.2e-4);
	}
	return key;
}

static void test_frames_come_back(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knSceneSnapshot before = testCast("one", &allocator), after = testCast("other", &allocator);
	knPageStore store;
	knPageBytes bytes = { 0 };
	knError error = { 0 };
	knPageStore_Init(&store, &allocator);
	assert_true(fill(&store, &before, &after));
	assert_ok(knPageStore_Encode(&store, &bytes, &error));
	Recording recording = openRecording(bytes.items, (size_t)bytes.count);

	assert_int_equal(numberOf(&recording, "frames", 0), FRAMES);
	const uint8_t* times = recording.data + numberOf(&recording, "timesAt", 0);
	for (int f = 0; f < FRAMES; ++f) {
		assert_true(doubleAt(times + 8 * f) == 0.02 * f);
	}
	// the world, two bodies throughout, and the third under each of its names
	assert_int_equal(store.actors.count, 5);
	const uint8_t* track = recording.data + numberOf(&recording, "tracksAt", 0);
	track = checkTrack(track, 0, 0, FRAMES);
	const uint8_t* still = track;
	track = checkTrack(track, 1, 0, FRAMES);
	// a body at rest takes one key
	assert_int_equal(track - still, 16 + (FRAMES + 7) / 8 + 12);
	track = checkTrack(track, 2, 0, CHANGE);
	track = checkTrack(track, 2, CHANGE, FRAMES);
	assert_ptr_equal(track, bytes.items + bytes.count);

	free(recording.json);
	KN_ARRAY_FREE(&allocator, &bytes);
	knPageStore_Free(&store);
	knSceneSnapshot_Free(&before);
	knSceneSnapshot_Free(&after);
}

static void test_geometries_are_stored_once(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knSceneSnapshot before = testCast("one", &allocator), after = testCast("other", &allocator);
	knPageStore store;
	knPageBytes bytes = { 0 };
	knError error = { 0 };
	knPageStore_Init(&store, &allocator);
	assert_true(fill(&store, &before, &after));
	// the shapes of the third body stand twice, each geometry but once
	assert_int_equal(store.shapes.count, TEST_SHAPES + after.bodies[2].shapeCount);
	assert_true(store.geometries.count <= TEST_SHAPES);
	assert_ok(knPageStore_Encode(&store, &bytes, &error));
	Recording recording = openRecording(bytes.items, (size_t)bytes.count);
	// the tetrahedron: the first mesh
	assert_int_equal(numberOf(&recording, "vertices", 0), 4);
	assert_int_equal(numberOf(&recording, "triangles", 0), 4);
	const uint8_t* vertices = recording.data + numberOf(&recording, "at", 0);
	for (int i = 0; i < 12; ++i) {
		assert_true(floatAt(vertices + 4 * i) == (double)testVertices[i]);
	}
	const uint8_t* triangles = recording.data + numberOf(&recording, "trianglesAt", 0);
	assert_int_equal(wordAt(triangles + 4, 4), testTriangles[0].b);
	free(recording.json);
	KN_ARRAY_FREE(&allocator, &bytes);
	knPageStore_Free(&store);
	knSceneSnapshot_Free(&before);
	knSceneSnapshot_Free(&after);
}

// A model that was edited without changing bodies is a new cast of the recorder, and none of the page.
static void test_an_equal_cast_is_no_change(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knSceneSnapshot before = testCast("one", &allocator), after = testCast("one", &allocator);
	knPageStore store;
	knPageStore_Init(&store, &allocator);
	assert_true(fill(&store, &before, &after));
	assert_int_equal(store.casts.count, 1);
	assert_int_equal(store.actors.count, 1 + TEST_BODIES);
	knPageStore_Free(&store);
	knSceneSnapshot_Free(&before);
	knSceneSnapshot_Free(&after);
}

// --- curves ------------------------------------------------------------------------------------------------------

static void test_long_curves_keep_their_extremes(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knPageStore store;
	knPageStore_Init(&store, &allocator);
	int curve = knPageStore_AddSeries(&store, "a", "b", "c");
	assert_int_equal(curve, 0);
	for (int i = 0; i < 100003; ++i) {
		knPagePoint point = { 0.001 * i, i == 77777 ? 50.0 : i == 12345 ? -40.0 : (double)(i % 7) };
		assert_true(knPageStore_AddSample(&store, curve, point));
	}
	assert_true(knPageStore_EndSeries(&store));
	const knPageSeries* series = &store.series.items[curve];
	assert_true(series->points.count > 1000 && series->points.count < 5000);
	bool high = false, low = false;
	for (int i = 0; i < series->points.count; ++i) {
		knPagePoint point = series->points.items[i];
		high = high || (point.value == 50.0 && point.time == 0.001 * 77777);
		low = low || (point.value == -40.0 && point.time == 0.001 * 12345);
		assert_true(i == 0 || point.time >= series->points.items[i - 1].time);
		assert_true(i == 0 || point.time - series->points.items[i - 1].time < 0.2);
	}
	assert_true(high && low);
	knPageStore_Free(&store);
}

static void test_short_curves_keep_every_point(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knPageStore store;
	knPageStore_Init(&store, &allocator);
	int curve = knPageStore_AddSeries(&store, "a", "b", "c");
	for (int i = 0; i < 2000; ++i) {
		knPagePoint point = { i, -i };
		assert_true(knPageStore_AddSample(&store, curve, point));
	}
	assert_true(knPageStore_EndSeries(&store));
	assert_int_equal(store.series.items[curve].points.count, 2000);
	assert_true(store.series.items[curve].points.items[1234].value == -1234.0);
	knPageStore_Free(&store);
}

// --- files -------------------------------------------------------------------------------------------------------

typedef struct Fall {
	knModel* model;
	knWorld* world;
} Fall;

static Fall openFall(void) {
	Fall fall;
	knError error = { 0 };
	knSceneDef sceneDef = knSceneDef_Default();
	sceneDef.view = (knViewDef){ -70.0, 12.0, 1.5 };
	knScene* scene = knScene_Create(&sceneDef, NULL, &error);
	knShapeDef material = knShapeDef_Default();
	knScene_AddPlane(scene, KN_WORLD_BODY, &material, &error);
	knBodyDef body = knBodyDef_Default();
	body.frame.p = knV3(0.0, 0.0, 2.0);
	knScene_AddSphere(scene, knScene_AddBody(scene, &body, &error), 0.5, &material, &error);
	fall.model = knModel_Create(scene, &error);
	assert_non_null(fall.model);
	knWorldDef worldDef = knWorldDef_Default();
	fall.world = knWorld_Create(fall.model, &worldDef, &error);
	assert_non_null(fall.world);
	knScene_Destroy(scene);
	return fall;
}

static void closeFall(Fall* fall) {
	knWorld_Destroy(fall->world);
	knModel_Release(fall->model);
}

static knStatus writePage(const char* path, Fall* fall, const knAllocator* allocator) {
	knError error = { 0 };
	knPageDef def = knPageDef_Default();
	def.title = "a </script> fall";
	def.allocator = allocator;
	knPage* page = knPage_Open(path, fall->world, &def, &error);
	if (page == NULL) {
		return error.status;
	}
	int height = knPage_AddSeries(page, "height", "ball", "m", &error);
	for (int i = 0; i < 10 && error.status == KN_OK; ++i) {
		knPage_AddSample(page, height, 0.01 * i, 2.0, &error);
		knPage_Write(page, fall->world, &error);
	}
	if (error.status == KN_OK) {
		knPage_AddFact(page, "answer", "42", &error);
	}
	if (error.status != KN_OK) {
		knPage_Abandon(page);
		return error.status;
	}
	return knPage_Close(page, &error);
}

static int letterValue(char c) {
	const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char* found = c != '\0' ? strchr(letters, c) : NULL;
	return found != NULL ? (int)(found - letters) : -1;
}

static void test_a_page_is_the_template_with_the_recording(void** state) {
	(void)state;
	if (!knPage_Available()) {
		skip();
	}
	Fall fall = openFall();
	knTestPath path = testPath("fall.html");
	assert_ok(writePage(path.text, &fall, NULL));
	knTestFile file = testRead(path.text);
	const char* marker = "id=\"recording\">";
	const char* at = NULL;
	for (const char* next = (const char*)file.bytes; (next = strstr(next, marker)) != NULL; ++next) {
		at = next + strlen(marker);
	}
	assert_non_null(at);
	size_t before = (size_t)(at - (const char*)file.bytes);
	assert_memory_equal(file.bytes, knPageTemplate, before);

	uint8_t* bytes = malloc(file.size);
	size_t count = 0;
	uint32_t held = 0;
	int bits = 0;
	for (; letterValue(*at) >= 0; ++at) {
		held = held << 6 | (uint32_t)letterValue(*at);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			bytes[count++] = (uint8_t)(held >> bits);
		}
	}
	at += strspn(at, "=");
	assert_memory_equal(at, "</script>", 9);
	Recording recording = openRecording(bytes, count);
	assert_int_equal(numberOf(&recording, "frames", 0), 10);
	assert_non_null(strstr(recording.json, "\"a </script> fall\""));
	assert_non_null(strstr(recording.json, "\"height\""));
	assert_non_null(strstr(recording.json, "\"view\""));
	free(recording.json);
	free(bytes);
	free(file.bytes);
	remove(path.text);
	closeFall(&fall);
}

static void test_a_page_that_cannot_be_written_is_refused(void** state) {
	(void)state;
	Fall fall = openFall();
	knError error = { 0 };
	assert_null(knPage_Open("/nowhere/at/all.html", fall.world, NULL, &error));
	assert_int_equal(error.status, knPage_Available() ? KN_IO : KN_UNSUPPORTED);
	closeFall(&fall);
}

static void test_abandoned_pages_leave_nothing(void** state) {
	(void)state;
	if (!knPage_Available()) {
		skip();
	}
	Fall fall = openFall();
	knError error = { 0 };
	knPage* page = knPage_Open(testPath("gone.html").text, fall.world, NULL, &error);
	assert_non_null(page);
	assert_ok(knPage_Write(page, fall.world, &error));
	knPage_Abandon(page);
	assert_int_equal(testFolderCount(), 0);
	closeFall(&fall);
}

static void test_no_memory_leaves_nothing(void** state) {
	(void)state;
	if (!knPage_Available()) {
		skip();
	}
	Fall fall = openFall();
	knStatus status = KN_NO_MEMORY;
	for (int allowed = 0; status != KN_OK; ++allowed) {
		assert_true(allowed < 1000);
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		memory.failAfter = allowed;
		knTestPath path = testPath("memory.html");
		status = writePage(path.text, &fall, &allocator);
		assert_true(status == KN_OK || status == KN_NO_MEMORY);
		assert_int_equal(memory.live, 0);
		assert_int_equal(testFolderCount(), status == KN_OK ? 1 : 0);
		remove(path.text);
	}
	closeFall(&fall);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packed_rotations_come_back),
		cmocka_unit_test(test_no_rotation_is_exact),
		cmocka_unit_test(test_frames_come_back),
		cmocka_unit_test(test_geometries_are_stored_once),
		cmocka_unit_test(test_an_equal_cast_is_no_change),
		cmocka_unit_test(test_long_curves_keep_their_extremes),
		cmocka_unit_test(test_short_curves_keep_every_point),
		cmocka_unit_test(test_a_page_is_the_template_with_the_recording),
		cmocka_unit_test(test_a_page_that_cannot_be_written_is_refused),
		cmocka_unit_test(test_abandoned_pages_leave_nothing),
		cmocka_unit_test(test_no_memory_leaves_nothing),
	};
	return cmocka_run_group_tests(tests, testFolderMake, testFolderRemove);
}
