// Hash tables with open addressing and linear probing.
//
// A removed entry is not marked: the entries behind it that would no longer be found move up instead, so a
// table never fills with marks and lookups cost the same after many removals. At most two thirds of the slots
// are used.
#include "core/table.h"

#include "core/hash.h"

#include <limits.h>
#include <string.h>

enum { SMALLEST_TABLE = 16, LARGEST_TABLE = 1 << 30 };

// The power of two that holds `count` entries, or 0 if there is none.
static int capacityFor(int count) {
	int capacity = SMALLEST_TABLE;
	while (capacity / 3 * 2 < count) {
		if (capacity == LARGEST_TABLE) {
			return 0;
		}
		capacity *= 2;
	}
	return capacity;
}

// True if an entry found at `slot`, whose search begins at `home`, may move to the empty slot `hole` before
// it.
static bool mayMove(int hole, int slot, int home, int mask) {
	return ((slot - home) & mask) >= ((slot - hole) & mask);
}

// --- from 64-bit keys ------------------------------------------------------------------------------------

static int homeOfKey(uint64_t key, int mask) {
	return (int)(knHash_Word(key) & (uint64_t)mask);
}

// The slot that holds the key, or the empty one where it would go. The table has memory.
static int slotOfKey(const knTable* table, uint64_t key) {
	int mask = table->capacity - 1;
	int slot = homeOfKey(key, mask);
	while (table->values[slot] >= 0 && table->keys[slot] != key) {
		slot = (slot + 1) & mask;
	}
	return slot;
}

void knTable_Init(knTable* table, const knAllocator* allocator) {
	*table = (knTable){ .allocator = *allocator };
}

void knTable_Free(knTable* table) {
	knFree(&table->allocator, table->keys, (size_t)table->capacity * sizeof *table->keys);
	knFree(&table->allocator, table->values, (size_t)table->capacity * sizeof *table->values);
	table->keys = NULL;
	table->values = NULL;
	table->count = 0;
	table->capacity = 0;
}

void knTable_Clear(knTable* table) {
	for (int i = 0; i < table->capacity; ++i) {
		table->values[i] = -1;
	}
	table->count = 0;
}

bool knTable_Reserve(knTable* table, int count) {
	int capacity = capacityFor(count);
	if (capacity == 0) {
		return false;
	}
	if (capacity <= table->capacity) {
		return true;
	}

	knTable grown = { .allocator = table->allocator, .capacity = capacity };
	grown.keys = knAllocArray(&grown.allocator, (size_t)capacity, sizeof *grown.keys);
	grown.values = knAllocArray(&grown.allocator, (size_t)capacity, sizeof *grown.values);
	if (grown.keys == NULL || grown.values == NULL) {
		knTable_Free(&grown);
		return false;
	}
	knTable_Clear(&grown);
	for (int i = 0; i < table->capacity; ++i) {
		if (table->values[i] >= 0) {
			int slot = slotOfKey(&grown, table->keys[i]);
			grown.keys[slot] = table->keys[i];
			grown.values[slot] = table->values[i];
		}
	}
	grown.count = table->count;
	knTable_Free(table);
	*table = grown;
	return true;
}

bool knTable_Set(knTable* table, uint64_t key, int value) {
	KN_ASSERT(value >= 0);
	if (value < 0 || table->count == INT_MAX || !knTable_Reserve(table, table->count + 1)) {
		return false;
	}
	int slot = slotOfKey(table, key);
	table->count += table->values[slot] < 0 ? 1 : 0;
	table->keys[slot] = key;
	table->values[slot] = value;
	return true;
}

int knTable_Get(const knTable* table, uint64_t key) {
	return table->count > 0 ? table->values[slotOfKey(table, key)] : -1;
}

bool knTable_Remove(knTable* table, uint64_t key) {
	if (table->count == 0) {
		return false;
	}
	int mask = table->capacity - 1;
	int hole = slotOfKey(table, key);
	if (table->values[hole] < 0) {
		return false;
	}
	for (int slot = (hole + 1) & mask; table->values[slot] >= 0; slot = (slot + 1) & mask) {
		if (mayMove(hole, slot, homeOfKey(table->keys[slot], mask), mask)) {
			table->keys[hole] = table->keys[slot];
			table->values[hole] = table->values[slot];
			hole = slot;
		}
	}
	table->values[hole] = -1;
	table->count -= 1;
	return true;
}

// --- from names ------------------------------------------------------------------------------------------

struct knNameSlot {
	uint64_t hash;
	char* name; // NULL: empty slot
	int value;
};

static uint64_t hashName(const char* name) {
	return knHash_Bytes(KN_HASH_SEED, name, strlen(name));
}

static int slotOfName(const knNameTable* table, uint64_t hash, const char* name) {
	int mask = table->capacity - 1;
	int slot = (int)(hash & (uint64_t)mask);
	while (table->slots[slot].name != NULL &&
		   (table->slots[slot].hash != hash || strcmp(table->slots[slot].name, name) != 0)) {
		slot = (slot + 1) & mask;
	}
	return slot;
}

void knNameTable_Init(knNameTable* table, const knAllocator* allocator) {
	*table = (knNameTable){ .allocator = *allocator };
}

void knNameTable_Free(knNameTable* table) {
	for (int i = 0; i < table->capacity; ++i) {
		knFreeString(&table->allocator, table->slots[i].name);
	}
	knFree(&table->allocator, table->slots, (size_t)table->capacity * sizeof *table->slots);
	table->slots = NULL;
	table->count = 0;
	table->capacity = 0;
}

static bool reserveNames(knNameTable* table, int count) {
	int capacity = capacityFor(count);
	if (capacity == 0) {
		return false;
	}
	if (capacity <= table->capacity) {
		return true;
	}
	struct knNameSlot* slots = knAllocArray(&table->allocator, (size_t)capacity, sizeof *slots);
	if (slots == NULL) {
		return false;
	}
	memset(slots, 0, (size_t)capacity * sizeof *slots);

	// the names themselves stay where they are
	int mask = capacity - 1;
	for (int i = 0; i < table->capacity; ++i) {
		if (table->slots[i].name != NULL) {
			int slot = (int)(table->slots[i].hash & (uint64_t)mask);
			while (slots[slot].name != NULL) {
				slot = (slot + 1) & mask;
			}
			slots[slot] = table->slots[i];
		}
	}
	knFree(&table->allocator, table->slots, (size_t)table->capacity * sizeof *slots);
	table->slots = slots;
	table->capacity = capacity;
	return true;
}

bool knNameTable_Set(knNameTable* table, const char* name, int value) {
	KN_ASSERT(name != NULL && value >= 0);
	if (name == NULL || value < 0 || table->count == INT_MAX || !reserveNames(table, table->count + 1)) {
		return false;
	}
	uint64_t hash = hashName(name);
	int slot = slotOfName(table, hash, name);
	if (table->slots[slot].name == NULL) {
		char* copy = knCopyString(&table->allocator, name);
		if (copy == NULL) {
			return false;
		}
		table->slots[slot].hash = hash;
		table->slots[slot].name = copy;
		table->count += 1;
	}
	table->slots[slot].value = value;
	return true;
}

int knNameTable_Get(const knNameTable* table, const char* name) {
	if (table->count == 0 || name == NULL) {
		return -1;
	}
	const struct knNameSlot* slot = &table->slots[slotOfName(table, hashName(name), name)];
	return slot->name != NULL ? slot->value : -1;
}

bool knNameTable_Remove(knNameTable* table, const char* name) {
	if (table->count == 0 || name == NULL) {
		return false;
	}
	int mask = table->capacity - 1;
	int hole = slotOfName(table, hashName(name), name);
	if (table->slots[hole].name == NULL) {
		return false;
	}
	knFreeString(&table->allocator, table->slots[hole].name);
	for (int slot = (hole + 1) & mask; table->slots[slot].name != NULL; slot = (slot + 1) & mask) {
		if (mayMove(hole, slot, (int)(table->slots[slot].hash & (uint64_t)mask), mask)) {
			table->slots[hole] = table->slots[slot];
			hole = slot;
		}
	}
	table->slots[hole] = (struct knNameSlot){ 0 };
	table->count -= 1;
	return true;
}
