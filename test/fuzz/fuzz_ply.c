// Any bytes as a mesh in .ply: a sound mesh or a sentence.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
	fuzzMesh(data, size, "fuzz.ply");
	return 0;
}
