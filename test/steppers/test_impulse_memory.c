// The impulse stepper's part of the state: sizes, growth, damage, and edits of the topology.
#include "steppers/impulse/impulse_memory.h"

#include "memory_scene.h"

static void fill(knState* state, const knModel* model, const knAllocator* allocator) {
	assert_true(knImpulseMemory_Resize(state, model, 0.01, 3, allocator));
	fillContacts(knImpulseMemory_Contacts(state));
	for (int i = 0; i < 3; ++i) {
		knImpulseMemory_Joints(state)[i].dt = 20.0 + i;
	}
}

static void test_grows_and_reads_back(void** state) {
	(void)state;
	MemoryScene m;
	openMemoryScene(&m, "impulse");
	knState* s = &m.from;
	assert_int_equal(knImpulseMemory_Get(s).contactCount, 0);
	assert_near(knImpulseMemory_Get(s).dt, 0.0, 0.0);
	fill(s, m.before, &m.allocator);
	assert_int_equal(knImpulseMemory_Get(s).jointCount, 3);
	assert_near(knImpulseMemory_Contacts(s)[2].normal, 12.0, 0.0);

	// more contacts: the joints' memories stay
	assert_true(knImpulseMemory_Resize(s, m.before, 0.02, 50, &m.allocator));
	assert_int_equal(knImpulseMemory_Get(s).contactCount, 50);
	assert_near(knImpulseMemory_Joints(s)[1].dt, 21.0, 0.0);
	assert_true(s->header->privateSize == knImpulseMemory_Size(3, 50));

	// counts that do not fit the size are no memories at all
	((knImpulseMemory*)s->stepperPart)->contactCount = 1000000;
	assert_int_equal(knImpulseMemory_Get(s).contactCount, 0);
	((knImpulseMemory*)s->stepperPart)->contactCount = -3;
	assert_int_equal(knImpulseMemory_Get(s).contactCount, 0);
	closeMemoryScene(&m);
}

// The first ball is removed: memories that touch it go, the others follow their shapes and joints.
static void test_migrates_by_id(void** state) {
	(void)state;
	MemoryScene m;
	openMemoryScene(&m, "impulse");
	fill(&m.from, m.before, &m.allocator);
	editMemoryScene(&m);
	assert_true(knImpulseMemory_Migrate(&m.to, m.after, &m.from, m.before, &m.allocator));
	checkContactsLeft(knImpulseMemory_Contacts(&m.to), knImpulseMemory_Get(&m.to).contactCount);

	// the second joint is now the first; the attached slot comes after it
	assert_int_equal(knImpulseMemory_Get(&m.to).jointCount, 2);
	assert_near(knImpulseMemory_Joints(&m.to)[0].dt, 21.0, 0.0);
	assert_near(knImpulseMemory_Joints(&m.to)[1].dt, 22.0, 0.0);
	closeMemoryScene(&m);
}

int main(void) {
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_grows_and_reads_back),
										cmocka_unit_test(test_migrates_by_id) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
