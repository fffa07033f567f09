// The scene's inside: slots with generations. A removed slot goes to a free list inside the slots themselves
// (so that removing never needs memory) and is reused, newest first, with a higher generation.
#pragma once

#include "core/array.h"
#include "core/table.h"
#include "knuckle/control.h"
#include "knuckle/looks.h"
#include "knuckle/scene.h"

// Bodies, shapes, joints and attached joints that a scene holds at most, each.
#define KN_SCENE_MAX (1 << 24)

// def.name points to `name` unless a user edited it in place.
typedef struct knBodySlot {
	knBodyDef def;
	char* name; // owned
	uint32_t generation;
	int nextFree; // -1: end of the list
	bool used;
} knBodySlot;

typedef struct knShapeSlot {
	knShapeDef def;
	char* name;         // owned, may be NULL
	const knGeom* geom; // retained
	knBodyId body;
	uint32_t generation;
	int nextFree;
	bool used;
} knShapeSlot;

typedef struct knJointSlot {
	knJointDef def;
	char* name; // owned
	uint32_t generation;
	int nextFree;
	bool used;
} knJointSlot;

typedef struct knBodyPair {
	knBodyId a, b;
} knBodyPair;

struct knScene {
	knAllocator allocator;
	knSceneDef def;
	char* name; // owned copies of def.name and def.stepper
	char* stepper;
	KN_ARRAY(knBodySlot) bodies;
	KN_ARRAY(knShapeSlot) shapes;
	KN_ARRAY(knJointSlot) joints;
	KN_ARRAY(knBodyPair) excluded;
	// names and parts are owned (scene_control.c)
	KN_ARRAY(knTendonDef) tendons;
	KN_ARRAY(knCouplingDef) couplings;
	KN_ARRAY(knActuatorDef) actuators;
	KN_ARRAY(knProbeDef) probes;
	// names and pictures are owned (scene_looks.c)
	KN_ARRAY(knTextureDef) textures;
	KN_ARRAY(knMaterialDef) materials;
	KN_ARRAY(knLightDef) lights;
	int freeBody, freeShape, freeJoint; // heads of the free lists, -1: empty
	knNameTable bodyNames, jointNames;  // name -> slot
	knNameTable controlNames;           // "a/NAME": actuators, "c/": couplings, "p/": probes, "t/": tendons
};

// Slot of an id, -1 if it is null, stale or unknown.
int knScene_BodySlot(const knScene* scene, knBodyId body);
int knScene_ShapeSlot(const knScene* scene, knShapeId shape);
int knScene_JointSlot(const knScene* scene, knJointId joint);

// --- checks (scene_check.c): KN_OK or a refusal with a sentence; quaternions that are nearly unit become
// unit ---

knStatus knSceneCheck_Def(const knSceneDef* def, knError* error);
knStatus knSceneCheck_Body(knBodyDef* def, const char* name, knError* error);
knStatus knSceneCheck_Shape(const knScene* scene, knBodyId body, const knGeom* geom, knShapeDef* def,
							int slot, knError* error);
knStatus knSceneCheck_Joint(const knScene* scene, knJointDef* def, const char* name, knError* error);
// Mass, inertia (definite, triangle inequality) of a dynamic body.
knStatus knSceneCheck_Mass(const knMassProps* mass, const char* element, knError* error);
// All of it again: defs may have been edited in place.
knStatus knSceneCheck_All(knScene* scene, knError* error);

// --- scene_control.c ---

void knSceneControl_Free(knScene* scene);
// Copies tendons, couplings, actuators and probes; false when out of memory.
bool knSceneControl_Clone(knScene* to, const knScene* from);
// Removes what refers to bodies or joints that are gone.
void knSceneControl_Drop(knScene* scene);
knStatus knSceneCheck_Control(const knScene* scene, knError* error);

// --- scene_looks.c ---

void knSceneLooks_Free(knScene* scene);
// Copies textures, materials and lights; false when out of memory.
bool knSceneLooks_Clone(knScene* to, const knScene* from);
// Removes lights of bodies that are gone.
void knSceneLooks_Drop(knScene* scene);

#define KN_ELEMENT_SIZE 96
// "body 'crank'" in `text`, which has room for KN_ELEMENT_SIZE; returns it.
const char* knScene_Element(const char* kind, const char* name, char* text);
