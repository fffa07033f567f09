// cow-pile: cows, closed nonconvex meshes with four thin legs, horns and a tail, fall so fast that they meet the ground at half
// their length per step; drop=0 stands them on the ground instead. Their round trunks would rock on and on: rolling=R, the
// arm of the rolling resistance, is what stops them. outside: cows whose centre is below the ground.
//
// x points ahead, z up, the feet at z = 0. Legs are 9.6 cm thick, the trunk 80 cm.
#include <stdio.h>

#include "blob.h"
#include "scene_tools.h"

#define TRIANGLES 3200
#define SMALL_TRIANGLES 1000
#define LENGTH 2.84 // from tail to mouth
#define SPACING 3.4 // of cows in a layer
#define LAYER 3.4   // of layers: whichever way a cow is turned
#define PER_ROW 5   // at most

static const knBlobPart cow[] = {
	{ { -0.72, 0.0, 1.10 }, { 0.62, 0.0, 1.12 }, 0.38, 0.40 },   // trunk
	{ { 0.75, 0.0, 1.25 }, { 1.10, 0.0, 1.52 }, 0.22, 0.15 },    // neck
	{ { 1.10, 0.0, 1.52 }, { 1.42, 0.0, 1.40 }, 0.14, 0.09 },    // head
	{ { 1.12, 0.09, 1.63 }, { 1.16, 0.25, 1.79 }, 0.04, 0.035 }, // horns
	{ { 1.12, -0.09, 1.63 }, { 1.16, -0.25, 1.79 }, 0.04, 0.035 },
	{ { 0.58, 0.20, 0.90 }, { 0.60, 0.20, 0.048 }, 0.048, 0.048 }, // legs
	{ { 0.58, -0.20, 0.90 }, { 0.60, -0.20, 0.048 }, 0.048, 0.048 },
	{ { -0.66, 0.20, 0.90 }, { -0.68, 0.20, 0.048 }, 0.048, 0.048 },
	{ { -0.66, -0.20, 0.90 }, { -0.68, -0.20, 0.048 }, 0.048, 0.048 },
	{ { -1.04, 0.0, 1.30 }, { -1.22, 0.0, 1.20 }, 0.036, 0.036 }, // tail
	{ { -1.22, 0.0, 1.20 }, { -1.29, 0.0, 0.62 }, 0.036, 0.036 },
	{ { -0.40, 0.0, 0.72 }, { -0.30, 0.0, 0.72 }, 0.12, 0.12 }, // udder
};

static knGeom* cowGeom(bool small, knError* error) {
	knBlob blob = { cow, (int)(sizeof(cow) / sizeof(cow[0])), 0.05 };
	return knBlob_Geom(&blob, small ? SMALL_TRIANGLES : TRIANGLES, error);
}

// The speed with which a body must be thrown down from a height to meet the ground at `speed`.
static double throwSpeed(double speed, double height) {
	return sqrt(knMax(speed * speed - 2.0 * 9.81 * height, 0.0));
}

static void addCow(knSceneBuilder* builder, int index, const knGeom* geom) {
	static const uint32_t colors[] = { KN_COLOR_CLAY, 0xe9e4da, 0x5b4636, KN_COLOR_SAND };
	bool drop = knSceneArgs_Get(builder->args, "drop") != 0.0;
	int cows = (int)knSceneArgs_Get(builder->args, "cows"), perRow = 1;
	while (perRow < PER_ROW && perRow * perRow < cows) {
		++perRow;
	}
	int place = index % (perRow * perRow), layer = index / (perRow * perRow);
	double middle = 0.5 * (perRow - 1);
	char name[32];
	snprintf(name, sizeof(name), "cow%d", index);
	knBodyDef def = knBodyDef_Default();
	def.name = name;
	def.color = colors[index % 4];
	def.frame.p =
		knV3(SPACING * (place % perRow - middle), SPACING * (place / perRow - middle), LAYER * layer);
	if (drop) {
		double height = LAYER * layer + 2.0;
		def.frame.p.z = height;
		def.velocity = knV3(0.0, 0.0, -throwSpeed(0.5 * LENGTH / builder->args->entry->dt, height));
		def.frame.q =
			knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), knSceneBuilder_Uniform(builder, -KN_PI, KN_PI));
		double tilt = knSceneBuilder_Uniform(builder, -0.4, 0.4),
			   roll = knSceneBuilder_Uniform(builder, -0.4, 0.4);
		def.frame.q = knMulQ(def.frame.q, knQuat_Exp(knV3(roll, tilt, 0.0)));
	}
	knSceneBuilder_Body(builder, &def, geom);
	knShapeDef* shape = knSceneBuilder_LastShape(builder);
	if (shape != NULL) {
		shape->rollingFriction = knSceneArgs_Get(builder->args, "rolling");
	}
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	knGeom* geom = cowGeom(args->small, error);
	knSceneBuilder_Require(&builder, geom != NULL);
	int cows = (int)knSceneArgs_Get(args, "cows");
	for (int i = 0; i < cows && builder.scene != NULL; ++i) {
		addCow(&builder, i, geom);
	}
	knGeom_Release(geom);
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knCowPileEntry = {
	.name = "cow-pile",
	.bodies = 250,
	.joints = 0,
	.summary = "cows with thin legs, horns and tails fall on a pile, half their length per step",
	.source = "Erleben 2007, figures 15 and 28 to 30",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "cows", .value = 250, .lower = 1, .upper = 10000, .integer = true, .help = "cows", .small = 2 },
		{ .name = "drop", .value = 1, .lower = 0, .upper = 1, .integer = true, .help = "0: they stand on the ground" },
		{ .name = "rolling", .value = 0.005, .lower = 0, .upper = 1, .help = "arm of the rolling friction, m" },
	},
	.build = build,
	.observe = knPile_Observe,
};
