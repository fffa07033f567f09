// Scenes and worlds for tests, in few words; every failure ends the test with its sentence.
#pragma once

#include "support/kn_test.h"

#include "knuckle/knuckle.h"

static inline void failWith(const knError* error) {
	char text[800];
	fail_msg("%s", knError_Format(error, text, sizeof(text)));
}

static inline knScene* newScene(knVec3 gravity) {
	knError error = { 0 };
	knSceneDef def = knSceneDef_Default();
	def.gravity = gravity;
	knScene* scene = knScene_Create(&def, NULL, &error);
	if (scene == NULL) {
		failWith(&error);
	}
	return scene;
}

static inline knBodyId newBody(knScene* scene, const knBodyDef* def) {
	knError error = { 0 };
	knBodyId body = knScene_AddBody(scene, def, &error);
	if (KN_ID_IS_NULL(body)) {
		failWith(&error);
	}
	return body;
}

// A body without shapes, of given mass and principal inertia.
static inline knBodyId newMass(knScene* scene, knFrame frame, double mass, knVec3 inertia) {
	knBodyDef def = knBodyDef_Default();
	def.frame = frame;
	def.hasMass = true;
	def.mass = (knMassProps){ .mass = mass, .inertia = knDiagonal33(inertia.x, inertia.y, inertia.z) };
	return newBody(scene, &def);
}

static inline knShapeDef material(double friction, double restitution) {
	knShapeDef def = knShapeDef_Default();
	def.friction = friction;
	def.restitution = restitution;
	return def;
}

static inline knBodyId newBox(knScene* scene, knVec3 at, knVec3 half, knShapeDef shape) {
	knError error = { 0 };
	knBodyDef def = knBodyDef_Default();
	def.frame.p = at;
	knBodyId body = newBody(scene, &def);
	if (KN_ID_IS_NULL(knScene_AddBox(scene, body, half, &shape, &error))) {
		failWith(&error);
	}
	return body;
}

static inline knBodyId newBall(knScene* scene, knVec3 at, double radius, knVec3 velocity, knShapeDef shape) {
	knError error = { 0 };
	knBodyDef def = knBodyDef_Default();
	def.frame.p = at;
	def.velocity = velocity;
	knBodyId body = newBody(scene, &def);
	if (KN_ID_IS_NULL(knScene_AddSphere(scene, body, radius, &shape, &error))) {
		failWith(&error);
	}
	return body;
}

// The plane z = 0, part of the world.
static inline knShapeId newGround(knScene* scene, knShapeDef shape) {
	knError error = { 0 };
	knShapeId ground = knScene_AddPlane(scene, KN_WORLD_BODY, &shape, &error);
	if (KN_ID_IS_NULL(ground)) {
		failWith(&error);
	}
	return ground;
}

static inline knJointId newJoint(knScene* scene, const knJointDef* def) {
	knError error = { 0 };
	knJointId joint = knScene_AddJoint(scene, def, &error);
	if (KN_ID_IS_NULL(joint)) {
		failWith(&error);
	}
	return joint;
}

// A joint def that is closed at the bodies' present poses.
static inline knJointDef jointAt(knScene* scene, knJointKind kind, knBodyId parent, knBodyId child,
								 knVec3 anchor, knVec3 axis) {
	knError error = { 0 };
	knJointDef def = knJointDef_Default(kind);
	if (knJointDef_At(&def, scene, parent, child, anchor, axis, &error) != KN_OK) {
		failWith(&error);
	}
	return def;
}

// Compiles the scene, which is then gone, and makes a world of it.
static inline knWorld* newWorldWith(knScene* scene, const knWorldDef* def) {
	knError error = { 0 };
	knModel* model = knModel_Create(scene, &error);
	if (model == NULL) {
		failWith(&error);
	}
	knWorld* world = knWorld_Create(model, def, &error);
	if (world == NULL) {
		failWith(&error);
	}
	knModel_Release(model);
	knScene_Destroy(scene);
	return world;
}

static inline knWorld* newWorld(knScene* scene) {
	return newWorldWith(scene, NULL);
}

static inline void run(knWorld* world, int steps, double dt) {
	knError error = { 0 };
	for (int i = 0; i < steps; ++i) {
		if (knWorld_Step(world, dt, &error) != KN_OK) {
			failWith(&error);
		}
	}
}

static const knVec3 noGravity = { 0.0, 0.0, 0.0 };
static const knVec3 earth = { 0.0, 0.0, -9.81 };
