// PLY: a header that names elements and their properties, then the elements in text or binary, little or big end first.
//
//   element vertex N    property TYPE x, y, z            others are passed over
//   element face N      property list TYPE TYPE vertex_indices (or vertex_index)
//
// All other elements are passed over, by their sizes. A face of more than three corners becomes a fan.
#include <string.h>

#include "core/text.h"
#include "mesh_file.h"

enum { ELEMENTS_MOST = 32, PROPERTIES_MOST = 64, WORD_MOST = 64 };

typedef enum Coding { TEXT, LITTLE, BIG } Coding;

typedef struct Type {
	const char *name, *other;
	int size;
	char kind; // i: signed, u: unsigned, f: floating
} Type;

static const Type types[] = {
	{ "char", "int8", 1, 'i' },     { "uchar", "uint8", 1, 'u' },    { "short", "int16", 2, 'i' },
	{ "ushort", "uint16", 2, 'u' }, { "int", "int32", 4, 'i' },      { "uint", "uint32", 4, 'u' },
	{ "float", "float32", 4, 'f' }, { "double", "float64", 8, 'f' },
};

typedef enum Role { OTHER, X, Y, Z, CORNERS } Role;

typedef struct Property {
	const Type *type, *count; // count: of a list, else NULL
	Role role;
} Property;

typedef struct Element {
	uint64_t count;
	bool vertex, face;
	Property properties[PROPERTIES_MOST];
	int propertyCount;
} Element;

typedef struct Ply {
	knMeshReader* reader;
	size_t at;
	Coding coding;
	Element elements[ELEMENTS_MOST];
	int elementCount;
	uint64_t vertexCount;
} Ply;

// --- header ----------------------------------------------------------------------------------------------

// The next word of the line, "" at its end. False if it is too long.
static bool nextWord(Ply* ply, char word[WORD_MOST]) {
	const char* bytes = ply->reader->bytes;
	while (bytes[ply->at] == ' ' || bytes[ply->at] == '\t' || bytes[ply->at] == '\r') {
		ply->at += 1;
	}
	const size_t length = strcspn(bytes + ply->at, " \t\r\n");
	if (length >= WORD_MOST) {
		return knMeshReader_Fail(ply->reader, KN_BAD_DATA, "a word has more than %d characters",
								 WORD_MOST - 1);
	}
	memcpy(word, bytes + ply->at, length);
	word[length] = '\0';
	ply->at += length;
	return true;
}

static bool nextLine(Ply* ply) {
	const char* end = memchr(ply->reader->bytes + ply->at, '\n', ply->reader->size - ply->at);
	if (end == NULL) {
		return knMeshReader_Fail(ply->reader, KN_BAD_DATA, "the header has no end_header");
	}
	ply->at = (size_t)(end - ply->reader->bytes) + 1;
	ply->reader->line += 1;
	return true;
}

static const Type* findType(Ply* ply, const char* word) {
	for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
		if (strcmp(word, types[i].name) == 0 || strcmp(word, types[i].other) == 0) {
			return &types[i];
		}
	}
	knMeshReader_Fail(ply->reader, KN_BAD_DATA, "'%.40s' is not a type of PLY", word);
	return NULL;
}

static bool readFormat(Ply* ply) {
	static const char* const codings[] = { "ascii", "binary_little_endian", "binary_big_endian" };
	char word[WORD_MOST];
	if (!nextWord(ply, word)) {
		return false;
	}
	for (int i = 0; i < 3; ++i) {
		if (strcmp(word, codings[i]) == 0) {
			ply->coding = (Coding)i;
			return true;
		}
	}
	return knMeshReader_Fail(ply->reader, KN_BAD_DATA, "'%.40s' is not a format of PLY", word);
}

static bool readElement(Ply* ply) {
	char name[WORD_MOST], number[WORD_MOST];
	double count;
	if (!nextWord(ply, name) || !nextWord(ply, number)) {
		return false;
	}
	if (!knText_ParseDouble(number, &count) || !(count >= 0.0) || count != floor(count)) {
		return knMeshReader_Fail(ply->reader, KN_BAD_DATA, "'%.40s' is not a number of elements", number);
	}
	if (ply->elementCount == ELEMENTS_MOST || count > KN_MESH_FILE_MAX) {
		return knMeshReader_Fail(ply->reader, KN_LIMIT,
								 "there are more than %d kinds of elements, or %d of one", ELEMENTS_MOST,
								 KN_MESH_FILE_MAX);
	}
	Element* element = &ply->elements[ply->elementCount++];
	*element = (Element){ .count = (uint64_t)count };
	element->vertex = strcmp(name, "vertex") == 0;
	element->face = strcmp(name, "face") == 0;
	ply->vertexCount = element->vertex ? element->count : ply->vertexCount;
	return true;
}

static Role roleOf(const Element* element, const char* name, bool list) {
	static const char* const axes[] = { "x", "y", "z" };
	for (int i = 0; i < 3 && element->vertex && !list; ++i) {
		if (strcmp(name, axes[i]) == 0) {
			return (Role)(X + i);
		}
	}
	const bool corners = strcmp(name, "vertex_indices") == 0 || strcmp(name, "vertex_index") == 0;
	return element->face && list && corners ? CORNERS : OTHER;
}

static bool readProperty(Ply* ply) {
	char word[WORD_MOST];
	Property property = { .type = NULL };
	if (ply->elementCount == 0) {
		return knMeshReader_Fail(ply->reader, KN_BAD_DATA, "a property stands before any element");
	}
	Element* element = &ply->elements[ply->elementCount - 1];
	if (!nextWord(ply, word)) {
		return false;
	}
	const bool list = strcmp(word, "list") == 0;
	if (list &&
		(!nextWord(ply, word) || (property.count = findType(ply, word)) == NULL || !nextWord(ply, word))) {
		return false;
	}
	property.type = findType(ply, word);
	if (property.type == NULL || !nextWord(ply, word)) {
		return false;
	}
	if (list && property.count->kind == 'f') {
		return knMeshReader_Fail(ply->reader, KN_BAD_DATA, "a list counts by whole numbers");
	}
	property.role = roleOf(element, word, list);
	if (element->propertyCount == PROPERTIES_MOST) {
		return knMeshReader_Fail(ply->reader, KN_LIMIT, "an element has more than %d properties",
								 PROPERTIES_MOST);
	}
	element->properties[element->propertyCount++] = property;
	return true;
}

static bool readHeader(Ply* ply) {
	char word[WORD_MOST];
	ply->reader->line = 1;
	if (!nextWord(ply, word)) {
		return false;
	}
	if (strcmp(word, "ply") != 0) {
		return knMeshReader_Fail(ply->reader, KN_BAD_DATA, "the file does not begin with 'ply'");
	}
	while (nextLine(ply) && nextWord(ply, word)) {
		if (strcmp(word, "end_header") == 0) {
			return nextLine(ply);
		}
		const bool other = strcmp(word, "comment") == 0 || strcmp(word, "obj_info") == 0 || word[0] == '\0';
		const bool ok = strcmp(word, "format") == 0     ? readFormat(ply)
						: strcmp(word, "element") == 0  ? readElement(ply)
						: strcmp(word, "property") == 0 ? readProperty(ply)
														: other;
		if (!ok) {
			return knMeshReader_Fail(ply->reader, KN_BAD_DATA, "'%.40s' is not a word of PLY's header", word);
		}
	}
	return false;
}

// --- values ----------------------------------------------------------------------------------------------

static bool failShort(Ply* ply) {
	return knMeshReader_Fail(ply->reader, KN_BAD_DATA, "the file ends at byte %zu, within its elements",
							 ply->at);
}

static bool readText(Ply* ply, double* value) {
	const char* bytes = ply->reader->bytes;
	char word[WORD_MOST];
	while (ply->at < ply->reader->size && strchr(" \t\r\n", bytes[ply->at]) != NULL) {
		ply->reader->line += bytes[ply->at] == '\n' ? 1 : 0;
		ply->at += 1;
	}
	if (ply->at >= ply->reader->size) {
		return failShort(ply);
	}
	return nextWord(ply, word) &&
		   (knText_ParseDouble(word, value) ||
			knMeshReader_Fail(ply->reader, KN_BAD_DATA, "'%.40s' is not a finite number", word));
}

static double decode(const Type* type, uint64_t word) {
	if (type->kind == 'f' && type->size == 4) {
		const uint32_t half = (uint32_t)word;
		float value;
		memcpy(&value, &half, sizeof value);
		return value;
	}
	if (type->kind == 'f') {
		double value;
		memcpy(&value, &word, sizeof value);
		return value;
	}
	const uint64_t sign = UINT64_C(1) << (8 * type->size - 1);
	return type->kind == 'i' && (word & sign) != 0 ? -(double)(2 * sign - word) : (double)word;
}

static bool readValue(Ply* ply, const Type* type, double* value) {
	if (ply->coding == TEXT) {
		return readText(ply, value);
	}
	const size_t size = (size_t)type->size;
	if (size > ply->reader->size - ply->at) {
		return failShort(ply);
	}
	const unsigned char* b = (const unsigned char*)ply->reader->bytes + ply->at;
	uint64_t word = 0;
	for (size_t k = 0; k < size; ++k) {
		word |= (uint64_t)b[k] << 8 * (ply->coding == LITTLE ? k : size - 1 - k);
	}
	*value = decode(type, word);
	ply->at += size;
	return true;
}

// --- elements --------------------------------------------------------------------------------------------

static bool addTriangle(Ply* ply, const int corners[3]) {
	knMeshReader* reader = ply->reader;
	const knTriangle triangle = { corners[0], corners[1], corners[2] };
	return knMeshReader_CheckCount(reader, "triangles", (uint64_t)reader->triangles.count + 1) &&
		   (KN_ARRAY_PUSH(&reader->allocator, &reader->triangles, triangle) || knMeshReader_NoMemory(reader));
}

static bool readList(Ply* ply, const Property* property) {
	double count;
	int corners[3] = { 0 };
	if (!readValue(ply, property->count, &count)) {
		return false;
	}
	if (!(count >= 0.0) || count != floor(count) || count > (double)(ply->reader->size - ply->at)) {
		return knMeshReader_Fail(ply->reader, KN_BAD_DATA, "a list before byte %zu has %g entries", ply->at,
								 count);
	}
	for (double k = 0.0; k < count; k += 1.0) {
		double value;
		if (!readValue(ply, property->type, &value)) {
			return false;
		}
		if (property->role != CORNERS) {
			continue;
		}
		if (!(value >= 0.0) || value >= (double)ply->vertexCount || value != floor(value)) {
			return knMeshReader_Fail(ply->reader, KN_BAD_DATA,
									 "a face before byte %zu names vertex %g of %llu", ply->at, value,
									 (unsigned long long)ply->vertexCount);
		}
		corners[k < 1.0 ? 0 : 2] = (int)value;
		if (k >= 2.0 && !addTriangle(ply, corners)) {
			return false;
		}
		corners[1] = k >= 1.0 ? (int)value : corners[1];
	}
	return true;
}

static bool readOne(Ply* ply, const Element* element) {
	double vertex[3] = { 0.0 };
	for (int p = 0; p < element->propertyCount; ++p) {
		const Property* property = &element->properties[p];
		double value;
		if (property->count != NULL) {
			if (!readList(ply, property)) {
				return false;
			}
			continue;
		}
		if (!readValue(ply, property->type, &value)) {
			return false;
		}
		if (property->role >= X && property->role <= Z) {
			vertex[property->role - X] = value;
		}
	}
	const knVec3 v = knV3(vertex[0], vertex[1], vertex[2]);
	knMeshReader* reader = ply->reader;
	return !element->vertex ||
		   ((knIsFinite3(v) ||
			 knMeshReader_Fail(reader, KN_BAD_DATA, "the vertex before byte %zu is not finite", ply->at)) &&
			(KN_ARRAY_PUSH(&reader->allocator, &reader->vertices, v) || knMeshReader_NoMemory(reader)));
}

bool knMeshPly_Read(knMeshReader* reader) {
	Ply ply = { .reader = reader };
	if (!readHeader(&ply)) {
		return false;
	}
	reader->line = ply.coding == TEXT ? reader->line : 0;
	for (int e = 0; e < ply.elementCount; ++e) {
		const Element* element = &ply.elements[e];
		// an element without properties has no bytes
		for (uint64_t i = 0; i < element->count && element->propertyCount > 0; ++i) {
			if (!readOne(&ply, element)) {
				return false;
			}
		}
	}
	return true;
}
