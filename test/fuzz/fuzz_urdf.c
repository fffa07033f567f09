// Any bytes as URDF: a scene that compiles, or a sentence with a place.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
	knError error = { .status = KN_OK };
	knLoadReport report;
	knScene* scene = knUrdf_LoadMemory((const char*)data, size, "fuzz.urdf", NULL, &report, &error);
	knLoadReport_Free(&report);
	fuzzScene(scene, &error);
	return 0;
}
