// Statuses and errors: filling in a knError without ever overrunning it, and printing it as one line.
//
// Texts that are too long are cut at a character's border, so that a cut UTF-8 text stays valid.
#include "knuckle/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char* knStatus_Name(knStatus status) {
	switch (status) {
	case KN_OK:
		return "ok";
	case KN_BAD_ARGUMENT:
		return "bad argument";
	case KN_BAD_DATA:
		return "bad data";
	case KN_LIMIT:
		return "limit exceeded";
	case KN_NO_MEMORY:
		return "out of memory";
	case KN_IO:
		return "input/output failed";
	case KN_UNSUPPORTED:
		return "unsupported";
	case KN_DIVERGED:
		return "diverged";
	case KN_CANCELLED:
		return "cancelled";
	}
	return "unknown status";
}

// Drops a UTF-8 character whose end was cut off.
static void dropPartialCharacter(char* text, size_t length) {
	size_t tail = 0;
	while (tail < 3 && tail < length && ((unsigned char)text[length - 1 - tail] & 0xC0) == 0x80) {
		++tail;
	}
	if (tail == length) {
		return;
	}
	unsigned char lead = (unsigned char)text[length - 1 - tail];
	size_t wanted = lead >= 0xF0 ? 3 : (lead >= 0xE0 ? 2 : (lead >= 0xC0 ? 1 : 0));
	if (tail < wanted) {
		text[length - 1 - tail] = '\0';
	}
}

knStatus knError_Set(knError* error, knStatus status, const char* element, const char* format, ...) {
	if (error == NULL) {
		return status;
	}

	// the arguments may point into `error` itself, so the new one is made beside it
	knError made = { .status = status };
	int written = snprintf(made.element, sizeof made.element, "%s", element != NULL ? element : "");
	if (written >= (int)sizeof made.element) {
		dropPartialCharacter(made.element, sizeof made.element - 1);
	}
	va_list arguments;
	va_start(arguments, format);
	written = vsnprintf(made.message, sizeof made.message, format, arguments);
	va_end(arguments);
	if (written >= (int)sizeof made.message) {
		dropPartialCharacter(made.message, sizeof made.message - 1);
	}
	*error = made;
	return status;
}

const char* knError_Format(const knError* error, char* text, size_t capacity) {
	if (capacity == 0) {
		return text;
	}

	// where: "file:line:column: "
	char place[sizeof error->file + 32] = "";
	if (error->file[0] != '\0' && error->line > 0 && error->column > 0) {
		snprintf(place, sizeof place, "%s:%d:%d: ", error->file, error->line, error->column);
	} else if (error->file[0] != '\0' && error->line > 0) {
		snprintf(place, sizeof place, "%s:%d: ", error->file, error->line);
	} else if (error->file[0] != '\0') {
		snprintf(place, sizeof place, "%s: ", error->file);
	} else if (error->line > 0 && error->column > 0) {
		snprintf(place, sizeof place, "%d:%d: ", error->line, error->column);
	} else if (error->line > 0) {
		snprintf(place, sizeof place, "%d: ", error->line);
	}

	// what: a sentence that begins with its element needs no second mention of it
	bool named = strncmp(error->message, error->element, strlen(error->element)) == 0;
	const char* element = named ? "" : error->element;
	const char* colon = element[0] != '\0' && error->message[0] != '\0' ? ": " : "";
	const char* message = error->message[0] != '\0' || error->element[0] != '\0'
							  ? error->message
							  : knStatus_Name(error->status);
	int written = snprintf(text, capacity, "%s%s%s%s", place, element, colon, message);
	if (written >= 0 && (size_t)written >= capacity) {
		dropPartialCharacter(text, capacity - 1);
	}
	return text;
}
