// Bump allocation from a chain of blocks.
//
// While cold, a request that does not fit opens a new block at least as large as all before it together;
// clearing replaces a chain by one block of their total size. Pieces are multiples of the alignment, so they
// pack without gaps and the same requests fit into that block in any order. So a warm step does not allocate.
//
// Under AddressSanitizer free bytes are poisoned and each piece is followed by a red zone. The red zone is
// not counted in `used`, so that the counters are the same in every build.
#include "core/arena.h"

#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define KN_ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KN_ARENA_ASAN 1
#endif
#endif

#ifdef KN_ARENA_ASAN
#include <sanitizer/asan_interface.h>
enum { RED_ZONE = 64 };
#define FORBID(memory, size) ASAN_POISON_MEMORY_REGION((memory), (size))
#define ALLOW(memory, size) ASAN_UNPOISON_MEMORY_REGION((memory), (size))
#else
enum { RED_ZONE = 0 };
#define FORBID(memory, size) ((void)0)
#define ALLOW(memory, size) ((void)0)
#endif

enum { ALIGNMENT = 64, SMALLEST_BLOCK = 64 * 1024 };

// The head of a block; its bytes follow at offset ALIGNMENT.
struct knArenaBlock {
	knArenaBlock* next; // older
	size_t capacity;    // bytes after the head
	size_t used;
};

_Static_assert(sizeof(knArenaBlock) <= ALIGNMENT, "the head must fit before the first piece");

static char* bytesOf(knArenaBlock* block) {
	return (char*)block + ALIGNMENT;
}

static knArenaBlock* newBlock(const knAllocator* allocator, size_t capacity) {
	if (capacity > SIZE_MAX / 2 - ALIGNMENT) {
		return NULL;
	}
	knArenaBlock* block = knAlloc(allocator, ALIGNMENT + capacity);
	if (block != NULL) {
		block->next = NULL;
		block->capacity = capacity;
		block->used = 0;
		FORBID(bytesOf(block), capacity);
	}
	return block;
}

static void freeBlocks(knArena* arena) {
	while (arena->block != NULL) {
		knArenaBlock* next = arena->block->next;
		ALLOW(bytesOf(arena->block), arena->block->capacity);
		knFree(&arena->allocator, arena->block, ALIGNMENT + arena->block->capacity);
		arena->block = next;
	}
}

static size_t totalCapacity(const knArena* arena) {
	size_t total = 0;
	for (const knArenaBlock* block = arena->block; block != NULL; block = block->next) {
		total += block->capacity;
	}
	return total;
}

void knArena_Init(knArena* arena, const knAllocator* allocator) {
	*arena = (knArena){ .allocator = *allocator };
}

void knArena_Free(knArena* arena) {
	freeBlocks(arena);
	arena->used = 0;
	arena->failed = false;
}

void knArena_Clear(knArena* arena) {
	if (arena->block != NULL && arena->block->next != NULL) {
		// the old blocks go first, to keep the peak low; if there is no memory for one large block, the next
		// request starts a chain again
		size_t total = totalCapacity(arena);
		freeBlocks(arena);
		arena->block = newBlock(&arena->allocator, total);
	} else if (arena->block != NULL) {
		arena->block->used = 0;
		FORBID(bytesOf(arena->block), arena->block->capacity);
	}
	arena->used = 0;
	arena->failed = false;
}

// A block with room for `need`: twice the memory so far if possible, just enough if not.
static bool addBlock(knArena* arena, size_t need) {
	size_t capacity = totalCapacity(arena);
	capacity = capacity < SMALLEST_BLOCK ? SMALLEST_BLOCK : capacity;
	capacity = capacity < need ? need : capacity;
	knArenaBlock* block = newBlock(&arena->allocator, capacity);
	if (block == NULL && capacity > need) {
		block = newBlock(&arena->allocator, need);
	}
	if (block == NULL) {
		return false;
	}
	block->next = arena->block;
	arena->block = block;
	return true;
}

void* knArena_Take(knArena* arena, size_t size) {
	// a negative count times a size lands above half the address space
	if (size > SIZE_MAX / 4) {
		arena->failed = true;
		return NULL;
	}
	size_t piece = (size == 0 ? 1 : size) + ALIGNMENT - 1;
	piece -= piece % ALIGNMENT;
	size_t need = piece + RED_ZONE;

	if ((arena->block == NULL || arena->block->capacity - arena->block->used < need) &&
		!addBlock(arena, need)) {
		arena->failed = true;
		return NULL;
	}
	char* memory = bytesOf(arena->block) + arena->block->used;
	arena->block->used += need;
	arena->used += piece;
	arena->highWater = arena->used > arena->highWater ? arena->used : arena->highWater;
	ALLOW(memory, size);
	return memory;
}

void* knArena_TakeZero(knArena* arena, size_t size) {
	void* memory = knArena_Take(arena, size);
	if (memory != NULL && size > 0) {
		memset(memory, 0, size);
	}
	return memory;
}

static void* takeFor(size_t size, void* context) {
	return knArena_Take(context, size);
}

static void keep(void* memory, size_t size, void* context) {
	(void)memory, (void)size, (void)context;
}

knAllocator knArena_Allocator(knArena* arena) {
	return (knAllocator){ .allocate = takeFor, .release = keep, .context = arena };
}
