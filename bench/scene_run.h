// A scene of the catalogue as benches run it: built with parameters, stepped with its script, a clock in the world.
#pragma once

#include "catalogue.h"
#include "simulate.h"

typedef struct knSceneRun {
	cliScene scene;
	cliWorld world;
} knSceneRun;

// On one thread steps are timed by the processor's time, which other work on the machine disturbs less.
// `sets` is a list of "name=value", ending with NULL; NULL for none. An exit status, after a complaint unless CLI_DONE.
int knSceneRun_Open(knSceneRun* run, const char* scene, const char* const* sets, const char* stepper,
					double dt, int threads);
void knSceneRun_Close(knSceneRun* run);
// The script and one step. False when it fails, after a complaint.
bool knSceneRun_Step(knSceneRun* run);
