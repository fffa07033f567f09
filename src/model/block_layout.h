// One block of memory cut into 64-byte aligned sections. Run once without a base to learn the size, and again
// with it.
#pragma once

#include "core/alloc.h"

typedef struct knBlockLayout {
	char* base; // NULL: count only
	size_t offset;
	bool overflow; // the sizes do not fit in size_t
} knBlockLayout;

static inline void* knBlockLayout_Take(knBlockLayout* carver, uint64_t count, uint64_t itemSize) {
	// far below SIZE_MAX, so that no sum of a few dozen sections can wrap
	const uint64_t limit = (uint64_t)(SIZE_MAX / 64);
	if (itemSize != 0 && count > limit / itemSize) {
		carver->overflow = true;
		return NULL;
	}
	size_t size = (size_t)(count * itemSize + 63) / 64 * 64;
	if (carver->offset > (size_t)limit) {
		carver->overflow = true;
		return NULL;
	}
	void* section = carver->base != NULL ? carver->base + carver->offset : NULL;
	carver->offset += size;
	return section;
}
