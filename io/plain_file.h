// What a file names must be a file: a pipe would block, a device never ends.
#pragma once

#include <sys/stat.h>

#include "knuckle/base.h"

// True for regular files, and where there is none (which opening it tells).
static inline bool knPlainFile_Is(const char* path) {
	struct stat status;
	return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}
