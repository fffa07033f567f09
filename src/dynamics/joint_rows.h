// Joints as rows: locked directions, limits, friction, springs and motors, for every kind of joint alike.
#pragma once

#include "core/arena.h"
#include "dynamics/islands.h"
#include "dynamics/row_input.h"

// What a joint's row carried, kept from step to step in the stepper's part of the state, in order of joints.
// Locked rows are remembered as the components of their common wrench in the parent joint frame's axes, so
// that a joint whose locked directions are found anew in every step (CUSTOM) starts warm as well.
typedef struct knJointMemory {
	int32_t joint;
	int16_t part;        // knJointPart
	uint16_t generation; // of an attached joint: a slot's next owner starts cold
	double impulse;
} knJointMemory;

// Which part of a joint a row is: a base plus an axis (or a component, or a limit).
typedef enum knJointPart {
	KN_PART_LOCKED = 0,
	KN_PART_LIMIT = 8,
	KN_PART_FRICTION = 32,
	KN_PART_SPRING = 40,
	KN_PART_MOTOR = 48,
	KN_PART_DRIVE = 56,
	KN_PART_SOLVED = 64, // a row of joints that are solved at once (joint_step.h)
} knJointPart;

typedef struct knJointRow {
	int joint;
	int part;
	knTwist row; // parent joint frame's axes, at the child's joint origin
} knJointRow;

// The joint rows of a step, in the arena: rows [0, count) of the solver are described by `rows`.
typedef struct knJointRows {
	knJointRow* rows;
	int count, capacity;
	int loadCapacity; // loads of friction that the solver's rows need
} knJointRows;

// Whether a joint is active and can move a body.
bool knJointRows_TakesPart(const knModel* model, const knState* state, int index);
// Clears all reactions and applies force motors, which are then part of the reactions.
void knJointRows_ApplyForces(const knModel* model, knStepBodies* blocks, knState* state);
// Where joints pull so hard that a body would swing about its joints faster than the step can follow, the pull's own
// stiffness is taken implicitly: the body's inverse inertia becomes smaller. `memory` tells the pulls of the last
// step, which took `lastStep` seconds. False: no memory.
bool knJointRows_Steady(const knModel* model, const knState* state, const knJointMemory* memory,
						int memoryCount, double lastStep, knStepBodies* blocks, knArena* arena);
// Room for the list; its capacities bound the number of rows and loads. False when the arena has no memory.
bool knJointRows_Reserve(knJointRows* list, const knModel* model, const knState* state, knArena* arena);
// Appends the rows of all active joints to `rows`, which must be empty and have room.
void knJointRows_Fill(knJointRows* list, const knRowInput* input, const knJointMemory* memory,
					  int memoryCount, knRows* rows);
// The same joints' errors at the state's present poses as rows for a correction: bias is the error, or the room
// of a limit. `list` and `rows` have the capacity of knJointRows_Reserve, and are overwritten.
void knJointRows_FillErrors(knJointRows* list, const knRowInput* input, knRows* rows);
// Which bodies the active joints connect; returns how many. `edges` has room for all joints.
int knJointRows_ListEdges(const knModel* model, const knState* state, knJointEdge* edges);
// Memories that knJointRows_Collect writes.
int knJointRows_MemoryCount(const knJointRows* list);
// After the solve: adds to the joints' reactions, writes memories, and sums the work of motors (J).
double knJointRows_Collect(const knJointRows* list, const knModel* model, const knStepBodies* blocks,
						   const knRows* rows, knState* state, knJointMemory* memory);
