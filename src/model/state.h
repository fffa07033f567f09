// The state of a world: one flat, relocatable block. Copying the block *is* the snapshot.
//
// The block begins with knStateHeader; sections follow at offsets that depend only on the model's counts and
// on the capacity of the stepper's part. knState is a view: typed pointers into the block, made anew whenever
// it moves. Everything that later results depend on is in here; everything else in a world can be rebuilt.
#pragma once

#include "model/model.h"

// What a run may hold of energy and how far it may go before it counts as diverged (world/divergence.c, which writes it).
typedef struct knDivergenceWatch {
	uint64_t started; // 0: the next step starts it
	double last;      // J, kinetic and gravity, after the last step
	double budget;    // J, the first of them and all that drives, users and scripts brought in since
	double scale;     // J, what may come and go in this scene
	double size;      // m, of the scene as it was at the start
	knVec3 center;    // m, its middle
} knDivergenceWatch;

typedef struct knStateHeader {
	uint64_t magic;
	uint64_t fingerprint;   // of the model
	uint64_t stepper;       // hash of the stepper's name
	uint64_t size;          // of the whole block in bytes
	uint64_t touchCapacity; // pairs of shapes, after the fixed sections
	uint64_t touchCount;
	uint64_t privateCapacity; // bytes of the stepper's part, at the end of the block
	uint64_t privateSize;     // bytes of it in use
	uint64_t step;
	double time;
	knVec3 gravity;
	int32_t attachedCount; // joint slots in use at run time, up to the model's jointCapacity
	int32_t edits;         // counts what users changed of dynamic bodies and joints; world writes
	int32_t pushedCount;   // bodies with forces for the next step
	int32_t reserved;
	knDivergenceWatch watch;
} knStateHeader;

// What a user may change of a joint at run time, and what was last measured of it.
typedef struct knJointState {
	uint8_t enabled;
	uint8_t inUse;       // attached slots: holds a joint
	uint16_t driven;     // bits of this step's drives: axis i has inertia (i), a row (6 + i); bit 12: pushed
	uint32_t generation; // attached slots: of the present owner
	knMotorMode motorMode[6];
	double motorTarget[6];
	double motorMaxForce[6];
	knTwist reaction; // on the child at its joint origin, world axes, mean of the last step; stepper writes
} knJointState;

typedef struct knAxisDrive knAxisDrive; // control.h

typedef struct knState {
	void* block;
	knStateHeader* header;

	// bodies [bodyCount]; written by knState_Reset, the stepper, and knWorld_Set*
	knFrame* pose;         // centre of mass
	knTwist* velocity;     // of the centre of mass, world axes
	knTwist* force;        // (torque, force) gathered for the next step; cleared after it. knState_AddForce
	uint8_t* pushed;       // 1: it is in the list of those that forces act on
	int32_t* pushedBodies; // [header->pushedCount] of [bodyCount]

	// shapes [shapeCount]
	uint8_t* shapeEnabled;

	// joints [jointCount + jointCapacity]
	knJointState* joint;
	knJoint* attached; // [jointCapacity] joints made at run time; slot k has index jointCount + k
	double* q;         // [qCount] coordinates; turns are counted here
	double* v;         // [vCount]

	// actuators [actuatorCount]
	double* control;    // as set
	double* activation; // u of those that have one
	// [driveCapacity] what actuators, tendons and couplings ask of joint axes; written by knControl_Apply for each step
	knAxisDrive* drive;

	// growing parts
	knFramePair*
		touching; // [touchCapacity] pairs of shapes that touched after the last step, sorted; world writes
	void* stepperPart; // [privateCapacity] warm starts, sleep timers, active region: the stepper's own
} knState;

// A block for the model in its initial state. False when out of memory.
bool knState_Create(knState* state, const knModel* model, const char* stepper, size_t privateCapacity,
					const knAllocator* allocator);
void knState_Destroy(knState* state, const knAllocator* allocator);
// Copies the block (memory, clone). `to` is created.
bool knState_Copy(knState* to, const knState* from, const knModel* model, const knAllocator* allocator);
// Copies into an existing state, without allocating when the sizes agree. False (nothing changed) when out of
// memory.
bool knState_Assign(knState* to, const knState* from, const knModel* model, const knTasks* tasks,
					const knAllocator* allocator);
// Makes the growing parts at least this large (at least doubling what grows), keeping all content; the view
// is updated.
bool knState_Grow(knState* state, const knModel* model, size_t touchCapacity, size_t privateCapacity,
				  const knAllocator* allocator);
// Replaces the content by a saved block after checking it. `blockSize` may differ in the growing parts: the
// block is moved if need be. KN_BAD_DATA with a reason when it does not fit.
knStatus knState_Restore(knState* state, const knModel* model, const void* block, size_t size,
						 const knAllocator* allocator, knError* error);
// Carries the state over to an edited model: bodies, shapes and joints are matched by id slot.
bool knState_Migrate(knState* to, const knModel* toModel, const knState* from, const knModel* fromModel,
					 const knAllocator* allocator);

// Forces on a body for the next step; after it those that there were are forgotten.
void knState_AddForce(knState* state, int body, knTwist wrench);
void knState_ClearForces(knState* state);

// Joint by dense index: authored, then attached. NULL if an attached slot is empty.
const knJoint* knState_Joint(const knState* state, const knModel* model, int index);
int knState_JointCount(const knModel* model); // authored + capacity: the range of indices
bool knState_JointActive(const knState* state, const knModel* model, int index); // exists and is enabled
// Writes q and v of every joint from the poses (counting turns from the present q).
void knState_UpdateCoordinates(knState* state, const knModel* model);
// The same for one joint, counting anew from its limits (a joint just attached).
void knState_InitialCoordinates(knState* state, const knModel* model, int index);
uint64_t knState_Hash(const knState* state, const knModel* model);
bool knState_IsFinite(const knState* state, const knModel* model);
