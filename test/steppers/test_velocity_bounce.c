// Bounces of the velocity stepper: heights, rows of balls, equal hits, friction at the impact, joints.
#include "world/fixture.h"

#define DT 0.01
#define G 9.81

static double kineticOf(const knWorld* world) {
	return knWorld_Measure((knWorld*)world).kinetic;
}

// --- heights ---------------------------------------------------------------------------------------------

// The next top of the flight of a body that starts at the given height above the ground.
static double nextTop(knWorld* world, knBodyId body) {
	double last = knWorld_BodyCenter(world, body).z;
	bool rising = false;
	for (int i = 0; i < 400; ++i) {
		run(world, 1, DT);
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

// Whatever the step, and wherever in it the ground is met, a ball rises to e^2 of its height.
static void test_heights(void** state) {
	(void)state;
	const double restitution[] = { 0.5, 0.7, 0.9, 1.0 };
	for (int k = 0; k < 12; ++k) {
		double e = restitution[k % 4], start = 1.0 + 0.013 * k, radius = 0.2;
		knScene* scene = newScene(earth);
		newGround(scene, material(0.3, 0.0));
		knBodyId ball = newBall(scene, knV3(0.0, 0.0, radius + start), radius, knZero3(), material(0.3, e));
		knWorld* world = newWorld(scene);
		double first = nextTop(world, ball) - radius, second = nextTop(world, ball) - radius;
		// a top lies between two steps
		assert_near(first, e * e * start, 3.0 * G * DT * DT);
		assert_near(second, e * e * e * e * start, 3.0 * G * DT * DT);
		knWorld_Destroy(world);
	}
}

// A box that falls flat rises flat.
static void test_box_rises_flat(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	newGround(scene, material(0.6, 0.0));
	knBodyId box = newBox(scene, knV3(0.0, 0.0, 1.2), knV3(0.4, 0.3, 0.2), material(0.6, 0.6));
	knWorld* world = newWorld(scene);
	assert_near(nextTop(world, box) - 0.2, 0.36, 3.0 * G * DT * DT);
	assert_true(knLength(knWorld_BodyAngularVelocity(world, box)) < 1e-4);
	knWorld_Destroy(world);
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
		knWorld* world = newWorld(scene);
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
		knWorld* world = newWorld(scene);
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
	knWorld* world = newWorld(scene);
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
		knWorld* world = newWorld(scene);
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
	knWorld* world = newWorld(scene);
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

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heights),
		cmocka_unit_test(test_box_rises_flat),
		cmocka_unit_test(test_row_passes_the_blow),
		cmocka_unit_test(test_two_balls),
		cmocka_unit_test(test_break_is_symmetric),
		cmocka_unit_test(test_spin_grips_at_the_impact),
		cmocka_unit_test(test_hinged_ball_takes_the_blow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
