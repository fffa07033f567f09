// Forward dynamics by articulated bodies (Featherstone 1987).
//
//   from the leaves   IA = I + shares of the children, p likewise
//                     U = IA S,  D = S^T U,  u = tau - S^T p
//                     to the parent: IA - U D^-1 U^T and p + U D^-1 u, shifted by r
//   from the root     a' = shifted a of the parent,  qdd = D^-1 (u - U^T a'),  a = a' + S qdd
//
// Velocity terms are in p already (tree.h), so the recursion has none.
#include "articulated/tree.h"

#include "core/dense.h"

// --- from the leaves ---------------------------------------------------------------------------------------

KN_LANES_INLINE void leaveShare(const knTree* tree, knTreeWork* work, int i, const knTreeInertia* Ia,
								const knTreeForce* pa) {
	const knTreeNode* node = &tree->nodes[i];
	knTreeShare* share = &work->slots[tree->nodes[node->parent].slot];
	knLanes r = work->pose[i].r;
	knTreeInertia shifted = knTreeInertia_Shift(Ia, r);
	knTreeForce force = { pa->n + knLanes_Cross(r, pa->f), pa->f };
	if (node->opens) {
		share->inertia = shifted;
		share->force = force;
	} else {
		knTreeInertia_Add(&share->inertia, &shifted);
		share->force.n += force.n;
		share->force.f += force.f;
	}
}

// M - U s U^T for one column of U.
KN_LANES_INLINE void removeRank(knTreeInertia* I, const knTreeForce* U, double s) {
	knLanes n = U->n * knLanes_All(s), f = U->f * knLanes_All(s);
	knLanes nx = knLanes_X(n), ny = knLanes_Y(n), nz = knLanes_Z(n);
	I->A.x -= U->n * nx;
	I->A.y -= U->n * ny;
	I->A.z -= U->n * nz;
	I->H.x -= U->f * nx;
	I->H.y -= U->f * ny;
	I->H.z -= U->f * nz;
	I->C.x -= U->f * knLanes_X(f);
	I->C.y -= U->f * knLanes_Y(f);
	I->C.z -= U->f * knLanes_Z(f);
}

KN_LANES_INLINE void reduceHinge(const knTree* tree, knTreeWork* work, int i, knTreeInertia* IA,
								 knTreeForce* p, double tau) {
	knLanes axis = work->pose[i].R.x;
	knTreeJoint* joint = &work->joint[i];
	knTreeForce U = { knLanes_Mul(&IA->A, axis), knLanes_Mul(&IA->H, axis) };
	double invD = 1.0 / knLanes_Dot(axis, U.n), u = tau - knLanes_Dot(axis, p->n);
	joint->U = U;
	joint->invD = invD;
	joint->u = u;
	if (tree->nodes[i].parent >= 0) {
		removeRank(IA, &U, invD);
		knLanes push = knLanes_All(invD * u);
		p->n += U.n * push;
		p->f += U.f * push;
		leaveShare(tree, work, i, IA, p);
	}
}

// D = S^T U, factored; u; then U D^-1 U^T as a sum over columns of U D^-1.
static void reduceWide(const knTree* tree, knTreeWork* work, int i, knTreeInertia* IA, knTreeForce* p,
					   const double* tau) {
	const knTreeNode* node = &tree->nodes[i];
	knTreeWideJoint* joint = &work->wide[i];
	const knTreeMotion* S = &work->S[node->vOffset];
	int n = node->nv;
	for (int k = 0; k < n; ++k) {
		joint->U[k] = knTreeInertia_Mul(IA, &S[k]);
		joint->u[k] = (tau != NULL ? tau[node->vOffset + k] : 0.0) - knTree_Power(&S[k], p);
	}
	for (int k = 0; k < n; ++k) {
		for (int l = 0; l < n; ++l) {
			joint->D[k * n + l] = knTree_Power(&S[k], &joint->U[l]);
		}
	}
	knDense_FactorLdl(joint->D, n);
	if (node->parent < 0) {
		return;
	}
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
		double inverse = 1.0 / joint->D[k * n + k];
		removeRank(IA, &W[k], inverse);
		knLanes push = knLanes_All(inverse * pushed[k]);
		p->n += W[k].n * push;
		p->f += W[k].f * push;
	}
	leaveShare(tree, work, i, IA, p);
}

// work->force holds what each link asks for; afterwards joints hold U, D and u.
void knTree_Gather(const knTree* tree, knTreeWork* work, const double* tau) {
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
		if (knTreeNode_IsHinge(node)) {
			reduceHinge(tree, work, i, &IA, &p, tau != NULL ? tau[node->vOffset] : 0.0);
		} else {
			reduceWide(tree, work, i, &IA, &p, tau);
		}
	}
}

// --- from the root -----------------------------------------------------------------------------------------

static void moveWide(const knTree* tree, knTreeWork* work, int i, const double* u, knTreeMotion* motion,
					 double* qdd) {
	const knTreeNode* node = &tree->nodes[i];
	knTreeWideJoint* joint = &work->wide[i];
	double x[6];
	for (int k = 0; k < node->nv; ++k) {
		x[k] = u[k] - knTree_Power(motion, &joint->U[k]);
	}
	knDense_SolveLdl(joint->D, node->nv, x);
	for (int k = 0; k < node->nv; ++k) {
		const knTreeMotion* S = &work->S[node->vOffset + k];
		motion->ang += S->ang * knLanes_All(x[k]);
		motion->lin += S->lin * knLanes_All(x[k]);
		qdd[node->vOffset + k] = x[k];
	}
}

// Spreads the joints' u as motions; work->motion is what they add to every link.
void knTree_Spread(const knTree* tree, knTreeWork* work, double* qdd) {
	const knTreeMotion still = { knLanes_All(0.0), knLanes_All(0.0) };
	for (int i = 0; i < tree->count; ++i) {
		const knTreeNode* node = &tree->nodes[i];
		const knTreeMotion* parent = node->parent >= 0 ? &work->motion[node->parent] : &still;
		knTreeMotion motion = knTreeMotion_Shift(parent, work->pose[i].r);
		if (knTreeNode_IsHinge(node)) {
			const knTreeJoint* joint = &work->joint[i];
			double x = joint->invD * (joint->u - knTree_Power(&motion, &joint->U));
			motion.ang += work->pose[i].R.x * knLanes_All(x);
			qdd[node->vOffset] = x;
		} else {
			moveWide(tree, work, i, work->wide[i].u, &motion, qdd);
		}
		work->motion[i] = motion;
	}
}

void knTree_ForwardDynamics(const knTree* tree, knTreeWork* work, const double* q, const double* v,
							const double* tau, const knTwist* forces, knVec3 gravity, double* qdd) {
	knTree_Sweep(tree, work, q, v, gravity);
	for (int i = 0; forces != NULL && i < tree->count; ++i) {
		knTreeForce applied = knTree_UserForce(tree, work, i, forces);
		work->force[i].n -= applied.n;
		work->force[i].f -= applied.f;
	}
	knTree_Gather(tree, work, tau);
	knTree_Spread(tree, work, qdd);
}
