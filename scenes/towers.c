// Round towers of bricks, each layer bridging the joints of the one below, and what falls on them.
//
//   tower         n bricks on a circle through their centres, long side tangential; odd layers turned by half a brick
//   falling-roof  planks in two crossed layers fall on a tower of 32 layers, at 2 s a cannon ball follows
//   roof-tower    at 0.5 s a block of 62.5 t appears 0.5 m above a tower of 40 layers, at 2 s a cannon ball
//
// Facts of the last two: brick_displacement, the farthest that any brick has come from its place; of roof-tower also
// brick_drift (the same from 0.7 s after the block appeared until the ball does), block_speed (at the end), block_rise
// (above its place when the ball appears) and shot_gain (energy above that when the ball appears, over the ball's).
#include <stdio.h>

#include "scene_tools.h"

#define BRICK_LENGTH 0.5
#define BRICK_HEIGHT 0.25
#define TOWER_RADIUS 1.72 // of 20 bricks
#define TOWER_BRICKS 20

// Through the bricks' centres, such that the gaps between their inner edges are those of 20 bricks: the inner faces
// form a regular polygon around a circle of radius - 1/2 width, whose side is proportional to that times tan(pi / n).
static double towerRadius(int perLayer) {
	double halfWidth = 0.5 * BRICK_HEIGHT;
	double sine, cosine, sine20, cosine20;
	knSinCos(KN_PI / perLayer, &sine, &cosine);
	knSinCos(KN_PI / TOWER_BRICKS, &sine20, &cosine20);
	return halfWidth + (TOWER_RADIUS - halfWidth) * (sine20 / cosine20) / (sine / cosine);
}

static void addTower(knSceneBuilder* builder, int layers, int perLayer) {
	double radius = towerRadius(perLayer);
	knVec3 half = knV3(0.5 * BRICK_HEIGHT, 0.5 * BRICK_LENGTH, 0.5 * BRICK_HEIGHT);
	knSceneBuilder_Ground(builder, 50.0 + radius);
	for (int layer = 0; layer < layers; ++layer) {
		for (int i = 0; i < perLayer; ++i) {
			char name[32];
			snprintf(name, sizeof(name), "brick%d_%02d", layer, i);
			double angle = 2.0 * KN_PI * (i + (layer % 2 == 0 ? 0.0 : 0.5)) / perLayer;
			knVec3 place = knV3(radius * knCos(angle), radius * knSin(angle), (layer + 0.5) * BRICK_HEIGHT);
			// the shift carries the bricks on one side off the wall
			bool chosen = layer == layers - 1 && i == 0;
			place = knAdd(place, knTwin_Offset(builder->args, layer, layers, knV3(0.3, 0.0, 0.0), chosen));
			knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), angle);
			uint32_t color = knSceneBuilder_Shade(builder, layer % 2 == 0 ? KN_COLOR_CLAY : KN_COLOR_SAND);
			knSceneBuilder_Box(builder, name, knMakeFrame(place, turn), half, color);
		}
	}
}

static knScene* buildTower(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	addTower(&builder, (int)knSceneArgs_Get(args, "layers"), (int)knSceneArgs_Get(args, "per_layer"));
	return knSceneBuilder_End(&builder);
}

static void observeTower(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knLayerForces_Observe(world, args, BRICK_HEIGHT, checks);
}

const knSceneEntry knTowerEntry = {
	.name = "tower",
	.bodies = 800,
	.joints = 0,
	.summary = "a round tower of bricks, odd layers turned by half a brick",
	.source = "Erleben 2007, figures 11 and 16",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.twins = true,
	.params = {
		{ .name = "layers", .value = 40, .lower = 1, .upper = 2000, .integer = true, .help = "layers", .small = 4 },
		{ .name = "per_layer", .value = 20, .lower = 4, .upper = 1000, .integer = true,
		  .help = "bricks in a layer; the radius is 1.72 m for 20 and grows with them" },
	},
	.build = buildTower,
	.script = knTwin_Script,
	.observe = observeTower,
};

// --- the cannon ball ---------------------------------------------------------------------------------------------

#define BALL_TIME 2.0
#define BALL_RADIUS 0.5
#define BALL_DENSITY 7800.0
#define BALL_SPEED 30.0

// Beside the wall at half height, 5 cm from the bricks, flying towards the axis.
static void shoot(knWorld* world, const knSceneArgs* args) {
	if (!knScript_Appears(world, "ball", BALL_TIME)) {
		return;
	}
	double height = 0.5 * BRICK_HEIGHT * knSceneArgs_Get(args, "layers");
	double start = TOWER_RADIUS + 0.5 * BRICK_HEIGHT + BALL_RADIUS + 0.05;
	knBodyDef def = knBodyDef_Default();
	def.name = "ball";
	def.frame.p = knV3(-start, 0.0, knMax(height, BALL_RADIUS));
	def.velocity = knV3(BALL_SPEED, 0.0, 0.0);
	def.color = KN_COLOR_STEEL;
	knScript_AddBody(world, &def, knGeom_Sphere(BALL_RADIUS, NULL, NULL), BALL_DENSITY);
}

// Of the bricks, which come first; from their places in the scene, or, if given, from other ones.
static double brickDisplacement(const knWorld* world, int bricks, const double* places) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	double largest = 0.0;
	for (int i = 0; i < bricks; ++i) {
		knBodyId brick = knScene_BodyAt(scene, i);
		knVec3 place = knScene_GetBody(scene, brick)->frame.p;
		if (places != NULL) {
			place = knV3(places[3 * i], places[3 * i + 1], places[3 * i + 2]);
		}
		largest = knMax(largest, knDistance(place, knWorld_BodyFrame(world, brick).p));
	}
	return largest;
}

static int brickCount(const knSceneArgs* args) {
	return TOWER_BRICKS * (int)knSceneArgs_Get(args, "layers");
}

// --- falling-roof --------------------------------------------------------------------------------------------------

#define PLANK_COUNT 10 // in each of the two layers
#define ROOF_HALF 2.2
#define ROOF_GAP 0.01

static knScene* buildFallingRoof(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int layers = (int)knSceneArgs_Get(args, "layers");
	addTower(&builder, layers, TOWER_BRICKS);
	double pitch = 2.0 * ROOF_HALF / PLANK_COUNT, halfWidth = 0.5 * (pitch - ROOF_GAP), halfHeight = 0.06;
	for (int layer = 0; layer < 2; ++layer) {
		for (int i = 0; i < PLANK_COUNT; ++i) {
			char name[32];
			snprintf(name, sizeof(name), "plank%d_%d", layer, i);
			double side = pitch * (i - 0.5 * (PLANK_COUNT - 1));
			double z = BRICK_HEIGHT * layers + 0.5 + (2 * layer + 1) * halfHeight + layer * ROOF_GAP;
			knVec3 place = layer == 0 ? knV3(0.0, side, z) : knV3(side, 0.0, z);
			knVec3 half =
				layer == 0 ? knV3(ROOF_HALF, halfWidth, halfHeight) : knV3(halfWidth, ROOF_HALF, halfHeight);
			uint32_t color = knSceneBuilder_Shade(&builder, KN_COLOR_TEAL);
			knSceneBuilder_Box(&builder, name, knMakeFrame(place, knIdentityQ()), half, color);
		}
	}
	return knSceneBuilder_End(&builder);
}

static void observeFallingRoof(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knSceneChecks_Max(checks, "brick_displacement", brickDisplacement(world, brickCount(args), NULL));
}

const knSceneEntry knFallingRoofEntry = {
	.name = "falling-roof",
	.view = { -70, 12, 1 },
	.bodies = 660,
	.joints = 0,
	.summary = "a roof of planks falls on a round tower, a cannon ball follows at 2 s",
	.source = "Erleben 2007, figure 16",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 5.0,
	.params = {
		{ .name = "layers", .value = 32, .lower = 1, .upper = 2000, .integer = true, .help = "layers of 20 bricks",
		  .small = 4 },
	},
	.build = buildFallingRoof,
	.script = shoot,
	.observe = observeFallingRoof,
};

// --- roof-tower ----------------------------------------------------------------------------------------------------

#define BLOCK_TIME 0.5
#define BLOCK_MASS 62500.0
#define BLOCK_HALF knV3(2.2, 2.2, 0.5)
#define SETTLE_TIME 0.7

static knScene* buildRoofTower(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	addTower(&builder, (int)knSceneArgs_Get(args, "layers"), TOWER_BRICKS);
	return knSceneBuilder_End(&builder);
}

static void scriptRoofTower(knWorld* world, const knSceneArgs* args) {
	knVec3 half = BLOCK_HALF;
	if (knScript_Appears(world, "block", BLOCK_TIME)) {
		knBodyDef def = knBodyDef_Default();
		def.name = "block";
		def.frame.p = knV3(0.0, 0.0, BRICK_HEIGHT * knSceneArgs_Get(args, "layers") + 0.5 + half.z);
		def.color = KN_COLOR_BLUE;
		knScript_AddBody(world, &def, knGeom_Box(half, NULL, NULL),
						 BLOCK_MASS / (8.0 * half.x * half.y * half.z));
	}
	if (knSceneArgs_Get(args, "shot") != 0.0) {
		shoot(world, args);
	}
}

static double totalEnergy(knWorld* world) {
	knMeasures now = knWorld_Measure(world);
	return now.kinetic + now.potential;
}

// Once the ball is there; the first look at it is one step after it appeared, so its own energy is taken from what it
// started with. memory[0]: seen; [1]: energy when it appeared; [2]: the block's height then; [3]: of the last look.
static void observeShot(knWorld* world, knBodyId ball, knBodyId block, knSceneChecks* checks) {
	double energy = totalEnergy(world), height = knWorld_BodyFrame(world, block).p.z;
	if (KN_ID_IS_NULL(ball)) {
		checks->memory[1] = energy;
		checks->memory[2] = height;
		return;
	}
	const knModel* model = knWorld_Model(world);
	const knBodyDef* def = knScene_GetBody(knModel_Scene(model), ball);
	double mass = knModel_BodyMass(model, ball).mass, gravity = knDot(knWorld_Gravity(world), def->frame.p);
	double kinetic = 0.5 * mass * knLengthSquared(def->velocity);
	double start = checks->memory[1] + kinetic - mass * gravity;
	knSceneChecks_Max(checks, "shot_gain", (energy - start) / kinetic);
	knSceneChecks_Max(checks, "block_rise", height - checks->memory[2]);
}

static void observeRoofTower(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	int bricks = brickCount(args);
	double* places = knSceneChecks_Buffer(checks, 3 * bricks);
	knBodyId block = knScript_Find(world, "block"), ball = knScript_Find(world, "ball");
	if (KN_ID_IS_NULL(ball)) {
		knSceneChecks_Max(checks, "brick_displacement", brickDisplacement(world, bricks, NULL));
	}
	if (places == NULL || KN_ID_IS_NULL(block)) {
		return;
	}
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	if (knWorld_Time(world) < BLOCK_TIME + SETTLE_TIME) {
		for (int i = 0; i < bricks; ++i) {
			knVec3 place = knWorld_BodyFrame(world, knScene_BodyAt(scene, i)).p;
			places[3 * i] = place.x;
			places[3 * i + 1] = place.y;
			places[3 * i + 2] = place.z;
		}
	} else if (KN_ID_IS_NULL(ball)) {
		knSceneChecks_Max(checks, "brick_drift", brickDisplacement(world, bricks, places));
	}
	knSceneChecks_Set(checks, "block_speed", knLength(knWorld_BodyVelocity(world, block)));
	observeShot(world, ball, block, checks);
}

const knSceneEntry knRoofTowerEntry = {
	.name = "roof-tower",
	.view = { -70, 12, 1.15 },
	.bodies = 800,
	.joints = 0,
	.summary = "a heavy block falls on a round tower at 0.5 s, a cannon ball strikes it at 2 s",
	.source = "Erleben 2007, figures 20 to 27",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 5.0,
	.params = {
		{ .name = "shot", .value = 1, .lower = 0, .upper = 1, .integer = true, .help = "1: the cannon ball comes" },
		{ .name = "layers", .value = 40, .lower = 1, .upper = 2000, .integer = true, .help = "layers of 20 bricks",
		  .small = 4 },
	},
	.build = buildRoofTower,
	.script = scriptRoofTower,
	.observe = observeRoofTower,
};
