// PNG pictures as grey values, through libpng. Its simplified interface checks sizes and checksums and never reads beyond the
// bytes that are given; sides are bounded here, so that a small file cannot ask for much memory.
#include "png_file.h"

#include <string.h>

#include "core/alloc.h"

#ifdef KN_HAVE_PNG
#include <png.h>
#endif

bool knPng_Is(const unsigned char* bytes, size_t size) {
	static const unsigned char signature[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
	return size >= sizeof(signature) && memcmp(bytes, signature, sizeof(signature)) == 0;
}

void knPng_Free(knPngImage* image, const knAllocator* allocator) {
	knFree(allocator, image->grey, (size_t)image->width * (size_t)image->height);
	*image = (knPngImage){ 0 };
}

#ifdef KN_HAVE_PNG

enum { MAX_SIDE = 8192, CHANNELS = 3 };

// The red channel of every pixel, as MuJoCo takes it.
static bool readPixels(png_image* picture, const knAllocator* allocator, knPngImage* image, knError* error) {
	size_t count = (size_t)picture->width * picture->height;
	unsigned char* pixels = knAlloc(allocator, CHANNELS * count);
	unsigned char* grey = knAlloc(allocator, count);
	bool read = false;
	if (pixels == NULL || grey == NULL) {
		knError_Set(error, KN_NO_MEMORY, NULL, "out of memory");
	} else if (png_image_finish_read(picture, NULL, pixels, 0, NULL) == 0) {
		knError_Set(error, KN_BAD_DATA, NULL, "the picture is damaged: %s", picture->message);
	} else {
		for (size_t i = 0; i < count; ++i) {
			grey[i] = pixels[CHANNELS * i];
		}
		*image = (knPngImage){ (int)picture->width, (int)picture->height, grey };
		read = true;
	}
	knFree(allocator, pixels, CHANNELS * count);
	if (!read) {
		knFree(allocator, grey, count);
	}
	return read;
}

bool knPng_ReadGrey(const unsigned char* bytes, size_t size, const knAllocator* allocator, knPngImage* image,
					knError* error) {
	png_image picture = { .version = PNG_IMAGE_VERSION };
	if (png_image_begin_read_from_memory(&picture, bytes, size) == 0) {
		knError_Set(error, KN_BAD_DATA, NULL, "the picture is damaged: %s", picture.message);
		return false;
	}
	bool small =
		picture.width >= 1 && picture.height >= 1 && picture.width <= MAX_SIDE && picture.height <= MAX_SIDE;
	if (!small) {
		knError_Set(error, KN_LIMIT, NULL, "the picture has %u x %u pixels; the limit is %d a side",
					(unsigned)picture.width, (unsigned)picture.height, MAX_SIDE);
	}
	picture.format = PNG_FORMAT_RGB;
	picture.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; // values as they stand, whatever the depth
	bool read = small && readPixels(&picture, allocator, image, error);
	png_image_free(&picture);
	return read;
}

#else

bool knPng_ReadGrey(const unsigned char* bytes, size_t size, const knAllocator* allocator, knPngImage* image,
					knError* error) {
	(void)bytes, (void)size, (void)allocator, (void)image;
	knError_Set(error, KN_UNSUPPORTED, NULL,
				"this build reads no PNG pictures; install libpng-dev and build again");
	return false;
}

#endif
