// Meshes in a world: sliding over a tessellated floor is sliding over a plane, surfaces do not move, and a pile of
// nonconvex bodies comes to rest without falling through.
#include "world/fixture.h"

#include "support/mesh_shapes.h"

#define STEP (1.0 / 240.0)

static knGeom* makeMesh(knTestMesh shape, bool solid) {
	knMeshDef def = testMeshDef(&shape);
	def.solid = solid;
	knError error = { 0 };
	knGeom* geom = knGeom_Mesh(&def, NULL, &error);
	testMeshFree(&shape);
	if (geom == NULL) {
		failWith(&error);
	}
	return geom;
}

static void addShape(knScene* scene, knBodyId body, const knGeom* geom, knShapeDef def) {
	knError error = { 0 };
	if (KN_ID_IS_NULL(knScene_AddShape(scene, body, geom, &def, &error))) {
		failWith(&error);
	}
}

static knWorld* openWorld(knScene* scene) {
	knError error = { 0 };
	knModel* model = knModel_Create(scene, &error);
	if (model == NULL) {
		failWith(&error);
	}
	knWorldDef def = knWorldDef_Default();
	knWorld* world = knWorld_Create(model, &def, &error);
	if (world == NULL) {
		failWith(&error);
	}
	knModel_Release(model);
	knScene_Destroy(scene);
	return world;
}

// A box of triangles or of its own kind, sent off at 5 m/s over a floor: kinetic energy after each step.
static void slide(const knGeom* floor, const knGeom* box, double friction, double* energy, int steps) {
	knScene* scene = newScene(knV3(0.0, 0.0, -9.81));
	knBodyDef def = knBodyDef_Default();
	def.frame = knMakeFrame(knV3(-6.0, -0.3, 0.15), knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), 0.35));
	def.velocity = knV3(5.0, 0.4, 0.0);
	knBodyId body = newBody(scene, &def);
	addShape(scene, body, box, material(friction, 0.0));
	addShape(scene, KN_WORLD_BODY, floor, material(friction, 0.0));
	knWorld* world = openWorld(scene);
	for (int i = 0; i < steps; ++i) {
		assert_ok(knWorld_Step(world, STEP, NULL));
		energy[i] = knWorld_Measure(world).kinetic;
	}
	knVec3 center = knWorld_BodyCenter(world, body);
	assert_near(center.z, 0.15, 0.005);
	knWorld_Destroy(world);
}

static void test_tessellated_floor_slides_like_a_plane(void** state) {
	(void)state;
	enum { STEPS = 400 };
	knGeom* floor = makeMesh(testMeshFloor(12.0, 71, 99), false); // 10,082 triangles
	knGeom* plane = knGeom_Plane(NULL, NULL);
	knGeom* boxes[2] = { knGeom_Box(knV3(0.3, 0.25, 0.15), NULL, NULL),
						 makeMesh(testMeshBox(knV3(0.3, 0.25, 0.15)), true) };
	const double frictions[2] = { 0.0, 0.3 };
	for (int b = 0; b < 2; ++b) {
		for (int f = 0; f < 2; ++f) {
			double own[STEPS], exact[STEPS];
			slide(floor, boxes[b], frictions[f], own, STEPS);
			slide(plane, boxes[0], frictions[f], exact, STEPS);
			for (int i = 0; i < STEPS; ++i) {
				assert_near(own[i], exact[i], 0.01 * exact[0]);
			}
			if (f == 0) {
				assert_near(own[STEPS - 1], own[0], 0.01 * own[0]);
			}
		}
	}
	knGeom_Release(floor);
	knGeom_Release(plane);
	knGeom_Release(boxes[0]);
	knGeom_Release(boxes[1]);
}

static void test_surfaces_cannot_be_dynamic(void** state) {
	(void)state;
	knGeom* floor = makeMesh(testMeshFloor(1.0, 2, 1), false);
	knScene* scene = newScene(knV3(0.0, 0.0, -9.81));
	knBodyDef def = knBodyDef_Default();
	knBodyId body = newBody(scene, &def);
	knShapeDef shape = knShapeDef_Default();
	knError error = { 0 };
	assert_true(KN_ID_IS_NULL(knScene_AddShape(scene, body, floor, &shape, &error)));
	assert_int_equal(error.status, KN_BAD_DATA);
	assert_non_null(strstr(error.message, "not solid"));
	knScene_Destroy(scene);
	knGeom_Release(floor);
}

// Rings dropped on a post and on each other: all stay above the ground and do not sink into each other.
static void test_rings_pile_up_on_a_post(void** state) {
	(void)state;
	knGeom* ring = makeMesh(testMeshTorus(0.5, 0.12, 32, 12), true);
	knScene* scene = newScene(knV3(0.0, 0.0, -9.81));
	knShapeDef ground = material(0.5, 0.0);
	knError error = { 0 };
	assert_false(KN_ID_IS_NULL(knScene_AddPlane(scene, KN_WORLD_BODY, &ground, &error)));
	knShapeDef post = material(0.5, 0.0);
	post.frame.p.z = 1.0;
	assert_false(KN_ID_IS_NULL(knScene_AddCapsule(scene, KN_WORLD_BODY, 0.2, 0.8, &post, &error)));
	knBodyId rings[4];
	for (int i = 0; i < 4; ++i) {
		knBodyDef def = knBodyDef_Default();
		def.frame = knMakeFrame(knV3(0.03 * i, -0.02 * i, 0.4 + 0.4 * i),
								knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), 0.1 * i));
		rings[i] = newBody(scene, &def);
		addShape(scene, rings[i], ring, material(0.5, 0.0));
	}
	knWorld* world = openWorld(scene);
	for (int i = 0; i < 480; ++i) {
		assert_ok(knWorld_Step(world, STEP, NULL));
	}
	for (int i = 0; i < 4; ++i) {
		knVec3 center = knWorld_BodyCenter(world, rings[i]);
		assert_true(center.z > 0.1);
		assert_true(sqrt(center.x * center.x + center.y * center.y) < 0.3); // still about the post
		assert_true(knLength(knWorld_BodyVelocity(world, rings[i])) < 0.2);
	}
	knPenetration penetration;
	assert_ok(knWorld_MeasurePenetration(world, &penetration, NULL));
	assert_true(penetration.max < 0.01);
	knWorld_Destroy(world);
	knGeom_Release(ring);
}

// Two rings of triangles that lie across each other on a block of triangles: few points a pair carry the whole weight,
// and the forces on the lower ring have no moment that would tip it.
static void test_few_points_carry_what_lies(void** state) {
	(void)state;
	knGeom* ring = makeMesh(testMeshTorus(0.5, 0.12, 48, 16), true);
	knGeom* block = makeMesh(testMeshBox(knV3(2.0, 2.0, 0.2)), true);
	knScene* scene = newScene(knV3(0.0, 0.0, -9.81));
	knShapeDef under = material(0.5, 0.0);
	under.frame.p.z = -0.2;
	addShape(scene, KN_WORLD_BODY, block, under);
	knBodyId rings[2];
	for (int i = 0; i < 2; ++i) {
		knBodyDef def = knBodyDef_Default();
		def.frame = knMakeFrame(knV3(0.3 * i, 0.1 * i, 0.125 + 0.25 * i), knIdentityQ());
		rings[i] = newBody(scene, &def);
		addShape(scene, rings[i], ring, material(0.5, 0.0));
	}
	knWorld* world = openWorld(scene);
	for (int i = 0; i < 480; ++i) {
		assert_ok(knWorld_Step(world, STEP, NULL));
	}
	int count;
	const knContact* contacts = knWorld_Contacts(world, &count);
	knVec3 force = knZero3(), moment = knZero3(), center = knWorld_BodyCenter(world, rings[0]);
	double weight = 9.81 * knModel_BodyMass(knWorld_Model(world), rings[0]).mass;
	for (int i = 0; i < count; ++i) {
		double sign = KN_ID_EQUALS(contacts[i].bodyB, rings[0])   ? 1.0
					  : KN_ID_EQUALS(contacts[i].bodyA, rings[0]) ? -1.0
																  : 0.0;
		knVec3 on = knScale(sign / STEP, contacts[i].impulse);
		force = knAdd(force, on);
		moment = knAdd(moment, knCross(knSub(contacts[i].point.pointA, center), on));
	}
	assert_near(force.z, weight, 0.01 * weight);
	assert_true(knLength(moment) < 0.01 * weight);
	assert_in_range(count, 6, 2 * 24);
	assert_true(knLength(knWorld_BodyVelocity(world, rings[1])) < 0.01);
	knWorld_Destroy(world);
	knGeom_Release(ring);
	knGeom_Release(block);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tessellated_floor_slides_like_a_plane),
		cmocka_unit_test(test_surfaces_cannot_be_dynamic),
		cmocka_unit_test(test_rings_pile_up_on_a_post),
		cmocka_unit_test(test_few_points_carry_what_lies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
