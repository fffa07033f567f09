// The records behind knTreeDca, and metrics over it.
//
// A node of the assembly tree answers forces on its handles with accelerations,
//
//   a_h = sum over k of Phi_hk f_k + b_h             h, k handles; each at its link's origin O_h, world axes
//
// so that nothing refers to a far origin. Accelerations are what joint accelerations add (tree.h): velocity products and
// gravity are in the links' forces, joints add none. Left part A and right part B are joined by joint c from link p to
// link q = c at O_c, with X the shift from O_p to O_c. Rows of T span the locked directions, P = S^+ the inverse of S:
//
//   M  = X Phi_pp X^T + Phi_qq                       a_q - a_p = M f - beta - sigma = S qdd,  beta = b_p - b_q
//   L L^T = T M T^T                                  f = T^T lambda + P^T tau,  sigma: of the forces on C's handles
//   R_h = X Phi_ph (h in A) or -Phi_qh (h in B)      what a force on handle h does to a_p - a_q
//   Y_h = L^-1 T R_h,  Z_h = P R_h                   E = L^-1 T M P^T,  G_h = E^T Y_h - Z_h
//   Phi_hk <- Phi_hk (same part, else 0) - Y_h^T Y_k
//   r  = beta - M P^T tau,  y = L^-1 T r             b_h <- b_h - Y_h^T y - Z_h^T tau
//   g  = E^T y - P r
//   back:  lambda = L^-T (y + sum of Y_h f_h),  qdd = g + sum of G_h f_h;  A receives -f at p, B receives f at q
//
// This is Featherstone's recursion (1999, W = T^T (T M T^T)^-1 T) in the form of a Cholesky step: no part of W is
// subtracted from another, Phi stays symmetric and definite, a free joint has no T and passes nothing on.
#pragma once

#include "articulated/assembly.h"
#include "core/tasks.h"

typedef struct knDcaHandle {
	bool right; // in the right part
	int index;  // of the part's handles
} knDcaHandle;

// Leaves have room only while they are joined. All arrays are rows of six but L (m x m, diagonal inverted), E (m x nv), y (m), g (nv).
typedef struct knDcaNode {
	int handles, m, nv, vOffset; // m: locked directions; leaves: no joint
	int p, q;                    // the joint's handles in the left and right part
	int own;                     // hinges 0, sliders 3: where S has its axis; -1: other joints
	knDcaHandle from[KN_ASSEMBLY_HANDLES];
	double* phi;                   // blocks (0,0) (0,1) (0,2) (1,1) (1,2) (2,2) as far as there are handles
	double *b, *force;             // of each handle
	double *T, *P, *L, *Y, *Z, *G; // Y, Z, G: one after the other for all handles
	double *E, *MP, *y, *g;        // MP: rows of P M
} knDcaNode;

// What is constant of a link: about its centre, in its child joint frame.
typedef struct knDcaLink {
	double inverse[6]; // of the inertia: xx, xy, xz, yy, yz, zz
	double center[3];
	double inverseMass;
} knDcaLink;

struct knTreeDca {
	knAllocator allocator;
	const knTree* tree;
	knAssembly* assembly;
	knDcaLink* links;   // [count]
	knDcaNode* nodes;   // [count] of joints
	double* numbers;    // of all nodes
	size_t numberCount; //
	int* taskNodes;     // [taskCount] parts that one task works on
	int taskCount;      //
	int* topNodes;      // [topCount] joints above those, in the assembly's order
	int topCount;       //
	double* vectors;    // [3 nv]: the next three
	double *residual, *correction, *zero;
};

// --- dca.c -------------------------------------------------------------------------------------------------

// Coefficients of all nodes; no acceleration is computed.
void knTreeDca_Assemble(knTreeDca* dca, knTreeWork* work, const double* q, const double* v, const double* tau,
						const knTwist* forces, knVec3 gravity, const knTasks* tasks);
// After that: forces on the handles of a joint node (`force`) known, the joint's accelerations into qdd [nv of the joint],
// forces on the handles of its parts into theirs.
void knTreeDca_Substitute(knTreeDca* dca, const knTreeWork* work, int joint, const double* tau, double* qdd);

// The joint's arm: from the parent's origin to its own.
void knTreeDca_Arm(const knTreeDca* dca, const knTreeWork* work, int joint, double* r);

static inline int knDca_Block(int handles, int h, int k) {
	return h * handles - h * (h - 1) / 2 + k - h;
}

// --- dca_metric.c ------------------------------------------------------------------------------------------

// The sum of squares of accelerations in every part, as a function of the forces F on its handles,
//
//   A(C) = F^T Psi F + F^T p + eta,
//
// by recursion from the leaves: known for the whole body before any acceleration is.
typedef struct knDcaMetric {
	knAllocator allocator;
	knTreeDca* dca;
	double** psi; // [nodeCount] (6 handles)^2, row-major, then p, then eta
	double* numbers;
	size_t numberCount;
	double* value; // [count] room of knDcaMetric_Select
	int* heap;     // [count]
} knDcaMetric;

bool knDcaMetric_Init(knDcaMetric* metric, knTreeDca* dca, const knAllocator* allocator);
void knDcaMetric_Free(knDcaMetric* metric);
// After knTreeDca_Assemble with the same tau [nv]. Weights [nv], NULL: 1.
void knDcaMetric_Assemble(knDcaMetric* metric, const knTreeWork* work, const double* tau,
						  const double* weights);
// Of a part under the forces on its handles; the root has none.
double knDcaMetric_Value(const knDcaMetric* metric, int node, const double* force);
// The `most` joints that matter most, or those without which the rest sums up to no more than `threshold`: their
// accelerations, computed on the way, go to qdd [nv] (the rest is not written), they themselves to `joints` in the order
// of choice. Returns how many; `left` is the sum over the joints that are left out.
int knDcaMetric_Select(knDcaMetric* metric, const knTreeWork* work, const double* tau, const double* weights,
					   int most, double threshold, int* joints, double* qdd, double* left);
