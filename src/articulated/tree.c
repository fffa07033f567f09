// Trees: creation with its checks, coordinates, and the room that calls work in.
#include "articulated/tree.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"

#define MAX_LINKS 10000000

// --- checks ----------------------------------------------------------------------------------------------

static const char* linkName(const knTreeLink* links, int i, char buffer[32]) {
	if (links[i].name != NULL) {
		return links[i].name;
	}
	snprintf(buffer, 32, "link %d", i);
	return buffer;
}

// The principal moments of a body fulfil a + b >= c; for any axes: trace/2 - I is semidefinite.
static bool isInertia(const knMat33* I) {
	double half = 0.5 * (I->cx.x + I->cy.y + I->cz.z), slack = 1e-9 * half;
	double a = half - I->cx.x + slack, b = half - I->cy.y + slack, c = half - I->cz.z + slack;
	double d = -I->cy.x, e = -I->cz.x, f = -I->cz.y;
	double determinant = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e);
	return half > 0.0 && a >= 0.0 && b >= 0.0 && c >= 0.0 && a * b - d * d >= -slack * half &&
		   a * c - e * e >= -slack * half && b * c - f * f >= -slack * half &&
		   determinant >= -slack * half * half;
}

static bool isPositive(const knMat33* I) {
	double minor = I->cx.x * I->cy.y - I->cy.x * I->cy.x;
	return I->cx.x > 0.0 && minor > 0.0 &&
		   I->cx.x * (I->cy.y * I->cz.z - I->cz.y * I->cz.y) -
				   I->cy.x * (I->cy.x * I->cz.z - I->cz.y * I->cz.x) +
				   I->cz.x * (I->cy.x * I->cz.y - I->cy.y * I->cz.x) >
			   0.0;
}

static bool isFrame(knFrame frame) {
	return knIsFiniteF(frame) && knAbs(knDotQ(frame.q, frame.q) - 1.0) < 1e-6;
}

static bool isFiniteMat(const knMat33* m) {
	return knIsFinite3(m->cx) && knIsFinite3(m->cy) && knIsFinite3(m->cz);
}

static bool isSymmetric(const knMat33* m) {
	double size = 1e-9 * (knAbs(m->cx.x) + knAbs(m->cy.y) + knAbs(m->cz.z));
	return knAbs(m->cx.y - m->cy.x) <= size && knAbs(m->cx.z - m->cz.x) <= size &&
		   knAbs(m->cy.z - m->cz.y) <= size;
}

static knStatus checkLink(const knTreeLink* links, int i, knError* error) {
	const knTreeLink* link = &links[i];
	char buffer[32];
	const char* name = linkName(links, i, buffer);
	if (link->parent >= i || link->parent < -1) {
		return knError_Set(error, KN_BAD_DATA, name,
						   "%s (number %d) has parent %d; a parent must come before its "
						   "children, and -1 is the base",
						   name, i, link->parent);
	}
	if ((unsigned)link->kind >= KN_JOINT_KIND_COUNT || link->kind == KN_JOINT_CUSTOM) {
		return knError_Set(error, KN_BAD_DATA, name, "%s hangs on a joint that trees do not have", name);
	}
	if (!isFrame(link->frameParent) || !isFrame(link->frameChild)) {
		return knError_Set(error, KN_BAD_DATA, name,
						   "%s has a joint frame that is not finite or whose rotation is no unit quaternion",
						   name);
	}
	if (!knIsFinite(link->mass.mass) || !knIsFinite3(link->mass.center) ||
		!isFiniteMat(&link->mass.inertia)) {
		return knError_Set(error, KN_BAD_DATA, name, "%s has a mass, centre or inertia that is not finite",
						   name);
	}
	if (link->mass.mass <= 0.0) {
		return knError_Set(error, KN_BAD_DATA, name, "%s has mass %g; it must be positive", name,
						   link->mass.mass);
	}
	if (!isSymmetric(&link->mass.inertia) || !isPositive(&link->mass.inertia)) {
		return knError_Set(error, KN_BAD_DATA, name,
						   "%s has an inertia that is not symmetric and positive definite", name);
	}
	if (!isInertia(&link->mass.inertia)) {
		return knError_Set(
			error, KN_BAD_DATA, name,
			"%s has an inertia that no body can have: one principal moment exceeds the sum of the "
			"other two",
			name);
	}
	return KN_OK;
}

// --- creation --------------------------------------------------------------------------------------------

static void storeVec(knVec3 v, double* numbers) {
	numbers[0] = v.x;
	numbers[1] = v.y;
	numbers[2] = v.z;
}

static void compileNode(knTree* tree, const knTreeLink* link, int i) {
	knTreeNode* node = &tree->nodes[i];
	const knJointOps* ops = knJointOps_Get(link->kind);
	node->parent = link->parent;
	node->kind = link->kind;
	node->nv = ops->nv;
	node->vOffset = tree->nv;
	node->qOffset = tree->nq;
	tree->nv += ops->nv;
	tree->nq += ops->nq;
	tree->joints[i] = (knJoint){ .kind = link->kind, .nq = ops->nq, .nv = ops->nv };
	tree->inLink[i] = link->frameChild;

	knFrame parent = link->parent >= 0 ? tree->inLink[link->parent] : knIdentityF();
	knFrame rest = tree->rest[i] = knInvMulF(parent, link->frameParent);
	knMat33 turn = knQuat_ToMat33(rest.q);
	storeVec(turn.cx, node->turn);
	storeVec(turn.cy, node->turn + 3);
	storeVec(turn.cz, node->turn + 6);
	storeVec(rest.p, node->shift);

	// mass properties in the child joint frame, inertia about its origin
	knMassProps props = knMassProps_Transform(&link->mass, knInvF(link->frameChild));
	tree->mass[i] = props;
	knMat33 skew = knSkew(props.center), square = knMulMM(&skew, &skew);
	square = knScaleM(-props.mass, &square);
	knMat33 origin = knAddMM(&props.inertia, &square);
	storeVec(origin.cx, node->inertia);
	node->inertia[3] = origin.cy.y;
	node->inertia[4] = origin.cz.y;
	node->inertia[5] = origin.cz.z;
	storeVec(knScale(props.mass, props.center), node->momentArm);
	node->mass = props.mass;
}

// A link's slot is in use from its last child (taken first) to itself; slots are handed on, so that a chain needs
// one.
static void assignSlots(knTree* tree, int* free) {
	int freeCount = 0;
	tree->slotCount = 0;
	for (int i = 0; i < tree->count; ++i) {
		tree->nodes[i].gathers = tree->nodes[i].opens = false;
	}
	for (int i = tree->count - 1; i >= 0; --i) {
		knTreeNode* node = &tree->nodes[i];
		if (node->gathers) {
			free[freeCount++] = node->slot;
		}
		knTreeNode* parent = node->parent >= 0 ? &tree->nodes[node->parent] : NULL;
		if (parent != NULL && !parent->gathers) {
			parent->gathers = node->opens = true;
			parent->slot = freeCount > 0 ? free[--freeCount] : tree->slotCount++;
		}
	}
}

// Ways to the root through velocity coordinates, for factors of the mass matrix.
static void findWays(knTree* tree) {
	for (int i = 0; i < tree->count; ++i) {
		const knTreeNode* node = &tree->nodes[i];
		int p = node->parent;
		while (p >= 0 && tree->nodes[p].nv == 0) {
			p = tree->nodes[p].parent;
		}
		int before = p >= 0 ? tree->nodes[p].vOffset + tree->nodes[p].nv - 1 : -1;
		for (int k = node->vOffset; k < node->vOffset + node->nv; ++k) {
			tree->above[k] = before;
			tree->runStart[k] = before >= 0 && before == k - 1 ? tree->runStart[before] : k;
			before = k;
		}
	}
}

void knTree_Connect(knTree* tree, int* room) {
	assignSlots(tree, room);
	findWays(tree);
}

static bool connectNew(knTree* tree) {
	tree->above = knAllocArray(&tree->allocator, (size_t)tree->nv, sizeof(int));
	tree->runStart = knAllocArray(&tree->allocator, (size_t)tree->nv, sizeof(int));
	int* room = knAllocArray(&tree->allocator, (size_t)tree->count, sizeof(int));
	bool enough = (tree->nv == 0 || (tree->above != NULL && tree->runStart != NULL)) &&
				  (tree->count == 0 || room != NULL);
	if (enough) {
		knTree_Connect(tree, room);
	}
	knFree(&tree->allocator, room, (size_t)tree->count * sizeof(int));
	return enough;
}

knTree* knTree_Create(const knTreeLink* links, int count, const knAllocator* allocator, knError* error) {
	if (count < 0 || count > MAX_LINKS || (links == NULL && count > 0)) {
		knError_Set(error, KN_BAD_ARGUMENT, "tree", "a tree has 0 to %d links", MAX_LINKS);
		return NULL;
	}
	for (int i = 0; i < count; ++i) {
		if (checkLink(links, i, error) != KN_OK) {
			return NULL;
		}
	}
	knAllocator source = allocator != NULL ? *allocator : knAllocator_Default();
	knTree* tree = knAllocZero(&source, sizeof(knTree));
	if (tree != NULL) {
		tree->allocator = source;
		tree->kernel = knTreeKernel_Best();
		tree->count = count;
		tree->nodes = knAllocZero(&source, (size_t)count * sizeof(knTreeNode));
		tree->joints = knAllocZero(&source, (size_t)count * sizeof(knJoint));
		tree->inLink = knAllocZero(&source, (size_t)count * sizeof(knFrame));
		tree->rest = knAllocZero(&source, (size_t)count * sizeof(knFrame));
		tree->mass = knAllocZero(&source, (size_t)count * sizeof(knMassProps));
	}
	bool room =
		tree != NULL && (count == 0 || (tree->nodes != NULL && tree->joints != NULL && tree->inLink != NULL &&
										tree->rest != NULL && tree->mass != NULL));
	for (int i = 0; room && i < count; ++i) {
		compileNode(tree, &links[i], i);
	}
	if (!room || !connectNew(tree)) {
		knTree_Destroy(tree);
		knError_Set(error, KN_NO_MEMORY, "tree", "out of memory");
		return NULL;
	}
	return tree;
}

void knTree_Destroy(knTree* tree) {
	if (tree == NULL) {
		return;
	}
	knAllocator allocator = tree->allocator;
	size_t n = (size_t)tree->count;
	knFree(&allocator, tree->nodes, n * sizeof(knTreeNode));
	knFree(&allocator, tree->joints, n * sizeof(knJoint));
	knFree(&allocator, tree->above, (size_t)tree->nv * sizeof(int));
	knFree(&allocator, tree->runStart, (size_t)tree->nv * sizeof(int));
	knFree(&allocator, tree->inLink, n * sizeof(knFrame));
	knFree(&allocator, tree->rest, n * sizeof(knFrame));
	knFree(&allocator, tree->mass, n * sizeof(knMassProps));
	knFree(&allocator, tree, sizeof(knTree));
}

// --- access ----------------------------------------------------------------------------------------------

int knTree_LinkCount(const knTree* tree) {
	return tree->count;
}

int knTree_CoordinateCount(const knTree* tree) {
	return tree->nq;
}

int knTree_VelocityCount(const knTree* tree) {
	return tree->nv;
}

int knTree_CoordinateOffset(const knTree* tree, int link) {
	return tree->nodes[link].qOffset;
}

int knTree_VelocityOffset(const knTree* tree, int link) {
	return tree->nodes[link].vOffset;
}

int knTree_LinkVelocityCount(const knTree* tree, int link) {
	return tree->nodes[link].nv;
}

int knTree_Parent(const knTree* tree, int link) {
	return tree->nodes[link].parent;
}

void knTree_NeutralCoordinates(const knTree* tree, double* q) {
	for (int i = 0; i < tree->count; ++i) {
		knJoint_NeutralCoordinates(&tree->joints[i], q + tree->nodes[i].qOffset);
	}
}

void knTree_Integrate(const knTree* tree, double* q, const double* v, double h) {
	for (int i = 0; i < tree->count; ++i) {
		const knTreeNode* node = &tree->nodes[i];
		knJointOps_Get(node->kind)->integrate(&tree->joints[i], q + node->qOffset, v + node->vOffset, h);
	}
}

// --- work ------------------------------------------------------------------------------------------------

// Parts of one block, each on a border of 64 bytes.
static void* carve(char* block, size_t* at, size_t size) {
	void* part = block != NULL ? block + *at : NULL;
	*at += (size + 63) & ~(size_t)63;
	return part;
}

static size_t layOut(knTreeWork* work, const knTree* tree, char* block) {
	size_t n = (size_t)tree->count, nv = (size_t)tree->nv, at = 0;
	bool wide = false;
	for (int i = 0; i < tree->count; ++i) {
		wide = wide || knTreeNode_IsWide(&tree->nodes[i]);
	}
	work->base = carve(block, &at, sizeof(knTreeBase));
	work->sine = carve(block, &at, ((size_t)tree->nq + 4) * sizeof(double));
	work->cosine = carve(block, &at, ((size_t)tree->nq + 4) * sizeof(double));
	work->pose = carve(block, &at, n * sizeof(knTreePose));
	work->velocity = carve(block, &at, n * sizeof(knTreeMotion));
	work->motion = carve(block, &at, n * sizeof(knTreeMotion));
	work->force = carve(block, &at, n * sizeof(knTreeForce));
	work->rigid = carve(block, &at, n * sizeof(knTreeRigid));
	work->joint = carve(block, &at, n * sizeof(knTreeJoint));
	work->wide = carve(block, &at, wide ? n * sizeof(knTreeWideJoint) : 0);
	work->S = carve(block, &at, nv * sizeof(knTreeMotion));
	work->slots = carve(block, &at, (size_t)tree->slotCount * sizeof(knTreeShare));
	work->composite = carve(block, &at, n * sizeof(knTreeInertia));
	work->sums = carve(block, &at, n * sizeof(knTreeSums));
	work->columns = carve(block, &at, nv * sizeof(knTreeColumn));
	work->linkFrames = carve(block, &at, n * sizeof(knFrame));
	work->linkVelocities = carve(block, &at, n * sizeof(knTwist));
	work->origin = carve(block, &at, n * sizeof(knLanes));
	return at;
}

knTreeWork* knTreeWork_Create(const knTree* tree, const knAllocator* allocator, knError* error) {
	knAllocator source = allocator != NULL ? *allocator : knAllocator_Default();
	knTreeWork* work = knAllocZero(&source, sizeof(knTreeWork));
	if (work != NULL) {
		work->allocator = source;
		work->blockSize = layOut(work, tree, NULL);
		work->block = knAllocZero(&source, work->blockSize);
	}
	if (work == NULL || (work->block == NULL && work->blockSize > 0)) {
		knTreeWork_Destroy(work);
		knError_Set(error, KN_NO_MEMORY, "tree", "out of memory");
		return NULL;
	}
	layOut(work, tree, work->block);
	knTreeWork_SetBase(work, knIdentityF(), knZeroTwist());
	return work;
}

void knTreeWork_SetBase(knTreeWork* work, knFrame frame, knTwist velocity) {
	knMat33 axes = knQuat_ToMat33(frame.q);
	work->base->pose = (knTreePose){ knLanes_FromMat(&axes), knLanes_FromVec(frame.p) };
	work->base->velocity = (knTreeMotion){ knLanes_FromVec(velocity.ang), knLanes_FromVec(velocity.lin) };
}

void knTreeWork_SetDiagonal(knTreeWork* work, const double* diagonal) {
	work->diagonal = diagonal;
}

void knTreeWork_Destroy(knTreeWork* work) {
	if (work == NULL) {
		return;
	}
	knAllocator allocator = work->allocator;
	knFree(&allocator, work->block, work->blockSize);
	knFree(&allocator, work, sizeof(knTreeWork));
}
