// pendulum, heavy-chain and mass-ratio: rods in a row, held at one end.
//
// A rod of length L is a capsule from joint to joint, so that neighbours (which do not collide) meet at the joint and
// rods further apart start well clear of each other.
#include <stdio.h>

#include "scene_tools.h"

// A row of rods from `anchor` along `direction`, the first held by the world.
typedef struct ChainDef {
	int links;
	double length, radius; // of a link
	knVec3 anchor, direction;
	knJointKind kind;
	knVec3 axis; // of the joints
	double mass, lastMass;
	double bearing; // of every axis of the joints
} ChainDef;

// Returns the last link; `end` is where the next joint would go.
static knBodyId addChain(knSceneBuilder* builder, const ChainDef* def, knVec3* end) {
	knBodyId previous = KN_WORLD_BODY;
	knVec3 from = def->anchor;
	for (int i = 0; i < def->links; ++i) {
		char name[32];
		knVec3 to = knMulAdd(def->anchor, (i + 1) * def->length, def->direction);
		snprintf(name, sizeof(name), "link%d", i);
		bool last = i == def->links - 1;
		bool heavy = last && def->lastMass != def->mass;
		uint32_t color = heavy ? KN_COLOR_RED : i % 2 == 0 ? KN_COLOR_BLUE : KN_COLOR_SAND;
		knBodyId link =
			knSceneBuilder_Rod(builder, name, from, to, def->radius, last ? def->lastMass : def->mass, color);
		knJointDef joint = knJointDef_Default(def->kind);
		snprintf(name, sizeof(name), "joint%d", i);
		joint.name = name;
		for (int k = 0; k < 3; ++k) {
			joint.axis[k].bearing = def->bearing;
		}
		knSceneBuilder_Joint(builder, &joint, previous, link, from, def->axis);
		previous = link;
		from = to;
	}
	*end = from;
	return previous;
}

// --- pendulum ------------------------------------------------------------------------------------------------

static knScene* buildPendulum(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int links = (int)knSceneArgs_Get(args, "links");
	ChainDef chain = {
		.links = links,
		.length = 1.0,
		.radius = 0.04,
		.anchor = knV3(0.0, 0.0, links + 1.0),
		.direction = knV3(1.0, 0.0, 0.0),
		.kind = KN_JOINT_HINGE,
		.axis = knV3(0.0, 1.0, 0.0),
		.mass = 1.0,
		.lastMass = 1.0,
		.bearing = knSceneArgs_Get(args, "bearing"),
	};
	knVec3 end;
	addChain(&builder, &chain, &end);
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knPendulumEntry = {
	.name = "pendulum",
	.bodies = 1,
	.joints = 1,
	.summary = "rods of 1 m and 1 kg on hinges, released from the horizontal",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "links", .value = 1, .lower = 1, .upper = 10000, .integer = true, .help = "rods" },
		{ .name = "bearing", .value = 0, .lower = 0, .upper = 1, .help = "friction of the joints: coefficient times radius, m" },
	},
	.build = buildPendulum,
};

// --- heavy-chain -----------------------------------------------------------------------------------------------

static knScene* buildHeavyChain(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int links = (int)knSceneArgs_Get(args, "links");
	ChainDef chain = {
		.links = links,
		.length = 0.2,
		.radius = 0.02,
		.anchor = knV3(0.0, 0.0, 0.2 * links + 1.0),
		.direction = knV3(1.0, 0.0, 0.0),
		.kind = KN_JOINT_BALL,
		.axis = knV3(1.0, 0.0, 0.0),
		.mass = 1.0,
		.lastMass = knSceneArgs_Get(args, "ratio"),
		.bearing = knSceneArgs_Get(args, "bearing"),
	};
	knVec3 end;
	addChain(&builder, &chain, &end);
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knHeavyChainEntry = {
	.name = "heavy-chain",
	.bodies = 50,
	.joints = 50,
	.summary = "links of 0.2 m and 1 kg on ball joints with a heavy last one, released horizontally",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "links", .value = 50, .lower = 1, .upper = 10000, .integer = true, .help = "links", .small = 10 },
		{ .name = "ratio", .value = 1000, .lower = 1e-3, .upper = 1e9, .help = "mass of the last link over the others'" },
		{ .name = "bearing", .value = 0, .lower = 0, .upper = 1, .help = "friction of the joints: coefficient times radius, m" },
	},
	.build = buildHeavyChain,
};

// --- mass-ratio ------------------------------------------------------------------------------------------------

#define BALL_RADIUS 0.67

static knScene* buildMassRatio(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int links = args->small ? 5 : 20;
	ChainDef chain = {
		.links = links,
		.length = 0.5,
		.radius = 0.04,
		.anchor = knV3(0.0, 0.0, 0.5 * links + 2.0),
		.direction = knV3(0.0, 0.0, -1.0),
		.kind = KN_JOINT_BALL,
		.axis = knV3(0.0, 0.0, -1.0),
		.mass = 1.0,
		.lastMass = 1.0,
	};
	knVec3 end;
	knBodyId last = addChain(&builder, &chain, &end);

	double volume = 4.0 / 3.0 * KN_PI * BALL_RADIUS * BALL_RADIUS * BALL_RADIUS;
	knVec3 center = knSub(end, knV3(0.0, 0.0, BALL_RADIUS));
	double density = knSceneArgs_Get(args, "ratio") / volume;
	knBodyId ball = knSceneBuilder_Ball(&builder, "ball", center, BALL_RADIUS, density, KN_COLOR_RED);
	knJointDef joint = knJointDef_Default(KN_JOINT_BALL);
	joint.name = "hook";
	knSceneBuilder_Joint(&builder, &joint, last, ball, end, chain.axis);
	return knSceneBuilder_End(&builder);
}

// At 3 s the ball is given 5 m/s sideways.
static void pushBall(knWorld* world, const knSceneArgs* args) {
	(void)args;
	if (!knScript_Due(world, 3.0)) {
		return;
	}
	knBodyId ball = knScript_Find(world, "ball");
	knVec3 velocity = knWorld_BodyVelocity(world, ball);
	velocity.x = 5.0;
	knWorld_SetBodyVelocity(world, ball, velocity, knWorld_BodyAngularVelocity(world, ball));
}

const knSceneEntry knMassRatioEntry = {
	.name = "mass-ratio",
	.bodies = 21,
	.joints = 21,
	.summary = "a light chain holds a heavy ball, which is given 5 m/s sideways at 3 s",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "ratio", .value = 10000, .lower = 1e-3, .upper = 1e9, .help = "mass of the ball over a link's" },
	},
	.build = buildMassRatio,
	.script = pushBall,
};
