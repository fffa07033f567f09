// Any bytes as an articulated model in JSON: a tree or a sentence.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
	char path[64];
	const int file = fuzzFile(data, size, path);
	if (file < 0) {
		return 0;
	}
	knTreeFile tree;
	knError error = { .status = KN_OK };
	if (knTreeFile_Load(path, &tree, &error) == KN_OK) {
		knTreeFile_Free(&tree);
	} else if (error.message[0] == '\0') {
		__builtin_trap();
	}
	close(file);
	return 0;
}
