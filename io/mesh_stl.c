// STL, text and binary. Every facet brings its three corners; corners at the same place become one vertex.
//
// Binary files are 80 free bytes, a count, and 50 bytes a facet (normal, three corners, 16 bits of anything). Many begin
// with "solid" like text files, so the kind is told by the size: a file whose size is exactly what its count asks for is
// binary. Facet normals are not kept: they are those of the corners, and files are often wrong about them.
#include <string.h>

#include "core/table.h"
#include "core/text.h"
#include "mesh_file.h"

enum { HEADER = 84, FACET = 50, WORD_MOST = 63 };

static uint32_t wordAt(const knMeshReader* reader, size_t at) {
	const unsigned char* b = (const unsigned char*)reader->bytes + at;
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double floatAt(const knMeshReader* reader, size_t at) {
	uint32_t word = wordAt(reader, at);
	float value;
	memcpy(&value, &word, sizeof value);
	return value;
}

// --- welding ---------------------------------------------------------------------------------------------

typedef struct Weld {
	knTable heads;      // hash of a place -> newest vertex there
	KN_ARRAY(int) next; // [vertex] the one before it with the same hash, -1: none
} Weld;

static uint64_t hashOf(knVec3 v) {
	uint64_t bits[3], h = UINT64_C(0x9e3779b97f4a7c15);
	memcpy(bits, &v, sizeof bits);
	for (int i = 0; i < 3; ++i) {
		h = (h ^ bits[i]) * UINT64_C(0xff51afd7ed558ccd);
		h ^= h >> 32;
	}
	return h;
}

// The vertex at `v`, new if there is none; -1 after an error.
static int vertexAt(knMeshReader* reader, Weld* weld, knVec3 v) {
	// minus zero is zero
	v = knAdd(v, knV3(0.0, 0.0, 0.0));
	const uint64_t hash = hashOf(v);
	const int head = knTable_Get(&weld->heads, hash);
	for (int i = head; i >= 0; i = weld->next.items[i]) {
		const knVec3 u = reader->vertices.items[i];
		if (u.x == v.x && u.y == v.y && u.z == v.z) {
			return i;
		}
	}
	const int index = reader->vertices.count;
	if (!knMeshReader_CheckCount(reader, "vertices", (uint64_t)index + 1)) {
		return -1;
	}
	if (!KN_ARRAY_PUSH(&reader->allocator, &reader->vertices, v) ||
		!KN_ARRAY_PUSH(&reader->allocator, &weld->next, head) || !knTable_Set(&weld->heads, hash, index)) {
		knMeshReader_NoMemory(reader);
		return -1;
	}
	return index;
}

static bool addFacet(knMeshReader* reader, Weld* weld, const knVec3 corners[3]) {
	knTriangle triangle;
	triangle.a = vertexAt(reader, weld, corners[0]);
	triangle.b = triangle.a >= 0 ? vertexAt(reader, weld, corners[1]) : -1;
	triangle.c = triangle.b >= 0 ? vertexAt(reader, weld, corners[2]) : -1;
	if (triangle.c < 0) {
		return false;
	}
	return KN_ARRAY_PUSH(&reader->allocator, &reader->triangles, triangle) || knMeshReader_NoMemory(reader);
}

// --- binary ----------------------------------------------------------------------------------------------

static bool readBinary(knMeshReader* reader, Weld* weld) {
	if (reader->size < HEADER) {
		return knMeshReader_Fail(
			reader, KN_BAD_DATA,
			"the file has %zu bytes and does not begin with 'solid'; a binary STL has at least %d",
			reader->size, HEADER);
	}
	const uint64_t count = wordAt(reader, HEADER - 4), need = HEADER + FACET * count;
	if (need > reader->size) {
		return knMeshReader_Fail(
			reader, KN_BAD_DATA, "the count at byte %d asks for %llu facets, %llu bytes; the file has %zu",
			HEADER - 4, (unsigned long long)count, (unsigned long long)need, reader->size);
	}
	if (!knMeshReader_CheckCount(reader, "facets", count)) {
		return false;
	}
	for (uint64_t f = 0; f < count; ++f) {
		knVec3 corners[3];
		for (size_t k = 0; k < 3; ++k) {
			const size_t at = HEADER + FACET * (size_t)f + 12 * (k + 1);
			corners[k] = knV3(floatAt(reader, at), floatAt(reader, at + 4), floatAt(reader, at + 8));
			if (!knIsFinite3(corners[k])) {
				return knMeshReader_Fail(reader, KN_BAD_DATA, "the corner at byte %zu is not finite", at);
			}
		}
		if (!addFacet(reader, weld, corners)) {
			return false;
		}
	}
	return true;
}

// --- text ------------------------------------------------------------------------------------------------

typedef struct Words {
	const char* at;
	const char* end;
} Words;

static bool isBlank(char c) {
	return c == ' ' || (c >= '\t' && c <= '\r');
}

// The next word; empty at the end. A word that is too long is refused.
static bool nextWord(knMeshReader* reader, Words* words, char word[WORD_MOST + 1]) {
	while (words->at < words->end && isBlank(*words->at)) {
		reader->line += *words->at++ == '\n';
	}
	int length = 0;
	while (words->at < words->end && !isBlank(*words->at)) {
		if (length == WORD_MOST) {
			return knMeshReader_Fail(reader, KN_BAD_DATA, "a word of more than %d characters", WORD_MOST);
		}
		word[length++] = *words->at++;
	}
	word[length] = '\0';
	return true;
}

static void skipLine(Words* words) {
	while (words->at < words->end && *words->at != '\n') {
		++words->at;
	}
}

static bool expect(knMeshReader* reader, Words* words, const char* wanted) {
	char word[WORD_MOST + 1];
	if (!nextWord(reader, words, word)) {
		return false;
	}
	if (word[0] == '\0') {
		return knMeshReader_Fail(reader, KN_BAD_DATA, "the file ends where '%s' is due", wanted);
	}
	return strcmp(word, wanted) == 0 ||
		   knMeshReader_Fail(reader, KN_BAD_DATA, "'%.30s' stands where '%s' is due", word, wanted);
}

static bool readVector(knMeshReader* reader, Words* words, knVec3* v) {
	double numbers[3];
	for (int i = 0; i < 3; ++i) {
		char word[WORD_MOST + 1];
		if (!nextWord(reader, words, word)) {
			return false;
		}
		if (!knText_ParseDouble(word, &numbers[i])) {
			return knMeshReader_Fail(reader, KN_BAD_DATA, "'%.30s' is not a finite number", word);
		}
	}
	*v = knV3(numbers[0], numbers[1], numbers[2]);
	return true;
}

// What follows the word "facet". Normals may be any words: exporters write nan for a facet without area.
static bool readFacet(knMeshReader* reader, Words* words, Weld* weld) {
	knVec3 corners[3];
	char word[WORD_MOST + 1];
	if (!expect(reader, words, "normal")) {
		return false;
	}
	for (int i = 0; i < 3; ++i) {
		if (!nextWord(reader, words, word)) {
			return false;
		}
	}
	if (!expect(reader, words, "outer") || !expect(reader, words, "loop")) {
		return false;
	}
	for (int k = 0; k < 3; ++k) {
		if (!expect(reader, words, "vertex") || !readVector(reader, words, &corners[k])) {
			return false;
		}
	}
	return expect(reader, words, "endloop") && expect(reader, words, "endfacet") &&
		   knMeshReader_CheckCount(reader, "facets", (uint64_t)reader->triangles.count + 1) &&
		   addFacet(reader, weld, corners);
}

static bool readText(knMeshReader* reader, Weld* weld) {
	Words words = { reader->bytes, reader->bytes + reader->size };
	reader->line = 1;
	bool inside = false;
	for (;;) {
		char word[WORD_MOST + 1];
		if (!nextWord(reader, &words, word)) {
			return false;
		}
		if (word[0] == '\0' && !inside) {
			return true;
		}
		if (inside && strcmp(word, "facet") == 0) {
			if (!readFacet(reader, &words, weld)) {
				return false;
			}
		} else if (strcmp(word, inside ? "endsolid" : "solid") == 0) {
			// a name of any words follows on the same line
			skipLine(&words);
			inside = !inside;
		} else if (word[0] == '\0') {
			return knMeshReader_Fail(reader, KN_BAD_DATA, "the file ends where 'facet' or 'endsolid' is due");
		} else {
			return knMeshReader_Fail(reader, KN_BAD_DATA, "'%.30s' stands where '%s' is due", word,
									 inside ? "facet' or 'endsolid" : "solid");
		}
	}
}

// --- either ----------------------------------------------------------------------------------------------

static bool isText(const knMeshReader* reader) {
	if (reader->size >= HEADER &&
		HEADER + FACET * (uint64_t)wordAt(reader, HEADER - 4) == (uint64_t)reader->size) {
		return false;
	}
	size_t at = 0;
	while (at < reader->size && isBlank(reader->bytes[at])) {
		++at;
	}
	return reader->size - at >= 5 && memcmp(reader->bytes + at, "solid", 5) == 0;
}

bool knMeshStl_Read(knMeshReader* reader) {
	Weld weld = { 0 };
	knTable_Init(&weld.heads, &reader->allocator);
	const bool ok = isText(reader) ? readText(reader, &weld) : readBinary(reader, &weld);
	knTable_Free(&weld.heads);
	KN_ARRAY_FREE(&reader->allocator, &weld.next);
	return ok;
}
