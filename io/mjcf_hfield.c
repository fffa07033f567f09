// Height fields: from numbers in the file, MuJoCo's binary format, or a grey picture (PNG).
//
// MuJoCo's meaning: whatever the source, heights are moved and scaled so that the lowest is 0 and the highest 1, and then
// multiplied by the third number of `size`. Numbers run from the first row (least y) to the last; pictures have it at the
// bottom. The base of `size`[3] below it is solid here to any depth.
//
//   binary   int32 rows, columns; float32 heights[rows columns]; little-endian
#include "mjcf.h"

#include <string.h>

#include "png_file.h"

enum { MAX_POINTS = 1 << 22, HEADER = 8 };
#define MAX_BYTES ((size_t)1 << 26)

static bool failField(knMjcf* reader, const knMjcfHfield* field, const char* sentence) {
	return knMjcf_Fail(reader, &field->element, "hfield", KN_BAD_DATA, "%s", sentence);
}

static bool checkCounts(knMjcf* reader, const knMjcfHfield* field) {
	return (field->rows >= 2 && field->columns >= 2 && field->rows <= MAX_POINTS / field->columns) ||
		   knMjcf_Fail(reader, &field->element, "hfield", KN_BAD_DATA,
					   "it has %d rows and %d columns; each must be 2 or more, and their product at most %d",
					   field->rows, field->columns, MAX_POINTS);
}

bool knMjcf_CheckHfields(knMjcf* reader) {
	for (int i = 0; i < reader->hfields.count; ++i) {
		const knMjcfHfield* field = &reader->hfields.items[i];
		if (field->file == NULL && !checkCounts(reader, field)) {
			return false;
		}
	}
	return true;
}

// The heights of `field`, which has as many rows and columns as it says.
static double* takeHeights(knMjcf* reader, const knMjcfHfield* field) {
	double* heights = KN_SCRATCH_ZERO(&reader->arena, double, field->rows * field->columns);
	if (heights == NULL) {
		knMjcf_NoMemory(reader);
	}
	return heights;
}

static uint32_t wordAt(const unsigned char* b) {
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double* readBinary(knMjcf* reader, knMjcfHfield* field, const unsigned char* bytes, size_t size) {
	if (size < HEADER) {
		failField(reader, field, "the file is too short for a height field");
		return NULL;
	}
	field->rows = (int)(wordAt(bytes) & 0x7fffffff);
	field->columns = (int)(wordAt(bytes + 4) & 0x7fffffff);
	if (!checkCounts(reader, field)) {
		return NULL;
	}
	if (size != HEADER + 4 * (size_t)field->rows * (size_t)field->columns) {
		failField(reader, field, "the file has not as many bytes as its rows and columns ask for");
		return NULL;
	}
	double* heights = takeHeights(reader, field);
	for (int i = 0; heights != NULL && i < field->rows * field->columns; ++i) {
		const uint32_t word = wordAt(bytes + HEADER + 4 * (size_t)i);
		float value;
		memcpy(&value, &word, sizeof value);
		heights[i] = value;
	}
	return heights;
}

static double* readPicture(knMjcf* reader, knMjcfHfield* field, const unsigned char* bytes, size_t size) {
	knPngImage image;
	knError cause = { .status = KN_OK };
	if (!knPng_ReadGrey(bytes, size, &reader->allocator, &image, &cause)) {
		knMjcf_Fail(reader, &field->element, "hfield", cause.status, "file '%.80s': %.120s", field->file,
					cause.message);
		return NULL;
	}
	field->rows = image.height;
	field->columns = image.width;
	double* heights = checkCounts(reader, field) ? takeHeights(reader, field) : NULL;
	for (int r = 0; heights != NULL && r < image.height; ++r) {
		for (int c = 0; c < image.width; ++c) {
			heights[r * image.width + c] =
				image.grey[(size_t)(image.height - 1 - r) * (size_t)image.width + (size_t)c];
		}
	}
	knPng_Free(&image, &reader->allocator);
	return heights;
}

static double* readFile(knMjcf* reader, knMjcfHfield* field) {
	const knMjcfCompiler* compiler = knMjcf_Compiler(reader, &field->element);
	const char* folder = compiler->meshFolder != NULL ? compiler->meshFolder : compiler->assetFolder;
	const char* path = knMjcf_Path(reader, &field->element, "hfield", folder, field->file);
	size_t length = 0;
	const unsigned char* bytes =
		path != NULL ? knMjcf_FileBytes(reader, &field->element, "hfield", path, MAX_BYTES, &length) : NULL;
	if (bytes == NULL) {
		return NULL;
	}
	return knPng_Is(bytes, length) ? readPicture(reader, field, bytes, length)
								   : readBinary(reader, field, bytes, length);
}

static double* readInline(knMjcf* reader, const knMjcfHfield* field) {
	if (!checkCounts(reader, field)) {
		return NULL;
	}
	const int count = field->rows * field->columns;
	if (field->elevation.count != 0 && field->elevation.count != count) {
		knMjcf_Fail(reader, &field->element, "hfield", KN_BAD_DATA, "elevation has %d numbers; it needs %d",
					field->elevation.count, count);
		return NULL;
	}
	double* heights = takeHeights(reader, field);
	if (heights != NULL && field->elevation.count == count) {
		memcpy(heights, field->elevation.items, (size_t)count * sizeof(double));
	}
	return heights;
}

// To 0 and 1, then to the height that is asked for.
static bool scaleHeights(knMjcf* reader, const knMjcfHfield* field, double* heights) {
	const int count = field->rows * field->columns;
	double least = INFINITY, most = -(double)INFINITY;
	for (int i = 0; i < count; ++i) {
		if (!knIsFinite(heights[i])) {
			return failField(reader, field, "a height of it is not finite");
		}
		least = knMin(least, heights[i]);
		most = knMax(most, heights[i]);
	}
	const double scale = most > least ? field->size[2] / (most - least) : 0.0;
	for (int i = 0; i < count; ++i) {
		heights[i] = scale * (heights[i] - least);
	}
	return true;
}

static bool makeField(knMjcf* reader, knMjcfHfield* field) {
	for (int i = 0; i < 4; ++i) {
		if (!(field->size[i] > 0.0)) {
			return failField(reader, field, "size must be four positive numbers");
		}
	}
	double* heights = field->file != NULL ? readFile(reader, field) : readInline(reader, field);
	if (heights == NULL || !scaleHeights(reader, field, heights)) {
		return false;
	}
	const knHeightFieldDef def = { .columns = field->columns,
								   .rows = field->rows,
								   .cellX = 2.0 * field->size[0] / (field->columns - 1),
								   .cellY = 2.0 * field->size[1] / (field->rows - 1),
								   .heights = heights };
	knError cause = { .status = KN_OK };
	field->geom = knGeom_HeightField(&def, &reader->allocator, &cause);
	return field->geom != NULL || knMjcf_FailFrom(reader, &field->element, &cause);
}

knGeom* knMjcf_Hfield(knMjcf* reader, const knMjcfGeom* geom) {
	const int index = geom->hfield != NULL ? knNameTable_Get(&reader->hfieldNames, geom->hfield) : -1;
	if (index < 0) {
		knMjcf_Fail(reader, &geom->element, "geom", KN_BAD_DATA, "there is no hfield named '%.60s'",
					geom->hfield != NULL ? geom->hfield : "");
		return NULL;
	}
	knMjcfHfield* field = &reader->hfields.items[index];
	if (field->geom == NULL && !makeField(reader, field)) {
		return NULL;
	}
	knGeom_Retain(field->geom);
	return field->geom;
}

void knMjcf_FreeHfields(knMjcf* reader) {
	for (int i = 0; i < reader->hfields.count; ++i) {
		if (reader->hfields.items[i].geom != NULL) {
			knGeom_Release(reader->hfields.items[i].geom);
		}
	}
}
