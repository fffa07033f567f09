// Joints with contact in one problem: a rod on a hinge whose other end rests on a point, lands there, or slides.
#include "world/fixture.h"

#include "dynamics/mixed_step.h"
#include "dynamics/mixed_velocities.h"

#define H (1.0 / 60.0)
#define LENGTH 2.0
#define HALF (0.5 * LENGTH)
#define G 9.81

// A rod along x, hinged about y at the origin; at its far end one point touches the world from above.
typedef struct Rig {
	knAllocator allocator;
	knArena arena;
	knModel* model;
	knState state;
	knContactRows contacts;
	knSweepPoint point;
	knContactAnchor anchor;
	knStepContact contact;
	knSweepChunk chunk;
	knIslands islands;
	knMixedIslands mixed;
	double lambda[KN_MIXED_JOINT_ROWS];
	knFrame pose[2];
	knTwist velocity[2], reactions[1];
	double mass;
} Rig;

static void makeRig(Rig* rig, double gap, double mu) {
	memset(rig, 0, sizeof(*rig));
	rig->allocator = knAllocator_Default();
	knArena_Init(&rig->arena, &rig->allocator);
	knScene* scene = newScene(earth);
	knBodyDef def = knBodyDef_Default();
	def.frame.p = knV3(HALF, 0.0, 0.0);
	knBodyId rod = knScene_AddBody(scene, &def, NULL);
	knShapeDef shape = knShapeDef_Default();
	knScene_AddBox(scene, rod, knV3(HALF, 0.05, 0.05), &shape, NULL);
	knJointDef hinge = knJointDef_Default(KN_JOINT_HINGE);
	assert_int_equal(knJointDef_At(&hinge, scene, (knBodyId){ 0 }, rod, knZero3(), knV3(0.0, 1.0, 0.0), NULL),
					 KN_OK);
	knScene_AddJoint(scene, &hinge, NULL);
	rig->model = knModel_Create(scene, NULL);
	knScene_Destroy(scene);
	assert_non_null(rig->model);
	assert_true(knState_Create(&rig->state, rig->model, "test", 0, &rig->allocator));
	rig->mass = rig->model->mass[1];
	rig->anchor = (knContactAnchor){
		.onA = knV3(LENGTH, 0.0, -gap), .onB = knV3(HALF, 0.0, 0.0), .bodyA = 0, .bodyB = 1, .remembered = -1
	};
	rig->point = (knSweepPoint){ .n = { 0.0, 0.0, 1.0 },
								 .t1 = { 1.0, 0.0, 0.0 },
								 .t2 = { 0.0, 1.0, 0.0 },
								 .rA = { LENGTH, 0.0, -gap },
								 .rB = { HALF, 0.0, 0.0 },
								 .depth = gap,
								 .mu = mu };
	rig->chunk = (knSweepChunk){ .a = 0, .b = 1, .first = 0, .count = 1 };
	rig->contacts = (knContactRows){ .contacts = &rig->contact,
									 .count = 1,
									 .points = &rig->point,
									 .anchors = &rig->anchor,
									 .pointCount = 1,
									 .chunks = &rig->chunk,
									 .chunkCount = 1 };
	const knJointEdge edge = { 0, 1 };
	assert_true(
		knIslands_Build(&rig->islands, 2, rig->model->invMass, &rig->chunk, 1, &edge, 1, &rig->arena));
}

static knMixedStepResult step(Rig* rig) {
	knMixedIslandsInput input = { .model = rig->model,
								  .state = &rig->state,
								  .islands = &rig->islands,
								  .contacts = &rig->contacts,
								  .rowsOfJoint = KN_MIXED_JOINT_ROWS };
	assert_true(knMixedIslands_Build(&rig->mixed, &input, &rig->arena));
	assert_int_equal(rig->mixed.count, 1);
	for (int b = 0; b < 2; ++b) {
		rig->pose[b] = rig->state.pose[b];
		rig->velocity[b] = rig->state.velocity[b];
	}
	knMixedStepInput in = { .model = rig->model,
							.state = &rig->state,
							.islands = &rig->mixed,
							.h = H,
							.contacts = &rig->contacts,
							.lambda = rig->lambda,
							.pose = rig->pose,
							.velocity = rig->velocity,
							.reactions = rig->reactions };
	knMixedStepResult result;
	assert_true(knMixedStep_Run(&in, &rig->mixed.items[0], &result, &rig->arena));
	return result;
}

static void freeRig(Rig* rig) {
	knState_Destroy(&rig->state, &rig->allocator);
	knModel_Release(rig->model);
	knArena_Free(&rig->arena);
}

static double energyOf(const Rig* rig) {
	const knTwist v = rig->velocity[1];
	knVec3 w = knInvRotate(rig->pose[1].q, v.ang);
	return 0.5 * (rig->mass * knLengthSquared(v.lin) + knDot(w, knMulMV(&rig->model->inertiaLocal[1], w))) +
		   rig->mass * G * rig->pose[1].p.z;
}

// The rod with a speed at its end, settled while the point has carried an impulse.
static knPointTask settle(Rig* rig, knVec3 speed, double carried) {
	knMixedIslandsInput input = { .model = rig->model,
								  .state = &rig->state,
								  .islands = &rig->islands,
								  .contacts = &rig->contacts,
								  .rowsOfJoint = KN_MIXED_JOINT_ROWS };
	assert_true(knMixedIslands_Build(&rig->mixed, &input, &rig->arena));
	rig->pose[0] = rig->state.pose[0];
	rig->pose[1] = rig->state.pose[1];
	rig->velocity[0] = knZeroTwist();
	rig->velocity[1] = knMakeTwist(knV3(0.0, -speed.z / LENGTH, 0.0), knScale(0.5, speed));
	knPointTask task = { .takesPart = true, .least = -carried, .radius = 0.5 * carried };
	knMixedVelocities problem = { .islands = &rig->mixed,
								  .model = rig->model,
								  .state = &rig->state,
								  .pose = rig->pose,
								  .contacts = &rig->contacts,
								  .tasks = &task,
								  .velocity = rig->velocity };
	const double before = energyOf(rig);
	assert_true(knMixedVelocities_ListJoints(&problem, &rig->mixed.items[0], H, &rig->arena));
	assert_true(knMixedVelocities_Settle(&problem, &rig->mixed.items[0], &rig->arena));
	assert_near(problem.taken, before - energyOf(rig), 1e-9);
	assert_true(problem.taken >= 0.0);
	return task;
}

// What approaches a loaded point is stopped; what leaves it may take back what the point has carried, and no more. The hinge
// holds all the same.
static void test_settling_stops_and_does_not_pull(void** state) {
	(void)state;
	Rig rig;
	makeRig(&rig, 0.0, 0.5);
	const double inertia = rig.model->inertiaLocal[1].cy.y + rig.mass * HALF * HALF, speed = 0.3;
	const double whole = inertia * speed / (LENGTH * LENGTH); // stops the end
	knPointTask task = settle(&rig, knV3(0.0, 0.0, -speed), whole);
	assert_near(task.impulse[0], whole, 1e-6 * whole);
	assert_near(knLength(rig.velocity[1].ang), 0.0, 1e-6 * speed);
	task = settle(&rig, knV3(0.0, 0.0, speed), 2.0 * whole);
	assert_near(task.impulse[0], -whole, 1e-6 * whole);
	task = settle(&rig, knV3(0.0, 0.0, speed), 0.25 * whole);
	assert_near(task.impulse[0], -0.25 * whole, 1e-12 * whole);
	assert_near(rig.velocity[1].ang.y, -0.75 * speed / LENGTH, 1e-6 * speed);
	assert_near(rig.velocity[1].lin.z, 0.375 * speed, 1e-6 * speed);
	freeRig(&rig);
}

// Hinge and point carry half of the weight each, and nothing moves.
static void test_a_rod_at_rest_stays_and_shares_its_weight(void** state) {
	(void)state;
	Rig rig;
	makeRig(&rig, 0.0, 0.5);
	knMixedStepResult result = step(&rig);
	assert_int_equal(result.rung, KN_RUNG_NEWTON);
	// within a thousandth of a step's fall: the next step takes the rest
	assert_near(rig.point.lambda[0], 0.5 * rig.mass * G * H, 5e-4 * rig.mass * G * H);
	assert_near(rig.reactions[0].lin.z, 0.5 * rig.mass * G * H, 5e-4 * rig.mass * G * H);
	assert_near(knLength(rig.velocity[1].lin), 0.0, 1e-3 * G * H);
	assert_near(knDistance(rig.pose[1].p, rig.state.pose[1].p), 0.0, 1e-3 * G * H * H);
	freeRig(&rig);
}

// Above the point it falls like a pendulum: the angle of the first step is that of the angular acceleration 3 g/(2 l).
static void test_a_rod_above_the_point_falls(void** state) {
	(void)state;
	Rig rig;
	makeRig(&rig, 0.1, 0.5);
	knMixedStepResult result = step(&rig);
	assert_int_equal(result.rung, KN_RUNG_NEWTON);
	assert_near(rig.point.lambda[0], 0.0, 0.0);
	const double I = rig.model->inertiaLocal[1].cy.y + rig.mass * HALF * HALF,
				 alpha = rig.mass * G * HALF / I;
	assert_near(-rig.pose[1].p.z, 0.5 * alpha * H * H * HALF, 1e-7);
	assert_near(energyOf(&rig), 0.0, 1e-7 * rig.mass * G);
	freeRig(&rig);
}

// It lands on the point at the end of the step, and no energy comes from that.
static void test_a_falling_rod_lands(void** state) {
	(void)state;
	Rig rig;
	const double gap = 0.01, w = 3.0;
	makeRig(&rig, gap, 0.0);
	rig.state.velocity[1] = knMakeTwist(knV3(0.0, w, 0.0), knV3(0.0, 0.0, -w * HALF));
	const double before = 0.5 * (rig.model->inertiaLocal[1].cy.y + rig.mass * HALF * HALF) * w * w;
	knMixedStepResult result = step(&rig);
	assert_int_equal(result.rung, KN_RUNG_NEWTON);
	const double end = rig.pose[1].p.z + knRotate(rig.pose[1].q, knV3(HALF, 0.0, 0.0)).z;
	assert_near(end, -gap, 1e-5);
	assert_true(energyOf(&rig) <= before);
	assert_true(result.taken > 0.0);
	freeRig(&rig);
}

// A hinge that is open by a millimetre at the start is closed without any speed.
static void test_a_torn_joint_closes_without_speed(void** state) {
	(void)state;
	Rig rig;
	makeRig(&rig, 0.5, 0.0);
	rig.state.header->gravity = knZero3();
	rig.state.pose[1].p.x += 1e-3;
	knMixedStepResult result = step(&rig);
	assert_int_equal(result.rung, KN_RUNG_NEWTON);
	assert_near(rig.pose[1].p.x, HALF, 1e-6);
	assert_near(knLength(rig.velocity[1].lin), 0.0, 1e-9);
	freeRig(&rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settling_stops_and_does_not_pull),
		cmocka_unit_test(test_a_rod_at_rest_stays_and_shares_its_weight),
		cmocka_unit_test(test_a_rod_above_the_point_falls),
		cmocka_unit_test(test_a_falling_rod_lands),
		cmocka_unit_test(test_a_torn_joint_closes_without_speed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
