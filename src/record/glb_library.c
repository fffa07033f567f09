// Geometries, materials and meshes of a .glb.
//
// Balls, boxes, cylinders and ellipsoids of every size are one unit geometry each, stretched by their nodes; a capsule
// can only be stretched evenly, so there is one for each proportion. That keeps a heap of thousands of different bodies
// small.
#include "record/glb_library.h"

#include <stdio.h>

#include "core/hash.h"
#include "geom/surface.h"

#define TOLERANCE 0.01        // of a unit shape
#define COARSE_TOLERANCE 0.04 // of capsules beyond the first MANY_CAPSULES proportions
#define MANY_CAPSULES 200

void knGlbLibrary_Init(knGlbLibrary* library, const knAllocator* allocator) {
	*library = (knGlbLibrary){ .allocator = *allocator };
	knTable_Init(&library->byKind, allocator);
	knTable_Init(&library->capsules, allocator);
	knTable_Init(&library->pictured, allocator);
	knTable_Init(&library->materialOf, allocator);
	knTable_Init(&library->meshOf, allocator);
}

void knGlbLibrary_Free(knGlbLibrary* library) {
	KN_ARRAY_FREE(&library->allocator, &library->geometries);
	KN_ARRAY_FREE(&library->allocator, &library->materials);
	KN_ARRAY_FREE(&library->allocator, &library->meshes);
	knTable_Free(&library->byKind);
	knTable_Free(&library->capsules);
	knTable_Free(&library->pictured);
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

static double radiusOf(const knSurface* surface) {
	double radius = 0.0;
	for (int v = 0; v < surface->vertexCount; ++v) {
		radius = knMax(radius, knLength(surface->vertices[v]));
	}
	return radius;
}

static bool addSurface(knGlbLibrary* library, knGlbData* data, knGeomKind kind, const knSurface* surface) {
	knGlbGeometry geometry = {
		.kind = kind, .positions = -1, .normals = -1, .indices = -1, .coordinates = -1
	};
	geometry.radius = radiusOf(surface);
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

static knStatus surfaceOf(knGlbLibrary* library, const Canonical* canonical, const knTrajectoryMesh* mesh,
						  knSurface* surface) {
	bool coarse = canonical->kind == KN_GEOM_CAPSULE && library->capsuleCount >= MANY_CAPSULES;
	library->capsuleCount += canonical->kind == KN_GEOM_CAPSULE;
	return mesh != NULL ? meshSurface(canonical->kind, mesh, &library->allocator, surface)
						: knSurface_OfPrimitive(canonical->kind, canonical->size,
												coarse ? COARSE_TOLERANCE : TOLERANCE, &library->allocator,
												surface, NULL);
}

static knStatus makeGeometry(knGlbLibrary* library, knGlbData* data, const Canonical* canonical,
							 const knTrajectoryMesh* mesh) {
	knSurface surface;
	knStatus status = surfaceOf(library, canonical, mesh, &surface);
	if (status != KN_OK) {
		return status;
	}
	bool added = addSurface(library, data, canonical->kind, &surface);
	knSurface_Free(&surface);
	return added ? KN_OK : KN_NO_MEMORY;
}

// Among those of its kind.
static uint64_t keyOf(const Canonical* canonical, int mesh) {
	uint64_t key = (uint64_t)canonical->kind << 32 | (uint32_t)(mesh + 1);
	if (canonical->kind == KN_GEOM_CAPSULE) {
		memcpy(&key, &canonical->size.y, sizeof(key));
	}
	return key;
}

static knStatus geometryOf(knGlbLibrary* library, knGlbData* data, const Canonical* canonical,
						   const knSceneSnapshot* cast, int mesh, int* geometry) {
	knTable* table = canonical->kind == KN_GEOM_CAPSULE ? &library->capsules : &library->byKind;
	uint64_t key = keyOf(canonical, mesh);
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

// --- geometries with a picture on them ---------------------------------------------------------------------

// What the accessors of one corner after the other are filled in through.
typedef struct Corners {
	uint8_t *positions, *normals, *coordinates;
} Corners;

static void putVector(uint8_t** at, knVec3 v) {
	knPutFloat(*at, (float)v.x);
	knPutFloat(*at + 4, (float)v.y);
	knPutFloat(*at + 8, (float)v.z);
	*at += 12;
}

static knVec3 times(knVec3 a, knVec3 b) {
	return knV3(a.x * b.x, a.y * b.y, a.z * b.z);
}

static knVec3 over(knVec3 a, knVec3 b) {
	return knV3(b.x > 0.0 ? a.x / b.x : 0.0, b.y > 0.0 ? a.y / b.y : 0.0, b.z > 0.0 ? a.z / b.z : 0.0);
}

// All three of each triangle: on two sides of an edge lie two places of the picture.
static void putCorners(const knSurface* surface, const knLook* look, knVec3 scale, Corners* at) {
	knVec3 lower = surface->vertices[0], upper = lower;
	for (int v = 1; v < surface->vertexCount; ++v) {
		lower = knMin3(lower, surface->vertices[v]);
		upper = knMax3(upper, surface->vertices[v]);
	}
	const knVec3 middle = knScale(0.5, knAdd(lower, upper)), half = knScale(0.5, knSub(upper, lower));
	for (int t = 0; t < surface->triangleCount; ++t) {
		const int32_t corners[3] = { surface->triangles[t].a, surface->triangles[t].b,
									 surface->triangles[t].c };
		const knVec3 a = surface->vertices[corners[0]], b = surface->vertices[corners[1]],
					 c = surface->vertices[corners[2]];
		const knVec3 normal = knCross(over(knSub(b, a), half), over(knSub(c, a), half));
		for (int k = 0; k < 3; ++k) {
			const knVec3 p = surface->vertices[corners[k]];
			double st[2];
			knLook_Coordinates(look, over(knSub(p, middle), half), normal, times(half, scale), st);
			putVector(&at->positions, p);
			putVector(&at->normals, surface->normals[corners[k]]);
			knPutFloat(at->coordinates, (float)st[0]);
			knPutFloat(at->coordinates + 4, (float)(1.0 - st[1])); // glTF counts them downwards
			at->coordinates += 8;
		}
	}
}

static bool addPictured(knGlbLibrary* library, knGlbData* data, knGeomKind kind, const knSurface* surface,
						const knLook* look, knVec3 scale) {
	knGlbGeometry geometry = { .kind = kind, .positions = -1, .indices = -1, .radius = radiusOf(surface) };
	const int count = 3 * surface->triangleCount;
	if (count == 0) {
		return KN_ARRAY_PUSH(&library->allocator, &library->geometries, geometry);
	}
	Corners at;
	geometry.positions = knGlbData_Add(data, KN_GLB_VERTICES, KN_GLB_VECTOR, count, &at.positions);
	geometry.normals = knGlbData_Add(data, KN_GLB_VERTICES, KN_GLB_VECTOR, count, &at.normals);
	geometry.coordinates = knGlbData_Add(data, KN_GLB_COORDINATES, KN_GLB_PAIR, count, &at.coordinates);
	if (geometry.positions < 0 || geometry.normals < 0 || geometry.coordinates < 0) {
		return false;
	}
	// the second has moved the first
	at.positions = at.normals - 12 * (size_t)count;
	putCorners(surface, look, scale, &at);
	knGlbData_Bound(data, geometry.positions);
	return KN_ARRAY_PUSH(&library->allocator, &library->geometries, geometry);
}

// The geometry that a look's picture lies on.
static knStatus picturedOf(knGlbLibrary* library, knGlbData* data, const Canonical* canonical,
						   const knSceneSnapshot* cast, const knTrajectoryShape* shape, int* geometry) {
	knLook used = cast->looks->items.items[shape->look];
	used.uniform = used.uniform || canonical->kind == KN_GEOM_PLANE;
	const knVec3 scale = used.uniform ? canonical->scale : knV3(1.0, 1.0, 1.0);
	const uint64_t place[] = { (uint64_t)canonical->kind, keyOf(canonical, shape->mesh),
							   (uint64_t)shape->look };
	uint64_t key = knHash_Bytes(KN_HASH_SEED, place, sizeof(place));
	key = knHash_Double(knHash_Double(knHash_Double(key, scale.x), scale.y), scale.z);
	*geometry = knTable_Get(&library->pictured, key);
	if (*geometry >= 0) {
		return KN_OK;
	}
	knSurface surface;
	const knTrajectoryMesh* mesh = shape->mesh >= 0 ? &cast->meshes[shape->mesh] : NULL;
	knStatus status = surfaceOf(library, canonical, mesh, &surface);
	if (status != KN_OK) {
		return status;
	}
	*geometry = library->geometries.count;
	bool added = addPictured(library, data, canonical->kind, &surface, &used, scale) &&
				 knTable_Set(&library->pictured, key, *geometry);
	knSurface_Free(&surface);
	return added ? KN_OK : KN_NO_MEMORY;
}

// --- materials and meshes --------------------------------------------------------------------------------

// What has no inside is drawn from both sides.
static bool isTwoSided(knGeomKind kind) {
	return kind == KN_GEOM_PLANE || kind == KN_GEOM_MESH || kind == KN_GEOM_HEIGHT_FIELD;
}

static int materialFor(knGlbLibrary* library, uint32_t color, bool twoSided, int look) {
	uint64_t key = (uint64_t)(look + 1) << 33 | (uint64_t)color << 1 | (uint64_t)twoSided;
	int index = knTable_Get(&library->materialOf, key);
	if (index >= 0) {
		return index;
	}
	knGlbMaterial material = { color, twoSided, look };
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
	const bool pictured = shape->look >= 0 && cast->looks->items.items[shape->look].picture >= 0;
	knStatus status = pictured ? picturedOf(library, data, &canonical, cast, shape, &geometry)
							   : geometryOf(library, data, &canonical, cast, shape->mesh, &geometry);
	library->looks = cast->looks;
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
	int material = materialFor(library, color, isTwoSided(shape->kind), shape->look);
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

static const knLook PLAIN = { .roughness = 0.625, .picture = -1 };

// Light of its own, in the surface's colour.
static void writeEmission(const knGlbMaterial* material, double emission, knJson* json) {
	if (emission > 0.0) {
		knJson_BeginArray(json, "emissiveFactor");
		for (int shift = 16; shift >= 0; shift -= 8) {
			knJson_Number(json, NULL, emission * linearOf(material->color >> shift));
		}
		knJson_EndArray(json);
	}
}

static void writeMaterial(const knGlbMaterial* material, const knLookList* looks, knJson* json) {
	const knLook* look = material->look >= 0 ? &looks->items.items[material->look] : &PLAIN;
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
	writeEmission(material, look->emission, json);
	knJson_BeginObject(json, "pbrMetallicRoughness");
	knJson_BeginArray(json, "baseColorFactor");
	for (int shift = 16; shift >= 0; shift -= 8) {
		knJson_Number(json, NULL, linearOf(material->color >> shift));
	}
	knJson_Number(json, NULL, 1.0 - (material->color >> 24) / 255.0);
	knJson_EndArray(json);
	if (look->picture >= 0) {
		knJson_BeginObject(json, "baseColorTexture");
		knJson_Integer(json, "index", look->picture);
		knJson_EndObject(json);
	}
	knJson_Number(json, "metallicFactor", look->metallic);
	knJson_Number(json, "roughnessFactor", look->roughness);
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
	if (geometry->coordinates >= 0) {
		knJson_Integer(json, "TEXCOORD_0", geometry->coordinates);
	}
	knJson_EndObject(json);
	if (geometry->indices >= 0) {
		knJson_Integer(json, "indices", geometry->indices);
	}
	knJson_Integer(json, "material", mesh->material);
	knJson_EndObject(json);
	knJson_EndArray(json);
	knJson_EndObject(json);
}

knStatus knGlbLibrary_AddPictures(const knGlbLibrary* library, knGlbData* data) {
	for (int p = 0; library->looks != NULL && p < library->looks->pictures.count; ++p) {
		const knBytes* bytes = &library->looks->pictures.items[p].bytes;
		if (knGlbData_AddPicture(data, bytes->items, bytes->count) < 0) {
			return KN_NO_MEMORY;
		}
	}
	return KN_OK;
}

// Texture i is picture i, repeated without end.
static void writePictures(const knLookList* looks, const knGlbData* data, knJson* json) {
	if (looks == NULL || looks->pictures.count == 0) {
		return;
	}
	knJson_BeginArray(json, "textures");
	for (int p = 0; p < looks->pictures.count; ++p) {
		knJson_BeginObject(json, NULL);
		knJson_Integer(json, "source", p);
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
	knJson_BeginArray(json, "images");
	for (int p = 0; p < looks->pictures.count; ++p) {
		knJson_BeginObject(json, NULL);
		knJson_Integer(json, "bufferView", knGlbData_PictureView(data, p));
		knJson_String(json, "mimeType", looks->pictures.items[p].png ? "image/png" : "image/jpeg");
		knJson_EndObject(json);
	}
	knJson_EndArray(json);
}

void knGlbLibrary_WriteJson(const knGlbLibrary* library, const knGlbData* data, knJson* json) {
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
		writeMaterial(&library->materials.items[m], library->looks, json);
	}
	knJson_EndArray(json);
	writePictures(library->looks, data, json);
}
