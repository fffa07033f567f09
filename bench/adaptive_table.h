// The rows that bench adaptive prints and writes.
#pragma once

#include <stdio.h>

typedef struct Table {
	FILE* csv;          // NULL: none
	const char* folder; // for figures, NULL: none
	int threads;
} Table;

static inline void tell(const Table* table, const char* section, int n, int active, const char* what,
						double value, const char* unit) {
	printf("%-9s %6d joints %5d active  %-24s %12.4g %s\n", section, n, active, what, value, unit);
	if (table->csv != NULL) {
		fprintf(table->csv, "%s,%d,%d,%s,%.6g,%s\n", section, n, active, what, value, unit);
	}
}

// Whole steps of scenes (adaptive_scenes.c); an exit status, after a complaint unless CLI_DONE.
int benchAdaptiveScenes(const Table* table);
