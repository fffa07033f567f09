// Fields kept on disk, by content.
//
// A file is named after the hash of everything that the field depends on (welded vertices, triangles,
// tolerance, version of the method). It is a header and three arrays, with a checksum over all of them. What
// cannot be read, is damaged or points outside of itself is ignored, and written anew: to a name of its own
// first, then renamed, so that no reader ever sees half a file.
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "geom/sdf.h"

#define MAGIC UINT64_C(0x3146445347304e4b)
#define METHOD 1 // another number for another way of building

uint64_t knSdf_Key(const knMesh* mesh, double tolerance) {
	uint64_t key = knHash_Word(KN_HASH_SEED + METHOD);
	key = knHash_Bytes(key, mesh->vertices, (size_t)mesh->vertexCount * sizeof(knVec3));
	key = knHash_Bytes(key, mesh->triangles, (size_t)mesh->triangleCount * sizeof(knTriangle));
	return knHash_Double(key, tolerance);
}

#ifdef __wasm__

bool knSdf_Read(knSdf* field, const knMesh* mesh, const char* folder) {
	(void)field;
	(void)mesh;
	(void)folder;
	return false;
}

void knSdf_Write(const knSdf* field, const knMesh* mesh, const char* folder) {
	(void)field;
	(void)mesh;
	(void)folder;
}

#else

typedef struct Header {
	uint64_t magic, key, checksum;
	double tolerance, lower[3], tile;
	int32_t counts[3], nodeCount, listCount, tangentCount;
} Header;

static uint64_t checksum(const Header* header, const knSdf* field) {
	Header plain = *header;
	plain.checksum = 0;
	uint64_t sum = knHash_Bytes(KN_HASH_SEED, &plain, sizeof(plain));
	sum = knHash_Bytes(sum, field->nodes, (size_t)field->nodeCount * sizeof(knSdfNode));
	sum = knHash_Bytes(sum, field->lists, (size_t)field->listCount * sizeof(int32_t));
	return knHash_Bytes(sum, field->tangents, (size_t)field->tangentCount * sizeof(knSdfTangent));
}

static bool makePath(char* path, size_t capacity, const char* folder, uint64_t key, const char* ending) {
	int length = snprintf(path, capacity, "%s/%016llx.knsdf%s", folder, (unsigned long long)key, ending);
	return length > 0 && (size_t)length < capacity;
}

// --- reading ---------------------------------------------------------------------------------------------

static bool isPlausible(const Header* header, uint64_t key, double tolerance) {
	int64_t tiles = 1;
	for (int k = 0; k < 3; ++k) {
		if (header->counts[k] < 1 || header->counts[k] > 4096) {
			return false;
		}
		tiles *= header->counts[k];
	}
	return header->magic == MAGIC && header->key == key && header->tolerance == tolerance &&
		   header->tile > 0.0 && header->listCount >= 0 && header->tangentCount >= 0 &&
		   header->nodeCount >= tiles;
}

// Every node points into the arrays, and children behind their parent, so that a descent ends.
static bool isSound(const knSdf* field, const knMesh* mesh) {
	for (int i = 0; i < field->nodeCount; ++i) {
		const knSdfNode* node = &field->nodes[i];
		bool ok = node->first >= 0;
		if (node->count == KN_SDF_INNER) {
			ok = ok && node->first > i && node->first >= field->tileCount &&
				 node->first <= field->nodeCount - 8;
		} else if (node->count == KN_SDF_TANGENT) {
			ok = ok && node->first < field->tangentCount;
		} else if (node->count != KN_SDF_TREE) {
			ok = ok && node->count > 0 && node->first <= field->listCount - node->count;
		}
		if (!ok) {
			return false;
		}
	}
	for (int i = 0; i < field->listCount; ++i) {
		if (field->lists[i] < 0 || field->lists[i] >= mesh->faceCount) {
			return false;
		}
	}
	return true;
}

static bool readArray(FILE* file, const knAllocator* allocator, int count, size_t size, void** items) {
	*items = knAllocArray(allocator, (size_t)count, size);
	return count == 0 || (*items != NULL && fread(*items, size, (size_t)count, file) == (size_t)count);
}

static bool readField(FILE* file, uint64_t key, const knMesh* mesh, knSdf* field) {
	Header header;
	if (fread(&header, sizeof(header), 1, file) != 1 || !isPlausible(&header, key, field->tolerance)) {
		return false;
	}
	field->lower = knV3(header.lower[0], header.lower[1], header.lower[2]);
	field->tile = header.tile;
	field->tileCount = 1;
	for (int k = 0; k < 3; ++k) {
		field->counts[k] = header.counts[k];
		field->tileCount *= header.counts[k];
	}
	field->nodeCount = header.nodeCount;
	field->listCount = header.listCount;
	field->tangentCount = header.tangentCount;
	const knAllocator* allocator = &field->allocator;
	return readArray(file, allocator, field->nodeCount, sizeof(knSdfNode), (void**)&field->nodes) &&
		   readArray(file, allocator, field->listCount, sizeof(int32_t), (void**)&field->lists) &&
		   readArray(file, allocator, field->tangentCount, sizeof(knSdfTangent), (void**)&field->tangents) &&
		   fgetc(file) == EOF && checksum(&header, field) == header.checksum && isSound(field, mesh);
}

static void forget(knSdf* field) {
	knFree(&field->allocator, field->nodes, (size_t)field->nodeCount * sizeof(knSdfNode));
	knFree(&field->allocator, field->lists, (size_t)field->listCount * sizeof(int32_t));
	knFree(&field->allocator, field->tangents, (size_t)field->tangentCount * sizeof(knSdfTangent));
	*field = (knSdf){ .allocator = field->allocator, .tolerance = field->tolerance };
}

bool knSdf_Read(knSdf* field, const knMesh* mesh, const char* folder) {
	uint64_t key = knSdf_Key(mesh, field->tolerance);
	char path[1024];
	FILE* file = makePath(path, sizeof(path), folder, key, "") ? fopen(path, "rb") : NULL;
	if (file == NULL) {
		return false;
	}
	bool ok = readField(file, key, mesh, field);
	fclose(file);
	if (!ok) {
		forget(field);
	}
	return ok;
}

// --- writing ---------------------------------------------------------------------------------------------

static bool writeArray(FILE* file, const void* items, int count, size_t size) {
	return count == 0 || fwrite(items, size, (size_t)count, file) == (size_t)count;
}

static bool writeField(FILE* file, const knSdf* field, uint64_t key) {
	Header header;
	memset(&header, 0, sizeof(header));
	header.magic = MAGIC;
	header.key = key;
	header.tolerance = field->tolerance;
	header.lower[0] = field->lower.x;
	header.lower[1] = field->lower.y;
	header.lower[2] = field->lower.z;
	header.tile = field->tile;
	memcpy(header.counts, field->counts, sizeof(header.counts));
	header.nodeCount = field->nodeCount;
	header.listCount = field->listCount;
	header.tangentCount = field->tangentCount;
	header.checksum = checksum(&header, field);
	return fwrite(&header, sizeof(header), 1, file) == 1 &&
		   writeArray(file, field->nodes, field->nodeCount, sizeof(knSdfNode)) &&
		   writeArray(file, field->lists, field->listCount, sizeof(int32_t)) &&
		   writeArray(file, field->tangents, field->tangentCount, sizeof(knSdfTangent));
}

void knSdf_Write(const knSdf* field, const knMesh* mesh, const char* folder) {
	uint64_t key = knSdf_Key(mesh, field->tolerance);
	// a name of its own: two makers of one field have different records in memory
	char own[40], path[1024], temporary[1024];
	snprintf(own, sizeof(own), ".%llx", (unsigned long long)(uintptr_t)field);
	if (!makePath(path, sizeof(path), folder, key, "") ||
		!makePath(temporary, sizeof(temporary), folder, key, own)) {
		return;
	}
	FILE* file = fopen(temporary, "wbx");
	if (file == NULL) {
		return;
	}
	bool ok = writeField(file, field, key);
	ok = fclose(file) == 0 && ok;
	if (!ok || rename(temporary, path) != 0) {
		remove(temporary);
	}
}

#endif
