// Sleeping: groups at rest fall asleep, and everything that could move them wakes them, under every stepper that sleeps. Each
// disturbance is tried on two worlds, one that sleeps and one that does not; what a user sees is the same.
#include "world/fixture.h"

#define DT 0.01
#define BOXES 3
#define RESTING (BOXES + 3) // the column, the lone box, the wheel and the weight

typedef struct Yard {
	knWorld* world;
	knBodyId boxes[BOXES]; // a column on the plate
	knBodyId plate;        // kinematic
	knShapeId ground;      // under another box
	knBodyId lone;         // on the ground, far away
	knBodyId ball;         // high above the column, held by nothing
	knJointId motor;       // of a wheel on the wall
	knBodyId hook;         // kinematic
	knBodyId weight;       // hangs on it
} Yard;

static const char* const steppers[] = { "velocity", "reduced" };
#define STEPPERS ((int)(sizeof(steppers) / sizeof(steppers[0])))

static knWorld* worldUnder(knScene* scene, const char* stepper) {
	knWorldDef def = knWorldDef_Default();
	def.stepper = stepper;
	return newWorldWith(scene, &def);
}

static Yard newYard(const char* stepper, int sleep) {
	knScene* scene = newScene(earth);
	Yard yard = { 0 };
	yard.ground = newGround(scene, material(0.6, 0.0));
	yard.plate = newBox(scene, knV3(0.0, 0.0, 0.9), knV3(2.0, 2.0, 0.1), material(0.6, 0.0));
	knScene_EditBody(scene, yard.plate)->kind = KN_BODY_KINEMATIC;
	for (int i = 0; i < BOXES; ++i) {
		yard.boxes[i] =
			newBox(scene, knV3(0.0, 0.0, 1.25 + 0.5 * i), knV3(0.25, 0.25, 0.25), material(0.6, 0.0));
	}
	yard.lone = newBox(scene, knV3(10.0, 0.0, 0.25), knV3(0.25, 0.25, 0.25), material(0.6, 0.0));
	yard.ball = newBall(scene, knV3(0.0, 0.0, 70.0), 0.2, knZero3(), material(0.6, 0.0));
	knBodyId wheel =
		newMass(scene, knMakeFrame(knV3(20.0, 0.0, 5.0), knIdentityQ()), 2.0, knV3(0.1, 0.1, 0.1));
	knJointDef def =
		jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, wheel, knV3(20.0, 0.0, 5.0), knV3(0.0, 1.0, 0.0));
	yard.motor = newJoint(scene, &def);
	yard.hook = newBox(scene, knV3(30.0, 0.0, 5.0), knV3(0.1, 0.1, 0.1), material(0.6, 0.0));
	knScene_EditBody(scene, yard.hook)->kind = KN_BODY_KINEMATIC;
	yard.weight = newMass(scene, knMakeFrame(knV3(30.0, 0.0, 4.0), knIdentityQ()), 2.0, knV3(0.1, 0.1, 0.1));
	def = jointAt(scene, KN_JOINT_HINGE, yard.hook, yard.weight, knV3(30.0, 0.0, 5.0), knV3(0.0, 1.0, 0.0));
	newJoint(scene, &def);
	knActuatorDef drive = knActuatorDef_Default();
	drive.joint = yard.motor;
	drive.gear[0] = 1.0;
	assert_int_equal(knScene_AddActuator(scene, &drive, NULL), 0);
	knScene_Def(scene)->settings.sleep = sleep;
	yard.world = worldUnder(scene, stepper);
	return yard;
}

// --- falling asleep --------------------------------------------------------------------------------------

static void restIsSleep(const char* stepper) {
	Yard awake = newYard(stepper, 0), yard = newYard(stepper, 1);
	run(awake.world, 300, DT);
	run(yard.world, 300, DT);
	assert_int_equal(knWorld_Report(awake.world)->sleeping, 0);
	// the ball is falling
	assert_int_equal(knWorld_Report(yard.world)->sleeping, RESTING);
	for (int i = 0; i < BOXES; ++i) {
		assert_near3(knWorld_BodyCenter(yard.world, yard.boxes[i]),
					 knWorld_BodyCenter(awake.world, awake.boxes[i]), 1e-7);
		assert_near3(knWorld_BodyVelocity(yard.world, yard.boxes[i]), knZero3(), 0.0);
	}
	// contacts go on telling what they carry
	int count;
	const knContact* contacts = knWorld_Contacts(yard.world, &count);
	double carried = 0.0;
	for (int i = 0; i < count; ++i) {
		carried +=
			contacts[i].bodyA.index1 == yard.plate.index1 || contacts[i].bodyB.index1 == yard.plate.index1
				? knAbs(contacts[i].impulse.z)
				: 0.0;
	}
	double weight = 0.0;
	for (int i = 0; i < BOXES; ++i) {
		weight += 9.81 * knModel_BodyMass(knWorld_Model(yard.world), yard.boxes[i]).mass;
	}
	assert_near(carried, weight * DT, 0.01 * weight * DT);
	knWorld_Destroy(awake.world);
	knWorld_Destroy(yard.world);
}

// A block that creeps down a slope of ice is no body at rest, however slow it begins.
static void slowMotionIsNotRest(const char* stepper) {
	knScene* scene = newScene(knV3(0.01, 0.0, -9.81));
	newGround(scene, material(0.0, 0.0));
	knBodyId box = newBox(scene, knV3(0.0, 0.0, 0.25), knV3(0.25, 0.25, 0.25), material(0.0, 0.0));
	knScene_Def(scene)->settings.sleep = 1;
	knWorld* world = worldUnder(scene, stepper);
	run(world, 200, DT);
	assert_int_equal(knWorld_Report(world)->sleeping, 0);
	assert_near(knWorld_BodyCenter(world, box).x, 0.5 * 0.01 * 2.0 * 2.0, 1e-9);
	knWorld_Destroy(world);
}

// --- waking ----------------------------------------------------------------------------------------------

typedef void Disturb(Yard* yard);

static void pushLowest(Yard* yard) {
	assert_ok(knWorld_AddForce(yard->world, yard->boxes[0], knV3(50000.0, 0.0, 0.0)));
}

static void strikeTop(Yard* yard) {
	assert_ok(knWorld_ApplyImpulse(yard->world, yard->boxes[2], knV3(60.0, 20.0, 0.0),
								   knWorld_BodyCenter(yard->world, yard->boxes[2])));
}

static void throwTop(Yard* yard) {
	assert_ok(knWorld_SetBodyVelocity(yard->world, yard->boxes[2], knV3(0.0, 0.0, 3.0), knZero3()));
}

static void placeTop(Yard* yard) {
	knFrame frame = knWorld_BodyFrame(yard->world, yard->boxes[2]);
	frame.p.x += 0.4;
	assert_ok(knWorld_SetBodyFrame(yard->world, yard->boxes[2], frame));
}

static void tiltGravity(Yard* yard) {
	assert_ok(knWorld_SetGravity(yard->world, knV3(9.0, 0.0, -9.81)));
}

static void movePlate(Yard* yard) {
	assert_ok(knWorld_SetBodyVelocity(yard->world, yard->plate, knV3(0.0, 0.0, -0.5), knZero3()));
}

static void dropPlate(Yard* yard) {
	assert_ok(knWorld_RemoveBody(yard->world, yard->plate, NULL));
}

static void openGround(Yard* yard) {
	assert_ok(knWorld_SetShapeEnabled(yard->world, yard->ground, false));
}

static void liftPlate(Yard* yard) {
	knFrame frame = knWorld_BodyFrame(yard->world, yard->plate);
	frame.p.z += 0.01;
	assert_ok(knWorld_SetBodyFrame(yard->world, yard->plate, frame));
}

static void dropBall(Yard* yard) {
	knFrame frame = knMakeFrame(knV3(0.05, 0.0, 2.75), knIdentityQ());
	assert_ok(knWorld_SetBodyFrame(yard->world, yard->ball, frame));
	assert_ok(knWorld_SetBodyVelocity(yard->world, yard->ball, knV3(0.0, 0.0, -5.0), knZero3()));
}

static void removeLowest(Yard* yard) {
	assert_ok(knWorld_RemoveBody(yard->world, yard->boxes[0], NULL));
}

static void driveWheel(Yard* yard) {
	assert_ok(knWorld_SetControl(yard->world, 0, 0.5));
}

static void moveHook(Yard* yard) {
	assert_ok(knWorld_SetBodyVelocity(yard->world, yard->hook, knV3(1.0, 0.0, 0.0), knZero3()));
}

static void placeHook(Yard* yard) {
	knFrame frame = knWorld_BodyFrame(yard->world, yard->hook);
	frame.p.x += 0.01;
	assert_ok(knWorld_SetBodyFrame(yard->world, yard->hook, frame));
}

static void startMotor(Yard* yard) {
	assert_ok(knWorld_SetMotor(yard->world, yard->motor, 0, KN_MOTOR_VELOCITY, 3.0, 100.0));
}

static const struct {
	Disturb* disturb;
	double moves; // m, at least, of some body in half a second
} cases[] = {
	{ pushLowest, 0.01 }, { strikeTop, 0.002 }, { throwTop, 0.1 },     { placeTop, 0.05 },
	{ tiltGravity, 0.1 }, { movePlate, 0.2 },   { dropPlate, 0.1 },    { openGround, 1.0 },
	{ liftPlate, 0.009 }, { dropBall, 0.0 },    { removeLowest, 0.1 }, { startMotor, 0.0 },
	{ moveHook, 0.1 },    { placeHook, 0.0 },   { driveWheel, 0.0 },
};

static knBodyId bodyOf(const Yard* yard, int i) {
	return i < BOXES ? yard->boxes[i] : i == BOXES ? yard->lone : yard->weight;
}

static void everyDisturbanceWakes(const char* stepper) {
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); ++n) {
		Yard yards[2] = { newYard(stepper, 0), newYard(stepper, 1) };
		knVec3 before[BOXES + 2], after[2][BOXES + 2];
		double spin[2];
		for (int k = 0; k < 2; ++k) {
			knWorld* world = yards[k].world;
			run(world, 300, DT);
			for (int i = 0; i <= BOXES + 1; ++i) {
				before[i] = knWorld_BodyCenter(world, bodyOf(&yards[k], i));
			}
			int sleeping = knWorld_Report(world)->sleeping;
			cases[n].disturb(&yards[k]);
			run(world, 1, DT);
			assert_true(k == 0 || (sleeping > 0 && knWorld_Report(world)->sleeping < sleeping));
			run(world, 49, DT);
			for (int i = 0; i <= BOXES + 1; ++i) {
				knBodyId body = bodyOf(&yards[k], i);
				after[k][i] = knWorld_HasBody(world, body) ? knWorld_BodyCenter(world, body) : knZero3();
			}
			double v[6];
			knWorld_JointVelocities(world, yards[k].motor, v);
			spin[k] = v[0];
			knWorld_Destroy(world);
		}
		double most = 0.0;
		for (int i = 0; i <= BOXES + 1; ++i) {
			assert_near3(after[1][i], after[0][i], 2e-3);
			most = knMax(most, knDistance(after[1][i], before[i]));
		}
		assert_near(spin[1], spin[0], 1e-9);
		if (most < cases[n].moves) {
			fail_msg("case %d under %s: %g m", (int)n, stepper, most);
		}
	}
}

// A motor's new target wakes a wheel that has come to rest.
static void motorTurnsTheWheel(const char* stepper) {
	Yard yard = newYard(stepper, 1);
	run(yard.world, 200, DT);
	startMotor(&yard);
	run(yard.world, 50, DT);
	double v[6];
	assert_int_equal(knWorld_JointVelocities(yard.world, yard.motor, v), 1);
	assert_near(v[0], 3.0, 1e-9);
	knWorld_Destroy(yard.world);
}

// A snapshot of a sleeping world goes on asleep, bit by bit.
static void snapshotSleeps(const char* stepper) {
	Yard yard = newYard(stepper, 1);
	run(yard.world, 300, DT);
	knWorld* clone = knWorld_Clone(yard.world, NULL);
	assert_non_null(clone);
	run(yard.world, 20, DT);
	run(clone, 20, DT);
	assert_int_equal(knWorld_Report(clone)->sleeping, RESTING);
	assert_true(knWorld_Hash(clone) == knWorld_Hash(yard.world));
	knWorld_Destroy(clone);
	knWorld_Destroy(yard.world);
}

static void forAll(void (*fact)(const char* stepper)) {
	for (int i = 0; i < STEPPERS; ++i) {
		fact(steppers[i]);
	}
}

static void test_rest_is_sleep(void** state) {
	(void)state;
	forAll(restIsSleep);
}

static void test_slow_motion_is_not_rest(void** state) {
	(void)state;
	forAll(slowMotionIsNotRest);
}

static void test_every_disturbance_wakes(void** state) {
	(void)state;
	forAll(everyDisturbanceWakes);
}

static void test_motor_turns_the_wheel(void** state) {
	(void)state;
	forAll(motorTurnsTheWheel);
}

static void test_snapshot_sleeps(void** state) {
	(void)state;
	forAll(snapshotSleeps);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rest_is_sleep),           cmocka_unit_test(test_slow_motion_is_not_rest),
		cmocka_unit_test(test_every_disturbance_wakes), cmocka_unit_test(test_motor_turns_the_wheel),
		cmocka_unit_test(test_snapshot_sleeps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
