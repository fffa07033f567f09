// A step that does not touch everything: what it leaves stale is computed when somebody asks, a failed one is taken back
// without a copy. That what it touches does not grow with the body: long_adaptive_memory.c.
#include "steppers/chain_scene.h"

#include <stdlib.h>
#include <string.h>

enum { LINKS = 64 };

static const ChainDef hanging = { .count = LINKS,
								  .start = { 0.0, 0.0, 1.0 },
								  .gravity = { 0.0, 0.0, -9.81 },
								  .held = true,
								  .shapes = true,
								  .ground = true };

static knFrame frames[LINKS];
static knVec3 velocities[LINKS], spins[LINKS];

static void readAll(const knWorld* world, const knBodyId* bodies) {
	for (int i = 0; i < LINKS; ++i) {
		frames[i] = knWorld_BodyFrame(world, bodies[i]);
		velocities[i] = knWorld_BodyVelocity(world, bodies[i]);
		spins[i] = knWorld_BodyAngularVelocity(world, bodies[i]);
	}
}

static void assertAll(const knWorld* world, const knBodyId* bodies) {
	for (int i = 0; i < LINKS; ++i) {
		knFrame frame = knWorld_BodyFrame(world, bodies[i]);
		knVec3 velocity = knWorld_BodyVelocity(world, bodies[i]);
		knVec3 spin = knWorld_BodyAngularVelocity(world, bodies[i]);
		assert_memory_equal(&frame, &frames[i], sizeof(frame));
		assert_memory_equal(&velocity, &velocities[i], sizeof(velocity));
		assert_memory_equal(&spin, &spins[i], sizeof(spin));
	}
}

// Asking writes nothing, gives what bringing all up to date gives, and changes nothing of what follows.
static void test_stale_poses_are_computed_when_asked(void** state) {
	(void)state;
	knBodyId bodies[LINKS];
	knWorld* world = worldWith(newChain(&hanging, bodies), "adaptive", 8, -1.0);
	knWorld* quiet = worldWith(newChain(&hanging, bodies), "adaptive", 8, -1.0);
	size_t room = 4 * knWorld_StateSize(world);
	char *before = malloc(room), *after = malloc(room);
	for (int i = 0; i < 60; ++i) {
		run(world, 3, 0.005);
		run(quiet, 3, 0.005);
		size_t size = knWorld_StateSize(world);
		assert_true(size <= room);
		assert_ok(knWorld_Save(world, before, size));
		readAll(world, bodies);
		knWorldHit hit;
		(void)knWorld_RayCast(world, knV3(1.0, 0.0, 5.0), knV3(0.0, 0.0, -10.0), NULL, &hit);
		assert_ok(knWorld_Save(world, after, size));
		assert_memory_equal(before, after, size);
		if (i % 3 == 0) {
			knWorld_SyncPoses(world);
			assertAll(world, bodies);
		}
	}
	assert_true(knWorld_Hash(world) == knWorld_Hash(quiet));
	free(before);
	free(after);
	knWorld_Destroy(world);
	knWorld_Destroy(quiet);
}

// A push that throws the last link out of the scene; the last steps' region updates and contacts are taken back too.
typedef struct Push {
	const knBodyId* bodies;
	bool throws, shoves;
} Push;

static void pushChain(knWorld* world, double dt, void* context) {
	(void)dt;
	const Push* push = context;
	assert_ok(knWorld_AddForce(world, push->bodies[LINKS / 2], knV3(0.0, 0.3, 0.0)));
	if (push->shoves) {
		assert_ok(knWorld_ApplyImpulse(world, push->bodies[3], knV3(0.0, 0.01, 0.0), knZero3()));
	}
	if (push->throws) {
		assert_ok(knWorld_AddForce(world, push->bodies[LINKS - 1], knV3(0.0, 1e20, 0.0)));
	}
}

static void test_failed_steps_are_taken_back(void** state) {
	(void)state;
	knBodyId bodies[LINKS];
	for (int shoves = 0; shoves < 2; ++shoves) {
		Push push = { .bodies = bodies };
		knSettings settings = knSettings_Default();
		settings.adaptive.active = 8;
		settings.adaptive.update = 1;
		ChainDef free = hanging;
		free.held = false;
		knWorldDef def = {
			.stepper = "adaptive", .settings = &settings, .forceFn = pushChain, .forceContext = &push
		};
		knWorld* world = newWorldWith(newChain(&free, bodies), &def);
		knWorld* twin = newWorldWith(newChain(&free, bodies), &def);
		int failures = 0;
		for (int i = 0; i < 4; ++i) {
			knError error = { 0 };
			run(world, 25, 0.005);
			run(twin, 25, 0.005);
			uint64_t hash = knWorld_Hash(world);
			push.throws = true;
			push.shoves = shoves != 0;
			assert_int_not_equal(knWorld_Step(world, 0.005, &error), KN_OK);
			push.throws = push.shoves = false;
			++failures;
			assert_true(knWorld_Hash(world) == hash);
		}
		assert_int_equal(failures, 4);
		run(world, 20, 0.005);
		run(twin, 20, 0.005);
		assert_true(knWorld_Hash(world) == knWorld_Hash(twin));
		knWorld_Destroy(world);
		knWorld_Destroy(twin);
	}
}

// What is stale goes along with snapshots, and is brought up to date before the topology changes.
static void test_stale_worlds_are_saved_and_edited(void** state) {
	(void)state;
	knBodyId bodies[LINKS];
	knError error = { 0 };
	knWorld* world = worldWith(newChain(&hanging, bodies), "adaptive", 8, -1.0);
	run(world, 60, 0.005);
	size_t size = knWorld_StateSize(world);
	char* saved = malloc(size);
	assert_ok(knWorld_Save(world, saved, size));
	uint64_t hash = knWorld_Hash(world);
	run(world, 40, 0.005);
	uint64_t later = knWorld_Hash(world);
	assert_ok(knWorld_Restore(world, saved, size, &error));
	assert_true(knWorld_Hash(world) == hash);
	assert_ok(knWorld_Restore(world, saved, size, &error));
	run(world, 40, 0.005);
	assert_true(knWorld_Hash(world) == later);

	assert_ok(knWorld_Restore(world, saved, size, &error));
	readAll(world, bodies);
	knBodyDef def = knBodyDef_Default();
	def.frame.p = knV3(0.0, 20.0, 5.0);
	def.hasMass = true;
	def.mass = (knMassProps){ .mass = 1.0, .inertia = knDiagonal33(0.1, 0.1, 0.1) };
	assert_false(KN_ID_IS_NULL(knWorld_AddBody(world, &def, NULL, 0, &error)));
	assertAll(world, bodies);
	run(world, 1, 0.005);
	for (int i = 0; i < LINKS; ++i) {
		double moved = knDistance(knWorld_BodyFrame(world, bodies[i]).p, frames[i].p);
		assert_true(moved < 0.005 * (knLength(velocities[i]) + 0.2));
	}
	free(saved);
	knWorld_Destroy(world);
}

// A joint that is let go of by hand is noticed, wherever it is.
static void test_released_joints_let_go(void** state) {
	(void)state;
	knBodyId bodies[LINKS];
	ChainDef def = hanging;
	def.ground = false;
	knWorld* world = worldWith(newChain(&def, bodies), "adaptive", 8, -1.0);
	run(world, 10, 0.005);
	const knModel* model = knWorld_Model(world);
	assert_ok(knWorld_Release(world, knModel_JointAt(model, 0)));
	knVec3 before = knWorld_BodyCenter(world, bodies[0]);
	run(world, 100, 0.005);
	assert_true(knWorld_BodyCenter(world, bodies[0]).z < before.z - 0.5);
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stale_poses_are_computed_when_asked),
		cmocka_unit_test(test_failed_steps_are_taken_back),
		cmocka_unit_test(test_stale_worlds_are_saved_and_edited),
		cmocka_unit_test(test_released_joints_let_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
