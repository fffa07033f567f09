// Reads the values of attributes by the tables of mjcf_fields.c, and fills what is not given from the defaults of classes.
#include "mjcf.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"

// --- numbers ---------------------------------------------------------------------------------------------

static bool isBlank(char c) {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int knMjcf_ParseNumbers(const char* text, double* numbers, int capacity, char* bad) {
	int count = 0;
	for (;;) {
		while (isBlank(*text)) {
			++text;
		}
		if (*text == '\0') {
			return count;
		}
		size_t length = 0;
		while (text[length] != '\0' && !isBlank(text[length])) {
			++length;
		}
		char token[400];
		double value = 0.0;
		bool fits = length < sizeof token;
		if (fits) {
			memcpy(token, text, length);
			token[length] = '\0';
		}
		if (!fits || !knText_ParseDouble(token, &value)) {
			snprintf(bad, 32, "%.*s", (int)(length < 31 ? length : 31), text);
			return -1;
		}
		if (count < capacity) {
			numbers[count] = value;
		}
		count += count < INT32_MAX ? 1 : 0;
		text += length;
	}
}

static bool failNumber(knMjcf* reader, const char* tag, const char* attribute, const char* bad) {
	return knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA, "%s: '%s' is not a finite number", attribute, bad);
}

// As many numbers as the field takes; -1 after a refusal.
static int parseReals(knMjcf* reader, const char* tag, const knMjcfField* field, const char* text,
					  double numbers[10]) {
	char bad[32];
	int count = knMjcf_ParseNumbers(text, numbers, 10, bad);
	if (count < 0) {
		failNumber(reader, tag, field->name, bad);
		return -1;
	}
	// a colour, the only one that may be empty, may also lack its last number
	if (count < field->least || count > field->most || (field->least == 0 && count < field->most - 1)) {
		if (field->least == field->most || field->least == 0) {
			knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA, "%s has %d number%s; it takes %d", field->name, count,
						count == 1 ? "" : "s", field->most);
			return -1;
		}
		knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA, "%s has %d number%s; it takes %d to %d", field->name,
					count, count == 1 ? "" : "s", field->least, field->most);
		return -1;
	}
	return count;
}

static bool readReals(knMjcf* reader, const char* tag, const knMjcfField* field, const char* text,
					  char* element) {
	double numbers[10];
	const int count = parseReals(reader, tag, field, text, numbers);
	if (count < 0) {
		return false;
	}
	memcpy(element + field->offset, numbers, (size_t)count * sizeof(double));
	((knMjcfElement*)(void*)element)->counts[field->bit] = (uint8_t)count;
	if (field->countOffset != 0) {
		memcpy(element + field->countOffset, &count, sizeof count);
	}
	return true;
}

static bool readNumbers(knMjcf* reader, const char* tag, const knMjcfField* field, const char* text,
						char* element) {
	char bad[32];
	int count = knMjcf_ParseNumbers(text, NULL, 0, bad);
	if (count < 0) {
		return failNumber(reader, tag, field->name, bad);
	}
	double* numbers = KN_SCRATCH(&reader->arena, double, count);
	if (numbers == NULL) {
		return knMjcf_NoMemory(reader);
	}
	knMjcf_ParseNumbers(text, numbers, count, bad);
	knMjcfNumbers list = { numbers, count };
	memcpy(element + field->offset, &list, sizeof list);
	return true;
}

static bool readWord(knMjcf* reader, const char* tag, const knMjcfField* field, const char* text,
					 char* element) {
	char allowed[128] = "";
	size_t length = 0;
	for (int i = 0; field->words[i] != NULL; ++i) {
		if (strcmp(field->words[i], text) == 0) {
			memcpy(element + field->offset, &i, sizeof i);
			return true;
		}
		length += (size_t)snprintf(allowed + length, sizeof allowed - length, "%s%s", i > 0 ? ", " : "",
								   field->words[i]);
	}
	return knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA, "%s is '%.40s'; it must be one of %s", field->name,
					   text, allowed);
}

// What is not followed may still be wrong.
static bool readSilent(knMjcf* reader, const char* tag, const knMjcfField* field, const char* text) {
	double numbers[10];
	int word;
	if (field->words != NULL) {
		return readWord(reader, tag, field, text, (char*)&word);
	}
	return field->most == 0 || text[0] == '\0' || parseReals(reader, tag, field, text, numbers) >= 0;
}

// A name in a model that is attached, and what is called so in a <replicate>; the world has only one.
static const char* prefixed(knMjcf* reader, const char* text, bool own) {
	const char* prefix = reader->prefix != NULL ? reader->prefix : "";
	const char* last = own ? reader->suffix : reader->attachSuffix;
	if (strcmp(text, "world") == 0) {
		return knMjcf_CopyText(reader, text);
	}
	const char* suffix = last != NULL ? last : "";
	const size_t first = strlen(prefix), middle = strlen(text), size = strlen(suffix) + 1;
	char* copy = knArena_Take(&reader->arena, first + middle + size);
	if (copy == NULL) {
		knMjcf_NoMemory(reader);
		return NULL;
	}
	memcpy(copy, prefix, first);
	memcpy(copy + first, text, middle);
	memcpy(copy + first + middle, suffix, size);
	return copy;
}

static bool readField(knMjcf* reader, const char* tag, const knMjcfField* field, const char* text,
					  char* element) {
	switch (field->kind) {
	case KN_MJCF_FIELD_REALS:
		return readReals(reader, tag, field, text, element);
	case KN_MJCF_FIELD_NUMBERS:
		return readNumbers(reader, tag, field, text, element);
	case KN_MJCF_FIELD_WORD:
		return readWord(reader, tag, field, text, element);
	case KN_MJCF_FIELD_INT: {
		int value;
		if (!knText_ParseInt(text, &value)) {
			return knMjcf_Fail(reader, NULL, tag, KN_BAD_DATA, "%s: '%.40s' is not an integer", field->name,
							   text);
		}
		memcpy(element + field->offset, &value, sizeof value);
		return true;
	}
	case KN_MJCF_FIELD_TEXT: {
		const char* copy = knMjcf_CopyText(reader, text);
		memcpy(element + field->offset, &copy, sizeof copy);
		return copy != NULL;
	}
	case KN_MJCF_FIELD_NAME: {
		const char* copy = prefixed(reader, text, field->bit == KN_MJCF_NAME);
		memcpy(element + field->offset, &copy, sizeof copy);
		return copy != NULL;
	}
	case KN_MJCF_FIELD_NOTED:
		knMjcf_Approximate(reader, NULL, "<%s> %s not followed", tag, field->name);
		return readSilent(reader, tag, field, text);
	case KN_MJCF_FIELD_SILENT:
		return readSilent(reader, tag, field, text);
	}
	return true;
}

// --- elements --------------------------------------------------------------------------------------------

static const knMjcfField* findField(const knMjcfElementType* type, const char* name) {
	for (int i = 0; i < type->fieldCount; ++i) {
		if (strcmp(type->fields[i].name, name) == 0) {
			return &type->fields[i];
		}
	}
	return NULL;
}

bool knMjcf_ReadElement(knMjcf* reader, const knMjcfElementType* type, const char** attributes,
						void* element) {
	knMjcfElement* head = element;
	head->line = reader->line;
	head->column = reader->column;
	head->file = reader->fileIndex;
	head->compiler = reader->compilerIndex;
	uint64_t orientations = 0;
	for (int i = 0; attributes[i] != NULL; i += 2) {
		const knMjcfField* field = findField(type, attributes[i]);
		if (field == NULL) {
			if (type->looks) {
				knMjcf_Note(reader, NULL, "<%s> %.60s is not understood", type->tag, attributes[i]);
			} else {
				knMjcf_Omit(reader, NULL, "<%s> %.60s is not understood", type->tag, attributes[i]);
			}
			continue;
		}
		if (field->kind == KN_MJCF_FIELD_REALS && field->least == 0 && attributes[i + 1][0] == '\0') {
			continue;
		}
		if (!readField(reader, type->tag, field, attributes[i + 1], element)) {
			return false;
		}
		if (field->kind >= KN_MJCF_FIELD_SILENT) {
			continue;
		}
		const uint64_t bit = KN_MJCF_BIT(field->bit);
		if ((bit & KN_MJCF_ORIENTATION_BITS) != 0 && orientations != 0) {
			return knMjcf_Fail(reader, NULL, type->tag, KN_BAD_DATA,
							   "it has two orientations; give one of quat, axisangle, euler, xyaxes, zaxis");
		}
		orientations |= bit & KN_MJCF_ORIENTATION_BITS;
		// in a <default> that speaks twice, the later orientation replaces the earlier
		head->given =
			(orientations != 0 ? head->given & ~KN_MJCF_ORIENTATION_BITS : head->given) | orientations | bit;
	}
	return !reader->failed;
}

// Bytes of a field's value.
static size_t fieldSize(const knMjcfField* field) {
	switch (field->kind) {
	case KN_MJCF_FIELD_REALS:
		return (size_t)field->most * sizeof(double);
	case KN_MJCF_FIELD_NUMBERS:
		return sizeof(knMjcfNumbers);
	case KN_MJCF_FIELD_INT:
	case KN_MJCF_FIELD_WORD:
		return sizeof(int);
	case KN_MJCF_FIELD_TEXT:
	case KN_MJCF_FIELD_NAME:
		return sizeof(const char*);
	case KN_MJCF_FIELD_SILENT:
	case KN_MJCF_FIELD_NOTED:
		break;
	}
	return 0;
}

// Of numbers of which fewer were written than may be, the rest are the class's.
static void inheritRest(const knMjcfField* field, void* element, const void* defaults) {
	knMjcfElement* head = element;
	const knMjcfElement* from = defaults;
	const int own = head->counts[field->bit], count = from->counts[field->bit];
	if (field->kind != KN_MJCF_FIELD_REALS || field->whole || count <= own) {
		return;
	}
	const size_t done = (size_t)own * sizeof(double), all = (size_t)count * sizeof(double);
	memcpy((char*)element + field->offset + done, (const char*)defaults + field->offset + done, all - done);
	head->counts[field->bit] = (uint8_t)count;
	if (field->countOffset != 0) {
		memcpy((char*)element + field->countOffset, &count, sizeof count);
	}
}

void knMjcf_Inherit(const knMjcfElementType* type, void* element, const void* defaults) {
	knMjcfElement* head = element;
	const knMjcfElement* from = defaults;
	const uint64_t kept = (head->given & KN_MJCF_ORIENTATION_BITS) != 0 ? KN_MJCF_ORIENTATION_BITS : 0;
	const uint64_t never = KN_MJCF_BIT(KN_MJCF_NAME) | KN_MJCF_BIT(KN_MJCF_CLASS);
	const uint64_t wanted = from->given & ~(head->given | kept | never);
	for (int i = 0; i < type->fieldCount; ++i) {
		const knMjcfField* field = &type->fields[i];
		if (field->kind >= KN_MJCF_FIELD_SILENT || (wanted & KN_MJCF_BIT(field->bit)) == 0) {
			if ((head->given & from->given & ~never & KN_MJCF_BIT(field->bit)) != 0) {
				inheritRest(field, element, defaults);
			}
			continue;
		}
		head->counts[field->bit] = from->counts[field->bit];
		memcpy((char*)element + field->offset, (const char*)defaults + field->offset, fieldSize(field));
		if (field->countOffset != 0) {
			memcpy((char*)element + field->countOffset, (const char*)defaults + field->countOffset,
				   sizeof(int));
		}
	}
	head->given |= wanted;
}
