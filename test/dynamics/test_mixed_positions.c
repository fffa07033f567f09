// Closing what is torn: a straight rope of light links between two heavy loads, free in space, its middle joint open.
#include "world/fixture.h"

#include "dynamics/joint_equations.h"
#include "dynamics/mixed_positions.h"

#define LINKS 40
#define PITCH 0.05
#define LINK_MASS 0.01
#define LOAD_MASS 100.0
#define TENSION 1000.0 // N
#define H 0.01
#define CLOSED 1e-10 // m

typedef struct Rope {
	knAllocator allocator;
	knArena arena;
	knModel* model;
	knState state;
	knIslands islands;
	knMixedIslands mixed;
	knFrame pose[LINKS + 3]; // 0 the world, 1 .. LINKS the links, then the loads
	knMat33 stiffness[LINKS + 3];
} Rope;

static knBodyId addRod(knScene* scene, double x, double half, double thick, double mass) {
	knBodyDef def = knBodyDef_Default();
	def.frame.p = knV3(x, 0.0, 0.0);
	knBodyId body = knScene_AddBody(scene, &def, NULL);
	knShapeDef shape = knShapeDef_Default();
	shape.density = mass / (8.0 * half * thick * thick);
	knScene_AddBox(scene, body, knV3(half, thick, thick), &shape, NULL);
	return body;
}

static void addHinge(knScene* scene, knBodyId parent, knBodyId child, double x) {
	knJointDef hinge = knJointDef_Default(KN_JOINT_HINGE);
	assert_int_equal(
		knJointDef_At(&hinge, scene, parent, child, knV3(x, 0.0, 0.0), knV3(0.0, 1.0, 0.0), NULL), KN_OK);
	assert_false(KN_ID_IS_NULL(knScene_AddJoint(scene, &hinge, NULL)));
}

static void makeRope(Rope* rope) {
	memset(rope, 0, sizeof(*rope));
	rope->allocator = knAllocator_Default();
	knArena_Init(&rope->arena, &rope->allocator);
	knScene* scene = newScene(earth);
	knBodyId links[LINKS];
	for (int i = 0; i < LINKS; ++i) {
		links[i] = addRod(scene, (i + 0.5) * PITCH, 0.5 * PITCH, 0.01, LINK_MASS);
	}
	knBodyId left = addRod(scene, -0.15, 0.15, 0.15, LOAD_MASS);
	knBodyId right = addRod(scene, LINKS * PITCH + 0.15, 0.15, 0.15, LOAD_MASS);
	addHinge(scene, left, links[0], 0.0);
	for (int i = 1; i < LINKS; ++i) {
		addHinge(scene, links[i - 1], links[i], i * PITCH);
	}
	addHinge(scene, links[LINKS - 1], right, LINKS * PITCH);
	rope->model = knModel_Create(scene, NULL);
	knScene_Destroy(scene);
	assert_non_null(rope->model);
	assert_true(knState_Create(&rope->state, rope->model, "test", 0, &rope->allocator));
	knJointEdge edges[LINKS + 1];
	for (int j = 0; j <= LINKS; ++j) {
		const knJoint* joint = knState_Joint(&rope->state, rope->model, j);
		edges[j] = (knJointEdge){ joint->parent, joint->child };
	}
	assert_true(knIslands_Build(&rope->islands, LINKS + 3, rope->model->invMass, NULL, 0, edges, LINKS + 1,
								&rope->arena));
	const knMixedIslandsInput input = { .model = rope->model,
										.state = &rope->state,
										.islands = &rope->islands,
										.rowsOfJoint = KN_EQUATIONS_MAX_ROWS };
	assert_true(knMixedIslands_Build(&rope->mixed, &input, &rope->arena));
	assert_int_equal(rope->mixed.count, 1);
	memcpy(rope->pose, rope->state.pose, sizeof(rope->pose));
	for (int i = 1; i <= LINKS; ++i) {
		// a link under tension, turned: both its ends pull back by T PITCH/2 a radian, over a step
		const double k = 0.5 * H * H * TENSION * PITCH;
		rope->stiffness[i] = knDiagonal33(0.0, k, k);
		// links lie a little aslant, as they do in motion
		const double slant = i % 2 == 0 ? 0.01 : -0.01;
		rope->pose[i].q = knMulQ(knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), slant), rope->pose[i].q);
	}
}

static void freeRope(Rope* rope) {
	knState_Destroy(&rope->state, &rope->allocator);
	knModel_Release(rope->model);
	knArena_Free(&rope->arena);
}

static knMixedPositions closeRope(Rope* rope, bool loaded) {
	knMixedPositions problem = { .islands = &rope->mixed,
								 .model = rope->model,
								 .state = &rope->state,
								 .start = rope->state.pose,
								 .pose = rope->pose,
								 .stiffness = loaded ? rope->stiffness : NULL,
								 .gapTolerance = CLOSED };
	assert_true(knMixedPositions_Close(&problem, &rope->mixed.items[0], &rope->arena));
	return problem;
}

static knVec3 center(const Rope* rope) {
	knVec3 sum = knZero3();
	for (int b = 1; b < LINKS + 3; ++b) {
		sum = knMulAdd(sum, rope->model->mass[b], rope->pose[b].p);
	}
	return knScale(1.0 / (2.0 * LOAD_MASS + LINKS * LINK_MASS), sum);
}

// Half of the rope and its load pushed into the other half, as a step leaves it that has stretched: the links lie in each other, and
// would rather turn aside than move the loads.
static void test_a_taut_rope_closes(void** state) {
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		Rope rope;
		makeRope(&rope);
		for (int i = LINKS / 2 + 1; i <= LINKS; ++i) {
			rope.pose[i].p.x += sign * 1e-3;
		}
		rope.pose[LINKS + 2].p.x += sign * 1e-3;
		const knVec3 before = center(&rope);
		const knMixedPositions closed = closeRope(&rope, true);
		assert_true(closed.gap <= CLOSED);
		assert_true(closed.rounds <= 8);
		// nothing from without
		assert_near3(center(&rope), before, 1e-12);
		freeRope(&rope);
	}
}

// Without loads links turn aside, and that closes as well.
static void test_a_slack_rope_closes(void** state) {
	(void)state;
	Rope rope;
	makeRope(&rope);
	for (int i = LINKS / 2 + 1; i <= LINKS; ++i) {
		rope.pose[i].p.z += 1e-3;
	}
	assert_true(closeRope(&rope, false).gap <= CLOSED);
	freeRope(&rope);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_taut_rope_closes),
		cmocka_unit_test(test_a_slack_rope_closes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
