// A folder for the length of a command, below TMPDIR or /tmp.
#pragma once

#include "cli.h"

typedef struct cliTempFolder {
	char path[512]; // "": none
} cliTempFolder;

// False after a complaint.
bool cliTempFolder_Make(cliTempFolder* folder);
// With everything in it.
void cliTempFolder_Remove(cliTempFolder* folder);
