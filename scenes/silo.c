// silo: half spheres, half boxes, slightly turned, fall in layers of 13 x 13 into a container 10 x 10 m wide inside and
// 12 m high. rolling=R gives every shape a rolling resistance of that arm. Without it balls roll on for ever; the default,
// 0.03 to 0.05 of a ball's radius, is what grain has (0.01 to 0.1 in discrete element work; steel balls some 0.001).
// outside: how many bodies are no longer in it.
#include <stdio.h>

#include "scene_tools.h"

#define INSIDE 5.0 // half width
#define HEIGHT 12.0
#define PER_ROW 13
#define SPACING 0.74
#define JITTER 0.02
#define LARGEST_TURN 0.1 // rad: a box of half width 0.3 then stays within half a spacing

static void addObject(knSceneBuilder* builder, int index) {
	char name[32];
	int layer = index / (PER_ROW * PER_ROW), place = index % (PER_ROW * PER_ROW);
	double middle = 0.5 * (PER_ROW - 1);
	knVec3 center;
	center.x = SPACING * (place % PER_ROW - middle) + knSceneBuilder_Uniform(builder, -JITTER, JITTER);
	center.y = SPACING * (place / PER_ROW - middle) + knSceneBuilder_Uniform(builder, -JITTER, JITTER);
	center.z = SPACING * (layer + 1) + knSceneBuilder_Uniform(builder, -0.5 * JITTER, 0.5 * JITTER);
	if (index % 2 == 0) {
		snprintf(name, sizeof(name), "ball%d", index);
		double radius = knSceneBuilder_Uniform(builder, 0.2, 0.35);
		uint32_t color = knSceneBuilder_Shade(builder, KN_COLOR_TEAL);
		knSceneBuilder_Ball(builder, name, center, radius, 1000.0, color);
		return;
	}
	snprintf(name, sizeof(name), "box%d", index);
	knVec3 half, turn;
	half.x = knSceneBuilder_Uniform(builder, 0.17, 0.3);
	half.y = knSceneBuilder_Uniform(builder, 0.17, 0.3);
	half.z = knSceneBuilder_Uniform(builder, 0.17, 0.3);
	turn.x = knSceneBuilder_Uniform(builder, -1.0, 1.0);
	turn.y = knSceneBuilder_Uniform(builder, -1.0, 1.0);
	turn.z = knSceneBuilder_Uniform(builder, -1.0, 1.0);
	knQuat q = knQuat_Exp(knScale(LARGEST_TURN / sqrt(3.0), turn));
	uint32_t color = knSceneBuilder_Shade(builder, KN_COLOR_SAND);
	knSceneBuilder_Box(builder, name, knMakeFrame(center, q), half, color);
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	knSceneBuilder_Walls(&builder, INSIDE, INSIDE, HEIGHT);
	int objects = (int)knSceneArgs_Get(args, "objects");
	for (int i = 0; i < objects; ++i) {
		addObject(&builder, i);
	}
	double rolling = knSceneArgs_Get(args, "rolling");
	for (int i = 0; builder.scene != NULL && i < knScene_ShapeSlots(builder.scene); ++i) {
		knScene_EditShape(builder.scene, knScene_ShapeAt(builder.scene, i))->rollingFriction = rolling;
	}
	return knSceneBuilder_End(&builder);
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knModel* model = knWorld_Model(world);
	int outside = 0;
	for (int i = 0; i < knModel_BodyCount(model); ++i) {
		knVec3 center = knWorld_BodyCenter(world, knModel_BodyAt(model, i));
		outside += knAbs(center.x) > INSIDE || knAbs(center.y) > INSIDE || center.z < 0.0;
	}
	knSceneChecks_Set(checks, "outside", outside);
	knRest_Observe(world, args, checks);
}

const knSceneEntry knSiloEntry = {
	.name = "silo",
	.view = { -62, 52, 1.8 },
	.bodies = 3000,
	.joints = 0,
	.summary = "spheres and boxes fall into a container",
	.source = "Erleben 2007, figure 1",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "objects", .value = 3000, .lower = 1, .upper = 200000, .integer = true,
		  .help = "bodies, half of them spheres", .small = 60 },
		{ .name = "rolling", .value = 0.01, .lower = 0, .upper = 1,
		  .help = "arm of the rolling friction, m; some 0.04 of a ball's radius, like grain" },
	},
	.build = build,
	.observe = observe,
};
