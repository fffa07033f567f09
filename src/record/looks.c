// Materials of a scene as looks (looks.h).
//
// MuJoCo's materials speak of highlights as Blinn and Phong did: a strength (specular) and a sharpness (shininess, of which
// 128 times is the exponent). Pages and .glb shade by the roughness of tiny mirrors. The two lobes agree in width where
// roughness^4 = 2 / (exponent + 2); a weaker highlight is shown as a rougher surface, until without any it is matt.
#include "record/looks.h"

#include "core/hash.h"

#define EXPONENT 128.0 // of shininess 1

void knLookList_Init(knLookList* list, const knAllocator* allocator) {
	*list = (knLookList){ .allocator = *allocator };
	knTable_Init(&list->lookOf, allocator);
	knTable_Init(&list->pictureOf, allocator);
}

void knLookList_Free(knLookList* list) {
	for (int i = 0; i < list->pictures.count; ++i) {
		KN_ARRAY_FREE(&list->allocator, &list->pictures.items[i].bytes);
	}
	KN_ARRAY_FREE(&list->allocator, &list->pictures);
	KN_ARRAY_FREE(&list->allocator, &list->items);
	knTable_Free(&list->lookOf);
	knTable_Free(&list->pictureOf);
}

// --- pictures --------------------------------------------------------------------------------------------

static bool copyFile(const void* bytes, size_t size, const knAllocator* allocator, knPicture* picture) {
	uint8_t* at = knBytes_Extend(&picture->bytes, size, allocator);
	if (at != NULL) {
		memcpy(at, bytes, size);
		picture->png = at[0] == 0x89;
	}
	return at != NULL;
}

static bool fileOf(const knTextureDef* texture, const knAllocator* allocator, knPicture* picture) {
	*picture = (knPicture){ .png = true };
	return texture->picture == NULL ? knPattern_Png(texture, allocator, &picture->bytes)
									: copyFile(texture->picture, texture->pictureSize, allocator, picture);
}

bool knLookList_AddPicture(knLookList* list, const uint8_t* bytes, size_t size) {
	knPicture picture = { .png = false };
	bool added = copyFile(bytes, size, &list->allocator, &picture) &&
				 KN_ARRAY_PUSH(&list->allocator, &list->pictures, picture);
	if (!added) {
		KN_ARRAY_FREE(&list->allocator, &picture.bytes);
	}
	return added;
}

// The index of a texture's picture; -1 when out of memory.
static int pictureOf(knLookList* list, const knTextureDef* texture) {
	knPicture picture;
	if (!fileOf(texture, &list->allocator, &picture)) {
		KN_ARRAY_FREE(&list->allocator, &picture.bytes);
		return -1;
	}
	uint64_t key = knHash_Bytes(KN_HASH_SEED, picture.bytes.items, (size_t)picture.bytes.count);
	int found = knTable_Get(&list->pictureOf, key);
	if (found < 0 && KN_ARRAY_PUSH(&list->allocator, &list->pictures, picture)) {
		return knTable_Set(&list->pictureOf, key, list->pictures.count - 1) ? list->pictures.count - 1 : -1;
	}
	KN_ARRAY_FREE(&list->allocator, &picture.bytes);
	return found;
}

// --- looks -----------------------------------------------------------------------------------------------

bool knLookList_AddLook(knLookList* list, const knLook* look) {
	return KN_ARRAY_PUSH(&list->allocator, &list->items, *look);
}

static double roughnessOf(const knMaterialDef* material) {
	if (material->roughness >= 0.0) {
		return knMin(material->roughness, 1.0);
	}
	double sharp = sqrt(sqrt(2.0 / (EXPONENT * knMin(material->shininess, 1.0) + 2.0)));
	return 1.0 - knMin(material->specular, 1.0) * (1.0 - sharp);
}

static uint64_t hashOf(const knLook* look) {
	const double numbers[] = { look->roughness, look->metallic,  look->emission, (double)look->picture,
							   look->repeat[0], look->repeat[1], look->uniform,  look->around };
	uint64_t hash = KN_HASH_SEED;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
		hash = knHash_Double(hash, numbers[i]);
	}
	return hash;
}

int knLookList_Of(knLookList* list, const knScene* scene, int number) {
	const knMaterialDef* material = knScene_GetMaterial(scene, number);
	const knTextureDef* texture = knScene_GetTexture(scene, material->texture);
	knLook look = { .roughness = roughnessOf(material),
					.metallic = knClamp(material->metallic, 0.0, 1.0),
					.emission = knMin(material->emission, 1.0),
					.picture = -1,
					.repeat = { material->repeat[0], material->repeat[1] },
					.uniform = material->uniform };
	if (texture != NULL && (texture->picture != NULL || texture->pattern != KN_PATTERN_NONE)) {
		look.around = texture->kind != KN_TEXTURE_FLAT;
		look.picture = pictureOf(list, texture);
		if (look.picture < 0) {
			return -1;
		}
	}
	uint64_t key = hashOf(&look);
	int found = knTable_Get(&list->lookOf, key);
	if (found >= 0) {
		return found;
	}
	bool added = KN_ARRAY_PUSH(&list->allocator, &list->items, look) &&
				 knTable_Set(&list->lookOf, key, list->items.count - 1);
	return added ? list->items.count - 1 : -1;
}

// --- where a picture lies --------------------------------------------------------------------------------

static int largestOf(const double v[3]) {
	int most = knAbs(v[1]) > knAbs(v[0]) ? 1 : 0;
	return knAbs(v[2]) > knAbs(v[most]) ? 2 : most;
}

#define LEAST_ACROSS                                                                                         \
	0.5 // of a side's distance from the middle: what is nearer would be drawn out without end

void knLook_Coordinates(const knLook* look, knVec3 u, knVec3 normal, knVec3 h, double out[2]) {
	static const int along[3][2] = { { 1, 2 }, { 0, 2 }, { 0, 1 } };
	const double p[3] = { u.x, u.y, u.z }, n[3] = { normal.x, normal.y, normal.z },
				 half[3] = { h.x, h.y, h.z };
	const int side = look->around ? largestOf(n) : 2;
	double scale[2] = { 1.0, 1.0 };
	if (look->around) {
		scale[0] = scale[1] = 1.0 / knMax(knAbs(p[side]), LEAST_ACROSS);
		// to the right, seen from outside
		scale[0] *= (side == 1) == (n[side] > 0.0) ? -1.0 : 1.0;
	}
	for (int k = 0; k < 2; ++k) {
		const int axis = along[side][k];
		out[k] = 0.5 + look->repeat[k] * scale[k] * p[axis] * (look->uniform ? half[axis] : 0.5);
	}
}
