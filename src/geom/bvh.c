// Building, refitting and walking the tree of bvh.h.
//
// Symbols: a *range* is a stretch of `order` that one subtree holds; a *bin* collects the items whose centres
// fall into one of BIN_COUNT equal slices; the cost of a split is area(left) count(left) + area(right)
// count(right).
#include "geom/bvh.h"

#include "core/alloc.h"

#define BIN_COUNT 8
#define DEEP 40 // beyond this depth ranges are halved, which ends after log2(count) more levels
#define STACK 96

typedef struct Range {
	int first, count;
	int node, parent;
	int depth;
} Range;

knAabb knAabb_Empty(void) {
	knAabb empty = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
	return empty;
}

// Half the surface; zero for an empty box.
static double halfArea(const knAabb* box) {
	double x = knMax(0.0, box->upper.x - box->lower.x), y = knMax(0.0, box->upper.y - box->lower.y);
	double z = knMax(0.0, box->upper.z - box->lower.z);
	return x * y + y * z + z * x;
}

bool knBvh_Create(knBvh* tree, int itemCount, const knAllocator* allocator) {
	*tree = (knBvh){ .itemCount = itemCount, .nodeCount = itemCount > 0 ? 2 * itemCount - 1 : 0 };
	if (itemCount == 0) {
		return true;
	}
	size_t nodes = (size_t)tree->nodeCount, items = (size_t)itemCount;
	tree->nodes = knAllocArray(allocator, nodes, sizeof(knBvhNode));
	tree->parents = knAllocArray(allocator, nodes, sizeof(int));
	tree->leaves = knAllocArray(allocator, items, sizeof(int));
	tree->order = knAllocArray(allocator, items, sizeof(int));
	if (tree->nodes == NULL || tree->parents == NULL || tree->leaves == NULL || tree->order == NULL) {
		knBvh_Destroy(tree, allocator);
		return false;
	}
	return true;
}

void knBvh_Destroy(knBvh* tree, const knAllocator* allocator) {
	size_t nodes = (size_t)tree->nodeCount, items = (size_t)tree->itemCount;
	knFree(allocator, tree->nodes, nodes * sizeof(knBvhNode));
	knFree(allocator, tree->parents, nodes * sizeof(int));
	knFree(allocator, tree->leaves, items * sizeof(int));
	knFree(allocator, tree->order, items * sizeof(int));
	*tree = (knBvh){ 0 };
}

// --- building --------------------------------------------------------------------------------------------

typedef struct Build {
	knBvh* tree;
	const knAabb* boxes;
	const knVec3* centers;
} Build;

// Where a range's centres fall along one axis.
typedef struct Slices {
	int axis;
	double lower, scale;
} Slices;

static int sliceOf(const Slices* slices, knVec3 center) {
	double x = slices->scale * (knComponent(center, slices->axis) - slices->lower);
	return x >= 1.0 ? (x < BIN_COUNT ? (int)x : BIN_COUNT - 1) : 0;
}

// Slices along the longest axis of the centres; scale 0 when they coincide (or their span overflows).
static Slices makeSlices(const Build* build, const Range* range) {
	knAabb span = knAabb_Empty();
	for (int i = 0; i < range->count; ++i) {
		knVec3 center = build->centers[build->tree->order[range->first + i]];
		span.lower = knMin3(span.lower, center);
		span.upper = knMax3(span.upper, center);
	}
	knVec3 extent = knSub(span.upper, span.lower);
	int axis = extent.x >= extent.y ? (extent.x >= extent.z ? 0 : 2) : (extent.y >= extent.z ? 1 : 2);
	double length = knComponent(extent, axis), scale = BIN_COUNT / length;
	bool usable = length > 0.0 && knIsFinite(length) && knIsFinite(scale);
	Slices slices = { axis, knComponent(span.lower, axis), usable ? scale : 0.0 };
	return slices;
}

// The slice that begins the right side of the cheapest split.
static int cheapestSplit(const Build* build, const Range* range, const Slices* slices) {
	knAabb boxes[BIN_COUNT];
	int counts[BIN_COUNT] = { 0 };
	for (int b = 0; b < BIN_COUNT; ++b) {
		boxes[b] = knAabb_Empty();
	}
	for (int i = 0; i < range->count; ++i) {
		int item = build->tree->order[range->first + i];
		int b = sliceOf(slices, build->centers[item]);
		boxes[b] = knAabb_Union(boxes[b], build->boxes[item]);
		counts[b] += 1;
	}

	// costs of the right sides from the right, then of whole splits from the left
	double right[BIN_COUNT];
	knAabb box = knAabb_Empty();
	int count = 0;
	for (int b = BIN_COUNT - 1; b > 0; --b) {
		box = knAabb_Union(box, boxes[b]);
		count += counts[b];
		right[b] = halfArea(&box) * count;
	}
	int best = BIN_COUNT / 2;
	double bestCost = INFINITY;
	box = knAabb_Empty();
	count = 0;
	for (int b = 1; b < BIN_COUNT; ++b) {
		box = knAabb_Union(box, boxes[b - 1]);
		count += counts[b - 1];
		double cost = halfArea(&box) * count + right[b];
		if (count > 0 && count < range->count && cost < bestCost) {
			bestCost = cost;
			best = b;
		}
	}
	return best;
}

// Reorders a range and returns how many items go left, at least one and not all.
static int split(const Build* build, const Range* range) {
	int half = range->count / 2;
	if (range->count == 2 || range->depth >= DEEP) {
		return half;
	}
	Slices slices = makeSlices(build, range);
	if (slices.scale == 0.0) {
		return half;
	}
	int firstRight = cheapestSplit(build, range, &slices);
	int* order = build->tree->order + range->first;
	int left = 0;
	for (int right = range->count; left < right;) {
		if (sliceOf(&slices, build->centers[order[left]]) < firstRight) {
			left += 1;
		} else {
			right -= 1;
			int item = order[left];
			order[left] = order[right];
			order[right] = item;
		}
	}
	return left > 0 && left < range->count ? left : half;
}

void knBvh_Build(knBvh* tree, const knAabb* boxes, const knVec3* centers) {
	if (tree->itemCount == 0) {
		return;
	}
	for (int i = 0; i < tree->itemCount; ++i) {
		tree->order[i] = i;
	}
	Build build = { tree, boxes, centers };
	Range stack[STACK];
	int depth = 0;
	stack[depth++] = (Range){ 0, tree->itemCount, 0, -1, 0 };
	while (depth > 0) {
		Range range = stack[--depth];
		knBvhNode* node = &tree->nodes[range.node];
		node->skip = range.node + 2 * range.count - 1;
		tree->parents[range.node] = range.parent;
		if (range.count == 1) {
			node->item = tree->order[range.first];
			node->box = boxes[node->item];
			tree->leaves[node->item] = range.node;
			continue;
		}
		node->item = -1;
		int left = split(&build, &range);
		KN_ASSERT(depth + 2 <= STACK);
		int rightNode = range.node + 2 * left;
		stack[depth++] =
			(Range){ range.first + left, range.count - left, rightNode, range.node, range.depth + 1 };
		stack[depth++] = (Range){ range.first, left, range.node + 1, range.node, range.depth + 1 };
	}
	knBvh_RefitAll(tree);
	tree->builtArea = tree->area;
}

// --- refitting -------------------------------------------------------------------------------------------

static knAabb childrenBox(const knBvh* tree, int node) {
	int left = node + 1;
	return knAabb_Union(tree->nodes[left].box, tree->nodes[tree->nodes[left].skip].box);
}

void knBvh_SetLeaf(knBvh* tree, int item, knAabb box) {
	tree->nodes[tree->leaves[item]].box = box;
}

void knBvh_SetBox(knBvh* tree, int item, knAabb box) {
	int node = tree->leaves[item];
	tree->nodes[node].box = box;
	for (node = tree->parents[node]; node >= 0; node = tree->parents[node]) {
		knAabb* old = &tree->nodes[node].box;
		knAabb mended = childrenBox(tree, node);
		if (knAabb_Contains(mended, *old) && knAabb_Contains(*old, mended)) {
			break;
		}
		tree->area += halfArea(&mended) - halfArea(old);
		*old = mended;
	}
}

void knBvh_RefitAll(knBvh* tree) {
	tree->area = 0.0;
	for (int node = tree->nodeCount - 1; node >= 0; --node) {
		if (tree->nodes[node].item < 0) {
			tree->nodes[node].box = childrenBox(tree, node);
			tree->area += halfArea(&tree->nodes[node].box);
		}
	}
}

// --- walking ---------------------------------------------------------------------------------------------

int knBvh_NextBelow(const knBvh* tree, knVec3 normal, double offset, int* cursor) {
	int node = *cursor;
	while (node < tree->nodeCount) {
		const knBvhNode* n = &tree->nodes[node];
		knVec3 lowest = knV3(normal.x > 0.0 ? n->box.lower.x : n->box.upper.x,
							 normal.y > 0.0 ? n->box.lower.y : n->box.upper.y,
							 normal.z > 0.0 ? n->box.lower.z : n->box.upper.z);
		if (!(knDot(normal, lowest) <= offset)) {
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
