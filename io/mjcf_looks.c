// How a model looks: textures, materials, lights; and from where a page first looks: <visual><global azimuth elevation>, else the
// first camera that stands in the world.
//
// MuJoCo's azimuth and elevation are those of the direction in which one looks; a view is the direction to the eye, the other way
// round. A camera looks along its -z; where it stands, the page decides, so that all is in the picture. Nothing of this can
// be wrong enough to refuse a model: what is no number, or no direction, is passed over; a picture that cannot be read is noted.
#include <string.h>

#include "knuckle/looks.h"
#include "mjcf.h"
#include "png_file.h"

#define DEGREES (180.0 / KN_PI)
#define STEEPEST 89.0 // degrees, of an elevation
#define MAX_PICTURE ((size_t)1 << 24)

// --- textures and materials ------------------------------------------------------------------------------

// Red, green, blue and, where it is given, opacity.
uint32_t knMjcf_Color(const double rgba[4], int count) {
	uint32_t color = 0;
	for (int i = 0; i < 3; ++i) {
		color = color << 8 | (uint32_t)(255.0 * knClamp(rgba[i], 0.0, 1.0) + 0.5);
	}
	// black is written as 0, which means "none"
	color = color != 0 ? color : 0x010101;
	const double opacity = count > 3 ? knClamp(rgba[3], 0.0, 1.0) : 1.0;
	return color | (uint32_t)(255.0 * (1.0 - opacity) + 0.5) << 24;
}

static uint32_t opaque(const double rgb[3]) {
	uint32_t color = 0;
	for (int i = 0; i < 3; ++i) {
		color = color << 8 | (uint32_t)(255.0 * knClamp(rgb[i], 0.0, 1.0) + 0.5);
	}
	return color;
}

static bool isPicture(const unsigned char* bytes, size_t size) {
	static const unsigned char jpeg[3] = { 0xff, 0xd8, 0xff };
	return knPng_Is(bytes, size) || (size > sizeof jpeg && memcmp(bytes, jpeg, sizeof jpeg) == 0);
}

static bool failedForMemory(const knMjcf* reader) {
	return reader->failed && reader->error.status == KN_NO_MEMORY;
}

// What only shows is no reason to refuse a model.
static void forgive(knMjcf* reader) {
	reader->failed = false;
	reader->error = (knError){ .status = KN_OK };
}

// The bytes of its file; a picture is read where something is to be seen.
static bool loadPicture(knMjcf* reader, const knMjcfTexture* texture, knTextureDef* def) {
	if (texture->file == NULL || !reader->looks) {
		return true;
	}
	const knMjcfCompiler* compiler = knMjcf_Compiler(reader, &texture->element);
	const char* folder = compiler->textureFolder != NULL ? compiler->textureFolder : compiler->assetFolder;
	const char* path = knMjcf_Path(reader, &texture->element, "texture", folder,
								   compiler->stripPath ? knMjcf_BaseName(texture->file) : texture->file);
	size_t size = 0;
	const unsigned char* bytes =
		path != NULL ? knMjcf_FileBytes(reader, &texture->element, "texture", path, MAX_PICTURE, &size)
					 : NULL;
	if (failedForMemory(reader)) {
		return false;
	}
	forgive(reader);
	if (bytes == NULL || !isPicture(bytes, size)) {
		knMjcf_Note(reader, &texture->element, "<texture> '%.60s' cannot be read as a PNG or JPEG picture",
					texture->file);
		return !reader->failed;
	}
	def->picture = bytes;
	def->pictureSize = size;
	return true;
}

static bool addTexture(knMjcf* reader, knMjcfTexture* texture) {
	static const knTexturePattern patterns[] = { KN_PATTERN_NONE, KN_PATTERN_FLAT, KN_PATTERN_GRADIENT,
												 KN_PATTERN_CHECKER };
	knError cause = { .status = KN_OK };
	knTextureDef def = { .name = texture->element.name,
						 .kind = (knTextureKind)texture->type,
						 .pattern = texture->file == NULL ? patterns[texture->builtin] : KN_PATTERN_NONE,
						 .mark = (knTextureMark)texture->mark,
						 .color1 = opaque(texture->rgb1),
						 .color2 = opaque(texture->rgb2),
						 .markColor = opaque(texture->markRgb),
						 .random = knClamp(texture->random, 0.0, 1.0),
						 .width = texture->width > 0 ? texture->width : 0,
						 .height = texture->height > 0 ? texture->height : 0 };
	if (!loadPicture(reader, texture, &def)) {
		return false;
	}
	texture->number = knScene_AddTexture(reader->scene, &def, &cause);
	// of two with one name the first is meant
	const char* name = texture->element.name;
	if (texture->number > 0 && name != NULL && knNameTable_Get(&reader->textureNames, name) < 0 &&
		!knNameTable_Set(&reader->textureNames, name, texture->number)) {
		return knMjcf_NoMemory(reader);
	}
	return texture->number > 0 || knMjcf_FailFrom(reader, &texture->element, &cause);
}

static bool addMaterial(knMjcf* reader, knMjcfMaterial* material) {
	knError cause = { .status = KN_OK };
	const int texture =
		material->texture != NULL ? knNameTable_Get(&reader->textureNames, material->texture) : 0;
	if (texture < 0) {
		knMjcf_Note(reader, &material->element, "<material> texture '%.60s' is not in the file",
					material->texture);
	}
	const knMaterialDef def = {
		.name = material->element.name,
		.color = material->rgbaCount >= 3 ? knMjcf_Color(material->rgba, material->rgbaCount) : 0,
		.texture = texture > 0 ? texture : 0,
		.repeat = { material->repeat[0], material->repeat[1] },
		.uniform = material->uniform != 0,
		.emission = knMax(material->emission, 0.0),
		.specular = knMax(material->specular, 0.0),
		.shininess = knMax(material->shininess, 0.0),
		.reflectance = knMax(material->reflectance, 0.0),
		.metallic = knMax(material->metallic, -1.0),
		.roughness = knMax(material->roughness, -1.0),
	};
	material->number = knScene_AddMaterial(reader->scene, &def, &cause);
	return material->number > 0 || knMjcf_FailFrom(reader, &material->element, &cause);
}

// --- lights ----------------------------------------------------------------------------------------------

static void copyColor(double to[3], const double from[3]) {
	for (int i = 0; i < 3; ++i) {
		to[i] = knMax(from[i], 0.0);
	}
}

static bool addLight(knMjcf* reader, const knMjcfLight* light, knLightKind kind) {
	knError cause = { .status = KN_OK };
	knLightDef def = knLightDef_Default(kind);
	def.name = light->element.name;
	def.active = light->active != 0;
	def.castsShadow = light->castsShadow != 0;
	copyColor(def.ambient, light->ambient);
	copyColor(def.diffuse, light->diffuse);
	copyColor(def.specular, light->specular);
	if (kind != KN_LIGHT_HEAD) {
		const knMjcfNode* node = &reader->nodes[light->body];
		const knFrame weld = node->owner == light->body ? knIdentityF() : node->weld;
		const knVec3 direction = knNormalize(light->direction);
		def.body = reader->nodes[node->owner].id;
		def.position = knPoint(weld, light->element.pos);
		def.direction = knLengthSquared(direction) > 0.0 ? knRotate(weld.q, direction) : def.direction;
		def.cutoff = light->type == KN_MJCF_LIGHT_IS_POINT ? 180.0 : knClamp(light->cutoff, 0.0, 180.0);
		def.exponent = knMax(light->exponent, 0.0);
		copyColor(def.attenuation, light->attenuation);
	}
	return knScene_AddLight(reader->scene, &def, &cause) > 0 ||
		   knMjcf_FailFrom(reader, &light->element, &cause);
}

bool knMjcf_AddLooks(knMjcf* reader) {
	for (int i = 0; i < reader->textures.count; ++i) {
		if (!addTexture(reader, &reader->textures.items[i])) {
			return false;
		}
	}
	for (int i = 0; i < reader->materials.count; ++i) {
		if (!addMaterial(reader, &reader->materials.items[i])) {
			return false;
		}
	}
	for (int i = 0; i < reader->lights.count; ++i) {
		const knMjcfLight* light = &reader->lights.items[i];
		const bool far = light->directional != 0 || light->type == KN_MJCF_LIGHT_IS_DIRECTIONAL;
		if (!addLight(reader, light, far ? KN_LIGHT_DIRECTIONAL : KN_LIGHT_SPOT)) {
			return false;
		}
	}
	// a file that says nothing of light leaves it to the page
	return (reader->lights.count == 0 && !reader->hasHeadlight) ||
		   addLight(reader, &reader->headlight, KN_LIGHT_HEAD);
}

// --- where a page looks ----------------------------------------------------------------------------------

static const char* attributeOf(const char** attributes, const char* name) {
	for (int i = 0; attributes[i] != NULL; i += 2) {
		if (strcmp(attributes[i], name) == 0) {
			return attributes[i + 1];
		}
	}
	return NULL;
}

// As many numbers as asked for; false if there are others.
static bool numbersOf(const char** attributes, const char* name, int count, double* numbers) {
	const char* text = attributeOf(attributes, name);
	double found[10];
	char bad[32];
	if (text == NULL || knMjcf_ParseNumbers(text, found, 10, bad) != count) {
		return false;
	}
	memcpy(numbers, found, (size_t)count * sizeof(double));
	return true;
}

void knMjcf_ReadGlobal(knMjcf* reader, const char** attributes) {
	double azimuth = 90.0, elevation = -45.0; // MuJoCo's
	const bool turned = numbersOf(attributes, "azimuth", 1, &azimuth);
	const bool raised = numbersOf(attributes, "elevation", 1, &elevation);
	if (turned || raised) {
		reader->view = (knViewDef){ azimuth + 180.0, knClamp(-elevation, -STEEPEST, STEEPEST), 1.0 };
		reader->viewFrom = KN_MJCF_VIEW_GLOBAL;
	}
}

// Where a camera's z axis points, which is away from what it sees.
static bool backOf(knMjcf* reader, const char** attributes, knVec3* back) {
	static const struct {
		const char* name;
		int count, bit;
	} spellings[] = { { "quat", 4, KN_MJCF_QUAT },
					  { "axisangle", 4, KN_MJCF_AXISANGLE },
					  { "euler", 3, KN_MJCF_EULER },
					  { "xyaxes", 6, KN_MJCF_XYAXES },
					  { "zaxis", 3, KN_MJCF_ZAXIS } };
	for (int i = 0; i < 5; ++i) {
		knMjcfElement element = { .compiler = reader->compilerIndex };
		if (!numbersOf(attributes, spellings[i].name, spellings[i].count, element.orientation)) {
			continue;
		}
		element.given = KN_MJCF_BIT(spellings[i].bit);
		knQuat q;
		if (!knMjcf_Orientation(reader, &element, "camera", &q)) {
			reader->failed = false;
			reader->error = (knError){ .status = KN_OK };
			return false;
		}
		*back = knRotate(q, knV3(0.0, 0.0, 1.0));
		return true;
	}
	return false;
}

void knMjcf_ReadCamera(knMjcf* reader, const char** attributes) {
	const char* mode = attributeOf(attributes, "mode");
	knVec3 back;
	if (reader->viewFrom != KN_MJCF_VIEW_NONE || (mode != NULL && strcmp(mode, "fixed") != 0) ||
		!backOf(reader, attributes, &back)) {
		return;
	}
	const double level = sqrt(back.x * back.x + back.y * back.y);
	reader->view = (knViewDef){ knAtan2(back.y, back.x) * DEGREES,
								knClamp(knAtan2(back.z, level) * DEGREES, -STEEPEST, STEEPEST), 1.0 };
	reader->viewFrom = KN_MJCF_VIEW_CAMERA;
}
