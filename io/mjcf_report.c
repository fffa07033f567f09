// Errors with a place, and the report of what a file said that the reader did not understand.
//
// A report line is kept once: when the same words come again, only its count grows ("<site> ignored (and 41 more)"),
// so that a model of a thousand elements gives a report that can be read.
#include "mjcf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

bool knMjcf_NoMemory(knMjcf* reader) {
	if (!reader->failed) {
		reader->failed = true;
		knError_Set(&reader->error, KN_NO_MEMORY, "", "out of memory while reading");
		snprintf(reader->error.file, sizeof reader->error.file, "%s", reader->file);
	}
	return false;
}

static void setPlace(knMjcf* reader, const knMjcfElement* element) {
	snprintf(reader->error.file, sizeof reader->error.file, "%s", reader->file);
	reader->error.line = element != NULL ? element->line : reader->line;
	reader->error.column = element != NULL ? element->column : reader->column;
}

bool knMjcf_Fail(knMjcf* reader, const knMjcfElement* element, const char* tag, knStatus status,
				 const char* format, ...) {
	if (reader->failed) {
		return false;
	}
	reader->failed = true;

	char message[sizeof reader->error.message];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);

	char named[sizeof reader->error.element] = "";
	if (element != NULL && element->name != NULL) {
		snprintf(named, sizeof named, "<%.20s name=\"%.50s\">", tag, element->name);
	} else if (tag != NULL) {
		snprintf(named, sizeof named, "<%.80s>", tag);
	}
	knError_Set(&reader->error, status, named, "%s", message);
	setPlace(reader, element);
	return false;
}

bool knMjcf_FailFrom(knMjcf* reader, const knMjcfElement* element, const knError* cause) {
	if (!reader->failed) {
		reader->failed = true;
		reader->error = *cause;
		setPlace(reader, element);
	}
	return false;
}

const char* knMjcf_Suggest(knMjcf* reader, const char* name, const char* const* names, int count) {
	const char* closest = knText_Closest(name, names, count);
	char text[160];
	if (closest == NULL) {
		return "";
	}
	snprintf(text, sizeof text, "; did you mean '%.100s'?", closest);
	const char* copy = knMjcf_CopyText(reader, text);
	return copy != NULL ? copy : "";
}

const char* knMjcf_SuggestElement(knMjcf* reader, const char* name, const void* elements, int count,
								  size_t stride) {
	const char** names = KN_SCRATCH(&reader->arena, const char*, count);
	if (names == NULL) {
		return "";
	}
	int named = 0;
	for (int i = 0; i < count; ++i) {
		const knMjcfElement* element = (const void*)((const char*)elements + (size_t)i * stride);
		if (element->name != NULL) {
			names[named++] = element->name;
		}
	}
	return knMjcf_Suggest(reader, name, names, named);
}

const char* knMjcf_CopyText(knMjcf* reader, const char* text) {
	size_t size = strlen(text) + 1;
	char* copy = knArena_Take(&reader->arena, size);
	if (copy == NULL) {
		knMjcf_NoMemory(reader);
		return NULL;
	}
	memcpy(copy, text, size);
	return copy;
}

void knMjcf_Note(knMjcf* reader, const knMjcfElement* element, const char* format, ...) {
	char text[128];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);

	int known = knNameTable_Get(&reader->noteTable, text);
	if (known >= 0) {
		reader->notes.items[known].count += 1;
		return;
	}
	knMjcfNote note = { .line = element != NULL ? element->line : reader->line,
						.column = element != NULL ? element->column : reader->column,
						.count = 1,
						.text = knMjcf_CopyText(reader, text) };
	if (note.text == NULL || !KN_ARRAY_PUSH(&reader->allocator, &reader->notes, note) ||
		!knNameTable_Set(&reader->noteTable, text, reader->notes.count - 1)) {
		knMjcf_NoMemory(reader);
	}
}

bool knMjcf_TakeReport(knMjcf* reader, knLoadReport* report) {
	if (report == NULL || reader->notes.count == 0) {
		return true;
	}
	// the caller frees it without naming an allocator, so it is the default one's
	const knAllocator allocator = knAllocator_Default();
	char(*lines)[160] = knAllocArray(&allocator, (size_t)reader->notes.count, sizeof *lines);
	if (lines == NULL) {
		return knMjcf_NoMemory(reader);
	}
	for (int i = 0; i < reader->notes.count; ++i) {
		const knMjcfNote* note = &reader->notes.items[i];
		if (note->count > 1) {
			snprintf(lines[i], sizeof *lines, "%d:%d: %.110s (and %d more)", note->line, note->column,
					 note->text, note->count - 1);
		} else {
			snprintf(lines[i], sizeof *lines, "%d:%d: %.130s", note->line, note->column, note->text);
		}
	}
	*report = (knLoadReport){ reader->notes.count, lines };
	return true;
}

void knLoadReport_Free(knLoadReport* report) {
	if (report != NULL) {
		const knAllocator allocator = knAllocator_Default();
		knFree(&allocator, report->lines, (size_t)report->count * sizeof *report->lines);
		*report = (knLoadReport){ 0, NULL };
	}
}
