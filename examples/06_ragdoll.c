// A ragdoll is thrown through a wall of bricks: ball joints with limits, knees and elbows that bend one way only, and
// measures that tell whether anything came apart.
#include <stdio.h>
#include <knuckle/knuckle.h>
#include <knuckle/measure.h>

#define THROWN 14.0 // m/s

typedef struct Doll {
	knScene* scene;
	knVec3 at; // of the pelvis
	knError* error;
} Doll;

static knBodyId addLimb(const Doll* doll, knVec3 from, knVec3 to, double radius) {
	knVec3 along = knSub(to, from);
	knBodyDef def = knBodyDef_Default();
	def.frame.p = knAdd(doll->at, knScale(0.5, knAdd(from, to)));
	// a capsule lies along its z axis: the turn that takes z to the limb's direction
	def.frame.q = knQuat_Between(knV3(0.0, 0.0, 1.0), knNormalize(along));
	def.velocity = knV3(THROWN, 0.0, 2.0);
	knBodyId limb = knScene_AddBody(doll->scene, &def, doll->error);
	knShapeDef flesh = knShapeDef_Default();
	knScene_AddCapsule(doll->scene, limb, radius, 0.5 * knLength(along) - radius, &flesh, doll->error);
	return limb;
}

// A ball joint whose child may swing 60 degrees away from how it was built.
static void addBall(const Doll* doll, knBodyId parent, knBodyId child, knVec3 at, knVec3 along) {
	knJointDef joint = knJointDef_Default(KN_JOINT_BALL);
	knJointDef_At(&joint, doll->scene, parent, child, knAdd(doll->at, at), along, doll->error);
	joint.coneLimited = true;
	joint.coneY = joint.coneZ = KN_PI / 3.0;
	joint.twistLimited = true;
	joint.twistLower = -0.5;
	joint.twistUpper = 0.5;
	knScene_AddJoint(doll->scene, &joint, doll->error);
}

// A knee or an elbow: a hinge about y with a stop, and some friction.
static void addHinge(const Doll* doll, knBodyId parent, knBodyId child, knVec3 at, double lower,
					 double upper) {
	knJointDef joint = knJointDef_Default(KN_JOINT_HINGE);
	knJointDef_At(&joint, doll->scene, parent, child, knAdd(doll->at, at), knV3(0.0, 1.0, 0.0), doll->error);
	joint.axis[0].limited = true;
	joint.axis[0].lower = lower;
	joint.axis[0].upper = upper;
	joint.axis[0].friction = 1.0; // N m
	knScene_AddJoint(doll->scene, &joint, doll->error);
}

static knBodyId addDoll(knScene* scene, knError* error) {
	Doll doll = { scene, knV3(-6.0, 0.0, 1.6), error };
	knBodyId trunk = addLimb(&doll, knV3(0.0, 0.0, -0.1), knV3(0.0, 0.0, 0.55), 0.14);
	knBodyId head = addLimb(&doll, knV3(0.0, 0.0, 0.6), knV3(0.0, 0.0, 0.86), 0.1);
	addBall(&doll, trunk, head, knV3(0.0, 0.0, 0.58), knV3(0.0, 0.0, 1.0));
	for (int side = -1; side <= 1; side += 2) {
		double leg = 0.11 * side, arm = 0.22 * side;
		knBodyId thigh = addLimb(&doll, knV3(0.0, leg, -0.15), knV3(0.0, leg, -0.55), 0.07);
		knBodyId shin = addLimb(&doll, knV3(0.0, leg, -0.57), knV3(0.0, leg, -0.97), 0.055);
		knBodyId upper = addLimb(&doll, knV3(0.0, arm, 0.45), knV3(0.0, arm, 0.15), 0.05);
		knBodyId fore = addLimb(&doll, knV3(0.0, arm, 0.13), knV3(0.0, arm, -0.15), 0.042);
		addBall(&doll, trunk, thigh, knV3(0.0, leg, -0.13), knV3(0.0, 0.0, -1.0));
		addHinge(&doll, thigh, shin, knV3(0.0, leg, -0.56), 0.0, 2.4);
		addBall(&doll, trunk, upper, knV3(0.0, arm, 0.46), knV3(0.0, 0.0, -1.0));
		addHinge(&doll, upper, fore, knV3(0.0, arm, 0.14), -2.4, 0.0);
	}
	return trunk;
}

// Running bond, eight courses of light bricks.
static void addWall(knScene* scene, knError* error) {
	knShapeDef clay = knShapeDef_Default();
	clay.density = 400.0;
	for (int course = 0; course < 8; ++course) {
		for (int i = 0; i < 6; ++i) {
			knBodyDef def = knBodyDef_Default();
			def.frame.p = knV3(0.0, (i - 2.5 + 0.5 * (course % 2)) * 0.502, 0.125 + 0.25 * course);
			knBodyId brick = knScene_AddBody(scene, &def, error);
			knScene_AddBox(scene, brick, knV3(0.1, 0.25, 0.125), &clay, error);
		}
	}
}

int main(void) {
	knError error = { 0 };
	knSceneDef sceneDef = knSceneDef_Default();
	knScene* scene = knScene_Create(&sceneDef, NULL, &error);
	knShapeDef ground = knShapeDef_Default();
	knScene_AddPlane(scene, KN_WORLD_BODY, &ground, &error);
	addWall(scene, &error);
	knBodyId trunk = addDoll(scene, &error);
	knModel* model = knModel_Create(scene, &error);
	knWorldDef worldDef = knWorldDef_Default();
	worldDef.stepper = "impulse"; // closes joints before bodies move, whatever strikes them
	knWorld* world = model != NULL ? knWorld_Create(model, &worldDef, &error) : NULL;
	double worst = 0.0, x = 0.0;
	for (int i = 1; i <= 150 && error.status == KN_OK && world != NULL; ++i) {
		knWorld_Step(world, 0.01, &error);
		knMeasures now = knWorld_Measure(world);
		worst = knMax(worst, now.jointError);
		x = knWorld_BodyCenter(world, trunk).x;
		if (i % 30 == 0) {
			printf("t = %.1f  trunk at x = %.1f m, kinetic energy %.0f J\n", i * 0.01, x, now.kinetic);
		}
	}
	printf("no joint opened by more than %s\n", worst < 1e-3 ? "a millimetre" : "it should");
	if (error.status != KN_OK) {
		printf("%s: %s\n", error.element, error.message);
	}
	knWorld_Destroy(world);
	knModel_Release(model);
	knScene_Destroy(scene);
	return error.status != KN_OK || worst > 1e-3 || x < 0.5;
}
