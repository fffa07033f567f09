// A folder for the length of a command (temp_folder.h).
#include "temp_folder.h"

#ifdef KN_HAVE_IO

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cliTempFolder_Make(cliTempFolder* folder) {
	const char* base = getenv("TMPDIR");
	base = base != NULL && base[0] != '\0' ? base : "/tmp";
	int length = snprintf(folder->path, sizeof(folder->path), "%s/knuckle-XXXXXX", base);
	if (length >= (int)sizeof(folder->path) || mkdtemp(folder->path) == NULL) {
		cliFail(CLI_BAD_INPUT, "cannot make a folder in '%s': %s", base,
				length >= (int)sizeof(folder->path) ? strerror(ENAMETOOLONG) : strerror(errno));
		folder->path[0] = '\0';
		return false;
	}
	return true;
}

static int removeOne(const char* path, const struct stat* info, int kind, struct FTW* place) {
	(void)info, (void)kind, (void)place;
	remove(path);
	return 0;
}

void cliTempFolder_Remove(cliTempFolder* folder) {
	if (folder->path[0] != '\0') {
		nftw(folder->path, removeOne, 16, FTW_DEPTH | FTW_PHYS);
		folder->path[0] = '\0';
	}
}

#else

// Without the library of files nothing asks for one but to be told so.
bool cliTempFolder_Make(cliTempFolder* folder) {
	folder->path[0] = '\0';
	cliFail(CLI_USAGE, "this build writes no pages");
	return false;
}

void cliTempFolder_Remove(cliTempFolder* folder) {
	folder->path[0] = '\0';
}

#endif
