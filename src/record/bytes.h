// Growing bytes and little-endian numbers in them, whatever the machine: what binary formats are made of.
#pragma once

#include <limits.h>
#include <string.h>

#include "core/array.h"

typedef KN_ARRAY(uint8_t) knBytes;

// Room for `size` more bytes, which count as written; NULL when out of memory.
static inline uint8_t* knBytes_Extend(knBytes* bytes, size_t size, const knAllocator* allocator) {
	if (size > (size_t)(INT_MAX - bytes->count) ||
		!KN_ARRAY_RESERVE(allocator, bytes, bytes->count + (int)size)) {
		return NULL;
	}
	uint8_t* at = bytes->items + bytes->count;
	bytes->count += (int)size;
	return at;
}

static inline void knPut16(uint8_t* at, uint16_t value) {
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

static inline void knPut32(uint8_t* at, uint32_t value) {
	for (int k = 0; k < 4; ++k) {
		at[k] = (uint8_t)(value >> 8 * k);
	}
}

static inline void knPut64(uint8_t* at, uint64_t value) {
	for (int k = 0; k < 8; ++k) {
		at[k] = (uint8_t)(value >> 8 * k);
	}
}

static inline void knPutFloat(uint8_t* at, float value) {
	uint32_t bits;
	memcpy(&bits, &value, sizeof(bits));
	knPut32(at, bits);
}
