// The world: a model plus one flat, relocatable state block. knWorld_Step advances it; between steps a user reads
// poses, events and reactions, pushes bodies, drives motors, attaches and releases joints, adds and removes bodies.
//
// Threads: calls that take a const world may run at once on one world; any other call needs the world to itself.
// Different worlds are independent, also when they share a model.
#pragma once

#include "knuckle/id.h"
#include "knuckle/scene.h"
#include "knuckle/stepper.h"
#include "knuckle/vecmath.h"

KN_BEGIN_C

typedef struct knWorld knWorld;

// Called at the start of every step, after the accumulated forces: add forces with knWorld_AddForce and friends.
typedef void knForceFn(knWorld* world, double dt, void* context);

typedef struct knWorldDef {
	const char* stepper;          // NULL: the scene's
	const knSettings* settings;   // NULL: the scene's
	const knAllocator* allocator; // NULL: default
	knTasks tasks;                // zeroed: one thread
	knLog log;
	knClockFn* clock; // NULL: no timings
	void* clockContext;
	knForceFn* forceFn; // NULL: none
	void* forceContext;
	knConvergenceFn* convergenceFn; // NULL: none
	void* convergenceContext;
} knWorldDef;

KN_API knWorldDef knWorldDef_Default(void);

// Retains the model. Runs the first broad phase, so that a scene beyond KN_PAIR_LIMIT is refused here (KN_LIMIT).
KN_API knWorld* knWorld_Create(const knModel* model, const knWorldDef* def, knError* error);
KN_API void knWorld_Destroy(knWorld* world);
// Same model, same state, own caches: goes on exactly as the original would.
KN_API knWorld* knWorld_Clone(const knWorld* world, knError* error);

// Advances by dt > 0. On any status but KN_OK the state is as before the step.
KN_API knStatus knWorld_Step(knWorld* world, double dt, knError* error);
KN_API const knStepReport* knWorld_Report(const knWorld* world);

// --- reading ---------------------------------------------------------------------------------------------

KN_API double knWorld_Time(const knWorld* world);
KN_API uint64_t knWorld_StepCount(const knWorld* world);
KN_API const knModel* knWorld_Model(const knWorld* world);
KN_API const char* knWorld_StepperName(const knWorld* world);
KN_API const knSettings* knWorld_Settings(const knWorld* world);
KN_API bool knWorld_HasBody(const knWorld* world, knBodyId body);
KN_API bool knWorld_HasJoint(const knWorld* world, knJointId joint);
KN_API knFrame knWorld_BodyFrame(const knWorld* world, knBodyId body);   // the body frame
KN_API knVec3 knWorld_BodyCenter(const knWorld* world, knBodyId body);   // the centre of mass
KN_API knVec3 knWorld_BodyVelocity(const knWorld* world, knBodyId body); // of the centre of mass
KN_API knVec3 knWorld_BodyAngularVelocity(const knWorld* world, knBodyId body);
// Whether the body moves by itself; false: it is fixed, or frozen to the body that it hangs on (adaptive).
KN_API bool knWorld_BodyActive(const knWorld* world, knBodyId body);
KN_API knVec3 knWorld_PointVelocity(const knWorld* world, knBodyId body, knVec3 point);
// Poses that a stepper left stale are brought up to date; recorders, measures and the hash do it themselves.
KN_API void knWorld_SyncPoses(knWorld* world);

// Joint coordinates (up to 7) and velocities (up to 6); return how many. Hinge angles count turns.
KN_API int knWorld_JointCoordinates(const knWorld* world, knJointId joint, double q[7]);
KN_API int knWorld_JointVelocities(const knWorld* world, knJointId joint, double v[6]);
// The child's joint frame seen from the parent's.
KN_API knFrame knWorld_JointFrame(const knWorld* world, knJointId joint);
// Mean force and moment of the last step, on the child, at the child's joint origin, world axes.
KN_API knTwist knWorld_JointReaction(const knWorld* world, knJointId joint);
KN_API bool knWorld_JointEnabled(const knWorld* world, knJointId joint);
// Null bodies for the world, and for a joint that there is not.
KN_API void knWorld_JointBodies(const knWorld* world, knJointId joint, knBodyId* parent, knBodyId* child);
// The joints made by knWorld_Attach that are there now: slots 0 <= slot < count, some of them empty (null id).
KN_API int knWorld_AttachedSlots(const knWorld* world);
KN_API knJointId knWorld_AttachedAt(const knWorld* world, int slot);

// --- contacts and events ---------------------------------------------------------------------------------

typedef struct knContact {
	knShapeId shapeA, shapeB;
	knBodyId bodyA, bodyB;
	knContactPoint point; // as detected at the start of the step
	knVec3 impulse;       // N s, on B (minus on A), world axes, during the last step
} knContact;

// Contacts of the last step; the array is valid until the next call that changes the world.
KN_API const knContact* knWorld_Contacts(const knWorld* world, int* count);

typedef struct knTouchEvent {
	knShapeId shapeA, shapeB;
	bool sensor; // one of the two is a sensor
} knTouchEvent;

// Pairs of shapes that began and ended touching (no gap, or carrying an impulse) in the last step.
KN_API const knTouchEvent* knWorld_BeginEvents(const knWorld* world, int* count);
KN_API const knTouchEvent* knWorld_EndEvents(const knWorld* world, int* count);

typedef struct knJointEvent {
	knJointId joint;
	double force; // N, the reaction that exceeded knJointDef.maxForce
} knJointEvent;

// Joints that were released by their maxForce in the last step.
KN_API const knJointEvent* knWorld_JointEvents(const knWorld* world, int* count);

// --- pushing and driving ---------------------------------------------------------------------------------

// Forces act during the next step only.
KN_API knStatus knWorld_AddForce(knWorld* world, knBodyId body, knVec3 force);
KN_API knStatus knWorld_AddForceAt(knWorld* world, knBodyId body, knVec3 force, knVec3 point);
KN_API knStatus knWorld_AddTorque(knWorld* world, knBodyId body, knVec3 torque);
// Impulses change the velocity at once.
KN_API knStatus knWorld_ApplyImpulse(knWorld* world, knBodyId body, knVec3 impulse, knVec3 point);
KN_API knStatus knWorld_ApplyAngularImpulse(knWorld* world, knBodyId body, knVec3 impulse);

KN_API knStatus knWorld_SetBodyFrame(knWorld* world, knBodyId body, knFrame frame);
KN_API knStatus knWorld_SetBodyVelocity(knWorld* world, knBodyId body, knVec3 velocity,
										knVec3 angularVelocity);
KN_API knStatus knWorld_SetGravity(knWorld* world, knVec3 gravity);
KN_API knVec3 knWorld_Gravity(const knWorld* world);
KN_API knStatus knWorld_SetShapeEnabled(knWorld* world, knShapeId shape, bool enabled);

KN_API knStatus knWorld_SetJointEnabled(knWorld* world, knJointId joint, bool enabled);
KN_API knStatus knWorld_SetMotor(knWorld* world, knJointId joint, int axis, knMotorMode mode, double target,
								 double maxForce);
// A joint made at run time, a loop joint until knWorld_Rebuild. Within the scene's jointCapacity no allocation.
KN_API knJointId knWorld_Attach(knWorld* world, const knJointDef* def, knError* error);
// Removes a joint made by knWorld_Attach; an authored joint is disabled.
KN_API knStatus knWorld_Release(knWorld* world, knJointId joint);

// --- editing the topology (a new model that shares what did not change; allocates) -------------------------

typedef struct knPart {
	const knGeom* geom;
	knShapeDef def;
} knPart;

// A new body with its shapes.
KN_API knBodyId knWorld_AddBody(knWorld* world, const knBodyDef* def, const knPart* parts, int partCount,
								knError* error);
KN_API knStatus knWorld_RemoveBody(knWorld* world, knBodyId body, knError* error);
// Makes attached joints authored ones (and so candidates for the spanning tree of reduced steppers).
KN_API knStatus knWorld_Rebuild(knWorld* world, knError* error);

// --- snapshots -------------------------------------------------------------------------------------------

// The state block is the snapshot. Restoring needs a world of the same model and stepper; what follows is equal
// bit by bit. The size may grow from step to step with the number of contacts.
KN_API size_t knWorld_StateSize(const knWorld* world);
KN_API knStatus knWorld_Save(const knWorld* world, void* memory, size_t size);
KN_API knStatus knWorld_Restore(knWorld* world, const void* memory, size_t size, knError* error);
// A hash of time, poses, velocities and joint coordinates.
KN_API uint64_t knWorld_Hash(knWorld* world);

// Contacts of one body placed at `at` (its body frame), everything else as it is; the array is valid until the next
// call that changes the world. Impulses are zero.
KN_API const knContact* knWorld_CollideBody(knWorld* world, knBodyId body, knFrame at, double margin,
											int* count);

KN_END_C
