// Long bodies of many hinges, of which an adaptive method need simulate only some (Redon, Galoppo & Lin 2005; Gayle, Lin &
// Manocha 2006):
//
//   pegs       a pendulum, released horizontally, swings into round bars at random places
//   threading  a needle on a slide draws a thread from a table through a row of holes in walls
//   rope-pile  a rope that hangs in loose coils falls into a heap
//   two-ropes  two pendulums, released across each other, collide
//
// `active`, the number of active joints, is a setting of the adaptive stepper, to which a scene gives its own value.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "rope.h"

// --- pegs ------------------------------------------------------------------------------------------------------

#define LINK_LENGTH 0.1
#define LINK_RADIUS 0.025
#define PEG_COUNT 24
#define PEG_RADIUS 0.3
#define PEG_HALF_LENGTH 2.0
#define PEG_GAP 1.0 // m, between the middles of two pegs and the sum of their radii, at least
#define PEG_TRIES 1000
#define PEG_TILT 0.3 // largest, of a peg's axis out of the level and out of y

// Pegs lie in the half disc that the pendulum sweeps, evenly by its area; in one that is too small for all, some are left out.
static void addPegs(knSceneBuilder* builder, knVec3 anchor, double length) {
	knVec3 places[PEG_COUNT];
	int count = 0;
	for (int i = 0; i < PEG_TRIES && count < PEG_COUNT; ++i) {
		double share = knSceneBuilder_Uniform(builder, 0.04, 0.9);
		double angle = knSceneBuilder_Uniform(builder, 0.1, 0.85) * KN_PI, reach = sqrt(share) * length;
		double tiltX = knSceneBuilder_Uniform(builder, -PEG_TILT, PEG_TILT);
		double tiltZ = knSceneBuilder_Uniform(builder, -PEG_TILT, PEG_TILT);
		knVec3 at = knAdd(anchor, knV3(reach * knCos(angle), 0.0, -reach * knSin(angle)));
		bool clear = anchor.z - at.z > PEG_RADIUS + PEG_HALF_LENGTH * PEG_TILT + PEG_GAP;
		for (int k = 0; k < count; ++k) {
			clear = clear && knDistance(at, places[k]) > 2.0 * PEG_RADIUS + PEG_GAP;
		}
		if (clear) {
			char name[16];
			snprintf(name, sizeof(name), "peg%d", count);
			knVec3 along = knNormalize(knV3(tiltX, 1.0, tiltZ));
			knSceneBuilder_Bar(builder, name, at, along, PEG_RADIUS, PEG_HALF_LENGTH);
			places[count++] = at;
		}
	}
}

static knScene* buildPegs(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int links = (int)knSceneArgs_Get(args, "dofs");
	double length = links * LINK_LENGTH;
	knRopeLine line = { knV3(0.0, 0.0, length + 1.0), knV3(LINK_LENGTH, 0.0, 0.0) };
	addPegs(&builder, line.from, length);
	knRopeDef rope = knRopeDef_Default();
	rope.links = links;
	rope.radius = LINK_RADIUS;
	rope.path = knRope_Straight;
	rope.context = &line;
	rope.anchored = true;
	rope.damping = knSceneArgs_Get(args, "damping");
	knRope_Add(&builder, &rope);
	knRope_SetActive(&builder, 40);
	return knSceneBuilder_End(&builder);
}

static void observePegs(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knFirstContact_Observe(world, args, checks);
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	int begun = 0, count = 0;
	const knTouchEvent* events = knWorld_BeginEvents(world, &begun);
	uint32_t hit = (uint32_t)checks->memory[0];
	for (int i = 0; i < begun; ++i) {
		const knShapeDef* shape = knScene_GetShape(scene, events[i].shapeA);
		if (shape->name == NULL || strncmp(shape->name, "peg", 3) != 0) {
			shape = knScene_GetShape(scene, events[i].shapeB);
		}
		if (shape->name != NULL && strncmp(shape->name, "peg", 3) == 0) {
			hit |= UINT32_C(1) << atoi(shape->name + 3);
		}
	}
	for (int i = 0; i < PEG_COUNT; ++i) {
		count += (hit >> i) & 1;
	}
	checks->memory[0] = hit;
	knSceneChecks_Set(checks, "hit", count);
	knSceneChecks_Set(checks, "hit_mask", hit);
}

const knSceneEntry knPegsEntry = {
	.name = "pegs",
	.bodies = 200,
	.joints = 200,
	.summary = "a pendulum of many hinges swings into round bars at random places",
	.source = "Gayle, Lin & Manocha 2006, figure 4",
	.steppers = KN_ROPE_STEPPERS,
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "dofs", .value = 200, .lower = 1, .upper = 1e6, .integer = true, .help = "hinges, each with a link of 0.1 m", .small = 40 },
		{ .name = "damping", .value = 0, .lower = 0, .upper = 1e6, .help = "of every hinge, N m s" },
	},
	.build = buildPegs,
	.observe = observePegs,
};

// --- threading ---------------------------------------------------------------------------------------------------

#define THREAD_LENGTH 0.05 // of a link
#define THREAD_RADIUS 0.01
#define WALL_COUNT 5
#define WALL_PITCH 1.5
#define WALL_HALF_THICKNESS 0.05
#define WALL_HALF_WIDTH 1.0
#define WALL_HEIGHT 2.0
#define HOLE_HALF_WIDTH 0.12
#define HOLE_OFFSET 0.08 // m, the farthest that a hole's middle is from the needle's way, in y and in z
#define WAY_HEIGHT 1.0
#define NEEDLE_START (-0.3) // x of the needle's rear end
#define NEEDLE_LENGTH 0.2
#define NEEDLE_FORCE 2000.0 // N
#define RAMP_TIME 1.0       // s, in which the needle reaches its speed

// Four boxes around the hole.
static void addWall(knSceneBuilder* builder, int index, double holeY, double holeZ) {
	double x = index * WALL_PITCH;
	double left = 0.5 * (WALL_HALF_WIDTH - holeY - HOLE_HALF_WIDTH), lower = 0.5 * (holeZ - HOLE_HALF_WIDTH);
	double right = 0.5 * (WALL_HALF_WIDTH + holeY - HOLE_HALF_WIDTH),
		   upper = 0.5 * (WALL_HEIGHT - holeZ - HOLE_HALF_WIDTH);
	const struct {
		const char* side;
		double y, z, halfY, halfZ;
	} parts[4] = {
		{ "left", WALL_HALF_WIDTH - left, 0.5 * WALL_HEIGHT, left, 0.5 * WALL_HEIGHT },
		{ "right", right - WALL_HALF_WIDTH, 0.5 * WALL_HEIGHT, right, 0.5 * WALL_HEIGHT },
		{ "below", holeY, lower, HOLE_HALF_WIDTH, lower },
		{ "above", holeY, WALL_HEIGHT - upper, HOLE_HALF_WIDTH, upper },
	};
	for (int i = 0; i < 4; ++i) {
		char name[24];
		snprintf(name, sizeof(name), "wall%d_%s", index, parts[i].side);
		knSceneBuilder_Fixture(builder, name, knMakeFrame(knV3(x, parts[i].y, parts[i].z), knIdentityQ()),
							   knV3(WALL_HALF_THICKNESS, parts[i].halfY, parts[i].halfZ));
	}
}

// Where the hole of a wall is, from the place of the part below it.
static knVec3 holeOf(const knScene* scene, int index) {
	for (int i = 0; i < knScene_ShapeSlots(scene); ++i) {
		const knShapeDef* shape = knScene_GetShape(scene, knScene_ShapeAt(scene, i));
		char name[24];
		snprintf(name, sizeof(name), "wall%d_below", index);
		if (shape->name != NULL && strcmp(shape->name, name) == 0) {
			knVec3 p = shape->frame.p;
			return knV3(p.x, p.y, 2.0 * p.z + HOLE_HALF_WIDTH);
		}
	}
	return knZero3();
}

static int wallCount(const knSceneArgs* args) {
	return args->small ? 2 : WALL_COUNT;
}

static knScene* buildThreading(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int links = (int)knSceneArgs_Get(args, "dofs");
	double length = links * THREAD_LENGTH;
	knSceneBuilder_Ground(&builder, 50.0);
	for (int i = 0; i < wallCount(args); ++i) {
		double y = knSceneBuilder_Uniform(&builder, -HOLE_OFFSET, HOLE_OFFSET);
		double z = WAY_HEIGHT + knSceneBuilder_Uniform(&builder, -HOLE_OFFSET, HOLE_OFFSET);
		addWall(&builder, i, y, z);
	}
	// the table ends in front of the first wall, a hand's breadth away
	double end = NEEDLE_START - 0.1, half = 0.5 * (length + 0.5), top = WAY_HEIGHT - THREAD_RADIUS;
	knSceneBuilder_Fixture(&builder, "table", knMakeFrame(knV3(end - half, 0.0, 0.5 * top), knIdentityQ()),
						   knV3(half, 0.5, 0.5 * top));

	knRopeLine line = { knV3(NEEDLE_START, 0.0, WAY_HEIGHT), knV3(-THREAD_LENGTH, 0.0, 0.0) };
	knVec3 tip = knAdd(line.from, knV3(NEEDLE_LENGTH, 0.0, 0.0)), ahead = knV3(1.0, 0.0, 0.0);
	knBodyId needle =
		knSceneBuilder_Rod(&builder, "needle", line.from, tip, THREAD_RADIUS, 0.05, KN_COLOR_STEEL);
	knJointDef slide = knJointDef_Default(KN_JOINT_SLIDER);
	slide.name = "slide";
	slide.axis[0].motorMode = KN_MOTOR_VELOCITY;
	slide.axis[0].motorMaxForce = NEEDLE_FORCE;
	knSceneBuilder_Joint(&builder, &slide, KN_WORLD_BODY, needle, tip, ahead);
	knRopeDef rope = knRopeDef_Default();
	rope.links = links;
	rope.radius = THREAD_RADIUS;
	rope.path = knRope_Straight;
	rope.context = &line;
	rope.parent = needle;
	rope.anchored = true;
	rope.damping = knSceneArgs_Get(args, "damping");
	rope.colors[0] = KN_COLOR_RED;
	knRope_Add(&builder, &rope);
	knRope_SetActive(&builder, 60);
	return knSceneBuilder_End(&builder);
}

static void drawNeedle(knWorld* world, const knSceneArgs* args) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	double end = knWorld_Time(world) + knScene_GetDef(scene)->dt;
	double speed = knSceneArgs_Get(args, "speed") * knMin(1.0, end / RAMP_TIME);
	knWorld_SetMotor(world, knScene_FindJoint(scene, "slide"), 0, KN_MOTOR_VELOCITY, speed, NEEDLE_FORCE);
}

static void observeThreading(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knModel* model = knWorld_Model(world);
	const knScene* scene = knModel_Scene(model);
	double rear = 1e300;
	int outside = 0, left = 0, count = wallCount(args);
	knVec3 holes[WALL_COUNT];
	for (int w = 0; w < count; ++w) {
		holes[w] = holeOf(scene, w);
	}
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		knVec3 p = knWorld_BodyCenter(world, knModel_BodyAt(model, i));
		rear = knMin(rear, p.x);
		for (int w = 0; w < count; ++w) {
			knVec3 d = knSub(p, holes[w]);
			outside += fabs(d.x) < WALL_HALF_THICKNESS &&
					   (fabs(d.y) > HOLE_HALF_WIDTH || fabs(d.z) > HOLE_HALF_WIDTH);
		}
	}
	for (int w = 0; w < count; ++w) {
		left += rear > holes[w].x + WALL_HALF_THICKNESS;
	}
	double q[7];
	knWorld_JointCoordinates(world, knScene_FindJoint(scene, "slide"), q);
	knSceneChecks_Set(checks, "travelled", q[0]);
	knSceneChecks_Set(checks, "holes_left", left);
	knSceneChecks_Set(checks, "left", left == count);
	knSceneChecks_Max(checks, "outside", outside);
}

const knSceneEntry knThreadingEntry = {
	.name = "threading",
	.bodies = 301,
	.joints = 301,
	.summary = "a needle draws a thread of many hinges through a row of holes in walls",
	.source = "Gayle, Lin & Manocha 2006, figure 5",
	.steppers = KN_ROPE_STEPPERS,
	.dt = 0.01,
	.time = 13.0,
	.view = { -60, 20, 1 },
	.params = {
		{ .name = "dofs", .value = 300, .lower = 1, .upper = 1e6, .integer = true, .help = "hinges, each with a link of 0.05 m", .small = 40 },
		{ .name = "speed", .value = 2, .lower = 0, .upper = 100, .help = "of the needle, m/s, reached in 1 s" },
		{ .name = "damping", .value = 0, .lower = 0, .upper = 1e6, .help = "of every hinge, N m s" },
	},
	.build = buildThreading,
	.script = drawNeedle,
	.observe = observeThreading,
};

// --- rope-pile -----------------------------------------------------------------------------------------------------

#define PILE_LENGTH 0.05 // of a link
#define PILE_RADIUS 0.015
#define PILE_LOWEST 0.3    // m, the lowest point
#define PILE_RISE 0.05     // of a coil, over its length: 0.08 m or more from turn to turn
#define PILE_BEND_LINKS 40 // after which the coil takes another radius
#define PILE_TIGHTEST 0.25 // m
#define PILE_WIDEST 0.6    // m

// Coils whose radius wanders evenly from one random value to the next.
static knVec3* coilPoints(knSceneBuilder* builder, int links, const knAllocator* allocator) {
	knVec3* points = knAllocArray(allocator, (size_t)links + 1, sizeof(knVec3));
	if (points == NULL) {
		knError_Set(builder->error, KN_NO_MEMORY, NULL, "there is no memory for %d links", links);
		knSceneBuilder_Require(builder, false);
		return NULL;
	}
	double level = sqrt(1.0 - PILE_RISE * PILE_RISE), heading = 0.0, radius = PILE_WIDEST, next = radius;
	points[0] = knV3(0.0, 0.0, PILE_LOWEST);
	for (int i = 0; i < links; ++i) {
		if (i % PILE_BEND_LINKS == 0) {
			radius = next;
			next = knSceneBuilder_Uniform(builder, PILE_TIGHTEST, PILE_WIDEST);
		}
		double part = (double)(i % PILE_BEND_LINKS) / PILE_BEND_LINKS;
		heading += PILE_LENGTH / (radius + part * (next - radius));
		knVec3 along = knV3(level * knCos(heading), level * knSin(heading), PILE_RISE);
		points[i + 1] = knMulAdd(points[i], PILE_LENGTH, along);
	}
	return points;
}

static knVec3 pointOf(int index, const void* points) {
	return ((const knVec3*)points)[index];
}

static knScene* buildRopePile(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int links = (int)knSceneArgs_Get(args, "links");
	knSceneBuilder_Ground(&builder, 20.0);
	knAllocator allocator = knAllocator_Default();
	knVec3* points = coilPoints(&builder, links, &allocator);
	knRopeDef rope = knRopeDef_Default();
	rope.links = points != NULL ? links : 0;
	rope.radius = PILE_RADIUS;
	rope.path = pointOf;
	rope.context = points;
	rope.across = knV3(0.0, 0.0, 1.0);
	rope.damping = knSceneArgs_Get(args, "damping");
	knRope_Add(&builder, &rope);
	knFree(&allocator, points, ((size_t)links + 1) * sizeof(knVec3));
	knRope_SetActive(&builder, 100);
	return knSceneBuilder_End(&builder);
}

static void observeRopePile(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knModel* model = knWorld_Model(world);
	double height = 0.0;
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		height = knMax(height, knWorld_BodyCenter(world, knModel_BodyAt(model, i)).z);
	}
	knSceneChecks_Set(checks, "height", height);
	knFirstContact_Observe(world, args, checks);
	knPile_Observe(world, args, checks);
}

const knSceneEntry knRopePileEntry = {
	.name = "rope-pile",
	.bodies = 1000,
	.joints = 999,
	.summary = "a rope of many hinges falls out of loose coils into a heap",
	.source = "own",
	.steppers = KN_ROPE_STEPPERS,
	.dt = 0.01,
	.time = 5.0,
	.params = {
		{ .name = "links", .value = 1000, .lower = 1, .upper = 1e6, .integer = true, .help = "of 0.05 m", .small = 100 },
		{ .name = "damping", .value = 0, .lower = 0, .upper = 1e6, .help = "of every hinge, N m s" },
	},
	.build = buildRopePile,
	.observe = observeRopePile,
};

// --- two-ropes -----------------------------------------------------------------------------------------------------

#define CROSS_UPPER 0.7 // of its length, from its anchor, where the upper one crosses the lower
#define CROSS_LOWER 0.3 // the same of the lower one, which its anchor holds back earlier
#define CROSS_GAP 0.2   // m, from the middle of the one to that of the other below it

static knScene* buildTwoRopes(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int links = (int)knSceneArgs_Get(args, "dofs") / 2;
	double length = links * LINK_LENGTH;
	const knRopeLine lines[2] = {
		{ knV3(-CROSS_UPPER * length, 0.0, length + 1.0), knV3(LINK_LENGTH, 0.0, 0.0) },
		{ knV3(0.0, -CROSS_LOWER * length, length + 1.0 - CROSS_GAP), knV3(0.0, LINK_LENGTH, 0.0) },
	};
	for (int i = 0; i < 2; ++i) {
		knRopeDef rope = knRopeDef_Default();
		rope.name = i == 0 ? "upper" : "lower";
		rope.links = links;
		rope.radius = LINK_RADIUS;
		rope.path = knRope_Straight;
		rope.context = &lines[i];
		rope.across = i == 0 ? knV3(0.0, 1.0, 0.0) : knV3(1.0, 0.0, 0.0);
		rope.anchored = true;
		rope.damping = knSceneArgs_Get(args, "damping");
		if (i == 1) {
			rope.colors[0] = KN_COLOR_RED;
		}
		knRope_Add(&builder, &rope);
	}
	knRope_SetActive(&builder, 40);
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knTwoRopesEntry = {
	.name = "two-ropes",
	.bodies = 200,
	.joints = 200,
	.summary = "two pendulums of many hinges, released across each other, collide",
	.source = "Gayle, Lin & Manocha 2006, section V-A",
	.steppers = KN_ROPE_STEPPERS,
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "dofs", .value = 200, .lower = 2, .upper = 1e6, .integer = true, .help = "hinges of both, each with a link of 0.1 m", .small = 40 },
		{ .name = "damping", .value = 0, .lower = 0, .upper = 1e6, .help = "of every hinge, N m s" },
	},
	.build = buildTwoRopes,
	.observe = knFirstContact_Observe,
};
