// The contact graph: who rests on whom (Guendelman et al. 2003, section 8.1).
//
// An edge says that one body supports another. Bodies that support each other in a circle are one component; the
// level of a component is the length of the longest chain of supports below it, so that a sweep over rising levels
// meets every body after all that carry it.
#pragma once

#include "core/arena.h"

typedef struct knSupport {
	int lower, upper; // bodies: lower supports upper
} knSupport;

typedef struct knContactGraph {
	int bodyCount;
	int* component; // [bodyCount] bodies in a circle of supports share one
	int componentCount;
	int* level; // [bodyCount] 0: nothing supports it
	int levelCount;
	bool* grounded; // [bodyCount] some chain of supports begins at an anchored body
} knContactGraph;

// `anchored` [bodyCount]: bodies that nothing moves; edges towards them are ignored. Linear in bodies and edges.
// False when the arena has no memory.
bool knContactGraph_Build(knContactGraph* graph, int bodyCount, const bool* anchored, const knSupport* edges,
						  int edgeCount, knArena* arena);
