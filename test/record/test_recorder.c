// Recorders over a model and its state: everything a user authored stands in the recording, placed where the
// scene has it; edits of the model become a new cast; formats are chosen by extension.
#include "record_test.h"

#include "record/recorder.h"

typedef struct Recorded {
	knScene* scene;
	knModel* model;
	knState state;
	knAllocator allocator;
} Recorded;

static knFrame at(double x, double y, double z) {
	return knMakeFrame(knV3(x, y, z), knIdentityQ());
}

// A plane of the world, a ball off its body's origin, a fixed body with a dumbbell (a compound), a sensor.
static knScene* makeScene(void) {
	knSceneDef sceneDef = knSceneDef_Default();
	sceneDef.name = "recorded";
	knScene* scene = knScene_Create(&sceneDef, NULL, NULL);
	assert_non_null(scene);
	knTestRandom random = { 4 };
	knBodyDef body = knBodyDef_Default();
	body.name = "ball";
	body.color = 0xff8000;
	body.frame = testFrame(&random, 2.0);
	knBodyId ball = knScene_AddBody(scene, &body, NULL);
	body.name = "dumbbell, fixed";
	body.kind = KN_BODY_FIXED;
	body.color = 0;
	body.frame = testFrame(&random, 2.0);
	knBodyId dumbbell = knScene_AddBody(scene, &body, NULL);

	knShapeDef shape = knShapeDef_Default();
	shape.frame = testFrame(&random, 1.0);
	shape.name = "weights";
	shape.color = 0x123456;
	knGeom* sphere = knGeom_Sphere(0.25, NULL, NULL);
	knGeom* rod = knGeom_Capsule(0.05, 0.5, NULL, NULL);
	knGeomChild children[2] = { { sphere, at(0.0, 0.0, 0.7) }, { rod, testFrame(&random, 0.5) } };
	knGeom* compound = knGeom_Compound(children, 2, NULL, NULL);
	assert_false(KN_ID_IS_NULL(knScene_AddShape(scene, dumbbell, compound, &shape, NULL)));
	knGeom_Release(compound);
	knGeom_Release(rod);
	knGeom_Release(sphere);

	shape.name = NULL;
	shape.color = 0;
	shape.frame = at(1.0, 0.0, 0.0);
	assert_false(KN_ID_IS_NULL(knScene_AddSphere(scene, ball, 0.5, &shape, NULL)));
	shape.name = "trigger";
	shape.sensor = true;
	assert_false(KN_ID_IS_NULL(knScene_AddSphere(scene, ball, 5.0, &shape, NULL)));
	shape.name = "ground";
	shape.sensor = false;
	shape.frame = at(0.0, 0.0, -3.0);
	assert_false(KN_ID_IS_NULL(knScene_AddPlane(scene, KN_WORLD_BODY, &shape, NULL)));
	return scene;
}

static Recorded makeRecorded(knScene* scene) {
	Recorded recorded = { .scene = scene, .allocator = knAllocator_Default() };
	knError error = { 0 };
	recorded.model = knModel_Create(scene, &error);
	if (recorded.model == NULL) {
		fail_msg("%s: %s", error.element, error.message);
	}
	assert_true(knState_Create(&recorded.state, recorded.model, "velocity", 0, &recorded.allocator));
	return recorded;
}

static void freeRecorded(Recorded* recorded) {
	knState_Destroy(&recorded->state, &recorded->allocator);
	knModel_Release(recorded->model);
	knScene_Destroy(recorded->scene);
}

static knRecordView viewOf(const Recorded* recorded) {
	knRecordView view = { recorded->model, &recorded->state, "velocity", NULL };
	return view;
}

static void advance(Recorded* recorded, knTestRandom* random) {
	recorded->state.header->time += 0.125;
	recorded->state.header->step += 1;
	for (int b = 1; b < recorded->model->bodyCount; ++b) {
		recorded->state.pose[b] = testFrame(random, 3.0);
		recorded->state.velocity[b] = knMakeTwist(testVec3(random, 1.0), testVec3(random, 1.0));
	}
}

static knTrajectory* recordFrames(Recorded* recorded, const char* path, int frames) {
	const knRecorderOps* ops = knRecorderOps_ForPath(path, NULL);
	assert_non_null(ops);
	knRecordView view = viewOf(recorded);
	void* recorder = ops->open(path, &view, &recorded->allocator, NULL);
	assert_non_null(recorder);
	knTestRandom random = { 77 };
	for (int f = 0; f < frames; ++f) {
		assert_ok(ops->write(recorder, &view, NULL));
		advance(recorded, &random);
	}
	assert_ok(ops->close(recorder, NULL));
	knTrajectory* trajectory = knTrajectory_Open(path, NULL, NULL);
	assert_non_null(trajectory);
	assert_false(knTrajectory_Damaged(trajectory, NULL));
	assert_int_equal(knTrajectory_FrameCount(trajectory), frames);
	return trajectory;
}

static void assertFrameNear(knFrame a, knFrame b) {
	assert_near3(a.p, b.p, 1e-14);
	assert_near(fabs(knDotQ(a.q, b.q)), 1.0, 1e-14);
}

static void castIsWhatWasAuthored(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt");
	Recorded recorded = makeRecorded(makeScene());
	knTrajectory* trajectory = recordFrames(&recorded, path.text, 1);
	assert_string_equal(knTrajectory_SceneName(trajectory), "recorded");
	assert_string_equal(knTrajectory_StepperName(trajectory), "velocity");
	assert_int_equal(knTrajectory_BodyCount(trajectory, 0), 2);

	knTrajectoryBody ball = knTrajectory_Body(trajectory, 0, 0),
					 dumbbell = knTrajectory_Body(trajectory, 0, 1);
	assert_string_equal(ball.name, "ball");
	assert_int_equal(ball.kind, KN_BODY_DYNAMIC);
	assert_int_equal(ball.color, 0xff8000);
	assert_near(ball.mass, 1000.0 * 4.0 / 3.0 * KN_PI * 0.125, 1e-9);
	assert_string_equal(dumbbell.name, "dumbbell, fixed");
	assert_int_equal(dumbbell.kind, KN_BODY_FIXED);
	assert_true(dumbbell.mass == 0.0);

	// the world's plane first, no sensor, the compound as its children
	assert_int_equal(ball.firstShape, 1);
	assert_int_equal(ball.shapeCount, 1);
	assert_int_equal(dumbbell.firstShape, 2);
	assert_int_equal(dumbbell.shapeCount, 2);
	knTrajectoryShape plane = knTrajectory_Shape(trajectory, 0, 0);
	assert_int_equal(plane.kind, KN_GEOM_PLANE);
	assert_string_equal(plane.name, "ground");
	assertFrameNear(plane.frame, at(0.0, 0.0, -3.0));
	knTrajectoryShape sphere = knTrajectory_Shape(trajectory, 0, 1);
	assert_int_equal(sphere.kind, KN_GEOM_SPHERE);
	assert_true(sphere.size.x == 0.5);
	assert_string_equal(sphere.name, "");
	for (int s = 2; s < 4; ++s) {
		knTrajectoryShape part = knTrajectory_Shape(trajectory, 0, s);
		assert_int_equal(part.kind, s == 2 ? KN_GEOM_SPHERE : KN_GEOM_CAPSULE);
		assert_true(part.size.x == (s == 2 ? 0.25 : 0.05));
		assert_int_equal(part.color, 0x123456);
		assert_string_equal(part.name, "weights");
	}
	knTrajectory_Close(trajectory);
	freeRecorded(&recorded);
	remove(path.text);
}

// Pose of the centre of mass times the recorded place is the body frame times the authored place.
static void shapesStandWhereTheSceneHasThem(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt");
	knScene* scene = makeScene();
	Recorded recorded = makeRecorded(scene);
	knTrajectory* trajectory = recordFrames(&recorded, path.text, 1);
	const knBodyState* bodies = knTrajectory_Bodies(trajectory, 0);
	for (int slot = 0; slot < knScene_ShapeSlots(scene); ++slot) {
		knShapeId id = knScene_ShapeAt(scene, slot);
		const knShapeDef* def = knScene_GetShape(scene, id);
		knBodyId owner = knScene_GetShapeBody(scene, id);
		if (def->sensor || KN_ID_IS_NULL(owner)) {
			continue;
		}
		int b = knModel_BodyIndex(recorded.model, owner) - 1;
		const knGeom* geom = knScene_GetShapeGeom(scene, id);
		int children = knGeom_Kind(geom) == KN_GEOM_COMPOUND ? knGeom_ChildCount(geom) : 0;
		knFrame placed = knMulF(knScene_GetBody(scene, owner)->frame, def->frame);
		knFrame pose = knMakeFrame(bodies[b].position, bodies[b].rotation);
		for (int k = 0; k < (children > 0 ? children : 1); ++k) {
			knTrajectoryShape shape =
				knTrajectory_Shape(trajectory, 0, knTrajectory_Body(trajectory, 0, b).firstShape + k);
			knFrame expected = children > 0 ? knMulF(placed, knGeom_Child(geom, k).frame) : placed;
			assertFrameNear(knMulF(pose, shape.frame), expected);
		}
	}
	knTrajectory_Close(trajectory);
	freeRecorded(&recorded);
	remove(path.text);
}

static void framesAreTheStateBitByBit(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt"), csv = testPath("a.csv"), converted = testPath("b.csv");
	Recorded recorded = makeRecorded(makeScene()), again = makeRecorded(makeScene());
	knTrajectory* trajectory = recordFrames(&recorded, path.text, 6);
	// the same states once more, to compare
	knTestRandom random = { 77 };
	for (int f = 0; f < 6; ++f) {
		assert_true(knTrajectory_Time(trajectory, f) == 0.125 * f);
		const knBodyState* bodies = knTrajectory_Bodies(trajectory, f);
		for (int b = 0; b < 2; ++b) {
			assert_memory_equal(&bodies[b].position, &again.state.pose[b + 1].p, sizeof(knVec3));
			assert_memory_equal(&bodies[b].rotation, &again.state.pose[b + 1].q, sizeof(knQuat));
			assert_memory_equal(&bodies[b].velocity, &again.state.velocity[b + 1].lin, sizeof(knVec3));
			assert_memory_equal(&bodies[b].angularVelocity, &again.state.velocity[b + 1].ang, sizeof(knVec3));
		}
		advance(&again, &random);
	}
	freeRecorded(&again);

	// recorded as CSV and converted to CSV: the same bytes
	assert_ok(knTrajectory_Write(trajectory, converted.text, NULL));
	knTrajectory_Close(trajectory);
	again = makeRecorded(makeScene());
	knRecordView view = viewOf(&again);
	void* recorder = knCsvRecorder.open(csv.text, &view, &again.allocator, NULL);
	assert_non_null(recorder);
	random = (knTestRandom){ 77 };
	for (int f = 0; f < 6; ++f) {
		assert_ok(knCsvRecorder.write(recorder, &view, NULL));
		advance(&again, &random);
	}
	assert_ok(knCsvRecorder.close(recorder, NULL));
	knTestFile a = testRead(csv.text), b = testRead(converted.text);
	assert_same_bytes(a, b);
	free(a.bytes);
	free(b.bytes);
	freeRecorded(&recorded);
	freeRecorded(&again);
	remove(path.text);
	remove(csv.text);
	remove(converted.text);
}

static void editedModelIsANewCast(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt");
	Recorded before = makeRecorded(makeScene());
	knScene* scene = makeScene();
	knBodyDef def = knBodyDef_Default();
	def.name = "newcomer";
	knBodyId newcomer = knScene_AddBody(scene, &def, NULL);
	assert_false(KN_ID_IS_NULL(knScene_AddSphere(scene, newcomer, 1.0, NULL, NULL)));
	Recorded after = makeRecorded(scene);

	knRecordView view = viewOf(&before);
	void* recorder = knKntRecorder.open(path.text, &view, &before.allocator, NULL);
	assert_non_null(recorder);
	assert_ok(knKntRecorder.write(recorder, &view, NULL));
	view = viewOf(&after);
	assert_ok(knKntRecorder.write(recorder, &view, NULL));
	assert_ok(knKntRecorder.write(recorder, &view, NULL));
	assert_ok(knKntRecorder.close(recorder, NULL));

	knTrajectory* trajectory = knTrajectory_Open(path.text, NULL, NULL);
	assert_non_null(trajectory);
	assert_int_equal(knTrajectory_FrameCount(trajectory), 3);
	assert_int_equal(knTrajectory_BodyCount(trajectory, 0), 2);
	assert_int_equal(knTrajectory_BodyCount(trajectory, 1), 3);
	assert_int_equal(knTrajectory_BodyCount(trajectory, 2), 3);
	assert_string_equal(knTrajectory_Body(trajectory, 2, 2).name, "newcomer");
	knTrajectory_Close(trajectory);
	freeRecorded(&before);
	freeRecorded(&after);
	remove(path.text);
}

// Hulls of many bodies, also when each built its own, are one mesh, stored once.
static void equalHullsAreOneMesh(void** state) {
	(void)state;
	const knVec3 corners[6] = { { 1, 0, 0 },  { -1, 0, 0 }, { 0, 1, 0 },
								{ 0, -1, 0 }, { 0, 0, 1 },  { 0, 0, -1 } };
	knScene* scene = makeScene();
	for (int b = 0; b < 4; ++b) {
		char name[16];
		snprintf(name, sizeof(name), "rock%d", b);
		knBodyDef body = knBodyDef_Default();
		body.name = name;
		knBodyId id = knScene_AddBody(scene, &body, NULL);
		// the last one lacks a corner
		knGeom* hull = knGeom_Hull(corners, b < 3 ? 6 : 5, NULL, NULL);
		knShapeDef shape = knShapeDef_Default();
		assert_false(KN_ID_IS_NULL(knScene_AddShape(scene, id, hull, &shape, NULL)));
		assert_false(KN_ID_IS_NULL(knScene_AddShape(scene, id, hull, &shape, NULL)));
		knGeom_Release(hull);
	}
	Recorded recorded = makeRecorded(scene);
	knTestPath path = testPath("a.knt"), copy = testPath("b.glb");
	knTrajectory* trajectory = recordFrames(&recorded, path.text, 2);
	assert_int_equal(knTrajectory_MeshCount(trajectory), 2);
	for (int b = 0; b < 4; ++b) {
		knTrajectoryBody body = knTrajectory_Body(trajectory, 1, 2 + b);
		assert_int_equal(body.shapeCount, 2);
		for (int s = 0; s < 2; ++s) {
			knTrajectoryShape shape = knTrajectory_Shape(trajectory, 1, body.firstShape + s);
			assert_int_equal(shape.kind, KN_GEOM_HULL);
			assert_int_equal(shape.mesh, b < 3 ? 0 : 1);
		}
	}
	// an octahedron: volume 4/3, by the divergence theorem
	knTrajectoryMesh mesh = knTrajectory_Mesh(trajectory, 0);
	double volume = 0.0;
	for (int t = 0; t < mesh.triangleCount; ++t) {
		const int32_t vertices[3] = { mesh.triangles[t].a, mesh.triangles[t].b, mesh.triangles[t].c };
		knVec3 p[3];
		for (int k = 0; k < 3; ++k) {
			const float* v = &mesh.vertices[3 * vertices[k]];
			p[k] = knV3((double)v[0], (double)v[1], (double)v[2]);
		}
		volume += knDot(p[0], knCross(p[1], p[2])) / 6.0;
	}
	assert_int_equal(mesh.vertexCount, 6);
	assert_near(volume, 4.0 / 3.0, 1e-6);
	assert_ok(knTrajectory_Write(trajectory, copy.text, NULL));
	knTrajectory_Close(trajectory);
	freeRecorded(&recorded);
	assert_true(testExists(copy.text));
	remove(path.text);
	remove(copy.text);
}

static void stateThatIsNotFiniteIsRefused(void** state) {
	(void)state;
	knTestPath path = testPath("a.knt");
	Recorded recorded = makeRecorded(makeScene());
	knRecordView view = viewOf(&recorded);
	void* recorder = knKntRecorder.open(path.text, &view, &recorded.allocator, NULL);
	assert_non_null(recorder);
	assert_ok(knKntRecorder.write(recorder, &view, NULL));
	recorded.state.velocity[1].lin.x = NAN;
	knError error = { 0 };
	assert_int_equal(knKntRecorder.write(recorder, &view, &error), KN_DIVERGED);
	assert_string_equal(error.file, path.text);
	knKntRecorder.abandon(recorder);
	knTrajectory* trajectory = knTrajectory_Open(path.text, NULL, NULL);
	assert_non_null(trajectory);
	assert_int_equal(knTrajectory_FrameCount(trajectory), 1);
	assert_true(knTrajectory_Damaged(trajectory, NULL));
	knTrajectory_Close(trajectory);
	freeRecorded(&recorded);
	remove(path.text);
}

static void formatFollowsTheExtension(void** state) {
	(void)state;
	assert_ptr_equal(knRecorderOps_ForPath("a.csv", NULL), &knCsvRecorder);
	assert_ptr_equal(knRecorderOps_ForPath("dir.knt/A.CSV", NULL), &knCsvRecorder);
	assert_ptr_equal(knRecorderOps_ForPath("a.b.Knt", NULL), &knKntRecorder);
	const char* unknown[] = { "a.txt", "csv", "", "a.csv.gz", "a.kn" };
	for (int k = 0; k < 5; ++k) {
		knError error = { 0 };
		assert_null(knRecorderOps_ForPath(unknown[k], &error));
		assert_int_equal(error.status, KN_UNSUPPORTED);
		assert_non_null(strstr(error.message, ".csv"));
		assert_non_null(strstr(error.message, ".knt"));
	}
}

static void recordingSurvivesAFailingAllocator(void** state) {
	(void)state;
	const char* names[] = { "a.csv", "a.knt" };
	for (int k = 0; k < 2; ++k) {
		knTestPath path = testPath(names[k]);
		const knRecorderOps* ops = knRecorderOps_ForPath(path.text, NULL);
		Recorded first = makeRecorded(makeScene()), second = makeRecorded(makeScene());
		for (int failAfter = 0;; ++failAfter) {
			knTestMemory memory;
			knAllocator allocator = testAllocator(&memory);
			memory.failAfter = failAfter;
			knRecordView view = viewOf(&first), edited = viewOf(&second);
			knError error = { 0 };
			void* recorder = ops->open(path.text, &view, &allocator, &error);
			knStatus status = recorder != NULL ? KN_OK : error.status;
			if (recorder == NULL) {
				assert_int_equal(testFolderCount(), 0);
			} else {
				status = ops->write(recorder, &view, &error);
				status = status == KN_OK ? ops->write(recorder, &edited, &error) : status;
				if (status == KN_OK) {
					status = ops->close(recorder, &error);
				} else {
					ops->abandon(recorder);
				}
			}
			assert_int_equal(memory.live, 0);
			remove(path.text);
			assert_int_equal(testFolderCount(), 0);
			if (status == KN_OK) {
				assert_true(failAfter > 4);
				break;
			}
			assert_int_equal(status, KN_NO_MEMORY);
		}
		freeRecorded(&first);
		freeRecorded(&second);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(castIsWhatWasAuthored),     cmocka_unit_test(shapesStandWhereTheSceneHasThem),
		cmocka_unit_test(framesAreTheStateBitByBit), cmocka_unit_test(editedModelIsANewCast),
		cmocka_unit_test(equalHullsAreOneMesh),      cmocka_unit_test(stateThatIsNotFiniteIsRefused),
		cmocka_unit_test(formatFollowsTheExtension), cmocka_unit_test(recordingSurvivesAFailingAllocator),
	};
	return cmocka_run_group_tests(tests, testFolderMake, testFolderRemove);
}
