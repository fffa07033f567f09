// Meshes of a recording: what hulls, meshes and height fields are drawn as, each content once.
//
// A geometry is recognised by its address (it is retained, so that no other can take its place) and, behind
// that, by what it holds: bodies that each build the same hull share one mesh.
#include <string.h>

#include "core/hash.h"
#include "record/writer.h"

#define VERTEX_BYTES (3 * sizeof(float))

void knMeshList_Init(knMeshList* list, const knAllocator* allocator) {
	*list = (knMeshList){ .allocator = *allocator };
	knTable_Init(&list->byContent, allocator);
	knTable_Init(&list->byGeom, allocator);
}

void knMeshList_Free(knMeshList* list) {
	for (int m = 0; m < list->items.count; ++m) {
		knMesh_Free(&list->items.items[m], &list->allocator);
	}
	for (int g = 0; g < list->geoms.count; ++g) {
		knGeom_Release(list->geoms.items[g]);
	}
	KN_ARRAY_FREE(&list->allocator, &list->items);
	KN_ARRAY_FREE(&list->allocator, &list->geoms);
	knTable_Free(&list->byContent);
	knTable_Free(&list->byGeom);
}

bool knMesh_Create(knTrajectoryMesh* mesh, int vertexCount, int triangleCount, const knAllocator* allocator) {
	knTrajectoryMesh made = {
		.vertexCount = vertexCount,
		.vertices = knAllocArray(allocator, (size_t)vertexCount, VERTEX_BYTES),
		.triangleCount = triangleCount,
		.triangles = knAllocArray(allocator, (size_t)triangleCount, sizeof(knTriangle)),
	};
	if (made.vertices == NULL || made.triangles == NULL) {
		knMesh_Free(&made, allocator);
		return false;
	}
	*mesh = made;
	return true;
}

void knMesh_Free(knTrajectoryMesh* mesh, const knAllocator* allocator) {
	knFree(allocator, (void*)mesh->vertices, VERTEX_BYTES * (size_t)mesh->vertexCount);
	knFree(allocator, (void*)mesh->triangles, sizeof(knTriangle) * (size_t)mesh->triangleCount);
}

bool knMeshList_Append(knMeshList* list, const knTrajectoryMesh* mesh) {
	return KN_ARRAY_PUSH(&list->allocator, &list->items, *mesh);
}

static uint64_t hashMesh(const knTrajectoryMesh* mesh) {
	uint64_t vertices = knHash_Bytes(KN_HASH_SEED, mesh->vertices, VERTEX_BYTES * (size_t)mesh->vertexCount);
	return knHash_Bytes(vertices, mesh->triangles, sizeof(knTriangle) * (size_t)mesh->triangleCount);
}

static bool sameMesh(const knTrajectoryMesh* a, const knTrajectoryMesh* b) {
	return a->vertexCount == b->vertexCount && a->triangleCount == b->triangleCount &&
		   memcmp(a->vertices, b->vertices, VERTEX_BYTES * (size_t)a->vertexCount) == 0 &&
		   memcmp(a->triangles, b->triangles, sizeof(knTriangle) * (size_t)a->triangleCount) == 0;
}

static bool meshFromGeom(knTrajectoryMesh* mesh, const knGeom* geom, const knAllocator* allocator) {
	int vertexCount, triangleCount;
	const knVec3* vertices = knGeom_Vertices(geom, &vertexCount);
	const knTriangle* triangles = knGeom_Triangles(geom, &triangleCount);
	if (!knMesh_Create(mesh, vertexCount, triangleCount, allocator)) {
		return false;
	}
	float* numbers = (float*)mesh->vertices;
	for (int v = 0; v < vertexCount; ++v) {
		numbers[3 * v] = (float)vertices[v].x;
		numbers[3 * v + 1] = (float)vertices[v].y;
		numbers[3 * v + 2] = (float)vertices[v].z;
	}
	memcpy((knTriangle*)mesh->triangles, triangles, sizeof(knTriangle) * (size_t)triangleCount);
	return true;
}

// Index of a mesh with the geometry's content; -1 when out of memory.
static int indexOfContent(knMeshList* list, const knGeom* geom) {
	knTrajectoryMesh mesh;
	if (!meshFromGeom(&mesh, geom, &list->allocator)) {
		return -1;
	}
	uint64_t hash = hashMesh(&mesh);
	int found = knTable_Get(&list->byContent, hash);
	if (found >= 0 && sameMesh(&mesh, &list->items.items[found])) {
		knMesh_Free(&mesh, &list->allocator);
		return found;
	}
	int index = list->items.count;
	if (!knTable_Reserve(&list->byContent, list->byContent.count + 1) || !knMeshList_Append(list, &mesh)) {
		knMesh_Free(&mesh, &list->allocator);
		return -1;
	}
	knTable_Set(&list->byContent, hash, index);
	return index;
}

int knMeshList_OfGeom(knMeshList* list, const knGeom* geom) {
	uint64_t address = (uint64_t)(uintptr_t)geom;
	int index = knTable_Get(&list->byGeom, address);
	if (index >= 0) {
		return index;
	}
	if (!knTable_Reserve(&list->byGeom, list->byGeom.count + 1) ||
		!KN_ARRAY_RESERVE(&list->allocator, &list->geoms, list->geoms.count + 1)) {
		return -1;
	}
	index = indexOfContent(list, geom);
	if (index >= 0) {
		knTable_Set(&list->byGeom, address, index);
		knGeom_Retain(geom);
		list->geoms.items[list->geoms.count++] = geom;
	}
	return index;
}
