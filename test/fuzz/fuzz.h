// What the fuzz targets share: bytes as a file, for readers that take a path.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "knuckle/io.h"
#include "knuckle/knuckle.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// A file in memory that holds the bytes; its path is written to `path`. Close it when done; -1: none.
static inline int fuzzFile(const uint8_t* data, size_t size, char path[64]) {
	const int file = memfd_create("fuzz", 0);
	if (file < 0 || write(file, data, size) != (ssize_t)size) {
		return -1;
	}
	snprintf(path, 64, "/proc/self/fd/%d", file);
	return file;
}

// A few small bodies also take a step; it may fail, with a sentence.
static inline void fuzzStep(const knModel* model) {
	knError error = { .status = KN_OK };
	knWorldDef def = knWorldDef_Default();
	knWorld* world = knModel_BodyCount(model) <= 4 ? knWorld_Create(model, &def, &error) : NULL;
	if (world != NULL && knWorld_Step(world, 0.01, &error) != KN_OK && error.message[0] == '\0') {
		__builtin_trap();
	}
	knWorld_Destroy(world);
}

// What a loader gives must also compile, or be refused with a sentence.
static inline void fuzzScene(knScene* scene, const knError* error) {
	if (scene == NULL) {
		if (error->message[0] == '\0' || error->file[0] == '\0') {
			__builtin_trap();
		}
		return;
	}
	knError own = { .status = KN_OK };
	knModel* model = knModel_Create(scene, &own);
	knScene_Destroy(scene);
	if (model != NULL) {
		fuzzStep(model);
		knModel_Release(model);
	} else if (own.message[0] == '\0') {
		__builtin_trap();
	}
}

// A mesh that is taken has what its reader promises.
static inline void fuzzMesh(const uint8_t* data, size_t size, const char* name) {
	knMeshFile file;
	knError error = { .status = KN_OK };
	if (knMeshFile_LoadMemory(data, size, name, NULL, &file, &error) != KN_OK) {
		if (error.message[0] == '\0' || error.file[0] == '\0') {
			__builtin_trap();
		}
		return;
	}
	for (int t = 0; t < file.triangleCount; ++t) {
		const knTriangle f = file.triangles[t];
		const int top = f.a > f.b ? (f.a > f.c ? f.a : f.c) : (f.b > f.c ? f.b : f.c);
		if (f.a < 0 || f.b < 0 || f.c < 0 || top >= file.vertexCount) {
			__builtin_trap();
		}
	}
	for (int i = 0; i < file.vertexCount; ++i) {
		if (!knIsFinite3(file.vertices[i])) {
			__builtin_trap();
		}
	}
	knMeshFile_Free(&file);
}
