// bridge: a hanging bridge with closed loops, loaded with hinged pairs of blocks or with rings.
//
//   deck     21 planks, each pair of neighbours held by two ball joints at y = +-0.95 m in the gap between them; the first and
//            the last are held by the world likewise
//   rails    on each side a rope of 21 capsules, joined end to end and to the world, 1 m above the deck
//   hangers  20 on each side, from the ends of the rail's capsules down to the planks
//
// Everything follows one arc: piece k of 21 is inclined by a_k, from -15 to 15 degrees in equal steps. 103 bodies, 168 joints.
// outside: loads that have gone through the deck; overboard: loads that have fallen over its sides.
#include <stdio.h>

#include "ring.h"

#define PLANKS 21
#define PITCH 1.0 // from joint to joint
#define PLANK_HALF knV3(0.48, 1.0, 0.05)
#define SIDE 0.95
#define RAIL_HEIGHT 1.0
#define ROPE_RADIUS 0.03
#define ROPE_INSET 0.06   // how far capsules end from their joints
#define HANGER_INSET 0.12 // likewise at the deck, to clear the planks
#define STEEPEST (15.0 * KN_PI / 180.0)
#define HEIGHT 6.0 // of the ends
#define BLOCK_HALF knV3(0.2, 0.15, 0.1)
#define BLOCK_GAP 0.02
#define PAIRS 81
#define RINGS 60

enum { LOAD_BLOCKS, LOAD_RINGS };

typedef struct Arc {
	knVec3 joint[PLANKS + 1]; // in the plane y = 0, at the deck
} Arc;

static double slope(int k) {
	return STEEPEST * (2.0 * k / (PLANKS - 1) - 1.0);
}

static Arc makeArc(void) {
	Arc arc;
	knVec3 place = knV3(0.0, 0.0, HEIGHT);
	for (int k = 0; k <= PLANKS; ++k) {
		arc.joint[k] = place;
		if (k < PLANKS) {
			place = knAdd(place, knScale(PITCH, knV3(knCos(slope(k)), 0.0, knSin(slope(k)))));
		}
	}
	double middle = 0.5 * place.x;
	for (int k = 0; k <= PLANKS; ++k) {
		arc.joint[k].x -= middle;
	}
	return arc;
}

static void addBall(knSceneBuilder* builder, knBodyId parent, knBodyId child, knVec3 anchor, knVec3 axis,
					bool loop) {
	knJointDef joint = knJointDef_Default(KN_JOINT_BALL);
	joint.loop = loop;
	knSceneBuilder_Joint(builder, &joint, parent, child, anchor, axis);
}

static knBodyId addRope(knSceneBuilder* builder, const char* name, knVec3 from, knVec3 to, double insetFrom,
						double insetTo) {
	knVec3 along = knNormalize(knSub(to, from));
	from = knMulAdd(from, insetFrom, along);
	to = knMulAdd(to, -insetTo, along);
	double r = ROPE_RADIUS;
	double volume = KN_PI * r * r * (knDistance(from, to) - 2.0 * r) + 4.0 / 3.0 * KN_PI * r * r * r;
	return knSceneBuilder_Rod(builder, name, from, to, r, 1000.0 * volume, KN_COLOR_STEEL);
}

// --- the bridge ------------------------------------------------------------------------------------------------

static void addDeck(knSceneBuilder* builder, const Arc* arc, knBodyId planks[PLANKS]) {
	knVec3 across = knV3(0.0, 1.0, 0.0);
	for (int k = 0; k < PLANKS; ++k) {
		char name[32];
		snprintf(name, sizeof(name), "plank%d", k);
		knVec3 middle = knScale(0.5, knAdd(arc->joint[k], arc->joint[k + 1]));
		knQuat turn = knQuat_FromAxisAngle(across, -slope(k));
		uint32_t color = knSceneBuilder_Shade(builder, KN_COLOR_CLAY);
		planks[k] = knSceneBuilder_Box(builder, name, knMakeFrame(middle, turn), PLANK_HALF, color);
	}
	for (int k = 0; k <= PLANKS; ++k) {
		for (int side = -1; side <= 1; side += 2) {
			knBodyId parent = k == 0 ? KN_WORLD_BODY : planks[k - 1],
					 child = k == PLANKS ? KN_WORLD_BODY : planks[k];
			knVec3 anchor = knAdd(arc->joint[k], knV3(0.0, side * SIDE, 0.0));
			addBall(builder, parent, child, anchor, across, side > 0 || k == PLANKS);
		}
	}
}

static void addRail(knSceneBuilder* builder, const Arc* arc, int side, const knBodyId planks[PLANKS]) {
	const char* which = side < 0 ? "right" : "left";
	knBodyId previous = KN_WORLD_BODY;
	knVec3 up = knV3(0.0, 0.0, RAIL_HEIGHT), down = knV3(0.0, 0.0, -1.0);
	for (int k = 0; k < PLANKS; ++k) {
		char name[32];
		knVec3 deck = knAdd(arc->joint[k], knV3(0.0, side * SIDE, 0.0)), from = knAdd(deck, up);
		knVec3 to = knAdd(from, knSub(arc->joint[k + 1], arc->joint[k]));
		snprintf(name, sizeof(name), "rail_%s%d", which, k);
		knBodyId rail = addRope(builder, name, from, to, ROPE_INSET, ROPE_INSET);
		addBall(builder, previous, rail, from, knNormalize(knSub(to, from)), false);
		if (k > 0) {
			snprintf(name, sizeof(name), "hanger_%s%d", which, k);
			knBodyId hanger = addRope(builder, name, from, deck, ROPE_INSET, HANGER_INSET);
			addBall(builder, rail, hanger, from, down, false);
			addBall(builder, planks[k], hanger, deck, down, true);
		}
		if (k == PLANKS - 1) {
			addBall(builder, rail, KN_WORLD_BODY, to, down, true);
		}
		previous = rail;
	}
}

// --- loads -----------------------------------------------------------------------------------------------------

// Height of the deck's upper side below x.
static double deckAt(const Arc* arc, double x) {
	int k = 0;
	while (k < PLANKS - 1 && x > arc->joint[k + 1].x) {
		++k;
	}
	knVec3 a = arc->joint[k], b = arc->joint[k + 1];
	return a.z + (b.z - a.z) * (x - a.x) / (b.x - a.x) + 0.05;
}

// A pair as it lies: the middle of its hinge, seen from above, and the directions along and across it.
typedef struct Footprint {
	knVec3 at;
	double c, s; // of its turn about the vertical
} Footprint;

#define PAIRS_OF_LAYER 27
#define PAIR_HALF_LENGTH (0.41 + 0.02) // along it, with room to spare, m
#define PAIR_HALF_WIDTH (0.15 + 0.02)  // across
#define LARGEST_TILT 0.15              // rad
#define RAIL_CLEARANCE 0.2             // m, from the rails: none starts over them

// True if the corners of `b`, seen along a's axes, are all on one side of `a`.
static bool isClearOf(const Footprint* a, const Footprint* b) {
	double along = knAbs((b->at.x - a->at.x) * a->c + (b->at.y - a->at.y) * a->s);
	double across = knAbs((b->at.y - a->at.y) * a->c - (b->at.x - a->at.x) * a->s);
	double c = knAbs(a->c * b->c + a->s * b->s), s = knAbs(a->c * b->s - a->s * b->c);
	return along > PAIR_HALF_LENGTH + PAIR_HALF_LENGTH * c + PAIR_HALF_WIDTH * s ||
		   across > PAIR_HALF_WIDTH + PAIR_HALF_LENGTH * s + PAIR_HALF_WIDTH * c;
}

// A place on the deck, between the rails, that is clear of the others of its layer.
static Footprint scatter(knSceneBuilder* builder, const Footprint* others, int count) {
	for (;;) {
		double x = knSceneBuilder_Uniform(builder, -8.5, 8.5), y = knSceneBuilder_Uniform(builder, -0.8, 0.8);
		double turn = knSceneBuilder_Uniform(builder, 0.0, KN_PI);
		Footprint place = { .at = knV3(x, y, 0.0) };
		knSinCos(turn, &place.s, &place.c);
		double reach = PAIR_HALF_LENGTH * knAbs(place.s) + PAIR_HALF_WIDTH * knAbs(place.c);
		bool clear = knAbs(y) + reach < SIDE - RAIL_CLEARANCE;
		for (int i = 0; i < count && clear; ++i) {
			clear = isClearOf(&place, &others[i]) || isClearOf(&others[i], &place);
		}
		if (clear) {
			return place;
		}
	}
}

// Scattered and turned, in three layers at heights of 1.2, 1.8 and 2.4 m.
static void addPair(knSceneBuilder* builder, const Arc* arc, int index, const Footprint* place) {
	knVec3 half = BLOCK_HALF;
	knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), knAtan2(place->s, place->c));
	double tilt = knSceneBuilder_Uniform(builder, -LARGEST_TILT, LARGEST_TILT);
	turn = knMulQ(turn, knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), tilt));
	knVec3 hinge = place->at;
	hinge.z = deckAt(arc, hinge.x) + 1.2 + 0.6 * (index / PAIRS_OF_LAYER);
	knBodyId blocks[2];
	for (int i = 0; i < 2; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "block%d%c", index, i == 0 ? 'a' : 'b');
		double side = i == 0 ? -1.0 : 1.0;
		knVec3 offset = knV3(side * (half.x + 0.5 * BLOCK_GAP), 0.0, half.z);
		knFrame frame = knMakeFrame(knAdd(hinge, knRotate(turn, offset)), turn);
		uint32_t color = knSceneBuilder_Shade(builder, i == 0 ? KN_COLOR_BLUE : KN_COLOR_SAND);
		blocks[i] = knSceneBuilder_Box(builder, name, frame, half, color);
	}
	knJointDef joint = knJointDef_Default(KN_JOINT_HINGE);
	knSceneBuilder_Joint(builder, &joint, blocks[0], blocks[1], hinge, knRotate(turn, knV3(0.0, 1.0, 0.0)));
}

static void addPairs(knSceneBuilder* builder, const Arc* arc, int pairs) {
	Footprint layer[PAIRS_OF_LAYER];
	for (int i = 0; i < pairs; ++i) {
		layer[i % PAIRS_OF_LAYER] = scatter(builder, layer, i % PAIRS_OF_LAYER);
		addPair(builder, arc, i, &layer[i % PAIRS_OF_LAYER]);
	}
}

// 12 along the bridge, 5 layers.
static void addRings(knSceneBuilder* builder, const Arc* arc, int rings, bool mesh) {
	knGeom* link = knRing_LinkGeom(mesh, builder->error);
	knSceneBuilder_Require(builder, link != NULL);
	for (int i = 0; i < rings && builder->scene != NULL; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "ring%d", i);
		knVec3 center = knV3(1.45 * (i % 12 - 5.5), knSceneBuilder_Uniform(builder, -0.2, 0.2), 0.0);
		center.z = deckAt(arc, center.x) + 1.2 + 0.35 * (i / 12);
		knRing_Add(builder, name, center, knSceneBuilder_Uniform(builder, 0.0, KN_PI), link);
	}
	knGeom_Release(link);
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	Arc arc = makeArc();
	knBodyId planks[PLANKS];
	addDeck(&builder, &arc, planks);
	addRail(&builder, &arc, -1, planks);
	addRail(&builder, &arc, 1, planks);
	if (knSceneArgs_Get(args, "load") == LOAD_RINGS) {
		addRings(&builder, &arc, args->small ? 4 : RINGS, knSceneArgs_Get(args, "mesh") != 0.0);
	} else {
		addPairs(&builder, &arc, args->small ? 9 : PAIRS);
	}
	return knSceneBuilder_End(&builder);
}

#define BRIDGE_BODIES (PLANKS + 2 * (PLANKS + PLANKS - 1))

// The buffer remembers which loads were seen beside the deck before they were below it.
static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	(void)args;
	const knModel* model = knWorld_Model(world);
	int count = knModel_BodyCount(model), outside = 0, overboard = 0;
	double* beside = knSceneChecks_Buffer(checks, count);
	double lowest = 1e9;
	for (int i = 0; i < count && beside != NULL; ++i) {
		knVec3 at = knWorld_BodyCenter(world, knModel_BodyAt(model, i));
		if (i < PLANKS) {
			lowest = knMin(lowest, at.z);
		} else if (i >= BRIDGE_BODIES) {
			bool below = at.z < lowest - 0.2;
			beside[i] = !below && knAbs(at.y) > 1.0 ? 1.0 : beside[i];
			overboard += below && beside[i] != 0.0;
			outside += below && beside[i] == 0.0;
		}
	}
	knSceneChecks_Set(checks, "outside", outside);
	knSceneChecks_Set(checks, "overboard", overboard);
	knSceneChecks_Set(checks, "lowest", lowest);
}

const knSceneEntry knBridgeEntry = {
	.name = "bridge",
	.view = { -70, 14, 1.2 },
	.bodies = 265,
	.joints = 249,
	.summary = "a hanging bridge of planks, rope rails and hangers under falling loads",
	.source = "Weinstein et al. 2006, figure 3",
	.steppers = "impulse velocity",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "load", .value = LOAD_BLOCKS, .lower = 0, .upper = 1, .integer = true, .choices = "blocks rings",
		  .help = "81 hinged pairs of blocks, or 60 rings of 6 links" },
		{ .name = "mesh", .value = 1, .lower = 0, .upper = 1, .integer = true,
		  .help = "the rings' links are meshes; 0: crossed capsules" },
	},
	.build = build,
	.observe = observe,
};
