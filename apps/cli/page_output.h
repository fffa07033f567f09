// The replay page of a run: libknuckle_io's page with the run's measures as curves. In a build without that library,
// opening one is refused.
#pragma once

#include "run_measures.h"
#include "scene_request.h"

// Frames a second of what is made to be watched (.html, .glb), unless --fps says otherwise.
#define CLI_WATCHED_FPS 60.0

enum { CLI_PLOT_STATE = 1, CLI_PLOT_PENETRATION = 2 };

typedef struct cliPage cliPage;

cliPage* cliPage_Open(const char* path, const cliScene* scene, knWorld* world, knError* error);
knStatus cliPage_Write(cliPage* page, knWorld* world, knError* error);
// Adds what was measured just now, CLI_PLOT_*, to the curves.
knStatus cliPage_Plot(cliPage* page, knWorld* world, const cliMeasures* measures, unsigned what,
					  knError* error);
// Writes the file; `measures` fill the page's panel. Always releases.
knStatus cliPage_Close(cliPage* page, const cliScene* scene, knWorld* world, const cliMeasures* measures,
					   knError* error);
void cliPage_Abandon(cliPage* page);
