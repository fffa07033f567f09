// The inside of the mesh readers: one file a format, each a function on bytes in memory.
//
//   mesh_file.c     opening, choosing the reader by the name's ending, checking, geometry
//   mesh_obj.c      Wavefront OBJ, and colours from its .mtl
//   mesh_stl.c      STL, text and binary
//   mesh_msh.c      MuJoCo's .msh
//   mesh_ply.c      PLY, text and binary
//   mesh_assimp.c   everything else, where assimp is installed
//
// A reader takes nothing on trust: counts are held against the bytes that are there before memory is taken, numbers must be
// finite, indices must name a vertex. Every function that returns bool returns false after setting reader->error.
#pragma once

#include "core/array.h"
#include "knuckle/io.h"

// A mesh has at most this many vertices, and triangles; a file this many bytes.
#define KN_MESH_FILE_MAX (1 << 24)
#define KN_MESH_FILE_MAX_BYTES ((size_t)1 << 30)

typedef struct knMeshReader {
	knAllocator allocator;
	const char* name;  // of the file, for errors
	bool fromMemory;   // no file stands beside it
	const char* bytes; // followed by a zero that does not count
	size_t size;
	int line; // of a text that is being read; 0: none
	knError error;

	// what was read
	KN_ARRAY(knVec3) vertices;
	KN_ARRAY(knTriangle) triangles;
	KN_ARRAY(knVec3) normals;       // per corner: none, or three a triangle
	KN_ARRAY(knMeshUv) uvs;         // per corner: none, or three a triangle
	KN_ARRAY(int) triangleMaterial; // none, or one a triangle
	KN_ARRAY(knMeshMaterial) materials;
} knMeshReader;

bool knMeshReader_Fail(knMeshReader* reader, knStatus status, const char* format, ...) KN_PRINTF(3, 4);
bool knMeshReader_NoMemory(knMeshReader* reader);
// Refuses more vertices or triangles than a mesh may have.
bool knMeshReader_CheckCount(knMeshReader* reader, const char* what, uint64_t count);
// Index of the material of that name, added if it is new; -1 after an error.
int knMeshReader_Material(knMeshReader* reader, const char* name);
// The bytes of a file with a zero behind them, of size + 1; NULL after an error.
char* knMeshReader_ReadFile(knMeshReader* reader, const char* path, size_t* size);

bool knMeshObj_Read(knMeshReader* reader);
bool knMeshStl_Read(knMeshReader* reader);
bool knMeshMsh_Read(knMeshReader* reader);
bool knMeshPly_Read(knMeshReader* reader);
// What collides for a mesh: its hull where the mesh is convex or hulls are asked for, else the mesh as it is; where it is not closed,
// its hull (`open`). NULL after an error.
knGeom* knMeshFile_Solid(const knMeshFile* file, knMeshUse use, const knAllocator* allocator, bool* open,
						 knError* error);
#ifdef KN_HAVE_ASSIMP
bool knMeshAssimp_Read(knMeshReader* reader);
// False for a .glb of `size` bytes that is shorter than its head (12 of them, if there are so many) says.
bool knGlb_IsWhole(const char* name, const void* bytes, uint64_t size);
#endif
