// Segments of a hybrid body: where their links are, cutting and welding (hybrid_forest.h).
//
// Welding keeps momentum: with parts of mass m, inertia I about their centres x, velocities (w, u), and M, c, J of the
// whole,  M u' = sum m u,  J w' = sum I w + m (x - c) x u.  That is the rigid motion nearest to the parts' in the metric of
// the masses, so kinetic energy never rises; the joints around are projected by the reduced stepper's own reading of
// velocities, which does the same for the tree (reduced_velocity.c).
#include "steppers/adaptive/hybrid_forest.h"

#include "core/sort.h"

#include <string.h>

// --- the part of the state -----------------------------------------------------------------------------------------

typedef struct Layout {
	size_t nodes, links, segments, memory, fronts, others, contacts, joints, end;
} Layout;

static size_t after(size_t offset, size_t count, size_t size) {
	return (offset + count * size + 63) & ~(size_t)63;
}

static Layout layOut(int bodyCount, int contactCount, int jointRowCount) {
	size_t bodies = (size_t)bodyCount;
	Layout at;
	at.nodes = after(0, 1, sizeof(knHybridForestHeader));
	at.links = after(at.nodes, 2 * bodies, sizeof(knHybridNode));
	at.segments = after(at.links, bodies, sizeof(knHybridLink));
	at.memory = after(at.segments, bodies, sizeof(knSegment));
	at.fronts = after(at.memory, bodies, sizeof(knLinkMemory));
	at.others = after(at.fronts, bodies, sizeof(int32_t));
	at.contacts = after(at.others, bodies, sizeof(int32_t));
	at.joints = after(at.contacts, (size_t)contactCount, sizeof(knContactMemory));
	at.end = after(at.joints, (size_t)jointRowCount, sizeof(knJointMemory));
	return at;
}

size_t knHybridForest_Size(int bodyCount, int contactCount, int jointRowCount) {
	return layOut(bodyCount, contactCount, jointRowCount).end;
}

static void view(knHybridForest* hybrid, const knState* state, int bodyCount, int contactCount,
				 int jointRowCount) {
	char* part = state->stepperPart;
	Layout at = layOut(bodyCount, contactCount, jointRowCount);
	knJournal* journal = hybrid->journal;
	*hybrid = (knHybridForest){ .header = (knHybridForestHeader*)part,
								.nodes = (knHybridNode*)(part + at.nodes),
								.links = (knHybridLink*)(part + at.links),
								.segments = (knSegment*)(part + at.segments),
								.memory = (knLinkMemory*)(part + at.memory),
								.fronts = (int32_t*)(part + at.fronts),
								.others = (int32_t*)(part + at.others),
								.contacts = (knContactMemory*)(part + at.contacts),
								.joints = (knJointMemory*)(part + at.joints),
								.journal = journal,
								.state = state };
}

bool knHybridForest_Open(knHybridForest* hybrid, const knState* state, const knModel* model) {
	const knHybridForestHeader* header = state->stepperPart;
	uint64_t size = state->header->privateSize;
	bool sound = size >= sizeof(*header) && size <= state->header->privateCapacity && header->dt > 0.0 &&
				 header->bodyCount == model->bodyCount && header->jointCount == model->jointCount &&
				 header->contactCount >= 0 && header->jointRowCount >= 0 &&
				 knHybridForest_Size(header->bodyCount, header->contactCount, header->jointRowCount) == size;
	if (sound) {
		view(hybrid, state, header->bodyCount, header->contactCount, header->jointRowCount);
	}
	return sound;
}

bool knHybridForest_Resize(knHybridForest* hybrid, knState* state, const knModel* model, int contactCount,
						   int jointRowCount, const knAllocator* allocator) {
	size_t size = knHybridForest_Size(model->bodyCount, contactCount, jointRowCount);
	if (size > state->header->privateCapacity &&
		!knState_Grow(state, model, (size_t)state->header->touchCapacity, size, allocator)) {
		return false;
	}
	state->header->privateSize = size;
	view(hybrid, state, model->bodyCount, contactCount, jointRowCount);
	hybrid->header->contactCount = contactCount;
	hybrid->header->jointRowCount = jointRowCount;
	return true;
}

// --- where links are -----------------------------------------------------------------------------------------------

int knHybridForest_Locate(const knHybridForest* hybrid, int body, knFrame* inRoot) {
	int node = hybrid->header->bodyCount + body;
	*inRoot = knIdentityF();
	if (hybrid->segments[body].node != KN_NODE_NONE) {
		return body;
	}
	for (;;) {
		int above = hybrid->nodes[node].parent;
		if (above == KN_NODE_NONE || hybrid->nodes[above].active) {
			return hybrid->nodes[node].root;
		}
		if (hybrid->nodes[above].right == node && !hybrid->nodes[above].ground) {
			*inRoot = knMulF(hybrid->nodes[above].place, *inRoot);
		}
		node = above;
	}
}

knVec3 knHybridForest_Center(const knHybridForest* hybrid, int root) {
	return hybrid->nodes[hybrid->segments[root].node].center;
}

bool knHybridForest_IsGrounded(const knHybridForest* hybrid, int root) {
	return hybrid->nodes[hybrid->segments[root].node].ground != 0;
}

knFrame knHybridForest_RootPose(const knHybridForest* hybrid, int root) {
	const knSegment* segment = &hybrid->segments[root];
	knVec3 center = hybrid->nodes[segment->node].center;
	return knMakeFrame(knSub(segment->pose.p, knRotate(segment->pose.q, center)), segment->pose.q);
}

static knTwist movedTo(knTwist velocity, knVec3 from, knVec3 to) {
	velocity.lin = knAdd(velocity.lin, knCross(velocity.ang, knSub(to, from)));
	return velocity;
}

int knHybridForest_FindLink(const knHybridForest* hybrid, int body, knLinkPath* path) {
	int node = hybrid->header->bodyCount + body;
	path->count = 0;
	if (hybrid->segments[body].node != KN_NODE_NONE) {
		return body;
	}
	for (;;) {
		int above = hybrid->nodes[node].parent;
		if (above == KN_NODE_NONE || hybrid->nodes[above].active) {
			return hybrid->nodes[node].root;
		}
		if (hybrid->nodes[above].right == node && !hybrid->nodes[above].ground) {
			KN_ASSERT(path->count < KN_LINK_PATH_MAX);
			path->nodes[path->count++] = above;
		}
		node = above;
	}
}

int knHybridForest_FindParent(knHybridForest* hybrid, int root, knFrame* link) {
	knSegment* segment = &hybrid->segments[root];
	if (segment->parentSerial == 0 || hybrid->segments[segment->parentRoot].serial != segment->parentSerial) {
		knHybridForest_Keep(hybrid, segment, sizeof(*segment));
		segment->parentRoot = knHybridForest_Locate(hybrid, hybrid->links[root].parent, &segment->parentLink);
		segment->parentLink.p =
			knSub(segment->parentLink.p, knHybridForest_Center(hybrid, segment->parentRoot));
		segment->parentSerial = hybrid->segments[segment->parentRoot].serial;
	}
	*link = segment->parentLink;
	return segment->parentRoot;
}

// The same arithmetic as below, so that a link has one pose, whoever asks.
void knHybridForest_PlaceLink(const knHybridForest* hybrid, int root, const knLinkPath* path, knFrame pose,
							  knTwist velocity, knFrame* linkPose, knTwist* linkVelocity) {
	knVec3 center = hybrid->nodes[hybrid->segments[root].node].center;
	knFrame at = knMakeFrame(knSub(pose.p, knRotate(pose.q, center)), pose.q);
	for (int k = path->count - 1; k >= 0; --k) {
		at = knMulF(at, hybrid->nodes[path->nodes[k]].place);
	}
	at.q = knNormalizeQ(at.q);
	*linkPose = at;
	*linkVelocity = movedTo(velocity, pose.p, at.p);
}

void knHybridForest_LinkMotion(const knHybridForest* hybrid, int body, knFrame* pose, knTwist* velocity) {
	knLinkPath path;
	int root = knHybridForest_FindLink(hybrid, body, &path);
	const knSegment* segment = &hybrid->segments[root];
	knHybridForest_PlaceLink(hybrid, root, &path, segment->pose, segment->velocity, pose, velocity);
}

// Depth first, right parts first: those halve, while left parts may be deep where a link has many children.
void knHybridForest_PlaceLinks(const knHybridForest* hybrid, int root, knFrame pose, knTwist velocity,
							   knFrame* poses, knTwist* velocities) {
	enum { WAITING = 96 };
	struct {
		int node;
		knFrame at;
	} stack[WAITING];
	int waiting = 0, node = hybrid->segments[root].node;
	knVec3 center = hybrid->nodes[node].center;
	knFrame at = knMakeFrame(knSub(pose.p, knRotate(pose.q, center)), pose.q);
	for (;;) {
		const knHybridNode* part = &hybrid->nodes[node];
		if (knHybridForest_IsLeaf(part)) {
			int body = part->root;
			at.q = knNormalizeQ(at.q);
			poses[body] = at;
			velocities[body] = movedTo(velocity, pose.p, at.p);
			if (waiting == 0) {
				return;
			}
			node = stack[--waiting].node;
			at = stack[waiting].at;
		} else {
			if (!part->ground) {
				KN_ASSERT(waiting < WAITING);
				stack[waiting].node = part->left;
				stack[waiting++].at = at;
				at = knMulF(at, part->place);
			}
			node = part->right;
		}
	}
}

// --- cutting and welding -------------------------------------------------------------------------------------------

static void makeSegment(knHybridForest* hybrid, int node, knFrame rootPose, knTwist velocity, knVec3 at) {
	const knHybridNode* part = &hybrid->nodes[node];
	knSegment* segment = &hybrid->segments[part->root];
	segment->node = node;
	segment->serial = ++hybrid->header->serial;
	segment->pose = knMakeFrame(knPoint(rootPose, part->center), rootPose.q);
	segment->velocity = movedTo(velocity, at, segment->pose.p);
}

static void keepChange(const knHybridForest* hybrid, int node) {
	const knHybridNode* whole = &hybrid->nodes[node];
	int right = hybrid->nodes[whole->right].root;
	knHybridForest_Keep(hybrid, whole, sizeof(*whole));
	knHybridForest_Keep(hybrid, &hybrid->segments[whole->root], sizeof(knSegment));
	knHybridForest_Keep(hybrid, &hybrid->segments[right], sizeof(knSegment));
	knHybridForest_Keep(hybrid, &hybrid->memory[whole->root], sizeof(knLinkMemory));
	knHybridForest_Keep(hybrid, &hybrid->memory[right], sizeof(knLinkMemory));
}

void knHybridForest_Split(knHybridForest* hybrid, int node) {
	knHybridNode* whole = &hybrid->nodes[node];
	KN_ASSERT(hybrid->segments[whole->root].node == node && !knHybridForest_IsLeaf(whole));
	knSegment old = hybrid->segments[whole->root];
	knFrame rootPose = knHybridForest_RootPose(hybrid, whole->root);
	keepChange(hybrid, node);
	knHybridForest_Keep(hybrid, &hybrid->fronts[hybrid->header->frontCount], sizeof(int32_t));
	whole->active = 1;
	++hybrid->header->activeCount;
	if (whole->ground) {
		makeSegment(hybrid, whole->right, rootPose, old.velocity, old.pose.p);
		return;
	}
	knFrame right = knMulF(rootPose, whole->place);
	right.q = knNormalizeQ(right.q);
	makeSegment(hybrid, whole->left, rootPose, old.velocity, old.pose.p);
	makeSegment(hybrid, whole->right, right, old.velocity, old.pose.p);
	hybrid->fronts[hybrid->header->frontCount++] = hybrid->nodes[whole->right].root;
	// a segment whose centre moved has other coordinates if it floats
	hybrid->memory[whole->root].via =
		hybrid->links[whole->root].joint < 0 ? -2 : hybrid->memory[whole->root].via;
	knLinkMemory* memory = &hybrid->memory[hybrid->nodes[whole->right].root];
	for (int k = 0; k < 6; ++k) {
		memory->v[k] = 0.0;
	}
}

// Inertia about `center` of a part at `at`, in the axes of the whole.
static knMat33 shiftedInertia(const knHybridNode* part, knQuat turn, knVec3 arm) {
	knMat33 inertia = knRotateTensor(turn, &part->inertia), skew = knSkew(arm),
			square = knMulMM(&skew, &skew);
	square = knScaleM(-part->mass, &square);
	return knAddMM(&inertia, &square);
}

static void joinBalls(const knHybridNode* left, const knHybridNode* right, knHybridNode* whole) {
	knVec3 b = knPoint(whole->place, right->middle), way = knSub(b, left->middle);
	double distance = knLength(way);
	if (right->radius <= 0.0 || distance + right->radius <= left->radius) {
		whole->middle = left->middle;
		whole->radius = left->radius;
	} else if (left->radius <= 0.0 || distance + left->radius <= right->radius) {
		whole->middle = b;
		whole->radius = right->radius;
	} else {
		whole->radius = 0.5 * (distance + left->radius + right->radius);
		whole->middle = knMulAdd(left->middle, (whole->radius - left->radius) / distance, way);
	}
}

static double weighted(double a, double m, double b, double n) {
	return m + n > 0.0 ? (a * m + b * n) / (m + n) : 0.0;
}

static double trace(const knMat33* m) {
	return m->cx.x + m->cy.y + m->cz.z;
}

static void joinParts(knHybridForest* hybrid, knHybridNode* whole, knFrame left, knFrame right) {
	const knHybridNode *a = &hybrid->nodes[whole->left], *b = &hybrid->nodes[whole->right];
	whole->place = knInvMulF(left, right);
	whole->place.q = knNormalizeQ(whole->place.q);
	whole->mass = a->mass + b->mass;
	knVec3 centerB = knPoint(whole->place, b->center);
	whole->center = knScale(1.0 / whole->mass, knMulAdd(knScale(a->mass, a->center), b->mass, centerB));
	knMat33 A = shiftedInertia(a, knIdentityQ(), knSub(a->center, whole->center));
	knMat33 B = shiftedInertia(b, whole->place.q, knSub(centerB, whole->center));
	whole->inertia = knAddMM(&A, &B);
	joinBalls(a, b, whole);
	whole->thinness = a->thinness > 0.0 && b->thinness > 0.0 ? knMin(a->thinness, b->thinness)
															 : knMax(a->thinness, b->thinness);
	// the drag of turning about the common centre is that of the parts' motion for what the parts' own spin is not
	double own = trace(&a->inertia) + trace(&b->inertia), all = trace(&whole->inertia);
	double spin = weighted(a->angularDamping, trace(&a->inertia), b->angularDamping, trace(&b->inertia));
	whole->linearDamping = weighted(a->linearDamping, a->mass, b->linearDamping, b->mass);
	whole->angularDamping = weighted(spin, own, whole->linearDamping, all - own);
}

static knVec3 spinOf(const knHybridNode* part, const knSegment* segment) {
	knMat33 inertia = knRotateTensor(segment->pose.q, &part->inertia);
	return knMulMV(&inertia, segment->velocity.ang);
}

static void joinMotion(knHybridForest* hybrid, const knHybridNode* whole, const knSegment* a,
					   const knSegment* b, knFrame rootPose) {
	const knHybridNode *left = &hybrid->nodes[whole->left], *right = &hybrid->nodes[whole->right];
	knVec3 center = knPoint(rootPose, whole->center);
	knVec3 momentum = knMulAdd(knScale(left->mass, a->velocity.lin), right->mass, b->velocity.lin);
	knVec3 u = knScale(1.0 / whole->mass, momentum);
	knVec3 spin = knAdd(spinOf(left, a), spinOf(right, b));
	spin = knMulAdd(spin, left->mass, knCross(knSub(a->pose.p, center), knSub(a->velocity.lin, u)));
	spin = knMulAdd(spin, right->mass, knCross(knSub(b->pose.p, center), knSub(b->velocity.lin, u)));
	knMat33 inertia = knRotateTensor(rootPose.q, &whole->inertia), inverse = knInverse33(&inertia);
	knSegment* segment = &hybrid->segments[whole->root];
	segment->pose = knMakeFrame(center, rootPose.q);
	segment->velocity = knMakeTwist(knMulMV(&inverse, spin), u);
}

static void weldToGround(knHybridForest* hybrid, knHybridNode* whole) {
	const knHybridNode* part = &hybrid->nodes[whole->right];
	whole->mass = 0.0;
	whole->center = part->center;
	whole->inertia = part->inertia;
	whole->middle = part->middle;
	whole->radius = part->radius;
	whole->thinness = part->thinness;
	hybrid->segments[whole->root].velocity = knZeroTwist();
}

void knHybridForest_Freeze(knHybridForest* hybrid, int node) {
	knHybridNode* whole = &hybrid->nodes[node];
	int rightRoot = hybrid->nodes[whole->right].root;
	KN_ASSERT(whole->active && hybrid->segments[rightRoot].node == whole->right);
	keepChange(hybrid, node);
	whole->active = 0;
	--hybrid->header->activeCount;
	hybrid->segments[whole->root].serial = ++hybrid->header->serial;
	if (whole->ground) {
		weldToGround(hybrid, whole);
		hybrid->segments[whole->root].node = node;
		return;
	}
	KN_ASSERT(hybrid->segments[whole->root].node == whole->left);
	knSegment a = hybrid->segments[whole->root], b = hybrid->segments[rightRoot];
	knFrame left = knHybridForest_RootPose(hybrid, whole->root),
			right = knHybridForest_RootPose(hybrid, rightRoot);
	joinParts(hybrid, whole, left, right);
	joinMotion(hybrid, whole, &a, &b, left);
	hybrid->segments[whole->root].node = node;
	hybrid->segments[rightRoot].node = KN_NODE_NONE;
	hybrid->segments[rightRoot].serial = ++hybrid->header->serial;
	hybrid->memory[whole->root].via =
		hybrid->links[whole->root].joint < 0 ? -2 : hybrid->memory[whole->root].via;
}

bool knHybridForest_ListFronts(knHybridForest* hybrid, knArena* arena) {
	int count = 0;
	knKeyed* keys = KN_SCRATCH(arena, knKeyed, hybrid->header->frontCount);
	if (keys == NULL) {
		return false;
	}
	for (int k = 0; k < hybrid->header->frontCount; ++k) {
		int root = hybrid->fronts[k];
		if (hybrid->segments[root].node != KN_NODE_NONE) {
			keys[count++] = (knKeyed){ (uint64_t)hybrid->links[root].rank, (uint32_t)root };
		}
	}
	if (!knSort_Keys(keys, count, arena)) {
		return false;
	}
	for (int k = 0; k < count; ++k) {
		hybrid->fronts[k] = (int32_t)keys[k].value;
	}
	hybrid->header->frontCount = count;
	return true;
}
