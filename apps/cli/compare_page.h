// The report of knuckle compare as one HTML file: the table, plots over time, and the replays of all runs side by side on
// one clock. The runs' replay pages and the plots are made in a folder of their own first; the report holds the page's
// program once and each run's recording.
#pragma once

#include <stdio.h>

#include "temp_folder.h"

typedef struct cliComparePage {
	const char* title;
	const char* const* plots; // names of SVG files in the folder, without extension
	int plotCount;
	const char* const* runs; // names of the columns; a run that was refused has no page
	int runCount;
	// Writes the table's rows (cliComparePage_Row).
	void (*rows)(FILE* out, const void* context);
	const void* context;
} cliComparePage;

// Where the replay page of a run goes.
void cliComparePage_RunPath(const cliTempFolder* folder, int run, char* path, size_t capacity);
// One row of the table; what is not a number shows as a dash.
void cliComparePage_Row(FILE* out, const char* label, const double* values, int count);
// A paragraph below the table.
void cliComparePage_Note(FILE* out, const char* text);
// False after a complaint; no file is left then.
bool cliComparePage_Write(const cliComparePage* page, const cliTempFolder* folder, const char* path);
