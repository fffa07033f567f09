// net: 16 x 16 knots (balls) and links (capsules) between neighbours, with ball joints at the knots' centres: 736 bodies
// and 960 joints. Boxes fall into it (lift=0) or are lifted by it (lift=1).
//
//   sag    link k of the n - 1 in a row is inclined by a_k, from -40 to 40 degrees in equal steps. With
//          X_i = L sum cos a_k, Z_i = L sum sin a_k over k < i, the knots lie at (X_i, X_j, Z_i + Z_j), so that every link has
//          the length L of a cell and the four corners are level
//   lift   the net lies flat under the boxes; its corners, kinematic, rise by 6 m in 6 s and move inwards by
//          two fifths, so that the boxes hang in it
//
// outside: boxes below every knot or beside the net; lifted: boxes that are off the ground (lift=1).
#include <stdio.h>

#include "scene_tools.h"

#define CELL 0.5
#define KNOT_RADIUS 0.06
#define LINK_RADIUS 0.03
#define STEEPEST (40.0 * KN_PI / 180.0)
#define RIM 6.0 // height of the corners
#define BOX_HALF 0.4
#define BOX_MASS 50.0
#define BOX_SPACING 1.2
#define LIFT_TIME 6.0
#define LIFT_HEIGHT 6.0
#define LIFT_INWARDS 0.4 // share of the corners' distance from the middle

typedef struct Net {
	knSceneBuilder* builder;
	int n;
	bool lift;
	double middle; // X of the centre
} Net;

// Along one direction: X_i and Z_i.
static void profile(const Net* net, int i, double* x, double* z) {
	*x = *z = 0.0;
	for (int k = 0; k < i; ++k) {
		double angle = net->lift ? 0.0 : STEEPEST * (2.0 * k / (net->n - 2) - 1.0);
		*x += CELL * knCos(angle);
		*z += CELL * knSin(angle);
	}
}

static knVec3 knotPlace(const Net* net, int i, int j) {
	double x, y, zx, zy;
	profile(net, i, &x, &zx);
	profile(net, j, &y, &zy);
	return knV3(x - net->middle, y - net->middle, zx + zy + (net->lift ? KNOT_RADIUS : RIM));
}

static void knotName(char* name, size_t capacity, int i, int j) {
	snprintf(name, capacity, "knot%d_%d", i, j);
}

static void addKnots(const Net* net) {
	for (int j = 0; j < net->n; ++j) {
		for (int i = 0; i < net->n; ++i) {
			char name[32];
			knotName(name, sizeof(name), i, j);
			bool corner = (i == 0 || i == net->n - 1) && (j == 0 || j == net->n - 1);
			uint32_t color = corner ? KN_COLOR_RED : KN_COLOR_CLAY;
			knBodyId knot =
				knSceneBuilder_Ball(net->builder, name, knotPlace(net, i, j), KNOT_RADIUS, 1000.0, color);
			if (corner && net->builder->scene != NULL) {
				knScene_EditBody(net->builder->scene, knot)->kind =
					net->lift ? KN_BODY_KINEMATIC : KN_BODY_FIXED;
			}
		}
	}
}

// From knot (i, j) to its neighbour; the capsule ends at the knots' surfaces.
static void addLink(const Net* net, int i, int j, int di, int dj) {
	knSceneBuilder* builder = net->builder;
	if (builder->scene == NULL) {
		return;
	}
	char name[32], from[32], to[32];
	snprintf(name, sizeof(name), "link%c%d_%d", di > 0 ? 'x' : 'y', i, j);
	knotName(from, sizeof(from), i, j);
	knotName(to, sizeof(to), i + di, j + dj);
	knVec3 start = knotPlace(net, i, j), end = knotPlace(net, i + di, j + dj);
	knVec3 along = knNormalize(knSub(end, start));
	double length = CELL - 2.0 * KNOT_RADIUS, r = LINK_RADIUS;
	double volume = KN_PI * r * r * (length - 2.0 * r) + 4.0 / 3.0 * KN_PI * r * r * r;
	knBodyId link = knSceneBuilder_Rod(builder, name, knMulAdd(start, KNOT_RADIUS, along),
									   knMulAdd(end, -KNOT_RADIUS, along), r, 1000.0 * volume, KN_COLOR_SAND);
	const char* const knots[2] = { from, to };
	for (int side = 0; side < 2 && builder->scene != NULL; ++side) {
		knJointDef joint = knJointDef_Default(KN_JOINT_BALL);
		knBodyId knot = knScene_FindBody(builder->scene, knots[side]);
		knSceneBuilder_Joint(builder, &joint, knot, link, side == 0 ? start : end, along);
	}
}

static void addBoxes(const Net* net, int boxes) {
	int perRow = 1;
	while (perRow * perRow < boxes) {
		++perRow;
	}
	double z = net->lift ? 2.0 * KNOT_RADIUS + BOX_HALF : RIM + 0.5 + BOX_HALF;
	for (int i = 0; i < boxes; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "box%d", i);
		double middle = 0.5 * (perRow - 1);
		knVec3 place = knV3(BOX_SPACING * (i % perRow - middle), BOX_SPACING * (i / perRow - middle), z);
		uint32_t color = knSceneBuilder_Shade(net->builder, KN_COLOR_BLUE);
		knVec3 half = knV3(BOX_HALF, BOX_HALF, BOX_HALF);
		knSceneBuilder_Box(net->builder, name, knMakeFrame(place, knIdentityQ()), half, color);
		if (net->builder->scene != NULL) {
			knSceneBuilder_LastShape(net->builder)->density = BOX_MASS / (8.0 * half.x * half.y * half.z);
		}
	}
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	Net net = { .builder = &builder,
				.n = args->small ? 6 : 16,
				.lift = knSceneArgs_Get(args, "lift") != 0.0 };
	double last, height;
	profile(&net, net.n - 1, &last, &height);
	net.middle = 0.5 * last;
	knSceneBuilder_Ground(&builder, 50.0);
	addKnots(&net);
	for (int j = 0; j < net.n; ++j) {
		for (int i = 0; i < net.n - 1; ++i) {
			addLink(&net, i, j, 1, 0);
			addLink(&net, j, i, 0, 1);
		}
	}
	addBoxes(&net, (int)knSceneArgs_Get(args, "boxes"));
	return knSceneBuilder_End(&builder);
}

static bool isKnot(const char* name) {
	return name[0] == 'k';
}

static void script(knWorld* world, const knSceneArgs* args) {
	if (knSceneArgs_Get(args, "lift") == 0.0) {
		return;
	}
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	bool rising = knWorld_Time(world) < LIFT_TIME - 0.5 * knScene_GetDef(scene)->dt;
	for (int i = 0; i < knScene_BodySlots(scene); ++i) {
		knBodyId body = knScene_BodyAt(scene, i);
		const knBodyDef* def = knScene_GetBody(scene, body);
		if (def->kind == KN_BODY_KINEMATIC) {
			knVec3 path = knV3(-LIFT_INWARDS * def->frame.p.x, -LIFT_INWARDS * def->frame.p.y, LIFT_HEIGHT);
			knVec3 velocity = rising ? knScale(1.0 / LIFT_TIME, path) : knZero3();
			(void)knWorld_SetBodyVelocity(world, body, velocity, knZero3());
		}
	}
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	knVec3 lowest = knV3(1e9, 1e9, 1e9), highest = knV3(-1e9, -1e9, -1e9);
	for (int i = 0; i < knScene_BodySlots(scene); ++i) {
		knBodyId body = knScene_BodyAt(scene, i);
		if (isKnot(knScene_GetBody(scene, body)->name)) {
			knVec3 place = knWorld_BodyCenter(world, body);
			lowest = knMin3(lowest, place);
			highest = knMax3(highest, place);
		}
	}
	int outside = 0, lifted = 0;
	for (int i = 0; i < (int)knSceneArgs_Get(args, "boxes"); ++i) {
		char name[32];
		snprintf(name, sizeof(name), "box%d", i);
		knVec3 place = knWorld_BodyCenter(world, knScript_Find(world, name));
		outside += place.z < lowest.z || place.x < lowest.x || place.x > highest.x || place.y < lowest.y ||
				   place.y > highest.y;
		// whatever its turn, it is clear of the ground
		lifted += place.z > sqrt(3.0) * BOX_HALF;
	}
	knSceneChecks_Set(checks, "outside", outside);
	if (knSceneArgs_Get(args, "lift") != 0.0) {
		knSceneChecks_Set(checks, "lifted", lifted);
	}
}

const knSceneEntry knNetEntry = {
	.name = "net",
	.bodies = 745,
	.joints = 960,
	.summary = "a net of knots and links on ball joints catches boxes, or lifts them",
	.source = "Weinstein et al. 2006, figure 2",
	.steppers = "impulse velocity",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "boxes", .value = 9, .lower = 0, .upper = 1000, .integer = true, .help = "boxes of 0.8 m and 50 kg",
		  .small = 1 },
		{ .name = "lift", .value = 0, .lower = 0, .upper = 1, .integer = true,
		  .help = "1: lies on the ground and is lifted by its corners" },
	},
	.build = build,
	.script = script,
	.observe = observe,
};
