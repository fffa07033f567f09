// Elimination by least degree on the explicit graph: the block with the fewest neighbours goes next (ties: the
// smallest index), and its neighbours become neighbours of each other. A leaf of a tree has one neighbour, so
// trees are eliminated from their leaves and never fill. Late blocks wait until a neighbour has gone. The last ones
// do not count as neighbours, so that what is left without them is eliminated as if they were not there.
#include "core/sparse_order.h"

#include <string.h>

#include "core/array.h"

typedef KN_ARRAY(int) IntList;

typedef struct Candidate {
	int degree, block;
} Candidate;

typedef struct Graph {
	const knSparseDef* def;
	const knAllocator* allocator;
	IntList* neighbours; // [count], ascending
	unsigned char* gone;
	int* queued; // [count] degree of the block's entry in the queue that is not outdated, -1: none
	KN_ARRAY(Candidate) heap;
	IntList merged;
	int originalEdges;
} Graph;

// --- sorted lists ----------------------------------------------------------------------------------------

static int lowerBound(const IntList* list, int value) {
	int lower = 0, upper = list->count;
	while (lower < upper) {
		int middle = lower + (upper - lower) / 2;
		if (list->items[middle] < value) {
			lower = middle + 1;
		} else {
			upper = middle;
		}
	}
	return lower;
}

// Adds a value once; *added tells. False when out of memory.
static bool insertOnce(const knAllocator* allocator, IntList* list, int value, bool* added) {
	int at = lowerBound(list, value);
	*added = at == list->count || list->items[at] != value;
	if (!*added) {
		return true;
	}
	if (!KN_ARRAY_RESERVE(allocator, list, list->count + 1)) {
		return false;
	}
	memmove(list->items + at + 1, list->items + at, sizeof(int) * (size_t)(list->count - at));
	list->items[at] = value;
	list->count += 1;
	return true;
}

// --- the queue: a heap that may hold outdated entries ------------------------------------------------------

static bool comesFirst(Candidate a, Candidate b) {
	return a.degree != b.degree ? a.degree < b.degree : a.block < b.block;
}

static bool isLast(const Graph* graph, int block) {
	return graph->def->late != NULL && graph->def->late[block] == KN_SPARSE_LAST;
}

static int degreeOf(const Graph* graph, int block) {
	const IntList* around = &graph->neighbours[block];
	if (graph->def->late == NULL) {
		return around->count;
	}
	int degree = 0;
	for (int k = 0; k < around->count; ++k) {
		degree += isLast(graph, around->items[k]) ? 0 : 1;
	}
	return degree;
}

static bool enqueue(Graph* graph, int block) {
	Candidate candidate = { degreeOf(graph, block), block };
	if (graph->queued[block] == candidate.degree) {
		return true;
	}
	graph->queued[block] = candidate.degree;
	if (!KN_ARRAY_PUSH(graph->allocator, &graph->heap, candidate)) {
		return false;
	}
	Candidate* heap = graph->heap.items;
	for (int i = graph->heap.count - 1; i > 0 && comesFirst(heap[i], heap[(i - 1) / 2]); i = (i - 1) / 2) {
		Candidate held = heap[i];
		heap[i] = heap[(i - 1) / 2];
		heap[(i - 1) / 2] = held;
	}
	return true;
}

static Candidate dequeue(Graph* graph) {
	Candidate* heap = graph->heap.items;
	Candidate top = heap[0];
	int count = --graph->heap.count;
	heap[0] = heap[count];
	for (int i = 0;;) {
		int child = 2 * i + 1;
		if (child >= count) {
			return top;
		}
		child += child + 1 < count && comesFirst(heap[child + 1], heap[child]) ? 1 : 0;
		if (!comesFirst(heap[child], heap[i])) {
			return top;
		}
		Candidate held = heap[i];
		heap[i] = heap[child];
		heap[child] = held;
		i = child;
	}
}

// The next block to go. Late blocks that never get ready (no neighbour at all) and the last ones end the order, by
// index.
static int nextBlock(Graph* graph) {
	while (graph->heap.count > 0) {
		Candidate top = dequeue(graph);
		if (graph->queued[top.block] == top.degree) {
			graph->queued[top.block] = -1;
		}
		if (!graph->gone[top.block] && top.degree == degreeOf(graph, top.block)) {
			return top.block;
		}
	}
	for (int i = 0;; ++i) {
		if (!graph->gone[i]) {
			return i;
		}
	}
}

// --- elimination -----------------------------------------------------------------------------------------

static bool buildGraph(Graph* graph) {
	const knSparseDef* def = graph->def;
	for (int k = 0; k < def->entryCount; ++k) {
		int a = def->entries[k].row, b = def->entries[k].column;
		if (a < 0 || b < 0 || a >= def->blockCount || b >= def->blockCount) {
			return false;
		}
		bool added = false, back = false;
		if (a != b && (!insertOnce(graph->allocator, &graph->neighbours[a], b, &added) ||
					   !insertOnce(graph->allocator, &graph->neighbours[b], a, &back))) {
			return false;
		}
		graph->originalEdges += added ? 1 : 0;
	}
	for (int i = 0; i < def->blockCount; ++i) {
		if ((def->late == NULL || def->late[i] == 0) && !enqueue(graph, i)) {
			return false;
		}
	}
	return true;
}

// The neighbour's list becomes its union with the eliminated block's, without the two themselves.
static bool mergeInto(Graph* graph, int neighbour, int block) {
	IntList* mine = &graph->neighbours[neighbour];
	const IntList* theirs = &graph->neighbours[block];
	IntList* merged = &graph->merged;
	if (!KN_ARRAY_RESERVE(graph->allocator, merged, mine->count + theirs->count)) {
		return false;
	}
	merged->count = 0;
	for (int i = 0, j = 0; i < mine->count || j < theirs->count;) {
		int next;
		if (j == theirs->count || (i < mine->count && mine->items[i] < theirs->items[j])) {
			next = mine->items[i++];
		} else {
			next = theirs->items[j++];
			i += i < mine->count && mine->items[i] == next ? 1 : 0;
		}
		if (next != block && next != neighbour) {
			merged->items[merged->count++] = next;
		}
	}
	IntList held = *mine;
	*mine = *merged;
	*merged = held;
	return true;
}

static bool eliminate(Graph* graph, int block) {
	graph->gone[block] = 1;
	const IntList* around = &graph->neighbours[block];
	for (int k = 0; k < around->count; ++k) {
		int neighbour = around->items[k];
		if (!mergeInto(graph, neighbour, block)) {
			return false;
		}
		if (!isLast(graph, neighbour) && !enqueue(graph, neighbour)) {
			return false;
		}
	}
	return true;
}

static bool readRows(knSparseOrder* order, const Graph* graph, const knAllocator* allocator) {
	int total = 0;
	for (int i = 0; i < order->count; ++i) {
		total += graph->neighbours[i].count;
	}
	order->rows = knAllocArray(allocator, (size_t)total, sizeof(int));
	if (order->rows == NULL && total > 0) {
		return false;
	}
	order->allocated = order->rowCount = total;
	order->fill = total - graph->originalEdges;
	int at = 0;
	for (int s = 0; s < order->count; ++s) {
		const IntList* below = &graph->neighbours[order->order[s]];
		order->first[s] = at;
		for (int k = 0; k < below->count; ++k) {
			int row = order->step[below->items[k]], place = at++;
			for (; place > order->first[s] && order->rows[place - 1] > row; --place) {
				order->rows[place] = order->rows[place - 1];
			}
			order->rows[place] = row;
		}
	}
	order->first[order->count] = at;
	return true;
}

static bool takeMemory(knSparseOrder* order, Graph* graph, int count, const knAllocator* allocator) {
	size_t n = (size_t)count;
	order->order = knAllocArray(allocator, n, sizeof(int));
	order->step = knAllocArray(allocator, n, sizeof(int));
	order->first = knAllocArray(allocator, n + 1, sizeof(int));
	graph->neighbours = knAllocZero(allocator, n * sizeof(IntList));
	graph->gone = knAllocZero(allocator, n);
	graph->queued = knAllocArray(allocator, n, sizeof(int));
	for (int i = 0; graph->queued != NULL && i < count; ++i) {
		graph->queued[i] = -1;
	}
	return order->first != NULL &&
		   (count == 0 || (order->order != NULL && order->step != NULL && graph->neighbours != NULL &&
						   graph->gone != NULL && graph->queued != NULL));
}

static void freeGraph(Graph* graph, int count) {
	for (int i = 0; graph->neighbours != NULL && i < count; ++i) {
		KN_ARRAY_FREE(graph->allocator, &graph->neighbours[i]);
	}
	knFree(graph->allocator, graph->neighbours, (size_t)count * sizeof(IntList));
	knFree(graph->allocator, graph->gone, (size_t)count);
	knFree(graph->allocator, graph->queued, (size_t)count * sizeof(int));
	KN_ARRAY_FREE(graph->allocator, &graph->heap);
	KN_ARRAY_FREE(graph->allocator, &graph->merged);
}

bool knSparseOrder_Create(knSparseOrder* order, const knSparseDef* def, const knAllocator* allocator) {
	*order = (knSparseOrder){ .count = def->blockCount };
	Graph graph = { .def = def, .allocator = allocator };
	bool done = takeMemory(order, &graph, def->blockCount, allocator) && buildGraph(&graph);
	for (int s = 0; s < def->blockCount && done; ++s) {
		int block = nextBlock(&graph);
		order->order[s] = block;
		order->step[block] = s;
		done = eliminate(&graph, block);
	}
	done = done && readRows(order, &graph, allocator);
	freeGraph(&graph, def->blockCount);
	if (!done) {
		knSparseOrder_Destroy(order, allocator);
	}
	return done;
}

void knSparseOrder_Destroy(knSparseOrder* order, const knAllocator* allocator) {
	size_t n = (size_t)order->count;
	knFree(allocator, order->order, n * sizeof(int));
	knFree(allocator, order->step, n * sizeof(int));
	knFree(allocator, order->first, (n + 1) * sizeof(int));
	knFree(allocator, order->rows, (size_t)order->allocated * sizeof(int));
	*order = (knSparseOrder){ 0 };
}
