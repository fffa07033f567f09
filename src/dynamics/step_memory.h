// A maximal stepper's part of the state: what contacts and joints carried in the last step.
//
//   knStepMemory | contacts [contactCount], sorted | joints [jointCount], sorted by joint | bodies [bodyCount]
//
// Offsets follow from the counts, so the part can be moved and copied as bytes. It grows, through
// knState_Grow, only when a step has more contacts than any before.
#pragma once

#include "dynamics/contact_rows.h"
#include "dynamics/joint_rows.h"
#include "dynamics/sleep.h"

typedef struct knStepMemory {
	double dt; // of the step that wrote it; 0: nothing yet
	int32_t contactCount;
	int32_t jointCount;
	int32_t bodyCount; // 0 without sleeping
	int32_t reserved;
	uint64_t signature; // of everything that wakes all bodies when it changes (sleep.h)
} knStepMemory;

size_t knStepMemory_Size(int contactCount, int jointCount, int bodyCount);
const knStepMemory* knStepMemory_Get(const knState* state);
knContactMemory* knStepMemory_Contacts(const knState* state);
knJointMemory* knStepMemory_Joints(const knState* state);
knRestMemory* knStepMemory_Bodies(const knState* state);
// Sets the counts and makes room for them. Contacts that fit are kept, joints and bodies are to be written anew. False
// when out of memory (the state is then unchanged).
bool knStepMemory_Resize(knState* state, const knModel* model, double dt, int contactCount, int jointCount,
						 int bodyCount, const knAllocator* allocator);
// Carries the memories over to an edited model: shapes and joints keep theirs, what was removed is forgotten, and all
// bodies are awake.
bool knStepMemory_Migrate(knState* to, const knModel* toModel, const knState* from, const knModel* fromModel,
						  const knAllocator* allocator);
