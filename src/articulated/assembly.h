// The assembly tree of an articulated tree: how divide and conquer puts it together.
//
// A node is a connected set of links. Leaves are the single links and the base; every other node joins a left part
// (inboard) and a right part (outboard) by one joint of the tree. Links on which joints outside the node act are its
// handles: at most three (split a node with three of them on a way between two, and both parts have three at most).
//
//            [ all ]  joint 2                     0--0--1--1--2--2--3--3 ...      base, joints, links
//           /       \                             the node of joint 2 joins {base, 0, 1} and {2, 3}
//     joint 0      joint 3
//     /    \        /   \                         chains: depth ceil(log2 (n + 1)), two handles a node
//  base  joint 1   2     3
//         /  \                                    numbers:  joint i (its outboard link is i) -> node i
//        0    1                                             link i -> count + i,  base -> 2 count
//
// A joint of six freedoms (a floating base) joins nothing, so it is at the top. A link with many children gives a node
// of many joins one after the other: the depth is at least its number of children.
#pragma once

#include "articulated/tree.h"

#define KN_ASSEMBLY_HANDLES 3

typedef struct knAssemblyNode {
	int left, right;                 // nodes; -1: a leaf
	int parent;                      // node; -1: the root
	int top;                         // the link whose frame is the node's; -1: the base is inside
	int links;                       // inside, without the base
	int joints;                      // inside
	int handleCount;                 // of
	int handle[KN_ASSEMBLY_HANDLES]; // links, ascending; -1: the base
	bool follows; // a joint that is released together with its parent's (knAssemblyOptions)
} knAssemblyNode;

typedef struct knAssemblyOptions {
	// Two hinges one after the other whose axes differ by more than 45 degrees, and nothing else between them, act as
	// one universal joint: the second is split off right after the first.
	bool pairs;
} knAssemblyOptions;

typedef struct knAssembly {
	knAllocator allocator;
	const knTree* tree;
	int count;             // links, and joints
	int nodeCount;         // 2 count + 1
	int root;              // node
	int depth;             // joints on the longest way from the root to a leaf
	knAssemblyNode* nodes; // [nodeCount]
	int* order;            // [count] joints, parts before what they make; a node's are contiguous
	int* first;            // [count] where in `order` the node's joints begin; they end with itself
} knAssembly;

knAssembly* knAssembly_Create(const knTree* tree, const knAssemblyOptions* options,
							  const knAllocator* allocator, knError* error);
void knAssembly_Destroy(knAssembly* assembly);

static inline int knAssembly_LinkNode(const knAssembly* assembly, int link) {
	return link >= 0 ? assembly->count + link : 2 * assembly->count;
}

static inline bool knAssembly_IsJoint(const knAssembly* assembly, int node) {
	return node < assembly->count;
}
