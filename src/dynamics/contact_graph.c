// Strongly connected components by Tarjan's algorithm with an explicit stack (a pile may be thousands of bodies
// high), then longest chains over the condensed graph. Tarjan finishes a component after all that it leads to, so
// components in falling order of their number are in topological order.

#include "dynamics/contact_graph.h"

#define UNVISITED (-1)

typedef struct Search {
	const int* first; // [bodyCount + 1] into `to`
	const int* to;
	int* order;   // when a body was first met
	int* low;     // the earliest body on the stack that it leads back to
	int* next;    // its next edge to follow
	int* path;    // bodies being followed
	int* pending; // bodies met whose component is not complete
	int pathCount, pendingCount, met;
	knContactGraph* graph;
} Search;

// Edges as lists per lower body, in the order given.
static bool listEdges(Search* search, int bodyCount, const bool* anchored, const knSupport* edges,
					  int edgeCount, knArena* arena) {
	int* first = KN_SCRATCH_ZERO(arena, int, bodyCount + 1);
	int* fill = KN_SCRATCH(arena, int, bodyCount);
	int* to = KN_SCRATCH(arena, int, edgeCount);
	if (arena->failed) {
		return false;
	}
	for (int i = 0; i < edgeCount; ++i) {
		first[edges[i].lower + 1] += !anchored[edges[i].upper];
	}
	for (int b = 0; b < bodyCount; ++b) {
		first[b + 1] += first[b];
		fill[b] = first[b];
	}
	for (int i = 0; i < edgeCount; ++i) {
		if (!anchored[edges[i].upper]) {
			to[fill[edges[i].lower]++] = edges[i].upper;
		}
	}
	search->first = first;
	search->to = to;
	return true;
}

static void enter(Search* search, int body) {
	search->order[body] = search->low[body] = search->met++;
	search->next[body] = search->first[body];
	search->path[search->pathCount++] = body;
	search->pending[search->pendingCount++] = body;
}

// All edges of `body` are followed: closes its component if nothing leads further back.
static void leave(Search* search, int body) {
	knContactGraph* graph = search->graph;
	--search->pathCount;
	if (search->pathCount > 0) {
		int from = search->path[search->pathCount - 1];
		search->low[from] = search->low[body] < search->low[from] ? search->low[body] : search->low[from];
	}
	if (search->low[body] != search->order[body]) {
		return;
	}
	for (int member = -1; member != body;) {
		member = search->pending[--search->pendingCount];
		graph->component[member] = graph->componentCount;
	}
	++graph->componentCount;
}

static void follow(Search* search, int start) {
	enter(search, start);
	while (search->pathCount > 0) {
		int body = search->path[search->pathCount - 1];
		if (search->next[body] == search->first[body + 1]) {
			leave(search, body);
			continue;
		}
		int upper = search->to[search->next[body]++];
		if (search->order[upper] == UNVISITED) {
			enter(search, upper);
		} else if (search->graph->component[upper] == UNVISITED && search->order[upper] < search->low[body]) {
			search->low[body] = search->order[upper];
		}
	}
}

// Bodies in order of falling component: lower ones come first.
static int* sortBodies(const knContactGraph* graph, knArena* arena) {
	int* count = KN_SCRATCH_ZERO(arena, int, graph->componentCount + 1);
	int* sorted = KN_SCRATCH(arena, int, graph->bodyCount);
	if (arena->failed) {
		return NULL;
	}
	int last = graph->componentCount - 1;
	for (int b = 0; b < graph->bodyCount; ++b) {
		count[last - graph->component[b] + 1] += 1;
	}
	for (int c = 0; c < graph->componentCount; ++c) {
		count[c + 1] += count[c];
	}
	for (int b = 0; b < graph->bodyCount; ++b) {
		sorted[count[last - graph->component[b]]++] = b;
	}
	return sorted;
}

// Longest chains. A component's level is complete when its first body's turn comes, because all supports from
// other components were followed before.
static bool setLevels(knContactGraph* graph, const Search* search, const bool* anchored, knArena* arena) {
	const int* sorted = sortBodies(graph, arena);
	int* level = KN_SCRATCH_ZERO(arena, int, graph->componentCount);
	bool* grounded = KN_SCRATCH_ZERO(arena, bool, graph->componentCount);
	if (arena->failed) {
		return false;
	}
	for (int b = 0; b < graph->bodyCount; ++b) {
		grounded[graph->component[b]] = grounded[graph->component[b]] || anchored[b];
	}
	graph->levelCount = graph->bodyCount > 0 ? 1 : 0;
	for (int i = 0; i < graph->bodyCount; ++i) {
		int body = sorted[i], own = graph->component[body];
		for (int k = search->first[body]; k < search->first[body + 1]; ++k) {
			int upper = graph->component[search->to[k]];
			if (upper != own) {
				level[upper] = level[own] + 1 > level[upper] ? level[own] + 1 : level[upper];
				grounded[upper] = grounded[upper] || grounded[own];
			}
		}
		graph->levelCount = level[own] + 1 > graph->levelCount ? level[own] + 1 : graph->levelCount;
	}
	for (int b = 0; b < graph->bodyCount; ++b) {
		graph->level[b] = level[graph->component[b]];
		graph->grounded[b] = grounded[graph->component[b]];
	}
	return true;
}

bool knContactGraph_Build(knContactGraph* graph, int bodyCount, const bool* anchored, const knSupport* edges,
						  int edgeCount, knArena* arena) {
	*graph = (knContactGraph){ .bodyCount = bodyCount,
							   .component = KN_SCRATCH(arena, int, bodyCount),
							   .level = KN_SCRATCH(arena, int, bodyCount),
							   .grounded = KN_SCRATCH(arena, bool, bodyCount) };
	Search search = { .graph = graph,
					  .order = KN_SCRATCH(arena, int, bodyCount),
					  .low = KN_SCRATCH(arena, int, bodyCount),
					  .next = KN_SCRATCH(arena, int, bodyCount),
					  .path = KN_SCRATCH(arena, int, bodyCount),
					  .pending = KN_SCRATCH(arena, int, bodyCount) };
	if (arena->failed || !listEdges(&search, bodyCount, anchored, edges, edgeCount, arena)) {
		return false;
	}
	for (int b = 0; b < bodyCount; ++b) {
		graph->component[b] = search.order[b] = UNVISITED;
	}
	for (int b = 0; b < bodyCount; ++b) {
		if (search.order[b] == UNVISITED) {
			follow(&search, b);
		}
	}
	return setLevels(graph, &search, anchored, arena);
}
