// humanoid: 17 bodies on a floating base, 38 degrees of freedom: 6 of the pelvis, ball joints at waist, neck, shoulders and
// hips, universal joints at wrists and ankles, hinges at elbows, knees and toes, all with limits.
//
// It is let go 0.3 m above the ground, leaning ahead, with loose joints, and falls. stand=1: on both feet, every axis a
// position servo whose zero is this pose. The ankles together must be stiffer than what topples it, m g h = 0.6 kN m/rad;
// each leg's servos alone are three times as stiff, so that it also stands on one. Twin 4 starts it leaning beyond its toes.
//
// Facts: pelvis, its height over that at the start; support, the ground's upward force over the weight, mean over the last
// second; rest_speed, rest_spin.
#include "figure.h"

#define PELVIS_HEIGHT 1.0 // above the soles
#define DROP 0.3
#define LEAN 0.15        // rad, when it is let go
#define TOPPLE_LEAN 0.35 // rad, in twin 4
#define HINGED_LIMIT 0.8 // rad, of each axis of a universal joint

enum { PELVIS, CHEST, HEAD, UPPER_ARM, FOREARM, HAND, THIGH, SHIN, FOOT, TOES, PART_COUNT };

static const knFigurePart parts[PART_COUNT] = {
	[PELVIS] = { "pelvis", false, KN_FIGURE_FREE, KN_JOINT_FREE, { 0 }, { 0 }, 0, 0, 0 },
	[CHEST] = { "chest", false, PELVIS, KN_JOINT_BALL, { 0.11, 0, 0 }, { 1, 0, 0 }, 0.7, -0.6, 0.6 },
	[HEAD] = { "head", false, CHEST, KN_JOINT_BALL, { 0.61, 0, 0 }, { 1, 0, 0 }, 0.8, -1.0, 1.0 },
	[UPPER_ARM] = { "upper_arm",
					true,
					CHEST,
					KN_JOINT_BALL,
					{ 0.56, 0.23, 0 },
					{ -1, 0, 0 },
					1.8,
					-1.0,
					1.0 },
	[FOREARM] = { "forearm",
				  true,
				  UPPER_ARM,
				  KN_JOINT_HINGE,
				  { 0.265, 0.23, 0 },
				  { 0, 1, 0 },
				  0,
				  -0.05,
				  2.4 },
	[HAND] = { "hand", true, FOREARM, KN_JOINT_UNIVERSAL, { 0.015, 0.23, 0 }, { 0, 1, 0 }, 0, 0, 0 },
	[THIGH] = { "thigh", true, PELVIS, KN_JOINT_BALL, { -0.11, 0.09, 0 }, { -1, 0, 0 }, 1.4, -0.6, 0.6 },
	[SHIN] = { "shin", true, THIGH, KN_JOINT_HINGE, { -0.525, 0.09, 0 }, { 0, -1, 0 }, 0, -0.05, 2.4 },
	[FOOT] = { "foot", true, SHIN, KN_JOINT_UNIVERSAL, { -0.915, 0.09, 0 }, { 0, 1, 0 }, 0, 0, 0 },
	[TOES] = { "toes", true, FOOT, KN_JOINT_HINGE, { -0.965, 0.09, 0.185 }, { 0, 1, 0 }, 0, -0.4, 0.9 },
};

// A box: centre a, half extents b. A rod (radius > 0): from a to b. A ball: a = b.
typedef struct Flesh {
	knVec3 a, b;
	double radius;
	double stiffness, damping; // of each axis of the servo of its joint, N m/rad and N m s/rad
	uint32_t color;
} Flesh;

static const Flesh flesh[PART_COUNT] = {
	[PELVIS] = { { 0, 0, 0 }, { 0.10, 0.15, 0.09 }, 0, 0, 0, KN_COLOR_BLUE },
	[CHEST] = { { 0.36, 0, 0 }, { 0.24, 0.17, 0.10 }, 0, 2000, 100, KN_COLOR_BLUE },
	[HEAD] = { { 0.73, 0, 0 }, { 0.73, 0, 0 }, 0.11, 200, 10, KN_COLOR_SAND },
	[UPPER_ARM] = { { 0.55, 0.23, 0 }, { 0.27, 0.23, 0 }, 0.045, 300, 15, KN_COLOR_TEAL },
	[FOREARM] = { { 0.26, 0.23, 0 }, { 0.02, 0.23, 0 }, 0.04, 150, 8, KN_COLOR_SAND },
	[HAND] = { { -0.07, 0.23, 0 }, { 0.08, 0.02, 0.05 }, 0, 40, 2, KN_COLOR_SAND },
	[THIGH] = { { -0.12, 0.09, 0 }, { -0.52, 0.09, 0 }, 0.07, 2000, 100, KN_COLOR_TEAL },
	[SHIN] = { { -0.53, 0.09, 0 }, { -0.91, 0.09, 0 }, 0.055, 2000, 100, KN_COLOR_TEAL },
	[FOOT] = { { -0.96, 0.09, 0.06 }, { 0.04, 0.05, 0.12 }, 0, 2000, 100, KN_COLOR_CLAY },
	[TOES] = { { -0.96, 0.09, 0.23 }, { 0.04, 0.05, 0.04 }, 0, 200, 10, KN_COLOR_CLAY },
};

static knBodyId addBody(knSceneBuilder* builder, const char* name, int part, double side, knFrame figure,
						void* context) {
	(void)context;
	const Flesh* f = &flesh[part];
	knVec3 a = knPoint(figure, knFigure_OnSide(f->a, side));
	if (f->radius == 0.0) {
		return knSceneBuilder_Box(builder, name, knMakeFrame(a, figure.q), f->b, f->color);
	}
	knVec3 b = knPoint(figure, knFigure_OnSide(f->b, side));
	if (part == HEAD) {
		return knSceneBuilder_Ball(builder, name, a, f->radius, 1000.0, f->color);
	}
	double r = f->radius, volume = KN_PI * r * r * (knDistance(a, b) - 2.0 * r + 4.0 / 3.0 * r);
	return knSceneBuilder_Rod(builder, name, a, b, r, 1000.0 * volume, f->color);
}

// Servos of the joint that holds a body of row `part`; limits of universal joints.
static void fitJoint(knSceneBuilder* builder, knJointId id, int part, bool servos) {
	knJointDef* joint = builder->scene != NULL ? knScene_EditJoint(builder->scene, id) : NULL;
	if (joint == NULL) {
		return;
	}
	int axes = joint->kind == KN_JOINT_BALL ? 3 : joint->kind == KN_JOINT_UNIVERSAL ? 2 : 1;
	for (int k = 0; k < axes && joint->kind == KN_JOINT_UNIVERSAL; ++k) {
		joint->axis[k].limited = true;
		joint->axis[k].lower = -HINGED_LIMIT;
		joint->axis[k].upper = HINGED_LIMIT;
	}
	for (int k = 0; k < axes && servos && builder->scene != NULL; ++k) {
		knActuatorDef servo = knActuatorDef_Default();
		servo.joint = id;
		servo.axis = k;
		servo.gain[0] = flesh[part].stiffness;
		servo.bias[1] = -flesh[part].stiffness;
		servo.bias[2] = -flesh[part].damping;
		knSceneBuilder_Require(builder, knScene_AddActuator(builder->scene, &servo, builder->error) >= 0);
	}
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	bool stands = knSceneArgs_Get(args, "stand") > 0.0;
	knSceneBuilder_Ground(&builder, 20.0);

	// upright, x of the figure up; leaning about an axis through the soles
	double lean = args->twin == 4 ? TOPPLE_LEAN : stands ? 0.0 : LEAN;
	double lift = (stands ? 0.0 : DROP) + knTwin_Offset(args, 0, 2, knZero3(), true).z;
	// the heel is 0.06 m behind the ankle, the toes 0.27 m ahead of it: what goes down is lifted
	lift += lean > 0.0 ? 0.27 * knSin(lean) : 0.0;
	knQuat upright = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), -0.5 * KN_PI);
	knQuat turn = knMulQ(knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), -lean), upright);
	knVec3 pelvis = knRotate(turn, knV3(PELVIS_HEIGHT, 0.0, 0.0));
	knFigure_Add(&builder, 0, parts, PART_COUNT, knMakeFrame(knAdd(pelvis, knV3(0.0, 0.0, lift)), turn),
				 addBody, NULL);
	int joint = 0;
	for (int i = CHEST; i < PART_COUNT; ++i) {
		for (int s = 0; s < (parts[i].paired ? 2 : 1) && builder.scene != NULL; ++s) {
			fitJoint(&builder, knScene_JointAt(builder.scene, joint++), i, stands);
		}
	}
	return knSceneBuilder_End(&builder);
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	knBodyId pelvis = knScene_FindBody(scene, "0_pelvis");
	knSceneChecks_Set(checks, "pelvis",
					  knWorld_BodyCenter(world, pelvis).z / knScene_GetBody(scene, pelvis)->frame.p.z);
	knSupport_Observe(world, args, checks);
	knRest_Observe(world, args, checks);
}

const knSceneEntry knHumanoidEntry = {
	.name = "humanoid",
	.bodies = 17,
	.joints = 16,
	.summary = "a figure of 38 degrees of freedom falls, or stands on both feet by its servos",
	.source = "slides on articulated bodies: a walking figure",
	.steppers = "reduced velocity impulse",
	.dt = 0.01,
	.time = 5.0,
	.twins = true,
	.params = {
		{ .name = "stand", .value = 0, .lower = 0, .upper = 1, .integer = true, .help = "1: on both feet, held by servos" },
	},
	.build = build,
	.script = knTwin_Script,
	.observe = observe,
};
