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
// (x axis of R_i; 0): it has kernels of its own.
//
// Accelerations are split: `bias` is that of all links for qdd = 0 (gravity as an acceleration of the base), and what
// qdd adds obeys the same recursion without velocity terms.
#pragma once

#include "articulated/lanes.h"
#include "core/alloc.h"
#include "knuckle/articulated.h"
#include "model/joint.h"

// What never changes of a link. Its own frame here is the child joint frame.
typedef struct knTreeNode {
	knLanes33 turn;    // joint frame at rest, seen from the parent's child joint frame
	knLanes shift;     // its origin there
	knLanes33 inertia; // about the origin
	knLanes momentArm; // mass times centre
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
	int count, nq, nv, slotCount;
	knTreeNode* nodes; // [count]
	knJoint* joints;   // [count] for the general kernel: kind and sizes only
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

// A hinge after the articulated pass: U = IA S, 1/D, u = tau - S.p.
typedef struct knTreeJoint {
	knTreeForce U;
	double invD, u;
} knTreeJoint;

// Any other joint; there is room where the tree has one.
typedef struct knTreeWideJoint {
	knTreeForce U[6];
	double D[36]; // LDL^T factors
	double u[6];
} knTreeWideJoint;

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
	knTreePose* pose;         // [count]
	knTreeMotion* velocity;   // [count]
	knTreeMotion* motion;     // [count] accelerations, or velocity changes
	knTreeForce* force;       // [count]
	knTreeRigid* rigid;       // [count]
	knTreeJoint* joint;       // [count]
	knTreeWideJoint* wide;    // [count] if any joint is no hinge
	knTreeMotion* S;          // [nv] subspace columns, world axes; not written for hinges
	knTreeShare* slots;       // [slotCount]
	knTreeInertia* composite; // [count]
	knLanes* origin;          // [count] O_i in the world, written with the poses
	// the three unit impulses of a collision matrix
	knTreeForce (*probeForce)[3];   // [count]
	knTreeMotion (*probeMotion)[3]; // [count]
	double (*probe)[3];             // [nv] S.Y
	int* path;                      // [count]
};

static inline bool knTreeNode_IsHinge(const knTreeNode* node) {
	return node->kind == KN_JOINT_HINGE;
}

// --- recursions' steps -------------------------------------------------------------------------------------

KN_LANES_INLINE knTreeMotion knTreeMotion_Shift(const knTreeMotion* parent, knLanes r) {
	return (knTreeMotion){ parent->ang, parent->lin + knLanes_Cross(parent->ang, r) };
}

KN_LANES_INLINE void knTreeForce_AddShifted(knTreeForce* parent, const knTreeForce* child, knLanes r) {
	parent->n += child->n + knLanes_Cross(r, child->f);
	parent->f += child->f;
}

// X^T I X for the shift by r, with P = [r] H:  C' = C,  H' = H - C [r],  A' = A + P + P^T - [r] C [r].
KN_LANES_INLINE knTreeInertia knTreeInertia_Shift(const knTreeInertia* in, knLanes r) {
	knLanes rx = knLanes_X(r), ry = knLanes_Y(r), rz = knLanes_Z(r);
	knTreeInertia out;
	// C [r], by columns of C
	knLanes33 Cr = { in->C.y * rz - in->C.z * ry, in->C.z * rx - in->C.x * rz, in->C.x * ry - in->C.y * rx };
	knLanes33 P = { knLanes_Cross(r, in->H.x), knLanes_Cross(r, in->H.y), knLanes_Cross(r, in->H.z) };
	knLanes33 Pt = knLanes_Transpose(&P);
	out.C = in->C;
	out.H = (knLanes33){ in->H.x - Cr.x, in->H.y - Cr.y, in->H.z - Cr.z };
	out.A.x = in->A.x + P.x + Pt.x - knLanes_Cross(r, Cr.x);
	out.A.y = in->A.y + P.y + Pt.y - knLanes_Cross(r, Cr.y);
	out.A.z = in->A.z + P.z + Pt.z - knLanes_Cross(r, Cr.z);
	return out;
}

KN_LANES_INLINE void knTreeInertia_Add(knTreeInertia* a, const knTreeInertia* b) {
	knLanes_AddMat(&a->A, &b->A);
	knLanes_AddMat(&a->H, &b->H);
	knLanes_AddMat(&a->C, &b->C);
}

// The link's own inertia at its pose: A and the moment arm h = m c, world axes.
KN_LANES_INLINE knTreeRigid knTreeNode_Rigid(const knTreeNode* node, const knLanes33* R) {
	knLanes33 T = knLanes_MulMat(R, &node->inertia), Rt = knLanes_Transpose(R);
	return (knTreeRigid){ knLanes_MulMat(&T, &Rt), knLanes_Mul(R, node->momentArm) };
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

// --- poses.c -----------------------------------------------------------------------------------------------

// Pose of a link that is no hinge, and its columns of S, from its parent's axes.
void knTree_PlaceWide(const knTree* tree, knTreeWork* work, int i, const knLanes33* parent, const double* q);
// Velocity that the joint adds, and the acceleration it adds at qdd = 0 beside that of the shift; a link that is no
// hinge. `parent` is the parent's angular velocity.
knTreeMotion knTree_WideVelocity(const knTree* tree, const knTreeWork* work, int i, const double* v);
knTreeMotion knTree_WideBias(const knTree* tree, const knTreeWork* work, int i, knLanes parent,
							 const double* q, const double* v);
// Poses of all links.
void knTree_Place(const knTree* tree, knTreeWork* work, const double* q);
// Poses, velocities, accelerations for qdd = 0 of all links, and the forces their inertias ask for at these.
void knTree_Sweep(const knTree* tree, knTreeWork* work, const double* q, const double* v, knVec3 gravity);

// World moment about O_i and force of what a user applies at the link frame's origin.
knTreeForce knTree_UserForce(const knTree* tree, const knTreeWork* work, int i, const knTwist* forces);

// --- aba.c -------------------------------------------------------------------------------------------------

// Articulated inertias from work->rigid and work->pose; forces from work->force.
void knTree_Gather(const knTree* tree, knTreeWork* work, const double* tau);
// Joint motions from the joints' u, root to leaves.
void knTree_Spread(const knTree* tree, knTreeWork* work, double* qdd);
