// The records behind knTree and knTreeWork, and the conventions of all recursions over them.
//
// Link i is seen at its joint: origin O_i at the child joint frame, axes of the world. So a step from parent to child
// shifts the origin by r_i and turns nothing:
//
//   velocity      w_i = w_p + S_ang v,   u_i = u_p + w_p x r_i + S_lin v        of the link's point at O_i
//   acceleration  alpha_i, a_i           likewise, a_i the classical one of that point
//   force         moment about O_i and force; the parent sees (n + r x f, f)
//   inertia       | A  H^T |   A about O_i, H the lin-ang block, C lin-lin; a rigid link: H = -m[c], C = m 1
//                 | H  C   |
//
// S_i = R_i S(q) with S(q) constant in the child joint frame for all joints but the universal one. A hinge's S is
// (x axis of R_i; 0) and a slider's (0; that axis): these have kernels of their own.
//
// Accelerations are split: `bias` is that of all links for qdd = 0 (gravity as an acceleration of the base), and what
// qdd adds obeys the same recursion without velocity terms.
#pragma once

#include "articulated/kernel.h"
#include "articulated/lanes.h"
#include "core/alloc.h"
#include "knuckle/articulated.h"
#include "model/joint.h"

// Impulses (N s) and motions (m/s) below this are none.
#define KN_TREE_FADED 1e-100

// What never changes of a link. Its own frame here is the child joint frame. Plain numbers, so that a step over a
// long chain reads little memory.
typedef struct knTreeNode {
	double turn[9];      // joint frame at rest, seen from the parent's child joint frame; columns
	double shift[3];     // its origin there
	double inertia[6];   // about the origin: xx, xy, xz, yy, yz, zz
	double momentArm[3]; // mass times centre
	double mass;
	int parent;
	knJointKind kind;
	int nv, vOffset, qOffset;
	int slot;     // where its children leave their shares of articulated inertia and force
	bool gathers; // it has children
	bool opens;   // the first to leave its share with the parent, links taken from the last to the first
} knTreeNode;

struct knTree {
	knAllocator allocator;
	const knTreeKernel* kernel;
	int count, nq, nv, slotCount;
	knTreeNode* nodes; // [count]
	knJoint* joints;   // [count] for the general kernel: kind and sizes only
	int* above;        // [nv] the velocity coordinate before on the way to the root, -1 at its end
	int* runStart;     // [nv] from here to the coordinate, each is above the next
	knFrame* inLink;   // [count] child joint frame in the link's own frame
	knFrame* rest;     // [count] joint frame at rest, seen from the parent's child joint frame
	knMassProps* mass; // [count] in the child joint frame, inertia about the centre
};

typedef struct knTreeInertia {
	knLanes33 A, H, C;
} knTreeInertia;

// A rigid link in world axes: inertia about O_i and mass times centre; the mass is the node's.
typedef struct knTreeRigid {
	knLanes33 A;
	knLanes h;
} knTreeRigid;

typedef struct knTreePose {
	knLanes33 R; // child joint frame's axes in the world
	knLanes r;   // O_i - O_parent
} knTreePose;

typedef struct knTreeForce {
	knLanes n, f; // moment about O_i, force
} knTreeForce;

// A velocity or acceleration at O_i.
typedef struct knTreeMotion {
	knLanes ang, lin;
} knTreeMotion;

// Articulated inertia and force of a subtree, as its parent gathers them.
typedef struct knTreeShare {
	knTreeInertia inertia;
	knTreeForce force;
} knTreeShare;

// A hinge or slider after the articulated pass. U = IA S seen from the parent's origin: what a motion of the parent
// asks of the joint, and what the joint's u gives to the parent.
typedef struct knTreeJoint {
	knTreeForce V;  // U/D
	double invD, x; // 1/D, u/D with u = tau - S.p
} knTreeJoint;

// Any other joint; there is room where the tree has one.
typedef struct knTreeWideJoint {
	knTreeForce U[6];
	double D[36]; // LDL^T factors
	double u[6];
} knTreeWideJoint;

// A 6 x 3 matrix x -> (T x, x x t): what turns a spatial force.
typedef struct knTreeTurning {
	knMat33 T;
	knVec3 t;
} knTreeTurning;

// Sums over a subtree for derivatives, about the first joint's origin (derivatives.c).
typedef struct knTreeSums {
	double mass;
	knVec3 h;  // mass times centre
	knMat33 A; // inertia about the origin
	knTwist F; // force that the subtree asks for
	knTreeTurning B, E;
} knTreeSums;

// A velocity coordinate for derivatives, about the same point.
typedef struct knTreeColumn {
	knTwist J, Z, Y;
	knVec3 W; // angular part
} knTreeColumn;

// What the roots hang on: the world, or a body that a user moves.
typedef struct knTreeBase {
	knTreePose pose; // r: the base's origin in the world
	knTreeMotion velocity;
} knTreeBase;

struct knTreeWork {
	knAllocator allocator;
	void* block;
	size_t blockSize;
	knTreeBase* base;         // [1] written by knTreeWork_SetBase
	const double* diagonal;   // [nv] the user's, NULL: none; knTreeWork_SetDiagonal
	double *sine, *cosine;    // [nq] of all coordinates, of use for hinges
	knTreePose* pose;         // [count]
	knTreeMotion* velocity;   // [count]
	knTreeMotion* motion;     // [count] accelerations, or velocity changes
	knTreeForce* force;       // [count]
	knTreeRigid* rigid;       // [count]
	knTreeJoint* joint;       // [count]
	knTreeWideJoint* wide;    // [count] if any joint is neither hinge nor slider
	knTreeMotion* S;          // [nv] subspace columns, world axes; not written for hinges and sliders
	knTreeShare* slots;       // [slotCount]
	knTreeInertia* composite; // [count]
	knTreeSums* sums;         // [count] derivatives.c
	knTreeColumn* columns;    // [nv] derivatives.c
	knFrame* linkFrames;      // [count] linkage.c
	knTwist* linkVelocities;  // [count] linkage.c
	knLanes* origin;          // [count] O_i in the world, written with the poses
};

static inline bool knTreeNode_IsHinge(const knTreeNode* node) {
	return node->kind == KN_JOINT_HINGE;
}

// Neither hinge nor slider.
static inline bool knTreeNode_IsWide(const knTreeNode* node) {
	return node->kind != KN_JOINT_HINGE && node->kind != KN_JOINT_SLIDER;
}

// --- recursions' steps -------------------------------------------------------------------------------------

KN_LANES_INLINE knTreeMotion knTreeMotion_Shift(const knTreeMotion* parent, knLanes r) {
	return (knTreeMotion){ parent->ang, parent->lin + knLanes_Cross(parent->ang, r) };
}

KN_LANES_INLINE void knTreeForce_AddShifted(knTreeForce* parent, const knTreeForce* child, knLanes r) {
	parent->n += child->n + knLanes_Cross(r, child->f);
	parent->f += child->f;
}

// X^T I X for the shift by r:  C' = C,  H' = H - C [r],  A' = A + [r] H' + ([r] H)^T. Ht is H transposed.
KN_LANES_INLINE knTreeInertia knTreeInertia_ShiftWith(const knTreeInertia* in, const knLanes33* Ht,
													  knLanes r) {
	knLanes rx = knLanes_X(r), ry = knLanes_Y(r), rz = knLanes_Z(r);
	knTreeInertia out;
	out.C = in->C;
	out.H.x = in->H.x - (in->C.y * rz - in->C.z * ry);
	out.H.y = in->H.y - (in->C.z * rx - in->C.x * rz);
	out.H.z = in->H.z - (in->C.x * ry - in->C.y * rx);
	out.A.x = in->A.x + (Ht->z * ry - Ht->y * rz) + knLanes_Cross(r, out.H.x);
	out.A.y = in->A.y + (Ht->x * rz - Ht->z * rx) + knLanes_Cross(r, out.H.y);
	out.A.z = in->A.z + (Ht->y * rx - Ht->x * ry) + knLanes_Cross(r, out.H.z);
	return out;
}

KN_LANES_INLINE knTreeInertia knTreeInertia_Shift(const knTreeInertia* in, knLanes r) {
	knLanes33 Ht = knLanes_Transpose(&in->H);
	return knTreeInertia_ShiftWith(in, &Ht, r);
}

KN_LANES_INLINE void knTreeInertia_Add(knTreeInertia* a, const knTreeInertia* b) {
	knLanes_AddMat(&a->A, &b->A);
	knLanes_AddMat(&a->H, &b->H);
	knLanes_AddMat(&a->C, &b->C);
}

// The link's own inertia at its pose: A and the moment arm h = m c, world axes.
KN_LANES_INLINE knTreeRigid knTreeNode_Rigid(const knTreeNode* node, const knLanes33* R) {
	const double* I = node->inertia;
	double yColumn[3] = { I[1], I[3], I[4] }, zColumn[3] = { I[2], I[4], I[5] };
	knLanes33 T = { knLanes_MulNumbers(R, I), knLanes_MulNumbers(R, yColumn),
					knLanes_MulNumbers(R, zColumn) };
	knLanes33 A = { T.x * knLanes_X(R->x) + T.y * knLanes_X(R->y) + T.z * knLanes_X(R->z),
					T.x * knLanes_Y(R->x) + T.y * knLanes_Y(R->y) + T.z * knLanes_Y(R->z),
					T.x * knLanes_Z(R->x) + T.y * knLanes_Z(R->y) + T.z * knLanes_Z(R->z) };
	return (knTreeRigid){ A, knLanes_MulNumbers(R, node->momentArm) };
}

KN_LANES_INLINE knTreeInertia knTreeRigid_Full(const knTreeRigid* rigid, double m) {
	knLanes h = rigid->h, minus = -h;
	knTreeInertia out;
	out.A = rigid->A;
	// columns of -[h]; lane 3 of h is zero and fills the gaps
	out.H.x = __builtin_shufflevector(h, minus, 3, 6, 1, 3);
	out.H.y = __builtin_shufflevector(h, minus, 2, 3, 4, 3);
	out.H.z = __builtin_shufflevector(h, minus, 5, 0, 3, 3);
	out.C = (knLanes33){ knLanes_Make(m, 0.0, 0.0), knLanes_Make(0.0, m, 0.0), knLanes_Make(0.0, 0.0, m) };
	return out;
}

// I times a motion: (A ang + H^T lin, H ang + C lin).
KN_LANES_INLINE knTreeForce knTreeInertia_Mul(const knTreeInertia* I, const knTreeMotion* m) {
	knLanes33 Ht = knLanes_Transpose(&I->H);
	return (knTreeForce){ knLanes_Mul(&I->A, m->ang) + knLanes_Mul(&Ht, m->lin),
						  knLanes_Mul(&I->H, m->ang) + knLanes_Mul(&I->C, m->lin) };
}

KN_LANES_INLINE double knTree_Power(const knTreeMotion* m, const knTreeForce* f) {
	knLanes p = m->ang * f->n + m->lin * f->f;
	return p[0] + p[1] + p[2];
}

// What the link's own inertia asks for at angular velocity w and acceleration (alpha, a):
//   n = A alpha + h x a + w x A w,   f = m a + alpha x h + w x (w x h)
KN_LANES_INLINE knTreeForce knTreeRigid_Force(const knTreeRigid* rigid, double mass, knLanes w,
											  const knTreeMotion* a) {
	knLanes h = rigid->h;
	return (knTreeForce){ knLanes_Mul(&rigid->A, a->ang) + knLanes_Cross(h, a->lin) +
							  knLanes_Cross(w, knLanes_Mul(&rigid->A, w)),
						  a->lin * knLanes_All(mass) + knLanes_Cross(a->ang, h) +
							  knLanes_Cross(w, knLanes_Cross(w, h)) };
}

// A column of S, world axes, at O_i.
KN_LANES_INLINE knTreeMotion knTree_Column(const knTree* tree, const knTreeWork* work, int i, int k) {
	const knTreeNode* node = &tree->nodes[i];
	const knLanes none = knLanes_All(0.0);
	if (knTreeNode_IsHinge(node)) {
		return (knTreeMotion){ work->pose[i].R.x, none };
	}
	return knTreeNode_IsWide(node) ? work->S[node->vOffset + k] : (knTreeMotion){ none, work->pose[i].R.x };
}

// --- tree.c ------------------------------------------------------------------------------------------------

// What follows from the nodes' parents and numbers of velocities: slots, `above`, `runStart`. Room for `count` numbers.
void knTree_Connect(knTree* tree, int* room);

// --- poses.c -----------------------------------------------------------------------------------------------

// World moment about O_i and force of what a user applies at the link frame's origin.
knTreeForce knTree_UserForce(const knTree* tree, const knTreeWork* work, int i, const knTwist* forces);
// Takes what users apply [count] (NULL: nothing) away from what the links' forces ask of the joints.
void knTree_TakeForces(const knTree* tree, knTreeWork* work, const knTwist* forces);
// Momentum of a link about its joint's origin, at the poses and velocities in the work.
knTreeForce knTree_LinkMomentum(const knTree* tree, const knTreeWork* work, int link);
