// Output files. A staged file never shows itself half written: it grows as `path.part` and is renamed when
// finished. A stale `.part` of an earlier crash is overwritten.
#include "record/output.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#define BUFFER_SIZE (1 << 16)
static const char PART_SUFFIX[] = ".part";

knStatus knFileError(knError* error, knStatus status, const char* path, const char* format, ...) {
	char message[sizeof(error->message)];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	knError_Set(error, status, NULL, "%s", message);
	if (error != NULL) {
		size_t length = strlen(path);
		size_t kept = length < sizeof(error->file) ? length : sizeof(error->file) - 1;
		memcpy(error->file, path, kept);
		error->file[kept] = '\0';
	}
	return status;
}

static knStatus writeError(const knOutput* output, knError* error) {
	return knFileError(error, KN_IO, output->path, "cannot write the file: %s", strerror(output->reason));
}

// Notes why the last call failed. Some C libraries leave errno at zero.
static knStatus failWrite(knOutput* output, knError* error) {
	output->reason = errno != 0 ? errno : EIO;
	return writeError(output, error);
}

static void release(knOutput* output) {
	knFreeString(&output->allocator, output->path);
	if (output->part != NULL) {
		knFree(&output->allocator, output->part, strlen(output->part) + 1);
	}
	output->file = NULL;
	output->path = NULL;
	output->part = NULL;
}

// A target that exists must be one that we could write, even if it is only replaced at the end.
static bool targetWritable(knOutput* output) {
	output->regular = true;
	struct stat info;
	if (stat(output->path, &info) != 0) {
		// a missing directory shows when the file is created
		return errno == ENOENT;
	}
	output->regular = S_ISREG(info.st_mode);
	if (!output->regular && !S_ISDIR(info.st_mode)) {
		return true;
	}
	FILE* probe = fopen(output->path, "r+b");
	if (probe == NULL) {
		return false;
	}
	fclose(probe);
	return true;
}

// `path` with the suffix appended.
static char* partPath(const char* path, const knAllocator* allocator) {
	size_t length = strlen(path);
	char* part = knAlloc(allocator, length + sizeof(PART_SUFFIX));
	if (part != NULL) {
		memcpy(part, path, length);
		memcpy(part + length, PART_SUFFIX, sizeof(PART_SUFFIX));
	}
	return part;
}

knStatus knOutput_Open(knOutput* output, const char* path, knOutputMode mode, const knAllocator* allocator,
					   knError* error) {
	knOutput empty = { .allocator = *allocator };
	*output = empty;
	output->path = knCopyString(allocator, path);
	if (output->path == NULL) {
		return knFileError(error, KN_NO_MEMORY, path, "out of memory");
	}
	if (!targetWritable(output)) {
		knFileError(error, KN_IO, path, "cannot write the file: %s", strerror(errno));
		release(output);
		return KN_IO;
	}
	if (mode == KN_OUTPUT_STAGED && output->regular) {
		output->part = partPath(path, allocator);
		if (output->part == NULL) {
			release(output);
			return knFileError(error, KN_NO_MEMORY, path, "out of memory");
		}
	}
	output->file = fopen(output->part != NULL ? output->part : output->path, "wb");
	if (output->file == NULL) {
		knFileError(error, KN_IO, path, "cannot create the file: %s", strerror(errno));
		release(output);
		return KN_IO;
	}
	setvbuf(output->file, NULL, _IOFBF, BUFFER_SIZE);
	return KN_OK;
}

knStatus knOutput_Write(knOutput* output, const void* bytes, size_t size, knError* error) {
	if (output->reason != 0) {
		return writeError(output, error);
	}
	errno = 0;
	if (size > 0 && fwrite(bytes, 1, size, output->file) != size) {
		return failWrite(output, error);
	}
	return KN_OK;
}

knStatus knOutput_Flush(knOutput* output, knError* error) {
	if (output->reason != 0) {
		return writeError(output, error);
	}
	errno = 0;
	return fflush(output->file) == 0 ? KN_OK : failWrite(output, error);
}

knStatus knOutput_Finish(knOutput* output, knError* error) {
	knStatus status = knOutput_Flush(output, error);
	errno = 0;
	if (fclose(output->file) != 0 && status == KN_OK) {
		status = failWrite(output, error);
	}
	if (status == KN_OK && output->part != NULL && rename(output->part, output->path) != 0) {
		status = failWrite(output, error);
	}
	if (status != KN_OK && output->part != NULL) {
		remove(output->part);
	}
	release(output);
	return status;
}

void knOutput_Abandon(knOutput* output) {
	fclose(output->file);
	if (output->part != NULL) {
		remove(output->part);
	}
	release(output);
}

void knOutput_Discard(knOutput* output) {
	fclose(output->file);
	if (output->part != NULL) {
		remove(output->part);
	} else if (output->regular) {
		remove(output->path);
	}
	release(output);
}
