// Mechanisms under the impulse stepper against equations of motion that know nothing of it: a double pendulum in two angles,
// a four-bar linkage by its loop equation, a hinge in free flight.
#include "world/fixture.h"

#define G 9.81

static knWorld* impulseWorld(knScene* scene) {
	knSettings settings = knSettings_Default();
	settings.sweeps = 9;
	knWorldDef def = knWorldDef_Default();
	def.stepper = "impulse";
	def.settings = &settings;
	return newWorldWith(scene, &def);
}

// A rod of 1 kg a metre between two points of the plane y = 0.
static knBodyId addRod(knScene* scene, knVec3 from, knVec3 to) {
	const double length = knDistance(from, to), across = length * length * length / 12.0;
	const knVec3 along = knScale(1.0 / length, knSub(to, from));
	knQuat turned = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), -knAtan2(along.z, along.x));
	return newMass(scene, knMakeFrame(knLerp(from, to, 0.5), turned), length, knV3(0.001, across, across));
}

static void pin(knScene* scene, knBodyId parent, knBodyId child, knVec3 at) {
	knJointDef def = jointAt(scene, KN_JOINT_HINGE, parent, child, at, knV3(0.0, 1.0, 0.0));
	newJoint(scene, &def);
}

// --- double pendulum -------------------------------------------------------------------------------------------

// Angles of two rods of 1 m from the vertical, and their rates; Lagrange's equations.
typedef struct Angles {
	double a, b, da, db;
} Angles;

static Angles ratesOf(Angles x) {
	const double m11 = 1.0 / 3.0 + 1.0, m22 = 1.0 / 3.0, m12 = 0.5 * knCos(x.a - x.b),
				 s = 0.5 * knSin(x.a - x.b);
	const double f1 = -s * x.db * x.db - 1.5 * G * knSin(x.a), f2 = s * x.da * x.da - 0.5 * G * knSin(x.b);
	const double det = m11 * m22 - m12 * m12;
	return (Angles){ x.da, x.db, (m22 * f1 - m12 * f2) / det, (m11 * f2 - m12 * f1) / det };
}

static Angles ahead(Angles x, double h, Angles rate) {
	return (Angles){ x.a + h * rate.a, x.b + h * rate.b, x.da + h * rate.da, x.db + h * rate.db };
}

static Angles integrate(Angles x, double time, int steps) {
	const double h = time / steps;
	for (int i = 0; i < steps; ++i) {
		Angles k1 = ratesOf(x), k2 = ratesOf(ahead(x, 0.5 * h, k1)), k3 = ratesOf(ahead(x, 0.5 * h, k2));
		Angles k4 = ratesOf(ahead(x, h, k3));
		x = ahead(ahead(ahead(ahead(x, h / 6.0, k1), h / 3.0, k2), h / 3.0, k3), h / 6.0, k4);
	}
	return x;
}

// Over one second the end follows the exact motion, closer with the step at second order.
static void test_double_pendulum(void** state) {
	(void)state;
	const Angles end = integrate((Angles){ 0.5 * KN_PI, 0.5 * KN_PI, 0.0, 0.0 }, 1.0, 4000);
	const knVec3 exact = knV3(knSin(end.a) + 0.5 * knSin(end.b), 0.0, -knCos(end.a) - 0.5 * knCos(end.b));
	double error[3];
	for (int k = 0; k < 3; ++k) {
		knScene* scene = newScene(earth);
		knBodyId first = addRod(scene, knZero3(), knV3(1.0, 0.0, 0.0));
		knBodyId second = addRod(scene, knV3(1.0, 0.0, 0.0), knV3(2.0, 0.0, 0.0));
		pin(scene, KN_WORLD_BODY, first, knZero3());
		pin(scene, first, second, knV3(1.0, 0.0, 0.0));
		knWorld* world = impulseWorld(scene);
		const int steps = 100 << k;
		run(world, steps, 1.0 / steps);
		error[k] = knDistance(knWorld_BodyCenter(world, second), exact);
		knWorld_Destroy(world);
	}
	assert_true(error[0] < 0.01);
	for (int k = 1; k < 3; ++k) {
		assert_true(error[k] < 0.35 * error[k - 1] && error[k] > 0.15 * error[k - 1]);
	}
}

// --- four-bar --------------------------------------------------------------------------------------------------

#define CRANK 1.0
#define COUPLER 3.0
#define ROCKER 2.5
#define BASE 3.0

// The loop equation: where the coupler ends for a crank at `angle`, on the side on which it was put together.
static knVec3 couplerEnd(double angle) {
	const knVec3 b = knV3(CRANK * knCos(angle), 0.0, CRANK * knSin(angle)), d = knV3(BASE, 0.0, 0.0);
	const double across = knDistance(b, d);
	const double along = (COUPLER * COUPLER - ROCKER * ROCKER + across * across) / (2.0 * across);
	const knVec3 to = knScale(1.0 / across, knSub(d, b)), up = knCross(to, knV3(0.0, 1.0, 0.0));
	return knMulAdd(knMulAdd(b, along, to), sqrt(COUPLER * COUPLER - along * along), up);
}

typedef struct Linkage {
	knVec3 crank, coupler, rocker; // centres
	double couplerAngle, rockerAngle;
} Linkage;

static Linkage linkageAt(double angle) {
	const knVec3 b = knV3(CRANK * knCos(angle), 0.0, CRANK * knSin(angle)), c = couplerEnd(angle),
				 d = knV3(BASE, 0.0, 0.0);
	return (Linkage){ knScale(0.5, b), knLerp(b, c, 0.5), knLerp(c, d, 0.5), knAtan2(c.z - b.z, c.x - b.x),
					  knAtan2(c.z, c.x - BASE) };
}

static double potentialOf(Linkage l) {
	return G * (CRANK * l.crank.z + COUPLER * l.coupler.z + ROCKER * l.rocker.z);
}

// Kinetic energy at a crank speed of one, by differences of the loop equation.
static double inertiaAt(double angle) {
	const double e = 1e-6;
	const Linkage p = linkageAt(angle + e), m = linkageAt(angle - e);
	const double s = 0.5 / e;
	double sum = 0.5 * CRANK * CRANK * CRANK / 3.0;
	sum += 0.5 * COUPLER * s * s * knLengthSquared(knSub(p.coupler, m.coupler));
	sum += 0.5 * ROCKER * s * s * knLengthSquared(knSub(p.rocker, m.rocker));
	const double couplerTurn = s * (p.couplerAngle - m.couplerAngle),
				 rockerTurn = s * (p.rockerAngle - m.rockerAngle);
	sum += 0.5 * COUPLER * COUPLER * COUPLER / 12.0 * couplerTurn * couplerTurn;
	return sum + 0.5 * ROCKER * ROCKER * ROCKER / 12.0 * rockerTurn * rockerTurn;
}

// The linkage passes through the poses of its loop equation, with the speed that is left of its energy.
static void test_four_bar(void** state) {
	(void)state;
	const double dt = 0.002, start = 0.5 * KN_PI;
	knScene* scene = newScene(earth);
	const knVec3 a = knZero3(), b = knV3(0.0, 0.0, CRANK), c = couplerEnd(start), d = knV3(BASE, 0.0, 0.0);
	knBodyId crank = addRod(scene, a, b), coupler = addRod(scene, b, c), rocker = addRod(scene, c, d);
	pin(scene, KN_WORLD_BODY, crank, a);
	pin(scene, crank, coupler, b);
	pin(scene, coupler, rocker, c);
	pin(scene, rocker, KN_WORLD_BODY, d);
	knWorld* world = impulseWorld(scene);
	const double energy = potentialOf(linkageAt(start));
	double farthest = 0.0;
	for (int i = 0; i < 700; ++i) {
		run(world, 1, dt);
		const knVec3 center = knWorld_BodyCenter(world, crank);
		const double angle = knAtan2(center.z, center.x), speed = knWorld_BodyAngularVelocity(world, crank).y;
		const Linkage l = linkageAt(angle);
		assert_near3(knWorld_BodyCenter(world, coupler), l.coupler, 1e-8);
		assert_near3(knWorld_BodyCenter(world, rocker), l.rocker, 1e-8);
		const double kinetic = energy - potentialOf(l), measured = inertiaAt(angle) * speed * speed;
		assert_near(measured, kinetic, 0.02 * 60.0); // of the 60 J of a whole turn
		farthest = knMax(farthest, knAbs(angle - start));
	}
	assert_true(farthest > 2.0);
	knWorld_Destroy(world);
}

// --- a hinge in free flight ------------------------------------------------------------------------------------

// Two bodies on a hinge tumble: the axes stay together, and what turns about the axis of a symmetric child does so evenly.
static void test_hinge_in_free_flight(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	knBodyId hull = newMass(scene, knIdentityF(), 4.0, knV3(0.4, 0.6, 0.8));
	knBodyId wheel =
		newMass(scene, knMakeFrame(knV3(0.0, 0.5, 0.0), knIdentityQ()), 1.0, knV3(0.02, 0.04, 0.02));
	knScene_EditBody(scene, hull)->angularVelocity = knV3(0.8, 0.0, 0.5);
	knBodyDef* def = knScene_EditBody(scene, wheel);
	def->angularVelocity = knV3(0.8, 12.0, 0.5);
	def->velocity = knCross(knV3(0.8, 0.0, 0.5), knV3(0.0, 0.5, 0.0));
	knJointDef hinge = jointAt(scene, KN_JOINT_HINGE, hull, wheel, knV3(0.0, 0.5, 0.0), knV3(0.0, 1.0, 0.0));
	newJoint(scene, &hinge);
	knWorld* world = impulseWorld(scene);
	const knMeasures start = knWorld_Measure(world);
	for (int i = 0; i < 300; ++i) {
		run(world, 1, 1.0 / 60.0);
		const knVec3 axisHull = knRotate(knWorld_BodyFrame(world, hull).q, knV3(0.0, 1.0, 0.0));
		const knVec3 axisWheel = knRotate(knWorld_BodyFrame(world, wheel).q, knV3(0.0, 1.0, 0.0));
		assert_true(knLength(knCross(axisHull, axisWheel)) < 1e-6);
		// no couple acts about the axis: the spin of the wheel about it is its own
		assert_near(knDot(axisWheel, knWorld_BodyAngularVelocity(world, wheel)), 12.0, 0.02 * 12.0);
	}
	const knMeasures end = knWorld_Measure(world);
	assert_near3(end.momentum, start.momentum, 1e-12);
	assert_near3(end.angularMomentum, start.angularMomentum, 1e-12);
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_double_pendulum),
		cmocka_unit_test(test_four_bar),
		cmocka_unit_test(test_hinge_in_free_flight),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
