// The bytes of a .knt trajectory (docs/formats.md): a header, then chunks {type, payload size, checksum,
// payload}. All numbers are little endian whatever the machine.
#pragma once

#include "record/bytes.h"
#include "record/writer.h"

// Version 1 had neither meshes nor shapes that need them, version 2 neither marks of active bodies nor looks; both are
// read, too.
#define KN_KNT_VERSION 3
#define KN_KNT_HEADER_SIZE 16
#define KN_KNT_CHUNK_SIZE 24 // what stands before a chunk's payload
#define KN_KNT_BODY_SIZE 104 // 13 doubles

// The four characters of a chunk's type, as they stand in the file.
#define KN_KNT_TYPE(a, b, c, d)                                                                              \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define KN_KNT_CAST KN_KNT_TYPE('M', 'E', 'T', 'A')
#define KN_KNT_MESH KN_KNT_TYPE('M', 'E', 'S', 'H')
#define KN_KNT_PICTURE KN_KNT_TYPE('P', 'I', 'C', 'T')
#define KN_KNT_LOOK KN_KNT_TYPE('L', 'O', 'O', 'K')
#define KN_KNT_FRAME KN_KNT_TYPE('F', 'R', 'A', 'M')
#define KN_KNT_END KN_KNT_TYPE('E', 'N', 'D', ' ')

typedef struct knKntChunk {
	uint32_t type;
	uint32_t reserved; // 0
	uint64_t size;     // of the payload
	uint64_t checksum; // of the 16 bytes above and the payload
} knKntChunk;

// Writing. Each appends a whole chunk; false when out of memory (the bytes are then of no use).
void knKnt_PutHeader(uint8_t header[KN_KNT_HEADER_SIZE]);
bool knKnt_PutMesh(knBytes* bytes, const knTrajectoryMesh* mesh, const knAllocator* allocator);
bool knKnt_PutPicture(knBytes* bytes, const knPicture* picture, const knAllocator* allocator);
bool knKnt_PutLook(knBytes* bytes, const knLook* look, const knAllocator* allocator);
bool knKnt_PutCast(knBytes* bytes, const knSceneSnapshot* cast, const knAllocator* allocator);
bool knKnt_PutFrame(knBytes* bytes, const knCastFrame* frame, const knAllocator* allocator);
bool knKnt_PutEnd(knBytes* bytes, uint64_t frameCount, const knAllocator* allocator);

// Reading: everything is checked, nothing is trusted. NULL when sound, else what is wrong (a clause for a
// message).
const char* knKnt_CheckHeader(const uint8_t header[KN_KNT_HEADER_SIZE], uint32_t* version);
knKntChunk knKnt_GetChunk(const uint8_t bytes[KN_KNT_CHUNK_SIZE]);
uint64_t knKnt_Checksum(const uint8_t chunk[KN_KNT_CHUNK_SIZE], const uint8_t* payload, size_t size);
uint64_t knKnt_FrameSize(int bodyCount);
uint64_t knKnt_MarksSize(int bodyCount); // what a frame with marks has more
uint64_t knKnt_GetEnd(const uint8_t payload[8]);

// A payload and what came before it.
typedef struct knKntPayload {
	const uint8_t* bytes;
	size_t size;
	uint32_t version; // of the file
	int meshCount;    // meshes so far
	int pictureCount; // likewise
	int lookCount;    // likewise
} knKntPayload;

// `mesh` and `cast` are made when sound. `noMemory` is set when that is what is wrong.
const char* knKnt_GetMesh(knTrajectoryMesh* mesh, const knKntPayload* payload, const knAllocator* allocator,
						  bool* noMemory);
const char* knKnt_GetLook(knLook* look, const knKntPayload* payload);
const char* knKnt_GetCast(knSceneSnapshot* cast, const knKntPayload* payload, const knAllocator* allocator,
						  bool* noMemory);
// The payload has knKnt_FrameSize(bodyCount) bytes; with marks, written as one byte a body unless `active` is NULL, more.
const char* knKnt_GetFrame(const uint8_t* payload, int bodyCount, double* time, uint64_t* step,
						   knBodyState* bodies, uint8_t* active);
