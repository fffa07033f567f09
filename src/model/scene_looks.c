// Textures, materials and lights of a scene: kept in the order of adding, checked, cloned. No stepper sees them.
#include <string.h>

#include "model/scene_internal.h"

// --- defaults --------------------------------------------------------------------------------------------

knTextureDef knTextureDef_Default(void) {
	return (
		knTextureDef){ .pattern = KN_PATTERN_FLAT, .color1 = 0xcccccc, .color2 = 0x808080, .random = 0.01 };
}

knMaterialDef knMaterialDef_Default(void) {
	return (knMaterialDef){
		.repeat = { 1.0, 1.0 }, .specular = 0.5, .shininess = 0.5, .metallic = -1.0, .roughness = -1.0
	};
}

knLightDef knLightDef_Default(knLightKind kind) {
	return (knLightDef){ .kind = kind,
						 .direction = { 0.0, 0.0, -1.0 },
						 .active = true,
						 .castsShadow = true,
						 .diffuse = { 0.7, 0.7, 0.7 },
						 .specular = { 0.3, 0.3, 0.3 },
						 .attenuation = { 1.0, 0.0, 0.0 },
						 .cutoff = 45.0,
						 .exponent = 10.0 };
}

// --- checks ----------------------------------------------------------------------------------------------

static knStatus refuse(knError* error, const char* kind, const char* name, const char* sentence) {
	char element[KN_ELEMENT_SIZE];
	return knError_Set(error, KN_BAD_DATA, knScene_Element(kind, name != NULL ? name : "unnamed", element),
					   "%s", sentence);
}

static bool areAtLeast(const double* numbers, int count, double least) {
	for (int i = 0; i < count; ++i) {
		if (!knIsFinite(numbers[i]) || numbers[i] < least) {
			return false;
		}
	}
	return true;
}

static knStatus checkTexture(const knTextureDef* def, knError* error) {
	if ((unsigned)def->kind >= KN_TEXTURE_KIND_COUNT || (unsigned)def->pattern >= KN_PATTERN_COUNT ||
		(unsigned)def->mark >= KN_MARK_COUNT) {
		return refuse(error, "texture", def->name, "its kind, pattern or mark is unknown");
	}
	if (def->width < 0 || def->height < 0 || !areAtLeast(&def->random, 1, 0.0) ||
		(def->picture == NULL) != (def->pictureSize == 0) || def->pictureSize > KN_SCENE_MAX) {
		return refuse(error, "texture", def->name,
					  "its sizes must not be negative, nor its picture larger than 16 MB");
	}
	return KN_OK;
}

static knStatus checkMaterial(const knScene* scene, const knMaterialDef* def, knError* error) {
	const double strengths[] = { def->emission, def->specular, def->shininess, def->reflectance };
	const double known[] = { def->metallic, def->roughness };
	if (def->texture < 0 || def->texture > scene->textures.count) {
		return refuse(error, "material", def->name, "its texture is not in this scene");
	}
	if (!areAtLeast(strengths, 4, 0.0) || !areAtLeast(known, 2, -1.0) || !knIsFinite(def->repeat[0]) ||
		!knIsFinite(def->repeat[1])) {
		return refuse(error, "material", def->name, "its numbers must be finite and not negative");
	}
	return KN_OK;
}

static knStatus checkLight(const knScene* scene, const knLightDef* def, knError* error) {
	if ((unsigned)def->kind >= KN_LIGHT_KIND_COUNT) {
		return refuse(error, "light", def->name, "its kind is unknown");
	}
	if (!KN_ID_IS_NULL(def->body) && knScene_BodySlot(scene, def->body) < 0) {
		return refuse(error, "light", def->name, "the body that carries it is not in this scene");
	}
	if (!knIsFinite3(def->position) || !knIsFinite3(def->direction) || knLength(def->direction) == 0.0) {
		return refuse(error, "light", def->name, "its place must be finite, its direction not zero");
	}
	if (!areAtLeast(def->diffuse, 3, 0.0) || !areAtLeast(def->ambient, 3, 0.0) ||
		!areAtLeast(def->specular, 3, 0.0) || !areAtLeast(def->attenuation, 3, 0.0) ||
		!areAtLeast(&def->cutoff, 1, 0.0) || !areAtLeast(&def->exponent, 1, 0.0)) {
		return refuse(error, "light", def->name, "its numbers must be finite and not negative");
	}
	return KN_OK;
}

// --- adding ----------------------------------------------------------------------------------------------

static int outOfMemory(knError* error) {
	knError_Set(error, KN_NO_MEMORY, "scene", "out of memory");
	return 0;
}

static void freeTexture(knScene* scene, knTextureDef* def) {
	knFreeString(&scene->allocator, (char*)def->name);
	knFree(&scene->allocator, (void*)def->picture, def->pictureSize);
}

int knScene_AddTexture(knScene* scene, const knTextureDef* def, knError* error) {
	KN_ASSERT(scene != NULL && def != NULL);
	if (checkTexture(def, error) != KN_OK) {
		return 0;
	}
	knTextureDef own = *def;
	own.name = knCopyString(&scene->allocator, def->name);
	own.picture = def->picture != NULL ? knAlloc(&scene->allocator, def->pictureSize) : NULL;
	if ((def->name != NULL && own.name == NULL) || (def->picture != NULL && own.picture == NULL) ||
		!KN_ARRAY_RESERVE(&scene->allocator, &scene->textures, scene->textures.count + 1)) {
		freeTexture(scene, &own);
		return outOfMemory(error);
	}
	if (def->picture != NULL) {
		memcpy((void*)own.picture, def->picture, def->pictureSize);
	}
	scene->textures.items[scene->textures.count++] = own;
	return scene->textures.count;
}

int knScene_AddMaterial(knScene* scene, const knMaterialDef* def, knError* error) {
	KN_ASSERT(scene != NULL && def != NULL);
	if (checkMaterial(scene, def, error) != KN_OK) {
		return 0;
	}
	knMaterialDef own = *def;
	own.name = knCopyString(&scene->allocator, def->name);
	if ((def->name != NULL && own.name == NULL) ||
		!KN_ARRAY_PUSH(&scene->allocator, &scene->materials, own)) {
		knFreeString(&scene->allocator, (char*)own.name);
		return outOfMemory(error);
	}
	return scene->materials.count;
}

int knScene_AddLight(knScene* scene, const knLightDef* def, knError* error) {
	KN_ASSERT(scene != NULL && def != NULL);
	if (checkLight(scene, def, error) != KN_OK) {
		return 0;
	}
	knLightDef own = *def;
	own.direction = knScale(1.0 / knLength(def->direction), def->direction);
	own.name = knCopyString(&scene->allocator, def->name);
	if ((def->name != NULL && own.name == NULL) || !KN_ARRAY_PUSH(&scene->allocator, &scene->lights, own)) {
		knFreeString(&scene->allocator, (char*)own.name);
		return outOfMemory(error);
	}
	return scene->lights.count;
}

// --- clone, drop, free -----------------------------------------------------------------------------------

bool knSceneLooks_Clone(knScene* to, const knScene* from) {
	bool ok = true;
	for (int i = 0; ok && i < from->textures.count; ++i) {
		ok = knScene_AddTexture(to, &from->textures.items[i], NULL) > 0;
	}
	for (int i = 0; ok && i < from->materials.count; ++i) {
		ok = knScene_AddMaterial(to, &from->materials.items[i], NULL) > 0;
	}
	for (int i = 0; ok && i < from->lights.count; ++i) {
		ok = knScene_AddLight(to, &from->lights.items[i], NULL) > 0;
	}
	return ok;
}

void knSceneLooks_Drop(knScene* scene) {
	int kept = 0;
	for (int i = 0; i < scene->lights.count; ++i) {
		const knLightDef light = scene->lights.items[i];
		if (KN_ID_IS_NULL(light.body) || knScene_BodySlot(scene, light.body) >= 0) {
			scene->lights.items[kept++] = light;
		} else {
			knFreeString(&scene->allocator, (char*)light.name);
		}
	}
	scene->lights.count = kept;
}

void knSceneLooks_Free(knScene* scene) {
	for (int i = 0; i < scene->textures.count; ++i) {
		freeTexture(scene, &scene->textures.items[i]);
	}
	for (int i = 0; i < scene->materials.count; ++i) {
		knFreeString(&scene->allocator, (char*)scene->materials.items[i].name);
	}
	for (int i = 0; i < scene->lights.count; ++i) {
		knFreeString(&scene->allocator, (char*)scene->lights.items[i].name);
	}
	KN_ARRAY_FREE(&scene->allocator, &scene->textures);
	KN_ARRAY_FREE(&scene->allocator, &scene->materials);
	KN_ARRAY_FREE(&scene->allocator, &scene->lights);
}

// --- reading ---------------------------------------------------------------------------------------------

int knScene_TextureCount(const knScene* scene) {
	return scene->textures.count;
}

int knScene_MaterialCount(const knScene* scene) {
	return scene->materials.count;
}

int knScene_LightCount(const knScene* scene) {
	return scene->lights.count;
}

const knTextureDef* knScene_GetTexture(const knScene* scene, int texture) {
	return texture > 0 && texture <= scene->textures.count ? &scene->textures.items[texture - 1] : NULL;
}

const knMaterialDef* knScene_GetMaterial(const knScene* scene, int material) {
	return material > 0 && material <= scene->materials.count ? &scene->materials.items[material - 1] : NULL;
}

const knLightDef* knScene_GetLight(const knScene* scene, int light) {
	return light > 0 && light <= scene->lights.count ? &scene->lights.items[light - 1] : NULL;
}
