// Large groups of jointed bodies under the impulse stepper, which are solved roughly and cut into parts: what rests carries its
// weight, what is free keeps its momentum, and threads change nothing.
#include "world/fixture.h"

#define DT 0.01
#define G 9.81
#define STACKS 22
#define LEVELS 10
#define LINKS 3

static const double HALF = 0.1; // m, of a link

static knWorld* impulseWorld(knScene* scene, const knTasks* tasks) {
	knSettings settings = knSettings_Default();
	settings.sweeps = 9;
	knWorldDef def = knWorldDef_Default();
	def.stepper = "impulse";
	def.settings = &settings;
	if (tasks != NULL) {
		def.tasks = *tasks;
	}
	return newWorldWith(scene, &def);
}

// Bearings that rub, and a reach cone so narrow that links meet it, with other twist limits at each corner.
static void narrow(knJointDef* ball) {
	ball->reachCount = 4;
	ball->twistLimited = true;
	ball->twistLower = -0.02;
	ball->twistUpper = 0.02;
	for (int i = 0; i < 4; ++i) {
		ball->axis[i % 3].bearing = 0.02;
		ball->reach[i] = knV3(1.0, 0.03 * cos(0.5 * KN_PI * i), 0.03 * sin(0.5 * KN_PI * i));
		ball->reachTwist[i] = (knReachTwist){ true, -0.01 * i, 0.005 * (4 - i) };
	}
}

// Three cubes in a row along x, joined by balls; the first is returned.
static knBodyId addSleeper(knScene* scene, knVec3 middle, bool restricted) {
	knBodyId first = KN_WORLD_BODY, previous = KN_WORLD_BODY;
	for (int k = 0; k < LINKS; ++k) {
		knVec3 at = knAdd(middle, knV3(2.0 * HALF * (k - 1), 0.0, 0.0));
		knBodyId link = newBox(scene, at, knV3(0.9 * HALF, HALF, HALF), material(0.6, 0.0));
		if (k > 0) {
			knJointDef ball = jointAt(scene, KN_JOINT_BALL, previous, link, knSub(at, knV3(HALF, 0.0, 0.0)),
									  knV3(1.0, 0.0, 0.0));
			if (restricted) {
				narrow(&ball);
			}
			newJoint(scene, &ball);
		}
		first = k == 0 ? link : first;
		previous = link;
	}
	return first;
}

// Stacks of sleepers on one plate, which makes them one group of 661 bodies: every stack's feet carry the weight of that stack,
// whichever parts it was cut into, and the ground carries all.
static void test_stacks_carry_their_weights(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	knBodyId plate = newBox(scene, knV3(0.0, 0.0, 0.1), knV3(3.0, 3.0, 0.1), material(0.6, 0.0));
	knBodyId firsts[STACKS];
	for (int i = 0; i < STACKS; ++i) {
		knVec3 at = knV3(-2.1 + 1.05 * (i % 5), -2.1 + 1.05 * (i / 5), 0.2 + HALF);
		for (int level = 0; level < LEVELS; ++level) {
			knBodyId first = addSleeper(scene, knAdd(at, knV3(0.0, 0.0, 2.0 * HALF * level)), false);
			firsts[i] = level == 0 ? first : firsts[i];
		}
	}
	knWorld* world = impulseWorld(scene, NULL);
	const knModel* model = knWorld_Model(world);
	const double link = knModel_BodyMass(model, firsts[0]).mass, stack = LINKS * LEVELS * link * G * DT;
	for (int i = 0; i < 25; ++i) {
		run(world, 1, DT);
		assert_true(knWorld_Measure(world).jointError < 1e-9);
	}
	int count;
	const knContact* contacts = knWorld_Contacts(world, &count);
	double carried[STACKS] = { 0.0 }, ground = 0.0;
	for (int i = 0; i < count; ++i) {
		const knContact* c = &contacts[i];
		const bool plateIsA = c->bodyA.index1 == plate.index1, plateIsB = c->bodyB.index1 == plate.index1;
		if (plateIsA || plateIsB) {
			const double up = plateIsA ? c->impulse.z : -c->impulse.z;
			const uint32_t other = plateIsA ? c->bodyB.index1 : c->bodyA.index1;
			for (int k = 0; k < STACKS; ++k) {
				carried[k] += other >= firsts[k].index1 && other < firsts[k].index1 + LINKS ? up : 0.0;
			}
			ground += other < firsts[0].index1 ? -up : 0.0;
		}
	}
	for (int k = 0; k < STACKS; ++k) {
		assert_near(carried[k], stack, 0.01 * stack);
	}
	const double all = STACKS * stack + knModel_BodyMass(model, plate).mass * G * DT;
	assert_near(ground, all, 0.005 * all);
	knPenetration penetration;
	knError error = { 0 };
	assert_ok(knWorld_MeasurePenetration(world, &penetration, &error));
	assert_true(penetration.max < 1e-3);
	knWorld_Destroy(world);
}

// Two blocks of sleepers, 324 bodies each, that meet in free flight, off centre.
static knScene* meetingBlocks(bool restricted) {
	knScene* scene = newScene(noGravity);
	for (int block = 0; block < 2; ++block) {
		for (int i = 0; i < 108; ++i) {
			knVec3 at = knV3(0.6 * (i % 3) + 0.3 * block, 0.2 * (i / 3 % 9), 0.2 * (i / 27) + 0.85 * block);
			addSleeper(scene, at, restricted);
		}
	}
	return scene;
}

static void setOff(knWorld* world) {
	const knModel* model = knWorld_Model(world);
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		knBodyId body = knModel_BodyAt(model, i);
		const double z = knWorld_BodyCenter(world, body).z;
		assert_ok(knWorld_SetBodyVelocity(world, body, knV3(0.0, 0.0, z < 0.75 ? 1.0 : -1.0), knZero3()));
	}
}

// Impulses act in pairs: linear and angular momentum stay, joints stay closed, and no energy comes in.
static void checkMomentum(bool restricted) {
	knWorld* world = impulseWorld(meetingBlocks(restricted), NULL);
	setOff(world);
	knMeasures start = knWorld_Measure(world);
	int most = 0;
	for (int i = 0; i < (restricted ? 4 : 12); ++i) {
		run(world, 1, DT);
		knMeasures now = knWorld_Measure(world);
		int count;
		(void)knWorld_Contacts(world, &count);
		most = count > most ? count : most;
		const double scale = sqrt(2.0 * start.kinetic * 4000.0);
		assert_near3(now.momentum, start.momentum, 1e-12 * scale);
		assert_near3(now.angularMomentum, start.angularMomentum, 1e-12 * scale);
		assert_true(now.kinetic < start.kinetic * (1.0 + 1e-3));
		assert_true(now.jointError < 1e-9);
	}
	assert_true(most > 1000);
	assert_true(knWorld_Measure(world).kinetic < 0.5 * start.kinetic);
	knWorld_Destroy(world);
}

static void test_momentum_of_large_heaps(void** state) {
	(void)state;
	checkMomentum(false);
}

// The same with limits and loaded bearings, whose bounds follow the joints' impulses from round to round.
static void test_momentum_of_restricted_heaps(void** state) {
	(void)state;
	checkMomentum(true);
}

static void test_threads_change_nothing(void** state) {
	(void)state;
	knTaskPool* pool = knTaskPool_Create(2, NULL, NULL);
	assert_non_null(pool);
	const knTasks tasks = knTaskPool_Tasks(pool);
	uint64_t hash[4];
	for (int k = 0; k < 4; ++k) {
		knWorld* world = impulseWorld(meetingBlocks(k >= 2), k % 2 == 0 ? NULL : &tasks);
		setOff(world);
		run(world, k < 2 ? 5 : 1, DT);
		hash[k] = knWorld_Hash(world);
		knWorld_Destroy(world);
	}
	assert_int_equal(hash[0], hash[1]);
	assert_int_equal(hash[2], hash[3]);
	assert_true(hash[0] != hash[2]);
	knTaskPool_Destroy(pool);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_carry_their_weights),
		cmocka_unit_test(test_momentum_of_large_heaps),
		cmocka_unit_test(test_momentum_of_restricted_heaps),
		cmocka_unit_test(test_threads_change_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
