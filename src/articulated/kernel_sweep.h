// From the root: poses of all links and, for dynamics, their velocities, accelerations and the forces that their
// inertias ask for.
#pragma once

#include "articulated/kernel_turns.h"

static knTreeMotion worldMotion(const knLanes33* R, knTwist t) {
	return (knTreeMotion){ knLanes_Mul(R, knLanes_FromVec(t.ang)), knLanes_Mul(R, knLanes_FromVec(t.lin)) };
}

// --- one link --------------------------------------------------------------------------------------------

// A hinge turns about the joint frame's x axis: its y and z columns mix. A slider moves along it.
KN_LANES_INLINE void placeNarrow(const knTreeNode* node, const knTreeWork* work, const knLanes33* parent,
								 const double* q, knTreePose* pose) {
	knLanes33 rest = { knLanes_MulNumbers(parent, node->turn), knLanes_MulNumbers(parent, node->turn + 3),
					   knLanes_MulNumbers(parent, node->turn + 6) };
	knLanes r = knLanes_MulNumbers(parent, node->shift);
	pose->R.x = rest.x;
	if (knTreeNode_IsHinge(node)) {
		knLanes s = knLanes_All(work->sine[node->qOffset]), c = knLanes_All(work->cosine[node->qOffset]);
		pose->R.y = rest.y * c + rest.z * s;
		pose->R.z = rest.z * c - rest.y * s;
		pose->r = r;
	} else {
		pose->R.y = rest.y;
		pose->R.z = rest.z;
		pose->r = r + rest.x * knLanes_All(q[node->qOffset]);
	}
}

// Any other joint: its pose and its columns of S.
static void placeWide(const knTree* tree, knTreeWork* work, int i, const knLanes33* parent, const double* q) {
	const knTreeNode* node = &tree->nodes[i];
	const knJointOps* ops = knJointOps_Get(node->kind);
	knFrame J = ops->transform(&tree->joints[i], q + node->qOffset);
	knMat33 turn = knQuat_ToMat33(J.q);
	knLanes33 turned = knLanes_FromMat(&turn);
	knLanes33 rest = { knLanes_MulNumbers(parent, node->turn), knLanes_MulNumbers(parent, node->turn + 3),
					   knLanes_MulNumbers(parent, node->turn + 6) };
	knTreePose* pose = &work->pose[i];
	pose->R = knLanes_MulMat(&rest, &turned);
	pose->r = knLanes_MulNumbers(parent, node->shift) + knLanes_Mul(&rest, knLanes_FromVec(J.p));
	knTwist S[KN_JOINT_MAX_V];
	ops->subspace(&tree->joints[i], q + node->qOffset, S);
	for (int k = 0; k < node->nv; ++k) {
		work->S[node->vOffset + k] = worldMotion(&pose->R, S[k]);
	}
}

static knTreeMotion sumColumns(const knTree* tree, const knTreeWork* work, int i, const double* v) {
	const knTreeNode* node = &tree->nodes[i];
	knTreeMotion sum = { knLanes_All(0.0), knLanes_All(0.0) };
	for (int k = 0; k < node->nv; ++k) {
		const knTreeMotion* S = &work->S[node->vOffset + k];
		knLanes speed = knLanes_All(v[node->vOffset + k]);
		sum.ang += S->ang * speed;
		sum.lin += S->lin * speed;
	}
	return sum;
}

// The velocity that a wide joint adds, and the acceleration it adds beside that of the shift: with (w', s) the
// joint's velocity, w_p x w' and 2 w_p x s + w' x s, what S itself changes by, and S qdd.
static void moveWide(const knTree* tree, const knTreeWork* work, int i, knLanes parent, const double* q,
					 const double* v, const double* qdd, knTreeMotion* joint, knTreeMotion* bias) {
	const knTreeNode* node = &tree->nodes[i];
	*joint = sumColumns(tree, work, i, v);
	knTwist rate =
		knJointOps_Get(node->kind)->subspaceRate(&tree->joints[i], q + node->qOffset, v + node->vOffset);
	*bias = worldMotion(&work->pose[i].R, rate);
	bias->ang += knLanes_Cross(parent, joint->ang);
	bias->lin += knLanes_Cross(parent + parent + joint->ang, joint->lin);
	if (qdd != NULL) {
		knTreeMotion added = sumColumns(tree, work, i, qdd);
		bias->ang += added.ang;
		bias->lin += added.lin;
	}
}

KN_LANES_INLINE void moveNarrow(const knTreeNode* node, knLanes axis, knLanes parent, const double* v,
								const double* qdd, knTreeMotion* joint, knTreeMotion* bias) {
	const knLanes none = knLanes_All(0.0);
	knLanes move = axis * knLanes_All(v[node->vOffset]), turning = knLanes_Cross(parent, move);
	knLanes added = qdd != NULL ? axis * knLanes_All(qdd[node->vOffset]) : none;
	if (knTreeNode_IsHinge(node)) {
		*joint = (knTreeMotion){ move, none };
		*bias = (knTreeMotion){ turning + added, none };
	} else {
		*joint = (knTreeMotion){ none, move };
		*bias = (knTreeMotion){ none, turning + turning + added };
	}
}

// --- all links -------------------------------------------------------------------------------------------

KN_LANES_INLINE const knLanes33* parentAxes(const knTreeWork* work, const knTreeNode* node) {
	return node->parent >= 0 ? &work->pose[node->parent].R : &work->base->pose.R;
}

KN_LANES_INLINE void placeOrigin(const knTree* tree, knTreeWork* work, int i) {
	int p = tree->nodes[i].parent;
	work->origin[i] = (p >= 0 ? work->origin[p] : work->base->pose.r) + work->pose[i].r;
}

static void placeLinks(const knTree* tree, knTreeWork* work, const double* q) {
	takeTurns(q, tree->nq, work->sine, work->cosine);
	for (int i = 0; i < tree->count; ++i) {
		const knTreeNode* node = &tree->nodes[i];
		const knLanes33* parent = parentAxes(work, node);
		if (knTreeNode_IsWide(node)) {
			placeWide(tree, work, i, parent, q);
		} else {
			placeNarrow(node, work, parent, q, &work->pose[i]);
		}
		placeOrigin(tree, work, i);
	}
}

// Built once with and once without accelerations.
KN_LANES_INLINE void sweep(const knTree* tree, knTreeWork* work, const double* q, const double* v,
						   const double* qdd, knVec3 gravity) {
	const knTreeMotion lifted = { knLanes_All(0.0), -knLanes_FromVec(gravity) };
	for (int i = 0; i < tree->count; ++i) {
		const knTreeNode* node = &tree->nodes[i];
		int p = node->parent;
		const knLanes33* axes = parentAxes(work, node);
		const knTreeMotion* vp = p >= 0 ? &work->velocity[p] : &work->base->velocity;
		const knTreeMotion* ap = p >= 0 ? &work->motion[p] : &lifted;
		knTreePose* pose = &work->pose[i];
		knTreeMotion joint, bias;
		if (knTreeNode_IsWide(node)) {
			placeWide(tree, work, i, axes, q);
			moveWide(tree, work, i, vp->ang, q, v, qdd, &joint, &bias);
		} else {
			placeNarrow(node, work, axes, q, pose);
			moveNarrow(node, pose->R.x, vp->ang, v, qdd, &joint, &bias);
		}
		placeOrigin(tree, work, i);
		knLanes r = pose->r, swing = knLanes_Cross(vp->ang, r);
		knTreeMotion velocity = { vp->ang + joint.ang, vp->lin + swing + joint.lin };
		knTreeMotion motion = { ap->ang + bias.ang, ap->lin + knLanes_Cross(ap->ang, r) +
														knLanes_Cross(vp->ang, swing) + bias.lin };
		work->velocity[i] = velocity;
		work->motion[i] = motion;
		knTreeRigid rigid = knTreeNode_Rigid(node, &pose->R);
		work->rigid[i] = rigid;
		work->force[i] = knTreeRigid_Force(&rigid, node->mass, velocity.ang, &motion);
	}
}

static void sweepLinks(const knTree* tree, knTreeWork* work, const double* q, const double* v,
					   const double* qdd, knVec3 gravity) {
	takeTurns(q, tree->nq, work->sine, work->cosine);
	if (qdd != NULL) {
		sweep(tree, work, q, v, qdd, gravity);
	} else {
		sweep(tree, work, q, v, NULL, gravity);
	}
}

// Poses and inertias at rest, for impulses.
static void stiffenLinks(const knTree* tree, knTreeWork* work, const double* q) {
	placeLinks(tree, work, q);
	for (int i = 0; i < tree->count; ++i) {
		work->rigid[i] = knTreeNode_Rigid(&tree->nodes[i], &work->pose[i].R);
		work->force[i] = (knTreeForce){ knLanes_All(0.0), knLanes_All(0.0) };
	}
}
