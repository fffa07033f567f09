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
	const int index = element != NULL ? element->file : reader->fileIndex;
	snprintf(reader->error.file, sizeof reader->error.file, "%s",
			 index < reader->files.count ? reader->files.items[index] : reader->file);
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

static void addNote(knMjcf* reader, const knMjcfElement* element, knLoadSeverity severity, const char* text) {
	int known = knNameTable_Get(&reader->noteTable, text);
	if (known >= 0) {
		knMjcfNote* note = &reader->notes.items[known];
		note->count += 1;
		note->severity = severity > note->severity ? severity : note->severity;
		return;
	}
	knMjcfNote note = { .severity = severity,
						.file = element != NULL ? element->file : reader->fileIndex,
						.line = element != NULL ? element->line : reader->line,
						.column = element != NULL ? element->column : reader->column,
						.count = 1,
						.text = knMjcf_CopyText(reader, text) };
	if (note.text == NULL || !KN_ARRAY_PUSH(&reader->allocator, &reader->notes, note) ||
		!knNameTable_Set(&reader->noteTable, text, reader->notes.count - 1)) {
		knMjcf_NoMemory(reader);
	}
}

#define ADD_NOTE(reader, element, severity, format)                                                          \
	do {                                                                                                     \
		char text[128];                                                                                      \
		va_list arguments;                                                                                   \
		va_start(arguments, format);                                                                         \
		vsnprintf(text, sizeof text, format, arguments);                                                     \
		va_end(arguments);                                                                                   \
		addNote(reader, element, severity, text);                                                            \
	} while (0)

void knMjcf_Note(knMjcf* reader, const knMjcfElement* element, const char* format, ...) {
	ADD_NOTE(reader, element, KN_LOAD_NOTE, format);
}

void knMjcf_Approximate(knMjcf* reader, const knMjcfElement* element, const char* format, ...) {
	ADD_NOTE(reader, element, KN_LOAD_APPROXIMATE, format);
}

bool knMjcf_Omit(knMjcf* reader, const knMjcfElement* element, const char* format, ...) {
	ADD_NOTE(reader, element, KN_LOAD_OMITTED, format);
	return !reader->failed;
}

bool knMjcf_CheckOmissions(knMjcf* reader) {
	const knMjcfNote* first = NULL;
	int count = 0;
	for (int i = 0; i < reader->notes.count; ++i) {
		const knMjcfNote* note = &reader->notes.items[i];
		if (note->severity == KN_LOAD_OMITTED) {
			first = first != NULL ? first : note;
			count += note->count;
		}
	}
	if (first == NULL || reader->lenient || reader->failed) {
		return !reader->failed;
	}
	const knMjcfElement place = { .file = first->file, .line = first->line, .column = first->column };
	if (count == 1) {
		return knMjcf_Fail(reader, &place, NULL, KN_UNSUPPORTED,
						   "%s; the motion would be another without it (--lenient loads the rest)",
						   first->text);
	}
	return knMjcf_Fail(
		reader, &place, NULL, KN_UNSUPPORTED,
		"%s, and %d more such things; the motion would be another without them (--lenient loads the "
		"rest)",
		first->text, count - 1);
}

static void writeLine(const knMjcf* reader, const knMjcfNote* note, char line[160]) {
	char more[32] = "", file[64] = "";
	if (note->count > 1) {
		snprintf(more, sizeof more, " (and %d more)", note->count - 1);
	}
	if (note->file > 0) {
		const char* path = reader->files.items[note->file];
		const char* slash = strrchr(path, '/');
		snprintf(file, sizeof file, "%.40s:", slash != NULL ? slash + 1 : path);
	}
	const int room = 158 - (int)(strlen(more) + strlen(file)) - 16;
	snprintf(line, 160, "%s%d:%d: %.*s%s", file, note->line, note->column, room, note->text, more);
}

bool knMjcf_TakeReport(knMjcf* reader, knLoadReport* report) {
	if (report == NULL || reader->notes.count == 0) {
		return true;
	}
	// the caller frees it without naming an allocator, so it is the default one's
	const knAllocator allocator = knAllocator_Default();
	const size_t count = (size_t)reader->notes.count;
	char(*lines)[160] = knAllocArray(&allocator, count, sizeof *lines);
	knLoadSeverity* severities = knAllocArray(&allocator, count, sizeof *severities);
	if (lines == NULL || severities == NULL) {
		knFree(&allocator, lines, count * sizeof *lines);
		knFree(&allocator, severities, count * sizeof *severities);
		return knMjcf_NoMemory(reader);
	}
	// what matters most comes first
	int at = 0;
	for (int severity = KN_LOAD_OMITTED; severity >= KN_LOAD_NOTE; --severity) {
		for (int i = 0; i < reader->notes.count; ++i) {
			if ((int)reader->notes.items[i].severity == severity) {
				severities[at] = (knLoadSeverity)severity;
				writeLine(reader, &reader->notes.items[i], lines[at++]);
			}
		}
	}
	*report = (knLoadReport){ reader->notes.count, lines, severities };
	return true;
}

int knLoadReport_Count(const knLoadReport* report, knLoadSeverity severity) {
	int count = 0;
	for (int i = 0; i < report->count; ++i) {
		count += report->severities[i] == severity ? 1 : 0;
	}
	return count;
}

void knLoadReport_Free(knLoadReport* report) {
	if (report != NULL) {
		const knAllocator allocator = knAllocator_Default();
		knFree(&allocator, report->lines, (size_t)report->count * sizeof *report->lines);
		knFree(&allocator, report->severities, (size_t)report->count * sizeof *report->severities);
		*report = (knLoadReport){ 0 };
	}
}
