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

static void test_misses_velocity(void** state) {
	(void)state;
	shoot("velocity", 3, 20, true, "default");
}

static void test_misses_impulse(void** state) {
	(void)state;
	shoot("impulse", 4, 20, true, "default");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_bullet_passes_velocity),
		cmocka_unit_test(test_no_bullet_passes_impulse),
		cmocka_unit_test(test_misses_velocity),
		cmocka_unit_test(test_misses_impulse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
