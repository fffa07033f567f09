// A tree of axis-aligned boxes, one leaf per item, for compounds and for the broad phase.
//
// Nodes stand in depth-first order and a subtree of m leaves fills exactly 2m - 1 of them, so that `skip`,
// the node after a subtree, makes every walk a plain loop: no stack, no recursion, whatever the depth.
//
//   walk       node overlaps ? next node : skip
//   children   left = node + 1, right = skip of the left
//
// Building splits by the surface area heuristic over a few bins along the longest axis of the centres, and in
// halves where centres coincide or the tree grows deep, so that its depth is bounded. Moving an item changes
// its leaf and the boxes above it, not the shape of the tree; when `area` has grown, a rebuild pays.
#pragma once

#include "core/alloc.h"
#include "knuckle/vecmath.h"

typedef struct knBvhNode {
	knAabb box; // of all leaves below; lower > upper: empty
	int skip;   // node after this subtree
	int item;   // -1: inner node
} knBvhNode;

typedef struct knBvh {
	int itemCount;
	int nodeCount; // 2 itemCount - 1, or 0
	knBvhNode* nodes;
	int* parents;     // of each node; -1: root
	int* leaves;      // node of each item
	int* order;       // scratch of knBvh_Build
	double area;      // half surface of all inner nodes, written by build and refits
	double builtArea; // the same right after the last build
} knBvh;

// Room for `itemCount` items; false when out of memory (nothing is kept then).
bool knBvh_Create(knBvh* tree, int itemCount, const knAllocator* allocator);
void knBvh_Destroy(knBvh* tree, const knAllocator* allocator);

// Builds over boxes[item] placed at centers[item]; the boxes may be empty. No allocation.
void knBvh_Build(knBvh* tree, const knAabb* boxes, const knVec3* centers);

// Gives an item another box and mends the boxes above it.
void knBvh_SetBox(knBvh* tree, int item, knAabb box);
// The same in two parts for many items at once: set leaves only, then mend all inner boxes.
void knBvh_SetLeaf(knBvh* tree, int item, knAabb box);
void knBvh_RefitAll(knBvh* tree);

knAabb knAabb_Empty(void);
static inline knVec3 knAabb_Center(knAabb box) {
	return knAdd(knScale(0.5, box.lower), knScale(0.5, box.upper));
}

// The next item whose leaf overlaps `box`, or -1 at the end. `cursor` starts at 0.
static inline int knBvh_Next(const knBvh* tree, const knAabb* box, int* cursor) {
	int node = *cursor;
	while (node < tree->nodeCount) {
		const knBvhNode* n = &tree->nodes[node];
		if (!knAabb_Overlap(n->box, *box)) {
			node = n->skip;
			continue;
		}
		node += 1;
		if (n->item >= 0) {
			*cursor = node;
			return n->item;
		}
	}
	*cursor = node;
	return -1;
}

// The next item whose leaf reaches below the plane normal.x = offset, or -1 at the end.
int knBvh_NextBelow(const knBvh* tree, knVec3 normal, double offset, int* cursor);
