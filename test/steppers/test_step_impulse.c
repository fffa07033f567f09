// The impulse stepper against formulas: bounces, rest, slopes, rolling, blows, stacks and momentum, in the default and in
// the published scheme.
#include "free_bricks.h"

#define DT 0.01
#define G 9.81

static knWorld* impulseWorld(knScene* scene, knScheme scheme) {
	knSettings settings = knSettings_Default();
	settings.scheme = scheme;
	knWorldDef def = knWorldDef_Default();
	def.stepper = "impulse";
	def.settings = &settings;
	return newWorldWith(scene, &def);
}

static double carriedUp(const knWorld* world) {
	int count;
	const knContact* contacts = knWorld_Contacts(world, &count);
	double sum = 0.0;
	for (int i = 0; i < count; ++i) {
		sum += contacts[i].impulse.z;
	}
	return sum;
}

static const knScheme schemes[2] = { KN_SCHEME_DEFAULT, KN_SCHEME_PAPER };

// --- flight and rest ---------------------------------------------------------------------------------------

static void test_free_flight(void** state) {
	(void)state;
	for (int k = 0; k < 2; ++k) {
		knScene* scene = newScene(earth);
		knBodyId ball = newBall(scene, knV3(0.0, 0.0, 100.0), 0.3, knV3(3.0, -2.0, 5.0), material(0.5, 0.0));
		knWorld* world = impulseWorld(scene, schemes[k]);
		run(world, 200, DT);
		// the published scheme moves by the velocity at the end of the step
		double t = 2.0, drop = 0.5 * G * t * (t + (schemes[k] == KN_SCHEME_PAPER ? DT : 0.0));
		assert_near3(knWorld_BodyCenter(world, ball), knV3(6.0, -4.0, 110.0 - drop), 1e-10);
		knWorld_Destroy(world);
	}
}

// A block at rest does not bounce on its own weight, even where it would bounce perfectly: collisions come before
// forces.
static void test_elastic_block_stays_at_rest(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.5, 1.0));
	knBodyId block = newBox(scene, knV3(0.0, 0.0, 0.5), knV3(0.5, 0.4, 0.5), material(0.5, 1.0));
	knWorld* world = impulseWorld(scene, KN_SCHEME_DEFAULT);
	double mass = knModel_BodyMass(knWorld_Model(world), block).mass;
	for (int i = 0; i < 10; ++i) {
		run(world, 1000, DT);
		assert_near3(knWorld_BodyCenter(world, block), knV3(0.0, 0.0, 0.5), 1e-9);
		assert_near(carriedUp(world), mass * G * DT, 1e-6 * mass * G * DT);
	}
	knWorld_Destroy(world);
}

// A ball that rests is left alone by collisions in the published scheme as well; contact holds it up to the speed below
// which nothing counts as approaching.
static void test_published_ball_stays_at_rest(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.5, 1.0));
	knBodyId ball = newBall(scene, knV3(0.0, 0.0, 0.5), 0.5, knZero3(), material(0.5, 1.0));
	knWorld* world = impulseWorld(scene, KN_SCHEME_PAPER);
	run(world, 1000, DT);
	assert_near(knWorld_BodyCenter(world, ball).z, 0.5, 1e-9);
	assert_true(knLength(knWorld_BodyVelocity(world, ball)) < 1e-9);
	knWorld_Destroy(world);
}

// --- bounces -------------------------------------------------------------------------------------------------

// Newton's law at the first impact, for several restitutions and both schemes; the height follows within a step.
static void test_ball_bounces(void** state) {
	(void)state;
	const double restitution[3] = { 0.25, 0.5, 1.0 };
	for (int k = 0; k < 6; ++k) {
		double e = restitution[k % 3], before = 0.0, highest = 0.0, duration = 0.0;
		knScene* scene = newScene(earth);
		newGround(scene, material(0.0, 0.0));
		knBodyId ball = newBall(scene, knV3(0.0, 0.0, 2.5), 0.5, knZero3(), material(0.0, e));
		knWorld* world = impulseWorld(scene, schemes[k / 3]);
		const double dt = 0.001;
		for (int i = 0; i < 2000 && knWorld_BodyVelocity(world, ball).z <= 0.0; ++i) {
			before = knWorld_BodyVelocity(world, ball).z;
			run(world, 1, dt);
			duration += dt;
		}
		// published: the bounce is before the step's forces; default: at the time of the impact, after a fall of 2 m
		double impact = sqrt(2.0 * 2.0 / G);
		bool paper = schemes[k / 3] == KN_SCHEME_PAPER;
		double after = paper ? -e * before - G * dt : e * G * impact - G * (duration - impact);
		assert_near(knWorld_BodyVelocity(world, ball).z, after, paper ? 1e-12 : 1e-11);
		for (int i = 0; i < 3000 && knWorld_BodyVelocity(world, ball).z > 0.0; ++i) {
			run(world, 1, dt);
			highest = knMax(highest, knWorld_BodyCenter(world, ball).z);
		}
		assert_near(highest - 0.5, e * e * 2.0, 0.02);
		knWorld_Destroy(world);
	}
}

// A box that falls flat rises flat: its corners bounce together.
static void test_box_rises_flat(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	knBodyId box = newBox(scene, knV3(0.0, 0.0, 1.5), knV3(0.5, 0.3, 0.2), material(0.6, 0.5));
	knWorld* world = impulseWorld(scene, KN_SCHEME_DEFAULT);
	for (int i = 0; i < 500 && knWorld_BodyVelocity(world, box).z <= 0.0; ++i) {
		run(world, 1, DT);
	}
	assert_true(knWorld_BodyVelocity(world, box).z > 1.0);
	assert_true(knLength(knWorld_BodyAngularVelocity(world, box)) < 1e-9);
	knWorld_Destroy(world);
}

// Equal balls in a row: the last one flies off with the speed of the first, to round-off.
static void test_row_of_balls(void** state) {
	(void)state;
	for (int k = 0; k < 2; ++k) {
		int count = k == 0 ? 12 : 5; // the published scheme passes a blow on along five
		knScene* scene = newScene(noGravity);
		knBodyId balls[12];
		for (int i = 0; i < count; ++i) {
			// the first one comes from the right, against the order of pairs
			knVec3 at = knV3(-1.0 * i + (i == 0 ? 0.05 : 0.0), 0.0, 0.0);
			balls[i] = newBall(scene, at, 0.5, knV3(i == 0 ? -3.0 : 0.0, 0.0, 0.0), material(0.0, 1.0));
		}
		knWorld* world = impulseWorld(scene, schemes[k]);
		run(world, 30, DT);
		for (int i = 0; i < count; ++i) {
			knVec3 v = knWorld_BodyVelocity(world, balls[i]);
			assert_near3(v, knV3(i == count - 1 ? -3.0 : 0.0, 0.0, 0.0), 1e-12);
		}
		knWorld_Destroy(world);
	}
}

// --- friction ------------------------------------------------------------------------------------------------

// A block with initial speed stops after v^2/(2 mu g), in any direction, to mu g dt^2/8.
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
		knWorld* world = impulseWorld(scene, KN_SCHEME_DEFAULT);
		double expected = speed * speed / (2.0 * mu * G), error = mu * G * DT * DT / 8.0;
		run(world, 150, DT);
		assert_near3(knWorld_BodyCenter(world, block), knMulAdd(knV3(0.0, 0.0, 0.1), expected, along), error);
		assert_true(knLength(knWorld_BodyVelocity(world, block)) < 1e-6);
		knWorld_Destroy(world);
	}
}

// Tilted gravity, in several directions: sticks just below the friction angle and slides just above it, with g (sin - mu cos).
static void test_slope(void** state) {
	(void)state;
	const double mu = 0.5, share[4] = { 0.98, 0.999, 1.001, 1.1 };
	for (int k = 0; k < 8; ++k) {
		double angle = share[k % 4] * knAtan2(mu, 1.0), turn = k < 4 ? 0.0 : 0.7;
		knVec3 along = knV3(knCos(turn), knSin(turn), 0.0);
		knVec3 gravity = knMulAdd(knV3(0.0, 0.0, -G * knCos(angle)), G * knSin(angle), along);
		knScene* scene = newScene(gravity);
		newGround(scene, material(mu, 0.0));
		knBodyId block = newBox(scene, knV3(0.0, 0.0, 0.1), knV3(0.5, 0.5, 0.1), material(mu, 0.0));
		knWorld* world = impulseWorld(scene, KN_SCHEME_DEFAULT);
		run(world, 100, DT);
		double acceleration = knMax(G * (knSin(angle) - mu * knCos(angle)), 0.0);
		knVec3 expected = knScale(0.5 * acceleration, along); // after 1 s
		assert_near3(knSub(knWorld_BodyCenter(world, block), knV3(0.0, 0.0, 0.1)), expected, 1e-7);
		assert_near3(knWorld_BodyVelocity(world, block), knScale(acceleration, along), 1e-7);
		knWorld_Destroy(world);
	}
}

// The published scheme on a slope: a ball that cannot turn is a block with one contact.
static void test_published_slope(void** state) {
	(void)state;
	const double mu = 0.5, share[2] = { 0.999, 1.05 };
	for (int k = 0; k < 2; ++k) {
		double angle = share[k] * knAtan2(mu, 1.0);
		knScene* scene = newScene(knV3(G * knSin(angle), 0.0, -G * knCos(angle)));
		newGround(scene, material(mu, 0.0));
		knBodyId block = newBall(scene, knV3(0.0, 0.0, 0.2), 0.2, knZero3(), material(mu, 0.0));
		knBodyDef* def = knScene_EditBody(scene, block);
		def->hasMass = true;
		def->mass = (knMassProps){ .mass = 2.0, .inertia = knDiagonal33(1e9, 1e9, 1e9) };
		knWorld* world = impulseWorld(scene, KN_SCHEME_PAPER);
		run(world, 100, DT);
		double acceleration = knMax(G * (knSin(angle) - mu * knCos(angle)), 0.0);
		assert_near(knWorld_BodyVelocity(world, block).x, acceleration, 1e-6);
		assert_near(knWorld_BodyCenter(world, block).x, 0.5 * acceleration * 1.0 * (1.0 + DT), 1e-6);
		knWorld_Destroy(world);
	}
}

// A ball that starts sliding rolls with 5/7 of its speed after 2 v/(7 mu g).
static void test_ball_begins_to_roll(void** state) {
	(void)state;
	const double mu = 0.2, speed = 2.0;
	for (int k = 0; k < 2; ++k) {
		knScene* scene = newScene(earth);
		newGround(scene, material(mu, 0.0));
		knBodyId ball = newBall(scene, knV3(0.0, 0.0, 0.3), 0.3, knV3(speed, 0.0, 0.0), material(mu, 0.0));
		knWorld* world = impulseWorld(scene, schemes[k]);
		int steps = (int)(2.0 * speed / (7.0 * mu * G) / DT);
		run(world, steps - 2, DT);
		assert_true(knWorld_BodyVelocity(world, ball).x > 5.0 / 7.0 * speed + 1e-3);
		run(world, 100, DT);
		assert_near(knWorld_BodyVelocity(world, ball).x, 5.0 / 7.0 * speed, 1e-6);
		assert_near(knWorld_BodyAngularVelocity(world, ball).y, 5.0 / 7.0 * speed / 0.3, 1e-5);
		knWorld_Destroy(world);
	}
}

// Rolling friction of arm a decelerates a ball by 5/7 a g/r; without it nothing does. Spin decays by 5/2 a g/r^2.
static void test_rolling_and_spinning_friction(void** state) {
	(void)state;
	const double arm = 0.01, r = 0.3, speed = 1.0, spin = 4.0;
	for (int k = 0; k < 2; ++k) {
		knShapeDef rough = material(0.6, 0.0);
		rough.rollingFriction = k == 0 ? 0.0 : arm;
		knScene* scene = newScene(earth);
		newGround(scene, material(0.6, 0.0));
		knBodyId roller = newBall(scene, knV3(0.0, 0.0, r), r, knV3(speed, 0.0, 0.0), rough);
		knScene_EditBody(scene, roller)->angularVelocity = knV3(0.0, speed / r, 0.0);
		knBodyId top = newBall(scene, knV3(0.0, 3.0, r), r, knZero3(), rough);
		knScene_EditBody(scene, top)->angularVelocity = knV3(0.0, 0.0, spin);
		knWorld* world = impulseWorld(scene, KN_SCHEME_DEFAULT);
		run(world, 50, DT);
		double rolling = k == 0 ? 0.0 : 5.0 / 7.0 * arm * G / r,
			   turning = k == 0 ? 0.0 : 2.5 * arm * G / (r * r);
		assert_near(knWorld_BodyVelocity(world, roller).x, speed - 0.5 * rolling, 2e-3);
		assert_near(knWorld_BodyAngularVelocity(world, top).z, knMax(spin - 0.5 * turning, 0.0), 1e-6);
		knWorld_Destroy(world);
	}
}

// --- momentum ------------------------------------------------------------------------------------------------

// In both schemes, and where bricks are pushed out of each other.
static void test_free_collisions_conserve_momentum(void** state) {
	(void)state;
	for (int k = 0; k < 2; ++k) {
		knBodyId bodies[FREE_BRICKS];
		knScene* scene = newFreeBricks(bodies);
		checkFreeBricks(impulseWorld(scene, schemes[k]), bodies, DT);
	}
}

// A cue ball breaks a rack of fifteen with friction and little loss: momentum stays, energy does not grow.
static void test_billiard_break(void** state) {
	(void)state;
	for (int k = 0; k < 2; ++k) {
		knScene* scene = newScene(noGravity);
		knBodyId balls[16];
		int count = 0;
		for (int row = 0; row < 5; ++row) {
			for (int i = 0; i <= row; ++i) {
				knVec3 at = knV3(row * sqrt(3.0) * 0.0286, (2 * i - row) * 0.0286, 0.0);
				balls[count++] = newBall(scene, at, 0.0285, knZero3(), material(0.1, 0.95));
			}
		}
		balls[count++] =
			newBall(scene, knV3(-0.5, 0.003, 0.001), 0.0285, knV3(8.0, 0.0, 0.0), material(0.1, 0.95));
		knScene_EditBody(scene, balls[15])->angularVelocity = knV3(5.0, -20.0, 40.0);
		knWorld* world = impulseWorld(scene, schemes[k]);
		knVec3 p0, L0, p, L;
		momenta(world, balls, count, &p0, &L0);
		double before = knWorld_Measure(world).kinetic;
		run(world, 100, 0.002);
		momenta(world, balls, count, &p, &L);
		assert_near3(p, p0, 1e-12 * knLength(p0));
		assert_near3(L, L0, 1e-12 * knLength(p0));
		double after = knWorld_Measure(world).kinetic;
		assert_true(after <= before && after > 0.5 * before);
		int moving = 0;
		for (int i = 0; i < count; ++i) {
			moving += knLength(knWorld_BodyVelocity(world, balls[i])) > 0.05;
		}
		assert_true(moving > 10);
		knWorld_Destroy(world);
	}
}

// A cloud of balls and bricks that overlap at the start, with friction, bounce, rolling friction and shock propagation:
// what the step does between them is internal.
static void test_crowd_in_free_space_conserves_momentum(void** state) {
	(void)state;
	knTestRandom random = { 77 };
	knScene* scene = newScene(noGravity);
	knBodyId bodies[30];
	knShapeDef rough = material(0.6, 0.4);
	rough.rollingFriction = 0.01;
	for (int i = 0; i < 30; ++i) {
		knVec3 at = knScale(0.9, testVec3(&random, 1.0));
		bodies[i] = i % 2 == 0 ? newBox(scene, at, knV3(0.3, 0.2, 0.25), rough)
							   : newBall(scene, at, 0.25, knZero3(), rough);
		knBodyDef* def = knScene_EditBody(scene, bodies[i]);
		def->frame.q = testQuat(&random);
		def->velocity = knScale(-2.0, at);
		def->angularVelocity = testVec3(&random, 3.0);
	}
	knWorld* world = impulseWorld(scene, KN_SCHEME_DEFAULT);
	knVec3 p0, L0, p, L;
	momenta(world, bodies, 30, &p0, &L0);
	int most = 0;
	for (int i = 0; i < 200; ++i) {
		run(world, 1, DT);
		int count;
		knWorld_Contacts(world, &count);
		most = count > most ? count : most;
	}
	momenta(world, bodies, 30, &p, &L);
	double scale = 30 * 65.0 * 2.0; // kg m/s, of all bodies
	assert_true(most > 30);
	assert_near3(p, p0, 1e-12 * scale);
	assert_near3(L, L0, 1e-12 * scale * 2.0);
	knWorld_Destroy(world);
}

// --- piles ---------------------------------------------------------------------------------------------------

// A column of any height carries its weight from the first step, and does not move.
static void test_columns_stand(void** state) {
	(void)state;
	const int heights[4] = { 1, 5, 20, 50 };
	for (int k = 0; k < 4; ++k) {
		knScene* scene = newScene(earth);
		newGround(scene, material(0.6, 0.0));
		knBodyId top = { 0 };
		double mass = 0.0;
		for (int i = 0; i < heights[k]; ++i) {
			top = newBox(scene, knV3(0.0, 0.0, 0.5 + i), knV3(0.5, 0.5, 0.5), material(0.6, 0.0));
			mass += 1000.0;
		}
		knWorld* world = impulseWorld(scene, KN_SCHEME_DEFAULT);
		run(world, 1, DT);
		int count;
		const knContact* contacts = knWorld_Contacts(world, &count);
		double ground = 0.0;
		for (int i = 0; i < count; ++i) {
			ground += KN_ID_IS_NULL(contacts[i].bodyA) ? contacts[i].impulse.z : 0.0;
		}
		assert_near(ground, mass * G * DT, 1e-3 * mass * G * DT);
		run(world, 200, DT);
		assert_near3(knWorld_BodyCenter(world, top), knV3(0.0, 0.0, heights[k] - 0.5), 2e-3);
		knWorld_Destroy(world);
	}
}

// A ball of a thousand times the mass on a light one, and under it: both stand.
static void test_heavy_and_light(void** state) {
	(void)state;
	for (int k = 0; k < 2; ++k) {
		knScene* scene = newScene(earth);
		knShapeDef lower = material(0.6, 0.0), upper = lower;
		lower.density = k == 0 ? 10.0 : 10000.0;
		upper.density = k == 0 ? 10000.0 : 10.0;
		newGround(scene, material(0.6, 0.0));
		newBox(scene, knV3(0.0, 0.0, 0.5), knV3(0.5, 0.5, 0.5), lower);
		knBodyId top = newBox(scene, knV3(0.0, 0.0, 1.5), knV3(0.5, 0.5, 0.5), upper);
		knWorld* world = impulseWorld(scene, KN_SCHEME_DEFAULT);
		run(world, 100, DT);
		assert_near3(knWorld_BodyCenter(world, top), knV3(0.0, 0.0, 1.5), 1e-3);
		knWorld_Destroy(world);
	}
}

// Ten boxes, each twice as heavy as the one below it: the lightest carries a thousand times its weight.
static void test_stack_of_growing_mass(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	knBodyId boxes[10];
	double mass = 0.0;
	for (int i = 0; i < 10; ++i) {
		knShapeDef shape = material(0.6, 0.0);
		shape.density = 10.0 * (1 << i);
		boxes[i] = newBox(scene, knV3(0.0, 0.0, 0.5 + i), knV3(0.5, 0.5, 0.5), shape);
		mass += shape.density;
	}
	knWorld* world = impulseWorld(scene, KN_SCHEME_DEFAULT);
	run(world, 200, DT);
	for (int i = 0; i < 10; ++i) {
		assert_near3(knWorld_BodyCenter(world, boxes[i]), knV3(0.0, 0.0, 0.5 + i), 1e-5);
	}
	int count;
	const knContact* contacts = knWorld_Contacts(world, &count);
	double ground = 0.0;
	for (int i = 0; i < count; ++i) {
		ground += KN_ID_IS_NULL(contacts[i].bodyA) ? contacts[i].impulse.z : 0.0;
	}
	assert_near(ground, mass * G * DT, 1e-4 * mass * G * DT);
	knWorld_Destroy(world);
}

// One contact an interface: after the sweeps and the shock propagation of one published step nothing approaches, however
// high the column and whatever the masses.
static void test_published_columns_of_balls(void** state) {
	(void)state;
	const int heights[4] = { 1, 2, 10, 50 };
	for (int k = 0; k < 8; ++k) {
		knScene* scene = newScene(earth);
		newGround(scene, material(0.0, 0.0));
		knBodyId balls[50];
		int count = heights[k % 4];
		for (int i = 0; i < count; ++i) {
			knShapeDef shape = material(0.0, 0.0);
			shape.density = k < 4 ? 1000.0 : i % 3 == 0 ? 10000.0 : 10.0;
			balls[i] = newBall(scene, knV3(0.0, 0.0, 0.5 + i), 0.5, knZero3(), shape);
		}
		knWorld* world = impulseWorld(scene, KN_SCHEME_PAPER);
		run(world, 1, DT);
		double below = 0.0;
		for (int i = 0; i < count; ++i) {
			double v = knWorld_BodyVelocity(world, balls[i]).z;
			assert_true(v >= below - 1e-11);
			below = v;
		}
		knWorld_Destroy(world);
	}
}

// A see-saw with arms of one and two feels the weights below it: equal cubes turn it towards the longer arm.
static void test_see_saw_feels_the_weights(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyDef fulcrum = knBodyDef_Default();
	fulcrum.kind = KN_BODY_FIXED;
	fulcrum.frame.p = knV3(0.0, 0.0, 0.25);
	knBodyId fixed = newBody(scene, &fulcrum);
	knShapeDef rough = material(0.6, 0.0);
	assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, fixed, knV3(0.05, 0.5, 0.25), &rough, NULL)));
	knBodyId plank = newBox(scene, knV3(0.0, 0.0, 0.525), knV3(2.0, 0.4, 0.025), rough);
	newBox(scene, knV3(-0.8, 0.0, 0.75), knV3(0.2, 0.2, 0.2), rough);
	newBox(scene, knV3(1.6, 0.0, 0.75), knV3(0.2, 0.2, 0.2), rough);
	knWorld* world = impulseWorld(scene, KN_SCHEME_DEFAULT);
	run(world, 30, DT);
	knVec3 along = knRotate(knWorld_BodyFrame(world, plank).q, knV3(1.0, 0.0, 0.0));
	assert_true(along.z < -0.02);
	knWorld_Destroy(world);
}

// A lift that accelerates upwards or downwards by 2 m/s2: the column moves with it, and the floor carries m (g +- 2).
static void test_lift(void** state) {
	(void)state;
	for (int k = 0; k < 2; ++k) {
		double acceleration = k == 0 ? 2.0 : -2.0;
		knScene* scene = newScene(earth);
		knBodyDef floor = knBodyDef_Default();
		floor.kind = KN_BODY_KINEMATIC;
		floor.frame.p = knV3(0.0, 0.0, -0.5);
		knBodyId lift = newBody(scene, &floor);
		knShapeDef rough = material(0.6, 0.0);
		assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, lift, knV3(2.0, 2.0, 0.5), &rough, NULL)));
		knBodyId top = { 0 };
		for (int i = 0; i < 6; ++i) {
			top = newBox(scene, knV3(0.0, 0.0, 0.5 + i), knV3(0.5, 0.5, 0.5), rough);
		}
		knWorld* world = impulseWorld(scene, KN_SCHEME_DEFAULT);
		for (int i = 1; i <= 100; ++i) {
			assert_ok(knWorld_SetBodyVelocity(world, lift, knV3(0.0, 0.0, acceleration * DT * i), knZero3()));
			run(world, 1, DT);
		}
		int count;
		const knContact* contacts = knWorld_Contacts(world, &count);
		double carried = 0.0;
		for (int i = 0; i < count; ++i) {
			carried += KN_ID_EQUALS(contacts[i].bodyA, lift) ? contacts[i].impulse.z : 0.0;
		}
		assert_near(carried, 6000.0 * (G + acceleration) * DT, 1e-3 * 6000.0 * G * DT);
		assert_near(knWorld_BodyVelocity(world, top).z, acceleration, 1e-3);
		knWorld_Destroy(world);
	}
}

// --- the step ------------------------------------------------------------------------------------------------

static knScene* crowd(void) {
	knTestRandom random = { 21 };
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.2));
	for (int i = 0; i < 40; ++i) {
		knVec3 at = knV3(testUniform(&random, -1.5, 1.5), testUniform(&random, -1.5, 1.5), 0.6 + 0.4 * i);
		knBodyId body = i % 2 == 0 ? newBox(scene, at, knV3(0.3, 0.2, 0.25), material(0.6, 0.2))
								   : newBall(scene, at, 0.25, knZero3(), material(0.6, 0.2));
		knScene_EditBody(scene, body)->frame.q = testQuat(&random);
	}
	return scene;
}

// Beside the crowd, far from each other: chains that fall on the ground, closed to rings or not, and stacks.
static knScene* spreadCrowd(void) {
	knScene* scene = crowd();
	for (int c = 0; c < 6; ++c) {
		knBodyId links[4];
		for (int i = 0; i < 4; ++i) {
			knVec3 at = knV3(20.0 + 5.0 * c + 0.5 * (i % 2), 0.5 * (i / 2), 0.5 + 0.1 * c);
			links[i] = newBox(scene, at, knV3(0.2, 0.2, 0.1), material(0.6, 0.2));
			newBox(scene, knV3(20.0 + 5.0 * c, 10.0, 0.25 + 0.51 * i), knV3(0.25, 0.25, 0.25),
				   material(0.6, 0.2));
		}
		static const int ring[4][2] = { { 0, 1 }, { 1, 3 }, { 3, 2 }, { 2, 0 } };
		for (int i = 0; i < 3 + c % 2; ++i) {
			const knBodyId a = links[ring[i][0]], b = links[ring[i][1]];
			knVec3 between =
				knLerp(knScene_EditBody(scene, a)->frame.p, knScene_EditBody(scene, b)->frame.p, 0.5);
			knJointDef def = jointAt(scene, KN_JOINT_BALL, a, b, between, knV3(1.0, 0.0, 0.0));
			newJoint(scene, &def);
		}
	}
	return scene;
}

// A warm step takes no memory, any number of threads gives the same bits, and a saved world goes on as it was.
static void test_steps_are_repeatable(void** state) {
	(void)state;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knTaskPool* pool = knTaskPool_Create(2, NULL, NULL);
	assert_non_null(pool);
	knWorldDef def = knWorldDef_Default();
	def.stepper = "impulse";
	def.allocator = &allocator;
	knWorld* one = newWorldWith(spreadCrowd(), &def);
	def.allocator = NULL;
	def.tasks = knTaskPool_Tasks(pool);
	knWorld* two = newWorldWith(spreadCrowd(), &def);
	run(one, 600, DT);
	run(two, 600, DT);
	assert_true(knWorld_Hash(one) == knWorld_Hash(two));
	size_t size = knWorld_StateSize(one);
	void* saved = malloc(size);
	assert_ok(knWorld_Save(one, saved, size));
	int calls = memory.calls;
	run(one, 50, DT);
	assert_int_equal(memory.calls, calls);
	uint64_t hash = knWorld_Hash(one);
	assert_ok(knWorld_Restore(one, saved, size, NULL));
	run(one, 50, DT);
	assert_true(knWorld_Hash(one) == hash);
	free(saved);
	knWorld_Destroy(one);
	knWorld_Destroy(two);
	knTaskPool_Destroy(pool);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_free_flight),
		cmocka_unit_test(test_elastic_block_stays_at_rest),
		cmocka_unit_test(test_published_ball_stays_at_rest),
		cmocka_unit_test(test_ball_bounces),
		cmocka_unit_test(test_box_rises_flat),
		cmocka_unit_test(test_row_of_balls),
		cmocka_unit_test(test_block_slides),
		cmocka_unit_test(test_slope),
		cmocka_unit_test(test_published_slope),
		cmocka_unit_test(test_ball_begins_to_roll),
		cmocka_unit_test(test_rolling_and_spinning_friction),
		cmocka_unit_test(test_free_collisions_conserve_momentum),
		cmocka_unit_test(test_billiard_break),
		cmocka_unit_test(test_crowd_in_free_space_conserves_momentum),
		cmocka_unit_test(test_columns_stand),
		cmocka_unit_test(test_heavy_and_light),
		cmocka_unit_test(test_stack_of_growing_mass),
		cmocka_unit_test(test_published_columns_of_balls),
		cmocka_unit_test(test_see_saw_feels_the_weights),
		cmocka_unit_test(test_lift),
		cmocka_unit_test(test_steps_are_repeatable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
