// Groups: bodies that touch or are joined, directly or through others. Bodies that do not move connect nothing.
#pragma once

#include "core/arena.h"
#include "solve/sweep.h"

// An edge between two blocks, of a joint.
typedef struct knJointEdge {
	int32_t a, b;
} knJointEdge;

typedef struct knIslands {
	int32_t* group;    // [bodyCount] the group's lowest body; -1 for bodies that do not move
	int32_t* assembly; // [bodyCount] the lowest of the bodies that joints alone connect; -1 as above
	uint8_t* anchored; // [bodyCount], by group: it touches or is joined to a body that does not move
	uint8_t* jointed;  // [bodyCount], by group: it has joints
	uint8_t* hung;     // [bodyCount], by assembly: a joint holds it to a body that does not move
	uint8_t* linked;   // [bodyCount], by group: it has joints or contacts
} knIslands;

// invMass [bodyCount]: 0 for bodies that do not move. False: no memory.
bool knIslands_Build(knIslands* islands, int bodyCount, const double* invMass, const knSweepChunk* chunks,
					 int chunkCount, const knJointEdge* joints, int jointCount, knArena* arena);

// Things sorted by group: those of a group are neighbours and keep their order; groups come in the order of their first.
typedef struct knGroupOrder {
	int count;  // groups
	int* first; // [count + 1] into items
	int* items; // [number of things]
} knGroupOrder;

// groupOf [count]: the group of each thing, a body's index below bodyCount. False: no memory.
bool knGroupOrder_Build(knGroupOrder* order, const int32_t* groupOf, int count, int bodyCount,
						knArena* arena);
