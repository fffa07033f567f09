// pyramid: a plane pyramid of 1 m cubes at spacing 1.1 m, each on two below; base=20 makes 210 cubes, base=100 5050.
#include <stdio.h>

#include "scene_tools.h"

#define SPACING 1.1

static knScene* build(const knSceneArgs* args, knError* error) {
	int base = (int)knSceneArgs_Get(args, "base");
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0 + SPACING * base);
	for (int row = 0; row < base; ++row) {
		for (int i = 0; i < base - row; ++i) {
			char name[32];
			snprintf(name, sizeof(name), "box%d_%02d", row, i);
			knVec3 place = knV3(SPACING * (i - 0.5 * (base - row - 1)), 0.0, row + 0.5);
			knVec3 shift = knV3(0.0, 0.6, 0.0); // the centre beyond the edge of a cube of 1 m
			place = knAdd(place, knTwin_Offset(args, row, base, shift, row == base - 1));
			uint32_t color = knSceneBuilder_Shade(&builder, row % 2 == 0 ? KN_COLOR_SAND : KN_COLOR_PLUM);
			knSceneBuilder_Box(&builder, name, knMakeFrame(place, knIdentityQ()), knV3(0.5, 0.5, 0.5), color);
		}
	}
	return knSceneBuilder_End(&builder);
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knLayerForces_Observe(world, args, 1.0, checks);
}

const knSceneEntry knPyramidEntry = {
	.name = "pyramid",
	.bodies = 210,
	.joints = 0,
	.summary = "a plane pyramid of 1 m cubes",
	.source = "common benchmark",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.twins = true,
	.params = {
		{ .name = "base", .value = 20, .lower = 1, .upper = 400, .integer = true, .help = "cubes in the lowest row",
		  .small = 5 },
	},
	.build = build,
	.script = knTwin_Script,
	.observe = observe,
};
