// Heights of bodies in their piles as published: the number of steps to the nearest body that does not move, over any contact.
// Nodes are assemblies: bodies connected by joints count as one. It fails where a fixed wall is touched (everything
// beside it has height 1) and where supports are unequal (a plank on one block and on five thin ones).

#include "steppers/velocity/paper/layers.h"

// Directed edges between nodes in compressed form.
typedef struct Graph {
	int32_t* first; // [bodyCount + 1]
	int32_t* to;
} Graph;

static bool reserve(knLayers* layers, const knLayerInput* input, knArena* arena) {
	*layers = (knLayers){ .height = KN_SCRATCH_ZERO(arena, int32_t, input->bodyCount),
						  .stage = KN_SCRATCH(arena, int32_t, input->bodyCount),
						  .bodies = KN_SCRATCH(arena, int32_t, input->bodyCount),
						  .ofGroup = KN_SCRATCH_ZERO(arena, int32_t, input->bodyCount) };
	return !arena->failed;
}

static int32_t nodeOf(const knLayerInput* input, int body) {
	return input->islands->assembly[body];
}

static bool stands(const knLayerInput* input, int body) {
	int32_t group = input->islands->group[body];
	return group >= 0 && input->islands->anchored[group];
}

int knLayers_Between(const knLayers* layers, int a, int b) {
	int32_t p = layers->height[a], q = layers->height[b];
	return (p > q ? p : q) - 1;
}

// Where joints hold a group together and nothing stands on anything, a layer would be the whole group once more, only
// solved less well than all joints at once.
static bool isLayered(const knLayers* layers, const knLayerInput* input, int body) {
	int32_t group = input->islands->group[body];
	return stands(input, body) && (layers->ofGroup[group] > 1 || !input->islands->jointed[group]);
}

// Everything that follows from the heights of the nodes, which the nodes' roots hold.
static bool finish(knLayers* layers, const knLayerInput* input, knArena* arena) {
	for (int b = 0; b < input->bodyCount; ++b) {
		if (stands(input, b)) {
			int32_t* most = &layers->ofGroup[input->islands->group[b]];
			int32_t height = layers->height[nodeOf(input, b)];
			*most = height > *most ? height : *most;
		}
	}
	for (int b = 0; b < input->bodyCount; ++b) {
		layers->height[b] = isLayered(layers, input, b) ? layers->height[nodeOf(input, b)] : 0;
		layers->stage[b] = layers->height[b] - 1;
		layers->count = layers->height[b] > layers->count ? layers->height[b] : layers->count;
	}
	layers->first = KN_SCRATCH_ZERO(arena, int32_t, layers->count + 2);
	if (layers->first == NULL) {
		return false;
	}
	for (int b = 0; b < input->bodyCount; ++b) {
		layers->first[layers->stage[b] + 2] += layers->stage[b] >= 0;
	}
	for (int l = 1; l < layers->count + 2; ++l) {
		layers->first[l] += layers->first[l - 1];
	}
	// first[l + 1] runs from the begin to the end of layer l
	for (int b = 0; b < input->bodyCount; ++b) {
		if (layers->stage[b] >= 0) {
			layers->bodies[layers->first[layers->stage[b] + 1]++] = b;
		}
	}
	return true;
}

// Both directions of every contact between two nodes.
static bool linkAll(Graph* graph, const knLayerInput* input, knArena* arena) {
	graph->first = KN_SCRATCH_ZERO(arena, int32_t, input->bodyCount + 2);
	graph->to = KN_SCRATCH(arena, int32_t, 2 * input->chunkCount);
	if (arena->failed) {
		return false;
	}
	for (int pass = 0; pass < 2; ++pass) {
		for (int i = 0; i < input->chunkCount; ++i) {
			int32_t a = nodeOf(input, input->chunks[i].a), b = nodeOf(input, input->chunks[i].b);
			if (a < 0 || b < 0 || a == b) {
				continue;
			}
			if (pass == 0) {
				graph->first[a + 2] += 1;
				graph->first[b + 2] += 1;
			} else {
				graph->to[graph->first[a + 1]++] = b;
				graph->to[graph->first[b + 1]++] = a;
			}
		}
		for (int b = 2; b < input->bodyCount + 2 && pass == 0; ++b) {
			graph->first[b] += graph->first[b - 1];
		}
	}
	return true;
}

bool knLayers_Build(knLayers* layers, const knLayerInput* input, knArena* arena) {
	Graph graph;
	int32_t* queue = KN_SCRATCH(arena, int32_t, input->bodyCount);
	if (!reserve(layers, input, arena) || !linkAll(&graph, input, arena)) {
		return false;
	}
	int head = 0, queued = 0;
	for (int i = 0; i < input->chunkCount; ++i) {
		int32_t a = nodeOf(input, input->chunks[i].a), b = nodeOf(input, input->chunks[i].b);
		int32_t node = a < 0 ? b : a;
		if ((a < 0 || b < 0) && node >= 0 && layers->height[node] == 0) {
			layers->height[node] = 1;
			queue[queued++] = node;
		}
	}
	while (head < queued) {
		int32_t node = queue[head++];
		for (int k = graph.first[node]; k < graph.first[node + 1]; ++k) {
			if (layers->height[graph.to[k]] == 0) {
				layers->height[graph.to[k]] = layers->height[node] + 1;
				queue[queued++] = graph.to[k];
			}
		}
	}
	// held by joints alone: as high as what stands on the ground
	for (int b = 0; b < input->bodyCount; ++b) {
		layers->height[b] = layers->height[b] == 0 ? 1 : layers->height[b];
	}
	return finish(layers, input, arena);
}
