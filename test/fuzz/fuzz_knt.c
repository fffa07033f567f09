// Any bytes as a recording: frames that can be read, or a sentence.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
	char path[64];
	const int file = fuzzFile(data, size, path);
	if (file < 0) {
		return 0;
	}
	knError error = { .status = KN_OK };
	knTrajectory* trajectory = knTrajectory_Open(path, NULL, &error);
	if (trajectory != NULL) {
		for (int f = 0; f < knTrajectory_FrameCount(trajectory) && f < 100; ++f) {
			const knBodyState* bodies = knTrajectory_Bodies(trajectory, f);
			for (int b = 0; bodies != NULL && b < knTrajectory_BodyCount(trajectory, f); ++b) {
				if (knTrajectory_Body(trajectory, f, b).name == NULL) {
					__builtin_trap();
				}
			}
		}
		knTrajectory_Close(trajectory);
	} else if (error.message[0] == '\0') {
		__builtin_trap();
	}
	close(file);
	return 0;
}
