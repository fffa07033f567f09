// card-house: cards half 0.01 x 0.3 x 0.5 m lean in pairs at 15 degrees; on the ridges of a row lie level cards, on which
// the next row, one pair shorter, stands. With friction 0.6 it stands, with 0.1 it falls.
//
//   a       angle of lean, t and h half thickness and half height
//   pair    feet on lines at -+2 h sin a from the middle, the inner top edges touch in the middle plane:
//           centre (-+(t cos a + h sin a), 0, h cos a + t sin a)
//   ridge   the outer top edges, at -+2 t cos a and the height 2 (h cos a + t sin a): there the level cards rest
//
// Level cards are a little shorter than the distance of the pairs, so that each rests on one edge of both its ridges.
#include <stdio.h>

#include "scene_tools.h"

#define HALF_THICKNESS 0.01
#define HALF_WIDTH 0.3
#define HALF_HEIGHT 0.5
#define LEAN (15.0 * KN_PI / 180.0)
#define PAIR_SPACING (2.0 * HALF_HEIGHT + 0.002)

// From the feet of one row to those of the next.
static double rowHeight(void) {
	return 2.0 * (HALF_HEIGHT * knCos(LEAN) + HALF_THICKNESS * knSin(LEAN) + HALF_THICKNESS);
}

// Twin 4 moves the top third of the storeys (pairs and level cards count separately) off those below.
static knVec3 offsetOf(const knSceneArgs* args, int layer, int layers, bool chosen) {
	return knTwin_Offset(args, layer, layers, knV3(0.0, HALF_WIDTH + 0.05, 0.0), chosen);
}

static void addPair(knSceneBuilder* builder, int row, int index, double x, int layers) {
	double sine, cosine;
	knSinCos(LEAN, &sine, &cosine);
	for (int side = 0; side < 2; ++side) {
		double sign = side == 0 ? -1.0 : 1.0;
		char name[32];
		snprintf(name, sizeof(name), "card%d_%d%c", row, index, side == 0 ? 'a' : 'b');
		knVec3 place = knV3(x + sign * (HALF_THICKNESS * cosine + HALF_HEIGHT * sine), 0.0,
							row * rowHeight() + HALF_HEIGHT * cosine + HALF_THICKNESS * sine);
		place = knAdd(place, offsetOf(builder->args, 2 * row, layers, 2 * row == layers - 1 && side == 0));
		knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), -sign * LEAN);
		knVec3 half = knV3(HALF_THICKNESS, HALF_WIDTH, HALF_HEIGHT);
		knSceneBuilder_Box(builder, name, knMakeFrame(place, turn), half,
						   side == 0 ? KN_COLOR_RED : KN_COLOR_BLUE);
	}
}

static knScene* build(const knSceneArgs* args, knError* error) {
	int rows = (int)knSceneArgs_Get(args, "rows"), layers = 2 * rows - 1;
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0 + rows);
	for (int row = 0; row < rows; ++row) {
		int pairs = rows - row;
		for (int i = 0; i < pairs; ++i) {
			addPair(&builder, row, i, PAIR_SPACING * (i - 0.5 * (pairs - 1)), layers);
		}
		for (int i = 0; i < pairs - 1; ++i) {
			char name[32];
			snprintf(name, sizeof(name), "level%d_%d", row, i);
			knVec3 place =
				knV3(PAIR_SPACING * (i - 0.5 * (pairs - 2)), 0.0, (row + 1) * rowHeight() - HALF_THICKNESS);
			place = knAdd(place, offsetOf(args, 2 * row + 1, layers, false));
			knVec3 half = knV3(HALF_HEIGHT, HALF_WIDTH, HALF_THICKNESS);
			knSceneBuilder_Box(&builder, name, knMakeFrame(place, knIdentityQ()), half, KN_COLOR_SAND);
		}
	}
	return knSceneBuilder_End(&builder);
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knLayerForces_Observe(world, args, 0.5 * rowHeight(), checks);
}

const knSceneEntry knCardHouseEntry = {
	.name = "card-house",
	.view = { -75, 10, 1 },
	.bodies = 15,
	.joints = 0,
	.summary = "cards lean in pairs at 15 degrees, level cards between the rows",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.twins = true,
	.params = {
		{ .name = "rows", .value = 3, .lower = 1, .upper = 50, .integer = true, .help = "rows of pairs", .small = 2 },
	},
	.build = build,
	.script = knTwin_Script,
	.observe = observe,
};
