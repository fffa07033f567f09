// Fields kept on disk, by content.
//
// A file is named after the hash of everything that the field depends on (welded vertices, triangles,
// tolerance, version of the method). It is a header and two arrays, with a checksum over all of them. What
// cannot be read, is damaged or points outside of itself is ignored, and written anew: to a name of its own
// first, then renamed, so that no reader ever sees half a file.
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "geom/sdf.h"

#define MAGIC UINT64_C(0x3146445347304e4b)
#define METHOD 2 // another number for another way of building

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
	int32_t counts[3], entryCount, cellCount, unused;
} Header;

static uint64_t checksum(const Header* header, const knSdf* field) {
	Header plain = *header;
	plain.checksum = 0;
	uint64_t sum = knHash_Bytes(KN_HASH_SEED, &plain, sizeof(plain));
	sum = knHash_Bytes(sum, field->entries, (size_t)field->entryCount * sizeof(uint32_t));
	return knHash_Bytes(sum, field->cells, (size_t)field->cellCount * sizeof(knSdfCell));
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
		   header->tile > 0.0 && header->cellCount >= 0 && header->entryCount >= tiles;
}

// Every entry points into the arrays, and only tiles to blocks.
static bool isSound(const knSdf* field) {
	for (int i = 0; i < field->entryCount; ++i) {
		int first = (int)(field->entries[i] >> 2), kind = (int)(field->entries[i] & 3);
		bool ok = kind == KN_SDF_BLOCKS
					  ? i < field->tileCount && first >= field->tileCount && first <= field->entryCount - 64
					  : first <= field->cellCount - (1 << (3 * kind));
		if (!ok) {
			return false;
		}
	}
	return true;
}

static bool readArray(FILE* file, const knAllocator* allocator, int count, size_t size, void** items) {
	*items = knAllocArray(allocator, (size_t)count, size);
	return count == 0 || (*items != NULL && fread(*items, size, (size_t)count, file) == (size_t)count);
}

static bool readField(FILE* file, uint64_t key, knSdf* field) {
	Header header;
	if (fread(&header, sizeof(header), 1, file) != 1 || !isPlausible(&header, key, field->tolerance)) {
		return false;
	}
	field->lower = knV3(header.lower[0], header.lower[1], header.lower[2]);
	field->tile = header.tile;
	memcpy(field->counts, header.counts, sizeof(field->counts));
	knSdf_Derive(field);
	field->entryCount = header.entryCount;
	field->cellCount = header.cellCount;
	const knAllocator* allocator = &field->allocator;
	return readArray(file, allocator, field->entryCount, sizeof(uint32_t), (void**)&field->entries) &&
		   readArray(file, allocator, field->cellCount, sizeof(knSdfCell), (void**)&field->cells) &&
		   fgetc(file) == EOF && checksum(&header, field) == header.checksum && isSound(field);
}

static void forget(knSdf* field) {
	knFree(&field->allocator, field->entries, (size_t)field->entryCount * sizeof(uint32_t));
	knFree(&field->allocator, field->cells, (size_t)field->cellCount * sizeof(knSdfCell));
	*field = (knSdf){ .allocator = field->allocator, .tolerance = field->tolerance };
}

bool knSdf_Read(knSdf* field, const knMesh* mesh, const char* folder) {
	uint64_t key = knSdf_Key(mesh, field->tolerance);
	char path[1024];
	FILE* file = makePath(path, sizeof(path), folder, key, "") ? fopen(path, "rb") : NULL;
	if (file == NULL) {
		return false;
	}
	bool ok = readField(file, key, field);
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
	header.entryCount = field->entryCount;
	header.cellCount = field->cellCount;
	header.checksum = checksum(&header, field);
	return fwrite(&header, sizeof(header), 1, file) == 1 &&
		   writeArray(file, field->entries, field->entryCount, sizeof(uint32_t)) &&
		   writeArray(file, field->cells, field->cellCount, sizeof(knSdfCell));
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
