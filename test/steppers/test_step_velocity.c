// The velocity stepper against formulas: flight, rest, bounce, sliding, slopes, collisions, moving supports.
#include "free_bricks.h"

#define DT 0.01
#define G 9.81

static double totalImpulse(const knWorld* world, int* count) {
	const knContact* contacts = knWorld_Contacts(world, count);
	double sum = 0.0;
	for (int i = 0; i < *count; ++i) {
		sum += contacts[i].impulse.z;
	}
	return sum;
}

// --- flight ----------------------------------------------------------------------------------------------

static void test_free_flight(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyId fall = newBall(scene, knV3(0.0, 0.0, 100.0), 0.3, knZero3(), material(0.5, 0.0));
	knBodyId thrown = newBall(scene, knV3(9.0, 0.0, 100.0), 0.3, knV3(3.0, -2.0, 5.0), material(0.5, 0.0));
	knWorld* world = newWorld(scene);
	for (int n = 1; n <= 200; ++n) {
		run(world, 1, DT);
		double t = n * DT, drop = 0.5 * G * t * t;
		assert_near3(knWorld_BodyCenter(world, fall), knV3(0.0, 0.0, 100.0 - drop), 1e-12 * 100.0);
		assert_near3(knWorld_BodyCenter(world, thrown), knV3(9.0 + 3.0 * t, -2.0 * t, 100.0 + 5.0 * t - drop),
					 1e-10);
		assert_near(knWorld_BodyVelocity(world, thrown).z, 5.0 - G * t, 1e-12);
	}
	assert_near(knWorld_Time(world), 2.0, 1e-12);
	assert_true(knWorld_StepCount(world) == 200);
	knWorld_Destroy(world);
}

// --- rest ------------------------------------------------------------------------------------------------

// Four redundant corners: the impulses are not unique, their sum is.
static void test_box_at_rest(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	knBodyId box = newBox(scene, knV3(0.3, -0.2, 0.5), knV3(0.4, 0.3, 0.5), material(0.6, 0.0));
	knWorld* world = newWorld(scene);
	double mass = knModel_BodyMass(knWorld_Model(world), box).mass;
	run(world, 100, DT);
	for (int i = 0; i < 20; ++i) {
		run(world, 1, DT);
		int count;
		assert_near(totalImpulse(world, &count), mass * G * DT, 1e-8);
		assert_int_equal(count, 4);
	}
	assert_near3(knWorld_BodyCenter(world, box), knV3(0.3, -0.2, 0.5), 1e-6);
	assert_true(knLength(knWorld_BodyVelocity(world, box)) < 1e-9);
	const knStepReport* report = knWorld_Report(world);
	assert_int_equal(report->contacts, 4);
	assert_int_equal(report->rows, 12);
	assert_int_equal(report->queries, 1);
	// global (settled, so the least number, and nothing is left for layers), one correction: there is no overlap
	assert_int_equal(report->iterations, 10 + 5);
	assert_true(report->theta < 1e-12);
	knWorld_Destroy(world);
}

// Remembered impulses follow the step: a column at rest does not notice when the step is halved.
static void test_step_size_changes(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	knBodyId top = { 0 };
	for (int i = 0; i < 8; ++i) {
		top = newBox(scene, knV3(0.0, 0.0, 0.5 + i), knV3(0.5, 0.5, 0.5), material(0.6, 0.0));
	}
	knWorld* world = newWorld(scene);
	run(world, 600, DT);
	double before = knAbs(knWorld_BodyVelocity(world, top).z);
	run(world, 1, 0.5 * DT);
	assert_true(before < 1e-5);
	assert_true(knAbs(knWorld_BodyVelocity(world, top).z) < 1e-5);
	knWorld_Destroy(world);
}

// Dropped on its face and on its corner, a box comes to rest on the ground, not in it.
static void test_box_lands(void** state) {
	(void)state;
	for (int tilted = 0; tilted < 2; ++tilted) {
		knScene* scene = newScene(earth);
		newGround(scene, material(0.6, 0.0));
		knBodyId box = newBox(scene, knV3(0.0, 0.0, 2.0), knV3(0.5, 0.5, 0.5), material(0.6, 0.0));
		if (tilted) {
			knScene_EditBody(scene, box)->frame.q = knNormalizeQ(knQ(0.9, 0.3, 0.2, 0.1));
		}
		knWorld* world = newWorld(scene);
		double lowest = 2.0;
		for (int i = 0; i < 500; ++i) {
			run(world, 1, DT);
			lowest = knMin(lowest, knWorld_BodyCenter(world, box).z);
		}
		assert_near(knWorld_BodyCenter(world, box).z, 0.5, 2e-4);
		assert_true(lowest > 0.5 - 1e-3);
		assert_true(knLength(knWorld_BodyVelocity(world, box)) < 1e-3);
		assert_true(knLength(knWorld_BodyAngularVelocity(world, box)) < 1e-2);
		knWorld_Destroy(world);
	}
}

// --- bounce ----------------------------------------------------------------------------------------------

// Newton's law at the first impact: e^2 of the energy is left, wherever in the step the ground is met. Rest in the end.
static void test_ball_bounces(void** state) {
	(void)state;
	const double e = 0.5;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.0, 0.0));
	knBodyId ball = newBall(scene, knV3(0.0, 0.0, 1.5), 0.5, knZero3(), material(0.0, e));
	knWorld* world = newWorld(scene);
	double before = 0.0;
	for (int i = 0; i < 1000 && knWorld_BodyVelocity(world, ball).z <= 0.0; ++i) {
		before = knWorld_BodyVelocity(world, ball).z;
		run(world, 1, DT);
	}
	double v = knWorld_BodyVelocity(world, ball).z, z = knWorld_BodyCenter(world, ball).z;
	assert_near(0.5 * v * v + G * (z - 0.5), e * e * G * 1.0, 1e-12);
	assert_near(before, -sqrt(2.0 * G * 1.0), 2.0 * G * DT);
	run(world, 600, DT);
	assert_near(knWorld_BodyCenter(world, ball).z, 0.5, 2e-4);
	assert_near(knWorld_BodyVelocity(world, ball).z, 0.0, 1e-9);
	knWorld_Destroy(world);
}

// --- friction --------------------------------------------------------------------------------------------

// A block with initial speed stops after v^2/(2 mu g), whatever its direction relative to the block.
static void test_block_slides(void** state) {
	(void)state;
	const double mu = 0.3, speed = 3.0;
	for (int k = 0; k < 3; ++k) {
		double angle = k * KN_PI / 8.0;
		knVec3 along = knV3(knCos(angle), knSin(angle), 0.0);
		knScene* scene = newScene(earth);
		newGround(scene, material(mu, 0.0));
		knBodyId block = newBox(scene, knV3(0.0, 0.0, 0.1), knV3(0.5, 0.5, 0.1), material(mu, 0.0));
		knScene_EditBody(scene, block)->velocity = knScale(speed, along);
		knWorld* world = newWorld(scene);
		run(world, 50, DT);
		assert_near(knDot(knWorld_BodyVelocity(world, block), along), speed - mu * G * 0.5, 2e-3);
		run(world, 100, DT);
		double distance = speed * speed / (2.0 * mu * G);
		knVec3 travelled = knWorld_BodyCenter(world, block);
		assert_near(knDot(travelled, along), distance, speed * DT);
		assert_near(knDot(travelled, knCross(knV3(0.0, 0.0, 1.0), along)), 0.0, 1e-2 * distance);
		assert_true(knLength(knWorld_BodyVelocity(world, block)) < 1e-6);
		knWorld_Destroy(world);
	}
}

// Tilted gravity: sticks below the friction angle, slides with g (sin - mu cos) above it.
static void test_slope(void** state) {
	(void)state;
	const double mu = 0.5, time = 1.0;
	const double share[2] = { 0.9, 1.1 };
	for (int k = 0; k < 2; ++k) {
		double angle = share[k] * knAtan2(mu, 1.0);
		knScene* scene = newScene(knV3(G * knSin(angle), 0.0, -G * knCos(angle)));
		newGround(scene, material(mu, 0.0));
		knBodyId block = newBox(scene, knV3(0.0, 0.0, 0.1), knV3(0.5, 0.5, 0.1), material(mu, 0.0));
		knWorld* world = newWorld(scene);
		run(world, (int)(time / DT + 0.5), DT);
		double acceleration = G * (knSin(angle) - mu * knCos(angle));
		double expected = k == 0 ? 0.0 : 0.5 * acceleration * time * (time + DT);
		assert_near(knWorld_BodyCenter(world, block).x, expected, k == 0 ? 1e-6 : 0.01 * expected);
		knWorld_Destroy(world);
	}
}

// --- momentum --------------------------------------------------------------------------------------------

static void test_free_collisions_conserve_momentum(void** state) {
	(void)state;
	knBodyId bodies[FREE_BRICKS];
	knScene* scene = newFreeBricks(bodies);
	checkFreeBricks(newWorld(scene), bodies, DT);
}

// --- supports that move ----------------------------------------------------------------------------------

typedef struct Lift {
	knWorld* world;
	knBodyId plate, box;
	double mass;
} Lift;

static Lift newLift(void) {
	knScene* scene = newScene(earth);
	Lift lift = { 0 };
	lift.plate = newBox(scene, knV3(0.0, 0.0, -0.1), knV3(2.0, 2.0, 0.1), material(0.6, 0.0));
	knScene_EditBody(scene, lift.plate)->kind = KN_BODY_KINEMATIC;
	lift.box = newBox(scene, knV3(0.0, 0.0, 0.25), knV3(0.25, 0.25, 0.25), material(0.6, 0.0));
	lift.world = newWorld(scene);
	lift.mass = knModel_BodyMass(knWorld_Model(lift.world), lift.box).mass;
	return lift;
}

// A lift that accelerates upwards by 2 m/s2: the reaction is m (g + 2), its work the energy gained.
static void test_accelerated_support(void** state) {
	(void)state;
	Lift lift = newLift();
	run(lift.world, 50, DT);
	double work = 0.0, gain = 0.0;
	for (int i = 1; i <= 100; ++i) {
		double start = knWorld_BodyCenter(lift.world, lift.box).z;
		assert_ok(knWorld_SetBodyVelocity(lift.world, lift.plate, knV3(0.0, 0.0, 2.0 * i * DT), knZero3()));
		run(lift.world, 1, DT);
		work += knWorld_Report(lift.world)->work;
		gain += lift.mass * G * (knWorld_BodyCenter(lift.world, lift.box).z - start);
		int count;
		if (i > 10) {
			assert_near(totalImpulse(lift.world, &count), lift.mass * (G + 2.0) * DT,
						0.02 * lift.mass * (G + 2.0) * DT);
		}
	}
	knVec3 v = knWorld_BodyVelocity(lift.world, lift.box);
	assert_near(v.z, 2.0, 1e-3);
	assert_near(work, gain + 0.5 * lift.mass * knLengthSquared(v), 0.02 * gain);
	knWorld_Destroy(lift.world);
}

// A plate that moves sideways takes the box along by friction.
static void test_conveyor(void** state) {
	(void)state;
	Lift lift = newLift();
	assert_ok(knWorld_SetBodyVelocity(lift.world, lift.plate, knV3(1.0, 0.0, 0.0), knZero3()));
	run(lift.world, 10, DT);
	assert_near(knWorld_BodyVelocity(lift.world, lift.box).x, 0.6 * G * 0.1, 0.02);
	run(lift.world, 50, DT);
	assert_near(knWorld_BodyVelocity(lift.world, lift.box).x, 1.0, 1e-6);
	knWorld_Destroy(lift.world);
}

// --- settings and threads --------------------------------------------------------------------------------

static void test_settings(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	newBox(scene, knV3(0.0, 0.0, 0.5), knV3(0.5, 0.5, 0.5), material(0.6, 0.0));
	knModel* model = knModel_Create(scene, NULL);
	knSettings settings = knSettings_Default();
	knWorldDef def = knWorldDef_Default();
	def.settings = &settings;
	knError error = { 0 };

	settings.shock = 0;
	settings.sweeps = 7;
	knWorld* world = knWorld_Create(model, &def, &error);
	assert_non_null(world);
	run(world, 1, DT);
	assert_int_equal(knWorld_Report(world)->iterations, 7 + 5);
	knWorld_Destroy(world);
	knModel_Release(model);
	knScene_Destroy(scene);
}

// A pile of boxes falls into a heap; the bits do not depend on the number of threads.
static uint64_t pileHash(int threads) {
	knTestRandom random = { 17 };
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	for (int i = 0; i < 120; ++i) {
		knVec3 at = knV3(0.9 * (i % 4) + 0.1 * i / 12, 0.9 * (i / 4 % 3), 0.6 + 0.7 * (i / 12));
		knBodyId box = newBox(scene, at, knV3(0.3, 0.25, 0.2), material(0.6, 0.1));
		knScene_EditBody(scene, box)->frame.q = testQuat(&random);
	}
	knWorldDef def = knWorldDef_Default();
	knTaskPool* pool = knTaskPool_Create(threads, NULL, NULL);
	assert_non_null(pool);
	def.tasks = knTaskPool_Tasks(pool);
	knWorld* world = newWorldWith(scene, &def);
	run(world, 100, DT);
	uint64_t hash = knWorld_Hash(world);
	knWorld_Destroy(world);
	knTaskPool_Destroy(pool);
	return hash;
}

static void test_threads_do_not_matter(void** state) {
	(void)state;
	uint64_t one = pileHash(1);
	assert_true(one == pileHash(2));
	assert_true(one == pileHash(3));
}

// A ball that rolls without slipping and resists it with a moment a N loses 5 a g/(7 r) of its speed per second, by
// its own arm or by the one set for every shape; without an arm it rolls on.
static double speedAfterRolling(double arm, double setting) {
	const double r = 0.5;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	knShapeDef shape = material(0.6, 0.0);
	shape.rollingFriction = arm;
	knBodyId ball = newBall(scene, knV3(0.0, 0.0, r), r, knV3(2.0, 0.0, 0.0), shape);
	knScene_EditBody(scene, ball)->angularVelocity = knV3(0.0, 2.0 / r, 0.0);
	knScene_Def(scene)->settings.rolling = setting;
	knWorld* world = newWorld(scene);
	run(world, 100, DT);
	double speed = knWorld_BodyVelocity(world, ball).x;
	assert_near(knWorld_BodyAngularVelocity(world, ball).y, speed / r, 1e-6);
	knWorld_Destroy(world);
	return speed;
}

static void test_rolling_resistance(void** state) {
	(void)state;
	assert_near(speedAfterRolling(0.0, -1.0), 2.0, 1e-6);
	assert_near(speedAfterRolling(0.02, -1.0), 2.0 - 5.0 * 0.02 * G / (7.0 * 0.5), 1e-3);
	assert_near(speedAfterRolling(0.02, 0.05), 2.0 - 5.0 * 0.05 * G / (7.0 * 0.5), 1e-3);
	assert_near(speedAfterRolling(0.5, -1.0), 0.0, 1e-9);
}

// A ball that spins on its place is stopped by a moment a N too: w' = -5 a g/(2 r^2).
static void test_spinning_resistance(void** state) {
	(void)state;
	const double r = 0.5, arm = 0.02;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	knShapeDef shape = material(0.6, 0.0);
	shape.rollingFriction = arm;
	knBodyId ball = newBall(scene, knV3(0.0, 0.0, r), r, knZero3(), shape);
	knScene_EditBody(scene, ball)->angularVelocity = knV3(0.0, 0.0, 5.0);
	knWorld* world = newWorld(scene);
	run(world, 100, DT);
	double slower = 5.0 * arm * G / (2.0 * r * r);
	assert_near(knWorld_BodyAngularVelocity(world, ball).z, 5.0 - slower, 1e-3 * slower);
	run(world, 300, DT);
	assert_near(knLength(knWorld_BodyAngularVelocity(world, ball)), 0.0, 1e-9);
	assert_near3(knWorld_BodyCenter(world, ball), knV3(0.0, 0.0, r), 1e-9);
	knWorld_Destroy(world);
}

// On a slope the resistance holds a ball as long as tan < a/r; beyond it the ball rolls with 5/7 g (sin - cos a/r).
static void test_resisting_ball_on_a_slope(void** state) {
	(void)state;
	const double r = 0.5, arm = 0.05;
	for (int steep = 0; steep < 2; ++steep) {
		double angle = knAtan2((steep ? 1.5 : 0.9) * arm / r, 1.0);
		knScene* scene = newScene(knV3(G * knSin(angle), 0.0, -G * knCos(angle)));
		newGround(scene, material(0.6, 0.0));
		knShapeDef shape = material(0.6, 0.0);
		shape.rollingFriction = arm;
		knBodyId ball = newBall(scene, knV3(0.0, 0.0, r), r, knZero3(), shape);
		knWorld* world = newWorld(scene);
		run(world, 100, DT);
		double expected = steep ? 5.0 / 7.0 * G * (knSin(angle) - knCos(angle) * arm / r) : 0.0;
		assert_near(knWorld_BodyVelocity(world, ball).x, expected, steep ? 0.01 * expected : 1e-9);
		knWorld_Destroy(world);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_free_flight),
		cmocka_unit_test(test_box_at_rest),
		cmocka_unit_test(test_step_size_changes),
		cmocka_unit_test(test_box_lands),
		cmocka_unit_test(test_ball_bounces),
		cmocka_unit_test(test_block_slides),
		cmocka_unit_test(test_slope),
		cmocka_unit_test(test_rolling_resistance),
		cmocka_unit_test(test_spinning_resistance),
		cmocka_unit_test(test_resisting_ball_on_a_slope),
		cmocka_unit_test(test_free_collisions_conserve_momentum),
		cmocka_unit_test(test_accelerated_support),
		cmocka_unit_test(test_conveyor),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_threads_do_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
