// Facts about bounces that hold for every stepper with them: heights, rows of balls, equal hits, friction at the impact, joints.
// The file that includes this names its stepper: BOUNCE_STEPPER.
#pragma once

#include "world/fixture.h"

#define DT 0.01
#define G 9.81

static knWorld* bounceWorld(knScene* scene) {
	knWorldDef def = knWorldDef_Default();
	def.stepper = BOUNCE_STEPPER;
	return newWorldWith(scene, &def);
}

static double kineticOf(const knWorld* world) {
	return knWorld_Measure((knWorld*)world).kinetic;
}

static double energyOf(knWorld* world) {
	knMeasures measures = knWorld_Measure(world);
	return measures.kinetic + measures.potential;
}

// Energy never rises by more than a trace in a step, nor above what it was at first.
static void runWithoutGain(knWorld* world, int steps, double dt, double first) {
	double last = energyOf(world);
	for (int i = 0; i < steps; ++i) {
		run(world, 1, dt);
		double now = energyOf(world);
		assert_true(now <= first + 1e-12 * knAbs(first));
		assert_near(knMax(now, last), last, 1e-3 * first);
		last = now;
	}
}

// --- heights ---------------------------------------------------------------------------------------------

// The next top of the flight of a body that starts at the given height above the ground.
static double nextTop(knWorld* world, knBodyId body, double dt) {
	double last = knWorld_BodyCenter(world, body).z;
	bool rising = false;
	for (int i = 0; i * dt < 4.0; ++i) {
		run(world, 1, dt);
		double z = knWorld_BodyCenter(world, body).z;
		if (rising && z < last) {
			return last;
		}
		rising = z > last || (rising && z == last);
		last = z;
	}
	fail_msg("it does not rise");
	return 0.0;
}

// Whatever the step, and wherever in it the ground is met, a ball rises to e^2 of its height. The top of its flight lies between
// two steps, at most g dt^2/8 from the higher one.
static void test_heights(void** state) {
	(void)state;
	const double restitution[] = { 0.2, 0.5, 0.8, 1.0 },
				 steps[] = { 1.0 / 30.0, 1.0 / 60.0, 0.01, 1.0 / 240.0 };
	for (int k = 0; k < 48; ++k) {
		double e = restitution[k % 4], dt = steps[k / 4 % 4], start = 0.7 + 0.213 * (k / 16), radius = 0.2;
		double slack = G * dt * dt / 8.0;
		knScene* scene = newScene(earth);
		newGround(scene, material(0.3, 0.0));
		knBodyId ball = newBall(scene, knV3(0.0, 0.0, radius + start), radius, knZero3(), material(0.3, e));
		knWorld* world = bounceWorld(scene);
		assert_near(nextTop(world, ball, dt) - radius, e * e * start, slack + 1e-9);
		if (e * e * start > 0.1) {
			assert_near(nextTop(world, ball, dt) - radius, e * e * e * e * start, slack + 1e-9);
		}
		knWorld_Destroy(world);
	}
}

// A box that falls flat rises flat.
static void test_box_rises_flat(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	knBodyId box = newBox(scene, knV3(0.0, 0.0, 1.2), knV3(0.4, 0.3, 0.2), material(0.6, 0.6));
	knWorld* world = bounceWorld(scene);
	assert_near(nextTop(world, box, DT) - 0.2, 0.36, 3.0 * G * DT * DT);
	assert_true(knLength(knWorld_BodyAngularVelocity(world, box)) < 1e-4);
	knWorld_Destroy(world);
}

// One that lands on an edge, or on a corner, tumbles, gains nothing and comes to rest on a face.
static void test_box_lands_on_an_edge(void** state) {
	(void)state;
	const knVec3 axes[2] = { { 0.0, 1.0, 0.0 }, { 0.6, 0.8, 0.0 } };
	for (int k = 0; k < 2; ++k) {
		knScene* scene = newScene(earth);
		newGround(scene, material(0.5, 0.0));
		knBodyId box = newBox(scene, knV3(0.0, 0.0, 1.2), knV3(0.3, 0.25, 0.2), material(0.5, 0.5));
		knScene_EditBody(scene, box)->frame.q = knQuat_FromAxisAngle(axes[k], 0.5);
		knWorld* world = bounceWorld(scene);
		runWithoutGain(world, 400, DT, energyOf(world));
		double z = knWorld_BodyCenter(world, box).z;
		assert_near(z, z < 0.225 ? 0.2 : z < 0.275 ? 0.25 : 0.3, 2e-3);
		assert_true(kineticOf(world) < 1e-6);
		knWorld_Destroy(world);
	}
}

// --- rows of balls ---------------------------------------------------------------------------------------

#define ROW 7

// As many balls leave a row as strike it, with the same speed, and all others rest.
static void test_row_passes_the_blow(void** state) {
	(void)state;
	for (int strikers = 1; strikers < ROW; ++strikers) {
		knScene* scene = newScene(noGravity);
		knBodyId balls[ROW];
		for (int i = 0; i < ROW; ++i) {
			bool strikes = i < strikers;
			knVec3 at = knV3(0.2 * i - (strikes ? 0.1 : 0.0), 0.0, 0.0);
			knVec3 velocity = strikes ? knV3(3.0, 0.0, 0.0) : knZero3();
			balls[i] = newBall(scene, at, 0.1, velocity, material(0.4, 1.0));
		}
		knWorld* world = bounceWorld(scene);
		run(world, 20, DT);
		for (int i = 0; i < ROW; ++i) {
			double expected = i >= ROW - strikers ? 3.0 : 0.0;
			assert_near3(knWorld_BodyVelocity(world, balls[i]), knV3(expected, 0.0, 0.0), 1e-9);
		}
		knWorld_Destroy(world);
	}
}

// Two balls of unequal mass: the formulas of an elastic and of a half elastic collision.
static void test_two_balls(void** state) {
	(void)state;
	for (int k = 0; k < 2; ++k) {
		double e = k == 0 ? 1.0 : 0.5;
		knScene* scene = newScene(noGravity);
		knBodyId a = newBall(scene, knV3(-0.5, 0.0, 0.0), 0.2, knV3(2.0, 0.0, 0.0), material(0.0, e));
		knBodyId b = newBall(scene, knV3(0.3, 0.0, 0.0), 0.1, knV3(-1.0, 0.0, 0.0), material(0.0, e));
		knWorld* world = bounceWorld(scene);
		double mA = knModel_BodyMass(knWorld_Model(world), a).mass;
		double mB = knModel_BodyMass(knWorld_Model(world), b).mass;
		run(world, 30, DT);
		double center = (2.0 * mA - mB) / (mA + mB);
		assert_near(knWorld_BodyVelocity(world, a).x, center - e * 3.0 * mB / (mA + mB), 1e-12);
		assert_near(knWorld_BodyVelocity(world, b).x, center + e * 3.0 * mA / (mA + mB), 1e-12);
		knWorld_Destroy(world);
	}
}

// A break: energy and momentum stay, and what lies symmetrically leaves symmetrically.
static void test_break_is_symmetric(void** state) {
	(void)state;
	const double r = 0.05;
	knScene* scene = newScene(noGravity);
	knBodyId balls[4][4];
	knBodyId cue = newBall(scene, knV3(-0.4, 0.0, 0.0), r, knV3(4.0, 0.0, 0.0), material(0.0, 1.0));
	for (int i = 0; i < 4; ++i) {
		for (int j = 0; j <= i; ++j) {
			knVec3 at = knV3(i * r * sqrt(3.0), (2 * j - i) * r, 0.0);
			balls[i][j] = newBall(scene, at, r, knZero3(), material(0.0, 1.0));
		}
	}
	knWorld* world = bounceWorld(scene);
	double before = kineticOf(world), sum = 0.0;
	run(world, 40, DT);
	assert_near(kineticOf(world), before, 1e-9 * before);
	for (int i = 0; i < 4; ++i) {
		for (int j = 0; j <= i; ++j) {
			knVec3 left = knWorld_BodyVelocity(world, balls[i][j]);
			knVec3 right = knWorld_BodyVelocity(world, balls[i][i - j]);
			assert_near3(left, knV3(right.x, -right.y, right.z), 1e-9);
			sum += left.x;
		}
	}
	assert_near(sum + knWorld_BodyVelocity(world, cue).x, 4.0, 1e-10);
	assert_true(knWorld_BodyVelocity(world, balls[3][0]).x > 0.5);
	knWorld_Destroy(world);
}

// --- friction and joints ---------------------------------------------------------------------------------

// A spinning ball is dropped. While it slides, friction is mu times the impulse of the bounce; with enough of it the point
// of contact comes to rest: v' = 2/7 r w of a ball that did not move sideways.
static void test_spin_grips_at_the_impact(void** state) {
	(void)state;
	const double radius = 0.2, spin = 5.0, e = 0.5;
	for (int k = 0; k < 2; ++k) {
		double mu = k == 0 ? 0.02 : 0.5;
		knScene* scene = newScene(earth);
		newGround(scene, material(mu, 0.0));
		knBodyId ball = newBall(scene, knV3(0.0, 0.0, 1.2), radius, knZero3(), material(mu, e));
		knScene_EditBody(scene, ball)->angularVelocity = knV3(0.0, spin, 0.0);
		knWorld* world = bounceWorld(scene);
		double fall = 0.0;
		for (int i = 0; i < 100 && knWorld_BodyVelocity(world, ball).z <= 0.0; ++i) {
			fall = -knWorld_BodyVelocity(world, ball).z;
			run(world, 1, DT);
		}
		double expected = k == 0 ? mu * (1.0 + e) * fall : 2.0 / 7.0 * radius * spin;
		// the weight of the step in which it bounces rubs too
		assert_near(knWorld_BodyVelocity(world, ball).x, expected, mu * G * DT + 1e-9);
		knWorld_Destroy(world);
	}
}

// A bob on a weightless arm is struck by a ball of its mass and takes over all of its motion: the arm answers at the impact.
static void test_hinged_ball_takes_the_blow(void** state) {
	(void)state;
	const double length = 1.0, radius = 0.1, speed = 1.0;
	knScene* scene = newScene(noGravity);
	knBodyId striker =
		newBall(scene, knV3(-0.5, 0.0, 0.0), radius, knV3(speed, 0.0, 0.0), material(0.0, 1.0));
	knBodyId bob = newBall(scene, knZero3(), radius, knZero3(), material(0.0, 1.0));
	knJointDef hinge = knJointDef_Default(KN_JOINT_HINGE);
	hinge.frameParent =
		knMakeFrame(knV3(0.0, 0.0, length), knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.5 * KN_PI));
	hinge.frameChild = hinge.frameParent;
	knError error = { 0 };
	assert_ok(knJointDef_At(&hinge, scene, KN_WORLD_BODY, bob, knV3(0.0, 0.0, length), knV3(0.0, 1.0, 0.0),
							&error));
	newJoint(scene, &hinge);
	knWorld* world = bounceWorld(scene);
	double mass = knModel_BodyMass(knWorld_Model(world), bob).mass;
	double before = kineticOf(world), inertia = mass * (length * length + 0.4 * radius * radius);
	run(world, 40, DT);
	// at the arm's end the bob weighs inertia / length^2; a step goes along the chord of its circle
	double heavy = inertia / (length * length);
	double turn = knLength(knWorld_BodyAngularVelocity(world, bob));
	assert_near(knWorld_BodyVelocity(world, striker).x, speed * (mass - heavy) / (mass + heavy), 1e-6);
	assert_near(turn * length, 2.0 * speed * mass / (mass + heavy), 1e-4);
	assert_near(kineticOf(world), before, 1e-4 * before);
	knWorld_Destroy(world);
}

// --- joints ----------------------------------------------------------------------------------------------

// Two boxes, rigidly joined, of which only one touches the ground, or both: they rise together to e^2 of their height.
static void test_joined_boxes_rise_together(void** state) {
	(void)state;
	const double e = 0.7, steps[] = { 1.0 / 30.0, 1.0 / 60.0, 0.01 };
	for (int k = 0; k < 6; ++k) {
		double dt = steps[k / 2];
		knScene* scene = newScene(earth);
		newGround(scene, material(0.3, 0.0));
		knVec3 beside = knV3(0.6, 0.0, 1.2), above = knV3(0.0, 0.0, 1.6), half = knV3(0.3, 0.2, 0.2);
		knBodyId a = newBox(scene, knV3(0.0, 0.0, 1.2), half, material(0.3, e));
		knBodyId b = newBox(scene, k % 2 == 0 ? beside : above, half, material(0.3, e));
		knJointDef weld = jointAt(scene, KN_JOINT_FIXED, a, b, knV3(0.1, 0.0, 1.3), knV3(0.0, 0.0, 1.0));
		newJoint(scene, &weld);
		knWorld* world = bounceWorld(scene);
		assert_near(nextTop(world, a, dt) - 0.2, e * e, G * dt * dt / 4.0 + 1e-4);
		knWorld_Destroy(world);
	}
}

#define CRADLE 5
#define CRADLE_LENGTH 1.0
#define CRADLE_RADIUS 0.1

static knBodyId newCradleBall(knScene* scene, int index, double angle) {
	knVec3 pivot = knV3(2.0 * CRADLE_RADIUS * index, 0.0, CRADLE_LENGTH), axis = knV3(0.0, 1.0, 0.0);
	knVec3 arm = knRotate(knQuat_FromAxisAngle(axis, angle), knV3(0.0, 0.0, -CRADLE_LENGTH));
	knBodyId ball = newBall(scene, knAdd(pivot, arm), CRADLE_RADIUS, knZero3(), material(0.0, 1.0));
	knJointDef hinge = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, ball, pivot, axis);
	newJoint(scene, &hinge);
	return ball;
}

// Newton's cradle: as many balls swing out as were lifted, all others hang still, and it goes on like that.
static void test_cradle(void** state) {
	(void)state;
	const double angle = KN_PI / 6.0, period = 2.0 * KN_PI * sqrt(1.004 * CRADLE_LENGTH / G) * 1.0174;
	for (int lifted = 1; lifted <= 3; ++lifted) {
		knScene* scene = newScene(earth);
		knBodyId balls[CRADLE];
		for (int i = 0; i < CRADLE; ++i) {
			balls[i] = newCradleBall(scene, i, i < lifted ? angle : 0.0);
		}
		knWorld* world = bounceWorld(scene);
		double first = energyOf(world), mass = knModel_BodyMass(knWorld_Model(world), balls[0]).mass;
		double swing = lifted * mass * G * CRADLE_LENGTH * (1.0 - knCos(angle));
		run(world, (int)(0.5 * period / DT + 0.5), DT);
		for (int i = 0; i < CRADLE; ++i) {
			double out = knWorld_BodyCenter(world, balls[i]).x - 2.0 * CRADLE_RADIUS * i;
			assert_near(out, i >= CRADLE - lifted ? CRADLE_LENGTH * knSin(angle) : 0.0, 0.02);
		}
		run(world, (int)(9.0 / DT), DT);
		assert_near(energyOf(world), first, 0.03 * swing);
		knWorld_Destroy(world);
	}
}

// A rod on a hinge swings against a wall: its tip leaves with e times its approach, so the rod's spin is e times what it was.
static void test_rod_strikes_a_wall(void** state) {
	(void)state;
	const double e = 0.8;
	knError error = { 0 };
	knScene* scene = newScene(earth);
	knBodyDef wall = knBodyDef_Default();
	wall.kind = KN_BODY_FIXED;
	wall.frame.p = knV3(-0.55, 0.0, 1.0);
	knShapeDef surface = material(0.0, e);
	if (KN_ID_IS_NULL(knScene_AddBox(scene, newBody(scene, &wall), knV3(0.5, 1.0, 1.0), &surface, &error))) {
		failWith(&error);
	}
	knBodyId rod = newBox(scene, knV3(0.5, 0.0, 2.0), knV3(0.5, 0.05, 0.05), surface);
	knJointDef hinge =
		jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, rod, knV3(0.0, 0.0, 2.0), knV3(0.0, 1.0, 0.0));
	newJoint(scene, &hinge);
	knWorld* world = bounceWorld(scene);
	double first = energyOf(world);
	int hits = 0;
	for (int i = 0; i < 400; ++i) {
		double before = knWorld_BodyAngularVelocity(world, rod).y;
		runWithoutGain(world, 1, DT, first);
		double after = knWorld_BodyAngularVelocity(world, rod).y;
		if (before > 1.0 && after < 0.0) {
			assert_near(-after / before, e, 2e-3);
			hits += 1;
		}
	}
	assert_true(hits >= 2);
	knWorld_Destroy(world);
}

// All of them, for a table of tests.
#define BOUNCE_FACTS                                                                                         \
	cmocka_unit_test(test_heights), cmocka_unit_test(test_box_rises_flat),                                   \
		cmocka_unit_test(test_box_lands_on_an_edge), cmocka_unit_test(test_row_passes_the_blow),             \
		cmocka_unit_test(test_two_balls), cmocka_unit_test(test_break_is_symmetric),                         \
		cmocka_unit_test(test_spin_grips_at_the_impact), cmocka_unit_test(test_hinged_ball_takes_the_blow),  \
		cmocka_unit_test(test_joined_boxes_rise_together), cmocka_unit_test(test_cradle),                    \
		cmocka_unit_test(test_rod_strikes_a_wall)
