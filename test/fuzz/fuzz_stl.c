// Any bytes as a mesh in .stl: a sound mesh or a sentence.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
	fuzzMesh(data, size, "fuzz.stl");
	return 0;
}
