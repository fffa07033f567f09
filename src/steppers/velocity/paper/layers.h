// Stack layers: the order in which shock propagation goes through a pile, from the ground up. A body of height
// p is free in layer p - 1 and in no other; bodies that joints connect share one height.
#pragma once

#include "dynamics/islands.h"

typedef struct knLayers {
	int count;        // layers
	int32_t* height;  // [bodyCount] 0: does not move, or its group stands on nothing
	int32_t* stage;   // [bodyCount] the layer in which a body is free, height - 1; -1: none
	int32_t* first;   // [count + 1] into `bodies`
	int32_t* bodies;  // those of each layer, in order
	int32_t* ofGroup; // [bodyCount], by group: its number of layers
} knLayers;

typedef struct knLayerInput {
	int bodyCount;
	const double* invMass;
	const knSweepChunk* chunks;
	int chunkCount;
	const knIslands* islands;
} knLayerInput;

// Breadth-first from all bodies that do not move, over all contacts (Erleben 2007, section 4). False: no memory.
bool knLayers_Build(knLayers* layers, const knLayerInput* input, knArena* arena);
// The layer to which a contact between two bodies belongs; -1: none.
int knLayers_Between(const knLayers* layers, int a, int b);
