// Which shapes of segments may touch, by balls around the parts of the assembly tree (weld_search.c).
#pragma once

#include "collide/listed.h"
#include "dynamics/search_margins.h"
#include "steppers/adaptive/adaptive_step.h"

typedef struct knWeldSearch {
	int pairCount;
	knPairKey* pairs; // of shapes, sorted
	int linkCount;
	int* links; // bodies of these pairs that are links, ascending
} knWeldSearch;

// For motions by velocities u of the welded bodies during h, seen by an observer who moves by `drift` meanwhile. The
// collider knows where the other bodies are. False: no memory.
bool knWeldSearch_Run(knWeldSearch* search, const knAdaptiveStep* step, const knState* welded,
					  const knTwist* u, double h, knVec3 drift);
