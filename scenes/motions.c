// Small scenes whose motion is known on paper: what they lose, gain or miss is the time step's doing.
//
//   sticks   slender bodies, 1 m long, turned and spinning at random, fall one after the other
//   spring   1 kg on a slider with a spring; released 0.1 m from its rest. `amplitude`: what is left of it (from the energy,
//            as a share), `position`, m
//   disk     a thin disk that rolls round with its centre at rest (Euler's disk). `tilt`: of its plane, rad
//   gas      frictionless balls of restitution 1 in a closed box, without gravity
//   crank    a motor holds the speed of a crank that moves a block to and fro. `phase`: the crank's angle beyond speed x time,
//            rad
#include <stdio.h>

#include "scene_tools.h"

// --- sticks ------------------------------------------------------------------------------------------------------

#define STICK_LENGTH 1.0
#define STICK_PITCH                                                                                          \
	1.02 // m, the places of four sticks around the middle: whatever their turns, they start clear
#define STICK_DELAY 0.45 // m, by which each starts higher than the one before
#define STICK_SPIN 6.0   // rad/s, largest about each axis

typedef enum StickShape { STICK_BOX, STICK_CAPSULE, STICK_HULL, STICK_MESH } StickShape;

// The eight corners and twelve outward triangles of a box.
static knGeom* cornersOf(knVec3 half, bool mesh, knError* error) {
	static const knTriangle sides[12] = { { 0, 2, 1 }, { 1, 2, 3 }, { 4, 5, 6 }, { 5, 7, 6 },
										  { 0, 1, 4 }, { 1, 5, 4 }, { 2, 6, 3 }, { 3, 6, 7 },
										  { 0, 4, 2 }, { 2, 4, 6 }, { 1, 3, 5 }, { 3, 7, 5 } };
	knVec3 corners[8];
	for (int i = 0; i < 8; ++i) {
		corners[i] = knV3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
	}
	if (!mesh) {
		return knGeom_Hull(corners, 8, NULL, error);
	}
	knMeshDef def = knMeshDef_Default();
	def.vertices = corners;
	def.vertexCount = 8;
	def.triangles = sides;
	def.triangleCount = 12;
	return knGeom_Mesh(&def, NULL, error);
}

static knGeom* stickGeom(StickShape shape, double width, knError* error) {
	knVec3 half = knV3(0.5 * width, 0.5 * width, 0.5 * STICK_LENGTH);
	switch (shape) {
	case STICK_BOX:
		return knGeom_Box(half, NULL, error);
	case STICK_CAPSULE:
		return knGeom_Capsule(half.x, half.z - half.x, NULL, error);
	default:
		return cornersOf(half, shape == STICK_MESH, error);
	}
}

// Every turn is as likely as every other (a random point of the unit ball in four dimensions, brought to its surface).
static knQuat randomTurn(knSceneBuilder* builder) {
	for (;;) {
		double q[4], square = 0.0;
		for (int k = 0; k < 4; ++k) {
			q[k] = knSceneBuilder_Uniform(builder, -1.0, 1.0);
			square += q[k] * q[k];
		}
		if (square > 0.01 && square < 1.0) {
			return knNormalizeQ(knQ(q[0], q[1], q[2], q[3]));
		}
	}
}

static void addStick(knSceneBuilder* builder, const knGeom* geom, int index) {
	char name[32];
	snprintf(name, sizeof(name), "stick%d", index);
	knBodyDef def = knBodyDef_Default();
	def.name = name;
	def.frame.p = knV3(STICK_PITCH * (index % 2 - 0.5), STICK_PITCH * (index / 2 % 2 - 0.5),
					   STICK_LENGTH + STICK_DELAY * index);
	def.frame.q = randomTurn(builder);
	double spin[3];
	for (int k = 0; k < 3; ++k) {
		spin[k] = knSceneBuilder_Uniform(builder, -STICK_SPIN, STICK_SPIN);
	}
	def.angularVelocity = knV3(spin[0], spin[1], spin[2]);
	def.color = knSceneBuilder_Shade(builder, index % 2 == 0 ? KN_COLOR_SAND : KN_COLOR_CLAY);
	knSceneBuilder_Body(builder, &def, geom);
}

static knScene* buildSticks(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	double width = knSceneArgs_Get(args, "width");
	knGeom* geom = stickGeom((StickShape)knSceneArgs_Get(args, "shape"), width, error);
	knSceneBuilder_Require(&builder, geom != NULL);
	int count = (int)knSceneArgs_Get(args, "n");
	for (int i = 0; i < count && geom != NULL; ++i) {
		addStick(&builder, geom, i);
	}
	if (geom != NULL) {
		knGeom_Release(geom);
	}
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knSticksEntry = {
	.name = "sticks",
	.bodies = 8,
	.joints = 0,
	.summary = "slender sticks, turned and spinning at random, fall one after the other",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "n", .value = 8, .lower = 1, .upper = 10000, .integer = true, .help = "sticks", .small = 4 },
		{ .name = "width", .value = 0.02, .lower = 1e-3, .upper = 0.5, .help = "of their section, m" },
		{ .name = "shape", .value = 0, .lower = 0, .upper = 3, .integer = true, .choices = "box capsule hull mesh",
		  .help = "how they are made" },
	},
	.build = buildSticks,
	.observe = knRest_Observe,
};

// --- spring ------------------------------------------------------------------------------------------------------

#define SPRING_STRETCH 0.1
#define SPRING_MASS 1.0

static double springStiffness(const knSceneArgs* args) {
	double rate = knSceneArgs_Get(args, "rate");
	return SPRING_MASS * rate * rate;
}

static knScene* buildSpring(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knVec3 rest = knV3(0.0, 0.0, 1.0), along = knV3(1.0, 0.0, 0.0), half = knV3(0.05, 0.05, 0.05);
	knBodyId block =
		knSceneBuilder_Box(&builder, "block", knMakeFrame(rest, knIdentityQ()), half, KN_COLOR_RED);
	knJointDef slider = knJointDef_Default(KN_JOINT_SLIDER);
	slider.name = "spring";
	slider.axis[0].stiffness = springStiffness(args);
	slider.axis[0].damping =
		2.0 * knSceneArgs_Get(args, "damping") * SPRING_MASS * knSceneArgs_Get(args, "rate");
	knSceneBuilder_Joint(&builder, &slider, KN_WORLD_BODY, block, rest, along);
	if (builder.scene != NULL) {
		knSceneBuilder_LastShape(&builder)->density = SPRING_MASS / (8.0 * half.x * half.y * half.z);
		knScene_EditBody(builder.scene, block)->frame.p = knMulAdd(rest, SPRING_STRETCH, along);
	}
	return knSceneBuilder_End(&builder);
}

static void observeSpring(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	knBodyId block = knScript_Find(world, "block");
	double x = knWorld_BodyCenter(world, block).x, v = knWorld_BodyVelocity(world, block).x;
	double square = x * x + SPRING_MASS * v * v / springStiffness(args);
	knSceneChecks_Set(checks, "amplitude", sqrt(square) / SPRING_STRETCH);
	knSceneChecks_Set(checks, "position", x);
}

const knSceneEntry knSpringEntry = {
	.name = "spring",
	.bodies = 1,
	.joints = 1,
	.summary = "1 kg on a slider with a spring, released 0.1 m from its rest",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 10.0,
	.params = {
		{ .name = "rate", .value = 10, .lower = 1e-3, .upper = 1e6, .help = "of the undamped oscillation, rad/s" },
		{ .name = "damping", .value = 0, .lower = 0, .upper = 1e3, .help = "as a share of the critical one" },
	},
	.build = buildSpring,
	.observe = observeSpring,
};

// --- disk --------------------------------------------------------------------------------------------------------

#define DISK_RADIUS 0.1
#define DISK_HALF 0.001 // m, half its thickness

// Rolling steadily with the centre at rest: the disk turns about the line from its centre to the point where it touches,
// which goes round with the rate W. With n the disk's axis, e the upward direction in its plane, tilt t, radius R and half
// thickness a,
//   w = W sin t (e + n a/R),   W^2 sin t (I1 cos t - I3 (a/R) sin t) = m g (R cos t - a sin t)
static knVec3 diskSpin(double tilt, knVec3 n, knVec3 e) {
	double sine = knSin(tilt), cosine = knCos(tilt), share = DISK_HALF / DISK_RADIUS;
	double I1 = DISK_RADIUS * DISK_RADIUS / 4.0 + DISK_HALF * DISK_HALF / 3.0;
	double I3 = DISK_RADIUS * DISK_RADIUS / 2.0;
	double rate =
		sqrt(9.81 * (DISK_RADIUS * cosine - DISK_HALF * sine) / (sine * (I1 * cosine - I3 * share * sine)));
	return knScale(rate * sine, knMulAdd(e, share, n));
}

static knScene* buildDisk(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	knSceneBuilder_Ground(&builder, 50.0);
	double tilt = knSceneArgs_Get(args, "tilt");
	knBodyDef def = knBodyDef_Default();
	def.name = "disk";
	def.color = KN_COLOR_STEEL;
	def.frame.q = knQuat_FromAxisAngle(knV3(1.0, 0.0, 0.0), tilt);
	def.frame.p = knV3(0.0, 0.0, DISK_RADIUS * knSin(tilt) + DISK_HALF * knCos(tilt));
	knVec3 n = knRotate(def.frame.q, knV3(0.0, 0.0, 1.0)), e = knRotate(def.frame.q, knV3(0.0, 1.0, 0.0));
	def.angularVelocity = diskSpin(tilt, n, e);
	knGeom* geom = knGeom_Cylinder(DISK_RADIUS, DISK_HALF, NULL, error);
	knSceneBuilder_Require(&builder, geom != NULL);
	if (geom != NULL) {
		knSceneBuilder_Body(&builder, &def, geom);
		knGeom_Release(geom);
	}
	return knSceneBuilder_End(&builder);
}

static void observeDisk(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	(void)args;
	knFrame frame = knWorld_BodyFrame(world, knScript_Find(world, "disk"));
	knVec3 n = knRotate(frame.q, knV3(0.0, 0.0, 1.0));
	knSceneChecks_Set(checks, "tilt", knAtan2(sqrt(n.x * n.x + n.y * n.y), n.z));
}

const knSceneEntry knDiskEntry = {
	.name = "disk",
	.bodies = 1,
	.joints = 0,
	.summary = "a thin disk rolls round with its centre at rest",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.001,
	.time = 1.0,
	.params = {
		{ .name = "tilt", .value = 0.4, .lower = 0.01, .upper = 1.5, .help = "of its plane, rad" },
	},
	.build = buildDisk,
	.observe = observeDisk,
};

// --- gas ---------------------------------------------------------------------------------------------------------

#define GAS_RADIUS 0.1
#define GAS_PITCH 0.3
#define GAS_SPEED 1.0 // m/s, largest along each axis

static void addGasWall(knSceneBuilder* builder, knVec3 inward, double distance) {
	knShapeDef shape = knShapeDef_Default();
	shape.friction = 0.0;
	shape.restitution = 1.0;
	shape.frame.q = knQuat_Between(knV3(0.0, 0.0, 1.0), inward);
	shape.frame.p = knScale(-distance, inward);
	if (builder->scene != NULL) {
		knShapeId id = knScene_AddPlane(builder->scene, KN_WORLD_BODY, &shape, builder->error);
		knSceneBuilder_Require(builder, !KN_ID_IS_NULL(id));
	}
}

static void addGasBall(knSceneBuilder* builder, int index, int side) {
	char name[32];
	double middle = 0.5 * (side - 1), velocity[3];
	knVec3 at = knV3(GAS_PITCH * (index % side - middle), GAS_PITCH * (index / side % side - middle),
					 GAS_PITCH * (index / (side * side) - middle));
	snprintf(name, sizeof(name), "ball%d", index);
	knBodyId ball = knSceneBuilder_Ball(builder, name, at, GAS_RADIUS, 1000.0,
										knSceneBuilder_Shade(builder, KN_COLOR_TEAL));
	for (int k = 0; k < 3; ++k) {
		velocity[k] = knSceneBuilder_Uniform(builder, -GAS_SPEED, GAS_SPEED);
	}
	if (builder->scene != NULL) {
		knScene_EditBody(builder->scene, ball)->velocity = knV3(velocity[0], velocity[1], velocity[2]);
		knSceneBuilder_LastShape(builder)->friction = 0.0;
		knSceneBuilder_LastShape(builder)->restitution = 1.0;
	}
}

static knScene* buildGas(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	if (builder.scene != NULL) {
		knScene_Def(builder.scene)->gravity = knZero3();
	}
	int side = (int)knSceneArgs_Get(args, "side");
	for (int k = 0; k < 6; ++k) {
		double sign = k % 2 == 0 ? 1.0 : -1.0;
		knVec3 inward = knV3(k / 2 == 0 ? sign : 0.0, k / 2 == 1 ? sign : 0.0, k / 2 == 2 ? sign : 0.0);
		addGasWall(&builder, inward, 0.5 * GAS_PITCH * (side + 1));
	}
	for (int i = 0; i < side * side * side; ++i) {
		addGasBall(&builder, i, side);
	}
	return knSceneBuilder_End(&builder);
}

const knSceneEntry knGasEntry = {
	.name = "gas",
	.bodies = 27,
	.joints = 0,
	.summary = "frictionless balls of restitution 1 in a closed box, without gravity",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 20.0,
	.params = {
		{ .name = "side", .value = 3, .lower = 1, .upper = 50, .integer = true, .help = "balls along each side", .small = 2 },
	},
	.build = buildGas,
};

// --- crank -------------------------------------------------------------------------------------------------------

#define CRANK_ARM 0.3
#define CRANK_ROD 1.0
#define CRANK_TORQUE 1e4 // N m: the motor never lags

// Rods of 1 kg/m in the plane of x and z that pass through each other.
static knBodyId addCrankRod(knSceneBuilder* builder, const char* name, knVec3 from, knVec3 to,
							uint32_t color) {
	knBodyId rod = knSceneBuilder_Rod(builder, name, from, to, 0.03, knDistance(from, to), color);
	if (builder->scene != NULL) {
		knSceneBuilder_LastShape(builder)->filter.mask = 0;
	}
	return rod;
}

static void addCrankHinge(knSceneBuilder* builder, const char* name, knBodyId parent, knBodyId child,
						  knVec3 at, double motor) {
	knJointDef def = knJointDef_Default(KN_JOINT_HINGE);
	def.name = name;
	if (motor != 0.0) {
		def.axis[0].motorMode = KN_MOTOR_VELOCITY;
		def.axis[0].motorTarget = motor;
		def.axis[0].motorMaxForce = CRANK_TORQUE;
	}
	knSceneBuilder_Joint(builder, &def, parent, child, at, knV3(0.0, -1.0, 0.0));
}

// Starts stretched, at speed: the block rests in its dead centre, the rod turns about its end there.
static knScene* buildCrank(const knSceneArgs* args, knError* error) {
	knSceneBuilder builder = knSceneBuilder_Begin(args, error);
	double speed = knSceneArgs_Get(args, "speed");
	knVec3 hub = knV3(0.0, 0.0, 1.0), pin = knV3(CRANK_ARM, 0.0, 1.0),
		   end = knV3(CRANK_ARM + CRANK_ROD, 0.0, 1.0), half = knV3(0.1, 0.1, 0.1);
	knBodyId crank = addCrankRod(&builder, "crank", hub, pin, KN_COLOR_RED);
	knBodyId rod = addCrankRod(&builder, "rod", pin, end, KN_COLOR_SAND);
	knBodyId block =
		knSceneBuilder_Box(&builder, "block", knMakeFrame(end, knIdentityQ()), half, KN_COLOR_BLUE);
	addCrankHinge(&builder, "motor", KN_WORLD_BODY, crank, hub, speed);
	addCrankHinge(&builder, "pin", crank, rod, pin, 0.0);
	addCrankHinge(&builder, "end", rod, block, end, 0.0);
	knJointDef slider = knJointDef_Default(KN_JOINT_SLIDER);
	slider.name = "guide";
	slider.loop = true;
	knSceneBuilder_Joint(&builder, &slider, KN_WORLD_BODY, block, end, knV3(1.0, 0.0, 0.0));
	if (builder.scene != NULL) {
		knSceneBuilder_LastShape(&builder)->filter.mask = 0;
		knBodyDef* first = knScene_EditBody(builder.scene, crank);
		first->angularVelocity = knV3(0.0, -speed, 0.0);
		first->velocity = knV3(0.0, 0.0, 0.5 * speed * CRANK_ARM);
		knBodyDef* second = knScene_EditBody(builder.scene, rod);
		second->angularVelocity = knV3(0.0, speed * CRANK_ARM / CRANK_ROD, 0.0);
		second->velocity = knV3(0.0, 0.0, 0.5 * speed * CRANK_ARM);
	}
	return knSceneBuilder_End(&builder);
}

static void observeCrank(knWorld* world, const knSceneArgs* args, knSceneChecks* checks) {
	double q[7];
	knWorld_JointCoordinates(world, knModel_JointAt(knWorld_Model(world), 0), q);
	knSceneChecks_Set(checks, "phase", q[0] - knSceneArgs_Get(args, "speed") * knWorld_Time(world));
}

const knSceneEntry knCrankEntry = {
	.name = "crank",
	.bodies = 3,
	.joints = 4,
	.summary = "a motor turns a crank that moves a block to and fro",
	.source = "own",
	.steppers = "velocity impulse",
	.dt = 0.01,
	.time = 60.0,
	.params = {
		{ .name = "speed", .value = 6.283185307179586, .lower = -1e3, .upper = 1e3, .help = "of the crank, rad/s" },
	},
	.build = buildCrank,
	.observe = observeCrank,
};
