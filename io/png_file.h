// Grey values of a PNG picture, for height fields; with libpng, where it is installed.
#pragma once

#include "knuckle/base.h"

typedef struct knPngImage {
	int width, height;
	unsigned char* grey; // [height width], the first row at the top
} knPngImage;

// True if the bytes begin as a PNG does.
bool knPng_Is(const unsigned char* bytes, size_t size);
// Of coloured pictures the red channel, as MuJoCo takes it. False after an error.
bool knPng_ReadGrey(const unsigned char* bytes, size_t size, const knAllocator* allocator, knPngImage* image,
					knError* error);
void knPng_Free(knPngImage* image, const knAllocator* allocator);
