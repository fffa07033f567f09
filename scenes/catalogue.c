// The table of scenes, and the parameters of a run: found by name, checked against their range, read with `small` in mind.
#include "catalogue.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/text.h"
#include "scene_tools.h"

static const knSceneEntry* const entries[] = {
	&knBoxStackEntry,   &knWallEntry,        &knTowerEntry,          &knFallingRoofEntry, &knRoofTowerEntry,
	&knBallGridEntry,   &knLettersEntry,     &knSiloEntry,           &knCowPileEntry,     &knPyramidEntry,
	&knRandomPileEntry, &knSparseStackEntry, &knDenseStackEntry,     &knArchEntry,        &knPlateEntry,
	&knSeeSawEntry,     &knCantileverEntry,  &knUnequalPillarsEntry, &knStruckStackEntry, &knSledEntry,
	&knCardHouseEntry,  &knJointsEntry,      &knMagnetsEntry,        &knNetEntry,         &knBridgeEntry,
	&knTankEntry,       &knRingsEntry,       &knSkeletonsEntry,      &knRagdollsEntry,    &knPushThroughEntry,
	&knHeavyChainEntry, &knMassRatioEntry,   &knFourBarEntry,        &knBricardEntry,     &knFreeRingEntry,
	&knShortLoopEntry,  &knPendulumEntry,    &knDominoesEntry,       &knSlopeEntry,       &knCradleEntry,
	&knLinkedToriEntry, &knSticksEntry,      &knSpringEntry,         &knDiskEntry,        &knGasEntry,
	&knCrankEntry,      &knCapstanEntry,     &knChainPegsEntry,      &knPegsEntry,        &knThreadingEntry,
	&knSnakeEntry,      &knRopePileEntry,    &knTwoRopesEntry,       &knHumanoidEntry,    &knArmEntry,
	&knGripperEntry,    &knDoorEntry,        &knTwoContactsEntry,
};

#define ENTRY_COUNT ((int)(sizeof(entries) / sizeof(entries[0])))

int knCatalogue_Count(void) {
	return ENTRY_COUNT;
}

const knSceneEntry* knCatalogue_At(int index) {
	return index >= 0 && index < ENTRY_COUNT ? entries[index] : NULL;
}

const knSceneEntry* knCatalogue_Find(const char* name, knError* error) {
	const char* names[ENTRY_COUNT];
	for (int i = 0; i < ENTRY_COUNT; ++i) {
		if (strcmp(entries[i]->name, name) == 0) {
			return entries[i];
		}
		names[i] = entries[i]->name;
	}
	const char* closest = knText_Closest(name, names, ENTRY_COUNT);
	if (closest != NULL) {
		knError_Set(error, KN_BAD_ARGUMENT, NULL, "unknown scene '%.60s'; did you mean '%s'?", name, closest);
	} else {
		knError_Set(error, KN_BAD_ARGUMENT, NULL, "unknown scene '%.60s'; 'knuckle scenes' lists them all",
					name);
	}
	return NULL;
}

// --- parameters ------------------------------------------------------------------------------------------

static int paramIndex(const knSceneEntry* entry, const char* name) {
	for (int i = 0; i < KN_SCENE_MAX_PARAMS && entry->params[i].name != NULL; ++i) {
		if (strcmp(entry->params[i].name, name) == 0) {
			return i;
		}
	}
	return -1;
}

knSceneArgs knSceneArgs_Default(const knSceneEntry* entry) {
	knSceneArgs args = { .entry = entry, .seed = 1, .time = entry->time };
	for (int i = 0; i < KN_SCENE_MAX_PARAMS && entry->params[i].name != NULL; ++i) {
		args.value[i] = entry->params[i].value;
	}
	return args;
}

bool knSceneArgs_Has(const knSceneArgs* args, const char* name) {
	return paramIndex(args->entry, name) >= 0 || strcmp(name, "seed") == 0 || strcmp(name, "small") == 0 ||
		   (args->entry->twins && strcmp(name, "twin") == 0);
}

double knSceneArgs_Get(const knSceneArgs* args, const char* name) {
	if (strcmp(name, "seed") == 0) {
		return (double)args->seed;
	}
	if (strcmp(name, "small") == 0) {
		return args->small ? 1.0 : 0.0;
	}
	if (strcmp(name, "twin") == 0) {
		return args->twin;
	}
	int i = paramIndex(args->entry, name);
	if (i < 0) {
		return 0.0;
	}
	const knSceneParam* param = &args->entry->params[i];
	bool shrink = args->small && param->small != 0.0 && (args->given & (1u << i)) == 0 &&
				  args->value[i] == param->value;
	return shrink ? param->small : args->value[i];
}

// The range of the parameters that every scene takes; 2^53 seeds are told apart by a double.
static bool commonParam(const knSceneArgs* args, const char* name, knSceneParam* param) {
	static const knSceneParam common[] = {
		{ .name = "seed", .upper = 9007199254740992.0, .integer = true },
		{ .name = "small", .upper = 1.0, .integer = true },
		{ .name = "twin", .upper = 5.0, .integer = true },
	};
	int count = args->entry->twins ? 3 : 2;
	for (int i = 0; i < count; ++i) {
		if (strcmp(common[i].name, name) == 0) {
			*param = common[i];
			return true;
		}
	}
	return false;
}

// --- choices: words in place of numbers

static int choiceCount(const knSceneParam* param) {
	return param->choices != NULL ? (int)param->upper + 1 : 0;
}

const char* knSceneParam_Word(const knSceneParam* param, double value, char* word, size_t capacity) {
	const char* text = param->choices;
	for (int i = 0; text != NULL && i < (int)value; ++i) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	if (text == NULL || *text == '\0') {
		return NULL;
	}
	snprintf(word, capacity, "%.*s", (int)strcspn(text, " "), text);
	return word;
}

// A number, or the word of a choice.
static bool parseValue(const knSceneParam* param, const char* value, double* number) {
	char word[32];
	for (int i = 0; i < choiceCount(param); ++i) {
		if (strcmp(knSceneParam_Word(param, i, word, sizeof(word)), value) == 0) {
			*number = i;
			return true;
		}
	}
	return knText_ParseDouble(value, number);
}

static knStatus refuseValue(const knSceneArgs* args, const knSceneParam* param, const char* value,
							knError* error) {
	char lower[32], upper[32];
	if (param->choices != NULL) {
		return knError_Set(error, KN_BAD_DATA, NULL,
						   "parameter '%s' of scene '%s' must be one of: %s; not '%.60s'", param->name,
						   args->entry->name, param->choices, value);
	}
	return knError_Set(error, KN_BAD_DATA, NULL,
					   "parameter '%s' of scene '%s' must be %s from %s to %s, not '%.60s'", param->name,
					   args->entry->name, param->integer ? "a whole number" : "a number",
					   knText_FormatDouble(param->lower, lower, sizeof(lower)),
					   knText_FormatDouble(param->upper, upper, sizeof(upper)), value);
}

static knStatus unknownParam(const knSceneArgs* args, const char* name, knError* error) {
	return knError_Set(error, KN_BAD_ARGUMENT, NULL, "scene '%s' has no parameter '%.60s'", args->entry->name,
					   name);
}

knStatus knSceneArgs_Set(knSceneArgs* args, const char* name, const char* value, knError* error) {
	knSceneParam param;
	int i = paramIndex(args->entry, name);
	if (i >= 0) {
		param = args->entry->params[i];
	} else if (!commonParam(args, name, &param)) {
		return unknownParam(args, name, error);
	}

	double number;
	if (!parseValue(&param, value, &number) || number < param.lower || number > param.upper ||
		(param.integer && number != floor(number))) {
		return refuseValue(args, &param, value, error);
	}
	if (i >= 0) {
		args->value[i] = number;
		args->given |= 1u << i;
	} else if (strcmp(name, "seed") == 0) {
		args->seed = (uint64_t)number;
	} else if (strcmp(name, "small") == 0) {
		args->small = number != 0.0;
	} else if (number == 1.0) {
		return knError_Set(error, KN_BAD_DATA, NULL,
						   "twin=1 is no scene of its own: set gravity=x,y,z and one body or layer instead; "
						   "twin must be 0 or 2 to 5");
	} else {
		args->twin = (int)number;
	}
	return KN_OK;
}

knScene* knSceneArgs_Build(const knSceneArgs* args, knError* error) {
	knScene* scene = args->entry->build(args, error);
	if (scene != NULL) {
		knScene_Def(scene)->view = args->entry->view;
	}
	return scene;
}

// --- checks ----------------------------------------------------------------------------------------------

void knSceneChecks_Set(knSceneChecks* checks, const char* name, double value) {
	for (int i = 0; i < checks->count; ++i) {
		if (strcmp(checks->names[i], name) == 0) {
			checks->values[i] = value;
			return;
		}
	}
	KN_ASSERT(checks->count < KN_SCENE_MAX_CHECKS);
	if (checks->count < KN_SCENE_MAX_CHECKS) {
		checks->names[checks->count] = name;
		checks->values[checks->count] = value;
		checks->count += 1;
	}
}

double* knSceneChecks_Buffer(knSceneChecks* checks, int count) {
	if (checks->buffer == NULL && count > 0) {
		knAllocator allocator = knAllocator_Default();
		checks->buffer = knAllocZero(&allocator, (size_t)count * sizeof(double));
		checks->bufferCount = checks->buffer != NULL ? count : 0;
	}
	return checks->bufferCount >= count ? checks->buffer : NULL;
}

void knSceneChecks_Free(knSceneChecks* checks) {
	knAllocator allocator = knAllocator_Default();
	knFree(&allocator, checks->buffer, (size_t)checks->bufferCount * sizeof(double));
	checks->buffer = NULL;
	checks->bufferCount = 0;
}
