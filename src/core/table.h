// A hash table from 64-bit keys to ints, open addressing; and one from strings to ints. Iteration order is
// never used for results, so there is no way to iterate.
#pragma once

#include "core/alloc.h"

typedef struct knTable {
	knAllocator allocator;
	uint64_t* keys;
	int* values; // -1: empty slot
	int count, capacity;
} knTable;

void knTable_Init(knTable* table, const knAllocator* allocator);
void knTable_Free(knTable* table);
void knTable_Clear(knTable* table); // keeps the memory
bool knTable_Reserve(knTable* table, int count);
// value >= 0. False when out of memory.
bool knTable_Set(knTable* table, uint64_t key, int value);
int knTable_Get(const knTable* table, uint64_t key); // -1 if absent
bool knTable_Remove(knTable* table, uint64_t key);

typedef struct knNameTable {
	knAllocator allocator;
	struct knNameSlot* slots;
	int count, capacity;
} knNameTable;

void knNameTable_Init(knNameTable* table, const knAllocator* allocator);
void knNameTable_Free(knNameTable* table);
// Copies the name. False when out of memory. An existing name gets the new value.
bool knNameTable_Set(knNameTable* table, const char* name, int value);
int knNameTable_Get(const knNameTable* table, const char* name); // -1 if absent
bool knNameTable_Remove(knNameTable* table, const char* name);
