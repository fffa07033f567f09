// The impulse stepper's part of the state: sizes, growth, damage, and edits of the topology.
#include "world/fixture.h"

#include "steppers/impulse/impulse_memory.h"

static knScene* threeBalls(knBodyId* bodies) {
	knScene* scene = newScene(noGravity);
	knScene_Def(scene)->jointCapacity = 1;
	for (int i = 0; i < 3; ++i) {
		bodies[i] = newBall(scene, knV3(2.0 * i, 0.0, 0.0), 0.5, knZero3(), material(0.5, 0.0));
	}
	for (int i = 0; i < 2; ++i) {
		knJointDef def = jointAt(scene, KN_JOINT_BALL, bodies[i], bodies[i + 1],
								 knV3(2.0 * i + 1.0, 0.0, 0.0), knV3(1.0, 0.0, 0.0));
		newJoint(scene, &def);
	}
	return scene;
}

static void fill(knState* state, const knModel* model, const knAllocator* allocator) {
	assert_true(knImpulseMemory_Resize(state, model, 0.01, 3, allocator));
	const int32_t pairs[3][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };
	for (int i = 0; i < 3; ++i) {
		knImpulseMemory_Contacts(state)[i] = (knContactMemory){
			.shapeA = pairs[i][0], .shapeB = pairs[i][1], .feature = (uint64_t)i, .normal = 10.0 + i
		};
		knImpulseMemory_Joints(state)[i].dt = 20.0 + i;
	}
}

static void test_grows_and_reads_back(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knBodyId bodies[3];
	knScene* scene = threeBalls(bodies);
	knModel* model = knModel_Create(scene, NULL);
	knState s;
	assert_true(knState_Create(&s, model, "impulse", 0, &allocator));
	assert_int_equal(knImpulseMemory_Get(&s).contactCount, 0);
	assert_near(knImpulseMemory_Get(&s).dt, 0.0, 0.0);
	fill(&s, model, &allocator);
	assert_int_equal(knImpulseMemory_Get(&s).jointCount, 3);
	assert_near(knImpulseMemory_Contacts(&s)[2].normal, 12.0, 0.0);

	// more contacts: the joints' memories stay
	assert_true(knImpulseMemory_Resize(&s, model, 0.02, 50, &allocator));
	assert_int_equal(knImpulseMemory_Get(&s).contactCount, 50);
	assert_near(knImpulseMemory_Joints(&s)[1].dt, 21.0, 0.0);
	assert_true(s.header->privateSize == knImpulseMemory_Size(3, 50));

	// counts that do not fit the size are no memories at all
	((knImpulseMemory*)s.stepperPart)->contactCount = 1000000;
	assert_int_equal(knImpulseMemory_Get(&s).contactCount, 0);
	((knImpulseMemory*)s.stepperPart)->contactCount = -3;
	assert_int_equal(knImpulseMemory_Get(&s).contactCount, 0);
	knState_Destroy(&s, &allocator);
	knModel_Release(model);
	knScene_Destroy(scene);
}

// The first ball is removed: memories that touch it go, the others follow their shapes and joints.
static void test_migrates_by_id(void** state) {
	(void)state;
	knAllocator allocator = knAllocator_Default();
	knBodyId bodies[3];
	knScene* scene = threeBalls(bodies);
	knModel* before = knModel_Create(scene, NULL);
	knState from, to;
	assert_true(knState_Create(&from, before, "impulse", 0, &allocator));
	fill(&from, before, &allocator);
	assert_ok(knScene_RemoveBody(scene, bodies[0], NULL));
	knModel* after = knModel_Create(scene, NULL);
	assert_non_null(after);
	assert_true(knState_Migrate(&to, after, &from, before, &allocator));
	assert_true(knImpulseMemory_Migrate(&to, after, &from, before, &allocator));
	assert_int_equal(knImpulseMemory_Get(&to).contactCount, 1);
	assert_near(knImpulseMemory_Contacts(&to)[0].normal, 12.0, 0.0);
	assert_int_equal(knImpulseMemory_Contacts(&to)[0].shapeA, 0);
	assert_int_equal(knImpulseMemory_Contacts(&to)[0].shapeB, 1);

	// the second joint is now the first; the attached slot comes after it
	assert_int_equal(knImpulseMemory_Get(&to).jointCount, 2);
	assert_near(knImpulseMemory_Joints(&to)[0].dt, 21.0, 0.0);
	assert_near(knImpulseMemory_Joints(&to)[1].dt, 22.0, 0.0);
	knState_Destroy(&from, &allocator);
	knState_Destroy(&to, &allocator);
	knModel_Release(before);
	knModel_Release(after);
	knScene_Destroy(scene);
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_grows_and_reads_back),
										cmocka_unit_test(test_migrates_by_id) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
