// What a step overwrites of the state, so that a failed one can be taken back without a copy of the whole: the bytes of
// before, kept in the step's arena. Steppers that touch little write down what they touch (knStepContext.journal).
#pragma once

#include "core/arena.h"
#include "model/state.h"

typedef struct knJournalEntry knJournalEntry;

typedef struct knJournal {
	bool on;     // else there is a copy of the state, and nothing is kept
	bool failed; // no memory: the step may not go on
	knArena* arena;
	knStateHeader header; // as it was
	knJournalEntry* last;
} knJournal;

void knJournal_Start(knJournal* journal, const knState* state, knArena* arena);
// Before these bytes of the state's block are written. NULL or off: nothing to do.
void knJournal_Keep(knJournal* journal, const knState* state, const void* bytes, size_t size);
// The state as it was at the start; its block may have grown since.
void knJournal_Undo(knJournal* journal, knState* state);
