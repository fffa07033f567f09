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
	uint8_t* linked;   // [bodyCount], by group: it has joints or contacts
} knIslands;

// invMass [bodyCount]: 0 for bodies that do not move. False: no memory.
bool knIslands_Build(knIslands* islands, int bodyCount, const double* invMass, const knSweepChunk* chunks,
					 int chunkCount, const knJointEdge* joints, int jointCount, knArena* arena);
