// Benchmark suites: `knuckle bench NAME` for what is not a scene of the catalogue. A suite is one file
// bench_NAME.c and one row in suites.c. Suites measure and print; they never decide whether the library is right.
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef struct knBenchOptions {
	bool full;        // the long form
	bool peers;       // also what is installed of other libraries
	int threads;      // 1
	const char* path; // --out: a .csv for the table, or a folder for plots; NULL: none
} knBenchOptions;

typedef struct knBenchSuite {
	const char* name;
	const char* summary;
	int (*run)(const knBenchOptions* options); // returns the tool's exit status
} knBenchSuite;

// NULL if there is no such suite, or past the end.
const knBenchSuite* knBenchSuite_Find(const char* name);
const knBenchSuite* knBenchSuite_At(int index);
