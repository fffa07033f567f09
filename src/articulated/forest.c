// The forest of a world's bodies: links, coordinates, poses (forest.h).
#include "articulated/forest.h"

#define CENTRED 1e-9 // m, within which a body's centre is on its joint's axis

// Joints that have their kinds and sizes only: all that transforms and subspaces read.
#define BARE(id, coordinates, velocities) [id] = { .kind = (id), .nq = (coordinates), .nv = (velocities) }
static const knJoint bareJoints[KN_JOINT_KIND_COUNT] = {
	BARE(KN_JOINT_BALL, 4, 3),     BARE(KN_JOINT_HINGE, 1, 1),   BARE(KN_JOINT_SLIDER, 1, 1),
	BARE(KN_JOINT_SLIDER2, 2, 2),  BARE(KN_JOINT_SLIDER3, 3, 3), BARE(KN_JOINT_UNIVERSAL, 2, 2),
	BARE(KN_JOINT_CYLINDER, 2, 2), BARE(KN_JOINT_PLANAR, 3, 3),  BARE(KN_JOINT_FREE, 7, 6),
	BARE(KN_JOINT_FIXED, 0, 0),
};

static const knJoint* bareJoint(const knForestLink* link) {
	return &bareJoints[link->kind];
}

// --- links -----------------------------------------------------------------------------------------------

static void makeLink(knForest* forest, const knSpanning* spanning, int body) {
	const knModel* model = forest->model;
	knForestLink* link = &forest->links[forest->count];
	int j = spanning->via[body];
	*link = (knForestLink){ .body = body,
							.parent = -1,
							.joint = j,
							.kind = KN_JOINT_FREE,
							.inParent = knIdentityF(),
							.fromJoint = knIdentityF() };
	if (j >= 0) {
		const knJoint* joint = &model->joints[j];
		link->reversed = joint->parent == body;
		link->kind = joint->kind;
		link->parentBody = link->reversed ? joint->child : joint->parent;
		link->parent = forest->linkOf[link->parentBody];
		knFrame own = link->reversed ? joint->frameParent : joint->frameChild;
		link->inParent = link->reversed ? joint->frameChild : joint->frameParent;
		if (link->reversed && link->kind == KN_JOINT_UNIVERSAL) {
			own = knSpanning_SwapAxes(own);
			link->inParent = knSpanning_SwapAxes(link->inParent);
		}
		link->fromJoint = knInvF(own);
	}
	const knJointOps* ops = knJointOps_Get(link->kind);
	KN_ASSERT(bareJoint(link)->nq == ops->nq && bareJoint(link)->nv == ops->nv);
	link->nq = ops->nq;
	link->nv = ops->nv;
	link->qOffset = forest->nq;
	link->vOffset = forest->nv;
	link->bOffset = forest->bCount;
	forest->nq += ops->nq;
	forest->nv += ops->nv;
	forest->bCount += ops->nv * ops->nv;
	forest->linkOf[body] = forest->count++;
}

static void listLoops(knForest* forest, const knState* state, const bool* isTree) {
	const knModel* model = forest->model;
	for (int j = 0; j < knState_JointCount(model); ++j) {
		bool inTree = j < model->jointCount && isTree[j];
		if (inTree || !knState_JointActive(state, model, j)) {
			continue;
		}
		const knJoint* joint = knState_Joint(state, model, j);
		if (forest->linkOf[joint->parent] >= 0 || forest->linkOf[joint->child] >= 0) {
			forest->loops[forest->loopCount++] = j;
		}
	}
}

bool knForest_Build(knForest* forest, const knModel* model, const knState* state, const bool* loop,
					knArena* arena) {
	*forest = (knForest){ .model = model };
	bool* usable = KN_SCRATCH(arena, bool, model->jointCount + 1);
	forest->links = KN_SCRATCH(arena, knForestLink, model->bodyCount);
	forest->linkOf = KN_SCRATCH(arena, int, model->bodyCount);
	forest->loops = KN_SCRATCH(arena, int, knState_JointCount(model) + 1);
	if (arena->failed) {
		return false;
	}
	for (int j = 0; j < model->jointCount; ++j) {
		usable[j] = state->joint[j].enabled != 0;
	}
	for (int b = 0; b < model->bodyCount; ++b) {
		forest->linkOf[b] = -1;
	}
	knSpanning spanning;
	if (!knSpanning_Find(&spanning, model, usable, loop, arena)) {
		return false;
	}
	for (int k = 0; k < spanning.bodyFirst[spanning.groupCount]; ++k) {
		makeLink(forest, &spanning, spanning.bodies[k]);
	}
	for (int i = 0; i < forest->count; ++i) {
		forest->links[i].alone = forest->links[i].joint < 0;
	}
	for (int i = 0; i < forest->count; ++i) {
		if (forest->links[i].parent >= 0) {
			forest->links[forest->links[i].parent].alone = false;
		}
	}
	bool* parent = KN_SCRATCH_ZERO(arena, bool, model->bodyCount);
	for (int i = 0; parent != NULL && i < forest->count; ++i) {
		parent[forest->links[i].parentBody] = true;
	}
	for (int i = 0; parent != NULL && i < forest->count; ++i) {
		knForestLink* link = &forest->links[i];
		bool single =
			link->parent < 0 && !parent[link->body] && model->bodyKind[link->parentBody] == KN_BODY_FIXED;
		// on the joint's axis: a centre that goes round needs cay to fit the spin
		knVec3 arm = link->fromJoint.p;
		double off = knAbs(arm.y) + knAbs(arm.z) + (link->kind == KN_JOINT_BALL ? knAbs(arm.x) : 0.0);
		bool turns = link->kind == KN_JOINT_HINGE || link->kind == KN_JOINT_BALL;
		link->steady = link->alone || (single && turns && off <= CENTRED);
	}
	listLoops(forest, state, spanning.isTree);
	return !arena->failed;
}

// --- coordinates -----------------------------------------------------------------------------------------

static knFrame jointFrame(const knForestLink* link, const knFrame* poses) {
	knFrame outer = knMulF(poses[link->parentBody], link->inParent);
	return knInvMulF(outer, knMulF(poses[link->body], knInvF(link->fromJoint)));
}

void knForest_NeutralLink(const knForest* forest, int i, double* q) {
	const knJoint* joint = bareJoint(&forest->links[i]);
	knJoint_NeutralCoordinates(joint, q + forest->links[i].qOffset);
}

void knForest_ReadLink(const knForest* forest, int i, const knFrame* poses, double* q) {
	const knForestLink* link = &forest->links[i];
	const knJoint* joint = bareJoint(link);
	double previous[KN_JOINT_MAX_Q];
	for (int k = 0; k < link->nq; ++k) {
		previous[k] = q[link->qOffset + k];
	}
	knJointOps_Get(link->kind)->coordinates(joint, jointFrame(link, poses), previous, q + link->qOffset);
}

// A rotation is the same with either sign: the one that goes on from the pose before.
static knFrame continued(knFrame pose, knFrame before) {
	pose.q = knNormalizeQ(knDotQ(pose.q, before.q) < 0.0 ? knNegQ(pose.q) : pose.q);
	return pose;
}

void knForest_Place(const knForest* forest, const double* q, knFrame* poses) {
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		const knJoint* joint = bareJoint(link);
		knFrame J = knJointOps_Get(link->kind)->transform(joint, q + link->qOffset);
		knFrame outer = link->joint < 0 ? J : knMulF(knMulF(poses[link->parentBody], link->inParent), J);
		poses[link->body] = continued(knMulF(outer, link->fromJoint), poses[link->body]);
	}
}

void knForest_Advance(const knForest* forest, double* q, const double* y, double scale) {
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		const knJoint* joint = bareJoint(link);
		knJointOps_Get(link->kind)->integrate(joint, q + link->qOffset, y + link->vOffset, scale);
	}
}

void knForest_Columns(const knForest* forest, const double* q, const knFrame* poses, knTreeMotion* columns,
					  knLanes* c) {
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		const knJoint* joint = bareJoint(link);
		knQuat axes = knMulQ(poses[link->body].q, knConj(link->fromJoint.q)); // of the joint's child frame
		knVec3 arm = knRotate(axes, link->fromJoint.p);
		knTwist S[KN_JOINT_MAX_V];
		knJointOps_Get(link->kind)->subspace(joint, q + link->qOffset, S);
		c[i] = knLanes_FromVec(arm);
		for (int k = 0; k < link->nv; ++k) {
			knTwist world = knRotateT(axes, S[k]);
			world.lin = knAdd(world.lin, knCross(world.ang, arm));
			columns[link->vOffset + k] =
				(knTreeMotion){ knLanes_FromVec(world.ang), knLanes_FromVec(world.lin) };
		}
	}
}

void knForest_Velocities(const knForest* forest, const knTreeMotion* columns, const knFrame* poses,
						 const double* v, knTwist* velocities) {
	for (int i = 0; i < forest->count; ++i) {
		const knForestLink* link = &forest->links[i];
		knTwist sum = knZeroTwist();
		if (link->joint >= 0) {
			knTwist base = velocities[link->parentBody];
			knVec3 arm = knSub(poses[link->body].p, poses[link->parentBody].p);
			sum = knMakeTwist(base.ang, knAdd(base.lin, knCross(base.ang, arm)));
		}
		for (int k = link->vOffset; k < link->vOffset + link->nv; ++k) {
			knTwist column = { knLanes_ToVec(columns[k].ang), knLanes_ToVec(columns[k].lin) };
			sum = knMulAddT(sum, v[k], column);
		}
		velocities[link->body] = sum;
	}
}
