// Values to little-endian bytes and back (scene_bytes.c): one call serves both ways, writing what it is given or filling
// it from what was written. Reading never goes beyond the end; what does not fit marks the stream as broken.
#pragma once

#include <string.h>

#include "core/array.h"
#include "model/scene_internal.h"

#define MAX_TEXT 4096

typedef KN_ARRAY(uint8_t) Bytes;

typedef struct Stream {
	knAllocator allocator;
	bool reading;
	Bytes out;         // writing
	const uint8_t* in; // reading
	size_t left;
	bool noMemory;
	bool broken;         // reading: cut short, or a number out of range
	char text[MAX_TEXT]; // of the last ioText
} Stream;

// --- values --------------------------------------------------------------------------------------------------------

static inline void ioBytes(Stream* stream, void* bytes, size_t size) {
	if (stream->reading) {
		if (size > stream->left) {
			stream->broken = true;
			stream->left = 0;
			memset(bytes, 0, size);
			return;
		}
		memcpy(bytes, stream->in, size);
		stream->in += size;
		stream->left -= size;
		return;
	}
	if (size > (size_t)(INT32_MAX - stream->out.count) ||
		!KN_ARRAY_RESERVE(&stream->allocator, &stream->out, stream->out.count + (int)size)) {
		stream->noMemory = true;
		return;
	}
	memcpy(stream->out.items + stream->out.count, bytes, size);
	stream->out.count += (int)size;
}

static inline void ioWord(Stream* stream, uint64_t* word, int size) {
	uint8_t bytes[8];
	for (int k = 0; k < size; ++k) {
		bytes[k] = (uint8_t)(*word >> 8 * k);
	}
	ioBytes(stream, bytes, (size_t)size);
	*word = 0;
	for (int k = 0; k < size; ++k) {
		*word |= (uint64_t)bytes[k] << 8 * k;
	}
}

static inline void ioDouble(Stream* stream, double* value) {
	uint64_t word;
	memcpy(&word, value, sizeof(word));
	ioWord(stream, &word, 8);
	memcpy(value, &word, sizeof(word));
}

static inline void ioVec(Stream* stream, knVec3* v) {
	ioDouble(stream, &v->x);
	ioDouble(stream, &v->y);
	ioDouble(stream, &v->z);
}

static inline void ioFrame(Stream* stream, knFrame* frame) {
	ioVec(stream, &frame->p);
	ioDouble(stream, &frame->q.w);
	ioDouble(stream, &frame->q.x);
	ioDouble(stream, &frame->q.y);
	ioDouble(stream, &frame->q.z);
}

static inline void ioBool(Stream* stream, bool* value) {
	uint64_t word = *value ? 1 : 0;
	ioWord(stream, &word, 1);
	*value = word != 0;
}

static inline uint32_t ioU32(Stream* stream, uint32_t value) {
	uint64_t word = value;
	ioWord(stream, &word, 4);
	return (uint32_t)word;
}

static inline void ioU64(Stream* stream, uint64_t* value) {
	ioWord(stream, value, 8);
}

// A number below `count`; broken where it is not.
static inline int ioIndex(Stream* stream, int value, int count) {
	uint32_t word = ioU32(stream, (uint32_t)value);
	if (word >= (uint32_t)count) {
		stream->broken = true;
		return 0;
	}
	return (int)word;
}

// A count of things of which each takes `each` bytes at least.
static inline int ioCount(Stream* stream, int value, size_t each) {
	uint32_t word = ioU32(stream, (uint32_t)value);
	if (stream->reading && (word > KN_SCENE_MAX || word > stream->left / each)) {
		stream->broken = true;
		return 0;
	}
	return (int)word;
}

// NULL is kept apart from "". What was read stays until the next text.
static inline const char* ioText(Stream* stream, const char* text) {
	uint32_t length = ioU32(stream, text != NULL ? (uint32_t)strlen(text) + 1 : 0);
	if (!stream->reading) {
		if (text != NULL) {
			ioBytes(stream, (void*)(uintptr_t)text, length - 1);
		}
		return text;
	}
	if (length > MAX_TEXT || length > stream->left + 1) {
		stream->broken = true;
		return NULL;
	}
	if (length == 0) {
		return NULL;
	}
	ioBytes(stream, stream->text, length - 1);
	stream->text[length - 1] = '\0';
	return stream->text;
}
