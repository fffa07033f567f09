// The flight of bodies that turn by radians in a step: its work is bounded, whatever they meet, and they pass through
// nothing. Work is counted in rounds of the search and in pairs of boxes looked at, never by a clock.
#include "support/mesh_shapes.h"
#include "world/fixture.h"

#include "core/tasks.h"
#include "dynamics/collision_input.h"
#include "dynamics/fast_bodies.h"

#define DT 0.1
#define RING 0.3
#define TUBE 0.06
#define PITCH 0.42       // of a chain of rings
#define MOST_LOOKS 80000 // of a body: three paces
#define MOST_ROUNDS 8000 // the same
#define MOST_HITS 33     // the same

static const char* const steppers[2] = { "velocity", "impulse" };

typedef struct Setup {
	knModel* model;
	knState state;
	knStepBodies blocks;
	knCollider* collider;
	knArena arena;
	knAllocator allocator;
	knFastBodies fast;
} Setup;

static Setup newSetup(knScene* scene) {
	Setup setup = { .allocator = knAllocator_Default() };
	setup.model = knModel_Create(scene, NULL);
	knScene_Destroy(scene);
	assert_non_null(setup.model);
	assert_true(knState_Create(&setup.state, setup.model, "test", 0, &setup.allocator));
	knArena_Init(&setup.arena, &setup.allocator);
	setup.collider = knModel_CreateCollider(setup.model, &setup.allocator, NULL);
	assert_non_null(setup.collider);
	return setup;
}

static void freeSetup(Setup* setup) {
	knCollider_Destroy(setup->collider);
	knState_Destroy(&setup->state, &setup->allocator);
	knArena_Free(&setup->arena);
	knModel_Release(setup->model);
}

// A step without a solve: all bodies fly, but for one that a contact holds (0: none).
static void flyWith(Setup* setup, int held) {
	knTasks tasks = { 0 };
	knArena* arena = &setup->arena;
	knError error = { 0 };
	knArena_Clear(arena);
	setup->fast = (knFastBodies){ 0 };
	const knModel* model = setup->model;
	knSearchMargins reach;
	knCollideInput input;
	knContactSet set;
	knSweepChunk chunk = { .a = held, .b = 0 };
	knContactRows contacts = { .chunks = &chunk, .chunkCount = held != 0 };
	assert_true(knStepBodies_Begin(&setup->blocks, model, &setup->state, DT, NULL, &tasks, arena));
	assert_true(knFastBodies_Find(&setup->fast, model, &setup->state, &setup->blocks, arena));
	assert_true(knSearchMargins_Make(&reach, model, &setup->blocks, knZero3(), true, arena));
	assert_true(knCollisionInput_Make(&input, model, &setup->state, NULL, &tasks, arena));
	assert_ok(knFastBodies_Collide(&setup->fast, model, &setup->blocks, setup->collider, &input, &reach, &set,
								   arena, &error));
	knFastMoveInput in = { .model = model,
						   .state = &setup->state,
						   .blocks = &setup->blocks,
						   .collider = setup->collider,
						   .lookedAhead = true,
						   .contacts = &contacts,
						   .tasks = tasks,
						   .arena = arena };
	assert_true(knFastBodies_Move(&setup->fast, &in));
}

static void fly(Setup* setup) {
	flyWith(setup, 0);
}

static void checkWork(const Setup* setup, int bodies) {
	assert_true(setup->fast.looks <= (int64_t)MOST_LOOKS * bodies);
	assert_true(setup->fast.rounds <= (int64_t)MOST_ROUNDS * bodies);
	assert_true(setup->fast.hitCount <= MOST_HITS * bodies);
	for (int b = 1; b < setup->model->bodyCount; ++b) {
		assert_true(knIsFiniteF(setup->state.pose[b]));
		assert_true(knIsFinite3(setup->state.velocity[b].ang) && knIsFinite3(setup->state.velocity[b].lin));
	}
}

static knGeom* newTorus(int around, int across) {
	knTestMesh mesh = testMeshTorus(RING, TUBE, around, across);
	knMeshDef def = testMeshDef(&mesh);
	knGeom* geom = knGeom_Mesh(&def, NULL, NULL);
	testMeshFree(&mesh);
	assert_non_null(geom);
	return geom;
}

static knBodyId newFlier(knScene* scene, const knGeom* geom, knFrame frame, knTwist velocity) {
	knError error = { 0 };
	knBodyDef def = knBodyDef_Default();
	knShapeDef shape = material(0.3, 0.3);
	def.frame = frame;
	def.velocity = velocity.lin;
	def.angularVelocity = velocity.ang;
	def.fast = true;
	knBodyId body = newBody(scene, &def);
	if (KN_ID_IS_NULL(knScene_AddShape(scene, body, (knGeom*)geom, &shape, &error))) {
		failWith(&error);
	}
	return body;
}

// Rings that are linked, each in the next, turning any way.
static knScene* newChain(const knGeom* torus, int rings, double spin, uint64_t seed, knBodyId* ids) {
	knTestRandom random = { seed };
	knScene* scene = newScene(noGravity);
	for (int i = 0; i < rings; ++i) {
		knQuat q = i % 2 == 1 ? knQuat_Exp(knV3(0.5 * KN_PI, 0.0, 0.0)) : knIdentityQ();
		knTwist velocity = knMakeTwist(knScale(spin, testUnit3(&random)), testVec3(&random, 1.0));
		knBodyId id = newFlier(scene, torus, knMakeFrame(knV3(PITCH * i, 0.0, 0.0), q), velocity);
		if (ids != NULL) {
			ids[i] = id;
		}
	}
	return scene;
}

static knVec3 linearOf(const Setup* setup) {
	knVec3 sum = knZero3();
	for (int b = 1; b < setup->model->bodyCount; ++b) {
		sum = knMulAdd(sum, setup->model->mass[b], setup->state.velocity[b].lin);
	}
	return sum;
}

static knVec3 angularOf(const Setup* setup) {
	knVec3 sum = knZero3();
	for (int b = 1; b < setup->model->bodyCount; ++b) {
		knFrame pose = setup->state.pose[b];
		knTwist u = setup->state.velocity[b];
		knMat33 inertia = knRotateTensor(pose.q, &setup->model->inertiaLocal[b]);
		sum = knAdd(sum,
					knAdd(knCross(pose.p, knScale(setup->model->mass[b], u.lin)), knMulMV(&inertia, u.ang)));
	}
	return sum;
}

static double energyOf(const Setup* setup) {
	double sum = 0.0;
	for (int b = 1; b < setup->model->bodyCount; ++b) {
		knTwist u = setup->state.velocity[b];
		knMat33 inertia = knRotateTensor(setup->state.pose[b].q, &setup->model->inertiaLocal[b]);
		sum +=
			0.5 * (setup->model->mass[b] * knLengthSquared(u.lin) + knDot(u.ang, knMulMV(&inertia, u.ang)));
	}
	return sum;
}

// Linked rings that turn by 10 to 2,000 radians in the step: bounded work, momenta to rounding, however they are slowed.
static void test_spinning_chains_are_bounded(void** state) {
	(void)state;
	enum { RINGS = 4 };
	knGeom* torus = newTorus(50, 20);
	const double spins[3] = { 100.0, 1000.0, 20000.0 };
	for (int k = 0; k < 3; ++k) {
		Setup setup = newSetup(newChain(torus, RINGS, spins[k], 5 + k, NULL));
		for (int step = 0; step < 3; ++step) {
			knVec3 linear = linearOf(&setup), angular = angularOf(&setup);
			double before = energyOf(&setup);
			fly(&setup);
			assert_int_equal(setup.fast.count, RINGS);
			checkWork(&setup, RINGS);
			double scale = knLength(angular) + setup.model->mass[1] * knLength(setup.state.velocity[1].lin);
			assert_near3(linearOf(&setup), linear, 1e-9 * scale);
			assert_near3(angularOf(&setup), angular, 1e-9 * scale);
			assert_true(energyOf(&setup) <= 1.02 * before);
		}
		freeSetup(&setup);
	}
	knGeom_Release(torus);
}

// Small things beside a large ring that turns: those out of its reach cost nothing to speak of.
static void test_small_bodies_beside_a_large_spinner(void** state) {
	(void)state;
	enum { SMALL = 80 };
	knTestRandom random = { 21 };
	knGeom *torus = newTorus(50, 20), *ball = knGeom_Sphere(0.02, NULL, NULL);
	knScene* scene = newScene(noGravity);
	newFlier(scene, torus, knIdentityF(), knMakeTwist(knV3(3000.0, 900.0, 100.0), knZero3()));
	for (int i = 0; i < SMALL; ++i) {
		knVec3 at = knScale(testUniform(&random, 0.45, 0.9), testUnit3(&random));
		knVec3 along = knNormalize(knCross(at, testUnit3(&random)));
		newFlier(scene, ball, knMakeFrame(at, knIdentityQ()), knMakeTwist(testVec3(&random, 1000.0), along));
	}
	Setup setup = newSetup(scene);
	fly(&setup);
	assert_int_equal(setup.fast.count, SMALL + 1);
	checkWork(&setup, SMALL + 1);
	assert_true(setup.fast.rounds <= 10 * SMALL);
	assert_true(setup.fast.looks <= 100 * SMALL);
	freeSetup(&setup);
	knGeom_Release(torus);
	knGeom_Release(ball);
}

// Boxes that turn and fly in a heap, so that hits follow hits: a hit costs no search of all pairs to the end.
static void test_heap_of_spinning_boxes(void** state) {
	(void)state;
	enum { BOXES = 60 };
	knTestRandom random = { 22 };
	knGeom* box = knGeom_Box(knV3(0.1, 0.05, 0.2), NULL, NULL);
	const double spins[2] = { 30.0, 20000.0 };
	for (int k = 0; k < 2; ++k) {
		knScene* scene = newScene(noGravity);
		for (int i = 0; i < BOXES; ++i) {
			knVec3 at = knV3(0.5 * (i % 4), 0.5 * (i / 4 % 4), 0.5 * (i / 16));
			knTwist velocity = knMakeTwist(testVec3(&random, spins[k]), testVec3(&random, 5.0));
			newFlier(scene, box, knMakeFrame(at, testQuat(&random)), velocity);
		}
		Setup setup = newSetup(scene);
		fly(&setup);
		checkWork(&setup, BOXES);
		assert_true(setup.fast.hitCount > BOXES / 2);
		assert_true(setup.fast.rounds <= 60 * setup.fast.hitCount + 60 * BOXES);
		freeSetup(&setup);
	}
	knGeom_Release(box);
}

// Linked rings stay linked in both steppers: the centres of neighbours are never farther apart than two rings.
static void test_links_hold_however_they_turn(void** state) {
	(void)state;
	enum { RINGS = 3 };
	knGeom* torus = newTorus(24, 12);
	const double spins[3] = { 60.0, 1000.0, 20000.0 };
	for (int s = 0; s < 2; ++s) {
		for (int k = 0; k < 3; ++k) {
			knBodyId ids[RINGS];
			knWorldDef def = knWorldDef_Default();
			def.stepper = steppers[s];
			knWorld* world = newWorldWith(newChain(torus, RINGS, spins[k], 31 + k, ids), &def);
			for (int step = 0; step < 8; ++step) {
				run(world, 1, DT);
				for (int i = 0; i + 1 < RINGS; ++i) {
					knVec3 a = knWorld_BodyCenter(world, ids[i]), b = knWorld_BodyCenter(world, ids[i + 1]);
					assert_true(knDistance(a, b) <= 2.0 * RING);
				}
			}
			knWorld_Destroy(world);
		}
	}
	knGeom_Release(torus);
}

// A flier deep in a box that a contact holds on its way, and that it has to go along with: to be deep in what one goes
// along with was once an approach, and a hit, for ever.
static void test_fliers_deep_in_a_held_box_end(void** state) {
	(void)state;
	enum { TRIALS = 100, FLIER = 1, HELD = 2 };
	knTestRandom random = { 51 };
	knGeom* box = knGeom_Box(knV3(0.6, 0.4, 0.5), NULL, NULL);
	int along = 0;
	for (int trial = 0; trial < TRIALS; ++trial) {
		knScene* scene = newScene(noGravity);
		knFrame frame = knMakeFrame(testVec3(&random, 0.5), testQuat(&random));
		newFlier(scene, box, frame, knMakeTwist(testVec3(&random, 5.0), testVec3(&random, 15.0)));
		knTwist velocity = knMakeTwist(testVec3(&random, 2.0), testVec3(&random, 5.0));
		knBodyId held = newFlier(scene, box, knIdentityF(), velocity);
		knScene_EditBody(scene, held)->fast = false;
		Setup setup = newSetup(scene);
		flyWith(&setup, HELD);
		checkWork(&setup, 1);
		assert_int_equal(setup.fast.kind[FLIER], KN_FAST_FREE);
		along += setup.fast.hitCount > 0;
		freeSetup(&setup);
	}
	assert_true(along > TRIALS / 4);
	knGeom_Release(box);
}

// A long plank that a contact holds on its way and that turns by radians is hit: its momentum stays, its axes turn on, and
// what was about a thick axis may come to be about the thin one. It gains no energy by that.
static void test_hit_of_a_held_plank_adds_no_energy(void** state) {
	(void)state;
	enum { TRIALS = 60, HELD = 2 };
	knTestRandom random = { 61 };
	knGeom *ball = knGeom_Sphere(0.05, NULL, NULL), *plank = knGeom_Box(knV3(1.5, 0.1, 0.05), NULL, NULL);
	int hits = 0;
	for (int trial = 0; trial < TRIALS; ++trial) {
		knScene* scene = newScene(noGravity);
		knVec3 from = knScale(1.8, testUnit3(&random));
		newFlier(scene, ball, knMakeFrame(from, knIdentityQ()), knMakeTwist(knZero3(), knScale(-30.0, from)));
		knTwist velocity = knMakeTwist(knV3(60.0, testUniform(&random, -3.0, 3.0), 3.0), knZero3());
		knBodyId held = newFlier(scene, plank, knMakeFrame(knZero3(), testQuat(&random)), velocity);
		knScene_EditBody(scene, held)->fast = false;
		Setup setup = newSetup(scene);
		double before = energyOf(&setup);
		flyWith(&setup, HELD);
		hits += setup.fast.hitCount > 0;
		assert_true(setup.fast.hitCount == 0 || energyOf(&setup) <= 1.001 * before);
		freeSetup(&setup);
	}
	assert_true(hits > 20);
	knGeom_Release(ball);
	knGeom_Release(plank);
}

// The same bits for any number of threads, slowed fliers included.
static void test_threads_change_nothing(void** state) {
	(void)state;
	knGeom* torus = newTorus(24, 12);
	for (int s = 0; s < 2; ++s) {
		uint64_t hashes[2];
		for (int threads = 0; threads < 2; ++threads) {
			knTaskPool* pool = threads == 0 ? NULL : knTaskPool_Create(4, NULL, NULL);
			knWorldDef def = knWorldDef_Default();
			def.stepper = steppers[s];
			if (pool != NULL) {
				def.tasks = knTaskPool_Tasks(pool);
			}
			knWorld* world = newWorldWith(newChain(torus, 6, 2000.0, 41, NULL), &def);
			run(world, 2, DT);
			hashes[threads] = knWorld_Hash(world);
			knWorld_Destroy(world);
			knTaskPool_Destroy(pool);
		}
		assert_true(hashes[0] == hashes[1]);
	}
	knGeom_Release(torus);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spinning_chains_are_bounded),
		cmocka_unit_test(test_small_bodies_beside_a_large_spinner),
		cmocka_unit_test(test_heap_of_spinning_boxes),
		cmocka_unit_test(test_links_hold_however_they_turn),
		cmocka_unit_test(test_fliers_deep_in_a_held_box_end),
		cmocka_unit_test(test_hit_of_a_held_plank_adds_no_energy),
		cmocka_unit_test(test_threads_change_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
