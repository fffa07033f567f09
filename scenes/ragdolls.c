// ragdolls: figures of 21 capsules, boxes and a ball with 12 ball joints and 8 hinges, lying on their backs, stacked 0.6 m
// apart and each turned about the vertical.
#include "figure.h"

#define SPACING 0.6
#define LOWEST 0.15 // height of the first pelvis

enum {
	PELVIS,
	ABDOMEN,
	CHEST,
	NECK,
	HEAD,
	CLAVICLE,
	UPPER_ARM,
	FOREARM,
	HAND,
	THIGH,
	SHIN,
	FOOT,
	TOES,
	PART_COUNT
};

static const knFigurePart parts[PART_COUNT] = {
	[PELVIS] = { "pelvis", false, KN_FIGURE_FREE, KN_JOINT_FREE, { 0 }, { 0 }, 0, 0, 0 },
	[ABDOMEN] = { "abdomen", false, PELVIS, KN_JOINT_BALL, { 0.105, 0, 0 }, { 1, 0, 0 }, 0, 0, 0 },
	[CHEST] = { "chest", false, ABDOMEN, KN_JOINT_BALL, { 0.295, 0, 0 }, { 1, 0, 0 }, 0, 0, 0 },
	[NECK] = { "neck", false, CHEST, KN_JOINT_BALL, { 0.605, 0, 0 }, { 1, 0, 0 }, 0, 0, 0 },
	[HEAD] = { "head", false, NECK, KN_JOINT_BALL, { 0.715, 0, 0 }, { 1, 0, 0 }, 0, 0, 0 },
	[CLAVICLE] = { "clavicle", true, CHEST, KN_JOINT_BALL, { 0.62, 0.05, 0 }, { 0, 1, 0 }, 0, 0, 0 },
	[UPPER_ARM] = { "upper_arm", true, CLAVICLE, KN_JOINT_BALL, { 0.64, 0.21, 0 }, { 0, 1, 0 }, 0, 0, 0 },
	[FOREARM] = { "forearm", true, UPPER_ARM, KN_JOINT_HINGE, { 0.64, 0.505, 0 }, { 1, 0, 0 }, 0, 0, 0 },
	[HAND] = { "hand", true, FOREARM, KN_JOINT_BALL, { 0.64, 0.765, 0 }, { 0, 1, 0 }, 0, 0, 0 },
	[THIGH] = { "thigh", true, PELVIS, KN_JOINT_BALL, { -0.11, 0.09, 0 }, { -1, 0, 0 }, 0, 0, 0 },
	[SHIN] = { "shin", true, THIGH, KN_JOINT_HINGE, { -0.525, 0.09, 0 }, { 0, 1, 0 }, 0, 0, 0 },
	[FOOT] = { "foot", true, SHIN, KN_JOINT_HINGE, { -0.915, 0.09, 0 }, { 0, 1, 0 }, 0, 0, 0 },
	[TOES] = { "toes", true, FOOT, KN_JOINT_HINGE, { -0.96, 0.09, 0.185 }, { 0, 1, 0 }, 0, 0, 0 },
};

typedef enum FleshKind { FLESH_BOX, FLESH_ROD, FLESH_BALL } FleshKind;

// A box: centre a, half extents b. A rod: from a to b. A ball: centre a.
typedef struct Flesh {
	FleshKind kind;
	knVec3 a, b;
	double radius;
} Flesh;

static const Flesh flesh[PART_COUNT] = {
	[PELVIS] = { FLESH_BOX, { 0, 0, 0 }, { 0.10, 0.15, 0.09 }, 0 },
	[ABDOMEN] = { FLESH_BOX, { 0.20, 0, 0 }, { 0.09, 0.13, 0.08 }, 0 },
	[CHEST] = { FLESH_BOX, { 0.45, 0, 0 }, { 0.15, 0.16, 0.10 }, 0 },
	[NECK] = { FLESH_ROD, { 0.61, 0, 0 }, { 0.71, 0, 0 }, 0.04 },
	[HEAD] = { FLESH_BALL, { 0.83, 0, 0 }, { 0 }, 0.11 },
	[CLAVICLE] = { FLESH_ROD, { 0.64, 0.05, 0 }, { 0.64, 0.20, 0 }, 0.03 },
	[UPPER_ARM] = { FLESH_ROD, { 0.64, 0.22, 0 }, { 0.64, 0.50, 0 }, 0.045 },
	[FOREARM] = { FLESH_ROD, { 0.64, 0.51, 0 }, { 0.64, 0.76, 0 }, 0.04 },
	[HAND] = { FLESH_BOX, { 0.64, 0.85, 0 }, { 0.06, 0.08, 0.02 }, 0 },
	[THIGH] = { FLESH_ROD, { -0.12, 0.09, 0 }, { -0.52, 0.09, 0 }, 0.07 },
	[SHIN] = { FLESH_ROD, { -0.53, 0.09, 0 }, { -0.91, 0.09, 0 }, 0.055 },
	[FOOT] = { FLESH_BOX, { -0.96, 0.09, 0.06 }, { 0.04, 0.05, 0.12 }, 0 },
	[TOES] = { FLESH_BOX, { -0.96, 0.09, 0.23 }, { 0.035, 0.05, 0.04 }, 0 },
};

static knBodyId addBody(knSceneBuilder* builder, const char* name, int part, double side, knFrame figure,
						void* context) {
	const Flesh* shape = &flesh[part];
	uint32_t color = *(const uint32_t*)context;
	knVec3 a = knPoint(figure, knFigure_OnSide(shape->a, side));
	double r = shape->radius;
	if (shape->kind == FLESH_BALL) {
		return knSceneBuilder_Ball(builder, name, a, r, 1000.0, color);
	}
	if (shape->kind == FLESH_BOX) {
		return knSceneBuilder_Box(builder, name, knMakeFrame(a, figure.q), shape->b, color);
	}
	knVec3 b = knPoint(figure, knFigure_OnSide(shape->b, side));
	double volume = KN_PI * r * r * (knDistance(a, b) - 2.0 * r) + 4.0 / 3.0 * KN_PI * r * r * r;
	return knSceneBuilder_Rod(builder, name, a, b, r, 1000.0 * volume, color);
}

static knScene* build(const knSceneArgs* args, knError* error) {
	static const uint32_t colors[] = { KN_COLOR_BLUE, KN_COLOR_SAND, KN_COLOR_TEAL, KN_COLOR_CLAY,
									   KN_COLOR_PLUM };
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	int count = (int)knSceneArgs_Get(args, "count");
	for (int i = 0; i < count; ++i) {
		uint32_t color = knSceneBuilder_Shade(&builder, colors[i % 5]);
		double turn = knSceneBuilder_Uniform(&builder, -KN_PI, KN_PI);
		knFrame figure = knMakeFrame(knV3(0.0, 0.0, LOWEST + SPACING * i),
									 knQuat_FromAxisAngle(knV3(0.0, 0.0, 1.0), turn));
		knFigure_Add(&builder, i, parts, PART_COUNT, figure, addBody, &color);
	}
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knRagdollsEntry = {
	.name = "ragdolls",
	.bodies = 420,
	.joints = 400,
	.summary = "figures of 21 capsules, boxes and a ball fall on a heap",
	.source = "common benchmark",
	.steppers = "impulse velocity",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "count", .value = 20, .lower = 1, .upper = 2000, .integer = true, .help = "figures", .small = 2 },
		{ .name = "joint_friction", .value = 0, .lower = 0, .upper = 1e6, .help = "dry friction of every joint, N m" },
	},
	.build = build,
	.observe = knRest_Observe,
};
