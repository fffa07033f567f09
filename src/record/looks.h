// How the surfaces of a recording look beyond a colour: the materials of a scene (knuckle/looks.h) as writers take them,
// each once, with the pictures that lie on them as the bytes of image files. Patterns are drawn here.
//
// Where a picture lies, one rule for pages and .glb: let u be a point of the surface in units of half the sides of the
// box about its shape, -1 to 1, and h those halves in metres.
//
//   from above   s = 1/2 + repeat u_x / 2, t = 1/2 + repeat u_y / 2, t upwards; the sides take what lies above them
//   around       the same on each side of the box as it is seen from outside, by the two components of u along the side over
//                the one across; the normal says which side
//   uniform      repeat h u in place of repeat u / 2: so many copies a metre. On planes, which have no size, always so
#pragma once

#include "core/array.h"
#include "core/table.h"
#include "knuckle/looks.h"
#include "record/bytes.h"

typedef struct knLook {
	double roughness, metallic; // 0 to 1
	double emission;            // in units of the colour
	int picture;                // -1: none
	double repeat[2];
	bool uniform, around;
} knLook;

typedef struct knPicture {
	knBytes bytes; // of a file
	bool png;      // else a JPEG
} knPicture;

typedef struct knLookList {
	knAllocator allocator;
	KN_ARRAY(knLook) items;
	KN_ARRAY(knPicture) pictures;
	knTable lookOf, pictureOf; // hash of the content -> index
} knLookList;

void knLookList_Init(knLookList* list, const knAllocator* allocator);
void knLookList_Free(knLookList* list);
// The index of a material of the scene, appended if none has the same content; -1 when out of memory.
int knLookList_Of(knLookList* list, const knScene* scene, int material);

// Appends what a file says, whether or not there is its like; false when out of memory.
bool knLookList_AddLook(knLookList* list, const knLook* look);
bool knLookList_AddPicture(knLookList* list, const uint8_t* bytes, size_t size);

// s and t of a point u where the surface has this normal (of any length, in units of h as u is).
void knLook_Coordinates(const knLook* look, knVec3 u, knVec3 normal, knVec3 h, double out[2]);

// --- pattern_png.c ---

// The bytes of a PNG with what the texture's pattern and mark show; false when out of memory.
bool knPattern_Png(const knTextureDef* texture, const knAllocator* allocator, knBytes* bytes);
