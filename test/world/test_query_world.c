// Questions to a world: with and without the tree, before steps and after edits, from several threads, against a look
// at every shape.
#include <pthread.h>

#include "world/fixture.h"

#include "knuckle/query.h"

enum { BODIES = 60, RAYS = 300 };

static knWorld* manyShapes(knTestRandom* random) {
	knScene* scene = newScene(earth);
	knError error = { 0 };
	for (int i = 0; i < BODIES; ++i) {
		knBodyDef def = knBodyDef_Default();
		def.frame = testFrame(random, 5.0);
		def.frame.p.z += 6.0;
		knBodyId body = newBody(scene, &def);
		knShapeDef shape = knShapeDef_Default();
		shape.filter.category = i % 3 == 0 ? 2 : 1;
		shape.sensor = i % 10 == 9;
		double size = testUniform(random, 0.2, 0.6);
		knShapeId id = i % 3 == 0   ? knScene_AddSphere(scene, body, size, &shape, &error)
					   : i % 3 == 1 ? knScene_AddBox(scene, body, knV3(size, 0.3, 0.4), &shape, &error)
									: knScene_AddCapsule(scene, body, 0.2, size, &shape, &error);
		assert_false(KN_ID_IS_NULL(id));
		if (i % 10 == 9) {
			knScene_EditBody(scene, body)->hasMass = true;
			knScene_EditBody(scene, body)->mass =
				(knMassProps){ .mass = 1.0, .inertia = knDiagonal33(1.0, 1.0, 1.0) };
		}
	}
	newGround(scene, material(0.5, 0.0));
	return newWorld(scene);
}

static knFrame frameOf(const knWorld* world, const knScene* scene, knShapeId shape) {
	knFrame body = knWorld_BodyFrame(world, knScene_GetShapeBody(scene, shape));
	return knMulF(body, knScene_GetShape(scene, shape)->frame);
}

// The same question, shape by shape.
static int rayByHand(const knWorld* world, knVec3 o, knVec3 d, const knQueryFilter* filter,
					 knWorldHit* first) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	int count = 0;
	first->fraction = INFINITY;
	for (int i = 0; i < knScene_ShapeSlots(scene); ++i) {
		knShapeId shape = knScene_ShapeAt(scene, i);
		if (KN_ID_IS_NULL(shape)) {
			continue;
		}
		const knShapeDef* def = knScene_GetShape(scene, shape);
		knGeomHit hit;
		if ((def->sensor && !filter->sensors) || !knFilter_Allows(def->filter, filter->filter) ||
			!knGeom_RayCast(knScene_GetShapeGeom(scene, shape), frameOf(world, scene, shape), o, d, &hit)) {
			continue;
		}
		count += 1;
		if (hit.fraction < first->fraction) {
			first->fraction = hit.fraction;
			first->shape = shape;
		}
	}
	return count;
}

static void checkRays(const knWorld* world, uint64_t seed) {
	knTestRandom random = { seed };
	knQueryFilter filter = knQueryFilter_Default();
	for (int i = 0; i < RAYS; ++i) {
		knVec3 o = testVec3(&random, 8.0), d = testVec3(&random, 12.0);
		o.z += 6.0;
		filter.filter.mask = i % 3 == 0 ? 1 : UINT64_MAX;
		filter.sensors = i % 2 == 0;
		knWorldHit expected, hit, all[8];
		int count = rayByHand(world, o, d, &filter, &expected);
		assert_int_equal(knWorld_RayCast(world, o, d, &filter, &hit), count > 0);
		if (count > 0) {
			assert_near(hit.fraction, expected.fraction, 0.0);
			assert_int_equal(hit.shape.index1, expected.shape.index1);
		}
		assert_int_equal(knWorld_RayCastAll(world, o, d, &filter, all, 8), count);
		for (int k = 0; k < (count < 8 ? count : 8); ++k) {
			assert_true(k == 0 || all[k].fraction >= all[k - 1].fraction);
		}
		if (count > 0) {
			assert_int_equal(all[0].shape.index1, hit.shape.index1);
		}
		// a short list holds the nearest of them
		if (count > 2) {
			knWorldHit two[2];
			assert_int_equal(knWorld_RayCastAll(world, o, d, &filter, two, 2), count);
			assert_int_equal(two[1].shape.index1, all[1].shape.index1);
		}
	}
}

static void test_rays(void** state) {
	(void)state;
	knTestRandom random = { 1 };
	knWorld* world = manyShapes(&random);
	knError error = { 0 };
	checkRays(world, 2); // before any step
	assert_ok(knWorld_PrepareQueries(world, &error));
	checkRays(world, 2);
	run(world, 20, 0.01);
	checkRays(world, 3);
	assert_ok(knWorld_PrepareQueries(world, &error));
	checkRays(world, 3);
	// a body is moved, one is taken away: the tree is old
	knBodyId body = knModel_BodyAt(knWorld_Model(world), 5);
	assert_ok(knWorld_SetBodyFrame(world, body, knMakeFrame(knV3(0.0, 0.0, 9.0), knIdentityQ())));
	checkRays(world, 4);
	assert_ok(knWorld_PrepareQueries(world, &error));
	assert_ok(knWorld_RemoveBody(world, knModel_BodyAt(knWorld_Model(world), 8), &error));
	checkRays(world, 5);
	assert_ok(knWorld_PrepareQueries(world, &error));
	checkRays(world, 5);
	knWorld_Destroy(world);
}

// Casts, overlaps and the nearest give the same with the tree and without.
static void test_tree_changes_nothing(void** state) {
	(void)state;
	knTestRandom random = { 7 };
	knWorld* world = manyShapes(&random);
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	knError error = { 0 };
	knGeom* ball = knGeom_Sphere(0.4, NULL, NULL);
	knGeom* box = knGeom_Box(knV3(0.5, 0.3, 0.8), NULL, NULL);
	for (int i = 0; i < 150; ++i) {
		knShapeCast cast = { .geom = i % 2 ? ball : box, .frame = testFrame(&random, 6.0) };
		cast.frame.p.z += 8.0;
		cast.translation = testVec3(&random, 8.0);
		cast.rotation = i % 4 == 0 ? testVec3(&random, 2.0) : knZero3();
		knWorldHit hits[2], near[2];
		knShapeId shapes[2][64];
		int counts[2], boxes[2];
		bool hit[2], found[2];
		for (int pass = 0; pass < 2; ++pass) {
			hit[pass] = knWorld_Cast(world, &cast, NULL, &hits[pass]);
			found[pass] = knWorld_Nearest(world, cast.geom, cast.frame, INFINITY, NULL, &near[pass]);
			counts[pass] = knWorld_Overlap(world, cast.geom, cast.frame, NULL, shapes[pass], 64);
			boxes[pass] = knWorld_OverlapBox(world, knGeom_Aabb(cast.geom, cast.frame), NULL, NULL, 0);
			if (pass == 0) {
				assert_ok(knWorld_PrepareQueries(world, &error));
			}
		}
		// the tree is old again
		assert_ok(
			knWorld_SetBodyFrame(world, knModel_BodyAt(knWorld_Model(world), 3), testFrame(&random, 4.0)));
		assert_true(hit[0] == hit[1] && found[0] && found[1] && counts[0] == counts[1] &&
					boxes[0] == boxes[1]);
		assert_true(boxes[0] >= counts[0]);
		assert_memory_equal(shapes[0], shapes[1], sizeof(knShapeId) * (size_t)counts[0]);
		assert_near(hits[0].fraction, hits[1].fraction, 0.0);
		assert_int_equal(hits[0].shape.index1, hits[1].shape.index1);
		assert_near(near[0].distance, near[1].distance, 0.0);
		assert_int_equal(near[0].shape.index1, near[1].shape.index1);
		// what overlaps is nearer than nothing
		assert_true((counts[0] > 0) == (near[0].distance < 0.0));
	}
	// one shape's own distance: nearest of all
	knShapeId first = knScene_ShapeAt(scene, 0);
	knQueryFilter except = knQueryFilter_Default();
	except.except = knScene_GetShapeBody(scene, first);
	knWorldHit nearest;
	assert_true(knWorld_Nearest(world, knScene_GetShapeGeom(scene, first), frameOf(world, scene, first),
								INFINITY, &except, &nearest));
	knClosestPoints closest;
	assert_true(knWorld_ClosestPoints(world, first, nearest.shape, INFINITY, &closest));
	assert_near(closest.distance, nearest.distance, 1e-9);
	knGeom_Release(ball);
	knGeom_Release(box);
	knWorld_Destroy(world);
}

static void test_switched_off_shapes_are_silent(void** state) {
	(void)state;
	knScene* scene = newScene(noGravity);
	knBodyId ball = newBall(scene, knV3(3.0, 0.0, 0.0), 0.5, knZero3(), material(0.5, 0.0));
	knShapeId shape = knScene_ShapeAt(scene, 0);
	knWorld* world = newWorld(scene);
	knWorldHit hit;
	assert_true(knWorld_RayCast(world, knZero3(), knV3(10.0, 0.0, 0.0), NULL, &hit));
	assert_near(hit.fraction, 0.25, 1e-15);
	assert_near3(hit.normal, knV3(-1.0, 0.0, 0.0), 1e-15);
	assert_ok(knWorld_SetShapeEnabled(world, shape, false));
	assert_false(knWorld_RayCast(world, knZero3(), knV3(10.0, 0.0, 0.0), NULL, &hit));
	assert_ok(knWorld_SetShapeEnabled(world, shape, true));
	knQueryFilter except = knQueryFilter_Default();
	except.except = ball;
	assert_false(knWorld_RayCast(world, knZero3(), knV3(10.0, 0.0, 0.0), &except, &hit));
	knWorld_Destroy(world);
}

static void* askFromThread(void* argument) {
	checkRays(argument, 11);
	return NULL;
}

static void test_threads_ask_at_once(void** state) {
	(void)state;
	knTestRandom random = { 9 };
	knWorld* world = manyShapes(&random);
	knError error = { 0 };
	assert_ok(knWorld_PrepareQueries(world, &error));
	pthread_t threads[2];
	for (int i = 0; i < 2; ++i) {
		assert_int_equal(pthread_create(&threads[i], NULL, askFromThread, world), 0);
	}
	checkRays(world, 12);
	for (int i = 0; i < 2; ++i) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	}
	knWorld_Destroy(world);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rays),
		cmocka_unit_test(test_tree_changes_nothing),
		cmocka_unit_test(test_switched_off_shapes_are_silent),
		cmocka_unit_test(test_threads_ask_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
