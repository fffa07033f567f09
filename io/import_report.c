// The report of what a file said that its reader did not follow.
#include "import_report.h"

#include <stdio.h>
#include <string.h>

void knImportReport_Init(knImportReport* report, const knAllocator* allocator) {
	*report = (knImportReport){ .allocator = *allocator };
	knArena_Init(&report->arena, allocator);
	knNameTable_Init(&report->known, allocator);
}

void knImportReport_Free(knImportReport* report) {
	KN_ARRAY_FREE(&report->allocator, &report->notes);
	knNameTable_Free(&report->known);
	knArena_Free(&report->arena);
}

bool knImportReport_Add(knImportReport* report, knLoadSeverity severity, int line, int column,
						const char* text) {
	const int known = knNameTable_Get(&report->known, text);
	if (known >= 0) {
		knImportNote* note = &report->notes.items[known];
		note->count += 1;
		note->severity = severity > note->severity ? severity : note->severity;
		return true;
	}
	const size_t size = strlen(text) + 1;
	char* copy = knArena_Take(&report->arena, size);
	if (copy == NULL) {
		return false;
	}
	memcpy(copy, text, size);
	const knImportNote note = {
		.severity = severity, .line = line, .column = column, .count = 1, .text = copy
	};
	return KN_ARRAY_PUSH(&report->allocator, &report->notes, note) &&
		   knNameTable_Set(&report->known, text, report->notes.count - 1);
}

const knImportNote* knImportReport_First(const knImportReport* report, knLoadSeverity severity, int* count) {
	const knImportNote* first = NULL;
	*count = 0;
	for (int i = 0; i < report->notes.count; ++i) {
		const knImportNote* note = &report->notes.items[i];
		if (note->severity == severity) {
			first = first != NULL ? first : note;
			*count += note->count;
		}
	}
	return first;
}

static void writeLine(const knImportNote* note, char line[160]) {
	if (note->count > 1) {
		snprintf(line, 160, "%d:%d: %.110s (and %d more)", note->line, note->column, note->text,
				 note->count - 1);
	} else {
		snprintf(line, 160, "%d:%d: %.130s", note->line, note->column, note->text);
	}
}

bool knImportReport_Take(const knImportReport* report, knLoadReport* out) {
	if (out == NULL || report->notes.count == 0) {
		return true;
	}
	// the caller frees it without naming an allocator, so it is the default one's
	const knAllocator allocator = knAllocator_Default();
	const size_t count = (size_t)report->notes.count;
	char(*lines)[160] = knAllocArray(&allocator, count, sizeof *lines);
	knLoadSeverity* severities = knAllocArray(&allocator, count, sizeof *severities);
	if (lines == NULL || severities == NULL) {
		knFree(&allocator, lines, count * sizeof *lines);
		knFree(&allocator, severities, count * sizeof *severities);
		return false;
	}
	int at = 0;
	for (int severity = KN_LOAD_OMITTED; severity >= KN_LOAD_NOTE; --severity) {
		for (int i = 0; i < report->notes.count; ++i) {
			if ((int)report->notes.items[i].severity == severity) {
				severities[at] = (knLoadSeverity)severity;
				writeLine(&report->notes.items[i], lines[at++]);
			}
		}
	}
	*out = (knLoadReport){ report->notes.count, lines, severities };
	return true;
}
