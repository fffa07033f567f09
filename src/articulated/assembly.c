// Building assembly trees: clusters of links are split from the whole down to single links.
//
// A cluster is a range of a list of links, parents before children, so one pass from its end counts for every link what
// hangs on it inside the cluster. Cutting joint c leaves (inboard) the rest and (outboard) what hangs on c. Of all
// joints inside, the one is cut that leaves no part with more than three handles and the larger part as small as can be.
// `outside` counts the joints of a link that have been cut: it is a handle if there are any.
//
// Links are shifted by one in this file, the base is 0. Lists are split stably, so every cluster stays in order. Time is
// the sum of the clusters' sizes: n times the depth.
#include "articulated/assembly.h"

typedef struct Cluster {
	int begin, end; // of the list
	int parent;     // node
	bool right;     // which part of it
} Cluster;

typedef struct Build {
	knAssembly* assembly;
	bool pairs;
	int n;               // links with the base
	int *list, *spare;   // [n] links of clusters; room to split them
	int* inside;         // [n] the cluster's mark where the link is inside
	int *size, *handles; // [n] in the cluster: links, and handles, that hang on the link, itself too
	int* outside;        // [n] joints that have been cut
	int* children;       // [n]
	bool* second;        // [n] the joint is the second of a pair
	Cluster* stack;      // [n + 1]
	int stackCount, mark;
} Build;

static int parentOf(const Build* build, int link) {
	return build->assembly->tree->nodes[link - 1].parent + 1;
}

// --- choice of the joint -----------------------------------------------------------------------------------

static void countParts(Build* build, const Cluster* cluster) {
	++build->mark;
	for (int k = cluster->begin; k < cluster->end; ++k) {
		int link = build->list[k];
		build->inside[link] = build->mark;
		build->size[link] = 1;
		build->handles[link] = build->outside[link] > 0;
	}
	for (int k = cluster->end - 1; k > cluster->begin; --k) {
		int link = build->list[k], parent = parentOf(build, link);
		build->size[parent] += build->size[link];
		build->handles[parent] += build->handles[link];
	}
}

static int max(int a, int b) {
	return a > b ? a : b;
}

static int chooseJoint(const Build* build, const Cluster* cluster) {
	const knTreeNode* nodes = build->assembly->tree->nodes;
	int top = build->list[cluster->begin], total = cluster->end - cluster->begin;
	int best = -1, bestExcess = 0, bestSize = 0;
	for (int k = cluster->begin + 1; k < cluster->end; ++k) {
		int link = build->list[k], parent = parentOf(build, link);
		// the second hinge of a pair goes right after the first, and never before it
		if (build->second[link] && parent == top) {
			return link;
		}
		if (build->second[link]) {
			continue;
		}
		int outer = build->handles[link] + (build->outside[link] == 0);
		int inner = build->handles[top] - build->handles[link] + (build->outside[parent] == 0);
		int excess = max(max(outer, inner) - KN_ASSEMBLY_HANDLES, 0);
		int size = max(build->size[link], total - build->size[link]);
		if (nodes[link - 1].nv == 6 && excess == 0) {
			return link;
		}
		if (best < 0 || excess < bestExcess || (excess == bestExcess && size < bestSize)) {
			best = link;
			bestExcess = excess;
			bestSize = size;
		}
	}
	KN_ASSERT(best > 0 && bestExcess == 0);
	return best;
}

// --- nodes -------------------------------------------------------------------------------------------------

// Handles of a cluster in the order of the list, which is ascending.
static void writeNode(Build* build, const Cluster* cluster, int id) {
	knAssemblyNode* node = &build->assembly->nodes[id];
	*node = (knAssemblyNode){ .left = -1,
							  .right = -1,
							  .parent = cluster->parent,
							  .top = build->list[cluster->begin] - 1,
							  .links = cluster->end - cluster->begin,
							  .joints = cluster->end - cluster->begin - 1 };
	node->links -= node->top < 0;
	for (int k = cluster->begin; k < cluster->end; ++k) {
		if (build->outside[build->list[k]] > 0) {
			KN_ASSERT(node->handleCount < KN_ASSEMBLY_HANDLES);
			node->handle[node->handleCount++] = build->list[k] - 1;
		}
	}
	if (cluster->parent < 0) {
		build->assembly->root = id;
	} else if (cluster->right) {
		build->assembly->nodes[cluster->parent].right = id;
	} else {
		build->assembly->nodes[cluster->parent].left = id;
	}
}

// What hangs on `joint` goes behind the rest; both keep their order. Returns where it begins.
static int splitList(Build* build, const Cluster* cluster, int joint) {
	int kept = cluster->begin, moved = 0;
	int mark = ++build->mark;
	for (int k = cluster->begin; k < cluster->end; ++k) {
		int link = build->list[k];
		bool below = link == joint || (link > joint && build->inside[parentOf(build, link)] == mark);
		if (below) {
			build->inside[link] = mark;
			build->spare[moved++] = link;
		} else {
			build->list[kept++] = link;
		}
	}
	for (int k = 0; k < moved; ++k) {
		build->list[kept + k] = build->spare[k];
	}
	return kept;
}

static void splitCluster(Build* build, Cluster cluster) {
	knAssembly* assembly = build->assembly;
	if (cluster.end - cluster.begin == 1) {
		writeNode(build, &cluster, knAssembly_LinkNode(assembly, build->list[cluster.begin] - 1));
		return;
	}
	countParts(build, &cluster);
	int joint = chooseJoint(build, &cluster), id = joint - 1;
	writeNode(build, &cluster, id);
	assembly->nodes[id].follows = build->second[joint];
	int middle = splitList(build, &cluster, joint);
	++build->outside[joint];
	++build->outside[parentOf(build, joint)];
	build->stack[build->stackCount++] = (Cluster){ cluster.begin, middle, id, false };
	build->stack[build->stackCount++] = (Cluster){ middle, cluster.end, id, true };
}

// --- pairs -------------------------------------------------------------------------------------------------

// Two axes further apart than 45 degrees: the child's axis seen from the parent's joint frame has less than that of x.
static bool isCross(const knTree* tree, int link) {
	const knTreeNode* node = &tree->nodes[link];
	return node->kind == KN_JOINT_HINGE && node->parent >= 0 &&
		   tree->nodes[node->parent].kind == KN_JOINT_HINGE && node->turn[0] * node->turn[0] < 0.5;
}

static void findPairs(Build* build) {
	const knTree* tree = build->assembly->tree;
	for (int i = 0; i < tree->count; ++i) {
		int parent = parentOf(build, i + 1);
		build->second[i + 1] =
			build->pairs && isCross(tree, i) && build->children[parent] == 1 && !build->second[parent];
	}
}

// --- order -------------------------------------------------------------------------------------------------

static int startOf(const knAssembly* assembly, int node) {
	while (knAssembly_IsJoint(assembly, node)) {
		int left = assembly->nodes[node].left;
		node = knAssembly_IsJoint(assembly, left) ? left : assembly->nodes[node].right;
	}
	return assembly->nodes[node].parent;
}

// From the leaves: left parts, right parts, their node.
static void orderNodes(knAssembly* assembly) {
	const knAssemblyNode* nodes = assembly->nodes;
	int at = 0, node = assembly->count > 0 ? startOf(assembly, assembly->root) : -1;
	while (node >= 0) {
		int left = nodes[node].left, right = nodes[node].right;
		int begin = knAssembly_IsJoint(assembly, left)    ? assembly->first[left]
					: knAssembly_IsJoint(assembly, right) ? assembly->first[right]
														  : at;
		assembly->first[node] = begin;
		assembly->order[at++] = node;
		int parent = nodes[node].parent;
		bool wasLeft = parent >= 0 && nodes[parent].left == node;
		node = wasLeft && knAssembly_IsJoint(assembly, nodes[parent].right)
				   ? startOf(assembly, nodes[parent].right)
				   : parent;
	}
	KN_ASSERT(at == assembly->count);
}

static void measureDepth(knAssembly* assembly, int* depth) {
	for (int k = assembly->count - 1; k >= 0; --k) {
		int node = assembly->order[k], parent = assembly->nodes[node].parent;
		depth[node] = parent >= 0 ? depth[parent] + 1 : 1;
		assembly->depth = max(assembly->depth, depth[node]);
	}
}

// --- creation ----------------------------------------------------------------------------------------------

static void buildTree(Build* build) {
	const knTree* tree = build->assembly->tree;
	for (int i = 0; i < build->n; ++i) {
		build->list[i] = i;
		build->inside[i] = build->outside[i] = build->children[i] = 0;
		build->second[i] = false;
	}
	for (int i = 0; i < tree->count; ++i) {
		++build->children[parentOf(build, i + 1)];
	}
	findPairs(build);
	build->stack[build->stackCount++] = (Cluster){ 0, build->n, -1, false };
	while (build->stackCount > 0) {
		splitCluster(build, build->stack[--build->stackCount]);
	}
	orderNodes(build->assembly);
	measureDepth(build->assembly, build->size);
}

static bool runBuild(knAssembly* assembly, bool pairs) {
	const knAllocator* source = &assembly->allocator;
	size_t n = (size_t)assembly->count + 1;
	Build build = { .assembly = assembly, .pairs = pairs, .n = (int)n };
	int* numbers = knAllocArray(source, 7 * n, sizeof(int));
	build.second = knAllocArray(source, n, sizeof(bool));
	build.stack = knAllocArray(source, n + 1, sizeof(Cluster));
	bool room = numbers != NULL && build.second != NULL && build.stack != NULL;
	if (room) {
		int** parts[] = { &build.list,    &build.spare,   &build.inside,  &build.size,
						  &build.handles, &build.outside, &build.children };
		for (int i = 0; i < 7; ++i) {
			*parts[i] = numbers + (size_t)i * n;
		}
		buildTree(&build);
	}
	knFree(source, numbers, 7 * n * sizeof(int));
	knFree(source, build.second, n * sizeof(bool));
	knFree(source, build.stack, (n + 1) * sizeof(Cluster));
	return room;
}

knAssembly* knAssembly_Create(const knTree* tree, const knAssemblyOptions* options,
							  const knAllocator* allocator, knError* error) {
	knAllocator source = allocator != NULL ? *allocator : knAllocator_Default();
	knAssembly* assembly = knAllocZero(&source, sizeof(knAssembly));
	if (assembly != NULL) {
		size_t n = (size_t)tree->count;
		assembly->allocator = source;
		assembly->tree = tree;
		assembly->count = tree->count;
		assembly->nodeCount = 2 * tree->count + 1;
		assembly->nodes = knAllocZero(&source, (2 * n + 1) * sizeof(knAssemblyNode));
		assembly->order = knAllocArray(&source, n, sizeof(int));
		assembly->first = knAllocArray(&source, n, sizeof(int));
	}
	bool room = assembly != NULL && assembly->nodes != NULL &&
				(tree->count == 0 || (assembly->order != NULL && assembly->first != NULL));
	if (!room || !runBuild(assembly, options != NULL && options->pairs)) {
		knAssembly_Destroy(assembly);
		knError_Set(error, KN_NO_MEMORY, "assembly tree", "out of memory");
		return NULL;
	}
	return assembly;
}

void knAssembly_Destroy(knAssembly* assembly) {
	if (assembly == NULL) {
		return;
	}
	knAllocator allocator = assembly->allocator;
	size_t n = (size_t)assembly->count;
	knFree(&allocator, assembly->nodes, (2 * n + 1) * sizeof(knAssemblyNode));
	knFree(&allocator, assembly->order, n * sizeof(int));
	knFree(&allocator, assembly->first, n * sizeof(int));
	knFree(&allocator, assembly, sizeof(knAssembly));
}
