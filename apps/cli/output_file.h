// Output files that appear whole or not at all: text is written beside its place and moved there when complete.
#pragma once

#include <stdio.h>

#include "cli.h"

typedef struct cliOutputFile {
	FILE* stream; // NULL: closed
	char path[1024];
	char part[1032]; // what is being written; equal to `path` for devices and pipes
} cliOutputFile;

// True if a file of this name can be made or replaced; else a complaint. Does not touch it.
bool cliCanWrite(const char* path);
// False after a complaint.
bool cliOutputFile_Open(cliOutputFile* file, const char* path);
// Flushes and moves into place; false after a complaint, and then nothing is left behind.
bool cliOutputFile_Commit(cliOutputFile* file);
void cliOutputFile_Abandon(cliOutputFile* file);
