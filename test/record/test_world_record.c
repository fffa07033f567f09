// The recorder as users have it, over a running world: the file is what the world said at each frame, in
// either format, also when bodies come and go.
#include "record_test.h"

#include "knuckle/knuckle.h"

#define STEPS 12
#define LINKS 20

static knWorld* makeWorld(void) {
	knSceneDef def = knSceneDef_Default();
	def.name = "two balls";
	knScene* scene = knScene_Create(&def, NULL, NULL);
	assert_non_null(scene);
	assert_false(KN_ID_IS_NULL(knScene_AddPlane(scene, KN_WORLD_BODY, NULL, NULL)));
	for (int b = 0; b < 2; ++b) {
		knBodyDef body = knBodyDef_Default();
		body.name = b == 0 ? "lower" : "upper, last";
		body.frame.p = knV3(0.01 * b, 0.0, 0.6 + 1.1 * b);
		knBodyId id = knScene_AddBody(scene, &body, NULL);
		assert_false(KN_ID_IS_NULL(knScene_AddSphere(scene, id, 0.5, NULL, NULL)));
	}
	knModel* model = knModel_Create(scene, NULL);
	assert_non_null(model);
	knError error = { 0 };
	knWorld* world = knWorld_Create(model, NULL, &error);
	if (world == NULL) {
		fail_msg("%s", error.message);
	}
	knModel_Release(model);
	knScene_Destroy(scene);
	return world;
}

// The world's bodies, in the order of recordings.
static void readBodies(const knWorld* world, knBodyState* bodies) {
	const knModel* model = knWorld_Model(world);
	for (int b = 0; b < knModel_BodyCount(model); ++b) {
		knBodyId id = knModel_BodyAt(model, b);
		bodies[b].position = knWorld_BodyCenter(world, id);
		bodies[b].rotation = knWorld_BodyFrame(world, id).q;
		bodies[b].velocity = knWorld_BodyVelocity(world, id);
		bodies[b].angularVelocity = knWorld_BodyAngularVelocity(world, id);
	}
}

static void recordingIsWhatTheWorldSaid(void** state) {
	(void)state;
	knTestPath knt = testPath("a.knt"), csv = testPath("a.csv"), converted = testPath("b.csv");
	knWorld* world = makeWorld();
	knRecorder* first = knRecorder_Open(knt.text, world, NULL, NULL);
	knRecorder* second = knRecorder_Open(csv.text, world, NULL, NULL);
	assert_non_null(first);
	assert_non_null(second);
	knBodyState seen[STEPS + 1][3];
	int count[STEPS + 1];
	double time[STEPS + 1];
	for (int k = 0; k <= STEPS; ++k) {
		readBodies(world, seen[k]);
		count[k] = knModel_BodyCount(knWorld_Model(world));
		time[k] = knWorld_Time(world);
		assert_ok(knRecorder_Write(first, world, NULL));
		assert_ok(knRecorder_Write(second, world, NULL));
		assert_ok(knWorld_Step(world, 0.01, NULL));
		// a third body for a while
		if (k == 3) {
			knBodyDef def = knBodyDef_Default();
			def.name = "guest";
			def.frame.p = knV3(5.0, 0.0, 2.0);
			knPart part = { knGeom_Sphere(0.2, NULL, NULL), knShapeDef_Default() };
			assert_false(KN_ID_IS_NULL(knWorld_AddBody(world, &def, &part, 1, NULL)));
			knGeom_Release(part.geom);
		} else if (k == 8) {
			knBodyId guest = knScene_FindBody(knModel_Scene(knWorld_Model(world)), "guest");
			assert_ok(knWorld_RemoveBody(world, guest, NULL));
		}
	}
	assert_ok(knRecorder_Close(first, NULL));
	assert_ok(knRecorder_Close(second, NULL));

	knTrajectory* trajectory = knTrajectory_Open(knt.text, NULL, NULL);
	assert_non_null(trajectory);
	assert_false(knTrajectory_Damaged(trajectory, NULL));
	assert_string_equal(knTrajectory_SceneName(trajectory), "two balls");
	assert_string_equal(knTrajectory_StepperName(trajectory), knWorld_StepperName(world));
	assert_int_equal(knTrajectory_FrameCount(trajectory), STEPS + 1);
	for (int k = 0; k <= STEPS; ++k) {
		assert_true(knTrajectory_Time(trajectory, k) == time[k]);
		assert_int_equal(count[k], k >= 4 && k <= 8 ? 3 : 2);
		assert_int_equal(knTrajectory_BodyCount(trajectory, k), count[k]);
		assert_memory_equal(knTrajectory_Bodies(trajectory, k), seen[k],
							sizeof(knBodyState) * (size_t)count[k]);
	}
	assert_string_equal(knTrajectory_Body(trajectory, 4, 2).name, "guest");
	assert_ok(knTrajectory_Write(trajectory, converted.text, NULL));
	knTrajectory_Close(trajectory);
	knTestFile a = testRead(csv.text), b = testRead(converted.text);
	assert_same_bytes(a, b);
	free(a.bytes);
	free(b.bytes);
	knWorld_Destroy(world);
	remove(knt.text);
	remove(csv.text);
	remove(converted.text);
}

// A chain of balls on hinges, of which four move.
static knWorld* makeChain(void) {
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	assert_non_null(scene);
	knBodyId parent = KN_WORLD_BODY;
	for (int b = 0; b < LINKS; ++b) {
		knBodyDef body = knBodyDef_Default();
		body.frame.p = knV3(0.5 + b, 0.0, 0.0);
		knBodyId id = knScene_AddBody(scene, &body, NULL);
		assert_false(KN_ID_IS_NULL(knScene_AddSphere(scene, id, 0.3, NULL, NULL)));
		knJointDef hinge = knJointDef_Default(KN_JOINT_HINGE);
		hinge.parent = parent;
		hinge.child = id;
		knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), b % 2 == 0 ? 0.5 * KN_PI : 0.0);
		hinge.frameParent = knMakeFrame(knV3(b == 0 ? 0.0 : 0.5, 0.0, 0.0), turn);
		hinge.frameChild = knMakeFrame(knV3(-0.5, 0.0, 0.0), turn);
		assert_false(KN_ID_IS_NULL(knScene_AddJoint(scene, &hinge, NULL)));
		parent = id;
	}
	knSettings settings = knSettings_Default();
	settings.adaptive.active = 4;
	knWorldDef def = { .stepper = "adaptive", .settings = &settings };
	knModel* model = knModel_Create(scene, NULL);
	knWorld* world = knWorld_Create(model, &def, NULL);
	assert_non_null(world);
	knModel_Release(model);
	knScene_Destroy(scene);
	return world;
}

// Which bodies move by themselves is kept, and goes through a file and another one made of it. Version 2 has no such marks.
static void activeBodiesReadBack(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt"), again = testPath("b.knt");
	knWorld* world = makeChain();
	knRecorder* recorder = knRecorder_Open(path.text, world, NULL, NULL);
	assert_non_null(recorder);
	bool seen[STEPS][LINKS];
	for (int k = 0; k < STEPS; ++k) {
		assert_ok(knWorld_Step(world, 0.01, NULL));
		assert_ok(knRecorder_Write(recorder, world, NULL));
		int active = 0;
		for (int b = 0; b < LINKS; ++b) {
			seen[k][b] = knWorld_BodyActive(world, knModel_BodyAt(knWorld_Model(world), b));
			active += seen[k][b];
		}
		assert_true(active > 0 && active <= (k == 0 ? LINKS : 4));
	}
	assert_ok(knRecorder_Close(recorder, NULL));
	knTrajectory* trajectory = knTrajectory_Open(path.text, NULL, NULL);
	assert_non_null(trajectory);
	assert_false(knTrajectory_Damaged(trajectory, NULL));
	assert_int_equal(knTrajectory_FrameCount(trajectory), STEPS);
	for (int k = 0; k < STEPS; ++k) {
		const uint8_t* active = knTrajectory_Active(trajectory, k);
		assert_non_null(active);
		for (int b = 0; b < LINKS; ++b) {
			assert_int_equal(active[b], seen[k][b]);
		}
	}
	assert_ok(knTrajectory_Write(trajectory, again.text, NULL));
	knTrajectory_Close(trajectory);
	knTestFile a = testRead(path.text), b = testRead(again.text);
	assert_same_bytes(a, b);
	a.bytes[8] = 2;
	testWrite(path.text, a.bytes, a.size);
	trajectory = knTrajectory_Open(path.text, NULL, NULL);
	assert_non_null(trajectory);
	assert_true(knTrajectory_Damaged(trajectory, NULL));
	assert_int_equal(knTrajectory_FrameCount(trajectory), 0);
	knTrajectory_Close(trajectory);
	free(a.bytes);
	free(b.bytes);
	knWorld_Destroy(world);
	remove(path.text);
	remove(again.text);
}

// A run without frozen bodies has no marks, and but for the version's number it is a file of version 2.
static void secondVersionIsStillRead(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt");
	knWorld* world = makeWorld();
	knRecorder* recorder = knRecorder_Open(path.text, world, NULL, NULL);
	assert_non_null(recorder);
	assert_ok(knRecorder_Write(recorder, world, NULL));
	assert_ok(knRecorder_Close(recorder, NULL));
	knTestFile file = testRead(path.text);
	file.bytes[8] = 2;
	testWrite(path.text, file.bytes, file.size);
	knTrajectory* trajectory = knTrajectory_Open(path.text, NULL, NULL);
	assert_non_null(trajectory);
	assert_false(knTrajectory_Damaged(trajectory, NULL));
	assert_int_equal(knTrajectory_FrameCount(trajectory), 1);
	assert_null(knTrajectory_Active(trajectory, 0));
	assert_true(knWorld_BodyActive(world, knModel_BodyAt(knWorld_Model(world), 0)));
	knTrajectory_Close(trajectory);
	free(file.bytes);
	knWorld_Destroy(world);
	remove(path.text);
}

static void refusalsLeaveNothing(void** state) {
	(void)state;
	knWorld* world = makeWorld();
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knError error = { 0 };
	assert_null(knRecorder_Open(testPath("a.mp4").text, world, &allocator, &error));
	assert_int_equal(error.status, KN_UNSUPPORTED);
	assert_null(knRecorder_Open(testPath("no/a.csv").text, world, &allocator, &error));
	assert_int_equal(error.status, KN_IO);
	assert_null(knRecorder_Open(testPath("no/a.knt").text, world, &allocator, &error));
	assert_int_equal(error.status, KN_IO);
	memory.failAfter = 0;
	assert_null(knRecorder_Open(testPath("a.csv").text, world, &allocator, &error));
	assert_int_equal(error.status, KN_NO_MEMORY);
	memory.failAfter = -1;
	knRecorder* recorder = knRecorder_Open(testPath("a.csv").text, world, &allocator, &error);
	assert_non_null(recorder);
	assert_ok(knRecorder_Write(recorder, world, &error));
	knRecorder_Abandon(recorder);
	knRecorder_Abandon(NULL);
	assert_int_equal(memory.live, 0);
	assert_int_equal(testFolderCount(), 0);
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recordingIsWhatTheWorldSaid),
		cmocka_unit_test(activeBodiesReadBack),
		cmocka_unit_test(secondVersionIsStillRead),
		cmocka_unit_test(refusalsLeaveNothing),
	};
	return cmocka_run_group_tests(tests, testFolderMake, testFolderRemove);
}
