// Stable sorts: a radix sort for 64-bit keys (no comparison order to depend on) and a merge sort for
// anything.
#pragma once

#include "core/arena.h"

typedef struct knKeyed {
	uint64_t key;
	uint32_t value;
} knKeyed;

// Sorts by key, stable, linear in count. Scratch from the arena. False when out of memory.
bool knSort_Keys(knKeyed* items, int count, knArena* scratch);

// less(a, b, context): a strictly before b.
typedef bool knLessFn(const void* a, const void* b, void* context);
bool knSort_Merge(void* items, int count, size_t itemSize, knLessFn* less, void* context, knArena* scratch);
