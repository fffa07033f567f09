// The hierarchy of balls: segments against each other and against the bodies that do not answer.
//
// Each part of the assembly tree has a ball around the shapes of its links, fixed in its frame while it is rigid. A ball
// that meets nothing leaves out all that is in it; one that meets something is opened, down to links. So the search costs
// what moves and what is near, not what there is. A ball reaches as far as its links' margins do (search_margins.c): the
// way of its middle, which the observer's is taken from, its turn, half an envelope.
//
//   |h u_link - drift| + h |w| r_link  <=  |h u_middle - drift| + h |w| R      the link's ball being within the part's
//
// Two segments meet by a tree over their balls, made for each search; parts of one segment never do.
#include "steppers/adaptive/weld_search.h"

#include "core/sort.h"
#include "dynamics/collision_input.h"

#define WAITING 192    // parts: right ones are opened first, and halve
#define SLACK 1e-9     // of a ball: rounding of places
#define FIRST_ROOM 256 // pairs

// A welded body that may move: a segment, or a scripted body.
typedef struct Mover {
	int body; // root, or the body
	int node; // KN_NODE_NONE: a scripted body
	knFrame at;
	knVec3 center; // that its velocity is of
	knTwist velocity;
} Mover;

// A part of a mover.
typedef struct Part {
	const Mover* mover;
	int node; // KN_NODE_NONE: the whole scripted body
	knFrame at;
	knVec3 middle;
	double reach;
} Part;

typedef struct Search {
	const knAdaptiveStep* step;
	const knCollider* collider;
	knArena* arena;
	double h;
	knVec3 drift; // m
	Mover* movers;
	int moverCount;
	knPairKey* keys;
	int count, room;
	bool failed;
} Search;

// --- parts ---------------------------------------------------------------------------------------------------------

static Part makePart(const Search* search, const Mover* mover, int node, knFrame at) {
	const knModel* model = search->step->context->model;
	const knHybridNode* part = node != KN_NODE_NONE ? &search->step->hybrid.nodes[node] : NULL;
	double radius = part != NULL ? part->radius : model->radius[mover->body];
	knVec3 middle = part != NULL ? knPoint(at, part->middle) : at.p;
	knTwist v = mover->velocity;
	knVec3 way = knScale(search->h, knAdd(v.lin, knCross(v.ang, knSub(middle, mover->center))));
	double reach = radius + 0.5 * knCollisionEnvelope_OfRadius(radius) + knDistance(way, search->drift) +
				   search->h * knLength(v.ang) * radius;
	return (Part){ mover, node, at, middle, reach * (1.0 + SLACK) + SLACK * radius };
}

static bool isLink(const Search* search, const Part* part) {
	return part->node == KN_NODE_NONE || knHybridForest_IsLeaf(&search->step->hybrid.nodes[part->node]);
}

// The two parts of one; a node of the ground has only one.
static int openPart(const Search* search, const Part* part, Part* left, Part* right) {
	const knHybridNode* node = &search->step->hybrid.nodes[part->node];
	if (node->ground) {
		*right = makePart(search, part->mover, node->right, part->at);
		return 1;
	}
	*right = makePart(search, part->mover, node->right, knMulF(part->at, node->place));
	*left = makePart(search, part->mover, node->left, part->at);
	return 2;
}

static int bodyOf(const Search* search, const Part* part) {
	return part->node == KN_NODE_NONE ? part->mover->body : search->step->hybrid.nodes[part->node].root;
}

static knAabb boxOf(const Part* part) {
	knVec3 half = knV3(part->reach, part->reach, part->reach);
	return (knAabb){ knSub(part->middle, half), knAdd(part->middle, half) };
}

static bool meet(const Part* a, const Part* b) {
	double reach = a->reach + b->reach;
	return !(knLengthSquared(knSub(a->middle, b->middle)) > reach * reach);
}

// --- pairs ---------------------------------------------------------------------------------------------------------

static void addPair(Search* search, int a, int b) {
	if (!knBroadPhase_MayTouch(search->collider, a, b)) {
		return;
	}
	if (search->count == search->room) {
		int room = search->room > 0 ? 2 * search->room : FIRST_ROOM;
		knPairKey* keys = KN_SCRATCH(search->arena, knPairKey, room);
		if (keys == NULL) {
			search->failed = true;
			return;
		}
		for (int k = 0; k < search->count; ++k) {
			keys[k] = search->keys[k];
		}
		search->keys = keys;
		search->room = room;
	}
	search->keys[search->count++] = knPairKey_Make(a, b);
}

static void addBodies(Search* search, int bodyA, int bodyB) {
	const knCollider* c = search->collider;
	for (int i = c->firstShape[bodyA]; i < c->firstShape[bodyA + 1]; ++i) {
		for (int k = c->firstShape[bodyB]; k < c->firstShape[bodyB + 1]; ++k) {
			addPair(search, c->shapesOfFrame[i], c->shapesOfFrame[k]);
		}
	}
}

// The larger of two parts that meet is opened, until both are links.
static void crossParts(Search* search, Part a, Part b) {
	struct {
		Part a, b;
	} stack[WAITING];
	int waiting = 0;
	for (;;) {
		bool near = meet(&a, &b), linkA = isLink(search, &a), linkB = isLink(search, &b);
		if (near && linkA && linkB) {
			addBodies(search, bodyOf(search, &a), bodyOf(search, &b));
		}
		if (!near || (linkA && linkB)) {
			if (waiting == 0) {
				return;
			}
			a = stack[--waiting].a;
			b = stack[waiting].b;
			continue;
		}
		KN_ASSERT(waiting < WAITING);
		bool first = linkB || (!linkA && a.reach >= b.reach);
		Part* opened = first ? &a : &b;
		Part left, right;
		if (openPart(search, opened, &left, &right) == 2) {
			stack[waiting].a = first ? left : a;
			stack[waiting++].b = first ? b : left;
		}
		*opened = right;
	}
}

static bool reachesPlane(const Search* search, const Part* part, int plane) {
	const knCollider* c = search->collider;
	knHalfSpace space = knHalfSpace_Make(c->worlds[plane], c->margins[c->frameOf[plane]]);
	return c->active[plane] && !(knDot(space.up, part->middle) - part->reach > space.offset);
}

// Whether anything that does not move is near; pairs with it, if the part is a link.
static bool findFixed(Search* search, const Part* part) {
	const knCollider* c = search->collider;
	const knBvh* tree = &c->trees[KN_TREE_FIXED];
	knAabb box = boxOf(part);
	bool link = isLink(search, part), any = false;
	int body = link ? bodyOf(search, part) : 0, cursor = 0;
	int first = link ? c->firstShape[body] : 0, end = link ? c->firstShape[body + 1] : 0;
	for (int item; (!any || link) && (item = knBvh_Next(tree, &box, &cursor)) >= 0;) {
		any = true;
		for (int i = first; i < end; ++i) {
			addPair(search, c->shapesOfFrame[i], c->treeShapes[KN_TREE_FIXED][item]);
		}
	}
	for (int k = 0; (!any || link) && k < c->planeCount; ++k) {
		if (!reachesPlane(search, part, c->planes[k])) {
			continue;
		}
		any = true;
		for (int i = first; i < end; ++i) {
			addPair(search, c->shapesOfFrame[i], c->planes[k]);
		}
	}
	return any;
}

static void crossFixed(Search* search, Part part) {
	Part stack[WAITING];
	int waiting = 0;
	for (;;) {
		if (findFixed(search, &part) && !isLink(search, &part)) {
			KN_ASSERT(waiting < WAITING);
			Part left, right;
			if (openPart(search, &part, &left, &right) == 2) {
				stack[waiting++] = left;
			}
			part = right;
		} else if (waiting > 0) {
			part = stack[--waiting];
		} else {
			return;
		}
	}
}

// --- movers --------------------------------------------------------------------------------------------------------

static bool listMovers(Search* search, const knState* welded, const knTwist* u) {
	const knAdaptiveStep* step = search->step;
	const knHybridForest* hybrid = &step->hybrid;
	int count = step->world.model.bodyCount;
	search->movers = KN_SCRATCH(search->arena, Mover, count);
	if (search->movers == NULL) {
		return false;
	}
	for (int k = 0; k < count; ++k) {
		int body = step->world.bodyOf[k];
		bool link = hybrid->links[body].rank >= 0;
		if (!link && step->context->model->bodyKind[body] == KN_BODY_FIXED) {
			continue;
		}
		knFrame at = welded->pose[k];
		int node = link ? hybrid->segments[body].node : KN_NODE_NONE;
		if (link) {
			at.p = knSub(at.p, knRotate(at.q, hybrid->nodes[node].center));
		}
		search->movers[search->moverCount++] = (Mover){ body, node, at, welded->pose[k].p, u[k] };
	}
	return true;
}

static bool crossMovers(Search* search) {
	int count = search->moverCount;
	knAllocator memory = knArena_Allocator(search->arena);
	Part* parts = KN_SCRATCH(search->arena, Part, count);
	knAabb* boxes = KN_SCRATCH(search->arena, knAabb, count);
	knVec3* centers = KN_SCRATCH(search->arena, knVec3, count);
	knBvh tree;
	if (search->arena->failed || !knBvh_Create(&tree, count, &memory)) {
		return false;
	}
	for (int k = 0; k < count; ++k) {
		const Mover* mover = &search->movers[k];
		parts[k] = makePart(search, mover, mover->node, mover->at);
		boxes[k] = boxOf(&parts[k]);
		centers[k] = parts[k].middle;
	}
	knBvh_Build(&tree, boxes, centers);
	for (int k = 0; k < count; ++k) {
		int cursor = 0;
		for (int other; (other = knBvh_Next(&tree, &boxes[k], &cursor)) >= 0;) {
			if (other > k) {
				crossParts(search, parts[k], parts[other]);
			}
		}
		crossFixed(search, parts[k]);
	}
	return !search->failed;
}

// --- the lists -----------------------------------------------------------------------------------------------------

static bool sortPairs(Search* search, knWeldSearch* out) {
	knKeyed* keys = KN_SCRATCH(search->arena, knKeyed, search->count);
	for (int k = 0; keys != NULL && k < search->count; ++k) {
		keys[k] = (knKeyed){ search->keys[k], 0 };
	}
	if (keys == NULL || !knSort_Keys(keys, search->count, search->arena)) {
		return false;
	}
	for (int k = 0; k < search->count; ++k) {
		search->keys[k] = keys[k].key;
	}
	out->pairs = search->keys;
	out->pairCount = search->count;
	return true;
}

static bool listLinks(Search* search, knWeldSearch* out) {
	const knCollider* c = search->collider;
	const knHybridForest* hybrid = &search->step->hybrid;
	knKeyed* keys = KN_SCRATCH(search->arena, knKeyed, 2 * search->count);
	out->links = KN_SCRATCH(search->arena, int, 2 * search->count);
	if (search->arena->failed) {
		return false;
	}
	int count = 0;
	for (int k = 0; k < search->count; ++k) {
		int bodies[2] = { c->frameOf[knPairKey_A(search->keys[k])],
						  c->frameOf[knPairKey_B(search->keys[k])] };
		for (int i = 0; i < 2; ++i) {
			if (hybrid->links[bodies[i]].rank >= 0) {
				keys[count++] = (knKeyed){ (uint64_t)bodies[i], 0 };
			}
		}
	}
	if (!knSort_Keys(keys, count, search->arena)) {
		return false;
	}
	for (int k = 0; k < count; ++k) {
		if (k == 0 || keys[k].key != keys[k - 1].key) {
			out->links[out->linkCount++] = (int)keys[k].key;
		}
	}
	return true;
}

bool knWeldSearch_Run(knWeldSearch* out, const knAdaptiveStep* step, const knState* welded, const knTwist* u,
					  double h, knVec3 drift) {
	Search search = { .step = step,
					  .collider = step->context->collider,
					  .arena = step->context->arena,
					  .h = h,
					  .drift = knScale(h, drift) };
	*out = (knWeldSearch){ 0 };
	return listMovers(&search, welded, u) && crossMovers(&search) && sortPairs(&search, out) &&
		   listLinks(&search, out);
}
