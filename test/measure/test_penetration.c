// Penetration against closed forms: spheres, boxes pushed into each other by a known depth, a brute-force
// swarm; and who does not count.
#include "measure_test.h"

static knFrame at(double x, double y, double z) {
	return knMakeFrame(knV3(x, y, z), knIdentityQ());
}

static knBodyId addBody(knScene* scene, knBodyKind kind) {
	knBodyDef def = knBodyDef_Default();
	def.kind = kind;
	knBodyId body = knScene_AddBody(scene, &def, NULL);
	assert_false(KN_ID_IS_NULL(body));
	return body;
}

static knBodyId addBall(knScene* scene, double radius, const knShapeDef* def) {
	knBodyId body = addBody(scene, KN_BODY_DYNAMIC);
	assert_false(KN_ID_IS_NULL(knScene_AddSphere(scene, body, radius, def, NULL)));
	return body;
}

static knPenetration measure(const knTestSystem* system) {
	knPenetration result;
	knError error = { 0 };
	knStatus status =
		knMeasure_Penetration(system->model, &system->state, &system->allocator, NULL, &result, &error);
	if (status != KN_OK) {
		fail_msg("%s: %s", error.element, error.message);
	}
	return result;
}

static void assertNone(const knTestSystem* system) {
	knPenetration result = measure(system);
	assert_int_equal(result.pairs, 0);
	assert_true(result.max == 0.0 && result.mean == 0.0);
	assert_true(KN_ID_IS_NULL(result.shapeA) && KN_ID_IS_NULL(result.shapeB));
}

static void ballsOverlapByRadiiLessDistance(void** state) {
	(void)state;
	knScene* scene = testScene(0);
	knBodyId a = addBall(scene, 0.5, NULL), b = addBall(scene, 0.25, NULL);
	knTestSystem system = testCompile(scene);
	knTestRandom random = { 1 };
	const double depths[] = { 1e-6, 0.01, 0.2, 0.6 };
	for (int k = 0; k < 4; ++k) {
		knVec3 p = testVec3(&random, 3.0);
		testPlace(&system, a, knMakeFrame(p, testQuat(&random)));
		testPlace(&system, b,
				  knMakeFrame(knMulAdd(p, 0.75 - depths[k], testUnit3(&random)), testQuat(&random)));
		knPenetration result = measure(&system);
		assert_int_equal(result.pairs, 1);
		assert_near(result.max, depths[k], 1e-14);
		assert_near(result.mean, depths[k], 1e-14);
		assert_false(KN_ID_IS_NULL(result.shapeA) || KN_ID_IS_NULL(result.shapeB));
	}
	testPlace(&system, b, at(50.0, 0.0, 0.0));
	assertNone(&system);
	testSystemFree(&system);
}

// Face on face, turned together in any direction; and a corner in a face.
static void boxesOverlapByTheDepthPushed(void** state) {
	(void)state;
	knScene* scene = testScene(0);
	knBodyId a = addBody(scene, KN_BODY_DYNAMIC), b = addBody(scene, KN_BODY_DYNAMIC);
	knVec3 halfA = { 0.5, 2.0, 2.0 }, halfB = { 0.3, 0.4, 0.5 };
	assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, a, halfA, NULL, NULL)));
	assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, b, halfB, NULL, NULL)));
	knTestSystem system = testCompile(scene);
	knTestRandom random = { 2 };
	const double depths[] = { 1e-6, 1e-3, 0.1 };
	for (int k = 0; k < 60; ++k) {
		knFrame place = testFrame(&random, 3.0);
		knQuat turn = k % 2 == 0 ? knIdentityQ() : testQuat(&random);
		// how far b reaches against x
		double reach = 0.0;
		for (int i = 0; i < 3; ++i) {
			knVec3 axis = knZero3();
			knSetComponent(&axis, i, knComponent(halfB, i));
			reach += fabs(knRotate(turn, axis).x);
		}
		double depth = depths[k % 3], y = testUniform(&random, -0.5, 0.5),
			   z = testUniform(&random, -0.5, 0.5);
		testPlace(&system, a, place);
		testPlace(&system, b, knMulF(place, knMakeFrame(knV3(halfA.x + reach - depth, y, z), turn)));
		knPenetration result = measure(&system);
		assert_int_equal(result.pairs, 1);
		assert_near(result.max, depth, 1e-13);
	}
	testSystemFree(&system);
}

static void groundIsEnteredByHeightBelowIt(void** state) {
	(void)state;
	knScene* scene = testScene(0);
	assert_false(KN_ID_IS_NULL(knScene_AddPlane(scene, KN_WORLD_BODY, NULL, NULL)));
	knBodyId ball = addBall(scene, 0.5, NULL);
	knBodyId rod = addBody(scene, KN_BODY_DYNAMIC);
	assert_false(KN_ID_IS_NULL(knScene_AddCapsule(scene, rod, 0.1, 1.0, NULL, NULL)));
	knTestSystem system = testCompile(scene);
	testPlace(&system, ball, at(0.0, 0.0, 0.47));
	// upright: its lower cap ends 1.1 below its centre
	testPlace(&system, rod, at(5.0, 0.0, 1.09));
	knPenetration result = measure(&system);
	assert_int_equal(result.pairs, 2);
	assert_near(result.max, 0.03, 1e-15);
	assert_near(result.mean, 0.02, 1e-15);

	testPlace(&system, ball, at(0.0, 0.0, 0.5 + 1e-9));
	testPlace(&system, rod, at(5.0, 0.0, 1.1 + 1e-9));
	assertNone(&system);
	testSystemFree(&system);
}

// Every pair of a crowd of balls, by hand.
static void crowdAgreesWithBruteForce(void** state) {
	(void)state;
	enum { BALLS = 80 };
	knScene* scene = testScene(0);
	knTestRandom random = { 3 };
	knBodyId body[BALLS];
	double radius[BALLS];
	knVec3 center[BALLS];
	for (int b = 0; b < BALLS; ++b) {
		radius[b] = testUniform(&random, 0.2, 0.6);
		body[b] = addBall(scene, radius[b], NULL);
	}
	knTestSystem system = testCompile(scene);
	knTaskPool* pool = knTaskPool_Create(2, NULL, NULL);
	assert_non_null(pool);
	knTasks tasks = knTaskPool_Tasks(pool);
	for (int round = 0; round < 5; ++round) {
		for (int b = 0; b < BALLS; ++b) {
			center[b] = testVec3(&random, 2.0);
			testPlace(&system, body[b], knMakeFrame(center[b], testQuat(&random)));
		}
		int pairs = 0, first = 0, second = 0;
		double largest = 0.0, sum = 0.0;
		for (int a = 0; a < BALLS; ++a) {
			for (int b = a + 1; b < BALLS; ++b) {
				double depth = radius[a] + radius[b] - knDistance(center[a], center[b]);
				pairs += depth > 0.0;
				sum += depth > 0.0 ? depth : 0.0;
				if (depth > largest) {
					largest = depth;
					first = a;
					second = b;
				}
			}
		}
		knPenetration result = measure(&system);
		assert_int_equal(result.pairs, pairs);
		assert_near(result.max, largest, 1e-14);
		assert_near(result.mean, sum / pairs, 1e-14);
		const knScene* compiled = knModel_Scene(system.model);
		knBodyId ownerA = knScene_GetShapeBody(compiled, result.shapeA);
		knBodyId ownerB = knScene_GetShapeBody(compiled, result.shapeB);
		assert_true(KN_ID_EQUALS(ownerA, body[first]) && KN_ID_EQUALS(ownerB, body[second]));

		// the same bits with two threads
		knPenetration parallel;
		assert_ok(
			knMeasure_Penetration(system.model, &system.state, &system.allocator, &tasks, &parallel, NULL));
		assert_true(parallel.max == result.max && parallel.mean == result.mean &&
					parallel.pairs == result.pairs);
	}
	knTaskPool_Destroy(pool);
	testSystemFree(&system);
}

// A pair of shapes counts once, by its deepest point, however many points and parts it has.
static void compoundCountsOnce(void** state) {
	(void)state;
	knGeom* ball = knGeom_Sphere(0.5, NULL, NULL);
	assert_non_null(ball);
	knGeomChild children[2] = { { ball, at(-1.0, 0.0, 0.0) }, { ball, at(1.0, 0.0, 0.0) } };
	knGeom* dumbbell = knGeom_Compound(children, 2, NULL, NULL);
	assert_non_null(dumbbell);
	knScene* scene = testScene(0);
	knBodyId a = addBody(scene, KN_BODY_DYNAMIC);
	knShapeDef def = knShapeDef_Default();
	assert_false(KN_ID_IS_NULL(knScene_AddShape(scene, a, dumbbell, &def, NULL)));
	assert_false(KN_ID_IS_NULL(knScene_AddPlane(scene, KN_WORLD_BODY, NULL, NULL)));
	knGeom_Release(dumbbell);
	knGeom_Release(ball);
	knTestSystem system = testCompile(scene);
	// one end is 0.2 deeper than the other
	testPlace(&system, a,
			  knMakeFrame(knV3(0.0, 0.0, 0.45), knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), asin(0.02))));
	knPenetration result = measure(&system);
	assert_int_equal(result.pairs, 1);
	assert_near(result.max, 0.07, 1e-14);
	assert_near(result.mean, 0.07, 1e-14);
	testSystemFree(&system);
}

// --- who does not count ----------------------------------------------------------------------------------

// Two balls of radius 0.5 at a distance of 0.9.
typedef struct Couple {
	knScene* scene;
	knBodyId a, b;
} Couple;

static Couple makeCouple(const knShapeDef* defB) {
	Couple couple = { .scene = testScene(3) };
	couple.a = addBall(couple.scene, 0.5, NULL);
	couple.b = addBall(couple.scene, 0.5, defB);
	return couple;
}

static knTestSystem compileCouple(const Couple* couple) {
	knTestSystem system = testCompile(couple->scene);
	testPlace(&system, couple->a, at(0.0, 0.0, 0.0));
	testPlace(&system, couple->b, at(0.9, 0.0, 0.0));
	return system;
}

static void assertCouple(const knTestSystem* system) {
	knPenetration result = measure(system);
	assert_int_equal(result.pairs, 1);
	assert_near(result.max, 0.1, 1e-15);
}

static void excludedPairsDoNotCount(void** state) {
	(void)state;
	Couple couple = makeCouple(NULL);
	assert_ok(knScene_ExcludePair(couple.scene, couple.b, couple.a, NULL));
	knTestSystem system = compileCouple(&couple);
	assertNone(&system);
	testSystemFree(&system);

	// jointed neighbours, unless the joint says that they collide
	for (int collide = 0; collide < 2; ++collide) {
		couple = makeCouple(NULL);
		knJointDef def = knJointDef_Default(KN_JOINT_BALL);
		def.parent = couple.a;
		def.child = couple.b;
		def.collide = collide;
		assert_false(KN_ID_IS_NULL(knScene_AddJoint(couple.scene, &def, NULL)));
		system = compileCouple(&couple);
		if (collide) {
			assertCouple(&system);
		} else {
			assertNone(&system);
		}
		testSystemFree(&system);
	}
}

static void pairsOfAttachedJointsDoNotCount(void** state) {
	(void)state;
	Couple couple = makeCouple(NULL);
	knBodyId other = addBall(couple.scene, 0.5, NULL);
	knTestSystem system = compileCouple(&couple);
	testPlace(&system, other, at(0.0, 0.95, 0.0));
	assert_int_equal(measure(&system).pairs, 2);

	// parent and child in either order, the later body first
	knJointDef def = knJointDef_Default(KN_JOINT_BALL);
	def.parent = other;
	def.child = couple.a;
	testAttach(&system, 0, &def);
	assertCouple(&system);
	def.parent = couple.b;
	int second = testAttach(&system, 2, &def);
	assertNone(&system);

	system.state.attached[2].collide = true;
	assertCouple(&system);
	system.state.attached[2].collide = false;
	system.state.joint[second].inUse = 0;
	assertCouple(&system);
	testSystemFree(&system);
}

static void disabledShapesSensorsAndFilteredPairsDoNotCount(void** state) {
	(void)state;
	Couple couple = makeCouple(NULL);
	knTestSystem system = compileCouple(&couple);
	assertCouple(&system);
	system.state.shapeEnabled[1] = 0;
	assertNone(&system);
	system.state.shapeEnabled[1] = 1;
	assertCouple(&system);
	testSystemFree(&system);

	knShapeDef def = knShapeDef_Default();
	def.sensor = true;
	couple = makeCouple(&def);
	// a sensor has no mass, so the body needs some
	knBodyDef* body = knScene_EditBody(couple.scene, couple.b);
	body->hasMass = true;
	body->mass.mass = 1.0;
	body->mass.inertia = knDiagonal33(1.0, 1.0, 1.0);
	system = compileCouple(&couple);
	assertNone(&system);
	testSystemFree(&system);

	def = knShapeDef_Default();
	def.filter.mask = 0;
	couple = makeCouple(&def);
	system = compileCouple(&couple);
	assertNone(&system);
	testSystemFree(&system);
}

// --- trouble ---------------------------------------------------------------------------------------------

static void brokenPosesAreReported(void** state) {
	(void)state;
	Couple couple = makeCouple(NULL);
	knTestSystem system = compileCouple(&couple);
	system.state.pose[1].p.x = NAN;
	knPenetration result;
	knError error = { 0 };
	assert_int_equal(
		knMeasure_Penetration(system.model, &system.state, &system.allocator, NULL, &result, &error),
		KN_DIVERGED);
	assert_int_equal(error.status, KN_DIVERGED);
	testSystemFree(&system);
}

static void survivesAFailingAllocator(void** state) {
	(void)state;
	Couple couple = makeCouple(NULL);
	knTestSystem system = compileCouple(&couple);
	knJointDef def = knJointDef_Default(KN_JOINT_BALL);
	def.child = couple.a;
	testAttach(&system, 0, &def);
	for (int failAfter = 0;; ++failAfter) {
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		memory.failAfter = failAfter;
		knPenetration result;
		knStatus status = knMeasure_Penetration(system.model, &system.state, &allocator, NULL, &result, NULL);
		assert_int_equal(memory.live, 0);
		if (status == KN_OK) {
			assert_true(failAfter > 1);
			assert_near(result.max, 0.1, 1e-15);
			break;
		}
		assert_int_equal(status, KN_NO_MEMORY);
	}
	testSystemFree(&system);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ballsOverlapByRadiiLessDistance),
		cmocka_unit_test(boxesOverlapByTheDepthPushed),
		cmocka_unit_test(groundIsEnteredByHeightBelowIt),
		cmocka_unit_test(crowdAgreesWithBruteForce),
		cmocka_unit_test(compoundCountsOnce),
		cmocka_unit_test(excludedPairsDoNotCount),
		cmocka_unit_test(pairsOfAttachedJointsDoNotCount),
		cmocka_unit_test(disabledShapesSensorsAndFilteredPairsDoNotCount),
		cmocka_unit_test(brokenPosesAreReported),
		cmocka_unit_test(survivesAFailingAllocator),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
