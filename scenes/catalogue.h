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
	double small; // default when small=1; 0: `value` serves there too
	const char*
		choices; // words, space separated, that stand for the values 0, 1, ...; NULL: a number is asked for
} knSceneParam;

typedef struct knSceneEntry knSceneEntry;

// Parameters of one run. Every scene also takes seed, small (0 or 1) and, where it has a stillness bar, twin (0, 2..5).
// Read a parameter with knSceneArgs_Get, which minds `small`.
typedef struct knSceneArgs {
	const knSceneEntry* entry;
	double value[KN_SCENE_MAX_PARAMS]; // in the order of entry->params
	uint32_t given;                    // bit i: value[i] was set, so that small leaves it alone
	uint64_t seed;
	bool small;
	int twin;
	double time; // duration of the run; entry->time unless the caller plans another
} knSceneArgs;

// The scene's own facts, reported under "checks". Start from a zeroed struct; release it with knSceneChecks_Free.
typedef struct knSceneChecks {
	int count;
	const char* names[KN_SCENE_MAX_CHECKS];
	double values[KN_SCENE_MAX_CHECKS];
	double memory[16]; // the observer's own, zero at the start
	double* buffer;    // more of the same (knSceneChecks_Buffer)
	int bufferCount;
} knSceneChecks;

struct knSceneEntry {
	const char* name;
	int bodies, joints;                       // with default parameters
	const char* summary;                      // one line
	const char* source;                       // where it comes from: "Erleben 2007, figure 9"
	const char* steppers;                     // space separated, the default first
	double dt, time;                          // suggested step and duration
	bool twins;                               // has a stillness bar, so takes twin=2..5
	knViewDef view;                           // how pictures show it; zoom 0: as any
	knSceneParam params[KN_SCENE_MAX_PARAMS]; // up to the first NULL name
	knScene* (*build)(const knSceneArgs* args, knError* error);
	// Before each step; depends on the world alone (time, poses), so that it may go on after a restore. The step is
	// taken to be the scene's dt. NULL: none.
	void (*script)(knWorld* world, const knSceneArgs* args);
	// After each step and once at the start. NULL: none.
	void (*observe)(knWorld* world, const knSceneArgs* args, knSceneChecks* checks);
};

int knCatalogue_Count(void);
const knSceneEntry* knCatalogue_At(int index);
// NULL if unknown; `error` then suggests the closest name.
const knSceneEntry* knCatalogue_Find(const char* name, knError* error);
knSceneArgs knSceneArgs_Default(const knSceneEntry* entry);
// True if `name` is a parameter of the scene (or seed, small, twin).
bool knSceneArgs_Has(const knSceneArgs* args, const char* name);
// KN_BAD_ARGUMENT: no such parameter. KN_BAD_DATA: the value is not a number or out of range.
knStatus knSceneArgs_Set(knSceneArgs* args, const char* name, const char* value, knError* error);
// The word that stands for `value` of a parameter with choices; NULL for one that takes a number.
const char* knSceneParam_Word(const knSceneParam* param, double value, char* word, size_t capacity);
// The value that a build uses; 0 for a name that the scene does not have. Of a choice, the place of its word.
double knSceneArgs_Get(const knSceneArgs* args, const char* name);
knScene* knSceneArgs_Build(const knSceneArgs* args, knError* error);

// Records a fact (replacing an earlier value of the same name).
void knSceneChecks_Set(knSceneChecks* checks, const char* name, double value);
// The observer's own doubles, zero at the first call; NULL when out of memory.
double* knSceneChecks_Buffer(knSceneChecks* checks, int count);
void knSceneChecks_Free(knSceneChecks* checks);
