// A priority queue of nodes of an assembly tree: the largest key first, of equal ones the smaller number, so that the
// order is always the same.
#pragma once

#include <stdbool.h>

typedef struct knPartQueue {
	const double* key; // [nodes]
	int* heap;         // room for all that may be in it
	int count;
} knPartQueue;

static inline bool knPartQueue_Before(const knPartQueue* queue, int a, int b) {
	double x = queue->key[a], y = queue->key[b];
	return x > y || (x == y && a < b);
}

static inline void knPartQueue_Push(knPartQueue* queue, int node) {
	int* heap = queue->heap;
	int at = queue->count++;
	while (at > 0 && knPartQueue_Before(queue, node, heap[(at - 1) / 2])) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = node;
}

static inline int knPartQueue_Pop(knPartQueue* queue) {
	int* heap = queue->heap;
	int top = heap[0], last = heap[--queue->count], at = 0;
	for (int child; (child = 2 * at + 1) < queue->count; at = child) {
		if (child + 1 < queue->count && knPartQueue_Before(queue, heap[child + 1], heap[child])) {
			++child;
		}
		if (!knPartQueue_Before(queue, heap[child], last)) {
			break;
		}
		heap[at] = heap[child];
	}
	heap[at] = last;
	return top;
}
