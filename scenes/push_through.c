// push-through: two jointed bars fly at a ball, their velocities such that, were it not for the joint, their ends would
// part within one step and let the ball through (Weinstein et al. 2006, figure 10; no gravity).
//
//   method=pre   the joint is the stepper's: kept closed at the end of every step, so the ball is pushed ahead
//   method=post  bodies move as if there were no joint, then the script stabilizes it: a fifth of the gap is closed by equal
//                motions along it, relative velocity there cancelled. The ball passes between the ends meanwhile
//
// passed: 1 if the ball lies behind the joint. travelled: how far the ball has moved ahead.
#include "scene_tools.h"

#define BAR_HALF knV3(0.05, 0.5, 0.05)
#define BALL_RADIUS 0.15
#define BALL_GAP 0.13 // more than the bars move in a step
#define AHEAD 3.6     // m/s, along x
#define APART 9.0     // m/s, along y
#define CLOSED 0.2    // of the gap in each step, method=post

enum { METHOD_PRE, METHOD_POST };

static knBodyId addBar(knSceneBuilder* builder, const char* name, double side, uint32_t color) {
	knVec3 half = BAR_HALF;
	knFrame frame = knMakeFrame(knV3(0.0, side * half.y, 1.0), knIdentityQ());
	knBodyId bar = knSceneBuilder_Box(builder, name, frame, half, color);
	if (builder->scene != NULL) {
		knScene_EditBody(builder->scene, bar)->velocity = knV3(AHEAD, side * APART, 0.0);
	}
	return bar;
}

static knScene* build(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	if (builder.scene != NULL) {
		knScene_Def(builder.scene)->gravity = knZero3();
	}
	knBodyId upper = addBar(&builder, "upper", 1.0, KN_COLOR_BLUE);
	knBodyId lower = addBar(&builder, "lower", -1.0, KN_COLOR_SAND);
	knVec3 half = BAR_HALF, center = knV3(half.x + BALL_GAP + BALL_RADIUS, 0.0, 1.0);
	knSceneBuilder_Ball(&builder, "ball", center, BALL_RADIUS, 1000.0, KN_COLOR_RED);
	knJointDef joint = knJointDef_Default(KN_JOINT_BALL);
	joint.name = "joint";
	joint.enabled = knSceneArgs_Get(args, "method") == METHOD_PRE;
	knSceneBuilder_Joint(&builder, &joint, upper, lower, knV3(0.0, 0.0, 1.0), knV3(0.0, 1.0, 0.0));
	if (builder.scene != NULL) {
		knStatus status = knScene_ExcludePair(builder.scene, upper, lower, error);
		knSceneBuilder_Require(&builder, status == KN_OK);
	}
	return knSceneBuilder_End(&builder);
}

static knVec3 endOf(const knWorld* world, knBodyId bar, double side) {
	knVec3 half = BAR_HALF;
	return knPoint(knWorld_BodyFrame(world, bar), knV3(0.0, -side * half.y, 0.0));
}

// Velocity change of the bar's end per impulse there.
static knMat33 response(const knWorld* world, knBodyId bar, knVec3 end) {
	knMassProps mass = knModel_BodyMass(knWorld_Model(world), bar);
	knFrame frame = knWorld_BodyFrame(world, bar);
	knMat33 inertia = knRotateTensor(frame.q, &mass.inertia), inverse = knInverse33(&inertia);
	knMat33 arm = knSkew(knSub(end, frame.p)), half = knMulMM(&inverse, &arm), angular = knMulMM(&arm, &half);
	knMat33 linear = knDiagonal33(1.0 / mass.mass, 1.0 / mass.mass, 1.0 / mass.mass),
			minus = knScaleM(-1.0, &angular);
	return knAddMM(&linear, &minus);
}

static void closeAfterwards(knWorld* world, const knSceneArgs* args) {
	if (knSceneArgs_Get(args, "method") != METHOD_POST || knWorld_StepCount(world) == 0) {
		return;
	}
	knBodyId upper = knScript_Find(world, "upper"), lower = knScript_Find(world, "lower");
	knVec3 gap = knSub(endOf(world, lower, -1.0), endOf(world, upper, 1.0));
	knFrame up = knWorld_BodyFrame(world, upper), low = knWorld_BodyFrame(world, lower);
	up.p = knMulAdd(up.p, 0.5 * CLOSED, gap);
	low.p = knMulAdd(low.p, -0.5 * CLOSED, gap);
	(void)knWorld_SetBodyFrame(world, upper, up);
	(void)knWorld_SetBodyFrame(world, lower, low);

	knVec3 end = knScale(0.5, knAdd(endOf(world, upper, 1.0), endOf(world, lower, -1.0)));
	knVec3 relative =
		knSub(knWorld_PointVelocity(world, lower, end), knWorld_PointVelocity(world, upper, end));
	knMat33 a = response(world, upper, end), b = response(world, lower, end), sum = knAddMM(&a, &b);
	knMat33 inverse = knInverse33(&sum);
	knVec3 impulse = knMulMV(&inverse, relative);
	(void)knWorld_ApplyImpulse(world, upper, impulse, end);
	(void)knWorld_ApplyImpulse(world, lower, knNeg(impulse), end);
}

static void observe(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	(void)args;
	knBodyId ball = knScript_Find(world, "ball");
	double now = knWorld_BodyCenter(world, ball).x;
	double start = knScene_GetBody(knModel_Scene(knWorld_Model(world)), ball)->frame.p.x;
	double joint = 0.5 * (endOf(world, knScript_Find(world, "upper"), 1.0).x +
						  endOf(world, knScript_Find(world, "lower"), -1.0).x);
	knSceneChecks_Set(checks, "passed", joint > now ? 1.0 : 0.0);
	knSceneChecks_Set(checks, "travelled", now - start);
}

const knSceneEntry knPushThroughEntry = {
	.name = "push-through",
	.bodies = 3,
	.joints = 1,
	.summary = "two jointed bars fly at a ball: closing the joint beforehand pushes it, afterwards lets it through",
	.source = "Weinstein et al. 2006, figure 10",
	.steppers = "impulse velocity",
	.dt = 1.0 / 30.0,
	.time = 1.0,
	.params = {
		{ .name = "method", .value = METHOD_PRE, .lower = 0, .upper = 1, .integer = true, .choices = "pre post",
		  .help = "when the joint is closed: before bodies move, or after" },
	},
	.build = build,
	.script = closeAfterwards,
	.observe = observe,
};
