// Wavefront OBJ: vertices, texture coordinates, normals, faces of any number of corners, materials with their colours.
//
// Lines are read one by one; a backslash at the end joins a line to the next. Curves, lines, points and groups are
// passed over; a word that OBJ does not have is an error, so that a file of another kind is not taken for an empty mesh.
// Colours (Kd) come from the material files that stand beside the mesh; one that is missing or odd costs only its colours.
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "mesh_file.h"
#include "plain_file.h"

enum { LINE_MOST = 1 << 16, CORNERS_MOST = 4096 };

typedef struct Corner {
	int vertex, uv, normal; // -1: none
} Corner;

typedef struct Obj {
	knMeshReader* reader;
	const char* at;
	const char* end;
	char* line; // LINE_MOST
	KN_ARRAY(knMeshUv) uvs;
	KN_ARRAY(knVec3) normals;
	KN_ARRAY(Corner) corners; // three a triangle
	KN_ARRAY(int) materials;  // one a triangle
	int material;             // of the faces that follow
	bool hasUvs, hasNormals;
} Obj;

static bool isBlank(char c) {
	return c == ' ' || (c >= '\t' && c <= '\r');
}

// --- lines and words -------------------------------------------------------------------------------------

// The next line, joined and without its comment. False at the end, or after an error.
static bool nextLine(Obj* obj) {
	if (obj->at >= obj->end) {
		return false;
	}
	int length = 0;
	bool comment = false;
	obj->reader->line += 1;
	while (obj->at < obj->end) {
		const char c = *obj->at++;
		if (c == '\n') {
			break;
		}
		if (c == '\0') {
			return knMeshReader_Fail(obj->reader, KN_BAD_DATA,
									 "the line holds a zero byte; this is not a text");
		}
		if (c == '\\' && (obj->at == obj->end || *obj->at == '\n' || *obj->at == '\r')) {
			while (obj->at < obj->end && *obj->at != '\n') {
				++obj->at;
			}
			obj->at += obj->at < obj->end;
			obj->reader->line += 1;
			obj->line[length++] = ' ';
		} else {
			comment = comment || c == '#';
			if (!comment) {
				obj->line[length++] = c;
			}
		}
		if (length >= LINE_MOST - 1) {
			return knMeshReader_Fail(obj->reader, KN_LIMIT, "the line is longer than %d characters",
									 LINE_MOST);
		}
	}
	obj->line[length] = '\0';
	return true;
}

// Cuts the next word out of the line; NULL at its end.
static char* nextWord(char** at) {
	while (isBlank(**at)) {
		++*at;
	}
	if (**at == '\0') {
		return NULL;
	}
	char* word = *at;
	while (**at != '\0' && !isBlank(**at)) {
		++*at;
	}
	if (**at != '\0') {
		*(*at)++ = '\0';
	}
	return word;
}

// At least `least` numbers; those beyond `most` (weights, colours) are passed over.
static bool readNumbers(Obj* obj, const char* tag, char* at, int least, int most, double* numbers) {
	for (int i = 0; i < most; ++i) {
		const char* word = nextWord(&at);
		if (word == NULL && i >= least) {
			numbers[i] = 0.0;
			continue;
		}
		if (word == NULL) {
			return knMeshReader_Fail(obj->reader, KN_BAD_DATA, "'%s' has %d numbers; it needs %d", tag, i,
									 least);
		}
		if (!knText_ParseDouble(word, &numbers[i])) {
			return knMeshReader_Fail(obj->reader, KN_BAD_DATA, "'%.30s' is not a finite number", word);
		}
	}
	return true;
}

// --- statements ------------------------------------------------------------------------------------------

static bool readVertex(Obj* obj, const char* tag, char* rest) {
	double n[3];
	knMeshReader* reader = obj->reader;
	if (!readNumbers(obj, tag, rest, 3, 3, n) ||
		!knMeshReader_CheckCount(reader, "vertices", (uint64_t)reader->vertices.count + 1)) {
		return false;
	}
	return KN_ARRAY_PUSH(&reader->allocator, &reader->vertices, knV3(n[0], n[1], n[2])) ||
		   knMeshReader_NoMemory(reader);
}

static bool readUv(Obj* obj, const char* tag, char* rest) {
	double n[2];
	if (!readNumbers(obj, tag, rest, 1, 2, n) ||
		!knMeshReader_CheckCount(obj->reader, "texture coordinates", (uint64_t)obj->uvs.count + 1)) {
		return false;
	}
	const knMeshUv uv = { n[0], n[1] };
	return KN_ARRAY_PUSH(&obj->reader->allocator, &obj->uvs, uv) || knMeshReader_NoMemory(obj->reader);
}

static bool readNormal(Obj* obj, const char* tag, char* rest) {
	double n[3];
	if (!readNumbers(obj, tag, rest, 3, 3, n) ||
		!knMeshReader_CheckCount(obj->reader, "normals", (uint64_t)obj->normals.count + 1)) {
		return false;
	}
	return KN_ARRAY_PUSH(&obj->reader->allocator, &obj->normals, knV3(n[0], n[1], n[2])) ||
		   knMeshReader_NoMemory(obj->reader);
}

// An index counts from 1, or backwards from the newest; `out` is -1 for an empty text that may be.
static bool readIndex(Obj* obj, const char* text, const char* what, int count, bool needed, int* out) {
	*out = -1;
	if (text == NULL || *text == '\0') {
		return !needed || knMeshReader_Fail(obj->reader, KN_BAD_DATA, "a corner of the face names no vertex");
	}
	int index;
	if (!knText_ParseInt(text, &index)) {
		return knMeshReader_Fail(obj->reader, KN_BAD_DATA, "'%.30s' is not the number of a %s", text, what);
	}
	if (index == 0 || index > count || index < -count) {
		return knMeshReader_Fail(obj->reader, KN_BAD_DATA, "the face names %s %d; there are %d so far", what,
								 index, count);
	}
	*out = index > 0 ? index - 1 : count + index;
	return true;
}

// "7", "7/3", "7//2" or "7/3/2".
static bool readCorner(Obj* obj, char* word, Corner* corner) {
	char* uv = strchr(word, '/');
	char* normal = NULL;
	if (uv != NULL) {
		*uv++ = '\0';
		normal = strchr(uv, '/');
	}
	if (normal != NULL) {
		*normal++ = '\0';
	}
	return readIndex(obj, word, "vertex", obj->reader->vertices.count, true, &corner->vertex) &&
		   readIndex(obj, uv, "texture coordinate", obj->uvs.count, false, &corner->uv) &&
		   readIndex(obj, normal, "normal", obj->normals.count, false, &corner->normal);
}

static bool addTriangle(Obj* obj, Corner a, Corner b, Corner c) {
	knMeshReader* reader = obj->reader;
	const knAllocator* allocator = &reader->allocator;
	const knTriangle triangle = { a.vertex, b.vertex, c.vertex };
	if (!knMeshReader_CheckCount(reader, "triangles", (uint64_t)reader->triangles.count + 1)) {
		return false;
	}
	return (KN_ARRAY_PUSH(allocator, &reader->triangles, triangle) &&
			KN_ARRAY_PUSH(allocator, &obj->corners, a) && KN_ARRAY_PUSH(allocator, &obj->corners, b) &&
			KN_ARRAY_PUSH(allocator, &obj->corners, c) &&
			KN_ARRAY_PUSH(allocator, &obj->materials, obj->material)) ||
		   knMeshReader_NoMemory(reader);
}

static bool readFace(Obj* obj, const char* tag, char* rest) {
	(void)tag;
	Corner first = { -1, -1, -1 }, previous = first;
	int count = 0;
	for (char* word = nextWord(&rest); word != NULL; word = nextWord(&rest)) {
		Corner corner;
		if (count == CORNERS_MOST) {
			return knMeshReader_Fail(obj->reader, KN_LIMIT, "the face has more than %d corners",
									 CORNERS_MOST);
		}
		if (!readCorner(obj, word, &corner)) {
			return false;
		}
		obj->hasUvs = obj->hasUvs || corner.uv >= 0;
		obj->hasNormals = obj->hasNormals || corner.normal >= 0;
		if (count >= 2 && !addTriangle(obj, first, previous, corner)) {
			return false;
		}
		first = count == 0 ? corner : first;
		previous = corner;
		count += 1;
	}
	return count >= 3 ||
		   knMeshReader_Fail(obj->reader, KN_BAD_DATA, "the face has %d corners; it needs 3", count);
}

static bool readUseMaterial(Obj* obj, const char* tag, char* rest) {
	(void)tag;
	const char* name = nextWord(&rest);
	obj->material = name != NULL ? knMeshReader_Material(obj->reader, name) : -1;
	return name == NULL || obj->material >= 0;
}

// --- colours ---------------------------------------------------------------------------------------------

static uint32_t colorOf(const double rgb[3]) {
	uint32_t color = 0;
	for (int i = 0; i < 3; ++i) {
		color = color << 8 | (uint32_t)(255.0 * knClamp(rgb[i], 0.0, 1.0) + 0.5);
	}
	return color != 0 ? color : 0x010101;
}

static void readMaterials(Obj* mtl, knMeshReader* into) {
	int material = -1;
	while (nextLine(mtl)) {
		char* rest = mtl->line;
		const char* tag = nextWord(&rest);
		double rgb[3];
		if (tag != NULL && strcmp(tag, "newmtl") == 0) {
			const char* name = nextWord(&rest);
			material = name != NULL ? knMeshReader_Material(into, name) : -1;
		} else if (tag != NULL && strcmp(tag, "Kd") == 0 && material >= 0 &&
				   readNumbers(mtl, tag, rest, 3, 3, rgb)) {
			into->materials.items[material].color = colorOf(rgb);
		}
	}
}

// A file beside the mesh, by a name without folders.
static bool readLibrary(Obj* obj, const char* tag, char* rest) {
	(void)tag;
	knMeshReader* reader = obj->reader;
	const char* name = nextWord(&rest);
	if (name == NULL || reader->fromMemory || strchr(name, '/') != NULL || strchr(name, '\\') != NULL) {
		return true;
	}
	char path[1024];
	const char* slash = strrchr(reader->name, '/');
	const int folder = slash != NULL ? (int)(slash - reader->name) + 1 : 0;
	if (snprintf(path, sizeof path, "%.*s%s", folder, reader->name, name) >= (int)sizeof path) {
		return true;
	}
	knMeshReader inner = { .allocator = reader->allocator, .name = path };
	char* bytes = knPlainFile_Is(path) ? knMeshReader_ReadFile(&inner, path, &inner.size) : NULL;
	if (bytes != NULL) {
		Obj mtl = { .reader = &inner, .at = bytes, .end = bytes + inner.size, .line = obj->line };
		readMaterials(&mtl, reader);
		knFree(&inner.allocator, bytes, inner.size + 1);
	}
	return reader->error.status == KN_OK;
}

// --- the file --------------------------------------------------------------------------------------------

static bool passOver(Obj* obj, const char* tag, char* rest) {
	(void)obj, (void)tag, (void)rest;
	return true;
}

typedef struct Statement {
	const char* tag;
	bool (*read)(Obj* obj, const char* tag, char* rest);
} Statement;

static const Statement statements[] = {
	{ "v", readVertex },
	{ "vt", readUv },
	{ "vn", readNormal },
	{ "f", readFace },
	{ "usemtl", readUseMaterial },
	{ "mtllib", readLibrary },
	{ "o", passOver },
	{ "g", passOver },
	{ "s", passOver },
	{ "l", passOver },
	{ "p", passOver },
	{ "fo", readFace },
	{ "vp", passOver },
	{ "mg", passOver },
	{ "usemap", passOver },
	{ "maplib", passOver },
	{ "shadow_obj", passOver },
	{ "trace_obj", passOver },
	{ "lod", passOver },
	{ "bevel", passOver },
	{ "c_interp", passOver },
	{ "d_interp", passOver },
	{ "deg", passOver },
	{ "bmat", passOver },
	{ "step", passOver },
	{ "cstype", passOver },
	{ "curv", passOver },
	{ "curv2", passOver },
	{ "surf", passOver },
	{ "parm", passOver },
	{ "trim", passOver },
	{ "hole", passOver },
	{ "scrv", passOver },
	{ "sp", passOver },
	{ "end", passOver },
	{ "con", passOver },
	{ "ctech", passOver },
	{ "stech", passOver },
};

static bool readStatement(Obj* obj) {
	char* rest = obj->line;
	const char* tag = nextWord(&rest);
	if (tag == NULL) {
		return true;
	}
	for (size_t i = 0; i < sizeof statements / sizeof *statements; ++i) {
		if (strcmp(statements[i].tag, tag) == 0) {
			return statements[i].read(obj, tag, rest);
		}
	}
	return knMeshReader_Fail(obj->reader, KN_BAD_DATA, "'%.30s' is not a word of OBJ", tag);
}

// Normals and texture coordinates of all corners, if any has one; those without get a zero.
static bool spread(Obj* obj) {
	knMeshReader* reader = obj->reader;
	const knAllocator* allocator = &reader->allocator;
	const int corners = obj->corners.count;
	if ((obj->hasUvs && !KN_ARRAY_RESERVE(allocator, &reader->uvs, corners)) ||
		(obj->hasNormals && !KN_ARRAY_RESERVE(allocator, &reader->normals, corners)) ||
		(reader->materials.count > 0 &&
		 !KN_ARRAY_RESERVE(allocator, &reader->triangleMaterial, obj->materials.count))) {
		return knMeshReader_NoMemory(reader);
	}
	for (int i = 0; i < corners; ++i) {
		const Corner corner = obj->corners.items[i];
		if (obj->hasUvs) {
			reader->uvs.items[reader->uvs.count++] =
				corner.uv >= 0 ? obj->uvs.items[corner.uv] : (knMeshUv){ 0.0, 0.0 };
		}
		if (obj->hasNormals) {
			reader->normals.items[reader->normals.count++] =
				corner.normal >= 0 ? obj->normals.items[corner.normal] : knV3(0.0, 0.0, 0.0);
		}
	}
	for (int t = 0; reader->materials.count > 0 && t < obj->materials.count; ++t) {
		reader->triangleMaterial.items[reader->triangleMaterial.count++] = obj->materials.items[t];
	}
	return true;
}

bool knMeshObj_Read(knMeshReader* reader) {
	Obj obj = { .reader = reader, .at = reader->bytes, .end = reader->bytes + reader->size, .material = -1 };
	const knAllocator* allocator = &reader->allocator;
	obj.line = knAlloc(allocator, LINE_MOST);
	bool ok = obj.line != NULL || knMeshReader_NoMemory(reader);
	while (ok && nextLine(&obj)) {
		ok = readStatement(&obj);
	}
	ok = ok && reader->error.status == KN_OK && spread(&obj);
	knFree(allocator, obj.line, LINE_MOST);
	KN_ARRAY_FREE(allocator, &obj.uvs);
	KN_ARRAY_FREE(allocator, &obj.normals);
	KN_ARRAY_FREE(allocator, &obj.corners);
	KN_ARRAY_FREE(allocator, &obj.materials);
	return ok;
}
