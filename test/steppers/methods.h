// Worlds of every stepper and scheme, for facts that hold for all of them.
#pragma once

#include "world/fixture.h"

typedef struct Method {
	const char* stepper;
	int scheme;
} Method;

// (The published velocity scheme leaves what touches nothing to one hundredth of each step.)
static const Method methods[] = {
	{ "velocity", KN_SCHEME_DEFAULT },
	{ "impulse", KN_SCHEME_DEFAULT },
	{ "impulse", KN_SCHEME_PAPER },
};
enum { METHODS = sizeof methods / sizeof *methods, PUBLISHED = 2 };

static inline knWorld* worldOf(knScene* scene, int method) {
	knSettings settings = knSettings_Default();
	settings.scheme = methods[method].scheme;
	knWorldDef def = knWorldDef_Default();
	def.stepper = methods[method].stepper;
	def.settings = &settings;
	return newWorldWith(scene, &def);
}
