// Contact rows: points, bounce, gaps, tangents, memories, the order of points, depths.
#include "world/fixture.h"

#include "dynamics/contact_rows.h"

#define H 0.01

// Two free balls of radius 0.5 that touch at the origin, A below and B above, and their rows in a step.
typedef struct Pair {
	knModel* model;
	knState state;
	knStepBodies blocks;
	knContactPoint point;
	knContactPair pair;
	knContactSet set;
	knArena arena;
	knAllocator allocator;
	knContactRows list;
	knRowInput input;
} Pair;

static void makePair(Pair* pair, double friction, double restitution, bool sensor) {
	memset(pair, 0, sizeof(*pair));
	pair->allocator = knAllocator_Default();
	knScene* scene = newScene(earth);
	knShapeDef shape = material(friction, restitution);
	newBall(scene, knV3(0.0, 0.0, -0.5), 0.5, knZero3(), shape);
	shape.sensor = sensor;
	knBodyId upper = newBall(scene, knV3(0.0, 0.0, 0.5), 0.5, knZero3(), shape);
	if (sensor) {
		knBodyDef* def = knScene_EditBody(scene, upper);
		def->hasMass = true;
		def->mass = (knMassProps){ .mass = 1.0, .inertia = knDiagonal33(1.0, 1.0, 1.0) };
	}
	pair->model = knModel_Create(scene, NULL);
	knScene_Destroy(scene);
	assert_non_null(pair->model);
	assert_true(knState_Create(&pair->state, pair->model, "test", 0, &pair->allocator));
	knArena_Init(&pair->arena, &pair->allocator);
	pair->point = (knContactPoint){ .normal = knV3(0.0, 0.0, 1.0), .feature = 5 };
	pair->pair =
		(knContactPair){ .shapeA = 0, .shapeB = 1, .frameA = 1, .frameB = 2, .first = 0, .count = 1 };
	pair->set =
		(knContactSet){ .pairCount = 1, .pairs = &pair->pair, .pointCount = 1, .points = &pair->point };
}

static void freePair(Pair* pair) {
	knState_Destroy(&pair->state, &pair->allocator);
	knArena_Free(&pair->arena);
	knModel_Release(pair->model);
}

// Rows of the contact with B moving at `velocity` before forces.
static void fillPair(Pair* pair, knVec3 velocity, double gap, const knContactMemory* memory,
					 int memoryCount) {
	knTasks tasks = { 0 };
	pair->state.velocity[2].lin = velocity;
	pair->point.separation = gap;
	pair->point.pointB = knV3(0.0, 0.0, gap);
	knArena_Clear(&pair->arena);
	assert_true(knStepBodies_Begin(&pair->blocks, pair->model, &pair->state, H, NULL, &tasks, &pair->arena));
	pair->input = (knRowInput){ .bounceRows = true,
								.model = pair->model,
								.state = &pair->state,
								.blocks = &pair->blocks,
								.impulseScale = 1.0 };
	assert_true(knContactRows_List(&pair->list, &pair->input, &pair->set, memory, memoryCount, &pair->arena));
	knContactRows_Fill(&pair->list, &pair->input, memory);
}

// One sweep over the contact.
static void solvePair(Pair* pair) {
	knSweepSet set;
	knSweepBlocks blocks = { .count = 3,
							 .invMass = pair->blocks.invMass,
							 .invInertia = pair->blocks.invInertia };
	assert_true(knSweepSet_Build(&set, pair->list.chunks, pair->list.chunkCount, 1, pair->list.points,
								 &blocks, KN_SWEEP_CONE, NULL, &pair->arena));
	knSweepOptions options = { .sweeps = 1, .omega = 1.0 };
	knSweep_Velocities(&set, 0, &options, pair->blocks.u);
}

static double relativeNormal(const Pair* pair) {
	return pair->blocks.u[2].lin.z - pair->blocks.u[1].lin.z;
}

// --- rows ------------------------------------------------------------------------------------------------

static void test_points_have_one_place(void** state) {
	(void)state;
	Pair pair;
	makePair(&pair, 0.5, 0.0, false);
	fillPair(&pair, knV3(3.0, 4.0, -1.0), 0.0, NULL, 0);
	const knSweepPoint* point = &pair.list.points[0];
	// seen from both centres it is the same place: impulses act on one line
	knVec3 fromA = knAdd(pair.state.pose[1].p, point->rA), fromB = knAdd(pair.state.pose[2].p, point->rB);
	assert_near3(fromA, knZero3(), 1e-16);
	assert_near3(fromB, knZero3(), 1e-16);
	assert_near3(point->n, knV3(0.0, 0.0, 1.0), 0.0);
	assert_near3(point->t2, knCross(point->n, point->t1), 1e-15);
	assert_near(knLength(point->t1), 1.0, 1e-15);
	assert_near(point->mu, 0.5, 1e-15);
	assert_int_equal(pair.list.rowCount, 3);

	// tangents may be asked to follow the sliding
	pair.input.alignTangents = true;
	knContactRows_Fill(&pair.list, &pair.input, NULL);
	assert_near3(point->t1, knV3(0.6, 0.8, 0.0), 1e-15);
	freePair(&pair);
}

static void test_tangents_at_rest_are_fixed(void** state) {
	(void)state;
	Pair pair;
	makePair(&pair, 0.5, 0.0, false);
	fillPair(&pair, knV3(1e-7, 0.0, 0.0), 0.0, NULL, 0);
	knVec3 first = pair.list.points[0].t1;
	fillPair(&pair, knV3(0.0, -1e-7, 0.0), 0.0, NULL, 0);
	assert_near3(pair.list.points[0].t1, first, 0.0);
	assert_near(knDot(first, pair.point.normal), 0.0, 1e-15);
	freePair(&pair);
}

// --- bounce, gap, overlap --------------------------------------------------------------------------------

// Gravity acts on both balls alike, so the relative normal velocity after the solve is what the row decides.
static double bounceOf(double restitution, double approach, double gap) {
	Pair pair;
	makePair(&pair, 0.0, restitution, false);
	fillPair(&pair, knV3(0.0, 0.0, -approach), gap, NULL, 0);
	solvePair(&pair);
	double after = relativeNormal(&pair);
	freePair(&pair);
	return after;
}

// The sign trap of the published form: with it the ball would go on at -0.5.
static void test_bounce_sign(void** state) {
	(void)state;
	assert_near(bounceOf(0.5, 1.0, 0.0), 0.5, 1e-14);
	assert_near(bounceOf(1.0, 1.0, -1e-5), 1.0, 1e-14);
	assert_near(bounceOf(0.0, 1.0, 0.0), 0.0, 1e-14);
}

// 2 g h = 0.1962 m/s
static void test_bounce_threshold(void** state) {
	(void)state;
	assert_near(bounceOf(0.5, 0.19, 0.0), 0.0, 1e-14);
	assert_near(bounceOf(0.5, 0.20, 0.0), 0.1, 1e-14);
}

// What a contact that carried load lets through of an approach with 1 m/s.
static double loadedGap(double gap) {
	Pair pair;
	makePair(&pair, 0.0, 0.0, false);
	knContactMemory memory = { .shapeB = 1, .feature = 5, .normal = 1e-12 };
	fillPair(&pair, knV3(0.0, 0.0, -1.0), gap, &memory, 1);
	solvePair(&pair);
	double after = relativeNormal(&pair);
	freePair(&pair);
	return after;
}

static void test_gap_may_close_but_no_more(void** state) {
	(void)state;
	assert_near(bounceOf(0.0, 1.0, 0.004), -0.4, 1e-13); // stops exactly at the surface
	assert_near(bounceOf(0.0, 1.0, 0.02), -1.0, 1e-14);  // out of reach: untouched
	assert_near(bounceOf(0.5, 1.0, 0.004), 0.5, 1e-14);  // within reach: bounces in this step
	assert_near(bounceOf(0.5, 1.0, 0.02), -1.0, 1e-14);  // out of reach: does not bounce yet
	assert_near(bounceOf(0.0, 1.0, 5e-5), -5e-3, 1e-13); // lands exactly at the surface
	assert_near(loadedGap(5e-5), -0.5 * 5e-3, 1e-13);    // under load, half of 0.1 mm: closes half as far
	assert_near(loadedGap(2e-8), 0.0, 1e-9);             // still less: as good as touching
	assert_near(bounceOf(0.0, -2.0, 0.0), 2.0, 1e-14);   // separating: no pull
}

// An overlap is left to the correction: it asks for no speed.
static void test_overlap_makes_no_speed(void** state) {
	(void)state;
	assert_near(bounceOf(0.0, 0.0, -3e-3), 0.0, 1e-14);
	assert_near(bounceOf(0.0, 1.0, -0.2), 0.0, 1e-14);
	assert_near(bounceOf(0.5, 2.0, -3e-3), 1.0, 1e-14);
}

// Depths follow the places on the two bodies: B rises by 1 mm and turns about its centre, which moves its lowest place
// aside and up by r (1 - cos).
static void test_depths_follow_the_bodies(void** state) {
	(void)state;
	Pair pair;
	makePair(&pair, 0.5, 0.0, false);
	fillPair(&pair, knZero3(), 0.0, NULL, 0);
	knFrame start[3], now[3];
	knQuat turns[3];
	for (int b = 0; b < 3; ++b) {
		start[b] = now[b] = pair.state.pose[b];
	}
	now[2].p.z += 1e-3;
	now[2].q = knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.1);
	knTasks tasks = { 0 };
	knContactRows_Depths(&pair.list, start, now, 3, turns, &tasks);
	assert_near(pair.list.points[0].depth, 1e-3 + 0.5 * (1.0 - knCos(0.1)), 1e-15);
	freePair(&pair);
}

// Four corners of a face: whatever the order of features, the second point visited is across from the first.
static void test_points_are_visited_across(void** state) {
	(void)state;
	Pair pair;
	makePair(&pair, 0.5, 0.0, false);
	const double x[4] = { 0.1, 0.1, -0.1, -0.1 }, y[4] = { 0.2, -0.2, -0.2, 0.2 };
	const int orders[3][4] = { { 0, 1, 2, 3 }, { 1, 0, 3, 2 }, { 0, 2, 1, 3 } };
	for (int n = 0; n < 3; ++n) {
		knContactPoint points[4];
		for (int i = 0; i < 4; ++i) {
			points[i] = pair.point;
			points[i].pointA = points[i].pointB = knV3(x[orders[n][i]], y[orders[n][i]], 0.0);
			points[i].feature = (uint64_t)i;
		}
		pair.pair.count = pair.set.pointCount = 4;
		pair.set.points = points;
		pair.input = (knRowInput){ .model = pair.model, .state = &pair.state, .blocks = &pair.blocks };
		assert_true(knContactRows_List(&pair.list, &pair.input, &pair.set, NULL, 0, &pair.arena));
		assert_int_equal(pair.list.chunkCount, 1);
		const knContactAnchor* anchors = pair.list.anchors;
		for (int i = 0; i < 4; i += 2) {
			knVec3 a = points[anchors[i].contact].pointA, b = points[anchors[i + 1].contact].pointA;
			assert_near3(knAdd(a, b), knZero3(), 1e-15);
		}
	}
	freePair(&pair);
}

// --- memories --------------------------------------------------------------------------------------------

static void test_memories_return(void** state) {
	(void)state;
	Pair pair;
	makePair(&pair, 0.5, 0.0, false);
	knContactMemory memory[3] = {
		{ .shapeA = 0, .shapeB = 0, .feature = 5, .normal = 100.0 },
		{ .shapeA = 0, .shapeB = 1, .feature = 5, .normal = 2.0, .friction = { 0.3, -0.4, 0.0 } },
		{ .shapeA = 0, .shapeB = 2, .feature = 5, .normal = 100.0 },
	};
	fillPair(&pair, knV3(1.0, 0.0, 0.0), 0.0, memory, 3);
	const knSweepPoint* point = &pair.list.points[0];
	assert_near(point->lambda[0], 2.0, 1e-15);
	assert_near3(knAdd(knScale(point->lambda[1], point->t1), knScale(point->lambda[2], point->t2)),
				 knV3(0.3, -0.4, 0.0), 1e-15);

	// what the solve left goes out as the impulse on B and as the next memory
	knContactMemory next[3];
	knContactRows_Collect(&pair.list, &pair.input, next);
	assert_near3(pair.list.contacts[0].impulse, knV3(0.3, -0.4, 2.0), 1e-15);
	assert_near3(next[0].friction, knV3(0.3, -0.4, 0.0), 1e-15);
	assert_true(next[0].shapeA == 0 && next[0].shapeB == 1 && next[0].feature == 5);
	freePair(&pair);
}

static void test_points_are_sorted_by_feature(void** state) {
	(void)state;
	Pair pair;
	makePair(&pair, 0.5, 0.0, false);
	knContactPoint points[4];
	const uint64_t features[4] = { 9, 2, 7, 3 };
	for (int i = 0; i < 4; ++i) {
		points[i] = pair.point;
		points[i].feature = features[i];
	}
	pair.pair.count = pair.set.pointCount = 4;
	pair.set.points = points;
	knContactMemory memory[2] = { { .shapeB = 1, .feature = 3 }, { .shapeB = 1, .feature = 7 } };
	pair.input = (knRowInput){ .model = pair.model, .state = &pair.state, .blocks = &pair.blocks };
	for (int i = 0; i < 2; ++i) {
		memory[i].place = knV3(9.0, 9.0, 9.0); // elsewhere: the feature alone decides
	}
	assert_true(knContactRows_List(&pair.list, &pair.input, &pair.set, memory, 2, &pair.arena));
	const uint64_t sorted[4] = { 2, 3, 7, 9 };
	const int remembered[4] = { -1, 0, 1, -1 };
	for (int i = 0; i < 4; ++i) {
		assert_true(pair.list.contacts[i].point.feature == sorted[i]);
	}
	assert_int_equal(pair.list.rowCount, 12);
	for (int i = 0; i < 4; ++i) {
		assert_int_equal(pair.list.anchors[i].remembered, remembered[pair.list.anchors[i].contact]);
	}
	freePair(&pair);
}

// All features renamed (the face became the other body's to name), but the points where they were.
static void test_places_return_when_features_change(void** state) {
	(void)state;
	Pair pair;
	makePair(&pair, 0.5, 0.0, false);
	knContactPoint points[2];
	knContactMemory memory[3] = { 0 };
	for (int i = 0; i < 2; ++i) {
		points[i] = pair.point;
		points[i].pointA = points[i].pointB = knV3(0.3 - 0.6 * i, 0.0, 0.0);
		points[i].feature = (uint64_t)(100 + i);
		// seen from the centre of A, which is half a metre below; in the other order, and a little aside
		memory[1 - i] = (knContactMemory){ .shapeB = 1, .feature = (uint64_t)i, .normal = 1.0 + i };
		memory[1 - i].place = knV3(0.3 - 0.6 * i + 0.01, 0.0, 0.5);
	}
	memory[2] = (knContactMemory){ .shapeB = 1, .feature = 7, .normal = 9.0, .place = { 0.3, 0.1, 0.5 } };
	pair.pair.count = pair.set.pointCount = 2;
	pair.set.points = points;
	pair.input = (knRowInput){ .model = pair.model, .state = &pair.state, .blocks = &pair.blocks };
	assert_true(knContactRows_List(&pair.list, &pair.input, &pair.set, memory, 3, &pair.arena));
	assert_int_equal(pair.list.anchors[0].remembered, 1);
	assert_int_equal(pair.list.anchors[1].remembered, 0);

	// too far away counts as new, and no memory serves twice
	memory[0].place = memory[1].place = memory[2].place = knV3(0.3, 0.0, 0.45);
	assert_true(knContactRows_List(&pair.list, &pair.input, &pair.set, memory, 3, &pair.arena));
	assert_int_equal(pair.list.anchors[0].remembered, -1);
	memory[0].place = knV3(0.3, 0.0, 0.5);
	points[1].pointA = points[1].pointB = points[0].pointA;
	assert_true(knContactRows_List(&pair.list, &pair.input, &pair.set, memory, 3, &pair.arena));
	assert_int_equal(pair.list.anchors[0].remembered, 0);
	assert_int_equal(pair.list.anchors[1].remembered, -1);
	freePair(&pair);
}

// A corner of the manifold is gone, another is new: the points that there are carry the same force and moment, and none
// pulls. In the second case the point across from the one that is gone carries too little to give.
static void test_points_inherit_what_others_carried(void** state) {
	(void)state;
	const double x[4] = { 0.3, -0.3, -0.3, 0.2 }, y[4] = { 0.3, 0.3, -0.3, -0.3 };
	for (int n = 0; n < 2; ++n) {
		Pair pair;
		makePair(&pair, 0.5, 0.0, false);
		knContactPoint points[4];
		knContactMemory memory[4] = { 0 };
		double force = 0.0;
		knVec3 moment = knZero3(), friction = knZero3();
		for (int i = 0; i < 4; ++i) {
			points[i] = pair.point;
			points[i].pointA = points[i].pointB = knV3(x[i], y[i], 0.0);
			points[i].feature = (uint64_t)i;
			// the last one has been at another corner, under another name
			memory[i] = (knContactMemory){ .shapeB = 1, .feature = (uint64_t)(i < 3 ? i : 9) };
			memory[i].place = i < 3 ? knV3(x[i], y[i], 0.5) : knV3(0.4, 0.1, 0.5);
			memory[i].normal = n == 1 && i == 1 ? 0.05 : 2.0 + i;
			memory[i].friction = knV3(0.1 * i, 0.2, 0.0);
			force += memory[i].normal;
			moment = knMulAdd(moment, memory[i].normal, memory[i].place);
			friction = knAdd(friction, memory[i].friction);
		}
		pair.pair.count = pair.set.pointCount = 4;
		pair.set.points = points;
		fillPair(&pair, knZero3(), 0.0, memory, 4);
		for (int k = 0; k < 4; ++k) {
			const knSweepPoint* point = &pair.list.points[k];
			knVec3 place = points[pair.list.anchors[k].contact].pointA;
			assert_true(point->lambda[0] >= 0.0);
			force -= point->lambda[0];
			moment = knMulAdd(moment, -point->lambda[0], knV3(place.x, place.y, 0.5));
			friction = knMulAdd(friction, -point->lambda[1], point->t1);
			friction = knMulAdd(friction, -point->lambda[2], point->t2);
		}
		assert_near(force, 0.0, 1e-12);
		assert_near3(moment, knZero3(), 1e-5);
		assert_near3(friction, knZero3(), 1e-12);
		freePair(&pair);
	}
}

static void test_sensors_have_no_rows(void** state) {
	(void)state;
	Pair pair;
	makePair(&pair, 0.5, 0.0, true);
	fillPair(&pair, knV3(0.0, 0.0, -1.0), -0.1, NULL, 0);
	assert_int_equal(pair.list.count, 1);
	assert_int_equal(pair.list.pointCount, 0);
	assert_int_equal(pair.list.rowCount, 0);
	freePair(&pair);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points_have_one_place),
		cmocka_unit_test(test_tangents_at_rest_are_fixed),
		cmocka_unit_test(test_bounce_sign),
		cmocka_unit_test(test_bounce_threshold),
		cmocka_unit_test(test_gap_may_close_but_no_more),
		cmocka_unit_test(test_overlap_makes_no_speed),
		cmocka_unit_test(test_depths_follow_the_bodies),
		cmocka_unit_test(test_points_are_visited_across),
		cmocka_unit_test(test_memories_return),
		cmocka_unit_test(test_points_are_sorted_by_feature),
		cmocka_unit_test(test_places_return_when_features_change),
		cmocka_unit_test(test_points_inherit_what_others_carried),
		cmocka_unit_test(test_sensors_have_no_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
