// MuJoCo's .msh: four counts, then vertices, normals, texture coordinates and faces, all little-endian 32-bit.
//
//   int32 vertices, normals, texcoords, faces
//   float vertex[3 vertices], normal[3 normals], texcoord[2 texcoords]
//   int32 face[3 faces]
//
// Normals and texture coordinates are absent or one a vertex. Faces may be absent: points, of which a hull is made.
#include <string.h>

#include "mesh_file.h"

enum { HEADER = 16 };

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

static bool vectorAt(knMeshReader* reader, const char* what, size_t at, knVec3* v) {
	*v = knV3(floatAt(reader, at), floatAt(reader, at + 4), floatAt(reader, at + 8));
	return knIsFinite3(*v) ||
		   knMeshReader_Fail(reader, KN_BAD_DATA, "the %s at byte %zu is not finite", what, at);
}

// Counts, and the size that they ask for, which must be the file's.
static bool readHeader(knMeshReader* reader, int counts[4]) {
	static const char* const names[4] = { "vertices", "normals", "texture coordinates", "faces" };
	static const uint64_t bytes[4] = { 12, 12, 8, 12 };
	if (reader->size < HEADER) {
		return knMeshReader_Fail(reader, KN_BAD_DATA, "the file has %zu bytes; a .msh begins with %d",
								 reader->size, HEADER);
	}
	uint64_t need = HEADER;
	for (int i = 0; i < 4; ++i) {
		const int32_t count = (int32_t)wordAt(reader, 4 * (size_t)i);
		if (count < 0 || count > KN_MESH_FILE_MAX) {
			return knMeshReader_Fail(reader, count < 0 ? KN_BAD_DATA : KN_LIMIT,
									 "the number of %s at byte %d is %d; it must be 0 to %d", names[i], 4 * i,
									 count, KN_MESH_FILE_MAX);
		}
		need += bytes[i] * (uint64_t)count;
		counts[i] = count;
	}
	if (need != reader->size) {
		return knMeshReader_Fail(reader, KN_BAD_DATA, "its counts ask for %llu bytes; the file has %zu",
								 (unsigned long long)need, reader->size);
	}
	for (int i = 1; i < 3; ++i) {
		if (counts[i] != 0 && counts[i] != counts[0]) {
			return knMeshReader_Fail(reader, KN_BAD_DATA,
									 "it has %d vertices and %d %s; as many or none are possible", counts[0],
									 counts[i], names[i]);
		}
	}
	return true;
}

static bool readFaces(knMeshReader* reader, const int counts[4], size_t normals, size_t texcoords,
					  size_t faces) {
	for (int t = 0; t < counts[3]; ++t) {
		int corner[3];
		for (int k = 0; k < 3; ++k) {
			const size_t at = faces + 12 * (size_t)t + 4 * (size_t)k;
			corner[k] = (int32_t)wordAt(reader, at);
			if (corner[k] < 0 || corner[k] >= counts[0]) {
				return knMeshReader_Fail(reader, KN_BAD_DATA, "face %d at byte %zu names vertex %d of %d", t,
										 at, corner[k], counts[0]);
			}
			const size_t v = (size_t)corner[k];
			knVec3 normal;
			if (counts[1] > 0 && !vectorAt(reader, "normal", normals + 12 * v, &normal)) {
				return false;
			}
			if (counts[1] > 0) {
				reader->normals.items[reader->normals.count++] = normal;
			}
			if (counts[2] > 0) {
				const size_t uv = texcoords + 8 * v;
				reader->uvs.items[reader->uvs.count++] =
					(knMeshUv){ floatAt(reader, uv), floatAt(reader, uv + 4) };
			}
		}
		reader->triangles.items[reader->triangles.count++] = (knTriangle){ corner[0], corner[1], corner[2] };
	}
	return true;
}

bool knMeshMsh_Read(knMeshReader* reader) {
	int counts[4];
	if (!readHeader(reader, counts)) {
		return false;
	}
	const size_t vertices = HEADER, normals = vertices + 12 * (size_t)counts[0];
	const size_t texcoords = normals + 12 * (size_t)counts[1], faces = texcoords + 8 * (size_t)counts[2];
	const knAllocator* allocator = &reader->allocator;
	if (!KN_ARRAY_RESERVE(allocator, &reader->vertices, counts[0]) ||
		!KN_ARRAY_RESERVE(allocator, &reader->triangles, counts[3]) ||
		!KN_ARRAY_RESERVE(allocator, &reader->normals, counts[1] > 0 ? 3 * counts[3] : 0) ||
		!KN_ARRAY_RESERVE(allocator, &reader->uvs, counts[2] > 0 ? 3 * counts[3] : 0)) {
		return knMeshReader_NoMemory(reader);
	}
	for (int i = 0; i < counts[0]; ++i) {
		if (!vectorAt(reader, "vertex", vertices + 12 * (size_t)i, &reader->vertices.items[i])) {
			return false;
		}
		reader->vertices.count = i + 1;
	}
	return readFaces(reader, counts, normals, texcoords, faces);
}
