// The active region: which joints move until the next update.
//
// Look-ahead: the joints that move and those at the top of every segment that is long enough are
// released, and one elimination over these pieces tells what each joint would do: its acceleration y, at the present
// velocities, under gravity, users' forces, springs, drives and what contacts carried in the last step. So the cost is that of the
// joints that move, and the region grows by one level of the assembly tree per update.
//
//   H y = tau + J^T (weight + contacts - bias)        H: pieces' inertias, with loaded contacts as inertia at their points
//   score of a joint = sum of y^2    of a node = that of all released joints in it
//
// Loaded contacts hold: their stiffness 1/e, e = SOFTNESS of the piece's own answer, is added to the piece's inertia
// (articulated_reduced.md, 4.12). Without it a body at rest would seem to fall through the floor joint by joint.
//
// The choice goes down the assembly tree by priority: the node with the largest score is cut first, until there are as many
// joints as wanted, or the scores of those left out sum up to less than the square of the threshold. The latter counts
// velocities too, by the deceleration that stops them within STOP_TIME.
//
// Joints with actuators or tendons are all released, with the nodes above them, however short their parts.
//
// scheme=paper releases all joints, so that the scores are the acceleration metric of every part (Redon, Galoppo and Lin
// 2005): what it chooses is the transient region, from which the velocities after the step choose once more in the same way.
// Joints are chosen one by one, however short their parts.
#include "steppers/adaptive/adaptive_step.h"

#include "core/sort.h"
#include "model/control.h"
#include "model/joint_parts.h"

#define SOFTNESS 0.01   // of a contact's own answer
#define STOP_TIME 0.1   // s
#define SERVO_GAIN 0.2  // share of its way that a servo goes per step, as in reduced_rows.c
#define ALWAYS 1e300    // score of joints that must move
#define STICKING 0.95   // of the friction cone: within it a contact holds sideways
#define DRIVEN (-2)     // piece of a node that holds drives. markDriven
#define WAITING 96      // parts: right ones are opened first, and halve
#define LIMIT_NEAR 1e-4 // rad or m: so near to its end a joint is held by it

typedef struct Piece {
	int node, root, segment; // segment: its root
	bool grounded;
	bool moved; // its joint moved until now
} Piece;

// What counts of a joint.
typedef enum Score { SCORE_ACCELERATION, SCORE_BOTH, SCORE_VELOCITY } Score;

typedef struct Lookahead {
	knAdaptiveStep* step;
	int minLinks;
	bool paper; // all joints are released, each by itself
	Score score;
	const bool* transient; // [candidateCount] only these may be chosen; NULL: any

	int pieceCount, candidateCount;
	Piece* pieces;     // by rank
	knFrame* pose;     // [pieceCount] of centres of mass
	knTwist* velocity; // [pieceCount]
	knMat33* inertia;  // [pieceCount] world axes

	// candidates: nodes whose joints are released
	int* candidates; // fewest links first
	bool* chosen;

	knForest forest; // links are pieces, but those welded to the ground
	int* linkOf;     // [pieceCount] -1: none
	int* pieceOf;    // [forest.count]
	double *q, *qd;  // [nq], [nv]
	knTreeMotion* columns;
	knLanes *c, *arms;
	knForestSystem system;
	knTreeForce *rows, *push;
	double *B, *tau, *y;
	knTreeMotion* motions;
	knTwist* bias; // [forest.count] acceleration of the centre without y
} Lookahead;

// --- pieces --------------------------------------------------------------------------------------------------------

static bool isJointNode(const knHybridNode* node) {
	return !knHybridForest_IsLeaf(node);
}

static void notePiece(const Lookahead* ahead, knHybridNode* node, int piece) {
	knHybridForest_Keep(&ahead->step->hybrid, node, sizeof(*node));
	node->piece = piece;
}

static void addPiece(Lookahead* ahead, int node, knFrame rootPose, const knSegment* of, bool moved) {
	knHybridNode* part = &ahead->step->hybrid.nodes[node];
	int k = ahead->pieceCount++;
	notePiece(ahead, part, k);
	notePiece(ahead, &ahead->step->hybrid.nodes[ahead->step->hybrid.header->bodyCount + part->root], k);
	knVec3 center = knPoint(rootPose, part->center);
	int segment = ahead->step->hybrid.nodes[of->node].root;
	ahead->pieces[k] = (Piece){ node, part->root, segment, part->ground && !part->active, moved };
	ahead->pose[k] = knMakeFrame(center, rootPose.q);
	ahead->velocity[k] = of->velocity;
	ahead->velocity[k].lin = knAdd(of->velocity.lin, knCross(of->velocity.ang, knSub(center, of->pose.p)));
	ahead->inertia[k] = knRotateTensor(rootPose.q, &part->inertia);
}

static bool opens(const Lookahead* ahead, int node, int top) {
	const knHybridForest* hybrid = &ahead->step->hybrid;
	const knHybridNode* part = &hybrid->nodes[node];
	if (!isJointNode(part)) {
		return false;
	}
	int above = part->parent;
	bool along = node != top && part->follows && hybrid->nodes[above].right == node;
	return ahead->paper || along || part->piece == DRIVEN || (node == top && part->links >= ahead->minLinks);
}

// A segment as it is, or cut at its top joint and at the one that goes with it; where there are drives, down to these.
static void addSegment(Lookahead* ahead, int root) {
	const knHybridForest* hybrid = &ahead->step->hybrid;
	const knSegment* segment = &hybrid->segments[root];
	struct {
		int node;
		knFrame at;
	} stack[WAITING];
	int waiting = 0, node = segment->node;
	knFrame at = knHybridForest_RootPose(hybrid, root);
	for (;;) {
		const knHybridNode* part = &hybrid->nodes[node];
		if (opens(ahead, node, segment->node)) {
			ahead->candidates[ahead->candidateCount++] = node;
			if (!part->ground) {
				KN_ASSERT(waiting < WAITING);
				stack[waiting].node = part->left;
				stack[waiting++].at = at;
				at = knMulF(at, part->place);
			}
			node = part->right;
			continue;
		}
		addPiece(ahead, node, at, segment, part->root == root);
		if (waiting == 0) {
			return;
		}
		node = stack[--waiting].node;
		at = stack[waiting].at;
	}
}

// Marks the nodes that hold joints with actuators or tendons, until they are looked at. A frozen drive does nothing, and what
// it would do is not seen from outside: all of them are released.
static int markDriven(Lookahead* ahead) {
	const knModelControl* control = &ahead->step->context->model->control;
	knHybridForest* hybrid = &ahead->step->hybrid;
	int count = 0;
	for (int i = 0; i < control->driveCount; ++i) {
		const knJoint* joint = &ahead->step->context->model->joints[control->drives[i].joint];
		int node =
			hybrid->links[joint->child].joint == control->drives[i].joint ? joint->child : joint->parent;
		if (hybrid->links[node].joint != control->drives[i].joint) {
			continue;
		}
		while (node != KN_NODE_NONE && !hybrid->nodes[node].active && hybrid->nodes[node].piece != DRIVEN) {
			notePiece(ahead, &hybrid->nodes[node], DRIVEN);
			++count;
			node = hybrid->nodes[node].parent;
		}
	}
	return count;
}

static bool takePieces(Lookahead* ahead) {
	const knHybridForest* hybrid = &ahead->step->hybrid;
	knArena* arena = ahead->step->context->arena;
	int most = ahead->paper ? 2 * hybrid->header->bodyCount
							: 3 * hybrid->header->frontCount + 2 * markDriven(ahead) + 1;
	ahead->pieces = KN_SCRATCH(arena, Piece, most);
	ahead->pose = KN_SCRATCH(arena, knFrame, most);
	ahead->velocity = KN_SCRATCH(arena, knTwist, most);
	ahead->inertia = KN_SCRATCH(arena, knMat33, most);
	ahead->candidates = KN_SCRATCH(arena, int, most + hybrid->header->activeCount);
	if (arena->failed) {
		return false;
	}
	for (int k = 0; k < hybrid->header->frontCount; ++k) {
		int root = hybrid->fronts[k];
		addSegment(ahead, root);
		// a segment's joint is the node of its number, where it can be frozen at all
		if (isJointNode(&hybrid->nodes[root]) && hybrid->nodes[root].active) {
			ahead->candidates[ahead->candidateCount++] = root;
		}
	}
	return true;
}

// The piece that a link is the root of.
static int pieceOfRoot(const Lookahead* ahead, int body) {
	const knHybridForest* hybrid = &ahead->step->hybrid;
	int k = hybrid->nodes[hybrid->header->bodyCount + body].piece;
	KN_ASSERT(k >= 0 && k < ahead->pieceCount && ahead->pieces[k].root == body);
	return k;
}

// The piece that holds a link of a segment: down from the segment by the links' numbers.
static int pieceInSegment(const Lookahead* ahead, int segment, int body) {
	const knHybridForest* hybrid = &ahead->step->hybrid;
	int number = hybrid->nodes[hybrid->header->bodyCount + body].first;
	for (int node = hybrid->segments[segment].node;;) {
		int k = hybrid->nodes[node].piece;
		if (k >= 0 && k < ahead->pieceCount && ahead->pieces[k].node == node) {
			return k;
		}
		KN_ASSERT(isJointNode(&hybrid->nodes[node]));
		int right = hybrid->nodes[node].right;
		node = number >= hybrid->nodes[right].first &&
					   number < hybrid->nodes[right].first + hybrid->nodes[right].links
				   ? right
				   : hybrid->nodes[node].left;
	}
}

// The piece that holds a link; -1: no link.
static int pieceOfBody(const Lookahead* ahead, int body) {
	if (ahead->step->hybrid.links[body].rank < 0) {
		return -1;
	}
	knLinkPath path;
	return pieceInSegment(ahead, knHybridForest_FindLink(&ahead->step->hybrid, body, &path), body);
}

// The piece that another one hangs on; -1: none.
static int parentPiece(Lookahead* ahead, int piece) {
	knHybridForest* hybrid = &ahead->step->hybrid;
	const Piece* own = &ahead->pieces[piece];
	int link = hybrid->links[own->root].parent, segment = own->segment;
	if (hybrid->links[own->root].joint < 0 || hybrid->links[link].rank < 0) {
		return -1;
	}
	if (segment == own->root) {
		knFrame at;
		segment = knHybridForest_FindParent(hybrid, segment, &at);
	}
	return pieceInSegment(ahead, segment, link);
}

// --- the forest of pieces ------------------------------------------------------------------------------------------

static void makeLink(Lookahead* ahead, int piece) {
	const knHybridForest* hybrid = &ahead->step->hybrid;
	const knModel* model = ahead->step->context->model;
	knForest* forest = &ahead->forest;
	int root = ahead->pieces[piece].root, j = hybrid->links[root].joint;
	knForestLink* link = &forest->links[forest->count];
	*link = (knForestLink){ .body = piece,
							.parent = -1,
							.joint = j,
							.kind = KN_JOINT_FREE,
							.inParent = knIdentityF(),
							.fromJoint = knIdentityF() };
	if (j >= 0) {
		const knJoint* joint = &model->joints[j];
		link->reversed = joint->parent == root;
		link->kind = joint->kind;
		int parent = parentPiece(ahead, piece);
		link->parent = parent >= 0 ? ahead->linkOf[parent] : -1;
		knFrame own = link->reversed ? joint->frameParent : joint->frameChild;
		own = link->reversed && link->kind == KN_JOINT_UNIVERSAL ? knSpanning_SwapAxes(own) : own;
		own.p = knSub(own.p, hybrid->nodes[ahead->pieces[piece].node].center);
		link->fromJoint = knInvF(own);
	}
	const knJointOps* ops = knJointOps_Get(link->kind);
	link->nq = ops->nq;
	link->nv = ops->nv;
	link->qOffset = forest->nq;
	link->vOffset = forest->nv;
	link->bOffset = forest->bCount;
	forest->nq += ops->nq;
	forest->nv += ops->nv;
	forest->bCount += ops->nv * ops->nv;
	ahead->pieceOf[forest->count] = piece;
	ahead->linkOf[piece] = forest->count++;
}

// Pieces in the order of their roots' ranks, parents first.
static bool makeForest(Lookahead* ahead) {
	knArena* arena = ahead->step->context->arena;
	int count = ahead->pieceCount;
	knKeyed* keys = KN_SCRATCH(arena, knKeyed, count);
	ahead->linkOf = KN_SCRATCH(arena, int, count);
	ahead->pieceOf = KN_SCRATCH(arena, int, count);
	ahead->forest.links = KN_SCRATCH(arena, knForestLink, count);
	ahead->forest.model = ahead->step->context->model;
	if (arena->failed) {
		return false;
	}
	for (int k = 0; k < count; ++k) {
		ahead->linkOf[k] = -1;
		keys[k] = (knKeyed){ (uint64_t)ahead->step->hybrid.links[ahead->pieces[k].root].rank, (uint32_t)k };
	}
	if (!knSort_Keys(keys, count, arena)) {
		return false;
	}
	for (int k = 0; k < count; ++k) {
		if (!ahead->pieces[keys[k].value].grounded) {
			makeLink(ahead, (int)keys[k].value);
		}
	}
	return true;
}

static bool takeSystem(Lookahead* ahead) {
	knArena* arena = ahead->step->context->arena;
	const knForest* forest = &ahead->forest;
	ahead->q = KN_SCRATCH_ZERO(arena, double, forest->nq);
	ahead->qd = KN_SCRATCH_ZERO(arena, double, forest->nv);
	ahead->tau = KN_SCRATCH_ZERO(arena, double, forest->nv);
	ahead->y = KN_SCRATCH_ZERO(arena, double, forest->nv);
	ahead->B = KN_SCRATCH_ZERO(arena, double, forest->bCount);
	ahead->columns = KN_SCRATCH(arena, knTreeMotion, forest->nv);
	ahead->rows = KN_SCRATCH(arena, knTreeForce, forest->nv);
	ahead->c = KN_SCRATCH(arena, knLanes, forest->count);
	ahead->arms = KN_SCRATCH(arena, knLanes, forest->count);
	ahead->push = KN_SCRATCH(arena, knTreeForce, forest->count);
	ahead->motions = KN_SCRATCH(arena, knTreeMotion, forest->count);
	ahead->bias = KN_SCRATCH(arena, knTwist, forest->count);
	return knForestSystem_Make(&ahead->system, forest, arena) && !arena->failed;
}

// --- the equations -------------------------------------------------------------------------------------------------

static void readCoordinates(Lookahead* ahead, int i) {
	const knHybridForest* hybrid = &ahead->step->hybrid;
	const knForestLink* link = &ahead->forest.links[i];
	const Piece* piece = &ahead->pieces[ahead->pieceOf[i]];
	const knLinkMemory* memory = &hybrid->memory[piece->root];
	double* q = ahead->q + link->qOffset;
	if (link->joint < 0) {
		q[0] = 1.0; // a floating root: columns do not depend on it
		return;
	}
	const knJoint* joint = &ahead->step->context->model->joints[link->joint];
	for (int k = 0; k < link->nq; ++k) {
		double sign = link->reversed && link->nq == link->nv ? -1.0 : 1.0;
		q[k] = memory->via == link->joint ? memory->q[k]
										  : sign * ahead->step->context->state->q[joint->qOffset + k];
	}
	for (int k = 0; k < link->nv && piece->moved && memory->via == link->joint; ++k) {
		ahead->qd[link->vOffset + k] = memory->v[k];
	}
}

// Accelerations of centres for y = 0: what turning does to the joints' own velocities.
static void findBias(Lookahead* ahead, int i) {
	const knForestLink* link = &ahead->forest.links[i];
	if (link->parent < 0) {
		ahead->bias[i] = knZeroTwist();
	}
	if (link->joint < 0) {
		return;
	}
	int own = ahead->pieceOf[i];
	knTwist V = ahead->velocity[own], S = knZeroTwist(), base = knZeroTwist(), P = knZeroTwist();
	for (int k = link->vOffset; k < link->vOffset + link->nv; ++k) {
		knTwist column = { knLanes_ToVec(ahead->columns[k].ang), knLanes_ToVec(ahead->columns[k].lin) };
		S = knMulAddT(S, ahead->qd[k], column);
	}
	knVec3 arm = knZero3(), c = knLanes_ToVec(ahead->c[i]);
	if (link->parent >= 0) {
		int parent = ahead->pieceOf[link->parent];
		base = ahead->bias[link->parent];
		P = ahead->velocity[parent];
		arm = knSub(ahead->pose[own].p, ahead->pose[parent].p);
	}
	knVec3 slide = knSub(S.lin, knCross(S.ang, c));
	knVec3 turning = knCross(P.ang, S.ang);
	knVec3 rate = knAdd(knCross(V.ang, slide), knAdd(knCross(turning, c), knCross(S.ang, knCross(V.ang, c))));
	ahead->bias[i].ang = knAdd(base.ang, turning);
	ahead->bias[i].lin =
		knAdd(knAdd(base.lin, knCross(base.ang, arm)), knAdd(knCross(P.ang, knSub(V.lin, P.lin)), rate));
}

static void setBlock(Lookahead* ahead, int i) {
	const knStepContext* context = ahead->step->context;
	int piece = ahead->pieceOf[i], root = ahead->pieces[piece].root;
	const knHybridNode* node = &ahead->step->hybrid.nodes[ahead->pieces[piece].node];
	const knLanes none = knLanes_All(0.0);
	double m = node->mass;
	ahead->system.block[i] = (knForestBlock){
		.aa = knLanes_FromMat(&ahead->inertia[piece]),
		.al = { none, none, none },
		.la = { none, none, none },
		.ll = { knLanes_Make(m, 0.0, 0.0), knLanes_Make(0.0, m, 0.0), knLanes_Make(0.0, 0.0, m) },
	};
	knTwist V = ahead->velocity[piece], bias = ahead->bias[i];
	knVec3 g = knScale(context->model->gravityScale[root], context->state->header->gravity);
	knVec3 force = knScale(m, knSub(g, knMulAdd(bias.lin, node->linearDamping, V.lin)));
	knVec3 spin = knMulMV(&ahead->inertia[piece], V.ang);
	knVec3 moment = knAdd(knMulMV(&ahead->inertia[piece], bias.ang), knCross(V.ang, spin));
	moment = knMulAdd(moment, node->angularDamping, spin);
	ahead->push[i] = (knTreeForce){ knLanes_FromVec(knNeg(moment)), knLanes_FromVec(force) };
}

static void addStiffness(Lookahead* ahead, int i, knVec3 arm, const knMat33* D) {
	knForestBlock* block = &ahead->system.block[i];
	knMat33 skew = knSkew(arm), upper = knMulMM(&skew, D), lower = knMulMM(D, &skew);
	knMat33 both = knMulMM(&upper, &skew);
	lower = knScaleM(-1.0, &lower);
	both = knScaleM(-1.0, &both);
	knLanes33 aa = knLanes_FromMat(&both), al = knLanes_FromMat(&upper), la = knLanes_FromMat(&lower),
			  ll = knLanes_FromMat(D);
	knLanes_AddMat(&block->aa, &aa);
	knLanes_AddMat(&block->al, &al);
	knLanes_AddMat(&block->la, &la);
	knLanes_AddMat(&block->ll, &ll);
}

static double ownAnswer(const Lookahead* ahead, int piece, knVec3 arm, knVec3 n) {
	const knHybridNode* node = &ahead->step->hybrid.nodes[ahead->pieces[piece].node];
	knVec3 turn = knCross(arm, n);
	knMat33 inverse = knInverse33(&ahead->inertia[piece]);
	return 1.0 / node->mass + knDot(turn, knMulMV(&inverse, turn));
}

static void addContactSide(Lookahead* ahead, const knStepContact* contact, int body, knVec3 force,
						   bool sticks) {
	int piece = pieceOfBody(ahead, body);
	int i = piece >= 0 ? ahead->linkOf[piece] : -1;
	if (i < 0) {
		return;
	}
	knVec3 n = contact->point.normal;
	knVec3 arm = knSub(knLerp(contact->point.pointA, contact->point.pointB, 0.5), ahead->pose[piece].p);
	ahead->push[i].n += knLanes_FromVec(knCross(arm, force));
	ahead->push[i].f += knLanes_FromVec(force);
	double d = 1.0 / (SOFTNESS * ownAnswer(ahead, piece, arm, n));
	knMat33 D = knDiagonal33(d, d, d);
	if (!sticks) {
		D = knMakeMat33(knScale(d * n.x, n), knScale(d * n.y, n), knScale(d * n.z, n));
	}
	addStiffness(ahead, i, arm, &D);
}

// What users put on links in the step.
static void addForces(Lookahead* ahead) {
	const knHybridForest* hybrid = &ahead->step->hybrid;
	const knState* state = ahead->step->context->state;
	for (int k = 0; k < state->header->pushedCount; ++k) {
		int body = state->pushedBodies[k];
		if (hybrid->links[body].rank < 0) {
			continue;
		}
		knFrame at;
		knTwist velocity, force = state->force[body];
		knLinkPath path;
		int root = knHybridForest_FindLink(hybrid, body, &path), piece = pieceInSegment(ahead, root, body);
		int i = ahead->linkOf[piece];
		if (i < 0) {
			continue;
		}
		const knSegment* segment = &hybrid->segments[root];
		knHybridForest_PlaceLink(hybrid, root, &path, segment->pose, segment->velocity, &at, &velocity);
		knVec3 arm = knSub(at.p, ahead->pose[piece].p);
		ahead->push[i].n += knLanes_FromVec(knAdd(force.ang, knCross(arm, force.lin)));
		ahead->push[i].f += knLanes_FromVec(force.lin);
	}
}

static void addContacts(Lookahead* ahead) {
	const knStepContext* context = ahead->step->context;
	const knModel* model = context->model;
	for (int k = 0; k < context->contactCount; ++k) {
		const knStepContact* contact = &context->contacts[k];
		double normal = knDot(contact->impulse, contact->point.normal);
		if (!(normal > 0.0)) {
			continue;
		}
		const knModelShape *a = &model->shapes[contact->shapeA], *b = &model->shapes[contact->shapeB];
		double mu = knCombine_Apply(model->frictionCombine, a->friction, b->friction);
		knVec3 across = knMulAdd(contact->impulse, -normal, contact->point.normal);
		bool sticks = knLength(across) < STICKING * mu * normal;
		knVec3 force = knScale(1.0 / ahead->step->h, contact->impulse);
		addContactSide(ahead, contact, b->body, force, sticks);
		addContactSide(ahead, contact, a->body, knNeg(force), sticks);
	}
}

// Actuators, tendons and armature of an axis at x, likewise.
static void addDrive(Lookahead* ahead, const knForestLink* link, int axis, double x, double sign) {
	const knStepContext* context = ahead->step->context;
	const knAxisDrive* drive = knState_Drive(context->state, context->model, link->joint, axis);
	double* inertia = &ahead->B[link->bOffset + axis * link->nv + axis];
	double h = ahead->step->h, rate = sign * ahead->qd[link->vOffset + axis];
	*inertia += context->model->joints[link->joint].axis[axis].armature;
	if (drive == NULL) {
		return;
	}
	double force = drive->force - drive->stiffness * (x + h * rate) - drive->damping * rate;
	bool held = force >= drive->lower && force <= drive->upper;
	ahead->tau[link->vOffset + axis] += sign * knClamp(force, drive->lower, drive->upper);
	*inertia += drive->inertia + (held ? h * (drive->damping + h * drive->stiffness) : 0.0);
}

// Springs and dampers, implicit as in the step.
static void addSprings(Lookahead* ahead, int i) {
	const knForestLink* link = &ahead->forest.links[i];
	if (link->joint < 0 || (link->reversed && link->nv > 1)) {
		return;
	}
	const knStepContext* context = ahead->step->context;
	const knJoint* joint = &context->model->joints[link->joint];
	double h = ahead->step->h, sign = link->reversed ? -1.0 : 1.0;
	for (int k = 0; k < link->nv; ++k) {
		const knJointAxis* axis = &joint->axis[k];
		double qd = ahead->qd[link->vOffset + k];
		double x = knJoint_AxisPosition(joint, &context->state->q[joint->qOffset], k);
		ahead->tau[link->vOffset + k] -=
			sign * axis->stiffness * x + (axis->damping + h * axis->stiffness) * qd;
		ahead->B[link->bOffset + k * link->nv + k] += h * axis->damping + h * h * axis->stiffness;
		addDrive(ahead, link, k, x + axis->rest, sign);
		if (context->state->joint[link->joint].motorMode[k] == KN_MOTOR_FORCE) {
			ahead->tau[link->vOffset + k] += sign * context->state->joint[link->joint].motorTarget[k];
		}
	}
}

// y moved towards `goal` by no more than `most`.
static double towards(double y, double goal, double most) {
	return y + knClamp(goal - y, -most, most);
}

// What drives, dry friction and limits do to a single coordinate, the others being as they are.
static void addOwnLaws(Lookahead* ahead, int i) {
	const knForestLink* link = &ahead->forest.links[i];
	if (link->joint < 0 || link->nv != 1) {
		return;
	}
	const knStepContext* context = ahead->step->context;
	const knJoint* joint = &context->model->joints[link->joint];
	const knJointState* drive = &context->state->joint[link->joint];
	const knJointAxis* axis = &joint->axis[0];
	double h = ahead->step->h, sign = link->reversed ? -1.0 : 1.0, answer = ahead->system.D[link->bOffset];
	double qd = sign * ahead->qd[link->vOffset], y = sign * ahead->y[link->vOffset];
	double x = knJoint_AxisPosition(joint, &context->state->q[joint->qOffset], 0);
	if (drive->motorMode[0] == KN_MOTOR_VELOCITY || drive->motorMode[0] == KN_MOTOR_POSITION) {
		double speed = drive->motorMode[0] == KN_MOTOR_VELOCITY
						   ? drive->motorTarget[0]
						   : SERVO_GAIN * (drive->motorTarget[0] - x - axis->rest) / h;
		y = towards(y, (speed - qd) / h, answer * drive->motorMaxForce[0]);
	}
	if (knJointAxis_HasFriction(axis)) {
		y = towards(y, -qd / h, answer * axis->friction);
	}
	double position = x + axis->rest;
	bool held = axis->limited && ((position > axis->upper - LIMIT_NEAR && y > 0.0 && qd >= 0.0) ||
								  (position < axis->lower + LIMIT_NEAR && y < 0.0 && qd <= 0.0));
	ahead->y[link->vOffset] = held ? 0.0 : sign * y;
}

static bool solve(Lookahead* ahead) {
	const knForest* forest = &ahead->forest;
	knLanes none = knLanes_All(0.0);
	for (int i = 0; i < forest->count; ++i) {
		readCoordinates(ahead, i);
	}
	knForest_Columns(forest, ahead->q, ahead->pose, ahead->columns, ahead->c);
	for (int i = 0; i < forest->count; ++i) {
		int parent = forest->links[i].parent, own = ahead->pieceOf[i];
		ahead->arms[i] =
			parent >= 0 ? knLanes_FromVec(knSub(ahead->pose[own].p, ahead->pose[ahead->pieceOf[parent]].p))
						: none;
		findBias(ahead, i);
		setBlock(ahead, i);
		addSprings(ahead, i);
	}
	for (int k = 0; k < forest->nv; ++k) {
		ahead->rows[k] = (knTreeForce){ ahead->columns[k].ang, ahead->columns[k].lin };
	}
	addForces(ahead);
	addContacts(ahead);
	ahead->system.S = ahead->columns;
	ahead->system.R = ahead->rows;
	ahead->system.B = ahead->B;
	ahead->system.end = ahead->system.mean = ahead->arms;
	if (!knForestSystem_Factor(&ahead->system)) {
		return false;
	}
	knForestSystem_Solve(&ahead->system, ahead->push, ahead->tau, ahead->y, ahead->motions);
	for (int i = 0; i < forest->count; ++i) {
		addOwnLaws(ahead, i);
	}
	return true;
}

// --- the choice ----------------------------------------------------------------------------------------------------

static double scoreOf(const Lookahead* ahead, int node) {
	int i = ahead->linkOf[pieceOfRoot(ahead, node)];
	double sum = 0.0;
	for (int k = 0; i >= 0 && k < ahead->forest.links[i].nv; ++k) {
		double y = ahead->y[ahead->forest.links[i].vOffset + k];
		double v = ahead->qd[ahead->forest.links[i].vOffset + k];
		double after = (v + ahead->step->h * y) / STOP_TIME;
		v /= STOP_TIME;
		sum += ahead->score == SCORE_VELOCITY ? after * after
			   : ahead->score == SCORE_BOTH   ? y * y + v * v
											  : y * y;
	}
	return knIsFinite(sum) ? sum : ALWAYS;
}

// Candidates from the fewest links to the most, with the scores of all that is in them; returns that of all that may stop.
static double scoreCandidates(Lookahead* ahead) {
	knHybridForest* hybrid = &ahead->step->hybrid;
	knArena* arena = ahead->step->context->arena;
	int count = ahead->candidateCount;
	knKeyed* keys = KN_SCRATCH(arena, knKeyed, count);
	ahead->chosen = KN_SCRATCH_ZERO(arena, bool, count);
	double all = 0.0;
	if (arena->failed) {
		return 0.0;
	}
	for (int k = 0; k < count; ++k) {
		keys[k] =
			(knKeyed){ (uint64_t)hybrid->nodes[ahead->candidates[k]].links, (uint32_t)ahead->candidates[k] };
		knHybridForest_Keep(hybrid, &hybrid->nodes[ahead->candidates[k]], sizeof(knHybridNode));
		hybrid->nodes[ahead->candidates[k]].score = 0.0;
	}
	knSort_Keys(keys, count, arena);
	for (int k = 0; k < count; ++k) {
		int n = (int)keys[k].value;
		knHybridNode* node = &hybrid->nodes[n];
		double own = ahead->transient == NULL || ahead->transient[k] ? scoreOf(ahead, n) : 0.0;
		all += node->moves ? 0.0 : own;
		node->score += node->moves ? ALWAYS : own;
		ahead->candidates[k] = n;
		if (node->parent != KN_NODE_NONE) {
			hybrid->nodes[node->parent].score += node->score;
		}
	}
	for (int k = 0; k < count; ++k) {
		hybrid->nodes[ahead->candidates[k]].piece = k;
	}
	return all;
}

typedef struct Heap {
	const knHybridNode* nodes;
	int* items;
	int count;
} Heap;

static bool isBefore(const Heap* heap, int a, int b) {
	double x = heap->nodes[a].score, y = heap->nodes[b].score;
	return x > y || (x == y && a < b);
}

static void pushHeap(Heap* heap, int node) {
	int k = heap->count++;
	for (; k > 0 && isBefore(heap, node, heap->items[(k - 1) / 2]); k = (k - 1) / 2) {
		heap->items[k] = heap->items[(k - 1) / 2];
	}
	heap->items[k] = node;
}

static int popHeap(Heap* heap) {
	int top = heap->items[0], last = heap->items[--heap->count], k = 0;
	for (;;) {
		int child = 2 * k + 1;
		if (child >= heap->count) {
			break;
		}
		child += child + 1 < heap->count && isBefore(heap, heap->items[child + 1], heap->items[child]);
		if (!isBefore(heap, heap->items[child], last)) {
			break;
		}
		heap->items[k] = heap->items[child];
		k = child;
	}
	heap->items[k] = last;
	return top;
}

static bool isCandidate(const Lookahead* ahead, int node) {
	const knHybridNode* part = &ahead->step->hybrid.nodes[node];
	return node != KN_NODE_GROUND && isJointNode(part) && part->piece >= 0 &&
		   part->piece < ahead->candidateCount && ahead->candidates[part->piece] == node &&
		   (ahead->transient == NULL || ahead->transient[part->piece]);
}

// The node moves whenever the one above does.
static bool goesAlong(const Lookahead* ahead, int node) {
	return !ahead->paper && node >= 0 && isCandidate(ahead, node) && ahead->step->hybrid.nodes[node].follows;
}

static void pushPart(const Lookahead* ahead, Heap* heap, int node) {
	if (node >= 0 && isCandidate(ahead, node)) {
		pushHeap(heap, node);
	}
}

// Takes a node and those that follow it, as long as there is room; their number.
static int take(Lookahead* ahead, Heap* heap, int node, int room, double* left) {
	const knHybridNode* nodes = ahead->step->hybrid.nodes;
	int taken = 0;
	for (bool follows = true; follows;) {
		ahead->chosen[nodes[node].piece] = true;
		++taken;
		*left -= nodes[node].moves ? 0.0 : scoreOf(ahead, node);
		pushPart(ahead, heap, nodes[node].left);
		int right = nodes[node].right;
		follows = goesAlong(ahead, right) && taken < room;
		if (!follows) {
			pushPart(ahead, heap, right);
		}
		node = right;
	}
	return taken;
}

static int groupSize(const Lookahead* ahead, int node) {
	const knHybridNode* nodes = ahead->step->hybrid.nodes;
	int size = 1;
	for (int right = nodes[node].right; goesAlong(ahead, right); right = nodes[right].right) {
		++size;
	}
	return size;
}

static bool chooseOnce(Lookahead* ahead, int most, double threshold) {
	const knHybridNode* nodes = ahead->step->hybrid.nodes;
	Heap heap = { .nodes = nodes };
	double left = scoreCandidates(ahead), bar = threshold >= 0.0 ? threshold * threshold : -1.0;
	heap.items = KN_SCRATCH(ahead->step->context->arena, int, ahead->candidateCount + 1);
	if (ahead->step->context->arena->failed) {
		return false;
	}
	for (int k = 0; k < ahead->candidateCount; ++k) {
		if (nodes[ahead->candidates[k]].parent == KN_NODE_NONE &&
			(ahead->transient == NULL || ahead->transient[k])) {
			pushHeap(&heap, ahead->candidates[k]);
		}
	}
	int taken = 0;
	while (heap.count > 0) {
		int node = popHeap(&heap);
		bool must = nodes[node].score >= ALWAYS;
		// what is left is a difference of large numbers, no less than the largest score in the queue
		if (!must && knMax(left, nodes[node].score) <= bar) {
			break;
		}
		// alone among all a joint has no others to swing against
		int size = groupSize(ahead, node), room = taken == 0 && size > most ? most : size;
		if (must || (room > 0 && taken + room <= most)) {
			taken += take(ahead, &heap, node, must ? size : room, &left);
		}
	}
	return true;
}

static bool choose(Lookahead* ahead, int most, double threshold) {
	if (!chooseOnce(ahead, most, threshold) || !ahead->paper) {
		return !ahead->step->context->arena->failed;
	}
	ahead->transient = ahead->chosen;
	ahead->score = SCORE_VELOCITY;
	return chooseOnce(ahead, most, threshold);
}

// --- the change ----------------------------------------------------------------------------------------------------

static void stopCoordinates(knAdaptiveStep* step, int node) {
	const int index = step->hybrid.links[node].joint;
	const knJoint* joint = &step->context->model->joints[index];
	knAdaptive_KeepJoint(step, index);
	knHybridForest_Keep(&step->hybrid, &step->hybrid.memory[node], sizeof(knLinkMemory));
	for (int k = 0; k < joint->nv; ++k) {
		step->context->state->v[joint->vOffset + k] = 0.0;
		step->hybrid.memory[node].v[k] = 0.0;
	}
	step->context->state->joint[index].reaction = knZeroTwist();
}

// A joint may stop when what it joins is rigid on both sides: active joints are a part of the tree that holds its root.
static bool canFreeze(const knHybridForest* hybrid, int node) {
	const knHybridNode* whole = &hybrid->nodes[node];
	int rightRoot = hybrid->nodes[whole->right].root;
	return hybrid->segments[rightRoot].node == whole->right &&
		   (whole->ground || hybrid->segments[whole->root].node == whole->left);
}

// Joints that were not chosen stop, from the leaves up, whatever the order of the candidates; what has a joint below
// that goes on goes on too.
static void freezeOthers(Lookahead* ahead, bool* changed) {
	knHybridForest* hybrid = &ahead->step->hybrid;
	for (bool again = true; again;) {
		again = false;
		for (int k = 0; k < ahead->candidateCount; ++k) {
			int node = ahead->candidates[k];
			if (hybrid->nodes[node].active && !ahead->chosen[k] && canFreeze(hybrid, node)) {
				knHybridForest_Freeze(hybrid, node);
				stopCoordinates(ahead->step, node);
				again = *changed = true;
			}
		}
	}
}

static knStatus apply(Lookahead* ahead, bool* changed) {
	knAdaptiveStep* step = ahead->step;
	knHybridForest* hybrid = &step->hybrid;
	freezeOthers(ahead, changed);
	if (!knHybridForest_ListFronts(hybrid, step->context->arena)) {
		return knAdaptive_OutOfMemory(step);
	}
	for (int k = ahead->candidateCount - 1; k >= 0; --k) {
		int node = ahead->candidates[k];
		if (!hybrid->nodes[node].active && ahead->chosen[k]) {
			knHybridForest_Split(hybrid, node);
			*changed = true;
		}
	}
	return knHybridForest_ListFronts(hybrid, step->context->arena) ? KN_OK : knAdaptive_OutOfMemory(step);
}

static int wantedCount(const knAdaptiveStep* step) {
	const knSettings* settings = step->context->settings;
	const knHybridForestHeader* header = step->hybrid.header;
	int count = settings->adaptive.active >= 0 ? settings->adaptive.active : header->jointTotal;
	if (settings->adaptive.budget >= 0.0 && header->budgetCount > 0) {
		count = count < header->budgetCount ? count : header->budgetCount;
	}
	return count < header->jointTotal ? count : header->jointTotal;
}

// Segments of fewer links than twice the mean are not cut further.
static int leastLinks(const knAdaptiveStep* step, int most) {
	int total = step->hybrid.header->jointTotal;
	if (knAdaptive_IsPaper(step)) {
		return 1;
	}
	return most > 0 && most < total ? 2 * total / most : 1;
}

knStatus knAdaptive_UpdateRegion(knAdaptiveStep* step) {
	const knSettings* settings = step->context->settings;
	knHybridForestHeader* header = step->hybrid.header;
	int most = wantedCount(step);
	double threshold = settings->adaptive.threshold;
	header->sinceUpdate = 0;
	if (most == header->jointTotal && threshold < 0.0 && header->activeCount == header->jointTotal) {
		return KN_OK;
	}
	bool paper = knAdaptive_IsPaper(step), both = !paper && (threshold >= 0.0 || step->changed);
	Lookahead ahead = { .step = step,
						.minLinks = leastLinks(step, most),
						.paper = paper,
						.score = both ? SCORE_BOTH : SCORE_ACCELERATION };
	if (!takePieces(&ahead) || !makeForest(&ahead) || !takeSystem(&ahead)) {
		return knAdaptive_OutOfMemory(step);
	}
	bool changed = false;
	if (!solve(&ahead)) {
		return KN_OK; // no figures to choose by: all stays
	}
	if (!choose(&ahead, most, threshold)) {
		return knAdaptive_OutOfMemory(step);
	}
	knStatus status = apply(&ahead, &changed);
	return status == KN_OK && changed ? knAdaptive_Project(step) : status;
}

// Cuts the segment that holds a link, with joints that go together, until its part is short. Whether anything was cut.
static bool cutAround(knHybridForest* hybrid, int link, int minLinks) {
	bool any = false;
	for (;;) {
		knLinkPath path;
		int root = knHybridForest_FindLink(hybrid, link, &path), node = hybrid->segments[root].node;
		if (knHybridForest_IsLeaf(&hybrid->nodes[node]) || hybrid->nodes[node].links < minLinks) {
			return any;
		}
		any = true;
		for (bool follows = true; follows;) {
			int right = hybrid->nodes[node].right;
			knHybridForest_Split(hybrid, node);
			follows = hybrid->nodes[right].follows && isJointNode(&hybrid->nodes[right]);
			node = right;
		}
	}
}

knStatus knAdaptive_WakePressed(knAdaptiveStep* step) {
	int most = wantedCount(step);
	bool any = false;
	for (int k = 0; k < step->pressedCount && most > 0; ++k) {
		any = cutAround(&step->hybrid, step->pressed[k], leastLinks(step, most)) || any;
	}
	if (!any) {
		return KN_OK;
	}
	bool listed = knHybridForest_ListFronts(&step->hybrid, step->context->arena);
	return listed ? knAdaptive_Project(step) : knAdaptive_OutOfMemory(step);
}
