// What a loader did not follow, gathered while it reads: a line is kept once, and counted when it comes again.
#pragma once

#include "core/arena.h"
#include "core/array.h"
#include "core/table.h"
#include "knuckle/io.h"

typedef struct knImportNote {
	knLoadSeverity severity;
	int line, column;
	int count;
	const char* text;
} knImportNote;

typedef struct knImportReport {
	knAllocator allocator;
	knArena arena;
	KN_ARRAY(knImportNote) notes;
	knNameTable known;
} knImportReport;

void knImportReport_Init(knImportReport* report, const knAllocator* allocator);
void knImportReport_Free(knImportReport* report);
// False when out of memory.
bool knImportReport_Add(knImportReport* report, knLoadSeverity severity, int line, int column,
						const char* text);
// The first note of that severity, NULL: none; and how many there are.
const knImportNote* knImportReport_First(const knImportReport* report, knLoadSeverity severity, int* count);
// Hands the notes over, the weightiest first; false when out of memory. `out` may be NULL.
bool knImportReport_Take(const knImportReport* report, knLoadReport* out);
