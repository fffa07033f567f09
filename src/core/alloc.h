// Memory through the user's allocator. A zero-size request returns NULL and is not an error.
#pragma once

#include "core/assert.h"
#include "knuckle/base.h"

// 64-byte aligned, not cleared; NULL when the allocator has none (or the size overflows).
void* knAlloc(const knAllocator* allocator, size_t size);
void* knAllocArray(const knAllocator* allocator, size_t count, size_t itemSize);
// The same, cleared.
void* knAllocZero(const knAllocator* allocator, size_t size);
void knFree(const knAllocator* allocator, void* memory, size_t size);
// A copy of `text` (NULL stays NULL), released with knFreeString.
char* knCopyString(const knAllocator* allocator, const char* text);
void knFreeString(const knAllocator* allocator, char* text);
