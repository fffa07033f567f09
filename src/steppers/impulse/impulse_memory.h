// The impulse stepper's part of the state: what joints and contacts carried in the last step.
//
//   knImpulseMemory | joints [jointCount], by joint index | contacts [contactCount], sorted by shapes
//
// It grows, through knState_Grow, only when a step has more contacts than any before.
#pragma once

#include "dynamics/contact_rows.h"
#include "steppers/impulse/articulation.h"

typedef struct knImpulseMemory {
	double dt; // of the step that wrote it; 0: nothing yet
	int32_t jointCount;
	int32_t contactCount;
} knImpulseMemory;

size_t knImpulseMemory_Size(int jointCount, int contactCount);
// An empty part, or one whose counts do not fit its size (a damaged snapshot), reads as no memories.
knImpulseMemory knImpulseMemory_Get(const knState* state);
knArticulationMemory* knImpulseMemory_Joints(const knState* state);
knContactMemory* knImpulseMemory_Contacts(const knState* state);
// Sets the count of contacts and makes room; the joints' memories stay, or begin empty. False when out of memory (the
// state is then unchanged).
bool knImpulseMemory_Resize(knState* state, const knModel* model, double dt, int contactCount,
							const knAllocator* allocator);
// Carries the memories over to an edited model; what was removed is forgotten.
bool knImpulseMemory_Migrate(knState* to, const knModel* toModel, const knState* from,
							 const knModel* fromModel, const knAllocator* allocator);
