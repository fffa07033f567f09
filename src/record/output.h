// A file being written: buffered, with every error turned into KN_IO, the path and the system's reason.
#pragma once

#include <stdio.h>

#include "core/alloc.h"

typedef enum knOutputMode {
	KN_OUTPUT_STAGED,   // written as `path.part`, which takes the target's place when finished
	KN_OUTPUT_IN_PLACE, // written where it belongs, so that what is there can be read after a crash
} knOutputMode;

typedef struct knOutput {
	knAllocator allocator;
	FILE* file;
	char* path;   // as the caller gave it
	char* part;   // where the bytes go until the file is finished; NULL: to `path`
	bool regular; // a regular file, which may be removed; not a device or a pipe
	int reason;   // errno of the first failed write; 0: none
} knOutput;

// Creates the file, or says why it cannot be written. Whatever cannot be renamed over (a device, a pipe) is
// written in place.
knStatus knOutput_Open(knOutput* output, const char* path, knOutputMode mode, const knAllocator* allocator,
					   knError* error);
// Once a write has failed, all further ones fail too: nothing may follow a gap.
knStatus knOutput_Write(knOutput* output, const void* bytes, size_t size, knError* error);
// Hands everything written so far to the system.
knStatus knOutput_Flush(knOutput* output, knError* error);
// Closes the file and puts it in its place; after an error an unfinished staged file is gone. Always
// releases.
knStatus knOutput_Finish(knOutput* output, knError* error);
// Closes the file; a staged one is removed. Always releases.
void knOutput_Abandon(knOutput* output);
// The same, and what was written in place is removed too.
void knOutput_Discard(knOutput* output);

// knError_Set with the file's name in its field.
knStatus knFileError(knError* error, knStatus status, const char* path, const char* format, ...)
	KN_PRINTF(4, 5);
