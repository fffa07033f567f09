// Heights of bodies in their piles. Nodes are assemblies: bodies connected by joints count as one.
//
//   published     height = number of steps to the nearest body that does not move, over any contact
//   supports      an edge lower -> upper wherever the normal is steep, |n . up| > STEEP;
//                 height = 1 + the largest height of a node's supports (longest path)
//
// The published height fails where a fixed wall is touched (everything beside it has height 1) and where supports
// are unequal (a plank on one block and on five thin ones). With longest paths walls give no height, and a body
// comes after all that carry it. Where bodies support each other in a ring, the lowest of those that are left goes
// first. Without gravity there is no up, and no layers; a group that stands on nothing has none either.

#include "dynamics/layers.h"

#include "core/sort.h"
#include "core/tasks.h"

#define STEEP 0.5
#define CHUNK_GRAIN 64

// Directed edges between nodes in compressed form.
typedef struct Graph {
	int32_t* first; // [bodyCount + 1]
	int32_t* to;
	int32_t* waiting; // [bodyCount] supports whose height is not known yet
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

// --- breadth first ---------------------------------------------------------------------------------------

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

bool knLayers_BuildBreadthFirst(knLayers* layers, const knLayerInput* input, knArena* arena) {
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

// --- supports --------------------------------------------------------------------------------------------

// From the lower to the upper node of a chunk; lower < 0: none.
typedef struct Support {
	int32_t lower, upper;
} Support;

typedef struct SupportTask {
	const knLayerInput* input;
	knVec3 up;
	Support* supports; // [chunkCount]
} SupportTask;

static Support supportOf(const knLayerInput* input, const knSweepChunk* chunk, knVec3 up) {
	int32_t a = nodeOf(input, chunk->a), b = nodeOf(input, chunk->b);
	if (a < 0 || b < 0 || a == b) {
		return (Support){ -1, -1 };
	}
	double rise = 0.0;
	for (int k = chunk->first; k < chunk->first + chunk->count; ++k) {
		rise += knDot(input->points[k].n, up);
	}
	if (!(knAbs(rise) > STEEP * chunk->count)) {
		return (Support){ -1, -1 };
	}
	return (Support){ rise > 0.0 ? a : b, rise > 0.0 ? b : a };
}

static void supportRange(int begin, int end, int worker, void* argument) {
	(void)worker;
	const SupportTask* task = argument;
	for (int i = begin; i < end; ++i) {
		task->supports[i] = supportOf(task->input, &task->input->chunks[i], task->up);
	}
}

static bool linkSupports(Graph* graph, const knLayerInput* input, knVec3 up, knArena* arena) {
	SupportTask task = { input, up, KN_SCRATCH(arena, Support, input->chunkCount) };
	graph->first = KN_SCRATCH_ZERO(arena, int32_t, input->bodyCount + 2);
	graph->to = KN_SCRATCH(arena, int32_t, input->chunkCount);
	graph->waiting = KN_SCRATCH_ZERO(arena, int32_t, input->bodyCount);
	if (arena->failed) {
		return false;
	}
	knTasks_For(input->tasks, input->chunkCount, CHUNK_GRAIN, supportRange, &task);
	for (int i = 0; i < input->chunkCount; ++i) {
		if (task.supports[i].lower >= 0) {
			graph->first[task.supports[i].lower + 2] += 1;
			graph->waiting[task.supports[i].upper] += 1;
		}
	}
	for (int b = 2; b < input->bodyCount + 2; ++b) {
		graph->first[b] += graph->first[b - 1];
	}
	for (int i = 0; i < input->chunkCount; ++i) {
		if (task.supports[i].lower >= 0) {
			graph->to[graph->first[task.supports[i].lower + 1]++] = task.supports[i].upper;
		}
	}
	return true;
}

// How high a node is, as an unsigned key of the same order.
static uint64_t heightKey(double x) {
	union {
		double number;
		uint64_t bits;
	} value = { .number = x + 0.0 };
	return (value.bits >> 63) != 0 ? ~value.bits : value.bits | (uint64_t)1 << 63;
}

// Nodes in order of their place along `up`, found only when a ring of supports has to be broken.
static knKeyed* sortByPlace(const knLayerInput* input, knVec3 up, knArena* arena) {
	knKeyed* order = KN_SCRATCH(arena, knKeyed, input->bodyCount);
	for (int b = 0; order != NULL && b < input->bodyCount; ++b) {
		order[b] = (knKeyed){ heightKey(knDot(input->poses[b].p, up)), (uint32_t)b };
	}
	return order != NULL && knSort_Keys(order, input->bodyCount, arena) ? order : NULL;
}

bool knLayers_BuildSupports(knLayers* layers, const knLayerInput* input, knArena* arena) {
	double g = knLength(input->gravity);
	if (!reserve(layers, input, arena)) {
		return false;
	}
	if (g == 0.0) {
		for (int b = 0; b < input->bodyCount; ++b) {
			layers->stage[b] = -1;
		}
		layers->first = KN_SCRATCH_ZERO(arena, int32_t, 1);
		return layers->first != NULL;
	}
	knVec3 up = knScale(-1.0 / g, input->gravity);
	Graph graph;
	int32_t* queue = KN_SCRATCH(arena, int32_t, input->bodyCount);
	if (!linkSupports(&graph, input, up, arena)) {
		return false;
	}
	int nodes = 0, head = 0, queued = 0, next = 0;
	for (int b = 0; b < input->bodyCount; ++b) {
		bool isNode = nodeOf(input, b) == b;
		nodes += isNode;
		layers->height[b] = 1;
		if (isNode && graph.waiting[b] == 0) {
			queue[queued++] = b;
		}
	}
	knKeyed* places = NULL;
	while (head < nodes) {
		if (head == queued) {
			// a ring: its lowest body does not wait for the others
			places = places != NULL ? places : sortByPlace(input, up, arena);
			if (places == NULL) {
				return false;
			}
			while (nodeOf(input, (int)places[next].value) != (int)places[next].value ||
				   graph.waiting[places[next].value] <= 0) {
				next += 1;
			}
			graph.waiting[places[next].value] = 0;
			queue[queued++] = (int32_t)places[next].value;
		}
		int32_t node = queue[head++];
		graph.waiting[node] = -1; // done
		for (int k = graph.first[node]; k < graph.first[node + 1]; ++k) {
			int32_t above = graph.to[k];
			if (graph.waiting[above] <= 0) {
				continue;
			}
			int32_t height = layers->height[node] + 1;
			layers->height[above] = height > layers->height[above] ? height : layers->height[above];
			graph.waiting[above] -= 1;
			if (graph.waiting[above] == 0) {
				queue[queued++] = above;
			}
		}
	}
	return finish(layers, input, arena);
}
