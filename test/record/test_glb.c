// .glb recordings, read back as the specification of glTF says: the animation is the recorded motion, meshes have the
// volumes of the shapes, what is shared is stored once, and whatever is written is sound.
#include "gltf_test.h"

#define FRAMES 120

// --- recordings ------------------------------------------------------------------------------------------

// The test's cast in smooth motion: the ball flies, the fixed body stays, the last one tumbles along a curve.
static void moveBodies(knBodyState* bodies, double t) {
	memset(bodies, 0, sizeof(knBodyState) * TEST_BODIES);
	bodies[0].position = knV3(3.0 * t, -t, 10.0 + 4.0 * t - 4.905 * t * t);
	bodies[0].rotation = knIdentityQ();
	bodies[1].position = knV3(1.0, 2.0, 3.0);
	bodies[1].rotation = knQuat_FromAxisAngle(knV3(0.0, 0.6, 0.8), 1.0);
	bodies[2].position = knV3(5.0 * knCos(t), 5.0 * knSin(t), 1.0);
	bodies[2].rotation = knMulQ(knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 3.0 * knSin(2.0 * t)),
								knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), 4.0 * t));
}

static double frameTime(int frame) {
	// not even, and not from zero
	return 5.0 + frame / 60.0 + 0.003 * (frame % 3);
}

static void writeMotion(const knWriterOps* ops, const char* path, const knSceneSnapshot* cast, int frames,
						const knAllocator* allocator) {
	void* writer = ops->open(path, ops->live, cast, allocator, NULL);
	assert_non_null(writer);
	for (int f = 0; f < frames; ++f) {
		knBodyState bodies[TEST_BODIES];
		moveBodies(bodies, frameTime(f));
		knCastFrame frame = { cast, 0, frameTime(f), (uint64_t)f, bodies, NULL };
		assert_ok(ops->write(writer, &frame, NULL));
	}
	assert_ok(ops->close(writer, NULL));
}

static Gltf recordMotion(int frames) {
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.glb");
	knSceneSnapshot cast = testCast("last", &allocator);
	writeMotion(&knGlbWriter, path.text, &cast, frames, &allocator);
	knSceneSnapshot_Free(&cast);
	Gltf gltf = gltfOpen(path.text);
	remove(path.text);
	return gltf;
}

static double angleBetween(knQuat a, knQuat b) {
	return knLength(knQuat_Log(knInvMulQ(a, b)));
}

static const char* const bodyNames[TEST_BODIES] = { "ball", "comma, \"quote\"\r\nand line", "last" };

// --- motion ----------------------------------------------------------------------------------------------

// At every recorded time every body is where it was, though most keys are gone.
static void animationIsTheRecordedMotion(void** state) {
	(void)state;
	Gltf gltf = recordMotion(FRAMES);
	knBodyState bodies[TEST_BODIES];
	moveBodies(bodies, frameTime(FRAMES - 1));
	double size = knLength(bodies[0].position) + 10.0; // at least the scene's: the ball falls from its middle
	for (int f = 0; f < FRAMES; ++f) {
		moveBodies(bodies, frameTime(f));
		double time = (double)(float)(frameTime(f) - frameTime(0));
		for (int b = 0; b < TEST_BODIES; ++b) {
			int node = gltfNode(&gltf, bodyNames[b], 0);
			assert_near3(gltfPosition(&gltf, node, time), bodies[b].position, 1e-5 * size);
			assert_true(angleBetween(gltfRotation(&gltf, node, time), bodies[b].rotation) < 3e-4);
		}
	}
	int ball = gltfNode(&gltf, "ball", 0), fixed = gltfNode(&gltf, bodyNames[1], 0);
	assert_int_equal(gltfKeyCount(&gltf, ball, "rotation"), 0);
	assert_int_equal(gltfKeyCount(&gltf, fixed, "translation"), 0);
	assert_int_equal(gltfKeyCount(&gltf, fixed, "rotation"), 0);
	assert_true(gltfKeyCount(&gltf, ball, "translation") > 2);
	assert_true(gltfKeyCount(&gltf, ball, "translation") < FRAMES);
	gltfClose(&gltf);
}

// The root turns the recording's z axis up into glTF's y, and x stays x.
static void rootStandsUpright(void** state) {
	(void)state;
	Gltf gltf = recordMotion(2);
	knQuat root = gltfRotation(&gltf, 0, 0.0);
	assert_near3(knRotate(root, knV3(0.0, 0.0, 1.0)), knV3(0.0, 1.0, 0.0), 1e-15);
	assert_near3(knRotate(root, knV3(1.0, 0.0, 0.0)), knV3(1.0, 0.0, 0.0), 1e-15);
	const jsonValue* scene = &jsonGet(&gltf.json, "scenes")->items[0];
	assert_int_equal(jsonGet(scene, "nodes")->count, 1);
	assert_string_equal(jsonGet(&gltf.nodes->items[0], "name")->text, "a scene, \"quoted\"");
	// the world and the three bodies hang below it
	assert_int_equal(jsonCount(jsonGet(&gltf.nodes->items[0], "children")), 1 + TEST_BODIES);
	assert_true(gltfNode(&gltf, "world", 0) > 0);
	gltfClose(&gltf);
}

typedef struct Heap {
	knSceneSnapshot cast;
	knBodyState* bodies;
} Heap;

static Heap makeHeap(int count, uint32_t color) {
	knAllocator allocator = knAllocator_Default();
	Heap heap;
	assert_true(knSceneSnapshot_Create(&heap.cast, count, count, 64 + 16 * (size_t)count, &allocator));
	heap.cast.scene = testText(&heap.cast, "heap");
	heap.cast.stepper = testText(&heap.cast, "velocity");
	heap.bodies = calloc((size_t)count, sizeof(knBodyState));
	for (int b = 0; b < count; ++b) {
		char name[16];
		snprintf(name, sizeof(name), "body%d", b);
		heap.cast.bodies[b] =
			(knTrajectoryBody){ testText(&heap.cast, name), KN_BODY_DYNAMIC, color, 1.0, b, 1 };
		heap.cast.shapes[b].kind = b % 2 == 0 ? KN_GEOM_BOX : KN_GEOM_SPHERE;
		heap.cast.shapes[b].size = knV3(0.1 + b, 0.2, 0.3);
		heap.cast.shapes[b].frame = knIdentityF();
		heap.cast.shapes[b].name = "";
	}
	return heap;
}

static void freeHeap(Heap* heap) {
	knSceneSnapshot_Free(&heap->cast);
	free(heap->bodies);
}

// Three thousand bodies that jump about, so that no key can go: the most that ten seconds can take.
static void worstRunStaysSmall(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.glb");
	const int count = 3000, frames = 600;
	Heap heap = makeHeap(count, 0);
	void* writer = knGlbWriter.open(path.text, KN_OUTPUT_STAGED, &heap.cast, &allocator, NULL);
	assert_non_null(writer);
	knTestRandom random = { 17 };
	for (int f = 0; f < frames; ++f) {
		for (int b = 0; b < count; ++b) {
			heap.bodies[b].position = testVec3(&random, 10.0);
			heap.bodies[b].rotation = testQuat(&random);
		}
		knCastFrame frame = { &heap.cast, 0, f / 60.0, (uint64_t)f, heap.bodies, NULL };
		assert_ok(knGlbWriter.write(writer, &frame, NULL));
	}
	assert_ok(knGlbWriter.close(writer, NULL));
	struct stat info;
	assert_int_equal(stat(path.text, &info), 0);
	assert_true(info.st_size > 20 * count * frames && info.st_size < 40000000);
	freeHeap(&heap);
	remove(path.text);
}

// --- bodies that come and go -----------------------------------------------------------------------------

static void bodiesAppearAndVanish(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.glb");
	// frames 0-9: four bodies; 10-19: the last two of them and a fifth; 20-29: all five again
	Heap all = makeHeap(5, 0x336699);
	Heap four = makeHeap(4, 0x336699), three = makeHeap(5, 0x336699);
	memmove(three.cast.bodies, three.cast.bodies + 2, 3 * sizeof(knTrajectoryBody));
	memmove(three.cast.shapes, three.cast.shapes + 2, 3 * sizeof(knTrajectoryShape));
	three.cast.bodyCount = three.cast.shapeCount = 3;
	for (int b = 0; b < 3; ++b) {
		three.cast.bodies[b].firstShape = b;
	}
	const Heap* heaps[3] = { &four, &three, &all };
	const int firstBody[3] = { 0, 2, 0 };
	void* writer = knGlbWriter.open(path.text, KN_OUTPUT_STAGED, &four.cast, &allocator, NULL);
	for (int f = 0; f < 30; ++f) {
		const Heap* heap = heaps[f / 10];
		for (int b = 0; b < heap->cast.bodyCount; ++b) {
			double t = f / 30.0 + firstBody[f / 10] + b;
			heap->bodies[b].position = knV3(t * t, 0.0, 0.0);
			heap->bodies[b].rotation = knIdentityQ();
		}
		knCastFrame frame = { &heap->cast, f / 10, f / 30.0, (uint64_t)f, heap->bodies, NULL };
		assert_ok(knGlbWriter.write(writer, &frame, NULL));
	}
	assert_ok(knGlbWriter.close(writer, NULL));

	Gltf gltf = gltfOpen(path.text);
	for (int f = 0; f < 30; ++f) {
		double time = (double)(float)(f / 30.0);
		for (int b = 0; b < 5; ++b) {
			// a body that comes back has a node of its own
			char name[16];
			snprintf(name, sizeof(name), "body%d", b);
			bool there = f >= 20 || (f < 10 ? b < 4 : b >= 2);
			bool returned = f >= 20 && b < 2;
			int shown = 0;
			for (int k = 0, node; (node = gltfNode(&gltf, name, k)) >= 0; ++k) {
				knVec3 scale = gltfScale(&gltf, node, time), half = heaps[2]->cast.shapes[b].size;
				bool visible = knLengthSquared(scale) > 0.0;
				shown += visible;
				assert_true(k == (returned ? 1 : 0) || !visible);
				if (visible) {
					assert_near3(scale, b % 2 == 0 ? half : knV3(half.x, half.x, half.x), 1e-6);
					assert_near(gltfPosition(&gltf, node, time).x, (f / 30.0 + b) * (f / 30.0 + b), 1e-3);
				}
			}
			assert_int_equal(shown, there);
		}
	}
	assert_int_equal(gltfNode(&gltf, "body2", 1), -1);
	assert_int_equal(gltfKeyCount(&gltf, gltfNode(&gltf, "body2", 0), "scale"), 0);
	gltfClose(&gltf);
	freeHeap(&all);
	freeHeap(&four);
	freeHeap(&three);
	remove(path.text);
}

// Times must increase; a frame that is not later than the last one is left out.
static void timesIncrease(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.glb");
	Heap heap = makeHeap(1, 0);
	const double times[] = { 1.0, 1.0, 0.5, 2.0, 2.0 + 1e-12, 3.0 };
	void* writer = knGlbWriter.open(path.text, KN_OUTPUT_STAGED, &heap.cast, &allocator, NULL);
	for (int f = 0; f < 6; ++f) {
		heap.bodies[0].position = knV3(f * f, 0.0, 0.0);
		heap.bodies[0].rotation = knIdentityQ();
		knCastFrame frame = { &heap.cast, 0, times[f], (uint64_t)f, heap.bodies, NULL };
		assert_ok(knGlbWriter.write(writer, &frame, NULL));
	}
	assert_ok(knGlbWriter.close(writer, NULL));
	Gltf gltf = gltfOpen(path.text);
	int node = gltfNode(&gltf, "body0", 0);
	assert_int_equal(gltfKeyCount(&gltf, node, "translation"), 3);
	assert_near(gltfPosition(&gltf, node, 0.0).x, 0.0, 0.0);
	assert_near(gltfPosition(&gltf, node, 1.0).x, 9.0, 0.0);
	assert_near(gltfPosition(&gltf, node, 2.0).x, 25.0, 0.0);
	gltfClose(&gltf);
	freeHeap(&heap);
	remove(path.text);
}

// --- shapes ----------------------------------------------------------------------------------------------

// Of a shape of the test's cast.
static double volumeOf(const knTrajectoryShape* shape) {
	double x = shape->size.x, y = shape->size.y, z = shape->size.z;
	switch (shape->kind) {
	case KN_GEOM_SPHERE:
		return 4.0 / 3.0 * KN_PI * x * x * x;
	case KN_GEOM_CAPSULE:
		return 4.0 / 3.0 * KN_PI * x * x * x + 2.0 * KN_PI * x * x * y;
	case KN_GEOM_BOX:
		return 8.0 * x * y * z;
	case KN_GEOM_CYLINDER:
		return 2.0 * KN_PI * x * x * y;
	case KN_GEOM_ELLIPSOID:
		return 4.0 / 3.0 * KN_PI * x * y * z;
	case KN_GEOM_HULL:
		return 1.5 * 1.25 * 1.0 / 6.0; // the tetrahedron
	default:
		return 0.0;
	}
}

// Each shape is a node below its body, in its place, of its volume and colour.
static void shapesAreDrawnInTheirPlace(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knSceneSnapshot cast = testCast("last", &allocator);
	Gltf gltf = recordMotion(3);
	for (int b = 0; b < TEST_BODIES; ++b) {
		int node = gltfNode(&gltf, bodyNames[b], 0);
		const jsonValue* children = jsonGet(&gltf.nodes->items[node], "children");
		assert_int_equal(jsonCount(children), cast.bodies[b].shapeCount);
		for (int s = 0; s < cast.bodies[b].shapeCount; ++s) {
			const knTrajectoryShape* shape = &cast.shapes[cast.bodies[b].firstShape + s];
			int child = (int)children->items[s].number;
			assert_near3(gltfPosition(&gltf, child, 0.0), shape->frame.p, 1e-12);
			assert_true(angleBetween(gltfRotation(&gltf, child, 0.0), shape->frame.q) < 1e-7);
			double volume = volumeOf(shape);
			assert_near(gltfVolume(&gltf, child), volume, 0.03 * volume + 1e-9);
			const jsonValue* name = jsonGet(&gltf.nodes->items[child], "name");
			assert_true(shape->name[0] == '\0' ? name->text[0] != '\0'
											   : strcmp(name->text, shape->name) == 0);
		}
	}
	knSceneSnapshot_Free(&cast);
	gltfClose(&gltf);
}

// Balls and boxes of any size are two geometries, and bodies of one colour share their mesh.
static void meshesAndMaterialsAreShared(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.glb");
	Heap heap = makeHeap(50, 0x80ff00);
	heap.cast.bodies[7].color = 0x33112233; // a fifth transparent
	for (int b = 0; b < 50; ++b) {
		heap.bodies[b].rotation = knIdentityQ();
	}
	void* writer = knGlbWriter.open(path.text, KN_OUTPUT_STAGED, &heap.cast, &allocator, NULL);
	knCastFrame frame = { &heap.cast, 0, 0.0, 0, heap.bodies, NULL };
	assert_ok(knGlbWriter.write(writer, &frame, NULL));
	assert_ok(knGlbWriter.close(writer, NULL));
	Gltf gltf = gltfOpen(path.text);
	assert_int_equal(jsonCount(gltf.nodes), 51);
	assert_int_equal(jsonCount(gltf.meshes), 3);
	assert_int_equal(jsonCount(gltf.materials), 2);
	assert_int_equal(jsonCount(gltf.accessors), 6);
	assert_null(gltf.channels);
	for (int b = 0; b < 50; ++b) {
		double volume = volumeOf(&heap.cast.shapes[b]);
		assert_near(gltfVolume(&gltf, 1 + b), volume, 0.03 * volume);
	}
	// sRGB 0x80ff00 as light
	const jsonValue* color =
		jsonGet(jsonGet(&gltf.materials->items[0], "pbrMetallicRoughness"), "baseColorFactor");
	assert_near(color->items[0].number, pow((128.0 / 255.0 + 0.055) / 1.055, 2.4), 1e-12);
	assert_near(color->items[1].number, 1.0, 1e-12);
	assert_near(color->items[2].number, 0.0, 0.0);
	assert_near(color->items[3].number, 1.0, 0.0);
	assert_null(jsonGet(&gltf.materials->items[0], "alphaMode"));
	color = jsonGet(jsonGet(&gltf.materials->items[1], "pbrMetallicRoughness"), "baseColorFactor");
	assert_near(color->items[3].number, 0.8, 1e-12);
	assert_non_null(jsonGet(&gltf.materials->items[1], "alphaMode"));
	gltfClose(&gltf);
	freeHeap(&heap);
	remove(path.text);
}

// --- hard cases ------------------------------------------------------------------------------------------

static void emptyRecordingsAreSound(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.glb");
	for (int frames = 0; frames < 3; ++frames) {
		knSceneSnapshot cast;
		assert_true(knSceneSnapshot_Create(&cast, 0, 0, 2, &allocator));
		cast.scene = testText(&cast, "");
		cast.stepper = testText(&cast, "");
		testRecord(&knGlbWriter, path.text, &cast, frames, 1, &allocator);
		Gltf gltf = gltfOpen(path.text);
		assert_int_equal(jsonCount(gltf.nodes), 1);
		assert_null(gltf.bytes);
		gltfClose(&gltf);
		knSceneSnapshot_Free(&cast);
	}
	remove(path.text);
}

// Bytes that are no UTF-8 would make the file unreadable.
static void namesAreMadeReadable(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.glb");
	const char* names[][2] = { { "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
								 "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80" },
							   { "\xff\x80x\xc3", "??x?" },
							   { "\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80", "?? ??? ????" },
							   { "\xe2\x82", "??" },
							   { "tab\t\x01\x7f", "tab\t\x01\x7f" } };
	for (int k = 0; k < 5; ++k) {
		knSceneSnapshot cast = testCast(names[k][0], &allocator);
		testRecord(&knGlbWriter, path.text, &cast, 2, 1, &allocator);
		Gltf gltf = gltfOpen(path.text);
		assert_true(gltfNode(&gltf, names[k][1], 0) > 0);
		gltfClose(&gltf);
		knSceneSnapshot_Free(&cast);
	}
	remove(path.text);
}

static void whatIsTooFarAwayIsRefused(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath path = testPath("a.glb");
	for (int what = 0; what < 2; ++what) {
		Heap heap = makeHeap(2, 0);
		heap.bodies[0].rotation = heap.bodies[1].rotation = knIdentityQ();
		heap.bodies[1].position.y = what == 0 ? -1e39 : 0.0;
		heap.cast.shapes[1].size.x = what == 1 ? 1e300 : 1.0;
		void* writer = knGlbWriter.open(path.text, KN_OUTPUT_STAGED, &heap.cast, &allocator, NULL);
		knCastFrame frame = { &heap.cast, 0, 0.0, 0, heap.bodies, NULL };
		knError error = { 0 };
		assert_int_equal(knGlbWriter.write(writer, &frame, &error), KN_UNSUPPORTED);
		assert_non_null(strstr(error.message, ".glb"));
		assert_int_equal(knGlbWriter.write(writer, &frame, &error), KN_UNSUPPORTED);
		assert_int_equal(knGlbWriter.close(writer, &error), KN_UNSUPPORTED);
		assert_int_equal(testFolderCount(), 0);
		freeHeap(&heap);
	}
}

static void abandonedFileIsGone(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knTestPath path = testPath("a.glb");
	knSceneSnapshot cast = testCast("last", &allocator);
	void* writer = knGlbWriter.open(path.text, KN_OUTPUT_STAGED, &cast, &allocator, NULL);
	knBodyState bodies[TEST_BODIES];
	moveBodies(bodies, 0.0);
	knCastFrame frame = { &cast, 0, 0.0, 0, bodies, NULL };
	assert_ok(knGlbWriter.write(writer, &frame, NULL));
	knGlbWriter.abandon(writer);
	knSceneSnapshot_Free(&cast);
	assert_int_equal(testFolderCount(), 0);
	assert_int_equal(memory.live, 0);
}

static void failingAllocatorLeavesNothing(void** state) {
	(void)state;
	knTestPath path = testPath("a.glb");
	knAllocator plain = knAllocator_Default();
	knSceneSnapshot cast = testCast("last", &plain);
	knStatus status = KN_NO_MEMORY;
	int failures = 0;
	for (int failAfter = 0; status != KN_OK; ++failAfter) {
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		memory.failAfter = failAfter;
		knError error = { 0 };
		void* writer = knGlbWriter.open(path.text, KN_OUTPUT_STAGED, &cast, &allocator, &error);
		status = writer != NULL ? KN_OK : error.status;
		for (int f = 0; f < 20 && status == KN_OK; ++f) {
			knBodyState bodies[TEST_BODIES];
			moveBodies(bodies, 0.1 * f);
			knCastFrame frame = { &cast, f / 10, 0.1 * f, (uint64_t)f, bodies, NULL };
			status = knGlbWriter.write(writer, &frame, &error);
		}
		if (writer != NULL) {
			knStatus closed = knGlbWriter.close(writer, &error);
			assert_true(status == KN_OK || closed == status);
			status = closed;
		}
		assert_true(status == KN_OK || status == KN_NO_MEMORY);
		assert_int_equal(testFolderCount(), status == KN_OK);
		assert_int_equal(memory.live, 0);
		failures += status != KN_OK;
	}
	assert_true(failures > 50);
	Gltf gltf = gltfOpen(path.text);
	gltfClose(&gltf);
	knSceneSnapshot_Free(&cast);
	remove(path.text);
}

static void convertedFileEqualsTheRecordedOne(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knTestPath knt = testPath("a.knt"), recorded = testPath("a.glb"), converted = testPath("b.GLB");
	knSceneSnapshot cast = testCast("last", &allocator);
	writeMotion(&knKntWriter, knt.text, &cast, 40, &allocator);
	writeMotion(&knGlbWriter, recorded.text, &cast, 40, &allocator);
	knTrajectory* trajectory = knTrajectory_Open(knt.text, NULL, NULL);
	assert_non_null(trajectory);
	assert_ok(knTrajectory_Write(trajectory, converted.text, NULL));
	knTrajectory_Close(trajectory);
	knTestFile a = testRead(recorded.text), b = testRead(converted.text);
	assert_same_bytes(a, b);
	free(a.bytes);
	free(b.bytes);
	knSceneSnapshot_Free(&cast);
	remove(knt.text);
	remove(recorded.text);
	remove(converted.text);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(animationIsTheRecordedMotion),
		cmocka_unit_test(rootStandsUpright),
		cmocka_unit_test(worstRunStaysSmall),
		cmocka_unit_test(bodiesAppearAndVanish),
		cmocka_unit_test(timesIncrease),
		cmocka_unit_test(shapesAreDrawnInTheirPlace),
		cmocka_unit_test(meshesAndMaterialsAreShared),
		cmocka_unit_test(emptyRecordingsAreSound),
		cmocka_unit_test(namesAreMadeReadable),
		cmocka_unit_test(whatIsTooFarAwayIsRefused),
		cmocka_unit_test(abandonedFileIsGone),
		cmocka_unit_test(failingAllocatorLeavesNothing),
		cmocka_unit_test(convertedFileEqualsTheRecordedOne),
	};
	return cmocka_run_group_tests(tests, testFolderMake, testFolderRemove);
}
