// JSON writing to a growing buffer: commas, escapes and 17-digit numbers taken care of. Not finite numbers
// become null.
#pragma once

#include "core/alloc.h"

typedef struct knJson {
	knAllocator allocator;
	char* text; // zero-terminated
	size_t length, capacity;
	int depth;
	bool needComma;
	bool failed; // out of memory
} knJson;

void knJson_Init(knJson* json, const knAllocator* allocator);
void knJson_Free(knJson* json);
// `key` is NULL inside arrays and at the top.
void knJson_BeginObject(knJson* json, const char* key);
void knJson_EndObject(knJson* json);
void knJson_BeginArray(knJson* json, const char* key);
void knJson_EndArray(knJson* json);
void knJson_Number(knJson* json, const char* key, double value);
void knJson_Integer(knJson* json, const char* key, int64_t value);
void knJson_Bool(knJson* json, const char* key, bool value);
void knJson_String(knJson* json, const char* key, const char* value);
void knJson_Null(knJson* json, const char* key);
