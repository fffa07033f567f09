// ball-grid: n^3 balls of 1 m diameter on a cubic lattice, the lowest layer on the ground. At pitch 0.8 m they overlap
// severely, which tests how penetration is resolved; at pitch 1 with walls they just touch and have to stay.
#include <stdio.h>

#include "scene_tools.h"

#define RADIUS 0.5

// Four walls whose inner faces touch the outermost balls. In twin 4 they end below the layers that are shifted.
static void addWalls(knSceneBuilder* builder, int n, double pitch) {
	int layers = builder->args->twin == 4 ? n - knTwin_ShiftedLayers(n) : n;
	double inside = 0.5 * (n - 1) * pitch + RADIUS;
	if (layers > 0) {
		knSceneBuilder_Walls(builder, inside, inside, (layers - 1) * pitch + 2.0 * RADIUS);
	}
}

static knScene* build(const knSceneArgs* args, knError* error) {
	int n = (int)knSceneArgs_Get(args, "n");
	double pitch = knSceneArgs_Get(args, "pitch");
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0 + n * pitch);
	if (knSceneArgs_Get(args, "walls") != 0.0) {
		addWalls(&builder, n, pitch);
	}
	for (int z = 0; z < n; ++z) {
		for (int y = 0; y < n; ++y) {
			for (int x = 0; x < n; ++x) {
				char name[40];
				snprintf(name, sizeof(name), "ball%d_%d_%d", x, y, z);
				double middle = 0.5 * (n - 1);
				knVec3 place = knV3((x - middle) * pitch, (y - middle) * pitch, RADIUS + z * pitch);
				bool chosen = z == n - 1 && y == n / 2 && x == n / 2;
				place = knAdd(place, knTwin_Offset(args, z, n, knV3(0.5 * pitch, 0.0, 0.0), chosen));
				uint32_t color =
					knSceneBuilder_Shade(&builder, (x + y + z) % 2 == 0 ? KN_COLOR_TEAL : KN_COLOR_SAND);
				knSceneBuilder_Ball(&builder, name, place, RADIUS, 1000.0, color);
			}
		}
	}
	return knSceneBuilder_End(&builder);
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	// overlapping balls burst out of their layers
	if (knSceneArgs_Get(args, "pitch") >= 2.0 * RADIUS) {
		knLayerForces_Observe(world, args, knSceneArgs_Get(args, "pitch"), checks);
	}
}

const knSceneEntry knBallGridEntry = {
	.name = "ball-grid",
	.bodies = 125,
	.joints = 0,
	.summary = "balls of 1 m on a cubic lattice, overlapping severely at the default pitch",
	.source = "Erleben 2007, figure 13",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 5.0,
	.twins = true,
	.params = {
		{ .name = "n", .value = 5, .lower = 1, .upper = 64, .integer = true, .help = "balls along each edge", .small = 3 },
		{ .name = "pitch", .value = 0.8, .lower = 0.001, .upper = 10, .help = "distance of neighbours, m" },
		{ .name = "walls", .value = 0, .lower = 0, .upper = 1, .integer = true, .help = "1: fixed walls around" },
	},
	.build = build,
	.script = knTwin_Script,
	.observe = observe,
};
