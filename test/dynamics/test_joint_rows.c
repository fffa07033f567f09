// Joint rows of every kind: rates, momentum, error feedback, springs, limits, motors, memories, reactions.
#include "world/fixture.h"

#include "dynamics/joint_rows.h"
#include "model/joint_parts.h"
#include "solve/pgs.h"
#include "support/sphere_joint.h"

#define H 0.01
#define MAX_ROWS 64

// Two free bodies (or the world and one) with one joint between them.
typedef struct Rig {
	knModel* model;
	knState state;
	knStepBodies blocks;
	knArena arena;
	knAllocator allocator;
	knRow items[MAX_ROWS];
	knRowLoad loads[6];
	knRows rows;
	knJointRows list;
	knRowInput input;
} Rig;

static knJointDef plainDef(knJointKind kind, knTestRandom* random) {
	knJointDef def = knJointDef_Default(kind);
	def.frameParent = testFrame(random, 0.5);
	def.frameChild = testFrame(random, 0.5);
	def.custom = testSphereJoint;
	return def;
}

// An allowed joint frame somewhere in the joint's range.
static knFrame allowedFrame(knJointKind kind, knTestRandom* random) {
	const knJoint probe = { .kind = kind, .custom = testSphereJoint };
	return knJointOps_Get(kind)->projectState(&probe, testFrame(random, 0.7));
}

// Places the child so that the joint has the given frame, with random velocities.
static void makeRig(Rig* rig, knJointDef def, knFrame J, bool toWorld, knTestRandom* random) {
	memset(rig, 0, sizeof(*rig));
	rig->allocator = knAllocator_Default();
	knScene* scene = newScene(noGravity);
	knBodyDef body = knBodyDef_Default();
	body.hasMass = true;
	body.mass = (knMassProps){ .mass = 2.0, .inertia = knDiagonal33(0.5, 0.6, 0.7) };
	body.frame = toWorld ? knIdentityF() : testFrame(random, 1.0);
	body.velocity = testVec3(random, 1.0);
	body.angularVelocity = testVec3(random, 1.0);
	def.parent = toWorld ? KN_WORLD_BODY : newBody(scene, &body);
	body.mass.mass = 3.0;
	body.frame = knMulF(knMulF(knMulF(body.frame, def.frameParent), J), knInvF(def.frameChild));
	body.velocity = testVec3(random, 1.0);
	def.child = newBody(scene, &body);
	newJoint(scene, &def);
	rig->model = knModel_Create(scene, NULL);
	knScene_Destroy(scene);
	assert_non_null(rig->model);
	assert_true(knState_Create(&rig->state, rig->model, "test", 0, &rig->allocator));
	knArena_Init(&rig->arena, &rig->allocator);
}

static void freeRig(Rig* rig) {
	knState_Destroy(&rig->state, &rig->allocator);
	knArena_Free(&rig->arena);
	knModel_Release(rig->model);
}

static void fillRig(Rig* rig, const knJointMemory* memory, int memoryCount) {
	knTasks tasks = { 0 };
	knArena_Clear(&rig->arena);
	assert_true(knStepBodies_Begin(&rig->blocks, rig->model, &rig->state, H, NULL, &tasks, &rig->arena));
	knJointRows_ApplyForces(rig->model, &rig->blocks, &rig->state);
	rig->input = (knRowInput){
		.model = rig->model, .state = &rig->state, .blocks = &rig->blocks, .impulseScale = 1.0
	};
	assert_true(knJointRows_Reserve(&rig->list, rig->model, &rig->state, &rig->arena));
	assert_true(rig->list.capacity <= MAX_ROWS && rig->list.loadCapacity <= 6);
	rig->rows = (knRows){ .items = rig->items,
						  .capacity = MAX_ROWS,
						  .blockCount = rig->model->bodyCount,
						  .loads = rig->loads,
						  .loadCapacity = rig->list.loadCapacity };
	knJointRows_Fill(&rig->list, &rig->input, memory, memoryCount, &rig->rows);
	assert_int_equal(rig->rows.count, rig->list.count);
}

static knTwist relativeTwist(const Rig* rig, const knTwist* u) {
	const knJoint* joint = &rig->model->joints[0];
	return knJoint_RelativeTwist(joint, rig->state.pose[joint->parent], u[joint->parent],
								 rig->state.pose[joint->child], u[joint->child]);
}

static double rate(const knRow* row, const knTwist* u) {
	return knDotT(row->Ja, u[row->a]) + knDotT(row->Jb, u[row->b]);
}

// --- locked directions -----------------------------------------------------------------------------------

// Every row measures row . V_P and is the rate of the joint's error; its impulses carry no momentum.
static void test_locked_rows_of_all_kinds(void** state) {
	(void)state;
	knTestRandom random = { 21 };
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		Rig rig;
		knFrame J = allowedFrame((knJointKind)kind, &random);
		makeRig(&rig, plainDef((knJointKind)kind, &random), J, false, &random);
		fillRig(&rig, NULL, 0);
		const knJoint* joint = &rig.model->joints[0];
		const knJointOps* ops = knJointOps_Get(joint->kind);
		int locked = kind == KN_JOINT_CUSTOM ? 1 : 6 - ops->nv;
		assert_int_equal(rig.rows.count, locked);
		knTwist V = relativeTwist(&rig, rig.blocks.u);
		for (int i = 0; i < locked; ++i) {
			const knRow* row = &rig.items[i];
			knTwist along = rig.list.rows[i].row;
			assert_near(rate(row, rig.blocks.u), knDotT(along, V), 1e-13);

			// J u = -bias along the present motion ends where the joint's error does not grow: on the circle
			knFrame moved = knJoint_Frame(joint, knMovePose(rig.state.pose[1], rig.state.velocity[1], H),
										  knMovePose(rig.state.pose[2], rig.state.velocity[2], H));
			knTwist grown = knJoint_ErrorTwist(moved, ops->projectState(joint, moved));
			assert_near(H * (rate(row, rig.state.velocity) + row->bias), knDotT(along, grown), 1e-13);

			// opposite wrenches at one point
			assert_near3(knAdd(row->Ja.lin, row->Jb.lin), knZero3(), 0.0);
			knVec3 moment = knAdd(knAdd(row->Ja.ang, knCross(rig.state.pose[1].p, row->Ja.lin)),
								  knAdd(row->Jb.ang, knCross(rig.state.pose[2].p, row->Jb.lin)));
			assert_near3(moment, knZero3(), 1e-14);

			// the rate of the error, by differences
			double error[2], eps = 1e-5;
			for (int side = 0; side < 2; ++side) {
				double t = side == 0 ? -eps : eps;
				knFrame there = knJoint_Frame(joint, knMovePose(rig.state.pose[1], rig.blocks.u[1], t),
											  knMovePose(rig.state.pose[2], rig.blocks.u[2], t));
				error[side] = knDotT(along, knJoint_ErrorTwist(there, ops->projectState(joint, there)));
			}
			assert_near((error[1] - error[0]) / (2.0 * eps), rate(row, rig.blocks.u), 1e-7);
		}
		freeRig(&rig);
	}
}

// A solve leaves the curvature alone in locked directions, and the same momentum.
static void test_solve_locks(void** state) {
	(void)state;
	knTestRandom random = { 22 };
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		Rig rig;
		makeRig(&rig, plainDef((knJointKind)kind, &random), allowedFrame((knJointKind)kind, &random), false,
				&random);
		fillRig(&rig, NULL, 0);
		knTwist before[2] = { knZeroTwist(), knZeroTwist() };
		for (int pass = 0; pass < 2; ++pass) {
			for (int b = 1; b < 3; ++b) {
				knMat33 I = knRotateTensor(rig.state.pose[b].q, &rig.model->inertiaLocal[b]);
				knVec3 p = knScale(rig.model->mass[b], rig.blocks.u[b].lin);
				before[pass].lin = knAdd(before[pass].lin, p);
				before[pass].ang = knAdd(before[pass].ang, knAdd(knMulMV(&I, rig.blocks.u[b].ang),
																 knCross(rig.state.pose[b].p, p)));
			}
			if (pass == 0) {
				knPgs_Solve(&rig.rows, 2000, rig.blocks.u);
			}
		}
		assert_near3(before[1].lin, before[0].lin, 1e-12);
		assert_near3(before[1].ang, before[0].ang, 1e-12);
		knTwist V = relativeTwist(&rig, rig.blocks.u);
		for (int i = 0; i < rig.list.count; ++i) {
			assert_near(knDotT(rig.list.rows[i].row, V), -rig.items[i].bias, 1e-9);
		}
		freeRig(&rig);
	}
}

// A joint that has come apart: the displacements of a correction close it, up to second order.
static void test_errors_are_closed(void** state) {
	(void)state;
	knTestRandom random = { 23 };
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		Rig rig;
		knFrame J = allowedFrame((knJointKind)kind, &random);
		J.p = knAdd(J.p, testVec3(&random, 1e-4));
		J.q = knMulQ(knQuat_Exp(testVec3(&random, 1e-4)), J.q);
		makeRig(&rig, plainDef((knJointKind)kind, &random), J, false, &random);
		fillRig(&rig, NULL, 0);
		knJointRows_FillErrors(&rig.list, &rig.input, &rig.rows);
		knTwist p[3] = { knZeroTwist(), knZeroTwist(), knZeroTwist() };
		knPgs_Solve(&rig.rows, 2000, p);
		const knJoint* joint = &rig.model->joints[0];
		const knJointOps* ops = knJointOps_Get(joint->kind);
		knFrame after = knJoint_Frame(joint, knMovePose(rig.state.pose[1], p[1], 1.0),
									  knMovePose(rig.state.pose[2], p[2], 1.0));
		knTwist left = knJoint_ErrorTwist(after, ops->projectState(joint, after));
		for (int i = 0; i < rig.list.count; ++i) {
			assert_near(knDotT(rig.list.rows[i].row, left), 0.0, 1e-7);
		}
		freeRig(&rig);
	}
}

// A violated limit is corrected by what it is beyond, one with room left alone.
static void test_limit_errors(void** state) {
	(void)state;
	const double at[2] = { -1.01, -0.995 }, moves[2] = { 0.01, 0.0 };
	for (int k = 0; k < 2; ++k) {
		knTestRandom random = { 24 };
		Rig rig;
		knJointDef def = knJointDef_Default(KN_JOINT_SLIDER);
		def.axis[0] = (knJointAxis){ .limited = true, .lower = -1.0, .upper = 0.5 };
		makeRig(&rig, def, knMakeFrame(knV3(at[k], 0.0, 0.0), knIdentityQ()), true, &random);
		fillRig(&rig, NULL, 0);
		knJointRows_FillErrors(&rig.list, &rig.input, &rig.rows);
		knTwist p[3] = { knZeroTwist(), knZeroTwist(), knZeroTwist() };
		knPgs_Solve(&rig.rows, 50, p);
		assert_near3(p[1].lin, knV3(moves[k], 0.0, 0.0), 1e-12);
		freeRig(&rig);
	}
}

// --- parts -----------------------------------------------------------------------------------------------

// A slider between the world and a mass of 3 kg along x, at position x with velocity v.
static void makeSlider(Rig* rig, knJointAxis axis, double x, double v) {
	knTestRandom random = { 24 };
	knJointDef def = knJointDef_Default(KN_JOINT_SLIDER);
	def.axis[0] = axis;
	makeRig(rig, def, knMakeFrame(knV3(x, 0.0, 0.0), knIdentityQ()), true, &random);
	rig->state.velocity[1] = knMakeTwist(knZero3(), knV3(v, 0.0, 0.0));
}

// Implicit Euler of m x'' = -k (x - rest) - c x'.
static void test_spring_is_implicit_euler(void** state) {
	(void)state;
	Rig rig;
	knJointAxis axis = { .stiffness = 5000.0, .damping = 40.0, .rest = 0.1 };
	makeSlider(&rig, axis, 0.3, 2.0);
	fillRig(&rig, NULL, 0);
	knPgs_Solve(&rig.rows, 50, rig.blocks.u);
	double m = 3.0, k = 5000.0, c = 40.0;
	double expected = (2.0 - H * k * 0.2 / m) / (1.0 + H * c / m + H * H * k / m);
	assert_near(rig.blocks.u[1].lin.x, expected, 1e-12);
	freeRig(&rig);
}

static double sliderSpeedAfter(knJointAxis axis, double x, double v, double* work) {
	Rig rig;
	makeSlider(&rig, axis, x, v);
	fillRig(&rig, NULL, 0);
	knPgs_Solve(&rig.rows, 50, rig.blocks.u);
	knJointMemory memory[32];
	assert_true(knJointRows_MemoryCount(&rig.list) <= 32);
	*work = knJointRows_Collect(&rig.list, rig.model, &rig.blocks, &rig.rows, &rig.state, memory);
	*work += knStepBodies_DriveWork(&rig.blocks, &rig.state);
	double speed = rig.blocks.u[1].lin.x;
	freeRig(&rig);
	return speed;
}

static void test_friction_limits_and_motors(void** state) {
	(void)state;
	double work, m = 3.0;
	// dry friction takes h f / m off the speed and stops at zero
	knJointAxis friction = { .friction = 60.0 };
	assert_near(sliderSpeedAfter(friction, 0.0, 1.0, &work), 1.0 - H * 60.0 / m, 1e-13);
	assert_near(sliderSpeedAfter(friction, 0.0, -0.1, &work), 0.0, 1e-13);
	assert_near(work, 0.0, 0.0);

	// a limit lets the slider come up to it and no further; a violated one is the correction's business
	knJointAxis limits = { .limited = true, .lower = -1.0, .upper = 0.5 };
	assert_near(sliderSpeedAfter(limits, 0.496, 1.0, &work), 0.4, 1e-12);
	assert_near(sliderSpeedAfter(limits, 0.4, 1.0, &work), 1.0, 1e-13);
	assert_near(sliderSpeedAfter(limits, 0.5, -1.0, &work), -1.0, 1e-13);
	assert_near(sliderSpeedAfter(limits, -1.01, -1.0, &work), 0.0, 1e-12);

	// a motor reaches its speed if its force suffices, and its work is the kinetic energy it gave
	knJointAxis motor = { .motorMode = KN_MOTOR_VELOCITY, .motorTarget = 2.0, .motorMaxForce = 1e4 };
	assert_near(sliderSpeedAfter(motor, 0.0, 0.5, &work), 2.0, 1e-13);
	assert_near(work, 0.5 * m * (4.0 - 0.25), 1e-12);
	motor.motorMaxForce = 30.0;
	assert_near(sliderSpeedAfter(motor, 0.0, 0.5, &work), 0.5 + H * 30.0 / m, 1e-13);
	motor.motorMode = KN_MOTOR_FORCE;
	motor.motorTarget = -12.0;
	assert_near(sliderSpeedAfter(motor, 0.0, 0.5, &work), 0.5 - H * 12.0 / m, 1e-13);
	assert_near(work, 0.5 * m * (0.46 * 0.46 - 0.25), 1e-12);

	// a servo at its target stands still
	knJointAxis servo = { .motorMode = KN_MOTOR_POSITION, .motorTarget = 0.25, .motorMaxForce = 1e4 };
	assert_near(sliderSpeedAfter(servo, 0.25, 0.3, &work), 0.0, 1e-13);
	assert_true(sliderSpeedAfter(servo, 0.0, 0.0, &work) > 0.0);
	assert_true(sliderSpeedAfter(servo, 0.5, 0.0, &work) < 0.0);
}

// --- memories and reactions ------------------------------------------------------------------------------

// What was remembered starts the next solve where the last one ended, also for rows found anew (CUSTOM).
static void test_memories_return(void** state) {
	(void)state;
	knTestRandom random = { 25 };
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		Rig rig;
		knJointDef def = plainDef((knJointKind)kind, &random);
		if (kind != KN_JOINT_FIXED) {
			def.axis[0].friction = 0.5;
			def.axis[0].damping = 0.7;
		}
		makeRig(&rig, def, allowedFrame((knJointKind)kind, &random), false, &random);
		fillRig(&rig, NULL, 0);
		knPgs_Solve(&rig.rows, 1000, rig.blocks.u);
		double lambda[MAX_ROWS];
		for (int i = 0; i < rig.rows.count; ++i) {
			lambda[i] = rig.items[i].lambda;
		}
		knJointMemory memory[MAX_ROWS];
		int count = knJointRows_MemoryCount(&rig.list);
		assert_true(count <= MAX_ROWS);
		knJointRows_Collect(&rig.list, rig.model, &rig.blocks, &rig.rows, &rig.state, memory);
		fillRig(&rig, memory, count);
		for (int i = 0; i < rig.rows.count; ++i) {
			assert_near(rig.items[i].lambda, lambda[i], 1e-13);
		}

		// another joint in the same slot starts cold
		rig.state.joint[0].generation += 1;
		fillRig(&rig, memory, count);
		for (int i = 0; i < rig.rows.count; ++i) {
			assert_near(rig.items[i].lambda, 0.0, 0.0);
		}
		freeRig(&rig);
	}
}

// The reaction, at the anchor on the child, is what changed the child's momentum.
static void test_reaction_changes_momentum(void** state) {
	(void)state;
	knTestRandom random = { 26 };
	for (int kind = 0; kind < KN_JOINT_KIND_COUNT; ++kind) {
		Rig rig;
		knJointDef def = plainDef((knJointKind)kind, &random);
		if (kind != KN_JOINT_FIXED) {
			def.axis[0].motorMode = KN_MOTOR_FORCE;
			def.axis[0].motorTarget = 7.0;
			def.axis[0].friction = 2.0;
		}
		makeRig(&rig, def, allowedFrame((knJointKind)kind, &random), false, &random);
		knTwist before = rig.state.velocity[2];
		fillRig(&rig, NULL, 0);
		// the gyroscopic part of the mean velocity is not the joint's doing
		before.ang =
			knSub(rig.blocks.free[2].ang, knMulMV(&rig.blocks.invInertia[2], rig.blocks.drive[2].ang));
		knPgs_Solve(&rig.rows, 1000, rig.blocks.u);
		knJointMemory memory[MAX_ROWS];
		knJointRows_Collect(&rig.list, rig.model, &rig.blocks, &rig.rows, &rig.state, memory);
		knTwist reaction = rig.state.joint[0].reaction;
		knMat33 I = knRotateTensor(rig.state.pose[2].q, &rig.model->inertiaLocal[2]);
		knVec3 arm = knRotate(rig.state.pose[2].q, rig.model->joints[0].frameChild.p);
		knVec3 dp = knScale(3.0, knSub(rig.blocks.u[2].lin, before.lin));
		knVec3 dL = knMulMV(&I, knSub(rig.blocks.u[2].ang, before.ang));
		assert_near3(knScale(H, reaction.lin), dp, 1e-12);
		assert_near3(knScale(H, knAdd(reaction.ang, knCross(arm, reaction.lin))), dL, 1e-12);
		freeRig(&rig);
	}
}

static void test_disabled_joint_has_no_rows(void** state) {
	(void)state;
	knTestRandom random = { 27 };
	Rig rig;
	makeRig(&rig, plainDef(KN_JOINT_HINGE, &random), knIdentityF(), false, &random);
	rig.state.joint[0].enabled = 0;
	rig.state.joint[0].reaction.lin.x = 5.0;
	fillRig(&rig, NULL, 0);
	assert_int_equal(rig.rows.count, 0);
	assert_near3(rig.state.joint[0].reaction.lin, knZero3(), 0.0);
	freeRig(&rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locked_rows_of_all_kinds),
		cmocka_unit_test(test_solve_locks),
		cmocka_unit_test(test_errors_are_closed),
		cmocka_unit_test(test_limit_errors),
		cmocka_unit_test(test_spring_is_implicit_euler),
		cmocka_unit_test(test_friction_limits_and_motors),
		cmocka_unit_test(test_memories_return),
		cmocka_unit_test(test_reaction_changes_momentum),
		cmocka_unit_test(test_disabled_joint_has_no_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
