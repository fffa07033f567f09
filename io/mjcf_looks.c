// From where a page first looks: <visual><global azimuth elevation>, else the first camera that stands in the world.
//
// MuJoCo's azimuth and elevation are those of the direction in which one looks; a view is the direction to the eye, the other way
// round. A camera looks along its -z; where it stands, the page decides, so that all is in the picture. Nothing of this can
// be wrong enough to refuse a model: what is no number, or no direction, is passed over.
#include <string.h>

#include "mjcf.h"

#define DEGREES (180.0 / KN_PI)
#define STEEPEST 89.0 // degrees, of an elevation

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
