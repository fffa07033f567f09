// The two faces of a run's result: one JSON object, and a few lines for people. docs/cli.md describes the keys.
#pragma once

#include "core/json.h"
#include "simulate.h"

typedef struct cliResult {
	const char* source; // scene or file, as asked for
	const cliScene* scene;
	knWorld* world;
	int threads;
	const cliMeasures* measures;
	const char* failure; // why the run ended early; NULL: it did not
} cliResult;

void cliResult_WriteJson(const cliResult* result, knJson* json);
void cliResult_Print(const cliResult* result);
