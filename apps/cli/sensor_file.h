// --sensors FILE.csv: what the scene's probes read, a row for the start and each step: time, then a column a number, named as its
// probe, with .0, .1 ... where a probe has several.
#pragma once

#include <stdio.h>

#include "cli.h"
#include "knuckle/control.h"

typedef struct cliSensors {
	FILE* file;
	const char* path;
	int count; // of probes
	bool failed;
} cliSensors;

// Returns an exit status after a complaint; CLI_DONE: call cliSensors_Close.
int cliSensors_Open(cliSensors* sensors, const char* path, const knScene* scene);
// A row; fits cliPlan.watch.
void cliSensors_Write(knWorld* world, int64_t step, void* sensors);
// CLI_DONE if everything was written.
int cliSensors_Close(cliSensors* sensors);
