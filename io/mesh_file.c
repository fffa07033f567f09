// Mesh files: opening, choosing the reader by the ending of the name, and geometry from what was read.
#include "mesh_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <sys/stat.h>

#define CONVEX_TOLERANCE 1e-3 // of the hull's volume that a mesh may lack and still be called convex
#define ASSIMP_PACKAGE "libassimp-dev"

// --- errors ----------------------------------------------------------------------------------------------

bool knMeshReader_Fail(knMeshReader* reader, knStatus status, const char* format, ...) {
	if (reader->error.status != KN_OK) {
		return false;
	}
	char message[sizeof reader->error.message];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);

	// what a hostile file says is shown without its control characters
	for (char* c = message; *c != '\0'; ++c) {
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f) {
			*c = '?';
		}
	}
	knError_Set(&reader->error, status, "mesh", "%s", message);
	snprintf(reader->error.file, sizeof reader->error.file, "%s", reader->name);
	reader->error.line = reader->line;
	return false;
}

bool knMeshReader_NoMemory(knMeshReader* reader) {
	return knMeshReader_Fail(reader, KN_NO_MEMORY, "out of memory for a mesh");
}

bool knMeshReader_CheckCount(knMeshReader* reader, const char* what, uint64_t count) {
	return count <= KN_MESH_FILE_MAX ||
		   knMeshReader_Fail(reader, KN_LIMIT, "the mesh has %llu %s; at most %d are possible",
							 (unsigned long long)count, what, KN_MESH_FILE_MAX);
}

int knMeshReader_Material(knMeshReader* reader, const char* name) {
	for (int i = 0; i < reader->materials.count; ++i) {
		if (strncmp(reader->materials.items[i].name, name, sizeof reader->materials.items[i].name - 1) == 0) {
			return i;
		}
	}
	if (reader->materials.count == KN_MESH_MATERIALS_MAX) {
		knMeshReader_Fail(reader, KN_LIMIT, "the mesh has more than %d materials", KN_MESH_MATERIALS_MAX);
		return -1;
	}
	knMeshMaterial material = { .color = 0 };
	snprintf(material.name, sizeof material.name, "%s", name);
	if (!KN_ARRAY_PUSH(&reader->allocator, &reader->materials, material)) {
		knMeshReader_NoMemory(reader);
		return -1;
	}
	return reader->materials.count - 1;
}

// --- input -----------------------------------------------------------------------------------------------

static bool failFile(knMeshReader* reader, const char* path, const char* what, const char* why) {
	knMeshReader_Fail(reader, KN_IO, "%s: %s", what, why);
	snprintf(reader->error.file, sizeof reader->error.file, "%s", path);
	return false;
}

// Reads what is there in growing pieces: the size of a pipe or of a file in /proc is not known before.
static char* readAll(knMeshReader* reader, FILE* file, const char* path, size_t* size) {
	size_t capacity = 1 << 16, used = 0;
	char* bytes = knAlloc(&reader->allocator, capacity);
	while (bytes != NULL) {
		const size_t got = fread(bytes + used, 1, capacity - 1 - used, file);
		used += got;
		if (ferror(file)) {
			failFile(reader, path, "cannot read the file", strerror(errno));
			break;
		}
		if (got == 0) {
			// as much as is used, so that the caller can release it
			char* exact = knAlloc(&reader->allocator, used + 1);
			if (exact != NULL) {
				memcpy(exact, bytes, used);
				exact[used] = '\0';
			} else {
				knMeshReader_NoMemory(reader);
			}
			knFree(&reader->allocator, bytes, capacity);
			*size = used;
			return exact;
		}
		if (used > KN_MESH_FILE_MAX_BYTES) {
			knMeshReader_Fail(reader, KN_LIMIT, "the file has more than %zu bytes", KN_MESH_FILE_MAX_BYTES);
			break;
		}
		if (used == capacity - 1) {
			char* larger = knAlloc(&reader->allocator, 2 * capacity);
			if (larger == NULL) {
				break;
			}
			memcpy(larger, bytes, used);
			knFree(&reader->allocator, bytes, capacity);
			bytes = larger;
			capacity *= 2;
		}
	}
	knFree(&reader->allocator, bytes, capacity);
	knMeshReader_NoMemory(reader);
	return NULL;
}

char* knMeshReader_ReadFile(knMeshReader* reader, const char* path, size_t* size) {
	errno = 0;
	FILE* file = fopen(path, "rb");
	if (file == NULL) {
		failFile(reader, path, "cannot open the file", strerror(errno));
		return NULL;
	}
	// what is known to be too large is not read at all
	struct stat status;
	const bool large = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) &&
					   (uint64_t)status.st_size > KN_MESH_FILE_MAX_BYTES;
	if (large) {
		knMeshReader_Fail(reader, KN_LIMIT, "the file has more than %zu bytes", KN_MESH_FILE_MAX_BYTES);
	}
	char* bytes = large ? NULL : readAll(reader, file, path, size);
	fclose(file);
	return bytes;
}

// --- formats ---------------------------------------------------------------------------------------------

typedef struct Format {
	const char* ending;
	bool (*read)(knMeshReader* reader);
} Format;

static const Format formats[] = {
	{ "obj", knMeshObj_Read },
	{ "stl", knMeshStl_Read },
	{ "msh", knMeshMsh_Read },
	{ "ply", knMeshPly_Read },
};

static const char* endingOf(const char* name) {
	const char* dot = strrchr(name, '.');
	return dot != NULL && strchr(dot, '/') == NULL ? dot + 1 : "";
}

static bool sameEnding(const char* a, const char* b) {
	for (; *a != '\0' && *b != '\0'; ++a, ++b) {
		const char x = *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a;
		if (x != *b) {
			return false;
		}
	}
	return *a == *b;
}

static bool readBytes(knMeshReader* reader) {
	const char* ending = endingOf(reader->name);
	for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
		if (sameEnding(ending, formats[i].ending)) {
			return formats[i].read(reader);
		}
	}
#ifdef KN_HAVE_ASSIMP
	return knMeshAssimp_Read(reader);
#else
	return knMeshReader_Fail(
		reader, KN_UNSUPPORTED,
		"a mesh in '.%.20s' is not understood; .obj, .stl, .ply and .msh are, and others where assimp "
		"was installed when Knuckle was built (Debian package %s)",
		ending, ASSIMP_PACKAGE);
#endif
}

// What every reader promises; a format's own code has said more about the place already.
static bool checkRead(knMeshReader* reader) {
	reader->line = 0;
	if (reader->vertices.count == 0) {
		return knMeshReader_Fail(reader, KN_BAD_DATA, "the mesh has no vertices");
	}
	for (int i = 0; i < reader->vertices.count; ++i) {
		if (!knIsFinite3(reader->vertices.items[i])) {
			return knMeshReader_Fail(reader, KN_BAD_DATA, "vertex %d is not finite", i);
		}
	}
	KN_ASSERT(reader->normals.count == 0 || reader->normals.count == 3 * reader->triangles.count);
	KN_ASSERT(reader->uvs.count == 0 || reader->uvs.count == 3 * reader->triangles.count);
	KN_ASSERT(reader->triangleMaterial.count == 0 ||
			  reader->triangleMaterial.count == reader->triangles.count);
	return true;
}

// --- public ----------------------------------------------------------------------------------------------

// Hands over an array at its exact length, so that its size is known when it is released.
#define HAND_OVER(reader, array, pointer, ok)                                                                \
	do {                                                                                                     \
		const size_t handedSize = (size_t)(reader)->array.count * sizeof *(reader)->array.items;             \
		void* handed = knAlloc(&(reader)->allocator, handedSize);                                            \
		if (handed != NULL) {                                                                                \
			memcpy(handed, (reader)->array.items, handedSize);                                               \
		}                                                                                                    \
		(ok) = (ok) && (handed != NULL || handedSize == 0);                                                  \
		(pointer) = handed;                                                                                  \
	} while (0)

static bool handOver(knMeshReader* reader, knMeshFile* file) {
	bool ok = true;
	file->allocator = reader->allocator;
	file->vertexCount = reader->vertices.count;
	file->triangleCount = reader->triangles.count;
	file->materialCount = reader->materials.count;
	HAND_OVER(reader, vertices, file->vertices, ok);
	HAND_OVER(reader, triangles, file->triangles, ok);
	HAND_OVER(reader, normals, file->normals, ok);
	HAND_OVER(reader, uvs, file->uvs, ok);
	HAND_OVER(reader, triangleMaterial, file->triangleMaterial, ok);
	HAND_OVER(reader, materials, file->materials, ok);
	if (!ok) {
		knMeshFile_Free(file);
	}
	return ok || knMeshReader_NoMemory(reader);
}

static knStatus finish(knMeshReader* reader, bool ok, knMeshFile* file, knError* error) {
	ok = ok && checkRead(reader) && handOver(reader, file);
	const knAllocator* allocator = &reader->allocator;
	KN_ARRAY_FREE(allocator, &reader->vertices);
	KN_ARRAY_FREE(allocator, &reader->triangles);
	KN_ARRAY_FREE(allocator, &reader->normals);
	KN_ARRAY_FREE(allocator, &reader->uvs);
	KN_ARRAY_FREE(allocator, &reader->triangleMaterial);
	KN_ARRAY_FREE(allocator, &reader->materials);
	if (!ok && error != NULL) {
		*error = reader->error;
	}
	return ok ? KN_OK : reader->error.status;
}

static knMeshReader makeReader(const char* name, const knAllocator* allocator) {
	return (knMeshReader){ .allocator = allocator != NULL ? *allocator : knAllocator_Default(),
						   .name = name };
}

knStatus knMeshFile_Load(const char* path, const knAllocator* allocator, knMeshFile* file, knError* error) {
	if (path == NULL || file == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knMeshFile_Load", "no path, or nowhere to put the mesh");
	}
	*file = (knMeshFile){ 0 };
	knMeshReader reader = makeReader(path, allocator);
	char* bytes = knMeshReader_ReadFile(&reader, path, &reader.size);
	reader.bytes = bytes;
	const knStatus status = finish(&reader, bytes != NULL && readBytes(&reader), file, error);
	knFree(&reader.allocator, bytes, reader.size + 1);
	return status;
}

knStatus knMeshFile_LoadMemory(const void* bytes, size_t size, const char* name, const knAllocator* allocator,
							   knMeshFile* file, knError* error) {
	if ((bytes == NULL && size > 0) || name == NULL || file == NULL) {
		return knError_Set(error, KN_BAD_ARGUMENT, "knMeshFile_LoadMemory",
						   "no bytes, no name, or nowhere to put the mesh");
	}
	*file = (knMeshFile){ 0 };
	knMeshReader reader = makeReader(name, allocator);
	reader.fromMemory = true;
	if (size > KN_MESH_FILE_MAX_BYTES) {
		knMeshReader_Fail(&reader, KN_LIMIT, "there are more than %zu bytes", KN_MESH_FILE_MAX_BYTES);
		return finish(&reader, false, file, error);
	}
	// a copy, because the readers rely on a zero at the end
	char* copy = knAlloc(&reader.allocator, size + 1);
	if (copy == NULL) {
		knMeshReader_NoMemory(&reader);
		return finish(&reader, false, file, error);
	}
	if (size > 0) {
		memcpy(copy, bytes, size);
	}
	copy[size] = '\0';
	reader.bytes = copy;
	reader.size = size;
	const knStatus status = finish(&reader, readBytes(&reader), file, error);
	knFree(&reader.allocator, copy, size + 1);
	return status;
}

void knMeshFile_Free(knMeshFile* file) {
	if (file == NULL || file->allocator.release == NULL) {
		return;
	}
	const knAllocator* allocator = &file->allocator;
	const size_t triangles = (size_t)file->triangleCount;
	knFree(allocator, file->vertices, (size_t)file->vertexCount * sizeof *file->vertices);
	knFree(allocator, file->triangles, triangles * sizeof *file->triangles);
	knFree(allocator, file->normals, 3 * triangles * sizeof *file->normals);
	knFree(allocator, file->uvs, 3 * triangles * sizeof *file->uvs);
	knFree(allocator, file->triangleMaterial, triangles * sizeof *file->triangleMaterial);
	knFree(allocator, file->materials, (size_t)file->materialCount * sizeof *file->materials);
	*file = (knMeshFile){ 0 };
}

void knMeshFile_Transform(knMeshFile* file, knVec3 scale, knFrame frame) {
	for (int i = 0; i < file->vertexCount; ++i) {
		const knVec3 v = file->vertices[i];
		file->vertices[i] = knPoint(frame, knV3(scale.x * v.x, scale.y * v.y, scale.z * v.z));
	}
	const bool mirrored = scale.x * scale.y * scale.z < 0.0;
	for (int i = 0; file->normals != NULL && i < 3 * file->triangleCount; ++i) {
		const knVec3 n = file->normals[i];
		const knVec3 scaled = knV3(n.x * scale.y * scale.z, n.y * scale.z * scale.x, n.z * scale.x * scale.y);
		const double length = knLength(scaled);
		if (length > 0.0) {
			file->normals[i] = knRotate(frame.q, knScale((mirrored ? -1.0 : 1.0) / length, scaled));
		}
	}
	// a mirrored triangle runs the other way round
	for (int t = 0; mirrored && t < file->triangleCount; ++t) {
		const knTriangle old = file->triangles[t];
		file->triangles[t] = (knTriangle){ old.a, old.c, old.b };
		if (file->normals != NULL) {
			const knVec3 n = file->normals[3 * t + 1];
			file->normals[3 * t + 1] = file->normals[3 * t + 2];
			file->normals[3 * t + 2] = n;
		}
		if (file->uvs != NULL) {
			const knMeshUv uv = file->uvs[3 * t + 1];
			file->uvs[3 * t + 1] = file->uvs[3 * t + 2];
			file->uvs[3 * t + 2] = uv;
		}
	}
}

knMeshDef knMeshFile_MeshDef(const knMeshFile* file) {
	knMeshDef def = knMeshDef_Default();
	def.vertices = file->vertices;
	def.vertexCount = file->vertexCount;
	def.triangles = file->triangles;
	def.triangleCount = file->triangleCount;
	return def;
}

// --- what collides -------------------------------------------------------------------------------------------

static double volumeOf(const knMeshFile* file) {
	double volume = 0.0;
	for (int t = 0; t < file->triangleCount; ++t) {
		const knTriangle f = file->triangles[t];
		volume += knDot(file->vertices[f.a], knCross(file->vertices[f.b], file->vertices[f.c])) / 6.0;
	}
	return volume;
}

knGeom* knMeshFile_Solid(const knMeshFile* file, knMeshUse use, const knAllocator* allocator, bool* open,
						 knError* error) {
	*open = false;
	knGeom* hull = knGeom_Hull(file->vertices, file->vertexCount, allocator, error);
	if (hull == NULL) {
		return NULL;
	}
	const double volume = knGeom_MassProps(hull, 1.0).mass;
	if (knAbs(knAbs(volumeOf(file)) - volume) <= CONVEX_TOLERANCE * volume) {
		return hull;
	}
	if (use != KN_MESHES_HULL) {
		const knMeshDef def = knMeshFile_MeshDef(file);
		knError cause = { .status = KN_OK };
		knGeom* mesh = knGeom_Mesh(&def, allocator, &cause);
		if (mesh != NULL || cause.status == KN_NO_MEMORY) {
			knGeom_Release(hull);
			if (mesh == NULL && error != NULL) {
				*error = cause;
			}
			return mesh;
		}
	}
	*open = true;
	return hull;
}
