// Joints under the velocity stepper: momentum of every kind, pendulum, motors, servo, limits, springs,
// friction, a user's joint.
#include "world/fixture.h"
#include "support/sphere_joint.h"

#define DT 0.005
#define G 9.81

// --- every kind ------------------------------------------------------------------------------------------

// Two bricks joined by each kind tumble freely: the joint's impulses are internal, so both momenta stay, and
// the joint holds.
static void test_momentum_of_all_kinds(void** state) {
	(void)state;
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		knScene* scene = newScene(noGravity);
		knBodyId bodies[2];
		for (int i = 0; i < 2; ++i) {
			bodies[i] = newMass(scene, knMakeFrame(knV3(1.2 * i, 0.1 * i, 0.0), knIdentityQ()), 2.0 + i,
								knV3(0.5, 0.8, 1.0));
			knBodyDef* def = knScene_EditBody(scene, bodies[i]);
			def->velocity = knV3(0.3, 0.5 * i, -0.2);
			def->angularVelocity = knV3(0.7, -0.4 + i, 1.1);
		}
		knJointDef def =
			jointAt(scene, (knJointKind)kind, bodies[0], bodies[1], knV3(0.6, 0.0, 0.1), knV3(0.0, 0.0, 1.0));
		if (kind == KN_JOINT_CUSTOM) {
			def.custom = testSphereJoint;
			def.frameParent.p = knZero3();
			def.frameChild.p = knSub(knV3(1.0, 0.0, 0.0), knV3(1.2, 0.1, 0.0));
		}
		knJointId joint = newJoint(scene, &def);
		knWorld* world = newWorld(scene);
		knMeasures start = knWorld_Measure(world);
		run(world, 400, DT);
		knMeasures end = knWorld_Measure(world);
		assert_near3(end.momentum, start.momentum, 1e-12);
		// joints are closed to 1e-10 m
		assert_near3(end.angularMomentum, start.angularMomentum, 1e-10);
		knJointError error = knWorld_MeasureJoint(world, joint);
		assert_true(error.distance < 2e-3 && error.angle < 2e-3);
		knWorld_Destroy(world);
	}
}

// --- pendulum --------------------------------------------------------------------------------------------

// A rod on a hinge, released at a small angle: period 2 pi sqrt(I/(m g d)).
static double pendulumPeriod(double dt) {
	knScene* scene = newScene(earth);
	double d = 0.5, mass = 2.0, inertia = 0.2, amplitude = 0.05;
	knVec3 center = knV3(d * knSin(amplitude), 0.0, -d * knCos(amplitude));
	knQuat turned = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), -amplitude);
	knBodyId rod = newMass(scene, knMakeFrame(center, turned), mass, knV3(inertia, inertia, 0.01));
	knJointDef def = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, rod, knZero3(), knV3(0.0, 1.0, 0.0));
	newJoint(scene, &def);
	knWorld* world = newWorld(scene);
	// time between the first and the eleventh crossing of the vertical in the same direction
	double last = knWorld_BodyCenter(world, rod).x, first = -1.0, period = 0.0;
	for (int crossings = 0; crossings < 11;) {
		run(world, 1, dt);
		double x = knWorld_BodyCenter(world, rod).x;
		if (last > 0.0 && x <= 0.0) {
			double when = knWorld_Time(world) - dt * x / (x - last);
			first = crossings == 0 ? when : first;
			period = (when - first) / 10.0;
			crossings += 1;
		}
		last = x;
	}
	knWorld_Destroy(world);
	return period;
}

static void test_pendulum_period(void** state) {
	(void)state;
	double exact = 2.0 * KN_PI * sqrt((0.2 + 2.0 * 0.25) / (2.0 * G * 0.5));
	double amplitude = 1.0 + 0.05 * 0.05 / 16.0; // first term of the period's series in the amplitude
	assert_near(pendulumPeriod(0.01), exact * amplitude, 4e-3 * exact);
	assert_near(pendulumPeriod(0.002), exact * amplitude, 4e-4 * exact);
}

// A hanging chain: each joint's reaction is the weight below it.
static void test_reactions_of_hanging_chain(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyId parent = KN_WORLD_BODY;
	knJointId joints[5];
	for (int i = 0; i < 5; ++i) {
		knBodyId link = newMass(scene, knMakeFrame(knV3(0.0, 0.0, -0.25 - 0.5 * i), knIdentityQ()), 1.0 + i,
								knV3(0.02, 0.02, 0.01));
		knJointDef def =
			jointAt(scene, KN_JOINT_BALL, parent, link, knV3(0.0, 0.0, -0.5 * i), knV3(0.0, 0.0, 1.0));
		joints[i] = newJoint(scene, &def);
		parent = link;
	}
	knWorld* world = newWorld(scene);
	run(world, 600, DT);
	double below = 0.0;
	for (int i = 4; i >= 0; --i) {
		below += 1.0 + i;
		assert_near3(knWorld_JointReaction(world, joints[i]).lin, knV3(0.0, 0.0, below * G),
					 1e-3 * below * G);
		assert_true(knWorld_MeasureJoint(world, joints[i]).distance < 1e-5);
	}
	knWorld_Destroy(world);
}

// Twenty links of 1 kg swing a weight of 1000 kg from the horizontal: nothing but the stepper's own choice of a solver is
// asked, and the joints stay closed.
static void test_light_chain_swings_a_weight(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyId parent = KN_WORLD_BODY;
	knJointId joints[20];
	for (int i = 0; i < 20; ++i) {
		double mass = i == 19 ? 1000.0 : 1.0;
		knBodyId link = newMass(scene, knMakeFrame(knV3(0.1 + 0.2 * i, 0.0, 0.0), knIdentityQ()), mass,
								knScale(mass, knV3(0.001, 0.004, 0.004)));
		knJointDef def =
			jointAt(scene, KN_JOINT_BALL, parent, link, knV3(0.2 * i, 0.0, 0.0), knV3(0.0, 0.0, 1.0));
		joints[i] = newJoint(scene, &def);
		parent = link;
	}
	knWorld* world = newWorld(scene);
	for (int k = 0; k < 150; ++k) {
		run(world, 1, DT);
		for (int i = 0; i < 20; ++i) {
			assert_true(knWorld_MeasureJoint(world, joints[i]).distance < 1e-5);
		}
	}
	assert_true(knWorld_BodyCenter(world, parent).z < -2.0);
	knWorld_Destroy(world);
}

// --- motors, servo, limits -------------------------------------------------------------------------------

typedef struct Wheel {
	knWorld* world;
	knJointId joint;
	double inertia;
} Wheel;

// A wheel on a vertical hinge, without gravity.
static Wheel newWheel(knJointAxis axis) {
	knScene* scene = newScene(noGravity);
	Wheel wheel = { .inertia = 0.5 };
	knBodyId body = newMass(scene, knIdentityF(), 2.0, knV3(0.3, 0.3, wheel.inertia));
	knJointDef def = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, body, knZero3(), knV3(0.0, 0.0, 1.0));
	def.axis[0] = axis;
	wheel.joint = newJoint(scene, &def);
	wheel.world = newWorld(scene);
	return wheel;
}

static double angleOf(const Wheel* wheel) {
	double q[7];
	assert_int_equal(knWorld_JointCoordinates(wheel->world, wheel->joint, q), 1);
	return q[0];
}

static double speedOf(const Wheel* wheel) {
	double v[6];
	assert_int_equal(knWorld_JointVelocities(wheel->world, wheel->joint, v), 1);
	return v[0];
}

// Constant torque until the speed is reached, then held; turns are counted.
static void test_motor_reaches_speed(void** state) {
	(void)state;
	Wheel wheel =
		newWheel((knJointAxis){ .motorMode = KN_MOTOR_VELOCITY, .motorTarget = 10.0, .motorMaxForce = 2.0 });
	run(wheel.world, 100, DT);
	assert_near(speedOf(&wheel), 2.0 / wheel.inertia * 100 * DT, 1e-9);
	assert_near(knWorld_JointReaction(wheel.world, wheel.joint).ang.z, 2.0, 1e-9);
	run(wheel.world, 900, DT);
	assert_near(speedOf(&wheel), 10.0, 1e-9);
	assert_near(angleOf(&wheel), 0.5 * 10.0 * 2.5 + 10.0 * 2.5, 10.0 * DT);
	assert_true(angleOf(&wheel) > 2.0 * KN_PI);
	knWorld_Destroy(wheel.world);
}

// A servo turns to its target without overshoot and holds it against a torque below its own.
static void test_servo_holds(void** state) {
	(void)state;
	Wheel wheel =
		newWheel((knJointAxis){ .motorMode = KN_MOTOR_POSITION, .motorTarget = 1.2, .motorMaxForce = 20.0 });
	double highest = 0.0;
	for (int i = 0; i < 400; ++i) {
		run(wheel.world, 1, DT);
		highest = knMax(highest, angleOf(&wheel));
	}
	assert_near(angleOf(&wheel), 1.2, 1e-6);
	assert_true(highest < 1.2 + 1e-3);
	knBodyId body = knModel_BodyAt(knWorld_Model(wheel.world), 0);
	for (int i = 0; i < 200; ++i) {
		assert_ok(knWorld_AddTorque(wheel.world, body, knV3(0.0, 0.0, 15.0)));
		run(wheel.world, 1, DT);
	}
	assert_near(angleOf(&wheel), 1.2, 1e-3);
	assert_ok(knWorld_SetMotor(wheel.world, wheel.joint, 0, KN_MOTOR_POSITION, -0.5, 20.0));
	run(wheel.world, 400, DT);
	assert_near(angleOf(&wheel), -0.5, 1e-6);
	knWorld_Destroy(wheel.world);
}

static void test_limit_holds(void** state) {
	(void)state;
	Wheel wheel = newWheel((knJointAxis){
		.limited = true, .lower = -0.3, .upper = 0.7, .motorMode = KN_MOTOR_FORCE, .motorTarget = 1.0 });
	double highest = 0.0;
	for (int i = 0; i < 800; ++i) {
		run(wheel.world, 1, DT);
		highest = knMax(highest, angleOf(&wheel));
	}
	assert_near(angleOf(&wheel), 0.7, 1e-6);
	assert_true(highest < 0.7 + 1e-6);
	assert_ok(knWorld_SetMotor(wheel.world, wheel.joint, 0, KN_MOTOR_FORCE, -1.0, 0.0));
	run(wheel.world, 800, DT);
	assert_near(angleOf(&wheel), -0.3, 1e-6);
	knWorld_Destroy(wheel.world);
}

// An elliptic cone keeps a ball joint's x axis within its swing.
static void test_cone_limit(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyId rod = newMass(scene, knMakeFrame(knV3(0.5, 0.0, 0.0), knIdentityQ()), 1.0, knV3(0.01, 0.1, 0.1));
	knJointDef def = jointAt(scene, KN_JOINT_BALL, KN_WORLD_BODY, rod, knZero3(), knV3(1.0, 0.0, 0.0));
	def.coneLimited = true;
	def.coneY = def.coneZ = 0.4;
	newJoint(scene, &def);
	knWorld* world = newWorld(scene);
	run(world, 600, DT);
	knVec3 along = knRotate(knWorld_BodyFrame(world, rod).q, knV3(1.0, 0.0, 0.0));
	assert_near(knAcos(along.x), 0.4, 2e-3);
	assert_true(along.z < -0.38);
	assert_true(knLength(knWorld_BodyAngularVelocity(world, rod)) < 1e-3);
	knWorld_Destroy(world);
}

// --- springs and friction --------------------------------------------------------------------------------

// An undamped spring swings at sqrt(k/I) and keeps its energy.
static void test_spring_frequency(void** state) {
	(void)state;
	double k = 20.0, omega = sqrt(k / 0.5), dt = 0.0005;
	Wheel wheel = newWheel((knJointAxis){ .stiffness = k, .rest = 0.3 });
	double start = knWorld_Measure(wheel.world).potential;
	assert_near(start, 0.5 * k * 0.09, 1e-12);
	// a quarter period to the middle, half a period to the other side
	int quarter = (int)(0.5 * KN_PI / omega / dt + 0.5);
	run(wheel.world, quarter, dt);
	assert_near(angleOf(&wheel), 0.3, 2e-3);
	assert_near(speedOf(&wheel), 0.3 * omega, 0.01 * 0.3 * omega);
	run(wheel.world, quarter, dt);
	assert_near(angleOf(&wheel), 0.6, 4e-3);
	run(wheel.world, 2 * quarter, dt);
	assert_near(angleOf(&wheel), 0.0, 8e-3);
	knMeasures end = knWorld_Measure(wheel.world);
	assert_near(end.kinetic + end.potential, start, 1e-9 * start);
	knWorld_Destroy(wheel.world);
}

// A stiff spring at a large step is stable and comes to rest where it should.
static void test_stiff_spring_is_stable(void** state) {
	(void)state;
	Wheel wheel = newWheel((knJointAxis){ .stiffness = 1e7, .damping = 10.0, .rest = 0.3 });
	run(wheel.world, 200, 0.02);
	assert_near(angleOf(&wheel), 0.3, 1e-6);
	knWorld_Destroy(wheel.world);
}

// Dry friction stops a wheel after I w / f seconds, viscous damping slows it as exp(-c t / I).
static void test_friction_and_damping(void** state) {
	(void)state;
	Wheel dry = newWheel((knJointAxis){ .friction = 0.5 });
	knBodyId body = knModel_BodyAt(knWorld_Model(dry.world), 0);
	assert_ok(knWorld_SetBodyVelocity(dry.world, body, knZero3(), knV3(0.0, 0.0, 1.0)));
	assert_near(speedOf(&dry), 1.0, 1e-12);
	run(dry.world, 100, DT);
	assert_near(speedOf(&dry), 0.5, 1e-6);
	run(dry.world, 110, DT);
	assert_near(speedOf(&dry), 0.0, 1e-12);
	assert_near(angleOf(&dry), 0.5, DT);
	knWorld_Destroy(dry.world);

	Wheel viscous = newWheel((knJointAxis){ .damping = 0.5 });
	assert_ok(knWorld_SetBodyVelocity(viscous.world, body, knZero3(), knV3(0.0, 0.0, 1.0)));
	run(viscous.world, 200, DT);
	assert_near(speedOf(&viscous), exp(-1.0), 2e-3);
	knWorld_Destroy(viscous.world);
}

// --- a user's joint --------------------------------------------------------------------------------------

// A point confined to a sphere is a pendulum: energy is kept and the point stays on the sphere.
static void test_custom_point_on_sphere(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyId bead =
		newMass(scene, knMakeFrame(knV3(1.0, 0.0, 0.0), knIdentityQ()), 1.0, knV3(0.01, 0.01, 0.01));
	knJointDef def = knJointDef_Default(KN_JOINT_CUSTOM);
	def.child = bead;
	def.custom = testSphereJoint;
	knJointId joint = newJoint(scene, &def);
	knWorld* world = newWorld(scene);
	double fastest = 0.0, worst = 0.0;
	for (int i = 0; i < 2000; ++i) {
		run(world, 1, 0.001);
		fastest = knMax(fastest, knLength(knWorld_BodyVelocity(world, bead)));
		worst = knMax(worst, knAbs(knLength(knWorld_BodyCenter(world, bead)) - 1.0));
	}
	assert_near(fastest, sqrt(2.0 * G), 0.01 * sqrt(2.0 * G));
	assert_true(worst < 1e-4);
	assert_true(knWorld_MeasureJoint(world, joint).distance < 1e-4);
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_momentum_of_all_kinds),
		cmocka_unit_test(test_pendulum_period),
		cmocka_unit_test(test_reactions_of_hanging_chain),
		cmocka_unit_test(test_light_chain_swings_a_weight),
		cmocka_unit_test(test_motor_reaches_speed),
		cmocka_unit_test(test_servo_holds),
		cmocka_unit_test(test_limit_holds),
		cmocka_unit_test(test_cone_limit),
		cmocka_unit_test(test_spring_frequency),
		cmocka_unit_test(test_stiff_spring_is_stable),
		cmocka_unit_test(test_friction_and_damping),
		cmocka_unit_test(test_custom_point_on_sphere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
