// The response of a tree to impulses (Mirtich 1996): the articulated recursion once more with known inertias, p minus
// the impulse, and no velocity terms. A collision matrix follows three unit impulses along the struck paths only.
#include "articulated/tree.h"

#include "core/dense.h"

void knTree_PrepareImpulses(const knTree* tree, knTreeWork* work, const double* q) {
	knTree_Place(tree, work, q);
	for (int i = 0; i < tree->count; ++i) {
		work->rigid[i] = knTreeNode_Rigid(&tree->nodes[i], &work->pose[i].R);
		work->force[i] = (knTreeForce){ knLanes_All(0.0), knLanes_All(0.0) };
	}
	knTree_Gather(tree, work, NULL);
}

// --- one joint -------------------------------------------------------------------------------------------

// u = tau - S.Y of a link's joint.
static void projectJoint(const knTree* tree, const knTreeWork* work, int i, const knTreeForce* Y, double* u) {
	const knTreeNode* node = &tree->nodes[i];
	if (knTreeNode_IsHinge(node)) {
		u[0] = -knLanes_Dot(work->pose[i].R.x, Y->n);
		return;
	}
	for (int k = 0; k < node->nv; ++k) {
		u[k] = -knTree_Power(&work->S[node->vOffset + k], Y);
	}
}

// What passes on to the parent: Y + U D^-1 u, shifted.
static knTreeForce passOn(const knTree* tree, const knTreeWork* work, int i, knTreeForce Y, const double* u) {
	const knTreeNode* node = &tree->nodes[i];
	if (knTreeNode_IsHinge(node)) {
		const knTreeJoint* joint = &work->joint[i];
		knLanes push = knLanes_All(joint->invD * u[0]);
		Y.n += joint->U.n * push;
		Y.f += joint->U.f * push;
	} else {
		double x[KN_JOINT_MAX_V];
		for (int k = 0; k < node->nv; ++k) {
			x[k] = u[k];
		}
		knDense_SolveLdl(work->wide[i].D, node->nv, x);
		for (int k = 0; k < node->nv; ++k) {
			Y.n += work->wide[i].U[k].n * knLanes_All(x[k]);
			Y.f += work->wide[i].U[k].f * knLanes_All(x[k]);
		}
	}
	Y.n += knLanes_Cross(work->pose[i].r, Y.f);
	return Y;
}

// The link's motion from its parent's and the joint's u; the joint's own change goes to x.
static knTreeMotion follow(const knTree* tree, const knTreeWork* work, int i, knTreeMotion motion,
						   const double* u, double* x) {
	const knTreeNode* node = &tree->nodes[i];
	if (knTreeNode_IsHinge(node)) {
		const knTreeJoint* joint = &work->joint[i];
		x[0] = joint->invD * (u[0] - knTree_Power(&motion, &joint->U));
		motion.ang += work->pose[i].R.x * knLanes_All(x[0]);
		return motion;
	}
	for (int k = 0; k < node->nv; ++k) {
		x[k] = u[k] - knTree_Power(&motion, &work->wide[i].U[k]);
	}
	knDense_SolveLdl(work->wide[i].D, node->nv, x);
	for (int k = 0; k < node->nv; ++k) {
		const knTreeMotion* S = &work->S[node->vOffset + k];
		motion.ang += S->ang * knLanes_All(x[k]);
		motion.lin += S->lin * knLanes_All(x[k]);
	}
	return motion;
}

static knTreeMotion parentMotion(const knTree* tree, const knTreeMotion* parent, int i, knLanes r) {
	const knTreeMotion still = { knLanes_All(0.0), knLanes_All(0.0) };
	return knTreeMotion_Shift(tree->nodes[i].parent >= 0 ? parent : &still, r);
}

// --- impulses --------------------------------------------------------------------------------------------

void knTree_Respond(const knTree* tree, knTreeWork* work, const knTreeImpulse* impulses, int count,
					const double* jointImpulses, double* dv) {
	for (int i = 0; i < tree->count; ++i) {
		work->force[i] = (knTreeForce){ knLanes_All(0.0), knLanes_All(0.0) };
	}
	for (int k = 0; k < count; ++k) {
		const knTreeImpulse* hit = &impulses[k];
		knVec3 moment = knAdd(
			hit->moment, knCross(knSub(hit->point, knLanes_ToVec(work->origin[hit->link])), hit->impulse));
		work->force[hit->link].n -= knLanes_FromVec(moment);
		work->force[hit->link].f -= knLanes_FromVec(hit->impulse);
	}
	for (int i = tree->count - 1; i >= 0; --i) {
		const knTreeNode* node = &tree->nodes[i];
		double* u = dv + node->vOffset;
		projectJoint(tree, work, i, &work->force[i], u);
		for (int k = 0; jointImpulses != NULL && k < node->nv; ++k) {
			u[k] += jointImpulses[node->vOffset + k];
		}
		if (node->parent >= 0) {
			knTreeForce passed = passOn(tree, work, i, work->force[i], u);
			work->force[node->parent].n += passed.n;
			work->force[node->parent].f += passed.f;
		}
	}
	for (int i = 0; i < tree->count; ++i) {
		const knTreeNode* node = &tree->nodes[i];
		double u[KN_JOINT_MAX_V];
		for (int k = 0; k < node->nv; ++k) {
			u[k] = dv[node->vOffset + k];
		}
		int p = node->parent;
		knTreeMotion motion = parentMotion(tree, p >= 0 ? &work->motion[p] : NULL, i, work->pose[i].r);
		work->motion[i] = follow(tree, work, i, motion, u, dv + node->vOffset);
	}
}

// --- collision matrix --------------------------------------------------------------------------------------

// Links from both struck ones to the root, descending; those of both paths once.
static int listPath(const knTree* tree, knTreeWork* work, int a, int b) {
	int count = 0;
	while (a >= 0 || b >= 0) {
		int i = a > b ? a : b;
		work->path[count++] = i;
		a = a == i ? tree->nodes[i].parent : a;
		b = b == i ? tree->nodes[i].parent : b;
	}
	return count;
}

static void addUnitImpulses(knTreeWork* work, int link, knVec3 point, double sign) {
	knVec3 arm = knSub(point, knLanes_ToVec(work->origin[link]));
	for (int c = 0; c < 3; ++c) {
		knVec3 unit = knZero3();
		knSetComponent(&unit, c, sign);
		work->probeForce[link][c].n -= knLanes_FromVec(knCross(arm, unit));
		work->probeForce[link][c].f -= knLanes_FromVec(unit);
	}
}

static knVec3 pointMotion(const knTreeWork* work, int link, knVec3 point, int c) {
	const knTreeMotion* motion = &work->probeMotion[link][c];
	knVec3 arm = knSub(point, knLanes_ToVec(work->origin[link]));
	return knAdd(knLanes_ToVec(motion->lin), knCross(knLanes_ToVec(motion->ang), arm));
}

static void probeUp(const knTree* tree, knTreeWork* work, int i) {
	const knTreeNode* node = &tree->nodes[i];
	for (int c = 0; c < 3; ++c) {
		double u[KN_JOINT_MAX_V];
		projectJoint(tree, work, i, &work->probeForce[i][c], u);
		for (int k = 0; k < node->nv; ++k) {
			work->probe[node->vOffset + k][c] = u[k];
		}
		if (node->parent >= 0) {
			knTreeForce passed = passOn(tree, work, i, work->probeForce[i][c], u);
			work->probeForce[node->parent][c].n += passed.n;
			work->probeForce[node->parent][c].f += passed.f;
		}
	}
}

static void probeDown(const knTree* tree, knTreeWork* work, int i) {
	const knTreeNode* node = &tree->nodes[i];
	for (int c = 0; c < 3; ++c) {
		double u[KN_JOINT_MAX_V], x[KN_JOINT_MAX_V];
		for (int k = 0; k < node->nv; ++k) {
			u[k] = work->probe[node->vOffset + k][c];
		}
		int p = node->parent;
		knTreeMotion motion =
			parentMotion(tree, p >= 0 ? &work->probeMotion[p][c] : NULL, i, work->pose[i].r);
		work->probeMotion[i][c] = follow(tree, work, i, motion, u, x);
	}
}

knMat33 knTree_CollisionMatrix(const knTree* tree, knTreeWork* work, int linkA, int linkB, knVec3 point) {
	int count = listPath(tree, work, linkA, linkB);
	for (int k = 0; k < count; ++k) {
		for (int c = 0; c < 3; ++c) {
			work->probeForce[work->path[k]][c] = (knTreeForce){ knLanes_All(0.0), knLanes_All(0.0) };
		}
	}
	if (linkA >= 0) {
		addUnitImpulses(work, linkA, point, 1.0);
	}
	if (linkB >= 0) {
		addUnitImpulses(work, linkB, point, -1.0);
	}
	for (int k = 0; k < count; ++k) {
		probeUp(tree, work, work->path[k]);
	}
	for (int k = count - 1; k >= 0; --k) {
		probeDown(tree, work, work->path[k]);
	}
	knMat33 K;
	knVec3* columns[3] = { &K.cx, &K.cy, &K.cz };
	for (int c = 0; c < 3; ++c) {
		knVec3 a = linkA >= 0 ? pointMotion(work, linkA, point, c) : knZero3();
		knVec3 b = linkB >= 0 ? pointMotion(work, linkB, point, c) : knZero3();
		*columns[c] = knSub(a, b);
	}
	return K;
}
