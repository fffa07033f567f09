// Memory through the user's allocator, and the default one on the C heap.
//
// Every block is aligned to 64 bytes (a cache line, the widest vector register), so that arrays may be handed
// to vector kernels. Sizes are checked for overflow here, once, and nowhere else.
#include "core/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static void* heapAllocate(size_t size, void* context) {
	(void)context;
	// aligned_alloc wants a multiple of the alignment
	return aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

static void heapRelease(void* memory, size_t size, void* context) {
	(void)size;
	(void)context;
	free(memory);
}

knAllocator knAllocator_Default(void) {
	knAllocator allocator = { heapAllocate, heapRelease, NULL };
	return allocator;
}

void* knAlloc(const knAllocator* allocator, size_t size) {
	KN_ASSERT(allocator != NULL && allocator->allocate != NULL && allocator->release != NULL);
	// half the address space is never available; refusing it keeps every later rounding from overflowing
	if (size == 0 || size > SIZE_MAX / 2) {
		return NULL;
	}
	void* memory = allocator->allocate(size, allocator->context);
	KN_ASSERT((uintptr_t)memory % ALIGNMENT == 0);
	return memory;
}

void* knAllocArray(const knAllocator* allocator, size_t count, size_t itemSize) {
	if (itemSize != 0 && count > SIZE_MAX / itemSize) {
		return NULL;
	}
	return knAlloc(allocator, count * itemSize);
}

void* knAllocZero(const knAllocator* allocator, size_t size) {
	void* memory = knAlloc(allocator, size);
	if (memory != NULL) {
		memset(memory, 0, size);
	}
	return memory;
}

void knFree(const knAllocator* allocator, void* memory, size_t size) {
	if (memory != NULL) {
		allocator->release(memory, size, allocator->context);
	}
}

char* knCopyString(const knAllocator* allocator, const char* text) {
	if (text == NULL) {
		return NULL;
	}
	size_t size = strlen(text) + 1;
	char* copy = knAlloc(allocator, size);
	if (copy != NULL) {
		memcpy(copy, text, size);
	}
	return copy;
}

void knFreeString(const knAllocator* allocator, char* text) {
	if (text != NULL) {
		knFree(allocator, text, strlen(text) + 1);
	}
}
