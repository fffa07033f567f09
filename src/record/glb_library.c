// Geometries, materials and meshes of a .glb.
//
// Balls, boxes, cylinders and ellipsoids of every size are one unit geometry each, stretched by their nodes; a capsule
// can only be stretched evenly, so there is one for each proportion. That keeps a heap of thousands of different bodies
// small.
#include "record/glb_library.h"

#include <stdio.h>

#include "geom/surface.h"

#define TOLERANCE 0.01        // of a unit shape
#define COARSE_TOLERANCE 0.04 // of capsules beyond the first MANY_CAPSULES proportions
#define MANY_CAPSULES 200

void knGlbLibrary_Init(knGlbLibrary* library, const knAllocator* allocator) {
	*library = (knGlbLibrary){ .allocator = *allocator };
	knTable_Init(&library->byKind, allocator);
	knTable_Init(&library->capsules, allocator);
	knTable_Init(&library->materialOf, allocator);
	knTable_Init(&library->meshOf, allocator);
}

void knGlbLibrary_Free(knGlbLibrary* library) {
	KN_ARRAY_FREE(&library->allocator, &library->geometries);
	KN_ARRAY_FREE(&library->allocator, &library->materials);
	KN_ARRAY_FREE(&library->allocator, &library->meshes);
	knTable_Free(&library->byKind);
	knTable_Free(&library->capsules);
	knTable_Free(&library->materialOf);
	knTable_Free(&library->meshOf);
}

// --- geometries ------------------------------------------------------------------------------------------

// A shape taken apart: a kind of geometry that is kept, and how it is stretched.
typedef struct Canonical {
	knGeomKind kind;
	knVec3 size; // of the geometry that is kept
	knVec3 scale;
} Canonical;

static Canonical canonicalOf(const knTrajectoryShape* shape) {
	knVec3 s = shape->size, one = knV3(1.0, 1.0, 1.0);
	switch (shape->kind) {
	case KN_GEOM_SPHERE:
		return (Canonical){ KN_GEOM_SPHERE, one, knV3(s.x, s.x, s.x) };
	case KN_GEOM_ELLIPSOID:
		return (Canonical){ KN_GEOM_SPHERE, one, s };
	case KN_GEOM_BOX:
		return (Canonical){ KN_GEOM_BOX, one, s };
	case KN_GEOM_CYLINDER:
		return (Canonical){ KN_GEOM_CYLINDER, knV3(1.0, 1.0, 0.0), knV3(s.x, s.x, s.y) };
	case KN_GEOM_CAPSULE:
		return (Canonical){ KN_GEOM_CAPSULE, knV3(1.0, s.y / s.x, 0.0), knV3(s.x, s.x, s.x) };
	default:
		return (Canonical){ shape->kind, knZero3(), one };
	}
}

static bool addVectors(knGlbData* data, const knVec3* vectors, int count, int* accessor) {
	uint8_t* at;
	*accessor = knGlbData_Add(data, KN_GLB_VERTICES, KN_GLB_VECTOR, count, &at);
	for (int v = 0; v < count && *accessor >= 0; ++v, at += 12) {
		knPutFloat(at, (float)vectors[v].x);
		knPutFloat(at + 4, (float)vectors[v].y);
		knPutFloat(at + 8, (float)vectors[v].z);
	}
	return *accessor >= 0;
}

static bool addIndices(knGlbData* data, const knSurface* surface, int* accessor) {
	// 65535 itself is reserved
	bool small = surface->vertexCount <= 65535;
	uint8_t* at;
	*accessor = knGlbData_Add(data, KN_GLB_INDICES, small ? KN_GLB_INDEX16 : KN_GLB_INDEX32,
							  3 * surface->triangleCount, &at);
	for (int t = 0; t < surface->triangleCount && *accessor >= 0; ++t) {
		const int32_t corners[3] = { surface->triangles[t].a, surface->triangles[t].b,
									 surface->triangles[t].c };
		for (int k = 0; k < 3; ++k) {
			if (small) {
				knPut16(at, (uint16_t)corners[k]);
			} else {
				knPut32(at, (uint32_t)corners[k]);
			}
			at += small ? 2 : 4;
		}
	}
	return *accessor >= 0;
}

static bool addSurface(knGlbLibrary* library, knGlbData* data, knGeomKind kind, const knSurface* surface) {
	knGlbGeometry geometry = { .kind = kind, .positions = -1, .normals = -1, .indices = -1 };
	for (int v = 0; v < surface->vertexCount; ++v) {
		geometry.radius = knMax(geometry.radius, knLength(surface->vertices[v]));
	}
	if (surface->triangleCount > 0) {
		if (!addVectors(data, surface->vertices, surface->vertexCount, &geometry.positions) ||
			!addVectors(data, surface->normals, surface->vertexCount, &geometry.normals) ||
			!addIndices(data, surface, &geometry.indices)) {
			return false;
		}
		knGlbData_Bound(data, geometry.positions);
	}
	return KN_ARRAY_PUSH(&library->allocator, &library->geometries, geometry);
}

static knStatus meshSurface(knGeomKind kind, const knTrajectoryMesh* mesh, const knAllocator* allocator,
							knSurface* surface) {
	knVec3* vertices = knAllocArray(allocator, (size_t)mesh->vertexCount, sizeof(knVec3));
	if (vertices == NULL) {
		return KN_NO_MEMORY;
	}
	for (int v = 0; v < mesh->vertexCount; ++v) {
		const float* at = &mesh->vertices[3 * (size_t)v];
		vertices[v] = knV3((double)at[0], (double)at[1], (double)at[2]);
	}
	knTriangles triangles = { mesh->vertexCount, vertices, mesh->triangleCount, mesh->triangles };
	knStatus status = knSurface_OfTriangles(&triangles, knSurface_Crease(kind), allocator, surface, NULL);
	knFree(allocator, vertices, sizeof(knVec3) * (size_t)mesh->vertexCount);
	return status;
}

static knStatus makeGeometry(knGlbLibrary* library, knGlbData* data, const Canonical* canonical,
							 const knTrajectoryMesh* mesh) {
	bool coarse = canonical->kind == KN_GEOM_CAPSULE && library->capsuleCount >= MANY_CAPSULES;
	library->capsuleCount += canonical->kind == KN_GEOM_CAPSULE;
	knSurface surface;
	knStatus status = mesh != NULL ? meshSurface(canonical->kind, mesh, &library->allocator, &surface)
								   : knSurface_OfPrimitive(canonical->kind, canonical->size,
														   coarse ? COARSE_TOLERANCE : TOLERANCE,
														   &library->allocator, &surface, NULL);
	if (status != KN_OK) {
		return status;
	}
	bool added = addSurface(library, data, canonical->kind, &surface);
	knSurface_Free(&surface);
	return added ? KN_OK : KN_NO_MEMORY;
}

static knStatus geometryOf(knGlbLibrary* library, knGlbData* data, const Canonical* canonical,
						   const knSceneSnapshot* cast, int mesh, int* geometry) {
	bool capsule = canonical->kind == KN_GEOM_CAPSULE;
	knTable* table = capsule ? &library->capsules : &library->byKind;
	uint64_t key = (uint64_t)canonical->kind << 32 | (uint32_t)(mesh + 1);
	if (capsule) {
		memcpy(&key, &canonical->size.y, sizeof(key));
	}
	*geometry = knTable_Get(table, key);
	if (*geometry >= 0) {
		return KN_OK;
	}
	*geometry = library->geometries.count;
	knStatus status = makeGeometry(library, data, canonical, mesh >= 0 ? &cast->meshes[mesh] : NULL);
	if (status != KN_OK) {
		return status;
	}
	return knTable_Set(table, key, *geometry) ? KN_OK : KN_NO_MEMORY;
}

// --- materials and meshes --------------------------------------------------------------------------------

// What has no inside is drawn from both sides.
static bool isTwoSided(knGeomKind kind) {
	return kind == KN_GEOM_PLANE || kind == KN_GEOM_MESH || kind == KN_GEOM_HEIGHT_FIELD;
}

static int materialFor(knGlbLibrary* library, uint32_t color, bool twoSided) {
	uint64_t key = (uint64_t)color << 1 | (uint64_t)twoSided;
	int index = knTable_Get(&library->materialOf, key);
	if (index >= 0) {
		return index;
	}
	knGlbMaterial material = { color, twoSided };
	index = library->materials.count;
	return KN_ARRAY_PUSH(&library->allocator, &library->materials, material) &&
				   knTable_Set(&library->materialOf, key, index)
			   ? index
			   : -1;
}

static int meshFor(knGlbLibrary* library, int geometry, int material) {
	uint64_t key = (uint64_t)geometry << 32 | (uint64_t)material;
	int index = knTable_Get(&library->meshOf, key);
	if (index >= 0) {
		return index;
	}
	knGlbMesh mesh = { geometry, material };
	index = library->meshes.count;
	return KN_ARRAY_PUSH(&library->allocator, &library->meshes, mesh) &&
				   knTable_Set(&library->meshOf, key, index)
			   ? index
			   : -1;
}

knStatus knGlbLibrary_Draw(knGlbLibrary* library, knGlbData* data, const knSceneSnapshot* cast,
						   const knTrajectoryShape* shape, uint32_t color, knGlbDrawn* drawn) {
	Canonical canonical = canonicalOf(shape);
	int geometry;
	knStatus status = geometryOf(library, data, &canonical, cast, shape->mesh, &geometry);
	if (status != KN_OK) {
		return status;
	}
	const knGlbGeometry* made = &library->geometries.items[geometry];
	double stretch = knMax(canonical.scale.x, knMax(canonical.scale.y, canonical.scale.z));
	*drawn =
		(knGlbDrawn){ -1, canonical.scale, shape->kind == KN_GEOM_PLANE ? INFINITY : stretch * made->radius };
	if (made->positions < 0) {
		return KN_OK;
	}
	int material = materialFor(library, color, isTwoSided(shape->kind));
	drawn->mesh = material >= 0 ? meshFor(library, geometry, material) : -1;
	return drawn->mesh >= 0 ? KN_OK : KN_NO_MEMORY;
}

// --- JSON ------------------------------------------------------------------------------------------------

// Of a colour component as screens show it (sRGB), the light it stands for: ((c + 0.055) / 1.055)^2.4. The power's
// fifth root by Newton's method, from above: no two C libraries agree on pow.
static double linearOf(uint32_t byte) {
	double c = (double)(byte & 0xffu) / 255.0;
	if (c <= 0.04045) {
		return c / 12.92;
	}
	double x = (c + 0.055) / 1.055, square = x * x, root = 1.0;
	for (int k = 0; k < 40; ++k) {
		root = 0.2 * (4.0 * root + square / (root * root * root * root));
	}
	return square * root;
}

static void writeMaterial(const knGlbMaterial* material, knJson* json) {
	char name[8];
	snprintf(name, sizeof(name), "#%06x", (unsigned)(material->color & 0xffffffu));
	knJson_BeginObject(json, NULL);
	knJson_String(json, "name", name);
	if (material->twoSided) {
		knJson_Bool(json, "doubleSided", true);
	}
	if (material->color >> 24 != 0) {
		knJson_String(json, "alphaMode", "BLEND");
	}
	knJson_BeginObject(json, "pbrMetallicRoughness");
	knJson_BeginArray(json, "baseColorFactor");
	for (int shift = 16; shift >= 0; shift -= 8) {
		knJson_Number(json, NULL, linearOf(material->color >> shift));
	}
	knJson_Number(json, NULL, 1.0 - (material->color >> 24) / 255.0);
	knJson_EndArray(json);
	knJson_Integer(json, "metallicFactor", 0);
	knJson_Number(json, "roughnessFactor", 0.625);
	knJson_EndObject(json);
	knJson_EndObject(json);
}

static void writeMesh(const knGlbMesh* mesh, const knGlbGeometry* geometry, knJson* json) {
	knJson_BeginObject(json, NULL);
	knJson_String(json, "name", knGeomKind_Name(geometry->kind));
	knJson_BeginArray(json, "primitives");
	knJson_BeginObject(json, NULL);
	knJson_BeginObject(json, "attributes");
	knJson_Integer(json, "POSITION", geometry->positions);
	knJson_Integer(json, "NORMAL", geometry->normals);
	knJson_EndObject(json);
	knJson_Integer(json, "indices", geometry->indices);
	knJson_Integer(json, "material", mesh->material);
	knJson_EndObject(json);
	knJson_EndArray(json);
	knJson_EndObject(json);
}

void knGlbLibrary_WriteJson(const knGlbLibrary* library, knJson* json) {
	if (library->meshes.count == 0) {
		return;
	}
	knJson_BeginArray(json, "meshes");
	for (int m = 0; m < library->meshes.count; ++m) {
		const knGlbMesh* mesh = &library->meshes.items[m];
		writeMesh(mesh, &library->geometries.items[mesh->geometry], json);
	}
	knJson_EndArray(json);
	knJson_BeginArray(json, "materials");
	for (int m = 0; m < library->materials.count; ++m) {
		writeMaterial(&library->materials.items[m], json);
	}
	knJson_EndArray(json);
}
