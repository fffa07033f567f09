// The baseline: accelerations of all links in maximal coordinates, with Lagrange multipliers for the joints.
//
//   | M  G^T | |  a  |   | f - velocity terms |     a  per link: angular, and linear of the centre of mass
//   | G  0   | | -l  | = | gamma              |     G  rows r.(acceleration of the child relative to the parent)
//
// Joints enter by the other side of their table: locked rows r instead of the subspace S. A tree's matrix has no fill
// when links are eliminated from the leaves, each before its joint's multipliers. Loops come after the whole tree.
//
// V is the velocity of the child relative to the parent at the joint, in the parent joint frame's axes
// (model/joint.h). From V = J S v follows dV/dt = J (S qdd + S' v + w x (S v)); what is left of it for qdd = 0 is all
// that rows see.
#include "articulated/tree.h"

#include "core/sparse_ldl.h"

#define PROBE 1e-5 // s, along which a custom joint's rows are differenced

// A link in maximal coordinates.
typedef struct Body {
	knFrame frame; // child joint frame in the world
	knVec3 center; // of mass
	knTwist velocity;
	knMat33 inertia; // about the centre, world axes
} Body;

typedef struct Edge {
	knJoint joint;     // kind, sizes and a custom joint's functions
	int parent, child; // links, -1: the base
	knFrame inParent;  // joint frame seen from the parent's child joint frame (base: its frame)
	knFrame inChild;
	int block; // of its multipliers, -1: it locks nothing
	// of the state
	knFrame frame; // the joint frame of the parent's side, in the world
	knFrame J;
	knVec3 point; // the child's joint origin
	knTwist rows[6];
	int rowCount;
	knTwist bias; // dV/dt for qdd = 0, parent joint frame's axes
	double q[KN_JOINT_MAX_Q], v[KN_JOINT_MAX_V];
	knTwist force; // of the multipliers
} Edge;

struct knTreeLagrange {
	knAllocator allocator;
	const knTree* tree;
	knSparse* sparse;
	int edgeCount; // tree joints, then loops
	Edge* edges;
	Body* bodies;
	knTwist* applied; // [links] moment about the centre and force
	double* x;        // right side, then solution
	size_t size;      // of x
};

// --- creation ----------------------------------------------------------------------------------------------

static Edge treeEdge(const knTree* tree, int i) {
	return (Edge){ .joint = tree->joints[i],
				   .parent = tree->nodes[i].parent,
				   .child = i,
				   .inParent = tree->rest[i],
				   .inChild = knIdentityF() };
}

// Frames of a loop as the tree's links see them: from their child joint frames.
static knFrame fromLink(const knTree* tree, int link, knFrame frame) {
	return link >= 0 ? knInvMulF(tree->inLink[link], frame) : frame;
}

static Edge loopEdge(const knTree* tree, const knTreeLoop* loop) {
	const knJointOps* ops = knJointOps_Get(loop->kind);
	knJoint joint = { .kind = loop->kind, .nq = ops->nq, .nv = ops->nv, .custom = loop->custom };
	return (Edge){ .joint = joint,
				   .parent = loop->parent,
				   .child = loop->child,
				   .inParent = fromLink(tree, loop->parent, loop->frameParent),
				   .inChild = fromLink(tree, loop->child, loop->frameChild) };
}

static knStatus checkLoop(const knTree* tree, const knTreeLoop* loop, int index, knError* error) {
	const char* name = loop->name != NULL ? loop->name : "a loop joint";
	bool inside =
		loop->parent >= -1 && loop->parent < tree->count && loop->child >= -1 && loop->child < tree->count;
	bool known = (unsigned)loop->kind < KN_JOINT_KIND_COUNT;
	if (!inside || loop->parent == loop->child || !known) {
		return knError_Set(error, KN_BAD_DATA, name, "%s (loop %d) does not join two links of the tree", name,
						   index);
	}
	if (loop->kind == KN_JOINT_CUSTOM &&
		(loop->custom.projectState == NULL || loop->custom.projectVelocity == NULL)) {
		return knError_Set(error, KN_BAD_DATA, name, "%s is a custom joint without functions", name);
	}
	if (!knIsFiniteF(loop->frameParent) || !knIsFiniteF(loop->frameChild)) {
		return knError_Set(error, KN_BAD_DATA, name, "%s has a frame that is not finite", name);
	}
	return KN_OK;
}

// Rows that a joint may lock; a custom one as many as it likes, which may change.
static int rowLimit(const Edge* edge) {
	return edge->joint.kind == KN_JOINT_CUSTOM ? 6 : 6 - edge->joint.nv;
}

static bool createSparse(knTreeLagrange* lagrange) {
	int links = lagrange->tree->count, edges = lagrange->edgeCount, blocks = links + edges, entryCount = 0;
	const knAllocator* allocator = &lagrange->allocator;
	size_t count = (size_t)blocks + 1;
	int* sizes = knAllocArray(allocator, count, sizeof(int));
	unsigned char* late = knAllocArray(allocator, count, 1);
	knSparseEntry* entries = knAllocArray(allocator, 2 * count, sizeof(knSparseEntry));
	bool room = sizes != NULL && late != NULL && entries != NULL;
	blocks = links;
	for (int i = 0; room && i < links; ++i) {
		sizes[i] = 6;
		late[i] = 0;
	}
	for (int e = 0; room && e < edges; ++e) {
		Edge* edge = &lagrange->edges[e];
		edge->block = rowLimit(edge) > 0 ? blocks++ : -1;
		if (edge->block < 0) {
			continue;
		}
		sizes[edge->block] = rowLimit(edge);
		late[edge->block] = e < links ? KN_SPARSE_LATE : KN_SPARSE_LAST;
		if (edge->child >= 0) {
			entries[entryCount++] = (knSparseEntry){ edge->block, edge->child };
		}
		if (edge->parent >= 0) {
			entries[entryCount++] = (knSparseEntry){ edge->block, edge->parent };
		}
	}
	if (room) {
		lagrange->sparse = knSparse_Create(&(knSparseDef){ .blockCount = blocks,
														   .sizes = sizes,
														   .late = late,
														   .entryCount = entryCount,
														   .entries = entries,
														   .symmetric = true,
														   .allocator = allocator });
	}
	knFree(allocator, sizes, count * sizeof(int));
	knFree(allocator, late, count);
	knFree(allocator, entries, 2 * count * sizeof(knSparseEntry));
	return lagrange->sparse != NULL;
}

static bool open(knTreeLagrange* lagrange, const knTreeLoop* loops, int loopCount) {
	const knTree* tree = lagrange->tree;
	const knAllocator* allocator = &lagrange->allocator;
	size_t links = (size_t)tree->count;
	lagrange->edgeCount = tree->count + loopCount;
	lagrange->edges = knAllocZero(allocator, ((size_t)lagrange->edgeCount + 1) * sizeof(Edge));
	lagrange->bodies = knAllocZero(allocator, (links + 1) * sizeof(Body));
	lagrange->applied = knAllocZero(allocator, (links + 1) * sizeof(knTwist));
	if (lagrange->edges == NULL || lagrange->bodies == NULL || lagrange->applied == NULL) {
		return false;
	}
	for (int i = 0; i < tree->count; ++i) {
		lagrange->edges[i] = treeEdge(tree, i);
	}
	for (int k = 0; k < loopCount; ++k) {
		lagrange->edges[tree->count + k] = loopEdge(tree, &loops[k]);
	}
	if (!createSparse(lagrange)) {
		return false;
	}
	lagrange->size = ((size_t)knSparse_Size(lagrange->sparse) + 1) * sizeof(double);
	lagrange->x = knAllocZero(allocator, lagrange->size);
	return lagrange->x != NULL;
}

knTreeLagrange* knTreeLagrange_Create(const knTree* tree, const knTreeLoop* loops, int loopCount,
									  const knAllocator* allocator, knError* error) {
	for (int k = 0; k < loopCount; ++k) {
		if (checkLoop(tree, &loops[k], k, error) != KN_OK) {
			return NULL;
		}
	}
	knAllocator source = allocator != NULL ? *allocator : knAllocator_Default();
	knTreeLagrange* lagrange = knAllocZero(&source, sizeof(knTreeLagrange));
	if (lagrange != NULL) {
		lagrange->allocator = source;
		lagrange->tree = tree;
	}
	if (lagrange == NULL || !open(lagrange, loops, loopCount)) {
		knTreeLagrange_Destroy(lagrange);
		knError_Set(error, KN_NO_MEMORY, "tree", "out of memory");
		return NULL;
	}
	return lagrange;
}

void knTreeLagrange_Destroy(knTreeLagrange* lagrange) {
	if (lagrange == NULL) {
		return;
	}
	knAllocator allocator = lagrange->allocator;
	size_t links = (size_t)lagrange->tree->count;
	if (lagrange->sparse != NULL) {
		knSparse_Destroy(lagrange->sparse);
	}
	knFree(&allocator, lagrange->edges, ((size_t)lagrange->edgeCount + 1) * sizeof(Edge));
	knFree(&allocator, lagrange->bodies, (links + 1) * sizeof(Body));
	knFree(&allocator, lagrange->applied, (links + 1) * sizeof(knTwist));
	knFree(&allocator, lagrange->x, lagrange->size);
	knFree(&allocator, lagrange, sizeof(knTreeLagrange));
}

int knTreeLagrange_FillBlocks(const knTreeLagrange* lagrange) {
	return knSparse_FillBlocks(lagrange->sparse);
}

// --- state -------------------------------------------------------------------------------------------------

static Body baseBody(const knTreeWork* work) {
	knMat33 axes = knLanes_ToMat(&work->base->pose.R);
	knVec3 p = knLanes_ToVec(work->base->pose.r);
	return (Body){ .frame = knMakeFrame(p, knQuat_FromMat33(&axes)),
				   .center = p,
				   .velocity = { knLanes_ToVec(work->base->velocity.ang),
								 knLanes_ToVec(work->base->velocity.lin) } };
}

static knVec3 velocityAt(const Body* body, knVec3 point) {
	return knAdd(body->velocity.lin, knCross(body->velocity.ang, knSub(point, body->center)));
}

// S v of a joint, in the child joint frame's axes.
static knTwist jointVelocity(const Edge* edge) {
	knTwist S[6], sum = knZeroTwist();
	knJointOps_Get(edge->joint.kind)->subspace(&edge->joint, edge->q, S);
	for (int k = 0; k < edge->joint.nv; ++k) {
		sum = knMulAddT(sum, edge->v[k], S[k]);
	}
	return sum;
}

// The tree's joint places its child and gives it a velocity.
static void placeBody(knTreeLagrange* lagrange, Edge* edge, const Body* parent, const double* q,
					  const double* v) {
	const knTree* tree = lagrange->tree;
	int i = edge->child;
	const knTreeNode* node = &tree->nodes[i];
	for (int k = 0; k < edge->joint.nq; ++k) {
		edge->q[k] = q[node->qOffset + k];
	}
	for (int k = 0; k < edge->joint.nv; ++k) {
		edge->v[k] = v[node->vOffset + k];
	}
	knFrame J = knJointOps_Get(node->kind)->transform(&edge->joint, edge->q);
	Body* body = &lagrange->bodies[i];
	body->frame = knMulF(knMulF(parent->frame, edge->inParent), J);
	body->center = knPoint(body->frame, tree->mass[i].center);
	body->inertia = knRotateTensor(body->frame.q, &tree->mass[i].inertia);
	knTwist added = knRotateT(body->frame.q, jointVelocity(edge));
	knVec3 w = knAdd(parent->velocity.ang, added.ang);
	knVec3 u = knAdd(velocityAt(parent, body->frame.p), added.lin);
	body->velocity = (knTwist){ w, knAdd(u, knCross(w, knSub(body->center, body->frame.p))) };
}

// dr/dt . V summed over a custom joint's rows: how its projection changes along the motion.
static knTwist customBias(const Edge* edge, knTwist V) {
	knTwist ends[2];
	for (int side = 0; side < 2; ++side) {
		double h = side == 0 ? -PROBE : PROBE;
		knFrame moved =
			knMakeFrame(knMulAdd(edge->J.p, h, V.lin), knMulQ(knQuat_Exp(knScale(h, V.ang)), edge->J.q));
		ends[side] = knSubT(V, knJoint_ProjectVelocity(&edge->joint, moved, V));
	}
	return knScaleT(-0.5 / PROBE, knSubT(ends[1], ends[0]));
}

static void describeEdge(Edge* edge, const Body* parent, const Body* child) {
	const knJointOps* ops = knJointOps_Get(edge->joint.kind);
	edge->frame = knMulF(parent->frame, edge->inParent);
	knFrame inner = knMulF(child->frame, edge->inChild);
	edge->point = inner.p;
	edge->J = knInvMulF(edge->frame, inner);
	edge->rowCount = ops->lockedRows(&edge->joint, edge->J, edge->rows);
}

// Coordinates and velocities of a loop's joint from its two links.
static knTwist describeLoop(Edge* edge, const Body* parent, const Body* child) {
	double previous[KN_JOINT_MAX_Q];
	knJoint_NeutralCoordinates(&edge->joint, previous);
	knJointOps_Get(edge->joint.kind)->coordinates(&edge->joint, edge->J, previous, edge->q);
	knTwist V = { knSub(child->velocity.ang, parent->velocity.ang),
				  knSub(velocityAt(child, edge->point), velocityAt(parent, edge->point)) };
	V = knInvRotateT(edge->frame.q, V);
	knJoint_Velocities(&edge->joint, edge->J, edge->q, V, edge->v);
	return V;
}

static void findBias(Edge* edge) {
	const knJointOps* ops = knJointOps_Get(edge->joint.kind);
	knTwist rate = ops->subspaceRate(&edge->joint, edge->q, edge->v), Sv = jointVelocity(edge);
	rate.lin = knAdd(rate.lin, knCross(Sv.ang, Sv.lin));
	edge->bias = knRotateT(edge->J.q, rate);
}

// --- equations ---------------------------------------------------------------------------------------------

// Relative acceleration at the joint that does not come from the two bodies' unknown accelerations: what dV/dt, seen
// from the moving parent, lacks. World axes.
static knTwist velocityTerms(const Edge* edge, const Body* parent, const Body* child) {
	knVec3 dc = knSub(edge->point, child->center), dp = knSub(edge->point, parent->center);
	knVec3 wc = child->velocity.ang, wp = parent->velocity.ang;
	knVec3 relative = knSub(velocityAt(child, edge->point), velocityAt(parent, edge->point));
	knVec3 lin = knSub(knCross(wc, knCross(wc, dc)), knCross(wp, knCross(wp, dp)));
	lin = knSub(lin, knScale(2.0, knCross(wp, relative)));
	return (knTwist){ knNeg(knCross(wp, knSub(wc, wp))), lin };
}

static void writeRow(knTreeLagrange* lagrange, const Edge* edge, int row, int link, knVec3 arm, knTwist r) {
	if (link < 0) {
		return;
	}
	bool transposed;
	double* block = knSparse_Block(lagrange->sparse, edge->block, link, &transposed);
	knVec3 ang = knAdd(r.ang, knCross(arm, r.lin));
	double values[6] = { ang.x, ang.y, ang.z, r.lin.x, r.lin.y, r.lin.z };
	int size = rowLimit(edge);
	for (int k = 0; k < 6; ++k) {
		block[transposed ? k * size + row : row * 6 + k] = values[k];
	}
}

static void writeEdge(knTreeLagrange* lagrange, const Edge* edge, const Body* parent, const Body* child) {
	if (edge->block < 0) {
		return;
	}
	double* right = lagrange->x + knSparse_Offset(lagrange->sparse, edge->block);
	knTwist known = velocityTerms(edge, parent, child);
	int size = rowLimit(edge);
	for (int row = 0; row < size; ++row) {
		if (row >= edge->rowCount) {
			bool transposed;
			knSparse_Block(lagrange->sparse, edge->block, edge->block, &transposed)[row * size + row] = 1.0;
			right[row] = 0.0;
			continue;
		}
		knTwist r = knRotateT(edge->frame.q, edge->rows[row]);
		writeRow(lagrange, edge, row, edge->child, knSub(edge->point, child->center), r);
		writeRow(lagrange, edge, row, edge->parent, knSub(edge->point, parent->center), knScaleT(-1.0, r));
		right[row] = knDotT(edge->rows[row], edge->bias) - knDotT(r, known);
	}
}

// A force on the child at the joint and its opposite on the parent.
static void applyPair(knTreeLagrange* lagrange, const Edge* edge, const Body* parent, const Body* child,
					  knTwist force) {
	if (edge->child >= 0) {
		knTwist* on = &lagrange->applied[edge->child];
		knVec3 moment = knAdd(force.ang, knCross(knSub(edge->point, child->center), force.lin));
		*on = knAddT(*on, (knTwist){ moment, force.lin });
	}
	if (edge->parent >= 0) {
		knTwist* on = &lagrange->applied[edge->parent];
		knVec3 moment = knAdd(force.ang, knCross(knSub(edge->point, parent->center), force.lin));
		*on = knSubT(*on, (knTwist){ moment, force.lin });
	}
}

static void applyTorques(knTreeLagrange* lagrange, const Edge* edge, const Body* parent, const Body* child,
						 const double* tau) {
	knTwist rows[6], force = knZeroTwist();
	knJoint_CoordinateRows(&edge->joint, edge->J, edge->q, rows);
	for (int k = 0; k < edge->joint.nv; ++k) {
		force = knMulAddT(force, tau[k], rows[k]);
	}
	applyPair(lagrange, edge, parent, child, knRotateT(edge->frame.q, force));
}

static void writeBody(knTreeLagrange* lagrange, int i, knVec3 gravity) {
	const Body* body = &lagrange->bodies[i];
	double mass = lagrange->tree->mass[i].mass;
	bool transposed;
	double* block = knSparse_Block(lagrange->sparse, i, i, &transposed);
	for (int row = 0; row < 3; ++row) {
		block[row * 6] = knComponent(body->inertia.cx, row);
		block[row * 6 + 1] = knComponent(body->inertia.cy, row);
		block[row * 6 + 2] = knComponent(body->inertia.cz, row);
		block[(row + 3) * 7] = mass;
	}
	knVec3 w = body->velocity.ang;
	knVec3 n = knSub(lagrange->applied[i].ang, knCross(w, knMulMV(&body->inertia, w)));
	knVec3 f = knMulAdd(lagrange->applied[i].lin, mass, gravity);
	double* right = lagrange->x + knSparse_Offset(lagrange->sparse, i);
	for (int k = 0; k < 3; ++k) {
		right[k] = knComponent(n, k);
		right[k + 3] = knComponent(f, k);
	}
}

// --- solution ----------------------------------------------------------------------------------------------

static knTwist acceleration(const knTreeLagrange* lagrange, int link) {
	if (link < 0) {
		return knZeroTwist();
	}
	const double* a = lagrange->x + knSparse_Offset(lagrange->sparse, link);
	return (knTwist){ knV3(a[0], a[1], a[2]), knV3(a[3], a[4], a[5]) };
}

// qdd of a tree joint from the accelerations of its two links.
static void readJoint(const knTreeLagrange* lagrange, const Edge* edge, const Body* parent, const Body* child,
					  double* qdd) {
	knTwist of = acceleration(lagrange, edge->child), from = acceleration(lagrange, edge->parent);
	knVec3 atChild = knAdd(of.lin, knCross(of.ang, knSub(edge->point, child->center)));
	knVec3 atParent = knAdd(from.lin, knCross(from.ang, knSub(edge->point, parent->center)));
	knTwist relative = { knSub(of.ang, from.ang), knSub(atChild, atParent) };
	relative = knAddT(relative, velocityTerms(edge, parent, child));
	knTwist rate = knSubT(knInvRotateT(edge->frame.q, relative), edge->bias), rows[6];
	knJoint_CoordinateRows(&edge->joint, edge->J, edge->q, rows);
	for (int k = 0; k < edge->joint.nv; ++k) {
		qdd[k] = knDotT(rows[k], rate);
	}
}

static void readForce(const knTreeLagrange* lagrange, Edge* edge) {
	edge->force = knZeroTwist();
	for (int row = 0; edge->block >= 0 && row < edge->rowCount; ++row) {
		double lambda = -lagrange->x[knSparse_Offset(lagrange->sparse, edge->block) + row];
		edge->force = knMulAddT(edge->force, lambda, knRotateT(edge->frame.q, edge->rows[row]));
	}
}

knTwist knTreeLagrange_LoopForce(const knTreeLagrange* lagrange, int loop) {
	KN_ASSERT(loop >= 0 && loop < lagrange->edgeCount - lagrange->tree->count);
	return lagrange->edges[lagrange->tree->count + loop].force;
}

static const Body* bodyOf(const knTreeLagrange* lagrange, int link, const Body* base) {
	return link >= 0 ? &lagrange->bodies[link] : base;
}

// Places all links, and takes the forces on them about their centres.
static void placeBodies(knTreeLagrange* lagrange, const Body* base, const double* q, const double* v,
						const knTwist* forces) {
	const knTree* tree = lagrange->tree;
	for (int i = 0; i < tree->count; ++i) {
		placeBody(lagrange, &lagrange->edges[i], bodyOf(lagrange, tree->nodes[i].parent, base), q, v);
		const Body* body = &lagrange->bodies[i];
		knVec3 arm = knSub(knMulF(body->frame, knInvF(tree->inLink[i])).p, body->center);
		lagrange->applied[i] =
			forces != NULL ? knMakeTwist(knAdd(forces[i].ang, knCross(arm, forces[i].lin)), forces[i].lin)
						   : knZeroTwist();
	}
}

static void writeJoints(knTreeLagrange* lagrange, const Body* base, const double* tau) {
	const knTree* tree = lagrange->tree;
	for (int e = 0; e < lagrange->edgeCount; ++e) {
		Edge* edge = &lagrange->edges[e];
		const Body *parent = bodyOf(lagrange, edge->parent, base),
				   *child = bodyOf(lagrange, edge->child, base);
		describeEdge(edge, parent, child);
		knTwist V = e >= tree->count ? describeLoop(edge, parent, child) : knZeroTwist();
		if (edge->joint.kind == KN_JOINT_CUSTOM) {
			edge->bias = customBias(edge, V);
		} else {
			findBias(edge);
		}
		if (e < tree->count && tau != NULL) {
			applyTorques(lagrange, edge, parent, child, tau + tree->nodes[e].vOffset);
		}
		writeEdge(lagrange, edge, parent, child);
	}
}

bool knTreeLagrange_ForwardDynamics(knTreeLagrange* lagrange, const knTreeWork* work, const double* q,
									const double* v, const double* tau, const knTwist* forces, knVec3 gravity,
									double* qdd) {
	const knTree* tree = lagrange->tree;
	const Body base = baseBody(work);
	knSparse_Clear(lagrange->sparse);
	placeBodies(lagrange, &base, q, v, forces);
	writeJoints(lagrange, &base, tau);
	for (int i = 0; i < tree->count; ++i) {
		writeBody(lagrange, i, gravity);
	}
	if (!knSparse_Factor(lagrange->sparse).finite) {
		return false;
	}
	knSparse_Solve(lagrange->sparse, lagrange->x, lagrange->x, 1);
	for (int e = 0; e < lagrange->edgeCount; ++e) {
		Edge* edge = &lagrange->edges[e];
		if (e < tree->count) {
			readJoint(lagrange, edge, bodyOf(lagrange, edge->parent, &base), &lagrange->bodies[e],
					  qdd + tree->nodes[e].vOffset);
		}
		readForce(lagrange, edge);
	}
	return true;
}
