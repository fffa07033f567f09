// Forward dynamics by articulated bodies (Featherstone 1987).
//
//   from the leaves   IA = I + shares of the children, p likewise
//                     U = IA S,  D = S^T U + diagonal,  u = tau - S^T p;  IA, p and U shifted to the parent
//                     to the parent: IA - U D^-1 U^T and p + U D^-1 u
//   from the root     qdd = D^-1 (u - U^T a) with a of the parent,  a = shifted a + S qdd
//
// Velocity terms are in p already (tree.h), so the recursion has none.
#pragma once

#include "articulated/tree.h"
#include "core/dense.h"

// --- from the leaves ---------------------------------------------------------------------------------------

KN_LANES_INLINE void leaveShare(const knTree* tree, knTreeWork* work, int i, const knTreeInertia* Ia,
								const knTreeForce* pa) {
	const knTreeNode* node = &tree->nodes[i];
	knTreeShare* share = &work->slots[tree->nodes[node->parent].slot];
	if (node->opens) {
		share->inertia = *Ia;
		share->force = *pa;
	} else {
		knTreeInertia_Add(&share->inertia, Ia);
		share->force.n += pa->n;
		share->force.f += pa->f;
	}
}

// M - U V^T for one column U and V = U/D.
KN_LANES_INLINE void removeRank(knTreeInertia* I, const knTreeForce* U, const knTreeForce* V) {
	knLanes nx = knLanes_X(V->n), ny = knLanes_Y(V->n), nz = knLanes_Z(V->n);
	I->A.x -= U->n * nx;
	I->A.y -= U->n * ny;
	I->A.z -= U->n * nz;
	I->H.x -= U->f * nx;
	I->H.y -= U->f * ny;
	I->H.z -= U->f * nz;
	I->C.x -= U->f * knLanes_X(V->f);
	I->C.y -= U->f * knLanes_Y(V->f);
	I->C.z -= U->f * knLanes_Z(V->f);
}

// A hinge or slider. Everything is shifted to the parent's origin before the joint's own part is taken away, so that
// the shift does not wait for the division.
KN_LANES_INLINE void reduceNarrow(const knTree* tree, knTreeWork* work, int i, const knTreeInertia* IA,
								  const knTreeForce* p, double tau, double own) {
	bool hinge = knTreeNode_IsHinge(&tree->nodes[i]);
	knLanes axis = work->pose[i].R.x, r = work->pose[i].r;
	knLanes33 Ht = knLanes_Transpose(&IA->H);
	knTreeForce U;
	if (hinge) {
		U = (knTreeForce){ knLanes_Mul(&IA->A, axis), knLanes_Mul(&IA->H, axis) };
	} else {
		U = (knTreeForce){ knLanes_Mul(&Ht, axis), knLanes_Mul(&IA->C, axis) };
	}
	double invD = 1.0 / (knLanes_Dot(axis, hinge ? U.n : U.f) + own);
	double u = tau - knLanes_Dot(axis, hinge ? p->n : p->f);
	U.n += knLanes_Cross(r, U.f);
	knLanes scale = knLanes_All(invD);
	knTreeForce V = { U.n * scale, U.f * scale };
	work->joint[i] = (knTreeJoint){ V, invD, invD * u };
	if (tree->nodes[i].parent >= 0) {
		knTreeInertia Ia = knTreeInertia_ShiftWith(IA, &Ht, r);
		removeRank(&Ia, &U, &V);
		knLanes push = knLanes_All(u);
		knTreeForce pa = { p->n + knLanes_Cross(r, p->f) + V.n * push, p->f + V.f * push };
		leaveShare(tree, work, i, &Ia, &pa);
	}
}

// D = S^T U, factored; u; then U D^-1 U^T as a sum over columns of U L^-T.
static void reduceWide(const knTree* tree, knTreeWork* work, int i, knTreeInertia* IA, knTreeForce* p,
					   const double* tau) {
	const knTreeNode* node = &tree->nodes[i];
	knTreeWideJoint* joint = &work->wide[i];
	const knTreeMotion* S = &work->S[node->vOffset];
	knLanes r = work->pose[i].r;
	int n = node->nv;
	for (int k = 0; k < n; ++k) {
		joint->U[k] = knTreeInertia_Mul(IA, &S[k]);
		joint->u[k] = (tau != NULL ? tau[node->vOffset + k] : 0.0) - knTree_Power(&S[k], p);
	}
	for (int k = 0; k < n; ++k) {
		for (int l = 0; l < n; ++l) {
			joint->D[k * n + l] = knTree_Power(&S[k], &joint->U[l]);
		}
		joint->D[k * n + k] += work->diagonal != NULL ? work->diagonal[node->vOffset + k] : 0.0;
	}
	knDense_FactorLdl(joint->D, n);
	for (int k = 0; k < n; ++k) {
		joint->U[k].n += knLanes_Cross(r, joint->U[k].f);
	}
	if (node->parent < 0) {
		return;
	}
	*IA = knTreeInertia_Shift(IA, r);
	p->n += knLanes_Cross(r, p->f);
	// W = L^-1 U (over columns): U D^-1 U^T = sum of W_k W_k^T / d_k
	knTreeForce W[6];
	double pushed[6];
	for (int k = 0; k < n; ++k) {
		W[k] = joint->U[k];
		pushed[k] = joint->u[k];
		for (int l = 0; l < k; ++l) {
			knLanes factor = knLanes_All(joint->D[k * n + l]);
			W[k].n -= W[l].n * factor;
			W[k].f -= W[l].f * factor;
			pushed[k] -= joint->D[k * n + l] * pushed[l];
		}
	}
	for (int k = 0; k < n; ++k) {
		knLanes inverse = knLanes_All(1.0 / joint->D[k * n + k]), push = knLanes_All(pushed[k]);
		knTreeForce scaled = { W[k].n * inverse, W[k].f * inverse };
		removeRank(IA, &W[k], &scaled);
		p->n += scaled.n * push;
		p->f += scaled.f * push;
	}
	leaveShare(tree, work, i, IA, p);
}

// work->force holds what each link asks for; afterwards joints hold U, D and u.
static void gatherInertias(const knTree* tree, knTreeWork* work, const double* tau) {
	for (int i = tree->count - 1; i >= 0; --i) {
		const knTreeNode* node = &tree->nodes[i];
		knTreeInertia IA = knTreeRigid_Full(&work->rigid[i], node->mass);
		knTreeForce p = work->force[i];
		if (node->gathers) {
			const knTreeShare* share = &work->slots[node->slot];
			knTreeInertia_Add(&IA, &share->inertia);
			p.n += share->force.n;
			p.f += share->force.f;
		}
		if (knTreeNode_IsWide(node)) {
			reduceWide(tree, work, i, &IA, &p, tau);
		} else {
			reduceNarrow(tree, work, i, &IA, &p, tau != NULL ? tau[node->vOffset] : 0.0,
						 work->diagonal != NULL ? work->diagonal[node->vOffset] : 0.0);
		}
	}
}

// --- from the root -----------------------------------------------------------------------------------------

// The motion of the parent, seen at O_i, plus what the joint adds; that goes to x.
static void followWide(const knTree* tree, const knTreeWork* work, int i, const double* u,
					   const knTreeMotion* parent, knTreeMotion* motion, double* x) {
	const knTreeNode* node = &tree->nodes[i];
	const knTreeWideJoint* joint = &work->wide[i];
	for (int k = 0; k < node->nv; ++k) {
		x[k] = u[k] - knTree_Power(parent, &joint->U[k]);
	}
	knDense_SolveLdl(joint->D, node->nv, x);
	*motion = knTreeMotion_Shift(parent, work->pose[i].r);
	for (int k = 0; k < node->nv; ++k) {
		const knTreeMotion* S = &work->S[node->vOffset + k];
		motion->ang += S->ang * knLanes_All(x[k]);
		motion->lin += S->lin * knLanes_All(x[k]);
	}
}

KN_LANES_INLINE knTreeMotion followNarrow(const knTree* tree, const knTreeWork* work, int i, double x,
										  const knTreeMotion* parent, double* own) {
	const knTreeJoint* joint = &work->joint[i];
	knLanes asked = knLanes_SumAll(joint->V.n * parent->ang + joint->V.f * parent->lin);
	knLanes change = knLanes_All(x) - asked, added = work->pose[i].R.x * change;
	knTreeMotion motion = knTreeMotion_Shift(parent, work->pose[i].r);
	if (knTreeNode_IsHinge(&tree->nodes[i])) {
		motion.ang += added;
	} else {
		motion.lin += added;
	}
	own[0] = change[0];
	return motion;
}

// Spreads the joints' u as motions; work->motion is what they add to every link.
static void spreadMotions(const knTree* tree, knTreeWork* work, double* qdd) {
	const knTreeMotion still = { knLanes_All(0.0), knLanes_All(0.0) };
	for (int i = 0; i < tree->count; ++i) {
		const knTreeNode* node = &tree->nodes[i];
		const knTreeMotion* parent = node->parent >= 0 ? &work->motion[node->parent] : &still;
		if (knTreeNode_IsWide(node)) {
			double u[KN_JOINT_MAX_V];
			for (int k = 0; k < node->nv; ++k) {
				u[k] = work->wide[i].u[k];
			}
			followWide(tree, work, i, u, parent, &work->motion[i], qdd + node->vOffset);
		} else {
			work->motion[i] = followNarrow(tree, work, i, work->joint[i].x, parent, qdd + node->vOffset);
		}
	}
}

// --- impulses ----------------------------------------------------------------------------------------------

// What a joint passes on of the impulse Y: Y shifted + U D^-1 u.
static knTreeForce passOn(const knTree* tree, const knTreeWork* work, int i, knTreeForce Y, const double* u) {
	const knTreeNode* node = &tree->nodes[i];
	Y.n += knLanes_Cross(work->pose[i].r, Y.f);
	if (!knTreeNode_IsWide(node)) {
		const knTreeJoint* joint = &work->joint[i];
		Y.n += joint->V.n * knLanes_All(u[0]);
		Y.f += joint->V.f * knLanes_All(u[0]);
		return Y;
	}
	double x[KN_JOINT_MAX_V];
	for (int k = 0; k < node->nv; ++k) {
		x[k] = u[k];
	}
	knDense_SolveLdl(work->wide[i].D, node->nv, x);
	for (int k = 0; k < node->nv; ++k) {
		Y.n += work->wide[i].U[k].n * knLanes_All(x[k]);
		Y.f += work->wide[i].U[k].f * knLanes_All(x[k]);
	}
	return Y;
}

// An impulse or motion that has faded to nothing is nothing.
KN_LANES_INLINE void forgetFaded(knLanes* a, knLanes* b) {
	knLanes sum = *a * *a + *b * *b;
	if (sum[0] + sum[1] + sum[2] < KN_TREE_FADED * KN_TREE_FADED) {
		*a = *b = knLanes_All(0.0);
	}
}

// Both passes with the articulated inertias known; work->force holds minus the impulses.
static void respondLinks(const knTree* tree, knTreeWork* work, const double* jointImpulses, double* dv) {
	for (int i = tree->count - 1; i >= 0; --i) {
		const knTreeNode* node = &tree->nodes[i];
		double* u = dv + node->vOffset;
		forgetFaded(&work->force[i].n, &work->force[i].f);
		for (int k = 0; k < node->nv; ++k) {
			knTreeMotion S = knTree_Column(tree, work, i, k);
			u[k] = (jointImpulses != NULL ? jointImpulses[node->vOffset + k] : 0.0) -
				   knTree_Power(&S, &work->force[i]);
		}
		if (node->parent >= 0) {
			knTreeForce passed = passOn(tree, work, i, work->force[i], u);
			work->force[node->parent].n += passed.n;
			work->force[node->parent].f += passed.f;
		}
	}
	const knTreeMotion still = { knLanes_All(0.0), knLanes_All(0.0) };
	for (int i = 0; i < tree->count; ++i) {
		const knTreeNode* node = &tree->nodes[i];
		const knTreeMotion* parent = node->parent >= 0 ? &work->motion[node->parent] : &still;
		double u[KN_JOINT_MAX_V], *own = dv + node->vOffset;
		for (int k = 0; k < node->nv; ++k) {
			u[k] = own[k];
		}
		if (knTreeNode_IsWide(node)) {
			followWide(tree, work, i, u, parent, &work->motion[i], own);
		} else {
			work->motion[i] = followNarrow(tree, work, i, work->joint[i].invD * u[0], parent, own);
		}
		forgetFaded(&work->motion[i].ang, &work->motion[i].lin);
	}
}
