// Hybrid bodies: rigid parts of the assembly tree and the welded tree over them. See hybrid.h.
//
// A part C of A and B, joined by joint c from link p of A:
//
//   frame of B in C     placement of p in A, joint at rest, what its coordinates do
//   inertia             that of A, and that of B turned and shifted
//   handles             those of A where they are, those of B placed with B
//
// The welded tree: segment s hangs on joint c in the segment that holds p, at the placement of p there.
#include "articulated/hybrid.h"

// --- placements --------------------------------------------------------------------------------------------

static const knPlacement identity = { { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 }, { 0.0, 0.0, 0.0 } };

static void turnBy(const double* turn, const double* v, double* out) {
	double x = v[0], y = v[1], z = v[2];
	for (int i = 0; i < 3; ++i) {
		out[i] = turn[i] * x + turn[3 + i] * y + turn[6 + i] * z;
	}
}

// outer * inner; `turn` and `shift` are the inner's.
static knPlacement place(const knPlacement* outer, const double* turn, const double* shift) {
	knPlacement out;
	for (int k = 0; k < 3; ++k) {
		turnBy(outer->turn, turn + 3 * k, out.turn + 3 * k);
	}
	turnBy(outer->turn, shift, out.shift);
	for (int k = 0; k < 3; ++k) {
		out.shift[k] += outer->shift[k];
	}
	return out;
}

static knPlacement placementOf(knFrame frame) {
	knMat33 R = knQuat_ToMat33(frame.q);
	return (knPlacement){ { R.cx.x, R.cx.y, R.cx.z, R.cy.x, R.cy.y, R.cy.z, R.cz.x, R.cz.y, R.cz.z },
						  { frame.p.x, frame.p.y, frame.p.z } };
}

static knFrame frameOf(const knPlacement* placement) {
	const double *R = placement->turn, *r = placement->shift;
	knMat33 turn = knMakeMat33(knV3(R[0], R[1], R[2]), knV3(R[3], R[4], R[5]), knV3(R[6], R[7], R[8]));
	return knMakeFrame(knV3(r[0], r[1], r[2]), knQuat_FromMat33(&turn));
}

// --- parts -------------------------------------------------------------------------------------------------

static int handleIndex(const knAssemblyNode* node, int link) {
	for (int i = 0; i < node->handleCount; ++i) {
		if (node->handle[i] == link) {
			return i;
		}
	}
	KN_ASSERT(false);
	return 0;
}

// Where a handle is in a part that is known.
static const knPlacement* handlePlacement(const knHybrid* hybrid, int node, int link) {
	const knAssembly* assembly = hybrid->assembly;
	return knAssembly_IsJoint(assembly, node)
			   ? &hybrid->parts[node].handle[handleIndex(&assembly->nodes[node], link)]
			   : &identity;
}

static void readInertia(const knHybrid* hybrid, int node, knRigidPart* out) {
	const knAssembly* assembly = hybrid->assembly;
	if (knAssembly_IsJoint(assembly, node)) {
		*out = hybrid->parts[node];
		return;
	}
	*out = (knRigidPart){ 0 };
	int link = node - assembly->count;
	if (link < assembly->count) {
		const knTreeNode* own = &hybrid->tree->nodes[link];
		for (int i = 0; i < 6; ++i) {
			out->inertia[i] = own->inertia[i];
		}
		for (int i = 0; i < 3; ++i) {
			out->momentArm[i] = own->momentArm[i];
		}
		out->mass = own->mass;
	}
}

// Adds B's inertia, seen from the frame in which it has `at`: with h = R hB turned,
//   J = R JB R^T + (2 h.r + m r.r) 1 - h r^T - r h^T - m r r^T.
static void addInertia(knRigidPart* sum, const knRigidPart* B, const knPlacement* at) {
	static const int rows[6] = { 0, 0, 0, 1, 1, 2 }, columns[6] = { 0, 1, 2, 1, 2, 2 };
	const double *I = B->inertia, *R = at->turn, *r = at->shift;
	double full[9] = { I[0], I[1], I[2], I[1], I[3], I[4], I[2], I[4], I[5] }, half[9], h[3];
	for (int k = 0; k < 3; ++k) {
		turnBy(R, full + 3 * k, half + 3 * k);
	}
	turnBy(R, B->momentArm, h);
	double m = B->mass;
	double both =
		2.0 * (h[0] * r[0] + h[1] * r[1] + h[2] * r[2]) + m * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
	for (int k = 0; k < 6; ++k) {
		int i = rows[k], j = columns[k];
		double turned = half[i] * R[j] + half[3 + i] * R[3 + j] + half[6 + i] * R[6 + j];
		sum->inertia[k] += turned + (i == j ? both : 0.0) - h[i] * r[j] - r[i] * h[j] - m * r[i] * r[j];
	}
	for (int k = 0; k < 3; ++k) {
		sum->momentArm[k] += h[k] + m * r[k];
	}
	sum->mass += m;
}

static void composePart(knHybrid* hybrid, int joint, const double* q) {
	const knTree* tree = hybrid->tree;
	const knAssemblyNode* nodes = hybrid->assembly->nodes;
	const knAssemblyNode* own = &nodes[joint];
	const knTreeNode* link = &tree->nodes[joint];
	knRigidPart* part = &hybrid->parts[joint];
	knPlacement rest = place(handlePlacement(hybrid, own->left, link->parent), link->turn, link->shift);
	knPlacement moved =
		placementOf(knJointOps_Get(link->kind)->transform(&tree->joints[joint], q + link->qOffset));
	knPlacement right = place(&rest, moved.turn, moved.shift);
	if (own->top >= 0) {
		knRigidPart B;
		readInertia(hybrid, own->left, part);
		readInertia(hybrid, own->right, &B);
		addInertia(part, &B, &right);
	}
	part->right = right;
	for (int h = 0; h < own->handleCount; ++h) {
		bool inRight = false;
		for (int k = 0; k < nodes[own->right].handleCount; ++k) {
			inRight = inRight || nodes[own->right].handle[k] == own->handle[h];
		}
		const knPlacement* at = handlePlacement(hybrid, inRight ? own->right : own->left, own->handle[h]);
		part->handle[h] = inRight ? place(&right, at->turn, at->shift) : *at;
	}
	hybrid->known[joint] = true;
	++hybrid->partsMade;
}

// Parts inside before the part.
static void makePart(knHybrid* hybrid, int root, const double* q) {
	const knAssembly* assembly = hybrid->assembly;
	int node = root, from = assembly->nodes[root].parent, end = from;
	do {
		const knAssemblyNode* own = &assembly->nodes[node];
		int next = own->parent;
		if (knAssembly_IsJoint(assembly, node) && !hybrid->known[node]) {
			if (from == own->parent) {
				next = own->left;
			} else if (from == own->left) {
				next = own->right;
			} else {
				composePart(hybrid, node, q);
			}
		}
		from = node;
		node = next;
	} while (node != end);
}

// --- hybrid bodies -----------------------------------------------------------------------------------------

knHybrid* knHybrid_Create(const knAssembly* assembly, const knAllocator* allocator, knError* error) {
	knAllocator source = allocator != NULL ? *allocator : knAllocator_Default();
	knHybrid* hybrid = knAllocZero(&source, sizeof(knHybrid));
	size_t n = (size_t)assembly->count, nodes = (size_t)assembly->nodeCount;
	bool room = hybrid != NULL;
	if (room) {
		hybrid->allocator = source;
		hybrid->tree = assembly->tree;
		hybrid->assembly = assembly;
		hybrid->parts = knAllocZero(&source, n * sizeof(knRigidPart));
		hybrid->known = knAllocZero(&source, n * sizeof(bool));
		hybrid->handleSegment = knAllocZero(&source, nodes * sizeof(*hybrid->handleSegment));
		hybrid->key = knAllocZero(&source, 2 * n * sizeof(double));
		hybrid->heap = knAllocZero(&source, n * sizeof(int));
		hybrid->score = hybrid->key != NULL ? hybrid->key + n : NULL;
		room = hybrid->handleSegment != NULL && (n == 0 || (hybrid->parts != NULL && hybrid->known != NULL &&
															hybrid->key != NULL && hybrid->heap != NULL));
	}
	if (!room) {
		knHybrid_Destroy(hybrid);
		knError_Set(error, KN_NO_MEMORY, "hybrid body", "out of memory");
		return NULL;
	}
	return hybrid;
}

void knHybrid_Destroy(knHybrid* hybrid) {
	if (hybrid == NULL) {
		return;
	}
	knAllocator source = hybrid->allocator;
	size_t n = (size_t)hybrid->assembly->count, nodes = (size_t)hybrid->assembly->nodeCount;
	knFree(&source, hybrid->parts, n * sizeof(knRigidPart));
	knFree(&source, hybrid->known, n * sizeof(bool));
	knFree(&source, hybrid->handleSegment, nodes * sizeof(*hybrid->handleSegment));
	knFree(&source, hybrid->key, 2 * n * sizeof(double));
	knFree(&source, hybrid->heap, n * sizeof(int));
	knFree(&source, hybrid, sizeof(knHybrid));
}

void knHybrid_Forget(knHybrid* hybrid) {
	for (int i = 0; i < hybrid->assembly->count; ++i) {
		hybrid->known[i] = false;
	}
}

void knHybrid_ForgetJoint(knHybrid* hybrid, int joint) {
	for (int node = joint; node >= 0; node = hybrid->assembly->nodes[node].parent) {
		hybrid->known[node] = false;
	}
}

// --- welded bodies -----------------------------------------------------------------------------------------

static int lesser(int a, int b) {
	return a < b ? a : b;
}

static void* carve(char* block, size_t* at, size_t size) {
	void* part = block != NULL ? block + *at : NULL;
	*at += (size + 63) & ~(size_t)63;
	return part;
}

static size_t layOut(knWelded* body, const knHybrid* hybrid, int capacity, char* block) {
	size_t n = (size_t)capacity, nq = (size_t)lesser(hybrid->tree->nq, KN_JOINT_MAX_Q * capacity),
		   nv = (size_t)lesser(hybrid->tree->nv, KN_JOINT_MAX_V * capacity), at = 0;
	knTree* tree = &body->tree;
	tree->nodes = carve(block, &at, n * sizeof(knTreeNode));
	tree->joints = carve(block, &at, n * sizeof(knJoint));
	tree->above = carve(block, &at, nv * sizeof(int));
	tree->runStart = carve(block, &at, nv * sizeof(int));
	tree->inLink = carve(block, &at, n * sizeof(knFrame));
	tree->rest = carve(block, &at, n * sizeof(knFrame));
	tree->mass = carve(block, &at, n * sizeof(knMassProps));
	body->region.joints = carve(block, &at, n * sizeof(int));
	body->region.active = carve(block, &at, (size_t)hybrid->tree->count * sizeof(bool));
	body->node = carve(block, &at, n * sizeof(int));
	body->segmentOf = carve(block, &at, (size_t)hybrid->assembly->nodeCount * sizeof(int));
	body->q = carve(block, &at, nq * sizeof(double));
	body->v = carve(block, &at, nv * sizeof(double));
	body->impulses = carve(block, &at, n * sizeof(knTreeImpulse));
	body->room = carve(block, &at, n * sizeof(int));
	tree->count = tree->slotCount = capacity;
	tree->nq = (int)nq;
	tree->nv = (int)nv;
	return at;
}

// A work with room for any region: the tree says its largest sizes while it is made.
static bool makeWork(knWelded* body, const knHybrid* hybrid) {
	bool wide = false;
	for (int i = 0; i < hybrid->tree->count; ++i) {
		wide = wide || knTreeNode_IsWide(&hybrid->tree->nodes[i]);
	}
	for (int i = 0; i < body->tree.count; ++i) {
		body->tree.nodes[i].kind = wide ? KN_JOINT_FREE : KN_JOINT_HINGE;
	}
	body->work = knTreeWork_Create(&body->tree, &body->allocator, NULL);
	return body->work != NULL;
}

knWelded* knWelded_Create(const knHybrid* hybrid, int capacity, const knAllocator* allocator,
						  knError* error) {
	knAllocator source = allocator != NULL ? *allocator : knAllocator_Default();
	knWelded* body = knAllocZero(&source, sizeof(knWelded));
	capacity = lesser(capacity, hybrid->tree->count);
	bool room = body != NULL;
	if (room) {
		body->allocator = body->tree.allocator = source;
		body->tree.kernel = hybrid->tree->kernel;
		body->blockSize = layOut(body, hybrid, capacity, NULL);
		body->block = knAllocZero(&source, body->blockSize);
		room = body->block != NULL || body->blockSize == 0;
	}
	if (room) {
		layOut(body, hybrid, capacity, body->block);
		room = makeWork(body, hybrid);
	}
	if (!room) {
		knWelded_Destroy(body);
		knError_Set(error, KN_NO_MEMORY, "hybrid body", "out of memory");
		return NULL;
	}
	body->region.capacity = capacity;
	body->tree.count = body->tree.nq = body->tree.nv = body->tree.slotCount = 0;
	body->baseNode = hybrid->assembly->root;
	return body;
}

void knWelded_Destroy(knWelded* body) {
	if (body == NULL) {
		return;
	}
	knAllocator source = body->allocator;
	knTreeWork_Destroy(body->work);
	knFree(&source, body->block, body->blockSize);
	knFree(&source, body, sizeof(knWelded));
}

// --- welding -----------------------------------------------------------------------------------------------

// What hangs on an active joint: made when its first part, the segment, is reached.
static void hangSegment(const knHybrid* hybrid, knWelded* body, int joint) {
	const knTree* full = hybrid->tree;
	const knTreeNode* from = &full->nodes[joint];
	const knAssembly* assembly = hybrid->assembly;
	int left = assembly->nodes[joint].left, s = body->tree.count++;
	int parent = hybrid->handleSegment[left][handleIndex(&assembly->nodes[left], from->parent)];
	int holder = parent >= 0 ? body->node[parent] : body->baseNode;
	knPlacement at = place(handlePlacement(hybrid, holder, from->parent), from->turn, from->shift);
	knTreeNode* node = &body->tree.nodes[s];
	*node = (knTreeNode){ .parent = parent,
						  .kind = from->kind,
						  .nv = from->nv,
						  .vOffset = body->tree.nv,
						  .qOffset = body->tree.nq };
	for (int k = 0; k < 9; ++k) {
		node->turn[k] = at.turn[k];
	}
	for (int k = 0; k < 3; ++k) {
		node->shift[k] = at.shift[k];
	}
	body->tree.joints[s] = full->joints[joint];
	body->tree.rest[s] = frameOf(&at);
	body->tree.inLink[s] = full->inLink[joint];
	body->tree.nq += full->joints[joint].nq;
	body->tree.nv += from->nv;
	body->region.joints[s] = joint;
	body->region.active[joint] = true;
}

static knMassProps massOf(const knRigidPart* part) {
	const double* I = part->inertia;
	knVec3 h = knV3(part->momentArm[0], part->momentArm[1], part->momentArm[2]);
	knMassProps props = { .mass = part->mass, .center = knScale(1.0 / part->mass, h) };
	knMat33 origin = knMakeMat33(knV3(I[0], I[1], I[2]), knV3(I[1], I[3], I[4]), knV3(I[2], I[4], I[5]));
	knMat33 skew = knSkew(props.center), square = knMulMM(&skew, &skew);
	square = knScaleM(part->mass, &square);
	props.inertia = knAddMM(&origin, &square);
	return props;
}

// A part of the front: it belongs to the joint that was reached last, or to the base.
static void fillSegment(knHybrid* hybrid, knWelded* body, int node, const double* q) {
	const knAssemblyNode* own = &hybrid->assembly->nodes[node];
	int s = own->top >= 0 ? body->tree.count - 1 : -1;
	KN_ASSERT(s < 0 || body->region.joints[s] == own->top);
	makePart(hybrid, node, q);
	for (int h = 0; h < own->handleCount; ++h) {
		hybrid->handleSegment[node][h] = s;
	}
	if (s < 0) {
		body->baseNode = node;
		return;
	}
	knRigidPart part;
	readInertia(hybrid, node, &part);
	knTreeNode* segment = &body->tree.nodes[s];
	for (int i = 0; i < 6; ++i) {
		segment->inertia[i] = part.inertia[i];
	}
	for (int i = 0; i < 3; ++i) {
		segment->momentArm[i] = part.momentArm[i];
	}
	segment->mass = part.mass;
	body->tree.mass[s] = massOf(&part);
	body->node[s] = node;
	body->segmentOf[node] = s;
}

// Which segments hold the handles of an active node.
static void passHandles(knHybrid* hybrid, int joint) {
	const knAssemblyNode* nodes = hybrid->assembly->nodes;
	const knAssemblyNode* own = &nodes[joint];
	for (int h = 0; h < own->handleCount; ++h) {
		const int parts[2] = { own->left, own->right };
		for (int side = 0; side < 2; ++side) {
			for (int k = 0; k < nodes[parts[side]].handleCount; ++k) {
				if (nodes[parts[side]].handle[k] == own->handle[h]) {
					hybrid->handleSegment[joint][h] = hybrid->handleSegment[parts[side]][k];
				}
			}
		}
	}
}

static void copyNumbers(const knHybrid* hybrid, const knWelded* body, bool out, double* q, double* v) {
	for (int s = 0; s < body->tree.count; ++s) {
		const knTreeNode *full = &hybrid->tree->nodes[body->region.joints[s]], *own = &body->tree.nodes[s];
		for (int k = 0; k < body->tree.joints[s].nq; ++k) {
			double *far = q + full->qOffset + k, *near = body->q + own->qOffset + k;
			*(out ? far : near) = *(out ? near : far);
		}
		for (int k = 0; k < own->nv; ++k) {
			double *far = v + full->vOffset + k, *near = body->v + own->vOffset + k;
			*(out ? far : near) = *(out ? near : far);
		}
	}
}

void knHybrid_Weld(knHybrid* hybrid, const knRegion* region, const double* q, const double* v,
				   knWelded* body) {
	KN_ASSERT(region->count <= body->region.capacity && region != &body->region);
	for (int s = 0; s < body->region.count; ++s) {
		body->region.active[body->region.joints[s]] = false;
	}
	body->tree.count = body->tree.nq = body->tree.nv = 0;
	knRegionWalk walk = { hybrid->assembly->root, -1 };
	int node;
	for (knRegionStop stop;
		 (stop = knRegionWalk_Next(&walk, hybrid->assembly, region->active, &node)) != KN_REGION_END;) {
		if (stop == KN_REGION_FRONT) {
			fillSegment(hybrid, body, node, q);
		} else if (stop == KN_REGION_JOINT) {
			hangSegment(hybrid, body, node);
		} else {
			passHandles(hybrid, node);
		}
	}
	KN_ASSERT(body->tree.count == region->count);
	body->region.count = body->tree.count;
	knTree_Connect(&body->tree, body->room);
	copyNumbers(hybrid, body, false, (double*)q, (double*)v);
}

void knHybrid_Store(knHybrid* hybrid, const knWelded* body, double* q, double* v) {
	copyNumbers(hybrid, body, true, q, v);
	for (int s = 0; s < body->region.count; ++s) {
		hybrid->known[body->region.joints[s]] = false;
	}
}

// --- links -------------------------------------------------------------------------------------------------

int knWelded_SegmentOfNode(const knWelded* body, int node) {
	int s = body->segmentOf[node];
	return s < body->tree.count && body->node[s] == node ? s : -1;
}

int knHybrid_Locate(const knHybrid* hybrid, const knWelded* body, int link, knPlacement* placement) {
	const knAssemblyNode* nodes = hybrid->assembly->nodes;
	int node = knAssembly_LinkNode(hybrid->assembly, link), s = -1;
	*placement = identity;
	while (node != body->baseNode && (s = knWelded_SegmentOfNode(body, node)) < 0) {
		int parent = nodes[node].parent;
		if (nodes[parent].right == node) {
			*placement = place(&hybrid->parts[parent].right, placement->turn, placement->shift);
		}
		node = parent;
	}
	return s;
}

// Child joint frame of a link in the world.
static knPlacement linkPlacement(const knHybrid* hybrid, const knWelded* body, int link, int* segment) {
	knPlacement in;
	*segment = knHybrid_Locate(hybrid, body, link, &in);
	bool moves = *segment >= 0;
	const knTreePose* pose = moves ? &body->work->pose[*segment] : &body->work->base->pose;
	knLanes origin = moves ? body->work->origin[*segment] : pose->r;
	knPlacement outer;
	const knLanes columns[3] = { pose->R.x, pose->R.y, pose->R.z };
	for (int k = 0; k < 3; ++k) {
		for (int i = 0; i < 3; ++i) {
			outer.turn[3 * k + i] = columns[k][i];
		}
		outer.shift[k] = origin[k];
	}
	return place(&outer, in.turn, in.shift);
}

knFrame knHybrid_LinkFrame(const knHybrid* hybrid, const knWelded* body, int link) {
	int segment;
	knPlacement joint = linkPlacement(hybrid, body, link, &segment);
	return knMulF(frameOf(&joint), knInvF(hybrid->tree->inLink[link]));
}

knTwist knHybrid_LinkVelocity(const knHybrid* hybrid, const knWelded* body, int link) {
	int s;
	knPlacement joint = linkPlacement(hybrid, body, link, &s);
	knFrame frame = knMulF(frameOf(&joint), knInvF(hybrid->tree->inLink[link]));
	const knTreeWork* work = body->work;
	const knTreeMotion* motion = s >= 0 ? &work->velocity[s] : &work->base->velocity;
	knVec3 arm = knSub(frame.p, knLanes_ToVec(s >= 0 ? work->origin[s] : work->base->pose.r));
	knVec3 w = knLanes_ToVec(motion->ang);
	return (knTwist){ w, knAdd(knLanes_ToVec(motion->lin), knCross(w, arm)) };
}

// --- joints that stop --------------------------------------------------------------------------------------

// The segment of `body` that holds a part, -1: the base.
static int holderOf(const knHybrid* hybrid, const knWelded* body, int node) {
	int s = -1;
	while (node != body->baseNode && (s = knWelded_SegmentOfNode(body, node)) < 0) {
		node = hybrid->assembly->nodes[node].parent;
	}
	return s;
}

// Momenta of the old segments, as impulses on the new ones, set these in motion from rest. What the base's own motion
// adds is the same for both, so it is left out.
void knHybrid_Project(const knHybrid* hybrid, knWelded* from, knWelded* to) {
	knTreeMotion velocity = from->work->base->velocity;
	from->work->base->velocity = (knTreeMotion){ knLanes_All(0.0), knLanes_All(0.0) };
	knTree_Kinematics(&from->tree, from->work, from->q, from->v);
	from->work->base->velocity = velocity;
	*to->work->base = *from->work->base;
	int count = 0;
	for (int s = 0; s < from->tree.count; ++s) {
		int segment = holderOf(hybrid, to, from->node[s]);
		if (segment >= 0) {
			knTreeForce momentum = knTree_LinkMomentum(&from->tree, from->work, s);
			from->impulses[count++] = (knTreeImpulse){ segment, knLanes_ToVec(from->work->origin[s]),
													   knLanes_ToVec(momentum.f), knLanes_ToVec(momentum.n) };
		}
	}
	knTree_PrepareImpulses(&to->tree, to->work, to->q);
	knTree_Respond(&to->tree, to->work, from->impulses, count, NULL, to->v);
}
