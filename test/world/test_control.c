// Actuators, tendons, couplings, armature and probes: facts of motion under all steppers that take joints.
#include "support/kn_test.h"
#include "knuckle/knuckle.h"

static const char* const steppers[] = { "velocity", "impulse", "reduced", "adaptive" };
enum { STEPPERS = 4 };

// A rod on a hinge about y at the world's origin, its centre at (0, 0, -arm): inertia about the hinge is known.
typedef struct Arm {
	knScene* scene;
	knBodyId body;
	knJointId joint;
	double inertia; // about the hinge
	double mass, arm;
} Arm;

static Arm makeArm(double gravity) {
	Arm a = { .mass = 2.0, .arm = 0.5 };
	knSceneDef def = knSceneDef_Default();
	def.gravity = knV3(0.0, 0.0, -gravity);
	a.scene = knScene_Create(&def, NULL, NULL);
	knBodyDef body = knBodyDef_Default();
	body.frame.p = knV3(0.0, 0.0, -a.arm);
	body.hasMass = true;
	body.mass = (knMassProps){ a.mass, knZero3(), knDiagonal33(0.1, 0.1, 0.02) };
	a.inertia = 0.1 + a.mass * a.arm * a.arm;
	a.body = knScene_AddBody(a.scene, &body, NULL);
	knJointDef joint = knJointDef_Default(KN_JOINT_HINGE);
	assert_int_equal(
		knJointDef_At(&joint, a.scene, (knBodyId){ 0 }, a.body, knZero3(), knV3(0.0, 1.0, 0.0), NULL), KN_OK);
	joint.name = "hinge";
	a.joint = knScene_AddJoint(a.scene, &joint, NULL);
	return a;
}

static knWorld* makeWorld(const knScene* scene, const char* stepper) {
	knError error = { 0 };
	knModel* model = knModel_Create(scene, &error);
	assert_non_null(model);
	knWorldDef def = knWorldDef_Default();
	def.stepper = stepper;
	knWorld* world = knWorld_Create(model, &def, &error);
	assert_non_null(world);
	knModel_Release(model);
	return world;
}

static void run(knWorld* world, double h, int steps) {
	for (int i = 0; i < steps; ++i) {
		knError error = { 0 };
		assert_int_equal(knWorld_Step(world, h, &error), KN_OK);
	}
}

static double angle(const knWorld* world, knJointId joint, double* rate) {
	double q[7], v[6];
	knWorld_JointCoordinates(world, joint, q);
	knWorld_JointVelocities(world, joint, v);
	*rate = v[0];
	return q[0];
}

// A torque T turns a body of inertia I with armature A by T/(I + A): v = T t/(I + A).
static void armatureAddsInertia(void** state) {
	(void)state;
	for (int s = 0; s < STEPPERS; ++s) {
		Arm arm = makeArm(0.0);
		knScene_EditJoint(arm.scene, arm.joint)->axis[0].armature = 1.4;
		knActuatorDef motor = knActuatorDef_Default();
		motor.joint = arm.joint;
		motor.gear[0] = 3.0;
		motor.control = 0.5;
		assert_int_equal(knScene_AddActuator(arm.scene, &motor, NULL), 0);
		knWorld* world = makeWorld(arm.scene, steppers[s]);
		run(world, 0.001, 100);
		double rate;
		angle(world, arm.joint, &rate);
		assert_near(rate, 1.5 * 0.1 / (arm.inertia + 1.4), 1e-6);
		knWorld_Destroy(world);
		knScene_Destroy(arm.scene);
	}
}

// A servo of gain kp holds a pendulum where kp (target - q) = m g l sin q; at h = 1/60 even one that an explicit step
// could not follow (kp h^2/I = 4600).
static void stiffServoHolds(void** state) {
	(void)state;
	for (int s = 0; s < STEPPERS; ++s) {
		for (int stiff = 0; stiff < 2; ++stiff) {
			Arm arm = makeArm(9.81);
			const double kp = stiff ? 1e7 : 40.0, kv = stiff ? 1e4 : 12.0, target = 0.7;
			knActuatorDef servo = knActuatorDef_Default();
			servo.joint = arm.joint;
			servo.gain[0] = kp;
			servo.bias[1] = -kp;
			servo.bias[2] = -kv;
			servo.control = target;
			assert_int_equal(knScene_AddActuator(arm.scene, &servo, NULL), 0);
			knWorld* world = makeWorld(arm.scene, steppers[s]);
			run(world, 1.0 / 60.0, 600);
			double rate, q = angle(world, arm.joint, &rate);
			assert_near(kp * (target - q), arm.mass * 9.81 * arm.arm * sin(q), stiff ? 1e-2 : 1e-4);
			assert_near(rate, 0.0, 1e-6);
			knWorld_Destroy(world);
			knScene_Destroy(arm.scene);
		}
	}
}

// With a force range below what the weight asks for, the servo gives way: the motion is that of a constant torque.
static void servoGivesWay(void** state) {
	(void)state;
	for (int s = 0; s < STEPPERS; ++s) {
		Arm arm = makeArm(0.0);
		knActuatorDef servo = knActuatorDef_Default();
		servo.joint = arm.joint;
		servo.gain[0] = 1e5;
		servo.bias[1] = -1e5;
		servo.control = 3.0;
		servo.forceLimited = true;
		servo.forceRange[0] = -2.0;
		servo.forceRange[1] = 1.5;
		assert_int_equal(knScene_AddActuator(arm.scene, &servo, NULL), 0);
		knWorld* world = makeWorld(arm.scene, steppers[s]);
		run(world, 0.001, 200);
		double rate;
		angle(world, arm.joint, &rate);
		assert_near(rate, 1.5 * 0.2 / arm.inertia, 1e-6);
		knWorld_Destroy(world);
		knScene_Destroy(arm.scene);
	}
}

// In joint coordinates armature keeps its energy: a pendulum with it swings as long as inertia I + A says, to second order.
static void armatureSwings(void** state) {
	(void)state;
	Arm arm = makeArm(9.81);
	knJointDef* joint = knScene_EditJoint(arm.scene, arm.joint);
	joint->axis[0].armature = 1.4;
	knModel* model = knModel_Create(arm.scene, NULL);
	double speed[2];
	for (int fine = 0; fine < 2; ++fine) {
		knWorldDef def = knWorldDef_Default();
		def.stepper = "reduced";
		knWorld* world = knWorld_Create(model, &def, NULL);
		assert_int_equal(knWorld_SetBodyVelocity(world, arm.body, knV3(-2.0, 0.0, 0.0), knV3(0.0, 4.0, 0.0)),
						 KN_OK);
		run(world, fine ? 0.005 : 0.01, fine ? 100 : 50);
		double q = angle(world, arm.joint, &speed[fine]);
		const double kinetic = 0.5 * (arm.inertia + 1.4) * speed[fine] * speed[fine],
					 height = arm.mass * 9.81 * arm.arm * (1.0 - cos(q));
		assert_near(kinetic + height, 0.5 * (arm.inertia + 1.4) * 16.0, fine ? 1e-3 : 4e-3);
		knWorld_Destroy(world);
	}
	assert_near(speed[0], speed[1], 2e-3);
	knModel_Release(model);
	knScene_Destroy(arm.scene);
}

// What an actuator did, as the step reports it, is the energy that a free body gained.
static void workOfActuators(void** state) {
	(void)state;
	for (int s = 0; s < STEPPERS; ++s) {
		Arm arm = makeArm(0.0);
		knActuatorDef motor = knActuatorDef_Default();
		motor.joint = arm.joint;
		motor.control = 0.8;
		assert_int_equal(knScene_AddActuator(arm.scene, &motor, NULL), 0);
		knWorld* world = makeWorld(arm.scene, steppers[s]);
		double added = 0.0, rate;
		for (int i = 0; i < 50; ++i) {
			run(world, 0.01, 1);
			added += knWorld_Report(world)->work;
		}
		angle(world, arm.joint, &rate);
		assert_near(added, 0.5 * arm.inertia * rate * rate, 1e-5);
		knWorld_Destroy(world);
		knScene_Destroy(arm.scene);
	}
}

// Integrator: u = c t; exact filter: u = c (1 - exp(-t/T)).
static void activationsFollow(void** state) {
	(void)state;
	Arm arm = makeArm(0.0);
	knActuatorDef motor = knActuatorDef_Default();
	motor.joint = arm.joint;
	motor.control = 2.0;
	motor.gain[0] = 0.0;
	motor.activation = KN_ACTIVATION_INTEGRATOR;
	motor.activationLimited = true;
	motor.activationRange[1] = 1.5;
	knScene_AddActuator(arm.scene, &motor, NULL);
	motor.activation = KN_ACTIVATION_EXACT;
	motor.activationLimited = false;
	motor.timeConstant = 0.3;
	knScene_AddActuator(arm.scene, &motor, NULL);
	knWorld* world = makeWorld(arm.scene, "velocity");
	run(world, 0.01, 50);
	assert_near(knWorld_Activation(world, 0), 1.0, 1e-12);
	assert_near(knWorld_Activation(world, 1), 2.0 * (1.0 - exp(-0.5 / 0.3)), 1e-12);
	run(world, 0.01, 50);
	assert_near(knWorld_Activation(world, 0), 1.5, 1e-12);
	knWorld_Destroy(world);
	knScene_Destroy(arm.scene);
}

// Two arms side by side, coupled by q1 = 0.5 q2: pushed at the first, both move together.
static void couplingHolds(void** state) {
	(void)state;
	for (int s = 0; s < STEPPERS; ++s) {
		Arm arm = makeArm(0.0);
		knBodyDef body = *knScene_GetBody(arm.scene, arm.body);
		body.name = NULL;
		body.frame.p.y = 1.0;
		knBodyId second = knScene_AddBody(arm.scene, &body, NULL);
		knJointDef joint = knJointDef_Default(KN_JOINT_HINGE);
		knJointDef_At(&joint, arm.scene, (knBodyId){ 0 }, second, knV3(0.0, 1.0, 0.0), knV3(0.0, 1.0, 0.0),
					  NULL);
		knJointId other = knScene_AddJoint(arm.scene, &joint, NULL);
		knCouplingDef coupling = knCouplingDef_Default();
		coupling.joint1 = arm.joint;
		coupling.joint2 = other;
		coupling.coefficients[1] = 0.5;
		assert_int_equal(knScene_AddCoupling(arm.scene, &coupling, NULL), 0);
		knActuatorDef motor = knActuatorDef_Default();
		motor.joint = arm.joint;
		motor.control = 0.5;
		knScene_AddActuator(arm.scene, &motor, NULL);
		knWorld* world = makeWorld(arm.scene, steppers[s]);
		run(world, 0.0005, 1000);
		double rate1, rate2, q1 = angle(world, arm.joint, &rate1), q2 = angle(world, other, &rate2);
		// T on q1 moves inertia I (1 + 1/0.5^2) seen from q1
		assert_near(q1 - 0.5 * q2, 0.0, 2e-3);
		assert_near(rate1, 0.25 / (5.0 * arm.inertia), 0.03 * 0.25 / (5.0 * arm.inertia));
		knWorld_Destroy(world);
		knScene_Destroy(arm.scene);
	}
}

// A spatial tendon from the world to a free ball is a spring: the ball hangs where k stretch = m g.
static void spatialTendonHangs(void** state) {
	(void)state;
	knSceneDef def = knSceneDef_Default();
	knScene* scene = knScene_Create(&def, NULL, NULL);
	knBodyDef body = knBodyDef_Default();
	body.frame.p = knV3(0.0, 0.0, -1.0);
	knBodyId ball = knScene_AddBody(scene, &body, NULL);
	knShapeDef shape = knShapeDef_Default();
	knScene_AddSphere(scene, ball, 0.05, &shape, NULL);
	const knTendonPart parts[] = { { .body = { 0 } }, { .body = ball } };
	knTendonDef tendon = knTendonDef_Default();
	tendon.spatial = true;
	tendon.parts = parts;
	tendon.partCount = 2;
	tendon.stiffness = 100.0;
	tendon.damping = 10.0;
	tendon.restLower = tendon.restUpper = 1.0;
	assert_int_equal(knScene_AddTendon(scene, &tendon, NULL), 0);
	knWorld* world = makeWorld(scene, "velocity");
	run(world, 0.005, 1000);
	const double mass = 1000.0 * 4.0 / 3.0 * KN_PI * 0.05 * 0.05 * 0.05;
	double rate;
	assert_near(knWorld_TendonLength(world, 0, &rate), 1.0 + mass * 9.81 / 100.0, 1e-6);
	knWorld_Destroy(world);
	knScene_Destroy(scene);
}

// A ball sinks in a viscous medium at m g = 3 pi d mu v, d = r sqrt(2.4) the side of the box with its inertia; in a thin one
// at m g = rho/2 d^2 v^2.
static void mediumResists(void** state) {
	(void)state;
	for (int viscous = 0; viscous < 2; ++viscous) {
		knSceneDef def = knSceneDef_Default();
		def.mediumViscosity = viscous ? 50.0 : 0.0;
		def.mediumDensity = viscous ? 0.0 : 1000.0;
		knScene* scene = knScene_Create(&def, NULL, NULL);
		knBodyDef body = knBodyDef_Default();
		knBodyId ball = knScene_AddBody(scene, &body, NULL);
		knShapeDef shape = knShapeDef_Default();
		knScene_AddSphere(scene, ball, 0.05, &shape, NULL);
		knWorld* world = makeWorld(scene, "velocity");
		run(world, 0.0001, 10000);
		const double d = 0.05 * sqrt(2.4), weight = 9.81 * 1000.0 * 4.0 / 3.0 * KN_PI * 0.05 * 0.05 * 0.05;
		const double speed = viscous ? weight / (3.0 * KN_PI * d * 50.0) : sqrt(weight / (500.0 * d * d));
		assert_near(-knWorld_BodyVelocity(world, ball).z, speed, 0.02 * speed);
		knWorld_Destroy(world);
		knScene_Destroy(scene);
	}
}

// A resting accelerometer reads g upwards; joint probes read coordinates; a snapshot carries controls.
static void probesRead(void** state) {
	(void)state;
	Arm arm = makeArm(9.81);
	knProbeDef imu = knProbeDef_Default(KN_PROBE_ACCELEROMETER);
	imu.body = arm.body;
	imu.frame.p = knV3(0.0, 0.0, 0.1);
	knProbeDef position = knProbeDef_Default(KN_PROBE_JOINT_POSITION);
	position.joint = arm.joint;
	assert_int_equal(knScene_AddProbe(arm.scene, &imu, NULL), 0);
	assert_int_equal(knScene_AddProbe(arm.scene, &position, NULL), 1);
	knActuatorDef motor = knActuatorDef_Default();
	motor.joint = arm.joint;
	knScene_AddActuator(arm.scene, &motor, NULL);
	knWorld* world = makeWorld(arm.scene, "velocity");
	run(world, 0.01, 20);
	double values[4], rate;
	assert_int_equal(knWorld_ReadProbe(world, 0, values), 3);
	assert_near(values[2], 9.81, 1e-9);
	assert_int_equal(knWorld_SetControl(world, 0, 1.0), KN_OK);
	assert_int_equal(knWorld_SetControl(world, 0, NAN), KN_BAD_DATA);
	run(world, 0.01, 20);
	assert_int_equal(knWorld_ReadProbe(world, 1, values), 1);
	assert_near(values[0], angle(world, arm.joint, &rate), 0.0);
	assert_true(values[0] > 0.01);
	knWorld_Destroy(world);
	knScene_Destroy(arm.scene);
}

// What refers to a joint goes with it; names stay found.
static void removalDrops(void** state) {
	(void)state;
	Arm arm = makeArm(9.81);
	knActuatorDef motor = knActuatorDef_Default();
	motor.joint = arm.joint;
	motor.name = "m";
	assert_int_equal(knScene_AddActuator(arm.scene, &motor, NULL), 0);
	assert_int_equal(knScene_AddActuator(arm.scene, &motor, NULL), -1);
	knActuatorDef jet = knActuatorDef_Default();
	jet.driven = KN_DRIVEN_POINT;
	jet.body = arm.body;
	jet.name = "jet";
	assert_int_equal(knScene_AddActuator(arm.scene, &jet, NULL), 1);
	assert_int_equal(knScene_RemoveJoint(arm.scene, arm.joint, NULL), KN_OK);
	assert_int_equal(knScene_ActuatorCount(arm.scene), 1);
	assert_int_equal(knScene_FindActuator(arm.scene, "jet"), 0);
	assert_int_equal(knScene_FindActuator(arm.scene, "m"), -1);
	motor.gain[0] = NAN;
	assert_int_equal(knScene_AddActuator(arm.scene, &motor, NULL), -1);
	knScene_Destroy(arm.scene);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(armatureAddsInertia), cmocka_unit_test(stiffServoHolds),
		cmocka_unit_test(servoGivesWay),       cmocka_unit_test(activationsFollow),
		cmocka_unit_test(couplingHolds),       cmocka_unit_test(spatialTendonHangs),
		cmocka_unit_test(probesRead),          cmocka_unit_test(removalDrops),
		cmocka_unit_test(mediumResists),       cmocka_unit_test(armatureSwings),
		cmocka_unit_test(workOfActuators),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
