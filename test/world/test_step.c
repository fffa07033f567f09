// knWorld_Step as a call: arguments, forces, failures that change nothing, no allocation when warm.
#include "world/fixture.h"

#define DT 0.01

// A few boxes on the ground and a hanging one.
static knScene* busyScene(void) {
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	for (int i = 0; i < 6; ++i) {
		newBox(scene, knV3(0.05 * i, 0.0, 0.5 + 0.9 * i), knV3(0.3, 0.3, 0.3), material(0.6, 0.2));
	}
	knBodyId hanging = newBox(scene, knV3(3.0, 0.0, 2.0), knV3(0.2, 0.2, 0.2), material(0.6, 0.0));
	knJointDef def =
		jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, hanging, knV3(3.0, 0.0, 3.0), knV3(0.0, 1.0, 0.0));
	def.axis[0].damping = 0.1;
	newJoint(scene, &def);
	return scene;
}

static void test_bad_time_steps(void** state) {
	(void)state;
	knWorld* world = newWorld(busyScene());
	uint64_t hash = knWorld_Hash(world);
	const double bad[4] = { 0.0, -0.01, (double)NAN, (double)INFINITY };
	for (int i = 0; i < 4; ++i) {
		knError error = { 0 };
		assert_int_equal(knWorld_Step(world, bad[i], &error), KN_BAD_ARGUMENT);
		assert_true(strlen(error.message) > 0);
		assert_true(knWorld_Hash(world) == hash);
	}
	assert_int_equal(knWorld_Step(world, 0.0, NULL), KN_BAD_ARGUMENT);
	knWorld_Destroy(world);
}

// Forces act for one step, also those of the force function, and their work is reported.
static void push(knWorld* world, double dt, void* context) {
	(void)dt;
	knBodyId body = *(knBodyId*)context;
	assert_ok(knWorld_AddForce(world, body, knV3(0.0, 6.0, 0.0)));
}

static void test_forces(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	knBodyId body = newMass(scene, knIdentityF(), 2.0, knV3(1.0, 1.0, 1.0));
	knWorldDef def = knWorldDef_Default();
	def.forceFn = push;
	def.forceContext = &body;
	knWorld* world = newWorldWith(scene, &def);
	assert_ok(knWorld_AddForceAt(world, body, knV3(4.0, 0.0, 0.0), knV3(0.0, 0.0, 0.5)));
	run(world, 1, 0.5);
	assert_near3(knWorld_BodyVelocity(world, body), knV3(1.0, 1.5, 0.0), 1e-15);
	assert_near3(knWorld_BodyAngularVelocity(world, body), knV3(0.0, 1.0, 0.0), 1e-15);
	assert_near(knWorld_Report(world)->work, 0.5 * 2.0 * (1.0 + 2.25) + 0.5 * 1.0, 1e-14);
	run(world, 1, 0.5);
	assert_near3(knWorld_BodyVelocity(world, body), knV3(1.0, 3.0, 0.0), 1e-15);
	knWorld_Destroy(world);
}

// From inside a step the world may be pushed, but neither stepped nor edited.
static void meddle(knWorld* world, double dt, void* context) {
	(void)context;
	knError error = { 0 };
	assert_int_equal(knWorld_Step(world, dt, &error), KN_BAD_ARGUMENT);
	knBodyDef def = knBodyDef_Default();
	assert_true(KN_ID_IS_NULL(knWorld_AddBody(world, &def, NULL, 0, &error)));
	assert_int_equal(error.status, KN_BAD_ARGUMENT);
	assert_int_equal(knWorld_Rebuild(world, &error), KN_BAD_ARGUMENT);
}

static void test_force_function_may_not_meddle(void** state) {
	(void)state;
	knWorldDef def = knWorldDef_Default();
	def.forceFn = meddle;
	knWorld* world = newWorldWith(busyScene(), &def);
	run(world, 3, DT);
	assert_true(knWorld_StepCount(world) == 3);
	knWorld_Destroy(world);
}

// A force that leaves nothing finite: the step says who, and the state is as before, byte by byte.
static void test_divergence_restores(void** state) {
	(void)state;
	knScene* scene = busyScene();
	knBodyDef def = knBodyDef_Default();
	def.name = "victim";
	def.frame.p = knV3(50.0, 0.0, 5.0);
	def.hasMass = true;
	def.mass = (knMassProps){ .mass = 1e-3, .inertia = knDiagonal33(1.0, 1.0, 1.0) };
	knBodyId victim = newBody(scene, &def);
	knWorld* world = newWorld(scene);
	run(world, 20, DT);
	assert_ok(knWorld_AddForce(world, victim, knV3(1e308, 0.0, 0.0)));
	size_t size = knWorld_StateSize(world);
	char *before = malloc(size), *after = malloc(size);
	assert_ok(knWorld_Save(world, before, size));
	knError error = { 0 };
	assert_int_equal(knWorld_Step(world, DT, &error), KN_DIVERGED);
	assert_non_null(strstr(error.element, "victim"));
	assert_int_equal(knWorld_Report(world)->status, KN_DIVERGED);
	assert_true(knWorld_StateSize(world) == size);
	assert_ok(knWorld_Save(world, after, size));
	assert_memory_equal(before, after, size);
	free(before);
	free(after);
	knWorld_Destroy(world);
}

// A body at the edge of the numbers: whatever the step says, it says it, and a failed one changes nothing.
static void test_far_away(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	knBodyId ball = newBall(scene, knZero3(), 0.5, knZero3(), material(0.5, 0.0));
	newBall(scene, knV3(5.0, 0.0, 0.0), 0.5, knZero3(), material(0.5, 0.0));
	knWorld* world = newWorld(scene);
	const double far[4] = { 1e9, 1e100, 1e300, 1.7e308 };
	for (int i = 0; i < 4; ++i) {
		assert_ok(knWorld_SetBodyFrame(world, ball, knMakeFrame(knV3(far[i], 0.0, 0.0), knIdentityQ())));
		assert_ok(knWorld_SetBodyVelocity(world, ball, knV3(far[i], 0.0, 0.0), knZero3()));
		uint64_t hash = knWorld_Hash(world);
		knStatus status = knWorld_Step(world, DT, NULL);
		assert_true(status == KN_OK || (status == KN_DIVERGED && knWorld_Hash(world) == hash));
	}
	knWorld_Destroy(world);
}

// --- memory ----------------------------------------------------------------------------------------------

// Once the heap of boxes has settled, no step takes memory.
static void test_warm_step_does_not_allocate(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knWorldDef def = knWorldDef_Default();
	def.allocator = &allocator;
	knWorld* world = newWorldWith(busyScene(), &def);
	run(world, 300, DT);
	int calls = memory.calls;
	run(world, 200, DT);
	assert_int_equal(memory.calls, calls);
	assert_true(knWorld_Report(world)->arenaBytes > 0);
	knWorld_Destroy(world);
	assert_true(memory.live == 0);
}

// Whichever allocation of a cold step fails, the state stays, and the next attempt gives the right answer.
static void test_failing_allocation_changes_nothing(void** state) {
	(void)state;
	// the right answer, from a world that never lacked memory
	knWorld* rich = newWorld(busyScene());
	run(rich, 60, DT);
	uint64_t expected = knWorld_Hash(rich);
	knWorld_Destroy(rich);

	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knWorldDef def = knWorldDef_Default();
	def.allocator = &allocator;
	knWorld* world = newWorldWith(busyScene(), &def);
	int failures = 0;
	for (int i = 0; i < 60; ++i) {
		// let one more allocation succeed until the step goes through
		uint64_t hash = knWorld_Hash(world);
		memory.calls = 0;
		for (memory.failAfter = 0;; memory.failAfter += 1) {
			knError error = { 0 };
			memory.calls = 0;
			knStatus status = knWorld_Step(world, DT, &error);
			if (status == KN_OK) {
				break;
			}
			assert_int_equal(status, KN_NO_MEMORY);
			assert_int_equal(error.status, KN_NO_MEMORY);
			assert_true(knWorld_Hash(world) == hash);
			int count;
			knWorld_Contacts(world, &count);
			assert_int_equal(count, 0);
			failures += 1;
		}
	}
	assert_true(failures > 5);
	assert_true(knWorld_Hash(world) == expected);
	memory.failAfter = -1;
	knWorld_Destroy(world);
	assert_true(memory.live == 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_time_steps),
		cmocka_unit_test(test_forces),
		cmocka_unit_test(test_force_function_may_not_meddle),
		cmocka_unit_test(test_divergence_restores),
		cmocka_unit_test(test_far_away),
		cmocka_unit_test(test_warm_step_does_not_allocate),
		cmocka_unit_test(test_failing_allocation_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
