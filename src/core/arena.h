// The per-step arena: bump allocation, cleared at the start of a step. It grows by chaining blocks while cold
// and merges them into one block at the next clear, so that a warm step takes no memory from the allocator.
#pragma once

#include "core/alloc.h"

typedef struct knArenaBlock knArenaBlock;

typedef struct knArena {
	knAllocator allocator;
	knArenaBlock* block; // newest first
	size_t used;         // bytes handed out since the last clear
	size_t highWater;    // largest `used` ever
	bool failed;         // the allocator returned NULL since the last clear
} knArena;

void knArena_Init(knArena* arena, const knAllocator* allocator);
void knArena_Free(knArena* arena);
// Forgets everything; keeps (and merges) the memory.
void knArena_Clear(knArena* arena);
// 64-byte aligned, not cleared; NULL (and `failed`) when out of memory. Zero bytes give a valid pointer.
void* knArena_Take(knArena* arena, size_t size);
void* knArena_TakeZero(knArena* arena, size_t size);

// Memory of the arena for what wants an allocator; what is released comes back with the next clear only.
knAllocator knArena_Allocator(knArena* arena);

#define KN_SCRATCH(arena, type, count) ((type*)knArena_Take((arena), sizeof(type) * (size_t)(count)))
#define KN_SCRATCH_ZERO(arena, type, count) ((type*)knArena_TakeZero((arena), sizeof(type) * (size_t)(count)))
