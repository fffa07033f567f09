// The catalogue: named scenes with parameters, used by the tool, the tests, the benchmarks and the viewer. A scene is one
// row in catalogue.c: its parameters, a builder, and, where it needs them, a script that acts between steps and an
// observer that computes the scene's own facts.
#pragma once

#include "knuckle/knuckle.h"

#define KN_SCENE_MAX_PARAMS 8
#define KN_SCENE_MAX_CHECKS 16

typedef struct knSceneParam {
	const char* name;
	double value; // default
	double lower, upper;
	bool integer;
	const char* help;
} knSceneParam;

typedef struct knSceneEntry knSceneEntry;

// Parameters of one run. Every scene also takes seed, small (0 or 1) and, where it has a stillness bar, twin (0, 2..5).
typedef struct knSceneArgs {
	const knSceneEntry* entry;
	double value[KN_SCENE_MAX_PARAMS]; // in the order of entry->params
	uint64_t seed;
	bool small;
	int twin;
} knSceneArgs;

// The scene's own facts, reported under "checks".
typedef struct knSceneChecks {
	int count;
	const char* names[KN_SCENE_MAX_CHECKS];
	double values[KN_SCENE_MAX_CHECKS];
	double memory[16]; // the observer's own, zero at the start
} knSceneChecks;

struct knSceneEntry {
	const char* name;
	const char* summary;                      // one line
	const char* source;                       // where it comes from: "seed 004, figure 9"
	const char* steppers;                     // space separated, the default first
	double dt, time;                          // suggested step and duration
	bool twins;                               // has a stillness bar, so takes twin=2..5
	knSceneParam params[KN_SCENE_MAX_PARAMS]; // up to the first NULL name
	knScene* (*build)(const knSceneArgs* args, knError* error);
	// Before each step; depends on the world alone (time, poses), so that it may go on after a restore. NULL: none.
	void (*script)(knWorld* world, const knSceneArgs* args);
	// After each step and once at the start. NULL: none.
	void (*observe)(knWorld* world, const knSceneArgs* args, knSceneChecks* checks);
};

int knCatalogue_Count(void);
const knSceneEntry* knCatalogue_At(int index);
// NULL if unknown; `error` then suggests the closest name.
const knSceneEntry* knCatalogue_Find(const char* name, knError* error);
knSceneArgs knSceneArgs_Default(const knSceneEntry* entry);
// True if `name` is a parameter of the scene (or seed, small, twin). A value out of range or not a number: KN_BAD_DATA.
bool knSceneArgs_Has(const knSceneArgs* args, const char* name);
knStatus knSceneArgs_Set(knSceneArgs* args, const char* name, const char* value, knError* error);
double knSceneArgs_Get(const knSceneArgs* args, const char* name);
knScene* knSceneArgs_Build(const knSceneArgs* args, knError* error);

// Records a fact (replacing an earlier value of the same name).
void knSceneChecks_Set(knSceneChecks* checks, const char* name, double value);
