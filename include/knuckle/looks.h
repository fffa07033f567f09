// How a scene looks beyond the colours of its bodies: pictures, materials and lights. Nothing here changes a motion, a hash
// or a fingerprint; recorders and pages take what they can show of it.
//
// Textures and materials are known by numbers that begin at 1, in the order of adding; 0 is none. Everything is copied.
#pragma once

#include "knuckle/scene.h"

KN_BEGIN_C

// --- textures --------------------------------------------------------------------------------------------

typedef enum knTextureKind {
	KN_TEXTURE_FLAT,   // one picture, laid on by texture coordinates, or from above
	KN_TEXTURE_CUBE,   // the same picture on six sides
	KN_TEXTURE_SKYBOX, // the background
	KN_TEXTURE_KIND_COUNT,
} knTextureKind;

// What is drawn where no picture is given.
typedef enum knTexturePattern {
	KN_PATTERN_NONE,     // the picture
	KN_PATTERN_FLAT,     // color1
	KN_PATTERN_GRADIENT, // from color1 in the middle to color2 at the edge; a skybox's from above to below
	KN_PATTERN_CHECKER,  // two by two fields
	KN_PATTERN_COUNT,
} knTexturePattern;

typedef enum knTextureMark {
	KN_MARK_NONE,
	KN_MARK_EDGE,   // a line around each copy
	KN_MARK_CROSS,  // two lines through the middle
	KN_MARK_RANDOM, // dots on a part `random` of all pixels
	KN_MARK_COUNT,
} knTextureMark;

typedef struct knTextureDef {
	const char* name; // may be NULL
	knTextureKind kind;
	knTexturePattern pattern;
	knTextureMark mark;
	uint32_t color1, color2, markColor; // 0xRRGGBB; 0xcccccc, 0x808080, 0
	double random;                      // 0.01
	int width, height;                  // of a pattern, pixels; 0: as one likes
	const void* picture;                // the bytes of a PNG or JPEG file, NULL: the pattern
	size_t pictureSize;
} knTextureDef;

KN_API knTextureDef knTextureDef_Default(void);

// --- materials -------------------------------------------------------------------------------------------

typedef struct knMaterialDef {
	const char* name; // may be NULL
	uint32_t color;   // as of a shape, which wins; 0: white under a texture, else the body's
	int texture;      // a number from knScene_AddTexture; 0: none
	double repeat[2]; // how often the texture lies on a surface, per metre if `uniform`; 1, 1
	bool uniform;
	double emission;    // of light, in units of the colour; 0
	double specular;    // strength of highlights, 0.5
	double shininess;   // their sharpness, 0 to 1; 0.5
	double reflectance; // as a mirror, 0 to 1; 0
	double metallic;    // 0 to 1; -1: not known
	double roughness;   // 0 to 1; -1: not known
} knMaterialDef;

KN_API knMaterialDef knMaterialDef_Default(void);

// --- lights ----------------------------------------------------------------------------------------------

typedef enum knLightKind {
	KN_LIGHT_SPOT,        // from a point, within `cutoff` of the direction
	KN_LIGHT_DIRECTIONAL, // from far away
	KN_LIGHT_HEAD,        // from where one looks; there is at most one
	KN_LIGHT_KIND_COUNT,
} knLightKind;

typedef struct knLightDef {
	const char* name; // may be NULL
	knLightKind kind;
	knBodyId body;         // null: the world
	knVec3 position;       // in the body's frame
	knVec3 direction;      // in which it shines, unit, in the body's frame; (0, 0, -1)
	bool active;           // true
	bool castsShadow;      // true
	double diffuse[3];     // 0.7
	double ambient[3];     // 0
	double specular[3];    // 0.3
	double attenuation[3]; // constant, linear, quadratic in the distance; 1, 0, 0
	double cutoff;         // degrees, at most 180; 45
	double exponent;       // 10: how fast a spot fades towards its edge
} knLightDef;

KN_API knLightDef knLightDef_Default(knLightKind kind);

// --- in a scene ------------------------------------------------------------------------------------------

// The numbers of what was added; 0 when it is refused.
KN_API int knScene_AddTexture(knScene* scene, const knTextureDef* def, knError* error);
KN_API int knScene_AddMaterial(knScene* scene, const knMaterialDef* def, knError* error);
KN_API int knScene_AddLight(knScene* scene, const knLightDef* def, knError* error);
// Numbers run from 1 to the count. Lights go with the body that carries them; later ones close up.
KN_API int knScene_TextureCount(const knScene* scene);
KN_API int knScene_MaterialCount(const knScene* scene);
KN_API int knScene_LightCount(const knScene* scene);
// NULL for a number that is none of them. Valid until the next of its kind is added, or the scene destroyed.
KN_API const knTextureDef* knScene_GetTexture(const knScene* scene, int texture);
KN_API const knMaterialDef* knScene_GetMaterial(const knScene* scene, int material);
KN_API const knLightDef* knScene_GetLight(const knScene* scene, int light);

KN_END_C
