// The state block: creation, copies, growth, coordinates that count turns, hash.
#include "support/kn_test.h"

#include "model/joint_parts.h"
#include "model/state.h"

static knScene* chain(int links, int capacity) {
	knSceneDef def = knSceneDef_Default();
	def.jointCapacity = capacity;
	knScene* scene = knScene_Create(&def, NULL, NULL);
	knBodyId last = KN_WORLD_BODY;
	for (int i = 0; i < links; ++i) {
		knBodyDef body = knBodyDef_Default();
		body.frame.p = knV3(i, 0, 0);
		body.velocity = knV3(0, i, 0);
		knBodyId id = knScene_AddBody(scene, &body, NULL);
		knScene_AddSphere(scene, id, 0.3, NULL, NULL);
		knJointDef joint = knJointDef_Default(i % 2 == 0 ? KN_JOINT_HINGE : KN_JOINT_BALL);
		joint.axis[0].motorMode = KN_MOTOR_VELOCITY;
		joint.axis[0].motorTarget = 0.5 * i;
		assert_ok(knJointDef_At(&joint, scene, last, id, knV3(i - 0.5, 0, 0), knV3(0, 0, 1), NULL));
		assert_false(KN_ID_IS_NULL(knScene_AddJoint(scene, &joint, NULL)));
		last = id;
	}
	return scene;
}

static knModel* chainModel(int links, int capacity) {
	knScene* scene = chain(links, capacity);
	knModel* model = knModel_Create(scene, NULL);
	assert_non_null(model);
	knScene_Destroy(scene);
	return model;
}

static bool isAligned(const void* p) {
	return (uintptr_t)p % 64 == 0;
}

static void test_create_is_the_initial_state(void** unused) {
	(void)unused;
	knAllocator allocator = knAllocator_Default();
	knModel* model = chainModel(4, 2);
	knState state;
	assert_true(knState_Create(&state, model, "velocity", 100, &allocator));
	for (int i = 0; i < model->bodyCount; ++i) {
		assert_memory_equal(&state.pose[i], &model->initialPose[i], sizeof(knFrame));
		assert_memory_equal(&state.velocity[i], &model->initialVelocity[i], sizeof(knTwist));
	}
	assert_near3(state.header->gravity, knV3(0, 0, -9.81), 0.0);
	assert_int_equal(state.header->step, 0);
	assert_int_equal(state.header->attachedCount, 0);
	assert_true(state.header->privateCapacity >= 100);
	assert_int_equal(knState_JointCount(model), 6);
	for (int j = 0; j < 4; ++j) {
		assert_true(knState_JointActive(&state, model, j));
		assert_int_equal(state.joint[j].motorMode[0], KN_MOTOR_VELOCITY);
		assert_near(state.joint[j].motorTarget[0], 0.5 * j, 0.0);
	}
	assert_null(knState_Joint(&state, model, 4));
	assert_false(knState_JointActive(&state, model, 5));
	assert_true(isAligned(state.pose) && isAligned(state.velocity) && isAligned(state.force) &&
				isAligned(state.pushed) && isAligned(state.pushedBodies) && isAligned(state.shapeEnabled) &&
				isAligned(state.joint) && isAligned(state.attached) && isAligned(state.q) &&
				isAligned(state.v) && isAligned(state.touching) && isAligned(state.stepperPart));
	knState_Destroy(&state, &allocator);
	assert_null(state.block);
	knModel_Release(model);
}

// Two blocks made alike are alike byte by byte, padding included, whatever the memory held before.
static void* dirtyAllocate(size_t size, void* context) {
	knTestMemory* memory = context;
	void* p = testAllocate(size, memory);
	if (p != NULL) {
		memset(p, 0x55 + memory->calls, size);
	}
	return p;
}

static void test_equal_states_are_equal_bytes(void** unused) {
	(void)unused;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	allocator.allocate = dirtyAllocate;
	knModel* model = chainModel(3, 2);
	knState a, b;
	assert_true(knState_Create(&a, model, "velocity", 10, &allocator));
	assert_true(knState_Create(&b, model, "velocity", 10, &allocator));
	assert_int_equal(a.header->size, b.header->size);
	assert_memory_equal(a.block, b.block, (size_t)a.header->size);
	// grown one way or the other
	assert_true(knState_Grow(&a, model, 5, 10, &allocator));
	assert_true(knState_Grow(&a, model, 5, 40, &allocator));
	assert_true(knState_Grow(&b, model, 5, 40, &allocator));
	assert_memory_equal(a.block, b.block, (size_t)a.header->size);
	knState_Destroy(&a, &allocator);
	knState_Destroy(&b, &allocator);
	assert_int_equal(memory.live, 0);
	knModel_Release(model);
}

static void test_copy_and_assign(void** unused) {
	(void)unused;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knModel* model = chainModel(3, 1);
	knState a, b;
	assert_true(knState_Create(&a, model, "velocity", 64, &allocator));
	a.pose[2].p.x = 17.0;
	assert_true(knState_Copy(&b, &a, model, &allocator));
	assert_memory_equal(a.block, b.block, (size_t)a.header->size);
	assert_ptr_not_equal(a.pose, b.pose);
	b.pose[2].p.x = 18.0;
	assert_near(a.pose[2].p.x, 17.0, 0.0);

	// same size: no memory taken; different size: the view follows
	int calls = memory.calls;
	assert_true(knState_Assign(&b, &a, model, NULL, &allocator));
	assert_int_equal(memory.calls, calls);
	assert_near(b.pose[2].p.x, 17.0, 0.0);
	assert_true(knState_Grow(&a, model, 100, 64, &allocator));
	a.touching[99] = (knFramePair){ 1, 2 };
	assert_true(knState_Assign(&b, &a, model, NULL, &allocator));
	assert_int_equal(b.touching[99].b, 2);
	knState_Destroy(&a, &allocator);
	knState_Destroy(&b, &allocator);
	assert_int_equal(memory.live, 0);
	knModel_Release(model);
}

static void test_grow_keeps_everything_and_doubles(void** unused) {
	(void)unused;
	knAllocator allocator = knAllocator_Default();
	knModel* model = chainModel(3, 0);
	knState state;
	assert_true(knState_Create(&state, model, "velocity", 8, &allocator));
	uint64_t hash = knState_Hash(&state, model);
	memcpy(state.stepperPart, "warmth!", 8);
	assert_true(knState_Grow(&state, model, 3, 8, &allocator));
	state.touching[2] = (knFramePair){ 7, 9 };
	assert_true(knState_Grow(&state, model, 4, 8, &allocator));
	assert_int_equal(state.header->touchCapacity, 6);
	assert_int_equal(state.header->privateCapacity, 8);
	assert_true(knState_Grow(&state, model, 1, 100, &allocator));
	assert_int_equal(state.header->privateCapacity, 100);
	assert_int_equal(state.header->touchCapacity, 6);
	assert_int_equal(state.touching[2].b, 9);
	assert_string_equal((const char*)state.stepperPart, "warmth!");
	assert_true(knState_Hash(&state, model) == hash);
	// absurd sizes are refused, and nothing changes
	assert_false(knState_Grow(&state, model, SIZE_MAX / 4, 8, &allocator));
	assert_false(knState_Grow(&state, model, 1, SIZE_MAX - 64, &allocator));
	assert_int_equal(state.header->touchCapacity, 6);
	knState_Destroy(&state, &allocator);
	knModel_Release(model);
}

static void test_out_of_memory_changes_nothing(void** unused) {
	(void)unused;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knModel* model = chainModel(3, 0);
	knState state, copy;
	memory.failAfter = 0;
	assert_false(knState_Create(&state, model, "velocity", 8, &allocator));
	memory.failAfter = -1;
	assert_true(knState_Create(&state, model, "velocity", 8, &allocator));
	void* block = state.block;
	memory.failAfter = 0;
	assert_false(knState_Grow(&state, model, 10, 10, &allocator));
	assert_ptr_equal(state.block, block);
	assert_false(knState_Copy(&copy, &state, model, &allocator));
	knState_Destroy(&state, &allocator);
	assert_int_equal(memory.live, 0);
	knModel_Release(model);
}

// The child spins about its hinge; the coordinate counts every turn and the velocity is that of the spin.
static void test_coordinates_count_turns(void** unused) {
	(void)unused;
	knAllocator allocator = knAllocator_Default();
	knModel* model = chainModel(1, 0);
	knState state;
	assert_true(knState_Create(&state, model, "velocity", 0, &allocator));
	assert_near(state.q[0], 0.0, 1e-15);
	knFrame start = state.pose[1];
	knVec3 anchor = knV3(-0.5, 0, 0);
	for (int step = 1; step <= 30; ++step) {
		double angle = 1.1 * step;
		knQuat turn = knQuat_FromAxisAngle(knV3(0, 0, 1), angle);
		state.pose[1].p = knAdd(anchor, knRotate(turn, knSub(start.p, anchor)));
		state.pose[1].q = knMulQ(turn, start.q);
		state.velocity[1].ang = knV3(0, 0, 2.5);
		state.velocity[1].lin = knCross(state.velocity[1].ang, knSub(state.pose[1].p, anchor));
		knState_UpdateCoordinates(&state, model);
		assert_near(state.q[0], angle, 1e-12);
		assert_near(state.v[0], 2.5, 1e-13);
	}
	// counting begins anew
	knState_InitialCoordinates(&state, model, 0);
	assert_near(state.q[0], 33.0 - 10.0 * KN_PI, 1e-12);
	knState_Destroy(&state, &allocator);
	knModel_Release(model);
}

static void test_hash_sees_what_matters(void** unused) {
	(void)unused;
	knAllocator allocator = knAllocator_Default();
	knModel* model = chainModel(2, 0);
	knState state;
	assert_true(knState_Create(&state, model, "velocity", 16, &allocator));
	uint64_t hash = knState_Hash(&state, model);
	double* const seen[] = { &state.header->time, &state.pose[1].p.y,       &state.pose[2].q.z,
							 &state.q[0],         &state.velocity[1].lin.x, &state.velocity[2].ang.z };
	for (int i = 0; i < (int)(sizeof(seen) / sizeof(seen[0])); ++i) {
		double before = *seen[i];
		*seen[i] += 1e-9;
		assert_true(knState_Hash(&state, model) != hash);
		*seen[i] = before;
		assert_true(knState_Hash(&state, model) == hash);
	}
	state.header->step += 1;
	assert_true(knState_Hash(&state, model) != hash);
	state.header->step -= 1;
	// a negative zero is a zero; a disabled joint's coordinates do not count
	state.pose[1].p.z = -state.pose[1].p.z;
	assert_true(knState_Hash(&state, model) == hash);
	state.joint[1].enabled = 0;
	uint64_t without = knState_Hash(&state, model);
	state.q[1] += 1.0;
	assert_true(knState_Hash(&state, model) == without);
	knState_Destroy(&state, &allocator);
	knModel_Release(model);
}

static void test_finite(void** unused) {
	(void)unused;
	knAllocator allocator = knAllocator_Default();
	knModel* model = chainModel(2, 1);
	knState state;
	assert_true(knState_Create(&state, model, "velocity", 0, &allocator));
	assert_true(knState_IsFinite(&state, model));
	double* const spots[] = { &state.pose[2].p.x, &state.pose[1].q.w, &state.velocity[2].lin.y,
							  &state.velocity[1].ang.z, &state.q[4] };
	for (int i = 0; i < (int)(sizeof(spots) / sizeof(spots[0])); ++i) {
		double before = *spots[i];
		*spots[i] = i % 2 == 0 ? nan("") : INFINITY;
		assert_false(knState_IsFinite(&state, model));
		*spots[i] = before;
	}
	assert_true(knState_IsFinite(&state, model));
	knState_Destroy(&state, &allocator);
	knModel_Release(model);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_is_the_initial_state),
		cmocka_unit_test(test_equal_states_are_equal_bytes),
		cmocka_unit_test(test_copy_and_assign),
		cmocka_unit_test(test_grow_keeps_everything_and_doubles),
		cmocka_unit_test(test_out_of_memory_changes_nothing),
		cmocka_unit_test(test_coordinates_count_turns),
		cmocka_unit_test(test_hash_sees_what_matters),
		cmocka_unit_test(test_finite),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
