// Small robots and mechanisms in joint coordinates, with contact:
//
//   arm           seven joints with servos; strikes a stack of cubes, comes back and pushes what is left of its foot
//   two-contacts  a chain of five links, held bent by servos, stands on the ends of its first and its last link
//   door          swings between the limits of its hinge; its handle hangs on a limit of its own
//   gripper       two parallelograms with pads, driven by constant torques, hold a box between them by friction
//
// Statics that the facts are compared with. gripper: each pad presses with N = torque/bar, so the box is held while
// 2 mu N >= m g, that is mu >= 0.245 at the default squeeze of 10 N and 0.5 kg. two-contacts: the lever rule.
#include <stdio.h>
#include <string.h>

#include "scene_tools.h"

// A position servo of a joint's first axis; its control is what the joint shall be at. limit: N m, 0: none.
static void addServo(knSceneBuilder* builder, knJointId joint, double stiffness, double damping,
					 double limit) {
	knActuatorDef servo = knActuatorDef_Default();
	servo.joint = joint;
	servo.gain[0] = stiffness;
	servo.bias[1] = -stiffness;
	servo.bias[2] = -damping;
	servo.forceLimited = limit > 0.0;
	servo.forceRange[0] = -limit;
	servo.forceRange[1] = limit;
	if (builder->scene != NULL) {
		knSceneBuilder_Require(builder, knScene_AddActuator(builder->scene, &servo, builder->error) >= 0);
	}
}

static knJointId addHinge(knSceneBuilder* builder, const char* name, knBodyId parent, knBodyId child,
						  knVec3 anchor, knVec3 axis, bool loop) {
	knJointDef def = knJointDef_Default(KN_JOINT_HINGE);
	def.name = name;
	def.loop = loop;
	return knSceneBuilder_Joint(builder, &def, parent, child, anchor, axis);
}

static double authoredMove(knWorld* world, const char* body) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	knBodyId id = knScene_FindBody(scene, body);
	return knDistance(knWorld_BodyFrame(world, id).p, knScene_GetBody(scene, id)->frame.p);
}

// --- arm -------------------------------------------------------------------------------------------------------

#define ARM_JOINTS 7
#define SHOULDER_HEIGHT 0.5
#define ARM_RADIUS 0.04
#define ARM_AWAY 1.3 // rad, about the vertical, from the arm's first direction to the stack
#define CUBE 0.2
#define STACK_PLACE 0.9 // m, of its axis from the arm's

// Along the arm, from the shoulder on: turns about the vertical, sideways and along in turn.
static const struct {
	char axis; // 'z' vertical, 'y' level and across the arm, 'x' along it
	double length, mass;
	double stiffness, damping, limit; // N m/rad, N m s/rad, N m
} armParts[ARM_JOINTS] = {
	{ 'z', 0.0, 4.0, 20000, 600, 600 }, { 'y', 0.2, 3.0, 20000, 600, 600 }, { 'x', 0.2, 3.0, 5000, 30, 300 },
	{ 'y', 0.2, 2.0, 10000, 200, 300 }, { 'x', 0.2, 2.0, 2000, 10, 150 },   { 'y', 0.1, 1.0, 2000, 20, 100 },
	{ 'x', 0.1, 1.0, 1000, 5, 50 },
};

static int cubeCount(const knSceneArgs* args) {
	return (int)knSceneArgs_Get(args, "boxes");
}

static knScene* buildArm(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 20.0);
	double half = 0.1;
	knSceneBuilder_Fixture(&builder, "pedestal", knMakeFrame(knV3(0.0, 0.0, half), knIdentityQ()),
						   knV3(half, half, half));
	knVec3 along = knV3(knCos(ARM_AWAY), -knSin(ARM_AWAY), 0.0), up = knV3(0.0, 0.0, 1.0);
	knVec3 here = knV3(0.0, 0.0, SHOULDER_HEIGHT);
	knBodyId previous = KN_WORLD_BODY;
	for (int i = 0; i < ARM_JOINTS; ++i) {
		char name[16];
		knVec3 from = i == 0 ? knV3(0.0, 0.0, 2.0 * half + 0.01) : here;
		knVec3 to = i == 0 ? knSub(here, knV3(0.0, 0.0, ARM_RADIUS + 0.01))
						   : knMulAdd(here, armParts[i].length, along);
		snprintf(name, sizeof(name), "link%d", i);
		knBodyId link = knSceneBuilder_Rod(&builder, name, from, to, ARM_RADIUS, armParts[i].mass,
										   i % 2 == 0 ? KN_COLOR_STEEL : KN_COLOR_BLUE);
		knVec3 axis = armParts[i].axis == 'z' ? up : armParts[i].axis == 'y' ? knCross(up, along) : along;
		snprintf(name, sizeof(name), "joint%d", i);
		knJointId joint = addHinge(&builder, name, previous, link, from, axis, false);
		addServo(&builder, joint, armParts[i].stiffness, armParts[i].damping, armParts[i].limit);
		previous = link;
		here = i == 0 ? here : to;
	}
	for (int i = 0; i < cubeCount(args); ++i) {
		char name[16];
		snprintf(name, sizeof(name), "box%d", i);
		knFrame place = knMakeFrame(knV3(STACK_PLACE, 0.0, (i + 0.5) * CUBE), knIdentityQ());
		knSceneBuilder_Box(&builder, name, place, knV3(0.5 * CUBE, 0.5 * CUBE, 0.5 * CUBE),
						   knSceneBuilder_Shade(&builder, KN_COLOR_CLAY));
	}
	return knSceneBuilder_End(&builder);
}

// From 0 to 1 as time goes from `from` to `to`, at rest at both.
static double ease(double time, double from, double to) {
	double x = knClamp((time - from) / (to - from), 0.0, 1.0);
	return x * x * (3.0 - 2.0 * x);
}

// Strikes at half height, comes back above what lies there, sinks to the ground, pushes.
static void driveArm(knWorld* world, const knSceneArgs* args) {
	(void)args;
	double t = knWorld_Time(world) + knScene_GetDef(knModel_Scene(knWorld_Model(world)))->dt;
	double turn =
		(ARM_AWAY + 0.4) * (ease(t, 0.3, 0.9) - ease(t, 1.4, 2.2)) + (ARM_AWAY + 0.6) * ease(t, 3.0, 6.0);
	double lower = -0.4 * (ease(t, 1.0, 1.4) - ease(t, 2.2, 2.8)) + 0.42 * ease(t, 2.2, 2.8);
	knWorld_SetControl(world, 0, turn);
	knWorld_SetControl(world, 1, lower);
}

static void observeArm(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	int begun = 0, fallen = 0;
	const knTouchEvent* events = knWorld_BeginEvents(world, &begun);
	for (int i = 0; i < begun; ++i) {
		const knBodyId bodies[2] = { knScene_GetShapeBody(scene, events[i].shapeA),
									 knScene_GetShapeBody(scene, events[i].shapeB) };
		int arm = 0, box = 0;
		for (int k = 0; k < 2; ++k) {
			const char* name = KN_ID_IS_NULL(bodies[k]) ? "" : knScene_GetBody(scene, bodies[k])->name;
			arm += strncmp(name, "link", 4) == 0;
			box += strncmp(name, "box", 3) == 0;
		}
		if (arm == 1 && box == 1) {
			knSceneChecks_Once(checks, "first_contact", knWorld_Time(world));
		}
	}
	for (int i = 0; i < cubeCount(args); ++i) {
		char name[16];
		snprintf(name, sizeof(name), "box%d", i);
		fallen += authoredMove(world, name) > 0.5 * CUBE;
	}
	knSceneChecks_Set(checks, "fallen", fallen);
	knSceneChecks_Set(checks, "slid", authoredMove(world, "box0"));
}

const knSceneEntry knArmEntry = {
	.name = "arm",
	.bodies = 12,
	.joints = 7,
	.summary = "an arm of seven joints with servos strikes a stack of cubes and pushes its foot",
	.source = "slides on articulated bodies",
	.steppers = "reduced velocity impulse",
	.dt = 0.01,
	.time = 7.0,
	.params = {
		{ .name = "boxes", .value = 5, .lower = 1, .upper = 100, .integer = true, .help = "cubes of 0.2 m", .small = 3 },
	},
	.build = buildArm,
	.script = driveArm,
	.observe = observeArm,
};

// --- two-contacts ------------------------------------------------------------------------------------------------

#define BENT_LINKS 5
#define BENT_HALF_WIDTH 0.15
#define BENT_HALF_THICKNESS 0.03
#define BENT_TOPPLE 1.1 // rad, in twin 4

static const knVec3 bentPoints[BENT_LINKS + 1] = {
	{ -0.6, 0, 0.0 }, { -0.5, 0, 0.4 }, { -0.2, 0, 0.65 }, { 0.2, 0, 0.65 }, { 0.5, 0, 0.4 }, { 0.6, 0, 0.0 },
};

// Frame and half extents of a link, x along it, the whole turned by `lean` about y.
static knFrame bentFrame(int link, double lean, knVec3* half) {
	knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), -lean);
	knVec3 from = knRotate(turn, bentPoints[link]), to = knRotate(turn, bentPoints[link + 1]);
	knVec3 along = knNormalize(knSub(to, from));
	*half = knV3(0.5 * knDistance(from, to), BENT_HALF_WIDTH, BENT_HALF_THICKNESS);
	// about y alone, so that the links' sides stay upright
	knQuat q = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), knAtan2(-along.z, along.x));
	return knMakeFrame(knScale(0.5, knAdd(from, to)), q);
}

// Height of the lowest corner.
static double bentLowest(double lean) {
	double lowest = 1e300;
	for (int i = 0; i < BENT_LINKS; ++i) {
		knVec3 half;
		knFrame frame = bentFrame(i, lean, &half);
		for (int corner = 0; corner < 4; ++corner) {
			knVec3 at = knV3(corner % 2 == 0 ? half.x : -half.x, 0.0, corner / 2 == 0 ? half.z : -half.z);
			lowest = knMin(lowest, knPoint(frame, at).z);
		}
	}
	return lowest;
}

static knScene* buildTwoContacts(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 20.0);
	double lean = args->twin == 4 ? BENT_TOPPLE : 0.0;
	double lift = knTwin_Offset(args, 0, 2, knZero3(), true).z - bentLowest(lean);
	knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), -lean);
	knBodyId previous = KN_WORLD_BODY;
	for (int i = 0; i < BENT_LINKS; ++i) {
		char name[16];
		knVec3 half;
		knFrame frame = bentFrame(i, lean, &half);
		frame.p.z += lift;
		snprintf(name, sizeof(name), "link%d", i);
		knBodyId link =
			knSceneBuilder_Box(&builder, name, frame, half, i % 2 == 0 ? KN_COLOR_TEAL : KN_COLOR_SAND);
		if (builder.scene != NULL && i == 1) {
			knSceneBuilder_LastShape(&builder)->density *= knSceneArgs_Get(args, "ratio");
		}
		if (i > 0) {
			knVec3 anchor = knAdd(knRotate(turn, bentPoints[i]), knV3(0.0, 0.0, lift));
			snprintf(name, sizeof(name), "joint%d", i);
			knJointId joint = addHinge(&builder, name, previous, link, anchor, knV3(0.0, 1.0, 0.0), false);
			addServo(&builder, joint, knSceneArgs_Get(args, "stiffness"),
					 0.02 * knSceneArgs_Get(args, "stiffness"), 0.0);
		}
		previous = link;
	}
	return knSceneBuilder_End(&builder);
}

// The ground's upward force on each foot over the whole weight, mean over the last second.
static void observeTwoContacts(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knSupport_Observe(world, args, checks);
	knRest_Observe(world, args, checks);
	if (!knObserve_LastSecond(world, args)) {
		return;
	}
	const knModel* model = knWorld_Model(world);
	const knScene* scene = knModel_Scene(model);
	double weight = 0.0;
	for (int i = 0; i < BENT_LINKS; ++i) {
		char name[16];
		snprintf(name, sizeof(name), "link%d", i);
		weight -= knModel_BodyMass(model, knScene_FindBody(scene, name)).mass * knWorld_Gravity(world).z;
	}
	int count = 0;
	const knContact* contacts = knWorld_Contacts(world, &count);
	const knBodyId feet[2] = { knScene_FindBody(scene, "link0"), knScene_FindBody(scene, "link4") };
	double share = weight > 0.0 ? 1.0 / (weight * knScene_GetDef(scene)->dt) : 0.0;
	for (int i = 0; i < count; ++i) {
		for (int k = 0; k < 2; ++k) {
			checks->memory[k] += KN_ID_EQUALS(contacts[i].bodyB, feet[k])   ? share * contacts[i].impulse.z
								 : KN_ID_EQUALS(contacts[i].bodyA, feet[k]) ? -share * contacts[i].impulse.z
																			: 0.0;
		}
	}
	checks->memory[2] += 1.0;
	knSceneChecks_Set(checks, "first_share", checks->memory[0] / checks->memory[2]);
	knSceneChecks_Set(checks, "last_share", checks->memory[1] / checks->memory[2]);
}

const knSceneEntry knTwoContactsEntry = {
	.name = "two-contacts",
	.bodies = 5,
	.joints = 4,
	.summary = "a bent chain, held by servos, stands on its first and its last link",
	.source = "slides on articulated bodies, figure 9",
	.steppers = "reduced velocity impulse",
	.dt = 0.01,
	.time = 5.0,
	.twins = true,
	.params = {
		{ .name = "ratio", .value = 3, .lower = 1e-3, .upper = 1e6, .help = "density of the second link over the others'" },
		{ .name = "stiffness", .value = 20000, .lower = 0, .upper = 1e9, .help = "of the servos, N m/rad; their damping is 0.02 s times this" },
	},
	.build = buildTwoContacts,
	.script = knTwin_Script,
	.observe = observeTwoContacts,
};

// --- door --------------------------------------------------------------------------------------------------------

#define DOOR_WIDTH 0.9
#define DOOR_HEIGHT 2.0
#define DOOR_HALF_THICKNESS 0.02
#define DOOR_OPEN 1.9   // rad, its upper limit; the lower is 0
#define HANDLE_DROP 0.6 // rad, the handle's
#define HANDLE_HEIGHT 1.0

static void limit(knSceneBuilder* builder, knJointId joint, double lower, double upper) {
	if (builder->scene != NULL) {
		knJointAxis* axis = &knScene_EditJoint(builder->scene, joint)->axis[0];
		axis->limited = true;
		axis->lower = lower;
		axis->upper = upper;
	}
}

static knScene* buildDoor(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 10.0);
	knSceneBuilder_Fixture(&builder, "post",
						   knMakeFrame(knV3(-0.1, 0.0, 0.5 * DOOR_HEIGHT + 0.1), knIdentityQ()),
						   knV3(0.08, 0.08, 0.5 * DOOR_HEIGHT + 0.1));
	// a tilted hinge lets the door fall shut
	double tilt = knSceneArgs_Get(args, "tilt") * KN_PI / 180.0, speed = knSceneArgs_Get(args, "speed");
	knVec3 axis = knV3(knSin(tilt), 0.0, knCos(tilt)), ahead = knV3(knCos(tilt), 0.0, -knSin(tilt));
	knQuat turn = knQuat_FromAxisAngle(knV3(0.0, 1.0, 0.0), tilt);
	knVec3 foot = knV3(0.02, 0.0, 0.2); // clear of the ground, tilted or not
	knVec3 middle = knMulAdd(knMulAdd(foot, 0.5 * DOOR_WIDTH, ahead), 0.5 * DOOR_HEIGHT, axis);
	knBodyId door =
		knSceneBuilder_Box(&builder, "door", knMakeFrame(middle, turn),
						   knV3(0.5 * DOOR_WIDTH, DOOR_HALF_THICKNESS, 0.5 * DOOR_HEIGHT), KN_COLOR_CLAY);
	if (builder.scene != NULL) {
		knSceneBuilder_LastShape(&builder)->density = 600.0; // wood
	}
	limit(&builder, addHinge(&builder, "hinge", KN_WORLD_BODY, door, foot, axis, false), 0.0, DOOR_OPEN);

	// the handle lies along the door and drops on its limit
	knVec3 side = knV3(0.0, -1.0, 0.0);
	knVec3 pivot = knMulAdd(knMulAdd(knMulAdd(foot, 0.9 * DOOR_WIDTH, ahead), HANDLE_HEIGHT, axis),
							DOOR_HALF_THICKNESS + 0.03, side);
	knVec3 end = knMulAdd(pivot, -0.15, ahead);
	knBodyId handle = knSceneBuilder_Rod(&builder, "handle", pivot, end, 0.012, 0.4, KN_COLOR_STEEL);
	limit(&builder, addHinge(&builder, "latch", door, handle, pivot, knNeg(side), false), -HANDLE_DROP, 0.0);
	const knBodyId bodies[2] = { door, handle };
	for (int i = 0; i < 2 && builder.scene != NULL; ++i) {
		knBodyDef* def = knScene_EditBody(builder.scene, bodies[i]);
		def->angularVelocity = knScale(speed, axis);
		def->velocity = knCross(def->angularVelocity, knSub(def->frame.p, foot));
	}
	return knSceneBuilder_End(&builder);
}

static void observeDoor(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	(void)args;
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	double angle[7], latch[7];
	knWorld_JointCoordinates(world, knScene_FindJoint(scene, "hinge"), angle);
	knWorld_JointCoordinates(world, knScene_FindJoint(scene, "latch"), latch);
	knSceneChecks_Set(checks, "angle", angle[0]);
	knSceneChecks_Set(checks, "handle", latch[0]);
	knSceneChecks_Max(checks, "widest", angle[0]);
	double beyond = knMax(knMax(-angle[0], angle[0] - DOOR_OPEN), knMax(latch[0], -HANDLE_DROP - latch[0]));
	knSceneChecks_Max(checks, "beyond", knMax(0.0, beyond));
	// from its start at the lower limit: where it reaches the upper one
	if (angle[0] > DOOR_OPEN - 1e-3) {
		knSceneChecks_Once(checks, "stop_time", knWorld_Time(world));
	}
}

const knSceneEntry knDoorEntry = {
	.name = "door",
	.bodies = 2,
	.joints = 2,
	.summary = "a door swings open to the limit of its hinge and falls shut; its handle hangs on a limit",
	.source = "slides on articulated bodies: joint limits",
	.steppers = "reduced velocity impulse",
	.dt = 0.01,
	.time = 5.0,
	.view = { -70, 14, 1 },
	.params = {
		{ .name = "speed", .value = 3, .lower = -100, .upper = 100, .help = "of opening at the start, rad/s" },
		{ .name = "tilt", .value = 4, .lower = 0, .upper = 10, .help = "of its hinge, degrees; it falls shut" },
	},
	.build = buildDoor,
	.observe = observeDoor,
};

// --- gripper -----------------------------------------------------------------------------------------------------

#define BAR 0.1
#define BAR_RADIUS 0.006
#define PALM_HEIGHT 0.5
#define BOX_HALF 0.03
#define BOX_MASS 0.5
#define PAD_HALF_DEPTH 0.025 // along x
#define PAD_HALF_WIDTH 0.02
#define FIRST_BAR 0.04 // |x| of the inner bar, the outer one 0.03 m beyond
#define BAR_GAP 0.03

// A parallelogram that hangs from the palm; side is 1 or -1. Positive turns about y move pads towards -x.
static void addFinger(knSceneBuilder* builder, double side, double squeeze) {
	const char* which = side > 0.0 ? "right" : "left";
	knVec3 axis = knV3(0.0, 1.0, 0.0), down = knV3(0.0, 0.0, -BAR);
	char name[32];
	double low = PALM_HEIGHT - BAR;
	knVec3 tops[2] = { knV3(side * FIRST_BAR, 0.0, PALM_HEIGHT),
					   knV3(side * (FIRST_BAR + BAR_GAP), 0.0, PALM_HEIGHT) };
	knBodyId bars[2];
	for (int i = 0; i < 2; ++i) {
		snprintf(name, sizeof(name), "%s_%s", which, i == 0 ? "crank" : "rocker");
		bars[i] = knSceneBuilder_Rod(builder, name, tops[i], knAdd(tops[i], down), BAR_RADIUS, 0.05,
									 i == 0 ? KN_COLOR_RED : KN_COLOR_BLUE);
	}
	snprintf(name, sizeof(name), "%s_pad", which);
	knFrame place = knMakeFrame(knV3(side * (BOX_HALF + PAD_HALF_DEPTH), 0.0, low - BOX_HALF), knIdentityQ());
	knBodyId pad = knSceneBuilder_Box(builder, name, place, knV3(PAD_HALF_DEPTH, PAD_HALF_WIDTH, BOX_HALF),
									  KN_COLOR_STEEL);
	static const char* const names[4] = { "drive", "knuckle", "elbow", "root" };
	for (int i = 0; i < 4; ++i) {
		snprintf(name, sizeof(name), "%s_%s", which, names[i]);
		knBodyId parent = i == 0 ? KN_WORLD_BODY : i == 1 ? bars[0] : i == 2 ? pad : bars[1];
		knBodyId child = i == 0 ? bars[0] : i == 1 ? pad : i == 2 ? bars[1] : KN_WORLD_BODY;
		knVec3 anchor = i == 0   ? tops[0]
						: i == 1 ? knAdd(tops[0], down)
						: i == 2 ? knAdd(tops[1], down)
								 : tops[1];
		knJointId joint = addHinge(builder, name, parent, child, anchor, axis, i == 3);
		if (i == 0 && builder->scene != NULL) {
			knJointAxis* drive = &knScene_EditJoint(builder->scene, joint)->axis[0];
			drive->motorMode = KN_MOTOR_FORCE;
			drive->motorTarget = side * squeeze * BAR;
			drive->motorMaxForce = squeeze * BAR;
		}
	}
}

static knScene* buildGripper(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 10.0);
	knSceneBuilder_Fixture(&builder, "palm", knMakeFrame(knV3(0.0, 0.0, PALM_HEIGHT + 0.025), knIdentityQ()),
						   knV3(0.09, 0.03, 0.02));
	for (int i = 0; i < 2; ++i) {
		addFinger(&builder, i == 0 ? 1.0 : -1.0, knSceneArgs_Get(args, "squeeze"));
	}
	knFrame place = knMakeFrame(knV3(0.0, 0.0, PALM_HEIGHT - BAR - BOX_HALF), knIdentityQ());
	knSceneBuilder_Box(&builder, "box", place, knV3(BOX_HALF, BOX_HALF, BOX_HALF), KN_COLOR_SAND);
	if (builder.scene != NULL) {
		knSceneBuilder_LastShape(&builder)->density =
			knSceneArgs_Get(args, "mass") / (8.0 * BOX_HALF * BOX_HALF * BOX_HALF);
	}
	return knSceneBuilder_End(&builder);
}

static void observeGripper(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	const knScene* scene = knModel_Scene(knWorld_Model(world));
	knBodyId box = knScene_FindBody(scene, "box");
	int count = 0;
	const knContact* contacts = knWorld_Contacts(world, &count);
	double press = 0.0;
	for (int i = 0; i < count; ++i) {
		if (KN_ID_EQUALS(contacts[i].bodyA, box) || KN_ID_EQUALS(contacts[i].bodyB, box)) {
			press += 0.5 * fabs(contacts[i].impulse.x) / knScene_GetDef(scene)->dt;
		}
	}
	knSceneChecks_Set(checks, "slid",
					  knScene_GetBody(scene, box)->frame.p.z - knWorld_BodyFrame(world, box).p.z);
	knSceneChecks_Set(checks, "press", press);
	knRest_Observe(world, args, checks);
}

const knSceneEntry knGripperEntry = {
	.name = "gripper",
	.bodies = 7,
	.joints = 8,
	.summary = "two fingers of closed loops hold a box by friction",
	.source = "slides on articulated bodies: closed loops",
	.steppers = "reduced velocity impulse",
	.dt = 0.01,
	.time = 5.0,
	.view = { -75, 10, 1 },
	.params = {
		{ .name = "squeeze", .value = 10, .lower = 0, .upper = 1e6, .help = "force of each pad, N" },
		{ .name = "mass", .value = BOX_MASS, .lower = 1e-6, .upper = 1e6, .help = "of the box, kg" },
	},
	.build = buildGripper,
	.observe = observeGripper,
};
