// The impulse stepper's part of the state: what contacts carried in the last step.
//
//   knImpulseMemory | contacts [contactCount], sorted by shapes and feature
//
// It grows, through knState_Grow, only when a step has more contacts than any before.
#pragma once

#include "dynamics/contact_rows.h"

typedef struct knImpulseMemory {
	double dt; // of the step that wrote it; 0: nothing yet
	int32_t contactCount;
	int32_t reserved;
} knImpulseMemory;

size_t knImpulseMemory_Size(int contactCount);
// An empty part, or one whose count does not fit its size (a damaged snapshot), reads as no memories.
knImpulseMemory knImpulseMemory_Get(const knState* state);
knContactMemory* knImpulseMemory_Contacts(const knState* state);
// Sets the count and makes room. False when out of memory (the state is then unchanged).
bool knImpulseMemory_Resize(knState* state, const knModel* model, double dt, int contactCount,
							const knAllocator* allocator);
// Carries the memories over to an edited model; what was removed is forgotten.
bool knImpulseMemory_Migrate(knState* to, const knModel* toModel, const knState* from,
							 const knModel* fromModel, const knAllocator* allocator);
