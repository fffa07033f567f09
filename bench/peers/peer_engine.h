// What another rigid-body engine must offer to step a scene of ours: one table of functions, found by name in a module that
// is loaded when asked for (engines/ode.c, engines/bullet.cpp). Modules know these types and nothing of worlds, models
// or steppers; the tool (peer_world.h) translates.
//
// Bodies have keys: 0 is the world, which holds fixed shapes and joint ends. All is in SI units and world axes; poses are those
// of centres of mass.
#pragma once

#include "knuckle/collide.h"

KN_BEGIN_C

#define KN_PEER_VERSION 1
#define KN_PEER_SYMBOL "knPeerEngineOps"

typedef struct knPeerShape {
	knGeomKind kind; // sphere, capsule, box; of bodies that do not move also plane
	knVec3 size;     // knGeom_Size
	knFrame frame;   // relative to the body's centre of mass
} knPeerShape;

typedef struct knPeerBody {
	bool fixed;
	double mass;
	knMat33 inertia; // about the centre of mass, body axes
	knFrame pose;
	knTwist velocity;
	double friction, restitution; // of all its shapes
	const knPeerShape* shapes;
	int shapeCount;
} knPeerBody;

typedef enum knPeerJointKind { KN_PEER_BALL, KN_PEER_HINGE, KN_PEER_FIXED } knPeerJointKind;

typedef struct knPeerJoint {
	knPeerJointKind kind;
	int a, b;      // keys, one of them may be the world
	knVec3 anchor; // where it holds the bodies at their present poses
	knVec3 axis;   // of a hinge
} knPeerJoint;

typedef struct knPeerSetup {
	bool best; // settings that hold piles best at a cost still bearable, instead of the engine's defaults
	knVec3 gravity;
	double (*friction)(double a, double b, void* context); // of a pair of bodies
	double (*restitution)(double a, double b, void* context);
	bool (*mayTouch)(int keyA, int keyB, void* context);
	void* context;
} knPeerSetup;

// A contact of the last step.
typedef struct knPeerContact {
	int a, b;
	knVec3 point, normal; // from a to b
	double separation;    // negative: they overlap
	knVec3 impulse;       // N s, on b
} knPeerContact;

typedef struct knPeerReport {
	int iterations;                // sweeps
	int queries;                   // of collisions
	const knPeerContact* contacts; // of all queries; the engine's, until the next step
	int contactCount;
} knPeerReport;

typedef struct knPeerEngine knPeerEngine; // a module's own

// Functions that add return false when out of memory.
typedef struct knPeerOps {
	int version;       // KN_PEER_VERSION
	const char* title; // of the engine, with its version
	knPeerEngine* (*create)(const knPeerSetup* setup);
	void (*destroy)(knPeerEngine* engine);
	bool (*addBody)(knPeerEngine* engine, int key, const knPeerBody* body); // keys come in order
	bool (*addJoint)(knPeerEngine* engine, const knPeerJoint* joint);
	void (*setGravity)(knPeerEngine* engine, knVec3 gravity);
	void (*setState)(knPeerEngine* engine, int key, knFrame pose, knTwist velocity);
	void (*getState)(const knPeerEngine* engine, int key, knFrame* pose, knTwist* velocity);
	void (*addForce)(knPeerEngine* engine, int key, knTwist wrench); // for the next step
	bool (*step)(knPeerEngine* engine, double dt, knPeerReport* report);
} knPeerOps;

// Each module defines it.
extern __attribute__((visibility("default"))) const knPeerOps knPeerEngineOps;

KN_END_C
