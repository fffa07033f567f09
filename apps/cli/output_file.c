// Output files that appear whole or not at all (output_file.h).
#include "output_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool complain(const char* path, const char* why) {
	cliFail(CLI_BAD_INPUT, "cannot write '%s': %s", path, why);
	return false;
}

bool cliCanWrite(const char* path) {
	struct stat info;
	if (stat(path, &info) == 0) {
		if (S_ISDIR(info.st_mode)) {
			return complain(path, strerror(EISDIR));
		}
		return access(path, W_OK) == 0 || complain(path, strerror(errno));
	}
	char folder[1024];
	const char* slash = strrchr(path, '/');
	size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
	if (length >= sizeof(folder)) {
		return complain(path, strerror(ENAMETOOLONG));
	}
	memcpy(folder, slash == NULL ? "." : path, slash == NULL ? 1 : length);
	folder[slash == NULL ? 1 : length] = '\0';
	if (stat(folder, &info) != 0) {
		return complain(path, strerror(errno));
	}
	if (!S_ISDIR(info.st_mode)) {
		return complain(path, strerror(ENOTDIR));
	}
	return access(folder, W_OK | X_OK) == 0 || complain(path, strerror(errno));
}

bool cliOutputFile_Open(cliOutputFile* file, const char* path) {
	struct stat info;
	bool special = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
	file->stream = NULL;
	if (strlen(path) >= sizeof(file->path)) {
		return complain(path, strerror(ENAMETOOLONG));
	}
	snprintf(file->path, sizeof(file->path), "%s", path);
	snprintf(file->part, sizeof(file->part), special ? "%s" : "%s.part", file->path);
	file->stream = fopen(file->part, "wb");
	return file->stream != NULL || complain(path, strerror(errno));
}

bool cliOutputFile_Commit(cliOutputFile* file) {
	bool special = strcmp(file->path, file->part) == 0;
	bool good = ferror(file->stream) == 0;
	good = fclose(file->stream) == 0 && good;
	file->stream = NULL;
	if (good && !special) {
		good = rename(file->part, file->path) == 0;
	}
	if (!good) {
		complain(file->path, errno != 0 ? strerror(errno) : "write error");
		if (!special) {
			remove(file->part);
		}
	}
	return good;
}

void cliOutputFile_Abandon(cliOutputFile* file) {
	if (file->stream != NULL) {
		fclose(file->stream);
		file->stream = NULL;
		if (strcmp(file->path, file->part) != 0) {
			remove(file->part);
		}
	}
}
