// The assembly tree of a forest (hybrid_forest.h).
//
// Each tree of links is taken apart into heavy paths: from a link on to the child with the most links below it. Around a
// path's link, the trees of its other children are joined to it one after the other; then the path is halved, by the
// number of links, again and again. So depth is logarithmic for chains and for trees of bounded degree. A joint to the
// ground stands at the top of its tree.
#include "steppers/adaptive/hybrid_forest.h"

#include <string.h>

#define PARALLEL                                                                                             \
	0.7 // cosine: hinges whose axes differ by less than 45 degrees do not act as one universal joint

typedef struct Build {
	knHybridForest* hybrid;
	const knModel* model;
	const knState* state;
	const knForest* forest;
	int* size;  // [count] links in the subtree
	int* heavy; // [count] link, -1: none
	int*
		cluster; // [count] node of the link with the trees of its light children; of heads: of the path in the end
	int* path;    // [count] links of the present path
	double* sum;  // [count + 1] links before
	bool* second; // [count] the joint belongs to that before it on the path
} Build;

// --- links ---------------------------------------------------------------------------------------------------------

static void makeLeaf(Build* build, int i) {
	const knModel* model = build->model;
	int b = build->forest->links[i].body;
	build->hybrid->nodes[model->bodyCount + b] = (knHybridNode){
		.parent = KN_NODE_NONE,
		.left = KN_NODE_NONE,
		.right = KN_NODE_NONE,
		.root = b,
		.links = 1,
		.mass = model->mass[b],
		.center = knZero3(),
		.inertia = model->inertiaLocal[b],
		.middle = knZero3(),
		.radius = model->radius[b],
		.thinness = model->thinness[b],
		.linearDamping = model->linearDamping[b],
		.angularDamping = model->angularDamping[b],
		.place = knIdentityF(),
	};
}

// Joints that always move: those that may give way, and those between links that gravity pulls differently.
static bool alwaysMoves(const Build* build, int i) {
	const knForestLink* link = &build->forest->links[i];
	const knModel* model = build->model;
	return model->joints[link->joint].maxForce > 0.0 ||
		   (link->parent >= 0 && model->gravityScale[link->body] != model->gravityScale[link->parentBody]);
}

// Joins `left` and `right` by the joint of link i; the node.
static int join(Build* build, int i, int left, int right) {
	knHybridNode* nodes = build->hybrid->nodes;
	int b = build->forest->links[i].body;
	bool ground = left == KN_NODE_GROUND;
	nodes[b] = (knHybridNode){
		.parent = KN_NODE_NONE,
		.left = left,
		.right = right,
		.root = ground ? nodes[right].root : nodes[left].root,
		.links = nodes[right].links + (ground ? 0 : nodes[left].links),
		.active = 1,
		.moves = alwaysMoves(build, i),
		.ground = ground,
		.place = knIdentityF(),
	};
	nodes[right].parent = b;
	if (!ground) {
		nodes[left].parent = b;
	}
	++build->hybrid->header->jointTotal;
	return b;
}

// --- paths ---------------------------------------------------------------------------------------------------------

static knVec3 hingeAxis(const Build* build, int i) {
	const knForestLink* link = &build->forest->links[i];
	knQuat axes = knMulQ(build->state->pose[link->body].q, knConj(link->fromJoint.q));
	return knRotate(axes, knV3(1.0, 0.0, 0.0));
}

static bool isHinge(const Build* build, int i) {
	return build->forest->links[i].joint >= 0 && build->forest->links[i].kind == KN_JOINT_HINGE;
}

// Pairs along the path, whose first joint is that of path[first].
static void findPairs(Build* build, int first, int count) {
	for (int k = 0; k < count; ++k) {
		build->second[k] = false;
	}
	for (int k = first; k + 1 < count; ++k) {
		int a = build->path[k], b = build->path[k + 1];
		if (isHinge(build, a) && isHinge(build, b) && build->hybrid->nodes[build->cluster[a]].links == 1 &&
			knAbs(knDot(hingeAxis(build, a), hingeAxis(build, b))) < PARALLEL) {
			build->second[k + 1] = true;
			++k;
		}
	}
}

// Where to halve links [lo, hi] of the path: the joint of path[m].
static int chooseCut(const Build* build, int lo, int hi) {
	double half = 0.5 * (build->sum[lo] + build->sum[hi + 1]);
	int lower = lo + 1, upper = hi;
	while (lower < upper) {
		int middle = lower + (upper - lower) / 2;
		if (build->sum[middle] < half) {
			lower = middle + 1;
		} else {
			upper = middle;
		}
	}
	if (lower > lo + 1 && half - build->sum[lower - 1] < build->sum[lower] - half) {
		--lower;
	}
	return build->second[lower] && lower > lo + 1 ? lower - 1 : lower;
}

// The node of links [lo, hi] of the path. `after`: the cut before lo was the first joint of a pair.
static int halve(Build* build, int lo, int hi, bool after) {
	if (lo == hi) {
		return build->cluster[build->path[lo]];
	}
	bool follows = after && build->second[lo + 1];
	int m = follows ? lo + 1 : chooseCut(build, lo, hi);
	int left = halve(build, lo, m - 1, false), right = halve(build, m, hi, true);
	int node = join(build, build->path[m], left, right);
	build->hybrid->nodes[node].follows = follows;
	return node;
}

static bool isGround(const Build* build, int i) {
	const knForestLink* link = &build->forest->links[i];
	return link->parent < 0 && link->joint >= 0 && build->model->bodyKind[link->parentBody] == KN_BODY_FIXED;
}

// The node of the heavy path that begins at link `head`, whose light trees are done.
static void buildPath(Build* build, int head) {
	int count = 0;
	build->sum[0] = 0.0;
	for (int i = head; i >= 0; i = build->heavy[i]) {
		build->path[count] = i;
		build->sum[count + 1] = build->sum[count] + build->hybrid->nodes[build->cluster[i]].links;
		++count;
	}
	bool ground = isGround(build, head);
	findPairs(build, ground ? 0 : 1, count);
	int node = halve(build, 0, count - 1, ground);
	build->cluster[head] = ground ? join(build, head, KN_NODE_GROUND, node) : node;
}

static void measureTrees(Build* build) {
	const knForest* forest = build->forest;
	for (int i = 0; i < forest->count; ++i) {
		build->size[i] = 1;
		build->heavy[i] = -1;
	}
	for (int i = forest->count - 1; i >= 0; --i) {
		int parent = forest->links[i].parent;
		if (parent >= 0) {
			build->size[parent] += build->size[i];
			int best = build->heavy[parent];
			build->heavy[parent] = best < 0 || build->size[i] >= build->size[best] ? i : best;
		}
	}
}

static bool buildTrees(Build* build, knArena* arena) {
	const knForest* forest = build->forest;
	build->size = KN_SCRATCH(arena, int, forest->count);
	build->heavy = KN_SCRATCH(arena, int, forest->count);
	build->cluster = KN_SCRATCH(arena, int, forest->count);
	build->path = KN_SCRATCH(arena, int, forest->count);
	build->sum = KN_SCRATCH(arena, double, forest->count + 1);
	build->second = KN_SCRATCH(arena, bool, forest->count + 1);
	if (arena->failed) {
		return false;
	}
	measureTrees(build);
	for (int i = 0; i < forest->count; ++i) {
		makeLeaf(build, i);
		build->cluster[i] = build->model->bodyCount + forest->links[i].body;
	}
	// light children come after their parents, so that their paths are done first; each is then joined to its parent
	for (int i = forest->count - 1; i >= 0; --i) {
		int parent = forest->links[i].parent;
		if (parent < 0 || build->heavy[parent] != i) {
			buildPath(build, i);
			if (parent >= 0) {
				build->cluster[parent] = join(build, i, build->cluster[parent], build->cluster[i]);
			}
		}
	}
	return true;
}

// Numbers of the links below a node, in the order of parts; the next number.
static int numberLinks(knHybridNode* nodes, int top, int next) {
	int node = top, from = KN_NODE_NONE;
	for (;;) {
		knHybridNode* part = &nodes[node];
		bool leaf = knHybridForest_IsLeaf(part), entered = from == KN_NODE_NONE || from == part->parent;
		if (entered) {
			part->first = next;
			next += leaf;
		}
		int below = part->ground || from == part->left ? part->right : part->left;
		if (leaf || from == part->right) {
			if (node == top) {
				return next;
			}
			below = part->parent;
		}
		from = node;
		node = below;
	}
}

static void numberTrees(knHybridForest* hybrid, int bodyCount) {
	int next = 0;
	for (int b = 0; b < bodyCount; ++b) {
		int leaf = bodyCount + b;
		if (hybrid->links[b].rank >= 0 && hybrid->nodes[leaf].parent == KN_NODE_NONE) {
			next = numberLinks(hybrid->nodes, leaf, next);
		}
		if (!knHybridForest_IsLeaf(&hybrid->nodes[b]) && hybrid->nodes[b].parent == KN_NODE_NONE) {
			next = numberLinks(hybrid->nodes, b, next);
		}
	}
}

// --- the whole -----------------------------------------------------------------------------------------------------

static void startBodies(knHybridForest* hybrid, const knState* state, const knModel* model,
						const knForest* forest) {
	for (int b = 0; b < model->bodyCount; ++b) {
		int i = forest->linkOf[b];
		hybrid->links[b] = (knHybridLink){ .joint = i >= 0 ? forest->links[i].joint : -1,
										   .parent = i >= 0 ? forest->links[i].parentBody : 0,
										   .rank = i };
		hybrid->segments[b] = (knSegment){ .node = i >= 0 ? model->bodyCount + b : KN_NODE_NONE,
										   .serial = ++hybrid->header->serial,
										   .pose = state->pose[b],
										   .velocity = state->velocity[b] };
		hybrid->memory[b] = (knLinkMemory){ .via = -2 };
		hybrid->nodes[b] =
			(knHybridNode){ .parent = KN_NODE_NONE, .left = KN_NODE_NONE, .right = KN_NODE_NONE, .root = b };
		if (i < 0) {
			hybrid->others[hybrid->header->otherCount++] = b;
		}
	}
	for (int i = 0; i < forest->count; ++i) {
		hybrid->fronts[i] = forest->links[i].body;
	}
	hybrid->header->frontCount = forest->count;
}

bool knHybridForest_Build(knHybridForest* hybrid, knState* state, const knModel* model,
						  const knAllocator* allocator, knArena* arena) {
	knForest forest;
	if (!knForest_Build(&forest, model, state, NULL, arena) ||
		!knHybridForest_Resize(hybrid, state, model, 0, 0, allocator)) {
		return false;
	}
	memset(state->stepperPart, 0, (size_t)state->header->privateSize);
	int enabled = 0;
	for (int j = 0; j < model->jointCount; ++j) {
		enabled += state->joint[j].enabled != 0;
	}
	*hybrid->header = (knHybridForestHeader){ .bodyCount = model->bodyCount,
											  .jointCount = model->jointCount,
											  .enabledCount = enabled };
	startBodies(hybrid, state, model, &forest);
	Build build = { .hybrid = hybrid, .model = model, .state = state, .forest = &forest };
	if (!buildTrees(&build, arena)) {
		return false;
	}
	numberTrees(hybrid, model->bodyCount);
	hybrid->header->activeCount = hybrid->header->jointTotal;
	return true;
}
