// Bullets: what is fast never passes a wall, what misses keeps its velocity, and hits keep the momentum.
//
// A trial is a lane of its own, a bullet and what it is shot at; only shapes of one lane may touch. Bullets are 1 cm
// wide and fly at 300 m/s, 5 m in a step; walls are 1 cm thick.
#include "support/kn_test.h"
#include "support/mesh_shapes.h"
#include "world/fixture.h"

#define SPEED 300.0
#define DT (1.0 / 60.0)
#define LANES 50
#define STEPS 5
#define WALL_HALF 1.0
#define WALL_THIN 0.005
#define BULLET 0.005

typedef enum WallKind { WALL_FIXED, WALL_FREE, WALL_MESH, WALL_SURFACE, WALL_BULLET, WALL_KINDS } WallKind;

typedef struct Lane {
	WallKind kind;
	bool misses;
	knBodyId bullet, wall;
	knFrame start; // of the wall
	knVec3 before; // the bullet in the wall's frame
	knVec3 velocity;
} Lane;

typedef struct Geoms {
	knGeom *plate, *sheet;
} Geoms;

static Geoms makeGeoms(void) {
	knError error = { 0 };
	Geoms geoms;
	knTestMesh box = testMeshBox(knV3(WALL_HALF, WALL_HALF, WALL_THIN));
	knMeshDef def = testMeshDef(&box);
	geoms.plate = knGeom_Mesh(&def, NULL, &error);
	testMeshFree(&box);
	// two triangles that look along -z, where the bullets come from
	knVec3 corners[4] = { { -WALL_HALF, -WALL_HALF, 0.0 },
						  { WALL_HALF, -WALL_HALF, 0.0 },
						  { WALL_HALF, WALL_HALF, 0.0 },
						  { -WALL_HALF, WALL_HALF, 0.0 } };
	knTriangle triangles[2] = { { 0, 2, 1 }, { 0, 3, 2 } };
	def.vertices = corners;
	def.vertexCount = 4;
	def.triangles = triangles;
	def.triangleCount = 2;
	def.solid = false;
	geoms.sheet = knGeom_Mesh(&def, NULL, &error);
	assert_non_null(geoms.plate);
	assert_non_null(geoms.sheet);
	return geoms;
}

static void freeGeoms(const Geoms* geoms) {
	knGeom_Release(geoms->plate);
	knGeom_Release(geoms->sheet);
}

static void addBulletShape(knScene* scene, knBodyId body, int form, const knShapeDef* shape) {
	knError error = { 0 };
	knShapeId id;
	if (form == 0) {
		id = knScene_AddSphere(scene, body, BULLET, shape, &error);
	} else if (form == 1) {
		id = knScene_AddBox(scene, body, knV3(BULLET, BULLET, BULLET), shape, &error);
	} else {
		id = knScene_AddCapsule(scene, body, BULLET, 2.0 * BULLET, shape, &error);
	}
	if (KN_ID_IS_NULL(id)) {
		failWith(&error);
	}
}

static void addWallShape(knScene* scene, const Lane* lane, const Geoms* geoms, const knShapeDef* shape) {
	knError error = { 0 };
	knShapeId id;
	if (lane->kind == WALL_MESH) {
		id = knScene_AddShape(scene, lane->wall, geoms->plate, shape, &error);
	} else if (lane->kind == WALL_SURFACE) {
		id = knScene_AddShape(scene, lane->wall, geoms->sheet, shape, &error);
	} else if (lane->kind == WALL_BULLET) {
		id = knScene_AddSphere(scene, lane->wall, BULLET, shape, &error);
	} else {
		id = knScene_AddBox(scene, lane->wall, knV3(WALL_HALF, WALL_HALF, WALL_THIN), shape, &error);
	}
	if (KN_ID_IS_NULL(id)) {
		failWith(&error);
	}
}

// The wall stands anywhere; the bullet flies from its -z side to a point on it, or beside it.
static Lane addLane(knScene* scene, knTestRandom* random, const Geoms* geoms, int index, WallKind kind,
					bool misses) {
	Lane lane = { .kind = kind, .misses = misses };
	knShapeDef shape =
		material(testUniform(random, 0.0, 1.0), testInt(random, 2) * testUniform(random, 0.0, 1.0));
	shape.filter = (knFilter){ .category = 1, .mask = 0, .group = index + 1 };
	lane.start = knMakeFrame(testVec3(random, 20.0), testQuat(random));
	knVec3 target = knV3(testUniform(random, -0.97, 0.97), testUniform(random, -0.97, 0.97), 0.0);
	if (misses) {
		target = knV3(1.0 + testUniform(random, 0.03, 0.5), testUniform(random, -1.2, 1.2), 0.0);
	}
	knVec3 slant = knV3(testUniform(random, -1.0, 1.0), testUniform(random, -1.0, 1.0), 1.0);
	slant = misses ? knV3(0.0, slant.y, 1.0) : slant;
	knVec3 direction = knRotate(lane.start.q, knNormalize(slant));
	knVec3 from = knMulAdd(knPoint(lane.start, target), -testUniform(random, 0.1, 8.0), direction);

	knBodyDef def = knBodyDef_Default();
	lane.velocity = knScale(SPEED, direction);
	def.frame = knMakeFrame(from, testQuat(random));
	def.velocity = lane.velocity;
	def.angularVelocity = testVec3(random, testInt(random, 3) * 300.0);
	def.fast = testInt(random, 2) == 1; // they go farther than their size: marked or not
	lane.bullet = newBody(scene, &def);
	int form = kind == WALL_BULLET ? 0 : testInt(random, 3);
	addBulletShape(scene, lane.bullet, form, &shape);

	def = knBodyDef_Default();
	def.frame = lane.start;
	def.kind = kind == WALL_FREE || kind == WALL_BULLET ? KN_BODY_DYNAMIC : KN_BODY_FIXED;
	if (kind == WALL_BULLET) {
		// they meet where they would be after the same time
		knVec3 aside =
			misses ? knScale(0.03, knNormalize(knCross(direction, knV3(0.3, 0.5, 0.7)))) : knZero3();
		double distance = testUniform(random, 0.2, 12.0);
		def.frame.p = knAdd(knMulAdd(from, distance, direction), aside);
		def.velocity = knScale(-SPEED, direction);
		lane.start = def.frame;
	}
	lane.wall = newBody(scene, &def);
	addWallShape(scene, &lane, geoms, &shape);
	return lane;
}

// The bullet's centre went from one side of the wall to the other, through it.
static bool hasPassed(const knWorld* world, Lane* lane) {
	if (lane->kind == WALL_BULLET) {
		// two balls on one line: their order along it
		knVec3 apart = knSub(knWorld_BodyCenter(world, lane->wall), knWorld_BodyCenter(world, lane->bullet));
		return knDot(apart, lane->velocity) < 0.0;
	}
	knVec3 p = knInvPoint(knWorld_BodyFrame(world, lane->wall), knWorld_BodyCenter(world, lane->bullet));
	knVec3 q = lane->before;
	lane->before = p;
	if (!(q.z < 0.0 && p.z >= 0.0)) {
		return false;
	}
	knVec3 at = knLerp(q, p, -q.z / (p.z - q.z));
	return fabs(at.x) < WALL_HALF && fabs(at.y) < WALL_HALF;
}

// Momentum of a lane about the wall's first place.
static void momenta(const knWorld* world, const knModel* model, const Lane* lane, knVec3* linear,
					knVec3* angular) {
	knBodyId bodies[2] = { lane->bullet, lane->wall };
	*linear = *angular = knZero3();
	for (int i = 0; i < 2; ++i) {
		knMassProps mass = knModel_BodyMass(model, bodies[i]);
		knVec3 p = knScale(mass.mass, knWorld_BodyVelocity(world, bodies[i]));
		knVec3 arm = knSub(knWorld_BodyCenter(world, bodies[i]), lane->start.p);
		knQuat q = knWorld_BodyFrame(world, bodies[i]).q;
		knMat33 inertia = knRotateTensor(q, &mass.inertia);
		knVec3 spin = knMulMV(&inertia, knWorld_BodyAngularVelocity(world, bodies[i]));
		*linear = knAdd(*linear, p);
		*angular = knAdd(*angular, knAdd(knCross(arm, p), spin));
	}
}

static void checkLane(const knWorld* world, const knModel* model, Lane* lane, knVec3 linear, knVec3 angular) {
	if (!lane->misses && hasPassed(world, lane)) {
		fail_msg("a bullet went through wall kind %d", (int)lane->kind);
	}
	if (lane->misses) {
		assert_near3(knWorld_BodyVelocity(world, lane->bullet), lane->velocity, 1e-12 * SPEED);
	}
	if (lane->kind == WALL_FREE || lane->kind == WALL_BULLET) {
		knVec3 nowLinear, nowAngular;
		momenta(world, model, lane, &nowLinear, &nowAngular);
		double mass = knModel_BodyMass(model, lane->bullet).mass;
		assert_near3(nowLinear, linear, 1e-10 * mass * SPEED);
		assert_near3(nowAngular, angular, 1e-10 * mass * SPEED);
	}
}

static void shoot(const char* stepper, uint64_t seed, int worlds, bool misses, const char* scheme) {
	knTestRandom random = { seed };
	Geoms geoms = makeGeoms();
	knError error = { 0 };
	for (int w = 0; w < worlds; ++w) {
		knScene* scene = newScene(knZero3());
		Lane lanes[LANES];
		for (int i = 0; i < LANES; ++i) {
			lanes[i] = addLane(scene, &random, &geoms, i, (WallKind)(i % WALL_KINDS), misses);
		}
		knModel* model = knModel_Create(scene, &error);
		if (model == NULL) {
			failWith(&error);
		}
		knWorldDef def = knWorldDef_Default();
		knSettings settings = knSettings_Default();
		assert_ok(knSettings_Set(&settings, "scheme", scheme, &error));
		def.stepper = stepper;
		def.settings = &settings;
		knWorld* world = knWorld_Create(model, &def, &error);
		if (world == NULL) {
			failWith(&error);
		}
		knVec3 linear[LANES], angular[LANES];
		for (int i = 0; i < LANES; ++i) {
			momenta(world, model, &lanes[i], &linear[i], &angular[i]);
			lanes[i].before = knInvPoint(lanes[i].start, knWorld_BodyCenter(world, lanes[i].bullet));
		}
		for (int k = 0; k < STEPS; ++k) {
			if (knWorld_Step(world, DT, &error) != KN_OK) {
				failWith(&error);
			}
			for (int i = 0; i < LANES; ++i) {
				checkLane(world, model, &lanes[i], linear[i], angular[i]);
			}
		}
		knWorld_Destroy(world);
		knModel_Release(model);
		knScene_Destroy(scene);
	}
	freeGeoms(&geoms);
}

static void test_no_bullet_passes_velocity(void** state) {
	(void)state;
	shoot("velocity", 1, 200, false, "default");
}

static void test_no_bullet_passes_impulse(void** state) {
	(void)state;
	shoot("impulse", 2, 200, false, "default");
}

static void test_no_bullet_passes_published_schemes(void** state) {
	(void)state;
	shoot("velocity", 5, 10, false, "paper");
	shoot("impulse", 6, 10, false, "paper");
}

static void test_misses_keep_their_velocity(void** state) {
	(void)state;
	shoot("velocity", 3, 20, true, "default");
	shoot("impulse", 4, 20, true, "default");
	shoot("velocity", 7, 4, true, "paper");
	shoot("impulse", 8, 4, true, "paper");
}

// --- single shots --------------------------------------------------------------------------------------------

static const char* const steppers[2] = { "velocity", "impulse" };

static knWorld* worldOf(knScene* scene, const char* stepper) {
	knWorldDef def = knWorldDef_Default();
	def.stepper = stepper;
	return newWorldWith(scene, &def);
}

static knBodyId newFixed(knScene* scene, knFrame frame) {
	knBodyDef def = knBodyDef_Default();
	def.kind = KN_BODY_FIXED;
	def.frame = frame;
	return newBody(scene, &def);
}

// A ball that hits a wall aslant, 3 m away: time, place and velocities are known.
static void test_bounce_and_slip(void** state) {
	(void)state;
	for (int s = 0; s < 2; ++s) {
		knScene* scene = newScene(noGravity);
		knError error = { 0 };
		double e = 0.6, mu = 0.1, r = 0.01;
		knShapeDef shape = material(mu, e);
		knBodyId wall = newFixed(scene, knMakeFrame(knV3(3.0, 0.0, 0.0), knIdentityQ()));
		assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, wall, knV3(0.005, 5.0, 5.0), &shape, &error)));
		knBodyId ball = newBall(scene, knZero3(), r, knV3(300.0, 250.0, 0.0), shape);
		knWorld* world = worldOf(scene, steppers[s]);
		run(world, 1, DT);
		// the impulse mu (1 + e) v along the wall is less than what would stop the slip
		double out = e * 300.0, along = 250.0 - mu * (1.0 + e) * 300.0;
		knVec3 v = knWorld_BodyVelocity(world, ball), w = knWorld_BodyAngularVelocity(world, ball);
		assert_near3(v, knV3(-out, along, 0.0), 1e-9 * 300.0);
		double spin = -2.5 * mu * (1.0 + e) * 300.0 / r;
		assert_near(w.z, spin, 5e-4 * fabs(spin)); // they touch within a skin
		double time = (3.0 - 0.005 - r) / 300.0, rest = DT - time;
		knVec3 place = knV3(3.0 - 0.005 - r - rest * out, time * 250.0 + rest * along, 0.0);
		assert_near3(knWorld_BodyCenter(world, ball), place, 2e-5);
		int count, begun;
		const knContact* contacts = knWorld_Contacts(world, &count);
		assert_int_equal(count, 1);
		double mass = knModel_BodyMass(knWorld_Model(world), ball).mass;
		assert_near(fabs(contacts[0].impulse.x), mass * (1.0 + e) * 300.0, 1e-9 * mass * 300.0);
		assert_near(fabs(contacts[0].point.normal.x), 1.0, 1e-9);
		assert_non_null(knWorld_BeginEvents(world, &begun));
		assert_int_equal(begun, 1);
		knWorld_Destroy(world);
	}
}

// To and fro between two walls, many times a step: the energy stays, and the ball stays between them.
static void test_many_bounces_in_one_step(void** state) {
	(void)state;
	for (int s = 0; s < 2; ++s) {
		knScene* scene = newScene(noGravity);
		knError error = { 0 };
		knShapeDef shape = material(0.0, 1.0);
		for (int side = -1; side <= 1; side += 2) {
			knBodyId wall = newFixed(scene, knMakeFrame(knV3(side * 0.5, 0.0, 0.0), knIdentityQ()));
			assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, wall, knV3(0.005, 50.0, 50.0), &shape, &error)));
		}
		knBodyId ball = newBall(scene, knZero3(), 0.01, knV3(280.0, 7.0, 0.0), shape);
		knWorld* world = worldOf(scene, steppers[s]);
		for (int k = 0; k < 100; ++k) {
			run(world, 1, DT);
			assert_true(fabs(knWorld_BodyCenter(world, ball).x) < 0.486);
			assert_near(fabs(knWorld_BodyVelocity(world, ball).x), 280.0, 1e-9);
		}
		assert_near(knWorld_BodyCenter(world, ball).y, 100.0 * DT * 7.0, 1e-6);
		knWorld_Destroy(world);
	}
}

// Every bounded kind as a bullet against every kind as a wall, from above.
static void test_all_kinds(void** state) {
	(void)state;
	enum { BULLETS = 8, WALLS = 6, SHOTS = 6 };
	knTestRandom random = { 77 };
	knError error = { 0 };
	knVec3 points[12];
	for (int i = 0; i < 12; ++i) {
		points[i] = knScale(0.01, testUnit3(&random));
	}
	knTestMesh small = testMeshBox(knV3(0.01, 0.006, 0.008));
	knTestMesh plate = testMeshBox(knV3(3.0, 3.0, 0.005));
	knMeshDef smallDef = testMeshDef(&small), plateDef = testMeshDef(&plate);
	knGeom* bullets[BULLETS] = { knGeom_Sphere(0.005, NULL, &error),
								 knGeom_Capsule(0.004, 0.01, NULL, &error),
								 knGeom_Box(knV3(0.005, 0.008, 0.003), NULL, &error),
								 knGeom_Cylinder(0.005, 0.01, NULL, &error),
								 knGeom_Ellipsoid(knV3(0.005, 0.006, 0.01), NULL, &error),
								 knGeom_Hull(points, 12, NULL, &error),
								 knGeom_Mesh(&smallDef, NULL, &error) };
	knGeomChild parts[2] = { { bullets[0], knMakeFrame(knV3(0.01, 0.0, 0.0), knIdentityQ()) },
							 { bullets[2], knMakeFrame(knV3(-0.005, 0.0, 0.0), knIdentityQ()) } };
	bullets[7] = knGeom_Compound(parts, 2, NULL, &error);
	double heights[16 * 16];
	for (int i = 0; i < 256; ++i) {
		heights[i] = testUniform(&random, -0.1, 0.0);
	}
	knHeightFieldDef field = { .columns = 16, .rows = 16, .cellX = 0.4, .cellY = 0.4, .heights = heights };
	knGeom* flat = knGeom_Box(knV3(1.5, 3.0, 0.005), NULL, &error);
	knGeomChild halves[2] = { { flat, knMakeFrame(knV3(1.5, 0.0, 0.0), knIdentityQ()) },
							  { flat, knMakeFrame(knV3(-1.5, 0.0, 0.0), knIdentityQ()) } };
	knGeom* walls[WALLS] = { knGeom_Box(knV3(3.0, 3.0, 0.005), NULL, &error),
							 knGeom_Plane(NULL, &error),
							 knGeom_Mesh(&plateDef, NULL, &error),
							 knGeom_HeightField(&field, NULL, &error),
							 knGeom_Compound(halves, 2, NULL, &error),
							 knGeom_Cylinder(3.0, 0.005, NULL, &error) };
	for (int s = 0; s < 2; ++s) {
		for (int w = 0; w < WALLS; ++w) {
			knScene* scene = newScene(earth);
			knShapeDef shape = material(0.3, 0.4);
			knBodyId wall = newFixed(scene, knIdentityF());
			assert_false(KN_ID_IS_NULL(knScene_AddShape(scene, wall, walls[w], &shape, &error)));
			knBodyId bodies[BULLETS * SHOTS];
			for (int i = 0; i < BULLETS * SHOTS; ++i) {
				knBodyDef def = knBodyDef_Default();
				knVec3 target = knV3(testUniform(&random, -1.5, 1.5), testUniform(&random, -1.5, 1.5), 0.0);
				knVec3 direction = knNormalize(knV3(testUniform(&random, -0.3, 0.3), 0.1, -1.0));
				def.frame = knMakeFrame(knMulAdd(target, -testUniform(&random, 0.3, 8.0), direction),
										testQuat(&random));
				def.velocity = knScale(SPEED, direction);
				def.angularVelocity = testVec3(&random, 200.0);
				bodies[i] = newBody(scene, &def);
				shape.filter = (knFilter){ .category = 2, .mask = 1, .group = 0 };
				assert_false(
					KN_ID_IS_NULL(knScene_AddShape(scene, bodies[i], bullets[i % BULLETS], &shape, &error)));
			}
			knWorld* world = worldOf(scene, steppers[s]);
			for (int k = 0; k < 4; ++k) {
				run(world, 1, DT);
				for (int i = 0; i < BULLETS * SHOTS; ++i) {
					knVec3 p = knWorld_BodyCenter(world, bodies[i]);
					bool over = fabs(p.x) < 2.8 && fabs(p.y) < 2.8 && p.x * p.x + p.y * p.y < 7.0;
					double floor = w == 3 ? -0.11 : -0.005;
					if (over && p.z < floor) {
						fail_msg("%s: bullet kind %d is at z = %g under wall %d", steppers[s], i % BULLETS,
								 p.z, w);
					}
				}
			}
			knWorld_Destroy(world);
		}
	}
	for (int i = 0; i < BULLETS; ++i) {
		knGeom_Release(bullets[i]);
	}
	for (int i = 0; i < WALLS; ++i) {
		knGeom_Release(walls[i]);
	}
	knGeom_Release(flat);
	testMeshFree(&small);
	testMeshFree(&plate);
}

// A wall of bricks that stands on the ground, a door on hinges: what is hit is held by contacts and joints.
static void test_held_walls(void** state) {
	(void)state;
	for (int s = 0; s < 2; ++s) {
		for (int door = 0; door < 2; ++door) {
			knScene* scene = newScene(earth);
			knShapeDef shape = material(0.5, 0.0);
			newGround(scene, shape);
			knBodyId wall = newBox(scene, knV3(0.0, 0.0, 0.5 + 0.001 * door), knV3(0.005, 1.0, 0.5), shape);
			if (door) {
				knJointDef hinge = jointAt(scene, KN_JOINT_HINGE, KN_WORLD_BODY, wall, knV3(0.0, -1.0, 0.5),
										   knV3(0.0, 0.0, 1.0));
				newJoint(scene, &hinge);
			} else {
				// pillars keep it upright
				newBox(scene, knV3(0.06, 0.9, 0.5), knV3(0.05, 0.05, 0.5), shape);
				newBox(scene, knV3(0.06, -0.9, 0.5), knV3(0.05, 0.05, 0.5), shape);
			}
			knBodyId bullet = newBall(scene, knV3(-3.0, 0.3, 0.5), 0.005, knV3(SPEED, 0.0, 0.0), shape);
			knWorld* world = worldOf(scene, steppers[s]);
			double mass = knModel_BodyMass(knWorld_Model(world), bullet).mass;
			run(world, 1, DT);
			int count;
			const knContact* contacts = knWorld_Contacts(world, &count);
			double most = 0.0;
			for (int i = 0; i < count; ++i) {
				bool its =
					contacts[i].bodyA.index1 == bullet.index1 || contacts[i].bodyB.index1 == bullet.index1;
				most = its ? knMax(most, fabs(contacts[i].impulse.x)) : most;
			}
			assert_true(most > 0.9 * mass * SPEED); // nearly all of its momentum
			for (int k = 0; k < 30; ++k) {
				knVec3 local = knInvPoint(knWorld_BodyFrame(world, wall), knWorld_BodyCenter(world, bullet));
				assert_true(local.x < 0.0);
				run(world, 1, DT);
			}
			knWorld_Destroy(world);
		}
	}
}

// Many bullets at one wall, which also hit each other, from behind and against the wall: none gets past it.
static void volleyAtOneWall(const char* stepper, uint64_t seed) {
	enum { COUNT = 150 };
	knTestRandom random = { seed };
	knScene* scene = newScene(noGravity);
	knError error = { 0 };
	knShapeDef shape = material(0.5, 0.0);
	knBodyId wall = newFixed(scene, knIdentityF()), bullets[COUNT];
	assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, wall, knV3(WALL_THIN, 20.0, 20.0), &shape, &error)));
	for (int i = 0; i < COUNT; ++i) {
		knBodyDef def = knBodyDef_Default();
		knVec3 target = knV3(-0.05, testUniform(&random, -0.4, 0.4), testUniform(&random, -0.4, 0.4));
		knVec3 direction =
			knNormalize(knV3(1.0, testUniform(&random, -0.3, 0.3), testUniform(&random, -0.3, 0.3)));
		def.frame =
			knMakeFrame(knMulAdd(target, -testUniform(&random, 0.1, 12.0), direction), testQuat(&random));
		def.velocity = knScale(testUniform(&random, 0.3, 1.0) * SPEED, direction);
		def.angularVelocity = testVec3(&random, 100.0);
		bullets[i] = newBody(scene, &def);
		addBulletShape(scene, bullets[i], i % 3, &shape);
	}
	knWorld* world = worldOf(scene, stepper);
	for (int k = 0; k < 12; ++k) {
		run(world, 1, DT);
		for (int i = 0; i < COUNT; ++i) {
			knVec3 p = knWorld_BodyCenter(world, bullets[i]);
			if (fabs(p.y) < 19.9 && fabs(p.z) < 19.9 && p.x > 0.0) {
				fail_msg("%s: seed %d, bullet %d is past the wall after step %d", stepper, (int)seed, i, k);
			}
		}
	}
	knWorld_Destroy(world);
}

static void test_volleys(void** state) {
	(void)state;
	for (int s = 0; s < 2; ++s) {
		for (uint64_t seed = 1; seed <= 4; ++seed) {
			volleyAtOneWall(steppers[s], seed);
		}
	}
}

// A box that sleeps wakes when it is shot at, and takes the bullet's momentum.
static void test_shots_wake(void** state) {
	(void)state;
	knScene* scene = newScene(earth);
	knShapeDef shape = material(0.5, 0.0);
	newGround(scene, shape);
	knBodyId box = newBox(scene, knV3(0.0, 0.0, 0.25), knV3(0.25, 0.25, 0.25), shape);
	knBodyId bullet = newBall(scene, knV3(-50.0, 0.0, 0.3), 0.02, knZero3(), shape);
	knScene_EditBody(scene, bullet)->gravityScale = 0.0;
	knWorldDef def = knWorldDef_Default();
	knSettings settings = knSettings_Default();
	settings.sleep = 1;
	def.settings = &settings;
	def.stepper = "velocity";
	knWorld* world = newWorldWith(scene, &def);
	run(world, 120, DT);
	assert_int_equal(knWorld_Report(world)->sleeping, 2);
	double mass = knModel_BodyMass(knWorld_Model(world), bullet).mass;
	double heavy = knModel_BodyMass(knWorld_Model(world), box).mass;
	assert_ok(knWorld_SetBodyFrame(world, bullet, knMakeFrame(knV3(-2.0, 0.0, 0.3), knIdentityQ())));
	assert_ok(knWorld_SetBodyVelocity(world, bullet, knV3(200.0, 0.0, 0.0), knZero3()));
	run(world, 1, DT);
	double sum = mass * knWorld_BodyVelocity(world, bullet).x + heavy * knWorld_BodyVelocity(world, box).x;
	assert_near(sum, mass * 200.0, 1e-9 * mass * 200.0);
	assert_true(knWorld_BodyVelocity(world, box).x > 0.0);
	// friction stops it within the next step, in which it is awake
	run(world, 1, DT);
	assert_int_equal(knWorld_Report(world)->sleeping, 0);
	knWorld_Destroy(world);
}

// --- threads and memory --------------------------------------------------------------------------------------

static knScene* volley(const Geoms* geoms) {
	knTestRandom random = { 99 };
	knScene* scene = newScene(earth);
	for (int i = 0; i < LANES; ++i) {
		addLane(scene, &random, geoms, i, (WallKind)(i % WALL_KINDS), false);
	}
	return scene;
}

static void test_threads_change_nothing(void** state) {
	(void)state;
	Geoms geoms = makeGeoms();
	for (int s = 0; s < 2; ++s) {
		uint64_t hashes[2];
		for (int threads = 0; threads < 2; ++threads) {
			knTaskPool* pool = threads == 0 ? NULL : knTaskPool_Create(4, NULL, NULL);
			knWorldDef def = knWorldDef_Default();
			def.stepper = steppers[s];
			if (pool != NULL) {
				def.tasks = knTaskPool_Tasks(pool);
			}
			knWorld* world = newWorldWith(volley(&geoms), &def);
			run(world, 6, DT);
			hashes[threads] = knWorld_Hash(world);
			knWorld_Destroy(world);
			knTaskPool_Destroy(pool);
		}
		assert_true(hashes[0] == hashes[1]);
	}
	freeGeoms(&geoms);
}

// A ball in a closed room, once warm, takes no memory.
static void test_warm_steps_take_no_memory(void** state) {
	(void)state;
	for (int s = 0; s < 2; ++s) {
		knTestMemory memory;
		knAllocator allocator = testAllocator(&memory);
		knScene* scene = newScene(noGravity);
		knError error = { 0 };
		knShapeDef shape = material(0.0, 1.0);
		for (int side = 0; side < 6; ++side) {
			knVec3 at = knZero3(), half = knV3(1.1, 1.1, 1.1);
			knSetComponent(&at, side / 2, side % 2 ? 1.0 : -1.0);
			knSetComponent(&half, side / 2, 0.01);
			knBodyId wall = newFixed(scene, knMakeFrame(at, knIdentityQ()));
			assert_false(KN_ID_IS_NULL(knScene_AddBox(scene, wall, half, &shape, &error)));
		}
		knBodyId ball = newBall(scene, knZero3(), 0.02, knV3(210.0, 130.0, 70.0), shape);
		knWorldDef def = knWorldDef_Default();
		def.stepper = steppers[s];
		def.allocator = &allocator;
		knWorld* world = newWorldWith(scene, &def);
		run(world, 400, DT);
		int calls = memory.calls;
		run(world, 200, DT);
		assert_int_equal(memory.calls, calls);
		knVec3 p = knAbs3(knWorld_BodyCenter(world, ball));
		assert_true(p.x < 1.0 && p.y < 1.0 && p.z < 1.0);
		assert_near(knLength(knWorld_BodyVelocity(world, ball)), knLength(knV3(210.0, 130.0, 70.0)), 1e-8);
		knWorld_Destroy(world);
		assert_int_equal(memory.live, 0);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_bullet_passes_velocity),
		cmocka_unit_test(test_no_bullet_passes_impulse),
		cmocka_unit_test(test_no_bullet_passes_published_schemes),
		cmocka_unit_test(test_misses_keep_their_velocity),
		cmocka_unit_test(test_bounce_and_slip),
		cmocka_unit_test(test_many_bounces_in_one_step),
		cmocka_unit_test(test_all_kinds),
		cmocka_unit_test(test_held_walls),
		cmocka_unit_test(test_volleys),
		cmocka_unit_test(test_shots_wake),
		cmocka_unit_test(test_threads_change_nothing),
		cmocka_unit_test(test_warm_steps_take_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
