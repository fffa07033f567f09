// JSON writing. The two outer levels have a line for each element; what is deeper stays on one line, so that
// files are readable and differ line by line, yet arrays of numbers stay compact.
//
// After a failed allocation nothing more is written; the text so far is kept, and `failed` says so.
#include "core/json.h"

#include "core/text.h"
#include "knuckle/vecmath.h"

#include <stdio.h>
#include <string.h>

enum { SPREAD_DEPTH = 2 };

void knJson_Init(knJson* json, const knAllocator* allocator) {
	*json = (knJson){ .allocator = *allocator };
}

void knJson_Free(knJson* json) {
	knFree(&json->allocator, json->text, json->capacity);
	*json = (knJson){ .allocator = json->allocator };
}

static void append(knJson* json, const char* bytes, size_t size) {
	if (json->failed) {
		return;
	}
	if (size >= json->capacity - json->length) {
		size_t capacity = json->capacity < 512 ? 1024 : 2 * json->capacity;
		capacity = capacity <= json->length + size ? json->length + size + 1 : capacity;
		char* text = knAlloc(&json->allocator, capacity);
		if (text == NULL) {
			json->failed = true;
			return;
		}
		if (json->length > 0) {
			memcpy(text, json->text, json->length);
		}
		knFree(&json->allocator, json->text, json->capacity);
		json->text = text;
		json->capacity = capacity;
	}
	memcpy(json->text + json->length, bytes, size);
	json->length += size;
	json->text[json->length] = '\0';
}

static void appendText(knJson* json, const char* text) {
	append(json, text, strlen(text));
}

// Quoted and escaped. Bytes above 127 pass unchanged, so UTF-8 stays UTF-8.
static void appendQuoted(knJson* json, const char* text) {
	append(json, "\"", 1);
	const char* plain = text;
	for (const char* at = text; *at != '\0'; ++at) {
		unsigned char c = (unsigned char)*at;
		if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) {
			continue;
		}
		append(json, plain, (size_t)(at - plain));
		plain = at + 1;
		char escape[8];
		const char* shortForm = strchr("\"\"\\\\\bb\ff\nn\rr\tt", c);
		if (shortForm != NULL) {
			snprintf(escape, sizeof escape, "\\%c", shortForm[1]);
		} else {
			snprintf(escape, sizeof escape, "\\u%04x", c);
		}
		appendText(json, escape);
	}
	appendText(json, plain);
	append(json, "\"", 1);
}

static void newLine(knJson* json) {
	append(json, "\n", 1);
	for (int i = 0; i < json->depth; ++i) {
		append(json, "  ", 2);
	}
}

// What stands before a value: comma, line break or blank, key.
static void beginValue(knJson* json, const char* key) {
	if (json->needComma) {
		append(json, ",", 1);
	}
	if (json->depth > 0 && json->depth <= SPREAD_DEPTH) {
		newLine(json);
	} else if (json->needComma) {
		append(json, " ", 1);
	}
	if (key != NULL) {
		appendQuoted(json, key);
		append(json, ": ", 2);
	}
	json->needComma = true;
}

static void beginGroup(knJson* json, const char* key, const char* bracket) {
	beginValue(json, key);
	appendText(json, bracket);
	json->depth += 1;
	json->needComma = false;
}

static void endGroup(knJson* json, const char* bracket) {
	KN_ASSERT(json->depth > 0);
	bool empty = !json->needComma;
	json->depth -= 1;
	if (!empty && json->depth < SPREAD_DEPTH) {
		newLine(json);
	}
	appendText(json, bracket);
	if (json->depth == 0) {
		append(json, "\n", 1);
	}
	json->needComma = true;
}

void knJson_BeginObject(knJson* json, const char* key) {
	beginGroup(json, key, "{");
}

void knJson_EndObject(knJson* json) {
	endGroup(json, "}");
}

void knJson_BeginArray(knJson* json, const char* key) {
	beginGroup(json, key, "[");
}

void knJson_EndArray(knJson* json) {
	endGroup(json, "]");
}

void knJson_Number(knJson* json, const char* key, double value) {
	if (!knIsFinite(value)) {
		knJson_Null(json, key);
		return;
	}
	char number[40];
	snprintf(number, sizeof number, "%.17g", value);
	knText_UseDot(number);
	beginValue(json, key);
	appendText(json, number);
}

void knJson_Integer(knJson* json, const char* key, int64_t value) {
	char number[24];
	snprintf(number, sizeof number, "%lld", (long long)value);
	beginValue(json, key);
	appendText(json, number);
}

void knJson_Bool(knJson* json, const char* key, bool value) {
	beginValue(json, key);
	appendText(json, value ? "true" : "false");
}

void knJson_String(knJson* json, const char* key, const char* value) {
	if (value == NULL) {
		knJson_Null(json, key);
		return;
	}
	beginValue(json, key);
	appendQuoted(json, value);
}

void knJson_Null(knJson* json, const char* key) {
	beginValue(json, key);
	appendText(json, "null");
}
