// Between the files that make up the state.
#pragma once

#include "model/state.h"

#define KN_STATE_MAGIC UINT64_C(0x3230657461747331)

// Points the view into `block` (NULL: finds the size only). Zero if the sizes are absurd.
size_t knState_LayOut(knState* state, const knModel* model, void* block, uint64_t touchCapacity,
					  uint64_t privateCapacity);
// A block in the model's initial state for the stepper with this hash.
bool knState_CreateSized(knState* state, const knModel* model, uint64_t stepper, uint64_t touchCapacity,
						 uint64_t privateCapacity, const knAllocator* allocator);
uint64_t knState_StepperHash(const char* stepper);
