// The broad phase: trees of fat boxes, and the list of pairs of shapes whose fat boxes overlap.
//
// Shapes on frames that move have one tree, the others another; two shapes of the second never meet. Infinite
// shapes are in neither. A shape that left its fat box is *dirty*: its leaf is moved, its pairs are dropped
// from the list and found again: a few by a walk through the trees each, many by one walk of the trees against
// themselves and each other, which does not begin at the root for each. So a call costs what moved far enough,
// plus the length of the list. The trees keep their shape while leaves move; one is rebuilt when many have moved and
// its boxes have grown.
#include "collide/collider.h"
#include "core/tasks.h"

#define REBUILD_GROWTH 1.5 // of the area of inner boxes
#define REBUILD_SHARE 8    // and at least one item in so many has moved
#define FEW_KEYS 32
#define FEW_DIRTY 16 // one shape in so many: fewer are found one by one
#define STACK 512    // pairs of nodes: less than six for each level of a tree
#define MANY_DIRTY 256
#define PIECES 192    // into which a walk is cut for threads ...
#define QUEUE 1024    // ... after so many pairs of nodes at most
#define WALK_KEYS 512 // pairs for which a walk gets room at a time, and a piece at all

// --- trees -----------------------------------------------------------------------------------------------

static void buildTree(knCollider* c, int t) {
	knBvh* tree = &c->trees[t];
	for (int i = 0; i < tree->itemCount; ++i) {
		int shape = c->treeShapes[t][i];
		c->buildBoxes[i] = c->fat[shape];
		// an inactive shape has no box; its frame says where it may appear
		c->buildCenters[i] = c->active[shape] ? knAabb_Center(c->fat[shape]) : c->worlds[shape].p;
	}
	knBvh_Build(tree, c->buildBoxes, c->buildCenters);
	c->movesSinceBuild[t] = 0;
}

static int treeOf(const knCollider* c, int shape) {
	return c->frameMoves[c->frameOf[shape]] ? KN_TREE_MOVING : KN_TREE_FIXED;
}

// Moves the leaves of shapes that left their fat boxes: one path each if they are few, else all at once.
static void moveLeaves(knCollider* c, int t, const int* shapes, int count) {
	knBvh* tree = &c->trees[t];
	int own = 0;
	for (int k = 0; k < count; ++k) {
		own += treeOf(c, shapes[k]) == t;
	}
	bool few = own <= tree->itemCount / 16;
	for (int k = 0; k < count; ++k) {
		int shape = shapes[k];
		if (treeOf(c, shape) != t) {
			continue;
		}
		if (few) {
			knBvh_SetBox(tree, c->items[shape], c->fat[shape]);
		} else {
			knBvh_SetLeaf(tree, c->items[shape], c->fat[shape]);
		}
	}
	if (!few) {
		knBvh_RefitAll(tree);
	}
	c->movesSinceBuild[t] += own;
	if (c->movesSinceBuild[t] > tree->itemCount / REBUILD_SHARE &&
		tree->area > REBUILD_GROWTH * tree->builtArea) {
		buildTree(c, t);
	}
}

void knBroadPhase_Refresh(knCollider* c) {
	// what left its box in this call joins those whose pairs are not yet listed again
	int* moved = c->counters;
	int movedCount = 0;
	for (int k = 0; k < c->changedCount; ++k) {
		int frame = c->changedFrames[k];
		for (int i = c->firstShape[frame]; i < c->firstShape[frame + 1]; ++i) {
			int shape = c->shapesOfFrame[i];
			if (!c->left[shape]) {
				continue;
			}
			c->left[shape] = 0;
			moved[movedCount++] = shape;
			if (!c->dirty[shape]) {
				c->dirty[shape] = 1;
				c->dirtyList[c->dirtyCount++] = shape;
			}
		}
	}
	for (int t = 0; t < KN_TREE_COUNT; ++t) {
		if (!c->treesBuilt) {
			buildTree(c, t);
		} else if (movedCount > 0) {
			moveLeaves(c, t, moved, movedCount);
		}
	}
	c->treesBuilt = true;
}

// --- who may touch ---------------------------------------------------------------------------------------

bool knBroadPhase_MayTouch(const knCollider* c, int shapeA, int shapeB) {
	int a = c->frameOf[shapeA], b = c->frameOf[shapeB];
	bool allowed = (c->unfiltered[shapeA] && c->unfiltered[shapeB]) ||
				   knFilter_Allows(c->shapes[shapeA].filter, c->shapes[shapeB].filter);
	return a != b && (c->frameMoves[a] || c->frameMoves[b]) && allowed &&
		   !knPairKey_Find(c->excluded, c->excludedCount, knPairKey_Make(a, b));
}

bool knCollideInput_Excludes(const knCollideInput* input, int frameA, int frameB) {
	int a = frameA < frameB ? frameA : frameB, b = frameA < frameB ? frameB : frameA;
	int lower = 0, upper = input->excludedCount;
	while (lower < upper) {
		int middle = lower + (upper - lower) / 2;
		knFramePair pair = input->excluded[middle];
		if (pair.a < a || (pair.a == a && pair.b < b)) {
			lower = middle + 1;
		} else {
			upper = middle;
		}
	}
	return lower < input->excludedCount && input->excluded[lower].a == a && input->excluded[lower].b == b;
}

knHalfSpace knHalfSpace_Make(knFrame plane, double margin) {
	knVec3 up = knRotate(plane.q, knV3(0.0, 0.0, 1.0));
	return (knHalfSpace){ up, knDot(up, plane.p) + margin };
}

bool knHalfSpace_Meets(const knHalfSpace* space, const knAabb* box) {
	knVec3 up = space->up;
	knVec3 lowest = knV3(up.x > 0.0 ? box->lower.x : box->upper.x, up.y > 0.0 ? box->lower.y : box->upper.y,
						 up.z > 0.0 ? box->lower.z : box->upper.z);
	return knDot(lowest, up) <= space->offset;
}

// --- pairs -----------------------------------------------------------------------------------------------

knStatus knBroadPhase_TooMany(const knCollider* c, knError* error) {
	return knError_Set(error, KN_LIMIT, "collider",
					   "more than %d pairs of shapes are close together (the limit); spread the bodies out",
					   c->pairLimit);
}

// Insertion for a few, else two stable counting passes, by b and by a.
bool knBroadPhase_SortKeys(knCollider* c, knPairKeys* keys) {
	if (keys->count <= FEW_KEYS) {
		for (int i = 1; i < keys->count; ++i) {
			knPairKey key = keys->items[i];
			int place = i;
			for (; place > 0 && keys->items[place - 1] > key; --place) {
				keys->items[place] = keys->items[place - 1];
			}
			keys->items[place] = key;
		}
		return true;
	}
	if (!KN_ARRAY_RESERVE(&c->allocator, &c->sorted, keys->count)) {
		return false;
	}
	knPairKey *from = keys->items, *to = c->sorted.items;
	for (int pass = 0; pass < 2; ++pass) {
		int shift = pass == 0 ? 0 : 32;
		for (int i = 0; i <= c->shapeCount; ++i) {
			c->counters[i] = 0;
		}
		for (int i = 0; i < keys->count; ++i) {
			c->counters[(uint32_t)(from[i] >> shift) + 1] += 1;
		}
		for (int i = 0; i < c->shapeCount; ++i) {
			c->counters[i + 1] += c->counters[i];
		}
		for (int i = 0; i < keys->count; ++i) {
			to[c->counters[(uint32_t)(from[i] >> shift)]++] = from[i];
		}
		knPairKey* swap = from;
		from = to;
		to = swap;
	}
	return true;
}

// Drops the pairs of dirty shapes.
static void dropDirty(knCollider* c) {
	int kept = 0;
	for (int i = 0; i < c->pairs.count; ++i) {
		knPairKey key = c->pairs.items[i];
		if (!c->dirty[knPairKey_A(key)] && !c->dirty[knPairKey_B(key)]) {
			c->pairs.items[kept++] = key;
		}
	}
	c->pairs.count = kept;
}

static knStatus addFresh(knCollider* c, int shape, int other) {
	if (!knBroadPhase_MayTouch(c, shape, other)) {
		return KN_OK;
	}
	if (c->pairs.count + c->fresh.count >= c->pairLimit) {
		return KN_LIMIT;
	}
	return KN_ARRAY_PUSH(&c->allocator, &c->fresh, knPairKey_Make(shape, other)) ? KN_OK : KN_NO_MEMORY;
}

// Finds the pairs of one dirty shape in one tree. Of two dirty shapes the first (by number) finds the pair.
static knStatus findInTree(knCollider* c, int shape, int t) {
	const knBvh* tree = &c->trees[t];
	knStatus status = KN_OK;
	int cursor = 0;
	for (int item; status == KN_OK && (item = knBvh_Next(tree, &c->fat[shape], &cursor)) >= 0;) {
		int other = c->treeShapes[t][item];
		if (other != shape && !(c->dirty[other] && other < shape)) {
			status = addFresh(c, shape, other);
		}
	}
	return status;
}

static knStatus findOneByOne(knCollider* c) {
	knStatus status = KN_OK;
	for (int k = 0; status == KN_OK && k < c->dirtyCount; ++k) {
		int shape = c->dirtyList[k];
		if (!c->active[shape]) {
			continue;
		}
		status = findInTree(c, shape, KN_TREE_MOVING);
		if (status == KN_OK && treeOf(c, shape) == KN_TREE_MOVING) {
			status = findInTree(c, shape, KN_TREE_FIXED);
		}
	}
	return status;
}

// --- trees against each other ----------------------------------------------------------------------------

// Children stand behind their parent, so backwards every node comes after its children.
static void markNodes(knCollider* c, int t) {
	const knBvh* tree = &c->trees[t];
	uint8_t* marks = c->dirtyNodes[t];
	for (int node = tree->nodeCount - 1; node >= 0; --node) {
		const knBvhNode* n = &tree->nodes[node];
		marks[node] = n->item >= 0 ? c->dirty[c->treeShapes[t][n->item]]
								   : marks[node + 1] | marks[tree->nodes[node + 1].skip];
	}
}

// A node of the moving tree and one of either, or the first with itself (b == a, in the same tree).
typedef struct NodePair {
	int a, b;
} NodePair;

// A walk of the moving tree against either.
typedef struct Crossing {
	const knCollider* collider;
	const knBvhNode *nodesA, *nodesB;
	const uint8_t *dirtyA, *dirtyB;
	const int *shapesA, *shapesB; // of items
	bool same;                    // both are the moving tree
} Crossing;

static Crossing makeCrossing(const knCollider* c, int t) {
	return (Crossing){ .collider = c,
					   .nodesA = c->trees[KN_TREE_MOVING].nodes,
					   .nodesB = c->trees[t].nodes,
					   .dirtyA = c->dirtyNodes[KN_TREE_MOVING],
					   .dirtyB = c->dirtyNodes[t],
					   .shapesA = c->treeShapes[KN_TREE_MOVING],
					   .shapesB = c->treeShapes[t],
					   .same = t == KN_TREE_MOVING };
}

// What a pair of nodes leaves to do is pushed on the stack. True: both are leaves.
static inline bool openPair(const Crossing* x, NodePair pair, NodePair* stack, int* depth) {
	const knBvhNode *a = &x->nodesA[pair.a], *b = &x->nodesB[pair.b];
	if (x->same && pair.a == pair.b) {
		if (a->item < 0 && x->dirtyA[pair.a]) {
			int left = pair.a + 1, right = x->nodesA[left].skip;
			stack[(*depth)++] = (NodePair){ right, right };
			stack[(*depth)++] = (NodePair){ left, right };
			stack[(*depth)++] = (NodePair){ left, left };
		}
		return false;
	}
	if (!(x->dirtyA[pair.a] | x->dirtyB[pair.b]) || !knAabb_Overlap(a->box, b->box)) {
		return false;
	}
	if (a->item >= 0 && b->item >= 0) {
		return true;
	}
	// the one with more leaves is opened
	bool openA = b->item >= 0 || (a->item < 0 && a->skip - pair.a >= b->skip - pair.b);
	int left = (openA ? pair.a : pair.b) + 1, right = (openA ? x->nodesA : x->nodesB)[left].skip;
	stack[(*depth)++] = openA ? (NodePair){ right, pair.b } : (NodePair){ pair.a, right };
	stack[(*depth)++] = openA ? (NodePair){ left, pair.b } : (NodePair){ pair.a, left };
	return false;
}

// Goes on until the stack is empty or there is no more room for keys; returns their number.
static int walk(const Crossing* crossing, NodePair* stack, int* depth, knPairKey* keys, int room) {
	Crossing x = *crossing;
	int count = 0, left = *depth;
	while (left > 0 && count < room) {
		KN_ASSERT(left + 3 <= STACK);
		NodePair pair = stack[--left];
		if (openPair(&x, pair, stack, &left)) {
			int a = x.shapesA[x.nodesA[pair.a].item], b = x.shapesB[x.nodesB[pair.b].item];
			if (knBroadPhase_MayTouch(x.collider, a, b)) {
				keys[count++] = knPairKey_Make(a, b);
			}
		}
	}
	*depth = left;
	return count;
}

static knStatus findBelow(knCollider* c, const Crossing* crossing, NodePair root) {
	NodePair stack[STACK] = { root };
	int depth = 1;
	while (depth > 0) {
		if (!KN_ARRAY_RESERVE(&c->allocator, &c->fresh, c->fresh.count + WALK_KEYS)) {
			return KN_NO_MEMORY;
		}
		c->fresh.count += walk(crossing, stack, &depth, c->fresh.items + c->fresh.count, WALK_KEYS);
		if (c->pairs.count + c->fresh.count > c->pairLimit) {
			return KN_LIMIT;
		}
	}
	return KN_OK;
}

// --- the same in parallel --------------------------------------------------------------------------------

typedef struct CrossJob {
	Crossing crossing;
	const NodePair* pieces;
	int pieceCount;
	knPairKey* keys; // WALK_KEYS for each piece
	int* counts;     // of the keys that each piece found; -1: more than there was room for
} CrossJob;

// Neighbours among the pieces are alike, so they go to different threads.
static int spread(int i, int count) {
	int half = (count + 1) / 2;
	return i < half ? 2 * i : 2 * (i - half) + 1;
}

static void findPieces(int begin, int end, int worker, void* argument) {
	(void)worker;
	const CrossJob* job = argument;
	for (int i = begin; i < end; ++i) {
		int piece = spread(i, job->pieceCount), depth = 1;
		NodePair stack[STACK] = { job->pieces[piece] };
		int count = walk(&job->crossing, stack, &depth, &job->keys[piece * WALK_KEYS], WALK_KEYS);
		job->counts[piece] = depth == 0 ? count : -1;
	}
}

// Takes over what the pieces found; those that had no room for it all are walked again.
static knStatus takePieces(knCollider* c, const CrossJob* job) {
	knStatus status = KN_OK;
	for (int piece = 0; piece < job->pieceCount && status == KN_OK; ++piece) {
		int count = job->counts[piece];
		if (count < 0) {
			status = findBelow(c, &job->crossing, job->pieces[piece]);
			continue;
		}
		if (c->pairs.count + c->fresh.count + count > c->pairLimit) {
			return KN_LIMIT;
		}
		if (!KN_ARRAY_RESERVE(&c->allocator, &c->fresh, c->fresh.count + count)) {
			return KN_NO_MEMORY;
		}
		for (int i = 0; i < count; ++i) {
			c->fresh.items[c->fresh.count++] = job->keys[piece * WALK_KEYS + i];
		}
	}
	return status;
}

// The first levels, opened breadth first, make pieces, which are then walked in any order: the keys are sorted anyway.
static knStatus findInPieces(knCollider* c, const knTasks* tasks, const Crossing* crossing) {
	NodePair queue[QUEUE] = { { 0, 0 } };
	int counts[PIECES + 3], head = 0, tail = 1;
	while (head < tail && tail - head < PIECES && tail + 3 <= QUEUE) {
		NodePair pair = queue[head++];
		if (openPair(crossing, pair, queue, &tail)) {
			queue[tail++] = pair; // leaves are a piece
			break;
		}
	}
	if (!KN_ARRAY_RESERVE(&c->allocator, &c->found, (PIECES + 3) * WALK_KEYS)) {
		return KN_NO_MEMORY;
	}
	CrossJob job = { *crossing, queue + head, tail - head, c->found.items, counts };
	knTasks_For(tasks, job.pieceCount, 1, findPieces, &job);
	return takePieces(c, &job);
}

static knStatus findBetween(knCollider* c, const knTasks* tasks, int t) {
	if (c->trees[KN_TREE_MOVING].nodeCount == 0 || c->trees[t].nodeCount == 0) {
		return KN_OK;
	}
	Crossing crossing = makeCrossing(c, t);
	bool parallel = knTasks_WorkerCount(tasks) > 1 && c->dirtyCount >= MANY_DIRTY;
	return parallel ? findInPieces(c, tasks, &crossing) : findBelow(c, &crossing, (NodePair){ 0, 0 });
}

static knStatus findFresh(knCollider* c, const knTasks* tasks) {
	c->fresh.count = 0;
	if (c->dirtyCount <= c->shapeCount / FEW_DIRTY) {
		return findOneByOne(c);
	}
	markNodes(c, KN_TREE_FIXED);
	markNodes(c, KN_TREE_MOVING);
	knStatus status = findBetween(c, tasks, KN_TREE_MOVING);
	return status == KN_OK ? findBetween(c, tasks, KN_TREE_FIXED) : status;
}

// Merges the sorted fresh keys into the sorted list, from the back.
static bool mergeFresh(knCollider* c) {
	int total = c->pairs.count + c->fresh.count;
	if (!knBroadPhase_SortKeys(c, &c->fresh) || !KN_ARRAY_RESERVE(&c->allocator, &c->pairs, total)) {
		return false;
	}
	int old = c->pairs.count - 1, fresh = c->fresh.count - 1;
	for (int place = total - 1; fresh >= 0; --place) {
		bool takeOld = old >= 0 && c->pairs.items[old] > c->fresh.items[fresh];
		c->pairs.items[place] = takeOld ? c->pairs.items[old--] : c->fresh.items[fresh--];
	}
	c->pairs.count = total;
	return true;
}

// Marks every shape of the trees dirty.
static void dirtyAll(knCollider* c) {
	c->pairs.count = 0;
	c->dirtyCount = 0;
	for (int i = 0; i < c->shapeCount; ++i) {
		if (c->items[i] >= 0) {
			c->dirty[i] = 1;
			c->dirtyList[c->dirtyCount++] = i;
		}
	}
}

// Fat boxes may overlap too often where exact ones do not: the limit is on the latter, or it would depend on
// the past.
static void shrinkAll(knCollider* c) {
	for (int i = 0; i < c->shapeCount; ++i) {
		if (c->items[i] >= 0) {
			c->fat[i] = c->boxes[i];
		}
	}
	buildTree(c, KN_TREE_FIXED);
	buildTree(c, KN_TREE_MOVING);
}

knStatus knBroadPhase_Pairs(knCollider* c, const knTasks* tasks, knError* error) {
	if (!c->paired) {
		dirtyAll(c);
	}
	if (c->dirtyCount == 0) {
		return KN_OK;
	}
	c->paired = false; // until the list is whole again
	dropDirty(c);
	knStatus status = findFresh(c, tasks);
	if (status == KN_LIMIT) {
		shrinkAll(c);
		dirtyAll(c);
		status = findFresh(c, tasks);
	}
	if (status == KN_LIMIT) {
		return knBroadPhase_TooMany(c, error);
	}
	if (status != KN_OK || !mergeFresh(c)) {
		return knError_Set(error, KN_NO_MEMORY, "collider", "out of memory for pairs of shapes");
	}
	for (int k = 0; k < c->dirtyCount; ++k) {
		c->dirty[c->dirtyList[k]] = 0;
	}
	c->dirtyCount = 0;
	c->paired = true;
	return KN_OK;
}
