// dominoes, slope and cradle: the plain things everybody tries first.
//
//   dominoes   0.05 x 0.2 x 0.4 m, one every 0.2 m; the first is tipped past its balance (0.2 rad; it balances at 0.124).
//              `fallen` counts those leaning by more than 30 degrees, `travelled` is how far the last of them stood from
//              the first, m.
//   slope      a block of 0.5 m on a plane tilted by `angle` degrees; `slid` is the distance down the plane, m. It stays
//              when tan(angle) <= friction, else it moves with g (sin - friction cos).
//   cradle     Newton's: steel balls, each on a hinge 1 m above, touching; the first is lifted.
#include <stdio.h>

#include "scene_tools.h"

// --- dominoes --------------------------------------------------------------------------------------------------

#define DOMINO_SPACING 0.2

static knScene* buildDominoes(const knSceneArgs* args, knError* error) {
	knVec3 half = knV3(0.025, 0.1, 0.2);
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	int count = (int)knSceneArgs_Get(args, "count");
	for (int i = 0; i < count; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "domino%d", i);
		knFrame frame = knMakeFrame(knV3(i * DOMINO_SPACING, 0.0, half.z), knIdentityQ());
		if (i == 0) {
			// turned about its leading lower edge
			knVec3 edge = knV3(half.x, 0.0, 0.0);
			frame.q = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), 0.2);
			frame.p = knAdd(edge, knRotate(frame.q, knV3(-half.x, 0.0, half.z)));
		}
		uint32_t color = i == 0 ? KN_COLOR_RED : knSceneBuilder_Shade(&builder, KN_COLOR_TEAL);
		knSceneBuilder_Box(&builder, name, frame, half, color);
	}
	return knSceneBuilder_End(&builder);
}

static void observeDominoes(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	int count = (int)knSceneArgs_Get(args, "count"), fallen = 0, last = 0;
	for (int i = 0; i < count; ++i) {
		knFrame frame = knWorld_BodyFrame(world, knScene_BodyAt(scene, i));
		knVec3 up = knRotate(frame.q, knV3(0.0, 0.0, 1.0));
		if (up.z < 0.5 * sqrt(3.0)) {
			fallen += 1;
			last = i;
		}
	}
	knSceneChecks_Set(checks, "fallen", fallen);
	knSceneChecks_Set(checks, "travelled", last * DOMINO_SPACING);
}

const knSceneEntry knDominoesEntry = {
	.name = "dominoes",
	.view = { -50, 18, 1.2 },
	.bodies = 30,
	.joints = 0,
	.summary = "a row of dominoes, the first tipped",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 8.0,
	.params = {
		{ .name = "count", .value = 30, .lower = 1, .upper = 10000, .integer = true, .help = "dominoes", .small = 6 },
	},
	.build = buildDominoes,
	.observe = observeDominoes,
};

// --- slope -----------------------------------------------------------------------------------------------------

static knQuat slopeTurn(const knSceneArgs* args) {
	return knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), knSceneArgs_Get(args, "angle") * KN_PI / 180.0);
}

static knScene* buildSlope(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knQuat turn = slopeTurn(args);
	knShapeDef plane = knShapeDef_Default();
	plane.name = "slope";
	plane.frame.q = turn;
	if (builder.scene != NULL) {
		knShapeId id = knScene_AddPlane(builder.scene, KN_WORLD_BODY, &plane, error);
		knSceneBuilder_Require(&builder, !KN_ID_IS_NULL(id));
	}
	knVec3 half = knV3(0.25, 0.25, 0.25);
	knFrame frame = knMakeFrame(knRotate(turn, knV3(0.0, 0.0, half.z)), turn);
	knSceneBuilder_Box(&builder, "block", frame, half, KN_COLOR_SAND);
	return knSceneBuilder_End(&builder);
}

static void observeSlope(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	knBodyId block = knScene_FindBody(scene, "block");
	knVec3 moved = knSub(knWorld_BodyFrame(world, block).p, knScene_GetBody(scene, block)->frame.p);
	knSceneChecks_Set(checks, "slid", knDot(moved, knRotate(slopeTurn(args), knV3(1.0, 0.0, 0.0))));
}

const knSceneEntry knSlopeEntry = {
	.name = "slope",
	.view = { -70, 14, 0.5 },
	.bodies = 1,
	.joints = 0,
	.summary = "a block on a tilted plane",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 5.0,
	.params = {
		{ .name = "angle", .value = 20, .lower = 0, .upper = 89, .help = "tilt of the plane, degrees" },
	},
	.build = buildSlope,
	.observe = observeSlope,
};

// --- cradle ----------------------------------------------------------------------------------------------------

#define CRADLE_RADIUS 0.1
#define CRADLE_LENGTH 1.0
#define STEEL_DENSITY 7800.0

// The string: to be seen only, it touches nothing and weighs nothing (the body's mass is the ball's).
static void addString(knSceneBuilder* builder, knBodyId ball) {
	if (builder->scene == NULL) {
		return;
	}
	double halfLength = 0.5 * CRADLE_LENGTH;
	knBodyDef* body = knScene_EditBody(builder->scene, ball);
	body->mass.mass = STEEL_DENSITY * 4.0 / 3.0 * KN_PI * CRADLE_RADIUS * CRADLE_RADIUS * CRADLE_RADIUS;
	body->mass.center = knZero3();
	double inertia = 0.4 * body->mass.mass * CRADLE_RADIUS * CRADLE_RADIUS;
	body->mass.inertia = knDiagonal33(inertia, inertia, inertia);
	body->hasMass = true;

	knShapeDef shape = knShapeDef_Default();
	shape.frame.p = knV3(0.0, 0.0, halfLength);
	shape.filter.category = 0;
	shape.filter.mask = 0;
	shape.color = 0x303030;
	knShapeId id = knScene_AddCapsule(builder->scene, ball, 0.005, halfLength, &shape, builder->error);
	knSceneBuilder_Require(builder, !KN_ID_IS_NULL(id));
}

static void addCradleBall(knSceneBuilder* builder, int index, double x, double angle) {
	char name[32];
	snprintf(name, sizeof(name), "ball%d", index);
	knVec3 pivot = knV3(x, 0.0, CRADLE_LENGTH + 1.0), axis = knV3(0.0, 1.0, 0.0);
	knQuat turn = knQuat_FromAxisAngle(axis, angle);
	knVec3 center = knAdd(pivot, knRotate(turn, knV3(0.0, 0.0, -CRADLE_LENGTH)));
	knBodyId ball = knSceneBuilder_Ball(builder, name, center, CRADLE_RADIUS, STEEL_DENSITY, KN_COLOR_STEEL);
	if (builder->scene != NULL) {
		// polished steel: it bounces and does not rub
		knScene_EditBody(builder->scene, ball)->frame.q = turn;
		int slot = knScene_ShapeSlots(builder->scene) - 1;
		knShapeDef* shape = knScene_EditShape(builder->scene, knScene_ShapeAt(builder->scene, slot));
		shape->restitution = 1.0;
		shape->friction = 0.0;
	}
	addString(builder, ball);
	knJointDef hinge = knJointDef_Default(KN_JOINT_HINGE);
	snprintf(name, sizeof(name), "hinge%d", index);
	hinge.name = name;
	knSceneBuilder_Joint(builder, &hinge, KN_WORLD_BODY, ball, pivot, axis);
}

static knScene* buildCradle(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	int balls = (int)knSceneArgs_Get(args, "balls"), lifted = (int)knSceneArgs_Get(args, "lifted");
	double angle = knSceneArgs_Get(args, "angle") * KN_PI / 180.0;
	for (int i = 0; i < balls; ++i) {
		double x = 2.0 * CRADLE_RADIUS * (i - 0.5 * (balls - 1));
		addCradleBall(&builder, i, x, i < lifted ? angle : 0.0);
	}
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knCradleEntry = {
	.name = "cradle",
	.view = { -75, 8, 1 },
	.bodies = 5,
	.joints = 5,
	.summary = "Newton's cradle: steel balls in a row, the first lifted, restitution 1",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 5.0,
	.params = {
		{ .name = "balls", .value = 5, .lower = 1, .upper = 1000, .integer = true, .help = "balls" },
		{ .name = "lifted", .value = 1, .lower = 0, .upper = 1000, .integer = true, .help = "how many are lifted" },
		{ .name = "angle", .value = 30, .lower = 0, .upper = 90, .help = "by how much, degrees" },
	},
	.build = buildCradle,
};
