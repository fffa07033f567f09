// For the tests of measures: a scene compiled to a model and a state whose poses and velocities a test sets
// by hand.
#pragma once

#include "support/kn_test.h"

#include "measure/measures.h"

typedef struct knTestSystem {
	knAllocator allocator;
	knModel* model;
	knState state;
} knTestSystem;

static inline knScene* testScene(int jointCapacity) {
	knSceneDef def = knSceneDef_Default();
	def.name = "measured";
	def.jointCapacity = jointCapacity;
	knError error = { 0 };
	knScene* scene = knScene_Create(&def, NULL, &error);
	if (scene == NULL) {
		fail_msg("%s: %s", error.element, error.message);
	}
	return scene;
}

// A body without shapes: mass, centre and principal moments along its own axes.
static inline knBodyId testBody(knScene* scene, knBodyKind kind, double mass, knVec3 center, knVec3 moments) {
	knBodyDef def = knBodyDef_Default();
	def.kind = kind;
	def.hasMass = true;
	def.mass.mass = mass;
	def.mass.center = center;
	def.mass.inertia = knDiagonal33(moments.x, moments.y, moments.z);
	knError error = { 0 };
	knBodyId body = knScene_AddBody(scene, &def, &error);
	if (KN_ID_IS_NULL(body)) {
		fail_msg("%s: %s", error.element, error.message);
	}
	return body;
}

// Compiles and destroys the scene.
static inline knTestSystem testCompile(knScene* scene) {
	knTestSystem system = { .allocator = knAllocator_Default() };
	knError error = { 0 };
	system.model = knModel_Create(scene, &error);
	if (system.model == NULL) {
		fail_msg("%s: %s", error.element, error.message);
	}
	assert_true(knState_Create(&system.state, system.model, "velocity", 0, &system.allocator));
	knScene_Destroy(scene);
	return system;
}

static inline void testSystemFree(knTestSystem* system) {
	knState_Destroy(&system->state, &system->allocator);
	knModel_Release(system->model);
}

// Puts the body frame (not the centre) at `frame`.
static inline void testPlace(knTestSystem* system, knBodyId body, knFrame frame) {
	int b = knModel_BodyIndex(system->model, body);
	system->state.pose[b] = knMakeFrame(knPoint(frame, system->model->centerLocal[b]), frame.q);
}

static inline void testMove(knTestSystem* system, knBodyId body, knVec3 velocity, knVec3 angularVelocity) {
	system->state.velocity[knModel_BodyIndex(system->model, body)] = knMakeTwist(angularVelocity, velocity);
}

// What knWorld_Attach does to the state. Returns the joint's index.
static inline int testAttach(knTestSystem* system, int slot, const knJointDef* def) {
	const knModel* model = system->model;
	knJoint* joint = &system->state.attached[slot];
	assert_ok(knModel_CompileJoint(model, def, joint, NULL));
	joint->qOffset = model->qCount - KN_JOINT_MAX_Q * (model->jointCapacity - slot);
	joint->vOffset = model->vCount - KN_JOINT_MAX_V * (model->jointCapacity - slot);
	int index = model->jointCount + slot;
	system->state.joint[index].inUse = 1;
	system->state.joint[index].enabled = 1;
	system->state.header->attachedCount += 1;
	return index;
}
