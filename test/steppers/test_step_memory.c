// The maximal steppers' part of the state: sizes, growth, damage, and edits of the topology.
#include "dynamics/step_memory.h"

#include "memory_scene.h"

static void fill(knState* state, const knModel* model, const knAllocator* allocator) {
	assert_true(knStepMemory_Resize(state, model, 0.01, 3, 3, 0, allocator));
	fillContacts(knStepMemory_Contacts(state));
	for (int i = 0; i < 3; ++i) {
		knStepMemory_Joints(state)[i] = (knJointMemory){ .joint = i, .part = 1, .impulse = 20.0 + i };
	}
}

static void test_grows_and_reads_back(void** state) {
	(void)state;
	MemoryScene m;
	openMemoryScene(&m, "velocity");
	knState* s = &m.from;
	assert_int_equal(knStepMemory_Get(s)->contactCount, 0);
	assert_near(knStepMemory_Get(s)->dt, 0.0, 0.0);
	fill(s, m.before, &m.allocator);
	assert_int_equal(knStepMemory_Get(s)->contactCount, 3);
	assert_int_equal(knStepMemory_Get(s)->jointCount, 3);
	assert_true(s->header->privateSize == knStepMemory_Size(3, 3, 0));
	assert_near(knStepMemory_Contacts(s)[2].normal, 12.0, 0.0);
	assert_near(knStepMemory_Joints(s)[2].impulse, 22.0, 0.0);

	// counts that do not fit the size are no memories at all
	((knStepMemory*)s->stepperPart)->contactCount = 1000000;
	assert_int_equal(knStepMemory_Get(s)->contactCount, 0);
	((knStepMemory*)s->stepperPart)->contactCount = -3;
	assert_int_equal(knStepMemory_Get(s)->contactCount, 0);
	closeMemoryScene(&m);
}

// The middle ball is removed: memories that touch it go, the others follow their shapes and joints.
static void test_migrates_by_id(void** state) {
	(void)state;
	MemoryScene m;
	openMemoryScene(&m, "velocity");
	fill(&m.from, m.before, &m.allocator);
	editMemoryScene(&m);
	assert_true(knStepMemory_Migrate(&m.to, m.after, &m.from, m.before, &m.allocator));
	const knStepMemory* memory = knStepMemory_Get(&m.to);
	checkContactsLeft(knStepMemory_Contacts(&m.to), memory->contactCount);

	// the second joint is now the first; the attached slot comes after it
	assert_int_equal(memory->jointCount, 2);
	assert_int_equal(knStepMemory_Joints(&m.to)[0].joint, 0);
	assert_near(knStepMemory_Joints(&m.to)[0].impulse, 21.0, 0.0);
	assert_int_equal(knStepMemory_Joints(&m.to)[1].joint, 1);
	assert_near(knStepMemory_Joints(&m.to)[1].impulse, 22.0, 0.0);
	closeMemoryScene(&m);
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_grows_and_reads_back),
										cmocka_unit_test(test_migrates_by_id) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
