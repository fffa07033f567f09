// Planks, plates and levers: small scenes with an answer on paper, each of which a shock propagation that forgets the load
// gets wrong.
//
//   plate            two pillars carry a plate and, on it, a block `ratio` times as heavy as the plate
//   see-saw          a plank on a fixed fulcrum, unequal cubes at its ends; tip_time: when it has turned by 0.2 rad
//   cantilever       a plank that overhangs the edge of a fixed block, held by a counterweight
//   unequal-pillars  a plank on two pillars of equal height, one of 3 and one of 5 blocks
//   struck-stack     five cubes, the lowest of which is given 6 m/s; slid: how far it has come
//   sled             a block slides onto a sled on frictionless ice; momentum: what is left of it, 1 at best
#include <stdio.h>

#include "scene_tools.h"

static knBodyId addBlock(knSceneBuilder* builder, const char* name, knVec3 place, knVec3 half,
						 uint32_t color) {
	return knSceneBuilder_Box(builder, name, knMakeFrame(place, knIdentityQ()), half, color);
}

// --- plate -----------------------------------------------------------------------------------------------------

#define PLATE_LAYER 0.28 // cuts between pillars, plate and block (layer_forces.c)

static knScene* buildPlate(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	knVec3 pillar = knV3(0.1, 0.4, 0.25), plate = knV3(1.0, 0.4, 0.025);
	addBlock(&builder, "pillar0", knV3(-0.8, 0.0, 0.25), pillar, KN_COLOR_CLAY);
	addBlock(&builder, "pillar1", knV3(0.8, 0.0, 0.25), pillar, KN_COLOR_CLAY);
	addBlock(&builder, "plate", knV3(0.0, 0.0, 0.525), plate, KN_COLOR_SAND);
	// twin 4 moves the block's centre off the plate
	knVec3 offset = knTwin_Offset(args, 2, 3, knV3(0.0, 0.5, 0.0), true);
	addBlock(&builder, "block", knAdd(knV3(0.0, 0.0, 0.85), offset), knV3(0.3, 0.3, 0.3), KN_COLOR_BLUE);
	if (builder.scene != NULL) {
		double plateVolume = 8.0 * plate.x * plate.y * plate.z;
		knSceneBuilder_LastShape(&builder)->density =
			1000.0 * plateVolume * knSceneArgs_Get(args, "ratio") / 0.216;
	}
	return knSceneBuilder_End(&builder);
}

static void observePlate(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knLayerForces_Observe(world, args, PLATE_LAYER, checks);
}

const knSceneEntry knPlateEntry = {
	.name = "plate",
	.bodies = 4,
	.joints = 0,
	.summary = "two pillars carry a light plate with a heavy block on it",
	.source = "Erleben 2007, section 4",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.twins = true,
	.params = {
		{ .name = "ratio", .value = 1000, .lower = 1e-3, .upper = 1e6, .help = "mass of the block over the plate's" },
	},
	.build = buildPlate,
	.script = knTwin_Script,
	.observe = observePlate,
};

// --- see-saw ---------------------------------------------------------------------------------------------------

#define TIPPED 0.2 // rad

static knScene* buildSeeSaw(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	knFrame fulcrum = knMakeFrame(knV3(0.0, 0.0, 0.25), knIdentityQ());
	knSceneBuilder_Fixture(&builder, "fulcrum", fulcrum, knV3(0.05, 0.5, 0.25));
	addBlock(&builder, "plank", knV3(0.0, 0.0, 0.525), knV3(2.0, 0.4, 0.025), KN_COLOR_SAND);
	knVec3 cube = knV3(0.2, 0.2, 0.2);
	addBlock(&builder, "light", knV3(-1.6, 0.0, 0.75), cube, KN_COLOR_TEAL);
	addBlock(&builder, "heavy", knV3(1.6, 0.0, 0.75), cube, KN_COLOR_RED);
	if (builder.scene != NULL) {
		knSceneBuilder_LastShape(&builder)->density = 1000.0 * knSceneArgs_Get(args, "ratio");
	}
	return knSceneBuilder_End(&builder);
}

// memory[0]: it has tipped
static void observeSeeSaw(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	(void)args;
	knFrame plank = knWorld_BodyFrame(world, knScript_Find(world, "plank"));
	double angle = knAsin(-knRotate(plank.q, knV3(1.0, 0.0, 0.0)).z);
	knSceneChecks_Set(checks, "turned", angle);
	if (knAbs(angle) >= TIPPED && checks->memory[0] == 0.0) {
		checks->memory[0] = 1.0;
		knSceneChecks_Set(checks, "tip_time", knWorld_Time(world));
	}
}

const knSceneEntry knSeeSawEntry = {
	.name = "see-saw",
	.bodies = 3,
	.joints = 0,
	.summary = "a plank on a fulcrum with unequal cubes at its ends",
	.source = "Erleben 2007, section 4",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 2.0,
	.params = {
		{ .name = "ratio", .value = 5, .lower = 1e-3, .upper = 1e6, .help = "mass of one cube over the other's" },
	},
	.build = buildSeeSaw,
	.observe = observeSeeSaw,
};

// --- cantilever ------------------------------------------------------------------------------------------------

// The edge of the fixed block is x = 0, its top z = 1; plank 120 kg, counterweight 240 kg.
static knScene* buildCantilever(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	knFrame block = knMakeFrame(knV3(-1.0, 0.0, 0.5), knIdentityQ());
	knSceneBuilder_Fixture(&builder, "block", block, knV3(1.0, 0.5, 0.5));
	addBlock(&builder, "plank", knV3(0.2, 0.0, 1.05), knV3(1.0, 0.3, 0.05), KN_COLOR_SAND);
	// twin 4 moves it beyond the edge
	knVec3 offset = knTwin_Offset(args, 1, 2, knV3(1.0, 0.0, 0.0), true);
	knVec3 half = knV3(0.3, 0.3, 1.0 / 3.0);
	addBlock(&builder, "counterweight", knAdd(knV3(-0.5, 0.0, 1.1 + half.z), offset), half, KN_COLOR_RED);
	return knSceneBuilder_End(&builder);
}

static void observeCantilever(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knLayerForces_Observe(world, args, 1.2, checks);
}

const knSceneEntry knCantileverEntry = {
	.name = "cantilever",
	.bodies = 2,
	.joints = 0,
	.summary = "a plank overhangs the edge of a block, held by a counterweight",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.twins = true,
	.build = buildCantilever,
	.script = knTwin_Script,
	.observe = observeCantilever,
};

// --- unequal-pillars -------------------------------------------------------------------------------------------

#define PILLAR_HEIGHT 1.5

// In layers of the taller count: block i of `count` lies in layer i * (5 - 1) / (count - 1), the plank in layer 5.
static void addPillar(knSceneBuilder* builder, const char* name, double x, int count, uint32_t color) {
	double half = 0.5 * PILLAR_HEIGHT / count;
	for (int i = 0; i < count; ++i) {
		char block[32];
		snprintf(block, sizeof(block), "%s%d", name, i);
		knVec3 offset = knTwin_Offset(builder->args, 4 * i / (count - 1), 6, knV3(0.0, 0.3, 0.0), false);
		knVec3 place = knAdd(knV3(x, 0.0, (2 * i + 1) * half), offset);
		addBlock(builder, block, place, knV3(0.2, 0.2, half), knSceneBuilder_Shade(builder, color));
	}
}

static knScene* buildUnequalPillars(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	addPillar(&builder, "three", -0.8, 3, KN_COLOR_CLAY);
	addPillar(&builder, "five", 0.8, 5, KN_COLOR_TEAL);
	knVec3 offset = knTwin_Offset(args, 5, 6, knV3(0.0, 0.3, 0.0), true);
	knVec3 place = knAdd(knV3(0.0, 0.0, PILLAR_HEIGHT + 0.05), offset);
	addBlock(&builder, "plank", place, knV3(1.0, 0.2, 0.05), KN_COLOR_SAND);
	return knSceneBuilder_End(&builder);
}

static void observeUnequalPillars(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knLayerForces_Observe(world, args, PILLAR_HEIGHT / 5, checks);
}

const knSceneEntry knUnequalPillarsEntry = {
	.name = "unequal-pillars",
	.bodies = 9,
	.joints = 0,
	.summary = "a plank on two pillars of equal height, one of 3 and one of 5 blocks",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.twins = true,
	.build = buildUnequalPillars,
	.script = knTwin_Script,
	.observe = observeUnequalPillars,
};

// --- struck-stack ----------------------------------------------------------------------------------------------

static knScene* buildStruckStack(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	for (int i = 0; i < 5; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "box%d", i);
		uint32_t color = i == 0 ? KN_COLOR_RED : knSceneBuilder_Shade(&builder, KN_COLOR_BLUE);
		knBodyId body = addBlock(&builder, name, knV3(0.0, 0.0, i + 0.5), knV3(0.5, 0.5, 0.5), color);
		if (i == 0 && builder.scene != NULL) {
			knScene_EditBody(builder.scene, body)->velocity = knV3(6.0, 0.0, 0.0);
		}
	}
	return knSceneBuilder_End(&builder);
}

static void observeStruckStack(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	(void)args;
	knSceneChecks_Set(checks, "slid", knWorld_BodyFrame(world, knScript_Find(world, "box0")).p.x);
}

const knSceneEntry knStruckStackEntry = {
	.name = "struck-stack",
	.bodies = 5,
	.joints = 0,
	.summary = "five 1 m cubes in a column, the lowest given 6 m/s",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 5.0,
	.build = buildStruckStack,
	.observe = observeStruckStack,
};

// --- sled ------------------------------------------------------------------------------------------------------

static knScene* buildSled(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	if (builder.scene != NULL) {
		knSceneBuilder_LastShape(&builder)->friction = 0.0; // the ice
	}
	addBlock(&builder, "sled", knV3(0.0, 0.0, 0.25), knV3(2.0, 0.5, 0.25), KN_COLOR_SAND);
	knBodyId block =
		addBlock(&builder, "block", knV3(-1.0, 0.0, 0.75), knV3(0.25, 0.25, 0.25), KN_COLOR_BLUE);
	if (builder.scene != NULL) {
		knScene_EditBody(builder.scene, block)->velocity = knV3(2.0, 0.0, 0.0);
	}
	return knSceneBuilder_End(&builder);
}

static void observeSled(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	(void)args;
	const knModel* model = knWorld_Model(world);
	knBodyId sled = knScript_Find(world, "sled"), block = knScript_Find(world, "block");
	double start =
		knModel_BodyMass(model, block).mass * knScene_GetBody(knModel_Scene(model), block)->velocity.x;
	double sledSpeed = knWorld_BodyVelocity(world, sled).x, blockSpeed = knWorld_BodyVelocity(world, block).x;
	double now =
		knModel_BodyMass(model, sled).mass * sledSpeed + knModel_BodyMass(model, block).mass * blockSpeed;
	knSceneChecks_Set(checks, "momentum", now / start);
	knSceneChecks_Set(checks, "slip", blockSpeed - sledSpeed);
}

const knSceneEntry knSledEntry = {
	.name = "sled",
	.bodies = 2,
	.joints = 0,
	.summary = "a block slides on a sled that stands on frictionless ice",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 5.0,
	.build = buildSled,
	.observe = observeSled,
};
