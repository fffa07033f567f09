// The compiled model: dense arrays, index 0 is the world body. Immutable after knModel_Create.
//
// Slots (scene, ids) map to dense indices here: dense = slotToBody[id.index1 - 1] etc., -1 for a removed slot.
#pragma once

#include "core/alloc.h"
#include "model/joint.h"
#include "model/model_control.h"

typedef struct knModelShape {
	const knGeom* geom; // retained
	int body;
	knFrame local; // relative to the body's centre of mass, body axes
	double friction, restitution, rollingFriction;
	knFilter filter;
	bool sensor;
	bool looks;  // only drawn: its filter meets nothing, and it is never enabled
	bool hidden; // not drawn
} knModelShape;

struct knModel {
	knAllocator allocator;
	int references;       // atomic
	uint64_t fingerprint; // of everything below: which snapshots fit
	knScene* scene;       // own copy: names, colours, user data, and the source of edits

	// bodies [bodyCount], 0 is the world
	int bodyCount;
	knBodyKind* bodyKind;
	double* mass; // 0 unless dynamic
	double* invMass;
	knMat33* inertiaLocal; // about the centre of mass, body axes; zero unless dynamic
	knMat33* invInertiaLocal;
	knVec3* centerLocal; // centre of mass in the body frame
	double* gravityScale;
	double* linearDamping;
	double* angularDamping;
	double* radius;   // of a sphere about the centre of mass that holds all (bounded) shapes
	double* thinness; // half width of the thinnest shape; 0: no bounded shape
	bool* bodyFast;
	knFrame* initialPose; // of the centre of mass
	knTwist* initialVelocity;

	// shapes [shapeCount]
	int shapeCount;
	knModelShape* shapes;

	// joints [jointCount], then room for jointCapacity attached ones in the state
	int jointCount;
	int jointCapacity;
	knJoint* joints;
	bool* jointEnabled; // initially
	int qCount, vCount; // coordinates of authored joints and of the capacity (7 and 6 each)
	int dofCount;
	int kinematicCount;     // bodies
	int breakableCount;     // joints that may give way
	knModelControl control; // actuators, tendons, couplings

	// pairs of bodies that never touch: authored exclusions and jointed neighbours, a < b, sorted
	int excludedCount;
	knFramePair* excluded;

	knVec3 gravity;
	knCombine frictionCombine, restitutionCombine;

	// slots
	int bodySlots, shapeSlots, jointSlots;
	int* slotToBody;
	int* slotToShape;
	int* slotToJoint;
	int* bodyToSlot; // [bodyCount], -1 for the world
	int* shapeToSlot;
	int* jointToSlot;
};

// Dense index of an id, -1 if it is stale or unknown. The null body id is the world, index 0.
int knModel_BodyIndex(const knModel* model, knBodyId body);
int knModel_ShapeIndex(const knModel* model, knShapeId shape);
int knModel_JointIndex(const knModel* model, knJointId joint); // authored only
knBodyId knModel_BodyId(const knModel* model, int index);
knShapeId knModel_ShapeId(const knModel* model, int index);
knJointId knModel_JointId(const knModel* model, int index);
const char* knModel_BodyName(const knModel* model, int index);

// One value from two materials.
double knCombine_Apply(knCombine rule, double a, double b);

// Checks a joint def against the bodies it names and compiles it; offsets are left to the caller. Used for authored and
// attached joints alike. KN_BAD_DATA with a sentence when refused.
knStatus knModel_CompileJoint(const knModel* model, const knJointDef* def, knJoint* joint, knError* error);
// A collider over the model's shapes, one frame a body.
knCollider* knModel_CreateCollider(const knModel* model, const knAllocator* allocator, knError* error);
