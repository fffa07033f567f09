// Chains of rods for the adaptive stepper.
#pragma once

#include "world/fixture.h"

static inline knWorld* worldWith(knScene* scene, const char* stepper, int active, double threshold) {
	static knSettings settings;
	settings = knSettings_Default();
	settings.adaptive.active = active;
	settings.adaptive.threshold = threshold;
	knWorldDef def = knWorldDef_Default();
	def.stepper = stepper;
	def.settings = &settings;
	return newWorldWith(scene, &def);
}

// A chain of rods of 0.1 m and 0.1 kg along x on hinges, axes alternating.
typedef struct ChainDef {
	int count;
	knVec3 start, gravity;
	bool held, shapes, ground;
	bool balls, fixed;            // balls of 0.02 m instead of boxes; joints that do not move
	double speed;                 // m/s, along itself
	double damping;               // N m s
	double spin;                  // rad/s, of a free one, growing along it
	const knAllocator* allocator; // may be NULL
} ChainDef;

static inline knScene* chainScene(const ChainDef* def) {
	knError error = { 0 };
	knSceneDef scene = knSceneDef_Default();
	scene.gravity = def->gravity;
	knScene* made = knScene_Create(&scene, def->allocator, &error);
	assert_non_null(made);
	return made;
}

static inline knScene* newChain(const ChainDef* def, knBodyId* bodies) {
	knScene* scene = chainScene(def);
	knError error = { 0 };
	if (def->ground) {
		newGround(scene, material(0.5, 0.0));
	}
	knBodyId previous = KN_WORLD_BODY;
	for (int i = 0; i < def->count; ++i) {
		knVec3 joint = knAdd(def->start, knV3(0.1 * i, 0.0, 0.0));
		knFrame frame = knMakeFrame(knAdd(joint, knV3(0.05, 0.0, 0.0)), knIdentityQ());
		bodies[i] = newMass(scene, frame, 0.1, knV3(2e-5, 1e-4, 1e-4));
		if (def->spin > 0.0) {
			knBodyDef* body = knScene_EditBody(scene, bodies[i]);
			body->angularVelocity = knV3(0.0, def->spin * (1.0 - 0.1 * i), def->spin);
			body->velocity = knV3(0.0, 0.1 * i * def->spin, 0.02 * i * i);
		}
		knScene_EditBody(scene, bodies[i])->velocity.x += def->speed;
		if (def->shapes && def->balls) {
			knShapeDef shape = material(0.5, 0.0);
			assert_false(KN_ID_IS_NULL(knScene_AddSphere(scene, bodies[i], 0.02, &shape, &error)));
		} else if (def->shapes) {
			knShapeDef shape = material(0.5, 0.0);
			assert_false(
				KN_ID_IS_NULL(knScene_AddBox(scene, bodies[i], knV3(0.045, 0.02, 0.02), &shape, &error)));
		}
		if (i > 0 || def->held) {
			knVec3 axis = i % 2 == 0 ? knV3(0.0, 1.0, 0.0) : knV3(0.0, 0.0, 1.0);
			knJointKind kind = def->fixed ? KN_JOINT_FIXED : KN_JOINT_HINGE;
			knJointDef hinge = jointAt(scene, kind, previous, bodies[i], joint, axis);
			hinge.axis[0].damping = def->damping;
			newJoint(scene, &hinge);
		}
		previous = bodies[i];
	}
	return scene;
}
