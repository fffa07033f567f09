// joints: one pair of blocks for each kind of joint, released 1.5 m above the ground with a spin, in rows of four.
//
// Both blocks of a pair begin with the motion of one rigid body, which every joint allows; flight, centrifugal forces
// and the landing then set the free directions going. Slides are limited to half a metre either way. custom=1 adds a
// user's joint (the child's anchor stays on a sphere about the parent's), which makes the scene one that no file holds.
#include <stdio.h>

#include "scene_tools.h"

#define PAIR_SPACING 3.0
#define PAIRS_IN_ROW 4
#define HEIGHT 1.5
#define SLIDE_LIMIT 0.5
#define CUSTOM_RADIUS 0.2

// Which axis each kind is given, and which of its coordinates are slides.
typedef struct PairDef {
	knJointKind kind;
	knVec3 axis;
	int firstSlide, slides;
} PairDef;

static const PairDef pairs[] = {
	{ KN_JOINT_BALL, { 1, 0, 0 }, 0, 0 },     { KN_JOINT_HINGE, { 0, 1, 0 }, 0, 0 },
	{ KN_JOINT_SLIDER, { 1, 0, 0 }, 0, 1 },   { KN_JOINT_SLIDER2, { 1, 0, 0 }, 0, 2 },
	{ KN_JOINT_SLIDER3, { 1, 0, 0 }, 0, 3 },  { KN_JOINT_UNIVERSAL, { 1, 0, 0 }, 0, 0 },
	{ KN_JOINT_CYLINDER, { 1, 0, 0 }, 0, 1 }, { KN_JOINT_PLANAR, { 0, 0, 1 }, 0, 2 },
	{ KN_JOINT_FREE, { 1, 0, 0 }, 0, 0 },     { KN_JOINT_FIXED, { 1, 0, 0 }, 0, 0 },
	{ KN_JOINT_CUSTOM, { 1, 0, 0 }, 0, 0 },
};

#define PAIR_COUNT ((int)(sizeof(pairs) / sizeof(pairs[0])))

// --- the user's joint: the child's joint origin stays at CUSTOM_RADIUS from the parent's ---------------------

static knFrame ontoSphere(knFrame joint, void* context) {
	(void)context;
	double length = knLength(joint.p);
	knVec3 direction = length > 0.0 ? knScale(1.0 / length, joint.p) : knV3(1.0, 0.0, 0.0);
	return knMakeFrame(knScale(CUSTOM_RADIUS, direction), joint.q);
}

static knTwist alongSphere(knFrame joint, knTwist velocity, void* context) {
	(void)context;
	knVec3 direction = knNormalize(joint.p);
	velocity.lin = knMulAdd(velocity.lin, -knDot(velocity.lin, direction), direction);
	return velocity;
}

// --- building --------------------------------------------------------------------------------------------------

static knBodyId addBlock(knSceneBuilder* builder, const char* kind, const char* part, knVec3 origin,
						 knVec3 offset, double ratio) {
	char name[48];
	snprintf(name, sizeof(name), "%s_%s", kind, part);
	uint32_t color = offset.x < 0.0 ? KN_COLOR_BLUE : KN_COLOR_SAND;
	knFrame frame = knMakeFrame(knAdd(origin, offset), knIdentityQ());
	knBodyId body = knSceneBuilder_Box(builder, name, frame, knV3(0.25, 0.15, 0.1), color);
	if (builder->scene == NULL) {
		return body;
	}
	knBodyDef* def = knScene_EditBody(builder->scene, body);
	def->angularVelocity = knV3(1.0, 3.0, 2.0);
	def->velocity = knCross(def->angularVelocity, offset);
	// each block has one shape, added just now
	int slot = knScene_ShapeSlots(builder->scene) - 1;
	knScene_EditShape(builder->scene, knScene_ShapeAt(builder->scene, slot))->density *= ratio;
	return body;
}

static void addPair(knSceneBuilder* builder, const PairDef* pair, knVec3 origin, double ratio) {
	const char* kind = knJointKind_Name(pair->kind);
	knBodyId parent = addBlock(builder, kind, "parent", origin, knV3(-0.3, 0.0, 0.0), 1.0);
	knBodyId child = addBlock(builder, kind, "child", origin, knV3(0.3, 0.0, 0.0), ratio);
	knJointDef def = knJointDef_Default(pair->kind);
	def.name = kind;
	for (int i = pair->firstSlide; i < pair->firstSlide + pair->slides; ++i) {
		def.axis[i].limited = true;
		def.axis[i].lower = -SLIDE_LIMIT;
		def.axis[i].upper = SLIDE_LIMIT;
	}
	if (pair->kind != KN_JOINT_CUSTOM) {
		knSceneBuilder_Joint(builder, &def, parent, child, origin, pair->axis);
		return;
	}
	def.parent = parent;
	def.child = child;
	def.frameParent.p = knV3(0.3, 0.0, 0.0);
	def.frameChild.p = knV3(-0.3 + CUSTOM_RADIUS, 0.0, 0.0);
	def.custom.projectState = ontoSphere;
	def.custom.projectVelocity = alongSphere;
	if (builder->scene != NULL) {
		knSceneBuilder_Require(builder,
							   !KN_ID_IS_NULL(knScene_AddJoint(builder->scene, &def, builder->error)));
	}
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	int count = knSceneArgs_Get(args, "custom") != 0.0 ? PAIR_COUNT : PAIR_COUNT - 1;
	for (int i = 0; i < count; ++i) {
		int row = i / PAIRS_IN_ROW, column = i % PAIRS_IN_ROW;
		knVec3 origin =
			knV3(PAIR_SPACING * (1 - row), PAIR_SPACING * (column - 0.5 * (PAIRS_IN_ROW - 1)), HEIGHT);
		addPair(&builder, &pairs[i], origin, knSceneArgs_Get(args, "ratio"));
	}
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knJointsEntry = {
	.name = "joints",
	.bodies = 20,
	.joints = 10,
	.summary = "one pair of blocks for each kind of joint, thrown to the ground",
	.source = "Weinstein et al. 2006, figure 9",
	.steppers = "impulse velocity",
	.dt = 0.01,
	.time = 5.0,
	.params = {
		{ .name = "ratio", .value = 1, .lower = 1e-6, .upper = 1e6, .help = "mass of the child over the parent's" },
		{ .name = "custom", .value = 0, .lower = 0, .upper = 1, .integer = true, .help = "1: a user's joint too" },
	},
	.build = build,
};
