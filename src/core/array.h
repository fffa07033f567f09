// Typed growing arrays: KN_ARRAY(int) numbers; KN_ARRAY_PUSH(&allocator, &numbers, 7). Growth doubles.
#pragma once

#include "core/alloc.h"

#define KN_ARRAY(type)                                                                                       \
	struct {                                                                                                 \
		type* items;                                                                                         \
		int count;                                                                                           \
		int capacity;                                                                                        \
	}

// Makes room for `need` items in all; false when out of memory (the array is unchanged).
bool knArray_Reserve(const knAllocator* allocator, void** items, int* capacity, int count, int need,
					 size_t itemSize);

#define KN_ARRAY_RESERVE(allocator, array, need)                                                             \
	knArray_Reserve((allocator), (void**)&(array)->items, &(array)->capacity, (array)->count, (need),        \
					sizeof(*(array)->items))
// True if pushed.
#define KN_ARRAY_PUSH(allocator, array, value)                                                               \
	(KN_ARRAY_RESERVE((allocator), (array), (array)->count + 1) &&                                           \
	 ((array)->items[(array)->count++] = (value), true))
#define KN_ARRAY_FREE(allocator, array)                                                                      \
	(knFree((allocator), (array)->items, (size_t)(array)->capacity * sizeof(*(array)->items)),               \
	 (array)->items = NULL, (array)->count = 0, (array)->capacity = 0)
