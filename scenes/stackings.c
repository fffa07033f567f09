// The three kinds of stacking (Erleben 2007, figure 2), and an arch.
//
//   random-pile   n boxes, balls and capsules, turned at random, fall on a heap
//   sparse-stack  n storeys of four posts and a slab: few contacts, each carrying all that is above
//   dense-stack   a square block of cubes, n wide, n deep and n high, every other layer (the uppermost among them) moved by
//                 half a cube and one cube shorter in both directions, so that each of its cubes rests on four
#include <stdio.h>

#include "scene_tools.h"

// --- random-pile -----------------------------------------------------------------------------------------------

#define PILE_SPACING 0.75 // no body is longer
#define PILE_ROW 5

static knQuat randomTurn(knSceneBuilder* builder) {
	for (;;) {
		knQuat q;
		q.w = knSceneBuilder_Uniform(builder, -1.0, 1.0);
		q.x = knSceneBuilder_Uniform(builder, -1.0, 1.0);
		q.y = knSceneBuilder_Uniform(builder, -1.0, 1.0);
		q.z = knSceneBuilder_Uniform(builder, -1.0, 1.0);
		double length = knDotQ(q, q);
		if (length > 0.01 && length <= 1.0) {
			return knNormalizeQ(q);
		}
	}
}

static void addPileObject(knSceneBuilder* builder, int index) {
	char name[32];
	snprintf(name, sizeof(name), "object%d", index);
	double middle = 0.5 * (PILE_ROW - 1);
	knVec3 place = knV3(PILE_SPACING * (index % PILE_ROW - middle),
						PILE_SPACING * (index / PILE_ROW % PILE_ROW - middle),
						PILE_SPACING * (0.6 + index / (PILE_ROW * PILE_ROW)));
	knQuat turn = randomTurn(builder);
	if (index % 3 == 0) {
		double radius = knSceneBuilder_Uniform(builder, 0.15, 0.3);
		knSceneBuilder_Ball(builder, name, place, radius, 1000.0,
							knSceneBuilder_Shade(builder, KN_COLOR_TEAL));
	} else if (index % 3 == 1) {
		knVec3 half;
		half.x = knSceneBuilder_Uniform(builder, 0.12, 0.21);
		half.y = knSceneBuilder_Uniform(builder, 0.12, 0.21);
		half.z = knSceneBuilder_Uniform(builder, 0.12, 0.21);
		uint32_t color = knSceneBuilder_Shade(builder, KN_COLOR_SAND);
		knSceneBuilder_Box(builder, name, knMakeFrame(place, turn), half, color);
	} else {
		double radius = knSceneBuilder_Uniform(builder, 0.08, 0.15), reach = 0.36;
		knVec3 along = knRotate(turn, knV3(0.0, 0.0, reach));
		double volume = KN_PI * radius * radius * (2.0 * (reach - radius) + 4.0 / 3.0 * radius);
		knSceneBuilder_Rod(builder, name, knSub(place, along), knAdd(place, along), radius, 1000.0 * volume,
						   knSceneBuilder_Shade(builder, KN_COLOR_PLUM));
	}
}

static knScene* buildRandomPile(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	int n = (int)knSceneArgs_Get(args, "n");
	for (int i = 0; i < n; ++i) {
		addPileObject(&builder, i);
	}
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knRandomPileEntry = {
	.name = "random-pile",
	.bodies = 300,
	.joints = 0,
	.summary = "boxes, balls and capsules fall on a heap",
	.source = "Erleben 2007, figure 2",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "n", .value = 300, .lower = 1, .upper = 100000, .integer = true, .help = "bodies", .small = 30 },
	},
	.build = buildRandomPile,
	.observe = knRest_Observe,
};

// --- sparse-stack ----------------------------------------------------------------------------------------------

#define POST_HALF knV3(0.1, 0.1, 0.5)
#define SLAB_HALF knV3(1.0, 1.0, 0.05)
#define STOREY 1.1
#define POST_PLACE 0.8

static knScene* buildSparseStack(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	int n = (int)knSceneArgs_Get(args, "n"), layers = 2 * n;
	knVec3 post = POST_HALF, slab = SLAB_HALF, shift = knV3(1.2, 0.0, 0.0); // twin 4: beyond the slabs
	for (int storey = 0; storey < n; ++storey) {
		char name[32];
		for (int i = 0; i < 4; ++i) {
			snprintf(name, sizeof(name), "post%d_%d", storey, i);
			knVec3 place = knV3(i % 2 == 0 ? -POST_PLACE : POST_PLACE, i / 2 == 0 ? -POST_PLACE : POST_PLACE,
								STOREY * storey + post.z);
			place = knAdd(place, knTwin_Offset(args, 2 * storey, layers, shift, false));
			uint32_t color = knSceneBuilder_Shade(&builder, KN_COLOR_CLAY);
			knSceneBuilder_Box(&builder, name, knMakeFrame(place, knIdentityQ()), post, color);
		}
		snprintf(name, sizeof(name), "slab%d", storey);
		knVec3 place = knV3(0.0, 0.0, STOREY * storey + 2.0 * post.z + slab.z);
		place = knAdd(place, knTwin_Offset(args, 2 * storey + 1, layers, shift, storey == n - 1));
		knSceneBuilder_Box(&builder, name, knMakeFrame(place, knIdentityQ()), slab, KN_COLOR_SAND);
	}
	return knSceneBuilder_End(&builder);
}

// Posts at 0.5 m and slabs at 1.05 m of each storey lie in the even and odd layers of this height.
static void observeSparseStack(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knLayerForces_Observe(world, args, 0.5 * STOREY, checks);
}

const knSceneEntry knSparseStackEntry = {
	.name = "sparse-stack",
	.bodies = 40,
	.joints = 0,
	.summary = "storeys of four posts and a slab",
	.source = "Erleben 2007, figure 2",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.twins = true,
	.params = {
		{ .name = "n", .value = 8, .lower = 1, .upper = 1000, .integer = true, .help = "storeys", .small = 2 },
	},
	.build = buildSparseStack,
	.script = knTwin_Script,
	.observe = observeSparseStack,
};

// --- dense-stack -----------------------------------------------------------------------------------------------

#define CUBE 1.0
#define CUBE_SPACING 1.002

static knScene* buildDenseStack(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int n = (int)knSceneArgs_Get(args, "n");
	knSceneBuilder_Ground(&builder, 50.0 + n);
	for (int layer = 0; layer < n; ++layer) {
		// the uppermost layer is a narrow one: cubes at the edges of a wide one rest on less than half of their base
		int width = layer % 2 == n % 2 || n == 1 ? n : n - 1;
		for (int i = 0; i < width * width; ++i) {
			char name[48];
			snprintf(name, sizeof(name), "cube%d_%02d_%02d", layer, i / width, i % width);
			knVec3 place = knV3(CUBE_SPACING * (i % width - 0.5 * (width - 1)),
								CUBE_SPACING * (i / width - 0.5 * (width - 1)), CUBE * (layer + 0.5));
			knVec3 shift =
				knV3(0.5 * CUBE_SPACING * n + 0.1, 0.0, 0.0); // twin 4: the centre beyond the lowest layers
			place = knAdd(place, knTwin_Offset(args, layer, n, shift, layer == n - 1 && i == 0));
			uint32_t color = knSceneBuilder_Shade(&builder, layer % 2 == 0 ? KN_COLOR_BLUE : KN_COLOR_SAND);
			knVec3 half = knV3(0.5 * CUBE, 0.5 * CUBE, 0.5 * CUBE);
			knSceneBuilder_Box(&builder, name, knMakeFrame(place, knIdentityQ()), half, color);
		}
	}
	return knSceneBuilder_End(&builder);
}

static void observeDenseStack(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knLayerForces_Observe(world, args, CUBE, checks);
}

const knSceneEntry knDenseStackEntry = {
	.name = "dense-stack",
	.bodies = 183,
	.joints = 0,
	.summary = "a block of cubes, each on four of the layer below",
	.source = "Erleben 2007, figure 2",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.twins = true,
	.params = {
		{ .name = "n", .value = 6, .lower = 1, .upper = 60, .integer = true, .help = "cubes along each edge", .small = 3 },
	},
	.build = buildDenseStack,
	.script = knTwin_Script,
	.observe = observeDenseStack,
};

// --- arch ------------------------------------------------------------------------------------------------------

#define ARCH_INNER 1.75
#define ARCH_OUTER 2.25
#define ARCH_HALF_DEPTH 0.3

// A voussoir in its own frame: z away from the arch's middle, x along it, the origin at the mean radius.
static knGeom* voussoir(double angle, knError* error) {
	double sine, cosine, mean = 0.5 * (ARCH_INNER + ARCH_OUTER);
	knSinCos(0.5 * angle, &sine, &cosine);
	knVec3 points[8];
	for (int i = 0; i < 8; ++i) {
		double radius = i % 2 == 0 ? ARCH_INNER : ARCH_OUTER;
		points[i].x = (i & 2) == 0 ? -radius * sine : radius * sine;
		points[i].y = (i & 4) == 0 ? -ARCH_HALF_DEPTH : ARCH_HALF_DEPTH;
		points[i].z = radius * cosine - mean;
	}
	return knGeom_Hull(points, 8, NULL, error);
}

static knScene* buildArch(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	int blocks = (int)knSceneArgs_Get(args, "blocks");
	double angle = KN_PI / blocks, mean = 0.5 * (ARCH_INNER + ARCH_OUTER);
	knGeom* geom = voussoir(angle, error);
	knSceneBuilder_Require(&builder, geom != NULL);
	for (int i = 0; i < blocks && builder.scene != NULL; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "block%d", i);
		knBodyDef def = knBodyDef_Default();
		def.name = name;
		double turn = angle * (i + 0.5) - 0.5 * KN_PI; // from the vertical
		def.frame.q = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), turn);
		def.frame.p = knRotate(def.frame.q, knV3(0.0, 0.0, mean));
		int layer = i < blocks / 2 ? i : blocks - 1 - i, layers = (blocks + 1) / 2;
		knVec3 shift = knV3(0.0, 2.0 * ARCH_HALF_DEPTH + 0.01, 0.0); // twin 4: beside the rest
		def.frame.p = knAdd(def.frame.p, knTwin_Offset(args, layer, layers, shift, i == blocks / 2));
		def.color = knSceneBuilder_Shade(&builder, i == blocks / 2 ? KN_COLOR_RED : KN_COLOR_SAND);
		knSceneBuilder_Body(&builder, &def, geom);
	}
	knGeom_Release(geom);
	return knSceneBuilder_End(&builder);
}

static void observeArch(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knLayerForces_Observe(world, args, 0.05, checks); // a layer for each pair of blocks
}

const knSceneEntry knArchEntry = {
	.name = "arch",
	.bodies = 7,
	.joints = 0,
	.summary = "a round arch of wedges that hold each other",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.twins = true,
	.params = {
		{ .name = "blocks", .value = 7, .lower = 3, .upper = 201, .integer = true, .help = "wedges" },
	},
	.build = buildArch,
	.script = knTwin_Script,
	.observe = observeArch,
};
