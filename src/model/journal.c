// Entries are undone from the last to the first, so that bytes kept twice end as they were at first. The block may move and
// grow in between: its fixed sections keep their offsets, the stepper's part is found anew.
#include "model/journal.h"

#include <string.h>

struct knJournalEntry {
	knJournalEntry* before;
	bool inPart;     // of the stepper's part, else of the block
	uint64_t offset; // from there
	uint64_t size;   // the bytes follow
};

void knJournal_Start(knJournal* journal, const knState* state, knArena* arena) {
	*journal = (knJournal){ .on = true, .arena = arena, .header = *state->header };
}

void knJournal_Keep(knJournal* journal, const knState* state, const void* bytes, size_t size) {
	if (journal == NULL || !journal->on || size == 0) {
		return;
	}
	knJournalEntry* entry = knArena_Take(journal->arena, sizeof(*entry) + size);
	if (entry == NULL) {
		journal->failed = true;
		return;
	}
	const char *at = bytes, *part = state->stepperPart, *block = state->block;
	KN_ASSERT(at >= block && at + size <= block + state->header->size);
	bool inPart = at >= part;
	*entry = (knJournalEntry){ journal->last, inPart, (uint64_t)(at - (inPart ? part : block)), size };
	memcpy(entry + 1, bytes, size);
	journal->last = entry;
}

void knJournal_Undo(knJournal* journal, knState* state) {
	for (const knJournalEntry* entry = journal->last; entry != NULL; entry = entry->before) {
		char* to = (char*)(entry->inPart ? state->stepperPart : state->block) + entry->offset;
		memcpy(to, entry + 1, (size_t)entry->size);
	}
	const knStateHeader grown = *state->header;
	*state->header = journal->header;
	state->header->size = grown.size;
	state->header->touchCapacity = grown.touchCapacity;
	state->header->privateCapacity = grown.privateCapacity;
	journal->last = NULL;
}
