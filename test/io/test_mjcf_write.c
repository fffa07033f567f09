// Scene -> MJCF -> scene: every number of every def comes back bit by bit, and so does the motion.
#include "mjcf_test.h"
#include "geom/geom.h"

#include "catalogue.h"

static const char outPath[] = "round_trip.xml";

static void failError(const knError* error) {
	char line[1024];
	fail_msg("%s", knError_Format(error, line, sizeof line));
}

static knScene* roundTrip(const knScene* scene) {
	knError error = { .status = KN_OK };
	knLoadReport report;
	if (knMjcf_Save(scene, outPath, &error) != KN_OK) {
		failError(&error);
	}
	knScene* back = knMjcf_Load(outPath, NULL, &report, &error);
	if (back == NULL) {
		failError(&error);
	}
	// what the writer writes, the reader understands completely; couplings are soft in any file
	for (int i = 0; i < report.count; ++i) {
		if (strstr(report.lines[i], "is held softly") == NULL) {
			fail_msg("reported: %s", report.lines[i]);
		}
	}
	knLoadReport_Free(&report);
	remove(outPath);
	return back;
}

// --- equal scenes ---

#define assert_same(a, b) assert_memory_equal(&(a), &(b), sizeof(a))

static void compareBodies(const knScene* a, const knScene* b) {
	assert_int_equal(knScene_BodySlots(a), knScene_BodySlots(b));
	for (int i = 0; i < knScene_BodySlots(a); ++i) {
		const knBodyDef* x = knScene_GetBody(a, knScene_BodyAt(a, i));
		const knBodyDef* y = knScene_GetBody(b, knScene_BodyAt(b, i));
		assert_string_equal(x->name, y->name);
		assert_int_equal(x->kind, y->kind);
		assert_same(x->frame, y->frame);
		assert_int_equal(x->hasMass, y->hasMass);
		if (x->hasMass) {
			assert_same(x->mass, y->mass);
		}
		assert_same(x->velocity, y->velocity);
		assert_same(x->angularVelocity, y->angularVelocity);
		assert_same(x->gravityScale, y->gravityScale);
		assert_same(x->linearDamping, y->linearDamping);
		assert_same(x->angularDamping, y->angularDamping);
		assert_int_equal(x->fast, y->fast);
		assert_int_equal(x->color, y->color);
	}
}

static void compareGeoms(const knGeom* a, const knGeom* b) {
	assert_int_equal(knGeom_Kind(a), knGeom_Kind(b));
	const knVec3 x = knGeom_Size(a), y = knGeom_Size(b);
	assert_same(x, y);
	int verticesA, verticesB, trianglesA, trianglesB;
	const knVec3* p = knGeom_Vertices(a, &verticesA);
	const knVec3* q = knGeom_Vertices(b, &verticesB);
	const knTriangle* s = knGeom_Triangles(a, &trianglesA);
	const knTriangle* t = knGeom_Triangles(b, &trianglesB);
	assert_int_equal(verticesA, verticesB);
	assert_int_equal(trianglesA, trianglesB);
	if (verticesA > 0) {
		assert_memory_equal(p, q, sizeof(knVec3) * (size_t)verticesA);
		assert_memory_equal(s, t, sizeof(knTriangle) * (size_t)trianglesA);
	}
	assert_int_equal(knGeom_IsSurface(a), knGeom_IsSurface(b));
	assert_int_equal(knGeom_ChildCount(a), knGeom_ChildCount(b));
	for (int i = 0; i < knGeom_ChildCount(a); ++i) {
		const knGeomChild x1 = knGeom_Child(a, i), y1 = knGeom_Child(b, i);
		assert_same(x1.frame, y1.frame);
		compareGeoms(x1.geom, y1.geom);
	}
}

static void compareShapes(const knScene* a, const knScene* b) {
	assert_int_equal(knScene_ShapeSlots(a), knScene_ShapeSlots(b));
	for (int i = 0; i < knScene_ShapeSlots(a); ++i) {
		const knShapeId ia = knScene_ShapeAt(a, i), ib = knScene_ShapeAt(b, i);
		const knShapeDef* x = knScene_GetShape(a, ia);
		const knShapeDef* y = knScene_GetShape(b, ib);
		compareGeoms(knScene_GetShapeGeom(a, ia), knScene_GetShapeGeom(b, ib));
		assert_int_equal(knScene_GetShapeBody(a, ia).index1, knScene_GetShapeBody(b, ib).index1);
		assert_same(x->frame, y->frame);
		assert_same(x->density, y->density);
		assert_same(x->friction, y->friction);
		assert_same(x->restitution, y->restitution);
		assert_same(x->rollingFriction, y->rollingFriction);
		assert_same(x->filter.category, y->filter.category);
		assert_same(x->filter.mask, y->filter.mask);
		assert_int_equal(x->filter.group, y->filter.group);
		assert_int_equal(x->sensor, y->sensor);
		assert_int_equal(x->color, y->color);
	}
}

static void compareAxes(const knJointAxis* x, const knJointAxis* y) {
	assert_int_equal(x->limited, y->limited);
	if (x->limited) {
		assert_same(x->lower, y->lower);
		assert_same(x->upper, y->upper);
	}
	assert_same(x->friction, y->friction);
	assert_same(x->bearing, y->bearing);
	assert_same(x->damping, y->damping);
	assert_int_equal(x->motorMode, y->motorMode);
	assert_same(x->motorTarget, y->motorTarget);
	assert_same(x->motorMaxForce, y->motorMaxForce);
	assert_same(x->stiffness, y->stiffness);
	assert_same(x->rest, y->rest);
}

static void compareJoints(const knScene* a, const knScene* b) {
	assert_int_equal(knScene_JointSlots(a), knScene_JointSlots(b));
	for (int i = 0; i < knScene_JointSlots(a); ++i) {
		const knJointDef* x = knScene_GetJoint(a, knScene_JointAt(a, i));
		const knJointDef* y = knScene_GetJoint(b, knScene_JointAt(b, i));
		assert_string_equal(x->name, y->name);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->parent.index1, y->parent.index1);
		assert_int_equal(x->child.index1, y->child.index1);
		assert_same(x->frameParent, y->frameParent);
		assert_same(x->frameChild, y->frameChild);
		for (int k = 0; k < 6; ++k) {
			compareAxes(&x->axis[k], &y->axis[k]);
		}
		assert_int_equal(x->coneLimited, y->coneLimited);
		assert_int_equal(x->twistLimited, y->twistLimited);
		assert_same(x->coneY, y->coneY);
		assert_same(x->twistUpper, y->twistUpper);
		assert_int_equal(x->reachCount, y->reachCount);
		assert_same(x->reach, y->reach);
		for (int k = 0; k < KN_REACH_MAX; ++k) {
			assert_int_equal(x->reachTwist[k].own, y->reachTwist[k].own);
			assert_same(x->reachTwist[k].lower, y->reachTwist[k].lower);
			assert_same(x->reachTwist[k].upper, y->reachTwist[k].upper);
		}
		assert_int_equal(x->collide, y->collide);
		assert_int_equal(x->enabled, y->enabled);
		assert_int_equal(x->loop, y->loop);
		assert_same(x->maxForce, y->maxForce);
	}
}

static void compareSettings(const knSettings* x, const knSettings* y) {
	for (int i = 0; knSettings_Name(i) != NULL; ++i) {
		char a[32], b[32];
		assert_int_equal(knSettings_Get(x, i, a, sizeof a), knSettings_Get(y, i, b, sizeof b));
		assert_string_equal(a, b);
	}
}

static void compareScenes(const knScene* a, const knScene* b) {
	const knSceneDef* x = knScene_GetDef(a);
	const knSceneDef* y = knScene_GetDef(b);
	assert_string_equal(x->name, y->name);
	assert_string_equal(x->stepper, y->stepper);
	assert_same(x->gravity, y->gravity);
	assert_same(x->dt, y->dt);
	compareSettings(&x->settings, &y->settings);
	assert_int_equal(x->frictionCombine, y->frictionCombine);
	assert_int_equal(x->restitutionCombine, y->restitutionCombine);
	assert_int_equal(x->jointCapacity, y->jointCapacity);
	compareBodies(a, b);
	compareShapes(a, b);
	compareJoints(a, b);
	assert_int_equal(knScene_ExcludedCount(a), knScene_ExcludedCount(b));
	for (int i = 0; i < knScene_ExcludedCount(a); ++i) {
		knBodyId p, q, r, s;
		knScene_GetExcluded(a, i, &p, &q);
		knScene_GetExcluded(b, i, &r, &s);
		assert_int_equal(p.index1, r.index1);
		assert_int_equal(q.index1, s.index1);
	}
}

// --- a scene of everything, with numbers that do not come out even ---

static knBodyId addBody(knScene* scene, knTestRandom* random, const char* name, knBodyKind kind) {
	knBodyDef def = knBodyDef_Default();
	def.name = name;
	def.kind = kind;
	def.frame = testFrame(random, 3.0);
	if (kind == KN_BODY_DYNAMIC) {
		def.velocity = testVec3(random, 1.0);
		def.angularVelocity = testVec3(random, 1.0);
	}
	knError error = { .status = KN_OK };
	const knBodyId id = knScene_AddBody(scene, &def, &error);
	if (KN_ID_IS_NULL(id)) {
		failError(&error);
	}
	return id;
}

static knShapeDef randomShape(knTestRandom* random) {
	knShapeDef def = knShapeDef_Default();
	def.frame = testFrame(random, 0.5);
	def.density = testUniform(random, 100.0, 1000.0);
	def.friction = testUniform(random, 0.0, 1.0);
	def.restitution = testUniform(random, 0.0, 1.0);
	def.rollingFriction = testUniform(random, 0.0, 0.01);
	def.color = (uint32_t)testInt(random, 0x1000000) | (uint32_t)testInt(random, 256) << 24;
	return def;
}

static void addShapes(knScene* scene, knTestRandom* random, knBodyId body) {
	knShapeDef def = randomShape(random);
	knScene_AddSphere(scene, body, testUniform(random, 0.1, 0.3), &def, NULL);
	def = randomShape(random);
	def.name = "same name";
	def.filter = (knFilter){ testNext(random), testNext(random), testInt(random, 9) - 4 };
	knScene_AddBox(scene, body, knV3(0.1, testUniform(random, 0.1, 0.3), 0.2), &def, NULL);
	def = randomShape(random);
	def.sensor = true;
	knScene_AddCapsule(scene, body, 0.1, testUniform(random, 0.1, 0.3), &def, NULL);

	// a compound, in a frame of its own
	knGeom* ball = knGeom_Sphere(testUniform(random, 0.1, 0.3), NULL, NULL);
	knGeom* box = knGeom_Box(knV3(0.1, 0.2, 0.3), NULL, NULL);
	const knGeomChild children[] = { { ball, testFrame(random, 0.3) }, { box, testFrame(random, 0.3) } };
	knGeom* compound = knGeom_Compound(children, 2, NULL, NULL);
	def = randomShape(random);
	knScene_AddShape(scene, body, compound, &def, NULL);
	knGeom_Release(ball);
	knGeom_Release(box);
	knGeom_Release(compound);
}

static void addJoint(knScene* scene, knTestRandom* random, knJointKind kind, knBodyId parent, knBodyId child,
					 const char* name, bool loop) {
	knJointDef def = knJointDef_Default(kind);
	def.name = name;
	def.parent = parent;
	def.child = child;
	def.frameParent = testFrame(random, 1.0);
	def.frameChild = testFrame(random, 1.0);
	static const int axes[] = { 3, 1, 1, 2, 3, 2, 2, 3, 6, 0 };
	for (int i = 0; i < axes[kind]; ++i) {
		knJointAxis* axis = &def.axis[i];
		axis->limited = kind != KN_JOINT_BALL && kind != KN_JOINT_FREE && testInt(random, 2) == 0;
		axis->lower = axis->limited ? testUniform(random, -2.0, 0.0) : 0.0;
		axis->upper = axis->limited ? testUniform(random, 0.0, 2.0) : 0.0;
		axis->friction = testUniform(random, 0.0, 0.1);
		axis->bearing = testInt(random, 2) == 0 ? testUniform(random, 0.0, 0.1) : 0.0;
		axis->damping = testUniform(random, 0.0, 0.1);
		axis->stiffness = testUniform(random, 0.0, 1.0);
		axis->rest = testUniform(random, -1.0, 1.0);
		axis->motorMode = (knMotorMode)testInt(random, 4);
		axis->motorTarget = testUniform(random, -1.0, 1.0);
		axis->motorMaxForce = testUniform(random, 0.0, 1.0);
	}
	if (kind == KN_JOINT_BALL && testInt(random, 2) == 0) {
		def.coneLimited = def.twistLimited = true;
		def.coneY = testUniform(random, 0.1, 1.0);
		def.coneZ = testUniform(random, 0.1, 1.0);
		def.twistLower = -0.3;
		def.twistUpper = testUniform(random, 0.0, 1.0);
	}
	if (kind == KN_JOINT_BALL && !def.coneLimited) {
		def.reachCount = 3 + testInt(random, KN_REACH_MAX - 2);
		for (int i = 0; i < def.reachCount; ++i) {
			const double angle = 2.0 * KN_PI * (i + testUniform(random, 0.0, 0.4)) / def.reachCount;
			def.reach[i] = knV3(testUniform(random, 0.5, 2.0), cos(angle), sin(angle));
			if (testInt(random, 2) == 0) {
				def.twistLimited = true;
				def.twistUpper = 0.25;
				def.reachTwist[i] =
					(knReachTwist){ true, testUniform(random, -1.0, 0.0), testUniform(random, 0.0, 1.0) };
			}
		}
	}
	def.collide = testInt(random, 2) == 0;
	def.enabled = testInt(random, 4) != 0;
	def.loop = loop;
	def.maxForce = testInt(random, 2) == 0 ? testUniform(random, 1e6, 1e7) : 0.0;
	knError error = { .status = KN_OK };
	if (KN_ID_IS_NULL(knScene_AddJoint(scene, &def, &error))) {
		failError(&error);
	}
}

enum { BODIES = 24 };

static knScene* everything(uint64_t seed) {
	knTestRandom random = { seed };
	knSceneDef def = knSceneDef_Default();
	def.name = "every <thing> & \"more\"";
	def.gravity = testVec3(&random, 9.0);
	def.dt = testUniform(&random, 0.001, 0.01);
	def.frictionCombine = KN_COMBINE_AVERAGE;
	def.restitutionCombine = KN_COMBINE_MIN;
	def.jointCapacity = 3;
	def.settings.sweeps = 17;
	def.settings.rolling = 0.1;
	def.settings.scheme = KN_SCHEME_PAPER;
	def.settings.reduced.integrator = 2;
	knScene* scene = knScene_Create(&def, NULL, NULL);
	knBodyId bodies[BODIES];
	for (int i = 0; i < BODIES; ++i) {
		char name[32];
		snprintf(name, sizeof name, i == 3 ? "it's a <b> \"&\" \xc3\xa4" : "body %d", i);
		const knBodyKind kind =
			i % 8 == 5 ? KN_BODY_FIXED : (i % 8 == 6 ? KN_BODY_KINEMATIC : KN_BODY_DYNAMIC);
		bodies[i] = addBody(scene, &random, name, kind);
		knBodyDef* body = knScene_EditBody(scene, bodies[i]);
		body->gravityScale = i % 3 == 0 ? testUniform(&random, 0.0, 2.0) : 1.0;
		body->linearDamping = i % 4 == 0 ? 0.123 : 0.0;
		body->fast = i % 5 == 0;
		body->color = (uint32_t)testInt(&random, 0x1000000);
		if (kind == KN_BODY_KINEMATIC) {
			body->velocity = testVec3(&random, 1.0);
			body->angularVelocity = testVec3(&random, 1.0);
		}
		body->hasMass = i % 2 == 0;
		const knMat33 principal = knDiagonal33(1.1, 1.2, 1.3);
		body->mass =
			(knMassProps){ 2.2, testVec3(&random, 0.1), knRotateTensor(testQuat(&random), &principal) };
		body->mass.inertia.cx.y = body->mass.inertia.cy.x;
		body->mass.inertia.cx.z = body->mass.inertia.cz.x;
		body->mass.inertia.cy.z = body->mass.inertia.cz.y;
	}
	// shapes in an order that is not the bodies'
	for (int i = BODIES - 1; i >= 0; --i) {
		addShapes(scene, &random, bodies[(i * 7) % BODIES]);
	}
	knShapeDef ground = randomShape(&random);
	ground.name = "shape0"; // a name that the writer might have made up
	knScene_AddPlane(scene, KN_WORLD_BODY, &ground, NULL);

	// joints of every kind, in trees, rings and loops
	for (int i = 0; i < 60; ++i) {
		const int kind = i % KN_JOINT_CUSTOM;
		const int a = testInt(&random, BODIES + 1) - 1, b = testInt(&random, BODIES);
		if (a != b) {
			char name[32];
			snprintf(name, sizeof name, "joint %d", i);
			addJoint(scene, &random, (knJointKind)kind, a < 0 ? KN_WORLD_BODY : bodies[a], bodies[b], name,
					 testInt(&random, 4) == 0);
		}
	}
	knScene_ExcludePair(scene, bodies[1], bodies[2], NULL);
	knScene_ExcludePair(scene, KN_WORLD_BODY, bodies[4], NULL);
	return scene;
}

static void test_everything_comes_back(void** state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 20; ++seed) {
		knScene* scene = everything(seed);
		knScene* back = roundTrip(scene);
		compareScenes(scene, back);
		knScene_Destroy(scene);
		knScene_Destroy(back);
	}
}

// Actuators, tendons, couplings, sensors and hulls come back, and the motion is the same bit by bit.
static void test_control_comes_back(void** state) {
	(void)state;
	static const char text[] =
		"<mujoco><compiler angle='radian'/><option density='1.2' viscosity='0.001'/><asset><mesh name='m' "
		"vertex='0 0 0 0.3 0 0 0 0.2 0 0 0 0.4 0.3 0.2 0 0.1 0.05 0.1'/></asset><worldbody>"
		"<geom type='plane' size='1 1 1'/><body name='a' pos='0 0 1'><joint name='j' axis='0 1 0' "
		"armature='0.1' "
		"actuatorfrcrange='-5 5'/><joint name='k' axis='1 0 0'/><geom type='mesh' mesh='m'/><site name='s' "
		"pos='0.1 0 0.2'/>"
		"<body name='b' pos='0.2 0 -0.3'><joint name='l' type='slide' axis='0.6 0 0.8'/><geom size='0.1'/>"
		"<site name='t' pos='0 0.1 0'/></body></body>"
		"<body name='c' pos='1 0 1'><freejoint/><geom size='0.1'/><site name='u'/></body></worldbody>"
		"<equality><joint name='e' joint1='k' joint2='l' polycoef='0.1 0.5 0.2'/></equality>"
		"<tendon><fixed name='f' stiffness='3' springlength='0.1 0.2'><joint joint='j' coef='0.7'/><joint "
		"joint='l' coef='-2'/>"
		"</fixed><spatial name='p' limited='true' range='0.1 0.5'><site site='s'/><site site='t'/><pulley "
		"divisor='2'/>"
		"<site site='s'/><site site='u'/></spatial></tendon>"
		"<actuator><position name='x' joint='j' kp='10' ctrlrange='-1 1'/><motor name='y' tendon='f' "
		"gear='0.3'/>"
		"<intvelocity name='z' joint='k' kp='5' actrange='-1 1'/><motor name='w' site='u' gear='0 0 1 0 0.1 "
		"0'/></actuator>"
		"<sensor><jointvel name='v' joint='k'/><gyro name='g' site='t'/><tendonpos name='tp' "
		"tendon='p'/></sensor>"
		"<custom><numeric name='knuckle.control.x' data='0.3'/><numeric name='knuckle.control.z' data='0.2 "
		"0.1'/>"
		"<numeric name='knuckle.control.w' data='2.7'/><numeric name='knuckle.control.y' "
		"data='1.1'/></custom></mujoco>";
	knScene* scene = load(text);
	knScene* back = roundTrip(scene);
	assert_int_equal(knScene_ActuatorCount(back), 4);
	assert_int_equal(knScene_ProbeCount(back), 3);
	uint64_t hashes[2];
	knScene* both[2] = { scene, back };
	for (int i = 0; i < 2; ++i) {
		knModel* model = compile(both[i]);
		knWorldDef def = knWorldDef_Default();
		knWorld* world = knWorld_Create(model, &def, NULL);
		for (int step = 0; step < 200; ++step) {
			assert_ok(knWorld_Step(world, 0.005, NULL));
		}
		hashes[i] = knWorld_Hash(world);
		knWorld_Destroy(world);
		knModel_Release(model);
		knScene_Destroy(both[i]);
	}
	assert_true(hashes[0] == hashes[1]);
}

// A tree written by the writer is MuJoCo's tree: read without the knuckle.* values it is the same scene to rounding.
static void test_the_tree_alone_is_nearly_exact(void** state) {
	(void)state;
	char path[512];
	knScene* scene = knMjcf_Load(repositoryPath("models/arm.xml", path, sizeof path), NULL, NULL, NULL);
	assert_non_null(scene);
	assert_ok(knMjcf_Save(scene, outPath, NULL));

	// cut <custom> out of the text
	FILE* file = fopen(outPath, "rb");
	char text[16384];
	const size_t size = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	remove(outPath);
	text[size] = '\0';
	char* from = strstr(text, "<custom>");
	assert_non_null(from);
	char* to = strstr(from, "</custom>") + strlen("</custom>");
	memmove(from, to, strlen(to) + 1);

	knScene* plain = load(text);
	assert_int_equal(knScene_BodySlots(plain), knScene_BodySlots(scene));
	for (int i = 0; i < knScene_BodySlots(scene); ++i) {
		const knBodyDef* a = knScene_GetBody(scene, knScene_BodyAt(scene, i));
		const knBodyDef* b = bodyNamed(plain, a->name);
		assert_near3(a->frame.p, b->frame.p, 1e-14);
		assert_same_rotation(a->frame.q, b->frame.q, 1e-14);
	}
	for (int i = 0; i < knScene_JointSlots(scene); ++i) {
		const knJointDef* a = knScene_GetJoint(scene, knScene_JointAt(scene, i));
		const knJointDef* b = jointNamed(plain, a->name);
		assert_int_equal(a->kind, b->kind);
		const knFrame x = jointFrame(scene, a), y = jointFrame(plain, b);
		assert_near3(x.p, y.p, 1e-14);
		if (a->kind != KN_JOINT_BALL) { // MJCF cannot say how a ball joint starts but by a keyframe
			assert_same_rotation(x.q, y.q, 1e-14);
		}
		assert_same(a->axis[0].lower, b->axis[0].lower);
		assert_same(a->axis[0].damping, b->axis[0].damping);
	}
	knScene_Destroy(scene);
	knScene_Destroy(plain);
}

// Every setting that --set knows, each alone, with the first of some values that it takes.
static void test_every_setting_comes_back(void** state) {
	(void)state;
	static const char* const values[] = { "0.25",  "7",          "1",         "paper",  "sweep",
										  "rk4",   "box",        "conjugate", "damped", "square",
										  "lemke", "integrated", "penalty" };
	const int count = (int)(sizeof values / sizeof *values);
	const knSettings standard = knSettings_Default();
	for (int i = 0; knSettings_Name(i) != NULL; ++i) {
		knSceneDef def = knSceneDef_Default();
		def.name = "settings";
		int taken = 0;
		while (knSettings_Set(&def.settings, knSettings_Name(i), values[taken], NULL) != KN_OK) {
			assert_true(++taken < count);
		}
		assert_memory_not_equal(&def.settings, &standard, sizeof standard);
		knScene* scene = knScene_Create(&def, NULL, NULL);
		knScene* back = roundTrip(scene);
		compareScenes(scene, back);
		knScene_Destroy(scene);
		knScene_Destroy(back);
	}
}

// A chain far longer than the C stack is deep.
static void test_long_chain(void** state) {
	(void)state;
	enum { LINKS = 20000 };
	knSceneDef def = knSceneDef_Default();
	def.name = "chain";
	knScene* scene = knScene_Create(&def, NULL, NULL);
	knBodyId last = KN_WORLD_BODY;
	for (int i = 0; i < LINKS; ++i) {
		knBodyDef body = knBodyDef_Default();
		body.frame.p = knV3(0.1 * i, 0.0, 0.0);
		const knBodyId next = knScene_AddBody(scene, &body, NULL);
		knScene_AddSphere(scene, next, 0.01, NULL, NULL);
		knJointDef joint = knJointDef_Default(KN_JOINT_BALL);
		assert_ok(knJointDef_At(&joint, scene, last, next, body.frame.p, knV3(1.0, 0.0, 0.0), NULL));
		assert_false(KN_ID_IS_NULL(knScene_AddJoint(scene, &joint, NULL)));
		last = next;
	}
	knScene* back = roundTrip(scene);
	compareScenes(scene, back);
	knScene_Destroy(scene);
	knScene_Destroy(back);
}

// --- what cannot be written ---

static knFrame anyState(knFrame joint, void* context) {
	(void)context;
	return joint;
}

static knTwist anyVelocity(knFrame joint, knTwist velocity, void* context) {
	(void)joint, (void)context;
	return velocity;
}

static bool exists(const char* path) {
	FILE* file = fopen(path, "rb");
	if (file != NULL) {
		fclose(file);
	}
	return file != NULL;
}

static void test_refusals_leave_no_file(void** state) {
	(void)state;
	knSceneDef def = knSceneDef_Default();
	def.name = "refused";
	knScene* scene = knScene_Create(&def, NULL, NULL);
	knBodyDef body = knBodyDef_Default();
	const knBodyId id = knScene_AddBody(scene, &body, NULL);
	knScene_AddSphere(scene, id, 1.0, NULL, NULL);
	knError error = { .status = KN_OK };

	assert_int_equal(knMjcf_Save(scene, "no/such/folder/x.xml", &error), KN_IO);
	assert_string_equal(error.file, "no/such/folder/x.xml");
	assert_int_equal(knMjcf_Save(NULL, outPath, &error), KN_BAD_ARGUMENT);

	knJointDef joint = knJointDef_Default(KN_JOINT_CUSTOM);
	joint.name = "black box";
	joint.child = id;
	joint.custom = (knCustomJoint){ anyState, anyVelocity, NULL };
	const knJointId custom = knScene_AddJoint(scene, &joint, &error);
	assert_false(KN_ID_IS_NULL(custom));
	assert_int_equal(knMjcf_Save(scene, outPath, &error), KN_UNSUPPORTED);
	assert_string_equal(error.element, "joint 'black box'");
	assert_ok(knScene_RemoveJoint(scene, custom, NULL));

	static const char* const names[] = { "world", "bell\a", "cut \xc3", "\xed\xa0\x80" };
	for (int i = 0; i < 4; ++i) {
		body.name = names[i];
		const knBodyId bad = knScene_AddBody(scene, &body, NULL);
		assert_int_equal(knMjcf_Save(scene, outPath, &error), KN_UNSUPPORTED);
		assert_ok(knScene_RemoveBody(scene, bad, NULL));
	}
	assert_false(exists(outPath));
	assert_false(exists("round_trip.xml.part"));

	// slots that were removed leave no trace
	knScene* back = roundTrip(scene);
	assert_int_equal(knScene_BodySlots(back), 1);
	knScene_Destroy(back);
	knScene_Destroy(scene);
}

// --- motion ---

static uint64_t hashAfter(const knScene* scene, const knSceneArgs* args, int steps) {
	knError error = { .status = KN_OK };
	knModel* model = knModel_Create(scene, &error);
	if (model == NULL) {
		failError(&error);
	}
	knWorld* world = knWorld_Create(model, NULL, &error);
	if (world == NULL) {
		failError(&error);
	}
	for (int i = 0; i < steps; ++i) {
		if (args->entry->script != NULL) {
			args->entry->script(world, args);
		}
		if (knWorld_Step(world, knScene_GetDef(scene)->dt, &error) != KN_OK) {
			failError(&error);
		}
	}
	const uint64_t hash = knWorld_Hash(world);
	knWorld_Destroy(world);
	knModel_Release(model);
	return hash;
}

static bool has(const knScene* scene, knGeomKind kind) {
	for (int i = 0; i < knScene_ShapeSlots(scene); ++i) {
		if (knGeom_Kind(knScene_GetShapeGeom(scene, knScene_ShapeAt(scene, i))) == kind) {
			return true;
		}
	}
	return false;
}

// Every scene of the catalogue, small, survives with the same numbers and the same motion, meshes that collide as they are
// too; one with a height field is refused.
static void test_catalogue(void** state) {
	(void)state;
	int meshes = 0;
	assert_true(knCatalogue_Count() > 0);
	for (int i = 0; i < knCatalogue_Count(); ++i) {
		knSceneArgs args = knSceneArgs_Default(knCatalogue_At(i));
		args.small = true;
		knError error = { .status = KN_OK };
		knScene* scene = knSceneArgs_Build(&args, &error);
		if (scene == NULL) {
			failError(&error);
		}
		if (has(scene, KN_GEOM_HEIGHT_FIELD)) {
			assert_int_equal(knMjcf_Save(scene, outPath, &error), KN_UNSUPPORTED);
			knScene_Destroy(scene);
			continue;
		}
		const bool mesh = has(scene, KN_GEOM_MESH);
		const int steps = mesh ? 2 : 8;
		meshes += mesh ? 1 : 0;
		knScene* back = roundTrip(scene);
		compareScenes(scene, back);
		if (hashAfter(scene, &args, steps) != hashAfter(back, &args, steps)) {
			fail_msg("'%s' moves differently after a round trip", args.entry->name);
		}
		knScene_Destroy(scene);
		knScene_Destroy(back);
	}
	assert_true(meshes >= 4);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_comes_back),
		cmocka_unit_test(test_control_comes_back),
		cmocka_unit_test(test_the_tree_alone_is_nearly_exact),
		cmocka_unit_test(test_every_setting_comes_back),
		cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_refusals_leave_no_file),
		cmocka_unit_test(test_catalogue),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
