// Group set-up and tear-down of tests that write files by bare names: they stand in a folder of their own, wherever the
// test was started from. In memory where that is possible.
#pragma once

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char scratchFolder[128];

static inline int enterScratch(void** state) {
	(void)state;
	const char* root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
	snprintf(scratchFolder, sizeof(scratchFolder), "%.100s/knuckle-XXXXXX", root != NULL ? root : "/tmp");
	return mkdtemp(scratchFolder) != NULL && chdir(scratchFolder) == 0 ? 0 : -1;
}

static inline int removeScratchEntry(const char* path, const struct stat* status, int type,
									 struct FTW* walk) {
	(void)status, (void)type, (void)walk;
	return remove(path);
}

static inline int leaveScratch(void** state) {
	(void)state;
	return chdir("/") == 0 ? nftw(scratchFolder, removeScratchEntry, 8, FTW_DEPTH | FTW_PHYS) : -1;
}
