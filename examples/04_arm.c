// An arm with two hinges and a suction cup lifts a box from the floor: servos, a contact that is noticed, a
// joint made and let go while running.
#include <stdio.h>
#include <knuckle/knuckle.h>

typedef struct Arm {
	knBodyId hand, box;
	knJointId shoulder, elbow, wrist;
} Arm;

static knBodyId addBox(knScene* scene, knVec3 center, knVec3 half, double density, knError* error) {
	knBodyDef def = knBodyDef_Default();
	def.frame.p = center;
	knShapeDef material = knShapeDef_Default();
	material.density = density;
	knBodyId body = knScene_AddBody(scene, &def, error);
	knScene_AddBox(scene, body, half, &material, error);
	return body;
}

// A servo about y: it reaches its target with at most so much torque.
static knJointId addServo(knScene* scene, knBodyId parent, knBodyId child, knVec3 at, double torque,
						  knError* error) {
	knJointDef joint = knJointDef_Default(KN_JOINT_HINGE);
	knJointDef_At(&joint, scene, parent, child, at, knV3(0.0, 1.0, 0.0), error);
	joint.axis[0].motorMode = KN_MOTOR_POSITION;
	joint.axis[0].motorMaxForce = torque;
	return knScene_AddJoint(scene, &joint, error);
}

// Upper arm and forearm of 1 m stretched along x at a height of 1 m; the box lies on the floor.
static Arm build(knScene* scene, knError* error) {
	knShapeDef ground = knShapeDef_Default();
	knScene_AddPlane(scene, KN_WORLD_BODY, &ground, error);
	Arm arm = { .box = addBox(scene, knV3(1.2, 0.0, 0.1), knV3(0.1, 0.1, 0.1), 300.0, error) };
	knBodyId upper = addBox(scene, knV3(0.5, 0.0, 1.0), knV3(0.5, 0.04, 0.04), 400.0, error);
	knBodyId fore = addBox(scene, knV3(1.5, 0.0, 1.0), knV3(0.5, 0.03, 0.03), 400.0, error);
	arm.hand = addBox(scene, knV3(2.05, 0.0, 1.0), knV3(0.05, 0.05, 0.05), 400.0, error);
	arm.shoulder = addServo(scene, KN_WORLD_BODY, upper, knV3(0.0, 0.0, 1.0), 500.0, error);
	arm.elbow = addServo(scene, upper, fore, knV3(1.0, 0.0, 1.0), 300.0, error);
	arm.wrist = addServo(scene, fore, arm.hand, knV3(2.0, 0.0, 1.0), 50.0, error);
	return arm;
}

// Angles are turned little by little: a servo that is told a far target would fling the arm.
static void turnTo(knWorld* world, const Arm* arm, const double from[3], const double to[3], double share) {
	const knJointId joints[3] = { arm->shoulder, arm->elbow, arm->wrist };
	const double most[3] = { 500.0, 300.0, 50.0 };
	for (int i = 0; i < 3; ++i) {
		double target = from[i] + share * (to[i] - from[i]);
		knWorld_SetMotor(world, joints[i], 0, KN_MOTOR_POSITION, target, most[i]);
	}
}

static bool touches(const knWorld* world, knBodyId a, knBodyId b) {
	int count;
	const knContact* contacts = knWorld_Contacts(world, &count);
	for (int i = 0; i < count; ++i) {
		bool these = (KN_ID_EQUALS(contacts[i].bodyA, a) && KN_ID_EQUALS(contacts[i].bodyB, b)) ||
					 (KN_ID_EQUALS(contacts[i].bodyA, b) && KN_ID_EQUALS(contacts[i].bodyB, a));
		if (these) {
			return true;
		}
	}
	return false;
}

// The cup holds whatever it touches as if they were one piece.
static knJointId suck(knWorld* world, const Arm* arm, knError* error) {
	knJointDef joint = knJointDef_Default(KN_JOINT_FIXED);
	knFrame hand = knWorld_BodyFrame(world, arm->hand), box = knWorld_BodyFrame(world, arm->box);
	joint.parent = arm->hand;
	joint.child = arm->box;
	joint.frameParent = knInvMulF(hand, box);
	return knWorld_Attach(world, &joint, error);
}

static double run(knWorld* world, const Arm* arm, knError* error) {
	// over the box, down to it, up with it (radians; positive angles turn downwards)
	const double poses[4][3] = {
		{ 0.0, 0.0, 0.0 }, { -0.55, 1.75, 0.37 }, { -0.18, 1.77, -0.02 }, { -1.1, 1.5, 1.17 }
	};
	knJointId held = { 0, 0 };
	for (int phase = 1; phase < 4; ++phase) {
		for (int i = 1; i <= 150 && error->status == KN_OK; ++i) {
			turnTo(world, arm, poses[phase - 1], poses[phase], i < 120 ? i / 120.0 : 1.0);
			knWorld_Step(world, 0.01, error);
			if (KN_ID_IS_NULL(held) && touches(world, arm->hand, arm->box)) {
				held = suck(world, arm, error);
				printf("t = %.2f  the cup holds the box\n", knWorld_Time(world));
			}
		}
		knVec3 box = knWorld_BodyCenter(world, arm->box), hand = knWorld_BodyCenter(world, arm->hand);
		printf("t = %.2f  hand (%.2f, %.2f)  box (%.2f, %.2f)\n", knWorld_Time(world), hand.x, hand.z, box.x,
			   box.z);
	}
	return knWorld_BodyCenter(world, arm->box).z;
}

int main(void) {
	knError error = { 0 };
	knSceneDef sceneDef = knSceneDef_Default();
	sceneDef.jointCapacity = 1; // the cup's
	knScene* scene = knScene_Create(&sceneDef, NULL, &error);
	Arm arm = build(scene, &error);
	knModel* model = knModel_Create(scene, &error);
	knWorldDef worldDef = knWorldDef_Default();
	knWorld* world = model != NULL ? knWorld_Create(model, &worldDef, &error) : NULL;
	double height = world != NULL ? run(world, &arm, &error) : 0.0;
	if (error.status != KN_OK) {
		printf("%s: %s\n", error.element, error.message);
	}
	knWorld_Destroy(world);
	knModel_Release(model);
	knScene_Destroy(scene);
	return error.status != KN_OK || height < 0.5;
}
