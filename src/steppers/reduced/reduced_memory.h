// The reduced stepper's part of the state.
//
//   knReducedMemory | bodies [bodyCount] | rest [bodyCount] | barred [jointCount] | contacts [contactCount] | joints [jointRowCount]
//
// Coordinates and velocities of links are the truth; poses and velocities of bodies follow from them. What users change of
// bodies between steps is noticed by comparing (reduced_begin.c). Contacts and joint rows keep what they carried.
#pragma once

#include "dynamics/contact_rows.h"
#include "dynamics/joint_rows.h"
#include "dynamics/sleep.h"

typedef struct knReducedMemory {
	double dt; // of the step that wrote it; 0: nothing yet
	int32_t bodyCount, jointCount;
	int32_t contactCount, jointRowCount;
	uint64_t signature; // of everything that wakes all bodies when it changes (dynamics/sleep.h)
} knReducedMemory;

typedef struct knLinkMemory {
	int32_t via; // the joint whose coordinates these are, -1: the free joint of a floating root, -2: none yet
	int32_t reserved;
	double q[7], v[6];
} knLinkMemory;

size_t knReducedMemory_Size(int bodyCount, int jointCount, int contactCount, int jointRowCount);
// Nothing yet: a header of zeros.
const knReducedMemory* knReducedMemory_Get(const knState* state, const knModel* model);
knLinkMemory* knReducedMemory_Links(const knState* state);
knRestMemory* knReducedMemory_Rest(const knState* state); // [bodyCount] of steps with sleeping
uint8_t*
knReducedMemory_Barred(const knState* state); // [jointCount] was off once: closes a loop from then on
knContactMemory* knReducedMemory_Contacts(const knState* state);
knJointMemory* knReducedMemory_Joints(const knState* state);
// Room for so many contacts and joint rows; links and barred joints stay, the others are to be written anew. The first
// call clears everything. False: no memory.
bool knReducedMemory_Resize(knState* state, const knModel* model, double dt, int contactCount,
							int jointRowCount, const knAllocator* allocator);
// Coordinates, contacts and barred joints of what stays.
bool knReducedMemory_Migrate(knState* to, const knModel* toModel, const knState* from,
							 const knModel* fromModel, const knAllocator* allocator);
