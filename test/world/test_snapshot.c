// Snapshots, clones and the hash: what follows is equal bit by bit.
#include "world/fixture.h"

#define DT 0.01

static knScene* toppleScene(void) {
	knScene* scene = newScene(earth);
	knScene_Def(scene)->jointCapacity = 2;
	newGround(scene, material(0.6, 0.0));
	for (int i = 0; i < 8; ++i) {
		newBox(scene, knV3(0.12 * i, 0.03 * i, 0.5 + 1.0 * i), knV3(0.5, 0.4, 0.5), material(0.5, 0.1));
	}
	knBodyId arm = newBox(scene, knV3(4.0, 0.0, 3.0), knV3(0.5, 0.1, 0.1), material(0.5, 0.0));
	knJointDef def =
		jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, arm, knV3(3.5, 0.0, 3.0), knV3(0.0, 1.0, 0.0));
	newJoint(scene, &def);
	return scene;
}

static void test_restore_repeats_exactly(void** state) {
	(void)state;
	knWorld* world = newWorld(toppleScene());
	run(world, 40, DT);
	size_t size = knWorld_StateSize(world);
	void* saved = malloc(size);
	assert_ok(knWorld_Save(world, saved, size));
	uint64_t then = knWorld_Hash(world);
	run(world, 120, DT);
	uint64_t end = knWorld_Hash(world);
	assert_true(end != then);

	assert_ok(knWorld_Restore(world, saved, size, NULL));
	assert_true(knWorld_Hash(world) == then);
	assert_near(knWorld_Time(world), 0.4, 1e-12);
	int count;
	knWorld_Contacts(world, &count);
	assert_int_equal(count, 0);
	run(world, 120, DT);
	assert_true(knWorld_Hash(world) == end);

	// into another world of the same model, which never took those steps
	knWorld* other = knWorld_Create(knWorld_Model(world), NULL, NULL);
	assert_non_null(other);
	assert_ok(knWorld_Restore(other, saved, size, NULL));
	run(other, 120, DT);
	assert_true(knWorld_Hash(other) == end);
	knWorld_Destroy(other);
	free(saved);
	knWorld_Destroy(world);
}

static void test_foreign_snapshots_are_refused(void** state) {
	(void)state;
	knWorld* world = newWorld(toppleScene());
	knScene* small = newScene(earth);
	newMass(small, knIdentityF(), 1.0, knV3(1.0, 1.0, 1.0));
	knWorld* other = newWorld(small);
	size_t size = knWorld_StateSize(other);
	char* saved = malloc(size);
	assert_ok(knWorld_Save(other, saved, size));
	uint64_t hash = knWorld_Hash(world);
	knError error = { 0 };
	assert_int_equal(knWorld_Restore(world, saved, size, &error), KN_BAD_DATA);
	assert_int_equal(knWorld_Restore(other, saved, size / 2, &error), KN_BAD_DATA);
	assert_true(strlen(error.message) > 0);
	assert_true(knWorld_Hash(world) == hash);
	free(saved);
	knWorld_Destroy(other);
	knWorld_Destroy(world);
}

// The stepper's part of a block is the stepper's to check: nonsense in it never leads astray.
static void test_damaged_memories_are_ignored(void** state) {
	(void)state;
	knWorld* world = newWorld(toppleScene());
	run(world, 60, DT);
	size_t size = knWorld_StateSize(world);
	unsigned char* saved = malloc(size);
	assert_ok(knWorld_Save(world, saved, size));
	// wild numbers from the end of the block inwards, through the warm starts
	knTestRandom random = { 3 };
	for (int n = 0; n < 20; ++n) {
		unsigned char* damaged = malloc(size);
		memcpy(damaged, saved, size);
		for (size_t i = size / 2; i < size; ++i) {
			damaged[i] = (unsigned char)testNext(&random);
		}
		if (knWorld_Restore(world, damaged, size, NULL) == KN_OK) {
			knStatus status = knWorld_Step(world, DT, NULL);
			assert_true(status == KN_OK || status == KN_DIVERGED);
		}
		free(damaged);
	}
	free(saved);
	knWorld_Destroy(world);
}

static void test_clone_goes_on_identically(void** state) {
	(void)state;
	knWorld* world = newWorld(toppleScene());
	run(world, 50, DT);
	// run-time changes are part of what is cloned
	knJointDef def = knJointDef_Default(KN_JOINT_BALL);
	def.child = knModel_BodyAt(knWorld_Model(world), 2);
	def.frameParent.p = knWorld_BodyCenter(world, def.child);
	knJointId rope = knWorld_Attach(world, &def, NULL);
	assert_false(KN_ID_IS_NULL(rope));
	assert_ok(knWorld_SetGravity(world, knV3(0.3, 0.0, -9.0)));
	assert_ok(knWorld_AddForce(world, def.child, knV3(100.0, 0.0, 0.0)));
	knWorld* clone = knWorld_Clone(world, NULL);
	assert_non_null(clone);
	assert_true(knWorld_Hash(clone) == knWorld_Hash(world));
	assert_true(knWorld_HasJoint(clone, rope));
	run(world, 80, DT);
	run(clone, 80, DT);
	assert_true(knWorld_Hash(clone) == knWorld_Hash(world));

	// from now on each goes its own way
	assert_ok(knWorld_ApplyImpulse(clone, def.child, knV3(0.0, 50.0, 0.0), knZero3()));
	run(clone, 1, DT);
	run(world, 1, DT);
	assert_true(knWorld_Hash(clone) != knWorld_Hash(world));
	knWorld_Destroy(world);
	run(clone, 5, DT);
	knWorld_Destroy(clone);
}

static void test_clone_out_of_memory(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knWorldDef def = knWorldDef_Default();
	def.allocator = &allocator;
	knWorld* world = newWorldWith(toppleScene(), &def);
	run(world, 10, DT);
	size_t live = memory.live;
	bool made = false;
	for (int after = 0; after < 100 && !made; ++after) {
		memory.calls = 0;
		memory.failAfter = after;
		knError error = { 0 };
		knWorld* clone = knWorld_Clone(world, &error);
		made = clone != NULL;
		assert_true(made || error.status == KN_NO_MEMORY);
		knWorld_Destroy(clone);
		assert_true(memory.live == live);
	}
	assert_true(made);
	memory.failAfter = -1;
	knWorld_Destroy(world);
	assert_true(memory.live == 0);
}

// Everything that makes a difference makes a different hash.
static void test_hash_notices(void** state) {
	(void)state;
	knWorld* world = newWorld(toppleScene());
	knBodyId body = knModel_BodyAt(knWorld_Model(world), 0);
	uint64_t hash = knWorld_Hash(world);
	knFrame frame = knWorld_BodyFrame(world, body);
	frame.p.x += 1e-15;
	assert_ok(knWorld_SetBodyFrame(world, body, frame));
	assert_true(knWorld_Hash(world) != hash);
	hash = knWorld_Hash(world);
	assert_ok(knWorld_SetBodyVelocity(world, body, knZero3(), knV3(0.0, 0.0, 1e-300)));
	assert_true(knWorld_Hash(world) != hash);
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restore_repeats_exactly),
		cmocka_unit_test(test_foreign_snapshots_are_refused),
		cmocka_unit_test(test_damaged_memories_are_ignored),
		cmocka_unit_test(test_clone_goes_on_identically),
		cmocka_unit_test(test_clone_out_of_memory),
		cmocka_unit_test(test_hash_notices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
