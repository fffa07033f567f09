// pendulum, heavy-chain, mass-ratio and chain-pegs: rods in a row, held at one end; capstan: over a drum.
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
	knVec3 axis;      // of the joints
	knVec3 otherAxis; // of every second one; zero: the same
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
		bool other = i % 2 == 1 && knLength(def->otherAxis) > 0.0;
		knSceneBuilder_Joint(builder, &joint, previous, link, from, other ? def->otherAxis : def->axis);
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
	// the rods hang beside each other: they pass, and nothing takes energy
	for (int i = 0; i < links && builder.scene != NULL; ++i) {
		knScene_EditShape(builder.scene, knScene_ShapeAt(builder.scene, i))->filter.group = -1;
	}
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knPendulumEntry = {
	.name = "pendulum",
	.view = { -80, 8, 1 },
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
	.view = { -90, 5, 1 },
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
	.view = { -90, 5, 1 },
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

// --- chain-pegs ------------------------------------------------------------------------------------------------

#define PEG_RADIUS 0.3
#define PEG_HALF_LENGTH 2.0
#define PEG_PITCH 4.0 // m, from row to row and in a row; every second row is shifted by half of it

static knScene* buildChainPegs(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int links = (int)knSceneArgs_Get(args, "links");
	ChainDef chain = {
		.links = links,
		.length = 0.1,
		.radius = 0.025,
		.anchor = knV3(0.0, 0.0, 20.0),
		.direction = knV3(1.0, 0.0, 0.0),
		.kind = KN_JOINT_HINGE,
		.axis = knV3(0.0, 1.0, 0.0),
		.otherAxis = knV3(0.0, 0.0, 1.0),
		.mass = 1000.0 * KN_PI * 0.025 * 0.025 * (0.05 + 4.0 / 3.0 * 0.025),
	};
	chain.lastMass = chain.mass;
	knVec3 along = knV3(0.0, 1.0, 0.0);
	for (int i = 0; i < 12; ++i) {
		int row = i / 3, place = i % 3;
		knVec3 at = knV3(PEG_PITCH * (place + 1.0) + (row % 2 == 0 ? 0.0 : 0.5 * PEG_PITCH), 0.0,
						 chain.anchor.z - PEG_PITCH * (row + 0.5));
		knSceneBuilder_Bar(&builder, "peg", at, along, PEG_RADIUS, PEG_HALF_LENGTH);
	}
	knVec3 end;
	addChain(&builder, &chain, &end);
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knChainPegsEntry = {
	.name = "chain-pegs",
	.bodies = 200,
	.joints = 200,
	.summary = "a chain of hinges, axes alternating, falls onto rows of fixed cylinders",
	.source = "own, as Redon, Galoppo & Lin 2005, figure 4",
	.steppers = "impulse velocity",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "links", .value = 200, .lower = 1, .upper = 10000, .integer = true, .help = "links of 0.1 m", .small = 50 },
	},
	.build = buildChainPegs,
	.observe = knFirstContact_Observe,
};

// --- capstan ---------------------------------------------------------------------------------------------------

#define DRUM_RADIUS 0.5
#define ROPE_RADIUS 0.01
#define ROPE_HANGING 12 // links that hang free on each side
#define ROPE_MASS 0.01
#define CAPSTAN_LOAD 100.0 // kg

// e^x, the same on every machine: the series for x/1024, squared ten times.
static double exponential(double x) {
	double small = x / 1024.0, term = 1.0, sum = 1.0;
	for (int k = 1; k < 8; ++k) {
		term *= small / k;
		sum += term;
	}
	for (int k = 0; k < 10; ++k) {
		sum *= sum;
	}
	return sum;
}

// The rope lies over half of the drum, a polygon of `links` sides that touch it in their middles. Friction acts at the
// drum's surface, the pull along the rope's middle line, so that heavy : light = exp(mu pi R/(R + r)) is where it slips.
static knBodyId addRopeLink(knSceneBuilder* builder, knBodyId previous, knVec3 from, knVec3 to,
							double friction, int index) {
	char name[32];
	snprintf(name, sizeof(name), "link%d", index);
	knBodyId link = knSceneBuilder_Rod(builder, name, from, to, ROPE_RADIUS, ROPE_MASS,
									   index % 2 == 0 ? KN_COLOR_BLUE : KN_COLOR_SAND);
	if (builder->scene != NULL) {
		knSceneBuilder_LastShape(builder)->friction = friction;
	}
	if (!KN_ID_IS_NULL(previous)) {
		knJointDef joint = knJointDef_Default(KN_JOINT_HINGE);
		snprintf(name, sizeof(name), "joint%d", index);
		joint.name = name;
		knSceneBuilder_Joint(builder, &joint, previous, link, from, knV3(0.0, 1.0, 0.0));
	}
	return link;
}

static knBodyId addLoad(knSceneBuilder* builder, const char* name, knBodyId link, knVec3 at, double mass) {
	const double half = 0.15;
	knVec3 extents = knV3(half, half, half);
	knFrame frame = knMakeFrame(knSub(at, knV3(0.0, 0.0, half)), knIdentityQ());
	knBodyId load = knSceneBuilder_Box(builder, name, frame, extents, KN_COLOR_RED);
	if (builder->scene != NULL) {
		knSceneBuilder_LastShape(builder)->density = mass / (8.0 * half * half * half);
	}
	knJointDef joint = knJointDef_Default(KN_JOINT_HINGE);
	joint.name = mass < CAPSTAN_LOAD ? "light_hook" : "heavy_hook";
	knSceneBuilder_Joint(builder, &joint, link, load, at, knV3(0.0, 1.0, 0.0));
	return load;
}

static knScene* buildCapstan(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int links = (int)knSceneArgs_Get(args, "links");
	double friction = knSceneArgs_Get(args, "friction"), share = knSceneArgs_Get(args, "share");
	double outer = DRUM_RADIUS + ROPE_RADIUS, turn = KN_PI / links, corner = outer / knCos(0.5 * turn),
		   length = 2.0 * outer * knSin(0.5 * turn) / knCos(0.5 * turn);
	knVec3 hub = knV3(0.0, 0.0, 3.0);
	knSceneBuilder_Bar(&builder, "drum", hub, knV3(0.0, 1.0, 0.0), DRUM_RADIUS, 0.3);
	if (builder.scene != NULL) {
		knSceneBuilder_LastShape(&builder)->friction = friction;
	}

	knVec3 down = knV3(0.0, 0.0, -length);
	knVec3 from = knAdd(hub, knV3(-corner, 0.0, -ROPE_HANGING * length)), start = from;
	knBodyId first = KN_WORLD_BODY, previous = KN_WORLD_BODY;
	for (int i = 0; i < links + 2 * ROPE_HANGING; ++i) {
		int over = i + 1 - ROPE_HANGING; // corners of the polygon passed when this link ends
		knVec3 to = knAdd(from, knScale(over <= 0 ? -1.0 : 1.0, down));
		if (over > 0 && over <= links) {
			to = knAdd(hub, knV3(-corner * knCos(over * turn), 0.0, corner * knSin(over * turn)));
		}
		previous = addRopeLink(&builder, previous, from, to, friction, i);
		first = i == 0 ? previous : first;
		from = to;
	}
	double limit = exponential(friction * KN_PI * DRUM_RADIUS / outer);
	addLoad(&builder, "light", first, start, CAPSTAN_LOAD / (share * limit));
	addLoad(&builder, "heavy", previous, from, CAPSTAN_LOAD);
	return knSceneBuilder_End(&builder);
}

static void observeCapstan(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	(void)args;
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	knBodyId heavy = knScene_FindBody(scene, "heavy");
	double sunk = knScene_GetBody(scene, heavy)->frame.p.z - knWorld_BodyFrame(world, heavy).p.z;
	knSceneChecks_Set(checks, "slid", sunk);
}

const knSceneEntry knCapstanEntry = {
	.name = "capstan",
	.bodies = 56,
	.joints = 55,
	.summary = "a light rope over a drum holds a heavy load by a lighter one and friction",
	.source = "own",
	.steppers = "impulse velocity",
	.dt = 0.01,
	.time = 2.0,
	.params = {
		{ .name = "links", .value = 30, .lower = 6, .upper = 1000, .integer = true, .help = "links on the drum" },
		{ .name = "friction", .value = 0.3, .lower = 0, .upper = 2, .help = "of rope and drum" },
		{ .name = "share", .value = 0.92, .lower = 0.01, .upper = 100, .help = "of the largest ratio of loads that friction holds" },
	},
	.build = buildCapstan,
	.observe = observeCapstan,
};
