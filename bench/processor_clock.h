// Processor time of this process, all threads together: other work on the machine disturbs it less than the time of day.
#pragma once

#include <time.h>

static inline double processorSeconds(void) {
#if defined(__wasi__)
	struct timespec now; // a WebAssembly machine has no other clock
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
#else
	return (double)clock() / CLOCKS_PER_SEC;
#endif
}
