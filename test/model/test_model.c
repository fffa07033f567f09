// The compiled model: masses and centres, frames about the centre of mass, excluded pairs, fingerprint,
// sharing.
#include "support/kn_test.h"

#include "model/model.h"

static knBodyId addBody(knScene* scene, const char* name, knFrame frame) {
	knBodyDef def = knBodyDef_Default();
	def.name = name;
	def.frame = frame;
	return knScene_AddBody(scene, &def, NULL);
}

static knBodyId addBall(knScene* scene, const char* name, knVec3 at) {
	knBodyId body = addBody(scene, name, knMakeFrame(at, knIdentityQ()));
	knScene_AddSphere(scene, body, 0.5, NULL, NULL);
	return body;
}

static knJointId join(knScene* scene, knJointKind kind, knBodyId parent, knBodyId child) {
	knJointDef def = knJointDef_Default(kind);
	assert_ok(knJointDef_At(&def, scene, parent, child, knV3(1, 2, 3), knV3(0, 1, 0), NULL));
	return knScene_AddJoint(scene, &def, NULL);
}

static knModel* compile(const knScene* scene) {
	knError error = { 0 };
	knModel* model = knModel_Create(scene, &error);
	if (model == NULL) {
		fail_msg("%s: %s", error.element, error.message);
	}
	return model;
}

// A dumbbell of two spheres: closed form for mass, centre and inertia (parallel axes).
static void test_mass_from_shapes(void** unused) {
	(void)unused;
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyId body = addBody(scene, "dumbbell", knIdentityF());
	knShapeDef def = knShapeDef_Default();
	def.density = 500.0;
	def.frame.p = knV3(-1, 0, 0.5);
	knScene_AddSphere(scene, body, 0.5, &def, NULL);
	def.density = 1500.0;
	def.frame.p = knV3(1, 0, 0.5);
	knScene_AddSphere(scene, body, 0.5, &def, NULL);
	def.sensor = true;
	def.frame.p = knV3(0, 9, 0);
	knScene_AddSphere(scene, body, 3.0, &def, NULL);

	knModel* model = compile(scene);
	double volume = 4.0 / 3.0 * KN_PI * 0.125, m1 = 500.0 * volume, m2 = 1500.0 * volume, m = m1 + m2;
	double own = 0.4 * m * 0.25, apart = m1 * 1.5 * 1.5 + m2 * 0.5 * 0.5;
	knMassProps mass = knModel_BodyMass(model, body);
	assert_near(mass.mass, m, 1e-12 * m);
	assert_near3(mass.center, knV3(0.5, 0, 0.5), 1e-14);
	assert_near(mass.inertia.cx.x, own, 1e-12 * m);
	assert_near(mass.inertia.cy.y, own + apart, 1e-12 * m);
	assert_near(mass.inertia.cz.z, own + apart, 1e-12 * m);
	assert_near(mass.inertia.cx.y, 0.0, 1e-12 * m);
	int i = knModel_BodyIndex(model, body);
	assert_near(model->invMass[i] * m, 1.0, 1e-15);
	knMat33 one = knMulMM(&model->invInertiaLocal[i], &model->inertiaLocal[i]);
	assert_near3(one.cx, knV3(1, 0, 0), 1e-12);
	assert_near3(one.cz, knV3(0, 0, 1), 1e-12);
	// the sensor has no mass, but the body's sphere holds it
	assert_near(model->radius[i], sqrt(0.25 + 81.0 + 0.25) + 3.0, 1e-12);
	knModel_Release(model);

	// a mass of its own replaces the shapes'
	knBodyDef* edit = knScene_EditBody(scene, body);
	edit->hasMass = true;
	edit->mass = (knMassProps){ 3.0, { 0.1, 0.2, 0.3 }, knDiagonal33(1, 1.5, 2) };
	model = compile(scene);
	mass = knModel_BodyMass(model, body);
	assert_near(mass.mass, 3.0, 0.0);
	assert_near3(mass.center, knV3(0.1, 0.2, 0.3), 0.0);
	knModel_Release(model);
	knScene_Destroy(scene);
}

// Whatever is placed in body frames stays where it is in the world.
static void test_frames_move_to_the_centre_of_mass(void** unused) {
	(void)unused;
	knTestRandom random = { 1 };
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knFrame frames[2];
	knBodyId bodies[2];
	for (int b = 0; b < 2; ++b) {
		frames[b] = testFrame(&random, 3.0);
		bodies[b] = addBody(scene, NULL, frames[b]);
		knShapeDef shape = knShapeDef_Default();
		shape.frame = testFrame(&random, 1.0);
		knScene_AddBox(scene, bodies[b], knV3(0.1, 0.2, 0.3), &shape, NULL);
	}
	knJointDef def = knJointDef_Default(KN_JOINT_FREE);
	def.parent = bodies[0];
	def.child = bodies[1];
	def.frameParent = testFrame(&random, 1.0);
	def.frameChild = testFrame(&random, 1.0);
	knScene_AddJoint(scene, &def, NULL);
	knModel* model = compile(scene);
	for (int b = 0; b < 2; ++b) {
		knShapeId shape = knScene_ShapeAt(scene, b);
		knFrame authored = knMulF(frames[b], knScene_GetShape(scene, shape)->frame);
		const knModelShape* compiled = &model->shapes[knModel_ShapeIndex(model, shape)];
		assert_int_equal(compiled->body, knModel_BodyIndex(model, bodies[b]));
		knFrame placed = knMulF(model->initialPose[compiled->body], compiled->local);
		assert_near3(placed.p, authored.p, 1e-14);
		assert_near(fabs(knDotQ(placed.q, authored.q)), 1.0, 1e-14);
		// one convex shape: its centre is the body's
		assert_near3(model->initialPose[compiled->body].p, authored.p, 1e-14);
	}
	knFrame authored = knInvMulF(knMulF(frames[0], def.frameParent), knMulF(frames[1], def.frameChild));
	knFrame J = knJoint_Frame(&model->joints[0], model->initialPose[1], model->initialPose[2]);
	assert_near3(J.p, authored.p, 1e-14);
	assert_near(fabs(knDotQ(J.q, authored.q)), 1.0, 1e-14);
	knModel_Release(model);
	knScene_Destroy(scene);
}

static void test_bodies_that_are_not_dynamic_have_no_mass(void** unused) {
	(void)unused;
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyDef def = knBodyDef_Default();
	def.kind = KN_BODY_KINEMATIC;
	def.velocity = knV3(1, 2, 3);
	knBodyId moved = knScene_AddBody(scene, &def, NULL);
	def.kind = KN_BODY_FIXED;
	knBodyId fixed = knScene_AddBody(scene, &def, NULL);
	knScene_AddSphere(scene, fixed, 1.0, NULL, NULL);
	knModel* model = compile(scene);
	for (int i = 0; i < model->bodyCount; ++i) {
		assert_near(model->mass[i], 0.0, 0.0);
		assert_near(model->invMass[i], 0.0, 0.0);
		assert_near3(model->invInertiaLocal[i].cx, knZero3(), 0.0);
	}
	assert_near3(model->initialVelocity[knModel_BodyIndex(model, moved)].lin, knV3(1, 2, 3), 0.0);
	assert_near3(model->initialVelocity[knModel_BodyIndex(model, fixed)].lin, knZero3(), 0.0);
	assert_int_equal(model->bodyKind[0], KN_BODY_FIXED);
	assert_int_equal(knModel_DofCount(model), 0);
	knModel_Release(model);
	knScene_Destroy(scene);
}

static void test_slots_map_to_dense_indices(void** unused) {
	(void)unused;
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyId a = addBall(scene, "a", knZero3()), b = addBall(scene, "b", knZero3()),
			 c = addBall(scene, "c", knZero3());
	knJointId ab = join(scene, KN_JOINT_BALL, a, b), bc = join(scene, KN_JOINT_BALL, b, c);
	assert_ok(knScene_RemoveBody(scene, a, NULL));
	knModel* model = compile(scene);
	assert_int_equal(knModel_BodyCount(model), 2);
	assert_int_equal(knModel_JointCount(model), 1);
	assert_int_equal(knModel_BodyIndex(model, a), -1);
	assert_int_equal(knModel_BodyIndex(model, b), 1);
	assert_int_equal(knModel_BodyIndex(model, c), 2);
	assert_int_equal(knModel_BodyIndex(model, KN_WORLD_BODY), 0);
	assert_int_equal(knModel_JointIndex(model, ab), -1);
	assert_int_equal(knModel_JointIndex(model, bc), 0);
	assert_true(KN_ID_EQUALS(knModel_BodyAt(model, 1), c));
	assert_true(KN_ID_EQUALS(knModel_JointAt(model, 0), bc));
	assert_true(KN_ID_IS_NULL(knModel_BodyAt(model, 2)));
	assert_true(KN_ID_IS_NULL(knModel_BodyId(model, 0)));
	assert_string_equal(knModel_BodyName(model, 2), "c");
	assert_string_equal(knModel_BodyName(model, 0), "world");
	for (int i = 0; i < model->shapeCount; ++i) {
		assert_int_equal(knModel_ShapeIndex(model, knModel_ShapeId(model, i)), i);
	}
	knModel_Release(model);
	knScene_Destroy(scene);
}

static bool isExcluded(const knModel* model, int a, int b) {
	for (int i = 0; i < model->excludedCount; ++i) {
		if (model->excluded[i].a == a && model->excluded[i].b == b) {
			return true;
		}
	}
	return false;
}

static void test_excluded_pairs(void** unused) {
	(void)unused;
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyId b[5];
	for (int i = 0; i < 5; ++i) {
		b[i] = addBall(scene, NULL, knV3(i, 0, 0));
	}
	join(scene, KN_JOINT_HINGE, b[3], b[1]);
	join(scene, KN_JOINT_HINGE, b[1], b[3]);
	join(scene, KN_JOINT_HINGE, KN_WORLD_BODY, b[0]);
	knJointId free = join(scene, KN_JOINT_HINGE, b[0], b[1]);
	knScene_EditJoint(scene, free)->collide = true;
	assert_ok(knScene_ExcludePair(scene, b[4], b[2], NULL));
	assert_ok(knScene_ExcludePair(scene, b[2], b[4], NULL));
	knModel* model = compile(scene);
	assert_int_equal(model->excludedCount, 3);
	assert_true(isExcluded(model, 0, 1));
	assert_true(isExcluded(model, 2, 4));
	assert_true(isExcluded(model, 3, 5));
	for (int i = 1; i < 3; ++i) {
		assert_true(model->excluded[i - 1].a < model->excluded[i].a);
	}
	knModel_Release(model);
	knScene_Destroy(scene);
}

static void test_degrees_of_freedom(void** unused) {
	(void)unused;
	const struct {
		knJointKind kind;
		int dofs; // of two free bodies joined by it
	} cases[] = {
		{ KN_JOINT_BALL, 9 },    { KN_JOINT_HINGE, 7 },     { KN_JOINT_SLIDER, 7 },   { KN_JOINT_SLIDER2, 8 },
		{ KN_JOINT_SLIDER3, 9 }, { KN_JOINT_UNIVERSAL, 8 }, { KN_JOINT_CYLINDER, 8 }, { KN_JOINT_PLANAR, 9 },
		{ KN_JOINT_FREE, 12 },   { KN_JOINT_FIXED, 6 },
	};
	for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); ++i) {
		knScene* scene = knScene_Create(NULL, NULL, NULL);
		knBodyId a = addBall(scene, NULL, knZero3()), b = addBall(scene, NULL, knV3(2, 0, 0));
		knJointId joint = join(scene, cases[i].kind, a, b);
		knModel* model = compile(scene);
		assert_int_equal(knModel_DofCount(model), cases[i].dofs);
		knModel_Release(model);
		knScene_EditJoint(scene, joint)->enabled = false;
		model = compile(scene);
		assert_int_equal(knModel_DofCount(model), 12);
		knModel_Release(model);
		// welded to the world three times over: never below zero
		for (int k = 0; k < 3; ++k) {
			join(scene, KN_JOINT_FIXED, KN_WORLD_BODY, a);
			join(scene, KN_JOINT_FIXED, KN_WORLD_BODY, b);
		}
		model = compile(scene);
		assert_int_equal(knModel_DofCount(model), 0);
		knModel_Release(model);
		knScene_Destroy(scene);
	}
}

static void test_joint_coordinates_are_laid_out(void** unused) {
	(void)unused;
	knSceneDef def = knSceneDef_Default();
	def.jointCapacity = 3;
	knScene* scene = knScene_Create(&def, NULL, NULL);
	knBodyId a = addBall(scene, NULL, knZero3()), b = addBall(scene, NULL, knV3(2, 0, 0));
	for (int kind = 0; kind < KN_JOINT_CUSTOM; ++kind) {
		join(scene, (knJointKind)kind, a, b);
	}
	knModel* model = compile(scene);
	int q = 0, v = 0;
	for (int i = 0; i < model->jointCount; ++i) {
		assert_int_equal(model->joints[i].qOffset, q);
		assert_int_equal(model->joints[i].vOffset, v);
		q += model->joints[i].nq;
		v += model->joints[i].nv;
	}
	assert_int_equal(model->qCount, q + 3 * KN_JOINT_MAX_Q);
	assert_int_equal(model->vCount, v + 3 * KN_JOINT_MAX_V);
	knModel_Release(model);
	knScene_Destroy(scene);
}

// --- fingerprint -----------------------------------------------------------------------------------------

static knScene* pairScene(knBodyId* body, knShapeId* shape, knJointId* joint) {
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyId a = addBall(scene, "a", knZero3());
	*body = addBody(scene, "b", knMakeFrame(knV3(2, 0, 0), knIdentityQ()));
	*shape = knScene_AddSphere(scene, *body, 0.5, NULL, NULL);
	*joint = join(scene, KN_JOINT_HINGE, a, *body);
	return scene;
}

// A ball with a reach cone, one corner of which may have a twist range of its own.
static void reach(knJointDef* def, bool own) {
	def->kind = KN_JOINT_BALL;
	def->reachCount = 3;
	for (int i = 0; i < 3; ++i) {
		def->reach[i] = knV3(1.0, cos(2.1 * i), sin(2.1 * i));
	}
	def->twistLimited = true;
	def->reachTwist[2] = (knReachTwist){ own, -0.1, 0.2 };
}

static uint64_t fingerprintWith(int change) {
	knBodyId body;
	knShapeId shape;
	knJointId joint;
	knScene* scene = pairScene(&body, &shape, &joint);
	switch (change) {
	case 1:
		knScene_EditBody(scene, body)->frame.p.x = 2.0000001;
		break;
	case 2:
		knScene_EditBody(scene, body)->velocity.y = 1.0;
		break;
	case 3:
		knScene_EditBody(scene, body)->kind = KN_BODY_KINEMATIC;
		break;
	case 4:
		knScene_EditBody(scene, body)->gravityScale = 0.5;
		break;
	case 5:
		knScene_EditShape(scene, shape)->friction = 0.61;
		break;
	case 6:
		knScene_EditShape(scene, shape)->filter.group = -1;
		break;
	case 7:
		knScene_EditShape(scene, shape)->density = 900.0;
		break;
	case 8:
		knScene_EditJoint(scene, joint)->axis[0].stiffness = 1.0;
		break;
	case 9:
		knScene_EditJoint(scene, joint)->kind = KN_JOINT_CYLINDER;
		break;
	case 10:
		knScene_EditJoint(scene, joint)->enabled = false;
		break;
	case 11:
		knScene_Def(scene)->gravity.z = -9.8;
		break;
	case 12:
		knScene_Def(scene)->jointCapacity = 1;
		break;
	case 13:
		assert_ok(knScene_ExcludePair(scene, KN_WORLD_BODY, body, NULL));
		break;
	case 14:
		knScene_AddSphere(scene, KN_WORLD_BODY, 0.25, NULL, NULL);
		break;
	case 15:
		knScene_AddSphere(scene, KN_WORLD_BODY, 0.26, NULL, NULL);
		break;
	case 16:
		knScene_EditShape(scene, shape)->sensor = true;
		knScene_EditBody(scene, body)->kind = KN_BODY_FIXED;
		break;
	case 17:
		knScene_EditJoint(scene, joint)->axis[0].bearing = 0.01;
		break;
	case 18:
	case 19:
		reach(knScene_EditJoint(scene, joint), change == 19);
		break;
	default:
		break;
	}
	knModel* model = compile(scene);
	uint64_t fingerprint = model->fingerprint;
	knModel_Release(model);
	knScene_Destroy(scene);
	return fingerprint;
}

static void test_fingerprint_tells_models_apart(void** unused) {
	(void)unused;
	uint64_t prints[20];
	for (int i = 0; i < 20; ++i) {
		prints[i] = fingerprintWith(i);
		assert_true(prints[i] == fingerprintWith(i));
		for (int k = 0; k < i; ++k) {
			assert_true(prints[i] != prints[k]);
		}
	}
}

// What results do not depend on does not matter.
static void test_fingerprint_ignores_names_and_colours(void** unused) {
	(void)unused;
	knBodyId body;
	knShapeId shape;
	knJointId joint;
	knScene* scene = pairScene(&body, &shape, &joint);
	knModel* before = compile(scene);
	knScene_EditBody(scene, body)->color = 0xff0000;
	knScene_EditBody(scene, body)->name = "other";
	knScene_EditBody(scene, body)->userData = scene;
	knModel* after = compile(scene);
	assert_true(before->fingerprint == after->fingerprint);
	knModel_Release(before);
	knModel_Release(after);
	knScene_Destroy(scene);
}

// --- life ------------------------------------------------------------------------------------------------

static void test_model_outlives_its_scene_and_shares_geometry(void** unused) {
	(void)unused;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knScene* scene = knScene_Create(NULL, &allocator, NULL);
	addBall(scene, "a", knV3(1, 2, 3));
	knModel* first = compile(scene);
	knModel* second = compile(scene);
	const knGeom* geom = first->shapes[0].geom;
	assert_ptr_equal(geom, second->shapes[0].geom);
	assert_ptr_equal(geom, knScene_GetShapeGeom(scene, knScene_ShapeAt(scene, 0)));
	knScene_Destroy(scene);
	knModel_Release(first);
	knModel_Retain(second);
	knModel_Release(second);
	assert_int_equal(knGeom_Kind(second->shapes[0].geom), KN_GEOM_SPHERE);
	assert_string_equal(knScene_GetBody(knModel_Scene(second), knModel_BodyAt(second, 0))->name, "a");
	assert_near3(second->initialPose[1].p, knV3(1, 2, 3), 0.0);
	knModel_Release(second);
	assert_int_equal(memory.live, 0);
}

static void test_no_leak_when_memory_runs_out(void** unused) {
	(void)unused;
	knTestMemory memory;
	knAllocator allocator = testAllocator(&memory);
	knScene* scene = knScene_Create(NULL, &allocator, NULL);
	knBodyId a = addBall(scene, "a", knZero3()), b = addBall(scene, NULL, knV3(2, 0, 0));
	join(scene, KN_JOINT_BALL, a, b);
	assert_ok(knScene_ExcludePair(scene, KN_WORLD_BODY, b, NULL));
	size_t own = memory.live;
	knModel* model = NULL;
	int failures = -1;
	for (int failAfter = 0; model == NULL; ++failAfter) {
		memory.calls = 0;
		memory.failAfter = failAfter;
		knError error = { 0 };
		model = knModel_Create(scene, &error);
		failures += 1;
		if (model == NULL) {
			assert_int_equal(error.status, KN_NO_MEMORY);
			assert_int_equal(memory.live, own);
		}
	}
	assert_true(failures > 10);
	memory.failAfter = -1;

	// the collider over it
	size_t withModel = memory.live;
	knCollider* collider = NULL;
	for (int failAfter = 0; collider == NULL; ++failAfter) {
		memory.calls = 0;
		memory.failAfter = failAfter;
		knError error = { 0 };
		collider = knModel_CreateCollider(model, &allocator, &error);
		if (collider == NULL) {
			assert_int_equal(error.status, KN_NO_MEMORY);
			assert_int_equal(memory.live, withModel);
		}
	}
	knCollider_Destroy(collider);
	knModel_Release(model);
	knScene_Destroy(scene);
	assert_int_equal(memory.live, 0);
}

// --- collider --------------------------------------------------------------------------------------------

static int touchingPairs(const knModel* model) {
	knCollider* collider = knModel_CreateCollider(model, NULL, NULL);
	assert_non_null(collider);
	knCollideInput input = { .frames = model->initialPose };
	knContactSet contacts;
	assert_ok(knCollide(collider, &input, &contacts, NULL));
	int count = contacts.pairCount;
	knCollider_Destroy(collider);
	return count;
}

// Three overlapping balls in a row; a joint between two of them, a fixed one, an excluded pair: fewer
// contacts each.
static void test_collider_knows_neighbours_and_fixed_bodies(void** unused) {
	(void)unused;
	knScene* scene = knScene_Create(NULL, NULL, NULL);
	knBodyId b[4];
	for (int i = 0; i < 4; ++i) {
		b[i] = addBall(scene, NULL, knV3(0.9 * i, 0, 0));
	}
	knModel* model = compile(scene);
	assert_int_equal(touchingPairs(model), 3);
	knModel_Release(model);
	join(scene, KN_JOINT_BALL, b[0], b[1]);
	model = compile(scene);
	assert_int_equal(touchingPairs(model), 2);
	knModel_Release(model);
	knScene_EditBody(scene, b[2])->kind = KN_BODY_FIXED;
	knScene_EditBody(scene, b[3])->kind = KN_BODY_FIXED;
	model = compile(scene);
	assert_int_equal(touchingPairs(model), 1);
	knModel_Release(model);
	assert_ok(knScene_ExcludePair(scene, b[1], b[2], NULL));
	model = compile(scene);
	assert_int_equal(touchingPairs(model), 0);
	knModel_Release(model);
	knScene_Destroy(scene);
}

// --- joints made at run time -----------------------------------------------------------------------------

static void test_compile_joint_checks_its_ends(void** unused) {
	(void)unused;
	knBodyId body;
	knShapeId shape;
	knJointId joint;
	knScene* scene = pairScene(&body, &shape, &joint);
	knModel* model = compile(scene);
	knJoint compiled;
	knError error = { 0 };
	knJointDef def = knJointDef_Default(KN_JOINT_BALL);
	def.name = "hook";
	def.parent = body;
	def.child = (knBodyId){ 40, 1 };
	assert_int_equal(knModel_CompileJoint(model, &def, &compiled, &error), KN_BAD_DATA);
	assert_string_equal(error.element, "joint 'hook'");
	def.child = body;
	assert_int_equal(knModel_CompileJoint(model, &def, &compiled, &error), KN_BAD_DATA);
	def.child = KN_WORLD_BODY;
	assert_ok(knModel_CompileJoint(model, &def, &compiled, &error));
	assert_int_equal(compiled.parent, knModel_BodyIndex(model, body));
	assert_int_equal(compiled.child, 0);
	assert_int_equal(compiled.nq, 4);

	// the same def gives the same bytes, whatever was in the memory before
	knJoint again;
	memset(&again, 0xa5, sizeof(again));
	assert_ok(knModel_CompileJoint(model, &def, &again, NULL));
	assert_memory_equal(&again, &compiled, sizeof(again));
	knModel_Release(model);
	knScene_Destroy(scene);
}

static void test_combine_rules(void** unused) {
	(void)unused;
	assert_near(knCombine_Apply(KN_COMBINE_MIN, 0.25, 1.0), 0.25, 0.0);
	assert_near(knCombine_Apply(KN_COMBINE_AVERAGE, 0.25, 1.0), 0.625, 0.0);
	assert_near(knCombine_Apply(KN_COMBINE_GEOMETRIC, 0.25, 1.0), 0.5, 0.0);
	assert_near(knCombine_Apply(KN_COMBINE_MAX, 0.25, 1.0), 1.0, 0.0);
	assert_near(knCombine_Apply(KN_COMBINE_MULTIPLY, 0.25, 0.5), 0.125, 0.0);
	assert_near(knCombine_Apply(KN_COMBINE_MULTIPLY, 0.5, 0.5), 0.25, 0.0);
	knTestRandom random = { 2 };
	for (int i = 0; i < 200; ++i) {
		double a = testUniform(&random, 0.0, 2.0), b = testUniform(&random, 0.0, 2.0);
		for (int rule = 0; rule <= KN_COMBINE_MULTIPLY; ++rule) {
			assert_true(knCombine_Apply((knCombine)rule, a, b) == knCombine_Apply((knCombine)rule, b, a));
			if (rule != KN_COMBINE_MULTIPLY) {
				assert_true(knCombine_Apply((knCombine)rule, a, a) == a);
			}
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mass_from_shapes),
		cmocka_unit_test(test_frames_move_to_the_centre_of_mass),
		cmocka_unit_test(test_bodies_that_are_not_dynamic_have_no_mass),
		cmocka_unit_test(test_slots_map_to_dense_indices),
		cmocka_unit_test(test_excluded_pairs),
		cmocka_unit_test(test_degrees_of_freedom),
		cmocka_unit_test(test_joint_coordinates_are_laid_out),
		cmocka_unit_test(test_fingerprint_tells_models_apart),
		cmocka_unit_test(test_fingerprint_ignores_names_and_colours),
		cmocka_unit_test(test_model_outlives_its_scene_and_shares_geometry),
		cmocka_unit_test(test_no_leak_when_memory_runs_out),
		cmocka_unit_test(test_collider_knows_neighbours_and_fixed_bodies),
		cmocka_unit_test(test_compile_joint_checks_its_ends),
		cmocka_unit_test(test_combine_rules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
