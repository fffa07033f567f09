// Rigid bodies in time: the implicit-midpoint rotation, forces, damping, kinematic motion, work.
#include "world/fixture.h"

#include "dynamics/integrate.h"
#include "dynamics/mean_rotation.h"

static const knMat33 brick = { { 1.0, 0.0, 0.0 }, { 0.0, 2.5, 0.0 }, { 0.0, 0.0, 3.0 } };

// --- the mean angular velocity ---------------------------------------------------------------------------

static knMat33 randomInertia(knTestRandom* random) {
	// principal moments of a real body: none exceeds the sum of the others
	double a = testUniform(random, 0.01, 1.0), b = testUniform(random, 0.01, 1.0),
		   c = testUniform(random, 0.01, 1.0);
	knMat33 diagonal = knDiagonal33(b + c, a + c, a + b);
	return knRotateTensor(testQuat(random), &diagonal);
}

static void test_mean_velocity_solves_midpoint(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	for (int n = 0; n < 200; ++n) {
		knMat33 I = randomInertia(&random), inverse = knInverse33(&I);
		knVec3 Pi = knMulMV(&I, testVec3(&random, 40.0));
		double h = 0.01;
		knVec3 w = knMeanAngularVelocity(&I, &inverse, Pi, h);
		knVec3 after = knRotate(knQuat_Exp(knScale(-h, w)), Pi);
		knVec3 mean = knMulMV(&inverse, knScale(0.5, knAdd(Pi, after)));
		assert_near3(w, mean, 1e-12 * knLength(w) * knLength(Pi) * knLength(inverse.cx));
	}
}

// Spinning about a principal axis is steady: the mean is the velocity itself, for any step.
static void test_mean_velocity_principal_axis(void** state) {
	(void)state;
	knMat33 inverse = knInverse33(&brick);
	knVec3 w = knMeanAngularVelocity(&brick, &inverse, knV3(0.0, 2.5 * 8.0, 0.0), 0.1);
	assert_near3(w, knV3(0.0, 8.0, 0.0), 1e-14);
	knMat33 ball = knDiagonal33(2.0, 2.0, 2.0);
	inverse = knInverse33(&ball);
	assert_near3(knMeanAngularVelocity(&ball, &inverse, knV3(2.0, 4.0, 6.0), 0.1), knV3(1.0, 2.0, 3.0), 0.0);
}

// Beyond the reach of substeps the start velocity serves.
static void test_mean_velocity_falls_back(void** state) {
	(void)state;
	knMat33 inverse = knInverse33(&brick);
	knVec3 omega = knV3(3000.0, 2000.0, 1000.0);
	knVec3 w = knMeanAngularVelocity(&brick, &inverse, knMulMV(&brick, omega), 0.1);
	assert_near3(w, omega, 1e-11);
	assert_near3(knMeanAngularVelocity(&brick, &inverse, knZero3(), 0.1), knZero3(), 0.0);
}

// --- tumbling --------------------------------------------------------------------------------------------

typedef struct Tumbler {
	knModel* model;
	knState state;
	knArena arena;
	knAllocator allocator;
} Tumbler;

static Tumbler newTumbler(knVec3 inertia, knVec3 omega) {
	Tumbler tumbler = { .allocator = knAllocator_Default() };
	knScene* scene = newScene(noGravity);
	knBodyDef def = knBodyDef_Default();
	def.hasMass = true;
	def.mass = (knMassProps){ .mass = 2.0, .inertia = knDiagonal33(inertia.x, inertia.y, inertia.z) };
	def.frame.q = knNormalizeQ(knQ(0.3, 0.5, -0.2, 0.7));
	def.angularVelocity = knRotate(def.frame.q, omega);
	newBody(scene, &def);
	tumbler.model = knModel_Create(scene, NULL);
	knScene_Destroy(scene);
	assert_non_null(tumbler.model);
	assert_true(knState_Create(&tumbler.state, tumbler.model, "test", 0, &tumbler.allocator));
	knArena_Init(&tumbler.arena, &tumbler.allocator);
	return tumbler;
}

static void freeTumbler(Tumbler* tumbler) {
	knState_Destroy(&tumbler->state, &tumbler->allocator);
	knArena_Free(&tumbler->arena);
	knModel_Release(tumbler->model);
}

static void tumble(Tumbler* tumbler, int steps, double h) {
	for (int i = 0; i < steps; ++i) {
		knStepBodies blocks;
		knTasks tasks = { 0 };
		knArena_Clear(&tumbler->arena);
		assert_true(
			knStepBodies_Begin(&blocks, tumbler->model, &tumbler->state, h, NULL, &tasks, &tumbler->arena));
		knStepBodies_End(&blocks, tumbler->model, &tasks, &tumbler->state);
	}
}

static knVec3 momentumOf(const Tumbler* tumbler) {
	knMat33 I = knRotateTensor(tumbler->state.pose[1].q, &tumbler->model->inertiaLocal[1]);
	return knMulMV(&I, tumbler->state.velocity[1].ang);
}

static double energyOf(const Tumbler* tumbler) {
	return 0.5 * knDot(momentumOf(tumbler), tumbler->state.velocity[1].ang);
}

// A thin plate at 10 rad/s near its unstable axis, a step of 0.01: the explicit gyroscopic term multiplies
// its energy within seconds; here momentum and energy both stay.
static void test_tumbling_conserves(void** state) {
	(void)state;
	Tumbler tumbler = newTumbler(knV3(0.30, 1.0, 1.29), knV3(0.3, 10.0, 0.2));
	knVec3 L = momentumOf(&tumbler);
	double E = energyOf(&tumbler);
	for (int i = 0; i < 1000; ++i) {
		tumble(&tumbler, 1, 0.01);
		assert_near3(momentumOf(&tumbler), L, 1e-12 * knLength(L));
		assert_near(energyOf(&tumbler), E, 1e-12 * E);
	}
	freeTumbler(&tumbler);
}

// A thin rod that turns by several radians a step keeps both, too; so does one that turns by hundreds of
// turns a step, as far as its momentum goes: its energy is at least bounded by that.
static void test_wild_spin_stays_bounded(void** state) {
	(void)state;
	Tumbler fast = newTumbler(knV3(0.01, 1.0, 1.005), knV3(100.0, 80.0, 60.0));
	knVec3 L = momentumOf(&fast);
	double E = energyOf(&fast);
	tumble(&fast, 500, 0.05);
	assert_near3(momentumOf(&fast), L, 1e-11 * knLength(L));
	assert_near(energyOf(&fast), E, 1e-9 * E);
	freeTumbler(&fast);

	Tumbler wild = newTumbler(knV3(0.1, 1.0, 1.05), knV3(1e4, 8e4, 6e4));
	L = momentumOf(&wild);
	tumble(&wild, 500, 0.05);
	assert_near3(momentumOf(&wild), L, 1e-10 * knLength(L));
	assert_true(energyOf(&wild) <= 0.5 * knLengthSquared(L) / 0.1);
	assert_near(knDotQ(wild.state.pose[1].q, wild.state.pose[1].q), 1.0, 1e-14);
	freeTumbler(&wild);
}

// Substeps and the single equation are the same motion where both work: just below and just above the border.
static void test_substeps_join_smoothly(void** state) {
	(void)state;
	knTestRandom random = { 11 };
	for (int n = 0; n < 50; ++n) {
		knMat33 I = randomInertia(&random), inverse = knInverse33(&I);
		knVec3 omega = knScale(5.0, testUnit3(&random));
		knVec3 Pi = knMulMV(&I, omega);
		double h = 0.25; // 1.25 rad
		knVec3 coarse = knMeanAngularVelocity(&I, &inverse, Pi, h);
		knVec3 after = knRotate(knQuat_Exp(knScale(-h, coarse)), Pi);
		assert_near(knDot(after, knMulMV(&inverse, after)), knDot(Pi, omega), 1e-11 * knDot(Pi, omega));

		// against 256 small steps of the equation itself
		knQuat R = knIdentityQ();
		for (int i = 0; i < 256; ++i) {
			knQuat turn = knQuat_Exp(
				knScale(h / 256, knMeanAngularVelocity(&I, &inverse, knInvRotate(R, Pi), h / 256)));
			R = knMulQ(R, turn);
		}
		assert_true(knLength(knQuat_Log(knInvMulQ(R, knQuat_Exp(knScale(h, coarse))))) < 0.3);
	}
}

static knQuat orientationAfter(double time, int steps) {
	Tumbler tumbler = newTumbler(knV3(1.0, 2.5, 3.0), knV3(2.0, 1.5, -1.0));
	tumble(&tumbler, steps, time / steps);
	knQuat q = tumbler.state.pose[1].q;
	freeTumbler(&tumbler);
	return q;
}

static void test_rotation_second_order(void** state) {
	(void)state;
	knQuat reference = orientationAfter(2.0, 51200);
	double error[3];
	for (int k = 0; k < 3; ++k) {
		knQuat q = orientationAfter(2.0, 100 << k);
		error[k] = knLength(knQuat_Log(knInvMulQ(reference, q)));
	}
	for (int k = 0; k < 2; ++k) {
		double ratio = error[k] / error[k + 1];
		assert_true(ratio > 3.8 && ratio < 4.2);
	}
	assert_true(error[0] < 1e-2);
}

// A symmetric top: in the body the angular velocity turns about the symmetry axis at (Iz - Ix)/Ix wz.
static void test_symmetric_top(void** state) {
	(void)state;
	double Ix = 2.0, Iz = 3.0, wz = 5.0, wx = 1.0, h = 0.001, time = 1.0;
	Tumbler tumbler = newTumbler(knV3(Ix, Ix, Iz), knV3(wx, 0.0, wz));
	tumble(&tumbler, (int)(time / h + 0.5), h);
	knVec3 omega = knInvRotate(tumbler.state.pose[1].q, tumbler.state.velocity[1].ang);
	double rate = (Iz - Ix) / Ix * wz;
	assert_near3(omega, knV3(wx * knCos(rate * time), wx * knSin(rate * time), wz), 1e-5);
	freeTumbler(&tumbler);
}

// --- forces and kinematic motion -------------------------------------------------------------------------

// A user's force and torque, a driven impulse: velocities by hand, work as the change of kinetic energy.
static void test_forces_and_work(void** state) {
	(void)state;
	Tumbler tumbler = newTumbler(knV3(2.0, 2.0, 2.0), knV3(0.0, 0.0, 1.0));
	knTasks tasks = { 0 };
	double h = 0.1;
	tumbler.state.velocity[1] = knMakeTwist(knV3(0.0, 0.0, 1.0), knV3(1.0, 0.0, 0.0));
	tumbler.state.force[1] = knMakeTwist(knV3(4.0, 0.0, 0.0), knV3(0.0, 10.0, 0.0));
	double E = energyOf(&tumbler) + 0.5 * 2.0;
	knStepBodies blocks;
	assert_true(knStepBodies_Begin(&blocks, tumbler.model, &tumbler.state, h, NULL, &tasks, &tumbler.arena));
	knStepBodies_Drive(&blocks, 1, knMakeTwist(knZero3(), knV3(0.0, 0.0, 3.0)));
	knStepBodies_Drive(&blocks, 0, knMakeTwist(knZero3(), knV3(1.0, 1.0, 1.0)));
	assert_near3(blocks.u[1].lin, knV3(1.0, 0.5, 1.5), 1e-15);
	assert_near3(blocks.u[1].ang, knV3(0.2, 0.0, 1.0), 1e-15);
	assert_near3(blocks.u[0].lin, knZero3(), 0.0);
	double work = knStepBodies_DriveWork(&blocks, &tumbler.state);
	knStepBodies_End(&blocks, tumbler.model, &tasks, &tumbler.state);
	double after = energyOf(&tumbler) + 0.5 * 2.0 * knLengthSquared(tumbler.state.velocity[1].lin);
	assert_near(work, after - E, 1e-14);
	assert_near3(tumbler.state.pose[1].p, knV3(0.1, 0.05, 0.15), 1e-15);
	freeTumbler(&tumbler);
}

static void test_damping_decays(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	knBodyDef def = knBodyDef_Default();
	def.hasMass = true;
	def.mass = (knMassProps){ .mass = 1.0, .inertia = knDiagonal33(1.0, 2.0, 2.5) };
	def.velocity = knV3(3.0, 0.0, 0.0);
	def.angularVelocity = knV3(0.0, 0.0, 4.0);
	def.linearDamping = 2.0;
	def.angularDamping = 0.5;
	knBodyId body = newBody(scene, &def);
	knWorld* world = newWorld(scene);
	run(world, 100, 0.01);
	assert_near(knWorld_BodyVelocity(world, body).x, 3.0 * exp(-2.0), 1e-6);
	assert_near(knWorld_BodyAngularVelocity(world, body).z, 4.0 * exp(-0.5), 1e-6);
	knWorld_Destroy(world);
}

// A kinematic body goes where its own velocity leads, round by the exact angle; gravity leaves it alone.
static void test_kinematic_motion(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knBodyDef def = knBodyDef_Default();
	def.kind = KN_BODY_KINEMATIC;
	def.velocity = knV3(1.0, 2.0, 0.0);
	def.angularVelocity = knV3(0.0, 0.0, 0.5);
	knBodyId body = newBody(scene, &def);
	def.kind = KN_BODY_FIXED;
	def.velocity = def.angularVelocity = knZero3();
	knBodyId fixed = newBody(scene, &def);
	knWorld* world = newWorld(scene);
	run(world, 100, 0.01);
	knFrame frame = knWorld_BodyFrame(world, body);
	assert_near3(frame.p, knV3(1.0, 2.0, 0.0), 1e-13);
	assert_near3(knQuat_Log(frame.q), knV3(0.0, 0.0, 0.5), 1e-13);
	assert_near3(knWorld_BodyVelocity(world, body), knV3(1.0, 2.0, 0.0), 0.0);
	assert_near3(knWorld_BodyCenter(world, fixed), knZero3(), 0.0);
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mean_velocity_solves_midpoint),
		cmocka_unit_test(test_mean_velocity_principal_axis),
		cmocka_unit_test(test_mean_velocity_falls_back),
		cmocka_unit_test(test_tumbling_conserves),
		cmocka_unit_test(test_wild_spin_stays_bounded),
		cmocka_unit_test(test_substeps_join_smoothly),
		cmocka_unit_test(test_rotation_second_order),
		cmocka_unit_test(test_symmetric_top),
		cmocka_unit_test(test_forces_and_work),
		cmocka_unit_test(test_damping_decays),
		cmocka_unit_test(test_kinematic_motion),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
