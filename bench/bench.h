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
	int steps;        // of each run, at most; 0: the suite's own choice
	int sceneCount;   // that were named after the suite; 0: all of its own
	const char* const* scenes;
	int setCount; // "name=value" for every run
	const char* const* sets;
} knBenchOptions;

typedef struct knBenchSuite {
	const char* name;
	const char* summary;
	bool takesScenes; // may be restricted to some of its scenes, and to a number of steps
	bool takesSets;   // and settings
	int (*run)(const knBenchOptions* options); // returns the tool's exit status
} knBenchSuite;

// NULL if there is no such suite, or past the end.
const knBenchSuite* knBenchSuite_Find(const char* name);
const knBenchSuite* knBenchSuite_At(int index);
