// A progress bar on stderr, only when that is a terminal.
#pragma once

#include "cli.h"

typedef struct cliProgress {
	bool shown;
	const char* label;
	int64_t total;
	double started, drawn; // s, cliClock
} cliProgress;

cliProgress cliProgress_Begin(const char* label, int64_t total);
void cliProgress_Update(cliProgress* progress, int64_t done);
// Wipes the line.
void cliProgress_End(cliProgress* progress);
