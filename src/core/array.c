// Growing arrays: capacity doubles, so that pushing n items costs O(n) in all.
#include "core/array.h"

#include <limits.h>
#include <string.h>

bool knArray_Reserve(const knAllocator* allocator, void** items, int* capacity, int count, int need,
					 size_t itemSize) {
	KN_ASSERT(0 <= count && count <= *capacity && need >= 0 && itemSize > 0);
	if (need <= *capacity) {
		return need >= 0;
	}
	int grown = *capacity < 8 ? 8 : (*capacity > INT_MAX / 2 ? INT_MAX : 2 * *capacity);
	grown = grown < need ? need : grown;
	void* memory = knAllocArray(allocator, (size_t)grown, itemSize);
	if (memory == NULL) {
		return false;
	}
	if (count > 0) {
		memcpy(memory, *items, (size_t)count * itemSize);
	}
	knFree(allocator, *items, (size_t)*capacity * itemSize);
	*items = memory;
	*capacity = grown;
	return true;
}
